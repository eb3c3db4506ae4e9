#' Fit a topic model
#'
#' Finds topics shared by many documents, each with proportions of its own, and,
#' with the default hierarchical Dirichlet process prior, the number of topics.
#'
#' @param x Documents. For `r maker_links(token_makers())`: counts, one row per document
#'   and one column per term, as a sparse matrix, a matrix, a quanteda `dfm` or
#'   a tm `DocumentTermMatrix`; or a data frame with columns `document`, `term`
#'   and `n`; or a source of such ([source_files()]). A vector of counts is one document. For other observation
#'   models: a matrix or data frame of rows that `id` groups into documents.
#' @param obs What a topic produces: `r maker_links(verb_makers("bnp_topics"))`.
#' @param prior [prior_hdp()], [prior_lda()], or [prior_covariates()] of proportions that depend on what is known of
#'   documents.
#' @param control [bnp_control()]. Topics of counts start from anchor words
#'   (Arora and others, 2013) or from clusters of documents (`init`).
#' @param start A start in place of the default one: one topic for each row; a matrix of responsibilities (rows x
#'   topics); an earlier fit of the same terms in the same order, to these or other documents, with at most as many
#'   topics as a finite prior has; or a clustering as in [bnp_mixture()]. A fit of the same documents also passes on
#'   how much of each topic each document has; the new fit then cannot end with a lower bound.
#' @param id The document of each row, a value of any class (see [bnpvi]), or the name of a column that says so.
#'   With counts, the rows of a document are added up.
#' @param weights How often each document counts: one number above 0 for each document, matched by name, or in the
#'   order of the rows of `x` (with `id`: of its documents, as `fitted()` has them). See *Weights* of [bnp_mixture()].
#' @param na_action What to do about missing values (`NA`). `"fail"`, the default: an error says where they are.
#'   `"model"`: averages over them, for documents of rows; see [missing_values]. `"omit"`: rows with a missing value are
#'   left out, of counts the whole document, and have `NA` in results.
#' @param response A variable of each document that the topics should predict: numbers (a rating), or classes as a
#'   factor, text or logical. One value for each document, matched by name or in their order, `NA` where it is not
#'   known; or the name of a document variable of a quanteda `dfm`; or a formula `rating ~ year + source`, whose right
#'   side are `covariates`, without interactions. See *Responses*.
#' @param family `NULL`: numbers are `"gaussian"`, two classes `"binomial"`, more `"classes"`. Also `"hinge"` (two
#'   classes, a support vector machine), `"eps_hinge"` (numbers), `gaussian()` or `binomial()`.
#' @param covariates Of documents, a data frame with a row for each, by name or in their order: what the formula of
#'   [prior_covariates()] names. With a `response`: what has effects of its own on it, also a vector or a matrix.
#' @param response_weight,response_cost,response_epsilon,response_precision Only with a `response`. `response_weight`:
#'   how often responses count beside words, above 0. Other than 1, the objective is no bound, and the variance of a
#'   number about its mean is not learned while topics are. A document has one response and many words, so that topics
#'   follow responses, and predict them better, with weights of 10 or 30; choose one by what it predicts of documents
#'   that were held out. `response_precision`: one over the variance of the normal prior of the effects, for numbers
#'   relative to the residual variance; default 1 for `"gaussian"`, else 0.1 (a guess). `response_cost`, for `"hinge"`
#'   and `"eps_hinge"`: the cost of one unit of loss. `response_epsilon`, for `"eps_hinge"`: errors up to this many
#'   standard deviations of the response cost nothing.
#' @param labels Known subjects of the documents: a factor or text, one label for each document, `NA` where it is not
#'   known; a list of character vectors, for several labels of a document; a logical matrix (documents x labels; a row
#'   of `NA`: not known); or the name of a document variable of a quanteda `dfm`. See *Labels*.
#' @param open May documents with labels also use topics without a label?
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#'
#' @return An object of class `c("bnp_topics", "bnp_fit")`, a plain list that
#'   keeps few data ([strip_data()]). Topics are numbered by decreasing size. See [top_terms()],
#'   [predict.bnp_topics()], [plot.bnp_topics()], [coherence()], [elbo()].
#'
#' @details All tokens of a term in a document have the same responsibilities. While it is learned, a fit keeps the
#'   expected number of tokens of each topic that a document uses, from which the next visit of the document starts;
#'   this takes about 40 bytes for each topic of each document. The sums over a batch take 8 bytes for each topic and
#'   term, and as much again for the topics as they were when the batch was last visited.
#'
#'   The prior of the documents' proportions has a normalising constant whose expectation has no closed form; the ELBO
#'   has a lower bound in its place (Hughes, Kim and Sudderth, 2015). With [prior_lda()] no such bound is needed.
#' @section Short documents:
#'   Each document pays for proportions of its own, and a few words hardly repay it: of answers to open questions the
#'   ELBO often prefers one topic, with which `print()` refers to this section. For stm's `gadarian` (337 answers, 7
#'   words in the median) one topic has the best bound, yet three predict the words of answers that were left out
#'   slightly better: by 0.010 nats a word with the default `alpha`, by 0.019 with 0.1 (standard errors 0.005). To
#'   describe such documents, keep a number of topics:
#'   `bnp_topics(x, prior = prior_hdp(alpha = 0.1), control = bnp_control(k_init = 3, moves = FALSE))`; or give each
#'   document one topic: `bnp_mixture(x, obs_multinomial())`.
#' @section Labels:
#'   With `labels`, each label owns topics, one to begin with; open topics have no label. The words of a document come
#'   from topics of its labels and, with `open = TRUE`, from open ones; those of a document whose labels are not known
#'   from all topics. A list of several labels means any mixture of them (in [bnp_mixture()] and [bnp_hmm()]: one of
#'   them). What a document may not use has an expected count of exactly 0. Births, merges and deletes keep
#'   to this: a new topic has the label of that which it comes from, topics of different labels do not become one, and
#'   no label loses its last topic. The labels are data: the ELBO bounds the probability of words and labels.
#'   In the end an open topic gets the label that all labelled documents have which are mostly about it, where that
#'   makes these labels more probable than it costs: what a label is about may have gone to an open topic before.
#'   `open = FALSE` leaves no topic for what all labels share, such as frequent words, which costs much. Labels of
#'   documents without tokens are not used. `predict(type = "label")` gives the label with the largest proportion.
#' @section Responses:
#'   With a `response`, topics explain the words and predict the response (Blei and McAuliffe, 2008). The mean of a
#'   number, or the log odds of a class, is f = \eqn{\sum_k \eta_k \bar z_k}{sum_k eta_k z_k} + effects of covariates,
#'   with \eqn{\bar z_k}{z_k} the share of topic k among the tokens of the document; shares sum to 1, so that there is
#'   no intercept. The ELBO has a term `response`. For numbers it is the log evidence of a Bayesian regression on the
#'   expected shares, with the variance integrated out; for classes a bound that touches the logistic function
#'   (Jaakkola and Jordan, 2000), where several classes are modelled as each class against all less frequent ones.
#'   Nothing is sampled. E\[z z'\] of a document is computed as if all its tokens had the same responsibilities; this
#'   is an upper bound of it, so that the ELBO stays a lower bound. Births, merges and deletes are judged by all terms.
#'   Hinges are losses: the objective is then not a bound on a log evidence, which `print()` says.
#'
#'   Documents whose response is `NA` still help to find topics. Predictions for new documents
#'   ([predict()][predict.bnp_topics()]) use their words alone. So the effects for predictions are estimated at the end
#'   of the fit, in five parts: the documents of each fifth are left out of the topics, their shares of topics are
#'   found from their words alone, and the regression is fitted to these shares. `coef(fit)$response` has these
#'   effects, and `plot(fit, "response")` shows them. Numbers are centred and scaled internally, so that units do not
#'   matter; the term `response` of the ELBO is that of the scaled numbers.
#'
#'   For fits with a response [bnp_sample()], `update(newdata = )` and truncation-free learning are not available.
#' @references
#' Blei, D. M. and McAuliffe, J. D. (2008). Supervised topic models. *Advances in Neural Information Processing Systems*
#' 20.
#'
#' Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods. *Statistics and
#' Computing* 10, 25-37.
#'
#' Zhu, J., Ahmed, A. and Xing, E. P. (2012). MedLDA: maximum margin supervised topic models. *Journal of Machine
#' Learning Research* 13, 2237-2278.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet
#' processes. *Journal of the American Statistical Association* 101, 1566-1581.
#'
#' Hughes, M. C., Kim, D. I. and Sudderth, E. B. (2015). Reliable and scalable variational
#' inference for the hierarchical Dirichlet process. *Artificial Intelligence and Statistics*
#' 18.
#'
#' Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. *Journal of
#' Machine Learning Research* 3, 993-1022.
#'
#' Arora, S. and others (2013). A practical algorithm for topic modeling with provable
#' guarantees. *International Conference on Machine Learning* 30.
#' @seealso [bnp_stream()] for documents that come in batches; [top_terms()], [coherence()], [predict.bnp_topics()],
#'   [plot.bnp_topics()], [read_fit]; `vignette("topics")`, *Coming from topicmodels and stm* on the site.
#' @examples
#' fit <- bnp_topics(whales$counts, control = bnp_control(seed = 1, max_laps = 15, restarts = 1))
#' fit
#' top_terms(fit, 5)
#' head(fitted(fit))
#' @order 1
#' @export
bnp_topics <- function(x, ...) {
  UseMethod("bnp_topics")
}

