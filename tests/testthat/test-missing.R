# Missing values. That models with gaps obey the laws of observation models, are below the exact evidence and add up
# over batches is tested with all others (helper-models.R has cases with gaps); here is what na_action does.

quiet <- function(...) bnp_control(..., verbose = FALSE)
few <- quiet(seed = 1)
punch <- function(x, share = 0.1, seed = 1) {
  gone <- withr::with_seed(seed, matrix(runif(length(as.matrix(x))) < share, nrow(x)))
  gone[rowSums(!gone) == 0, 1] <- FALSE
  x[gone] <- NA
  x
}
numbers <- as.matrix(iris[1:4])
holed <- punch(numbers)
diagonal <- obs_gaussian("diagonal")
planted <- withr::with_seed(3, {
  group <- rep(1:2, each = 60)
  list(
    bernoulli = 1 * (matrix(runif(120 * 10), 120) < c(0.1, 0.9)[group]),
    poisson = matrix(rpois(120 * 4, c(1, 9)[group]), 120), gamma = matrix(rexp(120 * 4, c(1, 30)[group]), 120),
    spherical = matrix(rnorm(120 * 3, c(0, 5)[group]), 120), diagonal = matrix(rnorm(120 * 3, c(0, 5)[group]), 120),
    shaped = matrix(rgamma(120 * 3, 4, c(1, 8)[group]), 120)
  )
})
makers <- list(
  bernoulli = obs_bernoulli(1, 1), poisson = obs_poisson(), gamma = obs_gamma(1), spherical = obs_gaussian("spherical"),
  diagonal = diagonal, shaped = obs_gamma()
)
without <- function(fit, ...) fit[setdiff(names(fit), c("call", "trace", ...))]
modelled_fit <- function(x, obs, ...) bnp_mixture(x, obs, control = few, na_action = "model", ...)

for (name in names(planted)) {
  test_that(paste0(name, ": without missing values na_action changes no bit"), {
    plain <- bnp_mixture(planted[[name]], makers[[name]], control = few)
    for (what in c("model", "omit")) {
      fit <- bnp_mixture(planted[[name]], makers[[name]], control = few, na_action = what)
      expect_identical(fit$input$na_action, what)
      fit$input$na_action <- NULL
      expect_identical(without(fit), without(plain))
    }
  })

  test_that(paste0(name, ": clusters are found with a tenth of the cells missing, in laps that rise"), {
    x <- punch(planted[[name]])
    fit <- modelled_fit(x, makers[[name]])
    expect_gt(adjusted_rand_index(fitted(fit), rep(1:2, each = 60)), 0.9)
    expect_gt(min(diff(elbo_trace(fit)$elbo)), -1e-9)
    several <- bnp_mixture(x, makers[[name]], control = quiet(seed = 1, batches = 3), na_action = "model")
    expect_equal(elbo(several), elbo(fit), tolerance = 1e-3)
  })

  test_that(paste0(name, ": a row without any value changes nothing"), {
    x <- punch(planted[[name]])
    fit <- modelled_fit(x, makers[[name]])
    more <- rbind(x[1:10, ], NA, x[11:120, ], NA)
    expect_message(with_empty <- modelled_fit(more, makers[[name]]), class = "bnpvi_message_left_out")
    expect_identical(with_empty$state, fit$state)
    expect_identical(elbo(with_empty), elbo(fit))
    expect_equal(nobs(with_empty), 120)
    expect_identical(fitted(with_empty)[-c(11, 122)], fitted(fit))
    expect_identical(which(is.na(fitted(with_empty))), c(11L, 122L))
    prob <- predict(with_empty, more, type = "prob", na_action = "model")
    expect_equal(unname(prob[11, ]), unname(proportion(fit) / sum(proportion(fit))), tolerance = 1e-12)
    expect_equal(predict(with_empty, more, type = "logdensity", na_action = "model")[11], 0)
  })

  test_that(paste0(name, ": a fit of complete data is one with gaps of which there are none"), {
    plain <- bnp_mixture(planted[[name]], makers[[name]], control = few)
    gappy <- fit_as(plain, replace(plain$model$obs, "gaps", TRUE))
    density <- function(fit) log_predictive(fit, as_newdata(fit, planted[[name]]))
    expect_equal(density(gappy), density(plain), tolerance = 1e-12)
    expect_equal(coef(gappy), coef(plain), tolerance = 1e-12)
    again <- bnp_mixture(planted[[name]], makers[[name]], control = few, start = gappy)
    expect_true(again$model$obs$gaps)
    expect_gte(elbo(again), elbo(plain) - 1e-8)
    expect_gte(elbo(bnp_mixture(planted[[name]], makers[[name]], control = few, start = again)), elbo(again) - 1e-8)
  })

  test_that(paste0(name, ": a fit of complete data starts one of data with gaps, and says of them what it can"), {
    plain <- bnp_mixture(planted[[name]], makers[[name]], control = few)
    x <- punch(planted[[name]])
    expect_equal(n_clusters(modelled_fit(x, makers[[name]], start = plain)), n_clusters(plain))
    prob <- predict(plain, x, type = "prob", na_action = "model")
    expect_equal(unname(rowSums(prob)), rep(1, 120))
    whole <- stats::complete.cases(x)
    expect_identical(prob[whole, ], predict(plain, x[whole, ], type = "prob"))
    expect_gt(adjusted_rand_index(predict(plain, x, na_action = "model"), rep(1:2, each = 60)), 0.9)
  })
}

