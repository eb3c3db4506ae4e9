# Samplers of mixtures: CPU time of a sweep, and effective numbers of draws (of the number of clusters and of the log
# joint probability) a second, of one chain: 10,000 rows, 20 clusters in 2 and in 8 columns, from a fit and without one,
# with several numbers of splits; beside BNPmix and dirichletprocess where they are installed.
# Rscript samplers.R [sweeps]
suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
sweeps <- if (length(args)) as.integer(args[1]) else 500L

rows <- function(d, n = 10000) {
  set.seed(11)
  centre <- matrix(stats::runif(20 * d, -10, 10), 20)
  centre[sample(20, n, TRUE), ] + matrix(stats::rnorm(n * d, sd = 0.6), n)
}
cpu <- function(expr) sum(system.time(expr)[1:2])
ess <- function(x) if (stats::var(x) > 0) posterior::ess_mean(x) else NA
report <- function(who, seconds, k, log_joint = NULL) {
  late <- seq_along(k) > length(k) / 3
  cat(sprintf(
    "  %-34s %7.2f ms a sweep  K %5.1f (%d to %d)  draws of K a second %6.1f  of log joint %6.1f\n", who,
    1000 * seconds / length(k), mean(k[late]), min(k[late]), max(k[late]), ess(k[late]) / seconds / mean(late),
    if (is.null(log_joint)) NA else ess(log_joint[late]) / seconds / mean(late)
  ))
}

for (d in c(2, 8)) {
  x <- rows(d)
  cat(d, "columns\n")
  obs <- obs_gaussian(mean = colMeans(x), mean_strength = 0.01, df = d + 2, scale = diag(d))
  time <- cpu(fit <- bnp_mixture(x, obs, control = bnp_control(seed = 1, verbose = FALSE)))
  cat("  the fit:", n_clusters(fit), "clusters,", round(time, 2), "CPU s\n")
  for (split_merge in list(0, NULL, 100)) {
    for (chain in c("the fit", "draws in sequence")) {
      # Chain 2 of two begins without the fit.
      chains <- if (chain == "the fit") 1L else 2L
      run <- function(draws) {
        bnp_sample(
          fit, x, chains = chains, draws = draws, warmup = 0, keep = 0, split_merge = split_merge, seed = 1,
          verbose = FALSE
        )
      }
      none <- cpu(run(1))
      time <- (cpu(draws <- run(sweeps)) - none) / chains
      label <- paste0(chain, ", ", if (is.null(split_merge)) "default" else split_merge, " splits")
      report(label, time, draws$trace[, chains, "n_clusters"], draws$trace[, chains, "log_joint"])
    }
  }
  if (requireNamespace("BNPmix", quietly = TRUE)) {
    for (method in c("ICS", "SLI", "MAR")) {
      n <- if (method == "MAR") sweeps %/% 5L else sweeps
      prior <- list(
        strength = 1, discount = 0, m0 = colMeans(x), k0 = 0.01, n0 = d + 2, Sigma0 = diag(d), hyper = FALSE
      )
      time <- cpu(out <- BNPmix::PYdensity(
        x, list(niter = n, nburn = 0, method = method, print_message = FALSE, hyper = FALSE), prior,
        list(out_type = "CLUST")
      ))
      report(paste("BNPmix,", method), time, apply(out$clust, 1L, function(z) length(unique(z))))
    }
  }
  if (requireNamespace("dirichletprocess", quietly = TRUE)) {
    prior <- list(mu0 = colMeans(x), Lambda = diag(d), kappa0 = 0.01, nu = d + 2)
    n <- max(2L, sweeps %/% 250L)
    process <- dirichletprocess::DirichletProcessMvnormal(x, prior)
    time <- cpu(process <- dirichletprocess::Fit(process, n, progressBar = FALSE))
    report("dirichletprocess", time, vapply(process$labelsChain, function(z) length(unique(z)), 1L))
  }
}
