# Rows so far out that their squares overflow: probabilities are those of the limit, densities go on as they should.

far_models <- function() {
  control <- bnp_control(seed = 1, max_laps = 20)
  x <- withr::with_seed(2, rbind(matrix(rnorm(200), 100), matrix(rnorm(200, sd = 0.2), 100) + 6))
  list(
    full = bnp_mixture(x, control = control), diagonal = bnp_mixture(x, obs_gaussian("diagonal"), control = control),
    zero = bnp_mixture(x, obs_gaussian("zero_mean"), control = bnp_control(seed = 1, k_init = 2, moves = FALSE)),
    hmm = bnp_hmm(x, control = control), rows = bnp_topics(x, obs_gaussian(), id = rep(1:20, 10), control = control)
  )
}

test_that("far out, probabilities are the limit and sum to 1", {
  direction <- rbind(c(1, -1), c(0.3, 1), c(-1, 0))
  for (fit in far_models()) {
    ask <- function(size) {
      x <- direction * size
      if (inherits(fit, "bnp_topics")) predict(fit, x, id = 1:3) else predict(fit, x, type = "prob")
    }
    limit <- ask(1e60)
    expect_equal(unname(rowSums(limit)), rep(1, 3))
    for (size in c(1e140, 1e155, 1e200, 1e270)) expect_equal(ask(size), limit, tolerance = 1e-12)
  }
})

test_that("log densities fall by the same for each power of ten, as those of Student's t", {
  models <- far_models()
  for (fit in models[c("full", "diagonal", "zero", "hmm")]) {
    at <- function(power) predict(fit, t(c(1, -0.5) * 10^power), type = "logdensity")
    density <- vapply(c(120, 140, 160, 200, 240), at, 1)
    slope <- diff(density) / c(20, 20, 40, 40)
    expect_equal(slope, rep(slope[1], 4), tolerance = 1e-10)
    expect_lt(slope[1], -2)
  }
  # A column far out and one among the data.
  fit <- models$diagonal
  near <- function(y) predict(fit, cbind(10^c(120, 200), y), type = "logdensity")
  expect_equal(diff(near(0)), diff(near(3)), tolerance = 1e-12)
  expect_gt(near(0)[2], near(40)[2])
})

test_that("a series is read around a value far out", {
  path <- c(rep(1, 30), rep(8, 30))
  x <- withr::with_seed(1, rnorm(120, path))
  fit <- bnp_hmm(x, control = bnp_control(seed = 1))
  far <- replace(x, 45, 1e200)
  expect_equal(predict(fit, far)[-45], predict(fit, x)[-45])
  expect_true(all(is.finite(predict(fit, far, type = "logdensity"))))
  expect_true(all(is.finite(predict(fit, far, type = "prob"))))
  ar <- bnp_hmm(x, obs = obs_ar(), control = bnp_control(seed = 1))
  expect_true(all(is.finite(predict(ar, far, type = "logdensity")[-1])))
  expect_equal(unname(rowSums(predict(ar, far, type = "prob"))), rep(1, 120))
})

test_that("what is too far to be asked about is refused", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_bad(predict(fit, rbind(faithful[1:2, ], c(1e300, 1))), "range", "row 3")
  chain <- bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 3))
  expect_bad(predict(chain, faithful * 1e299), "range", "row 1")
  expect_bad(prior_dp(5e-324), "range")
})
