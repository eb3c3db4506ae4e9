# Two kinds of probabilities of clusters for rows: those of the posterior predictive, used for densities,
# filters, imputations and simulations; and q(z), the fit's own responsibilities, from which its labels, sizes
# and bound are computed.

# Posterior predictive probabilities p(cluster | row) of the clusters in the fit: rows (or individuals) x
# clusters in the user's order. They are proportional to the terms of the sum that is the row's predictive
# density.
state_probabilities <- function(fit, data) {
  prob <- if (data$n > 0L) predictive_states(fit, data) else matrix(0, 0L, fit$state$k)
  dimnames(prob) <- list(unit_names(data), cluster_labels(fit))
  carry_back(prob, data$starts, state_lag(fit))
}

# The fit's own responsibilities q(z) of rows (or individuals), as it would compute them in a pass over the
# data; they respect known labels. First rows of series, which have no likelihood, get those of the rows after
# them.
state_responsibilities <- function(fit, data) carry_back(responsibilities(fit, data), data$starts, state_lag(fit))

# The fit's own responsibilities q(z), as in state_responsibilities(), but without filling in the first rows
# of series.
responsibilities <- function(fit, data) {
  prob <- if (data$n > 0L) local_step(fit, data) else matrix(0, 0L, fit$state$k)
  dimnames(prob) <- list(unit_names(data), cluster_labels(fit))
  prob
}

predictive_states.default <- function(fit, data) {
  probabilities_under(fit, data, in_known(fit, weights_with_new(fit, data)))
}

local_step.default <- function(fit, data) {
  fit <- fit_with_gaps(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  resp[, fit$numbering, drop = FALSE]
}

# Probabilities p(cluster | row) in a mixture with the given weights, from the predictive density of the row's
# observed values: rows (or individuals) x columns of `weight`. `weight` has one row, or one for each time or
# covariate pattern. NA for rows that are not modelled.
probabilities_under <- function(fit, data, weight, ask = engine_probabilities) {
  fit <- fit_for_any_row(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  slot <- if (nrow(weight) > 1L) weight_slots(data) else integer()
  order <- order(engine_index(fit, ncol(weight)))
  weight <- unname(weight[, order, drop = FALSE])
  ask(as_engine_data(data), fit$model, fit$state, weight, slot, order, fit$control$threads)
}

# The most probable cluster of each row in a mixture: most_probable(state_probabilities()) without making the
# full matrix of probabilities.
most_probable_states <- function(fit, data) {
  weight <- in_known(fit, weights_with_new(fit, data))
  best <- if (data$n > 0L) probabilities_under(fit, data, weight, engine_most_probable) else integer()
  stats::setNames(carry_back(best, data$starts, state_lag(fit)), unit_names(data))
}

# The fit with the form of its observation model that allows missing values, whether or not there are any, so
# that results for a row have the same bits whatever the other rows are. For individuals with repeated
# measures this form is used only if values are missing, since not all models of missing values can add up an
# individual's rows.
fit_for_any_row <- function(fit, data) {
  obs <- fit$model$obs
  fit_as(fit, if (isTRUE(obs$repeated)) with_gaps(obs, data) else with_all_gaps(obs))
}

# For each row (or individual) of the data, the number of the row of weights that applies to it: its time or
# covariate pattern.
weight_slots <- function(data) data$slot %||% of_units(data, data$position + 1L)

# Puts the columns of x, one for each cluster, into the engine's order of clusters.
in_engine_order <- function(fit, x) unname(x[, order(engine_index(fit, ncol(x))), drop = FALSE])

# Weights or probabilities of the clusters of the fit alone (without the column for new ones), normalised so
# that rows sum to 1.
in_known <- function(fit, x) {
  x <- x[, seq_len(fit$state$k), drop = FALSE]
  x / rowSums(x)
}

weights_with_new.default <- function(fit, data = NULL) {
  weight <- engine_mean_weights(fit$model, fit$state)
  t(weight[engine_index(fit, length(weight))])
}

# A list of the posterior parameters of each cluster and, last, of a cluster that has no rows yet.
clusters_with_new <- function(fit, params = posterior_arrays(fit)) {
  c(posterior_clusters(fit, params), list(new_cluster(fit)))
}

# The parameters of a cluster that has no rows yet (those of the prior), in the form of posterior_clusters().
new_cluster <- function(fit) {
  fit$state$k <- fit$numbering <- 1L
  posterior_clusters(fit, name_arrays(fit, engine_prior_parameters(fit$model$obs)))[[1L]]
}
