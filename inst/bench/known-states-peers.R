# Known states and forbidden transitions beside momentuHMM's `knownStates` and `fixPar` on the same normal rows: the log
# likelihood of the rows (where states are known, of these, too) at our point estimates and at momentuHMM's maximum,
# both by the forward pass below, and momentuHMM's own figure. 600 rows, three states, three seeds.
# Rscript known-states-peers.R
library(bnpvi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "record.R"))

# log p(x, states in the sets that `known` allows) of one sequence.
log_lik <- function(x, known, start, transition, mean, sd) {
  k <- length(mean)
  e <- vapply(seq_len(k), function(j) stats::dnorm(x, mean[j], sd[j]) * (is.na(known) | known == j), x)
  at <- start * e[1, ]
  total <- 0
  for (t in seq_along(x)) {
    if (t > 1) at <- drop(at %*% transition) * e[t, ]
    total <- total + log(sum(at))
    at <- at / sum(at)
  }
  total
}

rows <- function(seed, n, transition) {
  set.seed(seed)
  z <- integer(n)
  z[1] <- 1L
  for (t in seq_len(n)[-1]) z[t] <- sample(nrow(transition), 1, prob = transition[z[t - 1], ])
  list(z = z, x = stats::rnorm(n, c(0, 2, 5)[z], c(1, 1, 1.5)[z]))
}

at_estimates <- function(fit, x, known) {
  p <- transition_matrix(fit)
  means <- coef(fit)
  log_lik(x, known, attr(p, "start"), unclass(p)[, ], c(means$mean), sqrt(c(means$cov)))
}

# momentuHMM from the true values; fixed: of the k (k - 1) working transition coefficients, NA free.
at_maximum <- function(x, known, k, beta = NULL) {
  data <- momentuHMM::prepData(data.frame(ID = 1, x = x), coordNames = NULL)
  args <- list(
    data, nbStates = k, dist = list(x = "norm"), Par0 = list(x = c(c(0, 2, 5)[1:k], c(1, 1, 1.5)[1:k])),
    knownStates = known
  )
  if (!is.null(beta)) {
    args$fixPar <- list(beta = beta)
    args$beta0 <- ifelse(is.na(beta), -2, beta)
  }
  utils::capture.output(fit <- suppressMessages(do.call(momentuHMM::fitHMM, args)))
  p <- momentuHMM::getTrProbs(fit)[, , 1]
  par <- fit$mle$x
  list(own = -fit$mod$minimum, same = log_lik(x, known, c(fit$mle$delta[1, ]), p, par["mean", ], par["sd", ]))
}

show <- function(what, seed, got, seconds, peer, best) {
  cat(sprintf(
    "%s, seed %d: ours %.3f (%.2f s), momentuHMM %.3f, by its own %.3f (%.2f s)\n", what, seed, got, seconds,
    best$same, best$own, peer
  ))
  record(paste0("600 rows, ", what, ", seed ", seed), "log likelihood at the estimates, s", sprintf(
    "%.3f, %.2f", got, seconds
  ))
  record(paste0("600 rows, ", what, ", seed ", seed), "log likelihood at the estimates, by its own, s", sprintf(
    "%.3f, %.3f, %.2f", best$same, best$own, peer
  ), peer = "momentuHMM")
}

for (seed in 1:3) {
  free <- rows(seed, 600, matrix(c(0.92, 0.05, 0.03, 0.04, 0.92, 0.04, 0.03, 0.05, 0.92), 3, byrow = TRUE))
  known <- ifelse(stats::runif(600) < 0.1, free$z, NA)
  seconds <- system.time(ours <- bnp_hmm(
    free$x, labels = as.character(known), obs = obs_gaussian(), prior = prior_hmm(3), control = bnp_control(seed = 1)
  ))[[1]]
  # States that are known by labels: mode j has the j-th mean.
  order <- order(c(coef(ours)$mean))
  got <- at_estimates(ours, free$x, match(known, order))
  peer <- system.time(best <- at_maximum(free$x, known, 3))[[1]]
  show("known states", seed, got, seconds, peer, best)

  up <- rows(seed + 10, 600, matrix(c(0.9, 0.1, 0, 0, 0.9, 0.1, 0.1, 0, 0.9), 3, byrow = TRUE)) # a cycle
  pattern <- rbind(c(TRUE, TRUE, FALSE), c(FALSE, TRUE, TRUE), c(TRUE, FALSE, TRUE))
  seconds <- system.time(ours <- bnp_hmm(
    up$x, obs = obs_gaussian(), prior = prior_hmm(3, transitions = pattern), control = bnp_control(seed = 1)
  ))[[1]]
  none <- rep(NA_integer_, 600)
  got <- at_estimates(ours, up$x, none)
  # Coefficients by row: 1 -> 2, 1 -> 3, 2 -> 1, 2 -> 3, 3 -> 1, 3 -> 2.
  peer <- system.time(best <- at_maximum(up$x, none, 3, matrix(c(NA, -1e2, -1e2, NA, NA, -1e2), 1)))[[1]]
  show("forbidden transitions", seed, got, seconds, peer, best)
}
