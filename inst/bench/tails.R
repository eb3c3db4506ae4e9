# Clusters with heavy tails: number found, agreement with the truth beside the rule that knows it, seconds a lap beside
# Gaussian clusters, and what tails cost where there are none. Peers where they are installed (teigen).
#
#   Rscript inst/bench/tails.R [seeds [many]]
#
# With `many` also fits of 100,000 and of a million rows.
# Three groups of 3,000 rows in two columns: t with 4 degrees of freedom, and Gaussian.
library(bnpvi)

args <- commandArgs(trailingOnly = TRUE)
seeds <- seq_len(if (length(args)) as.integer(args[1L]) else 10L)
centres <- cbind(c(0, 8, 16), c(0, 8, 0))

planted <- function(seed, df) {
  set.seed(seed)
  n <- 3000
  z <- sample(3, n, TRUE)
  x <- centres[z, ] + matrix(rnorm(2 * n), n) / if (is.finite(df)) sqrt(rchisq(n, df) / df) else 1
  list(x = x, z = z)
}
by_rule <- function(data) {
  distance <- vapply(1:3, function(k) rowSums(sweep(data$x, 2, centres[k, ])^2), double(nrow(data$x)))
  adjusted_rand_index(max.col(-distance), data$z)
}
of_fit <- function(data, obs, seed) {
  seconds <- system.time(fit <- bnp_mixture(data$x, obs, control = bnp_control(
    seed = seed, verbose = FALSE, k_init = 1, restarts = 1, threads = 1, max_laps = 500
  )))[["user.self"]]
  list(
    k = n_clusters(fit), ari = adjusted_rand_index(fitted(fit), data$z), elbo = elbo(fit), seconds = seconds,
    tails = coef(fit)$tails
  )
}

for (df in c(4, Inf)) {
  cat(if (is.finite(df)) "t, 4 degrees of freedom" else "Gaussian", "\n")
  for (seed in seeds) {
    data <- planted(seed, df)
    student <- of_fit(data, obs_student(), seed)
    gaussian <- of_fit(data, obs_gaussian(learn = FALSE), seed)
    cat(sprintf(
      paste0(
        "seed %2d  rule %.3f  student: K %d, %.3f, bound %.1f, %.2f s, tails %s  ",
        "gaussian: K %d, %.3f, bound %.1f, %.2f s\n"
      ), seed, by_rule(data), student$k, student$ari, student$elbo, student$seconds,
      paste(signif(student$tails, 2), collapse = " "), gaussian$k, gaussian$ari, gaussian$elbo, gaussian$seconds
    ))
  }
}

# A lap: the same three clusters, visited twenty times.
data <- planted(1, 4)
big <- data$x[rep(seq_len(3000), 20), ] + rnorm(60000 * 2) / 100
lap <- function(obs) {
  control <- bnp_control(moves = FALSE, max_laps = 20, tol = 0, restarts = 1, verbose = FALSE, threads = 1, seed = 1)
  fit <- bnp_mixture(big, obs, control = control, start = rep(data$z, 20))
  median(diff(elbo_trace(fit)$seconds))
}
cat(sprintf("seconds a lap, 60,000 rows, 3 clusters: student %.4f, gaussian %.4f\n", lap(obs_student()),
  lap(obs_gaussian(learn = FALSE))))

if (requireNamespace("teigen", quietly = TRUE)) {
  for (seed in utils::head(seeds, 3L)) {
    data <- planted(seed, 4)
    seconds <- system.time(fit <- teigen::teigen(data$x, Gs = 1:5, models = "UUUU", verbose = FALSE))[["user.self"]]
    cat(sprintf("teigen UUUU, seed %d: G %d, %.3f, %.1f s\n", seed, fit$G,
      adjusted_rand_index(fit$classification, data$z), seconds))
  }
}

# Many rows: three groups by births, one column of a single cluster by the default search.
if (length(args) > 1L) {
  many_groups <- function(n, seed) {
    set.seed(1)
    z <- sample(3, n, TRUE)
    x <- centres[z, ] + matrix(rnorm(2 * n), n) / sqrt(rchisq(n, 4) / 4)
    fit <- of_fit(list(x = x, z = z), obs_student(), seed)
    cat(sprintf("%d rows of t(4), seed %d: K %d, %.3f, %.1f s\n", n, seed, fit$k, fit$ari, fit$seconds))
  }
  for (seed in 1:3) many_groups(1e5, seed)
  many_groups(1e6, 1)
  one_cluster <- function(x, obs) {
    seconds <- system.time(fit <- bnp_mixture(x, obs, control = bnp_control(seed = 1, threads = 1, verbose = FALSE)))
    cat(sprintf("a million rows, %s: K %d, %.1f s\n", class(obs)[1L], n_clusters(fit), seconds[["user.self"]]))
  }
  set.seed(1)
  one_cluster(matrix(rt(1e6, 4)), obs_student())
  set.seed(1)
  one_cluster(matrix(rnorm(1e6)), obs_gaussian(learn = FALSE))
}
