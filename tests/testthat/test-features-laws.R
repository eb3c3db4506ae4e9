# Laws of latent features: see ../../inst/design/features.md. The twins in helper-features.R share no code with the
# engine.

x <- rbind(c(1.1, 0.2), c(-0.1, 0.9), c(1, 1.2))
start <- rbind(c(0.9, 0.2), c(0.1, 0.8), c(0.9, 0.8))
finite <- prior_beta_bernoulli(2)

test_that("the bound of a finite model is the known one, and below the sum over all Z", {
  fit <- engine_features(x, finite, precision = 0.5, start = start, moves = FALSE, tol = 0)
  expect_equal(fit$elbo, -10.10102630, tolerance = 1e-8)
  exact <- exact_finite(x, 2, 1, feature_hyper())
  expect_equal(exact, -8.22756925, tolerance = 1e-8)
  for (seed in 1:5) {
    nu <- withr::with_seed(seed, matrix(stats::runif(6), 3))
    expect_lt(engine_features(x, finite, precision = 0.5, start = nu, laps = 0L)$elbo, exact)
  }
  gap <- replace(x, cbind(2, 2), NA)
  fit <- engine_features(gap, finite, precision = 0.5, start = start, moves = FALSE)
  expect_lt(fit$elbo, exact_finite(gap, 2, 1, feature_hyper()))
})

test_that("the bound of the infinite model is below the sum over classes of Z, for every number of features", {
  exact <- exact_infinite(x, 4, 1, feature_hyper())
  for (k in 0:3) {
    nu <- withr::with_seed(k, matrix(stats::runif(3 * k), 3))
    fit <- engine_features(x, precision = 0.5, start = nu, moves = FALSE)
    expect_lt(fit$elbo, exact)
  }
})

test_that("a learned precision of the loadings is the known one", {
  x <- matrix(c(0.3, 1.4))
  fit <- engine_features(x, prior_beta_bernoulli(1), b = 0.25, start = matrix(0.5, 2, 1), moves = FALSE, tol = 0)
  expect_equal(fit$elbo, -4.23385027, tolerance = 1e-8)
})

test_that("the ELBO is that of the probabilities, whatever is missing, with an offset or without", {
  planted <- planted_features(1, 40, 6, 3)
  y <- planted$x
  gaps <- withr::with_seed(2, replace(y, stats::runif(240) < 0.2, NA))
  block <- replace(y, cbind(rep(1:10, 3), rep(1:3, each = 10)), NA)
  nu <- withr::with_seed(3, matrix(stats::runif(120), 40))
  for (values in list(y, gaps, block)) {
    for (offset in c(FALSE, TRUE)) {
      priors <- list(prior_ibp(2), prior_ibp(gamma_prior(1, 1)), prior_beta_bernoulli(5, 2))
      for (prior in some_of(priors, by = 2, from = offset + 1)) {
        at <- engine_features(values, prior, offset, start = nu, laps = 0L)
        expect_equal(engine_presence(at, 40), nu)
        expect_equal(at$terms, twin_elbo(at, values, prior, offset), tolerance = 1e-8)
        end <- engine_features(values, prior, offset, laps = 30L)
        expect_equal(end$terms, twin_elbo(end, values, prior, offset), tolerance = 1e-8)
      }
    }
  }
})

test_that("columns with other gaps are told apart, whichever batches the gaps are in", {
  planted <- planted_features(2, 40, 6, 3)
  few <- replace(planted$x, cbind(c(1, 2, 3, 3, 9, 9), c(1, 2, 3, 4, 5, 6)), NA)
  nu <- withr::with_seed(3, matrix(stats::runif(120), 40))
  for (batches in c(1L, 5L, 40L)) {
    at <- engine_features(few, start = nu, laps = 0L, batches = batches)
    expect_identical(at$state$group, c(1L, 2L, 3L, 3L, 4L, 4L))
    expect_equal(at$terms, twin_elbo(at, few, prior_ibp()), tolerance = 1e-9)
  }
})

test_that("coordinate steps, priors and moves never lower the ELBO", {
  for (offset in c(FALSE, TRUE)) {
    for (batches in c(1L, 3L)) {
      y <- planted_features(4, 60, 8, 4)$x
      elbo <- engine_features(y, offset = offset, batches = batches, tol = 0, laps = 40L)$trace$elbo
      expect_true(all(diff(elbo) > -1e-9 * abs(elbo[1])))
      nu <- withr::with_seed(5, matrix(stats::runif(240), 60))
      still <- engine_features(y, offset = offset, batches = batches, start = nu, moves = FALSE, tol = 0, laps = 40L)
      before <- engine_features(y, offset = offset, batches = batches, start = nu, laps = 0L)$elbo
      expect_true(all(diff(c(before, still$trace$elbo)) > -1e-9 * abs(before)))
    }
  }
})

