#' Plot a network's communities
#'
#' @param x A fit of [bnp_network()].
#' @param type What is drawn:
#'   * `"blocks"`: the probabilities of links within and between communities (for counts their expected numbers), as a
#'     square whose sides are divided in proportion to the numbers of nodes, see [coef()][communities()];
#'   * `"matrix"`, the default if `network` is given: the adjacency matrix with nodes in the order of communities, and
#'     lines between these;
#'   * `"membership"`: memberships of every node as stacked bars;
#'   * `"graph"`: the network in a layout of igraph, nodes coloured by community, as pies if they are in several; not
#'     with `autoplot()`;
#'   * `"elbo"`: the bound, lap by lap.
#' @param network The network that was fitted, for `"matrix"` and `"graph"`. It may be the second argument, as in
#'   `plot(fit, x)`, which draws the graph.
#' @param object A fit of [bnp_network()], as `x`.
#' @param ... Further arguments of [graphics::plot()]; none for `autoplot()`.
#' @return `plot()`: `x`, invisibly. `autoplot()`: a ggplot.
#' @inheritSection plot.bnp_mixture Many rows
#' @seealso [communities()]
#' @references
#' Csardi, G. and Nepusz, T. (2006). The igraph software package for complex network research. *InterJournal, Complex
#' Systems* 1695.
#' @examples
#' x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
#' fit <- bnp_network(x, prior = prior_dp(), control = bnp_control(seed = 1))
#' plot(fit)
#' plot(fit, network = x)
#' plot(fit, "membership")
#' @export
plot.bnp_network <- function(x, type = c("blocks", "matrix", "membership", "graph", "elbo"), network = NULL, ...) {
  check_format(x)
  if (!missing(type) && !is.character(type) && is.null(network)) { # plot(fit, graph), as plot(fit, table) of mixtures
    network <- type
    type <- "graph"
  } else if (missing(type) && !is.null(network)) {
    type <- "matrix"
  }
  type <- check_choice(type, eval(formals()$type), "type")
  # For graphs, graphical parameters of igraph's plot() are accepted, too.
  check_drawing(..., .also = if (type == "graph") "^(vertex|edge|mark|layout|rescale|margin|label)" else "^$")
  switch(type,
    blocks = draw_blocks(x, ...),
    matrix = draw_adjacency(x, plotted_network(x, network, type), ...),
    membership = draw_memberships(x, ...),
    graph = draw_graph(x, plotted_network(x, network, type), ...),
    elbo = draw_trace(trace_picture(x), ...)
  )
  invisible(x)
}

plotted_network <- function(fit, network, type, call = rlang::caller_env()) {
  if (is.null(network)) {
    abort("argument", c(
      "{.arg network} must be the network that was fitted.",
      i = "The fit of a network keeps no data: {.code plot(fit, \"{type}\", network = x)}."
    ), call = call)
  }
  listed <- is.data.frame(network) || is.matrix(network) && lists_links(network)
  data <- suppressMessages(as_network(
    network, if (listed) fit$input$ids, fit$input$directed, NULL, call, "network", weights = list(NULL)
  ))
  if (!identical(data$ids, fit$input$ids)) {
    abort("nodes", "{.arg network} must have the nodes of the network that was fitted, in the same order.", call = call)
  }
  # Pairs that were hidden from the fit may have links in the data: nodes then have more links than in the
  # fit.
  more <- tabulate(c(data$from, data$to), data$n) - fit$input$degree
  if (any(more < 0L) || sum(more) > 2 * fit$input$hidden) {
    tell_of_network(
      "{.arg network} has other links than the network that was fitted: these are drawn, in the communities of the fit."
    )
  }
  data
}

# The order in which nodes are drawn: by community and, within each, by decreasing probability.
node_order <- function(fit) order(fit$labels, -fit$prob[cbind(seq_along(fit$labels), fit$labels)])

# The links that are drawn: list(from, to) has the positions of their nodes in the order of node_order().
drawn_links <- function(fit, data) {
  place <- order(node_order(fit))
  drawn <- drawn_of(fit$labels[data$from], "link")
  list(from = place[data$from[drawn]], to = place[data$to[drawn]])
}

draw_adjacency <- function(fit, data, main = "", xlab = "To nodes, by community", ylab = "From nodes, by community",
                           ...) {
  n <- data$n
  links <- drawn_links(fit, data)
  from <- links$from
  to <- links$to
  both <- if (data$directed) list(from, to) else list(c(from, to), c(to, from))
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(
    c(0.5, n + 0.5), c(0.5, n + 0.5), type = "n", axes = FALSE, asp = 1, main = main, xlab = xlab, ylab = ylab,
    xaxs = "i", yaxs = "i", ylim = c(n + 0.5, 0.5), ...
  )
  ends <- cumsum(tabulate(fit$labels, fit$state$k)) + 0.5
  colour <- cluster_colours(fit$state$k)
  begin <- c(0.5, ends[-length(ends)])
  graphics::rect(begin, begin, ends, ends, col = grDevices::adjustcolor(colour, 0.15), border = NA)
  graphics::rect(both[[2L]] - 0.5, both[[1L]] - 0.5, both[[2L]] + 0.5, both[[1L]] + 0.5, col = "black", border = NA)
  graphics::segments(ends, 0.5, ends, n + 0.5, col = "grey60")
  graphics::segments(0.5, ends, n + 0.5, ends, col = "grey60")
  number_communities((begin + ends) / 2)
  graphics::rect(0.5, 0.5, n + 0.5, n + 0.5)
}

