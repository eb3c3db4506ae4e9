# Filters of fits, streams of pieces, functions, and what reads a filter.

cases <- Filter(function(case) case$name %in% names(obs_models), planted_cases())
names(cases) <- vapply(cases, function(case) case$name, "")
few <- bnp_control(seed = 1, k_init = 3, max_laps = 5, moves = FALSE, verbose = FALSE)
fit_of <- function(case, ...) suppressWarnings(bnp_hmm(case$x, obs = case$obs, control = few, ...))
rows_of <- function(x, i) if (is.null(dim(x))) x[i] else x[i, , drop = FALSE]

for (case in some_of(cases, by = 16)) {
  test_that(paste0(case$name, ": the filter's densities are those of predict(), in any number of pieces"), {
    fit <- fit_of(case)
    n <- NROW(case$x)
    x <- rows_of(case$x, unique(round(seq(1, n, length.out = 30))))
    f <- bnp_filter(fit, x)
    want <- predict(fit, x, type = "logdensity")
    expect_equal(as.data.frame(f)$log_density, unname(want), tolerance = 1e-12)
    expect_equal(as.numeric(logLik(f)), sum(want, na.rm = TRUE), tolerance = 1e-12)
    pieces <- bnp_filter(fit)
    for (piece in list(1, 2:3, 4:17, 18:30)) pieces <- update(pieces, rows_of(x, piece))
    expect_identical(pieces, f)
    expect_equal(rowSums(filter_probs(f)[!is.na(want), , drop = FALSE]), rep(1, sum(!is.na(want))),
      tolerance = 1e-10, ignore_attr = TRUE)
    if (!obs_can(fit$model$obs, "moments") && state_lag(fit) == 0L) return()
    ahead <- predict(f, h = 2)
    forecast <- predict(fit, x, n.ahead = 2)
    means <- grep("^(mean|sd)[.]", names(forecast), value = TRUE)
    expect_equal(as.data.frame(ahead)[means], as.data.frame(forecast)[means], tolerance = 1e-10)
  })
}

test_that("states are those of a plain forward pass, and smoothed ones those of a backward pass", {
  for (prior in list(prior_hdp_hmm(sticky = 3), prior_hmm(3))) {
    fit <- fit_of(cases$gaussian_full, prior = prior)
    x <- cases$gaussian_full$x[1:25, ]
    f <- bnp_filter(fit, x)
    moves <- engine_mean_transitions(fit$model, fit$state)
    log_p <- engine_log_predictives(
      as_engine_data(as_new_sequences(fit, x, NULL)), fit$model, fit$state, 1L
    )[, seq_len(ncol(moves))]
    order <- engine_index(fit, ncol(moves))
    alpha <- matrix(0, 25, ncol(moves))
    beta <- matrix(1, 25, ncol(moves))
    ahead <- moves[1, ]
    for (t in 1:25) {
      alpha[t, ] <- ahead * exp(log_p[t, ]) / sum(ahead * exp(log_p[t, ]))
      ahead <- drop(alpha[t, ] %*% moves[-1, ])
    }
    for (t in 24:1) {
      beta[t, ] <- drop(moves[-1, ] %*% (exp(log_p[t + 1, ]) * beta[t + 1, ]))
      beta[t, ] <- beta[t, ] / sum(beta[t, ])
    }
    expect_equal(unname(filter_probs(f)), alpha[, order], tolerance = 1e-10, ignore_attr = TRUE)
    smooth <- alpha * beta / rowSums(alpha * beta)
    expect_equal(unname(filter_probs(f, "smoothed")), smooth[, order], tolerance = 1e-9, ignore_attr = TRUE)
  }
})

test_that("what was never seen raises the alarm", {
  fit <- fit_of(cases$gaussian_full)
  x <- cases$gaussian_full$x[1:20, ]
  f <- bnp_filter(fit, rbind(x, max(abs(x)) * 20))
  alarm <- as.data.frame(f)$alarm
  expect_lt(max(alarm[1:20]), 0.2)
  expect_gt(alarm[21], 0.9)
  expect_output(print(summary(f)), "Alarm above 0.5 in 1 row: 21")
  expect_null(as.data.frame(bnp_filter(fit_of(cases$gaussian_full, prior = prior_hmm(3)), x))$alarm)
})

