# Regressions: each cluster has coefficients and a covariance of the noise; covariates are known and not modelled.

#' Regressions
#'
#' A response that depends on covariates, differently in each cluster or state: linear regressions, logistic ones,
#' regressions of counts, and regressions with random effects of individuals (growth mixtures).
#'
#' @order 1
#' @details
#' This model is for `bnp_mixture(y ~ a + b, data)` and `bnp_hmm(y ~ a + b, data)`, also with several responses,
#' `cbind(y1, y2) ~ a`: clusters differ in the coefficients and in the noise. If the data are a matrix, the first column
#' is the response and the others are covariates; there is an intercept. Topics of documents of rows, [bnp_topics()],
#' take such a matrix, or a regression as a block of a product, but no formula. Covariates are known and not modelled: a
#' row without a response has no information about its cluster. By default `df` is D + 2 for D responses, and the
#' expected variance of the noise is a quarter of that around one regression for all data. The expected coefficients are
#' 0, and the expected intercept is the median of the response, with a precision of 0.01 for covariates that are centred
#' and scaled to unit variance. A fit keeps the covariates of up to 1,000 rows, for [simulate()].
#' @param df,scale Prior of the covariance of the noise: the degrees of freedom of the Wishart prior and its scale
#'   matrix, as for [obs_gaussian()]. The expected covariance is `scale / (df - D - 1)` for D responses.
#' @param coef_mean Prior mean of the D x E matrix of coefficients, for D responses and E covariates with the intercept.
#'   Default: 0, and for the intercept the median of the response.
#' @param coef_precision E x E precision of the coefficients' columns, relative to the noise; or its diagonal or one
#'   number, as for `scale`. See *Details* for the default.
#' @param formula For a block of [obs_product()]: which column of the data frame is the response, and the covariates,
#'   `y ~ a + b`, or `cbind(y1, y2) ~ a`. Elsewhere `NULL`: the fitting function takes the formula.
#' @param learn Learn the prior from the data while fitting? Its parameters then have posteriors of their own, except
#'   those that are given. `NULL`, the default: `TRUE` in [bnp_mixture()] by memoized or full learning; otherwise
#'   `FALSE`. `fit$model$obs` has the learned values (`df` and `scale`, `coef_mean` and `coef_precision`). See *Learned
#'   priors* of [observation_models].
#' @param tails The degrees of freedom of t distributions of the noise, as for [obs_student()]. `Inf`, the default:
#'   Gaussian.
#' @param ... Must be empty.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [bnp_mixture()], [bnp_hmm()]; *Regressions and growth curves* on the
#'   site.
#' @examples
#' set.seed(1)
#' x <- runif(200)
#' y <- ifelse(runif(200) < 0.5, 2 * x, 5 - 3 * x) + rnorm(200, sd = 0.2)
#' fit <- bnp_mixture(y ~ x, data.frame(x, y), control = bnp_control(seed = 1))
#' coef(fit)$coef
#' @export
obs_regression <- function(df = NULL, scale = NULL, coef_mean = NULL, coef_precision = NULL, formula = NULL,
                           learn = NULL, tails = Inf, random = NULL, random_df = NULL, random_scale = NULL,
                           shared = TRUE, family = NULL, size = NULL, ...) {
  check_no_dots(...)
  if (!is.null(coef_mean) && (!is.numeric(coef_mean) || !all(is.finite(coef_mean)))) {
    abort("argument", "{.arg coef_mean} must be a matrix of finite numbers, not {describe(coef_mean)}.")
  }
  parameters <- list(
    df = if (!is.null(df)) check_number(df, "df"),
    scale = check_definite(scale, "scale"),
    coef_mean = if (!is.null(coef_mean)) rbind_vector(coef_mean),
    coef_precision = check_definite(coef_precision, "coef_precision")
  )
  of_formula <- check_block_formula(formula) %||% list(responses = 1L, intercept = TRUE)
  learned <- if (!is.null(learn)) list(learn = check_flag(learn, "learn"))
  tails <- tails_argument(tails, learn)
  obs <- do.call(new_obs, c("regression", parameters, learned, of_formula, if (!is.null(tails)) list(tails = tails)))
  family <- regression_family(family, rlang::current_env())
  if (!is.null(size) && !identical(family, "negbinomial")) {
    abort("argument", "{.arg size} is for {.code family = \"negbinomial\"}.")
  }
  if (!is.null(family) && family != "gaussian") {
    obs["random"] <- list(random)
    return(with_family(obs, family, size, rlang::current_env()))
  }
  if (!is.null(random)) {
    return(with_effects(obs, random, random_df, random_scale, shared, rlang::current_env()))
  }
  if (!is.null(random_df) || !is.null(random_scale) || !missing(shared)) {
    abort("argument", c(
      "{.arg random_df}, {.arg random_scale} and {.arg shared} are about random effects, which need {.arg random}.",
      i = "Write {.code obs_regression(random = ~ 1 + t)}."
    ))
  }
  if (is.null(family)) obs else with_stated_family(obs)
}

