# Every type of picture can be drawn and read, small and large.

few <- function(...) bnp_control(seed = 1, max_laps = 8, ...)
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
spread <- withr::with_seed(2, matrix(rnorm(3000), 1500) + matrix(runif(60, 0, 60), 30)[sample(30, 1500, TRUE), ])
fits <- quiet(list(
  curve = bnp_mixture(faithful$waiting, control = few()), plane = bnp_mixture(faithful, control = few()),
  many = bnp_mixture(spread, start = rep_len(1:96, 1500), control = few(moves = FALSE)),
  heat = bnp_mixture(animals, obs_bernoulli(), control = few()), topics = bnp_topics(whales$counts, control = few()),
  rows = bnp_topics(penguins_measurements, obs_gaussian(), id = "species", control = few()),
  states = bnp_hmm(mocap6[, -(2:3)], id = "sequence", start = rep_len(rep(1:30, each = 9), nrow(mocap6)),
    control = few(moves = FALSE))
))
prevalent <- prevalence(fits$topics, by = whales$category)
ahead <- predict(fits$states, mocap6[, -(2:3)], id = "sequence", n.ahead = 15)
pictures <- list(
  list(fits$curve), list(fits$curve, "density", data = faithful$waiting), list(fits$curve, "elbo"),
  list(fits$plane, data = faithful), list(fits$plane, "density", data = faithful), list(fits$plane, "elbo"),
  list(fits$many), list(fits$many, "density"), list(fits$many, "elbo"), list(fits$heat), list(fits$heat, "elbo"),
  list(fits$topics), list(fits$topics, topics = 1:14, n = 30), list(fits$topics, "clusters"),
  list(fits$topics, "correlation"),
  list(fits$topics, "elbo"), list(fits$rows), list(fits$rows, "correlation"), list(fits$states),
  list(fits$states, data = mocap6[, -(2:3)], id = "sequence"), list(fits$states, "transitions"),
  list(fits$states, "elbo"),
  list(prevalent), list(prevalent, topics = 1:2), list(prevalence(fits$topics, by = seq_len(nrow(whales$counts)))),
  list(fits$plane, "uncertainty", data = faithful), list(fits$heat, "uncertainty", data = animals),
  list(state_durations(fits$states)), list(ahead), list(ahead, "states")
)

draws <- function(width, height, draw) {
  file <- withr::local_tempfile(fileext = ".png")
  grDevices::png(file, width, height)
  on.exit(grDevices::dev.off())
  before <- graphics::par(no.readonly = TRUE)
  quiet(draw())
  expect_identical(graphics::par(no.readonly = TRUE)[c("mai", "oma", "mfrow", "cex", "mgp", "tcl", "xpd")],
    before[c("mai", "oma", "mfrow", "cex", "mgp", "tcl", "xpd")])
}

long_test("base pictures can be drawn at every size, and leave the parameters as they were", {
  for (size in some_of(list(c(300, 250), c(480, 480), c(1600, 1200), c(130, 110)), by = 5)) {
    for (picture in pictures) draws(size[1], size[2], function() do.call(plot, picture))
  }
})

test_that("autoplot() draws without a warning at every size", {
  skip_if_not_installed("ggplot2")
  for (picture in some_of(pictures, by = 14)) {
    drawn <- do.call(ggplot2::autoplot, picture)
    for (size in some_of(list(c(300, 250), c(1600, 1200)), by = 3)) {
      file <- withr::local_tempfile(fileext = ".png")
      grDevices::png(file, size[1], size[2])
      expect_silent(print(drawn))
      grDevices::dev.off()
    }
  }
})

test_that("the scale of the bound leaves out only laps that would rule it", {
  expect_equal(first_lap_shown(c(-1000, 0, 100, 200, 250, 300, 310, 312), rep(FALSE, 8)), 2)
  expect_equal(first_lap_shown(c(-1000, 0, 100, 200, 250, 300, 310, 312), c(TRUE, rep(FALSE, 7))), 1)
  expect_equal(first_lap_shown(c(-1000, 0, 1e-3, 2e-3, 2e-3, 2e-3, 2e-3, 2e-3), rep(FALSE, 8)), 1)
  expect_equal(first_lap_shown(-5, FALSE), 1)
  expect_equal(first_lap_shown(c(1, 1, 1, 1), rep(FALSE, 4)), 1)
})

test_that("labels that would overprint are left out, those of later order", {
  expect_equal(apart(c(0, 0.5, 2, 2.2), c(0, 0, 0, 5), 1, 1), c(TRUE, FALSE, TRUE, TRUE))
  expect_equal(apart(numeric(), numeric(), 1, 1), logical())
})

test_that("labels are cut to the room there is", {
  withr::local_pdf(NULL)
  graphics::plot.new()
  width <- graphics::strwidth("abcdefgh", units = "inches")
  expect_equal(shorten(c("abc", "abcdefgh"), width, 1), c("abc", "abcdefgh"))
  cut <- shorten(strrep("abcdefgh", 3), width, 1)
  expect_match(cut, "^abc.*[.]{3}$")
  expect_lte(graphics::strwidth(cut, units = "inches"), width)
  expect_equal(shorten(c("abcdef", "d"), 0, 1), c("a...", "d"))
})

