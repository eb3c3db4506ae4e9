#' @rdname bnp_dynamic_means
#' @param object A result of `bnp_dynamic_means()`.
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_dynamic_means <- function(object, ...) {
  check_no_dots(...)
  check_object(object)
  rlang::check_installed("ggplot2", "for autoplot().")
  paths <- plain_frame(object$trajectories)
  shown <- utils::head(object$columns, most_panels)
  long <- do.call(rbind, lapply(shown, function(name) {
    data.frame(paths[c("cluster", "time", "size")], column = name, mean = paths[[paste0("mean.", name)]])
  }))
  long$cluster <- factor(long$cluster, object$clusters$cluster)
  long$column <- factor(long$column, shown)
  ggplot2::ggplot(long, ggplot2::aes(.data$time, .data$mean, colour = .data$cluster, group = .data$cluster)) +
    ggplot2::geom_line() +
    ggplot2::geom_point(ggplot2::aes(size = .data$size)) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free_y") +
    ggplot2::scale_size_area(max_size = 4, guide = "none") +
    ggplot2::scale_colour_manual(
      values = cluster_colours(nrow(object$clusters)), guide = if (nrow(object$clusters) > 20L) "none" else "legend"
    ) +
    ggplot2::labs(
      x = "Time", y = "Mean", colour = "Cluster", caption = shown_of(length(shown), length(object$columns), "column")
    ) +
    ggplot2::theme_minimal()
}
