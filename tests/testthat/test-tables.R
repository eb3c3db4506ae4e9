# What samplers draw of the top level of a hierarchical Dirichlet process, against exact laws.

drawn <- function(which, x, n = 20000L) engine_top_draws(which, x, n, 1)
expect_shares <- function(x, p, label) {
  for (i in which(p > 1e-3 & p < 1 - 1e-12)) {
    expect_lt(abs(mean(x == i - 1) - p[i]) / sqrt(p[i] * (1 - p[i]) / length(x)), 4, label = paste(label, i - 1))
  }
}

test_that("numbers of tables have Stirling's law", {
  for (case in list(c(1, 0.3), c(6, 0.4), c(6, 30), c(12, 2))) {
    n <- case[1]
    p <- stirling_first(n)[n + 1L, ] * exp((0:n) * log(case[2]) + lgamma(case[2]) - lgamma(case[2] + n))
    expect_equal(sum(p), 1)
    expect_shares(drawn("tables", case), p, paste(case, collapse = ", "))
  }
  expect_true(all(drawn("tables", c(0, 1), 10L) == 0), all(drawn("tables", c(1000, 1e-50), 10L) == 1))
  expect_true(all(drawn("tables", c(50, 1e50), 10L) == 50))
})

test_that("of the tables of a sticky row those that the weights chose have their law", {
  alpha <- 0.9
  kappa <- 2
  x <- drawn("row", c(alpha, kappa, 1, 3, 0.5, 5, 0.3, 0, 0.1))
  # Given the weights: Pr(t) of c(t) at alpha beta.
  chosen <- table_weights(5, alpha * 0.3, kappa)
  expect_shares(x[, 4], chosen / sum(chosen), "with sticky mass")
  other <- table_weights(3, alpha * 0.5)
  expect_shares(x[, 3], other / sum(other), "without")
  expect_true(all(x[, 5] == 0))
  expect_identical(x[, 1], rowSums(x[, 2:5]))
  expect_true(all(drawn("row", c(alpha, 0, 1, 3, 0.5, 5, 0.3), 50L)[, 2] == 0))
})

test_that("top-level weights are a Dirichlet draw, and a new cluster takes its share of the rest", {
  x <- drawn("weights", c(1.5, 3, 1, 7))
  expect_lt(max(abs(rowSums(x) - 1)), 1e-12)
  for (j in 1:4) {
    a <- c(3, 1, 7, 1.5)[j]
    expect_gt(suppressWarnings(stats::ks.test(x[, j], stats::pbeta, a, 12.5 - a)$p.value), 1e-4)
  }
  y <- drawn("open", c(1.5, 0.2, 0.5, 0.3))
  expect_identical(y[, 1:2], matrix(c(0.2, 0.5), 20000L, 2L, byrow = TRUE))
  expect_lt(max(abs(y[, 3] + y[, 4] - 0.3)), 1e-15)
  expect_gt(suppressWarnings(stats::ks.test(y[, 3] / 0.3, stats::pbeta, 1, 1.5)$p.value), 1e-4)
  expect_true(all(is.finite(drawn("weights", c(1e50, 3, 1), 10L)), is.finite(drawn("weights", c(1e-50, 3, 1), 10L))))
})

test_that("concentrations have their posterior by quadrature", {
  mean_of <- function(f) {
    top <- max(f(seq(0.01, 60, 0.01)))
    p <- function(x) exp(f(x) - top)
    over <- function(g) sum(vapply(list(c(0, 1), c(1, 60)), function(ends) {
      stats::integrate(function(x) g(x) * p(x), ends[1], ends[2], rel.tol = 1e-10)$value
    }, 1))
    c(over(function(x) x) / over(function(x) 1), over(function(x) x < 1) / over(function(x) 1))
  }
  top <- mean_of(function(x) stats::dgamma(x, 2, 0.5, log = TRUE) + 5 * log(x) + lgamma(x) - lgamma(x + 100))
  expect_equal(top[1], 1.365648718, tolerance = 1e-7)
  x <- drawn("top", c(2, 0.5, 5, 100), 50000L)[, 1]
  expect_lt(abs(batch_z(x, top[1])), 4)
  # With few tables which of the two Gamma distributions is drawn matters more.
  few <- mean_of(function(x) stats::dgamma(x, 2, 1, log = TRUE) + 2 * log(x) + lgamma(x) - lgamma(x + 3))
  x <- drawn("top", c(2, 1, 2, 3), 50000L)[, 1]
  expect_lt(abs(batch_z(x, few[1])), 4)
  expect_lt(abs(batch_z(x < 1, few[2])), 4)
  sizes <- c(5, 9, 1, 0, 30)
  group <- mean_of(function(x) {
    out <- stats::dgamma(x, 2, 1, log = TRUE) + 11 * log(x)
    for (n in sizes) out <- out + lgamma(x) - lgamma(x + n)
    out
  })
  y <- drawn("group", c(2, 1, 11, sizes), 50000L)[, 1]
  expect_lt(abs(batch_z(y, group[1])), 4)
  expect_lt(abs(batch_z(y < 1, group[2])), 4)
  expect_lt(abs(batch_z(drawn("top", c(2, 0.5, 0, 0)), 4)), 4)
  expect_lt(abs(batch_z(drawn("group", c(2, 0.5, 0, 0)), 4)), 4)
})

test_that("table counts give partitions of groups a law that sums to 1, and the process of one group where they must", {
  partitions <- all_partitions(5L)
  group <- c(1, 1, 2, 2, 3)
  p <- apply(partitions, 1L, function(z) exp(log_hdp_partition(table(group, z), c(0.8, 1.2, 0.8), 1.5)))
  expect_equal(sum(p), 1)
  # Rows of transitions: the first observation has a group of its own, and each cluster sticks to itself.
  for (kappa in c(0, 2)) {
    p <- apply(partitions, 1L, function(z) {
      k <- max(z)
      counts <- table(factor(c(0, z[-5]), 0:k), factor(z, 1:k))
      exp(log_hdp_partition(counts, c(1.2, rep(0.9, k)), 1.4, kappa, c(NA, seq_len(k))))
    })
    expect_equal(sum(p), 1)
  }
  # A group of large alpha has the top level itself; groups of one observation each, too.
  expect_equal(log_hdp_partition(t(c(3, 2)), 1e9, 1.5), log_partition_prior(c(3, 2), 1.5, 0), tolerance = 1e-6)
  one_each <- cbind(c(1, 1, 1, 0, 0), c(0, 0, 0, 1, 1))
  expect_equal(log_hdp_partition(one_each, 0.7, 1.5), log_partition_prior(c(3, 2), 1.5, 0))
})
