# Splits a table into the column that an argument names, and the rest: list(x, column), the column without
# names. what: the name of the argument, and the class of the error if there is no such column; arg: how
# messages call x.
take_named_column <- function(x, name, what, arg, call) {
  check_sparse(x, arg, call)
  at <- match(name, colnames(x))
  if (is.na(at)) {
    abort(what, c(
      "{.arg {what}} names the column {.val {name}}, which {.arg {arg}} does not have.",
      i = if (is.null(colnames(x))) "Its columns have no names." else
        "Its columns: {places(dQuote(colnames(x), FALSE))}."
    ), call = call)
  }
  list(x = x[, -at, drop = FALSE], column = if (is.data.frame(x)) x[[at]] else unname(x[, at]))
}
