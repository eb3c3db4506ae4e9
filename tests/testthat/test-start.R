# Starts from an earlier fit: its clusters, whatever units, priors and numbers of clusters the two fits have.

test_that("statistics re-expressed in another centre and unit are those of the data", {
  withr::local_seed(1)
  for (case in some_of(model_cases(), by = 5)) {
    obs <- case$model$obs
    if (is.null(obs$unit)) next
    d <- length(obs$unit)
    other <- obs
    other$unit <- obs$unit * 2^if (grepl("spherical", case$name)) 3 else rep_len(c(-3, 2, 5), d)
    if (!is.null(obs$centre) && any(obs$centre != 0)) other$centre <- obs$centre + rep_len(c(0.7, -3, 12), d)
    rows <- sum(pmax(diff(case$data$starts) - (obs$lag %||% 0L), 0L))
    resp <- matrix(runif(3 * rows), rows)
    statistic <- function(obs) engine_contract(case$data, list(obs = obs, prior = case$model$prior), resp)$statistic
    expect_equal(engine_re_express(obs, other, statistic(obs)), statistic(other), tolerance = 1e-13, label = case$name)
    expect_equal(engine_re_express(other, obs, statistic(other)), statistic(obs), tolerance = 1e-13)
    expect_identical(engine_re_express(obs, obs, statistic(obs)), statistic(obs))
  }
})

# A fit as if it had been made in another centre and unit.
in_other_units <- function(fit) {
  obs <- fit$model$obs
  different <- !grepl("spherical", obs$family)
  fit$model$obs$unit <- obs$unit * 2^((-1)^(different * seq_along(obs$unit)) * 3)
  if (!is.null(obs$centre) && (obs$family != "ar" || obs$intercept)) fit$model$obs$centre <- obs$centre + 5 * obs$unit
  fit$state$obs <- engine_re_express(obs, fit$model$obs, fit$state$obs)
  fit
}

test_that("a fit starts where another ended, whatever centre and unit it had", {
  control <- bnp_control(seed = 1, max_laps = 2, moves = FALSE)
  models <- list(
    obs_gaussian(), obs_gaussian("diagonal"), obs_gaussian("zero_mean"), obs_ar(), obs_ar(2, intercept = TRUE)
  )
  for (obs in models) {
    for (fit in list(
      bnp_mixture(faithful, obs, control = bnp_control(seed = 1)),
      bnp_hmm(faithful, obs = obs, control = bnp_control(seed = 1, max_laps = 10)),
      if (obs$family != "ar")
        bnp_topics(faithful, obs, id = rep(1:34, 8), control = bnp_control(seed = 1, max_laps = 10))
    )) {
      if (is.null(fit)) next
      same <- stats::update(fit, start = fit, control = control)
      other <- stats::update(fit, start = in_other_units(fit), control = control)
      expect_equal(other$elbo, same$elbo, tolerance = 1e-9)
      expect_equal(elbo_trace(other)$elbo, elbo_trace(same)$elbo, tolerance = 1e-9)
      expect_gt(same$elbo, fit$elbo - 1e-6 * abs(fit$elbo))
    }
  }
})

test_that("the first visit of other data goes by the clusters of the fit", {
  control <- bnp_control(seed = 1, max_laps = 1, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE))
  for (covariance in c("full", "diagonal")) {
    obs <- obs_gaussian(covariance, mean = c(3, 70), mean_strength = 0.1, df = 5, scale = c(0.2, 50))
    fit <- bnp_mixture(faithful, obs, control = bnp_control(seed = 1))
    others <- list(
      more = rbind(faithful, data.frame(eruptions = 30 + 1:400, waiting = -500 * (1:400))), moved = faithful * 1000 + 5,
      few = faithful[1:3, ]
    )
    for (y in others) {
      resp <- engine_responsibilities(as_engine_data(as_newdata(fit, y)), fit$model, fit$state, 1L)
      first <- bnp_mixture(y, obs, start = fit, control = control)
      expected <- engine_elbo_of(as_engine_data(as_newdata(fit, y)), first$model, resp)
      expect_equal(first$elbo, sum(expected), tolerance = 1e-8)
    }
  }
})

