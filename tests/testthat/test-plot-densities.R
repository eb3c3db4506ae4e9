# Pictures of fitted densities of columns, and what they are drawn from.

quiet <- bnp_control(seed = 1, max_laps = 5, verbose = FALSE)
fitted_to <- function(x, obs, ...) suppressWarnings(bnp_mixture(x, obs, control = quiet, ...))
group <- rep(1:2, each = 40)
data <- withr::with_seed(1, list(
  gamma = rgamma(80, 3, c(1, 0.1)[group]), weibull = rweibull(80, 2, c(1, 20)[group]),
  angle = wrapped(c(0, 2)[group] + draw_angles(80, 5)), count = rnbinom(80, 2, mu = c(2, 30)[group]),
  number = rnorm(80, c(0, 6)[group]), level = factor(c("a", "b")[group])
))
data$step <- data$gamma * rep(c(1, 1, 1, 0), 20)
models <- list(
  gamma = obs_gamma(), weibull = obs_weibull(), angle = obs_vonmises(), count = obs_negbinomial(),
  step = obs_gamma(zeros = TRUE), known = obs_gamma(2), poisson = obs_poisson()
)
columns <- c(known = "gamma", poisson = "count")
values_of <- function(name) data[[if (name %in% names(columns)) columns[[name]] else name]]

panels_of <- function(fit, x = NULL) {
  densities_picture(fit, if (!is.null(x)) as_newdata(fit, x, NULL, "data"), NULL)$panels
}
drawn <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(...)
}

test_that("densities of every model sum to 1 with their mass at 0, and are what the model's draws have", {
  for (name in names(models)) {
    fit <- fitted_to(values_of(name), models[[name]])
    column <- obs_densities(fit$model$obs, parts_of_clusters(fit$model$obs, mean_arrays(fit), 1L)[[1L]])[[1L]]
    total <- if (column$discrete) sum(column$density(0:5000)) else if (column$circular) {
      integrate(column$density, -pi, pi)$value
    } else {
      integrate(function(t) column$density(exp(t)) * exp(t), -40, 15, subdivisions = 1000L)$value
    }
    expect_equal(total + column$mass_0, 1, tolerance = 1e-4, label = name)
    panel <- panels_of(fit, values_of(name))[[1L]]
    expect_equal(panel$total$density, as.vector(rowsum(panel$parts$density, rep(seq_len(nrow(panel$total)),
      length.out = nrow(panel$parts)
    ))), label = name)
    # The histogram, as a density, is near the curve.
    bars <- bars_of_panel(panel)
    width <- diff(bars$breaks)
    expect_equal(sum(bars$density * width), if (name == "step") 0.75 else 1, label = name)
    if (name == "step") expect_equal(panel$mass_0, 0.25, tolerance = 0.05)
  }
})

test_that("pictures are drawn of mixtures and sequences, with and without data", {
  x <- as.data.frame(data)
  both <- fitted_to(x[c("gamma", "angle", "level")], obs_product(
    obs_gamma(columns = "gamma"), obs_vonmises(columns = "angle"), obs_categorical(columns = "level")
  ))
  expect_message(drawn(both, "density", data = x[c("gamma", "angle", "level")]), "level.*not drawn",
    class = "bnpvi_message_picture"
  )
  suppressMessages(expect_identical(names(panels_of(both)), c("gamma", "angle")))
  for (name in names(models)) {
    fit <- fitted_to(values_of(name), models[[name]])
    expect_silent(drawn(fit, "density"))
    expect_silent(drawn(fit, "density", data = values_of(name), main = "A column"))
  }
  chain <- suppressWarnings(bnp_hmm(cbind(data$gamma, data$weibull), obs = obs_weibull(), control = quiet))
  expect_silent(drawn(chain, "density", data = cbind(data$gamma, data$weibull)))
  wide <- fitted_to(cbind(a = data$number, b = data$angle, c = data$gamma), obs_gaussian())
  expect_identical(names(panels_of(wide)), c("a", "b", "c"))
  expect_silent(drawn(wide, "density"))
  skip_if_not_installed("ggplot2")
  for (picture in list(
    ggplot2::autoplot(chain, "density", data = cbind(data$gamma, data$weibull)),
    suppressMessages(ggplot2::autoplot(both, "density")),
    ggplot2::autoplot(fitted_to(data$step, models$step), "density", data = data$step)
  )) {
    expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
  }
})

test_that("one row has a picture, though its cluster may have no variance", {
  for (obs in list(obs_gaussian(), obs_student(), obs_gamma(), obs_weibull(), obs_negbinomial())) {
    fit <- fitted_to(c(x = 3), obs)
    for (x in list(NULL, c(x = 3))) {
      expect_silent(drawn(fit, "density", data = x))
      expect_true(all(is.finite(panels_of(fit, x)[[1L]]$total$x)))
    }
  }
  expect_silent(drawn(fitted_to(c(x = 3), obs_gaussian()), data = c(x = 3)))
  two <- obs_product(obs_gamma(columns = "a"), obs_gaussian(columns = "b"))
  expect_silent(drawn(fitted_to(data.frame(a = 3, b = -1), two), "density"))
})

test_that("what has no density of its own is refused by name", {
  levels <- fitted_to(data.frame(a = data$level, b = rep(c("u", "v"), 40)), obs_categorical())
  expect_bad(drawn(levels, "density"), "argument", "obs_categorical")
  exposed <- fitted_to(cbind(n = data$count, hours = rep(1:2, 40)), obs_negbinomial(exposure = "hours"))
  expect_bad(drawn(exposed, "density"), "argument", "exposures")
  lines <- fitted_to(cbind(y = data$number, x = data$gamma), obs_regression())
  expect_bad(drawn(lines, "density"), "argument", "obs_regression")
  counts <- methods::as(cbind(data$count, data$count), "CsparseMatrix")
  sparse <- fitted_to(counts, obs_poisson())
  expect_bad(drawn(sparse, "density", data = counts), "argument", "dense")
})

test_that("peaks of narrow clusters fit into the picture, and a density without a limit at 0 is cut off", {
  panel_of <- function(density, discrete = FALSE) list(total = data.frame(density = density), discrete = discrete)
  narrow <- stats::dnorm(seq(-10, 10, length.out = 401), sd = 0.02)
  expect_equal(top_of_panel(panel_of(narrow), NULL), max(narrow))
  rising <- c(Inf, stats::dgamma(seq(0.01, 10, length.out = 400), 0.3))
  expect_lt(top_of_panel(panel_of(rising), NULL), rising[2] / 2)
})
