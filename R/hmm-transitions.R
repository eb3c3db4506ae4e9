# Transitions that depend on covariates, at given values of these: means, draws, long-run shares of states.
#
# Transitions at n rows of covariates are arrays n x K x outcomes (from, to). The outcomes are the states in
# the user's order and, if the prior allows more states, a last one for all states that are not in use.

# The posterior of transitions that depend on covariates, with states in the user's order: list(theta, mean,
# cov). These are the Dirichlet parameters theta, K x outcomes, and the mean and covariance of the effects, K
# x K x P and P x P x K x K.
tilted_rows <- function(fit) {
  posterior <- engine_posterior(fit$model, fit$state)
  at <- fit$numbering
  p <- fit$model$prior$n_columns
  k <- fit$state$k
  list(
    theta = posterior$transition[at, engine_index(fit, ncol(posterior$transition)), drop = FALSE],
    mean = array(posterior$effects, c(k, k, p))[at, at, , drop = FALSE],
    cov = array(posterior$effects_cov, c(p, p, k, k))[, , at, at, drop = FALSE]
  )
}

# The transition probabilities that the bound uses, at rows x of the design's columns (covariates as numbers).
# more_variance: for each row, the number of its levels that the fit has not seen, each of which adds
# variance.
transitions_at <- function(fit, x, more_variance = 0, rows = tilted_rows(fit)) {
  k <- fit$state$k
  log_p <- array(rep(log(rows$theta), each = nrow(x)), c(nrow(x), dim(rows$theta)))
  unseen <- if (any(more_variance > 0)) fit$model$prior$effect_scale^2 * more_variance else 0
  for (j in seq_len(k)) for (l in seq_len(k)) {
    cov <- matrix(rows$cov[, , j, l], ncol(x))
    variance <- rowSums((x %*% cov) * x) + unseen
    log_p[, j, l] <- log_p[, j, l] + x %*% rows$mean[j, l, ] + variance / 2
  }
  shares_of(log_p)
}

# Turns an array of logarithms into exponentials that sum to 1 over the last dimension.
shares_of <- function(log_p) {
  size <- dim(log_p)
  dim(log_p) <- c(prod(size[-3L]), size[3L])
  top <- log_p[cbind(seq_len(nrow(log_p)), max.col(log_p, "first"))]
  p <- exp(log_p - top)
  array(p / rowSums(p), size)
}

# Transition probabilities given that only states of the fit occur, n x K x K.
known_transitions <- function(p) {
  k <- dim(p)[2L]
  p <- p[, , seq_len(k), drop = FALSE]
  p / as.double(rowSums(p, dims = 2L))
}

# Draws transition probabilities and their effects from the posterior and returns the probabilities at rows x
# of the covariates. roots: square roots of the covariances of effects; extra: how many of the covariates of each row
# have levels that the fit has not seen, whose effects are drawn from their prior.
drawn_transitions <- function(fit, x, rows, roots, extra = 0) {
  k <- fit$state$k
  p <- ncol(x)
  weight <- matrix(stats::rgamma(length(rows$theta), rows$theta), k)
  weight <- log(pmax(weight, .Machine$double.xmin))
  log_p <- array(rep(weight, each = nrow(x)), c(nrow(x), dim(rows$theta)))
  if (p > 0L) for (j in seq_len(k)) for (l in seq_len(k)) {
    effects <- rows$mean[j, l, ] + as.double(roots[[j, l]] %*% stats::rnorm(p))
    unseen <- if (any(extra > 0)) stats::rnorm(1L) * fit$model$prior$effect_scale * sqrt(extra) else 0
    log_p[, j, l] <- log_p[, j, l] + x %*% effects + unseen
  }
  shares_of(log_p)
}

roots_of_effects <- function(rows) {
  k <- dim(rows$mean)[1L]
  p <- dim(rows$mean)[3L]
  roots <- lapply(seq_len(k * k), function(i) {
    j <- (i - 1L) %% k + 1L
    l <- (i - 1L) %/% k + 1L
    if (p > 0L) t(chol(matrix(rows$cov[, , j, l], p)))
  })
  matrix(roots, k)
}

