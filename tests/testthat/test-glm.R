# Logistic regressions in clusters and states beside figures of plain R (quadrature, enumeration) and of other models.

withr::local_options(rlib_message_verbosity = "quiet")

logistic <- obs_regression(family = "binomial")
quick <- function(seed = 1, ...) bnp_control(seed = seed, verbose = FALSE, ...)
by_hand <- function(..., family = "binomial") {
  obs_regression(family = family, coef_mean = c(0, 0), coef_precision = diag(c(0.3, 0.5)), ...)
}
one_cluster <- function(formula, data, obs = by_hand(), ...) {
  bnp_mixture(formula, data, obs, prior = prior_dirichlet(1), start = rep(1, nrow(data)), ..., control = glm_control())
}

test_that("bounds of six rows are those of plain R, below the evidence", {
  fit <- one_cluster(one ~ x, six)
  expect_equal(elbo(fit), -4.35613062, tolerance = 1e-8)
  expect_equal(unname(coef(fit)$coef[1, , 1]), c(0.6310454, 1.1869048), tolerance = 1e-6)
  other <- bnp_mixture(two ~ x, six, by_hand(), prior = prior_dp(1), start = rep(1, 6),
    control = glm_control())
  expect_equal(elbo(other), -7.13175586, tolerance = 1e-8)
  o <- c(0.5, -0.3, 1, 0, -0.8, 0.2)
  shifted <- one_cluster(one ~ x + offset(o), cbind(six, o = o))
  expect_equal(elbo(shifted), -5.5071711, tolerance = 1e-7)
  x <- cbind(1, six$x)
  expect_lt(elbo(shifted), glm_quadrature(glm_rows(six$one, offset = o), x, diag(c(0.3, 0.5))))
  halves <- one_cluster(cbind(one, 1 - one) ~ x, six)
  expect_equal(elbo(halves), elbo(fit), tolerance = 1e-10)
  twice <- one_cluster(cbind(yes, no) ~ x, data.frame(x = six$x, yes = 2 * six$one, no = 2 - 2 * six$one))
  doubled <- one_cluster(one ~ x, six[rep(1:6, each = 2), ])
  expect_equal(elbo(twice), elbo(doubled), tolerance = 1e-9) # choose(2, 0) = choose(2, 2) = 1
})

test_that("two clusters of six rows are below enumeration and as in plain R", {
  start <- cbind(c(0.9, 0.8, 0.4, 0.3, 0.9, 0.2), 0)
  start[, 2] <- 1 - start[, 1]
  fit <- bnp_mixture(two ~ x, six, by_hand(), prior = prior_dirichlet(2, concentration = 1), start = start,
    control = glm_control(keep = "probabilities"))
  r <- fit$probabilities
  x <- cbind(1, six$x)
  precision <- diag(c(0.3, 0.5))
  rows <- glm_rows(six$two)
  clusters <- lapply(1:2, function(k) glm_fixed_point(rows, x, precision, r = r[, k]))
  n <- colSums(r)
  weights <- lgamma(1) - lgamma(7) + sum(lgamma(0.5 + n) - lgamma(0.5)) - sum(r[r > 0] * log(r[r > 0]))
  expect_equal(elbo(fit), clusters[[1]]$value + clusters[[2]]$value + weights, tolerance = 1e-9)
  expect_equal(unname(coef(fit)$coef[1, , ]), cbind(clusters[[1]]$mean, clusters[[2]]$mean), tolerance = 1e-5)
  half <- cbind(TRUE, as.matrix(expand.grid(rep(list(0:1), 5))) == 1) # of each pair of labellings one
  each <- log(2) + apply(half, 1, function(a) {
    value <- function(a) if (any(a)) glm_quadrature(lapply(rows, `[`, a), x[a, , drop = FALSE], precision) else 0
    value(a) + value(!a) + sum(lgamma(0.5 + c(sum(a), sum(!a))) - lgamma(0.5)) - lgamma(7)
  })
  expect_lt(elbo(fit), max(each) + log(sum(exp(each - max(each)))))
})

