# Rounded values: obs_gaussian(rounding = ) says by column how far apart they are, and a fit then is one to their cells.
# What clusters learn from are averages over the cells (Columns in src/observations/gather.h); what is asked of rows
# afterwards, predictives and samplers, takes them as they are.

# rounding: as a user gives it -> fields of the observation model.
rounding_field <- function(rounding, drifts, call = rlang::caller_env()) {
  rounding <- check_vector(rounding, "rounding", call)
  if (any(rounding < 0)) {
    abort("argument", "{.arg rounding} must be 0 or above, not {rounding[rounding < 0][1]}.", call = call)
  }
  if (drifts && any(rounding > 0)) {
    abort("argument", c(
      "{.arg rounding} and {.arg drift} do not go together: rows at times are taken as they are.",
      i = "Leave one of them out."
    ), call = call)
  }
  list(rounding = rounding)
}

is_rounded <- function(obs) any(obs$rounding > 0) || any(vapply(obs$blocks, is_rounded, NA))

# The same model of rows as they are.
without_rounding <- function(obs) {
  obs$rounding <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, without_rounding)
  obs
}
