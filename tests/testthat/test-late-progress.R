# A long fit says that it is under way where nobody asked for progress and nobody looks on.

told <- function(expr) testthat::capture_messages(suppressWarnings(expr))
few <- function(...) bnp_control(seed = 1, max_laps = 3, ...)
soon <- function(expr) withr::with_options(list(bnpvi.progress_after = 0), expr)

test_that("a line comes once the time has passed, and then when twice as much has", {
  now <- 100
  said <- character()
  tell <- late_lines(function(record) paste("Lap", record), 5, function() c(0, 0, now))
  for (lap in 1:200) {
    now <- now + 0.5
    said <- c(said, told(tell(lap)))
  }
  expect_identical(said, paste0("Lap ", c(10, 20, 40, 80, 160), " [", c(5, 10, 20, 40, 80), " s]\n"))
})

test_that("fits and samplers of every family tell, unless they were asked not to", {
  skip_if(interactive(), "the lines are of sessions that are not interactive")
  x <- as.matrix(faithful[1:40, ])
  counts <- whales$counts[1:8, ]
  fits <- list(
    function(...) bnp_mixture(x, control = few(...)), function(...) bnp_hmm(x, control = few(...)),
    function(...) bnp_hmm(x, obs = obs_lds(), control = few(...)), function(...) bnp_topics(counts, control = few(...)),
    function(...) bnp_features(x, control = few(...)), function(...) bnp_network(1 - diag(4), control = few(...))
  )
  for (fit in some_of(fits, by = 3)) {
    expect_match(soon(told(fit()))[1], "Lap 1: [0-9]+ .* \\[0 s\\]\n$")
    expect_false(any(grepl("Lap", c(
      soon(told(fit(verbose = FALSE))), withr::with_options(list(bnpvi.progress_after = Inf), told(fit())),
      withr::with_options(list(knitr.in.progress = TRUE), soon(told(fit())))
    ))))
  }
  stream <- bnp_control("truncation_free", seed = 1)
  expect_match(soon(told(bnp_mixture(x, control = stream)))[1], "Batch 1: ")
  fit <- bnp_mixture(x, control = few())
  draw <- function(...) bnp_sample(fit, x, draws = 20, chains = 2, seed = 1, ...)
  expect_match(soon(told(draw()))[1], "Warm-up: [0-9]+ of 30 sweeps \\[0 s\\]")
  expect_length(soon(told(draw(verbose = FALSE))), 0L)
  expect_length(withr::with_options(list(bnpvi.progress_after = 1e6), told(draw())), 0L)
})

test_that("whether lines are told changes no fit", {
  by_default <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  soon(told(lines <- bnp_mixture(faithful, control = bnp_control(seed = 1))))
  silent <- bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = FALSE))
  expect_identical(elbo_trace(lines)$elbo, elbo_trace(by_default)$elbo)
  expect_identical(elbo_trace(silent)$elbo, elbo_trace(by_default)$elbo)
})
