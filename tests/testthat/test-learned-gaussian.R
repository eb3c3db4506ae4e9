# Gaussian priors learned while fitting, against plain R: the objective of learning and of fits, and its optimum.

learned_twins <- list(
  gaussian_full = twin_gaussian_full, gaussian_diagonal = twin_gaussian_diagonal,
  gaussian_zero_mean = twin_gaussian_zero_mean, gaussian_spherical = twin_gaussian_spherical
)
learned_covariances <- c("full", "diagonal", "zero_mean", "spherical")

objective_twin <- function(obs, x, resp) {
  twin <- learned_twins[[obs$family]](obs)
  used <- colSums(resp) > 0
  sum(apply(resp[, used, drop = FALSE], 2, function(r) twin$evidence(x, r))) + sum(used) * occupied_twin(obs) +
    log_hyperprior_twin(obs)
}

# The model with other values of what was learned; the effective prior follows.
with_hyper <- function(obs, ...) {
  obs[...names()] <- list(...)
  spherical <- obs$family == "gaussian_spherical"
  full <- is.matrix(obs$scale)
  floor <- if (spherical) mean(obs$data_floor) else obs$data_floor
  obs$scale <- obs$df * (obs$hyper_shape + if (full) diag(floor, length(floor)) else floor)
  if (!is.null(obs$mean)) {
    obs$mean_strength <- obs$hyper_strength[1] / obs$hyper_strength[2]
    obs$scale <- obs$scale + obs$mean_strength * if (spherical) sum(obs$hyper_mean_variance) else
      obs$hyper_mean_variance
  }
  obs
}

# Eight clusters of 30 rows of two columns, of different widths, with fixed labels.
eight_clusters <- function() {
  withr::with_seed(1, {
    z <- rep(1:8, each = 30)
    noise <- matrix(rnorm(480), 240) %*% chol(matrix(c(1, 0.6, 0.6, 1), 2))
    x <- 10 + matrix(rnorm(16, sd = 4), 8)[z, ] + noise * sqrt(rgamma(8, 3, 3))[z]
    list(x = x, z = z, resp = diag(8)[z, ])
  })
}

# Rows for fits: the same, or four kinds of scatter around zero.
rows_for <- function(covariance) {
  if (covariance != "zero_mean") return(eight_clusters()$x)
  withr::with_seed(4, {
    sd <- rbind(c(5, 5), c(0.2, 0.2), c(4, 0.3), c(0.3, 6))[rep(1:4, each = 80), ]
    sd * matrix(rnorm(640), 320)
  })
}

learned_from <- function(obs, x, resp, times) {
  model <- list(obs = obs, prior = list(family = "dp", concentration = 1))
  data <- engine_data(x)
  statistic <- engine_contract(data, model, resp)$statistic
  engine_learned(obs, statistic, times)
}

learned_obs <- function(covariance, x, ...) resolve_obs(obs_gaussian(covariance, learn = TRUE, ...), engine_data(x))

test_that("learning never lowers the objective, which is that of plain R, and ends where no part of q(H) is better", {
  data <- eight_clusters()
  for (covariance in learned_covariances) {
    obs <- learned_obs(covariance, data$x)
    learned <- learned_from(obs, data$x, data$resp, 80)
    expect_gte(min(diff(learned$objective)), -1e-9, label = covariance)
    expect_equal(learned$objective[1], objective_twin(obs, data$x, data$resp), tolerance = 1e-11)
    expect_equal(learned$log_hyperprior[1], log_hyperprior_twin(obs), tolerance = 1e-11)
    end <- obs
    end[names(learned$fields)] <- learned$fields
    reached <- learned$objective[length(learned$objective)]
    expect_equal(reached, objective_twin(end, data$x, data$resp), tolerance = 1e-11)
    expect_equal(end$scale, with_hyper(end)$scale, tolerance = 1e-12, ignore_attr = TRUE)
    for (name in c("hyper_shape", "hyper_shape_df", if (covariance != "zero_mean") c("hyper_mean_variance", "mean"))) {
      for (factor in c(0.97, 1.03)) {
        other <- do.call(with_hyper, c(list(end), stats::setNames(list(factor * end[[name]]), name)))
        expect_lt(objective_twin(other, data$x, data$resp), reached, label = paste(covariance, name, factor))
      }
    }
    if (covariance == "zero_mean") next
    for (by in list(c(0.97, 1), c(1.03, 1), c(1, 0.97), c(1, 1.03))) {
      other <- with_hyper(end, hyper_strength = by * end$hyper_strength)
      expect_lt(objective_twin(other, data$x, data$resp), reached, label = covariance)
    }
  }
})

