#' Sources of data in pieces
#'
#' Data that are not in memory but in files, in a database, or wherever a function finds them. A source can be the data
#' of [bnp_mixture()], [bnp_topics()], [bnp_hmm()] and [bnp_features()], the new data of [predict.bnp_mixture()],
#' [predict.bnp_features()], [heldout_loglik()] and [update.bnp_fit()], and the batches of a [bnp_stream()].
#'
#' @param paths Paths of files, read in this order. The ending of each file determines how it is read (text may be
#'   compressed):
#'   * `.csv`, `.tsv`: text with a line of names, at most `rows` rows at a time (see *Text files*);
#'   * `.rds`: a table, a matrix or a sparse matrix;
#'   * `.parquet`: by nanoparquet, each file as a whole; for files larger than memory use `source_arrow()` or a
#'     database;
#'   * `.mtx`: a Matrix Market file, as a whole;
#'   * `.ldac`: documents of counts, one per line, in the format of `lda-c`: the number of terms, then `term:count` with
#'     terms counted from 0.
#' @param read `source_function()`: a function that is called with the number of a piece and returns its rows, or `NULL`
#'   after the last piece. `source_files()`: a function that is called with a path and returns the rows of that file,
#'   instead of the readers above.
#' @param batches Number of pieces; default: until `read` returns `NULL`.
#' @param rows The largest number of rows (of documents, for `.ldac`) that are read at a time.
#' @param terms Names of the terms of `.ldac` and `.mtx` files, or the path of a file with one name per line.
#' @param con A connection of DBI, or a function without arguments that makes one; such a connection is closed after
#'   reading.
#' @param query A query, as text. If a fit is to be reproducible, the query must order its rows (`ORDER BY`).
#' @param dataset Any object that `arrow::as_record_batch_reader()` takes, such as `arrow::open_dataset("folder")` or a
#'   reader.
#' @param spool A folder in which the data that were read are kept for the next fit; it is made if it does not exist.
#'   Default: a temporary folder, which is removed with the source.
#' @param types Types of some columns, named by the columns: `"number"`, `"integer"`, `"logical"` or `"text"` (a
#'   categorical column), such as `c(code = "text")`. The type of other columns is the one that they have in the data;
#'   in text files it is the one that holds for all rows of all files.
#' @param ... Must be empty. A formula before the source chooses columns, `bnp_mixture(~ height + weight, source)`, or
#'   the model does, as in `obs_gaussian(columns = c("height", "weight"))`.
#' @return An object of class `bnp_source`.
#' @section How fits read a source:
#'   A fit reads its source once. The rows are checked, assigned at random to batches, and written to a file in the
#'   layout of the engine, the *spool*. This file is then mapped into memory: the operating system keeps as much of it
#'   in memory as there is room for. On disk it takes 8 bytes per number (12 for each count of a document), and as much
#'   again while it is written. In memory a fit takes 4 bytes per row for labels (with missing values 12), and space to
#'   work on a few batches. Laps that try to merge, delete or refit clusters also keep the rows that they would assign
#'   anew, with their responsibilities: some 100 to 400 bytes per row, more with many clusters;
#'   `bnp_control(moves = FALSE)` does without.
#'
#'   Batches have about 65,536 rows, unless `batches` of [bnp_control()] sets their number. The fit is identical, to the
#'   last bit, to that of data in memory in the same batches and with the same priors.
#'
#'   Defaults of priors (medians, spreads) are computed from a random sample of at most 65,536 rows, or fewer if rows
#'   are wide, so that the sample has about four million numbers; `print()` shows its size. Frequencies of terms are
#'   those of all documents. The levels of text columns are those of all rows.
#'
#'   Documents, sequences and individuals with random effects are identified by the column `id`, as in memory: their
#'   rows follow each other, also from one file to the next. In text files this column is read as text: `01` is not
#'   `1`. Documents of counts may also be rows of sparse matrices, or tables with columns `document`, `term` and `n`.
#'   Without `id` each file is a sequence, or each piece of a function; a piece may also be a list of sequences.
#'
#'   With random effects (`bnp_mixture(y ~ t + (1 + t | id), source)`) the rows of each individual are added up while
#'   they are read, and the batches and the fit have these sums: with e coefficients \eqn{(e + 1)(e + 2)/2} numbers for
#'   each individual. In memory a row takes 8 bytes, for its individual and its label.
#'
#'   If something in the data is wrong, an error names the file and the row (rows are counted without the line of
#'   names). A file that changes while it is read is an error. A folder `spool` is used again if files have the same
#'   sizes and times of change, and model and batches are the same. For a query or a function only its text is compared:
#'   use another folder if the data differ.
#'
#'   If a value does not agree with the type that `types` gives its column, an error names the place.
#'
#'   Not available with sources: `weights`, `labels` and (without random effects) repeated measures (`id`) of
#'   [bnp_mixture()], `parent`, `position` and times of [bnp_hmm()], [obs_ar()] in mixtures,
#'   `bnp_control(keep = "probabilities")`, and names of rows.
#' @section Text files:
#'   Fields of `.csv` files are separated by commas, those of `.tsv` by tabs; quotes, doubled quotes and ends of lines
#'   within quotes are read as by [utils::read.csv()], and text is in UTF-8. A quote that is not closed, a line with
#'   more or fewer fields than names, or a compressed file that is cut short is an error that names file and line.
#'
#'   Files are scanned once before they are read, and a column has the type that holds for all rows of all files:
#'   logical if all values are `TRUE` and `FALSE` (`F` and `T` alone are text), numbers if all are numbers, and
#'   otherwise text. Missing values are `NA` without quotes and, in columns of numbers or logical values, empty fields.
#'   A column of numbers and text is text, and a message says where the first text is. Numbers in quotes are numbers, as
#'   in `read.csv()`; if they are codes, use `types = c(code = "text")`. A first column without a name has names of
#'   rows, as `write.csv()` writes them, and is left out.
#' @seealso [bnp_stream()], [bnp_control()]; `vignette("large-data")`.
#' @examples
#' file <- tempfile(fileext = ".csv")
#' write.csv(faithful, file, row.names = FALSE)
#' fit <- bnp_mixture(source_files(file), control = bnp_control(seed = 1))
#' fit
#' predict(fit, source_files(file, rows = 100))[1:10]
#'
#' # Any reader
#' parts <- split(faithful, rep(1:8, each = 34))
#' bnp_mixture(source_function(function(b) parts[[b]], batches = 8), control = bnp_control(seed = 1))
#'
#' # A stream, each row of which is seen once
#' bnp_stream(source_files(file, rows = 50))
#' @name sources
NULL

