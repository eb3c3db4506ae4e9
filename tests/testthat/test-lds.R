# Fits with obs_lds(): what is found, what reads it, and what is refused.

control <- bnp_control(seed = 1, verbose = FALSE)
sticky <- prior_hdp_hmm(sticky = 50)
data <- rotations(1, n = 240)
fit <- bnp_hmm(data$y, obs = obs_lds(), prior = sticky, control = control)
signal <- data$x %*% rbind(c(1, 0.5, -1, 0), c(0, 1, 2, 1)) + 10
four <- withr::with_seed(2, `colnames<-`(signal + rnorm(960, sd = 0.3), letters[1:4]))
few <- bnp_control(seed = 1, max_laps = 12, verbose = FALSE)
reduced <- suppressWarnings(bnp_hmm(four, obs = obs_lds(loadings = 2), prior = sticky, control = few))

test_that("modes, hidden states and noise are found", {
  expect_s3_class(fit, "bnp_hmm")
  expect_equal(n_clusters(fit), 3)
  expect_gt(adjusted_rand_index(fitted(fit), data$z), 0.75)
  path <- latent_path(fit)
  expect_named(path, c("id", "time", "mean.u", "mean.v", "sd.u", "sd.v"))
  error <- cbind(path$mean.u, path$mean.v) - data$x
  expect_lt(sqrt(mean(error^2)), 0.22)
  expect_lt(sqrt(mean(error^2)), 0.8 * sqrt(mean((data$y - data$x)^2)))
  expect_equal(mean((error / cbind(path$sd.u, path$sd.v))^2), 1, tolerance = 0.25)
  expect_equal(unname(coef(fit)$noise_var), c(0.09, 0.09), tolerance = 0.35)
  expect_true(all(diff(elbo_trace(fit)$elbo) > -1e-8))
  expect_output(print(fit), "Switching linear dynamics")
  expect_output(print(summary(fit)), "emission = ")
})

long_test("with seven times more noise than innovations births by window find modes that rows do not show", {
  noisy <- rotations(2, noise = 1.5, n = 400)
  from_rows <- bnp_hmm(noisy$y, obs = obs_ar(), prior = sticky, control = control)
  hidden <- bnp_hmm(noisy$y, obs = obs_lds(), prior = sticky, control = control)
  expect_lt(n_clusters(from_rows), 3)
  expect_gte(n_clusters(hidden), 3)
  expect_gt(adjusted_rand_index(fitted(hidden), noisy$z), adjusted_rand_index(fitted(from_rows), noisy$z) + 0.1)
})

test_that("learned loadings: rows, modes and forecasts do not depend on how states are turned", {
  expect_gt(adjusted_rand_index(fitted(reduced), data$z), 0.7)
  out <- augment(reduced, four)
  expect_lt(sqrt(mean((as.matrix(out[paste0(".fitted.", letters[1:4])]) - signal)^2)), 0.25)
  expect_equal(dim(coef(reduced)$loadings), c(4, 2))
  expect_equal(unname(coef(reduced)$offset), rep(10, 4), tolerance = 0.1)
  p <- lds_parameters(reduced)
  k <- reduced$state$k
  expect_equal(lapply(p, dim)[c("A", "Q", "C")], list(A = c(2, 2, k), Q = c(2, 2, k), C = c(4, 3)))
})

test_that("point parameters have the form that filters take", {
  p <- lds_parameters(fit)
  expect_named(p, c("A", "Q", "C", "R", "start_mean", "start_var", "start", "transition"))
  expect_equal(dim(p$A), c(2, 2, 3))
  expect_equal(p$C, diag(2))
  expect_equal(rowSums(p$transition), rep(1, 3))
  expect_equal(sum(p$start), 1)
  q <- posterior_params(fit)
  expect_equal(unname(p$Q[, , 2]), unname(q$scale[, , 2] / (q$df[[2]] - 3)))
  expect_equal(p$R, unname(q$noise_scale / (q$noise_df - 2)))
})

