# What moves tell of their trials (inst/bench/proposals.R prints it).

traced_run <- function(x, ...) {
  case <- planted_case("gaussian_full", obs_gaussian(learn = FALSE), x, rep(1, nrow(x)))
  n <- case$data$n
  control <- resolve_control(bnp_control(..., verbose = FALSE), case$model$obs, case$model$prior, n, n, NULL)
  control$proposals <- TRUE
  engine_fit(case$data, list(obs = case$model$obs, prior = case$model$prior), control, NULL, NULL)
}

test_that("a trace has every trial that the laps count, and what was accepted gained", {
  skip_without_testing_entries()
  set.seed(1)
  x <- matrix(rnorm(20, sd = 4), 10)[sample(10, 600, TRUE), ] + matrix(rnorm(1200), 600)
  fit <- traced_run(x, seed = 1)
  trials <- fit$proposals
  accepted <- trials$accepted
  expect_true(all(trials$gain[accepted] > 0))
  expect_true(all(trials$seconds >= 0))
  for (kind in c("merge", "delete")) {
    expect_equal(sum(trials$kind == kind), sum(fit$trace[[paste0(kind, "s_tried")]]))
    expect_equal(sum(trials$kind == kind & accepted), sum(fit$trace[[paste0(kind, "s")]]))
  }
  grown <- trials$kind %in% c("birth", "refit", "refit with one more")
  expect_equal(sum(grown & accepted), sum(fit$trace$births))
  expect_gt(sum(trials$kind == "birth" & is.na(trials$gain)), 0)
})
