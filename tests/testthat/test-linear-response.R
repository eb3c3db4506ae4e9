# Intervals of weights by linear response.

fit_of_age <- function(data) {
  bnp_mixture(data$x, prior = prior_covariates(~ age), covariates = data$age, control = quiet_control())
}

test_that("where clusters are known for sure it is the curvature of the weights' posterior", {
  data <- planted_by_age(500, seed = 3, sep = 30)
  fit <- fit_of_age(data)
  expect_identical(n_clusters(fit), 3L)
  known <- as_trained(as_newdata(fit, data$x), fit)
  known$position <- fit$input$position
  response <- linear_response(fit, known, NULL)
  expect_true(all(response$settled))
  # Effects given counts, in plain R: log of sum over sticks replaced by its mean weights, their logs as parameters.
  x <- fit$model$prior$patterns
  counts <- table(factor(known$position, seq_len(nrow(x)) - 1L), fitted(fit)) |> unclass()
  rest <- 1 / (500 + 2)
  log_posterior <- function(v) {
    eta <- rep(v[1:3], each = nrow(x)) + x %*% t(v[4:6])
    sum(counts * eta) - sum(rowSums(counts) * log(rowSums(exp(eta)) + rest)) - sum(v[4:6]^2) / 2 -
      # sticks of the Dirichlet process: pi sums to about 1
      1e4 * (sum(exp(v[1:3])) - 1 + rest)^2
  }
  best <- optim(c(log(colSums(counts) / 500), 0, 0, 0), function(v) -log_posterior(v), method = "BFGS", hessian = TRUE)
  cov <- solve(best$hessian)
  of_effects <- c(2, 4, 6)
  expect_equal(response$mean[of_effects], unname(best$par[4:6]), tolerance = 0.05)
  ours <- response$cov[of_effects, of_effects]
  for (pair in list(c(1, -1, 0), c(0, 1, -1), c(1, 0, -1))) {
    expect_equal(drop(pair %*% ours %*% pair), drop(pair %*% cov[4:6, 4:6] %*% pair), tolerance = 0.15)
  }
})

long_test("intervals are wider than those of q, the more so the more clusters overlap", {
  width <- function(table) mean(table$conf.high - table$conf.low)
  ratio <- function(sep) {
    data <- planted_by_age(500, seed = 4, sep = sep)
    fit <- fit_of_age(data)
    by <- prevalence(fit, by = "age", x = data$x)
    plain <- prevalence(fit, by = "age")
    expect_equal(by$proportion, plain$proportion)
    expect_true(all(by$conf.low < by$conf.high))
    expect_output(print(by), "linear response")
    width(by) / width(plain)
  }
  apart <- ratio(15)
  expect_gt(ratio(3), 1.1 * apart)
  expect_gt(apart, 1.2)
  expect_lt(apart, 2.5)
})

test_that("the data must be those of the fit", {
  data <- planted_by_age(200, seed = 5)
  fit <- fit_of_age(data)
  expect_bad(prevalence(fit, by = "age", x = data$x + 1), "x")
  expect_bad(prevalence(fit, by = "age", x = data$x[-1, ]), "x")
})

test_that("intervals of nominal 90 % hold the truth", {
  skip_if_not(longest_tests())
  ages <- seq(25, 75, by = 12.5)
  w <- (ages - 50) / 15
  logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
  truth <- exp(logit) / rowSums(exp(logit))
  held <- unlist(lapply(1:20, function(seed) {
    data <- planted_by_age(1000, seed = seed, sep = 3)
    fit <- fit_of_age(data)
    of <- apply(table(fitted(fit), data$z), 1, which.max)
    if (n_clusters(fit) != 3L || anyDuplicated(of)) {
      return(NULL)
    }
    by <- prevalence(fit, by = "age", level = 0.9, x = data$x)
    lapply(1:3, function(k) {
      own <- by[by$cluster == k, ]
      truth[, of[k]] >= approx(own$at, own$conf.low, ages)$y & truth[, of[k]] <= approx(own$at, own$conf.high, ages)$y
    })
  }))
  expect_gt(length(held), 200L)
  expect_gt(mean(held), 0.85)
})
