# The line that names models which describe a column better than the default, and where there is none.

seeded <- bnp_control(seed = 1, verbose = FALSE)
planted_frame <- function() {
  withr::with_seed(4, {
    z <- rep(1:2, each = 150)
    data.frame(
      plain = stats::rnorm(300, 8 * z), visits = stats::rnbinom(300, size = 2, mu = c(4, 30)[z]),
      income = stats::rlnorm(300, c(1, 3)[z], 0.6), change = c(-9, 9)[z] + stats::rt(300, 2.5)
    )
  })
}
quiet_fit <- function(x, ...) suppressMessages(suppressWarnings(bnp_mixture(x, ..., control = seeded)))

test_that("counts, values that lean to the right and heavy tails are named with a model of their kind", {
  fit <- quiet_fit(planted_frame())
  by <- stats::setNames(fit$better$by, fit$better$column)
  expect_setequal(names(by), c("visits", "income", "change"))
  expect_identical(by[["visits"]], "obs_negbinomial()")
  expect_true(by[["income"]] %in% c("obs_lognormal()", "obs_gamma()"))
  expect_identical(by[["change"]], "obs_student()")
  expect_true(all(fit$better$nats >= 10) && !is.unsorted(-fit$better$nats))
  shown <- paste(capture.output(print(fit)), collapse = " ")
  expect_match(shown, "Better described within these clusters: ", fixed = TRUE)
  expect_match(shown, "visits by obs_negbinomial()", fixed = TRUE)
})

test_that("each kind is named where it is the only column, and in a frame with levels", {
  x <- planted_frame()
  for (name in c("visits", "income", "change")) {
    fit <- quiet_fit(x[name])
    expect_true(is.null(fit$better) || identical(fit$better$column, name))
  }
  with_levels <- quiet_fit(cbind(x, group = factor(rep(c("a", "b"), each = 150))))
  expect_true(all(c("visits", "income", "change") %in% with_levels$better$column))
})

test_that("Gaussian columns, rounded ones too, have no line, and neither have models that were asked for", {
  x <- withr::with_seed(5, {
    z <- rep(1:3, each = 120)
    data.frame(a = stats::rnorm(360, 6 * z), b = stats::rnorm(360, -5 * z, 2), c = round(stats::rnorm(360, 40 * z, 8)))
  })
  fit <- quiet_fit(x)
  expect_null(fit$better)
  expect_false(any(grepl("Better", capture.output(print(fit)))))
  expect_null(quiet_fit(planted_frame(), obs = obs_gaussian())$better)
})

test_that("nats are those of whole bounds of the column alone, with the clusters as they are", {
  x <- planted_frame()
  fit <- quiet_fit(x)
  resp <- predict(fit, x, type = "responsibility")
  elbo_at <- function(obs) {
    data <- as_mixture_data(cbind(x$change), obs)
    case <- list(data = data, model = list(obs = resolve_obs(obs, data), prior = prior_dirichlet(ncol(resp))))
    engine_fit(data, case$model, engine_control(ncol(resp), max_laps = 0L), list(resp = resp), NULL)$elbo
  }
  q <- fit$model$obs
  own <- list(mean = q$mean[4], mean_strength = q$mean_strength, df = q$df - 3, scale = q$scale[4, 4])
  gain <- elbo_at(do.call(obs_student, c(own, list(tails = NULL)))) -
    elbo_at(do.call(obs_gaussian, c(own, list(learn = FALSE))))
  expect_equal(fit$better$nats[fit$better$column == "change"], gain, tolerance = 1e-6)
})

test_that("missing values, weights and constant columns are no hindrance", {
  x <- planted_frame()
  x$visits[7] <- NA
  x$same <- 3
  fit <- quiet_fit(x, na_action = "model", weights = rep(1:2, 150))
  expect_true(all(c("visits", "income", "change") %in% fit$better$column))
  expect_false("same" %in% fit$better$column)
})
