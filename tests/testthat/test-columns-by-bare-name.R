# `id = g`, `time = t` and `weights = w` beside new data are columns of these, as `~ g` and "g" are, in every verb.

quick <- bnp_control(seed = 1, verbose = FALSE, max_laps = 20)
rows <- withr::with_seed(1, data.frame(
  g = rep(c("a", "b", "c", "d"), each = 6), y = rnorm(24) + rep(c(0, 6), each = 12), w = rep(1:2, 12), t = rep(1:3, 8)
))
values <- as.matrix(rows["y"])
repeated <- bnp_mixture(values, id = rows$g, control = quick)
regression <- bnp_mixture(y ~ w, rows, id = rows$g, control = quick)
weighted <- bnp_mixture(values, weights = rows$w, control = quick)
chains <- bnp_hmm(values, id = rows$g, control = quick)
linear <- bnp_hmm(values, id = rows$g, obs = obs_lds(), prior = prior_hmm(1), control = quick)
documents <- bnp_topics(values, obs_gaussian(), id = rows$g, control = quick)
drifting <- bnp_mixture(values, obs_gaussian(drift = 0.5), prior_dp(), time = rows$t, control = quick)
drawn <- bnp_sample(repeated, values, id = rows$g, draws = 20, chains = 1, seed = 1)
system <- lds_model(A = 1, Q = 1, C = 1, R = 1, start_mean = 0, start_var = 1)
walk <- particle_model(
  function(n) rnorm(n), function(x) x + rnorm(length(x)), function(y, x) dnorm(y, x, log = TRUE)
)

# Of each verb a call in which `given` stands for how a column is named.
calls <- list(
  predict = quote(predict(repeated, data, id = given)),
  prob = quote(predict(repeated, data, type = "prob", id = given)),
  cluster = quote(predict(repeated, data, type = "cluster", id = given)),
  identity = quote(predict(repeated, data, type = "id", id = given)),
  impute_type = quote(predict(repeated, data, type = "impute", id = given)),
  heldout = quote(heldout_loglik(repeated, data, id = given)),
  augment = quote(augment(repeated, data, id = given)),
  residuals = quote(residuals(regression, data, id = given)),
  impute = quote(impute(repeated, data, 1, seed = 1, id = given)),
  coclustering = quote(coclustering(repeated, data, id = given)),
  tree = quote(cluster_tree(repeated, data, id = given)$height),
  cut = quote(cut_fit(repeated, data, k = 1, id = given)$elbo),
  compare = quote(compare_fits(repeated, newdata = data, id = given)$heldout),
  sample = quote(bnp_sample(repeated, data, id = given, draws = 5, chains = 1, seed = 1)$trace),
  check = quote(check_fit(repeated, data, id = given, draws = 5, chains = 1, seed = 1)$agreement),
  more_draws = quote(update(drawn, data, 5, id = given)$trace),
  of_draws = quote(predict(drawn, data, data, id = given, new_id = given)),
  update = quote(update(repeated, newer, id = given)$elbo),
  states = quote(predict(chains, data, id = given)),
  states_cluster = quote(predict(chains, data, id = given, type = "cluster")),
  states_id = quote(predict(chains, data, id = given, type = "id")),
  states_heldout = quote(heldout_loglik(chains, data, id = given)),
  states_augment = quote(augment(chains, data, id = given)),
  states_residuals = quote(residuals(chains, data, id = given)),
  states_impute = quote(impute(chains, data, 1, seed = 1, id = given)),
  states_coclustering = quote(coclustering(chains, data, id = given)),
  segments = quote(segments(chains, data, id = given)),
  forecast = quote(forecast(chains, data, 2, id = given)),
  ahead = quote(predict(chains, data, n.ahead = 2, id = given)),
  states_tree = quote(cluster_tree(chains, data, id = given)$height),
  states_cut = quote(cut_fit(chains, data, k = 1, id = given)$elbo),
  states_update = quote(update(chains, newer, id = given)$elbo),
  picture = quote(plot(chains, data = data, id = given)$elbo),
  latent = quote(latent_path(linear, data, id = given)),
  filter = quote(as.data.frame(bnp_filter(chains, data, id = given))),
  filter_linear = quote(as.data.frame(bnp_filter(linear, data, id = given, seed = 1))),
  filter_system = quote(as.data.frame(bnp_filter(system, data[columns], id = given, seed = 1))),
  filter_systems = quote(as.data.frame(bnp_filter(list(system, system), data[columns], id = given, seed = 1))),
  filter_functions = quote(as.data.frame(bnp_filter(walk, data[columns], id = given, seed = 1))),
  filter_update = quote(as.data.frame(update(bnp_filter(chains), data, id = given))),
  filter_augment = quote(augment(bnp_filter(chains, data, id = data$g), data, id = given)),
  topics = quote(predict(documents, data, id = given)),
  topics_cluster = quote(predict(documents, data, id = given, type = "cluster")),
  topics_augment = quote(augment(documents, data, id = given)),
  topics_tree = quote(cluster_tree(documents, data, id = given)$height),
  topics_cut = quote(cut_fit(documents, data, k = 1, id = given)$elbo),
  topics_update = quote(update(documents, newer, id = given)$elbo),
  times = quote(predict(drifting, data, time = given)),
  times_prob = quote(predict(drifting, data, time = given, type = "cluster")),
  times_heldout = quote(heldout_loglik(drifting, data, time = given)),
  times_augment = quote(augment(drifting, data, time = given)),
  times_update = quote(update(drifting, newer, time = given)$elbo),
  weights_update = quote(update(weighted, data, weights = given)$elbo)
)

