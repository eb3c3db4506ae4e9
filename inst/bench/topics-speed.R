# 2,000 documents of about 150 distinct words, 5,000 words, 100 topics: CPU
# seconds a lap, and held-out likelihood after so many seconds of this package
# and of others, one thread each. Rscript inst/bench/topics-speed.R

library(bnpvi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "completion.R"))

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
colnames(train) <- colnames(test) <- paste0("term", seq_len(terms))
halves <- halve(test, 2)
cat(sprintf("%.0f distinct words a document\n", mean(Matrix::rowSums(train > 0))))

alpha <- 0.005 # weight of a topic in every document, for all
eta <- 0.02    # of a term in every topic
report <- function(name, rounds, seconds, concentration) {
  phi <- concentration / rowSums(concentration)
  cat(sprintf("%s, %s: %.2f s; held out %.4f\n", name, rounds, seconds,
    score_collapsed(phi, rep(alpha, nrow(phi)), halves)))
}
cpu <- function(expr) sum(system.time(expr)[c(1, 4)])

for (init in c("anchor", "bregman")) {
  for (laps in c(1, 2, 5, 10, 20, 50)) {
    seconds <- cpu(fit <- bnp_topics(train,
      obs = obs_multinomial(eta), prior = prior_lda(topics, alpha = alpha * topics),
      control = bnp_control(seed = 1, init = init, max_laps = laps, tol = 0)
    ))
    report(paste("bnpvi from", init), paste(laps, "laps"), seconds, posterior_params(fit)$concentration)
  }
}
seconds <- cpu(open <- bnp_topics(train, obs = obs_multinomial(eta), control = bnp_control(seed = 1)))
report(sprintf("bnpvi, HDP from one topic to %d", n_clusters(open)), paste(open$laps, "laps"), seconds,
  posterior_params(open)$concentration)
cat(sprintf("bnpvi: %.3f s a lap, %.0f documents a second (elapsed)\n",
  stats::median(diff(elbo_trace(fit)$seconds)), nrow(train) / stats::median(diff(elbo_trace(fit)$seconds))))
if (requireNamespace("text2vec", quietly = TRUE)) {
  for (iterations in c(20, 50, 100, 300, 1000)) {
    set.seed(1)
    peer <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = alpha, topic_word_prior = eta)
    seconds <- cpu(capture.output(peer$fit_transform(train,
      n_iter = iterations, convergence_tol = -1, progressbar = FALSE
    )))
    report("text2vec WarpLDA", paste(iterations, "iterations"), seconds, peer$components + eta)
  }
}
if (has_sklearn()) {
  for (passes in c(2, 5, 10, 30)) {
    peer <- sklearn_lda(train, topics, 1, sprintf(
      "doc_topic_prior=%g, topic_word_prior=%g, learning_method='online', batch_size=128, max_iter=%d",
      alpha, eta, passes
    ))
    report("scikit-learn online", paste(passes, "passes"), peer$seconds, peer$concentration)
  }
}
if (requireNamespace("topicmodels", quietly = TRUE) && requireNamespace("slam", quietly = TRUE)) {
  for (iterations in c(2, 5, 10)) {
    seconds <- cpu(peer <- topicmodels::LDA(as_triplet(train), topics,
      method = "VEM",
      control = list(seed = 1, alpha = alpha, estimate.alpha = FALSE, em = list(iter.max = iterations, tol = 0))
    ))
    report("topicmodels VEM", paste(iterations, "iterations"), seconds, exp(peer@beta) + 1e-6)
  }
}
