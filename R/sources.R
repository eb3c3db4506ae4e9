#' Sources of data in pieces
#'
#' Where the batches of a [bnp_stream()] come from.
#'
#' @param read `source_function()`: a function of the number of a piece that returns its rows, `NULL` after the last.
#'   `source_files()`: a function of a path that returns the rows of that file; by default files are read by their
#'   ending, `.csv` and `.tsv` (with a line of names; by [utils::read.csv()] from an open connection, so many rows at
#'   a time) and `.rds`.
#' @param batches Number of pieces; default: until `read` returns `NULL`.
#' @param paths Paths of files, read in this order.
#' @param rows Most rows of a piece of a text file.
#' @return An object of class `bnp_source`.
#' @seealso [bnp_stream()]
#' @examples
#' parts <- split(faithful, rep(1:8, each = 34))
#' bnp_stream(source_function(function(b) parts[[b]], batches = 8))
#'
#' file <- tempfile(fileext = ".csv")
#' write.csv(faithful, file, row.names = FALSE)
#' fit <- bnp_mixture(bnp_stream(source_files(file, rows = 50)), control = bnp_control("truncation_free", seed = 1))
#' fit
#' @name sources
NULL

#' @rdname sources
#' @export
source_function <- function(read, batches = Inf) {
  check_reads(read)
  batches <- if (identical(batches, Inf)) Inf else check_count(batches, "batches")
  new_source("function", read = read, batches = batches)
}

#' @rdname sources
#' @export
source_files <- function(paths, read = NULL, rows = 10000L) {
  ok <- is.character(paths) && length(paths) > 0L && !anyNA(paths)
  if (!ok) abort("argument", "{.arg paths} must be paths of files, not {describe(paths)}.")
  lost <- !file.exists(paths)
  if (any(lost)) abort("file", "{.arg paths}: {cli::qty(sum(lost))}no such file{?s}: {.file {paths[lost]}}.")
  if (is.null(read)) {
    unknown <- !tolower(tools::file_ext(paths)) %in% names(separators)
    unknown <- unknown & tolower(tools::file_ext(paths)) != "rds"
    if (any(unknown)) {
      abort("file", c(
        "{.arg paths}: {.file {paths[unknown]}} {?is/are} not of a kind that is read by {?its/their}
         ending (csv, tsv, rds).",
        i = "Give a function of a path as {.arg read}."
      ))
    }
  } else {
    check_reads(read)
  }
  new_source("files", paths = paths, read = read, rows = check_count(rows, "rows"))
}

separators <- c(csv = ",", tsv = "\t")

new_source <- function(kind, ...) structure(list(kind = kind, ...), class = "bnp_source")

check_reads <- function(read, call = rlang::caller_env()) {
  if (!is.function(read)) abort("argument", "{.arg read} must be a function, not {describe(read)}.", call = call)
}

#' @export
format.bnp_source <- function(x, ...) {
  switch(x$kind,
    "function" = paste0("a function", if (is.finite(x$batches)) paste0(" (", count_of(x$batches, "batch", "es"), ")")),
    files = count_of(length(x$paths), "file")
  )
}

#' @export
print.bnp_source <- function(x, ...) {
  cat("Source: ", format(x), "\n", sep = "")
  invisible(x)
}

# A function of the number of a batch, 1, 2, ..., which are asked for in this order.
reader_of <- function(source) {
  switch(source$kind,
    "function" = function(i) if (i <= source$batches) source$read(i),
    files = file_reader(source)
  )
}

file_reader <- function(source) {
  at <- 0L # number of the file that is open
  pieces <- function() NULL
  next_file <- function() {
    at <<- at + 1L
    path <- source$paths[at]
    ending <- tolower(tools::file_ext(path))
    whole <- if (!is.null(source$read)) source$read else if (ending == "rds") readRDS
    by_rows <- is.null(whole)
    pieces <<- if (by_rows) text_pieces(path, separators[[ending]], source$rows) else once(function() whole(path))
  }
  function(i) {
    repeat {
      piece <- pieces()
      if (!is.null(piece)) {
        return(piece)
      }
      if (at == length(source$paths)) {
        return(NULL)
      }
      next_file()
    }
  }
}

once <- function(read) {
  done <- FALSE
  function() {
    if (!done) {
      done <<- TRUE
      read()
    }
  }
}

# Rows of a text file, so many at a time; columns keep the kind that they have in the first piece.
text_pieces <- function(path, separator, rows) {
  connection <- file(path, "r")
  names <- NULL
  classes <- NA
  function() {
    if (is.null(connection)) {
      return(NULL)
    }
    first <- is.null(names)
    piece <- tryCatch(
      utils::read.table(connection,
        header = first, sep = separator, nrows = rows, quote = "\"", comment.char = "", fill = FALSE,
        stringsAsFactors = FALSE, colClasses = unname(classes), check.names = FALSE
      ),
      error = function(e) if (grepl("no lines available", conditionMessage(e))) NULL else stop(e)
    )
    if (first) {
      names <<- colnames(piece)
      classes <<- vapply(piece, function(column) class(column)[1L], "")
      classes[classes %in% c("integer", "logical")] <<- NA
    }
    if (is.null(piece) || nrow(piece) == 0L) {
      close(connection)
      connection <<- NULL
      return(NULL)
    }
    if (!first) names(piece) <- names
    piece
  }
}
