# Fits of linear systems with inputs, and of sensors that differ by mode: what is found, what reads it, what is refused.

control <- bnp_control(seed = 1, verbose = FALSE)
few <- bnp_control(seed = 1, max_laps = 8, verbose = FALSE)
sticky <- prior_hdp_hmm(sticky = 50)

# Two columns that move alike all the time; the second sensor is dead in some rows.
failing <- withr::with_seed(1, {
  n <- 240
  dead <- seq_len(n) %in% c(91:140, 201:230)
  x <- matrix(0, n, 2)
  for (t in 2:n) x[t, ] <- 0.95 * x[t - 1, ] + rnorm(2, sd = 0.3)
  y <- x + rnorm(2 * n, sd = 0.2)
  y[dead, 2] <- x[dead, 2] + rnorm(sum(dead), sd = 4)
  list(y = `colnames<-`(y, c("a", "b")), x = x, dead = dead)
})
sensors <- bnp_hmm(failing$y, obs = obs_lds(emission = "by_mode"), prior = sticky, control = control)

# One variable whose control acts the other way round in the second mode.
steered <- withr::with_seed(2, {
  n <- 240
  z <- rep(rep(1:2, 3), each = 40)
  u <- rnorm(n, mean = 1, sd = 2)
  w <- rnorm(n)
  x <- numeric(n)
  for (t in 2:n) x[t] <- 0.7 * x[t - 1] + c(0.8, -0.8)[z[t]] * u[t] + rnorm(1, sd = 0.3)
  list(data = data.frame(y = x + rnorm(n, sd = 0.2), u = u, w = w), z = z, x = x)
})
inputs <- obs_lds(inputs = ~ u + w)
controlled <- bnp_hmm(steered$data, obs = inputs, prior = sticky, control = control)

long_test("a sensor that fails in one mode is found, from one mode too", {
  from_one <- bnp_hmm(
    failing$y, obs = obs_lds(emission = "by_mode"), prior = sticky, control = control, start = rep(1L, 240)
  )
  for (fit in list(sensors, from_one)) {
    expect_equal(n_clusters(fit), 2)
    expect_gt(adjusted_rand_index(fitted(fit), failing$dead), 0.85)
    sd <- sqrt(coef(fit)$noise_var)
    expect_equal(dim(sd), c(2, 2))
    broken <- which.max(sd["b", ])
    expect_gt(sd["b", broken], 2.5)
    expect_lt(sd["b", -broken], 0.6)
    expect_lt(max(sd["a", ]), 0.4)
    expect_true(all(diff(elbo_trace(fit)$elbo) > -1e-7))
  }
  # An emission that all modes share takes the failures for noise of all rows.
  shared <- bnp_hmm(failing$y, obs = obs_lds(), prior = sticky, control = control, start = 1L + failing$dead)
  expect_gt(elbo(sensors), elbo(shared) + 50)
  error <- function(fit) sqrt(mean((latent_path(fit)$mean.b - failing$x[, 2])^2))
  expect_lt(error(sensors), 0.6 * error(shared))
})

long_test("a control that acts by mode is learned, and one that does not act is near 0", {
  expect_equal(n_clusters(controlled), 2)
  expect_gt(adjusted_rand_index(fitted(controlled)[-1], steered$z[-1]), 0.9)
  means <- coef(controlled)$coef
  expect_equal(dimnames(means)[[2]], c("y", "u", "w"))
  expect_equal(sort(means[1, "u", ]), c(-0.8, 0.8), tolerance = 0.1, ignore_attr = TRUE)
  expect_lt(max(abs(means[1, "w", ])), 0.1)
  expect_lt(sqrt(mean((latent_path(controlled)$mean.y - steered$x)^2)), 0.2)
  without <- bnp_hmm(steered$data["y"], obs = obs_lds(), prior = sticky, control = control, start = steered$z)
  expect_gt(elbo(controlled), elbo(without) + 50)
  expect_equal(unique(tidy(controlled)$term), c("y", "u", "w"))
  # The order of the inputs, their units and the place of the columns are nothing but names.
  other <- transform(steered$data, u = 100 * u)[3:1]
  from_truth <- function(data, obs) {
    suppressWarnings(bnp_hmm(data, obs = obs, prior = sticky, control = few, start = steered$z))
  }
  once <- from_truth(steered$data, inputs)
  again <- from_truth(other, obs_lds(inputs = c("w", "u")))
  expect_equal(elbo(again), elbo(once), tolerance = 1e-8)
  expect_equal(100 * coef(again)$coef[1, "u", ], coef(once)$coef[1, "u", ], tolerance = 1e-5)
})

test_that("with an intercept, the bound does not depend on the origin of an input", {
  values <- vapply(c(0, 50), function(origin) {
    data <- transform(steered$data[1:60, ], u = u + origin, y = y + 10)
    control <- bnp_control(seed = 1, max_laps = 3)
    elbo(suppressWarnings(
      bnp_hmm(data, obs = obs_lds(inputs = ~u, intercept = TRUE), prior = prior_hmm(2), control = control)
    ))
  }, 0)
  expect_equal(values[1], values[2], tolerance = 1e-8)
})

