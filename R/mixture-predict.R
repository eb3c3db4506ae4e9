#' Clusters and densities of new observations
#'
#' Nothing is refitted. Columns are matched by name if both the training data and `newdata` have names; columns that the
#' fit does not know are ignored.
#'
#' @param object,fit A fit of [bnp_mixture()].
#' @param newdata New observations, in any form that [bnp_mixture()] takes (a data frame if the fit used a formula), or
#'   a source ([source_files()]), which is read piece by piece, so that only one piece is in memory; zero rows are
#'   allowed. Without `newdata`, `type = "class"` gives the clusters of the training data. `type = "prob"` and
#'   `"responsibility"` then give their probabilities, if the fit keeps its data ([strip_data()]) or the probabilities
#'   (`bnp_control(keep = "probabilities")`).
#' @param type What `predict()` returns for each row:
#'   * `"class"`: the most probable cluster by `"prob"`, an integer. Without `newdata` it is that of [fitted()], by
#'     `"responsibility"`.
#'   * `"id"`: the identity of this cluster, see [cluster_ids()].
#'   * `"prob"`: a matrix with one row per observation and one column per cluster; rows sum to 1.
#'   * `"responsibility"`: such a matrix of the fit's own q(z); see *What the probabilities are*.
#'   * `"logdensity"`: the log density of the posterior predictive mixture (Student-t, Dirichlet-multinomial,
#'     Beta-Bernoulli or negative binomial components; for a Dirichlet process the weight of clusters not seen yet goes
#'     to the prior predictive). `NA` in the first `lag` rows of an autoregression. With `id` one number for each
#'     individual, named by the individual: the joint density of its rows.
#'   * `"cluster"`: clusters and probabilities in one data frame.
#'   * `"response"`, for [obs_regression()]: the expected response given the covariates, the average over clusters by
#'     their weights.
#'   * `"individual"`, for fits with random effects ([obs_regression()]): the expected response of each row given the
#'     rows of the same individual in `newdata` that have a response. If there are none, the rows of the individual of
#'     that name in the fit are used; for individuals unknown to the fit it is the same as `"response"`.
#'   * `"effects"`, for fits with random effects: the coefficients of each individual, totals as [coef()] of \pkg{lme4}
#'     gives them; without `newdata` those of the training data.
#'   * `"label"`, for fits with known labels: the most probable class by `"prob"`, a factor; `NA` if clusters of no
#'     class together are more probable. Without `newdata` it is the class of each row's cluster, or, if the fit keeps
#'     its `"responsibility"`, the most probable class by these probabilities, which use the labels.
#'   * `"label_prob"`: a matrix of the probabilities of classes; clusters of no class together have the last column,
#'     `(none)`. For texts with `keywords` and without `labels`, both are of the names of lists, by how often their
#'     keywords occur in the clusters of a text; see *Names by keywords* in [predict.bnp_topics()].
#'   * `"impute"`: `newdata` with missing values replaced by their expectation given the observed values of the row, or,
#'     in columns with levels, by the most probable level. Expectations are averaged over the clusters of the fit by
#'     `"prob"` (a cluster that is not seen yet is left out, as its expectation need not exist). The attribute `sd` is a
#'     matrix of standard deviations (`NA` for values that were not missing, and for levels). See [impute()] for draws.
#'   * `"weights"`, for fits with [prior_covariates()]: the mean weights of clusters given only the covariates in
#'     `newdata` or `covariates`, and in the column `new` the weight of clusters that are not found yet.
#'
#'   If `newdata` lacks the response, the probabilities of clusters are their weights.
#'
#'   For `heldout_loglik()`, `type` is `"completion"`, the densities of `"logdensity"`, or `"plugin"`, the mixture of
#'   the densities at point estimates of the clusters' parameters. These are posterior means as in [coef()] (for
#'   diagonal and spherical variances, one over the mean of the precision), with mean weights that sum to 1 without
#'   clusters not seen yet. `"plugin"` ignores the uncertainty about the parameters; it is the score that articles
#'   report (Wang and Blei, 2012).
#' @inheritParams missing_values
#' @param id For fits with `id` (see *Repeated measures* of [bnp_mixture()]): the individual of each row of `newdata`,
#'   in any of the forms of `id` there. Needed unless `newdata` has the column that named individuals in the fit, or is
#'   the training data. Each individual counts as a new one, whatever its name. Every row gets the result of its
#'   individual, given all rows of that individual.
#' @param time For fits with `time` (see *Clusters over time* of [bnp_mixture()]): the time of each row of `newdata`, in
#'   any of the forms of `time` there. Each must be one of the times of the training data. Needed unless `newdata` has
#'   the column that had the times in the fit, or is the training data.
#' @param covariates For fits with [prior_covariates()]: a data frame of the covariates of the rows of `newdata`. Needed
#'   unless `newdata` has these columns, or is the training data.
#' @param cells For `heldout_loglik()` of fits with `rounding` ([obs_gaussian()]): should the result for each row be the
#'   logarithm of the probability of its rounding cell, divided by the width of the cell, instead of the density at its
#'   value? Available for one column, and for columns that are independent given the cluster and its variances.
#' @param interval For `type = "response"` and `"individual"` of fits with random effects: the probability of an
#'   interval for a new response. The result is then a matrix with columns `fit`, `lower` and `upper`.
#' @param ... Must be empty.
#' @param write If `newdata` is a source: where the results are written, in case they do not fit into memory either. A
#'   function, which is called with the results of a piece and the number of the piece, or the path of a CSV file. The
#'   first columns of the file identify each row: `document`, or `row`, which is its name or its number in the whole
#'   source and follows the sequence or individual if the source was read by one. The number of rows is returned.
#' @param new_data The same as `newdata`, by the name that tidymodels uses.
#' @return `predict()`: a vector or matrix, named by the rows of `newdata`; for `type = "cluster"` a data frame with one
#'   row per row of `newdata`, in the form that metrics of yardstick expect: `.pred_cluster`, a factor with levels
#'   `Cluster_1`, `Cluster_2`, ..., and the probability of each as `.pred_Cluster_1`, ... `heldout_loglik()`: the mean
#'   log predictive density of an observation; with `id` the sum of the log densities of individuals, divided by the
#'   number of all rows.
#' @section What the probabilities are: There are two kinds.
#'
#' `type = "prob"` is the posterior predictive. The probability of a cluster is proportional to its mean weight times
#' the density of the row, averaged over the posterior of the cluster's parameters. The sum of these products, with one
#' more for clusters that are not seen yet, is `exp()` of `type = "logdensity"`; the probabilities are conditional on
#' the row being in a cluster of the fit. If a row has missing cells, or a level that the training data did not have,
#' the probabilities are those given its other cells. `"class"`, `"cluster"`, `"label"`, `"label_prob"`, `"impute"`,
#' [impute()], [bnp_filter()] and the predictions of [bnp_sample()] use these probabilities.
#'
#' `type = "responsibility"` is q(z), the distribution of the row's cluster in the variational posterior, computed from
#' expected logarithms of weights and densities. [fitted()], [cluster_sizes()] (sums of it), [augment()],
#' [coclustering()], [residuals()], the picture `"uncertainty"`, `fit$probabilities` and the bound use it. It is a
#' little nearer to 0 and 1 if clusters are small. It includes the known labels of training data.
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#'
#' Wang, C. and Blei, D. M. (2012). Truncation-free stochastic variational inference for Bayesian nonparametric models.
#' *Advances in Neural Information Processing Systems* 25.
#' @seealso [bnp_mixture()], [tidiers] for [augment()]; `vignette("judging-a-fit")`.
#' @examples
#' odd <- seq(1, nrow(faithful), by = 2)
#' fit <- bnp_mixture(faithful[odd, ], control = bnp_control(seed = 1))
#' table(predict(fit, faithful[-odd, ]))
#' heldout_loglik(fit, faithful[-odd, ])
#' @export
predict.bnp_mixture <- function(object, newdata = NULL, type = c(
                                  "class", "prob", "logdensity", "cluster", "response", "label", "label_prob", "impute",
                                  "id", "responsibility", "weights", "individual", "effects"
                                ), ..., new_data = NULL, na_action = NULL, id = NULL,
                                time = NULL, write = NULL, covariates = NULL, interval = NULL) {
  check_no_dots(...)
  check_format(object)
  na_action <- action_of_fit(object, na_action)
  type <- if (missing(type)) "class" else check_choice(type, eval(formals()$type), "type")
  if (!is.null(new_data)) newdata <- one_newdata(newdata, new_data)
  if (!is.null(interval)) {
    if (!type %in% c("response", "individual")) {
      abort("argument", "{.arg interval} is for {.code type = \"response\"} and {.code \"individual\"}.")
    }
    if (type != "response" || !is_glm(object$model$obs)) need_effects(object, type, rlang::current_env())
    interval <- check_level(interval, "interval")
  }
  if (type %in% c("individual", "effects")) need_effects(object, type, rlang::current_env())
  if (!missing(id) || !missing(time)) read_arguments(rlang::enquos(id = id, time = time), newdata, "newdata")
  if (!is.null(covariates)) only_with_covariates(object, rlang::current_env())
  if (type == "weights") {
    return(weights_at_rows(object, newdata, covariates, rlang::current_env()))
  }
  if (inherits(newdata, "bnp_source")) {
    require_abilities(kinds_of_form("source", "mixture"), list(id = id, time = time), rlang::current_env())
    require_no_covariates(object$model$prior, kinds_of_form("source", "mixture"), rlang::current_env())
    return(predict_source(object, newdata, NULL, write, function(x, id) {
      predict(object, x, type, id = !!id, na_action = na_action, interval = interval)
    }))
  }
  if (!is.null(write)) refuse_write(write)
  if (is.null(newdata) && !is.null(id)) {
    abort("id", c(
      "{.arg id} is for {.arg newdata}.", i = "Leave it out: the individuals of the training data are known."
    ))
  }
  if (is.null(newdata) && !is.null(time)) {
    abort("time", c(
      "{.arg time} is for {.arg newdata}.", i = "Leave it out: the times of the training data are known."
    ))
  }
  if (type == "id") {
    class <- predict(object, newdata, na_action = na_action, id = !!id, time = !!time, covariates = covariates)
    return(with_ids(object, class))
  }
  if (type == "cluster") {
    prob <- predict(
      object, newdata, type = "prob", na_action = na_action, id = !!id, time = !!time, covariates = covariates
    )
    return(cluster_predictions(most_probable(prob), prob))
  }
  if (type %in% c("label", "label_prob")) {
    return(label_answer(object, newdata, type, na_action, id, time, covariates))
  }
  if (type == "effects") {
    return(predicted_effects(object, newdata, id, na_action, rlang::current_env()))
  }
  if (type == "individual" || !is.null(interval)) {
    need_data(is.null(newdata), "newdata")
    if (is_glm(object$model$obs)) {
      return(intervals_of_glm(object, newdata, covariates, interval, rlang::current_env()))
    }
    return(responses_of_individuals(object, newdata, type, id, interval, rlang::current_env()))
  }
  if (type == "response") {
    return(expected_response(object, newdata, covariates))
  }
  if (type == "impute") {
    require_ability(object, "impute")
    newdata <- data_or_kept(newdata, object, "newdata")
    data <- as_newdata(object, newdata, na_action = "model", id = id, covariates = covariates)
    return(expected_values(object, if (is_internal(newdata)) table_of_kept(object, data) else newdata, data))
  }
  if (is.null(newdata)) {
    return(training_answer(object, type))
  }
  if (!is.null(object$model$obs$responses) && type != "logdensity" && lacks_response(object, newdata)) {
    prob <- prior_probabilities(object, newdata, covariates)
    return(if (type == "class") most_probable(prob) else prob)
  }
  data <- as_newdata(object, newdata, na_action = na_action, id = id, time = time, covariates = covariates)
  if (type == "logdensity" && has_individuals(data)) {
    return(stats::setNames(log_predictive(object, data), unit_names(data)))
  }
  if (type == "logdensity") {
    return(for_all_rows(data, stats::setNames(log_predictive(object, data), data$row_names)))
  }
  if (type == "responsibility") {
    return(for_all_rows(data, state_responsibilities(object, data)))
  }
  for_all_rows(data, if (type == "prob") state_probabilities(object, data) else most_probable_states(object, data))
}

