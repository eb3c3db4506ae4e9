# Errors, and the checks of arguments that several functions share. Every message names the argument, what was
# found and the remedy.

# Stops with a classed error of this package. Text from elsewhere must be passed as `"{text}"`: if it were
# pasted into the message, its braces would be evaluated.
abort <- function(what, message, call = rlang::caller_env(), .envir = parent.frame()) {
  cli::cli_abort(
    message,
    class = c(paste0("bnpvi_error_", what), "bnpvi_error"),
    call = call, .envir = .envir
  )
}

# Lists the positions at which a problem occurs, shortened: "3, 7, 12 and 4 more".
places <- function(at, max = 5L) {
  at <- as.character(at)
  if (length(at) <= max) {
    return(paste(at, collapse = ", "))
  }
  paste0(paste(at[seq_len(max)], collapse = ", "), " and ", length(at) - max, " more")
}

# Whether values are counts, as observation models of counts accept them. The functions below describe other
# values in messages.
are_counts <- function(values) values >= 0 & values == round(values)

refused_counts <- function(remedy) {
  c(class = "not_counts", must = "hold counts, whole numbers of at least 0,", remedy = remedy)
}

describe <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.function(x)) {
    return("a function")
  }
  if (inherits(x, c("bnp_source", "bnp_stream"))) {
    return("a source of data")
  }
  if (is.atomic(x) && length(x) == 1L) {
    return(if (is.character(x)) dQuote(x, FALSE) else format(x))
  }
  size <- if (is.null(dim(x))) paste("length", length(x)) else paste(dim(x), collapse = " x ")
  paste0(if (is.object(x)) c(intersect(class(x), verbs_of_fits), class(x))[1L] else typeof(x), " of ", size)
}

check_number <- function(x, arg, lower = 0, strict = TRUE, call = rlang::caller_env()) {
  ok <- is.numeric(x) && length(x) == 1L && is.finite(x) &&
    (if (strict) x > lower else x >= lower)
  if (inherits(x, "bnp_gamma_prior")) {
    learners <- Filter(function(entry) !is.null(entry$learns), prior_models)
    places <- vapply(learners, function(entry) {
      cli::format_inline("{.arg {entry$learns}} of {.fn {entry$constructor}}")
    }, "")
    abort("argument", c(
      "{.arg {arg}} cannot be learned here: it must be one number.", i = "{.fn gamma_prior} is for:",
      stats::setNames(gsub("([{}])", "\\1\\1", places), rep("*", length(places)))
    ), call = call)
  }
  if (!ok) {
    relation <- if (strict) "above" else "at least"
    abort("argument", c(
      "{.arg {arg}} must be one finite number {relation} {lower}, not {describe(x)}."
    ), call = call)
  }
  as.double(x)
}

# Ranges of parameters of priors within which a fit is numerically right: its evidence is exact to eight
# digits, its ELBO is finite and falls by no more than rounding. Each parameter was tried at powers of ten
# from 1e-320 to 1e300, and all at the ends of their ranges together (inst/bench/prior-ranges.R). These
# computations limit the ranges. alpha, start, sticky and df enter differences of log Gamma of numbers of
# their size. E log p of a transition or first state that was never seen is -1 / (its share of alpha or
# start), from which entropies are subtracted. b enters differences of 1 / b if a column has no zeros in a
# cluster.
parameter_ranges <- list(
  concentration = c(1e-50, 1e50), gamma = c(1e-50, 1e50), alpha = c(1e-8, 1e6), start = c(1e-8, 1e6),
  sticky = c(1e-50, 1e6), term_prior = c(1e-8, 1e50), a = c(1e-10, 1e50), b = c(1e-10, 1e50),
  mean_strength = c(1e-50, 1e50), df = c(1e-10, 1e8), discount = c(0, 0.999999), shape = c(1e-10, 1e10),
  rate = c(1e-10, 1e10)
)

# Checks that the parameters of a prior or observation model x are within their ranges, both as given and for
# each of k clusters, and returns x. NULL, and a `sticky` of 0, are accepted.
check_ranges <- function(x, call) {
  for (name in intersect(names(parameter_ranges), names(x))) {
    given <- x[[name]]
    if (is.null(given) || inherits(given, "bnp_gamma_prior") || name == "sticky" && given == 0) next
    if (name == "concentration" && !is.null(x$discount)) {
      check_range(given + x$discount, "concentration + discount", parameter_ranges[[name]], call)
      next
    }
    check_range(given, name, parameter_ranges[[name]], call)
    if (!is.null(x[["k"]]) && name != "sticky") {
      check_range(given / x[["k"]], paste(name, "/ k"), parameter_ranges[[name]], call)
    }
  }
  x
}

