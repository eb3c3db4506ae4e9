# Successes among trials: closed forms, every way that pairs of columns come in, and bad input.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
shots <- withr::with_seed(1, {
  cluster <- rep(1:3, each = 40)
  trials <- matrix(rpois(240, 15), 120)
  hits <- matrix(rbinom(240, trials, cbind(c(0.1, 0.5, 0.9), c(0.5, 0.1, 0.8))[cluster, ]), 120)
  list(near = cbind(hit = hits[, 1], miss = (trials - hits)[, 1]), far = cbind(hits[, 2], (trials - hits)[, 2]))
})
both <- cbind(near = shots$near[, 1], missed = shots$near[, 2], far = shots$far[, 1], wide = shots$far[, 2])

# Beta-binomial probabilities of each row given those before it.
sequential <- function(success, failure, a, b) {
  before <- function(v) c(0, cumsum(v)[-length(v)])
  a <- a + before(success)
  b <- b + before(failure)
  sum(lchoose(success + failure, success) + lbeta(a + success, b + failure) - lbeta(a, b))
}

test_that("the evidence is that of quadrature, and of Bernoulli columns where a row is one trial", {
  x <- cbind(c(3, 0, 7, 2), c(1, 0, 2, 9))
  model <- list(obs = list(family = "binomial", a = 0.4, b = 2), prior = one)
  resp <- cbind(1, c(0.3, 0.9, 0.2, 1))
  e <- engine_contract(engine_data(x), model, resp)
  evidence <- function(r) log(integrate(function(p) vapply(p, function(p) {
    exp(sum(r * dbinom(x[, 1], rowSums(x), p, log = TRUE)) + dbeta(p, 0.4, 2, log = TRUE))
  }, 0), 0, 1, rel.tol = 1e-10)$value)
  expect_equal(e$evidence + colSums(resp * e$log_base), apply(resp, 2, evidence), tolerance = 1e-7)
  bits <- withr::with_seed(2, matrix(rbinom(120, 1, rep(c(0.2, 0.9), each = 20)), 40))
  pairs <- matrix(rbind(as.vector(bits), 1 - as.vector(bits)), 2)
  pairs <- do.call(cbind, lapply(1:3, function(j) cbind(bits[, j], 1 - bits[, j])))
  plain <- bnp_mixture(bits, obs_bernoulli(learn = FALSE), control = quiet(seed = 1))
  fit <- bnp_mixture(pairs, obs_binomial(), control = quiet(seed = 1))
  expect_equal(elbo(fit), elbo(plain), tolerance = 1e-10)
  expect_identical(unname(fitted(fit)), unname(fitted(plain)))
})

test_that("the ELBO of one cluster is the exact log evidence, in every family", {
  obs <- obs_binomial(c(0.7, 2), c(far = 3, near = 0.2))
  exact <- sequential(both[, 1], both[, 2], 0.7, 0.2) + sequential(both[, 3], both[, 4], 2, 3)
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(both, obs, one, control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_hmm(both, rep(1:4, each = 30), obs, prior_hmm(1), control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_topics(both, obs, prior_lda(1), control, id = rep(1:4, 30))), exact, tolerance = 1e-12)
  }
  fit <- bnp_mixture(both, obs, one, quiet())
  new <- rbind(both, c(5, 1, 0, 9))
  ahead <- sequential(new[, 1], new[, 2], 0.7, 0.2) + sequential(new[, 3], new[, 4], 2, 3) - exact
  expect_equal(unname(predict(fit, new, "logdensity")[121]), ahead, tolerance = 1e-9)
  hard <- bregman_kmeans(shots$near, 1, obs_binomial(2, 3), seed = 1)
  share <- (2 + sum(shots$near[, 1])) / (5 + sum(shots$near))
  expect_equal(hard$objective, sum(dbinom(shots$near[, 1], rowSums(shots$near), share, log = TRUE)))
})

test_that("pairs come as a matrix, as matrices in a data frame, or in a formula, and are found by their names", {
  control <- quiet(seed = 1)
  fit <- bnp_mixture(both, obs_binomial(), control = control)
  expect_equal(n_clusters(fit), 3)
  expect_gt(adjusted_rand_index(fitted(fit), rep(1:3, each = 40)), 0.95)
  frame <- data.frame(id = seq_len(120))
  frame$near <- shots$near
  frame$far <- unname(shots$far)
  same <- list(
    plain = bnp_mixture(unname(both), obs_binomial(), control = control),
    frame = bnp_mixture(frame[-1], obs_binomial(), control = control),
    formula = bnp_mixture(~ near + far, frame, obs_binomial(), control = control),
    bound = bnp_mixture(
      ~ cbind(near, missed) + cbind(far, wide), as.data.frame(both), obs_binomial(), control = control
    )
  )
  for (other in same) {
    expect_identical(elbo(other), elbo(fit))
    expect_identical(unname(fitted(other)), unname(fitted(fit)))
    expect_identical(dim(coef(other)$prob), c(3L, 2L))
  }
  expect_identical(colnames(coef(fit)$prob), c("near", "far"))
  expect_identical(colnames(coef(same$frame)$prob), c("near", "far"))
  expect_identical(colnames(coef(same$bound)$prob), c("cbind(near, missed)", "cbind(far, wide)"))
  expect_identical(predict(fit, both[9:1, 4:1]), unname(fitted(fit))[9:1], ignore_attr = TRUE)
  expect_identical(predict(same$frame, frame[9:1, ]), unname(fitted(fit))[9:1], ignore_attr = TRUE)
  expect_identical(predict(same$bound, as.data.frame(both)[9:1, ]), unname(fitted(fit))[9:1], ignore_attr = TRUE)
  expect_equal(rownames(confint(same$frame, "prob"))[1:2], c("prob[1,near]", "prob[1,far]"))
  expect_identical(tidy(same$frame)$term, rep(c("near", "far"), 3))
  expect_equal(unname(coef(fit)$prob), unname(posterior_params(fit)$a / with(posterior_params(fit), a + b)))
  single <- bnp_mixture(shots$near, obs_binomial(), control = control)
  expect_identical(colnames(coef(single)$prob), "hit")
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
})

