# Planted clusters that overlap, and some that do not, for benches of searches and starts.

round_clusters <- function(n, k, d, spread) {
  centre <- matrix(stats::rnorm(k * d, sd = spread), k)
  z <- sample(k, n, TRUE)
  list(x = centre[z, , drop = FALSE] + matrix(stats::rnorm(n * d), n), z = z)
}
turned_clusters <- function(n, k, d, spread) {
  z <- sample(k, n, TRUE)
  x <- matrix(0, n, d)
  for (j in seq_len(k)) {
    rows <- which(z == j)
    half <- matrix(stats::rnorm(d * d), d) / sqrt(d)
    centre <- rep(stats::rnorm(d, sd = spread), each = length(rows))
    x[rows, ] <- centre + matrix(stats::rnorm(length(rows) * d), ncol = d) %*% half
  }
  list(x = x, z = z)
}
planted <- function(seed, make, ...) {
  set.seed(seed)
  make(...)
}
mixtures <- list(
  "2-D, 15 overlapping" = planted(1, round_clusters, 5000, 15, 2, 4),
  "2-D, 15 more so" = planted(2, round_clusters, 2500, 15, 2, 2.5),
  "2-D, 20 overlapping" = planted(3, round_clusters, 10000, 20, 2, 5),
  "2-D, 31" = planted(4, round_clusters, 3100, 31, 2, 8),
  "10-D, 10 turned" = planted(6, turned_clusters, 4000, 10, 10, 1),
  "50-D, 10 turned" = planted(5, turned_clusters, 5000, 10, 50, 0.7)
)
