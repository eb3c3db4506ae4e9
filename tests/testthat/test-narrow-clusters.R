# Clusters that are narrower than the steps between values: what the warning about ties goes by.

# By the definition: every step is looked at.
all_steps <- function(v) {
  steps <- diff(sort(unique(v)))
  if (anyDuplicated(v) && length(steps)) min(steps[steps > 1e-8 * max(steps)]) else 0
}

narrow_of <- function(x, sd, rounding = 0) {
  data <- new_bnp_data(x)
  fit <- list(numbering = seq_len(nrow(sd)), sizes = rep(2, nrow(sd)))
  as.integer(narrow_columns(fit, sd^2, rounding, data)$name)
}

long_test("columns in which clusters are narrower than a quarter of the least step are found without sorting", {
  found <- 0
  withr::with_seed(1, for (i in 1:300) {
    n <- sample(c(5, 50, 3000), 1)
    x <- cbind(round(rnorm(n), 1), rnorm(n), round(rexp(n) * 5), round(rnorm(n), 3), c(rnorm(n - 2), 7, 7),
      1e6 + round(rnorm(n), 4), rep(0.1 + 0.2, n) - sample(0:1, n, TRUE) * 5e-17)
    if (i %% 3 == 0) x[sample(length(x), 20)] <- NA
    gap <- apply(x, 2, function(v) all_steps(v[!is.na(v)]))
    sd <- matrix(exp(runif(14, -2, 2)) * rep(pmax(gap, 1e-6), each = 2) / 4, 2)
    expected <- which(apply(sd, 2, min) < gap / 4)
    expect_identical(narrow_of(x, sd), expected)
    found <- found + length(expected)
  })
  expect_gt(found, 200)
})

test_that("steps from arithmetic are no steps, however many there are", {
  # Values on two levels, each of thousands of values that arithmetic makes of one.
  levels <- rep(1:2, each = 3000)
  x <- cbind(levels + c(seq_len(3000), seq_len(3000)) * 3e-16)
  x <- rbind(x, x)
  expect_identical(narrow_of(x, matrix(1e-4)), 1L)
  expect_identical(narrow_of(x, matrix(1)), integer())
})

test_that("of columns with cells their width decides", {
  x <- cbind(round(withr::with_seed(1, rnorm(100)), 1), round(withr::with_seed(2, rnorm(100)), 1))
  expect_identical(narrow_of(x, cbind(0.05, 0.2), c(0.1, 0.1)), 1L)
  expect_identical(narrow_of(x, cbind(0.05, 0.02), c(0.1, 0)), 1:2)
  expect_identical(narrow_of(x, cbind(NaN, 0.02)), 2L)
})