test_that("clusters that look alike end with finite degrees of freedom; one teaches, and an empty one nothing", {
  x <- withr::with_seed(2, matrix(rnorm(180), 90) + 20 * rep(1:3, each = 30))
  for (covariance in learned_covariances) {
    obs <- learned_obs(covariance, x)
    alike <- learned_from(obs, x, diag(3)[rep(1:3, each = 30), ], 50)
    expect_lte(alike$fields$df, 2049)
    one <- learned_from(obs, x, matrix(1, 90), 5)
    expect_gt(one$objective[2], one$objective[1])
    expect_identical(learned_from(obs, x, diag(2)[rep(1, 90), ], 5), one)
    expect_identical(learned_from(obs, x, diag(4)[rep(1:3, each = 30), ], 50), alike)
  }
})

test_that("given hyperparameters stay, and where all are given nothing is learned", {
  x <- eight_clusters()$x
  given <- list(mean = c(9, 11), mean_strength = 0.02, df = 5, scale = diag(c(2, 3)))
  control <- bnp_control(seed = 2, max_laps = 15)
  fit <- function(...) suppressWarnings(bnp_mixture(x, obs_gaussian(...), control = control))
  for (name in names(given)) {
    one <- do.call(fit, c(given[name], learn = TRUE))
    expect_equal(if (name == "scale") one$model$obs$hyper_scale else one$model$obs[[name]], given[[name]],
      ignore_attr = TRUE, tolerance = 1e-12, label = name
    )
    expect_gt(min(relative_gains(one)), -1e-12)
  }
  expect_equal(elbo(do.call(fit, c(given, learn = TRUE))), elbo(do.call(fit, given)), tolerance = 1e-12)
})

test_that("nearly singular clusters in many columns can be learned from", {
  d <- 32
  x <- withr::with_seed(1, {
    axes <- lapply(1:26, function(k) qr.Q(qr(matrix(rnorm(d * d), d))) %*% diag(c(rep(1, 10), rep(0.003, d - 10))))
    t(vapply(rep(1:26, 50), function(k) drop(axes[[k]] %*% rnorm(d)), double(d)))
  })
  obs <- learned_obs("zero_mean", x)
  label <- pmin((rep(1:26, 50) - 1) %/% 2 + 1, 7)
  learned <- learned_from(obs, x, diag(7)[label, ], 6)
  expect_gt(min(diff(learned$objective)), -1e-6)
  expect_gt(learned$objective[7], learned$objective[1])
})

# A fit by the engine with an audit, and the model with the prior that it learned.
learned_run <- function(covariance, x, ..., prior = list(family = "dp", concentration = 1)) {
  case <- planted_case(covariance, obs_gaussian(covariance, learn = TRUE), x, NULL)
  fit <- engine_run(case, seed = 1, ..., prior = prior, audit = TRUE)
  obs <- case$model$obs
  obs[names(fit$learned)] <- fit$learned
  list(fit = fit, obs = obs, before = case$model$obs)
}

test_that("the objective of a fit is that of plain R, through moves and batches, and never falls", {
  for (covariance in learned_covariances) {
    x <- rows_for(covariance)
    priors <- list(list(family = "dp", concentration = 1), list(family = "dirichlet", k = 6, concentration = 2))
    for (prior in some_of(priors, by = 2, from = match(covariance, learned_covariances) %% 2 + 1)) {
      run <- learned_run(covariance, x, batches = 3, max_laps = 60, prior = prior)
      expect_audited(run$fit)
      expect_gt(sum(run$fit$trace[c("births", "merges", "deletes")]), 0)
      resp <- run$fit$responsibilities
      case <- list(twin = learned_twins[[run$obs$family]](run$obs))
      terms <- c(elbo_twin(case, x, resp, prior), hyperprior = log_hyperprior_twin(run$obs))
      terms[["data"]] <- terms[["data"]] + sum(colSums(resp) > 0) * occupied_twin(run$obs)
      expect_equal(run$fit$terms, terms, tolerance = 1e-9)
      expect_equal(run$fit$elbo, sum(terms), tolerance = 1e-9)
      expect_false(identical(run$obs$scale, run$before$scale))
    }
  }
})

