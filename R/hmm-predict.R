#' States and densities of new sequences
#'
#' Nothing is refitted. Columns are matched by name when both the training data
#' and `newdata` have names.
#'
#' @param object,fit A fit of [bnp_hmm()].
#' @param newdata New sequences, in any form that [bnp_hmm()] takes. Without
#'   `newdata`, `type = "class"` gives the path of the training data.
#' @param id As in [bnp_hmm()]; default, the column that the fit used, if any.
#' @param type `"class"`: the most probable path of each sequence (Viterbi), an
#'   integer per row. `"marginal"`: the most probable state of each row by
#'   itself. `"prob"`: a matrix, rows x states, of the probability of each
#'   state given the whole sequence. `"logdensity"`: log density of each row
#'   given the rows before it, under the posterior mean of the transitions and
#'   the posterior predictive of each state (a state not seen yet included,
#'   when the prior allows more); summed over a sequence, its log probability.
#'   It is `NA` in the first `lag` rows of an autoregression.
#' @param ... Must be empty.
#' @return `predict()`: a vector or matrix with one entry or row per row of
#'   `newdata`. `heldout_loglik()`: the mean log density of a row.
#'   `residuals()`: a matrix like the data of one-step-ahead pseudo-residuals,
#'   normal quantiles of each value's predictive probability given the rows
#'   before it: standard normal if the model is right. For
#'   `r obs_links(cdf_makers())` only.
#' @references
#' Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech
#' recognition. *Proceedings of the IEEE* 77(2), 257-286.
#'
#' Zucchini, W., MacDonald, I. L. and Langrock, R. (2016). *Hidden Markov models for time
#' series*, 2nd edition. CRC Press; pseudo-residuals in chapter 6.
#' @seealso [bnp_hmm()], [segments()]; `vignette("segmenting-sequences")`.
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' table(predict(fit, beaver2["temp"]))
#' heldout_loglik(fit, beaver2["temp"])
#' @export
predict.bnp_hmm <- function(object, newdata = NULL, id = NULL,
                            type = c("class", "marginal", "prob", "logdensity"), ...) {
  check_no_dots(...)
  type <- check_choice(type, c("class", "marginal", "prob", "logdensity"), "type")
  if (is.null(newdata)) {
    return(training_labels(object, type))
  }
  data <- as_new_sequences(object, newdata, id)
  named <- function(x) stats::setNames(x, data$row_names)
  switch(type,
    class = named(viterbi_path(object, data)),
    marginal = named(max.col(state_probabilities(object, data), ties.method = "first")),
    prob = state_probabilities(object, data),
    logdensity = named(one_step_ahead(object, data)$log_density)
  )
}

one_step_ahead <- function(fit, data) {
  if (data$n == 0L) {
    return(list(log_density = numeric(), prob = matrix(0, 0L, fit$state$k)))
  }
  ahead <- engine_one_step_ahead(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  ahead$prob <- ahead$prob[, engine_index(fit, ncol(ahead$prob)), drop = FALSE]
  ahead
}

# newdata -> internal form with the columns of the training data; zero rows are no sequences.
as_new_sequences <- function(fit, newdata, id, call = rlang::caller_env()) {
  check_format(fit, call)
  obs <- fit$model$obs
  id <- id_column(id, call)
  column <- id %||% fit$input$id_column
  if (is.character(column) && length(column) == 1L && !column %in% colnames(newdata)) column <- id
  if (is.list(newdata) && !is.data.frame(newdata) && !inherits(newdata, "simple_triplet_matrix")) {
    newdata <- lapply(newdata, select_columns, fit, call)
    return(check_reach(as_sequence_data(newdata, obs, id, "newdata", call), obs, call))
  }
  if (stats::is.ts(newdata) || is_indexed(newdata)) {
    newdata <- select_columns(newdata, fit, call)
    return(check_reach(as_sequence_data(newdata, obs, NULL, "newdata", call), obs, call))
  }
  if (NROW(newdata) == 0L) {
    return(as_newdata(fit, newdata, call))
  }
  if (is.character(column) && length(column) == 1L) {
    split <- take_id(newdata, column, "newdata", call)
    newdata <- split$x
    column <- split$id
  }
  check_reach(as_sequence_data(select_columns(newdata, fit, call), obs, column, "newdata", call), obs, call)
}

#' @rdname predict.bnp_hmm
#' @export
heldout_loglik.bnp_hmm <- function(fit, newdata, id = NULL, ...) {
  check_no_dots(...)
  need_data(missing(newdata), "newdata")
  mean(one_step_ahead(fit, as_new_sequences(fit, newdata, id))$log_density, na.rm = TRUE)
}

#' @rdname predict.bnp_hmm
#' @export
residuals.bnp_hmm <- function(object, newdata, id = NULL, ...) {
  check_no_dots(...)
  obs <- object$model$obs
  entry <- obs_entry(obs)
  if (is.null(entry$predictive_cdf)) {
    makers <- cdf_makers()
    abort("argument", "Pseudo-residuals need {.or {.fn {makers}}}, not {.fn {entry$constructor}}.")
  }
  need_data(missing(newdata), "newdata")
  data <- as_new_sequences(object, newdata, id)
  ahead <- one_step_ahead(object, data)$prob
  # After the states in use may come one for all others, with the prior's parameters.
  parameters <- c(posterior_clusters(object), list(obs))
  lower <- matrix(0, data$n, data$d)
  for (k in seq_len(ncol(ahead))) {
    lower <- lower + ahead[, k] * entry$predictive_cdf(obs, parameters[[k]], data)
  }
  colnames(lower) <- data$column_names
  rownames(lower) <- data$row_names
  stats::qnorm(pmin(lower, 1))
}
