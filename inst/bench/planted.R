# Planted Gaussian mixtures over D = 1..32, K = 1..40, equal and very unequal (1 : 100) sizes, well separated
# (centres at least 6 within-cluster standard deviations apart) and overlapping (3), default arguments.
# Rscript planted.R [seeds]
suppressPackageStartupMessages(library(bnpvi))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "record.R"))

args <- commandArgs(TRUE)
seeds <- if (length(args)) as.integer(args[1]) else 1L

# Centres uniform in a box, redrawn until far enough apart; the box grows when it is too full.
draw_centres <- function(d, k, apart) {
  half <- apart * max(1.5, 1.2 * k^(1 / d))
  centres <- matrix(0, 0, d)
  failed <- 0
  while (nrow(centres) < k) {
    candidate <- stats::runif(d, -half, half)
    distance <- sqrt(colSums((t(centres) - candidate)^2))
    if (all(distance > apart)) {
      centres <- rbind(centres, candidate)
    } else if ((failed <- failed + 1) %% 2000 == 0) {
      half <- 1.2 * half
    }
  }
  unname(centres)
}

# Covariances have random axes and standard deviations from 0.6 to 1.
draw_mixture <- function(d, k, n, unequal, apart) {
  weight <- if (unequal) exp(seq(0, -log(100), length.out = k)) else rep(1, k)
  cluster <- sample(k, n, TRUE, weight)
  x <- draw_centres(d, k, apart)[cluster, , drop = FALSE]
  for (j in seq_len(k)) {
    rows <- cluster == j
    axes <- qr.Q(qr(matrix(stats::rnorm(d * d), d)))
    noise <- matrix(stats::rnorm(sum(rows) * d), ncol = d)
    x[rows, ] <- x[rows, ] + noise %*% (stats::runif(d, 0.6, 1) * t(axes))
  }
  list(x = x, cluster = cluster)
}

settings <- expand.grid(
  apart = c(6, 3), unequal = c(FALSE, TRUE), K = c(1, 3, 8, 20, 40), D = c(1, 2, 4, 8, 16, 32),
  seed = seq_len(seeds)
)
settings <- settings[!(settings$unequal & settings$K == 1), ]

run <- function(D, K, unequal, apart, seed) {
  set.seed(1000 * seed + 100 * D + K)
  n <- max(1000, 100 * K) * (1 + unequal)
  mixture <- draw_mixture(D, K, n, unequal, apart)
  fit <- bnp_mixture(mixture$x, control = bnp_control(seed = seed))
  truth <- bnp_mixture(mixture$x, control = bnp_control(seed = seed, moves = FALSE), start = mixture$cluster)
  data.frame(
    D, K = length(unique(mixture$cluster)), unequal, apart, n, k = n_clusters(fit),
    ari = if (K == 1) NA else round(adjusted_rand_index(fitted(fit), mixture$cluster), 3),
    elbo_minus_truth = round(elbo(fit) - elbo(truth), 1), laps = nrow(elbo_trace(fit)),
    seconds = round(max(elbo_trace(fit)$seconds), 2)
  )
}
results <- do.call(rbind, Map(
  run, settings$D, settings$K, settings$unequal, settings$apart, settings$seed
))

options(width = 120)
print(results, row.names = FALSE)
summary_of <- function(r) {
  data.frame(
    mixtures = nrow(r), exact = mean(r$k == r$K), within_1 = mean(abs(r$k - r$K) <= 1),
    over_20_percent = sum(r$k > 1.2 * r$K), ari = mean(r$ari, na.rm = TRUE),
    below_truth = sum(r$elbo_minus_truth < -0.05), seconds = sum(r$seconds)
  )
}
for (apart in c(6, 3)) {
  cat(if (apart == 6) "Well separated:" else "Overlapping:", "\n")
  shares <- summary_of(results[results$apart == apart, ])
  print(shares, row.names = FALSE, digits = 3)
  record(if (apart == 6) "well separated" else "overlapping", names(shares), signif(unlist(shares), 3))
}
