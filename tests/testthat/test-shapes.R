# One row that is left of a matrix, in every verb.

once <- bnp_control(seed = 1, max_laps = 10)
calm <- function(expr) suppressMessages(suppressWarnings(expr))

test_that("a vector of counts is one document, in every verb of topics", {
  x <- withr::with_seed(1, matrix(stats::rpois(200, 2), 20, dimnames = list(NULL, letters[1:10])))
  row <- x[1, , drop = FALSE]
  all <- bnp_topics(x, control = once)
  for (one in list(x[1, ], as.table(x[1, ]), array(x[1, ], 10, dimnames(x)[2]))) {
    expect_equal(elbo(calm(bnp_topics(one, control = once))), elbo(calm(bnp_topics(row, control = once))))
    expect_equal(predict(all, one), predict(all, row))
    expect_equal(predict(all, rev(one)), predict(all, row))
    expect_equal(predict(all, one[1:3]), predict(all, row[, 1:3, drop = FALSE]))
    expect_equal(elbo(update(all, newdata = one)), elbo(update(all, newdata = row)))
    expect_equal(heldout_loglik(all, one, seed = 1), heldout_loglik(all, row, seed = 1))
    expect_equal(coherence(all, one), coherence(all, row))
  }
  stream <- function(one) {
    batches <- bnp_stream(function(i) if (i <= 3) one(x, i))
    topic_terms(calm(bnp_topics(batches, control = bnp_control("truncation_free", seed = 1))))
  }
  expect_equal(stream(function(x, i) x[i, ]), stream(function(x, i) x[i, , drop = FALSE]))
})

test_that("a vector with as many values as a fit has columns is one row, in every verb", {
  row <- iris[3, 1:4]
  one <- unlist(row)
  x <- iris[1:4]
  fits <- list(bnp_mixture(x, control = once), calm(bnp_hmm(x, control = once)), bnp_features(x, control = once))
  for (fit in fits) {
    for (vector in list(one, rev(one), as.table(one))) {
      expect_equal(unname(predict(fit, vector)), unname(predict(fit, row)))
      expect_equal(unname(predict(fit, vector, type = "prob")), unname(predict(fit, row, type = "prob")))
      expect_equal(elbo(update(fit, newdata = vector)), elbo(update(fit, newdata = row)))
      if (inherits(fit, "bnp_features")) next
      expect_equal(heldout_loglik(fit, vector), heldout_loglik(fit, row))
      expect_equal(as.data.frame(augment(fit, vector)), as.data.frame(augment(fit, row)))
    }
  }
  gap <- replace(one, c(2, 4), NA)
  for (fit in fits[1:2]) {
    whole <- unlist(impute(fit, as.data.frame(t(gap)), m = 1L, seed = 1)[[1L]])
    expect_false(anyNA(whole))
    for (vector in list(gap, rev(gap), as.table(gap))) {
      expect_equal(c(impute(fit, vector, m = 1L, seed = 1)[[1L]])[names(one)], whole)
    }
  }
  f <- bnp_filter(fits[[2L]], iris[1:20, 1:4])
  expect_equal(logLik(update(f, one)), logLik(update(f, row)))
  counts <- bnp_mixture(1:9, obs_poisson(), control = once)
  expect_length(fitted(counts), 9L)
  expect_length(predict(counts, 1:4), 4L)
})
