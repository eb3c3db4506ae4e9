# 2,000 documents of about 150 distinct words, 5,000 words, 100 topics: held-out likelihood after so many CPU seconds of
# this package and of others, and laps against WarpLDA's iterations by the clock, one thread each.
# Rscript topics-speed.R [laps: these only]

library(bnpvi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "completion.R"))

source(file.path(here, "planted-topics.R"))
topics <- 100
terms <- 5000
draw <- planted_topics(topics, terms)
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
clock <- function(expr) system.time(expr)[["elapsed"]]
cpu <- function(expr) sum(system.time(expr)[c(1, 4)])

warp <- function(iterations) {
  set.seed(1)
  peer <- text2vec::LDA$new(n_topics = topics, doc_topic_prior = alpha, topic_word_prior = eta)
  utils::capture.output(peer$fit_transform(train, n_iter = iterations, convergence_tol = -1, progressbar = FALSE))
  peer
}
ours <- function(init, laps) {
  bnp_topics(train,
    obs = obs_multinomial(eta), prior = prior_lda(topics, alpha = alpha * topics),
    control = bnp_control(seed = 1, init = init, max_laps = laps, tol = 0)
  )
}

# Laps 2 to 50 against iterations 51 to 150, so that starting does not count for either.
if (requireNamespace("text2vec", quietly = TRUE)) {
  for (i in 1:5) {
    laps <- diff(elbo_trace(ours("anchor", 50))$seconds) * 1e3
    iteration <- (clock(warp(150)) - clock(warp(50))) * 10
    cat(sprintf(
      "lap %.1f ms in the median, %.1f on average; iteration of WarpLDA %.1f ms: %.1f and %.1f times\n",
      stats::median(laps), mean(laps), iteration, iteration / stats::median(laps), iteration / mean(laps)
    ))
  }
}
if (identical(commandArgs(TRUE), "laps")) quit()

for (init in c("anchor", "bregman")) {
  for (laps in c(1, 2, 5, 10, 20, 50)) {
    seconds <- cpu(fit <- ours(init, laps))
    report(paste("bnpvi from", init), paste(laps, "laps"), seconds, posterior_params(fit)$concentration)
  }
}
seconds <- cpu(open <- bnp_topics(train, obs = obs_multinomial(eta), control = bnp_control(seed = 1)))
report(sprintf("bnpvi, HDP from one topic to %d", n_clusters(open)), paste(open$laps, "laps"), seconds,
  posterior_params(open)$concentration)
if (requireNamespace("text2vec", quietly = TRUE)) {
  for (iterations in c(20, 50, 100, 300, 1000)) {
    seconds <- cpu(peer <- warp(iterations))
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
