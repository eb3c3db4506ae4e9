#' Topics of new documents
#'
#' Nothing is refitted: the topics stay, and proportions are found for each new document. Terms are matched by name;
#' terms unseen in training are left out with a warning. Documents without any term that the fit knows get the prior's
#' proportions, with a warning that names them.
#'
#' @param object,fit A fit of [bnp_topics()].
#' @param newdata New documents, in any form that [bnp_topics()] takes, or a source ([source_files()]).
#' @param id The document of each row, as in [bnp_topics()].
#' @param type What `predict()` returns for each document:
#'   * `"prob"`: proportions, documents x topics, rows summing to 1.
#'   * `"class"`: the topic with the largest proportion.
#'   * `"id"`: the identity of this topic, see [cluster_ids()].
#'   * `"cluster"`: class and proportions in one data frame, as in [predict.bnp_mixture()].
#'   * `"response"`, for fits with a `response`: its expectation given the words. Without `newdata` these are fitted
#'     values, which for documents with a known response use it.
#'   * `"label"`: for fits with a `response` of classes, the most probable class (a factor). For fits with `labels`, the
#'     label with the largest proportion, a factor; `NA` if topics without a label together have a larger one. For fits
#'     with `keywords` ([obs_multinomial()]), the name that each document is most about, see *Names by keywords*.
#'   * `"label_prob"`: the proportion of each label, or the probability of each name; the last column `"(none)"` is
#'     that of none of them. With `labels` it is there if there are topics without a label.
#'   * `"topic_label"` and `"topic_label_prob"`: the same two for fits that have a response, too.
#'   * `"weights"`, for fits with [prior_covariates()]: the mean proportions of documents with these `covariates` before
#'     any of their words is seen, and in the column `new` that of topics not found yet; without `covariates` those of
#'     the documents of the fit.
#'
#'   For `heldout_loglik()`, `type` says what is scored, with topics and their weights in all documents at their
#'   posterior means:
#'   * `"completion"`: some tokens of each document given the others.
#'   * `"sequential"`: whole documents, by an unbiased estimate of their probability (Buntine, 2009): tokens come in
#'     random order, each is scored given the topics drawn for those before it, and the average is over `draws` such
#'     sequences. Topics that the fit has not seen ([prior_hdp()]) keep their weight and have the prior's terms, as in
#'     `"completion"`.
#'   * `"plugin"`: the same, given that no other topics than those of the fit exist, as in Wang and Blei (2012) and in
#'     `predict()`.
#' @param na_action As in [bnp_topics()]; `NULL`, the default, takes the choice of the fit.
#' @param covariates For fits with covariates: the covariates of the new documents. Without this argument, and if the
#'   fit has [prior_covariates()], `newdata` must be the documents of the fit, or a quanteda `dfm` that has these
#'   variables.
#' @param labels For fits with labels: which topics each document of `newdata` may use, as in [bnp_topics()].
#' @param interval For `"response"`: the probability of an interval. If the response is a number, the interval is for a
#'   new response; with two classes it is for their probability, and with a hinge loss for f.
#' @param write If `newdata` is a source: where results are written, as in [predict.bnp_mixture()].
#' @param new_data The same as `newdata`, by the name that tidymodels uses.
#' @param split How `heldout_loglik()` divides a document: `"token"` holds out a share `1 - seen` of the tokens of each
#'   word type; `"type"` holds out all tokens of a share `1 - seen` of its word types (Hughes, 2016).
#' @param seen The share of a document that its proportions are estimated from.
#' @param inference How proportions are estimated from the seen part of a document:
#'   * `"collapsed"`: each token given the expected topics of the others, which predicts better than `"variational"`.
#'   * `"variational"`: the local step of the fit.
#'   * `"predictive"`: as `"collapsed"`, but topics are not regarded as known: the seen tokens also inform about the
#'     topics they come from, and a document may begin a topic of its own (with [prior_hdp()]). This is the predictive
#'     distribution of the model itself; compare it only with others that do the same. Not for topics with keywords.
#' @param draws For `"sequential"` and `"plugin"`: the number of sequences over which the estimate of a document's
#'   probability is averaged. The logarithm of an average is too small on average, less so the more draws there are.
#' @param seed A whole number that fixes the split or the draws and leaves R's own generator unchanged; `NULL` draws a
#'   seed from R's generator.
#' @param per_document Return one value per document?
#' @param ... Must be empty.
#' @return `predict()`: a matrix or an integer vector, named by document; for `type = "cluster"` a data frame with a row
#'   for each document; for `"response"` a matrix. Its columns are `fit`, `lower` and `upper` (with two classes `fit` is
#'   the probability of the second, with a hinge loss it is f, above 0 for the second class); with several classes they
#'   are the probabilities of the classes.
#'
#'   `heldout_loglik()`: for `"completion"`, the average over held-out tokens of
#'   \eqn{\log \sum_k E[\pi_{dk}] E[\phi_{kv}]}, where \eqn{\pi_d} is estimated from the seen part and \eqn{\phi}
#'   from training. For whole documents, the sum of their log probabilities (as sequences of tokens) divided by the
#'   number of all tokens. With `per_document`, a data frame with `document`,
#'   `tokens` and `loglik` (sum).
#' @section Names by keywords:
#'   A subject that has a name can be more than the topic with this name: among many topics some of the others are about
#'   parts of it. So `"label"` asks all topics. For each list of keywords it computes how often they are to be expected
#'   in a document, given its proportions of topics, divided by how often they occur in all documents of the fit: L. A
#'   document in which keywords of a list are expected three times as often as on average has L = 3 for this list. The
#'   probability of a name is L / (1 + the sum of L over all names); 1 stands for none of them. The label is the name
#'   with the largest L, and `NA` if none is above 1. `type = "prob"` gives the proportions of the topics as they are.
#'   Fits that have `labels`, too, use the proportions of topics with a label or a name.
#' @references
#' Buntine, W. (2009). Estimating likelihoods for topic models. *Asian Conference on Machine Learning* 1.
#'
#' Wallach, H. M., Murray, I., Salakhutdinov, R. and Mimno, D. (2009). Evaluation methods for
#' topic models. *International Conference on Machine Learning* 26.
#'
#' Hughes, M. C. (2016). *Reliable and scalable variational inference for nonparametric
#' mixtures, topics, and sequences*. PhD thesis, Brown University.
#'
#' Wang, C. and Blei, D. M. (2012). Truncation-free stochastic variational inference for Bayesian nonparametric models.
#' *Advances in Neural Information Processing Systems* 25.
#' @seealso [bnp_topics()], [fitted.bnp_topics()]; `vignette("topics")`.
#' @examples
#' odd <- seq(1, nrow(whales$counts), by = 2)
#' quick <- bnp_control(seed = 1, max_laps = 15, restarts = 1)
#' fit <- bnp_topics(whales$counts[odd, ], control = quick)
#' round(head(predict(fit, whales$counts[-odd, ])), 2)
#' heldout_loglik(fit, whales$counts[-odd, ], seed = 1)
#' heldout_loglik(fit, whales$counts[-odd, ], "sequential", draws = 5, seed = 1)
#' @export
predict.bnp_topics <- function(object, newdata = NULL,
                               type = c(
                                 "prob", "class", "cluster", "id", "response", "label", "label_prob", "topic_label",
                                 "topic_label_prob", "weights"
                               ),
                               id = NULL, ..., new_data = NULL, na_action = NULL, covariates = NULL,
                               interval = 0.9, write = NULL, labels = NULL) {
  check_no_dots(...)
  check_format(object)
  na_action <- action_of_fit(object, na_action)
  type <- check_choice(type, eval(formals()$type), "type")
  if (is.null(object$model$response)) type <- sub("^label", "topic_label", type)
  newdata <- one_newdata(newdata, new_data)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  if (type %in% c("topic_label", "topic_label_prob")) need_labels(object, sub("topic_", "", type, fixed = TRUE))
  if (type == "label_prob") {
    abort("response", c(
      "{.code type = \"label_prob\"} is of named topics, and the label of this fit is its response.",
      i = "{.code \"response\"} gives its probabilities, {.code \"topic_label_prob\"} those of named topics."
    ))
  }
  if (type %in% c("response", "label")) {
    if (inherits(newdata, "bnp_source")) {
      abort("response", c(
        "Responses of documents in a source are not predicted.", i = "Give {.arg newdata} batch by batch."
      ))
    }
    refuse_write(write)
    return(response_of(object, newdata, id, type, covariates, interval, na_action))
  }
  if (!is.null(covariates) && !has_tilted_topics(object)) {
    abort("response", "{.arg covariates} are for {.code type = \"response\"} or {.val label}.")
  }
  if (type == "weights") {
    return(weights_at_documents(object, newdata, covariates, rlang::current_env()))
  }
  if (!is.null(labels)) need_labelled_fit(object, newdata, type)
  if (inherits(newdata, "bnp_source")) {
    require_no_covariates(object$model$prior, c("source", kinds_of(object)), rlang::current_env())
    return(predict_source(object, newdata, id, write, function(x, id) {
      predict(object, x, type, !!id, na_action = na_action)
    }))
  }
  refuse_write(write)
  prob <- if (is.null(newdata)) {
    fitted(object)
  } else {
    newdata <- without_strange_terms(object, newdata, id)
    data <- new_documents(object, newdata, id, na_action = na_action, covariates = covariates)
    if (!is.null(labels)) {
      data <- with_document_labels(
        data, labels, newdata, object$input$classes_open, rlang::current_env(), object$input$class_names
      )
    }
    warn_of_no_known_terms(data, object)
    for_all_documents(data, proportions(fit_at_documents(object, data), document_counts(object, data)))
  }
  if (type == "prob") {
    return(prob)
  }
  if (type == "topic_label") {
    return(most_probable_class(object, prob))
  }
  if (type == "topic_label_prob") {
    return(class_probabilities(object, prob))
  }
  main <- most_probable(prob)
  if (type == "id") {
    return(with_ids(object, main))
  }
  if (type == "cluster") cluster_predictions(main, prob) else main
}

