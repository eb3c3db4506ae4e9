# The top level of a hierarchical Dirichlet process in plain R, with digits for any sticks.

# psi(x) - psi(x + d)
digamma_fall <- function(x, d) {
  far <- pmax(x, 1000)
  series <- -log1p(d / far) - d / far / (2 * (far + d)) + expm1(-2 * log1p(d / far)) / (12 * far^2)
  ifelse(x < 1000, digamma(x) - digamma(x + d), series)
}

# Terms that add up to L_top, for groups that count log u c1 times and log(1 - u) c0 times.
stick_terms <- function(u, omega, c1, c0, gamma) {
  a <- u * omega
  b <- (1 - u) * omega
  cbind(lbeta(a, b), log(gamma), (c1 - a) * digamma_fall(a, b), (c0 - b) * digamma_fall(b, a))
}

stick_weights <- function(u) c(u, 1) * cumprod(c(1, 1 - u))

# Of the weights of the clusters and, last, of the remainder; variances from Var u / E(u)^2, where E u^2 - E(u)^2 has no
# digits.
stick_moments <- function(u, omega) {
  a <- u * omega
  b <- (1 - u) * omega
  mean <- stick_weights(u)
  spread <- c(log1p((1 - u) / u / (omega + 1)), 0) + cumsum(c(0, log1p(u / (1 - u) / (omega + 1))))
  log <- c(digamma_fall(a, b), 0) + cumsum(c(0, digamma_fall(b, a)))
  list(mean = mean, variance = mean^2 * expm1(spread), log = log)
}

# Terms of the normalisers of n plain rows, or of a sticky row of each cluster where kappa > 0, as DirichletRows adds
# them.
row_terms <- function(u, omega, n, alpha, kappa, bound = "tight") {
  m <- stick_moments(u, omega)
  k <- length(u)
  own <- m$mean[seq_len(k)]
  if (bound == "loose") {
    return(if (kappa == 0) 0 else -(1 - own) * (log(alpha + kappa) - log(kappa)))
  }
  g <- pmin(m$mean * lgamma(1 + alpha), lgamma(1 + alpha * m$mean) + pi^2 / 12 * alpha^2 * m$variance)
  if (kappa == 0) {
    return(n * c(lgamma(1 + alpha), -g))
  }
  variance <- m$variance[seq_len(k)]
  h <- pmin(
    (1 - own) * lgamma(kappa) + own * lgamma(kappa + alpha),
    lgamma(kappa + alpha * own) + trigamma(kappa) / 2 * alpha^2 * variance,
    lgamma(1 + kappa + alpha * own) + trigamma(1 + kappa) / 2 * alpha^2 * variance -
      log(kappa + alpha * exp(m$log[seq_len(k)]))
  )
  c(rep(lgamma(alpha + kappa), k), -h, -(k - 1) * g[seq_len(k)], -k * g[k + 1])
}

expect_same_sum <- function(found, terms, tolerance = 1e-8) {
  expect_lt(abs(found - sum(terms)) / sum(abs(terms)), tolerance)
}
