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
#'   before it: standard normal if the model is right. Gaussian and
#'   autoregressive models only.
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
  family <- fit$model$obs$family
  column <- id %||% fit$input$id_column
  if (is.character(column) && length(column) == 1L && !column %in% colnames(newdata)) column <- id
  if (is.list(newdata) && !is.data.frame(newdata) && !inherits(newdata, "simple_triplet_matrix")) {
    newdata <- lapply(newdata, select_columns, fit$input, family, call)
    return(as_sequence_data(newdata, family, id, state_lag(fit), "newdata", call))
  }
  if (stats::is.ts(newdata)) {
    newdata <- select_columns(newdata, fit$input, family, call)
    return(as_sequence_data(newdata, family, NULL, state_lag(fit), "newdata", call))
  }
  if (NROW(newdata) == 0L) {
    return(as_newdata(fit, newdata, family, call))
  }
  if (is.character(column) && length(column) == 1L) {
    split <- take_id(newdata, column, "newdata", call)
    newdata <- split$x
    column <- split$id
  }
  as_sequence_data(select_columns(newdata, fit$input, family, call), family, column, state_lag(fit), "newdata", call)
}

#' @rdname predict.bnp_hmm
#' @export
heldout_loglik.bnp_hmm <- function(fit, newdata, id = NULL, ...) {
  check_no_dots(...)
  mean(one_step_ahead(fit, as_new_sequences(fit, newdata, id))$log_density, na.rm = TRUE)
}

#' @rdname predict.bnp_hmm
#' @export
residuals.bnp_hmm <- function(object, newdata, id = NULL, ...) {
  check_no_dots(...)
  family <- object$model$obs$family
  if (!is_gaussian(object) && family != "ar") {
    abort("argument", "Pseudo-residuals need {.fn obs_gaussian} or {.fn obs_ar}, not {.fn obs_{family}}.")
  }
  if (missing(newdata)) {
    abort("newdata", c("{.arg newdata} is needed.", i = "A fit does not keep its data: give them again."))
  }
  data <- as_new_sequences(object, newdata, id)
  ahead <- one_step_ahead(object, data)$prob
  lower <- matrix(0, data$n, data$d)
  for (k in seq_len(ncol(ahead))) {
    t <- predictive_t(object, k, data)
    lower <- lower + ahead[, k] * stats::pt((data$x - t$mean) / t$scale, t$df)
  }
  colnames(lower) <- data$column_names
  rownames(lower) <- data$row_names
  stats::qnorm(pmin(lower, 1))
}

# Each column's Student-t predictive of state k (K + 1: the prior), one row of `mean` and `scale` per row of data.
predictive_t <- function(fit, k, data) {
  obs <- fit$model$obs
  new <- k > fit$state$k
  q <- if (new) obs else posterior_params(fit)
  d <- data$d
  by_row <- function(x) matrix(x, data$n, d, byrow = TRUE)
  diagonal <- function(s) if (new) diag(as.matrix(s)) else s[cbind(seq_len(d), seq_len(d), k)]
  switch(obs$family,
    gaussian_diagonal = {
      strength <- if (new) q$mean_strength else q$mean_strength[k]
      df <- if (new) q$df else q$df[k]
      scale <- if (new) q$scale else q$scale[k, ]
      mean <- if (new) q$mean else q$mean[k, ]
      list(mean = by_row(mean), scale = by_row(sqrt(scale * (1 + 1 / strength) / df)), df = df)
    },
    gaussian_full = {
      strength <- if (new) q$mean_strength else q$mean_strength[k]
      df <- (if (new) q$df else q$df[k]) - d + 1
      mean <- if (new) q$mean else q$mean[k, ]
      list(mean = by_row(mean), scale = by_row(sqrt(diagonal(q$scale) * (1 + 1 / strength) / df)), df = df)
    },
    gaussian_zero_mean = {
      df <- (if (new) q$df else q$df[k]) - d + 1
      list(mean = 0, scale = by_row(sqrt(diagonal(q$scale) / df)), df = df)
    },
    ar = {
      z <- regressors_of(data, obs)
      df <- (if (new) q$df else q$df[k]) - d + 1
      coef <- if (new) q$coef_mean else matrix(q$coef_mean[, , k], d)
      precision <- if (new) q$coef_precision else matrix(q$coef_precision[, , k], ncol(z))
      spread <- 1 + rowSums(z * t(solve(precision, t(z))))
      list(mean = z %*% t(coef), scale = sqrt(outer(spread, diagonal(q$scale) / df)), df = df)
    }
  )
}

# z_t = (lag 1, lag 2, ..., intercept); NA where a sequence is too young.
regressors_of <- function(data, obs) {
  age <- seq_len(data$n) - data$starts[findInterval(seq_len(data$n) - 1L, data$starts)]
  lags <- lapply(seq_len(obs$lag), function(l) {
    at <- seq_len(data$n) - l
    at[age <= l] <- NA
    data$x[at, , drop = FALSE]
  })
  z <- do.call(cbind, c(lags, if (obs$intercept) list(rep(1, data$n))))
  unname(z)
}