test_that("probabilities are at an optimum of the twin's bound after coordinate ascent", {
  y <- planted_features(6, 12, 5, 2, sd = 1)$x
  nu <- withr::with_seed(7, matrix(stats::runif(24), 12))
  fit <- engine_features(y, finite, precision = 0.5, start = nu, moves = FALSE, tol = 0, laps = 300L)
  hyper <- feature_hyper()
  bound <- function(nu) likelihood_bound(y, nu, hyper) + finite_prior_bound(colSums(nu), 12, 2, 1) + binary_entropy(nu)
  at <- engine_presence(fit, 12)
  expect_equal(bound(at), fit$elbo)
  inside <- which(at > 0.01 & at < 0.99)
  expect_gt(length(inside), 3)
  for (i in inside) {
    slope <- (bound(replace(at, i, at[i] + 1e-4)) - bound(replace(at, i, at[i] - 1e-4))) / 2e-4
    expect_lt(abs(slope), 0.05) # sweeps end when no probability changes by 1e-3
  }
  expect_gt(fit$elbo, bound(ascend(nu, bound, if (long_tests()) 20 else 7)) - 0.5)
})

test_that("E log(1 - pi) and E Li2 are those of their series, with their gradients", {
  tau <- rbind(c(4, 1.2), c(3, 1.5), c(1.5, 6))
  of <- function(tau, counts = numeric(), n = 10) {
    engine_feature_prior(list(), counts, n, as.vector(t(tau)))
  }
  expect_equal(of(tau)$complement[3], -0.11323688, tolerance = 1e-7)
  expect_equal(of(tau)$dilogarithm, 0.10755145, tolerance = 1e-7)
  slow <- rbind(c(0.9, 1.01), c(40, 1.1), c(3, 0.8)) # the integral is needed
  for (sticks in list(tau, slow, rbind(c(60, 3), c(5, 2)), rbind(c(1, 300)))) {
    twin <- stick_sums(sticks)
    expect_equal(of(sticks)$complement, unname(twin$complement), tolerance = 2e-5)
    expect_equal(of(sticks)$dilogarithm, unname(twin$dilogarithm), tolerance = 2e-5)
    counts <- seq_len(nrow(sticks))
    for (i in seq_along(sticks)) {
      h <- 1e-4 * t(sticks)[i]
      moved <- function(by) t(replace(t(sticks), i, t(sticks)[i] + by))
      value <- function(s) c(sum((10 - counts) * s$complement), s$dilogarithm)
      slope <- (value(of(moved(h), counts)) - value(of(moved(-h), counts))) / (2 * h)
      exact <- of(sticks, counts)
      expect_equal(
        c(exact$complement_gradient[i], exact$dilogarithm_gradient[i]), slope, tolerance = 1e-4
      )
    }
  }
  draws <- withr::with_seed(1, apply(matrix(stats::rbeta(3e5, rep(tau[, 1], 1e5), rep(tau[, 2], 1e5)), 3), 2, prod))
  expect_lt(abs(mean(log1p(-draws)) - of(tau)$complement[3]), 3 * stats::sd(log1p(-draws)) / sqrt(1e5))
  some <- draws[1:5000]
  dilogarithm <- rowSums(outer(some, 1:400, `^`) / rep((1:400)^2, each = 5000))
  expect_lt(abs(mean(dilogarithm) - of(tau)$dilogarithm), 3 * stats::sd(dilogarithm) / sqrt(5000))
  expect_equal(of(tau)$complement[1], digamma(1.2) - digamma(5.2))
})

test_that("L_pi is the known one, and no other sticks are better", {
  prior_of <- function(counts, n, alpha = 1) {
    engine_feature_prior(list(family = "ibp", alpha = alpha), counts, n, numeric())
  }
  expect_equal(prior_of(c(54, 44, 43, 37), 100)$value, -284.0595258, tolerance = 1e-9)
  known <- c(-1.91478364, -4.10682914, -6.39817951)
  expect_equal(vapply(c(3, 30, 300), function(n) prior_of(numeric(), n)$value, 1), known, tolerance = 1e-8)
  finite <- function(k) {
    prior <- list(family = "beta_bernoulli", alpha = 1, k = k)
    engine_feature_prior(prior, c(54, 44, 43, 37), 100, numeric())
  }
  expect_equal(c(finite(10)$value, finite(4)$value), c(-289.5010162, -283.2700360), tolerance = 1e-9)
  for (alpha in list(0.3, 2, c(1, 1))) {
    for (counts in list(numeric(), 40, c(54, 44, 43, 37), c(99, 3, 0.2))) {
      best <- prior_of(counts, 100, alpha)
      tau <- matrix(best$stick, ncol = 2, byrow = TRUE)
      at <- function(tau) infinite_prior_bound(counts, 100, alpha, tau)
      expect_equal(best$value, at(tau), tolerance = 2e-6)
      for (seed in some_of(1:5, by = 5)) {
        other <- tau * exp(withr::with_seed(seed, stats::rnorm(length(tau), sd = 0.05)))
        expect_lt(at(other), best$value + 1e-6)
      }
      # One model for every number of features: with alpha given an empty one more cannot lower what is best. (Where it
      # is learned, a further stick of its own counts once more in q(alpha).)
      if (length(alpha) == 1L) expect_gte(prior_of(c(counts, 0), 100, alpha)$value, best$value - 1e-6)
    }
  }
  # With all sticks at their best the bound is close to the probability of no feature.
  expect_lt(prior_of(numeric(), 300)$value, -sum(1 / 1:300))
})

