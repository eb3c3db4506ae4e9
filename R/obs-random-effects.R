# Regressions with random effects: each individual (group of rows) has coefficients that vary around those of
# its cluster.

#' @rdname obs_regression
#' @order 2
#' @param random A one-sided formula of the covariates that have coefficients of their own for
#'   each individual, see *Random effects*; `NULL`: none.
#' @param random_df,random_scale For random effects: degrees of freedom and scale matrix of the inverse Wishart prior of
#'   their covariance. `NULL`: q + 2 for q effects, and a scale matrix with which the prior expects a quarter of the
#'   covariance by which individuals differ in all data.
#' @param shared Do all clusters share one covariance of the random effects and one variance of the noise?
#' @section Random effects:
#' With `random = ~ 1 + t` and `id` the rows of individual i in cluster k are \eqn{y = X b_k + Z a_i + e}, with
#' \eqn{a_i \sim N(\mu_k, D_k)} and \eqn{e \sim N(0, \sigma_k^2)}. Z has the columns of `random`, which the formula of
#' the fit must also have; X has the other columns. `bnp_mixture(y ~ t + (1 + t | id), data)` is short for this model.
#' With `shared = TRUE`, the default, all clusters have one D and one \eqn{\sigma^2}, the best values under their
#' priors; this can tell apart kinds that overlap. With `shared = FALSE` each cluster has its own, with their posterior.
#'
#' In [coef()], `coef` has all coefficients of a cluster (\eqn{\mu_k} and \eqn{b_k}), `cov` the variance of the noise,
#' `random_cov` that of the effects. Default priors of the noise, and of the differences between individuals,
#' are read from least squares fits to individuals. The prior of \eqn{\mu_k} is around the coefficients of all rows
#' together, with the strength of 0.01 individuals. `df` (3) and `scale` are for the noise, `coef_mean` and
#' `coef_precision` for coefficients without a random effect. There must be one response. `tails`, blocks of a product,
#' streams and samplers are not available with random effects. Data may be in a [source][sources] in which the rows of
#' each individual follow each other; default priors are then read from a random sample of individuals.
#'
#' With `(1 + t || id)`, or `random = ~ (1 + t || id)`, effects are independent of each other in each cluster: D is
#' diagonal, so that the model depends on where t is 0. The variances have priors of their own, with `random_df` 3.
#'
#' The posterior of each individual's coefficients in each cluster is a normal distribution, exact given the
#' coefficients of the cluster. The bound is one on the evidence of the model with all of these. The uncertainty about
#' the coefficients of clusters (`coef_cov` in [posterior_params()], [confint()], intervals of [predict()]) is read from
#' the curvature of the likelihood of all parameters (covariances, noise and weights of clusters, too), summed over
#' individuals' coefficients and clusters. The variational posterior itself, which regards all of these as known, has
#' intervals that are too narrow. On six kinds of simulated data with 200 individuals (100 data sets each), 90 %
#' intervals held the coefficients of clusters in 88 to 93 % of cases, and the next visit of a known individual and the
#' first one of a new individual in 89 to 90 %. The exception is clusters that overlap much, each with its own
#' covariance (`shared = FALSE`): these are seldom all found, and where they were, 72 to 79 % of intervals held the
#' coefficients; draws from the posterior held them in 83 %. It was 86 % with the true clusters as a start that is
#' kept (83 % in the data sets in which they are found, 87 % in the others), and 92 % where the cluster of each
#' individual is known.
#' @name obs_regression
NULL

