# The bound of Wikipedia articles from any start, and held-out words beside
# other programs. Rscript inst/bench/topics-wiki.R [seeds]

library(bnpvi)

seeds <- seq_len(as.integer(c(commandArgs(TRUE), 1)[1]))
for (name in c("whales", "birds")) {
  counts <- get(name)$counts
  for (k_init in c(1, 20, 50, 100)) {
    for (seed in seeds) {
      seconds <- system.time(fit <- bnp_topics(counts, control = bnp_control(seed = seed, k_init = k_init)))[[3]]
      cat(sprintf("%s k_init %d seed %d: ELBO %.0f, %d topics, %d laps, %.1f s\n",
        name, k_init, seed, elbo(fit), n_clusters(fit), fit$laps, seconds))
    }
  }

  # One split of documents, one completion, the same for all.
  set.seed(1)
  test <- sample(nrow(counts), nrow(counts) %/% 5)
  train <- counts[-test, ]
  data <- bnpvi:::as_documents(counts[test, ], "multinomial")
  set.seed(2)
  halves <- bnpvi:::complete_split(data, "token", 0.5)
  seen <- bnpvi:::data_matrix(halves$seen)
  score <- function(theta, phi) {
    prob <- rowSums(theta[halves$held$document, ] * t(phi[, halves$held$term]))
    sum(halves$held$n * log(prob)) / sum(halves$held$n)
  }
  for (seed in seeds) {
    fit <- bnp_topics(train, control = bnp_control(seed = seed))
    set.seed(2)
    cat(sprintf("%s held out: HDP %d topics, collapsed %.4f", name, n_clusters(fit), heldout_loglik(fit, counts[test, ])))
    set.seed(2)
    cat(sprintf(", variational %.4f\n", heldout_loglik(fit, counts[test, ], inference = "variational")))
  }
  for (k in c(5, 10, 20, 50)) {
    lda <- bnp_topics(train, prior = prior_lda(k), control = bnp_control(seed = 1))
    set.seed(2)
    cat(sprintf("%s held out: LDA of this package, %d topics, collapsed %.4f", name, k, heldout_loglik(lda, counts[test, ])))
    set.seed(2)
    cat(sprintf(", variational %.4f\n", heldout_loglik(lda, counts[test, ], inference = "variational")))
    if (requireNamespace("topicmodels", quietly = TRUE) && requireNamespace("slam", quietly = TRUE)) {
      triplet <- slam::as.simple_triplet_matrix(as.matrix(train))
      storage.mode(triplet$v) <- "integer"
      peer <- topicmodels::LDA(triplet, k, method = "VEM", control = list(seed = 1))
      phi <- exp(peer@beta)
      phi <- (phi + 1e-4) / rowSums(phi + 1e-4) # its topics are not smoothed: unseen words have probability 0
      part <- slam::as.simple_triplet_matrix(as.matrix(seen))
      storage.mode(part$v) <- "integer"
      theta <- topicmodels::posterior(peer, part)$topics
      cat(sprintf("%s held out: topicmodels VEM, %d topics %.4f\n", name, k, score(theta, phi)))
    }
    if (requireNamespace("text2vec", quietly = TRUE)) {
      set.seed(1)
      peer <- text2vec::LDA$new(n_topics = k, doc_topic_prior = 0.5 / k, topic_word_prior = 0.1)
      invisible(capture.output(peer$fit_transform(train, n_iter = 500, progressbar = FALSE)))
      phi <- peer$components + 0.1
      theta <- peer$transform(seen)
      cat(sprintf("%s held out: text2vec WarpLDA, %d topics %.4f\n", name, k, score(theta, phi / rowSums(phi))))
    }
  }
}
