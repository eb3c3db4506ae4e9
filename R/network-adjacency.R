# Networks given as a square matrix, dense or sparse, with one row and one column per node.

links_of_adjacency <- function(x, nodes, directed, call, arg, weights = NULL) {
  no_nodes_argument(nodes, "an adjacency matrix", call)
  if (nrow(x) != ncol(x)) {
    abort("network", c(
      "{.arg {arg}}, an adjacency matrix, must be square, not {nrow(x)} x {ncol(x)}.",
      i = "A two-mode (bipartite) network has no model here: {.fn bnp_mixture} or {.fn bnp_topics} cluster its rows by
           what they are linked to; a data frame of its links is taken as an ordinary network."
    ), call = call)
  }
  if (is.matrix(x) && !is.numeric(x) && !is.logical(x)) {
    abort("not_numeric", "{.arg {arg}} must be a matrix of numbers, not {describe(x)}.", call = call)
  }
  if (length(weights) && !is.null(weights[[1L]])) {
    abort("argument", c(
      "The values of a matrix are its weights: {.arg weights} must be left out, or {.code NULL} to ignore them, not
       {describe(weights[[1L]])}."
    ), call = call)
  }
  if (nrow(x) %in% 2:3 && is.null(dimnames(x)) && all(x >= 1 & !is.na(x))) {
    tell_of_network(c(
      "{.arg {arg}}, {nrow(x)} x {ncol(x)}, is taken as an adjacency matrix.",
      i = "A list of links has the column names {.field from} and {.field to}."
    ))
  }
  x <- columns_as_rows(x, arg, call)
  cells <- matrix_cells(x)
  weighted <- if (any(cells$x != 1, na.rm = TRUE)) is.null(weights) else NA
  if (!is.null(weights)) cells$x[!is.na(cells$x)] <- 1
  symmetric <- if (is.matrix(x)) isSymmetric(unname(x), tol = 0) else Matrix::isSymmetric(x, tol = 0, checkDN = FALSE)
  half <- if (!symmetric && !isTRUE(directed)) one_triangle(cells, nrow(x))
  if (is.null(directed) && !is.null(half)) {
    tell_of_network(c(
      "{.arg {arg}} has links in its {attr(half, 'which')} triangle alone, and is taken as an undirected network, each
       pair listed once.",
      i = "{.code directed = TRUE} makes it a directed one."
    ))
  }
  if (isFALSE(directed) && !symmetric && is.null(half)) {
    abort("not_symmetric", c(
      "{.arg {arg}} is not symmetric, and so not undirected.",
      i = "Choose {.code directed = TRUE}, or give {.code x + t(x)} or {.code pmax(x, t(x))}."
    ), call = call)
  }
  directed <- directed %||% !(symmetric || !is.null(half))
  cells <- if (!is.null(half)) half else if (directed) cells else cells[cells$i <= cells$j, ]
  list(
    n = nrow(x), ids = as.character(rownames(x) %||% colnames(x) %||% seq_len(nrow(x))), from = cells$i, to = cells$j,
    value = cells$x, directed = directed, weighted = weighted
  )
}

# Puts the columns into the order of the rows, so that both list the nodes in the same order.
columns_as_rows <- function(x, arg, call) {
  rows <- rownames(x)
  columns <- colnames(x)
  for (names in list(rows, columns)) need_distinct_nodes(names, arg, call)
  if (is.null(rows) || is.null(columns) || identical(rows, columns)) {
    return(x)
  }
  other <- c(setdiff(rows, columns), setdiff(columns, rows))
  if (length(other)) {
    abort("nodes", c(
      "Rows and columns of {.arg {arg}}, an adjacency matrix, must be the same nodes.",
      x = "Not on both sides: {places(dQuote(other, FALSE))}.",
      i = "Of a two-mode (bipartite) network {.fn bnp_mixture} or {.fn bnp_topics} cluster the rows."
    ), call = call)
  }
  x[, rows, drop = FALSE]
}

# The cells of a matrix that stores each pair once, on one side of its diagonal; NULL for other matrices. A
# side that is NA everywhere stores nothing.
one_triangle <- function(cells, n) {
  above <- cells$i < cells$j
  below <- cells$i > cells$j
  pairs <- n * (n - 1) / 2
  blank <- function(side) sum(side) == pairs && all(is.na(cells$x[side])) || !any(side)
  empty <- c(upper = blank(below), lower = blank(above))
  if (sum(empty) != 1L) {
    return(NULL)
  }
  structure(cells[if (empty[["upper"]]) !below else !above, ], which = names(which(empty)))
}

# The cells of a matrix that are not 0: a data frame i, j, x.
matrix_cells <- function(x) {
  if (inherits(x, "Matrix")) {
    cells <- Matrix::summary(as(as(x, "generalMatrix"), "CsparseMatrix"))
    value <- if (is.null(cells$x)) rep(1, nrow(cells)) else as.double(cells$x)
    return(data.frame(i = cells$i, j = cells$j, x = value)[is.na(value) | value != 0, ])
  }
  at <- which(is.na(x) | x != 0, arr.ind = TRUE)
  data.frame(i = unname(at[, 1L]), j = unname(at[, 2L]), x = as.double(x[at]))
}
