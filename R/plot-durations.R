#' @export
plot.bnp_durations <- function(x, main = "", xlab = "Rows in a visit", ylab = "State", ...) {
  mean <- rev(as.double(x))
  at <- seq_along(mean)
  ends <- vapply(mean, function(m) if (is.finite(m)) 1 + stats::qgeom(c(0.05, 0.95), 1 / m) else c(NA, NA), c(0, 0))
  shown <- c(ends, mean)
  colour <- rev(cluster_colours(length(mean)))
  graphics::plot(
    range(1, shown[is.finite(shown)]), c(0.5, length(mean) + 0.5), type = "n", log = "x", yaxt = "n", main = main,
    xlab = xlab, ylab = ylab, ...
  )
  graphics::axis(2L, at, rev(names(x)), las = 1, tick = FALSE)
  graphics::segments(ends[1L, ], at, ends[2L, ], at, col = colour, lwd = 2)
  graphics::points(mean, at, pch = 21, bg = "white", col = colour, cex = 1.4, lwd = 2)
  never <- which(!is.finite(mean))
  if (length(never)) graphics::text(rep(10^graphics::par("usr")[2L], length(never)), never, "never left", pos = 2)
  invisible(x)
}
