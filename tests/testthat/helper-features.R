# Slow twins of latent features in plain R: sums over all Z, and bounds written as in inst/design/features.md.

feature_hyper <- function(a = 1, b = 0.3, rho = 0.5, sigma2 = NULL) list(a = a, b = b, rho = rho, sigma2 = sigma2)

# log p(X | Z): regressions with shared variance, sigma2 given or 1 / sigma2 ~ Gamma(a, b); NA cells left out.
log_evidence_given_features <- function(x, z, hyper) {
  s_zx <- function(d) crossprod(z[!is.na(x[, d]), , drop = FALSE], x[!is.na(x[, d]), d])
  k <- ncol(z)
  log_det <- explained <- 0
  for (d in seq_len(ncol(x))) {
    seen <- !is.na(x[, d])
    v <- diag(hyper$rho, k) + crossprod(z[seen, , drop = FALSE])
    log_det <- log_det + k * log(hyper$rho) / 2 - (if (k) as.double(determinant(v)$modulus) else 0) / 2
    if (k) explained <- explained + sum(s_zx(d) * solve(v, s_zx(d)))
  }
  cells <- sum(!is.na(x))
  rest <- sum(x^2, na.rm = TRUE) - explained
  noise <- if (!is.null(hyper$sigma2)) {
    -cells / 2 * log(2 * pi * hyper$sigma2) - rest / (2 * hyper$sigma2)
  } else {
    a <- hyper$a + cells / 2
    -cells / 2 * log(2 * pi) + hyper$a * log(hyper$b) - a * log(hyper$b + rest / 2) + lgamma(a) - lgamma(hyper$a)
  }
  log_det + noise
}

all_binary <- function(n, k) {
  bits <- as.matrix(expand.grid(rep(list(0:1), n * k)))
  lapply(seq_len(nrow(bits)), function(i) matrix(bits[i, ], n, k))
}

log_sum_exp <- function(x) max(x) + log(sum(exp(x - max(x))))

# log p(X) of k features in all.
exact_finite <- function(x, k, alpha, hyper) {
  n <- nrow(x)
  log_sum_exp(vapply(all_binary(n, k), function(z) {
    m <- colSums(z)
    sum(lbeta(alpha / k + m, 1 + n - m) - lbeta(alpha / k, 1)) + log_evidence_given_features(x, z, hyper)
  }, 0))
}

# log p(X) of the Indian buffet process, over classes of Z that differ in the order of columns only, with up to
# `most` features (Griffiths and Ghahramani, 2011, equation 14).
exact_infinite <- function(x, most, alpha, hyper) {
  n <- nrow(x)
  histories <- 2^n - 1
  patterns <- t(vapply(seq_len(histories), function(h) as.integer(intToBits(h))[seq_len(n)], integer(n)))
  m <- rowSums(patterns)
  per_feature <- log(alpha) + lgamma(n - m + 1) + lgamma(m) - lgamma(n + 1)
  counts <- as.matrix(expand.grid(rep(list(0:most), histories)))
  counts <- counts[rowSums(counts) <= most, , drop = FALSE]
  log_sum_exp(apply(counts, 1L, function(times) {
    z <- t(patterns[rep(seq_len(histories), times), , drop = FALSE])
    -alpha * sum(1 / seq_len(n)) + sum(times * per_feature) - sum(lgamma(times + 1)) +
      log_evidence_given_features(x, z, hyper)
  }))
}

binary_entropy <- function(nu) sum(ifelse(nu <= 0 | nu >= 1, 0, -nu * log(nu) - (1 - nu) * log1p(-nu)))