# Adds random effects, as the arguments of obs_regression() describe them, to a model of class obs_regression.
with_effects <- function(obs, random, random_df, random_scale, shared, call, independent = FALSE) {
  if (!inherits(random, "formula") || length(random) != 2L) {
    abort("formula", c(
      "{.arg random} must be a one-sided formula, like {.code ~ 1 + t}, not {describe(random)}.",
      i = "It names covariates of the formula of the fit, whose coefficients individuals have of their own."
    ), call = call)
  }
  of_bar <- split_independent(random)
  random <- of_bar$random
  check_bars(random, call)
  for (name in c("formula", "tails", "learn")) {
    if (!is.null(obs[[name]]) && !identical(obs[[name]], FALSE)) {
      abort(c("not_defined", "argument"), c(
        "{.arg {name}} of {.fn obs_regression} cannot be used together with {.arg random}.",
        i = "Leave one of them out."
      ), call = call)
    }
  }
  environment(random) <- globalenv() # or a fit would carry along where it was made
  given <- unclass(obs)[c("df", "scale", "coef_mean", "coef_precision")]
  if (!is.null(random_df)) {
    random_df <- check_number(random_df, "random_df", call = call)
    check_range(random_df, "random_df", parameter_ranges$df, call)
  }
  do.call(new_obs, c("random_effects", given, list(
    random = random, random_df = random_df, random_scale = check_definite(random_scale, "random_scale", call),
    shared = check_flag(shared, "shared", call), independent = independent || of_bar$independent, responses = 1L,
    intercept = TRUE
  )))
}

has_effects <- function(obs) inherits(obs, "obs_random_effects")

obs_resolve.obs_random_effects <- function(obs, data, start, call) {
  if (is.null(obs$effects)) {
    bad_random("Random effects need a formula.",
      "Write {.code bnp_mixture(y ~ t + (1 + t | id), data)}.", call)
  }
  if (is.null(data$individual)) {
    abort(c("id", "formula"), c(
      "Random effects need {.arg id}: they are of individuals with several rows.",
      i = "Write {.code bnp_mixture(y ~ t + (1 + t | id), data)}, or give {.code id = ~ id}."
    ), call = call)
  }
  if (obs$responses != 1L) {
    bad_random("Random effects are there for one response, not {obs$responses}.",
      "Fit each response for itself.", call)
  }
  q <- length(obs$effects)
  e <- data$d - 1L + obs$intercept
  if (!is.null(obs$spread)) {
    return(obs) # of a fit
  }
  some <- unique(round(seq(1, data$n, length.out = min(data$n, 1000L))))
  obs$covariates <- unname(data$x[some, -1L, drop = FALSE])
  obs <- with_working_units(obs, data, call)
  individuals <- least_squares(obs, data)
  if (all(individuals$n <= 1) && (is.null(obs$scale) || is.null(obs$random_scale))) {
    abort("id", c(
      "Each individual has one row: its effects and the noise cannot be told apart.",
      i = "Give {.arg scale} and {.arg random_scale}, or leave the random effects out."
    ), call = call)
  }
  few <- individuals$n <= q
  if (mean(few) > 0.5) {
    sampled <- if (isTRUE(data$counted$units > length(few))) " in a random sample" else ""
    cli::cli_inform(
      c("{sum(few)} of {length(few)} individuals{sampled} have no more rows than random effects ({q}).",
        i = "Their effects are mostly those of their cluster, so that the prior matters: see {.arg random_scale}."),
      class = c("bnpvi_message_few_rows", "bnpvi_message"), call = NULL
    )
  }
  begin_shared(with_prior_of_effects(obs, individuals, e, call), start)
}

# Completes the parameters that all clusters share: they start where an earlier fit ended. Starts other than a
# fit already have clusters, which account for a part of the differences between individuals: the shared
# covariance then starts at a quarter of these differences.
begin_shared <- function(obs, start) {
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  if (!obs$shared || is.null(start)) {
    return(obs)
  }
  if (isTRUE(before$shared) && identical(before$effects, obs$effects)) {
    obs[c("shared_cov", "shared_noise")] <- before[c("shared_cov", "shared_noise")]
  } else {
    obs$shared_cov <- obs$shared_cov / 4
  }
  obs
}

