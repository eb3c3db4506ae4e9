# Gaussian rows with gaps: missing cells are hidden variables of their rows.

table_x <- cbind(x = c(0.1, -0.4, 2.2, 1.9, 2.4), y = c(1.2, 0.3, 0.8, -0.5, 0.1))
table_prior <- obs_gaussian(mean = c(0, 0), mean_strength = 0.1, df = 4, scale = diag(0.5, 2))

without_cells <- function(x, ...) {
  x[rbind(...)] <- NA
  x
}

# The bound of fixed responsibilities, missing cells at their best.
bound_of <- function(x, resp, obs = table_prior, prior = prior_dp(1)) {
  data <- act_on_missing(as_mixture_data(x, obs, na_action = "model"), obs, "model", "rows", "x", NULL)
  obs <- with_gaps(resolve_obs(obs, data), data)
  engine_elbo_of(as_engine_data(data), list(obs = obs, prior = prior, bound = "tight"), resp)
}

# The same in plain R, row by row, by the formulas in terms of the posterior: list(elbo, c, h) with C and the entropy of
# each row and cluster.
slow_gaps <- function(x, resp, m, kappa, nu, B, rounds = 200L) {
  d <- ncol(x)
  log_z <- function(q) {
    q$nu / 2 * (d * log(2) - log(det(q$B))) + d * (d - 1) / 4 * log(pi) + sum(lgamma((q$nu + 1 - seq_len(d)) / 2)) -
      d / 2 * log(q$kappa)
  }
  prior <- list(m = m, kappa = kappa, nu = nu, B = B)
  posterior <- function(T) {
    k <- kappa + T$n
    mean <- (kappa * m + T$s) / k
    list(m = mean, kappa = k, nu = nu + T$n, B = B + T$ss + kappa * tcrossprod(m) - k * tcrossprod(mean))
  }
  expected <- function(row, q) {
    o <- which(!is.na(row))
    u <- which(is.na(row))
    e <- row[o] - q$m[o]
    inverse <- solve(q$B[o, o, drop = FALSE])
    mean <- row
    mean[u] <- q$m[u] + q$B[u, o, drop = FALSE] %*% inverse %*% e
    v <- matrix(0, d, d)
    v[u, u] <- (q$B[u, u] - q$B[u, o, drop = FALSE] %*% inverse %*% q$B[o, u, drop = FALSE]) / q$nu
    h <- if (length(u)) 0.5 * (length(u) * (1 + log(2 * pi)) + log(det(v[u, u, drop = FALSE]))) else 0
    c <- 0.5 * (sum(digamma((q$nu + 1 - seq_len(d)) / 2)) + d * log(2) - length(u) * log(q$nu) -
      log(det(q$B[o, o, drop = FALSE])) - length(o) * log(2 * pi) - d / q$kappa - q$nu * sum(e * (inverse %*% e)))
    list(mean = mean, second = tcrossprod(mean) + v, h = h, c = c)
  }
  now <- rep(list(prior), ncol(resp))
  for (round in seq_len(rounds)) {
    rows <- lapply(now, function(q) lapply(seq_len(nrow(x)), function(n) expected(x[n, ], q)))
    now <- lapply(seq_along(now), function(k) {
      sums <- function(f) Reduce(`+`, Map(function(row, r) r * f(row), rows[[k]], resp[, k]))
      posterior(list(n = sum(resp[, k]), s = sums(function(row) row$mean), ss = sums(function(row) row$second)))
    })
  }
  h <- vapply(rows, function(own) vapply(own, `[[`, 1, "h"), double(nrow(x)))
  list(
    data = sum(vapply(seq_along(now), function(k) {
      log_z(now[[k]]) - log_z(prior) - sum(resp[, k]) * d / 2 * log(2 * pi)
    }, 1)) + sum(resp * h),
    c = vapply(rows, function(own) vapply(own, `[[`, 1, "c"), double(nrow(x))), h = h
  )
}

test_that("bounds of a small table with gaps are those of the page", {
  one <- matrix(1, 5, 1)
  expect_equal(bound_of(without_cells(table_x, c(3, 2)), one)[["data"]], -18.74382584, tolerance = 1e-9)
  expect_equal(bound_of(without_cells(table_x, c(3, 2), c(1, 1)), one)[["data"]], -17.95574370, tolerance = 1e-9)
  gappy <- without_cells(table_x, c(3, 2))
  fit_from <- function(labels) {
    control <- bnp_control(
      seed = 1, verbose = FALSE, moves = bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE),
      tol = 1e-13, max_laps = 5000
    )
    bnp_mixture(gappy, table_prior, prior_dp(1), control, start = labels, na_action = "model")
  }
  expect_equal(elbo(fit_from(c(1, 1, 2, 3, 2))), -17.44876879, tolerance = 1e-6)
  expect_equal(elbo(fit_from(c(1, 1, 2, 2, 2))), -17.44877163, tolerance = 1e-6)
  expect_equal(elbo(fit_from(rep(1, 5))), -20.53558531, tolerance = 1e-8)
})