test_that("panels are as many as there is room for", {
  expect_equal(panel_grid(12, c(8, 6), c(1.6, 1)), list(shown = 12, across = 4, down = 3))
  expect_equal(panel_grid(12, c(4, 3), c(1.6, 1)), list(shown = 6, across = 2, down = 3))
  expect_equal(panel_grid(3, c(1, 0.5), c(1.6, 1)), list(shown = 1, across = 1, down = 1))
})

test_that("a legend holds every state in up to three columns, and says how many more there are", {
  withr::local_pdf(NULL)
  graphics::plot.new()
  plan <- legend_plan(1:30, 3)
  expect_equal(plan$labels, as.character(1:30))
  expect_gt(plan$columns, 1)
  long <- legend_plan(1:1000, 3)
  expect_equal(length(long$labels) + long$more, 1000)
  expect_lte(long$columns, 3)
})

test_that("topics that are left out are said", {
  expect_null(shown_of(5, 5, "topic"))
  expect_equal(shown_of(12, 22, "topic"), "12 of 22 topics")
  skip_if_not_installed("ggplot2")
  expect_match(ggplot2::autoplot(fits$topics, "clusters")$labels$caption, "^12 of")
})

test_that("progress tells laps, clusters and gain; in knitr it is one message", {
  tell <- lap_teller()
  lap <- function(lap, k, elbo, log_joint = NaN) list(lap = lap, k = k, elbo = elbo, log_joint = log_joint)
  expect_equal(tell(lap(1L, 1L, -10)), "Lap 1: 1 cluster, ELBO -10")
  expect_equal(tell(lap(2L, 3L, -7.5)), "Lap 2: 3 clusters, ELBO -7.5 (+2.5)")
  expect_equal(tell(lap(1L, 2L, -9)), "Lap 1: 2 clusters, ELBO -9")
  expect_equal(tell(lap(2L, 2L, NaN, -8)), "Lap 2: 2 clusters, log joint -8")
  expect_equal(tell(lap(3L, 2L, NaN, -6)), "Lap 3: 2 clusters, log joint -6 (+2)")
  expect_equal(tell(lap(4L, 2L, -7)), "Lap 4: 2 clusters, ELBO -7")
  expect_equal(tell(lap(5L, 2L, NaN)), "Lap 5: 2 clusters") # of stochastic learning
  expect_equal(tell(lap(6L, 2L, -5)), "Lap 6: 2 clusters, ELBO -5")
  expect_equal(thin_lines(as.character(1:12)), c(1:7, "... 3 more laps", 11, 12))
  said <- character()
  withr::with_options(list(knitr.in.progress = TRUE), withCallingHandlers(
    bnp_mixture(faithful, control = bnp_control(seed = 1, verbose = TRUE)),
    message = function(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  ))
  expect_length(said, 1L)
  expect_match(said, "Lap 1: .*\nLap 2: ")
})

test_that("states are labelled in even steps where there is no room for all", {
  expect_identical(labelled_states(30, 0.8), as.numeric(1:30))
  expect_identical(labelled_states(30, 1.3), seq(2, 30, by = 2))
  expect_identical(labelled_states(30, 3), seq(5, 30, by = 5))
  expect_identical(labelled_states(3, 4), 1L)
})

test_that("progress is told in the words of the family", {
  told <- function(expr) paste(testthat::capture_messages(suppressWarnings(expr)), collapse = "")
  loud <- function(...) bnp_control(..., seed = 1, max_laps = 3, verbose = TRUE)
  x <- as.matrix(faithful[1:40, ])
  expect_match(told(bnp_mixture(x, control = loud())), "Lap 1: [0-9]+ cluster")
  expect_match(told(bnp_hmm(x, control = loud())), "Lap 1: [0-9]+ state")
  expect_match(told(bnp_hmm(x, obs = obs_lds(), control = loud())), "Lap 1: [0-9]+ state")
  expect_match(told(bnp_topics(whales$counts[1:8, ], control = loud())), "Lap 1: [0-9]+ topic")
  expect_match(told(bnp_features(x, control = loud())), "Lap 1: [0-9]+ feature")
  expect_match(told(bnp_network(1 - diag(4), control = loud())), "Lap 1: [0-9]+ communit")
  stream <- bnp_control("truncation_free", seed = 1, verbose = TRUE)
  expect_match(told(bnp_topics(whales$counts[1:8, ], control = stream)), "Batch 1: [0-9]+ topic")
  fit <- suppressWarnings(bnp_topics(whales$counts[1:8, ], control = bnp_control(seed = 1, max_laps = 3)))
  expect_match(told(update(fit, newdata = whales$counts[9:12, ], control = loud())), "Lap 1: [0-9]+ topic")
})

test_that("both axes of a picture of prevalence have labels", {
  over <- prevalence(fits$topics, by = seq_len(nrow(whales$counts)))
  less <- structure(prevalent, against = "x")
  cases <- list(
    list(prevalent, c("Mean proportion", "whales$category")), list(over, "Mean proportion"),
    list(less, "Difference in mean proportion")
  )
  for (case in cases) {
    file <- withr::local_tempfile(fileext = ".pdf")
    grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
    plot(case[[1L]])
    grDevices::dev.off()
    drawn <- readLines(file, warn = FALSE)
    for (label in case[[2L]]) expect_true(any(grepl(label, drawn, fixed = TRUE, useBytes = TRUE)))
    skip_if_not_installed("ggplot2")
    labels <- ggplot2::autoplot(case[[1L]])$labels
    expect_true(all(case[[2L]] %in% c(labels$x, labels$y)))
  }
})