# Clusters and their probabilities as a data frame, with the column names that tidymodels uses for
# predictions.
cluster_predictions <- function(cluster, prob) {
  levels <- paste0("Cluster_", seq_len(ncol(prob)))
  probabilities <- as.data.frame(prob, row.names = seq_len(nrow(prob)))
  names(probabilities) <- paste0(".pred_", levels)
  as_tidy(cbind(data.frame(.pred_cluster = factor(levels[cluster], levels)), probabilities))
}

need_data <- function(missing, arg, call = rlang::caller_env(), hint = "There is no default: give the data meant.") {
  if (missing) abort("newdata", c("{.arg {arg}} is needed.", i = hint), call = call)
}

# The result of predict() without `newdata`: what the fit keeps, or computes from the data that it keeps.
training_answer <- function(fit, type, call = rlang::caller_env()) {
  if (type == "class") {
    return(fitted(fit))
  }
  check_format(fit, call)
  kept <- switch(type, responsibility = fit$probabilities, prob = , marginal = fit$predictive)
  if (is.null(kept) && !is.null(fit$data)) {
    return(predict(fit, kept_data(fit), type = type))
  }
  if (is.null(kept)) {
    abort("newdata", c(
      "{.arg newdata} is needed for {.code type = \"{type}\"}.",
      i = "The fit keeps no data: give them again.",
      i = if (type != "logdensity") "{.code bnp_control(keep = \"probabilities\")} keeps those of the training data."
    ), call = call)
  }
  prob <- for_all_rows(fit$input, kept)
  if (type == "marginal") most_probable(prob) else prob
}

