# Priors of autoregressions and regressions learned while fitting, against plain R and against the evidence.

# Rows of three clusters that differ in coefficients and noise, with their labels; of autoregressions a series in
# stretches of them. d: responses; e: covariates.
regression_rows <- function(d, e, n = 60, seed = 1) {
  withr::with_seed(seed, {
    z <- rep_len(1:3, n)
    covariates <- matrix(rnorm(n * e), n)
    slope <- array(rnorm(3 * d * e), c(3, d, e))
    noise <- matrix(rnorm(n * d), n) * c(0.2, 0.5, 1)[z]
    y <- t(vapply(seq_len(n), function(i) matrix(slope[z[i], , ], d) %*% covariates[i, ], double(d)))
    list(x = cbind(matrix(y, n) + noise + 3, 10 * covariates + 5), z = z)
  })
}
series_in_stretches <- function(d, n = 90, seed = 2) {
  withr::with_seed(seed, {
    z <- rep(rep_len(1:3, n / 10), each = 10)
    move <- lapply(c(0.9, -0.5, 0.3), function(a) a * qr.Q(qr(matrix(rnorm(d^2), d))))
    x <- matrix(0, n, d)
    for (i in 2:n) x[i, ] <- move[[z[i]]] %*% x[i - 1L, ] + c(0.3, 0.6, 1)[z[i]] * rnorm(d)
    list(x = x + 4, z = z)
  })
}

# Model, data, rows that are modelled as the twin has them, (y, regressors), and their memberships.
coefficient_case <- function(obs, data) {
  own <- engine_data(data$x)
  obs <- resolve_obs(obs, own)
  rows <- if (obs$family == "ar") lagged_rows(data$x, own$starts, obs$lag, obs$intercept) else {
    y <- seq_len(obs$responses)
    cbind(data$x[, y, drop = FALSE], with_intercept(data$x[, -y, drop = FALSE], obs))
  }
  list(obs = obs, data = own, rows = rows, resp = diag(3)[utils::tail(data$z, nrow(rows)), ])
}
coefficient_cases <- function(...) {
  list(
    "one response" = coefficient_case(obs_regression(..., learn = TRUE), regression_rows(1, 2)),
    "two responses" = coefficient_case(two_responses(...), regression_rows(2, 1)),
    "through 0" = coefficient_case(replace(two_responses(...), "intercept", list(FALSE)), regression_rows(2, 1)),
    "ar" = coefficient_case(obs_ar(..., learn = TRUE), series_in_stretches(2)),
    "ar, intercept" = coefficient_case(obs_ar(2, TRUE, ..., learn = TRUE), series_in_stretches(1)),
    "ar, two columns" = coefficient_case(obs_ar(1, TRUE, ..., learn = TRUE), series_in_stretches(2))
  )
}
two_responses <- function(...) replace(obs_regression(..., learn = TRUE), "responses", list(2L))

coefficient_objective <- function(case, obs = case$obs) {
  evidence <- apply(case$resp, 2, function(r) twin_ar(obs)$evidence(case$rows, r))
  sum(evidence) + ncol(case$resp) * occupied_twin(obs) + log_hyperprior_twin(obs)
}
coefficients_learned <- function(case, times) {
  model <- list(obs = case$obs, prior = list(family = "dp", concentration = 1))
  engine_learned(case$obs, engine_contract(case$data, model, case$resp)$statistic, times)
}

# The model with other values of what was learned; the effective prior follows.
with_coefficient_hyper <- function(obs, ...) {
  strength <- obs$hyper_strength[1] / obs$hyper_strength[2]
  obs[...names()] <- list(...)
  now <- obs$hyper_strength[1] / obs$hyper_strength[2]
  obs$coef_precision <- obs$coef_precision * now / strength
  floor <- diag(obs$data_floor, length(obs$data_floor))
  obs$scale <- obs$df * (obs$hyper_shape + floor) + now * ncol(obs$coef_mean) * obs$hyper_mean_variance
  obs
}

