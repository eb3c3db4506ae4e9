# How the sources are laid out: floors that only look down, names that stay in their family, what only r_* files
# may use, files short enough to be read; and that the pages of design name files that there are. From a checkout only:
# an installed package has no sources.

root <- file.path("..", "..")
source_files <- function() {
  skip_if_not(dir.exists(file.path(root, "src")), "no sources beside these tests (not a checkout)")
  sort(list.files(file.path(root, "src"), "[.](cpp|h)$", recursive = TRUE), method = "radix")
}
# Lines of a file of the sources, each of which is read once.
lines_read <- new.env()
lines_of <- function(file) {
  lines_read[[file]] <- lines_read[[file]] %||%
    readLines(file.path(root, "src", file), encoding = "UTF-8", warn = FALSE)
  lines_read[[file]]
}

# "" for files that lie in src itself.
folder_of <- function(files) ifelse(grepl("/", files, fixed = TRUE), sub("/.*", "", files), "")
knows_r <- function(files) {
  folder_of(files) == "" & grepl("^(r_|RcppExports)", files) | grepl("^testing/r_", files)
}

# What the files of a folder may include beside their own. Families never include each other; models is the only
# one that names them all; testing holds what only tests use.
common <- c("foundation", "kernels", "observations", "inference")
families <- c("mixtures", "topics", "chains", "networks", "features", "dynamics")
floors <- c(
  list(foundation = character(), hdp = "foundation"),
  stats::setNames(lapply(2:4, function(i) common[seq_len(i - 1L)]), common[-1L]),
  list(sampling = common, tilt = common[1:3]),
  stats::setNames(rep(list(c(common, "hdp", "tilt", "sampling")), length(families)), families),
  list(
    models = c(common, "hdp", "tilt", "sampling", families),
    testing = c(common, "hdp", "tilt", "sampling", families, "models", "")
  )
)

# Lines of files that match, as "file:line: text".
found_in <- function(files, pattern, ...) {
  unlist(lapply(files, function(file) {
    text <- lines_of(file)
    at <- grep(pattern, text, ..., useBytes = TRUE)
    if (length(at)) paste0(file, ":", at, ": ", trimws(text[at]))
  }))
}
expect_none <- function(found, complaint) {
  expect(length(found) == 0L, paste0(complaint, ":\n", paste(found, collapse = "\n")))
}

test_that("every file of the sources has a floor", {
  files <- source_files()
  expect_none(setdiff(folder_of(files), c("", names(floors))), "folders without a place in `floors`")
  expect_none(files[folder_of(files) == "" & !knows_r(files)], "files in src itself that are not r_*")
})

test_that("files include their own floor and lower ones only", {
  files <- source_files()
  upward <- unlist(lapply(files[folder_of(files) != ""], function(file) {
    found <- grep("^ *# *include +\"", lines_of(file), value = TRUE)
    included <- sub(".*include +\"([^\"]*)\".*", "\\1", found)
    allowed <- folder_of(included) %in% c(folder_of(file), floors[[folder_of(file)]]) & included %in% files
    if (!all(allowed)) paste0(file, " includes ", included[!allowed])
  }))
  expect_none(upward, "includes that look up, or to the side")
})

test_that("nothing that users install knows what only tests use", {
  files <- source_files()
  expect_none(
    found_in(files[folder_of(files) != "testing"], "# *include *\"testing/"),
    "includes of src/testing"
  )
})

test_that("no family is named below", {
  files <- source_files()
  words <- "mixture|topic|document|chain|hmm|markov|sequence|corpus"
  expect_none(
    found_in(files[folder_of(files) %in% c(common, "hdp", "tilt")], words, ignore.case = TRUE),
    "names of families (a group of rows, a unit of a batch and a cluster are neutral)"
  )
  expect_none(found_in(files[folder_of(files) %in% common], "hdp", ignore.case = TRUE), "names of a family's part")
})

test_that("a family's names are in a namespace of its own", {
  files <- source_files()
  for (family in families) {
    own <- files[folder_of(files) == family]
    named <- vapply(own, function(f) any(lines_of(f) == paste0("namespace bnpvi::", family, " {")), NA)
    expect_none(own[!named], paste0("files without namespace bnpvi::", family))
  }
})

