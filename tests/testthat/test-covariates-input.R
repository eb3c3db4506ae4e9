# What bad covariates are told, each by its own class.

x <- planted_by_age(60, seed = 1)$x
age <- planted_by_age(60, seed = 1)$age
call <- function(formula = ~ age, covariates = age, ..., control = quiet_control(max_laps = 3)) {
  bnp_mixture(x, prior = prior_covariates(formula), covariates = covariates, ..., control = control)
}

test_that("formulas are one-sided, without offset or random effects", {
  expect_bad(prior_covariates(y ~ age), "covariates")
  expect_bad(prior_covariates(), "covariates")
  expect_bad(prior_covariates("age"), "covariates")
  expect_bad(prior_covariates(~ offset(age)), "covariates")
  expect_bad(prior_covariates(~ (1 | age)), "formula")
  expect_bad(prior_covariates(~ age, concentration = gamma_prior()), "argument")
  expect_bad(prior_covariates(~ age, effect_scale = 0), "argument")
  expect_bad(prior_covariates(~ age, k = 2.5), "argument")
})

test_that("covariates must be there, known, finite, and one row each", {
  expect_bad(call(covariates = NULL), "covariates")
  expect_bad(call(~ income), "covariates")
  expect_bad(call(covariates = age[1:5, , drop = FALSE]), "covariates")
  expect_bad(call(covariates = age$age), "covariates")
  expect_bad(call(covariates = list(1)), "covariates")
  expect_bad(call(covariates = unname(as.matrix(age))), "covariates")
  expect_bad(call(covariates = replace(age, cbind(3, 1), NA)), "covariates")
  expect_bad(call(covariates = replace(age, cbind(3, 1), Inf)), "covariates")
  expect_error(call(covariates = replace(age, cbind(3, 1), NA)), "3")
  expect_bad(bnp_mixture(x, covariates = age, control = quiet_control()), "covariates")
  expect_bad(bnp_mixture(age, prior = prior_covariates(~ age), control = quiet_control()), "covariates")
})

test_that("constant columns are left out with a message, and levels alone are no problem", {
  expect_message(fit <- call(~ age + one, cbind(age, one = 1)), class = "bnpvi_message_constant")
  expect_equal(elbo(fit), elbo(call()), tolerance = 1e-10)
  expect_message(fit <- call(~ age + one, cbind(age, one = "a")), class = "bnpvi_message_constant")
  expect_equal(elbo(fit), elbo(call()), tolerance = 1e-10)
  many <- as.data.frame(matrix(rnorm(60 * 201), 60))
  expect_bad(call(stats::reformulate(names(many)), many), "covariates")
})

test_that("many patterns are rounded, which is said", {
  big <- planted_by_age(5000, seed = 2)
  expect_message(
    fit <- bnp_mixture(
      big$x, prior = prior_covariates(~ age), covariates = big$age + seq(0, 0.4, length.out = 5000),
      control = quiet_control(max_laps = 5)
    ), class = "bnpvi_message_rounded_covariates"
  )
  expect_identical(fit$model$prior$n_patterns, 64L)
  expect_output(print(fit), "64 covariate patterns")
  few <- bnp_mixture(
    big$x, prior = prior_covariates(~ age), covariates = big$age, control = quiet_control(max_laps = 5)
  )
  expect_identical(few$model$prior$n_patterns, 61L)
})

test_that("a new level has the effects of the prior, with a warning", {
  sex <- rep(c("f", "m"), 30)
  fit <- call(~ sex, data.frame(sex = sex))
  expect_warning(
    new <- predict(fit, data.frame(sex = c("f", "q")), type = "weights"), class = "bnpvi_warning_new_levels"
  )
  expect_equal(rowSums(new), c(1, 1))
  expect_bad(predict(fit, data.frame(other = 1), type = "weights"), "formula")
})

test_that("a rare pattern in which all rows are of one cluster is no problem", {
  rare <- data.frame(group = c(rep("all", 57), rep("rare", 3)))
  fit <- call(~ group, rare)
  expect_true(all(is.finite(predict(fit, rare, type = "weights"))))
})

test_that("what does not go with covariates is refused by name", {
  expect_bad(call(control = bnp_control("truncation_free")), "not_defined")
  source <- source_function(function(i) if (i == 1L) as.data.frame(x))
  for (make in list(bnp_mixture, bnp_hmm, bnp_topics)) {
    expect_bad(make(source, prior = prior_covariates(~ age)), "not_defined")
  }
  expect_bad(bnp_sample(x, prior = prior_covariates(~ age)), "not_defined") # before a fit, which would lack age
  fit <- call()
  expect_bad(bnp_sample(fit, x), "not_defined")
  expect_bad(cluster_tree(fit, x), "not_defined")
  expect_bad(predict(bnp_mixture(x, control = quiet_control(max_laps = 2)), x, type = "weights"), "not_defined")
  expect_bad(predict(bnp_mixture(x, control = quiet_control(max_laps = 2)), x, covariates = age), "covariates")
})
