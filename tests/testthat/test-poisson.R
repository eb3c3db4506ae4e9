# Counts of events: closed forms, what exposures mean, and every way that they come in.

counts <- c(0, 1, 5, 7, 4, 2)
exposure <- c(1, 2, 1, 1.5, 1, 0.5)
quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)

# Counts from clusters with planted rates (clusters x columns).
planted_events <- function(seed, cluster, rate, hours = rep(1, length(cluster))) {
  withr::with_seed(seed, {
    x <- matrix(rpois(length(cluster) * ncol(rate), hours * rate[cluster, ]), length(cluster))
    dimnames(x) <- list(NULL, paste0("col", seq_len(ncol(rate))))
    x
  })
}
five <- rbind(c(1, 1, 1, 1), c(12, 1, 1, 1), c(1, 12, 1, 1), c(1, 1, 12, 1), c(4, 4, 4, 12))

# Negative binomial probabilities of each count given those before it.
sequential <- function(x, e, a, b) {
  before <- function(v) c(0, cumsum(v)[-length(v)])
  sum(vapply(seq_len(ncol(x)), function(j) {
    size <- a + before(x[, j])
    sum(stats::dnbinom(x[, j], size, mu = size * e / (b[j] + before(e)), log = TRUE))
  }, 0))
}

test_that("evidence of hard and soft responsibilities is what quadrature gave", {
  model <- list(obs = list(family = "poisson", a = 1, b = 0.3, exposed = TRUE), prior = one)
  resp <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
  e <- engine_contract(engine_data(cbind(counts, exposure)), model, resp)
  expect_equal(e$evidence + colSums(resp * e$log_base), c(-16.66032112, -9.04052650), tolerance = 1e-9)
})

test_that("the ELBO of one cluster is the exact log evidence, in every family", {
  x <- planted_events(1, rep(1:5, 8), five)
  hours <- withr::with_seed(2, rgamma(40, 3))
  obs <- obs_poisson(a = 0.7, b = c(0.1, 0.5, 1, 2), exposure = hours)
  exact <- sequential(x, hours, 0.7, c(0.1, 0.5, 1, 2))
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(x, obs, one, control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_hmm(x, rep(1:4, each = 10), obs, prior_hmm(1), control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_topics(x, obs, prior_lda(1), control, id = rep(1:4, 10))), exact, tolerance = 1e-12)
  }
  stochastic <- bnp_mixture(x, obs, one, quiet("stochastic", seed = 1, batches = 4))
  expect_equal(elbo(stochastic), exact, tolerance = 1e-12)
  given <- bnp_mixture(x, obs, one, quiet(max_laps = 1), start = rep(1, 40))
  expect_equal(elbo(given), exact, tolerance = 1e-12)
})

test_that("fits of different models to the same data compare: Bernoulli and Poisson on zeros and ones", {
  # Two rows (0) and (1): 1/2 times 1/3 under Beta(1, 1), 1/2 times 1/4 ... by hand under Gamma(1, 1).
  x <- cbind(c(0, 1))
  expect_equal(elbo(bnp_mixture(x, obs_bernoulli(1, 1), one, quiet())), log(1 / 6))
  expect_equal(elbo(bnp_mixture(x, obs_poisson(1, 1), one, quiet())), log(1 / 2 * 2 / 9))
})

test_that("log densities are negative binomial, and those of new rows use their exposures", {
  x <- data.frame(planted_events(3, rep(1:2, 50), five), hours = rep(c(0.5, 2), each = 50))
  fit <- bnp_mixture(x, obs_poisson(b = 1, exposure = "hours"), one, quiet(seed = 1))
  new <- data.frame(hours = c(1, 3), col4 = c(0, 2), col2 = c(5, 40), col3 = c(1, 0), col1 = 7:8)
  size <- 1 + colSums(x[1:4])
  density <- vapply(1:2, function(i) {
    mu <- size * new$hours[i] / (1 + sum(x$hours))
    sum(stats::dnbinom(unlist(new[i, names(size)]), size, mu = mu, log = TRUE))
  }, 0)
  expect_equal(unname(predict(fit, new, "logdensity")), density, tolerance = 1e-12)
  expect_equal(heldout_loglik(fit, new), mean(density))
  chain <- bnp_hmm(x, obs = obs_poisson(b = 1, exposure = "hours"), prior = prior_hmm(1), control = quiet(seed = 1))
  expect_equal(unname(predict(chain, new, type = "logdensity")), density, tolerance = 1e-12)
})

