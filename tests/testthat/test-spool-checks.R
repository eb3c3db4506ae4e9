# Spools that were damaged, or made to mislead: an error of class bnpvi_error_spool.

spooled <- function(folder) {
  source <- source_function(function(b) faithful[1:90 + 90 * (b - 1), ], batches = 3, spool = folder)
  list(source = source, fit = bnp_mixture(source, control = how_source()))
}

test_that("one changed number, or index, of the data is refused (robust-07)", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  again <- bnp_mixture(made$source, control = how_source())
  expect_identical(elbo(again), elbo(made$fit))
  file <- file.path(folder, "batches.spool")
  bytes <- bytes_of(file)
  writeBin(replace(bytes, 7:8, as.raw(c(0x44, 0x40))), file)
  expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "batch 1 was damaged")
  writeBin(bytes, file)
  expect_identical(elbo(bnp_mixture(made$source, control = how_source())), elbo(made$fit))

  folder <- file.path(withr::local_tempdir(), "kept")
  counts <- methods::as(Matrix::Matrix(bars$counts[1:40, ], sparse = TRUE), "dgCMatrix")
  source <- source_function(function(b) counts[1:20 + 20 * (b - 1), ], batches = 2, spool = folder)
  quiet <- function() suppressWarnings(bnp_topics(source, control = how_source(max_laps = 3)))
  quiet()
  file <- file.path(folder, "batches.spool")
  bytes <- bytes_of(file)
  large <- as.raw(c(0xff, 0xff, 0xff, 0x7f))
  for (k in c(8 * 900, seq(8 * 2600, min(length(bytes) - 600, 8 * 3400), 8))) bytes[k + 1:4] <- large
  writeBin(bytes, file)
  expect_bad(quiet(), "spool", "damaged")
})

test_that("the message says what to do, and a folder that was deleted is made anew", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  for (file in c("batches.spool", "description.rds")) {
    path <- file.path(folder, file)
    bytes <- bytes_of(path)
    writeBin(replace(bytes, 100, xor(bytes[100], as.raw(1))), path)
    expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "[Dd]elete")
    writeBin(bytes, path)
  }
  unlink(folder, recursive = TRUE)
  expect_identical(elbo(bnp_mixture(made$source, control = how_source())), elbo(made$fit))
})

test_that("batches or a description of another spool, and what is no file, are refused", {
  home <- withr::local_tempdir()
  spool_of <- function(folder, scale) {
    source_function(function(b) scale * faithful[1:90 + 90 * (b - 1), ], batches = 3, spool = file.path(home, folder))
  }
  source <- spool_of("one", 1)
  one <- bnp_mixture(source, control = how_source())
  bnp_mixture(spool_of("other", 2), control = how_source())
  refused <- function(pattern) expect_bad(bnp_mixture(source, control = how_source()), "spool", pattern)
  for (name in c("batches.spool", "description.rds")) {
    file <- file.path(home, "one", name)
    bytes <- bytes_of(file)
    writeBin(bytes_of(file.path(home, "other", name)), file)
    refused("other batches")
    writeBin(bytes, file)
  }
  expect_identical(elbo(bnp_mixture(source, control = how_source())), elbo(one))
  skip_on_os("windows")
  file <- file.path(home, "one", "batches.spool")
  unlink(file)
  dir.create(file)
  refused("no regular file")
  unlink(file, recursive = TRUE)
  system2("mkfifo", file)
  refused("no regular file") # and not waited for
})

test_that("a damaged spool is told with its remedy, beside a checkpoint too; room is for what is written", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  file <- file.path(folder, "batches.spool")
  bytes <- bytes_of(file)
  writeBin(replace(bytes, 100, xor(bytes[100], as.raw(1))), file)
  for (control in list(how_source(), how_source(checkpoint = file.path(folder, "checkpoint")))) {
    said <- expect_bad(bnp_mixture(made$source, control = control), "spool", "batch 1 was damaged")
    expect_no_match(conditionMessage(said), "full|checkpoint")
  }
  nowhere <- file.path(folder, "nowhere", "batches.spool")
  sizes <- cbind(272, 0, 0)
  written <- function() in_spool(engine_spool_begin(nowhere, 2L, FALSE, FALSE, sizes), NULL, writes = TRUE)
  expect_bad(written(), "spool", "may be full")
})

