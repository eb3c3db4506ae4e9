# Known inputs of filters: numbers given for each row, such as controls, whose effects on the system are
# known.

# The known inputs of the rows of `data` (internal form), as a matrix n x q.
inputs_of_rows <- function(f, inputs, data, call) {
  if (!is.null(data$inputs)) {
    if (!is.null(inputs)) {
      abort("argument", c(
        "{.arg inputs} cannot be given: they are columns of {.arg newdata}.", i = "Only forecasts take {.arg inputs}."
      ), call = call)
    }
    return(data$inputs)
  }
  known <- filter_kinds[[f$kind]]$inputs(f)
  if (is_list_of_tables(inputs)) inputs <- do.call(rbind, lapply(unname(inputs), as_input_table, known, call))
  as_inputs(inputs, known, data$n, call, "{.arg newdata}", function(x) values_of_rows(x, data, "inputs", call))
}

# The known inputs of the h rows that follow each sequence, for forecasts: a list of matrices h x q.
inputs_ahead <- function(f, inputs, h, call) {
  known <- filter_kinds[[f$kind]]$inputs(f)
  names <- names(f$sequences)
  listed <- is_list_of_tables(inputs)
  if (listed && !setequal(names(inputs), names)) {
    abort("argument", c(
      "{.arg inputs} must be one table for all sequences, or a list of tables with their names: {places(names)}."
    ), call = call)
  }
  one <- function(x) {
    if (is.null(x) && known$n > 0L) {
      abort("argument", c(
        "{.arg inputs} is needed for a forecast: future inputs are not predicted.",
        i = "Give {h} row{?s} of {known$n} input{?s}{if (length(known$names)) ': '}{places(known$names)}."
      ), call = call)
    }
    as_inputs(x, known, h, call, "the forecast", identity)
  }
  if (listed) lapply(inputs[names], one) else rep(list(one(inputs)), length(names))
}

is_list_of_tables <- function(x) is.list(x) && !is.data.frame(x)

# Checks known inputs of n rows and returns a matrix. known: list(n, names, instead), where n is their number;
# of: what the rows are; ordered: a function that puts rows with names into their order.
as_inputs <- function(x, known, n, call, of, ordered) {
  if (is.null(x) && known$n == 0L) {
    return(matrix(0, n, 0L))
  }
  if (known$n == 0L) {
    abort("argument", c("{.arg inputs} cannot be given: the model of this filter has none.", i = known$instead),
      call = call
    )
  }
  wrong <- function(why) {
    abort("argument", c(
      paste0("{.arg inputs} must have {n} row{?s}, as ", of, ", and {known$n}
              column{?s}{if (length(known$names)) ': '}{places(known$names)}."), x = why
    ), call = call)
  }
  if (is.null(x)) wrong("It is missing.")
  x <- as_input_table(x, known, call)
  if (nrow(x) != n || ncol(x) != known$n) wrong("It has {nrow(x)} row{?s} and {ncol(x)} column{?s}.")
  x <- unname(ordered(x))
  bad <- which(is.na(x) | abs(x) > 1e100, arr.ind = TRUE)
  if (nrow(bad)) {
    abort("argument", c(
      "{.arg inputs} must be known: finite numbers of at most 1e100 in size.",
      x = "Not so in row {bad[1L, 1L]}: {x[bad[1L, , drop = FALSE]]}."
    ), call = call)
  }
  x
}

# The columns of x in the order of the known inputs, as a numeric matrix. A vector stands for one input over
# all rows, or one row of several inputs.
as_input_table <- function(x, known, call) {
  x <- if (is.data.frame(x)) data_frame_to_matrix(plain_columns(x), "inputs", call) else plain_values(x)
  if (!is.numeric(x) || is.object(x) || length(dim(x)) > 2L) {
    abort("argument", "{.arg inputs} must hold numbers, not {describe(x)}.", call = call)
  }
  if (is.null(dim(x))) {
    x <- if (known$n == 1L) matrix(x, ncol = 1L) else matrix(x, 1L, dimnames = list(NULL, names(x)))
  }
  lacking <- if (!is.null(colnames(x))) setdiff(known$names, colnames(x))
  if (length(lacking)) {
    abort("argument", "{.arg inputs} lacks {cli::qty(length(lacking))}input{?s} {places(lacking)}.", call = call)
  }
  if (!is.null(colnames(x)) && length(known$names)) x <- x[, known$names, drop = FALSE]
  storage.mode(x) <- "double"
  x
}

inputs_of_system <- function(model) {
  list(
    n = n_inputs(model), names = model$inputs,
    instead = "A system has inputs where {.fn lds_model} is given {.arg F} or {.arg G}."
  )
}