test_that("learning never lowers the objective, which is that of plain R, and ends where no part of q(H) is better", {
  skip_without_testing_entries()
  for (name in names(coefficient_cases())) {
    case <- coefficient_cases()[[name]]
    learned <- coefficients_learned(case, 60)
    expect_gte(min(diff(learned$objective)), -1e-9, label = name)
    expect_equal(learned$objective[1], coefficient_objective(case), tolerance = 1e-10)
    end <- case$obs
    end[names(learned$fields)] <- learned$fields
    reached <- learned$objective[length(learned$objective)]
    expect_equal(reached, coefficient_objective(case, end), tolerance = 1e-10)
    expect_equal(end$scale, with_coefficient_hyper(end)$scale, tolerance = 1e-11, ignore_attr = TRUE)
    others <- c(
      lapply(c(0.97, 1.03), function(by) with_coefficient_hyper(end, hyper_shape = by * end$hyper_shape)),
      lapply(c(0.97, 1.03), function(by) with_coefficient_hyper(end, hyper_shape_df = by * end$hyper_shape_df)),
      lapply(c(0.97, 1.03), function(by) {
        with_coefficient_hyper(end, hyper_mean_variance = by * end$hyper_mean_variance)
      }),
      lapply(c(-0.03, 0.03), function(by) with_coefficient_hyper(end, coef_mean = end$coef_mean + by)),
      lapply(list(c(0.97, 1), c(1.03, 1), c(1, 0.97), c(1, 1.03)), function(by) {
        with_coefficient_hyper(end, hyper_strength = by * end$hyper_strength)
      })
    )
    for (other in others) expect_lt(coefficient_objective(case, other), reached, label = name)
  }
})

# Importance sampling from q(H), of which the evidence of the clusters is exact given H.
hyper_draws <- function(obs, n) {
  d <- length(obs$data_variance)
  e <- ncol(obs$coef_mean)
  k <- obs$hyper_strength
  base <- obs$coef_precision * k[2] / k[1]
  root <- t(chol(solve(base)))
  a <- obs$hyper_wishart_df
  b <- obs$hyper_shape_df
  v <- obs$data_variance
  log_wishart <- function(x, df, scale) {
    (df - d - 1) / 2 * log_det_of(x) - sum(diag(solve(scale, x))) / 2 - df * d / 2 * log(2) -
      df / 2 * log_det_of(scale) - log_multigamma_of(d, df / 2)
  }
  S <- as.matrix(obs$hyper_mean_variance)
  lapply(seq_len(n), function(i) {
    kappa <- stats::rgamma(1, k[1], k[2])
    log_ratio <- stats::dgamma(kappa, 0.25, 0.025, log = TRUE) - stats::dgamma(kappa, k[1], k[2], log = TRUE)
    off <- t(chol(S)) %*% matrix(stats::rnorm(d * e), d) %*% t(root)
    mean <- obs$coef_mean + off
    away <- mean - obs$data_location
    log_ratio <- log_ratio + sum(diag(solve(S, off %*% base %*% t(off)))) / 2 + e / 2 * log_det_of(S) -
      sum(diag(away %*% base %*% t(away)) / v) / 2 - e / 2 * sum(log(v))
    if (a == 0) {
      psi <- stats::rgamma(d, b / 2, b / (2 * diag(as.matrix(obs$hyper_shape))))
      log_ratio <- log_ratio + sum(
        stats::dgamma(psi, 0.25, 0.25 / v, log = TRUE) -
          stats::dgamma(psi, b / 2, b / (2 * diag(as.matrix(obs$hyper_shape))), log = TRUE)
      )
      shape <- diag(psi, d)
    } else {
      shape <- matrix(stats::rWishart(1, b, obs$hyper_shape / b), d)
      rate <- (0.2 + a / 2) / obs$hyper_rate
      h <- 0.2 * 0.01 * v / a
      alpha <- stats::rgamma(d, 0.2 + a / 2, rate)
      log_ratio <- log_ratio + log_wishart(shape, a, diag(1 / alpha, d)) - log_wishart(shape, b, obs$hyper_shape / b) +
        sum(stats::dgamma(alpha, 0.2, h, log = TRUE) - stats::dgamma(alpha, 0.2 + a / 2, rate, log = TRUE))
    }
    given <- list(
      df = obs$df, scale = obs$df * (shape + diag(obs$data_floor, d)), coef_mean = mean, coef_precision = kappa * base
    )
    list(given = given, log_ratio = log_ratio)
  })
}

test_that("the bound is below the evidence, and near it", {
  skip_without_testing_entries()
  withr::local_seed(3)
  for (name in names(coefficient_cases())) {
    case <- coefficient_cases()[[name]]
    learned <- coefficients_learned(case, 60)
    obs <- case$obs
    obs[names(learned$fields)] <- learned$fields
    price <- log(12) + if (length(obs$data_variance) > 1L) log(11) else 0
    value <- vapply(hyper_draws(obs, if (long_tests()) 600 else 200), function(draw) {
      draw$log_ratio + sum(apply(case$resp, 2, function(r) twin_ar(draw$given)$evidence(case$rows, r)))
    }, 1)
    most <- max(value)
    evidence <- most + log(mean(exp(value - most)))
    error <- stats::sd(exp(value - most)) / mean(exp(value - most)) / sqrt(length(value))
    bound <- coefficient_objective(case, obs) + price
    expect_lt(bound, evidence + 3 * error, label = paste(name, bound, evidence))
    expect_gt(bound, evidence - 6, label = paste(name, bound, evidence))
  }
})

