# Mixtures whose clusters have weights by time. The posterior of the weights of a time is Dirichlet(alpha pi + N_t),
# where N_t are the time's expected numbers of rows by cluster.

# The parameters of the Dirichlet posteriors of the weights: times x (clusters in the user's order and, last,
# all others together).
weights_concentration_by_time <- function(fit) {
  size <- t(posterior_arrays(fit)$size)
  prior <- document_weight(fit)
  unname(cbind(size, 0) + rep(prior, each = nrow(size)))
}

# The posterior means of the weights at each time: times x (clusters and, last, all others together).
weights_with_new.bnp_mixture_by_time <- function(fit, data = NULL) {
  weight <- weights_concentration_by_time(fit)
  weight / rowSums(weight)
}

local_step.bnp_mixture_by_time <- function(fit, data) {
  expected <- engine_expected_logs(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  log_weight <- digamma(weights_concentration_by_time(fit)[, seq_len(fit$state$k), drop = FALSE])
  log_p <- expected[, fit$numbering, drop = FALSE] + log_weight[data$slot, , drop = FALSE]
  share <- exp(log_p - log_p[cbind(seq_len(nrow(log_p)), max.col(log_p, ties.method = "first"))])
  share / rowSums(share)
}

# Draws a cluster for each row with the weights of the row's time. weights: times x clusters; slot: the number
# of each row's time.
draw_by_time <- function(weights, slot) {
  out <- integer(length(slot))
  for (t in unique(slot)) {
    out[slot == t] <- sample.int(ncol(weights), sum(slot == t), replace = TRUE, prob = weights[t, ])
  }
  out
}

# The numbers of the times of n rows; the given ones are repeated as often as needed.
one_slot_a_row <- function(slot, n, call = rlang::caller_env()) {
  if (n > 0L && !length(slot)) abort("time", "{.arg time} must have at least one time.", call = call)
  rep_len(slot, n)
}

kept_of_data.bnp_mixture_by_time <- function(fit, data) c(NextMethod(), counts_by_group(fit, data))

is_grouped.bnp_mixture_by_time <- function(fit) TRUE

with_more_weights.bnp_mixture_by_time <- function(fit, data, weights, call) {
  data$lengths <- diff(data$starts)
  data
}
