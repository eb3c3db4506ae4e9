# 32 sequences of 1000 rows from eight Gaussian states in the plane that stay with probability 0.98: how often are the
# eight found from one state, from 50 and from 100, with and without a sticky prior?
# Rscript hmm-toy.R [seeds] [L of L-sparse responsibilities]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
seeds <- if (length(args)) seq_len(as.integer(args[1])) else 1:10
sparsity <- if (length(args) > 1) as.integer(args[2])

draw <- function(seed, n_sequences = 32, length = 1000, stay = 0.98) {
  set.seed(seed)
  centre <- rbind(c(0, 20), c(20, 0), c(-30, -30), c(30, -30), c(-20, 0), c(0, -20), c(30, 30), c(-30, 30))
  state <- unlist(lapply(seq_len(n_sequences), function(s) {
    z <- integer(length)
    z[1] <- sample(8, 1)
    for (t in 2:length) z[t] <- if (stats::runif(1) < stay) z[t - 1] else sample(setdiff(1:8, z[t - 1]), 1)
    z
  }))
  x <- centre[state, ] + matrix(stats::rnorm(2 * length(state), sd = sqrt(20)), ncol = 2)
  list(x = x, id = rep(seq_len(n_sequences), each = length), state = state)
}

data <- draw(1)
for (sticky in c(0, 50)) {
  for (k_init in c(1, 50, 100)) {
    for (seed in seeds) {
      control <- bnp_control(
        batches = 8, k_init = k_init, seed = seed, max_laps = 50, verbose = FALSE, sparsity = sparsity
      )
      seconds <- system.time(
        fit <- bnp_hmm(data$x, data$id, prior = prior_hdp_hmm(sticky = sticky), control = control)
      )[["user.self"]]
      joint <- table(fitted(fit), data$state)
      matched <- sum(apply(joint, 2, max))
      cat(sprintf(
        "sticky %2d  k_init %3d  seed %2d: K = %d, Hamming %.4f, ELBO %.1f, %d laps, %.1f CPU s\n",
        sticky, k_init, seed, n_clusters(fit), 1 - matched / nrow(data$x), elbo(fit), fit$laps, seconds
      ))
    }
  }
}
