# The observation model completed from the data: every NULL of the constructor
# becomes a number, and C++ gets `centre` and `unit` to work in.
#
# Weak defaults of the Gaussian models. Let v be the column variances, read so
# that outliers do not count.
# - mean: the column medians.
# - df: the smallest whole number for which E[covariance] exists, D + 2, so that
#   the prior weighs as much as one observation.
# - scale: E[covariance] = `spread_within` v, diagonal. Clusters are narrower
#   than the data, or they would not be clusters; how much narrower is the one
#   thing a weak prior has to say.
# - mean_strength: small enough for the means of clusters a hundred times
#   narrower than the data to lie anywhere among them.

resolve_obs <- function(obs, data, start = NULL, call = rlang::caller_env()) {
  switch(obs$family,
    gaussian_full = ,
    gaussian_diagonal = resolve_gaussian(obs, data, call),
    gaussian_zero_mean = resolve_zero_mean(obs, data, call),
    ar = resolve_ar(obs, data, call),
    multinomial = resolve_multinomial(obs, data, start, call),
    bernoulli = resolve_fields(obs, c("a", "b"), data$d, call)
  )
}

resolve_fields <- function(obs, fields, d, call) {
  obs[fields] <- lapply(fields, function(f) expand_vector(obs[[f]], d, f, call))
  obs
}

# A term prior to be learned starts where an earlier fit ended, or at 0.1 for
# every term and, for what clusters have in common, 0.3 tokens a term shared out
# as the terms' frequencies. That is near what articles end with; bars, whales
# and birds end near the same bound from three times as much. What is far too
# much takes many laps to fall.
resolve_multinomial <- function(obs, data, start, call) {
  if (!is.null(obs$term_prior)) {
    return(resolve_fields(obs, "term_prior", data$d, call))
  }
  tokens <- column_totals(data)
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  obs$term_share <- if (sum(tokens) > 0) tokens / sum(tokens) else rep(1 / data$d, data$d)
  obs$term_prior_even <- before$term_prior_even %||% 0.1
  obs$term_prior_common <- before$term_prior_common %||% (0.3 * data$d)
  obs$term_prior <- obs$term_prior_even + obs$term_prior_common * obs$term_share
  obs
}

column_totals <- function(data) {
  if (!is_sparse_data(data)) {
    return(colSums(data$x))
  }
  totals <- double(data$d)
  by_column <- rowsum(data$value, data$column + 1L)
  totals[as.integer(rownames(by_column))] <- by_column
  totals
}

resolve_gaussian <- function(obs, data, call) {
  d <- data$d
  obs$centre <- column_medians(data$x)
  obs$unit <- column_units(data$x, obs$centre, data$column_names, call)
  obs$mean <- expand_vector(obs$mean %||% obs$centre, d, "mean", call)
  obs$mean_strength <- obs$mean_strength %||% 1e-4
  variance <- obs$unit^2 * robust_variances(data$x, obs$centre, obs$unit)
  full <- obs$family == "gaussian_full"
  obs$df <- check_df(obs$df %||% (if (full) d + 2 else 3), if (full) d else 1L, call)
  excess <- obs$df - (if (full) d else 1L) - 1
  default <- spread_within(data$n, d) * variance * max(excess, 1)
  obs$scale <- if (full) {
    expand_matrix(obs$scale %||% default, d, "scale", call)
  } else {
    expand_vector(obs$scale %||% default, d, "scale", call)
  }
  obs
}

resolve_zero_mean <- function(obs, data, call) {
  d <- data$d
  obs$unit <- column_units(data$x, rep(0, d), data$column_names, call)
  z <- data$x / rep(obs$unit, each = data$n)
  square <- colMeans(z^2)
  square[square == 0] <- 1
  obs$df <- check_df(obs$df %||% (d + 2), d, call)
  default <- spread_within(data$n, d) * obs$unit^2 * square * max(obs$df - d - 1, 1)
  obs$scale <- expand_matrix(obs$scale %||% default, d, "scale", call)
  obs
}

