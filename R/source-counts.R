# Reads files of word counts of documents: the format of lda-c, and Matrix Market files.

with_terms <- function(x, terms) {
  if (!is.null(terms) && length(terms) != ncol(x)) {
    abort("source", "It has {ncol(x)} terms, and {.arg terms} {length(terms)} name{?s}.")
  }
  if (!is.null(terms)) colnames(x) <- terms
  x
}

# Reads a Matrix Market file as a sparse matrix, or as a dense one if the file lists all values. Checks that
# the file contains what its header says.
read_market <- function(path) {
  check_complete(path)
  text <- text_connection(path)
  on.exit(text$close())
  banner <- strsplit(tolower(trimws(readLines(text$at, 1L, warn = FALSE))), "[[:space:]]+")[[1L]]
  if (length(banner) != 5L || !identical(banner[1:2], c("%%matrixmarket", "matrix")) ||
    !banner[3L] %in% c("coordinate", "array") || !banner[4L] %in% c("real", "double", "integer", "pattern") ||
    !banner[5L] %in% c("general", "symmetric") || identical(banner[3:4], c("array", "pattern"))) {
    abort("source", c(
      "Line 1 does not begin a Matrix Market file of numbers.",
      i = "It should be, for example, {.code %%MatrixMarket matrix coordinate real general}."
    ))
  }
  line <- 1
  repeat {
    size <- readLines(text$at, 1L, warn = FALSE)
    line <- line + 1
    if (!length(size) || !grepl("^[[:space:]]*(%|$)", size)) break
  }
  listed <- banner[3L] == "coordinate"
  size <- suppressWarnings(as.numeric(strsplit(trimws(c(size, "")[1L]), "[[:space:]]+")[[1L]]))
  if (length(size) != 2L + listed || anyNA(size) || any(size < 0 | size != round(size)) ||
    any(size[1:2] > .Machine$integer.max)) {
    abort("source", "Line {line} should have the size: rows, columns{if (listed) ' and entries'}.")
  }
  what <- if (listed) rep(list(0), if (banner[4L] == "pattern") 2L else 3L) else list(0)
  values <- tryCatch(
    scan(text$at, what, quiet = TRUE, multi.line = FALSE, na.strings = character()),
    error = function(e) {
      at <- suppressWarnings(as.numeric(sub("^line ([0-9]+) did not .*", "\\1", conditionMessage(e))))
      if (!is.na(at)) abort("source", "Line {line + at} should have {length(what)} numbers.")
      stop(e)
    }
  )
  if (listed) listed_market(values, size, banner[5L] == "symmetric", line) else
    array_market(values[[1L]], size[1:2], banner[5L] == "symmetric", line)
}

listed_market <- function(values, size, symmetric, line) {
  i <- values[[1L]]
  j <- values[[2L]]
  x <- if (length(values) == 3L) values[[3L]] else rep(1, length(i))
  if (length(i) != size[3L]) {
    abort("source", "Line {line} says that there are {size[3L]} entries, and there are {length(i)}: was the file cut?")
  }
  outside <- which(is.na(i + j) | i < 1 | i > size[1L] | j < 1 | j > size[2L] | i != round(i) | j != round(j))
  if (length(outside)) {
    abort("source", "Line {line + outside[1L]} has an entry that is not within {size[1L]} rows and {size[2L]} columns.")
  }
  twice <- anyDuplicated(cbind(if (symmetric) pmax(i, j) else i, if (symmetric) pmin(i, j) else j))
  if (twice) abort("source", "Line {line + twice} has an entry for a row and column that have one before.")
  below <- which(symmetric & i != j)
  check_size_of_sparse(size[1L], size[2L], length(i))
  sparseMatrix(i = c(i, j[below]), j = c(j, i[below]), x = c(x, x[below]), dims = size[1:2])
}

array_market <- function(values, size, symmetric, line) {
  cells <- if (symmetric) size[1L] * (size[1L] + 1) / 2 else prod(size)
  if (length(values) != cells || symmetric && size[1L] != size[2L]) {
    abort("source", "Line {line} says that there are {cells} values, and there are {length(values)}: was the file cut?")
  }
  if (!symmetric) {
    return(matrix(values, size[1L]))
  }
  out <- matrix(0, size[1L], size[2L])
  out[lower.tri(out, TRUE)] <- values
  out + t(out) - diag(diag(out), nrow(out))
}

# An open text file, as a list with its connection and close(), which may be called more than once.
text_connection <- function(path) {
  connection <- suppressWarnings(file(path, "r")) # the error says it all
  list(at = connection, close = function() {
    if (!is.null(connection)) close(connection)
    connection <<- NULL
  })
}

# A reader of documents from a file in the format of lda-c: each call returns a sparse matrix of at most
# `rows` documents. Without names of terms, the number of columns is only as large as the piece requires, and
# the attribute `grows` says so.
count_pieces <- function(path, rows, terms) {
  check_complete(path)
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
    most <- if (is.null(terms)) most_indices else length(terms)
    if (any(term > most)) {
      at <- document[which.max(term)]
      abort("source", "Line {before + at} has term {max(term) - 1}, but there are {most}, the first being 0.")
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
