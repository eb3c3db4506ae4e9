# The Weibull model: times and other values above 0 whose hazard rises or falls. Each cluster has a shape and
# a scale in each column. Times may be censored on the right (obs_survival(shape = )).
#
# Given the shape, scale^(-shape) has a Gamma posterior of shape `a` and rate `b`^shape: `b` is in the units
# of the data, and 1 / (1 + (x / b)^shape) ~ Beta(a, 1) for new values x > 0.

#' Weibull observations
#'
#' Values above 0 with a Weibull distribution in each cluster, topic or state, such as times until something fails.
#' Columns are independent given the cluster.
#'
#' @inheritParams obs_gaussian
#' @param shape The shape of each column's distribution. `NULL`, the default: each cluster has one of its own in each
#'   column, which is integrated out, with the prior `gamma_prior(1, 0.1)`; another [gamma_prior()] replaces this prior.
#'   Numbers, one or one per column, are known shapes. With shape 1 values are exponential.
#' @param a,b The Gamma prior of each rate, with shape `a` and mean `a / b`: one number, or one for each column. `b` is
#'   the rate at shape 1, as in [obs_gamma()].
#' @param zeros May values be 0? In each cluster and column a value is then 0 with a probability of its own, `zero` in
#'   `coef()`, with the prior Beta(1/2, 1/2), and otherwise follows the distribution.
#' @details
#' The hazard of an event rises with time if the shape
#' is above 1, falls if it is below, and is constant at 1. `b` is the rate at shape 1, as in `obs_gamma()`. `coef()` has
#' `shape` and `scale`, as defined in [stats::dweibull()]. Shapes are learned on a grid from 0.1 to 20; if values span
#' many orders of magnitude, the largest shape is smaller (300 divided by the largest distance of a logarithm from their
#' mean). The grid has 64 points, and more if there are more rows, up to 256 at 5,700. Log evidences of clusters of far
#' more rows are a few nats too low. `obs_survival(shape = NULL)` is the same for times that may be censored.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_gamma()]; [obs_survival()] for times that may
#'   be censored; *Rounded values* of [observation_models].
#' @examples
#' obs_weibull()
#' fit <- bnp_mixture(faithful["eruptions"], obs_weibull(), control = bnp_control(seed = 1))
#' coef(fit)[c("shape", "scale")]
#' @export
obs_weibull <- function(shape = NULL, a = 1, b = NULL, columns = NULL, zeros = FALSE, rounding = NULL, ...) {
  check_no_dots(...)
  obs <- new_weibull("weibull", shape, a, b, columns)
  if (check_flag(zeros, "zeros")) obs$zeros <- TRUE
  if (!is.null(rounding)) obs$rounding <- rounding_field(rounding)$rounding
  structure(obs, class = obs_class(obs))
}

# The range in which a prior's parameter b can be represented; b is the shape-th root of the rate (see the top
# of this file).
weibull_weights <- c(1e-10, 1e10)

# Known shapes. The scale of a cluster is the shape-th root of its mean power, which has no number for a lower shape.
weibull_shapes <- c(0.05, 1e6)

new_weibull <- function(family, shape, a, b, columns, call = rlang::caller_env()) {
  shape <- shape_argument(shape, "shape", gamma_prior(1, 0.1), weibull_shapes, call)
  prior <- list(a = check_positive(a, "a", call), b = if (!is.null(b)) check_positive(b, "b", call))
  check_range(prior$a, "a", weibull_weights, call)
  obs <- do.call(new_obs, c(family, prior, columns_field(columns)))
  obs$shape <- shape
  obs
}

obs_resolve.obs_weibull <- function(obs, data, start, call) {
  obs <- resolve_fields(obs, c("a", if (!is.object(obs$shape)) "shape"), data$d, call)
  obs <- with_spacings(obs, data, start, call)
  need_spacing_of_zeros(obs, data$x, "x", call, found = FALSE)
  keep_within_units(obs, data, call)
  with_cell_densities(resolve_weibull(obs, data, start, call), data, start)
}

