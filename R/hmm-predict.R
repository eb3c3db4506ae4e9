#' States and densities of new sequences
#'
#' Nothing is refitted. Columns are matched by name if both the training data and `newdata` have names.
#'
#' @param object,fit A fit of [bnp_hmm()].
#' @param newdata New sequences, in any form that [bnp_hmm()] takes, or a source ([source_files()]). Without `newdata`,
#'   `type = "class"` gives the path of the training data. `"prob"`, `"responsibility"` and `"marginal"` then give their
#'   probabilities, if the fit keeps its data ([strip_data()]) or the probabilities
#'   (`bnp_control(keep = "probabilities")`).
#' @param id The sequence of each row of `newdata`, as in [bnp_hmm()]; default: the column that the fit used, if any.
#' @param type What `predict()` returns:
#'   * `"class"`: the most probable path of each sequence (Viterbi) in the variational posterior, an integer per row, as
#'     in [fitted()], [segments()] and [augment()].
#'   * `"id"`: the identities of the states of this path, see [cluster_ids()].
#'   * `"label"` and `"label_prob"`, for fits with known `labels`: the most probable class of each row (`NA` if states
#'     of no class are more probable), and a matrix (rows x classes) of probabilities.
#'   * `"sequence_label"` and `"sequence_label_prob"`, for fits with `sequence_labels`: the same for whole sequences.
#'   * `"marginal"`: the most probable state of each row by itself, by `"prob"`.
#'   * `"prob"`: a matrix (rows x states) of the probability of each state given the whole sequence.
#'   * `"responsibility"`: such a matrix of the fit's own q(z); see *What the probabilities are*.
#'   * `"logdensity"`: the log density of each row given the rows before it, under the posterior mean of the transitions
#'     and the posterior predictive of each state (including a state not seen yet, if the prior allows more). The sum
#'     over a sequence is the log probability of the sequence. `NA` in the first `lag` rows of an autoregression. For
#'     trees there is one number for each tree, or for all trees of an `id` together.
#'   * `"cluster"`: the states of `"class"` and the probabilities of `"prob"` in one data frame, as in
#'     [predict.bnp_mixture()].
#'   * `"impute"`: missing values are replaced as in [predict.bnp_mixture()], given the whole sequence.
#'   * `"response"`, for [obs_regression()]: the expected response of each row given its covariates and the rows before
#'     it.
#'
#'   If `newdata` does not have the response of a regression, the probabilities of states follow from the transitions
#'   alone.
#'
#'   For `heldout_loglik()`, `type` is `"completion"`, the densities of `"logdensity"`, or `"plugin"`, the same with the
#'   density of each state at point estimates of its parameters, as in [predict.bnp_mixture()], and without states that
#'   the fit has not found.
#' @param write If `newdata` is a source: where results are written, as in [predict.bnp_mixture()].
#' @param new_data The same as `newdata`, by the name that tidymodels uses.
#' @inheritParams missing_values
#' @param labels Known states of the rows of `newdata`, in the forms of `labels` of [bnp_hmm()]; they must be classes of
#'   the fit.
#' @param covariates For fits with [prior_covariates()]: a data frame of the covariates of the rows of `newdata`, or a
#'   list with such a data frame for each sequence. Needed unless `newdata` has these columns, or is the training data.
#' @param parent,position For fits of trees: the trees of `newdata`, as in [bnp_hmm()]. By default they are read from
#'   the columns of `newdata` that the fit used. Without such a column of parents, `newdata` must have as many rows as
#'   the fit, and gets the fit's trees. Fits with `position` need positions where parents are given; with
#'   `position = TRUE` the children are numbered in their order.
#' @param n.ahead,h The number of rows to forecast (at most 100,000) after the last row of each sequence of `newdata`.
#'   `forecast(fit, newdata, h)`, the generic of the package generics, is the same.
#' @param ... Must be empty; for `forecast()`, further arguments of `predict()`.
#' @return `predict()`: a vector or matrix with one entry or row per row of `newdata`. With `n.ahead`, a data frame with
#'   one row for each sequence and step ahead: `id`, `step`, `time` (if the times of the sequences are equally far
#'   apart), `state`, the most probable state, `prob.<state>`, and `mean.<column>` and `sd.<column>` of the observation,
#'   see [plot.bnp_forecast()].
#'
#'   `heldout_loglik()`: the mean log density of a row.
#'
#'   `residuals()`: a matrix of the shape of the data with one-step-ahead pseudo-residuals, which are normal quantiles
#'   of each value's predictive probability given the rows before it: standard normal if the model is right. A residual
#'   that is too extreme for double precision (above 8.21 or below -38.5) is set to that limit, and a message says how
#'   many are. Missing cells have none, nor have angles of pi and -pi, where the circle is cut. Only for
#'   `r maker_links(makers_that_can("predictive_cdf"))` and [obs_lds()].
#' @section Linear systems: For fits with [obs_lds()], the density of a row given the rows before it, and
#'   pseudo-residuals,
#'   come from [bnp_filter()] at the posterior means of the parameters, with 100 particles and `seed = 1`; the estimate
#'   of the density of a sequence is unbiased. `"completion"` and `"plugin"` are the same.
#' @section What the probabilities are: There are two kinds.
#'
#' `type = "prob"` is the probability of each state given all rows of the sequence or tree, under the posterior means of
#' the transitions and the posterior predictive of each state. [bnp_filter()] has the same probabilities given the rows
#' up to each one, so that the two agree in the last row of a sequence, except that `"prob"` leaves out the state not in
#' use (its probabilities are given that the row's state is one of the fit's). `"marginal"`, `"impute"` and [impute()]
#' use these probabilities.
#'
#' `type = "responsibility"` is the distribution of the row's state in the variational posterior, computed from expected
#' logarithms. [cluster_sizes()] (sums of it), the paths of `type = "class"` and [fitted()], [segments()] and their
#' `prob`, [augment()], [coclustering()] and the bound use it.
#'
#' For fits with [obs_lds()] both are q(z): the posterior predictive would be a sum over all histories of modes, which
#' [bnp_filter()] approximates (`filter_probs(f, "smoothed")`).
#' @section Forecasts:
#'   * State probabilities are those given all rows of a sequence, carried forward by [transition_matrix()] at the
#'     posterior mean of the transitions, given that no other states exist.
#'   * Means and standard deviations are exact for the mixture over states of the posterior predictive of each state, so
#'     that they include the uncertainty about its parameters.
#'   * For [obs_ar()] they are exact for the process that switches between autoregressions with parameters at their
#'     posterior means; the uncertainty about these parameters is left out.
#'   * For [obs_regression()] the covariates of later rows are needed, and `n.ahead` is refused. Instead, rows with `NA`
#'     as response at the end of `newdata` are forecast, by `type = "response"`, or by `type = "impute"` with standard
#'     deviations.
#'   * Counts are forecast for the average total or exposure of the training data.
#'   * A standard deviation is `Inf` if the predictive of a state has no finite variance, because the state has too few
#'     rows.
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
#' predict(fit, beaver2["temp"], n.ahead = 3)
#' @export
predict.bnp_hmm <- function(object, newdata = NULL, id = NULL,
                            type = c(
                              "class", "marginal", "prob", "logdensity", "cluster", "response", "impute", "id",
                              "responsibility", "label", "label_prob", "sequence_label", "sequence_label_prob"
                            ),
                            n.ahead = NULL, ..., new_data = NULL, na_action = NULL,
                            parent = NULL, position = NULL, write = NULL, labels = NULL, covariates = NULL) {
  check_no_dots(...)
  check_format(object)
  if (!is.null(covariates)) only_with_covariates(object, rlang::current_env())
  na_action <- action_of_fit(object, na_action)
  if (!is.null(new_data)) newdata <- one_newdata(newdata, new_data)
  if (!missing(id) || !missing(labels)) read_arguments(rlang::enquos(id = id, labels = labels), newdata, "newdata")
  if (inherits(newdata, "bnp_source")) {
    given <- list(forecast = n.ahead, parent = parent, position = position)
    require_abilities(kinds_of_form("source", "sequences"), given, rlang::current_env())
    return(predict_source(object, newdata, id, write, function(x, id) {
      predict(object, x, !!id, type, na_action = na_action)
    }))
  }
  if (!is.null(write)) refuse_write(write)
  if (!is.null(position)) parent <- with_position(parent, position)
  if (!is.null(n.ahead)) {
    require_ability(object, "forecast")
    h <- check_steps(n.ahead, "n.ahead")
    if (!missing(type)) abort("argument", "{.arg type} has no meaning with {.arg n.ahead}: leave it out.")
    newdata <- data_or_kept(newdata, object, "newdata")
    data <- as_new_sequences(object, newdata, id, na_action = na_action)
    if (data$n == 0L) abort("no_rows", "{.arg newdata} has no rows to forecast from.")
    return(forecast_of_fit(object, data, h))
  }
  type <- if (missing(type)) "class" else check_choice(type, eval(formals()$type), "type")
  if (!is.null(labels)) need_new_rows(object, newdata, type)
  if (type %in% c("label", "label_prob")) {
    return(state_label_answer(object, newdata, type, id, na_action, parent, labels, covariates))
  }
  if (type == "id") {
    return(with_ids(
      object, predict(object, newdata, !!id, na_action = na_action, parent = parent, covariates = covariates)
    ))
  }
  if (type == "impute") require_ability(object, "impute")
  if (type == "response") require_ability(object, "expected_response")
  if (type == "impute") {
    newdata <- data_or_kept(newdata, object, "newdata")
    data <- as_new_sequences(object, newdata, id, na_action = "model", covariates = covariates)
    return(expected_values(object, if (is_internal(newdata)) table_of_kept(object, data) else newdata, data))
  }
  if (type == "cluster") {
    of_type <- function(type) {
      predict(object, newdata, !!id, type, na_action = na_action, parent = parent, covariates = covariates)
    }
    return(cluster_predictions(unname(of_type("class")), of_type("prob")))
  }
  if (type == "response") {
    return(response_ahead(object, newdata, id, na_action, covariates))
  }
  if (is.null(newdata)) {
    return(training_answer(object, type))
  }
  if (!is.null(object$model$obs$responses) && type != "logdensity" && lacks_response(object, newdata)) {
    newdata <- with_unknown_response(object, newdata)
    na_action <- "model"
  }
  if (!is.null(labels)) {
    class <- split_argument(newdata, labels, "labels", rlang::current_env())
    newdata <- class$x
  }
  data <- if (inherits(newdata, "bnp_data")) newdata else rows_of_sequences(
    object, newdata, id, rlang::current_env(), "newdata", na_action, parent, "predict", covariates
  )
  if (!is.null(labels)) data <- with_new_labels(data, class$value, object, rlang::current_env())
  if (startsWith(type, "sequence_label")) {
    return(sequence_label_answer(object, data, type, rlang::current_env()))
  }
  if (type == "logdensity" && has_trees(data)) {
    return(tree_log_density(object, data))
  }
  named <- function(x) stats::setNames(x, data$row_names)
  out <- switch(type,
    class = named(viterbi_path(object, data)),
    marginal = most_probable(state_probabilities(object, data)),
    prob = state_probabilities(object, data),
    responsibility = state_responsibilities(object, data),
    logdensity = named(log_densities_ahead(object, data))
  )
  if (is.null(data$left_out)) out else for_all_rows(data, out)
}

