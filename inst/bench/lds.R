# Switching linear dynamics, obs_lds(): bounds, states, time of a lap, and prediction of motion capture.
# Rscript lds.R rotations slds_rotations.csv [seeds [noise]] | gaps slds_rotations.csv | speed [rows] | mocap
#   rotations: 400 rows that go through three rotations, seen with noise of sd 0.3 or 1; columns of the file: noise,
#     seed, t, mode, x1, x2, y1, y2. Bounds from default starts, from the true modes, and of obs_ar().
#   gaps: the same rows with noise of sd 0.3, without a stretch of ten in every forty: error of hidden states there,
#     beside lines between the rows at either side.
#   speed: seconds of a lap against rows, modes and hidden states, memory in use, and the bits of two threads; or
#     against this number of rows alone.
#   mocap: motion capture of the package, five scores instead of twelve columns; log density of a row given those before
#     it in the last two sequences, by fits of the first four.
library(bnpvi)
arguments <- commandArgs(TRUE)
what <- if (length(arguments)) arguments[1] else "speed"
quiet <- function(seed = 1, ...) bnp_control(seed = seed, verbose = FALSE, threads = 1, ...)
cpu <- function(expr) sum(system.time(expr)[1:2])

if (what == "rotations") {
  rows <- read.csv(arguments[2])
  seeds <- seq_len(if (length(arguments) > 2) as.integer(arguments[3]) else 10L)
  sticky <- prior_hdp_hmm(sticky = 50)
  # Share of rows outside the best of all matchings of found states, the four largest, with the three modes.
  orders <- as.matrix(expand.grid(rep(list(1:4), 3)))
  orders <- orders[apply(orders, 1, function(o) !anyDuplicated(o)), ]
  error <- function(found, true) 1 - max(apply(orders, 1, function(o) mean(found == o[true])))
  noises <- if (length(arguments) > 3) as.numeric(arguments[4]) else unique(rows$noise)
  for (noise in noises) for (set in unique(rows$seed)) {
    one <- rows[rows$noise == noise & rows$seed == set, ]
    y <- as.matrix(one[c("y1", "y2")])
    x <- as.matrix(one[c("x1", "x2")])
    # The prior of the figures that were there before: 0.5 times the identity for the coefficients.
    obs <- obs_lds(
      coef_precision = 0.5, scale = 0.1 * apply(diff(y), 2, var), start_mean = y[1, ], start_var = 10 * apply(y, 2, var)
    )
    rms <- function(fit) sqrt(mean((as.matrix(latent_path(fit)[3:4]) - x)^2))
    line <- function(name, fits, seconds) {
      l <- vapply(fits, elbo, 1)
      cat(sprintf(
        "noise %.1f, set %d, %-8s L median %.1f (%.1f to %.1f), K %s, error %.3f, rms %s, %.2f s\n", noise, set, name,
        median(l), min(l), max(l), paste(sort(unique(vapply(fits, n_clusters, 1))), collapse = " "),
        median(vapply(fits, function(f) error(fitted(f), one$mode), 1)),
        if (name == "AR") "-" else sprintf("%.3f", median(vapply(fits, rms, 1))), seconds / length(fits)
      ))
    }
    seconds <- cpu(fits <- lapply(seeds, function(s) bnp_hmm(y, obs = obs, prior = sticky, control = quiet(s))))
    line("default", fits, seconds)
    seconds <- cpu(truth <- list(bnp_hmm(y, obs = obs, prior = sticky, control = quiet(), start = one$mode)))
    line("truth", truth, seconds)
    seconds <- cpu(ar <- lapply(seeds, function(s) bnp_hmm(y, obs = obs_ar(), prior = sticky, control = quiet(s))))
    line("AR", ar, seconds)
  }
}

system_of <- function(n, k, m, noise = 0.3) {
  set.seed(1)
  turns <- lapply(seq_len(k), function(j) {
    q <- qr.Q(qr(diag(m) + matrix(rnorm(m * m, sd = 0.5), m)))
    0.98 * q %*% diag(sign(diag(q)), m)
  })
  z <- rep(rep(seq_len(k), length.out = ceiling(n / 40)), each = 40)[seq_len(n)]
  x <- matrix(0, n, m)
  x[1, ] <- 3
  for (t in seq_len(n)[-1]) x[t, ] <- turns[[z[t]]] %*% x[t - 1, ] + rnorm(m, sd = 0.2)
  list(y = x + rnorm(n * m, sd = noise), z = z)
}

