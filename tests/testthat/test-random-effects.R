# Mixtures of regressions with random effects, as users meet them; the mathematics is in test-growth-mixtures.R.

long_test("kinds of growth curves are found, where without effects there are many", {
  for (kind in c("wide", "one", "apart")) {
    data <- growth_data(kind, 1)
    for (shared in c(TRUE, FALSE)) {
      fit <- bnp_mixture(y ~ t, data, obs_regression(random = ~ 1 + t, shared = shared), id = ~ id,
        control = bnp_control(seed = 1, threads = 1L))
      expect_identical(n_clusters(fit), c(wide = 3L, one = 1L, apart = 2L)[[kind]])
      expect_gt(min(diff(elbo_trace(fit)$elbo)), -1e-8)
    }
  }
  expect_gt(n_clusters(bnp_mixture(y ~ t | id, growth_data("one", 1), control = bnp_control(seed = 1))), 5L)
})

test_that("individuals who differ in their level alone are one cluster", {
  # With seed 7 one cluster of two goes, with which the other shares no individual.
  for (seed in some_of(7:6, by = 2)) {
    fit <- growth_fit(growth_data("level", seed), y ~ t + (1 | id), seed = seed)
    expect_identical(n_clusters(fit), 1L)
  }
})

test_that("the two ways to ask are one, and id and units do not matter", {
  data <- growth_data("wide", 1, 60L)
  fit <- growth_fit(data)
  same <- growth_fit(data, y ~ t, obs = obs_regression(random = ~ 1 + t), id = ~ id)
  expect_identical(elbo(fit), elbo(same))
  expect_identical(coef(fit), coef(same))
  # Rows in another order; other names of individuals; other units and origins.
  moved <- data[sample(nrow(data)), ]
  moved$id <- factor(moved$id, levels(data$id))
  expect_equal(elbo(growth_fit(moved)), elbo(fit), tolerance = 1e-6)
  other <- transform(data, y = 100 * y + 7, t = t * 12 + 2000)
  changed <- growth_fit(other)
  expect_equal(elbo(changed), elbo(fit) - nrow(data) * log(100), tolerance = 1e-6)
  expect_equal(coef(changed)$coef[1L, "t", ], coef(fit)$coef[1L, "t", ] * 100 / 12, tolerance = 1e-4)
  expect_equal(coef(changed)$random_cov["t", "t", ], coef(fit)$random_cov["t", "t", ] * (100 / 12)^2, tolerance = 1e-4)
  within <- function(fit, data) unname(predict(fit, data, "individual", interval = .9))
  expect_equal(within(changed, other), within(fit, data) * 100 + 7, tolerance = 1e-4)
  expect_identical(fitted(changed), fitted(fit))
})

test_that("batches, whole weights and given labels do what they do elsewhere", {
  data <- growth_data("wide", 2, 90L)
  fit <- growth_fit(data)
  batches <- bnp_mixture(y ~ t + (1 + t | id), data, control = bnp_control(seed = 1, batches = 3))
  expect_identical(n_clusters(batches), 3L)
  expect_equal(elbo(batches), elbo(fit), tolerance = 1e-4)
  expect_gt(min(diff(elbo_trace(batches)$elbo)), -1e-8)
  # Twice as many individuals, written out or counted twice, from the same start.
  twice <- rbind(data, transform(data, id = factor(paste0(id, "b"))))
  start <- as.integer(fitted(fit))
  prior <- prior_dirichlet(3)
  obs <- fit$model$obs
  given <- obs_regression(random = ~ 1 + t, random_df = 4, random_scale = obs$random_scale, df = 3,
    scale = .25, shared = FALSE)
  counted <- bnp_mixture(y ~ t, data, given, prior, bnp_control(seed = 1, max_laps = 500), start, id = ~ id,
    weights = rep(2, nrow(data)))
  written <- bnp_mixture(y ~ t, twice, given, prior, bnp_control(seed = 1, max_laps = 500), c(start, start), id = ~ id)
  expect_equal(elbo(counted), elbo(written), tolerance = 1e-5)
  known <- tapply(data$kind, data$id, `[`, 1L)
  known[-seq_len(30L)] <- NA
  labelled <- growth_fit(data, labels = known)
  truth <- data$kind[match(seq_len(90L), as.integer(data$id))]
  named <- predict(labelled, type = "label")[match(seq_len(90L), as.integer(data$id))]
  expect_true(all(named[1:30] == truth[1:30]))
  expect_gt(mean(as.character(named) == truth, na.rm = TRUE), .9)
})

