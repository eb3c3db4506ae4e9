# Makes inst/bench/README.md from inst/bench/figures.csv and the first sentence of each script.
#
#   Rscript tools/bench-page.R          from the root of the package, after figures or scripts were added

# The first sentence of a script's opening comment, of at most `most` characters.
bench_title <- function(file, most = 150L) {
  lines <- readLines(file, encoding = "UTF-8")
  comment <- lines[seq_len(match(TRUE, !grepl("^#", lines), length(lines) + 1L) - 1L)]
  text <- gsub(" +", " ", paste(trimws(sub("^#", "", comment)), collapse = " "))
  title <- sub("[.;:]?$", "", sub("([.;]| Rscript) .*", "", trimws(text)))
  if (nchar(title) > most) title <- paste0(sub(" [^ ]*$", "", substr(title, 1L, most - 4L)), " ...")
  gsub("|", "\\|", title, fixed = TRUE)
}

# The lines of the page. root: the checkout.
bench_page <- function(root = ".") {
  folder <- file.path(root, "inst", "bench")
  figures <- utils::read.csv(file.path(folder, "figures.csv"), colClasses = "character", encoding = "UTF-8")
  files <- sort(list.files(folder, "[.]R$"), method = "radix")
  text <- lapply(file.path(folder, files), readLines, encoding = "UTF-8")
  # Files that other scripts source, and record.R, measure nothing.
  sourced <- vapply(files, function(file) {
    any(grepl(paste0("source\\(.*\"", file, "\""), unlist(text))) || file == "record.R"
  }, NA)
  scripts <- files[!sourced]
  measured <- intersect(scripts, figures$script)
  rows <- vapply(measured, function(file) {
    own <- figures$script == file
    title <- bench_title(file.path(folder, file))
    paste0("| `", file, "` | ", title, " | ", sum(own), " | ", max(figures$date[own]), " |")
  }, "")
  named <- function(files) paste0(paste0("`", files, "`", collapse = ", "), ".")
  gone <- setdiff(sort(unique(figures$script), method = "radix"), c(scripts, ""))
  c(
    "# Benchmarks", "",
    "<!-- Made by tools/bench-page.R from figures.csv and the scripts: edit those. -->", "",
    "Each script has fixed seeds, runs by itself (`Rscript inst/bench/<script>`) and prints a small table; its",
    "first lines say which arguments it takes. What was measured stands in `figures.csv`, one row a figure, or a",
    "short list of figures that belong together: script, data, what, value, unit, peer (the package that the",
    "figure is of), the day and the commit in which it was written down, and the conditions. Scripts append",
    "to the file through `record.R`, which says how.", "",
    "Unless a row says otherwise: two cores of an AMD EPYC (AVX-512), R 4.2.2, one thread, CPU seconds, as other",
    "jobs ran, too; other programs with OpenBLAS 0.3.21. Only ratios within a run mean much.", "",
    "| script | what it measures | rows | last |", "|---|---|---|---|", unname(rows), "",
    paste("Without a row of figures so far:", named(setdiff(scripts, measured))),
    paste("Sourced by others:", named(files[sourced])),
    paste("Gone, as their questions are answered, while their figures are kept:", named(gone))
  )
}

if (sys.nframe() == 0L) writeLines(bench_page(), "inst/bench/README.md", useBytes = TRUE)
