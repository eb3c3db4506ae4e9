# Truncation-free learning at the engine's level.

no_clusters <- function(concentration = 1) {
  list(
    t = numeric(), id = numeric(), born_at = numeric(), last_seen = numeric(), lasting = logical(), next_id = 1,
    batches = 0, seen = 0, untended = 0, concentration = concentration, recent = numeric()
  )
}

learn_rows <- function(data, model, clusters = no_clusters(model$prior$concentration[1L]), ...) {
  options <- utils::modifyList(list(
    threads = 1L, seed = 1, half_life = Inf, sweeps = 5L, renewals = 0L, k_max = 500L, merge = FALSE, split = FALSE,
    passes = 1L, batches = 1L, all_rows = FALSE, keep_interrupted = FALSE
  ), list(...))
  engine_stream(data, model, clusters, options, NULL)
}

# Clusters with these statistics (p x K) that are due to be tended after the next row.
clusters_with <- function(t, recent, next_id = ncol(t) + 1) {
  k <- ncol(t)
  n <- sum(t[1L, ])
  utils::modifyList(no_clusters(), list(
    t = as.vector(t), id = as.double(seq_len(k)), born_at = rep(n, k), last_seen = rep(n, k), lasting = rep(TRUE, k),
    next_id = next_id, seen = n, untended = 1e4, recent = as.vector(t(recent))
  ))
}

# p x K statistics of the clusters.
statistics_of <- function(clusters) matrix(clusters$t, ncol = length(clusters$id))

# Documents of these lengths with words, or features (a row each), and topics, numbered from 0: one table for each topic
# of a document.
latest_documents <- function(length, word, topic, mass = rep(1, length(length)), phi = numeric()) {
  document <- rep(seq_along(length), length)
  list(
    length = length, mass = mass, word = word, topic = topic,
    tables = as.integer(!duplicated(paste(document, topic)) & topic >= 0), phi = as.vector(t(phi))
  )
}
latest_rows <- function(length, phi, topic, ...) latest_documents(length, integer(), topic, ..., phi = phi)

# Truncation-free learning of topics, the same way.
no_topics <- function(prior) {
  list(
    t = numeric(), tables = numeric(), id = numeric(), born_at = numeric(), last_seen = numeric(), lasting = logical(),
    next_id = 1, batches = 0, seen = 0, untended = 0, gamma = if (is.null(prior$gamma)) 1 else prior$gamma[1L],
    alpha = prior$alpha[1L], alpha_evidence = c(0, 0),
    recent = latest_documents(integer(), integer(), integer())
  )
}

learn_topics <- function(data, model, topics, ...) {
  options <- utils::modifyList(list(
    threads = 1L, seed = 1, half_life = Inf, sweeps = 5L, renewals = 0L, k_max = 500L, merge = FALSE, split = FALSE,
    passes = 1L, batches = 1L, all_rows = FALSE, keep_interrupted = FALSE
  ), list(...))
  engine_topic_stream(data, model, topics, options, NULL)
}

learn_documents <- function(counts, model, topics = no_topics(model$prior), ...) {
  data <- utils::modifyList(sparse_engine_data(counts), list(starts = seq(0L, nrow(counts))))
  learn_topics(data, model, topics, ...)
}

# lengths: rows of each document.
learn_grouped <- function(x, lengths, model, topics = no_topics(model$prior), ...) {
  learn_topics(engine_data(x, c(0L, cumsum(lengths))), model, topics, ...)
}

# Topics with these statistics (p x K) and tables that are due to be tended.
topics_with <- function(prior, t, tables, recent, id = seq_len(ncol(t))) {
  k <- ncol(t)
  utils::modifyList(no_topics(prior), list(
    t = as.vector(t), tables = tables, id = as.double(id), born_at = rep(9, k), last_seen = rep(9, k),
    lasting = rep(TRUE, k), next_id = max(id) + 1, seen = 9, untended = 1e6, recent = recent
  ))
}
