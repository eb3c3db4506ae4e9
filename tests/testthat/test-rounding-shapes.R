# Rounded values of families that have a shape, or scales of rows: obs_gamma(), obs_weibull(), obs_vonmises() and
# obs_student() with `rounding`. Their features are averages over the cells, here by quadrature.

quick <- bnp_control(seed = 1, verbose = FALSE)
in_one <- function(x, obs, ...) {
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 1, verbose = FALSE)
  suppressWarnings(bnp_mixture(x, obs, start = rep(1, NROW(x)), control = control, ...))
}
# shape, rate: of the density by which the lowest values are spread over their cells.
cell_average <- function(f, x, width, shape = 1, rate = 0) {
  vapply(x, function(v) {
    low <- max(v - width / 2, 0)
    high <- v + width / 2
    power <- if (v <= 8 * width) shape - rate * (low + high) / 2 else 1
    spread <- function(f) {
      integrate(function(u) f(u) * (u / high)^(power - 1), low, high, rel.tol = 1e-11, abs.tol = 0)$value
    }
    if (width == 0) f(v) else spread(f) / spread(function(u) 1)
  }, 1)
}
statistic <- function(fit) drop(fit$state$obs)

test_that("gamma and Weibull clusters have the averages over cells, of which only what is above 0 counts", {
  x <- cbind(a = c(0, 1, 2, 2, 5, 30), b = c(0.3, 0.7, 0.1, 4.2, 2.2, 0.1))
  width <- c(1, 0.2)
  gamma <- in_one(x, obs_gamma(a = 1, b = c(2, 0.5), rounding = width))
  at <- gamma$model$obs$b / gamma$model$obs$a # what the columns are divided by
  mean <- vapply(1:2, function(j) sum(cell_average(identity, x[, j], width[j])) / at[j], 1)
  logs <- vapply(1:2, function(j) sum(cell_average(log, x[, j], width[j]) - log(at[j])), 1)
  expect_equal(statistic(gamma), c(6, mean, logs), tolerance = 1e-10)

  weibull <- in_one(x, obs_weibull(rounding = width))
  obs <- weibull$model$obs
  points <- obs$points
  expect_true(all(is.finite(obs$log_unit)))
  shapes <- vapply(1:2, function(j) 0.1 * (obs$most[j] / 0.1)^(seq(0, points - 1) / (points - 1)), double(points))
  logs <- vapply(1:2, function(j) sum(cell_average(log, x[, j], width[j]) - obs$log_unit[j]), 1)
  powers <- vapply(1:2, function(j) {
    vapply(shapes[, j], function(s) sum(cell_average(function(v) (v / exp(obs$log_unit[j]))^s, x[, j], width[j])), 1)
  }, double(points))
  expect_equal(statistic(weibull), c(6, logs, t(powers)), tolerance = 1e-9)
})

test_that("the lowest values are spread by a density of low values, and the bound is close to the cells' evidence", {
  x <- withr::with_seed(5, round(rgamma(200, 4, 0.8)))
  expect_true(any(x == 0) && any(x > 8))
  gamma <- in_one(x, obs_gamma(a = 1, b = 2, rounding = 1), prior = prior_dirichlet(1))
  obs <- gamma$model$obs
  expect_gt(obs$cell_shape, 2)
  averages <- function(f) sum(cell_average(f, x, 1, obs$cell_shape, obs$cell_rate))
  sums <- c(200, averages(function(v) v) / 2, averages(function(v) log(v / 2)))
  expect_equal(statistic(gamma), sums, tolerance = 1e-9)
  weibull <- in_one(x, obs_weibull(shape = 1.7, rounding = 1), prior = prior_dirichlet(1))
  own <- weibull$model$obs
  expect_identical(own[c("cell_shape", "cell_rate")], obs[c("cell_shape", "cell_rate")])
  power <- averages(function(v) (v / exp(own$log_unit))^1.7)
  expect_equal(statistic(weibull)[3], power, tolerance = 1e-9)

  # log of the integral over shape and rate of the product of P(cell) / length of cell: at least the bound.
  low <- pmax(0:60 - 0.5, 0)
  high <- 0:60 + 0.5
  count <- tabulate(x + 1, 61)
  log_shape <- seq(log(1), log(20), length.out = 80)
  log_ratio <- seq(-0.6, 0.6, length.out = 80) # of the rate beside shape / mean
  terms <- outer(log_shape, log_ratio, Vectorize(function(t, r) {
    s <- exp(t)
    rate <- s / mean(x) * exp(r)
    t + r + log(s / mean(x)) + dgamma(s, 0.5, 0.01, log = TRUE) + dgamma(rate, 1, 2 / s, log = TRUE) +
      sum(count * log(pmax(pgamma(high, s, rate) - pgamma(low, s, rate), 1e-300) / (high - low)))
  }))
  exact <- max(terms) + log(sum(exp(terms - max(terms)))) + log(diff(log_shape)[1] * diff(log_ratio)[1])
  expect_lt(elbo(gamma), exact)
  expect_gt(elbo(gamma), exact - 2)
})

