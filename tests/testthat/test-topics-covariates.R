# Topics whose proportions depend on covariates, as users call them.

corpus <- dated_corpus(documents = 200)
prior <- prior_covariates(~ party + day)
call_topics <- function(..., prior = prior_covariates(~ party + day), data = corpus) {
  bnp_topics(data$x, prior = prior, covariates = data$about, ..., control = quiet_control(max_laps = 30))
}
fit <- call_topics()
# Planted topic of each of the fit.
planted_of <- function(fit, data = corpus) apply(cor(fitted(fit), data$theta), 1, which.max)

test_that("topics are found with the effects of their covariates, and the bound gains by them", {
  expect_identical(n_clusters(fit), 4L)
  of <- planted_of(fit)
  expect_setequal(of, 1:4)
  plain <- bnp_topics(corpus$x, prior = prior_hdp(1), control = quiet_control(max_laps = 30, bound = "tight"))
  expect_gt(elbo(fit), elbo(plain) + 20)
  weights <- predict(fit, type = "weights")
  expect_equal(unname(rowSums(weights)), rep(1, 200), tolerance = 1e-8)
  truth <- corpus$prior / rowSums(corpus$prior)
  expect_lt(sqrt(mean((weights[, 1:4] - truth[, of])^2)), 0.08)
})

long_test("held-out words are predicted better by documents' covariates", {
  data <- dated_corpus(seed = 7, documents = 300, tokens = 30, group = 2, trend = 1.5)
  train <- 1:200
  some <- list(x = data$x[train, ], about = data$about[train, ])
  with <- call_topics(data = some)
  plain <- bnp_topics(some$x, prior = prior_hdp(1), control = quiet_control(max_laps = 30))
  score <- function(fit, ...) {
    heldout_loglik(fit, data$x[-train, ], seen = 0.1, split = "type", seed = 1, ...)
  }
  new <- data$about[-train, ]
  expect_gt(score(with, covariates = new), score(plain) + 0.02)
  expect_bad(score(plain, covariates = new), "covariates")
  whole <- heldout_loglik(with, data$x[201:220, ], "sequential", covariates = new[1:20, ], seed = 1, draws = 20)
  expect_true(is.finite(whole))
})

long_test("a covariate that says nothing costs little", {
  noise <- data.frame(u = withr::with_seed(9, rnorm(200)))
  one <- bnp_topics(corpus$x, prior = prior_covariates(~ 1), control = quiet_control(max_laps = 30))
  other <- bnp_topics(
    corpus$x, prior = prior_covariates(~ u), covariates = noise, control = quiet_control(max_laps = 30)
  )
  expect_identical(n_clusters(other), n_clusters(one))
  expect_lt(elbo(one) - elbo(other), 20)
})

test_that("new documents have the prior of their covariates", {
  new <- corpus$x[1:10, ]
  about <- corpus$about[1:10, ]
  prob <- predict(fit, new, covariates = about)
  expect_equal(unname(rowSums(prob)), rep(1, 10))
  expect_equal(prob, fitted(fit)[1:10, ], tolerance = 0.02)
  expect_bad(predict(fit, new), "covariates")
  expect_equal(predict(fit, corpus$x), fitted(fit), tolerance = 0.02)
  empty <- new
  empty[] <- 0
  expect_warning(alone <- predict(fit, empty, covariates = about), class = "bnpvi_warning_no_known_terms")
  weights <- predict(fit, covariates = about, type = "weights")
  found <- weights[, -5] / rowSums(weights[, -5])
  expect_equal(unname(alone), unname(found), tolerance = 1e-6)
  expect_warning(
    unseen <- predict(fit, covariates = data.frame(party = "c", day = 3), type = "weights"),
    class = "bnpvi_warning_new_levels"
  )
  expect_equal(sum(unseen), 1)
})

