# Text files in pieces: the rows and the types of a column do not depend on how the file is written, on where a piece
# ends, or on the order of files; what cannot be read is said with file and line.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
control <- bnp_control(seed = 1, verbose = FALSE, max_laps = 8)
written <- function(text, ending = ".csv", env = parent.frame()) {
  path <- withr::local_tempfile(fileext = ending, .local_envir = env)
  writeBin(if (is.raw(text)) text else charToRaw(enc2utf8(paste(text, collapse = "\n"))), path)
  path
}
# All rows of a source, in pieces of so many.
rows_of <- function(paths, rows = 3, ...) {
  reader <- open_source(source_files(paths, rows = rows, ...))
  on.exit(reader$close())
  pieces <- list()
  while (!is.null(piece <- reader$read())) pieces <- c(pieces, list(piece$data))
  do.call(rbind, pieces)
}
cause <- function(expr) {
  e <- tryCatch(quiet(expr), error = identity)
  if (!inherits(e, "bnpvi_error")) {
    return(paste("no classed error:", class(e)[1L]))
  }
  out <- conditionMessage(e)
  while (!is.null(e$parent)) {
    e <- e$parent
    out <- paste(out, conditionMessage(e))
  }
  cli::ansi_strip(out)
}

table <- withr::with_seed(1, data.frame(
  number = rnorm(60) * 10^sample(-8:8, 60, TRUE), count = rpois(60, 3), large = sample(2^31 + 1:60),
  yes = sample(c(TRUE, FALSE), 60, TRUE), letter = sample(c("F", "T"), 60, TRUE),
  text = sample(c("a", "b, c", "say \"x\"", "two\nlines", " space", "\u00e4", "#1", "1e5 x", ""), 60, TRUE)
))
# Quotes around text, or around all values; ends of lines; a mark of the order of bytes; compression.
dialect <- function(x, separator = ",", end = "\n", all = FALSE, mark = FALSE, last = TRUE, spaces = "") {
  quoted <- function(v) paste0("\"", gsub("\"", "\"\"", v), "\"")
  cells <- lapply(x, function(v) {
    text <- if (is.double(v)) sprintf("%.17g", v) else as.character(v)
    out <- if (all || is.character(v)) quoted(text) else paste0(spaces, text, spaces)
    ifelse(is.na(v), "NA", out)
  })
  lines <- c(paste(quoted(names(x)), collapse = separator), do.call(paste, c(cells, sep = separator)))
  paste0(if (mark) "\ufeff", paste(lines, collapse = end), if (last) end)
}

test_that("files in every dialect have the values of memory, to the last bit, in pieces of any size", {
  gaps <- table
  for (j in seq_along(gaps)) gaps[[j]][withr::with_seed(j, sample(60, 5))] <- NA
  paths <- c(
    written(dialect(gaps)), written(dialect(gaps, end = "\r\n")), written(dialect(gaps, all = TRUE)),
    written(dialect(gaps, mark = TRUE)), written(dialect(gaps, last = FALSE)), written(dialect(gaps, spaces = "  ")),
    written(dialect(gaps, "\t"), ".tsv")
  )
  for (open in c("gzfile", "bzfile", "xzfile")) {
    path <- withr::local_tempfile(fileext = c(gzfile = ".csv.gz", bzfile = ".csv.bz2", xzfile = ".csv.xz")[[open]])
    connection <- getExportedValue("base", open)(path, "wb")
    writeBin(charToRaw(dialect(gaps)), connection)
    close(connection)
    paths <- c(paths, path)
  }
  for (path in paths) {
    for (size in some_of(c(1, 7, 1000), by = 3, from = match(path, paths) %% 3 + 1)) {
      expect_identical(rows_of(path, size), gaps, label = paste(basename(path), size))
    }
  }
})

