# Clusters that share a covariance, given or learned, and spherical ones.

quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
few <- quiet(seed = 1)
six <- cbind(c(0.1, -0.4, 2.2, 1.9, 2.4, -0.2), c(1.2, 0.3, 0.8, -0.5, 0.1, 0.9))
tied <- c("tied_spherical", "tied_diagonal", "tied")
common <- list(mean = c(0, 0), mean_strength = 0.1, centre = c(0, 0), unit = c(1, 1))
prior_of <- function(shape, variance, ...) {
  c(list(family = paste0("gaussian_", shape), variance = variance), common, list(...))
}
in_shape <- function(shape, cov) switch(shape, tied_spherical = cov[1], tied_diagonal = diag(cov), cov)
contract_of <- function(obs, resp) engine_contract(engine_data(six), list(obs = obs, prior = one), resp)

blobs <- withr::with_seed(1, {
  cluster <- rep(1:4, c(60, 50, 40, 30))
  centre <- 6 * cbind(c(0, 1, 0, -1), c(1, 0, -1, 0))
  list(x = centre[cluster, ] + matrix(rnorm(360), 180) %*% chol(matrix(c(1, 0.9, 0.9, 2), 2)), cluster = cluster)
})

test_that("evidence of a known variance is what quadrature gave, and that of the multivariate normal", {
  resp <- cbind(1, c(0.9, 0.1, 0.5, 0.7, 0.2, 1))
  for (shape in tied) {
    e <- contract_of(prior_of(shape, in_shape(shape, diag(0.25, 2))), resp)
    expect_equal(e$evidence, c(-27.76659960, -15.81758640), tolerance = 1e-9)
  }
  cov <- matrix(c(1, 0.3, 0.3, 0.5), 2)
  joint <- kronecker(cov, diag(6) + 10)
  exact <- -(12 * log(2 * pi) + log_det(joint) + sum(six * solve(joint, as.vector(six)))) / 2
  expect_equal(contract_of(prior_of("tied", cov), resp)$evidence[1], exact, tolerance = 1e-12)
})

# The largest value over variances of Σ Λ of the two clusters.
test_that("a learned variance is the closed form, no search finds a better one, and one step is enough", {
  hard <- cbind(c(1, 1, 0, 0, 0, 1), c(0, 0, 1, 1, 1, 0))
  steps <- function(shape, variance) {
    obs <- prior_of(shape, in_shape(shape, variance), data_variance = c(2, 2))
    engine_learned(obs, contract_of(obs, hard)$statistic, 2L)
  }
  sum_at <- function(shape, variance) sum(contract_of(prior_of(shape, variance), hard)$evidence)
  out <- steps("tied_spherical", diag(2))
  expect_equal(out$fields$variance, 0.17005376, tolerance = 1e-7)
  expect_equal(out$objective[2], -13.26539299, tolerance = 1e-9)
  best <- optimize(function(v) sum_at("tied_spherical", exp(v)), c(-8, 4), maximum = TRUE, tol = 1e-9)
  expect_equal(out$objective[2], best$objective, tolerance = 1e-10)
  for (shape in c("tied_diagonal", "tied")) {
    out <- steps(shape, diag(c(3, 0.1)))
    expect_gt(out$objective[2], out$objective[1])
    expect_equal(out$objective[3], out$objective[2], tolerance = 1e-13)
    expect_identical(out$log_hyperprior, c(0, 0, 0))
    from <- function(p) {
      if (shape == "tied_diagonal") return(exp(p[1:2]))
      root <- matrix(c(exp(p[1]), p[3], 0, exp(p[2])), 2)
      root %*% t(root)
    }
    best <- optim(c(-1, -1, 0), function(p) -sum_at(shape, from(p)), control = list(reltol = 1e-14, maxit = 5000))
    expect_equal(out$objective[2], -best$value, tolerance = 1e-8)
    expect_equal(out$fields$variance, from(best$par), tolerance = 1e-4)
  }
})