test_that("q(b) and tangents are those of plain R with offsets, trials and a prior mean", {
  d <- withr::with_seed(4, data.frame(x = stats::rnorm(30, 50, 3), n = sample(0:5, 30, TRUE), o = stats::rnorm(30)))
  d$y <- withr::with_seed(5, stats::rbinom(30, d$n, stats::plogis((d$x - 50) / 3 + d$o)))
  precision <- crossprod(matrix(c(1, 0.2, -0.3, 0.5), 2)) + diag(2)
  obs <- obs_regression(family = binomial(), coef_mean = c(1, -0.02), coef_precision = precision)
  fit <- one_cluster(cbind(y, n - y) ~ x + offset(o), d, obs)
  rows <- glm_rows(d$y, d$n, offset = d$o)
  twin <- glm_fixed_point(rows, cbind(1, d$x), precision, c(1, -0.02), laps = 5000)
  expect_equal(elbo(fit), twin$value, tolerance = 1e-7)
  expect_equal(unname(coef(fit)$coef[1, , 1]), twin$mean, tolerance = 1e-4)
  psi <- d$o + drop(cbind(1, d$x) %*% coef(fit)$coef[1, , 1])
  p <- stats::plogis(sqrt(psi^2 + rowSums((cbind(1, d$x) %*% twin$cov) * cbind(1, d$x)))) # at the tangents
  curved <- solve(precision + crossprod(cbind(1, d$x), d$n * p * (1 - p) * cbind(1, d$x)))
  expect_equal(unname(posterior_params(fit)$coef_cov[, , 1]), curved, tolerance = 1e-4)
  half <- drop(diff(t(confint(fit, "coef", level = 0.9)))) / 2
  expect_equal(unname(half), stats::qnorm(0.95) * sqrt(diag(curved)), tolerance = 1e-4)
})

many_individuals <- function(seed = 3, n = 60, each = 15) {
  withr::with_seed(seed, {
    id <- rep(seq_len(n), each = each)
    kind <- rep(1:3, length.out = n)[id]
    x <- stats::rnorm(length(id))
    b <- rbind(c(0, 3), c(2, -1), c(-2, 0.5))
    y <- stats::rbinom(length(id), 1, stats::plogis(b[kind, 1] + b[kind, 2] * x))
    data.frame(id, x, y, kind)
  })
}

test_that("a factor, a logical value and numbers say the same, and a factor implies the family", {
  d <- many_individuals()
  d$f <- factor(ifelse(d$y == 1, "yes", "no"))
  d$l <- d$y == 1
  fit <- bnp_mixture(f ~ x | id, d, control = quick())
  expect_identical(n_clusters(fit), 3L)
  first <- !duplicated(d$id)
  expect_gt(adjusted_rand_index(fitted(fit)[first], d$kind[first]), 0.8)
  expect_identical(elbo(bnp_mixture(l ~ x | id, d, control = quick())), elbo(fit))
  expect_identical(elbo(bnp_mixture(y ~ x | id, d, logistic, control = quick())), elbo(fit))
  expect_identical(unname(predict(fit, d)), unname(fitted(fit)))
  other <- d[sample(nrow(d)), ]
  expect_equal(unname(predict(fit, other)), unname(fitted(fit)[as.integer(row.names(other))]))
  expect_s3_class(bnp_mixture(as.numeric(l) ~ x, d, control = quick())$model$obs, "obs_regression")
})

test_that("threads, batches and workers: same bits, same fit", {
  d <- many_individuals()
  fit <- function(...) {
    bnp_mixture(y ~ x | id, d, logistic, control = quick(seed = 2, ...))
  }
  one <- fit()
  expect_identical(elbo(fit(threads = 2)), elbo(one))
  batches <- fit(batches = 4)
  expect_identical(elbo(fit(batches = 4, threads = 2)), elbo(batches))
  local_desk()
  expect_identical(elbo(fit(batches = 4, wave = 2, workers = TRUE)), elbo(fit(batches = 4, wave = 2)))
  expect_equal(elbo(batches), elbo(one), tolerance = 1e-6)
  expect_true(all(diff(elbo_trace(batches)$elbo) > -1e-7))
})

