# 2,000 documents of 150 distinct words, 5,000 words, 100 topics: seconds a lap
# and documents a second, and the time of others to the same held-out
# likelihood. Rscript inst/bench/topics-speed.R

library(bnpvi)

set.seed(1)
topics <- 100
terms <- 5000
phi <- matrix(rgamma(topics * terms, 0.02), topics)
phi <- phi / rowSums(phi)
draw <- function(n) {
  rows <- lapply(seq_len(n), function(d) {
    theta <- rgamma(topics, 0.05)
    tabulate(sample.int(terms, 175, TRUE, drop((theta / sum(theta)) %*% phi)), terms)
  })
  Matrix::Matrix(do.call(rbind, rows), sparse = TRUE)
}
train <- draw(2000)
test <- draw(200)
dimnames(train) <- dimnames(test) <- NULL
cat(sprintf("%.0f distinct words a document\n", mean(Matrix::rowSums(train > 0))))

data <- bnpvi:::as_documents(test, "multinomial")
set.seed(2)
halves <- bnpvi:::complete_split(data, "token", 0.5)
seen <- bnpvi:::data_matrix(halves$seen)
score <- function(theta, phi) {
  prob <- rowSums(theta[halves$held$document, ] * t(phi[, halves$held$term]))
  sum(halves$held$n * log(prob)) / sum(halves$held$n)
}

for (laps in c(5, 20)) {
  seconds <- system.time(fit <- bnp_topics(train,
    prior = prior_lda(topics), control = bnp_control(seed = 1, max_laps = laps, tol = 0)
  ))[[3]]
  trace <- elbo_trace(fit)
  lap <- diff(trace$seconds)
  set.seed(2)
  cat(sprintf("LDA, %d laps: %.2f s; %.3f s a lap, %.0f documents a second; held out %.4f\n",
    fit$laps, seconds, mean(lap), nrow(train) / mean(lap), heldout_loglik(fit, test)))
}
if (requireNamespace("text2vec", quietly = TRUE)) {
  for (iterations in c(20, 100, 300)) {
    set.seed(1)
    peer <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = 0.05, topic_word_prior = 0.02)
    seconds <- system.time(capture.output(peer$fit_transform(train, n_iter = iterations, progressbar = FALSE)))[[3]]
    phi_peer <- peer$components + 0.02
    cat(sprintf("text2vec WarpLDA, %d iterations: %.2f s, held out %.4f\n",
      iterations, seconds, score(peer$transform(seen), phi_peer / rowSums(phi_peer))))
  }
}
if (requireNamespace("topicmodels", quietly = TRUE) && requireNamespace("slam", quietly = TRUE)) {
  as_triplet <- function(x) {
    triplet <- slam::as.simple_triplet_matrix(as.matrix(x))
    storage.mode(triplet$v) <- "integer"
    triplet
  }
  for (iterations in c(5, 20)) {
    seconds <- system.time(peer <- topicmodels::LDA(as_triplet(train), topics,
      method = "VEM", control = list(seed = 1, em = list(iter.max = iterations, tol = 0))
    ))[[3]]
    phi_peer <- exp(peer@beta) + 1e-6
    theta <- topicmodels::posterior(peer, as_triplet(seen))$topics
    cat(sprintf("topicmodels VEM, %d iterations: %.2f s, held out %.4f\n",
      iterations, seconds, score(theta, phi_peer / rowSums(phi_peer))))
  }
}
