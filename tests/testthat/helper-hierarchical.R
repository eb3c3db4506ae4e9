# The hierarchical prior of Gaussian clusters (src/observations/hierarchical_gaussian.h) in plain R: hard partitions.
# x: rows; H: list(c, v, f, and q(H): nu, a (Inf: diagonal), psi (Psi-bar), b, rate (E alpha), m, S, k1, k2). Of
# diagonal and spherical covariances `blocks` calls this with one column after the other, or has its own formulas.

log_det_of <- function(m) as.numeric(determinant(as.matrix(m))$modulus)
log_multigamma_of <- function(d, a) d * (d - 1) / 4 * log(pi) + sum(lgamma(a + (1 - seq_len(d)) / 2))
multidigamma_of <- function(d, a) sum(digamma(a + (1 - seq_len(d)) / 2))

hyper_posterior_of_cluster <- function(x, prior) {
  n <- nrow(x)
  strength <- prior$strength + n
  centre <- colMeans(x)
  spread <- crossprod(sweep(x, 2, centre)) + prior$strength * n / strength * tcrossprod(centre - prior$mean)
  list(
    mean = (prior$strength * prior$mean + n * centre) / strength, strength = strength, df = prior$df + n,
    scale = prior$scale + spread
  )
}

hyper_evidence <- function(x, prior) {
  d <- ncol(x)
  log_z <- function(df, scale, strength) {
    -df / 2 * log_det_of(scale) + df * d / 2 * log(2) + log_multigamma_of(d, df / 2) - d / 2 * log(strength)
  }
  q <- hyper_posterior_of_cluster(x, prior)
  log_z(q$df, q$scale, q$strength) - log_z(prior$df, prior$scale, prior$strength) - nrow(x) * d / 2 * log(2 * pi)
}

hyper_effective <- function(H) {
  d <- length(H$m)
  strength <- H$k1 / H$k2
  list(mean = H$m, strength = strength, df = H$nu, scale = H$nu * (H$psi + diag(H$f, d)) + strength * H$S)
}

# E log of the eigen-directions of Psi, one number or one for each column.
hyper_log_shape <- function(H) {
  d <- length(H$m)
  if (is.infinite(H$a)) return(digamma(H$b / 2) - log(H$b / 2) + log(diag(as.matrix(H$psi))))
  multidigamma_of(d, H$b / 2) - d * log(H$b / 2) + log_det_of(H$psi)
}

hyper_occupied <- function(H) {
  d <- length(H$m)
  prior <- hyper_effective(H)
  spread <- if (is.infinite(H$a)) sum(log(exp(hyper_log_shape(H)) + H$f)) else
    d * log(exp(hyper_log_shape(H) / d) + exp(mean(log(H$f))))
  H$nu / 2 * (d * log(H$nu) + spread - log_det_of(prior$scale)) + d / 2 * (digamma(H$k1) - log(H$k1))
}

hyper_gamma_divergence <- function(a, b, a0, b0) {
  (a - a0) * digamma(a) - lgamma(a) + lgamma(a0) + a0 * (log(b) - log(b0)) + a * (b0 - b) / b
}

# Without the prices of discrete choices.
hyper_log_density <- function(H) {
  d <- length(H$m)
  S <- as.matrix(H$S)
  of_mean <- 0.5 * (sum(diag(S) / H$v) + sum((H$m - H$c)^2 / H$v) - d + sum(log(H$v)) - log_det_of(S))
  out <- -of_mean - hyper_gamma_divergence(H$k1, H$k2, 0.25, 0.025)
  psi <- diag(as.matrix(H$psi))
  if (is.infinite(H$a)) return(out - sum(hyper_gamma_divergence(H$b / 2, H$b / (2 * psi), 0.25, 0.25 / H$v)))
  a <- H$a
  b <- H$b
  shape <- 0.2 + a / 2
  rate <- shape / H$rate
  log_shape <- hyper_log_shape(H)
  log_p <- a / 2 * sum(digamma(shape) - log(rate)) - 0.5 * sum(H$rate * psi) + (a - d - 1) / 2 * log_shape -
    a * d / 2 * log(2) - log_multigamma_of(d, a / 2)
  log_q <- (b - d - 1) / 2 * log_shape - b * d / 2 + b / 2 * (d * log(b) - log_det_of(H$psi)) - b * d / 2 * log(2) -
    log_multigamma_of(d, b / 2)
  out + log_p - log_q - sum(hyper_gamma_divergence(shape, rate, 0.2, 0.2 * 0.01 * H$v / a))
}

