#' Clusters and densities of new observations
#'
#' Nothing is refitted. Columns are matched by name when both the training data
#' and `newdata` have names; further columns are left out.
#'
#' @param object,fit A fit of [bnp_mixture()].
#' @param newdata New observations, in any form that [bnp_mixture()] takes (a
#'   data frame when the fit used a formula); zero rows are fine. Without
#'   `newdata`, `type = "class"` gives the clusters of the training data.
#' @param type `"class"`: the most probable cluster, an integer. `"prob"`: a
#'   matrix with one row per observation and one column per cluster, rows
#'   summing to 1. `"logdensity"`: log density of the posterior predictive
#'   mixture (Student-t, Dirichlet-multinomial, Beta-Bernoulli or negative
#'   binomial components; for a Dirichlet process the weight of clusters not seen
#'   yet goes to the prior predictive). `NA` in the first `lag` rows of an autoregression.
#' @param ... Must be empty.
#' @return `predict()`: a vector or matrix, named by the rows of `newdata`.
#'   `heldout_loglik()`: the mean log predictive density of an observation.
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#' @seealso [bnp_mixture()], [tidiers] for [augment()]; `vignette("judging-a-fit")`.
#' @examples
#' odd <- seq(1, nrow(faithful), by = 2)
#' fit <- bnp_mixture(faithful[odd, ], control = bnp_control(seed = 1))
#' table(predict(fit, faithful[-odd, ]))
#' heldout_loglik(fit, faithful[-odd, ])
#' @export
predict.bnp_mixture <- function(object, newdata = NULL, type = c("class", "prob", "logdensity"), ...) {
  check_no_dots(...)
  type <- check_choice(type, c("class", "prob", "logdensity"), "type")
  if (is.null(newdata)) {
    return(training_labels(object, type))
  }
  data <- as_newdata(object, newdata)
  if (type == "logdensity") {
    return(stats::setNames(log_predictive(object, data), data$row_names))
  }
  prob <- state_probabilities(object, data)
  if (type == "prob") {
    return(prob)
  }
  stats::setNames(max.col(prob, ties.method = "first"), data$row_names)
}

need_data <- function(missing, arg, call = rlang::caller_env()) {
  if (missing) abort("newdata", c("{.arg {arg}} is needed.", i = "A fit does not keep its data: give them."), call = call)
}

# All that a fit knows without `newdata`.
training_labels <- function(fit, type, call = rlang::caller_env()) {
  if (type != "class") {
    abort("newdata", c(
      "{.arg newdata} is needed for {.code type = \"{type}\"}.",
      i = "A fit does not keep its data: give them again."
    ), call = call)
  }
  fitted(fit)
}

log_predictive <- function(fit, data) {
  if (data$n == 0L) {
    return(numeric())
  }
  engine_log_predictive(as_engine_data(data), fit$model, fit$state, fit$control$threads)
}

responsibilities <- function(fit, data) {
  prob <- if (data$n == 0L) {
    matrix(0, 0L, fit$state$k)
  } else {
    resp <- engine_responsibilities(as_engine_data(data), fit$model, fit$state, fit$control$threads)
    resp[, fit$numbering, drop = FALSE]
  }
  dimnames(prob) <- list(data$row_names, seq_len(ncol(prob)))
  prob
}

#' @rdname predict.bnp_mixture
#' @export
heldout_loglik <- function(fit, newdata, ...) {
  UseMethod("heldout_loglik")
}

#' @rdname predict.bnp_mixture
#' @export
heldout_loglik.bnp_mixture <- function(fit, newdata, ...) {
  check_no_dots(...)
  need_data(missing(newdata), "newdata")
  mean(log_predictive(fit, as_newdata(fit, newdata)), na.rm = TRUE)
}
