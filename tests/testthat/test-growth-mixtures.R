# Mixtures of regressions whose individuals have coefficients of their own (helper-effects.R has the slow twin).

# A small example, with the golden figures of the derivation.
golden <- local({
  data <- data.frame(
    id = c(1, 1, 1, 2, 2, 3, 3, 3, 4, 4), t = c(0, 1, 2, 0, 1, 0, 1, 2, 1, 2),
    y = c(.3, .9, 1.6, .1, .8, 2.1, 2.0, 2.2, 1.7, 1.9)
  )
  list(
    data = data, people = individuals_of(data$y, cbind(rep(1, 10)), cbind(data$t), data$id),
    prior = list(m = .5, kappa = .2, nu = 3, B = matrix(.6), M = 0, V = matrix(.5), nue = 3, Be = .2)
  )
})

bound_of <- function(data, id, model, resp) sum(engine_elbo_of(effects_data(data, id), model, resp))

random_people <- function(n = 12L, q = 2L) {
  id <- rep(seq_len(n), 2 + seq_len(n) %% 4)
  t <- rnorm(length(id))
  x <- rnorm(length(id))
  list(
    id = id, table = cbind(rnorm(n)[id] + t * rnorm(n)[id] + .5 * x + rnorm(length(id), 0, .4), t, x), prior = list(
      m = rnorm(q), kappa = .3, nu = q + 2.5, B = diag(q) + .2, M = rnorm(3L - q),
      V = diag(.4, 3L - q), nue = 3.5, Be = .7
    )
  )
}

test_that("the bound is that of the derivation", {
  skip_without_testing_entries()
  twin <- effects_fit(golden$people, matrix(1, 4L, 1L), golden$prior)
  expect_equal(twin$value, -11.06767996, tolerance = 1e-9)
  expect_gt(min(twin$steps), -1e-12)
  model <- effects_model(golden$prior, 0L, 2L)
  table <- golden$data[c("y", "t")]
  expect_equal(bound_of(table, golden$data$id, model, matrix(1, 4L, 1L)), -12.67711787, tolerance = 1e-8)
  # Below the evidence, by quadrature over D, sigma^2 with mu and b integrated out.
  log_joint <- function(log_d, log_s) {
    d <- exp(log_d)
    s <- exp(log_s)
    X <- cbind(1, golden$data$t)
    cov <- diag(s, 10L) + d * outer(golden$data$id, golden$data$id, `==`) +
      X %*% diag(c(d / golden$prior$kappa, s / golden$prior$V[1L])) %*% t(X)
    R <- chol(cov)
    z <- backsolve(R, golden$data$y - golden$prior$m, transpose = TRUE)
    -sum(log(diag(R))) - sum(z^2) / 2 - 5 * log(2 * pi) + stats::dgamma(1 / d, 1.5, .3, log = TRUE) - log_d +
      stats::dgamma(1 / s, 1.5, .1, log = TRUE) - log_s
  }
  step <- if (long_tests()) .1 else .2
  grid <- seq(-7, 7, by = step)
  value <- outer(grid, grid, Vectorize(log_joint))
  evidence <- max(value) + log(sum(exp(value - max(value)))) + 2 * log(step)
  expect_equal(evidence, -10.16992899, tolerance = 1e-4)
  expect_lt(twin$value, evidence)
})

test_that("soft responsibilities reach the bound with two clusters, below the sum over all partitions", {
  fit <- function(k) {
    resp <- if (k == 1L) matrix(1, 4L, 1L) else cbind(c(.9, .9, .1, .1), c(.1, .1, .9, .9))
    control <- list(
      algorithm = "full", batches = 1L, max_laps = 500L, tol = 1e-12, restarts = 1L, k_init = k, init = "bregman",
      moves = list(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE), sparsity = 0L,
      candidates = 0L, threads = 1L, seed = 1, learning_rate = c(1, .75)
    )
    model <- effects_model(golden$prior, 0L, 2L)
    control$moves <- utils::modifyList(unclass(bnp_moves()), control$moves)
    engine_fit(effects_data(golden$data[c("y", "t")], golden$data$id), model, control, list(resp = resp), NULL)$elbo
  }
  expect_equal(fit(1L), -12.67711787, tolerance = 1e-8)
  expect_equal(fit(2L), -12.93216737, tolerance = 1e-7)
  # Over the 15 partitions with their own bounds, under the Chinese restaurant process.
  partitions <- unique(t(apply(expand.grid(1, 1:2, 1:3, 1:4), 1L, function(z) match(z, unique(z)))))
  each <- apply(partitions, 1L, function(z) {
    sizes <- tabulate(z)
    resp <- outer(z, seq_along(sizes), `==`) + 0
    sum(lgamma(sizes)) - lgamma(5) + effects_fit(golden$people, resp, golden$prior)$value
  })
  expect_equal(nrow(partitions), 15L)
  expect_gt(log(sum(exp(each))), fit(1L))
})