test_that("rows may come in any order, and whole weights are rows written out", {
  d <- many_individuals(n = 20)
  obs <- obs_regression(family = "binomial", coef_mean = c(0, 0), coef_precision = 0.1)
  fit <- function(d, ...) bnp_mixture(y ~ x | id, d, obs, prior = prior_dirichlet(3), ..., control = glm_control())
  one <- fit(d, start = d$kind)
  o <- withr::with_seed(1, sample(nrow(d)))
  expect_equal(elbo(fit(d[o, ], start = d$kind[o])), elbo(one), tolerance = 1e-9)
  twice <- rbind(d, transform(d, id = id + 100))
  expect_equal(
    elbo(fit(d, start = d$kind, weights = rep(2, nrow(d)))), elbo(fit(twice, start = twice$kind)), tolerance = 1e-9
  )
  both <- transform(rbind(d, d), id = c(d$id, d$id + 100))
  none <- fit(both, start = both$kind, weights = rep(1:0, each = nrow(d)))
  expect_equal(elbo(none), elbo(one), tolerance = 1e-9)
})

test_that("units and origins of covariates change nothing", {
  d <- many_individuals(n = 30)
  fit <- function(d) bnp_mixture(y ~ x | id, d, logistic, control = quick())
  one <- fit(d)
  for (by in list(c(1000, 2024), c(1e-150, 0), c(1e100, 1e102))) {
    other <- fit(transform(d, x = by[1] * x + by[2]))
    expect_equal(elbo(other), elbo(one), tolerance = 1e-6)
    expect_equal(coef(other)$coef[1, 2, ] * by[1], coef(one)$coef[1, 2, ], tolerance = 1e-4)
  }
})

test_that("separated, constant, single and empty data are finite", {
  finite <- function(fit) all(is.finite(elbo(fit)), is.finite(coef(fit)$coef), is.finite(confint(fit, "coef")))
  x <- c(-3:-1, 1:3)
  expect_true(finite(bnp_mixture(y ~ x, data.frame(x, y = as.numeric(x > 0)), logistic, control = quick())))
  for (y in 0:1) expect_true(finite(bnp_mixture(y ~ x, data.frame(x, y), logistic, control = quick())))
  expect_true(finite(bnp_mixture(y ~ x, data.frame(x = 1, y = 1), logistic, control = quick())))
  expect_true(finite(bnp_mixture(y ~ 1, data.frame(y = c(0, 1, 1)), logistic, control = quick())))
  expect_true(finite(bnp_mixture(y ~ 0 + x, data.frame(x, y = c(0, 1, 1, 0, 1, 1)), logistic, control = quick())))
  expect_true(finite(bnp_mixture(cbind(y, n) ~ x, data.frame(x, y = 0, n = 0), logistic, control = quick())))
  many <- data.frame(x, y = 1e6 * (x > 0), n = 1e6)
  expect_true(finite(bnp_mixture(cbind(y, n) ~ x, many, logistic, control = quick())))
  far <- data.frame(x = c(rep(0:1, 20), 1e4), y = c(rep(c(0, 1, 1, 0), 10), 0))
  expect_true(finite(bnp_mixture(y ~ x, far, logistic, control = quick())))
})

test_that("a row without a response says nothing", {
  d <- many_individuals(n = 30)
  gone <- replace(d$y, seq(1, nrow(d), 7), NA)
  fit <- bnp_mixture(y ~ x | id, transform(d, y = gone), logistic, na_action = "model", control = quick())
  there <- bnp_mixture(y ~ x | id, d[!is.na(gone), ], logistic, control = quick())
  expect_equal(fit$state$k, there$state$k)
  expect_equal(elbo(fit), elbo(there), tolerance = 1e-3) # the prior is read from the covariates of all rows
  expect_length(fitted(fit), nrow(d))
})

