# Clusters that drift. Moving clusters (DATA: a file with time, x1, x2, cluster): bound and agreement of ten seeds for
# weights by time and constant ones, beside a k-means start and clusters that stay; the bound by the size of steps.
# Then seconds a lap beside the Gaussian that stays, at 10 and 100 times, and a stream of 200 times with all of them
# kept or few.
# Rscript drift.R DATA
suppressPackageStartupMessages(library(bnpvi))

file <- commandArgs(TRUE)[1]
if (!is.na(file)) {
  rows <- read.csv(file)
  x <- rows[c("x1", "x2")]
  obs <- function(drift) obs_gaussian(drift = drift, mean = 0, mean_strength = 0.05, df = 5, scale = 1)
  fit <- function(prior, seed, start = NULL, drift = 0.5, ...) suppressWarnings(bnp_mixture(
    x, obs(drift), prior, time = rows$time, start = start, control = bnp_control(seed = seed, threads = 1, ...)
  ))
  score <- function(fit) c(elbo = elbo(fit), k = n_clusters(fit), ari = adjusted_rand_index(fitted(fit), rows$cluster))
  priors <- list(
    lda = prior_lda(6, 0.5), hdp = prior_hdp(), dirichlet = prior_dirichlet(6, 0.5), dp = prior_dp()
  )
  set.seed(1)
  labels <- kmeans(x, 6, nstart = 10)$cluster
  for (name in names(priors)) {
    seconds <- system.time({
      ends <- vapply(1:10, function(seed) score(fit(priors[[name]], seed)), double(3))
    })[["elapsed"]]
    cat(name, ": median of ten seeds ", paste(signif(apply(ends, 1, median), 8), collapse = ", "), "; lowest ",
      min(ends["elbo", ]), ", highest ", max(ends["elbo", ]), "; ", signif(seconds / 10, 2), " s a fit; from k-means ",
      paste(signif(score(fit(priors[[name]], 1, labels)), 8), collapse = ", "), "\n",
      sep = ""
    )
  }
  random <- vapply(1:30, function(seed) score(fit(priors$dirichlet, seed, init = "random")), double(3))
  cat("constant weights, 30 random starts: highest", random[, which.max(random["elbo", ])], "\n")
  stays <- suppressWarnings(bnp_mixture(x, obs_gaussian(mean = 0, mean_strength = 0.05, df = 5, scale = 1), prior_dp()))
  cat("clusters that stay:", score(stays), "\n")
  steps <- c(1e-6, 0.1, 0.5, 2, 10)
  cat("lda by drift", paste(steps, vapply(steps, function(d) round(elbo(fit(priors$lda, 1, drift = d)), 2), 1)), "\n")
  learned <- fit(priors$lda, 1, drift = "learn")
  cat("learned drift", learned$model$obs$drift, "elbo", elbo(learned), "\n")
}

# Seconds a lap without moves: the difference of runs of one and of six laps, the best of three.
n <- 1e5
k <- 20
seconds <- function(d, times, prior) {
  set.seed(2)
  cluster <- sample(k, n, TRUE)
  x <- matrix(rnorm(n * d), n) + matrix(4 * rnorm(k * d), k)[cluster, ]
  time <- if (times > 0) sample(times, n, TRUE)
  one <- function(laps) suppressWarnings(bnp_mixture(
    x, if (times > 0) obs_gaussian(drift = 0.5) else obs_gaussian(), prior, time = time, start = cluster,
    control = bnp_control("full", max_laps = laps, tol = 0, seed = 1, threads = 1, moves = FALSE, verbose = FALSE)
  ))
  min(vapply(1:3, function(i) {
    trace <- elbo_trace(one(6L))
    diff(range(trace$seconds)) / (nrow(trace) - 1)
  }, 1))
}
for (d in c(2, 8)) {
  stays <- seconds(d, 0, prior_dirichlet(k))
  for (times in c(10, 100)) {
    drifts <- seconds(d, times, prior_dirichlet(k))
    cat("D", d, "T", times, "a lap:", signif(stays, 3), "s stays,", signif(drifts, 3), "s drifts, ratio",
      signif(drifts / stays, 3), "\n")
  }
  by_time <- seconds(d, 10, prior_lda(k))
  cat("D", d, "T 10 weights by time:", signif(by_time, 3), "s, ratio", signif(by_time / stays, 3), "\n")
}

# A stream: 200 later times of 100 rows each, with all times and with the last two; clusters are where they should be.
set.seed(3)
path <- apply(matrix(rnorm(400 * 3, sd = 0.3), 400), 2, cumsum) # 200 times of two columns, of three clusters
rows_at <- function(t) {
  cluster <- sample(3, 100, TRUE)
  list(x = cbind(10 * cluster + path[2 * t - 1, cluster], path[2 * t, cluster]) + rnorm(200), cluster = cluster)
}
for (keep in list(NULL, 2)) for (discount in if (is.null(keep)) 1 else c(1, 0.5)) {
  set.seed(4)
  first <- rows_at(1)
  go_on <- function(fit, x, t) {
    suppressWarnings(update(fit, x, time = rep(t, 100), keep_times = keep, discount = discount))
  }
  fit <- suppressWarnings(bnp_mixture(
    first$x, obs_gaussian(drift = 0.1), prior_dp(), time = rep(1, 100),
    control = bnp_control(seed = 1, threads = 1, verbose = FALSE)
  ))
  for (t in 2:200) {
    new <- rows_at(t)
    seconds <- system.time(fit <- go_on(fit, new$x, t))[["elapsed"]]
  }
  cat("kept", if (is.null(keep)) "all" else keep, "discount", discount, ":", n_clusters(fit), "clusters,",
    "agreement at the last time", adjusted_rand_index(utils::tail(fitted(fit), 100), new$cluster), ", state of",
    as.numeric(object.size(fit$state)), "bytes, last update", signif(seconds, 2), "s\n"
  )
}