# Completes the model from the data. The engine's statistics are sums of powers of x / exp(log_unit), with
# log_unit chosen so that they do not overflow; `most` is the largest shape.
resolve_weibull <- function(obs, data, start, call) {
  obs$known <- !is.object(obs$shape)
  if (is.null(obs$b)) obs$b <- obs$a * exp(pmax(low_log_values(data, obs$rounding), -690))
  obs <- resolve_fields(obs, "b", ncol(data$x), call)
  before <- if (inherits(start, "bnp_fit") && isTRUE(start$input$d == data$d)) start$model$obs
  if (identical(before$family, obs$family) && identical(before$known, obs$known)) {
    obs[weibull_layout] <- before[weibull_layout]
    return(obs)
  }
  logs <- logs_of_values(data$x, obs$rounding)
  mean <- column_means(logs, data$weights)
  obs$log_unit <- ifelse(is.finite(mean), mean, 0)
  reach <- pmax(abs(log(obs$b / obs$a) - obs$log_unit), vapply(seq_along(obs$b), function(j) {
    max(0, abs(logs[, j] - obs$log_unit[j]), na.rm = TRUE)
  }, 1))
  obs$most <- pmin(20, 300 / reach)
  rows <- sum(data$weights %||% nrow(data$x))
  obs$points <- as.integer(min(max(64, ceiling(3.4 * sqrt(rows))), 256))
  if (obs$known && any(obs$shape * reach > 300)) abort_large_shape(obs, reach, call)
  obs
}
weibull_layout <- c("log_unit", "most", "points")

abort_large_shape <- function(obs, reach, call) {
  abort("range", c(
    "{.arg shape} is too large for values over so many orders of magnitude.",
    x = "With it some powers are too large for a number.",
    i = "Give at most {signif(min(300 / reach), 3)}, or {.code shape = NULL}."
  ), call = call)
}

obs_layout.obs_weibull <- function(obs) obs[c("known", weibull_layout, if (isTRUE(obs$known)) "shape")]

model_weibull <- list(
  title = "Weibull", constructor = "obs_weibull", class = c("obs_weibull", "obs_shaped"), values = "values above 0",
  kind = "number", gaps = "cells", refusal = model_gamma$refusal, working = c("known", weibull_layout, cell_densities),
  parameters = list(shape = "columns", a = "columns", b = "columns", rounding = "columns"),
  arrays = list(
    shape_node = shaped_axes, shape_prob = shaped_axes, a = shaped_axes, b = shaped_axes,
    shape = c("clusters", "columns"), scale = c("clusters", "columns")
  ),
  location = "scale"
)

obs_supports.obs_weibull <- function(obs, values) supports_rounded(obs, values)
obs_check_columns.obs_weibull <- function(obs, x, arg, call) need_spacing_of_zeros(obs, x, arg, call)

obs_quantiles.obs_weibull <- function(obs) {
  shaped_quantiles(
    "shape", function(column) column$b,
    function(scale, column) stats::pgamma((column$b / scale)^column$shape_node, column$a, lower.tail = FALSE), "scale"
  )
}

obs_draw_rows.obs_weibull <- function(obs, q, rows, given) {
  columns <- lapply(shapes_of_columns(q), function(column) {
    drawn <- draw_shape(column)
    of_scale <- stats::rgamma(1L, drawn$a)
    x <- drawn$b * (stats::rexp(length(rows)) / of_scale)^(1 / drawn$shape_node)
    pmin(pmax(x, 1e-150), 1e150)
  })
  matrix(unlist(columns), length(rows))
}

obs_predictive_cdf.obs_weibull <- function(obs, q, data) {
  columns <- shapes_of_columns(q)
  out <- array(NA_real_, dim(data$x))
  for (j in seq_along(columns)) {
    given <- function(shape, a, b) -expm1(-a * log1p((data$x[, j] / b)^shape))
    each <- mapply(given, columns[[j]]$shape_node, columns[[j]]$a, columns[[j]]$b)
    out[, j] <- matrix(each, data$n) %*% columns[[j]]$shape_prob
  }
  out
}

obs_moments.obs_weibull <- function(obs, q, given) {
  moment <- function(power) {
    moment_over_shapes(q, function(column) {
      m <- power / column$shape_node
      left <- column$a - m
      ifelse(left > 0, exp(lgamma(pmax(left, 1e-300)) - lgamma(column$a) + lgamma(1 + m) + power * log(column$b)), Inf)
    })
  }
  mean <- moment(1)
  list(mean = mean, var = pmax(moment(2) - mean^2, 0))
}