test_that("forecasts of fits are those of predict(), and their intervals hold what they should", {
  for (name in some_of(c("gaussian_full", "ar", "poisson", "categorical"), by = 2, from = 2)) {
    fit <- fit_of(cases[[name]])
    x <- rows_of(cases[[name]]$x, 1:40)
    f <- bnp_filter(fit, x)
    ahead <- predict(f, h = 3)
    want <- predict(fit, x, n.ahead = 3)
    moments <- grep("^(mean|sd)[.]", names(want), value = TRUE)
    expect_equal(as.data.frame(ahead)[moments], as.data.frame(want)[moments], tolerance = 1e-10)
    class <- predict(f, h = 3, type = "class")
    expect_equal(class$state, want$state)
    probs <- grep("^prob", names(want), value = TRUE)
    expect_equal(as.data.frame(class)[probs], as.data.frame(want)[probs], tolerance = 1e-10)
    if (name == "categorical") {
      expect_false(any(grepl("^lower", names(ahead))))
      next
    }
    column <- sub("mean.", "", moments[1])
    expect_true(all(ahead[[paste0("lower.", column)]] <= ahead[[paste0("upper.", column)]]))
  }
  # An exact quantile: of the mixture of Student-t's.
  fit <- fit_of(cases$gaussian_full)
  f <- bnp_filter(fit, cases$gaussian_full$x[1:40, ])
  ahead <- predict(f, interval = 0.8)
  p <- unlist(predict(f, type = "class")[paste0("prob.", 1:3)])
  at <- as_new_sequences(fit, as.matrix(ahead[startsWith(names(ahead), "upper.")]) |>
    `colnames<-`(fit$input$column_names), NULL)
  cdf <- Reduce(`+`, Map(function(q, w) {
    w * obs_predictive_cdf(fit$model$obs, q, at)
  }, posterior_clusters(fit), p))
  expect_equal(c(cdf), rep(0.9, length(cdf)), tolerance = 0.03)
})

test_that("filters go on after they were stored, whatever the pieces, sequences and gaps", {
  path <- withr::local_tempfile()
  go_on <- function(f) {
    saveRDS(f, path)
    readRDS(path)
  }
  id <- rep(c("u", "v"), c(12, 8))
  y <- withr::with_seed(1, matrix(rnorm(40), 20, dimnames = list(NULL, c("a", "b"))))
  gappy <- y
  gappy[c(3, 15), ] <- gappy[7, 1] <- NA
  gaussian <- suppressWarnings(bnp_hmm(y, control = few))
  ar <- suppressWarnings(bnp_hmm(y, obs = obs_ar(2), control = few))
  lds <- lds_model(
    A = array(c(diag(2), -0.5 * diag(2)), c(2, 2, 2)), Q = diag(2), C = diag(2), R = c(0.5, 1), start_mean = 0,
    start_var = 1, transition = rbind(c(0.9, 0.1), c(0.3, 0.7))
  )
  walk <- particle_model(
    function(n) matrix(rnorm(2 * n), n), function(x) x + rnorm(length(x)),
    function(y, x) rowSums(matrix(dnorm(rep(y, each = nrow(x)), x, log = TRUE), nrow(x)), na.rm = TRUE)
  )
  for (data in list(y, gappy)) {
    for (start in some_of(by = 2, from = 1 + anyNA(data), x = list(
      function(...) bnp_filter(gaussian, ...), function(...) bnp_filter(ar, ...),
      function(...) bnp_filter(lds, ..., particles = 5, seed = 7),
      function(...) bnp_filter(lds, ..., particles = 5, seed = 7, keep = 4),
      function(...) bnp_filter(lds, ..., collapse = "gpb2", seed = 7),
      function(...) bnp_filter(walk, ..., particles = 30, seed = 7)
    ))) {
      once <- start(data, id)
      again <- start()
      for (piece in list(1, c(2:5, 13), 6:7, c(8:12, 14:20))) {
        again <- go_on(update(again, rows_of(data, piece), id[piece]))
      }
      expect_identical(again$sequences, once$sequences)
      if (anyNA(data) && identical(once$model$fit$model$obs$family, "ar")) next
      type <- if (once$kind == "particles") "latent" else "response"
      expect_identical(predict(again, h = 2, type = type), predict(once, h = 2, type = type))
    }
  }
})

