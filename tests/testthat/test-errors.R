# Errors of tests and of users: setup-errors.R writes those of the short suite at once.

test_that("errors that are written at once are those of the package, word for word, with their classes and calls", {
  arg <- "threads"
  many <- c("a", "b")
  n <- 3L
  messages <- list(
    "{.arg x} must be one number.", "Plain text.", "{.arg {arg}} is {.code max_laps = {n}}, not {describe(many)}.",
    c("{.arg {many}} {?is/are} given.", i = "Use {.fn bnp_control} or {.code type = \"class\"}.", x = "No {.val {n}}."),
    c("One", "two {.field {arg}}", "*" = "three {n * 1.5}", " " = "four", "!" = "{.arg {many[2]}}"),
    c(x = "{n} row{?s} of {.cls {many}} and {.str {arg}}", i = "{.file a b.txt}: {cli::qty(2)}{?this/these}"),
    "{.arg x$a}, {.code  a}, {.code a b } and {{braces}}, \"quoted\" < [1]",
    "A text  of\n     two lines, \"{.arg {arg}}\"  and {paste('a', 'b', sep = '   ')}",
    c(i = paste(rep("word", 40), collapse = " "))
  )
  said <- function(abort, message) {
    verb <- function(message, arg, many, n) abort("argument", message)
    expect_error(verb(message, arg, many, n), class = "bnpvi_error_argument")
  }
  for (message in messages) {
    ours <- said(abort_at_once, message)
    theirs <- said(package_abort, message)
    expect_identical(conditionMessage(ours), conditionMessage(theirs))
    expect_identical(class(ours), class(theirs))
    expect_identical(conditionCall(ours), conditionCall(theirs))
  }
})
