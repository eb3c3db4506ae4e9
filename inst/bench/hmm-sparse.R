# What L-sparse responsibilities of sequences cost and lose: CPU seconds a lap and ELBO after the same number of laps,
# one sequence of 100,000 rows in 12 columns from K Gaussian states with full covariance, on one thread.
# Rscript hmm-sparse.R [laps]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
laps <- if (length(args)) as.integer(args[1]) else 20L

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "planted-chain.R"))

fit <- function(x, k, laps, sparsity) {
  control <- bnp_control(
    "full",
    max_laps = laps, tol = 0, init = "random", seed = 1, threads = 1, verbose = FALSE, sparsity = sparsity
  )
  bnp_hmm(x, prior = prior_hmm(k, sticky = 10), control = control)
}

# The difference of runs of 1 lap and of all, so that starting, reading and the path at the end do not count.
run <- function(x, k, laps, sparsity) {
  cpu <- function(laps) system.time(last <<- fit(x, k, laps, sparsity))[["user.self"]]
  one <- cpu(1L)
  list(seconds = (cpu(laps) - one) / (laps - 1), elbo = last$elbo)
}

for (k in c(50L, 100L, 200L)) {
  x <- draw(1e5, 12, k)
  dense <- run(x, k, laps, NULL)
  cat(sprintf("K = %3d  dense  %.3f s a lap, ELBO %.1f\n", k, dense$seconds, dense$elbo))
  for (sparsity in c(4L, 8L)) {
    sparse <- run(x, k, laps, sparsity)
    cat(sprintf(
      "K = %3d  L = %d  %.3f s a lap (%.1f times faster), ELBO %.1f (%+.4f a row)\n", k, sparsity, sparse$seconds,
      dense$seconds / sparse$seconds, sparse$elbo, (sparse$elbo - dense$elbo) / nrow(x)
    ))
  }
}