# Dust of mass in an empty cluster would cost the term of an occupied one.
test_that("empty clusters stay empty under a learned prior, and no fit falls or breaks down by them", {
  x <- withr::with_seed(1, rbind(matrix(rnorm(2000), 100), matrix(rnorm(2000, 3), 100), rep(60, 20)))
  for (moves in c(TRUE, FALSE)) {
    for (covariance in c("full", "diagonal", "spherical")) {
      fit <- suppressWarnings(bnp_mixture(
        x, obs_gaussian(covariance, learn = TRUE), prior_dirichlet(10), bnp_control(seed = 1, moves = moves)
      ))
      expect_false(fit$reason == "numerical")
      expect_gt(min(relative_gains(fit)), -1e-12)
      expect_true(all(fit$sizes == 0 | fit$sizes > 1e-3))
    }
  }
})

test_that("two groups apart in every column are found, with a bound below the likelihood of the truth", {
  for (n in c(40, 200)) {
    for (p in some_of(c(10, 20), by = 2, from = if (n > 40) 2 else 1)) {
      z <- rep(1:2, length.out = n)
      x <- withr::with_seed(n + p, matrix(rnorm(n * p), n) + 2 * (z - 1.5))
      fit <- bnp_mixture(x, obs_gaussian(learn = TRUE), control = bnp_control(seed = 1))
      truth <- sum(log(0.5 * exp(rowSums(dnorm(x, -1, 1, TRUE))) + 0.5 * exp(rowSums(dnorm(x, 1, 1, TRUE)))))
      expect_identical(n_clusters(fit), 2L)
      expect_identical(max(table(fitted(fit), z)), as.integer(n / 2))
      expect_lt(elbo(fit), truth)
    }
  }
})

learned_fits <- local({
  made <- NULL
  function() {
    if (!is.null(made)) return(made)
    data <- eight_clusters()
    x <- `colnames<-`(data$x, c("east", "north"))
    series <- split.data.frame(x[withr::with_seed(1, order(rep(1:4, 60) + runif(240))), ], rep(1:4, each = 60))
    control <- bnp_control(seed = 3)
    made <<- list(
      mixture = bnp_mixture(x, obs_gaussian(learn = TRUE), control = control),
      finite = bnp_mixture(x, obs_gaussian("diagonal", learn = TRUE), prior_dirichlet(6), control),
      topics = bnp_topics(x, obs_gaussian(learn = TRUE), id = rep(1:24, each = 10), control = control),
      hmm = bnp_hmm(series, obs = obs_gaussian(learn = TRUE), control = control)
    )
    made
  }
})

test_that("every family learns, without lowering its objective", {
  for (name in names(learned_fits())) {
    fit <- learned_fits()[[name]]
    expect_gt(n_clusters(fit), 2)
    expect_gt(min(relative_gains(fit)), if (name == "topics") -1e-6 else -1e-12, label = name)
    expect_equal(elbo(fit, terms = TRUE)[["hyperprior"]], log_hyperprior_twin(fit$model$obs), tolerance = 1e-9)
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-12)
    expect_false(fit$model$obs$mean_strength == 1e-4)
  }
})

test_that("bits do not depend on threads", {
  x <- withr::with_seed(5, matrix(rnorm(3000), 600) + 4 * sample(5, 600, TRUE))
  fit <- function(threads) {
    control <- bnp_control(seed = 5, max_laps = 20, batches = 4, threads = threads)
    suppressWarnings(bnp_mixture(x, obs_gaussian(learn = TRUE), control = control))
  }
  one <- fit(1)
  expect_identical(fit(3)[c("model", "state", "elbo", "labels")], one[c("model", "state", "elbo", "labels")])
})

