# Sources: what is wrong is said, with file and row, and nothing is left behind.

quiet <- function(expr) suppressMessages(suppressWarnings(expr))
points <- withr::with_seed(1, `colnames<-`(matrix(rnorm(600), 200), c("a", "b", "c")))
message_of <- function(expr) {
  e <- tryCatch(expr, error = identity)
  expect_s3_class(e, "bnpvi_error")
  cli::ansi_strip(paste(conditionMessage(e), if (!is.null(e$parent)) conditionMessage(e$parent)))
}
spools <- function() list.files(tempdir(), "^spool")

test_that("messages name file and row", {
  before <- spools()
  first <- csv_of(points)
  name <- function(path) basename(path)
  bad <- as.data.frame(points)
  bad$b[157] <- NA
  second <- csv_of(bad)
  text <- message_of(bnp_mixture(source_files(c(first, second), rows = 50)))
  expect_match(text, name(second), fixed = TRUE)
  expect_match(text, "(157, b)", fixed = TRUE)
  bad <- as.data.frame(points)
  bad$c <- replace(as.character(bad$c), 180, "oops")
  second <- csv_of(bad)
  typed <- source_files(second, rows = 50, types = c(c = "number"))
  expect_match(message_of(bnp_mixture(typed)), paste0(name(second), ".*Line 181 has \"oops\" in the column \"c\""))
  expect_message(
    try(bnp_mixture(source_files(second, rows = 50), obs_gaussian()), silent = TRUE), "\"oops\" in line 181",
    class = "bnpvi_message_text_column"
  )
  quoted <- csv_of(format(as.data.frame(points), digits = 15))
  expect_identical(nobs(bnp_mixture(source_files(quoted, rows = 50), control = how_source())), 200L)
  ragged <- csv_of(points)
  writeLines(replace(readLines(ragged), 121, "1,2"), ragged)
  text <- message_of(bnp_mixture(source_files(ragged, rows = 50)))
  expect_match(text, paste0(name(ragged), ".*Line 121 has 2 fields"))
  other <- csv_of(points[, 1:2])
  expect_match(message_of(bnp_mixture(source_files(c(first, other)))), paste0(name(other), ".*Missing: \"c\""))
  counts <- csv_of(replace(round(abs(points)), 333, -1))
  expect_match(message_of(bnp_mixture(source_files(counts, rows = 50), obs_poisson())), "\\(133, b\\)")
  levels <- data.frame(g = replace(rep(c("x", "y"), 100), 77, NA), a = 1:200)
  expect_match(message_of(bnp_mixture(in_pieces(levels, 200))), "(77, g)", fixed = TRUE)
  expect_match(message_of(bnp_mixture(in_pieces(levels, 50))), "Piece 2.*\\(27, g\\)")
  kinds <- list(data.frame(a = 1:3), data.frame(a = c("p", "q")))
  source <- source_function(function(b) kinds[[b]], 2)
  expect_match(message_of(bnp_mixture(source, obs_categorical())), "text values here")
  ids <- data.frame(points, id = rep(c("p", "q", "p", "r"), each = 50))
  expect_match(message_of(bnp_hmm(in_pieces(ids, 60), id = "id")), "starts again")
  expect_match(message_of(bnp_hmm(in_pieces(ids, 60), id = "who")), "names the column")
  expect_match(message_of(bnp_hmm(in_pieces(replace(ids, "id", NA), 60), id = "id")), "missing values")
  expect_bad(bnp_hmm(in_pieces(ids, 60), id = 1:200), "id", "column")
  ldac <- withr::local_tempfile(fileext = ".ldac")
  writeLines(c("2 0:1 3:2", "1 2:1", "2 0:1"), ldac)
  expect_match(message_of(bnp_topics(source_files(ldac, rows = 2))), "Line 3")
  writeLines(c("2 0:1 3:2", "1 9:1"), ldac)
  expect_match(message_of(bnp_topics(source_files(ldac, terms = letters[1:5]))), "Line 2 has term 9")
  fit <- quiet(bnp_mixture(points, control = how_source(max_laps = 2)))
  expect_match(message_of(predict(fit, source_files(c(first, other)))), name(other), fixed = TRUE)
  invisible(gc()) # a source that is gone takes its spool with it
  expect_length(setdiff(spools(), before), 0L)
})

