# Exact posteriors over partitions of a few rows, by enumeration in plain R.

# All partitions of n rows, one a row of the matrix, labels by first appearance.
all_partitions <- function(n) {
  out <- matrix(1L, 1L, 1L)
  for (i in seq_len(n - 1L)) {
    k <- apply(out, 1L, max)
    out <- do.call(rbind, lapply(seq_len(max(k) + 1L), function(j) {
      cbind(out[k + 1L >= j, , drop = FALSE], j, deparse.level = 0L)
    }))
  }
  out
}

# log p(partition) of the two-parameter family; at most k clusters of a finite prior: discount -concentration / k.
log_partition_prior <- function(sizes, concentration, discount) {
  k <- length(sizes)
  more <- if (k > 1) sum(log(pmax(0, concentration + seq_len(k - 1) * discount))) else 0
  more - sum(log(concentration + seq_len(sum(sizes) - 1))) + sum(lgamma(sizes - discount) - lgamma(1 - discount))
}

# list(partitions, prob, log_evidence) from log_p(rows), the log evidence of one cluster with these rows.
exact_posterior <- function(n, log_p, concentration = 1, discount = 0) {
  partitions <- all_partitions(n)
  sets <- new.env()
  of_set <- function(rows) {
    key <- paste(rows, collapse = " ")
    if (is.null(sets[[key]])) sets[[key]] <- log_p(rows)
    sets[[key]]
  }
  joint <- apply(partitions, 1L, function(z) {
    log_partition_prior(tabulate(z), concentration, discount) + sum(vapply(split(seq_len(n), z), of_set, 1))
  })
  evidence <- max(joint) + log(sum(exp(joint - max(joint))))
  list(partitions = partitions, prob = exp(joint - evidence), log_joint = joint, log_evidence = evidence)
}

log_multigamma <- function(d, x) d * (d - 1) / 4 * log(pi) + sum(lgamma(x - (seq_len(d) - 1) / 2))

# One Gaussian cluster under mean 0, the given strength and df, scale I.
gaussian_evidence <- function(x, strength, df, scale = diag(ncol(x))) {
  n <- nrow(x)
  d <- ncol(x)
  centre <- colMeans(x)
  after <- scale + crossprod(sweep(x, 2, centre)) + strength * n / (strength + n) * tcrossprod(centre)
  log_det <- function(a) as.numeric(determinant(a)$modulus)
  -n * d / 2 * log(pi) + log_multigamma(d, (df + n) / 2) - log_multigamma(d, df / 2) +
    df / 2 * log_det(scale) - (df + n) / 2 * log_det(after) + d / 2 * log(strength / (strength + n))
}

# Are shares of draws what they should be? z scores by batch means.
batch_z <- function(x, expected, batches = 50L) {
  use <- length(x) %/% batches * batches
  means <- colMeans(matrix(x[seq_len(use)], ncol = batches))
  (mean(means) - expected) / (stats::sd(means) / sqrt(batches))
}

# Do independent draws have the number of clusters (first row) and the size of the largest one (second row) of an
# exact posterior?
expect_exact_sizes <- function(drawn, exact, label) {
  of <- function(f) apply(exact$partitions, 1L, f)
  sizes <- list(clusters = of(max), largest = of(function(z) max(tabulate(z))))
  for (which in 1:2) {
    for (value in seq_len(ncol(exact$partitions))) {
      p <- sum(exact$prob[sizes[[which]] == value])
      if (p < 1e-3) next
      z <- (mean(drawn[which, ] == value) - p) / sqrt(p * (1 - p) / ncol(drawn))
      expect_lt(abs(z), 4, label = paste(label, names(sizes)[which], value))
    }
  }
}
