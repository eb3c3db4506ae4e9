# What hmm-speed.R and hmm-sparse.R measure with: n rows in d columns of a chain of k Gaussian states.
draw <- function(n, d, k, stay = 0.98) {
  set.seed(1)
  change <- stats::runif(n) > stay
  change[1] <- TRUE
  state <- sample(k, sum(change), TRUE)[cumsum(change)]
  matrix(stats::rnorm(k * d, sd = 3), k)[state, ] + matrix(stats::rnorm(n * d), n)
}
