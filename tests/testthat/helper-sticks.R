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

expect_same_sum <- function(found, terms, tolerance = 1e-8) {
  expect_lt(abs(found - sum(terms)) / sum(abs(terms)), tolerance)
}
