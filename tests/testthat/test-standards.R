# What conventions.md promises and no other test shows.

long_test("more data give closer estimates", {
  centres <- c(-4, 4)
  error <- vapply(c(50, 5000), function(n) {
    mean(vapply(1:5, function(seed) {
      x <- withr::with_seed(seed, rnorm(n, rep(centres, length.out = n)))
      fit <- bnp_mixture(x, control = bnp_control(seed = seed))
      expect_equal(n_clusters(fit), 2)
      max(abs(sort(coef(fit)$mean[1:2, 1]) - centres))
    }, 1))
  }, 1)
  expect_lt(error[2], error[1] / 4)
})

test_that("noise of rounding changes no label", {
  x <- as.matrix(faithful)
  noisy <- x * (1 + withr::with_seed(1, runif(length(x), -1, 1)) * .Machine$double.eps)
  expect_false(identical(noisy, x))
  fit <- bnp_mixture(x, control = bnp_control(seed = 1))
  expect_identical(fitted(bnp_mixture(noisy, control = bnp_control(seed = 1))), fitted(fit))
})

long_test("a smaller tol takes more laps, and ends no lower", {
  fits <- lapply(c(1e-2, 1e-4, 1e-8), function(tol) {
    bnp_mixture(asterisk[, 1:2], control = bnp_control(seed = 1, k_init = 20, moves = FALSE, tol = tol, max_laps = 500))
  })
  expect_false(is.unsorted(vapply(fits, function(fit) as.double(fit$laps), 1), strictly = TRUE))
  expect_false(is.unsorted(vapply(fits, elbo, 1)))
})

test_that("a fit stopped by tol is the one of more laps", {
  stopped <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_true(stopped$converged)
  longer <- bnp_mixture(faithful, control = bnp_control(seed = 1, tol = 0, max_laps = 3 * stopped$laps))
  expect_identical(fitted(longer), fitted(stopped))
  expect_equal(elbo(longer), elbo(stopped), tolerance = 1e-6)
})

test_that("each kind of warning can be silenced by itself", {
  with_lap_warnings({
    fit <- function() bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 1))
    expect_warning(fit(), class = "bnpvi_warning")
    expect_no_warning(suppressWarnings(fit(), classes = "bnpvi_warning_max_laps"))
  })
})

long_test("predict() does not fit again", {
  x <- withr::with_seed(1, matrix(rnorm(2e4), ncol = 4) + rep(c(0, 9), each = 1e4))
  fitting <- system.time(fit <- bnp_mixture(x, control = bnp_control(seed = 1, k_init = 20)))
  predicting <- system.time(predict(fit, x))
  expect_lt(predicting[["user.self"]], fitting[["user.self"]])
})
