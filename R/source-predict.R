# Results of fits for new data in a source, computed piece by piece.

# Applies f(table, id), which computes the result for the rows of one piece, to all pieces of a source. write:
# NULL; a function of the result and the number of the piece; or the path of a text file, whose first columns
# identify each row. With `write` only the number of rows is returned.
over_source <- function(fit, source, id, f, write = NULL, call = rlang::caller_env()) {
  id <- id_column(id, call) %||% fit$input$id_column %||% if (isTRUE(fit$model$obs$repeated)) fit$input$id
  put <- check_write(write, call)
  reader <- read_units(with_types(source, types_of_fit(fit)), verb_of(fit), id, call)
  on.exit(reader$close())
  answers <- list()
  rows <- 0
  number <- 0L
  while (!is.null(piece <- reader$read())) {
    number <- number + 1L
    needs_column <- !is.null(fit$input$terms)
    x <- if (needs_column) piece$x else without_id(piece)$x
    answer <- in_piece(piece, call, f(table_of_piece(x, piece), piece$id))
    if (is.null(put)) answers[[number]] <- answer else put(answer, number, function() key_of(answer, piece, rows, fit))
    rows <- rows + NROW(answer)
  }
  if (!number) abort("no_rows", "The source has no rows.", call = call)
  if (is.null(put)) answers else invisible(rows)
}

# Types of the columns of new text files, for a fit: columns that were text, or levels of a factor, are read
# as text in new data, too, whatever values the file contains.
types_of_fit <- function(fit) {
  classes <- attr(fit$input$terms, "dataClasses")
  levels <- c(
    names(fit$model$obs$types)[fit$model$obs$types %in% c("character", "factor", "ordered")],
    names(classes)[classes %in% c("character", "factor", "ordered")]
  )
  stats::setNames(rep("text", length(unique(levels))), unique(levels))
}

check_write <- function(write, call) {
  if (is.null(write)) {
    return(NULL)
  }
  if (is.function(write)) {
    return(function(answer, number, key) write(answer, number))
  }
  path <- check_path(write, "write", call)
  function(answer, number, key) {
    table <- if (is.data.frame(answer)) answer else if (is.matrix(answer)) as.data.frame(answer) else
      data.frame(value = unname(answer))
    utils::write.table(cbind(key(), table), path,
      append = number > 1L, sep = ",", dec = ".", row.names = FALSE, col.names = number == 1L, qmethod = "double"
    )
  }
}

# Columns that identify the rows of a result: row names, or the rows' numbers in the whole source, and the
# sequence or individual of each row.
key_of <- function(answer, piece, before, fit) {
  names <- if (is.data.frame(answer)) row_names_of(answer) else rownames(answer) %||% names(answer)
  number <- before + seq_len(NROW(answer))
  if (before + NROW(answer) < .Machine$integer.max) number <- as.integer(number) # which is written in full
  key <- data.frame(names %||% number)
  names(key) <- row_word(fit)
  if (row_word(fit) == "row" && length(piece$id) == NROW(answer)) {
    key <- cbind(stats::setNames(data.frame(as.character(piece$id)), piece$id_column %||% "id"), key)
  }
  key
}

# The result of predict() for all pieces of a source together, unless each was written.
predict_source <- function(fit, source, id, write, f, call = rlang::caller_env()) {
  answers <- over_source(fit, source, id, f, write, call)
  if (!is.null(write)) {
    return(invisible(answers))
  }
  if (is.null(dim(answers[[1L]]))) {
    return(if (is.factor(answers[[1L]])) factor_of(answers) else do.call(c, answers))
  }
  out <- do.call(rbind, answers)
  if (is.data.frame(out)) rownames(out) <- NULL
  out
}

factor_of <- function(parts) {
  factor(unlist(lapply(parts, as.character)), levels = levels(parts[[1L]]))
}

refuse_write <- function(write, call = rlang::caller_env()) {
  if (!is.null(write)) {
    abort("argument", c(
      "{.arg write} is for new data in a source.", i = "For data in memory the answer is returned in memory."
    ), call = call)
  }
}

# The mean log likelihood over all rows of a source. f(table, id) returns the log likelihoods of one piece, NA
# for rows without one.
mean_over_source <- function(fit, source, id, f, call = rlang::caller_env()) {
  sum <- count <- 0
  answers <- over_source(fit, source, id, function(x, id) {
    values <- f(x, id)
    values <- values[!is.na(values)]
    sum <<- sum + sum(values)
    count <<- count + length(values)
    NULL
  }, call = call)
  if (!count) abort("no_rows", "The source has no rows with a density.", call = call)
  sum / count
}

# Updates a fit with the pieces of a source, one after the other.
update_from_source <- function(fit, source, olddata, new_terms, ..., id = NULL, call = rlang::caller_env()) {
  read_arguments(rlang::enquos(id = id), source, "newdata")
  if (!is.null(olddata)) {
    abort("update", c(
      "{.arg olddata} cannot be used with {.arg newdata} in a source.",
      i = "To visit all rows again, fit a source of them: {.code {verb_of(fit)}(source, start = fit)}."
    ), call = call)
  }
  check_format(fit, call)
  over_source(fit, source, id, function(x, id) {
    fit <<- if (is.null(id)) update(fit, newdata = x, new_terms = new_terms, ...) else
      update(fit, newdata = x, new_terms = new_terms, id = !!id, ...)
    NULL
  }, call = call)
  fit
}
