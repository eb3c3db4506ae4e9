# Truncation-free learning of topics over documents of rows against enumeration, plain sums and plain R.

lengths <- c(3L, 2L, 1L)
group <- rep(1:3, lengths)
points <- cbind(c(-2.1, -1.7, 0.2, 1.9, 2.3, 2))
bits <- rbind(c(1, 0, 1), c(1, 0, 0), c(0, 1, 1), c(0, 1, 1), c(1, 1, 1), c(0, 0, 0))
line <- function(strength = 0.2, df = 3) {
  list(family = "gaussian_full", mean = 0, mean_strength = strength, df = df, scale = matrix(1), centre = 0, unit = 1)
}
evidence <- function(x) if (length(x)) gaussian_evidence(cbind(x), 0.2, 3) else 0
cases <- list(
  real = list(x = points, obs = line(), log_p = function(rows) evidence(points[rows])),
  binary = list(
    x = bits, obs = list(family = "bernoulli", a = rep(0.1, 3), b = rep(0.3, 3)),
    log_p = function(rows) {
      s <- colSums(bits[rows, , drop = FALSE])
      sum(lbeta(0.1 + s, 0.3 + length(rows) - s) - lbeta(0.1, 0.3))
    }
  )
)
priors <- tiny_topic_priors
phi_of <- function(x) unname(cbind(1, x, x^2))
rising <- function(a, n) lgamma(a + n) - lgamma(a)
x_log_x <- function(x) ifelse(x > 0, x * log(x), 0)
nothing <- function(d = 1) matrix(0, 0, d)

test_that("one batch of all documents draws from the exact posterior over partitions of the rows", {
  runs <- if (long_tests()) 1200 else 200
  for (name in names(cases)) {
    for (kind in names(priors)) {
      case <- cases[[name]]
      exact <- exact_hdp_posterior(group, case$log_p, priors[[kind]]$log_prior)
      model <- list(obs = case$obs, prior = priors[[kind]]$prior)
      drawn <- vapply(seq_len(runs), function(seed) {
        t <- statistics_of(learn_grouped(case$x, lengths, model, seed = seed, sweeps = 25L)$clusters)
        c(ncol(t), max(t[1L, ]))
      }, numeric(2))
      expect_exact_sizes(drawn, exact, paste(name, kind))
    }
  }
})

test_that("the latest documents are drawn anew when topics are tended, from their exact posterior", {
  runs <- if (long_tests()) 1200 else 200
  for (kind in names(priors)) {
    exact <- exact_hdp_posterior(group, cases$real$log_p, priors[[kind]]$log_prior)
    begun <- utils::modifyList(no_topics(priors[[kind]]$prior), list(untended = 1e6))
    model <- list(obs = cases$real$obs, prior = priors[[kind]]$prior)
    drawn <- vapply(seq_len(runs), function(seed) {
      out <- learn_grouped(points, lengths, model, begun, seed = seed, sweeps = 1L, renewals = 25L)
      t <- statistics_of(out$clusters)
      c(ncol(t), max(t[1L, ]))
    }, numeric(2))
    expect_exact_sizes(drawn, exact, kind)
  }
})

test_that("statistics are plain sums in the first pass, documents count once in later ones, in every model of rows", {
  known <- 0
  for (case in some_of(without_scales(model_cases()), by = 8, from = 4)) { # rows with scales are not learned one by one
    if (case$model$obs$family %in% c("multinomial", "ar") || grepl("regression", case$name)) next
    known <- known + 1
    rows <- NROW(case$rows(case$data))
    phi <- engine_contract(case$data, case$model, matrix(1, rows, 1))$features
    case$data$starts <- as.integer(unique(c(seq(0L, rows, by = 6L), rows)))
    documents <- length(case$data$starts) - 1L
    hdp <- list(family = "hdp", gamma = c(2, 1), alpha = c(2, 1))
    for (prior in list(hdp, list(family = "lda", k = 4L, alpha = 1))) {
      model <- list(obs = case$model$obs, prior = prior)
      for (passes in some_of(1:3, by = 2)) {
        out <- learn_topics(case$data, model, no_topics(prior),
          passes = passes, batches = 3L, all_rows = TRUE, renewals = 2L
        )
        t <- statistics_of(out$clusters)
        expect_true(all(is.finite(t)), info = case$name)
        # Documents fade as others of about their lengths come; topics of less than one row go
        expect_equal(sum(t[1L, ]), rows, tolerance = if (passes == 1L) 1e-10 else 0.2, info = case$name)
        if (passes == 1L) expect_equal(rowSums(t), colSums(phi), tolerance = 1e-10, info = case$name)
      }
      expect_identical(out$clusters$seen, as.double(documents), info = case$name)
      expect_true(all(is.finite(out$records$score[1:3])), info = case$name)
      expect_true(all(is.na(out$records$score[-(1:3)])), info = case$name)
    }
  }
  expect_gt(known, if (long_tests()) 8 else 2)
})