test_that("only r_* files know R", {
  files <- source_files()
  expect_none(
    found_in(
      files[!knows_r(files)], "# *include *[<\"](Rcpp|R[.]h|Rinternals|Rmath|R_ext)|\\b(SEXP|Rcpp::|Rprintf)\\b"
    ),
    "R in engine files"
  )
})

test_that("engine files print nothing, and draw by their own generator", {
  files <- source_files()
  engine <- files[!knows_r(files)]
  expect_none(found_in(engine, "\\bf?(printf|puts)\\(|\\bstd::(cout|cerr|clog)\\b|<(iostream|cstdio)>"), "output")
  expect_none(found_in(engine, "_distribution\\b|\\bstd::(mt19937|random_)|\\bs?rand\\(|<random>"), "random numbers")
})

test_that("src/Makevars lists every object", {
  files <- source_files()
  makevars <- lines_of("Makevars")
  list_of <- function(name) {
    text <- makevars[grep(paste0("^", name, " = "), makevars):length(makevars)]
    text <- text[seq_len(which(!grepl("\\\\$", text))[1])]
    strsplit(sub("^[A-Z_1]+ = ", "", paste(sub(" *\\\\$", "", text), collapse = "")), " +")[[1]]
  }
  objects <- sub("[.]cpp$", ".o", files[grepl("[.]cpp$", files)])
  folders <- folder_of(objects)
  glue <- objects[!grepl("/", objects)]
  expect_identical(list_of("TESTING_1"), objects[folders == "testing"], info = "run Rscript tools/objects.R")
  expect_identical(list_of("GLUE"), glue)
  seldom <- sub("[.]cpp$", ".o", readLines(file.path(root, "tools", "seldom.txt")))
  expect_identical(list_of("SELDOM"), intersect(objects, seldom))
  expect_identical(setdiff(seldom, objects), character(), info = "files of tools/seldom.txt that are gone")
  engine <- setdiff(objects[folders != "testing"], c(glue, seldom))
  expect_identical(list_of("OBJECTS"), c(engine, "$(SELDOM)", "$(GLUE)", "$(TESTING_$(BNPVI_TESTING))"))
  small <- intersect(objects, c(glue, seldom))
  rules <- sub("[.]o$", ".cpp", paste0(small, ": ", small))
  expect_identical(grep("^[[:alnum:]_/]+[.]o: ", makevars, value = TRUE), rules)
})

test_that("what a test file sets ends with it", {
  files <- list.files(".", "^test-.*[.]R$")
  left <- files[vapply(files, function(file) any(grepl("teardown_env()", readLines(file), fixed = TRUE)), NA)]
  expect_equal(setdiff(left, "test-house.R"), character())
})

test_that("files are short", {
  files <- setdiff(source_files(), "RcppExports.cpp")
  n <- vapply(files, function(file) length(lines_of(file)), 1L)
  expect_none(paste(names(n), n)[n > 350], "more than 350 lines")
  expect_lte(stats::median(n), 120)
})

# Words in backticks that look like a file, as "page.md: path".
named_files <- function(pages) {
  unlist(lapply(pages, function(page) {
    text <- readLines(page, encoding = "UTF-8", warn = FALSE)
    words <- unlist(regmatches(text, gregexpr("`[^`]+`", text)))
    words <- unique(gsub("`", "", words, fixed = TRUE))
    words <- grep("^[[:alnum:]_./-]+[.](cpp|h|R|Rd|Rmd|md)$", words, value = TRUE)
    if (length(words)) paste0(basename(page), ": ", words)
  }))
}