newer_of <- function(data) transform(data, g = paste("new", g), t = t + 3)
name_in <- function(call) {
  words <- deparse1(call)
  if (grepl("time =", words)) "t" else if (grepl("weights =", words)) "w" else "g"
}
vector_in <- function(call) (if ("newer" %in% all.vars(call)) newer_of(rows) else rows)[[name_in(call)]]

# The value of a call with `given` in place of that word, where variables of the same names hold something else; without
# what only `data` brings.
value_of <- function(call, given, data = rows) {
  columns <- c(if (length(given) == 1L || is.call(given)) "g", "y")
  here <- list2env(list(data = data, newer = newer_of(data), g = 1, t = "none", w = mean), parent = environment())
  call <- do.call(substitute, list(call, list(given = given)))
  withr::local_pdf(NULL)
  out <- suppressMessages(suppressWarnings(eval(call, here)))
  if (inherits(out, "bnp_imputations")) out <- out[[1L]]
  brings <- is.data.frame(out) && all(names(data) %in% names(out))
  if (brings) as.data.frame(out)[c("y", setdiff(names(out), names(data)))] else out
}

test_that("a bare name is a column of new data in every verb, whatever is called so elsewhere", {
  for (case in names(calls)) {
    call <- calls[[case]]
    expected <- value_of(call, vector_in(call))
    expect_true(length(expected) > 0L, label = case)
    ways <- list(as.name(name_in(call)), name_in(call), call("~", as.name(name_in(call))))
    for (given in some_of(ways, by = 3, from = match(case, names(calls)) %% 3 + 1)) {
      expect_equal(value_of(call, given), expected, label = paste(case, deparse1(given)))
    }
  }
})

test_that("columns called as arguments are within the package are no values of these", {
  more <- rows
  more[c("id", "time", "weights", "new_id", "newdata", "x", "object", "fit", "type", "call", "write")] <- rev(rows$g)
  for (case in names(calls)) {
    call <- calls[[case]]
    expect_equal(value_of(call, vector_in(call), more), value_of(call, vector_in(call)), label = case)
  }
})