test_that("what documents left fades by half-life, also where they are drawn anew", {
  x <- withr::with_seed(1, cbind(rnorm(60, rep(c(-4, 4), 30))))
  for (prior in list(list(family = "hdp", gamma = 2, alpha = c(2, 1)), list(family = "lda", k = 3L, alpha = 1))) {
    model <- list(obs = line(), prior = prior)
    first <- learn_grouped(x[1:40, , drop = FALSE], rep(4L, 10), model)$clusters
    faded <- learn_grouped(x[41:60, , drop = FALSE], rep(4L, 5), model, first, half_life = 5)$clusters
    sums <- colSums(phi_of(x[1:40])) / 2 + colSums(phi_of(x[41:60]))
    expect_equal(rowSums(statistics_of(faded)), sums, tolerance = 1e-10)
    expect_equal(faded$recent$mass, rep(c(0.5, 1), c(10, 5)))
    expect_equal(matrix(faded$recent$phi, 3L), t(phi_of(x)), tolerance = 1e-12)
    due <- replace(first, "untended", 1e6)
    renewed <- learn_grouped(x[41:60, , drop = FALSE], rep(4L, 5), model, due, half_life = 5, renewals = 10L)
    gone <- sum(renewed$departed$size)
    expect_equal(sum(statistics_of(renewed$clusters)[1L, ]), sums[1L] - gone, tolerance = 1e-10)
    if (!nrow(renewed$departed)) expect_equal(rowSums(statistics_of(renewed$clusters)), sums, tolerance = 1e-10)
    # What the latest rows do not explain is what was there before them, by topic
    rest <- function(state) {
      t <- statistics_of(state)
      mass <- rep(state$recent$mass, state$recent$length)
      phi <- matrix(state$recent$phi, 3L)
      for (i in which(state$recent$topic >= 0)) {
        j <- state$recent$topic[i] + 1L
        t[, j] <- t[, j] - mass[i] * phi[, i]
      }
      colnames(t) <- state$id
      t
    }
    kept <- replace(due, "recent", list(no_topics(prior)$recent))
    of_earlier <- learn_grouped(x[41:60, , drop = FALSE], rep(4L, 5), model, kept, half_life = 5, renewals = 10L)
    now <- rest(of_earlier$clusters)
    shared <- intersect(colnames(now), first$id)
    expect_gt(length(shared), 0L)
    before <- statistics_of(first)[, match(shared, first$id), drop = FALSE] / 2
    expect_equal(now[, shared, drop = FALSE], before, tolerance = 1e-9, ignore_attr = TRUE)
  }
})

test_that("scores are estimates of the probability of documents given the topics before, without bias", {
  a_rows <- c(-2, -1.5, -2.4)
  b_rows <- c(1.5, 2.1)
  t <- cbind(colSums(phi_of(a_rows)), colSums(phi_of(b_rows)))
  topics <- topics_with(priors$hdp$prior, t, c(2.5, 2), no_topics(priors$hdp$prior)$recent)
  model <- list(obs = line(), prior = priors$hdp$prior)
  x <- cbind(c(-1.8, 1.9, 0.3))
  p <- vapply(x, function(v) {
    exp(c(evidence(c(a_rows, v)) - evidence(a_rows), evidence(c(b_rows, v)) - evidence(b_rows), evidence(v)))
  }, numeric(3))
  a <- 0.8 * c(2.5, 2, 1.5) / 6
  exact <- sum(apply(as.matrix(expand.grid(1:3, 1:3, 1:3)), 1L, function(z) {
    n <- tabulate(z, 3)
    exp(sum(rising(a, n)) - rising(sum(a), 3)) * prod(p[cbind(z, 1:3)])
  }))
  estimates <- vapply(seq_len(if (long_tests()) 1500 else 300), function(seed) {
    exp(3 * learn_grouped(x, 3L, model, topics, seed = seed, sweeps = 1L)$records$score)
  }, 1)
  expect_lt(abs(mean(estimates) / exact - 1) / (sd(estimates) / exact / sqrt(length(estimates))), 4)
  # A base measure is part of the density: counts
  poisson <- list(obs = list(family = "poisson", a = 1, b = 1, exposed = FALSE), prior = priors$lda$prior)
  one <- learn_grouped(cbind(4), 1L, poisson)$records$score
  expect_equal(one, stats::dnbinom(4, 1, 0.5, log = TRUE), tolerance = 1e-12)
})