# The memberships of the nodes that are drawn, sorted by community.
drawn_memberships <- function(fit) {
  order <- node_order(fit)
  unname(fit$prob[order[drawn_of(fit$labels[order], "node")], , drop = FALSE])
}

draw_memberships <- function(fit, main = "", xlab = "Nodes, by community", ylab = "Membership", ...) {
  plan <- state_plan(seq_len(fit$state$k), graphics::par("fin")[2], "Community")
  old <- set_margins(c(usual[1:3], plan$width))
  on.exit(graphics::par(old))
  graphics::barplot(
    t(drawn_memberships(fit)), col = cluster_colours(fit$state$k), border = NA, space = 0,
    main = main, xlab = xlab, ylab = ylab, ...
  )
  state_legend(
    plan, cluster_colours(fit$state$k), graphics::grconvertX(1, "nfc", "inches"),
    graphics::grconvertY(0.95, "nfc", "inches")
  )
}

draw_graph <- function(fit, data, ...) {
  rlang::check_installed("igraph", "to lay out a network.")
  graph <- igraph::make_empty_graph(data$n, directed = data$directed)
  graph <- igraph::add_edges(graph, rbind(data$from, data$to))
  colour <- cluster_colours(fit$state$k)
  mixed <- apply(fit$prob, 1L, max) < 0.9
  room <- graphics::par("din")
  plan <- if (fit$state$k > 1L) state_plan(seq_len(fit$state$k), graphics::par("fin")[2], "Community")
  before <- graphics::par(mar = c(0.5, 0.5, if (is.null(list(...)$main)) 0.5 else 2, 0.5))
  on.exit(graphics::par(before))
  if (!is.null(plan)) graphics::par(mai = replace(graphics::par("mai"), 4L, plan$width))
  igraph::plot.igraph(
    graph, vertex.shape = ifelse(mixed, "pie", "circle"), vertex.color = colour[fit$labels],
    vertex.pie = lapply(seq_len(data$n), function(i) unname(fit$prob[i, ])), vertex.pie.color = list(colour),
    vertex.size = if (data$n > 200L) 3 else 8, vertex.label = if (data$n > 60L) NA else fit$input$ids,
    vertex.label.cex = 0.7 * min(1, room / 5), vertex.label.color = "black", edge.arrow.size = 0.3, ...
  )
  if (!is.null(plan)) {
    state_legend(
      plan, colour, graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches")
    )
  }
}

#' @rdname plot.bnp_network
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_network <- function(object, type = c("blocks", "matrix", "membership", "elbo"), network = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  check_format(object)
  if (missing(type) && !is.null(network)) type <- "matrix"
  type <- check_choice(type, eval(formals()$type), "type")
  switch(type,
    blocks = gg_blocks(object),
    matrix = gg_adjacency(object, plotted_network(object, network, type)),
    membership = gg_memberships(object),
    elbo = gg_trace(trace_picture(object))
  )
}

gg_adjacency <- function(fit, data) {
  k <- fit$state$k
  ends <- cumsum(tabulate(fit$labels, k)) + 0.5
  blocks <- data.frame(begin = c(0.5, ends[-k]), end = ends, cluster = factor(seq_len(k)))
  links <- as.data.frame(drawn_links(fit, data))
  if (!data$directed) links <- rbind(links, data.frame(from = links$to, to = links$from))
  ggplot2::ggplot(links) +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$begin, xmax = .data$end, ymin = .data$begin, ymax = .data$end, fill = .data$cluster),
      data = blocks, alpha = 0.3
    ) +
    ggplot2::geom_tile(ggplot2::aes(.data$to, .data$from)) +
    gg_clusters(k, "fill") +
    ggplot2::scale_y_reverse() +
    ggplot2::coord_fixed(expand = FALSE) +
    ggplot2::labs(x = "Nodes, by community", y = "Nodes, by community") +
    ggplot2::theme_minimal()
}

gg_memberships <- function(fit) {
  k <- fit$state$k
  shares <- drawn_memberships(fit)
  bars <- data.frame(
    node = as.vector(row(shares)), cluster = factor(as.vector(col(shares)), levels = seq_len(k)),
    share = as.vector(shares)
  )
  ggplot2::ggplot(bars, ggplot2::aes(.data$node, .data$share, fill = .data$cluster)) +
    ggplot2::geom_col(width = 1) +
    gg_clusters(k, "fill") +
    ggplot2::labs(x = "Nodes, by community", y = "Membership") +
    ggplot2::theme_minimal()
}
