# The picture of a network's blocks: the probability of links within and between communities. It needs no
# data.

# The data of the picture: a list with a table of rectangles, the community numbers and their places, and a
# description of what is shown.
blocks_picture <- function(fit) {
  block <- coef(fit)$block
  end <- cumsum(as.double(fit$sizes))
  begin <- c(0, end[-length(end)])
  at <- expand.grid(from = seq_along(end), to = seq_along(end))
  rate <- fit$model$obs$links == "counts"
  list(
    table = data.frame(
      left = begin[at$to], right = end[at$to], top = begin[at$from], bottom = end[at$from], value = as.double(block)
    ),
    number = seq_along(end), middle = (begin + end) / 2, end = end,
    label = if (rate) "Links a pair" else "P(link)"
  )
}

shades_of_blocks <- function(n) grDevices::hcl.colors(n, "Blues 3", rev = TRUE)

# Draws the blocks (pairs of communities) in shades from no links to the densest block, in steps that the
# legend can name.
draw_blocks <- function(fit, main = "", xlab = "To community", ylab = "From community", ...) {
  picture <- blocks_picture(fit)
  steps <- pretty(c(0, picture$table$value), 5L)
  shades <- shades_of_blocks(length(steps))
  shade_of <- grDevices::colorRampPalette(shades)(256L)
  plan <- legend_plan(rev(format(steps)), 0.9 * graphics::par("fin")[2], title = picture$label)
  old <- set_margins(c(usual[1:3], plan$width + 0.05))
  on.exit(graphics::par(old))
  n <- max(picture$end)
  graphics::plot(
    c(0, n), c(n, 0), type = "n", axes = FALSE, main = main, xlab = xlab, ylab = ylab, xaxs = "i", yaxs = "i",
    ylim = c(n, 0), ...
  )
  table <- picture$table
  graphics::rect(
    table$left, table$bottom, table$right, table$top, border = NA,
    col = shade_of[1L + round(255 * table$value / max(steps))]
  )
  inner <- picture$end[-length(picture$end)]
  graphics::abline(h = inner, v = inner, col = "grey60")
  number_communities(picture$middle)
  graphics::box()
  draw_legend(
    plan, rev(shades), graphics::grconvertX(1, "nfc", "inches"), graphics::grconvertY(0.95, "nfc", "inches")
  )
}

# Writes the numbers of communities on both axes, largest community first; a number that would overlap an
# earlier one is left out.
number_communities <- function(at) {
  mgp <- replace(graphics::par("mgp"), 2L, 0.3)
  for (side in 1:2) graphics::axis(side, at, seq_along(at), tick = FALSE, mgp = mgp, las = 1, gap.axis = 0.1)
}

gg_blocks <- function(fit) {
  picture <- blocks_picture(fit)
  inner <- picture$end[-length(picture$end)]
  numbers <- function(scale) {
    scale(
      breaks = picture$middle, labels = picture$number, minor_breaks = NULL,
      guide = ggplot2::guide_axis(check.overlap = TRUE)
    )
  }
  ggplot2::ggplot(picture$table) +
    ggplot2::geom_rect(ggplot2::aes(
      xmin = .data$left, xmax = .data$right, ymin = .data$top, ymax = .data$bottom, fill = .data$value
    )) +
    ggplot2::geom_vline(xintercept = inner, colour = "grey60") +
    ggplot2::geom_hline(yintercept = inner, colour = "grey60") +
    ggplot2::scale_fill_gradientn(colours = shades_of_blocks(40L), limits = c(0, NA)) +
    numbers(ggplot2::scale_x_continuous) +
    numbers(ggplot2::scale_y_reverse) +
    ggplot2::coord_fixed(expand = FALSE) +
    ggplot2::labs(x = "To community", y = "From community", fill = picture$label) +
    ggplot2::theme_minimal()
}
