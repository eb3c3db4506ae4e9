# Pictures of trees: roots above, leaves side by side, nodes in the colours of their states.

# The data of a picture of the first trees: a data frame of their nodes with x, depth, parent (its row; NA at
# roots), state, tree.
tree_picture <- function(fit, max_trees, call = rlang::caller_env()) {
  if (!has_trees(fit$input)) {
    abort("argument", c(
      "{.code type = \"tree\"} is for fits of trees.", i = "Sequences have {.code type = \"segments\"}."
    ), call = call)
  }
  max_trees <- check_count(max_trees, "max_sequences", call = call)
  input <- fit$input
  shown <- min(max_trees, length(input$starts) - 1L)
  n <- input$starts[shown + 1L]
  place <- tree_layout(input$back[seq_len(n)])
  nodes <- data.frame(
    x = place$x, depth = place$depth, parent = place$parent,
    state = cluster_ids(fit)[fit$labels[seq_len(n)]],
    tree = rep(input$group_names[seq_len(shown)], diff(input$starts[seq_len(shown + 1L)]))
  )
  list(nodes = nodes, k = max(nodes$state, fit$state$k), n_trees = length(input$starts) - 1L, shown = shown)
}

# Horizontal positions of the nodes of a tree: leaves are at 1, 2, ... in order, other nodes at the middle of
# their children.
tree_layout <- function(back) {
  n <- length(back)
  node <- seq_len(n)
  parent <- ifelse(back == 0L, NA_integer_, node - back)
  is_leaf <- !node %in% parent
  depth <- integer(n)
  for (t in node[back > 0L]) depth[t] <- depth[parent[t]] + 1L
  x <- numeric(n)
  x[is_leaf] <- seq_len(sum(is_leaf))
  low <- ifelse(is_leaf, x, Inf)
  high <- ifelse(is_leaf, x, -Inf)
  for (t in rev(node)) {
    x[t] <- (low[t] + high[t]) / 2
    p <- parent[t]
    if (is.na(p)) next
    low[p] <- min(low[p], x[t])
    high[p] <- max(high[p], x[t])
  }
  list(x = x, depth = depth, parent = parent)
}

# The size of points in a picture of n nodes, smaller if there are many: a guess at what can still be told
# apart.
point_size <- function(n) max(0.25, min(1.6, 25 / sqrt(n)))

draw_tree <- function(picture, main = "", xlab = "", ylab = "Depth", ...) {
  nodes <- picture$nodes
  plan <- state_plan(nodes$state, graphics::par("fin")[2])
  old <- set_margins(c(0.3, 0.75, 0.4, plan$width), xpd = NA)
  on.exit(graphics::par(old))
  colour <- cluster_colours(picture$k)
  deepest <- max(nodes$depth)
  graphics::plot(
    nodes$x, nodes$depth, type = "n", ylim = c(deepest + 0.3, -0.3), xaxt = "n", yaxt = "n", bty = "n", main = main,
    xlab = xlab, ylab = ylab, ...
  )
  at <- pretty(c(0, deepest))
  graphics::axis(2L, at[at == round(at) & at <= deepest], las = 1)
  with <- which(!is.na(nodes$parent))
  up <- nodes[nodes$parent[with], ]
  graphics::segments(nodes$x[with], nodes$depth[with], up$x, up$depth, col = "grey60", lwd = 0.7)
  graphics::points(nodes$x, nodes$depth, pch = 19, col = colour[nodes$state], cex = point_size(nrow(nodes)))
  say_above(shown_of(picture$shown, picture$n_trees, "tree"))
  state_legend(plan, colour, graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches"))
}

gg_tree <- function(picture) {
  nodes <- picture$nodes
  edges <- nodes[!is.na(nodes$parent), ]
  edges$x_up <- nodes$x[edges$parent]
  edges$depth_up <- nodes$depth[edges$parent]
  nodes$state <- factor(nodes$state, levels = seq_len(picture$k))
  ggplot2::ggplot(nodes) +
    ggplot2::geom_segment(
      ggplot2::aes(.data$x, .data$depth, xend = .data$x_up, yend = .data$depth_up), data = edges, colour = "grey60",
      linewidth = 0.3
    ) +
    ggplot2::geom_point(
      ggplot2::aes(.data$x, .data$depth, colour = .data$state), size = 1.5 * point_size(nrow(nodes))
    ) +
    ggplot2::scale_y_reverse(breaks = function(range) unique(round(pretty(range)))) +
    gg_states(picture$k, picture$nodes$state, "colour") +
    ggplot2::labs(
      x = NULL, y = "Depth", colour = "State", caption = shown_of(picture$shown, picture$n_trees, "tree")
    ) +
    ggplot2::theme_minimal() +
    ggplot2::theme(
      axis.text.x = ggplot2::element_blank(), panel.grid.major.x = ggplot2::element_blank(),
      panel.grid.minor = ggplot2::element_blank()
    )
}
