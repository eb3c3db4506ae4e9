# Linear systems of which the noise of each mode is known: the bound from plain R, limits, and what is found.

of_modes <- function(m, d, noise, ...) {
  obs <- switched(m, d, 0, ...)
  obs$noise <- noise
  obs[setdiff(names(obs), c("noise_df", "noise_scale", "input_unit", "input_centre"))]
}
data <- rotations(3, n = 120)
resp <- outer(data$z, 1:3, `==`) + 0
run <- function(y, obs, prior = lds_laws_prior(3), first = resp, ...) {
  fit_with(y, NULL, obs, prior, first, data$y, ...)
}

# Two modes that move alike, of which the second sensor has another noise.
two <- withr::with_seed(6, {
  n <- 300
  bad <- seq_len(n) %in% c(81:140, 221:260)
  x <- matrix(0, n, 2)
  for (t in 2:n) x[t, ] <- 0.9 * x[t - 1, ] + rnorm(2, sd = 0.5)
  y <- x + rnorm(2 * n, sd = 0.3)
  y[bad, 2] <- x[bad, 2] + rnorm(sum(bad), sd = 2)
  list(y = `colnames<-`(y, c("a", "b")), bad = bad)
})
noise <- cbind(c(0.09, 4), c(0.09, 0.09)) # the first mode is the rare one
sensors <- obs_lds(noise = noise, emission = "by_mode")
control <- bnp_control(seed = 1, verbose = FALSE)
found <- bnp_hmm(two$y, obs = sensors, prior = prior_hmm(2, sticky = 10), control = control)

test_that("terms of the bound are those of plain R, with gaps, sequences, weights, births and a rotation", {
  starts <- c(0L, 40L, 41L, 120L)
  y <- replace(data$y, c(3, 50, 121), NA)
  y[80, ] <- NA
  noise <- cbind(c(0.09, 0.3), c(2, 0.05), c(0.5, 0.5))
  for (first in list(resp, cbind(1, 0, 0)[rep(1, 120), ])) {
    fit <- run(y, of_modes(2, 2, noise, intercept = TRUE), first = first, starts = starts, laps = 12L,
      moves = all_moves, audit = TRUE, weights = c(2, 1, 0.5))
    expect_switched_terms(fit, y, of_modes(2, 2, noise, intercept = TRUE), starts, c(2, 1, 0.5))
  }
  wide <- data$y %*% rbind(c(1, 0.5, -1), c(0, 1, 2)) + 1
  wide[c(3, 50, 121, 240)] <- NA
  loadings <- of_modes(2, 3, rbind(noise, c(0.1, 0.2, 0.3)), identity = FALSE)
  fit <- run(wide, loadings, starts = starts, laps = 10L, moves = all_moves, audit = TRUE)
  expect_switched_terms(fit, wide, loadings, starts)
})

test_that("equal columns are the model whose modes share a known noise, and one mode is one of them", {
  one <- list(family = "hmm", k = 1L, alpha = 1, start = 1, sticky = 2)
  v <- c(0.09, 0.3)
  own <- run(data$y, of_modes(2, 2, v), one, matrix(1, 120, 1), laps = 30L)
  shared <- lds_fit(
    data$y, lds_known_noise(lds_obs(2), v), one, matrix(1, 120, 1), data$y, laps = 30L
  )
  expect_equal(own$elbo, shared$elbo, tolerance = 1e-10)
  # A mode for the first row: the same model but for its law, which the bound of equal columns has, too.
  equal <- run(data$y, of_modes(2, 2, cbind(v, v, v)), laps = 30L)
  vector <- run(data$y, of_modes(2, 2, v), laps = 30L)
  expect_identical(equal$elbo, vector$elbo)
  expect_identical(equal$paths$mean, vector$paths$mean)
})

test_that("modes are found and numbered by their noise, which they exchange if a start has it wrong", {
  expect_gt(mean((fitted(found) == 1) == two$bad), 0.9)
  expect_equal(unname(coef(found)$noise_var), noise)
  expect_true(all(diff(elbo_trace(found)$elbo) > -1e-7))
  wrong <- bnp_hmm(two$y, obs = sensors, prior = prior_hmm(2, sticky = 10), control = control, start = 1L + two$bad)
  expect_equal(elbo(wrong), elbo(found), tolerance = 1e-3)
  expect_equal(fitted(wrong), fitted(found))
  # The other order of the columns is another numbering.
  turned <- bnp_hmm(
    two$y, obs = obs_lds(noise = noise[, 2:1], emission = "by_mode"), prior = prior_hmm(2, sticky = 10),
    control = control
  )
  expect_equal(elbo(turned), elbo(found), tolerance = 1e-5)
  expect_gt(mean(fitted(turned) == 3 - fitted(found)), 0.99)
  # A mode without rows keeps its place.
  calm <- bnp_hmm(two$y[1:80, ], obs = sensors, prior = prior_hmm(2, sticky = 10), control = control)
  expect_equal(as.integer(names(which.max(table(fitted(calm))))), 2L)
})

test_that("filters, new data, threads and files know the noise of each mode", {
  filter <- bnp_filter(found, two$y, seed = 1)
  expect_gt(mean((filter_probs(filter, "smoothed")[, 1] > 0.5) == two$bad), 0.95)
  expect_gt(mean(predict(found, two$y) == fitted(found)), 0.95)
  expect_equal(posterior_params(found)$noise_scale, noise, ignore_attr = TRUE)
  expect_null(posterior_params(found)$noise_df)
  path <- withr::local_tempfile()
  half <- function(laps, ...) {
    suppressWarnings(bnp_hmm(
      two$y, obs = sensors, prior = prior_hmm(2, sticky = 10),
      control = bnp_control(seed = 1, verbose = FALSE, max_laps = laps, ...)
    ))
  }
  straight <- half(10)
  half(5, checkpoint = path)
  expect_identical(elbo(half(10, checkpoint = path)), elbo(straight))
  expect_identical(elbo(half(10, threads = 2)), elbo(straight))
  again <- suppressWarnings(update(found, start = found, control = bnp_control(max_laps = 3, verbose = FALSE)))
  expect_gt(elbo(again), elbo(found) - 1e-6)
  eight <- bnp_hmm(
    8 * two$y, obs = obs_lds(noise = 64 * noise, emission = "by_mode"), prior = prior_hmm(2, sticky = 10),
    control = control
  )
  expect_equal(elbo(eight), elbo(found) - 2 * 300 * log(8), tolerance = 1e-6)
})

test_that("a matrix that does not fit the prior, the data or the emission is refused", {
  expect_bad(obs_lds(noise = noise), "argument", "by_mode")
  expect_bad(obs_lds(noise = matrix(c(1, 2))), "argument", "by_mode")
  expect_bad(obs_lds(noise = noise - 1, emission = "by_mode"), "argument", "above 0")
  expect_bad(obs_lds(noise = noise * NA, emission = "by_mode"), "argument", "finite")
  expect_bad(obs_lds(noise_scale = noise, emission = "by_mode"), "argument", "noise_scale")
  run <- function(obs, prior) bnp_hmm(two$y, obs = obs, prior = prior, control = control)
  expect_bad(run(sensors, prior_hdp_hmm()), "argument", "finite prior")
  expect_bad(run(sensors, prior_hmm(3)), "argument", "finite prior")
  expect_bad(run(obs_lds(noise = noise[c(1, 2, 2), ], emission = "by_mode"), prior_hmm(2)), "argument", "row for each")
  far <- obs_lds(noise = noise * c(1, 1, 1, 1e30), emission = "by_mode")
  expect_bad(run(far, prior_hmm(2)), "range", "noise")
})
