# Six labelled motion capture recordings: an autoregressive sticky HDP-HMM from one state and from 30, in one batch and
# in six. For every fit the bound per number observed (2058 rows x 12 columns), the Hamming distance to the hand labels,
# states matched to labels one to one and many to one (is each state a part of one exercise?), and for comparison plain
# ascent and moves started at the hand labels.
# Rscript hmm-mocap.R [seeds]
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
seeds <- if (length(args)) seq_len(as.integer(args[1])) else 1:10

# Share of rows outside the best one-to-one matching of states and labels, matched greedily by overlap.
hamming <- function(state, label) {
  counts <- table(state, label)
  agreed <- 0
  while (max(dim(counts)) > 0 && max(counts) > 0) {
    at <- which(counts == max(counts), arr.ind = TRUE)[1, ]
    agreed <- agreed + counts[at[1], at[2]]
    counts[at[1], ] <- 0
    counts[, at[2]] <- 0
  }
  1 - agreed / length(state)
}

# Share of rows whose label is not the commonest one of their state.
impurity <- function(state, label) 1 - sum(apply(table(state, label), 1, max)) / length(state)

x <- mocap6[-(1:3)]
labelled <- !is.na(mocap6$action)
fit_once <- function(..., start = NULL) {
  bnp_hmm(
    x, mocap6$sequence, obs_ar(), prior_hdp_hmm(sticky = 100), bnp_control(verbose = FALSE, ...), start
  )
}
report <- function(fit) {
  state <- fitted(fit)[labelled]
  data.frame(
    k = n_clusters(fit), bound = elbo(fit) / (sum(labelled) * 12),
    hamming = hamming(state, mocap6$action[labelled]), many_to_one = impurity(state, mocap6$action[labelled]),
    laps = fit$laps
  )
}

hand <- mocap6$action
hand[!labelled] <- hand[which(!labelled) + 1]
cat("From the hand labels, without moves:\n")
print(report(fit_once(moves = FALSE, seed = 1, start = hand)), digits = 5)
cat("From the hand labels, with moves:\n")
print(report(fit_once(seed = 1, start = hand)), digits = 5)

results <- NULL
for (batches in c(1, 6)) {
  for (k_init in c(1, 30)) {
    for (seed in seeds) {
      seconds <- system.time(fit <- fit_once(batches = batches, k_init = k_init, seed = seed))[["user.self"]]
      row <- cbind(batches, k_init, seed, report(fit), seconds)
      print(row, digits = 5)
      results <- rbind(results, row)
    }
  }
}
cat("Medians:\n")
print(
  aggregate(cbind(k, bound, hamming, many_to_one, laps, seconds) ~ batches + k_init, results, stats::median), digits = 4
)
cat("Best Hamming:", min(results$hamming), " best bound:", max(results$bound), "\n")