test_that("omit is the fit of the complete rows, in the place of all", {
  whole <- stats::complete.cases(holed)
  expect_message(fit <- bnp_mixture(holed, control = few, na_action = "omit"), "44 rows of `x` with missing values")
  plain <- bnp_mixture(holed[whole, ], control = few)
  expect_identical(fit$state, plain$state)
  expect_equal(nobs(fit), sum(whole))
  expect_identical(is.na(fitted(fit)), !whole)
  expect_identical(fitted(fit)[whole], fitted(plain))
  suppressMessages({
    for (type in c("class", "logdensity", "prob")) {
      out <- predict(fit, holed, type = type, na_action = "omit")
      expect_identical(as.matrix(out)[whole, ], as.matrix(predict(plain, holed[whole, ], type = type))[, ])
      expect_true(all(is.na(as.matrix(out)[!whole, ])))
    }
    expect_equal(heldout_loglik(fit, holed, na_action = "omit"), heldout_loglik(plain, holed[whole, ]))
    expect_identical(is.na(augment(fit, holed, na_action = "omit")$.class), !whole)
    kept <- bnp_mixture(holed, control = quiet(seed = 1, keep = "probabilities"), na_action = "omit")
    expect_identical(is.na(predict(kept, type = "prob")[, 1]), !whole)
  })
})

test_that("probabilities and densities of rows with gaps are those of the marginal predictive", {
  fit <- bnp_mixture(numbers, diagonal, control = few)
  q <- posterior_params(fit)
  log_p <- sapply(seq_len(n_clusters(fit)), function(k) {
    sd <- sqrt(q$scale[k, ] * (1 + 1 / q$mean_strength[k]) / q$df[k])
    own <- sapply(1:4, function(j) dt((holed[, j] - q$mean[k, j]) / sd[j], q$df[k], log = TRUE) - log(sd[j]))
    rowSums(own, na.rm = TRUE)
  })
  weight <- coef(fit)$weights
  joint <- exp(log_p) * rep(weight, each = 150)
  gappy <- rowSums(is.na(holed)) > 0
  prob <- predict(fit, holed, type = "prob", na_action = "model")
  expect_equal(unname(prob[gappy, ]), (joint / rowSums(joint))[gappy, ], tolerance = 1e-10)
  # The density has a cluster that is not seen yet as well.
  density <- predict(fit, holed, type = "logdensity", na_action = "model")
  expect_true(all(exp(density) >= rowSums(joint)))
  expect_lt(max(exp(density) / rowSums(joint)), 2)
})

