# Models whose clusters have a shape that is integrated out: figures of quadrature, known shapes as limits, extremes,
# units, and that planted groups are found from one cluster.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
soft <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
times <- c(0.3, 1.1, 0.2, 0.9, 2.5, 0.4)

shaped_evidence <- function(obs, x, resp = matrix(1, NROW(x), 1)) {
  e <- engine_contract(engine_data(as.matrix(x)), list(obs = obs, prior = one), resp)
  e$evidence + colSums(resp * e$log_base)
}
shaped_gamma <- function(shape = gamma_prior(0.5, 0.01), a = 1, b = 1, ...) {
  list(family = "shaped_gamma", shape = shape, a = a, b = b, ...)
}

test_that("gamma: evidence and predictive are what quadrature gave", {
  expect_equal(shaped_evidence(shaped_gamma(), times, soft), c(-8.73322135, -4.40528525), tolerance = 1e-9)
  expect_equal(
    shaped_evidence(shaped_gamma(), times) - shaped_evidence(shaped_gamma(), times[1:5]), -0.45278106,
    tolerance = 1e-7
  )
  expect_equal(shaped_evidence(shaped_gamma(b = 5), rep(5, 100)), 116.726311, tolerance = 1e-8)
  fit <- bnp_mixture(times, obs_gamma(b = 1), one, quiet(seed = 1))
  expect_equal(elbo(fit), -8.73322135, tolerance = 1e-9)
  expect_equal(elbo(bnp_mixture(times, obs_gamma(b = 1), control = quiet(seed = 1))), -10.67913150, tolerance = 1e-9)
})

test_that("gamma: a sharp prior of the shape is the known shape", {
  for (s in c(0.4, 1, 30)) {
    known <- list(family = "waiting_time", shape = s, a = 0.7, b = 0.7 * 2 / s)
    sharp <- shaped_gamma(gamma_prior(1e9, 1e9 / s), 0.7, 0.7 * 2)
    expect_equal(shaped_evidence(sharp, times, soft), shaped_evidence(known, times, soft), tolerance = 1e-6)
    expect_equal(
      shaped_evidence(shaped_gamma(s, 0.7, 0.7 * 2, known = TRUE), times, soft), shaped_evidence(known, times, soft),
      tolerance = 1e-10
    )
  }
})

test_that("gamma: units change the Jacobian alone, from 1e-147 to 1e147", {
  x <- withr::with_seed(1, rgamma(100, 3, rep(c(1, 30), each = 50)))
  plain <- bnp_mixture(x, obs_gamma(), control = quiet(seed = 1))
  expect_equal(n_clusters(plain), 2)
  for (unit in c(1e-147, 1e-20, 1e20, 1e147)) {
    fit <- bnp_mixture(x * unit, obs_gamma(), control = quiet(seed = 1))
    expect_identical(unname(fitted(fit)), unname(fitted(plain)))
    expect_equal(elbo(fit) + 100 * log(unit), elbo(plain), tolerance = 1e-9)
    expect_equal(coef(fit)$shape, coef(plain)$shape, tolerance = 1e-6)
    expect_equal(coef(fit)$mean / unit, coef(plain)$mean, tolerance = 1e-6)
  }
  far <- c(1e-100, 1e100)
  expect_true(all(is.finite(predict(plain, far, "logdensity"))))
  expect_true(all(is.finite(predict(plain, far, "prob"))))
})

test_that("gamma: one row, equal rows, rows over 300 orders and a million rows have finite fits", {
  same <- function(x, ...) suppressWarnings(bnp_mixture(x, obs_gamma(), control = quiet(seed = 1, max_laps = 5), ...))
  for (x in list(5, rep(5, 100), c(5, 7), 10^seq(-150, 150, 10), c(rep(1, 50), 1e-150, 1e150))) {
    fit <- same(x)
    expect_true(is.finite(elbo(fit)))
    expect_true(all(is.finite(unlist(coef(fit)[c("shape", "mean")]))))
    expect_true(all(is.finite(predict(fit, x, "logdensity"))))
  }
  expect_equal(n_clusters(same(rep(5, 100))), 1)
  weighted <- same(c(5, 5), weights = c(5e5, 5e5))
  expect_equal(n_clusters(weighted), 1)
  expect_gt(coef(weighted)$shape, 1e6)
  x <- withr::with_seed(2, rgamma(20, 2))
  # A million rows: the highest likelihood, less half a logarithm of their number for each of two parameters.
  best <- uniroot(function(s) digamma(s) - log(s) + log(mean(x)) - mean(log(x)), c(0.1, 50), tol = 1e-12)$root
  top <- 5e4 * sum(dgamma(x, best, best / mean(x), log = TRUE))
  many <- shaped_evidence(shaped_gamma(), x, matrix(5e4, 20, 1))
  expect_lt(many, top)
  expect_gt(many, top - log(1e6) - 12)
})

