# Data that break naive implementations: the prior carries them, and no number
# of a fit is NaN.

expect_sane <- function(fit, x) {
  numbers <- unlist(c(fit$state, elbo(fit), elbo(fit, terms = TRUE), cluster_sizes(fit), posterior_params(fit)))
  expect_true(all(is.finite(numbers)))
  expect_true(all(is.finite(predict(fit, x, "prob"))))
  expect_true(all(is.finite(predict(fit, x, "logdensity"))))
  expect_false(anyNA(fitted(fit)))
}

fit_all <- function(x, ...) {
  lapply(list(obs_gaussian(), obs_gaussian("diagonal"), obs_gaussian("zero_mean")), function(obs) {
    fit <- bnp_mixture(x, obs, control = bnp_control(seed = 1, ...))
    expect_sane(fit, x)
    fit
  })
}

set.seed(1)
two <- rbind(matrix(rnorm(80), 40), matrix(rnorm(80, 12), 40))
truth <- rep(1:2, each = 40)

test_that("one row gives one cluster", {
  for (fit in fit_all(matrix(c(3, 1, 2), 1))) expect_equal(n_clusters(fit), 1)
})

test_that("constant data give one cluster", {
  fits <- fit_all(matrix(c(5, -2), 20, 2, byrow = TRUE))
  expect_equal(n_clusters(fits[[1]]), 1)
})

test_that("constant, duplicated and collinear columns fit", {
  for (more in list(7, two[, 1], two %*% c(1, -2), two)) {
    fits <- fit_all(cbind(two, more))
    expect_equal(adjusted_rand_index(fitted(fits[[1]]), truth), 1)
  }
  fit_all(cbind(two, 7, two[, 1], two %*% c(1, -2)))
})

test_that("more columns than rows fit", {
  fit_all(matrix(rnorm(60), 5))
})

test_that("duplicated rows and a far outlier fit", {
  withCallingHandlers(
    fit_all(two[rep(1:4, 25), ]),
    bnpvi_warning_ties = function(w) invokeRestart("muffleWarning")
  )
  fits <- fit_all(rbind(two, c(1e6, -1e6)))
  expect_equal(sum(cluster_sizes(fits[[1]])), 81, tolerance = 1e-8)
})

test_that("an offset of 1e8 changes nothing", {
  plain <- bnp_mixture(two, control = bnp_control(seed = 1))
  far <- bnp_mixture(two + 1e8, control = bnp_control(seed = 1))
  expect_equal(fitted(far), fitted(plain))
  expect_equal(n_clusters(plain), 2)
  expect_equal(elbo(far), elbo(plain), tolerance = 1e-6)
  expect_equal(coef(far)$mean - 1e8, coef(plain)$mean, tolerance = 1e-6)
})

test_that("scales of 1e-150 and 1e150 change nothing but units", {
  plain <- bnp_mixture(two, control = bnp_control(seed = 1))
  for (scale in c(2^-498, 2^498)) {
    fit <- bnp_mixture(two * scale, control = bnp_control(seed = 1))
    expect_sane(fit, two * scale)
    expect_equal(fitted(fit), fitted(plain))
    expect_equal(elbo(fit), elbo(plain) - length(two) * log(scale), tolerance = 1e-9)
    expect_equal(coef(fit)$mean / scale, coef(plain)$mean)
    expect_equal(coef(fit)$cov / scale / scale, coef(plain)$cov)
  }
})

test_that("columns of very different scales fit", {
  x <- two * rep(c(1e-100, 1e100), each = 80)
  fit <- bnp_mixture(x, control = bnp_control(seed = 1))
  expect_sane(fit, x)
  expect_equal(adjusted_rand_index(fitted(fit), truth), 1)
})

test_that("as many starting clusters as observations, and more than there are in a finite prior", {
  fit_all(two, k_init = 80, moves = FALSE)
  fit <- bnp_mixture(two[1:3, ], prior = prior_dirichlet(5), control = bnp_control(seed = 1))
  expect_sane(fit, two[1:3, ])
})

test_that("degenerate counts and binary data fit", {
  for (x in list(matrix(0, 4, 3), matrix(1, 4, 3), matrix(c(0, 1, 0, 1), 4, 1), diag(5))) {
    for (obs in list(obs_multinomial(), obs_bernoulli())) {
      fit <- bnp_mixture(x, obs, control = bnp_control(seed = 1))
      expect_sane(fit, x)
    }
  }
  empty <- rbind(c(4, 0, 0), c(0, 0, 0), c(0, 5, 1))
  expect_sane(bnp_mixture(empty, obs_multinomial(), control = bnp_control(seed = 1)), empty)
})

test_that("a vocabulary of one term has one topic, and every verb an answer", {
  x <- matrix(c(3, 5, 2, 0), 4, dimnames = list(letters[1:4], "word"))
  fit <- bnp_topics(x, control = bnp_control(seed = 1))
  expect_identical(n_clusters(fit), 1L)
  for (by in c("prob", "frex", "lift")) expect_identical(top_terms(fit, by = by)$term, "word")
  expect_identical(top_terms(fit, by = "frex")$value, 1)
  expect_identical(unname(as.matrix(simulate(fit, seed = 1)$sim_1)), unname(x))
  expect_equal(heldout_loglik(fit, x, seed = 1), 0)
  expect_bad(coherence(fit, x), "argument", "one term")
  finite <- bnp_topics(x, prior = prior_lda(3), control = bnp_control(seed = 1))
  expect_equal(dim(simulate(finite, seed = 1)$sim_1), c(4, 1))
  expect_true(all(is.finite(top_terms(finite, by = "frex")$value)))
})
