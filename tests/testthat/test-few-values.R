# Columns of few values: what they are taken for, what is said, and identifiers.

once <- bnp_control(seed = 1, max_laps = 10)
calm <- function(expr) suppressMessages(suppressWarnings(expr))
mixed <- withr::with_seed(2, data.frame(
  v = stats::rnorm(80, rep(c(0, 5), each = 40)), b = stats::rbinom(80, 1, rep(c(0.1, 0.9), each = 40)),
  w = stats::rnorm(80)
))

test_that("whole numbers with two values are levels of a data frame, in every class, and it is said", {
  truth <- elbo(bnp_mixture(transform(mixed, b = b == 1), control = once))
  kinds <- list(double = as.double, integer = as.integer, other_two = function(b) b + 1, far = function(b) 1000 * b - 7)
  if (rlang::is_installed("bit64")) kinds$integer64 <- bit64::as.integer64
  if (rlang::is_installed("haven")) kinds$labelled <- function(b) haven::labelled(b, c(no = 0, yes = 1))
  for (kind in names(kinds)) {
    x <- mixed
    x$b <- kinds[[kind]](x$b)
    expect_message(fit <- bnp_mixture(x, control = once), "b.* two whole numbers", class = "bnpvi_message_levels")
    expect_equal(elbo(fit), truth, label = kind)
    expect_message(fit <- bnp_mixture(~ v + b + w, x, control = once), class = "bnpvi_message_levels")
    expect_equal(elbo(fit), truth, label = kind)
  }
  for (x in list(transform(mixed, b = b + 0.5), transform(mixed, b = 3), transform(mixed, b = seq_along(b) %% 3))) {
    expect_no_message(suppressWarnings(bnp_mixture(x, control = once)), class = "bnpvi_message_levels")
  }
  numbers <- function(...) expect_no_message(suppressWarnings(bnp_mixture(...)), class = "bnpvi_message_levels")
  numbers(mixed, obs_gaussian(), control = once)
  numbers(as.matrix(mixed), control = once)
})

test_that("sources, sequences and streams have the same rule, whatever the first piece has", {
  pieces <- split(mixed, rep(1:4, c(3, 27, 40, 10)))
  from <- function(pieces) source_function(function(i) if (i <= length(pieces)) pieces[[i]])
  truth <- elbo(calm(bnp_mixture(mixed, control = once)))
  expect_equal(elbo(calm(bnp_mixture(from(pieces), control = once))), truth, tolerance = 1e-9)
  expect_equal(elbo(calm(bnp_mixture(from(rev(pieces)), control = once))), truth, tolerance = 0.01)
  expect_equal(elbo(calm(bnp_mixture(~ v + b + w, from(pieces), control = once))), truth, tolerance = 1e-9)
  third <- mixed
  third$b[80] <- 2
  pieces <- split(third, rep(1:4, each = 20))
  truth <- elbo(calm(bnp_mixture(third, control = once)))
  expect_equal(elbo(calm(bnp_mixture(from(pieces), control = once))), truth, tolerance = 1e-9)
  apart <- list(transform(mixed[1:40, ], b = 0), transform(mixed[41:80, ], b = 1))
  together <- cbind(do.call(rbind, apart), id = rep(1:2, each = 40))
  expect_message(chain <- suppressWarnings(bnp_hmm(apart, control = once)), class = "bnpvi_message_levels")
  expect_equal(elbo(chain), elbo(calm(bnp_hmm(together, id = "id", control = once))))
})

test_that("new data with one of the values, or as TRUE and FALSE, are read by the fit's levels", {
  fit <- calm(bnp_mixture(mixed, control = once))
  by_label <- calm(bnp_mixture(transform(mixed, b = factor(b)), control = once))
  ones <- transform(mixed[1:5, ], b = 1)
  truth <- predict(by_label, transform(ones, b = factor(b)), type = "prob")
  expect_no_warning(expect_equal(predict(fit, ones, type = "prob"), truth))
  expect_no_warning(expect_equal(predict(fit, transform(ones, b = TRUE), type = "prob"), truth))
  expect_equal(elbo(update(fit, newdata = ones)), elbo(update(by_label, newdata = transform(ones, b = factor(b)))))
  expect_setequal(simulate(fit, 1, seed = 1, n = 50)[[1L]]$b, 0:1)
})

test_that("repeated values are never spread out by noise where there are few of them", {
  said <- NULL
  withCallingHandlers(
    bnp_mixture(mtcars[c("mpg", "cyl", "gear", "disp")], control = bnp_control(seed = 1)),
    bnpvi_warning_ties = function(w) {
      said <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    }
  )
  expect_match(said, "of columns .*cyl")
  expect_match(said, "factor, or leave it out")
  expect_no_match(said, "noise")
})

test_that("states and topics that stand for single values are told of, and counts are called counts", {
  one <- bnp_control(seed = 1, restarts = 1, verbose = FALSE)
  expect_warning(
    bnp_hmm(discoveries, control = one), "Some states are narrower.*obs_negbinomial", class = "bnpvi_warning_ties"
  )
  expect_no_warning(bnp_hmm(discoveries, obs = obs_poisson(), control = one))
  grades <- withr::with_seed(1, data.frame(g = sample(5, 300, TRUE) / 2))
  told <- expect_warning(
    bnp_topics(grades, obs_gaussian(), id = rep(1:10, each = 30), control = one), class = "bnpvi_warning_ties"
  )
  expect_match(conditionMessage(told), "Some topics are narrower than the rounding of column \"g\"")
  expect_no_match(conditionMessage(told), "Counts")
})

