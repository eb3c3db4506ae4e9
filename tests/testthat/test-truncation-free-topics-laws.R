# Truncation-free learning of topics against enumeration, plain sums and plain R.

counts <- rbind(c(2, 1, 0), c(0, 1, 1), c(0, 0, 1))
group <- c(1, 1, 1, 2, 2, 3)
word <- c(1, 1, 2, 2, 3, 3)
lambda <- c(0.4, 0.9, 1.3)
obs <- list(family = "multinomial", term_prior = lambda)
log_p_of_terms <- function(tokens) {
  s <- tabulate(word[tokens], 3)
  sum(lgamma(lambda + s) - lgamma(lambda)) + lgamma(sum(lambda)) - lgamma(sum(lambda + s))
}
priors <- tiny_topic_priors
bars_model <- function(prior = list(family = "hdp", gamma = 5, alpha = 0.5)) {
  list(obs = list(family = "multinomial", term_prior = rep(0.1, ncol(bars$counts))), prior = prior)
}

test_that("one batch of all documents draws from the exact posterior over partitions of the tokens", {
  runs <- some_draws(4000)
  for (kind in names(priors)) {
    exact <- exact_hdp_posterior(group, log_p_of_terms, priors[[kind]]$log_prior)
    model <- list(obs = obs, prior = priors[[kind]]$prior)
    drawn <- vapply(seq_len(runs), function(seed) {
      t <- statistics_of(learn_documents(counts, model, seed = seed, sweeps = 25L)$clusters)
      c(ncol(t), max(t[1L, ]))
    }, numeric(2))
    expect_exact_sizes(drawn, exact, kind)
  }
})

test_that("a second batch draws given the counts and tables of the first", {
  # One topic with fixed counts; a document of one token then joins it or begins another, with known odds.
  model <- list(obs = obs, prior = priors$hdp$prior)
  first <- utils::modifyList(no_topics(model$prior), list(
    t = c(5, 3, 1.5, 0.5), tables = 2.5, id = 1, born_at = 3, last_seen = 3, lasting = TRUE, next_id = 2, seen = 3
  ))
  runs <- some_draws(8000)
  joined <- vapply(seq_len(runs), function(seed) {
    length(learn_documents(rbind(c(0, 1, 0)), model, first, seed = seed)$clusters$id) == 1L
  }, NA)
  # E beta_1 = 2.5 / 4 and the rest 1.5 / 4 before the token, which is drawn given beta
  old <- 2.5 * (1.5 + lambda[2]) / (5 + sum(lambda))
  new <- 1.5 * lambda[2] / sum(lambda)
  p <- old / (old + new)
  expect_lt(abs(mean(joined) - p) / sqrt(p * (1 - p) / runs), 4)
})

test_that("statistics are plain sums in the first pass, documents count once in later ones, and fade by half-life", {
  x <- as.matrix(bars$counts[1:60, ])
  for (prior in list(list(family = "hdp", gamma = 5, alpha = 0.5), list(family = "lda", k = 15L, alpha = 0.5))) {
    model <- bars_model(prior)
    one <- learn_documents(x, model, batches = 6L)
    t <- statistics_of(one$clusters)
    expect_equal(rowSums(t), c(sum(x), unname(colSums(x))), tolerance = 1e-12)
    expect_identical(one$clusters$seen, 60)
    expect_equal(one$records$rows, rep(10, 6))
    expect_true(all(t >= 0))
    if (prior$family == "lda") expect_lte(ncol(t), 15L) else expect_true(all(one$clusters$tables >= 1))
    three <- learn_documents(x, model, batches = 6L, passes = 3L, all_rows = TRUE)
    expect_equal(sum(statistics_of(three$clusters)[1L, ]), sum(x), tolerance = 0.05)
    expect_identical(three$clusters$seen, 60)
    faded <- learn_documents(x[1:10, ], model, one$clusters, half_life = 10)
    expect_equal(sum(statistics_of(faded$clusters)[1L, ]), sum(x) / 2 + sum(x[1:10, ]), tolerance = 1e-10)
  }
})

