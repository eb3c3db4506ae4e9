# Mixtures whose weights depend on covariates beside flexmix (FLXPmultinom) on the same rows: effects as weights at five
# ages, labels, time. flexmix is given the number of clusters, bnpvi finds it.
#
#   Rscript covariates-peers.R [sets]
library(bnpvi)
sets <- as.integer(c(commandArgs(TRUE), 5)[1])

planted <- function(n, seed, separation) {
  set.seed(seed)
  age <- runif(n, 20, 80)
  w <- (age - 50) / 15
  logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
  prob <- exp(logit) / rowSums(exp(logit))
  z <- 1 + rowSums(t(apply(prob, 1, cumsum)) < runif(n))
  x <- cbind(rnorm(n) + c(-separation, 0, separation)[z], rnorm(n))
  list(x = x, age = data.frame(age = age), z = z)
}
at <- data.frame(age = seq(25, 75, by = 12.5))
truth <- local({
  w <- (at$age - 50) / 15
  logit <- cbind(0, 0.4 + 1.5 * w, -0.5 - 1.5 * w)
  exp(logit) / rowSums(exp(logit))
})
# Clusters in the order of the planted ones.
in_order <- function(weights, labels, z) {
  order <- apply(table(labels, z), 1, which.max)
  out <- matrix(NA, nrow(weights), 3)
  out[, order] <- weights[, seq_along(order)]
  out
}
rmse <- function(a) sqrt(mean((a - truth)^2))
for (separation in c(6, 3)) for (n in c(1000, 10000)) for (set in seq_len(sets)) {
  data <- planted(n, set, separation)
  ours <- system.time(fit <- bnp_mixture(
    data$x, prior = prior_covariates(~ age), covariates = data$age, control = bnp_control(seed = set, verbose = FALSE)
  ))[["elapsed"]]
  weights <- in_order(predict(fit, at, type = "weights"), fitted(fit), data$z)
  line <- sprintf(
    "separation %g, n %5d, set %d: bnpvi K %d, rmse %.4f, ari %.3f, %.2f s", separation, n, set, n_clusters(fit),
    rmse(weights), adjusted_rand_index(fitted(fit), data$z), ours
  )
  if (requireNamespace("flexmix", quietly = TRUE)) {
    frame <- data.frame(a = data$x[, 1], b = data$x[, 2], data$age)
    theirs <- system.time(other <- flexmix::stepFlexmix(
      cbind(a, b) ~ 1, data = frame, k = 3, nrep = 5, verbose = FALSE, model = flexmix::FLXMCmvnorm(diagonal = FALSE),
      concomitant = flexmix::FLXPmultinom(~ age)
    ))[["elapsed"]]
    coef <- flexmix::parameters(other, which = "concomitant")
    logit <- cbind(1, at$age) %*% coef
    share <- exp(logit) / rowSums(exp(logit))
    labels <- flexmix::clusters(other)
    line <- paste0(line, sprintf(
      "; flexmix rmse %.4f, ari %.3f, %.2f s", rmse(in_order(share, labels, data$z)),
      adjusted_rand_index(labels, data$z), theirs
    ))
  }
  cat(line, "\n")
}

# Sequences: transitions by the same formula, two states in both. Peers take the covariate of the row stepped from, so
# that ours is the column of the row before. Probabilities of staying at the quartiles of the covariate, log likelihood
# at point estimates, states, time.
row_before <- function(v, id) stats::ave(v, id, FUN = function(v) c(v[1], v[-length(v)]))
stay_at <- function(p, order) apply(p, 3, function(m) diag(m)[order])
shown <- function(x) paste(format(round(x, 3), nsmall = 3), collapse = " ")

