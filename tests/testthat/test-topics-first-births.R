# Births from one topic, from which all later topics come. In short documents of overlapping topics with common terms
# ten newborns lose more than they explain, and two have to be tried.

short_text <- function(documents, terms, seed = 2, topics = 2) {
  withr::with_seed(seed, {
    phi <- t(replicate(topics, {
      p <- rgamma(terms, 1) / (seq_len(terms) + 2)
      p / sum(p)
    }))
    theta <- matrix(rgamma(documents * topics, 0.3) + 1e-9, documents)
    t(apply(theta / rowSums(theta), 1, function(w) drop(rmultinom(1, 25, w %*% phi))))
  })
}
flat <- obs_multinomial(0.1)

long_test("short text does not end with one topic where a start with two ends higher", {
  x <- short_text(800, 1000)
  fit <- function(...) bnp_topics(x, flat, control = bnp_control(verbose = FALSE, ...))
  one <- fit(seed = 1)
  started <- vapply(1:2, function(seed) elbo(fit(seed = seed, k_init = 2)), 0)
  alone <- fit(seed = 1, moves = FALSE)
  expect_gt(min(started), elbo(alone) + 100)
  expect_gt(n_clusters(one), 1)
  expect_gt(elbo(one), min(started) - 20)
})

test_that("the only topic is divided in all four ways before a fit ends with it", {
  fit <- bnp_topics(short_text(1000, 300, topics = 1), flat, control = bnp_control(seed = 1, verbose = FALSE))
  expect_identical(n_clusters(fit), 1L)
  expect_equal(sum(fit$trace$births_tried), 4)
})

# Ten newborns that are joined until two are left do not get there.
long_test("what the first birth compares has two topics that began as two", {
  x <- short_text(800, 1000, seed = 3)
  first <- function(...) {
    suppressWarnings(bnp_topics(x, flat, control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE, ...)))
  }
  of_two <- first(moves = bnp_moves(birth_size = 2))
  expect_identical(n_clusters(of_two), 2L)
  expect_gt(elbo(first()), elbo(of_two) - 30)
})

test_that("newborns of the first birth that are alike are joined before it is judged", {
  x <- toy_corpus(documents = 300, terms = 60, topics = 6, tokens = 20)
  fit <- audited_topics(x, flat, seed = 1, max_laps = 2)
  expect_equal(fit$trace$births, c(0, 1))
  expect_equal(fit$trace$k, c(1, 6))
  expect_audited_topics(fit)
})

# Without joins births from two topics leave up to eleven.
test_that("newborns of later births that are alike are joined, too", {
  most <- function(topics, tokens) {
    max(vapply(1:3, function(seed) {
      x <- toy_corpus(seed, documents = 300, terms = 60, topics = topics, tokens = tokens)
      fit <- audited_topics(x, flat, seed = seed, max_laps = 1, k_init = 2)
      expect_gt(fit$trace$births, 0)
      expect_audited_topics(fit)
      fit$trace$k
    }, 1))
  }
  expect_lte(most(4, 40), 6)
  expect_lte(most(6, 20), 7)
})

test_that("what first births accept is audited, in several batches and under a learned prior, too", {
  x <- short_text(300, 300)
  for (batches in c(1, 4)) for (prior in list(0.1, NULL)) {
    fit <- audited_topics(x, obs_multinomial(prior), seed = 1, batches = batches, max_laps = 4)
    expect_gt(sum(fit$trace$births), 0)
    expect_audited_topics(fit)
  }
})

test_that("the bits of first births do not depend on threads", {
  x <- short_text(800, 1000)
  fit <- function(threads) {
    bnp_topics(x, flat, control = bnp_control(seed = 1, max_laps = 4, threads = threads, verbose = FALSE))$state
  }
  one <- fit(1)
  expect_identical(fit(2), one)
  expect_identical(fit(8), one)
})
