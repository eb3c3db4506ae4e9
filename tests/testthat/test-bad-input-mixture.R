bad <- function(x, what, ..., obs = obs_gaussian()) expect_bad(bnp_mixture(x, obs = obs), what, ...)

test_that("missing and infinite values are reported with their places", {
  x <- cbind(a = c(1, NA, 3), b = c(4, 5, Inf))
  bad(x, "not_finite", "\\(2, a\\), \\(3, b\\)")
  bad(as.data.frame(x), "not_finite", "2 missing or infinite values")
  bad(c(1, NaN), "not_finite", "\\(2, 1\\)")
  m <- Matrix::sparseMatrix(i = c(1, 3), j = c(1, 2), x = c(1, NA))
  bad(m, "not_finite", "\\(3, 2\\)", obs = obs_multinomial())
})

test_that("columns that are not numeric are named", {
  bad(iris, "not_numeric", "Species \\(factor\\)", obs = obs_gaussian())
  bad(letters, "not_numeric")
  bad(matrix("a"), "not_numeric")
  bad(factor(1:3), "not_numeric", "factor", obs = obs_gaussian())
  bad(list(1, 2), "input")
  bad(array(1, c(2, 2, 2)), "input", "two dimensions")
  for (obs in list(obs_gaussian(), obs_categorical())) {
    bad(Titanic, "input", "weights = d\\$Freq", obs = obs)
  }
})

test_that("there must be rows and columns, with different names", {
  bad(faithful[0, ], "no_rows")
  bad(numeric(), "no_rows")
  bad(faithful[, 0], "no_columns")
})

test_that("counts and binary data are checked", {
  bad(matrix(c(1, -1, 2, 3), 2), "not_counts", "\\(2, 1\\)", obs = obs_multinomial())
  bad(matrix(c(1, 0.5, 2, 3), 2), "not_counts", obs = obs_multinomial())
  bad(Matrix::sparseMatrix(i = 1, j = 1, x = 0.5), "not_counts", obs = obs_multinomial())
  bad(matrix(c(1, 0, 2, 1), 2), "not_binary", "\\(1, 2\\)", obs = obs_bernoulli())
  bad(Matrix::sparseMatrix(i = 1:3, j = 1:3, x = 1), "input", "sparse")
})

test_that("values whose variance is no number are refused", {
  bad(c(1e200, -1e200, 3), "range", "column .* of `x` .*outside the range")
  bad(c(1e-200, -1e-200, 0), "range")
})

test_that("priors must fit the columns", {
  bad(faithful, "df", "above 1", obs = obs_gaussian(df = 0.5))
  bad(faithful, "argument", "`mean`", obs = obs_gaussian(mean = 1:3))
  bad(faithful, "argument", "`scale`", obs = obs_gaussian(scale = diag(3)))
  bad(faithful, "argument", "`scale`", obs = obs_gaussian(scale = 1:3))
  bad(matrix(1:4, 2), "argument", "`term_prior`", obs = obs_multinomial(1:3))
  bad(matrix(0, 2, 2), "argument", "`a`", obs = obs_bernoulli(a = 1:3))
})

test_that("arguments of the wrong kind are refused", {
  expect_bad(bnp_mixture(faithful, obs = "gaussian"), "argument", "obs")
  expect_bad(bnp_mixture(faithful, prior = 3), "argument", "prior")
  expect_bad(bnp_mixture(faithful, prior = prior_hdp()), "argument", "prior")
  expect_bad(bnp_mixture(faithful[1:2, ], obs = obs_ar(lag = 2)), "too_short", "sequence of `x` .*lag")
  expect_bad(bnp_mixture(faithful, control = list()), "argument", "control")
  expect_bad(bnp_mixture(faithful, k = 3), "argument", "`k`")
})

test_that("k_init and batches must suit the data", {
  expect_bad(bnp_mixture(1:5, control = bnp_control(k_init = 6)), "k_init", "at most")
  expect_bad(bnp_mixture(1:5, prior = prior_dirichlet(2), control = bnp_control(k_init = 3)), "k_init")
  expect_bad(bnp_mixture(1:5, control = bnp_control(batches = 6)), "argument", "batches")
})

test_that("formulas must be one-sided or of regressions, without interactions, and have their columns", {
  expect_bad(bnp_mixture(waiting ~ eruptions, faithful, obs_gaussian()), "formula", "left-hand side")
  expect_bad(bnp_mixture(~ waiting:eruptions, faithful), "formula", "interactions")
  expect_bad(bnp_mixture(~ nothing_of_this_name, faithful), "formula", "nothing_of_this_name")
  expect_bad(bnp_mixture(~1, faithful), "formula", "no columns")
  expect_bad(bnp_mixture(~Species, iris, obs_gaussian()), "not_numeric", "Species")
})

test_that("starts are checked", {
  start <- function(s, ...) expect_bad(bnp_mixture(faithful, start = s), "start", ...)
  start(1:3, "272")
  start(c(NA, rep(1, 271)), "At 1")
  start(matrix(1, 3, 2), "272")
  start(matrix(1, 272, 2), "sum to 1")
  start(matrix(c(-1, 2), 272, 2, byrow = TRUE), "row 1")
  expect_bad(bnp_mixture(1:4, prior = prior_dirichlet(2), start = 1:4), "start", "finite prior 2")
})
