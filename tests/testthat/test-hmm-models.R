# Hidden Markov models over every observation model.

# Three states at a random statistic of the case's own rows.
random_state <- function(case, prior) {
  lag <- case$model$obs$lag %||% 0L
  data <- case$data
  modelled <- sum(pmax(0, diff(data$starts) - lag))
  resp <- matrix(stats::rgamma(modelled * 3, 0.2), modelled)
  resp <- resp / rowSums(resp)
  contract <- engine_contract(data, case$model, resp)
  state <- list(
    k = 3L, obs = contract$statistic, extra = matrix(stats::rgamma(3, 1)), pair = matrix(stats::rgamma(9, 2), 3),
    scalar = 0, u = numeric(), omega = numeric()
  )
  if (prior$family == "hdp_hmm") {
    state$u <- c(0.5, 0.4, 0.6)
    state$omega <- c(9, 8, 7)
  }
  list(state = state, log_e = log_likelihoods(case$model$obs, contract$features, contract$weights))
}

# Rows with tangents have features of other tangents where features are asked for; test-glm-visits.R has laws for them.
test_that("responsibilities and Viterbi equal the sum over all paths", {
  withr::local_seed(3)
  for (case in some_of(Filter(Negate(is_glm_case), model_cases()), by = 9, from = 4)) {
    lag <- case$model$obs$lag %||% 0L
    lengths <- c(1, 4, 2, 6, 3) + lag
    case$data$starts <- as.integer(c(0, cumsum(lengths)))
    case$data$n <- as.integer(sum(lengths))
    case$data$x <- case$data$x[seq_len(sum(lengths)), , drop = FALSE]
    row <- 0
    for (prior in hmm_priors) {
      model <- list(obs = case$model$obs, prior = prior)
      at <- random_state(case, prior)
      rows <- expected_rows(at$state, prior)
      resp <- engine_responsibilities(case$data, model, at$state, 1L)
      path <- engine_viterbi(case$data, model, at$state, 1L)
      row <- 0
      for (g in seq_along(lengths)) {
        n <- lengths[g] - lag
        want <- enumerate_paths(rows[[1]], do.call(rbind, rows[-1]), at$log_e[row + seq_len(n), , drop = FALSE])
        here <- case$data$starts[g] + lag + seq_len(n)
        expect_equal(resp[here, , drop = FALSE], want$resp, tolerance = 1e-9, label = case$name)
        expect_equal(path[here], want$path, label = case$name)
        row <- row + n
      }
    }
  }
})

test_that("ties of paths go to the smaller state", {
  even <- log(matrix(1 / 3, 3, 3))
  path <- function(e) engine_messages(even[1, ], even, e, c(0L, nrow(e)), FALSE)$path
  expect_equal(path(matrix(0, 4, 3)), c(1, 1, 1, 1))
  expect_equal(path(rbind(c(0, 1, 1), c(1, 0, 1), c(0, 0, 0))), c(2, 1, 1))
})

test_that("every state that a fit meets, proposals included, is proved from its explicit q(z)", {
  found <- c(births = 0, merges = 0, deletes = 0)
  rounds <- 0
  for (case in some_of(planted_sequences(), by = 11, from = 4)) {
    for (prior in hmm_priors[c("plain", "sticky")]) {
      for (k_init in some_of(c(1, 9), by = 2, from = if (prior$sticky > 0) 1 else 2)) {
        case$model$prior <- prior
        control <- engine_control(k_init, seed = 2, batches = 3L, moves = all_moves, max_laps = 25L, audit = TRUE)
        fit <- engine_fit(case$data, case$model, control, NULL, NULL)
        expect_gt(fit$audit[["checks"]], 20)
        for (what in c("elbo", "statistics", "entropy", "sums")) {
          expect_lte(fit$audit[[what]], 1e-8, label = paste(case$name, what))
        }
        expect_gte(fit$audit[["smallest_gain"]], -1e-9)
        for (kind in names(found)) found[kind] <- found[kind] + sum(fit$trace[[kind]])
        rounds <- max(rounds, fit$audit[["rounds"]])
      }
    }
  }
  few <- if (long_tests()) 10 else 2
  expect_gt(found[["births"]], few)
  expect_gt(found[["merges"]], few)
  expect_gt(rounds, 1) # a move may take more than one
  # Deletes alone, from too many states.
  deletes <- utils::modifyList(no_moves, list(delete = TRUE))
  toy <- toy_sequences(7, lengths = rep(c(60, 90), 6), k = 4)
  fit <- engine_fit(
    toy$data, list(obs = diagonal_model(), prior = hmm_priors$sticky),
    engine_control(12, batches = 2L, moves = deletes, max_laps = 40L, audit = TRUE), NULL, NULL
  )
  expect_gt(sum(fit$trace$deletes), 0)
  expect_lte(fit$audit[["elbo"]], 1e-8)
  expect_gte(fit$audit[["smallest_gain"]], -1e-9)
})