#' @rdname bnp_topics
#' @export
bnp_topics.default <- function(x, obs = obs_multinomial(), prior = prior_hdp(), control = bnp_control(),
                               start = NULL, id = NULL, na_action = c("fail", "model", "omit"), weights = NULL,
                               response = NULL, family = NULL, covariates = NULL, response_weight = 1,
                               response_cost = 1, response_epsilon = 0.1, response_precision = NULL, labels = NULL,
                               open = TRUE, ...) {
  if (...length()) control <- control_with(control, ...)
  read_arguments(rlang::enquos(id = id), x, "x")
  na_action <- check_na_action(na_action)
  call <- rename_call(match.call(), "bnp_topics")
  check_form(x, "topics", rlang::current_env())
  check_obs(obs, "bnp_topics", rlang::current_env())
  need_documents_with_gaps(na_action, obs, rlang::current_env())
  check_class(prior, "bnp_prior", "prior", prior_makers("bnp_topics"))
  prior <- prior_of_documents(prior, rlang::current_env())
  check_prior(prior, "bnp_topics", rlang::current_env())
  check_class(control, "bnp_control", "control", "bnp_control")
  data <- as_documents(x, obs, id, na_action = na_action)
  data$weights <- unit_weights(weights, data, "document", rlang::current_env())
  if (!is.null(labels)) {
    open <- check_flag(open, "open")
    data <- with_document_labels(data, labels, x, open, rlang::current_env())
    require_abilities(
      c(if (identical(control$algorithm, "truncation_free")) "truncation_free", kinds_to_fit("bnp_topics", obs, prior)),
      list(labels = labels), rlang::current_env()
    )
    need_room_for_labels(data, obs, prior, rlang::current_env())
    need_labelled_start(start, data, rlang::current_env())
  }
  input <- NULL
  if (has_covariates(prior)) {
    require_abilities(
      c(if (identical(control$algorithm, "truncation_free")) "truncation_free", kinds_to_fit("bnp_topics", obs, prior)),
      list(prior_covariates = prior, response = response), rlang::current_env()
    )
    counted <- with_document_covariates(data, prior, covariates, x, rlang::current_env())
    data <- counted$data
    prior <- counted$prior
    input <- counted$input
  }
  known <- read_response(
    response, x, data, family, if (!has_covariates(prior)) covariates, response_weight, response_cost,
    response_epsilon, response_precision, rlang::current_env()
  )
  data$response <- known
  if (!is.null(known)) data$group_values <- known$values
  fit <- fit_model(
    "bnp_topics", call, data, obs, prior, control, start, length(data$starts) - 1L,
    c(list(lengths = document_lengths(data, obs)), input, if (!is.null(known)) list(document_response = known$input))
  )
  warn_of_ties(fit, data)
  fit
}

