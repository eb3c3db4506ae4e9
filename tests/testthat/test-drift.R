# Clusters that drift: golden figures, limits, what users see and what is refused. Laws of the engine's model are in the
# files that walk through all models (helper-models.R, helper-planted.R).

few <- bnp_control(seed = 1, verbose = FALSE)
paths <- withr::with_seed(3, planted_paths(180))
drifting <- function(x = paths$x, ..., obs = obs_gaussian(drift = 0.2), time = paths$time, control = few) {
  suppressWarnings(bnp_mixture(x, obs, time = time, ..., control = control))
}

golden <- list(
  family = "gaussian_full", mean = c(0.1, -0.2), mean_strength = 0.5, df = 4, scale = matrix(c(1, 0.2, 0.2, 2), 2),
  centre = c(0, 0), unit = c(1, 1), drift = 0.3, gap = rep(1, 4)
)
golden_rows <- cbind(
  c(2.29, -1.2, -0.69, -0.41, -0.97, -0.95, 0.75, -0.12, 0.15),
  c(2.19, 0.36, 2.72, 2.28, 0.32, 1.9, 0.47, -0.89, -0.31), c(1, 1, 2, 2, 2, 4, 4, 5, 5)
)
golden_resp <- c(0.50, 0.79, 0.84, 0.46, 0.80, 0.38, 0.76, 0.44, 0.90)
dp <- list(family = "dp", concentration = 1)
evidence_of <- function(resp, obs = golden, x = golden_rows) {
  engine_contract(engine_data(x), list(obs = obs, prior = dp), cbind(resp))$evidence
}

test_that("the evidence of a drifting cluster has the figures of an independent calculation", {
  expect_equal(evidence_of(golden_resp), -23.64923895, tolerance = 1e-9)
  expect_equal(evidence_of(rep(1, 9)), -34.46442139, tolerance = 1e-9)
  expect_equal(evidence_of(golden_resp, replace(golden, "drift", 0)), -23.41919747, tolerance = 1e-9)
})

test_that("without drift, and at a single time, it is the Gaussian that stays", {
  for (covariance in c("full", "diagonal")) {
    obs <- golden
    if (covariance == "diagonal") obs[c("family", "scale")] <- list("gaussian_diagonal", c(1, 2))
    stays <- obs[setdiff(names(obs), c("drift", "gap"))]
    plain <- engine_contract(
      engine_data(golden_rows[, 1:2]), list(obs = stays, prior = dp), cbind(golden_resp, 1)
    )
    still <- replace(obs, "drift", 0)
    expect_equal(evidence_of(golden_resp, still), plain$evidence[1], tolerance = 1e-12)
    once <- engine_contract(
      engine_data(cbind(golden_rows[, 1:2], 1)), list(obs = replace(obs, "gap", list(numeric())), prior = dp),
      cbind(golden_resp, 1)
    )
    expect_equal(once$evidence, plain$evidence, tolerance = 1e-12)
    expect_equal(once$log_predictive, plain$log_predictive, tolerance = 1e-12)
    expect_equal(once$features %*% t(once$weights), plain$features %*% t(plain$weights), tolerance = 1e-12)
  }
})

test_that("time may run backwards where nothing is known of the first mean", {
  back <- golden_rows
  back[, 3] <- 6 - back[, 3]
  uneven <- replace(golden, "gap", list(c(1, 0.4, 3, 0.2)))
  uneven$mean_strength <- 1e-9
  turned <- replace(uneven, "gap", list(rev(uneven$gap)))
  resp <- withr::with_seed(1, replicate(4, runif(9)))
  differences <- function(x, obs) diff(apply(resp, 2, evidence_of, obs = obs, x = x))
  expect_equal(differences(back, turned), differences(golden_rows, uneven), tolerance = 1e-6)
})

test_that("steps without end are fresh means at every time", {
  far <- replace(golden, "drift", 1e8)
  at <- engine_contract(engine_data(golden_rows), list(obs = far, prior = dp), cbind(rep(1, 9)))$posterior
  for (t in c(1, 2, 4, 5)) {
    own <- golden_rows[golden_rows[, 3] == t, 1:2]
    weight <- if (t == 1) golden$mean_strength else 0
    expect_equal(at$mean[1, , t], (colSums(own) + weight * golden$mean) / (nrow(own) + weight), tolerance = 1e-6)
  }
  expect_equal(at$mean[1, , 3], (at$mean[1, , 2] + at$mean[1, , 4]) / 2, tolerance = 1e-6)
})

