# The help page ?abilities, printed from the table of abilities when the help is made.

#' What works with what
#'
#' This page lists which data, arguments, options and functions can be used with which kind of fit. Everything else is
#' refused by an error of class `bnpvi_error_not_defined`, which says why and what to use instead, as this page does.
#'
#' @evalRd abilities_rd()
#' @seealso [bnp_control()] for what the options mean.
#' @name abilities
NULL

# The sections of the help page ?abilities, in Rd: one table of abilities by family for each area, then what
# each kind of fit lacks.
abilities_rd <- function() {
  areas <- c(
    data = "Data and what is given beside them", options = "Options that depend on more than the kind of fit",
    verbs = "Functions"
  )
  tables <- vapply(names(areas), function(area) rd_section(areas[[area]], family_table(area)), "")
  c(
    tables, rd_section("Options of bnp_control() and bnp_moves()", option_list()),
    rd_section("What is not available, and what to use instead", lacking_list())
  )
}

rd_section <- function(title, text) paste0("\\section{", title, "}{\n", paste(text, collapse = "\n"), "\n}")

# The table of one area of abilities, in Rd: a row for each ability, a column for each family of fits. A cell
# says yes, some (only special cases of the family have the ability), a dash (no), or is empty (the question
# does not arise).
family_table <- function(area) {
  names <- abilities_in(area)
  cells <- vapply(family_kinds, function(family) {
    vapply(names, function(name) {
      special <- names(Filter(function(kind) identical(kind$of, family), kinds))
      row <- ability_table[[name]]
      if (!family %in% row$applies) "" else if (is.null(refusal(family, name))) "yes" else
        if (any(special %in% row$has)) "some" else "-"
    }, "")
  }, character(length(names)))
  head <- vapply(kinds[family_kinds], function(kind) gsub(" [(].*", "", kind$what), "")
  rows <- cbind(rd_text(vapply(names, ability_label, "")), matrix(cells, length(names)))
  c(
    paste0("\\tabular{", strrep("l", ncol(rows)), "}{"),
    paste0("  ", apply(rbind(c("", head), rows), 1L, paste, collapse = " \\tab "), " \\cr"), "}"
  )
}

abilities_in <- function(area) names(Filter(function(row) row$area == area, ability_table))

# A list in Rd: for each kind of fit, the algorithms and options that it takes.
option_list <- function() {
  items <- vapply(names(option_table), function(kind) {
    entry <- option_table[[kind]]
    text <- c(
      paste0(rd_codes(paste0("\"", entry$algorithms, "\"")), "."),
      if (length(entry$takes)) paste0(rd_codes(entry$takes), "."),
      if (length(entry$lacks)) paste0("Not ", rd_codes(entry$lacks), "."), rd_text(c(entry$instead, entry$refused))
    )
    rd_item(kinds[[kind]]$what, paste(text, collapse = " "))
  }, "")
  common <- rd_codes(setdiff(common_options, "algorithm"))
  head <- paste0("All kinds take ", common, ", if their algorithm does. Algorithms and other options of each kind:")
  c(head, "\\describe{", items, "}")
}

# A list in Rd: for each ability, why some kinds of fit lack it and what they have instead. Abilities with the
# same explanation share an entry.
lacking_list <- function() {
  said <- vapply(ability_table, function(row) {
    hints <- c(list(c(row$why, row$instead)), row$no)
    text <- vapply(hints, function(hint) paste(rd_text(hint), collapse = " "), "")
    of <- c("", vapply(kinds[names(row$no)], function(kind) rd_text(kind$what), ""))
    alike <- split(of, factor(text, setdiff(unique(text), "")))
    for_kinds <- vapply(alike, function(of) {
      if ("" %in% of) "" else paste0("For ", paste(of, collapse = ", "), ": ")
    }, "")
    paste0(for_kinds, names(alike), collapse = "\n\n")
  }, "")
  items <- vapply(unique(said), function(text) {
    rd_item(paste(vapply(names(said)[said == text], ability_label, ""), collapse = ", "), text)
  }, "")
  c("\\describe{", items, "}")
}

rd_codes <- function(names) paste0("\\code{", names, "}", collapse = ", ")

rd_item <- function(label, text) paste0("  \\item{", rd_text(label), "}{", text, "}")

# Turns the inline markup of messages ({.fn name} and others) into that of help pages.
rd_text <- function(text) {
  text <- gsub("\\{[.]fn ([^{}]*)\\}", "\\\\code{\\1()}", as.character(text))
  text <- gsub("\\{[.]pkg ([^{}]*)\\}", "\\\\pkg{\\1}", text)
  text <- gsub("\\{[.][a-z]+ ([^{}]*)\\}", "\\\\code{\\1}", text)
  gsub("\\s+", " ", gsub("%", "\\%", text, fixed = TRUE))
}