need_labelled_fit <- function(fit, newdata, type, call = rlang::caller_env()) {
  if (is.null(fit$state$owner)) {
    abort("labels", c("{.arg labels} are for fits with labels.", i = "Leave {.arg labels} out."), call = call)
  }
  if (is.null(newdata) || inherits(newdata, "bnp_source")) {
    abort("labels", c(
      "{.arg labels} are for {.arg newdata} in memory.", i = "The fit has those of its own documents."
    ), call = call)
  }
}

# Turns documents whose terms are all unknown to the fit into documents without counts; other documents are
# unchanged.
without_strange_terms <- function(fit, newdata, id, call = rlang::caller_env()) {
  known <- fit$input$column_names
  counts <- obs_facts(fit$model$obs)$counts_tokens && is.null(id) && (is.matrix(newdata) || is(newdata, "Matrix"))
  if (!counts || is.null(known) || is.null(colnames(newdata)) || any(colnames(newdata) %in% known)) {
    return(newdata)
  }
  as_documents(newdata, fit$model$obs, NULL, "newdata", TRUE, call) # refuses what are no counts
  sparseMatrix(
    i = integer(), j = integer(), x = numeric(), dims = c(nrow(newdata), length(known)),
    dimnames = list(rownames(newdata), known)
  )
}