test_that("the bound is below the evidence of all partitions, and its best value is known", {
  rows <- golden_rows[c(1, 2, 3, 4, 6, 8), ]
  exact <- exact_posterior(6, function(set) evidence_of(rep(1, length(set)), x = rows[set, , drop = FALSE]))
  expect_equal(exact$log_evidence, -23.27589506, tolerance = 1e-9)
  model <- list(obs = golden, prior = dp)
  found <- vapply(1:10, function(seed) {
    resp <- withr::with_seed(seed, matrix(rexp(18), 6))
    control <- engine_control(3, max_laps = 500L, tol = 1e-12)
    engine_fit(engine_data(rows), model, control, list(resp = resp / rowSums(resp)), NULL)$elbo
  }, 1)
  expect_equal(max(found), -26.13573484, tolerance = 1e-8)
})

# log p(x | z) + log p(z | groups) by hand, z summed over all 3^5 allocations of five rows to three clusters.
test_that("with weights by time the bound is below the evidence", {
  x <- golden_rows[c(1, 2, 3, 6, 8), 1:2]
  time <- golden_rows[c(1, 2, 3, 6, 8), 3]
  obs <- obs_gaussian(drift = 0.3, mean = c(0.1, -0.2), mean_strength = 0.5, df = 4, scale = golden$scale)
  fit <- drifting(x, prior = prior_lda(3, 0.5), obs = obs, time = time)
  slot <- match(time, sort(unique(time)))
  z <- as.matrix(expand.grid(rep(list(1:3), 5)))
  model <- replace(golden, "gap", list(rep(1, 3)))
  share <- 0.5 / 3
  joint <- apply(z, 1, function(z) {
    prior <- sum(vapply(split(z, slot), function(own) {
      n <- tabulate(own, 3)
      lgamma(0.5) - lgamma(0.5 + length(own)) + sum(lgamma(share + n) - lgamma(share))
    }, 1))
    prior + sum(vapply(unique(z), function(k) {
      evidence_of(rep(1, sum(z == k)), model, cbind(x, slot)[z == k, , drop = FALSE])
    }, 1))
  })
  evidence <- max(joint) + log(sum(exp(joint - max(joint))))
  expect_lt(elbo(fit), evidence)
  expect_gt(elbo(fit), evidence - 6)
})

priors <- list(
  hdp = NULL, lda = prior_lda(6), dp = prior_dp(), py = prior_py(), finite = prior_dirichlet(6),
  learned = prior_hdp(gamma_prior(), gamma_prior())
)
fits <- lapply(priors, function(prior) if (is.null(prior)) drifting() else drifting(prior = prior))

test_that("clusters that move are found, and are the same at all times", {
  for (name in names(fits)) {
    fit <- fits[[name]]
    expect_s3_class(fit, "bnp_mixture")
    expect_gt(adjusted_rand_index(fitted(fit), paths$cluster), 0.9, label = name)
    expect_equal(n_clusters(fit), 4, label = name)
    expect_gte(min(0, relative_gains(fit)), -1e-9)
  }
  expect_equal(fits$hdp$model$prior$family, "hdp")
  # Clusters that stay would each be found at half its place.
  stays <- suppressWarnings(bnp_mixture(paths$x, control = few))
  expect_gt(elbo(fits$dp), elbo(stays))
})

test_that("an audit of moves recomputes the bound, also with weights by time and in batches", {
  data <- with_times(as_mixture_data(paths$x, obs_gaussian()), list(time = paths$time), "equal", TRUE, "x", NULL)
  obs <- resolve_obs(obs_gaussian(drift = 0.2), data)
  for (prior in list(prior_hdp(), prior_lda(6))) {
    for (batches in c(1, 3)) {
      case <- list(data = as_engine_data(data), model = list(obs = obs, prior = prior))
      expect_audited(engine_run(case, batches = batches, seed = 3, audit = TRUE, prior = prior))
    }
  }
})

test_that("the order of rows and the origin of time change nothing, nor threads a bit", {
  order <- withr::with_seed(1, sample(180))
  for (name in c("hdp", "dp")) {
    fit <- fits[[name]]
    prior <- priors[[name]] %||% prior_hdp()
    other <- drifting(paths$x[order, ], prior = prior, time = paths$time[order])
    expect_equal(elbo(other), elbo(fit), tolerance = 1e-4)
    expect_equal(adjusted_rand_index(fitted(other), fitted(fit)[order]), 1)
    later <- drifting(prior = prior, time = paths$time * 7 - 1000)
    expect_identical(elbo(later), elbo(fit))
    two <- drifting(prior = prior, control = bnp_control(seed = 1, threads = 2, verbose = FALSE))
    expect_identical(elbo(two), elbo(fit))
  }
})