test_that("gamma: the posterior of the shape is covered, and its intervals are those of draws by the engine", {
  x <- withr::with_seed(4, rgamma(25, 3, 2))
  fit <- bnp_mixture(x, obs_gamma(), one, quiet(seed = 1))
  drawn <- engine_parameter_draws(
    engine_data(cbind(x)), list(obs = fit$model$obs, prior = one), rep(1, 25), 20000, 3
  )$draws
  # Natural weights: shape log rate - log Gamma(shape), -rate and shape - 1.
  shape <- drawn[, 3] + 1
  mean <- shape / -drawn[, 2] * fit$model$obs$b / fit$model$obs$a
  for (level in c(0.5, 0.9)) {
    ends <- confint(fit, c("shape", "mean"), level)
    expect_equal(mean(shape < ends["shape[1,x]", 1]), (1 - level) / 2, tolerance = 0.06)
    expect_equal(mean(shape < ends["shape[1,x]", 2]), (1 + level) / 2, tolerance = 0.03)
    expect_equal(mean(mean < ends["mean[1,x]", 2]), (1 + level) / 2, tolerance = 0.03)
  }
  means <- coef(fit)
  expect_equal(c(means$shape), mean(shape), tolerance = 0.02)
  expect_equal(c(means$mean), 1 / mean(1 / mean), tolerance = 0.01)
})

test_that("gamma: moments, draws and residuals are those of the predictive", {
  x <- withr::with_seed(5, rgamma(40, 2, 0.5))
  fit <- bnp_mixture(x, obs_gamma(), one, quiet(seed = 1))
  obs <- fit$model$obs
  q <- posterior_clusters(fit)[[1]]
  moments <- obs_moments(obs, q, list())
  drawn <- withr::with_seed(6, replicate(2500, obs_draw_rows(obs, q, 1:8, list())))
  expect_equal(mean(drawn), moments$mean, tolerance = 0.03)
  expect_equal(mean(log(drawn)), {
    at <- exp(seq(-30, 8, 0.01))
    density <- exp(predict(fit, at, "logdensity"))
    sum(log(at) * density * at) * 0.01
  }, tolerance = 0.03)
  at <- c(0.5, 3, 12)
  expect_equal(
    c(obs_predictive_cdf(obs, q, list(x = cbind(at), n = 3L))),
    vapply(at, function(v) integrate(function(y) exp(predict(fit, y, "logdensity")), 0, v)$value, 1),
    tolerance = 1e-4, ignore_attr = TRUE
  )
})

test_that("gamma: planted groups, states and topics of rows are found, also with missing cells and as a block", {
  group <- rep(1:3, each = 60)
  x <- withr::with_seed(7, cbind(
    a = rgamma(180, c(1, 6, 6)[group], c(1, 6, 0.4)[group]), b = rgamma(180, 4, c(4, 0.3, 4)[group])
  ))
  fit <- bnp_mixture(x, obs_gamma(), control = quiet(seed = 1, k_init = 1))
  expect_equal(n_clusters(fit), 3)
  expect_gt(adjusted_rand_index(fitted(fit), group), 0.85)
  gaps <- replace(x, cbind(seq(5, 175, 10), 1:2), NA)
  fit <- bnp_mixture(gaps, obs_gamma(), control = quiet(seed = 1), na_action = "model")
  expect_equal(n_clusters(fit), 3)
  expect_true(all(is.finite(predict(fit, gaps, type = "impute"))))
  expect_equal(n_clusters(bnp_hmm(x, obs = obs_gamma(), control = quiet(seed = 1))), 3)
  rows <- bnp_topics(x, obs_gamma(), id = rep(1:6, 30), control = quiet(seed = 1, max_laps = 5)) |> suppressWarnings()
  expect_gte(n_clusters(rows), 2)
  mixed <- data.frame(x, kind = factor(c("u", "v", "v")[group]))
  fit <- bnp_mixture(mixed, obs_product(obs_gamma(), obs_categorical()), control = quiet(seed = 1))
  expect_equal(n_clusters(fit), 3)
  expect_equal(dim(coef(fit)$gamma$shape), c(3, 2))
  expect_true(all(is.finite(confint(fit, "gamma.shape"))))
  line <- data.frame(y = x[, 1], z = log(x[, 1]) + stats::rnorm(180) / 9, a = x[, 2])
  beside <- bnp_mixture(
    line, obs_product(obs_regression(formula = z ~ y), obs_gamma(columns = "a")),
    control = quiet(seed = 1, max_laps = 5)
  ) |> suppressWarnings()
  expect_true(is.finite(elbo(beside)))
})

