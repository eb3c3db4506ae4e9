# Figures of benches: the page is what the script makes of the table, and scripts append rows to the table. From a
# checkout only.

root <- file.path("..", "..")
skip_unless_checkout <- function() {
  skip_if_not(dir.exists(file.path(root, "inst", "bench")), "no sources beside these tests (not a checkout)")
}
figures_of <- function(file) utils::read.csv(file, colClasses = "character", encoding = "UTF-8")

test_that("the page of benches is what tools/bench-page.R makes of the figures, and short", {
  skip_unless_checkout()
  maker <- new.env()
  source(file.path(root, "tools", "bench-page.R"), maker)
  page <- readLines(file.path(root, "inst", "bench", "README.md"), encoding = "UTF-8")
  expect_identical(page, maker$bench_page(root), info = "run Rscript tools/bench-page.R")
  expect_lte(length(page), 80L)
})

test_that("every row of figures says what was measured, when, and under which conditions", {
  skip_unless_checkout()
  figures <- figures_of(file.path(root, "inst", "bench", "figures.csv"))
  expect_gt(nrow(figures), 800L)
  columns <- c("script", "data", "what", "value", "unit", "peer", "date", "commit", "conditions")
  expect_identical(names(figures), columns)
  expect_true(all(nzchar(figures$what) | nzchar(figures$data)))
  expect_match(figures$date, "^20[0-9]{2}-[01][0-9]-[0-3][0-9]$")
  expect_match(figures$commit, "^([0-9a-f]{8})?$")
  expect_true(all(nzchar(figures$conditions)))
})

test_that("record() appends rows that are read as they were given, and nothing without conditions", {
  skip_unless_checkout()
  folder <- withr::local_tempdir()
  bench <- file.path(root, "inst", "bench")
  file.copy(file.path(bench, c("record.R", "figures.csv")), folder)
  before <- figures_of(file.path(folder, "figures.csv"))
  script <- file.path(folder, "two-figures.R")
  source_it <- sprintf("source(\"%s\")", file.path(folder, "record.R"))
  call <- "record('1,000 rows, \"a\"', c('a lap', 'K'), c(0.25, 3), c('s', ''), peer = 'mclust')"
  writeLines(c(source_it, call), script)
  run <- function() system2(file.path(R.home("bin"), "Rscript"), c(script, "10"), stdout = FALSE, stderr = FALSE)
  withr::with_envvar(c(BNPVI_CONDITIONS = NA), expect_identical(run(), 0L))
  expect_identical(figures_of(file.path(folder, "figures.csv")), before)
  withr::with_envvar(c(BNPVI_CONDITIONS = "quiet, two cores"), expect_identical(run(), 0L))
  after <- figures_of(file.path(folder, "figures.csv"))
  expect_identical(after[seq_len(nrow(before)), ], before)
  new <- after[-seq_len(nrow(before)), ]
  expect_identical(new$script, rep("two-figures.R", 2L))
  expect_identical(new$data, rep("1,000 rows, \"a\"", 2L))
  expect_identical(new$what, c("a lap", "K"))
  expect_identical(new$value, c("0.25", "3"))
  expect_identical(new$unit, c("s", ""))
  expect_identical(new$peer, rep("mclust", 2L))
  expect_identical(new$conditions, rep("10, quiet, two cores", 2L))
})
