# Starts of hidden Markov models with labelled rows or sequences (R/hmm-labels.R).

# The start of a fit with labelled rows or sequences, unless the user gave `start`: list(resp or labels,
# owner), where owner has the class of each state.
start_of_states <- function(resolved, start, data, prior, control, call, obs) {
  if (has_places(prior) && !is.null(data$classes)) {
    if (inherits(start, "bnp_fit")) {
      return(start_with_owners(resolved, start, data, call))
    }
    if (is.null(resolved)) resolved <- start_of_labelled_places(data, prior)
    resolved$owner <- seq_len(prior$k)
    return(resolved)
  }
  if (is.null(start) && !is.null(data$sequence_classes) && is.null(prior$k) == is.null(control$k_init)) {
    found <- start_of_classes(data, obs, prior)
    if (!is.null(found)) {
      return(found)
    }
  }
  start_with_labels(resolved, start, data, prior, control, call)
}

# The start of a chain with known transitions, whose states are therefore distinguishable: labelled rows begin
# in their states. Other rows are spread evenly over all states or, in a left-to-right chain, cut into equal
# stretches.
start_of_labelled_places <- function(data, prior) {
  k <- prior$k
  known <- data$classes > 0L
  rest <- if (is_left_to_right(prior)) outer(equal_stretches(diff(data$starts), k), seq_len(k), `==`) else
    matrix(1, data$n, k)
  resp <- ifelse(known, 1, rest) * allowed_clusters(data, seq_len(k))
  lost <- rowSums(resp) == 0
  resp[lost, ] <- 1 * allowed_clusters(data, seq_len(k))[lost, ]
  list(resp = resp / rowSums(resp))
}

# The start of a fit with labelled sequences: each class begins with two states, made of all rows of its
# sequences. States of no class begin with one, made of the other rows and a share of all. NULL if a finite
# prior has too few states for these, or the rows cannot be divided.
start_of_classes <- function(data, obs, prior) {
  classes <- setdiff(data$class_names, no_class)
  k <- prior$k %||% (2L * length(classes) + 1L)
  if (k < 2L * length(classes) + 1L || is_spooled(data) || has_missing(data) || !is.null(data$cells_missing)) {
    return(NULL)
  }
  open <- match(no_class, data$class_names, 0L)
  owner <- c(rep(seq_along(classes), each = 2L), rep(open, k - 2L * length(classes)))
  class_of_group <- as.integer(factor(data$sequence_classes, data$class_names))
  within <- integer(data$n)
  for (class in seq_along(classes)) {
    groups <- which(class_of_group == class)
    rows <- unlist(lapply(groups, function(g) seq_len(diff(data$starts[g + 0:1])) + data$starts[g]))
    if (!length(rows)) next
    half <- engine_kmeans(as_engine_data(data_groups(data, groups)), obs, 2L, 10L, TRUE, 1)$cluster
    within[rows] <- 2L * class - 2L + carry_back(half, c(0L, cumsum(diff(data$starts)[groups])), obs_lag(obs))
  }
  resp <- outer(within, seq_len(k), `==`) * 2
  resp[, 2L * length(classes) + 1L] <- 1
  resp <- resp * allowed_clusters(data, owner)
  lost <- rowSums(resp) == 0
  resp[lost, ] <- 1 * allowed_clusters(data, owner)[lost, ]
  list(resp = resp / rowSums(resp), owner = owner)
}

# Makes a second fit and returns it if its bound is clearly higher, else `result`. The second fit begins with
# the classes as their labelled rows alone show them, and with the states of no class at the end of `result`
# (better_with_classes_alone() gives the reasons). Rows of a sequence cannot have different weights, so that
# labelled rows cannot be fitted alone; transitions begin at the prior.
better_with_labelled_rows <- function(result, data, model, asked, run) {
  prior <- model$prior
  if (has_places(prior) || !is.null(data$sequence_classes)) {
    return(result)
  }
  own <- seq_along(data$class_names)
  k <- prior$k %||% length(own)
  owner <- c(own, integer(k - length(own)))
  resp <- 1 * allowed_clusters(data, own)
  resp <- resp / rowSums(resp) * (data$classes > 0L)
  once <- utils::modifyList(asked, list(algorithm = "memoized", batches = 1L, max_laps = 0L, restarts = 1L))
  once[c("batch_of", "kinds", "most_work")] <- NULL
  start <- list(resp = cbind(resp, matrix(0, data$n, k - length(own))), owner = owner)
  classes <- run(model, once, start = start, report = NULL)$state
  found <- which(result$state$owner == 0L & result$sizes >= 1)
  if (!is.null(prior$k)) found <- utils::head(found, k - length(own))
  state <- result$state
  state$obs <- rbind(classes$obs[own, , drop = FALSE], state$obs[found, , drop = FALSE])
  state$k <- nrow(state$obs)
  state$owner <- c(own, integer(length(found)))
  positions <- prior$positions %||% prior$n_patterns %||% 1L
  state$extra <- matrix(0, state$k, 1L)
  state$pair <- matrix(0, state$k, state$k * positions)
  if (has_covariates(prior)) state$u <- numeric() # effects of covariates are learned anew
  if (is.null(prior$k)) {
    state$u <- 1 / (state$k + 2 - seq_len(state$k)) # sticks of equal weights
    state$omega <- rep(state$k + 1, state$k)
  }
  state <- add_empty_clusters(state, prior$k %||% state$k)
  second <- run(model, start = list(state = state))
  better <- if (isTRUE(second$elbo > result$elbo + 0.1)) second else result
  without_states_that_nobody_labelled(better, data, model, asked, run)
}

# Releases states from their class if this makes the labels more probable. A state that is born from a state
# of a class belongs to that class, too, whether its rows have labels or not, as the bound does not depend on
# it. If rows of a class are labelled at random, releasing a state of m rows with few labels makes the L
# labels of the class more probable: they are then on n instead of n + m rows, a gain of L log((n + m) / n)
# nats. The state is released if the bound loses less than that, as it may when labelled rows of the state
# move to others.
without_states_that_nobody_labelled <- function(result, data, model, asked, run) {
  owner <- result$state$owner
  labelled <- tabulate(result$labels[which(data$classes > 0L)], result$state$k)
  size <- result$sizes
  gain <- vapply(seq_along(owner), function(j) {
    rest <- setdiff(which(owner == owner[j] & owner > 0L), j)
    rows <- sum(size[rest])
    fewer <- length(rest) && labelled[j] * rows < sum(labelled[rest]) * size[j]
    if (fewer) sum(labelled[c(j, rest)]) * log1p(size[j] / rows) else 0
  }, 1)
  nobodys <- which(gain >= stats::qchisq(0.95, 1) / 2)
  if (!length(nobodys)) {
    return(result)
  }
  begin <- list(labels = replace(result$labels, is.na(result$labels), 1L), k = length(owner))
  for (j in nobodys) {
    rest <- setdiff(which(owner == owner[j]), nobodys)
    moved <- which(begin$labels == j & data$classes > 0L)
    begin$labels[moved] <- rest[which.max(size[rest])]
  }
  begin$owner <- replace(owner, nobodys, 0L)
  asked$moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  again <- run(model, asked, start = begin)
  if (isTRUE(again$elbo > result$elbo - sum(gain[nobodys]))) again else result
}