test_that("gamma: weights are rows written out, and samplers and streams take it", {
  x <- withr::with_seed(8, rgamma(40, 3, rep(c(1, 20), each = 20)))
  times <- rep(c(1, 3), 20)
  start <- rep(1:2, each = 20)
  fixed <- quiet(seed = 1, moves = FALSE, max_laps = 30)
  by_weight <- bnp_mixture(x, obs_gamma(), control = fixed, weights = times, start = start)
  written_out <- bnp_mixture(rep(x, times), obs_gamma(), control = fixed, start = rep(start, times))
  expect_equal(elbo(by_weight), elbo(written_out), tolerance = 1e-8)
  plain <- bnp_mixture(x, obs_gamma(), control = fixed, start = start)
  draws <- bnp_sample(plain, x, draws = 20, warmup = 5, chains = 2, seed = 1)
  expect_true(all(is.finite(as.matrix(as.data.frame(draws))[, "log_joint"])))
  stream <- bnp_mixture(x, obs_gamma(), control = bnp_control("truncation_free", seed = 1, verbose = FALSE))
  expect_true(is.finite(heldout_loglik(stream, x)))
})

test_that("gamma: arguments are refused at both ends, by name", {
  for (bad in list(0, -1, NA, "a", Inf, numeric())) expect_bad(obs_gamma(bad), "argument", "shape")
  expect_bad(obs_gamma(1e7), "range", "`shape` must be from 0.001")
  for (end in likelihood_shapes) expect_identical(obs_gamma(end)$shape, end)
  spoiled <- gamma_prior(0.5, 0.01)
  spoiled[["rate"]] <- -1
  expect_bad(obs_gamma(spoiled), "argument", "`shape\\$rate`")
  expect_bad(gamma_prior(1e-11, 1), "range", "shape")
  expect_bad(prior_dp(gamma_prior(0.5, 1)), "range", "concentration\\$shape")
  expect_output(print(gamma_prior(0.5, 0.01)), "Gamma prior: Gamma\\(0.5, 0.01\\), mean 50")
  expect_output(print(obs_gamma()), "shape learned.*shape = Gamma\\(0.5,\\s+0.01\\)")
  expect_bad(bnp_mixture(c(1, 0), obs_gamma()), "not_positive", "half")
  expect_bad(bnp_mixture(c(1, 1e160), obs_gamma()), "range", "1e150")
  # Positional calls of earlier versions.
  by_position <- obs_gamma(2, 0.5, 3, "x")
  expect_identical(by_position[c("shape", "a", "b", "columns")], list(shape = 2, a = 0.5, b = 3, columns = "x"))
})

angles <- c(0.2, -0.5, 2.9, -3, 1.1, 0.4)
angular <- function(concentration = gamma_prior(1, 0.02), d = 1, ...) {
  list(family = "von_mises", concentration = concentration, d = d, ...)
}

