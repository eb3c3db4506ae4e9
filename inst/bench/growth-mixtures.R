# Growth mixtures on six planted sets, ten seeds each: how many clusters are found, with one covariance for all clusters
# and with their own.
#
#   Rscript inst/bench/growth-mixtures.R [seeds]
#
# 200 individuals with 3 to 8 visits at times in [0, 5], intercepts with a standard deviation of 1, noise .5.
# From 2026-11-26 on two cores (K as planted in so many of ten seeds; median ARI; CPU seconds of a fit, median and
# most):
#   shared = TRUE   wide 10, .94; one 10; apart 10, .88; three 10, .78; skew 10, .94; two 10, .98; .1 to .25, .44
#   shared = FALSE  wide 9, .95; one 10; apart 10, .90; three 2, .53; skew 10, .93; two 10, .98; .1, .19
# Without random effects the same sets have 7 to 16 clusters. So shared = TRUE is the default: it finds kinds that
# overlap
# ("three"), where the price of a covariance for each cluster is more than a kind brings.
suppressMessages(library(bnpvi))
seeds <- seq_len(as.integer(c(commandArgs(TRUE), 10L)[1L]))

truths <- list( # share, intercept and slope of each kind, standard deviation of slopes
  wide = list(c(1, 1, 1) / 3, c(0, 0, 3), c(0, 1.3, -.9), .15),
  three = list(c(1, 1, 1) / 3, c(0, 0, 3), c(0, .8, -.6), .15),
  one = list(1, 0, .5, .4),
  apart = list(c(.5, .5), c(0, 0), c(.2, .9), 0), skew = list(c(.9, .1), c(0, 0), c(.2, 1), 0),
  two = list(c(.5, .5), c(0, 0), c(0, 1), 0)
)

planted <- function(truth, seed, n = 200L) {
  set.seed(seed)
  kind <- sample.int(length(truth[[1L]]), n, TRUE, truth[[1L]])
  id <- rep(seq_len(n), sample(3:8, n, TRUE))
  a <- truth[[2L]][kind] + rnorm(n)
  b <- truth[[3L]][kind] + truth[[4L]] * rnorm(n)
  t <- runif(length(id), 0, 5)
  data.frame(id = factor(id), t = t, y = a[id] + b[id] * t + .5 * rnorm(length(id)), kind = kind[id])
}

for (shared in c(TRUE, FALSE)) for (set in names(truths)) {
  found <- vapply(seeds, function(seed) {
    data <- planted(truths[[set]], seed)
    seconds <- system.time(fit <- bnp_mixture(
      y ~ t, data, obs_regression(random = ~ 1 + t, shared = shared), id = ~ id, control = bnp_control(seed = seed)
    ))[["user.self"]]
    c(n_clusters(fit), adjusted_rand_index(fitted(fit), data$kind), seconds)
  }, double(3L))
  cat(sprintf(
    "shared %-5s %-6s K %s  ARI %.2f  seconds %.2f, at most %.2f\n", shared, set, paste(found[1L, ], collapse = " "),
    median(found[2L, ]), median(found[3L, ]), max(found[3L, ])
  ))
}
