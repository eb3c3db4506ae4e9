# Defaults that are read from the data do not depend on where the data have their origin, nor on their unit.

switching <- withr::with_seed(3, {
  state <- rep(rep(1:2, each = 30), 3)
  x <- matrix(0, length(state), 2)
  for (t in seq_along(state)[-1L]) {
    x[t, ] <- if (state[t] == 1L) 0.5 * x[t - 1L, ] + rnorm(2) else c(6, -6) + 0.3 * x[t - 1L, ] + rnorm(2, sd = 0.5)
  }
  x
})
quick <- bnp_control(seed = 1, verbose = FALSE, max_laps = 30)

# fit(x): the same fit of x + shift and of x * unit; `modelled`: how many numbers have a density.
expect_no_origin <- function(fit, x, modelled, label, units = 1e-6) {
  quiet <- function(x) suppressMessages(suppressWarnings(fit(x)))
  plain <- quiet(x)
  for (shift in some_of(c(1e8, -1e3), by = 3)) {
    moved <- quiet(x + shift)
    expect_identical(n_clusters(moved), n_clusters(plain), label = paste(label, shift))
    expect_identical(unname(fitted(moved)), unname(fitted(plain)), label = paste(label, shift))
    expect_equal(elbo(moved), elbo(plain), tolerance = 1e-7, label = paste(label, shift))
  }
  for (unit in units) {
    scaled <- quiet((x + 1e3) * unit)
    expect_identical(unname(fitted(scaled)), unname(fitted(plain)), label = paste(label, unit))
    expect_equal(elbo(scaled) + modelled * log(unit), elbo(plain), tolerance = 1e-7, label = paste(label, unit))
  }
  plain
}

test_that("autoregressions with an intercept do not depend on the origin, in chains and in mixtures", {
  holed <- replace(switching, cbind(c(5, 40, 77), c(1, 2, 1)), NA)
  id <- rep(c("a", "b", "c"), each = 60)
  for (lag in some_of(1:2, by = 3)) {
    obs <- obs_ar(lag, intercept = TRUE)
    name <- paste("lag", lag)
    chain <- expect_no_origin(function(x) bnp_hmm(x, obs = obs, control = quick), switching, 2 * (180 - lag), name)
    expect_identical(n_clusters(chain), 2L)
  }
  expect_no_origin(
    function(x) bnp_mixture(x, obs_ar(2, intercept = TRUE), control = quick), switching, 2 * 178, "mixture"
  )
  obs <- obs_ar(intercept = TRUE)
  expect_no_origin(function(x) bnp_hmm(x, id, obs, control = quick), switching, 2 * 177, "sequences")
  expect_no_origin(function(x) bnp_hmm(x[, 1], obs = obs, control = quick), switching, 179, "one column")
  expect_no_origin(function(x) bnp_hmm(x, obs = obs, control = quick, na_action = "model"), holed, 2 * 173 + 3, "gaps")
})

long_test("linear systems with an intercept do not depend on the origin", {
  half <- switching[1:60, ]
  quick$max_laps <- 10L
  obs <- obs_lds(intercept = TRUE)
  expect_no_origin(function(x) bnp_hmm(x, obs = obs, control = quick), half, 120, "identity")
  holed <- replace(half, cbind(c(5, 40), 1:2), NA)
  start <- rep(1:2, each = 30)
  expect_no_origin(
    function(x) bnp_hmm(x[, 1], obs = obs, control = quick, start = start), holed, 59, "one column, a gap"
  )
  # Learned loadings are in units of the columns, which are powers of two.
  reduced <- obs_lds(1, intercept = TRUE)
  expect_no_origin(
    function(x) bnp_hmm(x, obs = reduced, control = quick, start = start), half, 120, "loadings", units = 2^c(-20, 17)
  )
})

test_that("what is said of new rows does not know the origin either", {
  obs <- obs_ar(intercept = TRUE)
  plain <- suppressWarnings(bnp_hmm(switching, obs = obs, control = quick))
  new <- switching[25:40, ]
  for (shift in some_of(c(1e3, 1e6, 1e8), by = 5, from = 2)) {
    moved <- suppressWarnings(bnp_hmm(switching + shift, obs = obs, control = quick))
    for (type in c("prob", "responsibility", "logdensity", "class")) {
      expect_equal(predict(moved, new + shift, type = type), predict(plain, new, type = type), tolerance = 1e-6)
    }
    expect_equal(filter_probs(bnp_filter(moved, new + shift)), filter_probs(bnp_filter(plain, new)), tolerance = 1e-6)
    ahead <- function(fit, x) {
      out <- as.data.frame(predict(fit, x, n.ahead = 2))
      as.matrix(out[grep("^mean", names(out))])
    }
    expect_equal(ahead(moved, new + shift) - shift, ahead(plain, new), tolerance = 1e-6)
    if (shift > 1e6) next
    expect_equal(residuals(moved, new + shift), residuals(plain, new), tolerance = 1e-4)
  }
})

test_that("the default prior is around the centre of the data, and one that is given is as it is", {
  x <- switching[, 1] + 50
  fit <- suppressWarnings(bnp_hmm(x, obs = obs_ar(intercept = TRUE), control = quick))
  obs <- fit$model$obs
  back <- rbind(c(1, stats::median(x)), c(0, 1))
  expect_equal(obs$coef_precision, back %*% diag(c(stats::var(diff(x)) / 4, 0.01)) %*% t(back))
  given <- suppressWarnings(bnp_hmm(x,
    obs = obs_ar(intercept = TRUE, coef_precision = obs$coef_precision), control = quick
  ))
  expect_equal(elbo(given), elbo(fit), tolerance = 1e-8)
  again <- suppressWarnings(bnp_hmm(x, obs = obs, control = quick))
  expect_equal(elbo(again), elbo(fit), tolerance = 1e-12)
})