test_that("with one cluster it is the mixed model that nlme fits", {
  skip_if_not_installed("nlme")
  data <- as.data.frame(nlme::Orthodont)
  data$Subject <- factor(as.character(data$Subject))
  fit <- growth_fit(data, distance ~ age + (1 + age | Subject), prior = prior_dirichlet(1))
  other <- nlme::lme(distance ~ age, data, ~ age | Subject, method = "REML")
  expect_lt(max(abs(coef(fit)$coef[1L, , 1L] - nlme::fixef(other)) / sqrt(diag(vcov(other)))), .1)
  own <- predict(fit, type = "effects")
  theirs <- as.matrix(coef(other))[rownames(own), ]
  expect_identical(colnames(own), colnames(theirs))
  expect_gt(cor(own[, 1L] + 11 * own[, 2L], theirs[, 1L] + 11 * theirs[, 2L]), .995)
  expect_true(all(is.finite(confint(fit)[grepl("coef", rownames(confint(fit))), ])))
  expect_equal(sqrt(diag(posterior_params(fit)$coef_cov[, , 1L])), sqrt(diag(vcov(other))), tolerance = 0.15)
})

test_that("effects may be independent of each other", {
  skip_if_not_installed("nlme")
  data <- growth_data("one", 1)
  for (shared in c(TRUE, FALSE)) {
    fit <- bnp_mixture(y ~ t, data, obs_regression(random = ~ (1 + t || id), shared = shared), id = ~ id,
      control = bnp_control(seed = 1, threads = 1L))
    expect_identical(n_clusters(fit), 1L)
    cov <- coef(fit)$random_cov[, , 1L]
    expect_identical(cov[1L, 2L], 0)
    other <- nlme::lme(y ~ t, data, list(id = nlme::pdDiag(~ t)))
    expect_equal(unname(diag(cov)), unname(as.numeric(nlme::VarCorr(other)[1:2, 1L])), tolerance = 0.15)
    expect_true(all(is.finite(predict(fit, data[c("id", "t")], "individual", interval = .9))))
    expect_true(all(is.finite(simulate(fit, seed = 1, new = FALSE)$sim_1$y)))
    expect_true(all(is.finite(confint(fit)[grepl("coef", rownames(confint(fit))), ])))
    ends <- confint(fit)
    expect_identical(sum(grepl("random_cov", rownames(ends))), if (shared) 0L else 2L)
  }
  # The same by a formula; another origin of t is another model, units are not.
  fit <- growth_fit(data, y ~ t + (1 + t || id))
  moved <- growth_fit(transform(data, t = t + 5), y ~ t + (1 + t || id))
  scaled <- growth_fit(transform(data, t = 12 * t, y = 10 * y), y ~ t + (1 + t || id))
  expect_gt(abs(elbo(fit) - elbo(moved)), 1)
  expect_equal(elbo(scaled), elbo(fit) - nrow(data) * log(10), tolerance = 1e-6)
  expect_bad(bnp_mixture(y ~ t, data, obs_regression(random = ~ (1 + t || id), random_scale = diag(2) + .1), id = ~ id),
    "argument")
})