test_that("a fit with fewer clusters than a finite prior starts it with empty ones, one with more does not", {
  counts <- toy_corpus()
  control <- bnp_control(seed = 1, max_laps = 5)
  chain <- beaver1["temp"]
  fits <- list(
    function(k, ...) bnp_topics(counts, prior = prior_lda(k), control = control, ...),
    function(k, ...) bnp_mixture(faithful, prior = prior_dirichlet(k), control = control, ...),
    function(k, ...) bnp_hmm(chain, prior = prior_hmm(k), control = control, ...)
  )
  for (fit in fits) {
    five <- fit(5)
    ten <- fit(10, start = five)
    expect_equal(ten$state$k, 10)
    expect_true(all(is.finite(elbo_trace(ten)$elbo)))
    expect_true(all(diff(elbo_trace(ten)$elbo) > -1e-8 * abs(ten$elbo)))
    expect_lt(abs(ten$elbo - five$elbo), 0.1 * abs(five$elbo) + 50)
    expect_bad(fit(3, start = five), "start", "5 clusters, the finite prior 3")
  }
})

test_that("a fit with another lag or intercept is refused", {
  x <- as.matrix(faithful)
  control <- bnp_control(seed = 1, max_laps = 3)
  for (fit in list(bnp_mixture, bnp_hmm)) {
    one <- fit(x, obs = obs_ar(1), control = control)
    expect_bad(fit(x, obs = obs_ar(2), control = control, start = one), "start", "lag 1 and no intercept")
    expect_bad(fit(x, obs = obs_ar(1, intercept = TRUE), control = control, start = one), "start", "intercept")
    expect_no_error(fit(x, obs = obs_ar(1, df = 9), control = control, start = one))
  }
})

test_that("a fit of other columns, or in another order, is refused", {
  control <- bnp_control(seed = 1, max_laps = 3)
  fit <- bnp_mixture(faithful, control = control)
  expect_bad(bnp_mixture(faithful[2:1], start = fit, control = control), "start", "order of")
  renamed <- stats::setNames(faithful, c("eruptions", "rest"))
  expect_bad(bnp_mixture(renamed, start = fit, control = control), "start", "\"rest\".*1 column")
  expect_no_error(bnp_mixture(unname(as.matrix(faithful)), start = fit, control = control))
  expect_bad(bnp_mixture(faithful[1], start = fit, control = control), "start", "2 columns")
  counts <- toy_corpus()
  for (term_prior in list(0.1, NULL)) {
    topics <- bnp_topics(counts, obs_multinomial(term_prior), control = control)
    expect_bad(
      bnp_topics(counts[, 12:1], obs_multinomial(term_prior), start = topics, control = control), "start", "order"
    )
    other <- counts
    colnames(other)[12] <- "t99"
    expect_bad(bnp_topics(other, obs_multinomial(term_prior), start = topics, control = control), "start", "t99")
    expect_no_error(bnp_topics(counts, obs_multinomial(NULL), start = topics, control = control))
  }
})

test_that("a start that does not fit says to what", {
  three <- list(a = rnorm(14), b = rnorm(14), c = rnorm(14)) # a list of sequences: 42 rows
  quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
  fit <- function(x, start, ...) bnp_hmm(x, start = start, control = quiet(max_laps = 3), ...)
  for (obs in list(NULL, obs_lds(), obs_gaussian("diagonal"))) {
    expect_bad(fit(three, rep(1:2, 7), obs = obs), "start", "observation of `x` \\(42\\)")
    expect_bad(fit(three, matrix(0.5, 14, 2), obs = obs), "start", "observation of `x` \\(42\\)")
  }
  of_two <- suppressWarnings(fit(as.matrix(faithful), NULL))
  expect_bad(fit(three, of_two), "start", "columns as `x`")
  expect_bad(fit(three, of_two, obs = obs_lds()), "start", "columns as `x`")
  expect_bad(bnp_mixture(faithful, start = 1:3, control = quiet()), "start", "observation of `x` \\(272\\)")
  expect_bad(bnp_mixture(~eruptions, faithful, start = 1:3, control = quiet()), "start", "of `x` \\(272\\)")
  expect_bad(bnp_features(attitude, start = matrix(1, 3, 2), control = quiet()), "start", "observation of `x` \\(30\\)")
})
