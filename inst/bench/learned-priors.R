# Held-out density a row (nats), clusters, bound and seconds: given priors of obs_gaussian() and learned ones, on sets
# that come with R, MASS and this package; means of three random splits, two thirds to fit.
#
#   Rscript learned-priors.R
library(bnpvi)

sets <- list(
  iris = iris[, 1:4], faithful = faithful, swiss = swiss, quakes = quakes[, 1:4], trees = trees, attitude = attitude,
  stackloss = stackloss, penguins = penguins_measurements[, -1], galaxies = data.frame(x = MASS::galaxies / 1000),
  crabs = MASS::crabs[, 4:8], pima = rbind(MASS::Pima.tr, MASS::Pima.te)[, 1:7], glass = MASS::fgl[, 1:9],
  boston = MASS::Boston[, c(1, 3, 5:14)]
)

measured <- function(x, split, ...) {
  shown <- withr::with_seed(split, sample(nrow(x), round(2 / 3 * nrow(x))))
  began <- proc.time()[["user.self"]]
  fit <- bnp_mixture(x[shown, , drop = FALSE], obs_gaussian(...), control = bnp_control(seed = split, verbose = FALSE))
  seconds <- proc.time()[["user.self"]] - began
  c(heldout = heldout_loglik(fit, x[-shown, , drop = FALSE]), k = n_clusters(fit), elbo = elbo(fit), seconds = seconds)
}

table <- do.call(rbind, lapply(names(sets), function(name) {
  x <- as.matrix(sets[[name]])
  x <- x[stats::complete.cases(x), , drop = FALSE]
  both <- suppressWarnings(rowMeans(vapply(1:3, function(split) {
    c(given = measured(x, split), learned = measured(x, split, learn = TRUE))
  }, double(8))))
  data.frame(set = name, n = nrow(x), d = ncol(x), t(round(both, 3)))
}))
print(table, row.names = FALSE)
