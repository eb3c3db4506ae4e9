# Finite mixtures and hidden Markov models: bounds from random starts, from stats::kmeans() with ten starts and from the
# true clusters, with moves and without. Best, median and worst of the seeds, and CPU seconds a fit.
# Rscript finite.R [seeds]
suppressPackageStartupMessages(library(bnpvi))
source(system.file("bench", "overlapping.R", package = "bnpvi"))

args <- commandArgs(TRUE)
seeds <- seq_len(if (length(args)) as.integer(args[1]) else 6L)
options(warn = -1)

sequence <- function(n, k, d, spread, stay) {
  centre <- matrix(stats::rnorm(k * d, sd = spread), k)
  z <- integer(n)
  z[1] <- 1L
  for (t in 2:n) z[t] <- if (stats::runif(1) < stay) z[t - 1] else sample(k, 1)
  list(x = centre[z, ] + matrix(stats::rnorm(n * d), n), z = z)
}
capture <- mocap6[!is.na(mocap6$action), ]
sequences <- list(
  "4 states, 20-D" = planted(1, sequence, 803, 4, 20, 0.6, 0.9),
  "10 states, 5-D" = planted(2, sequence, 2000, 10, 5, 1.5, 0.95),
  "12 states, 2-D" = planted(3, sequence, 3000, 12, 2, 3, 0.98),
  "motion capture, 12" = list(x = as.matrix(capture[-(1:3)]), z = as.integer(capture$action), id = capture$sequence)
)

report <- function(name, fit, case) {
  k <- length(unique(case$z))
  starts <- list(
    "random, no moves" = function(seed) fit(k, seed, moves = FALSE),
    "random" = function(seed) fit(k, seed),
    "k-means, no moves" = function(seed) fit(k, seed, by_kmeans(case$x, k, seed), moves = FALSE),
    "k-means" = function(seed) fit(k, seed, by_kmeans(case$x, k, seed)),
    "true clusters" = function(seed) fit(k, seed, case$z)
  )
  for (start in names(starts)) {
    cpu <- system.time(bounds <- vapply(seeds, function(seed) elbo(starts[[start]](seed)), 1))[["user.self"]]
    cat(sprintf(
      "%-20s %-18s best %12.1f  median %12.1f  worst %12.1f  %5.2f s\n", name, start, max(bounds),
      stats::median(bounds), min(bounds), cpu / length(seeds)
    ))
  }
}
by_kmeans <- function(x, k, seed) {
  set.seed(seed)
  stats::kmeans(x, k, nstart = 10, iter.max = 50)$cluster
}
control <- function(seed, ...) bnp_control(seed = seed, max_laps = 200, verbose = FALSE, ...)

for (name in names(mixtures)) {
  case <- mixtures[[name]]
  report(name, function(k, seed, start = NULL, ...) {
    bnp_mixture(case$x, prior = prior_dirichlet(k), start = start, control = control(seed, ...))
  }, case)
}
for (name in names(sequences)) {
  case <- sequences[[name]]
  id <- if (is.null(case$id)) rep(1L, nrow(case$x)) else case$id
  report(name, function(k, seed, start = NULL, ...) {
    bnp_hmm(case$x, id = id, prior = prior_hmm(k), start = start, control = control(seed, ...))
  }, case)
}
