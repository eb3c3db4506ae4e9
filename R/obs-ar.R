# Autoregressive Gaussian clusters: the distribution of a row given the `lag` rows before it.

#' Autoregressions
#'
#' Rows in time order, each of which depends on the rows before it in the same way throughout a state (or cluster): a
#' vector autoregression with Gaussian noise. With [bnp_hmm()] this is a switching linear dynamic system of what is
#' observed.
#'
#' @inheritParams obs_gaussian
#' @param lag The number of preceding rows on which a row depends.
#' @param intercept Does the regression on preceding rows have an intercept?
#' @param df,scale Prior of the covariance of the noise: the degrees of freedom of the Wishart prior and its scale
#'   matrix, as for [obs_gaussian()]. The expected covariance is `scale / (df - D - 1)` for D columns.
#' @param coef_mean Prior mean of the D x E matrix of coefficients, E = D * lag + intercept; the columns belong to the
#'   first lag, the second, ..., and the intercept. Default: each row is expected to equal the row before.
#' @param coef_precision E x E precision of the coefficients' columns, relative to the noise; or its diagonal or one
#'   number, as for `scale`. Default: for lags, half the expected variance of the noise. With an intercept
#'   this is the precision for rows around the centre of the data, where an intercept of 0 has a precision of 0.01, so
#'   that a fit does not depend on the origin of the data.
#' @param learn Learn the prior from the data while fitting? Its parameters then have posteriors of their own, except
#'   those that are given. `NULL`, the default: `FALSE`, except in [bnp_mixture()] by memoized or full learning.
#'   `fit$model$obs` has the learned values (`df` and `scale`, `coef_mean` and `coef_precision`). See *Learned priors*
#'   of [observation_models].
#' @param tails The degrees of freedom of t distributions of the noise, as for [obs_student()]. `Inf`, the default:
#'   Gaussian.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @references
#' Fox, E., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). Bayesian nonparametric
#' inference of switching dynamic linear models. *IEEE Transactions on Signal Processing*
#' 59(4), 1569-1585.
#' @seealso [observation_models] for all models; [obs_lds()] for rows that are seen with noise; [bnp_hmm()];
#'   `vignette("segmenting-sequences")`.
#' @examples
#' set.seed(1)
#' x <- c(arima.sim(list(ar = 0.9), 150), arima.sim(list(ar = -0.7), 150))
#' fit <- bnp_hmm(x, obs = obs_ar(lag = 1), control = bnp_control(seed = 1))
#' coef(fit)$coef
#' @export
obs_ar <- function(lag = 1L, intercept = FALSE, df = NULL, scale = NULL, coef_mean = NULL,
                   coef_precision = NULL, learn = NULL, tails = Inf, ...) {
  check_no_dots(...)
  if (!is.null(coef_mean) && (!is.numeric(coef_mean) || !all(is.finite(coef_mean)))) {
    abort("argument", "{.arg coef_mean} must be a matrix of finite numbers, not {describe(coef_mean)}.")
  }
  parameters <- list(
    lag = check_count(lag, "lag"),
    intercept = check_flag(intercept, "intercept"),
    df = if (!is.null(df)) check_number(df, "df"),
    scale = check_definite(scale, "scale"),
    coef_mean = if (!is.null(coef_mean)) as.matrix(coef_mean),
    coef_precision = check_definite(coef_precision, "coef_precision")
  )
  if (!is.null(learn)) check_flag(learn, "learn")
  tails <- tails_argument(tails, learn)
  do.call(new_obs, c(
    "ar", parameters, if (!is.null(learn)) list(learn = learn), if (!is.null(tails)) list(tails = tails)
  ))
}