test_that("the objective of k-means is the log density of the counts", {
  x <- cbind(counts)
  rate <- (1 + sum(counts)) / (0.3 + sum(exposure))
  hard <- bregman_kmeans(x, 1, obs_poisson(b = 0.3, exposure = exposure), seed = 1)
  expect_equal(hard$objective, sum(stats::dpois(counts, rate * exposure, log = TRUE)))
})

test_that("one exposure for all rows is another unit of the rates", {
  x <- planted_events(4, rep(1:5, 30), five)
  control <- quiet(seed = 1)
  plain <- bnp_mixture(x, obs_poisson(b = 2), control = control)
  scaled <- bnp_mixture(x, obs_poisson(b = 2 * 8, exposure = rep(8, 150)), control = control)
  expect_equal(elbo(scaled), elbo(plain), tolerance = 1e-10)
  expect_identical(fitted(scaled), fitted(plain))
  expect_equal(coef(scaled)$rate * 8, coef(plain)$rate, tolerance = 1e-8)
})

test_that("planted clusters and states are found", {
  hours <- withr::with_seed(5, exp(rnorm(400) / 2))
  cluster <- rep(1:5, 80)
  x <- cbind(planted_events(6, cluster, five, hours), hours = hours)
  for (k_init in c(1, 15)) {
    fit <- bnp_mixture(x, obs_poisson(exposure = "hours"), control = quiet(seed = 1, k_init = k_init))
    expect_equal(n_clusters(fit), 5)
    expect_gt(adjusted_rand_index(fitted(fit), cluster), 0.95)
  }
  # Without exposures, long and short hours make clusters of their own.
  expect_gt(n_clusters(bnp_mixture(x[, 1:4], obs_poisson(), control = quiet(seed = 1))), 5)

  state <- rep(rep(c(1, 2, 3, 1, 3, 2), each = 12), 6)
  hours <- withr::with_seed(7, exp(rnorm(432) / 2))
  y <- cbind(planted_events(8, state, rbind(c(0.3, 4), c(3, 4), c(3, 0.5)), hours), hours = hours)
  chain <- bnp_hmm(y, rep(1:6, each = 72), obs_poisson(exposure = "hours"), control = quiet(seed = 1))
  expect_equal(n_clusters(chain), 3)
  expect_gt(adjusted_rand_index(fitted(chain), state), 0.9)
})

