# Finite mixtures, hidden Markov models and topics: bounds from default and random starts, from stats::kmeans() with ten
# starts (of topics: on roots of proportions of terms), from the open model cut to K and from the true clusters, with
# moves and without. Best, median and worst of the seeds, and CPU seconds a fit.
# Rscript finite.R [seeds]
suppressPackageStartupMessages(library(bnpvi))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "overlapping.R"))

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

report <- function(name, fit, case, k = length(unique(case$z)), cut = NULL) {
  starts <- list(
    "default, no moves" = function(seed) fit(k, seed, moves = FALSE),
    "default" = function(seed) fit(k, seed),
    "random" = function(seed) fit(k, seed, init = "random"),
    "k-means, no moves" = function(seed) fit(k, seed, by_kmeans(case$x, k, seed), moves = FALSE),
    "k-means" = function(seed) fit(k, seed, by_kmeans(case$x, k, seed)),
    "open model, cut" = if (!is.null(cut)) function(seed) fit(k, seed, cut(k, seed)),
    "true clusters" = if (!is.null(case$z) && length(unique(case$z)) <= k) function(seed) fit(k, seed, case$z)
  )
  starts <- Filter(Negate(is.null), starts)
  for (start in names(starts)) {
    cpu <- system.time(bounds <- vapply(seeds, function(seed) elbo(starts[[start]](seed)), 1))[["user.self"]]
    cat(sprintf(
      "%-24s %-18s best %12.1f  median %12.1f  worst %12.1f  %5.2f s\n", name, start, max(bounds),
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
  for (more in c(-1, 0, 2)) {
    k <- length(unique(case$z)) + more
    report(paste(name, "k =", k), function(k, seed, start = NULL, ...) {
      bnp_hmm(case$x, id = id, prior = prior_hmm(k), start = start, control = control(seed, ...))
    }, case, k, function(k, seed) {
      open <- bnp_hmm(case$x, id = id, control = control(seed))
      fitted(if (n_clusters(open) > k) cut_fit(open, case$x, k = k, id = id) else open)
    })
  }
}

bench <- new.env()
source(file.path(here, "planted-topics.R"), bench)
documents <- list("whales" = list(x = whales$counts, k = 20))
documents[["20 planted topics"]] <- list(x = planted(2, bench$planted_topics(20, 500), 400), k = 20)
for (name in names(documents)) {
  case <- documents[[name]]
  shares <- sqrt(as.matrix(case$x) / pmax(1, Matrix::rowSums(case$x)))
  report(name, function(k, seed, start = NULL, ...) {
    bnp_topics(case$x, prior = prior_lda(k), start = start, control = control(seed, ...))
  }, list(x = shares), case$k, function(k, seed) {
    open <- bnp_topics(case$x, control = control(seed))
    if (n_clusters(open) > k) open <- cut_fit(open, case$x, k = k)
    start <- as.matrix(open$documents) + 1e-9
    start / rowSums(start)
  })
}
