# Parameters of priors: refused where numbers would lose their digits, right everywhere else.

makers <- list(
  concentration = prior_dp, concentration = function(x) prior_dirichlet(1, x), gamma = function(x) prior_hdp(gamma = x),
  alpha = function(x) prior_hdp(alpha = x), alpha = function(x) prior_lda(1, x),
  gamma = function(x) prior_hdp_hmm(gamma = x), alpha = function(x) prior_hdp_hmm(alpha = x),
  start = function(x) prior_hdp_hmm(start = x), sticky = function(x) prior_hdp_hmm(sticky = x),
  alpha = function(x) prior_hmm(1, alpha = x), start = function(x) prior_hmm(1, start = x),
  sticky = function(x) prior_hmm(1, sticky = x), term_prior = obs_multinomial,
  a = function(x) obs_gamma(2, x), b = function(x) obs_survival(b = x), a = obs_binomial,
  a = function(x) obs_poisson(a = x), b = function(x) obs_poisson(b = x), a = function(x) obs_bernoulli(a = c(1, x)),
  b = function(x) obs_bernoulli(b = x),
  mean_strength = function(x) obs_gaussian(mean_strength = x), df = function(x) obs_gaussian(df = x),
  df = function(x) obs_ar(df = x), shape = function(x) gamma_prior(x, 1), rate = function(x) gamma_prior(2, x)
)

test_that("parameters out of range are refused, with the range in the error", {
  for (i in seq_along(makers)) {
    name <- names(makers)[i]
    range <- parameter_ranges[[name]]
    said <- gsub("+", "\\+", paste0("`", name, "` must be from ", range[1], " to ", range[2]), fixed = TRUE)
    for (x in c(5e-324, 1e-310, range[1] / 2, range[2] * 2, 1e300)) expect_bad(makers[[i]](x), "range", said)
    for (x in range) expect_no_error(makers[[i]](x))
  }
  expect_bad(obs_bernoulli(a = c(1, 1e-60, 1)), "range", "element 2")
  for (a in c(1e-11, 1e11)) expect_bad(obs_gamma(a = a), "range", "`a` must be from 1e-10 to 1e\\+10")
  expect_identical(prior_hmm(2, sticky = 0)$sticky, 0)
  expect_null(obs_multinomial(NULL)$term_prior)
})

test_that("shares of a concentration among k clusters are in a range, too", {
  expect_bad(prior_dirichlet(100, 1e-49), "range", "`concentration / k` must be")
  expect_bad(prior_lda(100, 1e-7), "range", "`alpha / k` must be")
  expect_bad(prior_hmm(100, start = 1e-7), "range", "`start / k` must be")
  expect_no_error(prior_hmm(100, sticky = 1e-50))
})

test_that("parameters in units of the data are refused beside the data", {
  fit <- function(...) {
    bnp_mixture(faithful, obs_gaussian(..., learn = FALSE), control = bnp_control(seed = 1, max_laps = 1))
  }
  expect_bad(fit(scale = 1e-16), "range", "`scale` must be from 1e-10 .*Entry 1 ")
  expect_bad(fit("diagonal", scale = c(1, 1e60)), "range", "Entry 2 ")
  expect_bad(fit("zero_mean", scale = 1e-16), "range", "`scale`")
  expect_bad(fit(df = 1 + 1e-12), "range", "`df - 1` must be")
  expect_bad(fit(mean = 1e9), "range", "`mean` would leave too few digits")
  expect_bad(fit("diagonal", mean = 1e200), "range", "`mean` would leave too few digits")
  expect_bad(fit(mean = c(3, 75), mean_strength = 1e12), "range", "`mean` and `mean_strength`")
  expect_bad(fit(scale = matrix(c(1, 1 - 1e-12, 1 - 1e-12, 1), 2)), "range", "singular")
  for (obs in list(
    obs_ar(coef_precision = 1e20), obs_ar(coef_mean = diag(1e8, 2)),
    obs_ar(intercept = TRUE, coef_precision = c(1, 1, 1e20))
  )) {
    expect_bad(bnp_hmm(faithful, obs = obs), "range", "`coef_(mean|precision)` would leave")
  }
  expect_bad(bnp_hmm(faithful, obs = obs_ar(scale = 1e-16)), "range", "`scale`")
  expect_bad(bnp_hmm(faithful, obs = obs_ar(coef_precision = 1e-60)), "range", "`coef_precision` must be")
  expect_bad(bregman_kmeans(faithful, 2, obs_gaussian(mean = 1e9)), "range", "`mean`")
  expect_no_error(fit(mean = c(30, 700)))
  expect_no_error(bnp_mixture(faithful * 1e100, control = bnp_control(seed = 1, max_laps = 1)))
  smooth <- sin(seq(0, 6, length.out = 3000))
  expect_no_error(bnp_hmm(smooth, obs = obs_ar(intercept = TRUE), control = bnp_control(seed = 1, max_laps = 1)))
})

