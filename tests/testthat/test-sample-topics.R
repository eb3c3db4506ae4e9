# bnp_sample() of topic models, and what reads its draws.

few <- bnp_control(seed = 1, max_laps = 30, verbose = FALSE)
# Three planted topics of three terms each, 12 documents of two topics.
corpus <- withr::with_seed(3, {
  phi <- matrix(0.01, 3, 9)
  for (k in 1:3) phi[k, 3 * k - 2:0] <- 1
  counts <- t(vapply(1:12, function(d) {
    theta <- replace(rep(0.02, 3), c(d %% 3 + 1, (d + 1) %% 3 + 1), c(0.7, 0.3))
    as.vector(stats::rmultinom(1L, 40L, theta %*% phi))
  }, numeric(9)))
  dimnames(counts) <- list(paste0("text", 1:12), letters[1:9])
  rbind(counts, empty = 0)
})
fit <- suppressWarnings(bnp_topics(corpus, obs_multinomial(0.1), prior_hdp(gamma = 1, alpha = 1), few))
some <- function(x = fit, ..., draws = 40, seed = 1) bnp_sample(x, ..., draws = draws, seed = seed, verbose = FALSE)
drawn <- some(data = corpus, draws = 100)

test_that("draws have a label for each token, and find the planted topics from both kinds of start", {
  expect_s3_class(drawn, "bnp_draws")
  expect_identical(dim(drawn$trace), c(100L, 4L, 6L))
  expect_identical(dimnames(drawn$trace)[[3]], c("n_clusters", "gamma", "alpha", "log_joint", "largest", "entropy"))
  expect_identical(dim(drawn$labels), c(480L, 400L))
  for (chains in list(c(1, 3), c(2, 4))) expect_gt(mean(drawn$trace[, chains, "n_clusters"] <= 5), 0.5)
  large <- n_clusters(drawn, min_size = 80)
  expect_gt(large[["3"]], 0.9)
  expect_equal(drawn$trace[, , "gamma"], matrix(1, 100, 4))
  expect_output(print(drawn), "480 tokens in 13 documents.*Topics, chains begun without it.*The fit has 3")
  table <- suppressWarnings(summary(drawn))$table
  expect_identical(table$term, c("n_clusters", "log_joint", "largest", "entropy"))
  expect_identical(names(as.data.frame(drawn))[3:5], c("n_clusters", "gamma", "alpha"))
  expect_identical(suppressWarnings(tidy(drawn))$term, table$term)
})

test_that("a point partition counts tokens by document, term and topic", {
  best <- point_partition(drawn)
  expect_named(best, c("document", "term", "topic", "n"))
  back <- stats::xtabs(n ~ factor(document, rownames(corpus)) + factor(term, colnames(corpus)), best)
  expect_equal(unclass(back), corpus, ignore_attr = TRUE)
  sizes <- tapply(best$n, best$topic, sum)
  expect_false(is.unsorted(-sizes))
  # Most tokens of a planted topic's terms are of one topic.
  of_topic <- stats::xtabs(n ~ term + topic, best)
  for (k in 1:3) expect_gt(max(colSums(of_topic[3 * k - 2:0, ])) / sum(of_topic[3 * k - 2:0, ]), 0.9)
  expect_lte(attr(best, "loss"), attr(best, "loss_of_fit"))
  expect_gt(attr(best, "ball"), 0)
  expect_lte(length(unique(point_partition(drawn, k_max = 2)$topic)), 2)
})

test_that("documents share topics as often as in the draws", {
  together <- coclustering(drawn, rows = c(5, 1, 13))
  share <- function(d) {
    t(vapply(seq_len(ncol(drawn$labels)), function(m) {
      tabulate(drawn$labels[drawn$tokens$document == d, m], 20) / 40
    }, numeric(20)))
  }
  expect_equal(together[1, 2], mean(rowSums(share(5) * share(1))))
  expect_equal(together[1, 1], mean(rowSums(share(5)^2)))
  expect_true(all(is.nan(together[3, ])))
  expect_identical(rownames(together), c("text5", "text1", "empty"))
  expect_identical(dim(coclustering(drawn)), c(13L, 13L))
  expect_bad(coclustering(drawn, rows = 14), "argument", "13")
  expect_bad(coclustering(drawn, threshold = 0.5), "argument", "documents")
  large <- drawn
  large$fit$input$starts <- c(0L, sort(rep_len(seq_len(large$fit$input$n), 2001L)))
  large$fit$input$group_names <- NULL
  expect_bad(coclustering(large), "too_large", "rows")
})

