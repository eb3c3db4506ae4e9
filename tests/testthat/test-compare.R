# Comparisons of fits, of clusters and of observations.

few <- bnp_control(seed = 1, max_laps = 30, verbose = FALSE)
full <- suppressWarnings(bnp_mixture(faithful, control = few))
diagonal <- suppressWarnings(bnp_mixture(faithful, obs_gaussian("diagonal"), control = few))

test_that("fits of the same data are compared, and what is said of each is its own", {
  new <- faithful[1:50, ]
  table <- compare_fits(full, other = diagonal, newdata = new)
  expect_identical(table$fit, c("full", "other"))
  expect_identical(table$elbo, c(elbo(full), elbo(diagonal)))
  expect_identical(table$k, c(n_clusters(full), n_clusters(diagonal)))
  expect_identical(table$converged, c(full$converged, diagonal$converged))
  expect_identical(table$heldout, c(heldout_loglik(full, new), heldout_loglik(diagonal, new)))
  expect_identical(table$ari, c(1, adjusted_rand_index(fitted(full), fitted(diagonal))))
  expect_output(print(table), "Largest bound: ")
  expect_null(compare_fits(full)$heldout)
  rows <- suppressWarnings(bnp_hmm(faithful, control = few))
  expect_equal(nrow(compare_fits(full, rows)), 2)
  expect_identical(do.call(compare_fits, list(a = full, a = full))$fit, c("a", "a.1"))
})

test_that("normalised mutual information and variation of information are those of their definitions", {
  table <- compare_fits(full, diagonal)
  joint <- table(fitted(full), fitted(diagonal)) / 272
  h <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  mutual <- h(rowSums(joint)) + h(colSums(joint)) - h(joint)
  expect_equal(table$nmi, c(1, 2 * mutual / (h(rowSums(joint)) + h(colSums(joint)))))
  expect_equal(table$vi, c(0, 2 * h(joint) - h(rowSums(joint)) - h(colSums(joint))))
})

test_that("bounds that cannot be compared are refused", {
  few <- bnp_control(seed = 1, max_laps = 2, verbose = FALSE)
  refused <- function(..., why) expect_bad(compare_fits(full, ...), "not_comparable", why)
  refused(suppressWarnings(bnp_mixture(faithful[272:1, ], control = few)), why = "different data")
  refused(suppressWarnings(bnp_mixture(faithful[2:1], control = few)), why = "different data")
  changed <- faithful
  changed[100, 2] <- changed[100, 2] + 1e-10
  refused(suppressWarnings(bnp_mixture(changed, control = few)), why = "different data")
  refused(suppressWarnings(bnp_mixture(faithful, obs_ar(), control = few)), why = "different rows")
  counts <- bars$counts[1:60, ]
  tokens <- suppressWarnings(bnp_mixture(counts, obs_multinomial(), control = few))
  events <- suppressWarnings(bnp_mixture(counts, obs_poisson(), control = few))
  real <- suppressWarnings(bnp_mixture(as.matrix(counts), obs_gaussian("diagonal", rounding = 0), control = few))
  for (pair in list(list(tokens, events), list(events, real), list(tokens, real))) {
    expect_bad(do.call(compare_fits, pair), "not_comparable", "One is of")
  }
  waits <- suppressWarnings(bnp_mixture(faithful$waiting, obs_gamma(50), control = few))
  expect_s3_class(compare_fits(waits, bnp_mixture(faithful$waiting, control = few)), "bnp_comparison")
  topics <- suppressWarnings(bnp_topics(counts, control = few))
  expect_equal(compare_fits(tokens, topics)$elbo, c(elbo(tokens), elbo(topics)))
  expect_bad(compare_fits(tokens, topics, newdata = counts), "not_comparable", "scored by documents")
  tighter <- suppressWarnings(bnp_topics(counts, control = bnp_control(seed = 1, max_laps = 3, bound = "tight")))
  expect_bad(compare_fits(topics, tighter), "not_comparable", "One is a loose bound, the other a tight one")
  expect_s3_class(compare_fits(tokens, tighter), "bnp_comparison")
  expect_bad(compare_fits(full, faithful), "argument", "Argument 2")
  expect_bad(compare_fits(), "argument", "at least one")
})

