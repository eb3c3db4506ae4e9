# Image patches of 5 x 5 pixels, N = 100,000, from eight zero-mean Gaussians, each an edge or a corner: births
# from one cluster should find all eight every time [Hughes 2016, Fig. 4.6].
# Rscript edges.R [seeds]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
seeds <- if (length(args)) as.integer(args[1]) else 10L
row <- rep(1:5, 5)
col <- rep(1:5, each = 5)
sides <- list(
  row > 2, row > 3, col > 2, col > 3, row > col, row + col > 6, row > 2 & col > 2, row < 4 & col < 4
)

# Each side of an edge has a brightness of its own, as dead leaves do.
draw_patches <- function(n) {
  cluster <- sample(length(sides), n, TRUE)
  side <- do.call(rbind, sides)[cluster, ] + 0
  x <- stats::rnorm(n) * side + stats::rnorm(n) * (1 - side) + 0.2 * stats::rnorm(n * 25)
  list(x = x, cluster = cluster)
}

run <- function(seed, name, kmeans = FALSE, ...) {
  set.seed(seed)
  patches <- draw_patches(100000)
  start <- if (kmeans) suppressWarnings(stats::kmeans(patches$x, 25, iter.max = 50)$cluster)
  control <- bnp_control(seed = seed, batches = 10, verbose = FALSE, ...)
  fit <- bnp_mixture(patches$x, obs_gaussian("zero_mean"), start = start, control = control)
  data.frame(
    start = name, seed, k = n_clusters(fit), ari = round(adjusted_rand_index(fitted(fit), patches$cluster), 4),
    elbo = elbo(fit), laps = nrow(elbo_trace(fit)), seconds = round(max(elbo_trace(fit)$seconds), 1)
  )
}

results <- do.call(rbind, lapply(seq_len(seeds), function(seed) {
  rbind(
    run(seed, "births from 1"),
    if (seed <= 3) run(seed, "25, no moves", k_init = 25, moves = FALSE),
    if (seed <= 3) run(seed, "25 of k-means, no moves", kmeans = TRUE, moves = FALSE)
  )
}))
print(results[order(results$start), ], row.names = FALSE)
births <- results[results$start == "births from 1", ]
cat("births from 1 found eight in", sum(births$k == 8), "of", nrow(births), "runs\n")
