# A report of a fit, drafted from the template and rendered, as one line of text.
render_report <- function(fit, ...) {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("1.14"), "pandoc is not there")
  skip_if(system.file("rmarkdown", "templates", "report", package = "bnpvi") == "", "the template is not installed")
  folder <- withr::local_tempdir()
  draft <- rmarkdown::draft(file.path(folder, "report.Rmd"), "report", package = "bnpvi", edit = FALSE)
  page <- rmarkdown::render(draft, params = list(fit = fit, ...), quiet = TRUE, envir = new.env())
  paste(readLines(page, warn = FALSE), collapse = " ")
}

pictures_in <- function(page) lengths(regmatches(page, gregexpr("<img ", page)))

test_that("mixtures have a report, with and without their data", {
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1, restarts = 2))
  page <- render_report(fit, data = faithful)
  expect_match(page, "3 clusters in use", fixed = TRUE)
  expect_match(page, "best of 2 fits", fixed = TRUE)
  expect_match(page, "Of 272 rows", fixed = TRUE)
  expect_equal(pictures_in(page), 3)
  if (!long_tests()) return()
  without <- render_report(fit)
  expect_no_match(without, "Of 272 rows", fixed = TRUE)
  expect_equal(pictures_in(without), 3)
})

long_test("mixtures of counts and of series have a report", {
  page <- render_report(bnp_mixture(animals, obs_bernoulli(), control = bnp_control(seed = 1)))
  expect_equal(pictures_in(page), 3)
  expect_match(page, "term</th>\\s*<th[^>]*>1</th>\\s*<th[^>]*>2</th>") # a column for each cluster
  series <- cbind(log(lynx))
  fit <- bnp_mixture(series, obs_ar(intercept = TRUE), control = bnp_control(seed = 1))
  page <- render_report(fit, data = series)
  expect_equal(pictures_in(page), 2)
  expect_match(page, "Of 114 rows", fixed = TRUE)
})

long_test("topics have a report, of words and of rows", {
  fit <- suppressWarnings(bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 5)))
  page <- render_report(fit, data = whales$counts)
  expect_match(page, "has <strong>not</strong> converged", fixed = TRUE)
  expect_match(page, ">coherence<", fixed = TRUE)
  expect_equal(pictures_in(page), 4)
  rows <- bnp_topics(iris[, 1:4], obs_gaussian(), id = iris$Species, control = bnp_control(seed = 1))
  expect_equal(pictures_in(render_report(rows)), 3)
})

long_test("sequences have a report, from files too", {
  x <- rbind(cbind(beaver1["temp"], id = "a"), cbind(beaver2["temp"], id = "b"))
  fit <- bnp_hmm(x, "id", prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
  files <- file.path(withr::local_tempdir(), c("fit.rds", "data.rds"))
  saveRDS(fit, files[1])
  saveRDS(x, files[2])
  page <- render_report(files[1], data = files[2], id = "id")
  expect_match(page, "5 states in use", fixed = TRUE)
  expect_equal(pictures_in(page), 5)
  unnamed <- bnp_hmm(x["temp"], x$id, prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
  expect_match(render_report(unnamed, data = x["temp"]), "The most probable states", fixed = TRUE)
})

test_that("what each cluster is stands in a table, and communities have a picture", {
  page <- render_report(bnp_mixture(iris[c(1, 5)], control = bnp_control(seed = 1, restarts = 1)))
  expect_match(page, "What each cluster is", fixed = TRUE)
  expect_match(page, ">versicolor<", fixed = TRUE)
  linked <- kronecker(diag(2), matrix(1, 6, 6)) - diag(12)
  page <- render_report(bnp_network(linked, control = bnp_control(seed = 1, restarts = 1)))
  expect_match(page, "within and between communities", fixed = TRUE)
  expect_equal(pictures_in(page), 3)
})
