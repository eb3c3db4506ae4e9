#' Topic models as tidy tables
#'
#' Columns are named as in the tidytext package.
#'
#' @param x A fit of [bnp_topics()].
#' @param matrix `"beta"`: one row per topic and term, with `beta`, the probability of the term in the topic. For
#'   documents of rows instead of counts, `"beta"` describes topics as clusters, see [tidy.bnp_mixture()]. `"gamma"`:
#'   one row per training document and topic, with `gamma`, the proportion of the topic.
#' @param data For counts, a data frame with columns `document` and `term`; for documents of rows, rows of training or
#'   new documents, as in [bnp_topics()]. Not needed if the fit keeps its data ([strip_data()]).
#' @param id For documents of rows, as in [bnp_topics()].
#' @param na_action As in [bnp_topics()]; `NULL`, the default, takes the choice of the fit.
#' @param covariates For documents of rows and fits with [prior_covariates()]: the covariates of new documents.
#' @param conf.int Add intervals, `conf.low` and `conf.high`, of the variational posterior? They are too narrow, as
#'   [confint.bnp_fit()] explains. For documents of rows, `"beta"` then has one row for each parameter, as in [tidiers].
#' @param conf.level Probability of an interval.
#' @param ... Must be empty.
#' @return `tidy()`: a data frame with `topic`, `term`, `beta` or `document`, `topic`, `gamma`. With `conf.int = TRUE`
#'   it also has intervals, which are quantiles of Beta distributions: of the term's probability in the topic, or of the
#'   topic's proportion in the document, given the weights of topics in all documents and given that no other topics
#'   exist. `augment()`: `data` with `.topic`, the most probable topic of the term in the document. For documents of
#'   rows: the most probable topic of each row, and `.uncertainty`, one minus the topic's probability.
#' @references
#' Silge, J. and Robinson, D. (2016). tidytext: text mining and analysis using tidy data
#' principles in R. *Journal of Open Source Software* 1(3).
#' @seealso [tidiers] for other fits, [top_terms()], [fitted.bnp_topics()].
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' head(tidy(fit))
#' head(tidy(fit, matrix = "gamma"))
#' head(tidy(fit, conf.int = TRUE))
#' @export
tidy.bnp_topics <- function(x, matrix = c("beta", "gamma"), conf.int = FALSE, conf.level = 0.95, ...) {
  check_no_dots(...)
  check_format(x)
  matrix <- check_choice(matrix, c("beta", "gamma"), "matrix")
  level <- if (check_flag(conf.int, "conf.int")) check_level(conf.level, "conf.level")
  if (matrix == "gamma") {
    return(tidy_documents(x, level))
  }
  if (obs_facts(x$model$obs)$counts_tokens) {
    return(tidy_terms(x, level))
  }
  if (obs_can(x$model$obs, "read")) {
    return(tidy_frame(x, conf.int, conf.level, "topic"))
  }
  if (is.null(level)) {
    return(tidy_clusters(x, "topic"))
  }
  out <- tidy_intervals(x, level)
  names(out)[1] <- "topic"
  out
}

# The table of tidy() for terms: one row for each topic and term; intervals with the probability `level`, if
# it is given.
tidy_terms <- function(fit, level) {
  beta <- topic_terms(fit)
  out <- data.frame(
    topic = rep(seq_len(nrow(beta)), each = ncol(beta)), term = rep(colnames(beta), nrow(beta)),
    beta = as.double(t(beta))
  )
  if (!is.null(level)) out <- cbind(out, interval_table(fit, level, "prob")[c("conf.low", "conf.high")])
  as_tidy(out)
}

