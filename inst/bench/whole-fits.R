# Whole fits: CPU seconds, laps, K and bound, medians of some seeds, beside another build of the package, whose fits
# take turns with those of this one. m8: 100,000 x 8, 20 separated clusters; m2: 100,000 x 2, 20 that overlap; m32:
# 50,000 x 32, 50; m50: 100,000 x 8, 50; s803 and s20k: sequences of 803 x 20 and 20,000 x 5 with 4 and 10 states that
# last for ten rows; mocap: motion capture, autoregressive; whales: the articles; t2000: 2,000 planted documents, 20
# topics; ap: the first 2,000 documents of AssociatedPress of package topicmodels. From one start, one thread, with the
# given prior (of topics .1), and with what is the default.
# Rscript whole-fits.R [library of the other build, or none] [fits, a regular expression] [number of seeds] [threads]
planted <- function(n, d, k, apart) {
  set.seed(1)
  cluster <- sample(k, n, TRUE)
  matrix(stats::rnorm(k * d, 0, apart), k)[cluster, ] + matrix(stats::rnorm(n * d), n)
}
chain <- function(n, d, k) {
  set.seed(1)
  change <- c(TRUE, stats::runif(n - 1) > 0.9)
  z <- sample(k, sum(change), TRUE)[cumsum(change)]
  matrix(stats::rnorm(k * d, sd = 2), k)[z, ] + matrix(stats::rnorm(n * d), n)
}
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
documents <- function() {
  bench <- new.env()
  source(file.path(here, "planted-topics.R"), bench)
  draw <- bench$planted_topics(20, 2000)
  set.seed(1)
  draw(2000)
}
press <- function() {
  m <- get(utils::data("AssociatedPress", package = "topicmodels", envir = environment()))
  x <- Matrix::sparseMatrix(m$i, m$j, x = m$v, dims = c(m$nrow, m$ncol), dimnames = m$dimnames)[1:2000, ]
  x[, Matrix::colSums(x) > 0]
}
fits <- list(
  m8 = function() planted(1e5, 8, 20, 3), m2 = function() planted(1e5, 2, 20, 6),
  m32 = function() planted(5e4, 32, 50, 2), m50 = function() planted(1e5, 8, 50, 6),
  s803 = function() chain(803, 20, 4), s20k = function() chain(20000, 5, 10),
  mocap = function() mocap6[!is.na(mocap6$action), ], whales = function() whales$counts, t2000 = documents, ap = press
)

# One fit, in a process of its own: a build is what its library has.
args <- commandArgs(TRUE)
if (identical(args[1], "one")) {
  suppressPackageStartupMessages(library(bnpvi, lib.loc = args[2]))
  x <- fits[[args[3]]]()
  # Earlier builds had neither a prior that is learned by default nor rounding nor restarts that are chosen.
  has <- function(f, argument) argument %in% names(formals(f))
  given <- args[4] == "given"
  obs <- switch(args[3],
    mocap = if (given && has(obs_ar, "learn")) obs_ar(learn = FALSE) else obs_ar(),
    whales = , t2000 = , ap = if (given) obs_multinomial(0.1) else obs_multinomial(),
    if (given && has(obs_gaussian, "rounding")) obs_gaussian(learn = FALSE, rounding = 0) else obs_gaussian()
  )
  control <- list(seed = as.integer(args[5]), verbose = FALSE, threads = as.integer(args[6]), restarts = 1)
  if (!has(bnp_control, "restarts")) control$restarts <- NULL
  control <- do.call(bnp_control, control)
  options(warn = -1)
  time <- system.time(fit <- switch(args[3],
    s803 = , s20k = bnp_hmm(x, obs = obs, control = control),
    mocap = bnp_hmm(
      as.matrix(x[-(1:3)]), id = x$sequence, obs = obs, prior = prior_hdp_hmm(sticky = 100), control = control
    ),
    whales = , t2000 = , ap = bnp_topics(x, obs, control = control),
    bnp_mixture(x, obs, control = control)
  ))
  cat(sum(time[1:2]), time[[3]], nrow(elbo_trace(fit)), n_clusters(fit), sprintf("%.6f", elbo(fit)), "\n")
  quit("no")
}

source(file.path(here, "record.R"))
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
