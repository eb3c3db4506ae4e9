# What each link counts. Values of a matrix, and a column of an edge list that looks like counts, are data, and are used
# unless `weights` says otherwise. Attributes of edges of igraph or network objects are used only where `weights` asks
# for them, as only their owner knows what they are (a strength, a length, a cost).

# Evaluates the captured argument `weights` beside the links x: a list of its value; NULL if it was not given.
# NA means no weights, as in igraph.
asked_weights <- function(captured, x, call = rlang::caller_env()) {
  if (rlang::quo_is_missing(captured)) {
    return(NULL)
  }
  weights <- argument_in_data(captured, x, "weights", "x", call)
  list(if (!(length(weights) == 1L && is.atomic(weights) && is.na(weights))) weights)
}

# Chooses the values of links: list(value, weighted). columns: the columns of the links, by name; asked: from
# asked_weights(); default: the name of the column that is used if the user did not choose. value: what each
# link counts, or 1. weighted: the name of the column, TRUE for values without a name, FALSE for values that
# were ignored, NA if there were none.
link_weights <- function(columns, asked, default, n, what, arg, call) {
  numbers <- names(columns)[vapply(columns, function(x) is.numeric(x) || is.logical(x), NA)]
  given <- if (is.null(asked)) default else asked[[1L]]
  if (is.null(given)) {
    tell_weights(numbers, NULL, what, arg)
    return(list(value = rep(1, n), weighted = if (length(numbers)) FALSE else NA))
  }
  if (is.character(given) && length(given) == 1L) {
    if (!given %in% names(columns)) {
      abort("argument", c(
        "{.arg weights} must be the name of {what} of {.arg {arg}}, a number for each link, or {.code NULL}, not
         {describe(given)}.",
        i = if (length(numbers)) "{.arg {arg}} has {.field {numbers}}." else "{.arg {arg}} has none that are numbers."
      ), call = call)
    }
    value <- numeric_weights(columns[[given]], n, given, call)
    tell_weights(numbers, given, what, arg)
    return(list(value = value, weighted = given))
  }
  list(value = numeric_weights(given, n, "weights", call), weighted = TRUE)
}

numeric_weights <- function(x, n, arg, call) {
  if (!(is.numeric(x) || is.logical(x)) || !is.null(dim(x)) || length(x) != n) {
    abort("argument", c(
      "{.arg {arg}} must be a number for each of the {n} link{?s}, not {describe(x)}.",
      i = "{.code weights = NULL} counts every link once."
    ), call = call)
  }
  if (inherits(x, "integer64")) as.double(label_text(x, arg, call)) else as.double(x)
}

# Informs the user which values were taken as counts of links, or which could have been.
tell_weights <- function(numbers, taken, what, arg) {
  if (!length(numbers) && is.null(taken)) {
    return(invisible())
  }
  tell_of_network(if (is.null(taken)) {
    c(
      "{.field {numbers}}, {what} of {.arg {arg}}, {?is/are} left alone: every link counts once.",
      i = "{.code weights = {.str {numbers[1L]}}} takes {cli::qty(numbers)}{?it/the first} as the numbers of links."
    )
  } else {
    c(
      "{.field {taken}}, {what} of {.arg {arg}}, is taken as the numbers of links.",
      i = "{.code weights = NULL} counts every link once."
    )
  })
}

tell_of_network <- function(message, .envir = parent.frame()) {
  cli::cli_inform(message, class = c("bnpvi_message_network", "bnpvi_message"), .envir = .envir)
}

check_values <- function(value, call, arg) {
  bad <- which(!is.na(value) & (value < 0 | value != round(value)))
  if (length(bad)) {
    abort("not_counts", c(
      "Links of {.arg {arg}} must be 0, 1 or counts, not {signif(value[bad[1L]], 3)} (link {places(bad)}).",
      i = "There is no model for weights that are not counts: round them, or ignore them ({.code weights = NULL})."
    ), call = call)
  }
}
