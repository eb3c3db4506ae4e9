# Reads a network in any form into the internal form: list(n, directed, from, to, value, hidden_from,
# hidden_to, ids). Each linked pair occurs once, with ends numbered from 1; hidden pairs (not observed) have
# no value. ids: the names of the nodes, in their order. keep_loops: whether to add `loops`, the links of each
# node with itself. weights: the user's choice from asked_weights(). The element `weighted` says whether
# values of links counted (link_weights()).

as_network <- function(x, nodes = NULL, directed = NULL, missing = NULL, call = rlang::caller_env(), arg = "x",
                       keep_loops = FALSE, weights = NULL) {
  check_sparse(x, arg, call)
  if (!is.null(directed)) check_flag(directed, "directed", call)
  if (is.matrix(x)) x <- plain_values(x) # a table of pairs
  links <- if (inherits(x, "igraph")) {
    links_of_igraph(x, nodes, directed, call, arg, weights)
  } else if (inherits(x, "network")) {
    links_of_network(x, nodes, directed, call, arg, weights)
  } else if (is.data.frame(x) || is.matrix(x) && lists_links(x)) {
    links_of_edges(x, nodes, directed, call, arg, weights)
  } else if (is.matrix(x) || inherits(x, "Matrix")) {
    links_of_adjacency(x, nodes, directed, call, arg, weights)
  } else {
    abort("network", c(
      "{.arg {arg}} must be a network, not {describe(x)}.",
      i = "Give an igraph, a network, a square adjacency matrix (dense or sparse), or a data frame with columns
           {.field from} and {.field to}."
    ), call = call)
  }
  if (links$n == 0L) {
    abort("network", c("{.arg {arg}} has no nodes.", i = "Give at least one; links are not needed."), call = call)
  }
  need_distinct_nodes(links$ids, arg, call)
  check_values(links$value, call, arg)
  tidied_links(links, hidden_pairs(missing, links, call), keep_loops)
}

# Completes the links of a network: removes or counts links of a node with itself, adds up pairs that are
# listed several times, and moves pairs that are NA or in `missing` to the hidden pairs.
tidied_links <- function(links, missing, keep_loops) {
  told <- function(...) tell_of_network(c(...), parent.frame())
  loop <- links$from == links$to
  with_itself <- which(loop & links$value > 0)
  if (length(with_itself) && !keep_loops) {
    told("{length(with_itself)} link{?s} of a node with itself {?is/are} left out: the model has none.")
  }
  pairs <- data.frame(from = links$from, to = links$to, value = links$value)[!loop, ]
  pairs$swap <- !links$directed & pairs$from > pairs$to
  pairs[pairs$swap, c("from", "to")] <- pairs[pairs$swap, c("to", "from")]
  key <- (pairs$from - 1) * as.double(links$n) + pairs$to
  unknown <- unique(key[is.na(pairs$value)])
  pairs <- pairs[!is.na(pairs$value) & pairs$value > 0, ]
  key <- (pairs$from - 1) * as.double(links$n) + pairs$to
  if (anyDuplicated(key)) {
    times <- table(key)
    both_ways <- !links$directed && !anyDuplicated(data.frame(key, pairs$swap))
    if (both_ways && all(times == 2L)) {
      told(
        "Every link of {.arg x} is listed in both directions, and counts once.",
        i = "Or is {.code directed = TRUE}?"
      )
      pairs <- pairs[!duplicated(key), ]
    } else {
      told("{sum(times > 1L)} pair{?s} of nodes {?has/have} several links, which add up to counts.")
      sums <- rowsum(pairs$value, key)
      pairs <- pairs[!duplicated(key), ]
      pairs$value <- sums[as.character((pairs$from - 1) * as.double(links$n) + pairs$to), 1L]
    }
    key <- (pairs$from - 1) * as.double(links$n) + pairs$to
  }
  hidden <- unique(c(unknown, missing_keys(missing, links)))
  pairs <- pairs[!key %in% hidden, ]
  pairs <- pairs[order(pairs$from, pairs$to), ]
  out <- list(
    n = as.integer(links$n), directed = links$directed, from = as.integer(pairs$from), to = as.integer(pairs$to),
    value = as.double(pairs$value), hidden_from = as.integer((hidden - 1) %/% links$n + 1),
    hidden_to = as.integer((hidden - 1) %% links$n + 1), ids = links$ids, weighted = links$weighted
  )
  if (length(with_itself) && keep_loops) {
    of_node <- factor(links$from[with_itself], seq_len(links$n))
    out$loops <- as.double(tapply(links$value[with_itself], of_node, sum, default = 0))
  }
  out
}

