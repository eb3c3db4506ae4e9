# Topics whose proportions depend on covariates.

# Documents of two groups and a day, whose topics follow both: list(x, about, theta), topics x terms in blocks.
dated_corpus <- function(seed = 1, documents = 120, terms = 24, topics = 4, tokens = 60, group = 1.2, trend = 1) {
  withr::with_seed(seed, {
    phi <- matrix(0.02, topics, terms)
    for (k in seq_len(topics)) phi[k, (k - 1) * (terms / topics) + seq_len(terms / topics)] <- 1
    phi <- phi / rowSums(phi)
    about <- data.frame(party = sample(c("a", "b"), documents, TRUE), day = sample(0:9, documents, TRUE))
    effect <- group * outer(about$party == "b", c(1, -1, 0, 0)[seq_len(topics)]) +
      trend * outer((about$day - 4.5) / 3, c(0, 0, 1, -1)[seq_len(topics)])
    prior <- 1.5 * exp(effect) / topics
    theta <- matrix(rgamma(length(prior), prior), documents) + 1e-9
    theta <- theta / rowSums(theta)
    x <- t(vapply(seq_len(documents), function(d) drop(rmultinom(1, tokens, theta[d, ] %*% phi)), numeric(terms)))
    dimnames(x) <- list(paste0("d", seq_len(documents)), paste0("t", seq_len(terms)))
    list(x = x, about = about, theta = theta, prior = prior, phi = phi)
  })
}

# Sticks and effects of each topic in the engine's order, list(u, omega, mean, cov).
topic_tilts <- function(u, p) {
  rows <- matrix(u, ncol = 2 + p + p * (p + 1) / 2, byrow = TRUE)
  list(
    u = rows[, 1], omega = rows[, 2], mean = rows[, 2 + seq_len(p), drop = FALSE],
    cov = lapply(seq_len(nrow(rows)), function(j) {
      precision <- matrix(0, p, p)
      precision[upper.tri(precision, TRUE)] <- rows[j, 2 + p + seq_len(p * (p + 1) / 2)]
      solve(precision + t(precision) - diag(diag(precision), p))
    })
  )
}

# The terms of the bound that are of documents, their priors and effects, in all: q(pi_d) optimal, `pattern` from 1,
# x the covariates of patterns, counts documents x topics in the engine's order.
twin_tilted_topics <- function(counts, pattern, x, tilts, gamma, alpha, scale = 1) {
  k <- length(tilts$u)
  p <- ncol(x)
  a <- tilts$u * tilts$omega
  b <- (1 - tilts$u) * tilts$omega
  square <- (a * (a + 1) / (tilts$omega * (tilts$omega + 1)))
  left <- b * (b + 1) / (tilts$omega * (tilts$omega + 1))
  rest <- function(v) c(1, cumprod(v))
  mean_pi <- c(tilts$u, 1) * rest(1 - tilts$u)
  square_pi <- c(square, 1) * rest(left)
  log_u <- digamma(a) - digamma(tilts$omega)
  log_left <- digamma(b) - digamma(tilts$omega)
  log_pi <- c(log_u, 0) + c(0, cumsum(log_left))
  eta <- cbind(x %*% t(tilts$mean), 0)
  spread <- cbind(vapply(tilts$cov, function(s) rowSums((x %*% s) * x), numeric(nrow(x))), 0)
  dim(spread) <- dim(eta)
  factor <- exp(eta + spread / 2)
  square_factor <- exp(2 * eta + 2 * spread)
  rows <- function(v) rep(v, each = nrow(x))
  prior <- alpha * factor * rows(mean_pi)
  z <- pi^2 / 12 * alpha^2
  chord <- rows(mean_pi) * (lgamma(1 + alpha * factor) + z * (square_factor - factor^2))
  curve <- lgamma(1 + prior) + z * (square_factor * rows(square_pi) - (factor * rows(mean_pi))^2)
  normaliser <- lgamma(rowSums(prior)) + rowSums(log(alpha) + eta + rows(log_pi) - pmin(chord, curve))
  theta <- cbind(as.matrix(counts), 0) + prior[pattern, ]
  documents <- sum(normaliser[pattern]) + sum(lgamma(theta)) - sum(lgamma(rowSums(theta)))
  sticks <- sum(log(gamma) + (gamma - 1) * log_left - ((a - 1) * log_u + (b - 1) * log_left - lbeta(a, b)))
  kl <- vapply(seq_len(k), function(j) {
    0.5 * ((sum(diag(tilts$cov[[j]])) + sum(tilts$mean[j, ]^2)) / scale^2 - p + p * log(scale^2) -
      as.double(determinant(tilts$cov[[j]])$modulus))
  }, 0)
  documents + sticks - sum(kl)
}
