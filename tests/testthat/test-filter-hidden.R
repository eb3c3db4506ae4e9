# Filters of fits with obs_lds(): at draws of their parameters; densities and residuals of rows; forecast().

data <- rotations(1, n = 120)
sticky <- prior_hdp_hmm(sticky = 50)
few <- bnp_control(seed = 1, max_laps = 12, verbose = FALSE)
fit <- suppressWarnings(bnp_hmm(data$y, obs = obs_lds(), prior = sticky, control = few))
lift <- rbind(c(1, 0.5, -1, 0), c(0, 1, 2, 1))
four <- withr::with_seed(2, `colnames<-`(data$x %*% lift + 10 + rnorm(480, sd = 0.3), letters[1:4]))
reduced <- suppressWarnings(
  bnp_hmm(four, obs = obs_lds(2, intercept = TRUE), prior = prior_hmm(2, sticky = 50), control = few)
)

# Values whose mean is known: how many standard errors off, at most.
errors_off <- function(values, mean) {
  values <- matrix(values, ncol = length(mean), byrow = TRUE)
  max(abs(colMeans(values) - mean) / apply(values, 2, sd) * sqrt(nrow(values)))
}

test_that("drawn parameters have the moments of the posterior", {
  for (fit in list(fit, reduced)) {
    systems <- drawn_systems(fit, if (long_tests()) 600 else 300, 1)
    means <- mean_system(fit)
    q <- posterior_params(fit)
    k <- fit$state$k
    e <- ncol(q$coef_mean)
    for (name in c("A", "C", "R", "Q")) {
      drawn <- vapply(systems, function(s) as.double(s[[name]]), as.double(means[[name]]))
      moves <- apply(drawn, 1, sd) > 0
      expect_equal(drawn[!moves, 1], as.double(means[[name]])[!moves])
      if (any(moves)) expect_lt(errors_off(drawn[moves, ], as.double(means[[name]])[moves]), 4.5)
    }
    for (j in seq_len(k)) {
      a <- t(vapply(systems, function(s) as.double(s$A[, seq_len(e), j]), numeric(2 * e)))
      want <- kronecker(solve(q$coef_precision[, , j]), means$Q[, , j])
      expect_equal(cov(a), want, tolerance = 0.25)
    }
    q_11 <- vapply(systems, function(s) s$Q[1, 1, 1], 1)
    free <- q$df[[1]] - 3
    expect_equal(sd(q_11), sqrt(2 / (free - 2)) * q$scale[1, 1, 1] / free, tolerance = 0.2)
    theta <- q$transition[1, seq_len(k)]
    drawn <- vapply(systems, function(s) s$transition[1, 1], 1)
    expect_equal(mean(drawn), theta[[1]] / sum(theta), tolerance = 0.02)
    share <- theta[[1]] / sum(theta)
    expect_equal(sd(drawn), sqrt(share * (1 - share) / (sum(theta) + 1)), tolerance = 0.15)
  }
})

test_that("a filter at draws is the mixture of its systems, and goes on with the same bits", {
  f <- bnp_filter(fit, data$y[1:2, ], particles = 30, seed = 4, parameters = "draw")
  expect_length(f$model, 30)
  each <- vapply(f$model, function(s) enumerated(s, data$y[1:2, ])$log_p, 1)
  expect_equal(as.numeric(logLik(f)), log(mean(exp(each))), tolerance = 1e-10)
  all <- bnp_filter(fit, data$y[1:20, ], particles = 30, seed = 4, parameters = "draw")
  expect_identical(update(f, data$y[3:20, ])$sequences, all$sequences)
  other <- bnp_filter(fit, data$y[1:20, ], particles = 30, seed = 5, parameters = "draw")
  expect_false(identical(logLik(other), logLik(all)))
  before <- withr::with_seed(3, runif(1))
  expect_identical(withr::with_seed(3, {
    bnp_filter(fit, data$y[1, , drop = FALSE], seed = 1, parameters = "draw")
    runif(1)
  }), before)
  merged <- bnp_filter(fit, data$y[1:20, ], particles = 30, seed = 4, parameters = "draw", collapse = "gpb2")
  expect_equal(as.numeric(logLik(merged)), as.numeric(logLik(all)), tolerance = 0.1)
})

