# The laws of linear systems with inputs, and whose modes have emissions of their own: figures of an independent slow
# implementation, dense solves, terms of the bound from plain R, and special cases that must agree.

y4 <- rbind(c(0.3, 0.35), c(-0.8, -1.18), c(1.1, NA), c(2, 4.51))
u4 <- matrix(c(0.5, -1, 0.8, 1.5))
of_page <- switched(1, 2, 1, identity = FALSE, df = 4)

test_that("the bound of four rows is the figure of the slow implementation, from several starts, and rises", {
  mean <- matrix(c(0.3, -0.8, 1.1, 2))
  for (first in list(c(0.5, 0.6, 0.3, 0.7), c(0.6, 0.4, 0.4, 0.6))) {
    fit <- fit_with(y4, u4, of_page, lds_laws_prior(2), cbind(first, 1 - first), mean, laps = 400L)
    expect_equal(fit$elbo, -17.901612558, tolerance = 1e-9)
    expect_gt(min(diff(fit$trace$elbo)), -1e-9)
    terms <- c(-7.23704159, -11.10755765, -1.32775188, 2.87873698, -1.12990983, 0.02191141)
    expect_equal(unname(fit$terms), terms, tolerance = 1e-6)
    expect_named(fit$terms, c("dynamics", "emission", "start", "entropy_states", "transitions", "entropy"))
  }
  # The evidence, by draws of all parameters and sums over the 16 paths.
  evidence <- withr::with_seed(1, {
    n <- 40000
    each <- function() {
      noise <- 1 / rgamma(n, 2, 1)
      a <- rnorm(n, 0.8, sqrt(noise / 2))
      f <- rnorm(n, 0, sqrt(noise))
      r <- matrix(1 / rgamma(2 * n, 2, 0.5), n)
      list(q = noise, a = a, f = f, r = r, c = matrix(rnorm(2 * n), n) * sqrt(r), d = matrix(rnorm(2 * n), n) * sqrt(r))
    }
    modes <- list(each(), each())
    dirichlet <- function(a, b) rbeta(n, a, b)
    start <- dirichlet(0.5, 0.5)
    stay <- list(dirichlet(2.5, 0.5), dirichlet(2.5, 0.5))
    total <- 0
    for (path in seq_len(16)) {
      z <- 1 + bitwAnd(bitwShiftR(path - 1, 0:3), 1)
      p <- if (z[1] == 1) start else 1 - start
      mu <- rep(0, n)
      v <- rep(2, n)
      for (t in 1:4) {
        k <- modes[[z[t]]]
        if (t > 1) {
          p <- p * if (z[t] == z[t - 1]) stay[[z[t]]] else 1 - stay[[z[t - 1]]]
          mu <- k$a * mu + k$f * u4[t]
          v <- k$a^2 * v + k$q
        }
        for (j in which(!is.na(y4[t, ]))) {
          s <- k$c[, j]^2 * v + k$r[, j]
          e <- y4[t, j] - k$c[, j] * mu - k$d[, j]
          p <- p * dnorm(e, 0, sqrt(s))
          gain <- v * k$c[, j] / s
          mu <- mu + gain * e
          v <- v * k$r[, j] / s
        }
      }
      total <- total + p
    }
    log(mean(total))
  })
  expect_equal(evidence, -13.822, tolerance = 0.15 / 13.8)
  expect_lt(fit$elbo, evidence)
})

