# Reads formulas with a response, and new data with or without the response.

obs_of_responses <- function() {
  getExportedValue("bnpvi", makers_with("formula"))()
}

check_obs_of_responses <- function(obs, verb, call = rlang::caller_env()) {
  check_obs(obs, verb, call)
  if (is.null(obs$responses)) {
    makers <- makers_with("formula")
    abort("formula", c(
      "A formula with a response needs {.or {.fn {makers}}}, not {.fn {obs_facts(obs)$constructor}}.",
      i = "For columns that are modelled together, remove the left-hand side."
    ), call = call)
  }
  obs
}

# Reads a formula and its data. Returns list(x, model, obs, input): the table of responses and covariates; the
# observation model, either `obs` or another that these responses need; facts about the table that the model
# must know; and what is needed to read new data.
regression_table <- function(formula, data, call, obs) {
  if (!is.null(data) && !is.data.frame(data) && !is.environment(data) && !is.list(data)) {
    abort("formula", "{.arg data} must be a data frame, not {describe(data)}.", call = call)
  }
  terms <- formula_terms(formula, data, "data", call)
  if (explains_itself(terms)) {
    abort("formula", "The response, {.code {deparse1(formula[[2L]])}}, must not be a covariate, too.", call = call)
  }
  frame <- evaluate_formula(formula_variables(terms, data, NULL, "data", call), "data", call)
  response <- stats::model.response(frame)
  if (inherits(response, "Surv")) {
    abort("response", c("The response has survival times, which no regression takes.",
      i = "{.fn {makers_of_times()}} models the times themselves, without covariates."
    ), call = call)
  }
  obs <- obs_of_response(obs, response, call)
  coded <- if (is_glm(obs)) coded_response(response, NULL, call)
  y <- response_matrix(frame, formula, call, obs, coded$levels)
  terms <- attr(frame, "terms")
  offset <- !is.null(attr(terms, "offset"))
  if (offset && !is_glm(obs)) {
    abort("formula", "{.arg x} must not have an {.fn offset}: subtract it from the response.", call = call)
  }
  z <- covariate_matrix(terms, frame, NULL, "data", call)
  environment(terms) <- globalenv() # or a fit would carry along where it was made
  list(
    x = side_by_side_table(y, z), model = obs,
    obs = c(
      list(responses = ncol(y), intercept = attr(terms, "intercept") == 1L), if (is_glm(obs)) list(offset = offset)
    ),
    input = list(
      terms = terms, levels = stats::.getXlevels(terms, frame), contrasts = attr(z, "contrasts"),
      response = colnames(y), response_levels = coded$levels
    )
  )
}

# Whether the response of a formula is also among the covariates.
explains_itself <- function(terms) {
  among <- attr(terms, "factors") # variables x terms; empty where the intercept is alone
  length(among) > 0L && any(among[attr(terms, "response"), ] > 0L)
}

formula_terms <- function(formula, data, arg, call) {
  evaluate_formula(stats::terms(formula, data = if (is.data.frame(data)) data), arg, call)
}

evaluate_formula <- function(value, arg, call) {
  tryCatch(value, error = function(e) {
    if (inherits(e, "bnpvi_error")) rlang::cnd_signal(e)
    abort("formula", c(
      "The formula cannot be evaluated in {.arg {arg}}.",
      x = "{conditionMessage(e)}",
      i = "Check the names of its variables."
    ), call = call)
  })
}

response_matrix <- function(frame, formula, call, obs, levels = NULL) {
  y <- plain_values(stats::model.response(frame))
  if (is_glm(obs)) y <- coded_response(y, levels, call)$values
  if (!is_plain_number(y) || length(dim(y)) > 2L) {
    abort("not_numeric", "The response must be numbers, not {describe(y)}.", call = call)
  }
  name <- paste(deparse(formula[[2L]]), collapse = "")
  names <- if (is.null(dim(y))) name else colnames(y) %||% character(ncol(y))
  unnamed <- which(!nzchar(names)) # as in cbind(yes, 9 - yes)
  names[unnamed] <- paste0("y", unnamed)
  if (is_glm(obs) && NCOL(y) > if (is_counted(obs)) 1L else 2L) {
    abort(c("response", "argument"), c(
      "The response has {ncol(y)} columns, which is too many for its family.",
      i = "Numbers of successes and failures are {.code cbind(yes, no)}; counts are one column."
    ), call = call)
  }
  matrix(as.double(y), NROW(y), NCOL(y), dimnames = list(row.names(frame), names))
}