test_that("files that the design pages name exist", {
  source_files()
  folders <- file.path(root, c("R", "man", "src", "tests", "tools", "inst", "vignettes"))
  there <- c(list.files(root), substring(list.files(folders, recursive = TRUE, full.names = TRUE), nchar(root) + 2L))
  pages <- list.files(file.path(root, "inst", "design"), "[.]md$", full.names = TRUE)
  named <- named_files(pages)
  path <- sub("^[^ ]+ ", "", named)
  expect_gt(length(named), 80L)
  # A path counts from the checkout or from src; a name alone may be in any folder.
  exists <- path %in% there | file.path("src", path) %in% there |
    dirname(path) == "." & path %in% basename(there)
  expect_none(named[!exists], "files that are named and do not exist")
})

test_that("every design page is linked from CONTRIBUTING.md", {
  source_files()
  pages <- setdiff(list.files(file.path(root, "inst", "design"), "[.]md$"), "CONTRIBUTING.md")
  text <- readLines(file.path(root, "inst", "design", "CONTRIBUTING.md"), encoding = "UTF-8", warn = FALSE)
  linked <- vapply(pages, function(page) any(grepl(paste0("](", page, ")"), text, fixed = TRUE)), NA)
  expect_none(pages[!linked], "pages without a link")
})

test_that("what compilation leaves in folders is removed before a package is built", {
  source_files()
  for (script in c("cleanup", "cleanup.win")) expect_identical(file.access(file.path(root, script), 1L)[[1]], 0L)
})

test_that("a built package contains no object file", {
  skip_if_not(longest_tests(), "long: set BNPVI_LONG_TESTS=true")
  source_files()
  sources <- normalizePath(root)
  withr::local_dir(withr::local_tempdir())
  copy <- "checkout"
  dir.create(copy)
  file.copy(setdiff(list.files(sources, full.names = TRUE), file.path(sources, "demo-output")), copy, recursive = TRUE)
  file.copy(file.path(sources, ".Rbuildignore"), copy)
  for (left in c("src/left.o", "src/inference/left.o", "src/left.so")) file.create(file.path(copy, left))
  r <- file.path(R.home("bin"), "R")
  system2(r, c("CMD", "build", "--no-build-vignettes", copy), stdout = FALSE, stderr = FALSE)
  tarball <- list.files(pattern = "[.]tar[.]gz$")
  expect_length(tarball, 1L)
  content <- utils::untar(tarball, list = TRUE)
  expect_true(any(grepl("src/inference/data/source[.]cpp$", content)))
  expect_none(grep("[.](o|so|dll)$", content, value = TRUE), "objects")
  expect_none(grep("inst/(bench|design)", content, value = TRUE), "benches and pages for contributors")
})

test_that("no line is longer than .lintr and .clang-format say", {
  source_files()
  # Lines of files below `folders` with more than `columns` columns, as "file:line".
  long_lines <- function(folders, pattern, columns) {
    files <- list.files(file.path(root, folders), pattern, recursive = TRUE, full.names = TRUE)
    files <- files[!grepl("^RcppExports", basename(files))]
    unlist(lapply(files, function(file) {
      text <- readLines(file, encoding = "UTF-8", warn = FALSE)
      at <- which(nchar(text, "bytes") > columns) # few lines, of which the width takes its time
      at <- at[nchar(text[at], "width") > columns]
      if (length(at)) paste0(substring(file, nchar(root) + 2L), ":", at)
    }))
  }
  limit <- function(file, pattern) {
    line <- grep(pattern, readLines(file.path(root, file)), value = TRUE)
    as.integer(gsub("[^0-9]", "", line))
  }
  of_r <- long_lines(c("R", "tests", "tools", "inst"), "[.]R$", limit(".lintr", "line_length_linter"))
  expect_none(of_r, "lines of R that are too long")
  of_cpp <- long_lines("src", "[.](cpp|h)$", limit(".clang-format", "ColumnLimit"))
  expect_none(of_cpp, "lines of C++ that are too long: run clang-format")
})

test_that("no line of an example is wider than the PDF manual", {
  source_files()
  wide <- unlist(lapply(list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE), function(file) {
    text <- readLines(file, encoding = "UTF-8", warn = FALSE)
    begins <- match("\\examples{", text)
    long <- which(nchar(text) > 100L & !grepl("^\\\\dontshow", text))
    long <- long[!is.na(begins) & long > begins]
    ends <- which(text == "}")
    long <- long[vapply(long, function(at) !any(ends > begins & ends < at), NA)]
    if (length(long)) paste0(basename(file), ":", long)
  }))
  expect_none(wide, "lines of examples with more than 100 characters")
})

