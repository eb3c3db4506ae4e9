# Starts of fits of networks: shares (proportions) of nodes in communities, nodes x communities.

network_start <- function(start, data, prior, control, call) {
  if (is.null(start)) {
    groups <- start_labels(data, prior, control, call)
    return(if (is.null(data$classes)) one_column_each(groups) else divided_by_labels(groups, data))
  }
  refuse_source_of_starts(start, call)
  if (inherits(start, "bnp_network")) {
    if (!identical(start$input$ids, data$ids)) {
      abort("start", c(
        "{.arg start} must be a fit to the same nodes in the same order.",
        i = "Give labels, {.code start = fitted(fit)[names]}, or shares."
      ), call = call)
    }
    return(shares_of_fit(start, data, call))
  }
  if (is.matrix(start)) {
    start <- in_order_of_names(start, data$ids, data$n, "start", "node", call)
    return(own_start_shares(check_responsibilities(start, data$n, call), data, call))
  }
  start <- as_vector(start)
  if (!is.null(names(start)) && all(data$ids %in% names(start))) start <- start[data$ids]
  start <- in_order_of_names(start, data$ids, data$n, "start", "node", call)
  own_start_shares(one_column_each(check_labels(start, data$n, call)), data, call)
}

one_column_each <- function(labels) {
  out <- matrix(0, length(labels), max(labels))
  out[cbind(seq_along(labels), labels)] <- 1
  out
}

# Values of bnp_control(init =) that only networks have.
network_inits <- c("spectral", "spectral_absolute", "propagation", "modularity")

# Starts that determine the number of communities themselves.
inits_without_k <- c("propagation", "modularity")

# The kinds of start that a fit tries in turn: the default, and groups by modularity.
kinds_of_networks <- list(start_kind(0L), modularity = start_kind(0L))

# The work allowed for all starts of a network, as a multiple of that of other models. Small networks have
# several optima: three seeds of UKfaculty (81 nodes) end at -1858.4, -1866.7 and -1843.6 with the work of
# other models, and at -1858.4, -1849.1 and -1843.6 with three times as much (2026-11-27).
times_of_networks <- 3

start_labels <- function(data, prior, control, call) {
  init <- check_network_init(control, data, call)
  stochastic <- control$algorithm == "stochastic"
  k <- control$k_init %||% if (stochastic) min(25L, data$n) else 1L
  if (k > data$n) {
    abort("k_init", "{.arg k_init} must be at most the number of nodes ({data$n}), not {k}.", call = call)
  }
  drawn <- function(f) with_r_seed(1L, control$seed %% 2^31, f, call)$sets[[1L]]
  if (is.null(init)) init <- if (has_blocks(prior) && !stochastic) "random" else "divided"
  switch(init,
    random = drawn(function() sample(rep_len(seq_len(k), data$n))),
    divided = engine_network_divided(links_of_data(data), k, control$seed),
    propagation = drawn(function() propagated_labels(data)),
    modularity = engine_network_modularity(links_of_data(data), control$seed),
    drawn(function() spectral_labels(data, k, init == "spectral_absolute", call))
  )
}

check_network_init <- function(control, data, call) {
  init <- control$init
  if (is.null(init)) {
    return(NULL)
  }
  offered <- c("random", network_inits)
  if (!init %in% offered) {
    abort("argument", c(
      "{.code init = {.str {init}}} is not available for networks.",
      i = "Choose {.or {.str {offered}}}, or leave {.arg init} out."
    ), call = call)
  }
  if (init %in% inits_without_k && !is.null(control$k_init)) {
    abort("argument", c(
      "{.arg k_init} has no meaning with {.code init = {.str {init}}}, which finds a number of its own.",
      i = "Leave one of the two out."
    ), call = call)
  }
  if (init %in% c("spectral", "spectral_absolute") && is.null(control$k_init)) {
    abort("argument", c(
      "{.code init = {.str {init}}} needs a number of communities.",
      i = "Give {.arg k_init}, too; moves change that number where they are on."
    ), call = call)
  }
  init
}

# The symmetric adjacency matrix of a network; the values of links in both directions are added up.
symmetric_adjacency <- function(data) {
  x <- Matrix::sparseMatrix(data$from, data$to, x = data$value, dims = c(data$n, data$n))
  x + Matrix::t(x)
}

# Spectral clustering: k-means of the nodes by k eigenvectors of the adjacency matrix, each times the root of
# its eigenvalue: those with the largest eigenvalues or, with `absolute`, with the largest in absolute value,
# which also find groups whose nodes avoid each other.
spectral_labels <- function(data, k, absolute, call) {
  if (k == 1L || !length(data$value)) {
    return(rep_len(seq_len(k), data$n))
  }
  check_memory(
    8 * data$n * lanczos_vectors(data$n, k), paste(k, "eigenvectors of", data$n, "nodes"),
    "Begin with fewer communities ({.arg k_init}), or leave {.arg init} out.", call
  )
  first <- largest_eigenvectors(symmetric_adjacency(data), k, absolute)
  place <- first$vectors * rep(sqrt(abs(first$values)), each = data$n)
  # Rounded, because the last digits of eigenvectors depend on the linear algebra library.
  place <- signif(place / max(abs(place)), 8L)
  distinct <- sum(!duplicated(place))
  labels <- suppressWarnings(stats::kmeans(place, min(k, distinct), iter.max = 100L, nstart = 25L))$cluster
  match(labels, unique(labels))
}

# Communities by label propagation: nodes repeatedly take the label that most of their neighbours have
# (Raghavan and others 2007). Nodes without links form one group.
propagated_labels <- function(data) {
  rlang::check_installed("igraph", "for {.code init = \"propagation\"}.")
  graph <- igraph::graph_from_adjacency_matrix(symmetric_adjacency(data), "undirected", weighted = TRUE)
  labels <- as.integer(igraph::membership(igraph::cluster_label_prop(graph)))
  labels[igraph::degree(graph) == 0] <- 0L
  match(labels, unique(labels))
}
