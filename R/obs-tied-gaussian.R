# Gaussian clusters with one variance for all columns, and those that share one covariance.

# Columns are measured in one unit, or spheres would not stay spheres.
common_unit <- function(obs) {
  obs$unit <- rep(max(obs$unit), length(obs$unit))
  obs
}

# As for other covariances; the expected variance is the average over columns.
resolve_spherical <- function(obs, data, start, call) {
  obs <- resolve_means(obs, data, call)
  variance <- mean(obs$unit^2 * robust_variances(data$x, obs$centre, obs$unit, data$weights))
  obs <- common_unit(obs)
  obs$df <- check_df(obs$df %||% 3, 1L, call)
  if (length(obs$scale) > 1L) {
    abort("argument", c(
      "{.arg scale} must be one number for {.code covariance = \"spherical\"}, not {describe(obs$scale)}."
    ), call = call)
  }
  obs$scale <- obs$scale %||% (spread_within(counted_units(data), data$d) * variance * max(obs$df - 2, 1))
  obs
}

# A variance that is to be learned begins at a quarter of that of all data, or where an earlier fit ended. (Of 0.05,
# 0.25 and the default share of `scale`, a quarter ended highest, or within a few nats, on nine sets of up to 1,000
# rows.) It is then learned from two clusters on: from one it would be that of all data, under which few births are
# accepted.
resolve_tied <- function(obs, data, start, shape, call) {
  obs <- resolve_means(obs, data, call)
  if (is.null(obs$variance)) {
    obs$data_variance <- obs$unit^2 * column_variances(standardise(data$x, obs), data$weights)
    before <- if (inherits(start, "bnp_fit") && start$input$d == data$d) start$model$obs
    if (identical(before$family, obs$family)) obs$variance <- before$variance
    share <- obs$data_variance / 4
    obs$variance <- obs$variance %||%
      switch(shape, spherical = mean(share), diagonal = share, diag(share, data$d))
  }
  if (shape == "spherical") obs <- common_unit(obs)
  obs$variance <- switch(shape,
    spherical = expand_vector(obs$variance, 1L, "variance", call),
    diagonal = expand_vector(obs$variance, data$d, "variance", call),
    expand_matrix(obs$variance, data$d, "variance", call)
  )
  obs
}

# Few clusters may be too many, as joining two of them raises the variance that all share, which a merge does not see.
begin_with_one <- function(obs, k, most = 3L) {
  if (is.null(obs$data_variance) || k > most) {
    return(NULL)
  }
  obs$variance <- 4 * obs$variance
  obs$from_one <- TRUE
  obs
}

# The covariance of all clusters is known to each of them.
model_tied <- function(shape, title) {
  c(any_gaussian, list(
    title = title,
    resolve = function(obs, data, start, call) resolve_tied(obs, data, start, shape, call),
    arrays = list(
      mean = c("clusters", "columns"), mean_strength = "clusters", cov = c("columns", "columns", "clusters")
    ),
    location = "mean",
    quantiles = list(mean = function(q, p) stats::qnorm(p, q$mean, sqrt(diag(q$cov) / q$mean_strength))),
    draw = function(obs, clusters, path, lengths, given) {
      draw_by_cluster(clusters, path, function(q, rows) {
        root <- chol(q$cov)
        noise <- function(n) matrix(stats::rnorm(n * length(q$mean)), n) %*% root
        centre <- q$mean + noise(1L)[1L, ] / sqrt(q$mean_strength)
        noise(length(rows)) + rep(centre, each = length(rows))
      })
    },
    moments = function(q, given) list(mean = q$mean, var = diag(q$cov) * (1 + 1 / q$mean_strength)),
    predictive_cdf = function(obs, q, data) {
      variance <- if (is.matrix(obs$variance)) diag(obs$variance) else rep_len(obs$variance, data$d)
      student_cdf(data$x, q$mean, sqrt(variance * (1 + 1 / q$mean_strength)), Inf)
    },
    shrinks = TRUE,
    begin_again = begin_with_one,
    learned = function(obs) if (is.null(obs$variance) || !is.null(obs$data_variance)) "variance = NULL",
    learned_numbers = if (shape == "spherical") "variance" else character(),
    parameters = c(list(mean = "columns"), if (shape != "spherical") list(variance = c("columns", "columns")))
  ))
}

model_gaussian_spherical <- c(any_gaussian, list(
  title = "Gaussian, spherical covariance",
  gaps = "cells",
  of_obs = function(obs) if (isTRUE(obs$gaps)) {
    list(arrays = replace(model_gaussian_spherical$arrays, "mean_strength", list(c("clusters", "columns"))))
  },
  resolve = resolve_spherical,
  arrays = list(
    mean = c("clusters", "columns"), mean_strength = "clusters", df = "clusters", scale = "clusters",
    cov = c("columns", "columns", "clusters")
  ),
  location = "mean",
  quantiles = diagonal_quantiles,
  draw = function(obs, clusters, path, lengths, given) {
    draw_by_cluster(clusters, path, function(q, rows) {
      sd <- 1 / sqrt(stats::rgamma(1L, q$df / 2, q$scale / 2))
      centre <- stats::rnorm(length(q$mean), q$mean, sd / sqrt(q$mean_strength))
      n <- length(rows)
      matrix(stats::rnorm(n * length(centre), rep(centre, each = n), sd), n)
    })
  },
  moments = function(q, given) {
    var <- student_variance(q$scale * (1 + 1 / q$mean_strength), q$df)
    list(mean = q$mean, var = rep_len(var, length(q$mean)))
  },
  predictive_cdf = function(obs, q, data) {
    sd <- rep_len(sqrt(q$scale * (1 + 1 / q$mean_strength) / q$df), length(q$mean))
    student_cdf(data$x, q$mean, sd, q$df)
  },
  shrinks = TRUE,
  parameters = list(mean = "columns")
))

model_gaussian_tied_spherical <- model_tied("spherical", "Gaussian, one spherical covariance for all clusters")
model_gaussian_tied_diagonal <- model_tied("diagonal", "Gaussian, one diagonal covariance for all clusters")
model_gaussian_tied <- model_tied("full", "Gaussian, one covariance for all clusters")
