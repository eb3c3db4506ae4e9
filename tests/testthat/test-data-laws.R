# What a fit says of a row does not depend on where the row stands: rows in another order give the same bound, and the
# same answers in that order, with every field that goes along with rows (weights, labels, individuals, times, missing
# cells, exposures); data in pieces give what they give together.

cases <- Filter(function(case) !grepl("sparse", case$name), planted_cases())
names(cases) <- vapply(cases, `[[`, "", "name")
# Clusters of about the same size may be numbered in another order.
expect_same_clusters <- function(a, b) {
  expect_setequal(names(a), names(b))
  b <- b[names(a)]
  expect_identical(is.na(a), is.na(b))
  if (!identical(a, b)) expect_equal(adjusted_rand_index(a[!is.na(a)], b[!is.na(b)]), 1)
}
few <- function(...) bnp_control(seed = 1, max_laps = 3, moves = FALSE, verbose = FALSE, ...)
one <- prior_dirichlet(1)
quiet <- function(expr) suppressMessages(suppressWarnings(expr, "bnpvi_warning"), "bnpvi_message")

named <- function(case) {
  x <- case$x
  dimnames(x) <- list(paste0("r", seq_len(nrow(x))), colnames(x) %||% paste0("col", seq_len(ncol(x))))
  x
}
obs_of <- function(case, rows) {
  obs <- case$obs
  if (is.numeric(obs$exposure)) obs$exposure <- obs$exposure[rows]
  obs
}
# Exposures of new data must be a column.
with_column <- function(case) {
  if (!is.numeric(case$obs$exposure)) {
    return(list(x = named(case), obs = case$obs))
  }
  list(x = cbind(named(case), hours = case$obs$exposure), obs = replace(case$obs, "exposure", "hours"))
}
holed <- function(x, obs) {
  if (!identical(obs_facts(obs)$gaps, "cells")) {
    return(NULL)
  }
  x[4, 1] <- x[31, ] <- x[52, 1] <- NA
  of_covariates <- if (!is.null(obs$responses)) seq_len(ncol(x)) > obs$responses
  x[, of_covariates] <- ifelse(is.na(x[, of_covariates]), 0, x[, of_covariates])
  x
}

