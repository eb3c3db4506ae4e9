# Runs the tests of the installed package; the last line is the count, the line before it the processor time.
# BNPVI_LONG_TESTS=true adds the long tests; BNPVI_LONG_TESTS=2/4 runs the second of four parts of the files that have
# any, long tests among the others.
library(testthat)
library(bnpvi)

folder <- "tests/testthat"

# The names of the test files with long tests, without "test-" and ".R", in the order of the alphabet.
files_with_long_tests <- function(folder) {
  files <- sort(list.files(folder, "^test-.*[.]R$"), method = "radix")
  words <- "\\b(long_tests?|some_of|some_draws|is_tried)\\("
  has <- vapply(files, function(file) any(grepl(words, readLines(file.path(folder, file), encoding = "UTF-8"))), NA)
  sub("^test-(.*)[.]R$", "\\1", files[has])
}

# Those of part i of n, as "i/n": file i, i + n, i + 2n, and so on.
files_of_part <- function(files, part) {
  part <- as.integer(strsplit(part, "/", fixed = TRUE)[[1L]])
  if (part[1L] > part[2L]) stop("BNPVI_LONG_TESTS asks for part ", part[1L], " of ", part[2L], ".")
  files[seq_along(files) %% part[2L] == part[1L] %% part[2L]]
}

asked <- Sys.getenv("BNPVI_LONG_TESTS")
filter <- if (grepl("/", asked, fixed = TRUE)) {
  paste0("^(", paste(files_of_part(files_with_long_tests(folder), asked), collapse = "|"), ")$")
}
results <- as.data.frame(test_dir(
  folder,
  filter = filter, package = "bnpvi", load_package = "installed", reporter = "summary", stop_on_failure = FALSE
))
failed <- sum(results$failed) + sum(results$error)
passed <- sum(results$passed)
cat(round(sum(proc.time()[-3L])), "seconds of processor time\n")
cat(passed, " passed, ", failed, " failed, ", sum(results$skipped), " skipped\n", sep = "")
quit(status = if (failed > 0L || passed == 0L) 1L else 0L)
