# The uncertainty of the clusters' coefficients in models with random effects, computed so that intervals are
# wide enough.

# The covariance of each cluster's coefficients (regressors x regressors x clusters, in the order of the
# clusters): its block of the inverse of the information of all parameters together, which are the clusters'
# coefficients, the covariance D of random effects, the variance of the noise and the clusters' weights.
# Coefficients of individuals are integrated out and clusters are summed over. The variational posterior q takes
# both as known, so that its intervals are too narrow, by half where the visits of an individual say little. With
# G = (Z, X)'(Z, X) of an individual, u = (Z, X)'(y - (Z, X) beta), V = sigma^2 I + Z D Z' its covariance and
# S = (tau Z'Z + W)^-1, where W = D^-1 and tau = 1 / sigma^2, coefficients have
#   score s = tau u - tau^2 G_z S u_z,   information H = tau G - tau^2 G_z S G_z',
# and with w = V^-1 (y - (Z, X) beta), p = Z'w, M = Z'V^-1 Z = tau G_zz S W,
#   D:       score (p p' - M) / 2,           expected information tr(M A M B) / 2 in the directions A and B,
#   sigma^2: score (w'w - tr V^-1) / 2,      expected information tr(V^-2) / 2, and tr(A Z'V^-2 Z) / 2 with D.
# In the mixture [Louis 1982], with responsibilities r at the estimates, it is
# sum r H - sum [diag(r) s s' - (r s)(r s)'] over clusters, s being 1 at the log weight of its own cluster.
# sums: of individuals, in the engine's units; weights: of individuals, NULL: 1. Returns NULL where coefficients
# cannot be told apart, for example that of a constant covariate and the intercept; the covariance under q is then
# used.
covariance_of_coefs <- function(fit, sums, weights) {
  clusters <- posterior_clusters(fit)
  obs <- fit$model$obs
  e <- length(clusters[[1L]]$coef_mean)
  to_users <- map_of_coefs(obs, e)
  at_estimates <- lapply(clusters, estimates_of_cluster, obs, backsolve(to_users, diag(e)))
  if (any(vapply(at_estimates, function(at) is.null(at$W), NA))) {
    return(NULL)
  }
  share <- proportion(fit)[seq_along(clusters)] / sum(proportion(fit)[seq_along(clusters)])
  places <- places_of_parameters(obs, length(clusters), e)
  complete <- prior_information(obs, places, at_estimates)
  some <- seq_along(places$log_weights) # all weights are as likely a priori
  complete[places$log_weights, places$log_weights] <- (sum(weights %||% nrow(sums)) + length(clusters)) *
    (diag(share, length(share)) - tcrossprod(share))[some, some]
  lost <- 0 * complete
  for (rows in split(seq_len(nrow(sums)), (seq_len(nrow(sums)) - 1L) %/% 20000L)) {
    counted <- weights[rows] %||% rep(1, length(rows))
    part <- information_of_individuals(obs, sums[rows, , drop = FALSE], counted, places, share, at_estimates)
    complete <- complete + part$complete
    lost <- lost + part$lost
  }
  # Without the subtraction, `complete` is always positive definite; the difference may not be, far from the
  # maximum. Then parameters other than coefficients are taken as known, and at last the clusters, too.
  at_coefs <- unlist(lapply(places$own, `[`, seq_len(e)))
  information <- complete - lost
  of_coefs <- function(a) a[at_coefs, at_coefs, drop = FALSE]
  all <- inverse_of_scaled(information)
  all <- if (!is.null(all)) of_coefs(all) else
    inverse_of_scaled(of_coefs(information)) %||% inverse_of_scaled(of_coefs(complete))
  if (!is.null(all)) vapply(seq_along(clusters), function(j) {
    own <- (j - 1L) * e + seq_len(e)
    to_users %*% all[own, own, drop = FALSE] %*% t(to_users)
  }, to_users)
}

