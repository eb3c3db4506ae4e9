# Models of hidden linear dynamics as the engine reads them, and slow twins in plain R.

lds_obs <- function(m = 1, d = m, identity = TRUE, intercept = FALSE, ...) {
  e <- m + intercept
  utils::modifyList(list(
    family = "lds", identity = identity, intercept = intercept, df = m + 3, scale = diag(2, m),
    coef_mean = cbind(diag(0.8, m), matrix(0, m, intercept)), coef_precision = diag(2, e), centre = rep(0, m),
    unit = rep(1, m), column_centre = rep(0, d), column_unit = rep(1, d), noise_df = 4, noise_scale = rep(1, d),
    loading_precision = diag(m + 1), start_mean = rep(0, m), start_var = diag(2, m), rows_scale = diag(2, m)
  ), list(...))
}

lds_known_noise <- function(obs, noise) {
  obs$noise <- noise
  obs[setdiff(names(obs), c("noise_df", "noise_scale"))]
}

lds_laws_prior <- function(k) list(family = "hmm", k = as.integer(k), alpha = k / 2, start = k / 2, sticky = 2)

# A fit by the engine from responsibilities (first rows of sequences: any) and q(x) without covariances between rows.
lds_fit <- function(y, obs, prior, resp, mean, var = 0.1, starts = c(0L, nrow(y)), laps = 200L, ...) {
  m <- length(obs$unit)
  v <- matrix(0, nrow(y), m * (m + 1) / 2)
  v[, cumsum(seq_len(m))] <- var
  engine_fit(
    list(y = y, starts = as.integer(starts), rows = mean),
    list(family = "systems", obs = obs, prior = prior, bound = "jensen"),
    engine_control(ncol(resp), max_laps = laps, tol = -1, init = "one", ...), list(resp = resp, mean = mean, var = v),
    NULL
  )
}

# Weights of a mode for the engine: E log p(x | xi) = c - (x'Wx - 2 x'G xi + xi'F xi) / 2 with v = (xi, x).
lds_weights <- function(w, g, f, constant = 0) {
  e <- ncol(g)
  m <- nrow(g)
  a <- rbind(cbind(f, -t(g)), cbind(-g, w))
  out <- numeric()
  for (i in seq_len(e + m)) for (j in seq_len(i)) out <- c(out, if (i == j) -a[i, i] / 2 else -a[i, j])
  c(constant, out)
}

# q(x) of one sequence by a dense solve: potentials of rows 2, ..., n with r (n x K) and lists w, g, f of the modes;
# emission: precision (D) and loadings (D x m [+ 1]) without uncertainty.
lds_dense <- function(y, r, modes, rho, loadings, offset, start_mean, start_var) {
  n <- nrow(y)
  m <- length(start_mean)
  at <- function(t) (t - 1) * m + seq_len(m)
  j <- matrix(0, n * m, n * m)
  h <- numeric(n * m)
  j[at(1), at(1)] <- solve(start_var)
  h[at(1)] <- solve(start_var, start_mean)
  for (t in seq_len(n)[-1]) for (k in seq_along(modes)) {
    p <- modes[[k]]
    x <- seq_len(m)
    j[at(t), at(t)] <- j[at(t), at(t)] + r[t, k] * p$w
    j[at(t - 1), at(t - 1)] <- j[at(t - 1), at(t - 1)] + r[t, k] * p$f[x, x]
    j[at(t), at(t - 1)] <- j[at(t), at(t - 1)] - r[t, k] * p$g[, x]
    j[at(t - 1), at(t)] <- t(j[at(t), at(t - 1)])
    if (ncol(p$g) > m) {
      h[at(t)] <- h[at(t)] + r[t, k] * p$g[, m + 1]
      h[at(t - 1)] <- h[at(t - 1)] - r[t, k] * p$f[x, m + 1]
    }
  }
  for (t in seq_len(n)) for (i in which(!is.na(y[t, ]))) {
    c_i <- loadings[i, ]
    j[at(t), at(t)] <- j[at(t), at(t)] + rho[i] * tcrossprod(c_i)
    h[at(t)] <- h[at(t)] + rho[i] * c_i * (y[t, i] - offset[i])
  }
  v <- solve(j)
  list(mean = matrix(v %*% h, n, m, byrow = TRUE), var = v, at = at,
       entropy = (n * m * (1 + log(2 * pi)) - as.double(determinant(j)$modulus)) / 2)
}

# Log evidence of one matrix-normal-Wishart regression from T = (N, packed E v v'), v = (xi, x).
lds_evidence <- function(t, obs) {
  m <- length(obs$unit)
  e <- ncol(obs$coef_mean)
  s <- matrix(0, e + m, e + m)
  s[upper.tri(s, diag = TRUE)] <- t[-1]
  s <- s + t(s) - diag(diag(s), e + m)
  z <- seq_len(e)
  log_z <- function(df, b, v) {
    -df / 2 * as.double(determinant(b)$modulus) + df * m / 2 * log(2) +
      m * (m - 1) / 4 * log(pi) + sum(lgamma((df + 1 - seq_len(m)) / 2)) - m / 2 * as.double(determinant(v)$modulus)
  }
  v <- obs$coef_precision + s[z, z]
  mean <- (obs$coef_mean %*% obs$coef_precision + s[-z, z, drop = FALSE]) %*% solve(v)
  b <- obs$scale + obs$coef_mean %*% obs$coef_precision %*% t(obs$coef_mean) + s[-z, -z] - mean %*% v %*% t(mean)
  log_z(obs$df + t[1], b, v) - log_z(obs$df, obs$scale, obs$coef_precision) - t[1] * m / 2 * log(2 * pi)
}