# The model matrix without the intercept, which the engine adds, and with the offset as the first column;
# keeps the attribute `contrasts`.
covariate_matrix <- function(terms, frame, contrasts, arg, call) {
  full <- evaluate_formula(stats::model.matrix(terms, frame, contrasts.arg = contrasts), arg, call)
  z <- full[, colnames(full) != "(Intercept)", drop = FALSE]
  offset <- stats::model.offset(frame)
  if (!is.null(offset)) z <- cbind(`(offset)` = as.double(offset), z)
  structure(z, assign = NULL, contrasts = attr(full, "contrasts"))
}

side_by_side_table <- function(y, z) {
  table <- cbind(y, z)
  attr(table, "contrasts") <- NULL
  colnames(table) <- make.unique(c(colnames(y), colnames(z)))
  table
}

# New data as a table with the columns of the training table, for a fit by a formula.
regression_newdata <- function(fit, newdata, arg, call) {
  frame <- evaluate_formula(formula_variables(fit$input$terms, newdata, fit$input$levels, arg, call), arg, call)
  y <- response_matrix(frame, stats::formula(fit$input$terms), call, fit$model$obs, fit$input$response_levels)
  z <- covariate_matrix(fit$input$terms, frame, fit$input$contrasts, arg, call)
  side_by_side_table(y, z)
}

# A matrix of the covariates of new rows; the new data may or may not contain the response.
as_covariates <- function(fit, newdata, arg = "newdata", call = rlang::caller_env()) {
  obs <- fit$model$obs
  y <- response_columns(obs)
  if (is.null(fit$input$terms)) {
    known <- intersect(fit$input$column_names, colnames(newdata))
    if (length(known)) newdata <- newdata[, known, drop = FALSE]
    table <- as_table(newdata, arg, allow_no_rows = TRUE, call, obs)
    wanted <- fit$input$column_names[-y]
    given <- colnames(table)
    if (is.null(wanted) || is.null(given)) {
      if (ncol(table) == fit$input$d) table <- table[, -y, drop = FALSE]
      if (ncol(table) == fit$input$d - length(y)) {
        return(unname(as.matrix(table)))
      }
    }
    missing <- setdiff(wanted %||% "covariates", given)
    if (length(missing)) {
      abort("newdata_columns", "{.arg {arg}} lacks covariates: {places(missing)}.", call = call)
    }
    return(unname(as.matrix(table[, wanted, drop = FALSE])))
  }
  if (!is.data.frame(newdata)) {
    abort("newdata", c(
      "{.arg {arg}} must be a data frame, as the model was fitted by a formula, not {describe(newdata)}."
    ), call = call)
  }
  terms <- terms_of_covariates(fit$input$terms)
  frame <- evaluate_formula(formula_variables(terms, newdata, fit$input$levels, arg, call), arg, call)
  z <- covariate_matrix(terms, frame, fit$input$contrasts, arg, call)
  check_finite_table(z, arg, call)
  unname(matrix(z, nrow(z)))
}

# Whether new data have no response, in contrast to the data of the fit.
lacks_response <- function(fit, newdata) {
  obs <- fit$model$obs
  if (is.null(obs$responses) || is_internal(newdata)) {
    return(FALSE)
  }
  if (is.list(newdata) && !is.data.frame(newdata)) newdata <- newdata[[1L]]
  if (!is.null(fit$input$terms)) {
    needed <- all.vars(stats::formula(fit$input$terms)[[2L]])
    return(is.data.frame(newdata) && !all(needed %in% names(newdata)))
  }
  given <- colnames(newdata)
  wanted <- fit$input$column_names[response_columns(obs)]
  if (is.null(given) || is.null(wanted)) NCOL(newdata) == fit$input$d - obs$responses else
    !all(wanted %in% given)
}

# The weights of clusters for each row of new data, without regard to responses: rows x clusters. They are the
# same in every row unless they depend on covariates.
prior_probabilities <- function(fit, newdata, covariates = NULL) {
  z <- as_covariates(fit, newdata, call = rlang::caller_env())
  weight <- known_weights(fit, newdata, covariates, rlang::caller_env())
  names <- if (is.data.frame(newdata) && .row_names_info(newdata) > 0L) row.names(newdata) else rownames(newdata)
  if (is.data.frame(newdata) && .row_names_info(newdata) < 0L) names <- NULL
  if (!is.matrix(weight)) weight <- matrix(weight, nrow(z), length(weight), byrow = TRUE)
  `dimnames<-`(weight, list(names, seq_len(ncol(weight))))
}

