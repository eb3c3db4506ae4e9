# Trees of rows for hidden Markov trees: turns what users say of parents into rows in the order of the engine.
#
# If rows have parents, the internal form of data has these fields: `back` (how many rows before a row its
# parent is, 0 at a root; the rows of each subtree follow each other, its root first); `tree`: list(parent,
# at, names), parents by node as the user numbers them (0: root), the nodes of the rows given (NULL: all, in
# order) and the names of all nodes; `position` (R/hmm-tree-positions.R); and `left_out`, by which
# for_all_rows() puts results into the user's order.

# Reads rows of x and their parents into the internal form. id: the tree, or group of trees, of each row.
as_tree_data <- function(x, parent, obs, id = NULL, arg = "x", call = rlang::caller_env(), na_action = NULL,
                         use = "sequences") {
  require_ability(kinds_to_fit("bnp_hmm", obs), "parent", call)
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "simple_triplet_matrix")) {
    abort("parent", c(
      "With {.arg parent}, {.arg {arg}} must be one table, not a list of sequences.",
      i = "Bind the rows of all trees, and give {.arg id} if it matters which tree a row belongs to."
    ), call = call)
  }
  split <- if (is.null(id)) list(x = x, id = NULL) else take_id(x, id, arg, call)
  given <- taken_apart(parent)
  read <- read_positions(read_parents(given$parent, split$x, arg, call), given$position, given$labels, arg, call)
  if (identical(na_action, "omit")) require_ability(c("trees", "sequences"), "omit_missing", call)
  tree <- read$tree
  n <- length(tree$parent)
  x <- as_table(read$x, arg, FALSE, call, obs, na_action)
  if (!is.null(tree$at)) {
    x <- with_unobserved(x, tree, arg, call)
    na_action <- "model"
  }
  data <- table_to_data(x, obs, arg, call, na_action = na_action, use = use)
  id <- split$id
  if (!is.null(id)) id <- id_of_nodes(check_id(id, NROW(read$x), arg, call, row_names_of(read$x)), tree, call)
  in_tree_order(data, tree, id, call)
}

# The id of each node of the trees, from that of each given row: nodes without a row have the id of their
# tree.
id_of_nodes <- function(id, tree, call) {
  if (is.null(tree$at)) {
    return(id)
  }
  root <- root_of(tree$parent)
  out <- id[match(root, root[tree$at])]
  out[tree$at] <- id
  unknown <- unique(root[is.na(out) & !is.na(root)])
  if (length(unknown)) {
    abort("parent", c(
      "Each tree needs at least one row with an {.arg id}.",
      x = "None in {cli::qty(length(unknown))}the tree{?s} of node{?s} {places(unknown)}."
    ), call = call)
  }
  out
}

# The root above each node, by pointer doubling in log2(depth) rounds. NA for nodes in and below cycles.
root_of <- function(parent) {
  up <- ifelse(parent == 0L, seq_along(parent), parent)
  for (round in seq_len(ceiling(log2(length(parent) + 1)) + 1)) up <- up[up]
  ifelse(parent[up] == 0L, up, NA_integer_)
}

# Makes rows for all nodes of the trees, from rows x at the nodes tree$at; the other nodes are unobserved.
with_unobserved <- function(x, tree, arg, call) {
  if (!is.matrix(x)) {
    abort("gaps", c(
      "{.arg {arg}} has no rows for some nodes of {.arg parent}, which a sparse matrix cannot have as missing values.",
      i = "Use {.code as.matrix({arg})}."
    ), call = call)
  }
  out <- rows_of_table(x, match(seq_along(tree$parent), tree$at))
  `rownames<-`(out, tree$names)
}

