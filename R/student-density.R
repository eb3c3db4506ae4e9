# Densities of t distributions (clusters with heavy tails), for divergences and overlaps of clusters.

# The divergence of two clusters of t distributions. It is an average over points of equal probability of one
# of them, since the integrals over several columns have no closed form.

obs_divergence.obs_student <- function(obs, a, b) {
  if (!all(is.finite(c(a$cov, b$cov)))) {
    return(NA_real_)
  }
  x <- points_of_student(a)
  mean(log_density_of_student(x, a) - log_density_of_student(x, b))
}

obs_overlap.obs_student <- function(obs, a, b) {
  if (!all(is.finite(c(a$cov, b$cov)))) {
    return(NA_real_)
  }
  root <- function(a, b) {
    x <- points_of_student(a)
    mean(exp((log_density_of_student(x, b) - log_density_of_student(x, a)) / 2))
  }
  (root(a, b) + root(b, a)) / 2
}

points_of_student <- function(a, n = 8192L) {
  d <- length(a$mean)
  u <- stats::qgamma(spread_points(n, d + 1L), a$tails / 2, a$tails / 2)
  z <- stats::qnorm(vapply(seq_len(d), function(j) spread_points(n, j), double(n)))
  rep(a$mean, each = n) + (z %*% chol(as.matrix(a$cov))) / sqrt(u)
}

# The j-th coordinate of n points that fill the unit cube evenly: fractional parts of multiples of the square
# root of the j-th prime.
spread_points <- function(n, j) (seq_len(n) * sqrt(primes_to(j)) + 0.5 / n) %% 1

primes_to <- function(j) {
  found <- 2L
  candidate <- 3L
  while (length(found) < j) {
    if (all(candidate %% found[found <= sqrt(candidate)] > 0)) found <- c(found, candidate)
    candidate <- candidate + 2L
  }
  found[j]
}

log_density_of_student <- function(x, a) {
  d <- ncol(x)
  root <- chol(as.matrix(a$cov))
  square <- colSums(backsolve(root, t(x) - a$mean, transpose = TRUE)^2)
  lgamma((a$tails + d) / 2) - lgamma(a$tails / 2) - d / 2 * log(a$tails * pi) - sum(log(diag(root))) -
    (a$tails + d) / 2 * log1p(square / a$tails)
}