test_that("values whose squares are no numbers are refused, though the sample has them not", {
  x <- replace(matrix(withr::with_seed(1, rnorm(2e5))), 777, 1e300)
  expect_false(engine_unit_keys(776, 1L) < stats::quantile(engine_unit_keys(0, 200000L), most_sampled / 2e5))
  expect_bad(bnp_mixture(in_pieces(x, 1e5), control = how_source(max_laps = 1)), "range", "row 777")
})

test_that("verbs that take no sources say so", {
  source <- in_pieces(as.matrix(faithful), 100)
  mixture <- bnp_mixture(faithful, control = how_source(max_laps = 2))
  chain <- bnp_hmm(faithful, control = how_source(max_laps = 2))
  for (verb in list(augment, impute, cluster_tree, coclustering)) {
    for (fit in list(mixture, chain)) expect_bad(verb(fit, source), "argument", "not a source")
  }
  for (verb in list(segments, bnp_filter)) expect_bad(verb(chain, source), "argument", "not a source")
  expect_bad(bnp_sample(source, draws = 3), "argument", "not a source")
})

test_that("what is not there is refused", {
  source <- in_pieces(points, 50)
  expect_bad(bnp_mixture(source, obs_ar()), "argument", "series")
  expect_bad(bnp_mixture(source, obs_gaussian(drift = 0.5)), "argument", "source is not available for drifting")
  expect_bad(
    bnp_hmm(source_function(function(b) points, 2), obs = obs_lds()), "argument",
    "source is not available for linear systems"
  )
  expect_bad(bnp_mixture(source, control = bnp_control("truncation_free")), "argument", "bnp_stream")
  expect_bad(bnp_mixture(source, control = how_source(keep = "probabilities")), "argument", "keep")
  expect_error(bnp_mixture(source, weights = rep(1, 200)), class = "bnpvi_error")
  expect_bad(bnp_mixture(~a, source, weights = rep(1, 200)), "argument", "weights")
  expect_bad(bnp_hmm(a ~ b, source, parent = "p"), "argument", "parent")
  expect_bad(bnp_mixture(source_function(function(b) NULL)), "no_rows", "empty")
  no_connection <- if (requireNamespace("DBI", quietly = TRUE)) "source" else "package"
  expect_bad(bnp_hmm(source_dbi(function() NULL, "x")), no_connection)
  expect_error(bnp_mixture(replace(as.data.frame(points), 1, NA)), class = "bnpvi_error")
  empty <- points
  empty[, 2] <- NA
  expect_bad(bnp_mixture(in_pieces(empty, 50), na_action = "model"), "gaps", "b")
  expect_bad(quiet(bnp_mixture(in_pieces(points * NA, 50), na_action = "omit")), "no_rows")
  expect_bad(source_files(csv_of(points), terms = 3), "argument", "terms")
  expect_bad(source_files("no-such-file.csv"), "file")
  expect_bad(source_files("no-such-*.csv"), "file", "Sys.glob")
  expect_bad(source_files(tempdir()), "file", "list.files")
  expect_bad(source_function(identity, spool = 3), "argument", "spool")
  fit <- quiet(bnp_mixture(points, control = how_source(max_laps = 2)))
  expect_bad(predict(fit, points, write = "out.csv"), "argument", "write")
  expect_bad(predict(fit, source, id = 1:3), "argument", "id")
  expect_bad(predict(fit, source_function(function(b) NULL)), "no_rows")
})

