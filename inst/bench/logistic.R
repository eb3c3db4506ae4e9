# Logistic regressions in clusters and states, and counts, beside flexmix, depmixS4, glm() and MASS::glm.nb, on planted
# data and on those of others.
#
#   Rscript inst/bench/logistic.R [seeds]
#
# What depmixS4 says is printed where it is installed.
suppressMessages(library(bnpvi))
suppressMessages(library(flexmix))
seeds <- seq_len(as.integer(c(commandArgs(TRUE), 10L)[1L]))
quiet <- function(...) bnp_control(verbose = FALSE, ...)
logistic <- obs_regression(family = "binomial")
data(betablocker, Mehta, seizure, package = "flexmix")

# Mixture log likelihood at given weights and coefficients (a column a cluster) of groups of rows.
loglik_of <- function(y, m, x, group, weights, coef) {
  each <- vapply(seq_along(weights), function(k) {
    rowsum(stats::dbinom(y, m, stats::plogis(x %*% coef[, k]), log = TRUE), group)[, 1L] + log(weights[k])
  }, double(length(unique(group))))
  each <- matrix(each, ncol = length(weights))
  top <- apply(each, 1L, max)
  sum(top + log(rowSums(exp(each - top))))
}

cat("--- beside flexmix, K by its BIC of 1 to 4 (5 starts each)\n")
beside <- function(name, y, m, frame, formula, group) {
  x <- stats::model.matrix(formula, frame)
  frame$y <- y
  frame$n <- m - y
  frame$g <- group
  ours <- bnp_mixture(stats::update(formula, cbind(y, n) ~ .), frame, logistic, id = frame$g, control = quiet(seed = 1))
  set.seed(1)
  theirs <- suppressMessages(stepFlexmix(
    cbind(y, n) ~ 1 | g, data = frame, k = 1:4, nrep = 5, verbose = FALSE,
    model = FLXMRglm(stats::update(formula, cbind(y, n) ~ .), family = "binomial"), control = list(minprior = .03)
  ))
  best <- getModel(theirs, "BIC")
  same <- if (ours$state$k > 1L) getModel(theirs, as.character(min(ours$state$k, 4L))) else getModel(theirs, "1")
  used <- coef(ours)$weights[seq_len(ours$state$k)]
  cat(sprintf(
    "%-12s ours K %d, log likelihood at estimates %.2f; flexmix K by BIC %d, %.2f; flexmix told our K %.2f (K %d)\n",
    name,
    ours$state$k, loglik_of(y, m, x, group, used / sum(used), matrix(coef(ours)$coef[1, , ], ncol(x))), best@k,
    as.numeric(logLik(best)), as.numeric(logLik(same)), same@k
  ))
}
beside("betablocker", betablocker$Deaths, betablocker$Total, betablocker, ~ Treatment, betablocker$Center)
beside("Mehta", Mehta$Response, Mehta$Total, Mehta, ~ Drug, Mehta$Site)

cat("--- one cluster beside glm()\n")
one <- bnp_mixture(cbind(Deaths, Total - Deaths) ~ Treatment, betablocker, logistic, prior = prior_dirichlet(1),
  control = quiet(seed = 1))
other <- stats::glm(cbind(Deaths, Total - Deaths) ~ Treatment, stats::binomial(), betablocker)
se <- summary(other)$coefficients[, 2L]
cat("differences in standard errors:", signif((coef(one)$coef[1, , 1] - coef(other)) / se, 2), " ratio of half widths:",
  signif(drop(diff(t(confint(one, "coef", level = .9)))) / 2 / stats::qnorm(.95) / se, 3), "\n")

cat("--- separated classes\n")
apart <- bnp_mixture(y ~ x, data.frame(x = -10:10, y = -10:10 > 0), control = quiet(seed = 1)) |> suppressMessages()
cat("coefficients", signif(coef(apart)$coef[1, , ], 3), " bound", signif(elbo(apart), 4), "\n")

