# bnp_sample() of sequences, and what reads its draws.

few <- bnp_control(seed = 1, max_laps = 30, verbose = FALSE)
series <- withr::with_seed(3, {
  state <- rep(rep(1:3, 4), times = rep(c(20, 15, 10), 4))
  list(state = state, x = cbind(level = c(0, 6, 12)[state] + rnorm(180)), id = rep(c("a", "b"), each = 90))
})
prior <- prior_hdp_hmm(sticky = 5)
fit <- suppressWarnings(bnp_hmm(series$x, series$id, prior = prior, control = few))
some <- function(x = fit, ..., draws = 40, seed = 1) bnp_sample(x, ..., draws = draws, seed = seed, verbose = FALSE)
drawn <- some(data = series$x, id = series$id)

test_that("draws of sequences have the sizes asked for, and agree with the fit where it is sure", {
  expect_s3_class(drawn, "bnp_draws")
  expect_identical(dim(drawn$trace), c(40L, 4L, 8L))
  expect_identical(
    dimnames(drawn$trace)[[3L]],
    c("n_clusters", "gamma", "alpha", "start", "sticky", "log_joint", "largest", "entropy")
  )
  expect_identical(dim(drawn$labels), c(180L, 160L))
  expect_gt(adjusted_rand_index(point_partition(drawn), series$state), 0.95)
  expect_identical(names(point_partition(drawn)), names(fitted(fit)))
  expect_gt(n_clusters(drawn, min_size = 20)[["3"]], 0.9)
  expect_output(print(drawn), "hidden Markov model.*States, chains begun without it.*The fit has 3")
  expect_setequal(suppressWarnings(summary(drawn))$table$term, c("n_clusters", "log_joint", "largest", "entropy"))
  expect_named(suppressWarnings(tidy(drawn))[1:2], c("term", "estimate"))
  expect_equal(nrow(as.data.frame(drawn)), 160L)
  together <- coclustering(drawn, rows = c(1, 5, 21))
  expect_equal(unname(together[1, 2]), mean(drawn$labels[1, ] == drawn$labels[5, ]))
})

test_that("half of the chains begin with paths of the fit, half without it", {
  data <- training_data(fit, series$x, series$id)
  states <- first_states(fit, data, drawn$model, drawn$options)
  alone <- engine_draw_in_sequence(
    as_engine_data(data), drawn$model, c(2, 4), starting_concentration(prior), drawn$options$seed, 1L
  )
  for (i in 1:2) {
    z <- alone$labels[[i]]
    expect_identical(states[[2L * i]]$labels, match(z, unique(z)))
    expect_identical(states[[2L * i]]$weights, alone$weights[[i]][c(unique(z), max(z) + 1L)])
    expect_gt(adjusted_rand_index(states[[2L * i - 1L]]$labels, fitted(fit)), 0.95)
    expect_length(states[[2L * i - 1L]]$weights, 0L)
  }
})

test_that("more draws of sequences are those asked for at once, by any number of threads", {
  more <- update(some(data = series$x, id = series$id, draws = 15, warmup = 20), series$x, draws = 25, id = series$id)
  expect_identical(more$trace, drawn$trace)
  in_order <- function(x) x$labels[, order(x$kept$chain, x$kept$draw)]
  expect_identical(in_order(more), in_order(drawn))
  expect_identical(some(data = series$x, id = series$id, threads = 2)[c("trace", "labels")],
    drawn[c("trace", "labels")])
})

test_that("learned concentrations of sequences are sampled, given ones stay", {
  learned <- some(series$x, id = series$id, prior = prior_hdp_hmm(
    gamma = gamma_prior(2, 1), alpha = gamma_prior(2, 1), sticky = gamma_prior(2, 0.2)
  ))
  spread <- apply(learned$trace, 3L, stats::sd)
  expect_true(all(spread[c("gamma", "alpha", "sticky")] > 0))
  expect_true(all(learned$trace[, , "start"] == 10))
  expect_true(all(c("gamma", "alpha", "sticky") %in% suppressWarnings(summary(learned))$table$term))
  finite <- some(series$x, id = series$id, prior = prior_hmm(4, alpha = gamma_prior(2, 1)))
  expect_lte(max(finite$trace[, , "n_clusters"]), 4)
  expect_gt(stats::sd(finite$trace[, , "alpha"]), 0)
  expect_false("gamma" %in% dimnames(finite$trace)[[3L]])
})

test_that("pictures of draws of sequences are drawn, and a fit is checked against them", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("trace", "k", "coclustering", "partition")) expect_invisible(plot(drawn, type))
  short <- suppressWarnings(bnp_hmm(series$x[1:45, , drop = FALSE], prior = prior, control = few))
  checked <- check_fit(short, series$x[1:45, , drop = FALSE], draws = 60, seed = 1, verbose = FALSE)
  expect_invisible(plot(checked))
  expect_output(print(checked), "The fit has . states.*log probability of the data")
  expect_gt(checked$evidence[["estimate"]] + 4 * checked$evidence[["se"]], elbo(short))
})

for (case in some_of(without_scales(planted_cases()), by = 11, from = 3)) { # rows with scales have no sampler
  test_that(paste0(case$name, ": planted states are drawn"), {
    order <- order(case$cluster)
    x <- case$x[order, , drop = FALSE]
    if (is.numeric(case$obs$exposure) || inherits(try(check_obs(case$obs, "bnp_hmm"), silent = TRUE), "try-error")) {
      succeed()
      return()
    }
    own <- suppressMessages(suppressWarnings(bnp_hmm(x, obs = case$obs, prior = prior, control = few)))
    draws <- suppressMessages(suppressWarnings(some(own, data = x, draws = 10, chains = 2)))
    expect_true(all(is.finite(draws$trace)))
    labels <- point_partition(draws)
    expect_length(labels, length(fitted(own)))
    expect_true(all(labels >= 1L))
    expect_gt(adjusted_rand_index(labels, fitted(own)), 0.3)
  })
}

test_that("gaps in independent columns, formulas and lists of sequences are sampled", {
  gaps <- replace(series$x, c(3, 50, 51), NA)
  apart <- some(gaps, id = series$id, obs = obs_gaussian("diagonal"), prior = prior, na_action = "model")
  expect_length(point_partition(apart), 180L)
  expect_bad(some(gaps, id = series$id, prior = prior, na_action = "model"), "gaps", "diagonal")
  parts <- split(as.data.frame(series$x), series$id)
  listed <- some(parts, prior = prior)
  expect_identical(dim(listed$labels), c(180L, 160L))
  one <- some(
    cbind(1.5), obs = obs_gaussian(mean = 0, mean_strength = 1, df = 3, scale = 1), prior = prior, draws = 5
  )
  expect_true(all(one$trace[, , "n_clusters"] == 1))
})

test_that("what cannot be sampled of sequences is refused", {
  weighted <- suppressWarnings(bnp_hmm(series$x, series$id, prior = prior, control = few, weights = 1:2))
  expect_bad(some(weighted, data = series$x, id = series$id), "weights", "Observations with")
  expect_bad(some(fit, data = series$x, id = series$id, split_merge = -3), "argument", "split_merge")
  expect_bad(predict(drawn, series$x, series$x, id = series$id), "argument", "states and densities")
  expect_bad(some(fit, data = series$x), "other_data", "id")
  expect_bad(update(drawn, series$x), "other_data")
})