if (what == "speed") {
  lap <- function(n, k, m, threads = 1, laps = 4) {
    data <- system_of(n, k, m)
    fit <- suppressWarnings(bnp_hmm(
      data$y, obs = obs_lds(), prior = prior_hmm(k, sticky = 50), start = data$z,
      control = bnp_control(seed = 1, verbose = FALSE, threads = threads, moves = FALSE, max_laps = laps, tol = 0)
    ))
    status <- tryCatch(readLines("/proc/self/status"), error = function(e) "")
    peak <- as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", grep("VmHWM", status, value = TRUE))) / 1024
    list(fit = fit, seconds = max(fit$trace$seconds) / nrow(fit$trace), peak = peak)
  }
  given <- length(arguments) > 1
  for (n in if (given) as.numeric(arguments[2]) else c(1e3, 1e4, 1e5, 1e6)) {
    found <- lap(n, 3, 2)
    cat(sprintf("rows %7d, 3 modes, 2 states: %.3f s a lap, %.0f MB at most\n", n, found$seconds, found$peak))
  }
  if (given) quit()
  for (k in c(1, 2, 4, 8, 16, 32)) cat(sprintf("20,000 rows, %2d modes: %.3f s a lap\n", k, lap(2e4, k, 2)$seconds))
  for (m in c(1, 2, 4, 8, 16)) cat(sprintf("20,000 rows, %2d hidden states: %.3f s a lap\n", m, lap(2e4, 3, m)$seconds))
  bits <- lapply(1:2, function(threads) lap(2e4, 3, 2, threads)$fit)
  cat("two threads, the same bits:", identical(bits[[1]]$state, bits[[2]]$state), "\n")
}

if (what == "gaps") {
  rows <- read.csv(arguments[2])
  for (set in unique(rows$seed)) {
    one <- rows[rows$noise == 0.3 & rows$seed == set, ]
    y <- as.matrix(one[c("y1", "y2")])
    x <- as.matrix(one[c("x1", "x2")])
    gap <- (seq_len(nrow(y)) - 1) %% 40 %in% 15:24
    y[gap, ] <- NA
    fit <- bnp_hmm(y, obs = obs_lds(), prior = prior_hdp_hmm(sticky = 50), control = quiet())
    path <- latent_path(fit)
    rms <- function(z) sqrt(mean((z[gap, ] - x[gap, ])^2))
    lines <- apply(y, 2, function(v) approx(which(!gap), v[!gap], seq_along(v), rule = 2)$y)
    off <- (as.matrix(path[3:4]) - x) / as.matrix(path[5:6])
    cat(sprintf(
      "set %d: K %d, rms of states in gaps %.3f, of lines %.3f; within two standard deviations %.2f\n", set,
      n_clusters(fit), rms(as.matrix(path[3:4])), rms(lines), mean(abs(off[gap, ]) < 2)
    ))
  }
}

if (what == "mocap") {
  scores <- prcomp(mocap6[, -(1:3)], scale. = TRUE)$x[, 1:5]
  for (name in c("obs_ar", "obs_lds")) {
    obs <- get(name)()
    own <- mocap6$sequence %in% unique(mocap6$sequence)[1:4]
    part_seconds <- cpu(part <- suppressWarnings(bnp_hmm(
      as.data.frame(scores[own, ]), id = mocap6$sequence[own], obs = obs, prior = prior_hdp_hmm(sticky = 100),
      control = quiet()
    )))
    id <- mocap6$sequence[!own]
    density <- predict(part, as.data.frame(scores[!own, ]), id = id, type = "logdensity")
    cat(sprintf(
      "%s: log density of a held-out row %.3f (K %d, %.1f s)\n", name, mean(density[duplicated(id)]), n_clusters(part),
      part_seconds
    ))
    seconds <- cpu(fit <- suppressWarnings(bnp_hmm(
      as.data.frame(scores), id = mocap6$sequence, obs = obs, prior = prior_hdp_hmm(sticky = 100), control = quiet()
    )))
    cat(sprintf(
      "%s: K %d, agreement with the exercises %.3f, %.1f s\n", name, n_clusters(fit),
      adjusted_rand_index(fitted(fit), mocap6$action), seconds
    ))
  }
}