test_that("starts of chains are those of the fit and of none", {
  data <- training_data(fit, corpus)
  states <- first_states(fit, data, drawn$model, drawn$options)
  alone <- engine_draw_in_sequence(
    as_engine_data(data), drawn$model, c(2, 4), c(1, 1), drawn$options$seed, 1L
  )
  of_fit <- topics_of_observations(fit, data)
  for (i in 1:2) {
    z <- alone$labels[[i]]
    expect_identical(states[[2L * i]]$labels, match(z, unique(z)))
    k <- max(z)
    expect_identical(states[[2L * i]]$weights, alone$weights[[i]][c(unique(z), k + 1L)])
    expect_gt(adjusted_rand_index(states[[2L * i - 1L]]$labels, of_fit), 0.7)
    expect_length(states[[2L * i - 1L]]$weights, 0L)
  }
  # The most probable topic of each token, by hand.
  i <- 100L
  p <- fitted(fit)[drawn$tokens$document[i], ] * topic_terms(fit)[, drawn$tokens$term[i]]
  expect_identical(of_fit[i], unname(which.max(p)))
  # Topics are drawn in proportion to them.
  many <- labels_from_fit(fit, data, fit$model, 1:4000, 1)[i, ]
  for (k in 1:3) expect_lt(abs(mean(many == k) - (p / sum(p))[k]), 4 * 0.5 / sqrt(4000))
})

test_that("thin, keep and update choose among the same sweeps, and threads change nothing", {
  all <- some(data = corpus, draws = 30, warmup = 10)
  thin <- some(data = corpus, draws = 10, warmup = 10, thin = 3, keep = 8)
  expect_identical(thin$trace[, , ], all$trace[3 * (1:10), , ])
  expect_lte(ncol(thin$labels), 8)
  more <- update(some(data = corpus, draws = 12, warmup = 10), corpus, draws = 18)
  expect_identical(more$trace, all$trace)
  in_order <- function(x) x$labels[, order(x$kept$chain, x$kept$draw)]
  expect_identical(in_order(more), in_order(all))
  expect_identical(some(data = corpus, threads = 2)[c("trace", "labels")], some(data = corpus)[c("trace", "labels")])
})

test_that("by default kept partitions take at most 128 MB", {
  expect_identical(partitions_kept(480), 500)
  expect_lte(partitions_kept(1e6) * 1e6 * 4, 2^27)
  expect_identical(partitions_kept(1e9), 1)
  expect_identical(partitions_kept(0), 500)
})

test_that("learned concentrations, fixed numbers of topics and learned priors of terms are sampled", {
  both <- prior_hdp(gamma = gamma_prior(2, 1), alpha = gamma_prior(2, 1))
  learned <- some(corpus, obs_multinomial(NULL), prior = both, draws = 100)
  for (what in c("gamma", "alpha")) expect_gt(sd(learned$trace[, , what]), 0)
  expect_true(all(c("gamma", "alpha") %in% suppressWarnings(summary(learned))$table$term))
  expect_identical(learned$model$obs$term_prior, learned$fit$model$obs$term_prior) # held at what the fit learned
  finite <- some(corpus, obs_multinomial(0.1), prior = prior_lda(3, alpha = gamma_prior(2, 1)))
  expect_lte(max(finite$trace[, , "n_clusters"]), 3)
  expect_identical(dimnames(finite$trace)[[3]], c("n_clusters", "alpha", "log_joint", "largest", "entropy"))
  expect_gt(sd(finite$trace[, , "alpha"]), 0)
})

