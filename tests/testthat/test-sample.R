# bnp_sample() and what reads its draws.

few <- bnp_control(seed = 1, max_laps = 30, verbose = FALSE)
fit <- suppressWarnings(bnp_mixture(faithful, obs_gaussian(learn = FALSE), control = few))
some <- function(x = fit, ..., draws = 40, seed = 1) bnp_sample(x, ..., draws = draws, seed = seed, verbose = FALSE)
drawn <- some(data = faithful)

test_that("draws have the sizes asked for, and agree with the fit where it is sure", {
  expect_s3_class(drawn, "bnp_draws")
  expect_identical(dim(drawn$trace), c(40L, 4L, 5L))
  expect_identical(dim(drawn$labels), c(272L, 160L))
  expect_gt(adjusted_rand_index(point_partition(drawn), fitted(fit)), 0.95)
  expect_identical(names(point_partition(drawn)), names(fitted(fit)))
  expect_equal(sum(n_clusters(drawn)), 1)
  expect_equal(as.vector(n_clusters(drawn)["2"]), mean(drawn$trace[, , "n_clusters"] == 2))
  large <- mean(apply(drawn$labels, 2L, function(z) sum(tabulate(z) >= 50)) == 2)
  expect_equal(as.vector(n_clusters(drawn, min_size = 50)["2"]), large)
  expect_output(print(drawn), "begun without it.*The fit has 2")
  expect_lt(max(drawn$trace[, , "log_joint"]), elbo(fit) + 20)
})

test_that("thin, keep and update choose among the same sweeps", {
  all <- some(data = faithful, draws = 30, warmup = 10)
  thin <- some(data = faithful, draws = 10, warmup = 10, thin = 3, keep = 8)
  expect_identical(thin$trace[, , ], all$trace[3 * (1:10), , ])
  expect_lte(ncol(thin$labels), 8)
  for (i in seq_len(nrow(thin$kept))) {
    at <- with(all$kept, which(chain == thin$kept$chain[i] & draw == 3 * thin$kept$draw[i]))
    expect_identical(thin$labels[, i], all$labels[, at])
  }
  more <- update(some(data = faithful, draws = 12, warmup = 10), faithful, draws = 18)
  expect_identical(more$trace, all$trace)
  in_order <- function(x) x$labels[, order(x$kept$chain, x$kept$draw)]
  expect_identical(in_order(more), in_order(all))
  capped <- update(some(data = faithful, draws = 12, warmup = 10, keep = 20), faithful, draws = 18)
  expect_lte(ncol(capped$labels), 20)
  expect_identical(nrow(capped$kept), ncol(capped$labels))
  none <- some(data = faithful, keep = 0)
  expect_identical(none$trace, drawn$trace)
  expect_bad(point_partition(none), "argument", "keep")
})

test_that("threads change nothing, nor does R's generator", {
  same <- c("trace", "labels")
  expect_identical(some(data = faithful, threads = 2)[same], drawn[same])
  withr::local_seed(1, .rng_kind = "Wichmann-Hill", .rng_normal_kind = "Box-Muller", .rng_sample_kind = "Rounding")
  expect_identical(some(data = faithful)[same], drawn[same])
})

test_that("summaries, tables and the package posterior see the same numbers", {
  table <- suppressWarnings(summary(drawn))$table
  expect_equal(table$mean[table$term == "largest"], mean(drawn$trace[, , "largest"]))
  expect_false("concentration" %in% table$term)
  expect_equal(nrow(as.data.frame(drawn)), 160L)
  expect_equal(subset(as.data.frame(drawn), chain == 3)$entropy, drawn$trace[, 3, "entropy"])
  expect_named(suppressWarnings(tidy(drawn)), c(
    "term", "estimate", "std.error", "conf.low", "conf.high", "rhat", "ess_bulk"
  ))
  skip_if_not_installed("posterior")
  df <- posterior::as_draws_df(drawn)
  expect_equal(posterior::ndraws(df), 160)
  expect_equal(posterior::extract_variable_matrix(df, "largest"), drawn$trace[, , "largest"], ignore_attr = TRUE)
  expect_equal(table$rhat[table$term == "entropy"], posterior::rhat(drawn$trace[, , "entropy"]))
  apart <- drawn
  apart$trace[, 1, "entropy"] <- apart$trace[, 1, "entropy"] + 10
  expect_warning(summary(apart), class = "bnpvi_warning_mixing", "entropy")
})