test_that("only as many rows are remembered as were asked for, and the rest is the same", {
  y <- withr::with_seed(1, rnorm(30))
  all <- bnp_filter(small_system(), y, particles = 8, seed = 1)
  few <- bnp_filter(small_system(), y, particles = 8, seed = 1, keep = 5)
  none <- bnp_filter(small_system(), y, particles = 8, seed = 1, keep = 0)
  expect_identical(logLik(few), logLik(all))
  expect_identical(few$sequences[["1"]]$state, all$sequences[["1"]]$state)
  expect_equal(as.data.frame(few), as.data.frame(all)[26:30, ], ignore_attr = TRUE)
  expect_equal(filter_probs(few, "smoothed"), filter_probs(all, "smoothed")[26:30, ])
  expect_identical(nrow(as.data.frame(none)), 0L)
  expect_identical(predict(none, h = 3), predict(all, h = 3))
  expect_output(print(none), "nothing is remembered")
  expect_bad(augment(few, y), "data", "does not remember")
})

test_that("the bootstrap filter is unbiased, and leaves R's generator alone", {
  want <- enumerated(lds_model(
    A = 0.9, Q = 0.3, C = 1, R = 0.25, start_mean = 0, start_var = 2
  ), small_rows)
  model <- particle_model(
    function(n) rnorm(n, 0, sqrt(2)), function(x) 0.9 * x + rnorm(length(x), 0, sqrt(0.3)),
    function(y, x) dnorm(y, x, 0.5, log = TRUE), function(x) rnorm(length(x), x, 0.5)
  )
  set.seed(5)
  before <- .Random.seed
  ratio <- vapply(1:300, function(s) {
    exp(as.numeric(logLik(bnp_filter(model, small_rows, particles = 50, seed = s))) - want$log_p)
  }, 1)
  expect_identical(.Random.seed, before)
  expect_lt(abs(mean(ratio) - 1), 4 * sd(ratio) / sqrt(300))
  f <- bnp_filter(model, small_rows, particles = 20000, seed = 1)
  last <- as.data.frame(f)[6, ]
  expect_equal(last$mean.x1, want$mean[1], tolerance = 0.02)
  expect_equal(last$sd.x1, sqrt(want$var[1]), tolerance = 0.03)
  exact <- predict(bnp_filter(lds_model(
    A = 0.9, Q = 0.3, C = 1, R = 0.25, start_mean = 0, start_var = 2
  ), small_rows), h = 3)
  rough <- predict(f, h = 3)
  for (name in c("mean.x", "sd.x", "lower.x", "upper.x")) expect_equal(rough[[name]], exact[[name]], tolerance = 0.1)
  expect_identical(predict(f, h = 3), rough)
  # A rule that knows the time; rows that are missing are not asked about.
  timed <- particle_model(function(n) rep(0, n), function(x, time) x + time, function(y, x) {
    stopifnot(!is.na(y))
    dnorm(y, x, log = TRUE)
  })
  moved <- bnp_filter(timed, c(0, NA, 5), particles = 3, seed = 1)
  expect_equal(as.data.frame(moved)$mean.x1, c(0, 2, 5))
  expect_equal(as.numeric(logLik(moved)), 2 * dnorm(0, log = TRUE))
})

long_test("the bootstrap filter resamples without bias, and only where weights are uneven", {
  weighs <- function(w) particle_model(
    function(n) c(0, 0, 1), function(x) x, function(y, x) log(w)
  )
  uneven <- vapply(1:400, function(s) {
    as.data.frame(bnp_filter(weighs(c(0.85, 0.05, 0.1)), c(1, NA), particles = 3, seed = s))$mean.x1[2]
  }, 1)
  expect_equal(mean(uneven), 0.1, tolerance = 0.25)
  expect_gt(sd(uneven), 0)
  even <- as.data.frame(bnp_filter(weighs(c(0.4, 0.3, 0.3)), c(1, NA), particles = 3, seed = 1))
  expect_equal(even$size, rep(1 / (0.16 + 0.18), 2))
  expect_equal(even$mean.x1, c(0.3, 0.3))
})