# log Γ(a + n) − log Γ(a) for whole n.
rising <- function(a, n) mapply(function(a, n) sum(log(a + (seq_len(n) - 1))), a, n)
powers <- function(name) {
  at <- log10(parameter_ranges[[name]])
  10^unique(c(at[1], seq(ceiling(at[1]), at[2], by = if (long_tests()) 9 else 18), at[2]))
}
alone <- function(x, obs, prior = prior_dirichlet(1), by = bnp_mixture, ...) {
  by(x, obs = obs, prior = prior, control = bnp_control(seed = 1, k_init = 1, moves = FALSE, max_laps = 2), ...)$elbo
}
counts <- rbind(c(3, 0, 150, 1), c(0, 2, 7, 0), c(1, 1, 0, 0))

# Sums of shares over documents keep the rounding of what was added and taken away again, 1e-16 of a count, which
# log Γ(prior + sum) sees once the prior is as small. (For documents of rows, six seeds had up to 1e-7 of the bound.)
test_that("audited bounds keep eight digits at the lower ends of the ranges, those of documents of rows seven", {
  control <- bnp_control(seed = 2, k_init = 12, batches = 5, max_laps = if (long_tests()) 12 else 6, verbose = FALSE)
  control$audit <- TRUE
  expect_exact <- function(fit, within = 1e-8)
    expect_lt(max(fit$audit[["elbo"]], fit$audit[["gain"]], -fit$audit[["smallest_gain"]]), within)
  lowest <- vapply(parameter_ranges, `[`, 0, 1)
  words <- whales$counts[, Matrix::colSums(whales$counts) > 20]
  few <- as.matrix(words[, 1:60])
  expect_exact(bnp_topics(words, obs_multinomial(lowest[["term_prior"]]), control = control))
  expect_exact(bnp_mixture(words, obs_multinomial(lowest[["term_prior"]]), control = control))
  id <- rep(1:20, length.out = nrow(few))[order(rep(1:20, length.out = nrow(few)))]
  for (obs in some_of(list(
    obs_bernoulli(lowest[["a"]], 1), obs_bernoulli(lowest[["a"]], lowest[["b"]]), obs_poisson(lowest[["a"]], 1)
  ), by = 2, from = 2)) {
    x <- if (obs$family == "bernoulli") (few > 0) + 0 else few
    expect_exact(bnp_mixture(x, obs, control = control))
    expect_exact(bnp_topics(x, obs, control = control, id = id), within = 1e-7)
    expect_exact(bnp_hmm(x, id, obs, control = control))
  }
})

test_that("the ELBO of one cluster of counts is the evidence, for every term prior", {
  evidence <- function(a) sum(rising(a, colSums(counts))) - rising(sum(a), sum(counts))
  for (v in powers("term_prior")) {
    for (a in list(rep(v, 4), c(v, 0.3, 2, 1)))
      expect_equal(alone(counts, obs_multinomial(a)), evidence(a), tolerance = 1e-10)
  }
})

test_that("the ELBO of one cluster of zeros and ones is the evidence, for every beta prior", {
  x <- withr::with_seed(1, cbind(1, 0, matrix(rbinom(60, 1, 0.4), 20)))
  ones <- colSums(x)
  evidence <- function(a, b) sum(rising(a, ones) + rising(b, nrow(x) - ones)) - ncol(x) * rising(a + b, nrow(x))
  for (v in powers("a")) expect_equal(alone(x, obs_bernoulli(v, 0.3)), evidence(v, 0.3), tolerance = 1e-10)
  for (v in powers("b")) {
    expect_equal(alone(x, obs_bernoulli(0.1, v)), evidence(0.1, v), tolerance = 1e-10)
    expect_equal(alone(x, obs_bernoulli(v, v)), evidence(v, v), tolerance = 1e-10)
  }
})

test_that("the ELBO of one Gaussian cluster is the evidence, for every prior", {
  x <- withr::with_seed(2, rnorm(40, 3, 2))
  n <- length(x)
  evidence <- function(mean, strength, df, scale) {
    more <- sum((x - mean(x))^2) + strength * n / (strength + n) * (mean(x) - mean)^2
    rising(df / 2, n / 2) - n / 2 * log(pi * (scale + more)) - df / 2 * log1p(more / scale) - log1p(n / strength) / 2
  }
  check <- function(mean = 2, strength = 0.1, df = 3, scale = 1) {
    for (covariance in c("full", "diagonal")) {
      expect_equal(alone(x, obs_gaussian(covariance, mean, strength, df, scale)), evidence(mean, strength, df, scale),
        tolerance = 1e-8)
    }
  }
  for (v in powers("mean_strength")) if (v < 1e6) check(strength = v) else check(strength = v, mean = stats::median(x))
  for (v in powers("df")) check(df = v)
  for (v in powers("df")) check(df = v, scale = max(v, 1))
  for (v in 10^seq(-9, 49, by = 6)) check(mean = stats::median(x), scale = v)
  for (v in 10^c(-50, 0, 2, 4)) check(mean = v)
})