# The gain of joining topics 1 and 2, in plain R; also without the entropy or the prior, or if a row counted for its own
# shares.
gain_of_joining <- function(x, topic, document, tables, gamma, alpha, k = NULL) {
  used <- 2L
  weight <- if (is.null(k)) alpha * tables / (sum(tables) + gamma) else rep(alpha / k, used)
  both <- if (is.null(k)) sum(weight) else weight[1]
  n <- unclass(table(document, factor(topic, seq_len(used))))
  documents <- sum(rising(both, rowSums(n)) - rising(weight[1], n[, 1]) - rising(weight[2], n[, 2]))
  of <- split(x, factor(topic, seq_len(used)))
  lost <- function(own) {
    r <- t(vapply(seq_along(x), function(i) {
      self <- own * (topic[i] == seq_len(used))
      p <- vapply(seq_len(used), function(j) {
        if (self[j]) evidence(of[[j]]) - evidence(x[topic == j & seq_along(x) != i]) else
          evidence(c(of[[j]], x[i])) - evidence(of[[j]])
      }, 1)
      (n[document[i], ] - self + weight) * exp(p - max(p))
    }, numeric(2)))
    r <- r / rowSums(r)
    sum(x_log_x(rowSums(r)) - rowSums(x_log_x(r)))
  }
  v <- tables[1] / sum(tables)
  prior <- if (is.null(k)) {
    -log(gamma) - lbeta(tables[1], tables[2]) + tables[1] * log(v) + tables[2] * log(1 - v)
  } else {
    -log(k - used + 1)
  }
  plain <- evidence(x) - evidence(of[[1]]) - evidence(of[[2]]) + prior + documents
  gain <- plain - lost(1)
  c(gain = gain, plain = plain, no_prior = gain - prior, own_row = plain - lost(0))
}

long_test("topics are joined if the gain, recomputed in plain R, is positive", {
  document <- rep(1:15, each = 4L)
  for (prior in list(list(family = "hdp", gamma = 0.02, alpha = 0.7), list(family = "lda", k = 60L, alpha = 0.7))) {
    distances <- some_of(seq(0.2, 4, length.out = 40), by = 2)
    drawn <- withr::with_seed(4, lapply(rep(distances, if (long_tests()) 3 else 1), function(apart) {
      topic <- 1L + rbinom(60, 1, rbeta(15, 0.5, 0.5)[document])
      topic[c(1, 60)] <- 1:2
      list(x = rnorm(60, apart * topic), topic = topic)
    }))
    found <- vapply(drawn, function(case) {
      n <- table(document, case$topic) > 0
      tables <- unname(colSums(n)) + 0.5
      gains <- gain_of_joining(case$x, case$topic, document, tables, 0.02, 0.7, prior$k)
      phi <- phi_of(case$x)
      t <- t(rowsum(phi, case$topic))
      topics <- topics_with(prior, t, tables, latest_rows(rep(4L, 15), phi, case$topic - 1L))
      out <- learn_grouped(nothing(), 0L, list(obs = line(), prior = prior), topics, merge = TRUE)
      c(gains, joined = length(out$clusters$id) == 1L)
    }, numeric(5))
    expect_identical(found["joined", ] == 1, found["gain", ] > 0)
    expect_true(any(found["joined", ] == 1) && any(found["joined", ] == 0))
    for (part in c("plain", "no_prior", "own_row")) {
      expect_true(any((found[part, ] > 0) != (found["gain", ] > 0)), label = paste(prior$family, part, "decides"))
    }
  }
})