missing_keys <- function(pairs, links) {
  if (is.null(pairs)) {
    return(double())
  }
  pairs <- pairs[pairs[, 1L] != pairs[, 2L], , drop = FALSE]
  if (!links$directed) pairs <- cbind(pmin(pairs[, 1L], pairs[, 2L]), pmax(pairs[, 1L], pairs[, 2L]))
  (pairs[, 1L] - 1) * as.double(links$n) + pairs[, 2L]
}

# The hidden pairs: the first two columns of `pairs` as numbers of nodes, m x 2.
hidden_pairs <- function(pairs, links, call, arg = "missing") {
  if (is.null(pairs)) {
    return(NULL)
  }
  if (!(is.data.frame(pairs) || is.matrix(pairs)) || ncol(pairs) < 2L) {
    abort("argument", c(
      "{.arg {arg}} must be a matrix or data frame whose first two columns are nodes, not {describe(pairs)}."
    ), call = call)
  }
  ends <- if (names_links(pairs)) c("from", "to") else 1:2
  cbind(
    nodes_of(pairs[, ends[1L], drop = TRUE], links$ids, arg, call),
    nodes_of(pairs[, ends[2L], drop = TRUE], links$ids, arg, call)
  )
}

# The numbers of nodes that are given by name, or by number if names are numbers.
nodes_of <- function(x, ids, arg, call) {
  if (is.list(x) || !is.null(dim(x))) {
    abort("argument", "Nodes of {.arg {arg}} must be names or numbers, not {describe(x)}.", call = call)
  }
  at <- match(node_names(x), ids)
  bad <- which(is.na(at))
  if (length(bad)) {
    abort("nodes", c(
      "{.arg {arg}} has nodes that are not in the network: {places(unique(node_names(x[bad])))}.",
      x = "In row {places(bad)}.", i = "Nodes are named {places(ids, 3L)}."
    ), call = call)
  }
  at
}

node_names <- function(x) label_text(x, "nodes")

need_distinct_nodes <- function(names, arg, call) {
  repeated <- unique(names[duplicated(names)])
  if (length(repeated)) {
    abort("nodes", c(
      "Names of nodes of {.arg {arg}} must differ from each other.",
      x = "Several nodes have the name {places(dQuote(repeated, FALSE))}.",
      i = "{.code make.unique()} makes names differ."
    ), call = call)
  }
}

no_nodes_argument <- function(nodes, what, call) {
  if (!is.null(nodes)) {
    abort("argument", "{.arg nodes} is for edge lists: {what} has all its nodes.", call = call)
  }
}

links_of_igraph <- function(x, nodes, directed, call, arg, weights) {
  no_nodes_argument(nodes, "an igraph", call)
  rlang::check_installed("igraph", "to read an igraph.")
  edges <- igraph::as_edgelist(x, names = FALSE)
  ids <- igraph::vertex_attr(x, "name") %||% seq_len(igraph::vcount(x))
  tell_two_modes(igraph::vertex_attr(x, "type"), edges, arg)
  each <- link_weights(igraph::edge_attr(x), weights, NULL, nrow(edges), "an attribute of the edges", arg, call)
  links <- list(n = igraph::vcount(x), ids = as.character(ids), from = edges[, 1L], to = edges[, 2L])
  with_direction(c(links, each), igraph::is_directed(x), directed, arg)
}

