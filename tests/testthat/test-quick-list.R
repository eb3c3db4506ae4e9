# The list of tests that CRAN's machines run, in tests/testthat.R.

test_that("the tests that are run without NOT_CRAN=true exist", {
  script <- file.path("..", "testthat.R")
  skip_if_not(file.exists(script), "no script that runs these tests")
  text <- paste(readLines(script, encoding = "UTF-8"), collapse = "\n")
  quick <- eval(parse(text = sub(".*\nquick <- (c\\(.*?\n\\)).*", "\\1", text)))
  expect_gt(length(quick), 40L)
  expect_identical(quick[!file.exists(paste0("test-", quick, ".R"))], character())
})
