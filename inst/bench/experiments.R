# The experiments of the papers, each as pictures: the bound against CPU seconds and against laps, and the held-out log
# score against CPU seconds, of fits from one cluster with all moves, of fits with K fixed from Euclidean k-means
# (topics: from roots of proportions of terms) and of stochastic learning with K fixed from the same start; and mclust's
# choice among its Gaussian mixtures with full covariances, where it is installed and columns are few. Every fifth row,
# document or sequence is held out.
# Rscript experiments.R picture.pdf [cases, as a regular expression] [Fashion-MNIST's components.csv] [chromatin.txt.gz]
suppressPackageStartupMessages(library(bnpvi))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "draw-letters.R"))
options(warn = -1)

args <- commandArgs(TRUE)
if (!length(args)) stop("Usage: Rscript experiments.R picture.pdf [cases] [components.csv] [chromatin.txt.gz]")
wanted <- c(args[-1], "")[1]

set.seed(1)
letters <- draw_letters(10000)
captured <- mocap6[!is.na(mocap6$action), ]
cases <- list(
  "toy shapes (asterisk)" = list(verb = bnp_mixture, x = as.matrix(asterisk[1:2]), k = 8),
  "letters, 10,000 x 64" = list(
    verb = bnp_mixture, x = letters$x, k = 26, with = list(obs = obs_gaussian("zero_mean"))
  ),
  "bars, 2,000 documents" = list(verb = bnp_topics, x = bars$counts, k = 10),
  "articles (birds of prey)" = list(verb = bnp_topics, x = birds$counts, k = 50),
  "motion capture" = list(
    verb = bnp_hmm, x = as.matrix(captured[-(1:3)]), id = captured$sequence, k = 20,
    with = list(obs = obs_ar(), prior = prior_hdp_hmm(sticky = 100))
  )
)
if (length(args) > 2) {
  cases[["digits-like (Fashion), 20,000 x 20"]] <- list(
    verb = bnp_mixture, x = as.matrix(utils::read.csv(args[3])[seq_len(20000), 2:21]), k = 50
  )
}
if (length(args) > 3) {
  marks <- as.matrix(utils::read.table(args[4], skip = 2, nrows = 1e5))
  cases[["chromatin, 100,000 bins"]] <- list(
    verb = bnp_hmm, x = marks, id = rep(1:20, each = 5000), k = 30, with = list(obs = obs_bernoulli())
  )
}

part <- function(case, rows) {
  case$x <- case$x[rows, , drop = FALSE]
  case$id <- case$id[rows]
  case
}
with_id <- function(case) if (!is.null(case$id)) list(id = case$id)
clusters_of <- function(case) {
  set.seed(1)
  x <- if (identical(case$verb, bnp_topics)) sqrt(as.matrix(case$x) / pmax(1, Matrix::rowSums(case$x))) else case$x
  stats::kmeans(x, case$k, iter.max = 50)$cluster
}
# Bound and held-out score after growing numbers of laps: the fits with fewer laps are the beginnings of the longest.
curve_of <- function(kind, train, test, start = NULL, laps = c(1, 2, 4, 8, 16, 32, 64, 128), ...) {
  one <- function(max_laps) {
    control <- bnp_control(max_laps = max_laps, seed = 1, verbose = FALSE, ...)
    time <- system.time(
      fit <- do.call(train$verb, c(list(train$x, start = start, control = control), with_id(train), train$with))
    )
    of_topics <- if (inherits(fit, "bnp_topics")) list(seed = 1)
    data.frame(
      kind, laps = nrow(elbo_trace(fit)), seconds = time[[1]] + time[[2]], bound = elbo(fit), k = n_clusters(fit),
      score = do.call(heldout_loglik, c(list(fit, test$x), with_id(test), of_topics)),
      ended = nrow(elbo_trace(fit)) < max_laps
    )
  }
  runs <- NULL
  for (max_laps in laps) {
    run <- one(max_laps)
    runs <- rbind(runs, run)
    if (run$ended) break
  }
  runs
}
score_mclust <- function(train, test) {
  time <- system.time(fit <- mclust::Mclust(train$x, G = seq_len(2 * train$k), modelNames = "VVV", verbose = FALSE))
  score <- mean(mclust::dens(test$x, modelName = fit$modelName, parameters = fit$parameters, logarithm = TRUE))
  data.frame(
    kind = "mclust by BIC", laps = NA, seconds = time[[1]] + time[[2]], bound = NA, k = fit$G, score, ended = TRUE
  )
}
draw_runs <- function(runs, x, y, log, xlab, ylab, legend = FALSE) {
  runs <- runs[is.finite(runs[[y]]) & is.finite(runs[[x]]), ]
  kinds <- unique(runs$kind)
  colour <- grDevices::hcl.colors(length(kinds), "Dark 3")
  last <- tapply(runs[[y]], runs$kind, function(v) v[length(v)])
  graphics::plot(runs[[x]], runs[[y]],
    log = log, col = colour[match(runs$kind, kinds)], pch = 16, xlab = xlab, ylab = ylab,
    ylim = c(min(last) - diff(range(last)) - 1e-9, max(runs[[y]]))
  )
  for (i in seq_along(kinds)) {
    of_kind <- runs$kind == kinds[i]
    graphics::lines(runs[[x]][of_kind], runs[[y]][of_kind], col = colour[i])
  }
  if (legend) graphics::legend("bottomright", kinds, col = colour, pch = 16, bty = "n", cex = 0.8)
}

grDevices::pdf(args[1], 12, 4.5)
for (name in grep(wanted, names(cases), value = TRUE)) {
  case <- cases[[name]]
  unit <- if (is.null(case$id)) seq_len(nrow(case$x)) else match(case$id, unique(case$id))
  test <- part(case, unit %% 5 == 0)
  train <- part(case, unit %% 5 != 0)
  start <- clusters_of(train)
  runs <- rbind(
    curve_of("moves, from one", train, test),
    curve_of(paste("fixed", case$k), train, test, start, moves = FALSE),
    curve_of(paste("stochastic,", case$k), train, test, start, algorithm = "stochastic", laps = c(1, 2, 4, 8, 16, 32))
  )
  if (identical(case$verb, bnp_mixture) && ncol(case$x) < 5 && requireNamespace("mclust", quietly = TRUE)) {
    suppressPackageStartupMessages(library(mclust))
    runs <- rbind(runs, score_mclust(train, test))
  }
  last <- runs[cumsum(rle(runs$kind)$lengths), ]
  cat(name, "\n")
  print(format(last[c("kind", "k", "laps", "seconds", "bound", "score")], digits = 6), row.names = FALSE)
  graphics::par(mfrow = c(1, 3), oma = c(0, 0, 2, 0))
  draw_runs(runs, "seconds", "bound", "x", "CPU seconds", "bound", legend = TRUE)
  draw_runs(runs, "laps", "bound", "x", "laps", "bound")
  draw_runs(runs, "seconds", "score", "x", "CPU seconds", "held-out log score")
  graphics::mtext(name, outer = TRUE, font = 2)
}
invisible(grDevices::dev.off())
