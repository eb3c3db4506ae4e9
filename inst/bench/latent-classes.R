# Latent classes and mixtures of regressions beside packages that are told to search K = 1 to 10 by BIC, on real data.
#   Rscript inst/bench/latent-classes.R [set ...]     all sets by default: zoo, votes, carcinoma, cheating, election,
#                                                     regressions
# Per set: agreement with the known groups, held-out log density a row (five folds) and CPU seconds of one whole
# search. Maximum likelihood gives levels that a class never had probability 0: held-out densities are floored at
# 1e-10, for both sides. Needs poLCA, flexmix and mlbench; ten starts a K for poLCA (of election
# two, and one fifth held out instead of all five in turn), five for flexmix.

suppressPackageStartupMessages(library(bnpvi))

cpu <- function(expr) system.time(expr)[["user.self"]]
control <- function(seed = 1) bnp_control(seed = seed, verbose = FALSE, max_laps = 1000)
folds <- function(n) withr::with_seed(1, sample(rep(1:5, length.out = n)))
floored <- function(log_p) mean(pmax(log_p, log(1e-10)))

lca <- function(frame, starts = 10) {
  codes <- as.data.frame(lapply(frame, function(v) as.integer(factor(v))))
  formula <- stats::as.formula(paste0("cbind(", paste(names(codes), collapse = ", "), ") ~ 1"))
  set.seed(1)
  fits <- lapply(1:10, function(k) {
    tryCatch(
      poLCA::poLCA(
        formula, codes, nclass = k, nrep = if (k == 1) 1 else starts, maxiter = 5000, verbose = FALSE, na.rm = FALSE
      ),
      error = function(e) NULL
    )
  })
  fits <- Filter(Negate(is.null), fits)
  best <- fits[[which.min(vapply(fits, `[[`, 1, "bic"))]]
  list(fit = best, k = length(best$P), class = best$predclass)
}

# Log density of rows with the codes of the training data (`levels`), cells that are missing left out.
lca_density <- function(fit, codes) {
  log_p <- vapply(seq_along(fit$P), function(k) {
    log(fit$P[k]) + rowSums(vapply(seq_along(codes), function(j) {
      p <- c(fit$probs[[j]][k, ], NA)[codes[[j]]]
      ifelse(is.na(codes[[j]]), 0, log(ifelse(is.na(p), 0, p)))
    }, double(nrow(codes))))
  }, double(nrow(codes)))
  top <- do.call(pmax, as.data.frame(log_p))
  ifelse(is.finite(top), top + log(rowSums(exp(log_p - top))), -Inf)
}

classes <- function(name, frame, group, starts = 10, held_out = 1:5) {
  frame[] <- lapply(frame, factor)
  ours_seconds <- cpu(fit <- bnp_mixture(frame, control = control(), na_action = "model"))
  peer_seconds <- cpu(peer <- lca(frame, starts))
  fold <- folds(nrow(frame))
  score <- vapply(held_out, function(i) {
    train <- frame[fold != i, ]
    own <- bnp_mixture(train, control = control(), na_action = "model")
    other <- lca(train, starts)
    held <- frame[fold == i, ]
    codes <- as.data.frame(Map(function(v, t) match(as.character(v), sort(unique(as.character(t)))), held, train))
    codes <- as.data.frame(Map(function(code, v) ifelse(is.na(code) & !is.na(v), 1e6, code), codes, held))
    codes[] <- lapply(codes, function(v) pmin(v, 99))
    density <- lca_density(other$fit, as.data.frame(lapply(seq_along(codes), function(j) {
      pmin(codes[[j]], ncol(other$fit$probs[[j]]) + 1)
    })))
    c(
      floored(suppressWarnings(predict(own, held, type = "logdensity", na_action = "model"))), floored(density)
    )
  }, double(2))
  ari <- function(class) if (is.null(group)) NA else adjusted_rand_index(class, group)
  cat(sprintf(
    "%-11s K %d, ARI %.3f, held out %.3f, %.2f s; poLCA: K %d, ARI %.3f, held out %.3f, %.1f s\n", name,
    n_clusters(fit), ari(fitted(fit)), mean(score[1, ]), ours_seconds, peer$k, ari(peer$class), mean(score[2, ]),
    peer_seconds
  ))
}

regressions <- function() {
  data("NPreg", package = "flexmix", envir = environment())
  NPreg$square <- NPreg$x^2
  search <- function(data) {
    set.seed(1)
    flexmix::getModel(
      flexmix::stepFlexmix(yn ~ x + square, data = data, k = 1:10, nrep = 5, verbose = FALSE), which = "BIC"
    )
  }
  ours_seconds <- cpu(fit <- bnp_mixture(yn ~ x + square, NPreg, control = control()))
  peer_seconds <- cpu(peer <- search(NPreg))
  fold <- folds(nrow(NPreg))
  score <- vapply(1:5, function(i) {
    own <- bnp_mixture(yn ~ x + square, NPreg[fold != i, ], control = control())
    other <- search(NPreg[fold != i, ])
    held <- NPreg[fold == i, ]
    p <- flexmix::parameters(other)
    weight <- flexmix::prior(other)
    density <- rowSums(vapply(seq_along(weight), function(k) {
      weight[k] * stats::dnorm(held$yn, drop(cbind(1, held$x, held$square) %*% p[1:3, k]), p["sigma", k])
    }, double(nrow(held))))
    c(floored(predict(own, held, type = "logdensity")), floored(log(density)))
  }, double(2))
  cat(sprintf(
    "NPreg       K %d, ARI %.3f, held out %.3f, %.2f s; flexmix: K %d, ARI %.3f, held out %.3f, %.1f s\n",
    n_clusters(fit), adjusted_rand_index(fitted(fit), NPreg$class), mean(score[1, ]), ours_seconds, peer@k,
    adjusted_rand_index(flexmix::clusters(peer), NPreg$class), mean(score[2, ]), peer_seconds
  ))
}

bnp_mixture(faithful, control = control()) # so that no package is loaded in the figures below
data("Zoo", "HouseVotes84", package = "mlbench")
data("carcinoma", "cheating", "election", package = "poLCA")
sets <- list(
  zoo = function() classes("zoo", Zoo[setdiff(names(Zoo), "type")], Zoo$type),
  votes = function() classes("house votes", HouseVotes84[-1], HouseVotes84$Class),
  carcinoma = function() classes("carcinoma", carcinoma, NULL),
  cheating = function() classes("cheating", cheating[1:4], NULL),
  election = function() classes("election", election[1:12], NULL, starts = 2, held_out = 1),
  regressions = regressions
)
asked <- commandArgs(TRUE)
for (set in sets[if (length(asked)) asked else names(sets)]) set()
