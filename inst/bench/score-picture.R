# Held-out scores against seconds, one line for each kind of learning. Sourced by streams.R and streams-topics.R.
# runs: kind, seconds, score. Those more than `room` below the best are outside the picture.
draw_scores <- function(runs, file, main, ylab, room) {
  grDevices::pdf(file, 7, 5)
  kinds <- unique(runs$kind)
  colour <- grDevices::hcl.colors(length(kinds), "Dark 3")
  graphics::plot(runs$seconds, runs$score,
    log = "x", col = colour[match(runs$kind, kinds)], pch = 16, xlab = "CPU seconds", ylab = ylab, main = main,
    ylim = range(runs$score[runs$score > max(runs$score) - room])
  )
  for (kind in kinds) {
    of_kind <- runs[runs$kind == kind, ]
    of_kind <- of_kind[order(of_kind$seconds), ]
    graphics::lines(of_kind$seconds, of_kind$score, col = colour[match(kind, kinds)])
  }
  graphics::legend("bottomright", kinds, col = colour, pch = 16, bty = "n", cex = 0.8)
  invisible(grDevices::dev.off())
}