test_that("a fit of files is the fit of memory, whatever the order of files and rows", {
  x <- withr::with_seed(2, data.frame(
    sex = rep(c("F", "M"), each = 30), code = rep(c("1", "2", "A1"), each = 20),
    level = c(rep(NA, 40), signif(rnorm(20), 8)), yes = c(rep(NA, 30), rep(c(TRUE, FALSE), 15)),
    y = signif(rnorm(60), 8), empty_then_text = c(rep(NA, 50), rep("u", 10))
  ))
  in_batches <- function(batches) how_source(batches = batches, max_laps = 8)
  parts <- Map(function(part, order) part[order], split(x, rep(1:3, each = 20)), list(1:6, 6:1, c(3, 1, 5, 2, 6, 4)))
  for (quote in c(TRUE, FALSE)) {
    paths <- vapply(parts, function(part) {
      path <- withr::local_tempfile(fileext = ".csv", .local_envir = parent.frame(4))
      utils::write.csv(part, path, row.names = FALSE, quote = quote)
      path
    }, "")
    for (order in some_of(list(1:3, 3:1, c(2, 3, 1)), by = 2)) {
      rows <- do.call(rbind, lapply(parts[order], `[`, names(parts[[order[1]]])))
      fit <- quiet(bnp_mixture(source_files(paths[order], rows = 7), na_action = "model", control = in_batches(2)))
      memory <- quiet(bnp_mixture(rows, na_action = "model", control = in_batches(dealt(60, 2))))
      expect_identical(elbo(fit), elbo(memory))
      expect_identical(coef(fit)$categorical$prob, coef(memory)$categorical$prob)
      # New data that look like something else alone.
      new <- function(fit, x) unname(quiet(predict(fit, x, type = "prob", na_action = "model")))
      expect_identical(new(fit, source_files(paths[1])), new(memory, parts[[1]]))
    }
  }
})

test_that("types are those of all rows: promoted, declared, and told of", {
  types <- function(...) vapply(rows_of(written(c("a", ...)), 1), function(v) class(v)[1L], "")[["a"]]
  expect_identical(types("1", "2"), "integer")
  expect_identical(types("1", "2.5"), "numeric")
  expect_identical(types("1", "2147483648"), "numeric")
  expect_identical(types("0x1A", "1e5", "Inf", "-inf", "NaN"), "numeric")
  expect_identical(types("\"1\"", "\"2\""), "integer")
  expect_identical(types("TRUE", "false"), "logical")
  expect_identical(types("T", "F"), "character")
  expect_identical(types("F", "F"), "character")
  expect_identical(types("TRUE", "1"), "character")
  expect_identical(types("NA", "\"\"", "1"), "integer")
  expect_identical(quiet(types("1", "2", "x")), "character")
  expect_identical(types("\"1,000\"", "\"2,000\""), "character")
  expect_identical(rows_of(written(c("a", "1", "", "3", "", "")))$a, c(1L, NA, 3L)) # a line of one column
  expect_identical(rows_of(written(c("a,b", "", "1,2", " ", "3,4")))$b, c(2L, 4L))
  expect_identical(rows_of(written(c("a", "NA", "\"NA\"", "x")))$a, c(NA, "NA", "x"))
  expect_identical(rows_of(written(c("id,a", "01,1", "1e5,2")), types = c(id = "text"))$id, c("01", "1e5"))
  expect_identical(rows_of(written(c("a", "T", "F")), types = c(a = "logical"))$a, c(TRUE, FALSE))
  expect_identical(rows_of(written(c("a", "1", "2")), types = c(a = "number"))$a, c(1, 2))
  mixed <- written(c("a", "1", "2.5", "oops"))
  expect_message(rows_of(mixed), "\"oops\" in line 4", class = "bnpvi_message_text_column")
  expect_no_message(rows_of(mixed, types = c(a = "text")))
  expect_match(cause(rows_of(mixed, types = c(a = "number"))), "Line 4 has \"oops\" in the column \"a\".*types = c")
  expect_match(cause(rows_of(mixed, types = c(a = "integer"))), "Line 3 has \"2.5\"")
  expect_match(cause(rows_of(mixed, types = c(b = "text"))), "names a column that is not there: b")
  for (bad in list(c(a = "factor"), "text", c(a = NA), list(a = "text"), c(a = "text", a = "number"), 3)) {
    expect_bad(source_files(mixed, types = bad), "argument", "types")
  }
})

