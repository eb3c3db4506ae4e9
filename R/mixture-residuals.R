# Residuals of mixtures of regressions: responses minus their expectations.

#' Residuals of mixtures of regressions
#'
#' Response minus expected response given the covariates, for fits of [bnp_mixture()] by a formula with a response, or
#' with [obs_regression()].
#'
#' @param object A fit of [bnp_mixture()] with [obs_regression()].
#' @param newdata Rows with responses and covariates, usually the training data. Not needed if the fit keeps its data
#'   ([strip_data()]).
#' @param type What is subtracted from the response:
#'   * `"cluster"`: the expectation under the regression of the row's most probable cluster, as given by [augment()] for
#'     the same rows (by q(z), `type = "responsibility"`; for individuals, `id`, their one cluster). These residuals are
#'     smaller than the noise, since the response was used to choose the cluster.
#'   * `"response"`: `predict(object, newdata, type = "response")`, the average over clusters by their weights, which
#'     does not use the response.
#'   * `"individual"`, for fits with random effects: the expectation under the individual's own coefficients in its most
#'     probable cluster, for which the response was used, too.
#' @inheritParams missing_values
#' @param id For fits with `id`: the individual of each row, as in [predict.bnp_mixture()].
#' @param covariates For fits with [prior_covariates()]: the covariates of the rows, as in [predict.bnp_mixture()].
#' @param ... Must be empty.
#' @return One number for each row, with the names of the rows; if there are several responses, a matrix with a column
#'   for each. `NA` in rows that `na_action` left out, and where the response is missing.
#' @references
#' Leisch, F. (2004). FlexMix: a general framework for finite mixture models and latent class regression in R.
#' *Journal of Statistical Software* 11(8), 1-18.
#' @seealso [predict.bnp_hmm()] for pseudo-residuals of sequences; *Regressions and growth curves* on the site.
#' @examples
#' fit <- bnp_mixture(dist ~ speed, cars, control = bnp_control(seed = 1))
#' left <- residuals(fit, cars)
#' plot(cars$speed, left)
#' @export
residuals.bnp_mixture <- function(object, newdata, type = c("cluster", "response", "individual"),
                                  na_action = NULL, id = NULL, covariates = NULL, ...) {
  check_able(object, "residuals", "object")
  check_no_dots(...)
  if (!is.null(covariates)) only_with_covariates(object, rlang::current_env())
  newdata <- data_or_kept(if (!missing(newdata)) newdata, object, "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  type <- check_choice(type, c("cluster", "response", "individual"), "type")
  if (type == "individual") need_effects(object, type, rlang::current_env())
  obs <- object$model$obs
  y <- response_columns(obs)
  data <- as_newdata(object, newdata, na_action = action_of_fit(object, na_action), id = id, covariates = covariates)
  z <- data$x[, -y, drop = FALSE]
  left <- obs_seen_response(obs, data$x) - if (type == "response") {
    average_response(object, z, weights_of_rows(object, data))
  } else if (type == "individual") {
    response_of_individual(object, data, z)
  } else {
    own <- of_rows(data, state_responsibilities(object, with_known(data, object)))
    response_in_cluster(object, z, most_probable(own))
  }
  dimnames(left) <- list(data$row_names, data$column_names[seq_len(ncol(left))])
  left <- for_all_rows(list(left_out = data$left_out), left)
  if (ncol(left) == 1L) stats::setNames(as.vector(left), rownames(left)) else left
}

# Weights of the fit's clusters, which sum to 1, as average_response() takes them: where they depend on covariates,
# a row for each row of the data.
weights_of_rows <- function(fit, data) {
  if (!has_covariates(fit$model$prior)) {
    return(proportion(fit) / sum(proportion(fit)))
  }
  in_known(fit, weights_with_new(fit, data))[data$position + 1L, , drop = FALSE]
}

# The expected responses E[y | z] of rows in their clusters, which are numbers 1 to K: rows x responses. z:
# regressors.
response_in_cluster <- function(fit, z, cluster) {
  out <- NULL
  for (k in unique(cluster)) {
    rows <- cluster == k
    one <- average_response(fit, z[rows, , drop = FALSE], as.double(seq_len(fit$state$k) == k))
    if (is.null(out)) out <- matrix(0, nrow(z), ncol(one))
    out[rows, ] <- one
  }
  out
}

# The expected response of each row in its cluster, for individuals that have coefficients of their own.
response_of_individual <- function(fit, data, z) {
  effects <- individual_effects(fit, individual_sums(fit$model$obs, data))
  cluster <- most_probable(effects$prob)
  at <- fit$model$obs$effects + 1L
  own <- vapply(seq_along(at), function(j) effects$mean[cbind(seq_along(cluster), j, cluster)], double(length(cluster)))
  own <- matrix(own, ncol = length(at))[data$individual, , drop = FALSE]
  cluster <- cluster[data$individual]
  mean <- coef(fit)$coef[1L, at, , drop = FALSE]
  mean <- matrix(mean, length(at))[, cluster, drop = FALSE]
  response_in_cluster(fit, z, cluster) +
    rowSums(with_intercept(z, fit$model$obs)[, at, drop = FALSE] * (own - t(mean)))
}
