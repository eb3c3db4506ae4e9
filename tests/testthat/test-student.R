# Student-t clusters beside figures of plain R (quadrature, enumeration) and the Gaussian models that they become.

one_cluster <- function(x, obs, ..., laps = 500L) {
  bnp_mixture(x, obs,
    prior = prior_dirichlet(1), start = rep(1, NROW(x)), ...,
    control = bnp_control(moves = FALSE, verbose = FALSE, max_laps = laps, tol = 1e-12, restarts = 1)
  )
}
four <- matrix(c(-1.2, 0.3, 0.5, 4.1))
by_hand <- function(...) obs_student(mean = 0, mean_strength = 0.3, df = 3, scale = 0.8, ...)

test_that("bounds of four values are those of plain R", {
  known <- one_cluster(four, by_hand(tails = 4))
  expect_equal(elbo(known), -11.47347382, tolerance = 1e-9)
  learned <- one_cluster(four, suppressMessages(by_hand()))
  expect_equal(elbo(learned), -12.63754464, tolerance = 1e-9)
  expect_equal(coef(learned)$tails, 18.626542, tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(elbo(one_cluster(four, by_hand(tails = 1e7))), -12.38260860, tolerance = 1e-8)
  gaussian <- obs_gaussian(mean = 0, mean_strength = 0.3, df = 3, scale = 0.8, learn = FALSE)
  expect_equal(elbo(one_cluster(four, gaussian)), -12.38260885, tolerance = 1e-9)
})

two_groups <- function(n = 120) {
  withr::with_seed(3, {
    z <- rep(1:2, length.out = n)
    list(x = cbind(6 * z, -3 * z) + matrix(stats::rnorm(2 * n), n) / sqrt(stats::rgamma(n, 2, 2)), z = z)
  })
}
settled_fit <- function(x, obs, z) {
  bnp_mixture(x, obs, start = z, control = bnp_control(
    moves = FALSE, verbose = FALSE, max_laps = 2000, tol = 1e-13, restarts = 1, seed = 1
  ))
}

test_that("the data term is that of plain R, from responsibilities and parameters alone", {
  data <- two_groups()
  fit <- settled_fit(data$x, obs_student(), data$z)
  r <- predict(fit, data$x, type = "responsibility")
  expect_equal(elbo(fit, terms = TRUE)[["data"]], term_of_student(data$x, r, fit$model$obs, posterior_params(fit)),
    tolerance = 1e-7
  )
})

test_that("laps rise, threads give equal bits, and batches and the order of rows change next to nothing", {
  data <- two_groups()
  fit <- settled_fit(data$x, obs_student(), data$z)
  expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-9)
  turned <- rev(seq_along(data$z))
  again <- settled_fit(data$x[turned, ], obs_student(), data$z[turned])
  expect_equal(elbo(again), elbo(fit), tolerance = 1e-9)
  batches <- bnp_mixture(data$x, obs_student(), start = data$z, control = bnp_control(
    moves = FALSE, verbose = FALSE, max_laps = 2000, tol = 1e-13, restarts = 1, seed = 1, batches = 3
  ))
  expect_equal(elbo(batches), elbo(fit), tolerance = 1e-6)
  run <- function(threads) {
    fit <- bnp_mixture(data$x, obs_student(), control = bnp_control(threads = threads, seed = 1, verbose = FALSE))
    fit$state
  }
  expect_identical(run(1), run(2))
})

long_test("many rows with heavy tails are one cluster, with few batches and many, and Gaussian rows are no work", {
  x <- withr::with_seed(1, matrix(rt(50000, 4)))
  fit_of <- function(x, batches) {
    bnp_mixture(x, obs_student(), control = bnp_control(seed = 1, verbose = FALSE, restarts = 1, batches = batches))
  }
  one <- fit_of(x, 1L)
  expect_identical(n_clusters(one), 1L)
  expect_equal(coef(one)$tails, 4, tolerance = 0.05, ignore_attr = TRUE)
  many <- fit_of(x, 8L)
  expect_identical(n_clusters(many), 1L)
  expect_equal(elbo(many), elbo(one), tolerance = 1e-6)
  gaussian <- withr::with_seed(2, matrix(rnorm(8000), ncol = 2))
  for (batches in c(1L, 4L)) expect_lt(fit_of(gaussian, batches)$laps, 30)
})

