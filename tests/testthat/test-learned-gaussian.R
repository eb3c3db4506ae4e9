# Gaussian priors learned while fitting, against plain R: the hyperprior, the optimum, the objective of a fit.

# log p(m, kappa, nu, B) about the location and squared spread of the columns, as ?obs_gaussian describes it; blocks of
# one column each for diagonal covariances.
log_hyperprior_twin <- function(obs) {
  v <- obs$data_variance
  full <- is.matrix(obs$scale)
  d <- if (full) length(v) else 1
  a <- d + 2
  shape <- obs$scale / obs$df
  blocks <- if (full) list(list(shape, v)) else Map(function(s, v) list(as.matrix(s), v), shape, v)
  of_shape <- vapply(blocks, function(block) {
    mean <- diag(block[[2]], d)
    log_wishart <- (a - d - 1) / 2 * log_det(block[[1]]) - sum(diag(solve(mean / a, block[[1]]))) / 2 -
      a * d / 2 * log(2) - a / 2 * log_det(mean / a) - multigamma(d, a / 2)
    log_wishart + (d + 1) / 2 * log_det(block[[1]])
  }, 0)
  of_mean <- if (!is.null(obs$mean)) {
    sum(dnorm((obs$mean - obs$data_location) / sqrt(v), log = TRUE)) + dunif(log(obs$mean_strength), log(1e-6), log(1e2), log = TRUE)
  }
  sum(of_shape, of_mean, dexp(obs$df - d + 1, 0.01, log = TRUE))
}

learned_twins <- list(
  gaussian_full = twin_gaussian_full, gaussian_diagonal = twin_gaussian_diagonal,
  gaussian_zero_mean = twin_gaussian_zero_mean
)

objective_twin <- function(obs, x, resp) {
  twin <- learned_twins[[obs$family]](obs)
  sum(apply(resp, 2, function(r) if (sum(r) > 0) twin$evidence(x, r) else 0)) + log_hyperprior_twin(obs)
}

# Eight clusters of 30 rows of two columns, of different widths, with fixed labels.
eight_clusters <- function() {
  withr::with_seed(1, {
    z <- rep(1:8, each = 30)
    noise <- matrix(rnorm(480), 240) %*% chol(matrix(c(1, 0.6, 0.6, 1), 2))
    x <- 10 + matrix(rnorm(16, sd = 4), 8)[z, ] + noise * sqrt(rgamma(8, 3, 3))[z]
    list(x = x, z = z, resp = diag(8)[z, ])
  })
}

learned_from <- function(obs, x, resp, times) {
  model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
  data <- engine_data(x)
  statistic <- engine_contract(data, model, resp)$statistic
  engine_learned(obs, statistic, times)
}

learned_obs <- function(covariance, x, ...) resolve_obs(obs_gaussian(covariance, learn = TRUE, ...), engine_data(x))

# Unconstrained coordinates of a prior: (log(nu - d + 1), Cholesky factor of B / nu, m, log kappa).
to_free <- function(obs) {
  d <- if (is.matrix(obs$scale)) nrow(obs$scale) else 1
  shape <- obs$scale / obs$df
  factor <- if (is.matrix(shape)) {
    l <- t(chol(shape))
    diag(l) <- log(diag(l))
    l[lower.tri(l, TRUE)]
  } else {
    log(shape)
  }
  c(log(obs$df - d + 1), factor, obs$mean, if (!is.null(obs$mean)) log(obs$mean_strength))
}

from_free <- function(free, obs) {
  d <- if (is.matrix(obs$scale)) nrow(obs$scale) else 1
  obs$df <- exp(free[1]) + d - 1
  at <- 1
  if (is.matrix(obs$scale)) {
    l <- matrix(0, d, d)
    l[lower.tri(l, TRUE)] <- free[1 + seq_len(d * (d + 1) / 2)]
    diag(l) <- exp(diag(l))
    obs$scale <- obs$df * l %*% t(l)
    at <- 1 + d * (d + 1) / 2
  } else {
    obs$scale <- obs$df * exp(free[1 + seq_along(obs$scale)])
    at <- 1 + length(obs$scale)
  }
  if (!is.null(obs$mean)) {
    obs$mean <- free[at + seq_along(obs$mean)]
    obs$mean_strength <- exp(free[at + length(obs$mean) + 1])
  }
  obs
}

test_that("learning never lowers the objective, and ends where an optimiser does", {
  data <- eight_clusters()
  for (covariance in c("full", "diagonal", "zero_mean")) {
    obs <- learned_obs(covariance, data$x)
    learned <- learned_from(obs, data$x, data$resp, 60)
    expect_gte(min(diff(learned$objective)), -1e-9, label = covariance)
    expect_equal(learned$objective[1], objective_twin(obs, data$x, data$resp), tolerance = 1e-11)
    expect_equal(learned$log_hyperprior[1], log_hyperprior_twin(obs), tolerance = 1e-11)
    end <- obs
    end[names(learned$fields)] <- learned$fields
    reached <- learned$objective[61]
    expect_equal(reached, objective_twin(end, data$x, data$resp), tolerance = 1e-11)
    value <- function(free) objective_twin(from_free(free, obs), data$x, data$resp)
    from <- to_free(obs)
    for (i in 1:5) {
      best <- stats::optim(from, value, method = "BFGS", control = list(fnscale = -1, reltol = 1e-15, maxit = 1000))
      from <- best$par
    }
    cat(covariance, learned$objective[c(1, 2, 3, 6, 11, 61)], best$value, reached - best$value, "\n")
    expect_lt(abs(reached - best$value), 1e-8 * abs(reached), label = covariance)
  }
})