test_that("regressions that pass through all rows of a cluster are told of", {
  warned <- function(...) expect_warning(bnp_mixture(..., control = once), class = "bnpvi_warning_lines")
  expect_match(conditionMessage(warned(am ~ wt, mtcars)), "same am.*make it a factor")
  expect_match(conditionMessage(warned(mpg ~ wt, mtcars, weights = hp)), "number of equal rows")
  expect_warning(bnp_hmm(am ~ wt, mtcars, control = once), "Some states have", class = "bnpvi_warning_lines")
  quiet <- function(...) expect_no_warning(bnp_mixture(..., control = once), class = "bnpvi_warning_lines")
  quiet(mpg ~ wt, mtcars)
  quiet(factor(am) ~ wt, mtcars)
  exact <- data.frame(x = rep(1:10, 6), y = rep(c(2, -1), each = 30) * rep(1:10, 6))
  quiet(y ~ x, exact)
  quiet(y ~ x, transform(exact, y = 0))
  two_and_three <- cbind(y = c(1, 2, 1, 2, 5), x = c(1, 2, 3, 9, 4))
  line <- list(responses = 1L, intercept = TRUE)
  expect_identical(pass_through(line, two_and_three, c(1, 1, 2, 2, 2), c(50, 50)), c(TRUE, FALSE))
  expect_identical(pass_through(line, two_and_three, c(1, 1, 2, 2, 2), c(2, 50)), FALSE) # as much weight as rows
})

test_that("a factor, logical values and repeated text alone are levels, as they are in a data frame", {
  set.seed(1)
  text <- sample(c("a", "b", "c"), 40, TRUE)
  how <- bnp_control(seed = 1)
  for (v in list(factor(text), text, text == "a")) {
    for (verb in list(bnp_mixture, bnp_hmm)) {
      fit <- verb(v, control = how)
      expect_equal(elbo(fit), elbo(verb(data.frame(v), control = how)))
      expect_equal(elbo(fit), elbo(verb(v, obs = obs_categorical(), control = how)))
    }
  }
  table <- matrix(text, 10)
  expect_equal(elbo(bnp_mixture(table, control = how)), elbo(bnp_mixture(as.data.frame(table), control = how)))
  expect_bad(bnp_mixture(c("one sentence", "and another one"), control = how), "not_numeric")
})

test_that("a column of frequencies beside levels is told of", {
  d <- as.data.frame(Titanic)
  expect_message(bnp_mixture(d, control = once), "weights = Freq", class = "bnpvi_message_frequencies")
  expect_no_message(
    bnp_mixture(transform(d, Freq = Freq / 2), control = once), class = "bnpvi_message_frequencies"
  )
  expect_no_message(bnp_mixture(d, weights = Freq, control = once), class = "bnpvi_message_frequencies")
})

test_that("an identifier is refused before the fit, in memory and from a source", {
  key <- cbind(mixed, key = sprintf("row%02d", 1:80))
  expect_bad(bnp_mixture(key, control = once), "many_levels", "key.*Leave identifiers.*formula")
  expect_bad(bnp_mixture(key["key"], obs_categorical(), control = once), "many_levels", "key")
  expect_bad(bnp_hmm(key, control = once), "many_levels", "key")
  pieces <- split(key, rep(1:4, each = 20))
  expect_bad(
    calm(bnp_mixture(source_function(function(i) if (i <= 4) pieces[[i]]), control = once)), "many_levels", "key"
  )
  half <- cbind(mixed, key = sprintf("row%02d", c(1:50, 1:30)))
  expect_warning(suppressMessages(bnp_mixture(half, control = once)), class = "bnpvi_warning_many_levels")
})

test_that("several clusters of one column of levels are told of, unless something else tells them apart", {
  few <- bnp_control(restarts = 1, moves = FALSE, max_laps = 2, tol = 0)
  fit <- function(x, ...) {
    withCallingHandlers(bnp_mixture(x, ..., control = few), bnpvi_warning_max_laps = function(w) {
      invokeRestart("muffleWarning")
    })
  }
  told <- function(...) expect_warning(fit(...), "cannot tell clusters apart", class = "bnpvi_warning_levels")
  silent <- function(...) expect_no_warning(fit(...), class = "bnpvi_warning_levels")
  halves <- rep(1:2, each = 25)
  told(state.region, start = halves)
  told(mtcars$am, obs_bernoulli(), start = mtcars$am + 1)
  silent(state.region, start = rep(1, 50))
  silent(data.frame(state.region, state.division), start = halves)
  silent(state.region, id = rep(1:25, 2), start = rep(1:2, c(12, 13)))
  silent(state.region, labels = c("a", "b", rep(NA, 48)))
  income <- data.frame(state.region, income = state.x77[, "Income"] / 1000)
  silent(~state.region, data = income, prior = prior_covariates(~income), start = halves)
  silent(faithful$eruptions, start = rep(1:2, 136))
})