# Sums over clusters, a list of matrices, as the engine's ExpectedClusters.
hyper_expected <- function(H, clusters) {
  prior <- hyper_effective(H)
  q <- lapply(clusters, hyper_posterior_of_cluster, prior)
  precision <- lapply(q, function(one) one$df * solve(one$scale))
  offset <- lapply(q, function(one) one$mean - prior$mean)
  list(
    used = length(clusters), precision = as.numeric(Reduce(`+`, precision)),
    weighted_offset = as.numeric(Reduce(`+`, Map(`%*%`, precision, offset))),
    mean_spread = sum(mapply(function(one, L, e) length(e) / one$strength + sum(e * (L %*% e)), q, precision, offset))
  )
}

hyper_bound <- function(H, clusters) {
  prior <- hyper_effective(H)
  sum(vapply(clusters, hyper_evidence, 1, prior)) + length(clusters) * hyper_occupied(H) + hyper_log_density(H)
}

# What engine_hyperparameters() takes, and q(H) from what it returns.
hyper_about <- function(H, given = c(0, 0, 0, 0)) {
  list(location = H$c, variance = H$v, floor = H$f, d = length(H$c), spherical = 0, given = given)
}
hyper_to_engine <- function(H) {
  list(
    df = H$nu, wishart_df = if (is.finite(H$a)) H$a else 0, shape = as.numeric(H$psi), shape_df = H$b,
    rate = as.numeric(H$rate), mean = H$m, mean_variance = as.numeric(H$S), strength_shape = H$k1,
    strength_rate = H$k2, scale = numeric()
  )
}
hyper_from_engine <- function(H, q) {
  d <- length(H$m)
  utils::modifyList(H, list(
    psi = matrix(q$shape, d), b = q$shape_df, rate = q$rate, m = q$mean, S = matrix(q$mean_variance, d),
    k1 = q$strength_shape, k2 = q$strength_rate
  ))
}

# The same from the fields of an observation model, of any covariance: log density of q(H) with its prices; what each
# cluster with observations of all columns adds to the bound.
log_hyperprior_twin <- function(obs) hyper_twin(obs)$log_density
occupied_twin <- function(obs) hyper_twin(obs)$occupied

