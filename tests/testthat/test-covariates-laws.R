# Laws of fits whose weights depend on covariates, by the engine itself: audits recompute each state from explicit
# responsibilities, so that counts by pattern are those of the rows.

cases <- lapply(Filter(function(case) is.null(case$time), planted_cases()), with_patterns)

test_that("states equal their recomputation, and the bound never falls, with any observation model", {
  for (case in some_of(cases, by = 17)) {
    fit <- engine_run(case, k_init = 1L, batches = 3L, max_laps = 12L, seed = 3, restarts = 1L, audit = TRUE)
    expect_audited(fit)
    counts <- fit$state$obs[, ncol(fit$state$obs) - 3:0, drop = FALSE]
    # The first rows of a series have no likelihood, and are not counted.
    position <- utils::tail(case$data$position, case$data$n - (case$model$obs$lag %||% 0L))
    expect_equal(colSums(counts), as.double(table(factor(position, 0:3))), tolerance = 1e-9, info = case$name)
    expect_equal(rowSums(counts), fit$state$obs[, 1], tolerance = 1e-9, info = case$name)
  }
})

test_that("covariates that are all 0 give the fit of the Dirichlet process, move by move", {
  for (case in some_of(cases[c(1, 5)], by = 3, from = 2)) {
    alone <- case
    alone$data$position <- NULL
    alone$model$prior <- list(family = "dp", concentration = 1)
    plain <- engine_run(alone, k_init = 1L, batches = 2L, max_laps = 15L, seed = 1, restarts = 1L)
    none <- case
    none$model$prior <- tilted_prior(matrix(0, 4, 1))
    tilted <- engine_run(none, k_init = 1L, batches = 2L, max_laps = 15L, seed = 1, restarts = 1L)
    # The best effects are found by steps, whose rounding may decide whether the last lap has another one after it.
    laps <- seq_len(min(nrow(tilted$trace), nrow(plain$trace)))
    expect_lte(max(nrow(tilted$trace), nrow(plain$trace)) - length(laps), 1)
    expect_identical(tilted$trace$k[laps], plain$trace$k[laps])
    expect_equal(tilted$trace$elbo[laps], plain$trace$elbo[laps], tolerance = 1e-9)
    expect_identical(tilted$labels, plain$labels)
  }
})

test_that("the bound does not depend on batches or threads, and threads change no bit", {
  case <- cases[[1]]
  still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  start <- list(labels = as.integer(case$cluster), k = max(case$cluster))
  run <- function(...) {
    engine_run(case, ..., moves = still, start = start, max_laps = 60L, tol = 1e-10, seed = 1, restarts = 1L)
  }
  whole <- run(algorithm = "full")
  for (batches in c(1L, 4L)) expect_equal(run(batches = batches)$elbo, whole$elbo, tolerance = 1e-8)
  moving <- function(threads) {
    engine_run(case, k_init = 1L, batches = 3L, max_laps = 12L, seed = 1, threads = threads, restarts = 1L)
  }
  one <- moving(1L)
  two <- moving(2L)
  expect_identical(two$state, one$state)
  expect_identical(two$elbo, one$elbo)
})