# The log density of each tree of the data or, if trees share an id, of the trees of each id together.
tree_log_density <- function(fit, data, plugin = FALSE) {
  fit <- fit_with_gaps(fit, data)
  density <- engine_tree_log_density(as_engine_data(data), fit$model, fit$state, plugin, fit$control$threads)
  stats::setNames(density, data$group_names)
}

log_densities_ahead.bnp_hmm <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) {
  one_step_ahead(fit, data, plugin)$log_density
}

one_step_ahead <- function(fit, data, plugin = FALSE) {
  if (data$n == 0L) {
    return(list(log_density = numeric(), prob = matrix(0, 0L, fit$state$k)))
  }
  fit <- fit_with_gaps(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  ahead <- engine_filter_states(as_engine_data(data), fit$model, fit$state, NULL, plugin, fit$control$threads)
  ahead$prob <- ahead$prob[, engine_index(fit, ncol(ahead$prob)), drop = FALSE]
  ahead
}

# Reads new sequences, which the user gave as `arg`, into the internal form with the columns of the training
# data. Data of zero rows have no sequences. use: as in as_sequence_data().
as_new_sequences <- function(fit, newdata, id, call = rlang::caller_env(), arg = "newdata", na_action = NULL,
                             parent = NULL, use = "predict", covariates = NULL) {
  check_format(fit, call)
  if (inherits(newdata, "bnp_data")) {
    return(newdata)
  }
  rows_of_sequences(fit, newdata, id, call, arg, na_action, parent, use, covariates)
}

read_rows.bnp_hmm <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL, covariates = NULL) {
  as_new_sequences(fit, newdata, id, call, arg, na_action, covariates = covariates)
}

