#' Simulate documents from a topic model
#'
#' Each corpus has topics drawn from the variational posterior and documents
#' with new proportions drawn from the prior around the fitted average.
#'
#' @param object A fit of [bnp_topics()].
#' @param nsim Number of corpora.
#' @param seed As for [stats::simulate()].
#' @param lengths The number of tokens or rows of each document; default: as in the training data.
#' @param ... Must be empty.
#' @return A list of length `nsim`, named `sim_1`, ...; attribute `seed` as for [stats::simulate()]. For counts, its
#'   elements are sparse matrices (documents x terms). For documents of rows, they are data frames with the columns of
#'   the training data, `.id`, the document, and `.topic`, the topic drawn.
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#' @seealso [bnp_topics()], [predict.bnp_topics()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' dim(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_topics <- function(object, nsim = 1, seed = NULL, lengths = object$input$lengths, ...) {
  check_no_dots(...)
  check_format(object)
  require_ability(object, "simulate")
  nsim <- check_count(nsim, "nsim")
  if (is.null(lengths)) {
    abort("argument", c(
      "{.arg lengths} is needed: a fit that was made of a stream keeps no lengths of its documents.",
      i = "Say how long new documents are to be, as {.code simulate(fit, lengths = c(50, 80))}."
    ))
  }
  lengths <- vapply(lengths, check_count, 1L, arg = "lengths", lower = 0L)
  rows <- if (obs_facts(object$model$obs)$counts_tokens) length(lengths) else lengths
  check_drawn(rows, object$input$d + 2, "lengths")
  draw <- if (obs_facts(object$model$obs)$counts_tokens) draw_corpus else draw_documents
  simulate_sets(nsim, seed, function() draw(object, lengths))
}

# Weights of topics in n new documents: one row for all documents, or one for each. In fits with covariates,
# new documents have the covariate patterns of the fit's documents in turn.
simulated_weights <- function(fit, n) {
  if (!has_tilted_topics(fit)) {
    return(matrix(document_weight(fit), 1L))
  }
  tilted_document_weights(fit)[rep_len(fit$input$document_pattern, n) + 1L, , drop = FALSE]
}

# Draws how many of the n tokens (or rows) of a new document belong to each topic.
draw_topics <- function(fit, n, weight) {
  weight <- weight[seq_len(fit$state$k)]
  share <- stats::rgamma(length(weight), weight)
  if (!any(share > 0)) share[which.max(weight)] <- 1
  stats::rmultinom(1L, n, share)[, 1L]
}

draw_documents <- function(fit, lengths) {
  weight <- simulated_weights(fit, length(lengths))
  row <- rep_len(seq_len(nrow(weight)), length(lengths))
  topic <- unlist(Map(function(n, at) rep(seq_len(fit$state$k), draw_topics(fit, n, weight[at, ])), lengths, row))
  out <- as.data.frame(draw_rows(fit, posterior_clusters(fit), topic, lengths, complete_given(fit, list())))
  out$.id <- rep(seq_along(lengths), lengths)
  out$.topic <- factor(topic, levels = seq_len(fit$state$k))
  out
}

draw_corpus <- function(fit, lengths) {
  params <- posterior_params(fit)
  a <- t(params$concentration) # terms x topics
  phi <- matrix(stats::rgamma(length(a), a), nrow(a))
  weight <- simulated_weights(fit, length(lengths))
  row <- rep_len(seq_len(nrow(weight)), length(lengths))
  columns <- Map(function(n, at) {
    tokens <- draw_topics(fit, n, weight[at, ])
    counts <- numeric(nrow(phi))
    for (k in which(tokens > 0)) counts <- counts + stats::rmultinom(1L, tokens[k], phi[, k])
    counts
  }, lengths, row)
  entries <- lapply(columns, function(x) which(x > 0))
  sparseMatrix(
    i = rep(seq_along(lengths), lengths(entries)), j = unlist(entries),
    x = unlist(Map(function(x, at) x[at], columns, entries)), dims = c(length(lengths), nrow(phi)),
    dimnames = list(NULL, fit$input$column_names)
  )
}