in_tree_order <- function(data, tree, id, call) {
  parent <- tree$parent
  n <- length(parent)
  if (n != data$n) {
    abort("parent", "{.arg parent} must have one value per row ({data$n}), not {n}.", call = call)
  }
  if (!is.null(id)) {
    other <- which(parent > 0L & id != id[pmax(parent, 1L)])
    if (length(other)) {
      abort("parent", c(
        "Parents must have the {.arg id} of their children.",
        x = "Not so: {cli::qty(length(other))}row{?s} {places(other)}."
      ), call = call)
    }
  }
  roots <- which(parent == 0L)
  if (!is.null(id)) roots <- roots[order(as.integer(id)[roots])]
  found <- engine_tree_order(parent, roots)
  if (length(found$order) < n) {
    lost <- setdiff(seq_len(n), found$order)
    abort("parent", c(
      "{.arg parent} leads in a circle: from {cli::qty(length(lost))}row{?s} {places(lost)} no root is reached.",
      i = "Roots have parent 0 or {.code NA}."
    ), call = call)
  }
  of_group <- if (is.null(id)) cumsum(found$back == 0L) else match(id[found$order], levels(id))
  names <- data$row_names %||% as.character(seq_len(n))
  out <- regrouped(data, found$order, tabulate(of_group), if (is.null(id)) names[roots] else levels(id))
  out$back <- as.integer(found$back)
  if (length(tree$positions) > 1L) out$position <- tree$position[found$order]
  out$tree <- tree
  out$left_out <- list(n = n, kept = out$order, row_names = data$row_names)
  out$order <- NULL
  out
}

# ---- the forms in which users give parents ---------------------------------------------------------------------------

# Reads the argument `parent`: list(x, tree), with x without the column of parents, if they are a column.
read_parents <- function(parent, x, arg, call) {
  if (is.list(parent) && !is.null(parent$parent) && inherits(parent, "bnp_tree")) {
    tree <- unclass(parent)
    check_rows_of_tree(tree, NROW(x), arg, call)
    return(list(x = x, tree = tree))
  }
  if (inherits(parent, "phylo")) {
    return(list(x = x, tree = match_nodes(parents_of_phylo(parent, call), x, arg, call)))
  }
  if (inherits(parent, "igraph")) {
    return(list(x = x, tree = match_nodes(parents_of_igraph(parent, call), x, arg, call)))
  }
  if (is.character(parent) && length(parent) == 1L && length(dim(x)) == 2L) {
    taken <- take_named_column(x, parent, "parent", arg, call)
    return(list(x = taken$x, tree = list(parent = check_parents(unname(taken$column), NROW(x), arg, call))))
  }
  parent <- in_order_of_names(parent, row_names_of(x), NROW(x), "parent", "row", call)
  list(x = x, tree = list(parent = check_parents(parent, NROW(x), arg, call)))
}

check_rows_of_tree <- function(tree, n, arg, call) {
  nodes <- length(tree$at %||% tree$parent)
  if (n != nodes) {
    abort("parent", c(
      "{.arg parent} is needed, as {.arg {arg}} does not have the {nodes} row{?s} of the fit's trees.",
      i = "Give the parent of each row, in any form that {.fn bnp_hmm} takes."
    ), call = call)
  }
}

# Checks the row numbers of parents. Nodes without a parent get 0.
check_parents <- function(parent, n, arg, call) {
  if (!(is.numeric(parent) || (is.logical(parent) && all(is.na(parent)))) || !is.null(dim(parent))) {
    abort("parent", c(
      "{.arg parent} must be row numbers of {.arg {arg}}, the name of a column of them, an {.cls igraph} or a
       {.cls phylo}, not {describe(parent)}."
    ), call = call)
  }
  if (length(parent) != n) {
    abort("parent", "{.arg parent} must have one value per row of {.arg {arg}} ({n}), not {length(parent)}.",
      call = call
    )
  }
  parent[is.na(parent)] <- 0
  bad <- which(parent != round(parent) | parent < 0 | parent > n)
  if (length(bad)) {
    abort("parent", c(
      "{.arg parent} must be row numbers from 1 to {n}, or 0 or {.code NA} for roots.",
      x = "Not so: {cli::qty(length(bad))}row{?s} {places(bad)}."
    ), call = call)
  }
  own <- which(parent == seq_len(n))
  if (length(own)) {
    abort("parent", c(
      "A row cannot be its own {.arg parent}.", x = "Not so: {cli::qty(length(own))}row{?s} {places(own)}.",
      i = "Roots have parent 0 or {.code NA}."
    ), call = call)
  }
  as.integer(parent)
}

