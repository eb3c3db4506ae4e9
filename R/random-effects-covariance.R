# The uncertainty of the clusters' coefficients in models with random effects, computed so that intervals are
# wide enough.

# The covariance of each cluster's coefficients (regressors x regressors x clusters, in the order of the
# clusters): the inverse of minus the second derivatives of the log likelihood of all clusters' coefficients
# together and of their prior, at the estimates of the other parameters. Coefficients of individuals are
# integrated out and clusters are summed over. The variational posterior q takes both as known, so that its
# intervals are too narrow, by half where the visits of an individual say little. With G = (Z, X)'(Z, X) of an
# individual, u = (Z, X)'(y - (Z, X) beta) and S = (tau Z'Z + W)^-1, where D = W^-1 is the covariance of
# random effects and tau the precision of the noise,
#   score s = tau u - tau^2 G_z S u_z,   information H = tau G - tau^2 G_z S G_z',
# and of the mixture [Louis 1982], with responsibilities r: sum r H - sum [diag(r) s s' - (r s)(r s)'] over
# clusters. sums: of individuals, in the engine's units; weights: of individuals, NULL: 1. Returns NULL where
# coefficients cannot be told apart, for example that of a constant covariate and the intercept; the
# covariance under q is then used.
covariance_of_coefs <- function(fit, sums, weights) {
  clusters <- posterior_clusters(fit)
  e <- length(clusters[[1L]]$coef_mean)
  k <- length(clusters)
  to_users <- map_of_coefs(fit$model$obs, e)
  at_estimates <- lapply(clusters, estimates_of_cluster, fit$model$obs, backsolve(to_users, diag(e)))
  if (any(vapply(at_estimates, function(at) is.null(at$W), NA))) {
    return(NULL)
  }
  lost <- complete <- matrix(0, k * e, k * e)
  for (j in seq_len(k)) {
    own <- (j - 1L) * e + seq_len(e)
    complete[own, own] <- prior_precision_of_coefs(fit$model$obs, at_estimates[[j]])
  }
  for (rows in split(seq_len(nrow(sums)), (seq_len(nrow(sums)) - 1L) %/% 20000L)) {
    counted <- weights[rows] %||% rep(1, length(rows))
    part <- information_of_coefs(fit, sums[rows, , drop = FALSE], counted, at_estimates)
    complete <- complete + part$complete
    lost <- lost + part$lost
  }
  # Without the subtraction, `complete` is always positive definite; the difference may not be, far from the
  # maximum.
  all <- inverse_of_scaled(complete - lost) %||% inverse_of_scaled(complete)
  if (!is.null(all)) vapply(seq_len(k), function(j) {
    own <- (j - 1L) * e + seq_len(e)
    to_users %*% all[own, own] %*% t(to_users)
  }, to_users)
}

# The estimates of a cluster in the engine's units: list(beta, tau, W), the coefficients, the precision of the
# noise and the inverse covariance of the random effects.
estimates_of_cluster <- function(q, obs, back) {
  z <- obs$effects + 1L
  e <- nrow(back)
  to_engine <- back[z, z, drop = FALSE]
  list(
    beta = back %*% (q$coef_mean[1L, ] - c(if (obs$intercept) obs$centre[1L], rep(0, e - obs$intercept))),
    tau = obs$unit[1L]^2 / noise_of_cluster(q),
    W = inverse_of_scaled(to_engine %*% effects_of_cluster(obs, q) %*% t(to_engine))
  )
}

prior_precision_of_coefs <- function(obs, at) {
  z <- obs$effects + 1L
  scale <- c(if (obs$intercept) 1, obs$spread / obs$unit[-1L])
  out <- at$tau * obs$scaled_precision * tcrossprod(scale)
  out[z, ] <- out[, z] <- 0
  out[z, z] <- obs$scaled_precision[z[1L], z[1L]] * at$W
  out
}

