# Intervals are quantiles of the variational posterior: as many draws from it lie below an end as its probability says.

few <- bnp_control(seed = 1, k_init = 3, max_laps = 4, moves = FALSE, verbose = FALSE)
draws <- if (longest_tests()) 20000L else if (long_tests()) 5000L else 500L

# One draw of the parameters of a cluster, from its posterior parameters.
wishart <- function(df, scale) solve(rWishart(1, df, solve(scale))[, , 1])
normal <- function(mean, cov) mean + drop(t(chol(cov)) %*% rnorm(length(mean)))
gamma_shares <- function(a) {
  g <- rgamma(length(a), a)
  g / sum(g)
}
draw_of <- list(
  gaussian_full = function(q) {
    cov <- wishart(q$df, q$scale)
    list(mean = normal(q$mean, cov / q$mean_strength), cov = cov)
  },
  gaussian_diagonal = function(q) {
    variance <- 1 / rgamma(length(q$mean), q$df / 2, q$scale / 2)
    list(mean = rnorm(length(q$mean), q$mean, sqrt(variance / q$mean_strength)), cov = diag(variance, length(variance)))
  },
  student_full = function(q, obs) c(draw_of$gaussian_full(q), tails = draw_tails(obs, q)),
  student_diagonal = function(q, obs) c(draw_of$gaussian_diagonal(q), tails = draw_tails(obs, q)),
  gaussian_zero_mean = function(q) list(cov = wishart(q$df, q$scale)),
  ar = function(q, obs) {
    cov <- wishart(q$df, q$scale)
    noise <- matrix(rnorm(length(q$coef_mean)), nrow(cov))
    coef <- q$coef_mean + t(chol(cov)) %*% noise %*% chol(solve(q$coef_precision))
    c(list(coef = coef, cov = cov), if (!is.null(q$tails_node)) list(tails = draw_tails(obs, q)))
  },
  regression = function(q, obs) draw_of$ar(q, obs),
  multinomial = function(q) list(prob = gamma_shares(q$concentration)),
  bernoulli = function(q) list(prob = rbeta(length(q$a), q$a, q$b)),
  poisson = function(q) list(rate = rgamma(length(q$a), q$a, q$b)),
  waiting_time = function(q) list(rate = rgamma(length(q$a), q$a, q$b)),
  shaped_gamma = function(q) {
    drawn <- vapply(shapes_of_columns(q), function(column) unlist(draw_shape(column)), double(3L))
    list(shape = drawn["shape_node", ], mean = drawn["shape_node", ] / rgamma(ncol(drawn), drawn["a", ], drawn["b", ]))
  },
  von_mises = function(q) {
    drawn <- vapply(shapes_of_columns(q), function(column) {
      concentration <- draw_shape(column[c("shape_node", "shape_prob")])$shape_node
      turn <- draw_angles(1L, concentration * column$strength[1L] / column$shape_node[1L])
      c(concentration, column$location[1L] + turn)
    }, double(2L))
    list(concentration = drawn[1, ], direction = drawn[2, ])
  },
  negative_binomial = function(q) {
    drawn <- vapply(shapes_of_columns(q), function(column) unlist(draw_shape(column)), double(3L))
    share <- rbeta(ncol(drawn), drawn["a", ], drawn["b", ])
    list(size = drawn["shape_node", ], mean = drawn["shape_node", ] * share / (1 - share))
  },
  weibull = function(q) {
    drawn <- vapply(shapes_of_columns(q), function(column) unlist(draw_shape(column)), double(3L))
    of_scale <- rgamma(ncol(drawn), drawn["a", ])
    list(shape = drawn["shape_node", ], scale = drawn["b", ] * of_scale^(-1 / drawn["shape_node", ]))
  },
  censored_weibull = function(q) draw_of$weibull(q),
  censored = function(q) list(rate = rgamma(length(q$a), q$a, q$b)),
  binomial = function(q) list(prob = rbeta(length(q$a), q$a, q$b)),
  gaussian_spherical = function(q) {
    variance <- 1 / rgamma(1, q$df / 2, q$scale / 2)
    list(mean = rnorm(length(q$mean), q$mean, sqrt(variance / q$mean_strength)), cov = diag(variance, length(q$mean)))
  },
  gaussian_tied_spherical = function(q) list(mean = normal(q$mean, q$cov / q$mean_strength)),
  gaussian_tied_diagonal = function(q) list(mean = normal(q$mean, q$cov / q$mean_strength)),
  gaussian_tied = function(q) list(mean = normal(q$mean, q$cov / q$mean_strength)),
  categorical = function(q, obs) list(prob = unlist(by_column_of_levels(obs, q$concentration, gamma_shares))),
  product = function(q, obs) {
    parts <- lapply(stats::setNames(nm = names(obs$blocks)), function(name) {
      block <- obs$blocks[[name]]
      draw_with(block, arrays_of_block(q, name, block))
    })
    unlist(parts, recursive = FALSE)
  }
)
# Of its family, or of a class whose posterior it shares.
draw_with <- function(obs, q) {
  draw <- draw_of[[intersect(sub("^obs_", "", class(obs)), names(draw_of))[1L]]]
  if ("obs" %in% names(formals(draw))) draw(q, obs) else draw(q)
}