test_that("new sequences are smoothed at the parameters of the fit", {
  again <- latent_path(fit, data$y)
  expect_equal(again$mean.u, latent_path(fit)$mean.u, tolerance = 0.01)
  expect_gt(mean(predict(fit, data$y) == fitted(fit)), 0.93)
  prob <- predict(fit, data$y, type = "prob")
  expect_equal(unname(rowSums(prob)), rep(1, 240))
  gappy <- data$y[1:60, ]
  gappy[30:34, ] <- NA
  sd <- latent_path(fit, gappy)$sd.u
  expect_gt(sd[32], 1.5 * sd[20])
  expect_equal(nrow(latent_path(fit, data$y[0, , drop = FALSE])), 0)
  expect_length(predict(fit, list(a = data$y[1, , drop = FALSE], b = data$y[1:3, ])), 4)
})

test_that("forecasts are the moments of the switching system", {
  ahead <- predict(fit, data$y, n.ahead = 2)
  p <- lds_parameters(fit)
  paths <- expected_paths(fit, as_new_sequences(fit, data$y, NULL))
  last <- paths$mean[240, ]
  v <- unpacked(paths$var[240, ], 2)
  prob <- paths$resp[240, fit$numbering] %*% p$transition
  means <- sapply(1:3, function(k) p$A[, , k] %*% last)
  mean <- drop(means %*% t(prob))
  second <- Reduce(`+`, lapply(1:3, function(k) {
    prob[k] * (p$A[, , k] %*% v %*% t(p$A[, , k]) + p$Q[, , k] + tcrossprod(means[, k]))
  }))
  expect_equal(unlist(ahead[1, c("mean.u", "mean.v")], use.names = FALSE), mean)
  expect_equal(
    unlist(ahead[1, c("sd.u", "sd.v")], use.names = FALSE), sqrt(diag(second - tcrossprod(mean)) + p$R)
  )
  expect_equal(as.double(ahead[1, paste0("prob.", 1:3)]), as.double(prob))
  expect_true(all(is.finite(as.matrix(predict(reduced, four, n.ahead = 3)[, c("mean.a", "sd.d")]))))
})

test_that("simulated rows have the law of the parameters", {
  known <- bnp_hmm(
    data$y[1:20, 1], obs = obs_lds(noise = 0.5, df = 1e7, scale = 2e7, coef_mean = 0.5, coef_precision = 1e9,
                                   start_mean = 3, start_var = 1e-6),
    prior = prior_hmm(1), control = control
  )
  sets <- simulate(known, 2000, seed = 1, lengths = c(1, 3))
  x <- vapply(sets, function(s) s[[1]], numeric(4))
  expect_equal(rowMeans(x), c(3, 3, 1.5, 0.75), tolerance = 0.1, ignore_attr = TRUE)
  expect_equal(apply(x, 1, var), c(0.5, 0.5, 2.5, 3), tolerance = 0.15, ignore_attr = TRUE)
  from <- simulate(known, 1, seed = 1, lengths = 2, initial = 1e6)$sim_1
  expect_equal(from[[1]], c(1e6, 5e5), tolerance = 1e-3)
  sim <- simulate(reduced, seed = 1)$sim_1
  expect_equal(dim(sim), c(240, 6))
  expect_true(all(is.finite(as.matrix(sim[1:4]))))
})