# Stationary distributions, n x K, of transition probabilities (n x K x K), by repeated squaring. Squares of a
# cyclic chain would not converge. A chain that stays where it is with probability 1/2, and otherwise moves like
# the given one, has the same stationary distribution and no cycles; it is used instead.
stationary_shares <- function(p) {
  k <- dim(p)[2L]
  for (j in seq_len(k)) p[, j, j] <- p[, j, j] + 1
  p <- p / 2
  for (i in seq_len(60L)) { # 2^60 steps
    before <- p
    for (j in seq_len(k)) {
      row <- array(0, c(dim(p)[1L], k))
      for (m in seq_len(k)) row <- row + before[, j, m] * matrix(before[, m, ], ncol = k)
      p[, j, ] <- row / rowSums(row)
    }
    if (max(abs(p - before)) < 1e-14) break
  }
  matrix(p[, 1L, ], ncol = k)
}

# For each covariate pattern, how many transitions lead into rows with the pattern.
transitions_by_pattern <- function(fit) {
  apply(array(fit$state$pair, c(fit$state$k, n_patterns_of(fit$model), fit$state$k)), 2L, sum)
}

# Completes the values of covariates in `at`: covariates that are left out get their means or most frequent
# values.
completed_covariates <- function(fit, at, call) {
  known <- fit$model$prior$design$values
  at <- as.data.frame(as.list(at), optional = TRUE)
  unknown <- setdiff(names(at), names(known))
  if (length(unknown) || !nrow(at) || !length(names(at))) {
    abort("at", c(
      "{.arg at} must be a data frame of values of some of the covariates, not {describe(at)}.",
      i = "They are {.field {names(known)}}."
    ), call = call)
  }
  rest <- typical_covariates(known[setdiff(names(known), names(at))], transitions_by_pattern(fit))
  cbind(at, rest[rep(1L, nrow(at)), , drop = FALSE])[names(known)]
}

transitions_by_covariates <- function(fit, new, at, call) {
  if (is.null(at)) {
    weight <- transitions_by_pattern(fit)
    p <- transitions_at(fit, fit$model$prior$patterns)
    start <- start_shares(fit, new)
    if (!sum(weight)) weight[] <- 1
    p <- array(colSums(matrix(p * weight, nrow(p))) / sum(weight), c(1L, dim(p)[-1L]))
  } else {
    made <- apply_design(fit$model$prior$design, completed_covariates(fit, at, call), "at", call)
    p <- transitions_at(fit, made$value, made$extra)
    start <- start_shares(fit, new)
  }
  if (!new) p <- known_transitions(p)
  names <- list(cluster_labels(fit), c(cluster_labels(fit), if (dim(p)[3L] > fit$state$k) "new"))
  if (is.null(at)) {
    return(structure(matrix(p, dim(p)[2L], dimnames = names), start = start))
  }
  structure(`dimnames<-`(aperm(p, c(2L, 3L, 1L)), c(names, list(rownames(at)))), start = start)
}

start_shares <- function(fit, new) {
  theta <- engine_posterior(fit$model, fit$state)$start
  theta <- theta[engine_index(fit, length(theta))]
  names(theta) <- c(cluster_labels(fit), if (length(theta) > fit$state$k) "new")
  if (!new) theta <- theta[seq_len(fit$state$k)]
  theta / sum(theta)
}