test_that("golden values: the evidence of the cells that are there", {
  x <- cbind(c(0.1, -0.4, 2.2, NA, 2.4), c(1.2, NA, 0.8, -0.5, NA))
  obs <- obs_gaussian("diagonal", mean = 0, mean_strength = 0.1, df = 4, scale = 0.5)
  fit <- bnp_mixture(x, obs, prior_dirichlet(1), control = few, na_action = "model")
  evidence <- function(y) {
    by_precision <- function(tau) {
      cov <- diag(length(y)) + 10
      vapply(tau, function(t) {
        root <- chol(cov / t)
        exp(-sum(backsolve(root, y, transpose = TRUE)^2) / 2 - sum(log(diag(root))) - length(y) / 2 * log(2 * pi)) *
          dgamma(t, 2, 0.25)
      }, 1)
    }
    log(stats::integrate(by_precision, 0, Inf, rel.tol = 1e-10)$value)
  }
  expect_equal(elbo(fit), evidence(x[c(1, 2, 3, 5), 1]) + evidence(x[c(1, 3, 4), 2]), tolerance = 1e-8)
  votes <- cbind(c(1, 0, NA, 1), c(NA, NA, 1, 1))
  fit <- bnp_mixture(votes, obs_bernoulli(1, 1), prior_dirichlet(1), control = few, na_action = "model")
  expect_equal(elbo(fit), lbeta(3, 2) + lbeta(3, 1), tolerance = 1e-12)
  counts <- cbind(a = c(2, NA, 0), b = c(1, 4, NA), hours = c(1, 2, 0.5))
  obs <- obs_poisson(1, 1, exposure = "hours")
  fit <- bnp_mixture(counts, obs, prior_dirichlet(1), control = few, na_action = "model")
  seen <- function(x, e) sum(x * log(e) - lgamma(x + 1)) + lgamma(1 + sum(x)) - (1 + sum(x)) * log(1 + sum(e))
  expect_equal(elbo(fit), seen(c(2, 0), c(1, 0.5)) + seen(c(1, 4), c(1, 2)), tolerance = 1e-12)
})

test_that("levels, trials and times that are missing say nothing", {
  frame <- data.frame(f = factor(c("a", "b", NA, "a", "b", "b")), g = c(TRUE, NA, NA, FALSE, TRUE, TRUE))
  expect_message(
    fit <- modelled_fit(frame, obs_categorical("perks"), prior = prior_dirichlet(1)),
    class = "bnpvi_message_left_out"
  )
  # Dirichlet(1/2, 1/2) for each column.
  two <- function(a, b) lbeta(0.5 + a, 0.5 + b) - lbeta(0.5, 0.5)
  expect_equal(elbo(fit), two(2, 3) + two(3, 1), tolerance = 1e-12)
  expect_no_warning(predict(fit, frame, na_action = "model"))
  tries <- cbind(success = c(2, NA, 1, 0), failure = c(1, 3, 0, 2))
  suppressMessages(fit <- modelled_fit(tries, obs_binomial(), prior = prior_dirichlet(1)))
  expect_equal(elbo(fit), elbo(bnp_mixture(tries[-2, ], obs_binomial(), prior_dirichlet(1), few)), tolerance = 1e-12)
  times <- cbind(time = c(2, 3, 1, NA), status = c(1, NA, 0, 1))
  suppressMessages(fit <- modelled_fit(times, obs_survival(), prior = prior_dirichlet(1)))
  expect_equal(elbo(fit), elbo(bnp_mixture(times[c(1, 3), ], obs_survival(), prior_dirichlet(1), few)))
  expect_equal(nobs(fit), 2)
})

test_that("blocks of a product have gaps of their own", {
  frame <- iris
  frame$Species[c(1, 60, 120)] <- NA
  frame$Sepal.Width[c(1, 2, 61)] <- NA
  frame$visits <- rep(0:2, 50)
  frame$visits[4:9] <- NA
  model <- obs_product(obs_poisson(columns = "visits"), diagonal, obs_categorical())
  fit <- modelled_fit(frame, model)
  expect_true(fit$model$obs$blocks$poisson$gaps)
  expect_true(fit$model$obs$blocks$gaussian$gaps)
  expect_null(fit$model$obs$blocks$categorical$gaps)
  only <- obs_product(obs_poisson(columns = "visits"), diagonal, obs_categorical())
  part <- replace(frame, "Sepal.Width", iris["Sepal.Width"])
  some <- modelled_fit(part, only)
  expect_null(some$model$obs$blocks$gaussian$gaps)
  # The fit gets gaps where new data have them, block by block.
  expect_equal(unname(rowSums(predict(some, frame, type = "prob", na_action = "model"))), rep(1, 150))
  whole <- stats::complete.cases(frame)
  density <- predict(some, frame, type = "logdensity", na_action = "model")
  expect_equal(density[whole], unname(predict(some, frame[whole, ], type = "logdensity")), tolerance = 1e-12)
})

