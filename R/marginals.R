# Posterior quantiles of single elements of a parameter. In all functions `p` is one probability, and results
# have the shape of the parameter.

student_quantile <- function(p, mean, scale, df) mean + scale * stats::qt(p, df)

# Quantiles of each element of a covariance matrix whose inverse is Wishart with df degrees of freedom and
# inverse scale `scale`. Diagonal elements are inverse Gamma. Elsewhere only the upper triangle is computed;
# the lower one is NA.
inverse_wishart_quantile <- function(p, df, scale) {
  d <- nrow(scale)
  out <- matrix(NA_real_, d, d)
  diag(out) <- inverse_gamma_quantile(p, (df - d + 1) / 2, diag(scale) / 2)
  unit <- sqrt(diag(scale))
  nodes <- covariance_nodes(df - d + 2)
  for (j in seq_len(d)[-1L]) {
    for (i in seq_len(j - 1L)) {
      r <- scale[i, j] / unit[i] / unit[j]
      out[i, j] <- unit[i] * unit[j] * covariance_quantile(p, r, df - d + 2, nodes)
    }
  }
  out
}

inverse_gamma_quantile <- function(p, shape, rate) rate / stats::qgamma(p, shape, lower.tail = FALSE)

# Nodes to integrate over 1 / S11, for the off-diagonal element S12 = S11 b of a 2 x 2 covariance S whose
# inverse is Wishart, the scale having unit diagonal and r off the diagonal. 1 / S11 is chi-squared with df -
# 1 degrees of freedom and b, independent of it, Student-t around r (Gupta and Nagar, 2000, Matrix Variate
# Distributions, theorem 3.3.9). The nodes are the middles of 512 parts of equal probability: probabilities
# were within 4e-5 of adaptive integration.
covariance_nodes <- function(df, n = 512L) stats::qchisq((seq_len(n) - 0.5) / n, df - 1)

covariance_quantile <- function(p, r, df, nodes) {
  width <- sqrt(max(1 - r^2, 1e-15) / df)
  below <- function(s) mean(stats::pt((s * nodes - r) / width, df)) - p
  # The range between the extremes of S11 and b; uniroot() extends it as far as needed.
  reach <- range(outer(1 / range(nodes), r + width * stats::qt(c(1e-4, 1 - 1e-4, p), df)))
  stats::uniroot(below, reach, extendInt = "upX", tol = 1e-10 * diff(reach))$root
}

# Quantiles of Beta distributions. Where a quantile is so close to 0 that qbeta() does not converge and warns,
# its result is 0; the warning is suppressed.
beta_quantile <- function(p, a, b) {
  withCallingHandlers(stats::qbeta(p, a, b), warning = function(w) invokeRestart("muffleWarning"))
}

# Quantiles of the weights of sticks v_k ~ Beta(a_k, b_k), broken in this order: v_k (1 - v_1) ... (1 -
# v_{k-1}). The product before v_k is replaced by a Beta variable with its mean and variance, and integrated
# over at the middles of 128 parts of equal probability. Compared with draws, probabilities were off by at
# most 0.001 where clusters have members, and by 0.01 at the end of four sticks without any. b: a column for
# each of several equally probable concentrations.
stick_weights_quantile <- function(p, a, b) {
  b <- as.matrix(b)
  vapply(seq_along(a), function(k) {
    if (k == 1L && ncol(b) == 1L) {
      return(beta_quantile(p, a[1], b[1]))
    }
    nodes <- apply(b, 2L, function(column) {
      if (k == 1L) {
        return(rep(0, 128L))
      }
      rest <- beta_like_product(column[seq_len(k - 1L)], a[seq_len(k - 1L)])
      log(beta_quantile((1:128 - 0.5) / 128, rest[1], rest[2]))
    })
    after <- rep(b[k, ], each = nrow(nodes))
    below <- function(log_weight) mean(stats::pbeta(exp(pmin(log_weight - nodes, 0)), a[k], after)) - p
    reach <- range(nodes) + log(range(outer(c(p / 2, (1 + p) / 2), b[k, ], function(q, b) beta_quantile(q, a[k], b))))
    if (below(-700) > 0) {
      return(0) # less than 1e-304
    }
    # A stick that takes everything that is left has the same quantile for all p. The two numbers then make an
    # interval of it, which uniroot() needs.
    exp(stats::uniroot(below, pmax(reach - c(1e-6, 0), c(-700, -699)), extendInt = "upX", tol = 1e-9)$root)
  }, 1)
}

# The parameters of the Beta distribution with the mean and variance of a product of independent Beta(a_k, b_k).
beta_like_product <- function(a, b) {
  s <- a + b
  mean <- exp(sum(log(a) - log(s)))
  relative_variance <- expm1(sum(log1p(b / (a * (s + 1)))))
  total <- (1 - mean) / (mean * relative_variance) - 1
  c(mean, 1 - mean) * total
}

# Quantiles of each element of Dirichlet vectors, the rows of `weight`.
dirichlet_quantile <- function(p, weight) {
  weight <- as.matrix(weight)
  `dim<-`(beta_quantile(p, weight, pmax(rowSums(weight) - weight, 0)), dim(weight))
}
