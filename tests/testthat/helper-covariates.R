# Weights of clusters that depend on covariates: what tests of them share.

# A prior as the engine reads it, of patterns with these covariates (a row each).
tilted_prior <- function(x, concentration = 1, effect_scale = 1, k = NULL) {
  x <- as.matrix(x)
  c(
    list(
      family = "covariates", n_patterns = nrow(x), n_columns = ncol(x), patterns = unname(x),
      concentration = concentration, effect_scale = effect_scale
    ),
    if (!is.null(k)) list(k = k)
  )
}

# Rows by pattern (patterns x clusters) as the engine has counts.
tilted_counts <- function(n) as.double(rbind(colSums(n), n))

# list(value, log_weights, weights, u) of the best tilted weights for these counts.
best_tilt <- function(prior, n, effective = n) {
  engine_mixture_weights(prior, tilted_counts(n), tilted_counts(effective))
}

# The bound on the evidence of counts at parameters written by cluster as C++ has them: a slow twin.
tilt_bound_twin <- function(n, x, rows, concentration = 1, variance = 1) {
  p <- ncol(x)
  k <- ncol(n)
  a <- rows[, 1]
  b <- rows[, 2]
  mean <- rows[, 2 + seq_len(p), drop = FALSE]
  cov <- lapply(seq_len(k), function(j) {
    precision <- matrix(0, p, p)
    precision[upper.tri(precision, TRUE)] <- rows[j, 2 + p + seq_len(p * (p + 1) / 2)]
    solve(precision + t(precision) - diag(diag(precision), p))
  })
  log_u <- digamma(a) - digamma(a + b)
  log_rest <- digamma(b) - digamma(a + b)
  e_log <- log_u + c(0, cumsum(log_rest))[seq_len(k)]
  u <- a / (a + b)
  bar <- u * c(1, cumprod(1 - u))[seq_len(k)]
  tilt <- x %*% t(mean)
  spread <- vapply(cov, function(s) rowSums((x %*% s) * x), numeric(nrow(x)))
  terms <- cbind(tilt + matrix(spread, nrow(x)) / 2 + rep(log(bar), each = nrow(x)), sum(log1p(-u)))
  top <- apply(terms, 1, max)
  log_z <- top + log(rowSums(exp(terms - top)))
  kl_beta <- lbeta(1, concentration) - lbeta(a, b) + (a - 1) * log_u + (b - concentration) * log_rest
  kl_normal <- vapply(seq_len(k), function(j) {
    0.5 * (sum(diag(cov[[j]])) / variance + sum(mean[j, ]^2) / variance - p + p * log(variance) -
      as.double(determinant(cov[[j]])$modulus))
  }, 0)
  sum(n * tilt) + sum(colSums(n) * e_log) - sum(rowSums(n) * log_z) - sum(kl_beta) - sum(kl_normal)
}

# Rows of three clusters whose shares follow the logits of age; sep: between their means.
planted_by_age <- function(n = 600, seed = 1, sep = 6, columns = 2L) {
  withr::with_seed(seed, {
    age <- sample(20:80, n, TRUE)
    w <- (age - 50) / 15
    logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
    prob <- exp(logit) / rowSums(exp(logit))
    z <- 1 + rowSums(t(apply(prob, 1, cumsum)) < runif(n))
    x <- matrix(rnorm(n * columns), n, dimnames = list(NULL, paste0("x", seq_len(columns))))
    x[, 1] <- x[, 1] + c(-sep, 0, sep)[z]
    list(x = x, age = data.frame(age = age), z = z, prob = prob)
  })
}

# A planted case whose rows have one of four covariate patterns, which say something of the rows' clusters.
with_patterns <- function(case) {
  n <- case$data$n
  withr::with_seed(11, {
    group <- rep_len(case$cluster, n) %% 2
    case$data$position <- as.integer(2 * (runif(n) < ifelse(group == 1, 0.8, 0.2)) + sample(0:1, n, TRUE))
  })
  case$model$prior <- tilted_prior(cbind(c(-1, -1, 1, 1), c(-1, 1, -1, 1)))
  case
}

quiet_control <- function(...) bnp_control(seed = 1, verbose = FALSE, restarts = 1L, ...)
