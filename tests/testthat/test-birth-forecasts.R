# Forecasts that end tries of births (src/mixtures/restricted_fit_forecasts.cpp) and of deletes in mixtures.

traced_mixture <- function(x, spared = FALSE, seed = 1) {
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, nrow(x)))
  n <- case$data$n
  control <- bnp_control(seed = seed, k_init = 1, verbose = FALSE)
  control <- resolve_control(control, case$model$obs, case$model$prior, n, n, NULL)
  control$proposals <- TRUE
  control$spared <- spared
  engine_fit(case$data, list(obs = case$model$obs, prior = case$model$prior), control, NULL, NULL)
}
planted_rows <- function(n, d, k, spread, seed) {
  withr::with_seed(seed, matrix(rnorm(k * d, sd = spread), k)[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n))
}

long_test("births that forecasts end would have gained next to nothing", {
  skip_without_testing_entries()
  sets <- list(c(2, 15, 4), c(2, 20, 6), c(5, 15, 2.2), c(16, 12, 1.2), c(24, 6, 1))
  tried <- some_of(seq_len(10), by = 2)
  ended <- lapply(tried, function(i) {
    set <- sets[[(i + 1) %/% 2]]
    trials <- traced_mixture(planted_rows(2000, set[1], set[2], set[3], i), spared = TRUE, seed = i)$proposals
    trials$gain[trials$kind == "forecast of a birth"]
  })
  expect_gt(length(unlist(ended)), length(tried))
  expect_lte(median(vapply(ended, function(gain) sum(pmax(gain, 0), na.rm = TRUE), 1)), 1)
})

long_test("births that are tried although a forecast ended them change nothing", {
  skip_without_testing_entries()
  x <- planted_rows(2000, 16, 12, 1.2, 1)
  asked <- traced_mixture(x, spared = TRUE)
  expect_true(any(asked$proposals$kind == "forecast of a birth"))
  expect_equal(tail(asked$trace$elbo, 1), tail(traced_mixture(x)$trace$elbo, 1), tolerance = 1e-12)
})

test_that("clusters that are plainly needed are all dismissed as deletes in one lap", {
  skip_without_testing_entries()
  fit <- traced_mixture(planted_rows(3000, 2, 25, 60, 2))
  expect_gte(tail(fit$trace$k, 1), 20)
  expect_gt(max(fit$trace$deletes_tried), 12) # more than are proposed in a lap (max_deletes)
  expect_lte(sum(fit$trace$deletes_tried > 0), 3)
})

long_test("clusters of one mean that differ in their covariances are found", {
  skip_without_testing_entries()
  for (seed in 1:3) {
    x <- withr::with_seed(seed, matrix(rnorm(1500 * 30), 1500))
    scale <- rep(c(1.4, 1 / 1.4), 15)
    x[c(TRUE, FALSE), ] <- x[c(TRUE, FALSE), ] %*% diag(scale)
    x[c(FALSE, TRUE), ] <- x[c(FALSE, TRUE), ] %*% diag(1 / scale)
    expect_equal(tail(traced_mixture(x, seed = seed)$trace$k, 1), 2)
  }
})

test_that("no delete is made from a sample of rows", {
  skip_without_testing_entries()
  x <- matrix(withr::with_seed(1, rnorm(20000)) + rep(c(0, 1e5), each = 10000))
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, 20000))
  moves <- bnp_moves(birth = FALSE, merge = FALSE, max_deletes = 1)
  fit <- engine_run(case, seed = 1, k_init = 7, init = "random", moves = moves, audit = TRUE)
  expect_audited(fit)
  expect_equal(tail(fit$trace$k, 1), 2)
  expect_lte(max(fit$trace$deletes), 1)
})