test_that("individuals are predicted, with intervals that hold", {
  data <- growth_data("wide", 3)
  last <- !duplicated(data$id, fromLast = TRUE)
  fit <- growth_fit(data[!last, ])
  new <- data[last, ]
  known <- predict(fit, new[c("id", "t")], "individual", interval = .9)
  expect_identical(colnames(known), c("fit", "lower", "upper"))
  inside <- function(p) mean(new$y > p[, "lower"] & new$y < p[, "upper"])
  expect_gt(inside(known), .85)
  expect_lt(inside(known), .96)
  expect_lt(sqrt(mean((new$y - known[, "fit"])^2)), .8)
  alone <- predict(fit, new[c("id", "t")], "response", interval = .9)
  expect_gt(inside(alone), .84)
  expect_equal(unname(alone[, "fit"]), unname(predict(fit, new[c("id", "t")], "response")))
  expect_gt(mean(alone[, "upper"] - alone[, "lower"]), 2 * mean(known[, "upper"] - known[, "lower"]))
  # Rows of the same individual in newdata, under a name that the fit has not seen, are as good as the fit's own.
  both <- rbind(data[!last, c("id", "t", "y")], transform(new[c("id", "t")], y = NA))
  both$id <- paste0("new ", both$id)
  again <- predict(fit, both, "individual", interval = .9)[seq(nrow(both) - nrow(new) + 1L, nrow(both)), ]
  expect_equal(unname(again), unname(known), tolerance = 1e-10)
  effects <- predict(fit, type = "effects")
  expect_identical(rownames(effects), fit$input$individuals$names)
  expect_identical(colnames(effects), c("(Intercept)", "t"))
  expect_equal(effects, predict(fit, data[!last, ], "effects"))
  at <- match(new$id, rownames(effects))
  expect_equal(unname(known[, "fit"]), unname(effects[at, 1L] + effects[at, 2L] * new$t), tolerance = 1e-10)
  left <- residuals(fit, data[!last, ], "individual")
  expect_lt(sd(left), .55)
  expect_gt(sd(residuals(fit, data[!last, ])), .8)
  expect_true(is.finite(heldout_loglik(fit, new)))
})

test_that("the density of an individual is the normal one of its rows, where all is known", {
  data <- growth_data("one", 1, 40L)
  fit <- bnp_mixture(y ~ t, data, obs_regression(random = ~ 1 + t), prior_dirichlet(1), id = ~ id,
    control = bnp_control(seed = 1))
  means <- coef(fit)
  q <- posterior_params(fit)
  density <- predict(fit, data, "logdensity")
  by_hand <- vapply(split(data, data$id), function(one) {
    z <- cbind(1, one$t)
    cov <- diag(means$cov[1L], nrow(one)) + z %*% (means$random_cov[, , 1L] * (1 + 1 / q$random_strength)) %*% t(z)
    e <- backsolve(chol(cov), one$y - z %*% means$coef[1L, , 1L], transpose = TRUE)
    -sum(log(diag(chol(cov)))) - sum(e^2) / 2 - nrow(one) / 2 * log(2 * pi)
  }, 1)
  expect_equal(density, by_hand, tolerance = 1e-8)
})

test_that("drawn individuals are like those that were fitted", {
  data <- growth_data("wide", 1)
  fit <- growth_fit(data)
  drawn <- simulate(fit, nsim = 1, seed = 1, new = FALSE)$sim_1
  expect_identical(nrow(drawn), nrow(data))
  expect_true(all(tapply(as.integer(drawn$.class), drawn$.id, function(k) length(unique(k))) == 1L))
  again <- bnp_mixture(y ~ t + (1 + t | .id), drawn, control = bnp_control(seed = 1))
  expect_identical(n_clusters(again), 3L)
  expect_lt(abs(coef(again)$cov[1L] / coef(fit)$cov[1L] - 1), .25)
  one <- simulate(fit, seed = 1, id = rep(1:400, each = 2), covariates = data.frame(t = rep(c(0, 4), 400)), new = FALSE)
  wide <- matrix(one$sim_1$y, 2L)
  k <- matrix(as.integer(one$sim_1$.class), 2L)[1L, ] == 1L
  cov <- coef(fit)$random_cov[, , 1L]
  z <- cbind(1, c(0, 4))
  expect_equal(var(t(wide[, k])), z %*% cov %*% t(z) + diag(coef(fit)$cov[1L], 2L), tolerance = .35)
})