test_that("pairs are together as often as in the draws", {
  together <- coclustering(drawn, rows = c(5, 1, 9))
  z <- drawn$labels[c(5, 1, 9), ]
  expect_equal(together[1, 2], mean(z[1, ] == z[2, ]))
  expect_equal(unname(diag(together)), rep(1, 3))
  expect_identical(dimnames(together)[[1]], c("5", "1", "9"))
  whole <- coclustering(drawn)
  sparse <- coclustering(drawn, threshold = 0.5)
  expect_s4_class(sparse, "dgCMatrix")
  expect_equal(as.matrix(sparse), replace(whole, whole < 0.5, 0), ignore_attr = TRUE)
  expect_bad(coclustering(drawn, rows = 300), "argument", "272")
  expect_bad(coclustering(drawn, rows = c(1, 1)), "argument", "different")
  expect_bad(coclustering(drawn, threshold = 0), "argument", "above 0")
  few_pairs <- sum(coclustering(drawn, threshold = 0.5) > 0) - 1
  for (at_once in c(5e6, 1000)) {
    expect_bad(common_pairs(kept_labels(drawn), 0.5, few_pairs, at_once), "too_large", "threshold")
    # A share that is the threshold is at least that.
    share <- sort(unique(as.vector(whole)))[3]
    found <- common_pairs(kept_labels(drawn), share, at_once = at_once)
    expect_equal(as.matrix(found), replace(whole, whole < share, 0), ignore_attr = TRUE)
  }
})

test_that("pairs of rows that follow a lag have their names", {
  x <- matrix(withr::with_seed(1, cumsum(rnorm(30))), dimnames = list(paste0("t", 1:30), "x"))
  draws <- some(x, obs_ar(lag = 1))
  expect_identical(rownames(coclustering(draws)), paste0("t", 2:30))
})

test_that("predictions are those of the posterior by enumeration", {
  x <- rbind(c(-2.1, 0.3), c(-1.7, -0.4), c(0.2, 0.1), c(1.9, 0.8), c(2.3, 1.1), c(2, -1.2))
  obs <- obs_gaussian(mean = c(0, 0), mean_strength = 0.2, df = 4, scale = diag(2))
  own <- suppressWarnings(bnp_mixture(x, obs, prior_dp(1.3), few))
  draws <- some(own, data = x, draws = 2000, keep = 8000)
  new <- c(1, 1)
  log_p <- function(all) {
    exact_posterior(nrow(all), function(rows) gaussian_evidence(all[rows, , drop = FALSE], 0.2, 4), 1.3)$log_evidence
  }
  exact <- log_p(rbind(x, new)) - log_p(x)
  expect_equal(unname(predict(draws, rbind(new), x, "logdensity")), exact, tolerance = 0.01)
  point <- point_partition(draws)
  prob <- predict(draws, x, x, "prob")
  expect_equal(unname(rowSums(prob)), rep(1, 6))
  expect_identical(ncol(prob), max(point))
  expect_identical(unname(predict(draws, x, x)), unname(max.col(prob, "first")))
  # The exact minimisers of the page.
  expect_equal(match(point, unique(point)), c(1, 1, 2, 3, 3, 4))
  expect_equal(attr(point, "loss"), 0.37455125, tolerance = 0.02)
  binder <- point_partition(draws, "binder")
  expect_equal(match(binder, unique(binder)), c(1, 1, 2, 3, 3, 4))
  expect_equal(attr(binder, "loss"), 2.15113868, tolerance = 0.02)
  checked <- check_fit(own, x, draws = 400, seed = 1, verbose = FALSE)
  expect_lt(abs(checked$evidence[["estimate"]] + 23.02547871), 4 * checked$evidence[["se"]])
  expect_output(print(checked), "bound is -27.75.* below")
})