hyper_twin <- function(obs) {
  v <- obs$data_variance
  d <- length(v)
  shape <- as.matrix(obs$hyper_shape)
  full <- ncol(shape) > 1L || d == 1L
  spherical <- !full && length(shape) == 1L
  k <- obs$hyper_strength
  a <- if (obs$hyper_wishart_df > 0) obs$hyper_wishart_df else Inf
  # Of one block of columns, without means.
  shapes <- function(psi, v, f, b, rate) {
    H <- list(nu = obs$df, psi = psi, v = v, f = f, b = b, a = a, rate = rate, m = v)
    of_shape <- hyper_log_density(c(H, list(c = v, S = diag(v, length(v)), k1 = 0.25, k2 = 0.025)))
    spread <- if (is.infinite(a)) sum(log(exp(hyper_log_shape(H)) + f)) else
      length(v) * log(exp(hyper_log_shape(H) / length(v)) + exp(mean(log(f))))
    c(of_shape, obs$df / 2 * (length(v) * log(obs$df) + spread))
  }
  parts <- if (full) {
    shapes(shape, v, obs$data_floor, obs$hyper_shape_df, obs$hyper_rate)
  } else if (spherical) {
    shapes(shape, mean(v), mean(obs$data_floor), obs$hyper_shape_df, NULL)
  } else {
    rowSums(vapply(seq_len(d), function(j) {
      shapes(as.matrix(shape[j]), v[j], obs$data_floor[j], obs$hyper_shape_df[j], NULL)
    }, numeric(2)))
  }
  log_det_scale <- if (full) log_det_of(obs$scale) else sum(log(obs$scale))
  out <- list(
    log_density = parts[1L] - log(12) - if (full && d > 1L) log(11) else 0,
    occupied = parts[2L] - obs$df / 2 * log_det_scale
  )
  if (!is.null(obs$coef_mean)) return(hyper_twin_of_coefficients(obs, out))
  if (is.null(obs$mean)) return(out)
  S <- if (full) as.matrix(obs$hyper_mean_variance) else diag(obs$hyper_mean_variance, d)
  of_mean <- 0.5 * (sum(diag(S) / v) + sum((obs$mean - obs$data_location)^2 / v) - d + sum(log(v)) - log_det_of(S))
  list(
    log_density = out$log_density - of_mean - hyper_gamma_divergence(k[1L], k[2L], 0.25, 0.025),
    occupied = out$occupied + d / 2 * (digamma(k[1L]) - log(k[1L]))
  )
}

# out: without the coefficients' part.
hyper_twin_of_coefficients <- function(obs, out) {
  k <- obs$hyper_strength
  v <- obs$data_variance
  S <- as.matrix(obs$hyper_mean_variance)
  e <- ncol(obs$coef_mean)
  d <- length(v)
  off <- obs$coef_mean - obs$data_location
  square <- sum(diag(off %*% obs$coef_precision %*% t(off)) / v) * k[2L] / k[1L]
  of_mean <- 0.5 * (e * sum(diag(S) / v) + square - d * e + e * (sum(log(v)) - log_det_of(S)))
  list(
    log_density = out$log_density - of_mean - hyper_gamma_divergence(k[1L], k[2L], 0.25, 0.025),
    occupied = out$occupied + d * e / 2 * (digamma(k[1L]) - log(k[1L]))
  )
}

# Rows by rule, in K clusters: quantiles of Halton points, wider and farther from one cluster to the next.
halton <- function(n, base) {
  vapply(seq_len(n), function(i) {
    digit <- 1
    out <- 0
    while (i > 0) {
      digit <- digit / base
      out <- out + digit * (i %% base)
      i <- i %/% base
    }
    out
  }, 1)
}
clusters_by_rule <- function(d, n, k) {
  z <- rep_len(seq_len(k), n)
  normal <- stats::qnorm(vapply(c(2, 3, 5)[seq_len(d)], halton, numeric(n), n = n))
  x <- normal * (1 + 0.3 * (z - 1)) + outer(3 * (z - 1), (-1)^(seq_len(d) - 1))
  if (d >= 2L) x[, 2L] <- x[, 2L] + x[, 1L] / 2
  list(x = x, z = z, clusters = lapply(split(seq_len(n), z), function(i) x[i, , drop = FALSE]))
}
hyper_start <- function(x, e, a, k) {
  d <- ncol(x)
  v <- apply(x, 2, stats::var)
  nu <- d - 1 + e
  k1 <- 0.25 + k * d / 2
  centre <- apply(x, 2, stats::median)
  list(
    c = centre, v = v, f = 1e-4 * v, nu = nu, a = a, psi = diag(v / 10, d), m = centre, S = diag(v, d), k1 = k1,
    k2 = 100 * k1, b = if (is.infinite(a)) rep(0.5 + nu * k, d) else a + nu * k,
    rate = if (is.finite(a)) (0.2 + a / 2) / (0.2 * 0.01 * v / a + v / 20)
  )
}
