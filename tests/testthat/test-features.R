# bnp_features(): recovery, methods, and data at the limits.

control <- bnp_control(seed = 1, verbose = FALSE)

test_that("the four images are found from no feature, in nine of ten seeds", {
  found <- vapply(1:10, function(seed) {
    rows <- image_rows(seed)
    fit <- bnp_features(rows$x, prior_beta_bernoulli(10), control, centre = FALSE)
    truth <- bnp_features(rows$x, prior_beta_bernoulli(10), control, centre = FALSE, start = rows$z == 1)
    if (n_features(fit) != 4L) return(FALSE)
    near <- apply(cosines(coef(fit)$loadings, image_features()), 2, max)
    error <- sqrt(mean((fitted(fit) - rows$z %*% image_features())^2))
    min(near) >= 0.93 && elbo(fit) >= elbo(truth) - 1e-3 && error <= 0.15
  }, NA)
  expect_gte(sum(found), 9L)
})

long_test("twenty features of which rows have several are found", {
  planted <- planted_features(1, 1000, 40, 12)
  fit <- bnp_features(planted$x, control = control, centre = FALSE)
  near <- apply(cosines(coef(fit)$loadings, planted$a), 2, max)
  expect_gte(sum(near > 0.99), 11L)
  expect_equal(coef(fit)$sigma, 0.5, tolerance = 0.05)
})

rows <- image_rows(1)
fit <- bnp_features(rows$x, control = control, centre = FALSE)

test_that("what a fit says fits together", {
  expect_output(print(fit), "4 features in use, 100 rows of 36 columns", fixed = TRUE)
  expect_output(print(summary(fit)), "Features by use")
  expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit))
  expect_equal(unname(elbo_trace(fit)$elbo[fit$laps]), elbo(fit))
  expect_false(is.unsorted(-fit$sizes))
  expect_equal(colSums(predict(fit)), stats::setNames(fit$sizes, 1:4))
  expect_equal(predict(fit, rows$x), predict(fit), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(unname(fitted(fit)), unname(predict(fit) %*% coef(fit)$loadings))
  expect_equal(residuals(fit, rows$x), rows$x - predict(fit, rows$x, type = "response"), ignore_attr = TRUE)
  expect_identical(dim(tidy(fit)), c(144L, 4L))
  expect_identical(glance(fit)$k, 4L)
  expect_identical(ncol(augment(fit, rows$x)), 40L)
  expect_error(cluster_sizes(fit), class = "bnpvi_error_not_defined")
  sims <- simulate(fit, 2, seed = 1)
  expect_identical(dim(sims$sim_1), c(100L, 40L))
  expect_equal(mean(as.matrix(sims$sim_1[1:36])), mean(rows$x), tolerance = 0.2)
})

test_that("units of the data change nothing but units", {
  with_offset <- bnp_features(rows$x, control = control)
  for (scale in c(1e150, 1e-150)) {
    other <- bnp_features(rows$x * scale, control = control)
    expect_equal(elbo(other) + 3600 * log(scale), elbo(with_offset), tolerance = 1e-8)
    expect_equal(coef(other)$loadings / scale, coef(with_offset)$loadings, tolerance = 1e-6)
  }
  far <- bnp_features(rows$x + 1e6, control = control)
  expect_equal(elbo(far), elbo(with_offset), tolerance = 1e-6)
})

test_that("missing cells are imputed with honest standard deviations, and held out", {
  cells <- withr::with_seed(1, matrix(stats::runif(3600) < 0.1, 100))
  gaps <- replace(rows$x, cells, NA)
  expect_error(bnp_features(gaps, control = control), class = "bnpvi_error_not_finite")
  part <- bnp_features(gaps, control = control, centre = FALSE, na_action = "model")
  expect_identical(n_features(part), 4L)
  imputed <- predict(part, gaps, type = "impute")
  expect_identical(unname(imputed[!cells]), rows$x[!cells])
  error <- (imputed[cells] - rows$x[cells]) / attr(imputed, "sd")[cells]
  expect_equal(stats::sd(error), 1, tolerance = 0.15)
  score <- heldout_loglik(part, rows$x, cells = cells)
  expect_equal(attr(score, "rmse"), sqrt(mean((imputed[cells] - rows$x[cells])^2)))
  expect_equal(
    as.double(score), mean(stats::dnorm(rows$x[cells], imputed[cells], attr(imputed, "sd")[cells], log = TRUE))
  )
  copies <- impute(part, gaps, m = 20, seed = 1)
  spread <- apply(vapply(copies, function(copy) as.matrix(copy)[cells], numeric(sum(cells))), 1, stats::sd)
  expect_equal(mean(spread), mean(attr(imputed, "sd")[cells]), tolerance = 0.1)
})