test_that("rows that are equal in every cluster, and collinear columns, do not send a variance to 0", {
  for (shape in tied) {
    fit <- suppressWarnings(bnp_mixture(cbind(rep(1:3, 20), 5 * rep(1:3, 20)), obs_gaussian(shape), control = few))
    expect_true(is.finite(elbo(fit)))
    expect_gte(min(diff(elbo_trace(fit)$elbo), 0), -1e-8)
    expect_gt(min(eigen(coef(fit)$cov[, , 1])$values), 0)
    line <- withr::with_seed(1, rnorm(50))
    expect_true(is.finite(elbo(bnp_mixture(cbind(line, 2 * line), obs_gaussian(shape), control = few))))
    expect_true(is.finite(elbo(bnp_mixture(cbind(rep(3, 9), 1:9), obs_gaussian(shape), control = few))))
    expect_true(is.finite(elbo(bnp_mixture(t(c(3, 4)), obs_gaussian(shape), control = few))))
  }
  flat <- prior_of("tied", diag(2), data_variance = c(1, 100), from_one = TRUE)
  x <- cbind(1:6, 10 * (1:6))
  statistic <- engine_contract(engine_data(x), list(obs = flat, prior = one), cbind(rep(1, 6)))$statistic
  learned <- engine_learned(flat, statistic, 1L)$fields$variance
  expect_equal(min(eigen(learned / outer(c(1, 10), c(1, 10)))$values), 1e-6, tolerance = 1e-6)
})

long_test("planted clusters are found, with the covariance that they share", {
  truth <- matrix(c(1, 0.9, 0.9, 2), 2)
  for (shape in c(tied, "spherical")) {
    for (k_init in c(1, 10)) {
      obs <- obs_gaussian(shape, learn = FALSE)
      fit <- bnp_mixture(blobs$x, obs, control = quiet(seed = 1, k_init = k_init, batches = 3))
      expect_equal(n_clusters(fit), 4, label = paste(shape, k_init))
      expect_gt(adjusted_rand_index(fitted(fit), blobs$cluster), 0.95)
    }
  }
  fit <- bnp_mixture(blobs$x, obs_gaussian("tied"), control = few)
  cov <- unname(coef(fit)$cov)
  expect_identical(cov[, , 1], cov[, , 4])
  expect_equal(cov[, , 1], truth, tolerance = 0.2)
  expect_equal(unname(fit$model$obs$variance), cov[, , 1], tolerance = 1e-12)
  expect_output(print(summary(fit)), "variance = 2 x 2")
  expect_gt(elbo(fit), elbo(bnp_mixture(blobs$x, obs_gaussian("tied_diagonal"), control = few)))
  # The bound is that of the learned variance when it is given.
  given <- bnp_mixture(
    blobs$x, obs_gaussian("tied", variance = fit$model$obs$variance), control = few, start = fitted(fit)
  )
  expect_equal(elbo(given), elbo(fit), tolerance = 1e-6)
  expect_identical(given$model$obs$variance, fit$model$obs$variance)
  again <- bnp_mixture(blobs$x, obs_gaussian("tied"), control = few, start = fit)
  expect_gte(elbo(again), elbo(fit) - 1e-6)
  chain <- bnp_hmm(blobs$x, obs = obs_gaussian("tied_spherical"), control = few)
  expect_equal(n_clusters(chain), 4)
  expect_named(glance(chain)["prior.variance"], "prior.variance")
  expect_equal(chain$model$obs$variance, 1.5, tolerance = 0.2)
})

test_that("one cluster has the variance of all data, although fits begin with less", {
  for (seed in 1:3) {
    x <- withr::with_seed(seed, matrix(rnorm(120), 60))
    for (shape in tied) {
      fit <- bnp_mixture(x, obs_gaussian(shape), control = few)
      expect_equal(n_clusters(fit), 1)
      expect_equal(
        unname(coef(fit)$cov[, , 1]), switch(shape, tied_spherical = diag(mean(apply(x, 2, var)), 2),
          tied_diagonal = diag(apply(x, 2, var)), cov(x)
        ), tolerance = 0.03
      )
    }
  }
  expect_equal(coef(bnp_mixture(x, obs_gaussian("tied"), one, few))$cov[, , 1], cov(x), tolerance = 0.03)
})

test_that("one column: all tied covariances are the same model, and spherical is diagonal", {
  x <- blobs$x[, 1]
  fits <- lapply(tied, function(shape) bnp_mixture(x, obs_gaussian(shape), control = few))
  for (fit in fits) expect_equal(elbo(fit), elbo(fits[[1]]), tolerance = 1e-10)
  priors <- lapply(c("spherical", "diagonal", "full"), function(shape) obs_gaussian(shape, scale = 0.5))
  fits <- lapply(priors, function(obs) bnp_mixture(x, obs, control = few))
  for (fit in fits) expect_equal(elbo(fit), elbo(fits[[1]]), tolerance = 1e-8)
})