check_range <- function(x, arg, range, call) {
  bad <- which(!(x >= range[1] & x <= range[2]))
  if (length(bad)) {
    where <- if (length(x) > 1L) paste0(" (element ", places(bad), ")") else ""
    abort("range", c(
      "{.arg {arg}} must be from {range[1]} to {range[2]}, not {signif(x[bad[1]], 3)}{where}.",
      i = "Outside this range results lose digits."
    ), call = call)
  }
}

check_count <- function(x, arg, lower = 1L, call = rlang::caller_env()) {
  ok <- is.numeric(x) && length(x) == 1L && is.finite(x) && x == round(x) &&
    x >= lower && x <= .Machine$integer.max
  if (!ok) {
    abort("argument", "{.arg {arg}} must be one whole number of at least {lower}, not {describe(x)}.",
      call = call
    )
  }
  as.integer(x)
}

# The largest number of steps of a forecast. Forecasts no longer change long before that, and each step takes
# time and memory.
most_steps <- 1e5

check_steps <- function(x, arg, call = rlang::caller_env()) {
  x <- check_count(x, arg, call = call)
  if (x > most_steps) {
    abort("argument", c(
      "{.arg {arg}} must be at most {format(most_steps, big.mark = ',')}, not {format(x, big.mark = ',')}.",
      i = "Forecasts stop changing long before; {.fn simulate} draws longer sequences from a fit."
    ), call = call)
  }
  x
}

check_flag <- function(x, arg, call = rlang::caller_env()) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort("argument", "{.arg {arg}} must be {.code TRUE} or {.code FALSE}, not {describe(x)}.",
      call = call
    )
  }
  x
}

check_choice <- function(x, choices, arg, call = rlang::caller_env()) {
  if (identical(x, choices)) {
    return(choices[1])
  }
  if (!is.character(x) || length(x) != 1L || is.na(x) || !x %in% choices) {
    abort("argument", c(
      "{.arg {arg}} must be one of {.or {.val {choices}}}, not {describe(x)}.",
      i = near_choice(x, choices), i = if (is.data.frame(x) || is.matrix(x)) "Data are given by name: {.code data = }."
    ), call = call)
  }
  x
}

# What choices are called in other packages, by the choice here.
foreign_choices <- list(
  class = c("viterbi", "path", "map", "states", "membership"), prob = c("posterior", "responsibilities", "raw"),
  link = "response", segments = "states", matrix = "adjacency", track = "map", graph = "network"
)

# Which of these words differ from x by a slip of the pen: one letter, or two in a longer word.
is_nearly <- function(x, words) utils::adist(x, words, ignore.case = TRUE)[1L, ] <= 1L + (nchar(x) > 5L)

# A hint for a choice that is nearly, or the beginning of, one that there is, or has another name here.
near_choice <- function(x, choices) {
  if (!rlang::is_string(x) || nchar(x) < 3L) {
    return(NULL)
  }
  begins <- startsWith(choices, tolower(x)) | nchar(choices) > 2L & startsWith(tolower(x), choices)
  named <- vapply(choices, function(name) x %in% foreign_choices[[name]], NA)
  near <- choices[named | begins | is_nearly(x, choices)]
  if (length(near)) sprintf("Did you mean {.val %s}?", near[1L])
}

# Makers of check functions for tables of arguments: one_of() for an argument that is one of several choices,
# or_null() for an argument that may be NULL.
one_of <- function(choices) function(x, arg, call) check_choice(x, choices, arg, call)
or_null <- function(check) function(x, arg, call) if (!is.null(x)) check(x, arg, call = call)

# The checked arguments of a constructor: the defaults in `usual`, replaced by those that were given, in the
# order of `checks`, which has a function(x, arg, call) for each argument. Arguments that were not given are
# not checked. frame: the constructor's frame.
checked_arguments <- function(given, checks, usual, frame = rlang::caller_env()) {
  for (arg in intersect(names(checks), given)) usual[arg] <- list(checks[[arg]](get(arg, frame), arg, call = frame))
  usual
}

