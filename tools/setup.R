# Installs what is missing for one purpose: Rscript tools/setup.R build|install|test|check|site|document
#
# As root on a machine with apt, from the distribution's packages; what is then
# still missing, or for other users, from R's repository into a library that
# can be written to. Packages that are there are never touched. Programs come
# from the distribution alone, and a check without them only warns.

packages <- list(
  build = c("Rcpp", "RcppEigen", "Matrix", "cli", "rlang", "generics"),
  test = c("testthat", "withr"),
  check = c("testthat", "withr", "ggplot2", "MASS", "knitr", "rmarkdown", "slam", "tidytext", "tm"),
  site = c("knitr", "rmarkdown", "pkgdown", "xml2", "ggplot2"),
  document = c("roxygen2", "pkgbuild")
)

# Without these vignettes are left out, or some tests.
optional <- list(install = c("knitr", "rmarkdown"), test = c("ggplot2", "MASS", "knitr", "rmarkdown"))

# pngquant makes the pictures of vignettes smaller.
programs <- list(
  test = "pandoc", check = c("qpdf", "pandoc", "pngquant"), install = c("pandoc", "pngquant"),
  site = c("pandoc", "chromium")
)

purpose <- commandArgs(TRUE)
stopifnot(purpose %in% c(names(packages), names(optional)))

missing <- function() {
  wanted <- unique(unlist(c(packages[c("build", purpose)], optional[purpose])))
  wanted[!nzchar(vapply(wanted, function(p) system.file(package = p), ""))]
}

from_apt <- function(names) {
  install <- function() {
    system2("apt-get", c("install", "-y", "-q", "--no-install-recommends", names),
      env = "DEBIAN_FRONTEND=noninteractive"
    ) == 0L
  }
  install() || (system2("apt-get", c("update", "-q")) == 0L && install())
}

from_repository <- function(names) {
  repos <- getOption("repos")
  if (is.null(repos) || "@CRAN@" %in% repos) utils::chooseCRANmirror(graphics = FALSE, ind = 1L)
  library <- .libPaths()[1]
  if (file.access(library, 2L) != 0L) {
    library <- path.expand(Sys.getenv("R_LIBS_USER"))
    dir.create(library, recursive = TRUE, showWarnings = FALSE)
    .libPaths(library)
  }
  bring_libuv(library)
  utils::install.packages(names, lib = library)
}

# Package fs, which testthat and rmarkdown need, is compiled with the library libuv or makes its own with cmake. Where
# both are missing and the user cannot install them, the distribution's packages are unpacked within the library of R.
bring_libuv <- function(library) {
  if (nzchar(system.file(package = "fs")) || !nzchar(Sys.which("apt-get"))) {
    return(invisible())
  }
  if (nzchar(Sys.which("cmake"))) {
    return(invisible(Sys.setenv(USE_BUNDLED_LIBUV = "1")))
  }
  folder <- file.path(library, ".libuv")
  dir.create(folder)
  fetch <- "apt-get download -q libuv1 libuv1-dev && for file in *.deb; do dpkg -x $file .; done"
  system2("sh", c("-c", shQuote(paste("cd", shQuote(folder), "&&", fetch))))
  found <- dirname(list.files(folder, "^libuv[.]so$", recursive = TRUE, full.names = TRUE))
  if (length(found)) {
    Sys.setenv(CPATH = file.path(folder, "usr/include"), LIBRARY_PATH = found[1], LD_RUN_PATH = found[1])
  }
}

root <- identical(Sys.info()[["effective_user"]], "root") && nzchar(Sys.which("apt-get"))
if (length(missing()) && root) from_apt(paste0("r-cran-", tolower(missing())))
for (program in programs[[purpose]]) if (root && !nzchar(Sys.which(program))) from_apt(program)
if (length(missing())) from_repository(missing())
needed <- setdiff(missing(), optional[[purpose]])
if (length(needed)) {
  stop(
    "Could not install: ", paste(needed, collapse = ", "), ". Install by hand and try again, on Debian or Ubuntu ",
    "as administrator: apt-get install ", paste0("r-cran-", tolower(needed), collapse = " ")
  )
}
if (length(missing())) message("Done without: ", paste(missing(), collapse = ", "))
