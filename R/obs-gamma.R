# Waiting times and other values above 0: in each column each cluster has a rate and a shape, which is known or the
# cluster's own.

#' Gamma observations
#'
#' Values above 0 with a Gamma distribution in each cluster, topic or state, such as waiting times, amounts or steps of
#' animals. Columns are independent given the cluster.
#'
#' @inheritParams obs_gaussian
#' @param shape The shape of each column's distribution. `NULL`, the default: each cluster has one of its own in each
#'   column, which is integrated out, with the prior `gamma_prior(0.5, 0.01)`; another [gamma_prior()] replaces this
#'   prior. Numbers, one or one per column, are known shapes. With shape 1 values are exponential. A Gamma distribution
#'   with a larger shape is that of a sum of so many waiting times, which varies less (with standard deviation `mean /
#'   sqrt(shape)`).
#' @param a,b The Gamma prior of each rate, with shape `a` and mean `a / b`: one number, or one for each column. The
#'   default mean is the rate in all data if the shape is known; if it is learned see *Details*.
#' @param zeros May values be 0? In each cluster and column a value is then 0 with a probability of its own, `zero` in
#'   `coef()`, with the prior Beta(1/2, 1/2), and otherwise follows the distribution.
#' @details
#' `obs_gamma()` takes values above 0. A waiting time of 0 is usually a rounded value: use `rounding`, or replace it by
#' half of the smallest value that can be told from 0. By default clusters differ in their shape, too. `b` is then the
#' rate at shape 1, and `b / a` a typical value of the column whatever the shape; its default is the exponential of the
#' mean of the logarithms less two of their standard deviations. `coef()` has `shape` and `mean`. `posterior_params()`
#' has the points of each shape's posterior (`shape_node`) with their probabilities and, given the shape, the Gamma
#' posterior of the rate. Groups whose logarithms are Gaussian may get more than one cluster: `compare_fits()` says
#' whether a model of the logarithms is better.
#'
#' If the shape is known, groups in which values vary more than this shape allows are divided into several clusters, and
#' groups in which they vary less are joined. The prior then weighs as much as `a / shape` values of average size: if
#' groups differ by orders of magnitude, give a small `a`, or groups with the shortest times cannot be told apart.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_weibull()]; [obs_survival()] for times that may
#'   be censored; *Rounded values* of [observation_models].
#' @examples
#' obs_gamma()
#' fit <- bnp_mixture(faithful["eruptions"], obs_gamma(), control = bnp_control(seed = 1))
#' coef(fit)[c("shape", "mean")]
#' @export
obs_gamma <- function(shape = NULL, a = 1, b = NULL, columns = NULL, zeros = FALSE, rounding = NULL, ...) {
  check_no_dots(...)
  prior <- list(a = check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  shape <- shape_argument(shape, "shape", gamma_prior(0.5, 0.01), likelihood_shapes)
  family <- if (is.numeric(shape) && !is.object(shape)) "waiting_time" else "shaped_gamma"
  if (family == "shaped_gamma") check_range(prior$a, "a", weights_of_shaped, rlang::current_env())
  obs <- do.call(new_obs, c(
    family, prior, columns_field(columns), if (check_flag(zeros, "zeros")) list(zeros = TRUE),
    if (!is.null(rounding)) rounding_field(rounding)
  ))
  if (family == "waiting_time" && is_rounded(obs)) {
    abort("argument", c(
      "{.arg rounding} is for shapes that are learned; with a known shape clusters cannot become too narrow.",
      i = "Leave {.arg rounding} or {.arg shape} out."
    ))
  }
  obs$shape <- shape
  obs
}

# Weights of priors beside a learned shape (the argument `a`) with which the bound has its digits.
weights_of_shaped <- c(1e-10, 1e10)

# The range of known shapes: in it the bound of clusters of 100 rows has at least eight digits (test-gamma.R).
likelihood_shapes <- c(1e-3, 1e6)

# Completes the model. The default prior mean of a rate is the rate of all data.
obs_resolve.obs_gamma <- function(obs, data, start, call) {
  obs <- resolve_fields(obs, c("a", "shape"), data$d, call)
  keep_within_units(obs, data, call)
  if (is.null(obs$b)) obs$b <- obs$a * column_means(data$x, data$weights) / obs$shape
  resolve_fields(obs, "b", data$d, call)
}

keep_within_units <- function(obs, data, call) {
  check_range(obs$rounding, "rounding", c(0, 1e150), call)
  bad <- which(colSums((data$x < 1e-150 & data$x != 0) | data$x > 1e150, na.rm = TRUE) > 0)
  if (length(bad)) {
    abort("range", c(
      "Columns of {.arg x} must lie within 1e-150 to 1e150 for {.fn {obs_facts(obs)$constructor}}.",
      x = "Not so: {places(as.character(data$column_names[bad] %||% bad))}.",
      i = "Change their units."
    ), call = call)
  }
}

obs_resolve.obs_shaped_gamma <- function(obs, data, start, call) {
  obs <- with_spacings(resolve_fields(obs, "a", data$d, call), data, start, call)
  need_spacing_of_zeros(obs, data$x, "x", call, found = FALSE)
  keep_within_units(obs, data, call)
  if (is.null(obs$b)) obs$b <- obs$a * exp(pmax(low_log_values(data, obs$rounding), -690))
  with_cell_densities(resolve_fields(obs, "b", data$d, call), data, start)
}

# Sets shape and rate of a gamma density for each rounded column, by which its lowest values are spread within
# their cells (PositiveCell in src/observations/rounded_cells.h). They are estimated with the weights exp(-x /
# (4 spacings)) of rows, under which a gamma density keeps its shape [estimated as in Minka 2002], and higher
# clusters count for nothing. If fewer than ten rows lie that low, values are spread evenly over their cells.
with_cell_densities <- function(obs, data, start) {
  if (!any(obs$rounding > 0)) {
    return(obs)
  }
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == data$d)) start$model$obs
  if (!is.null(before$cell_shape)) {
    obs[cell_densities] <- before[cell_densities]
    return(obs)
  }
  logs <- logs_of_values(data$x, obs$rounding)
  logs[!is.finite(logs)] <- NA
  tilt <- 1 / (4 * obs$rounding)
  low <- exp(-exp(logs) * rep(tilt, each = nrow(logs))) * (data$weights %||% 1)
  rows <- colSums(low, na.rm = TRUE)
  mean <- colSums(low * exp(logs), na.rm = TRUE) / rows
  below <- log(mean) - colSums(low * logs, na.rm = TRUE) / rows
  shape <- (3 - below + sqrt((below - 3)^2 + 24 * below)) / (12 * below)
  spread <- obs$rounding > 0 & rows >= 10 & is.finite(shape) & shape > 0
  obs$cell_shape <- ifelse(spread, pmin(shape, 1000), 1)
  obs$cell_rate <- ifelse(spread, obs$cell_shape / mean - tilt, 0)
  obs
}
cell_densities <- c("cell_shape", "cell_rate")

