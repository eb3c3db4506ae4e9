# The data term of a fit with t rows in plain R, from responsibilities and posterior parameters alone: each row is given
# the scale that these parameters say, and each cluster the statistics of its rows and scales. It is that of the fit
# once laps have settled. x may lack cells: these are given the normal distribution that the parameters say.
term_of_student <- function(x, r, obs, q) {
  sum(vapply(seq_len(ncol(r)), function(k) term_of_t_cluster(x, r[, k], obs, q, k), 1))
}

term_of_t_cluster <- function(x, r, obs, q, k) {
  d <- ncol(x)
  nu <- sum(q$tails_node[k, ] * q$tails_prob[k, ])
  hidden <- lapply(seq_len(nrow(x)), function(i) {
    hidden_of_t_row(x[i, ], nu, q$mean[k, ], q$mean_strength[k], q$df[k] * solve(as.matrix(q$scale[, , k])))
  })
  total <- function(name) Reduce(`+`, Map(function(own, w) w * own[[name]], hidden, r))
  n <- sum(r)
  log_u <- total("log_u")
  strength <- obs$mean_strength + total("u")
  mean <- (obs$mean_strength * obs$mean + total("ux")) / strength
  scale <- obs$scale + total("uxx") + obs$mean_strength * tcrossprod(obs$mean) - strength * tcrossprod(mean)
  log_z <- function(df, scale, strength) {
    -df / 2 * log_det(scale) + df * d / 2 * log(2) + multigamma(d, df / 2) - d / 2 * log(strength)
  }
  c_of <- function(nu) nu / 2 * log(nu / 2) - lgamma(nu / 2)
  log_nu <- seq(-12, 14, 0.001)
  each <- stats::dgamma(exp(log_nu), 2, 0.1, log = TRUE) + log_nu + n * c_of(exp(log_nu)) +
    exp(log_nu) / 2 * (log_u - total("u"))
  of_tails <- max(each) + log(sum(exp(each - max(each))) * 0.001)
  log_z(obs$df + n, scale, strength) - log_z(obs$df, obs$scale, obs$mean_strength) - n * d / 2 * log(2 * pi) +
    (d / 2 - 1) * log_u + total("entropy") + of_tails
}

# The expected log-likelihoods C of rows in clusters, with scales and missing cells integrated out.
expected_logs_of_t_rows <- function(x, q) {
  d <- ncol(x)
  vapply(seq_along(q$df), function(k) {
    tails <- q$tails_node[k, ]
    normaliser <- tails / 2 * log(tails / 2) - lgamma(tails / 2)
    scale <- as.matrix(q$scale[, , k])
    of_cluster <- (sum(digamma((q$df[k] + 1 - seq_len(d)) / 2)) - log_det(scale) - d * log(pi)) / 2 +
      sum(q$tails_prob[k, ] * normaliser)
    nu <- sum(tails * q$tails_prob[k, ])
    of_cluster + apply(x, 1L, function(row) {
      hidden_of_t_row(row, nu, q$mean[k, ], q$mean_strength[k], q$df[k] * solve(scale))$integral
    })
  }, double(nrow(x)))
}

# What q says of a row's scale u and missing cells, in a cluster with expected precision `precision` for u = 1:
# E u, E log u, E u x, E u x x', the entropy of both, and the logarithm of what integrating both out gives.
hidden_of_t_row <- function(x, nu, mean, strength, precision) {
  m <- which(is.na(x))
  o <- which(!is.na(x))
  offset <- x[o] - mean[o]
  cov <- solve(precision)
  a <- (nu + length(o)) / 2
  b <- (nu + length(x) / strength + sum(offset * solve(cov[o, o, drop = FALSE], offset))) / 2
  u <- a / b
  log_u <- digamma(a) - log(b)
  entropy <- a - log(b) + lgamma(a) + (1 - a) * digamma(a)
  integral <- lgamma(a) - a * log(b)
  own <- matrix(0, length(x), length(x))
  if (length(m)) {
    own[m, m] <- solve(precision[m, m, drop = FALSE])
    x[m] <- mean[m] + drop(cov[m, o, drop = FALSE] %*% solve(cov[o, o, drop = FALSE], offset))
    volume <- (length(m) * log(2 * pi) + log_det(own[m, m, drop = FALSE])) / 2
    integral <- integral + volume
    entropy <- entropy + volume + length(m) / 2 * (1 - log_u)
  }
  list(u = u, log_u = log_u, ux = u * x, uxx = u * tcrossprod(x) + own, entropy = entropy, integral = integral)
}
