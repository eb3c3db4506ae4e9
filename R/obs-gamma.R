# Waiting times and other values above 0: each cluster has a rate in each column, the shape is known.

#' @rdname observation_models
#' @order 7
#' @param shape The known shape of each column's Gamma distribution, one number or one
#'   per column. With 1, the default, values are exponential; a larger one is that of a
#'   sum of so many waiting times, which varies less (with standard deviation
#'   `mean / sqrt(shape)`).
#' @details
#' `obs_gamma()` takes values above 0: a waiting time of 0 has been rounded, and may be
#' given as half of the smallest that can be told from 0. Values that vary more, or less,
#' within a group than the shape says get more clusters than there are groups, or fewer.
#' The prior weighs as much as `a / shape` values of average size: where groups differ by
#' orders of magnitude, give a small `a`, or the shortest times look alike to it.
#' @export
obs_gamma <- function(shape = 1, a = 1, b = NULL, columns = NULL) {
  prior <- list(a = check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  obs <- do.call(new_obs, c("waiting_time", prior, columns_field(columns)))
  obs$shape <- check_positive(shape, "shape")
  check_range(obs$shape, "shape", likelihood_shapes, rlang::current_env())
  obs
}

# In which the bound of clusters of 100 rows had eight digits or more (test-gamma.R).
likelihood_shapes <- c(1e-3, 1e6)

# The prior mean of a rate is that of all data.
obs_resolve.obs_gamma <- function(obs, data, start, call) {
  obs <- resolve_fields(obs, c("a", "shape"), data$d, call)
  bad <- which(colSums(data$x < 1e-150 | data$x > 1e150, na.rm = TRUE) > 0)
  if (length(bad)) {
    abort("range", c(
      "Columns of {.arg x} must lie within 1e-150 to 1e150 for {.fn {obs_facts(obs)$constructor}}.",
      x = "Not so: {places(as.character(data$column_names[bad] %||% bad))}.",
      i = "Change their units."
    ), call = call)
  }
  if (is.null(obs$b)) obs$b <- obs$a * column_means(data$x, data$weights) / obs$shape
  resolve_fields(obs, "b", data$d, call)
}

model_gamma <- list(
  title = "Gamma, shape known", constructor = "obs_gamma", values = "values above 0", kind = "number",
  gaps = "cells",
  refusal = c(
    class = "not_positive", must = "hold values above 0",
    remedy = "Times of 0 have been rounded: give half of the smallest that can be told from 0."
  ),
  parameters = list(shape = "columns", a = "columns", b = "columns"),
  arrays = list(
    a = c("clusters", "columns"), b = c("clusters", "columns"), rate = c("clusters", "columns"),
    shape = c("clusters", "columns")
  ),
  location = "rate", as_series = TRUE
)

obs_supports.obs_gamma <- function(obs, values) values > 0
obs_quantiles.obs_gamma <- function(obs) list(rate = function(q, p) stats::qgamma(p, q$a, q$b))

obs_draw_rows.obs_gamma <- function(obs, q, rows, given) {
  rate <- stats::rgamma(length(q$a), q$a, q$b)
  n <- length(rows)
  matrix(stats::rgamma(n * length(rate), rep(q$shape, each = n), rep(rate, each = n)), n)
}

obs_predictive_cdf.obs_gamma <- function(obs, q, data) {
  times <- function(v) rep(v, each = data$n)
  array(stats::pbeta(1 / (1 + times(q$b) / data$x), times(q$shape), times(q$a)), dim(data$x))
}

# The predictive of x / (x + b) is Beta(shape, a), and x has as many moments as a says.
obs_moments.obs_gamma <- function(obs, q, given) {
  mean <- ifelse(q$a > 1, q$shape * q$b / (q$a - 1), Inf)
  list(mean = mean, var = ifelse(q$a > 2, mean / q$shape * mean * (q$shape + q$a - 1) / (q$a - 2), Inf))
}

obs_divergence.obs_gamma <- function(obs, a, b) sum(a$shape * (b$rate / a$rate - 1 - log(b$rate / a$rate)))
obs_overlap.obs_gamma <- function(obs, a, b) prod((2 / (sqrt(a$rate / b$rate) + sqrt(b$rate / a$rate)))^a$shape)
obs_picture.obs_gamma <- function(obs, fit, data) heat_picture(fit, relative = TRUE)
