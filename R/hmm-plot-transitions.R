# Pictures of the probabilities of transitions between states.

draw_transitions <- function(p, main = "", xlab = "To", ylab = "From", ...) {
  k <- nrow(p)
  if (length(dim(p)) > 2L) {
    n <- dim(p)[3L]
    wide <- ceiling(sqrt(n))
    old <- graphics::par(mfrow = c(ceiling(n / wide), wide))
    on.exit(graphics::par(old))
    for (q in seq_len(n)) {
      draw_transitions(matrix(p[, , q], k), paste0(main, if (nzchar(main)) ", ", dimnames(p)[[3L]][q]), xlab, ylab, ...)
    }
    return(invisible())
  }
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  graphics::image(
    seq_len(k), seq_len(k), t(p[rev(seq_len(k)), , drop = FALSE]), zlim = c(0, 1), axes = FALSE,
    col = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), main = main, xlab = xlab, ylab = ylab, ...
  )
  at <- labelled_states(k, max(text_size("000", 1) * c(1, 1.2)))
  graphics::axis(1L, at, tick = FALSE, gap.axis = 0)
  graphics::axis(2L, k + 1 - at, at, las = 1, tick = FALSE, gap.axis = 0)
  if (text_size("0.00 ", 0.8)[1] < 1) {
    value <- t(p[rev(seq_len(k)), , drop = FALSE])
    shown <- format(round(value, 2))
    graphics::text(row(value), col(value), shown, cex = 0.8, col = ifelse(value > 0.5, "white", "black"))
  }
  graphics::box()
}

# The states to label: all k, or every second, fifth, ..., so that labels of this height (in states) fit.
labelled_states <- function(k, size) {
  step <- c(1, 2, 5) * 10^rep(0:9, each = 3)
  step <- step[step >= size][1]
  if (step > k) 1L else seq(step, k, by = step)
}

gg_transitions <- function(p) {
  k <- nrow(p)
  positions <- dimnames(p)[-(1:2)]
  n <- max(1L, lengths(positions))
  long <- data.frame(
    from = factor(rep(seq_len(k), k * n), levels = rev(seq_len(k))), to = factor(rep(rep(seq_len(k), each = k), n)),
    probability = as.double(p)
  )
  if (length(positions)) long$position <- factor(rep(positions[[1L]], each = k * k), positions[[1L]])
  picture <- ggplot2::ggplot(long, ggplot2::aes(.data$to, .data$from, fill = .data$probability)) +
    ggplot2::geom_tile() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(40L, "Blues 3", rev = TRUE), limits = c(0, 1)) +
    ggplot2::scale_x_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_y_discrete(guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(x = "To", y = "From", fill = "Probability") +
    ggplot2::theme_minimal()
  if (length(positions)) picture + ggplot2::facet_wrap("position") else picture
}
