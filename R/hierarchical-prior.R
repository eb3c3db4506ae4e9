# The hierarchical prior of Gaussian clusters, whose hyperparameters are learned: their scale, computed from
# the data, and the start of their posterior (src/observations/hierarchical_gaussian.h).

# Fields of an observation model that hold the posterior of its hyperparameters, in the user's units; the
# engine returns their values at the end of a fit.
hyper_fields <- c(
  "hyper_wishart_df", "hyper_shape", "hyper_shape_df", "hyper_rate", "hyper_mean_variance", "hyper_strength"
)

# Fields of the hierarchical prior that print() does not show: those of the posterior of the hyperparameters,
# and those that are computed from the data.
hyper_working <- c("data_location", "data_variance", "data_floor", "hyper_given", "hyper_scale", hyper_fields)

# Which hyperparameters in `of` the user gave. of: by default the two for the location of clusters; for
# regressions those of the coefficients.
given_hyperparameters <- function(obs, of = c("mean", "mean_strength")) {
  vapply(c(of, "df", "scale"), function(field) !is.null(obs[[field]]), NA)
}

# Adds the fields with which learning of the hyperparameters begins to the observation model. given: for each
# hyperparameter, whether the user gave it; variance: squared spreads of the columns; location: the prior
# expectation of means that are to be learned, a vector or a matrix of coefficients, else NULL; full: whether
# covariances are full. start: an earlier fit of the same kind, from whose values to continue.
begin_hyperparameters <- function(obs, given, data, variance, location, full, start, x = data$x, shape = NULL) {
  if (all(given[c("df", "scale", if (!is.null(location)) names(given)[1:2])])) {
    return(obs) # no hyperparameter is left to learn
  }
  d <- length(variance)
  spherical <- inherits(obs, "obs_gaussian_spherical")
  obs$hyper_given <- given
  obs$data_location <- location
  obs$data_variance <- variance
  # A lower limit for the variance of clusters in each column: the variance that rounding alone makes, and at
  # least a thousandth of the column's standard deviation, squared.
  obs$data_floor <- pmax(1e-6 * variance, pmin(column_spacings(x, data$weights)^2 / 12, variance / 10))
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == data$d)) start$model$obs
  learned <- c(hyper_fields, names(given)[!given])
  if (identical(before$family, obs$family) && identical(before$hyper_given, given) &&
    length(before$data_location) == length(location)) {
    obs[learned] <- before[learned]
    return(obs)
  }
  shape <- shape %||% (spread_within(counted_units(data), d) * if (spherical) mean(variance) else variance)
  block <- if (full) d else 1
  regressors <- NCOL(location)
  obs$df <- obs$df %||% (block + 1)
  obs$hyper_wishart_df <- 0
  obs$hyper_shape <- if (full) diag(shape, d) else shape
  obs$hyper_shape_df <- rep(0.5 + obs$df, length(shape))
  obs$hyper_rate <- numeric()
  within <- obs$df * (shape + if (spherical) mean(obs$data_floor) else obs$data_floor)
  if (!is.null(location)) {
    spread <- if (given[[1L]]) 0 * variance else variance
    means <- d * regressors
    obs$hyper_strength <- if (given[[2L]]) c(obs$mean_strength %||% 1, 1) else c(0.25 + means / 2, 25 + 50 * means)
    obs$hyper_mean_variance <- if (full) diag(spread, d) else spread
    strength <- obs$hyper_strength[1L] / obs$hyper_strength[2L]
    obs[intersect("mean_strength", names(given))] <- strength
    within <- within + strength * regressors * if (spherical) sum(spread) else spread
  }
  if (given[["scale"]]) {
    obs$hyper_scale <- obs$scale
  } else {
    obs$scale <- if (full) diag(within, d) else within
  }
  obs
}

# Adds the values from which the learning of the prior of regression coefficients begins: the mean
# obs$coef_mean and, at a strength of 1, the precision obs$coef_precision.
begin_coefficients <- function(obs, given, data, y, variance, shape, start) {
  if (all(given)) {
    return(obs)
  }
  precision <- obs$coef_precision
  obs <- begin_hyperparameters(
    obs, given, data, variance, obs$coef_mean, TRUE, start, data$x[, y, drop = FALSE], shape
  )
  obs$coef_precision <- precision * obs$hyper_strength[1L] / obs$hyper_strength[2L]
  obs
}