# One topic of two kinds of rows in twelve documents of five rows, of which some have both kinds.
two_in_one <- function(prior, apart, scale = 3, mass = rep(1, 12)) {
  x <- rep(c(-0.6, -0.3, 0, 0.3, 0.6), 12) + rep(c(0, 0, apart, apart, 0, rep(c(0, apart), each = 5)), 4)
  phi <- phi_of(x)
  topics <- topics_with(
    prior, cbind(scale * colSums(rep(mass, each = 5) * phi)), 30,
    latest_rows(rep(5L, 12), phi, rep(0L, 60), mass = mass), id = 4
  )
  list(x = x, kind = ifelse(x > apart / 2, 2L, 1L), document = rep(1:12, each = 5L), topics = topics, phi = phi)
}

test_that("topics are split by their latest rows if the gain, recomputed in plain R, is positive", {
  for (apart in c(6, 9)) {
    case <- two_in_one(list(family = "hdp", gamma = 1, alpha = 1), apart)
    of <- split(case$x, case$kind)
    n <- unclass(table(case$document, case$kind))
    words <- evidence(of[[1]]) + evidence(of[[2]]) - evidence(case$x)
    split_of <- function(prior) {
      topics <- utils::modifyList(case$topics, no_topics(prior)[c("gamma", "alpha")])
      length(learn_grouped(nothing(), 0L, list(obs = line(), prior = prior), topics, split = TRUE)$clusters$id) > 1L
    }
    tables <- colSums(n > 0)
    gain_of_hdp <- function(gamma, alpha) {
      a <- alpha * 30 / (30 + gamma)
      share <- tables / sum(tables)
      words + sum(rising(a * share[1], n[, 1]) + rising(a * share[2], n[, 2]) - rising(a, rowSums(n))) + log(gamma) -
        lgamma(sum(tables)) + sum(lgamma(tables) - tables * log(share))
    }
    for (alpha in c(0.3, 2)) {
      gamma <- exp(seq(-120, 4, length.out = 60))
      gain <- vapply(gamma, gain_of_hdp, 1, alpha)
      expect_true(any(gain < 0) && any(gain > 0))
      was_split <- vapply(gamma, function(g) split_of(list(family = "hdp", gamma = g, alpha = alpha)), NA)
      expect_identical(was_split, gain > 0)
    }
    of_lda <- function(k, alpha) {
      words + log(k - 1) + sum(rising(alpha / k, n)) - sum(rising(alpha / k, rowSums(n)))
    }
    for (k in c(2L, 9L)) {
      alpha <- exp(seq(-120, 2, length.out = 40))
      gain <- vapply(alpha, function(a) of_lda(k, a), 1)
      expect_identical(vapply(alpha, function(a) split_of(list(family = "lda", k = k, alpha = a)), NA), gain > 0)
    }
    expect_false(split_of(list(family = "lda", k = 1L, alpha = 1)))
  }
})

test_that("a topic that is split leaves its size, tables and latest rows to its parts", {
  for (prior in list(list(family = "hdp", gamma = 2, alpha = 0.7), list(family = "lda", k = 6L, alpha = 0.7))) {
    model <- list(obs = line(), prior = prior)
    for (mass in list(rep(1, 12), 2^-(12:1 / 4))) {
      case <- two_in_one(prior, 9, mass = mass)
      out <- learn_grouped(nothing(), 0L, model, case$topics, split = TRUE)$clusters
      expect_identical(sort(out$id), c(4, 5))
      kind <- rank(-c(sum(case$kind == 1L), sum(case$kind == 2L)), ties.method = "first")
      t <- 3 * t(rowsum(rep(mass, each = 5) * case$phi, case$kind))
      by_size <- order(-t[1L, ])
      expect_equal(statistics_of(out), t[, by_size], tolerance = 1e-10, ignore_attr = TRUE)
      expect_identical(out$recent$topic, match(case$kind, by_size) - 1L)
      if (prior$family == "hdp") {
        expect_equal(sum(out$tables), 30, tolerance = 1e-12)
        used <- unclass(table(case$document, case$kind) > 0)
        at <- rep(mass, times = rowSums(used))
        latest <- sum(rep(mass, each = 5) * out$recent$tables)
        expect_equal(latest, sum(mass * rowSums(used)), tolerance = 1e-12)
        first <- !duplicated(paste(case$document, case$kind))
        expect_identical(out$recent$tables, as.integer(first))
      }
    }
    capped <- learn_grouped(nothing(), 0L, model, case$topics, split = TRUE, k_max = 1L)$clusters
    expect_identical(capped$id, 4)
    expect_identical(learn_grouped(nothing(), 0L, model, case$topics)$clusters$id, 4)
  }
})

