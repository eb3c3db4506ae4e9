# What comes after the last row of a sequence.

cases <- Filter(function(case) case$name %in% names(obs_models), planted_cases())
names(cases) <- vapply(cases, function(case) case$name, "")
few <- bnp_control(seed = 1, k_init = 3, max_laps = 5, moves = FALSE, verbose = FALSE)
fit_of <- function(case, obs = case$obs, ..., control = few) {
  suppressWarnings(bnp_hmm(case$x, obs = obs, control = control, ...))
}

# Drawn rows as the columns that forecasts have means of: numbers, or 1 where a column has a level.
as_moments <- function(rows, names) {
  rows <- as.data.frame(rows)
  vapply(strsplit(sub("^mean.", "", names), "="), function(at) {
    if (length(at) == 1L) rows[[at]] else as.double(rows[[at[1]]] == at[2])
  }, numeric(nrow(rows)))
}

columns <- function(table, prefix) as.matrix(table[startsWith(names(table), paste0(prefix, "."))])

test_that("states ahead are the filter's, carried on by the transitions", {
  x <- cases$gaussian_full$x
  id <- rep(1:2, c(100, 140))
  for (obs in list(obs_gaussian(), obs_ar())) {
    fit <- fit_of(cases$gaussian_full, obs, id = id)
    ahead <- predict(fit, x[1:150, ], id = id[1:150], n.ahead = 3)
    expect_equal(ahead$id, rep(c("1", "2"), each = 3))
    expect_equal(ahead$step, rep(1:3, 2))
    p <- columns(ahead, "prob")
    expect_equal(rowSums(p), rep(1, 6))
    next_row <- one_step_ahead(fit, as_new_sequences(fit, x[1:151, ], id[1:151]))$prob[151, seq_len(fit$state$k)]
    expect_equal(unname(p[4, ]), unname(next_row / sum(next_row)))
    expect_equal(unname(p[5, ]), unname(drop(p[4, ] %*% transition_matrix(fit))))
    expect_equal(unname(p[6, ]), unname(drop(p[5, ] %*% transition_matrix(fit))))
    expect_equal(ahead$state, max.col(p, "first"))
  }
})

for (case in some_of(Filter(function(case) obs_can(case$obs, "moments"), cases), by = 14, from = 8)) {
  test_that(paste0(case$name, ": means and standard deviations ahead are those of rows drawn from the states ahead"), {
    # Of a state with next to no rows the variance may be infinite: here all have many.
    fit <- fit_of(case, control = bnp_control(max_laps = 5, moves = FALSE, verbose = FALSE), start = case$cluster)
    ahead <- predict(fit, case$x[1:100, ], n.ahead = 2)
    set.seed(1)
    states <- sample(fit$state$k, 1200, replace = TRUE, prob = columns(ahead, "prob")[2, ])
    clusters <- posterior_clusters(fit)
    given <- complete_given(fit, list())
    names <- colnames(columns(ahead, "mean"))
    # Five rows of each draw of a state's parameters.
    drawn <- do.call(rbind, lapply(
      states, function(k) as_moments(draw_rows(fit, clusters, rep(k, 5L), 5L, given), names)
    ))
    sd <- columns(ahead, "sd")[2, ]
    expect_lt(max(abs(colMeans(drawn) - columns(ahead, "mean")[2, ]) / pmax(sd, 1e-12)), 4.5 / sqrt(1200))
    expect_equal(apply(drawn, 2, sd), sd, tolerance = 0.08, ignore_attr = TRUE)
  })
}

test_that("autoregressions are iterated: moments are those of simulated paths", {
  for (obs in list(obs_ar(), obs_ar(lag = 2, intercept = TRUE))) {
    fit <- fit_of(cases$ar, obs)
    x <- cases$ar$x[1:120, ]
    ahead <- predict(fit, x, n.ahead = 3)
    p <- transition_matrix(fit)
    coefs <- coef(fit)
    set.seed(2)
    n <- 20000
    state <- sample(fit$state$k, n, replace = TRUE, prob = columns(ahead, "prob")[1, ])
    past <- lapply(0:1, function(l) matrix(x[120 - l, ], n, 2, byrow = TRUE))
    for (h in 1:3) {
      new <- past[[1]]
      z <- cbind(past[[1]], if (obs$lag == 2) cbind(past[[2]], 1))
      for (k in unique(state)) {
        at <- which(state == k)
        noise <- matrix(rnorm(2 * length(at)), ncol = 2) %*% chol(coefs$cov[, , k])
        new[at, ] <- z[at, , drop = FALSE] %*% t(coefs$coef[, , k]) + noise
      }
      sd <- columns(ahead, "sd")[h, ]
      expect_lt(max(abs(colMeans(new) - columns(ahead, "mean")[h, ]) / sd), 4.5 / sqrt(n))
      expect_equal(apply(new, 2, stats::sd), sd, tolerance = 0.04, ignore_attr = TRUE)
      past <- list(new, past[[1]])
      state <- 1L + rowSums(runif(n) > t(apply(p / rowSums(p), 1, cumsum))[state, -nrow(p), drop = FALSE])
    }
  }
})