test_that("every function of R, and every name of the tests' helpers, has one definition", {
  source_files()
  # Names that files of a folder assign at top level and that match `value`, those of several files or lines.
  repeated <- function(folder, files, value) {
    text <- unlist(lapply(
      list.files(file.path(root, folder), files, full.names = TRUE), readLines, encoding = "UTF-8", warn = FALSE
    ))
    names <- sub(" <- .*", "", grep(paste0("^[[:alnum:]_.]+ <- ", value), text, value = TRUE))
    names[duplicated(names)]
  }
  expect_none(repeated("R", "[.]R$", "function"), "functions defined twice")
  expect_none(repeated("tests/testthat", "^(helper|setup).*[.]R$", ""), "names of helpers defined twice")
})

test_that("R reads its files in an order that is written down, and not in that of their names", {
  source_files()
  listed <- read.dcf(file.path(root, "DESCRIPTION"), "Collate")
  listed <- strsplit(gsub("'", "", listed), "[[:space:]]+")[[1L]]
  files <- list.files(file.path(root, "R"), "[.]R$")
  expect_identical(sort(listed, method = "radix"), sort(files, method = "radix"), info = "run Rscript tools/collate.R")
})

test_that("every help page has a place on the site", {
  site <- file.path(root, "_pkgdown.yml")
  skip_if_not(file.exists(site), "no sources beside these tests (not a checkout)")
  text <- readLines(site)
  reference <- text[seq(grep("^reference:", text), grep("^articles:", text))]
  listed <- trimws(unlist(strsplit(sub(".*\\[(.*)\\].*", "\\1", grep("contents:", reference, value = TRUE)), ",")))
  starts <- sub("starts_with\\(\"(.*)\"\\)", "\\1", grep("starts_with", listed, value = TRUE))
  pages <- list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)
  pages <- Filter(function(page) !any(grepl("\\\\keyword\\{internal\\}", readLines(page, encoding = "UTF-8"))), pages)
  has_place <- vapply(pages, function(page) {
    lines <- readLines(page, encoding = "UTF-8")
    names <- sub("^\\\\(name|alias)\\{(.*)\\}", "\\2", grep("^\\\\(name|alias)\\{", lines, value = TRUE))
    any(names %in% listed) || any(vapply(starts, function(start) any(startsWith(names, start)), NA))
  }, NA)
  expect_gt(length(pages), 20L)
  expect_identical(basename(pages[!has_place]), character())
})

test_that("every argument is documented where its function is", {
  skip_if_not(dir.exists(file.path(root, "man")), "no sources beside these tests (not a checkout)")
  expect_identical(capture.output(print(tools::checkDocFiles(dir = root))), character())
})

# Prefixes of the files of R that belong to a family, and the classes of its fits.
classes_of_files <- list(
  mixture = c("mixture", "mixture_by_time"), topics = "topics", hmm = c("hmm", "lds"), lds = "lds",
  network = c("network", "blocks", "communities"), features = "features"
)
family_of_file <- function(file) sub("(-.*)?[.]R$", "", basename(file))
code_of_r <- function() {
  files <- list.files(file.path(root, "R"), "[.]R$", full.names = TRUE)
  text <- lapply(files, function(file) grep("^ *#", readLines(file, encoding = "UTF-8"), value = TRUE, invert = TRUE))
  stats::setNames(text, basename(files))
}
# Lines of R that ask whether a fit is of a family, in files that are not of this family.
family_branches <- function() {
  asks <- paste0("inherits\\([^\"]*\"bnp_(", paste(unique(unlist(classes_of_files)), collapse = "|"), ")\"")
  own <- function(file) paste0("bnp_(", paste(classes_of_files[[family_of_file(file)]], collapse = "|"), ")\"")
  code <- code_of_r()
  sum(unlist(Map(function(text, file) {
    found <- grep(asks, text, value = TRUE)
    if (is.null(classes_of_files[[family_of_file(file)]])) found else found[!grepl(own(file), found)]
  }, code, names(code)) |> lengths()))
}

