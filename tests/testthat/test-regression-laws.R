# Laws that join regressions with random effects, and those of yes and no, to models that have tests of their own: plain
# regressions, other ways to write the same rows, and responses of documents.

withr::local_options(rlib_message_verbosity = "quiet")

# The first example of helper-effects.R, whose golden figures test-growth-mixtures.R has.
ten_rows <- data.frame(
  id = c(1, 1, 1, 2, 2, 3, 3, 3, 4, 4), t = c(0, 1, 2, 0, 1, 0, 1, 2, 1, 2),
  y = c(.3, .9, 1.6, .1, .8, 2.1, 2.0, 2.2, 1.7, 1.9)
)
their_prior <- list(m = .5, kappa = .2, nu = 3, B = matrix(.6), M = 0, V = matrix(.5), nue = 3, Be = .2)

test_that("without random effects the plain-R twin is the engine's regression of individuals", {
  skip_without_testing_entries()
  withr::local_seed(5)
  n <- 8L
  id <- rep(seq_len(n), 2 + seq_len(n) %% 3)
  table <- cbind(stats::rnorm(length(id)), stats::rnorm(length(id)))
  people <- individuals_of(table[, 1], matrix(0, length(id), 0), cbind(1, table[, 2]), id)
  prior <- list(
    m = double(), kappa = 1, nu = 2, B = matrix(0, 0, 0), M = c(.3, -.5), V = diag(c(.4, .7)) + .1, nue = 3.5, Be = .7
  )
  r <- matrix(stats::rgamma(2 * n, 1), n)
  r <- r / rowSums(r)
  model <- list(obs = list(
    family = "regression", responses = 1L, intercept = TRUE, df = prior$nue, scale = matrix(prior$Be),
    coef_mean = matrix(prior$M, 1L), scaled_precision = prior$V, origin = 0, spread = 1, centre = c(0, 0),
    unit = c(1, 1), repeated = TRUE
  ), prior = list(family = "dirichlet", k = 2L, concentration = 2))
  twin <- effects_fit(people, r, prior)
  expect_equal(engine_elbo_of(effects_data(table, id), model, r)[["data"]], twin$value, tolerance = 1e-12)
})

test_that("the partitions of four individuals have the evidence of the derivation", {
  # log p(y of some individuals), by a grid over log D and log sigma^2.
  grid <- seq(-7, 8, by = .5)
  evidence <- function(some) {
    rows <- ten_rows[ten_rows$id %in% some, ]
    x <- cbind(1, rows$t)
    same <- outer(rows$id, rows$id, `==`)
    value <- outer(grid, grid, Vectorize(function(log_d, log_s) {
      d <- exp(log_d)
      s <- exp(log_s)
      root <- chol(diag(s, nrow(x)) + d * same + x %*% diag(c(d / their_prior$kappa, s / .5)) %*% t(x))
      z <- backsolve(root, rows$y - their_prior$m, transpose = TRUE)
      -sum(log(diag(root))) - sum(z^2) / 2 - nrow(x) / 2 * log(2 * pi) + stats::dgamma(1 / d, 1.5, .3, log = TRUE) -
        log_d + stats::dgamma(1 / s, 1.5, .1, log = TRUE) - log_s
    }))
    max(value) + log(sum(exp(value - max(value)))) + 2 * log(.5)
  }
  known <- vapply(1:15, function(set) evidence(which(bitwAnd(set, c(1L, 2L, 4L, 8L)) > 0)), 1)
  partitions <- unique(t(apply(expand.grid(1, 1:2, 1:3, 1:4), 1L, function(z) match(z, unique(z)))))
  each <- apply(partitions, 1L, function(z) {
    sets <- tapply(2^(0:3), z, sum)
    sum(lgamma(table(z))) - lgamma(5) + sum(known[sets])
  })
  expect_equal(max(each) + log(sum(exp(each - max(each)))), -9.444136648, tolerance = 1e-4)
})

