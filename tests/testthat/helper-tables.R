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

# Of groups (rows) with these counts of clusters (columns): what all ways weigh in which t = 0, 1, ... tables chose by
# the top-level weights, those of cluster k with a factor (t_k - 1)!. alpha and kappa are those of the rows, kappa on
# the column `self` (NA: none).
table_totals <- function(counts, alpha, kappa = 0, self = NA) {
  groups <- nrow(counts)
  alpha <- rep_len(alpha, groups)
  kappa <- rep_len(kappa, groups)
  self <- rep_len(self, groups)
  totals <- 1
  for (j in seq_len(ncol(counts))) {
    weights <- 1
    for (g in seq_len(groups)) {
      sticky <- if (!is.na(self[g]) && self[g] == j) kappa[g] else 0
      weights <- convolve_weights(weights, table_weights(counts[g, j], alpha[g], sticky))
    }
    t <- seq_along(weights) - 1
    totals <- convolve_weights(totals, ifelse(t > 0, weights * gamma(pmax(t, 1)), 0))
  }
  totals
}

# log p(partition).
log_hdp_partition <- function(counts, alpha, gamma, kappa = 0, self = NA) {
  mass <- rep_len(alpha, nrow(counts)) + ifelse(is.na(rep_len(self, nrow(counts))), 0, kappa)
  totals <- table_totals(counts, alpha, kappa, self)
  t <- seq_along(totals) - 1
  sum(lgamma(mass) - lgamma(mass + rowSums(counts))) + ncol(counts) * log(gamma) +
    log(sum(totals * exp(lgamma(gamma) - lgamma(gamma + t))))
}

# list(partitions, prob, log_joint, log_evidence) of observations of these groups, as exact_posterior(); log_prior has
# log p(partition) from the counts of groups in clusters.
exact_hdp_posterior <- function(group, log_p, log_prior) {
  n <- length(group)
  partitions <- all_partitions(n)
  joint <- apply(partitions, 1L, function(z) log_prior(table(group, z)) + sum(vapply(split(seq_len(n), z), log_p, 1)))
  evidence <- max(joint) + log(sum(exp(joint - max(joint))))
  list(partitions = partitions, prob = exp(joint - evidence), log_joint = joint, log_evidence = evidence)
}
