# Values with names go where the names say, or are refused: never by position in silence.

of <- rep(c("b", "a", "d", "c"), each = 10)
groups <- unique(of)
x <- withr::with_seed(2, data.frame(y = stats::rnorm(40, 6 * (of %in% c("a", "c"))), z = stats::rnorm(40)))
named <- `rownames<-`(x, paste0("r", 1:40))
control <- bnp_control(seed = 1, max_laps = 4)
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
counts <- withr::with_seed(3, matrix(stats::rpois(40, 3), 4, dimnames = list(groups, letters[1:10])))
value <- function(...) quiet(elbo(...))

# f(v): of values in the order of `names`. With names it is the same in any order and form, and refused where these are
# others.
expect_by_name <- function(f, v, names, what) {
  truth <- f(v)
  if (is.matrix(v)) {
    rownames(v) <- names
    turned <- v[length(names):1, , drop = FALSE]
    other <- v
    rownames(other)[1L] <- "foreign"
  } else {
    v <- stats::setNames(v, names)
    turned <- rev(v)
    other <- stats::setNames(v, replace(names, 1L, "foreign"))
    if (!is.object(v) && !is.list(v)) expect_equal(f(array(turned, length(v), list(names(turned)))), truth)
  }
  expect_equal(f(v), truth)
  expect_equal(f(turned), truth)
  expect_bad(f(other), what, "foreign|name")
  twice <- if (is.matrix(v)) `rownames<-`(v, replace(names, 1L, names[2L])) else
    stats::setNames(v, replace(names, 1L, names[2L]))
  expect_bad(f(twice), what)
}

test_that("values of groups go by the names of groups", {
  w <- c(1, 10, 2, 3)
  by <- function(f, v, what) expect_by_name(f, v, groups, what)
  by(function(w) value(bnp_hmm(x, id = of, weights = w, control = control)), w, "weights")
  by(function(w) value(bnp_topics(counts, weights = w, control = control)), w, "weights")
  by(function(w) value(bnp_topics(x, obs_gaussian(), id = of, weights = w, control = control)), w, "weights")
  by(function(y) value(bnp_topics(counts, response = y, control = control)), c(1.5, 2, 9, -3), "response")
  by(function(y) value(bnp_topics(counts, response = y, control = control)), c("u", "v", "u", "v"), "response")
  beside <- function(v) value(bnp_topics(counts, response = w, covariates = v, control = control))
  by(beside, c(4, 1, 2, 3), "covariates")
  by(beside, cbind(p = c(4, 1, 2, 3), q = c(1, 5, 2, 0)), "covariates")
  by(function(v) value(bnp_topics(counts, response = w ~ v, control = control)), c(4, 1, 2, 3), "covariates")
  by(function(v) value(bnp_topics(counts, response = w ~ log(v), control = control)), c(4, 1, 2, 3), "covariates")
  by(function(v) beside(list2DF(list(v = v, u = unname(w)))), c(4, 1, 2, 3), "covariates")
  fit <- quiet(bnp_topics(counts, response = w, covariates = c(4, 1, 2, 3), control = control))
  by(function(v) predict(fit, counts, "response", covariates = v), c(0, 1, 2, 3), "covariates")
  by(function(v) as.data.frame(prevalence(fit, v)), c(0, 1, 2, 3), "by")
  by(function(v) as.data.frame(prevalence(fit, v)), factor(c("s", "t", "s", "t")), "by")
  batches <- function(b) bnp_control(seed = 1, max_laps = 4, batches = b)
  by(function(b) value(bnp_hmm(x, id = of, control = batches(b))), c(1, 2, 2, 1), "batches")
  # A list of sequences
  series <- split(x, factor(of, groups))
  starts <- split(rep_len(1:3, 40), factor(of, groups))
  by(function(w) value(bnp_hmm(series, weights = w, control = control)), w, "weights")
  by(function(s) value(bnp_hmm(series, start = s, control = control)), unname(starts), "start")
  data <- data.frame(v = c(0, 1, 2, 3), row.names = groups)
  expect_equal(prevalence(fit, "v", data), prevalence(fit, "v", data[4:1, , drop = FALSE]))
})

test_that("values of individuals go by the names of individuals, or of rows", {
  w <- c(1, 10, 2, 3)
  of_weights <- function(w) value(bnp_mixture(x, id = of, weights = w, control = control))
  of_labels <- function(l) value(bnp_mixture(x, id = of, labels = l, control = control))
  of_start <- function(s) value(bnp_mixture(x, id = of, start = s, control = control))
  expect_by_name(of_weights, w, groups, "weights")
  expect_by_name(of_labels, c("low", "high", NA, "high"), groups, "labels")
  expect_by_name(of_labels, rbind(c(TRUE, FALSE), c(FALSE, TRUE), NA, TRUE), groups, "labels")
  expect_by_name(of_start, c(1, 2, 1, 2), groups, "start")
  expect_by_name(of_start, rbind(c(0.9, 0.1), c(0.2, 0.8), c(1, 0), c(0, 1)), groups, "start")
  expect_equal(of_weights(tapply(rep(w, each = 10), of, mean)), of_weights(w))
  each <- w[match(of, groups)]
  expect_by_name(function(w) value(bnp_mixture(named, id = of, weights = w, control = control)), each, rownames(named),
    "weights")
  # As many individuals as rows
  one <- x[c(1, 11, 21, 31, 2, 12), ]
  rownames(one) <- NULL
  ids <- c("f", "e", "d", "c", "b", "a")
  with_ids <- function(w) value(bnp_mixture(one, id = ids, weights = w, control = control))
  expect_equal(with_ids(stats::setNames(6:1, rev(ids))), with_ids(1:6))
})

