# Streams of documents, and truncation-free topics as users see them.

how <- function(...) bnp_control("truncation_free", seed = 1, verbose = FALSE, ...)
x <- bars$counts[1:600, ]
in_parts <- function(x, size = 100L) function(i) {
  if (size * (i - 1L) < nrow(x)) x[size * (i - 1L) + seq_len(size), , drop = FALSE]
}
fit <- bnp_topics(bnp_stream(in_parts(x)), control = how())

test_that("options may be given beside `control`", {
  expect_identical(cluster_sizes(bnp_topics(bnp_stream(in_parts(x)), seed = 1)), cluster_sizes(fit))
})

test_that("a stream of documents gives topics with scores and identities, and no bound or proportions", {
  expect_s3_class(fit, c("bnp_topics", "bnp_fit"), exact = TRUE)
  expect_gte(n_clusters(fit), 5L)
  expect_lte(n_clusters(fit), 12L)
  expect_identical(nobs(fit), 600L)
  expect_lt(abs(sum(cluster_sizes(fit)) - sum(x)), 5) # topics of less than one token have gone
  trace <- elbo_trace(fit)
  expect_identical(trace$seen, 100 * 1:6)
  expect_gt(trace$score[6], trace$score[1] + 0.5)
  expect_equal(trace$score[6], heldout_loglik(fit, bars$counts[601:800, ], "sequential", seed = 1), tolerance = 0.01)
  expect_output(print(fit), "600 documents seen in 6 batches")
  expect_output(print(fit), "Log probability of a token")
  expect_output(print(summary(fit)), "truncation free")
  expect_bad(elbo(fit), "stream", "random state")
  expect_bad(fitted(fit), "stream", "documents")
  expect_bad(top_documents(fit), "stream")
  expect_bad(tidy(fit, matrix = "gamma"), "stream")
  expect_identical(nrow(top_terms(fit, 3)), 3L * n_clusters(fit))
  expect_equal(rowSums(predict(fit, x[1:5, ])), rep(1, 5), ignore_attr = TRUE)
  expect_true(all(predict(fit, x[1:20, ], type = "id") %in% cluster_ids(fit)))
  expect_setequal(cluster_history(fit)$id[cluster_history(fit)$fate == "alive"], cluster_ids(fit))
  withr::local_pdf(NULL)
  expect_silent(plot(fit, "score"))
  expect_silent(plot(fit))
})

test_that("storing and going on gives the same bits as never stopping, for any number of threads", {
  half <- bnp_topics(bnp_stream(in_parts(x), n = 300), control = how())
  stored <- unserialize(serialize(half, NULL))
  for (i in 4:6) stored <- update(stored, in_parts(x)(i))
  expect_identical(stored$stream, fit$stream)
  rest <- bnp_topics(bnp_stream(function(i) in_parts(x)(i + 3L)), start = half, control = how(threads = 3))
  expect_identical(rest$stream, fit$stream)
})

long_test("data in memory are learned from in passes, with proportions, and hand over to memoized learning and back", {
  own <- bnp_topics(x, control = how())
  expect_identical(own$control$batches, 6L)
  expect_identical(nrow(elbo_trace(own)), 18L)
  expect_equal(dim(fitted(own)), c(600L, n_clusters(own)))
  expect_equal(rowSums(fitted(own)), rep(1, 600), ignore_attr = TRUE)
  expect_equal(fitted(own), predict(own, x), ignore_attr = TRUE)
  memoized <- bnp_topics(x, start = own, control = bnp_control(seed = 1, verbose = FALSE, max_laps = 6))
  alone <- bnp_topics(x, control = bnp_control(seed = 1, verbose = FALSE, max_laps = 6))
  expect_gt(elbo(memoized), elbo(alone) - 100)
  on <- bnp_topics(bnp_stream(in_parts(bars$counts[601:700, ])), start = memoized, control = how())
  expect_identical(nobs(on), 700L)
  expect_true(all(cluster_ids(memoized) %in% cluster_ids(on)))
  expect_equal(sum(cluster_sizes(on)), sum(bars$counts[1:700, ]))
  expect_gt(elbo_trace(on)$score, elbo_trace(fit)$score[6] - 0.02)
})