# Sets centres and scales of the covariates. Covariates with random effects are centred only if the intercept
# has a random effect, too: the intercept then absorbs the shift, and is allowed to be correlated with them,
# as it is after the shift.
with_working_units <- function(obs, data, call) {
  w <- data$weights
  medians <- column_medians(data$x, w)
  obs$unit <- column_units(data$x, medians, data$column_names, call, w)
  z <- (data$x - rep(medians, each = data$n)) / rep(obs$unit, each = data$n)
  with_effect <- setdiff(obs$effects + !obs$intercept, 0L)
  moved <- rep(obs$intercept, data$d - 1L)
  if (obs$independent || !(obs$intercept && 0L %in% obs$effects)) moved[with_effect] <- FALSE
  means <- (medians + obs$unit * column_means(z, w))[-1L]
  obs$centre <- c(if (obs$intercept) medians[1L] else 0, ifelse(moved, means, 0))
  obs$origin <- obs$centre[-1L]
  z <- standardise(data$x[, -1L, drop = FALSE], list(centre = obs$origin, unit = obs$unit[-1L]))
  spread <- sqrt(ifelse(moved, column_variances(z, w), pmax(column_means(z^2, w), 1e-28)))
  obs$spread <- obs$unit[-1L] * spread
  obs
}

# Least squares with centred and scaled covariates, the response in its unit: for all rows together the
# coefficients and the variance around them; for each individual the number of rows, least squares of its
# effects after those of all rows, the inverse of Z'Z, the residual sum of squares, and whether it can be
# used. own: the variance of the response.
least_squares <- function(obs, data) {
  w <- data$weights %||% rep(1, data$n)
  y <- (data$x[, 1L] - obs$centre[1L]) / obs$unit[1L]
  x <- standardise(data$x[, -1L, drop = FALSE], list(centre = obs$origin, unit = obs$spread))
  design <- cbind(if (obs$intercept) rep(1, data$n), x)
  fit <- stats::lm.wfit(design, y, w)
  coef <- ifelse(is.na(fit$coefficients), 0, fit$coefficients)
  own <- column_variances(cbind(y), at_least_once(w))
  residual <- max(sum(w * fit$residuals^2) / max(sum(w) - fit$rank, 1), 1e-6 * own)
  at <- obs$effects + 1L
  z <- design[, at, drop = FALSE]
  rest <- y - drop(design[, -at, drop = FALSE] %*% coef[-at])
  q <- length(at)
  sum_of <- function(v) drop(rowsum(v, data$individual, reorder = TRUE))
  n <- sum_of(rep(1, data$n))
  cross <- lapply(seq_len(q), function(i) lapply(seq_len(q), function(j) sum_of(z[, i] * z[, j])))
  inverse <- inverse_by_row(cross)
  pull <- vapply(seq_len(q), function(i) sum_of(z[, i] * rest), n)
  pull <- matrix(pull, ncol = q)
  a <- vapply(seq_len(q), function(i) rowSums(pull * inverse$value[, i, , drop = TRUE]), n)
  a <- matrix(a, ncol = q)
  left <- sum_of((rest - rowSums(z * a[data$individual, , drop = FALSE]))^2)
  list(
    coef = coef, own = own, residual = residual, square = column_means(z^2, w), n = n, a = a, inverse = inverse$value,
    left = left, usable = n > q & inverse$rcond > 1e-6, weight = of_units(data, w)
  )
}

# The inverses of n symmetric q x q matrices, given as lists of lists of n numbers: value (n x q x q), the
# reciprocal condition numbers 1 / (|A| |A^-1|) in the 1-norm, and the logarithms of the determinants |A|.
inverse_by_row <- function(cross) {
  q <- length(cross)
  n <- length(cross[[1L]][[1L]])
  a <- array(unlist(lapply(cross, unlist)), c(n, q, q))
  norm <- function(x) do.call(pmax, lapply(seq_len(q), function(j) rowSums(abs(x[, , j, drop = FALSE]))))
  size <- norm(a)
  out <- array(rep(diag(q), each = n), c(n, q, q))
  det <- 1
  for (k in seq_len(q)) { # Gauss and Jordan; a pivot that is none leaves an infinite inverse
    pivot <- a[, k, k]
    det <- det * pivot
    a[, k, ] <- a[, k, ] / pivot
    out[, k, ] <- out[, k, ] / pivot
    for (i in setdiff(seq_len(q), k)) {
      factor <- a[, i, k]
      a[, i, ] <- a[, i, ] - factor * a[, k, ]
      out[, i, ] <- out[, i, ] - factor * out[, k, ]
    }
  }
  rcond <- 1 / (size * norm(out))
  list(value = out, rcond = ifelse(is.finite(rcond), rcond, 0), log_det = log(abs(det)))
}

