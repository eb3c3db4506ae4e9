# Formulas: the tables of their variables, for a fit and for new data.

# Reads a formula and its data: list(x, obs, input) with the table of the formula's variables; the observation
# model (NULL if none was given and the formula has no response); and what is needed to read new data.
formula_input <- function(formula, data, obs, verb, call = rlang::caller_env()) {
  check_bars(formula, call, c(
    bnp_mixture = "{.code id = ~ {g}} gives each {g} one cluster.",
    bnp_hmm = "{.code id = ~ {g}} makes each {g} a sequence of its own."
  )[[verb]])
  refuse_files(data, "data", call)
  refuse_unseparated(data, "data", call)
  if (length(formula) != 3L) {
    frame <- formula_frame(formula, data, call = call)
    return(list(x = frame$frame, obs = obs, input = list(terms = frame$terms)))
  }
  obs <- if (is.null(obs)) obs_of_responses() else check_obs_of_responses(obs, verb, call)
  table <- regression_table(formula, data, call, obs)
  obs <- table$model
  obs[names(table$obs)] <- table$obs
  if (has_effects(obs)) {
    regressors <- c(if (obs$intercept) "(Intercept)", colnames(table$x)[-seq_len(obs$responses)])
    obs$effects <- columns_of_effects(obs$random, regressors, data, call)
  }
  list(x = table$x, obs = obs, input = table$input)
}

# Refuses a `|` between terms of a formula. In other packages it stands for a random effect; here it would be
# evaluated as a logical `or`. Within a function, as in I(a | b), it is allowed. group: a hint in the error,
# what to use instead of a random effect of the column g; NULL for none.
check_bars <- function(formula, call, group = NULL) {
  operators <- c("~", "+", "-", "*", "/", "^", ":", "%in%", "(", "{", "|", "||")
  bar <- NULL
  look <- function(term) {
    if (!is.call(term) || !is.name(term[[1L]]) || !as.character(term[[1L]]) %in% operators) {
      return(NULL)
    }
    if (as.character(term[[1L]]) %in% c("|", "||")) bar <<- bar %||% term
    for (part in as.list(term)[-1L]) look(part)
  }
  look(formula)
  if (!is.null(bar)) {
    term <- paste(deparse(bar), collapse = " ")
    g <- if (is.name(bar[[3L]])) as.character(bar[[3L]])
    abort("formula", c(
      "The formula has the term {.code {term}}, but this model has no random effects.",
      i = "{.code bnp_mixture(y ~ t + (1 + t | id), data)} takes one such term, for random effects of individuals.",
      i = if (!is.null(g)) group, i = "A logical variable is written {.code I(a | b)}."
    ), call = call)
  }
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
  evaluated_in <- if (arg == "x") "data" else arg
  terms <- if (inherits(formula, "terms")) formula else formula_terms(formula, data, evaluated_in, call)
  if (has_interactions(terms)) {
    abort("formula", c(
      "{.arg {arg}} must not have interactions.", i = "Write a product of columns as {.code I(a * b)}."
    ), call = call)
  }
  offset <- attr(terms, "offset")
  if (!is.null(offset)) {
    abort("formula", "{.arg {arg}} must not have an {.fn offset}: a mixture has no response to shift.", call = call)
  }
  if (!length(attr(terms, "term.labels"))) {
    abort("formula", "{.arg {arg}} names no columns; write for instance {.code ~ a + b}.", call = call)
  }
  frame <- evaluate_formula(formula_variables(terms, data, NULL, evaluated_in, call), evaluated_in, call)
  terms <- attr(frame, "terms") # includes what scale() or poly() learned from the data
  # the fit would otherwise store the environment in which the formula was made
  environment(terms) <- globalenv()
  list(frame = variables_of_terms(frame, terms), terms = terms)
}

has_interactions <- function(terms) any(attr(terms, "order") > 1L)

# For each term of a formula, the name of its variable in the frame, which may be quoted differently there.
# The frame also has variables of terms that were removed again.
variables_of_terms <- function(frame, terms) {
  of_terms <- attr(terms, "factors") # empty if the formula has no terms
  out <- as.data.frame(frame)[if (length(of_terms)) apply(of_terms > 0L, 2L, which)]
  attr(out, "terms") <- NULL
  out
}

# The variables of a formula, evaluated in the data. What scale() or poly() learn from the data is stored in
# the terms of the result. The training data are then evaluated once more with these terms, as new data are:
# the last digits can differ, and training data must be recognised when they are given again. levels: those of
# factors in the training data. The attribute `columns` of the terms lists the variables that were columns:
# new data must have them, as otherwise variables of the same name would be taken from the calling scope.
formula_variables <- function(terms, data, levels = NULL, arg = "newdata", call = rlang::caller_env()) {
  refuse_lacking(lacking_columns(terms, data), arg, call)
  if (is.null(attr(terms, "columns"))) attr(terms, "columns") <- intersect(all.vars(terms), names(data))
  data <- bare_variables(data)
  if (length(levels)) refuse_new_levels(frame_of(terms, data, NULL, arg, call), levels, arg, call)
  evaluate <- function(terms) bare_variables(frame_of(terms, data, levels, arg, call))
  frame <- evaluate(terms)
  check_rows_of_variables(frame, data, arg, call)
  learned <- attr(frame, "terms")
  learns <- is.null(attr(terms, "predvars")) && !identical(attr(learned, "predvars"), attr(learned, "variables"))
  if (learns) evaluate(learned) else frame
}

