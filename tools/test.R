# Runs the tests of the installed package; the last line is the count.
library(testthat)
library(bnpvi)

results <- as.data.frame(test_dir(
  "tests/testthat",
  package = "bnpvi", load_package = "installed", reporter = "summary", stop_on_failure = FALSE
))
failed <- sum(results$failed) + sum(results$error)
passed <- sum(results$passed)
cat(passed, " passed, ", failed, " failed, ", sum(results$skipped), " skipped\n", sep = "")
quit(status = if (failed > 0L || passed == 0L) 1L else 0L)
