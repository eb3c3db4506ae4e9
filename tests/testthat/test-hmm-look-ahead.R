# Proposals of hidden Markov models are evaluated ahead of their turn on several threads (src/chains/moves/turns.h).

# All that must not depend on threads: the fit, what every lap tried and accepted, and the work of every start.
seen_in <- function(fit) list(fit$state, fit$elbo, fit$labels, fit$trace[names(fit$trace) != "seconds"], fit$restarts)

fit_with <- function(threads, x, ..., restarts = 1, k_init = NULL) {
  control <- bnp_control(seed = 1, restarts = restarts, threads = threads, k_init = k_init, verbose = FALSE)
  suppressWarnings(bnp_hmm(x, ..., obs = obs_gaussian(learn = FALSE, rounding = 0), control = control))
}

expect_same_on_threads <- function(threads, ...) {
  one <- fit_with(1, ...)
  for (several in threads) expect_identical(seen_in(fit_with(several, ...)), seen_in(one), info = several)
  one
}

test_that("one sequence has the same fit, trace and work on any number of threads", {
  fit <- expect_same_on_threads(c(2, 8), planted_chain(1200, 3, 6, 2, 0.9, 1), restarts = 2)
  expect_gt(max(fit$trace$births_tried), 10)
  expect_gt(sum(fit$trace$births), 3)
  expect_identical(nrow(fit$restarts), 2L)
})

test_that("states of several sequences that join or are removed are the same on any number of threads", {
  x <- planted_chain(600, 3, 5, 1.5, 0.8, 2)
  fit <- expect_same_on_threads(2, x, id = rep(1:4, each = 150), k_init = 15)
  expect_gt(max(fit$trace$merges_tried), 3)
  expect_gt(max(fit$trace$deletes_tried), 2)
  finite <- expect_same_on_threads(2, x, id = rep(1:4, each = 150), prior = prior_hmm(7))
  expect_gt(max(finite$trace$births_tried), 3)
})

test_that("sequences in files have the same fit on any number of threads", {
  x <- data.frame(planted_chain(400, 2, 4, 2, 0.9, 3), id = rep(1:4, each = 100))
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(x, path, row.names = FALSE)
  fit <- expect_same_on_threads(c(2, 4), source_files(path, rows = 150), id = "id")
  expect_gt(sum(fit$trace$births), 1)
})

long_test("motion capture, where proposals are accepted among others that fail, is the same on two threads", {
  x <- mocap6[!is.na(mocap6$action), ]
  fits <- lapply(1:2, function(threads) {
    control <- bnp_control(seed = 1, restarts = 1, threads = threads, verbose = FALSE)
    suppressWarnings(bnp_hmm(
      as.matrix(x[-(1:3)]), id = x$sequence, obs = obs_ar(learn = FALSE), prior = prior_hdp_hmm(sticky = 100),
      control = control
    ))
  })
  expect_identical(seen_in(fits[[2]]), seen_in(fits[[1]]))
})
