#' Pictures of a mixture
#'
#' `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A fit of [bnp_mixture()].
#' @param type What is drawn:
#'   * `"clusters"`: Gaussian clusters as curves (one column), as ellipses that hold 90 % of a cluster (two columns) or
#'     as ellipses in the plane of the first two principal components (more), of clusters of a single row only the
#'     centre; counts and binary data as a heat map of the columns that distinguish the clusters best (rates relative to
#'     their average), a single column of counts or waiting times as `"density"`; data frames with columns of levels as
#'     `"profile"`; clusters that drift as `"trajectories"`. Not for autoregressions.
#'   * `"density"`: for one or two Gaussian columns the predictive density. Otherwise a panel for each column that has a
#'     density of its own: the clusters' densities at their posterior means, times their shares, their sum (dashed) and,
#'     with `data`, the histogram; a probability of 0 beside a density (`zeros = TRUE`) is written in the corner.
#'   * `"elbo"`: the bound by lap, with the accepted moves.
#'   * `"uncertainty"`: one minus the probability of each observation's cluster, as the size of its point (Gaussian
#'     clusters of several columns), against the value (one column), or in increasing order.
#'   * `"profile"`: a panel for each column. For numbers it has each cluster's mean and one standard deviation to either
#'     side, in standard deviations of all data from their mean (those of single rows are very wide, and cut where they
#'     are three away from all means); for levels their probabilities as stacked bars (more than twelve columns of two
#'     levels: one heat map). Panels are ordered by how well columns distinguish the
#'     clusters: the number above each is the expected log Bayes factor (nats) of a value of this column for its own
#'     cluster against all of them, under the fitted clusters.
#'   * `"score"`, for truncation-free learning ([bnp_stream()]): how well each batch was predicted before it was learned
#'     from, and the number of clusters.
#'   * `"trajectories"`: for clusters that drift, the means of each column (of at most six) over the times at which
#'     clusters are alive ([trajectories()]), as lines whose width shows the size of clusters, with one standard
#'     deviation to either side. For fits with random effects, the individuals' lines in the colour of their cluster
#'     (with `data`, at most 500 of them), the mean of each cluster and the band that has the means of 90 % of its
#'     individuals.
#' @param data Observations to draw, usually the training data, which may also be the second argument:
#'   `plot(fit, faithful)`. Not needed if the fit keeps its data ([strip_data()]).
#' @param ... For `plot()`, graphical parameters like `main`; else empty.
#' @return `plot()`: the fit, invisibly. `autoplot()`: a ggplot.
#' @section Many rows: If there are more than 100,000 rows, about 20,000 of them are drawn, and a message says so. Each
#'   cluster has the same share of its rows drawn, at equal distances in their order, but at least 100 rows. In networks
#'   as many links and nodes are drawn. For the rows of sequences, the smallest and the largest value in each of 20,000
#'   stretches are drawn, so that lines look as with all rows. Histograms and densities are computed from all rows.
#' @references
#' Okabe, M. and Ito, K. (2008). *Color universal design: how to make figures and presentations
#' that are friendly to colorblind people*. <https://jfly.uni-koeln.de/color/>; the colours.
#' @seealso [bnp_mixture()], [tidiers] for tables to draw from; `vignette("getting-started")`.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' plot(fit, data = faithful)
#' plot(fit, "elbo")
#' @export
plot.bnp_mixture <- function(x, type = c(
                               "clusters", "density", "elbo", "uncertainty", "profile", "score", "trajectories"
                             ), data = NULL, ...) {
  check_drawing(...)
  if (is_table(type)) {
    data <- type
    type <- "clusters"
  }
  type <- mixture_plot_type(x, type)
  data <- data %||% kept_data(x)
  picture <- switch(type,
    clusters = cluster_picture(x, data),
    density = density_picture(x, data),
    uncertainty = uncertainty_picture(x, data),
    profile = profile_picture(x),
    score = score_picture(x),
    trajectories = if (has_effects(x$model$obs)) individual_picture(x, data) else trajectory_picture(x, data),
    elbo = NULL
  )
  if (type == "score") {
    draw_score(picture, ...)
  } else if (type == "trajectories") {
    if (has_effects(x$model$obs)) draw_individuals(picture, ...) else draw_trajectories(picture, ...)
  } else if (type == "elbo") {
    draw_trace(trace_picture(x), ...)
  } else if (type == "uncertainty") {
    draw_uncertainty(picture, ...)
  } else {
    switch(picture$kind,
      curve = draw_curve(picture, ...),
      plane = draw_plane(picture, ...),
      surface = draw_surface(picture, ...),
      heat = draw_heat(picture, ...),
      profile = draw_profile(picture, ...),
      densities = draw_densities(picture, ...)
    )
  }
  invisible(x)
}