# Completes the prior by defaults. The expected variance of the noise is half the variance of the differences
# between successive rows. The coefficients are around the identity, with a precision of half the noise's
# expected variance for each lagged column. With an intercept the prior describes deviations from the centre of
# the data; the intercept is then 0 at the centre, with standard deviations of 10 times the noise's, so that the
# origin does not matter. Without an intercept the origin is part of the model, and `centre` is 0.
obs_resolve.obs_ar <- function(obs, data, start, call) {
  d <- data$d
  e <- d * obs$lag + obs$intercept
  w <- data$weights
  given <- if (isTRUE(obs$learn)) given_hyperparameters(obs, c("coef_mean", "coef_precision"))
  centre <- column_medians(data$x, w)
  obs$unit <- column_units(data$x, centre, data$column_names, call, w)
  obs$centre <- if (obs$intercept) centre else rep(0, d)
  z <- standardise(data$x, list(centre = centre, unit = obs$unit))
  within <- !seq_len(data$n - 1L) %in% data$starts
  steps <- (z[-1L, , drop = FALSE] - z[-data$n, , drop = FALSE])[within, , drop = FALSE]
  noise <- obs$unit^2 * column_variances(steps, w[-1L][within]) / 2
  obs <- with_prior_of_noise(obs, given, noise, d, call)
  identity <- cbind(diag(d), matrix(0, d, e - d))
  obs$coef_mean <- obs$coef_mean %||% identity
  if (!identical(dim(obs$coef_mean), c(d, e))) {
    abort("argument", c(
      "{.arg coef_mean} must be a {d} x {e} matrix for {d} column{?s} and lag {obs$lag}, not
       {describe(obs$coef_mean)}."
    ), call = call)
  }
  storage.mode(obs$coef_mean) <- "double"
  if (is.null(given)) {
    return(with_centred_precision(obs, c(rep(noise / 2, obs$lag), if (obs$intercept) 0.01), call))
  }
  # The precision of coefficients is the information of one row, whose regressors have their mean squares: like
  # the strength of a mean, the prior's strength is then a number of rows.
  square <- column_means(z^2, w)
  square <- obs$unit^2 * ifelse(square > 0, square, 1)
  obs <- with_centred_precision(obs, c(rep(square, obs$lag), if (obs$intercept) 1), call)
  begin_coefficients(obs, given, data, seq_len(d), 2 * noise, noise, start)
}

# Completes the prior of the noise, for responses given regressors. given: the parts of a prior to be learned
# that the user gave, NULL if it is not learned; noise: the expected variance of the noise.
with_prior_of_noise <- function(obs, given, noise, d, call) {
  if (is.null(given)) obs$df <- obs$df %||% (d + 2)
  if (!is.null(obs$df)) obs$df <- check_df(obs$df, d, call)
  if (is.null(given)) obs$scale <- obs$scale %||% (noise * max(obs$df - d - 1, 1))
  if (!is.null(obs$scale)) obs$scale <- expand_matrix(obs$scale, d, "scale", call)
  obs
}

# Completes the prior precision of the coefficients, which the engine uses for regressors around `origin`: the
# default is set around the centre of the data, where it keeps all its digits. precision: that of the
# coefficients of lags, then of the intercept, then of inputs. If the prior is learned, both the user's field
# and the engine's are for a strength of 1.
with_centred_precision <- function(obs, precision, call) {
  e <- length(precision)
  if (!is.null(obs$coef_precision)) {
    obs$coef_precision <- expand_matrix(obs$coef_precision, e, "coef_precision", call)
    # The model of a fit already has centred_precision.
    obs$centred_precision <- obs$centred_precision %||% obs$coef_precision
    obs$origin <- obs$origin %||% rep(0, length(obs$centre))
    if (!is.null(obs$inputs)) obs$input_origin <- obs$input_origin %||% rep(0, length(obs$inputs))
    return(obs)
  }
  obs$centred_precision <- diag(precision, e)
  obs$origin <- obs$centre
  obs$input_origin <- obs$input_centre
  back <- diag(e)
  one <- e - length(obs$inputs)
  if (obs$intercept) {
    back[seq_len(one - 1L), one] <- obs$origin
    back[-seq_len(one), one] <- obs$input_origin
  }
  obs$coef_precision <- back %*% obs$centred_precision %*% t(back)
  obs
}

obs_axes.obs_ar <- function(obs, columns) {
  lagged <- paste0(rep(columns, obs$lag), "_lag", rep(seq_len(obs$lag), each = length(columns)))
  list(
    columns = columns, regressors = if (!is.null(columns)) c(lagged, if (obs$intercept) "intercept"),
    nodes = character()
  )
}

# The regressors of each row t, (lag 1, lag 2, ..., intercept); NA where a sequence has fewer rows before t.
regressors_of <- function(data, obs) {
  age <- seq_len(data$n) - data$starts[findInterval(seq_len(data$n) - 1L, data$starts)]
  lags <- lapply(seq_len(obs$lag), function(l) {
    at <- seq_len(data$n) - l
    at[age <= l] <- NA
    data$x[at, , drop = FALSE]
  })
  z <- do.call(cbind, c(lags, if (obs$intercept) list(rep(1, data$n))))
  unname(z)
}

obs_facts.obs_ar <- function(obs) facts_with_tails(NextMethod(), obs)

obs_predictive_cdf.obs_ar <- function(obs, q, data) {
  z <- regressors_of(data, obs)
  df <- q$df - data$d + 1
  offset <- data$x - z %*% t(q$coef_mean)
  over_scales(q, spread_of_rows(q, z), function(spread) {
    stats::pt(offset / sqrt(outer(spread, diag(q$scale) / df)), df)
  })
}

