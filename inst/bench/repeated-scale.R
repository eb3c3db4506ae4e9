# Repeated measures: what the default `scale` of Gaussian clusters should be read from. Planted individuals in
# overlapping
# clusters; agreement of individuals with them, found minus planted number of clusters, and bound, means of eight data
# sets.
#   Rscript inst/bench/repeated-scale.R

suppressPackageStartupMessages(library(bnpvi))

share <- function(n, d) max(n^(-1 / d), 1e-3)
variances <- function(x) apply(x, 2, stats::var)

one <- function(seed, d, individuals, rows, k, spread) {
  set.seed(seed)
  cluster <- rep(seq_len(k), length.out = individuals)
  centre <- matrix(stats::rnorm(k * d), k) * spread
  who <- rep(seq_len(individuals), each = rows)
  x <- centre[cluster[who], , drop = FALSE] + matrix(stats::rnorm(individuals * rows * d), individuals * rows)
  means <- rowsum(x, who) / rows
  rules <- list(
    "rows" = share(individuals * rows, d) * variances(x),
    "rows, number of individuals" = share(individuals, d) * variances(x),
    "means of individuals" = share(individuals, d) * variances(means)
  )
  vapply(rules, function(scale) {
    control <- bnp_control(seed = 1, verbose = FALSE)
    fit <- suppressWarnings(bnp_mixture(x, obs_gaussian(scale = diag(scale, d)), id = who, control = control))
    found <- fitted(fit)[match(seq_len(individuals), who)]
    c(ari = adjusted_rand_index(found, cluster), more = n_clusters(fit) - k, elbo = elbo(fit))
  }, double(3))
}

for (design in list(
  c(1, 60, 5, 3, 2), c(2, 60, 5, 4, 1.5), c(2, 40, 20, 4, 1), c(4, 60, 5, 4, 1), c(8, 60, 5, 4, 0.7), c(8, 30, 3, 3, 1)
)) {
  ends <- lapply(1:8, function(seed) do.call(one, as.list(c(seed, design))))
  cat(sprintf("%g columns, %g individuals with %g rows, %g clusters, spread %g\n", design[1], design[2], design[3],
    design[4], design[5]))
  print(round(Reduce(`+`, ends) / 8, 3))
}
