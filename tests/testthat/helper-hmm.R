# Short sequences that stay six rows in each state.
toy_sequences <- function(seed, lengths = c(40, 1, 25, 34), k = 3, d = 2) {
  withr::with_seed(seed, {
    z <- unlist(lapply(lengths, function(n) rep(sample(k, n, TRUE), each = 6)[seq_len(n)]))
    list(
      data = list(
        x = matrix(rnorm(sum(lengths) * d), ncol = d) + 4 * z, n = as.integer(sum(lengths)), d = as.integer(d),
        starts = as.integer(c(0, cumsum(lengths)))
      ), z = z
    )
  })
}

diagonal_model <- function(d = 2) {
  list(
    family = "gaussian_diagonal", mean = rep(0, d), mean_strength = 0.01, df = 3, scale = rep(1, d),
    centre = rep(0, d), unit = rep(1, d)
  )
}

no_moves <- list(
  birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE, max_births = 5L, birth_size = 3L,
  max_deletes = 5L, max_merges = 10L
)
all_moves <- utils::modifyList(no_moves, list(birth = TRUE, merge = TRUE, delete = TRUE, reorder = TRUE))

engine_control <- function(k_init = 3, seed = 1, ...) {
  utils::modifyList(list(
    algorithm = "memoized", batches = 1L, max_laps = 30L, tol = 1e-8, restarts = 1L, k_init = k_init,
    init = "bregman", moves = no_moves, sparsity = 0L, candidates = 0L, threads = 1L, seed = seed,
    learning_rate = c(1, 0.6)
  ), list(...))
}

hmm_priors <- list(
  plain = list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 4, sticky = 0),
  sticky = list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 4, sticky = 20),
  finite = list(family = "hmm", k = 3L, alpha = 0.5, start = 4, sticky = 2)
)

# Log evidence of one state under diagonal_model(), from its statistic (N, Σx, Σx² by coordinate).
evidence_diagonal <- function(t) {
  d <- (length(t) - 1) / 2
  n <- t[1]
  s <- t[1 + seq_len(d)]
  q <- t[1 + d + seq_len(d)]
  log_z <- function(df, scale, strength) -df / 2 * log(scale / 2) + lgamma(df / 2) - log(strength) / 2
  after <- 1 + q - s^2 / (0.01 + n)
  sum(log_z(3 + n, after, 0.01 + n) - log_z(3, 1, 0.01)) - n * d / 2 * log(2 * pi)
}

# Log potentials of n rows and k states.
random_chain <- function(n, k, spread = 1) {
  normalise <- function(x) log(x / sum(x))
  list(
    start = normalise(rgamma(k, 1)),
    transition = matrix(t(apply(matrix(rgamma(k * k, 1), k), 1, normalise)), k),
    e = matrix(rnorm(n * k, sd = spread), n)
  )
}

# Sums over every path of a short chain.
enumerate_paths <- function(log_start, log_transition, log_e) {
  n <- nrow(log_e)
  k <- ncol(log_e)
  paths <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))[, n:1, drop = FALSE]
  score <- apply(paths, 1, function(z) {
    log_start[z[1]] + sum(log_e[cbind(seq_len(n), z)]) + sum(log_transition[cbind(z[-n], z[-1])])
  })
  p <- exp(score - max(score))
  p <- p / sum(p)
  resp <- t(vapply(seq_len(n), function(t) vapply(seq_len(k), function(j) sum(p[paths[, t] == j]), 1), numeric(k)))
  if (k == 1) resp <- matrix(1, n, 1)
  transition <- matrix(0, k, k)
  for (t in seq_len(n - 1)) {
    for (i in seq_len(k)) for (j in seq_len(k)) {
      transition[i, j] <- transition[i, j] + sum(p[paths[, t] == i & paths[, t + 1] == j])
    }
  }
  list(
    resp = resp, start = resp[1, ], transition = transition, entropy = -sum(p[p > 0] * log(p[p > 0])),
    path = unname(paths[which.max(score), ])
  )
}

# E log π of the start row and the transitions of a state, its stick weights given.
expected_rows <- function(state, prior) {
  pi <- if (prior$family == "hmm") rep(1 / state$k, state$k) else c(state$u, 1) * cumprod(c(1, 1 - state$u))
  k <- seq_len(state$k)
  lapply(0:state$k, function(row) {
    theta <- (if (row) prior$alpha else prior$start) * pi
    theta[k] <- theta[k] + if (row) state$pair[row, ] else state$extra[, 1]
    if (row) theta[row] <- theta[row] + prior$sticky
    (digamma(theta) - digamma(sum(theta)))[k]
  })
}

# The planted rows of every observation model in sequences of 40, ten in a cluster before the next one.
planted_sequences <- function() {
  lapply(Filter(function(case) is.null(case$data$row_start), planted_cases()), function(case) {
    if (case$model$obs$family != "ar") {
      run <- (stats::ave(case$cluster, case$cluster, FUN = seq_along) - 1) %/% 10
      case$data$x <- case$data$x[order(run, case$cluster), , drop = FALSE]
    }
    case$data$starts <- as.integer(c(seq(0, case$data$n - 30, by = 40), case$data$n))
    case
  })
}

# A plain-R twin of the whole objective, from responsibilities of independent rows.
twin_rows <- function(resp, starts) {
  first <- starts[-length(starts)] + 1
  k <- ncol(resp)
  transition <- matrix(0, k, k)
  for (i in setdiff(seq_len(nrow(resp)), first)) transition <- transition + outer(resp[i - 1, ], resp[i, ])
  list(start = colSums(resp[first, , drop = FALSE]), transition = transition)
}

twin_sticks <- function(u, omega, k, gamma, sticky, alpha, start, bound = "tight") {
  a <- u * omega
  b <- (1 - u) * omega
  rows <- if (sticky > 0) k else k + 1
  c1 <- rows + 1
  c0 <- rows * (k + 1 - seq_len(k)) + gamma + (sticky > 0)
  e1 <- digamma(a) - digamma(omega)
  e0 <- digamma(b) - digamma(omega)
  pi <- c(u, 1) * cumprod(c(1, 1 - u))
  value <- sum(lbeta(a, b) - lbeta(1, gamma) + (c1 - a) * e1 + (c0 - b) * e0) + k * log(start) + k^2 * log(alpha)
  rows <- c(row_terms(u, omega, 1, start, 0, bound), row_terms(u, omega, k, alpha, sticky, bound))
  list(value = value + sum(rows), pi = pi)
}

twin_transitions <- function(counts, pi, alpha, start, sticky) {
  k <- nrow(counts$transition)
  width <- length(pi)
  value <- 0
  for (row in 0:k) {
    theta <- (if (row) alpha else start) * pi
    theta[seq_len(k)] <- theta[seq_len(k)] + (if (row) counts$transition[row, ] else counts$start)
    if (row) theta[row] <- theta[row] + sticky
    value <- value + sum(lgamma(theta)) - lgamma(sum(theta))
  }
  value
}

# n rows of d columns in k states, whose means have standard deviation `spread`. A row stays in the state of the row
# before with probability `stay`.
planted_chain <- function(n, d, k, spread, stay, seed) {
  withr::with_seed(seed, {
    changes <- c(TRUE, runif(n - 1) > stay)
    z <- sample(k, sum(changes), TRUE)[cumsum(changes)]
    matrix(rnorm(k * d, sd = spread), k)[z, ] + matrix(rnorm(n * d), n)
  })
}