test_that("sequences and rows have random numbers of their own", {
  f <- bnp_filter(small_system(), rep(small_rows, 2), rep(1:2, each = 6), particles = 2, seed = 1)
  expect_false(f$sequences[["1"]]$log_lik == f$sequences[["2"]]$log_lik)
  other <- bnp_filter(small_system(), small_rows, particles = 2, seed = 2)
  expect_false(f$sequences[["1"]]$log_lik == other$sequences[["1"]]$log_lik)
})

test_that("rows without data say nothing", {
  f <- bnp_filter(small_system(), c(NA, NA, 1, NA), particles = 8, seed = 1)
  rows <- as.data.frame(f)
  expect_equal(rows$log_density[c(1, 2, 4)], rep(0, 3), tolerance = 1e-12)
  expect_equal(unname(filter_probs(f)[2, ]), c(0.6, 0.4))
  fit <- fit_of(cases$gaussian_full)
  x <- cases$gaussian_full$x[1:6, ]
  f <- bnp_filter(fit, rbind(x, NA))
  expect_equal(as.data.frame(f)$log_density[7], 0, tolerance = 1e-12)
  x[2, 1] <- NA
  expect_equal(
    as.data.frame(bnp_filter(fit, x))$log_density,
    unname(predict(fit, x, type = "logdensity", na_action = "model")), tolerance = 1e-12
  )
})

test_that("tables of a filter have a row for each row of the data", {
  y <- data.frame(a = small_rows)
  model <- small_system()
  f <- bnp_filter(model, y, particles = 32, seed = 1)
  expect_named(
    as.data.frame(f),
    c("id", "row", "log_density", "surprise", "state", "prob.1", "prob.2", "mean.x1", "sd.x1", "size")
  )
  expect_named(augment(f, y), c("a", ".log_density", ".class", ".uncertainty", ".fitted", ".resid"))
  expect_equal(tidy(f)$term, c("state 1", "state 2", "x1"))
  expect_equal(tidy(f)$estimate[1:2], unname(filter_probs(f)[6, ]))
  expect_equal(glance(f)$nobs, 6)
  expect_equal(nobs(f), 6)
  expect_output(print(f), "Rao-Blackwellised filter of a linear system, 6 rows of 1 sequence")
  expect_output(print(model), "1 state variable, 1 column and 2 modes")
  expect_output(print(small_system(A = c(1.2, 0.5))), "Unstable: mode 1")
  fit <- fit_of(cases$gaussian_full)
  x <- cases$gaussian_full$x[1:10, ]
  id <- rep(c("v", "u"), each = 5)
  g <- bnp_filter(fit, x, id)
  both <- augment(g, x[c(6:10, 1:5), ], id[c(6:10, 1:5)])
  expect_equal(both$.log_density, unname(predict(fit, x, id, type = "logdensity"))[c(6:10, 1:5)])
  expect_true(all(c(".class", ".uncertainty", ".alarm") %in% names(both)))
  expect_equal(rownames(filter_probs(g)), id)
  expect_output(print(g), "After 5 rows of v")
  expect_equal(nrow(tidy(g)), 2 * 4)
})

test_that("pictures of filters are drawn", {
  withr::local_pdf(NULL)
  fit <- fit_of(cases$gaussian_full)
  f <- bnp_filter(fit, cases$gaussian_full$x[1:30, ])
  walk <- particle_model(function(n) rnorm(n), function(x) x, function(y, x) dnorm(y, x, log = TRUE))
  filters <- list(f, bnp_filter(small_system(), small_rows, seed = 1), bnp_filter(walk, 1:3, seed = 1))
  for (one in filters) {
    expect_invisible(plot(one))
    if (one$kind != "states") expect_invisible(plot(one, "latent"))
    if (one$kind != "particles") expect_invisible(plot(one, "smoothed"))
  }
  expect_invisible(plot(predict(f, h = 3)))
  expect_invisible(plot(predict(f, h = 3, type = "class"), "states"))
  picture <- filter_picture(f, "filter", NULL)
  expect_equal(picture$lines$surprise, -as.data.frame(f)$log_density)
  expect_equal(picture$lines$alarm, as.data.frame(f)$alarm, ignore_attr = TRUE)
  expect_equal(stats::ave(picture$states$top - picture$states$bottom, picture$states$at, FUN = sum), rep(1, 120))
  skip_if_not_installed("ggplot2")
  for (one in filters) {
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(one))$plot, "ggplot")
  }
})
