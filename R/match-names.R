# Values of a prior that have names are put into the order of the columns, so that a value never applies to
# another column.

# An observation model, as its constructor made it, with its parameters in the order of the data's columns and
# without names.
in_column_order <- function(obs, data, call) {
  parameters <- obs_facts(obs)$parameters
  for (arg in intersect(names(parameters), names(obs))) {
    if (is.null(obs[[arg]])) next
    obs[[arg]] <- match_names(obs[[arg]], parameters[[arg]], obs_axes(obs, data$column_names), arg, call)
  }
  obs
}

# Puts x into the order `names_of` of the names of its axes. x: a vector along the first of `axes`, or a
# matrix along both. Where both axes of a matrix are the same, names of one side stand for both.
match_names <- function(x, axes, names_of, arg, call) {
  given <- if (is.matrix(x)) dimnames(x) %||% list(NULL, NULL) else list(names(x))
  if (all(vapply(given, is.null, NA))) {
    return(x)
  }
  if (length(given) == 2L && axes[1] == axes[2]) {
    given <- list(given[[1]] %||% given[[2]], given[[2]] %||% given[[1]])
    if (!identical(given[[1]], given[[2]])) {
      abort("names", "Rows and columns of {.arg {arg}} must have the same names in the same order.", call = call)
    }
  }
  at <- Map(function(given, axis, n) {
    if (is.null(given)) seq_len(n) else match_axis(given, names_of[[axis]], arg, call)
  }, given, axes[seq_along(given)], dim(x) %||% length(x))
  unname(do.call(`[`, c(list(x), unname(at), if (is.matrix(x)) list(drop = FALSE))))
}

# The positions of the names `wanted` in `given`. If the data have one column without a name, a single value
# is taken whatever its name.
match_axis <- function(given, wanted, arg, call) {
  if (is.null(wanted) && length(given) == 1L) {
    return(1L)
  }
  if (is.null(wanted)) {
    abort("names", c(
      "{.arg {arg}} has names, but the columns of the data have none.",
      i = "Name the columns of {.arg x}, or give {.code unname({arg})} in the order of the columns."
    ), call = call)
  }
  foreign <- setdiff(given, wanted)
  missing <- setdiff(wanted, given)
  if (length(foreign) || length(missing) || anyDuplicated(given)) {
    repeated <- unique(given[duplicated(given)])
    quoted <- function(x) places(dQuote(x, FALSE))
    abort("names", c(
      "The names of {.arg {arg}} must be those of the columns of the data, each once.",
      x = if (length(foreign)) "Not {cli::qty(length(foreign))}{?a column/columns}: {quoted(foreign)}.",
      x = if (length(missing)) "Missing: {quoted(missing)}.",
      x = if (length(repeated)) "Repeated: {quoted(repeated)}.",
      i = "Values without names are taken in the order of the columns: {.code unname({arg})}."
    ), call = call)
  }
  match(wanted, given)
}