test_that("the larger topic keeps its identity, and all that belongs to both is added", {
  prior <- list(family = "hdp", gamma = 1, alpha = 1)
  x <- c(0, 0.4, -0.4, 0.1, 0.2, -0.3, 30, 30.5)
  phi <- phi_of(x)
  topic <- c(0L, 0L, 1L, 1L, 1L, 1L, 2L, 2L)
  t <- t(rowsum(phi, topic))
  topics <- topics_with(prior, t, c(3, 5, 6), latest_rows(c(4L, 4L), phi, topic), id = c(4, 7, 9))
  out <- learn_grouped(nothing(), 0L, list(obs = line(), prior = prior), topics, merge = TRUE)
  expect_identical(out$clusters$id, c(7, 9))
  expect_equal(statistics_of(out$clusters), unname(cbind(t[, 1] + t[, 2], t[, 3])))
  expect_identical(out$clusters$tables, c(8, 6))
  expect_identical(out$clusters$recent$topic, rep(0:1, c(6, 2)))
  expect_identical(out$departed[c("id", "size", "into")], data.frame(id = 4, size = 2, into = 7))
})

test_that("bits depend on the seed alone: not on threads, nor on whether the state was stored", {
  x <- as.matrix(asterisk[1:1500, 1:2])
  obs <- list(
    family = "gaussian_full", mean = c(0, 0), mean_strength = 0.01, df = 4, scale = diag(2) / 100, centre = c(0, 0),
    unit = c(1, 1)
  )
  model <- list(obs = obs, prior = list(family = "hdp", gamma = c(5, 1), alpha = c(1, 2)))
  go <- function(rows, topics, ...) {
    learn_grouped(x[rows, ], rep(10L, length(rows) / 10L), model, topics,
      merge = TRUE, split = TRUE, renewals = 2L, half_life = 100, ...
    )$clusters
  }
  first <- go(1:1000, no_topics(model$prior))
  expect_identical(first$untended, 0)
  again <- go(1001:1500, unserialize(serialize(first, NULL)))
  expect_identical(go(1001:1500, first, threads = 4L), again)
  expect_false(identical(go(1001:1500, first, seed = 2), again))
})

test_that("topics are tended after a tenth of all rows, 1,000 at least, and the latest 10,000 are kept", {
  model <- list(obs = line(), prior = list(family = "lda", k = 2L, alpha = 1))
  x <- withr::with_seed(1, cbind(rnorm(11000)))
  go <- function(n, topics) learn_grouped(x[seq_len(n), , drop = FALSE], rep(100L, n / 100), model, topics, sweeps = 1L)
  first <- go(900, no_topics(model$prior))$clusters
  expect_identical(first$untended, 900)
  expect_identical(go(100, first)$clusters$untended, 0)
  last <- go(11000, first)$clusters$recent
  expect_identical(length(last$length), 100L)
  expect_identical(matrix(last$phi, 3L)[2L, ], x[1001:11000, 1L])
})

test_that("rows far from everything are learned from, at the cap, too", {
  x <- cbind(c(0, 0.1, -0.2, 1e6, 1e6 + 1, -1e7))
  sharp <- list(
    family = "gaussian_full", mean = 0, mean_strength = 1e-3, df = 3, scale = matrix(1), centre = 0, unit = 1
  )
  for (prior in list(list(family = "hdp", gamma = 1, alpha = 1), list(family = "lda", k = 2L, alpha = 1))) {
    many <- x[c(rep(1:3, 200), 4:6), , drop = FALSE]
    for (k_max in c(1L, 500L)) {
      out <- learn_grouped(many, c(rep(6L, 100), 3L), list(obs = sharp, prior = prior),
        k_max = k_max, renewals = 3L, passes = 2L, all_rows = TRUE, merge = TRUE, split = TRUE
      )
      expect_true(all(is.finite(out$clusters$t)))
      expect_identical(out$capped, k_max == 1L)
    }
  }
})
