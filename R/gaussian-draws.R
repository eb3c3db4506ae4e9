# Draws from normal-Wishart distributions and from their predictive distributions, and distribution functions
# of the latter.

# Draws n rows from N(mean, covariance), where (mean, covariance) is one draw from a normal-Wishart
# distribution.
draw_gaussian <- function(n, mean, mean_strength, df, scale) {
  noise <- draw_noise(df, as.matrix(scale))
  centre <- if (is.null(mean)) rep(0, NCOL(scale)) else mean + noise(1L)[, 1L] / sqrt(mean_strength)
  t(noise(n)) + rep(centre, each = n)
}

# Draws n rows of independent Gaussian columns, given one draw of their means and precisions.
draw_diagonal <- function(n, mean, mean_strength, df, scale) {
  precision <- draw_precisions(df, rep_len(scale, length(mean)))
  mean <- stats::rnorm(length(precision), mean, 1 / sqrt(mean_strength * precision))
  matrix(stats::rnorm(n * length(mean), rep(mean, each = n), rep(1 / sqrt(precision), each = n)), n)
}

# Draws the precisions of independent columns. With a df near 0 they may underflow: such a precision is taken
# as the least number that still leaves finite rows.
draw_precisions <- function(df, scale) {
  pmax(stats::rgamma(length(scale), df / 2, rate = scale / 2), least_variate / scale)
}
least_variate <- 1e-200

# A function of m that returns m columns of Gaussian noise with mean 0 and one common covariance, whose inverse is drawn
# from a Wishart distribution.
draw_noise <- function(df, scale) {
  half <- draw_precision(df, scale)
  function(m) noise_of(half, m)
}

# The upper Cholesky factor of an inverse covariance drawn from a Wishart distribution. The scale matrix is
# divided by its diagonal first, so that units do not matter.
draw_precision <- function(df, scale) {
  unit <- sqrt(diag(scale))
  correlation <- scale / unit / rep(unit, each = nrow(scale))
  list(root = wishart_root(df, chol2inv(chol(correlation))), unit = unit)
}

noise_of <- function(half, m) {
  d <- length(half$unit)
  backsolve(half$root, matrix(stats::rnorm(d * m), d)) * half$unit
}

# The upper Cholesky factor of a draw from a standard Wishart distribution with any df > d - 1; rWishart()
# requires df >= d.
wishart_root <- function(df, scale) {
  d <- nrow(scale)
  if (df >= d) {
    return(chol(as.matrix(stats::rWishart(1L, df, scale)[, , 1L])))
  }
  root <- diag(sqrt(pmax(stats::rchisq(d, df - seq_len(d) + 1), least_variate)), d)
  root[upper.tri(root)] <- stats::rnorm(d * (d - 1) / 2)
  root %*% chol(scale)
}

# Distribution functions of Student-t variables at x: rows x columns, with a mean and a scale for each column.
student_cdf <- function(x, mean, scale, df) {
  stats::pt((x - rep(mean, each = nrow(x))) / rep(scale, each = nrow(x)), rep(df, each = nrow(x)))
}

# The variance of a Student-t variable whose squared scale is `square / df`.
student_variance <- function(square, df) ifelse(rep_len(df > 2, length(square)), square / (df - 2), Inf)
