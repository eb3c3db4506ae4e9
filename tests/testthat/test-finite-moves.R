# Moves of models with a fixed number of clusters: K stays, the bound rises, and good answers are found from bad starts.

planted_chain <- function(n, k) {
  withr::with_seed(2, {
    z <- rep(rep(seq_len(k), length.out = n), each = 20)[seq_len(n)]
    cbind(rnorm(n, 4 * z), rnorm(n, -3 * z))
  })
}

accepted_moves <- function(fit) colSums(fit$trace[c("births", "merges", "deletes")])

expect_exact <- function(fit, label) {
  for (what in c("elbo", "statistics", "entropy", "sums")) {
    expect_lte(fit$audit[[what]], 1e-8, label = paste(label, what))
  }
  expect_gte(fit$audit[["smallest_gain"]], -1e-9, label = label)
  expect_gte(min(0, relative_gains(fit)), -1e-9, label = label)
}

for (case in some_of(planted_cases(), by = 5, from = 2)) {
  test_that(paste0(case$name, ": finite mixtures keep K, and every state met equals its recomputation"), {
    total <- c(births = 0, merges = 0, deletes = 0)
    for (k in if (long_tests()) c(1L, 2L, 4L, 12L) else 12L) {
      for (sparsity in if (long_tests()) list(NULL, 2) else list(2)) {
        for (batches in if (long_tests()) c(1, 3) else 3) {
          fit <- engine_run(
            case,
            prior = prior_dirichlet(k), init = "random", batches = batches, seed = 5, sparsity = sparsity,
            audit = TRUE
          )
          expect_exact(fit, paste(case$name, k))
          expect_identical(unique(fit$trace$k), k)
          expect_identical(fit$state$k, k)
          expect_length(fit$sizes, k)
          total <- total + accepted_moves(fit)
        }
      }
    }
    expect_gt(sum(total), 0)
  })
}

long_test("finite sequences keep K, and every state met equals its recomputation", {
  total <- c(births = 0, merges = 0, deletes = 0)
  for (case in some_of(planted_sequences(), by = 11, from = 3)) {
    for (sticky in c(0, 5)) {
      for (k in some_of(c(9L, 1L, 4L, 2L), by = 3)) {
        case$model$prior <- prior_hmm(k, sticky = sticky)
        control <- engine_control(k, seed = 2, batches = 3L, moves = all_moves, max_laps = 25L, audit = TRUE)
        fit <- engine_fit(case$data, case$model, control, NULL, NULL)
        expect_exact(fit, paste(case$name, k))
        expect_identical(unique(fit$trace$k), k)
        total <- total + accepted_moves(fit)
      }
    }
  }
  for (kind in names(total)) expect_gt(total[[kind]], 0, label = kind)
})

test_that("finite topics keep K, and every state met equals its recomputation, with weights too", {
  total <- c(births = 0, merges = 0, deletes = 0)
  x <- toy_corpus(documents = 60, topics = 4)
  for (weighted in c(FALSE, TRUE)) {
    data <- count_data(x)
    if (weighted) data$weights <- rep(c(1, 2.5, 0.5), 20)
    for (k in if (long_tests()) c(1L, 2L, 3L, 5L, 9L) else c(2L, 9L)) {
      for (batches in c(1L, 3L)) {
        for (sparsity in c(0L, 2L)) {
          if (!is_tried(weighted + (k == 9L), (batches == 3L) + (sparsity > 0L), by = 2L)) next
          model <- topic_model(ncol(x), list(family = "lda", k = k, alpha = 0.5))
          fit <- function(threads) {
            engine_fit(data, model, engine_control(
              k, init = "random", seed = 4, batches = batches, moves = all_moves, max_laps = 30L, audit = TRUE,
              sparsity = sparsity, threads = threads
            ), NULL, NULL)
          }
          one <- fit(1L)
          expect_exact(one, paste("topics", k, batches, sparsity))
          expect_identical(unique(one$trace$k), k)
          expect_length(one$sizes, k)
          expect_equal(sum(one$sizes), sum((data$weights %||% 1) * rowSums(x)))
          if (batches == 3L) expect_identical(fit(2L)[c("state", "elbo", "audit")], one[c("state", "elbo", "audit")])
          total <- total + accepted_moves(one)
        }
      }
    }
  }
  for (kind in names(total)) expect_gt(total[[kind]], 0, label = kind)
})

