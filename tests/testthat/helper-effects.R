# A slow twin of regressions with random effects, in plain R from the page of their mathematics: individuals i with rows
# Z_i, X_i, y_i; in a cluster y = X b + Z a + e, e ~ N(0, 1/tau), a ~ N(mu, D), W = 1/D; (mu, W) normal-Wishart with m,
# kappa, nu, B; (b, tau) normal-gamma with M, V, nu_e, B_e. Where D and the noise are shared, they are points; where
# prior$independent is TRUE, D is diagonal, each entry with a prior of its own.

individuals_of <- function(y, z, x, id) {
  lapply(split(seq_along(y), id), function(rows) {
    list(y = y[rows], z = z[rows, , drop = FALSE], x = x[rows, , drop = FALSE])
  })
}

effects_zero <- function(prior) {
  q <- length(prior$m)
  p <- length(prior$M)
  list(N = 0, n = 0, m = double(q), mm = matrix(0, q, q), XX = matrix(0, p, p), xy = double(p), yy = 0, ent = 0)
}

# Lambda(T), and the posterior in terms of which a visit is written. shared: list(D, sigma2), else NULL.
effects_globals <- function(T, prior, shared = NULL) {
  q <- length(prior$m)
  kappa <- prior$kappa + T$N
  m <- (prior$kappa * prior$m + T$m) / kappa
  V <- prior$V + T$XX
  b <- if (length(prior$M)) drop(solve(V, prior$V %*% prior$M + T$xy)) else double()
  QD <- T$mm + prior$kappa * tcrossprod(prior$m) - kappa * tcrossprod(m)
  Qe <- T$yy + sum(prior$M * (prior$V %*% prior$M)) - sum(b * (V %*% b))
  log_det <- function(A) if (length(A)) as.numeric(determinant(A)$modulus) else 0
  log_v <- (log_det(prior$V) - log_det(V)) / 2
  if (!is.null(shared)) {
    value <- -T$N / 2 * log_det(2 * pi * shared$D) - sum(diag(solve(shared$D, QD))) / 2 +
      q / 2 * log(prior$kappa / kappa) - T$n / 2 * log(2 * pi * shared$sigma2) - Qe / 2 / shared$sigma2 + log_v + T$ent
    return(list(
      value = value, W = solve(shared$D), log_W = -log_det(shared$D), tau = 1 / shared$sigma2,
      log_tau = -log(shared$sigma2), m = m, kappa = kappa, b = b, V = V, QD = QD, Qe = Qe
    ))
  }
  nu <- prior$nu + T$N
  independent <- isTRUE(prior$independent)
  if (independent) prior$B <- diag(diag(prior$B), q)
  B <- prior$B + if (independent) diag(diag(QD), q) else QD
  nue <- prior$nue + T$n
  Be <- prior$Be + Qe
  lower <- if (independent) rep(0, q) else seq_len(q) - 1
  gamma_q <- function(x) sum(lgamma(x - lower / 2))
  value <- -T$N * q / 2 * log(pi) + q / 2 * log(prior$kappa / kappa) + prior$nu / 2 * log_det(prior$B) -
    nu / 2 * log_det(B) + gamma_q(nu / 2) - gamma_q(prior$nu / 2) -
    T$n / 2 * log(pi) + log_v + prior$nue / 2 * log(prior$Be) - nue / 2 * log(Be) + lgamma(nue / 2) -
    lgamma(prior$nue / 2) + T$ent
  list(
    value = value, W = if (q) nu * solve(B) else B, log_W = sum(digamma((nu - lower) / 2)) + q * log(2) - log_det(B),
    tau = nue / Be, log_tau = digamma(nue / 2) - log(Be / 2), m = m, kappa = kappa, b = b, V = V, nu = nu, B = B,
    nue = nue, Be = Be
  )
}

