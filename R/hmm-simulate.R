#' Simulate sequences from a fit
#'
#' Each data set has its transitions and state parameters drawn from the
#' variational posterior, so that its spread includes what the data left open.
#'
#' @param object A fit of [bnp_hmm()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param lengths Lengths of the sequences of each data set; default, those of
#'   the training data.
#' @param initial For an autoregression: the rows before the first one
#'   simulated, oldest first (lag x columns). Default: the column medians of the training
#'   data. They are the first rows of each sequence.
#' @param total For counts: the total of each row; default, the average of the
#'   training data.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the
#'   columns of the training data, `.id`, the sequence, and `.state`, the state
#'   drawn. Attribute `seed` as for [stats::simulate()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_hmm <- function(object, nsim = 1, seed = NULL, lengths = diff(object$input$starts), initial = NULL,
                             total = NULL, ...) {
  check_no_dots(...)
  nsim <- check_count(nsim, "nsim")
  lag <- state_lag(object)
  lengths <- vapply(lengths, check_count, 1L, arg = "lengths", lower = lag + 1L)
  d <- object$input$d
  if (lag > 0L) {
    initial <- initial %||% matrix(object$input$initial, lag, d, byrow = TRUE)
    if (!is.numeric(initial) || NCOL(initial) != d || NROW(initial) != lag) {
      abort("argument", "{.arg initial} must be a {lag} x {d} matrix, not {describe(initial)}.")
    }
  }
  params <- posterior_params(object)
  total <- total %||% max(1, round(object$input$mean_total %||% 1))
  simulate_sets(nsim, seed, function() draw_sequences(object, params, lengths, lag, initial, total))
}

draw_sequences <- function(fit, params, lengths, lag, initial, total) {
  k <- fit$state$k
  d <- fit$input$d
  # States not in use have no parameters: the rows are drawn over those in use.
  draw_row <- function(theta) {
    p <- stats::rgamma(k, theta[seq_len(k)])
    if (sum(p) > 0) p / sum(p) else rep(1 / k, k)
  }
  start <- draw_row(params$start)
  transition <- t(matrix(apply(params$transition, 1L, draw_row), k))
  path <- unlist(lapply(lengths, draw_path, start, transition, lag))
  sequence <- rep(seq_along(lengths), lengths)
  x <- matrix(0, sum(lengths), d, dimnames = list(NULL, fit$input$column_names %||% default_names(d)))
  if (lag > 0L) {
    dynamics <- lapply(seq_len(k), draw_dynamics, params)
    age <- sequence(lengths)
    for (i in seq_len(nrow(x))) {
      if (age[i] <= lag) {
        x[i, ] <- initial[age[i], ]
      } else {
        z <- c(t(x[i - seq_len(lag), , drop = FALSE]), if (fit$model$obs$intercept) 1)
        x[i, ] <- dynamics[[path[i]]](z)
      }
    }
  } else {
    for (state in unique(path)) {
      at <- which(path == state)
      x[at, ] <- draw_cluster(fit$model$obs$family, params, state, length(at), total)
    }
  }
  out <- as.data.frame(x)
  out$.id <- sequence
  out$.state <- factor(path, levels = seq_len(k))
  out
}

draw_path <- function(n, start, transition, lag) {
  k <- length(start)
  path <- integer(n)
  path[seq_len(lag + 1L)] <- sample.int(k, 1L, prob = start)
  for (t in seq_len(n - lag - 1L) + lag + 1L) {
    path[t] <- sample.int(k, 1L, prob = transition[path[t - 1L], ])
  }
  path
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
