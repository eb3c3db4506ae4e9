# The one internal form of data, shared by all families (inst/design/data.md).
#
# A list of class `bnp_data` whose fields are declared here, each with the axis along which it has values
# (rows, groups, cells and others). All code that takes some rows or groups, or joins pieces of data, uses
# this table alone: a new field needs a line here and nothing elsewhere.

# Declares fields of the internal form of data along one axis (a name of `data_axes`). engine: whether C++
# reads them; keep: whether a fit keeps them; fill: a function of a part that gives the field's values when a
# part without the field is joined with one that has it. Without `fill` the joined data lack the field, unless
# it is a field of the whole data.
declared <- function(axis, names, engine = FALSE, keep = FALSE, fill = NULL) {
  stats::setNames(rep(list(list(axis = axis, engine = engine, keep = keep, fill = fill)), length(names)), names)
}

data_fields <- c(
  declared("cell", "x", engine = TRUE),
  declared("cell", "missing", fill = function(data) matrix(FALSE, data$n, data$d)),
  declared("row_offset", "row_start", engine = TRUE),
  declared("entry", c("column", "value"), engine = TRUE),
  declared("n_rows", "n", engine = TRUE, keep = TRUE),
  declared("columns", "d", engine = TRUE, keep = TRUE),
  declared("columns", "column_names", keep = TRUE),
  declared("group_offset", "starts", engine = TRUE, keep = TRUE),
  declared("group", c("group_names", "lengths"), keep = TRUE),
  declared("group", "sequence_classes", keep = TRUE, fill = function(data) {
    rep(NA_character_, length(data$starts) - 1L)
  }),
  declared("group_column", "group_values", engine = TRUE),
  declared("row", c("exposure", "covariates", "inputs", "locations")),
  declared("row", c("row_names", "times", "slot"), keep = TRUE),
  declared("row", "weights", engine = TRUE, keep = TRUE, fill = function(data) rep(1, data$n)),
  declared("row", "classes", engine = TRUE, keep = TRUE, fill = function(data) integer(data$n)),
  declared("row", c("back", "position"), engine = TRUE, keep = TRUE),
  declared("row_number", "order", keep = TRUE, fill = function(data) seq_len(data$n)),
  declared("individual", c("individual", "n_individuals"), engine = TRUE, keep = TRUE),
  declared("individual", "individuals", keep = TRUE),
  declared("given", "left_out", keep = TRUE, fill = function(data) all_given(data$n, given_row_names(data))),
  declared("given", "left_out_documents", keep = TRUE, fill = function(data) {
    all_given(length(data$starts) - 1L, data$group_names)
  }),
  declared("whole", c("class_sets", "classes_open"), engine = TRUE, keep = TRUE),
  declared("whole", c("grouped", "na_action", "id", "class_names", "time_name", "gaps"), keep = TRUE),
  declared("whole", c("frame", "distinct_times", "gap", "past")),
  declared("all", "tree", keep = TRUE),
  declared("all", c("patterns", "more_variance")), # fields of new rows, see R/mixture-covariates.R
  # rounded: whether spacings of rounded values are to be found (R/rounding.R)
  declared("all", c("origin", "expected", "response", "rounded")),
  # Fields of data in a spool (a file of batches, R/spool.R), whose rows cannot be taken out, and of the
  # sample of rows that is kept with it.
  declared("all", c("spool", "engine_d", "n_batches", "sample", "fingerprint", "cells_missing", "counted", "totals"))
)
axis_of_field <- vapply(data_fields, `[[`, "", "axis")
engine_fields <- names(Filter(function(field) field$engine, data_fields))
kept_fields <- names(Filter(function(field) field$keep, data_fields))

# Defines how data fields along an axis are taken and joined. take(v, at): the values of some rows, where at =
# list(rows, groups, lengths of these groups, entries). join(parts, before): several values joined in order,
# where `before` has the number of rows before each part. If either returns NULL, the field is dropped.
data_axis <- function(take = function(v, at) v, join = function(parts, before) parts[[1L]]) {
  list(take = take, join = join)
}

