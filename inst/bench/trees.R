# Million nodes a second of a lap of trees beside rows of the chain: 200,000 nodes, 2 columns, diagonal Gaussian states,
# K from 2 to 64, one thread; deep (each node has one child), binary, wide (a star) and 20,000 trees of ten nodes. The
# difference of runs of 1 and of 5 laps, so that starting and reading do not count; the best of three.
# Rscript trees.R
suppressPackageStartupMessages(library(bnpvi))

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "planted-chain.R"))

n <- 200000
shapes <- list(
  chain = NULL, deep = 0:(n - 1), binary = seq_len(n) %/% 2, wide = c(0, rep(1, n - 1)),
  many = ifelse(seq_len(n) %% 10 == 1, 0, seq_len(n) - 1 - (seq_len(n) - 2) %% 10 + (seq_len(n) - 2) %% 10 %/% 2)
)
seconds_a_lap <- function(x, parent, k) {
  run <- function(laps) {
    control <- bnp_control(
      "full", max_laps = laps, tol = 0, init = "random", seed = 1, threads = 1, moves = FALSE, verbose = FALSE
    )
    fit <- suppressWarnings(
      bnp_hmm(x, obs = obs_gaussian("diagonal"), prior = prior_hmm(k, sticky = 10), control = control, parent = parent)
    )
    sum(diff(c(0, elbo_trace(fit)$seconds))[-1L])
  }
  min(vapply(1:3, function(i) run(6L) / 5, 1))
}
rates <- vapply(c(2, 4, 8, 16, 32, 64), function(k) {
  x <- draw(n, 2, k)
  vapply(shapes, function(parent) n / seconds_a_lap(x, parent, k) / 1e6, 1)
}, numeric(length(shapes)))
colnames(rates) <- paste0("K = ", c(2, 4, 8, 16, 32, 64))
print(round(rates, 2))
