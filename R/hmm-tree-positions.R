# Positions of nodes among the children of their parents. Each position has transitions of its own.
#
# In the internal form of data `tree` has `position`, the position of each node as the user numbers nodes,
# from 0, and the labels `positions`. If there are two or more positions, the field `position` has those of
# the rows in their order, and the prior of a fit has their number as `positions`.

most_positions <- 100L # a guess: each position has K rows of transitions

# Packs parents and positions of nodes into one argument, which as_tree_data() unpacks. labels: the labels of
# the positions in a fit.
with_position <- function(parent, position, labels = NULL, call = rlang::caller_env()) {
  if (is.null(position)) {
    return(parent)
  }
  if (is.null(parent)) {
    abort("position", c(
      "{.arg position} is that of each row among the children of its parent.", i = "Give {.arg parent}, too."
    ), call = call)
  }
  structure(list(parent = parent, position = position, labels = labels), class = "bnp_positioned")
}

taken_apart <- function(parent) {
  if (inherits(parent, "bnp_positioned")) unclass(parent) else list(parent = parent, position = NULL, labels = NULL)
}

# Adds the positions of nodes that the user gave to the result of read_parents(). If they are a column of x,
# it is removed from x.
read_positions <- function(read, position, labels, arg, call) {
  if (is.null(position)) {
    return(read)
  }
  parent <- read$tree$parent
  if (is.character(position) && length(position) == 1L && length(dim(read$x)) == 2L) {
    taken <- take_named_column(read$x, position, "position", arg, call)
    position <- taken$column
    read$x <- taken$x
  }
  read$tree$in_order <- if (isTRUE(position)) TRUE
  if (isTRUE(position)) position <- place_among_siblings(parent)
  names <- read$tree$names %||% row_names_of(read$x)
  position <- in_order_of_names(position, names, length(parent), "position", "node", call)
  position <- check_positions(position, parent, call)
  known <- labels %||% position_labels(position, parent)
  read$tree$position <- position_codes(position, parent, known, call)
  read$tree$positions <- known
  read
}

# Numbers the children of each parent 1, 2, ... in the order of the rows; 0 for roots.
place_among_siblings <- function(parent) {
  by_parent <- order(parent)
  place <- integer(length(parent))
  place[by_parent] <- sequence(rle(parent[by_parent])$lengths)
  place[parent == 0L] <- 0L
  place
}

check_positions <- function(position, parent, call) {
  if (!is.atomic(position) || is.null(position) || !is.null(dim(position)) || is.complex(position)) {
    abort("position", c(
      "{.arg position} must be the name of a column, {.code TRUE}, or one label per row (numbers, text or a
       factor), not {describe(position)}."
    ), call = call)
  }
  if (length(position) != length(parent)) {
    abort("position", c(
      "{.arg position} must have one value per node ({length(parent)}), not {length(position)}.",
      i = "{.code position = TRUE} numbers the children of each parent in the order of the rows."
    ), call = call)
  }
  lacking <- which(parent > 0L & is.na(position))
  if (length(lacking)) {
    abort("position", c(
      "{.arg position} must not be {.code NA}, except for roots.",
      x = "It is: {cli::qty(length(lacking))}row{?s} {places(lacking)}."
    ), call = call)
  }
  position
}

# The labels of the positions that occur, in the order of the factor's levels or of the values.
position_labels <- function(position, parent) {
  used <- position[parent > 0L]
  levels(label_factor(used, "position", sorted = TRUE))
}

position_codes <- function(position, parent, labels, call) {
  if (length(labels) > most_positions) {
    abort("position", c(
      "{.arg position} may have at most {most_positions} different values, not {length(labels)}.",
      i = "Each position has its own transition probabilities: join positions that are alike."
    ), call = call)
  }
  label <- label_text(position, "position", call)
  code <- match(label, labels) - 1L
  code[parent == 0L] <- 0L
  new <- unique(label[is.na(code)])
  if (length(new)) {
    abort("position", c(
      "{.arg position} must be among the positions of the fit: {places(dQuote(labels, FALSE))}.",
      x = "It has also {places(dQuote(new, FALSE))}."
    ), call = call)
  }
  code
}

# Positions of nodes in new trees for a fit of trees: those that were given, those in the column that the fit
# used, or the order of siblings.
new_positions <- function(fit, position, x, call) {
  known <- fit$input$tree
  if (is.null(known$positions)) {
    if (!is.null(position)) {
      abort("position", c(
        "{.arg position} is for fits that have it.", i = "This one has the same transitions for all."
      ), call = call)
    }
    return(NULL)
  }
  column <- fit$input$position_column
  position <- position %||% if (!is.null(column) && column %in% colnames(x)) column else known$in_order
  if (is.null(position) && length(known$positions) > 1L) {
    abort("position", c(
      "{.arg position} is needed with {.arg parent}, as the fit has transitions by position.",
      i = "Its positions: {places(dQuote(known$positions, FALSE))}."
    ), call = call)
  }
  position
}

# The names of the positions of children that have transitions of their own; NULL if all nodes share their
# transitions.
positions_of <- function(fit) if (!is.null(fit$model$prior$positions)) fit$input$tree$positions

# The prior in which each state has a row of transitions for each position that a child has in the data.
prior_by_position <- function(prior, data) {
  n <- length(data$tree$positions)
  prior$positions <- if (n > 1L) n
  prior
}

# The statistics of an earlier fit in the form that the positions of children, or covariate patterns, of these
# data need: all counts of transitions are spread evenly over them, and effects of covariates start anew.
state_for_positions <- function(state, fit, data, prior = NULL) {
  before <- positions_of(fit)
  now <- if (!is.null(data$position)) data$tree$positions
  tilted <- has_covariates(prior) || has_covariates(fit$model$prior)
  if (is.null(state$pair) || !tilted && identical(before, now)) {
    return(state)
  }
  if (tilted) state$u <- state$u[seq_along(state$omega)]
  k <- state$k
  n <- max(1L, length(now), n_patterns_of(list(prior = prior)))
  all <- apply(array(state$pair, c(k, ncol(state$pair) %/% k, k)), c(1L, 3L), sum)
  state$pair <- matrix(all[, rep(seq_len(k), each = n)] / n, k)
  state
}

# Transition probabilities averaged over the positions of children, weighted by the share of nodes at each
# position.
mean_transitions <- function(fit) {
  p <- transition_matrix(fit)
  if (is.null(positions_of(fit))) {
    return(unclass(p))
  }
  share <- tabulate(fit$input$position[fit$input$back > 0L] + 1L, dim(p)[3L])
  k <- dim(p)[1L]
  matrix(matrix(p, k * k) %*% (share / sum(share)), k, dimnames = dimnames(p)[1:2])
}
