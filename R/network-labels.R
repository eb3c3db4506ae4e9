# Known communities of some nodes: communities belong to classes of labels, as clusters of mixtures do
# (R/mixture-labels.R).

# Adds to a network the labels that users give for nodes, in the form that C++ reads. x: the network as it was
# given.
with_node_labels <- function(data, labels, x, call) {
  if (is.null(labels)) {
    return(data)
  }
  if (inherits(x, "igraph") && rlang::is_string(labels)) labels <- vertex_attribute(x, labels, call)
  known <- known_labels(labels_of_nodes(labels, data, call), data$n, call)
  data$classes <- known$set
  data$class_sets <- known$sets
  data$class_names <- known$classes
  data
}

vertex_attribute <- function(x, name, call) {
  there <- igraph::vertex_attr_names(x)
  if (!name %in% there) {
    abort("labels", c(
      "{.arg labels}, a name, must be that of an attribute of the vertices of {.arg x}, not {.val {name}}.",
      i = if (length(there)) "There {?is/are} {.val {there}}." else "The vertices have no attributes.",
      i = "A label of one node has the name of the node: {.code labels = c(node = \"{name}\")}."
    ), call = call)
  }
  igraph::vertex_attr(x, name)
}

# One label for each node, or a row of a matrix for each. Labels with names may be given for some nodes only.
labels_of_nodes <- function(labels, data, call) {
  labels <- as_vector(labels)
  named <- if (is.matrix(labels)) rownames(labels) else if (is.atomic(labels)) names(labels)
  given <- if (is.matrix(labels)) nrow(labels) else length(labels)
  if (is.null(named) || all(is.na(named) | named == "")) {
    if (given != data$n && is.atomic(labels)) {
      abort("labels", c(
        "{.arg labels} must have one {if (is.matrix(labels)) 'row' else 'label'} per node ({data$n}), not {given}.",
        i = "Labels of some nodes alone have the names of these nodes."
      ), call = call)
    }
    return(labels)
  }
  named <- enc2utf8(named)
  other <- unique(setdiff(named, data$ids))
  repeated <- unique(named[duplicated(named)])
  if (length(other) || length(repeated)) {
    quoted <- function(v) places(dQuote(v, FALSE))
    abort("labels", c(
      "The names of {.arg labels} must be those of nodes, each once.",
      x = if (length(other)) "Not {cli::qty(length(other))}{?a node/nodes}: {quoted(other)}.",
      x = if (length(repeated)) "Repeated: {quoted(repeated)}.",
      i = "Labels without names are taken in the order of the nodes: {.code unname(labels)}."
    ), call = call)
  }
  values_at(labels, match(data$ids, named))
}

# A start from groups of nodes: each group is divided by the labels of its nodes, and unlabelled nodes are a
# part of their own. A node with several possible classes is split evenly among the communities of these
# classes in its group or, if its group has none, among all communities of these classes.
divided_by_labels <- function(groups, data) {
  sets <- data$class_sets
  one_class <- ifelse(rowSums(sets) == 1, max.col(1 * sets, "first"), NA)
  class <- c(0L, one_class)[data$classes + 1L]
  # If no node has a class as its only possible one, the class begins with the first node that may belong to it.
  for (lacking in setdiff(seq_len(ncol(sets)), class)) {
    first <- which(is.na(class) & c(FALSE, sets[, lacking])[data$classes + 1L])[1L]
    if (!is.na(first)) class[first] <- lacking
  }
  single <- which(!is.na(class))
  parts <- unique(data.frame(group = groups[single], class = class[single]))
  parts <- parts[order(parts$group, parts$class), ]
  shares <- outer(groups, parts$group, "==") & outer(class, parts$class, "==")
  for (i in setdiff(seq_len(data$n), single)) {
    may <- c(FALSE, sets[data$classes[i], ])[parts$class + 1L]
    here <- may & parts$group == groups[i]
    shares[i, ] <- if (any(here)) here else may
  }
  structure(shares / rowSums(shares), owner = parts$class)
}

# The shares (proportions of nodes in communities) that a user gave as a start, with the class of each
# community.
own_start_shares <- function(shares, data, call) {
  if (is.null(data$classes)) shares else
    structure(shares, owner = own_start_clusters(list(resp = shares), data, call, "Node")$owner)
}

# The memberships of an earlier fit as a start. Nodes may now have other labels: they leave communities of
# other classes.
shares_of_fit <- function(fit, data, call) {
  if (is.null(data$classes)) {
    return(fit$prob)
  }
  start_with_owners(NULL, fit, data, call)
  owner <- owners_of_clusters(fit)
  allowed <- allowed_clusters(data, owner)
  shares <- fit$prob * allowed
  none <- rowSums(shares) == 0
  shares[none, ] <- allowed[none, ]
  structure(shares, owner = owner)
}

# The most probable community of each node, numbered without communities that are empty.
labels_of_shares <- function(shares) {
  labels <- max.col(shares, "first")
  used <- sort(unique(labels))
  owner <- attr(shares, "owner")
  labels <- match(labels, used)
  if (is.null(owner)) labels else structure(labels, owner = owner[used])
}
