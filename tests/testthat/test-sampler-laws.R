# Samplers of partitions against enumeration, with the figures of the design page.

points <- rbind(c(-2.1, 0.3), c(-1.7, -0.4), c(0.2, 0.1), c(1.9, 0.8), c(2.3, 1.1), c(2, -1.2))
tokens <- rbind(c(3, 0, 1), c(2, 1, 0), c(0, 4, 1), c(0, 2, 2), c(1, 0, 0), c(0, 0, 3))
bits <- rbind(c(1, 0, 1), c(1, 0, 0), c(0, 1, 1), c(0, 1, 1), c(1, 1, 1), c(0, 0, 0))
gaussian <- list(
  family = "gaussian_full", mean = c(0, 0), mean_strength = 0.2, df = 4, scale = diag(2), centre = c(0, 0),
  unit = c(1, 1)
)
tiny <- list(
  gaussian = list(
    x = points, obs = gaussian, log_evidence = -23.02547871,
    log_p = function(rows) gaussian_evidence(points[rows, , drop = FALSE], 0.2, 4)
  ),
  multinomial = list(
    x = tokens, obs = list(family = "multinomial", term_prior = rep(0.5, 3)), log_evidence = -21.6572664,
    log_p = function(rows) {
      s <- colSums(tokens[rows, , drop = FALSE])
      sum(lgamma(0.5 + s) - lgamma(0.5)) + lgamma(1.5) - lgamma(1.5 + sum(s))
    }
  ),
  bernoulli = list(
    x = bits, obs = list(family = "bernoulli", a = rep(0.1, 3), b = rep(0.3, 3)), log_evidence = -16.31136783,
    log_p = function(rows) {
      s <- colSums(bits[rows, , drop = FALSE])
      sum(lbeta(0.1 + s, 0.3 + length(rows) - s) - lbeta(0.1, 0.3))
    }
  )
)
priors <- list(
  dp = list(prior = list(family = "dp", concentration = 1.3), discount = 0),
  py = list(prior = list(family = "py", concentration = 1.3, discount = 0.4), discount = 0.4),
  negative = list(prior = list(family = "py", concentration = -0.2, discount = 0.5), discount = 0.5),
  finite = list(prior = list(family = "dirichlet", k = 3L, concentration = 1.3), discount = -1.3 / 3)
)

exact_under <- function(case, prior) exact_posterior(6, case$log_p, prior$prior$concentration, prior$discount)

sample_tiny <- function(case, prior, sweeps, split_merge, keep = 1, threads = 1L, chains = 1, seed = 1) {
  start <- lapply(seq_len(chains), function(number) {
    list(labels = rep(1L, nrow(case$x)), concentration = prior$concentration[1L], sweeps = 0, number = number)
  })
  model <- list(obs = case$obs, prior = prior)
  engine_sample(engine_data(case$x), model, start, sweeps, keep, 0, split_merge, seed, threads)
}

for (name in names(tiny)) {
  case <- tiny[[name]]
  test_that(paste0(name, ": the evidence by enumeration is that of the page"), {
    expect_equal(exact_posterior(6, case$log_p, 1.3)$log_evidence, case$log_evidence, tolerance = 1e-8)
  })

  test_that(paste0(name, ": draws have the exact posterior, with and without splits and merges"), {
    for (kind in names(priors)) {
      if (!is_tried(match(name, names(tiny)), match(kind, names(priors)), by = 2L)) next
      exact <- exact_under(case, priors[[kind]])
      k <- apply(exact$partitions, 1L, max)
      together <- function(z, i, j) z[, i] == z[, j]
      turn <- match(name, names(tiny)) %% 2 + 1
      for (split_merge in some_of(c(0L, 3L), by = 2, from = turn)) {
        out <- sample_tiny(case, priors[[kind]]$prior, 20000, split_merge)[[1L]]
        drawn <- out$records[, "n_clusters"]
        kept <- t(out$kept)
        for (size in which(tapply(exact$prob, factor(k, 1:6), sum) > 1e-3)) {
          z <- batch_z(drawn == size, sum(exact$prob[k == size]))
          expect_lt(abs(z), 4, label = paste(kind, split_merge, size))
        }
        for (pair in list(c(1, 2), c(1, 3), c(4, 6), c(3, 5))) {
          expected <- sum(exact$prob[together(exact$partitions, pair[1], pair[2])])
          z <- batch_z(together(kept, pair[1], pair[2]), expected)
          expect_lt(abs(z), 4, label = paste(kind, split_merge, "pair"))
        }
        if (kind == "finite") expect_lte(max(drawn), 3)
      }
    }
  })

  test_that(paste0(name, ": what is recorded of a draw is what its partition says"), {
    for (kind in names(priors)) {
      out <- sample_tiny(case, priors[[kind]]$prior, 50, 5L)[[1L]]
      for (i in seq_len(50)) {
        z <- out$kept[, i]
        sizes <- tabulate(z)
        clusters <- sum(vapply(split(seq_len(6), z), case$log_p, 1))
        gamma <- priors[[kind]]$prior$concentration
        expected <- c(
          length(sizes), gamma, log_partition_prior(sizes, gamma, priors[[kind]]$discount) + clusters, max(sizes),
          -sum(sizes / 6 * log(sizes / 6))
        )
        expect_equal(unname(out$records[i, ]), expected, tolerance = 1e-8)
      }
      exact <- exact_under(case, priors[[kind]])$log_evidence
      expect_lte(max(out$records[, "log_joint"]), exact)
    }
  })

  test_that(paste0(name, ": draws in sequence average to the evidence"), {
    for (kind in names(priors)) {
      exact <- exact_under(case, priors[[kind]])$log_evidence
      out <- engine_draw_in_sequence(
        engine_data(case$x), list(obs = case$obs, prior = priors[[kind]]$prior), as.double(seq_len(some_draws(4000))),
        priors[[kind]]$prior$concentration, 1, 1L
      )
      ratio <- exp(out$log_evidence - exact)
      expect_lt(abs(mean(ratio) - 1) / (sd(ratio) / sqrt(length(ratio))), 4, label = kind)
    }
  })

  test_that(paste0(name, ": bounds of fits stay below the evidence"), {
    for (kind in names(priors)) {
      exact <- exact_under(case, priors[[kind]])$log_evidence
      model <- list(obs = case$obs, prior = priors[[kind]]$prior)
      for (k in if (kind == "finite") 3L else 1:4) {
        fit <- engine_fit(engine_data(case$x), model, engine_control(k, moves = all_moves), NULL, NULL)
        expect_lt(fit$elbo, exact)
      }
    }
  })
}

