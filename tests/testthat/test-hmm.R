beavers <- rbind(cbind(beaver1["temp"], id = 1), cbind(beaver2["temp"], id = 2))
sticky <- prior_hdp_hmm(sticky = 20)
fit <- bnp_hmm(beavers, "id", prior = sticky, control = bnp_control(seed = 1))
ar <- bnp_hmm(beavers, "id", obs_ar(intercept = TRUE), sticky, bnp_control(seed = 1))

planted <- function(seed, lengths = c(150, 90, 200), k = 3, stay = 0.95) {
  withr::with_seed(seed, {
    z <- unlist(lapply(lengths, function(n) {
      z <- integer(n)
      z[1] <- sample(k, 1)
      for (t in seq_len(n - 1) + 1) z[t] <- if (runif(1) < stay) z[t - 1] else sample(setdiff(seq_len(k), z[t - 1]), 1)
      z
    }))
    list(z = z, id = rep(letters[seq_along(lengths)], lengths))
  })
}

test_that("every form of input gives the same fit", {
  control <- bnp_control(seed = 2)
  x <- as.matrix(beavers["temp"])
  forms <- list(
    bnp_hmm(beavers, "id", prior = sticky, control = control),
    bnp_hmm(x, beavers$id, prior = sticky, control = control),
    bnp_hmm(x, factor(beavers$id), prior = sticky, control = control),
    bnp_hmm(list(`1` = beaver1["temp"], `2` = beaver2["temp"]), prior = sticky, control = control),
    bnp_hmm(split(x, beavers$id), prior = sticky, control = control)
  )
  for (form in forms[-1]) {
    expect_identical(form$elbo, forms[[1]]$elbo)
    expect_identical(unname(fitted(form)), unname(fitted(forms[[1]])))
    expect_identical(segments(form), segments(forms[[1]]))
  }
  annual <- bnp_hmm(Nile, prior = prior_hdp_hmm(sticky = 10), control = bnp_control(seed = 1))
  runs <- segments(annual)
  expect_equal(runs$start_time, 1870 + runs$start)
  expect_equal(runs$end_time[nrow(runs)], 1970)
})

test_that("segments partition every sequence", {
  for (f in list(fit, ar)) {
    runs <- segments(f)
    expect_named(runs, c("id", "start", "end", "length", "state", "prob"))
    expect_equal(runs$length, runs$end - runs$start + 1)
    expect_equal(unlist(Map(rep, runs$state, runs$length)), unname(fitted(f)))
    expect_equal(tapply(runs$length, runs$id, sum), tapply(beavers$id, beavers$id, length))
    expect_true(all(runs$prob > 0 & runs$prob <= 1))
    same <- runs$id[-1] == runs$id[-nrow(runs)]
    expect_false(any(same & runs$state[-1] == runs$state[-nrow(runs)]))
    expect_equal(segments(f, beavers), runs, tolerance = 1e-10)
  }
})

test_that("predictions of the training data are the fit, and probabilities agree", {
  for (f in list(fit, ar)) {
    expect_identical(unname(predict(f, beavers)), unname(fitted(f)))
    prob <- predict(f, beavers, type = "prob")
    expect_equal(unname(rowSums(prob)), rep(1, 214))
    expect_equal(unname(predict(f, beavers, type = "marginal")), unname(max.col(prob, "first")))
    own <- predict(f, beavers, type = "responsibility")
    expect_equal(f$prob, unname(own[cbind(1:214, fitted(f))]), tolerance = 1e-12)
  }
  lagged <- c(1, 115)
  expect_equal(predict(ar, beavers, type = "prob")[lagged, ], predict(ar, beavers, type = "prob")[lagged + 1, ],
    ignore_attr = TRUE)
  expect_equal(which(is.na(predict(ar, beavers, type = "logdensity"))), lagged, ignore_attr = TRUE)
  expect_equal(heldout_loglik(ar, beavers), mean(predict(ar, beavers, type = "logdensity"), na.rm = TRUE))
  expect_length(predict(fit, beavers[0, ]), 0)
  expect_identical(unname(predict(fit, beavers[2:1])), unname(fitted(fit)))
})

