# Missing values: which cells are missing, what `na_action` does about them, and models whose rows may have gaps.
#
# Where a cell is missing, the internal form of data has `missing` (rows x columns, logical) and NA in `x`, or 0 where
# the model gives 0 the meaning of nothing observed. Where rows were left out it has `left_out`: list(n, kept,
# row_names) of the given rows. Where missing values are allowed it has `na_action`, which a fit remembers whether or
# not there are any.

#' Missing values
#'
#' How the fitting functions and their methods treat missing cells.
#'
#' @param na_action What to do about missing values (`NA`). `"fail"`, the default: an error says where they are.
#'   `"model"`: they are unknown quantities, over which the fit averages, see *Missing values*. `"omit"`: rows with a
#'   missing value are left out, with a message; [fitted()] and [predict()] then have `NA` for them, or the cluster of
#'   their individual, and in a sequence the other rows follow each other directly. Topics of counts allow `"fail"` and
#'   `"omit"`; a document of which no row is left is left out, too. In methods of a fit, `NULL`, the default, takes the
#'   choice of the fit.
#' @section Missing values:
#'   With `na_action = "model"` the observed cells of a row are used. If columns are independent given the cluster
#'   ([obs_categorical()], [obs_bernoulli()], [obs_poisson()], [obs_negbinomial()], [obs_gamma()], [obs_weibull()],
#'   [obs_vonmises()], [obs_gaussian()] with diagonal or spherical covariance, and blocks of [obs_product()]), a
#'   missing cell is left out, which is exact. Otherwise the missing cells of a row are further hidden variables of the
#'   model. With a covariance that all clusters share (`"tied"` and its like) each row must be complete, or missing as
#'   a whole.
#'
#'   Both are correct if values are *missing at random*: whether a value is missing may depend on what was observed,
#'   but not on the value itself. If that does not hold, add columns that indicate what is missing. Parameters that are
#'   read from the data are read from the observed cells. Bounds of fits to data with different missing cells cannot be
#'   compared.
#'
#'   A row in which everything is missing has no influence. Mixtures leave it out of the fit (`nobs()` counts the
#'   others), and [predict()] gives it the weights of the clusters; topics leave it out of its document; in a sequence
#'   it keeps its place, and its state is inferred from the rows around it. A column in which everything is missing is
#'   refused. Missing exposures, covariates and counts of [obs_multinomial()] (whose total is then unknown) are also
#'   refused, unless all values of the row are missing. In pairs of columns ([obs_binomial()], [obs_survival()]) both
#'   values are missing or neither. Sparse matrices cannot have missing values.
#'
#'   A fit remembers this choice, whether its data had missing values or not: its methods make the same choice, unless
#'   their own `na_action` is given. With `"model"` new data may also lack whole columns, except exposures and
#'   covariates: these columns, and columns without any value, are taken as `NA`, with a message.
#' @name missing_values
#' @keywords internal
NULL

na_actions <- c("fail", "model", "omit")

check_na_action <- function(na_action, call = rlang::caller_env()) {
  check_choice(na_action, na_actions, "na_action", call)
}

# Refuses `na_action = "model"` for topics of counts. Returns na_action.
need_documents_with_gaps <- function(na_action, obs, call) {
  of <- c(if (!obs_facts(obs)$counts_tokens) "documents_of_rows", "topics")
  if (na_action == "model") require_ability(of, "na_action", call)
  na_action
}

# Refuses `na_action = "model"` for topics of data that are read in pieces.
check_no_model_of_missing <- function(na_action, call = rlang::caller_env()) {
  if (identical(na_action, "model")) require_ability("documents_in_pieces", "na_action", call)
  check_choice(na_action, c("fail", "omit"), "na_action", call)
}

