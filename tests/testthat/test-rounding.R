# Rounded values: features averaged over their cells, obs_gaussian(rounding = ). The averaged features themselves, and
# all that follows from statistics, are laws of test-contract.R.

still <- function(...) bnp_control(seed = 1, moves = FALSE, ...)
given <- function(...) obs_gaussian(..., learn = FALSE)
# Cells as wide as clusters, which is warned of.
with_wide_cells <- function(...) {
  withCallingHandlers(bnp_mixture(...), bnpvi_warning_ties = function(w) invokeRestart("muffleWarning"))
}
coarse <- function(n, means, sd = 1) round(qnorm(ppoints(n), sd = sd) + rep_len(means, n))

test_that("one cluster has the statistics of its cells, in plain R, where cells are missing and rows have weights", {
  x <- withr::with_seed(1, cbind(round(rnorm(60, 20, 3)), round(rnorm(60), 1), rnorm(60)))
  x[cbind(c(2, 9, 9, 30), c(1, 1, 2, 3))] <- NA
  w <- rep(c(1, 2, 0.5), 20)
  width <- c(1, 0.1, 0)
  fit <- bnp_mixture(x, given("diagonal", rounding = width), na_action = "model", weights = w,
    start = rep(1, 60), control = still())
  obs <- fit$model$obs
  expect_identical(obs$rounding, width)
  z <- sweep(sweep(x, 2, obs$centre), 2, obs$unit, "/")
  there <- !is.na(z)
  square <- sweep(z^2, 2, (width / obs$unit)^2 / 12, "+")
  sums <- function(v) colSums(w * replace(v, !there, 0))
  expect_equal(fit$state$obs[1, ], c(sum(w), sums(z), sums(square), sums(1 * there)), tolerance = 1e-12)
})

test_that("a missing cell of a full covariance is expected from the whole cell of what is there", {
  x <- withr::with_seed(2, round(matrix(rnorm(80), 40) %*% matrix(c(4, 3, 0, 2), 2)))
  x[c(3, 17), 2] <- NA
  fit <- bnp_mixture(x, given(rounding = c(1, 1)), na_action = "model", start = rep(1, 40), control = still())
  # The same with each row shared out among four points that have the mean and the variance of its cell.
  corners <- expand.grid(a = c(-1, 1), b = c(-1, 1)) / sqrt(12)
  spread <- x[rep(1:40, each = 4), ] + as.matrix(corners)[rep(1:4, 40), ]
  prior <- fit$model$obs[c("mean", "mean_strength", "df", "scale")]
  of_points <- bnp_mixture(spread, do.call(obs_gaussian, prior), na_action = "model", weights = rep(0.25, 160),
    start = rep(1, 160), control = still())
  for (name in c("mean", "cov")) {
    expect_equal(unname(coef(fit)[[name]]), unname(coef(of_points)[[name]]), tolerance = 1e-6)
  }
})

test_that("all values in one cluster beat a cluster for each value, which win by far where values are densities", {
  # Bounds of one cluster of n = 3,000 rounded normals by sd, and how far below each value for itself is, at least.
  for (case in list(c(0.5, -2952.7, 200), c(1, -4517.5, 400), c(2, -6426.5, 600), c(5, -9125.3, 800))) {
    x <- round(qnorm(ppoints(3000), 100.1, case[1]))
    bound <- function(start, rounding) {
      suppressWarnings(elbo(bnp_mixture(x, given(rounding = rounding), start = start, control = still())))
    }
    one <- bound(rep(1, 3000), 1)
    expect_equal(one, case[2], tolerance = 1e-4)
    expect_gt(one, bound(as.integer(factor(x)), 1) + case[3])
    expect_lt(bound(rep(1, 3000), 0) + 500, bound(as.integer(factor(x)), 0))
  }
})

