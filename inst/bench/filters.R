# Rows a second of filters: switching linear systems by particles, modes and state variables, hidden Markov models, and
# functions; the spread of log p̂ over seeds beside.
#
#   Rscript filters.R [threads]
library(bnpvi)
threads <- as.integer(commandArgs(TRUE)[1])
if (is.na(threads)) threads <- 1L

# Rotations that are seen through noise, modes of different speed.
system_of <- function(k, m) {
  rotation <- function(angle) {
    out <- diag(m)
    for (i in seq(1, m - 1, by = 2)) {
      out[i:(i + 1), i:(i + 1)] <- rbind(c(cos(angle), -sin(angle)), c(sin(angle), cos(angle)))
    }
    0.98 * out
  }
  lds_model(
    A = array(vapply(seq_len(k), function(j) rotation(j / k), diag(m)), c(m, m, k)), Q = 0.04 * diag(m),
    C = diag(m), R = 0.25, start_mean = 0, start_var = 1, transition = matrix(0.1 / k, k, k) + 0.9 * diag(k)
  )
}
simulated <- function(model, n, seed) {
  set.seed(seed)
  m <- dim(model$A)[1]
  k <- dim(model$A)[3]
  z <- 1L
  x <- rnorm(m)
  y <- matrix(0, n, m)
  for (t in seq_len(n)) {
    z <- sample(k, 1, prob = model$transition[z, ])
    x <- drop(model$A[, seq_len(m), z] %*% x) + rnorm(m, 0, 0.2)
    y[t, ] <- x + rnorm(m, 0, 0.5)
  }
  y
}
rate <- function(expr, n) n / max(1e-3, system.time(expr)[["user.self"]])

cat("particles  modes  variables  rows a CPU second  sd of log p over 10 seeds (200 rows)\n")
for (size in list(c(3, 2), c(10, 2), c(3, 8))) {
  model <- system_of(size[1], size[2])
  y <- simulated(model, 2000, 1)
  for (particles in c(10, 100, 1000)) {
    n <- min(2000, 3e6 / (particles * size[1] * size[2]))
    n <- round(n)
    speed <- rate(bnp_filter(model, y[seq_len(n), ], particles = particles, seed = 1, threads = threads), n)
    spread <- sd(vapply(1:10, function(s) {
      as.numeric(logLik(bnp_filter(model, y[1:200, ], particles = particles, seed = s, threads = threads)))
    }, 1))
    cat(sprintf("%9d  %5d  %9d  %17.0f  %.3f\n", particles, size[1], size[2], speed, spread))
  }
  speed <- rate(bnp_filter(model, y, collapse = "gpb2", threads = threads), 2000)
  exact <- mean(vapply(1:5, function(s) {
    as.numeric(logLik(bnp_filter(model, y[1:200, ], particles = 1000, seed = s, threads = threads)))
  }, 1))
  bias <- as.numeric(logLik(bnp_filter(model, y[1:200, ], collapse = "gpb2"))) - exact
  cat(sprintf("     gpb2  %5d  %9d  %17.0f  %.3f (off)\n", size[1], size[2], speed, bias))
}

y <- simulated(system_of(3, 2), 20000, 1)
colnames(y) <- c("a", "b")
fit <- bnp_hmm(y[1:2000, ], control = bnp_control(seed = 1, k_init = 10, max_laps = 20, moves = FALSE, verbose = FALSE))
cat("hidden Markov model,", n_clusters(fit), "states:", round(rate(bnp_filter(fit, y), 20000)), "rows a CPU second\n")
f <- bnp_filter(fit, keep = 10)
cat("the same, row by row:", round(rate(for (i in 1:500) f <- update(f, y[i, , drop = FALSE]), 500)), "\n")
walk <- particle_model(
  function(n) rnorm(n), function(x) x + rnorm(length(x)), function(y, x) dnorm(y, x, log = TRUE)
)
for (particles in c(100, 1000, 10000)) {
  speed <- rate(bnp_filter(walk, y[1:500, 1], particles = particles, seed = 1), 500)
  cat("functions,", particles, "particles:", round(speed), "rows a CPU second\n")
}
