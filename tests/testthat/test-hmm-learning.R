test_that("a long sequence in segments equals messages over the whole", {
  toy <- toy_sequences(1, lengths = c(9000, 5))
  model <- list(obs = diagonal_model(), prior = hmm_priors$plain)
  fit <- engine_fit(toy$data, model, engine_control(3, max_laps = 3L), NULL, NULL)
  state <- fit$state
  contract <- engine_contract(toy$data, model, matrix(1 / 3, 9005, 3))
  pi <- c(state$u, 1) * cumprod(c(1, 1 - state$u))
  rows <- lapply(0:3, function(row) {
    theta <- (if (row) 0.5 else 4) * pi + c(if (row) state$pair[row, ] else state$extra, 0)
    (digamma(theta) - digamma(sum(theta)))[1:3]
  })
  weights <- t(vapply(1:3, function(j) {
    # The state's own weights: those of responsibilities that put the state's statistic in one cluster.
    h <- 1e-6
    vapply(seq_len(ncol(state$obs)), function(i) {
      up <- down <- state$obs[j, ]
      up[i] <- up[i] + h * max(1, abs(up[i]))
      down[i] <- down[i] - h * max(1, abs(down[i]))
      (evidence_diagonal(up) - evidence_diagonal(down)) / (2 * h * max(1, abs(state$obs[j, i])))
    }, 1)
  }, numeric(ncol(state$obs))))
  log_e <- contract$features %*% t(weights)
  want <- engine_messages(rows[[1]], do.call(rbind, rows[2:4]), log_e, c(0L, 9000L, 9005L), FALSE)
  got <- engine_responsibilities(toy$data, model, state, 1L)
  expect_equal(got, want$resp, tolerance = 1e-4)
  expect_equal(engine_viterbi(toy$data, model, state, 1L), want$path)
})

test_that("any number of threads gives the same bits", {
  short <- toy_sequences(2, lengths = rep(c(30, 7), 200))
  long <- toy_sequences(3, lengths = c(33000, 50, 40))
  for (toy in list(short, long)) {
    model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
    fits <- lapply(c(1L, 2L, 3L), function(threads) {
      fit <- engine_fit(
        toy$data, model, engine_control(1, threads = threads, max_laps = 4L, moves = all_moves), NULL, NULL
      )
      fit$trace$seconds <- NULL
      fit
    })
    expect_identical(fits[[2]], fits[[1]])
    expect_identical(fits[[3]], fits[[1]])
  }
})

test_that("the order of sequences changes nothing but rounding", {
  toy <- toy_sequences(4, lengths = c(30, 45, 7, 60))
  pieces <- split(seq_len(toy$data$n), rep(1:4, c(30, 45, 7, 60)))[c(3, 1, 4, 2)]
  other <- toy$data
  other$x <- toy$data$x[unlist(pieces), ]
  other$starts <- as.integer(c(0, cumsum(lengths(pieces))))
  for (prior in hmm_priors) {
    model <- list(obs = diagonal_model(), prior = prior)
    start <- engine_fit(toy$data, model, engine_control(3, max_laps = 2L), NULL, NULL)$state
    control <- engine_control(3, max_laps = 5L)
    one <- engine_fit(toy$data, model, control, list(state = start), NULL)
    two <- engine_fit(other, model, control, list(state = start), NULL)
    expect_equal(two$elbo, one$elbo, tolerance = 1e-11)
    expect_equal(two$state, one$state, tolerance = 1e-6)
    expect_identical(two$labels, one$labels[unlist(pieces)])
  }
})

test_that("one memoized batch is full-data ascent, and many batches add up", {
  toy <- toy_sequences(5, lengths = rep(c(30, 45), 6))
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  full <- engine_fit(toy$data, model, engine_control(4, algorithm = "full"), NULL, NULL)
  one <- engine_fit(toy$data, model, engine_control(4), NULL, NULL)
  full$trace$seconds <- one$trace$seconds <- NULL
  expect_identical(one, full)
  many <- engine_fit(toy$data, model, engine_control(4, batches = 5L, max_laps = 60L), NULL, NULL)
  again <- engine_fit(toy$data, model, engine_control(4, max_laps = 1L), list(state = many$state), NULL)
  expect_equal(again$elbo, many$elbo, tolerance = 1e-8)
  expect_equal(again$state$obs, many$state$obs, tolerance = 1e-3)
})

