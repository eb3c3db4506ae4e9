# Truncation-free learning (batch by batch) of topics, of counts and of rows: what differs from mixtures
# (R/truncation-free.R).

no_topics_yet <- function(prior) {
  concentration <- starting_concentration(prior)
  list(
    t = numeric(), tables = numeric(), id = numeric(), born_at = numeric(), last_seen = numeric(), lasting = logical(),
    next_id = 1, batches = 0, seen = 0, untended = 0,
    gamma = if (is.null(prior$k)) concentration[["gamma"]] else 1, alpha = concentration[["alpha"]],
    alpha_evidence = c(0, 0), recent = list(
      length = integer(), mass = numeric(), word = integer(), topic = integer(), tables = integer(), phi = numeric()
    )
  )
}

# Starts a stream from a fit by another algorithm, whose topics keep their full weight. A stream needs the
# numbers of tables (of a Chinese restaurant franchise). For n observations of topic k in a document the
# expected number is sum_{i < n} a / (a + i), with a = alpha pi_k. Since the counts n of a fit are
# expectations, not whole numbers, a (psi(a + n) - psi(a)) takes the place of the sum (psi: digamma).
stream_of_fit.bnp_topics <- function(fit) {
  state <- fit$state$obs[fit$numbering, , drop = FALSE]
  used <- which(state[, 1L] > 0)
  weight <- document_weight(fit)[used]
  counts <- Matrix::summary(fit$documents[, used, drop = FALSE])
  a <- weight[counts$j]
  tables <- rowsum(a * (digamma(a + counts$x) - digamma(a)), factor(counts$j, seq_along(used)), reorder = TRUE)
  n <- if (obs_facts(fit$model$obs)$counts_tokens) as.double(nobs(fit)) else as.double(nrow(fit$documents))
  learned <- learned_concentrations(fit)
  begun <- no_topics_yet(fit$model$prior)
  utils::modifyList(begun, list(
    t = as.vector(t(state[used, , drop = FALSE])), tables = pmax(as.vector(tables), 1e-10),
    id = as.double(cluster_ids(fit)[used]), born_at = rep(n, length(used)), last_seen = rep(n, length(used)),
    lasting = rep(TRUE, length(used)), next_id = max(cluster_history(fit)$id, 0) + 1, seen = n,
    gamma = if (is.null(learned$gamma)) begun$gamma else learned$gamma[["mean"]],
    alpha = as.double(plugged_in(fit$model$prior$alpha)[[1L]])
  ))
}

#' @rdname bnp_stream
#' @export
bnp_topics.bnp_stream <- function(x, obs = obs_multinomial(), prior = prior_hdp(),
                                  control = bnp_control("truncation_free"), start = NULL,
                                  na_action = c("fail", "omit"), new_terms = c("error", "drop"), id = NULL, ...) {
  if (...length()) control <- control_with(control, ...)
  read_arguments(rlang::enquos(id = id), x, "x")
  here <- rlang::current_env()
  new_terms <- check_choice(new_terms, c("error", "drop"), "new_terms")
  na_action <- if (missing(na_action)) action_of_stream(start, NULL) else check_no_model_of_missing(na_action)
  fit_stream("bnp_topics", x, obs, prior, control, start, na_action, rename_call(
    match.call(), "bnp_topics"
  ), here, new_terms, id = check_id_of_stream(id))
}

# Checks `id` for a stream: it must be the name of a column, since the documents of later batches are not
# known yet.
check_id_of_stream <- function(id, call = rlang::caller_env()) {
  id <- id_column(id, call)
  if (is.null(id) || rlang::is_string(id)) {
    return(id)
  }
  abort("id", c(
    "{.arg id} of a stream must be the name of a column that all batches have, not {describe(id)}."
  ), call = call)
}

# The number of documents in a batch, which counts towards the total `n` of a stream.
documents_in <- function(batch, id) {
  if (is_term_frame(batch)) {
    return(length(unique(label_text(batch$document, "document"))))
  }
  if (is.null(id) || !id %in% colnames(batch)) NROW(batch) else length(unique(label_text(take_id(batch, id)$id, "id")))
}

read_batch.bnp_topics <- function(fit, batch, id, call, arg, na_action, new_terms) {
  without_new_terms(read_rows(fit, batch, id, call, arg, na_action), new_terms, call, arg)
}

stream_engine.bnp_topics <- function(fit) engine_topic_stream
