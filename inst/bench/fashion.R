# Fashion-MNIST, first 50 principal components (60,000 x 50): births from one cluster against fits with K = 100 fixed
# from k-means++ starts, in turn Euclidean (15 rounds of k-means) and in the model's own divergence; default prior, one
# thread, CPU seconds.
# Rscript fashion.R train_pca50.csv[.gz] [number of fixed fits]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
if (!length(args)) stop("Usage: Rscript fashion.R train_pca50.csv [number of fixed fits]")
n_fixed <- if (length(args) > 1) as.integer(args[2]) else 5L
table <- utils::read.csv(args[1])
x <- as.matrix(table[names(table) != "label"])

kmeans_labels <- function(x, k, rounds) {
  centres <- x[sample(nrow(x), 1), , drop = FALSE]
  far <- rep(Inf, nrow(x))
  for (i in seq_len(k - 1)) {
    far <- pmin(far, colSums((t(x) - centres[i, ])^2))
    centres <- rbind(centres, x[sample(nrow(x), 1, prob = far), ])
  }
  for (round in seq_len(rounds)) {
    label <- max.col(x %*% t(centres) - rep(rowSums(centres^2) / 2, each = nrow(x)), "first")
    centres <- rowsum(x, label) / as.vector(table(label))
  }
  label
}

run <- function(name, control, start = NULL) {
  cpu <- sum(system.time(fit <- bnp_mixture(x, control = control, start = start))[c("user.self", "sys.self")])
  trace <- elbo_trace(fit)
  row <- data.frame(
    run = name, elbo = round(elbo(fit)), k = n_clusters(fit), laps = nrow(trace), cpu_seconds = round(cpu),
    ari = round(adjusted_rand_index(fitted(fit), table$label), 3), reason = fit$reason
  )
  print(row, row.names = FALSE)
  list(row = row, trace = trace)
}

births <- run("births from 1", bnp_control(seed = 1))
print(births$trace[unique(pmin(nrow(births$trace), c(1:10, 15, 20, 30, 50, 75, 100))), ], row.names = FALSE)
fixed <- do.call(rbind, lapply(seq_len(n_fixed), function(seed) {
  set.seed(seed)
  euclidean <- seed %% 2 == 1
  run(
    paste0("fixed 100, ", if (euclidean) "Euclidean" else "model's", " k-means++, seed ", seed),
    bnp_control(seed = seed, k_init = 100, moves = FALSE),
    if (euclidean) kmeans_labels(x, 100, 15)
  )$row
}))
if (n_fixed > 0) {
  first <- births$trace$seconds[births$trace$elbo > max(fixed$elbo)]
  cat(
    "births - best fixed:", births$row$elbo - max(fixed$elbo),
    "\ntime / one fixed fit:", round(births$row$cpu_seconds / stats::median(fixed$cpu_seconds), 2),
    "\nshare of the births' time until the best fixed ELBO is passed:",
    round(min(first, Inf) / max(births$trace$seconds), 2), "\n"
  )
}
