# Rounding of the columns of data, as far as their values show it.

# The common spacing of the values of each column, 0 where there is none: of a column whose values come five times and
# more on average, rows counted by their weights. Of a few values that are not on the grid nothing is made.
column_spacings <- function(x, weights = NULL) {
  weights <- weights %||% rep(1, nrow(x))
  vapply(seq_len(ncol(x)), function(j) {
    there <- !is.na(x[, j]) & weights > 0
    spacing_of(x[there, j], weights[there])
  }, 1)
}

spacing_of <- function(values, weights = rep(1, length(values))) {
  distinct <- sort(unique(values))
  if (length(distinct) < 2L || sum(weights) <= 5 * length(distinct)) {
    return(0)
  }
  steps <- diff(distinct)
  steps <- steps[steps > 1e-9 * (distinct[length(distinct)] - distinct[1L])]
  if (!length(steps)) {
    return(0)
  }
  # The most common step, the smallest of those that are as common; steps of one grid differ by rounding alone.
  rounded <- signif(steps, 6)
  found <- sort(unique(rounded))
  spacing <- mean(steps[rounded == found[which.max(tabulate(match(rounded, found)))]])
  origin <- distinct[which.max(rowsum(weights, match(values, distinct)))]
  off <- abs((values - origin) / spacing - round((values - origin) / spacing))
  if (sum(weights[off < 1e-3]) >= 0.95 * sum(weights)) spacing else 0
}
