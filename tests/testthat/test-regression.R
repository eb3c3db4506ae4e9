# Regressions: closed forms, formulas, answers with and without the response, and bad input.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
few <- quiet(seed = 1)
lines <- withr::with_seed(1, {
  group <- rep(1:2, each = 80)
  x <- runif(160, 0, 10)
  kind <- factor(sample(c("a", "b", "c"), 160, TRUE))
  noise <- rnorm(160)
  y <- ifelse(group == 1, 3 + 2 * x, 40 - 3 * x) + c(0, 1, 5)[kind] + noise
  data.frame(y, second = 2 * y + rnorm(160), x, kind, group)
})

test_that("evidence of hard and soft responsibilities is what the multivariate t distribution gave", {
  x <- cbind(c(1.2, 0.3, 0.8, -0.5, 0.1, 0.9), c(0.1, -0.4, 2.2, 1.9, 2.4, -0.2))
  obs <- list(
    family = "regression", responses = 1L, intercept = TRUE, df = 3, scale = matrix(0.5), coef_mean = matrix(0, 1, 2),
    scaled_precision = diag(0.1, 2), origin = 0, spread = 1, centre = c(0, 0), unit = c(1, 1)
  )
  resp <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
  e <- engine_contract(engine_data(x), list(obs = obs, prior = one), resp)
  expect_equal(e$evidence, c(-9.39765354, -6.58118255), tolerance = 1e-9)
  # The precision is that of coefficients of (x - origin) / spread.
  moved <- utils::modifyList(obs, list(origin = 3, spread = 0.5))
  back <- rbind(c(1, 0), c(3, 0.5))
  same <- utils::modifyList(obs, list(scaled_precision = back %*% diag(0.1, 2) %*% t(back)))
  of <- function(obs) engine_contract(engine_data(x), list(obs = obs, prior = one), resp)[c("evidence", "posterior")]
  expect_equal(of(moved), of(same), tolerance = 1e-12)
})

test_that("a regression on the intercept alone is the Gaussian model", {
  x <- lines$y
  plain <- obs_gaussian(mean = 20, mean_strength = 0.3, df = 4, scale = 7)
  fit <- bnp_mixture(x, plain, control = few)
  same <- bnp_mixture(y ~ 1, lines, obs_regression(4, 7, 20, 0.3), control = few)
  expect_equal(elbo(same), elbo(fit), tolerance = 1e-10)
  expect_identical(unname(fitted(same)), unname(fitted(fit)))
  expect_equal(as.vector(coef(same)$coef), as.vector(coef(fit)$mean), tolerance = 1e-8)
})

test_that("the ELBO of one cluster is the exact log evidence, by formula, matrix and batches", {
  z <- cbind(1, lines$x)
  v <- diag(c(0.2, 0.7))
  m <- c(1, 2)
  exact <- as.numeric(log_t(t(lines$y - z %*% m), 5, 3 / 5 * (diag(160) + z %*% solve(v, t(z)))))
  obs <- obs_regression(5, 3, m, v)
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(y ~ x, lines, obs, one, control)), exact, tolerance = 1e-10)
    x <- lines[c("y", "x")]
    expect_equal(elbo(bnp_mixture(x, obs, one, control)), exact, tolerance = 1e-10)
    expect_equal(elbo(bnp_hmm(x, rep(1:4, each = 40), obs, prior_hmm(1), control)), exact, tolerance = 1e-10)
  }
})

test_that("planted lines are found, with the coefficients that least squares has in each", {
  for (k_init in c(1, 8)) {
    fit <- bnp_mixture(y ~ x + kind, lines, control = quiet(seed = 1, k_init = k_init))
    expect_equal(n_clusters(fit), 2)
    expect_gt(adjusted_rand_index(fitted(fit), lines$group), 0.85)
  }
  coefs <- coef(fit)$coef
  expect_identical(dimnames(coefs), list("y", c("(Intercept)", "x", "kindb", "kindc"), c("1", "2")))
  for (k in 1:2) {
    by_hand <- stats::lm(y ~ x + kind, lines[fitted(fit) == k, ])
    expect_equal(coefs[1, , k], stats::coef(by_hand), tolerance = 0.05)
    expect_equal(sqrt(coef(fit)$cov[1, 1, k]), stats::sigma(by_hand), tolerance = 0.4)
  }
  ends <- confint(fit, "coef")
  expect_identical(rownames(ends)[1:2], c("coef[1,y,(Intercept)]", "coef[1,y,x]"))
  expect_true(all(ends[, 1] < as.vector(coefs) & as.vector(coefs) < ends[, 2]))
  slopes <- paste0("coef.", dimnames(coefs)[[2L]])
  expect_named(tidy(fit), c("component", "size", "proportion", slopes, "sd.y"))
  expect_equal(unname(as.matrix(tidy(fit)[slopes])), unname(t(coefs[1, , ])))
  expect_output(print(summary(fit)), "Regression")
})

