
gg_clusters <- function(k, aesthetics) {
  ggplot2::scale_colour_manual(
    values = stats::setNames(cluster_colours(k), seq_len(k)), aesthetics = aesthetics, guide = "none"
  )
}

gg_curve <- function(picture) {
  parts <- picture$parts
  k <- max(parts$cluster)
  parts$cluster <- factor(parts$cluster, levels = seq_len(k))
  bars <- if (!is.null(picture$values)) {
    h <- histogram_of(picture$values)
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = 0, ymax = .data$density),
      data = data.frame(left = utils::head(h$breaks, -1L), right = h$breaks[-1L], density = h$density),
      inherit.aes = FALSE, fill = "grey90", colour = "white"
    )
  }
  ggplot2::ggplot(parts, ggplot2::aes(.data$x, .data$density)) +
    bars +
    ggplot2::geom_area(ggplot2::aes(fill = .data$cluster, colour = .data$cluster), alpha = 0.3, position = "identity") +
    ggplot2::geom_line(data = picture$total, linewidth = 0.8) +
    gg_clusters(k, c("colour", "fill")) +
    ggplot2::labs(x = picture$label, y = "Density") +
    ggplot2::theme_minimal()
}

gg_plane <- function(picture) {
  k <- max(picture$rings$cluster)
  as_cluster <- function(x) {
    if (!is.null(x)) x$cluster <- factor(x$cluster, levels = seq_len(k))
    x
  }
  # Space that the label of a cluster takes, in units of v: about a twentieth of the width of a small picture.
  reach <- function(v) 0.05 * diff(range(v))
  numbered <- apart(picture$centres$x, picture$centres$y, reach(picture$rings$x), reach(picture$rings$y))
  centres <- picture$centres[numbered, ]
  points <- if (!is.null(picture$points)) {
    ggplot2::geom_point(data = as_cluster(picture$points), alpha = 0.5, size = 1)
  }
  ggplot2::ggplot(as_cluster(picture$rings), ggplot2::aes(.data$x, .data$y, colour = .data$cluster)) +
    points +
    ggplot2::geom_path(linewidth = 0.8) +
    ggplot2::geom_label(ggplot2::aes(label = .data$cluster), data = as_cluster(centres), size = 3, colour = "black") +
    gg_clusters(k, "colour") +
    ggplot2::labs(
      x = picture$labels[1], y = picture$labels[2],
      caption = if (!all(numbered)) paste(sum(numbered), "of", length(numbered), "clusters are numbered")
    ) +
    ggplot2::theme_minimal()
}

gg_surface <- function(picture) {
  grid <- expand.grid(x = picture$x, y = picture$y)
  grid$density <- as.double(picture$density)
  points <- if (!is.null(picture$points)) {
    ggplot2::geom_point(ggplot2::aes(.data$x, .data$y), data = picture$points, size = 0.5)
  }
  ggplot2::ggplot(grid, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_raster(ggplot2::aes(fill = .data$density), interpolate = TRUE) +
    points +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(40L, "YlGnBu", rev = TRUE), trans = "sqrt") +
    ggplot2::labs(x = picture$labels[1], y = picture$labels[2], fill = "Density") +
    ggplot2::theme_minimal()
}

gg_heat <- function(picture) {
  value <- picture$value
  long <- data.frame(
    column = factor(rep(colnames(value), each = nrow(value)), levels = colnames(value)),
    cluster = factor(rep(picture$cluster, ncol(value)), levels = rev(picture$cluster)),
    shown = as.double(value)
  )
  ggplot2::ggplot(long, ggplot2::aes(.data$column, .data$cluster, fill = .data$shown)) +
    ggplot2::geom_tile() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE)) +
    ggplot2::scale_x_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE, angle = 90)) +
    ggplot2::scale_y_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(x = NULL, y = "Cluster", fill = gsub(" (?=relative|to )", "\n", picture$label, perl = TRUE)) +
    ggplot2::theme_minimal()
}

gg_trace <- function(picture) {
  shown <- range(picture$trace$elbo[seq_along(picture$trace$elbo) >= picture$from])
  shown <- shown - c(0.12, -0.05) * max(diff(shown), abs(shown[1]) * 1e-8)
  ggplot2::ggplot(picture$trace, ggplot2::aes(.data$lap, .data$elbo)) +
    ggplot2::geom_line(colour = "grey40") +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$k), data = picture$labels[rev(seq_len(nrow(picture$labels))), ], vjust = 1.8, size = 3,
      check_overlap = TRUE
    ) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$move, fill = .data$move), data = picture$marks, size = 2.5) +
    ggplot2::scale_shape_manual(values = picture$shapes) +
    ggplot2::scale_fill_manual(values = stats::setNames(cluster_colours(3L), names(picture$shapes))) +
    ggplot2::coord_cartesian(ylim = shown, expand = TRUE) +
    ggplot2::labs(x = "Lap", y = picture$scale, shape = "Accepted", fill = "Accepted", caption = picture$note) +
    ggplot2::theme_minimal()
}
