# Small networks, and slow twins in plain R of the bounds of src/networks.

# The engine's form of a network.
small_network <- function(n, from, to, value = rep(1, length(from)), directed = FALSE, hidden = NULL) {
  list(
    n = as.integer(n), directed = directed, from = as.integer(from), to = as.integer(to), value = as.double(value),
    hidden_from = as.integer(hidden[, 1]), hidden_to = as.integer(hidden[, 2])
  )
}

triangles <- function() small_network(6, c(1, 1, 2, 4, 4, 5, 3), c(2, 3, 3, 5, 6, 6, 4))

# Links drawn for each pair with the probabilities of the blocks of labels.
planted_network <- function(labels, p, directed = FALSE, counts = FALSE) {
  n <- length(labels)
  rate <- p[labels, labels]
  y <- matrix(if (counts) rpois(n^2, rate) else rbinom(n^2, 1, rate), n)
  diag(y) <- 0
  if (!directed) y[lower.tri(y)] <- 0
  at <- which(y > 0, arr.ind = TRUE)
  small_network(n, at[, 1], at[, 2], y[at], directed)
}

# Its matrix.
adjacency_of <- function(net) {
  x <- matrix(0, net$n, net$n, dimnames = list(seq_len(net$n), seq_len(net$n)))
  x[cbind(net$from, net$to)] <- net$value
  if (net$directed) x else x + t(x)
}

# The same network with some pairs hidden.
without_pairs <- function(net, hidden) {
  drop <- paste(net$from, net$to) %in% paste(hidden[, 1], hidden[, 2])
  net[c("from", "to", "value")] <- lapply(net[c("from", "to", "value")], function(x) x[!drop])
  net$hidden_from <- as.integer(hidden[, 1])
  net$hidden_to <- as.integer(hidden[, 2])
  net
}

# What engines are told of the search.
network_control <- function(birth = TRUE, merge = TRUE, delete = TRUE, reorder = TRUE, ...) {
  utils::modifyList(list(
    algorithm = "full", moves = bnp_moves(birth = birth, merge = merge, delete = delete, reorder = reorder),
    learning_rate = c(delay = 1, power = 0.6), max_laps = 300, seed = 1, tol = 1e-8, threads = 1, disturbances = 1L,
    beat = -Inf, large = 1e3
  ), list(...))
}

# A fit by the engine; start: labels of a blockmodel, shares of overlapping communities, or a list of one a restart.
engine_network <- function(net, model, control, start) {
  family <- if (is.matrix(if (is.list(start)) start[[1L]] else start)) "communities" else "blocks"
  engine_fit(net, c(list(family = family), model), c(control, list(starts = start)), NULL, NULL)
}
no_network_moves <- list(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)

# All observed pairs with their values: data frame i, j, y.
all_pairs <- function(net) {
  n <- net$n
  pairs <- expand.grid(i = seq_len(n), j = seq_len(n))
  pairs <- pairs[if (net$directed) pairs$i != pairs$j else pairs$i < pairs$j, ]
  key <- function(i, j) if (net$directed) paste(i, j) else paste(pmin(i, j), pmax(i, j))
  y <- net$value[match(key(pairs$i, pairs$j), key(net$from, net$to))]
  pairs$y <- ifelse(is.na(y), 0, y)
  pairs[!key(pairs$i, pairs$j) %in% key(net$hidden_from, net$hidden_to), ]
}

link_evidence <- function(n, s, model) {
  if (!model$counts) {
    return(lbeta(model$a + s, model$b + n - s) - lbeta(model$a, model$b))
  }
  lgamma(model$a + s) - lgamma(model$a) + model$a * log(model$b) - (model$a + s) * log(model$b + n)
}

# log p(y | z): pair by pair.
twin_evidence <- function(net, z, model) {
  pairs <- all_pairs(net)
  a <- z[pairs$i]
  b <- z[pairs$j]
  block <- if (net$directed) paste(a, b) else paste(pmin(a, b), pmax(a, b))
  base <- if (model$counts) -sum(lgamma(pairs$y + 1)) else 0
  sum(link_evidence(tapply(pairs$y, block, length), tapply(pairs$y, block, sum), model)) + base
}

twin_joint <- function(net, z, model) {
  size <- tabulate(match(z, unique(z)))
  twin_evidence(net, z, model) + length(size) * log(model$gamma) + sum(lgamma(size)) + lgamma(model$gamma) -
    lgamma(model$gamma + net$n)
}