long_test("the example of flexmix has its two classes", {
  skip_if_not_installed("flexmix")
  utils::data("NPreg", package = "flexmix", envir = environment())
  fit <- bnp_mixture(yn ~ x + I(x^2), NPreg, obs_regression(learn = FALSE), control = few)
  expect_equal(n_clusters(fit), 2)
  expect_equal(elbo(fit), -679.076, tolerance = 5e-5)
  expect_equal(adjusted_rand_index(fitted(fit), NPreg$class), 0.809, tolerance = 1e-3)
})

test_that("several responses share their covariates, and one alone is found in another's place", {
  fit <- bnp_mixture(cbind(y, second) ~ x, lines, control = few)
  expect_identical(dim(coef(fit)$coef), c(2L, 2L, n_clusters(fit)))
  expect_identical(dimnames(coef(fit)$coef)[[1]], c("y", "second"))
  slopes <- paste0("coef.", c("y.(Intercept)", "second.(Intercept)", "y.x", "second.x"))
  expect_named(tidy(fit), c("component", "size", "proportion", slopes, "sd.y", "sd.second"))
  expect_equal(tidy(fit)[["coef.second.x"]], unname(coef(fit)$coef["second", "x", ]))
  plain <- bnp_mixture(unname(as.matrix(mtcars[c("mpg", "wt")])), obs_regression(), control = bnp_control(seed = 1))
  expect_named(tidy(plain), c("component", "size", "proportion", "coef.(Intercept)", "coef.x2", "sd.x1"))
  expect_identical(colnames(predict(fit, lines[1:3, ], type = "response")), c("y", "second"))
  swapped <- bnp_mixture(cbind(second, y) ~ x, lines, control = few)
  expect_equal(elbo(swapped), elbo(fit), tolerance = 1e-9)
  expect_equal(unname(coef(swapped)$coef[2:1, , ]), unname(coef(fit)$coef), tolerance = 1e-6)
})

test_that("new rows with the response have their clusters, those without it the weights", {
  fit <- bnp_mixture(y ~ x + kind, lines, control = few)
  expect_identical(unname(predict(fit, lines[160:1, ])), rev(unname(fitted(fit))))
  prob <- predict(fit, lines[1:4, c("x", "kind")], type = "prob")
  weight <- unname(coef(fit)$weights[1:2] / sum(coef(fit)$weights[1:2]))
  expect_equal(unname(prob), matrix(weight, 4, 2, byrow = TRUE))
  expect_identical(unname(predict(fit, lines[1:4, c("x", "kind")])), rep(which.max(weight), 4))
  expect_gt(max(abs(predict(fit, lines[1:4, ], type = "prob") - prob)), 0.3)
  z <- stats::model.matrix(~ x + kind, lines)
  expected <- as.vector(z %*% coef(fit)$coef[1, , ] %*% weight)
  expect_equal(predict(fit, lines, type = "response"), expected, tolerance = 1e-10)
  expect_identical(predict(fit, lines[c("kind", "x")], type = "response"), predict(fit, lines, type = "response"))
  # Factors by their labels, even where new data lack some levels.
  part <- droplevels(lines[lines$kind == "c", ])[1:3, ]
  at <- which(lines$kind == "c")[1:3]
  expect_equal(predict(fit, part, type = "response"), expected[at], tolerance = 1e-10)
  expect_identical(unname(predict(fit, part)), unname(fitted(fit))[at])
  density <- predict(fit, lines[1:2, ], "logdensity")
  joint <- bnp_mixture(y ~ x + kind, rbind(lines, lines[1, ]), obs_regression(learn = FALSE), one, few)
  alone <- bnp_mixture(y ~ x + kind, lines, joint$model$obs, one, few)
  expect_equal(
    predict(alone, lines[1, ], "logdensity"), elbo(joint) - elbo(alone), tolerance = 1e-8, ignore_attr = TRUE
  )
  expect_true(all(is.finite(density)))
  expect_bad(predict(fit, lines["x"], type = "response"), "formula", "kind")
  expect_bad(predict(fit, lines[c("x", "kind")], type = "logdensity"), "formula", "y")
  expect_bad(predict(fit, data.frame(x = 1, kind = "d"), type = "response"), "formula", "level")
  expect_bad(predict(fit, type = "response"), "newdata", "newdata")
  expect_bad(predict(fit, data.frame(x = NA_real_, kind = "a"), type = "response"), "not_finite", "x")
  expect_bad(predict(bnp_mixture(lines$y, control = few), 1:3, type = "response"), "argument", "obs_regression")
  by_matrix <- bnp_mixture(lines[c("y", "x")], obs_regression(), control = few)
  expect_identical(
    predict(by_matrix, lines["x"], type = "response"), predict(by_matrix, lines[c("x", "y")], type = "response")
  )
  expect_length(predict(by_matrix, as.matrix(lines["x"])), 160)
  expect_length(predict(by_matrix, lines[0, ], type = "response"), 0)
  expect_bad(predict(by_matrix, lines["y"], type = "response"), "newdata_columns", "x")
})