test_that("an earlier fit hands its prior on, and learning goes on from there", {
  before <- learned_fits()$mixture
  x <- `colnames<-`(eight_clusters()$x, c("east", "north"))
  again <- bnp_mixture(
    x, obs_gaussian(learn = TRUE), start = before, control = bnp_control(seed = 5, moves = FALSE, max_laps = 3)
  ) |> suppressWarnings()
  expect_gte(elbo(again), elbo(before) - 1e-8)
  model <- unclass(before$model$obs)
  expect_equal(again$model$obs[names(model)], model, tolerance = 1e-3, ignore_attr = TRUE)
  given <- bnp_mixture(
    x, do.call(obs_gaussian, before$model$obs[c("mean", "mean_strength", "df", "scale")]), start = before,
    control = bnp_control(seed = 5, moves = FALSE)
  )
  of_prior <- elbo(before, terms = TRUE)[["hyperprior"]] + n_clusters(before) * occupied_twin(before$model$obs)
  expect_equal(elbo(given), elbo(before) - of_prior, tolerance = 1e-6)
  # A fit whose prior was given starts one that learns, from its clusters and not from its prior.
  plain <- bnp_mixture(x, control = bnp_control(seed = 1))
  learned <- bnp_mixture(x, obs_gaussian(learn = TRUE), start = plain, control = bnp_control(seed = 1))
  expect_gt(elbo(learned), elbo(plain))
  expect_error(
    bnp_mixture(unname(cbind(x, x)), obs_gaussian(learn = TRUE), start = before), class = "bnpvi_error_start"
  )
})

test_that("units and origin of the columns change the Jacobian only", {
  x <- eight_clusters()$x
  fit <- learned_fits()$mixture
  unit <- c(1e6, 1e-3)
  moved <- bnp_mixture(
    x * rep(unit, each = 240) + rep(c(1e7, 0), each = 240), obs_gaussian(learn = TRUE), control = bnp_control(seed = 3)
  )
  expect_equal(elbo(moved), elbo(fit) - 240 * sum(log(unit)), tolerance = 1e-7)
  expect_equal(elbo(moved, terms = TRUE)[["hyperprior"]], elbo(fit, terms = TRUE)[["hyperprior"]], tolerance = 1e-5)
  expect_equal(moved$model$obs$df, fit$model$obs$df, tolerance = 1e-4)
  expect_equal(unname(diag(moved$model$obs$scale)) / unit^2, unname(diag(fit$model$obs$scale)), tolerance = 1e-4)
})

test_that("degenerate data keep their digits", {
  clusters <- withr::with_seed(8, matrix(rnorm(200), 100) + 6 * rep(1:4, each = 25))
  tables <- list(
    constant = cbind(clusters, 3), collinear = cbind(clusters, clusters[, 1] + clusters[, 2]),
    repeated = clusters[rep(1:100, 5), ], rounded = round(clusters),
    copies = clusters[rep(c(1, 30, 60, 90), each = 25), ],
    wide = withr::with_seed(9, matrix(rnorm(600), 12) + 9 * rep(1:4, each = 3)), nothing = 0 * clusters,
    tiny = clusters * 1e-140, far = clusters + 1e8, outlier = rbind(clusters, c(1e6, -1e6)),
    one = clusters[, 1, drop = FALSE]
  )
  for (name in names(tables)) {
    for (covariance in learned_covariances) {
      if (!is_tried(match(name, names(tables)), match(covariance, learned_covariances), by = 2L)) next
      fit <- suppressWarnings(bnp_mixture(
        tables[[name]], obs_gaussian(covariance, learn = TRUE), control = bnp_control(seed = 1, k_init = 5)
      ))
      where <- paste(name, covariance)
      expect_true(fit$reason != "numerical" && is.finite(elbo(fit)), label = where)
      expect_gt(min(relative_gains(fit), 0), -1e-9, label = where)
      expect_true(all(is.finite(predict(fit, tables[[name]][1:5, , drop = FALSE], type = "logdensity"))), label = where)
      learned <- unlist(fit$model$obs[c("mean", "mean_strength", "df", "scale")])
      expect_true(all(is.finite(learned)), label = where)
    }
  }
})

