# Missing values of a row, given its observed values and its cluster.

# Fills missing cells with their expectations (numbers) or the codes of the most probable levels: list(x, sd)
# with the completed internal data and standard deviations of the replaced numbers (NA elsewhere). prob:
# probabilities of clusters, rows x clusters.
expected_missing <- function(fit, data, prob) {
  sd <- matrix(NA_real_, data$n, data$d)
  x <- data$x
  rows <- which(rowSums(data$missing) > 0)
  for_gappy_blocks(fit, data, rows, posterior_clusters(fit), function(block, own, clusters, columns) {
    gone <- own$missing
    if (!is.null(block$levels)) {
      expected <- prob[rows, , drop = FALSE] %*% level_probabilities(block, clusters)
      at <- rep(seq_along(block$levels), lengths(block$levels))
      values <- vapply(seq_along(columns), function(j) {
        max.col(expected[, at == j, drop = FALSE], ties.method = "first")
      }, integer(length(rows)))
      x[rows, columns][gone] <<- matrix(values, length(rows))[gone]
      return()
    }
    mean <- square <- array(0, dim(own$x))
    for (k in seq_along(clusters)) {
      part <- obs_gap_moments(block, clusters[[k]], own)
      mean <- mean + prob[rows, k] * part$mean
      square <- square + prob[rows, k] * (part$var + part$mean^2)
    }
    x[rows, columns][gone] <<- mean[gone]
    sd[rows, columns][gone] <<- sqrt(pmax(square - mean^2, 0))[gone]
  })
  list(x = x, sd = sd)
}

# Fills missing cells of the internal data with random draws. path: the cluster of each row.
draw_missing <- function(fit, data, clusters, path) {
  if (state_lag(fit) > 0L) {
    return(draw_series_gaps(fit$model$obs, clusters, data, path))
  }
  x <- data$x
  rows <- which(rowSums(data$missing) > 0)
  for_gappy_blocks(fit, data, rows, clusters, function(block, own, clusters, columns) {
    x[rows, columns][own$missing] <<- obs_draw_gaps(block, clusters, own, path[rows])[own$missing]
  })
  x
}

# Calls f(block, own, clusters, columns) for each block of a product (observation model of some columns) with
# missing cells: the block's model, its data of these rows, its part of the clusters' parameters, and its
# columns.
for_gappy_blocks <- function(fit, data, rows, clusters, f) {
  obs <- fit$model$obs
  data <- data[rows]
  parts <- blocks_of(data, obs)
  for (i in seq_along(parts)) {
    part <- parts[[i]]
    if (!any(data$missing[, part$columns])) next
    if (is.null(obs$blocks)) {
      f(obs, data, clusters, part$columns)
    } else {
      own <- lapply(clusters, arrays_of_block, names(obs$blocks)[i], part$obs)
      f(obs$blocks[[i]], data_of_block(data, obs$blocks[[i]]), own, part$columns)
    }
  }
}

# The probability of each level of a block's columns in each cluster: clusters x levels.
level_probabilities <- function(block, clusters) {
  do.call(rbind, lapply(clusters, function(q) {
    unlist(by_column_of_levels(block, q$concentration, function(a) a / sum(a)))
  }))
}

# Moments of cells in one cluster, given the observed cells of their row. If columns are independent within a
# cluster, these are the moments of the predictive distribution.
obs_gap_moments.default <- function(obs, q, data) {
  if (obs_can(obs, "conditional")) {
    return(conditional_moments(obs_conditional(obs, q, data$x), data))
  }
  exposure <- data$exposure %||% rep(1, data$n)
  each <- unique(exposure)
  by_exposure <- lapply(each, function(e) obs_moments(obs, q, list(exposure = e)))
  of <- function(what) do.call(rbind, lapply(by_exposure, `[[`, what))[match(exposure, each), , drop = FALSE]
  list(mean = of("mean"), var = of("var"))
}

obs_draw_gaps.default <- function(obs, clusters, data, path) {
  if (!obs_can(obs, "conditional")) {
    return(obs_draw(obs, clusters, path, data$n, list(exposure = data$exposure %||% rep(1, data$n))))
  }
  x <- data$x
  for (k in unique(path)) {
    rows <- path == k
    drawn <- obs_draw_conditional(obs, clusters[[k]], x[rows, , drop = FALSE])
    x[rows, ] <- draw_conditional(drawn, data[rows])
  }
  x
}