test_that("exposures come as numbers or as a column, of dense, sparse, grouped and shuffled rows", {
  cluster <- rep(1:5, 20)
  hours <- withr::with_seed(9, exp(rnorm(100)))
  x <- planted_events(10, cluster, five, hours)
  control <- quiet(seed = 1)
  fit <- bnp_mixture(x, obs_poisson(exposure = hours), control = control)
  with_hours <- cbind(hours = hours, x)
  same <- list(
    with_hours, as.data.frame(with_hours), Matrix::Matrix(with_hours, sparse = TRUE)
  )
  for (y in same) {
    other <- bnp_mixture(y, obs_poisson(exposure = "hours"), control = control)
    expect_equal(elbo(other), elbo(fit), tolerance = 1e-12)
    expect_identical(unname(fitted(other)), unname(fitted(fit)))
    expect_identical(colnames(coef(other)$rate), colnames(x))
    prob <- predict(other, y[7:1, ], "prob")
    expect_equal(unname(max.col(prob)), unname(fitted(fit)[7:1]))
  }
  formula <- bnp_mixture(~., as.data.frame(with_hours), obs_poisson(exposure = "hours"), control = control)
  expect_identical(elbo(formula), elbo(other))
  expect_length(predict(formula, as.data.frame(with_hours)[1:3, ]), 3)
  sparse <- bnp_mixture(Matrix::Matrix(x, sparse = TRUE), obs_poisson(exposure = hours), control = control)
  expect_equal(elbo(sparse), elbo(fit), tolerance = 1e-12)

  id <- rep(letters[1:10], 10)
  documents <- function(rows) {
    bnp_topics(data.frame(with_hours, id)[rows, ], obs_poisson(exposure = "hours"), id = "id", control = control)
  }
  shuffled <- order(hours)
  sorted <- documents(order(id))
  expect_equal(elbo(documents(shuffled)), elbo(documents(seq_len(100))), tolerance = 1e-8)
  by_number <- bnp_topics(x[shuffled, ], obs_poisson(exposure = hours[shuffled]), id = id[shuffled], control = control)
  expect_equal(elbo(by_number), elbo(documents(shuffled)), tolerance = 1e-12)

  series <- split(seq_len(100), rep(1:4, each = 25))
  chain <- bnp_hmm(
    lapply(series, function(r) with_hours[r, ]), obs = obs_poisson(exposure = "hours"), control = control
  )
  by_number <- bnp_hmm(
    lapply(series, function(r) x[r, ]), obs = obs_poisson(exposure = lapply(series, function(r) hours[r])),
    control = control
  )
  expect_identical(elbo(by_number), elbo(chain))
  expect_length(predict(chain, list(with_hours[1:5, ], with_hours[6:7, ])), 7)
  expect_equal(nrow(segments(chain, lapply(series, function(r) with_hours[r, ]))), nrow(segments(chain)))
})

test_that("a fit with exposures is read, tidied, augmented, simulated and shown", {
  hours <- rep(c(0.5, 4), each = 60)
  x <- data.frame(planted_events(11, rep(1:2, 60), five, hours), hours)
  fit <- bnp_mixture(x, obs_poisson(exposure = "hours"), control = quiet(seed = 1))
  expect_equal(n_clusters(fit), 2)
  expect_output(print(summary(fit)), "exposure =\\s+hours")
  expect_named(posterior_params(fit)[1:2], c("a", "b"))
  expect_equal(coef(fit)$rate, posterior_params(fit)$a / posterior_params(fit)$b)
  expect_equal(unique(tidy(fit)$term), paste0("col", 1:4))
  expect_named(augment(fit, x), c(names(x), ".class", ".uncertainty"))
  sim <- simulate(fit, seed = 1)$sim_1
  expect_named(sim, c(names(x), ".class"))
  expect_equal(sim$hours, rep(mean(x$hours), 120))
  again <- bnp_mixture(sim[names(x)], obs_poisson(exposure = "hours"), control = quiet(seed = 1))
  expect_equal(n_clusters(again), n_clusters(fit))
  many <- simulate(fit, seed = 1, n = 4000, exposure = rep(c(1, 10), 2000))$sim_1
  expect_equal(mean(many$col1[many$hours == 10]) / mean(many$col1[many$hours == 1]), 10, tolerance = 0.1)
  expect_bad(simulate(fit, exposure = 1:3), "exposure", "one number or one per row")
  expect_bad(simulate(fit, exposure = -1), "exposure", "above 0")
  expect_bad(simulate(bnp_mixture(x[1:4], obs_poisson(), control = quiet()), exposure = 2), "argument", "no meaning")
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  rate <- coef(fit)$rate
  weight <- coef(fit)$weights[1:2] / sum(coef(fit)$weights[1:2])
  shown <- heat_picture(fit, relative = TRUE)$value
  expect_equal(shown, sweep(rate, 2, colSums(weight * rate), "/")[, colnames(shown)])
})

