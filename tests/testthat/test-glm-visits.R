# Visits of rows with logistic likelihoods (tangent_visit.h): what they keep from one step to the next, and the sums
# that are formed at the end of a fit only (closing_features(), registry.h).

withr::local_options(rlib_message_verbosity = "quiet")

# Numbers of a cluster with q(b) = N(mean, cov), as TangentWeights lays them out.
reduced <- function(mean, cov, base = -1, curved = 1) {
  second <- cov + mean %o% mean
  c(base, 1, mean, second[1, 1], 2 * second[2, 1], second[2, 2], curved)
}
cells <- withr::with_seed(1, cbind(rep(0:1, 150), stats::rnorm(300)))
clusters <- list(
  list(c(0.3, -1), diag(c(0.2, 0.1))), list(c(-2, 0.5), diag(2)), list(c(1, 1), matrix(c(1, 0.5, 0.5, 1), 2))
)
three <- do.call(rbind, lapply(clusters, function(b) reduced(b[[1]], b[[2]])))
shares <- withr::with_seed(2, matrix(stats::runif(900), 300))

# Columns of T in plain R.
sums_of <- function(cells, b, r) {
  x <- cbind(1, cells[, 2])
  rows <- glm_rows(cells[, 1])
  t <- glm_statistic(rows, x, r, list(mean = b[[1]], cov = b[[2]]))
  c <- sqrt(drop(x %*% b[[1]])^2 + rowSums((x %*% b[[2]]) * x))
  curve <- crossprod(x, r * stats::plogis(c) * stats::plogis(-c) * x)
  packed <- c(1, 2, 4)
  c(sum(r), t$linear, t$quadratic[packed], t$constant, curve[packed])
}
truth <- function(cells, which, r) {
  t(mapply(function(k, j) sums_of(cells, clusters[[k]], r[, j]), which, seq_along(which)))
}
visit <- function(second, r = shares, changed = cells, forget = TRUE, first = three) {
  engine_tangent_visit(cells, first, changed, forget, second, r)$t
}

test_that("sums are those of plain R, whatever a visit keeps of the clusters before", {
  skip_without_testing_entries()
  for (forget in c(FALSE, TRUE)) {
    expect_equal(visit(three, forget = forget), truth(cells, 1:3, shares), tolerance = 1e-12)
    for (which in list(1:2, 2:3, c(1, 3), 3, c(2, 1), c(3, 1, 2), c(1, 1), c(3, 2, 3))) {
      r <- shares[, seq_along(which), drop = FALSE]
      expect_equal(visit(three[which, , drop = FALSE], r, forget = forget), truth(cells, which, r), tolerance = 1e-12)
    }
    other <- rbind(three[1, ], reduced(clusters[[2]][[1]], 1.5 * clusters[[2]][[2]]))
    r <- shares[, 1:2]
    expected <- truth(cells, 1:2, r)
    expected[2, ] <- sums_of(cells, list(clusters[[2]][[1]], 1.5 * clusters[[2]][[2]]), r[, 2])
    expect_equal(visit(other, r, forget = forget), expected, tolerance = 1e-12)
    few <- 1:77
    expect_equal(visit(three, shares[few, ], forget = forget), truth(cells[few, ], 1:3, shares[few, ]),
      tolerance = 1e-12)
  }
  expect_equal(visit(three - rep(c(5, 0), c(3, 21))), truth(cells, 1:3, shares), tolerance = 1e-12) # w_0
})

test_that("sums over many covariates are those of plain R", {
  skip_without_testing_entries()
  for (covariates in c(3, 4, 6)) {
    e <- covariates + 1
    lower <- which(upper.tri(diag(e), diag = TRUE), arr.ind = TRUE)[, 2:1] # by rows of the lower triangle
    few <- withr::with_seed(covariates, list(
      cells = cbind(rep(0:1, 150), matrix(stats::rnorm(300 * covariates), 300)), mean = stats::rnorm(e),
      cov = crossprod(matrix(stats::rnorm(e * e), e)) / e
    ))
    second <- few$cov + tcrossprod(few$mean)
    own <- c(-1, 1, few$mean, second[lower] * ifelse(lower[, 1] == lower[, 2], 1, 2))
    x <- cbind(1, few$cells[, -1])
    rows <- glm_rows(few$cells[, 1])
    r <- shares[, 1]
    t <- glm_statistic(rows, x, r, few[c("mean", "cov")])
    c <- sqrt(drop(x %*% few$mean)^2 + rowSums((x %*% few$cov) * x))
    curve <- crossprod(x, r * stats::plogis(c) * stats::plogis(-c) * x)
    for (curved in 0:1) for (forget in c(FALSE, TRUE)) {
      weights <- rbind(c(own, curved))
      found <- engine_tangent_visit(few$cells, weights, few$cells, forget, weights, cbind(r))$t
      expect_equal(drop(found), c(sum(r), t$linear, t$quadratic[lower], t$constant, curved * curve[lower]),
        tolerance = 1e-12)
    }
  }
})

