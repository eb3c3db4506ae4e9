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
  expect_bad(call(covariates = data.frame(age = I(as.list(age$age)))), "covariates", "is a list")
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

test_that("units of covariates, a column twice as large beside it, and a single row are no problem", {
  few <- withr::with_seed(2, matrix(rpois(60 * 6, 2), 60))
  control <- quiet_control(max_laps = 5)
  fits <- list(
    function(frame, form = ~ w) bnp_mixture(x, prior = prior_covariates(form), covariates = frame, control = control),
    function(frame, form = ~ w) bnp_hmm(x, prior = prior_covariates(form), covariates = frame, control = control),
    function(frame, form = ~ w) bnp_topics(few, prior = prior_covariates(form), covariates = frame, control = control)
  )
  w <- as.double(unlist(age))
  for (fit in fits) {
    elbo_of <- function(...) suppressWarnings(elbo(fit(...)))
    usual <- elbo_of(data.frame(w = w))
    for (unit in c(1e-150, 1e150)) expect_equal(elbo_of(data.frame(w = unit * w)), usual, tolerance = 1e-9)
    expect_equal(elbo_of(data.frame(w = w, double = 2 * w), ~ w + double), usual, tolerance = 0.01)
  }
  one <- function(make, x, ...) {
    suppressMessages(make(x[1, , drop = FALSE], covariates = data.frame(w = 3), control = control, ...))
  }
  plain <- bnp_mixture(x[1, , drop = FALSE], control = control)
  expect_equal(elbo(one(bnp_mixture, x, prior = prior_covariates(~ w))), elbo(plain), tolerance = 1e-5)
  for (make in list(bnp_hmm, bnp_topics)) {
    expect_true(is.finite(elbo(one(make, if (identical(make, bnp_hmm)) x else few, prior = prior_covariates(~ w)))))
  }
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
  stream <- bnp_stream(function(i) if (i == 1L) x)
  expect_bad(bnp_mixture(stream, prior = prior_covariates(~ age)), "not_defined")
  for (data in list(stream, source)) expect_bad(bnp_mixture(data, covariates = age), "not_defined", "prior_covariates")
  expect_bad(bnp_features(x, covariates = age), "not_defined", "prior_covariates")
  expect_bad(bnp_topics(stream, covariates = x), "not_defined", "data in memory")
  expect_bad(confint(fit, "weights"), "argument", "prevalence")
  expect_bad(predict(bnp_mixture(x, control = quiet_control(max_laps = 2)), x, type = "weights"), "not_defined")
  expect_bad(predict(bnp_mixture(x, control = quiet_control(max_laps = 2)), x, covariates = age), "covariates")
})

two <- data.frame(w = as.double(unlist(age)), sex = rep(c("f", "m"), length.out = 60))
fit_of_two <- suppressWarnings(call(~ w + sex, two))
counts <- withr::with_seed(1, matrix(rpois(60 * 6, 2), 60))
topics_of_two <- suppressWarnings(bnp_topics(
  counts, prior = prior_covariates(~ w + sex), covariates = two, control = quiet_control(max_laps = 3)
))
states_of_two <- suppressWarnings(bnp_hmm(
  x, prior = prior_covariates(~ w + sex, k = 2), covariates = two, control = quiet_control(max_laps = 3)
))

test_that("values at which other covariates are held are checked", {
  for (fit in list(fit_of_two, topics_of_two, states_of_two)) {
    expect_bad(prevalence(fit, by = "sex", at = list(w = "a")), "covariates")
    expect_bad(prevalence(fit, by = "sex", at = list(w = NA)), "covariates")
    expect_bad(prevalence(fit, by = "sex", at = list(w = Inf)), "covariates")
    expect_bad(prevalence(fit, by = "sex", at = list(w = 1e150)), "covariates")
    expect_bad(prevalence(fit, by = "w", at = list(sex = "f", sex = "m")), "at")
    expect_bad(prevalence(fit, by = "w", at = c(sex = "f")), "at")
    expect_bad(prevalence(fit, by = "w", degree = 2), "argument")
    expect_bad(prevalence(fit, by = "w", data = two), "argument")
  }
  plain <- suppressWarnings(bnp_topics(counts, control = quiet_control(max_laps = 3)))
  expect_bad(prevalence(plain, by = two$sex, contrast = TRUE), "argument")
  expect_bad(prevalence(plain, by = two$sex, at = list(w = 1)), "argument")
  expect_bad(long_run(states_of_two, data.frame(w = 1e150, sex = "f")), "covariates")
  expect_bad(predict(fit_of_two, data.frame(w = "a", sex = "f"), type = "weights"), "covariates")
})

test_that("a level that the fit has not seen is as uncertain as the prior, in all families", {
  width <- function(table) mean(table$conf.high - table$conf.low)
  for (fit in list(fit_of_two, topics_of_two, states_of_two)) {
    k <- fit$state$k
    if (k == 1L && identical(fit, states_of_two)) next
    known <- prevalence(fit, by = "w", at = list(sex = "f"), average = FALSE)
    expect_identical(
      length(testthat::capture_warnings(new <- prevalence(fit, by = "w", at = list(sex = "x"), average = FALSE))), 1L
    )
    fit$model$prior$effect_scale <- 3
    wide <- suppressWarnings(prevalence(fit, by = "w", at = list(sex = "x"), average = FALSE))
    expect_gt(width(wide), 1.2 * width(new))
  }
})
