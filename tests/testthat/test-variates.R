# Random numbers of the engine against the distribution functions of R.

many <- if (long_tests()) 20000L else 5000L
drawn <- function(which, a = 1, b = 1, n = many, seed = 1) engine_variates(which, a, b, n, seed)
# By Kolmogorov and Smirnov, at p above 1e-4.
expect_law <- function(x, p, label) {
  expect_gt(suppressWarnings(stats::ks.test(p(x), stats::punif)$p.value), 1e-4, label = label)
}

test_that("normal numbers have their law", {
  expect_law(drawn("normal"), stats::pnorm, "normal")
})

test_that("Gamma numbers have their law, from tiny shapes to huge ones", {
  for (shape in c(0.02, 0.5, 0.999, 1, 1.7, 30, 1e4, 9e5, 3e6, 1e12)) {
    x <- drawn("log_gamma", shape)
    expect_law(x, function(x) stats::pgamma(exp(x), shape), paste("shape", shape))
    expect_true(all(is.finite(x)))
  }
  # Of very small shapes, shape * log x is -Exponential(1); of very large ones, (x - shape) / sqrt(shape) is normal.
  for (shape in c(1e-5, 1e-50)) expect_law(drawn("log_gamma", shape), function(x) stats::pexp(-shape * x), shape)
  expect_equal(drawn("log_gamma", 1e50, n = 3L), matrix(log(1e50), 3L))
  expect_law(drawn("gamma", 2.5, 7), function(x) stats::pgamma(x, 2.5, 7), "rate")
})

test_that("Beta numbers have their law, at both ends", {
  for (case in list(c(2, 3), c(1, 40), c(0.3, 0.2), c(0.02, 5), c(1e5, 1), c(1, 0.02))) {
    x <- drawn("log_beta", case[1], case[2])
    label <- paste(case, collapse = ", ")
    # The logarithm of the one that may be far below the other tells equal values apart.
    if (case[1] < 20 * case[2]) expect_law(x[, 1], function(x) stats::pbeta(exp(x), case[1], case[2]), label)
    if (case[2] < 20 * case[1]) expect_law(x[, 2], function(x) stats::pbeta(exp(x), case[2], case[1]), label)
    expect_lt(max(abs(exp(x[, 1]) + exp(x[, 2]) - 1)), 1e-12)
  }
  expect_law(drawn("log_beta", 1, 1e50)[, 1], function(x) stats::pexp(exp(x) * 1e50), "1, 1e50")
  expect_true(all(is.finite(drawn("log_beta", 1e-50, 1e-50))))
})

test_that("Dirichlet numbers have Beta margins and sum to 1, also where weights are tiny", {
  weight <- c(0.5, 3, 0.02, 1)
  x <- drawn("log_dirichlet", weight)
  expect_lt(max(abs(rowSums(exp(x)) - 1)), 1e-12)
  for (j in 1:4) expect_law(x[, j], function(x) stats::pbeta(exp(x), weight[j], sum(weight) - weight[j]), j)
  tiny <- drawn("log_dirichlet", c(1e-9, 3e-9), n = 4000L)
  expect_true(all(is.finite(tiny)))
  expect_lt(abs(mean(exp(tiny[, 1])) - 0.25), 4 * sqrt(0.25 * 0.75 / 4000))
})

test_that("successes have the binomial law", {
  x <- drawn("binomial", 7, 0.3)
  p <- stats::dbinom(0:7, 7, 0.3)
  expect_gt(stats::chisq.test(tabulate(x + 1, 8), p = p, simulate.p.value = TRUE, B = 1000)$p.value, 1e-3)
  expect_true(all(drawn("binomial", 5, 1, n = 10L) == 5), all(drawn("binomial", 5, 0, n = 10L) == 0))
  expect_true(all(drawn("binomial", 0, 0.5, n = 10L) == 0))
})

test_that("the seed of the generator decides all variates", {
  expect_identical(drawn("normal", n = 5L), drawn("normal", n = 5L))
  expect_false(any(drawn("normal", n = 5L) == drawn("normal", n = 5L, seed = 2)))
})

test_that("slice sampling leaves a law as it is", {
  for (shape in c(0.3, 2, 50)) expect_law(drawn("slice", shape), function(x) stats::pgamma(x, shape), shape)
})

test_that("numbers of a law that is none are refused, without an end of their own", {
  skip_on_os("windows") # no fork
  refused <- function(...) {
    outcome <- function() tryCatch(drawn(..., n = 3L), error = function(e) class(e)[1L])
    expect_identical(within_seconds(10, outcome), "std::domain_error", label = paste(c(...), collapse = ", "))
  }
  for (bad in some_of(c(NaN, -1e300, -1, -0.5, -1e-20), by = 3)) {
    for (law in c("log_gamma", "gamma", "log_beta", "log_dirichlet")) refused(law, bad, 2)
    refused("log_beta", 2, bad)
    refused("log_dirichlet", c(2, bad))
  }
  for (bad in c(NaN, 0, Inf)) refused("slice", 2, bad)
})