test_that("gaps between times count where asked for, dates by days", {
  uneven <- c(1, 2, 4, 8, 16, 32)[paths$time]
  equal <- drifting(time = uneven)
  expect_identical(elbo(equal), elbo(fits$hdp))
  expect_equal(drifting(time = uneven, gaps = "time")$model$obs$gap, c(1, 2, 4, 8, 16))
  days <- as.Date("2024-02-27") + uneven
  dated <- drifting(time = days, gaps = "time")
  expect_equal(dated$model$obs$gap, c(1, 2, 4, 8, 16))
  expect_s3_class(trajectories(dated)$time, "Date")
  expect_identical(predict(dated, paths$x[1:3, ], time = days[1:3]), predict(dated, paths$x, time = days)[1:3])
  expect_bad(predict(dated, paths$x[1:3, ], time = uneven[1:3]), "time", "dates")
  withr::local_pdf(NULL)
  expect_silent(plot(dated))
})

test_that("a learned step size is where the bound is highest", {
  for (prior in list(prior_hdp(), prior_dp())) {
    fit <- drifting(obs = obs_gaussian("diagonal", drift = "learn"), prior = prior)
    found <- fit$model$obs$drift
    expect_equal(glance(fit)$prior.drift, found)
    expect_output(print(fit), "Learned prior: drift")
    bounds <- vapply(found * c(0.8, 1, 1.25), function(drift) {
      elbo(drifting(obs = obs_gaussian("diagonal", drift = drift), prior = prior, start = fitted(fit)))
    }, 1)
    expect_equal(which.max(bounds), 2L)
    expect_equal(bounds[2], elbo(fit), tolerance = 1e-5)
  }
  # At one time there is nothing to learn.
  once <- drifting(obs = obs_gaussian(drift = "learn"), time = rep(1, 180), prior = prior_dp())
  stays <- suppressWarnings(bnp_mixture(paths$x, obs_gaussian(learn = FALSE), control = few))
  expect_equal(elbo(once), elbo(stays), tolerance = 1e-8)
})

test_that("one row a time, one row at all, and constant columns are fitted", {
  one_each <- drifting(paths$x[1:30, ], time = 30:1)
  expect_true(is.finite(elbo(one_each)))
  expect_equal(nrow(trajectories(one_each)), 30 * one_each$state$k)
  single <- drifting(paths$x[1, , drop = FALSE], time = 3)
  expect_equal(n_clusters(single), 1)
  flat <- drifting(cbind(paths$x[, 1], 7))
  expect_true(all(is.finite(unlist(trajectories(flat)))))
  far <- drifting(paths$x * 1e100 + 1e101)
  expect_equal(adjusted_rand_index(fitted(far), fitted(fits$hdp)), 1)
})

test_that("predictions know the time: those of the training data are the fit's", {
  for (name in names(fits)) {
    fit <- fits[[name]]
    prob <- predict(fit, paths$x, type = "prob", time = paths$time)
    expect_equal(unname(rowSums(prob)), rep(1, 180))
    expect_identical(max.col(prob, "first"), unname(fitted(fit)), label = name)
    expect_identical(predict(fit, paths$x, type = "prob"), prob) # known to be the training data
    # Expected counts at each time are the sizes.
    expect_equal(unname(rowsum(prob, paths$time)), unname(t(posterior_params(fit)$size)), tolerance = 1e-3)
    expect_true(is.finite(heldout_loglik(fit, paths$x[1:9, ], time = paths$time[1:9])))
    augmented <- augment(fit, paths$x, time = paths$time)
    expect_identical(as.integer(augmented$.class), unname(fitted(fit)))
  }
  kept <- drifting(control = bnp_control(seed = 1, keep = "probabilities"))
  expect_equal(predict(kept, type = "prob"), predict(kept, paths$x, type = "prob"), tolerance = 1e-12)
})

