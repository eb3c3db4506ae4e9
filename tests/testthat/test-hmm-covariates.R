# Sequences whose transitions depend on covariates, as users see them.

withr::local_options(rlib_message_verbosity = "quiet") # covariates are rounded
planted <- planted_steps(1, rep(150, 4))
fit <- bnp_hmm(planted$frame, id = "id", prior = prior_covariates(~ w), control = quiet_control())
plain <- bnp_hmm(planted$frame[c("y", "id")], id = "id", prior = prior_hdp_hmm(gamma = 1), control = quiet_control())

test_that("two states whose steps depend on a covariate are found from one, better than without it", {
  expect_equal(fit$trace$k[1L], 1)
  expect_equal(n_clusters(fit), 2L)
  expect_gt(max(mean(fitted(fit) == planted$z), mean(fitted(fit) == 3 - planted$z)), 0.97)
  expect_gt(elbo(fit), elbo(plain) + 10)
  at <- data.frame(w = c(-1, 0, 1))
  p <- transition_matrix(fit, at = at)
  first <- fitted(fit)[which(planted$z == 1)[1]] # its number of the first state
  stay <- vapply(1:3, function(i) diag(p[, , i])[c(first, 3 - first)], numeric(2))
  expect_lt(max(abs(stay - rbind(stats::plogis(2 + 1.5 * at$w), stats::plogis(2 - 1.5 * at$w)))), 0.12)
  again <- planted_steps(2, rep(150, 4))$frame
  expect_gt(heldout_loglik(fit, again), heldout_loglik(plain, again[c("y", "id")]))
})

test_that("without covariates it is the model without", {
  none <- bnp_hmm(planted$frame[c("y", "id")], id = "id", prior = prior_covariates(~ 1), control = quiet_control())
  expect_equal(elbo(none), elbo(plain), tolerance = 1e-9)
  expect_equal(fitted(none), fitted(plain))
  expect_equal(transition_matrix(none), transition_matrix(plain), tolerance = 1e-6)
})

test_that("answers are probabilities, and those of the engine", {
  p <- transition_matrix(fit, new = TRUE, at = data.frame(w = c(-2, 2)))
  expect_equal(apply(p, c(1, 3), sum), matrix(1, 2, 2), ignore_attr = TRUE, tolerance = 1e-12)
  patterns <- fit$model$prior$patterns
  want <- transitions_at(fit, patterns)
  moves <- engine_mean_transitions(fit$model, fit$state)
  for (c in c(1L, nrow(patterns))) {
    own <- moves[1L + (c - 1L) * 3L + fit$numbering, c(fit$numbering, 3L)]
    expect_equal(want[c, , ], own, tolerance = 1e-10, ignore_attr = TRUE)
  }
  share <- long_run(fit, at = data.frame(w = c(-1, 1)))
  expect_named(share, c("w", "state", "proportion", "conf.low", "conf.high"))
  for (i in 1:2) {
    own <- share$proportion[share$w == c(-1, 1)[i]]
    step <- transition_matrix(fit, at = data.frame(w = c(-1, 1)))[, , i]
    expect_equal(as.double(own %*% step), own, tolerance = 1e-10)
  }
  expect_true(all(share$conf.low < share$proportion & share$proportion < share$conf.high))
  table <- prevalence(fit, by = "w")
  expect_s3_class(table, "bnp_prevalence")
  expect_equal(unique(table$state), 1:2)
  expect_equal(as.double(tapply(table$proportion, table$at, sum)), rep(1, 50), tolerance = 1e-9)
  expect_equal(dim(coef(fit)$effects %||% posterior_params(fit)$effects), c(2L, 2L, 1L))
})

test_that("the long run of a chain without covariates is its stationary distribution", {
  share <- long_run(plain)
  expect_equal(as.double(share$proportion %*% transition_matrix(plain)), share$proportion, tolerance = 1e-10)
  cycle <- array(c(0, 1, 1, 0), c(1, 2, 2))
  expect_equal(stationary_shares(cycle), matrix(0.5, 1, 2))
  expect_error(long_run(plain, at = data.frame(w = 1)), class = "bnpvi_error_covariates")
})

