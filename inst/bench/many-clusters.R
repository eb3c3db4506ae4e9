# Many clusters: seconds a lap, ELBO and held-out log-likelihood on Fashion-MNIST (50 principal components, full
# covariance, a tenth of the 60,000 rows kept out) for K = 50 to 1,000 fixed, dense, with L = 4 comparing every row with
# all clusters, and with L = 4 and candidates. All start from the same Euclidean k-means; one thread.
# Rscript many-clusters.R train_pca50.csv[.gz] [laps] [rows that the held-out figure is read from] [K ...]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
if (!length(args)) stop("Usage: Rscript many-clusters.R train_pca50.csv [laps] [held-out rows] [K ...]")
laps <- if (length(args) > 1) as.integer(args[2]) else 30L
rows <- if (length(args) > 2) as.integer(args[3]) else 6000L
sizes <- if (length(args) > 3) as.integer(args[-(1:3)]) else c(50L, 100L, 200L, 500L, 1000L)
table <- utils::read.csv(args[1])
x <- as.matrix(table[names(table) != "label"])
set.seed(1)
out <- sample(nrow(x), nrow(x) %/% 10)
test <- x[out[seq_len(rows)], ]
x <- x[-out, ]

run <- function(k, start, name, ...) {
  control <- bnp_control(k_init = k, moves = FALSE, max_laps = laps, tol = 0, seed = 1, ...)
  fit <- bnp_mixture(x, control = control, start = start)
  trace <- elbo_trace(fit)
  stopifnot(min(diff(trace$elbo)) > -1e-9 * abs(elbo(fit)))
  data.frame(
    K = n_clusters(fit), rows = name, laps = nrow(trace), seconds_a_lap = round(stats::median(diff(trace$seconds)), 3),
    elbo = round(elbo(fit)), heldout = round(mean(heldout_loglik(fit, test)), 4)
  )
}

for (k in sizes) {
  set.seed(k)
  start <- suppressWarnings(stats::kmeans(x, x[sample(nrow(x), k), ], iter.max = 5L)$cluster)
  print(rbind(
    run(k, start, "dense"),
    run(k, start, "L = 4", sparsity = 4, candidates = k),
    run(k, start, "L = 4, candidates", sparsity = 4)
  ), row.names = FALSE)
}
