# Beta priors learned while fitting, against plain R.

log_beta_hyperprior <- function(obs) sum(dgamma(c(obs$a, obs$b), 1, 1, log = TRUE) + log(c(obs$a, obs$b)))

binary_clusters <- function() {
  withr::with_seed(3, {
    z <- rep(1:6, each = 40)
    prob <- matrix(rbeta(60, 0.3, 0.6), 6)
    x <- 1 * (matrix(runif(2400), 240) < prob[z, ])
    x[, 10] <- 0
    x
  })
}

test_that("learning never lowers the objective, and ends where an optimiser does", {
  x <- binary_clusters()
  obs <- resolve_obs(obs_bernoulli(learn = TRUE), engine_data(x))
  resp <- diag(6)[rep(1:6, each = 40), ]
  model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
  learned <- engine_learned(obs, engine_contract(engine_data(x), model, resp)$statistic, 60)
  expect_gte(min(diff(learned$objective)), -1e-9)
  value <- function(free) {
    obs[c("a", "b")] <- split(exp(free), rep(1:2, each = 10))
    twin <- twin_bernoulli(obs)
    sum(apply(resp, 2, function(r) twin$evidence(x, r))) + log_beta_hyperprior(obs)
  }
  expect_equal(learned$objective[1], value(log(c(obs$a, obs$b))), tolerance = 1e-11)
  best <- stats::optim(
    log(c(obs$a, obs$b)), value, method = "BFGS", control = list(fnscale = -1, reltol = 1e-15, maxit = 1000)
  )
  expect_equal(learned$objective[61], best$value, tolerance = 1e-8)
  expect_equal(learned$objective[61], value(log(unlist(learned$fields))), tolerance = 1e-11)
  expect_length(engine_learned(obs, matrix(c(20, rep(3, 10)), 1), 3)$objective, 1)
})

test_that("a fit has the objective of its learned prior, never falls, and tells the prior", {
  x <- binary_clusters()
  case <- planted_case("bernoulli", obs_bernoulli(learn = TRUE), x, NULL)
  run <- engine_run(case, seed = 1, batches = 3, max_laps = 60, audit = TRUE)
  expect_audited(run)
  obs <- case$model$obs
  obs[names(run$learned)] <- run$learned
  terms <- elbo_twin(list(twin = twin_bernoulli(obs)), x, run$responsibilities, case$model$prior)
  expect_equal(run$terms, c(terms, hyperprior = log_beta_hyperprior(obs)), tolerance = 1e-9)

  fit <- bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(seed = 1))
  threads <- bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(seed = 1, threads = 3))
  expect_identical(threads[c("model", "state", "elbo")], fit[c("model", "state", "elbo")])
  again <- bnp_mixture(
    x, obs_bernoulli(learn = TRUE), start = fit, control = bnp_control(seed = 1, moves = FALSE)
  )
  expect_gte(elbo(again), elbo(fit) - 1e-9)
  expect_output(print(summary(fit)), "learn\\s+=\\s+TRUE")
  expect_true(all(is.finite(predict(fit, x[1:5, ], type = "logdensity"))))
  expect_bad(
    bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(algorithm = "stochastic")),
    "argument", "learn = TRUE"
  )
  expect_bad(obs_bernoulli(learn = 2), "argument", "learn")
  zeros <- bnp_mixture(0 * x, obs_bernoulli(learn = TRUE), control = bnp_control(seed = 1, k_init = 4))
  expect_true(is.finite(elbo(zeros)))
})

test_that("animals are predicted better than with the default prior", {
  odd <- seq(1, nrow(animals), by = 2)
  heldout <- function(learn) {
    fit <- bnp_mixture(animals[odd, ], obs_bernoulli(learn = learn), control = bnp_control(seed = 1))
    heldout_loglik(fit, animals[-odd, ])
  }
  expect_gt(heldout(TRUE), heldout(FALSE) + 0.1)
})
