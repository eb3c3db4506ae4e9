# The laws of hidden linear dynamics: figures found by an independent slow implementation, dense solves, and terms of
# the bound from plain R.

y5 <- matrix(c(0.3, -0.8, 1.1, 0.4, 2.0))
r5 <- cbind(c(0.5, 0.6, 0.3, 0.7, 0.5), c(0.5, 0.4, 0.7, 0.3, 0.5))
scalar <- lds_obs(df = 4)

test_that("bounds of five rows are the figures of the slow implementation, and rise", {
  two <- lds_fit(y5, scalar, lds_laws_prior(2), r5, y5)
  expect_equal(two$elbo, -10.12228967, tolerance = 1e-9)
  expect_lt(two$elbo, -8.3307 + 3 * 0.0008) # evidence by draws from the prior
  expect_gt(min(diff(two$trace$elbo)), -1e-9)
  expect_equal(sum(two$terms), two$elbo)
  expect_named(two$terms, c("dynamics", "emission", "start", "entropy_states", "transitions", "entropy"))
  one <- lds_fit(y5, scalar, list(family = "hmm", k = 1L, alpha = 1, start = 1, sticky = 2), matrix(1, 5, 1), y5)
  expect_equal(one$elbo, -9.188504625, tolerance = 1e-9)
  for (case in list(c(1e-3, -10.42591802), c(1e-5, -10.42769619), c(1e-7, -10.42771394))) {
    known <- lds_fit(y5, lds_known_noise(scalar, case[1]), lds_laws_prior(2), r5, y5)
    expect_equal(known$elbo, case[2], tolerance = 1e-9)
  }
})

test_that("so is that with learned loadings, an intercept and gaps", {
  y <- rbind(c(0.3, 0.35), c(-0.8, -1.18), c(1.1, NA), c(NA, NA), c(2, 4.51))
  obs <- lds_obs(1, 2, identity = FALSE, intercept = TRUE, df = 4, coef_precision = diag(2))
  fit <- lds_fit(y, obs, lds_laws_prior(2), r5, matrix(c(0.3, -0.8, 1.1, 0.5, 2)))
  expect_equal(fit$elbo, -20.27328731, tolerance = 1e-9)
  expect_gt(min(diff(fit$trace$elbo)), -1e-9)
  expect_equal(fit$state$count, c(4, 3))
})

