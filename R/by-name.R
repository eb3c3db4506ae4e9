# What users give for each row or group, with names: values go where the names say, never by position in silence.

# x: a vector or matrix, one value (row) for each of `names`, which are those of the rows or groups, NULL where they have
# none; word: what they are, "row" or "sequence". -> x in the order of `names`, without its own. Names may be numbers of
# rows, as those of a data frame.
in_order_of_names <- function(x, names, n, arg, word, call) {
  given <- if (is.matrix(x)) rownames(x) else names(x)
  if (is.null(given) || all(is.na(given) | given == "")) {
    return(x)
  }
  if (length(given) != n) {
    return(x) # the caller says that the length is wrong
  }
  bare <- function(x) if (is.matrix(x)) `rownames<-`(x, NULL) else unname(x)
  given <- enc2utf8(given)
  wanted <- if (is.null(names)) as.character(seq_len(n)) else enc2utf8(names)
  if (identical(given, wanted)) {
    return(bare(x))
  }
  if (!anyDuplicated(given) && !anyDuplicated(wanted) && setequal(given, wanted)) {
    at <- match(wanted, given)
    return(bare(if (is.matrix(x)) x[at, , drop = FALSE] else x[at]))
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
