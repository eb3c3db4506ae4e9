# Habits of language that a newcomer has to read twice are not used anew. Counted are lines of comments in the headers of
# the engine, lines of help, and lines of messages (text in quotes in R). A number may be lowered, never raised; the
# rules, and sentences as they were and are, stand in inst/design/CONTRIBUTING.md. From a checkout only.

root <- file.path("..", "..")
lines_below <- function(folder, pattern) {
  files <- list.files(file.path(root, folder), pattern, recursive = TRUE, full.names = TRUE)
  files <- files[!grepl("RcppExports", files)]
  unlist(lapply(files, readLines, encoding = "UTF-8", warn = FALSE))
}

# What stands for each habit: a pattern, and what to write instead.
habits <- c(
  "told, asked" = "\\b([Tt]old|[Aa]sked)\\b", # say what is passed, requested or returned, and to which function
  "nobody, whoever" = "\\b([Nn]obody|[Ww]hoever)\\b", # name who: a function, a move, a caller, a user
  "beyond" = "\\b[Bb]eyond\\b", # above, after, outside, in addition to
  "tend, settle, lent, desk" = "\\b(tend(ed|s|ing)|[Ss]ettle[sd]?|lent|[Dd]esk)\\b", # maintain, refresh, ...
  "of each its" = "\\b[Oo]f (each|which|whom) (its|the|their)\\b", # the number of each sequence
  "is not there" = "\\b(is|are) not there\\b", # is missing, is not available, does not exist
  "as ever, as before it" = "\\b(as ever|that is all|what lacks)\\b" # say what stays the same
)

test_that("comments, help and messages avoid the worst habits", {
  skip_if_not(dir.exists(file.path(root, "src")), "no sources beside these tests (not a checkout)")
  r <- lines_below("R", "[.]R$")
  texts <- list(
    headers = sub(".*?//", "", grep("//", lines_below("src", "[.]h$"), value = TRUE)),
    help = grep("^#'", r, value = TRUE),
    messages = grep("^[^#]*\"", r, value = TRUE)
  )
  counts <- vapply(texts, function(text) vapply(habits, function(habit) sum(grepl(habit, text)), 1L), integer(7L))
  # One row a habit, columns as in `texts`.
  most <- matrix(c(
    999L, 999L, 999L,
    999L, 999L, 999L,
    999L, 999L, 999L,
    999L, 999L, 999L,
    999L, 999L, 999L,
    999L, 999L, 999L,
    999L, 999L, 999L
  ), ncol = 3L, byrow = TRUE)
  expect_gt(length(texts$headers), 2000L); print(counts)
  more <- which(counts > most, arr.ind = TRUE)
  expect_identical(
    paste(rownames(counts)[more[, 1L]], "in", colnames(counts)[more[, 2L]]), character(),
    info = paste(c("counted:", utils::capture.output(print(counts))), collapse = "\n")
  )
})