#' @rdname sources
#' @export
source_function <- function(read, batches = Inf, spool = NULL, types = NULL, ...) {
  check_no_dots(...)
  check_reads(read)
  batches <- if (identical(batches, Inf)) Inf else check_count(batches, "batches")
  new_source("function", spool, types, read = read, batches = batches)
}

#' @rdname sources
#' @export
source_files <- function(paths, read = NULL, rows = 10000L, terms = NULL, spool = NULL, types = NULL, ...) {
  check_no_dots(..., notes = c(
    columns = "The fit chooses columns: {.code bnp_mixture(~ a + b, x)}, or {.arg columns} of its {.arg obs}."
  ))
  ok <- is.character(paths) && length(paths) > 0L && !anyNA(paths)
  if (!ok) abort("argument", "{.arg paths} must be paths of files, not {describe(paths)}.")
  lost <- !file.exists(paths)
  if (any(lost)) {
    abort("file", c(
      "{.arg paths}: {cli::qty(sum(lost))}no such file{?s}: {.file {paths[lost]}}.",
      i = if (any(grepl("[*?]", paths[lost]))) "Patterns are not expanded: give {.code Sys.glob(paths)}."
    ))
  }
  if (is.null(read)) {
    unknown <- !kind_of_file(paths) %in% names(file_readers)
    if (any(unknown)) {
      kinds <- names(file_readers)
      folder <- paths[dir.exists(paths)][1L]
      if (!is.na(folder)) {
        abort("file", c(
          "{.arg paths}: {.file {folder}} is a folder, and must be a file.",
          i = "Its files are {.code list.files({dQuote(folder, FALSE)}, full.names = TRUE)}."
        ))
      }
      abort("file", c(
        "{.arg paths}: {.file {paths[unknown]}} {?is/are} not of a kind that is read by {?its/their}
         ending ({kinds}).",
        i = "Give a function of a path as {.arg read}."
      ))
    }
    other <- !vapply(enc2utf8(paths), engine_is_regular_file, NA)
    if (any(other)) {
      abort("file", c(
        "{.arg paths}: {.file {paths[other]}} {cli::qty(sum(other))}{?is/are} no regular file{?s}.",
        i = "Folders, pipes and devices cannot be read twice: give files, or {.fn source_function}."
      ))
    }
    if (any(kind_of_file(paths) == "parquet")) need_package("nanoparquet", "Parquet files")
  } else {
    check_reads(read)
  }
  new_source("files", spool, types, paths = normalizePath(paths), read = read, rows = check_count(rows, "rows"),
    terms = check_terms(terms)
  )
}

