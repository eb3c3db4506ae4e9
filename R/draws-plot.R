#' Plot draws
#'
#' @param x Draws of [bnp_sample()].
#' @param type What is drawn:
#'   * `"trace"`: the numbers that are recorded for each draw, chain by chain.
#'   * `"k"`: the probability of each number of clusters, separately for chains that began with the fit and without it,
#'     and the number in the fit.
#'   * `"coclustering"`: how often pairs of observations are together, ordered by the clusters of [point_partition()];
#'     for topic models, how often words of two documents have the same topic.
#'   * `"partition"`: the sizes of the clusters of the point partition, and how certain they are: the mean share of
#'     draws in which two rows of a cluster are together.
#' @param rows Which observations `"coclustering"` shows; default: at most 300, at equal distances.
#' @param ... Passed on to [graphics::plot()], [graphics::barplot()] or [graphics::image()].
#' @return `x`, invisibly.
#' @seealso [bnp_sample()].
#' @examples
#' draws <- bnp_sample(faithful, draws = 200, seed = 1)
#' plot(draws, "k")
#' plot(draws, "coclustering")
#' @export
plot.bnp_draws <- function(x, type = c("trace", "k", "coclustering", "partition"), rows = NULL, ...) {
  check_drawing(...)
  check_object(x)
  type <- check_choice(type, c("trace", "k", "coclustering", "partition"), "type")
  switch(type,
    trace = plot_traces(x, ...), k = plot_number(x, ...), coclustering = plot_pairs(x, rows, ...),
    partition = plot_partition(x, ...)
  )
  invisible(x)
}

plot_traces <- function(x, ...) {
  drawn <- drawn_concentrations(x)
  names <- c("n_clusters", "largest", "log_joint", if (length(drawn)) drawn else "entropy")
  titles <- c(
    n_clusters = word_for_clusters(x), largest = "Size of the largest", log_joint = "Log joint probability",
    concentration = "Concentration", gamma = "gamma", alpha = "alpha", start = "start", sticky = "sticky",
    entropy = "Entropy of sizes"
  )
  colour <- cluster_colours(dim(x$trace)[2L])
  draw_grid(titles[names], length(names), "trace", "Draw", function(title) {
    name <- names(titles)[match(title, titles)]
    graphics::matplot(
      trace_of(x, name), type = "l", lty = 1, col = grDevices::adjustcolor(colour, 0.7), xlab = "", ylab = "", ...
    )
  })
}

plot_number <- function(x, main = "", xlab = word_for_clusters(x), ylab = "Share of draws", ...) {
  k <- trace_of(x, "n_clusters")
  from_fit <- seq_len(ncol(k)) %% 2L == 1L
  values <- seq(min(k, n_clusters(x$fit)), max(k, n_clusters(x$fit)))
  share <- function(chains) if (any(chains)) tabulate(match(k[, chains], values), length(values)) / length(k[, chains])
  heights <- rbind(fit = share(from_fit), sequence = share(!from_fit))
  colour <- cluster_colours(2L)[seq_len(nrow(heights))]
  old <- set_margins(c(0.8, 0.8, 0.7, 0.1))
  on.exit(graphics::par(old))
  at <- graphics::barplot(
    heights, beside = TRUE, names.arg = values, col = colour, border = NA, main = main, xlab = xlab, ylab = ylab, ...
  )
  graphics::points(mean(at[, match(n_clusters(x$fit), values)]), graphics::par("usr")[4L], pch = 25, bg = 1, xpd = NA)
  say_above("Triangle: the fit. Left bars: chains begun from it; right: without it", 0.6)
}

plot_pairs <- function(x, rows, main = "", xlab = NULL, ylab = "", ...) {
  documents <- row_word(x$fit) == "document"
  xlab <- xlab %||% if (documents) "Documents" else "Observations by cluster"
  n <- if (documents) length(x$fit$input$starts) - 1L else nrow(kept_labels(x))
  rows <- if (is.null(rows)) unique(round(seq(1, n, length.out = min(n, 300L)))) else check_rows(rows, n)
  together <- coclustering(x, rows = rows)
  together[is.na(together)] <- 0
  tree <- stats::hclust(stats::as.dist(1 - together), "average")
  cluster <- if (documents) rep(1L, n)[rows] else best_partition(x)$labels[rows]
  order <- order(cluster, match(seq_along(rows), tree$order))
  old <- set_margins(c(0.7, 0.4, 0.5, 0.1))
  on.exit(graphics::par(old))
  graphics::image(
    seq_along(rows), seq_along(rows), together[order, order], col = grDevices::hcl.colors(64L, "Blues", rev = TRUE),
    zlim = 0:1, axes = FALSE, main = main, xlab = "", ylab = ylab, ...
  )
  graphics::mtext(xlab, 1L, line = 0.8)
  ends <- cumsum(table(cluster[order])) + 0.5
  graphics::abline(h = ends, v = ends, col = "grey70", lwd = 0.5)
  graphics::box()
  say_above(if (documents) {
    "How probably two of their words or rows share a topic: white 0, dark 1"
  } else {
    "Share of draws in which two are together: white 0, dark 1"
  })
}

plot_partition <- function(x, main = "", xlab = NULL, ylab = "Observations", ...) {
  xlab <- xlab %||% paste0(sub("s$", "", word_for_clusters(x)), " of the point partition")
  cluster <- best_partition(x)$labels
  size <- tabulate(cluster)
  sure <- cohesion(kept_labels(x), cluster)
  old <- set_margins(c(0.8, 0.8, 0.5, 0.1))
  on.exit(graphics::par(old))
  colour <- grDevices::hcl.colors(11L, "Blues", rev = TRUE)[1 + round(10 * sure)]
  graphics::barplot(size, names.arg = seq_along(size), col = colour, main = main, xlab = xlab, ylab = ylab, ...)
  say_above("The darker, the more often its observations are together")
}

# For each cluster, how often two of its rows are together: the mean share of draws over pairs of its rows; 1
# for clusters of one row.
cohesion <- function(kept, cluster) {
  vapply(seq_len(max(cluster)), function(a) {
    own <- kept[cluster == a, , drop = FALSE]
    n <- nrow(own)
    if (n < 2L) {
      return(1)
    }
    mean(apply(own, 2L, function(z) sum(choose(tabulate(z), 2)))) / choose(n, 2)
  }, 1)
}

#' @rdname read_draws
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_draws <- function(object, ...) {
  check_no_dots(...)
  check_object(object)
  rlang::check_installed("ggplot2", "for autoplot().")
  terms <- recorded_terms(object)
  long <- do.call(rbind, lapply(terms, function(name) {
    trace <- trace_of(object, name)
    data.frame(draw = c(row(trace)), chain = factor(c(col(trace))), term = name, value = c(trace))
  }))
  long$term <- factor(long$term, terms)
  ggplot2::ggplot(long, ggplot2::aes(.data$draw, .data$value, colour = .data$chain)) +
    ggplot2::geom_line() +
    ggplot2::facet_wrap(ggplot2::vars(.data$term), scales = "free_y") +
    ggplot2::scale_colour_manual(values = cluster_colours(object$options$chains)) +
    ggplot2::labs(x = "Draw", y = NULL, colour = "Chain") +
    ggplot2::theme_minimal()
}