# Which row and column of the information matrix belongs to which parameter. D is the covariance of random effects.
# Returns a list:
#   pairs        rows and columns of the entries of D that are parameters;
#   own          for each cluster the places of its e coefficients, of the entries of D and of the noise (if clusters
#                share D and the noise, these places are the same in all clusters);
#   log_weights  the places of the log weights of all clusters but the last;
#   size         the number of parameters.
places_of_parameters <- function(obs, k, e) {
  q <- length(obs$effects)
  pairs <- if (obs$independent) cbind(seq_len(q), seq_len(q)) else
    unname(which(upper.tri(diag(q), diag = TRUE), arr.ind = TRUE))
  variances <- nrow(pairs) + 1L
  own <- lapply(seq_len(k), function(j) {
    c((j - 1L) * e + seq_len(e), k * e + (if (obs$shared) 0L else j - 1L) * variances + seq_len(variances))
  })
  log_weights <- max(unlist(own)) + seq_len(k - 1L)
  list(pairs = pairs, own = own, log_weights = log_weights, size = max(unlist(own)) + k - 1L)
}

# The information tr(A x B y) / 2 of the covariance D in the directions A and B of its entries, pairs x pairs,
# each by individual: x(a, b) and y(a, b) give an entry of two symmetric matrices for all individuals.
information_of_pairs <- function(pairs, x, y = x) {
  at <- function(i) pairs[i, ]
  once <- 1 - (pairs[, 1L] == pairs[, 2L]) / 2
  function(i, j) {
    once[i] * once[j] * (x(at(i)[2L], at(j)[1L]) * y(at(j)[2L], at(i)[1L]) + x(at(i)[2L], at(j)[2L]) *
      y(at(j)[1L], at(i)[1L]))
  }
}