log_sum <- function(x) max(x) + log(sum(exp(x - max(x))))
log_evidence <- function(net, model) log_sum(apply(all_partitions(net$n), 1L, function(z) twin_joint(net, z, model)))

# The bound of soft labels r (n x K) of a blockmodel, pair by pair.
twin_soft_bound <- function(net, r, model) {
  pairs <- all_pairs(net)
  k <- ncol(r)
  n <- s <- matrix(0, k, k)
  for (p in seq_len(nrow(pairs))) {
    both <- outer(r[pairs$i[p], ], r[pairs$j[p], ])
    if (!net$directed) both <- (both + t(both)) / (1 + diag(k))
    n <- n + both
    s <- s + pairs$y[p] * both
  }
  cells <- if (net$directed) matrix(TRUE, k, k) else upper.tri(n, diag = TRUE)
  size <- colSums(r)
  later <- rev(cumsum(rev(size))) - size
  entropy <- -sum(ifelse(r > 0, r * log(r), 0))
  base <- if (model$counts) -sum(lgamma(pairs$y + 1)) else 0
  sum(link_evidence(n[cells], s[cells], model)) + base +
    sum(lbeta(1 + size, model$gamma + later) - lbeta(1, model$gamma)) + entropy
}

network_sticks <- function(u, omega, c1, c0, gamma) {
  a <- u * omega
  b <- (1 - u) * omega
  sum(
    lbeta(a, b) - lbeta(1, gamma) + (c1 - a) * (digamma(a) - digamma(omega)) + (c0 - b) * (digamma(b) - digamma(omega))
  )
}

# Means of the weights of sticks, the rest last, and E (1 - sum)^2 of the rest.
network_weights <- function(u, omega) {
  mean <- c(u, 1) * c(1, cumprod(1 - u))
  list(mean = mean, square = prod((1 - u) * ((1 - u) * omega + 1) / (omega + 1)))
}

# A network of which the nodes have these classes, NA where that is not known; a start with the owners of its
# communities; and the table (nodes x communities) of where nodes may be.
with_classes <- function(net, class, n_classes = max(class, na.rm = TRUE)) {
  net$classes <- ifelse(is.na(class), 0L, as.integer(class))
  net$class_sets <- diag(n_classes) == 1
  net
}
owned <- function(start, owner) structure(start, owner = as.integer(owner))
where_allowed <- function(net, owner) {
  if (is.null(net$classes)) matrix(TRUE, net$n, length(owner)) else allowed_clusters(net, owner)
}

# The bound of the relational model at what a fit of the engine has: every pair with its K x K table q(s, r), whose
# cells are in the blocks of the table `cell`, numbers of priors a, b and statistics n, s.
twin_pairs_bound <- function(net, model, fit, cell, a, b, big_n, big_s) {
  k <- fit$k
  n <- net$n
  theta <- fit$params$theta
  rho <- fit$params$rho
  allowed <- where_allowed(net, fit$owner %||% integer(k))
  prior <- model$alpha * network_weights(fit$u, fit$omega)$mean
  outside <- theta == 0 # fits say where nodes are given their labels, the bound has all of q(pi)
  theta[outside] <- rep(prior, each = n)[outside]
  log_pi <- digamma(theta) - digamma(rowSums(theta))
  own <- log_pi[, seq_len(k), drop = FALSE]
  weight <- function(y) {
    if (model$counts) y * (digamma(a + big_s) - log(b + big_n)) - (a + big_s) / (b + big_n)
    else digamma(b + big_n - big_s) - digamma(a + b + big_n) + y * (digamma(a + big_s) - digamma(b + big_n - big_s))
  }
  pairs <- all_pairs(net)
  counts <- matrix(0, n, k)
  t_n <- t_s <- numeric(length(a))
  entropy <- 0
  for (p in seq_len(nrow(pairs))) {
    i <- pairs$i[p]
    j <- pairs$j[p]
    y <- pairs$y[p]
    if (y > 0) {
      may <- outer(allowed[i, ], allowed[j, ])
      q <- outer(own[i, ], own[j, ], "+") + weight(y)[cell]
      q <- may * exp(q - max(q[may > 0]))
      q <- q / sum(q)
    } else {
      q <- outer(rho[i, ], rho[j, ])
    }
    counts[i, ] <- counts[i, ] + rowSums(q)
    counts[j, ] <- counts[j, ] + colSums(q)
    each <- vapply(seq_along(a), function(block) sum(q[cell == block]), 1)
    t_n <- t_n + each
    t_s <- t_s + y * each
    entropy <- entropy - sum(ifelse(q > 0, q * log(q), 0))
  }
  pi <- network_weights(fit$u, fit$omega)
  gap <- cbind(counts, 0) - theta
  nodes <- sum(lgamma(theta)) - sum(lgamma(rowSums(theta))) + sum(gap * log_pi)
  top <- n * k * log(model$alpha) + model$alpha * sum(t(log_pi) * pi$mean) +
    network_sticks(fit$u, fit$omega, n + 1, n * (k + 1 - seq_len(k)) + model$gamma, model$gamma)
  each <- function(block) link_evidence(t_n[block], t_s[block], list(counts = model$counts, a = a[block], b = b[block]))
  data <- sum(vapply(seq_along(a), each, 1))
  base <- if (model$counts) c(base = -sum(lgamma(pairs$y + 1))) else c(base = 0)
  c(data = data, base, nodes = nodes, top_level = top, entropy = entropy)
}