test_that("residuals are what is left of the response in the row's cluster, or of the average", {
  fit <- bnp_mixture(y ~ x + kind, lines, control = few)
  z <- stats::model.matrix(~ x + kind, lines)
  by_cluster <- z %*% coef(fit)$coef[1, , ]
  left <- residuals(fit, lines)
  expect_equal(left, stats::setNames(lines$y - by_cluster[cbind(1:160, fitted(fit))], 1:160), tolerance = 1e-10)
  expect_lt(stats::sd(left), 1.5)
  expect_equal(residuals(fit, lines[c(9, 150, 3), ]), left[c(9, 150, 3)], tolerance = 1e-10)
  expect_equal(unname(residuals(fit, lines, "response")), lines$y - predict(fit, lines, type = "response"))
  expect_gt(stats::sd(residuals(fit, lines, "response")), 5)
  expect_equal(residuals(fit, lines[9, ]), left[9], tolerance = 1e-10)
  expect_length(residuals(fit, lines[0, ]), 0)
  expect_bad(residuals(fit), "newdata", "newdata")
  expect_bad(residuals(fit, lines, "deviance"), "argument", "type")
  expect_bad(residuals(fit, lines[c("x", "kind")]), "formula", "y")
  expect_bad(residuals(fit, lines, id = 1:160), "id", "id")
  two <- bnp_mixture(cbind(y, second) ~ x, lines, control = few)
  left <- residuals(two, lines)
  expect_identical(dimnames(left), list(as.character(1:160), c("y", "second")))
  first <- coef(two)$coef[, , fitted(two)[7]]
  expect_equal(left[7, ], c(y = lines$y[7], second = lines$second[7]) - drop(first %*% c(1, lines$x[7])))
  alone <- bnp_mixture(as.matrix(lines[c("y", "x")]), obs_regression(), control = few)
  formula <- bnp_mixture(y ~ x, lines, control = few)
  expect_equal(residuals(alone, lines[c("x", "y")]), unname(residuals(formula, lines)), tolerance = 1e-10)
  none <- bnp_mixture(y ~ x, lines, control = few, labels = replace(rep(NA, 160), 1:2, c("a", "b")))
  expected <- (cbind(1, lines$x) %*% coef(none)$coef[1, , ])[cbind(1:160, augment(none, lines)$.class)]
  expect_equal(unname(residuals(none, lines)), lines$y - expected, tolerance = 1e-10)
  # What is missing, and rows of individuals.
  gaps <- lines
  gaps$y[c(2, 150)] <- NA
  left <- residuals(formula, gaps, na_action = "model")
  expect_equal(left, suppressMessages(residuals(formula, gaps, na_action = "omit")), tolerance = 1e-12)
  expect_identical(which(is.na(unname(left))), c(2L, 150L))
  expect_equal(left[-c(2, 150)], residuals(formula, lines)[-c(2, 150)])
  expect_bad(residuals(formula, gaps), "not_finite", "y")
  gaps$second[2:3] <- NA
  partly <- residuals(two, gaps, na_action = "model")
  expect_identical(unname(is.na(partly[1:3, ])), cbind(c(FALSE, TRUE, FALSE), c(FALSE, TRUE, TRUE)))
  rows <- data.frame(lines, who = c(1:80, 1:80))
  rows <- rows[order(rows$who), ]
  whole <- bnp_mixture(y ~ x | who, rows, prior = prior_dirichlet(2), control = few)
  expected <- (cbind(1, rows$x) %*% coef(whole)$coef[1, , ])[cbind(1:160, fitted(whole))]
  expect_equal(residuals(whole, rows), stats::setNames(rows$y - expected, rownames(rows)), tolerance = 1e-10)
  rows$y[4] <- NA
  expect_identical(which(is.na(unname(suppressMessages(residuals(whole, rows, na_action = "omit"))))), 4L)
  expect_bad(residuals(bnp_mixture(lines$y, control = few), lines$y), "not_defined", "mixtures of regressions")
})

