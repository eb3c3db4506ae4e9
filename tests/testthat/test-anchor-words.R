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
  for (terms in some_of(c(400, 40), by = 2)) {
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

long_test("births find topics that every document mixes", {
  for (seed in some_of(1:3, by = 3)) {
    corpus <- mixing_corpus(seed)
    fit <- bnp_topics(corpus$counts, obs_multinomial(0.1), control = bnp_control(seed = seed))
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
      bnp_topics(x, obs_multinomial(0.1), prior_lda(8), bnp_control(seed = 1, max_laps = 30, moves = FALSE, ...))
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

test_that("anchors from sums over batches are those of all documents, for any batches, threads and workers", {
  corpus <- mixing_corpus(2, documents = 400, terms = 300, topics = 6)$counts
  data <- engine_counts(corpus)
  model <- list(
    obs = list(family = "multinomial", term_prior = rep(0.1, 300)), prior = list(family = "hdp", gamma = 5, alpha = 1)
  )
  by_batch <- function(k, clear = FALSE, ...) {
    engine_anchor_topics_by_batch(data, model, engine_control(k_init = k, ...), clear)
  }
  one <- by_batch(8L)
  expect_equal(colSums(one$statistics)[-1], unname(colSums(corpus)), tolerance = 1e-12)
  for (batches in c(2L, 9L)) {
    several <- by_batch(8L, batches = batches)
    expect_identical(several$word, one$word)
    expect_equal(several$statistics, one$statistics, tolerance = 1e-8)
    expect_identical(by_batch(8L, batches = batches, threads = 2L), several)
    expect_identical(by_batch(8L, batches = batches, source = "transient"), several)
  }
  clear <- by_batch(20L, clear = TRUE, batches = 3L)
  expect_lte(length(clear$word), length(by_batch(20L, batches = 3L)$word))
  # The same least-squares mixtures as of documents in one piece, where the anchors are the same.
  in_memory <- engine_anchor_topics(data, 8L, FALSE, 1, 1L)
  same <- intersect(in_memory$word, one$word)
  expect_gt(length(same), 3)
  if (setequal(in_memory$word, one$word)) {
    expect_equal(
      one$statistics[order(one$word), ], in_memory$statistics[order(in_memory$word), ], tolerance = 1e-8
    )
  }
})

long_test("more documents than a copy is made of are summed by batch, the same from a source and by workers", {
  set.seed(5)
  n <- 66000L
  topic <- sample.int(3, n, TRUE)
  words <- matrix(sample.int(5, 4 * n, TRUE), n) + 5L * (topic - 1L)
  x <- Matrix::sparseMatrix(
    i = rep(seq_len(n), 4), j = as.vector(words), x = 1, dims = c(n, 15), dimnames = list(NULL, letters[1:15])
  )
  how <- function(...) {
    bnp_control(
      seed = 1, init = "anchor", k_init = 3, moves = FALSE, max_laps = 1, verbose = FALSE, wave = 3, ...
    )
  }
  fit <- function(...) suppressWarnings(bnp_topics(..., obs = obs_multinomial(0.1)))
  memory <- fit(x, control = how(batches = dealt(n, 4)))
  top <- apply(coef(memory)$prob, 1, function(p) sort(order(-p)[1:5]))
  expect_setequal(colSums(top), c(15, 40, 65))
  expect_identical(elbo(fit(x, control = how(batches = dealt(n, 4), threads = 2))), elbo(memory))
  parts <- split(seq_len(n), rep(1:3, each = n / 3))
  source <- source_function(function(b) x[parts[[b]], ], batches = 3)
  from_source <- fit(source, control = how(batches = 4))
  expect_identical(elbo(from_source), elbo(memory))
  seen <- local_desk()
  expect_identical(elbo(fit(x, control = how(batches = dealt(n, 4), workers = TRUE))), elbo(memory))
  expect_identical(seen$times$anchors, 16L) # four passes over four batches
})