test_that("a folder keeps the spool, and refuses another fit, a cut or changed file, and what is not its own", {
  csv <- csv_of(points)
  folder <- file.path(withr::local_tempdir(), "kept")
  reads <- 0
  read <- function(path) {
    reads <<- reads + 1
    as.matrix(utils::read.csv(path))
  }
  fit <- function(...) quiet(bnp_mixture(source_files(csv, read = read, spool = folder), control = how_source(...)))
  one <- fit(batches = 3)
  two <- fit(batches = 3)
  expect_identical(reads, 1)
  expect_identical(comparable_fit(one), comparable_fit(two))
  expect_bad(fit(batches = 4), "spool", "batches")
  file <- file.path(folder, "batches.spool")
  bytes <- readBin(file, "raw", file.size(file))
  for (n in c(0, 10, 4096, length(bytes) - 1)) {
    writeBin(bytes[seq_len(n)], file)
    expect_error(fit(batches = 3), class = "bnpvi_error_spool", label = paste("cut to", n))
  }
  writeBin(bytes, file)
  expect_identical(elbo(fit(batches = 3)), elbo(one))
  unlink(file)
  expect_bad(fit(batches = 3), "spool")
  writeBin(bytes, file)
  Sys.sleep(0.01)
  utils::write.csv(points[-1, ], csv, row.names = FALSE)
  expect_bad(fit(batches = 3), "spool", "source")
  taken <- withr::local_tempdir()
  writeLines("mine", file.path(taken, "notes.txt"))
  expect_bad(bnp_mixture(source_files(csv, spool = taken)), "spool", "not empty")
  expect_identical(list.files(taken), "notes.txt")
})

test_that("parts that the disk does not take, and such as are gone or cut, are told of", {
  folder <- withr::local_tempdir()
  expect_bad(write_part(file.path(folder, "nowhere"), 1L, 1:10), "spool", "may be full")
  path <- write_part(folder, 1L, points)
  expect_identical(read_part(path), points)
  bytes <- readBin(path, "raw", file.size(path))
  for (n in c(0, 5, 100, length(bytes) - 1)) {
    writeBin(bytes[seq_len(n)], path)
    expect_bad(read_part(path), "spool", "gone or was changed")
  }
  unlink(path)
  expect_bad(read_part(path), "spool", "gone or was changed")
  skip_if_not(file.exists("/dev/full"))
  for (x in list(points, rnorm(1e5))) { # told when the file is closed, and before
    file.symlink("/dev/full", file.path(folder, "part-000002"))
    expect_bad(write_part(folder, 2L, x), "spool", "may be full")
    unlink(file.path(folder, "part-000002"))
  }
})

test_that("a temporary spool of files is used again, one of functions is not, and it goes with its source", {
  csv <- csv_of(points)
  reads <- 0
  source <- source_files(csv, read = function(path) {
    reads <<- reads + 1
    as.matrix(utils::read.csv(path))
  })
  before <- spools()
  for (i in 1:2) quiet(bnp_mixture(source, control = how_source(max_laps = 2)))
  expect_identical(reads, 1)
  expect_length(setdiff(spools(), before), 1L)
  Sys.setFileTime(csv, Sys.time() + 5)
  quiet(bnp_mixture(source, control = how_source(max_laps = 2)))
  expect_identical(reads, 2)
  times <- 0
  counted <- source_function(function(b) {
    times <<- times + 1
    points
  }, 1)
  for (i in 1:2) quiet(bnp_mixture(counted, control = how_source(max_laps = 2)))
  expect_identical(times, 2)
  rm(source, counted)
  invisible(gc())
  expect_length(setdiff(spools(), before), 0L)
})

test_that("a file that changes while it is read, and a spool that changes during a fit", {
  csv <- csv_of(points)
  source <- source_files(csv, rows = 50)
  reader <- open_source(source)
  invisible(reader$read())
  cat("1,2,3\n", file = csv, append = TRUE)
  expect_error(while (!is.null(reader$read())) NULL, "changed while it was read")
  reader$close()
  unlink(csv)
  expect_bad(bnp_mixture(source), "source")
  skip_on_os("windows")
  csv <- csv_of(points)
  for (harm in c("cut", "written to", "removed")) {
    folder <- file.path(withr::local_tempdir(), "kept")
    source <- source_files(csv, spool = folder)
    control <- how_source(batches = 4)
    here <- rlang::current_env()
    data <- read_source(source, "bnp_mixture", obs_gaussian(), "fail", NULL, NULL, control, here)$data
    obs <- resolve_obs(obs_gaussian(), data$sample)
    lap <- 0
    spoil <- function(record) {
      lap <<- lap + 1
      if (lap != 2) return()
      if (harm == "cut") {
        bytes <- readBin(data$spool, "raw", file.size(data$spool))
        writeBin(bytes[1:8192], data$spool)
      } else if (harm == "written to") {
        cat("more", file = data$spool, append = TRUE)
      } else {
        unlink(data$spool)
      }
    }
    control <- engine_control(batches = 4L, max_laps = 5L, tol = 0, k_init = 3L)
    run <- function() {
      engine_fit(as_engine_data(data), list(obs = obs, prior = prior_dp()), control, NULL, spoil)
    }
    if (harm == "removed") expect_true(is.finite(run()$elbo)) else expect_error(run(), "while it was in use")
  }
})