test_that("simulated rows have the trials that are asked for, or those of the average row", {
  fit <- bnp_mixture(both, obs_binomial(), control = quiet(seed = 1))
  average <- round(c(mean(both[, 1] + both[, 2]), mean(both[, 3] + both[, 4])))
  sim <- simulate(fit, seed = 1, n = 400)$sim_1
  expect_named(sim, c(colnames(both), ".class"))
  expect_true(all(sim$near + sim$missed == average[1] & sim$far + sim$wide == average[2]))
  share <- tapply(sim$near, sim$.class, mean) / average[1]
  expect_equal(as.vector(share[seq_len(fit$state$k)]), unname(coef(fit)$prob[, 1]), tolerance = 0.1)
  sim <- simulate(fit, seed = 1, n = 3, total = c(4, 100))$sim_1
  expect_equal(sim$near + sim$missed, rep(4, 3))
  expect_equal(sim$far + sim$wide, rep(100, 3))
  expect_true(all(simulate(fit, seed = 1, n = 3, total = 0)$sim_1[1:4] == 0))
  for (bad in list(-1, 1.5, NA, c(1, 2, 3), "a", Inf)) expect_bad(simulate(fit, total = bad), "argument", "`total`")
})

test_that("rows without trials say nothing, and large numbers of trials keep their digits", {
  fit <- bnp_mixture(rbind(shots$near, 0), obs_binomial(), control = quiet(seed = 1))
  plain <- bnp_mixture(shots$near, obs_binomial(), control = quiet(seed = 1))
  expect_equal(unname(predict(plain, rbind(c(hit = 0, miss = 0)), "logdensity")), 0, tolerance = 1e-12)
  weights <- unname(coef(fit)$weights[seq_len(n_clusters(fit))])
  shares <- unname(predict(fit, rbind(c(hit = 0, miss = 0)), "prob")[1, ])
  expect_equal(shares, weights / sum(weights), tolerance = 0.01)
  none <- bnp_mixture(matrix(0, 5, 2), obs_binomial(), control = quiet(seed = 1))
  expect_equal(unname(coef(none)$prob[1, ]), 0.25)
  large <- cbind(c(1e9, 2e9, 3e9), c(3e9, 2e9, 1e9))
  for (a in c(1e-10, 1, 1e3)) {
    fit <- bnp_mixture(large, obs_binomial(a, 2), one, quiet())
    expect_equal(elbo(fit), sequential(large[, 1], large[, 2], a, 2), tolerance = 1e-7)
  }
  rising <- function(a, n) sum(log1p(a / seq_len(n)[-n])) + sum(log(seq_len(n)[-n])) + log(a)
  hits <- sum(shots$near[, 1])
  misses <- sum(shots$near[, 2])
  for (a in 10^c(-10, 0, 10, 50)) {
    for (b in 10^c(-10, 0, 10, 50)) {
      exact <- sum(lchoose(rowSums(shots$near), shots$near[, 1])) +
        rising(a, hits) + rising(b, misses) - rising(a + b, hits + misses)
      expect_equal(elbo(bnp_mixture(shots$near, obs_binomial(a, b), one, quiet())), exact, tolerance = 1e-8)
    }
  }
})

test_that("what is no pair of counts is refused by name, place and remedy", {
  fit <- function(x, ...) bnp_mixture(x, obs_binomial(...), control = quiet(max_laps = 2))
  expect_bad(fit(1:3), "not_pairs", "1 column.*\n.*cbind")
  expect_bad(fit(both[, 1:3]), "not_pairs", "not 3 columns")
  expect_bad(fit(replace(both, 2, -1)), "not_counts", "\\(2, near\\)")
  expect_bad(fit(replace(both, 121, 0.5)), "not_counts", "\\(1, missed\\).*\n.*shares")
  expect_bad(fit(replace(both, 1, NA)), "not_finite", "\\(1, near\\)")
  expect_bad(fit(both, a = c(1, 2, 3)), "argument", "`a` must have one value")
  expect_bad(fit(both, a = c(near = 1, close = 2)), "names", "close")
  expect_bad(obs_binomial(a = 0), "argument", "`a`")
  expect_bad(obs_binomial(b = -2), "argument", "`b`")
  expect_bad(obs_binomial(b = 1e60), "range", "`b` must be")
  expect_bad(predict(fit(both), both[, 1:2]), "newdata_columns", "far")
  expect_bad(fit(Matrix::Matrix(both, sparse = TRUE)), "input", "sparse")
})
