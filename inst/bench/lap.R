# One lap (local and global step) of a full-covariance mixture with K = 50 fixed, N = 100,000, D = 8 and 64, against
# one E and M step of mclust and against R's matrix products doing the same floating-point work. One thread; CPU
# seconds, medians of five, so that a busy machine does not matter.
# Rscript lap.R
suppressPackageStartupMessages(library(bnpvi))

cpu <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")])
median_cpu <- function(times, f) stats::median(vapply(seq_len(times), function(i) f(), 0))

# Difference of fits that differ by five laps only.
lap_seconds <- function(x, k, cluster) {
  laps <- function(n) {
    control <- bnp_control(k_init = k, moves = FALSE, max_laps = n, tol = 0, seed = 1)
    seconds <- cpu(fit <- bnp_mixture(x, control = control, start = cluster))
    stopifnot(nrow(elbo_trace(fit)) == n, n_clusters(fit) == k)
    seconds
  }
  (laps(6) - laps(1)) / 5
}

mclust_seconds <- function(x, cluster) {
  z <- mclust::unmap(cluster)
  cpu({
    m <- mclust::mstep(data = x, modelName = "VVV", z = z)
    mclust::estep(data = x, modelName = "VVV", parameters = m$parameters)
  })
}

# Phi W' and R' Phi with Phi the p = 1 + D + D (D + 1) / 2 features, in blocks of 1,000 rows; a tenth of them is timed.
product_seconds <- function(n, d, k) {
  p <- 1 + d + d * (d + 1) / 2
  phi <- matrix(stats::rnorm(1000 * p), 1000)
  w <- matrix(stats::rnorm(p * k), p)
  r <- matrix(stats::rnorm(1000 * k), 1000)
  10 * cpu(for (i in seq_len(n / 10000)) {
    phi %*% w
    crossprod(r, phi)
  })
}

n <- 100000
k <- 50
for (d in c(8, 64)) {
  set.seed(d)
  cluster <- sample(k, n, TRUE)
  x <- matrix(stats::rnorm(k * d, 0, 2 / sqrt(d)), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
  ours <- median_cpu(5, function() lap_seconds(x, k, cluster))
  products <- median_cpu(5, function() product_seconds(n, d, k))
  theirs <- if (requireNamespace("mclust", quietly = TRUE)) {
    suppressPackageStartupMessages(library(mclust))
    median_cpu(5, function() mclust_seconds(x, cluster))
  } else {
    NA
  }
  p <- 1 + d + d * (d + 1) / 2
  print(data.frame(
    D = d, bnpvi = round(ours, 3), Gflops = round(4 * n * k * p / ours / 1e9, 1), mclust = round(theirs, 3),
    mclust_ratio = round(theirs / ours, 2), products = round(products, 3), products_ratio = round(products / ours, 2)
  ), row.names = FALSE)
}
cat("BLAS:", extSoftVersion()[["BLAS"]], "\n")
