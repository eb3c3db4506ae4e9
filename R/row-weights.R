# Weights of data: how often each row, sequence or document counts. This file holds what resolving, fitting
# and printing need of them; weights `w` are NULL where every row counts once.

# Checks weights that a user gave. of: what has a weight, for messages; kept: the rows that are used, NULL for
# all.
check_weights <- function(weights, n, call, of = "row of {.arg x}", kept = NULL) {
  if (is.null(weights)) {
    return(NULL)
  }
  weights <- plain_values(weights)
  if (!is.numeric(weights) || !is_plain_number(weights) || !is.null(dim(weights))) {
    abort("weights", "{.arg weights} must be a numeric vector, not {describe(weights)}.", call = call)
  }
  if (length(weights) != n) {
    abort("weights", c(
      paste0("{.arg weights} must have one number per ", of, " ({n}), not {length(weights)}.")
    ), call = call)
  }
  bad <- which(!is.finite(weights) | weights < 0)
  if (length(bad)) {
    abort("weights", c(
      "{.arg weights} must be finite and at least 0.",
      x = "Not so: {sub(' .*', '', of)} {places(bad)}.",
      i = if (of == "row of {.arg x}") "Rows that should not count have weight 0."
    ), call = call)
  }
  if (!is.null(kept)) weights <- weights[kept]
  if (all(weights == 0)) {
    abort("weights", c(
      "{.arg weights} must not all be 0.", i = "At least one row must have a weight above 0."
    ), call = call)
  }
  as.double(weights)
}

# Weights of rows, in the order of the internal form, from one weight for each sequence or document (`word`).
unit_weights <- function(weights, data, word, call) {
  groups <- given_groups(data)
  if (is.null(weights)) {
    return(NULL)
  }
  if (rlang::is_string(weights) && is.null(names(weights))) {
    abort("weights", c(
      "{.arg weights} must have one number per {word} ({groups$n}); a column, as {.field {weights}}, cannot give it.",
      i = "If all rows of a {word} have the same value: {.code tapply({weights}, id, mean)}."
    ), call = call)
  }
  if (length(weights) == rows_given(data) && groups$n != rows_given(data)) {
    abort("weights", c(
      "{.arg weights} must have one number per {word} ({groups$n}), not one per row.",
      i = "All rows of a {word} must have the same weight, as they depend on each other."
    ), call = call)
  }
  weights <- values_of_groups(weights, data, "weights", word, call)
  weights <- check_weights(weights, groups$n, call, word, groups$kept)
  if (any(weights == 0)) {
    abort("weights", c(
      "{.arg weights} of {word}s must be above 0.",
      x = "Not so: {word} {places(data$group_names[weights == 0] %||% which(weights == 0))}.",
      i = "Leave {word}s that are not to count out of {.arg x}."
    ), call = call)
  }
  rep(weights, diff(data$starts))
}

# Data with weights of rows as the user gave them. of: in messages, the noun for what has a weight.
with_weights <- function(data, weights, call, of = "row of {.arg x}") {
  weights <- values_of_rows(weights, data, "weights", call)
  data$weights <- check_weights(weights, rows_given(data), call, of, data$left_out$kept)
  data
}

# Multiplies the rows of a matrix, or the elements of a vector, by their weights w; NULL: all weights are 1.
times_weights <- function(x, w) if (is.null(w)) x else x * w

# Weighted means of columns over their observed cells, and (counts_of_columns) the total weight of these cells
# in each column.
column_means <- function(x, w) {
  if (is.null(w)) colMeans(x, na.rm = TRUE) else colSums(x * w, na.rm = TRUE) / counts_of_columns(x, w)
}

counts_of_columns <- function(x, w) if (anyNA(x)) colSums((!is.na(x)) * w) else rep(sum(w), ncol(x))

# Weights rescaled so that the smallest is at least 1, for quantiles and variances: with weights that sum to
# 1, for example, there would be less than one observation.
at_least_once <- function(w) w / min(1, w[w > 0])

# Weighted quantiles: those of type 7 of the values, each repeated as often as it counts. Fractional weights
# are possible: the t-th order statistic is the smallest value up to which the weights sum to at least t.
weighted_quantile <- function(x, w, p) {
  kept <- w > 0 & !is.na(x)
  order <- order(x[kept])
  x <- x[kept][order]
  upto <- cumsum(at_least_once(w[kept])[order])
  n <- upto[length(upto)]
  number <- 1 + (n - 1) * p
  below <- floor(number + 1e-9)
  at <- function(t) x[pmin(findInterval(t * (1 - 1e-12), upto, left.open = TRUE) + 1L, length(x))]
  at(below) + pmax(number - below, 0) * (at(below + 1) - at(below))
}

# The number of rows in words for print(): "1000 observations (272 rows with weights)".
described_rows <- function(fit, word = "observation", row = "row") {
  w <- fit$input$weights
  if (has_individuals(fit$input)) {
    of_each <- of_units(fit$input, w)
    return(paste0(
      if (is.null(w)) count_of(n_units(fit$input), "individual") else {
        paste0(count_of(signif(sum(of_each), 6), "individual"), " (", sum(of_each > 0), " with weights)")
      }, ", ", count_of(signif(nobs(fit), 6), row)
    ))
  }
  if (is.null(w)) {
    return(count_of(fit$input$n, word))
  }
  paste0(count_of(signif(sum(w), 6), word), " (", count_of(sum(w > 0), row), " with weights)")
}
