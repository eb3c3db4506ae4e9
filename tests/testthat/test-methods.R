fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
zoo <- bnp_mixture(animals, obs_bernoulli(), control = bnp_control(seed = 1))

test_that("print and summary say what matters in at most 21 lines", {
  wide <- bnp_mixture(matrix(rnorm(3000), 60, 50), control = bnp_control(seed = 1, k_init = 30, moves = FALSE))
  for (f in list(fit, zoo, wide)) {
    expect_lte(length(capture.output(print(f))), 20)
    expect_lte(length(capture.output(print(summary(f)))), 21)
    expect_true(all(nchar(capture.output(print(summary(f)))) <= 100))
  }
  shown <- paste(capture.output(print(summary(fit))), collapse = "\n")
  for (part in c("3 clusters", "ELBO", "laps", "converged", "concentration = 1", "df = ", "seed 1")) {
    expect_match(shown, part, fixed = TRUE)
  }
  short <- bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 2))
  expect_output(print(short), "not converged")
})

test_that("tidy, glance and augment use broom's names", {
  tidied <- tidy(fit)
  expect_named(tidied, c(
    "component", "size", "proportion", "mean.eruptions", "mean.waiting", "sd.eruptions", "sd.waiting"
  ))
  expect_equal(tidied$sd.waiting, unname(sqrt(coef(fit)$cov[2, 2, ])))
  expect_equal(tidied$mean.eruptions, unname(coef(fit)$mean[, 1]))
  long <- tidy(zoo)
  expect_equal(nrow(long), zoo$state$k * 85)
  expect_equal(long$estimate[long$component == 2 & long$term == "furry"], coef(zoo)$prob[["2", "furry"]])
  glanced <- glance(fit)
  expect_equal(glanced$k, 3)
  expect_equal(glanced$elbo, elbo(fit))
  augmented <- augment(fit, faithful)
  expect_equal(as.integer(augmented$.class), unname(fitted(fit)))
  expect_equal(augmented$.uncertainty, unname(1 - apply(predict(fit, faithful, "responsibility"), 1, max)))
  expect_equal(nrow(augment(zoo, animals)), 50)
  expect_bad(augment(fit), "newdata", "needed")
  one <- bnp_mixture(faithful$waiting, obs_gaussian("diagonal"), control = bnp_control(seed = 1))
  expect_true(all(c("mean.x", "sd.x") %in% names(tidy(one))))
})

test_that("as.data.frame has one row per cluster", {
  frame <- as.data.frame(fit)
  expect_named(frame, c("cluster", "size", "weight", "eruptions", "waiting"))
  expect_equal(frame$waiting, unname(coef(fit)$mean[, 2]))
})

test_that("simulated data look like the data", {
  set.seed(9)
  before <- .Random.seed
  sims <- simulate(fit, nsim = 3, seed = 1, n = 5000)
  expect_identical(.Random.seed, before)
  expect_identical(simulate(fit, nsim = 3, seed = 1, n = 5000), sims)
  expect_named(sims, c("sim_1", "sim_2", "sim_3"))
  expect_equal(nrow(simulate(fit, seed = 1)$sim_1), 272)
  x <- sims$sim_2
  expect_equal(colMeans(x[1:2]), colMeans(faithful), tolerance = 0.05)
  expect_equal(cov(x[x$.class == 1, 1:2]), coef(fit)$cov[, , 1], tolerance = 0.35)
  expect_equal(mean(x$.class == 1), coef(fit)$weights[[1]], tolerance = 0.05)
})

test_that("every observation model can be simulated", {
  models <- list(
    list(faithful, obs_gaussian("diagonal")), list(scale(faithful), obs_gaussian("zero_mean")),
    list(animals, obs_bernoulli()), list(bars$counts[1:50, ], obs_multinomial())
  )
  for (m in models) {
    f <- bnp_mixture(m[[1]], m[[2]], control = bnp_control(seed = 1))
    x <- simulate(f, seed = 2)$sim_1
    expect_equal(dim(x), dim(m[[1]]) + c(0, 1))
    expect_equal(names(x)[seq_len(ncol(m[[1]]))], colnames(m[[1]]))
    expect_true(all(is.finite(predict(f, x[-ncol(x)], "logdensity"))))
  }
  expect_equal(unique(rowSums(x[-ncol(x)])), 100)
})

test_that("Gaussian draws have the mean and covariance they are drawn around", {
  set.seed(1)
  scale <- matrix(c(4, 1, 1, 2), 2) * 1e4
  x <- draw_gaussian(2e5, c(1, -3), 1e8, 1e4, scale)
  expect_equal(colMeans(x), c(1, -3), tolerance = 0.01)
  expect_equal(cov(x), scale / 1e4, tolerance = 0.06)
})

test_that("the adjusted Rand index agrees with its definition", {
  expect_equal(adjusted_rand_index(c(1, 1, 2, 2), c("b", "b", "a", "a")), 1)
  expect_equal(adjusted_rand_index(rep(1, 5), rep("x", 5)), 1)
  expect_equal(adjusted_rand_index(c(1, 1, 2, 2), c(1, 2, 1, 2)), -0.5)
  a <- c(1, 1, 1, 2, 2, 2, 3, 3)
  b <- c(1, 1, 2, 2, 2, 3, 3, 3)
  pairs <- combn(8, 2)
  same <- function(z) z[pairs[1, ]] == z[pairs[2, ]]
  expected <- sum(same(a)) * sum(same(b)) / ncol(pairs)
  index <- (sum(same(a) & same(b)) - expected) / ((sum(same(a)) + sum(same(b))) / 2 - expected)
  expect_equal(adjusted_rand_index(a, b), index)
  expect_bad(adjusted_rand_index(1:2, 1:3), "argument", "same length")
})

test_that("tidy() has the coefficients of logistic and count regressions, of clusters and of states", {
  few <- bnp_control(seed = 1, moves = FALSE, max_laps = 3, tol = 0, verbose = FALSE)
  formulas <- list(binomial = factor(vs) ~ wt, negbinomial = carb ~ wt)
  for (family in names(formulas)) for (verb in list(bnp_mixture, bnp_hmm)) {
    regression <- obs_regression(family = family)
    fit <- suppressWarnings(verb(formulas[[family]], data = mtcars, obs = regression, control = few))
    coefficients <- as.data.frame(tidy(fit))[c("coef.(Intercept)", "coef.wt")]
    expect_equal(unname(as.matrix(coefficients)), unname(t(coef(fit)$coef[1, , ])), ignore_attr = TRUE)
  }
})