test_that("a fit takes in more rows, with identities", {
  first <- bnp_features(rows$x[1:60, ], control = control, centre = FALSE)
  more <- update(first, rows$x[61:100, ])
  expect_identical(nobs(more), 100L)
  expect_identical(dim(fitted(more)), c(100L, 36L))
  expect_equal(unname(colSums(predict(more))), more$sizes, tolerance = 1e-6)
  expect_setequal(cluster_ids(more), cluster_ids(first))
  whole <- update(first, rows$x[61:100, ], olddata = rows$x[1:60, ])
  expect_gte(elbo(whole), elbo(more) - 1e-3)
  expect_identical(cluster_history(whole)$fate, rep("alive", 4))
})

test_that("data at the limits of what is taken are fitted or refused by name", {
  small <- withr::with_seed(1, matrix(stats::rnorm(60), 20))
  sound <- function(x, ...) {
    fit <- bnp_features(x, control = control, ...)
    expect_true(is.finite(elbo(fit)) && all(is.finite(unlist(coef(fit)))) && all(is.finite(fitted(fit))))
    fit
  }
  for (x in list(
    small[1, , drop = FALSE], small[1:2, ], small[, 1], cbind(small, 7), matrix(7, 10, 3), matrix(0, 10, 3),
    small[rep(1:3, 9), ], small[, c(1, 1, 2)], replace(small, 3, 1e300), small * 1e300, small * 1e-300
  )) {
    sound(x)
  }
  for (alpha in c(1e-8, 1e6)) {
    sound(small, prior = prior_ibp(alpha))
    sound(small, prior = prior_beta_bernoulli(1, alpha))
  }
  expect_lte(n_features(sound(rows$x, prior = prior_beta_bernoulli(2))), 2L)
  expect_message(fit <- sound_gap <- bnp_features(
    replace(small, cbind(3, 1:3), NA), control = control, na_action = "model"
  ), "left out")
  expect_true(all(is.na(fitted(fit)[3, ])))
  expect_error(bnp_features(small[0, ]), class = "bnpvi_error_no_rows")
  expect_error(bnp_features(replace(small, 21:40, NA), na_action = "model"), class = "bnpvi_error_gaps")
  expect_error(bnp_features(replace(small, 3, Inf)), class = "bnpvi_error_not_finite")
  expect_error(bnp_features(small + 1e8, centre = FALSE), class = "bnpvi_error_range")
  expect_error(bnp_features(small, control = bnp_control(k_init = 2)), "k_init", class = "bnpvi_error_argument")
  expect_error(bnp_features(small, control = bnp_control("stochastic")), class = "bnpvi_error_argument")
  expect_error(bnp_features(small, prior_dp()), class = "bnpvi_error_argument")
  expect_error(bnp_features(small, start = matrix(2, 20, 1)), class = "bnpvi_error_start")
  expect_error(bnp_mixture(small, prior = prior_ibp()), class = "bnpvi_error_argument")
})

test_that("pictures of latent features are drawn", {
  withr::local_pdf(NULL)
  for (type in c("loadings", "usage", "elbo")) expect_identical(plot(fit, type), fit)
  expect_identical(plot(fit, "images", dim = c(6, 6)), fit)
  expect_error(plot(fit, "images", dim = c(5, 6)), class = "bnpvi_error_argument")
  skip_if_not_installed("ggplot2")
  for (type in c("loadings", "usage", "elbo")) expect_s3_class(ggplot2::autoplot(fit, type), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit, "images", dim = c(6, 6)), "ggplot")
})
