# Checks parameters of an observation model that have units, once the units of the columns are known. Only
# values that a user gave are refused; defaults come from the data.

# Refuses parameters that are out of range for the data. given: the model as its constructor made it; obs: the
# model completed by resolve_obs().
check_against_data <- function(given, obs, call) {
  if (!is.null(obs$blocks)) {
    return(Map(check_against_data, given$blocks, obs$blocks, MoreArgs = list(call = call)))
  }
  gave <- function(name) !is.null(given[[name]])
  regresses <- !is.null(obs$responses)
  modelled <- if (regresses) obs$unit[response_columns(obs)] else obs$unit
  columns <- length(modelled)
  if (gave("df") && is.matrix(obs$scale)) {
    check_range(obs$df - (columns - 1), paste("df -", columns - 1), parameter_ranges$df, call)
  }
  if (gave("scale")) {
    scale <- if (is.matrix(obs$scale)) diag(obs$scale) else obs$scale
    check_in_units(scale, modelled, "scale", c(1e-10, 1e50), call)
  }
  if (gave("rounding") && !is.null(obs$unit)) check_range(obs$rounding / obs$unit, "rounding / spread", c(0, 1e4), call)
  if (gave("variance")) {
    variance <- if (is.matrix(obs$variance)) diag(obs$variance) else obs$variance
    check_in_units(variance, obs$unit, "variance", c(1e-8, 1e50), call)
  }
  if (gave("coef_precision")) {
    unit <- if (regresses) c(if (obs$intercept) 1, obs$unit[covariate_columns(obs)]) else
      c(rep(obs$unit, obs$lag), if (obs$intercept) 1)
    if (has_effects(obs)) unit <- unit[-(obs$effects + 1L)]
    check_in_units(diag(obs$coef_precision), unit, "coef_precision", c(1e-16, 1e50), call)
  }
  parameters <- Filter(gave, c("mean", "mean_strength", "scale", "variance", "coef_mean", "coef_precision"))
  if (length(parameters)) check_strain(parameters, obs, call)
}

# Refuses entries of a diagonal that are out of range, in the squared unit of their column.
check_in_units <- function(x, unit, arg, range, call) {
  relative <- x / unit / unit
  bad <- which(!(relative >= range[1] & relative <= range[2]))
  if (length(bad)) {
    at <- bad[1]
    abort("range", c(
      "{.arg {arg}} must be from {range[1]} to {range[2]} times the squared spread of its column.",
      x = "Entry {at} of its diagonal is {signif(x[at], 3)}, where the spread is about {unit[at]}.",
      i = "Leave {.code NULL} for the default, or rescale {.arg x}."
    ), call = call)
  }
}

largest_strain <- 1e8

check_strain <- function(parameters, obs, call) {
  # Infinite for a matrix that is singular in double precision.
  strain <- tryCatch(engine_strain(obs), error = function(e) Inf)
  if (!(strain <= largest_strain)) {
    abort("range", c(
      "{.arg {parameters}} would leave too few digits for the data.",
      x = "Numbers would be subtracted that are {signif(strain, 2)} times as large as their difference; they may be
           {largest_strain} times as large.",
      i = if ("mean" %in% names(obs)) {
        "Keep {.code mean_strength * (mean - m)^2 / scale} small, m the column medians, and {.arg scale} far from
         singular."
      } else if ("coef_mean" %in% names(obs)) {
        "Keep {.code coef_mean %*% coef_precision %*% t(coef_mean)} small beside {.arg scale}, and both matrices far
         from singular."
      } else {
        "Keep {.arg scale} far from singular."
      }
    ), call = call)
  }
}