test_that("finite topics that are rows in groups keep K too", {
  for (case in some_of(without_scales(planted_sequences()), by = 9)) { # topics of rows have no scales
    if (case$model$obs$family == "ar") next
    case$model$prior <- list(family = "lda", k = 4L, alpha = 0.5)
    control <- engine_control(4L, seed = 2, batches = 2L, moves = all_moves, max_laps = 15L, audit = TRUE)
    fit <- engine_fit(case$data, case$model, control, NULL, NULL)
    expect_exact(fit, case$name)
    expect_identical(unique(fit$trace$k), 4L)
  }
})

long_test("finite topics find theirs from one topic and idle ones, as from k-means of the documents", {
  x <- toy_corpus(seed = 2, documents = 120, terms = 40, topics = 8, tokens = 60)
  fit <- function(start = NULL, ...) {
    elbo(bnp_topics(x, prior = prior_lda(8), start = start, control = bnp_control(seed = 1, verbose = FALSE, ...)))
  }
  one <- cbind(rep(1, nrow(x)), matrix(0, nrow(x), 7))
  clusters <- withr::with_seed(1, stats::kmeans(sqrt(x / rowSums(x)), 8, nstart = 10)$cluster)
  expect_gte(fit(), fit(clusters) - 2)
  expect_gte(fit(one), fit(clusters) - 2)
  expect_gt(fit(one), fit(one, moves = FALSE) + 500)
})

# k clusters with covariances of their own, in so many dimensions that borders of the first laps last.
far_clusters <- function(n = 3000, k = 10, d = 10) {
  withr::with_seed(6, {
    z <- sample(k, n, TRUE)
    x <- matrix(0, n, d)
    for (j in seq_len(k)) {
      rows <- which(z == j)
      half <- matrix(rnorm(d * d), d) / sqrt(d)
      x[rows, ] <- rep(rnorm(d), each = length(rows)) + matrix(rnorm(length(rows) * d), ncol = d) %*% half
    }
    list(x = x, z = z)
  })
}

long_test("a finite mixture finds its clusters from any start, as good as from their labels", {
  case <- far_clusters()
  fit <- function(seed, start = NULL, ...) {
    control <- bnp_control(seed = seed, verbose = FALSE, ...)
    bnp_mixture(case$x, prior = prior_dirichlet(10), start = start, control = control)
  }
  best <- elbo(fit(1, case$z))
  for (init in c("bregman", "random")) {
    for (seed in some_of(1:3, by = 5)) {
      found <- fit(seed, init = init)
      expect_gte(elbo(found), best - 0.5)
      expect_gte(adjusted_rand_index(fitted(found), case$z), 0.99)
    }
  }
  # Without moves the same starts end far below.
  expect_lt(min(vapply(1:3, function(seed) elbo(fit(seed, moves = FALSE)), 1)), best - 100)
})

long_test("a finite hidden Markov model ends above k-means as its start", {
  case <- withr::with_seed(1, {
    k <- 4
    z <- integer(600)
    z[1] <- 1L
    for (t in 2:600) z[t] <- if (runif(1) < 0.9) z[t - 1] else sample(k, 1)
    list(x = matrix(rnorm(k * 12, sd = 0.8), k)[z, ] + matrix(rnorm(600 * 12), 600), z = z)
  })
  fit <- function(start = NULL, ...) {
    elbo(bnp_hmm(case$x, prior = prior_hmm(4), start = start, control = bnp_control(verbose = FALSE, ...)))
  }
  start <- withr::with_seed(1, stats::kmeans(case$x, 4, nstart = 10))
  for (seed in 1:3) expect_gte(fit(seed = seed), fit(start, seed = 1, moves = FALSE) - 1e-6)
  expect_gte(fit(seed = 1), fit(case$z, seed = 1) - 0.5)
})