test_that("scores are estimates of the probability of documents given the topics before, without bias", {
  model <- list(obs = obs, prior = priors$hdp$prior)
  first <- utils::modifyList(no_topics(model$prior), list(
    t = c(5, 3, 1.5, 0.5, 4, 0, 1, 3), tables = c(2.5, 2), id = c(1, 2), born_at = c(3, 3), last_seen = c(3, 3),
    lasting = c(TRUE, TRUE), next_id = 3, seen = 3
  ))
  t <- statistics_of(first)
  phi <- rbind((t(t[-1L, ]) + rep(lambda, each = 2)) / (t[1L, ] + sum(lambda)), lambda / sum(lambda))
  a <- 0.8 * c(2.5, 2, 1.5) / 6
  paths <- as.matrix(expand.grid(1:3, 1:3, 1:3))
  tokens <- c(1, 2, 3)
  exact <- sum(apply(paths, 1L, function(z) {
    n <- tabulate(z, 3)
    exp(sum(lgamma(a + n) - lgamma(a)) + lgamma(sum(a)) - lgamma(sum(a) + 3)) * prod(phi[cbind(z, tokens)])
  }))
  p <- vapply(seq_len(if (long_tests()) 2000 else 400), function(seed) {
    exp(3 * learn_documents(rbind(c(1, 1, 1)), model, first, seed = seed, sweeps = 1L)$records$score)
  }, 1)
  expect_lt(abs(mean(p) / exact - 1) / (sd(p) / exact / sqrt(length(p))), 4)
  later <- learn_documents(counts, model, passes = 2L)$records$score
  expect_identical(is.na(later), c(FALSE, TRUE))
  expect_identical(learn_documents(rbind(c(0, 0, 0)), model)$records$score, NA_real_)
})

# The gain of joining topics 1 and 2, in plain R, and what it would be without the entropy or the prior, or if a token
# counted for its own shares; recent: a document for each row of `topic` and `word`.
gain_of_joining <- function(t, tables, word, topic, lambda, gamma, alpha, k = NULL) {
  evidence <- function(s) sum(lgamma(lambda + s) - lgamma(lambda)) + lgamma(sum(lambda)) - lgamma(sum(lambda + s))
  rising <- function(a, n) lgamma(a + n) - lgamma(a)
  x_log_x <- function(x) ifelse(x > 0, x * log(x), 0)
  used <- ncol(t)
  weight <- if (is.null(k)) alpha * tables / (sum(tables) + gamma) else rep(alpha / k, used)
  both <- if (is.null(k)) weight[1] + weight[2] else weight[1]
  n <- t(apply(topic, 1L, tabulate, used))
  documents <- sum(rising(both, n[, 1] + n[, 2]) - rising(weight[1], n[, 1]) - rising(weight[2], n[, 2]))
  lost <- function(own) {
    self <- own * outer(as.vector(topic), seq_len(used), "==")
    by_topic <- function(x) matrix(x, length(word), used, byrow = TRUE)
    r <- (n[row(word), ] - self + by_topic(weight)) * (t[1 + word, ] - self + lambda[word]) /
      (by_topic(t[1, ]) - self + sum(lambda))
    r <- r / rowSums(r)
    sum(x_log_x(r[, 1] + r[, 2]) - x_log_x(r[, 1]) - x_log_x(r[, 2]))
  }
  v <- tables[1] / (tables[1] + tables[2])
  prior <- if (is.null(k)) {
    -log(gamma) - lbeta(tables[1], tables[2]) + tables[1] * log(v) + tables[2] * log(1 - v)
  } else {
    -log(k - used + 1)
  }
  scale <- sum(t[1, ]) / length(word)
  plain <- evidence(t[-1, 1] + t[-1, 2]) - evidence(t[-1, 1]) - evidence(t[-1, 2]) + prior + scale * documents
  gain <- plain - scale * lost(1)
  c(gain = gain, plain = plain, no_prior = gain - prior, own_token = plain - scale * lost(0))
}

