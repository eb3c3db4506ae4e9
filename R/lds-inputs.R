# Known inputs of linear systems: columns of the data that act on hidden states and are not modelled
# themselves. The internal form of data has them as `data$inputs`, a matrix.

# The names of columns from the argument `inputs` of obs_lds(), a formula or names; NULL for none.
input_names <- function(inputs, call = rlang::caller_env()) {
  if (is.null(inputs)) {
    return(NULL)
  }
  names <- if (is.character(inputs)) inputs else if (rlang::is_formula(inputs, lhs = FALSE)) {
    variables <- tryCatch(as.list(attr(stats::terms(inputs), "variables"))[-1L], error = function(e) NULL)
    plain <- length(variables) > 0L && all(vapply(variables, is.name, NA)) &&
      all(attr(stats::terms(inputs), "order") == 1L)
    if (plain) vapply(variables, as.character, "")
  }
  if (!length(names) || anyNA(names) || anyDuplicated(names) || !all(nzchar(names))) {
    abort("argument", c(
      "{.arg inputs} must name columns of the data, each once, as {.code ~ u1 + u2}, not {describe(inputs)}.",
      i = "Make columns first for functions or products of columns and for levels of factors."
    ), call = call)
  }
  names
}

# Splits a checked table into the columns that are modelled and the inputs.
take_inputs <- function(x, obs, arg, call) {
  inputs <- matrix(0, nrow(x), length(obs$inputs))
  for (i in seq_along(obs$inputs)) {
    taken <- take_named_column(x, obs$inputs[i], "inputs", arg, call)
    inputs[, i] <- taken$column
    x <- taken$x
  }
  if (!ncol(x)) abort("no_columns", "{.arg {arg}} has no columns beside {.arg inputs}.", call = call)
  bad <- which(!is.finite(inputs), arr.ind = TRUE)
  if (nrow(bad)) {
    abort("argument", c(
      "{.arg inputs} must be known in each row of {.arg {arg}}: finite numbers.",
      x = "Not so in row {row_number(bad[1L, 1L], arg)} of {.field {obs$inputs[bad[1L, 2L]]}}.",
      i = "Fill gaps of an input, by what was set at the time, or leave the input out."
    ), call = call)
  }
  list(x = x, inputs = inputs)
}

# Sets the units of inputs: their standard deviations, around the means where the dynamics have an intercept.
# A constant input is refused, as it is an intercept itself.
with_input_units <- function(obs, data, call) {
  if (is.null(obs$inputs) || !is.null(obs$input_unit)) {
    return(obs)
  }
  u <- data$inputs
  size <- apply(abs(u), 2L, max)
  size[size == 0] <- 1
  constant <- apply(u, 2L, function(v) diff(range(v))) <= 1e-12 * size
  spread <- size * sqrt(column_variances(u / rep(size, each = nrow(u)), data$weights))
  if (obs$intercept && any(constant)) {
    abort("argument", c(
      "{.arg inputs} has {cli::qty(sum(constant))}column{?s} with the same value in all rows:
       {.field {obs$inputs[constant]}}.",
      i = "Leave it out: {.code intercept = TRUE} has its effect."
    ), call = call)
  }
  obs$input_unit <- ifelse(constant, size, spread)
  obs$input_centre <- if (obs$intercept) column_means(u, data$weights) else rep(0, ncol(u))
  obs
}

n_inputs_of <- function(obs) length(obs$inputs)