test_that("spools and descriptions of an earlier version are refused by name", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  file <- file.path(folder, "batches.spool")
  bytes <- bytes_of(file)
  writeBin(c(utils::head(bytes, -8), charToRaw("spoolend")), file)
  expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "earlier version")
  writeBin(bytes, file)
  saveRDS(engine_read_bytes(file.path(folder, "description.rds")), file.path(folder, "description.rds"))
  expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "another version")
})

test_that("a description that is whole and says other things is refused", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  file <- file.path(folder, "description.rds")
  note <- engine_read_bytes(file)
  change <- function(...) utils::modifyList(note, list(read = list(data = list(...))))
  other <- list(
    n = change(n = 5L), huge = change(n = 1e300), text = change(n = "270"), d = change(engine_d = 7L),
    starts = change(starts = c(0L, 500L)), unsorted = change(starts = c(0L, 300L, 270L)),
    batches = change(n_batches = 9L),
    names = change(column_names = letters), sample = change(sample = list(n = 3L)), none = note["key"],
    obs = utils::modifyList(note, list(read = list(obs = "x"))), key = replace(note, "key", list(NULL)),
    missing = change(cells_missing = 1:9), order = change(order = 1:3), call = change(starts = quote(stop("called")))
  )
  for (name in names(other)) {
    engine_write_bytes(file, serialize(sealed_note(other[[name]]), NULL))
    expect_bad(bnp_mixture(made$source, control = how_source()), "spool", label = name)
  }
  engine_write_bytes(file, serialize(note, NULL))
  expect_identical(elbo(bnp_mixture(made$source, control = how_source())), elbo(made$fit))
  engine_write_bytes(file, serialize(1:3, NULL))
  expect_bad(bnp_mixture(made$source, control = how_source()), "spool")
})

# A spool with right sums whose arrays say other things, as somebody might make it: words (of 4 bytes) of the only batch
# are set to other values, and its sum in the index is set to what it is then.
test_that("numbers that the engine looks up by are checked though the sums are right", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "batches.spool")
  make <- function() {
    part <- list(
      n = 4L, d = 3L, starts = c(0L, 2L, 4L), row_start = c(0L, 1L, 3L, 4L, 6L), column = c(0L, 1L, 2L, 0L, 1L, 2L),
      value = as.double(1:6)
    )
    writer <- engine_spool_begin(file, 3L, TRUE, FALSE, cbind(4, 2, 6))
    engine_spool_add(writer, part, c(1L, 1L))
    engine_spool_end(writer, TRUE)
  }
  make()
  whole <- bytes_of(file)
  expect_identical(engine_spool_batch(file, 1L)$column, c(0L, 1L, 2L, 0L, 1L, 2L))
  # values 6 x 8 bytes; row_start 5 ints, padded to 24 bytes; column 24; rows 16; groups 8; starts 3 ints
  at <- c(row_start = 48, column = 72, rows = 96, groups = 112, starts = 120)
  for (where in names(at)) {
    for (value in some_of(c(-1L, 3L, 1000000L, .Machine$integer.max, -.Machine$integer.max), by = 3)) {
      for (word in 0:1) {
        place <- at[[where]] + 4 * word
        bytes <- replace(whole, place + 1:4, writeBin(value, raw()))
        if (identical(bytes, whole)) next
        writeBin(engine_with_sums(bytes), file)
        offsets <- where %in% c("row_start", "starts")
        if (where == "column" && value == 3L || value < 0 || value > 3L || offsets && word == 0) {
          expect_error(engine_spool_batch(file, 1L), class = "bnpvi::FileError", label = paste(where, value, word))
        } else {
          try(engine_spool_batch(file, 1L), silent = TRUE)
        }
      }
    }
  }
})