# The inverse of a positive definite matrix whose rows and columns may have very different units; NULL if the
# matrix is not positive definite.
inverse_of_scaled <- function(a) {
  unit <- 1 / sqrt(diag(a))
  root <- tryCatch(chol(a * tcrossprod(unit)), error = function(e) NULL)
  if (!is.null(root)) chol2inv(root) * tcrossprod(unit)
}

# A matrix that maps coefficients from the engine's units to the user's, without the shift by the centre of
# the response.
map_of_coefs <- function(obs, e) {
  scale <- obs$unit[1L] / c(if (obs$intercept) 1, obs$unit[-1L])
  out <- diag(scale, e)
  if (obs$intercept && e > 1L) out[1L, -1L] <- -obs$origin * scale[-1L]
  out
}

# The information of some individuals on the coefficients: list(complete, lost), two square matrices over
# clusters times regressors. `lost` is the part that not knowing the clusters costs.
information_of_coefs <- function(fit, sums, weights, at_estimates) {
  obs <- fit$model$obs
  e <- length(at_estimates[[1L]]$beta)
  z <- obs$effects + 1L
  first <- if (obs$intercept) 0L else 1L
  moment <- function(i, j) sums[, first + max(i, j) * (max(i, j) - 1L) / 2L + min(i, j)]
  columns <- function(n, column) matrix(vapply(seq_len(n), column, weights), ncol = n)
  prob <- individual_effects(fit, sums)$prob
  complete <- lost <- matrix(0, e * length(at_estimates), e * length(at_estimates))
  scores <- matrix(0, nrow(sums), ncol(complete)) # r s
  for (k in seq_along(at_estimates)) {
    own <- (k - 1L) * e + seq_len(e)
    at <- at_estimates[[k]]
    tau <- at$tau
    left <- columns(e, function(i) moment(e + 1L, i) - columns(e, function(j) moment(i, j)) %*% at$beta)
    S <- inverse_by_row(lapply(seq_along(z), function(a) lapply(seq_along(z), function(b) {
      tau * moment(z[a], z[b]) + at$W[a, b]
    })))$value
    pulled <- lapply(seq_len(e), function(i) columns(length(z), function(b) { # G_z S, row i
      rowSums(columns(length(z), function(a) moment(i, z[a]) * S[, a, b]))
    }))
    score <- columns(e, function(i) tau * left[, i] - tau^2 * rowSums(pulled[[i]] * left[, z, drop = FALSE]))
    r <- weights * prob[, k]
    for (i in seq_len(e)) for (j in seq_len(e)) {
      across <- rowSums(pulled[[i]] * columns(length(z), function(b) moment(z[b], j)))
      complete[own[i], own[j]] <- sum(r * (tau * moment(i, j) - tau^2 * across))
    }
    lost[own, own] <- crossprod(score * sqrt(r))
    scores[, own] <- prob[, k] * score
  }
  list(complete = (complete + t(complete)) / 2, lost = lost - crossprod(scores * sqrt(weights)))
}

# What a fit stores about its individuals: sums over their rows, their weights where these are not all 1, and
# the covariance of the clusters' coefficients.
kept_of_individuals <- function(fit, data) {
  sums <- individual_sums(fit$model$obs, data)
  weights <- of_units(data, data$weights)
  list(individual_sums = sums, individual_weights = weights, coef_cov = covariance_of_coefs(fit, sums, weights))
}

# What a fit stores about individuals (kept_of_individuals()) after an update: for earlier and new individuals
# together.
with_earlier_individuals <- function(fit, before) {
  weights_of <- function(fit) fit$individual_weights %||% rep(1, nrow(fit$individual_sums))
  weighted <- !is.null(fit$individual_weights) || !is.null(before$individual_weights)
  weights <- if (weighted) c(weights_of(before), weights_of(fit))
  fit$individual_sums <- rbind(before$individual_sums, fit$individual_sums)
  fit$individual_weights <- weights
  fit$coef_cov <- NULL
  fit$coef_cov <- covariance_of_coefs(fit, fit$individual_sums, weights)
  fit
}