test_that("topics are joined if the gain, recomputed in plain R, is positive", {
  v <- 8
  for (prior in list(list(family = "hdp", gamma = 0.02, alpha = 0.7), list(family = "lda", k = 60L, alpha = 0.7))) {
    model <- list(obs = list(family = "multinomial", term_prior = rep(0.3, v)), prior = prior)
    case_of <- function(mix) {
      phi <- rbind(c(4, 3, 2, 1, 0.3, 0.3, 0.3, 0.3), rep(1, v))
      phi[2, ] <- mix * phi[1, ] / sum(phi[1, ]) + (1 - mix) * rev(phi[1, ]) / sum(phi[1, ])
      share <- matrix(rbeta(20, 0.4, 0.4))
      topic <- t(apply(share, 1L, function(p) 2L - rbinom(15, 1, p)))
      word <- topic
      for (z in 1:2) word[topic == z] <- sample(v, sum(topic == z), TRUE, phi[z, ])
      t <- vapply(1:2, function(z) {
        n <- tabulate(word[topic == z], v)
        c(sum(n), n)
      }, numeric(v + 1))
      tables <- colSums(t(apply(topic, 1L, tabulate, 2)) > 0) + 0.5
      gains <- gain_of_joining(t, tables, word, topic, rep(0.3, v), 0.02, 0.7, prior$k)
      list(t = t, tables = tables, topic = topic, word = word, gains = gains)
    }
    cases <- withr::with_seed(3, lapply(rep(seq_len(60) / 60, if (long_tests()) 15 else 6), case_of))
    joined <- vapply(cases, function(case) {
      topics <- utils::modifyList(no_topics(prior), list(
        t = as.vector(case$t), tables = case$tables, id = c(1, 2), born_at = c(20, 20), last_seen = c(20, 20),
        lasting = c(TRUE, TRUE), next_id = 3, seen = 20, untended = 1e6,
        recent = latest_documents(rep(15L, 20), as.vector(t(case$word)) - 1L, as.vector(t(case$topic)) - 1L)
      ))
      length(learn_documents(rbind(numeric(v)), model, topics, merge = TRUE)$clusters$id) == 1L
    }, NA)
    gains <- vapply(cases, `[[`, numeric(4), "gains") > 0
    expect_identical(joined, gains["gain", ])
    expect_true(any(joined))
    for (part in rownames(gains)[-1]) expect_true(any(gains[part, ] != joined), label = paste(part, "decides"))
  }
})

test_that("the larger topic keeps its identity, and all that belongs to both is added", {
  v <- 4
  model <- list(
    obs = list(family = "multinomial", term_prior = rep(0.5, v)), prior = list(family = "hdp", gamma = 1, alpha = 1)
  )
  t <- cbind(c(20, 10, 10, 0, 0), c(40, 20, 20, 0, 0), c(50, 0, 0, 25, 25))
  topics <- utils::modifyList(no_topics(model$prior), list(
    t = as.vector(t), tables = c(3, 5, 6), id = c(4, 7, 9), born_at = c(1, 2, 3), last_seen = c(9, 8, 7),
    lasting = rep(TRUE, 3), next_id = 10, seen = 9, untended = 1e6,
    recent = latest_documents(c(4L, 4L), c(0L, 1L, 0L, 1L, 2L, 3L, 2L, 3L), c(0L, 0L, 1L, 1L, 2L, 2L, 2L, 2L))
  ))
  out <- learn_documents(rbind(numeric(v)), model, topics, merge = TRUE)
  expect_identical(out$clusters$id, c(7, 9))
  expect_identical(statistics_of(out$clusters), cbind(t[, 1] + t[, 2], t[, 3]))
  expect_identical(out$clusters$tables, c(8, 6))
  expect_identical(out$clusters$last_seen, c(9, 7))
  expect_identical(out$clusters$recent$topic, c(0L, 0L, 0L, 0L, 1L, 1L, 1L, 1L))
  expect_identical(out$departed[c("id", "size", "into")], data.frame(id = 4, size = 20, into = 7))
  expect_length(learn_documents(rbind(numeric(v)), model, topics)$clusters$id, 3L)
  small <- utils::modifyList(topics, list(t = as.vector(cbind(t[, 3], t[, 2], c(0.5, 0.5, 0, 0, 0)))))
  gone <- learn_documents(rbind(numeric(v)), model, small)
  expect_identical(gone$departed[c("id", "size", "into")], data.frame(id = 9, size = 0.5, into = NA_real_))
  expect_identical(gone$clusters$recent$topic, c(0L, 0L, 1L, 1L, -1L, -1L, -1L, -1L))
})

