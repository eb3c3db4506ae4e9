# Fits to data that are not in memory: peak memory, seconds a lap, and the pass, from binary files and from one CSV.
#
#   Rscript inst/bench/large-data.R [million rows, default 8] [folder] [rows of the CSV in millions, default 1]
#     [parts, default files,cold,memory,scalable,csv]
#
# Rows have 16 columns from 20 clusters, in 64 files. Memory is what the process alone holds (RssAnon of Linux: mapped
# pages and files do not count), looked at twenty times a second by another process. The disk is read cold after the
# system has been told to forget the pages of the spool (`dd iflag=nocache`).
library(bnpvi)

given <- commandArgs(TRUE)
millions <- if (length(given)) as.numeric(given[1]) else 8
folder <- if (length(given) > 1) given[2] else tempfile("large")
csv_millions <- if (length(given) > 2) as.numeric(given[3]) else 1
parts <- strsplit(if (length(given) > 3) given[4] else "files,cold,memory,scalable,csv", ",")[[1]]
dir.create(folder, showWarnings = FALSE)
d <- 16
per_file <- ceiling(millions * 1e6 / 64)
files <- file.path(folder, sprintf("part-%03d.bin", 1:64))
csv <- file.path(folder, "rows.csv")
columns <- paste0("x", seq_len(d))

# Files are made by another process, whose memory does not count.
if ("make" %in% given) {
  for (i in which(!file.exists(files))) {
    set.seed(i)
    centre <- matrix(rep(1:20, length.out = 20 * d) * rep(c(1, -1, 0.5), length.out = 20 * d), 20)
    writeBin(as.vector(centre[sample.int(20, per_file, TRUE), ] + rnorm(per_file * d)), files[i])
  }
  if ("csv" %in% parts && !file.exists(csv)) {
    for (i in seq_len(ceiling(csv_millions * 1e6 / per_file))) {
      x <- signif(matrix(readBin(files[i], "double", per_file * d), ncol = d, dimnames = list(NULL, columns)), 6)
      data.table::fwrite(data.table::as.data.table(x), csv, append = i > 1, col.names = i == 1, nThread = 1)
    }
  }
  quit("no")
}
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
asked <- c(script, millions, folder, csv_millions, paste(parts, collapse = ","), "make")
system2(file.path(R.home("bin"), "Rscript"), shQuote(asked))

read <- function(path) matrix(readBin(path, "double", per_file * d), ncol = d, dimnames = list(NULL, columns))
gigabytes <- function(paths) sum(file.size(paths)) / 1e9

# Value and seconds of an expression, and the most private memory in MB while it ran.
watch <- function(expr) {
  invisible(gc())
  log <- tempfile()
  stop <- tempfile()
  code <- sprintf(
    "while [ -d /proc/%d ] && [ ! -e %s ]; do grep RssAnon /proc/%d/status >> %s; sleep 0.05; done",
    Sys.getpid(), stop, Sys.getpid(), log
  )
  system(code, wait = FALSE)
  time <- system.time(value <- expr)
  file.create(stop)
  private <- as.numeric(gsub("[^0-9]", "", readLines(log))) / 1024
  list(value = value, seconds = time[["elapsed"]], processor = sum(time[1:2]), peak = max(private), before = private[1])
}

how <- function(...) {
  bnp_control(k_init = 20, moves = FALSE, max_laps = 3, seed = 1, verbose = FALSE, threads = 1, ...)
}
quiet <- function(expr) suppressWarnings(expr)
tell <- function(what, fit, n, data) {
  laps <- diff(fit$value$trace$seconds)
  cat(sprintf(
    paste(
      "%-28s %5.2f GB, %5.2f million rows: %6.1f s in all (%6.1f of a processor), laps of %s s, %5.2f s a million",
      "rows; peak %4.0f MB (%.0f before)\n"
    ),
    what, data, n / 1e6, fit$seconds, fit$processor, paste(sprintf("%.2f", laps), collapse = ", "),
    mean(laps) / (n / 1e6), fit$peak, fit$before
  ))
}

kept <- file.path(folder, "spool")
n <- 64 * per_file
if (any(c("files", "cold") %in% parts)) {
  fit <- watch(quiet(bnp_mixture(source_files(files, read = read, spool = kept), control = how())))
  tell("binary files", fit, n, gigabytes(files))
  again <- watch(quiet(bnp_mixture(source_files(files, read = read, spool = kept), control = how())))
  tell("binary files, spool there", again, n, gigabytes(files))
  stopifnot(identical(elbo(fit$value), elbo(again$value)))
  fit <- again <- NULL
}
if ("cold" %in% parts) {
  spool <- list.files(kept, "[.]spool$", full.names = TRUE)
  forget <- function() {
    system2("dd", c(paste0("if=", spool), "iflag=nocache", "count=0"), stdout = FALSE, stderr = FALSE)
  }
  forget()
  disk <- system.time(system2("dd", c(paste0("if=", spool), "of=/dev/null", "bs=4M"), stderr = FALSE))[["elapsed"]]
  forget()
  cold <- watch(quiet(bnp_mixture(
    source_files(files, read = read, spool = kept), control = how(init = "random")
  )))
  tell("spool not in the page cache", cold, n, gigabytes(files))
  cat(sprintf("the disk alone: %.1f s, %.2f GB a second\n", disk, gigabytes(spool) / disk))
}
unlink(kept, recursive = TRUE)

if (any(c("memory", "scalable") %in% parts)) {
  few <- files[seq_len(min(64, max(1, round(64 / millions))))]
  x <- do.call(rbind, lapply(few, read))
  fit_x <- function(...) {
    watch(quiet(bnp_mixture(x, control = how(batches = ceiling(nrow(x) / 65536), ...))))
  }
  if ("memory" %in% parts) tell("in memory", fit_x(), nrow(x), gigabytes(few))
  if ("scalable" %in% parts) tell("in memory, \"scalable\"", fit_x(init = "scalable"), nrow(x), gigabytes(few))
  rm(x)
}
if ("csv" %in% parts) {
  text <- watch(quiet(bnp_mixture(source_files(csv), control = how())))
  tell("one CSV", text, per_file * ceiling(csv_millions * 1e6 / per_file), gigabytes(csv))
}