test_that("predictions are averages over clusters, and their intervals quantiles", {
  d <- many_individuals()
  fit <- bnp_mixture(y ~ x | id, d, logistic, control = quick())
  new <- data.frame(x = c(-1, 0, 2))
  q <- posterior_params(fit)
  weight <- coef(fit)$weights[1:3] / sum(coef(fit)$weights[1:3])
  psi <- withr::with_seed(1, vapply(1:3, function(i) {
    k <- sample(3, 1e5, TRUE, weight)
    x <- c(1, new$x[i])
    mean <- vapply(1:3, function(k) sum(x * q$coef_mean[1, , k]), 1)
    sd <- vapply(1:3, function(k) sqrt(drop(x %*% q$coef_cov[, , k] %*% x)), 1)
    stats::rnorm(1e5, mean[k], sd[k])
  }, double(1e5)))
  p <- predict(fit, new, type = "response", interval = 0.8)
  expect_equal(unname(p[, "fit"]), colMeans(stats::plogis(psi)), tolerance = 0.01)
  ends <- apply(stats::plogis(psi), 2, stats::quantile, c(0.1, 0.9), names = FALSE)
  expect_equal(unname(p[, c("lower", "upper")]), t(ends), tolerance = 0.05)
  expect_equal(predict(fit, new, type = "response"), unname(p[, "fit"]), tolerance = 1e-12)
  left <- residuals(fit, d, type = "response")
  expect_equal(unname(left), d$y - predict(fit, d, type = "response"), tolerance = 1e-12)
  own <- residuals(fit, d)
  expect_lt(mean(own^2), mean(left^2))
  k <- fitted(fit)
  expect_lt(abs(mean(own)), 0.02)
})

test_that("densities of rows are quadratures, and at estimates those of plain R", {
  fit <- one_cluster(one ~ x, six)
  x <- cbind(1, six$x)
  q <- posterior_params(fit)
  psi <- drop(x %*% q$coef_mean[1, , 1])
  sd <- sqrt(rowSums((x %*% q$coef_cov[, , 1]) * x))
  each <- vapply(1:6, function(i) {
    stats::integrate(function(z) stats::dbinom(six$one[i], 1, stats::plogis(psi[i] + sd[i] * z)) * stats::dnorm(z),
      -Inf, Inf, rel.tol = 1e-10)$value
  }, 1)
  expect_equal(unname(predict(fit, six, type = "logdensity")), log(each), tolerance = 1e-6)
  expect_equal(
    heldout_loglik(fit, six, type = "plugin"), mean(stats::dbinom(six$one, 1, stats::plogis(psi), log = TRUE)),
    tolerance = 1e-8
  )
})

test_that("what is drawn has the probabilities of the fit", {
  d <- many_individuals()
  fit <- bnp_mixture(y ~ x | id, d, logistic, control = quick())
  drawn <- simulate(fit, 40, seed = 1, new = FALSE)
  expect_equal(mean(vapply(drawn, function(s) mean(s$y), 1)), mean(d$y), tolerance = 0.1)
  of_trials <- bnp_mixture(cbind(y, 3 - y) ~ x, d, logistic, control = quick())
  expect_true(all(rowSums(simulate(of_trials, seed = 1)[[1]][, 1:2]) == 3))
  expect_true(all(rowSums(simulate(of_trials, seed = 1, total = 8)[[1]][, 1:2]) == 8))
})

long_test("states of choosing are found: a GLM-HMM", {
  d <- planted_choices(1)
  fit <- bnp_hmm(y ~ x, d, id = ~ session, obs = logistic, control = quick())
  expect_identical(n_clusters(fit), 3L)
  expect_gt(adjusted_rand_index(fitted(fit), d$state), 0.7)
  ahead <- predict(fit, d, type = "response")
  expect_length(ahead, nrow(d))
  expect_lt(mean(-stats::dbinom(d$y, 1, ahead, log = TRUE)), 0.9 * mean(-stats::dbinom(d$y, 1, mean(d$y), log = TRUE)))
  expect_equal(unname(residuals(fit, d)), unname(d$y - ahead), tolerance = 1e-12)
  expect_true(all(is.finite(confint(fit, "coef"))))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit, "response", data = d, id = ~ session), fit)
  expect_identical(plot(fit, "response"), fit)
  if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit, "response"), "ggplot")
  expect_identical(elbo(update(fit, control = bnp_control(seed = 1, verbose = FALSE, threads = 2))), elbo(fit))
})

