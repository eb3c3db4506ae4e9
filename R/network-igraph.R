# Methods that give communities to igraph, which need not be installed.

#' Communities for igraph
#'
#' Makes igraph's object of communities of a fit, for everything that igraph does with those: `membership()`,
#' `modularity()`, `compare()`, `crossing()`, `plot(communities, graph)`.
#'
#' @param fit A fit of [bnp_network()].
#' @param graph The igraph that was fitted, if the modularity of the communities is wanted, too. Nodes have its names;
#'   without it those of the fit, or none where they are 1, 2, ...
#' @return An object of igraph's class `communities`, whose algorithm is `"bnp_network"`. A node of several communities
#'   is in the one that it is most in, as in [fitted()].
#' @details igraph's functions `membership()` and `communities()` are no generics and take igraph's objects alone. The
#'   [communities()] of this package takes both, so that it does not matter that it masks igraph's; where igraph was
#'   attached later, write `bnpvi::communities(fit)`. `igraph::groups(fit)` is the same.
#' @seealso [communities()], [bnp_network()]
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' karate <- igraph::make_graph("Zachary")
#' fit <- bnp_network(karate, prior = prior_dp(), control = bnp_control(seed = 1))
#' found <- as_communities(fit, karate)
#' found
#' igraph::membership(found)
#' igraph::compare(found, igraph::cluster_louvain(karate), "adjusted.rand")
#' @export
as_communities <- function(fit, graph = NULL) {
  check_able(fit, "as_communities")
  rlang::check_installed("igraph", "for its class of communities.")
  out <- list(
    membership = as.double(fit$labels), vcount = as.integer(fit$input$n), algorithm = "bnp_network",
    names = if (!identical(fit$input$ids, as.character(seq_len(fit$input$n)))) fit$input$ids
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

#' @exportS3Method igraph::groups
groups.bnp_network <- function(communities) communities(communities)
