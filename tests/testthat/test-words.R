# Habits of language that a newcomer has to read twice are not used anew. Counted are lines of comments in the headers
# of the engine, lines of help, and texts in R (messages: strings of more than one word, without what is computed in
# them). A number may be lowered, never raised; the rules, and sentences as they were and are, stand in
# inst/design/CONTRIBUTING.md. From a checkout only.

root <- file.path("..", "..")
files_below <- function(folder, pattern) {
  files <- list.files(file.path(root, folder), pattern, recursive = TRUE, full.names = TRUE)
  files[!grepl("RcppExports", files)]
}
lines_of_files <- function(files) unlist(lapply(files, readLines, encoding = "UTF-8", warn = FALSE))
strings_of_files <- function(files) {
  unlist(lapply(files, function(file) {
    parsed <- utils::getParseData(parse(file, keep.source = TRUE, encoding = "UTF-8"))
    text <- parsed$text[parsed$token == "STR_CONST"]
    gsub("\\{[.a-z]* ?\\{[^}]*\\}\\}|\\{[^{}]*\\}", "", text[grepl(" ", text)])
  }))
}

# A pattern for each habit, and what to write instead.
habits <- c(
  "told, asked" = "\\b([Tt]old(?! (apart|from))|[Aa]sked)\\b", # what is passed, requested or returned, and by what
  "nobody, whoever" = "\\b([Nn]obody|[Ww]hoever)\\b", # a name: a function, a move, a caller, a user
  "beyond" = "\\b[Bb]eyond\\b", # above, after, outside, in addition to
  "tend, settle, lent, desk" = "\\b(tend(ed|s|ing)|[Ss]ettle[sd]?|lent|[Dd]esk)\\b", # maintain, refresh
  "of each its" = "\\b[Oo]f (each|which|whom) (its|the|their)\\b", # the number of each sequence
  "is not there" = "\\b(is|are) not there\\b", # is missing, is not available, does not exist
  "as ever" = "\\b(as ever|that is all|what lacks)\\b", # say what stays the same
  "Of or The same at the beginning" = "^(/|#'|\")? ?(Of [a-z]|The same (with|of|for)\\b)" # a subject; the other's name
)

test_that("comments of headers, help and messages avoid the worst habits", {
  skip_if_not(dir.exists(file.path(root, "src")), "no sources beside these tests (not a checkout)")
  r <- files_below("R", "[.]R$")
  texts <- list(
    headers = sub(".*?//", "", grep("//", lines_of_files(files_below("src", "[.]h$")), value = TRUE)),
    help = grep("^#'", lines_of_files(r), value = TRUE),
    messages = strings_of_files(r)
  )
  expect_true(all(lengths(texts) > 2000L))
  counts <- vapply(texts, function(text) {
    vapply(habits, function(habit) sum(grepl(habit, text, perl = TRUE)), 1L)
  }, integer(length(habits)))
  # One row for each habit, columns as in `texts` (27 November 2026).
  most <- matrix(c(
    1L, 0L, 2L,
    0L, 0L, 0L,
    0L, 0L, 0L,
    6L, 0L, 0L,
    2L, 0L, 0L,
    0L, 0L, 1L,
    0L, 0L, 0L,
    2L, 1L, 3L
  ), ncol = 3L, byrow = TRUE)
  more <- which(counts > most, arr.ind = TRUE)
  expect_identical(
    as.character(paste(rownames(counts)[more[, 1L]], "in", colnames(counts)[more[, 2L]]))[seq_len(nrow(more))],
    character(), info = paste(c("counted:", utils::capture.output(print(counts))), collapse = "\n")
  )
})

test_that("no message has markup in a text that code in braces returns, where it would be printed as it stands", {
  skip_if_not(dir.exists(file.path(root, "src")), "no sources beside these tests (not a checkout)")
  lines <- lines_of_files(files_below("R", "[.]R$"))
  expect_identical(grep("\\{(if|ifelse)\\b[^{}]*['\"][^'\"{}]*\\{[.?]", lines, value = TRUE), character())
})