test_that("log densities equal the sum over all paths", {
  x <- beaver2["temp"][1:5, , drop = FALSE]
  p <- transition_matrix(fit, new = TRUE)
  start <- attr(p, "start")
  k <- nrow(p)
  prior <- fit$model$prior
  weights <- c(fit$state$u, 1) * cumprod(c(1, 1 - fit$state$u))
  unseen <- (prior$alpha * weights + c(rep(0, k), prior$sticky)) / (prior$alpha + prior$sticky)
  p <- rbind(p, unseen)
  q <- posterior_params(fit)
  obs <- fit$model$obs
  density <- sapply(seq_len(k + 1), function(j) {
    new <- j > k
    strength <- if (new) obs$mean_strength else q$mean_strength[j]
    df <- if (new) obs$df else q$df[j]
    scale <- sqrt((if (new) obs$scale[1] else q$scale[, , j]) * (1 + 1 / strength) / df)
    stats::dt((x$temp - (if (new) obs$mean else q$mean[j, ])) / scale, df) / scale
  })
  paths <- as.matrix(expand.grid(rep(list(seq_len(k + 1)), 5)))
  value <- sum(apply(paths, 1, function(z) start[z[1]] * prod(p[cbind(z[-5], z[-1])]) * prod(density[cbind(1:5, z)])))
  expect_equal(sum(predict(fit, x, type = "logdensity")), log(value), tolerance = 1e-8)
})

test_that("transition matrices have rows that sum to 1, and durations follow from them", {
  p <- transition_matrix(fit)
  expect_equal(unname(rowSums(p)), rep(1, nrow(p)))
  expect_equal(sum(attr(p, "start")), 1)
  expect_equal(unname(rowSums(transition_matrix(fit, new = TRUE))), rep(1, nrow(p)))
  expect_equal(unname(state_durations(fit)), 1 / (1 - diag(p)), ignore_attr = TRUE)
  finite <- bnp_hmm(beavers, "id", prior = prior_hmm(3), control = bnp_control(seed = 1))
  expect_equal(dim(transition_matrix(finite)), c(3, 3))
  expect_equal(dim(transition_matrix(finite, new = TRUE)), c(3, 3))
  expect_false(is.unsorted(-cluster_sizes(finite)))
})

test_that("every observation model recovers planted states", {
  truth <- planted(1)
  z <- truth$z
  n <- length(z)
  data <- withr::with_seed(2, list(
    gaussian = cbind(rnorm(n, 6 * z), rnorm(n)),
    binary = matrix(rbinom(n * 8, 1, ifelse(outer(z, rep(1:3, length.out = 8), `==`), 0.95, 0.05)), n),
    counts = t(sapply(z, function(k) rmultinom(1, 40, ifelse(rep(1:3, length.out = 6) == k, 5, 1)))),
    spread = matrix(rnorm(n * 4, 0, c(0.1, 1, 10)[z]), n)
  ))
  fits <- list(
    bnp_hmm(data$gaussian, truth$id, obs_gaussian(), sticky, bnp_control(seed = 1)),
    bnp_hmm(data$gaussian, truth$id, obs_gaussian("diagonal"), sticky, bnp_control(seed = 1)),
    bnp_hmm(data$binary, truth$id, obs_bernoulli(), sticky, bnp_control(seed = 1)),
    bnp_hmm(data$counts, truth$id, obs_multinomial(), sticky, bnp_control(seed = 1)),
    bnp_hmm(Matrix::Matrix(data$counts, sparse = TRUE), truth$id, obs_multinomial(), sticky, bnp_control(seed = 1)),
    bnp_hmm(data$spread, truth$id, obs_gaussian("zero_mean"), sticky, bnp_control(seed = 1))
  )
  for (f in fits) {
    expect_equal(n_clusters(f), 3)
    expect_gt(adjusted_rand_index(fitted(f), z), 0.95)
  }
  expect_equal(fits[[4]]$elbo, fits[[5]]$elbo, tolerance = 1e-10)
})

test_that("an autoregression finds dynamics that no Gaussian sees, and never looks across sequences", {
  truth <- planted(3, lengths = c(300, 2, 280), k = 2, stay = 0.98)
  x <- withr::with_seed(4, {
    x <- matrix(rnorm(582), 582, 2)
    turn <- function(a) matrix(c(cos(a), sin(a), -sin(a), cos(a)), 2)
    step <- list(0.98 * turn(0.3), 0.98 * turn(-0.3))
    for (t in 2:582) {
      x[t, ] <- if (truth$id[t] != truth$id[t - 1]) c(3, 0) else step[[truth$z[t]]] %*% x[t - 1, ] + rnorm(2, sd = 0.1)
    }
    x
  })
  f <- bnp_hmm(x, truth$id, obs_ar(), prior_hdp_hmm(sticky = 50), bnp_control(seed = 1))
  expect_equal(n_clusters(f), 2)
  later <- duplicated(truth$id)
  expect_gt(adjusted_rand_index(fitted(f)[later], truth$z[later]), 0.9)
  expect_equal(sum(cluster_sizes(f)), 579)
  other <- x[c(which(truth$id == "c"), which(truth$id == "a"), which(truth$id == "b")), ]
  id <- rep(c("c", "a", "b"), c(280, 300, 2))
  expect_equal(heldout_loglik(f, other, id), heldout_loglik(f, x, truth$id), tolerance = 1e-12)
})

