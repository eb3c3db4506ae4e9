# Data of sequences whose transitions depend on covariates.

# Splits the arguments of bnp_hmm(), which may be lists of sequences, into the data and the covariates of
# transitions, like split_covariates().
split_sequence_covariates <- function(x, covariates, prior, given_x, call) {
  prior <- for_sequences(prior)
  if (is_list_of_tables(covariates)) covariates <- one_table(covariates)
  own <- setdiff(all.vars(prior$formula), previous_names(prior$previous))
  if (!has_covariates(prior) || !is.null(covariates) || !length(own)) {
    if (has_covariates(prior) && is.null(covariates)) {
      return(list(x = x, covariates = list(frame = NULL, arg = "x", said = list(of = "x"))))
    }
    return(split_covariates(x, covariates, prior, given_x, call))
  }
  prior$formula[[2L]] <- Reduce(function(a, b) call("+", a, b), lapply(own, as.name))
  if (!is_list_of_tables(x) || inherits(x, "simple_triplet_matrix")) {
    return(split_covariates(x, NULL, prior, given_x, call))
  }
  found <- split_covariates(one_table(x), NULL, prior, one_table(x), call)
  left <- colnames(found$x)
  found$x <- lapply(x, function(one) one[, left, drop = FALSE])
  found
}

one_table <- function(x) do.call(rbind, unname(lapply(x, as.data.frame)))

# Data with the covariate pattern of each row, and the prior with the patterns: list(data, prior). covariates:
# the result of split_covariates().
with_sequence_covariates <- function(data, prior, covariates, call) {
  x <- covariates$frame
  if (is.null(x)) x <- data.frame(row.names = seq_len(rows_given(data)))
  frame <- with_previous(covariate_rows(data, x, covariates$arg, call), prior$previous, data, call = call)
  found <- learn_patterns(
    prior$formula, frame, data$weights %||% rep(1, data$n), covariates$arg, call, most_transition_patterns,
    rounded_transition_patterns
  )
  if (length(prior$previous)) found$design$previous <- attr(frame, "start")
  data$position <- found$position
  list(data = data, prior = prior_with_patterns(prior, found))
}

# Adds the values that these columns have in the row before as variables to a frame of covariates. In first
# rows, and if values are missing, they are the means or, if `start` is given, its values.
with_previous <- function(frame, columns, data, start = NULL, call = rlang::caller_env()) {
  if (!length(columns)) {
    return(frame)
  }
  lacking <- setdiff(columns, data$column_names)
  if (length(lacking)) {
    abort("covariates", c(
      "{.fn previous} names {.field {lacking}}, which {?is no column/are no columns} of the rows.",
      i = "They are {.field {data$column_names}}."
    ), call = call)
  }
  first <- data$starts[-length(data$starts)] + 1L
  before <- data$x[, match(columns, data$column_names), drop = FALSE]
  before <- matrix(as.double(as.matrix(before)), data$n)[c(NA, seq_len(data$n)[-data$n]), , drop = FALSE]
  before[first[first <= data$n], ] <- NA
  start <- start %||% stats::setNames(replace(m <- colMeans(before, na.rm = TRUE), is.nan(m), 0), columns)
  for (j in seq_along(columns)) {
    frame[[previous_names(columns[j])]] <- replace(before[, j], is.na(before[, j]), start[[j]])
  }
  structure(frame, start = start)
}

# Splits data and covariates like split_sequence_covariates(), if the variables come by a formula.
sequence_covariates_of_formula <- function(covariates, data, prior, call) {
  if (is_list_of_tables(covariates)) covariates <- one_table(covariates)
  prior <- for_sequences(prior)
  own <- setdiff(all.vars(prior$formula), previous_names(prior$previous))
  if (has_covariates(prior) && is.null(covariates) && !length(own)) {
    return(list(frame = NULL, arg = "data", said = list(of = "x")))
  }
  covariates_of_formula(covariates, data, prior, call)
}

# Adds the covariate pattern of each row (with_new_covariates()) to the data of new sequences, which the user
# gave as tables or lists of them.
with_sequence_patterns <- function(fit, data, covariates, newdata, arg, call) {
  if (is_list_of_tables(covariates)) covariates <- one_table(covariates)
  with_new_covariates(fit, data, covariates, if (is_list_of_tables(newdata)) one_table(newdata) else newdata, arg, call)
}