test_that("a fit is read and drawn", {
  skip_if_not_installed("ggplot2")
  fit <- growth_fit()
  expect_s3_class(tidy(fit), "data.frame")
  expect_true(all(c(".class") %in% names(augment(fit, growth_data("wide", 1)))))
  out <- as.data.frame(confint(fit))
  expect_true(nrow(out) > 0L)
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  plot(fit, type = "trajectories", data = growth_data("wide", 1))
  plot(fit, data = growth_data("wide", 1))
  print(ggplot2::autoplot(fit, type = "trajectories", data = growth_data("wide", 1)))
  plot(fit)
  expect_gt(file.size(file), 1000)
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(fit, path)
  expect_equal(predict(readRDS(path), type = "effects"), predict(fit, type = "effects"))
})

test_that("more individuals are taken in, and a fit goes on", {
  data <- growth_data("wide", 1, 80L)
  first <- as.integer(data$id) <= 50L
  fit <- growth_fit(data[first, ])
  more <- update(fit, newdata = data[!first, ])
  expect_identical(nrow(predict(more, type = "effects")), 80L)
  expect_identical(rownames(predict(more, type = "effects")), more$input$individuals$names)
  expect_identical(n_clusters(more), 3L)
  certainty <- function(fit) sum(1 / posterior_params(fit)$coef_cov[2L, 2L, ]) # adds up over individuals
  expect_gt(certainty(more), 1.3 * certainty(fit))
  expect_lt(certainty(more), 2 * certainty(fit))
  again <- bnp_mixture(y ~ t + (1 + t | id), data[first, ], start = fit, control = bnp_control(seed = 1))
  expect_equal(elbo(again), elbo(fit), tolerance = 1e-6)
  expect_bad(bnp_mixture(y ~ t + (1 + t | id), data, start = fit), "start")
  labels <- fitted(fit)
  expect_identical(n_clusters(bnp_mixture(y ~ t + (1 + t | id), data[first, ], start = labels)), 3L)
})

test_that("a fit goes on from a file, and other processes have the same bits", {
  data <- growth_data("wide", 2, 60L)
  fit <- function(data, control) bnp_mixture(y ~ t + (1 + t | id), data, control = control)
  case <- list(data, fit, list(batches = 3L))
  file <- withr::local_tempfile()
  whole <- stopped_after(Inf, checkpointed(case, file))
  for (after in some_of(c(5, 0, attr(whole, "reported") - 1), by = 3)) {
    unlink(file)
    expect_identical(c(stopped_after(after, checkpointed(case, file))), "stopped", ignore_attr = TRUE)
    expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, data))), bits_of_fit(whole))
  }
  how <- function(...) bnp_control(seed = 5, batches = 3, wave = 3, verbose = FALSE, ...)
  here <- fit(data, how())
  expect_identical(elbo(fit(data, how(threads = 2L))), elbo(here))
  local_desk()
  away <- fit(data, how(workers = TRUE))
  expect_identical(elbo(away), elbo(here))
  expect_identical(posterior_params(away), posterior_params(here))
})