test_that("rounding = 0 is the fit without a word of it, and every covariance takes a spacing", {
  x <- coarse(120, c(0, 12), 2)
  fine <- qnorm(ppoints(120)) + c(0, 12)
  for (covariance in eval(formals(obs_gaussian)$covariance)) {
    without <- bnp_mixture(fine, given(covariance), control = bnp_control(seed = 1, max_laps = 3)) |>
      suppressWarnings()
    none <- bnp_mixture(fine, given(covariance, rounding = 0), control = bnp_control(seed = 1, max_laps = 3)) |>
      suppressWarnings()
    expect_identical(none$state, without$state)
    expect_identical(elbo_trace(none)$elbo, elbo_trace(without)$elbo)
    wide <- bnp_mixture(x, given(covariance, rounding = 1), start = fitted(without), control = still())
    narrow <- bnp_mixture(x, given(covariance, rounding = 0), start = fitted(without), control = still())
    expect_lt(elbo(wide), elbo(narrow))
    expect_equal(sum(cluster_sizes(wide)), 120)
  }
})

test_that("predictions are of rows as they are: those of a model without rounding that has the same statistics", {
  x <- withr::with_seed(3, round(cbind(rnorm(90, rep(c(0, 6), 45)), rnorm(90))))
  new <- withr::with_seed(4, matrix(rnorm(20, 5, 5), 10))
  for (covariance in c("full", "diagonal", "spherical", "zero_mean", "tied")) {
    fit <- with_wide_cells(x, obs_gaussian(covariance, rounding = 1), control = bnp_control(seed = 1))
    plain <- fit
    plain$model$obs$rounding <- NULL
    plain <- sealed(plain)
    for (type in c("logdensity", "prob")) {
      expect_equal(predict(fit, new, type = type), predict(plain, new, type = type), tolerance = 1e-10)
    }
    expect_equal(heldout_loglik(fit, new, "plugin"), heldout_loglik(plain, new, "plugin"), tolerance = 1e-12)
    # q(z) is what the bound is made of, with cells.
    same <- all.equal(predict(fit, x, "responsibility"), predict(plain, x, "responsibility"))
    expect_identical(isTRUE(same), covariance == "tied" || n_clusters(fit) == 1L, info = covariance)
  }
})

test_that("cells have the probability that integration finds, far out too", {
  x <- coarse(100, c(0, 9))
  fit <- bnp_mixture(x, obs_gaussian(rounding = 1), control = bnp_control(seed = 1))
  density <- function(v) exp(predict(fit, as.matrix(v), type = "logdensity"))
  for (at in c(-3, 0, 4, 11, 40)) {
    expected <- log(integrate(density, at - 0.5, at + 0.5, rel.tol = 1e-10)$value)
    expect_equal(heldout_loglik(fit, at, cells = TRUE), expected, tolerance = 1e-7)
  }
  expect_true(is.finite(heldout_loglik(fit, 1e8, cells = TRUE)))
  # Where the cell is narrow beside the cluster it is the density.
  expect_equal(heldout_loglik(fit, 1e8, cells = TRUE), heldout_loglik(fit, 1e8), tolerance = 1e-6)

  two <- cbind(a = x, b = coarse(100, c(3, 3, 7), 2))
  for (covariance in c("diagonal", "spherical", "tied_diagonal", "tied_spherical")) {
    fit <- with_wide_cells(two, obs_gaussian(covariance, rounding = c(1, 2)), control = bnp_control(seed = 1))
    density <- function(v) exp(predict(fit, v, type = "logdensity"))
    for (at in list(c(1, 3), c(9, 7), c(-8, 2), c(30, 30))) {
      inner <- function(b) vapply(b, function(b) {
        integrate(function(a) density(cbind(a = a, b = b)), at[1] - 0.5, at[1] + 0.5, rel.tol = 1e-9)$value
      }, 1)
      expected <- log(integrate(inner, at[2] - 1, at[2] + 1, rel.tol = 1e-9)$value / 2)
      row <- rbind(stats::setNames(at, c("a", "b")))
      expect_equal(heldout_loglik(fit, row, cells = TRUE), expected, tolerance = 1e-6, info = covariance)
    }
  }
})