long_test("parts of one cluster are joined as soon in several batches as in one", {
  z <- withr::with_seed(2, sample(3, 12000, TRUE))
  scale <- withr::with_seed(3, rgamma(12000, 2, 2))
  x <- cbind(c(0, 8, 16), c(0, 8, 0))[z, ] + withr::with_seed(4, matrix(rnorm(24000), 12000)) / sqrt(scale)
  fit <- bnp_mixture(x, obs_student(), control = bnp_control(seed = 1, verbose = FALSE, restarts = 1, batches = 4))
  expect_identical(n_clusters(fit), 3L)
  expect_lt(fit$laps, 60) # 80 to 120, and more groups of more rows, with EM steps of degrees of freedom in merges
})

# Merges that were judged by EM steps of the degrees of freedom would leave the two.
test_that("core and tail of one cluster are joined in the first laps", {
  x <- withr::with_seed(3, matrix(rt(3000, 4)))
  control <- bnp_control(
    seed = 1, verbose = FALSE, restarts = 1, batches = 3, max_laps = 8, moves = bnp_moves(birth = FALSE, delete = FALSE)
  )
  fit <- suppressWarnings(bnp_mixture(x, obs_student(), start = 1 + (abs(x[, 1]) > 1.2), control = control))
  expect_identical(n_clusters(fit), 1L)
})

# From these starts, a lengthened step of the degrees of freedom in lap 9 lowers the bound by .01 of 40 rows.
test_that("a visit whose steps are too long is made again without them, and the fit goes on to the same end", {
  case <- Find(function(case) case$name == "regression, no intercept, tails", model_cases())
  for (seed in c(1, 2, 10)) {
    fit <- engine_run(case, "memoized", batches = 1, k_init = 5, seed = seed)
    expect_true(fit$converged)
    expect_gte(min(relative_gains(fit)), -1e-9)
    expect_equal(fit$elbo, -135.01281, tolerance = 1e-6)
  }
})

test_that("other units and another origin are the same fit", {
  data <- two_groups()
  fit <- settled_fit(data$x, obs_student(), data$z)
  for (scale in c(1e-150, 1e150)) {
    other <- settled_fit(data$x * scale, obs_student(), data$z)
    expect_equal(elbo(other) + 2 * nrow(data$x) * log(scale), elbo(fit), tolerance = 1e-9)
    expect_equal(coef(other)$tails, coef(fit)$tails, tolerance = 1e-4)
  }
  expect_equal(elbo(settled_fit(data$x + 1e6, obs_student(), data$z)), elbo(fit), tolerance = 1e-6)
})

test_that("one column with diagonal covariance is the full one, and a regression on 1 the cluster", {
  x <- two_groups()$x[, 1, drop = FALSE]
  full <- one_cluster(x, obs_student())
  expect_equal(elbo(one_cluster(x, obs_student("diagonal"))), elbo(full), tolerance = 1e-10)
  known <- one_cluster(four, suppressMessages(by_hand()))
  on_one <- one_cluster(four, obs_regression(df = 3, scale = 0.8, coef_mean = 0, coef_precision = 0.3, tails = NULL))
  expect_equal(elbo(on_one), elbo(known), tolerance = 1e-9)
})

test_that("an outlier has a small scale, and the mean does not follow it", {
  x <- withr::with_seed(8, rbind(matrix(stats::rnorm(600), 300), c(1e6, 0)))
  fit <- one_cluster(x, obs_student())
  expect_lt(max(abs(coef(fit)$mean)), 0.3)
  scales <- augment(fit, x)$.scale
  expect_lt(scales[301], 1e-8)
  expect_gt(min(scales[-301]), 0.01)
})

