# The hierarchical prior of Gaussian clusters: what its hyperparameters are about, read from the data, and where their
# posterior begins (src/observations/hierarchical_gaussian.h).

# Fields of an observation model that say what was learned of the hyperparameters, in the user's units; the engine
# returns those that a fit ends with.
hyper_fields <- c(
  "hyper_wishart_df", "hyper_shape", "hyper_shape_df", "hyper_rate", "hyper_mean_variance", "hyper_strength"
)

given_hyperparameters <- function(obs) {
  vapply(c("mean", "mean_strength", "df", "scale"), function(field) !is.null(obs[[field]]), NA)
}

# given: of each hyperparameter, did the user give it? location: where means are to be learned, else NULL. Goes on from
# `start`, a fit of the same kind.
begin_hyperparameters <- function(obs, given, data, variance, location, full, start) {
  if (all(given[c("df", "scale", if (!is.null(location)) c("mean", "mean_strength"))])) {
    return(obs) # nothing is left to learn
  }
  d <- length(variance)
  spherical <- inherits(obs, "obs_gaussian_spherical")
  obs$hyper_given <- given
  obs$data_location <- location
  obs$data_variance <- variance
  # A floor of the variance of clusters: what rounding alone makes, and no less than a thousandth of the column's
  # standard deviation. `variance`: squared spreads of the columns.
  obs$data_floor <- pmax(1e-6 * variance, pmin(column_spacings(data$x, data$weights)^2 / 12, variance / 10))
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == d)) start$model$obs
  learned <- c(hyper_fields, names(given)[!given])
  if (identical(before$family, obs$family) && identical(before$hyper_given, given)) {
    obs[learned] <- before[learned]
    return(obs)
  }
  shape <- spread_within(counted_units(data), d) * if (spherical) mean(variance) else variance
  block <- if (full) d else 1
  obs$df <- obs$df %||% (block + 1)
  obs$hyper_wishart_df <- 0
  obs$hyper_shape <- if (full) diag(shape, d) else shape
  obs$hyper_shape_df <- rep(0.5 + obs$df, length(shape))
  obs$hyper_rate <- numeric()
  within <- obs$df * (shape + if (spherical) mean(obs$data_floor) else obs$data_floor)
  if (!is.null(location)) {
    spread <- if (given[["mean"]]) 0 * variance else variance
    obs$hyper_strength <- if (given[["mean_strength"]]) c(obs$mean_strength, 1) else c(0.25 + d / 2, 25 + 50 * d)
    obs$hyper_mean_variance <- if (full) diag(spread, d) else spread
    obs$mean_strength <- obs$hyper_strength[1L] / obs$hyper_strength[2L]
    within <- within + obs$mean_strength * if (spherical) sum(spread) else spread
  }
  if (given[["scale"]]) {
    obs$hyper_scale <- obs$scale
  } else {
    obs$scale <- if (full) diag(within, d) else within
  }
  obs
}
