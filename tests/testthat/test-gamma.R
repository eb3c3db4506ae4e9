# Waiting times of known shape: closed forms, extremes of values, priors and shapes, and bad input.

times <- c(0.3, 1.1, 0.2, 0.9, 2.5, 0.4)
quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
two_groups <- function(n, shape) withr::with_seed(1, {
  cluster <- rep(1:2, each = n)
  list(x = rgamma(2 * n, shape, c(1, 30)[cluster]), cluster = cluster)
})

# log p of each value given those before it: x / b has a beta prime distribution.
sequential <- function(x, shape, a, b) {
  a <- a + shape * (seq_along(x) - 1)
  b <- b + c(0, cumsum(x)[-length(x)])
  -sum(lbeta(shape, a) + a * log1p(x / b) + shape * log1p(b / x) + log(x))
}

test_that("evidence of hard and soft responsibilities is what quadrature gave", {
  resp <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
  evidence <- function(shape) {
    model <- list(obs = list(family = "waiting_time", shape = shape, a = 2, b = 0.7), prior = one)
    e <- engine_contract(engine_data(cbind(times)), model, resp)
    e$evidence + colSums(resp * e$log_base)
  }
  expect_equal(evidence(1), c(-6.65449870, -2.29916448), tolerance = 1e-9)
  expect_equal(evidence(2.5), c(-6.72568769, -2.23692971), tolerance = 1e-9)
  by_rate <- function(r) {
    integrand <- function(v) vapply(v, function(rate) {
      exp(sum(r * dgamma(times, 2.5, rate, log = TRUE)) + dgamma(rate, 2, 0.7, log = TRUE))
    }, 0)
    log(integrate(integrand, 0, Inf, rel.tol = 1e-10)$value)
  }
  expect_equal(evidence(2.5), apply(resp, 2, by_rate), tolerance = 1e-8)
})

test_that("the ELBO of one cluster is the exact log evidence, in every family", {
  x <- withr::with_seed(1, cbind(a = rgamma(40, 2, 3), b = rexp(40, 10)))
  obs <- obs_gamma(c(2, 1), a = c(0.7, 3), b = c(b = 0.5, a = 4))
  exact <- sequential(x[, 1], 2, 0.7, 4) + sequential(x[, 2], 1, 3, 0.5)
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(x, obs, one, control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_hmm(x, rep(1:4, each = 10), obs, prior_hmm(1), control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_topics(x, obs, prior_lda(1), control, id = rep(1:4, 10))), exact, tolerance = 1e-12)
  }
  fit <- bnp_mixture(x, obs, one, quiet(seed = 1))
  new <- x[1, , drop = FALSE] * 2
  ahead <- sequential(c(x[, 1], new[1]), 2, 0.7, 4) + sequential(c(x[, 2], new[2]), 1, 3, 0.5) - exact
  expect_equal(predict(fit, new, "logdensity"), ahead, tolerance = 1e-10)
})

test_that("planted clusters and states are found, and the default prior has the mean rate", {
  x <- two_groups(100, 3)
  obs <- resolve_obs(obs_gamma(3, a = 2), as_mixture_data(x$x, obs_gamma()))
  expect_equal(obs$a * obs$shape / obs$b, 3 * 2 / (2 * mean(x$x) / 3))
  for (k_init in c(1, 8)) {
    fit <- bnp_mixture(x$x, obs_gamma(3), control = quiet(seed = 1, k_init = k_init))
    expect_equal(n_clusters(fit), 2)
    expect_gt(adjusted_rand_index(fitted(fit), x$cluster), 0.95)
  }
  expect_equal(as.vector(coef(fit)$rate), as.vector(posterior_params(fit)$a / posterior_params(fit)$b))
  expect_equal(unname(coef(fit)$shape), cbind(c(3, 3)))
  chain <- bnp_hmm(x$x, obs = obs_gamma(3), control = quiet(seed = 1))
  expect_equal(n_clusters(chain), 2)
  expect_lt(stats::ks.test(as.vector(residuals(chain, x$x)), "pnorm")$p.value, 1)
  expect_gt(stats::ks.test(as.vector(residuals(chain, x$x)), "pnorm")$p.value, 1e-3)
})

test_that("what tells rows apart is drawn for one column and for several", {
  withr::local_pdf(NULL)
  x <- two_groups(30, 3)$x
  for (data in list(x, cbind(x, rev(x)))) {
    fit <- bnp_mixture(data, obs_gamma(3), control = quiet(seed = 1))
    expect_silent(plot(fit))
    expect_silent(plot(fit, "uncertainty", data = data))
    expect_true(all(is.finite(as.matrix(predict(bnp_hmm(data, obs = obs_gamma(3), control = quiet(seed = 1)),
      data, n.ahead = 2
    )[-(1:3)]))))
  }
})

