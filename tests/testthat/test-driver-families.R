# What the driver does for each of the six families: Ctrl-C keeps the last lap, numbers that break down in the midst of
# a lap are taken back, restarts have a table, and each of them is the fit with its seed.

family_fits <- function() {
  with_seed <- withr::with_seed
  groups <- with_seed(1, matrix(rnorm(20, sd = 4), 10)[sample(10, 20000, TRUE), ] + rnorm(40000))
  walks <- with_seed(2, lapply(1:4, function(i) apply(matrix(rnorm(600), 300), 2, cumsum) + rnorm(600)))
  sums <- planted_features(3, 3000, 16, 8)$x
  blocks <- rep(1:6, each = 40)
  net <- with_seed(4, planted_network(blocks, matrix(0.04, 6, 6) + diag(0.3, 6)))
  links <- data.frame(from = net$from, to = net$to)
  list(
    mixture = function(control) bnp_mixture(groups, control = control),
    topics = function(control) bnp_topics(whales$counts, control = control),
    chains = function(control) bnp_hmm(walks, control = control),
    features = function(control) bnp_features(sums, control = control),
    linear = function(control) bnp_hmm(walks, obs = obs_lds(), control = control),
    communities = function(control) bnp_network(links, obs_links(degree = FALSE), nodes = 240, control = control),
    blocks = function(control) bnp_network(links, prior = prior_dp(), nodes = 240, control = control)
  )
}
one_fit <- function(fit, ..., verbose = FALSE) suppressWarnings(fit(bnp_control(seed = 3, verbose = verbose, ...)))