test_that("concentrations with a prior are learned from all documents so far", {
  model <- list(obs = obs, prior = list(family = "hdp", gamma = c(2, 1), alpha = c(2, 1)))
  out <- learn_documents(counts, model)$clusters
  expect_false(out$gamma == 2)
  expect_false(out$alpha == 2)
  n <- c(3, 2, 1)
  expect_equal(out$alpha_evidence[2], sum(digamma(out$alpha + 1 + n) - digamma(out$alpha + 1)))
  expect_equal(out$alpha_evidence[1], sum(out$tables) - sum(n / (n + out$alpha)))
  # Much evidence of earlier documents fixes alpha: shape and rate of its posterior
  known <- utils::modifyList(out, list(alpha_evidence = c(3e6, 1e6)))
  expect_equal(learn_documents(counts, model, known)$clusters$alpha, 3, tolerance = 0.01)
  fixed <- learn_documents(counts, list(obs = obs, prior = priors$hdp$prior))$clusters
  expect_identical(c(fixed$gamma, fixed$alpha), c(1.5, 0.8))
})

test_that("bits depend on the seed alone: not on threads, nor on whether the state was stored", {
  x <- as.matrix(bars$counts[1:300, ])
  model <- bars_model(list(family = "hdp", gamma = c(5, 1), alpha = c(1, 2)))
  go <- function(rows, topics, ...) learn_documents(x[rows, ], model, topics, merge = TRUE, ...)$clusters
  first <- go(1:150, no_topics(model$prior))
  expect_identical(first$untended, 0)
  again <- go(151:300, unserialize(serialize(first, NULL)))
  expect_identical(go(151:300, first, threads = 4L), again)
  expect_false(identical(go(151:300, first, seed = 2), again))
  expect_false(identical(go(1:150, utils::modifyList(no_topics(model$prior), list(batches = 5)))$t, first$t))
})

test_that("the latest documents are kept, 50,000 tokens at most", {
  model <- list(obs = obs, prior = list(family = "lda", k = 2L, alpha = 1))
  kept <- function(...) {
    topics <- no_topics(model$prior)
    for (rows in list(...)) topics <- learn_documents(rows, model, topics, sweeps = 1L)$clusters
    topics$recent
  }
  recent <- kept(rbind(c(30000, 0, 0)), rbind(c(0, 15000, 0)), rbind(c(0, 0, 10000)))
  expect_identical(recent$length, c(15000L, 10000L))
  expect_identical(tabulate(recent$word + 1L, 3), c(0L, 15000L, 10000L))
  expect_identical(kept(rbind(c(30000, 30000, 0)))$length, 50000L)
})

test_that("at the cap no token begins a topic, and where nothing is left of earlier documents topics begin anew", {
  x <- as.matrix(bars$counts[1:40, ])
  free <- learn_documents(x, bars_model())
  expect_gt(length(free$clusters$id), 3L)
  expect_false(free$capped)
  capped <- learn_documents(x, bars_model(), k_max = 3L)
  expect_length(capped$clusters$id, 3L)
  expect_true(capped$capped)
  again <- learn_documents(x, bars_model(), passes = 2L)
  expect_identical(sum(statistics_of(again$clusters)[1L, ]), sum(x))
  expect_true(all(again$clusters$id > max(again$departed$id)))
  tended <- learn_documents(x, bars_model(), passes = 3L, merge = TRUE, all_rows = TRUE)$clusters
  expect_true(all(tended$recent$topic %in% c(-1L, seq_along(tended$id) - 1L)))
  # Of two topics one is gone: the latest documents have the other under its new number
  model <- list(obs = obs, prior = priors$hdp$prior)
  two <- utils::modifyList(no_topics(model$prior), list(
    t = c(3, 3, 0, 0, 0, 0, 0, 0)[c(5:8, 1:4)], tables = c(0, 1), id = c(1, 2), born_at = c(1, 1),
    last_seen = c(1, 1), lasting = c(TRUE, TRUE), next_id = 3, seen = 1,
    recent = latest_documents(5L, c(0L, 0L, 0L, 1L, 1L), c(1L, 1L, 1L, 0L, 0L))
  ))
  expect_identical(learn_documents(rbind(c(0, 0, 0)), model, two)$clusters$recent$topic, c(0L, 0L, 0L, -1L, -1L))
})