test_that("one variable that has zeros when it is rounded is one cluster, whatever its shape", {
  for (case in list(c(4, 0.8), c(0.5, 0.1), c(4, 4 / 1.5))) {
    x <- withr::with_seed(1, round(rgamma(3000, case[1], case[2])))
    fit <- suppressWarnings(bnp_mixture(x, obs_gamma(rounding = 1), control = quick))
    expect_identical(n_clusters(fit), 1L)
    expect_equal(drop(coef(fit)$shape), case[1], tolerance = 0.12, ignore_attr = TRUE)
  }
  # Cells as they are in the fit, for what goes on from it.
  again <- suppressWarnings(bnp_mixture(x[1:500], obs_gamma(rounding = 1), start = fit, control = quick))
  expect_identical(again$model$obs[c("cell_shape", "cell_rate")], fit$model$obs[c("cell_shape", "cell_rate")])
})

test_that("angles have shorter unit vectors, and t clusters wider squares", {
  x <- c(-3, -0.5, 0, 0.5, 2, 6)
  angles <- in_one(x, obs_vonmises(rounding = 0.5))
  average <- function(f) vapply(x, function(v) integrate(f, v - 0.25, v + 0.25, rel.tol = 1e-12)$value / 0.5, 1)
  expect_equal(statistic(angles), c(6, sum(average(cos)), sum(average(sin))), tolerance = 1e-12)

  # Tails of 1e7 degrees of freedom are Gaussian, with cells as without.
  x <- withr::with_seed(1, round(matrix(rnorm(120, 5, 2), 60)))
  for (covariance in c("full", "diagonal")) {
    bound <- function(obs) {
      control <- bnp_control(seed = 1, moves = FALSE, max_laps = 30, verbose = FALSE)
      elbo(suppressWarnings(bnp_mixture(x, obs, start = rep(1, 60), control = control)))
    }
    for (width in c(0, 1)) {
      expect_equal(bound(obs_student(covariance, tails = 1e7, rounding = width)),
        bound(obs_gaussian(covariance, learn = FALSE, rounding = width)), tolerance = 1e-6)
    }
    expect_lt(bound(obs_student(covariance, rounding = 1)), bound(obs_student(covariance, rounding = 0)))
  }
})

test_that("cells narrow beside their values change next to nothing, and cells of 0 are no word of rounding", {
  x <- withr::with_seed(2, matrix(rgamma(60, 3, 0.5) + 1, 30))
  angles <- withr::with_seed(2, matrix(rnorm(30), 15))
  cases <- list(
    list(x, function(w) obs_gamma(rounding = w)), list(x, function(w) obs_weibull(rounding = w)),
    list(angles, function(w) obs_vonmises(rounding = w)), list(x, function(w) obs_student(rounding = w))
  )
  for (case in cases) {
    plain <- elbo(in_one(case[[1]], case[[2]](NULL)))
    expect_identical(elbo(in_one(case[[1]], case[[2]](0))), plain)
    expect_equal(elbo(in_one(case[[1]], case[[2]](1e-12))), plain, tolerance = 1e-12)
    expect_equal(elbo(in_one(case[[1]], case[[2]](1e-5))), plain, tolerance = 1e-8)
  }
})

