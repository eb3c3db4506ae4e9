x <- as.matrix(faithful)
one <- bnp_mixture(x, control = bnp_control(seed = 1))
same_fit <- function(a, b) expect_identical(a[c("state", "elbo", "labels")], b[c("state", "elbo", "labels")])

test_that("far too many threads are cut down with a warning, once", {
  expect_warning(
    many <- bnp_mixture(x, control = bnp_control(seed = 1, threads = 2e9)), "of 2,000,000,000 threads",
    class = "bnpvi_warning_threads"
  )
  same_fit(many, one)
  expect_gte(many$control$threads, 64)
  expect_no_warning(expect_identical(predict(many, x), predict(one, x)))
  expect_no_warning(bnp_mixture(x, control = bnp_control(seed = 1, threads = 3, max_laps = 1)))
})

test_that("a warning made an error leaves no thread behind", {
  withr::local_options(warn = 2)
  for (i in 1:3) expect_error(bnp_mixture(x, control = bnp_control(seed = 1, threads = 1e6)), "threads")
  same_fit(bnp_mixture(x, control = bnp_control(seed = 1, threads = 4)), one)
})

long_test("a fit runs on the threads that start when memory allows no more", {
  skip_if_not(file.exists("/proc/self/status"), "/proc, which tells how much memory is in use,")
  skip_if(Sys.which("prlimit") == "", "prlimit, which limits the memory of a process, is not there")
  script <- withr::local_tempfile(fileext = ".R", lines = c(
    "library(bnpvi)",
    "fit <- function(threads) bnp_mixture(faithful, control = bnp_control(seed = 1, threads = threads))",
    "one <- fit(1)",
    "in_use <- grep('VmSize', readLines('/proc/self/status'), value = TRUE)",
    "limit <- 1024 * as.numeric(gsub('[^0-9]', '', in_use)) + 60 * 2^20",
    "system2('prlimit', c('--pid', Sys.getpid(), paste0('--as=', format(limit, scientific = FALSE))))",
    "class <- NULL",
    "many <- withCallingHandlers(fit(3000), warning = function(w) {",
    "  class <<- c(class, class(w)[1])",
    "  invokeRestart('muffleWarning')",
    "})",
    "cat('threads', many$control$threads, identical(many$state, one$state), class, '\\n')"
  ))
  paths <- paste(.libPaths(), collapse = .Platform$path.sep)
  out <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(script)),
    stdout = TRUE, stderr = TRUE, env = paste0("R_LIBS=", paths)
  ))
  said <- strsplit(grep("^threads", out, value = TRUE), " ")[[1]]
  expect_true(as.integer(said[2]) %in% 1:63, info = paste(out, collapse = "\n"))
  expect_equal(said[3:4], c("TRUE", "bnpvi_warning_threads"))
})

test_that("tasks before the first one that succeeds are called, and none begins after it", {
  wins <- 1:12 %in% c(4, 6)
  for (threads in c(1, 2, 8)) {
    found <- engine_first_success(12L, threads, wins, 50 * (1:12 == 4))
    expect_equal(found$first, 3)
    expect_equal(found$called[1:4], rep(1, 4))
    none <- engine_first_success(12L, threads, logical(12), integer(12))
    expect_equal(none, list(first = 12, called = rep(1, 12)))
  }
  expect_equal(engine_first_success(12L, 1L, wins, integer(12))$called, rep(1:0, c(4, 8)))
  expect_equal(engine_first_success(2L, 2L, c(TRUE, TRUE), c(20L, 60L))$first, 0)
})

test_that("few rows are enough for many threads", {
  for (rows in 1:2) {
    few <- lapply(c(1, 8), function(threads) {
      bnp_mixture(x[seq_len(rows), , drop = FALSE], control = bnp_control(seed = 1, threads = threads))
    })
    same_fit(few[[2]], few[[1]])
    expect_length(predict(few[[2]], x[0, , drop = FALSE]), 0)
    expect_equal(unname(predict(few[[2]], x[1, , drop = FALSE])), few[[2]]$labels[1])
  }
  chain <- bnp_hmm(x[1, , drop = FALSE], control = bnp_control(seed = 1, threads = 8))
  expect_equal(predict(chain, x[1:3, ]), c(1L, 1L, 1L), ignore_attr = TRUE)
  document <- bnp_topics(matrix(c(2, 1), 1), control = bnp_control(seed = 1, threads = 8))
  expect_equal(dim(predict(document, matrix(0, 0, 2))), c(0, document$state$k))
})
