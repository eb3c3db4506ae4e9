# Classes say what a fit is: of its kind, of the verb that made it, and of all fits.

few <- function(...) bnp_control(seed = 1, max_laps = 3, verbose = FALSE, ...)
net <- kronecker(diag(2), matrix(1, 5, 5)) - diag(10)
walk <- withr::with_seed(1, c(rnorm(20), rnorm(20, 5)))
weeks <- rep(1:6, 10)
quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# By class vector: how such a fit is made.
made <- list(
  "bnp_mixture" = function() bnp_mixture(faithful, control = few()),
  "bnp_mixture" = function() bnp_mixture(faithful[1:60, ], obs_gaussian(drift = 0.1), prior_dp(), time = weeks,
    control = few()),
  "bnp_mixture_by_time bnp_mixture" = function() bnp_mixture(faithful[1:60, ], obs_gaussian(drift = 0.1), time = weeks,
    control = few()),
  "bnp_topics" = function() bnp_topics(bars$counts[1:20, ], control = few()),
  "bnp_hmm" = function() bnp_hmm(walk, control = few()),
  "bnp_hmm" = function() bnp_hmm(walk, obs = obs_ar(), control = few()),
  "bnp_lds bnp_hmm" = function() bnp_hmm(walk, obs = obs_lds(), control = few()),
  "bnp_blocks bnp_network" = function() bnp_network(net, prior = prior_dp(), control = few()),
  "bnp_blocks bnp_network" = function() bnp_network(net, obs_links(degree = TRUE), prior_dp(), control = few()),
  "bnp_communities bnp_network" = function() bnp_network(net, control = few()),
  "bnp_features" = function() bnp_features(as.matrix(attitude), control = few())
)
fits <- lapply(made, function(make) quietly(make()))

test_that("a fit has the classes of its kind, its verb and all fits", {
  for (i in seq_along(fits)) {
    expect_identical(class(fits[[i]]), c(strsplit(names(made)[i], " ")[[1L]], "bnp_fit"))
  }
})

test_that("what makes a fit of a fit keeps its classes", {
  lds <- quietly(update(fits[["bnp_lds bnp_hmm"]], control = few()))
  expect_identical(class(lds), class(fits[["bnp_lds bnp_hmm"]]))
  by_time <- fits[["bnp_mixture_by_time bnp_mixture"]]
  later <- quietly(update(by_time, newdata = faithful[61:70, ], time = rep(7, 10)))
  expect_identical(class(later), class(by_time))
  mixed <- fits[["bnp_communities bnp_network"]]
  blocks <- quietly(bnp_network(net, prior = prior_dp(), start = mixed, control = few()))
  expect_identical(class(blocks), c("bnp_blocks", "bnp_network", "bnp_fit"))
  cut <- quietly(cut_fit(fits[["bnp_mixture"]], faithful, k = 1))
  expect_identical(class(cut), c("bnp_mixture", "bnp_fit"))
})

test_that("a fit whose classes are not those of its model is refused", {
  all <- unique(unlist(strsplit(names(made), " ")))
  for (fit in fits) {
    rest <- setdiff(all, class(fit))
    for (other in list(class(fit)[-1L], c(rest[1L], class(fit)), c(rest[length(rest)], class(fit)), "bnp_fit")) {
      if (identical(other, class(fit))) next
      expect_bad(print(structure(fit, class = other)), "format", "damaged")
      edited <- structure(fit, class = other, seal = NULL)
      if (inherits(edited, "bnp_fit")) expect_bad(print(edited), "format", "class|damaged")
    }
    own <- structure(fit, class = c("mine", class(fit)))
    expect_identical(cluster_ids(own), cluster_ids(fit))
    own$note <- 1
    expect_identical(cluster_ids(own), cluster_ids(fit))
  }
})

test_that("a fit of the time before classes said so is refused by name", {
  old <- structure(fits[["bnp_lds bnp_hmm"]], class = c("bnp_hmm", "bnp_fit"))
  old$format <- 1L
  expect_bad(coef(old), "format", "another version of the package")
})

test_that("classes that a user adds change nothing that is said of a fit", {
  own <- structure(fits[["bnp_topics"]], class = c("mine", "bnp_topics", "bnp_fit"))
  expect_identical(capture.output(print(own)), capture.output(print(fits[["bnp_topics"]])))
  expect_identical(capture.output(summary(own)), capture.output(summary(fits[["bnp_topics"]])))
  expect_bad(bnp_features(as.matrix(attitude), start = own, control = few()), "start", "not bnp_topics")
})