long_test("one rounded variable is one cluster, which it is not where values are densities", {
  values <- withr::with_seed(1, list(
    gamma = round(rgamma(3000, 4, 0.2)), weibull = round(rweibull(3000, 2, 20)), student = round(rt(3000, 4) * 3),
    angles = round(rnorm(3000, 0, 0.6) * 18 / pi) * pi / 18
  ))
  models <- list(gamma = obs_gamma, weibull = obs_weibull, student = obs_student, angles = obs_vonmises)
  for (name in names(models)) {
    fit <- bnp_mixture(values[[name]], models[[name]](), control = quick)
    expect_identical(n_clusters(fit), 1L, info = name)
    expect_equal(fit$model$obs$rounding, if (name == "angles") pi / 18 else 1, tolerance = 1e-6)
    expect_output(print(fit), "Rounded values, one cell")
    expect_true(is.finite(heldout_loglik(fit, values[[name]][1:5])))
  }
  plain <- suppressWarnings(bnp_mixture(values$student, obs_student(rounding = 0), control = quick))
  expect_gt(n_clusters(plain), 5)
})

test_that("a 0 is a value where it is a rounded one, and nowhere else", {
  x <- withr::with_seed(3, round(rgamma(300, 2, 0.5)))
  expect_true(any(x == 0))
  fit <- bnp_mixture(x, obs_gamma(), control = quick)
  expect_identical(fit$model$obs$rounding, 1)
  expect_true(is.finite(predict(fit, 0, type = "logdensity")))
  expect_equal(sum(predict(fit, 0, type = "prob")), 1)
  # Other values are taken as they are.
  plain <- fit
  plain$model$obs$rounding <- NULL
  expect_equal(predict(fit, 1:9, type = "logdensity"), predict(sealed(plain), 1:9, type = "logdensity"))
  for (model in list(obs_gamma, obs_weibull)) {
    expect_bad(bnp_mixture(c(0, 0.31, 2.2, 5.7), model()), "not_positive")
    expect_bad(bnp_mixture(x, model(rounding = 0)), "not_positive")
    expect_bad(bnp_mixture(cbind(x + 1, x), model(rounding = c(1, 0))), "not_positive")
    expect_bad(bnp_mixture(c(-1, x), model()), "not_positive")
    expect_bad(bnp_hmm(matrix(x), obs = model()), "not_positive")
    expect_bad(model(rounding = -1), "argument")
  }
  expect_bad(bnp_sample(fit, x, draws = 5), "not_positive")
  # Zeros that are values of their own, and counts of 0 beside a rounded column, are no reason.
  both <- data.frame(a = x, b = x, c = x + 1)
  mixed <- bnp_mixture(both, obs_product(
    obs_gamma(columns = "a", zeros = TRUE, rounding = 1), obs_poisson(columns = "b"), obs_gamma(columns = "c")
  ), control = quick) |> suppressWarnings(classes = "bnpvi_warning_ties")
  expect_s3_class(suppressMessages(bnp_sample(mixed, both, chains = 1L, draws = 2L, verbose = FALSE)), "bnp_draws")
  expect_bad(obs_gamma(shape = 2, rounding = 1), "argument")
  expect_bad(obs_vonmises(rounding = 7), "range")
  expect_bad(bnp_hmm(matrix(x + 1), obs = obs_gamma(rounding = 1)), "not_defined")
  expect_bad(heldout_loglik(fit, x, cells = TRUE), "not_defined")
  beside <- bnp_mixture(data.frame(a = x, b = x + 1), obs_product(
    obs_gamma(columns = "a", zeros = TRUE), obs_weibull(columns = "b", rounding = 1)
  ), control = quick) |> suppressWarnings(classes = "bnpvi_warning_ties")
  expect_output(print(beside), "Rounded values, one cell")
})

test_that("Weibull values and angles that are not taken as rounded are told of, too", {
  set.seed(1)
  values <- pmax(1, round(stats::rweibull(300, 2, 5)))
  expect_warning(bnp_mixture(values, obs_weibull(rounding = 0), control = quick), class = "bnpvi_warning_ties")
  expect_no_warning(bnp_mixture(values, obs_weibull(), control = quick), class = "bnpvi_warning_ties")
  angles <- rep(c(-1, 1, 2), each = 100)
  expect_warning(bnp_mixture(angles, obs_vonmises(rounding = 0), control = quick), class = "bnpvi_warning_ties")
})