# Reads the input of bnp_topics(). If several rows of counts belong to one document, they are added up.
as_documents <- function(x, obs, id = NULL, arg = "x", allow_no_rows = FALSE, call = rlang::caller_env(),
                         na_action = NULL) {
  data <- as_document_data(x, obs, id, arg, allow_no_rows, call, na_action)
  if (is.null(id) || !obs_facts(obs)$counts_tokens) {
    return(data)
  }
  added <- Matrix::t(Matrix::fac2sparse(factor(group_of_rows(data)))) |>
    Matrix::crossprod(as_column_sparse(as(data_matrix(data), "dMatrix")))
  dimnames(added) <- list(data$group_names, data$column_names)
  out <- as_document_data(added, obs, NULL, arg, allow_no_rows, call)
  out$na_action <- data$na_action
  out$left_out <- out$left_out_documents <- data$left_out_documents
  out
}

# The length of each document: its number of tokens (for counts) or rows.
document_lengths <- function(data, obs) {
  if (is_spooled(data)) {
    return(data$lengths %||% diff(data$starts))
  }
  if (!obs_facts(obs)$counts_tokens) {
    return(diff(data$starts))
  }
  total <- c(0, cumsum(data$value))
  diff(total[data$row_start + 1L])
}

# The prior weight of each topic in every document, alpha times E[pi], and last that of all other topics; with
# covariates, averaged over documents.
document_weight <- function(fit) {
  if (has_tilted_topics(fit)) {
    return(average_shares(tilted_document_weights(fit), document_pattern_sizes(fit)))
  }
  k <- fit$model$prior$k
  alpha <- plugged_in(fit$model$prior$alpha)
  if (!is.null(k)) {
    return(c(rep(alpha / k, k), 0))
  }
  u <- fit$state$u
  alpha * c((u * cumprod(c(1, 1 - u))[seq_along(u)])[fit$numbering], prod(1 - u))
}