test_that("the bound, responsibilities and entropies are those of a slow twin", {
  set.seed(1)
  x <- matrix(rnorm(30), 10) %*% matrix(c(1, 0.6, 0, 0, 1, -0.4, 0, 0, 1), 3)
  x[sample(30, 7)] <- NA
  resp <- prop.table(matrix(rexp(30), 10), 1)
  obs <- obs_gaussian(mean = c(0.2, 0, -0.1), mean_strength = 0.3, df = 5, scale = diag(c(0.5, 1, 0.7)))
  slow <- slow_gaps(x, resp, c(0.2, 0, -0.1), 0.3, 5, diag(c(0.5, 1, 0.7)))
  expect_equal(bound_of(x, resp, obs)[["data"]], slow$data, tolerance = 1e-9)
  mixed <- without_cells(x, c(1, 1), c(1, 2))
  slow <- slow_gaps(mixed, resp, c(0.2, 0, -0.1), 0.3, 5, diag(c(0.5, 1, 0.7)))
  expect_equal(bound_of(mixed, resp, obs)[["data"]], slow$data, tolerance = 1e-9)
  # One complete row among others.
  mixed[cbind(2:10, rep_len(1:3, 9))] <- NA
  mixed[1, ] <- c(0.5, -1, 2)
  mixed <- mixed[rowSums(!is.na(mixed)) > 0, ]
  resp <- resp[seq_len(nrow(mixed)), ]
  expect_identical(sum(stats::complete.cases(mixed)), 1L)
  slow <- slow_gaps(mixed, resp, c(0.2, 0, -0.1), 0.3, 5, diag(c(0.5, 1, 0.7)))
  expect_equal(bound_of(mixed, resp, obs)[["data"]], slow$data, tolerance = 1e-9)
})

cases_by_name <- function() {
  cases <- planted_cases()
  stats::setNames(cases, vapply(cases, `[[`, "", "name"))
}

# Planted cases of which a tenth of the cells is missing: `responses`, the columns that may be.
gappy_cases <- function(share = 0.1) {
  cases <- cases_by_name()
  responses <- list(gaussian_full = NULL, gaussian_zero_mean = NULL, regression = 1L, ar = NULL, product = 1:2)
  lapply(stats::setNames(nm = names(responses)), function(name) {
    case <- cases[[name]]
    columns <- responses[[name]] %||% seq_len(case$data$d)
    set.seed(5)
    gone <- matrix(FALSE, case$data$n, case$data$d)
    gone[, columns] <- runif(case$data$n * length(columns)) < share
    case$data$x[gone] <- NA
    if (name == "product") case$model$obs$blocks[[1L]]$gaps <- TRUE else case$model$obs$gaps <- TRUE
    case
  })
}

test_that("audited fits of rows with gaps never fall, whatever the batches, moves and sparsity", {
  for (name in some_of(names(cases <- gappy_cases()), by = 5)) {
    case <- cases[[name]]
    for (batches in some_of(c(4, 1), by = 2)) {
      fit <- engine_run(case, seed = 3, max_laps = 60, batches = batches, audit = TRUE)
      expect_audited(fit)
      expect_true(is.finite(fit$elbo), label = name)
    }
    expect_audited(engine_run(case, seed = 3, max_laps = 30, batches = 3, k_init = 8, sparsity = 2, audit = TRUE))
    expect_audited(engine_run(case, seed = 3, max_laps = 30, prior = prior_dirichlet(5), audit = TRUE))
    one <- engine_run(case, seed = 3, max_laps = 30, batches = 3, threads = 1)
    two <- engine_run(case, seed = 3, max_laps = 30, batches = 3, threads = 2)
    expect_identical(one$elbo, two$elbo, label = name)
  }
})

