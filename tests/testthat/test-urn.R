# Urns: clusters that rows enter and leave one at a time are those made from all their rows.

expect_urn <- function(case, first, steps, label, tolerance = 1e-9) {
  out <- engine_urn(case$data, case$model, first, steps, 1)
  expect_equal(out$predictive, out$again, tolerance = tolerance, label = label)
  scale <- pmax(1, abs(out$fresh))
  # Powers of a row that has left leave a rounding error of their own size.
  most <- if (grepl("weibull", case$model$obs$family)) 1e-6 else 1e-9
  expect_lte(max(abs(out$statistic - out$fresh) / scale), most, label = label)
  out
}

for (case in some_of(c(model_cases(), planted_cases()), by = 5)) {
  test_that(paste0(case$name, ": an urn after any additions and removals is that of its rows"), {
    few <- expect_urn(case, 1:2, 40, "few rows")
    expect_gte(few$rows, 1L)
    expect_urn(case, 1:10, 0, "as it was filled")
    expect_urn(case, 1:10, 5000, "many rows")
  })
}

test_that("urns of nearly collinear rows keep their digits", {
  x <- withr::with_seed(1, matrix(rnorm(60), 20, 3))
  x[, 3] <- x[, 1] + 1e-4 * x[, 3]
  obs <- list(
    family = "gaussian_full", mean = rep(0, 3), mean_strength = 0.01, df = 5, scale = 1e-6 * diag(3),
    centre = rep(0, 3), unit = rep(1, 3)
  )
  case <- list(data = engine_data(x), model = list(obs = obs, prior = list(family = "dp", concentration = 1)))
  expect_urn(case, 1:2, 20000, "collinear", tolerance = 1e-6)
})

test_that("a row far out that comes and goes leaves few digits lost", {
  x <- rbind(withr::with_seed(1, matrix(rnorm(10), 5, 2)), c(3e3, -2e3))
  obs <- list(
    family = "gaussian_full", mean = c(0, 0), mean_strength = 0.1, df = 4, scale = diag(2), centre = c(0, 0),
    unit = c(1, 1)
  )
  case <- list(data = engine_data(x), model = list(obs = obs, prior = list(family = "dp", concentration = 1)))
  for (steps in 1:60) {
    out <- engine_urn(case$data, case$model, 1:2, steps, 1)
    expect_equal(out$predictive, out$again, tolerance = 1e-7, label = paste(steps, "steps"))
  }
})

test_that("what is remembered of an urn is of its own model and statistic", {
  # The same angles with two priors of the concentration, so that all statistics are equal.
  angles <- list(wide = c(1, 0.1), narrow = c(50, 1))
  x <- withr::with_seed(1, matrix(runif(40, -pi, pi), 20))
  for (turn in 1:2) {
    for (prior in angles) {
      obs <- list(family = "von_mises", d = 2, concentration = prior)
      case <- list(data = engine_data(x), model = list(obs = obs, prior = list(family = "dp", concentration = 1)))
      for (rows in c(3, 15)) expect_urn(case, seq_len(rows), 0, paste(rows, "rows, turn", turn))
    }
  }
})
