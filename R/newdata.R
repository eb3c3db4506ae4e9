# Reads new data for a fit: selects the columns of the training data and turns them into the internal form.

# The na_action of a method for a fit: the argument or, if it is not given, that of the fit.
action_of_fit <- function(fit, na_action, call = rlang::caller_env()) {
  if (is.null(na_action)) {
    return(fit$input$na_action %||% "fail")
  }
  known_action(fit, na_action, call)
}

# New data may be given as `newdata` or as `new_data`, not both; returns them.
one_newdata <- function(newdata, new_data, call = rlang::caller_env()) {
  if (!is.null(newdata) && !is.null(new_data)) {
    abort("argument", "{.arg newdata} and {.arg new_data} are the same: give one of them.", call = call)
  }
  newdata %||% new_data
}

# Reads new data, which the user gave as `arg`, into the internal form with the columns of the training data.
as_newdata <- function(fit, newdata, call = rlang::caller_env(), arg = "newdata", na_action = NULL, id = NULL,
                       time = NULL, covariates = NULL) {
  check_format(fit, call)
  if (inherits(newdata, "bnp_data")) {
    return(newdata)
  }
  obs <- fit$model$obs
  arg <- arg_of_table(arg, newdata)
  given <- newdata
  split <- list(x = newdata)
  if (!is.null(id) || isTRUE(obs$repeated)) split <- newdata_id(fit, newdata, id, arg, call)
  drifts <- has_drift(obs)
  when <- if (drifts || !is.null(time)) newdata_time(fit, split$x, time, arg, call) else split["x"]
  na_action <- na_action %||% fit$input$na_action
  newdata <- if (is.null(fit$input$terms)) when$x else variables_of(fit, when$x, arg, call, na_action)
  newdata <- if (obs_lag(obs) > 0L && is.list(newdata) && !is.data.frame(newdata)) {
    lapply(newdata, select_columns, fit, call, arg)
  } else {
    select_columns(newdata, fit, call, arg, na_action)
  }
  data <- as_mixture_data(newdata, obs, arg, allow_no_rows = TRUE, call, na_action, "predict")
  if (!isTRUE(obs$repeated)) {
    data <- check_reach(data, obs, call, arg)
    if (drifts) data <- with_known_times(fit, data, when$time, arg, call)
  } else {
    check_reach_of_sums(data, obs, arg, call)
    data <- if (is.null(split$id) && data$n > 0L) training_individuals(fit, data, arg, call) else
      with_individuals(data, split$id %||% integer(), obs, arg, call)
  }
  if (inherits(fit$model$prior, "bnp_prior_covariates")) {
    return(with_new_covariates(fit, data, covariates, given, arg, call))
  }
  data
}