test_that("the chain of hidden states is a dense solve", {
  withr::local_seed(4)
  n <- 7
  m <- 2
  y <- matrix(rnorm(3 * n), n)
  y[c(1, 9, 18)] <- NA
  y[5, ] <- NA
  u <- matrix(rnorm(2 * n), n)
  r <- matrix(rgamma(n * 2, 1), n)
  r <- r / rowSums(r)
  b <- cbind(1, u) # what moves states beside themselves
  modes <- lapply(1:2, function(k) {
    w <- crossprod(matrix(rnorm(8), 4)) + diag(m)
    g <- w %*% matrix(rnorm(m * 5) / 2, m)
    list(w = w, g = g, f = t(g) %*% solve(w, g) + crossprod(matrix(rnorm(15), 3)) / 5)
  })
  obs <- switched(m, 3, 2, identity = FALSE, intercept = TRUE, start_mean = c(0.4, -1))
  # Statistics of the emission of each mode, of 20 rows.
  seen <- lapply(1:2, function(k) lapply(1:3, function(j) crossprod(cbind(matrix(rnorm(40), 20), 1, rnorm(20)))))
  packed <- function(s) s[upper.tri(s, diag = TRUE)]
  state <- lapply(seen, function(of) list(count = rep(20, 3), moment = do.call(rbind, lapply(of, packed))))
  found <- engine_lds_chain(
    list(y = y, starts = c(0L, n), rows = y[, 1:2], inputs = u),
    list(obs = obs, prior = lds_laws_prior(2), bound = "jensen"), state, r,
    do.call(rbind, lapply(modes, function(p) lds_weights(p$w, p$g, p$f)))
  )
  at <- function(t) (t - 1) * m + seq_len(m)
  j <- matrix(0, n * m, n * m)
  h <- numeric(n * m)
  j[at(1), at(1)] <- solve(obs$start_var)
  h[at(1)] <- solve(obs$start_var, obs$start_mean)
  for (t in seq_len(n)) for (k in 1:2) {
    p <- modes[[k]]
    if (t > 1) {
      j[at(t), at(t)] <- j[at(t), at(t)] + r[t, k] * p$w
      j[at(t - 1), at(t - 1)] <- j[at(t - 1), at(t - 1)] + r[t, k] * p$f[1:2, 1:2]
      j[at(t), at(t - 1)] <- j[at(t), at(t - 1)] - r[t, k] * p$g[, 1:2]
      j[at(t - 1), at(t)] <- t(j[at(t), at(t - 1)])
      h[at(t)] <- h[at(t)] + r[t, k] * p$g[, 3:5] %*% b[t, ]
      h[at(t - 1)] <- h[at(t - 1)] - r[t, k] * p$f[1:2, 3:5] %*% b[t, ]
    }
    for (i in which(!is.na(y[t, ]))) {
      s <- seen[[k]][[i]]
      v <- diag(3) + s[1:3, 1:3]
      c <- solve(v, s[1:3, 4])
      rho <- (4 + 20) / (1 + s[4, 4] - sum(s[1:3, 4] * c))
      f <- rho * tcrossprod(c) + solve(v)
      j[at(t), at(t)] <- j[at(t), at(t)] + r[t, k] * f[1:2, 1:2]
      h[at(t)] <- h[at(t)] + r[t, k] * (rho * c[1:2] * y[t, i] - f[1:2, 3])
    }
  }
  v <- solve(j)
  mean <- matrix(v %*% h, n, m, byrow = TRUE)
  expect_equal(found$mean, mean, tolerance = 1e-10)
  expect_equal(found$entropy, (n * m * (1 + log(2 * pi)) - as.double(determinant(j)$modulus)) / 2, tolerance = 1e-10)
  for (t in 2:n) { # E v v' with v = (x_{t-1}, 1, u_t, x_t)
    all <- c(mean[t - 1, ], b[t, ], mean[t, ])
    second <- tcrossprod(all)
    both <- c(at(t - 1), at(t))
    second[c(1:2, 6:7), c(1:2, 6:7)] <- second[c(1:2, 6:7), c(1:2, 6:7)] + v[both, both]
    expect_equal(found$features[t, 1 + seq_len(29)], c(1, packed(second)), tolerance = 1e-10)
  }
  expect_equal(found$features[1, 1:30], c(1, rep(0, 29)))
})

test_that("terms of the bound are those of plain R: gaps, sequences, weights, inputs, moves and births", {
  data <- rotations(3, n = 120)
  u <- withr::with_seed(5, cbind(rnorm(120), rep(0:1, each = 60)))
  y <- data$y
  y[c(3, 50, 121)] <- NA
  y[80, ] <- NA
  starts <- c(0L, 40L, 41L, 120L)
  resp <- outer(data$z, 1:3, `==`) + 0
  identity <- switched(2, 2, 2, intercept = TRUE)
  expect_switched_terms(fit_with(y, u, identity, lds_laws_prior(3), resp, data$y, starts, 10L), y, identity, starts)
  wide <- data$y %*% rbind(c(1, 0.5, -1), c(0, 1, 2)) + 1
  wide[c(3, 50, 121, 240, 241)] <- NA
  loadings <- switched(2, 3, 2, identity = FALSE)
  fit <- fit_with(wide, u, loadings, lds_laws_prior(3), resp, data$y, starts, 10L, moves = all_moves, audit = TRUE)
  expect_switched_terms(fit, wide, loadings, starts)
  hdp <- list(family = "hdp_hmm", gamma = 5, alpha = 0.5, start = 5, sticky = 20)
  noisy <- data$y
  noisy[60:105, 2] <- noisy[60:105, 2] + withr::with_seed(8, rnorm(46, sd = 8))
  born <- fit_with(
    noisy, u, switched(2, 2, 2), hdp, matrix(1, 120, 1), noisy, c(0L, 50L, 120L), 30L, weights = c(2, 1),
    moves = all_moves, audit = TRUE
  )
  expect_gt(born$state$k, 1)
  expect_switched_terms(born, noisy, switched(2, 2, 2), c(0L, 50L, 120L), c(2, 1))
})

