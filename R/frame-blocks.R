# Blocks of columns of a data frame: which block has which columns, what it sees of the data and of a fit, and its rows
# as columns again.

# A frame and blocks as their constructors made them -> the names of each block's columns, exposures apart. `arg`: x.
assign_columns <- function(frame, blocks, arg, call) {
  names <- names(frame)
  named <- lapply(blocks, function(block) flat_names(block$columns, frame))
  exposures <- unlist(lapply(blocks, exposure_column))
  foreign <- setdiff(c(unlist(named), exposures), names)
  if (length(foreign)) {
    abort("columns", c(
      "Blocks name columns that {.arg {arg}} does not have: {places(dQuote(foreign, FALSE))}.",
      i = "Its columns: {places(dQuote(names, FALSE))}."
    ), call = call)
  }
  twice <- unique(unlist(named)[duplicated(unlist(named))])
  if (length(twice)) {
    abort("columns", c(
      "{cli::qty(length(twice))}Column{?s} {.field {twice}} of {.arg {arg}} {?is/are} named by several blocks.",
      i = "Each column belongs to one block."
    ), call = call)
  }
  left <- setdiff(names, c(unlist(named), exposures))
  kinds <- vapply(frame, column_kind, "")
  for (block in names(blocks)) {
    if (!is.null(named[[block]])) next
    own <- left[kinds[left] %in% obs_entry(blocks[[block]])$kind]
    named[[block]] <- own
    left <- setdiff(left, own)
    if (!length(own)) {
      abort("columns", c(
        "The block {.field {block}} has no columns left in {.arg {arg}}.",
        i = "Name them by {.arg columns}, or leave the block out."
      ), call = call)
    }
  }
  for (name in left[kinds[left] == "other"]) refuse_column(frame[[name]], name, arg, call)
  if (length(left)) {
    abort("columns", c(
      "No block takes {cli::qty(length(left))}column{?s} {.field {left}} of {.arg {arg}}.",
      i = "Name {cli::qty(length(left))}{?it/them} in {.arg columns} of a block, add a block for
           {cli::qty(length(left))}{?it/them}, or leave {cli::qty(length(left))}{?it/them} out of {.arg {arg}}."
    ), call = call)
  }
  named[names(blocks)]
}

# A data frame -> numbers, the columns of the blocks one after the other, each block's exposure after its columns; with
# what resolve_product() needs to know of it as the attribute `frame`. obs: as its constructor made it, or as a fit
# keeps it.
read_product <- function(x, obs, arg, call, na_action = NULL) {
  columns <- if (is.null(obs$columns)) assign_columns(x, obs$blocks, arg, call) else
    lapply(obs$blocks, `[[`, "columns")
  parts <- Map(function(block, own) read_block(x, block, own, arg, call, na_action), obs$blocks, columns)
  values <- do.call(cbind, unname(lapply(parts, `[[`, "x")))
  rownames(values) <- frame_row_names(x)
  exposures <- unlist(lapply(obs$blocks, exposure_column))
  structure(values, frame = list(
    columns = intersect(names(x), c(unlist(columns), exposures)), blocks = columns,
    parts = lapply(parts, `[[`, "frame"),
    levels = do.call(c, unname(lapply(parts, function(part) part$frame$levels))), types = vapply(x, column_type, "")
  ))
}

# list(x, frame): the numbers of one block and what its own model needs to know of its columns.
read_block <- function(x, block, columns, arg, call, na_action) {
  entry <- obs_entry(block)
  own <- x[columns]
  values <- if (is.null(entry$read)) data_frame_to_matrix(own, arg, call) else
    entry$read(own, block, arg, call, na_action)
  check_finite_table(values, arg, call, na_action)
  check_support(values, block, arg, call)
  exposure <- exposure_column(block)
  frame <- attr(values, "frame")
  if (!is.null(exposure)) {
    values <- cbind(values, check_above_0(as.double(x[[exposure]]), exposure, call))
    colnames(values) <- c(columns, exposure)
  }
  list(x = values, frame = frame)
}

# The internal data of one block; `columns`: of its model.
data_of_block <- function(data, block) {
  part <- function(names, x = data$x) x[, match(names, data$column_names), drop = FALSE]
  out <- data
  out$x <- part(block$columns)
  out$missing <- if (has_missing(data)) part(block$columns, data$missing)
  out$d <- ncol(out$x)
  out$column_names <- block$columns
  exposure <- exposure_column(block)
  if (!is.null(exposure)) out$exposure <- drop(part(exposure))
  out
}

# A fit as a block's model would have it.
fit_of_block <- function(fit, name) {
  block <- fit$model$obs$blocks[[name]]
  fit$model$obs <- block
  fit$input$d <- length(block$columns)
  fit$input$column_names <- block$columns
  kept <- fit$input$blocks[[name]]
  fit$input[names(kept)] <- kept
  fit
}

# The drawn columns of the blocks as those of the training data, in their order.
frame_of_product <- function(blocks, entries, obs, x) {
  parts <- Map(function(block, entry) {
    own <- x[, block$columns, drop = FALSE]
    if (!is.null(entry$as_frame)) {
      return(entry$as_frame(block, own))
    }
    columns <- lapply(stats::setNames(nm = block$columns), function(name) as_column(own[, name], obs$types[[name]]))
    exposure <- exposure_column(block)
    if (!is.null(exposure)) columns[[exposure]] <- x[, exposure]
    columns
  }, blocks, entries)
  columns <- do.call(c, unname(lapply(parts, as.list)))[obs$columns]
  structure(columns, class = "data.frame", row.names = seq_len(nrow(x)))
}