test_that("of a model without features the evidence is that of independent rows", {
  y <- matrix(c(0.3, -1, 2, 0.1, 0.4, -0.2), 3)
  fit <- engine_features(y, prior_beta_bernoulli(1), laps = 0L)
  a <- 1 + 3
  evidence <- -3 * log(2 * pi) + log(0.3) - a * log(0.3 + sum(y^2) / 2) + lgamma(a) - lgamma(1)
  expect_equal(fit$terms[["data"]], evidence)
})

test_that("any batches have the same statistics, and any threads the same bits", {
  planted <- planted_features(8, 2500, 10, 4)
  y <- withr::with_seed(9, replace(planted$x, stats::runif(25000) < 0.02, NA))
  nu <- withr::with_seed(10, matrix(stats::runif(7500), 2500))
  at <- function(batches) engine_features(y, offset = TRUE, start = nu, laps = 0L, batches = batches)
  expect_equal(at(7L)$elbo, at(1L)$elbo, tolerance = 1e-9)
  sums <- c("counts", "extra", "pair", "scalar")
  expect_equal(at(7L)$state[sums], at(1L)$state[sums])
  run <- function(threads) {
    out <- engine_features(y, offset = TRUE, batches = 2L, laps = 3L, threads = threads)
    out$trace$seconds <- out$threads <- NULL
    out
  }
  expect_identical(run(2L), run(1L))
})

test_that("order of rows, columns and features changes labels only", {
  y <- planted_features(11, 30, 5, 3)$x
  nu <- withr::with_seed(12, matrix(stats::runif(90), 30))
  at <- function(x, nu, prior) engine_features(x, prior, start = nu, laps = 0L)$elbo
  for (prior in list(prior_ibp(), prior_beta_bernoulli(4))) {
    rows <- withr::with_seed(13, sample(30))
    expect_equal(at(y[rows, ], nu[rows, ], prior), at(y, nu, prior))
    expect_equal(at(y[, 5:1], nu, prior), at(y, nu, prior))
  }
  expect_equal(at(y, nu[, 3:1], prior_beta_bernoulli(4)), at(y, nu, prior_beta_bernoulli(4)))
})

test_that("a feature that no row has changes nothing, and of twins one goes at once", {
  y <- planted_features(14, 50, 6, 2)
  nu <- y$z * 0.96 + 0.02
  at <- function(nu, k = 5) engine_features(y$x, prior_beta_bernoulli(k), precision = 0.7, start = nu, laps = 0L)$elbo
  expect_equal(at(cbind(nu, 0)), at(nu))
  twin <- engine_features(y$x, start = cbind(nu, nu[, 1]), moves = bnp_moves(birth = FALSE, merge = FALSE))
  one <- engine_features(y$x, start = nu, moves = bnp_moves(birth = FALSE, merge = FALSE))
  expect_identical(c(twin$state$k, twin$trace$k[1]), c(2L, 2L))
  expect_equal(twin$elbo, one$elbo, tolerance = 1e-6)
})

test_that("a feature that was cut in two is merged", {
  y <- planted_features(15, 200, 8, 2, sd = 1)
  half <- rep(0:1, 100)
  nu <- cbind(y$z[, 1] * half, y$z[, 1] * (1 - half), y$z[, 2])
  moves <- bnp_moves(birth = FALSE, delete = FALSE)
  fit <- engine_features(y$x, start = nu, moves = moves)
  expect_identical(c(fit$state$k, fit$trace$merges[1]), c(2L, 1L))
})

test_that("with an offset features that most rows have are turned round", {
  y <- planted_features(16, 100, 6, 2)
  nu <- cbind(1 - y$z[, 1], y$z[, 2])
  fit <- engine_features(y$x, offset = TRUE, start = nu, moves = bnp_moves(birth = FALSE))
  expect_true(all(fit$state$counts[-1] < 50))
  expect_equal(fit$terms, twin_elbo(fit, y$x, prior_ibp(), TRUE), tolerance = 1e-8)
})