for (name in some_of(names(cases), by = 9, from = 2)) {
  case <- cases[[name]]
  lag <- obs_lag(case$obs)
  n <- nrow(case$x)
  moved <- if (lag) seq_len(n) else order(seq_len(n) %% 7, -seq_len(n))

  test_that(paste0(name, ": a mixture of rows in another order is the same"), {
    skip_if(lag > 0, "rows of a series have an order")
    x <- named(case)
    weights <- 1 + seq_len(n) %% 3 / 2
    fit <- function(at, x, ...) {
      quiet(bnp_mixture(
        x[at, , drop = FALSE], obs_of(case, at), start = case$cluster[at], control = few(), time = case$time[at], ...
      ))
    }
    same <- function(a, b) {
      expect_equal(b$elbo, a$elbo, tolerance = 1e-9)
      expect_equal(b$sizes, a$sizes, tolerance = 1e-9)
      expect_same_clusters(fitted(b), fitted(a))
    }
    by_time <- !is.null(case$time) # clusters have weights by time, and rows no other
    here <- fit(seq_len(n), x, weights = if (!by_time) weights)
    there <- fit(moved, x, weights = if (!by_time) weights[moved])
    same(here, there)
    expect_identical(names(fitted(there)), rownames(x)[moved])
    if (is.null(case$time) && !is.numeric(case$obs$exposure)) {
      ask <- function(at, type) predict(here, x[at, , drop = FALSE], type = type)
      expect_equal(ask(moved, "prob"), ask(seq_len(n), "prob")[moved, ], tolerance = 1e-10)
      expect_equal(ask(moved, "logdensity"), ask(seq_len(n), "logdensity")[moved], tolerance = 1e-10)
    }
    if (is.null(case$time)) {
      labels <- replace(case$cluster, seq_len(n) %% 5 != 0, NA)
      same(fit(seq_len(n), x, labels = labels), fit(moved, x, labels = labels[moved]))
    }
    if (is.null(case$time) && !any_tails(case$obs)) { # rows of an individual have no scales in common
      id <- paste0("i", case$cluster, seq_len(n) %% 9)
      by_id <- fit(seq_len(n), x, id = id)
      same(by_id, fit(moved, x, id = id[moved]))
      alone <- fit(seq_len(n), x, id = paste0("own", seq_len(n)))
      plain <- fit(seq_len(n), x)
      expect_equal(alone$elbo, plain$elbo, tolerance = 1e-9)
      expect_same_clusters(fitted(alone), fitted(plain))
    }
    with_holes <- holed(x, case$obs)
    for (action in if (!is.null(with_holes)) c("model", "omit")) {
      a <- fit(seq_len(n), with_holes, na_action = action, weights = weights)
      b <- fit(moved, with_holes, na_action = action, weights = weights[moved])
      same(a, b)
      expect_true(is.na(fitted(b)[["r31"]]))
      if (!is.numeric(case$obs$exposure)) expect_equal(
        predict(b, with_holes[moved, ], type = "prob"), predict(a, with_holes, type = "prob")[moved, ], tolerance = 1e-8
      ) |> quiet()
    }
  })

  test_that(paste0(name, ": data in pieces give what they give together"), {
    skip_if(lag > 0 || !is.null(case$time), "rows of a series, and rows with times, come together")
    given <- with_column(case)
    x <- as.data.frame(given$x)
    rownames(x) <- NULL
    parts <- split(seq_len(n), (seq_len(n) - 1) %/% 60)
    source <- source_function(function(i) x[parts[[i]], ], length(parts))
    whole <- quiet(bnp_mixture(x, given$obs, prior = one, control = few()))
    from <- quiet(bnp_mixture(source, given$obs, prior = one, control = few()))
    expect_equal(from$elbo, whole$elbo, tolerance = 1e-9)
    expect_identical(from$input$n, whole$input$n)
    expect_identical(from$input$fingerprint, whole$input$fingerprint)
    expect_equal(from$model$obs$beside, whole$model$obs$beside) # covariates that no block models
    fit <- quiet(bnp_mixture(x, given$obs, start = case$cluster, control = few()))
    for (type in c("prob", "logdensity")) {
      expect_equal(predict(fit, source, type = type), predict(fit, x, type = type), ignore_attr = TRUE)
    }
    first <- quiet(bnp_mixture(x[1:100, ], given$obs, prior = one, control = few()))
    rest <- x[101:n, ]
    at_once <- quiet(update(first, rest))
    again <- quiet(update(first, rest, olddata = x[1:100, ]))
    turned <- quiet(update(first, rest[rev(seq_len(nrow(rest))), ]))
    steps <- quiet(update(update(first, rest[1:30, ]), rest[-(1:30), ]))
    for (other in list(again, turned, steps)) expect_identical(nobs(other), n)
    expect_equal(turned$elbo, at_once$elbo, tolerance = 1e-9)
    if (keeps_visits(case$obs)) { # earlier rows keep what they were visited with, at once all have their best
      expect_gte(again$elbo, at_once$elbo)
      expect_equal(steps$elbo, at_once$elbo, tolerance = if (any_tails(case$obs)) 1e-2 else 0.05)
    } else {
      for (other in list(again, steps)) expect_equal(other$elbo, at_once$elbo, tolerance = 1e-9)
    }
    expect_identical(steps$input$fingerprint, at_once$input$fingerprint)
    expect_identical(at_once$input$fingerprint, quiet(bnp_mixture(x, given$obs, control = few()))$input$fingerprint)
  })

  if ("bnp_hmm" %in% obs_facts(case$obs)$verbs && is.null(case$time)) {
    test_that(paste0(name, ": sequences in another order are the same"), {
      x <- named(case)
      id <- paste0("s", sort(rep_len(1:6, n)))
      order <- unlist(split(seq_len(n), id)[c(4, 2, 6, 1, 3, 5)], use.names = FALSE)
      weights <- c(s1 = 1, s2 = 2, s3 = 1, s4 = 0.5, s5 = 1, s6 = 3)
      fit <- function(at, x, ...) {
        quiet(bnp_hmm(
          x[at, , drop = FALSE], id[at], obs_of(case, at), start = case$cluster[at], control = few(), weights = weights,
          ...
        ))
      }
      here <- fit(seq_len(n), x)
      there <- fit(order, x)
      expect_equal(there$elbo, here$elbo, tolerance = 1e-9)
      expect_same_clusters(fitted(there), fitted(here))
      if (is.numeric(case$obs$exposure)) {
        return(expect_identical(names(fitted(there)), rownames(x)[order]))
      }
      prob <- predict(here, x, id = id, type = "prob")
      expect_equal(predict(here, x[order, ], id = id[order], type = "prob"), prob[order, ], tolerance = 1e-10)
      by_list <- split.data.frame(x, id)[unique(id[order])]
      expect_equal(predict(here, by_list, type = "prob"), prob[order, ], tolerance = 1e-10, ignore_attr = TRUE)
      expect_equal(path_probabilities(here, as_new_sequences(here, x, id), most = 1), here$prob)
      with_holes <- holed(x, case$obs)
      if (!is.null(with_holes)) {
        a <- fit(seq_len(n), with_holes, na_action = "model")
        b <- fit(order, with_holes, na_action = "model")
        expect_equal(b$elbo, a$elbo, tolerance = 1e-9)
        expect_same_clusters(fitted(b), fitted(a))
        expect_equal(path_probabilities(a, as_new_sequences(a, with_holes, id), most = 1), a$prob)
      }
      first <- quiet(bnp_hmm(x[id %in% c("s1", "s2"), ], id[id %in% c("s1", "s2")], case$obs,
        prior = prior_hmm(1), control = few()))
      rest <- which(!id %in% c("s1", "s2"))
      at_once <- quiet(update(first, x[rest, ], id = id[rest]))
      again <- quiet(update(first, x[rest, ], id = id[rest], olddata = list(x[id == "s1", ], x[id == "s2", ])))
      if (keeps_visits(case$obs)) {
        expect_gte(again$elbo, at_once$elbo)
      } else {
        expect_equal(again$elbo, at_once$elbo, tolerance = 1e-9)
      }
      expect_identical(at_once$input$starts, fit(seq_len(n), x)$input$starts)
    })
  }
}

