# L-sparse chains: each row keeps to L states. Exact for that family, and no visit makes it worse.

test_that("a visit's summary and bound are the sum over all paths within its sets", {
  withr::local_seed(1)
  for (chain in random_chains(4, c(1, 4, 2, 5), some_of(names(hmm_priors), by = 3))) {
    for (width in 1:3) {
      s <- visit(chain, width)
      sets <- s$sets[chain$modelled, , drop = FALSE]
      expect_equal(apply(sets, 1, function(x) length(unique(x))), rep(width, nrow(sets)))
      log_e <- within_sets(chain$log_e, sets)
      paths <- lapply(seq_along(chain$lengths), function(g) {
        enumerate_paths(chain$start, chain$transition, log_e[rows_of(chain, g), , drop = FALSE])
      })
      total <- function(what) Reduce(`+`, lapply(paths, `[[`, what))
      expect_equal(s$start, total("start"), tolerance = 1e-9)
      expect_equal(s$transition, total("transition"), tolerance = 1e-9)
      expect_equal(s$entropy, total("entropy"), tolerance = 1e-9)
      resp <- do.call(rbind, lapply(paths, `[[`, "resp"))
      features <- engine_contract(chain$data, chain$model, matrix(1, nrow(sets), 1))$features
      # The features of rows with scales are those of a scale of 1.
      if (!any_tails(chain$model$obs)) {
        expect_equal(s$obs, t(resp) %*% features, tolerance = 1e-9, ignore_attr = TRUE)
      }
      expect_equal(log_z(chain, s), log_z_of_paths(chain, sets), tolerance = 1e-9)
    }
  }
})

test_that("sets are those of plain R, visit after visit, and the bound never falls", {
  withr::local_seed(2)
  for (chain in random_chains(5, c(6, 1, 8), some_of(names(hmm_priors), by = 5, from = 2))) {
    for (width in 1:4) {
      last <- NULL
      before <- -Inf
      for (i in some_of(1:4, by = 2)) {
        s <- visit(chain, width, last)
        for (g in seq_along(chain$lengths)) {
          rows <- chain$modelled[rows_of(chain, g)]
          want <- twin_visit(
            chain$start, chain$transition, chain$log_e[rows_of(chain, g), , drop = FALSE], width,
            if (!is.null(last)) last[rows, , drop = FALSE]
          )
          expect_identical(s$sets[rows, , drop = FALSE], want)
        }
        expect_gte(log_z(chain, s), before - 1e-9 * (1 + abs(before)))
        before <- log_z(chain, s)
        held <- visit(chain, width, s$sets, same = TRUE)
        expect_equal(held, s, tolerance = 1e-10)
        last <- s$sets
      }
    }
  }
})

test_that("no other set of one row is better once visits change nothing", {
  withr::local_seed(3)
  for (chain in random_chains(4, c(5, 3), "sticky")) {
    for (width in some_of(1:3, by = 2)) {
      sets <- NULL
      for (i in 1:8) sets <- visit(chain, width, sets)$sets
      expect_identical(visit(chain, width, sets)$sets, sets)
      sets <- sets[chain$modelled, , drop = FALSE]
      best <- log_z_of_paths(chain, sets)
      for (t in seq_len(nrow(sets))) {
        for (other in utils::combn(4L, width, simplify = FALSE)) {
          changed <- sets
          changed[t, ] <- other
          expect_lte(log_z_of_paths(chain, changed), best + 1e-9)
        }
      }
    }
  }
})

test_that("from any sets, empty slots and other widths included, a visit only gains", {
  withr::local_seed(4)
  for (chain in random_chains(5, c(6, 9), "plain")) {
    for (width in 2:3) {
      for (given in 1:4) {
        sets <- t(replicate(chain$data$n, sample(5, given)))
        if (given == 1) sets <- t(sets)
        sets[sample(length(sets), length(sets) / 3)] <- 0L
        storage.mode(sets) <- "integer"
        after <- log_z(chain, visit(chain, width, sets))
        inside <- sets[chain$modelled, , drop = FALSE]
        held <- visit(chain, width, sets, same = TRUE)$sets[chain$modelled, , drop = FALSE]
        expect_equal(apply(held, 1, function(x) length(unique(x))), rep(width, nrow(held)))
        if (given <= width) {
          expect_true(all(vapply(seq_len(nrow(held)), function(t) all(setdiff(inside[t, ], 0L) %in% held[t, ]), NA)))
        }
        if (given <= width && all(rowSums(inside) > 0)) {
          inside[inside == 0] <- inside[cbind(row(inside)[inside == 0], max.col(inside)[row(inside)[inside == 0]])]
          expect_gte(after, log_z_of_paths(chain, inside) - 1e-9)
        }
        expect_true(is.finite(after))
      }
    }
  }
})

test_that("states that become one count once, those that are gone not at all", {
  withr::local_seed(7)
  merged <- 0
  for (chain in random_chains(5, c(6, 9), c("sticky", "finite"))) {
    sets <- t(replicate(chain$data$n, sample(7L, 3)))
    number <- c(1L, 2L, 3L, 2L, 4L, 0L, 5L)
    now <- matrix(number[sets], ncol = 3)
    now[duplicated(cbind(c(row(now)), c(now)))] <- 0L
    merged <- merged + sum(rowSums(matrix(number[sets], ncol = 3) == 2) == 2)
    expect_identical(visit(chain, 3, sets, number = number), visit(chain, 3, now))
  }
  expect_gt(merged, 10)
})