test_that("a planted autoregression is forecast, far from 0 too", {
  set.seed(1)
  x <- as.numeric(arima.sim(list(ar = 0.8), 3000))
  for (shift in c(0, 1e7)) {
    fit <- suppressWarnings(bnp_hmm(
      x + shift, obs = obs_ar(1, intercept = TRUE), prior = prior_hmm(1),
      control = bnp_control(seed = 1, verbose = FALSE)
    ))
    ahead <- predict(fit, x + shift, n.ahead = 40)
    expect_equal(ahead$mean.x[1] - shift, 0.8 * x[3000], tolerance = 0.1)
    expect_equal(ahead$sd.x[c(1, 40)], c(1, 1 / 0.6), tolerance = 0.06)
  }
})

test_that("times go on where they are regular, and other input is refused", {
  fit <- bnp_hmm(Nile, control = few)
  expect_equal(predict(fit, Nile, n.ahead = 2)$time, c(1971, 1972))
  expect_null(predict(fit, as.numeric(Nile), n.ahead = 2)$time)
  skip_if_not_installed("zoo")
  days <- zoo::zoo(as.numeric(Nile), as.Date("2020-01-01") + seq_along(Nile))
  expect_equal(predict(fit, days, n.ahead = 1)$time, as.Date("2020-01-01") + 101)
  expect_null(predict(fit, days[-50], n.ahead = 1)$time)
  expect_bad(predict(fit, n.ahead = 2), "newdata", "newdata")
  expect_bad(predict(fit, Nile, n.ahead = 0), "argument", "n.ahead")
  expect_bad(predict(fit, Nile, type = "prob", n.ahead = 1), "argument", "type")
  expect_bad(bnp_hmm(Nile, transition = ~temp), "argument", "prior_covariates")
  expect_bad(bnp_hmm(Nile, covariates = 1), "covariates", "prior_covariates")
})

test_that("sparse rows and rows with exposures are forecast like any", {
  x <- cases$multinomial$x
  fit <- fit_of(cases$multinomial)
  expect_equal(predict(fit, Matrix::Matrix(x, sparse = TRUE), n.ahead = 2), predict(fit, x, n.ahead = 2))
  hours <- cbind(events = rep(c(20, 2), each = 50), hours = 2)
  exposed <- suppressWarnings(bnp_hmm(
    hours, obs = obs_poisson(exposure = "hours"), prior = prior_hmm(2),
    control = bnp_control(seed = 1, verbose = FALSE)
  ))
  expect_equal(predict(exposed, hours, n.ahead = 1)$mean.events, 2, tolerance = 0.3)
})

test_that("durations can be drawn, and print as they did", {
  withr::local_pdf(NULL)
  fit <- fit_of(cases$gaussian_full)
  d <- state_durations(fit)
  expect_equal(as.double(d), 1 / (1 - diag(transition_matrix(fit))), ignore_attr = TRUE)
  expect_identical(capture.output(print(d)), capture.output(print(unclass(d))))
  expect_silent(plot(d))
  never <- structure(c(`1` = 1, `2` = Inf, `3` = 1e9), class = class(d))
  expect_silent(plot(never))
  picture <- durations_picture(never)
  expect_equal(picture$low[-2], c(1, 1 + qgeom(0.05, 1e-9)))
  expect_equal(is.na(picture$high), c(FALSE, TRUE, FALSE))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(never), "ggplot")
  expect_silent(print(ggplot2::autoplot(d)))
})

