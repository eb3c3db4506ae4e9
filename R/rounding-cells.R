# The probability of the cells of rounded values (a cell is the interval of values that are rounded to the
# same number): log(P(cell) / width) under the posterior predictive of a cluster, or the log density for
# columns without rounding. P(cell) of several columns is a product or, where columns are independent given a
# common precision, one integral.

# The log probability, divided by the width, of the cell of each value in x: rows x columns, 0 where a value
# is missing. of: list(mean, scale, df) of the Student-t distribution of each column; each is one number, or
# one for each column.
log_cells <- function(x, width, of) {
  each <- function(v) rep(rep_len(v, ncol(x)), each = nrow(x))
  scale <- each(of$scale)
  z <- (x - each(of$mean)) / scale
  out <- log_student_cells(as.vector(abs(z)), each(width) / scale, each(of$df)) - log(scale)
  replace(matrix(out, nrow(x)), is.na(x), 0)
}

# The logarithm of the probability that a Student-t variable lies in [z - width / 2, z + width / 2], divided
# by the width; z >= 0. Upper tails are used where the whole cell is above 0, because they keep their digits;
# the density is used where the cell is so narrow that the difference would lose its digits.
log_student_cells <- function(z, width, df) {
  width <- rep_len(width, length(z))
  df <- rep_len(df, length(z))
  out <- stats::dt(z, df, log = TRUE)
  wide <- which(width > 1e-5)
  if (length(wide)) {
    a <- z[wide] - width[wide] / 2
    tail <- function(q) stats::pt(q, df[wide], lower.tail = FALSE, log.p = TRUE)
    above <- tail(z[wide] + width[wide] / 2)
    beyond <- tail(a) + log1p(-exp(above - tail(a)))
    inside <- log1p(-exp(above) - exp(tail(-a)))
    out[wide] <- ifelse(a > 0, beyond, inside) - log(width[wide])
  }
  out
}

# The spacing of the values of each column (the width of cells); 0 where no spacing was given or found.
width_of <- function(obs) obs$rounding %||% 0

obs_log_cells.obs_gaussian_diagonal <- function(obs, q, x) {
  scale <- sqrt(q$scale * (1 + 1 / q$mean_strength) / q$df)
  rowSums(log_cells(x, width_of(obs), list(mean = q$mean, scale = scale, df = q$df)))
}

# The log probability of the cells of rows in a cluster with full covariance; for a single column.
obs_log_cells.obs_gaussian_full <- function(obs, q, x) {
  of <- list(mean = q$mean %||% 0, scale = sqrt(drop(q$scale) * spread_of_mean(q) / q$df), df = q$df)
  rowSums(log_cells(x, width_of(obs), of))
}

# The log probability of the cells of rows in a cluster with the covariance that all clusters share; for one
# column, or several with known variances.
obs_log_cells.obs_tied <- function(obs, q, x) {
  scale <- sqrt(diag(as.matrix(q$cov)) * (1 + 1 / q$mean_strength))
  rowSums(log_cells(x, width_of(obs), list(mean = q$mean, scale = scale, df = Inf)))
}

