#' Documents and relations of topics
#'
#' These functions use the proportions or probabilities in the fit; only for a mixture they need the documents.
#'
#' @param fit A fit of [bnp_topics()]; `exclusivity()` needs one to counts. `top_documents()` and `exclusivity()` also
#'   take mixtures of counts, as [top_terms()] does.
#' @param n Number of documents, or of top terms, of each topic.
#' @param data For `top_documents()` of a mixture: the documents, as [bnp_mixture()] took them, if the fit does not
#'   keep them ([strip_data()]).
#' @param weight The weight of exclusivity, between 0 and 1, as in [top_terms()].
#' @return
#' * `top_documents()`: a data frame with the documents that have the largest proportion of each topic, columns `topic`,
#'   `rank`, `document` (its name, or its number if documents have no names) and `proportion`. Documents with the same
#'   proportion are in the order of the data.
#' * `topic_correlation()`: a matrix (topics x topics), the correlations over the training documents of the fitted
#'   proportions. As proportions of a document sum to 1, unrelated topics have correlations a little below 0 (about
#'   `-1 / (K - 1)` for K topics of equal size). The correlation is `NA` for a topic with the same proportion in all
#'   documents, and if there is only one document. `plot(fit, "correlation")` shows the matrix, see [plot.bnp_topics()].
#' * `exclusivity()`: one number per topic, between 0 and 1, the mean FREX score of its `n` most probable terms. It is
#'   high if terms that are frequent in the topic are rare in others. Look at it together with [coherence()], which may
#'   be high for a topic of common words.
#' @references J. M. Bischof and E. M. Airoldi (2012), Summarizing topical content with word frequency and
#'   exclusivity, ICML. M. E. Roberts and others (2014), Structural topic models for open-ended survey responses,
#'   American Journal of Political Science 58(4), who sum FREX over top terms.
#' @seealso [top_terms()], [coherence()], [prevalence()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' top_documents(fit, 2)
#' round(topic_correlation(fit)[1:4, 1:4], 2)
#' cbind(exclusivity = exclusivity(fit), coherence = coherence(fit, whales$counts))
#' @export
top_documents <- function(fit, n = 5L, data = NULL) {
  check_able(fit, "top_documents")
  of_topics <- inherits(fit, "bnp_topics")
  if (of_topics && !is.null(data)) {
    abort("argument", c(
      "{.arg data} is needed only for fits of mixtures.", i = "Fits of topics keep the proportions of their documents."
    ))
  }
  if (!of_topics) data <- data_or_kept(data, fit, "data")
  theta <- if (of_topics) document_proportions(fit) else
    state_probabilities(fit, read_rows(fit, data, NULL, rlang::current_env(), "data"))
  n <- min(check_count(n, "n"), nrow(theta))
  names <- if (of_topics) document_names(fit) else rownames(data) %||% seq_len(nrow(theta))
  rows <- lapply(seq_len(ncol(theta)), function(k) {
    at <- order(-theta[, k])[seq_len(n)]
    data.frame(topic = k, rank = seq_len(n), document = names[at], proportion = unname(theta[at, k]))
  })
  do.call(rbind, rows)
}

document_proportions <- function(fit, call = rlang::caller_env()) {
  check_able(fit, "fitted", call = call)
  proportions(fit, fit$documents)
}

# Names of a fit's documents; without names, their numbers among the documents that the user gave.
document_names <- function(fit) {
  fit$input$group_names %||% fit$input$left_out_documents$kept %||% seq_len(nrow(fit$documents))
}

#' @rdname top_documents
#' @export
topic_correlation <- function(fit) {
  check_able(fit, "topic_correlation")
  column_correlation(document_proportions(fit))
}

# Correlations between the columns of theta; NA where a column varies by rounding only.
column_correlation <- function(theta) {
  deviation <- theta - rep(colMeans(theta), each = nrow(theta))
  norm <- sqrt(colSums(deviation^2))
  norm[norm <= 1e-12 * sqrt(nrow(theta)) * colMeans(theta)] <- NA
  out <- crossprod(deviation) / norm / rep(norm, each = ncol(theta))
  out[] <- pmax(-1, pmin(1, out))
  diag(out) <- ifelse(is.na(norm), NA, 1)
  out
}

#' @rdname top_documents
#' @export
exclusivity <- function(fit, n = 10L, weight = 0.5) {
  check_able(fit, "exclusivity")
  n <- min(check_count(n, "n"), fit$input$d)
  phi <- topic_terms(fit)
  score <- frex(phi, check_share(weight, "weight"))
  out <- vapply(seq_len(nrow(phi)), function(k) mean(score[k, order(-phi[k, ])[seq_len(n)]]), 0)
  stats::setNames(out, seq_along(out))
}

# Methods for functions that users of the packages seededlda and topicmodels know: terms(fit, n), a matrix
# with a column for each topic, and topics(fit), the main topic of each document.

#' @rdname top_terms
#' @param x A fit of [bnp_topics()] to counts, or of [bnp_mixture()] with [obs_multinomial()].
#' @param ... For `terms()`, `n`, the number of terms per topic, and `by` and `weight` as in `top_terms()`.
#' @return `terms()`: a character matrix with a column of terms for each topic in use, the first ones first, as in the
#'   packages topicmodels and seededlda. If seededlda is attached, its `terms()` and `topics()` take a fit as well;
#'   `topics()` then returns `predict(fit, type = "class")` as a factor.
#' @export
#' @rawNamespace S3method(seededlda::terms, bnp_topics)
terms.bnp_topics <- function(x, ...) {
  top <- top_terms(x, ...)
  topics <- unique(top$topic)
  matrix(top$term, ncol = length(topics), dimnames = list(NULL, topic_captions(x, topics, "Topic")))
}

#' @rawNamespace S3method(seededlda::topics, bnp_topics)
#' @noRd
topics.bnp_topics <- function(x, ...) {
  check_no_dots(...)
  main <- predict(x, type = "class")
  factor(stats::setNames(main, names(main)), levels = seq_len(x$state$k))
}

#' @exportS3Method clue::is.cl_partition
is.cl_partition.bnp_topics <- function(x) FALSE

with_more_weights.bnp_topics <- function(fit, data, weights, call) {
  data$lengths <- document_lengths(data, fit$model$obs)
  NextMethod()
}

with_more_labels.bnp_topics <- function(fit, data, labels, newdata, call) {
  with_document_labels(data, labels, newdata, fit$input$classes_open, call, fit$input$class_names)
}

shared_rows.bnp_topics <- function(out, before) {
  as.matrix(Matrix::crossprod(before$documents, out$documents[seq_len(nrow(before$documents)), , drop = FALSE]))
}

clusters_of_last.bnp_topics <- function(fit, data) {
  round(Matrix::colSums(utils::tail(fit$documents, length(data$starts) - 1L)))
}
