# Probabilities of the clusters of rows, of two kinds: of the posterior predictive, by which densities, filters,
# imputations and simulations go, and the fit's own q(z), which its labels, sizes and bound are made of.

# p(cluster | row), given that it is one of the fit's, rows (or individuals) x clusters in their order: proportional to
# the terms whose sum is the row's predictive density.
state_probabilities <- function(fit, data) {
  prob <- if (data$n > 0L) predictive_states(fit, data) else matrix(0, 0L, fit$state$k)
  dimnames(prob) <- list(unit_names(data), cluster_labels(fit))
  carry_back(prob, data$starts, state_lag(fit))
}

# The fit's own q(z), as its local step finds it; known labels count.
state_responsibilities <- function(fit, data) carry_back(responsibilities(fit, data), data$starts, state_lag(fit))

# The same, first rows of series as they are.
responsibilities <- function(fit, data) {
  prob <- if (data$n > 0L) local_step(fit, data) else matrix(0, 0L, fit$state$k)
  dimnames(prob) <- list(unit_names(data), cluster_labels(fit))
  prob
}

predictive_states.default <- function(fit, data) {
  probabilities_under(fit, data, in_known(fit, weights_with_new(fit, data)))
}

local_step.default <- function(fit, data) {
  fit <- fit_at_patterns(fit_with_gaps(fit, data), data)
  resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  resp[, fit$numbering, drop = FALSE]
}

# p(cluster | row) of a mixture with these weights, by the predictive of what is observed of the row: rows (or
# individuals) x columns of weight, which has one row, or one for each time or covariate pattern. NA of rows that are not
# modelled.
probabilities_under <- function(fit, data, weight, ask = engine_probabilities) {
  fit <- fit_at_patterns(fit_for_any_row(fit, data), data)
  slot <- if (nrow(weight) > 1L) weight_slots(data) else integer()
  order <- order(engine_index(fit, ncol(weight)))
  weight <- unname(weight[, order, drop = FALSE])
  ask(as_engine_data(data), fit$model, fit$state, weight, slot, order, fit$control$threads)
}

# most_probable(state_probabilities()) of a mixture, without that matrix.
most_probable_states <- function(fit, data) {
  weight <- in_known(fit, weights_with_new(fit, data))
  best <- if (data$n > 0L) probabilities_under(fit, data, weight, engine_most_probable) else integer()
  stats::setNames(carry_back(best, data$starts, state_lag(fit)), unit_names(data))
}

# A fit in the same form whether values are missing or not, so that what it says of a row has the same bits beside any
# other rows. Of individuals the data decide: not all models with gaps can add their rows up.
fit_for_any_row <- function(fit, data) {
  obs <- fit$model$obs
  fit_as(fit, if (isTRUE(obs$repeated)) with_gaps(obs, data) else with_all_gaps(obs))
}

# Which row of weights is that of each row, or individual.
weight_slots <- function(data) data$slot %||% of_units(data, data$position + 1L)

# Columns of clusters in their order as the engine has them.
in_engine_order <- function(fit, x) unname(x[, order(engine_index(fit, ncol(x))), drop = FALSE])

# Of weights or probabilities, those of the clusters in use, rows summing to 1.
in_known <- function(fit, x) {
  x <- x[, seq_len(fit$state$k), drop = FALSE]
  x / rowSums(x)
}

weights_with_new.default <- function(fit, data = NULL) {
  weight <- engine_mean_weights(fit$model, fit$state)
  t(weight[engine_index(fit, length(weight))])
}

# Of each cluster and, last, the one that is not seen yet.
clusters_with_new <- function(fit, params = posterior_arrays(fit)) {
  c(posterior_clusters(fit, params), list(new_cluster(fit)))
}

# Parameters of a cluster that is not seen yet, as posterior_clusters() has those of the others.
new_cluster <- function(fit) {
  fit$state$k <- fit$numbering <- 1L
  posterior_clusters(fit, name_arrays(fit, engine_prior_parameters(fit$model$obs)))[[1L]]
}