data_axes <- list(
  cell = data_axis(function(v, at) values_at(v, at$rows), function(parts, before) do.call(rbind, parts)),
  row = data_axis(
    function(v, at) values_at(v, at$rows),
    function(parts, before) do.call(if (is.null(dim(parts[[1L]]))) c else rbind, parts)
  ),
  # For each row in use its number among all rows that the user gave; renumbered without gaps when some rows
  # are taken.
  row_number = data_axis(
    function(v, at) order(order(v[at$rows])), function(parts, before) unlist(Map(`+`, parts, before))
  ),
  individual = data_axis(), # data_rows() and joined_individuals() number individuals anew
  n_rows = data_axis(function(v, at) length(at$rows), function(parts, before) sum(unlist(parts))),
  row_offset = data_axis(
    function(v, at) c(0L, cumsum(diff(v)[at$rows])), function(parts, before) joined_offsets(parts)
  ),
  entry = data_axis(function(v, at) v[at$entries], function(parts, before) unlist(parts)),
  group_offset = data_axis(function(v, at) c(0L, cumsum(at$lengths)), function(parts, before) joined_offsets(parts)),
  group = data_axis(function(v, at) v[at$groups], function(parts, before) {
    joined <- unlist(parts)
    if (is.character(joined)) make.unique(joined) else joined
  }),
  group_column = data_axis(
    function(v, at) v[, at$groups, drop = FALSE], function(parts, before) do.call(cbind, parts)
  ),
  # Fields of the columns. The terms of texts are numbered in the order in which they first occur, so that the
  # last of several parts has all of them.
  columns = data_axis(join = function(parts, before) parts[[length(parts)]]),
  whole = data_axis(),
  # Which of the given rows or groups are used: list(n, kept, row_names). Dropped if some rows are taken.
  given = data_axis(function(v, at) NULL, function(parts, before) Reduce(joined_left_out, parts)),
  # Fields that describe all rows together: they are dropped if some rows are taken or data are joined.
  all = data_axis(function(v, at) NULL, function(parts, before) NULL)
)

# Makes an object of class bnp_data. x: a matrix, or with `sparse` (list(row_start, column, value)) any object
# with its dimensions and names. starts: offsets of the groups (sequences, documents), whose rows are
# contiguous; NULL if rows are not grouped. `...`: further fields.
new_bnp_data <- function(x, starts = NULL, group_names = NULL, sparse = NULL, ...) {
  names <- dimnames(x) %||% list(NULL, NULL)
  values <- sparse
  if (is.null(sparse)) {
    if (!is.double(x)) storage.mode(x) <- "double"
    if (!is.null(dimnames(x))) dimnames(x) <- NULL
    values <- list(x = x)
  }
  as_bnp_data(c(values, list(
    n = nrow(x), d = ncol(x), starts = as.integer(starts %||% c(0L, nrow(x))), grouped = !is.null(starts),
    row_names = names[[1]], column_names = names[[2]], group_names = group_names, ...
  )))
}

# Makes an object of class bnp_data from a list of declared fields; fields that are NULL are left out.
as_bnp_data <- function(fields) {
  check_declared(names(fields))
  structure(fields[!vapply(fields, is.null, NA)], class = "bnp_data")
}

check_declared <- function(names) {
  if (!all(names %in% names(data_fields))) {
    stop("fields of data that are not declared in R/bnp-data.R: ", toString(setdiff(names, names(data_fields))))
  }
}

# Takes some rows of the data, given by number or by TRUE and FALSE. The rows of a group must be contiguous in
# the result; groups without rows are dropped.
#' @export
`[.bnp_data` <- function(x, i) {
  if (is.character(i)) stop("rows of data have no names: fields are read by `$`")
  rows <- seq_len(x$n)[i]
  if (!x$grouped) {
    return(data_rows(x, rows, length(rows)))
  }
  runs <- rle(group_of_rows(x)[rows])
  if (anyDuplicated(runs$values)) stop("rows of a group that do not follow each other")
  data_rows(x, rows, runs$lengths, runs$values)
}

# Takes whole groups of rows (sequences, documents), given by number.
data_groups <- function(data, groups) {
  lengths <- diff(data$starts)[groups]
  data_rows(data, sequence(lengths, data$starts[groups] + 1L), lengths, groups)
}

# The data with all rows in a new order, which the field `order` records, divided into groups of these lengths
# and names.
regrouped <- function(data, order, lengths, names) {
  out <- data_rows(data, order, lengths)
  out$left_out <- data$left_out
  out$order <- (data$order %||% seq_len(data$n))[order]
  out$grouped <- TRUE
  out$group_names <- names
  out
}

data_rows <- function(data, rows, lengths, groups = seq_along(lengths)) {
  if (is_spooled(data)) stop("data in a spool have no rows to be taken")
  at <- list(rows = rows, groups = groups, lengths = lengths)
  if (is_sparse_data(data)) at$entries <- sequence(diff(data$row_start)[rows], data$row_start[rows] + 1L)
  out <- unclass(data)
  out <- as_bnp_data(Map(function(value, axis) data_axes[[axis]]$take(value, at), out, axis_of_field[names(out)]))
  if (!any(out$missing)) out$missing <- NULL
  if (!has_individuals(out)) {
    return(out)
  }
  own <- data$individual[rows]
  numbered_individuals(out, match(own, sort(unique(own))), data$individuals$names[sort(unique(own))])
}

# Takes some rows of a vector, matrix or data frame that has one value or row for each row of the data.
values_at <- function(x, rows) {
  if (is.null(dim(x))) {
    return(x[rows])
  }
  x <- x[rows, , drop = FALSE]
  if (is.data.frame(x)) `row.names<-`(x, NULL) else x
}

# The number of the group (sequence, document) of each row.
group_of_rows <- function(data) rep(seq_len(length(data$starts) - 1L), diff(data$starts))