test_that("tables and the evidence of alpha fade with the documents, and topics are tended only when it is due", {
  model <- list(obs = obs, prior = list(family = "hdp", gamma = 1.5, alpha = c(2, 1)))
  first <- utils::modifyList(no_topics(model$prior), list(
    t = c(50, 30, 15, 5), tables = 4, id = 1, born_at = 3, last_seen = 3, lasting = TRUE, next_id = 2, seen = 3,
    alpha_evidence = c(10, 6)
  ))
  faded <- learn_documents(rbind(c(0, 0, 0)), model, first, half_life = 1)$clusters
  expect_equal(faded$t, first$t / 2)
  expect_equal(faded$tables, 2)
  expect_equal(faded$alpha_evidence, c(5, 3))
  expect_identical(learn_documents(counts, model)$clusters$untended, 6)
  expect_identical(learn_documents(counts, model, utils::modifyList(first, list(untended = 9999)))$clusters$untended, 0)
})

test_that("the latest documents are drawn anew when topics are tended, from their exact posterior", {
  runs <- if (long_tests()) 10000 else 400
  for (kind in names(priors)) {
    exact <- exact_hdp_posterior(group, log_p_of_terms, priors[[kind]]$log_prior)
    begun <- utils::modifyList(no_topics(priors[[kind]]$prior), list(untended = 1e6))
    model <- list(obs = obs, prior = priors[[kind]]$prior)
    drawn <- vapply(seq_len(runs), function(seed) {
      t <- statistics_of(learn_documents(counts, model, begun, seed = seed, sweeps = 1L, renewals = 25L)$clusters)
      c(ncol(t), max(t[1L, ]))
    }, numeric(2))
    expect_exact_sizes(drawn, exact, kind)
  }
})

test_that("drawing the latest documents anew leaves earlier ones alone, and keeps all sums", {
  x <- as.matrix(bars$counts[1:40, ])
  for (prior in list(list(family = "hdp", gamma = 5, alpha = c(2, 4)), list(family = "lda", k = 15L, alpha = 0.5))) {
    model <- bars_model(prior)
    first <- learn_documents(x[1:20, ], model)$clusters
    now <- first
    now$recent <- utils::modifyList(no_topics(prior)$recent, list(
      length = first$recent$length[20], mass = 1, word = utils::tail(first$recent$word, first$recent$length[20]),
      topic = utils::tail(first$recent$topic, first$recent$length[20]),
      tables = utils::tail(first$recent$tables, first$recent$length[20])
    ))
    now$untended <- 1e6
    out <- learn_documents(rbind(numeric(ncol(x))), model, now, renewals = 10L, half_life = 1)
    renewed <- out$clusters
    expect_equal(renewed$recent$mass, c(0.5, 1))
    # Statistics and tables of all documents but the latest, by topic
    earlier <- function(state, recent) {
      all <- rbind(statistics_of(state), state$tables)
      mass <- rep(recent$mass, recent$length)
      for (i in which(recent$topic >= 0)) {
        at <- cbind(c(1L, 2L + recent$word[i], nrow(all)), recent$topic[i] + 1L)
        all[at] <- all[at] - mass[i] * c(1, 1, if (prior$family == "hdp") recent$tables[i] else 0)
      }
      colnames(all) <- state$id
      all
    }
    before <- earlier(utils::modifyList(now, list(t = now$t / 2, tables = now$tables / 2)), utils::modifyList(
      now$recent, list(mass = 0.5)
    ))
    after <- earlier(renewed, renewed$recent)
    kept <- intersect(colnames(before), colnames(after))
    expect_gt(length(kept), 5)
    expect_equal(after[, kept], before[, kept], tolerance = 1e-9)
    expect_false(identical(renewed$recent$topic[seq_along(now$recent$topic)], now$recent$topic))
    if (prior$family == "hdp") {
      expect_equal(
        renewed$alpha_evidence[1] - now$alpha_evidence[1] / 2,
        0.5 * (sum(renewed$recent$tables) - sum(now$recent$tables)), tolerance = 1e-10
      )
    }
  }
})

