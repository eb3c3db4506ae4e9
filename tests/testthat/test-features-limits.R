# Latent features in limits that are known by other means, with the noise as good as given: 1 / sigma^2 ~
# Gamma(a, 0.2 a) with large a. Figures are those of the page that the mathematics was checked on.

x <- rbind(c(1.1, 0.2), c(-0.1, 0.9), c(1, 1.2))
start <- rbind(c(0.9, 0.2), c(0.1, 0.8), c(0.9, 0.8))
known <- feature_hyper(sigma2 = 0.2)
sharp <- 1e7

known_noise <- function(x, prior, start, ...) {
  engine_features(x, prior, precision = 0.5, start = start, moves = FALSE, a = sharp, b = 0.2 * sharp, ...)
}

test_that("with known noise bounds are the known ones, below the sum over all Z", {
  finite <- prior_beta_bernoulli(2)
  expect_equal(exact_finite(x, 2, 1, known), -8.02453831, tolerance = 1e-9)
  expect_equal(known_noise(x, finite, start, tol = 0, laps = 300L)$elbo, -10.59744368, tolerance = 1e-6)
  gap <- replace(x, cbind(2, 2), NA)
  expect_equal(exact_finite(gap, 2, 1, known), -6.80825245, tolerance = 1e-9)
  expect_equal(known_noise(gap, finite, start, tol = 0, laps = 300L)$elbo, -8.45533417, tolerance = 1e-6)
})

test_that("with known noise the infinite bound is below the sum over classes of Z with up to six features", {
  exact <- exact_infinite(x, 6, 1, known)
  expect_equal(exact, -7.89507915, tolerance = 1e-9)
  one <- known_noise(x, prior_ibp(), start[, 1, drop = FALSE], tol = 0, laps = 300L)$elbo
  expect_equal(one, -10.13442596, tolerance = 1e-6)
  for (k in 0:3) {
    nu <- withr::with_seed(k, matrix(stats::runif(3 * k), 3))
    expect_lt(known_noise(x, prior_ibp(), nu)$elbo, exact)
  }
})

# log p(x) of clusters with known variance and normal means around 0, by the normal density of their rows together.
mixture_evidence <- function(x, label, hyper) {
  sum(vapply(unique(label), function(k) {
    own <- x[label == k, , drop = FALSE]
    cov <- hyper$sigma2 * (diag(nrow(own)) + 1 / hyper$rho)
    -ncol(x) / 2 * (nrow(own) * log(2 * pi) + as.double(determinant(cov)$modulus)) - sum(own * solve(cov, own)) / 2
  }, 0))
}

test_that("rows that have one feature each are clusters of known variance", {
  rows <- planted_features(21, 12, 3, 2)$x
  for (k in 1:4) {
    label <- rep_len(seq_len(k), 12)
    z <- outer(label, seq_len(k), "==") + 0
    fit <- known_noise(rows, prior_ibp(), z, laps = 0L)
    expect_equal(fit$terms[["data"]], mixture_evidence(rows, label, known), tolerance = 1e-5)
  }
})

# What the likelihood adds when q(A) is a product over features (Doshi-Velez et al., 2009), at its best.
factorised_bound <- function(x, nu, hyper) {
  s <- second_moments(nu)
  s_zx <- crossprod(nu, x)
  precision <- hyper$rho + diag(s)
  m <- solve(diag(hyper$rho, ncol(nu)) + s, s_zx)
  d <- ncol(x)
  squares <- sum(x^2) - 2 * sum(m * s_zx) + sum(m * (s %*% m)) + hyper$rho * sum(m^2)
  d / 2 * sum(log(hyper$rho / precision)) - length(x) / 2 * log(2 * pi * hyper$sigma2) - squares / (2 * hyper$sigma2)
}

test_that("loadings that are joint over features are never worse than a product, and equal where features are apart", {
  for (seed in 1:5) {
    nu <- withr::with_seed(seed, matrix(stats::runif(36), 12))
    rows <- planted_features(seed, 12, 3, 2)$x
    fit <- known_noise(rows, prior_ibp(), nu, laps = 0L)
    expect_gt(fit$terms[["data"]], factorised_bound(rows, nu, known))
  }
  apart <- diag(3)[rep(1:3, 4), ]
  fit <- known_noise(rows, prior_ibp(), apart, laps = 0L)
  expect_equal(fit$terms[["data"]], factorised_bound(rows, apart, known), tolerance = 1e-5)
})

test_that("without a feature the likelihood is what the same q(rho) gives", {
  rows <- withr::with_seed(1, matrix(stats::rnorm(120), 20))
  nu <- withr::with_seed(2, matrix(stats::runif(80), 20))
  q <- engine_features(rows, start = nu, laps = 0L)$state$precision
  without <- engine_features_without(rows_for_engine(rows), features_model(prior_ibp(), FALSE, 6), nu)
  kl <- (q[1] - 1) * digamma(q[1]) - lgamma(q[1]) + log(q[2]) + q[1] * (1 - q[2]) / q[2]
  by_hand <- vapply(1:4, function(j) {
    likelihood_bound(rows, nu[, -j], feature_hyper(rho = q[1] / q[2])) +
      3 * 6 / 2 * (digamma(q[1]) - log(q[1])) - kl
  }, 0)
  expect_equal(without, by_hand, tolerance = 1e-10)
})

test_that("of features that are known the likelihood is the evidence of a regression", {
  for (seed in 1:4) {
    rows <- planted_features(seed, 15, 4, 3)
    gaps <- withr::with_seed(seed, replace(rows$x, sample(60, 8), NA))
    for (values in list(rows$x, gaps)) {
      fit <- engine_features(values, prior_beta_bernoulli(3), precision = 0.5, start = rows$z, laps = 0L)
      expect_equal(fit$terms[["data"]], log_evidence_given_features(values, rows$z, feature_hyper()))
      expect_equal(fit$terms[["entropy"]], 0)
    }
  }
})

test_that("a feature that all rows have is the offset", {
  rows <- planted_features(22, 80, 6, 2)$x
  z <- planted_features(22, 80, 6, 2)$z
  moves <- bnp_moves(birth = FALSE, merge = FALSE)
  with <- engine_features(rows + 3, offset = TRUE, start = cbind(z, 1 - 1e-9), moves = moves, laps = 40L)
  without <- engine_features(rows + 3, offset = TRUE, start = z, moves = moves, laps = 40L)
  expect_identical(with$trace$k[1], 2L)
  expect_equal(with$elbo, without$elbo, tolerance = 1e-6)
})
