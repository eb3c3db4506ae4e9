# Reads the tables that users give into the internal form of data (R/bnp-data.R).

# The argument's name with the origin of its table as an attribute, for messages. The origin is list(name,
# before, sample): the name of the piece (NULL if the table is not one of several pieces of the data); the
# number of rows in earlier pieces; and whether the table is a random sample of all rows, with the levels of
# the whole data. It also travels as an attribute of the data made from the table.
arg_from <- function(arg, piece, sample = FALSE) structure(arg, origin = origin_of_piece(piece, sample))
origin_of_piece <- function(piece, sample = FALSE) list(name = piece$name, before = piece$before, sample = sample)
origin_of <- function(arg) attr(arg, "origin")

# TRUE if the table is only a part of the data (a piece). Some checks must then wait for the other parts.
is_piece <- function(arg) !is.null(origin_of(arg)$name)

# Row numbers for messages: those of row i of a piece of the data, counted over all pieces.
row_number <- function(i, arg) i + (origin_of(arg)$before %||% 0)

# Marks a piece of the data with its origin, as methods of fits take it as new data; arg_of_table() finds the
# origin again.
table_of_piece <- function(x, piece) `attr<-`(x, "bnpvi_origin", origin_of_piece(piece))
arg_of_table <- function(arg, x) {
  origin <- attr(x, "bnpvi_origin")
  if (is.null(origin)) arg else structure(arg, origin = origin)
}

# TRUE if `na_action` does anything other than refuse missing values.
keeps_missing <- function(na_action) !is.null(na_action) && na_action != "fail"

# Reads all data that bnp_mixture() and methods for its fits accept into the internal form. `use`: what the
# data are for, as in act_on_missing().
as_mixture_data <- function(x, obs, arg = "x", allow_no_rows = FALSE, call = rlang::caller_env(), na_action = NULL,
                            use = "rows") {
  if (obs_lag(obs) > 0L && !(allow_no_rows && NROW(x) == 0L)) {
    return(as_sequence_data(x, obs, NULL, arg, call, na_action, if (use == "rows") "sequences" else use))
  }
  table_to_data(as_table(x, arg, allow_no_rows, call, obs, na_action), obs, arg, call, na_action = na_action, use = use)
}

# The values of data in the internal form as a matrix with names, for the few functions that need one.
data_matrix <- function(data) {
  if (!is_sparse_data(data)) {
    return(`dimnames<-`(data$x, list(data$row_names, data$column_names)))
  }
  sparseMatrix(
    i = rep(seq_len(data$n), diff(data$row_start)), j = data$column + 1L, x = data$value,
    dims = c(data$n, data$d), dimnames = list(data$row_names, data$column_names)
  )
}

# Turns any table into a numeric matrix or a CsparseMatrix with the columns that the observation model takes,
# and makes all checks that do not depend on that model.
as_table <- function(x, arg, allow_no_rows = FALSE, call, obs, na_action = NULL) {
  plain <- plain_table(x, obs)
  if (!is.null(plain)) {
    return(plain)
  }
  refuse_relations(x, arg, call)
  need_model_of_times(x, obs, arg, call)
  if (obs_can(obs, "read")) {
    if (is(x, "Matrix") || inherits(x, "simple_triplet_matrix")) refuse_sparse(obs, arg, call)
    x <- choose_columns(as_frame(steps_of_track(x, obs), arg, call), obs, arg, call)
    check_frame_size(x, arg, allow_no_rows, call)
    return(obs_read(obs, x, arg, call, na_action))
  }
  x <- choose_columns(x, obs, arg, call)
  if (inherits(x, "simple_triplet_matrix")) {
    x <- triplet_to_sparse(x)
  }
  if (is(x, "Matrix")) {
    x <- as_column_sparse(x)
  } else if (is.data.frame(x)) {
    x <- data_frame_to_matrix(plain_columns(x), arg, call)
  } else if (is_plain_number(x <- plain_values(split_times(x)$x))) {
    if (is.null(dim(x))) {
      row_names <- names(x)
      x <- matrix(x, ncol = 1L, dimnames = if (!is.null(row_names)) list(row_names, NULL))
    } else if (length(dim(x)) != 2L) {
      abort("input", c(
        "{.arg {arg}} must have two dimensions, rows and columns, not {length(dim(x))}."
      ), call = call)
    }
    x <- as_plain_matrix(x)
  } else if (is.matrix(x) || is.atomic(x)) {
    abort("not_numeric", c(
      "{.arg {arg}} must hold numbers, not {describe(x)}.",
      foreign_remedies(list(x)) %||% c(i = "Convert it, or choose numeric columns.")
    ), call = call)
  } else {
    refuse_formula(x, arg, call)
    abort("input", c(
      "{.arg {arg}} must be a numeric vector, a matrix, a data frame or a formula, not {describe(x)}.",
      tables_within(x, arg)
    ), call = call)
  }
  check_table(x, arg, allow_no_rows, call, na_action)
  unique_columns(x, arg, call)
}