# Reads new sequences like as_new_sequences(), for any object with `model$obs` and `input` like a fit's, if
# there are rows. alone: whether to leave out covariates of transitions.
rows_of_sequences <- function(fit, newdata, id, call, arg, na_action, parent, use, covariates = NULL, alone = FALSE) {
  if (inherits(fit$model$prior, "bnp_prior_covariates") && !alone) {
    data <- rows_of_sequences(fit, newdata, id, call, arg, na_action, parent, use, alone = TRUE)
    return(with_sequence_patterns(fit, data, covariates, newdata, arg, call))
  }
  arg <- arg_of_table(arg, newdata)
  read <- function(x, id) {
    data <- as_sequence_data(x, obs, id, arg, call, na_action, use, parent)
    check_reach(data, obs, call, arg)
  }
  obs <- fit$model$obs
  na_action <- na_action %||% fit$input$na_action
  if (obs_facts(obs)$hidden && !identical(na_action, "keep")) na_action <- "model"
  divided <- list(id, parent, fit$input$id_column, fit$input$back)
  as_it_is <- is.null(fit$input$terms) && all(vapply(divided, is.null, NA))
  if (as_it_is && length(dim(newdata)) == 2L && nrow(newdata) > 0L) {
    return(read(select_columns(newdata, fit, call, arg, na_action), NULL))
  }
  refuse_files(newdata, arg, call)
  id <- id_column(id, call)
  trees <- new_trees(fit, newdata, parent, arg, call)
  newdata <- trees$x
  parent <- trees$parent
  column <- id %||% fit$input$id_column
  if (is.character(column) && length(column) == 1L && !column %in% colnames(newdata)) column <- id
  if (is.list(newdata) && !is.data.frame(newdata) && !inherits(newdata, "simple_triplet_matrix")) {
    newdata <- lapply(newdata, function(x) select_columns(variables_of(fit, x, arg, call), fit, call, arg))
    return(read(newdata, id))
  }
  if (is.null(fit$input$terms) && (stats::is.ts(newdata) || is_indexed(newdata))) {
    newdata <- select_columns(newdata, fit, call, arg, na_action)
    return(read(newdata, NULL))
  }
  if (NROW(newdata) == 0L) {
    return(as_newdata(fit, newdata, call, arg, na_action))
  }
  if (is.character(column) && length(column) == 1L) {
    split <- take_id(newdata, column, arg, call)
    if (is.null(fit$input$terms)) newdata <- split$x # a formula may also use the column
    # The sequence of each row. The text in `id` is a label here, no longer the name of a column.
    column <- label_factor(split$id, "id", call)
  }
  newdata <- select_columns(variables_of(fit, newdata, arg, call, na_action), fit, call, arg, na_action)
  read(newdata, column)
}