obs_divergence.obs_weibull <- function(obs, a, b) {
  euler <- -digamma(1)
  ratio <- log(a$scale / b$scale)
  sum(log(a$shape / b$shape) - (1 - b$shape / a$shape) * euler - b$shape * ratio +
    exp(b$shape * ratio + lgamma(b$shape / a$shape + 1)) - 1)
}

# The overlap (Bhattacharyya coefficient) of two clusters, by the trapezoidal rule in log x. The rule is exact
# to rounding, because the integrand falls exponentially on the left and doubly exponentially on the right.
obs_overlap.obs_weibull <- function(obs, a, b) {
  prod(mapply(function(k, l, log_scale, other) {
    steps <- min(max(4000, 2000 * max(k, l) / min(k, l)), 2e5)
    z <- seq(-80, 8, length.out = steps + 1) / min(k, l) # around the middle of the scales
    log_density <- function(shape, log_scale) {
      u <- shape * (z - log_scale)
      log(shape) + u - exp(u)
    }
    middle <- (log_scale - other) / 2
    z <- z + abs(middle)
    min(sum(exp((log_density(k, middle) + log_density(l, -middle)) / 2)) * (z[2L] - z[1L]), 1)
  }, a$shape, b$shape, log(a$scale), log(b$scale)))
}

weibull_marginals <- function(means) {
  Map(function(scale, shape) {
    mean <- scale * gamma(1 + 1 / shape)
    list(kind = "number", mean = mean, sd = sqrt(pmax(scale^2 * gamma(1 + 2 / shape) - mean^2, 0)))
  }, unname(means$scale), unname(means$shape))
}
obs_marginals.obs_weibull <- function(obs, means) weibull_marginals(means)
obs_densities.obs_weibull <- function(obs, means) {
  unname(Map(function(shape, scale) {
    column_density(function(x) stats::dweibull(x, shape, scale), function(p) stats::qweibull(p, shape, scale))
  }, means$shape, means$scale))
}
obs_picture.obs_weibull <- function(obs, fit, data) heat_picture(fit, relative = TRUE)

# --- Times that may be censored: one pair of columns, time and status ---

model_censored_weibull <- list(
  title = "Weibull, censored on the right", constructor = "obs_survival", class = c("obs_shaped", "obs_survival"),
  values = "times with status", refusal = model_survival$refusal, kind = "pair", gaps = "pairs",
  working = c("known", "censored", weibull_layout),
  parameters = list(shape = "times", a = "times", b = "times"),
  arrays = list(
    shape_node = c("clusters", "times", "nodes"), shape_prob = c("clusters", "times", "nodes"),
    a = c("clusters", "times", "nodes"), b = c("clusters", "times", "nodes"), shape = c("clusters", "times"),
    scale = c("clusters", "times")
  ),
  location = "scale"
)

obs_axes.obs_censored_weibull <- function(obs, columns) {
  c(obs_axes.obs_survival(obs, columns), list(nodes = character()))
}

# Completes the model of censored times from the data. Defaults are read from all observed times, with or
# without an event.
obs_resolve.obs_censored_weibull <- function(obs, data, start, call) {
  obs <- resolve_fields(obs, c("a", if (!is.object(obs$shape)) "shape"), 1L, call)
  obs$censored <- TRUE
  times <- data$x[, 1L, drop = FALSE]
  data$x <- replace(times, times == 0, NA) # a pair that is missing
  resolve_weibull(obs, data, start, call)
}

obs_layout.obs_censored_weibull <- obs_layout.obs_weibull
obs_quantiles.obs_censored_weibull <- obs_quantiles.obs_weibull
obs_draw_rows.obs_censored_weibull <- function(obs, q, rows, given) {
  cbind(obs_draw_rows.obs_weibull(obs, q, rows, given), 1)
}
obs_moments.obs_censored_weibull <- function(obs, q, given) {
  time <- obs_moments.obs_weibull(obs, q, given)
  list(mean = c(time$mean, 1), var = c(time$var, 0))
}
obs_divergence.obs_censored_weibull <- obs_divergence.obs_weibull
obs_overlap.obs_censored_weibull <- obs_overlap.obs_weibull
obs_marginals.obs_censored_weibull <- obs_marginals.obs_weibull
