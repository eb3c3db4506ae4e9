# Seconds of a lap without moves, the least of 30: 200,000 rows, 20 clusters, 8 numbers and 8 factors.
#   Rscript inst/bench/mixed-speed.R [levels of a factor]

suppressPackageStartupMessages(library(bnpvi))
levels <- c(as.integer(commandArgs(TRUE)), 5L)[1]
set.seed(1)
n <- 2e5
k <- 20L
group <- sample(k, n, TRUE)
numbers <- matrix(stats::rnorm(8 * k, 0, 0.5), k)[group, ] + matrix(stats::rnorm(8 * n), n)
factors <- vapply(1:8, function(j) {
  prob <- matrix(0.3 + stats::rexp(k * levels), k)
  below <- t(apply(prob / rowSums(prob), 1, cumsum))[group, -levels, drop = FALSE]
  1L + as.integer(rowSums(stats::runif(n) > below))
}, integer(n))
x <- data.frame(numbers, lapply(as.data.frame(factors), factor, levels = seq_len(levels)))

control <- bnp_control(seed = 1, moves = FALSE, max_laps = 30, tol = 0, verbose = FALSE, batches = 20)
lap <- function(x, obs = NULL) {
  fit <- suppressWarnings(bnp_mixture(x, obs, control = control, start = group))
  min(diff(elbo_trace(fit)$seconds))
}
alone <- lap(x[1:8])
cat(sprintf("8 numbers, full:            %.4f s\n", alone))
cat(sprintf("8 factors of %3d levels:    %.4f s\n", levels, lap(x[9:16])))
both <- lap(x)
cat(sprintf("8 numbers and 8 factors:    %.4f s, %.2f times the numbers alone\n", both, both / alone))