test_that("methods for fits of a family stand in its files", {
  source_files()
  classes <- unique(unlist(classes_of_files))
  pattern <- paste0("^([[:alnum:]_.]+)[.]bnp_(", paste(classes, collapse = "|"), ") <- ")
  code <- code_of_r()
  found <- unlist(Map(function(text, file) {
    lines <- grep(pattern, text, value = TRUE)
    class <- sub(paste0(pattern, ".*"), "\\2", lines)
    elsewhere <- !class %in% classes_of_files[[family_of_file(file)]]
    if (any(elsewhere)) paste0(file, ": ", sub(" <- .*", "", lines[elsewhere]))
  }, code, names(code)))
  expect_gt(sum(grepl(pattern, unlist(code))), 100)
  expect_none(found, "methods in files of others")
})

# What the house is to have once, or less of (counted on 2026-11-25; a number may be lowered, never raised but for
# functions that check, which new arguments need).
test_that("what is written several times, and contracts that are too wide, do not grow", {
  cpp <- source_files()
  r_text <- unlist(lapply(list.files(file.path(root, "R"), "[.]R$", full.names = TRUE), readLines, encoding = "UTF-8"))
  code <- function(text) text[!grepl("^ *(//|#)", text, useBytes = TRUE)]
  cpp_text <- function(files) code(unlist(lapply(files, lines_of)))
  in_cpp <- function(pattern, files = cpp) sum(grepl(pattern, cpp_text(files), useBytes = TRUE))
  in_r <- function(pattern) sum(grepl(pattern, code(r_text), useBytes = TRUE))
  # Functions that a class leaves open, its destructor left out.
  virtuals <- function(class, file) {
    text <- lines_of(file)
    from <- grep(paste0("^class ", class, " "), text)
    body <- text[from:(from + grep("^};", text[-seq_len(from)])[1L])]
    sum(grepl("^ +virtual ", body) & !grepl("virtual ~", body))
  }
  counts <- c(
    "loops over restarts" = in_cpp("restart.* < .*restarts") + in_r("seq_len\\(control\\$restarts\\)"),
    "rules for seeds of restarts" = in_cpp("^std::uint64_t restart_seed.*[{]$") + in_r("\\* 7919"),
    "places that decide that numbers broke down" = in_cpp("reason = .*\"numerical\""),
    "rules of convergence" = in_cpp("(<=?|>) .*\\btol\\b", grep("^foundation", cpp, value = TRUE, invert = TRUE)),
    "clocks of laps" = in_cpp("seconds = *$|seconds = .*(duration|passed)"),
    "virtual functions of ObsModel" = virtuals("ObsModel", "observations/obs_model.h"),
    "virtual functions of AllocModel" = virtuals("AllocModel", "inference/learn/alloc_model.h"),
    "virtual functions of Overlap" = virtuals("Overlap", "networks/overlap.h"),
    "dynamic_cast" = in_cpp("dynamic_cast"),
    "constructors of fits" = in_r("(class = |^ *structure\\(fit, class = |, class = )c\\(.*\"bnp_fit\"\\)"),
    "branches on the family" = family_branches(),
    "uses of is_hidden()" = in_r("\\bis_hidden\\("),
    "functions that refuse" = in_r("^refuse_[a-z_]+ <- function"),
    "functions that check" = in_r("^check_[a-z_0-9]+ <- function")
  )
  most <- c(2, 1, 1, 3, 1, 12, 11, 13, 5, 1, 6, 0, 38, 116)
  expect_identical(names(counts)[counts > most], character(), info = paste(names(counts), counts, collapse = "\n"))
})