long_test("with an intercept, effects do not depend on the origin of an input", {
  fits <- lapply(c(0, 50), function(origin) {
    data <- transform(steered$data, u = u + origin, y = y + 10)
    bnp_hmm(data, obs = obs_lds(inputs = ~u, intercept = TRUE), prior = sticky, control = few)
  }) |> suppressWarnings()
  expect_equal(elbo(fits[[1]]), elbo(fits[[2]]), tolerance = 1e-7)
  a <- coef(fits[[1]])$coef
  b <- coef(fits[[2]])$coef
  expect_equal(a[1, "u", ], b[1, "u", ], tolerance = 1e-5)
  expect_equal(a[1, "intercept", ], b[1, "intercept", ] + 50 * b[1, "u", ], tolerance = 1e-5)
  draw <- mean_system(fits[[2]])
  expect_equal(draw$F[1, 1, ], unname(b[1, "u", ]))
})

test_that("fits are filtered, and forecasts need the inputs to come", {
  f <- bnp_filter(controlled, steered$data, particles = 50, seed = 1)
  expect_gt(mean(max.col(filter_probs(f)[-1, ]) == fitted(controlled)[-1]), 0.9)
  part <- bnp_filter(controlled, steered$data[1:100, ], particles = 50, seed = 1)
  expect_identical(update(part, steered$data[101:240, ])$sequences, f$sequences)
  expect_bad(predict(f, h = 2), "argument", "not predicted")
  ahead <- predict(f, h = 2, inputs = data.frame(w = 0, u = c(3, -3)))
  at <- mean_system(controlled)
  last <- f$sequences[[1]]$state
  now <- last$mode + 1
  step <- function(k) at$A[1, 1, k] * last$mean[1, ] + at$F[1, 1, k] * 3
  want <- sum(last$weight * vapply(seq_along(now), function(i) {
    sum(at$transition[now[i], ] * vapply(1:2, function(k) step(k)[i], 1))
  }, 1))
  expect_equal(ahead$mean.y[1], want, tolerance = 1e-10)
  expect_bad(bnp_filter(controlled, steered$data, inputs = 1:240), "argument", "columns of")
  expect_bad(bnp_filter(controlled, steered$data["y"]), "newdata_columns", "u")
  expect_bad(update(f, replace(steered$data[1:3, ], 2, NA)), "argument", "inputs")
  expect_equal(sum(predict(controlled, steered$data, type = "logdensity")),
    as.numeric(logLik(bnp_filter(controlled, steered$data, seed = 1))))
  draws <- bnp_filter(controlled, steered$data, particles = 20, parameters = "draw", seed = 1)
  expect_true(is.finite(logLik(draws)))

  g <- bnp_filter(sensors, failing$y, seed = 1)
  expect_false(anyNA(filter_probs(g)))
  broken <- which.max(coef(sensors)$noise_var["b", ])
  expect_gt(mean((filter_probs(g, "smoothed")[, broken] > 0.5) == failing$dead), 0.95)
  expect_gt(as.numeric(logLik(g)), elbo(sensors)) # parameters are known to the filter
  expect_true(all(is.finite(as.matrix(predict(g, h = 3)[c("mean.a", "sd.b")]))))
  expect_true(all(is.finite(unlist(as.data.frame(bnp_filter(sensors, failing$y, parameters = "draw", seed = 1))[-1]))))
  residual <- residuals(sensors, failing$y)
  expect_equal(sd(residual[, "b"]), 1, tolerance = 0.2)
})

test_that("what reads fits reads these, of new data and of old", {
  expect_equal(nrow(latent_path(controlled, steered$data[1:50, ])), 50)
  expect_gt(mean(predict(controlled, steered$data) == fitted(controlled)), 0.95)
  expect_gt(mean(predict(sensors, failing$y) == fitted(sensors)), 0.95)
  expect_equal(unname(rowSums(predict(sensors, failing$y, type = "prob"))), rep(1, 240))
  expect_length(predict(sensors, list(failing$y[1, , drop = FALSE], failing$y[1:3, ])), 4)
  listed <- list(steered$data[1:120, ], steered$data[121:240, ])
  expect_equal(nrow(latent_path(controlled, listed)), 240)
  out <- augment(sensors, failing$y)
  expect_equal(out$.fitted.a, latent_path(sensors, failing$y)$mean.a)
  expect_equal(dim(posterior_params(sensors)$noise_scale), c(2, 2))
  expect_output(print(controlled$model$obs), "inputs = u, w")
  expect_output(print(sensors$model$obs), "by_mode = TRUE")
  expect_equal(cluster_sizes(sensors)[[1]] + cluster_sizes(sensors)[[2]], 240, tolerance = 1e-8)
  withr::local_pdf(NULL)
  expect_silent(plot(sensors, data = failing$y))
  expect_silent(plot(controlled, data = steered$data))
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(sensors, path)
  expect_equal(predict(readRDS(path), failing$y), predict(sensors, failing$y))
  again <- suppressWarnings(update(sensors, start = sensors, control = few))
  expect_gt(elbo(again), elbo(sensors) - 1e-3)
  two <- suppressWarnings(bnp_hmm(
    steered$data, obs = inputs, prior = sticky, control = bnp_control(seed = 1, max_laps = 8, verbose = FALSE,
    threads = 2), start = steered$z
  ))
  one <- suppressWarnings(bnp_hmm(steered$data, obs = inputs, prior = sticky, control = few, start = steered$z))
  expect_identical(elbo(one), elbo(two))
})