test_that("of the fit with two clusters, joined sums are below one visit of all individuals", {
  people <- individuals_of(ten_rows$y, cbind(rep(1, 10)), cbind(ten_rows$t), ten_rows$id)
  r <- cbind(c(.9, .9, .1, .1), c(.1, .1, .9, .9))
  globals <- lapply(1:2, function(k) effects_globals(effects_zero(their_prior), their_prior))
  for (lap in 1:200) {
    visits <- lapply(globals, function(g) lapply(people, effects_visit, g))
    if (lap > 5) {
      # Sticks of the Dirichlet process with concentration 1.
      n <- colSums(r)
      log_pi <- digamma(1 + n) - c(0, digamma(2 + n[2]) - digamma(1 + n[2])) - digamma(2 + sum(n))
      w <- vapply(1:2, function(k) vapply(visits[[k]], `[[`, 1, "score") + log_pi[k], double(4L))
      r <- exp(w - apply(w, 1, max))
      r <- r / rowSums(r)
    }
    T <- lapply(1:2, function(k) effects_sum(lapply(visits[[k]], `[[`, "T"), r[, k], their_prior))
    globals <- lapply(T, effects_globals, their_prior)
  }
  joined <- effects_globals(Map(`+`, T[[1]], T[[2]]), their_prior)
  visits <- lapply(people, function(one) effects_visit(one, joined)$T)
  visited <- effects_globals(effects_sum(visits, rep(1, 4), their_prior), their_prior)
  expect_equal(unname(c(joined$value, visited$value)), c(-16.429, -11.284), tolerance = 1e-4)
})

test_that("individuals who come at the same times have the numbers of the twin", {
  skip_without_testing_entries()
  withr::local_seed(6)
  n <- 19L
  id <- rep(seq_len(n), each = 4L)
  t <- rep(0:3, n)
  y <- stats::rnorm(n)[id] + t * stats::rnorm(n)[id] + stats::rnorm(4L * n, 0, .3)
  prior <- list(
    m = c(.2, .1), kappa = .3, nu = 4.5, B = diag(2) + .2, M = double(), V = matrix(0, 0, 0), nue = 3.5, Be = .7
  )
  people <- individuals_of(y, cbind(1, t), matrix(0, 4L * n, 0), id)
  visit <- effects_fit(people, matrix(1, n, 1L), prior)
  terms <- engine_elbo_of(effects_data(cbind(y, t), id), effects_model(prior, 0:1, 2L), matrix(1, n, 1L))
  expect_equal(terms[["data"]], visit$value, tolerance = 1e-9)
})

test_that("coefficients of individuals have the means, covariances and clusters of plain R, in the user's units", {
  data <- growth_data("three", 4, 60L)
  data <- transform(data, y = 100 * y + 7, t = 12 * t + 2000, u = sin(seq_along(t)))
  z <- cbind(1, data$t)
  for (shared in c(TRUE, FALSE)) {
    control <- bnp_control(seed = 1, threads = 1L, verbose = FALSE, keep = "probabilities", moves = FALSE)
    fit <- bnp_mixture(y ~ t + u, data, obs_regression(random = ~t, shared = shared), prior_dirichlet(3), control,
      start = data$kind[!duplicated(data$id)], id = ~id)
    expect_gt(sum(rowSums(fit$probabilities^2) < 0.99), 3) # individuals who could be in either of two clusters
    own <- individual_effects(fit, fit$individual_sums)
    q <- posterior_params(fit)
    for (k in 1:3) {
      known <- is.infinite(q$df[k])
      tau <- if (known) 1 / q$scale[k] else q$df[k] / q$scale[k]
      W <- solve(q$random_scale[, , k]) * if (known) 1 else q$random_df[k]
      mean <- q$coef_mean[1, , k]
      for (i in c(1, 17, 40)) {
        rows <- which(data$id == rownames(fit$individual_sums)[i])
        S <- solve(tau * crossprod(z[rows, ]) + W)
        y <- data$y[rows] - mean[3] * data$u[rows]
        expect_equal(own$cov[, , i, k], unname(S), tolerance = 1e-6)
        expect_equal(own$mean[i, , k], drop(unname(S %*% (tau * crossprod(z[rows, ], y) + W %*% mean[1:2]))),
          tolerance = 1e-6)
      }
    }
    expect_equal(own$prob, unname(fit$probabilities), tolerance = 1e-8)
  }
})

