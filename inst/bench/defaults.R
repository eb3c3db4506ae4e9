# Which defaults are right: mean log density of a held-out row (of a held-out token for topics), number of clusters and
# adjusted Rand index against labels, with the defaults and with learned hyperparameters, on planted and real data. A
# third of the rows, a fifth of the documents or a sequence is held out; medians over seeds.
#   Rscript defaults.R [seeds [directory]]     a directory with penguins.csv and train_pca50.csv.gz (Fashion-MNIST) adds
#                                              the penguins with sex and island, and 6,000 images
suppressPackageStartupMessages(library(bnpvi))
args <- commandArgs(TRUE)
seeds <- seq_len(as.integer(c(args, 5)[1]))
folder <- c(args[-1], ".")[1]
found <- function(file) list.files(folder, file, recursive = TRUE, full.names = TRUE)[1]
learn <- gamma_prior(2, 1)
control <- function(seed) bnp_control(seed = seed, verbose = FALSE)

row_of <- function(fit, heldout, truth) {
  ari <- if (is.null(truth)) NA else adjusted_rand_index(fitted(fit)[!is.na(truth)], truth[!is.na(truth)])
  c(heldout, n_clusters(fit), ari)
}
show <- function(set, candidates, measure) {
  for (name in names(candidates)) {
    seconds <- system.time(
      rows <- vapply(seeds, function(seed) suppressWarnings(measure(candidates[[name]], seed)), double(3))
    )[[1]]
    middle <- apply(rows, 1, stats::median)
    cat(sprintf(
      "%-24s %-22s %9.3f  K %3.0f (%.0f to %.0f)  ARI %6.3f  %6.1f s\n",
      set, name, middle[1], middle[2], min(rows[2, ]), max(rows[2, ]), middle[3], seconds
    ))
  }
  flush(stdout())
}

# Mixtures -----------------------------------------------------------------------------------------------------------

# The scale that the default would have if it came from the variance of the values drawn in to the central 95 %, and
# not from the width of these: more where columns are flat or have two peaks.
drawn_in <- function(x) {
  ends <- stats::quantile(x, c(0.025, 0.975), names = FALSE)
  min(stats::var(x), stats::var(pmin(pmax(x, ends[1]), ends[2])) / 0.913) # 0.913: of a normal distribution
}
wider <- function(x, covariance) {
  data <- list(x = as.matrix(x), n = nrow(x), d = ncol(x), starts = c(0L, nrow(x)))
  now <- bnpvi:::resolve_obs(obs_gaussian(covariance), data)
  ratio <- sqrt(vapply(x, drawn_in, 1) / bnpvi:::robust_variances(data$x, now$centre))
  unname(if (covariance == "full") now$scale * outer(ratio, ratio) else now$scale * ratio^2)
}
mixtures <- list(
  default = list(), "scale drawn in" = list(wider = TRUE), "concentration learned" = list(prior = prior_dp(learn)),
  "prior learned" = list(learn = TRUE), "both learned" = list(learn = TRUE, prior = prior_dp(learn))
)
fit_mixture <- function(x, candidate, seed) {
  numbers <- names(Filter(is.numeric, x))
  others <- setdiff(names(x), numbers)
  covariance <- if (length(others)) "diagonal" else "full"
  obs <- obs_gaussian(
    covariance, scale = if (isTRUE(candidate$wider)) wider(x[numbers], covariance), learn = isTRUE(candidate$learn)
  )
  if (length(others)) obs <- obs_product(obs, obs_categorical(columns = others))
  bnp_mixture(x, obs, if (is.null(candidate$prior)) prior_dp() else candidate$prior, control(seed))
}
planted <- function(d, k, n, sd, seed) {
  set.seed(seed)
  centres <- matrix(rnorm(k * d, sd = sd), k)
  z <- sample(k, n, TRUE)
  list(as.data.frame(centres[z, , drop = FALSE] + matrix(rnorm(n * d), n)), z)
}
sets <- list(
  "planted, 1 column" = planted(1, 5, 1000, 8, 1), "planted, 2 columns" = planted(2, 8, 1000, 10, 3),
  "overlapping, 2 columns" = planted(2, 12, 2000, 4, 2), "planted, 8 columns" = planted(8, 10, 2000, 3, 4),
  "planted, 20 columns" = planted(20, 10, 1500, 2, 5), faithful = list(faithful), quakes = list(quakes[1:4]),
  iris = list(iris[1:4], iris$Species), "iris, species a column" = list(iris), swiss = list(swiss),
  penguins = list(
    stats::na.omit(penguins_measurements)[-1], stats::na.omit(penguins_measurements)$species
  )
)
known <- mocap6[!is.na(mocap6$action), ]
sets[["motion capture, rows"]] <- list(known[-(1:3)], known$action)
set.seed(6)
z <- sample(3, 900, TRUE)
sets[["tails of t(2)"]] <- list(data.frame(a = 15 * z + rt(900, 2), b = rt(900, 2)), z)
sets[["uniform"]] <- list(data.frame(a = runif(500), b = runif(500)), rep(1, 500))
if (requireNamespace("MASS", quietly = TRUE)) {
  sets$galaxies <- list(data.frame(speed = MASS::galaxies / 1000))
  sets$crabs <- list(MASS::crabs[4:8], paste(MASS::crabs$sp, MASS::crabs$sex))
  sets$glass <- list(MASS::fgl[1:9], MASS::fgl$type)
  sets$biopsies <- list(stats::na.omit(MASS::biopsy)[2:10], stats::na.omit(MASS::biopsy)$class)
}
if (!is.na(found("penguins.csv"))) {
  p <- utils::read.csv(found("penguins.csv"))
  p <- p[stats::complete.cases(p) & p$sex %in% c("male", "female"), ]
  sets[["penguins, sex, island"]] <- list(
    p[c(names(Filter(is.numeric, p))[1:4], "sex", "island")], paste(p$species, p$sex)
  )
}
if (!is.na(found("train_pca50.csv.gz"))) {
  fashion <- utils::read.csv(gzfile(found("train_pca50.csv.gz")), nrows = 6000)
  for (d in c(8, 20, 50)) {
    sets[[paste0("Fashion, ", d, " columns")]] <- list(fashion[setdiff(names(fashion), "label")[1:d]], fashion$label)
  }
}
for (name in names(sets)) {
  x <- sets[[name]][[1]]
  truth <- if (length(sets[[name]]) > 1) sets[[name]][[2]]
  show(name, mixtures, function(candidate, seed) {
    set.seed(seed)
    some <- sort(sample(nrow(x), round(2 * nrow(x) / 3)))
    fit <- fit_mixture(x[some, , drop = FALSE], candidate, seed)
    row_of(fit, heldout_loglik(fit, x[-some, , drop = FALSE]), truth[some])
  })
}

