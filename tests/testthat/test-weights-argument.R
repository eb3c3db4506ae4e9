# weights = of bnp_mixture(): as if rows were written out, with priors read from the data included.

written_out <- function(x, w) if (is.null(dim(x))) rep(x, w) else x[rep(seq_len(nrow(x)), w), , drop = FALSE]

# Fits of every observation model that reads something from the data.
mixtures_to_weigh <- function() {
  withr::with_seed(1, {
    n <- 150
    counts <- matrix(rpois(n * 4, c(1, 6)), n)
    hours <- runif(n, 0.5, 2)
    frame <- data.frame(a = iris$Sepal.Length, b = iris$Species, c = rpois(n, 3))
    list(
      full = list(as.matrix(iris[1:4]), obs_gaussian()),
      learned = list(as.matrix(iris[1:4]), obs_gaussian(learn = TRUE)),
      diagonal = list(as.matrix(iris[1:4]), obs_gaussian("diagonal")),
      spherical = list(as.matrix(iris[1:4]), obs_gaussian("spherical")),
      tied = list(as.matrix(iris[1:4]), obs_gaussian("tied")),
      zero_mean = list(matrix(rnorm(2 * n) * rep(c(1, 6), each = n / 2), n), obs_gaussian("zero_mean")),
      multinomial = list(counts, obs_multinomial(0.1)),
      learned_terms = list(counts, obs_multinomial(term_prior = NULL)),
      sparse = list(Matrix::Matrix(counts, sparse = TRUE), obs_multinomial(term_prior = NULL)),
      bernoulli = list(1 * (counts > 2), obs_bernoulli()),
      poisson = list(counts, obs_poisson()),
      sparse_poisson = list(Matrix::Matrix(counts, sparse = TRUE), obs_poisson()),
      binomial = list(counts, obs_binomial()),
      gamma = list(matrix(rgamma(n * 2, 2, c(1, 9)), n), obs_gamma(2)),
      survival = list(cbind(rexp(n, c(1, 9)), 1 * (runif(n) < 0.7)), obs_survival()),
      categorical = list(data.frame(a = factor(counts[, 1] > 2), b = factor(counts[, 2] > 4)), obs_categorical()),
      product = list(frame, NULL),
      regression = list(cbind(iris$Petal.Width, iris$Petal.Length), obs_regression()),
      vector = list(faithful$eruptions[1:150], obs_gaussian())
    )
  })
}

test_that("whole weights are rows written out, defaults of priors included", {
  w <- withr::with_seed(2, sample(0:3, 150, TRUE))
  for (name in names(mixtures_to_weigh())) {
    case <- mixtures_to_weigh()[[name]]
    start <- rep(1:3, length.out = 150)
    run <- function(x, start, ...) suppressWarnings(bnp_mixture(
      x, case[[2]], start = start, control = bnp_control(moves = FALSE, max_laps = 4, seed = 1), ...
    ))
    a <- run(case[[1]], start, weights = w)
    b <- run(written_out(case[[1]], w), rep(start, w))
    expect_equal(elbo(a), elbo(b), tolerance = 1e-10, label = name)
    expect_equal(elbo(a, terms = TRUE), elbo(b, terms = TRUE), tolerance = 1e-10, label = name)
    expect_equal(cluster_sizes(a), cluster_sizes(b), tolerance = 1e-8, label = name)
    expect_equal(posterior_params(a), posterior_params(b), tolerance = 1e-8, label = name)
    expect_identical(rep(unname(fitted(a)), w), unname(fitted(b)), label = name)
    expect_equal(nobs(a), nobs(b))
  }
})

test_that("exposures that belong to rows are weighted with them", {
  w <- withr::with_seed(2, sample(0:3, 100, TRUE))
  x <- withr::with_seed(3, matrix(rpois(200, 4), 100))
  hours <- withr::with_seed(4, runif(100, 0.5, 3))
  control <- bnp_control(moves = FALSE, max_laps = 4, seed = 1, k_init = 1)
  a <- suppressWarnings(bnp_mixture(x, obs_poisson(exposure = hours), weights = w, control = control))
  b <- suppressWarnings(
    bnp_mixture(written_out(x, w), obs_poisson(exposure = rep(hours, w)), control = control)
  )
  expect_equal(elbo(a), elbo(b), tolerance = 1e-10)
  expect_equal(a$input$mean_exposure, b$input$mean_exposure)
})

test_that("weighted quantiles are those of the values written out", {
  withr::local_seed(1)
  for (i in 1:20) {
    x <- sample(8, 12, TRUE) / 7
    w <- sample(0:4, 12, TRUE)
    if (sum(w) == 0) next
    p <- c(0, 0.025, runif(3), 0.5, 0.975, 1)
    expect_equal(weighted_quantile(x, w, p), quantile(rep(x, w), p, names = FALSE), tolerance = 1e-12)
    expect_equal(weighted_quantile(x, w, 0.5), median(rep(x, w)))
  }
  x <- c(3, 1, 2, 9)
  expect_equal(weighted_quantile(x, rep(1e-3, 4), c(0.1, 0.5)), quantile(x, c(0.1, 0.5), names = FALSE))
  expect_equal(weighted_quantile(x, c(0.2, 0.1, 0.1, 0), c(0, 1)), c(1, 3))
  expect_true(weighted_quantile(c(3, 1, 2), c(1.5, 1.5, 1.5), 0.5) == 2)
})

