#' Sources of data in pieces
#'
#' Data that are not in memory: in files, in a database, or wherever a function finds them. A source takes the place of
#' the data in [bnp_mixture()], [bnp_topics()], [bnp_hmm()], [bnp_features()], of new data in [predict.bnp_mixture()],
#' [predict.bnp_features()], [heldout_loglik()]
#' and [update.bnp_fit()], and of the batches of a [bnp_stream()].
#'
#' @param paths Paths of files, read in this order, each of one of these kinds by its ending (text may be compressed):
#'   * `.csv`, `.tsv`: text with a line of names, so many rows at a time (see *Text files*);
#'   * `.rds`: a table, a matrix or a sparse matrix;
#'   * `.parquet`: by nanoparquet, each file as a whole; files larger than memory go through `source_arrow()` or a
#'     database;
#'   * `.mtx`: a Matrix Market file, as a whole;
#'   * `.ldac`: documents of counts, one a line, as `lda-c` has them: the number of terms, then `term:count` with terms
#'     from 0.
#' @param read `source_function()`: a function of the number of a piece that returns its rows, `NULL` after the last.
#'   `source_files()`: a function of a path that returns the rows of that file, instead of the readers above.
#' @param batches Number of pieces; default: until `read` returns `NULL`.
#' @param rows Most rows (documents, of `.ldac`) that are read at a time.
#' @param terms Names of the terms of `.ldac` and `.mtx` files, or the path of a file that has one a line.
#' @param con A connection of DBI, or a function without arguments that makes one, which is closed after reading.
#' @param query A query, as text. Have it put rows in an order (`ORDER BY`) if a fit is to be repeated.
#' @param dataset What `arrow::as_record_batch_reader()` takes: `arrow::open_dataset("folder")`, say, or a reader.
#' @param spool A folder in which what was read is kept for the next fit, made if it does not exist; default: a
#'   temporary one, which goes with the source.
#' @param types Types of columns by name, any of `"number"`, `"integer"`, `"logical"` and `"text"` (the levels of a
#'   categorical column), as `c(code = "text")`; those of other columns are as they come, or as all rows of all text
#'   files say.
#' @return An object of class `bnp_source`.
#' @section How fits read a source:
#'   A fit reads its source once. The rows are checked, dealt at random to batches, and written to a file in the layout
#'   of the engine, the *spool*, which is mapped into memory from then on: the operating system keeps in memory what
#'   there is room for. On the disk this takes 8 bytes a number (12 for each count of a document) and for the time of
#'   reading as much again; in memory 4 bytes a row for labels (with missing values 12), and what a fit of some batches
#'   takes.
#'
#'   Batches have about 65,536 rows, or `batches` of [bnp_control()] sets their number. The fit is that of data in
#'   memory in the same batches and with the same priors, to the last bit.
#'
#'   Defaults of priors (medians, spreads) are read from a random sample of at most 65,536 rows, of fewer if they are
#'   wide, so that the sample has about four million numbers; `print()` says of how many. Frequencies of terms are those
#'   of all documents. Text columns have as levels what all rows have.
#'
#'   Documents and sequences come with the column `id`, as in memory: their rows follow each other, over the limits of
#'   files too. Files of text have it read as it stands there: `01` is not `1`. Documents of counts may also be rows of
#'   sparse matrices, or tables with columns `document`, `term` and `n`. Without `id` each file is a sequence, or each
#'   piece of a function, which may also be a list of sequences.
#'
#'   An error says in which file and row (rows are counted without the line of names) something is wrong. A file that
#'   changes while it is read is an error. A folder `spool` is used again if files have the same sizes and times of
#'   change and model and batches are the same; of a query or a function only its text is compared, so have another
#'   folder where the data differ.
#'
#'   Columns of `types` that a value contradicts are an error, which says where.
#'
#'   Not available with sources: `weights`, `labels` and repeated measures (`id`) of [bnp_mixture()], `parent`,
#'   `position` and times of [bnp_hmm()], [obs_ar()] in mixtures, `bnp_control(keep = "probabilities")`, and names of
#'   rows.
#' @section Text files:
#'   Fields of `.csv` files are parted by commas, those of `.tsv` by tabs; quotes, doubled quotes and ends of lines
#'   within quotes are as in [utils::read.csv()], and text is in UTF-8. A quote that is not closed, a line with
#'   more or fewer fields than names, or a compressed file that is cut short is an error that names file and line.
#'
#'   Files are looked through once before they are read, and a column has the type that holds for all rows of all
#'   files: logical if all values are `TRUE` and `FALSE` (`F` and `T` alone are text), numbers if all are, and
#'   otherwise text. Missing values are `NA` without quotes, and in columns of numbers or logical values what is
#'   empty, too. A column of numbers and text is text, and a message says where the first text is. Numbers in
#'   quotes are numbers, as in `read.csv()`; where they are codes, say `types = c(code = "text")`. A first column
#'   without a name has names of rows, as `write.csv()` writes them, and is left out.
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
source_function <- function(read, batches = Inf, spool = NULL, types = NULL) {
  check_reads(read)
  batches <- if (identical(batches, Inf)) Inf else check_count(batches, "batches")
  new_source("function", spool, types, read = read, batches = batches)
}

#' @rdname sources
#' @export
source_files <- function(paths, read = NULL, rows = 10000L, terms = NULL, spool = NULL, types = NULL) {
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
source_dbi <- function(con, query, rows = 10000L, spool = NULL, types = NULL) {
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
source_arrow <- function(dataset, spool = NULL, types = NULL) {
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

# `kept`: facts about the source's spool and text files, kept during the session. `declared`: the columns whose types
# the user gave; `types` may have more columns, which a verb needs as text.
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
