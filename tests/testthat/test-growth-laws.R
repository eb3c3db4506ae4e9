# Laws of fits whose individuals have coefficients of their own: every state is proved, merges are bounds, and data at
# their extremes (test-glm.R has the same for yes, no and counts).

test_that("every state is its recomputation, and no lap, move or batch lowers the bound", {
  skip_without_testing_entries()
  withr::local_seed(4)
  n <- 30L
  id <- rep(seq_len(n), 3L + seq_len(n) %% 3L)
  kind <- rep(1:2, length.out = n)[id]
  t <- stats::runif(length(id), 0, 5)
  y <- stats::rnorm(n)[id] + c(-1, 1.5)[kind] * t + 0.3 * stats::rnorm(length(id))
  prior <- list(m = c(0, 0), kappa = 0.01, nu = 4, B = diag(c(0.5, 0.2)), M = double(), V = matrix(0, 0, 0),
    nue = 3, Be = 0.1)
  for (shared in list(NULL, list(D = diag(c(1, 0.1)), sigma2 = 0.1))) {
    case <- list(model = effects_model(prior, 0:1, 2L, shared = shared), data = effects_data(cbind(y, t), id))
    for (batches in c(1, 3)) {
      fit <- engine_run(case, batches = batches, seed = 3, audit = TRUE)
      expect_audited(fit)
      expect_identical(fit$state$k, 2L)
    }
  }
})

test_that("clusters that are joined by their sums are a bound below that of a visit of their individuals", {
  data <- data.frame(
    id = c(1, 1, 1, 2, 2, 3, 3, 3, 4, 4), t = c(0, 1, 2, 0, 1, 0, 1, 2, 1, 2),
    y = c(.3, .9, 1.6, .1, .8, 2.1, 2.0, 2.2, 1.7, 1.9)
  )
  people <- individuals_of(data$y, cbind(rep(1, 10)), cbind(data$t), data$id)
  prior <- list(m = .5, kappa = .2, nu = 3, B = matrix(.6), M = 0, V = matrix(.5), nue = 3, Be = .2)
  apart <- effects_fit(people, rbind(c(1, 0), c(1, 0), c(0, 1), c(0, 1)), prior)
  joined <- effects_globals(Map(`+`, apart$T[[1]], apart$T[[2]]), prior)
  visits <- lapply(people, function(one) effects_visit(one, joined)$T)
  visited <- effects_globals(effects_sum(visits, rep(1, 4), prior), prior)
  one <- effects_fit(people, matrix(1, 4L, 1L), prior)
  expect_lt(joined$value, visited$value)
  expect_lt(visited$value, one$value + 1e-9)
  expect_equal(c(joined$value, visited$value), c(-16.295, -11.403), tolerance = 1e-4) # labels held
})

test_that("with one row an individual the bound is below the normal density with both variances", {
  prior <- list(m = .5, kappa = 2, nu = 6, B = matrix(4), M = double(), V = matrix(0, 0, 0), nue = 6, Be = 3)
  y <- c(-0.4, 0.3, 1.1, 2.4, 0.2)
  people <- individuals_of(y, cbind(rep(1, 5)), matrix(0, 5, 0), 1:5)
  found <- effects_fit(people, matrix(1, 5L, 1L), prior)$value
  # The evidence by a grid over log D and log sigma^2, mu integrated out.
  grid <- expand.grid(d = seq(-6, 6, 0.05), s = seq(-6, 6, 0.05))
  # The covariance of y, (D + sigma^2) I + D / kappa 11', has the eigenvalue `own` four times and `all` for 1.
  D <- exp(grid$d)
  s2 <- exp(grid$s)
  own <- D + s2
  all <- own + 5 * D / prior$kappa
  off <- y - prior$m
  log_joint <- -(4 * log(own) + log(all)) / 2 - (sum((off - mean(off))^2) / own + 5 * mean(off)^2 / all) / 2 -
    2.5 * log(2 * pi) + stats::dgamma(1 / D, prior$nu / 2, prior$B[1] / 2, log = TRUE) - grid$d +
    stats::dgamma(1 / s2, prior$nue / 2, prior$Be / 2, log = TRUE) - grid$s
  evidence <- max(log_joint) + log(sum(exp(log_joint - max(log_joint)))) + 2 * log(0.05)
  expect_lt(found, evidence)
  expect_gt(found, evidence - 3)
})

test_that("predictions, residuals and draws follow the units of the data, however large or small", {
  data <- growth_data("wide", 1, 40L)
  control <- bnp_control(seed = 1, threads = 1L, verbose = FALSE, moves = FALSE)
  fit_of <- function(data) {
    bnp_mixture(y ~ t + (1 + t | id), data, prior = prior_dirichlet(3), control = control,
      start = data$kind[!duplicated(data$id)])
  }
  fit <- fit_of(data)
  known <- predict(fit, data, "individual", interval = .9)
  new <- function(data) transform(data[1:30, ], id = paste("new", id), y = NA)
  drawn <- function(fit) simulate(fit, seed = 1, new = FALSE)$sim_1$y
  for (by in some_of(list(c(1e150, 1), c(1e-150, 1), c(1, 1e150), c(1, 1e-150), c(1, 86400)), by = 2)) {
    other <- transform(data, y = by[1] * y, t = by[2] * t)
    changed <- fit_of(other)
    expect_equal(elbo(changed), elbo(fit) - nrow(data) * log(by[1]), tolerance = 1e-6)
    expect_equal(predict(changed, other, "individual", interval = .9) / by[1], known, tolerance = 1e-4)
    expect_equal(predict(changed, new(other), "response", interval = .9) / by[1],
      predict(fit, new(data), "response", interval = .9), tolerance = 1e-4)
    expect_equal(residuals(changed, other, "individual") / by[1], residuals(fit, data, "individual"), tolerance = 1e-4)
    expect_equal(heldout_loglik(changed, other) + log(by[1]), heldout_loglik(fit, data), tolerance = 1e-5)
    expect_equal(sd(drawn(changed) / by[1]), sd(drawn(fit)), tolerance = .3) # other signs of eigenvectors
  }
  # A variance of slopes has the ratio of both units squared.
  for (by in c(1e100, 1e-100)) expect_bad(fit_of(transform(data, y = by * y, t = t / by)), "range")
})