# Predicted classes of known labels (type "label") or their probabilities; training rows are predicted given
# their own labels.
label_answer <- function(fit, newdata, type, na_action, id = NULL, time = NULL, covariates = NULL,
                         call = rlang::caller_env()) {
  check_format(fit, call)
  need_labels(fit, type, call)
  if (is.null(newdata) && type == "label" && is.null(fit$probabilities)) {
    cluster <- fitted(fit)
    of_cluster <- most_probable_class(fit, diag(fit$state$k))
    return(stats::setNames(of_cluster[cluster], names(cluster)))
  }
  kind <- if (is.null(newdata)) "responsibility" else "prob" # q(z) knows the labels of the training data
  prob <- predict(
    fit, newdata, type = kind, na_action = na_action, id = !!id, time = !!time, covariates = covariates
  )
  if (type == "label") most_probable_class(fit, prob) else class_probabilities(fit, prob)
}

# The number of the most probable cluster of each row; NA where a row has none.
most_probable <- function(prob) {
  known <- !is.na(prob[, 1L])
  out <- if (all(known)) max.col(prob, ties.method = "first") else {
    replace(rep(NA_integer_, nrow(prob)), known, max.col(prob[known, , drop = FALSE], ties.method = "first"))
  }
  stats::setNames(out, rownames(prob))
}