# The coefficients of a single response may be given as a vector; here they become a matrix of one row.
rbind_vector <- function(x) if (is.matrix(x)) x else t(x)

response_columns <- function(obs) seq_len(obs$responses)

obs_resolve.obs_regression <- function(obs, data, start, call) {
  d <- obs$responses
  y <- seq_len(d)
  e <- data$d - d + obs$intercept
  if (e < 1L) {
    abort("no_columns", c(
      "A regression needs a covariate or an intercept.",
      i = "Write {.code y ~ a + b}, or give covariates in further columns."
    ), call = call)
  }
  w <- data$weights
  given <- if (isTRUE(obs$learn)) given_hyperparameters(obs, c("coef_mean", "coef_precision"))
  medians <- column_medians(data$x, w)
  obs$unit <- column_units(data$x, medians, data$column_names, call, w)
  obs$centre <- if (obs$intercept) medians else rep(0, data$d)
  z <- standardise(data$x, obs)
  noise <- obs$unit[y]^2 * residual_variances(z[, y, drop = FALSE], z[, -y, drop = FALSE], obs$intercept, w)
  obs <- with_prior_of_noise(obs, given, noise / 4, d, call)
  default <- cbind(if (obs$intercept) medians[y], matrix(0, d, e - obs$intercept))
  obs$coef_mean <- obs$coef_mean %||% default
  if (!identical(dim(obs$coef_mean), c(d, e))) {
    abort("argument", c(
      "{.arg coef_mean} must be a {d} x {e} matrix for {d} response{?s} and {e} coefficient{?s} of each, not
       {describe(obs$coef_mean)}."
    ), call = call)
  }
  storage.mode(obs$coef_mean) <- "double"
  obs$coef_mean <- unname(obs$coef_mean)
  some <- unique(round(seq(1, data$n, length.out = min(data$n, 1000L))))
  obs$covariates <- unname(data$x[some, -y, drop = FALSE])
  if (!is.null(obs$formula)) environment(obs$formula) <- globalenv() # or a fit would carry along where it was made
  obs <- with_precision(obs, z[, -y, drop = FALSE], e, call, w, if (is.null(given)) 0.01 else 1)
  if (is.null(given)) {
    return(obs)
  }
  variance <- obs$unit[y]^2 * robust_variances(z[, y, drop = FALSE], w = w)
  begin_coefficients(obs, given, data, y, variance, noise / 4, start)
}

