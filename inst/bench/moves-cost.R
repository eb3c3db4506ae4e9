# What moves cost: CPU seconds of whole fits with default arguments over those of as many plain laps (no moves) from
# a random start with as many clusters as they end with; and whole fits on two threads beside one, by the clock.
# Mixtures, topics and sequences.
# Rscript moves-cost.R [cases, as a regular expression]
suppressPackageStartupMessages(library(bnpvi))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "planted-chain.R"))
source(file.path(here, "planted-topics.R"))
source(file.path(here, "record.R"))
wanted <- c(commandArgs(TRUE), "")[1]

seconds_of <- function(...) {
  time <- system.time(fit <- force(...))
  list(fit = fit, cpu = time[["user.self"]] + time[["sys.self"]], clock = time[["elapsed"]])
}

# CPU seconds a lap without moves at the number of clusters of a fit, from a random start, which takes more laps than
# are timed. The first lap, which has the start in it, is left out.
plain_lap <- function(run, fit) {
  cpu <- function(laps) {
    control <- bnp_control(
      moves = FALSE, tol = 0, max_laps = laps, seed = 1, verbose = FALSE, k_init = n_clusters(fit), init = "random",
      batches = fit$control$batches
    )
    timed <- suppressWarnings(seconds_of(run(control)))
    c(timed$cpu, nrow(elbo_trace(timed$fit)))
  }
  timed <- rowSums(replicate(10, cpu(21) - cpu(1)))
  timed[1] / timed[2]
}

planted <- function(n, d, k, apart) {
  set.seed(1)
  cluster <- sample(k, n, TRUE)
  matrix(stats::rnorm(k * d, 0, apart), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
}
mixture <- function(x) function(control) bnp_mixture(x, control = control)
topics <- function(x) function(control) bnp_topics(x, control = control)
sequences <- function(x) function(control) bnp_hmm(x, control = control)
cases <- list(
  "mixture, 100,000 x 8, 20 clusters" = mixture(planted(1e5, 8, 20, 3)),
  "mixture, 100,000 x 2, 20 overlapping" = mixture(planted(1e5, 2, 20, 6)),
  "mixture, 50,000 x 32, 50 clusters" = mixture(planted(5e4, 32, 50, 2)),
  "mixture, million x 8, 20 clusters" = mixture(planted(1e6, 8, 20, 3)),
  "topics, 2,000 documents of bars" = topics(bars$counts),
  "topics, 2,000 documents, 20 planted" = topics(planted_topics(20, 500)(2000)),
  "topics, whales" = topics(whales$counts),
  "sequence, 803 x 20, 4 states" = sequences(draw(803, 20, 4)),
  "sequence, 1,535 x 4, 8 states" = sequences(draw(1535, 4, 8)),
  "sequence, 20,000 x 5, 10 states" = sequences(draw(20000, 5, 10))
)
for (name in grep(wanted, names(cases), value = TRUE)) {
  run <- cases[[name]]
  how <- function(threads) bnp_control(seed = 1, verbose = FALSE, threads = threads)
  one <- seconds_of(run(how(1L)))
  two <- seconds_of(run(how(2L)))
  plain <- plain_lap(run, one$fit) * nrow(elbo_trace(one$fit))
  cat(sprintf(
    "%-38s K %d, %d laps, %.2f CPU s, %.1f x plain laps; two threads %.2f x by the clock\n", name, n_clusters(one$fit),
    nrow(elbo_trace(one$fit)), one$cpu, one$cpu / plain, one$clock / two$clock
  ))
  record(
    name, c("a fit", "laps", "over plain laps", "two threads"),
    signif(c(one$cpu, nrow(elbo_trace(one$fit)), one$cpu / plain, one$clock / two$clock), 3), c("CPU s", "", "x", "x")
  )
}