cat("--- three planted states, 2,500 trials, from one state\n")
choices <- function(seed, n = 2500) {
  set.seed(seed)
  state <- integer(n)
  state[1] <- 1L
  for (t in 2:n) state[t] <- if (runif(1) < .97) state[t - 1] else sample(setdiff(1:3, state[t - 1]), 1)
  x <- rnorm(n)
  b <- rbind(c(0, 4), c(2, .8), c(-2, .8))
  data.frame(x, y = rbinom(n, 1, plogis(b[state, 1] + b[state, 2] * x)), state, session = rep(1:5, each = n / 5))
}
# log p(y) of sequences by the forward recursion.
forward <- function(log_emission, session, start, transition) {
  total <- 0
  for (rows in split(seq_len(nrow(log_emission)), session)) {
    a <- start
    for (t in rows) {
      top <- max(log_emission[t, ])
      a <- (if (t == rows[1L]) a else drop(a %*% transition)) * exp(log_emission[t, ] - top)
      total <- total + log(sum(a)) + top
      a <- a / sum(a)
    }
  }
  total
}
found <- vapply(seeds, function(seed) {
  d <- choices(seed)
  used <- system.time(fit <- bnp_hmm(y ~ x, d, id = ~ session, obs = logistic, control = quiet(seed = seed)))
  c(fit$state$k, adjusted_rand_index(fitted(fit), d$state), used[["user.self"]])
}, double(3L))
cat("K", found[1L, ], " ARI", round(found[2L, ], 2), " CPU s, median", round(median(found[3L, ]), 2), "\n")

if (requireNamespace("depmixS4", quietly = TRUE)) {
  suppressMessages(library(depmixS4))
  best_of <- function(model, starts = 20L) {
    max(vapply(seq_len(starts), function(seed) {
      set.seed(seed)
      tryCatch(as.numeric(logLik(depmixS4::fit(model, verbose = FALSE))), error = function(e) -Inf)
    }, 1))
  }
  told <- function(formula, d, id, k, yes) {
    fit <- bnp_hmm(formula, d, id = id, obs = logistic, prior = prior_hmm(k), control = quiet(seed = 1))
    x <- stats::model.matrix(stats::delete.response(stats::terms(formula)), d)
    p <- stats::plogis(x %*% matrix(coef(fit)$coef[1, , ], ncol(x)))
    chain <- transition_matrix(fit)
    start <- attr(chain, "start")
    forward(stats::dbinom(yes, 1, p, log = TRUE), id, start / sum(start), chain / rowSums(chain))
  }
  data(speed, package = "depmixS4")
  times <- c(168L, 134L, 137L)
  series <- rep(1:3, times)
  yes <- as.integer(speed$corr == levels(speed$corr)[2L])
  cat("speed, corr ~ 1, two states: ours", round(told(corr ~ 1, speed, series, 2L, yes), 2), " depmixS4, best of 20",
    round(best_of(suppressMessages(depmix(corr ~ 1, data = speed, nstates = 2L,
      family = multinomial("identity"), ntimes = times))), 2), "\n")
  d <- choices(1)
  cat("planted, three states: ours", round(told(y ~ x, d, d$session, 3L, d$y), 2), " depmixS4, best of 20",
    round(best_of(depmix(cbind(y, 1 - y) ~ x, data = d, nstates = 3L, family = binomial(),
      ntimes = rep(500L, 5L))), 2), "\n")
}

cat("--- coverage of 90 % intervals of coefficients, planted clusters of 100 individuals with 20 trials\n")
truth <- rbind(c(0, 3), c(2, -1), c(-2, .5))
covered <- vapply(seq_len(10L * length(seeds)), function(seed) {
  set.seed(1000 + seed)
  id <- rep(1:100, each = 20)
  kind <- rep(1:3, length.out = 100)[id]
  d <- data.frame(id, x = rnorm(2000))
  d$y <- rbinom(2000, 1, plogis(truth[kind, 1] + truth[kind, 2] * d$x))
  fit <- bnp_mixture(y ~ x | id, d, logistic, control = quiet(seed = seed))
  if (fit$state$k != 3L) return(rep(NA, 6L))
  cluster <- vapply(1:3, function(k) which.max(tabulate(fitted(fit)[kind == k], 3L)), 1L)
  ends <- array(confint(fit, "coef", level = .9), c(2L, 3L, 2L))[, cluster, ]
  inside <- t(truth) >= ends[, , 1L] & t(truth) <= ends[, , 2L]
  as.double(inside)
}, double(6L))
cat("intervals", sum(!is.na(covered)), " covered", round(mean(covered, na.rm = TRUE), 3), " fits with another K",
  sum(is.na(covered[1L, ])), "\n")