test_that("known parameters: the bound of the slow implementation, below the evidence of all paths", {
  a <- c(0.9, -0.5)
  q <- c(0.3, 0.6)
  noise <- 0.25
  modes <- lapply(1:2, function(k) list(w = matrix(1 / q[k]), g = matrix(a[k] / q[k]), f = matrix(a[k]^2 / q[k])))
  weights <- do.call(rbind, lapply(1:2, function(k) {
    lds_weights(modes[[k]]$w, modes[[k]]$g, modes[[k]]$f, -log(2 * pi * q[k]) / 2)
  }))
  obs <- lds_known_noise(scalar, noise)
  model <- list(obs = obs, prior = lds_laws_prior(2), bound = "jensen")
  data <- list(y = y5, starts = c(0L, 5L), rows = y5)
  state <- list(count = 5, moment = matrix(0))
  r <- r5
  theta <- list(c(0.5, 0.5), cbind(c(2.5, 0.5), c(0.5, 2.5)))
  dirichlet <- function(x, prior) lgamma(sum(prior)) - sum(lgamma(prior)) - lgamma(sum(x)) + sum(lgamma(x))
  expected <- function(x) digamma(x) - digamma(sum(x))
  log_start <- expected(theta[[1]] + r[2, ])
  log_p <- t(apply(theta[[2]] + crossprod(r[2:4, ], r[3:5, ]), 1, expected))
  for (round in 1:200) {
    found <- engine_lds_chain(data, model, state, r, weights)
    e <- found$features[-1, ] %*% t(weights)
    z <- engine_messages(log_start, log_p, e, c(0L, 4L), FALSE)
    r[2:5, ] <- z$resp
    counts <- list(theta[[1]] + z$start, theta[[2]] + z$transition)
    log_start <- expected(counts[[1]])
    log_p <- t(apply(counts[[2]], 1, expected))
  }
  terms <- c(
    dynamics = sum(r[2:5, ] * e), emission = found$expected, start = found$start, states = found$entropy,
    transitions = dirichlet(counts[[1]], theta[[1]]) +
      sum(vapply(1:2, function(k) dirichlet(counts[[2]][k, ], theta[[2]][k, ]), 1)),
    entropy = z$entropy
  )
  figures <- c(-4.234161638, -4.97774223, -1.309946276, 1.904593793, -1.277409065, 0.228869192)
  expect_equal(unname(terms), figures, tolerance = 1e-7)
  expect_equal(sum(terms), -9.665796223, tolerance = 1e-9)
  # Evidence: paths of modes, with their Dirichlet-multinomial probabilities, times Kalman filters.
  paths <- as.matrix(expand.grid(rep(list(1:2), 4)))
  log_p_path <- apply(paths, 1, function(z) {
    n <- matrix(0, 2, 2)
    for (t in 2:4) n[z[t - 1], z[t]] <- n[z[t - 1], z[t]] + 1
    start <- theta[[1]] + (1:2 == z[1])
    mu <- 0
    v <- 2
    out <- dirichlet(start, theta[[1]]) +
      sum(vapply(1:2, function(k) dirichlet(theta[[2]][k, ] + n[k, ], theta[[2]][k, ]), 1))
    for (t in 1:5) {
      if (t > 1) {
        mu <- a[z[t - 1]] * mu
        v <- a[z[t - 1]]^2 * v + q[z[t - 1]]
      }
      out <- out + dnorm(y5[t], mu, sqrt(v + noise), log = TRUE)
      gain <- v / (v + noise)
      mu <- mu + gain * (y5[t] - mu)
      v <- (1 - gain) * v
    }
    out
  })
  evidence <- max(log_p_path) + log(sum(exp(log_p_path - max(log_p_path))))
  expect_equal(evidence, -8.323431826, tolerance = 1e-9)
  expect_lt(sum(terms), evidence)
})

test_that("the chain of hidden states is a dense solve, with intercepts, gaps and several modes", {
  withr::local_seed(4)
  n <- 9
  m <- 2
  y <- matrix(rnorm(n * m), n)
  y[c(1, 14)] <- NA
  y[5, ] <- NA
  r <- matrix(rgamma(n * 3, 1), n)
  r <- r / rowSums(r)
  modes <- lapply(1:3, function(k) {
    w <- crossprod(matrix(rnorm(8), 4)) + diag(m)
    g <- w %*% matrix(rnorm(6) / 2, m)
    list(w = w, g = g, f = t(g) %*% solve(w, g) + crossprod(matrix(rnorm(9), 3)) / 5)
  })
  obs <- lds_known_noise(lds_obs(m, intercept = TRUE, start_mean = c(0.4, -1)), c(0.3, 2))
  model <- list(obs = obs, prior = lds_laws_prior(3), bound = "jensen")
  weights <- do.call(rbind, lapply(modes, function(p) lds_weights(p$w, p$g, p$f)))
  found <- engine_lds_chain(
    list(y = y, starts = c(0L, n), rows = y), model, list(count = c(0, 0), moment = matrix(0, 2, 1)), r, weights
  )
  dense <- lds_dense(y, r, modes, 1 / obs$noise, diag(m), c(0, 0), obs$start_mean, obs$start_var)
  expect_equal(found$mean, dense$mean, tolerance = 1e-10)
  expect_equal(found$entropy, dense$entropy, tolerance = 1e-10)
  for (t in seq_len(n)) {
    own <- dense$var[dense$at(t), dense$at(t)]
    expect_equal(found$var[t, ], own[upper.tri(own, diag = TRUE)], tolerance = 1e-10)
  }
  for (t in 2:n) { # E v v' with v = (x_{t-1}, 1, x_t)
    both <- c(dense$at(t - 1), dense$at(t))
    mean <- c(dense$mean[t - 1, ], 1, dense$mean[t, ])
    second <- tcrossprod(mean)
    second[-3, -3] <- second[-3, -3] + dense$var[both, both]
    expect_equal(found$features[t, ], c(1, second[upper.tri(second, diag = TRUE)]), tolerance = 1e-10)
  }
  away <- tcrossprod(dense$mean[1, ] - obs$start_mean) + dense$var[1:2, 1:2]
  expect_equal(
    found$start, -(m * log(2 * pi) + log(det(obs$start_var)) + sum(diag(solve(obs$start_var, away)))) / 2,
    tolerance = 1e-10
  )
})

