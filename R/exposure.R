# Exposures: for each row a number above 0 that is known and not modelled, such as how long events were
# counted. In the internal form of data they are `data$exposure`; C++ reads them as an additional last column.

check_exposure <- function(x, call = rlang::caller_env()) {
  if (is.list(x) && !is.object(x)) {
    of <- if (!is.null(names(x))) rep(names(x), lengths(x)) # the sequence of each row
    x <- stats::setNames(unlist(x, use.names = FALSE), of)
  }
  x <- as_vector(x)
  if (is.character(x) && length(x) == 1L && !is.na(x)) {
    return(x)
  }
  x <- plain_values(x)
  if (!is.numeric(x) || !is_plain_number(x) || !length(x)) {
    abort("exposure", c(
      "{.arg exposure} must name a column, or have one number above 0 per row, not {describe(x)}."
    ), call = call)
  }
  stats::setNames(as.double(check_above_0(x, "exposure", call)), names(x))
}

check_above_0 <- function(x, what, call) {
  bad <- which(!(is.finite(x) & x > 0))
  if (length(bad)) {
    abort("exposure", c(
      "{.arg {what}} must be finite and above 0.",
      x = "Not so in {cli::qty(length(bad))}row{?s} {places(bad)}.",
      i = "Leave out rows in which nothing could be counted."
    ), call = call)
  }
  x
}

# The name of the column of exposures that data must have in addition to the modelled columns; NULL if there
# is none.
exposure_column <- function(obs) {
  exposure <- obs$exposure
  if (is.character(exposure)) exposure
}

# Splits a checked table into the table without exposures, and the exposures. groups: the name of each row's
# sequence, if there are sequences.
take_exposure <- function(x, obs, arg, call, groups = NULL) {
  exposure <- obs$exposure
  if (isTRUE(exposure)) {
    abort("exposure", c(
      "The exposures of the rows of {.arg {arg}} are not known, as those of the fit were given as numbers.",
      i = "Fit with {.code exposure = \"...\"}, the name of a column that {.arg {arg}} has too."
    ), call = call)
  }
  if (is.character(exposure)) {
    taken <- take_named_column(x, exposure, "exposure", arg, call)
    if (ncol(taken$x) == 0L) {
      abort("no_columns", "{.arg {arg}} has no columns beside {.arg exposure}.", call = call)
    }
    return(list(x = taken$x, exposure = check_above_0(as.double(taken$column), exposure, call)))
  }
  if (length(exposure) != nrow(x)) {
    abort("exposure", c(
      "{.arg exposure} must have one number per row of {.arg {arg}} ({nrow(x)}), not {length(exposure)}."
    ), call = call)
  }
  own <- names(exposure)
  if (!is.null(own) && setequal(own, groups)) { # a list with the names of the sequences
    exposure <- exposure[order(match(own, unique(groups)))]
    exposure <- if (identical(names(exposure), groups)) unname(exposure) else exposure
  }
  list(x = x, exposure = in_order_of_names(exposure, row_names_of(x), nrow(x), "exposure", "row", call))
}

# The data as C++ reads them, with the exposures as the last column or, in sparse rows, the last entry of each
# row.
with_exposure_column <- function(data) {
  exposure <- data$exposure
  data$exposure <- NULL
  if (is_sparse_data(data)) {
    at <- data$row_start[-1] + seq_along(exposure)
    entries <- length(data$value) + length(exposure)
    data$column <- replace(rep(data$d, entries), -at, data$column)
    data$value <- replace(replace(double(entries), at, exposure), -at, data$value)
    data$row_start <- data$row_start + seq(0L, data$n)
  } else {
    data$x <- cbind(data$x, exposure, deparse.level = 0)
  }
  data$d <- data$d + 1L
  data
}

mean_exposure <- function(data) {
  if (!is.null(data$exposure)) stats::weighted.mean(data$exposure, data$weights %||% rep(1, data$n))
}

# Exposures of rows that will be drawn: by default, the mean exposure of the training data.
exposure_of_rows <- function(exposure, fit, call) {
  if (is.null(exposure)) {
    return(fit$input$mean_exposure %||% 1)
  }
  if (is.null(fit$model$obs$exposure)) {
    abort("argument", c(
      "{.arg exposure} has no meaning for a fit without exposures.",
      i = "Give one to the observation model: {.code exposure} of {.fn {obs_facts(fit$model$obs)$constructor}}."
    ), call = call)
  }
  if (!is.numeric(exposure)) {
    abort("exposure", "{.arg exposure} must be numbers above 0, not {describe(exposure)}.", call = call)
  }
  check_above_0(as.double(exposure), "exposure", call)
}

# Exposures of rows that will be drawn from a product model: a list with one element for each block (model of
# some columns) that has exposures. exposure: numbers, if all blocks have them from one column, or a list of
# numbers named by these columns.
exposures_of_blocks <- function(exposure, fit, call) {
  columns <- unlist(lapply(fit$model$obs$blocks, exposure_column))
  if (!is.null(exposure) && !length(columns)) {
    abort("argument", c(
      "{.arg exposure} has no meaning for a fit without exposures.",
      i = "Give one to a block of the product: {.code exposure} of {.fn {makers_with(\"exposure\")}}."
    ), call = call)
  }
  if (!is.null(exposure) && (!is.list(exposure) || is.object(exposure) && !is.data.frame(exposure))) {
    if (length(unique(columns)) > 1L) {
      abort("exposure", c(
        "{.arg exposure} must be a list or a data frame named by the columns of exposures.",
        i = "They are {.field {unique(columns)}}."
      ), call = call)
    }
    exposure <- stats::setNames(list(exposure), columns[1L])
  }
  foreign <- setdiff(rlang::names2(exposure), columns)
  if (length(foreign) || anyDuplicated(names(exposure))) {
    abort("exposure", c(
      "{.arg exposure} must have the names of columns of exposures, each once, not {places(dQuote(foreign, FALSE))}.",
      i = "They are {.field {unique(columns)}}."
    ), call = call)
  }
  Map(function(column, name) {
    exposure_of_rows(exposure[[column]], fit_of_block(fit, name), call)
  }, columns, names(columns))
}

# One exposure for each of n rows, NULL for models without exposures; for a product of models, a list of them.
exposure_by_row <- function(exposure, n, call = rlang::caller_env(4)) {
  force(call)
  if (is.list(exposure)) {
    return(lapply(exposure, exposure_by_row, n, call))
  }
  if (!is.null(exposure) && !length(exposure) %in% c(1L, n)) {
    abort("exposure", "{.arg exposure} must have one number or one per row ({n}), not {length(exposure)}.", call = call)
  }
  if (!is.null(exposure)) rep_len(exposure, n)
}

# Refuses columns that are both exposures (known) and modelled.
refuse_modelled_exposures <- function(exposures, modelled, arg, call) {
  both <- intersect(exposures, modelled)
  if (length(both)) {
    abort("exposure", c(
      "{cli::qty(length(both))}Column{?s} {.field {both}} of {.arg {arg}} {?is/are} named both as {.arg exposure} and in
       {.arg columns}.",
      i = "An exposure is known and not modelled: leave {cli::qty(length(both))}{?it/them} out of {.arg columns}."
    ), call = call)
  }
}
