# A concentration with a Gamma prior, and sticks with a discount: against integrals, enumerations and laws in plain R.

weights_at <- function(prior, counts, effective = counts) engine_mixture_weights(prior, counts, effective)
allocated <- function(prior, counts) weights_at(prior, counts)$value
py <- function(gamma, d = 0) list(family = "py", concentration = gamma, discount = d)
ab <- function(shape, rate) c(shape = shape, rate = rate)

counts_behind <- function(n) rev(cumsum(rev(n))) - n

# log prod_k B(1 - d + N_k, g + kd + N_>k) / B(1 - d, g + kd), as the sum of its K terms.
log_beta_ratios <- function(g, n, d) {
  k <- seq_along(n)
  sum(lbeta(1 - d + n, g + k * d + counts_behind(n)) - lbeta(1 - d, g + k * d))
}

# log of its integral over Gamma(a, b) by 1,024 nodes between where the integrand falls by e^-45.
integrated <- function(n, a, b, d = 0, m = 1024L) {
  f <- function(t) {
    g <- exp(t)
    k <- seq_along(n)
    free <- outer(g, (k[-1] - 1) * d, `+`)
    ratio <- rowSums(log(free / (free + rep(counts_behind(n)[-length(n)], each = length(g)))))
    constant <- a * log(b) - lgamma(a) + sum(lgamma(1 - d + n) - lgamma(1 - d))
    constant + a * t - b * g + lgamma(1 + g) - lgamma(1 + g + sum(n)) + ratio
  }
  wide <- seq(log(a / b) - 110, log((a + length(n)) / b) + 8, length.out = 600)
  near <- f(wide)
  from <- range(wide[near > max(near) - 45]) + c(-0.2, 0.2)
  t <- seq(from[1], from[2], length.out = m)
  v <- f(t)
  w <- exp(v - max(v))
  list(value = max(v) + log(sum(w) * diff(t[1:2])), gamma = exp(t), prob = w / sum(w))
}

some_counts <- list(
  few = c(300, 200, 50, 10), one = 40, none = c(12, 3, 0, 0), tiny = c(500, 1e-9, 0.2),
  unsorted = c(1, 30, 5, 200, 0, 7), narrow = withr::with_seed(1, round(rexp(50) * 100)),
  single = rep(1, 200), many = rep(1, 1000), long = 2000 / (1:300)^1.5
)

test_that("the integral over the concentration has the figures of the design", {
  expect_equal(allocated(py(ab(2, 1)), c(300, 200, 50, 10)), -564.887005, tolerance = 1e-9)
  expect_equal(allocated(py(ab(2, 1)), c(5000, 3000, 1000, 500, 200, 100, 20, 5)), -12134.58614, tolerance = 1e-9)
})

test_that("64 nodes are as good as 1,024, up to sharp and to flat priors and many clusters", {
  for (n in some_counts) {
    sharp_and_flat <- list(ab(2, 1), ab(1, 1), ab(1, 1e-4), ab(200, 0.01), ab(200, 100), ab(1, 100), ab(30, 1e-3))
    for (prior in some_of(sharp_and_flat, by = 5, from = if (length(n) > 1) 1 else 4)) {
      for (d in c(0, 0.3, 0.9)) {
        exact <- integrated(n, prior[1], prior[2], d, if (prior[1] < 2) 2048L else 1024L)
        ours <- weights_at(py(prior, d), n)
        expect_lt(abs(ours$value - exact$value), 1e-7 * max(1, abs(exact$value) / 1e5))
        behind <- counts_behind(n)
        first <- digamma(1 - d + n[1]) - sum(exact$prob * digamma(1 + exact$gamma + sum(n)))
        expect_equal(ours$log_weights[1], first, tolerance = 1e-7)
        if (length(n) > 1 && behind[1] > 0.1) {
          second <- digamma(1 - d + n[2]) - sum(exact$prob * digamma(1 + exact$gamma + sum(n))) -
            sum(exact$prob / (exact$gamma + d + behind[1]))
          expect_equal(ours$log_weights[2], second, tolerance = 1e-7)
        }
      }
    }
  }
})

# (a, b) -> infinity at a / b = gamma: the integral is f + O(K^2 / a).
test_that("a sharp prior is a fixed concentration, and no discount the Dirichlet process, bit for bit", {
  for (n in some_counts[c("few", "one", "unsorted")]) {
    for (gamma in c(0.2, 1, 5)) {
      for (d in c(0, 0.4)) {
        sharp <- weights_at(py(ab(1e9, 1e9 / gamma), d), n)
        fixed <- weights_at(py(gamma, d), n)
        expect_lt(abs(sharp$value - fixed$value), 1e-6)
        expect_equal(sharp[-1], fixed[-1], tolerance = 1e-6)
        expect_equal(fixed$value, log_beta_ratios(gamma, n, d), tolerance = 1e-12)
      }
      expect_identical(weights_at(py(gamma), n), weights_at(list(family = "dp", concentration = gamma), n))
    }
    expect_identical(
      weights_at(py(ab(2, 1)), n), weights_at(list(family = "dp", concentration = ab(2, 1)), n)
    )
  }
})

