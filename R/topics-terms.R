#' Terms that describe the topics
#'
#' @param fit A fit of [bnp_topics()] to counts, or of [bnp_mixture()] with [obs_multinomial()] (short texts), whose
#'   clusters then are the topics.
#' @param n Number of terms per topic.
#' @param by `"prob"`: the most probable terms. `"lift"`: probability in the topic
#'   relative to that in the whole corpus. `"frex"`: both frequent and exclusive,
#'   the harmonic mean of a term's rank by probability within the topic and
#'   by the topic's share of the term (Bischof & Airoldi, 2012).
#' @param weight For `"frex"`: the weight of exclusivity, between 0 and 1.
#' @return A data frame with columns `topic`, `rank`, `term` and `value`, for the topics in use. For fits with
#'   `keywords` ([obs_multinomial()]) there are two more columns: `name`, the name of the topic, and `keyword`, whether
#'   the term is one of the keywords of that name.
#' @references
#' Bischof, J. M. and Airoldi, E. M. (2012). Summarizing topical content with word frequency and
#' exclusivity. *International Conference on Machine Learning* 29.
#' @seealso [plot.bnp_topics()], [tidy.bnp_topics()], [coherence()]; `vignette("topics")`.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' top_terms(fit, 3)
#' top_terms(fit, 3, by = "frex")
#' @export
top_terms <- function(fit, n = 10L, by = c("prob", "frex", "lift"), weight = 0.5) {
  check_able(fit, "top_terms")
  n <- min(check_count(n, "n"), fit$input$d)
  by <- check_choice(by, c("prob", "frex", "lift"), "by")
  phi <- topic_terms(fit)
  value <- switch(by,
    prob = phi,
    lift = phi / rep(corpus_terms(fit), each = nrow(phi)),
    frex = frex(phi, check_share(weight, "weight"))
  )
  rows <- lapply(in_use(fit), function(k) {
    at <- order(-value[k, ], -phi[k, ])[seq_len(n)]
    data.frame(topic = k, rank = seq_len(n), term = colnames(phi)[at], value = unname(value[k, at]))
  })
  with_names(do.call(rbind, rows), fit)
}

# Adds to a table of terms, for fits with keywords, the names of topics and which terms are their keywords.
with_names <- function(terms, fit) {
  names <- names_of_clusters(fit)
  if (is.null(names)) {
    return(terms)
  }
  terms$name <- names[terms$topic]
  terms$keyword <- is_keyword(fit)[cbind(terms$topic, match(terms$term, colnames(topic_terms(fit))))]
  terms
}

check_share <- function(x, arg, call = rlang::caller_env()) {
  x <- check_number(x, arg, strict = FALSE, call = call)
  if (x > 1) abort("argument", "{.arg {arg}} must be between 0 and 1, not {x}.", call = call)
  x
}

# The expected probabilities E[phi] of terms in topics: a matrix, topics x terms, with names.
topic_terms <- function(fit) {
  phi <- coef(fit)$prob
  colnames(phi) <- colnames(phi) %||% default_names(ncol(phi))
  phi
}

# A matrix, documents x topics, of the proportions of topics; for mixtures, of the probabilities of clusters.
shares_of_documents <- function(fit, data) {
  if (inherits(fit, "bnp_topics")) proportions(fit, document_counts(fit, data)) else state_probabilities(fit, data)
}

# The relative frequency of each term under the fit: an average over topics, weighted by their sizes.
corpus_terms <- function(fit) {
  size <- cluster_sizes(fit)
  colSums(topic_terms(fit) * size) / sum(size)
}

frex <- function(phi, weight) {
  exclusive <- phi / rep(colSums(phi), each = nrow(phi))
  share <- function(x) matrix(apply(x, 1L, function(v) rank(v) / length(v)), nrow(x), byrow = TRUE)
  1 / (weight / share(exclusive) + (1 - weight) / share(phi))
}