# Terms of the bound of a fit from what it says of q, in plain R.
expect_terms <- function(fit, y, obs, starts, weight = rep(1, length(starts) - 1)) {
  p <- fit$paths
  m <- length(obs$unit)
  row_weight <- rep(weight, diff(starts))
  t_k <- t(p$resp * row_weight) %*% p$features
  expect_equal(fit$terms[["dynamics"]], sum(apply(t_k, 1, lds_evidence, obs = obs)), tolerance = 1e-9)
  var <- lapply(seq_len(nrow(y)), function(t) unpacked(p$var[t, ], m))
  expect_equal(
    fit$terms[["emission"]], lds_emission_evidence(y, p$mean, var, obs, row_weight), tolerance = 1e-9
  )
  log_det <- function(v) as.double(determinant(as.matrix(v))$modulus)
  e <- m + obs$intercept
  own <- lapply(seq_along(weight), function(g) {
    rows <- (starts[g] + 1):starts[g + 1]
    away <- p$mean[rows[1], ] - obs$start_mean
    start <- -(m * log(2 * pi) + log_det(obs$start_var) +
                 sum(diag(solve(obs$start_var, var[[rows[1]]] + tcrossprod(away))))) / 2
    # H of a Markov chain: pairs of neighbours less the rows that are in two of them.
    entropy <- length(rows) * m * (1 + log(2 * pi)) / 2 + log_det(var[[rows[1]]]) / 2
    for (t in rows[-1]) {
      second <- unpacked(p$features[t, -1], e + m)[c(seq_len(m), e + seq_len(m)), c(seq_len(m), e + seq_len(m))]
      entropy <- entropy + (log_det(second - tcrossprod(c(p$mean[t - 1, ], p$mean[t, ]))) - log_det(var[[t - 1]])) / 2
    }
    c(start, entropy)
  })
  expect_equal(fit$terms[["start"]], sum(weight * vapply(own, `[`, 1, 1)), tolerance = 1e-8)
  expect_equal(fit$terms[["entropy_states"]], sum(weight * vapply(own, `[`, 1, 2)), tolerance = 1e-8)
  expect_equal(fit$elbo, sum(fit$terms), tolerance = 1e-12)
  expect_gt(min(diff(fit$trace$elbo)), -1e-9)
}

test_that("terms of the bound are those of plain R: loadings, intercepts, gaps, several sequences, weights, moves", {
  data <- rotations(3, n = 120)
  y <- data$y %*% rbind(c(1, 0.5, -1), c(0, 1, 2)) + 1
  y[c(3, 50, 121, 240, 241)] <- NA
  y[80, ] <- NA
  starts <- c(0L, 40L, 41L, 120L)
  obs <- lds_obs(2, 3, identity = FALSE, intercept = TRUE, coef_precision = diag(0.1, 3))
  resp <- outer(data$z, 1:3, `==`) + 0
  fit <- lds_fit(y, obs, lds_laws_prior(3), resp, data$y, starts = starts, laps = 15L)
  expect_terms(fit, y, obs, starts)
  known <- lds_known_noise(obs, c(0.1, 0.2, 0.3))
  expect_terms(lds_fit(y, known, lds_laws_prior(3), resp, data$y, starts = starts, laps = 10L), y, known, starts)
  hdp <- list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 5, sticky = 20)
  plain <- lds_obs(2, coef_precision = diag(0.1, 2))
  weighted <- engine_fit(
    list(y = data$y, starts = c(0L, 50L, 120L), rows = data$y, weights = c(2, 1)),
    list(family = "systems", obs = plain, prior = hdp, bound = "jensen"),
    engine_control(1, max_laps = 25L, init = "best", moves = all_moves), NULL, NULL
  )
  expect_terms(weighted, data$y, plain, c(0, 50, 120), c(2, 1))
})