# Evaluates stats::model.frame(). A function that warns and returns NaN, as log(-1) does, becomes an error;
# other warnings stay warnings.
frame_of <- function(terms, data, levels, arg, call) {
  warned <- list()
  frame <- withCallingHandlers(
    stats::model.frame(terms, data, na.action = stats::na.pass, xlev = levels),
    warning = function(w) {
      warned <<- c(warned, list(w))
      invokeRestart("muffleWarning")
    }
  )
  rows <- lapply(frame, function(v) if (is.numeric(v)) which(rowSums(is.nan(as.matrix(v))) > 0))
  rows <- if (length(warned)) rows[lengths(rows) > 0L]
  if (length(rows)) {
    abort("not_finite", c(
      "{.code {names(rows)[1L]}} of the formula is not a number in {length(rows[[1L]])} row{?s} of {.arg {arg}}.",
      x = "In row {places(row_number(rows[[1L]], arg))}.",
      i = "Leave {cli::qty(length(rows[[1L]]))}{?it/them} out, or take another function."
    ), call = call)
  }
  for (w in warned) warning(w)
  frame
}

# Refuses variables whose length is not the number of rows of the data, such as mean(y) or head(y), or vectors
# from elsewhere.
check_rows_of_variables <- function(frame, data, arg, call) {
  if (is.data.frame(data) && length(frame) && nrow(frame) != nrow(data)) {
    abort("formula", c(
      "The variables of the formula have {nrow(frame)} value{?s}, and {.arg {arg}} has {nrow(data)} row{?s}.",
      x = "Variables: {.code {places(names(frame))}}.",
      i = "Each variable must have one value per row, and new data must have every column that the formula names; to
           use only some rows, select them in {.arg {arg}}."
    ), call = call)
  }
}

# Refuses levels of factors that the fit has not seen, as there is no coefficient for them.
refuse_new_levels <- function(frame, levels, arg, call) {
  for (name in intersect(names(levels), names(frame))) {
    new <- setdiff(as.character(frame[[name]]), c(levels[[name]], NA))
    if (length(new)) {
      abort("formula", c(
        "The column {.field {name}} of {.arg {arg}} has {cli::qty(length(new))}{?a new level/new levels}, which the fit
         has not seen: {places(dQuote(new, FALSE))}.",
        x = "Its levels are {places(dQuote(levels[[name]], FALSE))}.",
        i = "There is no coefficient for {cli::qty(length(new))}{?it/them}: leave these rows out, give them a level of
             the fit, or fit anew with such rows."
      ), call = call)
    }
  }
}

# A data frame whose columns, unless they are matrices, are plain values. It is used before and after a
# formula is evaluated.
bare_variables <- function(data) {
  if (is.data.frame(data)) {
    for (at in which(vapply(data, function(v) length(dim(v)) < 2L, NA))) {
      data[[at]] <- plain_values(data[[at]])
    }
  }
  data
}

# The table of the formula's variables for new data, if the fit was made with a formula; otherwise the new
# data as they are.
variables_of <- function(fit, newdata, arg, call, na_action = NULL) {
  if (is.null(fit$input$terms)) {
    return(newdata)
  }
  refuse_files(newdata, arg, call)
  refuse_unseparated(newdata, arg, call)
  if (!is.data.frame(newdata)) {
    abort("newdata", c(
      "{.arg {arg}} must be a data frame, as the model was fitted by a formula, not {describe(newdata)}."
    ), call = call)
  }
  if (is.null(fit$model$obs$responses)) {
    terms <- fit$input$terms
    lacking <- if (identical(na_action, "model")) lacking_columns(terms, newdata)
    if (length(lacking) && any(all.vars(terms) %in% names(newdata))) {
      newdata <- with_columns_of_na(newdata, lacking, arg, call)
    }
    return(formula_frame(terms, newdata, arg, call)$frame)
  }
  regression_newdata(fit, newdata, arg, call)
}

# Names of the columns of the training data that these terms use and new data lack.
lacking_columns <- function(terms, newdata) {
  setdiff(intersect(attr(terms, "columns"), all.vars(terms)), names(newdata))
}

refuse_lacking <- function(columns, arg, call) {
  if (length(columns)) {
    abort("formula", c(
      "{.arg {arg}} lacks {cli::qty(columns)}{?a column/columns} of the training data that the formula names:
       {.field {columns}}."
    ), call = call)
  }
}

# The terms of the right-hand side of a formula.
terms_of_covariates <- function(terms) {
  structure(stats::delete.response(terms), columns = attr(terms, "columns"))
}
