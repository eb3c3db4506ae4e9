# Probabilities of whole documents: heldout_loglik(type = "sequential" and "plugin").

phi <- rbind(c(0.6, 0.3, 0.1), c(0.1, 0.2, 0.7), c(0.3, 0.4, 0.3))
weight <- c(0.5, 0.3, 0.2)
estimates <- function(counts, draws, seed = 1, threads = 1L, topics = phi, a = weight) {
  engine_sequential_estimates(count_data(counts), topics, a, draws, seed, threads)
}

# log p(words | phi, a) as the sum over all paths of topics.
log_p_of <- function(counts, topics = phi, a = weight) {
  words <- rep(seq_along(counts), counts)
  paths <- as.matrix(expand.grid(rep(list(seq_along(a)), length(words))))
  log_p <- apply(paths, 1, function(z) {
    n <- tabulate(z, length(a))
    sum(lgamma(n + a) - lgamma(a)) + lgamma(sum(a)) - lgamma(sum(a) + length(z)) + sum(log(topics[cbind(z, words)]))
  })
  max(log_p) + log(sum(exp(log_p - max(log_p))))
}

test_that("the estimate has no bias: documents of six tokens against the sum over all paths", {
  # Words 1 1 2 3 1 3, whose exact log probability is known from another program.
  expect_equal(log_p_of(c(3, 1, 2)), -6.8589265, tolerance = 1e-8)
  sparse <- rbind(c(0.97, 0.02, 0.01), c(0.01, 0.01, 0.98))
  cases <- list(
    list(c(3, 1, 2), phi, weight), list(c(0, 6, 0), phi, 10 * weight), list(c(2, 2, 2), sparse, c(0.01, 0.05)),
    list(c(1, 0, 5), rbind(sparse, 1 / 3), c(3, 0, 0.2))
  )
  for (case in cases) {
    positive <- case[[3]] > 0
    exact <- log_p_of(case[[1]], case[[2]][positive, ], case[[3]][positive])
    each <- exp(estimates(matrix(case[[1]], 20000, 3, byrow = TRUE), 1L, 3, 2L, case[[2]], case[[3]]) - exact)
    expect_lt(abs(mean(each) - 1) / (sd(each) / sqrt(20000)), 4)
    expect_gt(sd(each), 0)
  }
})

test_that("the log-likelihood of held-out documents is averaged over draws", {
  ratio <- exp(estimates(matrix(c(3, 1, 2), 500, 3, byrow = TRUE), 100L) - log_p_of(c(3, 1, 2)))
  expect_lt(abs(mean(ratio) - 1), 0.008)
  expect_gt(sd(ratio), 0.038)
  expect_lt(sd(ratio), 0.05)
})

test_that("where paths do not matter the estimate is exact, however long the document", {
  expect_equal(estimates(diag(3), 1L), log(drop(weight %*% phi)))
  expect_equal(estimates(rbind(0, c(2, 1, 5), 0), 3L)[c(1, 3)], c(0, 0))
  one <- estimates(rbind(c(3, 1, 2), c(1e5, 3e5, 10)), 1L, topics = phi[1, , drop = FALSE], a = 1e-8)
  expect_equal(one, c(sum(c(3, 1, 2) * log(phi[1, ])), sum(c(1e5, 3e5, 10) * log(phi[1, ]))), tolerance = 1e-12)
  # Factors at the ends of the range of doubles, in either order.
  for (sign in c(-1, 1)) {
    extreme <- estimates(matrix(1, 20, 2), 1L, topics = t(10^(sign * c(60, 300))), a = 1)
    expect_equal(extreme, rep(sign * 360 * log(10), 20), tolerance = 1e-12)
  }
  # A term for each topic: the topics of tokens are known.
  long <- c(4e5, 2e5, 1)
  exact <- sum(lgamma(long + weight) - lgamma(weight)) + lgamma(1) - lgamma(1 + sum(long))
  expect_equal(estimates(t(long), 2L, topics = diag(3)), exact, tolerance = 1e-10)
})

test_that("bits depend on seed and document, not on threads, other documents or further draws", {
  counts <- withr::with_seed(1, matrix(as.double(rpois(300, 2)), 100))
  plain <- estimates(counts, 3L)
  expect_identical(estimates(counts, 3L, threads = 4L), plain)
  expect_identical(estimates(counts[1:40, ], 3L), plain[1:40])
  expect_false(identical(estimates(counts, 3L, seed = 2), plain))
  expect_gt(length(unique(estimates(counts[rep(7, 50), ], 1L))), 20)
})

corpus <- toy_corpus(documents = 60)
fit <- bnp_topics(corpus, control = bnp_control(seed = 1))
lda <- bnp_topics(corpus, prior = prior_lda(3), control = bnp_control(seed = 1, max_laps = 30))

