# The bound of one document, up to constants of the document, at responsibilities r of its words (rows) for the topics
# that have a share: sum_u c_u sum_k r_uk (C_uk - log r_uk) + sum_k [log Gamma(N_k + a_k) - log Gamma(a_k)].
document_bound <- function(c, weight, a, topic, r) {
  n <- colSums(weight * r)
  sum(weight * ifelse(r > 0, r * (c[, topic, drop = FALSE] - log(r)), 0)) + sum(lgamma(n + a[topic]) - lgamma(a[topic]))
}

# r proportional to exp(C + P), of every word only the `width` largest (0: all).
document_responsibilities <- function(c, share, width) {
  x <- c[, share$topic, drop = FALSE] + rep(share$log_weight, each = nrow(c))
  for (u in seq_len(nrow(x))) {
    if (width > 0 && width < ncol(x)) x[u, order(-x[u, ])[-seq_len(width)]] <- -Inf
    x[u, ] <- exp(x[u, ] - max(x[u, ]))
  }
  x / rowSums(x)
}

one_of <- function(...) sample(c(...), 1)

test_that("a visit never returns a lower bound than what is remembered of the document, whatever has changed", {
  set.seed(1)
  worst <- searches <- fewer <- off <- 0
  cases <- if (long_tests()) 700 else 350
  for (case in seq_len(cases)) {
    n <- one_of(1, 3, 10, 30)
    k <- one_of(2, 5, 12, 30)
    width <- one_of(0L, 1L, 2L, 9L)
    spread <- one_of(0.1, 2, 30, 1000) # at 1000 most of exp(C) underflow
    weight <- sample(1:5, n, TRUE) * one_of(1, 30, 1e-3, 1e-7)
    a <- rgamma(k, one_of(0.01, 1)) * one_of(1, 1e-3, 1e-100) + 1e-200
    c <- matrix(rnorm(n * k, -spread, spread), n)
    if (case %% 3 == 0) c[sample(n * k, n * k %/% 4)] <- one_of(-1e3, -1e5)
    if (case %% 4 == 0) c <- round(c)[, sample(k, k, TRUE), drop = FALSE] # ties
    share <- engine_document_visit(c, weight, a, width, NULL)
    if (case %% 5 == 0) { # any factors instead of those of a visit
      share$topic <- sort(sample(k, sample(k, 1)))
      share$log_weight <- rnorm(length(share$topic), 0, one_of(1, 50))
      share$count <- colSums(weight * document_responsibilities(c, share, width))
    }
    for (visit in 1:3) {
      r <- document_responsibilities(c, share, width)
      c <- c + matrix(rnorm(n * k, 0, spread * one_of(0, 0.01, 0.5)), n)
      a <- pmin(pmax(a * exp(rnorm(k, 0, one_of(0, 0.1, 2))), 1e-200), 1e3)
      before <- document_bound(c, weight, a, share$topic, r)
      share$wait <- sample(0:2, 1)
      searches <- searches + (share$wait == 0)
      m <- length(share$topic)
      share <- engine_document_visit(c, weight, a, width, share)
      fewer <- fewer + (length(share$topic) < m)
      r <- document_responsibilities(c, share, width)
      after <- document_bound(c, weight, a, share$topic, r)
      worst <- max(worst, (before - after - 1e-7) / (1 + abs(before)))
      off <- max(off, abs(share$count - colSums(weight * r)) / sum(weight))
    }
  }
  expect_lte(worst, 1e-11)
  expect_lte(off, 1e-9)
  expect_gt(searches, 0.7 * cases)
  expect_gt(fewer, cases / 7)
})

long_test("a fit that starts from an earlier one of the same documents never ends lower", {
  set.seed(2)
  for (case in 1:20) {
    x <- toy_corpus(case, documents = one_of(10, 40), terms = one_of(4, 12), topics = 2, tokens = one_of(3, 30, 100))
    prior <- if (case %% 3 == 0) prior_lda(one_of(2, 5)) else prior_hdp()
    fit <- function(laps, ...) {
      bnp_topics(x, prior = prior, control = bnp_control(
        seed = case, max_laps = laps, batches = 1 + case %% 2 * 2, sparsity = if (case %% 4 < 2) 1 + case %% 2
      ), ...)
    }
    first <- fit(one_of(2, 10, 40))
    for (laps in c(1, 20)) expect_gt(elbo(fit(laps, start = first)), elbo(first) - 1e-9 * abs(elbo(first)))
  }
  other <- bnp_topics(x[nrow(x):1, ], prior = prior, start = first, control = bnp_control(seed = 1))
  expect_true(is.finite(elbo(other)))
})