test_that("pieces of functions and of other files take declared types, too", {
  pieces <- list(data.frame(a = 1:3, y = c(1, 2, 5)), data.frame(a = c("x", "2", "3"), y = c(2, 4, 1)))
  source <- function(...) source_function(function(b) if (b < 3) pieces[[b]], ...)
  expect_match(cause(bnp_mixture(source(), obs_product(obs_categorical(columns = "a"), obs_gaussian()))), "types = c")
  fit <- quiet(bnp_mixture(source(types = c(a = "text")), control = control))
  x <- do.call(rbind, lapply(pieces, transform, a = as.character(a)))
  expect_equal(elbo(fit), elbo(quiet(bnp_mixture(x, control = control))))
  expect_match(cause(bnp_mixture(source(types = c(a = "number")))), "Piece 2.*In row 1: \"x\"")
  late <- list(data.frame(a = c(NA, NA), y = c(1, 2)), data.frame(a = c(1.5, 2), y = c(3, 1)))
  fit <- quiet(bnp_mixture(source_function(function(b) if (b < 3) late[[b]]), control = control, na_action = "model"))
  memory <- quiet(bnp_mixture(do.call(rbind, late), control = control, na_action = "model"))
  expect_equal(elbo(fit), elbo(memory))
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(pieces[[1]], path)
  expect_identical(rows_of(path, types = c(a = "text"))$a, c("1", "2", "3"))
})

test_that("what is no table is refused with file and line", {
  expect_refused <- function(text, pattern, ending = ".csv", ...) {
    path <- written(text, ending)
    said <- cause(bnp_mixture(source_files(path, ...), control = control))
    expect_match(said, basename(path), fixed = TRUE, info = pattern)
    expect_match(said, pattern)
  }
  expect_refused(c("a,b", "1,\"x", "3,4"), "Line 2 opens a quote that is never closed")
  expect_refused(c("a,b", "1,\"x", "3,\"y\"", "4,z"), "Line 3 has text behind a closing quote, opened in line 2")
  expect_refused(c("a,b", "1,x\"", "3,y"), "Line 2 has a quote within a field")
  expect_refused(c("a,b", "1,\"x\"y", "3,y"), "Line 2 has text behind a closing quote")
  expect_refused(c("a,b", "1,2", "1,2,3"), "Line 3 has 3 fields, and the line of names 2")
  expect_refused(c("a,b", "1,\"p\nq\"", "1"), "Line 4 has 1 field")
  expect_refused(c("# note", "a,b", "1,2"), "Line 2 has 2 fields")
  expect_refused(c("a,a", "1,2"), "names two columns \"a\"")
  expect_refused(c("a,,b", "1,2,3"), "empty name")
  expect_refused("", "It is empty")
  expect_refused(c("a;b", "1,5;2,5"), "read.csv2")
  expect_refused(c("a\tb", "1\t2"), "[.]tsv")
  expect_refused(as.raw(c(0x61, 0x0a, 0xe9, 0x0a)), "Line 2 is not text in UTF-8")
  expect_refused(as.raw(c(0xff, 0xfe, 0x61, 0x00, 0x0a, 0x00)), "UTF-16")
  expect_refused(as.raw(c(0x61, 0x0a, 0x31, 0x00, 0x0a)), "Line 2 has a byte of zero")
  expect_match(cause(bnp_mixture(source_files(written(c("a,b", ""))))), "no rows")
  names <- c("exp(x)", "a b", "`q`", "if", "\u00e4", "x[1]", "1", "TRUE")
  odd <- withr::with_seed(3, as.data.frame(matrix(rnorm(160), 20, dimnames = list(NULL, names))))
  fit <- quiet(bnp_mixture(source_files(csv_of(odd)), control = control))
  expect_equal(elbo(fit), elbo(quiet(bnp_mixture(odd, control = control))))
  named <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(odd, named) # with names of rows
  expect_identical(names(rows_of(named)), names)
  wide <- as.data.frame(matrix(seq_len(if (long_tests()) 20000 else 1000) / 7, 2))
  expect_equal(rows_of(csv_of(wide)), wide)
})