test_that("pictures of P(y = 1) have the curve of each cluster with its interval", {
  d <- many_individuals()
  fit <- bnp_mixture(y ~ x | id, d, logistic, control = quick())
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit), fit)
  expect_identical(plot(fit, data = d), fit)
  picture <- cluster_picture(fit, d)
  expect_true(all(picture$rings$y >= 0 & picture$rings$y <= 1))
  q <- posterior_clusters(fit)[[1L]]
  ring <- picture$rings[picture$rings$cluster == 1, ]
  x <- c(1, ring$x[30])
  half <- stats::qnorm(0.95) * sqrt(drop(x %*% q$coef_cov %*% x))
  ends <- stats::plogis(sum(x * q$coef_mean) + c(-1, 1) * half)
  expect_equal(range(ring$y[ring$x == ring$x[30]]), ends, tolerance = 1e-10)
})

test_that("one yes or no a row without id is told", {
  d <- data.frame(x = 1:6, y = c(0, 1, 0, 0, 1, 1))
  withr::local_options(rlib_message_verbosity = "default")
  expect_message(bnp_mixture(y ~ x, d, logistic, control = quick()), class = "bnpvi_message_one_trial")
  expect_no_message(bnp_mixture(cbind(y, 1 - y) ~ x, d, logistic, control = quick()))
  expect_no_message(bnp_mixture(y ~ x, d, logistic, id = c(1, 1, 1, 2, 2, 2), control = quick()))
})

test_that("what is not a response is refused by name", {
  d <- data.frame(x = 1:6, y = c(0, 1, 2, 0, 1, 1), f = factor(c("a", "b", "c", "a", "b", "c")))
  expect_error(bnp_mixture(y ~ x, d, logistic), class = "bnpvi_error_response")
  expect_error(bnp_mixture(f ~ x, d), class = "bnpvi_error_response")
  expect_error(bnp_mixture(cbind(x - 3, 2) ~ y, d, logistic), class = "bnpvi_error_response")
  expect_error(bnp_mixture(cbind(x, x, x) ~ y, d, logistic), class = "bnpvi_error_response")
  expect_error(obs_regression(family = "poisson"), "negbinomial", class = "bnpvi_error_family")
  expect_error(obs_regression(family = poisson()), class = "bnpvi_error_family")
  expect_error(obs_regression(family = binomial("probit")), class = "bnpvi_error_family")
  expect_error(obs_regression(family = "binomial", scale = 1), class = "bnpvi_error_not_defined")
  expect_error(obs_regression(family = "binomial", df = 4), class = "bnpvi_error_not_defined")
  expect_error(obs_regression(family = "binomial", random = ~ 1), class = "bnpvi_error_not_defined")
  expect_error(obs_regression(family = "binomial", size = 1), class = "bnpvi_error_argument")
  expect_error(bnp_mixture(y ~ x + offset(x), d), class = "bnpvi_error_formula")
  expect_error(bnp_mixture(f ~ x, d, obs_regression(family = "gaussian")), class = "bnpvi_error_not_numeric")
  expect_error(obs_product(obs_regression(family = "binomial", formula = y ~ x)), class = "bnpvi_error_not_defined")
  fit <- bnp_mixture(y == 1 ~ x, d, control = bnp_control(verbose = FALSE, seed = 1))
  expect_error(bnp_sample(fit, d), class = "bnpvi_error_not_defined")
  expect_error(impute(fit, d), class = "bnpvi_error_not_defined")
  expect_error(cluster_divergence(fit), class = "bnpvi_error_not_defined")
  expect_error(predict(fit, d, type = "class", interval = 0.9), class = "bnpvi_error_argument")
})

test_that("every state is its recomputation, and no lap, move or batch lowers the bound", {
  skip_without_testing_entries()
  d <- many_individuals()
  for (obs in list(logistic, obs_regression(family = "negbinomial", size = c(0.5, 3, 10)))) {
    data <- as_mixture_data(as.matrix(d[c("y", "x")]), obs)
    rows <- list(model = list(obs = resolve_obs(obs, data), prior = list(family = "dp", concentration = 1)))
    rows$data <- as_engine_data(data)
    people <- list(model = rows$model)
    people$model$obs$repeated <- TRUE
    people$data <- as_engine_data(numbered_individuals(data, d$id, as.character(unique(d$id))))
    for (case in list(rows, people)) {
      for (batches in c(1, 3)) expect_audited(engine_run(case, batches = batches, seed = 3, audit = TRUE))
    }
  }
})