test_that("equal values, a single row and few columns give finite answers", {
  for (obs in list(obs_student(), obs_student("diagonal"))) {
    expect_true(is.finite(elbo(one_cluster(matrix(5, 100), obs))))
    expect_true(is.finite(elbo(one_cluster(matrix(c(1, 2), 1), obs))))
  }
})

test_that("missing cells are hidden beside the scales: figures of plain R", {
  table_x <- cbind(x = c(0.1, -0.4, 2.2, 1.9, 2.4), y = c(1.2, 0.3, NA, -0.5, 0.1))
  fit_of <- function(...) {
    obs <- obs_student(mean = c(0, 0), mean_strength = 0.1, df = 4, scale = diag(0.5, 2), ...)
    elbo(one_cluster(table_x, obs, na_action = "model"))
  }
  expect_equal(fit_of(tails = 1e7), -18.74382596, tolerance = 1e-8)
  expect_equal(fit_of(tails = 4), -18.95969818, tolerance = 1e-8)
  expect_equal(suppressMessages(fit_of()), -19.25181829, tolerance = 1e-8)
})

test_that("the predictive is the average over scales and degrees of freedom", {
  fit <- one_cluster(four, suppressMessages(by_hand()))
  at <- matrix(c(0.7, 3, 20))
  expect_equal(as.numeric(predict(fit, at, type = "logdensity")), c(-1.42359, -2.46441, -12.29698), tolerance = 1e-5)
  area <- stats::integrate(function(x) exp(predict(fit, matrix(x), type = "logdensity")), -Inf, Inf, rel.tol = 1e-6)
  expect_equal(area$value, 1, tolerance = 1e-5)
  far <- as.numeric(predict(fit, matrix(c(1e10, 1e100, 1e200)), type = "logdensity"))
  expect_true(all(is.finite(far)) && all(diff(far) < 0))
})

test_that("densities of rows with a missing cell are those of all rows over this cell, with both covariances", {
  data <- two_groups(40)
  for (covariance in c("full", "diagonal")) {
    fit <- bnp_mixture(replace(data$x, 3, NA), obs_student(covariance), start = data$z, na_action = "model",
      control = bnp_control(moves = FALSE, verbose = FALSE, max_laps = 100, seed = 1)
    )
    one <- predict(fit, cbind(5.5, NA), type = "logdensity")
    area <- stats::integrate(function(y) exp(predict(fit, cbind(5.5, y), type = "logdensity")), -60, 60, rel.tol = 1e-7)
    expect_equal(area$value, exp(as.numeric(one)), tolerance = 1e-3)
  }
})

test_that("the information on degrees of freedom is that of quadrature, and intervals hold them as often as they say", {
  for (d in c(1, 3)) for (nu in c(2, 8)) {
    log_density <- function(f, nu) {
      lgamma((nu + d) / 2) - lgamma(nu / 2) - d / 2 * log(nu) - (nu + d) / 2 * log1p(f * d / nu)
    }
    by_nu <- function(f) (log_density(f, nu + 1e-4) - log_density(f, nu - 1e-4)) / 2e-4
    by_scale <- function(f) (nu + d) * f * d / (nu + f * d) - d # scores, at f ~ F(d, nu)
    mean_of <- function(a, b) {
      stats::integrate(function(f) a(f) * b(f) * stats::df(f, d, nu), 0, Inf, rel.tol = 1e-8)$value
    }
    left <- mean_of(by_nu, by_nu) - mean_of(by_nu, by_scale)^2 / mean_of(by_scale, by_scale)
    known <- (trigamma(nu / 2) / 2 - 1 / nu) / 2
    expect_equal(share_of_information(nu, d), left / known, tolerance = 1e-5)
  }
  control <- bnp_control(seed = 1, threads = 1, verbose = FALSE, moves = FALSE)
  held <- withr::with_seed(7, vapply(1:40, function(set) {
    nu <- exp(stats::runif(1, 1, 2.5))
    fit <- suppressWarnings(bnp_mixture(stats::rt(100, nu), obs_student(), prior_dirichlet(1), control))
    ends <- confint(fit, "tails", 0.9)
    ends[1] < nu && nu < ends[2]
  }, NA))
  expect_gt(mean(held), 0.75) # .25 of those of the posterior in the fit, which takes the scales as known
  gaussian <- withr::with_seed(1, stats::rnorm(200))
  fit <- suppressWarnings(bnp_mixture(gaussian, obs_student(), prior_dirichlet(1), control))
  expect_true(all(is.finite(confint(fit, "tails"))))
})