if (requireNamespace("depmixS4", quietly = TRUE)) {
  data("speed", package = "depmixS4", envir = environment())
  lengths <- c(168, 134, 137)
  series <- rep(1:3, lengths)
  frame <- data.frame(rt = speed$rt, corr = speed$corr, pacc = row_before(speed$Pacc, series))
  at <- data.frame(pacc = stats::quantile(speed$Pacc, c(0.25, 0.5, 0.75)))
  theirs <- system.time(other <- local({
    model <- depmixS4::depmix(
      list(rt ~ 1, corr ~ 1), data = speed, nstates = 2,
      family = list(stats::gaussian(), depmixS4::multinomial("identity")),
      transition = ~ Pacc, ntimes = lengths
    )
    set.seed(1)
    tries <- lapply(1:3, function(i) depmixS4::fit(model, verbose = FALSE))
    tries[[which.max(vapply(tries, function(fit) as.double(stats::logLik(fit)), 1))]]
  }))[["elapsed"]]
  of_row <- lapply(1:2, function(j) depmixS4::getpars(other@transition[[j]]))
  # logits of state 2 against state 1, from each state
  to_second <- vapply(of_row, function(b) stats::plogis(b[2] + b[4] * at$pacc), numeric(3))
  their_stay <- rbind(1 - to_second[, 1], to_second[, 2])
  for (open in c(FALSE, TRUE)) {
    ours <- system.time(fit <- bnp_hmm(
      frame[c("rt", "corr")], id = series, covariates = frame["pacc"],
      prior = if (open) prior_covariates(~ pacc) else prior_covariates(~ pacc, k = 2),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))[["elapsed"]]
    density <- nrow(frame) * as.double(heldout_loglik(
      fit, frame[c("rt", "corr")], series, "plugin", covariates = frame["pacc"]
    ))
    cat(sprintf(
      "speed: bnpvi K %d%s, log density %.1f, %.2f s; depmixS4 %.1f, %.2f s (3 starts); labels alike %.3f\n",
      n_clusters(fit), if (open) " (found)" else "", density, ours, as.double(stats::logLik(other)), theirs,
      adjusted_rand_index(fitted(fit), depmixS4::posterior(other, type = "viterbi")$state)
    ))
    if (!open) {
      order <- apply(table(depmixS4::posterior(other, type = "viterbi")$state, fitted(fit)), 1, which.max)
      cat("  P(stay) at quartiles of Pacc: bnpvi", shown(t(stay_at(transition_matrix(fit, at = at), order))), "\n")
      cat("                                theirs", shown(t(their_stay)), "\n")
    }
  }
}

if (requireNamespace("moveHMM", quietly = TRUE)) {
  elk <- moveHMM::elk_data
  names(elk)[names(elk) == "ID"] <- "id"
  elk[c("Easting", "Northing")] <- elk[c("Easting", "Northing")] / 1000
  prepared <- moveHMM::prepData(
    stats::setNames(elk, sub("^id$", "ID", names(elk))), type = "UTM", coordNames = c("Easting", "Northing")
  )
  prepared$dist_water <- prepared$dist_water / stats::sd(prepared$dist_water)
  zero <- mean(prepared$step == 0, na.rm = TRUE)
  theirs <- system.time(other <- moveHMM::fitHMM(
    prepared, nbStates = 2, stepPar0 = c(0.1, 1, 0.1, 1, if (zero > 0) c(0.05, 0.0005)), anglePar0 = c(pi, 0, 1, 1),
    formula = ~ dist_water
  ))[["elapsed"]]
  used <- prepared
  frame <- data.frame(step = used$step, angle = used$angle)
  walk <- obs_product(obs_gamma(columns = "step", zeros = TRUE), obs_vonmises(columns = "angle"))
  water <- data.frame(water = row_before(used$dist_water, used$ID))
  at <- data.frame(water = stats::quantile(used$dist_water, c(0.25, 0.5, 0.75)))
  beta <- other$mle$beta
  leave <- stats::plogis(cbind(1, at$water) %*% beta)
  for (open in c(FALSE, TRUE)) {
    ours <- system.time(fit <- bnp_hmm(
      frame, id = used$ID, covariates = water, na_action = "model",
      obs = walk,
      prior = if (open) prior_covariates(~ water) else prior_covariates(~ water, k = 2),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))[["elapsed"]]
    cat(sprintf(
      "elk (%d rows): bnpvi K %d%s, %.2f s; moveHMM %.2f s (one start); labels alike %.3f\n", nrow(frame),
      n_clusters(fit), if (open) " (found)" else "", ours, theirs,
      adjusted_rand_index(fitted(fit), moveHMM::viterbi(other))
    ))
    if (!open) {
      order <- apply(table(moveHMM::viterbi(other), fitted(fit)), 1, which.max)
      cat("  P(stay) at quartiles of water: bnpvi", shown(t(stay_at(transition_matrix(fit, at = at), order))), "\n")
      cat("                                 theirs", shown(1 - leave), "\n")
    }
  }
}
