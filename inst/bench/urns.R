# CPU milliseconds of a sweep of bnp_sample() by observation model: 5,000 rows, 20 clusters, one chain from a fit,
# without proposals of splits and with the default number of them. Rscript urns.R [sweeps]
suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
sweeps <- if (length(args)) as.integer(args[1]) else 60L
options(warn = -1)

set.seed(1)
n <- 5000
z <- sample(20, n, TRUE)
of_cluster <- function(values, columns) matrix(values, 20, columns)[z, ]
numbers <- of_cluster(stats::runif(160, -12, 12), 8) + matrix(stats::rnorm(8 * n), n)
bits <- 1 * (matrix(stats::runif(20 * n), n) < of_cluster(stats::rbeta(400, 0.3, 0.3), 20))
counts <- matrix(stats::rpois(8 * n, of_cluster(stats::rgamma(160, 1, 0.1), 8)), n)
terms <- matrix(stats::rgamma(20 * 200, 0.1), 20)
documents <- t(vapply(z, function(k) tabulate(sample(200, 30, TRUE, terms[k, ]), 200), numeric(200)))
factors <- as.data.frame(lapply(seq_len(8), function(j) {
  factor(apply(of_cluster(stats::rgamma(80, 0.3), 4), 1L, function(p) sample(4, 1, prob = p)), levels = 1:4)
}), col.names = letters[1:8])
sets <- list(
  "Gaussian, 8 columns" = list(numbers, obs_gaussian()), "diagonal" = list(numbers, obs_gaussian("diagonal")),
  "spherical" = list(numbers, obs_gaussian("spherical")), "Bernoulli, 20 columns" = list(bits, obs_bernoulli()),
  "Poisson, 8 columns" = list(counts, obs_poisson()), "8 factors of 4 levels" = list(factors, obs_categorical()),
  "200 terms, 30 tokens" = list(documents, obs_multinomial())
)
for (name in names(sets)) {
  x <- sets[[name]][[1]]
  fit <- bnp_mixture(x, sets[[name]][[2]], control = bnp_control(seed = 1, verbose = FALSE))
  each <- vapply(list(0, NULL), function(split_merge) {
    time <- system.time(draws <- bnp_sample(
      fit, x, chains = 1, draws = sweeps, warmup = 0, keep = 0, split_merge = split_merge, seed = 1, verbose = FALSE
    ))
    c(1000 * sum(time[1:2]) / sweeps, mean(as.data.frame(draws)$n_clusters))
  }, c(0, 0))
  cat(sprintf("%-22s %6.1f, with splits %6.1f (K %.1f)\n", name, each[1, 1], each[1, 2], each[2, 1]))
}