log_predictive <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) {
  if (data$n == 0L) {
    return(numeric())
  }
  if (plugin && has_weights_by_time(fit)) {
    abort("argument", c(
      "{.code type = \"plugin\"} is not available where clusters have weights by time.",
      i = "{.val completion}, the default, has the exact density of rows."
    ), call = call)
  }
  fit <- fit_with_gaps(fit, data)
  by_pattern <- has_covariates(fit$model$prior) && !is.null(data$position)
  own <- if (has_weights_by_time(fit) || by_pattern) weights_with_new(fit, data)
  if (!is.null(own)) own <- in_engine_order(fit, if (plugin) in_known(fit, own) else own)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  engine_log_predictive(
    as_engine_data(data), fit$model, fit$state, plugin, fit$control$threads, own, if (!is.null(own)) weight_slots(data)
  )
}

#' @rdname predict.bnp_mixture
#' @export
heldout_loglik <- function(fit, newdata, ...) {
  UseMethod("heldout_loglik")
}

#' @export
heldout_loglik.default <- function(fit, newdata, ...) {
  check_able(fit, "heldout_loglik")
}

#' @rdname predict.bnp_mixture
#' @export
heldout_loglik.bnp_mixture <- function(fit, newdata, type = c("completion", "plugin"), ...,
                                       na_action = NULL, id = NULL, time = NULL, cells = FALSE,
                                       covariates = NULL) {
  check_no_dots(...)
  density_of <- density_of_rows(fit, is_plugin(type), check_flag(cells, "cells"))
  need_data(missing(newdata), "newdata")
  read_arguments(rlang::enquos(id = id, time = time), newdata, "newdata")
  if (!is.null(covariates)) only_with_covariates(fit, rlang::current_env())
  if (inherits(newdata, "bnp_source")) {
    require_no_covariates(fit$model$prior, kinds_of_form("source", "mixture"), rlang::current_env())
    require_abilities(kinds_of_form("source", "mixture"), list(id = id, time = time), rlang::current_env())
    na_action <- action_of_fit(fit, na_action)
    return(mean_over_source(fit, newdata, NULL, function(x, id) {
      data <- as_newdata(fit, x, na_action = na_action, id = id)
      density <- density_of(data)
      counted <- has_values(data, modelled_columns(data, fit$model$obs))
      # All rows of an individual together have one density: each row gets an equal share of its logarithm.
      if (has_individuals(data)) rep(sum(density) / sum(counted), sum(counted)) else density[counted]
    }))
  }
  data <- as_newdata(
    fit, newdata, na_action = action_of_fit(fit, na_action), id = id, time = time, covariates = covariates
  )
  density <- density_of(data)
  counted <- has_values(data, modelled_columns(data, fit$model$obs))
  if (has_individuals(data)) mean_loglik(density) * data$n_individuals / sum(counted) else mean_loglik(density[counted])
}

