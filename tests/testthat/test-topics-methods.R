corpus <- toy_corpus(documents = 60)
few <- bnp_control(seed = 1, max_laps = 10, verbose = FALSE)
fit <- bnp_topics(corpus, control = bnp_control(seed = 1))

test_that("proportions are named and sum to one; training and new documents agree", {
  expect_equal(dimnames(fitted(fit)), list(rownames(corpus), as.character(seq_len(fit$state$k))))
  expect_equal(unname(rowSums(fitted(fit))), rep(1, 60))
  expect_equal(predict(fit, corpus), fitted(fit), tolerance = 0.02)
  expect_equal(predict(fit, corpus[, 12:1]), predict(fit, corpus))
  expect_type(predict(fit, corpus[1:3, ], type = "class"), "integer")
  expect_equal(dim(predict(fit, corpus[0, ])), c(0, fit$state$k))
})

test_that("empty documents and unseen terms are predicted from the prior, and said", {
  new <- rbind(corpus[1, ], 0)
  prior <- document_weight(fit)[seq_len(fit$state$k)]
  expect_equal(unname(predict(fit, new)[2, ]), prior / sum(prior))
  wide <- cbind(corpus[1:2, ], zzz = 1)
  expect_warning(prob <- predict(fit, wide), class = "bnpvi_warning_unseen_terms")
  expect_equal(prob, predict(fit, corpus[1:2, ]))
})

test_that("bad input is refused with its place", {
  expect_bad(bnp_topics(matrix(0, 2, 2)), "no_tokens")
  expect_bad(bnp_topics(corpus[0, ]), "no_rows")
  expect_bad(bnp_topics(corpus - 1), "not_counts")
  expect_bad(bnp_topics(corpus + 0.5), "not_counts")
  expect_bad(bnp_topics(corpus, prior = prior_dp()), "argument", "prior_hdp")
  expect_bad(bnp_topics(corpus, obs = obs_ar()), "argument", "bnp_hmm")
  expect_bad(bnp_topics(corpus, obs = obs_gaussian()), "id")
  expect_bad(bnp_topics(corpus, control = bnp_control(k_init = 100)), "k_init", "60")
  expect_bad(heldout_loglik(fit, corpus, seen = 1), "argument")
  expect_bad(top_terms(fit, 0), "argument")
  expect_bad(plot(fit, topics = 99), "argument", "topics")
})

test_that("degenerate corpora fit: one document, one term, one token, empty documents, explicit zeros", {
  one <- bnp_topics(corpus[1, , drop = FALSE], control = bnp_control(seed = 1, max_laps = 10))
  expect_true(is.finite(one$elbo))
  term <- bnp_topics(matrix(c(3, 1, 2), dimnames = list(NULL, "a")), control = bnp_control(seed = 1, max_laps = 10))
  expect_equal(n_clusters(term), 1)
  token <- bnp_topics(matrix(c(1, 0), 1), control = bnp_control(seed = 1, max_laps = 5))
  expect_true(is.finite(token$elbo))
  padded <- rbind(corpus, empty = 0)
  with_empty <- bnp_topics(padded, control = bnp_control(seed = 1, max_laps = 5))
  prior <- document_weight(with_empty)[seq_len(with_empty$state$k)]
  expect_equal(unname(fitted(with_empty)["empty", ]), prior / sum(prior))
  zeros <- Matrix::Matrix(corpus, sparse = TRUE)
  explicit <- zeros
  explicit@x <- c(explicit@x)
  explicit <- explicit + Matrix::sparseMatrix(1, which(corpus[1, ] == 0)[1], x = 0, dims = dim(corpus))
  control <- bnp_control(seed = 1, max_laps = 5)
  expect_identical(bnp_topics(explicit, control = control)$state, bnp_topics(zeros, control = control)$state)
})

