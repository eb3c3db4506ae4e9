# A network in any form -> the internal form: list(n, directed, from, to, value, hidden_from, hidden_to, ids), each
# pair once, ends from 1; pairs that are hidden have no value. `ids`: names of the nodes, in their order. `keep_loops`:
# also `loops`, the links of each node with itself, where there are any.

as_network <- function(x, nodes = NULL, directed = NULL, missing = NULL, call = rlang::caller_env(), arg = "x",
                       keep_loops = FALSE) {
  if (!is.null(directed)) check_flag(directed, "directed", call)
  links <- if (inherits(x, "igraph")) {
    links_of_igraph(x, nodes, directed, call, arg)
  } else if (inherits(x, "network")) {
    links_of_network(x, nodes, directed, call, arg)
  } else if (inherits(x, "Matrix") || is.matrix(x) && nrow(x) == ncol(x)) {
    links_of_adjacency(x, nodes, directed, call, arg)
  } else if (is.data.frame(x) || is.matrix(x) && ncol(x) %in% 2:3) {
    links_of_edges(x, nodes, directed, call, arg)
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
  check_values(links$value, call, arg)
  tidied_links(links, hidden_pairs(missing, links, call), keep_loops)
}

check_values <- function(value, call, arg) {
  bad <- which(!is.na(value) & (value < 0 | value != round(value)))
  if (length(bad)) {
    abort("not_counts", c(
      "Links of {.arg {arg}} must be 0, 1 or counts, not {signif(value[bad[1L]], 3)} (link {places(bad)}).",
      i = "Weights that are no counts have no model here: round them, or keep the links alone."
    ), call = call)
  }
}

# Loops go or are counted, pairs that are listed several times add up, what is NA or `missing` becomes hidden.
tidied_links <- function(links, missing, keep_loops) {
  told <- function(...) {
    cli::cli_inform(c(...), class = c("bnpvi_message_network", "bnpvi_message"), .envir = parent.frame())
  }
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
    hidden_to = as.integer((hidden - 1) %% links$n + 1), ids = links$ids
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

# The first two columns of `pairs` as numbers of nodes, m x 2.
hidden_pairs <- function(pairs, links, call, arg = "missing") {
  if (is.null(pairs)) {
    return(NULL)
  }
  if (!(is.data.frame(pairs) || is.matrix(pairs)) || ncol(pairs) < 2L) {
    abort("argument", c(
      "{.arg {arg}} must be a matrix or data frame whose first two columns are nodes, not {describe(pairs)}."
    ), call = call)
  }
  cbind(
    nodes_of(pairs[, 1L, drop = TRUE], links$ids, arg, call), nodes_of(pairs[, 2L, drop = TRUE], links$ids, arg, call)
  )
}

# Nodes by name; numbers where that is what the names are.
nodes_of <- function(x, ids, arg, call) {
  if (is.list(x) || !is.null(dim(x))) {
    abort("argument", "Nodes of {.arg {arg}} must be names or numbers, not {describe(x)}.", call = call)
  }
  at <- match(node_names(x), ids)
  bad <- which(is.na(at))
  if (length(bad)) {
    abort("nodes", c(
      "{.arg {arg}} has nodes that are not in the network: {places(unique(as.character(x[bad])))}.",
      x = "In row {places(bad)}.", i = "Nodes are named {places(ids, 3L)}."
    ), call = call)
  }
  at
}

# Whole numbers in full: as.character(1e5) is "1e+05", and of the integer it is not.
node_names <- function(x) {
  whole <- is.double(x) && !is.object(x) && all(is.na(x) | (x == round(x) & abs(x) < .Machine$integer.max))
  as.character(if (whole) as.integer(x) else x)
}

no_nodes_argument <- function(nodes, what, call) {
  if (!is.null(nodes)) {
    abort("argument", "{.arg nodes} is for edge lists: {what} has all its nodes.", call = call)
  }
}

links_of_igraph <- function(x, nodes, directed, call, arg) {
  no_nodes_argument(nodes, "an igraph", call)
  rlang::check_installed("igraph", "to read an igraph.")
  edges <- igraph::as_edgelist(x, names = FALSE)
  ids <- igraph::vertex_attr(x, "name") %||% seq_len(igraph::vcount(x))
  weight <- igraph::edge_attr(x, "weight")
  list(
    n = igraph::vcount(x), ids = as.character(ids), from = edges[, 1L], to = edges[, 2L],
    value = as.double(weight %||% rep(1, nrow(edges))), directed = directed %||% igraph::is_directed(x)
  )
}

# An object of the package network: vertices in $gal$n, edges in $mel.
links_of_network <- function(x, nodes, directed, call, arg) {
  no_nodes_argument(nodes, "a network", call)
  edges <- Filter(Negate(is.null), x$mel)
  one <- function(which) as.integer(vapply(edges, function(e) e[[which]][1L], 1))
  n <- as.integer(x$gal$n)
  ids <- vapply(x$val, function(v) as.character(v[["vertex.names"]] %||% NA), "")
  if (length(ids) != n || anyNA(ids) || anyDuplicated(ids)) ids <- as.character(seq_len(n))
  unknown <- vapply(edges, function(e) isTRUE(e$atl$na), NA)
  list(
    n = n, ids = ids, from = one("outl"), to = one("inl"), value = ifelse(unknown, NA, rep(1, length(edges))),
    directed = directed %||% isTRUE(x$gal$directed)
  )
}

links_of_adjacency <- function(x, nodes, directed, call, arg) {
  no_nodes_argument(nodes, "an adjacency matrix", call)
  if (nrow(x) != ncol(x)) {
    abort("network", c(
      "{.arg {arg}}, an adjacency matrix, must be square, not {nrow(x)} x {ncol(x)}.",
      i = "Give two-mode networks as a data frame of links, or use {.fn bnp_mixture}."
    ), call = call)
  }
  if (is.matrix(x) && !is.numeric(x) && !is.logical(x)) {
    abort("not_numeric", "{.arg {arg}} must be a matrix of numbers, not {describe(x)}.", call = call)
  }
  cells <- matrix_cells(x)
  symmetric <- if (is.matrix(x)) isSymmetric(unname(x), tol = 0) else Matrix::isSymmetric(x, tol = 0, checkDN = FALSE)
  if (isFALSE(directed) && !symmetric) {
    abort("not_symmetric", c(
      "{.arg {arg}} is not symmetric, and so not undirected.",
      i = "Choose {.code directed = TRUE}, or give {.code x + t(x)} or {.code pmax(x, t(x))}."
    ), call = call)
  }
  directed <- directed %||% !symmetric
  keep <- directed | cells$i <= cells$j
  names <- rownames(x) %||% colnames(x) %||% seq_len(nrow(x))
  if (anyDuplicated(names)) abort("nodes", "Names of nodes of {.arg {arg}} must differ from each other.", call = call)
  list(
    n = nrow(x), ids = as.character(names), from = cells$i[keep], to = cells$j[keep], value = cells$x[keep],
    directed = directed
  )
}

# Cells that are not 0: data frame i, j, x.
matrix_cells <- function(x) {
  if (inherits(x, "Matrix")) {
    cells <- Matrix::summary(as(as(x, "generalMatrix"), "TsparseMatrix"))
    return(data.frame(i = cells$i, j = cells$j, x = if (is.null(cells$x)) rep(1, nrow(cells)) else as.double(cells$x)))
  }
  at <- which(is.na(x) | x != 0, arr.ind = TRUE)
  data.frame(i = unname(at[, 1L]), j = unname(at[, 2L]), x = as.double(x[at]))
}

# Both ends and the value of every row of a list of links.
listed_links <- function(x, call, arg) {
  x <- as.data.frame(x)
  if (ncol(x) < 2L) {
    abort("network", "{.arg {arg}} must have columns {.field from} and {.field to}, a row for each link.", call = call)
  }
  columns <- if (all(c("from", "to") %in% names(x))) c("from", "to") else names(x)[1:2]
  from <- x[[columns[1L]]]
  to <- x[[columns[2L]]]
  absent <- which(is.na(from) | is.na(to))
  if (length(absent)) {
    abort("missing", c("Links of {.arg {arg}} must have both ends.", x = "Row {places(absent)} has not."), call = call)
  }
  if (is.factor(from) || is.factor(to)) {
    both <- list(as.character(from), as.character(to))
    from <- both[[1L]]
    to <- both[[2L]]
  }
  rest <- setdiff(names(x), columns)
  weight <- intersect(c("weight", "value", "n", "count"), rest)
  if (!length(weight)) weight <- rest[vapply(x[rest], is.numeric, NA)]
  list(from = from, to = to, value = if (length(weight)) as.double(x[[weight[1L]]]) else rep(1, nrow(x)))
}

links_of_edges <- function(x, nodes, directed, call, arg) {
  links <- listed_links(x, call, arg)
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
    value = links$value, directed = directed %||% FALSE
  )
}

# "34 nodes, 78 links, 2 of no link, 10 pairs not observed"
described_network <- function(input) {
  big <- function(n, word) paste0(format(n, big.mark = ","), " ", word, if (n != 1) "s")
  paste0(
    big(input$n, "node"), ", ", big(input$n_links, if (input$directed) "directed link" else "link"),
    if (input$isolated > 0L) paste0(", ", big(input$isolated, "node"), " without any"),
    if (input$components > 1L) paste0(", ", input$components, " connected parts"),
    if (input$hidden > 0L) paste0(", ", big(input$hidden, "pair"), " not observed")
  )
}

# Connected parts of two nodes or more, by label propagation of the smallest number.
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
