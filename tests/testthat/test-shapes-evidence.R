# Bounds of models with shapes or scales beside the exact log evidence, by enumeration or quadrature in plain R; and the
# order of arguments of constructors.

quiet <- function(...) bnp_control(..., verbose = FALSE, seed = 1)

# All partitions of 1 .. n: a matrix with a row of labels for each.
partitions <- function(n) {
  if (n == 1L) {
    return(matrix(1L))
  }
  before <- partitions(n - 1L)
  do.call(rbind, lapply(seq_len(nrow(before)), function(i) {
    cbind(before[rep(i, max(before[i, ]) + 1L), , drop = FALSE], seq_len(max(before[i, ]) + 1L))
  }))
}

test_that("gamma: the log evidence of six values, by all partitions, is above the bound", {
  x <- c(0.3, 1.1, 0.2, 0.9, 2.5, 0.4)
  subsets <- as.matrix(expand.grid(rep(list(0:1), 6)))[-1, ]
  model <- list(family = "shaped_gamma", shape = gamma_prior(0.5, 0.01), a = 1, b = 1)
  own <- engine_contract(engine_data(cbind(x)), list(obs = model, prior = prior_dirichlet(1)), t(subsets))
  of_subset <- own$evidence + drop(subsets %*% own$log_base)
  every <- partitions(6L)
  expect_identical(nrow(every), 203L)
  joint <- apply(every, 1L, function(z) {
    size <- tabulate(z)
    members <- vapply(seq_along(size), function(k) sum(2^(which(z == k) - 1)), 1)
    sum(lfactorial(size - 1) + of_subset[members]) - lfactorial(6)
  })
  exact <- max(joint) + log(sum(exp(joint - max(joint))))
  expect_equal(exact, -8.18238833, tolerance = 1e-8)
  bound <- elbo(bnp_mixture(x, obs_gamma(b = 1), prior_dp(1), quiet()))
  expect_lt(bound, exact)
})

test_that("negative binomial: the unit of exposures changes nothing but the unit of sizes and means", {
  hours <- withr::with_seed(5, exp(rnorm(200) / 2))
  fit_of <- function(unit, size) {
    y <- withr::with_seed(6, rnbinom(200, mu = rep(c(6, 60), 100) * hours, size = size * hours))
    bnp_mixture(cbind(n = y, hours = hours / unit), obs_negbinomial(exposure = "hours"), control = quiet(restarts = 1))
  }
  for (size in c(0.1, 5)) { # a size of 0.1 at 100 hours is 0.001 an hour, below all nodes of sizes for one hour
    plain <- fit_of(1, size)
    for (unit in c(1e-9, 1e-2, 1e4)) {
      fit <- fit_of(unit, size)
      expect_equal(elbo(fit), elbo(plain), tolerance = 1e-9)
      expect_equal(coef(fit)$size, coef(plain)$size * unit, tolerance = 1e-6)
      expect_equal(coef(fit)$mean, coef(plain)$mean * unit, tolerance = 1e-6)
    }
    again <- bnp_mixture(
      cbind(n = c(3, 5), hours = 1), obs_negbinomial(exposure = "hours"), control = quiet(), start = fit
    )
    expect_identical(again$model$obs$mean_exposure, fit$model$obs$mean_exposure)
  }
})

# log p(x) of t clusters in one column under m = 0, kappa = .3, 3 degrees of freedom of the Wishart and scale .8, with
# nu degrees of freedom: a sum over the standardised mean and the log precision.
exact_of_t <- function(x, nu) {
  z <- seq(-12, 12, by = 0.2)
  log_precision <- seq(-9, 5, by = 0.2)
  at <- expand.grid(z = z, l = log_precision)
  precision <- exp(at$l)
  log_p <- dnorm(at$z, log = TRUE) + dgamma(precision, 1.5, 0.4, log = TRUE) + at$l
  for (v in x) log_p <- log_p + dt(v * sqrt(precision) - at$z / sqrt(0.3), nu, log = TRUE) + at$l / 2
  max(log_p) + log(sum(exp(log_p - max(log_p))) * 0.2^2)
}

test_that("Student's t: bounds are below the exact log evidence, of known and of learned degrees of freedom", {
  x <- c(-1.2, 0.3, 0.5, 4.1)
  bound <- function(...) {
    obs <- suppressMessages(obs_student(mean = 0, mean_strength = 0.3, df = 3, scale = 0.8, ...))
    elbo(bnp_mixture(cbind(x), obs, prior_dirichlet(1), quiet(moves = FALSE)))
  }
  known <- exact_of_t(x, 4)
  expect_equal(known, -10.88797693, tolerance = 1e-8)
  expect_lt(bound(tails = 4), known)
  log_nu <- seq(-6, 6.5, by = 0.5)
  each <- vapply(exp(log_nu), exact_of_t, 1, x = x) + dgamma(exp(log_nu), 2, 0.1, log = TRUE) + log_nu
  learned <- max(each) + log(sum(exp(each - max(each))) * 0.5)
  expect_equal(learned, -11.66490, tolerance = 1e-5)
  expect_lt(bound(), learned)
})

test_that("half of the intervals of shapes and more hold what they should", {
  skip_if_not(longest_tests(), "long: set BNPVI_LONG_TESTS=true")
  covered <- function(draw, obs, name, truth) {
    mean(vapply(1:300, function(i) {
      x <- withr::with_seed(i, draw(50))
      ends <- confint(bnp_mixture(x, obs, prior_dirichlet(1), quiet()), name, level = 0.9)
      ends[1] <= truth && truth <= ends[2]
    }, NA))
  }
  # By an independent derivation .930, .913 and .940 of 300 samples.
  shares <- c(
    covered(function(n) rgamma(n, 3, 1), obs_gamma(), "shape", 3),
    covered(function(n) rnbinom(n, 2, mu = 8), obs_negbinomial(), "size", 2),
    covered(function(n) draw_angles(n, 2), obs_vonmises(), "concentration", 2)
  )
  expect_true(all(shares > 0.86 & shares < 0.96), info = toString(signif(shares, 3)))
})

test_that("arguments that constructors had before others were added are in their old places", {
  first <- list(
    obs_gamma = c("shape", "a", "b", "columns"), obs_survival = c("a", "b", "columns"),
    obs_poisson = c("a", "b", "exposure", "columns"),
    obs_regression = c("df", "scale", "coef_mean", "coef_precision", "formula", "learn"),
    obs_ar = c("lag", "intercept", "df", "scale", "coef_mean", "coef_precision", "learn"),
    obs_binomial = c("a", "b", "columns"), obs_categorical = c("prior", "columns"),
    obs_bernoulli = c("a", "b", "learn", "columns"), obs_multinomial = c("term_prior", "columns"),
    obs_gaussian = c(
      "covariance", "mean", "mean_strength", "df", "scale", "learn", "variance", "columns", "drift", "rounding"
    ),
    obs_lds = c(
      "loadings", "intercept", "df", "scale", "coef_mean", "coef_precision", "noise", "noise_df", "noise_scale",
      "start_mean", "start_var"
    )
  )
  for (name in names(first)) expect_identical(utils::head(names(formals(name)), length(first[[name]])), first[[name]])
  by_position <- obs_survival(2, 3, "time")
  expect_identical(by_position[c("a", "b", "columns")], list(a = 2, b = 3, columns = "time"))
  by_position <- obs_regression(5, 2, NULL, 3, y ~ z, FALSE)
  expect_identical(by_position[c("df", "scale", "coef_precision", "learn")],
    list(df = 5, scale = 2, coef_precision = 3, learn = FALSE))
})
