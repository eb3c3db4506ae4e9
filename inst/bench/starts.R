# Mixtures from one cluster with default arguments (but max_laps), beside the best of many other starts: k-means on
# the columns as they are and whitened, at half to three times the planted number of clusters, with moves and without;
# the planted labels; more clusters at first. Median and worst bound of ten seeds, and CPU seconds a fit.
# Rscript starts.R [starts of each kind] [cases, as a regular expression]
suppressPackageStartupMessages(library(bnpvi))
source(system.file("bench", "overlapping.R", package = "bnpvi"))

args <- commandArgs(TRUE)
repeats <- seq_len(if (length(args)) as.integer(args[1]) else 8L)
options(warn = -1)

grid <- function(n, side, distance) {
  centre <- distance * as.matrix(expand.grid(seq_len(side), seq_len(side)))
  z <- sample(side^2, n, TRUE)
  list(x = unname(centre[z, ]) + matrix(stats::rnorm(2 * n), n), z = z)
}
cases <- c(mixtures, list(
  "2-D, grid of 49 touching" = planted(9, grid, 10000, 7, 2.5),
  "quakes, 4 columns" = list(x = scale(as.matrix(datasets::quakes[1:4])), z = rep(1:8, length.out = 1000))
))
if (length(args) > 1) cases <- cases[grepl(args[2], names(cases))]

fit <- function(x, seed, start = NULL, moves = TRUE, ...) {
  control <- bnp_control(seed = seed, max_laps = 1000, moves = moves, verbose = FALSE, ...)
  time <- system.time(made <- bnp_mixture(x, start = start, control = control))
  c(elbo = elbo(made), k = n_clusters(made), cpu = time[[1]] + time[[2]])
}

for (name in names(cases)) {
  case <- cases[[name]]
  k <- length(unique(case$z))
  white <- case$x %*% solve(chol(stats::var(case$x)))
  numbers <- unique(pmax(2, round(k * c(0.5, 1, 1.5, 2, 3))))
  default <- sapply(1:10, function(seed) fit(case$x, seed))
  best <- c(labels = max(sapply(c(TRUE, FALSE), function(moves) fit(case$x, 1, case$z, moves)["elbo"])))
  for (seed in repeats) {
    set.seed(seed)
    for (m in numbers) {
      for (space in c("plain", "whitened")) {
        start <- stats::kmeans(if (space == "plain") case$x else white, m, iter.max = 50)$cluster
        for (moves in c(TRUE, FALSE)) {
          what <- paste0("k-means, ", space, if (!moves) ", no moves")
          best[what] <- max(best[what], fit(case$x, seed, start, moves)["elbo"], na.rm = TRUE)
        }
      }
    }
    for (m in c(15, 30, 60)) {
      what <- paste("from", m)
      best[what] <- max(best[what], fit(case$x, seed, k_init = m)["elbo"], na.rm = TRUE)
    }
  }
  cat(sprintf(
    "%-26s best known %.1f (%s) default median %.1f worst %.1f K %s CPU %.2f s; %s\n", name,
    max(best, default["elbo", ]), if (max(best) > max(default["elbo", ])) names(which.max(best)) else "default",
    stats::median(default["elbo", ]), min(default["elbo", ]), paste(range(default["k", ]), collapse = " to "),
    mean(default["cpu", ]), paste(sprintf("%s %.1f", names(best), best), collapse = "; ")
  ))
}