test_that("units and origin of the data do not matter", {
  for (shape in c(tied, "spherical")) {
    plain <- bnp_mixture(blobs$x, obs_gaussian(shape), control = few)
    for (unit in 2^c(-480, 480)) {
      fit <- bnp_mixture(blobs$x * unit, obs_gaussian(shape), control = few)
      expect_identical(fitted(fit), fitted(plain))
      expect_equal(elbo(fit) + 360 * log(unit), elbo(plain), tolerance = 1e-7) # a gain that counts depends on the ELBO
    }
    far <- bnp_mixture(blobs$x + 1e8, obs_gaussian(shape), control = few)
    expect_identical(fitted(far), fitted(plain))
    expect_equal(elbo(far), elbo(plain), tolerance = 1e-5)
  }
})

test_that("far out, responsibilities are those of the limit, and log densities go on as they should", {
  direction <- rbind(c(1, -1), c(0.3, 1), c(-1, 0))
  for (shape in c(tied, "spherical")) {
    fit <- bnp_mixture(blobs$x, obs_gaussian(shape), control = few)
    limit <- predict(fit, direction * 1e9, type = "prob")
    expect_equal(unname(rowSums(limit)), rep(1, 3))
    for (size in c(1e12, 1e16, 1e20, 1e60, 1e155, 1e270)) {
      expect_equal(predict(fit, direction * size, type = "prob"), limit, tolerance = 1e-10)
    }
    if (shape == "spherical") next
    density <- vapply(10^c(6, 9, 12, 60), function(s) predict(fit, t(c(s, -s)), type = "logdensity"), 1)
    expect_equal(density / density[1], 10^c(0, 6, 12, 108), tolerance = 1e-4)
    expect_equal(predict(fit, t(c(1e200, 0)), type = "logdensity"), -1e300, tolerance = 1e-10)
  }
})

test_that("what has no meaning, or no digits left, is refused", {
  fit <- function(...) bnp_mixture(faithful, obs_gaussian(...), control = quiet(max_laps = 2))
  for (shape in tied) {
    for (bad in list(list(df = 3), list(scale = 1), list(learn = TRUE))) {
      expect_bad(do.call(obs_gaussian, c(shape, bad)), "argument", paste0(names(bad), ".*variance"))
    }
    expect_bad(obs_gaussian(shape, variance = -1), "not_definite", "variance")
    expect_bad(obs_gaussian(shape, variance = c(1, 0)), "not_definite", "variance")
    expect_bad(obs_gaussian(shape, variance = NA), "argument", "variance")
    expect_bad(fit(shape, variance = 1e-16), "range", "`variance` must be from 1e-08")
    expect_bad(fit(shape, variance = c(1, 1, 1)), "argument", "variance")
    expect_bad(fit(shape, mean = 1e9, variance = 1), "range", "`mean` and `variance` would leave")
    expect_bad(
      bnp_mixture(faithful, obs_gaussian(shape), control = quiet("stochastic", batches = 4)), "argument", "variance"
    )
  }
  for (shape in c("full", "diagonal", "zero_mean", "spherical")) {
    expect_bad(obs_gaussian(shape, variance = 1), "argument", "variance.*\n.*own covariance")
  }
  expect_bad(obs_gaussian("tied_diagonal", variance = diag(2)), "argument", "must be a vector")
  expect_bad(obs_gaussian("spherical", scale = diag(2)), "argument", "must be a vector")
  expect_bad(fit("spherical", scale = c(1, 2)), "argument", "one number")
  expect_bad(fit("spherical", scale = 1e-20), "range", "scale")
  expect_bad(fit("tied", variance = matrix(c(1, 1 - 1e-12, 1 - 1e-12, 1), 2)), "range", "singular")
  expect_bad(obs_gaussian("sphere"), "argument", "tied_diagonal")
  named <- fit("tied_diagonal", variance = c(waiting = 30, eruptions = 0.2))
  expect_identical(named$model$obs$variance, c(0.2, 30))
})
