test_that("k-means finds planted clusters for every kind of data", {
  for (case in planted_cases()) {
    if (case$name == "ar") next # a single step is no seed of dynamics
    k <- length(unique(case$cluster))
    best <- max(vapply(1:5, function(seed) {
      adjusted_rand_index(
        engine_kmeans(case$data, case$model$obs, k, 100L, TRUE, seed)$cluster, case$cluster
      )
    }, 0))
    expect_gt(best, 0.8, label = case$name)
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

test_that("no more clusters than different rows", {
  x <- matrix(c(1, 2, 3), 60, 2)
  expect_lte(length(bregman_kmeans(x, 10, seed = 1)$size), 3)
})
