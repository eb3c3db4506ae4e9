spacing_of <- function(values, weights = NULL) column_spacings(cbind(values), weights)

test_that("the common spacing of rounded values is found, and a few others do not hide it", {
  values <- withr::with_seed(1, rnorm(2000))
  expect_equal(spacing_of(round(values, 1)), 0.1, tolerance = 1e-9)
  expect_equal(spacing_of(c(round(values, 1), 0.123456)), 0.1, tolerance = 1e-9)
  expect_equal(spacing_of(1e8 + round(10 * values)), 1)
  expect_equal(spacing_of(5 * round(values)), 5)
  # 0.1 + 0.2 beside 0.3 is no grid of 1e-17.
  expect_equal(spacing_of(c(rep(0.1 + 0.2, 30), rep(0.3, 30), rep(0.5, 30), rep(0.7, 20))), 0.2, tolerance = 1e-9)
  without <- list(values, rep(1, 50), numeric(), c(1, 2), c(round(values, 1), values))
  for (none in without) expect_identical(spacing_of(none), 0)
  x <- cbind(round(values, 1), values, NA)
  expect_equal(column_spacings(x), c(0.1, 0, 0), tolerance = 1e-9)
})

test_that("whole weights are rows written out", {
  values <- withr::with_seed(2, round(rnorm(60), 1))
  weights <- rep_len(1:9, 60)
  expect_equal(spacing_of(values), 0)
  expect_equal(spacing_of(values, weights), spacing_of(rep(values, weights)))
  expect_equal(spacing_of(values, weights), 0.1, tolerance = 1e-9)
  expect_identical(column_spacings(cbind(values), rep(0, 60)), 0)
})

test_that("whether values come often enough is told from all of them", {
  often <- function(v) length(v) > 5 * length(unique(v)) && length(unique(v)) > 1L
  seen <- replicate(200, {
    n <- sample(20:400, 1)
    levels <- sample(c(0.15, 0.19, 0.2, 0.21, 0.25), 1) * n
    v <- sample(floor(levels), n, TRUE)
    if (runif(1) < 0.5) v <- sort(v)
    if (runif(1) < 0.3) v <- rev(v)
    expect_identical(spacing_of(v) > 0, often(v))
    often(v)
  })
  expect_true(any(seen) && !all(seen))
  # All of the first quarter differ, and the rest are repeated.
  expect_gt(spacing_of(c(1:19, rep(1, 81))), 0)
  expect_gt(spacing_of(1:20, rep(6, 20)), 0)
})
