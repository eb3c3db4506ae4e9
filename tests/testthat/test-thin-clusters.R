# Clusters around one mean, each flat in most directions: seeds of single rows say nothing of a shape under the default
# prior, and splits were missed until their rows counted more than once (draw_sharpness() in
# src/inference/start/seeding.h).

thin_clusters <- function(n, k, d, rank, seed) {
  set.seed(seed)
  z <- rep_len(seq_len(k), n)
  x <- matrix(stats::rnorm(n * d, sd = 0.05), n)
  for (j in seq_len(k)) {
    rows <- z == j
    plane <- matrix(stats::rnorm(rank * d), rank)
    x[rows, ] <- x[rows, ] + matrix(stats::rnorm(sum(rows) * rank), ncol = rank) %*% plane
  }
  list(x = x, z = z)
}

long_test("default fits find clusters that differ in their covariances alone", {
  exact <- function(n, k, d, rank, seed) {
    set <- thin_clusters(n, k, d, rank, seed)
    fit <- bnp_mixture(set$x, control = bnp_control(seed = seed, threads = 1, verbose = FALSE))
    n_clusters(fit) == k && all(rowSums(table(set$z, predict(fit, type = "class")) > 0) == 1)
  }
  right <- c(
    vapply(some_of(1:5, by = 2), function(seed) exact(1200, 8, 32, 3, seed), NA),
    vapply(some_of(1:5, by = 3), function(seed) exact(900, 6, 48, 4, seed), NA)
  )
  expect_gte(sum(right), length(right) - 1)
})
