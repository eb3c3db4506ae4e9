# Pieces of a source in the form that a family of models needs: list(x, id, name, before), a table, the
# document or sequence of each row (NULL: rows are units, or documents), and where the piece comes from.

# Evaluates code that works on a piece of a source. If the code fails, the error names the piece.
in_piece <- function(piece, call, expr) {
  tryCatch(expr, error = function(e) {
    cli::cli_abort("{piece$name} cannot be used.",
      class = c("bnpvi_error_source", "bnpvi_error"), call = call, parent = e
    )
  })
}

# A reader of the pieces of a source, each with all rows of its documents or sequences.
read_units <- function(source, class, id, call, counts_tokens = FALSE) {
  id <- id_column(id, call)
  if (!is.null(id) && !(is.character(id) && length(id) == 1L)) {
    abort("id", "{.arg id} must be the name of a column of the source, not {describe(id)}.", call = call)
  }
  source$labels <- function(names) label_columns(names, id, class == "bnp_topics")
  reader <- open_source(source, call)
  alone <- function(piece) c(list(x = piece$data), piece[c("name", "before")])
  read <- if (!is.null(id)) {
    read_by_id(reader, id, TRUE, call)
  } else if (class %in% c("bnp_mixture", "bnp_features")) {
    function() if (!is.null(piece <- reader$read())) alone(piece)
  } else if (class == "bnp_topics") {
    read_documents(reader, alone, call)
  } else {
    read_sequences(reader, source, call)
  }
  list(
    read = function() {
      repeat {
        piece <- read()
        if (is.null(piece) || NROW(piece$x) > 0L) {
          return(piece)
        }
      }
    },
    close = reader$close
  )
}

# Names of the columns of a table that hold labels, never numbers: `id`, and for a table of documents and
# terms the columns of both.
label_columns <- function(names, id, documents) {
  of_terms <- documents && is.null(id) && is_term_frame(stats::setNames(vector("list", length(names)), names))
  intersect(c(id, if (of_terms) c("document", term_names)), names)
}

# A reader of documents. Rows of sparse matrices are documents; in tables of counts, all rows of a document
# stand together.
read_documents <- function(reader, alone, call) {
  by_document <- NULL
  first <- NULL
  function() {
    if (is.null(by_document)) {
      first <<- reader$read()
      if (is.null(first)) {
        return(NULL)
      }
      frame <- is.data.frame(first$data) && is_term_frame(first$data)
      again <- list(read = function() {
        piece <- first %||% reader$read()
        first <<- NULL
        piece
      })
      by_document <<- if (frame) read_by_id(again, "document", FALSE, call) else
        function() if (!is.null(piece <- again$read())) alone(piece)
    }
    by_document()
  }
}