test_that("a model for rows with gaps is today's where none is missing", {
  for (name in some_of(names(cases <- gappy_cases(0)), by = 5, from = 2)) {
    case <- cases[[name]]
    plain <- cases_by_name()[[name]]
    # Other roundings: from random labels all fits end alike, of whole searches most do.
    apart <- function(seed, ...) {
      ends <- vapply(list(case, plain), function(x) engine_run(x, seed = seed, max_laps = 40, ...)$elbo, 1)
      abs(diff(ends)) / abs(ends[1])
    }
    expect_lt(apart(3, k_init = 4, init = "random", moves = FALSE), 1e-9, label = name)
    expect_gte(sum(vapply(1:6, apart, 1) < 1e-9), 4L, label = name)
  }
})

test_that("statistics of complete rows are those of a model for gaps, in any units", {
  withr::local_seed(2)
  with_gaps <- function(obs) c(obs, gaps = TRUE)
  for (case in model_cases()) {
    if (!case$model$obs$family %in% c("gaussian_full", "gaussian_zero_mean", "ar", "regression")) next
    if (isTRUE(case$model$obs$gaps)) next
    obs <- case$model$obs
    other <- obs
    other$unit <- obs$unit * 2^rep_len(c(-3, 2, 5), length(obs$unit))
    if (!is.null(obs$centre) && any(obs$centre != 0)) {
      other$centre <- obs$centre + rep_len(c(0.7, -3, 12), length(obs$centre))
    }
    rows <- sum(pmax(diff(case$data$starts) - (obs$lag %||% 0L), 0L))
    resp <- matrix(runif(3 * rows), rows)
    statistic <- function(obs) engine_contract(case$data, list(obs = obs, prior = case$model$prior), resp)$statistic
    gappy <- engine_complete_to_gaps(obs, with_gaps(obs), statistic(obs))
    expect_equal(gappy, statistic(with_gaps(obs)), tolerance = 1e-13, label = case$name)
    expect_equal(
      engine_re_express(with_gaps(obs), with_gaps(other), gappy),
      engine_complete_to_gaps(other, with_gaps(other), statistic(other)), tolerance = 1e-12, label = case$name
    )
  }
})

test_that("rows without any value teach a learned prior nothing", {
  x <- withr::with_seed(3, matrix(rnorm(600, rep(c(-4, 0, 4), each = 100)), 300))
  resp <- diag(3)[rep(1:3, each = 100), ]
  for (covariance in c("full", "zero_mean")) {
    obs <- resolve_obs(obs_gaussian(covariance, learn = TRUE), engine_data(x))
    model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
    statistic <- engine_contract(engine_data(x), model, resp)$statistic
    gappy <- engine_complete_to_gaps(obs, c(obs, gaps = TRUE), statistic)
    gappy[, 1] <- gappy[, 1] + 5
    plain <- engine_learned(obs, statistic, 3L)
    expect_length(plain$objective, 4)
    expect_equal(engine_learned(c(obs, gaps = TRUE), gappy, 3L), plain, tolerance = 1e-12)
  }
})

test_that("what is observed of a row has the exact marginal of the predictive", {
  fit <- bnp_mixture(table_x, table_prior, prior_dirichlet(1), bnp_control(seed = 1, verbose = FALSE))
  row <- cbind(x = 0.7, y = NA)
  expect_equal(
    unname(predict(fit, row, type = "logdensity", na_action = "model")), -1.13100522, tolerance = 1e-8
  )
  expect_equal(predict(fit, row, type = "impute", na_action = "model")[[2]], 0.46102596, tolerance = 1e-7)
  # Three columns, two missing, against a model of the one column that is left.
  set.seed(2)
  x <- matrix(rnorm(90), 30) %*% matrix(c(1, 0.5, 0.2, 0, 1, -0.3, 0, 0, 1), 3)
  own <- obs_gaussian(mean = 0, mean_strength = 0.5, df = 6, scale = diag(1:3))
  left <- obs_gaussian(mean = 0, mean_strength = 0.5, df = 4, scale = 2)
  one <- function(x, obs) bnp_mixture(x, obs, prior_dirichlet(1), bnp_control(seed = 1, verbose = FALSE))
  at <- c(-1, 0.3, 1e200)
  expect_equal(
    unname(predict(one(x, own), cbind(NA, at, NA), type = "logdensity", na_action = "model")),
    unname(predict(one(x[, 2], left), at, type = "logdensity")), tolerance = 1e-10
  )
})