test_that("documents in another order are the same, of counts and of rows, with weights and rows left out", {
  corpus <- withr::with_seed(1, toy_corpus(documents = 24, topics = 3))
  corpus <- as.matrix(corpus)
  dimnames(corpus) <- list(paste0("d", 1:24), paste0("t", seq_len(ncol(corpus))))
  order <- order(1:24 %% 5, -(1:24))
  weights <- stats::setNames(1 + 1:24 %% 2, rownames(corpus))
  fit <- function(x) quiet(bnp_topics(x, prior = prior_lda(1), control = few(), weights = weights))
  expect_equal(fit(corpus[order, ])$elbo, fit(corpus)$elbo, tolerance = 1e-9)
  topics <- quiet(bnp_topics(corpus, control = few(k_init = 3)))
  expect_equal(
    predict(topics, corpus[order, ], type = "prob"), predict(topics, corpus, type = "prob")[order, ], tolerance = 1e-8
  )
  pieces <- source_function(function(i) corpus[6 * (i - 1) + 1:6, ], 4)
  expect_equal(quiet(bnp_topics(pieces, prior = prior_lda(1), control = few()))$elbo,
    quiet(bnp_topics(corpus, prior = prior_lda(1), control = few()))$elbo, tolerance = 1e-9)

  x <- as.matrix(iris[1:4])
  rownames(x) <- paste0("r", 1:150)
  x[c(3, 77), 2] <- NA
  id <- rep(c("b", "a", "c", "e", "d"), 30)
  moved <- order(1:150 %% 11, -(1:150))
  fit <- function(at) {
    quiet(bnp_topics(x[at, ], obs_gaussian(), id = id[at], na_action = "omit", control = few(), prior = prior_lda(3),
      start = as.integer(iris$Species)[at]))
  }
  a <- fit(1:150)
  b <- fit(moved)
  expect_equal(b$elbo, a$elbo, tolerance = 1e-9)
  prob <- predict(a, x, id = id, type = "prob")
  expect_equal(predict(a, x[moved, ], id = id[moved], type = "prob")[rownames(prob), ], prob, tolerance = 1e-8)
})

