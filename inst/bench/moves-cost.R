# What moves cost: CPU seconds of whole fits with the default moves over those of as many plain laps at the same
# numbers of clusters. One thread. (Fits of less than a second are below the resolution of the clock.)
# Rscript moves-cost.R
suppressPackageStartupMessages(library(bnpvi))

cpu_now <- function() sum(proc.time()[c("user.self", "sys.self")])

# CPU seconds of every lap but the first, read when its line of progress is shown.
lap_times <- function(x, obs, control, ...) {
  at <- numeric()
  fit <- withCallingHandlers(
    bnp_mixture(x, obs, control = control, ...),
    message = function(m) {
      at <<- c(at, cpu_now())
      invokeRestart("muffleMessage")
    }
  )
  list(fit = fit, seconds = diff(at))
}

plain_lap <- function(x, obs, k, batches) {
  control <- bnp_control(
    k_init = k, init = "random", moves = FALSE, max_laps = 6, tol = 0, seed = 1, batches = batches, verbose = TRUE
  )
  stats::median(lap_times(x, obs, control)$seconds)
}

compare <- function(name, x, obs, ...) {
  control <- bnp_control(seed = 1, verbose = TRUE, ...)
  moving <- lap_times(x, obs, control)
  trace <- elbo_trace(moving$fit)
  ks <- unique(round(seq(1, max(trace$k), length.out = min(4, max(trace$k)))))
  cost <- vapply(ks, function(k) plain_lap(x, obs, k, moving$fit$control$batches), 0)
  plain <- stats::approx(c(ks, ks[1] + 1), c(cost, cost[1]), trace$k[-1], ties = mean, rule = 2)$y
  ratio <- moving$seconds / plain
  data.frame(
    data = name, k = n_clusters(moving$fit), laps = nrow(trace), seconds = round(sum(moving$seconds), 2),
    plain = round(sum(plain), 2), ratio = round(sum(moving$seconds) / sum(plain), 2),
    median_lap = round(stats::median(ratio), 2), worst_lap = round(max(ratio), 1)
  )
}

planted <- function(n, d, k, apart) {
  set.seed(1)
  cluster <- sample(k, n, TRUE)
  matrix(stats::rnorm(k * d, 0, apart), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
}

print(rbind(
  compare("100,000 x 8, 20 clusters", planted(1e5, 8, 20, 3), obs_gaussian()),
  compare("100,000 x 2, 20 clusters", planted(1e5, 2, 20, 6), obs_gaussian()),
  compare("50,000 x 32, 50 clusters", planted(5e4, 32, 50, 2), obs_gaussian())
), row.names = FALSE)