test_that("the engine has the numbers of the twin, whatever has effects, in any unit, shared or not", {
  skip_without_testing_entries()
  withr::local_seed(1)
  for (independent in c(FALSE, TRUE)) for (effects in list(0L, 1L, c(0L, 1L), 0:2)) {
    q <- length(effects)
    made <- random_people(q = q)
    made$prior$independent <- independent
    design <- cbind(1, made$table[, -1L])
    people <- individuals_of(
      made$table[, 1L], design[, effects + 1L, drop = FALSE], design[, -(effects + 1L), drop = FALSE], made$id
    )
    resp <- matrix(rgamma(2 * 12L, 1), 12L)
    resp <- resp / rowSums(resp)
    for (shared in list(NULL, list(D = diag(q) * .7 + if (independent) 0 else .1, sigma2 = .3))) {
      expected <- effects_fit(people, resp, made$prior, shared)
      expect_gt(min(expected$steps), -1e-10)
      for (unit in list(rep(1, 3L), c(2, .5, 4))) {
        two <- list(family = "dirichlet", k = 2L, concentration = 2)
        model <- effects_model(made$prior, effects, 3L, two, shared, unit)
        terms <- engine_elbo_of(effects_data(made$table, made$id), model, resp)
        expect_equal(terms[["data"]], expected$value, tolerance = 1e-8)
      }
    }
  }
})

for (independent in c(FALSE, TRUE)) test_that("the covariance and the noise that all share are the best for clusters", {
  skip_without_testing_entries()
  withr::local_seed(2)
  made <- random_people(q = 2L)
  made$prior$independent <- independent
  shared <- list(D = diag(2) * .7 + if (independent) 0 else .1, sigma2 = .3)
  model <- effects_model(made$prior, 0:1, 3L, shared = shared)
  design <- cbind(1, made$table[, -1L])
  people <- individuals_of(made$table[, 1L], design[, 1:2], design[, 3L, drop = FALSE], made$id)
  globals <- effects_globals(effects_zero(made$prior), made$prior, shared)
  visits <- lapply(people, function(one) effects_visit(one, globals)$T)
  T <- list(effects_sum(visits, rep(1:0, 6), made$prior), effects_sum(visits, rep(0:1, 6), made$prior))
  packed <- function(m) m[lower.tri(m, diag = TRUE)][order(row(m)[lower.tri(m, diag = TRUE)])]
  statistic <- t(vapply(T, function(t) {
    a <- rbind(c(t$N, t$m), cbind(t$m, t$mm))
    b <- rbind(cbind(t$XX, t$xy), c(t$xy, t$yy))
    unlist(list(packed(t(a)), t$n, packed(t(b)), t$ent))
  }, double(11L)))
  out <- engine_learned(model$obs, statistic, 1L)
  each <- lapply(T, effects_globals, made$prior, shared)
  D <- (made$prior$B + each[[1L]]$QD + each[[2L]]$QD) / (12 + made$prior$nu + if (independent) 2 else 3)
  if (independent) D <- diag(diag(D))
  noise <- (made$prior$Be + each[[1L]]$Qe + each[[2L]]$Qe) / (T[[1L]]$n + T[[2L]]$n + made$prior$nue + 2)
  expect_equal(out$fields$shared_cov, unname(D), tolerance = 1e-10)
  expect_equal(as.numeric(out$fields$shared_noise), noise, tolerance = 1e-10)
  expect_equal(out$objective[2L], sum(vapply(T, function(t) {
    effects_globals(t, made$prior, list(D = D, sigma2 = noise))$value
  }, 1)) + out$log_hyperprior[2L], tolerance = 1e-10)
  expect_gt(out$objective[2L], out$objective[1L])
  # Inverse Wishart, and inverse gamma of the noise, in the unit of their scales.
  log_density <- function(D, B, df) {
    d <- nrow(B)
    (df + d + 1) / 2 * (log(det(B)) - log(det(D))) - sum(diag(solve(D, B))) / 2 - df * d / 2 * log(2) -
      d * (d - 1) / 4 * log(pi) - sum(lgamma((df + 1 - seq_len(d)) / 2))
  }
  of_effects <- if (!independent) log_density(D, made$prior$B, made$prior$nu) else
    sum(vapply(1:2, function(j) log_density(D[j, j, drop = FALSE], made$prior$B[j, j, drop = FALSE], made$prior$nu), 1))
  expect_equal(out$log_hyperprior[2L],
    of_effects + log_density(matrix(noise), matrix(made$prior$Be), made$prior$nue), tolerance = 1e-10)
})
