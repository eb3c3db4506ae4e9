# Proposals whose documents have few of the terms are judged on these alone.

# Groups of documents with terms of their own, and a few terms that all have.
own_terms <- function(groups = 10, documents = 8, terms = 25, common = 5, tokens = 40) {
  withr::with_seed(1, {
    x <- matrix(0, groups * documents, groups * terms + common)
    for (d in seq_len(nrow(x))) {
      group <- (d - 1) %/% documents
      own <- group * terms + sample(terms, tokens, TRUE, stats::rexp(terms))
      words <- c(own, groups * terms + sample(common, tokens %/% 4, TRUE))
      x[d, ] <- tabulate(words, ncol(x))
    }
    x
  })
}

test_that("what is accepted on few terms gains as much on all, and its statistics are those of the documents", {
  x <- own_terms()
  total <- c(births = 0, merges = 0, deletes = 0)
  runs <- list(
    list(obs_multinomial(0.1), batches = 1), list(obs_multinomial(0.1), batches = 3),
    list(obs_multinomial(NULL), batches = 2),
    list(obs_multinomial(0.1), batches = 1, k_init = 25, init = "random"),
    list(obs_multinomial(0.1), batches = 1, k_init = 25, init = "random", moves = bnp_moves(merge = FALSE)),
    list(obs_multinomial(0.1), batches = 2, k_init = 12, init = "random", sparsity = 2)
  )
  for (run in runs) {
    fit <- do.call(audited_topics, c(list(x), run, seed = 2, max_laps = 40))
    expect_audited_topics(fit)
    total <- total + colSums(fit$trace[names(total)])
    expect_lte(fit$audit[["weights"]], 2)
  }
  expect_true(all(total > 0))
  expect_gt(sum(total), 40)
})

test_that("documents with weights are, on few terms too, as many documents", {
  x <- own_terms(groups = 8)
  w <- rep(c(1, 2), length.out = nrow(x))
  half <- rep(1:16, each = 4)
  end <- function(x, start, ...) {
    control <- bnp_control(seed = 1, moves = bnp_moves(birth = FALSE), verbose = FALSE)
    bnp_topics(x, obs_multinomial(0.1), start = start, control = control, ...)
  }
  weighted <- end(x, half, weights = w)
  written <- end(x[rep(seq_len(nrow(x)), w), ], rep(half, w))
  expect_lt(n_clusters(weighted), 16)
  expect_equal(n_clusters(weighted), n_clusters(written))
  expect_equal(elbo(weighted), elbo(written), tolerance = 1e-6)
})

test_that("few terms change no bit for threads", {
  x <- own_terms()
  fit <- function(threads) {
    bnp_topics(x, control = bnp_control(seed = 3, threads = threads, verbose = FALSE, restarts = 1))
  }
  one <- fit(1)
  for (threads in c(2, 4)) expect_identical(elbo_trace(fit(threads))$elbo, elbo_trace(one)$elbo)
  expect_gt(n_clusters(one), 8)
})

test_that("weights of many terms, most without counts, are those of a few terms less", {
  x <- own_terms(terms = 204) # 2,045 terms: all are computed
  more <- cbind(x, matrix(0, nrow(x), 10)) # 2,055: only those with counts
  trace <- function(x, prior) {
    control <- bnp_control(seed = 1, k_init = 6, init = "random", moves = FALSE, max_laps = 8, tol = 0, verbose = FALSE)
    suppressWarnings(elbo_trace(bnp_topics(x, obs_multinomial(prior), control = control))$elbo)
  }
  expect_equal(trace(more, rep(c(0.1, 1e-8), c(ncol(x), 10))), trace(x, rep(0.1, ncol(x))), tolerance = 1e-7)
})

test_that("keywords that no document of a proposal has still count: the planted groups are found beside named topics", {
  x <- own_terms()
  colnames(x) <- paste0("w", seq_len(ncol(x)))
  lists <- list(one = paste0("w", c(1:3, 26:28)), two = paste0("w", c(101:103, 151, 201))) # of two and three groups
  for (term_prior in list(0.1, NULL)) {
    obs <- obs_multinomial(term_prior, keywords = lists)
    fit <- audited_topics(x, obs, batches = 1 + is.null(term_prior), seed = 2, max_laps = 40)
    expect_audited(fit) # a name that moves when a proposal is accepted brings more than was foretold
    expect_identical(fit$state$k, 10L)
  }
})
