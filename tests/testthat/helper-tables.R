# Hierarchical Dirichlet processes by table counts, in plain R: exact probabilities of partitions of a few observations.

# Unsigned Stirling numbers of the first kind: s(n, m) at [n + 1, m + 1].
stirling_first <- function(n) {
  s <- matrix(0, n + 1L, n + 1L)
  s[1, 1] <- 1
  for (i in seq_len(n)) s[i + 1L, -1L] <- s[i, -(n + 1L)] + (i - 1) * s[i, -1L]
  s
}

# c(t), t = 0, 1, ..., n: what n observations of a group in one cluster weigh if t of their tables drew it from the
# top-level weights, and of the other tables, any number, were chosen by the sticky mass kappa.
table_weights <- function(n, alpha, kappa = 0) {
  s <- stirling_first(n)[n + 1L, ]
  m <- 0:n
  vapply(m, function(t) sum((s * choose(m, t) * alpha^t * kappa^pmax(m - t, 0))[m >= t]), 1)
}

convolve_weights <- function(a, b) {
  out <- numeric(length(a) + length(b) - 1L)
  for (i in seq_along(a)) out[i - 1L + seq_along(b)] <- out[i - 1L + seq_along(b)] + a[i] * b
  out
}

# log p(partition) from the counts of groups (rows) in clusters (columns); alpha and kappa are those of the rows, kappa
# on the column `self` (NA: none).
log_hdp_partition <- function(counts, alpha, gamma, kappa = 0, self = NA) {
  groups <- nrow(counts)
  k <- ncol(counts)
  alpha <- rep_len(alpha, groups)
  kappa <- ifelse(is.na(self), 0, rep_len(kappa, groups))
  self <- rep_len(self, groups)
  of_groups <- sum(lgamma(alpha + kappa) - lgamma(alpha + kappa + rowSums(counts)))
  # By clusters, the weight of each number of tables; then of each total, with the factor (t - 1)! of a cluster.
  totals <- 1
  for (j in seq_len(k)) {
    weights <- 1
    for (g in seq_len(groups)) {
      sticky <- if (!is.na(self[g]) && self[g] == j) kappa[g] else 0
      weights <- convolve_weights(weights, table_weights(counts[g, j], alpha[g], sticky))
    }
    t <- seq_along(weights) - 1
    totals <- convolve_weights(totals, ifelse(t > 0, weights * gamma(pmax(t, 1)), 0))
  }
  t <- seq_along(totals) - 1
  of_groups + k * log(gamma) + log(sum(totals * exp(lgamma(gamma) - lgamma(gamma + t))))
}

# list(partitions, prob, log_joint, log_evidence) of observations of these groups, as exact_posterior().
exact_hdp_posterior <- function(group, log_p, alpha, gamma) {
  n <- length(group)
  partitions <- all_partitions(n)
  joint <- apply(partitions, 1L, function(z) {
    log_hdp_partition(table(group, z), alpha, gamma) + sum(vapply(split(seq_len(n), z), log_p, 1))
  })
  evidence <- max(joint) + log(sum(exp(joint - max(joint))))
  list(partitions = partitions, prob = exp(joint - evidence), log_joint = joint, log_evidence = evidence)
}
