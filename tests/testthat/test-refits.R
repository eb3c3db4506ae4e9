# Refits of mixtures (src/mixtures/regional_refit.cpp): what they spare, and what that would have gained.

traced_refits <- function(x, spared = FALSE, seed = 1) {
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, nrow(x)))
  n <- case$data$n
  control <- bnp_control(seed = seed, k_init = 1, max_laps = 300, verbose = FALSE)
  control <- resolve_control(control, case$model$obs, case$model$prior, n, n, NULL)
  control$proposals <- TRUE
  control$spared <- spared
  engine_fit(case$data, list(obs = case$model$obs, prior = case$model$prior), control, NULL, NULL)
}
overlapping <- function(n, d, k, spread, seed) {
  withr::with_seed(seed, matrix(rnorm(k * d, sd = spread), k)[sample(k, n, TRUE), ] + matrix(rnorm(n * d), n))
}
is_refit <- function(kind) startsWith(kind, "refit")

long_test("what the forecast of refits refuses would have gained next to nothing", {
  skip_without_testing_entries()
  refused <- lapply(1:10, function(seed) {
    fit <- traced_refits(overlapping(1500, 6, 6, 2.2, seed), spared = TRUE, seed = seed)
    fit$proposals$gain[fit$proposals$kind == "forecast of a refit"]
  })
  expect_gt(length(unlist(refused)), 5)
  expect_lte(median(vapply(refused, function(gain) sum(pmax(gain, 0)), 1)), 1)
})

test_that("proposals that are made although a forecast refuses them change nothing", {
  skip_without_testing_entries()
  x <- overlapping(1500, 6, 6, 2.2, 1)
  asked <- traced_refits(x, spared = TRUE)
  expect_true(any(asked$proposals$kind == "forecast of a refit"))
  plain <- traced_refits(x)
  expect_equal(tail(asked$trace$elbo, 1), tail(plain$trace$elbo, 1), tolerance = 1e-12)
  expect_true(any(is.na(plain$proposals$gain[is_refit(plain$proposals$kind)])))
})

test_that("one lap serves all groups, and clusters that share no rows are dismissed without a try", {
  skip_without_testing_entries()
  apart <- traced_refits(overlapping(2000, 2, 12, 60, 3))
  expect_false(any(is_refit(apart$proposals$kind)))
  # The last lap with a move dismisses singles, pairs and triples; the next is the last.
  moves <- apart$trace$births_tried + apart$trace$merges_tried + apart$trace$deletes_tried
  expect_lte(sum(cumsum(rev(moves)) == 0), 2)
  near <- traced_refits(overlapping(3000, 2, 15, 3, 4))
  refits <- near$proposals[c("states", "kind", "accepted")]
  in_lap <- table(refits$states[is_refit(refits$kind) & !refits$accepted])
  expect_gt(max(in_lap), 4)
})

test_that("a refit is accepted only for more than a lap of a converged fit may gain", {
  skip_without_testing_entries()
  x <- overlapping(3000, 2, 15, 3, 4)
  for (seed in 1:2) {
    trials <- traced_refits(x, seed = seed)$proposals
    gain <- trials$gain[is_refit(trials$kind) & trials$accepted]
    expect_gt(length(gain), 0)
    expect_true(all(gain > 1e-7 * nrow(x)))
  }
})

test_that("refits wait while laps gain a little more than what ends a fit", {
  skip_without_testing_entries()
  trace <- traced_refits(overlapping(1000, 2, 8, 2, 7))$trace
  tried <- trace$births_tried + trace$merges_tried + trace$deletes_tried
  gain_before <- c(NA, NA, utils::head(diff(trace$elbo), -1)) / (1e-6 * 1000)
  waited <- which(tried == 0 & gain_before > 1 & gain_before < 30)
  expect_true(any(waited < max(which(tried > 0))))
})

test_that("fits of clusters that overlap end where laps alone would hardly go on", {
  for (x in list(overlapping(1000, 2, 8, 2, 7), overlapping(2000, 2, 10, 3, 5), overlapping(3000, 2, 15, 3, 4))) {
    fit <- function(...) {
      control <- bnp_control(seed = 1, restarts = 1, verbose = FALSE, ...)
      suppressWarnings(bnp_mixture(x, obs_gaussian(learn = FALSE, rounding = 0), control = control, start = start))
    }
    start <- NULL
    start <- fit()
    expect_lt(elbo(fit(moves = FALSE, tol = 1e-12, max_laps = 1000)) - elbo(start), 2e-6 * nrow(x))
  }
})

test_that("fits that go on between long steps end with the same bits", {
  x <- overlapping(1000, 2, 8, 2, 7)
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, nrow(x)))
  control <- bnp_control(seed = 1, k_init = 1, max_laps = 300, restarts = 1, verbose = FALSE)
  control <- resolve_control(control, case$model$obs, case$model$prior, 1000L, 1000L, NULL)
  run <- function(...) engine_fit(case$data, case$model[c("obs", "prior")], c(control, list(...)), NULL, NULL)
  whole <- run()
  for (lap in utils::tail(whole$trace$lap, 7)[-7]) {
    expect_identical(run(resume = run(keep_lap = lap)$progress)$trace$elbo, whole$trace$elbo, info = lap)
  }
})