# The same of the emission from y, means (n x m) and covariances (list of n) of x.
lds_emission_evidence <- function(y, mean, var, obs, weight = rep(1, nrow(y))) {
  m <- ncol(mean)
  sum(vapply(seq_len(ncol(y)), function(j) {
    rows <- which(!is.na(y[, j]))
    w <- weight[rows]
    n <- sum(w)
    if (obs$identity) {
      s <- sum(w * ((y[rows, j] - mean[rows, j])^2 + vapply(rows, function(t) var[[t]][j, j], 1)))
      log_ratio <- 0
    } else {
      xx <- obs$loading_precision
      xy <- numeric(m + 1)
      for (t in rows) {
        u <- c(mean[t, ], 1)
        cov <- matrix(0, m + 1, m + 1)
        cov[seq_len(m), seq_len(m)] <- var[[t]]
        xx <- xx + weight[t] * (tcrossprod(u) + cov)
        xy <- xy + weight[t] * y[t, j] * u
      }
      s <- sum(w * y[rows, j]^2) - sum(xy * solve(xx, xy))
      log_ratio <- as.double(determinant(obs$loading_precision)$modulus - determinant(xx)$modulus)
    }
    if (!is.null(obs$noise)) {
      return(log_ratio / 2 - n / 2 * log(2 * pi * obs$noise[j]) - s / 2 / obs$noise[j])
    }
    df <- obs$noise_df
    b <- obs$noise_scale[j]
    log_ratio / 2 - n / 2 * log(2 * pi) + lgamma((df + n) / 2) - lgamma(df / 2) + n / 2 * log(2) -
      (df + n) / 2 * log(b + s) + df / 2 * log(b)
  }, 1))
}

# Models with q inputs whose modes have emissions of their own.
switched <- function(m, d, q, ...) {
  given <- list(m, d, ..., input_unit = rep(1, q), input_centre = rep(0, q), by_mode = TRUE)
  obs <- do.call(lds_obs, given)
  e <- m + obs$intercept
  precision <- diag(1, e + q)
  precision[seq_len(e), seq_len(e)] <- diag(2, e)
  utils::modifyList(obs, list(coef_mean = cbind(obs$coef_mean[, seq_len(e), drop = FALSE], matrix(0, m, q)),
    coef_precision = precision))
}

# As lds_fit(), with inputs.
fit_with <- function(y, u, obs, prior, resp, mean, starts = c(0L, nrow(y)), laps = 200L, ..., weights = NULL) {
  m <- length(obs$unit)
  v <- matrix(0, nrow(y), m * (m + 1) / 2)
  v[, cumsum(seq_len(m))] <- 0.1
  data <- list(y = y, starts = as.integer(starts), rows = mean)
  data$inputs <- u
  data$weights <- weights
  engine_fit(
    data, list(family = "systems", obs = obs, prior = prior, bound = "jensen"),
    engine_control(ncol(resp), max_laps = laps, tol = -1, init = "one", ...), list(resp = resp, mean = mean, var = v),
    NULL
  )
}

# Dynamics and emission of the bound from q(z) and q(x) in plain R.
expect_switched_terms <- function(fit, y, obs, starts, weight = rep(1, length(starts) - 1)) {
  p <- fit$paths
  m <- length(obs$unit)
  by_row <- rep(weight, diff(starts))
  width <- 2 * m + obs$intercept + length(obs$input_unit)
  dynamics <- p$features[, 1 + seq_len(1 + width * (width + 1) / 2)]
  expect_equal(dynamics[starts[-length(starts)] + 1, 1], rep(0, length(weight)))
  t_k <- t(p$resp * by_row) %*% dynamics
  expect_equal(fit$terms[["dynamics"]], sum(apply(t_k, 1, lds_evidence, obs = obs)), tolerance = 1e-9)
  var <- lapply(seq_len(nrow(y)), function(t) unpacked(p$var[t, ], m))
  each <- vapply(seq_len(ncol(p$resp)), function(k) {
    if (is.matrix(obs$noise)) obs$noise <- obs$noise[, fit$state$named[k]] # of known modes each has its own
    lds_emission_evidence(y, p$mean, var, obs, by_row * p$resp[, k])
  }, 1)
  expect_equal(fit$terms[["emission"]], sum(each), tolerance = 1e-9)
  expect_equal(rowSums(p$resp), rep(1, nrow(y)))
  expect_equal(fit$elbo, sum(fit$terms), tolerance = 1e-12)
  expect_gt(min(diff(fit$trace$elbo)), -1e-8)
}

rotations <- function(seed = 1, noise = 0.3, n = 200) {
  withr::with_seed(seed, {
    turn <- function(angle, modulus) modulus * matrix(c(cos(angle), sin(angle), -sin(angle), cos(angle)), 2)
    a <- list(turn(0.1, 0.99), turn(0.7, 0.98), turn(-0.35, 0.98))
    z <- rep(rep(1:3, length.out = ceiling(n / 40)), each = 40)[seq_len(n)]
    x <- matrix(0, n, 2)
    x[1, ] <- c(3, 0)
    for (t in seq_len(n)[-1]) x[t, ] <- a[[z[t]]] %*% x[t - 1, ] + rnorm(2, sd = 0.2)
    list(y = `colnames<-`(x + rnorm(2 * n, sd = noise), c("u", "v")), x = x, z = z)
  })
}
