# Draws man/figures, the pictures of README.md, which are those of the demonstration:
#
#   Rscript tools/figures.R          from the root of the package, which must be installed; about half a minute
folder <- tempfile()
status <- system2(file.path(R.home("bin"), "Rscript"), c("--no-save", "inst/examples/main.R", folder))
stopifnot(status == 0L)
dir.create("man/figures", showWarnings = FALSE)
file.copy(list.files(folder, "[.]png$", full.names = TRUE), "man/figures", overwrite = TRUE)
