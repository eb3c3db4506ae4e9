# Weights that depend on covariates, as a tilt of weights that do not: the bound on the evidence of given counts.

x3 <- matrix(c(-1, 0, 1))
n3 <- rbind(c(40, 5, 5), c(30, 20, 0), c(10, 50, 0))

test_that("the bound of given counts is the one that was derived", {
  expect_equal(best_tilt(tilted_prior(x3), n3)$value, -107.45850, tolerance = 1e-7)
  expect_equal(best_tilt(tilted_prior(x3), matrix(10, 3, 1))$value, -4.941214, tolerance = 1e-6)
  u <- matrix(best_tilt(tilted_prior(x3), n3)$u, 3, byrow = TRUE)
  expect_equal(u[, 3], c(-0.3467, 1.4385, -1.2165), tolerance = 3e-4)
})

test_that("the bound is that of plain R at the parameters that it is reached at, and a maximum there", {
  withr::local_seed(2)
  x <- cbind(rnorm(7), rep(0:1, length.out = 7))
  n <- matrix(rpois(28, 20) * rexp(28), 7)
  prior <- tilted_prior(x, concentration = 2, effect_scale = 0.7)
  best <- best_tilt(prior, n)
  rows <- matrix(best$u, 4, byrow = TRUE)
  expect_equal(tilt_bound_twin(n, x, rows, 2, 0.49), best$value, tolerance = 1e-12)
  near <- replicate(200, tilt_bound_twin(n, x, rows * (1 + 1e-3 * rnorm(length(rows))), 2, 0.49))
  expect_lte(max(near), best$value + 1e-9)
  expect_lt(min(near), best$value - 1e-6)
})

test_that("a pattern far from all others costs no digits, though its terms are beyond e^708 times theirs", {
  n <- rbind(c(40, 5, 5), c(30, 20, 0), c(10, 50, 0), c(0, 3000, 1))
  best <- best_tilt(tilted_prior(matrix(c(-1, 0, 1, 1000)), effect_scale = 3), n)
  rows <- matrix(best$u, 3, byrow = TRUE)
  expect_gt(diff(range(1000 * rows[, 3])), 708)
  expect_equal(tilt_bound_twin(n, matrix(c(-1, 0, 1, 1000)), rows, 1, 9), best$value, tolerance = 1e-10)
})

test_that("covariates that are all 0, or none, are the Dirichlet process and the finite mixture", {
  n <- rbind(c(300, 150, 10), c(200, 150, 190))
  plain <- function(prior) engine_mixture_weights(prior, colSums(n), colSums(n))
  for (x in list(matrix(0, 2, 1), matrix(0, 2, 3), matrix(0, 2, 0))) {
    dp <- plain(list(family = "dp", concentration = 1.5))
    tilted <- best_tilt(tilted_prior(x, 1.5), n)
    expect_equal(tilted$value, dp$value, tolerance = 1e-12)
    expect_equal(tilted$weights, dp$weights, tolerance = 1e-12)
    finite <- plain(list(family = "dirichlet", concentration = 1.5, k = 3))
    tilted <- best_tilt(tilted_prior(x, 1.5, k = 3), n)
    expect_equal(tilted$value, finite$value, tolerance = 1e-12)
    expect_equal(tilted$weights, finite$weights, tolerance = 1e-12)
  }
})

test_that("with weights by covariates the bound is below the evidence", {
  # K = 2, one covariate: integrals over the stick and two effects.
  n <- rbind(c(3, 1), c(1, 2))
  x <- matrix(c(-1, 1))
  at <- seq(-6, 6, length.out = 61)
  effects <- expand.grid(a = at, b = at)
  prior <- dnorm(effects$a) * dnorm(effects$b) * (at[2] - at[1])^2
  u <- (seq_len(30) - 0.5) / 30
  inner <- vapply(u, function(u1) mean(vapply(u, function(u2) {
    pi <- c(u1, (1 - u1) * u2)
    rest <- (1 - u1) * (1 - u2)
    like <- 1
    for (c in 1:2) {
      w <- cbind(pi[1] * exp(x[c] * effects$a), pi[2] * exp(x[c] * effects$b))
      z <- w[, 1] + w[, 2] + rest
      like <- like * (w[, 1] / z)^n[c, 1] * (w[, 2] / z)^n[c, 2]
    }
    sum(like * prior)
  }, 0)), 0)
  evidence <- log(mean(inner))
  value <- best_tilt(tilted_prior(x), n)$value
  expect_lt(value, evidence)
  expect_gt(value, evidence - 2)
})

test_that("units, order of columns and patterns written twice change nothing", {
  withr::local_seed(3)
  x <- matrix(rnorm(10), 5)
  n <- matrix(rpois(15, 30), 5)
  value <- function(x, n, ...) best_tilt(tilted_prior(x, ...), n)$value
  best <- value(x, n)
  expect_equal(value(x[, 2:1], n), best, tolerance = 1e-10)
  expect_equal(value(x[5:1, ], n[5:1, ]), best, tolerance = 1e-10)
  expect_equal(value(2 * x, n, effect_scale = 0.5), best, tolerance = 1e-10)
  expect_equal(value(-x, n), best, tolerance = 1e-10)
  expect_equal(value(rbind(x, x[1, ]), rbind(n - c(10, 0, 0, 0, 0), c(10, 10, 10))), best, tolerance = 1e-10)
})

test_that("log weights and shares are those of the parameters", {
  best <- best_tilt(tilted_prior(x3), n3)
  u <- matrix(best$u, 3, byrow = TRUE)
  table <- matrix(best$log_weights, 3, byrow = TRUE)
  e_log <- digamma(u[, 1]) - digamma(rowSums(u[, 1:2])) +
    c(0, cumsum(digamma(u[, 2]) - digamma(rowSums(u[, 1:2]))))[1:3]
  expect_equal(table[, 1], e_log, tolerance = 1e-12)
  expect_equal(table[, -1], u[, 3] %o% x3[, 1], tolerance = 1e-12)
  expect_equal(sum(best$weights), 1, tolerance = 1e-12)
})

test_that("a finite model of one cluster has no weights to learn", {
  best <- best_tilt(tilted_prior(x3, k = 1), matrix(c(4, 5, 6)))
  expect_equal(best$weights, c(1, 0), tolerance = 1e-12)
  expect_lte(best$value, 1e-12)
})

test_that("effects that no count speaks of have their prior", {
  n <- cbind(c(40, 30, 10, 0), c(5, 20, 50, 0), c(5, 0, 0, 0))
  x <- cbind(c(-1, 0, 1, 0), c(0, 0, 0, 1)) # the second covariate is 0 but in a pattern without rows
  one <- best_tilt(tilted_prior(x[, 1, drop = FALSE], effect_scale = 0.7), n)
  both <- best_tilt(tilted_prior(x, effect_scale = 0.7), n)
  expect_equal(both$value, one$value, tolerance = 1e-9)
  rows <- matrix(both$u, ncol = 7, byrow = TRUE) # two of the stick, two means, three of the precision
  expect_equal(rows[, 4], rep(0, 3), tolerance = 1e-6)
  expect_equal(rows[, 6], rep(0, 3), tolerance = 1e-6)
  expect_equal(rows[, 7], rep(1 / 0.49, 3), tolerance = 1e-6)
  expect_equal(both$weights, one$weights, tolerance = 1e-6)
})