test_that("probabilities of new rows are shared out as the rows of each draw's clusters are", {
  x <- rbind(c(-2.1, 0.3), c(-1.7, -0.4), c(0.2, 0.1), c(1.9, 0.8), c(2.3, 1.1), c(2, -1.2))
  obs <- obs_gaussian(mean = c(0, 0), mean_strength = 0.2, df = 4, scale = diag(2))
  draws <- some(suppressWarnings(bnp_mixture(x, obs, prior_dp(1.3), few)), data = x, draws = 12)
  new <- rbind(c(0.5, 0), c(-3, 1))
  point <- point_partition(draws)
  log_p <- function(rows) gaussian_evidence(rows, 0.2, 4)
  by_hand <- matrix(0, 2, max(point))
  for (m in seq_len(ncol(draws$labels))) {
    z <- draws$labels[, m]
    for (i in 1:2) {
      odds <- vapply(split(seq_len(6), z), function(rows) {
        own <- x[rows, , drop = FALSE]
        length(rows) * exp(log_p(rbind(own, new[i, ])) - log_p(own))
      }, 1)
      p <- odds / sum(odds, 1.3 * exp(log_p(new[i, , drop = FALSE])))
      by_hand[i, ] <- by_hand[i, ] + p %*% (table(z, point) / tabulate(z))
    }
  }
  expect_equal(unname(predict(draws, new, x, "prob")), by_hand / rowSums(by_hand), tolerance = 1e-10)
})

test_that("the fit that comes first is made as control says, and its probabilities are not carried along", {
  control <- bnp_control(seed = 3, k_init = 2, moves = FALSE, max_laps = 2, verbose = FALSE, keep = "probabilities")
  own <- suppressWarnings(some(faithful, control = control))
  expect_identical(own$fit$laps, 2L)
  expect_null(own$fit$probabilities)
  expect_identical(names(own$fit), names(fit))
  diagonal <- suppressWarnings(some(faithful, obs_gaussian("diagonal"), control = control))
  expect_identical(diagonal$fit$laps, 2L)
  expect_identical(some(faithful, seed = 5)$fit$control$seed, 5)
})

test_that("every other chain begins without the fit", {
  data <- training_data(fit, faithful)
  states <- first_states(fit, data, drawn$model, drawn$options)
  alone <- engine_draw_in_sequence(as_engine_data(data), drawn$model, c(2, 4), 1, drawn$options$seed, 1L)$labels
  for (i in 1:2) {
    expect_identical(states[[2L * i]]$labels, match(alone[[i]], unique(alone[[i]])))
    expect_gt(adjusted_rand_index(states[[2L * i - 1L]]$labels, fitted(fit)), 0.95)
  }
})

test_that("a fit is checked against its draws", {
  checked <- check_fit(fit, faithful, draws = 40, seed = 1, verbose = FALSE)
  expect_null(checked$evidence)
  expect_equal(checked$n_clusters, n_clusters(drawn))
  expect_gt(checked$agreement, 0.8)
  expect_equal(checked$point, 1)
  expect_output(print(checked), "The fit has 2 clusters")
})

test_that("pictures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("trace", "k", "coclustering", "partition")) expect_invisible(plot(drawn, type))
  expect_invisible(plot(drawn, "coclustering", rows = 1:20))
  expect_invisible(plot(check_fit(fit, faithful, draws = 10, seed = 1, verbose = FALSE)))
})

# Rows with scales have no sampler.
without_times <- Filter(function(case) is.null(case$time), without_scales(planted_cases()))
for (case in some_of(without_times, by = 14, from = 5)) {
  test_that(paste0(case$name, ": planted clusters are drawn"), {
    own <- suppressMessages(suppressWarnings(bnp_mixture(case$x, case$obs, control = few)))
    if (is.numeric(case$obs$exposure)) {
      expect_bad(some(own, data = case$x), "exposure", "name of a column")
      return()
    }
    draws <- suppressMessages(suppressWarnings(some(own, data = case$x, draws = 8, chains = 2)))
    expect_true(all(is.finite(draws$trace)))
    labels <- point_partition(draws)
    expect_length(labels, length(fitted(own)))
    expect_true(all(labels >= 1L))
    lag <- obs_lag(own$model$obs)
    if (lag > 0L) expect_identical(unname(labels[seq_len(lag)]), rep(unname(labels[lag + 1L]), lag))
    expect_gt(adjusted_rand_index(labels, fitted(own)), 0.3) # some clusters overlap
  })
}

