# Mixtures of autoregressions: every row has its own way to follow the rows before.

# Two ways to go on, chosen anew in every row: stay near 0.9 of the last row, or jump to its opposite.
two_ways <- function(n, seed) {
  withr::with_seed(seed, {
    way <- sample(2, n, TRUE, c(0.7, 0.3))
    x <- matrix(0, n, 2, dimnames = list(NULL, c("east", "north")))
    x[1, ] <- 3
    for (t in 2:n) x[t, ] <- c(0.98, -0.95)[way[t]] * x[t - 1, ] + rnorm(2, sd = 0.3)
    list(x = x, way = way)
  })
}

test_that("the ways are found, with the first row conditioned on", {
  series <- two_ways(600, 1)
  fit <- bnp_mixture(series$x, obs_ar(), control = bnp_control(seed = 1))
  expect_equal(n_clusters(fit), 2)
  far <- sqrt(rowSums(series$x^2)) > 1.5
  clear <- which(c(FALSE, far[-600]))
  expect_gt(mean(fitted(fit)[clear] == series$way[clear]), 0.98)
  expect_equal(fitted(fit)[1], fitted(fit)[2])
  expect_equal(sum(cluster_sizes(fit)), 599)
  expect_equal(unname(diag(coef(fit)$coef[, , 1])), c(0.98, 0.98), tolerance = 0.05)
  expect_equal(unname(diag(coef(fit)$coef[, , 2])), c(-0.95, -0.95), tolerance = 0.05)
})

test_that("new series are predicted, a list of them too", {
  series <- two_ways(300, 2)
  fit <- bnp_mixture(series$x, obs_ar(lag = 2), control = bnp_control(seed = 1))
  expect_equal(predict(fit, series$x), fitted(fit))
  expect_equal(predict(fit, series$x[, 2:1]), fitted(fit))
  prob <- predict(fit, series$x, "prob")
  expect_equal(unname(rowSums(prob)), rep(1, 300))
  density <- predict(fit, series$x, "logdensity")
  expect_equal(which(is.na(density)), 1:2)
  expect_equal(heldout_loglik(fit, series$x), mean(density, na.rm = TRUE))
  halves <- list(a = series$x[1:150, ], b = series$x[151:300, ])
  expect_equal(which(is.na(predict(fit, halves, "logdensity"))), c(1, 2, 151, 152))
  expect_equal(nobs(bnp_mixture(halves, obs_ar(), control = bnp_control(seed = 1))), 300)
  expect_length(predict(fit, series$x[0, ]), 0)
  augmented <- augment(fit, halves)
  expect_identical(as.integer(augmented$.class), unname(predict(fit, halves)))
  expect_equal(unname(as.matrix(augmented[1:2])), series$x, ignore_attr = TRUE)
})

test_that("data simulated from a fit are fitted by the same ways", {
  fit <- bnp_mixture(two_ways(600, 1)$x, obs_ar(), control = bnp_control(seed = 1))
  again <- simulate(fit, seed = 3, n = 800, initial = matrix(3, 1, 2))$sim_1
  expect_equal(unlist(again[1, 1:2], use.names = FALSE), c(3, 3))
  refit <- bnp_mixture(again[1:2], obs_ar(), control = bnp_control(seed = 1))
  expect_equal(coef(refit)$coef, coef(fit)$coef, tolerance = 0.1)
  expect_bad(simulate(fit, initial = 3), "argument", "initial")
  expect_bad(plot(fit, "clusters"), "argument", "coef")
  expect_silent(plot(fit, "elbo"))
  expect_output(print(fit), "2 clusters")
  skip_if_not_installed("ggplot2")
  expect_bad(ggplot2::autoplot(fit, "clusters"), "argument", "coef")
})
