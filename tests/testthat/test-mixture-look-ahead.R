# Splits of clusters and forecasts of deletes that are made at the same time on several threads
# (src/mixtures/birth.cpp, src/mixtures/delete.cpp).

# All that must not depend on threads: the fit, what every lap tried and accepted, and the work of every start.
seen_in <- function(fit) list(fit$state, fit$elbo, fit$labels, fit$trace[names(fit$trace) != "seconds"], fit$restarts)

planted <- function(n, d, k, spread, seed) {
  withr::with_seed(seed, matrix(rnorm(k * d, sd = spread), k)[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n))
}

fit_with <- function(threads, x, obs = obs_gaussian(learn = FALSE), prior = prior_dp(), restarts = 1, ...) {
  control <- bnp_control(seed = 1, restarts = restarts, threads = threads, verbose = FALSE, ...)
  suppressWarnings(bnp_mixture(x, obs, prior = prior, control = control))
}

expect_same_on_threads <- function(threads, ...) {
  one <- fit_with(1, ...)
  for (several in threads) expect_identical(seen_in(fit_with(several, ...)), seen_in(one), info = several)
  one
}

test_that("several births and deletes of a lap are the same on any number of threads", {
  x <- planted(1500, 4, 25, 5, 2)
  fit <- expect_same_on_threads(c(2, 4, 8), x)
  expect_gt(max(fit$trace$births), 1)
  expect_gt(max(fit$trace$births_tried), 16) # more than are found at the same time
  expect_true(any(fit$trace$deletes > 0 & fit$trace$deletes < fit$trace$deletes_tried))
  learned <- expect_same_on_threads(2, x, obs = obs_gaussian(), batches = 3, restarts = 2, max_laps = 6)
  expect_identical(nrow(learned$restarts), 2L)
  expect_same_on_threads(2, x, moves = bnp_moves(adopt = TRUE), max_laps = 6)
})

test_that("deletes accepted among others that fail are the same on any number of threads", {
  moves <- bnp_moves(birth = FALSE, merge = FALSE)
  fit <- expect_same_on_threads(c(2, 8), planted(500, 2, 8, 20, 3), k_init = 20, moves = moves)
  expect_gt(max(fit$trace$deletes), 2)
  expect_true(any(fit$trace$deletes > 0 & fit$trace$deletes < fit$trace$deletes_tried))
})

test_that("rows in files have the same births on any number of threads", {
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(planted(400, 2, 12, 20, 3), path, row.names = FALSE)
  fit <- expect_same_on_threads(c(2, 4), source_files(path, rows = 150))
  expect_gt(max(fit$trace$births), 1)
})