# What the likelihood adds to the bound: as given binary Z, with E z z' in place of z z'.
likelihood_bound <- function(x, nu, hyper) {
  k <- ncol(nu)
  log_det <- explained <- 0
  for (d in seq_len(ncol(x))) {
    seen <- !is.na(x[, d])
    v <- diag(hyper$rho, k) + second_moments(nu[seen, , drop = FALSE])
    s <- crossprod(nu[seen, , drop = FALSE], x[seen, d])
    log_det <- log_det + k * log(hyper$rho) / 2 - (if (k) as.double(determinant(v)$modulus) else 0) / 2
    if (k) explained <- explained + sum(s * solve(v, s))
  }
  cells <- sum(!is.na(x))
  rest <- sum(x^2, na.rm = TRUE) - explained
  a <- hyper$a + cells / 2
  if (!is.null(hyper$sigma2)) {
    return(log_det - cells / 2 * log(2 * pi * hyper$sigma2) - rest / (2 * hyper$sigma2))
  }
  log_det - cells / 2 * log(2 * pi) + hyper$a * log(hyper$b) - a * log(hyper$b + rest / 2) + lgamma(a) - lgamma(hyper$a)
}

second_moments <- function(nu) {
  s <- crossprod(nu)
  diag(s) <- colSums(nu)
  s
}

finite_prior_bound <- function(counts, n, k, alpha) {
  counts <- c(counts, numeric(k - length(counts)))
  sum(lbeta(alpha / k + counts, 1 + n - counts) - lbeta(alpha / k, 1))
}

# E log(1 - pi_k) and E Li2(pi_L) by their series; tau: one row a stick.
stick_sums <- function(tau, terms = 2e4) {
  m <- seq_len(terms)
  log_moment <- apply(tau, 1L, function(t) lbeta(t[1] + m, t[2]) - lbeta(t[1], t[2]))
  moment <- exp(t(apply(matrix(log_moment, terms), 1L, cumsum)))
  if (nrow(tau) == 1L) moment <- t(moment)
  list(complement = -colSums(moment / m), dilogarithm = sum(moment[, nrow(tau)] / m^2))
}

# L_pi of the Indian buffet process at given sticks; alpha a number, or c(shape, rate) with q(alpha) at its best.
infinite_prior_bound <- function(counts, n, alpha, tau) {
  counts <- c(counts, 0)
  l <- length(counts)
  sums <- stick_sums(tau)
  log_v <- digamma(tau[, 1]) - digamma(rowSums(tau))
  log_rest <- digamma(tau[, 2]) - digamma(rowSums(tau))
  sticks <- sum(lbeta(tau[, 1], tau[, 2]) - tau[, 1] * log_v + (1 - tau[, 2]) * log_rest)
  data <- sum(counts * cumsum(log_v)) + sum((n - counts) * sums$complement)
  if (length(alpha) == 1L) {
    return(sticks + l * log(alpha) + alpha * sum(log_v) + data - n * alpha * sums$dilogarithm)
  }
  rate <- alpha[2] - sum(log_v) + n * sums$dilogarithm
  sticks + data + lgamma(alpha[1] + l) - (alpha[1] + l) * log(rate) + alpha[1] * log(alpha[2]) - lgamma(alpha[1])
}

# The best nu by coordinate ascent with numerical gains: no formula of the local step is used.
ascend <- function(nu, bound, sweeps = 60) {
  for (sweep in seq_len(sweeps)) {
    for (i in seq_along(nu)) {
      at <- stats::optimize(function(v) bound(replace(nu, i, v)), c(0, 1), maximum = TRUE, tol = 1e-10)
      if (at$objective > bound(nu)) nu[i] <- at$maximum
    }
  }
  nu
}

# ---- the engine without R's preparations ----------------------------------------------------------------------------

features_model <- function(prior, offset, columns, precision = NULL, a = 1, b = 0.3, c = 1, d = 1) {
  likelihood <- list(noise_shape = a, noise_rate = b, loading_shape = c, loading_rate = d)
  likelihood$precision <- precision
  model <- list(prior = prior, likelihood = likelihood, offset = offset)
  replace(engine_features_model(model, integer(columns)), "offset", offset)
}