# Takes columns of the data by name, and with them the fields that have a value for each cell.
data_columns <- function(data, names) {
  at <- match(names, data$column_names)
  for (field in intersect(names(which(axis_of_field == "cell")), names(data))) {
    data[[field]] <- data[[field]][, at, drop = FALSE]
  }
  data$d <- length(at)
  data$column_names <- names
  data
}

# Joins several data one after the other. It also joins the inputs that fits keep, which have no values of
# rows.
#' @export
c.bnp_data <- function(...) {
  parts <- list(...)
  if (!all(vapply(parts, inherits, NA, "bnp_data"))) stop("only data are joined with data: fields are set by `$<-`")
  if (length(parts) == 1L) {
    return(parts[[1L]])
  }
  if (any(vapply(parts, function(part) !is.null(part$value), NA))) parts <- lapply(parts, as_sparse_data)
  before <- numbers_before(lapply(parts, `[[`, "n"))
  fields <- intersect(names(data_fields), unlist(lapply(parts, names)))
  out <- as_bnp_data(sapply(fields, function(name) {
    field <- data_fields[[name]]
    values <- lapply(parts, `[[`, name)
    lacking <- vapply(values, is.null, NA)
    if (field$axis == "whole") {
      values <- values[!lacking]
    } else if (any(lacking)) {
      if (is.null(field$fill)) {
        return(NULL)
      }
      values[lacking] <- lapply(parts[lacking], field$fill)
    }
    data_axes[[field$axis]]$join(values, before)
  }, simplify = FALSE))
  if (isFALSE(out$grouped)) out$starts <- c(0L, out$n)
  if (has_individuals(out)) joined_individuals(out, parts) else out
}

numbers_before <- function(n) cumsum(c(0L, unlist(n)))[seq_along(n)]
joined_offsets <- function(parts) c(0L, cumsum(unlist(lapply(parts, diff))))

# The joined data with individuals (rows that are repeated measurements of one) numbered anew: those of
# different parts stay different, even if their names are the same.
joined_individuals <- function(data, parts) {
  names <- lapply(parts, function(part) part$individuals$all_names)
  of_given <- Map(function(part, before) part$individuals$all + before, parts, numbers_before(lengths(names)))
  numbered_individuals(data, unlist(of_given), unlist(names))
}

all_given <- function(n, names) list(n = n, kept = seq_len(n), row_names = names)

joined_left_out <- function(a, b) {
  names <- if (!is.null(a$row_names) && !is.null(b$row_names)) c(a$row_names, b$row_names)
  list(n = a$n + b$n, kept = c(a$kept, a$n + b$kept), row_names = names)
}

# Properties of data. All functions here but the first also work for the input that a fit keeps, which has no
# values of rows.
is_sparse_data <- function(data) is.null(data$x)
is_spooled <- function(data) !is.null(data$spool)
has_missing <- function(data) !is.null(data$missing)
has_individuals <- function(data) !is.null(data$individual)
has_trees <- function(data) !is.null(data$back)

# The number of units that get a cluster each: individuals if rows are repeated measurements, else rows.
# units_that_count(): how many of them have a weight above 0.
n_units <- function(data) data$n_individuals %||% data$n
units_that_count <- function(data) {
  if (is.null(data$weights)) n_units(data) else sum(of_units(data, data$weights) > 0)
}

# The sum of the rows' weights, that is, the number of rows that the data count as.
counted_rows <- function(data) {
  if (is.null(data$weights)) data$counted$rows %||% data$n else sum(data$weights)
}

# The sum of weights of the units that get a cluster each: individuals in repeated measurements, else rows.
counted_units <- function(data) {
  if (is.null(data$weights)) data$counted$units %||% n_units(data) else sum(of_units(data, data$weights))
}

# Data that are in memory: all of them or, for a spool (a file of batches), the sample of rows that is kept
# with it.
sample_of <- function(data) if (is_spooled(data)) data$sample else data

as_sparse_data <- function(data) {
  if (is_sparse_data(data)) {
    return(data)
  }
  values <- sparse_rows(as_column_sparse(Matrix::Matrix(data$x)))
  as_bnp_data(c(values, unclass(data)[setdiff(names(data), "x")]))
}

# The fields of the data that C++ reads, as a list.
as_engine_data <- function(data) {
  check_declared(names(data))
  if (is_spooled(data)) {
    n <- n_units(data)
    starts <- if (has_individuals(data)) c(0L, n) else data$starts
    return(list(spool = data$spool, n = n, d = data$engine_d, starts = starts))
  }
  if (!is.null(data$exposure)) data <- with_exposure_column(data)
  if (!is.null(data$slot)) data <- with_slot_column(data)
  unclass(data)[intersect(engine_fields, names(data))]
}

# The digest of the values to which a model was fitted, with exposures and times apart from the rest. Rows are
# identified by their numbers in the user's order.
fingerprint_of <- function(data) {
  if (is_spooled(data)) {
    return(data$fingerprint)
  }
  data$exposure <- data$slot <- NULL
  if (!is.null(data$frame)) {
    data$x <- values_of_frame(data)
    data$d <- ncol(data$x)
  }
  engine_fingerprint(as_engine_data(data), as.integer(data$order %||% integer()))
}