warn_of_no_known_terms <- function(data, fit, call = rlang::caller_env()) {
  if (!obs_facts(fit$model$obs)$counts_tokens) {
    return(invisible())
  }
  empty <- which(document_lengths(data, fit$model$obs) == 0)
  if (length(empty)) {
    names <- data$group_names[empty] %||% (data$left_out_documents$kept %||% seq_len(data$n))[empty]
    cli::cli_warn(c(
      "{cli::qty(length(empty))}Document{?s} {places(names)} of {.arg newdata} {cli::qty(length(empty))}{?has/have} no
       term that the fit knows: {cli::qty(length(empty))}{?its/their} proportions are those of the prior."
    ), class = c("bnpvi_warning_no_known_terms", "bnpvi_warning"), call = call)
  }
}

response_of <- function(fit, newdata, id, type, covariates, interval, na_action, call = rlang::caller_env()) {
  check_format(fit, call)
  need_response(fit, paste0("{.code type = \"", type, "\"}"), call)
  level <- check_level(interval, "interval", call)
  if (is.null(newdata)) {
    if (!is.null(covariates)) {
      abort("response", "{.arg covariates} go with {.arg newdata}: the fit has those of its own documents.",
        call = call
      )
    }
    values <- fit$input$document_response$values
    known <- nrow(values) - fit$model$response$covariates
    x <- t(values[-seq_len(known), , drop = FALSE])
    return(for_all_documents(fit$input, predict_response(fit, fit$documents, x, type, level, call)))
  }
  data <- new_documents(fit, newdata, id, call, na_action = na_action)
  x <- new_covariates(fit, covariates, data, call)
  for_all_documents(data, predict_response(fit, document_counts(fit, data), x, type, level, call))
}