# Draws (rows) below the ends of intervals: 4.5 standard errors, for a few hundred comparisons.
expect_quantiles <- function(sample, intervals, level, slack = 0) {
  expect_true(all(is.finite(intervals)))
  for (end in 1:2) {
    p <- c(1 - level, 1 + level)[end] / 2
    share <- rowMeans(t(sample) <= intervals[, end])
    expect_lt(max(abs(share - p)), 4.5 * sqrt(p * (1 - p) / nrow(sample)) + slack)
  }
}

cases <- Filter(function(case) case$name %in% names(obs_models), planted_cases())

test_that("every model has intervals for every parameter of its clusters, and a draw to compare them with", {
  for (case in cases) expect_true(any(sub("^obs_", "", class(case$obs)) %in% names(draw_of)), label = case$name)
  of_prior <- c("mean_strength", "df", "scale", "a", "b", "concentration", "coef_mean", "coef_precision", "shape_node",
    "shape_prob", "location", "strength", "tails_node", "tails_prob")
  for (case in cases) {
    obs <- resolve_obs(case$obs, as_mixture_data(case$x, case$obs))
    arrays <- sub(".*[.]", "", names(obs_facts(obs)$arrays))
    known <- c(if (!"shape_node" %in% arrays) "shape", if (grepl("tied", obs$family)) "cov")
    own <- c(von_mises = "concentration", weibull = "scale", censored_weibull = "scale")
    parameters <- setdiff(arrays, c(setdiff(of_prior, own[obs$family]), known))
    expect_setequal(sub(".*[.]", "", names(obs_quantiles(obs))), parameters)
  }
})

# Few rows, so that a degree of freedom more or less would be seen. Draws from posteriors of shapes take half of the
# time: the short suite has every other of these models.
of_shapes <- vapply(cases, function(case) grepl("negative_binomial|weibull|gamma|von_mises", case$name), NA)
for (case in c(cases[!of_shapes], some_of(cases[of_shapes], by = 2))) {
  test_that(paste0(case$name, ": intervals agree with draws from posterior_params()"), {
    fit <- bnp_mixture(
      case$x[1:5, ], case$obs, prior = prior_dirichlet(1), control = bnp_control(seed = 1, verbose = FALSE)
    )
    q <- posterior_clusters(fit)[[1]]
    set.seed(7)
    sample <- replicate(draws, draw_with(fit$model$obs, q), simplify = FALSE)
    for (name in names(obs_quantiles(fit$model$obs))) {
      all <- do.call(rbind, lapply(sample, function(s) as.vector(s[[name]])))
      d <- diag(round(sqrt(ncol(all))))
      diagonal <- inherits(case$obs, c("obs_gaussian_diagonal", "obs_student_diagonal"))
      known <- if (diagonal) d == 1 else upper.tri(d, diag = TRUE)
      shown <- if (grepl("cov$", name)) which(known) else which(apply(all, 2, function(v) any(v != v[1])))
      for (level in c(0.5, 0.95)) expect_quantiles(all[, shown, drop = FALSE], confint(fit, name, level), level)
    }
  })
}

