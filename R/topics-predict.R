#' Topics of new documents
#'
#' Nothing is refitted: the topics stay, and each new document finds its own
#' proportions. Terms are matched by name; terms unseen in training are left
#' out with a warning, empty documents get the prior's proportions.
#'
#' @param object,fit A fit of [bnp_topics()].
#' @param newdata New documents, in any form that [bnp_topics()] takes.
#' @param id The document of each row, as in [bnp_topics()].
#' @param type `"prob"`: proportions, documents x topics, rows summing to 1.
#'   `"class"`: the topic with the largest proportion; `"id"`: its identity, see [cluster_ids()].
#'   `"cluster"`: class and proportions in one data frame, as in [predict.bnp_mixture()].
#' @param na_action As in [bnp_topics()].
#' @param new_data The same as `newdata`, for those who come from tidymodels.
#' @param split What is held out of each document by `heldout_loglik()`:
#'   `"token"`: a share `1 - seen` of the tokens of each word type; `"type"`: all
#'   tokens of a share `1 - seen` of its word types (Hughes, 2016).
#' @param seen The share of a document that its proportions are estimated from.
#' @param inference How proportions are estimated from the seen part.
#'   `"collapsed"`: each token given the expected topics of the others, which
#'   predicts better than the local step of the fit, `"variational"`.
#'   `"predictive"`: as `"collapsed"`, but topics are not taken as known: the
#'   seen tokens also tell about the topics they come from, and a document may
#'   begin a topic of its own (with [prior_hdp()]). This is what the model itself
#'   predicts; compare it only with others that do the same.
#' @param seed A whole number that fixes the split, without a trace in R's own
#'   generator; `NULL` draws it from there.
#' @param per_document Return one value per document?
#' @param ... Must be empty.
#' @return `predict()`: a matrix or an integer vector, named by document; for `type = "cluster"`
#'   a data frame with a row for each document.
#'   `heldout_loglik()`: the average over held-out tokens of log Σ_k
#'   E\[π_dk\] E\[φ_kv\], where π_d is estimated from the seen half and φ
#'   from training; or a data frame with `document`, `tokens` and `loglik` (sum).
#' @references
#' Wallach, H. M., Murray, I., Salakhutdinov, R. and Mimno, D. (2009). Evaluation methods for
#' topic models. *International Conference on Machine Learning* 26.
#'
#' Hughes, M. C. (2016). *Reliable and scalable variational inference for nonparametric
#' mixtures, topics, and sequences*. PhD thesis, Brown University.
#' @seealso [bnp_topics()], [fitted.bnp_topics()]; `vignette("topics")`.
#' @examples
#' odd <- seq(1, nrow(whales$counts), by = 2)
#' fit <- bnp_topics(whales$counts[odd, ], control = bnp_control(seed = 1, max_laps = 15))
#' round(head(predict(fit, whales$counts[-odd, ])), 2)
#' heldout_loglik(fit, whales$counts[-odd, ], seed = 1)
#' @export
predict.bnp_topics <- function(object, newdata = NULL, type = c("prob", "class", "cluster", "id"), id = NULL, ...,
                               new_data = NULL, na_action = c("fail", "omit")) {
  check_no_dots(...)
  na_action <- check_no_model_of_missing(na_action)
  type <- check_choice(type, c("prob", "class", "cluster", "id"), "type")
  newdata <- one_newdata(newdata, new_data)
  prob <- if (is.null(newdata)) {
    fitted(object)
  } else {
    data <- new_documents(object, newdata, id, na_action = na_action)
    for_all_documents(data, proportions(object, document_counts(object, data)))
  }
  if (type == "prob") {
    return(prob)
  }
  main <- most_probable(prob)
  if (type == "id") {
    return(with_ids(object, main))
  }
  if (type == "cluster") cluster_predictions(main, prob) else main
}

new_documents <- function(fit, newdata, id = NULL, call = rlang::caller_env(), arg = "newdata", na_action = NULL) {
  check_format(fit, call)
  obs <- fit$model$obs
  if (is.data.frame(newdata) && is_term_frame(newdata) && obs_entry(obs)$counts_tokens) {
    newdata <- term_frame_to_sparse(newdata, arg, call)
  }
  split <- if (is.null(id)) list(x = newdata) else take_id(newdata, id, arg, call)
  newdata <- select_columns(split$x, fit, call, arg)
  na_action <- na_action %||% fit$input$na_action
  check_reach(as_documents(newdata, obs, split$id, arg, allow_no_rows = TRUE, call, na_action), obs, call, arg)
}

