# Draws man/figures, the pictures of README.md, which are those of the demonstration:
#
#   Rscript tools/figures.R          from the root of the package, which must be installed; about half a minute
folder <- tempfile()
status <- system2(file.path(R.home("bin"), "Rscript"), c("--no-save", "inst/examples/main.R", folder))
stopifnot(status == 0L)
dir.create("man/figures", showWarnings = FALSE)
pictures <- list.files(folder, "[.]png$", full.names = TRUE)
# A picture of 256 colours looks the same and takes a third of the room in every installation.
if (nzchar(Sys.which("pngquant"))) system2("pngquant", c("--force", "--ext", ".png", shQuote(pictures)))
file.copy(pictures, "man/figures", overwrite = TRUE)