lines_of <- function(seed = 4, n = 120) {
  withr::with_seed(seed, {
    z <- rep_len(1:3, n)
    a <- rnorm(n)
    data.frame(y = c(-4, 0, 4)[z] + c(2, -1, 0.5)[z] * a + c(0.3, 0.3, 0.6)[z] * rnorm(n), a, z)
  })
}

test_that("fits learn without lowering the objective, say what they learned, and go on from it", {
  lines <- lines_of()
  series <- series_in_stretches(2)$x
  holes <- replace(series, cbind(c(11, 30, 31), c(1, 2, 1)), NA)
  control <- bnp_control(seed = 1)
  fits <- list(
    mixture = bnp_mixture(y ~ a, lines, control = control),
    product = bnp_mixture(lines[c("y", "a")], obs_product(
      obs_regression(formula = y ~ a), obs_gaussian("diagonal", columns = "a", learn = FALSE)
    ), control = control),
    ar = bnp_hmm(series, obs = obs_ar(intercept = TRUE, learn = TRUE), control = control),
    gaps = bnp_hmm(holes, obs = obs_ar(learn = TRUE), control = control, na_action = "model"),
    regression = bnp_hmm(y ~ a, lines, obs = obs_regression(learn = TRUE), control = control)
  )
  for (name in names(fits)) {
    fit <- fits[[name]]
    obs <- if (name == "product") fit$model$obs$blocks[[1]] else fit$model$obs
    expect_gt(min(relative_gains(fit)), -1e-12, label = name)
    expect_equal(elbo(fit, terms = TRUE)[["hyperprior"]], log_hyperprior_twin(obs), tolerance = 1e-9, label = name)
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-12)
    if (name != "product") expect_output(print(fit), "Learned prior: df = ", label = name)
  }
  expect_identical(n_clusters(fits$mixture), 3L)
  expect_gt(adjusted_rand_index(unname(fitted(fits$mixture)), lines$z), 0.95)
  again <- suppressWarnings(bnp_mixture(
    y ~ a, lines, start = fits$mixture, control = bnp_control(seed = 2, moves = FALSE, max_laps = 3)
  ))
  expect_gte(elbo(again), elbo(fits$mixture) - 1e-8)
  fields <- c("df", "scale", "coef_mean", "coef_precision")
  expect_equal(again$model$obs[fields], fits$mixture$model$obs[fields], tolerance = 1e-3)
})

test_that("what is given stays, all given is a given prior, and draws have one unless they begin from a fit", {
  lines <- lines_of()
  given <- list(coef_mean = c(0, 0.5), coef_precision = diag(c(0.1, 0.3)), df = 4, scale = matrix(0.5))
  fit <- function(...) bnp_mixture(y ~ a, lines, obs_regression(...), control = bnp_control(seed = 2))
  for (name in names(given)) {
    one <- do.call(fit, given[name])$model$obs
    expect_true(one$learn)
    expect_equal(
      c(if (name == "scale") one$hyper_scale else one[[name]]), c(given[[name]]), tolerance = 1e-12, label = name
    )
  }
  expect_equal(elbo(do.call(fit, given)), elbo(do.call(fit, c(given, learn = FALSE))), tolerance = 1e-12)
  expect_null(bnp_hmm(y ~ a, lines, control = bnp_control(seed = 1))$model$obs$learn)
  expect_null(bnp_hmm(lines$y, obs = obs_ar(), control = bnp_control(seed = 1))$model$obs$learn)
  expect_bad(obs_ar(learn = NA), "argument", "learn")
  expect_bad(obs_regression(learn = "yes"), "argument", "learn")
  expect_bad(
    bnp_mixture(y ~ a, lines, obs_regression(learn = TRUE), control = bnp_control("stochastic")), "argument",
    "learn = TRUE"
  )
  expect_s3_class(bnp_mixture(y ~ a, lines, control = bnp_control("stochastic", seed = 1, max_laps = 2)), "bnp_fit") |>
    suppressWarnings()
})

test_that("units and origins of responses and covariates change the Jacobian only", {
  lines <- lines_of()
  moved <- transform(lines, y = 1e4 + 1e3 * y, a = 50 + 0.01 * a)
  fit <- function(data) bnp_mixture(y ~ a, data, control = bnp_control(seed = 3))
  one <- fit(lines)
  other <- fit(moved)
  expect_equal(elbo(other), elbo(one) - nrow(lines) * log(1e3), tolerance = 1e-7)
  expect_equal(other$model$obs$df, one$model$obs$df)
  series <- series_in_stretches(2)$x
  states <- function(x) bnp_hmm(x, obs = obs_ar(intercept = TRUE, learn = TRUE), control = bnp_control(seed = 1))
  expect_equal(elbo(states(1e3 * series + 7)), elbo(states(series)) - 2 * 89 * log(1e3), tolerance = 1e-7)
})
