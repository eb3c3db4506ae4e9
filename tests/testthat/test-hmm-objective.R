test_that("the objective equals a recomputation in plain R, and its sticks are optimal", {
  toy <- toy_sequences(1)
  resp <- withr::with_seed(2, matrix(rgamma(300, 0.3), 100))
  resp <- resp / rowSums(resp)
  counts <- twin_rows(resp, toy$data$starts)
  for (prior in hmm_priors) {
    model <- list(obs = diagonal_model(), prior = prior)
    terms <- engine_elbo_of(toy$data, model, resp)
    fit <- engine_fit(toy$data, model, engine_control(max_laps = 0L), list(resp = resp), NULL)
    expect_equal(fit$terms, terms, tolerance = 1e-8)
    expect_equal(sum(terms), fit$elbo, tolerance = 1e-12)
    expect_equal(terms[["entropy"]], -sum(resp * log(resp)), tolerance = 1e-10)
    expect_equal(fit$state$pair, counts$transition, tolerance = 1e-10)
    expect_equal(c(fit$state$extra), counts$start, tolerance = 1e-10)
    if (prior$family == "hmm") {
      pi <- rep(1 / 3, 3)
      none <- list(start = rep(0, 3), transition = matrix(0, 3, 3))
      want <- twin_transitions(counts, pi, prior$alpha, prior$start, prior$sticky) -
        twin_transitions(none, pi, prior$alpha, prior$start, prior$sticky)
      expect_equal(terms[["transitions"]], want, tolerance = 1e-8)
      next
    }
    value <- function(x) {
      top <- twin_sticks(stats::plogis(x[1:3]), exp(x[4:6]), 3, prior$gamma, prior$sticky, prior$alpha, prior$start)
      c(top$value, twin_transitions(counts, top$pi, prior$alpha, prior$start, prior$sticky))
    }
    at <- c(stats::qlogis(fit$state$u), log(fit$state$omega))
    expect_equal(unname(terms[c("sticks", "transitions")]), value(at), tolerance = 1e-8)
    best <- stats::optim(at + 0.3, function(x) -sum(value(x)), method = "BFGS", control = list(reltol = 1e-14))
    expect_gte(sum(value(at)), -best$value - 1e-6)
  }
})

test_that("one state has the closed form", {
  toy <- toy_sequences(3)
  prior <- hmm_priors$sticky
  model <- list(obs = diagonal_model(), prior = prior)
  fit <- engine_fit(toy$data, model, engine_control(1), NULL, NULL)
  contract <- engine_contract(toy$data, model, matrix(1, 100, 1))
  expect_equal(fit$terms[["data"]], contract$evidence, tolerance = 1e-12)
  expect_equal(fit$terms[["entropy"]], 0)
  expect_equal(c(fit$state$pair), 96)
  expect_equal(c(fit$state$extra), 4)
  top <- twin_sticks(fit$state$u, fit$state$omega, 1, prior$gamma, prior$sticky, prior$alpha, prior$start)
  trans <- twin_transitions(list(start = 4, transition = matrix(96)), top$pi, prior$alpha, prior$start, prior$sticky)
  expect_equal(fit$elbo, contract$evidence + top$value + trans, tolerance = 1e-10)
})

test_that("every transition is counted once, and the bound never falls", {
  toy <- toy_sequences(4, rep(c(30, 60, 10), 5))
  for (prior in hmm_priors) {
    for (batches in c(1L, 4L)) {
      for (moves in list(no_moves, all_moves)) {
        model <- list(obs = diagonal_model(), prior = prior)
        fit <- engine_fit(toy$data, model, engine_control(3, 7, batches = batches, moves = moves), NULL, NULL)
        expect_equal(sum(fit$state$pair), toy$data$n - 15, tolerance = 1e-9)
        expect_equal(sum(fit$state$extra), 15, tolerance = 1e-9)
        expect_gte(min(diff(fit$trace$elbo)), -1e-8 * abs(fit$elbo))
        expect_equal(sum(fit$terms), fit$elbo, tolerance = 1e-12)
      }
    }
  }
})
