# Samplers of mixtures of Student-t rows, whose state has a scale for each row, against quadrature and enumeration.

x <- c(-1.2, 0.3, 0.5, 4.1)
student <- list(
  family = "student_full", mean = 0, mean_strength = 0.3, df = 3, scale = matrix(0.8), centre = 0, unit = 1
)
known <- c(student, list(tails = 4))
learned <- c(student, list(tails = c(2, 0.1)))

# A grid of precisions, means and degrees of freedom with the log density of the prior times the volume of a cell.
grid_of <- function(tails) {
  grid <- expand.grid(
    log_precision = seq(-9, 4, length.out = 70), z = seq(-9, 9, length.out = 90),
    log_nu = if (length(tails) == 1) log(tails) else seq(-3, 7, length.out = 40)
  )
  grid$nu <- exp(grid$log_nu)
  precision <- exp(grid$log_precision)
  # The mean is on a grid around the data that is wider where the precision is small.
  width <- sqrt(1 + 1 / precision)
  grid$mean <- grid$z * width / 2
  step <- function(v) if (length(unique(v)) == 1L) 1 else diff(sort(unique(v)))[1L]
  prior <- dgamma(precision, 1.5, 0.4, log = TRUE) + grid$log_precision +
    dnorm(grid$mean, 0, 1 / sqrt(0.3 * precision), log = TRUE) +
    log(width / 2) + log(step(grid$log_precision)) + log(step(grid$z))
  if (length(tails) == 2L) {
    prior <- prior + dgamma(grid$nu, tails[1], tails[2], log = TRUE) + grid$log_nu + log(step(grid$log_nu))
  }
  grid$precision <- precision
  grid$prior <- prior
  grid
}
log_joint_on <- function(grid, values) {
  root <- sqrt(grid$precision)
  Reduce(`+`, lapply(values, function(v) dt((v - grid$mean) * root, grid$nu, log = TRUE) + log(root)), grid$prior)
}
log_sum <- function(v) max(v) + log(sum(exp(v - max(v))))
evidence_of <- function(grid, values) function(rows) log_sum(log_joint_on(grid, values[rows]))
chains_of <- function(obs, data, concentration, sweeps, seed = 1) {
  start <- list(labels = rep(1L, nrow(data)), concentration = concentration, sweeps = 0, number = 1)
  model <- list(obs = obs, prior = list(family = "dp", concentration = concentration))
  engine_sample(engine_data(data), model, list(start), sweeps, 1, 0, 2L, seed, 1L)[[1L]]
}

test_that("quadrature has the evidence of the design page", {
  expect_equal(evidence_of(grid_of(4), x)(1:4), -10.88797693, tolerance = 1e-5)
  expect_equal(evidence_of(grid_of(c(2, 0.1)), x)(1:4), -11.66490, tolerance = 1e-4)
})

test_that("partitions have their exact posterior, with known and learned degrees of freedom", {
  for (obs in some_of(list(known, learned), by = 2)) {
    exact <- exact_posterior(4, evidence_of(grid_of(obs$tails), x), 1.3)
    out <- chains_of(obs, cbind(x), 1.3, some_draws(20000))
    k <- apply(exact$partitions, 1L, max)
    drawn <- out$records[, "n_clusters"]
    for (size in 1:3) expect_lt(abs(batch_z(drawn == size, sum(exact$prob[k == size]))), 4, label = size)
    for (pair in list(c(1, 2), c(2, 3), c(3, 4))) {
      together <- function(z) z[, pair[1]] == z[, pair[2]]
      z <- batch_z(together(t(out$kept)), sum(exact$prob[together(exact$partitions)]))
      expect_lt(abs(z), 4, label = paste("pair", toString(pair)))
    }
  }
})

test_that("scales have the posterior means of quadrature", {
  grid <- grid_of(learned$tails)
  weight <- log_joint_on(grid, x)
  weight <- exp(weight - log_sum(weight))
  expected <- vapply(x, function(v) sum(weight * (grid$nu + 1) / (grid$nu + grid$precision * (v - grid$mean)^2)), 1)
  out <- chains_of(learned, cbind(x), 1e-12, some_draws(20000))
  expect_true(all(out$kept == 1))
  for (i in 1:4) expect_lt(abs(batch_z(out$kept_scales[i, ], expected[i])), 4, label = i)
})

test_that("a product has scales for each block of Student-t rows", {
  second <- c(0.2, 1.9, -0.4, 0.1)
  both <- list(family = "product", blocks = list(a = known, b = known))
  grid <- grid_of(4)
  exact <- exact_posterior(
    4, function(rows) evidence_of(grid, x)(rows) + evidence_of(grid, second)(rows), 1.3
  )
  out <- chains_of(both, cbind(x, second), 1.3, some_draws(20000))
  expect_identical(nrow(out$kept_scales), 8L)
  k <- apply(exact$partitions, 1L, max)
  for (size in 1:3) {
    expect_lt(abs(batch_z(out$records[, "n_clusters"] == size, sum(exact$prob[k == size]))), 4, label = size)
  }
})

test_that("draws of Student-t mixtures predict, go on and are checked like those of others", {
  values <- data.frame(x = x)
  obs <- obs_student(tails = 4, mean = 0, mean_strength = 0.3, df = 3, scale = 0.8)
  fit <- bnp_mixture(values, obs, prior_dp(1.3), bnp_control(seed = 1, verbose = FALSE))
  some <- function(draws, ...) bnp_sample(fit, values, draws = draws, warmup = 10, seed = 1, verbose = FALSE, ...)
  many <- some(400, keep = 1600)
  grid <- grid_of(4)
  with_one <- function(v) exact_posterior(5, evidence_of(grid, c(x, v)), 1.3)$log_evidence
  without <- exact_posterior(4, evidence_of(grid, x), 1.3)$log_evidence
  at <- c(0, 3, -20)
  found <- predict(many, data.frame(x = at), values, type = "logdensity")
  expect_equal(unname(found), vapply(at, with_one, 1) - without, tolerance = 0.02)
  expect_equal(rowSums(predict(many, values, values, type = "prob")), rep(1, 4), ignore_attr = TRUE)
  checked <- check_fit(fit, values, draws = 5, chains = 2, seed = 1, verbose = FALSE)
  expect_null(checked$evidence)
  expect_output(print(checked), "The fit has")
  few <- some(5)
  whole <- some(12)
  expect_identical(update(few, values, draws = 7)$trace, whole$trace)
  expect_true(all(is.finite(whole$trace)))
  expect_bad(update(replace(few, "scales", list(-few$scales)), values), "format", "scales")
  gaps <- bnp_mixture(cbind(values, y = c(NA, 1, 2, 0)), obs_student(), na_action = "model",
    control = bnp_control(seed = 1, verbose = FALSE))
  expect_bad(bnp_sample(gaps, cbind(values, y = c(NA, 1, 2, 0)), draws = 2), "gaps", "omit")
  calm <- bnp_control(seed = 1, verbose = FALSE)
  line <- bnp_mixture(dist ~ speed, cars, obs_regression(tails = NULL), control = calm)
  expect_s3_class(bnp_sample(line, cars, draws = 2, chains = 2, seed = 1, verbose = FALSE), "bnp_draws")
})
