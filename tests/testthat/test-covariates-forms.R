# What formulas make of covariates: the same columns for new rows as for the rows of the fit.

some_covariates <- function() {
  withr::with_seed(3, {
    n <- 40L
    data.frame(
      num = round(rnorm(n), 2),
      grade = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
      yes = rep(c(TRUE, FALSE, FALSE, TRUE), n / 4L), text = sample(c("u", "vv"), n, TRUE),
      day = as.Date("2020-01-01") + sample(0:90, n, TRUE), score = rep(0:1, n / 2L),
      lasted = as.difftime(runif(n, 1, 50), units = "hours")
    )
  })
}

fit_of_form <- function(formula, about = some_covariates()) {
  x <- withr::with_seed(4, matrix(rnorm(nrow(about), 5 * (about$num > 0)), dimnames = list(NULL, "y")))
  suppressMessages(bnp_mixture(
    x, covariates = about, prior = prior_covariates(formula),
    control = quiet_control(k_init = 2, moves = FALSE, max_laps = 30)
  ))
}

test_that("rows have the same weights alone as among the rows of the fit, whatever the formula makes of covariates", {
  about <- some_covariates()
  limit <- 0.1
  formulas <- list(
    ~ as.numeric(grade), ~ as.integer(grade >= "mid"), ~ as.numeric(yes), ~ I(yes * num), ~ !yes, ~ I(text == "u"),
    ~ nchar(text), ~ text:num, ~ interaction(grade, text), ~ cut(num, c(-Inf, 0, Inf)), ~ factor(score), ~ scale(num),
    ~ splines::ns(num, 3), ~ day, ~ splines::ns(day, 3), ~ format(day, "%m"), ~ lasted, ~ I(num > limit), ~ .
  )
  for (formula in formulas) {
    fit <- fit_of_form(formula)
    of_fit <- predict(fit, type = "weights")
    for (rows in list(3L, which(about$grade == "hi")[1:2])) {
      alone <- predict(fit, type = "weights", covariates = about[rows, ])
      expect_equal(unname(alone), unname(of_fit[rows, , drop = FALSE]), tolerance = 1e-10, info = deparse1(formula))
    }
  }
  about$lasted <- as.difftime(60 * as.double(about$lasted), units = "mins")
  fit <- fit_of_form(~ lasted)
  expect_equal(predict(fit, type = "weights", covariates = about), predict(fit, type = "weights"), tolerance = 1e-10)
})

test_that("covariates that depend on other rows, and those of another kind than in the fit, are refused", {
  about <- some_covariates()
  formulas <- list(
    ~ I(num - mean(num)), ~ rank(num), ~ cut(num, 3), ~ I(num / max(num)), ~ as.numeric(factor(text))
  )
  for (formula in formulas) {
    fit <- fit_of_form(formula)
    expect_error(
      predict(fit, type = "weights", covariates = about[1:2, ]), "cannot be computed for other rows",
      class = "bnpvi_error_covariates"
    )
    expect_equal(rowSums(predict(fit, type = "weights")), rep(1, 40), ignore_attr = TRUE)
  }
  fit <- fit_of_form(~ day)
  about$day <- as.POSIXct(about$day)
  expect_error(predict(fit, type = "weights", covariates = about), "must be dates", class = "bnpvi_error_covariates")
  about$wide <- matrix(0, 40, 2)
  expect_error(fit_of_form(~ wide, about), "wide.1, wide.2", class = "bnpvi_error_covariates")
})

test_that("missing covariates of new rows are named, whatever the formula does with them", {
  about <- some_covariates()
  fit <- fit_of_form(~ splines::ns(num, 3))
  about$num[2] <- NA
  expect_error(
    predict(fit, type = "weights", covariates = about[2, ]), "missing in 1 row", class = "bnpvi_error_covariates"
  )
})

test_that("prevalence by dates, times and durations is along a scale, and by few whole numbers at these", {
  about <- some_covariates()
  withr::local_timezone("UTC")
  about$time <- as.POSIXct(about$day, tz = "UTC") + 3600 * seq_len(40)
  for (by in c("day", "time", "lasted")) {
    fit <- fit_of_form(stats::reformulate(c(sprintf("splines::ns(%s, 2)", by), "text")), about)
    table <- prevalence(fit, by = by, average = FALSE)
    expect_identical(nrow(table), 100L)
    expect_identical(class(table$at), if (by == "lasted") "numeric" else class(about[[by]]))
    at <- about[rep(1L, 2L), ]
    at$text <- names(which.max(table(about$text)))
    at[[by]] <- range(about[[by]])
    twin <- unname(predict(fit, type = "weights", covariates = at)[, 1])
    expect_equal(table$proportion[c(1, 50)], twin, tolerance = 1e-8)
    withr::with_pdf(NULL, expect_silent(plot(table)))
  }
  expect_identical(unique(prevalence(fit_of_form(~ score), by = "score")$at), 0:1)
  expect_identical(unique(prevalence(fit_of_form(~ factor(score)), by = "score")$at), 0:1)
  rough <- prevalence(fit_of_form(~ I(num > 0)), by = "num")$at
  expect_identical(range(rough), range(about$num))
  grades <- withr::with_seed(5, transform(about, score = sample(3 * (1:9), 40, TRUE)))
  expect_identical(unique(prevalence(fit_of_form(~ factor(score), grades), by = "score")$at), 3 * (1:9))
})

test_that("dates are rounded as numbers are, where there are many patterns", {
  day <- as.Date("2000-01-01") + seq_len(90)
  rounded <- rounded_frame(data.frame(day = day), "day", rep(1, 90), 16L)$day
  expect_s3_class(rounded, "Date")
  expect_identical(length(unique(rounded)), 16L)
  expect_lt(max(abs(as.double(rounded - day))), 4)
})

test_that("rows that are taken in have covariates in the form of the fit", {
  about <- some_covariates()
  fit <- fit_of_form(~ yes * num + as.numeric(grade) + lasted, about)
  more <- about[1:4, ]
  more$num <- more$num + 0.5
  more$yes <- as.character(more$yes)
  more$grade <- as.character(more$grade)
  more$lasted <- as.difftime(60 * as.double(more$lasted), units = "mins")
  x <- matrix(rep(0, 4), dimnames = list(NULL, "y"))
  grown <- suppressWarnings(update(fit, newdata = x, covariates = more))
  known <- grown$model$prior$design$values
  expect_identical(nrow(known), 44L)
  expect_type(known$yes, "logical")
  expect_equal(as.double(known$lasted[41:44]), as.double(about$lasted[1:4]))
  expect_equal(rowSums(predict(grown, type = "weights", covariates = about[1, ])), 1, tolerance = 1e-10)
})