test_that("with one mode an emission of its own is that of all", {
  data <- rotations(4, n = 60)
  one <- list(family = "hmm", k = 1L, alpha = 1, start = 1, sticky = 2)
  u <- withr::with_seed(6, matrix(rnorm(60)))
  for (identity in c(TRUE, FALSE)) {
    y <- if (identity) data$y else data$y %*% rbind(c(1, 0, 1), c(0, 1, 1))
    own <- switched(2, ncol(y), 1, identity = identity)
    shared <- own[names(own) != "by_mode"]
    # Five laps: on the way out of a saddle of the bound rounding errors grow from lap to lap.
    got <- lapply(list(own, shared), function(obs) fit_with(y, u, obs, one, matrix(1, 60, 1), data$y, laps = 5L))
    expect_equal(got[[1]]$elbo, got[[2]]$elbo, tolerance = 1e-10)
    expect_equal(got[[1]]$terms[names(got[[2]]$terms)], got[[2]]$terms, tolerance = 1e-9)
    expect_equal(got[[1]]$paths$mean, got[[2]]$paths$mean, tolerance = 1e-6)
    # Statistics of modes sum to those of all rows.
    p <- 1 + 5 * 6 / 2
    counts <- colSums(got[[1]]$paths$features)[1 + p + seq_len(ncol(y))]
    expect_equal(counts, got[[2]]$state$count)
    moments <- colSums(got[[1]]$paths$features)[-seq_len(1 + p + ncol(y))]
    expect_equal(moments, c(t(got[[2]]$state$moment)), tolerance = 1e-7)
  }
})

test_that("inputs of 0 say nothing, one that is always 1 is an intercept, and their order is nothing but names", {
  data <- rotations(5, n = 80)
  resp <- outer(data$z, 1:3, `==`) + 0
  run <- function(u, obs) fit_with(data$y, u, obs, lds_laws_prior(3), resp, data$y, laps = 20L)$elbo
  plain <- lds_fit(data$y, lds_obs(2, coef_precision = diag(2, 2)), lds_laws_prior(3), resp, data$y, laps = 20L)$elbo
  shared <- function(...) {
    obs <- switched(2, 2, ...)
    obs[names(obs) != "by_mode"]
  }
  expect_equal(run(matrix(0, 80, 1), shared(1)), plain, tolerance = 1e-11)
  with_intercept <- lds_obs(2, intercept = TRUE, coef_precision = diag(c(2, 2, 1)))
  expect_equal(
    run(matrix(1, 80, 1), shared(1)),
    lds_fit(data$y, with_intercept, lds_laws_prior(3), resp, data$y, laps = 20L)$elbo, tolerance = 1e-11
  )
  u <- withr::with_seed(7, matrix(rnorm(160), 80))
  expect_equal(run(u, shared(2)), run(u[, 2:1], shared(2)), tolerance = 1e-11)
  expect_equal(run(u, switched(2, 2, 2)), run(u[, 2:1], switched(2, 2, 2)), tolerance = 1e-11)
  # In other units and around other centres the prior is the same.
  scaled <- utils::modifyList(
    shared(1, intercept = TRUE), list(coef_precision = diag(c(2, 2, 2, 1)), input_unit = 3, input_centre = 5)
  )
  bare <- utils::modifyList(scaled, list(input_unit = 1, input_centre = 0))
  expect_equal(run(u[, 1, drop = FALSE], scaled), run(u[, 1, drop = FALSE], bare), tolerance = 1e-9)
})