test_that("a spool writes to a file that it made, and leaves none behind", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  writeLines("precious", file.path(folder, "victim"))
  file.symlink("victim", file.path(folder, "batches.spool.new"))
  spool <- file.path(folder, "batches.spool")
  part <- list(x = as.matrix(faithful), n = 272L, d = 2L, starts = c(0L, 272L))
  writer <- engine_spool_begin(spool, 2L, FALSE, FALSE, cbind(272, 0, 0))
  expect_length(list.files(folder, "[.]bnpvi-[0-9a-f]{16}$"), 1L)
  engine_spool_add(writer, part, rep(1L, 272))
  engine_spool_end(writer, TRUE)
  expect_setequal(list.files(folder), c("batches.spool", "batches.spool.new", "victim"))
  expect_identical(readLines(file.path(folder, "victim")), "precious")
  writer <- engine_spool_begin(file.path(folder, "other"), 2L, FALSE, FALSE, cbind(272, 0, 0))
  engine_spool_end(writer, FALSE)
  expect_setequal(list.files(folder), c("batches.spool", "batches.spool.new", "victim"))
})

# Descriptions with right sums that say other things: refused, or taken without a crash.
test_that("every field of a description may be anything", {
  skip_on_os("windows") # no fork
  counts <- methods::as(Matrix::Matrix(bars$counts[1:40, ], sparse = TRUE), "dgCMatrix")
  frame <- data.frame(u = factor(rep(c("a", "b", "c"), 90)), v = faithful$waiting[1:270])
  walks <- data.frame(a = faithful[1:272, 1], id = rep(1:8, each = 34))
  how <- how_source(max_laps = 2)
  part <- function(x, n) function(folder) source_function(function(b) x[n * (b - 1) + seq_len(n), ], 2, spool = folder)
  cases <- list(
    mixture = list(part(as.matrix(faithful), 136), function(s) elbo(bnp_mixture(s, control = how))),
    frame = list(part(frame, 135), function(s) elbo(bnp_mixture(s, control = how))),
    topics = list(part(counts, 20), function(s) elbo(bnp_topics(s, control = how))),
    sequences = list(part(walks, 136), function(s) elbo(bnp_hmm(s, id = "id", control = how))),
    individuals = list(part(growth_data("one", 1, 20L), 40), function(s) {
      elbo(bnp_mixture(y ~ t + (1 + t | id), s, control = how))
    })
  )
  for (name in some_of(names(cases), by = 2)) {
    folder <- file.path(withr::local_tempdir(), "kept")
    source <- cases[[name]][[1L]](folder)
    ask <- function() cases[[name]][[2L]](source)
    right <- suppressMessages(suppressWarnings(ask()))
    file <- file.path(folder, "description.rds")
    note <- engine_read_bytes(file)
    edits <- edits_of(note, lapply(places_in_object(note$read, 5L), function(place) c("read", place)))
    most <- how_many_edits(10)
    if (length(edits) > most) edits <- withr::with_seed(5, edits[sample.int(length(edits), most)])
    log <- withr::local_tempfile()
    out <- in_child(function() vapply(edits, function(edit) {
      cat(edit$name, "\n", file = log)
      engine_write_bytes(file, serialize(sealed_note(put_in(note, edit$place, edit$value[[1L]])), NULL))
      said <- outcome_of(ask, right)
      if (startsWith(said, "unclassed")) paste(edit$name, "-", said) else ""
    }, ""))
    expect_type(out, "character")
    if (!is.character(out)) cat("ended at", name, readLines(log), "\n") else
      expect_identical(out[nzchar(out)], character(), label = name)
  }
})

test_that("a sample of numbers that no data may have is refused (it ended R)", {
  folder <- file.path(withr::local_tempdir(), "kept")
  made <- spooled(folder)
  file <- file.path(folder, "description.rds")
  note <- engine_read_bytes(file)
  for (value in list(1e300, -1e250, NA_real_, Inf)) {
    other <- note
    other$read$data$sample$x[] <- value
    engine_write_bytes(file, serialize(sealed_note(other), NULL))
    expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "damaged")
  }
  note$read$data$sample$x[1] <- note$read$data$sample$x[1] + 1 # such numbers are a model of their own: the seal tells
  engine_write_bytes(file, serialize(note, NULL))
  expect_bad(bnp_mixture(made$source, control = how_source()), "spool", "damaged")
})
