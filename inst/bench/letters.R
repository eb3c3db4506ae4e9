# Images of letters, 8 x 8 pixels, N = 50,000, from 26 zero-mean Gaussians, each letter 0.95 times as frequent as
# the one before [Hughes 2016, Fig. 3.3]: births from one cluster against 100 starting clusters, with all moves and
# without, seeded in the model's divergence and by Euclidean k-means.
# Rscript letters.R [seeds]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
seeds <- if (length(args)) as.integer(args[1]) else 3L

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "draw-letters.R"))

# A letter is found when it is the most frequent one in some cluster of which it makes up more than half.
letters_found <- function(cluster, letter) {
  table <- table(cluster, letter)
  top <- max.col(table, "first")
  length(unique(top[table[cbind(seq_along(top), top)] > rowSums(table) / 2]))
}

run <- function(seed, name, kmeans = FALSE, ...) {
  set.seed(seed)
  data <- draw_letters(50000)
  start <- if (kmeans) suppressWarnings(stats::kmeans(data$x, 100, iter.max = 50)$cluster)
  control <- bnp_control(seed = seed, batches = 5, verbose = FALSE, ...)
  fit <- bnp_mixture(data$x, obs_gaussian("zero_mean"), start = start, control = control)
  trace <- elbo_trace(fit)
  data.frame(
    start = name, seed, k = n_clusters(fit), letters = letters_found(fitted(fit), data$letter),
    ari = round(adjusted_rand_index(fitted(fit), data$letter), 4), elbo = elbo(fit), laps = nrow(trace),
    seconds = round(max(trace$seconds), 1)
  )
}

results <- do.call(rbind, lapply(seq_len(seeds), function(seed) {
  rbind(
    run(seed, "births from 1"),
    if (seed == 1) run(seed, "100, all moves", k_init = 100),
    if (seed == 1) run(seed, "100, no moves", k_init = 100, moves = FALSE),
    if (seed == 1) run(seed, "100 of k-means, no moves", kmeans = TRUE, moves = FALSE)
  )
}))
print(results[order(results$start), ], row.names = FALSE)
