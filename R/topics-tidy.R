#' Topic models as tidy tables
#'
#' Columns are named as in the tidytext package.
#'
#' @param x A fit of [bnp_topics()].
#' @param matrix `"beta"`: one row per topic and term, `beta` the probability of
#'   the term in the topic. `"gamma"`: one row per training document and topic,
#'   `gamma` the proportion.
#' @param data A data frame with columns `document` and `term`.
#' @param ... Must be empty.
#' @return `tidy()`: a data frame with `topic`, `term`, `beta` or `document`,
#'   `topic`, `gamma`. `augment()`: `data` with `.topic`, the most probable topic
#'   of the term in the document.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15))
#' head(tidy(fit))
#' head(tidy(fit, matrix = "gamma"))
#' @export
tidy.bnp_topics <- function(x, matrix = c("beta", "gamma"), ...) {
  check_no_dots(...)
  matrix <- check_choice(matrix, c("beta", "gamma"), "matrix")
  if (matrix == "gamma") {
    gamma <- fitted(x)
    names <- rownames(gamma) %||% seq_len(nrow(gamma))
    return(as_tidy(data.frame(
      document = rep(names, ncol(gamma)), topic = rep(seq_len(ncol(gamma)), each = nrow(gamma)),
      gamma = as.double(gamma)
    )))
  }
  check_topics_of_terms(x)
  beta <- topic_terms(x)
  as_tidy(data.frame(
    topic = rep(seq_len(nrow(beta)), each = ncol(beta)), term = rep(colnames(beta), nrow(beta)),
    beta = as.double(t(beta))
  ))
}

#' @rdname tidy.bnp_topics
#' @export
augment.bnp_topics <- function(x, data, ...) {
  check_no_dots(...)
  check_topics_of_terms(x)
  if (missing(data) || !is.data.frame(data) || !all(c("document", "term") %in% names(data))) {
    abort("newdata", "{.arg data} must be a data frame with columns {.field document} and {.field term}.")
  }
  theta <- fitted(x)
  phi <- topic_terms(x)
  document <- match(as.character(data$document), rownames(theta) %||% seq_len(nrow(theta)))
  term <- match(as.character(data$term), colnames(phi))
  known <- which(!is.na(document) & !is.na(term))
  topic <- rep(NA_integer_, nrow(data))
  for (at in split_blocks(length(known))) {
    rows <- known[at]
    joint <- theta[document[rows], , drop = FALSE] * t(phi[, term[rows], drop = FALSE])
    topic[rows] <- max.col(joint, ties.method = "first")
  }
  data$.topic <- topic
  as_tidy(data)
}

#' Simulate documents from a topic model
#'
#' Each corpus has topics drawn from the variational posterior and documents
#' with new proportions drawn from the prior around the fitted average.
#'
#' @param object A fit of [bnp_topics()] to counts.
#' @param nsim Number of corpora.
#' @param seed As for [stats::simulate()].
#' @param lengths Tokens of each document; default: as in training.
#' @param ... Must be empty.
#' @return A list of `nsim` sparse matrices (documents x terms), named `sim_1`,
#'   ...; attribute `seed` as for [stats::simulate()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15))
#' dim(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_topics <- function(object, nsim = 1, seed = NULL, lengths = object$input$lengths, ...) {
  check_no_dots(...)
  check_topics_of_terms(object)
  nsim <- check_count(nsim, "nsim")
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  state <- get(".Random.seed", envir = globalenv())
  if (!is.null(seed)) {
    before <- state
    on.exit(assign(".Random.seed", before, envir = globalenv()))
    set.seed(seed)
    state <- structure(seed, kind = as.list(RNGkind()))
  }
  corpora <- lapply(seq_len(nsim), function(i) draw_corpus(object, lengths))
  structure(stats::setNames(corpora, paste0("sim_", seq_len(nsim))), seed = state)
}

draw_corpus <- function(fit, lengths) {
  params <- posterior_params(fit)
  phi <- apply(params$concentration, 1L, function(a) stats::rgamma(length(a), a))  # terms x topics
  weight <- document_weight(fit)[seq_len(fit$state$k)]
  columns <- lapply(lengths, function(n) {
    share <- stats::rgamma(length(weight), weight)
    if (!any(share > 0)) share[which.max(weight)] <- 1
    tokens <- stats::rmultinom(1L, n, share)
    counts <- numeric(nrow(phi))
    for (k in which(tokens > 0)) counts <- counts + stats::rmultinom(1L, tokens[k], phi[, k])
    counts
  })
  entries <- lapply(columns, function(x) which(x > 0))
  sparseMatrix(
    i = rep(seq_along(lengths), lengths(entries)), j = unlist(entries),
    x = unlist(Map(function(x, at) x[at], columns, entries)), dims = c(length(lengths), nrow(phi)),
    dimnames = list(NULL, fit$input$column_names)
  )
}