# One individual in one cluster: log weight of it there but for E log pi, q(a) and what it adds to statistics.
effects_visit <- function(one, g) {
  q <- length(g$m)
  ZZ <- crossprod(one$z)
  S <- if (q) solve(g$tau * ZZ + g$W) else ZZ
  r <- if (length(g$b)) one$y - drop(one$x %*% g$b) else one$y
  m <- drop(S %*% (g$tau * crossprod(one$z, r) + g$W %*% g$m))
  e <- one$y - drop(one$z %*% m)
  n <- length(e)
  yy <- sum(e^2) + sum(ZZ * S)
  xy <- drop(crossprod(one$x, e))
  XX <- crossprod(one$x)
  Q <- yy - 2 * sum(g$b * xy) + sum(g$b * (XX %*% g$b))
  ent <- if (q) as.numeric(determinant(2 * pi * exp(1) * S)$modulus) / 2 else 0
  fixed <- if (length(g$b)) sum(diag(solve(g$V, XX))) / 2 else 0
  away <- m - g$m
  score <- n / 2 * (g$log_tau - log(2 * pi)) - g$tau * Q / 2 - fixed + (g$log_W - q * log(2 * pi)) / 2 -
    (sum(g$W * S) + sum(away * (g$W %*% away)) + q / g$kappa) / 2 + ent
  list(score = score, m = m, S = S, T = list(
    N = 1, n = n, m = m, mm = tcrossprod(m) + S, XX = XX, xy = xy, yy = yy, ent = ent
  ))
}

effects_sum <- function(parts, weight, prior) {
  Reduce(function(T, i) Map(function(a, b) a + weight[i] * b, T, parts[[i]]), seq_along(parts), effects_zero(prior))
}

# Coordinate ascent for given responsibilities r (individuals x clusters), from T = 0 on: list(value, steps, T,
# globals).
effects_fit <- function(people, r, prior, shared = NULL, laps = 500) {
  globals <- lapply(seq_len(ncol(r)), function(k) effects_globals(effects_zero(prior), prior, shared))
  trace <- double()
  for (lap in seq_len(laps)) {
    T <- lapply(seq_len(ncol(r)), function(k) {
      effects_sum(lapply(people, function(one) effects_visit(one, globals[[k]])$T), r[, k], prior)
    })
    globals <- lapply(T, effects_globals, prior, shared)
    trace[lap] <- sum(vapply(globals, `[[`, 1, "value"))
    if (lap > 1L && trace[lap] - trace[lap - 1L] < 1e-13 * abs(trace[lap])) break
  }
  list(value = trace[lap], steps = diff(trace), T = T, globals = globals)
}

# What the engine takes: y and covariates, with an intercept; `effects` from 0; prior as the twin has it.
effects_model <- function(prior, effects, e, alloc = list(family = "dp", concentration = 1), shared = NULL,
                          unit = rep(1, e)) {
  independent <- isTRUE(prior$independent)
  coef <- rep(0, e)
  coef[effects + 1L] <- prior$m
  coef[-(effects + 1L)] <- prior$M
  precision <- diag(prior$kappa, e)
  precision[-(effects + 1L), -(effects + 1L)] <- prior$V
  list(obs = c(list(
    family = "random_effects", responses = 1L, intercept = TRUE, df = prior$nue, scale = matrix(prior$Be),
    coef_mean = matrix(coef, 1L), scaled_precision = precision, origin = rep(0, e - 1L), spread = rep(1, e - 1L),
    centre = rep(0, e), unit = unit, effects = as.integer(effects), random_df = prior$nu,
    centred_random_scale = prior$B, repeated = TRUE, independent = independent
  ), if (!is.null(shared)) list(shared_cov = shared$D, shared_noise = shared$sigma2)), prior = alloc)
}

effects_data <- function(x, id) {
  list(x = unname(as.matrix(x)), n = nrow(x), d = ncol(x), starts = c(0L, nrow(x)), individual = as.integer(id),
    n_individuals = max(id))
}
