# Files that are damaged at random, and fits that are asked about afterwards.

# The bytes of a file with 1 to 8 of them changed, cut short, with a run of zeros, or with two parts exchanged.
damaged <- function(bytes) {
  n <- length(bytes)
  kind <- sample(c("bytes", "bytes", "bytes", "cut", "zeros", "swap"), 1)
  out <- switch(kind,
    bytes = {
      at <- sample.int(n, min(n, sample(c(1, 1, 2, 8), 1)))
      replace(bytes, at, xor(bytes[at], as.raw(sample(255, length(at), TRUE))))
    },
    cut = bytes[seq_len(sample(0:(n - 1), 1))],
    zeros = replace(bytes, seq(sample.int(n, 1), length.out = 16) %% n + 1, as.raw(0)),
    swap = {
      size <- min(64, n %/% 4)
      at <- sample.int(n - 2 * size, 1)
      bytes[c(seq_len(at), at + size + seq_len(size), at + seq_len(size), seq(at + 2 * size + 1, length.out = n - at -
        2 * size))]
    }
  )
  if (identical(out, bytes)) damaged(bytes) else out
}

bytes_of <- function(file) readBin(file, "raw", file.size(file))

# The value of f() in a process of its own, NULL where that process ends before: a crash is no end of the tests.
in_child <- function(f) {
  job <- parallel::mcparallel(f(), silent = TRUE)
  suppressWarnings(parallel::mccollect(job))[[1L]]
}

# "refused" by an error that has a class of the package, "right" where `ask()` answers as it should, or what else
# happened.
outcome_of <- function(ask, right) {
  tryCatch(
    {
      answer <- suppressMessages(suppressWarnings(with_breakdowns(ask())))
      if (identical(answer, right)) "right" else "another answer"
    },
    bnpvi_error = function(e) "refused", error = function(e) paste("unclassed:", conditionMessage(e))
  )
}

# Outcomes of `n` damages, each done by `once()`, which gives one of these words; all in one child, so that a crash is
# one, too.
expect_damage_known <- function(n, seed, once, allowed = c("refused", "right")) {
  log <- withr::local_tempfile()
  out <- in_child(function() withr::with_seed(seed, vapply(seq_len(n), function(i) {
    cat(i, "\n", file = log)
    once()
  }, "")))
  expect_type(out, "character")
  if (!is.character(out)) return(cat("ended at damage", readLines(log), "of seed", seed, "\n"))
  wrong <- unique(setdiff(out, allowed))
  expect_identical(wrong, character(), info = paste("seed", seed))
  invisible(table(out))
}

how_many_damages <- function(short) if (longest_tests()) 1000L else short

# What R says that runs these lines where a file may have 1024 bytes at most, as on a disk that is full.
with_full_disk <- function(lines) {
  script <- withr::local_tempfile(lines = c("suppressPackageStartupMessages(library(bnpvi))", lines))
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  command <- paste("trap '' XFSZ; ulimit -f 1;", shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script), "2>&1")
  paste(suppressWarnings(system(command, intern = TRUE)), collapse = " ")
}

# The value of f() in a process of its own, "no end" where that has none within `seconds`: the engine's loops that ask
# nobody whether to go on cannot be stopped otherwise.
within_seconds <- function(seconds, f) {
  job <- parallel::mcparallel(f(), silent = TRUE)
  out <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = seconds))
  if (is.null(out)) {
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    return("no end")
  }
  suppressWarnings(parallel::mccollect(job))
  out[[1L]]
}