# The type of picture. By default clusters that drift are drawn over time, others where they lie.
mixture_plot_type <- function(fit, type, call = rlang::caller_env()) {
  types <- c("clusters", "density", "elbo", "uncertainty", "profile", "score", "trajectories")
  type <- check_choice(type, types, "type", call)
  if (type == "clusters" && has_drift(check_format(fit, call)$model$obs)) "trajectories" else type
}

draw_curve <- function(picture, main = "", xlab = picture$label, ylab = "Density", ...) {
  colour <- cluster_colours(max(picture$parts$cluster))
  bars <- if (!is.null(picture$values)) {
    histogram_of(picture$values)
  }
  top <- max(picture$total$density, bars$density)
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(range(picture$total$x), c(0, top), type = "n", main = main, xlab = xlab, ylab = ylab, ...)
  if (!is.null(bars)) {
    graphics::plot(bars, freq = FALSE, add = TRUE, col = "grey90", border = "white")
  }
  for (part in split(picture$parts, picture$parts$cluster)) {
    k <- part$cluster[1]
    graphics::polygon(
      c(part$x, rev(range(part$x))), c(part$density, 0, 0),
      col = grDevices::adjustcolor(colour[k], 0.25), border = NA
    )
    graphics::lines(part$x, part$density, col = colour[k], lwd = 2)
  }
  graphics::lines(picture$total$x, picture$total$density, lwd = 2)
}

draw_plane <- function(picture, main = "", xlab = picture$labels[1], ylab = picture$labels[2], ...) {
  reach <- rbind(picture$rings[c("x", "y")], picture$points[c("x", "y")])
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(reach, type = "n", main = main, xlab = xlab, ylab = ylab, ...)
  draw_clusters(picture)
}

draw_clusters <- function(picture) {
  colour <- cluster_colours(max(picture$rings$cluster))
  points <- picture$points
  if (!is.null(points)) {
    graphics::points(
      points$x, points$y, pch = 16, cex = if (nrow(points) > 1000L) 0.45 else 0.7,
      col = grDevices::adjustcolor(colour[points$cluster], 0.5)
    )
  }
  for (ring in split(picture$rings, picture$rings$cluster)) {
    graphics::lines(ring$x, ring$y, col = colour[ring$cluster[1]], lwd = 2)
  }
  # Where the numbers of clusters would overlap, only the larger clusters are numbered.
  centres <- picture$centres
  size <- text_size("000", 1)
  numbered <- apart(centres$x, centres$y, size[1], 2 * size[2])
  graphics::points(
    centres$x[!numbered], centres$y[!numbered], pch = 21, bg = "white", col = colour[centres$cluster[!numbered]],
    lwd = 2
  )
  centres <- centres[numbered, ]
  graphics::points(centres$x, centres$y, pch = 21, bg = "white", col = colour[centres$cluster], cex = 2.6, lwd = 2)
  graphics::text(centres$x, centres$y, centres$cluster, cex = 0.8, font = 2)
  if (!all(numbered)) say_above(paste(sum(numbered), "of", length(numbered), "clusters are numbered"))
}

draw_surface <- function(picture, main = "", xlab = picture$labels[1], ylab = picture$labels[2], ...) {
  shades <- grDevices::hcl.colors(40L, "YlGnBu", rev = TRUE)
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::image(
    picture$x, picture$y, sqrt(picture$density), col = shades, main = main, xlab = xlab, ylab = ylab, ...
  )
  graphics::contour(picture$x, picture$y, sqrt(picture$density), add = TRUE, drawlabels = FALSE, col = "grey40")
  if (!is.null(picture$points)) {
    graphics::points(picture$points$x, picture$points$y, pch = 16, cex = 0.4)
  }
  graphics::box()
}

