# Fashion-MNIST, first 50 principal components (60,000 x 50): births from one cluster against the best of
# five fits with K = 100 fixed from k-means++ starts, all with the default prior and one thread.
# Rscript fashion.R train_pca50.csv[.gz] [number of fixed fits]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
if (!length(args)) stop("Usage: Rscript fashion.R train_pca50.csv [number of fixed fits]")
n_fixed <- if (length(args) > 1) as.integer(args[2]) else 5L
table <- utils::read.csv(args[1])
x <- as.matrix(table[names(table) != "label"])

run <- function(name, control) {
  fit <- bnp_mixture(x, control = control)
  trace <- elbo_trace(fit)
  data.frame(
    run = name, elbo = elbo(fit), k = n_clusters(fit), laps = nrow(trace), seconds = max(trace$seconds),
    ari = adjusted_rand_index(fitted(fit), table$label), reason = fit$reason
  )
}

rows <- list(run("births from 1", bnp_control(seed = 1, verbose = TRUE)))
print(rows[[1]], row.names = FALSE)
for (seed in seq_len(n_fixed)) {
  control <- bnp_control(seed = seed, k_init = 100, moves = FALSE, verbose = TRUE)
  rows[[seed + 1]] <- run(paste("fixed 100, seed", seed), control)
  print(rows[[seed + 1]], row.names = FALSE)
}
rows <- do.call(rbind, rows)
print(format(rows, digits = 9), row.names = FALSE)
if (n_fixed > 0) {
  fixed <- rows[-1, ]
  cat(
    "births - best fixed:", rows$elbo[1] - max(fixed$elbo), " time / one fixed fit:",
    rows$seconds[1] / stats::median(fixed$seconds), "\n"
  )
}