test_that("forecasts at draws include what is not known of the parameters", {
  short <- suppressWarnings(bnp_hmm(data$y[1:25, ], obs = obs_lds(), prior = prior_hmm(1), control = few))
  at_means <- forecast(bnp_filter(short, data$y[1:25, ], seed = 1), h = 5)
  at_draws <- forecast(bnp_filter(short, data$y[1:25, ], seed = 1, particles = 300, parameters = "draw"), h = 5)
  expect_gt(at_draws$sd.u[5], 1.02 * at_means$sd.u[5])
  # One step ahead, by the law of total variance over the systems that are weighed by their particles.
  f <- bnp_filter(short, data$y[1:25, ], seed = 1, particles = 300, parameters = "draw")
  p <- f$sequences[[1]]$state
  moments <- vapply(seq_along(p$weight), function(i) {
    s <- f$model[[p$system[i] + 1]]
    a <- s$A[, 1:2, 1]
    c(a %*% p$mean[, i], diag(a %*% matrix(p$cov[, i], 2) %*% t(a) + s$Q[, , 1]) + diag(s$R))
  }, numeric(4))
  mean <- drop(moments[1:2, ] %*% p$weight)
  sd <- sqrt(drop((moments[3:4, ] + (moments[1:2, ] - mean)^2) %*% p$weight))
  ahead <- forecast(f)
  expect_equal(unlist(ahead[c("mean.u", "mean.v", "sd.u", "sd.v")], use.names = FALSE), c(mean, sd), tolerance = 1e-9)
})

test_that("densities of rows are those of the filter at mean parameters, held-out scores their mean", {
  id <- rep(c("p", "q"), c(50, 70))
  gappy <- replace(data$y, cbind(c(3, 60, 60), c(1, 1, 2)), NA)
  f <- bnp_filter(fit, gappy, id, seed = 1)
  density <- predict(fit, gappy, id, type = "logdensity")
  expect_identical(unname(density), as.data.frame(f)$log_density)
  expect_equal(density[[60]], 0, tolerance = 1e-12)
  expect_identical(heldout_loglik(fit, gappy, id), mean(density[-60]))
  expect_identical(heldout_loglik(fit, gappy, id, type = "plugin"), mean(density[-60]))
  # With one mode, the exact log density of all cells, from their joint distribution.
  one <- suppressWarnings(bnp_hmm(data$y[1:30, ], obs = obs_lds(), prior = prior_hmm(1), control = few))
  joint <- dense_given_path(mean_system(one), unname(gappy[1:12, ]), rep(1, 12))$log_p
  expect_equal(sum(predict(one, gappy[1:12, ], type = "logdensity")), joint, tolerance = 1e-9)
  expect_length(predict(fit, data$y[0, , drop = FALSE], type = "logdensity"), 0)
  expect_bad(predict(fit, data$y * 1e200, type = "logdensity"), "no_density", "newdata")
})

test_that("pseudo-residuals are normal quantiles of each cell given the rows before", {
  one <- suppressWarnings(bnp_hmm(data$y[1:30, ], obs = obs_lds(), prior = prior_hmm(1), control = few))
  y <- replace(data$y[1:30, ], 7, NA)
  residual <- residuals(one, y)
  ahead <- bnp_filter(one, y, seed = 1)$sequences[[1]]$rows
  expect_equal(residual, (y - ahead$ahead_mean) / ahead$ahead_sd, tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(is.na(residual), is.na(y), ignore_attr = TRUE)
  expect_equal(colnames(residual), c("u", "v"))
  # Of several modes: a sum over all paths, by the density of the cell alone as a function of its value.
  model <- wide_system()
  rows <- withr::with_seed(2, named_rows(4))
  below <- bnp_filter(model, rows, particles = 100, seed = 1)$sequences[[1]]$rows$below
  nodes <- seq(-20, 20, by = 0.5)
  value <- seq(-20, 20, by = 0.01)
  density <- vapply(nodes, function(v) enumerated(model, rbind(rows[1:3, ], c(NA, v, NA)))$log_p, 1)
  density <- stats::spline(nodes, density, xout = value)$y
  p <- exp(density - max(density))
  expect_equal(below[4, 2], sum(p[value <= rows[4, 2]]) / sum(p), tolerance = 0.01, ignore_attr = TRUE)
  expect_lt(abs(mean(residuals(fit, data$y)^2) - 1), 0.35)
})

long_test("forecast() is predict() of a filter and of a fit", {
  f <- bnp_filter(fit, data$y, seed = 1)
  expect_identical(forecast(f, 3), predict(f, h = 3))
  expect_identical(forecast(f, h = 2, type = "latent"), predict(f, h = 2, type = "latent"))
  expect_identical(forecast(fit, data$y, h = 3), predict(fit, data$y, n.ahead = 3))
  expect_identical(forecast(fit, data$y), predict(fit, data$y, n.ahead = 1))
  expect_identical(forecast, generics::forecast)
  ahead <- forecast(fit, data$y, h = 2000)
  expect_equal(nrow(ahead), 2000)
})
