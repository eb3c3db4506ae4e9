# R CMD check of the tarball in this folder, as CRAN does it where the lists of CRAN's packages that this needs can be
# read; else without them, and a message says so: Rscript tools/check.R [options of R CMD check]
lists <- tryCatch(nrow(tools::CRAN_package_db()) > 0L, error = function(e) FALSE, warning = function(w) FALSE)
if (!lists) message("CRAN's lists of packages cannot be read: R CMD check runs without --as-cran.")
tarball <- list.files(".", "^bnpvi_.*[.]tar[.]gz$")
stopifnot(length(tarball) == 1L)
Sys.setenv("_R_CHECK_FORCE_SUGGESTS_" = "false")
options <- c(if (lists) "--as-cran", "--no-manual", commandArgs(TRUE))
quit(status = system2(file.path(R.home("bin"), "R"), c("CMD", "check", options, tarball)))