test_that("rows with few candidates end at an optimum of what they may have", {
  y <- planted_features(17, 150, 12, 6)
  fit <- engine_features(y$x, sparsity = 2L, tol = 0, laps = 60L)
  expect_equal(fit$terms, twin_elbo(fit, y$x, prior_ibp()), tolerance = 1e-8)
  expect_true(all(diff(fit$trace$elbo) > -1e-6))
})

test_that("what the likelihood loses without a feature is known from its row of loadings", {
  withr::with_seed(1, {
    x <- matrix(rnorm(120), 20)
    nu <- matrix(runif(80), 20)
  })
  gaps <- replace(x, cbind(c(3, 9, 12), 2), NA)
  for (offset in c(FALSE, TRUE)) {
    for (rows in list(x, gaps)) {
      for (precision in list(0.7, NULL)) {
        without <- engine_features_without(rows_for_engine(rows), features_model(prior_ibp(), offset, 6, precision), nu)
        refit <- vapply(1:4, function(j) {
          engine_features(rows, offset = offset, start = nu[, -j], laps = 0L, precision = precision)$terms[["data"]]
        }, 1)
        if (is.null(precision)) {
          expect_true(all(without < refit & without > refit - 0.5))
        } else {
          expect_equal(without, refit, tolerance = 1e-11)
        }
      }
    }
  }
})

test_that("features that nothing speaks for are left out, however many there are", {
  x <- withr::with_seed(1, matrix(rnorm(900), 150))
  nu <- withr::with_seed(2, matrix(runif(150 * 14), 150))
  fit <- engine_features(x, start = nu, laps = 30L)
  expect_lt(fit$state$k, 4L)
})

test_that("no move of a lap lowers the bound", {
  none <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  for (seed in some_of(1:20, by = 5)) {
    rows <- planted_features(seed, 60, 8, 3)
    # True features, one of them twice in part, and one of a few rows
    nu <- withr::with_seed(seed, cbind(rows$z, rows$z[, 1] * (runif(60) < 0.5), runif(60) < 0.05) * 0.9)
    at <- function(moves) engine_features(rows$x, offset = seed %% 2 == 0, start = nu, laps = 1L, moves = moves)$elbo
    before <- at(none)
    for (kind in c("merge", "delete", "reorder")) {
      expect_gte(at(replace(none, kind, TRUE)), before - 1e-8 * abs(before), label = paste(kind, seed))
    }
  }
})

test_that("a feature is left out as soon as that raises the bound, and no sooner", {
  none <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  withr::with_seed(2, {
    noise <- matrix(rnorm(480, sd = 0.3), 60)
    pattern <- matrix(rnorm(16), 2)
  })
  z <- cbind(rep(0:1, 30), rep(c(1, 0), c(6, 54)))
  left <- vapply(seq(0.05, 1, 0.025), function(size) {
    x <- z %*% (c(2, size) * pattern) + noise
    at <- function(moves) engine_features(x, start = z, laps = 1L, moves = moves)
    with <- at(replace(none, "delete", TRUE))
    without <- at(none)
    expect_gte(with$elbo, without$elbo - 1e-9 * abs(without$elbo), label = size)
    with$state$k
  }, 1L)
  expect_setequal(left, 1:2)
})

test_that("features with opposite loadings, and those turned round within others, are put right", {
  none <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  withr::with_seed(1, {
    pattern <- matrix(rnorm(20, sd = 2), 2)
    a <- rep(c(1, 0), c(120, 80))
    noise <- matrix(rnorm(2000, sd = 0.3), 200)
  })
  some <- rep(c(1, 0), 100) * a # half of the rows with the first feature
  # a has the first pattern but where b takes it away again
  cancelled <- outer(a * (1 - some), pattern[1, ]) + noise
  fit <- engine_features(cancelled, start = cbind(a, some), laps = 30L, moves = replace(none, "merge", TRUE))
  expect_identical(fit$state$k, 1L)
  expect_equal(engine_presence(fit, 200)[, 1], a * (1 - some), tolerance = 0.01)
  # The second pattern comes only with the first; b is where it does not
  nested <- outer(a, pattern[1, ]) + outer(some, pattern[2, ]) + noise
  big <- nested + outer(some, -0.5 * pattern[1, ])
  turned <- engine_features(big, start = cbind(a, a - some), laps = 30L, moves = replace(none, "reorder", TRUE))
  truth <- engine_features(big, start = cbind(a, some), laps = 30L, moves = none)
  expect_gte(turned$elbo, truth$elbo - 1e-6)
})