test_that("weights are the gradient of the evidence, and a cluster without data is the prior", {
  skip_without_testing_entries()
  x <- withr::with_seed(2, cbind(stats::rpois(25, 2), stats::rpois(25, 3), matrix(stats::rnorm(75), 25)))
  resp <- withr::with_seed(3, matrix(stats::runif(50), 25))
  change <- withr::with_seed(4, stats::rnorm(25))
  cases <- list(
    list(family = "binomial_regression", responses = 2L, offset = TRUE, intercept = TRUE),
    list(family = "binomial_regression", responses = 2L, offset = FALSE, intercept = FALSE),
    list(family = "negbinomial_regression", responses = 1L, offset = FALSE, intercept = TRUE, size = c(0.4, 2, 9))
  )
  for (obs in cases) {
    e <- ncol(x) - obs$responses - obs$offset + obs$intercept
    obs <- c(obs, list(
      coef_mean = matrix(seq_len(e) / 10, 1), scaled_precision = diag(e) + 0.3, origin = rep(0, e - obs$intercept),
      spread = rep(1, e - obs$intercept), centre = rep(if (obs$intercept) 0.2 else 0, 5), unit = c(1, 2, 0.5, 1, 4)
    ))
    contract <- function(r) {
      engine_contract(engine_data(x), list(obs = obs, prior = list(family = "dp", concentration = 1)), as.matrix(r))
    }
    at <- contract(cbind(resp, 0))
    h <- 1e-4
    slope <- (contract(resp[, 1] + h * change)$evidence - contract(resp[, 1] - h * change)$evidence) / (2 * h)
    expect_equal(slope, sum(change * at$features %*% matrix(at$weights, 3)[1, ]), tolerance = 1e-6)
    expect_equal(at$joint_evidence, at$evidence, tolerance = 1e-12)
    expect_lt(abs(at$evidence[3]), 1e-12)
  }
})

test_that("new rows are taken in, and a fit begins where another ended", {
  d <- many_individuals()
  half <- d$id <= 30
  fit <- bnp_mixture(y ~ x | id, d[half, ], logistic, control = quick())
  more <- update(fit, newdata = transform(d[!half, ], x = x))
  expect_identical(n_clusters(more), 3L)
  other <- bnp_mixture(y ~ x | id, transform(d, x = 100 + 7 * x), logistic, control = quick())
  begun <- bnp_mixture(y ~ x | id, d, logistic, start = bnp_mixture(y ~ x | id, d, logistic, control = quick(seed = 5)),
    control = quick(moves = FALSE))
  expect_equal(elbo(begun), elbo(other), tolerance = 1e-5)
})

test_that("counts: the bound of each size is that of plain R, below quadrature, and sizes are weighed by it", {
  d <- withr::with_seed(1, data.frame(x = stats::rnorm(40), hours = stats::rexp(40) + 0.5))
  d$y <- withr::with_seed(2, stats::rnbinom(40, size = 2, mu = d$hours * exp(0.2 + 0.5 * d$x)))
  precision <- diag(c(0.3, 0.5))
  sizes <- c(0.25, 1, 5, 20)
  rows_of <- function(size) glm_rows(d$y, size = size, offset = log(d$hours))
  twins <- lapply(sizes, function(s) glm_fixed_point(rows_of(s), cbind(1, d$x), precision))
  for (i in seq_along(sizes)) {
    rows <- rows_of(sizes[i])
    b <- c(0.3, 0.4)
    psi <- rows$offset + drop(cbind(1, d$x) %*% b)
    expect_equal(
      rows$constant + rows$kappa * psi - rows$m * log_2cosh(abs(psi)),
      stats::dnbinom(d$y, size = sizes[i], mu = d$hours * exp(0.3 + 0.4 * d$x), log = TRUE), tolerance = 1e-10
    )
    expect_lt(twins[[i]]$value, glm_quadrature(rows, cbind(1, d$x), precision))
    fit <- one_cluster(y ~ x + offset(log(hours)), d, by_hand(family = "negbinomial", size = sizes[i]))
    expect_equal(elbo(fit), twins[[i]]$value, tolerance = 1e-8)
    expect_equal(unname(coef(fit)$coef[1, , 1]), twins[[i]]$mean, tolerance = 1e-4)
  }
  all <- one_cluster(y ~ x + offset(log(hours)), d, by_hand(family = "negbinomial", size = sizes))
  value <- vapply(twins, `[[`, 1, "value")
  top <- max(value)
  expect_equal(elbo(all), top + log(mean(exp(value - top))), tolerance = 1e-7)
  share <- exp(value - top) / sum(exp(value - top))
  expect_equal(unname(posterior_params(all)$size_prob[1, ]), share, tolerance = 1e-4)
  expect_equal(unname(coef(all)$size), sum(share * sizes), tolerance = 1e-4)
})

