# Regressions in the states of sequences, by formula.

quiet <- function(...) bnp_control(..., verbose = FALSE)
few <- quiet(seed = 1)
walks <- withr::with_seed(1, {
  state <- rep(c(1, 2, 1, 2, 1, 2), each = 30)
  x <- runif(180, 0, 10)
  kind <- factor(sample(c("a", "b"), 180, TRUE))
  y <- ifelse(state == 1, 3 + 2 * x, 40 - 3 * x) + c(0, 4)[kind] + rnorm(180)
  data.frame(y, second = 2 * y + rnorm(180), x, kind, who = rep(c("u", "v", "w"), each = 60), state)
})
two <- prior_hmm(2)

test_that("a formula is the table of its response and covariates", {
  fit <- bnp_hmm(y ~ x, walks, id = "who", control = few)
  table <- bnp_hmm(walks[c("y", "x")], walks$who, obs_regression(), control = few)
  expect_identical(elbo(fit), elbo(table))
  expect_identical(unname(fitted(fit)), unname(fitted(table)))
  expect_equal(n_clusters(fit), 2)
  expect_gt(adjusted_rand_index(fitted(fit), walks$state), 0.95)
  for (same in list(
    bnp_hmm(y ~ x | who, walks, control = few), bnp_hmm(y ~ x, walks, id = walks$who, control = few),
    bnp_hmm(y ~ x, walks, id = ~who, obs = obs_regression(), control = few)
  )) {
    expect_identical(elbo(same), elbo(fit))
    expect_identical(segments(same)$id, segments(fit)$id)
  }
  columns <- bnp_hmm(~ y + second, walks, id = "who", control = few)
  expect_identical(elbo(columns), elbo(bnp_hmm(walks[c("y", "second")], walks$who, control = few)))
  expect_identical(predict(columns, walks), fitted(columns))
  mixed <- bnp_hmm(~ y + kind, walks, id = "who", control = quiet(seed = 1, max_laps = 10))
  expect_named(coef(mixed)[1:2], c("gaussian", "categorical"))
  expect_equal(stats::formula(fit), y ~ x, ignore_attr = TRUE)
  expect_identical(elbo(update(fit, . ~ .)), elbo(fit))
  grouped <- bnp_hmm(y ~ x + who, walks, id = "who", control = few)
  expect_identical(dimnames(coef(grouped)$coef)[[2]], c("(Intercept)", "x", "whov", "whow"))
  expect_identical(predict(grouped, walks), fitted(grouped))
})

test_that("one state is the mixture of one cluster, and its bound the exact evidence", {
  obs <- obs_regression(df = 4, scale = 2, coef_mean = c(1, 2, 0), coef_precision = 0.1)
  chain <- bnp_hmm(y ~ x + kind, walks, id = "who", obs = obs, prior = prior_hmm(1), control = few)
  mixture <- bnp_mixture(y ~ x + kind, walks, obs, prior_dirichlet(1), few)
  expect_equal(elbo(chain), elbo(mixture), tolerance = 1e-12)
  expect_equal(coef(chain)$coef, coef(mixture)$coef, tolerance = 1e-10)
})

test_that("states, segments and densities of new data go by the variables of the formula", {
  fit <- bnp_hmm(y ~ poly(x, 2) + kind, walks, id = "who", control = few)
  shuffled <- walks[c(121:180, 1:60), c("who", "kind", "x", "y")]
  expect_identical(unname(predict(fit, shuffled)), unname(fitted(fit))[c(121:180, 1:60)])
  expect_identical(segments(fit, walks), segments(fit))
  expect_named(augment(fit, walks), c(names(walks), ".class", ".uncertainty"))
  expect_identical(as.integer(augment(fit, walks)$.class), unname(fitted(fit)))
  log_p <- predict(fit, walks, type = "logdensity")
  expect_equal(heldout_loglik(fit, walks), mean(log_p))
  parts <- split(walks, walks$who)
  expect_identical(unname(predict(fit, parts, type = "logdensity")), unname(log_p))
  expect_length(predict(fit, walks[0, ]), 0)
  expect_bad(predict(fit, as.matrix(walks[1:3])), "newdata", "data frame")
  expect_bad(predict(fit, walks[c("y", "x")]), "formula", "kind")
  expect_s3_class(cluster_tree(fit, walks), "hclust")
  withr::local_pdf(NULL)
  expect_silent(plot(fit, data = walks))
})

test_that("expected responses are those of each state, averaged given the rows before", {
  fit <- bnp_hmm(y ~ x, walks, id = "who", prior = two, control = few)
  before <- one_step_ahead(fit, as_new_sequences(fit, walks, NULL))$prob
  by_hand <- rowSums(before * (cbind(1, walks$x) %*% coef(fit)$coef[1, , ]))
  expect_equal(unname(predict(fit, walks, type = "response")), by_hand, tolerance = 1e-10)
  # A response that is not known yet does not change what is expected of its row, nor of those before.
  known <- replace(walks, "y", list(replace(walks$y, 171:180, NA)))
  ahead <- predict(fit, known, type = "response", na_action = "model")
  expect_equal(unname(ahead)[1:171], by_hand[1:171], tolerance = 1e-10)
  # With a state that none is in yet, the prior's coefficients have its probability.
  open <- bnp_hmm(y ~ x, walks, id = "who", obs = obs_regression(coef_mean = c(90, 0)), control = few)
  before <- one_step_ahead(open, as_new_sequences(open, walks, NULL))$prob
  expect_equal(ncol(before), n_clusters(open) + 1)
  by_hand <- rowSums(before * cbind(cbind(1, walks$x) %*% coef(open)$coef[1, , ], 90))
  expect_equal(unname(predict(open, walks, type = "response")), by_hand, tolerance = 1e-10)
  several <- bnp_hmm(cbind(y, second) ~ x, walks, id = "who", control = few)
  expect_identical(colnames(predict(several, walks, type = "response")), c("y", "second"))
  expect_bad(predict(bnp_hmm(walks["y"], control = few), walks["y"], type = "response"), "argument", "obs_regression")
})