test_that("counts of several rows of a document are added up", {
  id <- rep(1:20, each = 3)
  control <- bnp_control(seed = 1, max_laps = 5)
  by_row <- bnp_topics(corpus, id = id, control = control)
  expect_identical(by_row$state, bnp_topics(rowsum(corpus, id), control = control)$state)
})

test_that("top terms: probability, lift and frex rank as defined", {
  phi <- coef(fit)$prob
  terms <- top_terms(fit, 3)
  expect_named(terms, c("topic", "rank", "term", "value"))
  first <- terms[terms$topic == 1, ]
  expect_equal(first$term, colnames(phi)[order(-phi[1, ])[1:3]])
  expect_equal(first$value, unname(sort(phi[1, ], decreasing = TRUE)[1:3]))
  marginal <- colSums(phi * cluster_sizes(fit)) / sum(cluster_sizes(fit))
  lift <- top_terms(fit, 1, "lift")
  expect_equal(lift$value[1], max(phi[1, ] / marginal))
  exclusive <- phi[1, ] / colSums(phi)
  frex <- 1 / (0.5 / (rank(exclusive) / 12) + 0.5 / (rank(phi[1, ]) / 12))
  expect_equal(top_terms(fit, 1, "frex")$value[1], max(frex))
})

test_that("coherence equals its definition on a topic by hand", {
  together <- matrix(c(4, 2, 0, 2, 3, 1, 0, 1, 2), 3)
  npmi <- function(a, b, ab) if (ab == 0) -1 else log(ab / 5 / (a * b / 25)) / -log(ab / 5)
  expect_equal(topic_coherence(together, 5, "npmi"), mean(c(npmi(4, 3, 2), -1, npmi(3, 2, 1))))
  expect_equal(topic_coherence(together, 5, "umass"), mean(log(c(3 / 4, 1 / 4, 2 / 3))))
  expect_length(coherence(fit, corpus, 3), fit$state$k)
})

test_that("completion: splits add up, seeds govern, R's generator is left alone", {
  data <- as_documents(corpus, obs_multinomial())
  for (split in c("token", "type")) {
    halves <- withr::with_seed(1, complete_split(data, split, 0.5))
    held <- Matrix::sparseMatrix(i = halves$held$document, j = halves$held$term, x = halves$held$n, dims = dim(corpus))
    expect_equal(as.matrix(data_matrix(halves$seen) + held), corpus, ignore_attr = TRUE)
  }
  expect_false(any(as.matrix(data_matrix(halves$seen)) > 0 & as.matrix(held) > 0))
  set.seed(7)
  before <- .Random.seed
  expect_equal(heldout_loglik(fit, corpus, seed = 1), heldout_loglik(fit, corpus, seed = 1))
  expect_identical(.Random.seed, before)
  each <- heldout_loglik(fit, corpus, seed = 1, per_document = TRUE)
  expect_equal(sum(each$loglik) / sum(each$tokens), heldout_loglik(fit, corpus, seed = 1))
  expect_gt(heldout_loglik(fit, corpus, seed = 1), log(1 / 12))

  halves <- withr::with_seed(1, complete_split(data, "type", 0.5))
  seen <- as.matrix(data_matrix(halves$seen))
  weight <- document_weight(fit)
  tokens <- rowSums(seen)
  theta <- predict(fit, `dimnames<-`(seen, dimnames(corpus))) * (tokens + sum(weight) - tail(weight, 1))
  theta <- cbind(theta, tail(weight, 1)) / (tokens + sum(weight))
  topics <- rbind(coef(fit)$prob, prop.table(fit$model$obs$term_prior))
  prob <- (theta %*% topics)[cbind(halves$held$document, halves$held$term)]
  expect_equal(heldout_loglik(fit, corpus, split = "type", inference = "variational", seed = 1),
    sum(halves$held$n * log(prob)) / sum(halves$held$n))
})