test_that("covariates come from columns, lists, data of a formula or beside, and new sequences in the same ways", {
  x <- planted$frame
  few <- quiet_control(max_laps = 5)
  short <- bnp_hmm(x, id = "id", prior = prior_covariates(~ w), control = few)
  beside <- bnp_hmm(
    x[c("y", "id")], id = "id", prior = prior_covariates(~ w), covariates = x["w"], control = few
  )
  expect_equal(elbo(beside), elbo(short))
  lists <- bnp_hmm(unname(split(x[c("y", "w")], x$id)), prior = prior_covariates(~ w), control = few)
  expect_equal(elbo(lists), elbo(short))
  named <- bnp_hmm(~ y | id, x, prior = prior_covariates(~ w), control = few)
  expect_equal(elbo(named), elbo(short))
  new <- planted_steps(3, c(20, 30))$frame
  want <- predict(short, new, type = "prob")
  expect_equal(rowSums(want), rep(1, 50), ignore_attr = TRUE)
  expect_equal(predict(beside, new[c("y", "id")], type = "prob", covariates = new["w"]), want, tolerance = 1e-10)
  listed <- predict(lists, unname(split(new[c("y", "w")], new$id)), type = "prob")
  expect_equal(listed, want, ignore_attr = TRUE, tolerance = 1e-10)
  path <- predict(fit, new)
  expect_gt(max(mean(path == planted_steps(3, c(20, 30))$z), mean(path != planted_steps(3, c(20, 30))$z)), 0.9)
  expect_equal(sum(segments(fit, new)$length), 50)
  expect_equal(predict(fit, x[c("y", "id")], type = "prob"), predict(fit, x, type = "prob"), tolerance = 1e-2)
  expect_equal(nrow(augment(fit, new)), 50)
  expect_equal(dim(residuals(fit, new)), c(50L, 1L))
})

test_that("densities of new sequences are those of all paths", {
  new <- planted_steps(4, 5)$frame
  data <- as_new_sequences(fit, new, NULL)
  at <- fit_at_patterns(fit, data)
  p <- engine_mean_transitions(at$model, at$state)
  plain <- prior_hdp_hmm(gamma = 1)
  log_e <- engine_log_predictives(
    as_engine_data(as_sequence_data(new["y"], fit$model$obs, na_action = "fail")),
    replace(fit$model, "prior", list(plain)),
    state_for_positions(fit$state, fit, list(), plain), 1L
  )[, 1:3]
  want <- enumerate_trees(log(p[1, ]), log(p[-1, ]), log_e, 0:4, data$position)$log_z
  expect_equal(5 * as.double(heldout_loglik(fit, new)), want, tolerance = 1e-8)
})

test_that("q(z) of rows without observation has the expected logarithms of the posterior, of all paths", {
  new <- data.frame(y = NA_real_, w = c(0.3, -1, 2, 0.5, -2), id = 1)
  posterior <- engine_posterior(fit$model, fit$state)
  x <- apply_design(fit$model$prior$design, new, "x", NULL)$value[, 1]
  log_p <- lapply(x, function(x) t(vapply(1:2, function(j) {
    theta <- posterior$transition[j, ]
    m <- posterior$effects[j, , 1]
    v <- posterior$effects_cov[1, 1, j, ]
    z <- sum(theta * c(exp(x * m + x^2 * v / 2), 1)) / sum(theta)
    (digamma(theta) - digamma(sum(theta)))[1:2] + x * m - log(z)
  }, numeric(2))))
  paths <- as.matrix(expand.grid(rep(list(1:2), 5)))
  p <- apply(paths, 1, function(z) {
    exp(digamma(posterior$start)[z[1]] + sum(vapply(2:5, function(t) log_p[[t]][z[t - 1], z[t]], 1)))
  })
  want <- vapply(1:2, function(k) colSums((paths == k) * p) / sum(p), numeric(5))[, fit$numbering]
  got <- predict(fit, new, type = "responsibility", na_action = "model")
  expect_equal(unname(got), unname(want), tolerance = 1e-8)
})