# Selects the columns of the training data from x: by name if both sides have names, otherwise by position,
# with a message if only the training data have names. Names that ts() makes up do not count. If the model
# accepts missing values, a column that x lacks becomes a column of NA.
select_columns <- function(x, fit, call, arg = "newdata", na_action = NULL) {
  plain <- plain_table(x, fit$model$obs)
  if (!is.null(plain) && identical(colnames(plain), fit$input$column_names) && !is.null(colnames(plain))) {
    return(plain)
  }
  refuse_relations(x, arg, call)
  if (inherits(x, "simple_triplet_matrix")) {
    x <- triplet_to_sparse(x)
  }
  if (length(dim(x)) == 1L) x <- plain_values(x)
  if (!length(dim(x)) %in% c(0L, 2L)) {
    return(x) # as_table() refuses it
  }
  x <- unique_columns(plain_columns(x))
  beside <- c(exposure_column(fit$model$obs), fit$model$obs$inputs)
  named <- fit$model$obs$columns
  d <- (if (is.null(named)) fit$input$d else length(named)) + length(beside)
  if (is.null(dim(x)) && is.atomic(x) && !stats::is.ts(x) && !is_indexed(x) && d > 1L && length(x) == d) {
    x <- matrix(x, 1L, dimnames = list(NULL, names(x)))
  }
  wanted <- unique(c(named %||% fit$input$column_names, beside))
  given <- if (is.null(dim(x))) NULL else colnames(x)
  if (stats::is.ts(x) && identical(given, paste("Series", seq_len(NCOL(x))))) given <- NULL
  if (is.null(wanted) || is.null(given)) {
    columns <- if (is.null(dim(x))) 1L else ncol(x)
    if (columns != d) {
      abort("newdata_columns", c(
        "{.arg {arg}} must have the {d} column{?s} of the training data, not {columns}."
      ), call = call)
    }
    if (!is.null(wanted) && d > 1L && NROW(x) > 0L) tell_by_position(wanted, call, arg)
    # Columns whose values are levels are matched by name, which needs a matrix with names.
    return(if (is.null(named) && is.null(fit$model$obs$levels)) x else `colnames<-`(as.matrix(x), wanted))
  }
  at <- match(wanted, given)
  if (obs_facts(fit$model$obs)$counts_tokens && !is.data.frame(x)) {
    return(match_terms(x, wanted, call, arg))
  }
  if (anyNA(at)) {
    missing <- wanted[is.na(at)]
    whole <- is.data.frame(x) || all(given %in% wanted) # a matrix has no other columns: its names are others
    if (identical(na_action, "model") && whole && !all(is.na(at)) && all(missing %in% columns_that_may_lack(fit))) {
      return(with_columns_of_na(x, missing, arg, call)[, wanted, drop = FALSE])
    }
    abort("newdata_columns", c(
      "{.arg {arg}} lacks {length(missing)} column{?s} of the training data.",
      x = "Missing: {places(dQuote(missing, FALSE))}.",
      i = "Columns are matched by name."
    ), call = call)
  }
  x <- x[, at, drop = FALSE]
  if (is.data.frame(x) && keeps_missing(na_action)) with_plain_na(x) else x
}

# Columns in which all values are NA may have any class: they are read like the columns of the training data.
with_plain_na <- function(x) {
  empty <- vapply(x, function(v) is.atomic(v) && is.null(dim(v)) && all(is.na(v)), NA)
  x[empty] <- lapply(x[empty], function(v) rep(NA, length(v)))
  x
}

tell_by_position <- function(wanted, call, arg) {
  cli::cli_inform(
    c(
      "{.arg {arg}} has no column names: its columns are taken in the order of the training data.",
      i = "That is {places(wanted)}."
    ),
    class = c("bnpvi_message_by_position", "bnpvi_message"), call = call
  )
}

# The columns of x for the terms of the training data. Terms that x lacks have count 0; terms that were not in
# the training data are left out.
match_terms <- function(x, wanted, call, arg) {
  given <- colnames(x)
  unseen <- setdiff(given, wanted)
  if (length(unseen) == length(given) && length(given)) {
    abort("newdata_columns", c(
      "{.arg {arg}} and the training data have no term in common.",
      i = "The columns must be named by the same terms."
    ), call = call)
  }
  if (length(unseen)) {
    cli::cli_warn(c(
      "{length(unseen)} term{?s} of {.arg {arg}} {cli::qty(length(unseen))}{?was/were} not in the training data and
       {cli::qty(length(unseen))}{?is/are} left out.",
      i = "{places(dQuote(unseen, FALSE))}"
    ), class = c("bnpvi_warning_unseen_terms", "bnpvi_warning"), call = call)
  }
  at <- match(wanted, given)
  if (!anyNA(at)) {
    return(x[, at, drop = FALSE])
  }
  x <- if (is(x, "Matrix")) as_column_sparse(x) else as_column_sparse(Matrix::Matrix(x, sparse = TRUE))
  padded <- cbind(x, sparseMatrix(
    i = integer(), j = integer(), x = numeric(), dims = c(nrow(x), 1L)
  ))
  at[is.na(at)] <- ncol(padded)
  padded <- padded[, at, drop = FALSE]
  dimnames(padded) <- list(rownames(x), wanted)
  padded
}