# Expected tokens (or rows) of each topic in each document.
document_counts <- function(fit, data) {
  k <- fit$state$k
  names <- list(data$group_names, as.character(seq_len(k)))
  if (data$n == 0L) {
    return(matrix(0, length(data$starts) - 1L, k, dimnames = names))
  }
  resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  resp <- resp[, fit$numbering, drop = FALSE]
  counts <- if (obs_entry(fit$model$obs)$counts_tokens) {
    resp * document_lengths(data, fit$model$obs)
  } else {
    document <- rep(seq_len(length(data$starts) - 1L), diff(data$starts))
    unname(rowsum(resp, factor(document, seq_len(length(data$starts) - 1L)), reorder = TRUE))
  }
  dimnames(counts) <- names
  counts
}

#' @rdname predict.bnp_topics
#' @export
heldout_loglik.bnp_topics <- function(fit, newdata, split = c("token", "type"), seen = 0.5,
                                      inference = c("collapsed", "variational", "predictive"), seed = NULL,
                                      per_document = FALSE, id = NULL, ..., na_action = c("fail", "omit")) {
  check_no_dots(...)
  na_action <- check_no_model_of_missing(na_action)
  check_format(fit)
  need_data(missing(newdata), "newdata")
  check_flag(per_document, "per_document")
  split <- check_choice(split, c("token", "type"), "split")
  inference <- check_choice(inference, c("collapsed", "variational", "predictive"), "inference")
  seen <- check_number(seen, "seen")
  if (seen >= 1) {
    abort("argument", "{.arg seen} must be below 1, not {seen}.")
  }
  model <- obs_entry(fit$model$obs)
  if (!model$counts_tokens) {
    abort("argument", "{.fn heldout_loglik} completes documents of counts; this fit has {.fn {model$constructor}}.")
  }
  data <- new_documents(fit, newdata, id, na_action = na_action)
  halves <- with_seed(seed, complete_split(data, split, seen))
  entry <- halves$held
  loglik <- entry$n * log(completion_probability(fit, halves, inference))
  if (!per_document) {
    if (!length(loglik)) {
      abort("no_tokens", c(
        "No token of {.arg newdata} is held out.", i = "Give more or longer documents, or a smaller {.arg seen}."
      ))
    }
    return(sum(loglik) / sum(entry$n))
  }
  by <- factor(entry$document, seq_len(data$n))
  data.frame(
    document = data$group_names %||% seq_len(data$n),
    tokens = as.double(tapply(entry$n, by, sum, default = 0)),
    loglik = as.double(tapply(loglik, by, sum, default = 0))
  )
}

# E[p(term)] of each held-out entry. HDP fits have a last topic, not seen yet, at its prior.
completion_probability <- function(fit, halves, inference) {
  prior <- fit$model$obs$term_prior
  concentration <- rbind(posterior_params(fit)$concentration, prior)
  weight <- document_weight(fit)
  if (weight[length(weight)] == 0) {
    concentration <- concentration[-length(weight), , drop = FALSE]
    weight <- weight[-length(weight)]
  }
  entry <- halves$held
  seen <- as_engine_data(halves$seen)
  if (!length(entry$n)) {
    return(numeric())
  }
  if (inference == "predictive") {
    held <- seen
    held$row_start <- c(0L, cumsum(tabulate(entry$document, seen$n)))
    held$column <- entry$term - 1L
    held$value <- entry$n
    return(engine_predictive_probabilities(seen, held, concentration, weight, fit$control$threads))
  }
  phi <- concentration / rowSums(concentration)
  theta <- if (inference == "collapsed") {
    engine_collapsed_proportions(seen, phi, weight, fit$control$threads)
  } else {
    counts <- document_counts(fit, halves$seen)
    theta <- cbind(counts, if (length(weight) > ncol(counts)) 0) + rep(weight, each = nrow(counts))
    theta / rowSums(theta)
  }
  prob <- numeric(length(entry$n))
  for (at in split_blocks(length(prob))) {
    prob[at] <- rowSums(theta[entry$document[at], , drop = FALSE] * t(phi[, entry$term[at], drop = FALSE]))
  }
  prob
}

split_blocks <- function(n, size = 20000L) {
  split(seq_len(n), (seq_len(n) - 1L) %/% size)
}

# The seen part as documents, the held-out part as (document, term, n).
complete_split <- function(data, split, seen) {
  document <- rep(seq_len(data$n), diff(data$row_start))
  n <- data$value
  kept <- if (split == "token") {
    expected <- seen * n
    floor(expected) + (stats::runif(length(n)) < expected - floor(expected))
  } else {
    order <- order(document, stats::runif(length(n)))
    rank <- integer(length(n))
    rank[order] <- seq_along(n) - data$row_start[document[order]]
    ifelse(rank <= round(seen * diff(data$row_start)[document]), n, 0)
  }
  part <- data
  used <- kept > 0
  part$row_start <- c(0L, cumsum(tabulate(document[used], data$n)))
  part$column <- data$column[used]
  part$value <- kept[used]
  held <- n > kept
  list(
    seen = part,
    held = list(document = document[held], term = data$column[held] + 1L, n = (n - kept)[held])
  )
}

# Evaluates `expr` with its own seed, leaving R's generator as it was.
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