test_that("pictures of forecasts show means, standard deviations and the rows before", {
  x <- cases$gaussian_full$x
  colnames(x) <- c("u", "v")
  id <- rep(c("p", "q"), c(100, 140))
  fit <- fit_of(cases$gaussian_full, id = id)
  fit$input$column_names <- colnames(x)
  ahead <- predict(fit, x, id = id, n.ahead = 3)
  picture <- forecast_picture(ahead, NULL)
  expect_equal(levels(picture$ahead$panel), c("p, u", "p, v", "q, u", "q, v"))
  last <- picture$ahead[picture$ahead$panel == "q, v", ]
  expect_equal(last$at, 141:143)
  expect_equal(last$mean, ahead$mean.v[4:6])
  expect_equal(last$high - last$low, 2 * ahead$sd.v[4:6])
  before <- picture$before[picture$before$panel == "q, v", ]
  expect_equal(before$at, 121:140)
  expect_equal(before$value, unname(x[221:240, "v"]))
  states <- states_ahead_picture(ahead)
  p <- states$ahead[states$ahead$panel == "p" & states$ahead$state == 1, ]
  expect_equal(p$top - p$bottom, ahead$prob.1[1:3])
  expect_equal(max(states$ahead$top), 1)
  # Of a subset that keeps no attribute, steps are all that is known.
  part <- structure(as.data.frame(ahead)[1:3, ], class = class(ahead), before = NULL)
  expect_equal(forecast_picture(part, "u")$ahead$at, 1:3)
  expect_equal(forecast_picture(part, "u")$axis, "Step")
  expect_bad(plot(ahead, columns = "w"), "argument", "columns")
  expect_bad(plot(ahead, "clusters"), "argument", "type")
  expect_bad(plot(ahead[, 1:3]), "argument", "missing")
})

test_that("forecasts are drawn with times, without series, of one step, and where deviations are infinite", {
  withr::local_pdf(NULL)
  series <- stats::ts(cases$ar$x[, 1], start = c(2001, 1), frequency = 12)
  timed <- predict(fit_of(list(x = series), obs_ar()), series, n.ahead = 1)
  picture <- forecast_picture(timed, NULL)
  expect_equal(picture$axis, "Time")
  expect_equal(picture$ahead$at, 2001 + 300 / 12)
  expect_equal(picture$ahead$right - picture$ahead$left, 1 / 12)
  counts <- predict(fit_of(cases$multinomial), cases$multinomial$x, n.ahead = 4)
  expect_null(forecast_picture(counts, NULL)$before)
  expect_equal(forecast_picture(counts, "x2")$ahead$at, 201:204)
  unknown <- timed
  unknown$sd.x <- Inf
  tables <- list(timed, counts, unknown)
  if (requireNamespace("zoo", quietly = TRUE)) {
    days <- zoo::zoo(as.numeric(series), as.Date("2020-01-01") + seq_along(series))
    dated <- predict(fit_of(list(x = days), obs_ar()), days, n.ahead = 5)
    expect_equal(forecast_picture(dated, NULL)$ahead$at, as.Date("2020-01-01") + 300 + 1:5)
    tables <- c(tables, list(dated))
  }
  for (table in some_of(tables, by = 2)) {
    for (type in c("values", "states")) {
      expect_silent(plot(table, type))
      if (requireNamespace("ggplot2", quietly = TRUE)) expect_silent(print(ggplot2::autoplot(table, type)))
    }
  }
})

test_that("a state that may come and has no moments makes them infinite, and one that cannot come does not", {
  expect_equal(mean_over_states(rbind(c(1, 0), c(0.5, 0.5)), rbind(c(2, 3), c(Inf, 5))), rbind(c(2, 3), c(Inf, 4)))
  x <- withr::with_seed(1, rexp(40, rep(c(1, 50), each = 20)))
  fit <- bnp_hmm(
    x, obs = obs_gamma(1, a = 0.5), prior = prior_hmm(2), start = rep(1L, 40),
    control = bnp_control(seed = 1, max_laps = 1, moves = FALSE, verbose = FALSE)
  ) |> suppressWarnings()
  q <- posterior_params(fit)
  expect_lt(min(q$a), 1)
  ahead <- predict(fit, x, n.ahead = 1)
  expect_identical(ahead$mean.x, Inf)
  expect_identical(ahead$sd.x, Inf)
  of_states <- moments_of_states(fit, list(rbind(c(1, 0), c(0.5, 0.5))))
  expect_equal(of_states$mean[[1]], cbind(c(q$b[1] / (q$a[1] - 1), Inf)))
  expect_identical(is.finite(of_states$var[[1]]), cbind(c(TRUE, FALSE)))
})

test_that("a single number after the fit is said to be a new sequence", {
  fit <- bnp_hmm(as.numeric(Nile), control = bnp_control(seed = 1, keep_data = TRUE))
  expect_message(one <- forecast(fit, 3), "`h = 3` is the number of rows to forecast", fixed = TRUE)
  expect_identical(nrow(one), 1L)
  expect_no_message(forecast(fit, h = 3))
  expect_no_message(forecast(fit, 900, h = 2))
  expect_no_message(forecast(fit, c(900, 800)))
})