#' Coherence of the top terms of each topic
#'
#' @param fit As in [top_terms()].
#' @param x Documents in which joint occurrences of the terms are counted, usually the training data, in any form that
#'   [bnp_topics()] takes. Not needed if the fit keeps its data ([strip_data()]).
#' @param n Number of top terms per topic.
#' @param measure `"npmi"`: mean normalised pointwise mutual information of pairs
#'   of terms in documents, between -1 and 1; a pair that never occurs together
#'   counts -1 (Bouma, 2009). `"umass"`: mean of log((D(v, w) + 1) / D(w)) over
#'   pairs with w ranked above v, D the number of documents with the term or the
#'   pair (Mimno and others, 2011).
#' @return One number per topic, `NA` for topics that are empty.
#' @references
#' Bouma, G. (2009). Normalized (pointwise) mutual information in collocation extraction.
#' *Proceedings of GSCL*, 31-40.
#'
#' Mimno, D., Wallach, H. M., Talley, E., Leenders, M. and McCallum, A. (2011). Optimizing
#' semantic coherence in topic models. *Empirical Methods in Natural Language Processing*,
#' 262-272.
#' @seealso [top_terms()], [predict.bnp_topics()] for held-out words;
#'   `vignette("judging-a-fit")`.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' coherence(fit, whales$counts)
#' @export
coherence <- function(fit, x, n = 10L, measure = c("npmi", "umass")) {
  check_able(fit, "coherence")
  x <- data_or_kept(if (!missing(x)) x, fit, "x")
  measure <- check_choice(measure, c("npmi", "umass"), "measure")
  if (fit$input$d < 2L) {
    abort("argument", "{.arg fit} has a vocabulary of one term; coherence needs pairs of terms.")
  }
  data <- read_rows(fit, x, NULL, rlang::current_env(), "x")
  documents <- (data_matrix(data) > 0) * 1
  terms <- top_terms(fit, max(2L, check_count(n, "n", lower = 2L)))
  index <- match(terms$term, colnames(topic_terms(fit)))
  out <- rep(NA_real_, fit$state$k)
  out[in_use(fit)] <- vapply(split(index, terms$topic), function(at) {
    together <- as.matrix(Matrix::crossprod(documents[, at, drop = FALSE]))
    topic_coherence(together, data$n, measure)
  }, 0)
  stats::setNames(out, seq_along(out))
}

# The coherence of a topic from its top terms. together: for each pair of these terms, in their order, the
# number of documents that contain both (on the diagonal: the term); n: the number of documents.
topic_coherence <- function(together, n, measure) {
  alone <- diag(together)
  below <- which(lower.tri(together), arr.ind = TRUE)
  v <- below[, 1]
  w <- below[, 2]
  joint <- together[below]
  score <- if (measure == "umass") {
    log((joint + 1) / alone[w])
  } else {
    p <- joint / n
    ifelse(joint == 0, -1, ifelse(joint == n, 1, log(p / (alone[v] * alone[w] / n^2)) / -log(p)))
  }
  mean(score[is.finite(score)])
}

#' Data for an interactive map of the topics
#'
#' Returns the arguments of `LDAvis::createJSON()`, which makes the map.
#'
#' @param fit As in [top_terms()].
#' @param x The training documents. Not needed if the fit keeps them ([strip_data()]).
#' @return A list with `phi` (topics x terms), `theta` (documents x topics),
#'   `doc.length`, `vocab` and `term.frequency`.
#' @references
#' Sievert, C. and Shirley, K. E. (2014). LDAvis: a method for visualizing and interpreting
#' topics. *Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70.
#' @seealso [top_terms()], [plot.bnp_topics()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' str(ldavis_data(fit, whales$counts))
#' # json <- do.call(LDAvis::createJSON, ldavis_data(fit, whales$counts))
#' @export
ldavis_data <- function(fit, x) {
  check_able(fit, "ldavis_data")
  x <- data_or_kept(if (!missing(x)) x, fit, "x")
  data <- read_rows(fit, x, NULL, rlang::current_env(), "x")
  phi <- topic_terms(fit)
  list(
    phi = unname(phi), theta = unname(shares_of_documents(fit, data)),
    doc.length = document_lengths(data, fit$model$obs), vocab = colnames(phi),
    term.frequency = unname(Matrix::colSums(data_matrix(data)))
  )
}
