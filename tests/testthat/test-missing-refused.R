# What cannot be missing is refused, with what to do.

few <- bnp_control(seed = 1, verbose = FALSE)
x <- withr::with_seed(1, matrix(rnorm(40), 20, dimnames = list(NULL, c("a", "b"))))
hole <- replace(x, cbind(3, 2), NA)
modelled_fit <- function(x, obs = obs_gaussian("diagonal"), ...) {
  bnp_mixture(x, obs, control = few, na_action = "model", ...)
}

test_that("without na_action missing values are an error that names it", {
  expect_bad(bnp_mixture(hole, control = few), "not_finite", "na_action = \"model\"")
  expect_bad(bnp_mixture(data.frame(f = c("a", NA, "b")), control = few), "not_finite", "na_action = \"model\"")
  fit <- bnp_mixture(x, control = few)
  expect_bad(predict(fit, hole), "not_finite", "na_action")
  expect_bad(heldout_loglik(fit, hole), "not_finite", "na_action")
  expect_bad(augment(fit, hole), "not_finite", "na_action")
  expect_bad(bnp_hmm(hole, control = few), "not_finite", "na_action")
  expect_bad(bregman_kmeans(hole, 2), "not_finite", "na.omit")
  expect_bad(bnp_mixture(x, na_action = "drop"), "argument", "na_action")
})

test_that("infinite values are not missing", {
  expect_bad(modelled_fit(replace(hole, 1, Inf)), "not_finite", "\\(1, a\\)")
})

test_that("a sparse matrix has no missing values", {
  counts <- Matrix::Matrix(c(1, 0, 0, NA, 2, 0), 3, sparse = TRUE)
  expect_bad(modelled_fit(counts, obs_poisson()), "not_finite", "Sparse matrices cannot have missing values")
})

test_that("a column, or everything, may not be missing", {
  expect_bad(modelled_fit(cbind(x, c = NA)), "gaps", "c.*no value at all")
  expect_bad(modelled_fit(NA * x), "no_rows", "All rows of `x` are without any value")
  expect_bad(bnp_mixture(NA * x, control = few, na_action = "omit"), "no_rows", "with missing values")
})

test_that("counts of a total, covariates, exposures and shared covariances may not be missing", {
  counts <- matrix(c(1, 2, NA, 4, 5, 6), 3)
  expect_bad(modelled_fit(counts, obs_multinomial()), "gaps", "row 3")
  expect_message(fit <- modelled_fit(rbind(counts[1:2, ], NA), obs_multinomial()), class = "bnpvi_message_left_out")
  expect_equal(nobs(fit), 2)
  expect_bad(modelled_fit(cbind(y = x[, 1], z = hole[, 2]), obs_regression()), "gaps", "Covariates.*\n.*row 3")
  late <- data.frame(y = c(1, NA, 3, 2, 5), z = c(1, 2, 3, NA, 1))
  suppressMessages(expect_bad(modelled_fit(late, obs_regression()), "gaps", "row 4")) # as row 2 is left out
  exposed <- cbind(n = 1:3, hours = c(1, NA, 2))
  expect_bad(modelled_fit(exposed, obs_poisson(exposure = "hours")), "exposure", "row 2")
  expect_bad(modelled_fit(hole, obs_gaussian("tied")), "gaps", "covariance = \"full\"")
  # Wholly missing rows are not in the fit.
  expect_message(tied <- modelled_fit(rbind(x, NA), obs_gaussian("tied")), class = "bnpvi_message_left_out")
  expect_equal(nobs(tied), 20)
})

test_that("rows of a series are not left out", {
  expect_bad(bnp_mixture(hole, obs_ar(), control = few, na_action = "omit"), "argument", "series")
  expect_bad(bnp_hmm(hole, obs = obs_ar(), control = few, na_action = "omit"), "argument", "series")
  id <- rep(c("u", "v"), c(19, 1))
  expect_bad(
    bnp_hmm(replace(x, cbind(20, 1), NA), id, control = few, na_action = "omit"), "no_rows", "sequence v"
  )
})

test_that("labels of rows that are left out are not needed", {
  labels <- rep(1:2, 10)
  labels[3] <- NA
  expect_equal(length(suppressMessages(
    fitted(bnp_mixture(hole, control = few, start = labels, na_action = "omit"))
  )), 20)
  expect_bad(modelled_fit(hole, start = labels), "start", "3")
})

test_that("what cannot be imputed is refused", {
  fit <- bnp_mixture(x, obs_ar(), control = few)
  expect_bad(predict(fit, hole, type = "impute"), "argument", "obs_ar")
  tries <- cbind(success = c(2, 3, 1), failure = c(1, 3, 0))
  fit <- bnp_mixture(tries, obs_binomial(), control = few)
  expect_bad(predict(fit, replace(tries, 1, NA), type = "impute"), "argument", "obs_binomial")
  frame <- data.frame(a = exp(x[, 1]), b = x[, 2])
  fit <- bnp_mixture(~ log(a) + b, frame, control = few)
  expect_bad(impute(fit, replace(frame, cbind(2, 1), NA)), "argument", "log\\(a\\)")
  expect_bad(impute(fit), "newdata")
  expect_bad(predict(fit, type = "impute"), "newdata")
  expect_bad(impute(fit, frame, m = 0), "argument", "`m`")
  expect_bad(impute(1, frame), "argument", "fit")
})

test_that("where no row is left, the column without any value is named", {
  data <- data.frame(a = c(0.5, 1:19), b = NA_real_, c = c(20:2, 1.5))
  omitting <- function(verb, x, ...) verb(x, ..., control = few, na_action = "omit")
  expect_bad(omitting(bnp_mixture, data), "no_rows", "Column b has no value")
  expect_bad(omitting(bnp_mixture, unname(as.matrix(data))), "no_rows", "Column 2 has")
  expect_bad(omitting(bnp_mixture, ~ a + b, data), "no_rows", "Column b")
  expect_bad(omitting(bnp_mixture, c ~ a + b, data), "no_rows", "Column b")
  expect_bad(omitting(bnp_hmm, transform(data, d = NA_real_)), "no_rows", "Columns b and d have")
  expect_bad(omitting(bnp_features, data), "no_rows", "Column b")
  expect_bad(omitting(bnp_topics, data, obs_gaussian(), id = rep(1:2, 10)), "no_rows", "Column b")
  expect_bad(omitting(bnp_mixture, data, id = rep(1:5, 4)), "no_rows", "Column b")
  fit <- bnp_mixture(transform(data, b = a), control = few, na_action = "omit")
  expect_bad(predict(fit, data), "no_rows", "Column b")
  expect_bad(omitting(bnp_mixture, data["b"]), "no_rows", "Give at least one")
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(data, file, row.names = FALSE)
  expect_bad(omitting(bnp_mixture, source_files(file)), "no_rows", "Column b")
})