# A fit whose user presses Ctrl-C when the lap is told for which now(record) is true.
stopped_fit <- function(fit, now, ...) {
  withr::local_options(rlang_interactive = TRUE)
  interrupt <- function(record) {
    # What R makes of Ctrl-C. A signal could come a moment later, after the end of a short fit.
    # The engine asks once in 50 milliseconds.
    if (now(record)) {
      Sys.sleep(0.06)
      stop(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
    }
  }
  quiet <- list(report = interrupt, finish = function() NULL)
  replace_in_package("progress_reporter", function(...) quiet, environment())
  out <- NULL
  expect_message(out <- one_fit(fit, ..., verbose = TRUE), class = "bnpvi_message_interrupted")
  out
}

test_that("Ctrl-C keeps the last lap in every family", {
  skip_on_os("windows")
  fits <- family_fits()
  for (name in some_of(names(fits), by = 5)) {
    reported <- 0
    stopped <- stopped_fit(fits[[name]], function(record) (reported <<- reported + 1) == 2)
    expect_identical(stopped$reason, "interrupted", info = name)
    expect_false(stopped$converged, info = name)
    expect_true(is.finite(elbo(stopped)), info = name)
    if (name == "linear") next # stopped in a search for a start
    same <- one_fit(fits[[name]], max_laps = stopped$laps)
    expect_equal(elbo(stopped), elbo(same), tolerance = if (name == "blocks") 0.01 else 1e-9, info = name)
  }
})

test_that("after Ctrl-C stochastic learning of networks ends with a lap of all nodes", {
  skip_on_os("windows")
  fits <- family_fits()
  for (name in c("communities", "blocks")) {
    how <- list(algorithm = "stochastic", k_init = 4, batches = 3)
    stopped <- do.call(stopped_fit, c(list(fits[[name]], function(record) record$lap == 2, max_laps = 200), how))
    expect_identical(stopped[c("reason", "laps")], list(reason = "interrupted", laps = 3L), info = name)
    same <- do.call(one_fit, c(list(fits[[name]], max_laps = 3), how))
    expect_identical(elbo(stopped), elbo(same), info = name)
  }
})

test_that("a model of a network that is done is kept where another is stopped before its first lap", {
  x <- withr::with_seed(4, adjacency_of(planted_network(rep(1:2, each = 10), matrix(0.1, 2, 2) + diag(0.6, 2))))
  both <- function(control) bnp_network(x, control = control)
  first <- one_fit(both)$compared[1, ]
  learned <- 0
  engine <- engine_fit
  stopped_in_second <- function(...) {
    learned <<- learned + 1
    if (learned == 2) stop(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
    engine(...)
  }
  replace_in_package("engine_fit", stopped_in_second, environment())
  withr::local_options(rlang_interactive = TRUE)
  expect_message(kept <- one_fit(both), class = "bnpvi_message_interrupted")
  expect_identical(elbo(kept), first$elbo)
  expect_identical(kept$model$obs$degree, first$degree)
  expect_null(kept$compared)
  # Where there is none that is done, it is an interrupt.
  learned <- 1
  expect_identical(tryCatch(one_fit(both), interrupt = function(e) "interrupt"), "interrupt")
})

test_that("numbers that break down in the midst of a lap leave the lap before, in every family", {
  cases <- checkpoint_cases()[c("mixture", "topics", "sequences", "features", "network_large", "network_general")]
  walks <- checkpoint_cases()$lds[[1]]
  by_labels <- function(x, control) bnp_hmm(x, obs = obs_lds(), start = rep_len(1:6, 360), control = control)
  cases$linear <- list(walks, by_labels, list(max_laps = 8L))
  cases$blocks <- list(NULL, function(x, control) family_fits()$blocks(control), list(max_laps = 8L))
  for (name in some_of(names(cases), by = 5)) {
    case <- cases[[name]]
    fit <- function(...) {
      given <- utils::modifyList(case[[3]], list(...))
      control <- bnp_control(seed = 5, verbose = FALSE)
      control[names(given)] <- given
      with_breakdowns(suppressWarnings(case[[2]](case[[1]], control)))
    }
    laps <- integer()
    for (at in some_of(c(1, 2, 4, 9, 20), by = 2)) {
      # The engine says that a fit whose first lap broke down has no bound.
      broken <- tryCatch(fit(break_at = at), bnpvi_error_numerical = function(e) NULL)
      if (is.null(broken) || broken$reason != "numerical" || broken$laps == 0) next
      laps <- c(laps, broken$laps)
      info <- paste(name, at)
      expect_false(broken$converged, info = info)
      same <- fit(max_laps = broken$laps)
      expect_identical(elbo_trace(broken)$elbo, elbo_trace(same)$elbo[seq_len(broken$laps)], info = info)
      if (name == "blocks") next # whose search is followed by laps of soft labels
      expect_identical(elbo(broken), elbo(same), info = info)
      expect_identical(broken$state, same$state, info = info)
    }
    expect_gt(length(laps), 0, label = paste("breakdowns of", name))
  }
})

test_that("restarts have a table in every family, and each is the fit with its seed", {
  fits <- family_fits()
  for (name in some_of(setdiff(names(fits), c("linear", "communities")), by = 3)) {
    fit <- one_fit(fits[[name]], restarts = 2, max_laps = 4)
    expect_identical(names(fit$restarts), columns_of_restarts, info = name)
    expect_identical(fit$restarts$seed, c(3, engine_restart_seed(3, 1)), info = name)
    second <- suppressWarnings(fits[[name]](bnp_control(seed = fit$restarts$seed[2], verbose = FALSE, max_laps = 4)))
    expect_equal(elbo(second), fit$restarts$elbo[2], tolerance = 1e-12, info = name)
  }
})

test_that("a fit has converged when a lap raised the bound by at most tol for each unit of data", {
  rows <- faithful[rep(1:272, each = 2), ]
  twice <- rep(c(1, 9), 272)
  walks <- withr::with_seed(2, lapply(1:2, function(i) apply(matrix(rnorm(300), 150), 2, cumsum) + rnorm(300)))
  sums <- planted_features(3, 300, 12, 6)$x
  blocks <- rep(1:4, each = 15)
  net <- withr::with_seed(4, planted_network(blocks, matrix(0.1, 4, 4) + diag(0.3, 4)))
  links <- data.frame(from = net$from, to = net$to)
  by_laps <- function(tol, ...) bnp_control(seed = 3, moves = FALSE, verbose = FALSE, tol = tol, ...)
  cases <- list(
    mixture = list(function(tol) bnp_mixture(rows, weights = twice, control = by_laps(tol, k_init = 6)), sum(twice)),
    topics = list(
      function(tol) bnp_topics(whales$counts[1:50, ], control = by_laps(tol, k_init = 6)), sum(whales$counts[1:50, ])
    ),
    chains = list(function(tol) bnp_hmm(walks, control = by_laps(tol, k_init = 6)), 300),
    linear = list(function(tol) bnp_hmm(
      walks, obs = obs_lds(), prior = prior_hmm(2), weights = c(1, 9), start = rep(1:2, 150), control = by_laps(tol)
    ), 1500),
    features = list(function(tol) bnp_features(sums, prior_beta_bernoulli(6), control = bnp_control(
      seed = 3, verbose = FALSE, tol = tol
    )), 300),
    communities = list(function(tol) bnp_network(
      links, obs_links(degree = FALSE), nodes = 60, control = by_laps(tol, k_init = 6)
    ), 60 + nrow(links))
  )
  cases <- some_of(cases, by = 2)
  tried <- c()
  for (name in names(cases)) {
    fit <- cases[[name]][[1L]]
    units <- cases[[name]][[2L]]
    gain <- diff(fit(0)$trace$elbo)
    # Tolerances between the gains of laps: just below one, laps go on; at it, they end.
    for (lap in intersect(if (name == "communities") c(4L, 6L) else some_of(c(4L, 6L, 9L), by = 2), seq_along(gain))) {
      if (gain[lap] <= 0 || any(gain[seq_len(lap - 1L)] <= gain[lap])) next
      for (side in c(1 + 1e-6, 1 - 1e-6)) {
        laps <- fit(gain[lap] / units * side)$laps
        # Communities go through three stages after laps have settled, or after ten of them, though without moves.
        most <- lap + if (name == "communities") 4L else 1L
        if (side > 1) expect_lte(laps, most, label = paste(name, lap)) else
          expect_gt(laps, most, label = paste(name, lap))
        tried <- c(tried, name)
      }
    }
  }
  expect_setequal(tried, names(cases))
})