# A fit to x as it is. laps = 0: the state that `start` describes, whose ELBO is that of its probabilities.
engine_features <- function(x, prior = prior_ibp(), offset = FALSE, start = NULL, laps = 100L, moves = TRUE, a = 1,
                            b = 0.3, c = 1, d = 1, precision = NULL, source = "memory", audit = FALSE, ...) {
  control <- unclass(bnp_control(max_laps = max(laps, 1L), moves = moves, verbose = FALSE, ..., seed = 1))
  control$max_laps <- as.integer(laps)
  control$batches <- control$batches %||% 1L
  control$sparsity <- control$sparsity %||% 0L
  control[c("source", "audit")] <- list(source, audit)
  model <- features_model(prior, offset, ncol(x), precision, a, b, c, d)
  engine_fit(rows_for_engine(x), model, control, if (!is.null(start)) list(presence = start), NULL)
}

rows_for_engine <- function(x) list(x = x + 0, n = nrow(x), d = ncol(x), starts = c(0L, nrow(x)))

# The engine's probabilities as a matrix, in its own order of features.
engine_presence <- function(fit, n) {
  nu <- matrix(0, n, fit$state$k)
  nu[cbind(fit$presence$row, fit$presence$feature)] <- fit$presence$value
  nu
}

# The engine's sticks as infinite_prior_bound() takes them.
engine_sticks_of <- function(state) matrix(state$stick, ncol = 2L, byrow = TRUE)

# The bound of an engine's state from its probabilities, q(rho) and sticks alone; an offset is a column of ones.
twin_elbo <- function(fit, x, prior, offset = FALSE, a = 1, b = 0.3, c = 1, d = 1, precision = NULL) {
  n <- nrow(x)
  nu <- engine_presence(fit, n)
  all <- if (offset) cbind(1, nu) else nu
  q <- fit$state$precision
  data <- likelihood_bound(x, all, list(a = a, b = b, rho = precision %||% (q[1] / q[2])))
  if (is.null(precision)) {
    size <- ncol(all) * ncol(x)
    kl <- (q[1] - c) * digamma(q[1]) - lgamma(q[1]) + lgamma(c) + c * log(q[2] / d) + q[1] * (d - q[2]) / q[2]
    data <- data + size / 2 * (digamma(q[1]) - log(q[1])) - kl
  }
  counts <- colSums(nu)
  features <- if (is.null(prior$k)) {
    alpha <- if (inherits(prior$alpha, "bnp_gamma_prior")) as.double(prior$alpha) else prior$alpha
    infinite_prior_bound(counts, n, alpha, engine_sticks_of(fit$state))
  } else {
    finite_prior_bound(counts, n, prior$k, prior$alpha)
  }
  c(data = data, features = features, entropy = binary_entropy(nu))
}

# ---- data -----------------------------------------------------------------------------------------------------------

# Four images of 6 x 6 pixels, each present with probability 1/2, and noise of sd 0.5 (Griffiths and Ghahramani, 2011,
# figure 6, after its description).
image_features <- function() {
  pixels <- c(
    "010000 111000 010000 000000 000000 000000", "000111 000101 000111 000000 000000 000000",
    "000000 000000 000000 100000 110000 111000", "000000 000000 000000 000111 000010 000010"
  )
  t(vapply(strsplit(gsub(" ", "", pixels), ""), as.numeric, numeric(36)))
}

image_rows <- function(seed, n = 100, sd = 0.5) {
  withr::with_seed(seed, {
    z <- matrix(stats::rbinom(4 * n, 1, 0.5), n)
    list(x = z %*% image_features() + stats::rnorm(36 * n, sd = sd), z = z)
  })
}

# Rows with k sparse features in d columns.
planted_features <- function(seed, n, d, k, sd = 0.5) {
  withr::with_seed(seed, {
    z <- matrix(stats::rbinom(n * k, 1, rep(stats::runif(k, 0.1, 0.4), each = n)), n)
    a <- matrix(stats::rnorm(k * d) * (stats::runif(k * d) < 0.4) * 2, k)
    list(x = z %*% a + stats::rnorm(n * d, sd = sd), z = z, a = a)
  })
}

cosines <- function(a, b) {
  unit <- function(m) m / sqrt(rowSums(m^2))
  unit(a) %*% t(unit(b))
}