# What print() shows, on one line.
shown <- function(table) gsub(" +", " ", paste(utils::capture.output(print(table)), collapse = " "))

test_that("bounds of given and of learned priors compare, of all covariances, without a remark", {
  positive <- as.matrix(faithful[1:100, ])
  fits <- lapply(
    list(
      learned = obs_gaussian(), given = obs_gaussian(learn = FALSE), spherical = obs_gaussian("spherical"),
      chosen = obs_gaussian("auto")
    ), function(obs) suppressWarnings(bnp_mixture(positive, obs, control = few))
  )
  table <- do.call(compare_fits, fits)
  expect_identical(table$elbo, unname(vapply(fits, elbo, 1)))
  expect_identical(table$plugged_in, rep("", 4))
  counts <- bars$counts[1:60, ]
  terms <- lapply(list(obs_multinomial(0.1), obs_multinomial(term_prior = NULL)), function(obs) {
    suppressWarnings(bnp_topics(counts, obs, control = few))
  })
  expect_identical(do.call(compare_fits, terms)$plugged_in, c("", ""))
})

test_that("what a fit has as numbers that were fitted to the data, which its bound does not pay for, is said", {
  said <- function(fit, other, what) {
    table <- compare_fits(plain = other, numbers = fit)
    expect_identical(table$plugged_in, c("", what))
    expect_match(shown(table), paste0(
      "Numbers that were fitted to the data, which a bound does not pay for: numbers (", what, ")"
    ), fixed = TRUE)
  }
  fitted_to <- function(x, obs, ...) suppressWarnings(bnp_mixture(x, obs, control = few, ...))
  binary <- withr::with_seed(1, matrix(1 * (runif(200) < 0.4), 50))
  levels <- data.frame(a = rep(c("u", "v", "w"), 20), b = rep(c("s", "t"), 30))
  paid <- compare_fits(
    fitted_to(binary, obs_bernoulli(learn = TRUE)), fitted_to(binary, obs_bernoulli(learn = FALSE))
  )
  expect_identical(paid$plugged_in, c("", ""))
  said(fitted_to(faithful, obs_gaussian("tied", rounding = c(0, 1))), full, "variance = NULL")
  tied <- fitted_to(faithful, obs_gaussian("tied", variance = diag(c(0.1, 30)), rounding = c(0, 1)))
  expect_identical(compare_fits(tied)$plugged_in, "")
  weeks <- rep(1:8, 34)
  drifting <- function(drift) fitted_to(faithful, obs_gaussian(drift = drift), time = weeks, prior = prior_dp())
  said(drifting("learn"), drifting(0.1), "drift = \"learn\"")
  topics <- function(prior) suppressWarnings(bnp_topics(bars$counts[1:60, ], prior = prior, control = few))
  said(topics(prior_hdp(alpha = gamma_prior(1, 1))), topics(prior_hdp(alpha = 1)), "alpha")
  # A concentration that is integrated out is paid for.
  integrated <- fitted_to(faithful, obs_gaussian(), prior = prior_dp(gamma_prior(1, 1)))
  expect_identical(compare_fits(integrated)$plugged_in, "")
  mixed <- cbind(faithful[1:60, ], levels)
  blocks <- fitted_to(mixed, obs_product(obs_gaussian("tied"), obs_categorical("learned")))
  expect_identical(compare_fits(blocks)$plugged_in, "variance = NULL")
})

test_that("fits of rounded values beside fits of values as they are are said to differ in that", {
  as_is <- suppressWarnings(bnp_mixture(faithful, obs_gaussian(rounding = 0), control = few))
  table <- compare_fits(full, as_is)
  expect_match(shown(table), "Of rounded values as cells: full. The others take values as they are", fixed = TRUE)
  expect_no_match(utils::capture.output(print(compare_fits(full, diagonal))), "cells")
  x <- matrix(rep(1:3, c(9, 9, 12)))
  uneven <- suppressWarnings(bnp_mixture(x, obs_poisson(), weights = rep(c(0.5, 1), 15), control = few))
  expect_no_match(utils::capture.output(print(compare_fits(uneven))), "whole numbers")
  counts <- as.matrix(bars$counts[1:30, ])
  of_terms <- suppressWarnings(
    bnp_mixture(counts, obs_multinomial(term_prior = NULL), weights = rep(c(0.5, 1), 15), control = few)
  )
  expect_match(shown(compare_fits(of_terms)), "Not a bound, as weights are no whole numbers: of_terms", fixed = TRUE)
})

