# Regressions of yes, no and counts with data and arguments at their extremes, in clusters and in states.

withr::local_options(rlib_message_verbosity = "quiet")

d <- withr::with_seed(1, data.frame(id = rep(1:10, each = 4), x = stats::rnorm(40), u = stats::rnorm(40)))
d$yes <- withr::with_seed(2, stats::rbinom(40, 1, stats::plogis(2 * d$x)) == 1)
d$count <- withr::with_seed(3, stats::rnbinom(40, size = 2, mu = exp(1 + 0.5 * d$x)))
d$at <- rep(1:4, 10)
responses <- list(yes = obs_regression(family = "binomial"), count = obs_regression(family = "negbinomial"))

finite <- function(formula, data, obs, verb = "mixture", ...) {
  control <- bnp_control(seed = 1, verbose = FALSE, max_laps = 15, restarts = 1)
  verb_of <- if (verb == "mixture") bnp_mixture else bnp_hmm
  fit <- suppressWarnings(verb_of(formula, data, obs = obs, id = ~ id, control = control, ...))
  what <- paste(verb, deparse(formula))
  expect_true(is.finite(elbo(fit)), info = what)
  expect_true(all(is.finite(coef(fit)$coef)), info = what)
  expect_true(all(is.finite(confint(fit, "coef"))), info = what)
  invisible(fit)
}

for (name in names(responses)) test_that(paste0(name, ": hard data have finite bounds, coefficients and intervals"), {
  data <- d
  data$y <- data[[name]]
  obs <- responses[[name]]
  for (verb in c("mixture", "hmm")) {
    fit <- function(data, formula = y ~ x, ...) finite(formula, data, obs, verb, ...)
    fit(transform(data, x = x + 2015)) # years
    fit(transform(data, x = x * 1e150))
    fit(transform(data, x = x * 1e-150))
    fit(transform(data, x = 1)) # beside the intercept
    fit(transform(data, u = 2 * x), y ~ x + u)
    fit(transform(data, x = at)) # the same for all individuals
    fit(transform(data, y = y[1]))
    fit(data[1:4, ]) # one individual
    fit(data[c(1, 5, 9, 13:16), ]) # most with one row
    fit(transform(data, f = factor(rep_len(letters[1:5], 40))), y ~ f)
    fit(data, y ~ 1)
    fit(transform(data, y = if (name == "yes") x > 0 else 50 * (x > 0))) # separated
  }
  # Rows of weight 0 are as good as none.
  counted <- finite(y ~ x, data[1:20, ], obs)
  weighted <- finite(y ~ x, data, obs, weights = rep(1:0, each = 20))
  expect_equal(length(fitted(weighted)), 40L)
  expect_true(is.finite(elbo(counted)))
})

test_that("arguments at both ends have finite bounds", {
  for (name in names(responses)) for (verb in c("mixture", "hmm")) {
    data <- transform(d, y = d[[name]])
    family <- c(yes = "binomial", count = "negbinomial")[[name]]
    with <- function(...) finite(y ~ x, data, obs_regression(family = family, ...), verb)
    for (precision in c(1e-10, 1e10)) with(coef_precision = precision)
    for (mean in c(-1e3, 1e3)) with(coef_mean = c(mean, 0))
    if (name == "count") for (size in list(1e-3, 100, c(0.25, 20))) with(size = size)
  }
})