test_that("bad input is refused, and df without tails is told", {
  expect_bad(obs_student(tails = Inf), "argument")
  expect_bad(obs_student(tails = 0), "argument")
  expect_bad(obs_student(tails = 1e-9), "range")
  expect_bad(obs_student(tails = c(1, 2)), "argument")
  expect_bad(obs_ar(tails = 4, learn = TRUE), "argument")
  expect_bad(obs_regression(tails = 4, learn = TRUE), "argument")
  expect_message(obs_student(df = 4), class = "bnpvi_message_tails")
  x <- two_groups()$x
  expect_bad(bnp_mixture(x, obs_student(), id = rep(1:60, 2)), "not_defined")
  expect_bad(bnp_mixture(x, obs_student(), control = bnp_control("truncation_free")), "not_defined")
  states <- suppressWarnings(bnp_hmm(x, obs = obs_student(), control = bnp_control(seed = 1, max_laps = 2)))
  expect_bad(bnp_sample(states, x), "not_defined")
})

test_that("tails take a prior, a number or Inf in every model that has them, and nothing else", {
  for (with_tails in list(obs_student, obs_regression, obs_ar)) {
    expect_equal(as.double(with_tails(tails = gamma_prior(3, 0.2))$tails), c(3, 0.2))
    expect_identical(as.double(with_tails(tails = 5)$tails), 5)
    expect_identical(as.double(with_tails(tails = NULL)$tails), c(2, 0.1))
    expect_bad(with_tails(tails = c(3, 4)), "argument", "one number")
    expect_bad(with_tails(tails = -1), "argument")
  }
})

test_that("a single state is a single cluster, over several blocks of rows", {
  x <- withr::with_seed(31, matrix(rnorm(2800), 1400) / sqrt(rchisq(1400, 4) / 4))
  for (covariance in c("full", "diagonal")) {
    control <- bnp_control(seed = 1, max_laps = 60, verbose = FALSE)
    states <- suppressWarnings(bnp_hmm(x, obs = obs_student(covariance), prior = prior_hmm(1), control = control))
    cluster <- suppressWarnings(bnp_mixture(x, obs_student(covariance), prior_dirichlet(1), control))
    expect_equal(elbo(states), elbo(cluster), tolerance = 1e-6)
    expect_equal(unname(coef(states)$tails), unname(coef(cluster)$tails), tolerance = 0.01)
  }
})

test_that("before the first births degrees of freedom settle, with fewer visits the more clusters there are", {
  x <- withr::with_seed(1, matrix(rt(1800, 2), 900))
  work_of_cluster <- function(k) {
    control <- bnp_control(seed = 1, k_init = k, max_laps = 1, moves = FALSE, verbose = FALSE, restarts = 2)
    suppressWarnings(bnp_mixture(x, obs_student(), prior_dirichlet(k), control))$restarts$work[1] / k
  }
  many <- work_of_cluster(30L)
  expect_gt(work_of_cluster(1L), 2 * many)
  expect_lt(work_of_cluster(10L), 1.5 * many)
})