test_that("all fits of documents are judged on the same split, which set.seed() governs", {
  topics <- suppressWarnings(bnp_topics(bars$counts[1:60, ], control = few))
  compared <- function() compare_fits(topics, topics, newdata = bars$counts[61:80, ])$heldout
  set.seed(4)
  first <- compared()
  expect_identical(first[1], first[2])
  expect_false(identical(first, compared()))
  set.seed(4)
  expect_identical(first, compared())
})

test_that("the fingerprint depends on values and their places, not on how they are stored or worked on", {
  counts <- bars$counts[1:40, ]
  of <- function(x, obs = obs_poisson(), ...) suppressWarnings(
    bnp_mixture(x, obs, control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE, ...))
  )$input$fingerprint
  expect_match(of(counts), "^[0-9a-f]{16}$")
  expect_identical(of(counts), of(as.matrix(counts)))
  expect_identical(of(counts), of(as.matrix(counts), obs_multinomial(), batches = 4, threads = 2))
  hours <- cbind(as.matrix(counts), hours = seq_len(40))
  expect_identical(of(counts), of(hours, obs_poisson(exposure = "hours")))
  expect_false(of(counts) == of(counts[40:1, ]))
  expect_false(of(counts) == of(counts[, rev(seq_len(ncol(counts)))]))
  shuffled <- c(seq(1, 40, 2), seq(2, 40, 2))
  x <- faithful[1:40, ]
  id <- rep(1:2, 20)
  documents <- suppressWarnings(bnp_topics(x, obs_gaussian(), id = id, control = few))
  expect_identical(documents$input$fingerprint, of(x, obs_gaussian()))
})

test_that("pairs of observations are together with the probability that their clusters are the same", {
  kept <- suppressWarnings(
    bnp_mixture(faithful, control = bnp_control(seed = 1, keep = "probabilities", verbose = FALSE))
  )
  together <- coclustering(kept)
  prob <- kept$probabilities
  expect_equal(together[3, 70], sum(prob[3, ] * prob[70, ]))
  expect_equal(unname(diag(together)), rep(1, 272))
  expect_identical(together, t(together))
  expect_equal(coclustering(kept, faithful[1:20, ]), together[1:20, 1:20])
  few <- bnp_control(seed = 1, max_laps = 2, verbose = FALSE)
  path <- suppressWarnings(bnp_hmm(beaver1["temp"], control = few))
  expect_equal(dim(coclustering(path, beaver2["temp"])), c(100, 100))
  expect_bad(coclustering(full), "newdata", "keep")
  expect_bad(coclustering(full, faithful[rep(1:272, 60), ]), "too_large", "sample")
  expect_bad(coclustering(suppressWarnings(bnp_topics(bars$counts, control = few))), "argument", "tcrossprod")
  expect_bad(coclustering(3), "argument", "bnp_mixture")
})

test_that("clue reads fits", {
  skip_if_not_installed("clue")
  kept <- suppressWarnings(
    bnp_mixture(faithful, control = bnp_control(seed = 1, keep = "probabilities", verbose = FALSE))
  )
  expect_equal(as.integer(clue::cl_class_ids(full)), unname(fitted(full)))
  expect_equal(as.integer(clue::cl_predict(full, faithful[5:9, ])), unname(fitted(full))[5:9])
  expect_equal(
    unclass(clue::cl_predict(full, faithful, "memberships"))[, 1], unname(predict(full, faithful, "prob")[, 1])
  )
  expect_equal(clue::cl_membership(kept)[, 2], unname(kept$probabilities[, 2]))
  expect_equal(clue::cl_membership(full)[, 1], 1 * unname(fitted(full) == 1))
  expect_equal(
    as.numeric(clue::cl_agreement(full, diagonal, method = "cRand")),
    adjusted_rand_index(fitted(full), fitted(diagonal))
  )
  ensemble <- clue::cl_ensemble(full, diagonal, kmeans(faithful, 2))
  expect_length(clue::cl_class_ids(clue::cl_consensus(ensemble)), 272)
  expect_equal(dim(clue::cl_membership(full, 5)), c(272, 5))
  gaps <- replace(as.matrix(faithful), cbind(c(3, 9), 1), NA)
  left <- suppressMessages(bnp_mixture(gaps, control = few, na_action = "omit"))
  expect_identical(clue::n_of_classes(left), n_clusters(left))
  expect_equal(as.integer(clue::cl_class_ids(left)), as.vector(stats::na.omit(fitted(left))))
  expect_equal(dim(clue::cl_membership(left)), c(clue::n_of_objects(left), n_clusters(left)))
  topics <- suppressWarnings(bnp_topics(bars$counts, control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE)))
  expect_false(clue::is.cl_partition(topics))
  expect_bad(clue::cl_class_ids(topics), "argument", "no partition")
})