test_that("two threads give the bits of one, and the seed decides", {
  data <- rotations(5)
  run <- function(threads, seed = 1) {
    bnp_hmm(
      lapply(split(seq_len(120), rep(1:3, each = 40)), function(i) data$y[i, ]), obs = obs_lds(),
      prior = prior_hdp_hmm(sticky = 20),
      control = bnp_control(seed = seed, threads = threads, max_laps = if (long_tests()) 5 else 2, verbose = FALSE)
    )
  }
  one <- suppressWarnings(run(1))
  two <- suppressWarnings(run(2))
  expect_identical(one$elbo, two$elbo)
  expect_identical(one$latent, two$latent)
  expect_identical(one$state, two$state)
})

test_that("a sequence of weight 2 is the sequence twice; units of columns change the bound by their Jacobian alone", {
  data <- rotations(6)
  z <- data$z
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 20, verbose = FALSE)
  run <- function(x, start, ...) {
    suppressWarnings(bnp_hmm(x, obs = obs, prior = prior_hmm(3, sticky = 10), control = control, start = start, ...))
  }
  obs <- resolve_obs(obs_lds(), as_sequence_data(data$y, obs_lds()))
  twice <- run(list(data$y, data$y), c(z, z))
  expect_equal(elbo(run(list(data$y), z, weights = 2)), elbo(twice), tolerance = 1e-9)
  obs <- obs_lds()
  once <- run(data$y, z)
  eight <- run(data$y * 8, z)
  expect_equal(elbo(eight), elbo(once) - 400 * log(8), tolerance = 1e-9)
  expect_equal(latent_path(eight)$mean.u, 8 * latent_path(once)$mean.u, tolerance = 1e-9)
  expect_equal(coef(eight)$noise_var, 64 * coef(once)$noise_var, tolerance = 1e-9)
})

test_that("without noise the bound is that of an autoregression and the first row's density", {
  data <- rotations(7)
  prior <- prior_hmm(3, sticky = 10)
  control <- bnp_control(seed = 1, moves = FALSE, max_laps = 400, tol = 1e-12, verbose = FALSE)
  noise <- 1e-7
  s <- diag(0.05, 2)
  lds <- bnp_hmm(
    data$y, obs = obs_lds(noise = noise, df = 5, scale = s, coef_precision = 0.1, start_mean = c(0, 0), start_var = 4),
    prior = prior, control = control, start = data$z
  )
  ar <- bnp_hmm(
    data$y, obs = obs_ar(df = 5, scale = s, coef_precision = 0.1), prior = prior, control = control, start = data$z
  )
  first <- sum(dnorm(data$y[1, ], 0, sqrt(4 + noise), log = TRUE))
  expect_equal(elbo(lds), elbo(ar) + first, tolerance = 1e-4 / abs(elbo(ar)))
})

test_that("a row of NA is a row whose emission is left out", {
  data <- rotations(8, n = 60)
  y <- data$y
  y[20, ] <- NA
  obs <- lds_obs(2, coef_precision = diag(0.1, 2))
  fit <- lds_fit(y, obs, lds_laws_prior(1), matrix(1, 60, 1), data$y, laps = 100L)
  expect_equal(fit$state$count, c(59, 59))
  var <- lapply(1:60, function(t) unpacked(fit$paths$var[t, ], 2))
  s <- vapply(1:2, function(j) {
    sum(vapply(setdiff(1:60, 20), function(t) (y[t, j] - fit$paths$mean[t, j])^2 + var[[t]][j, j], 1))
  }, 1)
  expect_equal(drop(fit$state$moment), s)
  expect_gt(fit$paths$var[20, 1], 1.2 * fit$paths$var[30, 1])
})
