# The engine refuses lists whose sizes contradict each other: no entry may read past an array, whatever R hands it.
fit <- bnp_mixture(faithful, prior = prior_dirichlet(2), control = bnp_control(seed = 1))
data <- engine_data(unname(as.matrix(faithful)))
control <- resolve_control(bnp_control(seed = 1), fit$model$obs, fit$model$prior, 272, 272, NULL)
ask <- function(data, model = fit$model, state = fit$state) engine_responsibilities(data, model, state, 1L)
change <- function(.list, ...) utils::modifyList(.list, list(...))
refused <- function(expr, what) expect_error(expr, paste0("internal error: .*", what))

test_that("data of inconsistent sizes are refused", {
  refused(ask(change(data, n = 273L)), "data\\$x")
  refused(ask(change(data, d = 3L)), "data\\$x")
  refused(ask(change(data, n = -1L)), "negative")
  refused(ask(change(data, x = matrix(1:544, 272))), "type")
  for (starts in list(c(0L, 300L), c(0L, 200L), c(1L, 272L), c(0L, 200L, 100L, 272L), 0L, integer())) {
    refused(ask(change(data, starts = starts)), "data\\$starts")
  }
  one <- change(data, x = data$x[, 1, drop = FALSE], d = 1L)
  refused(ask(one), "1 columns, the model 2")
  refused(engine_fit(one, fit$model, control, NULL, NULL), "1 columns, the model 2")
  refused(engine_kmeans(one, fit$model$obs, 2L, 1L, TRUE, 1), "1 columns, the model 2")
  refused(engine_elbo_of(one, fit$model, matrix(1, 272, 1)), "1 columns, the model 2")
  refused(engine_elbo_of(data, fit$model, matrix(1, 271, 1)), "n rows")
})

test_that("sparse data of inconsistent sizes are refused", {
  x <- matrix(c(1, 0, 2, 0, 3, 1), 3)
  counts <- sparse_engine_data(x)
  model <- list(
    obs = list(family = "multinomial", term_prior = c(1, 1)), prior = list(family = "dp", concentration = 1)
  )
  state <- engine_fit(counts, model, control, NULL, NULL)$state
  expect_equal(dim(ask(counts, model, state)), c(3, state$k))
  for (column in list(c(0L, 1L, 0L, 2L), c(0L, 1L, -1L, 1L)))
    refused(ask(change(counts, column = column), model, state), "column")
  for (row_start in list(c(0L, 1L, 2L), c(0L, 2L, 1L, 4L), c(0L, 1L, 2L, 5L), c(1L, 1L, 2L, 4L))) {
    refused(ask(change(counts, row_start = row_start), model, state), "row_start")
  }
  refused(ask(change(counts, value = c(1, 1)), model, state), "row_start")
  phi <- matrix(0.5, 2, 2)
  refused(engine_collapsed_proportions(counts, phi, c(1, 1, 1), 1L), "phi")
  refused(engine_collapsed_proportions(counts, matrix(1 / 3, 2, 3), c(1, 1), 1L), "phi")
  refused(engine_predictive_probabilities(counts, counts, matrix(1, 2, 3), c(1, 1), 1L), "concentration")
  fewer <- sparse_engine_data(x[1:2, ])
  refused(engine_predictive_probabilities(counts, fewer, phi, c(1, 1), 1L), "same documents")
})

test_that("models and states of inconsistent sizes are refused", {
  with_obs <- function(...) list(obs = change(fit$model$obs, ...), prior = fit$model$prior)
  for (field in c("mean", "centre", "unit")) {
    refused(ask(data, do.call(with_obs, stats::setNames(list(c(0, 0, 1)), field))), "numbers, not")
  }
  refused(ask(data, with_obs(scale = c(1, 1))), "scale")
  state <- fit$state
  refused(ask(data, state = change(state, k = 3L)), "number of clusters")
  free <- list(obs = fit$model$obs, prior = list(family = "dp", concentration = 1))
  refused(ask(data, free, change(state, k = 3L)), "state\\$obs")
  refused(ask(data, free, change(state, obs = t(state$obs))), "state\\$obs")
  refused(ask(data, free, change(state, scalar = c(0, 0))), "scalar")
  refused(ask(data, free, change(state, u = 0.5, omega = 2)), "u or omega")
  sticks <- list(obs = fit$model$obs, prior = list(family = "hdp_hmm", gamma = 1, alpha = 1, start = 1, sticky = 0))
  chain <- change(state, extra = matrix(0, 2, 1), pair = matrix(0, 2, 2))
  refused(ask(data, sticks, chain), "u or omega")
  refused(ask(data, sticks, change(chain, pair = matrix(0, 2, 1))), "state\\$pair")
})

test_that("starts of inconsistent sizes are refused", {
  run <- function(start) engine_fit(data, fit$model, control, start, NULL)
  refused(run(list(labels = rep(1L, 271), k = 2L)), "labels")
  refused(run(list(labels = rep(3L, 272), k = 2L)), "labels")
  refused(run(list(labels = rep(NA_integer_, 272), k = 2L)), "labels")
  refused(run(list(labels = rep(1L, 272), k = 1L)), "number of clusters")
  refused(run(list(resp = matrix(1, 271, 2))), "resp")
  refused(run(list(resp = matrix(1, 272, 1))), "resp")
  refused(run(list(state = change(fit$state, k = 1L))), "number of clusters")
})
