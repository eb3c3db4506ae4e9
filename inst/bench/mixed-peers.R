# Mixtures of numbers, counts and factors beside VarSelLCM, told to search K = 1 to 10 by BIC without choosing columns:
# agreement with the known groups, held-out log density a row (five folds) and CPU seconds of one whole search, on real
# data: penguins with sex and island; heart, 270 patients.
# Rscript mixed-peers.R [columns independent: TRUE or FALSE]
suppressPackageStartupMessages(library(bnpvi))
suppressPackageStartupMessages(requireNamespace("VarSelLCM"))

cpu <- function(expr) sum(system.time(expr)[c(1, 4)])
control <- function() bnp_control(seed = 1, verbose = FALSE, max_laps = 1000)
independent <- !isFALSE(as.logical(commandArgs(TRUE)[1]))

search <- function(x) {
  set.seed(1)
  VarSelLCM::VarSelCluster(x, gvals = 1:10, vbleSelec = FALSE, crit.varsel = "BIC", nbcores = 1)
}
# Log density of new rows, from the parameters of each component.
density_of <- function(found, x) {
  p <- found@param
  log_p <- vapply(seq_along(p@pi), function(k) {
    sum_of <- function(columns, f) if (length(columns)) rowSums(vapply(columns, f, double(nrow(x)))) else 0
    numbers <- rownames(p@paramContinuous@mu)
    counts <- rownames(p@paramInteger@lambda)
    factors <- names(p@paramCategorical@alpha)
    log(p@pi[k]) +
      sum_of(numbers, function(v) stats::dnorm(x[[v]], p@paramContinuous@mu[v, k], p@paramContinuous@sd[v, k], TRUE)) +
      sum_of(counts, function(v) stats::dpois(x[[v]], p@paramInteger@lambda[v, k], TRUE)) +
      sum_of(factors, function(v) {
        alpha <- p@paramCategorical@alpha[[v]]
        log(alpha[k, match(as.character(x[[v]]), colnames(alpha))])
      })
  }, double(nrow(x)))
  top <- do.call(pmax, as.data.frame(log_p))
  top + log(rowSums(exp(log_p - top)))
}
floored <- function(log_p) mean(pmax(log_p, log(1e-10)), na.rm = TRUE)

compare <- function(name, x, group, obs) {
  ours <- cpu(fit <- bnp_mixture(x, obs, control = control()))
  theirs <- cpu(found <- search(x))
  fold <- withr::with_seed(1, sample(rep(1:5, length.out = nrow(x))))
  scores <- vapply(1:5, function(i) {
    own <- bnp_mixture(x[fold != i, ], obs, control = control())
    other <- search(x[fold != i, ])
    c(
      floored(predict(own, x[fold == i, ], type = "logdensity")),
      floored(density_of(other, x[fold == i, ]))
    )
  }, double(2))
  cat(sprintf(
    "%-9s K %d, ARI %.3f, held out %.3f, %.2f s; VarSelLCM: K %d, ARI %.3f, held out %.3f, %.1f s\n", name,
    n_clusters(fit), adjusted_rand_index(fitted(fit), group), mean(scores[1, ]), ours, found@model@g,
    adjusted_rand_index(VarSelLCM::fitted(found), group), mean(scores[2, ]), theirs
  ))
}

gaussian <- obs_gaussian(if (independent) "diagonal" else "full")
if (requireNamespace("palmerpenguins", quietly = TRUE)) {
  birds <- stats::na.omit(as.data.frame(palmerpenguins::penguins))
  x <- cbind(as.data.frame(scale(birds[3:6])), birds[c("sex", "island")])
  compare("penguins", x, paste(birds$species, birds$sex), obs_product(gaussian, obs_categorical()))
}
data("heart", package = "VarSelLCM")
x <- heart[setdiff(names(heart), "Class")]
x[] <- lapply(x, function(v) if (is.factor(v)) v else as.numeric(v))
compare("heart", x, heart$Class, obs_product(gaussian, obs_categorical()))