test_that("values of rows go by the names of rows", {
  rows <- rownames(named)
  z <- rep_len(1:3, 40)
  by <- function(f, v, what) expect_by_name(f, v, rows, what)
  by(function(w) value(bnp_mixture(named, weights = w, control = control)), 1:40 / 10, "weights")
  by(function(w) value(bnp_mixture(y ~ z, named, weights = w, control = control)), 1:40 / 10, "weights")
  by(function(l) value(bnp_mixture(named, labels = l, control = control)), c("u", "v")[1 + (named$y > 3)], "labels")
  by(function(s) value(bnp_mixture(named, start = s, control = control)), z, "start")
  by(function(s) value(bnp_hmm(named, id = of, start = s, control = control)), z, "start")
  mixed <- rep_len(groups, 40)
  once <- bnp_control(seed = 1, max_laps = 1, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE))
  of_topics <- function(s) value(bnp_topics(named, obs_gaussian(), id = mixed, start = s, control = once))
  by(of_topics, 1 + (named$y > 3), "start")
  by(function(s) value(bnp_mixture(named, start = s, control = control)), diag(3)[z, ], "start")
  by(function(id) value(bnp_mixture(named, id = id, control = control)), of, "id")
  by(function(id) value(bnp_hmm(named, id = id, control = control)), of, "id")
  by(function(id) value(bnp_topics(named, obs_gaussian(), id = id, control = control)), mixed, "id")
  fit <- quiet(bnp_hmm(x, id = of, control = control))
  by(function(id) predict(fit, named, id = id, type = "prob"), of, "id")
  by(function(t) quiet(bnp_dynamic_means(named, t, lambda = 4))$trajectories, rep(1:4, each = 10), "time")
  drift <- obs_gaussian(drift = 0.1)
  by(function(t) value(bnp_mixture(named, drift, time = t, control = control)), rep(1:4, each = 10), "time")
  n <- data.frame(n = z, row.names = rows)
  by(function(e) value(bnp_mixture(n, obs_poisson(exposure = e), control = control)), 1:40 / 7, "exposure")
  parent <- rep(c(0, 1, 1, 2), 10) + rep(4 * 0:9, each = 4) * (rep(c(0, 1, 1, 2), 10) > 0)
  by(function(p) value(bnp_hmm(named, parent = p, control = control)), parent, "parent")
  side <- rep(c("l", "r"), 20)
  by(function(p) value(bnp_hmm(named, parent = parent, position = p, control = control)), side, "position")
  by(function(s) value(bnp_features(named, start = s, control = bnp_control(seed = 1, max_laps = 2))),
    cbind(rep(0:1, 20), rep_len(c(0, 0, 1), 40)), "start")
  batches <- function(b) bnp_control(seed = 1, max_laps = 4, batches = b)
  by(function(b) value(bnp_mixture(named, control = batches(b))), rep(1:2, 20), "batches")
  by(function(b) adjusted_rand_index(stats::setNames(z, rows), b), rev(z), "b")
  clusters <- quiet(stats::kmeans(named, 2))
  turned <- utils::modifyList(unclass(clusters), list(cluster = rev(clusters$cluster)))
  expect_equal(value(bnp_mixture(named, start = turned, control = control)), value(bnp_mixture(named,
    start = clusters, control = control
  )))
})

test_that("rows that were left out keep their place among the names", {
  gaps <- named
  gaps$y[c(3, 30)] <- NA
  w <- stats::setNames(1:40, rownames(named))
  fit <- function(w) value(bnp_mixture(gaps, weights = w, na_action = "omit", control = control))
  expect_equal(fit(rev(w)), fit(unname(w)))
  topics <- function(w) {
    value(bnp_topics(gaps, obs_gaussian(), id = of, weights = w, na_action = "omit", control = control))
  }
  expect_equal(topics(c(a = 2, b = 1, c = 4, d = 3)), topics(c(1, 2, 3, 4)))
})

test_that("rows without names have numbers, and other names are told about", {
  plain <- data.frame(y = x$y, z = x$z)
  w <- stats::setNames(1:40, 1:40)
  fit <- function(w) elbo(suppressWarnings(bnp_mixture(plain, weights = w, control = control)))
  expect_equal(fit(rev(w)), fit(1:40))
  expect_message(other <- fit(stats::setNames(1:40, paste0("s", 1:40))), class = "bnpvi_message_names")
  expect_equal(other, fit(1:40))
  expect_silent(fit(stats::setNames(1:40, rep("", 40))))
})

test_that("exposures of a list of sequences go by their names", {
  n <- rep_len(c(1, 5, 2, 9), 40)
  series <- split(data.frame(n = n), factor(of, groups))
  hours <- split(1:40 / 7, factor(of, groups))
  fit <- function(e) value(bnp_hmm(series, obs = obs_poisson(exposure = e), control = control))
  expect_equal(fit(hours[4:1]), fit(hours))
  expect_equal(fit(unname(hours)), fit(hours))
  expect_bad(fit(stats::setNames(hours, c("b", "a", "d", "foreign"))), "exposure")
})

test_that("starts of networks go by the names of nodes", {
  ends <- data.frame(from = c("a", "b", "c", "d", "e", "f", "c"), to = c("b", "c", "a", "e", "f", "d", "d"))
  fit <- function(s) quiet(elbo(bnp_network(ends, start = s, control = control)))
  nodes <- quiet(bnp_network(ends, control = control))$input$ids
  group <- as.numeric(nodes %in% c("d", "e", "f")) + 1
  expect_by_name(fit, group, nodes, "start")
  expect_by_name(fit, diag(2)[group, ], nodes, "start")
})
