# Formulas: the table of their variables, for a fit and for new data.

# list(x, obs, input): a table of a formula's variables, the observation model (NULL where none was given and there is
# no response) and what new data need.
formula_input <- function(formula, data, obs, verb, call = rlang::caller_env()) {
  if (length(formula) != 3L) {
    frame <- formula_frame(formula, data, call = call)
    return(list(x = frame$frame, obs = obs, input = list(terms = frame$terms)))
  }
  obs <- if (is.null(obs)) obs_of_responses() else check_obs_of_responses(obs, verb, call)
  table <- regression_table(formula, data, call)
  obs[names(table$obs)] <- table$obs
  list(x = table$x, obs = obs, input = table$input)
}

# The variables of a one-sided formula as a data frame.
formula_frame <- function(formula, data, arg = "x", call = rlang::caller_env()) {
  if (length(formula) != 2L) {
    abort("formula", c(
      "{.arg {arg}} must be a one-sided formula, like {.code ~ a + b}, or have a response, like {.code y ~ a + b}."
    ), call = call)
  }
  if (!is.null(data) && !is.data.frame(data) && !is.environment(data) && !is.list(data)) {
    abort("formula", "{.arg data} must be a data frame, not {describe(data)}.", call = call)
  }
  terms <- if (inherits(formula, "terms")) formula else stats::terms(formula, data = if (is.data.frame(data)) data)
  if (any(attr(terms, "order") > 1L)) {
    abort("formula", c(
      "{.arg {arg}} must not have interactions.",
      i = "Write a product of columns as {.code I(a * b)}."
    ), call = call)
  }
  names <- attr(terms, "term.labels")
  offset <- attr(terms, "offset")
  if (!is.null(offset)) {
    abort("formula", "{.arg {arg}} must not have an {.fn offset}: a mixture has no response to shift.", call = call)
  }
  if (!length(names)) {
    abort("formula", "{.arg {arg}} names no columns; write for instance {.code ~ a + b}.", call = call)
  }
  frame <- tryCatch(
    formula_variables(terms, data),
    error = function(e) {
      abort("formula", c(
        "The formula cannot be evaluated in {.arg {if (arg == 'x') 'data' else arg}}.",
        x = conditionMessage(e),
        i = "Check the names of its variables."
      ), call = call)
    }
  )
  terms <- attr(frame, "terms") # with what scale() or poly() learned from the data
  frame <- as.data.frame(frame)[names]
  attr(frame, "terms") <- NULL
  environment(terms) <- globalenv() # or a fit would carry along where it was made
  list(frame = frame, terms = terms)
}

# The variables of a formula. What scale() or poly() learn from the data is in the terms of the result and is used at
# once: new data go that way, which differs in the last digits, and training data must be known again.
formula_variables <- function(terms, data, levels = NULL) {
  data <- bare_variables(data)
  evaluate <- function(terms) bare_variables(
    stats::model.frame(terms, data, na.action = stats::na.pass, xlev = levels)
  )
  frame <- evaluate(terms)
  learned <- attr(frame, "terms")
  learns <- is.null(attr(terms, "predvars")) && !identical(attr(learned, "predvars"), attr(learned, "variables"))
  if (learns) evaluate(learned) else frame
}

# A data frame, its columns that are no matrices as bare values, before and after a formula is evaluated.
bare_variables <- function(data) {
  if (is.data.frame(data)) {
    for (at in which(vapply(data, function(v) length(dim(v)) < 2L, NA))) {
      data[[at]] <- plain_values(data[[at]])
    }
  }
  data
}

# New data of a fit by a formula -> the table of its variables; of other fits as they are.
variables_of <- function(fit, newdata, arg, call) {
  if (is.null(fit$input$terms)) {
    return(newdata)
  }
  if (!is.data.frame(newdata)) {
    abort("newdata", c(
      "{.arg {arg}} must be a data frame, as the model was fitted by a formula, not {describe(newdata)}."
    ), call = call)
  }
  if (is.null(obs_entry(fit$model$obs)$responses)) {
    return(formula_frame(fit$input$terms, newdata, arg, call)$frame)
  }
  regression_newdata(fit, newdata, arg, call)
}