# By hand at one time: weights of the time, Student-t densities around the mean there.
test_that("log densities are those of the mixture at the time of each row", {
  for (name in c("hdp", "lda", "dp")) {
    fit <- fits[[name]]
    q <- posterior_params(fit)
    new <- rbind(c(0, 1), c(5, -2), c(30, 0))
    slot <- c(2L, 6L, 3L)
    k <- fit$state$k
    weight <- if (name == "dp") {
      matrix(c(coef(fit)$weights, 1 - sum(coef(fit)$weights)), 3, k + 1, byrow = TRUE)
    } else {
      each <- cbind(t(q$size), 0) + rep(document_weight(fit), each = 6)
      (each / rowSums(each))[slot, ]
    }
    prior <- fit$model$obs
    density <- vapply(1:3, function(i) {
      of <- function(mean, strength, df, scale) {
        exp(log_t(rbind(new[i, ] - mean), df - 1, scale * (1 + 1 / strength) / (df - 1)))
      }
      passed <- 1 / prior$mean_strength + prior$drift * sum(prior$gap[seq_len(slot[i] - 1)])
      clusters <- vapply(seq_len(k), function(j) {
        of(q$mean[j, , slot[i]], q$mean_strength[j, slot[i]], q$df[j], q$scale[, , j])
      }, 1)
      log(sum(weight[i, ] * c(clusters, of(prior$mean, 1 / passed, prior$df, prior$scale))))
    }, 1)
    expect_equal(unname(predict(fit, new, type = "logdensity", time = slot)), density, tolerance = 1e-9, label = name)
  }
})

long_test("simulated rows have the law of the fit at their times", {
  for (obs in list(obs_gaussian(drift = 0.2), obs_gaussian("diagonal", drift = 0.2))) {
    fit <- drifting(obs = obs)
    slot <- rep(c(1, 4), each = 2000)
    sets <- simulate(fit, 40, seed = 1, time = slot)
    expect_equal(sets$sim_1$.time, slot)
    all <- do.call(rbind, sets)
    path <- trajectories(fit)
    for (t in c(1, 4)) {
      own <- all[all$.time == t & all$.class == 1, ]
      known <- path[path$cluster == 1 & path$time == t, ]
      expect_equal(nrow(own) / 80000, weights_with_new(fit)[t, 1], tolerance = 0.02)
      expect_lt(abs(mean(own[[1]]) - known$mean.x1), 4 * known$se.x1 / sqrt(40))
      expect_equal(stats::sd(own[[1]]), sqrt(known$sd.x1^2 + known$se.x1^2), tolerance = 0.05)
    }
  }
})

# The joint law of the means at all times, in the engine and in R.
test_that("drawn paths have the covariance between times of the posterior", {
  x <- golden_rows
  drawn <- engine_parameter_draws(engine_data(x), list(obs = golden, prior = dp), golden_resp, 20000, 1)$draws
  phi <- engine_contract(engine_data(x), list(obs = golden, prior = dp), cbind(golden_resp))$features
  for (pair in list(c(1, 3), c(3, 6), c(6, 9), c(1, 9))) {
    both <- evidence_of(golden_resp + seq_len(9) %in% pair) - evidence_of(golden_resp)
    ratio <- exp(drawn %*% colSums(phi[pair, ]) - both)
    expect_lt(abs(mean(ratio) - 1), 4 * stats::sd(ratio) / sqrt(20000))
  }
  count <- vapply(1:5, function(t) sum(golden_resp[x[, 3] == t]), 1)
  prior <- 1 / golden$mean_strength + golden$drift * outer(0:4, 0:4, pmin)
  joint <- solve(solve(prior) + diag(count))
  q <- list(mean = matrix(0, 2, 5), mean_strength = 1 / diag(joint))
  unit <- function(m) matrix(stats::rnorm(2 * m), 2)
  n <- if (long_tests()) 20000 else 8000
  path <- withr::with_seed(1, replicate(n, draw_means_over_time(q, rep(golden$drift, 4), unit)[1, ]))
  expect_equal(stats::cov(t(path)), joint, tolerance = 0.03)
})