test_that("expected log weights are the derivatives of the integral", {
  n <- c(30, 12, 5.5, 0.4)
  for (d in c(0, 0.35)) {
    prior <- py(ab(2, 1), d)
    slope <- vapply(seq_along(n), function(k) {
      h <- 1e-4 * (seq_along(n) == k)
      (allocated(prior, n + h) - allocated(prior, n - h)) / 2e-4
    }, 0)
    expect_equal(weights_at(prior, n)$log_weights, slope, tolerance = 1e-7)
  }
})

test_that("at globals of other counts the term is linear and below its maximum, which it touches", {
  withr::local_seed(1)
  for (d in c(0, 0.35)) {
    for (concentration in list(1.5, ab(2, 1))) {
      prior <- py(concentration, d)
      for (i in 1:20) {
        n <- rexp(5) * 50
        other <- rexp(5) * 50
        at <- weights_at(prior, n, other)
        expect_equal(at$value, allocated(prior, other) + sum((n - other) * at$log_weights), tolerance = 1e-12)
        expect_lte(at$value, allocated(prior, n))
      }
    }
  }
})

test_that("mean weights and what is left of the stick sum to 1 and are averages over the concentration", {
  n <- c(20, 6, 1, 0)
  for (d in c(0, 0.5)) {
    q <- integrated(n, 2, 1, d)
    each <- vapply(q$gamma, function(g) {
      a <- 1 - d + n
      b <- g + seq_along(n) * d + counts_behind(n)
      c(a / (a + b), 1) * cumprod(c(1, b / (a + b)))
    }, double(5))
    ours <- weights_at(py(ab(2, 1), d), n)$weights
    expect_equal(ours, drop(each %*% q$prob), tolerance = 1e-8)
    expect_equal(sum(ours), 1)
  }
})

# All partitions of n rows as integer labels, the first block that of row 1.
partitions <- function(n) {
  out <- matrix(1L, 1L, 1L)
  for (i in seq_len(n)[-1L]) {
    out <- do.call(rbind, lapply(seq_len(nrow(out)), function(r) {
      cbind(out[rep(r, max(out[r, ]) + 1L), , drop = FALSE], seq_len(max(out[r, ]) + 1L))
    }))
  }
  out
}

# Their log probability: the two-parameter formula of Pitman (1995).
log_eppf <- function(z, gamma, d) {
  size <- tabulate(z)
  k <- seq_along(size)[-1L] - 1
  sum(log(gamma + k * d)) - sum(log(gamma + seq_len(length(z) - 1L))) + sum(lgamma(size - d) - lgamma(1 - d))
}

log_sum <- function(v) max(v) + log(sum(exp(v - max(v))))

test_that("partitions have total probability 1", {
  z <- partitions(6)
  for (at in list(c(1, 0), c(0.5, 0.3), c(-0.2, 0.5), c(3, 0.9))) {
    expect_equal(log_sum(apply(z, 1, log_eppf, at[1], at[2])), 0)
  }
})

