# Waves: several batches are visited before the globals are renewed (inst/design/data.md).

test_that("a wave of one batch is what there was before, and a large one is as one of all batches", {
  cases <- worker_cases()[c("mixture", "topics", "sequences")]
  for (name in names(cases)) {
    plain <- fit_of_case(cases[[name]], laps = 8L)
    expect_identical(plain$control$wave, 1L)
    expect_identical(bits_of_work(fit_of_case(cases[[name]], laps = 8L, wave = 1L)), bits_of_work(plain), info = name)
    all <- bits_of_work(fit_of_case(cases[[name]], laps = 8L, wave = cases[[name]][[3]]$batches))
    more <- bits_of_work(fit_of_case(cases[[name]], laps = 8L, wave = 1000L))
    all$control$wave <- more$control$wave <- NULL
    expect_identical(more, all, info = name)
  }
})

test_that("a wave of all batches, without moves, is learning from all data at once", {
  cases <- worker_cases()[c("mixture", "fixed", "topics", "sequences", "states")]
  for (name in names(cases)) {
    still <- bnp_moves(FALSE, FALSE, FALSE, reorder = FALSE)
    k <- if (name %in% c("fixed", "states")) NULL else 4L
    init <- if (name == "topics") "anchor" else "random"
    of <- function(...) fit_of_case(cases[[name]], moves = still, k_init = k, init = init, tol = 0, laps = 12L, ...)
    waves <- of(wave = 100L)
    full <- of(algorithm = "full", batches = NULL)
    expect_equal(waves$trace$elbo, full$trace$elbo, tolerance = 1e-10, info = name)
    expect_false(isTRUE(all.equal(of(wave = 1L)$trace$elbo, full$trace$elbo, tolerance = 1e-10)), info = name)
  }
})

test_that("the objective is exact in every wave, and rises", {
  data <- withr::with_seed(1, matrix(rnorm(16, sd = 5), 8)[sample(8, 500, TRUE), ] + rnorm(1000))
  fit <- bnp_mixture(data, control = bnp_control(seed = 1, batches = 5))
  for (wave in c(2L, 3L, 5L)) {
    control <- resolve_control(
      bnp_control(seed = 2, batches = 5, wave = wave, max_laps = 30), fit$model$obs, fit$model$prior, 500, 500, NULL
    )
    control$audit <- TRUE
    expect_audited(engine_fit(engine_data(data), fit$model, control, NULL, NULL))
  }
})

test_that("threads, sources and checkpoints do not change the bits of a wave", {
  case <- worker_cases()$mixture
  fit <- bits_of_work(fit_of_case(case, wave = 3L))
  expect_identical(bits_of_work(fit_of_case(case, wave = 3L, threads = 2L)), fit)
  expect_fit_of_source(
    bnp_mixture(in_pieces(case[[1]], 200), control = how_source(batches = 5L, wave = 3L)),
    bnp_mixture(case[[1]], control = how_source(batches = dealt(900, 5), wave = 3L)), "a wave"
  )
  file <- withr::local_tempfile()
  whole <- stopped_after(Inf, checkpointed(case, file, wave = 3L))
  stopped_after(3, checkpointed(case, file, wave = 3L))
  expect_identical(bits_of_fit(stopped_after(Inf, bnp_resume(file, case[[1]]))), bits_of_fit(whole))
})

test_that("waves that are none are refused", {
  for (wave in list(0, -1, 2.5, NA, "two", c(1, 2), TRUE, Inf)) {
    expect_error(bnp_control(wave = wave), "wave", class = "bnpvi_error_argument")
  }
  expect_error(bnp_control("full", wave = 2), "no meaning.*full", class = "bnpvi_error_argument")
  expect_error(bnp_control("stochastic", wave = 2), "no meaning", class = "bnpvi_error_argument")
  expect_error(bnp_control("truncation_free", wave = 2), "no meaning", class = "bnpvi_error_argument")
  expect_error(bnp_features(faithful, control = bnp_control(wave = 2)), "wave", class = "bnpvi_error_argument")
})
