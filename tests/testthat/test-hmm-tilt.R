# Transitions that depend on covariates, by the engine itself: the bound of plain R, the model without covariates, the
# evidence of all paths, audits of moves.

with_position <- function(data, patterns, seed = 5) {
  data$position <- withr::with_seed(seed, sample(patterns, data$n, TRUE) - 1L)
  data
}

test_that("covariates that are all 0, or none, are the model without, move by move", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 3))
  for (sticky in c(0, 20)) for (k in list(NULL, 3L)) {
    plain <- if (is.null(k)) list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 4, sticky = sticky) else
      list(family = "hmm", k = k, alpha = 0.5, start = 4, sticky = sticky)
    control <- engine_control(3, 7, batches = 3L, moves = all_moves, max_laps = 12L)
    want <- engine_fit(toy$data, list(obs = diagonal_model(), prior = plain), control, NULL, NULL)
    for (x in list(matrix(0, 4, 1), matrix(0, 4, 0))) {
      prior <- tilted_chain(x, k, sticky = sticky)
      fit <- engine_fit(with_position(toy$data, 4), list(obs = diagonal_model(), prior = prior), control, NULL, NULL)
      expect_identical(fit$trace$k, want$trace$k)
      expect_equal(fit$trace$elbo, want$trace$elbo, tolerance = 1e-8)
      expect_identical(fit$labels, want$labels)
      pairs <- matrix(colSums(pairs_by_pattern(fit$state, 4)), fit$state$k)
      expect_equal(pairs, unname(want$state$pair), tolerance = 1e-6)
    }
  }
})

test_that("the bound is that of plain R, and a maximum over all that is not data", {
  toy <- toy_sequences(1, c(30, 1, 9))
  resp <- withr::with_seed(2, matrix(rgamma(80, 0.5), 40))
  resp <- resp / rowSums(resp)
  x <- cbind(c(-1.2, 0.3, 1), c(0, 1, 0))
  data <- with_position(toy$data, 3)
  none <- list(start = c(0, 0), transition = matrix(0, 2, 2))
  for (sticky in c(0, 3)) for (k in some_of(list(NULL, 2L), by = 2, from = 1 + (sticky > 0))) {
    prior <- tilted_chain(x, k, sticky = sticky, effect_scale = 0.8)
    model <- list(obs = diagonal_model(), prior = prior, bound = "tight")
    fit <- engine_fit(data, model, engine_control(2L, max_laps = 0L), list(resp = resp), NULL)
    counts <- pairs_by_pattern(fit$state, 3)
    expect_equal(colSums(counts), twin_rows(resp, data$starts)$transition, tolerance = 1e-10)
    start <- fit$state$extra[, 1]
    value <- function(tilts, u = NULL, omega = NULL) {
      top <- if (is.null(k)) twin_sticks(u, omega, 2, 5, sticky, 0.5, 4) else list(value = 0, pi = c(0.5, 0.5))
      width <- length(top$pi)
      rows <- matrix(0.5 * top$pi, 2, width, byrow = TRUE)
      rows[cbind(1:2, 1:2)] <- rows[cbind(1:2, 1:2)] + sticky
      theta <- 4 * top$pi + c(start, 0)[seq_len(width)]
      of_first <- sum(lgamma(theta)) - lgamma(sum(theta))
      normalisers <- if (is.null(k)) 0 else -(2 * lgamma(2) - lgamma(4)) -
        sum(lgamma(rows)) + sum(lgamma(rowSums(rows)))
      top$value + of_first + normalisers + tilted_rows_twin(counts, x, tilts, rows, 0.64)
    }
    tilts <- tilts_of(fit$state, prior)
    u <- if (is.null(k)) fit$state$u[1:2]
    omega <- fit$state$omega
    expect_equal(sum(fit$terms[setdiff(names(fit$terms), c("data", "entropy", "hyperprior"))]),
      value(tilts, u, omega), tolerance = 1e-9)
    at <- value(tilts, u, omega)
    near <- withr::with_seed(3, replicate(300, {
      moved <- lapply(tilts[c("theta", "mean")], function(v) v * exp(1e-3 * rnorm(length(v))))
      size <- exp(1e-3 * rnorm(1))
      value(c(moved, list(precision = tilts$precision * size)), if (is.null(k)) plogis(qlogis(u) + 1e-3 * rnorm(2)),
        if (is.null(k)) omega * exp(1e-3 * rnorm(2)))
    }))
    expect_lte(max(near), at + 1e-8)
    expect_lt(min(near), at - 1e-7)
  }
})

