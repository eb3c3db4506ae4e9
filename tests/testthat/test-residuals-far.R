# Pseudo-residuals of values so far out that the probability of a smaller one is 0 or 1 in double precision.

fit_to <- function(x, obs) suppressWarnings(bnp_hmm(x, obs = obs, control = bnp_control(
  seed = 1, max_laps = 3, verbose = FALSE
)))

test_that("pseudo-residuals are numbers, and a message counts those that are the last ones", {
  x <- withr::with_seed(8, matrix(rnorm(42) + 4 * rep(0:1, each = 7), 14, dimnames = list(NULL, c("a", "b", "c"))))
  makers <- list(
    obs_gaussian(), obs_gaussian("diagonal"), obs_gaussian("spherical"), obs_gaussian("tied"),
    obs_gaussian("zero_mean"), obs_ar(), obs_gamma(1), obs_gamma(), obs_regression(), obs_lds()
  )
  for (i in some_of(seq_along(makers), by = 2)) {
    obs <- makers[[i]]
    positive <- obs_can(obs, "supports") && !obs_supports(obs, -1)
    y <- if (positive) exp(x) else x
    fit <- fit_to(y, obs)
    expect_silent(usual <- residuals(fit, y))
    all_far <- list(y * 1e100, y * 1e10, if (!positive) -y * 1e50, y * 10^rep(c(-150, 0, 150), each = 14))
    for (far in some_of(all_far, by = 2, from = i %/% 2 %% 2 + 1)) {
      if (is.null(far)) next
      found <- suppressMessages(residuals(fit, far))
      expect_identical(dim(found), dim(usual))
      expect_false(any(is.infinite(found) | is.nan(found)), label = obs$family)
      expect_lte(max(found, na.rm = TRUE), 8.3)
      expect_gte(min(found, na.rm = TRUE), -38.5)
    }
  }
  system <- fit_to(x, obs_lds())
  with_last <- function(row) suppressMessages(residuals(system, rbind(x, row)))
  expect_equal(with_last(c(1e50, -1e50, 0))[15, 1:2], c(a = stats::qnorm(1 - 2^-53), b = stats::qnorm(2^-1074)))
  expect_equal(with_last(rep(-1e50, 3))[1:14, ], residuals(system, x), ignore_attr = TRUE) # earlier rows as they were
  expect_message(residuals(system, rbind(x, 1e50)), "3 pseudo-residuals are ", class = "bnpvi_message_residuals")
  expect_message(residuals(system, rbind(x, c(x[14, 1:2], 1e50))), "1 pseudo-residual is ")
  expect_silent(residuals(system, rbind(x, NA)))
})