test_that("latent features of rows in another order, and of rows taken in, are the same", {
  x <- withr::with_seed(2, matrix(rbinom(60 * 3, 1, 0.5), 60) %*% matrix(rnorm(12, sd = 3), 3) + rnorm(240) / 5)
  rownames(x) <- paste0("r", 1:60)
  x[5, ] <- NA
  x[40, 2] <- NA
  fit <- quiet(bnp_features(x, na_action = "model", control = bnp_control(seed = 1, max_laps = 5)))
  moved <- order(1:60 %% 7, -(1:60))
  expect_equal(predict(fit, x[moved, ], type = "prob"), predict(fit, x, type = "prob")[moved, ]) |> quiet()
  first <- quiet(bnp_features(x[1:30, ], na_action = "model", control = bnp_control(seed = 1, max_laps = 5)))
  both <- quiet(update(first, x[31:60, ], olddata = x[1:30, ]))
  expect_identical(both$input$left_out, list(n = 60L, kept = setdiff(1:60, 5L), row_names = rownames(x)))
  expect_identical(rownames(both$presence) %||% both$input$row_names, rownames(x)[-5])
  expect_identical(nobs(both), 59L)
  expect_identical(quiet(update(first, x[31:60, ]))$input[c("n", "left_out", "row_names")],
    both$input[c("n", "left_out", "row_names")])
})

test_that("links of a table in another order are the same network", {
  x <- withr::with_seed(3, matrix(rbinom(400, 1, ifelse(outer(1:20 %% 2, 1:20 %% 2, "=="), 0.6, 0.1)), 20))
  at <- which(x == 1 & row(x) < col(x), arr.ind = TRUE)
  links <- data.frame(from = paste0("n", at[, 1]), to = paste0("n", at[, 2]))
  nodes <- paste0("n", 1:20)
  fit <- function(links) bnp_network(links, prior = prior_dp(), nodes = nodes, directed = FALSE, control = few())
  a <- fit(links)
  b <- fit(links[rev(seq_len(nrow(links))), ])
  expect_equal(b$elbo, a$elbo, tolerance = 1e-12)
  expect_identical(fitted(b), fitted(a))
})

test_that("a row of which nothing is known is one step of the forecast, whether the fit had such rows or not", {
  x <- withr::with_seed(1, cbind(a = rnorm(120, rep(0:1, each = 60) * 5), b = rnorm(120, rep(0:1, each = 60) * -5)))
  fit <- quiet(bnp_hmm(x, obs = obs_gaussian("diagonal"), prior = prior_hmm(2), control = few()))
  known <- x[100:119, ]
  unknown <- rbind(known, NA)
  after <- predict(fit, unknown, n.ahead = 1, na_action = "model")
  two <- predict(fit, known, n.ahead = 2)
  columns <- setdiff(names(two), c("id", "step"))
  expect_equal(unlist(after[1, columns]), unlist(two[2, columns]), tolerance = 1e-10)
  known[7, 1] <- NA
  expect_false(anyNA(predict(fit, known, n.ahead = 1, na_action = "model")[columns]))
})

test_that("covariates that no block of a product models are those of rows of all pieces", {
  d <- withr::with_seed(1, data.frame(z = rnorm(60), y = rnorm(60), w = rpois(60, 3)))
  d$z[21:60] <- d$z[21:60] + 100
  parts <- list(d[1:20, ], d[21:60, ])
  obs <- obs_product(obs_regression(formula = y ~ z), obs_poisson(columns = "w"))
  fit <- quiet(bnp_mixture(source_function(function(i) parts[[i]], 2), obs, control = few()))
  expect_identical(fit$model$obs$beside, quiet(bnp_mixture(d, obs, control = few()))$model$obs$beside)
  expect_gt(max(simulate(fit, seed = 1)$sim_1$z), 90)
})