# Groups rows by which of the first D columns are missing, and calls f(rows, o, m) for each group: o and m are
# the numbers of the observed and of the missing columns. Complete rows are left out.
by_pattern <- function(missing, f) {
  pattern <- apply(missing, 1L, function(gone) paste(which(gone), collapse = " "))
  for (one in setdiff(unique(pattern), "")) {
    rows <- which(pattern == one)
    gone <- missing[rows[1L], ]
    f(rows, which(!gone), which(gone))
  }
}

# Moments of the missing cells of rows given their observed cells, under a multivariate Student-t
# distribution: t$location (rows x D), t$scale (D x D) times t$spread (one per row), t$df.
conditional_moments <- function(t, data) {
  d <- ncol(t$location)
  mean <- data$x
  var <- array(0, dim(data$x))
  by_pattern(data$missing[, seq_len(d), drop = FALSE], function(rows, o, m) {
    given <- regress(t$scale, o, m, data$x[rows, o, drop = FALSE] - t$location[rows, o, drop = FALSE])
    df <- t$df + length(o)
    scale <- (t$df * t$spread[rows] + given$square) / df
    mean[rows, m] <<- t$location[rows, m] + given$shift
    var[rows, m] <<- if (df > 2) outer(scale, diag(given$cov)) * df / (df - 2) else Inf
  })
  list(mean = mean, var = var)
}

# Draws missing cells given the observed ones for Gaussian rows around p$location (rows x D) with covariance
# p$cov. Returns the completed x.
draw_conditional <- function(p, data) {
  x <- data$x
  if (!has_missing(data)) {
    return(x)
  }
  by_pattern(data$missing[, seq_len(ncol(p$location)), drop = FALSE], function(rows, o, m) {
    given <- regress(p$cov, o, m, x[rows, o, drop = FALSE] - p$location[rows, o, drop = FALSE])
    noise <- matrix(stats::rnorm(length(rows) * length(m)), length(rows)) %*% chol(given$cov)
    x[rows, m] <<- p$location[rows, m] + given$shift + noise
  })
  x
}

# The regression of the coordinates m on the coordinates o under a covariance S = s, for rows with deviations
# e of the coordinates o from their means (rows x o): list(shift, square, cov) with shift = e S_oo^-1 S_om,
# square = e S_oo^-1 e' for each row, cov = S_mm - S_mo S_oo^-1 S_om. Computed in units of the diagonal, so
# that scales do not matter.
regress <- function(s, o, m, e) {
  unit <- sqrt(diag(s))
  s <- s / outer(unit, unit)
  if (!length(o)) {
    cov <- s[m, m, drop = FALSE] * outer(unit[m], unit[m])
    return(list(shift = matrix(0, nrow(e), length(m)), square = double(nrow(e)), cov = cov))
  }
  root <- chol(s[o, o, drop = FALSE])
  half <- backsolve(root, s[o, m, drop = FALSE], transpose = TRUE)
  whitened <- t(backsolve(root, t(e) / unit[o], transpose = TRUE))
  cov <- s[m, m, drop = FALSE] - crossprod(half)
  list(
    shift = (whitened %*% half) * rep(unit[m], each = nrow(e)), square = rowSums(whitened^2),
    cov = cov * outer(unit[m], unit[m])
  )
}

# Draws a covariance whose inverse has a Wishart distribution, with df degrees of freedom and inverse scale
# `scale`.
draw_covariance <- function(df, scale) {
  unit <- sqrt(diag(scale))
  half <- wishart_root(df, chol2inv(chol(scale / outer(unit, unit))))
  chol2inv(half) * outer(unit, unit)
}

clusters_given.default <- function(fit, data, new = TRUE) {
  weight <- weights_with_new(fit, data)
  drawn <- carry_back(
    probabilities_under(fit, data, if (new) weight else in_known(fit, weight)), data$starts, state_lag(fit)
  )
  list(prob = of_rows(data, state_probabilities(fit, data)), draw = function() of_rows(data, draw_each(drawn)))
}

# Draws a column number for each row of a matrix of weights.
draw_each <- function(weight) {
  reached <- weight
  for (k in seq_len(ncol(weight))[-1L]) reached[, k] <- reached[, k - 1L] + weight[, k]
  1L + as.integer(rowSums(reached < stats::runif(nrow(weight)) * reached[, ncol(reached)]))
}