test_that("rows without observation go by their covariates", {
  new <- data.frame(y = c(2, rep(NA, 8)) * 2, w = c(0, rep(3, 8)), id = 1)
  gaps <- predict(fit, new, type = "prob", na_action = "model")
  other <- predict(fit, transform(new, w = -w), type = "prob", na_action = "model")
  first <- fitted(fit)[which(planted$z == 1)[1]]
  expect_gt(gaps[9, first], 0.9)
  expect_lt(other[9, first], 0.1)
  expect_error(predict(fit, new[1, ], n.ahead = 2), class = "bnpvi_error_not_defined")
  expect_error(bnp_filter(fit, new[1, ]), class = "bnpvi_error_not_defined")
})

test_that("simulated sequences have the transitions of their covariates", {
  far <- data.frame(w = rep(c(-2, 2), each = 400))
  sets <- simulate(fit, 3, seed = 1, lengths = c(400, 400), covariates = far, new = FALSE)
  want <- long_run(fit, at = data.frame(w = c(-2, 2)))
  for (set in sets) {
    share <- tapply(set$.state == 1, set$.id, mean)
    expect_lt(max(abs(share - want$proportion[want$state == 1])), 0.15)
  }
  expect_equal(nrow(simulate(fit, 1, seed = 1)$sim_1), 600L)
})

test_that("steps may depend on the row before", {
  withr::local_seed(4)
  n <- 500
  z <- integer(n) + 1L
  y <- numeric(n)
  for (t in seq_len(n)) {
    if (t > 1L) z[t] <- if (runif(1) < stats::plogis(3 * (y[t - 1L] - 2))) 2L else 1L
    y[t] <- c(1.6, 2.4)[z[t]] + rnorm(1) * 0.5
  }
  x <- data.frame(y = y, v = rnorm(n) + 6 * z)
  own <- bnp_hmm(x, prior = prior_covariates(~ previous(y)), control = quiet_control())
  plain <- bnp_hmm(x, prior = prior_hdp_hmm(gamma = 1), control = quiet_control())
  expect_gt(elbo(own), elbo(plain) + 5)
  expect_named(own$model$prior$design$values, "previous_y")
  expect_equal(dim(predict(own, x[1:20, ], type = "prob"))[1], 20L)
  expect_gt(heldout_loglik(own, x), heldout_loglik(plain, x))
  expect_error(simulate(own), class = "bnpvi_error_not_defined")
  expect_error(bnp_hmm(x, prior = prior_covariates(~ previous(u))), class = "bnpvi_error_covariates")
  expect_error(bnp_hmm(x, prior = prior_covariates(~ previous(y + 1))), class = "bnpvi_error_covariates")
  expect_error(bnp_mixture(x, prior = prior_covariates(~ previous(y))), class = "bnpvi_error_covariates")
})

