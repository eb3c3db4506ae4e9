# Two threads against one: seconds a lap by the clock, the two in turn, the best of several runs each.
# Rscript threads.R [runs]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
runs <- if (length(args)) as.integer(args[1]) else 7L

lap <- function(x, cluster, k, threads, sparsity, laps) {
  control <- bnp_control(
    k_init = k, moves = FALSE, max_laps = laps, tol = 0, seed = 1, threads = threads, sparsity = sparsity
  )
  min(diff(elbo_trace(bnp_mixture(x, control = control, start = cluster))$seconds))
}

for (case in list(list(d = 8, k = 100), list(d = 64, k = 100), list(d = 64, k = 100, l = 4), list(d = 32, k = 1000, l = 4))) {
  n <- 100000
  set.seed(case$d)
  cluster <- sample(case$k, n, TRUE)
  x <- matrix(stats::rnorm(case$k * case$d, 0, 1.2 / sqrt(case$d)), case$k)[cluster, ] +
    matrix(stats::rnorm(n * case$d), n)
  laps <- if (case$d == 8) 40L else 5L
  seconds <- replicate(runs, vapply(1:2, function(threads) lap(x, cluster, case$k, threads, case$l, laps), 0))
  best <- apply(seconds, 1, min)
  print(data.frame(
    D = case$d, K = case$k, L = if (is.null(case$l)) case$k else case$l, one = round(best[1], 4), two = round(best[2], 4),
    ratio = round(best[1] / best[2], 2), median_ratio = round(stats::median(seconds[1, ] / seconds[2, ]), 2)
  ), row.names = FALSE)
}