test_that("angles: evidence is that of quadrature, of one angle uniform, and of a known concentration a closed form", {
  expect_equal(shaped_evidence(angular(), angles, soft), c(-14.9556661155, -9.93517829), tolerance = 1e-8)
  expect_equal(shaped_evidence(angular(), rep(0, 100)), 245.043967, tolerance = 1e-8)
  expect_equal(shaped_evidence(angular(), 2), -log(2 * pi), tolerance = 1e-12)
  length <- Mod(sum(exp(1i * angles)))
  closed <- function(k) -6 * log(2 * pi * besselI(k, 0)) + log(besselI(k * length, 0))
  for (k in c(0.3, 4, 50)) {
    expect_equal(shaped_evidence(angular(k, known = TRUE), angles), closed(k), tolerance = 1e-10)
    expect_equal(elbo(bnp_mixture(angles, obs_vonmises(k), one, quiet(seed = 1))), closed(k), tolerance = 1e-10)
    expect_equal(shaped_evidence(angular(gamma_prior(1e9, 1e9 / k)), angles), closed(k), tolerance = 1e-6)
  }
})

test_that("angles: turning all of them turns directions alone, and 2 pi is nothing", {
  x <- withr::with_seed(1, wrapped(c(draw_angles(60, 8), 2 + draw_angles(60, 3))))
  plain <- bnp_mixture(x, obs_vonmises(), control = quiet(seed = 1))
  expect_equal(n_clusters(plain), 2)
  for (turn in c(1, 3, -2.5)) {
    fit <- bnp_mixture(wrapped(x + turn), obs_vonmises(), control = quiet(seed = 1))
    expect_equal(elbo(fit), elbo(plain), tolerance = 1e-8)
    expect_equal(wrapped(coef(fit)$direction - coef(plain)$direction - turn), 0 * coef(fit)$direction, tolerance = 1e-5)
  }
  whole_turns <- bnp_mixture(x + 2 * pi * (x < 0), obs_vonmises(), control = quiet(seed = 1))
  expect_equal(elbo(whole_turns), elbo(plain), tolerance = 1e-9)
})

test_that("angles: extremes are finite, draws are those of the predictive, and intervals cover directions", {
  for (x in list(1, rep(1, 100), c(pi, -pi), seq(-pi, pi, length.out = 50))) {
    fit <- bnp_mixture(x, obs_vonmises(), control = quiet(seed = 1, max_laps = 5)) |> suppressWarnings()
    expect_true(is.finite(elbo(fit)) && all(is.finite(unlist(coef(fit)))))
  }
  weighted <- bnp_mixture(c(1, 1), obs_vonmises(), control = quiet(seed = 1), weights = c(5e5, 5e5))
  expect_gt(coef(weighted)$concentration, 1e6)
  x <- withr::with_seed(2, wrapped(3 + draw_angles(40, 4)))
  fit <- bnp_mixture(x, obs_vonmises(), one, quiet(seed = 1))
  q <- posterior_clusters(fit)[[1]]
  drawn <- withr::with_seed(3, replicate(1000, obs_draw_rows(fit$model$obs, q, 1:8, list())))
  at <- seq(-3, 3, 1)
  below <- c(obs_predictive_cdf(fit$model$obs, q, list(x = cbind(at), n = 7L)))
  expect_equal(below, vapply(at, function(v) mean(drawn <= v), 1), tolerance = 0.02)
  grid <- seq(-pi, pi, length.out = 4001)[-1]
  density <- exp(predict(fit, grid, "logdensity"))
  expect_equal(sum(density) * 2 * pi / 4000, 1, tolerance = 1e-8)
  expect_equal(below, vapply(at, function(v) sum(density[grid <= v]) * 2 * pi / 4000, 1), tolerance = 2e-3)
  ends <- confint(fit, "direction")
  expect_true(ends[1] < coef(fit)$direction && coef(fit)$direction < ends[2])
  # A normal posterior of the direction has variance 1 / (length of the sum x concentration).
  expect_equal(diff(c(ends)), 2 * 1.96 / sqrt(40 * 0.86 * 4), tolerance = 0.2)
})

test_that("angles: bad values and arguments are refused, and averages of angles, too", {
  expect_bad(bnp_mixture(c(10, 170), obs_vonmises()), "not_angles", "pi / 180")
  expect_bad(obs_vonmises(0), "argument", "concentration")
  expect_bad(obs_vonmises(1e7), "range", "concentration")
  expect_bad(obs_vonmises(gamma_prior(0.5, 1)), "range", "concentration\\$shape")
  x <- withr::with_seed(1, cbind(a = draw_angles(30, 2), b = draw_angles(30, 5)))
  chain <- bnp_hmm(x, obs = obs_vonmises(), prior = prior_hmm(2), control = quiet(seed = 1, max_laps = 3)) |>
    suppressWarnings()
  expect_bad(predict(chain, x, n.ahead = 2), "argument", "obs_vonmises")
  gaps <- replace(x, cbind(3:5, 1), NA)
  fit <- bnp_mixture(gaps, obs_vonmises(), control = quiet(seed = 1), na_action = "model")
  expect_bad(predict(fit, gaps, type = "impute"), "argument", "Missing angles have no expectation")
  expect_true(all(abs(impute(fit, gaps, m = 1, seed = 1)[[1]]) <= pi))
})