parents_of_phylo <- function(tree, call) {
  edge <- tree$edge
  tips <- tree$tip.label
  if (!is.matrix(edge) || ncol(edge) != 2L || is.null(tips)) {
    abort("parent", "{.arg parent} is a {.cls phylo} without {.field edge} or {.field tip.label}.", call = call)
  }
  n <- max(edge, length(tips) + (tree$Nnode %||% 0L))
  inner <- tree$node.label %||% as.character(seq_len(n - length(tips)) + length(tips))
  list(parent = parents_of_edges(edge, n, call), names = make.unique(c(tips, inner)), tips = length(tips))
}

parents_of_igraph <- function(graph, call) {
  rlang::check_installed("igraph", "for `parent` as a graph.", call = call)
  if (!igraph::is_directed(graph)) {
    abort("parent", c(
      "{.arg parent} must be a directed graph, with edges from parents to children.",
      i = "{.fn igraph::bfs} from the root finds the parent of each node."
    ), call = call)
  }
  edge <- igraph::as_edgelist(graph, names = FALSE)
  list(
    parent = parents_of_edges(edge, as.integer(igraph::vcount(graph)), call), names = igraph::vertex_attr(graph, "name")
  )
}

parents_of_edges <- function(edge, n, call) {
  several <- unique(edge[duplicated(edge[, 2L]), 2L])
  if (length(several)) {
    abort("parent", c(
      "{.arg parent} must be a tree, or several: no node has two parents.",
      x = "Not so: {cli::qty(length(several))}node{?s} {places(several)}."
    ), call = call)
  }
  parent <- numeric(n)
  parent[edge[, 2L]] <- edge[, 1L]
  check_parents(parent, n, "parent", call)
}

# Matches the rows of x to nodes of a tree. They are all nodes or, for a phylogeny, its tips; they are matched
# by name if both have names, else in order.
match_nodes <- function(tree, x, arg, call) {
  n <- length(tree$parent)
  given <- NROW(x)
  names <- row_names_of(x)
  if (!is.null(names) && !is.null(tree$names)) {
    at <- match(names, tree$names)
    if (anyNA(at) || anyDuplicated(at)) {
      wrong <- names[is.na(at) | duplicated(at)]
      abort("parent", c(
        "The names of the rows of {.arg {arg}} must be those of nodes of {.arg parent}.",
        x = "Not so: {places(dQuote(wrong, FALSE))}.",
        i = "Remove the names to match rows in the order of the nodes."
      ), call = call)
    }
  } else if (given == n || given %in% tree$tips) {
    at <- seq_len(given)
  } else {
    of_tips <- if (is.null(tree$tips)) "" else paste0(", or for each of its ", tree$tips, " tips")
    abort("parent", c(
      "{.arg {arg}} must have a row for each of the {n} nodes of {.arg parent}{of_tips}, not {given}.",
      i = "Rows with the names of nodes may be fewer."
    ), call = call)
  }
  list(parent = tree$parent, at = if (!identical(at, seq_len(n))) at, names = tree$names)
}

# The trees of new data: list(x, parent), where parent includes positions, and x lacks the columns that hold
# these. Without `parent` the new rows have the trees of the fit.
new_trees <- function(fit, x, parent, arg, call) {
  if (!has_trees(fit$input)) {
    if (!is.null(parent)) {
      abort("parent", c("{.arg parent} is for fits of trees.", i = "This one is of sequences."), call = call)
    }
    return(list(x = x, parent = NULL))
  }
  given <- taken_apart(parent)
  parent <- given$parent
  column <- fit$input$parent_column
  if (is.null(parent) && !is.null(column) && column %in% colnames(x)) parent <- column
  if (is.null(parent)) {
    parent <- structure(fit$input$tree, class = "bnp_tree")
    if (is.null(dim(x)) && !is.list(x)) x <- as.matrix(x)
    check_rows_of_tree(parent, NROW(x), arg, call)
    return(list(x = x, parent = parent))
  }
  position <- new_positions(fit, given$position, x, call)
  if (is.character(parent)) {
    read <- read_parents(parent, x, arg, call)
    x <- read$x
    parent <- read$tree$parent
  }
  if (is.character(position) && length(position) == 1L && position %in% colnames(x)) {
    taken <- take_named_column(x, position, "position", arg, call)
    position <- taken$column
    x <- taken$x
  }
  list(x = x, parent = with_position(parent, position, fit$input$tree$positions, call))
}