cases <- Filter(function(case) case$name %in% names(obs_models), planted_cases())
names(cases) <- vapply(cases, function(case) case$name, "")

# Sums or integrals over all values of a row, for two clusters with densities f and g.
expect_closed_forms <- function(family, a, b, f, g) {
  obs <- new_obs(family)
  expect_equal(obs_divergence(obs, a, b), sum((f * log(f / g))[f > 0]), tolerance = 1e-5)
  expect_equal(obs_overlap(obs, a, b), sum(sqrt(f * g)), tolerance = 1e-5)
}

test_that("divergence and overlap are the sums and integrals that they stand for", {
  cell <- 0.1
  grid <- as.matrix(expand.grid(seq(-14, 14, cell), seq(-14, 14, cell)))
  normal <- function(q) {
    cov <- q$cov
    exp(
      -rowSums((t(t(grid) - (q$mean %||% c(0, 0))) %*% solve(cov)) * t(t(grid) - (q$mean %||% c(0, 0)))) / 2
    ) / (2 * pi * sqrt(det(cov))) * cell^2
  }
  a <- list(mean = c(0.5, -0.3), cov = matrix(c(1, 0.4, 0.4, 0.8), 2))
  b <- list(mean = c(-0.5, 0.7), cov = matrix(c(1.6, -0.3, -0.3, 1.1), 2))
  expect_closed_forms("gaussian_full", a, b, normal(a), normal(b))
  expect_closed_forms("gaussian_zero_mean", a["cov"], b["cov"], normal(a["cov"]), normal(b["cov"]))
  counts <- as.matrix(expand.grid(0:60, 0:60))
  poisson <- function(q) dpois(counts[, 1], q$rate[1]) * dpois(counts[, 2], q$rate[2])
  a <- list(rate = c(3, 0.5))
  b <- list(rate = c(5, 0.7))
  expect_closed_forms("poisson", a, b, poisson(a), poisson(b))
  at <- as.matrix(expand.grid(exp(seq(-12, 4, 0.05)), exp(seq(-12, 4, 0.05))))
  times <- function(q) dgamma(at[, 1], q$shape[1], q$rate[1]) * dgamma(at[, 2], q$shape[2], q$rate[2]) *
    at[, 1] * at[, 2] * 0.05^2
  a <- list(rate = c(3, 0.5), shape = c(2, 5))
  b <- list(rate = c(5, 0.7), shape = c(2, 5))
  expect_closed_forms("waiting_time", a, b, times(a), times(b))
  with_rate <- function(q) c(q, list(rate = q$shape / q$mean))
  a <- with_rate(list(mean = c(3, 0.5), shape = c(2, 5)))
  b <- with_rate(list(mean = c(4, 0.6), shape = c(3, 2.5)))
  expect_closed_forms("shaped_gamma", a, b, times(a), times(b))
  turns <- as.matrix(expand.grid(seq(-pi, pi, length.out = 316)[-1], seq(-pi, pi, length.out = 316)[-1]))
  angles <- function(q) {
    each <- vapply(1:2, function(j) {
      exp(q$concentration[j] * (cos(turns[, j] - q$direction[j]) - 1)) /
        (2 * pi * besselI(q$concentration[j], 0, TRUE)) * 2 * pi / 315
    }, double(nrow(turns)))
    each[, 1] * each[, 2]
  }
  a <- list(concentration = c(3, 0.5), direction = c(3, 0))
  b <- list(concentration = c(8, 0.1), direction = c(-3, 1))
  expect_closed_forms("von_mises", a, b, angles(a), angles(b))
  many <- as.matrix(expand.grid(0:400, 0:200))
  spread_out <- function(q) {
    dnbinom(many[, 1], q$size[1], mu = q$mean[1]) * dnbinom(many[, 2], q$size[2], mu = q$mean[2])
  }
  a <- list(size = c(2, 5), mean = c(10, 3))
  b <- list(size = c(1.5, 50), mean = c(7, 4))
  expect_closed_forms("negative_binomial", a, b, spread_out(a), spread_out(b))
  a <- list(scale = c(3, 0.5), shape = c(2, 5))
  b <- list(scale = c(4, 0.6), shape = c(3, 0.8))
  of_powers <- function(q) {
    density <- dweibull(at[, 1], q$shape[1], q$scale[1]) * dweibull(at[, 2], q$shape[2], q$scale[2])
    density * at[, 1] * at[, 2] * 0.02^2
  }
  at <- as.matrix(expand.grid(exp(seq(-9, 3, 0.02)), exp(seq(-9, 2, 0.02))))
  expect_closed_forms("weibull", a, b, of_powers(a), of_powers(b))
  for (mean in c(1e6, 3e6)) {
    far <- list(size = 3, mean = mean)
    expect_lt(abs(obs_divergence(new_obs("negative_binomial"), far, list(size = 3, mean = 2 * mean)) -
      obs_divergence(new_obs("shaped_gamma"), list(shape = 3, mean = 1), list(shape = 3, mean = 2))), 1e-2)
  }
  line <- exp(seq(-25, 3, 0.005))
  one_time <- function(q) dexp(line, q$rate) * line * 0.005
  a <- list(rate = 3)
  b <- list(rate = 5)
  expect_closed_forms("censored", a, b, one_time(a), one_time(b))
  bits <- as.matrix(expand.grid(0:1, 0:1))
  binary <- function(q) dbinom(bits[, 1], 1, q$prob[1]) * dbinom(bits[, 2], 1, q$prob[2])
  a <- list(prob = c(0.2, 0.7))
  b <- list(prob = c(0.6, 0.65))
  expect_closed_forms("bernoulli", a, b, binary(a), binary(b))
  expect_closed_forms("binomial", a, b, binary(a), binary(b))
  expect_closed_forms(
    "multinomial", list(prob = c(0.2, 0.5, 0.3)), list(prob = c(0.4, 0.1, 0.5)), c(0.2, 0.5, 0.3),
    c(0.4, 0.1, 0.5)
  )
})

