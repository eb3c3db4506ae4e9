# Reads tables from text files: the types of their columns, and their rows in pieces. Types are determined
# from all rows of all files, so that they depend neither on where pieces end nor on the order of files.

# Names of the types of columns, in the order of their numbers in the engine, from 0 (src/r_text.cpp).
# "unknown": the column has no value at all.
text_types <- c("unknown", "logical", "integer", "number", "text")
is_text_table <- function(paths) kind_of_file(paths) %in% c("csv", "tsv")
separator_of <- function(path) if (kind_of_file(path) == "csv") "," else "\t"

# Checks the argument `types` of a source: names of types by column, or NULL.
check_types <- function(types, call = rlang::caller_env()) {
  if (is.null(types)) {
    return(NULL)
  }
  known <- text_types[-1L]
  ok <- is.character(types) && length(types) && !anyNA(types) && !is.null(names(types)) && all(nzchar(names(types))) &&
    !anyNA(names(types)) && !anyDuplicated(names(types)) && all(types %in% known)
  if (!ok) {
    abort("argument", c(
      "{.arg types} must be named by columns, with values {.or {.val {known}}}, not {describe(types)}.",
      i = "For example {.code types = c(code = \"text\", age = \"number\")}."
    ), call = call)
  }
  types
}

# The source with these types of columns added, except for columns whose types the user declared.
with_types <- function(source, types) {
  source$types <- c(source$types, types[setdiff(names(types), names(source$types))])
  source
}

# Types of the columns of all text files of a source, by name: the type that the user declared; text for
# columns of labels (source$labels is a function that chooses these from the column names); else determined
# from all rows. Files are scanned once, and again if they change.
types_of_text <- function(source, call) {
  paths <- source$paths[is_text_table(source$paths)]
  state <- state_of_files(paths)
  if (!identical(source$kept$state, state)) {
    source$kept$evidence <- join_evidence(lapply(paths, function(path) {
      in_reading(name_of_file(path), 0, call, evidence_of_text(path))
    }))
    source$kept$state <- state
    settled <- c(names(source$types), label_columns_of(source, source$kept$evidence$name))
    tell_of_text_columns(source$kept$evidence, settled)
  }
  evidence <- source$kept$evidence
  type <- stats::setNames(ifelse(
    evidence$text | evidence$logical & (evidence$integer | evidence$number), "text",
    ifelse(evidence$logical, "logical", ifelse(evidence$number, "number", ifelse(evidence$integer, "integer",
      ifelse(evidence$quotes, "text", "unknown")
    )))
  ), evidence$name)
  lost <- setdiff(names(source$declared), evidence$name)
  if (length(lost)) {
    abort("columns", c(
      "{.arg types} names {cli::qty(length(lost))}{?a column that is/columns that are} not there: {.field {lost}}.",
      i = "Columns: {places(dQuote(evidence$name, FALSE))}."
    ), call = call)
  }
  declared <- intersect(names(source$types), evidence$name)
  replace(replace(type, label_columns_of(source, evidence$name), "text"), declared, source$types[declared])
}

label_columns_of <- function(source, names) if (!is.null(source$labels)) source$labels(names)

# What a text file shows about the types of its columns: a data frame with a row for each column, the kinds of
# values that occur (see src/r_text.cpp), and the first text.
evidence_of_text <- function(path) {
  check_complete(path)
  table <- engine_text_begin(separator_of(path))
  bytes <- open_bytes(path)
  on.exit(bytes$close())
  repeat {
    more <- bytes$read()
    engine_text_weigh(table, more, !length(more))
    if (!length(more)) break
  }
  evidence <- engine_text_evidence(table)
  data.frame(evidence, file = rep(basename(path), length(evidence$name)))
}

join_evidence <- function(parts) {
  all <- do.call(rbind, parts)
  all <- all[order(!all$text), ] # those that name a text first
  out <- all[!duplicated(all$name), ]
  at <- match(all$name, out$name)
  for (kind in c("logical", "integer", "number", "text", "quotes")) {
    out[[kind]] <- tabulate(at[all[[kind]]], nrow(out)) > 0L
  }
  out
}

