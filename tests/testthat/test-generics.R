# Generics of base R mean what they always mean, or say that they have no meaning here.

few <- bnp_control(seed = 1, max_laps = 3)

test_that("formula() and terms() are those of the call", {
  fit <- bnp_mixture(~ log(eruptions) + waiting, faithful, control = few)
  expect_identical(deparse(formula(fit)), "~log(eruptions) + waiting")
  expect_identical(attr(terms(fit), "term.labels"), c("log(eruptions)", "waiting"))
  plain <- bnp_mixture(faithful, control = few)
  for (f in list(formula, terms)) expect_bad(f(plain), "not_defined", "not made by a formula")
})

test_that("generics without a meaning say so", {
  fits <- list(
    bnp_mixture(faithful, control = few), bnp_topics(whales$counts[1:9, ], control = few),
    bnp_hmm(beaver1["temp"], control = few)
  )
  generics <- list(
    labels = labels, weights = weights, deviance = deviance, df.residual = df.residual, vcov = vcov,
    anova = anova, extractAIC = extractAIC, sigma = sigma, model.frame = model.frame, model.matrix = model.matrix,
    family = family
  )
  for (fit in fits) {
    for (name in names(generics)) expect_bad(generics[[name]](fit), "not_defined", name, fixed = TRUE)
    expect_true(is.na(AIC(fit)) && is.na(BIC(fit)))
  }
  for (fit in fits[1:2]) expect_bad(residuals(fit), "not_defined")
})

test_that("draws, filters and Dynamic Means have no formula, terms, family, table, coefficients or segments", {
  fit <- suppressWarnings(bnp_hmm(beaver1["temp"], control = few))
  beside <- list(
    bnp_sample(faithful, draws = 2, chains = 1, warmup = 1, seed = 1), bnp_filter(fit, beaver1["temp"]),
    bnp_dynamic_means(faithful, rep(1:2, each = 136), lambda = 4)
  )
  generics <- list(
    formula = formula, terms = terms, family = family, model.frame = model.frame, model.matrix = model.matrix,
    coef = coef, segments = segments
  )
  for (object in beside) {
    for (name in names(generics)) expect_bad(generics[[name]](object), "not_defined", name, fixed = TRUE)
  }
})

test_that("only what goes on in time has a forecast", {
  x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
  fits <- suppressWarnings(list(
    bnp_mixture(faithful, control = few), bnp_topics(whales$counts[1:9, ], control = few),
    bnp_features(attitude, control = few), bnp_network(x, control = few)
  ))
  for (fit in fits) expect_bad(forecast(fit, h = 2), "not_defined", "forecast")
})

test_that("residuals() of a fit that has none says which fits have them", {
  rows <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_bad(residuals(rows), "not_defined", "mixtures of regressions")
})