test_that("weights agree with draws of sticks and of Dirichlet vectors", {
  set.seed(3)
  open <- bnp_mixture(cases[[1]]$x, control = bnp_control(seed = 1, verbose = FALSE))
  sticks <- posterior_params(open)$sticks[order(open$numbering), ]
  sample <- t(replicate(some_draws(4000), {
    v <- rbeta(nrow(sticks), sticks[, 1], sticks[, 2])
    (v * cumprod(c(1, 1 - v))[seq_along(v)])[open$numbering]
  }))
  finite <- bnp_mixture(cases[[1]]$x, prior = prior_dirichlet(3), control = bnp_control(seed = 1, verbose = FALSE))
  shares <- t(replicate(some_draws(4000), gamma_shares(posterior_params(finite)$weights_concentration)))
  for (level in c(0.5, 0.95)) {
    expect_quantiles(sample, confint(open, "weights", level), level)
    expect_quantiles(shares, confint(finite, "weights", level), level)
  }
  # Small and empty clusters.
  a <- 1 + c(60, 20, 0.4, 3, 0)
  b <- 2 + c(23.4, 3.4, 3, 0, 0)
  v <- matrix(rbeta(5 * some_draws(4e4), a, b), 5)
  weights <- v * apply(rbind(1, 1 - v[-5, ]), 2, cumprod)
  ends <- cbind(stick_weights_quantile(0.025, a, b), stick_weights_quantile(0.975, a, b))
  expect_quantiles(t(weights), ends, 0.95, slack = 0.002)
})

test_that("weights below the smallest numbers have the quantile 0", {
  # The first stick leaves next to nothing: a part of the next weight's distribution is below any number.
  weights <- function(p) stick_weights_quantile(p, c(1, 1), cbind(c(4e-3, 1), c(5e-3, 1)))
  expect_identical(weights(0.025)[2], 0)
  expect_gt(weights(0.9999)[2], 0)
  expect_equal(weights(0.9)[1], 1) # the first takes all
})

test_that("transitions and first states are those of the states in use, weights those of the top level", {
  set.seed(3)
  for (prior in list(prior_hdp_hmm(sticky = 5), prior_hmm(3))) {
    fit <- suppressWarnings(bnp_hmm(cases[[4]]$x, prior = prior, control = few))
    k <- fit$state$k
    theta <- posterior_params(fit)$transition[, seq_len(k)]
    rows <- t(replicate(some_draws(4000), as.vector(apply(theta, 1, gamma_shares))))
    expect_quantiles(rows, confint(fit, "transition", 0.9), 0.9)
    table <- tidy(fit, conf.int = TRUE)
    p <- transition_matrix(fit)
    expect_equal(table$estimate[table$parameter == "transition"], as.vector(t(p)))
    expect_equal(table$estimate[table$parameter == "start"], as.vector(attr(p, "start")))
    expect_identical("weights" %in% table$parameter, is.null(prior$k))
  }
  topics <- suppressWarnings(bnp_topics(bars$counts, control = few))
  sticks <- posterior_params(topics)$sticks[order(topics$numbering), ]
  v <- matrix(rbeta(nrow(sticks) * draws, sticks[, 1], sticks[, 2]), nrow(sticks))
  weights <- t(v * apply(rbind(1, 1 - v[-nrow(v), , drop = FALSE]), 2, cumprod))[, topics$numbering]
  expect_quantiles(weights, confint(topics, "weights"), 0.95, slack = 0.002)
})

long_test("a planted mean is in its interval about as often as it should be where clusters are far apart", {
  inside <- vapply(1:60, function(seed) {
    set.seed(seed)
    x <- c(rnorm(60, -20), rnorm(40, 20, 2))
    ends <- confint(
      bnp_mixture(x, prior = prior_dirichlet(2), control = bnp_control(seed = 1, verbose = FALSE)), "mean", 0.8
    )
    ends[, 1] <= c(-20, 20) & c(-20, 20) <= ends[, 2]
  }, c(NA, NA))
  expect_lt(abs(mean(inside) - 0.8), 3.5 * sqrt(0.16 / 120))
})