test_that("collapsed proportions equal the plain-R fixed point", {
  phi <- rbind(c(0.6, 0.3, 0.1), c(0.1, 0.2, 0.7))
  weight <- c(0.3, 0.2)
  x <- matrix(c(3, 1, 2), 1)
  n <- c(0, 0)
  r <- matrix(0, 2, 3)
  for (i in 1:300) {
    r <- phi * (n - r + weight)
    r <- sweep(r, 2, colSums(r), "/")
    n <- drop(r %*% t(x))
  }
  found <- engine_collapsed_proportions(count_data(x), phi, weight, 1L)
  expect_equal(drop(found), (n + weight) / (6 + 0.5), tolerance = 1e-3)
})

test_that("predictive completion equals the plain-R fixed point, and topics at a firm posterior are as good as known", {
  e <- rbind(c(6, 3, 1, 0.5), c(1, 2, 7, 0.5), rep(0.2, 4))
  weight <- c(0.3, 0.2, 0.1)
  x <- matrix(c(3, 1, 2, 0, 0, 0, 0, 0), 2, byrow = TRUE)
  seen <- count_data(x)
  held <- count_data(matrix(c(1, 0, 1, 1, 2, 0, 0, 0), 2, byrow = TRUE))
  counts <- c(3, 1, 2)
  r <- matrix(0, 3, 3)
  for (i in 1:500) {
    m <- sweep(r, 2, counts, "*")
    others <- rowSums(m) - r
    r <- (e[, 1:3] + m - r) / (rowSums(e) + others) * (others + weight)
    r <- sweep(r, 2, colSums(r), "/")
  }
  m <- cbind(sweep(r, 2, counts, "*"), 0)
  share <- (rowSums(m) + weight) / (sum(m) + sum(weight))
  first <- colSums(share * (e + m) / rowSums(e + m))[c(1, 3, 4)]
  empty <- colSums(weight / sum(weight) * e / rowSums(e))[1]
  found <- engine_predictive_probabilities(seen, held, e, weight, 1L)
  expect_equal(found, c(first, empty), tolerance = 1e-3)
  firm <- engine_predictive_probabilities(seen, held, 1e8 * e, weight, 1L)
  phi <- e / rowSums(e)
  theta <- engine_collapsed_proportions(seen, phi, weight, 1L)
  expect_equal(firm, c(theta[1, ] %*% phi[, c(1, 3, 4)], theta[2, ] %*% phi[, 1]), tolerance = 1e-6)
  expect_gt(heldout_loglik(fit, corpus, inference = "predictive", seed = 1), log(1 / 12))
})

test_that("tidy tables, exports and simulated documents have the numbers of the fit", {
  expect_named(tidy(fit), c("topic", "term", "beta"))
  gamma <- tidy(fit, "gamma")
  expect_named(gamma, c("document", "topic", "gamma"))
  expect_equal(sum(gamma$gamma), 60)
  vis <- ldavis_data(fit, corpus)
  expect_equal(rowSums(vis$theta), rep(1, 60))
  expect_equal(vis$term.frequency, unname(colSums(corpus)))
  tokens <- augment(fit, data.frame(document = "d1", term = c("t1", "zzz")))
  expect_equal(is.na(tokens$.topic), c(FALSE, TRUE))
  corpora <- simulate(fit, nsim = 2, seed = 1)
  expect_named(corpora, c("sim_1", "sim_2"))
  expect_equal(Matrix::rowSums(corpora$sim_1), unname(rowSums(corpus)), ignore_attr = TRUE)
  expect_lte(length(capture.output(print(fit))), 20)
  expect_lte(length(capture.output(print(summary(fit)))), 20)
})