test_that("individuals, rows left out, gaps in independent columns and concentrations are sampled", {
  plants <- suppressWarnings(bnp_mixture(uptake ~ log(conc) | Plant, CO2, control = few))
  draws <- some(plants, data = CO2)
  expect_identical(nrow(draws$labels), 12L)
  expect_setequal(rownames(coclustering(draws)), levels(CO2$Plant))
  point <- point_partition(draws)
  expect_length(point, 84L)
  expect_true(all(tapply(point, CO2$Plant, function(z) length(unique(z))) == 1))
  gaps <- replace(as.matrix(faithful), cbind(c(3, 9), 1), NA)
  left <- suppressMessages(some(gaps, na_action = "omit"))
  expect_identical(which(is.na(point_partition(left))), c(`3` = 3L, `9` = 9L))
  apart <- some(gaps, obs_gaussian("diagonal"), na_action = "model")
  expect_length(point_partition(apart), 272L)
  expect_bad(some(gaps, na_action = "model"), "gaps", "diagonal")
  learned <- some(faithful, prior = prior_dp(gamma_prior(2, 1)))
  expect_gt(sd(learned$trace[, , "concentration"]), 0)
  expect_true("concentration" %in% suppressWarnings(summary(learned))$table$term)
  finite <- some(faithful, prior = prior_dirichlet(3))
  expect_lte(max(finite$trace[, , "n_clusters"]), 3)
  for (concentration in c(1, 0, -0.2)) {
    power <- some(faithful, prior = prior_py(concentration, 0.3))
    expect_true(all(is.finite(power$trace)))
  }
})

test_that("one row, equal rows and as many clusters as rows are sampled", {
  one <- some(matrix(c(1, 2), 1), obs_gaussian(mean = c(0, 0), mean_strength = 1, df = 4, scale = diag(2)))
  expect_true(all(one$trace[, , "n_clusters"] == 1))
  obs <- obs_gaussian(mean = c(0, 0), mean_strength = 1, df = 4, scale = diag(2))
  below <- some(matrix(c(1, 2), 1), obs, prior_py(-0.2, 0.3))
  expect_equal(below$trace[, , "log_joint"], one$trace[, , "log_joint"])
  single <- some(matrix(c(1, 2), 1), obs, draws = 1)
  expect_identical(suppressWarnings(summary(single))$table$mean[1L], 1)
  expect_output(print(single), "1 \\(1\\)")
  equal <- some(matrix(1, 5, 2), obs_gaussian(mean = c(0, 0), mean_strength = 1, df = 4, scale = diag(2)))
  expect_true(all(is.finite(equal$trace)))
  many <- some(
    matrix(c(-9, -3, 3, 9) * 1e3), obs_gaussian(mean = 0, mean_strength = 1e-4, df = 3, scale = 1), prior_dp(1e6)
  )
  expect_gt(mean(many$trace[, , "n_clusters"] == 4), 0.9)
})

test_that("what cannot be sampled is refused", {
  weighted <- suppressWarnings(bnp_mixture(faithful, control = few, weights = rep(1:2, 136)))
  expect_bad(some(weighted, data = faithful), "weights", "without")
  known <- replace(rep(NA, 272), 1:2, c("a", "b"))
  labelled <- suppressWarnings(bnp_mixture(faithful, control = few, labels = known))
  expect_bad(some(labelled, data = faithful), "labels", "without")
  expect_bad(some(faithful, weights = rep(1:2, 136)), "weights")
  expect_bad(some(fit, data = faithful[1:10, ]), "other_data", "10 rows")
  expect_bad(bnp_sample(fit), "newdata", "data")
  expect_bad(some(fit, data = faithful, chains = 0), "argument", "chains")
  expect_bad(some(fit, data = faithful, warmup = -1), "argument", "warmup")
  expect_bad(some(fit, data = faithful, colour = 1), "argument", "colour")
  expect_bad(some(faithful, prior = 3), "argument", "prior")
  expect_bad(point_partition(fit), "argument", "bnp_sample")
  expect_bad(point_partition(drawn, k_max = 0), "argument", "k_max")
  expect_bad(predict(drawn, faithful), "newdata", "data")
  expect_bad(summary(drawn, conf.level = 2), "argument", "conf.level")
  expect_bad(check_fit(drawn, faithful), "not_defined", "not available for draws")
  expect_bad(update(drawn, iris[1:4]), "newdata_columns", "eruptions")
})
