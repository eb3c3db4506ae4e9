#' Pictures of topics or clusters by a covariate
#'
#' One panel for each topic or cluster: the mean proportions of groups with their intervals, or the line over a numeric
#' covariate. `plot()` uses base graphics, `autoplot()` ggplot2, which must be installed.
#'
#' @param x,object A table of [prevalence()].
#' @param topics Which topics to show; default: the first twelve. If topics are left out, or a small picture has no room
#'   for them, a note in the picture says how many are shown.
#' @param ... For `plot()`, graphical parameters like `xlim`; else empty.
#' @return `plot()`: the table, invisibly. `autoplot()`: a ggplot.
#' @seealso [prevalence()] for what is drawn, [plot.bnp_topics()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' plot(prevalence(fit, by = whales$category), topics = 1:4)
#' @export
plot.bnp_prevalence <- function(x, topics = NULL, ...) {
  check_drawing(...)
  panels <- prevalence_panels(x, topics)
  word <- prevalence_word(x)
  names(panels) <- vapply(panels, function(panel) paste(to_title(word), panel[[word]][1L]), "")
  n_topics <- length(unique(x[[word]]))
  if ("group" %in% names(x)) {
    side <- max(graphics::strwidth(levels(x$group), units = "inches", cex = group_letters)) + 0.15
    # If the picture has room, each panel is as wide and high as the names of the groups require.
    least <- pmin(c(max(1.6, side / 0.4), max(1, group_height * nlevels(x$group) + 0.5)), graphics::par("din") - 0.3)
    draw <- function(title) draw_groups(panels[[title]], ...)
    draw_grid(
      names(panels), n_topics, word, proportion_label(x), draw, side, pmax(least, c(1.6, 1)),
      beside = prevalence_label(x)
    )
  } else {
    draw <- function(title) draw_line(panels[[title]], ...)
    draw_grid(names(panels), n_topics, word, prevalence_label(x), draw, beside = proportion_label(x))
  }
  invisible(x)
}

# The size of letters in names of groups, and the distance between names in inches (a guess at what is
# readable).
group_letters <- 0.65
group_height <- 0.11

# What the rows of a table of prevalence are about: topic, cluster, state or transition.
prevalence_word <- function(x) intersect(c("topic", "cluster", "state", "transition"), names(x))[1L]
to_title <- function(word) paste0(toupper(substr(word, 1L, 1L)), substring(word, 2L))

proportion_label <- function(x) {
  label <- if (prevalence_word(x) == "transition") "Probability" else "Mean proportion"
  if (is.null(attr(x, "against"))) label else paste("Difference in", tolower(label))
}
prevalence_label <- function(x) attr(x, "by") %||% "Covariate"

prevalence_panels <- function(x, topics, call = rlang::caller_env()) {
  all <- unique(x[[prevalence_word(x)]])
  topics <- topics %||% utils::head(all, 12L)
  if (!is.numeric(topics) && is.numeric(all) || !length(topics) || !all(topics %in% all)) {
    abort("argument", "{.arg topics} must be numbers between {min(all)} and {max(all)}.", call = call)
  }
  x <- as.data.frame(unclass(x))
  unname(split(x, x[[prevalence_word(x)]])[as.character(topics)])
}

draw_groups <- function(panel, xlim = range(0, panel$proportion, panel$conf.high, panel$conf.low, na.rm = TRUE), ...) {
  y <- rev(seq_len(nrow(panel)))
  graphics::plot(xlim, c(0.5, length(y) + 0.5), type = "n", yaxt = "n", xlab = "", ylab = "", ...)
  name_groups(as.character(panel$group), y)
  graphics::segments(panel$conf.low, y, panel$conf.high, y, lwd = 2, col = cluster_colours(1L))
  graphics::points(panel$proportion, y, pch = 16)
}

# Writes the names of groups at an axis: every name if there is room, else every second, third and so on.
name_groups <- function(names, y) {
  room <- graphics::par("pin")[2] / length(y)
  named <- seq(1L, length(y), by = ceiling(0.9 * group_height / room))
  shown <- shorten(names[named], graphics::par("mai")[2] - 0.08, group_letters)
  graphics::mtext(shown, side = 2L, at = y[named], las = 1, line = 0.3, cex = group_letters)
}

draw_line <- function(panel, ylim = range(panel$proportion, panel$conf.high, panel$conf.low, na.rm = TRUE), ...) {
  graphics::plot(range(panel$at), ylim, type = "n", xlab = "", ylab = "", ...)
  band <- grDevices::adjustcolor(cluster_colours(1L), 0.25)
  graphics::polygon(c(panel$at, rev(panel$at)), c(panel$conf.low, rev(panel$conf.high)), col = band, border = NA)
  graphics::lines(panel$at, panel$proportion, lwd = 2)
}

#' @rdname plot.bnp_prevalence
#' @exportS3Method ggplot2::autoplot
autoplot.bnp_prevalence <- function(object, topics = NULL, ...) {
  check_no_dots(...)
  rlang::check_installed("ggplot2", "for autoplot().")
  panels <- prevalence_panels(object, topics)
  long <- as.data.frame(do.call(rbind, panels))
  class(long) <- "data.frame"
  word <- prevalence_word(object)
  title <- paste(to_title(word), long[[word]])
  long$title <- factor(title, levels = unique(title))
  note <- shown_of(length(panels), length(unique(object[[word]])), word)
  picture <- if ("group" %in% names(long)) {
    long$group <- factor(long$group, levels = rev(levels(object$group)))
    ggplot2::ggplot(long, ggplot2::aes(.data$proportion, .data$group)) +
      ggplot2::geom_linerange(
        ggplot2::aes(xmin = .data$conf.low, xmax = .data$conf.high), colour = cluster_colours(1L), linewidth = 0.8,
        na.rm = TRUE
      ) +
      ggplot2::geom_point() +
      ggplot2::scale_y_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
      ggplot2::scale_x_continuous(n.breaks = 3) +
      ggplot2::labs(x = proportion_label(object), y = prevalence_label(object), caption = note)
  } else {
    ggplot2::ggplot(long, ggplot2::aes(.data$at, .data$proportion)) +
      ggplot2::geom_ribbon(
        ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), fill = cluster_colours(1L), alpha = 0.25
      ) +
      ggplot2::geom_line() +
      ggplot2::labs(x = prevalence_label(object), y = proportion_label(object), caption = note)
  }
  picture + ggplot2::facet_wrap(ggplot2::vars(.data$title)) + ggplot2::theme_minimal() + tight_panels(length(panels))
}