# A function of an expression: how many functions of R, in how many files, its evaluation goes through, as c(calls,
# functions, files). The functions are those of a copy of the namespace that count themselves, those in tables included;
# the copy is made once.
counter_of_calls <- function() {
  space <- asNamespace("bnpvi")
  copy <- new.env(parent = parent.env(space))
  home <- list()
  for (file in list.files(file.path(root, "R"), "[.]R$", full.names = TRUE)) {
    for (call in parse(file, keep.source = FALSE)) {
      if (is.call(call) && identical(call[[1L]], quote(`<-`)) && is.name(call[[2L]])) {
        home[[as.character(call[[2L]])]] <- basename(file)
      }
    }
  }
  entered <- character()
  enter <- function(name) entered[length(entered) + 1L] <<- name
  own <- function(value) is.function(value) && identical(environment(value), space)
  all <- mget(ls(space, all.names = TRUE), space)
  counting <- list()
  for (name in names(Filter(own, all))) {
    value <- all[[name]]
    if (!is.null(home[[name]])) body(value) <- bquote({
      .(enter)(.(name))
      .(body(value))
    })
    environment(value) <- copy
    counting[[name]] <- value
  }
  # Functions in tables are those of the copy, by name, or functions without a name that call those.
  copied <- function(value) {
    if (own(value)) {
      same <- Find(function(name) identical(all[[name]], value), names(counting))
      return(if (is.null(same)) `environment<-`(value, copy) else counting[[same]])
    }
    if (is.list(value) && !is.data.frame(value)) value[] <- lapply(value, copied)
    value
  }
  for (name in names(all)) assign(name, counting[[name]] %||% copied(all[[name]]), copy)
  function(expr) {
    entered <<- character()
    eval(expr, copy)
    c(length(entered), length(unique(entered)), length(unique(unlist(home[entered]))))
  }
}

# Counted on 2026-11-26; a number may be lowered, and is raised only where a first call does more. (It was four times:
# before observation models answered by S3 methods, what their entries called was not seen; the prior of clusters is
# learned and rounded values are seen by default; long fits say that they are under way; several starts are made; and
# columns are looked at that other models describe better, within clusters and with clusters joined.)
long_test("a first call does not go through more and more functions and files", {
  source_files()
  fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
  chain <- bnp_hmm(faithful, control = bnp_control(seed = 1, max_laps = 3)) |> suppressWarnings()
  most <- list(
    list(quote(bnp_mixture(faithful, control = bnp_control(seed = 1))), c(162, 115, 24)),
    list(bquote(predict(.(fit), faithful[1:5, ])), c(68, 51, 16)),
    list(bquote(predict(.(chain), faithful[1:50, ])), c(38, 31, 11))
  )
  counted_calls <- counter_of_calls()
  for (one in most) {
    counts <- counted_calls(one[[1L]])
    expect_true(all(counts <= one[[2L]]), info = paste(counts, collapse = " "))
    expect_gt(counts[1L], one[[2L]][1L] / 2) # they are counted at all
  }
})

test_that("the observation model that was added last is named in the files that the page says, and no others", {
  source_files()
  folders <- c("R", "src", "tests/testthat", "inst", "vignettes", "tools", "pkgdown")
  files <- c(
    list.files(root, "[.](md|yml)$"),
    unlist(lapply(folders, function(f) {
      file.path(f, list.files(file.path(root, f), "[.](R|cpp|h|md|Rmd|yml)$", recursive = TRUE))
    }))
  )
  names_it <- vapply(file.path(root, files), function(file) {
    any(grepl("lognormal", c(basename(file), readLines(file, encoding = "UTF-8", warn = FALSE)), ignore.case = TRUE))
  }, NA)
  # The page itself, this test, and a table that is made (tools/design-tables.R).
  not_by_hand <- c("inst/design/adding-a-model.md", "tests/testthat/test-house.R", "inst/design/CONTRIBUTING.md")
  found <- setdiff(files[names_it], not_by_hand)
  page <- readLines(file.path(root, "inst", "design", "adding-a-model.md"), encoding = "UTF-8")
  rows <- page[seq(grep("^[|] engine", page), grep("^[|] words", page))]
  said <- gsub("`", "", unlist(regmatches(rows, gregexpr("`[^`]+`", rows))))
  expect_setequal(found, said)
  expect_lte(length(said), 12L)
})
