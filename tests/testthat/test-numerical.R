# What happens when numbers break down: squares of data far from the origin lose all their digits when the
# engine is told to keep the origin where it is.

far_data <- function(seed) {
  toy <- toy_sequences(seed, 200)
  toy$data$x <- toy$data$x + 1e7
  toy$data
}
far_model <- list(
  obs = utils::modifyList(diagonal_model(), list(mean = c(1e7, 1e7))), prior = list(family = "dp", concentration = 1)
)

test_that("learning ends with the last lap before the bound fell", {
  for (batches in c(1L, 4L)) {
    for (seed in 1:4) {
      control <- function(...) engine_control(6, seed, batches = batches, tol = 1e-12, ...)
      data <- far_data(seed)
      fit <- with_breakdowns(engine_fit(data, far_model, control(max_laps = 20L), NULL, NULL))
      expect_equal(fit$reason, "numerical")
      expect_false(fit$converged)
      expect_equal(fit$taken_back$lap, fit$laps + 1)
      expect_lt(fit$taken_back$elbo, fit$elbo)
      expect_equal(fit$trace$elbo[fit$laps], fit$elbo)
      before <- engine_fit(data, far_model, control(max_laps = fit$laps), NULL, NULL)
      for (what in c("state", "elbo", "terms", "trace", "labels", "sizes")) {
        expect_identical(
          fit[[what]][names(fit[[what]]) != "seconds"], before[[what]][names(before[[what]]) != "seconds"]
        )
      }
    }
  }
})

# Beyond the range that constructors take.
beyond <- function(prior, alpha) utils::modifyList(prior, list(alpha = alpha))

test_that("a breakdown is a warning that names the lap, the bound and the remedy", {
  x <- withr::with_seed(1, matrix(rnorm(400), 200) + 1e7 + 4 * rep(1:4, each = 50))
  at_origin <- function(...) utils::modifyList(resolve_obs(...), list(centre = c(0, 0), unit = c(1, 1)))
  replace_in_package("resolve_obs", at_origin, environment())
  replace_in_package("check_against_data", function(...) NULL, environment())
  fit <- NULL
  expect_warning(
    fit <- with_breakdowns(bnp_mixture(x, obs_gaussian("diagonal", mean_strength = 0.01, df = 3, scale = 1),
      control = bnp_control(seed = 1, k_init = 6, moves = FALSE, tol = 1e-12)
    )),
    "broke down in lap .*fell from .*prior", class = "bnpvi_warning_numerical"
  )
  expect_false(fit$converged)
  expect_equal(utils::tail(elbo_trace(fit)$elbo, 1), elbo(fit))
  expect_null(fit$taken_back)
  expect_output(print(fit), "not converged, as numbers broke down")
})

test_that("a breakdown in a test fails it unless it is expected", {
  expect_error(engine_fit(far_data(1), far_model, engine_control(6, tol = 1e-12), NULL, NULL), "broke down in lap")
})

test_that("a bound of which rounding leaves nothing is an error, whatever the model", {
  x <- toy_corpus()
  sequences <- list(matrix(rnorm(80), 40), matrix(rnorm(60), 30))
  control <- bnp_control(seed = 1, max_laps = 5)
  expect_bad(bnp_topics(x, prior = beyond(prior_hdp(), 1e20), control = control), "numerical", "less extreme .*`x`")
  expect_bad(bnp_topics(x, prior = beyond(prior_lda(4), 1e20), control = control), "numerical", "less extreme")
  expect_bad(bnp_hmm(sequences, prior = beyond(prior_hdp_hmm(), 1e20), control = control), "numerical", "less extreme")
  expect_bad(bnp_hmm(sequences, prior = beyond(prior_hmm(3), 1e20), control = control), "numerical", "less extreme")
  stochastic <- bnp_control(seed = 1, max_laps = 5, algorithm = "stochastic")
  expect_bad(bnp_topics(x, prior = beyond(prior_lda(4), 1e20), control = stochastic), "numerical", "less extreme")
})

test_that("topics whose numbers break down keep documents that add up", {
  x <- toy_corpus(documents = 60, topics = 4)
  fit <- NULL
  for (alpha in some_of(10^seq(8, 12, by = 0.5), by = 2)) {
    for (seed in some_of(1:3, by = 2)) {
      fit <- tryCatch(
        with_breakdowns(suppressWarnings(
          bnp_topics(
            x, prior = beyond(prior_hdp(), alpha), control = bnp_control(seed = seed, max_laps = 10, batches = 3)
          ),
          classes = "bnpvi_warning_numerical"
        )),
        bnpvi_error_numerical = function(e) NULL
      )
      if (is.null(fit)) next
      expect_equal(unname(Matrix::rowSums(fit$documents)), unname(rowSums(x)), tolerance = 1e-9)
      expect_gte(min(diff(elbo_trace(fit)$elbo), 0), -1 - 1e-8 * sum(abs(elbo(fit, terms = TRUE))))
    }
  }
})

test_that("where numbers break down before a split has seeds, that is an error and no crash", {
  x <- matrix(c(
    1, .Machine$double.xmax, 3, 0, 1, 1, 2, 2, 1, 2, 3, 3, 2, 3, 0, 1, 1, 1, 0, 3, 2, 4, 2, 1, 1, 1, 0, 0, 0, 0,
    1, 4, 0, 2, 1, 3, 4, 3, 2, 1, 0, 0, 0, 0, 3, 4, 2, 1, 1, 3, 1, 3, 2, 2, 0, 1
  ), 14)
  few <- bnp_control(seed = 1, max_laps = 3, verbose = FALSE)
  learn <- function(...) suppressWarnings(bnp_mixture(x, obs_binomial(0.1, 0.3), control = few, ...))
  for (breakdowns in c(TRUE, FALSE)) {
    withr::local_options(bnpvi.breakdowns = breakdowns)
    expect_bad(learn(weights = rep(1:2, 7), labels = rep(c("p", NA), 7)), "numerical")
    expect_bad(learn(weights = rep(1:2, 7)), "numerical")
  }
})