# Weights of the fit's clusters, which sum to 1: a vector or, where weights depend on covariates, a matrix
# with one row for each row of data.
known_weights <- function(fit, newdata, covariates, call) {
  if (has_covariates(fit$model$prior)) in_known(fit, weights_at_rows(fit, newdata, covariates, call)) else
    proportion(fit) / sum(proportion(fit))
}

need_responses <- function(fit, call) {
  check_format(fit, call)
  obs <- fit$model$obs
  if (is.null(obs$responses)) {
    makers <- makers_with("formula")
    abort("argument", c(
      "{.code type = \"response\"} has no meaning for {.fn {obs_facts(obs)$constructor}}.",
      i = if (length(unlist(lapply(obs$blocks, covariates_of)))) {
        "With {.code NA} as response, {.code type = \"impute\"} gives what is expected of it."
      } else {
        "It is for {.or {.fn {makers}}}."
      }
    ), call = call)
  }
}

# The posterior expectation E[y | z] of responses given covariates: rows x responses, or a vector for a single
# response.
expected_response <- function(fit, newdata, covariates = NULL, call = rlang::caller_env()) {
  need_responses(fit, call)
  need_data(is.null(newdata), "newdata", call)
  weight <- known_weights(fit, newdata, covariates, call)
  out <- average_response(fit, as_covariates(fit, newdata, call = call), weight)
  if (ncol(out) == 1L) drop(unname(out)) else out
}

# The posterior expectation E[y | z] of responses of rows with covariates z: rows x responses. It is averaged
# over clusters with these weights, a vector for all rows or a matrix with one row for each.
average_response <- function(fit, z, weight) {
  obs_average_response(fit$model$obs, fit, z, weight)
}

obs_average_response.obs_regression <- function(obs, fit, z, weight) {
  coef <- coef(fit)$coef
  z <- with_intercept(z, obs)
  out <- if (is.matrix(weight)) {
    Reduce(`+`, lapply(seq_len(ncol(weight)), function(k) weight[, k] * z %*% t(matrix(coef[, , k], dim(coef)[1]))))
  } else {
    z %*% t(matrix(matrix(coef, ncol = length(weight)) %*% weight, dim(coef)[1], dim(coef)[2]))
  }
  colnames(out) <- dimnames(coef)[[1]]
  out
}

# Predicted responses E[y_t | z_t, rows before t] of sequences with covariates z: rows x responses, or a
# vector for a single response.
response_ahead <- function(fit, newdata, id, na_action, covariates, call = rlang::caller_env()) {
  need_responses(fit, call)
  need_data(is.null(newdata), "newdata", call)
  if (lacks_response(fit, newdata)) {
    newdata <- with_unknown_response(fit, newdata)
    na_action <- "model"
  }
  data <- as_new_sequences(fit, newdata, id, call, na_action = na_action, covariates = covariates)
  obs <- fit$model$obs
  y <- response_columns(obs)
  z <- data$x[, -y, drop = FALSE]
  prob <- one_step_ahead(fit, data)$prob
  parameters <- clusters_with_new(fit)
  out <- Reduce(`+`, lapply(seq_len(ncol(prob)), function(k) {
    prob[, k] * obs_expected_response(obs, parameters[[k]], z)
  }))
  dimnames(out) <- list(data$row_names, data$column_names[seq_len(ncol(out))])
  out <- for_all_rows(data, out)
  if (ncol(out) == 1L) stats::setNames(as.vector(out), rownames(out)) else out
}

# New data in which all values of the response are missing.
with_unknown_response <- function(fit, newdata) {
  if (is.list(newdata) && !is.data.frame(newdata)) {
    return(lapply(newdata, function(x) with_unknown_response(fit, x)))
  }
  obs <- fit$model$obs
  names <- if (is.null(fit$input$terms)) fit$input$column_names[response_columns(obs)] else
    all.vars(stats::formula(fit$input$terms)[[2L]])
  for (name in setdiff(names, colnames(newdata))) {
    newdata <- if (is.data.frame(newdata)) replace(newdata, name, list(rep(NA_real_, nrow(newdata)))) else
      `colnames<-`(cbind(newdata, NA_real_), c(colnames(newdata), name))
  }
  newdata
}