# The posterior of documents' proportions of the fit's topics, as if no other topics existed: the parameters
# of the Dirichlet distributions (documents x topics), from expected counts. The next function returns the
# means.
document_concentration <- function(fit, counts) {
  if (has_tilted_topics(fit)) {
    weight <- tilted_document_weights(fit)[, seq_len(fit$state$k), drop = FALSE]
    return(as.matrix(counts) + weight[fit$input$document_pattern + 1L, , drop = FALSE])
  }
  weight <- document_weight(fit)[seq_len(fit$state$k)]
  as.matrix(counts) + rep(weight, each = nrow(counts))
}

proportions <- function(fit, counts) {
  theta <- document_concentration(fit, counts)
  theta / rowSums(theta)
}

#' @rdname bnp_topics
#' @param object A fit.
#' @return `fitted()`: proportions of the training documents, documents x
#'   topics, rows summing to 1; `NA` for documents that `na_action = "omit"` left out.
#' @export
fitted.bnp_topics <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  for_all_documents(object$input, document_proportions(object))
}

#' @export
as.data.frame.bnp_topics <- function(x, row.names = NULL, optional = FALSE, ...) {
  out <- cluster_table(x, "topic")
  if (!obs_facts(x$model$obs)$counts_tokens) {
    return(cbind(out, as.data.frame.bnp_fit(x)[-seq_along(out)]))
  }
  terms <- top_terms(x, 6)
  out$terms <- ""
  out$terms[in_use(x)] <- vapply(split(terms$term, terms$topic), paste, "", collapse = " ")
  out
}

kept_of_data.bnp_topics <- function(fit, data) {
  out <- counts_by_group(fit, data)
  if (!is.null(fit$model$response)) out$responses <- responses_by_words(replace(fit, "documents", out), data)
  out
}

# Expected numbers of tokens or rows of each topic in each document (or of each cluster at each time), from
# the engine's triplets.
counts_by_group <- function(fit, data) {
  counts <- fit$documents
  list(documents = sparseMatrix(
    i = counts$document, j = counts$topic, x = counts$count, dims = c(length(data$starts) - 1L, fit$state$k),
    dimnames = list(data$group_names, cluster_labels(fit))
  ))
}

row_word.bnp_topics <- function(fit) "document"
unit_word.bnp_topics <- function(fit) "document"
is_of_tokens.bnp_topics <- function(fit) obs_facts(fit$model$obs)$counts_tokens

described_data.bnp_topics <- function(fit) {
  if (!is_of_tokens(fit)) {
    return(NextMethod())
  }
  paste0(described_rows(fit, "document", "document"), " of ", count_of(fit$input$d, "term"))
}

hard_labels.bnp_topics <- function(fit) {
  if (is_of_tokens(fit)) most_probable(document_proportions(fit)) else NextMethod()
}

known_action.bnp_topics <- function(fit, na_action, call) {
  need_documents_with_gaps(check_na_action(na_action, call), fit$model$obs, call)
}