test_that("allocations to one cluster have the probability of the prior", {
  obs <- obs_multinomial(0.3)
  data <- alone(counts, obs)
  for (v in powers("concentration")) {
    expect_equal(alone(counts, obs, prior_dirichlet(1, v)), data, tolerance = 1e-10)
    expect_equal(alone(counts, obs, prior_dp(v)), data - sum(log1p(v / 1:3)), tolerance = 1e-10)
  }
  for (v in powers("concentration")) {
    for (d in c(0, 1e-300, 1e-10, 0.5, 0.999999)) {
      expect_equal(alone(counts, obs, prior_py(v, d)), data + sum(log((1:3 - d) / (v + 1:3))), tolerance = 1e-10)
    }
  }
  for (v in c(-0.5, -0.5 + 1e-10, -0.1)) {
    d <- 0.5 + 1e-12
    expect_equal(alone(counts, obs, prior_py(v, d)), data + sum(log((1:3 - d) / (v + 1:3))), tolerance = 1e-10)
  }
  for (shape in c(1, parameter_ranges$shape[2L])) { # of concentrations
    for (rate in c(parameter_ranges$rate, 1)) {
      # gamma = shape / rate * exp(t), weighed by its density around shape / rate
      t <- if (shape == 1) seq(-60, 6, length.out = 2e4) else seq(-1e-4, 1e-4, length.out = 2e4)
      w <- exp(shape * (t - expm1(t)))
      behind <- exp(-colSums(log1p(outer(1 / 1:3, shape / rate * exp(t)))))
      value <- alone(counts, obs, prior_dp(gamma_prior(shape, rate)))
      expect_equal(value, data + log(sum(w * behind) / sum(w)), tolerance = 1e-8)
    }
  }
  for (v in powers("alpha")) {
    expect_equal(alone(counts, obs, prior_lda(1, v), bnp_topics), data, tolerance = 1e-8)
    expect_equal(alone(counts, obs, prior_hmm(1, v), bnp_hmm), data, tolerance = 1e-8)
    expect_equal(alone(counts, obs, prior_hmm(1, start = v), bnp_hmm), data, tolerance = 1e-8)
    expect_equal(alone(counts, obs, prior_hmm(1, sticky = v), bnp_hmm), data, tolerance = 1e-8)
  }
})

test_that("at the ends of the ranges the ELBO is finite and rises", {
  control <- bnp_control(seed = 1, k_init = 4, moves = FALSE, batches = 3, max_laps = 8)
  expect_rises <- function(fit) {
    elbo <- elbo_trace(fit)$elbo
    expect_true(all(is.finite(elbo)))
    expect_gt(min(diff(elbo), 0), -1e-9 * abs(fit$elbo))
  }
  ends <- function(name, lower = 1) parameter_ranges[[name]] * c(lower, 1)
  for (v in ends("term_prior")) expect_rises(bnp_mixture(bars$counts[1:60, ], obs_multinomial(v), control = control))
  for (a in ends("a")) for (b in ends("b")) expect_rises(bnp_mixture(animals, obs_bernoulli(a, b), control = control))
  for (v in ends("mean_strength"))
    expect_rises(bnp_mixture(faithful, obs_gaussian(mean_strength = v), control = control))
  for (v in c(1 + 2e-10, 1e8)) expect_rises(bnp_mixture(faithful, obs_gaussian(df = v), control = control))
  for (shape in setdiff(c(1, ends("shape")), parameter_ranges$shape[1L])) { # of concentrations
    for (rate in ends("rate")) {
      for (d in some_of(c(0, 0.999999), by = 2, from = if (rate > 1) 2 else 1)) {
        prior <- prior_py(gamma_prior(shape, rate), d)
        expect_rises(bnp_mixture(faithful, prior = prior, control = control))
        expect_rises(bnp_mixture(faithful, prior = prior, control = bnp_control(seed = 1, max_laps = 8)))
      }
    }
  }
  for (d in c(0, 1e-300, 0.999999)) {
    for (v in ends("concentration")) expect_rises(bnp_mixture(faithful, prior = prior_py(v, d), control = control))
  }
  expect_rises(bnp_mixture(faithful, prior = prior_py(-0.5, 0.5 + 1e-15), control = control))
  text <- toy_corpus()
  fixed <- bnp_control(seed = 1, moves = FALSE, batches = 3, max_laps = 8)
  id <- rep(1:3, each = 38)
  for (alpha in ends("alpha", 4)) {
    expect_rises(bnp_topics(text, prior = prior_lda(4, alpha), control = fixed))
    for (gamma in ends("gamma")) expect_rises(bnp_topics(text, prior = prior_hdp(gamma, alpha), control = control))
    for (start in ends("start", 4)) {
      for (sticky in some_of(c(0, ends("sticky")), by = 2, from = if (start > 1) 2 else 1)) {
        chain <- function(prior, control) bnp_hmm(beaver1["temp"], id, prior = prior, control = control)
        expect_rises(chain(prior_hmm(4, alpha, start, sticky), fixed))
        expect_rises(chain(prior_hdp_hmm(1e50, alpha, start, sticky), control))
        expect_rises(chain(prior_hdp_hmm(1e-50, alpha, start, sticky), control))
      }
    }
  }
})
