# The one loop that learns every family (inst/design/architecture.md), by fits whose laps do what a script says.

elbos <- function(run) run$trace$elbo

test_that("a fit has converged when a still lap gains at most tol for each unit", {
  run <- driven(laps(moves = 1, moves = 1.1, still = 3, still = 3.5, still = 4))
  expect_identical(run[c("reason", "converged", "laps")], list(reason = "elbo", converged = TRUE, laps = 4L))
  expect_identical(elbos(run), c(1, 1.1, 3, 3.5))
  never <- driven(laps(moves = 1))
  expect_identical(never[c("reason", "converged", "laps")], list(reason = "max_laps", converged = FALSE, laps = 10L))
})

test_that("laps go on until all data were seen, whatever max_laps is, and the first objective is not judged", {
  late <- laps(partial = NaN, partial = NaN, still = -5, still = -5)
  run <- driven(late, whole = FALSE, control = list(max_laps = 1L))
  expect_identical(elbos(run), c(NA, NA, -5))
  expect_identical(run[c("reason", "laps")], list(reason = "max_laps", laps = 3L))
  expect_identical(driven(laps(still = -5, still = -5), whole = FALSE)$laps, 2L)
  expect_identical(driven(laps(still = 1), control = list(max_laps = 0L))[c("laps", "objective")], list(
    laps = 0L, objective = 0
  ))
})

test_that("numbers that break down take a fit back to the last sound lap", {
  for (lap in list(c(breaks = 9), c(moves = NaN), c(still = Inf), c(moves = 1.4))) {
    run <- driven(do.call(laps, as.list(c(moves = 1, moves = 2, lap, moves = 3))), slack = 0.5)
    expect_identical(run[c("reason", "converged", "laps", "state", "objective")], list(
      reason = "numerical", converged = FALSE, laps = 2L, state = 2L, objective = 2
    ))
    expect_identical(run$taken_back$lap, 3L)
  }
  expect_identical(driven(laps(moves = 2, moves = 1.6, moves = 3), slack = 0.5)$reason, "max_laps")
  # Before there is a sound lap nothing is left.
  expect_identical(driven(laps(breaks = 1), whole = FALSE)$objective, NaN)
  expect_identical(driven(laps(moves = NaN), whole = FALSE)$objective, NaN)
})

test_that("asked to stop a fit is what it was after the last lap, or an interrupt where there is none", {
  run <- driven(laps(moves = 1, moves = 2, stopped = 9))
  expect_identical(run[c("reason", "laps", "state", "interrupted")], list(
    reason = "interrupted", laps = 2L, state = 2L, interrupted = TRUE
  ))
  stops <- function(code) tryCatch(code, interrupt = function(e) "interrupt")
  expect_identical(stops(driven(laps(stopped = 1))), "interrupt")
  expect_identical(
    stops(driven(laps(moves = 1, stopped = 1), control = list(keep_interrupted = FALSE))), "interrupt"
  )
  # Where another phase can end at once, it does.
  expect_identical(
    driven(laps(partial = NaN, stopped = 1), laps(still = 7), whole = FALSE)[c("reason", "laps", "objective")],
    list(reason = "interrupted", laps = 2L, objective = 7)
  )
})

test_that("phases follow each other, each with its laps; one that max_laps ended leaves the fit not converged", {
  both <- driven(laps(moves = 1, still = 1), laps(moves = -9, still = -9))
  expect_identical(elbos(both), c(1, 1, -9, -9))
  expect_identical(both[c("reason", "converged", "objective")], list(reason = "elbo", converged = TRUE, objective = -9))
  cut <- driven(laps(moves = 1), laps(moves = -9, still = -9), control = list(max_laps = 3L))
  expect_identical(elbos(cut), c(1, 1, 1, -9, -9))
  expect_identical(cut[c("reason", "converged")], list(reason = "max_laps", converged = FALSE))
})

test_that("the best of several restarts wins, those that are lost and those that are stopped included", {
  ends <- function(...) lapply(list(...), function(x) script(laps(moves = x, still = x)))
  run <- driven(scripts = ends(1, 5, 3))
  expect_identical(run[c("best", "objective")], list(best = 2L, objective = 5))
  expect_identical(run$restarts$elbo, c(1, 5, 3))
  expect_identical(run$restarts$seed, vapply(0:2, function(r) engine_restart_seed(1, r), 1))
  lost <- script(laps(breaks = 1), whole = FALSE)
  expect_identical(driven(scripts = c(list(lost), ends(1)))[c("best", "objective")], list(best = 2L, objective = 1))
  expect_identical(driven(scripts = c(ends(1), list(lost)))[c("best", "objective")], list(best = 1L, objective = 1))
  stopped <- driven(scripts = c(ends(1), list(script(laps(stopped = 1))), ends(9)))
  expect_identical(stopped[c("best", "objective", "interrupted", "reason")], list(
    best = 1L, objective = 1, interrupted = TRUE, reason = "elbo"
  ))
})

test_that("a run that was written after any lap goes on to the same end", {
  scripts <- list(
    script(laps(moves = 1, moves = 2, still = 2), laps(moves = -3, moves = -2, still = -2)),
    script(laps(moves = 4, still = 4), laps(moves = -1, moves = -1, still = -1))
  )
  bits <- function(run) {
    run$trace$seconds <- run$progress <- NULL
    run
  }
  whole <- bits(driven(scripts = scripts))
  for (lap in 0:6) {
    part <- driven(scripts = scripts, control = list(keep_lap = lap))
    expect_identical(bits(part), whole)
    expect_identical(bits(driven(scripts = scripts, control = list(resume = part$progress))), whole, info = lap)
  }
})
