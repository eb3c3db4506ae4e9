# Blocks of a product (obs_product()): observation models that each describe some columns of a data frame.
# This file has the columns of each block, its view of the data and of a fit, and how its rows become columns
# again.

# The names of each block's columns, without exposures, from a data frame and blocks (observation models of
# some columns) as their constructors made them. arg: what messages call the data frame.
assign_columns <- function(frame, blocks, arg, call) {
  names <- names(frame)
  named <- lapply(blocks, function(block) flat_names(named_columns_of(block), frame))
  exposures <- unlist(lapply(blocks, exposure_column))
  covariates <- unlist(lapply(blocks, covariates_of))
  foreign <- setdiff(c(unlist(named), exposures, covariates), names)
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
  refuse_modelled_exposures(exposures, unlist(named), arg, call)
  left <- setdiff(names, c(unlist(named), exposures, covariates))
  kinds <- vapply(frame, column_kind, "")
  for (block in names(blocks)) {
    if (!is.null(named[[block]])) next
    own <- left[kinds[left] %in% obs_facts(blocks[[block]])$kind]
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
  order_of_blocks(blocks, named, call)
  named[names(blocks)]
}

# Reads a data frame into numbers for a product of models: the columns of its blocks one after the other, with
# each block's exposure after its columns. The attribute `frame` has what obs_resolve() needs to know about
# the columns, and the covariates that belong to no block. obs: the product as its constructor made it, or as
# a fit keeps it.
obs_read.obs_product <- function(obs, x, arg, call, na_action = NULL) {
  columns <- if (is.null(obs$columns)) assign_columns(x, obs$blocks, arg, call) else
    lapply(obs$blocks, named_columns_of)
  parts <- Map(function(block, own) read_block(x, block, own, arg, call, na_action), obs$blocks, columns)
  values <- do.call(cbind, unname(lapply(parts, `[[`, "x")))
  rownames(values) <- frame_row_names(x)
  beside <- unlist(lapply(obs$blocks, function(block) c(exposure_column(block), covariates_of(block))))
  structure(values, covariates = covariates_beside(x, obs$blocks, unlist(columns)), frame = list(
    columns = intersect(names(x), c(unlist(columns), beside)), blocks = lapply(parts, `[[`, "columns"),
    parts = lapply(parts, `[[`, "frame"), designs = given_designs(obs$blocks, parts, unlist(columns)),
    levels = do.call(c, unname(lapply(parts, function(part) part$frame$levels))), types = vapply(x, column_type, "")
  ))
}

# Reads the columns of one block (observation model of some columns): list(x, columns, frame) with its
# numbers, the names of its columns without exposures, and what its model needs to know about them.
read_block <- function(x, block, columns, arg, call, na_action) {
  own <- x[union(columns, covariates_of(block))]
  values <- if (obs_can(block, "read")) obs_read(block, own, arg, call, na_action) else
    data_frame_to_matrix(own, arg, call)
  check_finite_table(values, arg, call, na_action)
  if (!is.null(obs_facts(block)$refusal)) check_support(values, block, arg, call)
  exposure <- exposure_column(block)
  frame <- attr(values, "frame")
  if (!is.null(exposure)) {
    values <- cbind(values, check_above_0(as.double(x[[exposure]]), exposure, call))
    colnames(values) <- c(columns, exposure)
  }
  list(x = values, columns = setdiff(colnames(values), exposure), frame = frame)
}

# The part of the data that belongs to one block (observation model of some columns), in internal form.
data_of_block <- function(data, block) {
  out <- data_columns(data, block$columns)
  exposure <- exposure_column(block)
  if (!is.null(exposure)) out$exposure <- data$x[, match(exposure, data$column_names)]
  out
}

# A fit that looks as if it had been made with one block of a product (one of its observation models) alone.
fit_of_block <- function(fit, name) {
  block <- fit$model$obs$blocks[[name]]
  fit$model$obs <- block
  fit$input$d <- length(block$columns)
  fit$input$column_names <- block$columns
  kept <- fit$input$blocks[[name]]
  fit$input[names(kept)] <- kept
  fit
}

# Turns simulated rows of one block (observation model of some columns) into the columns that it models, and
# its exposures.
columns_of_block <- function(block, x, types) {
  if (obs_can(block, "as_frame")) {
    return(as.list(obs_as_frame(block, x)))
  }
  modelled <- named_columns_of(block)
  columns <- lapply(stats::setNames(seq_along(modelled), modelled), function(j) as_column(x[, j], types[[modelled[j]]]))
  exposure <- exposure_column(block)
  if (!is.null(exposure)) columns[[exposure]] <- x[, ncol(x)]
  columns
}

# Turns simulated rows of a product of models into columns like those of the training data, in the same order.
obs_as_frame.obs_product <- function(obs, x) {
  width <- vapply(obs$blocks, function(block) length(c(block$columns, exposure_column(block))), 1L)
  parts <- Map(function(block, last, n) {
    columns_of_block(block, x[, last - n + seq_len(n), drop = FALSE], obs$types)
  }, obs$blocks, cumsum(width), width)
  columns <- do.call(c, unname(parts))
  columns <- c(columns, as.list(attr(x, "beside"))[setdiff(obs$columns, names(columns))])
  structure(columns[intersect(obs$columns, names(columns))], class = "data.frame", row.names = seq_len(nrow(x)))
}