# Makes a function of data that returns the log density of each row, or the log probability of each cell.
density_of_rows <- function(fit, plugin, cells, call = rlang::caller_env()) {
  if (cells && plugin) {
    abort("argument", "{.code cells = TRUE} is for {.code type = \"completion\"}.", call = call)
  }
  function(data) if (cells) log_predictive_of_cells(fit, data, call) else log_predictive(fit, data, plugin, call)
}

# Reads the argument `type` of held-out likelihood for rows, whose densities are exact and need no draws.
is_plugin <- function(type, call = rlang::caller_env()) {
  if (identical(type, "sequential")) {
    abort("argument", c(
      "{.arg type} cannot be {.val sequential} here: it estimates what cannot be summed exactly in documents.",
      i = "{.val completion}, the default, has the exact density of rows."
    ), call = call)
  }
  check_choice(type, c("completion", "plugin"), "type", call) == "plugin"
}

# The mean of the rows' log densities; the first rows of an autoregression have none and are left out.
mean_loglik <- function(loglik, call = rlang::caller_env()) {
  loglik <- loglik[!is.na(loglik)]
  if (!length(loglik)) {
    abort("no_rows", c("{.arg newdata} has no rows.", i = "A mean needs at least one observation."), call = call)
  }
  mean(loglik)
}