test_that("a bound with rounding is one on the probability of the cells", {
  # Five values that all belong to one cluster: the evidence of cells is an integral over mean and precision.
  x <- c(2, 3, 3, 4, 6)
  fit <- bnp_mixture(x, obs_gaussian(mean = 3, mean_strength = 0.1, df = 3, scale = 2, rounding = 1),
    prior_dirichlet(1, 1), start = rep(1, 5), control = still())
  grid <- expand.grid(t = seq(-6, 4, length.out = 400), m = seq(-12, 18, length.out = 1500))
  lambda <- exp(grid$t)
  log_joint <- dgamma(lambda, 1.5, 1, log = TRUE) + grid$t + dnorm(grid$m, 3, 1 / sqrt(0.1 * lambda), log = TRUE)
  for (v in x) {
    cell <- pnorm(v + 0.5, grid$m, 1 / sqrt(lambda)) - pnorm(v - 0.5, grid$m, 1 / sqrt(lambda))
    log_joint <- log_joint + log(cell)
  }
  evidence <- log(sum(exp(log_joint)) * (10 / 399) * (30 / 1499))
  expect_lt(elbo(fit), evidence)
  expect_gt(elbo(fit), evidence - 1)
})

test_that("a spacing is kept, printed, refused where it has no meaning, and holds in products, sources and updates", {
  x <- data.frame(a = coarse(100, c(0, 9)), b = qnorm(ppoints(100))[c(seq(1, 99, 2), seq(2, 100, 2))])
  fit <- bnp_mixture(x, obs_gaussian(rounding = c(b = 0, a = 1)), control = bnp_control(seed = 1))
  expect_identical(fit$model$obs$rounding, c(1, 0))
  expect_output(print(fit), "Rounded values, one cell: a 1")
  expect_match(format(obs_gaussian(rounding = 0.5)), "rounding = 0.5", fixed = TRUE)
  expect_false(grepl("rounding", format(obs_gaussian(rounding = 0))))

  blocks <- obs_product(given(columns = "a", rounding = 1), given(columns = "b"))
  apart <- bnp_mixture(x, blocks, start = rep(1, 100), control = still())
  diagonal <- lapply(x, function(v) {
    bnp_mixture(v, given(rounding = if (all(v == round(v))) 1 else 0), start = rep(1, 100), control = still())
  })
  data_term <- function(fit) elbo(fit, terms = TRUE)[["data"]]
  expect_equal(data_term(apart), data_term(diagonal$a) + data_term(diagonal$b), tolerance = 1e-10)
  expect_output(print(apart), "a 1")
  expect_equal(
    heldout_loglik(apart, x, cells = TRUE) * 100,
    sum(log_predictive_of_cells(apart, as_newdata(apart, x)))
  )

  pieces <- source_function(function(i) if (i <= 2L) x[(i - 1L) * 50L + 1:50, ])
  streamed <- bnp_mixture(pieces, obs_gaussian(rounding = c(1, 0)), control = bnp_control(seed = 1))
  expect_identical(streamed$model$obs$rounding, c(1, 0))
  later <- update(fit, x[1:10, ])
  expect_identical(later$model$obs$rounding, c(1, 0))
  threads <- bnp_mixture(x, obs_gaussian(rounding = c(1, 0)), control = bnp_control(seed = 1, threads = 2))
  expect_identical(elbo(threads), elbo(fit))

  expect_bad(obs_gaussian(rounding = -1), "argument")
  expect_bad(obs_gaussian(rounding = "a"), "argument")
  expect_bad(obs_gaussian(rounding = 1, drift = 0.1), "argument")
  expect_bad(bnp_mixture(x, obs_gaussian(rounding = c(1, 1, 1))), "argument")
  expect_bad(bnp_mixture(x, obs_gaussian(rounding = 1e9)), "range")
  expect_bad(bnp_hmm(x, obs = obs_gaussian(rounding = 1)), "not_defined")
  expect_bad(bnp_topics(x, obs = obs_gaussian(rounding = 1), id = rep(1:10, 10)), "not_defined")
  expect_bad(bnp_mixture(x, obs_gaussian(rounding = 1), control = bnp_control("truncation_free")), "not_defined")
  expect_bad(heldout_loglik(fit, x, cells = TRUE), "not_defined")
  expect_bad(heldout_loglik(bnp_mixture(x, control = bnp_control(seed = 1)), x, cells = TRUE), "argument")
  expect_bad(heldout_loglik(apart, x, "plugin", cells = TRUE), "argument")
})