test_that("gamma is drawn given the tables of all documents so far", {
  model <- list(obs = obs, prior = list(family = "hdp", gamma = c(2, 1), alpha = 0.8))
  gamma_given <- function(tables) {
    known <- utils::modifyList(no_topics(model$prior), list(
      t = c(6e5, 3e5, 2e5, 1e5), tables = tables, id = 1, born_at = 3, last_seen = 3, lasting = TRUE, next_id = 2,
      seen = 3
    ))
    mean(vapply(1:300, function(seed) learn_documents(rbind(c(1, 1, 1)), model, known, seed = seed)$clusters$gamma, 1))
  }
  # Of K topics with m tables Gamma(2 + K, 1 + log m) or so, and K is 1 or, with few tables, 2
  expect_lt(gamma_given(1e5), 0.35)
  expect_gt(gamma_given(2), 0.6)
})

test_that("a topic of one token that did not come again goes after 20,000 documents, unless documents fade", {
  model <- list(obs = obs, prior = priors$hdp$prior)
  left <- function(seen, size = 1, ...) {
    topics <- utils::modifyList(no_topics(model$prior), list(
      t = c(50, 30, 15, 5, size, size, 0, 0), tables = c(4, 1), id = c(1, 2), born_at = c(3, 3), last_seen = c(seen, 3),
      lasting = c(TRUE, TRUE), next_id = 3, seen = seen, untended = 1e6
    ))
    learn_documents(rbind(c(0, 0, 0)), model, topics, ...)$clusters$id
  }
  expect_identical(left(20003), 1)
  expect_identical(left(20001), c(1, 2))
  expect_identical(left(20003, size = 2), c(1, 2))
  expect_identical(left(20003, size = 1.1, half_life = 1e12), c(1, 2))
})

# One topic in 2n documents, n of each of two kinds that share one word, after earlier ones; to be split.
two_in_one <- function(prior, n = 6) {
  word <- c(rep(c(0L, 1L, 0L, 4L, 1L), n), rep(c(2L, 3L, 2L, 4L), n))
  length <- rep(c(5L, 4L), each = n)
  utils::modifyList(no_topics(prior), list(
    t = c(200, 60, 50, 40, 30, 20), tables = 30, id = 4, born_at = 1, last_seen = 9, lasting = TRUE, next_id = 10,
    seen = 9, untended = 1e6, recent = latest_documents(length, word, rep(0L, length(word)))
  ))
}
# Its parts in plain R: words x 2 of the latest documents.
parts_of_two <- function(n = 6) cbind(n * c(2, 2, 0, 0, 1), n * c(0, 0, 2, 1, 1))

test_that("topics are split by the latest documents if the gain, recomputed in plain R, is positive", {
  lambda <- rep(0.5, 5)
  evidence <- function(s) sum(lgamma(lambda + s) - lgamma(lambda)) + lgamma(sum(lambda)) - lgamma(sum(lambda + s))
  rising <- function(a, n) lgamma(a + n) - lgamma(a)
  parts <- parts_of_two()
  n <- rep(c(5, 4), each = 6)
  tables <- c(6, 6)
  words <- evidence(parts[, 1]) + evidence(parts[, 2]) - evidence(rowSums(parts))
  split <- function(prior) {
    model <- list(obs = list(family = "multinomial", term_prior = lambda), prior = prior)
    length(learn_documents(rbind(numeric(5)), model, two_in_one(prior), split = TRUE)$clusters$id) > 1L
  }
  gain_of_hdp <- function(gamma, alpha) {
    a <- alpha * 30 / (30 + gamma)
    words + sum(rising(a / 2, n) - rising(a, n)) + log(gamma) + 2 * lgamma(6) - lgamma(12) - 12 * log(0.5)
  }
  gain_of_lda <- function(k, alpha) words + log(k - 1)
  for (alpha in c(0.05, 1)) {
    gamma <- exp(seq(-70, 4, length.out = 60))
    gain <- vapply(gamma, gain_of_hdp, 1, alpha)
    expect_true(any(gain < 0) && any(gain > 0))
    expect_identical(vapply(gamma, function(g) split(list(family = "hdp", gamma = g, alpha = alpha)), NA), gain > 0)
  }
  expect_gt(gain_of_lda(2, 1), 0)
  expect_true(split(list(family = "lda", k = 2L, alpha = 1)))
  expect_false(split(list(family = "lda", k = 1L, alpha = 1)))
})

