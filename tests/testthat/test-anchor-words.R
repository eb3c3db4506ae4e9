# Documents that mix most of the topics, so that no document shows one by itself.
mixing_corpus <- function(seed, documents = 300, terms = 200, topics = 10, tokens = 60, concentration = 0.6) {
  withr::with_seed(seed, {
    phi <- matrix(rgamma(topics * terms, 0.05) + 1e-12, topics)
    phi <- phi / rowSums(phi)
    x <- t(replicate(documents, {
      theta <- rgamma(topics, concentration) + 1e-9
      drop(rmultinom(1, tokens, theta %*% phi))
    }))
    dimnames(x) <- list(paste0("d", seq_len(documents)), paste0("t", seq_len(terms)))
    list(counts = x, phi = phi)
  })
}
engine_counts <- function(x) as_engine_data(as_documents(x, obs_multinomial()))

# Probabilities of two different tokens of a document, documents by their tokens.
co_occurrence <- function(x) {
  n <- rowSums(x)
  weight <- ifelse(n > 1, 1 / (n - 1), 0)
  crossprod(x, weight * x) - diag(colSums(weight * x))
}

test_that("topics of anchors are the least-squares mixtures of their rows, and add up to the counts", {
  x <- mixing_corpus(1, documents = 100, terms = 30, topics = 4)$counts
  x[1, ] <- 0
  x[2, ] <- c(1, rep(0, 29))
  found <- engine_anchor_topics(engine_counts(x), 4L, FALSE, 1, 1L)
  expect_equal(colSums(found$statistics)[-1], unname(colSums(x)), tolerance = 1e-12)
  expect_equal(found$statistics[, 1], rowSums(found$statistics[, -1]), tolerance = 1e-12)

  q <- co_occurrence(x)
  rows <- q / ifelse(rowSums(q) > 0, rowSums(q), 1)
  basis <- rows[found$word, ]
  gram <- tcrossprod(basis)
  log_share <- matrix(0, 30, 4)
  share <- log_share + 1 / 4
  for (i in 1:100) {
    log_share <- log_share + 2 / max(gram) * (tcrossprod(rows, basis) - share %*% gram)
    share <- exp(log_share - apply(log_share, 1, max))
    share <- share / rowSums(share)
  }
  expect_equal(found$statistics[, -1], unname(t(colSums(x) * share)), tolerance = 1e-8)
})

test_that("anchors belong to different topics, with and without projection, for any threads", {
  for (terms in c(40, 400)) {
    corpus <- withr::with_seed(3, {
      phi <- matrix(rgamma(5 * terms, 1), 5)
      anchors <- seq_len(5)
      phi[, anchors] <- diag(5) * terms / 10
      phi <- phi / rowSums(phi)
      t(replicate(2000, drop(rmultinom(1, 100, rgamma(5, 0.3) %*% phi))))
    })
    found <- engine_anchor_topics(engine_counts(corpus), 50L, TRUE, 1, 1L)
    expect_setequal(found$word[1:5], anchors)
    expect_lte(length(found$word), 6)
    expect_identical(engine_anchor_topics(engine_counts(corpus), 50L, TRUE, 1, 2L), found)
    five <- engine_anchor_topics(engine_counts(corpus), 5L, TRUE, 1, 1L)
    topics <- five$statistics[order(five$word), -1]
    expect_gt(min(diag(cor(t(topics), t(phi)))), 0.99)
  }
})

test_that("anchors that are not told from noise come last, or not at all", {
  one <- withr::with_seed(4, t(rmultinom(400, 80, rgamma(60, 1))))
  expect_lte(length(engine_anchor_topics(engine_counts(one), 20L, TRUE, 1, 1L)$word), 1)
  expect_gt(length(engine_anchor_topics(engine_counts(one), 20L, FALSE, 1, 1L)$word), 5)
})

test_that("births find topics that every document mixes", {
  for (seed in 1:3) {
    corpus <- mixing_corpus(seed)
    fit <- bnp_topics(corpus$counts, control = bnp_control(seed = seed))
    expect_equal(n_clusters(fit), 10)
    expect_gt(min(apply(cor(t(corpus$phi), t(coef(fit)$prob)), 1, max)), 0.9)
  }
})

test_that("the better of two starts goes on by default", {
  corpus <- mixing_corpus(1)$counts
  bars <- kronecker(diag(4), matrix(1, 1, 4)) # each row of a 4 x 4 grid, and each column: no term in one topic only
  bars <- rbind(bars, matrix(diag(4), 4, 16))
  grid <- withr::with_seed(1, t(replicate(300, drop(rmultinom(1, 40, drop(crossprod(bars, rgamma(8, 0.2))))))))
  # Without moves, which lead each start elsewhere.
  for (x in list(corpus, grid)) {
    fit <- function(...) {
      bnp_topics(x, prior = prior_lda(8), control = bnp_control(seed = 1, max_laps = 30, moves = FALSE, ...))
    }
    fits <- lapply(c("anchor", "bregman", "best"), function(init) fit(init = init))
    bound <- vapply(fits, elbo, 0)
    expect_gt(bound[3], max(bound[1:2]) - 1e-5 * abs(bound[3]))
    expect_gt(min(diff(elbo_trace(fits[[3]])$elbo)), -1e-9 * abs(bound[3]))
    expect_equal(fit()$elbo, bound[3])
  }
})

test_that("starts that need counts are refused elsewhere", {
  x <- mixing_corpus(1, documents = 50, terms = 30)$counts
  init <- function(fit) fit$control$init
  laps <- function(...) bnp_control(seed = 1, max_laps = 2, ...)
  expect_equal(init(bnp_topics(x, prior = prior_lda(3), control = laps())), "best")
  expect_equal(init(bnp_topics(x, control = laps())), "anchor")
  expect_equal(init(bnp_topics(x, control = laps(algorithm = "stochastic"))), "anchor")
  expect_equal(init(bnp_mixture(faithful, control = laps())), "bregman")
  for (refused in c("anchor", "best")) {
    expect_bad(bnp_mixture(faithful, control = bnp_control(init = refused)), "argument", "bnp_topics")
  }
})