#' Long-run shares of states
#'
#' The shares of time that a hidden Markov model spends in each state in the long run, if its transitions do not change:
#' the stationary distribution of the chain, with [prior_covariates()] at given covariates that do not change.
#'
#' @param fit A fit of [bnp_hmm()].
#' @param at With [prior_covariates()]: a data frame of values of covariates; the result has shares for each row of
#'   `at`. Covariates that are left out are at their mean or most frequent value. Default: all covariates are at these
#'   values.
#' @param level Probability of the intervals, between 0 and 1.
#' @return A data frame with a row for each state and row of `at`: the columns of `at`; `state`; `proportion`, computed
#'   from the mean transitions; and `conf.low` and `conf.high`, quantiles over draws from the variational posterior of
#'   the transitions, with a fixed seed. As these draws ignore that the states of rows are uncertain, intervals are too
#'   narrow if states overlap. All results are given that no other states than those of the fit exist.
#' @seealso [transition_matrix()], [prevalence()] for one covariate, [cluster_sizes()] for the shares of the data.
#' @references
#' Zucchini, W., MacDonald, I. L. and Langrock, R. (2016). *Hidden Markov models for time
#' series*, 2nd edition. CRC Press.
#' @examples
#' hours <- data.frame(temp = beaver2$temp, hour = beaver2$time %/% 100)
#' fit <- bnp_hmm(hours, prior = prior_covariates(~ hour, sticky = 20), seed = 1)
#' long_run(fit, at = data.frame(hour = c(6, 18)))
#' @export
long_run <- function(fit, at = NULL, level = 0.95) {
  check_able(fit, "long_run")
  level <- check_level(level, "level")
  call <- rlang::current_env()
  if (!has_covariates(fit$model$prior)) {
    if (!is.null(at)) only_with_covariates(fit, call, "at")
    return(as_tidy(long_run_table(fit, matrix(0, 1L, 0L), level, plain_rows(fit))))
  }
  given <- if (is.null(at)) as.data.frame(matrix(0, 1L, 0L)) else as.data.frame(as.list(at), optional = TRUE)
  values <- if (is.null(at)) typical_covariates(fit$model$prior$design$values, transitions_by_pattern(fit)) else
    completed_covariates(fit, at, call)
  if (!length(values)) values <- given
  made <- apply_design(fit$model$prior$design, values, "at", call)
  table <- long_run_table(fit, made$value, level, tilted_rows(fit), made$extra)
  as_tidy(cbind(given[rep(seq_len(nrow(given)), each = fit$state$k), , drop = FALSE], table, row.names = NULL))
}

# The posterior of transitions that do not depend on covariates, in the form of tilted_rows().
plain_rows <- function(fit) {
  theta <- engine_posterior(fit$model, fit$state)$transition
  k <- fit$state$k
  list(
    theta = theta[fit$numbering, engine_index(fit, ncol(theta)), drop = FALSE], mean = array(0, c(k, k, 0L)),
    cov = array(0, c(0L, 0L, k, k))
  )
}

long_run_table <- function(fit, x, level, rows, more_variance = 0) {
  mean <- stationary_shares(known_transitions(transitions_at(fit, x, more_variance, rows)))
  roots <- roots_of_effects(rows)
  k <- fit$state$k
  # All draws have their stationary shares at once: rows of x in each draw, one draw after the other.
  p <- draws_of_shares(nrow(x), k, function() {
    matrix(known_transitions(drawn_transitions(fit, x, rows, roots, more_variance)), nrow(x))
  })
  p <- aperm(array(p, c(nrow(x), k, k, dim(p)[3L])), c(1L, 4L, 2L, 3L))
  draws <- array(stationary_shares(array(p, c(prod(dim(p)[1:2]), k, k))), c(nrow(x), dim(p)[2L], k))
  ends <- apply(draws, c(1L, 3L), stats::quantile, probs = 0.5 + c(-1, 1) * level / 2, names = FALSE)
  data.frame(
    state = rep(seq_len(fit$state$k), nrow(x)), proportion = as.double(t(mean)),
    conf.low = as.double(t(matrix(ends[1L, , ], nrow(x)))), conf.high = as.double(t(matrix(ends[2L, , ], nrow(x))))
  )
}

# The number of posterior draws, fewer if each costs more: rows x columns x draws is limited.
draws_of_shares <- function(rows, k, one) {
  draws <- as.integer(max(200, min(most_draws, most_exponentials / (rows * k^3 * 40))))
  sets <- with_r_seed(draws, 1L, one, rlang::caller_env())$sets
  array(unlist(sets), c(dim(sets[[1L]]), draws))
}
