# The effects of topics from which responses are predicted, learned at the end of a fit.
#
# Documents to be predicted have proportions of topics from their words alone, and their words are not counted
# in the topics. The fit's own documents differ in both: their responses influenced their proportions, and
# their words are counted in the topics. Effects learned from these proportions would give too confident
# predictions. So the documents are divided into groups. For each group, the topics are recomputed without the
# group's contribution, and its proportions are found from words alone, as for new documents. Predictions use
# q(eta, sigma^2) given the proportions of all groups. The objective of the fit is not affected.

response_groups <- 5L # a guess: topics lose a fifth of their documents

# The posterior q(eta, sigma^2) of effects for predictions, from the proportions that were found for each
# group of documents (see the top of this file). The variance of numeric responses is learned from these
# proportions, even if it was given in the fit.
responses_by_words <- function(fit, data) {
  n <- length(data$starts) - 1L
  group <- rep_len(seq_len(min(response_groups, n)), n)
  parts <- lapply(unique(group), function(g) which(group == g))
  counts <- matrix(0, n, fit$state$k)
  if (length(parts) > 1L) {
    own <- lapply(parts, function(documents) topic_statistics_of(fit, data, documents))
    for (g in seq_along(parts)) {
      others <- fit
      others$state$obs <- Reduce(`+`, own[-g])
      counts[parts[[g]], ] <- document_counts(others, without_responses(data_groups(data, parts[[g]])))
    }
  } else {
    counts[] <- document_counts(fit, without_responses(data))
  }
  model <- fit$model
  model$response$variance <- 0
  engine_responses_by_words(
    model, counts, fit$input$document_response$values, as.double(data$weights %||% rep(1, n))
  )
}

# The contribution of some documents to the statistics of topics, in the engine's order of topics.
topic_statistics_of <- function(fit, data, documents) {
  part <- data_groups(data, documents)
  control <- cut_control(fit$control, fit$state$k)
  control[c("max_laps", "batches")] <- list(1L, 1L)
  counts <- Matrix::summary(fit$documents[documents, , drop = FALSE])
  start <- list(
    state = fit$state,
    documents = list(document = counts$i, topic = fit$numbering[counts$j], count = as.double(counts$x))
  )
  engine_fit(as_engine_data(part), fit$model, control, start, NULL)$state$obs
}

without_responses <- function(data) {
  data$group_values <- NULL
  data
}
