# Where R has no memory for what the engine returns, its error must not jump past the threads of a pool.

n_threads <- function() length(list.files("/proc/self/task"))

# Leaves R at most a few megabytes more than its heap has by now.
local_little_memory <- function(frame = parent.frame()) {
  skip_if_not(exists("mem.maxVSize", baseenv()), "R < 4.2")
  before <- mem.maxVSize()
  withr::defer(mem.maxVSize(before), frame)
  for (i in 1:3) heap <- gc()
  mem.maxVSize(ceiling(heap["Vcells", 4]) + 1) # in MB; less than the heap has is ignored
  skip_if_not(mem.maxVSize() < 900, "the limit is not in force")
}

test_that("an answer that does not fit into memory is an error, and no thread is left behind", {
  skip_if_not(dir.exists("/proc/self/task"), "threads are counted in /proc")
  n <- 20000L
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  model <- list(obs = fit$model$obs, prior = list(family = "dp", concentration = 1))
  data <- engine_data(unname(as.matrix(faithful))[rep_len(1:272, n), ])
  threads <- n_threads()
  local({
    local_little_memory()
    k <- as.integer(ceiling(1.2 * mem.maxVSize() * 2^20 / (8 * n))) # a table of n × k has a fifth more than there is
    large <- utils::modifyList(
      fit$state, list(k = k, obs = fit$state$obs[rep_len(1:2, k), ], extra = matrix(0, k, 0))
    )
    for (i in some_of(1:3, by = 5)) expect_error(engine_responsibilities(data, model, large, 3L), "memory|allocate")
  })
  expect_identical(n_threads(), threads)
  expect_equal(rowSums(engine_responsibilities(data, model, fit$state, 3L)), rep(1, n))
  expect_identical(n_threads(), threads)
})

long_test("clusters of new rows take no table of probabilities, nor these a second one", {
  n <- 2e4L
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  k <- 30L
  large <- fit
  large$state <- utils::modifyList(
    fit$state, list(k = k, obs = fit$state$obs[rep_len(1:2, k), ], extra = matrix(0, k, 0))
  )
  large$numbering <- seq_len(k)
  x <- unname(as.matrix(faithful))[rep_len(1:272, n), ]
  data <- as_newdata(fit, `colnames<-`(x, names(faithful)), na_action = "fail")
  weight <- matrix(1 / k, 1L, k)
  table <- 8 * n * k / 2^20
  most <- function(ask) {
    before <- sum(gc(reset = TRUE)[, 2L])
    probabilities_under(large, data, weight, ask)
    sum(gc()[, 6L]) - before
  }
  expect_lt(most(engine_most_probable), table / 4)
  expect_lt(most(engine_probabilities), 1.5 * table)
})
