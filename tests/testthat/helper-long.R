# Two suites of tests. The short one is what `make test` runs: every model, verb and message once. The long one
# (BNPVI_LONG_TESTS=true) adds all other cases and seeds, and laws that take long; "2/4" stands for the second of four
# parts of it, whose files tools/test.R chooses.

# Are long tests run?
long_tests <- function() {
  asked <- Sys.getenv("BNPVI_LONG_TESTS")
  if (!grepl("^(|true|false|[1-9][0-9]*/[1-9][0-9]*)$", asked)) {
    stop("BNPVI_LONG_TESTS is \"", asked, "\"; it must be \"true\", \"false\", or a part of the long tests as \"2/4\".")
  }
  !asked %in% c("", "false")
}

# Are those run, too, that take many minutes each (hundreds of damaged files, thousands of spoiled calls)? Only in the
# whole long suite, not in its parts.
longest_tests <- function() identical(Sys.getenv("BNPVI_LONG_TESTS"), "true")

# A test of the long suite alone; the short one leaves it out, and does not count it as skipped.
long_test <- function(title, code) {
  if (long_tests()) eval(call("test_that", title, substitute(code)), parent.frame())
}

# All cases (or seeds, or other arguments) in the long suite, and every `by`th of them, from number `from` on, in the
# short one. Files begin at different numbers, so that together they see many.
some_of <- function(x, by, from = 1L) {
  if (long_tests()) x else x[seq(min(from, length(x)), length(x), by = by)]
}

# How many draws a law is tested with: n in the long suite, an eighth in the short one.
some_draws <- function(n) if (long_tests()) n else n / 8

# Is this cell of a table tried? All are in the long suite; in the short one every `by`th, along diagonals, so that each
# row and each column of the table has some.
is_tried <- function(row, column, by) long_tests() || (row + column) %% by == 0L