test_that("several pairs are merged in one proposal", {
  toy <- toy_sequences(7, lengths = rep(c(60, 90), 6), k = 4)
  merges <- utils::modifyList(no_moves, list(merge = TRUE, max_merges = 3L))
  fit <- engine_fit(
    toy$data, list(obs = diagonal_model(), prior = hmm_priors$sticky),
    engine_control(24, batches = 2L, moves = merges, max_laps = 40L, audit = TRUE), NULL, NULL
  )
  expect_gt(fit$trace$merges[2], fit$trace$merges_tried[2])
  expect_equal(fit$trace$k[2], 4)
  expect_equal(fit$state$k, 4)
  expect_lte(fit$audit[["elbo"]], 1e-8)
  expect_gte(fit$audit[["smallest_gain"]], -1e-9)
})

test_that("names of sequences, rows and columns are kept", {
  x <- list(
    first = matrix(c(1:6, 9:4), 6, dimnames = list(letters[1:6], c("u", "v"))),
    second = matrix(c(1, 2, 3, 4), 2, dimnames = list(c("y", "z"), c("u", "v")))
  )
  fit <- bnp_hmm(x, control = bnp_control(seed = 1))
  expect_named(fitted(fit), c(letters[1:6], "y", "z"))
  expect_equal(unique(segments(fit)$id), c("first", "second"))
  expect_equal(colnames(coef(fit)$mean), c("u", "v"))
  expect_equal(rownames(predict(fit, x, type = "prob")), c(letters[1:6], "y", "z"))
  expect_named(simulate(fit, seed = 1)$sim_1, c("u", "v", ".id", ".state"))
  lagged <- bnp_hmm(
    stats::ts(cumsum(1:20), start = 1990, frequency = 4), obs = obs_ar(), control = bnp_control(seed = 1)
  )
  runs <- segments(lagged)
  expect_equal(c(runs$start_time[1], runs$end_time[nrow(runs)]), c(1990, 1994.75))
})

test_that("expected durations are those of the transition matrix", {
  fit <- bnp_hmm(beaver1["temp"], prior = prior_hmm(2, sticky = 20), control = bnp_control(seed = 1))
  stay <- diag(transition_matrix(fit))
  lasts <- vapply(1:2, function(k) sum(seq_len(1e5) * stay[k]^(seq_len(1e5) - 1) * (1 - stay[k])), 1)
  expect_equal(as.double(state_durations(fit)), lasts, tolerance = 1e-8)
})

test_that("states of one very long sequence and of very many short ones are found", {
  long <- longest_tests()
  n <- if (long) 700000L else 35000L
  for (length in c(n, 10L)) {
    rows <- if (length == 10L) n / 7L * 10L else n
    z <- rep(rep(0:1, length.out = rows %/% 5L + 1L), each = 5L)[seq_len(rows)]
    data <- list(
      x = matrix(withr::with_seed(1, stats::rnorm(rows)) + 8 * z), n = as.integer(rows), d = 1L,
      starts = as.integer(seq(0, rows, by = length))
    )
    model <- list(obs = utils::modifyList(diagonal_model(1), list(scale = 1)), prior = hmm_priors$sticky)
    fit <- engine_fit(data, model, engine_control(2, batches = 4L, max_laps = 3L, threads = 2L), NULL, NULL)
    expect_equal(adjusted_rand_index(fit$labels, z), 1, tolerance = 1e-3)
    expect_equal(sum(fit$state$pair), rows - (base::length(data$starts) - 1), tolerance = 1e-9)
  }
})