# A reader that collects rows by the value of column `id`. The rows with the last value in a piece wait for
# the next piece, which may have more of them. take: whether the column is removed from the table.
read_by_id <- function(reader, id, take, call) {
  waiting <- list() # pieces whose rows all belong to one unit
  seen <- new.env(parent = emptyenv())
  key <- function(value) paste0("id ", value) # as no variable may have an empty name
  with_values <- function(piece) {
    in_piece(piece, call, {
      if (!id %in% colnames(piece$data)) {
        abort("id", c(
          "{.arg id} names the column {.val {id}}, which does not exist.",
          i = if (!is.null(colnames(piece$data))) "Columns: {places(dQuote(colnames(piece$data), FALSE))}."
        ))
      }
      value <- label_text(piece$data[, id, drop = TRUE], "id")
      if (anyNA(value)) {
        abort("id", c(
          "{.arg id} has missing values.", x = "In row {places(piece$before + which(is.na(value)))}.",
          i = "Every row must belong somewhere."
        ))
      }
      if (!take) piece$data[[id]] <- value
      piece$value <- value
      piece
    })
  }
  rows <- function(piece, at) {
    piece[c("data", "value")] <- list(piece$data[at, , drop = FALSE], piece$value[at])
    piece
  }
  release <- function(pieces) {
    out <- pieces[[1L]]
    names <- unique(vapply(pieces, `[[`, "", "name"))
    out$name <- paste(names[unique(c(1L, length(names)))], collapse = " to ")
    x <- if (length(pieces) == 1L) out$data else do.call(rbind, lapply(pieces, `[[`, "data"))
    if (is.data.frame(x)) rownames(x) <- NULL
    value <- unlist(lapply(pieces, `[[`, "value"))
    again <- Filter(function(v) exists(key(v), seen, inherits = FALSE), unique(value))
    if (length(again)) {
      in_piece(out, call, abort("id", c(
        "The rows of a document, sequence or individual must follow each other.",
        x = "{.field {id}} {.val {again[1L]}} starts again in row {out$before + match(again[1L], value)}.",
        i = "Sort the rows by {.field {id}}."
      )))
    }
    for (v in unique(value)) assign(key(v), TRUE, seen)
    if (!take) {
      return(list(x = x, name = out$name, before = out$before))
    }
    list(x = x, id = factor(value, unique(value)), id_column = id, name = out$name, before = out$before)
  }
  function() {
    repeat {
      piece <- reader$read()
      if (is.null(piece)) {
        if (!length(waiting)) {
          return(NULL)
        }
        last <- waiting
        waiting <<- list()
        return(release(last))
      }
      piece <- with_values(piece)
      value <- piece$value
      n <- length(value)
      if (n == 0L) next
      change <- which(value[-1L] != value[-n])
      goes_on <- length(waiting) && identical(attr(waiting, "value"), value[1L])
      cut <- if (length(change)) change[length(change)] else 0L # rows of units that are complete
      ready <- c(unclass(waiting), if (cut) list(rows(piece, seq_len(cut))))
      rest <- replace(rows(piece, seq_len(n)[seq_len(n) > cut]), "before", piece$before + cut)
      if (!cut && goes_on) {
        waiting <<- structure(c(unclass(waiting), list(rest)), value = value[n])
        next
      }
      waiting <<- structure(list(rest), value = value[n])
      if (length(ready)) {
        return(release(ready))
      }
    }
  }
}

# A reader of sequences without `id`. Each file is a sequence. If the source is a function, each piece that it
# returns is a sequence or a list of sequences.
read_sequences <- function(reader, source, call) {
  if (!source$kind %in% c("files", "function")) {
    abort("id", c(
      "{.arg id} is needed: it names the column that says to which sequence each row belongs.",
      i = "Without {.arg id}, only whole files, or pieces returned by a function, can be sequences."
    ), call = call)
  }
  count <- 0L
  held <- NULL
  next_piece <- function() {
    piece <- held %||% reader$read()
    held <<- NULL
    piece
  }
  function() {
    piece <- next_piece()
    if (is.null(piece)) {
      return(NULL)
    }
    tables <- if (is.list(piece$data) && !is.data.frame(piece$data)) piece$data else list(piece$data)
    if (source$kind == "files" && !identical(piece$data, tables)) {
      repeat { # all pieces of the file
        more <- next_piece()
        if (is.null(more) || more$before == 0) break
        tables <- c(tables, list(more$data))
      }
      held <<- more
      tables <- list(do.call(rbind, tables))
      names(tables) <- sub(" ?File \"(.*)\"", "\\1", piece$name)
    }
    names <- names(tables) %||% as.character(count + seq_along(tables))
    count <<- count + length(tables)
    lengths <- vapply(tables, NROW, 1L)
    tables <- lapply(tables, function(x) if (is.null(dim(x))) matrix(x) else x)
    list(
      x = if (length(tables) == 1L) tables[[1L]] else do.call(rbind, unname(tables)),
      id = factor(rep(make.unique(names), lengths), make.unique(names)),
      name = piece$name, before = 0
    )
  }
}
