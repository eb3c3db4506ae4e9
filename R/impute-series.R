# Missing values of autoregressions, given the rows before and after them and the clusters of all rows.

# The number of Gibbs sweeps if rows have scales (as with heavy tails): cells given scales and scales given
# cells are drawn in turn (a guess).
sweeps_of_scales <- 20L

# Fills missing cells of autoregressions with random draws. path: the cluster of each row.
draw_series_gaps <- function(obs, clusters, data, path) {
  parameters <- vector("list", length(clusters))
  for (k in unique(path)) parameters[[k]] <- draw_regression(obs, clusters[[k]])
  x <- data$x
  for (rows in sequence_rows(data)) {
    filled <- with_neighbours(x[rows, , drop = FALSE])
    for (gap in gaps_of_series(data$missing[rows, , drop = FALSE], obs$lag)) {
      scale <- rep(1, length(rows))
      for (sweep in seq_len(if (has_tails(obs)) sweeps_of_scales else 1L)) {
        if (sweep > 1L) scale <- draw_scales_of_noise(obs, parameters, filled, path[rows], gap, scale)
        given <- conditional_of_gap(obs, parameters, filled, path[rows], gap, scale)
        noise <- backsolve(given$root, stats::rnorm(length(given$mean)))
        filled[gap] <- filled[gap] + (given$mean + noise) * given$unit
      }
    }
    x[rows, ] <- filled
  }
  x
}

sequence_rows <- function(data) {
  Map(function(from, to) from + seq_len(to - from), data$starts[-length(data$starts)], data$starts[-1L])
}

# The missing cells (row, column) of one sequence, in groups that are conditionally independent: rows with
# cells of different groups are more than `lag` rows apart.
gaps_of_series <- function(missing, lag) {
  cells <- which(missing, arr.ind = TRUE)
  cells <- unname(cells[order(cells[, 1L], cells[, 2L]), , drop = FALSE])
  part <- cumsum(c(TRUE, diff(cells[, 1L]) > lag))[seq_len(nrow(cells))]
  lapply(split(seq_len(nrow(cells)), part), function(at) cells[at, , drop = FALSE])
}

# Fills missing cells with values near by (the last observed one, else the next), so that differences from
# them keep their digits.
with_neighbours <- function(x) {
  apply(x, 2L, function(v) {
    seen <- which(!is.na(v))
    if (length(seen)) v[seen[pmax(findInterval(seq_along(v), seen), 1L)]] else rep(0, length(v))
  }) |> matrix(nrow(x))
}

# The Gaussian distribution of the missing cells `gap` of a sequence, given all other cells and the states of
# the rows. Their offsets u from the values in x are computed.
# Row t has the noise e_t = x_t - C s_t, which is linear in those cells that are in row t or its regressors
# s_t: e_t = e_t(x) + G_t u. With W the precision of the noise, the precision of u is therefore the sum of G'
# W G, and the precision times the mean is the sum of -G' W e(x) (Rue and Held, 2005, Gaussian Markov Random
# Fields, section 2.3). Returns list(mean, root, unit) in units of the conditional standard deviations, root'
# root = precision. scale: a factor of each row's precision.
conditional_of_gap <- function(obs, parameters, x, path, gap, scale) {
  d <- ncol(x)
  rows <- rows_beside_gap(obs, x, gap)
  precision <- matrix(0, nrow(gap), nrow(gap))
  shift <- double(nrow(gap))
  for (t in rows) {
    own <- parameters[[path[t]]]
    noise <- noise_of_row(obs, own, x, t)
    back <- t - gap[, 1L] # for each cell, how many rows before row t it is
    g <- matrix(0, d, nrow(gap))
    g[cbind(gap[back == 0L, 2L], which(back == 0L))] <- 1
    lagged <- which(back >= 1L & back <= obs$lag)
    g[, lagged] <- -own$coef[, (back[lagged] - 1L) * d + gap[lagged, 2L]]
    half <- sqrt(scale[t]) * backsolve(own$root, cbind(g, noise), transpose = TRUE)
    precision <- precision + crossprod(half[, seq_len(nrow(gap)), drop = FALSE])
    shift <- shift - drop(crossprod(half[, seq_len(nrow(gap)), drop = FALSE], half[, nrow(gap) + 1L]))
  }
  unit <- 1 / sqrt(diag(precision))
  root <- chol(precision * outer(unit, unit))
  list(mean = backsolve(root, backsolve(root, shift * unit, transpose = TRUE)), root = root, unit = unit)
}

# The rows whose noise depends on the missing cells `gap`: those that contain the cells, and those that have
# them as regressors.
rows_beside_gap <- function(obs, x, gap) {
  seq(max(gap[1L, 1L], obs$lag + 1L), min(gap[nrow(gap), 1L] + obs$lag, nrow(x)))
}

noise_of_row <- function(obs, own, x, t) {
  x[t, ] - drop(own$coef %*% c(t(x[t - seq_len(obs$lag), , drop = FALSE]), if (obs$intercept) 1))
}

draw_scales_of_noise <- function(obs, parameters, x, path, gap, scale) {
  for (t in rows_beside_gap(obs, x, gap)) {
    own <- parameters[[path[t]]]
    square <- sum(backsolve(own$root, noise_of_row(obs, own, x, t), transpose = TRUE)^2)
    scale[t] <- stats::rgamma(1L, (own$nu + ncol(x)) / 2, (own$nu + square) / 2)
  }
  scale
}

# Draws a cluster's coefficients and noise from their posterior: list(coef, cov, root, nu) with root' root =
# cov. nu: the degrees of freedom of the noise, if it is Student-t.
draw_regression <- function(obs, q) {
  cov <- draw_covariance(q$df, q$scale)
  root <- chol(cov)
  noise <- matrix(stats::rnorm(length(q$coef_mean)), nrow(q$coef_mean))
  coef <- q$coef_mean + t(root) %*% noise %*% t(backsolve(chol(q$coef_precision), diag(ncol(noise))))
  list(coef = coef, cov = cov, root = root, nu = if (!is.null(q$tails_node)) draw_tails(obs, q))
}

# Refuses missing cells in the first `lag` rows of a series. The series is conditioned on these rows: they
# have no distribution, so that their missing cells cannot be drawn.
check_first_rows <- function(data, lag, call) {
  first <- which(sequence(diff(data$starts)) <= lag & rowSums(data$missing) > 0)
  if (length(first)) {
    abort("argument", c(
      "Missing values in the first {lag} row{?s} of a sequence cannot be imputed: these are conditioned on and not
       modelled.",
      x = "In {cli::qty(length(first))}row{?s} {places(first)} of {.arg newdata}.",
      i = "Begin each sequence with {lag} complete row{?s}, or fill {cli::qty(lag)}{?it/them} in."
    ), call = call)
  }
}