draw_heat <- function(picture, main = "", xlab = "", ylab = "Cluster", ...) {
  value <- picture$value
  scale <- paste0(picture$label, " from 0 (white) to ", signif(max(value), 2), " (dark)")
  rows <- rev(seq_len(nrow(value)))
  longest <- max(graphics::strwidth(colnames(value), units = "inches", cex = 0.7))
  old <- set_margins(pmax(usual, c(longest + 0.35, 0, 0, 0)))
  on.exit(graphics::par(old))
  graphics::image(
    seq_len(ncol(value)), seq_len(nrow(value)), t(value[rows, , drop = FALSE]),
    col = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), axes = FALSE, main = main, xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(1L, seq_len(ncol(value)), colnames(value), las = 2, cex.axis = 0.7, tick = FALSE, line = -0.2)
  graphics::axis(2L, seq_len(nrow(value)), picture$cluster[rows], las = 1, tick = FALSE)
  say_above(scale)
  graphics::box()
}

draw_trace <- function(picture, main = "", xlab = "Lap", ylab = picture$scale, ...) {
  trace <- picture$trace
  shown <- range(trace$elbo[seq_along(trace$elbo) >= picture$from])
  if (diff(shown) == 0) shown <- shown + c(-0.5, 0.5) * max(1e-8, abs(shown[1]) * 1e-8)
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(
    trace$lap, trace$elbo, type = "l", ylim = shown - c(0.12, 0) * diff(shown), main = main, xlab = xlab, ylab = ylab,
    col = "grey40", lwd = 2, ...
  )
  say_above(picture$note)
  colour <- cluster_colours(3L)
  kinds <- names(picture$shapes)
  marks <- picture$marks
  at <- match(marks$move, kinds)
  graphics::points(marks$lap, marks$elbo, pch = picture$shapes[at], bg = colour[at], cex = 1.2)
  used <- kinds %in% marks$move
  key <- graphics::legend(
    "bottomright", legend = c(kinds[used], "number: clusters"), pch = c(picture$shapes[used], NA),
    pt.bg = c(colour[used], NA), bty = "n", cex = 0.8
  )
  draw_k(picture$labels, key$rect)
}

# Writes the number of clusters below the curve of the bound at laps (passes over the data) where it changes,
# unless it would overlap an earlier number or the legend.
draw_k <- function(labels, key) {
  size <- text_size(labels$k, 0.8)
  y <- labels$elbo - 1.6 * size[2]
  free <- !(labels$lap + size[1] > key$left & y - size[2] < key$top)
  order <- rev(seq_along(y))
  kept <- rep(FALSE, length(y))
  kept[order] <- apart(labels$lap[order], y[order], 1.2 * size[1], 1.4 * size[2])
  kept <- kept & free
  if (any(kept)) graphics::text(labels$lap[kept], y[kept], labels$k[kept], cex = 0.8)
}

#' @rdname plot.bnp_mixture
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_mixture <- function(object, type = c(
                                   "clusters", "density", "elbo", "uncertainty", "profile", "score", "trajectories"
                                 ), data = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  if (is_table(type)) {
    data <- type
    type <- "clusters"
  }
  type <- mixture_plot_type(object, type)
  data <- data %||% kept_data(object)
  if (type == "elbo") {
    return(gg_trace(trace_picture(object)))
  }
  if (type == "score") {
    return(gg_score(score_picture(object)))
  }
  if (type == "trajectories") {
    return(if (has_effects(object$model$obs)) gg_individuals(individual_picture(object, data)) else
      gg_trajectories(trajectory_picture(object, data)))
  }
  if (type == "uncertainty") {
    return(gg_uncertainty(uncertainty_picture(object, data)))
  }
  picture <- switch(type,
    clusters = cluster_picture(object, data), density = density_picture(object, data), profile = profile_picture(object)
  )
  switch(picture$kind,
    curve = gg_curve(picture),
    plane = gg_plane(picture),
    surface = gg_surface(picture),
    heat = gg_heat(picture),
    profile = gg_profile(picture),
    densities = gg_densities(picture)
  )
}