test_that("trajectories say where and how large clusters were, and when they were alive", {
  time <- rep(1:8, each = 24)
  there <- list(1:8, 1:5, 4:8)
  cluster <- unlist(lapply(1:8, function(t) rep_len(which(vapply(there, function(s) t %in% s, NA)), 24)))
  x <- withr::with_seed(2, cbind(c(-8, 0, 8)[cluster] + time / 3, 0) + matrix(rnorm(384) / 2, 192))
  colnames(x) <- c("east", "north")
  fit <- drifting(x, time = time)
  path <- trajectories(fit)
  expect_named(path, c(
    "cluster", "time", "size", "mean.east", "se.east", "sd.east", "mean.north", "se.north", "sd.north", "alive"
  ))
  expect_equal(rowsum(path$size, path$time)[, 1], rep(24, 8), ignore_attr = TRUE)
  for (k in 1:3) {
    own <- path[path$cluster == as.integer(names(which.max(table(fitted(fit)[cluster == k])))), ]
    expect_equal(own$time[own$alive], there[[k]])
    expect_lt(max(abs(own$mean.east[own$alive] - c(-8, 0, 8)[k] - there[[k]] / 3)), 0.5)
    expect_equal(own$mean.east, unname(coef(fit)$mean[own$cluster[1], "east", ]))
    if (k == 2) {
      dead <- own[own$time > 5, ]
      expect_true(all(diff(dead$se.east) > 0))
      expect_equal(dead$mean.east, rep(dead$mean.east[1], 3))
    }
  }
  ends <- confint(fit, "mean")
  expect_equal(nrow(ends), 3 * 2 * 8)
  at <- path[path$cluster == 1 & path$time == 2, ]
  expect_lt(ends["mean[1,east,2]", 1], at$mean.east)
  expect_equal(unname(diff(ends["mean[1,east,2]", ])), 2 * 1.98 * at$se.east, tolerance = 0.03)
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_silent(plot(fit, "trajectories", data = x))
  expect_silent(plot(fit, "elbo"))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_s3_class(ggplot2::autoplot(fit, data = x), "ggplot")
    expect_silent(print(ggplot2::autoplot(fit)))
  }
})

test_that("the column of times is found by name, in formulas too", {
  frame <- data.frame(a = paths$x[, 1], week = paths$time, b = paths$x[, 2])
  fit <- drifting(frame, time = "week")
  expect_equal(fit$input$column_names, c("a", "b"))
  expect_equal(elbo(fit), elbo(fits$hdp))
  expect_identical(predict(fit, frame[9:1, ]), fitted(fit)[9:1], ignore_attr = TRUE)
  expect_identical(names(simulate(fit, seed = 1)$sim_1), c("a", "b", ".class", ".time"))
  by_formula <- suppressWarnings(
    bnp_mixture(~ a + b, frame, obs_gaussian(drift = 0.2), time = ~week, control = few)
  )
  expect_equal(elbo(by_formula), elbo(fit))
  expect_identical(predict(by_formula, frame[9:1, ]), fitted(fit)[9:1], ignore_attr = TRUE)
  expect_equal(elbo(drifting(as.matrix(frame), time = "week")), elbo(fit))
  again <- suppressWarnings(stats::update(by_formula, obs = obs_gaussian(drift = 1)))
  expect_equal(again$model$obs$drift, 1)
  expect_identical(again$input$time_name, "week")
})

test_that("rows with missing values can be left out, weights and labels go with constant weights", {
  holes <- replace(paths$x, cbind(c(3, 77), 1:2), NA)
  expect_bad(drifting(holes), "not_finite")
  expect_bad(drifting(holes, na_action = "model"), "gaps", "drift")
  for (prior in list(prior_hdp(), prior_dp())) {
    left <- suppressMessages(drifting(holes, na_action = "omit", prior = prior))
    expect_identical(unname(which(is.na(fitted(left)))), c(3L, 77L))
    without <- drifting(paths$x[-c(3, 77), ], time = paths$time[-c(3, 77)], prior = prior)
    expect_identical(elbo(left), elbo(without))
    expect_identical(unname(fitted(left)[-c(3, 77)]), unname(fitted(without)))
  }
  unknown <- suppressMessages(drifting(holes, na_action = "omit", time = replace(paths$time, 3, NA)))
  expect_true(is.finite(elbo(unknown)))
  twice <- rep(1:2, 90)
  weighted <- drifting(prior = prior_dp(), weights = twice)
  rows <- rep(1:180, twice)
  expect_equal(elbo(weighted), elbo(drifting(
    paths$x[rows, ], prior = prior_dp(), time = paths$time[rows], start = fitted(weighted)[rows]
  )), tolerance = 1e-6)
  labels <- replace(letters[paths$cluster], -(1:20), NA)
  labelled <- drifting(prior = prior_dp(), labels = labels)
  expect_gt(mean(predict(labelled, type = "label") == letters[paths$cluster]), 0.95)
  expect_gt(mean(predict(labelled, paths$x, type = "label", time = paths$time) == letters[paths$cluster]), 0.95)
  for (prior in list(prior_hdp(), prior_lda(6))) {
    expect_bad(drifting(prior = prior, weights = twice), "argument", "weights")
    expect_bad(drifting(prior = prior, labels = labels), "argument", "labels")
  }
})

