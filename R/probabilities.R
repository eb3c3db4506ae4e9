# Probabilities of the clusters of rows, of two kinds: of the posterior predictive, by which densities, filters,
# imputations and simulations go, and the fit's own q(z), which its labels, sizes and bound are made of.

# p(cluster | row), given that it is one of the fit's, rows (or individuals) x clusters in their order: proportional to
# the terms whose sum is the row's predictive density. Of sequences given all rows, by the posterior means of the
# transitions. Linear systems have q(z) (see `type` of predict.bnp_hmm()).
state_probabilities <- function(fit, data) {
  if (is_hidden(fit) && data$n > 0L) {
    return(hidden_probabilities(fit, data))
  }
  known <- seq_len(fit$state$k)
  prob <- if (data$n == 0L) {
    matrix(0, 0L, fit$state$k)
  } else if (inherits(fit, "bnp_hmm")) {
    smoothed_states(fit, data)[, known, drop = FALSE]
  } else {
    shares_of_rows(log_terms(fit, data)[, known, drop = FALSE])
  }
  prob <- prob / rowSums(prob)
  dimnames(prob) <- list(unit_names(data), known)
  carry_back(prob, data$starts, state_lag(fit))
}

# q(z) of rows (or individuals) x clusters in their order, as the fit's own local step finds it; known labels count.
state_responsibilities <- function(fit, data) {
  if (is_hidden(fit) && data$n > 0L) {
    return(hidden_probabilities(fit, data))
  }
  carry_back(responsibilities(fit, data), data$starts, state_lag(fit))
}

responsibilities <- function(fit, data) {
  prob <- if (data$n == 0L) {
    matrix(0, 0L, fit$state$k)
  } else if (has_weights_by_time(fit)) {
    responsibilities_by_time(fit, data)
  } else {
    fit <- fit_with_gaps(fit, data)
    resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
    resp[, fit$numbering, drop = FALSE]
  }
  dimnames(prob) <- list(unit_names(data), seq_len(ncol(prob)))
  prob
}

# log(E[weight] p(row | cluster)) of a mixture, rows x clusters in their order and, last, the one that is not seen yet;
# -Inf where the prior has none. NA of rows that are not modelled.
log_terms <- function(fit, data) {
  fit <- fit_with_gaps(fit, data)
  log_p <- engine_log_predictives(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  log_p <- log_p[, engine_index(fit, ncol(log_p)), drop = FALSE]
  weight <- log(weights_with_new(fit))
  log_p + if (has_weights_by_time(fit)) weight[data$slot, , drop = FALSE] else rep(weight, each = nrow(log_p))
}

# Mean weights of the clusters in their order and, last, of the one that is not seen yet: 0 where the prior has none.
# Where weights are by time, times x clusters.
weights_with_new <- function(fit) {
  if (has_weights_by_time(fit)) {
    weight <- weights_concentration_by_time(fit)
    return(weight / rowSums(weight))
  }
  weight <- engine_mean_weights(fit$model, fit$state)
  weight[engine_index(fit, length(weight))]
}

# p(state | all rows of its sequence or tree), rows x states in their order and, where the prior allows more, one for
# all that are not seen yet.
smoothed_states <- function(fit, data) {
  fit <- fit_with_gaps(fit, data)
  prob <- engine_smoothed_states(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  prob[, engine_index(fit, ncol(prob)), drop = FALSE]
}

# exp(log_p), its largest number in each row being 1.
shares_of_rows <- function(log_p) exp(log_p - row_tops(log_p))

row_tops <- function(log_p) {
  top <- log_p[, 1L]
  for (k in seq_len(ncol(log_p))[-1L]) top <- pmax(top, log_p[, k])
  top
}

# log of sums over clusters of exp(log_p).
log_row_sums <- function(log_p) {
  top <- row_tops(log_p)
  top + log(rowSums(exp(log_p - top)))
}

# Parameters of a cluster that is not seen yet, as posterior_clusters() has those of the others.
new_cluster <- function(fit) {
  fit$state$k <- fit$numbering <- 1L
  posterior_clusters(fit, name_arrays(fit, engine_prior_parameters(fit$model$obs)))[[1L]]
}
