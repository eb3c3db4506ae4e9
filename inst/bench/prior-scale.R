# How wide clusters are expected to be: default scales of the Gaussian prior against each other, by the mean log
# density of held-out rows, the bound, the number of clusters and the adjusted Rand index of the rows that were fitted,
# and CPU seconds; one thread, births from one cluster, seeds 1, 2, ...
#   Rscript prior-scale.R planted [seeds [columns]]     Gaussian clusters in D = 1 to 100 columns, of full or low rank
#   Rscript prior-scale.R zero [seeds]                  26 clusters with mean zero, of low rank and of rank two
#   Rscript prior-scale.R real [directory]              data sets of R, and those of a directory where they are there:
#                                                       train_pca50.csv.gz (Fashion-MNIST), mocap6.csv, penguins.csv
suppressPackageStartupMessages(library(bnpvi))

args <- commandArgs(TRUE)
what <- if (length(args)) args[1] else "planted"
seeds <- if (length(args) > 1 && what != "real") as.integer(args[2]) else 2L
dims <- if (length(args) > 2) as.integer(strsplit(args[3], ",")[[1]]) else c(1, 2, 4, 8, 16, 32, 64, 100)
rows <- 3000
heldout <- 1000

# k clusters of equal share with random axes; all but the first `rank` directions have a share `flat` of the standard
# deviation.
draw <- function(d, k, n, rank = d, flat = 0.1, zero_mean = FALSE) {
  halves <- lapply(seq_len(k), function(j) {
    axes <- qr.Q(qr(matrix(stats::rnorm(d * d), d)))
    sd <- stats::runif(d, 0.6, 1) * ifelse(seq_len(d) > rank, flat, 1)
    sd * t(axes)
  })
  apart <- if (zero_mean) 0 else max(2, 8 / sqrt(d))
  centres <- matrix(stats::rnorm(k * d, sd = apart), k)
  if (d == 1) centres[] <- 8 * seq_len(k)
  z <- sample(k, n, TRUE)
  x <- centres[z, , drop = FALSE]
  for (j in seq_len(k)) {
    own <- which(z == j)
    x[own, ] <- x[own, ] + matrix(stats::rnorm(length(own) * d), ncol = d) %*% halves[[j]]
  }
  list(x = x, z = z)
}

# Pooled variances within the clusters of one run of k-means with sqrt(n) / 2 centres on columns of unit variance.
within_kmeans <- function(x) {
  z <- scale(x, center = FALSE, scale = apply(x, 2, stats::sd))
  fit <- suppressWarnings(stats::kmeans(z, min(nrow(z) %/% 10, round(sqrt(nrow(z)) / 2)), iter.max = 10))
  resid <- x - rowsum(x, fit$cluster)[fit$cluster, , drop = FALSE] / fit$size[fit$cluster]
  colSums(resid^2) / (nrow(x) - length(fit$size))
}

candidates <- function(x, covariance) {
  d <- ncol(x)
  unit <- obs_gaussian(covariance)
  engine <- list(x = x, n = nrow(x), d = d, starts = c(0L, nrow(x)))
  now <- bnpvi:::resolve_obs(unit, engine)$scale
  share <- function(s) obs_gaussian(covariance, scale = s * now)
  known <- list(
    now = unit, `x 3` = share(3), `x 0.3` = share(0.3), `x 0.1` = share(0.1), `x 0.03` = share(0.03),
    `x 0.01` = share(0.01),
    learned = obs_gaussian(covariance, learn = TRUE),
    `0.1, learned` = obs_gaussian(covariance, scale = 0.1 * now, learn = TRUE)
  )
  if (covariance != "zero_mean") {
    least <- 1e-3 * if (is.matrix(now)) diag(now) else now
    known$kmeans <- obs_gaussian(covariance, scale = pmax(within_kmeans(x), least))
  }
  known
}