# The logarithms of values; for a 0 in a rounded column the average of the logarithm over its cell, from 0 to
# half a spacing.
logs_of_values <- function(x, rounding = NULL) {
  zero <- which(x == 0)
  if (length(zero)) x[zero] <- rep(rounding, each = nrow(x))[zero] / (2 * exp(1))
  log(x)
}

# The logarithm of a low value of each column, two standard deviations below the mean of its logarithms. The
# default prior mean comes from it, because a low prior mean does less harm than a high one: with r the ratio
# of the prior's and a cluster's mean, the prior costs a cluster with a higher mean only about |log r|, a
# cluster with a lower mean about r. It is not so far below the largest value that the ratio would overflow; 0
# for a column without values.
low_log_values <- function(data, rounding = NULL) {
  logs <- logs_of_values(data$x, rounding)
  mean <- column_means(logs, data$weights)
  low <- mean - 2 * sqrt(column_means((logs - rep(mean, each = nrow(logs)))^2, data$weights))
  low <- pmax(low, vapply(seq_len(ncol(logs)), function(j) max(-Inf, logs[, j], na.rm = TRUE), 1) - 550)
  ifelse(is.finite(low), low, 0)
}

model_gamma <- list(
  title = "Gamma, shape known", constructor = "obs_gamma", values = "values above 0", kind = "number",
  gaps = "cells",
  refusal = c(
    class = "not_positive", must = "hold values above 0",
    remedy = "Where 0 is a value of its own, as a step of an animal at rest, give {.code zeros = TRUE}. Times of 0 have
              been rounded: say to what by {.arg rounding}, or give half of the smallest that can be told from 0."
  ),
  parameters = list(shape = "columns", a = "columns", b = "columns"),
  arrays = list(
    a = c("clusters", "columns"), b = c("clusters", "columns"), rate = c("clusters", "columns"),
    shape = c("clusters", "columns")
  ),
  location = "rate", as_series = TRUE
)

model_shaped_gamma <- utils::modifyList(model_gamma, list(
  title = "Gamma, shape learned", class = c("obs_shaped", "obs_gamma"),
  working = cell_densities, parameters = list(shape = NULL, rounding = "columns"),
  arrays = list(
    shape_node = shaped_axes, shape_prob = shaped_axes, a = shaped_axes, b = shaped_axes, rate = NULL,
    mean = c("clusters", "columns")
  ),
  location = "mean"
))

obs_supports.obs_gamma <- function(obs, values) values > 0
obs_supports.obs_shaped_gamma <- function(obs, values) supports_rounded(obs, values)
obs_check_columns.obs_shaped_gamma <- function(obs, x, arg, call) need_spacing_of_zeros(obs, x, arg, call)

