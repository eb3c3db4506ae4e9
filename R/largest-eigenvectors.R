# The k eigenvectors of a symmetric matrix (sparse or dense) with the largest eigenvalues: list(values,
# vectors), in decreasing order. absolute: take the largest in absolute value. Method: Lanczos vectors with a
# random start, all kept orthogonal, restarted from their best combinations (Wu and Simon 2000). Each step is
# one product with a vector, so that R can be interrupted between steps. Vectors that have not converged after
# `restarts` restarts belong to eigenvalues so close that, as a start of a fit, any vector of their common
# space is as good.
largest_eigenvectors <- function(x, k, absolute = FALSE, restarts = 30L, tolerance = 1e-8) {
  n <- nrow(x)
  most <- lanczos_vectors(n, k)
  basis <- matrix(0, n, most)
  inside <- matrix(0, most, most) # t(basis) %*% x %*% basis
  after <- beside(stats::rnorm(n), basis[, 0L, drop = FALSE])$rest
  kept <- 0L
  for (restart in seq_len(restarts)) {
    for (j in (kept + 1L):most) {
      basis[, j] <- after / sqrt(sum(after^2))
      now <- basis[, seq_len(j), drop = FALSE]
      image <- as.vector(x %*% basis[, j])
      split <- beside(image, now)
      inside[seq_len(j), j] <- inside[j, seq_len(j)] <- split$along
      after <- split$rest
      size <- sqrt(sum(after^2))
      # The vectors so far span a space that x maps into itself: continue with a random vector outside this
      # space.
      if (size <= 1e-12 * sqrt(sum(image^2)) && j < n) {
        size <- 0
        after <- beside(stats::rnorm(n), now)$rest
      }
    }
    ritz <- eigen(inside, symmetric = TRUE)
    order <- order(if (absolute) abs(ritz$values) else ritz$values, decreasing = TRUE)
    off <- size * abs(ritz$vectors[most, order[seq_len(k)]])
    if (most == n || all(off <= tolerance * max(abs(ritz$values)))) break
    kept <- min(k + (most - k) %/% 3L, most - 1L)
    basis[, seq_len(kept)] <- basis %*% ritz$vectors[, order[seq_len(kept)]]
    inside[] <- 0
    diag(inside)[seq_len(kept)] <- ritz$values[order[seq_len(kept)]]
  }
  best <- order[seq_len(k)]
  list(values = ritz$values[best], vectors = basis %*% ritz$vectors[, best, drop = FALSE])
}

# The number of Lanczos vectors that are kept. With more vectors fewer products are needed, but each step
# takes longer.
lanczos_vectors <- function(n, k) min(n, 2L * k + 40L)

# Splits a vector v: list(along, rest) has its coefficients in an orthonormal basis, and the remainder. Done
# twice, which makes the remainder orthogonal to the basis up to rounding.
beside <- function(v, basis) {
  first <- crossprod(basis, v)
  v <- v - basis %*% first
  second <- crossprod(basis, v)
  list(along = as.vector(first + second), rest = as.vector(v - basis %*% second))
}