test_that("an animal's steps and angles: two states are found, with zeros and missing cells", {
  track <- withr::with_seed(5, {
    state <- rep(rep(1:2, 6), each = 40)
    step <- rgamma(480, c(0.9, 3)[state], c(3, 2.5)[state])
    step[runif(480) < c(0.05, 0.002)[state]] <- 0
    data.frame(step, angle = wrapped(c(pi, 0)[state] + ifelse(state == 1, draw_angles(480, 0.4), draw_angles(480, 6))))
  })
  track$angle[track$step == 0 | seq_len(480) %% 60 == 0] <- NA
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  fit <- bnp_hmm(track, obs = walk, na_action = "model", control = quiet(seed = 1))
  expect_equal(n_clusters(fit), 2)
  expect_gt(adjusted_rand_index(fitted(fit), rep(rep(1:2, 6), each = 40)), 0.8)
  expect_true(all(is.finite(as.matrix(simulate(fit, seed = 1)$sim_1[c("step", "angle")]))))
  expect_true(all(cluster_overlap(fit) <= 1 + 1e-12))
})

test_that("zeros: the bound is that of the positive values and of a Beta, and shares are those of the data", {
  x <- c(0, 0.3, 1.1, 0, 0.9, 0)
  both <- elbo(bnp_mixture(x, obs_gamma(zeros = TRUE, b = 1), one, quiet(seed = 1)))
  positive <- elbo(bnp_mixture(x[x > 0], obs_gamma(b = 1), one, quiet(seed = 1)))
  expect_equal(both - positive, -5.32203389, tolerance = 1e-8)
  for (shape in list(NULL, 2)) {
    x <- withr::with_seed(3, {
      group <- rep(1:2, each = 150)
      rgamma(300, 4, c(4, 0.2)[group]) * (runif(300) > c(0.3, 0.05)[group])
    })
    fit <- bnp_mixture(x, obs_gamma(shape, zeros = TRUE), control = quiet(seed = 1)) |> suppressWarnings()
    expect_true(all(obs_supports(fit$model$obs, unlist(simulate(fit, seed = 1)$sim_1["x"]))))
    at_0 <- exp(predict(fit, 0, "logdensity"))
    expect_equal(unname(at_0), mean(x == 0), tolerance = 0.1)
    weight <- coef(fit)$weights[seq_len(n_clusters(fit))]
    expect_equal(sum(weight * coef(fit)$zero), mean(x == 0), tolerance = 0.1)
    expect_true(all(is.finite(confint(fit, "zero"))))
  }
  expect_bad(bnp_mixture(cbind(c(1, 2), 0), obs_gamma(zeros = TRUE)), "only_zeros", "2")
  expect_bad(bnp_mixture(c(1, -2), obs_gamma(zeros = TRUE)), "not_positive", "at least 0")
  expect_bad(bnp_mixture(c(1, 0), obs_gamma()), "not_positive", "zeros = TRUE")
  expect_bad(obs_gamma(zeros = NA), "argument", "zeros")
  expect_output(print(obs_gamma(zeros = TRUE)), "or 0")
  # Moments are those of draws.
  q <- posterior_clusters(fit)[[1]]
  drawn <- withr::with_seed(1, replicate(2500, obs_draw_rows(fit$model$obs, q, 1:8, list())))
  moments <- obs_moments(fit$model$obs, q, list())
  expect_equal(c(mean(drawn), sd(drawn)), c(moments$mean, sqrt(moments$var)), tolerance = 0.05)
  expect_equal(obs_predictive_cdf(fit$model$obs, q, list(x = cbind(c(0, 1, 20)), n = 3L))[, 1],
    c(mean(drawn <= 0), mean(drawn <= 1), mean(drawn <= 20)), tolerance = 0.03
  )
})