test_that("simulated rows have the covariates that are asked for, or those of the training data", {
  fit <- bnp_mixture(y ~ x + kind, lines, control = few)
  sim <- simulate(fit, seed = 1)$sim_1
  expect_named(sim, c("y", "x", "kindb", "kindc", ".class"))
  expect_identical(sim$x, lines$x)
  again <- bnp_mixture(y ~ x + kindb + kindc, sim, control = few)
  expect_equal(n_clusters(again), 2)
  expect_equal(unname(coef(again)$coef[1, 1:2, ]), unname(coef(fit)$coef[1, 1:2, ]), tolerance = 0.3)
  at <- data.frame(x = c(0, 10), kind = "c")
  sim <- simulate(fit, seed = 2, n = 5, covariates = at)$sim_1
  expect_identical(sim$x, c(0, 10, 0, 10, 0))
  expect_identical(sim$kindc, rep(1, 5))
  expect_bad(simulate(fit, covariates = at["x"]), "formula", "kind")
  expect_bad(simulate(fit, covariates = at[0, ]), "no_rows", "covariates")
  expect_bad(simulate(bnp_mixture(lines$y, control = few), covariates = at), "argument", "no meaning")
})

test_that("sequences of regressions have their states, and forecasts are refused", {
  x <- data.frame(y = lines$y, x = lines$x)
  fit <- bnp_hmm(x, obs = obs_regression(), control = few)
  expect_equal(n_clusters(fit), 2)
  expect_gt(adjusted_rand_index(fitted(fit), lines$group), 0.9)
  expect_bad(predict(fit, x, n.ahead = 2), "argument", "n.ahead.*\n.*ovariates")
  expect_bad(residuals(bnp_hmm(mocap6[1:50, 4:5] > 0, obs = obs_bernoulli(), control = few)), "argument",
    "obs_regression.*not.*obs_bernoulli"
  )
  expect_bad(cluster_divergence(fit), "argument", "closed form")
  expect_identical(elbo(bnp_hmm(y ~ x, x, control = few)), elbo(fit))
  joint <- bnp_hmm(x, control = few)
  expect_bad(compare_fits(fit, joint), "not_comparable", "given the others")
  expect_s3_class(compare_fits(fit, bnp_hmm(x, obs = obs_regression(df = 5), control = few)), "bnp_comparison")
})

test_that("units, origins and scales of responses and covariates do not matter", {
  plain <- bnp_mixture(y ~ x, lines, control = few)
  for (unit in 2^c(-480, 480)) {
    scaled <- transform(lines, y = y * unit, x = x / unit)
    fit <- bnp_mixture(y ~ x, scaled, control = few)
    expect_identical(fitted(fit), fitted(plain))
    expect_equal(elbo(fit) + 160 * log(unit), elbo(plain), tolerance = 1e-9)
  }
  for (shift in c(1e4, 1e8)) {
    fit <- bnp_mixture(y ~ x, transform(lines, y = y + shift, x = x - shift), control = few)
    expect_identical(fitted(fit), fitted(plain))
    expect_equal(elbo(fit), elbo(plain), tolerance = 1e-6)
    expect_equal(coef(fit)$coef[1, 2, ], coef(plain)$coef[1, 2, ], tolerance = 1e-3)
  }
  through <- bnp_mixture(y ~ x - 1, lines, control = few)
  expect_identical(dimnames(coef(through)$coef)[[2]], "x")
  doubled <- bnp_mixture(y ~ x + I(2 * x), lines, control = few)
  expect_true(is.finite(elbo(doubled)))
  for (bad in list(transform(lines, y = 3), transform(lines, x = 1), transform(lines, y = 2 + 3 * x), lines[1, ])) {
    fit <- bnp_mixture(y ~ x, bad, control = few)
    expect_true(is.finite(elbo(fit)))
    expect_true(all(is.finite(coef(fit)$coef)))
  }
})