obs_row_scales.obs_ar <- function(obs, q, data) {
  z <- regressors_of(data, obs)
  first <- rowSums(is.na(z)) > 0
  z[first, ] <- 0
  out <- scales_of_rows(q, data$x, z %*% t(q$coef_mean), as.matrix(q$scale) / q$df, spread_of_rows(q, z) - 1)
  replace(out, first, NA)
}

# The factor 1 + z' K^-1 z by which uncertain coefficients widen the predictive scale of each row, with z its
# regressors and K the posterior precision. Computed so that regressors may have very different units.
spread_of_rows <- function(q, z) 1 + colSums(backsolve(chol(q$coef_precision), t(z), transpose = TRUE)^2)

# The rows before the first simulated row, oldest first: lag x columns. By default the column medians of the
# data.
first_rows <- function(initial, fit, call) {
  lag <- fit$model$obs$lag
  d <- fit$input$d
  initial <- initial %||% matrix(fit$input$initial, lag, d, byrow = TRUE)
  if (!is.numeric(initial) || NCOL(initial) != d || NROW(initial) != lag) {
    abort("argument", "{.arg initial} must be a {lag} x {d} matrix, not {describe(initial)}.", call = call)
  }
  initial <- `rownames<-`(as.matrix(initial), NULL)
  match_names(initial, c("rows", "columns"), list(columns = fit$input$column_names), "initial", call)
}

# Draws the rows of autoregressions; the first `lag` rows of a simulated sequence are those of `initial`.
obs_draw.obs_ar <- function(obs, clusters, path, lengths, given) {
  dynamics <- lapply(clusters, draw_dynamics, obs = obs)
  age <- sequence(lengths)
  x <- matrix(0, length(path), ncol(given$initial))
  for (i in seq_along(path)) {
    if (age[i] <= obs$lag) {
      x[i, ] <- given$initial[age[i], ]
    } else {
      x[i, ] <- dynamics[[path[i]]](c(t(x[i - seq_len(obs$lag), , drop = FALSE]), if (obs$intercept) 1))
    }
  }
  x
}

# Draws coefficients and noise of one cluster, and returns a function from regressors to the next row.
draw_dynamics <- function(obs, q) {
  noise <- draw_noise(q$df, q$scale)
  coef <- draw_coef(q, noise)
  nu <- if (!is.null(q$tails_node)) draw_tails(obs, q)
  function(z) {
    spread <- if (is.null(nu)) 1 else 1 / sqrt(stats::rgamma(1L, nu / 2, nu / 2))
    drop(coef %*% z + spread * noise(1L))
  }
}

# Draws the coefficients of one cluster. noise: a function that draws rows of noise, for one draw of its
# covariance.
draw_coef <- function(q, noise) q$coef_mean + t(backsolve(chol(q$coef_precision), t(noise(ncol(q$coef_mean)))))

# The axes of the parameters of linear Gaussian models. y: the name of the axis of the responses.
coef_parameters <- function(y) {
  list(scale = c(y, y), coef_mean = c(y, "regressors"), coef_precision = c("regressors", "regressors"))
}

coef_arrays <- function(y) {
  own <- lapply(coef_parameters(y), c, "clusters")
  c(list(df = "clusters"), own["scale"], list(cov = own$scale, coef = own$coef_mean), own[-1])
}

model_ar <- list(
  title = "Autoregressive Gaussian", constructor = "obs_ar",
  verbs = c("bnp_mixture", "bnp_hmm", "bregman_kmeans"), values = "real numbers, rows in time order",
  gaps = "cells", working = c("centre", "unit", "centred_precision", "origin", hyper_working),
  parameters = coef_parameters("columns"), arrays = coef_arrays("columns"), as_series = TRUE
)

obs_learned.obs_ar <- function(obs) if (isTRUE(obs$learn)) list(by = "learn = TRUE", numbers = "df")
obs_keep.obs_ar <- function(obs, data) list(initial = column_medians(data$x, data$weights))
obs_given.obs_ar <- function(obs) list(initial = first_rows)
obs_quantiles.obs_ar <- function(obs) c(coef_quantiles, if (has_tails(obs)) list(tails = tails_quantiles(obs)))

coef_quantiles <- list(
  coef = function(q, p) {
    df <- q$df - nrow(q$scale) + 1
    student_quantile(p, q$coef_mean, sqrt(outer(diag(q$scale), diag(chol2inv(chol(q$coef_precision)))) / df), df)
  },
  cov = function(q, p) inverse_wishart_quantile(p, q$df, q$scale)
)
