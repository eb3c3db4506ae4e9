# Probabilities of the training data, and pictures of them.

kept <- bnp_control(seed = 1, max_laps = 8, keep = "probabilities", verbose = FALSE)

test_that("a fit keeps the probabilities of its observations when asked", {
  fit <- suppressWarnings(bnp_mixture(faithful, control = kept))
  for (type in c("prob", "responsibility")) expect_equal(predict(fit, type = type), predict(fit, faithful, type = type))
  expect_identical(predict(fit, type = "responsibility"), fit$probabilities)
  expect_gt(max(abs(fit$probabilities - predict(fit, type = "prob"))), 1e-4)
  expect_identical(predict(fit, type = "class"), fitted(fit))
  expect_bad(predict(fit, type = "logdensity"), "newdata", "give them again")
  bare <- suppressWarnings(bnp_mixture(faithful, control = bnp_control(seed = 1, max_laps = 8, verbose = FALSE)))
  expect_null(bare$probabilities)
  expect_equal(elbo(bare), elbo(fit))
  expect_bad(predict(bare, type = "prob"), "newdata", "keep = \"probabilities\"", fixed = TRUE)
  path <- suppressWarnings(bnp_hmm(beaver1["temp"], obs = obs_ar(), control = kept))
  for (type in c("prob", "responsibility")) {
    expect_bad(predict(bare, type = type), "newdata", "keep = \"probabilities\"", fixed = TRUE)
    expect_equal(predict(path, type = type), predict(path, beaver1["temp"], type = type))
  }
  expect_equal(predict(path, type = "marginal"), predict(path, beaver1["temp"], type = "marginal"))
  expect_bad(bnp_topics(bars$counts, control = kept), "argument", "fitted")
  expect_bad(bnp_control(keep = "data"), "argument", "keep")
  expect_output(print(kept), "keep +probabilities")
})

test_that("uncertainty can be drawn for every kind of data, and is that of the probabilities", {
  withr::local_pdf(NULL)
  fit <- suppressWarnings(bnp_mixture(faithful, control = kept))
  line <- suppressWarnings(bnp_mixture(faithful$waiting, control = kept))
  binary <- suppressWarnings(bnp_mixture(animals, obs_bernoulli(), control = kept))
  series <- suppressWarnings(bnp_mixture(faithful, obs_ar(), control = kept))
  cases <- list(list(fit, faithful, "plane"), list(fit, NULL, "sorted"), list(line, faithful$waiting, "line"),
                list(binary, animals, "sorted"), list(series, faithful, "sorted"))
  for (case in cases) {
    picture <- uncertainty_picture(case[[1]], case[[2]])
    expect_identical(picture$kind, case[[3]])
    expect_equal(sort(1 - apply(case[[1]]$probabilities, 1, max)), picture$points$uncertainty, ignore_attr = TRUE)
    expect_silent(plot(case[[1]], "uncertainty", data = case[[2]]))
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(case[[1]], "uncertainty", data = case[[2]])))
    }
  }
  at <- uncertainty_picture(fit, faithful)$points
  expect_equal(sort(at$x), sort(faithful$eruptions))
  fit$probabilities <- NULL
  expect_bad(plot(fit, "uncertainty"), "newdata", "keep")
  expect_bad(plot(fit, "uncertainty", data = faithful[0, ]), "no_rows")
})
