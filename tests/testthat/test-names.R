# Values that come with names go to the columns of these names, whatever their order.

few <- bnp_control(seed = 1, max_laps = 3)

test_that("named parameters of a prior are matched to the columns", {
  named <- obs_gaussian(mean = c(waiting = 70, eruptions = 3), scale = c(waiting = 30, eruptions = 0.2))
  fit <- bnp_mixture(faithful, named, control = few)
  expect_identical(fit$model$obs$mean, c(3, 70))
  expect_identical(fit$model$obs$scale, diag(c(0.2, 30)))
  scale_of <- function(x, ...) bnp_mixture(x, obs_gaussian(..., learn = FALSE), control = few)$model$obs$scale
  full <- matrix(c(30, 0.5, 0.5, 0.2), 2, dimnames = rep(list(c("waiting", "eruptions")), 2))
  for (side in 1:2) {
    one_sided <- full
    dimnames(one_sided)[side] <- list(NULL)
    expect_identical(scale_of(faithful, scale = one_sided), unname(full[2:1, 2:1]))
  }
  expect_identical(scale_of(faithful, scale = full), unname(full[2:1, 2:1]))
  expect_identical(scale_of(faithful, "diagonal", scale = c(waiting = 3, eruptions = 2)), c(2, 3))
  expect_identical(scale_of(scale(faithful), "zero_mean", scale = c(waiting = 3, eruptions = 2)), diag(c(2, 3)))
  plain <- obs_gaussian(mean = c(3, 70), scale = c(0.2, 30))
  expect_identical(bregman_kmeans(faithful, 2, named, seed = 1), bregman_kmeans(faithful, 2, plain, seed = 1))
})

test_that("every observation model matches its named parameters", {
  shuffled <- sample(colnames(animals))
  a <- stats::setNames(seq_len(85) / 85, colnames(animals))
  for (make in list(obs_bernoulli, obs_poisson)) {
    fit <- bnp_mixture(animals, make(a = a[shuffled], b = rev(a)), control = few)
    expect_identical(fit$model$obs$a, unname(a))
    expect_identical(fit$model$obs$b, unname(a))
  }
  terms <- colnames(whales$counts)
  prior <- stats::setNames(seq_along(terms) / 1000, terms)
  topics <- bnp_topics(whales$counts[1:20, ], obs_multinomial(prior[sample(terms)]), control = few)
  expect_identical(topics$model$obs$term_prior, unname(prior))
  columns <- c("eruptions", "waiting")
  regressors <- c("eruptions_lag1", "waiting_lag1", "intercept")
  coef_mean <- matrix(c(0.9, 0.1, 0.2, 0.8, 1, 10), 2, dimnames = list(columns, regressors))
  precision <- c(intercept = 3, waiting_lag1 = 2, eruptions_lag1 = 1)
  scale <- c(waiting = 2, eruptions = 1)
  ar <- obs_ar(1, TRUE, coef_mean = coef_mean[2:1, 3:1], coef_precision = precision, scale = scale)
  fit <- bnp_hmm(faithful, obs = ar, control = few)
  expect_identical(fit$model$obs$coef_mean, unname(coef_mean))
  expect_identical(fit$model$obs$coef_precision, diag(c(1, 2, 3)))
  expect_identical(fit$model$obs$scale, diag(c(1, 2)))
  first <- simulate(fit, seed = 1, initial = cbind(waiting = 70, eruptions = 3))$sim_1
  expect_identical(unlist(first[1, columns]), c(eruptions = 3, waiting = 70))
  single <- obs_models[setdiff(models_of_rows(), "product")]
  expect_true(all(vapply(single, function(facts) length(facts$parameters) > 0, NA)))
})

test_that("names that do not fit are refused", {
  refused <- function(obs, ..., x = faithful) expect_bad(bnp_mixture(x, obs, control = few), "names", ...)
  refused(obs_gaussian(mean = c(waiting = 70, eruption = 3)), "Not a column: \"eruption\"")
  refused(obs_gaussian(mean = c(waiting = 70)), "Missing: \"eruptions\"")
  refused(obs_gaussian(mean = c(waiting = 70, waiting = 3)), "Repeated: \"waiting\"")
  refused(obs_gaussian(scale = c(waiting = 70, 3)), "names of `scale`")
  bare <- unname(as.matrix(faithful))
  refused(obs_gaussian(mean = c(waiting = 70, eruptions = 3)), "columns of the data have none", x = bare)
  mixed <- matrix(c(1, 0, 0, 1), 2, dimnames = list(c("waiting", "eruptions"), c("eruptions", "waiting")))
  refused(obs_gaussian(scale = mixed), "same order")
  expect_no_error(bnp_mixture(faithful$waiting, obs_gaussian(mean = c(waiting = 70)), control = few))
})

test_that("columns without names are called by their places, which is said", {
  x <- c(1.5, 2:20)
  quick <- bnp_control(seed = 1, max_laps = 3, verbose = FALSE)
  tables <- list(
    cbind(unname(cbind(x, x^2)), z = 1:20 + 0.5), stats::setNames(data.frame(x, x^2, z = 1:20 + 0.5), c("", "", "z")),
    stats::setNames(data.frame(x, x^2, z = 1:20 + 0.5), c(NA, NA, "z"))
  )
  for (table in tables) {
    expect_message(
      fit <- suppressWarnings(bnp_mixture(table, control = quick)), "Columns 1 and 2 .*no names.* x1 and x2",
      class = "bnpvi_message_names"
    )
    expect_identical(fit$input$column_names, c("x1", "x2", "z"))
    expect_length(predict(fit, table), 20L)
  }
  for (name in c("", NA)) {
    one <- stats::setNames(data.frame(x, x^2, id = rep(1:2, 10)), c("x", name, "id"))
    one <- one[order(one$id), ]
    for (fit in list(function(...) bnp_mixture(one[-3], ...), function(...) bnp_hmm(one, id = "id", ...))) {
      expect_message(
        fit <- suppressWarnings(fit(control = quick)), "Column 2 .*has no name and is called x2",
        class = "bnpvi_message_names"
      )
      expect_identical(fit$input$column_names, c("x", "x2"))
    }
  }
  both <- cbind(a = x, a = x^2, x^3, x^4)
  said <- testthat::capture_messages(suppressWarnings(bnp_mixture(both, control = quick)))
  expect_match(paste(said, collapse = " "), "Columns 3 and 4 .*\"a\"")
})