test_that("fits start from labels, probabilities and fits of the same times", {
  truth <- diag(4)[paths$cluster, ]
  for (prior in list(prior_hdp(), prior_lda(6), prior_dp())) {
    fit <- drifting(prior = prior)
    on <- drifting(prior = prior, start = fit)
    expect_gte(elbo(on), elbo(fit) - 1e-6)
    expect_equal(adjusted_rand_index(fitted(drifting(prior = prior, start = truth)), fitted(fit)), 1)
    expect_equal(adjusted_rand_index(fitted(drifting(prior = prior, start = paths$cluster)), fitted(fit)), 1)
    expect_bad(drifting(prior = prior, start = fit, time = paths$time + 0.5), "start", "same times")
  }
  stays <- suppressWarnings(bnp_mixture(paths$x, control = few))
  expect_bad(drifting(prior = prior_dp(), start = stays), "start", "time")
  expect_bad(suppressWarnings(bnp_mixture(paths$x, start = fits$dp, control = few)), "start", "time")
})

test_that("restarts, batches, stochastic learning, candidates and checkpoints go with drift", {
  for (prior in list(prior_hdp(), prior_dp())) {
    for (control in some_of(by = 2, from = if (is.null(prior$gamma)) 2 else 1, list(
      bnp_control(seed = 1, restarts = 2), bnp_control(seed = 1, batches = 3), bnp_control("full", seed = 1),
      bnp_control("stochastic", seed = 1, batches = 3, max_laps = 10, k_init = 6), bnp_control(seed = 1, k_init = 8),
      bnp_control(seed = 1, k_init = 8, moves = FALSE, sparsity = 3)
    ))) {
      fit <- suppressMessages(drifting(prior = prior, control = control))
      expect_true(is.finite(elbo(fit)))
      expect_identical(dim(trajectories(fit)), c(6L * fit$state$k, 10L))
    }
    expect_bad(drifting(prior = prior, control = bnp_control("stochastic"), obs = obs_gaussian(drift = "learn")),
      "argument", "drift"
    )
    expect_bad(drifting(prior = prior, control = bnp_control(batches = 200)), "argument", "batches")
    file <- withr::local_tempfile()
    frame <- data.frame(paths$x, week = paths$time)
    fit <- drifting(frame, time = "week", prior = prior, control = bnp_control(seed = 1, checkpoint = file))
    expect_identical(elbo(bnp_resume(file, frame)), elbo(fit))
    expect_bad(bnp_resume(file, transform(frame, week = rev(week))), "checkpoint", "time")
  }
})

