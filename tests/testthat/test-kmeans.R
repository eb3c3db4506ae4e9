test_that("k-means finds planted clusters for every kind of data", {
  for (case in planted_cases()) {
    if (case$model$obs$family == "ar") next # a single step is no seed of dynamics
    k <- length(unique(case$cluster))
    best <- max(vapply(1:5, function(seed) {
      adjusted_rand_index(
        engine_kmeans(case$data, case$model$obs, k, 100L, TRUE, seed)$cluster, case$cluster
      )
    }, 0))
    # Times of one rate end at any time; lines cross; angles meet behind, and zeros are of no group.
    least <- c(
      censored = 0.2, regression = 0.2, "regression, tails" = 0.2, von_mises = 0.75, "shaped_gamma, zeros" = 0.75,
      "weibull, zeros" = 0.5, censored_weibull = 0.2, "yes and no" = 0.2, "counts of rows" = 0.2
    )
    expect_gt(best, if (case$name %in% names(least)) least[[case$name]] else 0.8, label = case$name)
  }
})

test_that("its objective is the joint log density, and rounds raise it", {
  one <- bregman_kmeans(faithful, 2, rounds = 1, seed = 1)
  many <- bregman_kmeans(faithful, 2, seed = 1)
  expect_gte(many$objective, one$objective)
  expect_equal(bregman_kmeans(faithful, 2, seed = 1), many)
  expect_equal(sum(many$size), 272)
  expect_equal(unname(many$size), tabulate(many$cluster))
  series <- bregman_kmeans(faithful, 2, obs_ar(), seed = 1)
  expect_equal(sum(series$size), 271)
  expect_equal(series$cluster[[1]], series$cluster[[2]])
})

test_that("k-means finds no more clusters than there are different rows", {
  x <- matrix(c(1, 2, 3), 60, 2)
  expect_lte(length(bregman_kmeans(x, 10, seed = 1)$size), 3)
})

test_that("sparse counts give the clusters of dense ones", {
  set.seed(1)
  x <- matrix(as.numeric(rpois(200 * 30, rgamma(200 * 30, 0.5))), 200)
  x[7, ] <- x[8, ] # at divergence 0
  x[9, ] <- 0
  obs <- list(family = "multinomial", term_prior = 0.05 + runif(30))
  at <- which(t(x) > 0, arr.ind = TRUE)
  sparse <- list(
    row_start = c(0L, cumsum(rowSums(x > 0))), column = at[, 1] - 1L, value = t(x)[t(x) > 0], n = 200L, d = 30L,
    starts = c(0L, 200L)
  )
  storage.mode(sparse$row_start) <- "integer"
  dense <- list(x = x, n = 200L, d = 30L, starts = c(0L, 200L))
  for (seed in 1:3) {
    for (k in c(2L, 10L, 60L)) {
      expect_equal(
        engine_kmeans(sparse, obs, k, 3L, TRUE, seed), engine_kmeans(dense, obs, k, 3L, TRUE, seed), tolerance = 1e-10
      )
    }
  }
})