# Identity dynamics; noise expected at half the variance of first differences;
# coefficients as loose as half that scale, counted as z z'. The intercept, if
# any, has to cover the distance of the data from the origin. Without one the
# origin is part of the model, so `centre` is 0.
resolve_ar <- function(obs, data, call) {
  d <- data$d
  e <- d * obs$lag + obs$intercept
  centre <- column_medians(data$x)
  obs$unit <- column_units(data$x, centre, data$column_names, call)
  obs$centre <- if (obs$intercept) centre else rep(0, d)
  z <- standardise(data$x, list(centre = centre, unit = obs$unit))
  within <- !seq_len(data$n - 1L) %in% data$starts
  steps <- (z[-1L, , drop = FALSE] - z[-data$n, , drop = FALSE])[within, , drop = FALSE]
  noise <- obs$unit^2 * column_variances(steps) / 2
  obs$df <- check_df(obs$df %||% (d + 2), d, call)
  obs$scale <- expand_matrix(obs$scale %||% (noise * max(obs$df - d - 1, 1)), d, "scale", call)
  identity <- cbind(diag(d), matrix(0, d, e - d))
  obs$coef_mean <- obs$coef_mean %||% identity
  if (!identical(dim(obs$coef_mean), c(d, e))) {
    abort("argument", c(
      "{.arg coef_mean} must be a {d} x {e} matrix for {d} column{?s} and lag {obs$lag}, not
       {describe(obs$coef_mean)}."
    ), call = call)
  }
  storage.mode(obs$coef_mean) <- "double"
  loose <- 0.01 / (1 + max((obs$centre / obs$unit)^2))
  default <- c(rep(noise / 2, obs$lag), if (obs$intercept) loose)
  obs$coef_precision <- expand_matrix(obs$coef_precision %||% default, e, "coef_precision", call)
  obs
}

# Share of the data's variance that a cluster is expected to have: n observations
# hardly tell more than sqrt(n) clusters apart, and so many of equal size fill d
# dimensions when each has n^(-1/d) of the variance. Rounded data need a floor.
spread_within <- function(n, d) max(n^(-1 / d), 1e-3)

column_medians <- function(x) {
  if (nrow(x) == 0L) {
    return(rep(0, ncol(x)))
  }
  vapply(seq_len(ncol(x)), function(j) {
    x <- sort(x[, j])
    low <- x[(length(x) + 1L) %/% 2L]
    low + (x[length(x) %/% 2L + 1L] - low) / 2
  }, 1)
}

# Powers of two near the spread of each column about `centre`, so that C++ can
# work with numbers near 1 and lose no bit by it.
column_units <- function(x, centre, names, call) {
  vapply(seq_len(ncol(x)), function(j) {
    distance <- abs(x[, j] - centre[j])
    largest <- max(distance)
    if (largest <= 1e-14 * max(abs(x[, j]))) {
      return(1)
    }
    if (largest > 1e153 || largest < 1e-153) {
      column <- names[j] %||% j
      abort("range", c(
        "The spread of column {.val {column}} ({format(largest, digits = 2)}) is beyond the range in which
         variances are numbers.",
        i = "Change its unit so that values lie within 1e-150 to 1e150."
      ), call = call)
    }
    spread <- 1.5 * stats::median(distance)
    if (spread < 1e-8 * largest) {
      spread <- largest * sqrt(mean((distance / largest)^2))
    }
    2^round(log2(spread))
  }, 1)
}

standardise <- function(x, obs) {
  (x - rep(obs$centre, each = nrow(x))) / rep(obs$unit, each = nrow(x))
}

# Variances in working units; 1 where the data tell nothing (constant columns,
# fewer than two rows).
column_variances <- function(z) {
  vapply(seq_len(ncol(z)), function(j) {
    v <- if (nrow(z) < 2L) 0 else stats::var(z[, j])
    if (v < 1e-28) 1 else v
  }, 1)
}

# In working units, column by column so that no second copy of the data is made:
# the variance, or what the central 95 % of the values would make it for a normal
# sample where that is smaller, so that a few outliers cannot inflate it.
robust_variances <- function(x, centre = rep(0, ncol(x)), unit = rep(1, ncol(x))) {
  vapply(seq_len(ncol(x)), function(j) {
    z <- (x[, j, drop = FALSE] - centre[j]) / unit[j]
    v <- column_variances(z)
    middle <- (diff(stats::quantile(z, c(0.025, 0.975), names = FALSE)) / 3.92)^2
    if (middle > 1e-28) min(v, middle) else v
  }, 1)
}

expand_vector <- function(x, d, arg, call) {
  if (is.matrix(x) || !length(x) %in% c(1L, d)) {
    abort("argument", c(
      "{.arg {arg}} must have one value or one per column ({d}), not {describe(x)}."
    ), call = call)
  }
  rep_len(as.double(x), d)
}

expand_matrix <- function(x, d, arg, call) {
  if (!is.matrix(x)) {
    return(diag(expand_vector(x, d, arg, call), d))
  }
  if (nrow(x) != d) {
    abort("argument", c(
      "{.arg {arg}} must be a {d} x {d} matrix, its diagonal, or one number, not {describe(x)}."
    ), call = call)
  }
  unname(matrix(as.double(x), d, d))
}

check_df <- function(df, d, call) {
  if (df <= d - 1) {
    abort("df", c(
      "{.arg df} must be above {d - 1} for {d} column{?s}, not {df}.",
      i = "The default is {d + 2}."
    ), call = call)
  }
  as.double(df)
}
