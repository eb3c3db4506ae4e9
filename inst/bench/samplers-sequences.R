# Samplers of sequences: CPU time of a sweep, effective numbers of draws of the number of states, and R-hat of four
# chains, two of them begun without the fit, by the steps that a sweep has. beaver1 (114 rows) and motion capture (2,064
# rows in 6 sequences, 12 columns, autoregressions).
# Rscript samplers-sequences.R [sweeps]
suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
sweeps <- if (length(args)) as.integer(args[1]) else 500L

sets <- list(
  beaver = list(x = beaver1["temp"], id = NULL, obs = obs_gaussian(), sticky = 20, sweeps = 4L * sweeps),
  "motion capture" = list(x = mocap6[-(1:3)], id = mocap6$sequence, obs = obs_ar(), sticky = 100, sweeps = sweeps)
)
for (name in names(sets)) {
  set <- sets[[name]]
  fit <- bnp_hmm(
    set$x, set$id, set$obs, prior_hdp_hmm(sticky = set$sticky), bnp_control(seed = 1, verbose = FALSE)
  )
  cat(name, ": the fit has ", n_clusters(fit), " states\n", sep = "")
  for (step in c("all", "sequences", "splits", "rows")) {
    one <- fit
    if (step != "all") one$model$prior$step <- step
    time <- system.time(draws <- suppressWarnings(bnp_sample(
      one, set$x, set$id, draws = set$sweeps, keep = 0, seed = 1, verbose = FALSE
    )))
    seconds <- sum(time[1:2])
    numbers <- suppressWarnings(summary(draws))$table
    numbers <- numbers[numbers$term == "n_clusters", ]
    k <- colMeans(matrix(draws$trace[, , "n_clusters"], ncol = 4))
    cat(sprintf(
      "  %-10s %7.2f ms a sweep  K by chain %s  draws of K %6.1f, a second %6.2f  R-hat %.2f\n", step,
      1000 * seconds / (4 * 1.5 * set$sweeps), paste(format(round(k, 1)), collapse = " "), numbers$ess_bulk,
      numbers$ess_bulk / seconds, numbers$rhat
    ))
  }
}
