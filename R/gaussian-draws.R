# Draws from normal-Wishart distributions and their predictives, and probabilities of the latter.

# n draws around one draw of (mean, covariance) from the Normal-Wishart.
draw_gaussian <- function(n, mean, mean_strength, df, scale) {
  noise <- draw_noise(df, as.matrix(scale))
  centre <- if (is.null(mean)) rep(0, NCOL(scale)) else mean + noise(1L)[, 1L] / sqrt(mean_strength)
  t(noise(n)) + rep(centre, each = n)
}

# n draws of independent columns around one draw of their means and precisions.
draw_diagonal <- function(n, mean, mean_strength, df, scale) {
  precision <- stats::rgamma(length(mean), df / 2, rate = scale / 2)
  mean <- stats::rnorm(length(precision), mean, 1 / sqrt(mean_strength * precision))
  matrix(stats::rnorm(n * length(mean), rep(mean, each = n), rep(1 / sqrt(precision), each = n)), n)
}

# A function from m to m columns of Gaussian noise around 0 with one covariance,
# whose inverse is drawn from the Wishart distribution.
draw_noise <- function(df, scale) {
  half <- draw_precision(df, scale)
  function(m) noise_of(half, m)
}

# The upper Cholesky factor of the inverse of a covariance, in units of their own.
draw_precision <- function(df, scale) {
  unit <- sqrt(diag(scale))
  correlation <- scale / unit / rep(unit, each = nrow(scale))
  list(root = wishart_root(df, chol2inv(chol(correlation))), unit = unit)
}

noise_of <- function(half, m) {
  d <- length(half$unit)
  backsolve(half$root, matrix(stats::rnorm(d * m), d)) * half$unit
}

# The upper Cholesky factor of a draw from the Wishart distribution, of any df > d - 1; rWishart() asks for df >= d.
wishart_root <- function(df, scale) {
  d <- nrow(scale)
  if (df >= d) {
    return(chol(as.matrix(stats::rWishart(1L, df, scale)[, , 1L])))
  }
  root <- diag(sqrt(stats::rchisq(d, df - seq_len(d) + 1)), d)
  root[upper.tri(root)] <- stats::rnorm(d * (d - 1) / 2)
  root %*% chol(scale)
}

# Student-t probabilities of values of at most x: rows x columns, with the mean
# and scale of each column.
student_cdf <- function(x, mean, scale, df) {
  stats::pt((x - rep(mean, each = nrow(x))) / rep(scale, each = nrow(x)), rep(df, each = nrow(x)))
}

# Of a Student-t with squared scale `square / df`.
student_variance <- function(square, df) ifelse(rep_len(df > 2, length(square)), square / (df - 2), Inf)
