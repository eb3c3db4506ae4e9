# Weibull clusters, whose shapes are learned on a grid: figures of quadrature, known shapes, censored times, far rows,
# extremes, units, and that planted groups are found from one cluster.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
soft <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
times <- c(0.3, 1.1, 0.2, 0.9, 2.5, 0.4)

evidence_of <- function(obs, x, resp = matrix(1, NROW(x), 1)) {
  e <- engine_contract(engine_data(as.matrix(x)), list(obs = obs, prior = one), resp)
  unname(e$evidence + colSums(resp * e$log_base))
}
of_grid <- function(shape = gamma_prior(1, 0.1), a = 1, b = 1, log_unit = 0, most = 20, points = 64L, ...) {
  list(family = "weibull", shape = shape, a = a, b = b, log_unit = log_unit, most = most, points = points, ...)
}

test_that("evidence is the sum over the grid, close to that of quadrature, and of a known shape quadrature", {
  expect_equal(evidence_of(of_grid(), times, soft), c(-8.67419644, -4.51574498), tolerance = 1e-8)
  expect_equal(evidence_of(of_grid(points = 256L), times), -8.66082, tolerance = 5e-4)
  expect_equal(evidence_of(of_grid(1.7, known = TRUE), times), -7.192889611, tolerance = 1e-9)
  expect_equal(evidence_of(of_grid(log_unit = 1.3), times, soft), c(-8.67419644, -4.51574498), tolerance = 1e-8)
  fit <- bnp_mixture(times, obs_weibull(b = 1), one, quiet(seed = 1))
  expect_equal(elbo(fit), -8.67419644, tolerance = 1e-8)
  # Of shape 1 values are exponential.
  exponential <- list(family = "waiting_time", shape = 1, a = 0.7, b = 1.4)
  expect_equal(
    evidence_of(of_grid(1, 0.7, 1.4, known = TRUE), times, soft), evidence_of(exponential, times, soft),
    tolerance = 1e-10
  )
})

test_that("censored times count as far as they were seen", {
  status <- c(1, 0, 1, 1, 0, 1)
  given <- function(s, a = 2, m = 0.4) {
    f <- function(theta) {
      vapply(theta, function(v) {
        exp(sum(status * (log(v * s) + (s - 1) * log(times)) - v * times^s)) * dgamma(v, a / s, a / s * m^s)
      }, 1)
    }
    log(integrate(f, 0, Inf, rel.tol = 1e-10)$value)
  }
  for (s in c(0.6, 1, 2.5)) {
    model <- c(of_grid(s, 2, 0.8, known = TRUE), censored = TRUE)
    expect_equal(evidence_of(replace(model, "family", "censored_weibull"), cbind(times, status)), given(s),
      tolerance = 1e-7)
  }
  x <- data.frame(times, status)
  by_shape <- bnp_mixture(x, obs_survival(2, 0.8, shape = 1 + 1e-12), one, quiet(seed = 1))
  plain <- bnp_mixture(x, obs_survival(2, 0.8), one, quiet(seed = 1))
  expect_equal(elbo(by_shape), elbo(plain), tolerance = 1e-9)
  expect_identical(obs_survival(2, 0.8, "a")$family, "censored")
})

test_that("planted groups are found from one cluster, with censored times, gaps, zeros and as a block", {
  group <- rep(1:3, each = 80)
  x <- withr::with_seed(1, cbind(
    a = rweibull(240, 1.8, c(1, 6, 30)[group]), b = rweibull(240, c(0.8, 1.8, 3)[group], c(20, 2, 6)[group])
  ))
  fit <- bnp_mixture(x, obs_weibull(), control = quiet(seed = 1, k_init = 1))
  expect_equal(n_clusters(fit), 3)
  expect_gt(adjusted_rand_index(fitted(fit), group), 0.8)
  expect_equal(sort(unname(coef(fit)$shape[, "b"])), c(0.8, 1.8, 3), tolerance = 0.2)
  expect_equal(sort(unname(coef(fit)$scale[, "a"])), c(1, 6, 30), tolerance = 0.2)
  gaps <- replace(x, cbind(seq(5, 235, 10), 1:2), NA)
  with_gaps <- bnp_mixture(gaps, obs_weibull(), control = quiet(seed = 1), na_action = "model")
  expect_equal(n_clusters(with_gaps), 3)
  expect_true(all(is.finite(predict(with_gaps, gaps, type = "impute"))))
  rests <- x * withr::with_seed(2, matrix(runif(480) > rep(c(0.3, 0.1, 0.02)[group], 2), 240))
  with_zeros <- bnp_mixture(rests, obs_weibull(zeros = TRUE), control = quiet(seed = 1))
  expect_equal(n_clusters(with_zeros), 3)
  expect_equal(sort(unname(coef(with_zeros)$zero[, "a"])), c(0.02, 0.1, 0.3), tolerance = 0.4)
  until <- withr::with_seed(3, rexp(240, 1 / 40))
  seen <- data.frame(time = pmin(x[, "b"], until), event = as.double(x[, "b"] <= until), a = x[, "a"])
  both <- bnp_mixture(
    seen, obs_product(obs_survival(columns = c("time", "event"), shape = NULL), obs_weibull(columns = "a")),
    control = quiet(seed = 1)
  )
  expect_equal(n_clusters(both), 3)
  expect_equal(sort(unname(coef(both)$survival$shape)), c(0.8, 1.8, 3), tolerance = 0.3)
  chain <- bnp_hmm(x, obs = obs_weibull(), control = quiet(seed = 1))
  expect_equal(n_clusters(chain), 3)
  draws <- bnp_sample(fit, x, draws = 5, warmup = 2, chains = 1, seed = 1)
  expect_true(all(is.finite(as.matrix(as.data.frame(draws))[, "log_joint"])))
  again <- bnp_mixture(rbind(x, 50), obs_weibull(), control = quiet(seed = 1), start = fit)
  expect_identical(again$model$obs$log_unit, fit$model$obs$log_unit)
  expect_gte(n_clusters(again), 3)
  expect_bad(bnp_mixture(x, obs_weibull(2), control = quiet(), start = fit), "start")
})

