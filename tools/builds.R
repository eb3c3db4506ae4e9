# Builds the package in ways that show what an ordinary build hides, and runs tests on each:
#   plain  -O0, with the checks of the standard library and of Eigen alive: reads past arrays, types of one name
#   lto    link-time optimisation, which compares the definitions of all files (one-definition rule)
#
#   Rscript tools/builds.R [plain] [lto]        from the root of the package; both by default, about ten minutes
builds <- list(
  plain = c(
    "CXX17FLAGS = -g0 -O0 -UNDEBUG -D_GLIBCXX_ASSERTIONS", "CXXFLAGS = -g0 -O0 -UNDEBUG -D_GLIBCXX_ASSERTIONS"
  ),
  lto = c(
    "CXX17FLAGS = -g0 -O2 -flto=auto -Wodr", "SHLIB_CXX17LDFLAGS = -shared -O2 -flto=auto -Wodr"
  )
)
# Every family, move and kind of observation; fits are slow without optimisation.
tests <- "contract|elbo|moves|hmm-learning|progress|source"

build_and_test <- function(name) {
  folder <- tempfile(name)
  library <- file.path(folder, "library")
  dir.create(library, recursive = TRUE)
  makevars <- file.path(folder, "Makevars")
  writeLines(builds[[name]], makevars)
  log <- file.path(folder, "log")
  Sys.setenv(R_MAKEVARS_USER = makevars)
  r <- file.path(R.home("bin"), "R")
  status <- system2(r, c("CMD", "INSTALL", "--preclean", "--no-docs", "--no-multiarch", paste0("--library=", library), "."),
    stdout = log, stderr = log
  )
  lines <- readLines(log, warn = FALSE)
  odr <- grep("[-]Wodr|violates the C[+][+] One Definition Rule", lines, value = TRUE)
  odr <- odr[!grepl("^(ccache )?g[+][+]", odr)]
  if (status != 0L || length(odr)) {
    writeLines(if (length(odr)) odr else utils::tail(lines, 40))
    stop("The build \"", name, "\" failed.", call. = FALSE)
  }
  code <- sprintf(
    "library(testthat); library(bnpvi); test_dir('tests/testthat', package = 'bnpvi', load_package = 'installed',
     filter = '%s', reporter = 'summary', stop_on_failure = TRUE)", tests
  )
  status <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)),
    env = paste0("R_LIBS=", paste(c(library, .libPaths()), collapse = ":"))
  )
  if (status != 0L) stop("Tests of the build \"", name, "\" failed.", call. = FALSE)
  message("build \"", name, "\": tests passed")
}

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(builds)) build_and_test(name)