test_that("zeros: divergences and overlaps are sums over 0 and the rest", {
  obs <- new_obs("shaped_gamma", zeros = TRUE)
  a <- list(shape = c(2, 3), mean = c(1, 5), zero = c(0.1, 0.4))
  b <- list(shape = c(1.5, 3), mean = c(2, 4), zero = c(0.3, 0.2))
  parts <- lapply(1:2, function(j) {
    at <- exp(seq(-30, 8, 0.005))
    f <- function(q) {
      c(log(q$zero[j]), dgamma(at, q$shape[j], q$shape[j] / q$mean[j], log = TRUE) + log((1 - q$zero[j]) * at * 0.005))
    }
    c(sum(exp(f(a)) * (f(a) - f(b))), sum(exp((f(a) + f(b)) / 2)))
  })
  expect_equal(obs_divergence(obs, a, b), parts[[1]][1] + parts[[2]][1], tolerance = 1e-6)
  expect_equal(obs_overlap(obs, a, b), parts[[1]][2] * parts[[2]][2], tolerance = 1e-6)
})

counts <- c(0, 1, 5, 7, 4, 2)
sized <- function(size = gamma_prior(0.5, 0.01), a = 1, mean = 3, ...) {
  list(family = "negative_binomial", size = size, a = a, mean = mean, exposed = FALSE, ...)
}

test_that("negative binomial: evidence is that of quadrature, a known size a closed form, and a large one Poisson", {
  expect_equal(shaped_evidence(sized(), counts, soft), c(-15.59469146, -9.57809961), tolerance = 1e-8)
  closed <- function(s) {
    sum(lgamma(counts + s) - lgamma(s) - lfactorial(counts)) + lbeta(1 + sum(counts), 1 + s / 3 + 6 * s) -
      lbeta(1, 1 + s / 3)
  }
  for (s in c(0.01, 2, 700)) expect_equal(shaped_evidence(sized(s, known = TRUE), counts), closed(s), tolerance = 1e-10)
  poisson <- list(family = "poisson", a = 1, b = 1 / 3, exposed = FALSE)
  expect_equal(shaped_evidence(sized(1e6, known = TRUE), counts), shaped_evidence(poisson, counts), tolerance = 1e-4)
  fit <- bnp_mixture(counts, obs_negbinomial(2, mean = 3), one, quiet(seed = 1))
  expect_equal(elbo(fit), closed(2), tolerance = 1e-10)
  expect_true(all(is.na(suppressWarnings(obs_quantiles(fit$model$obs)$size(posterior_clusters(fit)[[1]], 0.5)))))
})

test_that("negative binomial: between and beyond the nodes of sizes Λ is that of the Gamma functions themselves", {
  exact <- function(y, s) {
    sum(lgamma(y + s) - lgamma(s) - lfactorial(y)) + lbeta(1 + sum(y), 1 + s + length(y) * s) - lbeta(1, 1 + s)
  }
  sharp <- function(y, s) shaped_evidence(sized(c(1e10, 1e10 / s), mean = 1), y)
  for (y in list(counts, c(0, 0, 1000), c(1e5, 3), c(600, 700))) {
    for (s in c(0.006, 0.3, 7.7, 900, 40000)) {
      expect_equal(sharp(y, s), exact(y, s), tolerance = 1e-6, info = paste(s, max(y)))
    }
    # The tangent is below what is convex.
    for (s in c(0.002, 1e5)) expect_lt(sharp(y, s), exact(y, s) + 1e-3)
  }
})

