# The bound of Wikipedia articles from any start, and held-out words beside
# other programs. Rscript inst/bench/topics-wiki.R [splits]
# PYTHON names a python that has scikit-learn, for comparison with it.

library(bnpvi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "completion.R"))

splits <- seq_len(as.integer(c(commandArgs(TRUE), 3)[1]))
for (name in c("whales", "birds")) {
  counts <- get(name)$counts
  for (k_init in c(1, 20, 50, 100)) {
    seconds <- system.time(fit <- bnp_topics(counts, control = bnp_control(seed = 1, k_init = k_init)))[[1]]
    cat(sprintf("%s k_init %d: ELBO %.0f, %d topics, %d laps, %.1f CPU s\n",
      name, k_init, elbo(fit), n_clusters(fit), fit$laps, seconds))
  }
}

# For each split of the documents, all programs see the same halves and their
# topics are completed in the same two ways; medians over splits.
scores <- NULL
note <- function(corpus, split, model, k, collapsed, predictive = NA) {
  scores <<- rbind(scores, data.frame(corpus, split, model, k, collapsed, predictive))
}
for (name in c("whales", "birds")) {
  counts <- get(name)$counts
  for (split in splits) {
    set.seed(split)
    test <- sample(nrow(counts), nrow(counts) %/% 5)
    train <- counts[-test, ]
    halves <- halve(counts[test, ], 100 + split)
    ours <- function(fit) {
      concentration <- posterior_params(fit)$concentration
      weight <- bnpvi:::document_weight(fit)
      if (utils::tail(weight, 1) > 0) concentration <- rbind(concentration, 0.1)
      weight <- weight[weight > 0]
      c(score_collapsed(concentration / rowSums(concentration), weight, halves),
        score_predictive(concentration, weight, halves))
    }
    for (k_init in c(1, 50)) {
      both <- ours(bnp_topics(train, control = bnp_control(seed = split, k_init = k_init)))
      note(name, split, paste("HDP from", k_init), NA, both[1], both[2])
    }
    for (k in c(5, 10, 20, 50)) {
      both <- ours(bnp_topics(train, prior = prior_lda(k), control = bnp_control(seed = split)))
      note(name, split, "LDA of this package", k, both[1], both[2])
      if (has_sklearn()) {
        peer <- sklearn_lda(train, k, split, "learning_method='batch', max_iter=200, evaluate_every=5")
        phi <- peer$concentration / rowSums(peer$concentration)
        weight <- rep(1 / k, k)
        note(name, split, "scikit-learn", k, score_collapsed(phi, weight, halves),
          score_predictive(peer$concentration, weight, halves))
      }
      if (requireNamespace("topicmodels", quietly = TRUE) && requireNamespace("slam", quietly = TRUE)) {
        peer <- topicmodels::LDA(as_triplet(train), k, method = "VEM", control = list(seed = split))
        phi <- exp(peer@beta)
        phi <- (phi + 1e-4) / rowSums(phi + 1e-4) # its topics are not smoothed: unseen words have probability 0
        note(name, split, "topicmodels VEM", k, score_collapsed(phi, rep(peer@alpha, k), halves))
      }
    }
  }
}
scores$k[is.na(scores$k)] <- 0 # open
print(aggregate(cbind(collapsed, predictive) ~ k + model + corpus, scores, stats::median, na.action = stats::na.pass),
  row.names = FALSE, digits = 5)