# Completes the prior precision of the coefficients, which the engine uses for covariates as (covariates -
# origin) / spread. The default is set for centred and scaled covariates, where it keeps all its digits.
# strength: the precision of each of these coefficients.
with_precision <- function(obs, z, e, call, w = NULL, strength = 0.01) {
  covariates <- covariate_columns(obs)
  unit <- obs$unit[covariates]
  if (!is.null(obs$coef_precision)) {
    obs$coef_precision <- expand_matrix(obs$coef_precision, e, "coef_precision", call)
    # The model of a fit already has scaled_precision.
    obs$scaled_precision <- obs$scaled_precision %||% obs$coef_precision
    obs$origin <- obs$origin %||% rep(0, length(unit))
    obs$spread <- obs$spread %||% rep(1, length(unit))
    return(obs)
  }
  obs$scaled_precision <- diag(strength, e)
  obs$spread <- unit * sqrt(column_variances(z, w))
  obs$origin <- rep(0, length(unit))
  back <- diag(obs$spread, length(unit))
  if (obs$intercept) {
    obs$origin <- obs$centre[covariates] + unit * column_means(z, w)
    back <- rbind(c(1, rep(0, length(unit))), cbind(obs$origin, back, deparse.level = 0))
  }
  obs$coef_precision <- unname(back %*% obs$scaled_precision %*% t(back))
  obs
}

# The residual variance of each response after regression on all covariates, in working units; at least 1e-6
# of the response's own variance, so that a response without noise still has a proper prior.
residual_variances <- function(y, z, intercept, w = NULL) {
  if (!is.null(w)) w <- at_least_once(w)
  own <- column_variances(y, w)
  whole <- rowSums(is.na(cbind(y, z))) == 0
  y <- y[whole, , drop = FALSE]
  z <- z[whole, , drop = FALSE]
  w <- w[whole]
  design <- cbind(if (intercept) rep(1, nrow(z)), z)
  fit <- if (is.null(w)) stats::lm.fit(design, y) else stats::lm.wfit(design, y, w)
  left <- (if (is.null(w)) nrow(z) else sum(w)) - fit$rank
  if (left < 1L) {
    return(own)
  }
  pmax(colSums(times_weights(as.matrix(fit$residuals)^2, w)) / left, 1e-6 * own)
}

# The regressors of rows: the intercept, if there is one, then the covariates z.
with_intercept <- function(z, obs) unname(if (obs$intercept) cbind(rep(1, nrow(z)), z, deparse.level = 0) else z)

# The covariates of rows to be drawn: by default those of the training data.
covariates_of_rows <- function(covariates, fit, call) {
  if (is.null(covariates)) {
    return(fit$model$obs$covariates)
  }
  covariates <- as_covariates(fit, covariates, "covariates", call)
  if (!nrow(covariates)) abort("no_rows", "{.arg covariates} has no rows.", call = call)
  covariates
}

# The picture of a regression with one response and one covariate: each cluster's line with the band that
# contains 90 % of its rows.
obs_picture.obs_regression <- function(obs, fit, data) {
  means <- coef(fit)
  if (fit$input$d != 2L || obs$responses != 1L) {
    abort("argument", c(
      "The picture of a regression needs one response and one covariate.",
      i = "Read their parameters from {.fn coef}, or use {.code type = \"elbo\"}."
    ), call = rlang::caller_env(2))
  }
  used <- in_use(fit)
  x <- if (is.null(data) || data$n == 0L) obs$covariates[, 1] else data$x[, 2]
  ends <- range(x, na.rm = TRUE)
  line <- function(k, x) drop(with_intercept(cbind(x), obs) %*% means$coef[1, , k])
  rings <- lapply(used, function(k) {
    half <- stats::qnorm(0.95) * sqrt(means$cov[1, 1, k])
    y <- line(k, ends)
    data.frame(x = ends[c(1, 2, 2, 1, 1)], y = c(y + half, rev(y) - half, y[1] + half), cluster = k)
  })
  points <- if (!is.null(data) && data$n > 0L) {
    data.frame(x = data$x[, 2], y = data$x[, 1], cluster = max.col(of_rows(data, responsibilities(fit, data)), "first"))
  }
  at <- ends[1] + diff(ends) * (seq_along(used) - 0.5) / length(used) # beside each other where lines cross
  list(
    kind = "plane", points = points, rings = do.call(rbind, rings),
    centres = data.frame(x = at, y = mapply(line, used, at), cluster = used),
    labels = rev(column_labels(fit))
  )
}