test_that("what drift and time do not go with is refused by name", {
  x <- paths$x
  t <- paths$time
  for (drift in list(0, -1, NA_real_, Inf, c(1, 2), "much", TRUE, list(1), 1e9)) {
    expect_error(obs_gaussian(drift = drift), "drift", class = "bnpvi_error")
  }
  for (covariance in c("zero_mean", "spherical", "tied", "tied_diagonal", "tied_spherical")) {
    expect_bad(obs_gaussian(covariance, drift = 1), "argument", "drift")
  }
  expect_bad(obs_gaussian(drift = 1, learn = TRUE), "argument", "learn")
  drift <- obs_gaussian(drift = 1)
  expect_bad(bnp_mixture(x, drift), "time", "needed")
  expect_bad(bnp_mixture(x, time = t), "time", "drift")
  expect_bad(bnp_mixture(x, obs_poisson(), time = t), "time", "drift")
  expect_bad(bnp_mixture(x, drift, time = 1:200), "time", "200")
  expect_bad(bnp_mixture(cbind(x[, 1], NA), drift, time = t), "not_finite", "x")
  expect_bad(bnp_mixture(cbind(x[, 1], NA), drift, time = t, na_action = "omit"), "no_rows", "x")
  expect_bad(bnp_mixture(x, drift, time = "week"), "time", "week")
  expect_bad(bnp_mixture(x, drift, time = ~ a + b), "time", "one column")
  expect_bad(bnp_mixture(x, drift, time = replace(t, c(4, 9), NA)), "time", "4, 9")
  expect_bad(bnp_mixture(x, drift, time = replace(t, 4, Inf)), "time", "4")
  expect_bad(bnp_mixture(x, drift, time = letters[t]), "time", "numbers or dates")
  expect_bad(bnp_mixture(x, drift, time = factor(t)), "time", "numbers or dates")
  expect_bad(bnp_mixture(x, drift, time = list(t)), "time")
  expect_bad(bnp_mixture(x, drift, time = t, gaps = "none"), "argument", "gaps")
  expect_bad(bnp_mixture(x, gaps = "time"), "time", "gaps")
  expect_bad(bnp_mixture(x, drift, time = t, id = t), "id", "drift")
  expect_bad(bnp_mixture(x, drift, time = t, control = bnp_control("truncation_free")), "argument", "runcation")
  expect_bad(bnp_mixture(x, drift, prior = prior_hmm(3), time = t), "argument", "prior")
  expect_bad(bnp_mixture(x, prior = prior_hdp()), "argument", "bnp_topics")
  stream <- bnp_stream(function(i) if (i == 1) x)
  expect_error(bnp_mixture(stream, drift), class = "bnpvi_error_stream")
  expect_match(conditionMessage(tryCatch(bnp_mixture(stream, drift), error = identity)$parent), "drift")
  expect_bad(bnp_topics(x, drift, id = t), "argument", "drift")
  expect_bad(bnp_hmm(x, obs = drift), "argument", "drift")
  expect_bad(bregman_kmeans(x, 3, drift), "argument", "drift")
  expect_bad(obs_product(drift, obs_poisson(columns = "n")), "argument", "drift")
  for (fit in fits[c("hdp", "dp")]) {
    expect_bad(update(fit, x[, 1], time = t + 6), "newdata_columns", "newdata")
    expect_bad(update(fit, cbind(x, 1), time = t + 6), "newdata_columns", "newdata")
    expect_bad(update(fit, x * NA, time = t + 6), "not_finite", "newdata")
    expect_bad(update(fit, x[0, ], time = numeric()), "no_rows", "newdata")
    expect_bad(update(fit, x, time = t + 6, id = t), "id", "id")
    expect_bad(predict(fit, x[1:5, ]), "time", "needed")
    expect_bad(predict(fit, x[1:5, ], time = 1:4), "time")
    expect_bad(predict(fit, x[1:5, ], time = c(1, 2, 99, 100, 2.5)), "time", "2.5, 99, 100|99, 100, 2.5")
    expect_bad(predict(fit, x[1:2, ], time = c(1, NA)), "time", "2")
    expect_bad(predict(fit, time = t), "time", "newdata")
    expect_length(predict(fit, x[0, ], time = numeric()), 0)
    expect_bad(simulate(fit, time = 77), "time", "77")
    expect_bad(bnp_sample(fit, x), "drift", "sampl")
    expect_bad(check_fit(fit, x), "drift", "sampl")
    expect_bad(cluster_tree(fit, x), "drift", "trees")
    expect_bad(cut_fit(fit, x, 2), "drift", "trees")
    expect_bad(impute(fit, x), "drift", "imput")
    expect_bad(predict(fit, x, type = "impute"), "drift", "imput")
    expect_bad(predict(fit, x, type = "response"), "argument")
    expect_bad(cluster_divergence(fit), "argument")
    expect_bad(plot(fit, "density"), "argument")
    expect_bad(plot(fit, "profile"), "argument")
  }
  expect_bad(heldout_loglik(fits$hdp, x, "plugin"), "argument", "weights by time")
  stays <- suppressWarnings(bnp_mixture(x, control = few))
  expect_bad(predict(stays, x, time = t), "time", "drift")
  expect_bad(simulate(stays, time = t), "argument", "time")
  expect_bad(trajectories(stays), "time", "drift")
  expect_bad(plot(stays, "trajectories"), "time", "drift")
  expect_bad(trajectories(1), "argument")
})

test_that("moving clusters come, die and keep their identity", {
  skip_if_not(longest_tests(), "long")
  ends <- vapply(1:10, function(seed) {
    many <- withr::with_seed(seed, planted_paths(600))
    fit <- drifting(many$x, time = many$time, control = bnp_control(seed = seed))
    adjusted_rand_index(fitted(fit), many$cluster)
  }, 1)
  expect_gt(stats::median(ends), 0.95)
})