long_test("pseudo-residuals of simulated sequences are standard normal", {
  for (f in list(fit, ar, bnp_hmm(beavers, "id", obs_gaussian("diagonal"), sticky, bnp_control(seed = 1)))) {
    # Long stays in a state that one draw has set far from all others say nothing of residuals: on average they are.
    sim <- simulate(f, seed = 5, lengths = c(2000, 2000), new = FALSE)$sim_1
    z <- residuals(f, data.frame(temp = sim$temp), sim$.id)
    z <- z[is.finite(z)]
    expect_lt(abs(mean(z)), 0.15)
    expect_lt(abs(stats::sd(z) - 1), 0.15)
  }
  wide <- withr::with_seed(6, matrix(rnorm(900), 300) %*% chol(0.5 + 0.5 * diag(3)))
  for (obs in list(obs_gaussian(), obs_gaussian("zero_mean"), obs_ar(lag = 2L))) {
    f <- bnp_hmm(wide, obs = obs, control = bnp_control(seed = 1))
    z <- residuals(f, wide)
    expect_equal(dim(z), dim(wide))
    expect_equal(unname(apply(z, 2, stats::sd, na.rm = TRUE)), rep(1, 3), tolerance = 0.15)
  }
})

test_that("simulated sequences carry what the fit knows", {
  sims <- simulate(fit, 2, seed = 1)
  expect_named(sims, c("sim_1", "sim_2"))
  expect_named(sims$sim_1, c("temp", ".id", ".state"))
  expect_identical(sims, simulate(fit, 2, seed = 1))
  expect_equal(as.integer(table(sims$sim_1$.id)), c(114, 100))
  lag2 <- bnp_hmm(beavers, "id", obs_ar(lag = 2L), sticky, bnp_control(seed = 1))
  start <- matrix(c(36, 37), 2)
  expect_equal(simulate(lag2, seed = 1, lengths = 5, initial = start)$sim_1$temp[1:2], c(36, 37))
  expect_bad(simulate(lag2, lengths = 2), "argument", "lengths")
  expect_bad(simulate(lag2, initial = 1), "argument", "initial")
})

test_that("starts: labels, lists of labels, responsibilities, fits, and update", {
  labels <- c(beaver1$activ, beaver2$activ) + 1
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 5)
  one <- bnp_hmm(beavers, "id", prior = sticky, control = control, start = labels)
  two <- bnp_hmm(beavers, "id", prior = sticky, control = control, start = split(labels, beavers$id))
  three <- bnp_hmm(beavers, "id", prior = sticky, control = control, start = cbind(labels == 1, labels == 2) + 0)
  expect_identical(two$elbo, one$elbo)
  expect_identical(three$elbo, one$elbo)
  expect_equal(n_clusters(one), 2)
  more <- bnp_hmm(beavers, "id", prior = sticky, control = control, start = one)
  expect_gte(more$elbo, one$elbo - 1e-8)
  expect_identical(update(one, start = one)$elbo, more$elbo)
})

test_that("hidden Markov models are printed, tabulated and drawn", {
  for (f in list(fit, ar)) {
    expect_lte(length(capture.output(print(f))), 20)
    expect_lte(length(capture.output(print(summary(f)))), 20)
    expect_output(print(f), "states in use")
  }
  expect_named(tidy(fit), c("component", "size", "proportion", "duration", "mean.temp", "sd.temp"))
  augmented <- augment(fit, beavers)
  expect_equal(as.integer(augmented$.class), unname(fitted(fit)))
  expect_equal(glance(fit)$elbo, elbo(fit))
  expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("segments", "transitions", "elbo")) expect_invisible(plot(fit, type))
  expect_invisible(plot(fit, data = beavers))
  skip_if_not_installed("ggplot2")
  for (type in c("segments", "transitions", "elbo")) expect_s3_class(ggplot2::autoplot(fit, type), "ggplot")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(fit, data = beavers))
  expect_equal(nrow(built$data[[1]]), nrow(segments(fit)))
})