test_that("rows of documents are sampled, in the order given, whatever the model", {
  id <- rep(c("b", "a", "c"), c(30, 10, 20))
  mix <- withr::with_seed(1, sample(60))
  x <- withr::with_seed(2, {
    z <- sample(2, 60, TRUE)
    matrix(rnorm(120, c(-4, 4)[z], 0.5), 60)
  })
  x <- x[mix, ]
  id <- id[mix]
  own <- suppressWarnings(bnp_topics(x, obs_gaussian(), prior_hdp(1, 1), few, id = id))
  draws <- some(own, data = x, id = id)
  expect_identical(nrow(draws$labels), 60L)
  point <- point_partition(draws)
  expect_length(point, 60L)
  expect_equal(adjusted_rand_index(point, as.vector(z[mix])), 1)
  expect_output(print(draws), "60 rows in 3 documents")
  expect_identical(dim(coclustering(draws)), c(3L, 3L))
  gaps <- replace(x, cbind(c(3, 9), 1), NA)
  left <- suppressMessages(some(gaps, obs_gaussian(), prior = prior_hdp(1, 1), id = id, na_action = "omit"))
  expect_identical(which(is.na(point_partition(left))), c(3L, 9L))
  expect_equal(adjusted_rand_index(point_partition(left)[-c(3, 9)], z[mix][-c(3, 9)]), 1)
  bits <- some(1 * (x > 0), obs_bernoulli(), prior = prior_lda(3, 1), id = id)
  expect_lte(max(bits$trace[, , "n_clusters"]), 3)
})

test_that("a fit is checked against its draws, and its bound against the evidence of few tokens", {
  checked <- check_fit(fit, corpus, draws = 40, seed = 1, verbose = FALSE)
  expect_null(checked$evidence)
  expect_gt(checked$agreement, 0.4) # 0.44 to 0.56 of seven seeds
  expect_output(print(checked), "The fit has 3 topics")
  counts <- rbind(c(2, 1, 0), c(0, 1, 1), c(0, 0, 1))
  small <- suppressWarnings(bnp_topics(
    counts, obs_multinomial(0.5), prior_hdp(gamma = 1.5, alpha = 0.8),
    bnp_control(seed = 1, verbose = FALSE, bound = "loose")
  ))
  checked <- check_fit(small, counts, draws = 400, seed = 1, verbose = FALSE)
  expect_lt(abs(checked$evidence[["estimate"]] + 7.522151267), 4 * checked$evidence[["se"]])
  expect_output(print(checked), "bound is -11.59.* below")
})

test_that("pictures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("trace", "k", "coclustering", "partition")) expect_invisible(plot(drawn, type))
  expect_invisible(plot(drawn, "coclustering", rows = 1:5))
  learned <- some(corpus, prior = prior_hdp(gamma = gamma_prior(2, 1), alpha = gamma_prior(2, 1)))
  expect_invisible(plot(learned, "trace"))
})

test_that("one token, one document and one topic are sampled", {
  one <- suppressWarnings(some(rbind(c(0, 1)), obs_multinomial(0.5), prior = prior_hdp(1, 1)))
  expect_true(all(one$trace[, , "n_clusters"] == 1))
  expect_identical(point_partition(one)$n, 1L)
  document <- suppressWarnings(some(rbind(c(9, 1, 5)), obs_multinomial(0.5), prior = prior_hdp(1, 1)))
  expect_true(all(is.finite(document$trace)))
  lda <- suppressWarnings(some(rbind(c(9, 1, 5)), obs_multinomial(0.5), prior = prior_lda(1, 1)))
  expect_true(all(lda$trace[, , "n_clusters"] == 1))
})

test_that("what cannot be sampled or read is refused", {
  weighted <- suppressWarnings(bnp_topics(corpus, control = few, weights = rep(1:2, length.out = 13)))
  expect_bad(some(weighted, data = corpus), "weights", "without")
  expect_bad(some(data = corpus, split_merge = 2), "argument", "not available for topics")
  expect_bad(some(data = corpus[1:4, ]), "other_data", "4 rows")
  expect_bad(bnp_sample(fit), "newdata", "data")
  expect_bad(predict(drawn, corpus, corpus), "argument", "heldout_loglik")
  expect_bad(point_partition(some(data = corpus, keep = 0)), "argument", "keep")
  expect_bad(suppressWarnings(update(drawn, corpus[, c(1:8, 8)])), "other_data", "values")
})
