# Readers of sources. open_source() returns list(read, close). read() returns the next piece, list(data, name,
# before): rows in an R object, a description of where they come from, and the number of rows before these in
# the same place; NULL after the last piece.

open_source <- function(source, call = rlang::caller_env()) {
  check_object(source, call)
  reader <- switch(source$kind,
    "function" = open_function(source, call),
    files = open_files(source, call),
    dbi = open_dbi(source, call),
    arrow = open_arrow(source, call)
  )
  read <- reader$read
  reader$read <- function() {
    piece <- read()
    if (!is.null(piece)) {
      piece$data <- in_piece(piece, call, as_types(check_sparse(piece$data), source$types, piece$before))
    }
    piece
  }
  reader
}

# Converts columns of a data frame to the types that the user declared; other tables pass unchanged. before:
# the number of rows that come before x in its file.
as_types <- function(x, types, before) {
  for (name in if (is.data.frame(x)) intersect(names(types), names(x))) {
    given <- x[[name]]
    x[[name]] <- switch(types[[name]],
      text = label_text(given),
      logical = as_declared(given, name, "TRUE and FALSE", as.logical, before),
      number = as_declared(given, name, "numbers", as.double, before),
      integer = as_declared(given, name, "whole numbers up to 2147483647", as.integer, before)
    )
  }
  x
}

# Converts a column to a declared type, and refuses values that are not of this type. convert: a function from
# text or numbers to the type; what: the type in words.
as_declared <- function(given, name, what, convert, before) {
  plain <- if (is_plain_number(given)) given else label_text(given)
  value <- suppressWarnings(convert(plain))
  same <- is.character(plain) | suppressWarnings(as.double(plain) == as.double(value))
  bad <- which(is.na(value) & !is.na(given) & nzchar(as.character(plain)) & !plain %in% c("NA", "NaN") | !same)
  if (length(bad)) {
    abort("columns", c(
      "The column {.field {name}} is to hold {what}.",
      x = "In row {before + bad[1L]}: {.val {as.character(plain[bad[1L]])}}.",
      i = "Have it read as text: {.code types = c({name} = \"text\")}."
    ))
  }
  value
}

# A function that reads the batches of a stream: of the number of a batch, 1, 2, ..., to be called in this
# order. labels: see types_of_text().
reader_of <- function(source, labels = NULL) {
  source$labels <- labels
  reader <- open_source(source)
  function(i) reader$read()$data
}

# The number of rows in a batch; for a list, the number of documents or sequences.
rows_of_piece <- function(x) if (is.list(x) && !is.data.frame(x)) length(x) else NROW(x)

# Evaluates code that reads a piece of a source. If the code fails, the error says where the piece comes from.
in_reading <- function(name, before, call, expr) {
  tryCatch(expr, error = function(e) {
    after <- if (before > 0) " after row {format(before, big.mark = ',', scientific = FALSE)}" else ""
    cli::cli_abort(paste0("{name} cannot be read", after, "."),
      class = c("bnpvi_error_source", "bnpvi_error"), call = call, parent = e
    )
  })
}

# A reader of a source whose pieces come from one function without arguments, which returns NULL after the
# last piece.
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
  types <- if (is.null(source$read) && any(is_text_table(source$paths))) types_of_text(source, call)
  at <- 0L # number of the file that is open
  now <- NULL
  end <- function() {
    if (!is.null(now)) now$close()
    now <<- NULL
  }
  begin <- function() {
    at <<- at + 1L
    path <- source$paths[at]
    name <- name_of_file(path)
    was <- state_of_files(path)
    parts <- in_reading(name, 0, call, open_file(source, path, types))
    unchanged <- function() {
      if (!identical(state_of_files(path), was)) {
        abort("source", c(
          "{.file {path}} changed while it was read.", i = "Fit anew when no other program writes to it."
        ))
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

name_of_file <- function(path) paste0("File \"", basename(path), "\"")

state_of_files <- function(paths) as.list(file.info(paths, extra_cols = FALSE)[c("size", "mtime")])

kind_of_file <- function(paths) tolower(tools::file_ext(sub("[.](gz|bz2|xz)$", "", paths)))

# A reader of a single file of a source: list(read, close).
open_file <- function(source, path, types) {
  if (!is.null(source$read)) {
    return(read_once(function() source$read(path)))
  }
  file_readers[[kind_of_file(path)]](path, source, types)
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
  csv = function(path, source, types) text_pieces(path, source$rows, types),
  tsv = function(path, source, types) text_pieces(path, source$rows, types),
  rds = function(path, source, ...) read_once(function() readRDS(path)),
  parquet = function(path, source, ...) read_once(function() as.data.frame(nanoparquet::read_parquet(path))),
  mtx = function(path, source, ...) read_once(function() with_terms(read_market(path), source$terms)),
  ldac = function(path, source, ...) count_pieces(path, source$rows, source$terms)
)