test_that("a row of which only the exposure is known has no density", {
  frame <- data.frame(n = c(1, 9, 2, 8, NA), hours = c(1, 2, 1, 2, 1), x = c(0, 5, 0.1, 5.2, NA))
  model <- obs_product(obs_poisson(columns = "n", exposure = "hours"), diagonal)
  suppressMessages(fit <- modelled_fit(frame, model))
  expect_equal(nobs(fit), 4)
  expect_equal(heldout_loglik(fit, frame, na_action = "model"), heldout_loglik(fit, frame[1:4, ]))
})

test_that("learned priors of independent columns are learned from the cells that are there", {
  x <- punch(planted$diagonal)
  for (obs in list(obs_gaussian("diagonal", learn = TRUE), obs_bernoulli(learn = TRUE))) {
    x <- if (obs$family == "bernoulli") punch(planted$bernoulli) else x
    fit <- modelled_fit(x, obs)
    expect_gt(min(diff(elbo_trace(fit)$elbo)), -1e-9)
    expect_gt(adjusted_rand_index(fitted(fit), rep(1:2, each = 60)), 0.9)
  }
})

test_that("default priors are those of the cells that are there", {
  fit <- modelled_fit(holed, obs_gaussian("diagonal", learn = FALSE))
  each <- apply(holed, 2, stats::median, na.rm = TRUE)
  expect_equal(unname(fit$model$obs$mean), unname(each))
  counts <- punch(planted$poisson)
  fit <- modelled_fit(counts, obs_poisson())
  expect_equal(fit$model$obs$b, 1 / unname(colMeans(counts, na.rm = TRUE)))
})

test_that("topics leave rows and documents out", {
  counts <- withr::with_seed(1, matrix(rpois(200, rep(c(5, 0.2), each = 100)), 20, dimnames = list(
    paste0("doc", 1:20), paste0("w", 1:10)
  )))
  gappy <- replace(counts, cbind(c(2, 7), c(1, 3)), NA)
  control <- quiet(seed = 1, max_laps = 5)
  expect_error(bnp_topics(gappy, control = control), class = "bnpvi_error_not_finite")
  expect_error(bnp_topics(gappy, control = control, na_action = "model"), class = "bnpvi_error_argument", "omit")
  expect_message(fit <- bnp_topics(gappy, control = control, na_action = "omit"), class = "bnpvi_message_left_out")
  expect_identical(fit$state, bnp_topics(counts[-c(2, 7), ], control = control)$state)
  expect_identical(is.na(fitted(fit)[, 1]), replace(stats::setNames(rep(FALSE, 20), rownames(counts)), c(2, 7), TRUE))
  suppressMessages({
    prob <- predict(fit, gappy, na_action = "omit")
    expect_identical(which(is.na(predict(fit, gappy, type = "class", na_action = "omit"))), c(doc2 = 2L, doc7 = 7L))
    expect_identical(prob[-c(2, 7), , drop = FALSE], predict(fit, counts[-c(2, 7), ]))
    expect_equal(
      heldout_loglik(fit, gappy, seed = 1, na_action = "omit"), heldout_loglik(fit, counts[-c(2, 7), ], seed = 1)
    )
    id <- rep(1:10, each = 15)
    rows <- bnp_topics(holed, obs_gaussian(), id = id, control = control, na_action = "omit")
    whole <- stats::complete.cases(holed)
    expect_identical(
      rows$state, bnp_topics(holed[whole, ], obs_gaussian(), id = id[whole], control = control)$state
    )
    expect_identical(is.na(augment(rows, holed, id, na_action = "omit")$.topic), !whole)
  })
})