test_that("values, shapes and priors may be extreme", {
  x <- two_groups(50, 3)
  plain <- bnp_mixture(x$x, obs_gamma(3), control = quiet(seed = 1))
  for (unit in c(1e-147, 1e-20, 1e20, 1e147)) {
    fit <- bnp_mixture(x$x * unit, obs_gamma(3), control = quiet(seed = 1))
    expect_identical(unname(fitted(fit)), unname(fitted(plain)))
    expect_equal(elbo(fit) + 100 * log(unit), elbo(plain), tolerance = 1e-9)
    expect_equal(unname(coef(fit)$rate * unit), unname(coef(plain)$rate), tolerance = 1e-8)
  }
  # Beyond the data by 100 orders of magnitude either way: the nearest cluster, and a number.
  far <- c(1e-100, 1e100)
  expect_true(all(is.finite(predict(plain, far, "logdensity"))))
  expect_equal(predict(plain, far), predict(plain, range(x$x)), ignore_attr = TRUE)
  # Groups that differ by ten orders of magnitude need a prior that weighs less than the smallest value.
  wide <- withr::with_seed(2, rexp(60) * 10^rep(c(-5, 0, 5), each = 20))
  fit <- bnp_mixture(wide, obs_gamma(1, a = 1e-10), control = quiet(seed = 1, batches = 4, max_laps = 200))
  expect_equal(n_clusters(fit), 3)
  expect_gt(adjusted_rand_index(fitted(fit), rep(1:3, each = 20)), 0.95)
  parts <- split(wide, fitted(fit))
  expect_equal(sort(unname(coef(fit)$rate[, 1])), sort(1 / vapply(parts, mean, 0)), tolerance = 0.1, ignore_attr = TRUE)
})

test_that("the bound has eight digits for every prior and shape that is taken", {
  y <- withr::with_seed(3, rgamma(30, 1e6, 1e6))
  for (a in 10^c(-10, -5, 0, 5, 10, 30, 50)) {
    for (shape in c(likelihood_shapes, 1)) {
      for (unit in c(1e-50, 1, 1e20)) {
        b <- a / shape * unit
        if (b < 1e-10 || b > 1e50) next
        fit <- bnp_mixture(y * unit, obs_gamma(shape, a, b), one, quiet())
        expect_equal(elbo(fit), sequential(y * unit, shape, a, b), tolerance = 1e-8, info = paste(a, shape, unit))
      }
    }
  }
})

test_that("bad values and parameters are refused by name, place and remedy", {
  fit <- function(x, ...) bnp_mixture(x, obs_gamma(...), control = quiet(max_laps = 2))
  expect_bad(fit(c(1, 0, 2)), "not_positive", "\\(2, 1\\).*\n.*half")
  expect_bad(fit(data.frame(wait = c(1, 2, -3))), "not_positive", "\\(3, wait\\)")
  expect_bad(fit(c(1, NA)), "not_finite", "\\(2, 1\\)")
  expect_bad(fit(c(1, Inf)), "not_finite", "\\(2, 1\\)")
  expect_bad(fit(data.frame(wait = c(1, 1e-160))), "range", "wait.*\n.*units")
  expect_bad(fit(c(1, 1e160)), "range", "1e150")
  expect_bad(fit(as(Matrix::Matrix(c(1, 2, 3, 4), 2), "CsparseMatrix")), "input", "sparse")
  for (bad in list(0, -1, NA, "a", Inf, numeric())) expect_bad(obs_gamma(shape = bad), "argument", "shape")
  expect_bad(obs_gamma(shape = 1e7), "range", "`shape` must be from 0.001")
  expect_bad(obs_gamma(shape = 1e-4), "range", "`shape` must be")
  expect_bad(obs_gamma(a = 0), "argument", "`a`")
  expect_bad(obs_gamma(b = -1), "argument", "`b`")
  expect_bad(fit(cbind(1:3, 1:3), shape = c(1, 2, 3)), "argument", "`shape` must have one value or one per column")
  expect_bad(fit(cbind(u = 1:3, v = 1:3), shape = c(u = 1, w = 2)), "names", "`shape`")
  good <- fit(c(1, 2, 5))
  expect_bad(predict(good, c(1, 0)), "not_positive", "newdata")
  expect_bad(simulate(good, exposure = 2), "argument", "no meaning")
})
