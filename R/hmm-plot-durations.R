# Data of a picture of the expected durations of states and of the middle 90 % of visits, whose lengths are
# geometric.
durations_picture <- function(x, call = rlang::caller_env()) {
  check_object(x, call)
  mean <- as.double(x)
  ends <- vapply(mean, function(m) if (is.finite(m)) 1 + stats::qgeom(c(0.05, 0.95), 1 / m) else c(NA, NA), c(0, 0))
  data.frame(state = names(x) %||% seq_along(mean), mean = mean, low = ends[1L, ], high = ends[2L, ])
}

#' @export
plot.bnp_durations <- function(x, main = "", xlab = "Rows in a visit", ylab = "State", ...) {
  check_drawing(...)
  picture <- durations_picture(x)
  at <- rev(seq_along(picture$state))
  reach <- c(1, picture$low, picture$high, picture$mean)
  colour <- cluster_colours(length(at))
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::plot(
    range(reach[is.finite(reach)]), c(0.5, length(at) + 0.5), type = "n", log = "x", yaxt = "n", main = main,
    xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(2L, at, picture$state, las = 1, tick = FALSE)
  graphics::segments(picture$low, at, picture$high, at, col = colour, lwd = 2)
  graphics::points(picture$mean, at, pch = 21, bg = "white", col = colour, cex = 1.4, lwd = 2)
  never <- at[!is.finite(picture$mean)]
  if (length(never)) graphics::text(rep(10^graphics::par("usr")[2L], length(never)), never, "never left", pos = 2)
  invisible(x)
}

#' @exportS3Method ggplot2::autoplot
autoplot.bnp_durations <- function(object, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  picture <- durations_picture(object)
  picture$state <- factor(picture$state, levels = rev(picture$state))
  left <- picture[is.finite(picture$mean), ]
  never <- picture[!is.finite(picture$mean), ]
  ggplot2::ggplot(left, ggplot2::aes(y = .data$state, colour = .data$state)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$low, xmax = .data$high), linewidth = 0.8) +
    ggplot2::geom_point(ggplot2::aes(.data$mean), shape = 21, fill = "white", size = 2.5, stroke = 1) +
    ggplot2::geom_text(
      ggplot2::aes(x = Inf), data = never, label = "never left", hjust = 1.1, colour = "black", size = 3
    ) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_y_discrete(drop = FALSE, guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_colour_manual(
      values = stats::setNames(cluster_colours(nrow(picture)), rev(levels(picture$state))), guide = "none"
    ) +
    ggplot2::labs(x = "Rows in a visit", y = "State") +
    ggplot2::theme_minimal()
}
