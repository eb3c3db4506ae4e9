# Samplers of topic models: tokens a second of one thread on the whales, of the Dirichlet process and of K = 50 and 100
# topics, beside collapsed Gibbs sampling in topicmodels and lda where they are installed; then the number of topics,
# of chains from a fit and without one.
# Rscript samplers-topics.R [draws of the last part]
suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
draws <- if (length(args)) as.integer(args[1]) else 500L
counts <- whales$counts
n <- sum(counts)
cpu <- function(expr) sum(system.time(expr)[1:2])
few <- bnp_control(seed = 1, max_laps = 5, verbose = FALSE)
report <- function(who, seconds, sweeps, log_joint = NA) {
  cat(sprintf(
    "  %-28s %7.2f ms a sweep, %5.1f M tokens a second, log joint %.0f\n", who, 1000 * seconds / sweeps,
    n * sweeps / seconds / 1e6, log_joint
  ))
}
cat(n, "tokens,", nrow(counts), "documents,", ncol(counts), "terms\n")

priors <- list(
  HDP = prior_hdp(gamma = 5, alpha = 5), `LDA, K = 50` = prior_lda(50, 5), `LDA, K = 100` = prior_lda(100, 5)
)
for (name in names(priors)) {
  fit <- suppressWarnings(bnp_topics(counts, obs_multinomial(0.1), priors[[name]], few))
  # Chain 2 of two begins without the fit; both are timed.
  run <- function(sweeps, after) {
    bnp_sample(
      fit, counts, chains = 2, draws = sweeps, warmup = after, keep = 0, seed = 1, threads = 1, verbose = FALSE
    )
  }
  none <- cpu(run(1, 50))
  time <- (cpu(drawn <- run(201, 50)) - none) / 2
  report(name, time, 200, mean(drawn$trace[201, , "log_joint"]))
}
for (k in c(50, 100)) {
  if (requireNamespace("topicmodels", quietly = TRUE)) {
    run <- function(sweeps) {
      control <- list(alpha = 5 / k, delta = 0.1, iter = sweeps, burnin = 0, seed = 1, best = TRUE, thin = sweeps)
      topicmodels::LDA(slam::as.simple_triplet_matrix(counts), k, "Gibbs", control = control)
    }
    few_sweeps <- cpu(run(50))
    time <- cpu(run(250)) - few_sweeps
    report(paste0("topicmodels, K = ", k), time, 200)
  }
  if (requireNamespace("lda", quietly = TRUE)) {
    documents <- apply(counts, 1L, function(x) rbind(which(x > 0) - 1L, as.integer(x[x > 0])), simplify = FALSE)
    run <- function(sweeps) {
      lda::lda.collapsed.gibbs.sampler(documents, k, as.character(seq_len(ncol(counts))), sweeps, 5 / k, 0.1)
    }
    few_sweeps <- cpu(run(50))
    time <- cpu(run(250)) - few_sweeps
    report(paste0("lda, K = ", k), time, 200)
  }
}

cat("Number of topics, concentrations learned\n")
prior <- prior_hdp(gamma = gamma_prior(2, 1), alpha = gamma_prior(2, 1))
control <- bnp_control(seed = 1, bound = "tight", verbose = FALSE)
time <- cpu(fit <- bnp_topics(counts, prior = prior, control = control))
cat("  the fit:", n_clusters(fit), "topics,", round(time, 1), "CPU s\n")
time <- cpu(drawn <- bnp_sample(fit, counts, draws = draws, warmup = draws, keep = 100, seed = 1, verbose = FALSE))
cat("  4 chains:", 2 * draws, "sweeps each,", round(time, 1), "CPU s\n")
print(drawn)
print(suppressWarnings(summary(drawn)))
cat("  of at least 100 tokens:\n")
print(round(n_clusters(drawn, min_size = 100), 2))
