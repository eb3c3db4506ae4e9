# Draws of a cluster's parameters: their law is the posterior, for every registered observation model.

# z scores of the columns' means, where a column varies.
mean_z <- function(x, expected) {
  spread <- apply(x, 2L, stats::sd)
  off <- colMeans(x) - expected
  certain <- spread <= 1e-8 * pmax(1, abs(expected))
  ifelse(certain, ifelse(abs(off) > 1e-7 * pmax(1, abs(expected)), Inf, 0), off / (spread / sqrt(nrow(x))))
}

# Some thousand numbers are looked at, so that one in ten seeds would have a |z| above 4.
expect_means <- function(x, expected, label) expect_lt(max(abs(mean_z(x, expected))), 4.5, label = label)

expect_posterior_draws <- function(case, resp, times = 2000, most = 40, density = TRUE) {
  out <- engine_parameter_draws(case$data, case$model, resp, times, 1)
  rows <- unique(round(seq(1, nrow(out$features), length.out = most)))
  phi <- out$features[rows, , drop = FALSE]
  log_p <- tcrossprod(out$draws, phi)
  expect_means(log_p, as.numeric(phi %*% out$weights[1L, ]), "log likelihoods")
  # Where features are values at nodes, or powers, weights far from the posterior are made up by draws that hardly come.
  at_nodes <- grepl("^negative_binomial|weibull", case$model$obs$family)
  if (!at_nodes) expect_means(out$draws, out$weights[1L, ], "weights")
  if (!density) {
    return()
  }
  # Where few draws make up a mean, its standard error is no measure of it.
  ratio <- exp(sweep(log_p, 2L, out$log_predictive[rows]))
  tame <- apply(ratio, 2L, function(r) stats::sd(r) < 5 && max(r) < 0.02 * sum(r))
  expect_gt(mean(tame), 0.6)
  expect_means(ratio[, tame, drop = FALSE], 1, "densities")
}

# The means alone would not see parameters whose spread is that of the prior, nor the densities a wrong one of few rows.
# Rows with scales have no sampler, and so no draws.
# The short suite leaves out forms of the negative binomial distribution, which take half of the time.
are_drawn <- without_scales(c(model_cases(), planted_cases()))
if (!long_tests()) are_drawn <- Filter(function(case) !startsWith(case$name, "negative_binomial, "), are_drawn)
for (case in some_of(are_drawn, by = 6, from = 3)) {
  test_that(paste0(case$name, ": parameters are drawn from the posterior"), {
    skip_if(any(case$model$obs$rounding > 0), "features of cells are not those of rows, which predictives are of")
    n <- sum(pmax(0, diff(case$data$starts) - obs_lag(case$model$obs)))
    expect_posterior_draws(case, rep(1, n))
    expect_posterior_draws(case, withr::with_seed(1, rexp(n) * rbinom(n, 1, 0.4)))
    expect_posterior_draws(case, rep(0, n), density = FALSE)
  })
}

for (case in repeated_cases()[c(1, 5)]) {
  test_that(paste0(case$name, ", individuals: parameters are drawn from the posterior"), {
    expect_posterior_draws(case, rep(1, case$data$n_individuals))
    expect_posterior_draws(case, rep(0, case$data$n_individuals), density = FALSE)
  })
}

test_that("rows that may lack cells have the draws of those that may not", {
  full <- Filter(function(case) case$model$obs$family == "gaussian_full", model_cases())[[1L]]
  plain <- engine_parameter_draws(full$data, full$model, rep(1, 40), 50, 1)
  full$model$obs$gaps <- TRUE
  gaps <- engine_parameter_draws(full$data, full$model, rep(1, 40), 50, 1)
  expect_equal(tcrossprod(gaps$draws, gaps$features), tcrossprod(plain$draws, plain$features), tolerance = 1e-12)
})

test_that("parameters have their posterior where the data say little, however small the prior", {
  obs <- list(family = "multinomial", term_prior = rep(1e-8, 3))
  case <- list(data = engine_data(diag(3)), model = list(obs = obs, prior = list(family = "dp", concentration = 1)))
  out <- engine_parameter_draws(case$data, case$model, c(0, 0, 0), 3000, 1)
  expect_true(all(is.finite(out$draws)))
  expect_lt(max(abs(mean_z(1 * (out$draws[, -1] > -1e-3), rep(1 / 3, 3)))), 4) # all on one term
  tight <- list(
    family = "gaussian_full", mean = 0, mean_strength = 1e-6, df = 1e-3, scale = 1e-6, centre = 0, unit = 1
  )
  wide <- engine_parameter_draws(engine_data(cbind(0)), list(obs = tight, prior = case$model$prior), 0, 3000, 1)
  expect_false(anyNA(wide$draws))
})