long_test("learned loadings by mode: a sensor that is dead has a loading near 0", {
  signal <- failing$x[, 1]
  y <- withr::with_seed(3, cbind(a = signal, b = 2 * signal, c = -signal) + rnorm(720, sd = 0.2))
  y[failing$dead, "b"] <- withr::with_seed(4, rnorm(sum(failing$dead), sd = 0.2))
  fit <- bnp_hmm(y, obs = obs_lds(1, emission = "by_mode"), prior = sticky, control = control)
  expect_gt(adjusted_rand_index(fitted(fit), failing$dead), 0.8)
  size <- cluster_sizes(fit)
  main <- order(size, decreasing = TRUE)[1:2]
  share <- abs(coef(fit)$loadings["b", 1, main] / coef(fit)$loadings["a", 1, main])
  expect_lt(min(share), 0.3)
  expect_equal(max(share), 2, tolerance = 0.15)
  expect_true(all(diff(elbo_trace(fit)$elbo) > -1e-7))
  out <- augment(fit, y)
  expect_lt(sqrt(mean((out$.fitted.b[failing$dead])^2)), 0.3)
  expect_true(all(is.finite(as.matrix(predict(bnp_filter(fit, y, seed = 1), h = 2)[c("mean.a", "sd.b")]))))
})

test_that("what is not offered is refused by name", {
  bad <- function(...) expect_bad(obs_lds(...), "argument", names(list(...))[1])
  for (wrong in list(~ log(u), ~ u * w, y ~ u, ~1, 3, c("u", "u"), c("u", NA), character())) bad(inputs = wrong)
  bad(emission = "own")
  bad(noise = 1, emission = "by_mode")
  bad(noise = diag(2) + 1, loadings = 1)
  run <- function(data, ...) suppressWarnings(bnp_hmm(data, prior = sticky, control = few, ...))
  expect_bad(run(steered$data["y"], obs = inputs), "inputs", "u")
  expect_bad(run(steered$data[c("u", "w")], obs = inputs), "no_columns", "inputs")
  expect_bad(run(replace(steered$data, cbind(7, 2), NA), obs = inputs), "argument", "row 7 of u")
  expect_bad(
    run(transform(steered$data, u = 3), obs = obs_lds(inputs = ~u, intercept = TRUE)), "argument", "intercept"
  )
  expect_bad(run(transform(steered$data, u = "on"), obs = inputs), "not_numeric", "u")
  expect_bad(predict(controlled, steered$data, n.ahead = 2), "hidden", "bnp_filter")
  expect_bad(predict(sensors, failing$y, n.ahead = 2), "hidden", "bnp_filter")
  expect_bad(simulate(sensors), "hidden", "simulate")
  expect_bad(bnp_mixture(steered$data, obs = inputs), "argument", "bnp_hmm")
  # A constant input without an intercept is one; gaps and short sequences are taken.
  constant <- run(transform(steered$data, u = 1), obs = obs_lds(inputs = ~u))
  expect_true(is.finite(elbo(constant)))
  sound <- function(fit) {
    expect_true(is.finite(elbo(fit)))
    expect_true(all(is.finite(unlist(latent_path(fit)[-(1:2)]))))
    expect_false(anyNA(fitted(fit)))
    expect_true(all(is.finite(tidy(fit)$estimate)))
  }
  by_mode <- obs_lds(emission = "by_mode")
  y <- failing$y
  sound(run(y[1, , drop = FALSE], obs = by_mode))
  if (!long_tests()) return()
  sound(run(list(y[1, , drop = FALSE], y[2, , drop = FALSE]), obs = by_mode))
  sound(run(list(y[1, , drop = FALSE], y[2:50, ], y[51, , drop = FALSE]), obs = by_mode))
  sound(run(replace(y[1:60, ], c(1, 61, 30:35), NA), obs = by_mode))
  sound(run(y[1:60, ] * 1e8, obs = by_mode))
  sound(suppressWarnings(bnp_hmm(y[1:80, ], obs = by_mode, prior = prior_hmm(3, sticky = 5), control = few)))
  sound(run(steered$data[1:3, ], obs = inputs))
  sound(run(transform(steered$data[1:60, ], u = 1e9 * u), obs = inputs))
})
