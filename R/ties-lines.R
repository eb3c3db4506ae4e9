# Warns of regressions that pass through all rows of their cluster.

# Warns if clusters or states have regressions that no row can contradict: rows of their own that differ are no more
# than the coefficients, or have one response. As with repeated values (warn_of_ties()), such a cluster has an
# arbitrarily high density, and is not a useful answer. Weights, which count rows many times, lead there.
warn_of_lines <- function(fit, data) {
  if (length(fit$labels) != NROW(data$x)) {
    return(invisible())
  }
  blocks <- blocks_of(data, fit$model$obs)
  lines <- Filter(function(block) !is.null(block$obs$responses) && !is_glm(block$obs), blocks)
  through <- vapply(lines, function(block) {
    any(pass_through(block$obs, data$x[, block$columns, drop = FALSE], fit$labels, fit$sizes))
  }, NA)
  if (!any(through)) {
    return(invisible())
  }
  named <- unlist(lapply(lines[through], function(block) {
    data$column_names[block$columns[seq_len(block$obs$responses)]]
  }))
  cli::cli_warn(
    c(
      "Some {cluster_word(fit)}s have a regression through all their rows: too few rows differ, or all have the same
       {.field {named}}. The data do not say how many {cluster_word(fit)}s there are.",
      i = if (!is.null(data$weights)) {
        "A weight is the number of equal rows for which a row stands. Leave out weights that mean something else."
      },
      i = "For a response with two values, make it a factor: its regression is logistic. Counts take
           {.code family = \"negbinomial\"}."
    ),
    class = c("bnpvi_warning_lines", "bnpvi_warning")
  )
}

# For each cluster with the weight of more rows than it has coefficients: whether its rows (responses and regressors)
# are no more different ones than coefficients, or have the same response while not all rows have.
pass_through <- function(obs, x, labels, sizes) {
  m <- obs$responses
  coefficients <- ncol(x) - m + isTRUE(obs$intercept)
  alike <- function(rows) all(x[rows, seq_len(m)] == rep(x[rows[1L], seq_len(m)], each = length(rows)))
  # The first rows nearly always differ enough: unique() of all rows would take seconds for a million.
  few <- function(rows) nrow(unique(x[rows, , drop = FALSE])) <= coefficients
  several <- !isTRUE(alike(seq_len(nrow(x))))
  of_cluster <- split(seq_along(labels), factor(labels, seq_along(sizes)))
  vapply(of_cluster[sizes > coefficients + 1.5], function(rows) {
    length(rows) > 0L && !anyNA(x[rows, ]) &&
      (few(utils::head(rows, 100L)) && few(rows) || several && alike(rows))
  }, NA, USE.NAMES = FALSE)
}