test_that("tidy tables have intervals, those of Dirichlet vectors", {
  plain <- tidy(fit)
  beta <- tidy(fit, conf.int = TRUE, conf.level = 0.9)
  expect_named(beta, c("topic", "term", "beta", "conf.low", "conf.high"))
  expect_identical(beta[1:3], plain[1:3])
  expect_equal(unname(confint(fit, "prob", 0.9)), cbind(beta$conf.low, beta$conf.high))
  gamma <- tidy(fit, "gamma", conf.int = TRUE)
  expect_identical(gamma[1:3], tidy(fit, "gamma")[1:3])
  expect_true(all(gamma$conf.low < gamma$gamma & gamma$gamma < gamma$conf.high))
  # Draws of the proportions of one document, whose topics and their weights in all documents are given.
  at <- which(gamma$document == "d7")
  weight <- as.matrix(fit$documents)["d7", ] + document_weight(fit)[seq_len(fit$state$k)]
  share <- withr::with_seed(1, replicate(2e4, {
    g <- rgamma(length(weight), weight)
    g / sum(g)
  }))
  expect_equal(rowMeans(share < gamma$conf.low[at]), rep(0.025, nrow(share)), tolerance = 0.25, ignore_attr = TRUE)
  expect_equal(rowMeans(share > gamma$conf.high[at]), rep(0.025, nrow(share)), tolerance = 0.25, ignore_attr = TRUE)

  rows <- suppressWarnings(bnp_topics(faithful, obs_gaussian(), id = rep(1:34, 8), control = few))
  table <- tidy(rows, conf.int = TRUE)
  expect_named(table, c("topic", "parameter", "term", "estimate", "conf.low", "conf.high"))
  expect_true(all(c("weights", "mean", "cov") %in% table$parameter))
  expect_true(all(c("conf.low", "conf.high") %in% names(tidy(rows, "gamma", conf.int = TRUE))))
  expect_bad(tidy(fit, conf.int = "yes"), "argument", "conf.int")
  expect_bad(tidy(fit, "gamma", conf.int = TRUE, conf.level = 95), "argument", "conf.level")
})

test_that("main topics and proportions come as one table", {
  out <- predict(fit, new_data = corpus, type = "cluster")
  expect_named(out, c(".pred_cluster", paste0(".pred_Cluster_", seq_len(fit$state$k))))
  expect_identical(as.integer(out$.pred_cluster), unname(predict(fit, corpus, type = "class")))
  expect_equal(as.matrix(out[-1]), predict(fit, corpus), ignore_attr = TRUE)
  expect_equal(as.matrix(predict(fit, type = "cluster")[-1]), fitted(fit), ignore_attr = TRUE)
  expect_equal(dim(predict(fit, corpus[0, ], type = "cluster")), c(0, 1 + fit$state$k))
  expect_bad(predict(fit, corpus, new_data = corpus), "argument", "the same")
})

test_that("pictures are drawn, and starts of all kinds work", {
  withr::local_pdf(NULL)
  expect_silent(plot(fit))
  expect_silent(plot(fit, "clusters"))
  expect_silent(plot(fit, "elbo"))
  skip_if_not_installed("ggplot2")
  for (type in c("terms", "clusters", "elbo")) expect_s3_class(ggplot2::autoplot(fit, type), "ggplot")
})

test_that("starts: anchor words, random documents, labels and earlier fits", {
  control <- function(...) bnp_control(seed = 1, max_laps = 15, ...)
  anchor <- bnp_topics(corpus, control = control(init = "anchor", k_init = 3, moves = FALSE))
  expect_equal(n_clusters(anchor), 3)
  expect_setequal(max.col(t(coef(anchor)$prob[, c(1, 5, 9)])), 1:3)
  expect_true(is.finite(elbo(bnp_topics(corpus, control = control(init = "random", k_init = 5)))))
  expect_true(is.finite(elbo(bnp_topics(corpus, start = rep(1:3, 20), control = control()))))
  again <- bnp_topics(corpus, start = fit, control = control())
  expect_gt(again$elbo, fit$elbo - 0.5)
  stochastic <- bnp_topics(corpus, control = bnp_control("stochastic", seed = 1, k_init = 5, max_laps = 20))
  expect_gt(stochastic$elbo, bnp_topics(corpus, control = control(k_init = 1, moves = FALSE))$elbo)
})
