# Which tests are run where: those of CRAN's machines in tests/testthat.R, the parts of the long tests in tools/test.R,
# and what CI runs in .ci/run.

root <- file.path("..", "..")

test_that("the tests that are run without NOT_CRAN=true exist", {
  script <- file.path("..", "testthat.R")
  skip_if_not(file.exists(script), "no script that runs these tests")
  text <- paste(readLines(script, encoding = "UTF-8"), collapse = "\n")
  quick <- eval(parse(text = sub(".*\nquick <- (c\\(.*?\n\\)).*", "\\1", text)))
  expect_gt(length(quick), 40L)
  expect_identical(quick[!file.exists(paste0("test-", quick, ".R"))], character())
})

test_that("each file with long tests is in one part of the long tests, and one helper alone reads the variable", {
  script <- file.path(root, "tools", "test.R")
  skip_if_not(file.exists(script), "no sources beside these tests (not a checkout)")
  tool <- new.env()
  for (line in parse(script)) {
    if (rlang::is_call(line, "<-") && rlang::is_call(line[[3L]], "function")) eval(line, tool)
  }
  files <- tool$files_with_long_tests(".")
  expect_gt(length(files), 60L)
  expect_true(all(c("moves", "recovery", "crafted-checkpoints", "abilities") %in% files))
  for (n in c(1L, 4L, 6L)) {
    parts <- lapply(seq_len(n), function(i) tool$files_of_part(files, paste0(i, "/", n)))
    expect_identical(sort(unlist(parts)), sort(files))
    expect_lte(diff(range(lengths(parts))), 1L)
  }
  expect_error(tool$files_of_part(files, "5/4"), "part 5 of 4")
  own <- setdiff(list.files(".", "[.]R$"), c("helper-long.R", "test-quick-list.R"))
  reads <- vapply(own, function(file) any(grepl("getenv(\"BNPVI_LONG_TESTS", readLines(file), fixed = TRUE)), NA)
  expect_identical(own[reads], character())
})

test_that("BNPVI_LONG_TESTS is true, false or a part, and anything else is an error", {
  asked <- function(value) withr::with_envvar(c(BNPVI_LONG_TESTS = value), long_tests())
  for (value in c("true", "2/4", "6/6")) expect_true(asked(value))
  for (value in c("", "false")) expect_false(asked(value))
  for (value in c("TRUE", "1", "yes", "0/4", "/2", "2/")) expect_error(asked(value), "must be")
  longest <- function(value) withr::with_envvar(c(BNPVI_LONG_TESTS = value), longest_tests())
  expect_identical(vapply(c("", "2/4", "true"), longest, NA, USE.NAMES = FALSE), c(FALSE, FALSE, TRUE))
  some <- function(value) withr::with_envvar(c(BNPVI_LONG_TESTS = value), some_of(letters[1:7], by = 3, from = 2))
  expect_identical(some(""), c("b", "e"))
  expect_identical(some("1/6"), letters[1:7])
})

test_that("CI adds up the counts of the short tests and of a part of the long ones, and fails where one does", {
  skip_on_os("windows")
  script <- file.path(root, ".ci", "run")
  skip_if_not(file.exists(script), "no sources beside these tests (not a checkout)")
  folder <- withr::local_tempdir()
  dir.create(file.path(folder, ".ci"))
  dir.create(file.path(folder, "bin"))
  file.copy(script, file.path(folder, ".ci", "run"))
  # A `make` that says these lines, by whether long tests are asked for.
  said <- function(short, long) {
    make <- file.path(folder, "bin", "make")
    by_suite <- c("if [ -z \"$BNPVI_LONG_TESTS\" ]; then", short, "else", "echo part $BNPVI_LONG_TESTS", long, "fi")
    writeLines(c("#!/bin/sh", by_suite), make)
    Sys.chmod(make, "755")
    path <- paste(file.path(folder, "bin"), Sys.getenv("PATH"), sep = ":")
    out <- suppressWarnings(withr::with_envvar(
      c(PATH = path), system2("bash", file.path(folder, ".ci", "run"), stdout = TRUE, stderr = TRUE)
    ))
    list(last = out[length(out)], code = attr(out, "status") %||% 0L, part = grep("^part", out, value = TRUE))
  }
  both <- said("echo '7 passed, 0 failed, 1 skipped'", "echo '20 passed, 0 failed, 3 skipped'")
  expect_identical(both[c("last", "code")], list(last = "27 passed, 0 failed, 4 skipped", code = 0L))
  expect_match(both$part, "^part [1-6]/6$")
  failed <- said("echo '7 passed, 0 failed, 1 skipped'", "echo '20 passed, 2 failed, 3 skipped'; exit 1")
  expect_identical(failed[c("last", "code")], list(last = "27 passed, 2 failed, 4 skipped", code = 1L))
  crashed <- said("exit 139", "echo '20 passed, 0 failed, 3 skipped'")
  expect_identical(crashed$last, "20 passed, 1 failed, 3 skipped")
  expect_false(crashed$code == 0L)
})
