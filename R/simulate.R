#' Simulate data from a fit
#'
#' Each data set has cluster parameters drawn from the variational posterior,
#' so that its spread includes what the data left open.
#'
#' @param object A fit of [bnp_mixture()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param n Observations in each data set.
#' @param initial For an autoregression: the rows before the first one
#'   simulated, oldest first (lag x columns). Default: the column medians of the
#'   training data. They are the first rows of the data set.
#' @param total For counts: the total of each observation; default, the average
#'   of the training data.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the
#'   columns of the training data and `.class`, the cluster drawn. Attribute
#'   `seed` as for [stats::simulate()].
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_mixture <- function(object, nsim = 1, seed = NULL, n = nobs(object), initial = NULL, total = NULL,
                                 ...) {
  check_no_dots(...)
  nsim <- check_count(nsim, "nsim")
  n <- check_count(n, "n", lower = 0L)
  initial <- first_rows(object, initial)
  params <- posterior_params(object)
  weights <- coef(object)$weights[seq_len(object$state$k)]
  total <- total %||% max(1, round(object$input$mean_total %||% 1))
  draw <- function() {
    class <- carry_back(sample.int(length(weights), n, replace = TRUE, prob = weights), c(0L, n), state_lag(object))
    out <- as.data.frame(draw_rows(object, params, class, n, initial, total))
    out$.class <- factor(class, levels = seq_along(weights))
    out
  }
  simulate_sets(nsim, seed, draw)
}

# nsim draws with names and the attribute `seed`. A seed that is given leaves R's own stream as it was.
simulate_sets <- function(nsim, seed, draw) {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", envir = globalenv())
  if (!is.null(seed)) {
    set.seed(seed)
    on.exit(assign(".Random.seed", before, envir = globalenv()))
  }
  used <- if (is.null(seed)) before else structure(seed, kind = as.list(RNGkind()))
  sims <- lapply(seq_len(nsim), function(i) draw())
  structure(stats::setNames(sims, paste0("sim_", seq_len(nsim))), seed = used)
}

draw_cluster <- function(family, params, k, n, total) {
  switch(family,
    gaussian_full = draw_gaussian(n, params$mean[k, ], params$mean_strength[k], params$df[k], params$scale[, , k]),
    gaussian_zero_mean = draw_gaussian(n, NULL, NULL, params$df[k], params$scale[, , k]),
    gaussian_diagonal = {
      precision <- stats::rgamma(ncol(params$mean), params$df[k] / 2, rate = params$scale[k, ] / 2)
      mean <- stats::rnorm(length(precision), params$mean[k, ], 1 / sqrt(params$mean_strength[k] * precision))
      matrix(stats::rnorm(n * length(mean), rep(mean, each = n), rep(1 / sqrt(precision), each = n)), n)
    },
    multinomial = {
      prob <- stats::rgamma(ncol(params$concentration), params$concentration[k, ])
      t(stats::rmultinom(n, total, prob))
    },
    bernoulli = {
      prob <- stats::rbeta(ncol(params$a), params$a[k, ], params$b[k, ])
      matrix(stats::rbinom(n * length(prob), 1L, rep(prob, each = n)), n)
    }
  )
}

# Rows of sequences of the given lengths, one after the other, from the clusters on `path`; each cluster has one draw of
# its parameters. The first `lag` rows of a sequence of an autoregression are those of `initial`.
draw_rows <- function(fit, params, path, lengths, initial, total) {
  obs <- fit$model$obs
  d <- fit$input$d
  x <- matrix(0, length(path), d, dimnames = list(NULL, fit$input$column_names %||% default_names(d)))
  if (obs$family != "ar") {
    for (k in unique(path)) {
      at <- which(path == k)
      x[at, ] <- draw_cluster(obs$family, params, k, length(at), total)
    }
    return(x)
  }
  dynamics <- lapply(seq_len(fit$state$k), draw_dynamics, params)
  age <- sequence(lengths)
  for (i in seq_along(path)) {
    if (age[i] <= obs$lag) {
      x[i, ] <- initial[age[i], ]
    } else {
      x[i, ] <- dynamics[[path[i]]](c(t(x[i - seq_len(obs$lag), , drop = FALSE]), if (obs$intercept) 1))
    }
  }
  x
}

# The rows before the first one simulated, oldest first: lag x columns.
first_rows <- function(fit, initial, call = rlang::caller_env()) {
  lag <- state_lag(fit)
  d <- fit$input$d
  if (lag == 0L) {
    return(NULL)
  }
  initial <- initial %||% matrix(fit$input$initial, lag, d, byrow = TRUE)
  if (!is.numeric(initial) || NCOL(initial) != d || NROW(initial) != lag) {
    abort("argument", "{.arg initial} must be a {lag} x {d} matrix, not {describe(initial)}.", call = call)
  }
  as.matrix(initial)
}

# n draws around one draw of (mean, covariance) from the Normal-Wishart.
draw_gaussian <- function(n, mean, mean_strength, df, scale) {
  scale <- as.matrix(scale)
  d <- nrow(scale)
  unit <- sqrt(diag(scale))
  correlation <- scale / unit / rep(unit, each = d)
  precision <- stats::rWishart(1L, df, chol2inv(chol(correlation)))[, , 1L]
  half <- chol(as.matrix(precision))
  noise <- function(m) t(backsolve(half, matrix(stats::rnorm(d * m), d))) * rep(unit, each = m)
  centre <- if (is.null(mean)) rep(0, d) else mean + noise(1L)[1L, ] / sqrt(mean_strength)
  noise(n) + rep(centre, each = n)
}

# A function from regressors to the next row, for one draw of coefficients and noise of state k.
draw_dynamics <- function(k, params) {
  scale <- as.matrix(params$scale[, , k])
  d <- nrow(scale)
  e <- dim(params$coef_mean)[2]
  unit <- sqrt(diag(scale))
  precision <- stats::rWishart(1L, params$df[k], chol2inv(chol(scale / unit / rep(unit, each = d))))[, , 1L]
  half <- chol(as.matrix(precision))
  noise <- function(m) backsolve(half, matrix(stats::rnorm(d * m), d)) * unit
  columns <- chol(matrix(params$coef_precision[, , k], e))
  coef <- matrix(params$coef_mean[, , k], d) + t(backsolve(columns, t(noise(e))))
  function(z) drop(coef %*% z + noise(1L))
}