test_that("few states a row: the fit, and what is asked of it, as ever", {
  truth <- planted(6, lengths = c(200, 150, 250), k = 5)
  x <- withr::with_seed(6, cbind(4 * truth$z, 3 * (truth$z %% 2)) + rnorm(1200))
  all <- bnp_hmm(x, truth$id, prior = sticky, control = bnp_control(seed = 1))
  few <- bnp_hmm(x, truth$id, prior = sticky, control = bnp_control(seed = 1, sparsity = 3))
  expect_equal(n_clusters(few), 5)
  expect_gt(adjusted_rand_index(fitted(few), fitted(all)), 0.95)
  expect_lt(abs(few$elbo - all$elbo) / 600, 1e-2)
  expect_gte(min(diff(few$trace$elbo)), -1e-9 * abs(few$elbo))
  expect_identical(unname(predict(few, x, truth$id)), unname(fitted(few)))
  expect_equal(rowSums(predict(few, x, truth$id, type = "prob")), rep(1, 600), ignore_attr = TRUE)
  more <- update(few, start = few)
  expect_gte(more$elbo, few$elbo - 1e-6)
})

test_that("degenerate sequences fit", {
  one <- bnp_hmm(list(a = 1), control = bnp_control(seed = 1))
  expect_equal(n_clusters(one), 1)
  expect_true(is.finite(one$elbo))
  constant <- bnp_hmm(cbind(rnorm(30), 5), obs = obs_gaussian(), control = bnp_control(seed = 1))
  expect_true(is.finite(constant$elbo))
  frozen <- bnp_hmm(cbind(cumsum(rnorm(30)), 5), obs = obs_ar(), control = bnp_control(seed = 1))
  expect_true(all(is.finite(unlist(posterior_params(frozen)))))
  short <- bnp_hmm(as.list(rnorm(20)), control = bnp_control(seed = 1))
  expect_equal(sum(short$state$pair), 0)
  once <- bnp_hmm(c(rnorm(40), 1000, rnorm(40)), prior = sticky, control = bnp_control(seed = 1))
  expect_equal(segments(once)$length[2], 1)
  expect_true(all(is.finite(transition_matrix(once))))
})

test_that("bad input is refused", {
  x <- matrix(rnorm(20), 10)
  expect_bad(bnp_hmm(x, prior = prior_dp()), "argument", "prior")
  expect_bad(bnp_hmm(x, control = bnp_control(sparsity = 2, candidates = 3)), "argument", "candidates")
  expect_bad(bnp_hmm(list(x, x[0, ])), "no_rows")
  expect_bad(bnp_hmm(list(x, x[, 1])), "widths")
  expect_bad(bnp_hmm(list(x, x[1, , drop = FALSE]), obs = obs_ar()), "too_short", "lag")
  expect_bad(bnp_hmm(x, c(1, 1, 2, 2, 1, 1, 3, 3, 3, 3)), "id", "starts again")
  expect_bad(bnp_hmm(x, "who"), "id")
  expect_bad(bnp_hmm(replace(x, 3, NA)), "not_finite")
  expect_bad(bnp_hmm(x, start = 1:3), "start")
  expect_bad(bnp_hmm(x, k = 3), "argument", "k")
  expect_bad(predict(fit, type = "prob"), "newdata")
  expect_bad(predict(fit, data.frame(cold = 1)), "newdata_columns", "temp")
  expect_bad(residuals(fit), "newdata")
  expect_bad(residuals(bnp_hmm(1 * (x > 0), obs = obs_bernoulli(), control = bnp_control(seed = 1)), x), "argument")
  expect_bad(transition_matrix(bnp_mixture(x, control = bnp_control(seed = 1))), "argument")
})

test_that("probabilities of the path are found a few sequences at a time", {
  expect_equal(lengths(sequence_parts(rep(1000L, 60), 500, 5e6), use.names = FALSE), c(9, rep(10, 5), 1))
  expect_equal(sequence_parts(c(7L, 1L), 2, 3), list("4" = 1L, "5" = 2L))
  x <- lapply(1:6, function(i) matrix(sin(1:20 * i) + 3 * (1:20 > 10)))
  f <- bnp_hmm(x, control = bnp_control(seed = 1))
  data <- engine_data(do.call(rbind, x), seq(0, 120, by = 20))
  expect_gt(length(sequence_parts(diff(data$starts), f$state$k, 50)), 2)
  expect_identical(path_probabilities(f, data, most = 50), f$prob)
})

test_that("states that last for one row are found from one state", {
  x <- withr::with_seed(1, rnorm(200) + rep(c(0, 6), 100))
  control <- function(seed) bnp_control(seed = seed, verbose = FALSE)
  best <- bnp_hmm(x, start = rep(1:2, 100), control = control(1))
  for (seed in 1:3) {
    fit <- bnp_hmm(x, control = control(seed))
    expect_equal(n_clusters(fit), 2)
    expect_gte(elbo(fit), elbo(best) - 0.1) # states of equal size: the other order is 0.051 lower
  }
})