test_that("streams of documents take finite priors, learned concentrations and single documents", {
  lda <- bnp_topics(bnp_stream(in_parts(x)), prior = prior_lda(12), control = how())
  expect_identical(length(cluster_sizes(lda)), 12L)
  expect_true(all(is.na(cluster_ids(lda)[cluster_sizes(lda) == 0])))
  expect_equal(rowSums(predict(lda, x[1:5, ])), rep(1, 5), ignore_attr = TRUE)
  learned <- bnp_topics(
    bnp_stream(in_parts(x)), prior = prior_hdp(gamma = gamma_prior(), alpha = gamma_prior()), control = how()
  )
  expect_gt(coef(learned)$alpha, 0)
  expect_identical(coef(learned)$alpha, learned$stream$alpha, ignore_attr = TRUE)
  expect_output(print(learned), "alpha")
  one_by_one <- bnp_topics(bnp_stream(in_parts(x[1:50, ], 1L)), control = how())
  expect_identical(nobs(one_by_one), 50L)
  expect_true(all(is.finite(elbo_trace(one_by_one)$score)))
  short <- bnp_topics(bnp_stream(function(i) if (i <= 3) rbind(c(0, 0), c(1, 0), c(0, 0))), control = how())
  expect_equal(sum(cluster_sizes(short)), 3)
})

test_that("documents come in every form, and terms that the first batch has not are an error or left out", {
  words <- data.frame(document = rep(c("a", "b"), each = 3), term = c("x", "y", "z"), n = 1:6)
  frames <- bnp_topics(bnp_stream(function(i) if (i <= 4) words, n = 5), control = how())
  expect_identical(nobs(frames), 6L) # two documents a batch: the third batch reaches five
  expect_identical(nobs(update(frames, words)), 8L)
  other <- transform(words, term = c("x", "y", "w"))
  expect_bad(update(frames, other), "new_terms", "drop")
  expect_equal(sum(cluster_sizes(update(frames, other, new_terms = "drop"))), sum(cluster_sizes(frames)) + 12)
  late <- function(i) list(words, other)[[min(i, 2)]]
  expect_error(bnp_topics(bnp_stream(late, n = 4), control = how()), "Batch 2", class = "bnpvi_error_stream")
  dropped <- bnp_topics(bnp_stream(late, n = 4), control = how(), new_terms = "drop")
  expect_equal(sum(cluster_sizes(dropped)), 33)
  expect_bad(bnp_topics(bnp_stream(late), control = how(), new_terms = "no"), "argument", "new_terms")
  expect_error(bnp_topics(bnp_stream(function(i) -words$n), control = how()), class = "bnpvi_error_stream")
})

test_that("what streams of documents cannot do is refused", {
  expect_bad(bnp_topics(x, control = how(), weights = rep(2, 600)), "weights")
  expect_bad(bnp_topics(x, control = how(), start = rep(1L, 600)), "start", "no topic")
  expect_bad(bnp_topics(bnp_stream(in_parts(x)), control = bnp_control()), "argument", "read once")
  expect_bad(update(fit, x[0, ]), "no_rows")
  expect_bad(update(fit, x, olddata = x), "update", "olddata")
  expect_bad(bnp_topics(bnp_stream(function(i) NULL), control = how()), "rows", "no batch")
  expect_bad(cluster_tree(fit, x), "stream")
  expect_bad(cut_fit(fit, x, k = 2), "stream")
  memoized <- suppressWarnings(
    bnp_topics(x[1:50, ], control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE))
  )
  expect_bad(plot(memoized, "score"), "argument", "elbo")
})

test_that("a memoized fit goes on with the tables that are expected of its documents", {
  memoized <- bnp_topics(x[1:100, ], control = bnp_control(seed = 1, verbose = FALSE))
  begun <- stream_of_fit(memoized)
  a <- document_weight(memoized)
  n <- as.matrix(memoized$documents)
  tables <- vapply(which(colSums(n) > 0), function(k) sum(a[k] * (digamma(a[k] + n[, k]) - digamma(a[k]))), 1)
  expect_equal(begun$tables, tables, ignore_attr = TRUE)
  expect_gt(diff(range(tables)), 1)
})
