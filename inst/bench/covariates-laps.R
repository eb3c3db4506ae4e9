# What covariates cost: seconds of a lap with covariates (64 patterns) and without, in turn. Mixtures of 100,000
# rows of 8 columns and 20 clusters; sequences of 50,000 rows of 8 columns and 10 states; topics of 2,000 documents of
# 150 tokens and 20 topics, both with the tight bound. Laps without moves, from the same start, one thread: those after
# the first three, by the median.
#
#   Rscript covariates-laps.R [rounds] [cases, as a regular expression]
suppressPackageStartupMessages(library(bnpvi))
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "record.R"))
rounds <- as.integer(c(commandArgs(TRUE), 5)[1])
wanted <- c(commandArgs(TRUE)[-1], "")[1]

set.seed(1)
values <- seq(-1, 1, length.out = 64)
few <- 3
control <- function(laps, ...) {
  bnp_control(
    seed = 1, max_laps = laps, tol = 0, moves = FALSE, threads = 1, batches = 1, verbose = FALSE, ...
  )
}
weights <- prior_covariates(~ w)

mixtures <- function(n = 1e5, k = 20, d = 8) {
  about <- data.frame(w = sample(values, n, TRUE))
  weight <- exp(outer(about$w, rnorm(k)))
  label <- apply(weight, 1, function(p) sample(k, 1, prob = p))
  x <- matrix(rnorm(k * d), k)[label, ] + matrix(rnorm(n * d), n)
  list(
    name = "100,000 rows, 20 clusters, 64 patterns", laps = 15,
    without = function(laps) bnp_mixture(x, obs_gaussian(), prior_dp(), start = label, control = control(laps)),
    with = function(laps) {
      bnp_mixture(x, obs_gaussian(), weights, covariates = about, start = label, control = control(laps))
    }
  )
}
sequences <- function(n = 5e4, k = 10, d = 8) {
  about <- data.frame(w = sample(values, n, TRUE))
  label <- rep(sample(k, n / 20, TRUE), each = 20)
  x <- matrix(rnorm(n * d), n) + matrix(rnorm(k * d), k)[label, ]
  id <- rep(1:50, each = n / 50)
  list(
    name = "50,000 rows, 10 states, 64 patterns", laps = 20,
    without = function(laps) {
      bnp_hmm(x, obs_gaussian(), id = id, prior = prior_hdp_hmm(gamma = 1), start = label, control = control(laps))
    },
    with = function(laps) {
      bnp_hmm(x, obs_gaussian(), id = id, prior = weights, covariates = about, start = label, control = control(laps))
    }
  )
}
topics <- function(n = 2000, k = 20, terms = 1000) {
  about <- data.frame(w = sample(values, n, TRUE))
  phi <- matrix(rgamma(k * terms, 0.05), k)
  phi <- phi / rowSums(phi)
  effect <- rnorm(k)
  x <- t(vapply(about$w, function(w) {
    theta <- rgamma(k, 0.2 * exp(effect * w)) + 1e-12
    drop(rmultinom(1, 150, colSums(theta * phi)))
  }, numeric(terms)))
  list(
    name = "2,000 documents, 20 topics, 64 patterns", laps = 60,
    without = function(laps) bnp_topics(x, prior = prior_hdp(), control = control(laps, k_init = k, bound = "tight")),
    with = function(laps) {
      bnp_topics(x, prior = weights, covariates = about, control = control(laps, k_init = k))
    }
  )
}

# Milliseconds of the median lap: a fit may end before all laps are done.
lap <- function(fit, laps) {
  seconds <- elbo_trace(suppressWarnings(suppressMessages(fit(few + laps))))$seconds
  1000 * stats::median(utils::tail(diff(seconds), -few))
}
cases <- list(mixtures = mixtures, sequences = sequences, topics = topics)
for (case in grep(wanted, names(cases), value = TRUE)) {
  this <- cases[[case]]()
  ms <- t(replicate(rounds, c(lap(this$without, this$laps), lap(this$with, this$laps))))
  ratio <- ms[, 2] / ms[, 1]
  shown <- sprintf(
    "%.1f, %.1f; %.2f (%.2f to %.2f); %.2f", stats::median(ms[, 1]), stats::median(ms[, 2]), stats::median(ratio),
    min(ratio), max(ratio), min(ms[, 2]) / min(ms[, 1])
  )
  cat(sprintf("%s: %s\n", this$name, shown))
  record(
    this$name, "a lap without covariates, with (medians); ratio, median and range; ratio of the least", shown,
    "ms; times"
  )
}
