test_that("constructors keep what they are given and print it", {
  expect_s3_class(obs_gaussian(), "bnp_obs")
  expect_equal(obs_gaussian()$family, "gaussian_full")
  expect_equal(obs_gaussian("diagonal", scale = 1:3)$scale, 1:3)
  expect_equal(prior_dp(3)$concentration, 3)
  expect_equal(prior_hmm(4, sticky = 10)[c("k", "sticky")], list(k = 4L, sticky = 10))
  expect_output(print(obs_gaussian(df = 7)), "df = 7")
  expect_output(print(obs_gaussian()), "from the data")
  expect_output(print(prior_hdp()), "gamma = 10, alpha = 0.5")
  expect_output(print(bnp_control(seed = 4)), "seed +4")
  expect_output(print(bnp_moves(birth = FALSE)), "merge, delete, reorder")
})

test_that("moves = FALSE and TRUE stand for reordering alone and for the default moves", {
  expect_equal(moves_in_use(bnp_control(moves = FALSE)$moves), "reorder")
  expect_equal(bnp_control(moves = TRUE)$moves, bnp_moves())
})

test_that("one outlier changes neither the default prior much nor the clusters", {
  set.seed(1)
  x <- rbind(matrix(rnorm(400), 200), matrix(rnorm(400, 8), 200))
  plain <- resolve_obs(obs_gaussian(), as_mixture_data(x, obs_gaussian()))
  wild <- resolve_obs(obs_gaussian(), as_mixture_data(rbind(x, 1e6), obs_gaussian()))
  expect_true(all(abs(wild$mean - plain$mean) < 8))
  expect_true(all(diag(wild$scale) < 4 * diag(plain$scale)))
  fit <- bnp_mixture(rbind(x, 1e6), control = bnp_control(seed = 1))
  expect_equal(sort(unname(cluster_sizes(fit))), c(1, 200, 200), tolerance = 1e-3)
})

test_that("the expected covariance of the default prior is a share of the data's", {
  data <- as_mixture_data(faithful, obs_gaussian())
  obs <- resolve_obs(obs_gaussian(), data)
  expected <- obs$scale / (obs$df - data$d - 1)
  expect_equal(
    diag(expected) / robust_variances(as.matrix(faithful)), rep(spread_within(272, 2), 2), ignore_attr = TRUE
  )
  expect_equal(obs$mean, unname(apply(faithful, 2, median)))
  given <- resolve_obs(obs_gaussian(mean = 1, df = 9, scale = 2), data)
  expect_equal(given$mean, c(1, 1))
  expect_equal(given$df, 9)
  expect_equal(given$scale, diag(2, 2))
})

test_that("default priors are positive definite for degenerate data", {
  cases <- list(
    constant = matrix(3, 5, 2), one_row = matrix(1:4, 1), collinear = cbind(1:6, 2 * (1:6)),
    wide = matrix(rnorm(30), 3), zeros = matrix(0, 4, 3), far = 1e8 + matrix(rnorm(20), 10),
    huge = 1e150 * matrix(rnorm(20), 10), tiny = 1e-150 * matrix(rnorm(20), 10)
  )
  models <- list(obs_gaussian(), obs_gaussian("zero_mean"), obs_ar(), obs_ar(2, intercept = TRUE))
  for (case in names(cases)) {
    data <- as_sequence_data(cases[[case]], obs_gaussian())
    for (model in models) {
      obs <- resolve_obs(model, data)
      expect_true(is_definite(obs$scale), label = paste(case, model$family))
      expect_true(is.null(obs$coef_precision) || is_definite(obs$centred_precision), label = case)
      expect_true(all(is.finite(unlist(obs[-1]))), label = paste(case, model$family))
    }
  }
})

test_that("units are powers of two near the spread, and follow a change of scale", {
  x <- matrix(rnorm(400, sd = 5), 100)
  unit <- resolve_obs(obs_gaussian(), as_mixture_data(x, obs_gaussian()))$unit
  expect_equal(log2(unit), round(log2(unit)))
  expect_true(all(unit >= 2 & unit <= 16))
  scaled <- resolve_obs(obs_gaussian(), as_mixture_data(2^300 * x, obs_gaussian()))$unit
  expect_identical(scaled, 2^300 * unit)
})

test_that("the autoregressive default is identity dynamics with noise from first differences", {
  set.seed(3)
  x <- list(a = apply(matrix(rnorm(60), 30), 2, cumsum), b = apply(matrix(rnorm(40, sd = 3), 20), 2, cumsum) + 50)
  data <- as_sequence_data(x, obs_ar())
  obs <- resolve_obs(obs_ar(), data)
  steps <- rbind(diff(x$a), diff(x$b))
  expect_equal(diag(obs$scale), apply(steps, 2, var) / 2)
  expect_equal(obs$df, 4)
  expect_equal(obs$coef_mean, diag(2))
  expect_equal(obs$coef_precision, obs$scale / 2)
  expect_equal(obs$centre, c(0, 0))
  two <- resolve_obs(obs_ar(lag = 2, intercept = TRUE), data)
  expect_equal(two$coef_mean, cbind(diag(2), matrix(0, 2, 3)))
  expect_equal(two$centred_precision, diag(c(rep(diag(obs$scale) / 2, 2), 0.01)))
  # An intercept of 0 around the centre is I - A1 - A2 times the centre around the origin.
  coefficients <- matrix(rnorm(10), 2)
  around <- cbind(coefficients[, 1:4], coefficients[, 5] - coefficients[, 1:4] %*% rep(two$centre, 2))
  expect_equal(around %*% two$coef_precision %*% t(around), coefficients %*% two$centred_precision %*% t(coefficients))
})

test_that("each argument of a constructor is checked where it is given, and has its default where it is not", {
  constructors <- c("bnp_control", "bnp_moves", prior_makers(names(unit_words)), "prior_ibp", "prior_beta_bernoulli")
  for (name in constructors) {
    constructor <- get(name)
    needed <- list(k = 2, formula = ~ age)
    needed <- needed[names(needed) %in% names(formals(constructor))]
    for (arg in setdiff(names(formals(constructor)), "...")) {
      given <- c(if (arg == "candidates") list(sparsity = 2), stats::setNames(list(list(1)), arg))
      given <- utils::modifyList(needed, given)
      kind <- if (arg == "formula") "covariates" else "argument"
      expect_bad(do.call(constructor, given), kind, paste0("`", arg, "`"))
    }
    full <- do.call(constructor, needed)
    usual <- lapply(formals(constructor), function(value) if (!identical(value, quote(expr = ))) eval(value)[1L])
    without <- c(
      "moves", "init", "max_laps", "k", "formula", "transitions", "fixed", "learning_rate", "...", "algorithm"
    )
    usual <- usual[setdiff(names(usual), without)]
    expect_identical(unclass(full)[names(usual)], usual, info = name)
  }
})
