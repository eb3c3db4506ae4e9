# Answers for rows whose covariates come beside them.

test_that("residuals and expectations of mixtures of experts have the weights of each row", {
  data <- withr::with_seed(1, {
    w <- rnorm(60)
    z <- 1 + (runif(60) < plogis(4 * w))
    t <- rnorm(60)
    data.frame(w, t, y = c(-3, 3)[z] + c(-2, 2)[z] * t + rnorm(60, 0, 0.3))
  })
  fit <- bnp_mixture(y ~ t, data = data, prior = prior_covariates(~ w, k = 2), control = quiet_control(max_laps = 30))
  expected <- predict(fit, data, type = "response")
  expect_gt(stats::sd(predict(fit, type = "weights")[, 1]), 0.2)
  expect_equal(unname(residuals(fit, data, type = "response")), data$y - expected, tolerance = 1e-10)
  beside <- residuals(fit, data[c("t", "y")], type = "response", covariates = data["w"])
  expect_equal(beside, residuals(fit, data, type = "response"), tolerance = 1e-10)
  expect_error(
    residuals(bnp_mixture(dist ~ speed, cars, control = quiet_control(max_laps = 2)), cars, covariates = cars),
    class = "bnpvi_error_covariates"
  ) |> suppressWarnings()
})

test_that("missing values of new rows are imputed, and residuals computed, with covariates beside them", {
  planted <- planted_by_age(80, seed = 2)
  fit <- bnp_mixture(
    planted$x, covariates = planted$age, prior = prior_covariates(~ age, k = 3), control = quiet_control(max_laps = 30)
  )
  gaps <- matrix(c(NA, 0, NA, 0, 0, 0), 3, byrow = TRUE, dimnames = list(NULL, colnames(planted$x)))
  ends <- data.frame(age = c(20, 80, 50))
  copies <- impute(fit, gaps, m = 200, seed = 1, covariates = ends)
  means <- rowMeans(vapply(copies, function(x) x[1:2, 1], numeric(2)))
  expect_equal(means, unname(predict(fit, gaps, type = "impute", covariates = ends)[1:2, 1]), tolerance = 0.2)
  expect_gt(abs(diff(means)), 4)
  expect_error(impute(fit, gaps), "needed", class = "bnpvi_error_covariates")

  steps <- planted_steps(2, rep(40, 2))$frame
  chain <- bnp_hmm(
    as.matrix(steps["y"]), id = steps$id, covariates = steps["w"], prior = prior_covariates(~ w, k = 2),
    control = quiet_control(max_laps = 20)
  ) |> suppressWarnings()
  some <- as.matrix(steps[1:10, "y", drop = FALSE])
  expect_error(residuals(chain, some), "needed", class = "bnpvi_error_covariates")
  as_they_are <- residuals(chain, some, covariates = steps[1:10, "w", drop = FALSE])
  expect_true(all(is.finite(as_they_are)))
  expect_false(isTRUE(all.equal(as_they_are, residuals(chain, some, covariates = data.frame(w = rep(3, 10))))))
})

test_that("expected responses of sequences have the transitions of the covariates that are given", {
  steps <- planted_steps(3, 60)$frame
  steps$t <- withr::with_seed(1, rnorm(60))
  fit <- bnp_hmm(
    y ~ t, data = steps[c("y", "t")], covariates = steps["w"], prior = prior_covariates(~ w, k = 2),
    control = quiet_control(max_laps = 20)
  ) |> suppressWarnings()
  of_fit <- predict(fit, steps, type = "response", covariates = steps["w"])
  expect_equal(of_fit, predict(fit, steps[c("y", "t")], type = "response"), tolerance = 1e-10)
  other <- predict(fit, steps[c("y", "t")], type = "response", covariates = transform(steps, w = -w)["w"])
  expect_gt(max(abs(of_fit - other)), 0.01)
})

test_that("contrasts need two values, and a column is no weight of sequences", {
  data <- withr::with_seed(1, data.frame(y = rnorm(40), one = 3.5, w = 1, id = rep(1:2, each = 20)))
  fit <- suppressMessages(bnp_mixture(
    data["y"], covariates = data["one"], prior = prior_covariates(~ one), control = quiet_control(max_laps = 3)
  )) |> suppressWarnings()
  expect_error(prevalence(fit, by = "one", contrast = TRUE), "needs two values", class = "bnpvi_error_by")
  expect_identical(unique(prevalence(fit, by = "one")$at), 3.5)
  expect_error(
    bnp_hmm(data[c("y", "w", "id")], id = id, weights = w), "one number per sequence", class = "bnpvi_error_weights"
  )
})

test_that("rows of documents are augmented with the proportions of their documents' covariates", {
  data <- withr::with_seed(4, {
    about <- data.frame(w = rnorm(20))
    id <- rep(1:20, each = 5)
    one <- runif(100) < plogis(3 * about$w[id])
    list(about = about, id = id, x = data.frame(u = rnorm(100, 4 * one), v = rnorm(100)))
  })
  fit <- bnp_topics(
    data$x, id = data$id, obs = obs_gaussian(), prior = prior_covariates(~ w), covariates = data$about,
    control = quiet_control(max_laps = 20, k_init = 2, moves = FALSE)
  ) |> suppressWarnings()
  all <- augment(fit, data$x, id = data$id)
  expect_gt(mean(all$.topic == most_probable(predict(fit, data$x, data$id, type = "prob"))[data$id]), 0.5)
  some <- augment(fit, data$x[1:10, ], id = data$id[1:10], covariates = data$about[1:2, , drop = FALSE])
  expect_identical(some$.topic, all$.topic[1:10])
  expect_equal(some$.uncertainty, all$.uncertainty[1:10], tolerance = 1e-4)
  odd <- augment(fit, data$x[1:10, ], id = data$id[1:10], covariates = data.frame(w = c(-9, 9)))
  expect_gt(max(abs(odd$.uncertainty - some$.uncertainty)), 1e-3)
})

test_that("one cluster with all the weight has intervals by linear response", {
  data <- withr::with_seed(2, data.frame(y = rnorm(20), w = rnorm(20)))
  fit <- bnp_mixture(
    data["y"], covariates = data["w"], prior = prior_covariates(~ w, k = 1), control = quiet_control(max_laps = 5)
  ) |> suppressWarnings()
  all <- prevalence(fit, by = "w", x = data["y"])
  expect_identical(unique(c(all$proportion, all$conf.low, all$conf.high)), 1)
})

test_that("a dot stands for all columns of covariates, and only of these", {
  data <- withr::with_seed(2, data.frame(y = rnorm(20), w = rnorm(20)))
  for (fit in list(bnp_mixture, bnp_hmm)) {
    expect_error(fit(data, prior = prior_covariates(~ .)), "stands for the columns", class = "bnpvi_error_covariates")
  }
  expect_error(
    bnp_mixture(y ~ 1, data = data, prior = prior_covariates(~ .)), "stands for", class = "bnpvi_error_covariates"
  )
})

test_that("tables of states do not offer intervals that only mixtures have", {
  steps <- planted_steps(2, 30)$frame
  fit <- bnp_hmm(
    as.matrix(steps["y"]), covariates = steps["w"], prior = prior_covariates(~ w, k = 2),
    control = quiet_control(max_laps = 5)
  ) |> suppressWarnings()
  said <- paste(utils::capture.output(print(prevalence(fit, by = "w"))), collapse = " ")
  expect_match(said, "too narrow")
  expect_no_match(said, "x = (the data", fixed = TRUE)
})