# The log probability of the cells of rows in a spherical cluster. All columns share the precision, which has
# the posterior Gamma(df / 2, scale / 2). It is integrated out by the trapezoidal rule over its logarithm,
# which is exact to rounding, since the integrand falls fast on both sides.
obs_log_cells.obs_gaussian_spherical <- function(obs, q, x) {
  if (ncol(x) == 1L) {
    return(NextMethod())
  }
  d <- rowSums(!is.na(x))
  by_column <- function(v) rep(rep_len(v, ncol(x)), each = nrow(x))
  share <- by_column(1 / (1 + 1 / q$mean_strength))
  away <- abs(x - by_column(q$mean))
  half <- by_column(width_of(obs)) / 2
  around <- function(distance) q$scale + rowSums(share * distance^2, na.rm = TRUE)
  most <- (q$df + d) / 2
  from <- log(q$df / around(away + half)) - sqrt(160 / q$df) - 80 / q$df
  to <- log((q$df + d) / around(pmax(away - half, 0))) + sqrt(80 / most)
  nodes <- as.integer(max(ceiling((to - from) * 2 * sqrt(most)))) + 1L
  step <- (to - from) / (nodes - 1L)
  log_terms <- vapply(seq_len(nodes) - 1L, function(i) {
    t <- from + i * step
    of <- log_normal_cells(away, width_of(obs), exp(-t / 2) / sqrt(share))
    stats::dgamma(exp(t), q$df / 2, q$scale / 2, log = TRUE) + t + of
  }, numeric(nrow(x)))
  log_sum_exp_rows(matrix(log_terms, nrow(x))) + log(step)
}

# Log probability of the cells of rows, divided by their widths, for normal columns. away: distances of values
# from the mean (rows x columns); scale: standard deviation for each distance.
log_normal_cells <- function(away, width, scale) {
  width <- rep(rep_len(width, ncol(away)), each = nrow(away))
  out <- log_student_cells(as.vector(away / scale), width / as.vector(scale), Inf) - log(as.vector(scale))
  rowSums(replace(matrix(out, nrow(away)), is.na(away), 0))
}

log_sum_exp_rows <- function(x) {
  top <- apply(x, 1L, max)
  top + log(rowSums(exp(x - top)))
}

obs_log_cells.obs_product <- function(obs, q, x) {
  Reduce(`+`, of_blocks(obs, function(block, name) {
    obs_log_cells(block, arrays_of_block(q, name, block), x[, block$columns, drop = FALSE])
  }))
}

# The reason why the probability of cells cannot be computed for this observation model; NULL if it can.
why_no_cells <- function(obs) {
  if (!is.null(obs$blocks)) {
    return(unlist(lapply(obs$blocks, why_no_cells), use.names = FALSE)[1L])
  }
  if (!obs_can(obs, "log_cells") || !is.null(obs$logs)) {
    return("Only values of Gaussian clusters have cells.")
  }
  if (is.matrix(obs$scale %||% obs$variance) && nrow(obs$scale %||% obs$variance) > 1L) {
    "Columns depend on each other within a cluster, so that a cell is a box under a multivariate distribution."
  }
}

# The log predictive probability of the cells of each row, averaged with mean weights over the clusters of the
# fit and one that has no rows yet.
log_predictive_of_cells <- function(fit, data, call = rlang::caller_env()) {
  obs <- fit$model$obs
  if (!is_rounded(obs)) {
    abort("argument", c(
      "{.code cells = TRUE} is for fits that take values as rounded.",
      i = "Fit with {.arg rounding}; {.code cells = FALSE} gives densities."
    ), call = call)
  }
  why <- why_no_cells(obs)
  if (is.null(why) && has_individuals(data)) why <- "Rows of one individual are not independent of each other."
  if (!is.null(why)) {
    abort(c("not_defined", "argument"), c(
      "{.code cells = TRUE} is not available for this fit.", i = why,
      i = "{.code cells = FALSE} gives densities, and {.code covariance = \"diagonal\"} has the probability of cells."
    ), call = call)
  }
  x <- data$x
  if (has_missing(data)) x[data$missing] <- NA
  colnames(x) <- data$column_names
  fit <- fit_with_gaps(fit, data)
  weight <- log(weights_with_new(fit, data))
  clusters <- clusters_with_new(fit)[seq_len(ncol(weight))]
  of_clusters <- vapply(clusters, function(q) obs_log_cells(fit$model$obs, q, x), numeric(nrow(x)))
  slot <- if (nrow(weight) > 1L) weight_slots(data) else rep(1L, nrow(x))
  log_sum_exp_rows(matrix(of_clusters, nrow(x)) + weight[slot, , drop = FALSE])
}