twin_relational_bound <- function(net, model, fit) {
  k <- fit$k
  cell <- matrix(k + 1L, k, k)
  diag(cell) <- seq_len(k)
  twin_pairs_bound(
    net, model, fit, cell, c(rep(model$a, k), model$a_background), c(rep(model$b, k), model$b_background),
    fit$params$pairs[, 1], fit$params$sum[, 1]
  )
}

# The same with a block for every pair of communities.
twin_general_bound <- function(net, model, fit) {
  k <- fit$k
  cell <- matrix(seq_len(k^2), k)
  if (!net$directed) cell <- pmin(cell, t(cell))
  used <- sort(unique(as.vector(cell)))
  cell[] <- match(cell, used)
  twin_pairs_bound(
    net, model, fit, cell, rep(model$a, length(used)), rep(model$b, length(used)), fit$params$pairs[used],
    fit$params$sum[used]
  )
}

# The bound of the gamma network at what a fit of the engine has, pair by pair.
twin_gamma_bound <- function(net, model, fit) {
  k <- fit$k
  n <- net$n
  shape <- fit$params$shape
  rate <- fit$params$rate
  phi_shape <- fit$params$phi_shape[, 1]
  phi_rate <- fit$params$phi_rate[, 1]
  mean <- shape / rate
  allowed <- where_allowed(net, fit$owner %||% integer(k))
  expect_identical(unname(shape > 0), allowed)
  log <- digamma(ifelse(allowed, shape, 1)) - log(rate)
  log[!allowed] <- -Inf
  phi <- phi_shape / phi_rate
  phi_log <- digamma(phi_shape) - log(phi_rate)
  pi <- network_weights(fit$u, fit$omega)
  rest <- pi$mean[k + 1L]
  pairs <- all_pairs(net)
  total <- rowSums(mean)
  data <- 0
  for (p in seq_len(nrow(pairs))) {
    i <- pairs$i[p]
    j <- pairs$j[p]
    y <- pairs$y[p]
    l <- exp(phi_log[k + 1L]) * sum(exp(log[i, ])) * sum(exp(log[j, ])) +
      sum(exp(phi_log[seq_len(k)] + log[i, ] + log[j, ]))
    data <- data - sum(phi[seq_len(k)] * mean[i, ] * mean[j, ]) -
      phi[k + 1L] * (total[i] * total[j] + rest * (total[i] + total[j]) + pi$square) -
      model$a / model$b * pi$square / (1 + model$gamma)
    if (y > 0) data <- data + if (model$counts) y * log(l) - lgamma(y + 1) else l + log(-expm1(-l))
  }
  entropy <- function(s, r) s - log(r) + lgamma(s) + (1 - s) * digamma(s)
  nodes <- sum((-log - model$alpha * mean)[allowed]) + sum(entropy(shape[allowed], rate[allowed]))
  a <- c(rep(model$a, k), model$a_background)
  b <- c(rep(model$b, k), model$b_background)
  rates <- sum(a * log(b) - lgamma(a) + (a - 1) * phi_log - b * phi + entropy(phi_shape, phi_rate))
  own <- pi$mean[seq_len(k)]
  in_each <- colSums(allowed)
  log[!allowed] <- 0
  later <- rev(cumsum(rev(in_each))) - in_each
  top <- sum(in_each) * log(model$alpha) +
    model$alpha * (sum(t(log) * own) + log(model$alpha) * sum(in_each * own)) +
    network_sticks(fit$u, fit$omega, in_each + 1, later + model$gamma, model$gamma)
  c(data = data, nodes = nodes, rates = rates, top_level = top)
}