# The fast path of as_table(), for plain finite numbers in a matrix or in columns of a data frame, which the
# model takes as they are. NULL for everything else, which as_table() then examines.
plain_table <- function(x, obs) {
  if (!is.null(obs$columns) || obs_can(obs, "read")) {
    return(NULL)
  }
  if (identical(class(x), "data.frame") && length(x) > 1L) {
    if (!all(vapply(x, function(v) is.double(v) && is.null(attributes(v)), NA))) {
      return(NULL)
    }
    row_names <- if (.row_names_info(x) >= 0L) row.names(x)
    x <- matrix(unlist(x, use.names = FALSE), nrow(x), length(x), dimnames = list(row_names, names(x)))
  }
  bare <- is.double(x) && !is.object(x) && is.matrix(x) && all(names(attributes(x)) %in% c("dim", "dimnames"))
  if (bare && length(x) && is.finite(sum(x)) && !anyDuplicated(c("", NA, colnames(x)))) x
}

# A hint for errors that names the elements of a list that are tables.
tables_within <- function(x, arg) {
  tables <- if (is.list(x)) names(x)[vapply(x, function(v) length(dim(v)) == 2L, NA)]
  tables <- unique(tables[nzchar(tables)])
  if (length(tables)) c(i = paste0("Its tables are {.code ", arg, "$", tables, "}.", collapse = " "))
}

# A matrix of plain numbers, with the names of x. x itself is returned where nothing has to be converted.
as_plain_matrix <- function(x) {
  if (is.double(x) && !is.object(x)) {
    return(x)
  }
  names <- dimnames(x)
  x <- matrix(as.double(x), nrow(x), ncol(x))
  dimnames(x) <- names
  x
}

data_frame_to_matrix <- function(x, arg, call) {
  ok <- vapply(x, function(v) is_plain_number(v) && is.null(dim(v)), NA)
  if (!all(ok)) {
    bad <- names(x)[!ok]
    types <- vapply(x[!ok], function(v) class(v)[1], "")
    abort("not_numeric", c(
      "{.arg {arg}} must hold numeric columns only.",
      x = "Not numeric: {paste0(bad, ' (', types, ')')}.",
      foreign_remedies(x[!ok]) %||%
        c(i = "Leave {cli::qty(length(bad))}{?it/them} out, or convert {?it/them} to numbers.")
    ), call = call)
  }
  m <- matrix(as.double(unlist(x, use.names = FALSE)), nrow(x), ncol(x))
  automatic <- .row_names_info(x) < 0L
  dimnames(m) <- list(if (!automatic) row.names(x), names(x))
  m
}

check_table <- function(x, arg, allow_no_rows, call, na_action) {
  if (ncol(x) == 0L) {
    abort("no_columns", c(
      "{.arg {arg}} has no columns.", i = "Give at least one numeric column."
    ), call = call)
  }
  if (nrow(x) == 0L && !allow_no_rows) {
    abort("no_rows", c("{.arg {arg}} has no rows.", i = "Give at least one observation."), call = call)
  }
  check_finite_table(x, arg, call, na_action)
}

check_finite_table <- function(x, arg, call, na_action = NULL) {
  values <- if (is.matrix(x)) x else x@x
  if (is.finite(sum(values)) || all(is.finite(values))) {
    return(invisible())
  }
  bad <- if (is.matrix(x) && keeps_missing(na_action)) is.infinite(values) else !is.finite(values)
  count <- sum(bad)
  if (!count) {
    return(invisible())
  }
  empty <- if (is.matrix(x) && nrow(x) > 1L) colnames(x)[colSums(!is.na(x)) == 0]
  abort("not_finite", c(
    "{.arg {arg}} has {count} missing or infinite value{?s}.",
    x = "At (row, column): {cell_places(x, bad, arg)}.",
    if (length(empty)) {
      c(i = "{cli::qty(length(empty))}Column{?s} {.field {empty}} {?has/have} no value at all: leave {?it/them} out.")
    },
    if (is.matrix(x) || is.null(na_action) || !anyNA(values)) remedy_of_missing(na_action, values) else
      c(i = "Sparse matrices cannot have missing values: use {.code as.matrix({arg})}, or put 0 there.")
  ), call = call)
}

# The rows and columns of some cells in words: "(3, b), (7, a)". bad: TRUE for these cells of a matrix x, or
# for these entries of a CsparseMatrix.
cell_places <- function(x, bad, arg) {
  at <- if (is.matrix(x)) {
    which(matrix(bad, nrow(x)), arr.ind = TRUE)
  } else {
    cbind(x@i[bad] + 1L, findInterval(which(bad) - 1L, x@p))
  }
  at <- at[order(at[, 1], at[, 2]), , drop = FALSE]
  places(paste0("(", row_number(at[, 1], arg), ", ", colnames(x)[at[, 2]] %||% at[, 2], ")"))
}

as_column_sparse <- function(x) {
  x <- as(x, "dMatrix")
  x <- as(x, "generalMatrix")
  as(x, "CsparseMatrix")
}

# Converts a sparse matrix of package slam. In a TermDocumentMatrix of tm the documents are columns, and
# become rows.
triplet_to_sparse <- function(x) {
  names <- unname(x$dimnames)
  out <- sparseMatrix(
    i = x$i, j = x$j, x = as.double(x$v), dims = c(x$nrow, x$ncol),
    dimnames = if (length(names)) names else list(NULL, NULL)
  )
  if (inherits(x, "TermDocumentMatrix")) Matrix::t(out) else out
}

