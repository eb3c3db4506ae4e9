# Runs the tests of the package in .lib-test where no suggested package can be found but testthat:
#   make .lib-test/bnpvi/DESCRIPTION && Rscript tools/without-suggests.R [filter]
# A library of links to what the package imports, to testthat, and to what these need in turn, stands for all others.

fields <- read.dcf("DESCRIPTION", c("Imports", "LinkingTo"))
listed <- gsub("[[:space:]]*([(][^)]*[)])?", "", unlist(strsplit(fields, ",")))
all <- utils::installed.packages()
base <- rownames(all)[all[, "Priority"] %in% "base"]
wanted <- unique(c("testthat", listed))
needed <- unlist(tools::package_dependencies(wanted, all, c("Depends", "Imports"), recursive = TRUE))
needed <- unique(c(base, wanted, needed))

library_alone <- tempfile("library")
dir.create(library_alone)
here <- all[match(needed, rownames(all)), "LibPath"]
linked <- file.symlink(
  c(file.path(here, needed), normalizePath(".lib-test/bnpvi")), file.path(library_alone, c(needed, "bnpvi"))
)
stopifnot(linked)

# R's own library holds recommended packages such as MASS, so that it must go, too.
profile <- tempfile(fileext = ".R")
writeLines(c(
  'unlockBinding(".Library", baseenv())', sprintf('assign(".Library", "%s", baseenv())', library_alone),
  sprintf('.libPaths("%s", include.site = FALSE)', library_alone)
), profile)
Sys.setenv(R_PROFILE_USER = profile, R_LIBS = library_alone, R_LIBS_USER = library_alone, R_LIBS_SITE = library_alone)

suggested <- gsub("[[:space:]]*([(][^)]*[)])?", "", unlist(strsplit(read.dcf("DESCRIPTION", "Suggests"), ",")))
hidden <- setdiff(suggested, needed)
code <- c(
  sprintf(
    'there <- Filter(function(p) nzchar(system.file(package = p)), c(%s))', paste0('"', hidden, '"', collapse = ", ")
  ),
  'if (length(there)) stop("can still be found: ", toString(there))',
  'filter <- commandArgs(TRUE)', 'library(testthat)', 'library(bnpvi)',
  'r <- as.data.frame(test_dir("tests/testthat", package = "bnpvi", load_package = "installed", reporter = "summary",',
  '  filter = if (length(filter)) filter, stop_on_failure = FALSE))',
  'cat(sum(r$passed), "passed,", sum(r$failed) + sum(r$error), "failed,", sum(r$skipped), "skipped\\n")',
  'quit(status = as.integer(any(r$failed > 0 | r$error)))'
)
script <- tempfile(fileext = ".R")
writeLines(code, script)
cat("hidden:", hidden, "\n")
quit(status = system2(file.path(R.home("bin"), "Rscript"), c("--no-environ", script, shQuote(commandArgs(TRUE)))))
