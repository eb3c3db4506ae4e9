# Converts columns of a data frame to numbers, and numbers back to such columns. A column of levels has codes
# 1, 2, ...; 0 stands for a level that is not known.

# The kind of a column: "number", "level" (factor, character or logical), or "other" (dates, lists, ...).
column_kind <- function(v) {
  if (is.factor(v) || is.character(v) || is.logical(v)) {
    return("level")
  }
  if (is_plain_number(v)) "number" else "other"
}

# The type to which simulated values of a column are converted.
column_type <- function(v) {
  was <- attr(v, "was") # in pieces of a source, a factor with the levels of all pieces
  if (!is.null(was)) {
    return(was)
  }
  if (is.ordered(v)) "ordered" else if (is.factor(v)) "factor" else typeof(v)
}

# A table of any class as a data frame with column names.
as_frame <- function(x, arg, call) {
  if (!is.data.frame(x)) {
    x <- plain_values(x) # as.data.frame() would turn a table of counts into a row for each cell
    if (is.null(x) || !is.atomic(x) && !is.factor(x) || length(dim(x)) > 2L) {
      abort("input", "{.arg {arg}} must be a data frame or a matrix, not {describe(x)}.", call = call)
    }
    row_names <- if (is.null(dim(x))) names(x) else rownames(x)
    names <- colnames(x)
    x <- if (is.null(dim(x))) data.frame(x = unname(x)) else as.data.frame(unname(x))
    names(x) <- names %||% default_names(ncol(x))
    if (!is.null(row_names) && !anyDuplicated(row_names)) rownames(x) <- row_names
  }
  unique_columns(plain_columns(as.data.frame(x)), arg, call)
}

# The row names of a data frame; NULL if they are only row numbers.
frame_row_names <- function(x) if (.row_names_info(x) >= 0L) row.names(x)

check_frame_size <- function(x, arg, allow_no_rows, call) {
  if (ncol(x) == 0L) {
    abort("no_columns", c("{.arg {arg}} has no columns.", i = "Give at least one."), call = call)
  }
  if (nrow(x) == 0L && !allow_no_rows) {
    abort("no_rows", c("{.arg {arg}} has no rows.", i = "Give at least one observation."), call = call)
  }
}

# Selects the columns of a data frame that an observation model is to use, and the column of its exposures.
choose_columns <- function(x, obs, arg, call) {
  if (is.null(obs$columns)) {
    return(x)
  }
  x <- plain_columns(x)
  columns <- flat_names(obs$columns, x)
  refuse_modelled_exposures(exposure_column(obs), columns, arg, call)
  columns <- c(columns, exposure_column(obs))
  given <- if (is.null(dim(x))) NULL else colnames(x)
  missing <- setdiff(columns, given)
  if (length(missing)) {
    abort("columns", c(
      "{.arg columns} names columns that {.arg {arg}} does not have: {places(dQuote(missing, FALSE))}.",
      i = if (is.null(given)) "Its columns have no names." else "Its columns: {places(dQuote(given, FALSE))}."
    ), call = call)
  }
  x[, columns, drop = FALSE]
}

# Checks the argument `columns` of a constructor: distinct names, or NULL.
check_columns <- function(columns, call = rlang::caller_env()) {
  if (is.null(columns)) {
    return(NULL)
  }
  if (!is.character(columns) || !length(columns) || anyNA(columns) || anyDuplicated(columns)) {
    abort("argument", "{.arg columns} must be names of columns, each once, or {.code NULL}, not {describe(columns)}.",
      call = call
    )
  }
  as.vector(columns)
}

# The argument `columns` of a constructor, checked, as a field of an observation model; NULL if it was not
# given.
columns_field <- function(columns, call = rlang::caller_env()) {
  if (!is.null(columns)) list(columns = check_columns(columns, call))
}

# The labels of a column's cells as text, whatever its class.
cell_labels <- function(v) {
  if (is.factor(v)) {
    labels <- levels(v)
    labels[is.na(labels)] <- "NA"
    return(labels[as.integer(v)])
  }
  if (is.double(v)) ifelse(is.na(v), NA_character_, sprintf("%.0f", v)) else as.character(v)
}

# The labels of a column's cells in new data as text. Logical values become 0 and 1 if the training data had
# these.
labels_of_new <- function(v, levels) {
  cell_labels(if (is.logical(v) && !any(c("FALSE", "TRUE") %in% levels)) as.double(v) else v)
}

# The levels of a column of the training data, in the order of their codes.
levels_of <- function(v) {
  if (is.factor(v)) {
    return(ifelse(is.na(levels(v)), "NA", levels(v)))
  }
  if (is.logical(v)) {
    return(c("FALSE", "TRUE"))
  }
  cell_labels(sort(unique(v), method = "radix"))
}

