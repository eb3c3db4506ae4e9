# Times that may be censored on the right: closed forms, every way that they come in, and bad input.

time <- c(0.3, 1.1, 0.2, 0.9, 2.5, 0.4)
status <- c(1, 1, 0, 1, 0, 1)
quiet <- function(...) bnp_control(..., verbose = FALSE)
one <- prior_dirichlet(1)
groups <- withr::with_seed(1, {
  cluster <- rep(1:2, each = 80)
  event <- rexp(160, c(1, 40)[cluster])
  until <- rexp(160, c(0.4, 16)[cluster])
  data.frame(time = pmin(event, until), status = 1 * (event <= until), cluster)
})

# log p of each time given those before it.
sequential <- function(x, a, b) {
  a <- a + c(0, cumsum(x[, 2])[-nrow(x)])
  b <- b + c(0, cumsum(x[, 1])[-nrow(x)])
  sum(-a * log1p(x[, 1] / b) + x[, 2] * log(a / (b + x[, 1])))
}

test_that("the evidence is what quadrature gave, and that of exponential times where none is censored", {
  model <- function(...) list(obs = list(family = "censored", a = 2, b = 0.7), prior = one)
  e <- engine_contract(engine_data(cbind(time, status)), model(), cbind(rep(1, 6)))
  expect_equal(e$evidence, -6.77559077, tolerance = 1e-9)
  by_rate <- function(rate) vapply(rate, function(r) {
    prod(ifelse(status == 1, dexp(time, r), 1 - pexp(time, r))) * dgamma(r, 2, 0.7)
  }, 0)
  expect_equal(e$evidence, log(integrate(by_rate, 0, Inf, rel.tol = 1e-10)$value), tolerance = 1e-8)
  x <- cbind(groups$time, 1)
  all <- bnp_mixture(x, obs_survival(), control = quiet(seed = 1))
  plain <- bnp_mixture(groups$time, obs_gamma(1), control = quiet(seed = 1))
  expect_equal(elbo(all), elbo(plain), tolerance = 1e-10)
  expect_identical(unname(fitted(all)), unname(fitted(plain)))
})