# The rows of a CsparseMatrix as the engine reads them, without explicit zeros, columns ascending.
sparse_rows <- function(x) {
  by_row <- Matrix::drop0(Matrix::t(x))
  list(row_start = by_row@p, column = by_row@i, value = by_row@x)
}

# Refuses values that the observation model cannot produce. Each model that cannot produce all numbers has an
# entry `refusal` in obs_facts(), which makes the error.
check_support <- function(x, obs, arg, call) {
  bad <- !obs_supports(obs, if (is.matrix(x)) x else x@x)
  bad[is.na(bad)] <- FALSE # missing values, where they are allowed
  if (!any(bad)) {
    return(if (is.matrix(x)) obs_check_columns(obs, x, arg, call))
  }
  facts <- obs_facts(obs)
  refusal <- facts$refusal
  abort(refusal[["class"]], c(
    paste("{.arg {arg}} must", refusal[["must"]], "for {.fn {facts$constructor}}."),
    x = "At (row, column): {cell_places(x, bad, arg)}.",
    i = refusal[["remedy"]]
  ), call = call)
}

# Takes rows of a checked table and of the attributes that reading the table has set; NA makes a row without
# any value.
rows_of_table <- function(x, rows) {
  structure(x[rows, , drop = FALSE], frame = attr(x, "frame"), covariates = attr(x, "covariates")[rows, , drop = FALSE])
}

# Turns a checked table into the internal form of data. starts: the offsets of groups of rows, if any.
# na_action, use: as in act_on_missing(), or NULL if missing values have been dealt with.
table_to_data <- function(x, obs, arg, call, starts = NULL, group_names = NULL, times = NULL, na_action = NULL,
                          use = NULL) {
  facts <- obs_facts(obs)
  frame <- attr(x, "frame")
  covariates <- attr(x, "covariates")
  if (!is.null(frame)) attr(x, "frame") <- NULL
  if (!is.null(covariates)) attr(x, "covariates") <- NULL
  split <- list(x = x)
  if (!is.null(obs$exposure)) {
    split <- take_exposure(x, obs, arg, call, if (!is.null(group_names)) rep(group_names, diff(starts)))
  }
  if (!is.null(obs$inputs)) split <- take_inputs(x, obs, arg, call)
  if (!is.null(facts$refusal)) check_support(split$x, obs, arg, call)
  sparse <- !is.matrix(split$x)
  if (sparse && !facts$takes_sparse) refuse_sparse(obs, arg, call)
  data <- new_bnp_data(
    split$x, starts, group_names, if (sparse) sparse_rows(split$x),
    exposure = split$exposure, inputs = split$inputs, covariates = covariates, frame = frame, times = times,
    origin = origin_of(arg)
  )
  if (keeps_missing(na_action)) act_on_missing(data, obs, na_action, use, arg, call) else data
}

# Refuses new rows so far from the training data that their squares overflow, even in units of the columns'
# spread.
check_reach <- function(data, obs, call, arg, farthest = 1e280) {
  unit <- unlist(lapply(obs$blocks %||% list(obs), function(block) {
    block$unit %||% rep(1, if (is.null(obs$blocks)) data$d else length(block$columns) + length(exposure_column(block)))
  }))
  values <- data$x %||% data$value
  largest <- max(values, -min(values, 0, na.rm = TRUE), na.rm = TRUE) # without a table of distances
  if (!length(values) || largest < min(1, unit) * min(farthest, 1e200)) {
    return(data)
  }
  distance <- if (is.null(data$x)) abs(values) else abs(obs_scaled(obs, data$x) / rep(unit, each = data$n))
  if (any(distance > farthest, na.rm = TRUE)) {
    row <- if (is.null(data$x)) findInterval(which(distance > farthest)[1] - 1L, data$row_start) else
      which(rowSums(distance > farthest, na.rm = TRUE) > 0)[1]
    abort("range", c(
      "{.arg {arg}} has values that are more than {farthest} times the spread of the training data away.",
      x = "The first of them is in row {row_number(row, arg)}."
    ), call = call)
  }
  data
}

refuse_sparse <- function(obs, arg, call) {
  takers <- Filter(function(facts) facts$takes_sparse, obs_models)
  offers <- vapply(takers, function(facts) paste0("{.fn ", facts$constructor, "} for ", facts$values), "")
  abort("input", c(
    "{.arg {arg}} is a sparse matrix, which {.fn {obs_facts(obs)$constructor}} does not take.",
    i = paste0("Use {.code as.matrix({arg})}, or ", paste(offers, collapse = ", "), ".")
  ), call = call)
}

refuse_formula <- function(x, arg, call) {
  if (inherits(x, "formula")) {
    abort("formula", c(
      "{.arg {arg}} is a formula, which only {.fn bnp_mixture} and {.fn bnp_hmm} take.",
      i = "Give a matrix or a data frame of the columns."
    ), call = call)
  }
}
