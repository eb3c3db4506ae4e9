# The bound of Wikipedia articles from any start, and held-out words beside other programs.
# Rscript inst/bench/topics-wiki.R [splits]
# PYTHON names a python that has scikit-learn, for comparison with it.

library(bnpvi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "completion.R"))

splits <- seq_len(as.integer(c(commandArgs(TRUE), 3)[1]))
for (name in c("whales", "birds")) {
  counts <- get(name)$counts
  for (prior in list(0.1, NULL)) {
    for (k_init in c(1, 20, 50, 100)) {
      control <- bnp_control(seed = 1, k_init = k_init)
      seconds <- system.time(fit <- bnp_topics(counts, obs_multinomial(prior), control = control))[[1]]
      cat(sprintf("%s, prior %s, k_init %d: ELBO %.0f, %d topics, %d laps, %.1f CPU s\n", name,
        if (is.null(prior)) "learned" else prior, k_init, elbo(fit), n_clusters(fit), fit$laps, seconds))
    }
  }
}

# For each split of the documents, all programs see the same parts and their topics are completed in the same
# ways: the thesis's (80 % of the word types of a document seen, variational proportions; mean of five such
# splits), half the tokens of each word type with collapsed proportions, and the same with uncertain topics.
# Medians over the splits of documents.
scores <- NULL
note <- function(corpus, split, model, k, topics) {
  phi <- topics$concentration / rowSums(topics$concentration)
  thesis <- mean(vapply(types, function(part) score_variational(phi, topics$weight, part), 0))
  scores <<- rbind(scores, data.frame(corpus, split, model, k, thesis,
    tokens = score_collapsed(phi, topics$weight, halves),
    uncertain = if (topics$known) NA else score_predictive(topics$concentration, topics$weight, halves)
  ))
}
ours <- function(fit) {
  concentration <- posterior_params(fit)$concentration
  weight <- bnpvi:::document_weight(fit)
  if (utils::tail(weight, 1) > 0) concentration <- rbind(concentration, fit$model$obs$term_prior)
  list(concentration = concentration, weight = weight[weight > 0], known = FALSE)
}
learned <- obs_multinomial(term_prior = NULL)
for (name in c("whales", "birds")) {
  counts <- get(name)$counts
  for (split in splits) {
    set.seed(split)
    test <- sample(nrow(counts), nrow(counts) %/% 5)
    train <- counts[-test, ]
    halves <- halve(counts[test, ], 100 + split)
    types <- lapply(1:5, function(i) halve(counts[test, ], 100 * i + split, "type", 0.8))
    for (k_init in c(1, 50)) {
      control <- bnp_control(seed = split, k_init = k_init)
      note(name, split, paste("HDP from", k_init), NA, ours(bnp_topics(train, control = control)))
      note(
        name, split, paste("HDP from", k_init, "prior learned"), NA, ours(bnp_topics(train, learned, control = control))
      )
    }
    for (k in c(5, 10, 20, 50)) {
      control <- bnp_control(seed = split)
      note(name, split, "LDA of this package", k, ours(bnp_topics(train, prior = prior_lda(k), control = control)))
      note(name, split, "LDA, prior learned", k, ours(bnp_topics(train, learned, prior_lda(k), control = control)))
      if (has_sklearn()) {
        peer <- sklearn_lda(train, k, split, "learning_method='batch', max_iter=200, evaluate_every=5")
        note(
          name, split, "scikit-learn", k,
          list(concentration = peer$concentration, weight = rep(1 / k, k), known = FALSE)
        )
      }
      if (requireNamespace("topicmodels", quietly = TRUE) && requireNamespace("slam", quietly = TRUE)) {
        peer <- topicmodels::LDA(as_triplet(train), k, method = "VEM", control = list(seed = split))
        phi <- exp(peer@beta) + 1e-4 # its topics are not smoothed: unseen words have probability 0
        note(name, split, "topicmodels VEM", k, list(concentration = phi, weight = rep(peer@alpha, k), known = TRUE))
      }
    }
  }
}
scores$k[is.na(scores$k)] <- 0 # open
medians <- aggregate(
  cbind(thesis, tokens, uncertain) ~ k + model + corpus, scores, stats::median, na.action = stats::na.pass
)
print(medians, row.names = FALSE, digits = 5)