test_that("a topic that is split leaves all that it had to its parts", {
  for (prior in list(list(family = "hdp", gamma = 2, alpha = 0.7), list(family = "lda", k = 6L, alpha = 0.7))) {
    model <- list(obs = list(family = "multinomial", term_prior = rep(0.5, 5)), prior = prior)
    topics <- two_in_one(prior)
    out <- learn_documents(rbind(numeric(5)), model, topics, split = TRUE)$clusters
    expect_identical(out$id, c(4, 10))
    expect_identical(out$last_seen, c(9, 10))
    parts <- parts_of_two()
    share <- t(t(parts + 0.5) / (colSums(parts) + 2.5) * colSums(parts))
    expected <- parts + (topics$t[-1L] - rowSums(parts)) * share / rowSums(share)
    expect_equal(statistics_of(out), rbind(colSums(expected), expected), tolerance = 1e-12)
    if (prior$family == "hdp") expect_equal(out$tables, 6 + 18 * colSums(parts) / sum(parts), tolerance = 1e-12)
    expect_identical(out$recent$topic, rep(c(0L, 1L), c(30, 24)))
    capped <- learn_documents(rbind(numeric(5)), model, topics, split = TRUE, k_max = 1L)$clusters
    expect_identical(capped$id, 4)
    expect_identical(learn_documents(rbind(numeric(5)), model, topics)$clusters$id, 4)
    few <- utils::modifyList(topics, list(recent = two_in_one(prior, 3)$recent))
    expect_identical(learn_documents(rbind(numeric(5)), model, few, split = TRUE)$clusters$id, 4)
  }
})

test_that("documents of one topic are not split", {
  prior <- list(family = "hdp", gamma = 1, alpha = 0.5)
  model <- list(obs = list(family = "multinomial", term_prior = rep(0.5, 5)), prior = prior)
  withr::with_seed(1, for (seed in 1:30) {
    word <- sample(0:4, 200, TRUE, prob = c(4, 3, 2, 1, 1))
    topics <- utils::modifyList(no_topics(prior), list(
      t = c(200, tabulate(word + 1L, 5)), tables = 20, id = 1, born_at = 1, last_seen = 9, lasting = TRUE, next_id = 2,
      seen = 20, untended = 1e6, recent = latest_documents(rep(10L, 20), word, rep(0L, 200))
    ))
    out <- learn_documents(rbind(numeric(5)), model, topics, split = TRUE, seed = seed)
    expect_identical(out$clusters$id, 1)
  })
})

test_that("a topic of three kinds of documents comes apart in one step, if that gains", {
  lambda <- rep(0.3, 6)
  evidence <- function(s) sum(lgamma(lambda + s) - lgamma(lambda)) + lgamma(sum(lambda)) - lgamma(sum(lambda + s))
  word <- c(rep(c(0L, 1L, 0L, 1L), 6), rep(c(2L, 3L, 2L, 3L), 6), rep(c(4L, 5L, 4L, 5L), 6))
  parts <- diag(3)[, rep(1:3, each = 2)] * 12
  gain_of <- function(gamma) {
    a <- 0.6 * 18 / (18 + gamma)
    sum(apply(parts, 1L, evidence)) - evidence(colSums(parts)) + 2 * log(gamma) + 3 * lgamma(6) - lgamma(18) -
      18 * log(1 / 3) + 18 * (lgamma(a / 3 + 4) - lgamma(a / 3) - lgamma(a + 4) + lgamma(a))
  }
  pieces <- function(gamma) {
    prior <- list(family = "hdp", gamma = gamma, alpha = 0.6)
    topics <- utils::modifyList(no_topics(prior), list(
      t = c(72, rep(12, 6)), tables = 18, id = 1, born_at = 1, last_seen = 9, lasting = TRUE, next_id = 2, seen = 18,
      untended = 1e6, recent = latest_documents(rep(4L, 18), word, rep(0L, 72))
    ))
    model <- list(obs = list(family = "multinomial", term_prior = lambda), prior = prior)
    length(learn_documents(rbind(numeric(6)), model, topics, split = TRUE)$clusters$id)
  }
  gamma <- exp(seq(-60, 3, length.out = 80))
  gain <- vapply(gamma, gain_of, 1)
  expect_true(any(gain < 0) && any(gain > 0))
  expect_identical(vapply(gamma, pieces, 1L), ifelse(gain > 0, 3L, 1L))
})