# The links of an object of package network, which has its vertices in $gal$n and its edges in $mel.
links_of_network <- function(x, nodes, directed, call, arg, weights) {
  no_nodes_argument(nodes, "a network", call)
  edges <- Filter(Negate(is.null), x$mel)
  one <- function(which) as.integer(vapply(edges, function(e) e[[which]][1L], 1))
  n <- as.integer(x$gal$n)
  ids <- vapply(x$val, function(v) as.character(v[["vertex.names"]] %||% NA), "")
  if (length(ids) != n || anyNA(ids) || anyDuplicated(ids)) ids <- as.character(seq_len(n))
  if (is.numeric(x$gal$bipartite)) tell_two_modes(seq_len(n) > x$gal$bipartite, NULL, arg)
  unknown <- vapply(edges, function(e) isTRUE(e$atl$na), NA)
  attributes <- setdiff(unique(unlist(lapply(edges, function(e) names(e$atl)))), "na")
  columns <- lapply(stats::setNames(attributes, attributes), function(name) {
    unlist(lapply(edges, function(e) e$atl[[name]][1L] %||% NA))
  })
  each <- link_weights(columns, weights, NULL, length(edges), "an attribute of the edges", arg, call)
  each$value[unknown] <- NA
  with_direction(
    c(list(n = n, ids = ids, from = one("outl"), to = one("inl")), each), isTRUE(x$gal$directed), directed, arg
  )
}

# The links of an object that says itself whether it is directed, in the form that the user requested
# (`directed`). An undirected link in a directed network becomes two links, as in a symmetric matrix.
with_direction <- function(links, is_directed, directed, arg) {
  links$directed <- directed %||% is_directed
  if (links$directed && !is_directed) {
    tell_of_network("Links of {.arg {arg}} are undirected: each is taken as two directed ones, there and back.")
    there <- links[c("from", "to")]
    loop <- there$from == there$to
    links$from <- c(there$from, there$to[!loop])
    links$to <- c(there$to, there$from[!loop])
    links$value <- c(links$value, links$value[!loop])
  }
  links
}

# Informs the user that the network has nodes of two kinds (`type` of igraph), and that links are only between
# the two kinds.
tell_two_modes <- function(type, edges, arg) {
  two <- is.logical(type) ||
    length(unique(type)) == 2L && length(edges) && all(type[edges[, 1L]] != type[edges[, 2L]])
  if (two) {
    tell_of_network(c(
      "{.arg {arg}} is a two-mode (bipartite) network, and is taken as an ordinary one: two nodes of the same kind count
       as a pair without a link.",
      i = "Communities may be no more than the two kinds. {.code igraph::bipartite_projection()} links nodes of one
           kind; {.fn bnp_mixture} and {.fn bnp_topics} cluster the rows of the incidence matrix."
    ))
  }
}

# TRUE if x has the column names of a list of links; lists_links() is TRUE also if x has the shape of one.
names_links <- function(x) all(c("from", "to") %in% colnames(x))
lists_links <- function(x) names_links(x) || nrow(x) != ncol(x) && ncol(x) %in% 2:3

# Refuses tables that have the shape of a list of links, but other contents.
refuse_tables <- function(x, arg, call) {
  numbers <- if (is.data.frame(x)) all(vapply(x, function(v) is.numeric(v) || is.logical(v), NA)) else !is.character(x)
  if (names_links(x) || !numbers || nrow(x) < 2L) {
    return(invisible())
  }
  if (is.data.frame(x) && nrow(x) == ncol(x) && ncol(x) > 3L) {
    abort("network", c(
      "{.arg {arg}}, a square data frame of numbers, looks like an adjacency matrix: data frames are lists of links.",
      i = "Give {.code as.matrix({arg})}, or name the two columns of nodes {.field from} and {.field to}."
    ), call = call)
  }
  if (all(as.matrix(x) %in% c(0, 1, NA))) {
    abort("network", c(
      "{.arg {arg}}, {nrow(x)} x {ncol(x)} of zeros and ones, is neither a square adjacency matrix nor a list of
       links.",
      i = "The rows of a two-mode (bipartite) network are clustered by {.fn bnp_mixture} or {.fn bnp_topics}; the
           columns of a list of links are named {.field from} and {.field to}."
    ), call = call)
  }
}