test_that("fits of linear systems are tabulated and drawn", {
  expect_equal(nrow(tidy(fit)), 12)
  expect_named(
    tidy(fit), c("component", "size", "proportion", "duration", "response", "term", "estimate", "modulus")
  )
  expect_equal(glance(fit)$unstable, sum(unique(tidy(fit)$modulus) > 1))
  expect_equal(tidy(fit)$modulus[1], max(Mod(eigen(coef(fit)$coef[, , 1])$values)))
  expect_true(all(c(".fitted.u", ".state.v", ".class") %in% names(augment(fit, data$y))))
  expect_true(all(is.finite(tidy(fit, conf.int = TRUE)$estimate)))
  expect_equal(sum(segments(fit)$length), 240)
  withr::local_pdf(NULL)
  for (type in c("segments", "transitions", "elbo")) expect_silent(plot(fit, type))
  expect_silent(plot(fit, data = data$y))
  expect_silent(plot(reduced, data = four))
  expect_silent(plot(predict(fit, data$y, n.ahead = 5)))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, data = data$y), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("a fit is a start, for the same data without a loss", {
  again <- update(fit, start = fit)
  expect_gt(elbo(again), elbo(fit) - 1e-3)
  other <- bnp_hmm(data$y[1:100, ], obs = obs_lds(), prior = sticky, control = few, start = fit)
  expect_gte(n_clusters(other), 2)
  ar <- bnp_hmm(data$y, obs = obs_ar(), prior = sticky, control = control)
  from_ar <- suppressWarnings(bnp_hmm(data$y, obs = obs_lds(), prior = sticky, control = few, start = ar))
  expect_gte(n_clusters(from_ar), 2)
  expect_bad(bnp_hmm(data$y, obs = obs_lds(), start = bnp_mixture(data$y, control = few)), "start", "fit of")
  expect_bad(bnp_hmm(four, obs = obs_lds(), start = fit), "start", "same columns")
})

test_that("concentrations are learned, finite priors keep k", {
  learned <- bnp_hmm(
    data$y, obs = obs_lds(), control = few, start = data$z,
    prior = prior_hdp_hmm(gamma_prior(1, 0.1), gamma_prior(1, 1), sticky = gamma_prior(1, 0.01))
  ) |> suppressWarnings()
  expect_true(all(is.finite(unlist(coef(learned)[c("alpha", "sticky")]))))
  finite <- suppressWarnings(bnp_hmm(data$y, obs = obs_lds(), prior = prior_hmm(2, sticky = 50), control = few,
    start = pmin(data$z, 2)))
  expect_equal(finite$state$k, 2)
})

long_test("idle modes of a finite prior are born by window, where rows do not show them", {
  noisy <- rotations(2, noise = 1, n = 400)
  finite <- function(...) suppressWarnings(bnp_hmm(
    noisy$y, obs = obs_lds(...), prior = prior_hmm(4, sticky = 50), control = few
  ))
  fit <- finite()
  expect_equal(fit$state$k, 4)
  expect_gte(n_clusters(fit), 3)
  expect_true(all(diff(elbo_trace(fit)$elbo) > -1e-8))
  still <- suppressWarnings(bnp_hmm(
    noisy$y, obs = obs_lds(), prior = prior_hmm(4, sticky = 50),
    control = bnp_control(seed = 1, max_laps = 12, verbose = FALSE, moves = bnp_moves(birth = FALSE))
  ))
  expect_gt(elbo(fit), elbo(still) + 10)
  # One sequence of several, the rest of whose statistics stay as they are.
  parts <- suppressWarnings(bnp_hmm(
    list(noisy$y[1:200, ], noisy$y[201:400, ]), obs = obs_lds(), prior = prior_hmm(4, sticky = 50), control = few
  ))
  expect_equal(parts$state$k, 4)
  again <- suppressWarnings(update(parts, start = parts, control = bnp_control(
    seed = 1, max_laps = 3, verbose = FALSE, moves = FALSE
  )))
  expect_gte(elbo(again), elbo(parts) - 1e-3)
})

test_that("short, empty and extreme data end in fits whose numbers are numbers, or in errors", {
  short <- bnp_control(seed = 1, max_laps = 4, verbose = FALSE)
  run <- function(x, ...) suppressWarnings(bnp_hmm(x, obs = obs_lds(...), prior = sticky, control = short))
  sound <- function(fit) {
    expect_true(is.finite(elbo(fit)))
    expect_true(all(is.finite(unlist(latent_path(fit)[-(1:2)]))))
    expect_false(anyNA(fitted(fit)))
    expect_true(all(is.finite(tidy(fit)$estimate)))
  }
  y <- data$y
  hard <- list(
    y[1, , drop = FALSE], y * 1e-8, replace(y, c(1, 241), NA), list(y[1:60, ], y[61:70, ] * NA), y[1:2, ], y * 1e8,
    list(y[1, , drop = FALSE], y[2:50, ], y[51, , drop = FALSE]), replace(y, c(240, 480), NA), replace(y, 1:90, NA),
    matrix(5, 30, 2), cbind(y[, 1], 0), cumsum(1.05^(1:100)) * c(1, -1)
  )
  for (x in some_of(hard, by = 10)) sound(run(x))
  if (long_tests()) {
    sound(run(y + 1e6, intercept = TRUE))
    sound(run(y, noise = 1e-8))
  }
  expect_bad(run(y * NA), "gaps", "no value at all")
  expect_bad(run(cbind(y[, 1], NA_real_)), "gaps", "no value at all")
  expect_bad(run(y, loadings = 2), "argument", "below the number of columns")
  expect_bad(run(four[1:2, ], loadings = 2), "argument", "below the number of rows")
  expect_bad(run(y, noise = 1e-30), "range", "noise")
  expect_bad(run(y, coef_mean = diag(3)), "argument", "coef_mean")
  expect_bad(run(y, df = 0.5), "df")
  expect_bad(run(y, start_var = diag(3)), "argument", "start_var")
})

test_that("new rows that do not fit are refused, and rows without data are forecast all the same", {
  other <- `colnames<-`(data$y, c("u", "z"))
  for (verb in list(latent_path, predict, bnp_filter)) {
    expect_bad(verb(fit, other), "newdata_columns", "newdata")
    expect_bad(verb(fit, data$y[, 1]), "newdata_columns", "newdata")
    expect_bad(verb(fit, data$y, id = 1:3), "id", "newdata")
    expect_bad(verb(fit, replace(data$y, 3, Inf)), "not_finite", "newdata")
  }
  for (bad in list(0, 1e9, 1.5)) expect_bad(predict(fit, data$y, n.ahead = bad), "argument", "n.ahead")
  # Nothing is known but the start and the probabilities of modes.
  nothing <- latent_path(fit, data$y[1:3, ] * NA)
  expect_lt(abs(nothing$mean.u[1] - fit$model$obs$start_mean[1]), nothing$sd.u[1])
  expect_true(all(is.finite(unlist(nothing[-(1:2)]))))
  expect_true(all(is.finite(as.matrix(predict(fit, data$y[1:3, ] * NA, n.ahead = 3)[c("mean.u", "sd.u")]))))
  far <- predict(fit, data$y, n.ahead = 2000)
  expect_true(all(is.finite(as.matrix(far[c("mean.u", "sd.u", "mean.v", "sd.v")]))))
})

test_that("what is not for hidden states is refused by name", {
  expect_bad(obs_lds(loadings = "all"), "argument", "loadings")
  expect_bad(obs_lds(loadings = 0), "argument", "loadings")
  expect_bad(obs_lds(noise = 0), "argument", "obs_ar")
  expect_bad(obs_lds(noise = 1, noise_scale = 1), "argument", "noise_scale")
  expect_bad(obs_lds(noise_scale = -1), "argument", "noise_scale")
  expect_bad(obs_lds(noise_df = 0), "argument", "noise_df")
  expect_bad(obs_lds(start_var = -1), "not_definite", "start_var")
  expect_bad(obs_lds(coef_mean = "a"), "argument", "coef_mean")
  run <- function(...) bnp_hmm(list(data$y, data$y), obs = obs_lds(), ...)
  for (argument in list(
    list(algorithm = "stochastic"), list(sparsity = 2), list(batches = 2), list(init = "bregman")
  )) {
    expect_bad(run(control = do.call(bnp_control, argument)), "argument", names(argument))
  }
  expect_bad(bnp_hmm(rbind(data$y, NA), obs = obs_lds(), na_action = "omit"), "argument", "na_action")
  expect_bad(bnp_hmm(data$y, obs = obs_lds(), parent = c(0, 1:239)), "trees", "obs_lds")
  expect_bad(bnp_mixture(data$y, obs = obs_lds()), "argument", "bnp_hmm")
  expect_bad(latent_path(bnp_hmm(beaver1["temp"], control = few)), "argument", "obs_lds")
  expect_bad(simulate(fit, initial = 1), "argument", "initial")
  refused <- list(
    quote(predict(fit, data$y, type = "impute")), quote(predict(fit, data$y, type = "response")),
    quote(impute(fit, data$y)), quote(bnp_sample(fit, data$y)), quote(cluster_tree(fit, data$y)),
    quote(update(fit, data$y)), quote(check_fit(fit, data$y))
  )
  for (call in refused) expect_bad(eval(call), "hidden", "obs_lds")
})

test_that("a simulated sequence begins with two rows of one mode, as the first row has none of its own", {
  walk <- withr::with_seed(1, stats::rnorm(30))
  control <- bnp_control(seed = 1, max_laps = 2)
  fit <- suppressWarnings(bnp_hmm(walk, obs = obs_lds(), prior = prior_hmm(3), control = control))
  drawn <- simulate(fit, seed = 1, lengths = rep(3L, 100L))[[1L]]
  states <- matrix(as.integer(drawn$.state), 3L)
  expect_identical(states[1L, ], states[2L, ])
  expect_true(any(states[2L, ] != states[3L, ]))
})
