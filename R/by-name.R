# Values that users give for each row or group: if they have names, they are matched by name, never silently
# by position.

# Puts x into the order of `names` and drops its own names. x: a vector or matrix with one value (row) for
# each of `names`, the names of the rows or groups (NULL if they have none); word: what these are, "row" or
# "sequence". Names may be the row numbers of a data frame. Results of tapply() and table() become vectors.
in_order_of_names <- function(x, names, n, arg, word, call) {
  x <- as_vector(x)
  given <- if (is.matrix(x)) rownames(x) else names(x)
  if (is.null(given) || all(is.na(given) | given == "")) {
    return(x)
  }
  if (length(given) != n) {
    return(x) # the caller reports the wrong length
  }
  bare <- function(x) if (is.matrix(x)) `rownames<-`(x, NULL) else unname(x)
  given <- enc2utf8(given)
  wanted <- if (is.null(names)) as.character(seq_len(n)) else enc2utf8(names)
  if (identical(given, wanted)) {
    return(bare(x))
  }
  if (!anyDuplicated(given) && !anyDuplicated(wanted) && setequal(given, wanted)) {
    at <- match(wanted, given)
    return(bare(values_at(x, at)))
  }
  if (is.null(names)) {
    cli::cli_inform(
      c("{.arg {arg}} has names, and the {word}s have none: values are taken in the order of the {word}s."),
      class = c("bnpvi_message_names", "bnpvi_message"), call = NULL
    )
    return(bare(x))
  }
  other <- setdiff(given, wanted)
  lacking <- setdiff(wanted, given)
  repeated <- unique(c(given[duplicated(given)], wanted[duplicated(wanted)]))
  quoted <- function(v) places(dQuote(v, FALSE))
  abort(arg, c(
    "The names of {.arg {arg}} must be those of the {word}s, each once.",
    x = if (length(other)) "Not {cli::qty(length(other))}{?a/} {word}{?/s}: {quoted(other)}.",
    x = if (length(lacking)) "Missing: {quoted(lacking)}.",
    x = if (length(repeated)) "Repeated: {quoted(repeated)}.",
    i = "Values without names are taken in the order of the {word}s: {.code unname({arg})}."
  ), call = call)
}

# Turns a one-dimensional array, as tapply() and table() return it, into a vector with names, and POSIXlt into
# POSIXct.
as_vector <- function(x) {
  if (inherits(x, "POSIXlt")) {
    return(as.POSIXct(x))
  }
  if (length(dim(x)) != 1L) {
    return(x)
  }
  names <- dimnames(x)[[1L]]
  if (inherits(x, "table")) x <- unclass(x)
  dim(x) <- NULL
  stats::setNames(x, names)
}

# The names of the rows of a table or of the values of a vector; NULL if they are only a data frame's row numbers.
row_names_of <- function(x) {
  if (is.data.frame(x) && .row_names_info(x) < 0L) {
    return(NULL)
  }
  rownames(x) %||% if (is.null(dim(x))) names(x)
}

# The names of all rows that the user gave, in their order.
given_row_names <- function(data) {
  if (!is.null(data$left_out)) {
    return(data$left_out$row_names)
  }
  names <- data$row_names
  if (!is.null(names) && !is.null(data$order)) names[data$order] <- names
  names
}

# One value for each row that the user gave, from values for each row or for each individual (whose repeated
# measurements are rows).
values_of_rows <- function(x, data, arg, call, known = FALSE) {
  if (has_individuals(data)) {
    return(one_per_individual(x, data, arg, call, known))
  }
  in_order_of_names(x, given_row_names(data), rows_given(data), arg, "row", call)
}

# One value for each sequence, tree or document (`word`), in the order of the data.
values_of_groups <- function(x, data, arg, word, call) {
  groups <- given_groups(data)
  in_order_of_names(x, groups$names, groups$n, arg, word, call)
}

# The names of all groups that the user gave, including those that `na_action = "omit"` left out.
given_groups <- function(data) {
  left_out <- data$left_out_documents
  if (is.null(left_out)) {
    return(list(n = length(data$starts) - 1L, names = data$group_names))
  }
  list(n = left_out$n, names = left_out$row_names, kept = left_out$kept)
}
