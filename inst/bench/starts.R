# Fits with default arguments (but max_laps) beside the best of many other starts, for mixtures, topics and sequences:
# k-means at half to three times the planted or labelled number of clusters (mixtures and sequences: on the columns as
# they are and whitened; topics: on roots of proportions of terms), with moves and without; the labels; more clusters at
# first. Best known bound and where it comes from, median and worst bound of ten seeds, and CPU seconds a fit.
# Rscript starts.R [starts of each kind] [cases, as a regular expression] [CSV of principal components of Fashion-MNIST]
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
# Clusters around 0 whose covariances are nearly singular: of rank 4, and noise of standard deviation 0.05.
thin_clusters <- function(n, k, d) {
  z <- sample(k, n, TRUE)
  x <- matrix(stats::rnorm(n * d, sd = 0.05), n)
  for (j in seq_len(k)) {
    rows <- z == j
    x[rows, ] <- x[rows, ] + matrix(stats::rnorm(sum(rows) * 4), ncol = 4) %*% matrix(stats::rnorm(4 * d), 4)
  }
  list(x = x, z = z)
}
chain <- function(n, k, d, spread, stay) {
  change <- c(TRUE, stats::runif(n - 1) > stay)
  z <- sample(k, sum(change), TRUE)[cumsum(change)]
  list(x = matrix(stats::rnorm(k * d, sd = spread), k)[z, ] + matrix(stats::rnorm(n * d), n), z = z)
}
topics_of <- function(x, k, z = NULL) list(x = x, z = z, k = k, verb = "topics")
sequence_of <- function(case, ...) c(case, list(verb = "hmm", with = list(...)))

bench <- new.env()
source(system.file("bench", "planted-topics.R", package = "bnpvi"), bench)
capture <- mocap6[!is.na(mocap6$action), ]
cases <- c(mixtures, list(
  "2-D, grid of 49 touching" = planted(9, grid, 10000, 7, 2.5),
  "2-D, grid of 100, 100,000" = planted(9, grid, 1e5, 10, 2.5),
  "8-D, 100" = planted(12, round_clusters, 20000, 100, 8, 3),
  "64-D, 26 thin" = planted(13, thin_clusters, 10000, 26, 64),
  "asterisk" = list(x = as.matrix(asterisk[1:2]), z = asterisk$cluster),
  "quakes, 4 columns" = list(x = scale(as.matrix(datasets::quakes[1:4])), k = 8),
  "penguins" = list(x = as.matrix(penguins_measurements[-1]), z = as.integer(penguins_measurements$species)),
  "bars" = topics_of(bars$counts, 10), "whales" = topics_of(whales$counts, 30), "birds" = topics_of(birds$counts, 44),
  "20 planted topics" = topics_of(planted(2, bench$planted_topics(20, 500), 400), 20),
  "20 states, 5-D" = sequence_of(planted(3, chain, 4000, 20, 5, 1.5, 0.95)),
  "12 states, 2-D" = sequence_of(planted(3, chain, 3000, 12, 2, 3, 0.98)),
  "motion capture, AR" = sequence_of(
    list(x = as.matrix(capture[-(1:3)]), z = as.integer(capture$action)), id = capture$sequence, obs = obs_ar(),
    prior = prior_hdp_hmm(sticky = 100)
  ),
  "motion capture, full" = sequence_of(
    list(x = as.matrix(capture[-(1:3)]), z = as.integer(capture$action)), id = capture$sequence
  )
))
if (length(args) > 2) {
  cases[["Fashion, 20 columns"]] <- list(x = as.matrix(utils::read.csv(args[3])[seq_len(10000), 2:21]), k = 20)
}
if (length(args) > 1) cases <- cases[grepl(args[2], names(cases))]

fit_case <- function(case, seed, start = NULL, moves = TRUE, x = case$x, ...) {
  control <- bnp_control(seed = seed, max_laps = 1000, moves = moves, verbose = FALSE, ...)
  verb <- switch(if (is.null(case$verb)) "mixture" else case$verb,
    mixture = bnp_mixture, topics = bnp_topics, hmm = bnp_hmm
  )
  do.call(verb, c(list(x, start = start, control = control), case$with))
}
measured <- function(...) {
  time <- system.time(fit <- fit_case(...))
  c(elbo = elbo(fit), k = n_clusters(fit), cpu = time[[1]] + time[[2]])
}

for (name in names(cases)) {
  case <- cases[[name]]
  k <- if (is.null(case$k)) length(unique(case$z)) else case$k
  is_topics <- identical(case$verb, "topics")
  spaces <- if (is_topics) {
    list(roots = sqrt(as.matrix(case$x) / pmax(1, Matrix::rowSums(case$x))))
  } else {
    list(plain = case$x, whitened = case$x %*% solve(chol(stats::var(case$x))))
  }
  default <- sapply(1:10, function(seed) measured(case, seed))
  best <- c(none = -Inf)
  tried <- 0
  try_start <- function(what, seed, ...) {
    found <- tryCatch(measured(case, seed, ...)[["elbo"]], error = function(e) -Inf)
    tried <<- tried + 1
    best[what] <<- max(best[what], found, na.rm = TRUE)
  }
  if (!is.null(case$z)) for (moves in c(TRUE, FALSE)) try_start("labels", 1, case$z, moves)
  for (seed in repeats) {
    set.seed(seed)
    for (m in unique(pmax(2, round(k * c(0.5, 1, 1.5, 2, 3))))) {
      if (m > nrow(unique(spaces[[1]]))) next
      for (space in names(spaces)) {
        start <- stats::kmeans(spaces[[space]], m, iter.max = 50)$cluster
        for (moves in c(TRUE, FALSE)) {
          try_start(paste0("k-means, ", space, if (!moves) ", no moves"), seed, start, moves)
        }
      }
    }
    for (m in c(15, 30, 60)) try_start(paste("from", m), seed, k_init = m)
  }
  best <- best[is.finite(best)]
  cat(sprintf(
    "%-26s best known %.1f (%s) default median %.1f worst %.1f K %s CPU %.2f s; of %d starts %s\n", name,
    max(best, default["elbo", ]), if (max(best) > max(default["elbo", ])) names(which.max(best)) else "default",
    stats::median(default["elbo", ]), min(default["elbo", ]), paste(range(default["k", ]), collapse = " to "),
    mean(default["cpu", ]), tried, paste(sprintf("%s %.1f", names(best), best), collapse = "; ")
  ))
}
