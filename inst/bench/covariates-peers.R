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