#' @rdname predict.bnp_hmm
#' @export
forecast.bnp_hmm <- function(object, newdata, h = 1L, id = NULL, ...) {
  if (missing(h) && !missing(newdata)) tell_of_one_value(newdata)
  newdata <- data_or_kept(if (!missing(newdata)) newdata, object, "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  h <- check_steps(h, "h")
  predict(object, newdata, !!id, n.ahead = h, ...)
}

# Says that a single number is new data, and not the number of rows to forecast.
tell_of_one_value <- function(newdata) {
  if (is.numeric(newdata) && is.null(dim(newdata)) && length(newdata) == 1L) {
    cli::cli_inform(c(
      "{newdata} is taken as a new sequence of one row.", i = "{.code h = {newdata}} is the number of rows to forecast."
    ), class = c("bnpvi_message_one_value", "bnpvi_message"))
  }
}

#' @rdname predict.bnp_hmm
#' @export
heldout_loglik.bnp_hmm <- function(fit, newdata, id = NULL, type = c("completion", "plugin"), ...,
                                   na_action = NULL, parent = NULL,
                                   position = NULL, covariates = NULL) {
  check_no_dots(...)
  if (!is.null(covariates)) only_with_covariates(fit, rlang::current_env())
  plugin <- is_plugin(type)
  need_data(missing(newdata), "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  if (inherits(newdata, "bnp_source")) {
    given <- list(parent = parent, position = position)
    require_abilities(kinds_of_form("source", "sequences"), given, rlang::current_env())
    na_action <- action_of_fit(fit, na_action)
    return(mean_over_source(fit, newdata, id, function(x, id) {
      data <- as_new_sequences(fit, x, id, na_action = na_action)
      log_densities_ahead(fit, data, plugin)[has_values(data, modelled_columns(data, fit$model$obs))]
    }))
  }
  parent <- with_position(parent, position)
  data <- as_new_sequences(
    fit, newdata, id, na_action = action_of_fit(fit, na_action), parent = parent, covariates = covariates
  )
  if (has_trees(data)) {
    counted <- sum(has_values(data, modelled_columns(data, fit$model$obs)))
    return(mean_loglik(rep(sum(tree_log_density(fit, data, plugin)) / counted, counted)))
  }
  density <- log_densities_ahead(fit, data, plugin)
  mean_loglik(density[has_values(data, modelled_columns(data, fit$model$obs))])
}

#' @rdname predict.bnp_hmm
#' @export
residuals.bnp_hmm <- function(object, newdata, id = NULL, covariates = NULL, ...) {
  check_no_dots(...)
  check_able(object, "residuals", "object")
  if (!is.null(covariates)) only_with_covariates(object, rlang::current_env())
  obs <- object$model$obs
  if (is_glm(obs)) {
    return(residuals_of_choices(object, newdata, id, covariates, rlang::current_env()))
  }
  if (!obs_can(obs, "predictive_cdf")) {
    makers <- makers_that_can("predictive_cdf")
    abort("argument", "Pseudo-residuals need {.or {.fn {makers}}}, not {.fn {obs_facts(obs)$constructor}}.")
  }
  newdata <- data_or_kept(if (!missing(newdata)) newdata, object, "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  data <- as_new_sequences(object, newdata, id, covariates = covariates)
  ahead <- one_step_ahead(object, data)$prob
  parameters <- clusters_with_new(object)
  modelled <- modelled_columns(data, obs)
  lower <- matrix(0, data$n, length(modelled))
  for (k in seq_len(ncol(ahead))) {
    lower <- lower + ahead[, k] * obs_predictive_cdf(obs, parameters[[k]], data)
  }
  colnames(lower) <- data$column_names[modelled]
  rownames(lower) <- data$row_names
  for_all_rows(data, normal_scores(lower))
}