# The hint of an error about missing values. na_action: the user's argument; NULL in functions without it.
remedy_of_missing <- function(na_action, values) {
  infinite <- c(i = if (any(is.infinite(values))) {
    "Infinite values are not missing: leave these rows out, or put there what they stand for, {.code NA} where that is
     not known."
  })
  if (!anyNA(values)) {
    return(infinite)
  }
  if (is.null(na_action)) {
    return(c(infinite, i = "Remove rows with missing values, for instance by {.fn na.omit}, or impute the values."))
  }
  c(infinite, i = "{.code na_action = \"model\"} averages over what is missing, {.code \"omit\"} leaves these rows out
         (of topics of counts, only the latter).")
}

# Divides the data into the blocks of a product (a model of several observation models, each of some columns);
# any other model is one block. Each block is list(obs, columns, modelled): numbers of all its columns without
# exposures, and of the columns that are modelled.
blocks_of <- function(data, obs) {
  part <- function(block, columns) {
    modelled <- if (is.null(block$responses)) columns else columns[response_columns(block)]
    list(obs = block, columns = columns, modelled = modelled)
  }
  if (is.null(obs$blocks)) {
    return(list(part(obs, seq_len(data$d))))
  }
  # The product was not completed for the data yet, so that its blocks do not know their columns: `data$frame`
  # has these.
  Map(function(block, name) {
    part(block, match(block$columns %||% data$frame$blocks[[name]], data$column_names))
  }, obs$blocks, names(obs$blocks))
}

# TRUE where a cell is missing. Where columns form pairs, one missing cell of a pair makes the other one
# missing, too.
missing_cells <- function(data, obs) {
  missing <- is.na(data$x)
  for (block in blocks_of(data, obs)) {
    if (identical(obs_facts(block$obs)$gaps, "pairs")) {
      first <- block$columns[c(TRUE, FALSE)]
      second <- block$columns[c(FALSE, TRUE)]
      both <- missing[, first, drop = FALSE] | missing[, second, drop = FALSE]
      missing[, first] <- missing[, second] <- both
    }
  }
  missing
}

# Turns checked data with NA into the internal form (see the head of this file), or refuses them. use: what
# the data are for: "rows" or "sequences" to be fitted, "predict" or "filter"; "new_documents": to be
# predicted, without the rows that have no value. na_action = "keep": leave them as they were given, for display.
act_on_missing <- function(data, obs, na_action, use, arg, call) {
  data$na_action <- na_action
  if (is_sparse_data(data) || !anyNA(data$x) || na_action == "keep") {
    return(data)
  }
  data$missing <- missing_cells(data, obs)
  modelled <- modelled_columns(data, obs)
  if (na_action == "omit") {
    if (obs_lag(obs) > 0L) {
      abort("argument", c(
        "{.code na_action = \"omit\"} would leave rows of {.arg {arg}} out, a series in which each row depends on those
         before it.",
        i = "Use {.code na_action = \"model\"}, or cut the series where values are missing."
      ), call = call)
    }
    data <- without_rows(data, rowSums(data$missing) > 0, "with missing values", arg, call)
  } else if (use %in% c("rows", "new_documents")) {
    what <- if (length(modelled) < data$d) "without any value that is modelled" else "without any value"
    data <- without_rows(data, !has_values(data, modelled), what, arg, call)
  }
  if (!any(data$missing)) {
    data$missing <- NULL
    return(data)
  }
  check_gaps(data, obs, arg, call)
  predicts <- use %in% c("predict", "filter", "new_documents")
  if (predicts && data$n > 1L) {
    empty <- modelled[colSums(!data$missing[, modelled, drop = FALSE]) == 0]
    if (length(empty)) say_wholly_missing(data$column_names[empty] %||% empty, arg, call)
  }
  if (!predicts && !is_piece(arg)) check_observed(data, modelled, arg, call)
  fill_with_nothing(data, obs)
}

# The data without the rows in which `gone` is TRUE. what: a description of these rows, for the message.
without_rows <- function(data, gone, what, arg, call) {
  if (!any(gone)) {
    return(data)
  }
  kept <- which(!gone)
  say_left_out(gone, what, arg, call, data$missing, data$column_names)
  empty <- setdiff(seq_along(data$starts[-1L]), group_of_rows(data)[kept])
  if (length(empty) && !(is_piece(arg) && is.null(data$group_names))) {
    abort("no_rows", c(
      "All rows of {cli::qty(length(empty))}sequence{?s} {places(data$group_names[empty] %||% empty)} of {.arg {arg}}
       are {what}.",
      i = "Remove {cli::qty(length(empty))}{?it/them}."
    ), call = call)
  }
  out <- data[kept]
  out$left_out <- list(n = rows_given(data), kept = (data$left_out$kept %||% seq_len(data$n))[kept],
                       row_names = given_row_names(data))
  out
}

# Reports how many rows are left out. missing: the missing cells of all rows, so that the error can name the
# columns that cause it where no row is left.
say_left_out <- function(gone, what, arg, call, missing, names) {
  if (is_piece(arg)) {
    return(invisible()) # said once of all pieces
  }
  if (all(gone)) {
    empty <- which(colSums(!missing) == 0)
    n <- length(empty)
    some <- n && n < ncol(missing)
    abort("no_rows", c(
      "All rows of {.arg {arg}} are {what}.",
      x = if (some) {
        "{cli::qty(n)}Column{?s} {.field {names[empty] %||% empty}} {cli::qty(n)}{?has/have} no value at all."
      },
      i = if (some) "Leave {cli::qty(n)}{?it/them} out." else "Give at least one that is not."
    ), call = call)
  }
  cli::cli_inform(
    "{sum(gone)} row{?s} of {.arg {arg}} {what} {cli::qty(sum(gone))}{?is/are} left out.",
    class = c("bnpvi_message_left_out", "bnpvi_message"), call = call
  )
}

# Leaves out rows with missing values from a checked table of documents, or of their rows: list(x, left_out,
# na_action).
whole_rows <- function(x, arg, call, na_action) {
  action <- if (keeps_missing(na_action)) na_action
  gone <- if (is.matrix(x) && anyNA(x)) rowSums(is.na(x)) > 0
  if (is.null(gone)) {
    return(list(x = x, na_action = action))
  }
  say_left_out(gone, "with missing values", arg, call, is.na(x), colnames(x))
  left_out <- list(n = nrow(x), kept = which(!gone), row_names = rownames(x))
  list(x = rows_of_table(x, !gone), left_out = left_out, na_action = action)
}

# Expands values of the rows that were used to all rows that were given, NA where a row was left out. A value
# of an individual is repeated in all its rows. from: data, or the input of a fit.
for_all_rows <- function(from, x) {
  left_out <- from$left_out
  if (is.null(left_out) && !has_individuals(from)) {
    return(x)
  }
  at <- if (has_individuals(from)) from$individuals$of_given else match(seq_len(left_out$n), left_out$kept)
  names <- if (is.null(left_out)) from$row_names else left_out$row_names
  x <- values_at(x, at)
  if (is.matrix(x)) `rownames<-`(x, names) else stats::setNames(x, names)
}

# Expands values of the documents that were used to all documents that were given; documents of which no row
# is left have NA.
for_all_documents <- function(from, x) for_all_rows(list(left_out = from$left_out_documents), x)

# The numbers of the columns that are modelled: all but exposures and covariates.
modelled_columns <- function(data, obs) unlist(lapply(blocks_of(data, obs), `[[`, "modelled"))

# TRUE for rows that have a value in at least one of these columns.
has_values <- function(data, columns = seq_len(data$d)) {
  if (has_missing(data)) rowSums(!data$missing[, columns, drop = FALSE]) > 0 else rep(TRUE, data$n)
}

# Values for the rows that are used, from values that users gave for all rows.
of_kept_rows <- function(data, x) {
  kept <- data$left_out$kept
  if (is.null(kept)) x else values_at(x, kept)
}
rows_given <- function(data) data$left_out$n %||% data$n

# The numbers that rows of the data had before others were left out.
given_row <- function(data, row) if (is.null(data$left_out)) row else data$left_out$kept[row]

# Refuses missing cells in columns in which the model cannot have any.
check_gaps <- function(data, obs, arg, call) {
  for (block in blocks_of(data, obs)) {
    missing <- data$missing[, block$columns, drop = FALSE]
    if (!any(missing)) next
    maker <- obs_facts(block$obs)$constructor
    gaps <- obs_facts(block$obs)$gaps
    if (is.null(gaps) && has_drift(block$obs)) {
      abort("gaps", c(
        "{.arg {arg}} has missing values, which clusters that drift cannot have.",
        i = "Choose {.code na_action = \"omit\"}, or leave {.code drift} of {.fn {maker}} out."
      ), call = call)
    }
    if (is.null(gaps)) {
      abort("gaps", c(
        "{.arg {arg}} has missing values, which {.fn {maker}} cannot have with a covariance that all clusters share.",
        i = "Choose {.code covariance = \"full\"}, {.code \"diagonal\"} or {.code \"spherical\"}, or
             {.code na_action = \"omit\"}."
      ), call = call)
    }
    known <- data$missing[, setdiff(block$columns, block$modelled), drop = FALSE]
    if (any(known)) {
      abort("gaps", c(
        "Covariates of {.arg {arg}} must not be missing: they are not modelled.",
        x = "Missing in row{?s} {places(row_number(given_row(data, which(rowSums(known) > 0)), arg))}.",
        i = "Use {.code na_action = \"omit\"}, or impute them."
      ), call = call)
    }
    partly <- which(rowSums(missing) > 0 & rowSums(!missing) > 0)
    if (gaps == "rows" && length(partly)) {
      abort("gaps", c(
        "In each row of {.arg {arg}} either all counts of {.fn {maker}} must be given or none, as otherwise its total
         is unknown.",
        x = "Some are missing in row{?s} {places(row_number(given_row(data, partly), arg))}.",
        i = "Use {.code na_action = \"omit\"}, or put 0 where nothing was counted."
      ), call = call)
    }
  }
}

# The names of the columns that new data may lack: those in which single values may be missing.
columns_that_may_lack <- function(fit) {
  blocks <- blocks_of(fit$input, fit$model$obs)
  takes <- vapply(blocks, function(block) (obs_facts(block$obs)$gaps %||% "rows") != "rows", NA)
  fit$input$column_names[unlist(lapply(blocks[takes], `[[`, "modelled"))]
}

# x with additional columns that are NA. If there are several rows, act_on_missing() reports that a column has
# no value.
with_columns_of_na <- function(x, names, arg, call) {
  if (NROW(x) == 1L) say_wholly_missing(names, arg, call)
  if (is.data.frame(x)) {
    x[names] <- NA
    return(x)
  }
  cbind(x, matrix(NA_real_, nrow(x), length(names), dimnames = list(NULL, names)))
}

say_wholly_missing <- function(columns, arg, call) {
  n <- length(columns)
  cli::cli_inform(
    "{cli::qty(n)}Column{?s} {.field {columns}} of {.arg {arg}} {cli::qty(n)}{?is/are} not there or
     {cli::qty(n)}{?has/have} no value at all, and {cli::qty(n)}{?is/are} taken as missing.",
    class = c("bnpvi_message_wholly_missing", "bnpvi_message"), call = call
  )
}

check_observed <- function(data, modelled, arg, call) {
  empty <- modelled[colSums(!data$missing[, modelled, drop = FALSE]) == 0]
  if (length(empty)) {
    abort("gaps", c(
      "{cli::qty(length(empty))}Column{?s} {.field {data$column_names[empty] %||% empty}} of {.arg {arg}}
       {cli::qty(length(empty))}{?has/have} no value at all.",
      i = "Leave {cli::qty(length(empty))}{?it/them} out."
    ), call = call)
  }
}

# Puts 0 in place of missing values where the model reads 0 as nothing observed: no level, no trial, no time
# or no count.
fill_with_nothing <- function(data, obs) {
  for (block in blocks_of(data, obs)) {
    if (obs_facts(block$obs)$gaps %||% "" != "cells") {
      own <- data$x[, block$columns, drop = FALSE]
      own[data$missing[, block$columns]] <- 0
      data$x[, block$columns] <- own
    }
  }
  data$x[is.na(data$x)] <- NA_real_ # and not NaN, so that equal data have equal bits
  data
}

# The means of the columns, over the cells that are observed.
observed_means <- function(data) {
  column_means(if (has_missing(data)) replace(data$x, data$missing, NA) else data$x, data$weights)
}

# The observation model with `gaps = TRUE` (cells may be missing) in each block whose rows lack cells, or
# lacked any in `before`, the model of an earlier fit.
with_gaps <- function(obs, data, before = NULL) {
  if (!is.null(obs$blocks)) {
    own <- lapply(blocks_of(data, obs), function(part) list(missing = data$missing[, part$columns, drop = FALSE]))
    obs$blocks <- Map(with_gaps, obs$blocks, own, before$blocks[names(obs$blocks)] %||% list(NULL))
    return(obs)
  }
  if (identical(obs_facts(obs)$gaps, "cells") && (any(data$missing) || isTRUE(before$gaps))) obs$gaps <- TRUE
  obs
}

# The observation model with `gaps = TRUE` (cells may be missing) in every block that can have it.
with_all_gaps <- function(obs) {
  if (!is.null(obs$blocks)) return(replace(obs, "blocks", list(lapply(obs$blocks, with_all_gaps))))
  if (identical(obs_facts(obs)$gaps, "cells")) obs$gaps <- TRUE
  obs
}

# The fit with a model that can have the missing cells of these data.
fit_with_gaps <- function(fit, data) if (has_missing(data)) fit_as(fit, with_gaps(fit$model$obs, data)) else fit

# The fit with `gaps = TRUE` (cells may be missing) in every block in which the model `obs` has it.
fit_as <- function(fit, obs) {
  before <- fit$model$obs
  copy <- function(from, to) if (isTRUE(to$gaps)) replace(from, "gaps", TRUE) else from
  now <- if (is.null(before$blocks)) copy(before, obs) else
    replace(before, "blocks", list(Map(copy, before$blocks, obs$blocks)))
  if (!identical(before, now)) {
    of_rows <- seq_len(ncol(fit$state$obs) - counted_patterns(fit$model))
    fit$state$obs <- cbind(
      engine_complete_to_gaps(before, now, fit$state$obs[, of_rows, drop = FALSE]),
      fit$state$obs[, -of_rows, drop = FALSE]
    )
    fit$model$obs <- now
  }
  fit
}
