# N = 25,000 from one standard Gaussian, five starting clusters, concentration 10, prior scale 1, one batch:
# merges alone stop at too many clusters, deletes reach one [Hughes 2016, Fig. 4.5].
# Rscript one-gaussian.R [seeds]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
seeds <- if (length(args)) as.integer(args[1]) else 10L
only <- function(...) {
  kinds <- list(birth = FALSE, merge = FALSE, delete = FALSE)
  do.call(bnp_moves, utils::modifyList(kinds, list(...)))
}
moves <- list(none = only(), merge = only(merge = TRUE), delete = only(delete = TRUE), all = bnp_moves())

results <- NULL
for (seed in seq_len(seeds)) {
  set.seed(seed)
  x <- stats::rnorm(25000)
  for (kind in names(moves)) {
    for (k_init in c(5, 1)) {
      if (k_init == 1 && kind != "all") next
      fit <- bnp_mixture(
        x, obs_gaussian(mean = 0, mean_strength = 0.01, df = 3, scale = 1), prior_dp(10),
        bnp_control("full", seed = seed, k_init = k_init, moves = moves[[kind]], max_laps = 300)
      )
      results <- rbind(results, data.frame(
        moves = kind, k_init, seed, k = n_clusters(fit), elbo = elbo(fit), laps = nrow(elbo_trace(fit)),
        seconds = max(elbo_trace(fit)$seconds)
      ))
    }
  }
}
by_run <- split(results, list(results$moves, results$k_init), drop = TRUE)
print(do.call(rbind, lapply(by_run, function(r) {
  best <- max(results$elbo[results$seed == 1])
  data.frame(
    moves = r$moves[1], k_init = r$k_init[1], k = paste(sort(r$k), collapse = " "),
    elbo_seed_1 = round(r$elbo[r$seed == 1], 3), behind_best = round(best - r$elbo[r$seed == 1], 3),
    laps = stats::median(r$laps), seconds = round(stats::median(r$seconds), 2)
  )
})), row.names = FALSE)
