# Densities of rows at point estimates: heldout_loglik(type = "plugin").

few <- function(...) bnp_control(seed = 1, max_laps = 20, ...)
log_sum <- function(x) {
  top <- apply(x, 1, max)
  top + log(rowSums(exp(x - top)))
}
log_normal <- function(x, mean, cov) {
  root <- chol(cov)
  z <- backsolve(root, t(x) - mean, transpose = TRUE)
  -0.5 * colSums(z^2) - sum(log(diag(root))) - 0.5 * length(mean) * log(2 * pi)
}
# A mixture in plain R: density(k) of all rows in cluster k.
mixed <- function(fit, density) {
  weights <- coef(fit)$weights
  each <- vapply(seq_along(weights), density, numeric(length(density(1))))
  unname(log_sum(each + rep(log(weights / sum(weights)), each = nrow(each))))
}
plugin <- function(fit, x, ...) {
  data <- as_newdata(fit, x, ...)
  unname(log_predictive(fit, data, plugin = TRUE))
}

# The statistics of rows with scales are not those of scales that are 1, which the contract has.
for (case in some_of(without_scales(c(model_cases(), planted_cases())), by = 5, from = 2)) {
  test_that(paste0(case$name, ": weights and point estimates of the clusters in use, base measure included"), {
    lag <- case$model$obs$lag %||% 0
    starts <- case$data$starts
    given <- unlist(Map(function(from, to) seq_len(to - from) > lag, head(starts, -1), starts[-1]))
    resp <- withr::with_seed(1, matrix(rexp(3 * case$data$n), ncol = 3))
    resp <- resp / rowSums(resp)
    state <- engine_fit(case$data, case$model, engine_control(3, max_laps = 0L), list(resp = resp), NULL)$state
    weights <- engine_mean_parameters(case$model, state)$weights
    e <- engine_contract(case$data, case$model, resp[given, ])
    as_they_are <- case$model
    as_they_are$obs$rounding <- NULL
    e$features <- engine_contract(case$data, as_they_are, resp[given, ])$features
    each <- e$features %*% t(e$point_weights) + rep(log(weights / sum(weights)), each = sum(given))
    found <- engine_log_predictive(case$data, case$model, state, TRUE, 2L)
    expect_identical(is.na(found), !given)
    expect_equal(found[given], log_sum(each) + e$log_base, tolerance = 1e-10)
  })
}

x <- withr::with_seed(1, rbind(matrix(rnorm(120), 60), matrix(rnorm(80, 4), 40)))
new <- withr::with_seed(2, matrix(rnorm(40, 2, 2), 20))

test_that("t clusters: at their means, covariances and degrees of freedom", {
  log_t <- function(x, mean, cov, df) {
    d <- length(mean)
    square <- stats::mahalanobis(x, mean, cov)
    lgamma((df + d) / 2) - lgamma(df / 2) - d / 2 * log(df * pi) - determinant(cov)$modulus[[1]] / 2 -
      (df + d) / 2 * log1p(square / df)
  }
  for (covariance in c("full", "diagonal")) {
    fit <- bnp_mixture(x, obs_student(covariance), control = few())
    expect_gt(n_clusters(fit), 1)
    at <- coef(fit)
    by_hand <- mixed(fit, function(k) log_t(new, at$mean[k, ], at$cov[, , k], at$tails[k]))
    expect_equal(plugin(fit, new), by_hand, tolerance = 1e-8)
    expect_equal(heldout_loglik(fit, new, "plugin"), mean(by_hand), tolerance = 1e-8)
  }
})