test_that("default priors have the rates of all data as their mean", {
  x <- cbind(c(1, 3, 2), 0)
  data <- as_mixture_data(x, obs_poisson())
  expect_equal(resolve_obs(obs_poisson(), data)$b, c(1 / 2, 1 / (0.5 / 3)))
  obs <- obs_poisson(a = c(1, 4), exposure = c(1, 1, 4))
  resolved <- resolve_obs(obs, as_mixture_data(x, obs))
  expect_equal(resolved$b, c(1, 4) / c(1, 0.5 / 6))
  expect_true(resolved$exposed)
  expect_true(resolved$exposure)
})

test_that("bad counts and exposures are refused by name, place and remedy", {
  x <- data.frame(n = c(2, 0, 1), hours = c(1, 2, 4))
  fit_with <- function(x, ...) bnp_mixture(x, obs_poisson(...), control = quiet())
  expect_bad(fit_with(replace(x, 1, c(2, 0.5, 1)), exposure = "hours"), "not_counts", "\\(2, n\\)")
  expect_bad(fit_with(replace(x, 1, c(2, -1, 1)), exposure = "hours"), "not_counts", "exposure")
  expect_bad(fit_with(x, exposure = "days"), "exposure", "days.*hours")
  expect_bad(fit_with(unname(as.matrix(x)), exposure = "days"), "exposure", "no names")
  expect_bad(fit_with(x["hours"], exposure = "hours"), "no_columns", "exposure")
  expect_bad(fit_with(replace(x, 2, c(1, 0, 2)), exposure = "hours"), "exposure", "hours.*row 2")
  expect_bad(fit_with(replace(x, 2, c(1, NA, 2)), exposure = "hours"), "not_finite", "\\(2, hours\\)")
  expect_bad(fit_with(x["n"], exposure = c(1, 2)), "exposure", "\\(3\\), not 2")
  for (bad in list(c(1, NA, 2), c(1, 0, 2), c(1, -3, 2), c(1, Inf, 2))) {
    expect_bad(obs_poisson(exposure = bad), "exposure", "row 2")
  }
  for (bad in list(TRUE, NA_character_, c("a", "b"), numeric(), list(1, "b"), mean)) {
    expect_bad(obs_poisson(exposure = bad), "exposure", "must")
  }
  expect_bad(obs_poisson(a = 0), "argument", "a")
  expect_bad(obs_poisson(b = -1), "argument", "b")
  expect_bad(fit_with(x["n"], b = c(1, 2)), "argument", "b")
  expect_bad(bnp_topics(x, obs_poisson(exposure = "hours")), "id", "needed")

  fit <- fit_with(x, exposure = "hours")
  expect_bad(predict(fit, x["n"]), "newdata_columns", "hours")
  expect_bad(predict(fit, unname(as.matrix(x))[, 1:2]), "exposure", "no names")
  expect_length(predict(fit, x[0, ]), 0)
  by_number <- fit_with(x["n"], exposure = x$hours)
  expect_bad(predict(by_number, x["n"]), "exposure", "newdata.*column")
  expect_bad(bnp_mixture(x["n"], obs_poisson(), start = by_number), "start", "same observation model")
})

test_that("large priors lose no digits, and counts that are too large for the ELBO are an error", {
  x <- planted_events(12, rep(1, 20), cbind(3))
  for (a in c(1e4, 1e8, 1e12)) {
    fit <- bnp_mixture(x, obs_poisson(a = a, b = a / 3), one, quiet())
    expect_equal(elbo(fit), sum(stats::dpois(x, 3, log = TRUE)), tolerance = 10 * length(x) / a + 1e-11)
    expect_equal(elbo(fit), sequential(x, rep(1, 20), a, a / 3), tolerance = 1e-9)
  }
  expect_bad(bnp_mixture(cbind(c(1, 2, 4) * 2^52), obs_poisson(), control = quiet()), "numerical", "ELBO")
})