test_that("the picture shows lines with bands that hold nine rows of ten", {
  fit <- bnp_mixture(y ~ x, lines, prior = prior_dirichlet(2), control = few)
  picture <- cluster_picture(fit, lines)
  expect_identical(picture$labels, c("x", "y"))
  expect_equal(range(picture$rings$x), range(lines$x))
  expect_equal(picture$points$x, lines$x)
  expect_identical(picture$points$cluster, unname(fitted(fit)))
  inside <- vapply(1:2, function(k) {
    band <- picture$rings[picture$rings$cluster == k, ]
    points <- picture$points[picture$points$cluster == k, ]
    upper <- stats::approx(band$x[1:2], band$y[1:2], points$x)$y
    lower <- stats::approx(band$x[3:4], band$y[3:4], points$x)$y
    mean(points$y < upper & points$y > lower)
  }, 1)
  expect_equal(inside, c(0.9, 0.9), tolerance = 0.1)
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_silent(plot(fit, data = lines))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, data = lines), "ggplot")
})

test_that("parameters go by names of responses and regressors, and fits print what was given", {
  m <- matrix(c(2, 1), 1, dimnames = list("y", c("x", "(Intercept)")))
  fit <- bnp_mixture(y ~ x, lines, obs_regression(coef_mean = m, coef_precision = c(x = 2, `(Intercept)` = 1)),
    control = few)
  expect_identical(fit$model$obs$coef_mean, matrix(c(1, 2), 1))
  expect_identical(diag(fit$model$obs$coef_precision), c(1, 2))
  expect_output(print(fit$model$obs), "coef_precision")
  expect_identical(elbo(update(fit, data = lines)), elbo(fit))
  expect_equal(elbo(update(fit, start = fit, data = lines)), elbo(fit), tolerance = 1e-8)
  both <- bnp_mixture(cbind(y, x) ~ 1, lines, control = few)
  expect_bad(bnp_mixture(y ~ x, lines, control = few, start = both), "start", "same observation model")
  through <- bnp_mixture(y ~ x - 1, lines, control = few)
  expect_bad(bnp_mixture(y ~ x, lines, control = few, start = through), "start", "no intercept")
})

test_that("formulas and data that make no regression are refused", {
  fit <- function(formula, data = lines, ...) bnp_mixture(formula, data, ..., control = quiet(max_laps = 2))
  expect_bad(fit(y ~ x, obs = obs_gaussian()), "formula", "obs_regression.*\n.*left-hand side")
  expect_bad(fit(y ~ nothing), "formula", "nothing")
  expect_bad(fit(y ~ offset(x)), "formula", "offset")
  expect_bad(fit(kind ~ x), "not_numeric", "response")
  expect_bad(fit(y ~ x, replace(lines, "y", c(NA, lines$y[-1]))), "not_finite", "\\(1, y\\)")
  expect_bad(fit(y ~ x, replace(lines, "x", c(Inf, lines$x[-1]))), "not_finite", "x")
  expect_bad(fit(y ~ kind, replace(lines, "kind", replace(lines$kind, 2, NA))), "not_finite", "kind")
  expect_bad(fit(y ~ 0), "no_columns", "covariate")
  expect_bad(fit(y ~ x, 3), "formula", "data frame")
  expect_bad(fit(y ~ x, lines[0, ]), "no_rows", "no rows")
  expect_bad(fit(cbind(y, second) ~ x, obs = obs_regression(df = 0.5)), "df", "above 1")
  expect_bad(fit(y ~ x, obs = obs_regression(coef_mean = 1:3)), "argument", "1 x 2")
  expect_bad(fit(y ~ x, obs = obs_regression(coef_precision = diag(3))), "argument", "2 x 2")
  expect_bad(fit(y ~ x, obs = obs_regression(scale = 1e-16)), "range", "`scale`")
  expect_bad(fit(y ~ x, obs = obs_regression(coef_precision = 1e-40)), "range", "`coef_precision`")
  expect_bad(fit(y ~ x, obs = obs_regression(coef_mean = c(1e9, 1e9))), "range", "`coef_mean` would leave")
  expect_bad(obs_regression(coef_mean = "a"), "argument", "coef_mean")
  expect_bad(obs_regression(scale = -1), "not_definite", "scale")
  expect_bad(obs_regression(coef_precision = 0), "not_definite", "coef_precision")
  expect_bad(plot(fit(y ~ x + kind)), "argument", "one covariate")
  expect_bad(plot(fit(y ~ x), "density"), "argument", "needs columns with a density")
})
