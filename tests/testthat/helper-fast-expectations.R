# Expectations that hold are seen to hold at once. testthat looks for differences before it asks whether there are any,
# which takes two milliseconds, and some 100,000 expectations hold; of each expected error, of which there are some
# 10,000, it makes a backtrace, which takes four. Where the quick answer is not yes, testthat's own function is asked,
# and says what is different.

# An expectation that holds, and its report to the test that is run.
held <- testthat::expectation("success", "as expected")
report_success <- function() withRestarts(signalCondition(held), continue_test = function(...) NULL)

label_of <- function(expr, label) label %||% rlang::as_label(expr)

expect_identical <- function(object, expected, ..., label = NULL, expected.label = NULL) {
  if (identical(object, expected)) report_success() else
    testthat::expect_identical(
      object, expected, ...,
      label = label_of(substitute(object), label), expected.label = label_of(substitute(expected), expected.label)
    )
  invisible(object)
}

# Numbers with the same attributes whose relative differences are all below the tolerance, and so their mean.
are_near <- function(x, y, tolerance) {
  is.double(x) && is.double(y) && is.numeric(tolerance) && length(x) == length(y) &&
    identical(attributes(x), attributes(y)) && isTRUE(all(abs(x - y) <= 0.99 * tolerance * abs(y)))
}

expect_equal <- function(object, expected, ..., tolerance = sqrt(.Machine$double.eps), label = NULL,
                         expected.label = NULL) {
  if (identical(object, expected) || are_near(object, expected, tolerance)) report_success() else
    testthat::expect_equal(
      object, expected, ..., tolerance = tolerance,
      label = label_of(substitute(object), label), expected.label = label_of(substitute(expected), expected.label)
    )
  invisible(object)
}

expect_true <- function(object, ..., label = NULL) {
  if (identical(object, TRUE)) report_success() else
    testthat::expect_true(object, ..., label = label_of(substitute(object), label))
  invisible(object)
}

expect_false <- function(object, ..., label = NULL) {
  if (identical(object, FALSE)) report_success() else
    testthat::expect_false(object, ..., label = label_of(substitute(object), label))
  invisible(object)
}

expect_null <- function(object, ..., label = NULL) {
  if (is.null(object)) report_success() else
    testthat::expect_null(object, ..., label = label_of(substitute(object), label))
  invisible(object)
}

expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL, label = NULL) {
  error <- tryCatch({
    object
    NULL
  }, error = identity)
  expected <- !is.null(error) && (is.null(class) || inherits(error, class)) &&
    (is.null(regexp) || isTRUE(grepl(regexp, conditionMessage(error), ...)))
  if (expected) {
    report_success()
    return(invisible(error))
  }
  testthat::expect_error(
    if (!is.null(error)) stop(error), regexp, class, ..., info = info, label = label_of(substitute(object), label)
  )
}
