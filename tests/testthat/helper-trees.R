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

# Sums over all states of the nodes of small trees. log_transition: of one position below the other; position: of each
# node, from 0.
enumerate_trees <- function(log_start, log_transition, log_e, parent, position = 0L * parent) {
  n <- nrow(log_e)
  k <- ncol(log_e)
  all <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))[, n:1, drop = FALSE]
  score <- apply(all, 1, function(z) {
    with <- parent > 0
    sum(log_e[cbind(seq_len(n), z)]) + sum(log_start[z[!with]]) +
      sum(log_transition[cbind(position[with] * k + z[parent[with]], z[with])])
  })
  top <- max(score)
  p <- exp(score - top)
  log_z <- top + log(sum(p))
  p <- p / sum(p)
  resp <- matrix(vapply(seq_len(k), function(j) colSums(p * (all == j)), numeric(n)), n)
  transition <- 0 * log_transition
  for (t in which(parent > 0)) {
    for (i in seq_len(k)) for (j in seq_len(k)) {
      row <- position[t] * k + i
      transition[row, j] <- transition[row, j] + sum(p[all[, parent[t]] == i & all[, t] == j])
    }
  }
  list(
    resp = resp, start = colSums(resp[parent == 0, , drop = FALSE]), transition = transition,
    entropy = -sum(p[p > 0] * log(p[p > 0])), log_z = log_z, state = unname(all[which.max(score), ])
  )
}

# Messages in the order of the rows given.
tree_messages <- function(log_start, log_transition, log_e, parent, log_space, position = 0L * parent) {
  order <- engine_tree_order(as.integer(parent), which(parent == 0))
  out <- engine_tree_messages(
    log_start, log_transition, log_e[order$order, , drop = FALSE], order$back, as.integer(position[order$order]),
    log_space
  )
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
  c(list(
    x = x, n = nrow(x), d = ncol(x), back = order$back,
    starts = as.integer(c(which(order$back == 0) - 1L, nrow(x)))
  ), if (!is.null(tree$position)) list(position = as.integer(tree$position[order$order])))
}

# A tree in which left children (position 0) mostly have their parent's state and right ones mostly the next of k.
planted_sides <- function(seed, n, k = 3, d = 2, stay = 0.9, spread = 4) {
  withr::with_seed(seed, {
    parent <- seq_len(n) %/% 2
    side <- as.integer(seq_len(n) %% 2)
    z <- integer(n)
    z[1] <- sample.int(k, 1)
    for (t in seq_len(n)[-1]) {
      z[t] <- if (runif(1) > stay) sample.int(k, 1) else (z[parent[t]] + side[t] - 1) %% k + 1
    }
    list(x = matrix(rnorm(n * d), ncol = d) + spread * z, z = z, parent = parent, position = side)
  })
}

# E log of start and transition rows from the counts of a state of the engine with p positions, as log P(one row) for
# each position below the other; and the value that the bound has of the transitions. A plain-R twin.
expected_rows_by_position <- function(state, prior, p) {
  k <- state$k
  pi <- if (prior$family == "hmm") rep(1 / k, k) else c(state$u, 1) * cumprod(c(1, 1 - state$u))
  counts <- array(state$pair, c(k, p, k))
  theta <- rbind(prior$start * pi, matrix(prior$alpha * pi, k * p, length(pi), byrow = TRUE))
  theta[1, seq_len(k)] <- theta[1, seq_len(k)] + state$extra[, 1]
  for (q in seq_len(p)) for (i in seq_len(k)) {
    row <- 1 + (q - 1) * k + i
    theta[row, seq_len(k)] <- theta[row, seq_len(k)] + counts[i, q, ]
    theta[row, i] <- theta[row, i] + prior$sticky
  }
  log_p <- digamma(theta[, seq_len(k), drop = FALSE]) - digamma(rowSums(theta))
  list(
    start = log_p[1, ], transition = log_p[-1, , drop = FALSE], theta = theta,
    value = sum(lgamma(theta)) - sum(lgamma(rowSums(theta)))
  )
}

# What the bound has of the sticks beside: the prior of p positions, whose bounds of normalisers are taken row by row.
twin_sticks_by_position <- function(u, omega, k, gamma, sticky, alpha, start, p, bound = "tight") {
  a <- u * omega
  b <- (1 - u) * omega
  e1 <- digamma(a) - digamma(omega)
  e0 <- digamma(b) - digamma(omega)
  # How many rows have log pi_j, of the k states and the remainder.
  has <- if (sticky > 0) c(rep(1 + p * (k - 1), k), 1 + p * k) else rep(1 + p * k, k + 1)
  after <- rev(cumsum(rev(has)))[-1]
  value <- sum(lbeta(a, b) - lbeta(1, gamma) + (1 + has[seq_len(k)] - a) * e1 + (gamma + after - b) * e0)
  rows <- row_terms(u, omega, 1, start, 0, bound)
  for (q in seq_len(p)) rows <- c(rows, row_terms(u, omega, k, alpha, sticky, bound))
  value + k * log(start) + p * k^2 * log(alpha) + sum(rows)
}

# Valid calls of trees, whose arguments helper-mutations.R spoils.
tree_calls <- function(tables) {
  x <- tables$points
  parent <- as.double(seq_len(nrow(x)) %/% 2)
  fit <- bnp_hmm(x, parent = parent, prior = prior_hmm(2), control = few_laps())
  sided <- bnp_hmm(x, parent = parent, position = seq_along(parent) %% 2, prior = prior_hmm(2), control = few_laps())
  call <- function(verb, ..., spoil = "parent", tables = NULL, holds = NULL) {
    valid_call("trees", verb, list(...), spoil, tables, holds)
  }
  list(
    call("bnp_hmm", x = x, parent = parent, control = few_laps(), spoil = c("x", "parent"), tables = "x",
      holds = is_sound_fit),
    call("bnp_hmm", x = x, parent = parent, position = seq_along(parent) %% 2, control = few_laps(), spoil = "position",
      holds = is_sound_fit),
    call("bnp_hmm", x = x, parent = parent, id = rep("a", nrow(x)), weights = 2, control = few_laps(),
      na_action = "model", spoil = c("x", "parent", "id", "weights", "na_action"), tables = "x", holds = is_sound_fit),
    call("predict", object = fit, newdata = x, parent = parent, type = "prob", spoil = c("newdata", "parent", "type"),
      tables = "newdata"),
    call("predict", object = fit, newdata = x, parent = parent, type = "logdensity", spoil = c("newdata", "parent"),
      tables = "newdata"),
    call("heldout_loglik", fit = fit, newdata = x, parent = parent, spoil = c("newdata", "parent"), tables = "newdata"),
    call("augment", x = fit, data = x, parent = parent, spoil = c("data", "parent"), tables = "data"),
    call("predict", object = sided, newdata = x, parent = parent, position = seq_along(parent) %% 2,
      spoil = c("parent", "position")),
    call("augment", x = sided, data = x, parent = parent, position = seq_along(parent) %% 2, spoil = "position"),
    call("heldout_loglik", fit = sided, newdata = x, parent = parent, position = seq_along(parent) %% 2,
      spoil = "position"),
    call("plot", x = fit, type = "tree", max_sequences = 2, spoil = c("type", "max_sequences")),
    call("simulate", object = fit, nsim = 2, seed = 1, spoil = c("nsim", "seed")),
    call("cluster_tree", fit = fit, data = x, spoil = "data", tables = "data")
  )
}
