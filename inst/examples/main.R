# Fits data that come with the package, compares with the truth, draws two
# pictures: Rscript main.R <folder for pictures>
library(bnpvi)

folder <- c(commandArgs(TRUE), "demo-output")[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

report <- function(title, fit, truth) {
  trace <- elbo_trace(fit)
  cat("\n", title, "\n", sep = "")
  print(fit)
  cat(sprintf(
    "Truth: %d clusters. Adjusted Rand index %.3f, in %.2f seconds from %d cluster(s) by %d births, %d merges, %d deletes.\n",
    length(unique(truth)), adjusted_rand_index(fitted(fit), truth), max(trace$seconds),
    fit$control$k_init, sum(trace$births), sum(trace$merges), sum(trace$deletes)
  ))
  print(table(truth = truth, cluster = fitted(fit)))
}

points <- asterisk[c("x", "y")]
star <- bnp_mixture(points, control = bnp_control(seed = 1))
report("An asterisk of 5,000 points", star, asterisk$cluster)

measures <- penguins_measurements[c("bill_length", "bill_depth", "flipper_length", "body_mass")]
birds <- bnp_mixture(measures, control = bnp_control(seed = 1, restarts = 5))
report("342 penguins, four measurements", birds, penguins_measurements$species)

picture <- function(name, draw, width = 1500, height = 750) {
  file <- file.path(folder, name)
  grDevices::png(file, width, height, res = 120)
  draw()
  grDevices::dev.off()
  cat("\nPicture:", file)
}

picture("asterisk.png", function() {
  par(mfrow = c(1, 2), mar = c(4, 4, 3, 1), las = 1)
  one <- bnp_mixture(points, control = bnp_control(seed = 1, moves = FALSE, k_init = 1))
  plot(one, data = points, main = "The start: one cluster", asp = 1)
  plot(star, data = points, main = paste("The fit:", n_clusters(star), "clusters, grown from it"), asp = 1)
})

picture("penguins.png", function() {
  par(mfrow = c(1, 2), mar = c(4, 4, 3, 1), las = 1)
  plot(birds, data = measures, main = "Penguins: the clusters found")
  shares <- prop.table(table(penguins_measurements$species, fitted(birds)), 1)
  barplot(
    t(shares), col = palette.colors(9, "Okabe-Ito")[c(6, 7, 4, 2, 8, 3, 5, 9)][seq_len(ncol(shares))],
    border = "white", ylab = "Share of the species", main = "... and the species, never shown to the model"
  )
})
cat("\n")