test_that("prevalence is that of the model, with intervals, contrasts, pictures and tables", {
  of_day <- prevalence(fit, by = "day")
  expect_s3_class(of_day, "bnp_prevalence")
  expect_named(of_day, c("topic", "at", "documents", "proportion", "conf.low", "conf.high"))
  expect_identical(nrow(of_day), 200L)
  of_party <- prevalence(fit, by = "party")
  by_hand <- colMeans(predict(fit, covariates = data.frame(party = "b", day = corpus$about$day), type = "weights"))
  expect_equal(of_party$proportion[of_party$group == "b"], unname(by_hand[1:4]), tolerance = 1e-8)
  expect_true(all(of_party$conf.low < of_party$proportion & of_party$proportion < of_party$conf.high))
  change <- prevalence(fit, by = "party", contrast = TRUE)
  of <- planted_of(fit)
  expect_gt(change$conf.low[of == 1], 0)
  expect_lt(change$conf.high[of == 2], 0)
  expect_output(print(of_party), "which words have which topic, and are too")
  expect_equal(as.data.frame(tidy(of_day)), as.data.frame(unclass(of_day)))
  expect_bad(prevalence(fit, by = "party", x = 1:3), "newdata_columns")
  expect_bad(prevalence(fit, by = corpus$about$party), "by")
  withr::local_pdf(NULL)
  expect_no_error(plot(of_day))
  expect_no_error(plot(of_party))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(of_day), "ggplot")
})

test_that("intervals of prevalence have the curvature of documents' counts with proportions integrated out", {
  prior <- fit$model$prior
  x <- cbind(1, prior$patterns)[fit$input$document_pattern + 1L, ]
  n <- as.matrix(fit$documents)
  k <- ncol(n)
  rest <- prior$alpha * exp(tilt_arrays(fit)$log_mean[k + 1L])
  value <- function(g) {
    g <- matrix(g, ncol(x))
    a <- prior$alpha * exp(x %*% g)
    s <- rowSums(a) + rest
    sum(lgamma(s) - lgamma(s + rowSums(n))) + sum(lgamma(a + n) - lgamma(a)) -
      sum(g[-1L, ]^2) / (2 * prior$effect_scale^2) - least_precision * sum(g[1L, ]^2) / 2
  }
  made <- response_of_documents(fit)
  at <- as.double(made$mean)
  curve <- stats::optimHess(at, value, control = list(ndeps = rep(1e-3, length(at))))
  expect_equal(solve(made$cov), -curve, tolerance = 1e-3, ignore_attr = TRUE)
})

test_that("units, names and order of levels and documents change nothing", {
  elbo_of <- function(about, x = corpus$x) {
    elbo(bnp_topics(
      x, prior = prior, covariates = about, start = withr::with_seed(1, sample(4, nrow(x), TRUE)),
      control = quiet_control(max_laps = 5, moves = FALSE)
    ))
  }
  one <- elbo_of(corpus$about)
  expect_equal(elbo_of(transform(corpus$about, day = 10 - 3 * day)), one, tolerance = 1e-6)
  expect_equal(elbo_of(transform(corpus$about, party = c(a = "z", b = "y")[party])), one, tolerance = 1e-6)
  named <- corpus$about
  rownames(named) <- rownames(corpus$x)
  expect_equal(elbo_of(named[200:1, ]), one, tolerance = 1e-10)
})

