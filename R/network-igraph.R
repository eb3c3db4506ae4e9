# Methods that convert fits of networks to communities of package igraph, which need not be installed.

#' Communities for igraph
#'
#' Converts the communities of a fit to igraph's class `communities`, for igraph's functions `membership()`,
#' `modularity()`, `compare()`, `crossing()`, `plot(communities, graph)` and others.
#'
#' @param fit A fit of [bnp_network()].
#' @param graph The igraph that was fitted; needed if the result should have the modularity of the communities. Nodes
#'   then have its names; without it they have those of the fit, or none if these are 1, 2, ...
#' @return An object of igraph's class `communities`, whose algorithm is `"bnp_network"`. A node of several communities
#'   is in the one in which it has the largest membership, as in [fitted()].
#' @details igraph's `membership(fit)` has the community of each node without a conversion, also in
#'   `modularity(graph, membership(fit))` and `plot(graph, vertex.color = membership(fit))`. The [communities()] of this
#'   package takes both fits and igraph's objects, so that it may mask igraph's function. If igraph was attached later,
#'   write `bnpvi::communities(fit)`. `igraph::groups(fit)` returns the same.
#' @seealso [communities()], [bnp_network()]
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' karate <- igraph::make_graph("Zachary")
#' fit <- bnp_network(karate, prior = prior_dp(), control = bnp_control(seed = 1))
#' found <- as_communities(fit, karate)
#' found
#' igraph::membership(fit)
#' igraph::compare(found, igraph::cluster_louvain(karate), "adjusted.rand")
#' @export
as_communities <- function(fit, graph = NULL) {
  check_able(fit, "as_communities")
  rlang::check_installed("igraph", "for its class of communities.")
  out <- list(
    membership = as.double(fit$labels), vcount = as.integer(fit$input$n), algorithm = "bnp_network",
    names = given_ids(fit$input)
  )
  if (!is.null(graph)) {
    if (!inherits(graph, "igraph") || igraph::vcount(graph) != fit$input$n) {
      abort("argument", c(
        "{.arg graph} must be the igraph that was fitted, with {fit$input$n} vertices, not {describe(graph)}."
      ))
    }
    out["names"] <- list(igraph::vertex_attr(graph, "name"))
    out$modularity <- igraph::modularity(graph, out$membership)
  }
  structure(out, class = "communities")
}

# The names of the nodes; NULL if they are 1, 2, ...
given_ids <- function(input) if (!identical(input$ids, as.character(seq_len(input$n)))) input$ids

# igraph's membership() is not generic, but reads the field `membership` of what it is given. A fit has no such
# field: it is made when it is asked for.
#' @export
`$.bnp_network` <- function(x, name) {
  if (name == "membership") {
    stats::setNames(as.double(.subset2(x, "labels")), given_ids(.subset2(x, "input")))
  } else {
    .subset2(x, name)
  }
}

#' @exportS3Method igraph::groups
groups.bnp_network <- function(communities) communities(communities)
