# Gaussian clusters with one variance for all columns, and Gaussian clusters that all share one covariance.

# Gives all columns the same unit, so that a variance shared by all columns stays one number.
common_unit <- function(obs) {
  obs$unit <- rep(max(obs$unit), length(obs$unit))
  obs
}

# Completes the model, with the defaults of other covariances; the expected variance is the average over
# columns.
obs_resolve.obs_gaussian_spherical <- function(obs, data, start, call) {
  given <- given_hyperparameters(obs)
  obs <- resolve_means(obs, data, call)
  variance <- obs$unit^2 * robust_variances(data$x, obs$centre, obs$unit, data$weights)
  obs <- common_unit(obs)
  if (given[["df"]]) obs$df <- check_df(obs$df, 1L, call)
  if (length(obs$scale) > 1L) {
    abort("argument", c(
      "{.arg scale} must be one number for {.code covariance = \"spherical\"}, not {describe(obs$scale)}."
    ), call = call)
  }
  if (isTRUE(obs$learn)) {
    return(begin_hyperparameters(obs, given, data, variance, obs$centre, full = FALSE, start))
  }
  obs$df <- obs$df %||% 3
  obs$scale <- obs$scale %||% (spread_within(counted_units(data), data$d) * mean(variance) * max(obs$df - 2, 1))
  obs
}

# Completes the model. A variance to be learned starts at a quarter of that of all data, or where an earlier
# fit ended. (Starts at 0.05, at 0.25 and at the default of `scale` were compared on nine sets of up to 1,000
# rows: with a quarter the bound was the highest, or a few nats lower.) It is learned only while there are at
# least two clusters. The variance of a single cluster would be that of all data, and few births are accepted
# under such a variance.
obs_resolve.obs_tied <- function(obs, data, start, call) {
  axes <- length(obs_facts(obs)$parameters$variance) # one number, one for each column, or a matrix
  obs <- resolve_means(obs, data, call)
  if (is.null(obs$variance)) {
    obs$data_variance <- obs$unit^2 * column_variances(standardise(data$x, obs), data$weights)
    before <- if (inherits(start, "bnp_fit") && start$input$d == data$d) start$model$obs
    if (identical(before$family, obs$family)) obs$variance <- before$variance
    share <- obs$data_variance / 4
    obs$variance <- obs$variance %||% switch(axes + 1L, mean(share), share, diag(share, data$d))
  }
  if (axes == 0L) obs <- common_unit(obs)
  obs$variance <- if (axes == 2L) expand_matrix(obs$variance, data$d, "variance", call) else
    expand_vector(obs$variance, if (axes == 0L) 1L else data$d, "variance", call)
  obs
}

# If at most three clusters were found, the fit is repeated from one cluster with a larger variance: three may
# still be too many. Joining two of them would raise the shared variance, but the test of a merge leaves this
# variance as it is.
obs_begin_again.obs_tied <- function(obs, k) {
  if (is.null(obs$data_variance) || k > 3L) {
    return(NULL)
  }
  obs$variance <- 4 * obs$variance
  obs$from_one <- TRUE
  obs
}

# --- One covariance for all clusters ---

model_gaussian_tied <- list(
  title = "Gaussian, one covariance for all clusters", constructor = "obs_gaussian",
  class = c("obs_tied", "obs_gaussian"), values = "real numbers", kind = "number", working = working_of_gaussians,
  parameters = list(mean = "columns", variance = c("columns", "columns"), rounding = "columns"),
  arrays = list(
    mean = c("clusters", "columns"), mean_strength = "clusters", cov = c("columns", "columns", "clusters")
  ),
  location = "mean", as_series = TRUE
)
model_gaussian_tied_diagonal <- utils::modifyList(model_gaussian_tied, list(
  title = "Gaussian, one diagonal covariance for all clusters", parameters = list(variance = "columns")
))
model_gaussian_tied_spherical <- utils::modifyList(model_gaussian_tied, list(
  title = "Gaussian, one spherical covariance for all clusters", parameters = list(variance = NULL)
))

# What is learned of the prior: the shared variance; print() shows it if it is one number for all columns.
obs_learned.obs_tied <- function(obs) {
  if (is.null(obs$variance) || !is.null(obs$data_variance)) {
    shown <- if (is.null(obs_facts(obs)$parameters$variance)) "variance"
    list(by = "variance = NULL", numbers = shown, plug_in = TRUE)
  }
}

obs_quantiles.obs_tied <- function(obs) {
  list(mean = function(q, p) stats::qnorm(p, q$mean, sqrt(diag(q$cov) / q$mean_strength)))
}

obs_draw_rows.obs_tied <- function(obs, q, rows, given) {
  root <- chol(q$cov)
  noise <- function(n) matrix(stats::rnorm(n * length(q$mean)), n) %*% root
  centre <- q$mean + noise(1L)[1L, ] / sqrt(q$mean_strength)
  noise(length(rows)) + rep(centre, each = length(rows))
}

obs_moments.obs_tied <- function(obs, q, given) list(mean = q$mean, var = diag(q$cov) * (1 + 1 / q$mean_strength))

obs_predictive_cdf.obs_tied <- function(obs, q, data) {
  variance <- if (is.matrix(obs$variance)) diag(obs$variance) else rep_len(obs$variance, data$d)
  student_cdf(data$x, q$mean, sqrt(variance * (1 + 1 / q$mean_strength)), Inf)
}

# --- One variance of each cluster for all columns ---

model_gaussian_spherical <- utils::modifyList(model_gaussian_full, list(
  title = "Gaussian, spherical covariance", class = c("obs_gaussian_diagonal", "obs_gaussian"),
  parameters = list(scale = NULL), arrays = list(scale = "clusters")
))

obs_facts.obs_gaussian_spherical <- function(obs) {
  facts <- NextMethod()
  facts$arrays$df <- "clusters"
  facts
}

obs_draw_rows.obs_gaussian_spherical <- function(obs, q, rows, given) {
  sd <- 1 / sqrt(stats::rgamma(1L, q$df / 2, q$scale / 2))
  centre <- stats::rnorm(length(q$mean), q$mean, sd / sqrt(q$mean_strength))
  n <- length(rows)
  matrix(stats::rnorm(n * length(centre), rep(centre, each = n), sd), n)
}