# The table of tidy() for documents: one row for each training document and topic.
tidy_documents <- function(fit, level) {
  gamma <- document_proportions(fit)
  names <- document_names(fit)
  out <- data.frame(
    document = rep(names, ncol(gamma)), topic = rep(seq_len(ncol(gamma)), each = nrow(gamma)),
    gamma = as.double(gamma)
  )
  if (!is.null(level)) {
    weight <- document_concentration(fit, fit$documents)
    ends <- lapply(c(1 - level, 1 + level) / 2, function(p) as.double(dirichlet_quantile(p, weight)))
    out <- cbind(out, conf.low = ends[[1]], conf.high = ends[[2]])
  }
  as_tidy(out)
}

#' @rdname tidy.bnp_topics
#' @export
augment.bnp_topics <- function(x, data, id = NULL, ..., na_action = NULL, covariates = NULL) {
  check_no_dots(...)
  if (!is.null(covariates)) only_with_covariates(x, rlang::current_env())
  na_action <- action_of_fit(x, na_action)
  if (!obs_facts(x$model$obs)$counts_tokens) {
    data <- data_or_kept(if (!missing(data)) data, x, "data")
    read_arguments(rlang::enquos(id = id), data, "data")
    return(augment_rows(x, data, id, na_action, covariates))
  }
  if (!is.null(covariates)) {
    abort("argument", "{.arg covariates} are for new documents of rows: {.arg data} has documents of the fit.")
  }
  if (missing(data)) data <- counts_of_kept(x, rlang::current_env())
  refuse_files(data, "data", rlang::current_env())
  if (!is.data.frame(data) || !"document" %in% names(data) || !any(term_names %in% names(data))) {
    abort("newdata", c(
      "{.arg data} must be a data frame with a column {.field document} and one of the terms,
       {.or {.field {term_names}}}."
    ))
  }
  theta <- document_proportions(x)
  phi <- topic_terms(x)
  document <- match(label_text(data$document, "document"), document_names(x))
  term <- match(label_text(data[[first_of(term_names, data)]], "term"), colnames(phi))
  known <- which(!is.na(document) & !is.na(term))
  topic <- rep(NA_integer_, nrow(data))
  for (at in split_blocks(length(known))) {
    rows <- known[at]
    joint <- theta[document[rows], , drop = FALSE] * t(phi[, term[rows], drop = FALSE])
    topic[rows] <- max.col(joint, ties.method = "first")
  }
  out <- as.data.frame(data)
  out$.topic <- topic
  like_input(out, data)
}

# The counts that a fit keeps: a data frame with a row for each document and term that is in it.
counts_of_kept <- function(fit, call) {
  counts <- as(data_matrix(data_or_kept(NULL, fit, "data", call)), "TsparseMatrix")
  row <- order(counts@i, counts@j)
  data.frame(
    document = document_names(fit)[counts@i[row] + 1L], term = column_labels(fit)[counts@j[row] + 1L],
    n = counts@x[row]
  )
}

# The values of documents of rows, and which of them are missing, in the order in which the rows were given.
rows_in_given_order <- function(data) {
  at <- order(data$order)
  data$x <- data$x[at, , drop = FALSE]
  if (!is.null(data$missing)) data$missing <- data$missing[at, , drop = FALSE]
  data
}

# The rows of documents in the order of `data`, each with its most probable topic, for augment().
augment_rows <- function(x, data, id, na_action, covariates, call = rlang::caller_env()) {
  internal <- new_documents(x, data, id, call, "data", na_action, covariates)
  by_document <- responsibilities(x, internal)
  given <- function(values) for_all_rows(internal, values_at(values, order(internal$order)))
  prob <- given(by_document)
  topic <- unname(most_probable(prob))
  if (is_internal(data)) data <- table_of_kept(x, rows_in_given_order(internal))
  out <- as.data.frame(if (is.data.frame(data)) data else data_matrix_of(data))
  out$.topic <- topic
  out$.uncertainty <- uncertainty(prob, topic)
  kept <- internal
  kept$left_out <- NULL
  scales <- row_scales(x, kept, by_document)
  out[names(scales)] <- lapply(scales, function(scale) unname(given(scale)))
  like_input(out, data)
}