test_that("the posterior of the number of clusters is that of the page", {
  exact <- exact_posterior(6, tiny$gaussian$log_p, 1.3)
  k <- apply(exact$partitions, 1L, max)
  expect_equal(
    as.vector(tapply(exact$prob, k, sum)), c(0.00219787, 0.09454628, 0.41172668, 0.38877066, 0.09651965, 0.00623886),
    tolerance = 1e-6
  )
  expect_equal(sum(exact$prob[exact$partitions[, 1] == exact$partitions[, 2]]), 0.73926225, tolerance = 1e-7)
})

test_that("data and partition drawn in turn keep the law of the prior", {
  # x | z by drawing every cluster's probabilities; z | x and the concentration by a sweep (Geweke 2004).
  n <- 8L
  model <- list(obs = list(family = "bernoulli", a = rep(1, 3), b = rep(1, 3)), prior = list(
    family = "dp", concentration = c(2, 1)
  ))
  state <- list(labels = c(1L, 1L, 2L, 1L, 3L, 2L, 1L, 1L), concentration = 2, sweeps = 0, number = 1)
  out <- withr::with_seed(1, t(vapply(seq_len(some_draws(6000)), function(i) {
    p <- matrix(runif(3 * max(state$labels)), ncol = 3)
    x <- 1 * (matrix(runif(3 * n), n) < p[state$labels, ])
    drawn <- engine_sample(engine_data(x), model, list(state), 1, 0, 0, 5L, 1, 1L)[[1L]]
    state <<- drawn[c("labels", "concentration", "sweeps", "number")]
    drawn$records[1L, c("n_clusters", "concentration", "largest")]
  }, numeric(3))))
  # Given the concentration, P(K = k) = |s(n, k)| c^k / (c (c + 1) ... (c + n - 1)); integrated over Gamma(2, 1).
  over <- function(f) stats::integrate(function(c) vapply(c, f, 1) * stats::dgamma(c, 2, 1), 0, Inf)$value
  clusters <- over(function(c) sum(c / (c + seq_len(n) - 1)))
  one <- over(function(c) exp(lgamma(n) - sum(log(c + seq_len(n - 1)))))
  expect_lt(abs(batch_z(out[, "n_clusters"], clusters)), 4)
  expect_lt(abs(batch_z(out[, "concentration"], 2)), 4)
  expect_lt(abs(batch_z(out[, "n_clusters"] == 1, one)), 4)
  expect_lt(abs(batch_z(out[, "largest"] == n, one)), 4)
})

test_that("a concentration has its posterior given the number of clusters", {
  x <- cbind(rep(1e3 * (1:5), each = 20) + withr::with_seed(1, rnorm(100)))
  obs <- list(family = "gaussian_full", mean = 3e3, mean_strength = 1e-6, df = 3, scale = 1, centre = 0, unit = 1)
  case <- list(x = x, obs = obs)
  prior <- list(family = "dp", concentration = c(2, 0.5))
  out <- sample_tiny(case, prior, 20000, 0L, keep = 0)[[1L]]$records[-(1:1000), ]
  five <- out[, "n_clusters"] == 5
  expect_gt(mean(five), 0.9)
  expect_lt(abs(batch_z(out[five, "concentration"], 1.365648718)), 4)
})

test_that("bits depend on seed and number of the chain alone", {
  case <- tiny$gaussian
  prior <- list(family = "dp", concentration = c(2, 1))
  one <- sample_tiny(case, prior, 30, 5L, chains = 3)
  expect_identical(sample_tiny(case, prior, 30, 5L, chains = 3, threads = 2L), one)
  expect_identical(sample_tiny(case, prior, 30, 5L, chains = 1), one[1L])
  expect_false(identical(sample_tiny(case, prior, 30, 5L, seed = 2)[[1L]]$records, one[[1L]]$records))
  first <- sample_tiny(case, prior, 10, 5L)
  state <- lapply(first, `[`, c("labels", "concentration", "sweeps", "number"))
  second <- engine_sample(engine_data(case$x), list(obs = case$obs, prior = prior), state, 20, 1, 0, 5L, 1, 1L)
  expect_identical(rbind(first[[1L]]$records, second[[1L]]$records), one[[1L]]$records)
  expect_identical(cbind(first[[1L]]$kept, second[[1L]]$kept), one[[1L]]$kept)
})