test_that("accepted merges of individuals raise the bound by at least what they reported", {
  skip_without_testing_entries()
  d <- growth_data("wide", 1, 60L)
  kind <- d$kind[!duplicated(d$id)]
  halves <- diag(6)[2 * kind - seq_along(kind) %% 2, ] # each kind in two
  prior <- list(
    m = c(0, 0), kappa = .01, nu = 4, B = diag(c(.5, .2)), M = double(), V = matrix(0, 0, 0), nue = 3, Be = .25
  )
  for (shared in list(NULL, list(D = diag(c(1, .1)), sigma2 = .25))) {
    case <- list(
      model = effects_model(prior, 0:1, 2L, shared = shared), data = effects_data(d[c("y", "t")], as.integer(d$id))
    )
    control <- bnp_control(batches = 1, seed = 3, moves = bnp_moves(birth = FALSE, delete = FALSE), verbose = FALSE)
    control <- resolve_control(control, case$model$obs, case$model$prior, case$data$n, case$data$n, NULL)
    control$audit <- TRUE
    fit <- engine_fit(case$data, case$model, control, list(resp = halves), NULL)
    expect_audited(fit)
    expect_gte(sum(fit$trace$merges), 3)
    expect_equal(fit$audit[["moves"]], sum(fit$trace$merges))
    expect_lte(fit$audit[["gain"]], 1e-8)
  }
})

test_that("two trials of a row are two rows, but for the ways to order them", {
  d <- withr::with_seed(7, data.frame(id = rep(1:20, each = 6), x = rep(stats::rnorm(60), each = 2)))
  d$y <- withr::with_seed(8, stats::rbinom(120, 1, stats::plogis(c(-2, 2)[1 + d$id %% 2] + d$x)))
  first <- seq(1, 120, by = 2)
  yes <- d$y[first] + d$y[first + 1]
  both <- data.frame(id = d$id[first], x = d$x[first], yes = yes, no = 2 - yes)
  obs <- obs_regression(family = "binomial", coef_mean = c(0, 0), coef_precision = diag(c(.3, .5)))
  fit_of <- function(formula, data) {
    bnp_mixture(formula, data, obs, prior_dirichlet(2), glm_control(), start = 1 + unique(data$id) %% 2)
  }
  rows <- fit_of(y ~ x | id, d)
  trials <- fit_of(cbind(yes, no) ~ x | id, both)
  expect_equal(elbo(trials), elbo(rows) + sum(lchoose(2, yes)), tolerance = 1e-10)
  expect_equal(unname(coef(trials)$coef), unname(coef(rows)$coef), tolerance = 1e-6)
})

test_that("one cluster has the evidence of yes and no of documents with one topic", {
  skip_without_testing_entries()
  x <- withr::with_seed(1, matrix(1 + stats::rpois(200, 1), 40))
  dimnames(x) <- list(paste0("d", 1:40), paste0("t", 1:5))
  z <- withr::with_seed(2, stats::rnorm(40))
  y <- withr::with_seed(3, stats::rbinom(40, 1, stats::plogis(.5 + z)))
  topics <- function(values, response) {
    fit_responses(x, values, response, list(family = "lda", k = 1L, alpha = 1.2), laps = 300,
      start = list(resp = matrix(1, 40, 1)), k_init = 1L)$elbo
  }
  obs <- obs_regression(family = "binomial", coef_mean = c(0, 0), coef_precision = diag(.4, 2))
  fit <- bnp_mixture(y ~ z, data.frame(y, z), obs, prior_dirichlet(1), glm_control(), start = rep(1, 40))
  response <- topics(rbind(y, z), response_list("logistic", .4, covariates = 1)) - topics(NULL, NULL)
  expect_equal(response, elbo(fit), tolerance = 1e-9)
})

# Six rows of yes and no under the priors of the derivation (helper-glm.R).
six_x <- cbind(1, six$x)
six_precision <- diag(c(.3, .5))

test_that("six rows of yes and no have the evidence and the slope of the derivation", {
  evidence <- function(...) glm_quadrature(glm_rows(...), six_x, six_precision)
  expect_equal(evidence(six$one), -4.08248493, tolerance = 1e-8)
  expect_equal(evidence(six$one, offset = c(.5, -.3, 1, 0, -.8, .2)), -5.2369, tolerance = 1e-4)
  q <- glm_fixed_point(glm_rows(six$one), six_x, six_precision)
  expect_equal(c(q$mean[2], sqrt(q$cov[2, 2])), c(1.186905, .739580), tolerance = 1e-6)
})