test_that("rows are named, chosen and refused by their names", {
  fit <- bnp_mixture(faithful, control = few)
  all <- confint(fit)
  expect_equal(colnames(all), c("2.5 %", "97.5 %"))
  expect_true(all(c("weights[1]", "mean[2,waiting]", "cov[1,eruptions,waiting]") %in% rownames(all)))
  expect_false(anyDuplicated(rownames(all)) > 0)
  expect_equal(confint(fit, c("mean[2,waiting]", "weights")), all[c("mean[2,waiting]", rownames(all)[1:fit$state$k]), ])
  table <- tidy(fit, conf.int = TRUE)
  expect_equal(unname(all), cbind(table$conf.low, table$conf.high))
  mean <- table[table$parameter == "mean", ]
  expect_equal(mean$estimate, as.vector(t(coef(fit)$mean)))
  expect_true(all(table$conf.low < table$estimate & table$estimate < table$conf.high))
  expect_true(all(confint(fit, level = 0.5)[, 1] > all[, 1]))
  expect_bad(confint(fit, "slope"), "argument", "weights")
  expect_bad(confint(fit, "mean[9,waiting]"), "argument", "does not have")
  expect_bad(confint(fit, 1), "argument", "parm")
  expect_bad(confint(fit, level = 95), "argument", "level")
  expect_bad(tidy(fit, conf.int = TRUE, conf.level = 1), "argument", "conf.level")
  expect_bad(tidy(fit, conf.int = NA), "argument", "conf.int")
})

test_that("covariances that are far from the usual have intervals", {
  nodes <- covariance_nodes(3)
  for (r in c(-1, -0.999999, 0, 0.3, 1)) {
    q <- vapply(c(1e-4, 0.025, 0.5, 0.975, 1 - 1e-4), covariance_quantile, 1, r = r, df = 3, nodes = nodes)
    expect_true(all(is.finite(q)) && !is.unsorted(q))
  }
  exact <- function(s, r, df) {
    below <- function(u) pt((s * qchisq(u, df - 1) - r) / sqrt((1 - r^2) / df), df)
    integrate(below, 0, 1, rel.tol = 1e-9, subdivisions = 1000L)$value
  }
  for (df in c(3, 12, 400)) {
    for (p in c(0.005, 0.025, 0.9)) {
      q <- covariance_quantile(p, 0.4, df, covariance_nodes(df))
      expect_lt(abs(exact(q, 0.4, df) - p), 5e-5)
    }
  }
})

test_that("intervals of autoregressions go with the units of their columns, however far apart", {
  x <- withr::with_seed(3, cbind(a = as.vector(arima.sim(list(ar = 0.7), 60)), b = rnorm(60)))
  control <- bnp_control(seed = 1, verbose = FALSE)
  near <- confint(bnp_mixture(x, obs_ar(), prior = prior_dirichlet(1), control = control), "coef")
  scaled <- bnp_mixture(x %*% diag(c(1, 1e9)), obs_ar(), prior = prior_dirichlet(1), control = control)
  expect_equal(unname(confint(scaled, "coef")), unname(near) * c(outer(c(1, 1e9), c(1, 1e-9))), tolerance = 1e-6)
})

test_that("degrees of freedom are as uncertain as the likelihood with location and scale unknown says", {
  x <- withr::with_seed(4, stats::rt(1000, 4))
  fit <- bnp_mixture(x, obs_student(), prior_dp(1), start = rep(1, 1000), control = bnp_control(
    seed = 1, moves = FALSE, max_laps = 100, verbose = FALSE
  )) |> suppressWarnings()
  tails <- widened_tails(fit$model$obs, posterior_clusters(fit)[[1L]])
  log_nu <- log(tails$shape_node)
  centre <- sum(tails$shape_prob * log_nu)
  spread <- sqrt(sum(tails$shape_prob * (log_nu - centre)^2))
  profile <- function(log_nu) {
    -stats::optim(c(0, 0), function(p) {
      -sum(stats::dt((x - p[1]) / exp(p[2]), exp(log_nu), log = TRUE) - p[2])
    }, control = list(reltol = 1e-12))$value
  }
  bend <- sum(c(1, -2, 1) * vapply(centre + c(-0.05, 0, 0.05), profile, 1)) / 0.05^2
  expect_equal(spread, 1 / sqrt(-bend), tolerance = 0.15)
})
