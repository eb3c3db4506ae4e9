# Fits with L-sparse chains: bookkeeping, moves, threads, what they find.

expect_proved <- function(fit, label) {
  for (what in c("elbo", "statistics", "entropy", "sums")) {
    expect_lte(fit$audit[[what]], 1e-8, label = paste(label, what))
  }
  expect_gte(fit$audit[["smallest_gain"]], -1e-9, label = label)
  expect_gte(min(diff(fit$trace$elbo)), -1e-9 * abs(fit$elbo), label = label)
}

long_test("every state that a sparse fit meets, proposals included, is proved from its explicit q(z)", {
  found <- c(births = 0, merges = 0, deletes = 0)
  for (case in some_of(planted_sequences(), by = 12)) {
    for (prior in hmm_priors[c("sticky", "finite")]) {
      for (width in some_of(1:3, by = 2)) {
        for (k_init in if (prior$family == "hmm") 6 else c(1, 9)) {
          if (prior$family == "hmm") prior$k <- 6L
          case$model$prior <- prior
          control <- engine_control(
            k_init,
            seed = 2, batches = 3L, moves = all_moves, max_laps = 25L, audit = TRUE, sparsity = width
          )
          fit <- engine_fit(case$data, case$model, control, NULL, NULL)
          expect_gt(fit$audit[["checks"]], 3)
          expect_proved(fit, paste(case$name, prior$family, k_init, width))
          expect_lte(max(rowSums(fit$responsibilities > 0)), width)
          for (kind in names(found)) found[kind] <- found[kind] + sum(fit$trace[[kind]])
        }
      }
    }
  }
  few <- if (long_tests()) 10 else 2
  expect_gt(found[["births"]], few)
  expect_gt(found[["merges"]], few)
  deletes <- utils::modifyList(no_moves, list(delete = TRUE))
  toy <- toy_sequences(7, lengths = rep(c(60, 90), 6), k = 4)
  for (width in some_of(1:2, by = 2)) {
    fit <- engine_fit(
      toy$data, list(obs = diagonal_model(), prior = hmm_priors$sticky),
      engine_control(12, batches = 2L, moves = deletes, max_laps = 40L, audit = TRUE, sparsity = width), NULL, NULL
    )
    expect_gt(sum(fit$trace$deletes), 0)
    expect_proved(fit, "deletes")
  }
})

test_that("proposals that touch few sequences take sparse ones out as they were put in", {
  z <- unlist(lapply(1:12, function(s) rep(c(0, 1, 0, 1), each = 15) + 2 * (s %% 4)))
  x <- withr::with_seed(9, matrix(3 * z + rnorm(2 * length(z)), ncol = 2))
  data <- list(x = x, n = 720L, d = 2L, starts = as.integer(60 * 0:12))
  for (width in some_of(1:3, by = 5, from = 2)) {
    for (k_init in some_of(c(1, 20), by = 2, from = 2)) {
      fit <- engine_fit(
        data, list(obs = diagonal_model(), prior = hmm_priors$sticky),
        engine_control(
          k_init,
          batches = 3L, moves = all_moves, max_laps = 60L, sparsity = width, audit = TRUE
        ), NULL, NULL
      )
      expect_proved(fit, paste(width, k_init))
      expect_equal(fit$state$k, 8)
    }
  }
})

# Scales of t rows depend on which rows the weights were made for: what the last visit found is subtracted from a
# proposal only if it is computed again with the weights of that visit.
test_that("proposals take sparse sequences of t rows out as they were put in", {
  skip_without_testing_entries()
  z <- unlist(lapply(1:12, function(s) rep(c(0, 1), each = 15) + 2 * (s %% 4)))
  x <- withr::with_seed(9, matrix(3 * z + rt(2 * length(z), 4), ncol = 2))
  case <- planted_case("student_diagonal", obs_student("diagonal"), x, rep(1, nrow(x)))
  case$data$starts <- as.integer(30 * 0:12)
  case$model$prior <- hmm_priors$sticky
  for (seed in some_of(1:3, by = 2)) {
    control <- engine_control(
      12,
      seed = seed, batches = 3L, moves = all_moves, max_laps = 25L, sparsity = 2L, audit = TRUE
    )
    fit <- engine_fit(case$data, case$model, control, NULL, NULL)
    expect_equal(fit$state$k, 8)
    expect_proved(fit, paste("seed", seed))
  }
})

