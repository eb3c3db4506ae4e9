# Readers of sources: open_source() -> list(read, close). read() gives the next piece, list(data, name, before): rows as
# R has them, where they are from, in words, and how many rows came from there before; NULL after the last.

open_source <- function(source, call = rlang::caller_env()) {
  switch(source$kind,
    "function" = open_function(source, call),
    files = open_files(source, call),
    dbi = open_dbi(source, call),
    arrow = open_arrow(source, call)
  )
}

# For streams: a function of the number of a batch, 1, 2, ..., which are asked for in this order. labels: see
# text_pieces().
reader_of <- function(source, labels = NULL) {
  source$labels <- labels
  reader <- open_source(source)
  function(i) reader$read()$data
}

# Is it a batch of rows, documents or sequences?
rows_of_piece <- function(x) if (is.list(x) && !is.data.frame(x)) length(x) else NROW(x)

# Evaluates what reads a piece; its error says where.
in_reading <- function(name, before, call, expr) {
  tryCatch(expr, error = function(e) {
    after <- if (before > 0) " after row {format(before, big.mark = ',', scientific = FALSE)}" else ""
    cli::cli_abort(paste0("{name} cannot be read", after, "."),
      class = c("bnpvi_error_source", "bnpvi_error"), call = call, parent = e
    )
  })
}

# Reading by one function without arguments, NULL after the last.
open_by <- function(name, read, close, call) {
  before <- 0
  list(
    read = function() {
      data <- in_reading(name, before, call, read())
      if (is.null(data)) {
        return(NULL)
      }
      from <- before
      before <<- before + rows_of_piece(data)
      list(data = data, name = name, before = from)
    },
    close = close
  )
}

open_function <- function(source, call) {
  i <- 0
  list(
    read = function() {
      if (i >= source$batches) {
        return(NULL)
      }
      i <<- i + 1
      name <- paste("Piece", i)
      data <- in_reading(name, 0, call, source$read(i))
      if (!is.null(data)) list(data = data, name = name, before = 0)
    },
    close = function() NULL
  )
}

open_dbi <- function(source, call) {
  need_package("DBI", "databases", call)
  own <- is.function(source$con)
  con <- in_reading("The database", 0, call, if (own) source$con() else source$con)
  leave <- function() if (own) suppressWarnings(try(DBI::dbDisconnect(con), silent = TRUE))
  result <- tryCatch(in_reading("The query", 0, call, DBI::dbSendQuery(con, source$query)), error = function(e) {
    leave()
    stop(e)
  })
  open_by("The query", function() {
    if (DBI::dbHasCompleted(result)) {
      return(NULL)
    }
    piece <- DBI::dbFetch(result, n = source$rows)
    if (nrow(piece)) piece
  }, function() {
    suppressWarnings(try(DBI::dbClearResult(result), silent = TRUE))
    leave()
  }, call)
}

open_arrow <- function(source, call) {
  need_package("arrow", "Arrow data", call)
  reader <- in_reading("The Arrow data", 0, call, arrow::as_record_batch_reader(source$dataset))
  open_by("The Arrow data", function() {
    batch <- reader$read_next_batch()
    if (!is.null(batch)) as.data.frame(batch)
  }, function() NULL, call)
}

open_files <- function(source, call) {
  at <- 0L # number of the file that is open
  now <- NULL
  end <- function() {
    if (!is.null(now)) now$close()
    now <<- NULL
  }
  begin <- function() {
    at <<- at + 1L
    path <- source$paths[at]
    name <- paste0("File \"", basename(path), "\"")
    was <- state_of_files(path)
    parts <- in_reading(name, 0, call, open_file(source, path))
    unchanged <- function() {
      if (!identical(state_of_files(path), was)) {
        abort("source", c("{.file {path}} changed while it was read.", i = "Fit anew when nobody writes to it."))
      }
    }
    now <<- open_by(name, function() {
      piece <- parts$read()
      if (is.null(piece)) unchanged()
      piece
    }, parts$close, call)
  }
  list(
    read = function() {
      repeat {
        piece <- if (!is.null(now)) now$read()
        if (!is.null(piece)) {
          return(piece)
        }
        end()
        if (at == length(source$paths)) {
          return(NULL)
        }
        begin()
      }
    },
    close = end
  )
}

state_of_files <- function(paths) as.list(file.info(paths, extra_cols = FALSE)[c("size", "mtime")])

kind_of_file <- function(paths) tolower(tools::file_ext(sub("[.](gz|bz2|xz)$", "", paths)))

# One file: list(read, close).
open_file <- function(source, path) {
  if (!is.null(source$read)) {
    return(read_once(function() source$read(path)))
  }
  file_readers[[kind_of_file(path)]](path, source)
}

read_once <- function(read) {
  done <- FALSE
  list(read = function() {
    if (!done) {
      done <<- TRUE
      read()
    }
  }, close = function() NULL)
}

file_readers <- list(
  csv = function(path, source) text_pieces(path, ",", source$rows, source$labels),
  tsv = function(path, source) text_pieces(path, "\t", source$rows, source$labels),
  rds = function(path, source) read_once(function() readRDS(path)),
  parquet = function(path, source) read_once(function() as.data.frame(nanoparquet::read_parquet(path))),
  mtx = function(path, source) read_once(function() with_terms(Matrix::readMM(path), source$terms)),
  ldac = function(path, source) count_pieces(path, source$rows, source$terms)
)

