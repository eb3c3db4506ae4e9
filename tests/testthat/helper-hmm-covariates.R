# Transitions that depend on covariates: what tests of them share.

# A prior as the engine reads it, of patterns with these covariates (a row each).
tilted_chain <- function(x, k = NULL, gamma = 5, alpha = 0.5, start = 4, sticky = 0, effect_scale = 1) {
  utils::modifyList(
    tilted_prior(x, gamma, effect_scale, k),
    list(family = "hmm_covariates", alpha = alpha, start = start, sticky = sticky)
  )
}

# What the engine keeps of each row of transitions, apart: theta (K x outcomes), mean (K x K x P) and precision
# (P x P x K x K).
tilts_of <- function(state, prior) {
  k <- state$k
  p <- prior$n_columns
  open <- is.null(prior$k)
  width <- 1L + p + p * (p + 1L) / 2L
  numbers <- matrix(state$u[(if (open) k else 0L) + seq_len(k * (width * k + open))], k, byrow = TRUE)
  theta <- matrix(0, k, k + open)
  mean <- array(0, c(k, k, p))
  precision <- array(0, c(p, p, k, k))
  for (j in seq_len(k)) {
    for (l in seq_len(k)) {
      own <- numbers[j, (l - 1L) * width + seq_len(width)]
      theta[j, l] <- own[1L]
      mean[j, l, ] <- own[1L + seq_len(p)]
      half <- matrix(0, p, p)
      half[upper.tri(half, TRUE)] <- own[-seq_len(1L + p)]
      precision[, , j, l] <- half + t(half) - diag(diag(half), p)
    }
    if (open) theta[j, k + 1L] <- numbers[j, ncol(numbers)]
  }
  list(theta = theta, mean = mean, precision = precision)
}

# Expected transitions by pattern, C x K x K, of a state of the engine.
pairs_by_pattern <- function(state, patterns) aperm(array(state$pair, c(state$k, patterns, state$k)), c(2L, 1L, 3L))

# The bound of rows of transitions at these parameters, without the normaliser of the Dirichlet prior: counts C x K x K,
# prior K x outcomes.
tilted_rows_twin <- function(counts, x, tilts, prior, variance = 1) {
  k <- dim(counts)[2L]
  p <- ncol(x)
  sum(vapply(seq_len(k), function(j) {
    n <- matrix(counts[, j, ], ncol = k)
    theta <- tilts$theta[j, ]
    e_log <- digamma(theta) - digamma(sum(theta))
    cov <- lapply(seq_len(k), function(l) solve(matrix(tilts$precision[, , j, l], p)))
    tilt <- vapply(seq_len(k), function(l) as.double(x %*% tilts$mean[j, l, ]), numeric(nrow(x)))
    spread <- vapply(cov, function(s) rowSums((x %*% s) * x), numeric(nrow(x)))
    rest <- if (length(theta) > k) theta[k + 1L] else 0
    z <- (exp(matrix(tilt + spread / 2, nrow(x))) %*% theta[seq_len(k)] + rest) / sum(theta)
    kl <- vapply(seq_len(k), function(l) {
      0.5 * (sum(diag(cov[[l]])) / variance + sum(tilts$mean[j, l, ]^2) / variance - p + p * log(variance) -
        as.double(determinant(cov[[l]])$modulus))
    }, 0)
    sum(n * tilt) - sum(rowSums(n) * log(z)) + sum(lgamma(theta)) - lgamma(sum(theta)) +
      sum((c(colSums(n), if (length(theta) > k) 0) + prior[j, ] - theta) * e_log) - sum(kl)
  }, 0))
}

# Two states whose steps depend on a covariate, in sequences of these lengths.
planted_steps <- function(seed = 1, lengths = rep(150, 4), sep = 4) {
  withr::with_seed(seed, {
    n <- sum(lengths)
    w <- as.double(stats::filter(stats::rnorm(n), 0.9, "recursive"))
    w <- w / stats::sd(w)
    stay <- cbind(stats::plogis(2 + 1.5 * w), stats::plogis(2 - 1.5 * w))
    first <- cumsum(c(1, lengths))[seq_along(lengths)]
    z <- integer(n)
    for (t in seq_len(n)) {
      z[t] <- if (t %in% first) sample(2L, 1L) else if (runif(1) < stay[t, z[t - 1L]]) z[t - 1L] else 3L - z[t - 1L]
    }
    list(
      frame = data.frame(y = stats::rnorm(n) + sep * z, w = w, id = rep(seq_along(lengths), lengths)), z = z,
      stay = stay
    )
  })
}