test_that("what cannot be is refused with its place and a remedy", {
  data <- growth_data("one", 1, 12L)
  data$other <- data$id
  data$k <- factor(rep_len(1:7, nrow(data)))
  bad <- function(formula, ..., class = "formula") expect_bad(bnp_mixture(formula, data, ...), class)
  bad(y ~ t + (1 | id) + (0 + t | id))
  bad(y ~ t + (1 + t || id), obs_regression(random = ~ t))
  bad(y ~ t + (1 | id / other))
  bad(y ~ t + (1 | id), id = ~ other)
  bad(y ~ 1 + (1 + t | id))
  bad(y ~ 0 + t + (1 | id))
  bad(y ~ t + k + (1 + k | id))
  bad(y ~ t + (1 | id), obs_gaussian())
  bad(y ~ t + (1 | id), obs_regression(random = ~ t))
  bad(cbind(y, t) ~ 1 + (1 | id))
  bad(y ~ t, obs_regression(random = ~ t), class = "id")
  bad(y ~ t + (1 | nobody), class = "id")
  expect_bad(bnp_mixture(cbind(data$y, data$t), obs_regression(random = ~ t), id = data$id), "formula")
  expect_bad(bnp_hmm(y ~ t, data, obs = obs_regression(random = ~ t)), "formula")
  expect_bad(bnp_hmm(y ~ t + (1 | id), data), "formula")
  expect_bad(obs_regression(random = "t"), "formula")
  expect_bad(obs_regression(random = y ~ t), "formula")
  expect_bad(obs_regression(random = ~ (1 | id)), "formula")
  expect_bad(obs_regression(random = ~ t, tails = NULL), "not_defined")
  expect_bad(obs_regression(random = ~ t, learn = TRUE), "not_defined")
  expect_bad(obs_regression(random = ~ t, shared = NA), "argument")
  expect_bad(obs_regression(random_df = 4), "argument")
  expect_bad(obs_regression(shared = FALSE), "argument")
  bad(y ~ t, obs_regression(random = ~ t, random_df = .5), id = ~ id, class = "df")
  expect_bad(obs_regression(random = ~ t, random_df = 1e10), "range", "random_df")
  bad(y ~ t, obs_regression(random = ~ t, random_scale = diag(3)), id = ~ id, class = "argument")
  bad(y ~ t, obs_regression(random = ~ t, random_scale = diag(2) * 1e-10), id = ~ id, class = "range")
  bad(y ~ t, obs_regression(random = ~ t, coef_mean = 1), id = ~ id, class = "argument")
  single <- data[!duplicated(data$id), ]
  expect_bad(bnp_mixture(y ~ t + (1 | id), single), "id")
  fit <- growth_fit(data)
  expect_bad(bnp_mixture(y ~ t + (1 | id), bnp_stream(source_function(function(b) data, batches = 1L))), "formula",
    "stream")
  for (response in list(quote(y > 1), quote(factor(y > 1)), quote(as.character(y > 1)))) {
    formula <- as.formula(call("~", response, quote(t + (1 | id))))
    expect_bad(bnp_mixture(formula, data), "formula", "numbers, not for a logistic regression")
  }
  expect_identical(dim(predict(fit, data[0L, ], "effects")), c(0L, 2L))
  expect_bad(bnp_mixture(y ~ t, source_function(function(b) data[c("y", "t")], batches = 1L), id = ~ id), "id")
  expect_bad(bnp_mixture(y ~ t + (1 | id), data, prior = prior_covariates(~ kind)), "covariates")
  expect_bad(bnp_mixture(y ~ t + (1 | id), data, control = bnp_control("stochastic")), "argument")
  expect_bad(bnp_sample(fit, data), "not_defined")
  expect_bad(cluster_tree(fit, data), "not_defined")
  expect_bad(impute(fit, data), "not_defined")
  expect_bad(trajectories(fit), "not_defined")
  plain <- bnp_mixture(y ~ t | id, data, control = bnp_control(seed = 1, max_laps = 5))
  expect_bad(predict(plain, data, "effects"), "not_defined")
  expect_bad(predict(plain, data, "response", interval = .9), "not_defined")
  expect_bad(predict(fit, data, "class", interval = .9), "argument")
  expect_bad(residuals(plain, data, "individual"), "not_defined")
})

