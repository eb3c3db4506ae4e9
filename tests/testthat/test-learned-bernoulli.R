# The hierarchical prior of columns of zeros and ones, which have one strength, against plain R.

strengths <- 2^(-3:7)

# (one, zero) of each column in turn, and counts of K clusters: list(ones, zeros), K x D each.
beta_hypers <- function(obs) {
  lapply(split(obs$hyper_share, rep(seq_len(length(obs$hyper_share) / 2), each = 2)), function(omega) {
    list(even = 0, common = obs$prior_strength, omega = omega)
  })
}
beta_bound <- function(hypers, counts) {
  sum(mapply(function(H, j) share_bound(H, cbind(counts$ones[, j], counts$zeros[, j])), hypers, seq_along(hypers))) -
    log(11)
}
beta_counts <- function(x, resp) list(ones = crossprod(resp, x), zeros = crossprod(resp, 1 - x))

binary_clusters <- function() {
  withr::with_seed(3, {
    z <- rep(1:6, each = 40)
    prob <- matrix(rbeta(60, 0.3, 0.6), 6)
    x <- 1 * (matrix(runif(2400), 240) < prob[z, ])
    x[, 10] <- 0
    x
  })
}

test_that("learning never lowers the objective, and ends where no strength is better", {
  x <- binary_clusters()
  asked <- obs_bernoulli(learn = TRUE)
  obs <- resolve_obs(asked, engine_data(x))
  resp <- diag(6)[rep(1:6, each = 40), ]
  counts <- beta_counts(x, resp)
  model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
  learned <- engine_learned(obs, engine_contract(engine_data(x), model, resp)$statistic, 60)
  expect_gte(min(diff(learned$objective)), -1e-9)
  expect_equal(learned$objective[1], beta_bound(beta_hypers(obs), counts), tolerance = 1e-11)
  end <- utils::modifyList(unclass(obs), learned$fields)
  expect_equal(learned$objective[61], beta_bound(beta_hypers(end), counts), tolerance = 1e-11)
  expect_equal(end$a, unlist(lapply(beta_hypers(end), function(H) share_means(H)[1]), use.names = FALSE))
  expect_equal(end$a + end$b, rep(end$prior_strength, 10))
  best <- vapply(strengths, function(strength) {
    settled <- lapply(seq_len(10), function(j) {
      own <- cbind(counts$ones[, j], counts$zeros[, j])
      share_settled(share_start(own, 0, strength), own)
    })
    beta_bound(settled, counts)
  }, 1)
  expect_equal(learned$objective[61], max(best), tolerance = 1e-8)
})

test_that("the bound is below the evidence, by quadrature over the share of ones", {
  counts <- list(ones = cbind(c(9, 0, 5, 1), c(2, 7, 0, 0)), zeros = cbind(c(1, 8, 5, 3), c(8, 1, 10, 4)))
  for (strength in c(0.5, 2, 8)) {
    evidence <- vapply(1:2, function(j) {
      given_angle <- function(angle) vapply(angle, function(v) {
        a <- strength * sin(v)^2
        b <- strength * cos(v)^2
        exp(sum(lbeta(a + counts$ones[, j], b + counts$zeros[, j]) - lbeta(a, b)))
      }, 1)
      log(stats::integrate(given_angle, 0, pi / 2, rel.tol = 1e-10)$value * 2 / pi)
    }, 1)
    settled <- lapply(1:2, function(j) {
      own <- cbind(counts$ones[, j], counts$zeros[, j])
      share_settled(share_start(own, 0, strength), own)
    })
    slack <- sum(evidence) - (beta_bound(settled, counts) + log(11))
    expect_gt(slack, 0)
    expect_lt(slack, 1)
  }
})

test_that("a fit has the objective of its learned prior, never falls, and tells the prior", {
  x <- binary_clusters()
  case <- planted_case("bernoulli", obs_bernoulli(learn = TRUE), x, NULL)
  run <- engine_run(case, seed = 1, batches = 3, max_laps = 60, audit = TRUE)
  expect_audited(run)
  obs <- utils::modifyList(unclass(case$model$obs), run$learned)
  counts <- beta_counts(x, run$responsibilities)
  expect_equal(sum(run$terms[c("data", "hyperprior")]), beta_bound(beta_hypers(obs), counts), tolerance = 1e-9)

  fit <- bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(seed = 1))
  threads <- bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(seed = 1, threads = 3))
  expect_identical(threads[c("model", "state", "elbo")], fit[c("model", "state", "elbo")])
  again <- bnp_mixture(
    x, obs_bernoulli(learn = TRUE), start = fit, control = bnp_control(seed = 1, moves = FALSE)
  )
  expect_gte(elbo(again), elbo(fit) - 1e-9)
  expect_output(print(summary(fit)), "prior_strength")
  expect_true(all(is.finite(predict(fit, x[1:5, ], type = "logdensity"))))
  expect_bad(
    bnp_mixture(x, obs_bernoulli(learn = TRUE), control = bnp_control(algorithm = "stochastic")),
    "argument", "learn = TRUE"
  )
  expect_bad(obs_bernoulli(learn = 2), "argument", "learn")
  given <- list(
    bnp_mixture(x, obs_bernoulli(learn = FALSE), control = bnp_control(seed = 1)),
    bnp_mixture(x, obs_bernoulli(0.1, 0.3), control = bnp_control(seed = 1)),
    suppressWarnings(bnp_mixture(x, obs_bernoulli(), control = bnp_control(algorithm = "stochastic", max_laps = 2))),
    suppressWarnings(bnp_sample(x, obs_bernoulli(), chains = 1, draws = 2, warmup = 0, seed = 1)),
    suppressWarnings(bnp_hmm(x, obs = obs_bernoulli(), control = bnp_control(seed = 1, max_laps = 2)))
  )
  for (one in given) expect_identical(unclass(one$model$obs)[c("a", "b")], list(a = rep(0.1, 10), b = rep(0.3, 10)))
  expect_identical(bnp_mixture(x, obs_bernoulli(), control = bnp_control(seed = 1))$elbo, fit$elbo)
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