check_terms <- function(terms, call = rlang::caller_env()) {
  if (is.character(terms) && length(terms) == 1L && file.exists(terms)) terms <- readLines(terms, encoding = "UTF-8")
  ok <- is.null(terms) || is.character(terms) && length(terms) && !anyNA(terms) && !anyDuplicated(terms)
  if (!ok) {
    abort("argument", "{.arg terms} must be names of terms, each once, or the path of a file of them, not
      {describe(terms)}.", call = call)
  }
  terms
}

#' @rdname sources
#' @export
source_dbi <- function(con, query, rows = 10000L, spool = NULL, types = NULL, ...) {
  check_no_dots(...)
  if (!is.function(con) && !methods::is(con, "DBIConnection")) {
    abort("argument", c(
      "{.arg con} must be a connection of DBI, or a function that makes one, not {describe(con)}.",
      i = "{.code DBI::dbConnect(RSQLite::SQLite(), \"file.sqlite\")} opens a file."
    ))
  }
  if (!is.character(query) || length(query) != 1L || is.na(query) || !nzchar(query)) {
    abort("argument", "{.arg query} must be a query as text, not {describe(query)}.")
  }
  new_source("dbi", spool, types, con = con, query = query, rows = check_count(rows, "rows"))
}

#' @rdname sources
#' @export
source_arrow <- function(dataset, spool = NULL, types = NULL, ...) {
  check_no_dots(...)
  if (!is.object(dataset) && !is.environment(dataset)) {
    abort("argument", c(
      "{.arg dataset} must be Arrow data, not {describe(dataset)}.", i = "{.code arrow::open_dataset()} opens files."
    ))
  }
  new_source("arrow", spool, types, dataset = dataset)
}

need_package <- function(package, what, call = rlang::caller_env()) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort("package", c(
      "The package {.pkg {package}} is needed for {what}.", i = "{.code install.packages(\"{package}\")} installs it."
    ), call = call)
  }
}

# Makes a source. `kept` (an element of the result) holds facts about its spool (file of batches) and text
# files during the session. `declared`: names of the columns whose types the user gave; `types` may later have
# more columns, which a fitting function needs as text.
new_source <- function(kind, spool, types, ...) {
  types <- check_types(types, rlang::caller_env())
  if (!is.null(spool)) spool <- check_path(spool, "spool", rlang::caller_env())
  kept <- new.env(parent = emptyenv())
  reg.finalizer(kept, function(kept) if (!is.null(kept$temporary)) unlink(kept$temporary, recursive = TRUE), TRUE)
  structure(list(kind = kind, spool = spool, kept = kept, types = types, declared = types, ...), class = "bnp_source")
}

check_reads <- function(read, call = rlang::caller_env()) {
  if (!is.function(read)) abort("argument", "{.arg read} must be a function, not {describe(read)}.", call = call)
}

#' @export
format.bnp_source <- function(x, ...) {
  check_object(x)
  switch(x$kind,
    "function" = paste0("a function", if (is.finite(x$batches)) paste0(" (", count_of(x$batches, "batch", "es"), ")")),
    files = count_of(length(x$paths), "file"),
    dbi = "a query",
    arrow = "Arrow data"
  )
}

#' @export
print.bnp_source <- function(x, ...) {
  cat("Source: ", format(x), "\n", sep = "")
  invisible(x)
}