test_that("data that leave effects unknown are fitted with finite bounds and effects", {
  data <- growth_data("one", 1, 15L)
  finite <- function(data, formula = y ~ t + (1 + t | id)) {
    fit <- suppressMessages(bnp_mixture(formula, data, control = bnp_control(seed = 1, max_laps = 50)))
    expect_true(is.finite(elbo(fit)))
    expect_true(all(is.finite(predict(fit, type = "effects"))))
    fit
  }
  finite(transform(data, y = 1))
  finite(data[data$id == data$id[1L], ])
  finite(transform(data, t = rep_len(1:3, nrow(data))))
  finite(transform(data, t = t + 2015))
  finite(transform(data, u = 2 * t), y ~ t + u + (1 + t + u | id))
  for (unit in c(1e150, 1e-150)) {
    finite(transform(data, y = y * unit))
    finite(transform(data, t = t * unit))
    finite(transform(data, y = y * unit, t = t * unit))
  }
  finite(transform(data, t = t + 1.7e9)) # seconds
  finite(transform(data, t = 3)) # beside the intercept
  finite(transform(data, y = 2 + 3 * t))
  finite(transform(data, y = replace(y, 3, 1e6)))
  finite(transform(data, k = factor(rep_len(1:5, nrow(data)))), y ~ k + (1 | id))
  finite(transform(data, k = factor(rep_len(1:4, nrow(data)))), y ~ 0 + k + (0 + k | id))
  finite(rbind(data, data.frame(id = factor(paste("single", 1:40)), t = 1, y = rnorm(40), kind = 1)))
  finite(transform(data, y = replace(y, c(3, 10), NA))[-1, ] -> some, y ~ t + (1 | id)) |>
    expect_error(class = "bnpvi_error")
  left <- bnp_mixture(y ~ t + (1 | id), some, na_action = "model", control = bnp_control(seed = 1, max_laps = 20))
  expect_equal(elbo(left), elbo(bnp_mixture(y ~ t + (1 | id), some[!is.na(some$y), ],
    control = bnp_control(seed = 1, max_laps = 20))), tolerance = 1e-8)
})

test_that("each argument is taken at both ends", {
  data <- growth_data("one", 1, 15L)
  data$u <- cos(seq_len(nrow(data)))
  ends <- list(
    random_df = c(1.001, 1e6), random_scale = c(1e-6, 1e10), df = c(1e-3, 1e6), scale = c(1e-10, 1e10),
    coef_precision = c(1e-10, 1e10), coef_mean = c(-1e3, 1e3)
  )
  for (argument in names(ends)) for (value in ends[[argument]]) for (shared in c(TRUE, FALSE)) {
    if (!is_tried(match(argument, names(ends)), match(value, ends[[argument]]) + shared, by = 2L)) next
    given <- stats::setNames(list(if (argument == "random_scale") diag(2) * value else value), argument)
    fit <- suppressWarnings(bnp_mixture(y ~ t + u, data,
      do.call(obs_regression, c(list(random = ~ 1 + t, shared = shared), given)), id = ~ id,
      control = bnp_control(seed = 1, max_laps = 30, threads = 1L)))
    expect_true(all(is.finite(c(elbo(fit), predict(fit, type = "effects"), confint(fit)))), info = argument)
  }
})

test_that("the prior explains how far the covariance of effects is from that of nlme: many individuals outweigh it", {
  skip_if_not_installed("nlme")
  data <- as.data.frame(nlme::Orthodont)[1:3]
  data$Subject <- as.character(data$Subject)
  covariance <- function(data, ...) {
    obs <- obs_regression(random = ~ age, ...)
    coef(bnp_mixture(distance ~ age, data, obs, id = ~ Subject, prior = prior_dirichlet(1),
      control = bnp_control(verbose = FALSE, seed = 1)))$random_cov[, , 1L]
  }
  theirs <- unclass(nlme::getVarCov(nlme::lme(distance ~ age, data, ~ age | Subject, method = "ML")))[1:2, 1:2]
  at <- function(D) drop(c(1, 11) %*% D %*% c(1, 11)) # the variance at the age of 11, which is in the data
  of <- function(D) c(D[1, 1], D[2, 2], at(D))
  many <- do.call(rbind, lapply(1:40, function(i) transform(data, Subject = paste(Subject, i))))
  for (shared in some_of(c(TRUE, FALSE), by = 2)) {
    few <- covariance(data, shared = shared)
    expect_equal(of(covariance(many, shared = shared)), of(theirs), tolerance = .1)
    expect_true(all(of(few) < of(theirs)))
    # 27 individuals say less than a prior with the answer for its scale.
    expect_true(all(of(covariance(data, shared = shared, random_scale = 4 * theirs)) > of(few)))
  }
})