# Sequences ----------------------------------------------------------------------------------------------------------

hmms <- list(
  default = list(), "concentrations learned" = list(prior = prior_hdp_hmm(learn, learn, learn)),
  "prior learned" = list(learn = TRUE),
  "all learned" = list(learn = TRUE, prior = prior_hdp_hmm(learn, learn, learn))
)
beavers <- list(beaver1["temp"], beaver2["temp"])
capture <- split(mocap6[-(1:3)], mocap6$sequence)
sequences <- list(
  beavers = list(beavers, list(beaver1$activ, beaver2$activ)),
  "motion capture" = list(capture, split(as.integer(mocap6$action), mocap6$sequence))
)
for (name in names(sequences)) {
  x <- lapply(sequences[[name]][[1]], as.matrix)
  truth <- sequences[[name]][[2]]
  show(name, hmms, function(candidate, seed) {
    out <- (seed - 1) %% length(x) + 1
    fit <- bnp_hmm(
      x[-out], obs = obs_gaussian(learn = isTRUE(candidate$learn)),
      prior = if (is.null(candidate$prior)) prior_hdp_hmm() else candidate$prior, control = control(seed)
    )
    row_of(fit, heldout_loglik(fit, x[out]), unlist(truth[-out]))
  })
}

# Topics -------------------------------------------------------------------------------------------------------------

topics <- list(
  default = list(), "gamma learned" = list(prior = prior_hdp(learn)),
  "both learned" = list(prior = prior_hdp(learn, learn)), "terms learned" = list(obs = obs_multinomial(NULL)),
  "all learned" = list(obs = obs_multinomial(NULL), prior = prior_hdp(learn, learn))
)
for (name in c("whales", "birds")) {
  x <- get(name)$counts
  show(name, topics, function(candidate, seed) {
    set.seed(seed)
    out <- sample(nrow(x), nrow(x) %/% 5)
    fit <- bnp_topics(
      x[-out, ], if (is.null(candidate$obs)) obs_multinomial() else candidate$obs,
      if (is.null(candidate$prior)) prior_hdp() else candidate$prior, control(seed)
    )
    row_of(fit, heldout_loglik(fit, x[out, ], seed = seed), NULL)
  })
}