with_terms <- function(x, terms) {
  if (!is.null(terms) && length(terms) != ncol(x)) {
    abort("source", "It has {ncol(x)} terms, and {.arg terms} {length(terms)} name{?s}.")
  }
  if (!is.null(terms)) colnames(x) <- terms
  x
}

# An open text file that is closed once.
text_connection <- function(path) {
  connection <- suppressWarnings(file(path, "r")) # the error says it all
  list(at = connection, close = function() {
    if (!is.null(connection)) close(connection)
    connection <<- NULL
  })
}

# Rows of a text file, so many at a time; columns of numbers or text in the first piece stay so. labels: which columns
# hold labels (label_columns()), to be read as they stand.
text_pieces <- function(path, separator, rows, labels = NULL) {
  text <- text_connection(path)
  names <- number <- NULL
  classes <- NA
  before <- 0
  part <- function(from, header, classes, n = rows, skip = 0) {
    tryCatch(
      utils::read.table(from,
        header = header, sep = separator, nrows = n, quote = "\"", comment.char = "", fill = FALSE, skip = skip,
        stringsAsFactors = FALSE, colClasses = unname(classes), check.names = FALSE
      ),
      error = function(e) if (grepl("no lines available", conditionMessage(e))) NULL else stop(e)
    )
  }
  again <- function(...) {
    other <- text_connection(path)
    on.exit(other$close())
    tryCatch(part(other$at, ...), error = function(e) NULL)
  }
  list(read = function() {
    first <- is.null(names)
    if (first && !is.null(labels)) {
      header <- colnames(again(TRUE, "character", n = 1L))
      if (length(header)) classes <<- ifelse(header %in% labels(header), "character", NA)
    }
    piece <- tryCatch(part(text$at, first, classes), error = function(e) {
      if (!first) refuse_text(again(FALSE, NA, skip = before + 1), names, number, before)
      stop(e)
    })
    if (is.null(piece) || nrow(piece) == 0L) {
      return(NULL)
    }
    if (first) {
      names <<- colnames(piece)
      number <<- vapply(piece, is.numeric, NA)
      classes <<- vapply(piece, function(column) class(column)[1L], "")
      classes[classes == "logical"] <<- NA
      # To be told that columns are numbers is fast, but numbers in quotation marks are none then.
      classes[number] <<- "numeric"
      if (is.null(again(TRUE, classes, n = min(rows, 100L)))) classes[number] <<- NA
    }
    names(piece) <- names
    refuse_text(piece, names, number, before)
    before <<- before + nrow(piece)
    piece
  }, close = text$close)
}

# Says where a piece has text in a column of numbers, if it does.
refuse_text <- function(piece, names, number, before) {
  for (j in which(number & vapply(piece %||% list(), is.character, NA))) {
    value <- piece[[j]]
    bad <- which(is.na(suppressWarnings(as.numeric(value))) & !is.na(value))[1L]
    abort("not_numeric", c(
      "The column {.field {names[j]}} has numbers in the first rows, and text later.",
      x = "In row {before + bad}: {.val {value[bad]}}."
    ))
  }
}

# Documents of a file as lda-c has them, so many at a time: a sparse matrix. Without names of terms there are as many
# columns as the piece needs, which is said by the attribute `grows`.
count_pieces <- function(path, rows, terms) {
  text <- text_connection(path)
  before <- 0
  list(read = function() {
    lines <- readLines(text$at, rows, warn = FALSE)
    if (!length(lines)) {
      return(NULL)
    }
    fields <- strsplit(trimws(lines), "[[:space:]]+")
    entries <- unlist(lapply(fields, `[`, -1L))
    count <- lengths(fields) - 1L
    said <- suppressWarnings(as.numeric(vapply(fields, `[`, "", 1L)))
    pair <- regmatches(entries, regexec("^([0-9]+):([0-9]+)$", entries))
    document <- rep(seq_along(lines), pmax(count, 0L))
    bad <- c(which(is.na(said) | said != count), document[lengths(pair) != 3L])
    if (length(bad)) {
      abort("source", c(
        "Line {before + min(bad)} is not a document of counts: the number of terms, then {.code term:count} for each.",
        x = "It is {.val {substr(lines[min(bad)], 1L, 60L)}}."
      ))
    }
    term <- as.numeric(vapply(pair, `[`, "", 2L)) + 1
    if (any(term > (if (is.null(terms)) .Machine$integer.max else length(terms)))) {
      at <- document[which.max(term)]
      abort("source", "Line {before + at} has term {max(term) - 1}, but there are {length(terms)}, the first being 0.")
    }
    before <<- before + length(lines)
    x <- sparseMatrix(
      i = document, j = term, x = as.numeric(vapply(pair, `[`, "", 3L)),
      dims = c(length(lines), length(terms %||% seq_len(max(term, 1)))),
      dimnames = if (!is.null(terms)) list(NULL, terms) else list(NULL, NULL)
    )
    structure(x, grows = is.null(terms))
  }, close = text$close)
}
