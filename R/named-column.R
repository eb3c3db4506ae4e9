# Takes out the column of a table that an argument names: list(x, column), the rest and the column without names. what:
# the name of that argument, and the class of the error where x has no such column; arg: what messages call x.
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