# Encodes columns of levels as numbers: list(x, levels, types), where x has the codes, levels the labels of
# each column, and types the class of each column. known: the levels of the training data, with which labels
# of new data are matched; a label that is not among them gets code 0. Missing cells stay NA.
encode_levels <- function(frame, known, arg, call, na_action = NULL) {
  for (name in names(frame)) check_levels(frame[[name]], name, arg, call, na_action)
  levels <- known[names(frame)] %||% lapply(frame, levels_of)
  x <- matrix(0, nrow(frame), length(frame), dimnames = list(frame_row_names(frame), names(frame)))
  unseen <- character()
  for (name in names(frame)) {
    labels <- labels_of_new(frame[[name]], levels[[name]])
    code <- match(labels, levels[[name]])
    other <- is.na(code) & !is.na(labels)
    if (any(other)) {
      unseen <- c(unseen, paste0(name, " (", places(dQuote(unique(labels[other]), FALSE), 3L), ")"))
      code[other] <- 0L
    }
    x[, name] <- code
  }
  if (length(unseen)) {
    cli::cli_warn(c(
      "{.arg {arg}} has levels that the training data did not have; they are ignored.",
      i = "{places(unseen)}"
    ), class = c("bnpvi_warning_unseen_levels", "bnpvi_warning"), call = call)
  }
  if (is.null(known)) {
    check_many_levels(levels, nrow(frame), arg, call)
    tell_of_order(frame, arg, call)
  }
  list(x = x, levels = levels, types = vapply(frame, column_type, ""))
}

check_levels <- function(v, name, arg, call, na_action) {
  if (column_kind(v) == "other") refuse_column(v, name, arg, call)
  missing <- which(if (is.factor(v)) is.na(as.integer(v)) else is.na(v))
  if (length(missing) && !keeps_missing(na_action)) {
    if (length(missing) == length(v) && length(v) > 1L) {
      abort("not_finite", c(
        "Column {.field {name}} of {.arg {arg}} has no value at all.", i = "Leave it out."
      ), call = call)
    }
    abort("not_finite", c(
      "{.arg {arg}} has {length(missing)} missing value{?s} in the column {.field {name}}.",
      x = "At (row, column): {places(paste0('(', row_number(missing, arg), ', ', name, ')'))}.",
      remedy_of_missing(na_action, NA), i = "{.fn addNA} makes a level of them."
    ), call = call)
  }
  bad <- if (is.double(v)) which(v != round(v) | is.infinite(v))
  if (length(bad)) {
    abort("not_levels", c(
      "{.arg {arg}} must hold labels or whole numbers in columns of levels.",
      x = "At (row, column): {places(paste0('(', row_number(bad, arg), ', ', name, ')'))}.",
      i = "Model numbers as numbers, or group them first: {.fn cut}."
    ), call = call)
  }
}

refuse_column <- function(v, name, arg, call) {
  abort("not_numeric", c(
    "{.arg {arg}} must hold columns of numbers or of levels.",
    x = "The column {.field {name}} is {describe(v)}.",
    foreign_remedies(list(v)) %||% c(i = "Leave it out, or convert it to numbers or a factor.")
  ), call = call)
}

# Checks columns with very many levels. A column with a level for nearly every row is an identifier or free
# text and tells nothing about groups. It is refused if it has more levels than nine in ten rows, and reported
# if it has more than one in two rows. (Both limits are guesses; a fit would be valid with any number.)
check_many_levels <- function(levels, n, arg, call, warn = TRUE) {
  if (is_piece(arg) || isTRUE(origin_of(arg)$sample)) {
    return(invisible()) # checked for all pieces together
  }
  number <- lengths(levels)
  names <- names(levels)[number > max(0.9 * n, 10)]
  if (length(names)) {
    abort("many_levels", c(
      "{cli::qty(length(names))}Column{?s} {.field {names}} of {.arg {arg}} {?has/have} a level for nearly every row.",
      i = "Leave identifiers and free text out: they do not describe groups. An identifier of individuals that have
           several rows is an {.arg id}. A formula chooses columns, also of files:
           {.code bnp_mixture(~ a + b, data = )}."
    ), call = call)
  }
  many <- names(levels)[number > max(n / 2, 10)]
  if (warn && length(many)) {
    cli::cli_warn(c(
      "{cli::qty(length(many))}Column{?s} {.field {many}} of {.arg {arg}} {?has/have} a level for more than every second
       row.",
      i = "Leave identifiers and free text out: they do not describe groups."
    ), class = c("bnpvi_warning_many_levels", "bnpvi_warning"), call = call)
  }
}

tell_of_order <- function(frame, arg, call) {
  if (is_piece(arg)) {
    return(invisible())
  }
  ordered <- names(frame)[vapply(frame, is.ordered, NA)]
  if (length(ordered)) {
    cli::cli_inform(
      "The order of the levels of {cli::qty(length(ordered))}column{?s} {.field {ordered}} of {.arg {arg}} is not
       used.",
      class = c("bnpvi_message_order", "bnpvi_message"), call = call
    )
  }
}

# Converts numbers to a column of this type. labels: the labels of a column of levels.
as_column <- function(x, type, labels = NULL) {
  if (is.null(labels)) {
    return(switch(type, logical = x > 0, integer = if (all(x == round(x))) as.integer(x) else x, x))
  }
  text <- labels[x]
  switch(type,
    factor = factor(text, levels = labels), ordered = factor(text, levels = labels, ordered = TRUE),
    logical = text == "TRUE", integer = as.integer(text), double = as.double(text), text
  )
}