test_that("tangents are kept for the same rows and clusters, until the rows are said to be others", {
  skip_without_testing_entries()
  turned <- cbind(cells[, 1], -2 * cells[, 2])
  expect_equal(visit(three, changed = turned), truth(turned, 1:3, shares), tolerance = 1e-12)
  for (which in list(1:3, 2:3, c(1, 3))) {
    r <- shares[, seq_along(which)]
    kept <- visit(three[which, ], r, changed = turned, forget = FALSE)
    expect_false(isTRUE(all.equal(kept, truth(turned, which, r), tolerance = 1e-3)))
  }
  # Of too many rows and clusters nothing is kept.
  many <- three[rep(1:3, 80), ]
  r <- shares[, rep(1:3, 80)]
  expect_equal(
    visit(many, r, changed = turned, forget = FALSE, first = many), truth(turned, rep(1:3, 80), r), tolerance = 1e-12
  )
})

test_that("the curvature is summed when it is asked for", {
  skip_without_testing_entries()
  plain <- three
  plain[, ncol(plain)] <- 0
  expected <- truth(cells, 1:3, shares)
  expected[, 8:10] <- 0
  for (forget in c(FALSE, TRUE)) {
    expect_equal(visit(plain, forget = forget, first = plain), expected, tolerance = 1e-12)
    expect_equal(visit(plain, forget = forget), expected, tolerance = 1e-12)
    expect_equal(visit(three, forget = forget, first = plain), truth(cells, 1:3, shares), tolerance = 1e-12)
  }
})

# The covariance of coefficients by the curvature, from responsibilities and means, whose tangents are near those of q.
curved <- function(fit, d, r) {
  x <- cbind(1, d$x)
  vapply(seq_len(n_clusters(fit)), function(k) {
    p <- stats::plogis(drop(x %*% coef(fit)$coef[1, , k]))
    solve(0.1 * diag(2) + crossprod(x, r[, k] * p * (1 - p) * x))
  }, diag(2))
}

test_that("a fit has the curvature of all its rows, however it was found", {
  d <- withr::with_seed(3, data.frame(id = rep(1:80, each = 15), x = stats::rnorm(1200)))
  kind <- 1 + d$id %% 2
  d$y <- withr::with_seed(4, stats::rbinom(1200, 1, stats::plogis(c(-2, 1)[kind] + c(0.5, 2)[kind] * d$x)))
  obs <- obs_regression(family = "binomial", coef_mean = c(0, 0), coef_precision = 0.1 * diag(2))
  control <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
  fit_by <- function(control, data = d) bnp_mixture(y ~ x | id, data, obs, prior_dirichlet(2), control)
  fit <- function(..., data = d) fit_by(control(tol = 1e-9, ...), data)
  wide <- function(fit) {
    cov <- posterior_params(fit)$coef_cov
    unname(cov[, , order(coef(fit)$coef[1, 1, ])])
  }
  one <- fit()
  expect_equal(unname(posterior_params(one)$coef_cov), curved(one, d, predict(one, d, type = "prob")), tolerance = 0.02)
  expect_equal(wide(fit(batches = 4)), wide(one), tolerance = 1e-3)
  expect_identical(wide(fit(threads = 2)), wide(one))
  expect_equal(wide(fit_by(control(batches = 4, algorithm = "stochastic", max_laps = 60))), wide(one), tolerance = 0.05)
  local_desk()
  expect_identical(wide(fit(batches = 4, wave = 2, workers = TRUE)), wide(fit(batches = 4, wave = 2)))
  half <- d$id <= 40
  more <- update(fit(data = d[half, ]), newdata = d[!half, ])
  expect_equal(wide(more), wide(one), tolerance = 0.05)
  path <- withr::local_tempfile(fileext = ".rds")
  begun <- fit(checkpoint = path, max_laps = 2)
  expect_equal(wide(bnp_resume(path, d, max_laps = 200)), wide(one), tolerance = 1e-3)
  expect_gt(det(wide(begun)[, , 1]), 0)
  states <- bnp_hmm(y ~ x, d, id = ~ id, obs = obs, prior = prior_hmm(2), control = control())
  in_states <- curved(states, d, predict(states, d, type = "prob"))
  expect_equal(unname(posterior_params(states)$coef_cov), in_states, tolerance = 0.02)
})