obs_quantiles.obs_gamma <- function(obs) list(rate = function(q, p) stats::qgamma(p, q$a, q$b))
obs_quantiles.obs_shaped_gamma <- function(obs) {
  shaped_quantiles(
    "shape", function(column) column$shape_node * column$b / column$a, # the mean is shape / rate
    function(mean, column) stats::pgamma(column$shape_node / mean, column$a, column$b, lower.tail = FALSE)
  )
}

# The least rate of drawn rows: drawn rates may underflow if `a` is small, and values are about 1e150 at most.
least_rate <- 1e-148

obs_draw_rows.obs_gamma <- function(obs, q, rows, given) {
  rate <- pmax(stats::rgamma(length(q$a), q$a, q$b), least_rate)
  n <- length(rows)
  matrix(stats::rgamma(n * length(rate), rep(q$shape, each = n), rep(rate, each = n)), n)
}
obs_draw_rows.obs_shaped_gamma <- function(obs, q, rows, given) {
  columns <- lapply(shapes_of_columns(q), function(column) {
    drawn <- draw_shape(column)
    # At least 1e-150, since drawn values may underflow if the shape is small.
    rate <- pmax(stats::rgamma(1L, drawn$a, drawn$b), least_rate)
    pmax(stats::rgamma(length(rows), drawn$shape_node, rate), 1e-150)
  })
  matrix(unlist(columns), length(rows))
}

obs_predictive_cdf.obs_gamma <- function(obs, q, data) {
  times <- function(v) rep(v, each = data$n)
  array(stats::pbeta(1 / (1 + times(q$b) / data$x), times(q$shape), times(q$a)), dim(data$x))
}
obs_predictive_cdf.obs_shaped_gamma <- function(obs, q, data) {
  columns <- shapes_of_columns(q)
  out <- array(NA_real_, dim(data$x))
  for (j in seq_along(columns)) {
    given <- function(b, shape, a) stats::pbeta(1 / (1 + b / data$x[, j]), shape, a)
    each <- mapply(given, columns[[j]]$b, columns[[j]]$shape_node, columns[[j]]$a)
    out[, j] <- matrix(each, data$n) %*% columns[[j]]$shape_prob
  }
  out
}

# The first two moments of the predictive given the shape, under which x / (x + b) is Beta(shape, a). Moments
# of order a and higher do not exist.
moments_given_shape <- function(shape, a, b) {
  mean <- ifelse(a > 1, shape * b / (a - 1), Inf)
  list(mean = mean, square = ifelse(a > 2, mean * b * (shape + 1) / (a - 2), Inf))
}
obs_moments.obs_gamma <- function(obs, q, given) {
  moments <- moments_given_shape(q$shape, q$a, q$b)
  mean <- moments$mean
  list(mean = mean, var = ifelse(q$a > 2, mean / q$shape * mean * (q$shape + q$a - 1) / (q$a - 2), Inf))
}
obs_moments.obs_shaped_gamma <- function(obs, q, given) {
  moment <- function(what) {
    moment_over_shapes(q, function(column) moments_given_shape(column$shape_node, column$a, column$b)[[what]])
  }
  mean <- moment("mean")
  list(mean = mean, var = pmax(moment("square") - mean^2, 0))
}

obs_divergence.obs_gamma <- function(obs, a, b) sum(a$shape * (b$rate / a$rate - 1 - log(b$rate / a$rate)))
obs_overlap.obs_gamma <- function(obs, a, b) prod((2 / (sqrt(a$rate / b$rate) + sqrt(b$rate / a$rate)))^a$shape)

# The Kullback-Leibler divergence of clusters with shapes of their own, whose rates are shape / mean.
obs_divergence.obs_shaped_gamma <- function(obs, a, b) {
  ratio <- b$shape / b$mean * a$mean / a$shape # of the rates
  sum((a$shape - b$shape) * digamma(a$shape) - lgamma(a$shape) + lgamma(b$shape) - b$shape * log(ratio) +
    a$shape * (ratio - 1))
}
obs_overlap.obs_shaped_gamma <- function(obs, a, b) {
  shape <- (a$shape + b$shape) / 2
  ratio <- b$shape / b$mean * a$mean / a$shape
  exp(sum(lgamma(shape) - (lgamma(a$shape) + lgamma(b$shape)) / 2 + b$shape / 2 * log(ratio) -
    shape * log((1 + ratio) / 2)))
}

obs_marginals.obs_shaped_gamma <- function(obs, means) {
  Map(function(mean, shape) list(kind = "number", mean = mean, sd = mean / sqrt(shape)), unname(means$mean),
    unname(means$shape))
}
obs_picture.obs_gamma <- function(obs, fit, data) heat_picture(fit, relative = TRUE)

gamma_densities <- function(shape, rate) {
  unname(Map(function(shape, rate) {
    column_density(function(x) stats::dgamma(x, shape, rate), function(p) stats::qgamma(p, shape, rate))
  }, shape, rate))
}
obs_densities.obs_gamma <- function(obs, means) gamma_densities(means$shape, means$rate)
obs_densities.obs_shaped_gamma <- function(obs, means) gamma_densities(means$shape, means$shape / means$mean)
