# Messages about columns that are not what they seem, and about words that are nearly right.

once <- quiet_control(max_laps = 1, moves = FALSE)
told <- function(x, class, ...) {
  message <- cli::ansi_strip(conditionMessage(expect_message(
    suppressWarnings(bnp_mixture(x, na_action = "model", control = once)), class = paste0("bnpvi_message_", class)
  )))
  for (part in c(...)) expect_match(gsub("\\s+", " ", message), part, fixed = TRUE)
}
silent <- function(x, class) {
  fit <- function() suppressWarnings(bnp_mixture(x, na_action = "model", control = once))
  suppressMessages(expect_no_message(fit(), class = paste0("bnpvi_message_", class)))
}

test_that("codes of missing values are named where they lie away from all other values", {
  x <- data.frame(faithful, `at (h)` = replace(faithful$waiting, c(3, 9), -99), check.names = FALSE)
  told(x, "missing_code", "Column at (h) of `x` is -99 in 2 rows", "x[[\"at (h)\"]][x[[\"at (h)\"]] == -99] <- NA")
  told(data.frame(faithful, far = replace(faithful$waiting, 1:2, 9999)), "missing_code", "is 9999 in 2 rows")
  silent(data.frame(faithful, one = replace(faithful$waiting, 1, -99)), "missing_code")
  silent(data.frame(faithful, near = replace(faithful$waiting, 1:2, 99)), "missing_code")
  silent(data.frame(faithful, below = replace(faithful$waiting - 160, 1:2, -99)), "missing_code")
})

test_that("columns that follow from others are named", {
  x <- data.frame(faithful, age = seq(1, 30, length.out = 272)^2)
  told(data.frame(x, copy = 3 * x$age + 1), "dependent_columns", "Column copy of `x` is a sum of multiples")
  told(data.frame(x, sum = replace(x$age - x$waiting, 5, NA)), "dependent_columns", "Column sum")
  silent(data.frame(x, nearly = x$age + c(rep(0, 271), 1)), "dependent_columns")
  silent(data.frame(x, same = 1), "dependent_columns")
})

test_that("numbers that are text are named, with what makes numbers of them", {
  value <- function(text) data.frame(faithful, price = text)
  wanted <- function(text, ...) told(value(text), "number_text", "Column price of `x` holds numbers as text", ...)
  wanted(format(faithful$waiting + 0.5), "x[[\"price\"]] <- as.numeric(x[[\"price\"]])")
  wanted(paste0("$1,", 100 + faithful$waiting), "gsub(\"[^-0-9.]\", \"\", x[[\"price\"]])")
  wanted(sub(".", ",", faithful$eruptions, fixed = TRUE), "as.numeric(sub(\",\", \".\", x[[\"price\"]]))")
  wanted(replace(paste(faithful$waiting, "cm"), 7, "tall"), "No numbers: \"tall\".")
  silent(value(paste0(faithful$waiting, c("a", "b"))), "number_text")
  silent(value(as.character(faithful$waiting %% 5)), "number_text")
  silent(value(factor(faithful$waiting)), "number_text")
})

test_that("a choice that is nearly right is named", {
  fit <- bnp_mixture(faithful, control = once)
  expect_bad(plot(fit, "profiles"), "argument", "Did you mean \"profile\"")
  expect_bad(predict(fit, faithful, type = "probability"), "argument", "Did you mean \"prob\"")
  expect_bad(predict(fit, faithful, type = "clas"), "argument", "Did you mean \"class\"")
  expect_bad(predict(fit, faithful, type = "posterior"), "argument", "Did you mean \"prob\"")
  expect_no_match(conditionMessage(expect_bad(plot(fit, "waiting"), "argument")), "Did you mean")
  expect_bad(predict(fit, data = faithful), "argument", "called `newdata` here")
})

test_that("dates are covariates on a scale", {
  day <- as.Date("2020-01-01") + 1:30
  fit_to <- function(about) {
    suppressMessages(bnp_mixture(
      faithful[1:30, ], prior = prior_covariates(stats::reformulate(names(about))), covariates = about, control = once
    ))
  }
  fit <- fit_to(data.frame(day = day))
  table <- prevalence(fit)
  expect_s3_class(table$at, "Date")
  expect_equal(range(table$at), range(day))
  expect_equal(table$proportion, prevalence(fit_to(data.frame(day = as.numeric(day))))$proportion)
  abroad <- as.POSIXct("2020-01-01", tz = "Asia/Tokyo") + 86400 * 1:30
  for (value in list(day, abroad, day - day[1], as.numeric(day))) {
    grid <- values_to_show(value)
    expect_identical(attributes(grid)[c("class", "tzone", "units")], attributes(value)[c("class", "tzone", "units")])
    expect_equal(range(grid), range(value))
    expect_equal(typical_covariates(data.frame(value = value), rep(1, 30))$value, mean(value))
  }
  two <- fit_to(data.frame(day = day, time = as.POSIXct(day)))
  expect_bad(prevalence(two), "by", "day and time")
})