test_that("fits can be asked everything, and say what was learned", {
  x <- `colnames<-`(eight_clusters()$x, c("east", "north"))
  fit <- learned_fits()$mixture
  obs <- fit$model$obs
  expect_output(print(fit), "Learned prior: mean_strength = [0-9.]+, df = [0-9.]+")
  expect_output(print(summary(fit)), "hyperprior = .*learn\\s+=\\s+TRUE")
  expect_identical(glance(fit)$prior.df, obs$df)
  expect_identical(glance(fit)$prior.mean_strength, obs$mean_strength)
  given <- bnp_mixture(x[1:20, ], obs_gaussian(learn = FALSE), control = bnp_control(seed = 1))
  expect_null(glance(given)[["prior.df"]])
  expect_identical(dim(obs$scale), c(2L, 2L))
  expect_equal(rowSums(predict(fit, x[1:5, ], type = "prob")), rep(1, 5), ignore_attr = TRUE)
  expect_identical(names(simulate(fit, 3, seed = 1)[[1]]), c(colnames(x), ".class"))
  tree <- cluster_tree(fit, x)
  cut <- cut_fit(fit, x, k = 3, tree = tree)
  expect_identical(n_clusters(cut), 3L)
  expect_equal(sum(elbo(cut, terms = TRUE)), elbo(cut))
  expect_gte(elbo(cut), cut$cut$joined)
  expect_s3_class(compare_fits(fit, cut, newdata = x), "data.frame")
  expect_identical(nrow(tidy(fit)), n_clusters(fit))
  again <- update(fit, control = bnp_control(seed = 3), x = x)
  expect_identical(elbo(again), elbo(fit))
  expect_output(print(obs_gaussian(learn = TRUE)), "learn\\s+= TRUE")
})

# Learned degrees of freedom are often below D, where rWishart() refuses.
test_that("clusters with few degrees of freedom are drawn", {
  withr::local_seed(1)
  scale <- matrix(c(2, 0.5, 0.5, 1), 2)
  for (df in c(1.5, 2.5)) {
    draws <- replicate(some_draws(40000), crossprod(bnpvi:::wishart_root(df, scale)))
    expect_lt(max(abs(apply(draws, 1:2, mean) / (df * scale) - 1)), 0.05)
    expect_lt(max(abs(apply(draws, 1:2, var) / (df * (scale^2 + outer(diag(scale), diag(scale)))) - 1)), 0.1)
  }
  x <- matrix(rnorm(60), 20)
  empty <- bnp_mixture(
    x, obs_gaussian(df = 2.3), prior_dirichlet(4, 20), bnp_control(seed = 1, moves = FALSE), rep(1, 20)
  )
  expect_true(all(vapply(simulate(empty, 5, seed = 1), function(rows) all(is.finite(as.matrix(rows[1:3]))), NA)))
})

test_that("what cannot be learned is refused", {
  x <- eight_clusters()$x
  expect_bad(
    bnp_mixture(x, obs_gaussian(learn = TRUE), control = bnp_control(algorithm = "stochastic")),
    "argument", "learn = TRUE"
  )
  expect_bad(obs_gaussian(learn = NA), "argument", "learn")
})

# Nearly flat clusters in many columns: the default expects them as wide as the data.
test_that("flat clusters in many columns are found and predicted better", {
  made <- withr::with_seed(11, {
    d <- 16
    z <- rep(1:6, length.out = 900)
    axes <- lapply(1:6, function(k) qr.Q(qr(matrix(rnorm(d * d), d))) %*% diag(c(rep(1, 4), rep(0.05, d - 4))))
    list(x = t(vapply(z, function(k) drop(axes[[k]] %*% rnorm(d)), double(d))), z = z)
  })
  fit <- function(obs) bnp_mixture(made$x[1:600, ], obs, control = bnp_control(seed = 1))
  learned <- fit(obs_gaussian("zero_mean", learn = TRUE))
  plain <- fit(obs_gaussian("zero_mean", learn = FALSE))
  expect_identical(n_clusters(learned), 6L)
  expect_gt(heldout_loglik(learned, made$x[-(1:600), ]), heldout_loglik(plain, made$x[-(1:600), ]) + 0.1)
})

long_test("the first births from one of few clusters are judged by the prior that a search finds", {
  bounds <- function(x) {
    vapply(some_of(1:6, by = 2), function(seed) {
      elbo(bnp_mixture(x, obs_gaussian(rounding = 0), control = bnp_control(seed = seed, max_laps = 500)))
    }, 1)
  }
  expect_gt(stats::median(bounds(iris[1:4])), -310) # -308.95; by ascent alone -311.48
  expect_gt(mean(bounds(quakes)), -14505) # -14498.90; by ascent alone -14512.20
})