test_that("the partitions of six rows of yes and no have the evidence of the derivation", {
  rows <- glm_rows(six$two)
  known <- vapply(1:63, function(set) {
    a <- bitwAnd(set, 2^(0:5)) > 0
    glm_quadrature(lapply(rows, `[`, a), six_x[a, , drop = FALSE], six_precision)
  }, 1)
  partitions <- unique(t(apply(expand.grid(1, 1:2, 1:3, 1:4, 1:5, 1:6), 1L, function(z) match(z, unique(z)))))
  expect_identical(nrow(partitions), 203L)
  each <- apply(partitions, 1L, function(z) {
    sum(lgamma(table(z))) - lgamma(7) + sum(known[tapply(2^(0:5), z, sum)])
  })
  expect_equal(max(each) + log(sum(exp(each - max(each)))), -4.52837634, tolerance = 1e-8)
})

test_that("two clusters of yes and no have the bound of the derivation, and joined sums are nearly a visit", {
  obs <- obs_regression(family = "binomial", coef_mean = c(0, 0), coef_precision = six_precision)
  start <- cbind(c(.9, .8, .4, .3, .9, .2), c(.1, .2, .6, .7, .1, .8))
  fit <- bnp_mixture(two ~ x, six, obs, prior_dp(1), glm_control(keep = "probabilities"), start = start)
  r <- fit$probabilities
  expect_equal(elbo(fit), -6.98631076, tolerance = 1e-8)
  expect_equal(unname(colSums(r)), c(5.8124, .1876), tolerance = 1e-4)
  rows <- glm_rows(six$two)
  sums <- lapply(1:2, function(k) {
    glm_statistic(rows, six_x, r[, k], glm_fixed_point(rows, six_x, six_precision, r = r[, k]))
  })
  joined <- glm_evidence(Map(`+`, sums[[1]], sums[[2]]), c(0, 0), six_precision)
  visited <- glm_evidence(glm_statistic(rows, six_x, rep(1, 6), joined), c(0, 0), six_precision)
  best <- glm_fixed_point(rows, six_x, six_precision)
  expect_equal(c(joined$value, visited$value, best$value), c(-5.190947, -5.185854, -5.185846), tolerance = 2e-7)
})

test_that("batches that end in another optimum than whole laps end in one of whole laps, and the other way round", {
  id <- rep(1:30, each = 5)
  kind <- rep(1:3, length.out = 30)
  for (family in c("gaussian", "negbinomial")) {
    set.seed(if (family == "gaussian") 16 else 18) # data for which the two ends differ
    d <- data.frame(id, t = runif(150, 0, 5))
    d$y <- c(0, 0, 3)[kind][id] + rnorm(30)[id] + c(0, 1.3, -.9)[kind][id] * d$t + rnorm(150, 0, .5)
    d$y <- if (family == "gaussian") d$y else rnbinom(150, size = 2, mu = exp(pmin(d$y, 3) / 2))
    obs <- if (family == "gaussian") obs_regression(learn = FALSE) else obs_regression(family = family)
    ended <- function(start, batches = 1L, laps = 3000L) {
      suppressWarnings(bnp_mixture(y ~ t | id, d, obs, prior_dirichlet(3), start = start,
        control = bnp_control(seed = 1, threads = 1L, moves = FALSE, restarts = 1L, tol = 1e-13, batches = batches,
          max_laps = laps)))
    }
    by_batches <- ended(kind, 3L)
    whole <- ended(kind)
    expect_gt(abs(elbo(by_batches) - elbo(whole)), 1)
    expect_equal(elbo(ended(by_batches, laps = 1L)), elbo(by_batches), tolerance = 1e-9) # the bound of all rows anew
    expect_equal(elbo(ended(by_batches)), elbo(by_batches), tolerance = 1e-9)
    expect_equal(elbo(ended(whole, 3L)), elbo(whole), tolerance = 1e-9)
  }
})
