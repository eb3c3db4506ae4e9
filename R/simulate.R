#' Simulate data from a fit
#'
#' Each data set has cluster parameters drawn from the variational posterior,
#' so that its spread includes what the data left open.
#'
#' @param object A fit of [bnp_mixture()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param n Observations in each data set.
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
simulate.bnp_mixture <- function(object, nsim = 1, seed = NULL, n = nobs(object), total = NULL, ...) {
  check_no_dots(...)
  nsim <- check_count(nsim, "nsim")
  n <- check_count(n, "n", lower = 0L)
  params <- posterior_params(object)
  weights <- coef(object)$weights[seq_len(object$state$k)]
  total <- total %||% max(1, round(object$input$mean_total %||% 1))
  columns <- object$input$column_names %||% default_names(object$input$d)
  draw <- function() {
    class <- sample.int(length(weights), n, replace = TRUE, prob = weights)
    x <- matrix(0, n, object$input$d, dimnames = list(NULL, columns))
    for (k in unique(class)) {
      at <- which(class == k)
      x[at, ] <- draw_cluster(object$model$obs$family, params, k, length(at), total)
    }
    out <- as.data.frame(x)
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
