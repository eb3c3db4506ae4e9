# Checkpoints with a right sum whose state says other things, as somebody might make it: numbers of the state are set to
# what would lead out of it. A classed error, or a fit; never a crash, and no error from inside.

skip_on_os("windows") # no fork

# The bytes of a checkpoint but for their sum, which engine_write_bytes() adds, and where the state begins in them:
# behind R's part, a serialised list with its length before it.
state_in <- function(file) {
  bytes <- utils::head(bytes_of(file), -8L)
  at <- which(bytes == as.raw(0x58) & c(bytes[-1], as.raw(0)) == as.raw(0x0a))[1L]
  list(bytes = bytes, begins = at + readBin(bytes[at - 8:1], "integer", 1L))
}

crafted <- function(state) {
  n <- length(state$bytes)
  value <- sample(list(
    -1L, .Machine$integer.max, 1000000L, 3L, c(-1L, -1L), c(0L, 1000000L), 1e300, -1e300, NaN, -1, c(1000000L, 0L), 0L
  ), 1L)[[1L]]
  put <- writeBin(value, raw())
  at <- sample(seq(state$begins, n - length(put), by = 4L), 1L)
  replace(state$bytes, at + seq_along(put) - 1L, put)
}

test_that("crafted states of every family are refused, or are states", {
  cases <- checkpoint_cases()[
    c(
      "mixture", "labels", "stochastic", "topics", "sequences", "states", "lds", "features", "race", "network_large",
      "network_plain", "network_general", "network_blocks", "network_degrees", "network_stochastic"
    )
  ]
  for (name in some_of(names(cases), by = 14)) {
    case <- cases[[name]]
    case[[3L]]$max_laps <- 5L
    file <- withr::local_tempfile()
    stopped_after(3, checkpointed(case, file))
    state <- state_in(file)
    again <- withr::local_tempfile()
    resumed <- function() {
      setTimeLimit(elapsed = 30)
      on.exit(setTimeLimit())
      elbo_of(stopped_after(Inf, bnp_resume(again, case[[1L]])))
    }
    elbo_of <- function(fit) fit$elbo
    engine_write_bytes(again, state$bytes)
    right <- suppressMessages(suppressWarnings(resumed()))
    once <- function() {
      engine_write_bytes(again, crafted(state))
      outcome_of(resumed, right)
    }
    outcomes <- expect_damage_known(how_many_damages(8L), 50, once, c("refused", "right", "another answer"))
    if (Sys.getenv("BNPVI_TELL") == "true") print(list(name, outcomes))
  }
})

# Behind the owners of clusters, of which there are none, a summary of a batch says whether it is of earlier data, and
# that rows are remembered: 0, 0, 1. Rows of earlier data are not visited, and moves would read what no visit found.
long_test("rows of a batch are not taken for earlier data", {
  case <- checkpoint_cases()$topics
  file <- withr::local_tempfile()
  stopped_after(3, checkpointed(case, file))
  state <- state_in(file)
  zero_zero_one <- as.raw(c(rep(0, 16), 1, rep(0, 7)))
  at <- grepRaw(zero_zero_one, state$bytes, offset = state$begins, fixed = TRUE, all = TRUE)
  again <- withr::local_tempfile()
  said <- vapply(at, function(i) {
    engine_write_bytes(again, replace(state$bytes, i + 8L, as.raw(1)))
    resumed <- function() stopped_after(Inf, suppressWarnings(bnp_resume(again, case[[1L]])))
    in_child(function() tryCatch(if (is.list(resumed())) "a fit", bnpvi_error = conditionMessage)) %||% "crash"
  }, "")
  expect_false("crash" %in% said)
  expect_true(any(grepl("earlier data", said)))
})