test_that("a finite hidden Markov model starts from k-means, and R's generator stays", {
  x <- planted_chain(400, 3)
  control <- bnp_control(seed = 3, verbose = FALSE)
  set.seed(9)
  before <- .Random.seed
  fit <- bnp_hmm(x, prior = prior_hmm(3), control = control)
  expect_identical(.Random.seed, before)
  labels <- withr::with_seed(3, stats::kmeans(x, 3, iter.max = 50, nstart = 10)$cluster)
  same <- bnp_hmm(x, prior = prior_hmm(3), control = control, start = labels)
  expect_equal(elbo(fit), elbo(same))
  # Values far from zero, whose squares overflow and lose the differences; k-means knows no weights.
  one <- bnp_control(seed = 3, verbose = FALSE, max_laps = 1, moves = FALSE)
  after_a_lap <- function(x) suppressWarnings(fitted(bnp_hmm(x, prior = prior_hmm(3), control = one)))
  expect_identical(after_a_lap(1e160 + 1e147 * x), after_a_lap(x))
  weighted <- function(...) {
    bnp_hmm(x, prior = prior_hmm(3), weights = 2, control = bnp_control(seed = 3, verbose = FALSE, ...))
  }
  expect_identical(weighted()$state, weighted(init = "bregman")$state)
  # Fewer different rows than states, missing values, another init: the engine's own start.
  expect_identical(bnp_hmm(x[c(1, 1, 2, 2), ], prior = prior_hmm(3), control = control)$state$k, 3L)
  x[5, 1] <- NA
  expect_identical(bnp_hmm(x, prior = prior_hmm(3), control = control, na_action = "model")$state$k, 3L)
})

test_that("rows that begin in wrong states, out of which no transition leads, end in the right ones", {
  chain <- withr::with_seed(5, {
    z <- rep(rep(1:6, 10), each = 12)
    list(x = matrix(rnorm(12, sd = 3), 6)[z, ] + matrix(rnorm(2 * length(z)), ncol = 2), z = z)
  })
  wrong <- chain$z
  wrong[seq(5, length(wrong), by = 60)] <- 1L + wrong[seq(5, length(wrong), by = 60)] %% 6L
  fit <- function(start, ...) {
    elbo(bnp_hmm(chain$x, prior = prior_hmm(6), start = start, control = bnp_control(seed = 1, verbose = FALSE, ...)))
  }
  expect_gte(fit(wrong), fit(chain$z) - 0.01)
})

test_that("switched off moves are not made in finite models either", {
  case <- planted_cases()[[1]]
  for (moves in list(FALSE, bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE))) {
    fit <- engine_run(case, prior = prior_dirichlet(12), seed = 5, moves = moves)
    expect_equal(sum(accepted_moves(fit)), 0)
  }
  only <- engine_run(case, prior = prior_dirichlet(12), seed = 5, moves = bnp_moves(birth = FALSE, delete = FALSE))
  expect_equal(unname(accepted_moves(only)[c("births", "deletes")]), c(0, 0))
  expect_gt(accepted_moves(only)[["merges"]], 0)
})

test_that("finite mixtures come to an end, though some clusters stay empty", {
  for (k in 1:5) {
    fit <- bnp_mixture(faithful, prior = prior_dirichlet(k), control = bnp_control(seed = 1, verbose = FALSE))
    expect_true(fit$converged)
    expect_identical(fit$state$k, k)
  }
})

test_that("states that make room in sequences that a proposal has no copy of are visited there", {
  # More rows of the state that is divided than proposals copy, and two states elsewhere that are near each other.
  case <- withr::with_seed(3, {
    z <- c(rep(rep(1:2, each = 10), 3350), rep(rep(3:5, each = 10), 100))
    list(x = matrix(rnorm(length(z), c(0, 6, 40, 50, 52)[z])), z = z)
  })
  n <- length(case$z)
  data <- list(x = case$x, n = n, d = 1L, starts = as.integer(seq(0, n, by = 1000)))
  model <- list(obs = diagonal_model(1), prior = prior_hmm(4))
  control <- engine_control(4L, moves = all_moves, max_laps = 4L, audit = TRUE)
  fit <- engine_fit(data, model, control, list(labels = pmax(1L, case$z - 1L), k = 4L), NULL)
  expect_exact(fit, "room elsewhere")
  expect_gt(sum(accepted_moves(fit)), 0)
})

test_that("where two states are in use and K is 2, births are not tried, as nothing can make room", {
  x <- withr::with_seed(1, c(rnorm(80), rnorm(80, 6), rnorm(80)))
  tried <- function(k) {
    control <- bnp_control(seed = 1, threads = 1, verbose = FALSE, restarts = 1)
    sum(elbo_trace(suppressWarnings(bnp_hmm(x, prior = prior_hmm(k), control = control)))$births_tried)
  }
  expect_lt(tried(2), 10) # the two states are joined and divided anew; 26 with births
  expect_gt(tried(5), 10)
})
