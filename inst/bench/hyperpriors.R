# Learned concentrations of hierarchical models: planted values come back, whole fits with fixed and with learned
# values, and the time of a lap.
#
#   Rscript hyperpriors.R [seeds]
library(bnpvi)

seeds <- seq_len(as.integer(c(commandArgs(TRUE), 3)[1]))
learn <- gamma_prior(2, 1)
capture <- lapply(split(mocap6[-(1:3)], mocap6$sequence), as.matrix)
table_of <- function(rows) print(format(do.call(rbind, rows), digits = 7), row.names = FALSE)

# Documents of tokens whose topic is seen: each topic has a term of its own.
planted <- function(seed, alpha, gamma = 3, k = 10) {
  set.seed(seed)
  u <- rbeta(k, 1, gamma)
  weights <- prop.table(u * cumprod(c(1, 1 - u))[seq_len(k)])
  x <- t(replicate(300, rmultinom(1, 50, rgamma(k, alpha * weights) + 1e-300)[, 1]))
  x[, colSums(x) > 0]
}
cat("300 documents of 50 tokens, topics seen: alpha\n")
table_of(lapply(c(0.5, 3), function(alpha) {
  found <- sapply(seeds, function(seed) sapply(c(tight = "tight", loose = "loose"), function(bound) {
    x <- planted(seed, alpha)
    control <- bnp_control(seed = 1, max_laps = 200, tol = 1e-9, bound = bound, k_init = ncol(x), moves = FALSE)
    prior <- prior_hdp(gamma_prior(1, 0.1), gamma_prior(1, 0.01))
    suppressWarnings(coef(bnp_topics(x, obs_multinomial(1e-4), prior, control))$alpha)
  }))
  data.frame(truth = alpha, t(apply(found, 1, function(x) paste(round(x, 2), collapse = " "))))
}))

fitted_by <- function(what, seed, bound, fit) {
  seconds <- system.time(fit <- suppressWarnings(fit))[["user.self"]]
  learned <- glance(fit)[intersect(c("gamma", "alpha", "start", "sticky"), names(glance(fit)))]
  shown <- paste(names(learned), signif(as.double(unlist(learned)), 3), collapse = ", ")
  data.frame(what, bound, seed, elbo = elbo(fit), k = n_clusters(fit), laps = fit$laps, seconds, learned = shown)
}
cat("\nWhole fits\n")
table_of(unlist(lapply(c("loose", "tight"), function(bound) unlist(lapply(seeds, function(seed) {
  topics <- function(what, prior) {
    fitted_by(what, seed, bound, bnp_topics(whales$counts, prior = prior, control = bnp_control(
      seed = seed, max_laps = 60, bound = bound
    )))
  }
  sequences <- function(what, ...) {
    fitted_by(what, seed, bound, bnp_hmm(capture, obs = obs_ar(), prior = prior_hdp_hmm(...), control = bnp_control(
      seed = seed, bound = bound
    )))
  }
  list(
    topics("whales", prior_hdp()), topics("whales, gamma", prior_hdp(learn)),
    topics("whales, both", prior_hdp(learn, learn)), sequences("capture", sticky = 50),
    sequences("capture, gamma", learn, sticky = 50), sequences("capture, rows", learn, learn, learn, sticky = 50),
    sequences("capture, sticky", learn, learn, learn, gamma_prior(1, 0.01))
  )
}), recursive = FALSE)), recursive = FALSE))

# A prior as sharp as this holds alpha where it is, so that only the search is timed.
sharp <- gamma_prior(1e8, 2e8)
lap <- function(fit, x, prior, k, ...) {
  control <- bnp_control(seed = 1, max_laps = 60, k_init = k, moves = FALSE, tol = 1e-300, bound = "tight")
  trace <- elbo_trace(suppressWarnings(fit(x, prior = prior, control = control, ...)))
  trace$seconds[nrow(trace)] / nrow(trace)
}
cat("\nTime of a lap without moves against fixed values, least of 5\n")
ratio <- function(fit, x, fixed, learned, k, ...) {
  times <- vapply(1:5, function(i) c(lap(fit, x, fixed, k, ...), lap(fit, x, learned, k, ...)), double(2))
  min(times[2, ]) / min(times[1, ])
}
print(round(c(
  "whales, gamma" = ratio(bnp_topics, whales$counts, prior_hdp(), prior_hdp(learn), 30),
  "whales, alpha held" = ratio(bnp_topics, whales$counts, prior_hdp(), prior_hdp(10, sharp), 30),
  "whales, alpha" = ratio(bnp_topics, whales$counts, prior_hdp(), prior_hdp(10, learn), 30),
  "capture, gamma" = ratio(bnp_hmm, capture, prior_hdp_hmm(), prior_hdp_hmm(learn), 20, obs = obs_ar()),
  "capture, alpha held" = ratio(bnp_hmm, capture, prior_hdp_hmm(), prior_hdp_hmm(alpha = sharp), 20, obs = obs_ar()),
  "capture, alpha" = ratio(bnp_hmm, capture, prior_hdp_hmm(), prior_hdp_hmm(alpha = learn), 20, obs = obs_ar())
), 2))
