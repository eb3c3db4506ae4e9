# Draws man/figures/logo.png: clusters of one Dirichlet process mixture in a hexagon.
#
#   Rscript tools/logo.R          from the root of the package
side <- 360
grDevices::png("man/figures/logo.png", side, round(side * 2 / sqrt(3)), bg = "transparent")
par(mar = rep(0, 4), xaxs = "i", yaxs = "i")
plot.new()
plot.window(c(-1, 1) * sqrt(3) / 2, c(-1, 1), asp = 1)
corner <- pi / 2 + (0:5) * pi / 3
polygon(0.97 * cos(corner), 0.97 * sin(corner), col = "#10283f", border = "#56b4e9", lwd = 10)

# Sizes fall as the sticks of a Dirichlet process do.
centres <- rbind(c(-0.3, 0.3), c(0.36, 0.34), c(0.02, -0.06), c(-0.42, -0.2), c(0.46, -0.12))
sizes <- c(70, 45, 28, 16, 8)
spread <- c(0.13, 0.1, 0.075, 0.05, 0.035)
colours <- grDevices::palette.colors(6, "Okabe-Ito")[-1]
set.seed(3)
for (k in seq_along(sizes)) {
  angle <- seq(0, 2 * pi, length.out = 90)
  around <- function(r) cbind(centres[k, 1] + r * spread[k] * cos(angle), centres[k, 2] + r * spread[k] * sin(angle))
  polygon(around(2.15), col = grDevices::adjustcolor(colours[k], 0.25), border = colours[k], lwd = 3)
  points(centres[k, 1] + spread[k] * rnorm(sizes[k]), centres[k, 2] + spread[k] * rnorm(sizes[k]),
    pch = 19, cex = 1, col = colours[k]
  )
}
text(0, -0.52, "bnpvi", col = "white", cex = 5.6, font = 2, family = "sans")
invisible(grDevices::dev.off())
