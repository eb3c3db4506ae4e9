# Builds the package in ways that show what an ordinary build hides, and runs tests on each:
#   plain    -O0, with the checks of the standard library and of Eigen alive: reads past arrays, types of one name
#   lto      link-time optimisation, which compares the definitions of all files (one-definition rule)
#   address  the address and undefined-behaviour sanitizers
#   thread   the thread sanitizer, on two threads
#
#   Rscript tools/builds.R [plain] [lto] [address] [thread]        from the root of the package; all by default,
#                                                                  about half an hour
flags <- function(compile, link) {
  c(
    paste(c("CXX17FLAGS =", "CXXFLAGS ="), compile), "STRIP_DEBUG =", "STRIP_NAMES = true",
    if (nzchar(link)) paste("SHLIB_CXX17LDFLAGS = -shared", link)
  )
}
builds <- list(
  plain = flags("-g0 -O0 -UNDEBUG -D_GLIBCXX_ASSERTIONS", ""),
  lto = flags("-g0 -O2 -flto=auto -Wodr", "-O2 -flto=auto -Wodr"),
  address = flags(
    "-g1 -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined",
    "-fsanitize=address,undefined"
  ),
  thread = flags("-g1 -O1 -fsanitize=thread", "-fsanitize=thread")
)
# R itself is built without sanitizers, so that their libraries have to be there before it starts; not before the shell
# that starts it, which the library of the thread sanitizer ends.
runtime <- c(address = "libasan.so", thread = "libtsan.so")
options_of <- c(
  address = "ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1", thread = "TSAN_OPTIONS=halt_on_error=1"
)
sanitizer <- function(name) {
  if (is.na(runtime[name])) {
    return(character())
  }
  found <- system2("g++", paste0("-print-file-name=", runtime[[name]]), stdout = TRUE)
  c(paste0("LD_PRELOAD=", found), strsplit(options_of[[name]], " ")[[1]])
}

# Every family, move and kind of observation; fits are slow without optimisation.
tests <- c(
  "contract", "elbo", "moves", "hmm-learning", "source", "partly", "unit-weights", "known-labels", "sampl", "urn",
  "point-partition", "truncation-free", "streams", "updat", "damaged-files", "edited-fits", "spool-checks"
)
own_process <- "progress" # starts others, through a shell

# In a process of its own for each file, as sanitizers keep what they know of all memory that there ever was.
run_tests <- function(name, file, folder, library) {
  code <- file.path(folder, "tests.R")
  writeLines(con = code, sprintf(
    ".libPaths('%s'); options(mc.cores = %d); library(testthat); suppressMessages(library(bnpvi))
     test_dir('tests/testthat', package = 'bnpvi', load_package = 'installed', filter = '^%s$', reporter = 'summary',
              stop_on_failure = TRUE)", library, if (name == "thread") 2L else 1L, file
  ))
  start <- paste(
    c("exec env", sanitizer(name), '"$R_HOME/bin/exec/R" --no-echo --no-save --no-restore -f', code), collapse = " "
  )
  r <- file.path(R.home("bin"), "R")
  system2(r, c("CMD", "sh", "-c", shQuote(start)), env = paste0("R_LIBS=", library))
}

build_and_test <- function(name) {
  folder <- tempfile(name)
  library <- file.path(folder, "library")
  dir.create(library, recursive = TRUE)
  makevars <- file.path(folder, "Makevars")
  writeLines(builds[[name]], makevars)
  log <- file.path(folder, "log")
  Sys.setenv(R_MAKEVARS_USER = makevars, BNPVI_TESTING = "1")
  r <- file.path(R.home("bin"), "R")
  arguments <- c(
    "CMD", "INSTALL", "--preclean", "--no-docs", "--no-multiarch", "--no-test-load", paste0("--library=", library), "."
  )
  status <- system2(r, arguments, stdout = log, stderr = log)
  lines <- readLines(log, warn = FALSE)
  odr <- grep("[-]Wodr|violates the C[+][+] One Definition Rule", lines, value = TRUE)
  odr <- odr[!grepl("^(ccache )?g[+][+]", odr)]
  if (status != 0L || length(odr)) {
    writeLines(if (length(odr)) odr else utils::tail(lines, 40))
    stop("The build \"", name, "\" failed.", call. = FALSE)
  }
  filter <- paste(c(tests, if (name != "thread") own_process), collapse = "|")
  files <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))
  for (file in grep(filter, files, value = TRUE)) {
    if (run_tests(name, file, folder, library) != 0L) {
      stop("Tests of the build \"", name, "\" failed: test-", file, ".R", call. = FALSE)
    }
  }
  message("build \"", name, "\": tests passed")
}

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(builds)) build_and_test(name)