test_that("a finite number of states, a start, labels and weights go with covariates", {
  x <- planted$frame
  few <- quiet_control(max_laps = 5)
  two <- bnp_hmm(x, id = "id", prior = prior_covariates(~ w, k = 2), control = quiet_control())
  expect_equal(two$state$k, 2L)
  at <- data.frame(w = 1)
  expect_lt(mean(abs(transition_matrix(two, at = at) - transition_matrix(fit, at = at))), 0.2)
  begun <- bnp_hmm(x, id = "id", prior = prior_covariates(~ w), start = fit, control = few)
  expect_gte(elbo(begun), elbo(fit) - 1e-3)
  other <- bnp_hmm(x, id = "id", prior = prior_covariates(~ poly(w, 2)), start = fit, control = few)
  expect_equal(n_clusters(other), 2L)
  expect_error(bnp_hmm(x[c("y", "id")], id = "id", start = fit), class = "bnpvi_error_start")
  known <- replace(rep(NA, 600), 1:60, letters[planted$z[1:60]])
  labelled <- bnp_hmm(x, id = "id", prior = prior_covariates(~ w), labels = known, control = quiet_control())
  expect_gt(mean(predict(labelled, type = "label") == letters[planted$z], na.rm = TRUE), 0.95)
  still <- bnp_control(seed = 1, verbose = FALSE, restarts = 1L, moves = bnp_moves(FALSE, FALSE, FALSE))
  twice <- rbind(x, transform(x, id = id + 4))
  doubled <- bnp_hmm(twice, id = "id", prior = prior_covariates(~ w), start = rep(fitted(fit), 2), control = still)
  weighted <- bnp_hmm(
    x, id = "id", prior = prior_covariates(~ w), start = fitted(fit), weights = rep(2, 4), control = still
  )
  expect_equal(elbo(weighted), elbo(doubled), tolerance = 1e-8)
})

test_that("what is not there is refused, and bad input named", {
  x <- planted$frame
  bad <- function(..., class = "bnpvi_error_covariates") expect_error(bnp_hmm(...), class = class)
  bad(x[c("y", "id")], id = "id", prior = prior_covariates(~ w))
  bad(x, id = "id", covariates = x["w"])
  bad(transform(x, w = replace(w, 3, NA)), id = "id", prior = prior_covariates(~ w))
  bad(x[c("y", "id")], id = "id", prior = prior_covariates(~ w), covariates = x[1:10, "w", drop = FALSE])
  absent <- function(...) bad(..., prior = prior_covariates(~ w), class = "bnpvi_error_not_defined")
  absent(x, id = "id", control = bnp_control(sparsity = 1))
  absent(x["y"], parent = c(0, seq_len(599)), covariates = x["w"])
  absent(x["y"], obs = obs_lds(1), covariates = x["w"])
  expect_error(predict(fit, planted_steps(2, 10)$frame["y"]), class = "bnpvi_error_covariates")
  expect_error(transition_matrix(fit, at = data.frame(v = 1)), class = "bnpvi_error_at")
  expect_error(prevalence(fit, by = "v"), class = "bnpvi_error_by")
  expect_error(cluster_tree(fit, x), class = "bnpvi_error_not_defined")
  expect_error(update(fit, newdata = x), class = "bnpvi_error_not_defined")
  expect_error(bnp_sample(x, id = "id", prior = prior_covariates(~ w)), class = "bnpvi_error")
  expect_error(bnp_mixture(x, prior = prior_covariates(~ w, sticky = 2)), class = "bnpvi_error_argument")
})

test_that("fits print, tidy and are drawn", {
  expect_output(print(fit), "Transitions by ~w")
  expect_s3_class(tidy(fit), "tbl_df")
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  expect_no_error(plot(fit, "transitions", by = "w"))
  expect_no_error(plot(fit, "transitions"))
  expect_no_error(plot(prevalence(fit, by = "w")))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, "transitions", by = "w"), "ggplot")
})

test_that("fits go on from checkpoints and in other processes", {
  skip_on_cran()
  path <- withr::local_tempfile()
  x <- planted$frame
  run <- function(...) {
    bnp_hmm(x, id = "id", prior = prior_covariates(~ w), control = quiet_control(batches = 2L, tol = 0, ...))
  }
  whole <- run(max_laps = 6)
  suppressWarnings(run(max_laps = 3, checkpoint = path))
  expect_identical(bnp_resume(path, x, max_laps = 6)$state, whole$state)
  local_daemons()
  apart <- run(max_laps = 6, wave = 2L, workers = "bnpvi tests")
  expect_identical(apart$state, run(max_laps = 6, wave = 2L)$state)
})
