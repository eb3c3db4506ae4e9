# Forecasts of merges of topics, and of divisions of pairs anew.

# Proportions of 3 (or k) topics of each document, some of them exactly zero.
proportions <- function(x, k, seed) {
  withr::with_seed(seed, {
    r <- matrix(stats::rgamma(nrow(x) * k, 1), nrow(x))
    r[cbind(seq_len(nrow(x)), sample(k, nrow(x), TRUE))] <- 0
    r / rowSums(r)
  })
}

joined <- function(r, a, b) {
  r[, a] <- r[, a] + r[, b]
  r[, -b, drop = FALSE]
}

test_that("a forecast is what adding two topics gains but for the entropy: LDA, in plain R", {
  x <- toy_corpus(documents = 25)
  k <- 4L
  alpha <- 0.7
  r <- proportions(x, k, 1)
  model <- topic_model(ncol(x), list(family = "lda", k = k, alpha = alpha))
  gain <- engine_merge_forecasts(count_data(x), model, r, -Inf)$gain
  value <- function(r) {
    counts <- rowSums(x) * r
    twin_data_term(t(r) %*% x, rep(0.1, ncol(x))) + sum(lgamma(counts + alpha / k) - lgamma(alpha / k))
  }
  for (a in 1:3) for (b in (a + 1):4) expect_equal(gain[a, b], value(joined(r, a, b)) - value(r), tolerance = 1e-9)
})

test_that("a forecast is what adding two topics gains but for the entropy: HDP, with a given and a learned prior", {
  x <- toy_corpus(documents = 25)
  r <- proportions(x, 4, 2)
  r[1:12, 4] <- 0
  r[13:25, 3] <- 0
  r <- r / rowSums(r)
  learned <- resolve_obs(obs_multinomial(term_prior = NULL), as_document_data(x, obs_multinomial()))
  for (obs in list(topic_model(ncol(x))$obs, learned)) {
    model <- list(obs = obs, prior = topic_model(ncol(x))$prior)
    value <- function(r) sum(engine_elbo_of(count_data(x), model, r)[c("data", "documents", "top_level")])
    forecast <- engine_merge_forecasts(count_data(x), model, r, -Inf)
    for (a in 1:3) for (b in (a + 1):4) {
      exact <- value(joined(r, a, b)) - value(r)
      expect_equal(forecast$shared[a, b], any(r[, a] > 0 & r[, b] > 0))
      # The tangents of documents are those of the weights before the merge: never above, and near.
      expect_lte(forecast$gain[a, b], exact + 1e-6)
      expect_equal(forecast$gain[a, b], exact, tolerance = 2e-3)
    }
  }
})

test_that("pairs that forecasts refuse at the present sticks are refused at the best ones too", {
  obs <- obs_multinomial(term_prior = 0.1)
  for (seed in some_of(1:4, by = 4)) {
    x <- whales$counts[seq_len(60) + 20 * seed, ]
    control <- bnp_control(seed = seed, max_laps = 12 * seed, verbose = FALSE)
    r <- as.matrix(predict(suppressWarnings(bnp_topics(x, obs = obs, control = control)), x, type = "prob"))
    r <- ifelse(r < 0.01, 0, r)
    r <- r / rowSums(r)
    model <- topic_model(ncol(x))
    best <- engine_merge_forecasts(count_data(x), model, r, -Inf)$gain
    present <- engine_merge_forecasts(count_data(x), model, r, Inf)$gain
    pairs <- upper.tri(best)
    expect_true(all(present[pairs] <= best[pairs] + 1e-6))
    expect_lt(max(best[pairs] - present[pairs]), 10)
    for (least in c(-100, -30, 0)) {
      found <- engine_merge_forecasts(count_data(x), model, r, least)$gain[pairs]
      expect_identical(found < least, best[pairs] < least)
      expect_equal(found[found >= least], best[pairs][found >= least], tolerance = 1e-9)
    }
  }
})

# Proposals of a fit; spared: those, too, that forecasts refuse.
traced_topics <- function(x, seed, spared) {
  model <- topic_model(ncol(x))
  control <- bnp_control(seed = seed, k_init = 1, max_laps = 300, verbose = FALSE)
  control <- resolve_control(control, model$obs, model$prior, nrow(x), sum(x), NULL)
  control$proposals <- TRUE
  control$spared <- spared
  engine_fit(count_data(x), model, control, NULL, NULL)
}

long_test("what forecasts of merges and divisions refuse would gain next to nothing, and trying it changes nothing", {
  skip_without_testing_entries()
  sets <- c(
    lapply(0:3, function(i) bars$counts[200 * i + 1:200, ]),
    lapply(0:5, function(i) whales$counts[50 * (i %% 3) + 1:50, ])
  )
  tried <- some_of(seq_along(sets), by = 3, from = 3)
  proposals <- lapply(tried, function(i) {
    fit <- traced_topics(sets[[i]], i, TRUE)
    if (i == tried[1]) expect_identical(fit$trace$elbo, traced_topics(sets[[i]], i, FALSE)$trace$elbo)
    fit$proposals
  })
  refused <- function(what) lapply(proposals, function(p) p$gain[p$kind == paste("forecast of a", what)])
  lost <- function(what) vapply(refused(what), function(gain) sum(pmax(gain, 0)), 1)
  expect_gt(length(unlist(refused("merge"))), 10 * length(tried))
  expect_lte(stats::median(lost("merge")), 1)
  expect_gt(length(unlist(refused("resplit"))), 2 * length(tried))
  expect_lte(stats::median(lost("resplit")), 1)
})
