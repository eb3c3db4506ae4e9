# Individuals of K kinds with 3 to 8 visits at random times: intercepts with a standard deviation of 1, slopes around
# those of their kind, noise .5 (inst/bench/regressions.R).
growth_data <- function(kind, seed, n = 200L) {
  withr::local_seed(seed)
  truth <- switch(kind,
    wide = list(share = c(1, 1, 1) / 3, intercept = c(0, 0, 3), slope = c(0, 1.3, -.9), sd = .15),
    three = list(share = c(1, 1, 1) / 3, intercept = c(0, 0, 3), slope = c(0, .8, -.6), sd = .15),
    one = list(share = 1, intercept = 0, slope = .5, sd = .4),
    apart = list(share = c(1, 1) / 2, intercept = c(0, 0), slope = c(.2, .9), sd = 0),
    level = list(share = 1, intercept = 0, slope = .5, sd = 0)
  )
  kind <- sample.int(length(truth$share), n, TRUE, truth$share)
  id <- rep(seq_len(n), sample(3:8, n, TRUE))
  a <- truth$intercept[kind] + stats::rnorm(n)
  b <- truth$slope[kind] + truth$sd * stats::rnorm(n)
  t <- stats::runif(length(id), 0, 5)
  data.frame(id = factor(id), t = t, y = a[id] + b[id] * t + .5 * stats::rnorm(length(id)), kind = kind[id])
}

growth_fit <- function(data = growth_data("wide", 1), formula = y ~ t + (1 + t | id), ..., seed = 1) {
  bnp_mixture(formula, data, ..., control = bnp_control(seed = seed, threads = 1L))
}
