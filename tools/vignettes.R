# Prints the option of R CMD build that leaves vignettes out, where what makes them is missing.
able <- requireNamespace("knitr", quietly = TRUE) && requireNamespace("rmarkdown", quietly = TRUE) &&
  rmarkdown::pandoc_available()
if (!able) {
  message("Vignettes are left out: they need the packages knitr and rmarkdown and the program pandoc.")
  cat("--no-build-vignettes")
}