check_class <- function(x, class, arg, makers, call = rlang::caller_env()) {
  if (!inherits(x, class)) {
    abort("argument", c(
      "{.arg {arg}} must be made by {.or {.fn {makers}}}, not {describe(x)}.", misplaced_hint(x, arg, makers)
    ), call = call)
  }
  x
}

# notes: for arguments that similar functions have, but not this one, what to do instead.
check_no_dots <- function(..., notes = character(), call = rlang::caller_env()) {
  if (!...length()) {
    return(invisible())
  }
  extra <- names(substitute(list(...)))[-1L]
  refuse_unused(extra %||% rep("", ...length()), sys.call(-1L), sys.function(-1L), call, notes)
}

# Refuses arguments of a call that the called function does not have. extra: their names, "" for arguments
# without a name.
refuse_unused <- function(extra, of_call, of_function, call, notes = character()) {
  named <- extra[nzchar(extra)]
  extra[!nzchar(extra)] <- "(unnamed)"
  verb <- sub("^bnpvi::|[.](default|formula|bnp_source|bnp_stream)$", "", deparse(of_call[[1L]], nlines = 1L))
  refuse_arguments_of_others(named, verb, get0(names(formals(of_function))[1L], call), call)
  own <- intersect(named, names(notes))
  hints <- c(
    stats::setNames(notes[own], rep("i", length(own))),
    unused_hints(setdiff(named, own), verb, setdiff(names(formals(of_function)), "..."))
  )
  if (!length(hints)) hints <- c(i = "Check the spelling against the help page.")
  abort("argument", c("Unused argument{?s}: {.arg {extra}}.", hints), call = call)
}

# Checks that x is a finite numeric vector, or NULL.
check_vector <- function(x, arg, call = rlang::caller_env()) {
  if (is.null(x)) {
    return(NULL)
  }
  if (!is.numeric(x) || !is.null(dim(x)) || !length(x)) {
    abort("argument", "{.arg {arg}} must be a numeric vector or {.code NULL}, not {describe(x)}.",
      call = call
    )
  }
  bad <- which(!is.finite(x))
  if (length(bad)) {
    abort("argument", c(
      "{.arg {arg}} must be finite; {cli::qty(length(bad))}element{?s} {places(bad)}
       {cli::qty(length(bad))}{?is/are} not."
    ), call = call)
  }
  x
}

# Checks a symmetric positive definite matrix and returns it in full. Short forms are a positive number (times
# the identity) and a positive vector (the diagonal). NULL stays NULL.
check_definite <- function(x, arg, call = rlang::caller_env()) {
  if (is.null(x) || !is.matrix(x)) {
    x <- check_vector(x, arg, call)
    if (!is.null(x) && any(x <= 0)) {
      abort("not_definite", c(
        "{.arg {arg}} must be positive; {cli::qty(sum(x <= 0))}element{?s} {places(which(x <= 0))}
         {cli::qty(sum(x <= 0))}{?is/are} not."
      ), call = call)
    }
    return(x)
  }
  if (!is.numeric(x) || nrow(x) != ncol(x) || !all(is.finite(x))) {
    abort("argument", "{.arg {arg}} must be a square matrix of finite numbers, not {describe(x)}.",
      call = call
    )
  }
  if (!isSymmetric(unname(x), tol = 1e-8)) {
    abort("not_definite", c(
      "{.arg {arg}} must be symmetric.",
      i = "Use {.code (m + t(m)) / 2} when the difference is only rounding."
    ), call = call)
  }
  if (!is_definite(x)) {
    abort("not_definite", c(
      "{.arg {arg}} must be positive definite: all its eigenvalues above 0.",
      i = "Add a small multiple of the identity, or leave {.code NULL} for the default."
    ), call = call)
  }
  x
}

# Whether a matrix is positive definite after scaling to unit diagonal, so that the units of the columns do not matter.
is_definite <- function(x) {
  d <- diag(x)
  if (any(d <= 0) || any(!is.finite(d))) {
    return(FALSE)
  }
  correlation <- x / sqrt(d) / rep(sqrt(d), each = nrow(x))
  !inherits(try(chol.default(correlation), silent = TRUE), "try-error") &&
    min(eigen(correlation, symmetric = TRUE, only.values = TRUE)$values) > 1e-14
}
