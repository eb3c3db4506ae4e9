# The effects that responses are predicted with, at the end of a fit.
#
# Documents that are to be predicted have shares of topics by their words alone, and no part in the topics. Those of a
# fit have neither: shares were moved to where they explain the responses, and so were the topics that their words are
# counted in. Effects learned from them would be too sure of themselves. So documents are taken in groups: what each
# group has of the topics is left out of these, its shares are found by words alone as those of new documents are, and
# q(eta, sigma^2) of all shares that were found so is what predictions use. The objective of the fit is not touched.

response_groups <- 5L # a guess: topics lose a fifth of their documents

# engine_responses() with topics in the user's order. The variance of numeric responses is learned from these shares,
# whatever it was in the fit.
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

# The contributions of some documents to the statistics of topics, in the engine's order.
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