test_that("a hidden Markov model passes through a row that is wholly missing", {
  # Transitions and first states all but known: the figures of the page.
  prior <- prior_hmm(2, alpha = 4e5, sticky = 6e5, start = 1e6)
  obs <- obs_gaussian(mean = 0, mean_strength = 0.1, df = 3, scale = 0.5)
  fit <- bnp_hmm(c(0.1, NA, 2.2, 2.4),
    obs = obs, prior = prior, start = c(1, 1, 2, 2), na_action = "model",
    control = bnp_control(seed = 1, verbose = FALSE, moves = FALSE, tol = 1e-13, max_laps = 3000)
  )
  expect_equal(elbo(fit), -6.72333848, tolerance = 1e-5)
  expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-7) # rounding of counts of a million
})

test_that("audited sequences of rows with gaps never fall, and carry on the same for any number of threads", {
  walk <- planted_cases()[[1L]]$x
  gone <- withr::with_seed(3, matrix(runif(length(walk)) < 0.15, nrow(walk)))
  walk[gone] <- NA
  for (obs in some_of(list(obs_gaussian(), obs_gaussian("zero_mean"), obs_ar()), by = 2)) {
    data <- act_on_missing(as_sequence_data(walk, obs, rep(1:6, each = 40), na_action = "model"), obs, "model",
      "sequences", "x", NULL
    )
    case <- list(data = as_engine_data(data), model = list(
      obs = with_gaps(resolve_obs(obs, data), data), prior = hmm_priors$sticky
    ))
    run <- function(...) engine_run(case, seed = 2, max_laps = 25, ...)
    for (fit in list(run(audit = TRUE), run(batches = 3, audit = TRUE), run(k_init = 6, sparsity = 3, audit = TRUE))) {
      expect_audited(fit)
    }
    expect_identical(run(threads = 1)$elbo, run(threads = 2)$elbo)
  }
})

# Four grids of touching clusters, far from each other: groups that are fitted anew in one lap share no rows.
test_that("several moves of one lap take out what their rows were put in with", {
  x <- withr::with_seed(34, do.call(rbind, lapply(1:4, function(island) {
    centres <- 2.5 * as.matrix(expand.grid(1:4, 1:4))
    centres[sample(16, 600, TRUE), ] + matrix(rnorm(1200), 600) + 100 * island
  })))
  gone <- withr::with_seed(4, matrix(runif(length(x)) < 0.15, nrow(x)))
  gone[rowSums(gone) == 2, ] <- FALSE
  x[gone] <- NA
  obs <- obs_gaussian()
  data <- act_on_missing(as_mixture_data(x, obs, na_action = "model"), obs, "model", "rows", "x", NULL)
  case <- list(data = as_engine_data(data), model = list(
    obs = with_gaps(resolve_obs(obs, data), data), prior = list(family = "dp", concentration = 1)
  ))
  for (batches in c(1, 3)) {
    expect_audited(engine_run(case, batches = batches, k_init = 1, seed = 1, max_laps = 60, audit = TRUE))
  }
  from_many <- engine_run(case,
    seed = 1, max_laps = 20, k_init = 60, moves = bnp_moves(birth = FALSE, merge = FALSE), audit = TRUE
  )
  expect_audited(from_many)
  expect_gt(max(from_many$trace$deletes), 1)
})

long_test("planted clusters are found with a tenth of the cells missing, and imputed intervals cover", {
  planted <- withr::with_seed(11, {
    z <- sample(3, 500, TRUE)
    centre <- matrix(rnorm(12, 0, 3), 3)
    half <- lapply(1:3, function(i) chol(crossprod(matrix(rnorm(16), 4)) / 4 + diag(0.2, 4)))
    x <- t(vapply(z, function(i) centre[i, ] + drop(rnorm(4) %*% half[[i]]), double(4)))
    gone <- matrix(runif(2000) < 0.1, 500)
    gone[rowSums(gone) == 4, 1] <- FALSE
    list(z = z, x = x, gone = gone, holes = replace(x, gone, NA))
  })
  control <- bnp_control(seed = 1, verbose = FALSE)
  complete <- bnp_mixture(planted$x, control = control)
  fit <- bnp_mixture(planted$holes, control = control, na_action = "model")
  expect_equal(n_clusters(fit), 3)
  expect_gte(
    adjusted_rand_index(fitted(fit), planted$z), 0.95 * adjusted_rand_index(fitted(complete), planted$z)
  )
  copies <- impute(fit, planted$holes, m = 100, seed = 1)
  draws <- vapply(copies, function(copy) as.matrix(copy)[planted$gone], double(sum(planted$gone)))
  ends <- apply(draws, 1, quantile, c(0.05, 0.95))
  covered <- mean(planted$x[planted$gone] > ends[1, ] & planted$x[planted$gone] < ends[2, ])
  expect_gte(covered, 0.85)
  expect_lte(covered, 0.95)
})
