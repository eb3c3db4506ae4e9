# Observation models whose data come as pairs of columns: a matrix of two columns, or several of them beside each other,
# as in a data frame whose columns are such matrices.

# The name of each pair: what the names of its two columns have in common before the last dot, else the first of them.
pair_names <- function(columns) {
  first <- columns[c(TRUE, FALSE)]
  stem <- sub("[.][^.]*$", "", first)
  shared <- stem != first & stem == sub("[.][^.]*$", "", columns[c(FALSE, TRUE)])
  make.unique(as.character(ifelse(shared %in% TRUE, stem, first))) # a name may be NA
}

# For errors, where columns have names. Braces would be code to {cli}.
named_columns <- function(x) {
  if (!is.null(colnames(x))) paste0(gsub("([{}])", "\\1\\1", paste("Given:", places(dQuote(colnames(x), FALSE)))), ".")
}