test_that("the bound is below the evidence of all partitions, with the figures of the design", {
  x <- matrix(c(-1.2, -0.9, -1.1, 0.8, 1, 2.5, -0.7))
  obs <- list(
    family = "gaussian_full", mean = 0, mean_strength = 0.2, df = 3, scale = matrix(1), centre = 0, unit = 1
  )
  case <- list(data = as_engine_data(engine_data(x)), model = list(obs = obs))
  normal_wishart <- function(v) {
    n <- length(v)
    strength <- 0.2 + n
    scale <- 1 + sum(v^2) - sum(v)^2 / strength
    lgamma((3 + n) / 2) - lgamma(3 / 2) - (3 + n) / 2 * log(scale) + log(0.2 / strength) / 2 - n / 2 * log(pi)
  }
  z <- partitions(7)
  evidences <- apply(z, 1, function(labels) sum(tapply(x[, 1], labels, normal_wishart)))
  # Partitions with blocks of the same sizes have the same probability.
  sizes <- apply(z, 1, function(labels) paste(sort(tabulate(labels)), collapse = " "))
  kind <- match(sizes, unique(sizes))
  mixed <- function(d) {
    gamma <- qgamma((1:2000 - 0.5) / 2000, 2, 1)
    of_kind <- apply(z[!duplicated(kind), ], 1, function(labels) {
      log_sum(vapply(gamma, function(g) log_eppf(labels, g, d), 0)) - log(2000)
    })
    of_kind[kind]
  }
  best <- function(prior, truncation = 4L) {
    fixed <- bnp_moves(FALSE, FALSE, FALSE, reorder = TRUE)
    max(vapply(1:20, function(seed) {
      engine_run(case, prior = prior, k_init = truncation, seed = seed, moves = fixed, tol = 1e-10, max_laps = 500)$elbo
    }, 0))
  }
  figures <- list(
    list(py(0.5), -13.63261423, -15.80866958), list(py(2), -12.90355791, -17.19784458),
    list(py(0.5, 0.3), -13.15569328, -16.74395563), list(py(2, 0.3), -12.76227657, -18.45093347),
    list(py(ab(2, 1)), -13.01908849, -16.67730349)
  )
  for (figure in figures) {
    prior <- figure[[1]]
    learned <- length(prior$concentration) == 2
    log_prior <- if (learned) mixed(0) else apply(z, 1, log_eppf, prior$concentration, prior$discount)
    evidence <- log_sum(evidences + log_prior)
    expect_equal(evidence, figure[[2]], tolerance = if (learned) 1e-6 else 1e-9)
    bound <- best(prior)
    expect_lte(bound, evidence)
    expect_equal(bound, figure[[3]], tolerance = 1e-4)
  }
  both <- log_sum(evidences + mixed(0.4))
  expect_lte(best(py(ab(2, 1), 0.4)), both)
})

learned_priors <- list(prior_dp(gamma_prior(2, 1)), prior_py(1, 0.3), prior_py(gamma_prior(2, 1), 0.3))

for (case in planted_cases()[c(1, 5)]) {
  test_that(paste0(case$name, ": audited fits with all moves never fall"), {
    for (prior in learned_priors) {
      for (batches in if (long_tests()) c(1, 4) else 4) {
        for (k_init in c(1, 15)) {
          fit <- engine_run(case, prior = prior, batches = batches, k_init = k_init, seed = 3, audit = TRUE)
          expect_audited(fit)
        }
      }
    }
  })
}

test_that("threads change no bit, and each algorithm fits", {
  withr::local_seed(2)
  x <- planted_points(400)$x
  control <- function(...) bnp_control(seed = 4, batches = 4, max_laps = 20, verbose = FALSE, ...)
  for (prior in learned_priors) {
    one <- suppressWarnings(bnp_mixture(x, prior = prior, control = control(threads = 1)))
    two <- suppressWarnings(bnp_mixture(x, prior = prior, control = control(threads = 2)))
    expect_identical(one$state, two$state)
    expect_identical(one$elbo_terms, two$elbo_terms)
    for (algorithm in c("full", "stochastic")) {
      batches <- if (algorithm == "full") 1 else 4
      fit <- suppressWarnings(bnp_mixture(
        x, prior = prior, control = bnp_control(algorithm, batches = batches, seed = 1, max_laps = 15, k_init = 6)
      ))
      expect_true(is.finite(elbo(fit)))
    }
  }
  expect_identical(
    bnp_mixture(x, prior = prior_py(1, 0), control = control())[c("state", "elbo_terms", "labels")],
    bnp_mixture(x, prior = prior_dp(1), control = control())[c("state", "elbo_terms", "labels")]
  )
})

test_that("a fit shows the concentration it learned", {
  fit <- bnp_mixture(faithful, prior = prior_dp(gamma_prior(2, 1)), control = bnp_control(seed = 1))
  order <- order(fit$numbering)
  sizes <- fit$sizes[order]
  q <- integrated(sizes, 2, 1)
  quantile <- function(p) approx(cumsum(q$prob) - q$prob / 2, q$gamma, p, ties = "ordered")$y
  expected <- c(mean = sum(q$gamma * q$prob), lower = quantile(0.05), upper = quantile(0.95))
  expect_equal(coef(fit)$concentration, expected, tolerance = 1e-3)
  shown <- glance(fit)
  expect_equal(
    unlist(shown[c("concentration", "concentration.low", "concentration.high")], use.names = FALSE),
    unname(coef(fit)$concentration)
  )
  expect_output(print(fit), "Concentration 0[.][0-9]+ \\(90 % interval")
  expect_output(print(summary(fit)), "concentration = Gamma\\(2, 1\\)")
  params <- posterior_params(fit)
  expect_equal(sum(params$concentration_nodes[, "prob"]), 1)
  first <- c(1 + sizes[1], sum(sizes[-1]) + expected[["mean"]])
  expect_equal(unname(params$sticks[fit$numbering == 1, ]), first, tolerance = 1e-6)
  expect_null(coef(bnp_mixture(faithful, control = bnp_control(seed = 1)))$concentration)
  expect_false("concentration" %in% names(glance(bnp_mixture(faithful, control = bnp_control(seed = 1)))))
})