test_that("negative binomial: groups are one cluster each, exposures scale, and moments are those of draws", {
  group <- rep(1:3, each = 60)
  x <- withr::with_seed(4, cbind(
    rnbinom(180, mu = c(2, 10, 40)[group], size = 2), rnbinom(180, mu = c(30, 3, 15)[group], size = 2)
  ))
  fit <- bnp_mixture(x, obs_negbinomial(), control = quiet(seed = 1))
  expect_equal(n_clusters(fit), 3)
  if (long_tests()) {
    poisson <- bnp_mixture(x, obs_poisson(), control = quiet(seed = 1, max_laps = 10)) |> suppressWarnings()
    expect_gt(n_clusters(poisson), 5)
  }
  hours <- withr::with_seed(5, exp(rnorm(200) / 2))
  y <- withr::with_seed(6, rnbinom(200, mu = 6 * hours, size = 3 * hours))
  rated <- bnp_mixture(cbind(n = y, hours), obs_negbinomial(exposure = "hours"), one, quiet(seed = 1))
  expect_equal(c(coef(rated)$mean), sum(y) / sum(hours), tolerance = 0.02)
  expect_equal(c(coef(rated)$size), 3, tolerance = 0.3)
  expect_true(all(are_counts(simulate(rated, seed = 1)$sim_1$n)))
  q <- posterior_clusters(rated)[[1]]
  moments <- obs_moments(rated$model$obs, q, list(exposure = 2))
  drawn <- withr::with_seed(7, replicate(2500, obs_draw_rows(rated$model$obs, q, 1:8, list(exposure = rep(2, 8)))))
  expect_equal(c(mean(drawn), sd(drawn)), c(moments$mean, sqrt(moments$var)), tolerance = 0.03)
  constant <- bnp_mixture(rep(100, 50), obs_negbinomial(), control = quiet(seed = 1)) |> suppressWarnings()
  expect_equal(n_clusters(constant), 1)
  zeros <- bnp_mixture(cbind(rep(0, 30), rep(0:1, 15)), obs_negbinomial(), control = quiet(seed = 1))
  expect_true(is.finite(elbo(zeros)) && all(is.finite(coef(zeros)$mean)))
  expect_bad(bnp_mixture(c(1.5, 2), obs_negbinomial()), "not_counts", "obs_gamma")
  expect_bad(obs_negbinomial(-1), "argument", "size")
  expect_bad(obs_negbinomial(mean = 0), "argument", "mean")
  expect_bad(obs_negbinomial(mean = 1e12), "range", "mean")
})

test_that("the default of a typical value, moments and draws of shapes are what they are said to be", {
  x <- c(0.2, 3, 3, 40)
  logs <- log(x)
  obs <- resolve_obs(obs_gamma(a = 2), as_mixture_data(x, obs_gamma()))
  expect_equal(obs$b / obs$a, exp(mean(logs) - 2 * sqrt(mean((logs - mean(logs))^2))))
  q <- list(shape_node = matrix(2), shape_prob = matrix(1), a = matrix(5), b = matrix(9))
  second <- stats::integrate(function(p) (2 * p / (1 - p)^2 + (2 * p / (1 - p))^2) * stats::dbeta(p, 5, 9), 0, 1)$value
  moments <- obs_moments(new_obs("negative_binomial"), q, list(exposure = 1))
  expect_equal(moments$var + moments$mean^2, second, tolerance = 1e-6)
  column <- list(shape_node = 1:5, shape_prob = c(1, 4, 6, 4, 1) / 16)
  drawn <- withr::with_seed(1, replicate(50, draw_shape(column)$shape_node))
  expect_length(unique(drawn), 50) # of a density, and not of points
})

test_that("the rough evidence, by which candidates are chosen, is within a twentieth of a nat of the evidence", {
  resp <- cbind(1, 1e-3, diag(6)[, 1:2], c(1, 1, 0, 0, 0, 0), c(0.3, 0, 1, 0, 0.2, 0), 1e4)
  models <- list(
    list(shaped_gamma(), times), list(shaped_gamma(b = 40), times), list(shaped_gamma(), rep(5, 6)),
    list(angular(), angles), list(angular(), rep(1, 6)), list(sized(), counts), list(sized(), rep(40, 6)),
    list(shaped_gamma(zeros = TRUE), replace(times, 2, 0))
  )
  for (model in models) {
    e <- engine_contract(engine_data(as.matrix(model[[2]])), list(obs = model[[1]], prior = one), resp)
    expect_lt(max(abs(e$rough_evidence - e$evidence)), 0.05, label = model[[1]]$family)
    both <- list(family = "product", blocks = list(a = model[[1]], b = shaped_gamma()))
    p <- engine_contract(engine_data(cbind(model[[2]], times)), list(obs = both, prior = one), resp)
    expect_lt(max(abs(p$rough_evidence - p$evidence)), 0.1, label = model[[1]]$family)
    expect_false(identical(e$rough_evidence, e$evidence))
  }
})