test_that("so it is beside the data of a fit, without a formula too", {
  by_name <- function(call) {
    here <- list2env(list(g = 1, t = "none", w = mean, from = NULL), parent = environment())
    shown <- function(fit) fit$elbo %||% fit$trace %||% fit$labels
    shown(suppressMessages(eval(call, here)))
  }
  fits <- list(
    quote(bnp_mixture(rows[c("g", "y")], id = given, control = quick)),
    quote(bnp_mixture(~ y, rows, id = given, control = quick)),
    quote(bnp_mixture(rows[c("w", "y")], weights = given, control = quick)),
    quote(bnp_mixture(as.matrix(rows[c("w", "y")]), weights = given, control = quick)),
    quote(bnp_mixture(rows[c("t", "y")], obs_gaussian(drift = 0.5), time = given, control = quick)),
    quote(bnp_hmm(rows[c("g", "y")], id = given, control = quick)),
    quote(bnp_topics(rows[c("g", "y")], obs_gaussian(), id = given, control = quick)),
    quote(bnp_sample(rows[c("g", "y")], id = given, draws = 5, chains = 1, seed = 1)),
    quote(bnp_sample(~ y, data = rows, id = given, draws = 5, chains = 1, seed = 1)),
    quote(bnp_dynamic_means(rows[c("t", "y")], time = given, lambda = 4))
  )
  for (call in fits) {
    name <- if (grepl("weights =", deparse1(call))) "w" else if (grepl("time =", deparse1(call))) "t" else "g"
    with <- function(given) by_name(do.call(substitute, list(call, list(given = given))))
    expect_equal(with(as.name(name)), with(name), label = deparse1(call))
  }
  edges <- data.frame(from = c(1, 2, 3, 1), to = c(2, 3, 4, 4), w = c(1, 2, 3, 1))
  learn <- function(...) suppressMessages(bnp_network(edges, control = quick, ...))
  expect_equal(learn(weights = w)$elbo, learn(weights = "w")$elbo)
  split <- function(...) suppressMessages(split_links(edges, 0.5, seed = 1, ...))
  expect_equal(split(weights = w), split(weights = "w"))
})

test_that("the columns of a source go by bare names, too", {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(rows[c("g", "y")], file, row.names = FALSE)
  source <- source_files(file)
  fit <- bnp_hmm(source, id = g, control = quick)
  expect_equal(fit$elbo, bnp_hmm(source, id = "g", control = quick)$elbo)
  expect_equal(predict(chains, source, id = g), predict(chains, source, id = "g"))
  expect_equal(heldout_loglik(chains, source, id = g), heldout_loglik(chains, source, id = "g"))
  topics <- bnp_topics(source, obs_gaussian(), id = g, control = quick)
  expect_equal(predict(topics, source, id = g), predict(topics, source, id = "g"))
})

test_that("a name that is nowhere is an error that says what it may be", {
  expect_bad(predict(chains, rows, id = nowhere), "id", "newdata")
  expect_bad(augment(repeated, rows, id = nowhere), "id", "data")
  expect_bad(predict(drifting, rows, time = nowhere), "time", "newdata")
  expect_bad(update(weighted, rows, weights = nowhere), "weights", "newdata")
  expect_bad(bnp_mixture(values, weights = nowhere), "weights", "x")
  expect_bad(bnp_filter(chains, rows, id = nowhere), "id", "newdata")
})

test_that("new rows of a fit with weights count once where none are given, which is said", {
  expect_message(once <- update(weighted, values), class = "bnpvi_message_weights")
  expect_no_message(given <- update(weighted, values, weights = rep(1, 24)), class = "bnpvi_message_weights")
  expect_equal(once$elbo, given$elbo)
  weighted_chains <- bnp_hmm(values, id = rows$g, weights = 1:4, control = quick)
  expect_message(update(weighted_chains, values, id = newer_of(rows)$g), class = "bnpvi_message_weights")
})