test_that("rows of weight 0 are left out, and have clusters", {
  out <- c(3, 50, 100)
  w <- replace(rep(1, 272), out, 0)
  control <- bnp_control(seed = 1)
  a <- bnp_mixture(faithful, weights = w, control = control)
  b <- bnp_mixture(faithful[-out, ], control = control)
  expect_equal(elbo(a), elbo(b), tolerance = 1e-10)
  expect_identical(unname(fitted(a)[-out]), unname(fitted(b)))
  expect_identical(unname(fitted(a)[out]), unname(predict(b, faithful[out, ])))
  expect_bad(bnp_mixture(faithful, weights = w, control = bnp_control(batches = 270)), "argument", "269")
})

test_that("weights stay with the fit and its methods", {
  w <- withr::with_seed(2, sample(c(0, 1, 2.5), 272, TRUE))
  fit <- bnp_mixture(faithful, weights = w, control = bnp_control(seed = 1))
  plain <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_identical(nobs(fit), sum(w))
  expect_equal(sum(cluster_sizes(fit)), sum(w))
  expect_output(print(fit), "observations \\([0-9]+ rows with weights\\) of 2 columns")
  expect_identical(attr(logLik(fit), "nobs"), sum(w))
  expect_length(fitted(fit), 272)
  expect_identical(nrow(simulate(fit, seed = 1)[[1]]), 272L)
  expect_identical(update(fit, prior = prior_dp(1))$elbo, fit$elbo)
  expect_false(identical(update(fit, weights = NULL)$elbo, fit$elbo))
  expect_bad(compare_fits(fit, plain), "not_comparable", "other weights")
  expect_s3_class(compare_fits(fit, fit), "bnp_comparison")
  tree <- cluster_tree(fit, faithful)
  expect_equal(tree$elbo[1], fit$elbo, tolerance = 1e-6)
  cut <- cut_fit(fit, faithful, k = 1)
  expect_equal(unname(cluster_sizes(cut)), sum(w))
  expect_bad(cluster_tree(fit, faithful[272:1, ]), "other_data")
  expect_identical(augment(fit, faithful)$.class, factor(unname(fitted(fit)), seq_len(fit$state$k)))
  frame <- data.frame(faithful, w = w)
  by_formula <- bnp_mixture(~ eruptions + waiting, frame, weights = w, control = bnp_control(seed = 1))
  expect_identical(by_formula$elbo, fit$elbo)
  expect_equal(dim(coclustering(fit, faithful)), c(272L, 272L))
  again <- bnp_mixture(faithful, weights = w, start = fit, control = bnp_control(seed = 2))
  expect_gte(elbo(again), elbo(fit) - 1e-6)
})

test_that("weights that sum to 1 leave the location and unit of columns as they are", {
  control <- bnp_control(seed = 1, max_laps = 2)
  obs <- function(w) {
    suppressWarnings(bnp_mixture(faithful, obs_gaussian(learn = FALSE), weights = w, control = control))$model$obs
  }
  expect_equal(obs(rep(1 / 272, 272))[c("mean", "centre", "unit")], obs(NULL)[c("mean", "centre", "unit")])
})

test_that("the fingerprint of data has their weights", {
  data <- as_mixture_data(faithful, obs_gaussian())
  of <- function(w) {
    data$weights <- w
    fingerprint_of(data)
  }
  ones <- rep(1, 272)
  expect_identical(of(ones), of(ones))
  expect_false(of(ones) == fingerprint_of(data))
  expect_false(of(replace(ones, 1, 2)) == of(replace(ones, 2, 2)))
})

test_that("one heavy row, tiny weights and huge weights are no trouble", {
  for (w in list(c(1e6, rep(1, 271)), rep(1e-6, 272), rep(1e6, 272), replace(rep(0, 272), 7, 2))) {
    # Under a learned prior a cluster of a single value with a weight of 1e6 has too few digits, which ends the fit.
    obs <- obs_gaussian(rounding = 0, learn = if (min(w) == 1e6) FALSE)
    fit <- suppressWarnings(bnp_mixture(faithful, obs, weights = w, control = bnp_control(seed = 1, max_laps = 20)))
    expect_true(is.finite(elbo(fit)))
    expect_equal(sum(cluster_sizes(fit)), sum(w), tolerance = 1e-8)
    expect_true(all(diff(elbo_trace(fit)$elbo) >= -1e-8 * abs(elbo(fit))))
  }
})

test_that("wrong weights are refused by name and place", {
  fit <- function(w, ...) bnp_mixture(faithful, ..., weights = w)
  ones <- rep(1, 272)
  expect_bad(fit("a"), "weights", "names the column \"a\"")
  expect_bad(fit(rep("a", 272)), "weights", "must be a numeric vector, not character of length 272")
  expect_bad(fit(matrix(1, 272, 1)), "weights", "must be a numeric vector, not double of 272 x 1")
  expect_bad(fit(1:3), "weights", "one number per row of `x` \\(272\\), not 3")
  expect_bad(fit(replace(ones, 4, NA)), "weights", "row 4")
  expect_bad(fit(replace(ones, 5:6, c(-1, Inf))), "weights", "row 5, 6")
  expect_bad(fit(0 * ones), "weights", "must not all be 0")
  expect_bad(fit(ones, obs = obs_ar()), "weights", "independent given their cluster")
})