test_that("documents that are left out keep their places in weights, covariates and results", {
  counts <- withr::with_seed(1, matrix(rpois(200, rep(c(9, 0.2, 0.2, 9), each = 10)), 20, dimnames = list(
    NULL, paste0("w", 1:10)
  )))
  gone <- c(2, 7)
  gappy <- replace(counts, cbind(gone, c(1, 3)), NA)
  control <- quiet(seed = 1, max_laps = 5)
  weights <- rep(1:2, 10)
  by <- rep(c("a", "b"), each = 10)
  suppressMessages(fit <- bnp_topics(gappy, control = control, weights = weights, na_action = "omit"))
  plain <- bnp_topics(counts[-gone, ], control = control, weights = weights[-gone])
  expect_identical(fit$state, plain$state)
  expect_identical(fitted(fit)[-gone, , drop = FALSE], fitted(plain))
  expect_identical(top_documents(fit, 20)$document, seq_len(20)[-gone][top_documents(plain, 20)$document])
  expect_identical(tidy(fit, "gamma")$gamma, tidy(plain, "gamma")$gamma)
  expect_identical(unique(tidy(fit, "gamma")$document), seq_len(20)[-gone])
  expect_equal(prevalence(fit, by), prevalence(plain, by[-gone]), ignore_attr = TRUE)
  expect_error(prevalence(fit, by[-gone]), class = "bnpvi_error_by", "20, not 18")
  expect_error(
    bnp_topics(gappy, weights = replace(weights, 7, -1), na_action = "omit"),
    class = "bnpvi_error_weights", "document 7"
  ) |> suppressMessages()
  expect_identical(nrow(proportions_picture(fit, NULL)$theta), 18L)
  expect_gt(n_clusters(fit), 1)

  # Documents of several rows: the third has none that is whole.
  id <- rep(letters[1:5], each = 4)
  gappy <- replace(counts, cbind(c(1, 9:12), 1), NA)
  for (obs in list(obs_multinomial(), obs_poisson())) {
    whole <- stats::complete.cases(gappy)
    suppressMessages(
      fit <- bnp_topics(gappy, obs, id = id, control = control, weights = c(1, 2, 9, 1, 2), na_action = "omit")
    )
    plain <- bnp_topics(gappy[whole, ], obs, id = id[whole], control = control, weights = c(1, 2, 1, 2))
    expect_identical(fit$state, plain$state)
    expect_identical(fitted(fit)[-3, , drop = FALSE], fitted(plain))
    expect_true(all(is.na(fitted(fit)["c", ])))
    suppressMessages(new <- predict(fit, gappy, id = id, na_action = "omit"))
    expect_identical(new[-3, , drop = FALSE], predict(plain, gappy[whole, ], id = id[whole]))
    expect_true(all(is.na(new["c", ])))
    expect_error(
      suppressMessages(bnp_topics(gappy, obs, id = id, weights = 1:4, na_action = "omit")),
      class = "bnpvi_error_weights", "(5), not 4", fixed = TRUE
    )
    suppressMessages(started <- bnp_topics(
      gappy, obs, id = id, control = control, na_action = "omit",
      start = if (identical(obs, obs_poisson())) rep(1:2, 10) else c(1, 2, 2, 1, 2)
    ))
    expect_s3_class(started, "bnp_topics")
  }
})

test_that("rows that are left out keep their places in tables of sequences, whatever these are", {
  x <- withr::with_seed(2, matrix(rnorm(120, rep(c(-3, 3), each = 30)), 60, dimnames = list(NULL, c("a", "b"))))
  gappy <- replace(x, cbind(c(4, 50), 1:2), NA)
  fit <- bnp_hmm(x, control = quiet(seed = 1, max_laps = 10))
  for (data in list(gappy, as.data.frame(gappy), list(gappy[1:30, ], gappy[31:60, ]), stats::ts(gappy))) {
    out <- suppressMessages(augment(fit, data, na_action = "omit"))
    expect_identical(which(is.na(out$.class)), c(4L, 50L))
    expect_identical(unname(as.matrix(out[1:2])), unname(gappy))
  }
})

test_that("intervals, simulation and tables of a fit with gaps are there", {
  fit <- modelled_fit(holed, diagonal)
  k <- n_clusters(fit)
  expect_equal(dim(posterior_params(fit)$df), c(k, 4))
  expect_true(all(is.finite(confint(fit, "mean"))))
  expect_false(anyNA(tidy(fit)))
  expect_false(anyNA(simulate(fit, seed = 1)$sim_1))
  expect_output(print(fit), "150 observations of 4 columns, 47 values missing")
  tree <- cluster_tree(fit, holed)
  expect_equal(n_clusters(cut_fit(fit, holed, k = 2)), 2)
  expect_equal(unname(diag(coclustering(fit, holed))), rep(1, 150))
  old <- bnp_mixture(holed, diagonal, control = few, na_action = "model", start = fitted(fit))
  expect_lt(abs(elbo(old) - elbo(fit)), 5)
})