# Informs the user where text occurs in columns of numbers, since it may be an error. settled: names of
# columns whose type is known.
tell_of_text_columns <- function(evidence, settled) {
  mixed <- evidence[evidence$text & (evidence$integer | evidence$number) & !evidence$name %in% settled, ]
  if (nrow(mixed)) {
    where <- sprintf("%s: \"%s\" in line %.0f of %s", mixed$name, mixed$first, mixed$line, mixed$file)
    cli::cli_inform(c(
      "{cli::qty(nrow(mixed))}{?A column has/Columns have} both numbers and text, and {?is/are} text:
       {places(where, 3L)}.",
      i = "{.code types = c({mixed$name[1L]} = \"number\")} refuses what is no number."
    ), class = c("bnpvi_message_text_column", "bnpvi_message"))
  }
}

# A reader of the rows of a text file, at most `rows` in each piece.
text_pieces <- function(path, rows, types) {
  table <- engine_text_begin(separator_of(path))
  bytes <- open_bytes(path)
  codes <- stats::setNames(match(types, text_types) - 1L, names(types))
  ended <- FALSE
  list(read = function() {
    full <- engine_text_read(table, raw(), ended, rows, codes)
    while (!full && !ended) {
      more <- bytes$read()
      ended <<- !length(more)
      full <- engine_text_read(table, more, ended, rows, codes)
    }
    piece <- engine_text_piece(table)
    n <- length(piece[[1L]])
    if (n) structure(piece, class = "data.frame", row.names = .set_row_names(n))
  }, close = bytes$close)
}

# A reader of the uncompressed bytes of a file: list(read, close), where read() returns some bytes, and none
# at the end.
open_bytes <- function(path) {
  connection <- suppressWarnings(gzfile(path, "rb")) # reads what is not compressed, too; the error says it all
  close <- function() {
    if (!is.null(connection)) base::close(connection)
    connection <<- NULL
  }
  list(read = function() {
    tryCatch(readBin(connection, "raw", 2^20), warning = function(w) stop(conditionMessage(w), call. = FALSE))
  }, close = close)
}

# Refuses a compressed file that is cut off, which R would read as if it ended where it is cut. (For .xz files
# R reports this itself.)
check_complete <- function(path) {
  start <- readBin(path, "raw", 3L)
  size <- file.size(path)
  complete <- if (identical(start[1:2], as.raw(c(0x1f, 0x8b)))) {
    gzip_is_complete(path, end_of_file(path, 8L))
  } else if (identical(start, charToRaw("BZh"))) {
    bzip2_is_complete(end_of_file(path, min(size, 11)))
  } else {
    TRUE
  }
  if (!complete) {
    abort("source", c(
      "The compressed file {.file {path}} is damaged or has no end.", i = "Copy or download it anew."
    ))
  }
}

end_of_file <- function(path, n) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  seek(connection, max(0, file.size(path) - n))
  readBin(connection, "raw", n)
}

# Whether a gzip file is complete. Its last eight bytes are the checksum and the size (modulo 2^32) of the
# text, or of its last part where compressed files were concatenated.
gzip_is_complete <- function(path, end) {
  number <- function(bytes) sum(as.integer(bytes) * 256^(0:3))
  last_size <- number(end[5:8])
  pass <- function(from) {
    bytes <- open_bytes(path)
    on.exit(bytes$close())
    n <- crc <- 0
    while (length(more <- bytes$read())) {
      skipped <- min(max(from - n, 0), length(more))
      crc <- engine_crc32(if (skipped) utils::tail(more, length(more) - skipped) else more, crc)
      n <- n + length(more)
    }
    list(n = n, crc = crc)
  }
  all <- tryCatch(pass(0), error = function(e) NULL)
  if (is.null(all)) {
    return(FALSE)
  }
  if (all$n %% 2^32 == last_size && all$crc == number(end[1:4])) {
    return(TRUE)
  }
  last_size < all$n && pass(all$n - last_size)$crc == number(end[1:4])
}

# Whether a bzip2 file is complete: its last 80 bits, apart from up to seven padding bits, then begin with the
# end mark.
bzip2_is_complete <- function(end) {
  bits <- as.integer(rev(rawToBits(rev(end))))
  mark <- as.integer(rev(rawToBits(as.raw(c(0x90, 0x50, 0x38, 0x45, 0x72, 0x17)))))
  any(vapply(0:7, function(fill) {
    from <- length(bits) - fill - 80L
    from >= 0L && identical(bits[from + seq_len(48L)], mark)
  }, NA))
}
