# Whole fits of mixtures: CPU seconds, laps, K and bound, medians of some seeds, beside another build of the package,
# whose fits take turns with those of this one. m8: 100,000 x 8, 20 separated clusters; m2: 100,000 x 2, 20 that
# overlap; m32: 50,000 x 32, 50; m50: 100,000 x 8, 50. From one start, one thread, with the given prior, and with what
# is the default.
# Rscript whole-fits.R [library of the other build, or none] [fits, a regular expression] [number of seeds] [threads]
planted <- function(n, d, k, apart) {
  set.seed(1)
  cluster <- sample(k, n, TRUE)
  matrix(stats::rnorm(k * d, 0, apart), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
}
fits <- list(
  m8 = function() planted(1e5, 8, 20, 3), m2 = function() planted(1e5, 2, 20, 6),
  m32 = function() planted(5e4, 32, 50, 2), m50 = function() planted(1e5, 8, 50, 6)
)

# One fit, in a process of its own: a build is what its library has.
args <- commandArgs(TRUE)
if (identical(args[1], "one")) {
  suppressPackageStartupMessages(library(bnpvi, lib.loc = args[2]))
  x <- fits[[args[3]]]()
  # Earlier builds had neither a prior that is learned by default nor rounding nor restarts that are chosen.
  has <- function(f, argument) argument %in% names(formals(f))
  given <- if (has(obs_gaussian, "rounding")) list(learn = FALSE, rounding = 0) else list()
  control <- list(seed = as.integer(args[5]), verbose = FALSE, threads = as.integer(args[6]), restarts = 1)
  if (!has(bnp_control, "restarts")) control$restarts <- NULL
  obs <- do.call(obs_gaussian, if (args[4] == "given") given else list())
  control <- do.call(bnp_control, control)
  options(warn = -1)
  time <- system.time(fit <- bnp_mixture(x, obs, control = control))
  cat(sum(time[1:2]), time[[3]], nrow(elbo_trace(fit)), n_clusters(fit), sprintf("%.6f", elbo(fit)), "\n")
  quit("no")
}

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "record.R"))
args <- c(args, rep("", 4))[1:4]
own <- dirname(system.file(package = "bnpvi"))
if (!nzchar(own)) own <- .libPaths()[1]
threads <- if (nzchar(args[4])) args[4] else "1"
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
one <- function(library, name, prior, seed) {
  out <- system2("Rscript", c(script, "one", library, name, prior, seed, threads), stdout = TRUE, stderr = FALSE)
  as.numeric(strsplit(trimws(utils::tail(out, 1)), " ")[[1]])
}
runs <- list(given = c(own, "given"), default = c(own, "default"))
if (nzchar(args[1]) && args[1] != "none") runs <- c(list(other = c(args[1], "given")), runs)

for (name in grep(args[2], names(fits), value = TRUE)) {
  found <- lapply(runs, function(run) NULL)
  for (seed in seq_len(if (nzchar(args[3])) as.integer(args[3]) else 10L)) {
    for (run in names(runs)) found[[run]] <- rbind(found[[run]], one(runs[[run]][1], name, runs[[run]][2], seed))
  }
  for (run in names(runs)) {
    m <- apply(found[[run]], 2, stats::median)
    ratio <- if (run != "other" && "other" %in% names(runs)) stats::median(found$other[, 1]) / m[1] else NA
    bounds <- found[[run]][, 5]
    cat(sprintf(
      "%-4s %-8s CPU s %.2f (%.2f to %.2f; 1/%.2f), by the clock %.2f, %g laps, K %g, bound %.4f (%.4f)\n",
      name, run, m[1], min(found[[run]][, 1]), max(found[[run]][, 1]), ratio, m[2], m[3], m[4], m[5], min(bounds)
    ))
    record(
      name, paste0(run, ", ", c("a fit", "a fit", "laps", "K", "bound"), ", median"), signif(m, 9),
      c("CPU s", "s by the clock", "", "", ""), if (run == "other") "the other build" else ""
    )
  }
}