test_that("as many states as the model has are the dense fit, bit for bit", {
  withr::local_seed(8)
  for (chain in random_chains(3, c(4, 2), "plain")) {
    s <- visit(chain, 5)
    expect_identical(s$sets[chain$modelled, ], matrix(1:3, 6, 3, byrow = TRUE))
    expect_equal(log_z(chain, s), log_z_of_paths(chain, s$sets[chain$modelled, ]), tolerance = 1e-10)
  }
  toy <- toy_sequences(7, lengths = rep(c(60, 90), 6), k = 4)
  for (prior in hmm_priors) {
    model <- list(obs = diagonal_model(), prior = prior)
    run <- function(sparsity, k_init, moves) {
      control <- engine_control(
        k_init,
        batches = 3L, moves = moves, max_laps = 20L, sparsity = sparsity, audit = TRUE
      )
      fit <- engine_fit(toy$data, model, control, NULL, NULL)
      fit$trace$seconds <- NULL
      fit
    }
    dense <- run(0, 3, no_moves)
    expect_identical(run(3, 3, no_moves), dense)
    expect_identical(run(99, 3, no_moves), dense)
    if (prior$family == "hdp_hmm") expect_identical(run(99, 1, all_moves), run(0, 1, all_moves))
  }
})

test_that("sparse fits: the same bits for any number of threads, and batches add up", {
  short <- toy_sequences(2, lengths = rep(c(30, 7), 200))
  long <- toy_sequences(3, lengths = c(33000, 50, 40))
  for (toy in list(short, long)) {
    model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
    fits <- lapply(some_of(c(1L, 3L, 2L), by = 3), function(threads) {
      control <- engine_control(5, threads = threads, max_laps = 4L, moves = all_moves, sparsity = 2L)
      fit <- engine_fit(toy$data, model, control, NULL, NULL)
      fit$trace$seconds <- NULL
      fit
    })
    for (fit in fits[-1]) expect_identical(fit, fits[[1]])
  }
  toy <- toy_sequences(5, lengths = rep(c(30, 45), 6))
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  full <- engine_fit(toy$data, model, engine_control(6, algorithm = "full", sparsity = 2L), NULL, NULL)
  one <- engine_fit(toy$data, model, engine_control(6, sparsity = 2L), NULL, NULL)
  full$trace$seconds <- one$trace$seconds <- NULL
  expect_identical(one, full)
  many <- engine_fit(
    toy$data, model, engine_control(6, batches = 5L, max_laps = 80L, sparsity = 2L, audit = TRUE), NULL, NULL
  )
  expect_proved(many, "batches")
  expect_equal(sum(many$state$pair), toy$data$n - 12, tolerance = 1e-9)
})

long_test("four states a row find what all states find", {
  toy <- toy_sequences(7, lengths = rep(c(100, 150), 6), k = 8)
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  for (batches in some_of(c(4L, 1L), by = 3)) {
    run <- function(sparsity) {
      control <- engine_control(1, batches = batches, moves = all_moves, max_laps = 60L, sparsity = sparsity)
      engine_fit(toy$data, model, control, NULL, NULL)
    }
    dense <- run(0)
    sparse <- run(4)
    expect_equal(sparse$state$k, 8)
    expect_gt(adjusted_rand_index(sparse$labels, toy$z), 0.99)
    expect_lt(abs(dense$elbo - sparse$elbo) / toy$data$n, 1e-3)
  }
})

test_that("a start from labels is not lost, and stochastic learning ends near", {
  toy <- toy_sequences(4, lengths = rep(c(30, 60, 10), 5), k = 5)
  toy$data$x <- toy$data$x + withr::with_seed(1, matrix(rnorm(2 * toy$data$n, sd = 4), ncol = 2))
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  labels <- list(labels = toy$z, k = 5L)
  dense <- engine_fit(toy$data, model, engine_control(5), labels, NULL)
  path <- list(labels = engine_viterbi(toy$data, model, dense$state, 1L), k = dense$state$k)
  for (width in 1:2) {
    # A most probable path is better than what one row after the other would choose.
    control <- engine_control(5, batches = 4L, max_laps = 20L, sparsity = width, audit = TRUE)
    start <- engine_fit(toy$data, model, engine_control(5, max_laps = 0L), path, NULL)
    fit <- engine_fit(toy$data, model, control, path, NULL)
    expect_proved(fit, "labels")
    expect_gte(fit$trace$elbo[1], start$elbo)
    if (width == 1) expect_identical(fit$labels, max.col(fit$responsibilities))
  }
  noisy <- engine_control(5, batches = 4L, max_laps = 15L, sparsity = 2L, algorithm = "stochastic")
  expect_lt(abs(engine_fit(toy$data, model, noisy, labels, NULL)$elbo - fit$elbo) / toy$data$n, 0.1)
})
