# Fits to data that are not in memory: peak memory, seconds a lap, and the pass, from binary files and from one CSV.
#
#   Rscript inst/bench/large-data.R [million rows, default 8] [folder]
#
# Rows have 16 columns from 20 clusters. Memory is what the process alone holds (RssAnon of Linux: mapped pages and
# files do not count), looked at twenty times a second by another process.
library(bnpvi)

given <- commandArgs(TRUE)
millions <- if (length(given)) as.numeric(given[1]) else 8
folder <- if (length(given) > 1) given[2] else tempfile("large")
dir.create(folder, showWarnings = FALSE)
d <- 16
per_file <- 250000
files <- file.path(folder, sprintf("part-%03d.bin", seq_len(ceiling(millions * 1e6 / per_file))))

rows_of_file <- function(i, n = per_file) {
  set.seed(i)
  centre <- matrix(rep(1:20, length.out = 20 * d) * rep(c(1, -1, 0.5), length.out = 20 * d), 20)
  x <- centre[sample.int(20, n, TRUE), ] + rnorm(n * d)
  colnames(x) <- paste0("x", seq_len(d))
  x
}
for (i in seq_along(files)) if (!file.exists(files[i])) writeBin(as.vector(rows_of_file(i)), files[i])
read <- function(path) {
  x <- matrix(readBin(path, "double", per_file * d), ncol = d)
  colnames(x) <- paste0("x", seq_len(d))
  x
}
gigabytes <- function(paths) sum(file.size(paths)) / 1e9

# Value and seconds of an expression, and the most private memory in MB while it ran, above what there was before.
watch <- function(expr) {
  invisible(gc())
  log <- tempfile()
  private <- function() {
    as.numeric(gsub("[^0-9]", "", grep("RssAnon", readLines("/proc/self/status"), value = TRUE))) / 1024
  }
  before <- private()
  stop <- tempfile()
  code <- sprintf(
    "while [ -d /proc/%d ] && [ ! -e %s ]; do grep RssAnon /proc/%d/status >> %s; sleep 0.05; done",
    Sys.getpid(), stop, Sys.getpid(), log
  )
  system(code, wait = FALSE)
  seconds <- system.time(value <- expr)[["elapsed"]]
  file.create(stop)
  peak <- max(as.numeric(gsub("[^0-9]", "", readLines(log)))) / 1024
  list(value = value, seconds = seconds, peak = peak, before = before)
}

how <- bnp_control(k_init = 20, moves = FALSE, max_laps = 3, seed = 1, verbose = FALSE, threads = 1)
tell <- function(what, fit, n, data) {
  laps <- fit$value$trace$seconds
  lap <- mean(if (all(diff(laps) > 0)) diff(laps) else laps[-1])
  cat(sprintf(
    paste(
      "%-28s %5.2f GB, %4.1f million rows: %6.1f s in all, %6.2f s a lap, %5.2f s a lap and million rows;",
      "peak %5.0f MB (%.0f before)\n"
    ),
    what, data, n / 1e6, fit$seconds, lap, lap / (n / 1e6), fit$peak, fit$before
  ))
}

source <- source_files(files, read = read)
n <- length(files) * per_file
fit <- watch(suppressWarnings(bnp_mixture(source, control = how)))
tell("binary files", fit, n, gigabytes(files))
again <- watch(suppressWarnings(bnp_mixture(source, control = how)))
tell("binary files, spool there", again, n, gigabytes(files))
stopifnot(identical(elbo(fit$value), elbo(again$value)))

few <- files[seq_len(min(4, length(files)))]
x <- do.call(rbind, lapply(few, read))
control <- how
control$batches <- ceiling(nrow(x) / 65536)
memory <- watch(suppressWarnings(bnp_mixture(x, control = control)))
tell("in memory", memory, nrow(x), gigabytes(few))
rm(x)

csv <- file.path(folder, "rows.csv")
if (!file.exists(csv)) {
  for (i in seq_along(few)) {
    write.table(signif(read(few[i]), 6), csv,
      append = i > 1, sep = ",", row.names = FALSE, col.names = i == 1, quote = FALSE
    )
  }
}
text <- watch(suppressWarnings(bnp_mixture(source_files(csv), control = how)))
tell("one CSV", text, length(few) * per_file, gigabytes(csv))
lines <- system.time(utils::read.csv(csv, colClasses = "numeric", nrows = 100000))[["elapsed"]]
cat(sprintf("utils::read.csv of it: %.1f s a million rows\n", lines * 10))
