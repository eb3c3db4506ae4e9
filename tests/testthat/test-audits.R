# An observer is told of every proposal that features and linear systems accept: each raised the objective, which is
# that of the probabilities alone.

expect_replaced_well <- function(fit, least, info) {
  audit <- fit$audit
  expect_gte(audit[["moves"]], least, label = info)
  expect_lt(audit[["elbo"]], 1e-9, label = info)
  expect_gte(audit[["smallest_gain"]], 0, label = info)
}

test_that("every feature that comes, goes or changes raises the recomputed bound", {
  planted <- planted_features(3, 300, 12, 6)$x
  for (offset in c(FALSE, TRUE)) {
    for (batches in some_of(c(1L, 3L), by = 2, from = 2 - offset)) {
      fit <- engine_features(planted, offset = offset, laps = 30L, batches = batches, audit = TRUE)
      expect_replaced_well(fit, 4, paste(offset, batches))
      expect_identical(fit$audit[["checks"]], fit$audit[["moves"]])
    }
  }
  many <- engine_features(planted, laps = 20L, start = matrix(withr::with_seed(1, runif(3000)), 300), audit = TRUE)
  expect_replaced_well(many, 2, "from ten features")
})

test_that("every mode that comes, goes or changes raises the recomputed bound", {
  y <- rotations(3, n = 150)$y
  for (init in some_of(c("best", "rows", "one"), by = 2)) {
    fit <- engine_fit(
      list(y = y, starts = c(0L, 60L, 150L), rows = y),
      list(
        family = "systems", obs = lds_obs(2, coef_precision = diag(0.1, 2)), bound = "jensen",
        prior = list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 5, sticky = 20)
      ),
      engine_control(4, max_laps = 30L, init = init, moves = all_moves, audit = TRUE), NULL, NULL
    )
    expect_replaced_well(fit, 3, init)
  }
})
