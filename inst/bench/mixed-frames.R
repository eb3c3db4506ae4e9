# Data frames of numbers, factors and counts with planted groups: is their number found from default arguments?
#   Rscript inst/bench/mixed-frames.R [frames] [first seed]
# Each frame has n = 2,000 rows, 3 to 8 groups of unequal size, 4 correlated numbers, 4 factors of 2 to 6 levels and 2
# counts. Groups are moved apart until the rule with the true parameters has an adjusted Rand index of 0.97 to 0.99.
# Three models: the columns by their kind with counts as counts; bnp_mixture(df) as it is, which takes whole numbers as
# numbers; and local independence throughout.

suppressPackageStartupMessages(library(bnpvi))

rdirichlet <- function(a) {
  g <- stats::rgamma(length(a), a)
  g / sum(g)
}

# Parameters of K groups at a distance: `apart` scales the differences of means, log odds and log rates.
planted_parameters <- function(k) {
  covariance <- function(i) stats::cov2cor(crossprod(matrix(stats::rnorm(32), 8))) * stats::rgamma(1, 10, 10)
  list(
    weight = rdirichlet(rep(10, k)), mean = matrix(stats::rnorm(4 * k), k), cov = lapply(seq_len(k), covariance),
    logit = lapply(c(2, 3, 4, 6), function(l) matrix(stats::rnorm(k * l), k)), rate = matrix(stats::rnorm(2 * k), k)
  )
}

at_distance <- function(p, apart) {
  p$mean <- apart * p$mean
  p$prob <- lapply(p$logit, function(e) {
    e <- exp(apart * e * 0.7)
    e / rowSums(e)
  })
  p$rate <- exp(1.2 + 0.3 * apart * p$rate)
  p
}

planted_frame <- function(n, p) {
  k <- length(p$weight)
  group <- sample(k, n, TRUE, p$weight)
  x <- t(vapply(group, function(i) p$mean[i, ] + drop(stats::rnorm(4) %*% chol(p$cov[[i]])), numeric(4)))
  draw <- function(prob) vapply(group, function(i) sample.int(ncol(prob), 1L, prob = prob[i, ]), 1L)
  f <- vapply(p$prob, draw, integer(n))
  c <- matrix(stats::rpois(2 * n, p$rate[group, ]), n)
  list(group = group, x = x, f = f, c = c, data = data.frame(
    x = x, f1 = factor(letters[f[, 1]]), f2 = factor(letters[f[, 2]]), f3 = factor(letters[f[, 3]]),
    f4 = factor(letters[f[, 4]]), visits = c[, 1], calls = c[, 2]
  ))
}

bayes_rule <- function(frame, p) {
  log_p <- vapply(seq_along(p$weight), function(i) {
    half <- chol(p$cov[[i]])
    e <- backsolve(half, t(frame$x) - p$mean[i, ], transpose = TRUE)
    gauss <- -colSums(e^2) / 2 - sum(log(diag(half)))
    levels <- rowSums(vapply(1:4, function(j) log(p$prob[[j]][i, frame$f[, j]]), numeric(nrow(frame$x))))
    counts <- vapply(1:2, function(j) stats::dpois(frame$c[, j], p$rate[i, j], TRUE), numeric(nrow(frame$x)))
    log(p$weight[i]) + gauss + levels + rowSums(counts)
  }, numeric(nrow(frame$x)))
  max.col(log_p)
}

# A frame whose groups are as far apart as asked for.
make_frame <- function(seed, n = 2000) {
  set.seed(seed)
  k <- 3L + seed %% 6L
  repeat {
    p <- planted_parameters(k)
    low <- 0.2
    high <- 6
    for (i in 1:25) {
      apart <- (low + high) / 2
      at <- at_distance(p, apart)
      frame <- planted_frame(n, at)
      ari <- adjusted_rand_index(bayes_rule(frame, at), frame$group)
      if (ari >= 0.97 && ari <= 0.99) {
        return(c(frame, list(k = k, ari = ari, apart = apart)))
      }
      if (ari < 0.97) low <- apart else high <- apart
    }
  }
}

models <- list(
  by_kind = function() obs_product(obs_poisson(columns = c("visits", "calls")), obs_gaussian(), obs_categorical()),
  default = function() NULL,
  independent = function() {
    obs_product(obs_poisson(columns = c("visits", "calls")), obs_gaussian("diagonal"), obs_categorical())
  }
)

if (sys.nframe() == 0L) {
  args <- as.integer(commandArgs(TRUE))
  n_frames <- if (length(args)) args[1] else 20L
  first <- if (length(args) > 1L) args[2] else 1L
  rows <- list()
  for (seed in seq(first, length.out = n_frames)) {
    frame <- make_frame(seed)
    for (model in names(models)) {
      seconds <- system.time(fit <- suppressWarnings(bnp_mixture(
        frame$data, models[[model]](), control = bnp_control(seed = seed, verbose = FALSE)
      )))[["elapsed"]]
      rows[[length(rows) + 1L]] <- data.frame(
        seed, k = frame$k, model, found = n_clusters(fit), true_ari = round(frame$ari, 3),
        ari = round(adjusted_rand_index(fitted(fit), frame$group), 3), seconds = round(seconds, 2)
      )
      print(rows[[length(rows)]], row.names = FALSE)
    }
  }
  all <- do.call(rbind, rows)
  for (model in names(models)) {
    own <- all[all$model == model, ]
    cat(sprintf(
      "%-12s exact %.0f %%, within one %.0f %%, mean ARI %.3f (true parameters %.3f), median %.2f s\n", model,
      100 * mean(own$found == own$k), 100 * mean(abs(own$found - own$k) <= 1), mean(own$ari), mean(own$true_ari),
      stats::median(own$seconds)
    ))
  }
}
