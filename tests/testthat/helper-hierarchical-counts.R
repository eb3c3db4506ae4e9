# The hierarchical prior of proportions (src/observations/hierarchical_dirichlet.h) in plain R, of one column of terms.
# counts: clusters x terms; H: list(even, common, omega).

share_weights <- function(H) H$even + H$common * exp(digamma(H$omega) - digamma(sum(H$omega)))
share_means <- function(H) H$even + H$common * H$omega / sum(H$omega)

share_evidence <- function(H, counts) {
  lambda <- share_weights(H)
  all <- length(lambda) * H$even + H$common
  sum(lgamma(all) - lgamma(all + rowSums(counts))) +
    sum(lgamma(sweep(counts, 2, lambda, "+"))) - nrow(counts) * sum(lgamma(lambda))
}

# -KL(Dir(omega) || Dir(1/2, ..., 1/2)), without the prices of even and common.
share_log_density <- function(H) {
  log_b <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  log_b(H$omega) - log_b(0 * H$omega + 0.5) - sum((H$omega - 0.5) * (digamma(H$omega) - digamma(sum(H$omega))))
}

share_refreshed <- function(H, counts) {
  lambda <- share_weights(H)
  pull <- colSums(digamma(sweep(counts, 2, lambda, "+"))) - nrow(counts) * digamma(lambda)
  H$omega <- 0.5 + (lambda - H$even) * pull
  H
}

share_bound <- function(H, counts) share_evidence(H, counts) + share_log_density(H)

share_start <- function(counts, even, common) list(even = even, common = common, omega = 0.5 + colSums(counts) / 4)

# To the end, from a start.
share_settled <- function(H, counts) {
  for (round in 1:500) {
    next_H <- share_refreshed(H, counts)
    if (max(abs(next_H$omega - H$omega)) < 1e-13 * max(H$omega)) break
    H <- next_H
  }
  H
}

# The same from the fields of an observation model: with the prices, log 16 each.
share_of_obs <- function(obs) {
  list(even = obs$term_prior_even, common = obs$term_prior_common, omega = obs$hyper_share)
}
# A model that is to be learned, as fits hand it to resolve_obs().
learned_terms <- function() with_default_learning(obs_multinomial(), "bnp_topics", bnp_control())

share_log_hyperprior <- function(obs) share_log_density(share_of_obs(obs)) - 2 * log(16)