prior_information <- function(obs, places, at_estimates) {
  out <- matrix(0, places$size, places$size)
  for (k in seq_along(at_estimates)) {
    at <- at_estimates[[k]]
    e <- length(at$beta)
    own <- places$own[[k]]
    out[own[seq_len(e)], own[seq_len(e)]] <- prior_precision_of_coefs(obs, at)
    entries <- own[e + seq_len(nrow(places$pairs))]
    of <- information_of_pairs(places$pairs, function(a, b) at$W[a, b])
    out[entries, entries] <- (obs$random_df + joint_effects(obs) + 1) *
      outer(seq_along(entries), seq_along(entries), Vectorize(of))
    noise <- own[length(own)]
    out[noise, noise] <- (obs$df + 2) * at$tau^2 / 2
  }
  out
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
  if (!isTRUE(all(diag(a) > 0))) {
    return(NULL)
  }
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

# The information of some individuals on all parameters: list(complete, lost), two square matrices (see
# places_of_parameters()). `lost` is the part that not knowing the clusters costs. share: weights of the clusters.
information_of_individuals <- function(obs, sums, weights, places, share, at_estimates) {
  of_clusters <- lapply(at_estimates, function(at) information_of_cluster(obs, sums, places$pairs, at))
  log_prob <- vapply(of_clusters, `[[`, weights, "log_density") + rep(log(share), each = length(weights))
  prob <- matrix(log_prob, length(weights))
  prob <- exp(prob - apply(prob, 1L, max))
  prob <- prob / rowSums(prob)
  complete <- lost <- matrix(0, places$size, places$size)
  scores <- matrix(0, nrow(sums), places$size) # averages over clusters
  for (k in seq_along(at_estimates)) {
    own <- places$own[[k]]
    r <- weights * prob[, k]
    score <- of_clusters[[k]]$score
    complete[own, own] <- complete[own, own] + of_clusters[[k]]$complete(r)
    if (k < length(at_estimates)) {
      own <- c(own, places$log_weights[k])
      score <- cbind(score, 1)
    }
    lost[own, own] <- lost[own, own] + crossprod(score * sqrt(r))
    scores[, own] <- scores[, own] + prob[, k] * score
  }
  list(complete = complete, lost = lost - crossprod(scores * sqrt(weights)))
}

# If individuals belong to one cluster: their log densities but for a constant, their scores (score: individuals x
# parameters, which are coefficients, entries `pairs` of D and the variance of the noise) and their information as
# a function of their responsibilities (complete(r)).
information_of_cluster <- function(obs, sums, pairs, at) {
  e <- length(at$beta)
  z <- obs$effects + 1L
  tau <- at$tau
  first <- if (obs$intercept) 0L else 1L
  moment <- function(i, j) sums[, first + max(i, j) * (max(i, j) - 1L) / 2L + min(i, j)]
  by_row <- function(rows, columns, value) { # individuals x rows x columns
    array(unlist(lapply(columns, function(j) lapply(rows, function(i) value(i, j)))),
      c(nrow(sums), length(rows), length(columns)))
  }
  G <- by_row(seq_len(e), seq_len(e), moment)
  Gz <- G[, , z, drop = FALSE]
  xy <- by_row(seq_len(e), 1L, function(i, j) moment(i, e + 1L))
  u <- xy - product_by_row(G, at$beta)
  uz <- u[, z, , drop = FALSE]
  inverse <- inverse_by_row(lapply(seq_along(z), function(a) lapply(seq_along(z), function(b) {
    tau * moment(z[a], z[b]) + at$W[a, b]
  })))
  S <- inverse$value
  GS <- product_by_row(Gz, S)
  own <- GS[, z, , drop = FALSE]
  m <- tau * product_by_row(S, uz)
  along <- tau * u - tau^2 * product_by_row(GS, uz) # the score of coefficients
  p <- along[, z, , drop = FALSE]
  SW <- product_by_row(S, at$W)
  M <- tau * product_by_row(Gz[, z, , drop = FALSE], SW)
  squared <- tau * product_by_row(aperm(SW, c(1L, 3L, 2L)), M) # Z'V^-2 Z
  n <- sums[, 1L]
  trace <- rowSums(by_row(1L, seq_along(z), function(i, a) own[, a, a])) # of S Z'Z
  rest <- moment(e + 1L, e + 1L) - drop(matrix(xy + u, ncol = e) %*% at$beta) - rowSums(m * uz) # tau rest = e'V^-1 e
  pair <- seq_len(nrow(pairs))
  of <- function(x, i) x[, pairs[i, 1L], pairs[i, 2L]]
  once <- 1 - (pairs[, 1L] == pairs[, 2L]) / 2
  of_covariance <- by_row(pair, 1L, function(i, j) once[i] * (p[, pairs[i, 1L], 1L] * p[, pairs[i, 2L], 1L] - of(M, i)))
  score <- cbind(
    matrix(along, ncol = e), matrix(of_covariance, ncol = length(pair)),
    (tau^2 * (rest - rowSums(m * p) / tau) - tau * (n - tau * trace)) / 2
  )
  noise <- ncol(score)
  both <- information_of_pairs(pairs, function(a, b) M[, a, b])
  of_noise <- tau^2 / 2 * (n - 2 * tau * trace + tau^2 * rowSums(matrix(own * aperm(own, c(1L, 3L, 2L)), length(n))))
  of_coefs <- tau * G - tau^2 * product_by_row(GS, aperm(Gz, c(1L, 3L, 2L)))
  complete <- function(r) {
    out <- matrix(0, noise, noise)
    out[seq_len(e), seq_len(e)] <- matrix(crossprod(matrix(of_coefs, length(r)), r), e)
    for (i in pair) {
      for (j in pair) out[e + i, e + j] <- sum(r * both(i, j))
      out[noise, e + i] <- out[e + i, noise] <- once[i] * sum(r * of(squared, i))
    }
    out[noise, noise] <- sum(r * of_noise)
    (out + t(out)) / 2
  }
  log_density <- (n * log(tau) + as.numeric(determinant(at$W)$modulus) - inverse$log_det - tau * rest) / 2
  list(log_density = log_density, score = score, complete = complete)
}

# The products of matrices: a is individuals x rows x columns, b an array of this kind, a matrix or a vector.
product_by_row <- function(a, b) {
  if (length(dim(b)) < 3L) b <- aperm(array(b, c(NROW(b), NCOL(b), dim(a)[1L])), c(3L, 1L, 2L))
  out <- array(0, c(dim(a)[1:2], dim(b)[3L]))
  for (i in seq_len(dim(out)[2L])) for (j in seq_len(dim(out)[3L])) for (k in seq_len(dim(a)[3L])) {
    out[, i, j] <- out[, i, j] + a[, i, k] * b[, k, j]
  }
  out
}

# What a fit stores about its individuals: sums over their rows, their weights where these are not all 1, and
# the covariance of the clusters' coefficients.
kept_of_individuals <- function(fit, data) {
  sums <- if (is_spooled(data)) sums_in_spool(data) else individual_sums(fit$model$obs, data)
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