with_prior_of_effects <- function(obs, individuals, e, call) {
  q <- length(obs$effects)
  at <- obs$effects + 1L
  y <- obs$unit[1L]
  usable <- individuals$usable & individuals$weight > 0
  w <- individuals$weight[usable]
  df <- sum((individuals$n[usable] - q) * pmin(w, 1))
  noise <- if (df >= 10) sum(w * individuals$left[usable]) / sum(w * (individuals$n[usable] - q)) else
    individuals$residual / 4
  noise <- max(noise, 1e-6 * individuals$residual, 1e-8 * individuals$own) # below that sums have too few digits
  between <- covariance_of_effects(individuals, usable, w, noise)
  if (obs$independent) between <- diag(diag(between), q)
  scale <- c(if (obs$intercept) 1, obs$spread)
  obs$df <- check_df(obs$df %||% 3, 1L, call)
  obs$scale <- if (is.null(obs$scale)) matrix(noise * y^2 * (if (obs$shared) obs$df + 2 else max(obs$df - 2, 1))) else
    expand_matrix(obs$scale, 1L, "scale", call)
  d <- joint_effects(obs)
  obs$random_df <- obs$random_df %||% (d + 2)
  if (!isTRUE(obs$random_df > d - 1)) {
    abort("df", c(
      "{.arg random_df} must be above {d - 1} for {d} random effect{?s}, not {obs$random_df}.",
      i = "The default is {d + 2}."
    ), call = call)
  }
  # Converts effects of centred covariates to effects of covariates as the user gave them.
  to_users <- diag(q)
  if (obs$intercept && at[1L] == 1L) to_users[1L, -1L] <- -obs$origin[at[-1L] - 1L]
  if (is.null(obs$random_scale)) {
    # The default makes the prior mean of a cluster's covariance, or the mode of the covariance that all
    # clusters share, a quarter of the covariance between individuals.
    times <- if (obs$shared) obs$random_df + d + 1 else max(obs$random_df - d - 1, 1)
    obs$centred_random_scale <- between * times / 4 * y^2 / tcrossprod(scale[at])
    far <- which(!(abs(log10(y / scale[at])) <= 153)) # their squares are the units of variances of effects
    if (length(far)) {
      abort("range", c(
        "The response is too large or too small beside a covariate with a random effect.",
        x = "Their spreads have the ratio {signif(y / scale[at[far[1L]]], 1)}, whose square is out of range.",
        i = "Divide the response or the covariate by a constant."
      ), call = call)
    }
    obs$random_scale <- to_users %*% obs$centred_random_scale %*% t(to_users)
  } else {
    obs$random_scale <- expand_matrix(obs$random_scale, q, "random_scale", call)
    if (obs$independent && any(obs$random_scale[!diag(q)] != 0)) {
      abort("argument", c(
        "{.arg random_scale} must be diagonal where effects are independent of each other ({.code ||}).",
        i = "Give its diagonal as {.code diag(c(1, 2))}."
      ), call = call)
    }
    back <- solve(to_users)
    obs$centred_random_scale <- back %*% obs$random_scale %*% t(back)
    check_random_scale(diag(obs$centred_random_scale) * scale[at]^2 / y^2, call)
  }
  if (obs$shared) {
    obs$shared_cov <- between * y^2 / tcrossprod(scale[at])
    obs$shared_noise <- noise * y^2
  }
  with_prior_of_coefficients(obs, individuals$coef, scale, e, call)
}

# Refuses a scale of random effects that is out of range. relative: the diagonal of the scale, in units of the
# squared spread of the response over that of the covariate.
check_random_scale <- function(relative, call) {
  bad <- which(!(relative >= 1e-7 & relative <= 1e50))
  if (length(bad)) {
    abort("range", c(
      "{.arg random_scale} must be from 1e-07 to 1e+50 times the squared spread of the response over a covariate's.",
      x = "Entry {bad[1L]} of its diagonal is {signif(relative[bad[1L]], 3)} times that.",
      i = "Leave {.code NULL} for the default."
    ), call = call)
  }
}