test_that("logarithms take over where rows contradict transitions, and nothing is lost", {
  # Three states far apart; from each one only the next is possible, but rows jump at random.
  withr::local_seed(5)
  lengths <- c(25, 35)
  z <- sample(3, 60, replace = TRUE)
  data <- list(x = matrix(c(0, 40, 100)[z] + rnorm(60)), n = 60L, d = 1L, starts = c(0L, 25L, 60L))
  obs <- utils::modifyList(diagonal_model(1), list(scale = 1))
  prior <- list(family = "hmm", k = 3L, alpha = 3e-3, start = 1, sticky = 0)
  contract <- engine_contract(data, list(obs = obs, prior = prior), diag(3)[z, ])
  state <- list(
    k = 3L, obs = contract$statistic, extra = matrix(c(1, 0, 0)), pair = 1e3 * matrix(c(0, 0, 1, 1, 0, 0, 0, 1, 0), 3),
    scalar = 0, u = numeric(), omega = numeric()
  )
  rows <- expected_rows(state, prior)
  chain <- list(
    data = data, lengths = lengths, modelled = 1:60, model = list(obs = obs, prior = prior), state = state,
    weights = contract$weights, start = rows[[1]], transition = do.call(rbind, rows[-1]),
    log_e = contract$features %*% t(contract$weights)
  )
  dense <- engine_messages(chain$start, chain$transition, chain$log_e, data$starts, TRUE)
  expect_false(dense$fast_is_exact)
  for (width in 1:2) {
    for (sets in list(NULL, matrix(rep(c(1L, 3L)[seq_len(width)], each = 60), 60))) {
      before <- if (is.null(sets)) -Inf else log_z_of_paths(chain, sets)
      for (i in 1:4) {
        s <- visit(chain, width, sets)
        for (g in 1:2) {
          at <- rows_of(chain, g)
          last <- if (!is.null(sets)) sets[at, , drop = FALSE]
          want <- twin_visit(chain$start, chain$transition, chain$log_e[at, ], width, last)
          expect_identical(s$sets[at, , drop = FALSE], want)
        }
        expect_equal(log_z(chain, s), log_z_of_paths(chain, s$sets), tolerance = 1e-9)
        expect_gte(log_z(chain, s), before - 1e-9 * abs(before))
        before <- log_z(chain, s)
        sets <- s$sets
      }
    }
  }
})

long_test("a long sequence in segments is the same sequence in one piece", {
  withr::local_seed(6)
  toy <- toy_sequences(1, lengths = c(4500, 5), k = 5)
  toy$data$x <- toy$data$x + matrix(rnorm(9010, sd = 6), ncol = 2)
  prior <- utils::modifyList(hmm_priors$finite, list(k = 5L))
  model <- list(obs = diagonal_model(), prior = prior)
  contract <- engine_contract(toy$data, model, outer(toy$z, 1:5, "==") * 0.9 + 0.02)
  state <- list(
    k = 5L, obs = contract$statistic, extra = matrix(1, 5), pair = 1800 * (diag(5) * 5 + 0.2), scalar = 0,
    u = numeric(), omega = numeric()
  )
  rows <- expected_rows(state, prior)
  chain <- list(
    data = toy$data, model = model, state = state, lengths = c(4500, 5),
    modelled = 1:4505, weights = contract$weights, start = rows[[1]], transition = do.call(rbind, rows[-1]),
    log_e = contract$features %*% t(contract$weights)
  )
  last <- NULL
  for (i in 1:2) {
    s <- visit(chain, 2, last)
    for (g in 1:2) {
      at <- rows_of(chain, g)
      want <- twin_visit(chain$start, chain$transition, chain$log_e[at, ], 2, last[at, ])
      expect_identical(s$sets[at, ], want)
    }
    expect_equal(log_z(chain, s), log_z_of_paths(chain, s$sets), tolerance = 1e-11)
    expect_identical(visit(chain, 2, last, threads = 2L), s)
    last <- s$sets
  }
})

test_that("every row of many sequences keeps its own sets", {
  toy <- toy_sequences(1, lengths = rep(300, 150), k = 4)
  toy$data$x <- toy$data$x + withr::with_seed(1, matrix(rnorm(9e4, sd = 4), ncol = 2))
  model <- list(obs = diagonal_model(), prior = hmm_priors$sticky)
  state <- engine_fit(toy$data, model, engine_control(6, max_laps = 2L), NULL, NULL)$state
  chain <- list(data = toy$data, model = model, state = state)
  s <- visit(chain, 2)
  expect_equal(visit(chain, 2, s$sets, same = TRUE), s, tolerance = 1e-10)
  again <- visit(chain, 2, s$sets)
  for (rows in list(1:600, 22201:22500, 44701:45000)) {
    some <- chain
    some$data <- list(
      x = toy$data$x[rows, ], n = length(rows), d = 2L, starts = as.integer(seq(0, length(rows), by = 300))
    )
    expect_identical(visit(some, 2, s$sets[rows, ])$sets, again$sets[rows, ])
  }
})
