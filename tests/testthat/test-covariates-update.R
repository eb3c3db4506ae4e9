# Mixtures with covariates take in more rows.

rows_by <- function(seed, n, low, high) {
  withr::local_seed(seed)
  w <- round(stats::runif(n, low, high), 1)
  z <- stats::rbinom(n, 1, stats::plogis(2 * w))
  data.frame(y = stats::rnorm(n, 4 * z), v = stats::rnorm(n, 2 * z), w = w, g = sample(c("a", "b"), n, TRUE))
}
first <- rows_by(1, 300, -1, 1)
later <- rows_by(2, 200, -1.5, 1.5)
all_rows <- rbind(first, later)
prior <- prior_covariates(~ w + g)
fit <- bnp_mixture(first, prior = prior, control = quiet_control())

test_that("new rows count by the patterns of the fit and those that are new to it, and are learned from", {
  more <- update(fit, later)
  p <- more$model$prior
  expect_gt(p$n_patterns, fit$model$prior$n_patterns)
  expect_equal(p$patterns[seq_len(fit$model$prior$n_patterns), ], fit$model$prior$patterns)
  expect_equal(nrow(p$design$values), p$n_patterns)
  of_pattern <- colSums(more$state$obs[, seq(to = ncol(more$state$obs), length.out = p$n_patterns)])
  expect_equal(unname(of_pattern), as.double(tabulate(more$input$position + 1L, p$n_patterns)), tolerance = 1e-9)
  made <- apply_design(p$design, all_rows[c("w", "g")], "x", NULL)
  expect_equal(p$patterns[more$input$position + 1L, ], made$value, tolerance = 1e-12, ignore_attr = TRUE)
  whole <- bnp_mixture(all_rows, prior = prior, control = quiet_control())
  at <- data.frame(w = c(-1.5, 0, 1.5), g = "a")
  expect_equal(n_clusters(more), 2L)
  expect_lt(max(abs(predict(more, at, type = "weights") - predict(whole, at, type = "weights"))), 0.05)
  expect_lt(elbo(more), elbo(whole) + 5)
  expect_gt(elbo(more), elbo(whole) - 15)
  expect_identical(nobs(more), 500L)
  expect_s3_class(prevalence(more, by = "w", x = all_rows), "bnp_prevalence")
  expect_identical(nobs(update(more, first)), 800L)
})

test_that("covariates come with the new rows or beside them, and with the earlier rows all are visited", {
  more <- update(fit, later)
  beside <- update(fit, later[c("y", "v")], covariates = later[c("w", "g")])
  expect_identical(beside$state, more$state)
  again <- update(fit, later, olddata = first)
  expect_gte(elbo(again), elbo(more) - 1e-6)
  expect_gt(mean(predict(again, all_rows) == fitted(again)), 0.99)
  alone <- bnp_mixture(first[c("y", "v")], prior = prior_covariates(~ 1), control = quiet_control())
  expect_identical(nobs(update(alone, later[c("y", "v")])), 500L)
})

test_that("rounded covariates take new rows by the nearest pattern", {
  fine <- function(rows, seed) {
    withr::local_seed(seed)
    transform(rows, w = w + stats::runif(nrow(rows), -1e-3, 1e-3))
  }
  withr::local_options(rlib_message_verbosity = "quiet")
  known <- matrix(c(0, 1, 0, 1), 2)
  expect_identical(nearest_patterns(rbind(c(0.9, 1.2), c(0.1, 0)), known), c(1L, 0L))
  rounded <- fit
  rounded$model$prior$design$rounded <- 64L
  expect_message(
    withr::with_options(list(rlib_message_verbosity = "default"), more <- update(rounded, fine(later, 3))),
    class = "bnpvi_message_rounded_covariates"
  )
  expect_identical(more$model$prior$n_patterns, fit$model$prior$n_patterns)
  expect_identical(nobs(more), 500L)
})

test_that("rows without covariates, or with levels that are new, are refused", {
  expect_bad(update(fit, later[c("y", "v")]), "covariates", "g")
  expect_bad(suppressWarnings(update(fit, transform(later, g = "z"))), "covariates", "200 rows")
  plain <- bnp_mixture(first[c("y", "v")], control = quiet_control())
  expect_bad(update(plain, later[c("y", "v")], covariates = later["w"]), "covariates", "prior_covariates")
})
