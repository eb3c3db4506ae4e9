# Wavelet coefficients of images as quadtrees (waveslim: barbara, dau; Haar, all levels but the coarsest two): each node
# has the horizontal, vertical and diagonal detail of a patch, its children those of its four quarters. Halves of the
# image, left and right, in turn: fitted to one, scored on the other, per node, by trees, with the same transitions for
# all and with those of each quarter, by a mixture, and by a chain along the rows of each level. States are Gaussians of
# mean 0, as many as each model wants.
# Rscript trees-wavelets.R
suppressPackageStartupMessages(library(bnpvi))

# list(x, parent, level, side, quarter): nodes of all levels, coarse ones first, whose side is 1 left of the middle,
# else 2, and which quarter of its parent's patch each is, from 1 to 4.
quadtree <- function(image, coarsest = 2L) {
  levels <- log2(nrow(image)) - coarsest
  wavelets <- waveslim::dwt.2d(image, "haar", levels)
  x <- parent <- level <- side <- quarter <- NULL
  before <- 0
  for (j in levels:1) {
    size <- nrow(image) / 2^j
    at <- arrayInd(seq_len(size^2), c(size, size))
    up <- if (j == levels) 0 else before - (size / 2)^2 + (at[, 1] + 1) %/% 2 + ((at[, 2] + 1) %/% 2 - 1) * size / 2
    detail <- vapply(c("LH", "HL", "HH"), function(b) c(wavelets[[paste0(b, j)]]), numeric(size^2))
    x <- rbind(x, detail)
    parent <- c(parent, rep_len(up, size^2))
    level <- c(level, rep(j, size^2))
    side <- c(side, 1 + (at[, 2] > size / 2))
    quarter <- c(quarter, 1 + (at[, 1] + 1) %% 2 + 2 * ((at[, 2] + 1) %% 2))
    before <- before + size^2
  }
  list(x = x, parent = parent, level = level, side = side, quarter = quarter)
}

half <- function(tree, side) {
  rows <- which(tree$side == side)
  list(
    x = tree$x[rows, ], parent = match(tree$parent[rows], rows, nomatch = 0), level = tree$level[rows],
    quarter = tree$quarter[rows]
  )
}

score <- function(train, test, seed) {
  control <- bnp_control(seed = seed, max_laps = 60, verbose = FALSE)
  obs <- obs_gaussian("zero_mean")
  fits <- list(
    tree = bnp_hmm(train$x, parent = train$parent, obs = obs, control = control),
    quarters = bnp_hmm(train$x, parent = train$parent, position = train$quarter, obs = obs, control = control),
    chain = bnp_hmm(train$x, train$level, obs = obs, control = control),
    mixture = bnp_mixture(train$x, obs, control = control)
  )
  found <- c(
    tree = heldout_loglik(fits$tree, test$x, parent = test$parent),
    quarters = heldout_loglik(fits$quarters, test$x, parent = test$parent, position = test$quarter),
    chain = heldout_loglik(fits$chain, test$x, test$level), mixture = heldout_loglik(fits$mixture, test$x)
  )
  rbind(score = found, states = vapply(fits, n_clusters, 1L), seconds = vapply(fits, function(f) {
    max(elbo_trace(f)$seconds)
  }, 1))
}

images <- new.env()
utils::data("barbara", "dau", package = "waveslim", envir = images)
for (name in c("barbara", "dau")) {
  tree <- quadtree(as.matrix(images[[name]]))
  for (side in 1:2) {
    cat(name, c("left", "right")[side], "held out\n")
    print(signif(suppressWarnings(score(half(tree, 3 - side), half(tree, side), 1)), 5))
  }
}