measure <- function(name, train, test, truth, covariance = "full", seed = 1, ...) {
  set.seed(seed)
  all <- candidates(train, covariance)
  do.call(rbind, lapply(names(all), function(candidate) {
    seconds <- system.time(
      fit <- try(suppressWarnings(bnp_mixture(
        train, all[[candidate]], control = bnp_control(seed = seed, verbose = FALSE, ...)
      )), silent = TRUE)
    )[1]
    if (inherits(fit, "try-error")) {
      message(name, ", ", candidate, ": ", fit)
      return(NULL)
    }
    data.frame(
      set = name, seed = seed, prior = candidate, heldout = heldout_loglik(fit, test), elbo = elbo(fit),
      k = n_clusters(fit), ari = if (is.null(truth)) NA else adjusted_rand_index(fitted(fit), truth),
      seconds = unname(seconds)
    )
  }))
}

show <- function(table) {
  table[c("heldout", "ari", "seconds")] <- round(table[c("heldout", "ari", "seconds")], 3)
  table$elbo <- round(table$elbo)
  write.table(format(table), quote = FALSE, row.names = FALSE, col.names = FALSE, sep = "\t")
  flush(stdout())
}

if (what == "planted") {
  for (d in dims) {
    for (low_rank in if (d == 1) FALSE else c(FALSE, TRUE)) {
      for (covariance in if (low_rank) "full" else c("full", "diagonal")) {
        for (seed in seq_len(seeds)) {
          set.seed(1000 * d + seed)
          made <- draw(d, if (d == 1) 5 else 10, rows + heldout, if (low_rank) max(1, d / 4) else d)
          some <- seq_len(rows)
          train <- made$x[some, , drop = FALSE]
          name <- paste0(covariance, " D=", d, if (low_rank) " low rank")
          show(measure(name, train, made$x[-some, , drop = FALSE], made$z[some], covariance, seed))
        }
      }
    }
  }
} else if (what == "zero") {
  # Columns, directions with variance, and the standard deviation in the others.
  shapes <- list(
    c(8, 2, 0.03), c(25, 6, 0.1), c(25, 2, 0.03), c(64, 16, 0.1), c(64, 2, 0.03), c(64, 8, 0.01), c(64, 20, 0.003)
  )
  for (shape in shapes) {
    for (seed in seq_len(seeds)) {
      set.seed(1000 * shape[1] + seed)
      made <- draw(shape[1], 26, 5200 + heldout, shape[2], shape[3], zero_mean = TRUE)
      some <- seq_len(5200)
      name <- paste("zero mean", paste(shape, collapse = " "))
      show(measure(name, made$x[some, ], made$x[-some, ], made$z[some], "zero_mean", seed))
    }
  }
} else {
  folder <- if (length(args) > 1) args[2] else "."
  sets <- list(
    faithful = list(faithful, NULL), quakes = list(quakes[1:4], NULL), iris = list(iris[1:4], iris$Species)
  )
  if (requireNamespace("MASS", quietly = TRUE)) sets$galaxies <- list(matrix(MASS::galaxies / 1000), NULL)
  found <- function(file) list.files(folder, file, recursive = TRUE, full.names = TRUE)[1]
  if (!is.na(found("penguins.csv"))) {
    penguins <- utils::read.csv(found("penguins.csv"))
    numeric <- names(Filter(is.numeric, penguins))[1:4]
    penguins <- penguins[stats::complete.cases(penguins[numeric]), ]
    sets$penguins <- list(penguins[numeric], penguins$species)
  }
  if (!is.na(found("mocap6.csv"))) {
    mocap <- utils::read.csv(found("mocap6.csv"))
    sets$mocap <- list(mocap[5:16], mocap$action)
  }
  if (!is.na(found("train_pca50.csv.gz"))) {
    fashion <- utils::read.csv(gzfile(found("train_pca50.csv.gz")), nrows = 4000)
    for (d in c(10, 25, 50)) sets[[paste0("fashion", d)]] <- list(fashion[1 + seq_len(d)], fashion$label)
  }
  for (name in names(sets)) {
    x <- as.matrix(sets[[name]][[1]])
    for (seed in 1:2) {
      set.seed(seed)
      some <- sample(nrow(x), 3 * nrow(x) %/% 4)
      for (covariance in c("full", "diagonal")) {
        train <- x[some, , drop = FALSE]
        truth <- sets[[name]][[2]][some]
        show(measure(paste(name, covariance), train, x[-some, , drop = FALSE], truth, covariance, seed))
      }
    }
  }
}