test_that("Gaussian clusters of every covariance predict at their means and covariances", {
  full <- bnp_mixture(x, control = few())
  expect_gt(n_clusters(full), 1)
  at <- coef(full)
  by_hand <- mixed(full, function(k) log_normal(new, at$mean[k, ], at$cov[, , k]))
  expect_equal(plugin(full, new), by_hand, tolerance = 1e-10)
  expect_equal(heldout_loglik(full, new, "plugin"), mean(by_hand), tolerance = 1e-10)
  expect_equal(heldout_loglik(full, new, "completion"), heldout_loglik(full, new))
  diagonal <- bnp_mixture(x, obs_gaussian("diagonal"), control = few())
  q <- posterior_params(diagonal)
  by_hand <- mixed(diagonal, function(k) log_normal(new, q$mean[k, ], diag(q$scale[k, ] / q$df[k])))
  expect_equal(plugin(diagonal, new), by_hand, tolerance = 1e-10)
  tied <- bnp_mixture(x, obs_gaussian("tied", variance = diag(2)), control = few())
  by_hand <- mixed(tied, function(k) log_normal(new, coef(tied)$mean[k, ], diag(2)))
  expect_equal(plugin(tied, new), by_hand, tolerance = 1e-10)
  # Of rows that lack cells the marginal.
  holes <- new
  holes[1:5, 1] <- NA
  holes[6:9, 2] <- NA
  marginal <- function(k) {
    out <- log_normal(new, at$mean[k, ], at$cov[, , k])
    out[1:5] <- dnorm(new[1:5, 2], at$mean[k, 2], sqrt(at$cov[2, 2, k]), log = TRUE)
    out[6:9] <- dnorm(new[6:9, 1], at$mean[k, 1], sqrt(at$cov[1, 1, k]), log = TRUE)
    out
  }
  found <- heldout_loglik(full, holes, "plugin", na_action = "model")
  expect_equal(found, mean(mixed(full, marginal)), tolerance = 1e-10)
  expect_true(is.finite(heldout_loglik(full, rbind(new, 1e200), "plugin")))
})

test_that("counts, levels and products are those of plain R", {
  made <- withr::with_seed(4, {
    group <- rep(1:2, each = 50)
    data.frame(n = rpois(100, c(2, 9)[group]), b = rbinom(100, 1, c(0.2, 0.9)[group]), z = rnorm(100, 3 * group))
  })
  levels <- data.frame(made, f = factor(c("u", "v", "w")[1 + (made$n + made$b) %% 3]))
  fit <- bnp_mixture(
    levels,
    obs_product(obs_poisson(columns = "n"), obs_categorical(columns = c("b", "f")), obs_gaussian(columns = "z")),
    control = few()
  )
  expect_gt(n_clusters(fit), 1)
  at <- coef(fit)
  prob <- at$categorical$prob
  by_hand <- mixed(fit, function(k) {
    dpois(levels$n, at$poisson$rate[k, ], log = TRUE) +
      dnorm(levels$z, at$gaussian$mean[k, ], sqrt(at$gaussian$cov[, , k]), log = TRUE) +
      log(prob$b[k, as.character(levels$b)]) + log(prob$f[k, as.character(levels$f)])
  })
  expect_equal(plugin(fit, levels), by_hand, tolerance = 1e-10)
})

test_that("individuals have the density of all their rows", {
  who <- rep(1:25, each = 4)
  fit <- bnp_mixture(x, id = who, control = few())
  at <- coef(fit)
  by_hand <- mixed(fit, function(k) rowsum(log_normal(x, at$mean[k, ], at$cov[, , k]), who)[, 1])
  expect_equal(heldout_loglik(fit, x, "plugin", id = who), sum(by_hand) / 100, tolerance = 1e-10)
})

test_that("sequences: one step ahead among the states of the fit", {
  for (prior in list(prior_hdp_hmm(sticky = 20), prior_hmm(3))) {
    fit <- bnp_hmm(beaver1["temp"], prior = prior, control = few())
    transition <- transition_matrix(fit)
    at <- coef(fit)
    ahead <- attr(transition, "start")
    log_p <- vapply(beaver2$temp, function(value) {
      joint <- ahead * dnorm(value, at$mean[, 1], sqrt(at$cov[1, 1, ]))
      ahead <<- drop(joint / sum(joint)) %*% transition
      log(sum(joint))
    }, 1)
    expect_equal(heldout_loglik(fit, beaver2["temp"], type = "plugin"), mean(log_p), tolerance = 1e-8)
  }
})

test_that("with many rows plugging in is what the posterior predictive comes to; with few it is too sure", {
  gap <- function(n, seed) {
    rows <- withr::with_seed(seed, matrix(rnorm(2 * n), n))
    fit <- bnp_mixture(rows, prior = prior_dirichlet(1), control = few())
    mean(predict(fit, new, "logdensity")) - heldout_loglik(fit, new, "plugin")
  }
  expect_lt(abs(gap(20000, 1)), 0.01)
  expect_gt(gap(8, 1), 0.1)
})

test_that("rows need no draws, which is said", {
  fit <- bnp_mixture(x, control = few())
  expect_bad(heldout_loglik(fit, new, "sequential"), "argument", "documents")
  expect_bad(heldout_loglik(fit, new, "prob"), "argument", "`type`")
  chain <- bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 3))
  expect_bad(heldout_loglik(chain, faithful, type = "sequential"), "argument", "documents")
  expect_bad(heldout_loglik(fit, new[0, ], "plugin"), "no_rows", "`newdata`")
})
