# Births of several features at once, and absence taken for presence.

none <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)

test_that("features that are independent are born together, whatever the batches and the cells that lack", {
  planted <- planted_features(1, 3000, 16, 8)
  truth <- engine_features(planted$x, start = planted$z, moves = none, laps = 50L)$elbo
  for (batches in some_of(c(1L, 4L), by = 2, from = 2)) {
    fit <- engine_features(planted$x, laps = 20L, batches = batches)
    expect_gte(fit$trace$births[1], 8L)
    expect_lt(fit$trace$births_tried[1], 30L)
    expect_gt(fit$elbo, truth - 1e-3)
  }
  # One proposal is enough, from rows of all batches, for features of few rows and for those of half of them.
  for (case in list(list(planted, 8), list(image_rows(2, 2000), 4))) {
    once <- engine_features(case[[1]]$x, laps = 1L, batches = 3L, moves = bnp_moves(max_births = case[[2]]))
    expect_equal(unlist(once$trace[c("births", "births_tried", "k")], use.names = FALSE), rep(case[[2]], 3))
  }
  gaps <- withr::with_seed(2, replace(planted$x, stats::runif(48000) < 0.05, NA))
  some <- engine_features(gaps, offset = TRUE, laps = 3L)
  expect_gte(some$state$k, 8L)
  expect_equal(some$terms, twin_elbo(some, gaps, prior_ibp(), TRUE), tolerance = 1e-8)
})

test_that("no more features are born at once than there may be", {
  rows <- planted_features(1, 3000, 16, 8)$x
  expect_identical(engine_features(rows, prior_beta_bernoulli(5), laps = 1L)$state$k, 5L)
  expect_lte(engine_features(rows, moves = bnp_moves(max_births = 3), laps = 1L)$state$k, 3L)
  expect_identical(engine_features(rows, moves = none, laps = 1L)$state$k, 0L)
})

long_test("noise of any shape, constant and repeated columns have no features that are clear", {
  for (draw in list(stats::rnorm, function(n) stats::rt(n, 5), function(n) stats::rexp(n) - 1)) {
    noise <- withr::with_seed(3, matrix(draw(2400), 300))
    fit <- engine_features(cbind(noise, noise[, 1], 0), offset = TRUE, laps = 3L)
    expect_true(is.finite(fit$elbo))
    expect_equal(fit$terms, twin_elbo(fit, cbind(noise, noise[, 1], 0), prior_ibp(), TRUE), tolerance = 1e-8)
  }
  gaussian <- withr::with_seed(4, matrix(stats::rnorm(8000), 1000))
  for (prior in list(prior_ibp(5), prior_beta_bernoulli(10))) {
    fit <- engine_features(gaussian, prior, laps = 3L, moves = bnp_moves(delete = FALSE))
    expect_identical(fit$state$k, 0L)
  }
})

test_that("absence is taken for presence where the bound says so, however many rows have a feature", {
  best <- vapply(1:10, function(seed) {
    rows <- image_rows(seed)
    at <- function(moves) engine_features(rows$x, offset = TRUE, start = rows$z, moves = moves, laps = 60L)
    flipped <- at(replace(none, "reorder", TRUE))
    expect_equal(flipped$terms, twin_elbo(flipped, rows$x, prior_ibp(), TRUE), tolerance = 1e-8)
    every <- vapply(1:4, function(j) {
      z <- rows$z
      z[, j] <- 1 - z[, j]
      engine_features(rows$x, offset = TRUE, start = z, moves = none, laps = 60L)$elbo
    }, 0)
    c(flipped$elbo - at(none)$elbo, flipped$elbo - max(every))
  }, c(0, 0))
  expect_true(all(best > -1e-6 * 3300))
  expect_gt(sum(best[1, ] > 0.1), 2)
})

test_that("whatever is taken for presence at first, flips of one and of two features end with the best choice of all", {
  choices <- as.matrix(expand.grid(rep(list(0:1), 4)))
  for (seed in 6:9) {
    rows <- image_rows(seed)
    ends <- function(moves) {
      apply(choices, 1, function(turned) {
        z <- abs(rows$z - rep(turned, each = 100))
        engine_features(rows$x, prior_beta_bernoulli(10), offset = TRUE, start = z, moves = moves, laps = 60L)$elbo
      })
    }
    flipped <- ends(replace(none, "reorder", TRUE))
    expect_lt(max(ends(none)) - min(flipped), 1e-3)
  }
})

test_that("a flip is exact where it is not known which rows have a feature", {
  for (seed in 1:6) {
    y <- withr::with_seed(seed, outer(stats::runif(60) < 0.85, c(1, -1, 0.5)) + stats::rnorm(180))
    y <- replace(y, 7:9, NA)
    start <- withr::with_seed(seed, matrix(stats::runif(60, 0.6, 0.9), 60))
    at <- function(start, moves) engine_features(y, offset = TRUE, start = start, laps = 1L, moves = moves)
    flipped <- at(start, replace(none, "reorder", TRUE))
    before <- at(start, none)
    expect_gt(flipped$terms[["entropy"]], 30)
    expect_gt(flipped$elbo, before$elbo + 0.5)
    expect_equal(flipped$state$counts, c(60, 60 - before$state$counts[2]))
    expect_equal(flipped$terms, twin_elbo(flipped, y, prior_ibp(), TRUE), tolerance = 1e-9)
  }
})

test_that("two features are flipped at once where neither would be alone", {
  for (seed in c(24, 40, 51)) {
    rows <- image_rows(seed)
    fit <- function(...) {
      bnp_features(rows$x, prior_beta_bernoulli(10), bnp_control(seed = 1, verbose = FALSE), ...)
    }
    expect_gt(elbo(fit()), elbo(fit(start = rows$z == 1)) - 1e-3)
  }
})

test_that("new rows get features as good as the best of all sets of features", {
  lower <- vapply(1:3, function(seed) {
    planted <- planted_features(seed + 21, 400, 6, 8)
    fit <- engine_features(planted$x, start = planted$z, moves = FALSE, laps = 30L)
    s <- fit$state
    tau <- s$noise[1] / s$noise[2]
    gram <- tau * tcrossprod(s$loadings) + 6 * s$inverse[[1]]
    z <- as.matrix(expand.grid(rep(list(0:1), s$k)))
    of_sets <- tau * planted$x %*% t(s$loadings) %*% t(z) +
      rep(as.vector(z %*% s$logit) - rowSums((z %*% gram) * z) / 2, each = 400)
    reached <- engine_features_latent(rows_for_engine(planted$x), features_model(prior_ibp(), FALSE, 6), s, 1L)$bound
    sum(apply(of_sets, 1, max) - reached > 1e-3)
  }, 0)
  expect_lte(sum(lower), 12) # one step after the other: some 120 of 1,200
})
