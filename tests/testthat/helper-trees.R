# A tree of n rows, or several, in which a parent comes before its children.
random_parents <- function(n, roots = 1L) c(rep(0, roots), vapply(seq_len(n - roots) + roots, function(i) {
  sample.int(i - 1L, 1L)
}, 1L))

# The same tree with its rows in another order: row i becomes row place[i].
renumbered <- function(parent, place) {
  out <- integer(length(parent))
  out[place] <- ifelse(parent == 0, 0L, place[pmax(parent, 1)])
  out
}

# Sums over all states of the nodes of small trees.
enumerate_trees <- function(log_start, log_transition, log_e, parent) {
  n <- nrow(log_e)
  k <- ncol(log_e)
  all <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))[, n:1, drop = FALSE]
  score <- apply(all, 1, function(z) {
    with <- parent > 0
    sum(log_e[cbind(seq_len(n), z)]) + sum(log_start[z[!with]]) +
      sum(log_transition[cbind(z[parent[with]], z[with])])
  })
  top <- max(score)
  p <- exp(score - top)
  log_z <- top + log(sum(p))
  p <- p / sum(p)
  resp <- matrix(vapply(seq_len(k), function(j) colSums(p * (all == j)), numeric(n)), n)
  transition <- matrix(0, k, k)
  for (t in which(parent > 0)) {
    for (i in seq_len(k)) for (j in seq_len(k)) {
      transition[i, j] <- transition[i, j] + sum(p[all[, parent[t]] == i & all[, t] == j])
    }
  }
  list(
    resp = resp, start = colSums(resp[parent == 0, , drop = FALSE]), transition = transition,
    entropy = -sum(p[p > 0] * log(p[p > 0])), log_z = log_z, state = unname(all[which.max(score), ])
  )
}

# Messages in the order of the rows given.
tree_messages <- function(log_start, log_transition, log_e, parent, log_space) {
  order <- engine_tree_order(as.integer(parent), which(parent == 0))
  out <- engine_tree_messages(log_start, log_transition, log_e[order$order, , drop = FALSE], order$back, log_space)
  out$resp[order$order, ] <- out$resp
  out$state[order$order] <- out$state
  out
}

# States that stay, down a tree, and rows around 4 times the number of their state.
planted_tree <- function(seed, parent, k = 3, d = 2, stay = 0.9) {
  withr::with_seed(seed, {
    z <- integer(length(parent))
    for (t in seq_along(parent)) {
      z[t] <- if (parent[t] == 0 || runif(1) > stay) sample.int(k, 1) else z[parent[t]]
    }
    list(x = matrix(rnorm(length(parent) * d), ncol = d) + 4 * z, z = z, parent = parent)
  })
}

# The data of the engine: rows in its order, all trees of a root one group.
engine_trees <- function(tree) {
  order <- engine_tree_order(as.integer(tree$parent), which(tree$parent == 0))
  x <- tree$x[order$order, , drop = FALSE]
  list(
    x = x, n = nrow(x), d = ncol(x), back = order$back,
    starts = as.integer(c(which(order$back == 0) - 1L, nrow(x)))
  )
}

# Valid calls of trees, whose arguments helper-mutations.R spoils.
tree_calls <- function(tables) {
  x <- tables$points
  parent <- as.double(seq_len(nrow(x)) %/% 2)
  fit <- bnp_hmm(x, parent = parent, prior = prior_hmm(2), control = few_laps())
  call <- function(verb, ..., spoil = "parent", tables = NULL, holds = NULL) {
    valid_call("trees", verb, list(...), spoil, tables, holds)
  }
  list(
    call("bnp_hmm", x = x, parent = parent, control = few_laps(), spoil = c("x", "parent"), tables = "x",
      holds = is_sound_fit),
    call("bnp_hmm", x = x, parent = parent, id = rep("a", nrow(x)), weights = 2, control = few_laps(),
      na_action = "model", spoil = c("x", "parent", "id", "weights", "na_action"), tables = "x", holds = is_sound_fit),
    call("predict", object = fit, newdata = x, parent = parent, type = "prob", spoil = c("newdata", "parent", "type"),
      tables = "newdata"),
    call("predict", object = fit, newdata = x, parent = parent, type = "logdensity", spoil = c("newdata", "parent"),
      tables = "newdata"),
    call("heldout_loglik", fit = fit, newdata = x, parent = parent, spoil = c("newdata", "parent"), tables = "newdata"),
    call("augment", x = fit, data = x, parent = parent, spoil = c("data", "parent"), tables = "data"),
    call("plot", x = fit, type = "tree", max_sequences = 2, spoil = c("type", "max_sequences")),
    call("simulate", object = fit, nsim = 2, seed = 1, spoil = c("nsim", "seed")),
    call("cluster_tree", fit = fit, data = x, spoil = "data", tables = "data")
  )
}