test_that("a warning is left where cells are wider than clusters, and of columns that are not taken as rounded", {
  x <- coarse(300, c(0, 3), 0.2)
  told <- expect_warning(bnp_mixture(x, obs_gaussian(rounding = 1), control = bnp_control(seed = 1)),
    "narrower than the spacing of column", class = "bnpvi_warning_ties")
  expect_false(grepl("single", conditionMessage(told)))
  both <- cbind(wide = round(qnorm(ppoints(300), 0, 5)), b = rep(1:3, 100) / 10)
  one_rounded <- obs_gaussian("diagonal", rounding = c(1, 0))
  told <- expect_warning(bnp_mixture(both, one_rounded, control = bnp_control(seed = 1)), "rounding of column",
    class = "bnpvi_warning_ties")
  expect_match(conditionMessage(told), "b", fixed = TRUE)
  expect_false(grepl("wide", conditionMessage(told)))
  expect_no_warning(bnp_mixture(both[, 1], obs_gaussian(rounding = 1), control = bnp_control(seed = 1)))
})

test_that("mixtures find the spacing of columns whose values repeat, and other families take rows as they are", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  expect_identical(fit$model$obs$rounding, c(0, 1))
  same <- bnp_mixture(faithful, obs_gaussian(rounding = c(0, 1)), control = bnp_control(seed = 1))
  expect_identical(fit$state, same$state)
  few <- bnp_control(seed = 1, max_laps = 2)
  short <- function(expr) suppressWarnings(expr, classes = "bnpvi_warning")
  expect_identical(short(bnp_mixture(faithful[1:50, ], start = fit, control = few))$model$obs$rounding, c(0, 1))
  blocks <- short(bnp_mixture(iris, control = few))$model$obs$blocks
  expect_equal(blocks$gaussian$rounding, c(0, 0.1, 0, 0.1))
  expect_null(blocks$categorical$rounding)
  expect_null(short(bnp_hmm(faithful, control = few))$model$obs$rounding)
  expect_null(bnp_mixture(faithful, control = bnp_control("truncation_free", seed = 1))$model$obs$rounding)
  # Each row twice is each row with a weight of two.
  weighted <- short(bnp_mixture(iris[1:4], weights = rep(2, 150), control = few))
  twice <- short(bnp_mixture(iris[c(1:150, 1:150), 1:4], control = few))
  expect_equal(weighted$model$obs$rounding, twice$model$obs$rounding)
})

test_that("chains and streams that begin with a fit of cells go on with rows as they are", {
  x <- coarse(60, c(0, 9))
  fit <- bnp_mixture(x, obs_gaussian(rounding = 1), control = bnp_control(seed = 1))
  expect_message(draws <- bnp_sample(fit, x, draws = 5, seed = 1, verbose = FALSE), class = "bnpvi_message_rounding")
  expect_null(draws$model$obs$rounding)
  goes_on <- bnp_mixture(x, start = fit, control = bnp_control("truncation_free", seed = 1))
  expect_null(goes_on$model$obs$rounding)
})