test_that("a spool that is cut while a batch is read is an error, not the end of the session", {
  skip_on_os("windows") # where a mapped file cannot be cut
  x <- matrix(rnorm(40000), 20000)
  spool <- function(batches) {
    source <- source_function(function(b) x, 1)
    here <- rlang::current_env()
    data <- read_source(source, "bnp_mixture", obs_gaussian(), "fail", NULL, NULL, how_source(batches = batches), here)
    list(source, data$data$spool)
  }
  for (size in c(0, 4096, 100000)) {
    made <- spool(2)
    expect_error(engine_spool_cut(made[[2]], 2L, size), "cut short")
  }
  made <- spool(2)
  expect_error(engine_spool_cut(made[[2]], 1L, file.size(made[[2]])), "written to")
})

long_test("a full disk is an error that says so, and leaves nothing", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  said <- with_full_disk(c(
    "at <- asNamespace(\"bnpvi\")",
    sprintf("path <- %s", deparse(file.path(folder, "spool"))),
    "writer <- at$engine_spool_begin(path, 2L, FALSE, FALSE, cbind(272, 0, 0))",
    "data <- list(x = unname(as.matrix(faithful)), n = 272L, d = 2L, starts = c(0L, 272L))",
    "try({ at$engine_spool_add(writer, data, rep(1L, 272)); at$engine_spool_end(writer, TRUE) })",
    "at$engine_spool_end(writer, FALSE)"
  ))
  expect_match(said, "spool.*too large")
  expect_identical(list.files(folder), character())
})

test_that("Ctrl-C during a pass leaves no files and a session that goes on", {
  skip_on_os("windows")
  before <- spools()
  slow <- source_function(function(b) {
    if (b == 3) tools::pskill(Sys.getpid(), tools::SIGINT)
    Sys.sleep(0.2)
    points
  }, 6)
  outcome <- tryCatch(bnp_mixture(slow, control = how_source()), interrupt = function(e) "interrupted")
  expect_identical(outcome, "interrupted")
  expect_length(setdiff(spools(), before), 0L)
  expect_s3_class(quiet(bnp_mixture(in_pieces(points, 50), control = how_source(max_laps = 2))), "bnp_mixture")
})

test_that("a source where something else belongs is refused as one", {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(faithful, file, row.names = FALSE)
  source <- source_files(file)
  few <- bnp_control(seed = 1, max_laps = 3, verbose = FALSE)
  topics <- suppressWarnings(bnp_topics(whales$counts[1:10, ], control = few))
  expect_bad(augment(topics, source), "argument", "source")
  expect_bad(top_documents(topics, source), "argument", "source")
  expect_bad(top_terms(topics, source), "argument", "source")
  expect_bad(prevalence(topics, source), "by", "source")
  expect_bad(prevalence(topics, ~a, data = source), "argument", "source")
  expect_bad(simulate(topics, nsim = source), "argument", "source")
  expect_bad(bnp_mixture(faithful, start = source), "start", "source")
  expect_bad(bnp_hmm(faithful, start = source), "start", "source")
  expect_bad(bnp_hmm(faithful, obs = obs_lds(), start = source), "start", "source")
  expect_bad(bnp_topics(whales$counts[1:10, ], start = source), "start", "source")
  expect_bad(bnp_features(faithful, start = source), "start", "source")
  expect_bad(bnp_network(1 - diag(3), start = source), "start", "source")
  for (arg in c("labels", "weights", "id")) {
    expect_bad(do.call(bnp_mixture, stats::setNames(list(faithful, source), c("x", arg))), arg, "source")
  }
})