cat("--- counts beside MASS::glm.nb and flexmix's seizure\n")
set.seed(1)
d <- data.frame(x = rnorm(500))
d$y <- rnbinom(500, size = 2, mu = exp(1 + .5 * d$x))
nb <- MASS::glm.nb(y ~ x, d)
counts <- obs_regression(family = "negbinomial")
ours <- bnp_mixture(y ~ x, d, counts, prior = prior_dirichlet(1), control = quiet(seed = 1))
cat("coefficients", signif(coef(ours)$coef[1, , 1], 4), "and", signif(coef(nb), 4), " size", signif(coef(ours)$size, 3),
  "and", signif(nb$theta, 3), "\n")
ours <- bnp_mixture(Seizures ~ Treatment * log(Day) + offset(log(Hours)), seizure, counts, control = quiet(seed = 1))
set.seed(1)
theirs <- stepFlexmix(Seizures ~ Treatment * log(Day), data = seizure, k = 1:3, nrep = 5, verbose = FALSE,
  model = FLXMRglm(family = "poisson", offset = log(seizure$Hours)))
best <- getModel(theirs, "BIC")
cat("seizure: ours K", ours$state$k, " flexmix (Poisson) K by BIC", best@k, " ARI of both",
  round(adjusted_rand_index(fitted(ours), clusters(best)), 2), "\n")

data(salmonellaTA98, package = "flexmix")
colonies <- transform(salmonellaTA98, x = log(x + 10))
ours <- bnp_mixture(y ~ x, colonies, counts, control = quiet(seed = 1))
theirs <- MASS::glm.nb(y ~ x, colonies)
cat("salmonellaTA98: ours K", ours$state$k, " coefficients", signif(coef(ours)$coef[1, , 1], 3), "and",
  signif(coef(theirs), 3), " size", signif(coef(ours)$size[1], 3), "and", signif(theirs$theta, 3), "\n")

cat("--- CPU milliseconds of a lap without moves beside a Gaussian regression, 100,000 rows, in turn\n")
lap <- function(formula, d, obs, k, laps = 40) {
  used <- function(laps) system.time(suppressWarnings(bnp_mixture(formula, d, obs, prior = prior_dirichlet(k),
    start = rep(seq_len(k), length.out = nrow(d)), control = quiet(moves = FALSE, max_laps = laps, tol = 0,
      restarts = 1, seed = 1))))[["user.self"]]
  suppressMessages(1000 * (used(laps + 3) - used(3)) / laps)
}
for (p in c(1L, 4L, 8L)) {
  set.seed(p)
  x <- matrix(rnorm(1e5 * p), 1e5)
  d <- data.frame(y = rnorm(1e5) + x[, 1L], z = rbinom(1e5, 1, plogis(x[, 1L])), x)
  right <- paste(names(d)[-(1:2)], collapse = "+")
  for (k in c(2L, 5L, 20L)) {
    times <- vapply(1:3, function(turn) {
      c(
        lap(stats::as.formula(paste("y ~", right)), d, obs_regression(learn = FALSE), k),
        lap(stats::as.formula(paste("z ~", right)), d, logistic, k)
      )
    }, double(2L))
    cat(sprintf(
      "%d covariates, %d clusters: Gaussian %.1f, logistic %.1f, %.2f times (%s)\n", p, k, mean(times[1L, ]),
      mean(times[2L, ]), sum(times[2L, ]) / sum(times[1L, ]),
      paste(round(times[2L, ] / times[1L, ], 2), collapse = ", ")
    ))
  }
}