test_that("stochastic learning ends with the exact objective", {
  toy <- toy_sequences(6, lengths = rep(40, 20))
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  fit <- engine_fit(toy$data, model, engine_control(3, algorithm = "stochastic", batches = 4L, max_laps = 15L,
    learning_rate = c(1, 0.51)), NULL, NULL)
  best <- engine_fit(toy$data, model, engine_control(3), NULL, NULL)
  again <- engine_fit(toy$data, model, engine_control(3, max_laps = 1L), list(state = fit$state), NULL)
  expect_gte(again$elbo, fit$elbo - 1e-8)
  expect_lt(abs(fit$elbo - best$elbo) / toy$data$n, 0.05)
})

test_that("moves find the states from one and from too many, and what they report is true", {
  toy <- toy_sequences(7, lengths = rep(c(60, 90), 6), k = 4)
  for (prior in hmm_priors[c("plain", "sticky")]) {
    model <- list(obs = diagonal_model(), prior = prior)
    for (k_init in c(1, 12)) {
      for (batches in c(1L, 4L)) {
        if (!is_tried(prior$sticky > 0, (k_init > 1) + (batches > 1L), by = 2L)) next
        control <- engine_control(k_init, batches = batches, moves = all_moves, max_laps = 60L)
        fit <- engine_fit(toy$data, model, control, NULL, NULL)
        expect_equal(fit$state$k, 4)
        expect_equal(adjusted_rand_index(fit$labels, toy$z), 1, tolerance = 0.02)
        expect_gte(min(diff(fit$trace$elbo)), -1e-8 * abs(fit$elbo))
        accepted <- if (k_init == 1) fit$trace$births else fit$trace$merges + fit$trace$deletes
        expect_gt(sum(accepted), 0)
        again <- engine_fit(toy$data, model, engine_control(1, max_laps = 1L), list(state = fit$state), NULL)
        expect_equal(again$elbo, fit$elbo, tolerance = 1e-7)
      }
    }
  }
})

test_that("a fixed number of states stays", {
  toy <- toy_sequences(8)
  model <- list(obs = diagonal_model(), prior = hmm_priors$finite)
  for (init in c("bregman", "random", "blocks")) {
    fit <- engine_fit(toy$data, model, engine_control(3, init = init, moves = all_moves), NULL, NULL)
    expect_equal(fit$state$k, 3)
  }
})

test_that("proposals that touch few sequences count the others once", {
  # Eight states, each sequence goes through two of them; densities far above and far below 1.
  z <- unlist(lapply(1:12, function(s) rep(c(0, 1, 0, 1), each = 15) + 2 * (s %% 4)))
  for (unit in c(1e-3, 1e3)) {
    x <- withr::with_seed(9, matrix(6 * z + rnorm(2 * length(z)), ncol = 2)) * unit
    data <- list(x = x, n = 720L, d = 2L, starts = as.integer(60 * 0:12))
    obs <- utils::modifyList(diagonal_model(), list(scale = rep(unit^2, 2), mean_strength = 1e-4))
    for (k_init in some_of(c(1, 20), by = 2, from = if (unit > 1) 2 else 1)) {
      fit <- engine_fit(data, list(obs = obs, prior = hmm_priors$sticky),
        engine_control(k_init, batches = 2L, moves = all_moves, max_laps = 60L), NULL, NULL)
      expect_equal(fit$state$k, 8)
      expect_gte(min(diff(fit$trace$elbo)), -1e-8 * abs(fit$elbo))
    }
  }
})

long_test("births from one state find four states of many columns that last for ten rows", {
  x <- withr::with_seed(1, {
    z <- sample(4, sum(changes <- c(TRUE, runif(802) > 0.9)), TRUE)[cumsum(changes)]
    matrix(rnorm(80, sd = 2), 4)[z, ] + matrix(rnorm(803 * 20), 803)
  })
  given <- obs_gaussian(learn = FALSE, rounding = 0)
  fits <- lapply(1:6, function(seed) {
    bnp_hmm(x, obs = given, control = bnp_control(seed = seed, restarts = 1, verbose = FALSE))
  })
  expect_gte(sum(vapply(fits, n_clusters, 1) == 4), 5)
})