# Both ends and the value of every link in a list of links, which has a row for each.
listed_links <- function(x, call, arg, weights = NULL) {
  x <- as.data.frame(x)
  if (ncol(x) < 2L) {
    abort("network", "{.arg {arg}} must have columns {.field from} and {.field to}, a row for each link.", call = call)
  }
  columns <- if (names_links(x)) c("from", "to") else names(x)[1:2]
  if (!names_links(x) && ncol(x) > 2L) {
    tell_of_network("{.field {columns}}, the first two columns of {.arg {arg}}, are taken as the nodes of links.")
  }
  from <- x[[columns[1L]]]
  to <- x[[columns[2L]]]
  absent <- which(is.na(from) | is.na(to))
  if (length(absent)) {
    abort("missing", c(
      "Links of {.arg {arg}} must have both ends.", x = "One is missing in row {places(absent)}."
    ), call = call)
  }
  if (!is_plain_number(from) || !is_plain_number(to)) {
    from <- node_names(from)
    to <- node_names(to)
  }
  rest <- setdiff(names(x), columns)
  default <- c(intersect(c("weight", "value", "n", "count"), rest), rest[vapply(x[rest], is.numeric, NA)])
  each <- link_weights(x[rest], weights, if (length(default)) default[1L], nrow(x), "a column", arg, call)
  c(list(from = from, to = to), each)
}

links_of_edges <- function(x, nodes, directed, call, arg, weights) {
  refuse_tables(x, arg, call)
  links <- listed_links(x, call, arg, weights)
  from <- links$from
  to <- links$to
  if (!is.null(nodes) && (!is.atomic(nodes) || !is.null(dim(nodes)))) {
    abort("nodes", "{.arg nodes} must be the names of all nodes, or their number, not {describe(nodes)}.", call = call)
  }
  if (is.numeric(nodes) && length(nodes) == 1L && is.numeric(from) && is.numeric(to)) {
    nodes <- seq_len(check_count(nodes, "nodes", call = call))
  }
  found <- unique(c(rbind(from, to)))
  if (is.numeric(found)) found <- sort(found)
  ids <- node_names(nodes %||% found)
  if (anyNA(ids) || anyDuplicated(ids)) {
    abort("nodes", "{.arg nodes} must be names that differ from each other.", call = call)
  }
  list(
    n = length(ids), ids = ids, from = nodes_of(from, ids, arg, call), to = nodes_of(to, ids, arg, call),
    value = links$value, weighted = links$weighted, directed = directed %||% FALSE
  )
}

# The line of print() about the network: "34 nodes, 78 links that count 231, 2 nodes without any, 10
# pairs not observed".
described_network <- function(input) {
  big <- function(n, word) paste0(format(n, big.mark = ","), " ", word, if (n != 1) "s")
  paste0(
    big(input$n, "node"), ", ", big(input$n_links, if (input$directed) "directed link" else "link"),
    if (input$total != input$n_links) paste0(" that count ", format(input$total, big.mark = ",")),
    if (input$isolated > 0L) paste0(", ", big(input$isolated, "node"), " without any"),
    if (input$components > 1L) paste0(", ", input$components, " connected parts"),
    if (input$hidden > 0L) paste0(", ", big(input$hidden, "pair"), " not observed")
  )
}

# The number of connected components with at least two nodes. Each node gets the smallest number of a node
# that it can reach, by passing numbers along links until nothing changes.
connected_parts <- function(data) {
  part <- seq_len(data$n)
  repeat {
    least <- pmin(part[data$from], part[data$to])
    lower <- part
    for (end in list(data$from, data$to)) {
      change <- tapply(least, end, min)
      at <- as.integer(names(change))
      lower[at] <- pmin(lower[at], as.integer(change))
    }
    lower <- lower[lower]
    if (identical(lower, part)) break
    part <- lower
  }
  length(unique(part[unique(c(data$from, data$to))]))
}