test_that("units change the Jacobian alone, and rows however far have finite densities in the right order", {
  x <- withr::with_seed(1, rweibull(100, 2, rep(c(1, 30), each = 50)))
  plain <- bnp_mixture(x, obs_weibull(), control = quiet(seed = 1))
  for (unit in c(1e-140, 1e-20, 1e20, 1e140)) {
    fit <- bnp_mixture(x * unit, obs_weibull(), control = quiet(seed = 1))
    expect_identical(unname(fitted(fit)), unname(fitted(plain)))
    expect_equal(elbo(fit) + 100 * log(unit), elbo(plain), tolerance = 1e-8)
    expect_equal(coef(fit)$scale / unit, coef(plain)$scale, tolerance = 1e-6)
  }
  far <- 10^c(-100, -20, -3, 3, 20, 100)
  density <- predict(plain, far, "logdensity")
  expect_true(all(is.finite(density)))
  expect_true(all(diff(density)[4:5] < 0))
  expect_true(all(is.finite(predict(plain, far, "prob"))))
  # Far out the predictive has the tail of the largest shape that says most there, a power: never a number that stops.
  fit <- bnp_mixture(x[1:50], obs_weibull(3), one, quiet(seed = 1))
  q <- lapply(posterior_clusters(fit)[[1]], as.vector)
  log_density <- function(x) {
    log(3 * q$a) + 3 * log(x / q$b) - log(x) - (q$a + 1) * log1p((x / q$b)^3)
  }
  expect_equal(unname(predict(fit, c(2, 1e20, 1e90), "logdensity")), c(log_density(c(2, 1e20, 1e90))), tolerance = 1e-8)
})

test_that("extremes are finite and moments, probabilities and draws are those of the predictive", {
  for (x in list(5, rep(5, 100), c(5, 7), 10^seq(-150, 150, 10), c(rep(1, 50), 1e-150, 1e150))) {
    fit <- suppressWarnings(bnp_mixture(x, obs_weibull(), control = quiet(seed = 1, max_laps = 5)))
    expect_true(is.finite(elbo(fit)) && all(is.finite(unlist(coef(fit)[c("shape", "scale")]))))
    expect_true(all(is.finite(predict(fit, x, "logdensity"))))
  }
  x <- withr::with_seed(5, rweibull(60, 2, 5))
  fit <- bnp_mixture(x, obs_weibull(), one, quiet(seed = 1))
  obs <- fit$model$obs
  q <- posterior_clusters(fit)[[1]]
  moments <- obs_moments(obs, q, list())
  drawn <- withr::with_seed(6, replicate(2500, obs_draw_rows(obs, q, 1:8, list())))
  expect_equal(c(mean(drawn), sd(drawn)), c(moments$mean, sqrt(moments$var)), tolerance = 0.03)
  at <- c(0.5, 3, 12)
  below <- c(obs_predictive_cdf(obs, q, list(x = cbind(at), n = 3L)))
  expect_equal(below, vapply(at, function(v) {
    integrate(function(y) exp(predict(fit, y, "logdensity")), 0, v)$value
  }, 1), tolerance = 1e-4)
  expect_equal(below, vapply(at, function(v) mean(drawn <= v), 1), tolerance = 0.02)
  ends <- confint(fit, c("shape", "scale"))
  expect_true(all(ends[, 1] < c(2, 5) & c(2, 5) < ends[, 2]))
})

test_that("arguments are refused at both ends, by name", {
  for (bad in list(0, -1, NA, "a", Inf, numeric())) expect_bad(obs_weibull(bad), "argument", "shape")
  expect_bad(obs_weibull(1e7), "range", "shape")
  expect_bad(obs_weibull(a = 1e11), "range", "`a`")
  expect_bad(obs_weibull(b = -1), "argument", "`b`")
  expect_bad(obs_weibull(zeros = 1), "argument", "zeros")
  expect_bad(bnp_mixture(c(1, 0), obs_weibull()), "not_positive", "zeros = TRUE")
  expect_bad(bnp_mixture(c(1, 1e160), obs_weibull()), "range", "obs_weibull")
  expect_bad(bnp_mixture(c(1, 10), obs_weibull(1000)), "range", "orders of magnitude.*\n.*\n.*at most")
  expect_bad(obs_survival(shape = -1), "argument", "shape")
  expect_output(print(obs_weibull()), "Weibull: .*shape = Gamma\\(1, 0.1\\)")
  expect_output(print(obs_survival(shape = NULL)), "Weibull, censored")
})
