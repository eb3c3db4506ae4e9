# Draws man/figures/logo.png, clusters of one Dirichlet process mixture in a hexagon, and the icons of the site in
# pkgdown/favicon, where pkgdown would otherwise ask a service on the internet for them.
#
#   Rscript tools/logo.R          from the root of the package

# Sizes fall as the sticks of a Dirichlet process do.
centres <- rbind(c(-0.3, 0.3), c(0.36, 0.34), c(0.02, -0.06), c(-0.42, -0.2), c(0.46, -0.12))
sizes <- c(70, 45, 28, 16, 8)
spread <- c(0.13, 0.1, 0.075, 0.05, 0.035)
colours <- grDevices::palette.colors(6, "Okabe-Ito")[-1]

# Icons have no points and no name, which could not be seen.
draw <- function(file, width, height, icon = FALSE) {
  grDevices::png(file, width, height, bg = "transparent")
  on.exit(grDevices::dev.off())
  line <- width / 360
  par(mar = rep(0, 4), xaxs = "i", yaxs = "i")
  plot.new()
  plot.window(c(-1, 1) * sqrt(3) / 2, c(-1, 1), asp = 1)
  corner <- pi / 2 + (0:5) * pi / 3
  polygon(0.97 * cos(corner), 0.97 * sin(corner), col = "#10283f", border = "#56b4e9", lwd = 10 * line)
  set.seed(3)
  for (k in seq_along(sizes)) {
    angle <- seq(0, 2 * pi, length.out = 90)
    around <- function(r) cbind(centres[k, 1] + r * spread[k] * cos(angle), centres[k, 2] + r * spread[k] * sin(angle))
    polygon(around(2.15), col = grDevices::adjustcolor(colours[k], if (icon) 1 else 0.25), border = colours[k],
      lwd = 3 * line
    )
    if (!icon) {
      points(centres[k, 1] + spread[k] * rnorm(sizes[k]), centres[k, 2] + spread[k] * rnorm(sizes[k]),
        pch = 19, cex = 1, col = colours[k]
      )
    }
  }
  if (!icon) text(0, -0.52, "bnpvi", col = "white", cex = 5.6, font = 2, family = "sans")
}

draw("man/figures/logo.png", 360, round(360 * 2 / sqrt(3)))
dir.create("pkgdown/favicon", showWarnings = FALSE)
touch <- c("", "-120x120", "-76x76", "-60x60")
icons <- c(
  stats::setNames(c(16, 32), sprintf("favicon-%1$dx%1$d.png", c(16L, 32L))),
  stats::setNames(c(180, 120, 76, 60), paste0("apple-touch-icon", touch, ".png"))
)
for (name in names(icons)) draw(file.path("pkgdown/favicon", name), icons[[name]], icons[[name]], icon = TRUE)
