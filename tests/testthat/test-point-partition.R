# Losses of partitions and the best of all, against enumeration.

pairs_apart <- function(a, b) sum(outer(a, a, `==`) != outer(b, b, `==`)) / 2
information_apart <- function(a, b) {
  x_log_x <- function(n) sum(n[n > 0] * log(n[n > 0])) / length(a)
  both <- table(a, b)
  x_log_x(rowSums(both)) + x_log_x(colSums(both)) - 2 * x_log_x(both)
}
by_hand <- list(binder = pairs_apart, vi = information_apart)

some_draws <- function(n, m, k, seed = 1) {
  withr::with_seed(seed, {
    centre <- sample(k, n, TRUE)
    vapply(seq_len(m), function(i) {
      z <- ifelse(runif(n) < 0.3, sample(k, n, TRUE), centre)
      match(z, unique(z))
    }, integer(n))
  })
}

test_that("losses are those of their definitions", {
  kept <- some_draws(9, 12, 4)
  for (loss in names(by_hand)) {
    labels <- cbind(kept[, 1], rep(1L, 9), 1:9)
    expected <- apply(labels, 2L, function(z) apply(kept, 2L, by_hand[[loss]], b = z))
    expect_equal(engine_partition_losses(kept, labels, loss, 1L), expected, tolerance = 1e-12)
    expect_identical(engine_partition_losses(kept, labels, loss, 2L), engine_partition_losses(kept, labels, loss, 1L))
  }
})

test_that("the search ends at the best of all partitions", {
  all <- all_partitions(7)
  for (seed in 1:6) {
    kept <- some_draws(7, 15, 4, seed)
    for (loss in names(by_hand)) {
      for (most in c(2, 7)) {
        few <- apply(all, 1L, max) <= most
        exact <- min(colMeans(engine_partition_losses(kept, t(all[few, ]), loss, 1L)))
        starts <- c(starts_of_partition(kept, rep(1L, 7), loss, 10L, most), list(rep(1L, 7)))
        found <- engine_point_partition(kept, starts, loss, most, 1, 1L)
        expect_equal(found$loss, exact, tolerance = 1e-10, label = paste(loss, most, seed))
        expect_equal(mean(engine_partition_losses(kept, as.matrix(found$labels), loss, 1L)), found$loss)
        expect_lte(max(found$labels), most)
        expect_identical(engine_point_partition(kept, starts, loss, most, 1, 2L), found)
      }
    }
  }
})

test_that("one cluster, all rows alone, one row and one draw are answered", {
  expect_identical(engine_point_partition(matrix(1L, 5, 3), list(1:5), "vi", 5, 1, 1L)$labels, rep(1L, 5))
  alone <- engine_point_partition(matrix(1:5, 5, 3), list(rep(1L, 5)), "vi", 5, 1, 1L)
  expect_identical(sort(alone$labels), 1:5)
  expect_identical(engine_point_partition(matrix(1L, 1, 1), list(1L), "binder", 1, 1, 1L), list(labels = 1L, loss = 0))
})

test_that("with many rows the best end is rebuilt, too: rows that are always together move together", {
  all <- all_partitions(7)
  for (seed in 1:3) {
    kept <- some_draws(7, 15, 4, seed)
    many <- kept[rep(1:7, each = 300), ]
    exact <- min(colMeans(engine_partition_losses(kept, t(all), "vi", 1L)))
    starts <- list(rep(1L, 2100), many[, 1])
    found <- engine_point_partition(many, starts, "vi", 7, 1, 1L)
    expect_equal(found$loss, exact, tolerance = 1e-10)
    expect_identical(engine_point_partition(many, starts, "vi", 7, 1, 2L), found)
  }
})
