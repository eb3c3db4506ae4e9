# The pages of design say what is there: tables that are made from the package, functions and types that exist, links
# that lead somewhere. From a checkout only.

root <- file.path("..", "..")
design_pages <- function() {
  skip_if_not(dir.exists(file.path(root, "inst", "design")), "no sources beside these tests (not a checkout)")
  list.files(file.path(root, "inst", "design"), "[.]md$", full.names = TRUE)
}
read_page <- function(file) readLines(file, encoding = "UTF-8", warn = FALSE)
expect_no_lines <- function(found, complaint) {
  expect(length(found) == 0L, paste0(complaint, ":\n", paste(found, collapse = "\n")))
}

test_that("the tables of functions, priors and observation models are those of the package", {
  page <- read_page(grep("CONTRIBUTING", design_pages(), value = TRUE))
  maker <- new.env()
  source(file.path(root, "tools", "design-tables.R"), maker)
  tables <- maker$design_tables(root)
  expect_identical(maker$page_with_tables(page, tables), page, info = "run R_LIBS=.lib Rscript tools/design-tables.R")
  # Each prior is made somewhere, and each constructor of observation models has a row.
  expect_no_lines(grep("`NA`", unlist(tables), value = TRUE), "rows without a file")
  constructors <- unique(vapply(c(obs_models, hidden_models, network_models), function(facts) facts$constructor, ""))
  for (name in constructors) expect_length(grep(paste0("^[|] `", name, "\\(\\)`"), tables$observations), 1L)
  for (entry in prior_models) {
    expect_true(any(grepl(paste0("`", entry$constructor, "()`"), tables$priors, fixed = TRUE)))
  }
})

test_that("functions and types that the pages name are in the sources", {
  folders <- c("R", "src", "tests", "tools", "inst/bench", "inst/rmarkdown", "vignettes")
  files <- unlist(lapply(folders, function(folder) {
    list.files(file.path(root, folder), "([.](R|cpp|h|Rmd)|Makevars)$", recursive = TRUE, full.names = TRUE)
  }))
  files <- c(files, file.path(root, c("DESCRIPTION", "NAMESPACE", "Makefile")))
  text <- unlist(lapply(files, readLines, encoding = "UTF-8", warn = FALSE))
  # Words that are said to be in other packages, or that stand for several.
  elsewhere <- c(
    "scream", "new_cluster_spec", "extract_cluster_assignment", "extract_centroids", "extract_fit_summary", "nls",
    "parsnip", "tidyclust", "_add", "_end", "wants_", "hyper_", "engine_lds_", "COPYRIGHTS", "il"
  )
  between <- function(others) unique(unlist(strsplit(text, others, perl = TRUE, useBytes = TRUE)))
  words <- sub("^[0-9]+", "", between("[^A-Za-z0-9_]+"))
  dotted <- gsub("^[0-9.]+|[.]+$", "", between("[^A-Za-z0-9_.]+"))
  known <- c(words, dotted, names(obs_models), paste0("obs_", names(obs_models)), elsewhere)
  missing <- unlist(lapply(design_pages(), function(page) {
    lines <- read_page(page)
    quoted <- gsub("`", "", unlist(regmatches(lines, gregexpr("`[^`]+`", lines))), fixed = TRUE)
    quoted <- quoted[!grepl("^[[:alnum:]_./-]+[.](cpp|h|R|Rd|Rmd|md|csv)$", quoted)]
    named <- unique(unlist(regmatches(quoted, gregexpr("[A-Za-z_][A-Za-z0-9_.]*", quoted))))
    named <- setdiff(sub("[.]+$", "", named), known)
    if (length(named)) paste0(basename(page), ": ", named)
  }))
  expect_gt(length(known), 5000L)
  expect_no_lines(missing, "names in backticks that nothing has")
})

test_that("every model that the engine can be asked for has its fields in glue.md", {
  page <- paste(read_page(grep("glue", design_pages(), value = TRUE)), collapse = "\n")
  asked <- setdiff(c(names(obs_models), names(prior_models), names(hidden_models)), c("beta_bernoulli", "ibp"))
  without <- asked[!vapply(paste0("`", asked, "`"), grepl, NA, x = page, fixed = TRUE)]
  expect_no_lines(without, "models without a line in glue.md")
})

# The anchor that a heading has on a page.
anchors_of <- function(page) {
  titles <- sub("^#+ +", "", grep("^#+ ", read_page(page), value = TRUE))
  gsub(" ", "-", gsub("[^[:alnum:] _-]", "", tolower(titles)))
}

test_that("links between pages lead to a page, and to a heading of it", {
  pages <- design_pages()
  dead <- unlist(lapply(pages, function(page) {
    lines <- read_page(page)
    links <- unlist(regmatches(lines, gregexpr("\\]\\([^)]+\\)", lines)))
    links <- gsub("^\\]\\(|\\)$", "", links)
    links <- links[!grepl("^https?:", links)]
    leads <- vapply(links, function(link) {
      parts <- strsplit(link, "#", fixed = TRUE)[[1L]]
      target <- if (nzchar(parts[1L])) file.path(dirname(page), parts[1L]) else page
      file.exists(target) && (length(parts) == 1L || parts[2L] %in% anchors_of(target))
    }, NA)
    if (any(!leads)) paste0(basename(page), ": ", links[!leads])
  }))
  expect_no_lines(dead, "links that lead nowhere")
  expect_lte(length(pages), 15L)
})

test_that("tests that the pages quote have these titles", {
  pattern <- "`(test-[a-z0-9-]+[.]R)`((,| and|, and) \"[^\"]+\")+"
  quoted <- unlist(lapply(design_pages(), function(page) {
    text <- gsub("[[:space:]]+", " ", paste(read_page(page), collapse = " "))
    regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1L]]
  }))
  expect_gt(length(quoted), 40L)
  missing <- unlist(lapply(quoted, function(one) {
    file <- sub("^`([^`]+)`.*", "\\1", one)
    titles <- gsub("\"", "", regmatches(one, gregexpr("\"[^\"]+\"", one))[[1L]], fixed = TRUE)
    text <- paste(read_page(test_path(file)), collapse = "\n")
    gone <- titles[!vapply(titles, grepl, NA, x = text, fixed = TRUE)]
    if (length(gone)) paste0(file, ": ", gone)
  }))
  expect_no_lines(missing, "titles that no test has")
})

test_that("every page says when it was read against the sources", {
  last <- vapply(design_pages(), function(page) utils::tail(read_page(page), 1L), "")
  dated <- grepl("^Read against the sources on [0-9]{1,2} [A-Z][a-z]+ 20[0-9]{2}[.]$", last)
  expect_no_lines(basename(names(last))[!dated], "pages whose last line is no date of reading")
})