test_that("the bound is below the evidence of all paths", {
  # Two states, one covariate: rows of transitions by integrals over a Beta variable and the difference of effects.
  x <- matrix(c(-1, 0.5))
  withr::local_seed(9)
  data <- list(
    x = matrix(c(0.1, 0.3, 2.2, 2, -0.3)), n = 5L, d = 1L, starts = c(0L, 3L, 5L), position = c(0L, 1L, 0L, 1L, 1L)
  )
  prior <- tilted_chain(x, 2L, alpha = 1, start = 2, sticky = 0.5)
  fit <- engine_fit(data, list(obs = diagonal_model(1), prior = prior), engine_control(2L, max_laps = 50L), NULL, NULL)
  at <- (seq_len(200) - 0.5) / 200
  logit <- lapply(1:2, function(j) stats::qlogis(stats::qbeta(at, 0.5 + 0.5 * (j == 1), 0.5 + 0.5 * (j == 2))))
  effect <- stats::qnorm(at) * sqrt(2)
  row_evidence <- function(j, to, c) {
    if (!length(to)) return(1)
    p <- lapply(c, function(c) stats::plogis(outer(logit[[j]], effect * x[c], `+`)))
    mean(Reduce(`*`, Map(function(p, to) if (to == 1) p else 1 - p, p, to)))
  }
  paths <- as.matrix(expand.grid(rep(list(1:2), 5)))
  features <- cbind(1, data$x, data$x^2)
  log_p <- apply(paths, 1, function(z) {
    from <- z[c(1, 2, 4)]
    to <- z[c(2, 3, 5)]
    c <- data$position[c(2, 3, 5)] + 1
    first <- tabulate(z[c(1, 4)], 2)
    start <- lgamma(2) - lgamma(4) + sum(lgamma(1 + first) - lgamma(1))
    steps <- sum(log(vapply(1:2, function(j) row_evidence(j, to[from == j], c[from == j]), 1)))
    states <- sum(vapply(1:2, function(j) {
      t <- colSums(features[z == j, , drop = FALSE])
      if (any(z == j)) evidence_diagonal(t) else 0
    }, 1))
    start + steps + states
  })
  evidence <- max(log_p) + log(sum(exp(log_p - max(log_p))))
  expect_lt(fit$elbo, evidence)
  expect_gt(fit$elbo, evidence - 4)
})

test_that("states equal their recomputation, and the bound never falls, with any observation model", {
  cases <- lapply(planted_sequences(), function(case) {
    case <- with_patterns(case)
    case$model$prior <- tilted_chain(cbind(c(-1, -1, 1, 1), c(-1, 1, -1, 1)), sticky = 2)
    case
  })
  for (case in some_of(cases, by = 17)) {
    fit <- engine_run(case, k_init = 1L, batches = 3L, max_laps = 8L, seed = 3, restarts = 1L, audit = TRUE)
    expect_audited(fit)
    expect_gte(min(diff(fit$trace$elbo)), -1e-8 * abs(fit$elbo), label = case$name)
  }
})

test_that("batches, threads and the way patterns are written change nothing", {
  planted <- planted_steps(2, rep(20, 6))
  at <- match(w <- round(planted$frame$w, 1), x <- sort(unique(w)))
  data <- list(x = matrix(planted$frame$y), n = 120L, d = 1L, starts = 20L * 0:6, position = at - 1L)
  run <- function(x, data, ..., laps = 200L, moves = no_moves) {
    model <- list(obs = diagonal_model(1), prior = tilted_chain(x, sticky = 2))
    engine_fit(data, model, engine_control(2L, 4, max_laps = laps, tol = 1e-12, moves = moves, ...), list(
      labels = planted$z, k = 2L
    ), NULL)
  }
  whole <- run(matrix(x), data)
  expect_equal(run(matrix(x), data, batches = 3L)$elbo, whole$elbo, tolerance = 1e-7)
  twice <- data
  twice$position <- twice$position + length(x) * rep(0:1, length.out = 120L)
  expect_equal(run(matrix(c(x, x)), twice)$elbo, whole$elbo, tolerance = 1e-7)
  expect_equal(run(matrix(-x), data)$elbo, whole$elbo, tolerance = 1e-7)
  one <- run(matrix(x), data, batches = 3L, laps = 25L, moves = all_moves)
  for (threads in some_of(c(4L, 2L), by = 2)) {
    more <- run(matrix(x), data, batches = 3L, laps = 25L, moves = all_moves, threads = threads)
    expect_identical(more$state, one$state)
    expect_identical(more$elbo, one$elbo)
  }
})

test_that("the engine refuses patterns that the model does not have", {
  toy <- toy_sequences(4, c(30, 20))
  fit <- function(data) {
    engine_fit(data, list(obs = diagonal_model(), prior = tilted_chain(matrix(0:1))), engine_control(), NULL, NULL)
  }
  expect_error(fit(toy$data), "wants positions")
  expect_error(fit(with_position(toy$data, 3)), "no positions of the model")
})
