# What is printed fits a screen, and counts in plain English.

few <- bnp_control(seed = 1, max_laps = 5)

test_that("simulated data print without the state of the generator", {
  fit <- bnp_mixture(faithful, control = few)
  lines <- capture.output(print(simulate(fit, nsim = 5)))
  expect_lt(length(lines), 40)
  expect_match(lines[1], "sim_1: 272 rows of 3 columns")
  expect_match(lines[length(lines)], "2 more")
  expect_length(attr(simulate(fit), "seed"), 626)
  topics <- bnp_topics(whales$counts[1:9, ], control = few)
  expect_lt(length(capture.output(print(simulate(topics)))), 10)
})

test_that("long tables print their first rows", {
  tidied <- tidy(bnp_topics(whales$counts, control = few))
  expect_gt(nrow(tidied), 700)
  expect_lt(length(capture.output(print(tidied))), 20)
  plain <- as.data.frame(tidied)
  expect_identical(class(plain), "data.frame")
  lines <- capture.output(print_first_rows(tidied, 10L))
  expect_lt(length(lines), 20)
  expect_match(lines[length(lines)], "more rows")
})

test_that("what is printed of one cluster is in the singular", {
  fit <- bnp_mixture(faithful["waiting"], control = bnp_control(seed = 1))
  shown <- paste(capture.output(print(fit)), collapse = " ")
  expect_match(shown, "272 observations of 1 column ")
  shown <- paste(capture.output(print(summary(fit))), collapse = " ")
  expect_no_match(shown, "\\b1 [a-z]+s\\b")
  expect_match(shown, "1 batch,")
  one <- bnp_mixture(faithful[1, ], control = few)
  expect_match(paste(capture.output(print(one)), collapse = " "), "1 cluster in use, 1 observation of 2 columns")
})

test_that("rows of tidy tables have no mark of row names", {
  skip_if_not_installed("tibble")
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_no_match(capture.output(print(tidy(fit))), "^[*]")
})

test_that("counts are printed with all digits", {
  expect_identical(count_of(3e5, "observation"), "300000 observations")
  expect_identical(count_of(1, "row"), "1 row")
})