test_that("counts in clusters: means, draws, intervals and densities", {
  d <- withr::with_seed(6, data.frame(id = rep(1:40, each = 10), x = stats::rnorm(400)))
  kind <- rep(1:2, length.out = 40)[d$id]
  d$y <- withr::with_seed(7, stats::rnbinom(400, size = 3, mu = exp(c(0.5, 2)[kind] + c(0.8, -0.4)[kind] * d$x)))
  counts <- obs_regression(family = "negbinomial")
  fit <- bnp_mixture(y ~ x | id, d, counts, control = quick())
  expect_identical(n_clusters(fit), 2L)
  expect_gt(adjusted_rand_index(fitted(fit), kind), 0.9)
  expect_equal(mean(predict(fit, d, type = "response")), mean(d$y), tolerance = 0.1)
  drawn <- simulate(fit, 20, seed = 1, new = FALSE)
  expect_equal(mean(vapply(drawn, function(s) mean(s$y), 1)), mean(d$y), tolerance = 0.25)
  p <- predict(fit, d[1:5, ], type = "response", interval = 0.9)
  expect_true(all(p[, "lower"] < p[, "fit"] & p[, "fit"] < p[, "upper"]))
  expect_true(all(confint(fit, "size") >= 0.25 & confint(fit, "size") <= 20))
  expect_gt(heldout_loglik(fit, d), mean(stats::dnbinom(d$y, size = 1, mu = mean(d$y), log = TRUE)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit, data = d), fit)
  states <- bnp_hmm(y ~ x, d, id = ~ id, obs = counts, control = quick())
  expect_gt(adjusted_rand_index(fitted(states), kind), 0.6)
})

test_that("one cluster of counts is near MASS::glm.nb", {
  skip_if_not_installed("MASS")
  d <- withr::with_seed(8, data.frame(x = stats::rnorm(300)))
  d$y <- withr::with_seed(9, stats::rnbinom(300, size = 2, mu = exp(1 + 0.5 * d$x)))
  other <- MASS::glm.nb(y ~ x, d)
  counts <- obs_regression(family = "negbinomial")
  fit <- bnp_mixture(y ~ x, d, counts, prior = prior_dirichlet(1), control = quick())
  se <- summary(other)$coefficients[, 2]
  expect_lt(max(abs(coef(fit)$coef[1, , 1] - coef(other)) / se), 0.2)
  expect_lt(abs(log(coef(fit)$size / other$theta)), 0.35)
  half <- drop(diff(t(confint(fit, "coef", level = 0.9)))) / 2 / stats::qnorm(0.95)
  expect_lt(max(abs(half / se - 1)), 0.1)
})

test_that("one cluster is near glm()", {
  d <- withr::with_seed(8, data.frame(x = stats::rnorm(300)))
  d$y <- withr::with_seed(9, stats::rbinom(300, 1, stats::plogis(0.5 + d$x)))
  other <- stats::glm(y ~ x, binomial, d)
  fit <- bnp_mixture(y ~ x, d, logistic, prior = prior_dirichlet(1), control = quick())
  se <- summary(other)$coefficients[, 2]
  expect_lt(max(abs(coef(fit)$coef[1, , 1] - coef(other)) / se), 0.1)
  half <- drop(diff(t(confint(fit, "coef", level = 0.9)))) / 2 / stats::qnorm(0.95)
  expect_lt(max(abs(half / se - 1)), 0.05)
})
