# Observation models whose data come as pairs of columns: a matrix of two columns, or several such pairs beside each
# other, as in a data frame with matrix columns.

# The name of each pair of columns: the part before the last dot if both columns have it in common, else the
# first of the two names.
pair_names <- function(columns) {
  first <- columns[c(TRUE, FALSE)]
  stem <- sub("[.][^.]*$", "", first)
  shared <- stem != first & stem == sub("[.][^.]*$", "", columns[c(FALSE, TRUE)])
  make.unique(as.character(ifelse(shared %in% TRUE, stem, first))) # a column's name may be NA
}

# Describes columns, which may have names, in errors. Braces in a name are doubled, as {cli} would evaluate
# them.
named_columns <- function(x) {
  if (!is.null(colnames(x))) paste0(gsub("([{}])", "\\1\\1", paste("Given:", places(dQuote(colnames(x), FALSE)))), ".")
}