read_rows.bnp_topics <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL, covariates = NULL) {
  new_documents(fit, newdata, id, call, arg, na_action, covariates)
}

new_documents <- function(fit, newdata, id = NULL, call = rlang::caller_env(), arg = "newdata", na_action = NULL,
                          covariates = NULL) {
  given <- newdata
  check_format(fit, call)
  if (inherits(newdata, "bnp_data")) {
    return(newdata)
  }
  obs <- fit$model$obs
  arg <- arg_of_table(arg, newdata)
  if (is.null(id) && obs_facts(obs)$counts_tokens) refuse_uncounted(newdata, arg, call)
  if (is.data.frame(newdata) && is_term_frame(newdata) && obs_facts(obs)$counts_tokens) {
    newdata <- term_frame_to_sparse(newdata, arg, call)
  }
  known <- fit$input$id_column
  if (is.null(id) && !is.null(known) && length(dim(newdata)) == 2L && known %in% colnames(newdata)) id <- known
  split <- if (is.null(id)) list(x = newdata) else take_id(newdata, id, arg, call)
  if (is.null(split$id) && obs_facts(obs)$counts_tokens) split$x <- one_document(split$x)
  na_action <- na_action %||% fit$input$na_action
  newdata <- select_columns(split$x, fit, call, arg, na_action)
  data <- check_reach(as_documents(newdata, obs, split$id, arg, allow_no_rows = TRUE, call, na_action), obs, call, arg)
  if (has_tilted_topics(fit)) with_new_document_covariates(fit, data, covariates, given, call) else data
}

# Expected numbers of tokens (or rows) of each topic in each document of `data`, under a fit.
document_counts <- function(fit, data) {
  fit <- fit_with_gaps(fit_at_documents(fit, data), data)
  k <- fit$state$k
  names <- list(data$group_names, cluster_labels(fit))
  if (data$n == 0L) {
    return(matrix(0, length(data$starts) - 1L, k, dimnames = names))
  }
  resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  resp <- resp[, fit$numbering, drop = FALSE]
  counts <- if (obs_facts(fit$model$obs)$counts_tokens) {
    resp * document_lengths(data, fit$model$obs)
  } else {
    unname(rowsum(resp, factor(group_of_rows(data), seq_len(length(data$starts) - 1L)), reorder = TRUE))
  }
  dimnames(counts) <- names
  counts
}

# Evaluates `expr` with its own random seed, and leaves the state of R's random number generator as it was.
with_seed <- function(seed, expr) {
  if (is.null(seed)) {
    return(expr)
  }
  seed <- check_count(seed, "seed", lower = 0L, call = rlang::caller_env(2))
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  state <- get(".Random.seed", envir = globalenv())
  on.exit(assign(".Random.seed", state, envir = globalenv()))
  set.seed(seed)
  expr
}