test_that("a fit goes on to later times, with the bound of all rows", {
  early <- paths$time <= 4
  for (prior in some_of(list(prior_hdp(), prior_lda(6), prior_dp(), prior_dirichlet(6)), by = 3)) {
    fit <- drifting(paths$x[early, ], prior = prior, time = paths$time[early])
    on <- suppressWarnings(update(fit, paths$x[!early, ], time = paths$time[!early]))
    order <- c(which(early), which(!early))
    expect_equal(nobs(on), 180)
    expect_equal(on$model$obs$times, 1:6)
    expect_gt(adjusted_rand_index(fitted(on), paths$cluster[order]), 0.9)
    expect_identical(unname(fitted(on)[seq_len(sum(early))]), match(cluster_ids(fit)[fitted(fit)], cluster_ids(on)))
    # With everybody where the updated fit has them, the bound is no lower.
    obs <- replace(on$model$obs, c("times", "gap"), NULL)
    all <- drifting(
      paths$x[order, ], prior = prior, time = paths$time[order], obs = do.call(obs_gaussian, c(
        list(drift = 0.2), obs[c("mean", "mean_strength", "df", "scale")]
      )), start = fitted(on), control = bnp_control(seed = 1, moves = FALSE)
    )
    expect_equal(elbo(all), elbo(on), tolerance = 5e-3)
    expect_gte(elbo(all), elbo(on) - 1e-3 * abs(elbo(on)))
    expect_equal(unname(colSums(posterior_params(on)$size)), as.vector(table(paths$time)), tolerance = 1e-8)
    expect_identical(
      unname(predict(on, paths$x[!early, ], time = paths$time[!early])), unname(fitted(on)[-seq_len(sum(early))])
    )
    again <- suppressWarnings(update(
      fit, paths$x[!early, ], time = paths$time[!early], olddata = paths$x[early, ]
    ))
    expect_gte(elbo(again), elbo(on) - 1e-3 * abs(elbo(on)))
    expect_output(print(on), "at 6 times")
    expect_bad(update(fit, paths$x[!early, ]), "time", "needed")
    expect_bad(update(fit, paths$x[!early, ], time = paths$time[!early] - 4.5), "time", "0.5")
    expect_bad(update(fit, paths$x[!early, ], time = rep(as.Date("2024-01-01"), sum(!early))), "time", "kind")
    if (has_weights_by_time(fit)) {
      expect_bad(update(fit, paths$x[1:3, ], time = 4:6), "time", "later than those of the fit")
      expect_bad(update(fit, paths$x[1:3, ], time = 5:7, weights = 1:3), "argument", "weights")
    } else {
      expect_equal(nobs(suppressWarnings(update(fit, paths$x[1:3, ], time = 4:6, weights = 1:3))), sum(early) + 6)
    }
  }
  frame <- data.frame(paths$x, week = paths$time)
  dated <- drifting(frame[early, ], time = "week", gaps = "time")
  later <- suppressWarnings(update(dated, transform(frame[!early, ], week = 4 + 3 * (week - 4))))
  expect_equal(later$model$obs$gap, c(1, 1, 1, 3, 3))
  learns <- drifting(frame[early, ], time = "week", obs = obs_gaussian(drift = "learn"))
  expect_false(identical(suppressWarnings(update(learns, frame[!early, ]))$model$obs$drift, learns$model$obs$drift))
  stays <- suppressWarnings(bnp_mixture(paths$x[early, ], control = few))
  expect_bad(update(stays, paths$x[!early, ], time = paths$time[!early]), "time", "drift")
})

test_that("a learned step size does not take over the prior of the fit that it starts from", {
  begin <- drifting(obs = obs_gaussian("diagonal", drift = "learn"))
  anew <- drifting(10 * paths$x, obs = obs_gaussian("diagonal", drift = "learn"))
  from <- drifting(10 * paths$x, obs = obs_gaussian("diagonal", drift = "learn"), start = begin)
  parameters <- c("mean", "mean_strength", "df", "scale")
  expect_identical(unclass(from$model$obs)[parameters], unclass(anew$model$obs)[parameters])
  expect_null(from$model$obs$data_variance)
})

test_that("where clusters have weights by time, what is said of a new row does not depend on the rows beside it", {
  weeks <- rep(1:4, each = 20)
  fit <- suppressWarnings(bnp_mixture(
    faithful[1:80, ], obs_gaussian(drift = 0.5), time = weeks, control = bnp_control(seed = 1, max_laps = 6)
  ))
  new <- faithful[101:106, ]
  at <- c(1, 2, 2, 3, 4, 4)
  for (type in c("responsibility", "prob")) {
    together <- predict(fit, new, time = at, type = type)
    alone <- do.call(rbind, lapply(1:6, function(i) predict(fit, new[i, ], time = at[i], type = type)))
    expect_gt(n_clusters(fit), 1)
    expect_equal(together, alone, tolerance = 1e-12)
  }
})