test_that("the ELBO of one cluster is the exact log evidence, in every family", {
  x <- as.matrix(groups[c("time", "status")])
  exact <- sequential(x, 0.7, 2)
  obs <- obs_survival(0.7, 2)
  for (batches in c(1, 3)) {
    control <- quiet(seed = 1, batches = batches)
    expect_equal(elbo(bnp_mixture(x, obs, one, control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_hmm(x, rep(1:4, each = 40), obs, prior_hmm(1), control)), exact, tolerance = 1e-12)
    expect_equal(elbo(bnp_topics(x, obs, prior_lda(1), control, id = rep(1:4, 40))), exact, tolerance = 1e-12)
  }
  fit <- bnp_mixture(x, obs, one, quiet())
  new <- cbind(time = c(2, 2), status = 0:1)
  expect_equal(predict(fit, new[1, , drop = FALSE], "logdensity"), sequential(rbind(x, new[1, ]), 0.7, 2) - exact)
  expect_equal(predict(fit, new[2, , drop = FALSE], "logdensity"), sequential(rbind(x, new[2, ]), 0.7, 2) - exact)
})

test_that("times come as a Surv, as columns, or in a formula, and are found by their names", {
  skip_if_not_installed("survival")
  x <- groups[c("time", "status")]
  control <- quiet(seed = 1)
  fit <- bnp_mixture(x, obs_survival(), control = control)
  expect_equal(n_clusters(fit), 2)
  expect_gt(adjusted_rand_index(fitted(fit), groups$cluster), 0.4)
  surv <- survival::Surv(groups$time, groups$status)
  frame <- data.frame(id = seq_len(160))
  frame$y <- surv
  same <- list(
    surv = bnp_mixture(surv, obs_survival(), control = control),
    matrix = bnp_mixture(unname(as.matrix(x)), obs_survival(), control = control),
    logical = bnp_mixture(data.frame(t = x$time, dead = x$status == 1), obs_survival(), control = control),
    column = bnp_mixture(frame["y"], obs_survival(), control = control),
    formula = bnp_mixture(~ survival::Surv(time, status), groups, obs_survival(), control = control)
  )
  for (other in same) {
    expect_identical(elbo(other), elbo(fit))
    expect_identical(unname(fitted(other)), unname(fitted(fit)))
    expect_identical(dim(coef(other)$rate), c(2L, 1L))
  }
  expect_identical(colnames(coef(same$column)$rate), "y")
  expect_identical(colnames(coef(fit)$rate), "time")
  expect_identical(tidy(same$column)$term, c("y", "y"))
  for (names in list(c(NA, "b"), c("a", NA))) {
    half <- bnp_mixture(`colnames<-`(as.matrix(x), names), obs_survival(), control = control)
    expect_identical(colnames(coef(half)$rate), c(names[1], "x1")[1 + is.na(names[1])])
  }
  expect_identical(predict(fit, x[160:1, 2:1]), rev(unname(fitted(fit))), ignore_attr = TRUE)
  expect_identical(predict(same$column, frame[5:1, ]), unname(fitted(fit))[5:1], ignore_attr = TRUE)
  expect_identical(predict(same$formula, groups[5:1, ]), unname(fitted(fit))[5:1], ignore_attr = TRUE)
  expect_identical(predict(same$surv, surv[5:1]), unname(fitted(fit))[5:1], ignore_attr = TRUE)
  expect_output(print(summary(fit)), "censored")
  expect_equal(rownames(confint(same$column, "rate")), c("rate[1,y]", "rate[2,y]"))
  simulated <- simulate(same$column, seed = 1, n = 30)$sim_1
  expect_named(simulated, c("y.time", "y.status", ".class"))
  expect_true(all(simulated$y.status == 1))
  expect_bad(bnp_mixture(survival::Surv(1:3, 2:4, c(1, 0, 1)), obs_survival()), "input", "counting.*right")
  interval <- data.frame(id = 1:3)
  interval$y <- survival::Surv(1:3, 2:4, c(1, 0, 1))
  expect_bad(bnp_mixture(interval["y"], obs_survival()), "input", "counting")
})

test_that("censoring is not taken for an end: the rate is events over time", {
  fit <- bnp_mixture(groups[1:2], obs_survival(1e-10), one, quiet())
  expect_equal(unname(coef(fit)$rate), cbind(sum(groups$status) / sum(groups$time)))
  obs <- resolve_obs(obs_survival(2), as_mixture_data(groups[1:2], obs_survival()))
  expect_equal(obs$b, 2 * sum(groups$time) / sum(groups$status))
  none <- bnp_mixture(cbind(1:3, 0), obs_survival(), one, quiet())
  expect_equal(none$model$obs$b, 12)
  expect_equal(unname(coef(none)$rate), cbind(1 / 18))
})

test_that("times and priors may be extreme", {
  x <- as.matrix(groups[1:2])
  plain <- bnp_mixture(x, obs_survival(), control = quiet(seed = 1))
  for (unit in c(1e-140, 1e140)) {
    fit <- bnp_mixture(x %*% diag(c(unit, 1)), obs_survival(), control = quiet(seed = 1))
    expect_identical(unname(fitted(fit)), unname(fitted(plain)))
    expect_equal(elbo(fit) + sum(groups$status) * log(unit), elbo(plain), tolerance = 1e-9)
  }
  for (a in 10^c(-10, -5, 0, 10, 50)) {
    fit <- bnp_mixture(x, obs_survival(a, max(a / 3, 1e-10)), one, quiet())
    expect_equal(elbo(fit), sequential(x, a, max(a / 3, 1e-10)), tolerance = 1e-8)
  }
})

test_that("what is no time and no status is refused by row and remedy", {
  fit <- function(x, ...) bnp_mixture(x, obs_survival(...), control = quiet(max_laps = 2))
  good <- data.frame(time = c(1, 2, 3), status = c(1, 0, 1))
  expect_bad(fit(good$time), "not_times", "two columns, not 1.*\n.*Surv")
  expect_bad(fit(cbind(good, 1)), "not_times", "two columns, not 3")
  expect_bad(fit(replace(good, 1, c(1, 0, 2))), "not_times", "above 0.*\n.*row 2")
  expect_bad(fit(replace(good, 1, c(1, 2, -2))), "not_times", "\\(3, time\\)")
  expect_bad(fit(replace(good, 1, c(1, 2, 1e200))), "not_times", "1e150.*\n.*row 3")
  expect_bad(fit(replace(good, 1, c(1, NA, 2))), "not_finite", "\\(2, time\\)")
  expect_bad(fit(replace(good, 2, c(1, 2, 1))), "not_times", "0 or 1.*\n.*row 2.*\n.*censored times as 0")
  expect_bad(fit(replace(good, 2, c(1, 0.5, 1))), "not_times", "row 2")
  expect_bad(fit(replace(good, 2, c("yes", "no", "no"))), "not_numeric", "status")
  expect_bad(fit(good, a = c(1, 2)), "argument", "`a` must have one value")
  expect_bad(obs_survival(0), "argument", "`a`")
  expect_bad(obs_survival(1, -1), "argument", "`b`")
  expect_bad(predict(fit(good), good["time"]), "newdata_columns", "status")
  expect_bad(residuals(bnp_hmm(good, obs = obs_survival(), control = quiet(max_laps = 2)), good), "argument", "surv")
  expect_equal(fit(good, a = c(time = 2))$model$obs$a, 2)
  expect_bad(fit(good, a = c(wait = 2)), "names", "Not a column")
})

test_that("survival times are refused by models that would take their status for a value", {
  times <- survival::Surv(stats::rweibull(40, 2, 5), rep(1:0, c(30, 10)))
  for (x in list(times, data.frame(t = times))) {
    for (obs in list(NULL, obs_weibull(), obs_gaussian(), obs_product(obs_weibull()))) {
      expect_bad(bnp_mixture(x, obs), "not_numeric", "obs_survival\\(shape = NULL\\)")
    }
  }
  expect_bad(bnp_hmm(times), "not_numeric", "obs_survival")
  d <- data.frame(t = times, age = stats::rnorm(40))
  for (fit in list(bnp_mixture, bnp_hmm)) expect_bad(fit(t ~ age, d), "response", "obs_survival")
})
