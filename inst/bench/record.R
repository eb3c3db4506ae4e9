# Appends figures to figures.csv, from which tools/bench-page.R makes README.md. A script sources this file and calls
# record() beside what it prints. Nothing is written unless BNPVI_CONDITIONS says under which conditions it runs:
#
#   BNPVI_CONDITIONS="two cores, no other jobs" Rscript inst/bench/point-partition.R
#
# data: the data set or its size. what: what was measured. value, unit: a figure, or several as one text in the order
# that `what` names. peer: the package or the version that the figure is of, "" for this one. date, commit: when and
# with which version of the sources.
record <- function(data, what, value, unit = "", peer = "", conditions = Sys.getenv("BNPVI_CONDITIONS")) {
  if (!nzchar(conditions)) {
    return(invisible(FALSE))
  }
  script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
  git <- c("-C", dirname(script), "rev-parse", "--short=8", "HEAD")
  none <- function(condition) ""
  commit <- tryCatch(system2("git", git, stdout = TRUE, stderr = FALSE), warning = none, error = none)
  row <- data.frame(
    script = basename(script), data, what, value = as.character(value), unit, peer, date = format(Sys.Date()), commit,
    conditions = paste(c(commandArgs(TRUE), conditions), collapse = ", ")
  )
  # As the file is written: fields in quotes only where they hold a comma, a quote or a new line.
  quoted <- function(text) {
    needs <- grepl("[\",\n]", text)
    text[needs] <- paste0("\"", gsub("\"", "\"\"", text[needs]), "\"")
    text
  }
  lines <- do.call(paste, c(lapply(row, quoted), sep = ","))
  cat(lines, file = file.path(dirname(script), "figures.csv"), sep = "\n", append = TRUE)
  invisible(TRUE)
}