# Of the six pairs so little is known that the concentration's posterior mean in place of an average would be seen.
for (k in c(2L, 6L)) {
  test_that(paste("intervals of weights average over the concentration,", k, "clusters"), {
    prior <- if (k == 2L) gamma_prior(2, 1) else gamma_prior(1, 0.02)
    x <- rep(10 * seq_len(k), each = 12 / k) + seq_len(12 / k) / 10
    fit <- bnp_mixture(
      x, obs_gaussian(scale = 0.01), prior = prior_dp(prior), start = rep(seq_len(k), each = 12 / k),
      control = bnp_control(seed = 1, moves = FALSE, verbose = FALSE)
    )
    ours <- confint(fit, "weights", level = 0.9)
    sizes <- fit$sizes[order(fit$numbering)]
    q <- integrated(sizes, prior[["shape"]], prior[["rate"]])
    draws <- withr::with_seed(1, {
      gamma <- sample(q$gamma, 2e5, TRUE, q$prob)
      rest <- rep(1, 2e5)
      vapply(seq_along(sizes), function(k) {
        v <- rbeta(2e5, 1 + sizes[k], gamma + counts_behind(sizes)[k])
        out <- rest * v
        rest <<- rest * (1 - v)
        out
      }, rest)
    })
    exact <- t(apply(draws, 2, quantile, c(0.05, 0.95)))[fit$numbering, , drop = FALSE]
    expect_equal(unname(ours), unname(exact), tolerance = 0.008)
  })
}

test_that("concentrations that cannot be learned and parameters out of range are refused", {
  prior <- gamma_prior(2, 1)
  for (make in list(
    function() prior_dirichlet(3, prior), function() prior_py(1, prior), function() prior_lda(prior),
    function() gamma_prior(prior), function() bnp_control(tol = prior), function() obs_gaussian(df = prior)
  )) {
    expect_error(make(), class = "bnpvi_error_argument")
  }
  expect_bad(
    prior_dirichlet(3, prior), "argument",
    paste0(
      "concentration.*cannot be learned here.*gamma_prior.*concentration.*prior_dp.*gamma.*alpha.*prior_hdp.*",
      "alpha.*prior_lda.*sticky.*prior_hdp_hmm.*prior_hmm"
    )
  )
  for (x in list(-1, 0, NA, Inf, "1", c(1, 2), NULL)) {
    expect_bad(gamma_prior(x, 1), "argument", "shape")
    expect_bad(gamma_prior(1, x), "argument", "rate")
  }
  expect_bad(prior_dp(gamma_prior(0.5, 1)), "range", "`concentration\\$shape` must be from 1 ")
  expect_bad(gamma_prior(1e-11, 1), "range", "`shape` must be from 1e-10 ")
  spoiled <- gamma_prior()
  for (x in c(NA, Inf, 0)) {
    spoiled[["rate"]] <- x
    expect_bad(prior_py(spoiled), "argument", "`concentration\\$rate` must be one finite number above 0")
  }
  spoiled[["rate"]] <- 1e20
  expect_bad(prior_hdp(spoiled), "range", "`rate` must be from ")
  expect_bad(prior_dp(structure(list(), class = "bnp_gamma_prior")), "argument", "`concentration\\$shape`")
  for (x in list(-0.1, 1, 2, NA, "a", c(0, 0.1), NULL)) expect_bad(prior_py(1, x), "argument", "discount")
  expect_bad(prior_py(-0.3, 0.3), "argument", "above -0.3")
  expect_bad(prior_py(0, 0), "argument", "above 0")
  expect_bad(prior_py(1, 0.9999999), "range", "discount")
  expect_bad(prior_py(2e50, 0.5), "range", "concentration [+] discount")
  expect_no_error(prior_py(-0.2, 0.3))
  expect_output(print(gamma_prior(2, 4)), "Gamma\\(2, 4\\), mean 0.5")
  expect_output(print(prior_py(gamma_prior(2, 1), 0.25)), "Pitman-Yor process: concentration = Gamma\\(2, 1\\),")
})

test_that("quantiles of weights are those of the mixture over concentrations", {
  gamma <- c(0.1, 6)
  found <- vapply(c(0.05, 0.95), stick_weights_quantile, double(2), a = c(3, 2), b = rbind(1 + gamma, gamma))
  draws <- withr::with_seed(1, {
    g <- sample(gamma, 2e5, TRUE)
    first <- rbeta(2e5, 3, 1 + g)
    cbind(first, (1 - first) * rbeta(2e5, 2, g))
  })
  expect_equal(found, unname(t(apply(draws, 2, quantile, c(0.05, 0.95)))), tolerance = 0.02)
})
