# prevalence() of sequences whose transitions depend on covariates, and pictures of such transitions, over the
# values of one covariate.

# Averages shares of states or transitions (rows x columns) over the other covariates, so that one row is left
# for each value of the covariate: values x columns.
by_value <- function(shares, grid) {
  n <- length(grid$value)
  sums <- rowsum(shares * grid$weight, rep(seq_len(n), each = length(grid$weight)), reorder = FALSE)
  unname(sums) / sum(grid$weight)
}

# Makes a table of class bnp_prevalence over the values of one covariate. shares: a function of transitions (n
# x K x outcomes) that gives the table's quantities, rows x columns. keys: a data frame that describes the
# columns.
table_by_covariate <- function(fit, grid, keys, shares, level, contrast) {
  rows <- tilted_rows(fit)
  mean <- by_value(shares(transitions_at(fit, grid$x, grid$extra, rows)), grid)
  roots <- roots_of_effects(rows)
  drawn <- draws_of_shares(nrow(grid$x), fit$state$k, function() {
    by_value(shares(drawn_transitions(fit, grid$x, rows, roots, grid$extra)), grid)
  })
  shown <- seq_along(grid$value)
  if (contrast) {
    mean <- mean - mean[rep(1L, nrow(mean)), , drop = FALSE]
    drawn <- drawn - drawn[rep(1L, dim(drawn)[1L]), , , drop = FALSE]
    shown <- shown[-1L]
  }
  ends <- apply(drawn, c(1L, 2L), stats::quantile, probs = 0.5 + c(-1, 1) * level / 2, names = FALSE)
  value <- if (on_a_scale(grid$value)) grid$value else factor(grid$value, grid$value)
  out <- cbind(
    keys[rep(seq_len(nrow(keys)), each = length(shown)), , drop = FALSE],
    data.frame(
      at = rep(value[shown], nrow(keys)), rows = nobs(fit), proportion = as.double(mean[shown, ]),
      conf.low = as.double(ends[1L, shown, ]), conf.high = as.double(ends[2L, shown, ])
    ), row.names = NULL
  )
  if (!on_a_scale(value)) names(out)[names(out) == "at"] <- "group"
  structure(
    without_noise(out), class = c("bnp_prevalence", "data.frame"), by = grid$by, of_model = TRUE,
    against = if (contrast) label_text(grid$value[1L])
  )
}

prevalence_of_states <- function(fit, by, level, at, contrast, average, call) {
  grid <- grid_of_covariate(fit, by, at, average, transitions_by_pattern(fit), call)
  table_by_covariate(
    fit, grid, data.frame(state = seq_len(fit$state$k)), function(p) stationary_shares(known_transitions(p)), level,
    contrast
  )
}

# The table behind plot(fit, "transitions", by = ): the probability of each transition over the values of one
# covariate, given that only states of the fit occur.
transitions_by <- function(fit, by, call, level = 0.95) {
  if (!has_covariates(fit$model$prior)) only_with_covariates(fit, call, "by")
  grid <- grid_of_covariate(fit, by, list(), TRUE, transitions_by_pattern(fit), call)
  k <- fit$state$k
  names <- cluster_labels(fit)
  keys <- data.frame(transition = paste(rep(names, k), "to", rep(names, each = k)))
  table_by_covariate(
    fit, grid, keys, function(p) matrix(known_transitions(p), nrow(grid$x)), level, FALSE
  )
}

# Names of the transitions in a picture, row by row of the matrix.
transitions_shown <- function(fit) {
  names <- cluster_labels(fit)
  as.character(t(outer(names, names, paste, sep = " to ")))
}