test_that("folders, pipes, and compressed files that are cut short are refused", {
  folder <- file.path(withr::local_tempdir(), "folder.csv")
  dir.create(folder)
  expect_bad(source_files(folder), "file", "no regular file")
  skip_on_os("windows")
  pipe <- file.path(withr::local_tempdir(), "pipe.csv")
  skip_if_not(system2("mkfifo", pipe) == 0L)
  expect_bad(source_files(pipe), "file", "no regular file")
  device <- file.path(withr::local_tempdir(), "null.csv")
  file.symlink("/dev/null", device)
  expect_bad(source_files(device), "file", "no regular file")
  x <- withr::with_seed(4, data.frame(a = rnorm(3000), b = rnorm(3000)))
  for (kind in c("gzfile", "bzfile", "xzfile")) {
    path <- withr::local_tempfile(fileext = c(gzfile = ".csv.gz", bzfile = ".csv.bz2", xzfile = ".csv.xz")[[kind]])
    connection <- getExportedValue("base", kind)(path, "w")
    utils::write.csv(x, connection, row.names = FALSE)
    close(connection)
    bytes <- readBin(path, "raw", file.size(path))
    expect_identical(nrow(rows_of(path, 1000)), 3000L)
    for (cut in c(1, 4, 8, 9, 100, length(bytes) %/% 2)) {
      writeBin(utils::head(bytes, -cut), path)
      said <- cause(rows_of(path))
      expect_match(said, basename(path), fixed = TRUE, info = paste(kind, cut))
      expect_match(said, "cannot be read", info = paste(kind, cut))
    }
  }
  # Two files of gzip, one behind the other, are one file.
  both <- withr::local_tempfile(fileext = ".csv.gz")
  parts <- vapply(list(x[1:10, ], x[11:30, ]), function(part) {
    path <- withr::local_tempfile(.local_envir = parent.frame(2))
    connection <- gzfile(path, "w")
    utils::write.table(part, connection, sep = ",", row.names = FALSE, col.names = part$a[1] == x$a[1])
    close(connection)
    path
  }, "")
  bytes <- unlist(lapply(parts, function(path) readBin(path, "raw", file.size(path))))
  writeBin(bytes, both)
  expect_identical(nrow(rows_of(both)), 30L)
  writeBin(utils::head(bytes, -20), both)
  expect_match(cause(rows_of(both)), "damaged")
})

test_that("a Matrix Market file must be what its head says", {
  counts <- withr::with_seed(5, matrix(rpois(40, 1), 8))
  sparse <- Matrix::Matrix(counts, sparse = TRUE)
  path <- withr::local_tempfile(fileext = ".mtx")
  Matrix::writeMM(as(sparse, "generalMatrix"), path)
  lines <- readLines(path)
  expect_identical(as.matrix(read_market(path)), 1 * counts)
  square <- Matrix::crossprod(sparse)
  Matrix::writeMM(square, path)
  expect_equal(as.matrix(read_market(path)), unname(as.matrix(square)))
  expect_identical(
    read_market(written(c("%%MatrixMarket matrix array real general", "% note", "2 2", "1", "2", "3", "4"), ".mtx")),
    matrix(1:4 + 0, 2)
  )
  pattern <- written(c("%%MatrixMarket matrix coordinate pattern general", "2 2 2", "1 1", "2 1"), ".mtx")
  expect_identical(as.matrix(read_market(pattern)), cbind(c(1, 1), 0))
  expect_refused <- function(lines, pattern) {
    path <- written(paste0(paste(lines, collapse = "\n"), "\n"), ".mtx")
    said <- cause(bnp_topics(source_files(path), control = control))
    expect_match(said, basename(path), fixed = TRUE)
    expect_match(said, pattern)
  }
  n <- length(lines)
  expect_refused(lines[-n], paste("says that there are", n - 2))
  expect_refused(c(lines, "1 1 5"), "says that there are")
  expect_refused(replace(lines, n, "9 1 5"), paste("Line", n, ".*not within 8 rows and 5 columns"))
  expect_refused(replace(lines, n, "0 1 5"), "not within")
  expect_refused(replace(lines, n, lines[n - 1]), paste("Line", n, "has an entry for a row and column"))
  expect_refused(replace(lines, n, "8 5"), paste("Line", n, "should have 3 numbers"))
  expect_refused(replace(lines, 1, "%%MatrixMarket matrix coordinate complex general"), "Line 1")
  expect_refused(lines[-1], "Line 1")
  expect_refused(lines[1], "Line 2 should have the size")
  expect_refused(replace(lines, 2, "8 5"), "size")
  expect_refused(replace(lines, 2, "-8 5 3"), "size")
})