model_regression <- list(
  title = "Regression", constructor = "obs_regression", values = "responses, with covariates", gaps = "cells",
  kind = "formula",
  working = c(
    "responses", "intercept", "centre", "unit", "scaled_precision", "origin", "spread", "covariates", "design",
    "regressors", "stated_family", hyper_working
  ),
  parameters = coef_parameters("responses"), arrays = coef_arrays("responses")
)

# A regression has obs_read(), which finds its columns in a table, only if it has a formula; otherwise all
# columns must be numbers.
obs_can.obs_regression <- function(obs, what) NextMethod() && (what != "read" || !is.null(obs$formula))
obs_measure.obs_regression <- function(obs) paste("densities of", obs$responses, "columns given the others")

obs_axes.obs_regression <- function(obs, columns) {
  y <- response_columns(obs)
  regressors <- if (!is.null(columns)) c(if (obs$intercept) "(Intercept)", obs$regressors %||% columns[-y])
  list(columns = columns, responses = columns[y], regressors = regressors, nodes = character())
}

obs_learned.obs_regression <- function(obs) if (isTRUE(obs$learn)) list(by = "learn = TRUE", numbers = "df")
obs_given.obs_regression <- function(obs) list(covariates = covariates_of_rows)
obs_quantiles.obs_regression <- obs_quantiles.obs_ar
obs_facts.obs_regression <- obs_facts.obs_ar

obs_draw.obs_regression <- function(obs, clusters, path, lengths, given) {
  z <- given$covariates[rep_len(seq_len(nrow(given$covariates)), length(path)), , drop = FALSE]
  regressors <- with_intercept(z, obs)
  y <- draw_by_cluster(clusters, path, function(q, rows) {
    draw <- draw_dynamics(obs, q)
    matrix(unlist(lapply(rows, function(i) draw(regressors[i, ]))), length(rows), byrow = TRUE)
  })
  cbind(y, z)
}

obs_conditional.obs_regression <- function(obs, q, x) {
  z <- with_intercept(x[, -response_columns(obs), drop = FALSE], obs)
  df <- q$df - nrow(q$scale) + 1
  location <- z %*% t(q$coef_mean)
  if (has_tails(obs)) {
    tails <- tails_of(q)
    nu <- sum(tails$nu * tails$prob)
    return(list(location = location, scale = q$scale / df * nu, spread = spread_of_rows(q, z), df = nu))
  }
  list(location = location, scale = q$scale / df, spread = spread_of_rows(q, z), df = df)
}

obs_draw_gaps.obs_regression <- function(obs, clusters, data, path) {
  if (has_tails(obs)) draw_gaps_with_scales(obs, clusters, data, path) else NextMethod()
}

obs_row_scales.obs_regression <- function(obs, q, data) {
  z <- with_intercept(data$x[, -response_columns(obs), drop = FALSE], obs)
  scales_of_rows(q, data$x, z %*% t(q$coef_mean), as.matrix(q$scale) / q$df, spread_of_rows(q, z) - 1)
}

obs_draw_conditional.obs_regression <- function(obs, q, x) {
  z <- with_intercept(x[, -response_columns(obs), drop = FALSE], obs)
  one <- draw_regression(obs, q)
  list(location = z %*% t(one$coef), cov = one$cov)
}

obs_predictive_cdf.obs_regression <- function(obs, q, data) {
  z <- with_intercept(data$x[, -response_columns(obs), drop = FALSE], obs)
  offset <- data$x[, response_columns(obs), drop = FALSE] - z %*% t(q$coef_mean)
  df <- q$df - nrow(q$scale) + 1
  over_scales(q, spread_of_rows(q, z), function(spread) {
    stats::pt(offset / sqrt(outer(spread, diag(q$scale / df))), df)
  })
}
