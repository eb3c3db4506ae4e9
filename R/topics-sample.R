# Draws from topic models. For counts the observations are tokens, in the order of the stored entries of the
# documents; for other models, the rows that have a likelihood.

observations_of.bnp_topics <- function(fit, data) {
  c(list(of_fit = topics_of_observations(fit, data)), if (is_of_tokens(fit)) list(tokens = tokens_of(data)))
}

# The document and the term of each token, as numbers: list(document, term).
tokens_of <- function(data) {
  n <- data$value
  document <- rep(seq_len(length(data$starts) - 1L), diff(data$row_start))
  list(document = rep(document, n), term = rep(data$column + 1L, n))
}

# The number of the document of each observation (row) of draws.
documents_of_rows <- function(draws) {
  input <- draws$fit$input
  as.vector(modelled_rows_of(input, draws$model$obs, matrix(group_of_rows(input))))
}

# Draws the topic of each token k from a fit, with probability proportional to theta_dk phi_kw: the proportion
# of the topic in document d times the probability of word w in the topic.
labels_from_fit.bnp_topics <- function(fit, data, model, numbers, seed) {
  if (!is_of_tokens(fit)) {
    return(NextMethod())
  }
  engine_draw_token_labels(
    as_engine_data(data), unname(document_proportions(fit)), unname(topic_terms(fit)), as.double(numbers), seed
  )
}

# The most probable topic of each token (or row) under a fit.
topics_of_observations <- function(fit, data) {
  if (!is_of_tokens(fit)) {
    prob <- modelled_rows_of(data, fit$model$obs, state_responsibilities(fit, data))
    return(unname(most_probable(prob)))
  }
  theta <- document_proportions(fit)
  phi <- topic_terms(fit)
  document <- rep(seq_len(nrow(theta)), diff(data$row_start))
  topic <- integer(length(document))
  for (at in split_blocks(length(topic))) {
    prob <- theta[document[at], , drop = FALSE] * t(phi[, data$column[at] + 1L, drop = FALSE])
    topic[at] <- max.col(prob, "first")
  }
  rep(topic, data$value)
}

# Counts the tokens of each document, term and topic. topic: the topic of each token.
count_tokens <- function(draws, topic) {
  document <- draws$tokens$document
  term <- draws$tokens$term
  order <- order(document, term, topic)
  same <- function(x) diff(x[order]) == 0
  first <- order[c(TRUE, !(same(document) & same(term) & same(topic)))]
  input <- draws$fit$input
  data.frame(
    document = document_names(draws$fit)[document[first]],
    term = (input$column_names %||% default_names(input$d))[term[first]], topic = topic[first],
    n = diff(c(match(first, order), length(order) + 1L))
  )
}

# For each pair of documents, the probability that an observation of one document and an observation of the
# other have the same topic, averaged over the stored draws: documents x documents.
documents_together <- function(draws, rows, call = rlang::caller_env()) {
  kept <- kept_labels(draws, call)
  document <- if (is.null(draws$tokens)) documents_of_rows(draws) else draws$tokens$document
  n <- length(draws$fit$input$starts) - 1L
  rows <- if (is.null(rows)) seq_len(n) else check_rows(rows, n, call)
  if (length(rows) > most_pairs) {
    abort("too_large", c(
      "The similarity of {length(rows)} documents is not made; at most {most_pairs}.", i = "Give some {.arg rows}."
    ), call = call)
  }
  own <- document %in% rows
  document <- match(document[own], rows)
  out <- matrix(0, length(rows), length(rows))
  for (m in seq_len(ncol(kept))) {
    topic <- kept[own, m]
    count <- matrix(
      tabulate(document + length(rows) * (topic - 1), length(rows) * max(topic, 1L)), length(rows)
    )
    out <- out + tcrossprod(count / rowSums(count))
  }
  names <- document_names(draws$fit)[rows]
  `dimnames<-`(out / ncol(kept), list(names, names))
}
