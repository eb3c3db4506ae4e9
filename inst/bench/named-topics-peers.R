# Named topics beside seededlda and keyATM on the articles that ship: words that were held out of each document, recall
# of categories by the lists that are named after them, and CPU seconds. A document goes to the named topic of the
# largest proportion with peers, to the list of the largest `label_prob` here; "by topic": here as with peers. The same
# lists, written down before any fit, and the same words for all; peers at several numbers of further topics and with
# their defaults else, since they do not find it. Rscript named-topics-peers.R [seeds [ours: no peers]]
library(bnpvi)
`%||%` <- function(x, y) if (is.null(x)) y else x
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "record.R"))
seeds <- seq_len(as.integer(c(commandArgs(TRUE), "2")[1]))
there <- function(package) !"ours" %in% commandArgs(TRUE) && requireNamespace(package, quietly = TRUE)

corpora <- list(
  whales = list(
    data = whales,
    lists = list(
      baleen = c("baleen", "rorqual", "minke", "humpback"), killer = c("killer", "orca"),
      dolphins = c("dolphin", "delphinidae", "bottlenose"), whaling = c("whaling", "whaler", "harpoon")
    ),
    of = c(
      "Baleen whales" = "baleen", "Killer whales" = "killer", "Oceanic dolphins" = "dolphins", "Dolphins" = "dolphins",
      "Whaling" = "whaling"
    )
  ),
  birds = list(
    data = birds,
    lists = list(
      eagles = c("eagle", "hawk-eagle"), falcons = c("falcon", "gyrfalcon"), falconry = c("falconry", "falconer"),
      harriers = "harrier", kites = "kite", owls = "owl"
    ),
    of = c(
      "Eagles" = "eagles", "Falcons" = "falcons", "Falco (genus)" = "falcons", "Falconry" = "falconry",
      "Harriers (birds)" = "harriers", "Kites (birds)" = "kites", "Owls" = "owls"
    )
  )
)

# A fifth of the tokens of each document is held out.
held_out <- function(x, seed) {
  set.seed(seed)
  x <- methods::as(x, "CsparseMatrix")
  test <- x
  test@x <- as.double(stats::rbinom(length(x@x), x@x, 0.2))
  train <- x
  train@x <- x@x - test@x
  list(train = Matrix::drop0(train), test = Matrix::drop0(test))
}

# theta: documents x topics, phi: topics x words, both with names; the named topics are those of the lists. label: a
# column for each list, by which documents are sorted.
scores <- function(theta, phi, split, corpus, label = theta) {
  p <- theta %*% phi[colnames(theta), colnames(split$test)]
  at <- methods::as(split$test, "TsparseMatrix")
  words <- sum(at@x * log(p[cbind(at@i, at@j) + 1L])) / sum(at@x)
  truth <- corpus$of[sub("Category:", "", as.character(corpus$data$category))]
  asked <- which(!is.na(truth))
  named <- names(corpus$lists)
  best <- named[max.col(label[asked, named], ties.method = "first")]
  recall <- mean(tapply(best == truth[asked], truth[asked], mean))
  auc <- mean(vapply(named, function(name) {
    own <- truth[asked] == name
    (mean(rank(label[asked, name])[own]) - (sum(own) + 1) / 2) / sum(!own)
  }, 1))
  c(words = words, recall = recall, auc = auc)
}

ours <- function(split, corpus, seed, term_prior = NULL, moves = TRUE, restarts = "auto", ...) {
  fit <- bnp_topics(
    split$train, obs_multinomial(term_prior, keywords = corpus$lists), ...,
    control = bnp_control(seed = seed, threads = 1L, moves = moves, restarts = restarts, verbose = FALSE)
  )
  theta <- predict(fit, split$train)
  phi <- coef(fit)$prob
  rownames(phi) <- colnames(theta)
  list(theta = as.matrix(theta), phi = phi, label = predict(fit, split$train, type = "label_prob"))
}

with_seededlda <- function(split, corpus, seed, residual) {
  set.seed(seed)
  fit <- seededlda::textmodel_seededlda(
    quanteda::as.dfm(split$train), quanteda::dictionary(corpus$lists), residual = residual
  )
  list(theta = fit$theta, phi = fit$phi)
}

with_keyatm <- function(split, corpus, seed, residual) {
  docs <- suppressMessages(keyATM::keyATM_read(quanteda::as.dfm(split$train)))
  utils::capture.output(fit <- suppressMessages(keyATM::keyATM(
    docs, no_keyword_topics = residual, keywords = corpus$lists, model = "base", options = list(seed = seed)
  )))
  name <- function(x) sub("^[0-9]+_", "", x)
  phi <- fit$phi
  if (is.null(colnames(phi))) colnames(phi) <- fit$vocab
  lacking <- setdiff(colnames(split$train), colnames(phi)) # words without tokens in training
  phi <- cbind(phi, matrix(1e-6, nrow(phi), length(lacking), dimnames = list(NULL, lacking)))
  dimnames(phi)[[1]] <- name(rownames(fit$phi))
  list(theta = `colnames<-`(fit$theta, name(colnames(fit$theta))), phi = phi)
}

for (what in names(corpora)) {
  corpus <- corpora[[what]]
  ways <- list("open number" = list(ours))
  n <- length(corpus$lists)
  for (residual in c(0, 4, 10)) {
    k <- residual + n
    ways[[paste("given", k)]] <- list(ours, prior = prior_lda(k))
    # seededlda's priors: each topic weighs 0.5 in a document, each word 0.1 in a topic; and one start, as theirs.
    ways[[paste("no moves", k)]] <- list(ours, moves = FALSE, restarts = 3L, prior = prior_lda(k))
    ways[[paste("their priors", k)]] <- list(ours, 0.1, FALSE, 1L, prior = prior_lda(k, alpha = k / 2))
    if (there("seededlda")) {
      ways[[paste("seededlda", k)]] <- list(with_seededlda, residual)
    }
    if (residual > 0 && there("keyATM")) {
      ways[[paste("keyATM", k)]] <- list(with_keyatm, residual)
    }
  }
  ours(held_out(corpus$data$counts, 1), corpus, 1, 0.1, FALSE, 1L, prior = prior_lda(n)) # what a first call loads
  for (way in names(ways)) {
    runs <- vapply(seeds, function(seed) {
      split <- held_out(corpus$data$counts, seed)
      f <- ways[[way]]
      cpu <- sum(system.time(found <- do.call(f[[1]], c(list(split, corpus, seed), f[-1])))[c(1, 2, 4, 5)])
      by_topic <- scores(found$theta, found$phi, split, corpus)
      by_label <- scores(found$theta, found$phi, split, corpus, found$label %||% found$theta)
      c(by_label, cpu = cpu, topics = ncol(found$theta), by_topic = by_topic[["recall"]])
    }, numeric(6))
    mean <- rowMeans(runs)
    cat(sprintf(
      "%-7s %-15s held out %.4f, recall %.3f (by topic %.3f), AUC %.3f, %.1f CPU s, %.0f topics\n", what, way, mean[1],
      mean[2], mean[6], mean[3], mean[4], mean[5]
    ))
    peer <- sub(" .*", "", way)
    record(paste0(what, ", ", way), "held out a word, recall, by topic, AUC of categories, CPU s", sprintf(
      "%.4f, %.3f, %.3f, %.3f, %.1f", mean[1], mean[2], mean[6], mean[3], mean[4]
    ), peer = if (peer %in% c("seededlda", "keyATM")) peer else "")
  }
}