# Zachary's karate club: igraph has it, and so does every book.
karate <- function() {
  skip_if_not_installed("igraph")
  igraph::make_graph("Zachary")
}
karate_network <- function() {
  edges <- igraph::as_edgelist(karate())
  small_network(34, edges[, 1], edges[, 2])
}
factions <- function() 1L + seq_len(34) %in% c(10, 15, 16, 19, 21, 23:34)

# Degree-corrected blockmodels: log p(y | z) bounded pair by pair with q(t) = n Dirichlet(theta) in each cluster, all
# rates integrated. Nodes' pairs with themselves are among the pairs, with half the rate.
twin_corrected_evidence <- function(net, z, model) {
  n <- net$n
  loops <- net$loops %||% double(n)
  y <- matrix(0, n, n)
  y[cbind(net$from, net$to)] <- y[cbind(net$to, net$from)] <- net$value
  diag(y) <- loops
  seen <- matrix(TRUE, n, n)
  seen[cbind(net$hidden_from, net$hidden_to)] <- seen[cbind(net$hidden_to, net$hidden_from)] <- FALSE
  degree <- rowSums(y) + loops
  usual <- n * sum(net$value) / max(1, n * (n - 1) / 2 - length(net$hidden_from))
  part <- rowSums(!seen) / n
  theta <- 1 + degree + round(1024 * (1 + degree) * usual * part / (1 + usual * (1 - part))) / 1024
  sums <- ave(theta, z, FUN = sum)
  size <- ave(theta, z, FUN = length)
  log_t <- log(size) + digamma(theta) - digamma(sums)
  big_n <- big_s <- list()
  total <- 0
  for (i in seq_len(n)) {
    for (j in i:n) {
      if (!seen[i, j]) next
      block <- paste(range(z[i], z[j]), collapse = " ")
      both <- size[i] * size[j] * theta[i] * (theta[j] + (i == j)) / (sums[i] * (sums[j] + (z[i] == z[j])))
      if (i == j) both <- both / 2
      big_n[[block]] <- sum(big_n[[block]], both)
      big_s[[block]] <- sum(big_s[[block]], y[i, j])
      total <- total + y[i, j] * (log_t[i] + log_t[j] - if (i == j) log(2) else 0) - lgamma(y[i, j] + 1)
    }
  }
  for (k in unique(z)) {
    own <- theta[z == k]
    total <- total + lgamma(length(own)) - lgamma(sum(own)) + sum(lgamma(own)) -
      sum((own - 1) * (digamma(own) - digamma(sum(own))))
  }
  total + sum(link_evidence(unlist(big_n), unlist(big_s), model))
}

twin_corrected_joint <- function(net, z, model) {
  size <- tabulate(match(z, unique(z)))
  twin_corrected_evidence(net, z, model) + length(size) * log(model$gamma) + sum(lgamma(size)) + lgamma(model$gamma) -
    lgamma(model$gamma + net$n)
}

# Of random changes of nine clusters: what is kept is what is made anew, and each gains what it says.
expect_kept_tables <- function(net, model, row, tolerance) {
  steps <- c("merge", "merge", "divide", rep(c("divide", "merge", "sweep", "divide", "divide", "merge"), 5))
  states <- engine_network_changes(net, model, 1:9, steps, row)
  for (i in seq_along(states)) {
    state <- states[[i]]
    info <- paste(row, i, steps[i])
    expect_equal(state$log_joint, state$fresh, tolerance = tolerance, info = info)
    expect_lt(state$worst, 1e-10)
    if (is.finite(state$said)) expect_equal(state$said, state$log_joint - state$before, tolerance = 1e-8, info = info)
    if (steps[i] == "sweep") expect_gte(state$log_joint, state$before)
    expect_setequal(state$labels, seq_len(state$k))
  }
  expect_gt(max(vapply(states, function(s) s$k, 1)), 2)
}