test_that("a fit's topics are its posterior means: with topics not seen yet, or without", {
  ones <- `dimnames<-`(diag(12), list(NULL, colnames(corpus)))
  loglik <- function(fit, type) heldout_loglik(fit, ones, type, draws = 1, seed = 1, per_document = TRUE)$loglik
  w <- document_weight(fit)
  expect_gt(tail(w, 1), 0)
  known <- coef(fit)$prob
  unseen <- prop.table(fit$model$obs$term_prior)
  expect_equal(loglik(fit, "sequential"), unname(log(drop(w %*% rbind(known, unseen)) / sum(w))))
  seen <- head(w, -1)
  expect_equal(loglik(fit, "plugin"), unname(log(drop(seen %*% known) / sum(seen))))
  for (type in c("sequential", "plugin")) expect_equal(loglik(lda, type), unname(log(colMeans(coef(lda)$prob))))
  # Without topics not seen yet the weights of the others stay as they are.
  drawn <- heldout_loglik(fit, corpus, "plugin", draws = 2, seed = 5, per_document = TRUE)$loglik
  expect_equal(drawn, estimates(corpus, 2L, 5, topics = known, a = seen))
  few <- rbind(c(2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0), c(0, 1, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0))
  colnames(few) <- colnames(corpus)
  exact <- function(a, topics) apply(few, 1, log_p_of, topics, a)
  expect_equal(heldout_loglik(fit, few, "sequential", draws = 4000, seed = 2, per_document = TRUE)$loglik,
    exact(w, rbind(known, unseen)), tolerance = 0.01)
  expect_equal(heldout_loglik(fit, few, "plugin", draws = 4000, seed = 2, per_document = TRUE)$loglik,
    exact(seen, known), tolerance = 0.01)
})

test_that("means are per token; empty documents, unseen terms and seeds are as in completion", {
  wide <- cbind(rbind(corpus[1:5, ], empty = 0), zzz = 1)
  for (type in c("sequential", "plugin")) {
    expect_warning(
      each <- heldout_loglik(fit, wide, type, seed = 1, per_document = TRUE), class = "bnpvi_warning_unseen_terms"
    )
    expect_identical(each$document, rownames(wide))
    expect_equal(each$tokens, unname(c(rowSums(corpus[1:5, ]), 0)))
    expect_identical(each$loglik[6], 0)
    expect_true(all(each$loglik[1:5] < 0))
    expect_equal(heldout_loglik(fit, wide[, 1:12], type, seed = 1), sum(each$loglik) / sum(each$tokens))
  }
  set.seed(7)
  before <- .Random.seed
  expect_identical(
    heldout_loglik(fit, corpus, "sequential", seed = 1), heldout_loglik(fit, corpus, "sequential", seed = 1)
  )
  expect_identical(.Random.seed, before)
  drawn <- heldout_loglik(fit, corpus, "sequential")
  expect_false(identical(heldout_loglik(fit, corpus, "sequential"), drawn))
  set.seed(7)
  expect_identical(heldout_loglik(fit, corpus, "sequential"), drawn)
  # Planted topics predict better than the frequencies of terms.
  frequency <- colSums(corpus) / sum(corpus)
  expect_gt(drawn, sum(corpus %*% log(frequency)) / sum(corpus) + 0.1)
})

test_that("what has no meaning is refused", {
  whole <- function(...) heldout_loglik(fit, corpus, "sequential", ...)
  expect_bad(whole(split = "type"), "argument", "`split` has no meaning")
  expect_bad(whole(seen = 0.3, inference = "collapsed"), "argument", "`seen` and `inference` have .*them\\s+out")
  expect_bad(heldout_loglik(fit, corpus, draws = 3), "argument", "`draws` has no meaning")
  expect_bad(heldout_loglik(fit, corpus, "type"), "argument", "`type`")
  for (draws in list(0, 2.5, NA, "a")) expect_bad(whole(draws = draws), "argument", "`draws`")
  expect_bad(whole(seed = -1), "argument", "seed")
  expect_bad(heldout_loglik(fit, corpus[0, ], "plugin"), "no_tokens", "`newdata`")
  expect_bad(heldout_loglik(fit, 0 * corpus[1:2, ], "sequential"), "no_tokens", "`newdata`")
  huge <- rbind(corpus[1, ], replace(corpus[2, ], 3, 2e9))
  expect_bad(heldout_loglik(fit, huge, "sequential"), "range", "2")
  rows <- bnp_topics(faithful, obs_gaussian(), id = rep(1:8, 34), control = bnp_control(seed = 1, max_laps = 3))
  expect_bad(heldout_loglik(rows, faithful, "plugin", id = rep(1:8, 34)), "argument", "counts")
})