for (case in some_of(cases, by = 6)) {
  test_that(paste0(case$name, ": divergences of clusters are those of their pairs, or refused"), {
    fit <- suppressWarnings(bnp_mixture(case$x, case$obs, control = few))
    if (!obs_can(fit$model$obs, "divergence")) {
      expect_bad(cluster_divergence(fit), "argument", "closed form")
      expect_bad(cluster_overlap(fit), "argument", "closed form")
    } else {
      kl <- cluster_divergence(fit)
      overlap <- cluster_overlap(fit)
      expect_equal(dim(kl), rep(fit$state$k, 2))
      expect_equal(unname(diag(kl)), rep(0, nrow(kl)), tolerance = 1e-9)
      expect_equal(unname(diag(overlap)), rep(1, nrow(kl)))
      expect_equal(overlap, t(overlap))
      expect_true(all(kl >= 0) && all(overlap >= 0 & overlap <= 1))
      expect_equal(cluster_divergence(fit, symmetric = TRUE), (kl + t(kl)) / 2)
      expect_true(all(-2 * log(overlap) <= kl + 1e-9)) # Jensen
    }
  })
}

test_that("clusters of any unit have the divergence that they have in others", {
  small <- bnp_mixture(as.matrix(faithful) * rep(c(1e-120, 1e90), each = 272), control = few)
  expect_equal(cluster_divergence(small), cluster_divergence(full), tolerance = 1e-4)
  expect_equal(cluster_overlap(small), cluster_overlap(full), tolerance = 1e-4)
})
