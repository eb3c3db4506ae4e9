# segments() is graphics::segments() for everything but a fit.

test_that("every form of graphics::segments() draws the same", {
  withr::local_pdf(NULL)
  grDevices::dev.control("enable")
  drawn <- function(draw) {
    graphics::plot.new()
    draw()
    grDevices::recordPlot()[[1]]
  }
  forms <- list(
    function(f) f(0.1, 0.2, 0.8, 0.9), function(f) f(x0 = 0.1, y0 = 0.2, x1 = 0.8, y1 = 0.9),
    function(f) f(y0 = 0.2, x0 = 0.1, y1 = 0.7), function(f) f(y1 = 0.9, x1 = 0.8, y0 = 0.2, x0 = 0.1, col = "red"),
    function(f) f(0.1, c(0.2, 0.4), x1 = 0.8, lwd = 2), function(f) f(y0 = 0.2, 0.1, 0.8, 0.9, lty = 2),
    function(f) do.call(f, list(0.1, 0.2, 0.8, 0.9)),
    function(f) do.call(f, list(x0 = 0.1, y0 = 0.2, x1 = 0.8, y1 = 0.3)),
    function(f) Map(f, x0 = c(0.1, 0.2), y0 = 0, x1 = 0.5, y1 = 1)
  )
  for (form in forms) {
    expect_identical(drawn(function() form(segments)), drawn(function() form(graphics::segments)))
  }
  expect_error(segments(0.1, 0.2), "one of 'x1' and 'y1' must be given")
})

test_that("fits without sequences have no segments", {
  control <- bnp_control(seed = 1, max_laps = 2)
  expect_bad(segments(bnp_mixture(faithful, control = control)), "argument", "bnp_mixture")
  expect_bad(segments(bnp_topics(whales$counts[1:9, ], control = control)), "argument", "bnp_topics")
})

test_that("attaching the package says nothing", {
  paths <- paste(deparse(.libPaths()), collapse = "")
  code <- paste0(".libPaths(", paths, "); library(bnpvi); cat(exists('segments', mode = 'function'), ",
    "attr(bnpvi:::engine_kernel_versions(), 'chosen'))")
  withr::local_envvar(BNPVI_KERNELS = "base")
  said <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE, stderr = TRUE)
  expect_identical(said, "TRUE base")
})
