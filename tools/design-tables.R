# Makes the two tables of inst/design/CONTRIBUTING.md from the tables of priors and observation models of the package as
# it is installed, and from the lists of names in the sources of the engine.
#
#   R_LIBS=.lib Rscript tools/design-tables.R          from the root of the package, after a build

# Lines of C++ of `src`, by file: "models/registry.cpp" = c(...).
engine_lines <- function(src) {
  files <- sort(list.files(src, "[.]cpp$", recursive = TRUE), method = "radix")
  files <- files[!grepl("^(testing/|RcppExports)", files)]
  stats::setNames(lapply(file.path(src, files), readLines, encoding = "UTF-8", warn = FALSE), files)
}

# The file in which a function is defined: the line of its name has arguments, and what follows opens a body.
home_of <- function(name, lines) {
  defined <- vapply(lines, function(text) {
    at <- grep(paste0("^[^ /].*\\b", name, "\\(.*[{,]$"), text, perl = TRUE, useBytes = TRUE)
    any(vapply(at, function(i) endsWith(grep("[;{]$", text[i:length(text)], value = TRUE)[1L], "{"), NA))
  }, NA)
  home <- names(lines)[defined][1L]
  # A maker of the registry itself, which reads fields and calls that of the family.
  if (!identical(home, "models/registry.cpp")) {
    return(home)
  }
  text <- lines[[home]]
  body <- text[-seq_len(grep(paste0("^[^ /].*\\b", name, "\\("), text)[1L])]
  calls <- grep("::make_[a-z_]+\\(", body[seq_len(match("}", body))], value = TRUE)
  if (length(calls)) home_of(sub(".*::(make_[a-z_]+)\\(.*", "\\1", calls[1L]), lines) else home
}

# The function that makes what has this name in the lists of C++: {"gaussian_full", make_gaussian_full}, or
# if (family == "dp") return make_sticks(...).
maker_of <- function(name, text) {
  listed <- grep(paste0("\\{\"", name, "\", [a-z]"), text, value = TRUE)
  asked <- grep(paste0("family == \"", name, "\""), text)
  returned <- grep("make_", text[sort(c(asked, asked + 1L))], value = TRUE)
  found <- c(
    sub(paste0(".*\\{\"", name, "\", ([a-z_:]+)\\}.*"), "\\1", listed),
    sub("(.*[ :])?(make_[a-z_]+)\\(.*", "\\2", returned)
  )
  sub(".*::", "", found[1L])
}

code <- function(x) paste0("`", x, "`", collapse = ", ")
row_of <- function(...) paste0("| ", paste(..., sep = " | "), " |")

# A row for each fitting function and prior: what the engine calls it, and where it makes its model.
prior_table <- function(lines) {
  models <- bnpvi:::prior_models
  registry <- unlist(lines[c("models/registry.cpp", "features/beta_bernoulli.cpp")])
  rows <- lapply(names(models), function(name) {
    entry <- models[[name]]
    home <- home_of(maker_of(name, registry), lines)
    row <- row_of(code(paste0(entry$verb, "()")), code(paste0(entry$constructor, "()")), code(name), code(home))
    of_network <- if (!is.null(entry$network)) {
      family <- c(blocks = "blocks", overlapping = "communities")[[entry$network]]
      home <- home_of(paste0("family_of_", family), lines)
      row_of("`bnp_network()`", code(paste0(entry$constructor, "()")), code(family), code(home))
    }
    c(row, of_network)
  })
  head <- c("| function | prior | name in the engine | made in `src/` |", "|---|---|---|---|")
  c(head, sort(unlist(rows), method = "radix"))
}

# A row for each constructor of observation models: who takes it, what the engine calls it, and where it makes it.
observation_table <- function(lines) {
  models <- c(bnpvi:::obs_models, bnpvi:::hidden_models, bnpvi:::network_models)
  registry <- lines[["models/registry.cpp"]]
  constructors <- vapply(models, function(facts) facts$constructor, "")
  rows <- vapply(unique(constructors), function(constructor) {
    own <- names(models)[constructors == constructor]
    verbs <- setdiff(unique(unlist(lapply(models[own], function(facts) facts$verbs))), "bregman_kmeans")
    homes <- unlist(lapply(own, function(name) home_of(maker_of(name, registry), lines)))
    homes <- unique(homes[!is.na(homes)])
    row_of(
      code(paste0(constructor, "()")), code(paste0(verbs, "()")), code(own),
      if (length(homes)) code(homes) else "with its prior"
    )
  }, "")
  head <- "| observation model | functions that take it | names in the engine | made in `src/` |"
  head <- c(head, "|---|---|---|---|")
  c(head, sort(unname(rows), method = "radix"))
}

design_tables <- function(root = ".") {
  lines <- engine_lines(file.path(root, "src"))
  list(priors = prior_table(lines), observations = observation_table(lines))
}

# The page with its tables, which stand between lines <!-- table: priors --> and <!-- end -->, made anew.
page_with_tables <- function(page, tables) {
  for (name in names(tables)) {
    from <- match(paste0("<!-- table: ", name, " -->"), page)
    to <- from + match("<!-- end -->", page[-seq_len(from)])
    page <- c(page[seq_len(from)], tables[[name]], page[to:length(page)])
  }
  page
}

if (sys.nframe() == 0L) {
  file <- "inst/design/CONTRIBUTING.md"
  page <- page_with_tables(readLines(file, encoding = "UTF-8"), design_tables())
  writeLines(page, file, useBytes = TRUE)
}
