# What a whole fit tries, and what each kind of proposal gains and costs: tries, accepted ones, nats and CPU seconds by
# kind, of a build with the entries for tests (BNPVI_TESTING=1).
# Rscript proposals.R [fits, as a regular expression] [seeds] [given: not learned, nothing rounded]
suppressPackageStartupMessages(library(bnpvi))
wanted <- c(commandArgs(TRUE), "")[1]
seeds <- seq_len(as.integer(c(commandArgs(TRUE)[-1], "1")[1]))
obs <- if ("given" %in% commandArgs(TRUE)) obs_gaussian(learn = FALSE, rounding = 0) else obs_gaussian()

planted <- function(n, d, k, apart) {
  set.seed(1)
  cluster <- sample(k, n, TRUE)
  matrix(stats::rnorm(k * d, 0, apart), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
}
fits <- list(
  iris = iris[, 1:4], faithful = faithful, m8 = planted(1e5, 8, 20, 3), m2 = planted(1e5, 2, 20, 6),
  m32 = planted(5e4, 32, 50, 2)
)

# The engine, asked for its trials; those of the last fit.
trials <- NULL
engine <- bnpvi:::engine_fit
utils::assignInNamespace("engine_fit", function(data, model, control, start, progress) {
  control$proposals <- TRUE
  out <- engine(data, model, control, start, progress)
  trials <<- out$proposals
  out$proposals <- NULL
  out
}, "bnpvi")

for (name in grep(wanted, names(fits), value = TRUE)) {
  for (seed in seeds) {
    time <- system.time(fit <- bnp_mixture(fits[[name]], obs, control = bnp_control(seed = seed, verbose = FALSE)))
    cat(sprintf(
      "\n%s, seed %d: %.2f CPU s, %d laps, K %d, bound %.3f\n", name, seed, sum(time[1:2]), nrow(elbo_trace(fit)),
      n_clusters(fit), elbo(fit)
    ))
    kind <- paste(trials$kind, ifelse(is.na(trials$gain), "(no proposal)", ""))
    by_kind <- function(x) tapply(x, kind, sum)
    print(data.frame(
      tried = c(table(kind)), accepted = by_kind(trials$accepted),
      gain = by_kind(ifelse(trials$accepted, trials$gain, 0)), seconds = by_kind(trials$seconds)
    ))
  }
}
