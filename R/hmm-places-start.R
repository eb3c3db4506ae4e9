# Default starts of hidden Markov models with known transitions, as in left-to-right chains (R/transitions.R).
# Each state then has a fixed place in the chain. Laps (passes over the data) improve the parameters of a
# state from any start, but mostly do not move it to another place.

# The start of a model with known transitions, whose states have fixed places in the chain: list(labels, k,
# first_only). If `first_only`, only the first of several starts uses it. NULL if the engine draws one.
start_in_places <- function(data, obs, prior, control, resolved) {
  if (!is.null(control$init) || control$algorithm == "stochastic") {
    return(NULL)
  }
  if (is_left_to_right(prior)) {
    return(list(labels = equal_stretches(diff(data$starts), prior$k), k = prior$k, first_only = TRUE))
  }
  labels <- usual_labels(data, obs, prior, control, resolved)
  if (is.null(labels)) {
    return(NULL)
  }
  starts <- lapply(best_places(transitions_of_labels(labels, data, prior$k), prior), function(place) {
    list(labels = place[labels], k = prior$k, first_only = TRUE)
  })
  if (length(starts) == 1L) {
    return(starts[[1L]])
  }
  once <- utils::modifyList(resolved, list(algorithm = "memoized", max_laps = 1L, restarts = 1L, batches = 1L))
  once[c("kinds", "most_work", "batch_of")] <- NULL
  after_a_lap <- vapply(starts, function(start) {
    model <- list(obs = obs, prior = prior, bound = bound_of(control))
    engine_fit(as_engine_data(data), model, once, start, NULL)$elbo
  }, 1)
  starts[[which.max(replace(after_a_lap, is.nan(after_a_lap), -Inf))]]
}

# Whether sequences begin in the first state and never go back, so that only the ends of their stages are
# unknown.
is_left_to_right <- function(prior) {
  cells <- prior$cell_fixed
  all(cells[1L, -1L] %in% 0) && all(cells[-1L, ][lower.tri(diag(prior$k))] %in% 0)
}

equal_stretches <- function(lengths, k) {
  unlist(lapply(lengths, function(n) as.integer((seq_len(n) - 1) * k / max(n, 1L)) + 1L), use.names = FALSE)
}

# Labels for a start, from clusters of rows that ignore the rows' order in time.
usual_labels <- function(data, obs, prior, control, resolved) {
  found <- kmeans_start(data, obs, prior, control, resolved)
  if (!is.null(found)) {
    return(found$labels)
  }
  if (is_spooled(data) || has_missing(data) || !is.null(data$cells_missing) || has_trees(data)) {
    return(NULL)
  }
  clusters <- engine_kmeans(as_engine_data(data), obs, prior$k, 10L, TRUE, resolved$seed)$cluster
  carry_back(clusters, data$starts, obs_lag(obs))
}

# Counts of first states and of transitions in the sequences of these labels, a matrix (k + 1) x k.
transitions_of_labels <- function(labels, data, k) {
  first <- seq_along(labels) %in% (data$starts[-length(data$starts)] + 1L)
  before <- c(NA, labels[-length(labels)])
  rbind(tabulate(labels[first], k), table(factor(before[!first], seq_len(k)), factor(labels[!first], seq_len(k))))
}

# The best orders of the states given these counts of transitions: the orders with the fewest forbidden
# transitions and, among these, the `most` most probable ones at the prior mean. For more than 8 states the
# search swaps pairs, beginning with the present order.
best_places <- function(counts, prior, most = 3L) {
  p <- mean_cells(prior)
  forbidden <- p == 0
  log_p <- ifelse(forbidden, 0, log(p))
  k <- prior$k
  score <- function(state_at) { # state_at: the state at each place
    moved <- counts[c(1L, 1L + state_at), state_at]
    c(sum(moved[forbidden]), -sum(moved * log_p))
  }
  if (k > 8L) {
    return(list(order(places_by_swaps(seq_len(k), score))))
  }
  all <- permutations_of(k)
  scores <- apply(all, 2L, score)
  best <- order(scores[1L, ], scores[2L, ])
  lapply(best[seq_len(min(most, length(best)))], function(i) order(all[, i]))
}

places_by_swaps <- function(state_at, score) {
  lower <- function(a, b) a[1L] < b[1L] || a[1L] == b[1L] && a[2L] < b[2L]
  now <- score(state_at)
  repeat {
    before <- now
    for (swap in utils::combn(length(state_at), 2L, simplify = FALSE)) {
      tried <- replace(state_at, swap, state_at[rev(swap)])
      if (lower(score(tried), now)) {
        state_at <- tried
        now <- score(tried)
      }
    }
    if (identical(now, before)) {
      return(state_at)
    }
  }
}

# All permutations of k: a matrix k x k!, one per column.
permutations_of <- function(k) {
  if (k == 1L) {
    return(matrix(1L))
  }
  shorter <- permutations_of(k - 1L)
  do.call(cbind, lapply(seq_len(k), function(first) rbind(first, shorter + (shorter >= first), deparse.level = 0)))
}

# Prior means of the probabilities of the first state and of the transitions, (k + 1) x k.
mean_cells <- function(prior) {
  k <- prior$k
  usual <- rbind(
    rep(plugged_in(prior$start) / k, k), matrix(plugged_in(prior$alpha) / k, k, k) + diag(plugged_in(prior$sticky), k)
  )
  free <- is.na(prior$cell_fixed)
  weight <- ifelse(is.na(prior$cell_weight), usual, prior$cell_weight) * free
  fixed <- ifelse(free, 0, prior$cell_fixed)
  sums <- rowSums(weight)
  fixed + weight * ifelse(sums > 0, (1 - rowSums(fixed)) / sums, 0)
}

# Labels of rows that the user gave as a start, numbers or names of states, as numbers of the prior's states.
states_of_start <- function(start, data, prior, call) {
  check_labels(start, rows_given(data), call, data$left_out$kept)
  if (!is.null(data$left_out$kept)) start <- start[data$left_out$kept]
  text <- label_text(start, "start", call)
  names <- prior$states %||% as.character(seq_len(prior$k))
  state <- match(text, if (all(text %in% names)) names else seq_len(prior$k))
  if (anyNA(state)) {
    abort("start", c(
      "Labels of {.arg start} must be states of the prior: {places(names)}.",
      x = "Not one of them: {places(dQuote(unique(text[is.na(state)]), FALSE))}."
    ), call = call)
  }
  state
}

# Refuses to start from an earlier fit whose transitions the prior forbids.
need_same_places <- function(fit, prior, call) {
  zeros <- function(prior) if (has_places(prior)) prior$cell_fixed %in% 0
  if (!identical(zeros(fit$model$prior), zeros(prior))) {
    abort("start", c(
      "{.arg start} must be a fit with the same forbidden transitions and first states.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
}