test_that("rows to come are forecast from their covariates, and n.ahead says so", {
  fit <- bnp_hmm(y ~ x, walks, id = "who", prior = two, control = few)
  expect_bad(predict(fit, walks, n.ahead = 2), "argument", "n.ahead.*\n.*Add these rows.*impute")
  past <- walks[1:60, c("y", "x")]
  future <- data.frame(y = NA, x = c(0, 5, 10))
  filled <- predict(fit, rbind(past, future), type = "impute")
  # By hand: the last state carried on by the transitions.
  p <- predict(fit, past, type = "prob")[60, ]
  at <- cbind(1, future$x) %*% coef(fit)$coef[1, , ]
  transition <- unclass(transition_matrix(fit))
  expected <- double(3)
  for (h in 1:3) {
    p <- p %*% transition
    expected[h] <- sum(p * at[h, ])
  }
  expect_equal(filled$y[61:63], expected, tolerance = 1e-3)
  expect_identical(filled$y[1:60], past$y)
  expect_true(all(attr(filled, "sd")[61:63, "y"] > 1))
  # Only the transitions say where rows without any response are: for `prob` by their expected logarithms.
  start <- as.vector(attr(transition_matrix(fit), "start"))
  prob <- predict(fit, walks[c("x", "who")], type = "prob")
  expect_equal(unname(prob[1:2, ]), rbind(start, drop(start %*% transition)), tolerance = 0.03, ignore_attr = TRUE)
  expect_length(predict(fit, walks[c("x", "who")]), 180)
  expect_equal(
    predict(fit, walks[c("x", "who")], type = "response")[[1]],
    sum(start * cbind(1, walks$x[1]) %*% coef(fit)$coef[1, , ]), tolerance = 1e-6
  )
  expect_bad(predict(fit, walks["x"], type = "logdensity"), "formula", "lacks a column .*names: y")
  by_table <- bnp_hmm(walks[c("y", "x")], walks$who, obs_regression(), two, few)
  expect_equal(unname(predict(by_table, walks["x"], walks$who, type = "prob")), unname(prob), tolerance = 1e-12)
  matrix_of_x <- as.matrix(walks["x"])
  expect_equal(unname(predict(by_table, matrix_of_x, walks$who, type = "prob")), unname(prob), tolerance = 1e-12)
})

test_that("missing responses, imputation, simulation and pseudo-residuals work as elsewhere", {
  gaps <- replace(walks, "y", list(replace(walks$y, c(4, 5, 100), NA)))
  fit <- bnp_hmm(y ~ x, gaps, id = "who", na_action = "model", control = few)
  expect_equal(n_clusters(fit), 2)
  expect_gt(cor(predict(fit, gaps, type = "impute")$y[c(4, 5, 100)], walks$y[c(4, 5, 100)]), 0.9)
  expect_false(anyNA(impute(fit, gaps, m = 2, seed = 1)[[2]]$y))
  expect_bad(bnp_hmm(y ~ x, gaps, id = "who", control = few), "not_finite", "\\(4, y\\)")
  drawn <- simulate(fit, seed = 1, lengths = c(3, 2), covariates = data.frame(x = 1:5))$sim_1
  expect_named(drawn, c("y", "x", ".id", ".state"))
  expect_identical(drawn$x, as.double(1:5))
  left <- residuals(fit, walks)
  expect_identical(colnames(left), "y")
  expect_equal(c(mean(left), sd(left)), 0:1, tolerance = 0.25)
  expect_gt(stats::ks.test(left[, 1], "pnorm")$p.value, 0.01)
  # In one state: the Student-t distribution by the closed form.
  one <- bnp_hmm(y ~ x, walks, prior = prior_hmm(1), control = few)
  q <- posterior_params(one)
  z <- cbind(1, walks$x)
  unit <- q$scale[1, 1, 1] / q$df * (1 + rowSums(z * t(solve(q$coef_precision[, , 1], t(z)))))
  by_hand <- stats::pt((walks$y - z %*% q$coef_mean[1, , 1]) / sqrt(unit), q$df)
  expect_equal(stats::pnorm(residuals(one, walks)[, 1]), by_hand[, 1], tolerance = 1e-10, ignore_attr = TRUE)
})

test_that("formulas and ids that make no sequences are refused", {
  fit <- function(formula, ...) bnp_hmm(formula, walks, ..., control = quiet(max_laps = 2))
  expect_bad(fit(y ~ x | who, id = "who"), "id", "give only one")
  expect_bad(fit(y ~ x, id = "nobody"), "id", "nobody")
  expect_bad(fit(y ~ x, id = rep(1:2, 90)), "id", "follow each other")
  expect_bad(fit(y ~ x, obs = obs_gaussian()), "formula", "obs_regression")
  expect_bad(fit(y ~ nothing), "formula", "nothing")
  expect_bad(fit(~ y * x), "formula", "interactions")
  expect_bad(bnp_hmm(y ~ x, 3), "formula", "data frame")
  expect_bad(fit(y ~ x, weights = rep(1, 180), id = "who"), "weights", "per sequence")
  expect_bad(bnp_topics(y ~ x, id = walks$who), "formula", "bnp_mixture.*bnp_hmm")
})
