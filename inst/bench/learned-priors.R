# Held-out density a row (nats), clusters, agreement with labels and seconds: given priors of obs_gaussian() and learned
# ones, on planted sets and on sets that come with R, MASS, mlbench (where it is installed) and this package; means of
# three random splits, two thirds to fit.
#
#   Rscript learned-priors.R [what [first words of names of sets]], of which what is
#   bnpvi, the default: given and learned priors
#   mclust: mclust's model of the highest BIC, of 1 to 12 clusters and all its covariances
#   plug_in: with the package of commit 597eee8 installed, whose learned priors were the best
#   values, plugged in
library(bnpvi)

planted <- function(seed, n, k, d, spread) {
  withr::with_seed(seed, {
    z <- sample(k, n, TRUE)
    shape <- lapply(seq_len(k), function(j) {
      sqrt(stats::rgamma(d, 4, 4)) * qr.Q(qr(matrix(stats::rnorm(d^2), d)))
    })
    centre <- matrix(stats::rnorm(k * d, sd = spread), k)
    x <- matrix(0, n, d)
    for (i in seq_len(n)) x[i, ] <- centre[z[i], ] + stats::rnorm(d) %*% shape[[z[i]]]
    list(x = x, z = z, k = k)
  })
}
heavy_tails <- function(seed, n, d) {
  withr::with_seed(seed, list(x = matrix(stats::rt(n * d, 3), n), z = NULL))
}
labelled <- function(x, z = NULL, k = NULL) list(x = x, z = z, k = k)

sets <- list(
  "planted, 1 column, 5" = planted(1, 1000, 5, 1, 5), "planted, 2 columns, 8" = planted(2, 1000, 8, 2, 4),
  "planted, 2 columns, 12" = planted(3, 1500, 12, 2, 3), "planted, 5 columns, 3" = planted(4, 200, 3, 5, 2),
  "planted, 8 columns, 10" = planted(5, 1500, 10, 8, 2), "planted, 12 columns, 4" = planted(6, 400, 4, 12, 1.5),
  "planted, 20 columns, 10" = planted(7, 2000, 10, 20, 1.5), "planted, 20 columns, 2" = planted(8, 100, 2, 20, 1.5),
  "t(3), 3 columns" = heavy_tails(9, 800, 3),
  iris = labelled(iris[, 1:4], iris$Species), faithful = labelled(faithful), swiss = labelled(swiss),
  quakes = labelled(quakes[, 1:4]), trees = labelled(trees), attitude = labelled(attitude),
  stackloss = labelled(stackloss), rock = labelled(rock), airquality = labelled(airquality[, 1:4]),
  penguins = labelled(penguins_measurements[, -1], penguins_measurements$species),
  galaxies = labelled(data.frame(x = MASS::galaxies / 1000)),
  crabs = labelled(MASS::crabs[, 4:8], paste(MASS::crabs$sp, MASS::crabs$sex)),
  pima = labelled(rbind(MASS::Pima.tr, MASS::Pima.te)[, 1:7], c(MASS::Pima.tr$type, MASS::Pima.te$type)),
  glass = labelled(MASS::fgl[, 1:9], MASS::fgl$type), boston = labelled(MASS::Boston[, c(1, 3, 5:14)]),
  biopsies = labelled(MASS::biopsy[, 2:10], MASS::biopsy$class)
)
from_mlbench <- function(name, columns, label) {
  data <- get(utils::data(list = name, package = "mlbench", envir = environment()))
  data <- data[withr::with_seed(1, sample(nrow(data), min(nrow(data), 3000))), ]
  labelled(data[, columns], data[[label]])
}
if (requireNamespace("mlbench", quietly = TRUE)) {
  sets <- c(sets, list(
    vehicle = from_mlbench("Vehicle", 1:18, "Class"), vowel = from_mlbench("Vowel", 2:10, "Class"),
    ionosphere = from_mlbench("Ionosphere", 3:34, "Class"), sonar = from_mlbench("Sonar", 1:60, "Class"),
    letters = from_mlbench("LetterRecognition", 2:17, "lettr"), satellite = from_mlbench("Satellite", 1:36, "classes"),
    "satellite, 8 columns" = from_mlbench("Satellite", 17:24, "classes"),
    shuttle = from_mlbench("Shuttle", 1:9, "Class"),
    "letters, 5 columns" = from_mlbench("LetterRecognition", 7:11, "lettr")
  ))
}

bnpvi_measured <- function(...) {
  function(shown, heldout, seed) {
    fit <- bnp_mixture(shown, obs_gaussian(...), control = bnp_control(seed = seed, verbose = FALSE))
    list(labels = fitted(fit), k = n_clusters(fit), score = function() heldout_loglik(fit, heldout))
  }
}
mclust_measured <- function(shown, heldout, seed) {
  mclustBIC <- mclust::mclustBIC # Mclust() looks for it by this name
  fit <- withr::with_seed(seed, mclust::Mclust(shown, G = 1:12, verbose = FALSE))
  dens <- function() mean(mclust::dens(heldout, fit$modelName, fit$parameters, logarithm = TRUE))
  list(labels = fit$classification, k = fit$G, score = dens)
}
asked <- c(commandArgs(TRUE), "bnpvi")
candidates <- switch(asked[1],
  mclust = list(mclust = mclust_measured), plug_in = list("plug-in" = bnpvi_measured(learn = TRUE)),
  list(given = bnpvi_measured(learn = FALSE, rounding = 0), learned = bnpvi_measured(learn = TRUE, rounding = 0))
)

measured <- function(set, split, fit_and_score) {
  shown <- withr::with_seed(split, sample(nrow(set$x), round(2 / 3 * nrow(set$x))))
  began <- proc.time()[["user.self"]]
  fit <- fit_and_score(set$x[shown, , drop = FALSE], set$x[-shown, , drop = FALSE], split)
  seconds <- proc.time()[["user.self"]] - began
  ari <- if (is.null(set$z)) NA else adjusted_rand_index(fit$labels, set$z[shown])
  c(heldout = fit$score(), k = fit$k, ari = ari, seconds = seconds)
}

if (length(asked) > 2L) sets <- sets[Reduce(`|`, lapply(asked[2:(length(asked) - 1L)], startsWith, x = names(sets)))]
for (name in names(sets)) {
  set <- sets[[name]]
  whole <- stats::complete.cases(set$x)
  set$x <- as.matrix(set$x)[whole, , drop = FALSE]
  set$z <- set$z[whole]
  for (candidate in names(candidates)) {
    splits <- suppressWarnings(vapply(1:3, function(split) {
      tryCatch(measured(set, split, candidates[[candidate]]), error = function(e) rep(NA_real_, 4))
    }, double(4)))
    mean <- rowMeans(splits)
    cat(sprintf(
      "%-24s %5d %3d  %-8s held out %9.3f  clusters %s%.1f  agreement %.2f  seconds %.3f\n", name, nrow(set$x),
      ncol(set$x), candidate, mean[1], if (is.null(set$k)) "" else paste0(set$k, " -> "), mean[2], mean[3], mean[4]
    ))
    flush(stdout())
  }
}
