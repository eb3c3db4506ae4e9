# A picture of the observations that lie between clusters. The uncertainty of an observation is one minus the
# probability of its most probable cluster.

# The data of the picture: list(kind, points, labels). points: x, y, cluster, uncertainty, the most uncertain
# last. kind: "plane", the points lie where they are drawn with their clusters; "line", value and uncertainty;
# "sorted", rank and uncertainty.
uncertainty_picture <- function(fit, data, call = rlang::caller_env()) {
  own <- if (!is.null(data)) as_newdata(fit, data, call, "data")
  prob <- if (is.null(data)) predict(fit, type = "responsibility") else of_rows(own, state_responsibilities(fit, own))
  prob <- prob[!is.na(prob[, 1L]), , drop = FALSE]
  if (!nrow(prob)) abort("no_rows", "{.arg data} has no rows.", call = call)
  cluster <- max.col(prob, ties.method = "first")
  points <- data.frame(cluster = cluster_ids(fit)[cluster], uncertainty = uncertainty(prob, cluster))
  obs <- fit$model$obs
  placed <- !is.null(data) && obs_facts(obs)$as_series && obs_can(obs, "picture")
  if (placed && fit$input$d > 1L && !is.null(obs_facts(obs)$arrays$cov)) {
    plane <- obs_picture(obs, fit, own)
    points[c("x", "y")] <- plane$points[c("x", "y")]
    picture <- list(kind = "plane", labels = plane$labels)
  } else if (placed && fit$input$d == 1L) {
    points$x <- own$x[, 1L]
    points$y <- points$uncertainty
    picture <- list(kind = "line", labels = c(column_labels(fit), "Uncertainty"))
  } else {
    points$x <- rank(points$uncertainty, ties.method = "first")
    points$y <- points$uncertainty
    picture <- list(kind = "sorted", labels = c("Observations by uncertainty", "Uncertainty"))
  }
  points <- points[stats::complete.cases(points), ] # rows with gaps have no place
  if (!is.null(data)) tell_rows_without_place(own$n, nrow(points))
  c(picture, list(
    points = thinned(points[order(points$uncertainty), ]), k = max(points$cluster), most = 1 - 1 / max(ncol(prob), 2L)
  ))
}

draw_uncertainty <- function(picture, main = "", xlab = picture$labels[1], ylab = picture$labels[2], ...) {
  points <- picture$points
  colour <- cluster_colours(picture$k)
  share <- points$uncertainty / picture$most
  plane <- picture$kind == "plane"
  plan <- state_plan(points$cluster, graphics::par("fin")[2], "Cluster")
  old <- set_margins(c(usual[1:3], plan$width + 0.05))
  on.exit(graphics::par(old))
  graphics::plot(
    points$x, points$y, pch = 16, cex = if (plane) 0.6 + 2 * share else 0.7,
    ylim = if (plane) range(points$y) else c(0, max(0.1, points$y)), main = main, xlab = xlab, ylab = ylab,
    col = grDevices::adjustcolor(colour[points$cluster], if (plane) 0.6 else 1), ...
  )
  if (plane) say_above("The larger, the less certain")
  state_legend(plan, colour, graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches"))
}

gg_uncertainty <- function(picture) {
  points <- picture$points
  points$cluster <- factor(points$cluster, levels = seq_len(picture$k))
  plot <- ggplot2::ggplot(points, ggplot2::aes(.data$x, .data$y, colour = .data$cluster)) +
    gg_states(picture$k, points$cluster, "colour") +
    ggplot2::labs(x = picture$labels[1], y = picture$labels[2], colour = "Cluster", size = "Uncertainty") +
    ggplot2::theme_minimal()
  if (picture$kind == "plane") {
    plot + ggplot2::geom_point(ggplot2::aes(size = .data$uncertainty), alpha = 0.6) +
      ggplot2::scale_size(limits = c(0, picture$most), range = c(0.6, 5), breaks = function(x) pretty(x, 2))
  } else {
    plot + ggplot2::geom_point(size = 1) + ggplot2::expand_limits(y = c(0, 0.1))
  }
}
