# Small requests whose answer would fill memory are refused by name, and loops over tokens can be interrupted.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
control <- bnp_control(seed = 1, verbose = FALSE, max_laps = 3)
counts <- withr::with_seed(1, matrix(rpois(60, 3), 10))
large <- replace(counts, 12, 3e9)
free <- bnp_control("truncation_free", seed = 1, verbose = FALSE)

test_that("counts that would be taken token by token are refused, and fitted otherwise", {
  fit <- quiet(bnp_topics(large, control = control))
  expect_s3_class(fit, "bnp_topics")
  small <- quiet(bnp_topics(counts, control = control))
  expect_bad(bnp_topics(large, control = free), "memory", "3,000,000,181 at once")
  expect_bad(quiet(update(bnp_topics(counts, control = free), large)), "memory", "longest document is \"2\"")
  expect_error(quiet(bnp_topics(bnp_stream(function(i) if (i < 3) large))), "3,000,000,181", class = "bnpvi_error")
  expect_bad(bnp_sample(fit, large, draws = 2), "memory", "Sampling")
  expect_bad(check_fit(fit, large), "memory", "Sampling")
  expect_bad(heldout_loglik(small, large, type = "sequential"), "range", "1e\\+08 tokens: 2")
  expect_bad(heldout_loglik(small, counts, type = "sequential", draws = 2e9), "memory", "draws")
  # Many documents that are as many together, in as many batches, are none too many.
  data <- list(value = c(6e7, 6e7), row_start = c(0L, 1L, 2L), n = 2L)
  expect_bad(check_tokens(data, 1, "Learning", NULL), "memory", "120,000,000 at once")
  expect_no_error(check_tokens(data, 2, "Learning", NULL))
})

test_that("data sets that would not fit are refused before they are drawn", {
  mixture <- quiet(bnp_mixture(faithful, control = control))
  chain <- quiet(bnp_hmm(as.matrix(faithful), control = control))
  topics <- quiet(bnp_topics(counts, control = control))
  features <- quiet(bnp_features(as.matrix(faithful), control = control))
  network <- quiet(bnp_network(matrix(c(0, 1, 1, 0), 2), control = control))
  for (fit in list(mixture, chain, topics, features, network)) {
    expect_bad(simulate(fit, 1e9), "memory", "1000000000 data")
  }
  expect_bad(simulate(mixture, n = 2e9), "memory", "`n`")
  expect_bad(simulate(features, n = 2e9), "memory", "`n`")
  expect_bad(simulate(chain, lengths = 2e9), "memory", "`lengths`")
  expect_bad(impute(mixture, replace(as.matrix(faithful), 3, NA), m = 1e9), "memory")
  expect_identical(dim(simulate(topics, lengths = 2e9)[[1]]), c(1L, 6L)) # no token by token
  same <- function(n) unclass(simulate(mixture, n, seed = 3))[1:2]
  expect_identical(same(2), same(4))
})

test_that("Ctrl-C ends loops over the tokens of one long document", {
  skip_on_os("windows")
  long <- replace(counts, 1 + 10 * 0:5, 4e6)
  fit <- quiet(bnp_topics(counts, control = control))
  calls <- rlang::exprs(
    bnp_topics(long, control = free), heldout_loglik(fit, long, type = "sequential", draws = 1000),
    bnp_sample(of_long, long, draws = 1e5, seed = 1, verbose = FALSE)
  )
  of_long <- quiet(bnp_topics(long, control = control))
  for (call in some_of(calls, by = 3)) {
    system2("sh", c("-c", shQuote(sprintf("sleep 0.5; kill -INT %d", Sys.getpid()))), wait = FALSE)
    started <- proc.time()[["elapsed"]]
    outcome <- tryCatch(
      {
        quiet(eval(call))
        "finished"
      },
      interrupt = function(e) "interrupted"
    )
    expect_identical(outcome, "interrupted", label = rlang::expr_label(call))
    expect_lt(proc.time()[["elapsed"]] - started, 4)
  }
})