test_that("weights, labels, documents of rows, sparsity and other ways of learning go with covariates", {
  some <- list(x = corpus$x[1:60, ], about = corpus$about[1:60, ])
  twice <- rep(1:60, each = 2)
  run <- function(x, about, ...) {
    bnp_topics(
      x, prior = prior, covariates = about, ..., control = quiet_control(max_laps = 40, moves = FALSE, tol = 1e-9)
    )
  }
  start <- withr::with_seed(1, sample(3, 60, TRUE))
  written <- some$x[twice, ]
  rownames(written) <- NULL
  by_weight <- run(some$x, some$about, weights = rep(2, 60), start = start)
  by_rows <- run(written, some$about[twice, ], start = start[twice])
  expect_equal(elbo(by_weight), elbo(by_rows), tolerance = 1e-6)
  labelled <- call_topics(data = some, labels = some$about$party)
  expect_gte(n_clusters(labelled), 2L)
  sparse <- bnp_topics(
    some$x, prior = prior, covariates = some$about, control = quiet_control(sparsity = 2L, batches = 2L, max_laps = 10)
  )
  expect_gte(n_clusters(sparse), 1L)
  noisy <- bnp_topics(
    corpus$x, prior = prior, covariates = corpus$about,
    control = bnp_control("stochastic", seed = 1, verbose = FALSE, k_init = 5L, batches = 4L, max_laps = 20L)
  )
  expect_equal(sum(cluster_sizes(noisy)), sum(corpus$x), tolerance = 1e-6)
  again <- bnp_topics(
    corpus$x, prior = prior, covariates = corpus$about, start = fit, control = quiet_control(max_laps = 5)
  )
  expect_gte(elbo(again), elbo(fit) - 1e-6)
  other <- bnp_topics(
    corpus$x[1:80, ], prior = prior, covariates = corpus$about[1:80, ], start = fit,
    control = quiet_control(max_laps = 5)
  )
  expect_identical(nrow(fitted(other)), 80L)
  rows <- withr::with_seed(3, matrix(rnorm(240), 120))
  rows[, 1] <- rows[, 1] + rep(c(-4, 4), each = 60)
  groups <- bnp_topics(
    rows, obs_gaussian(), prior_covariates(~ side), id = rep(1:12, each = 10),
    covariates = data.frame(side = rep(c("l", "r"), each = 6)), control = quiet_control(max_laps = 10)
  )
  expect_identical(nrow(fitted(groups)), 12L)
  expect_identical(dim(simulate(fit, seed = 1)$sim_1), dim(corpus$x))
})

test_that("fits go on from checkpoints and in other processes", {
  skip_on_cran()
  path <- withr::local_tempfile()
  run <- function(...) {
    bnp_topics(corpus$x, prior = prior, covariates = corpus$about, control = quiet_control(batches = 3L, ...))
  }
  whole <- run(max_laps = 8)
  suppressWarnings(run(max_laps = 4, checkpoint = path))
  expect_identical(bnp_resume(path, corpus$x, max_laps = 8)$state, whole$state)
  local_daemons()
  apart <- run(max_laps = 8, wave = 2L, workers = "bnpvi tests")
  expect_identical(apart$state, run(max_laps = 8, wave = 2L)$state)
})

test_that("bad covariates are refused, and what the model has not", {
  x <- corpus$x
  about <- corpus$about
  expect_bad(bnp_topics(x, prior = prior), "covariates")
  expect_bad(bnp_topics(x, prior = prior, covariates = about[-1, ]), "covariates")
  expect_bad(bnp_topics(x, prior = prior, covariates = about["day"]), "covariates")
  expect_bad(bnp_topics(x, prior = prior, covariates = replace(about, cbind(3, 2), NA)), "covariates")
  expect_bad(bnp_topics(x, prior = prior_covariates(~ day, k = 3), covariates = about), "argument")
  expect_bad(bnp_topics(x, prior = prior, covariates = about, response = about$day), "response")
  expect_bad(bnp_topics(x, prior = prior, covariates = about, control = bnp_control("truncation_free")), "covariates")
  for (bound in c("loose", "tight")) { # the bound is always the same one, so that no choice of it is ignored
    expect_bad(
      bnp_topics(x, prior = prior, covariates = about, control = bnp_control(bound = bound)), "not_defined", "bound"
    )
  }
  plain <- function(bound) {
    suppressWarnings(bnp_topics(x, control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE, bound = bound)))
  }
  expect_bad(compare_fits(fit, plain("loose")), "not_comparable", "One is a tight bound, the other a loose one")
  expect_s3_class(compare_fits(fit, plain("tight")), "bnp_comparison")
  batches <- bnp_stream(function(i) if (i == 1L) x)
  expect_bad(bnp_topics(batches, covariates = about), "not_defined", "prior_covariates")
  expect_bad(bnp_topics(batches, prior = prior), "not_defined")
  expect_bad(confint(fit, "weights"), "argument", "prevalence")
  expect_bad(update(fit, newdata = x), "not_defined")
  expect_bad(bnp_sample(fit, x), "not_defined")
})