# The covariance of effects between individuals: that of the individuals' least-squares coefficients, minus
# the part that is noise.
covariance_of_effects <- function(individuals, usable, w, noise) {
  q <- length(individuals$square)
  u <- sum(pmin(w, 1))
  if (sum(usable) < q + 2L || u < q + 2) {
    return(diag(individuals$residual / (2 * pmax(individuals$square, 1e-28)), q))
  }
  own <- individuals$inverse[usable, , , drop = FALSE]
  L <- t(chol(noise * matrix(apply(own * w, 2:3, sum) / sum(w), q, q)))
  a <- individuals$a[usable, , drop = FALSE]
  a <- a - rep(colSums(a * w) / sum(w), each = nrow(a))
  away <- forwardsolve(L, t(forwardsolve(L, crossprod(a * sqrt(w)) / max(sum(w) - 1, 1))))
  eigen <- eigen((away + t(away)) / 2 - diag(q), symmetric = TRUE)
  root <- L %*% eigen$vectors
  root %*% (pmax(eigen$values, 0.1) * t(root))
}

# The number of effects that share one covariance matrix.
joint_effects <- function(obs) if (obs$independent) 1L else length(obs$effects)

# Completes the prior of coefficients. Those with random effects are around the coefficients of all rows
# together, with the strength of 0.01 individuals. Others have mean 0, and precision 0.01 for covariates that
# are centred and scaled.
with_prior_of_coefficients <- function(obs, coef, scale, e, call) {
  at <- obs$effects + 1L
  y <- obs$unit[1L]
  p <- e - length(at)
  mean <- rep(0, e)
  mean[at] <- coef[at] * y / scale[at]
  if (!is.null(obs$coef_mean) && length(obs$coef_mean) != p) {
    abort("argument", c(
      "{.arg coef_mean} must have one value for each coefficient without a random effect ({p}), not
       {length(obs$coef_mean)}.",
      i = "Coefficients with a random effect have as prior mean the coefficients of all rows together."
    ), call = call)
  }
  if (!is.null(obs$coef_mean)) mean[-at] <- obs$coef_mean
  if (obs$intercept && (1L %in% at || is.null(obs$coef_mean))) {
    mean[1L] <- mean[1L] + obs$centre[1L] - sum(mean[-1L] * obs$origin)
  }
  obs$coef_mean <- matrix(mean, 1L)
  obs$scaled_precision <- diag(0.01, e)
  if (!is.null(obs$coef_precision)) {
    obs$coef_precision <- given <- expand_matrix(obs$coef_precision, p, "coef_precision", call)
    to_users <- diag(1 / scale, e)
    if (obs$intercept && e > 1L) to_users[1L, -1L] <- -obs$origin / scale[-1L]
    own <- to_users[-at, -at, drop = FALSE]
    obs$scaled_precision[-at, -at] <- t(own) %*% given %*% own
  }
  obs
}

model_random_effects <- utils::modifyList(model_regression, list(
  title = "Regression with random effects", class = c("obs_random_effects", "obs_regression"), verbs = "bnp_mixture",
  kind = NULL,
  working = c(
    "responses", "intercept", "centre", "unit", "scaled_precision", "origin", "spread", "effects",
    "covariates", "centred_random_scale", "shared_cov", "shared_noise", "coef_precision"
  ),
  parameters = list(scale = NULL, coef_mean = NULL, coef_precision = NULL),
  arrays = list(
    df = "clusters", scale = c("responses", "responses", "clusters"), cov = c("responses", "responses", "clusters"),
    coef = c("responses", "regressors", "clusters"), coef_mean = c("responses", "regressors", "clusters"),
    coef_cov = c("regressors", "regressors", "clusters"), random_df = "clusters",
    random_scale = c("effects", "effects", "clusters"), random_cov = c("effects", "effects", "clusters"),
    random_strength = "clusters", coef_precision = NULL
  )
))
