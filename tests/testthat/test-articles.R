# Articles are named in help pages, messages and each other: every name must be one that exists. From a checkout only.

root <- file.path("..", "..")
from_checkout <- function() {
  skip_if_not(dir.exists(file.path(root, "vignettes", "articles")), "no sources beside these tests (not a checkout)")
}
text_of <- function(file) paste(gsub("^#' *", "", readLines(file, encoding = "UTF-8")), collapse = " ")

# Titles by name, of articles in the package ("vignettes") or on the site only ("vignettes/articles").
articles_in <- function(folder) {
  files <- list.files(file.path(root, folder), "[.]Rmd$", full.names = TRUE)
  titles <- vapply(files, function(file) sub('.*?title: "(.*?)".*', "\\1", text_of(file)), "")
  stats::setNames(titles, sub("[.]Rmd$", "", basename(files)))
}

# What the parentheses of `pattern` hold, wherever it occurs.
named_by <- function(pattern, texts) {
  found <- regmatches(texts, gregexpr(pattern, texts, perl = TRUE))
  unique(gsub("  +", " ", sub(pattern, "\\1", unlist(found), perl = TRUE)))
}

test_that("every article that is named exists, in the package or on the site as is said", {
  from_checkout()
  inside <- articles_in("vignettes")
  site <- articles_in("vignettes/articles")
  texts <- vapply(c(
    list.files(file.path(root, "R"), "[.]R$", full.names = TRUE), file.path(root, c("README.md", "NEWS.md")),
    list.files(file.path(root, "vignettes"), "[.]Rmd$", full.names = TRUE, recursive = TRUE)
  ), text_of, "")

  named <- named_by('vignette\\(\\\\?"([a-zA-Z0-9-]+)\\\\?"[^)]*\\)', texts)
  expect_gt(length(named), 8L)
  expect_identical(setdiff(named, names(inside)), character())

  on_site <- named_by("\\*([^*`|]{3,60})\\* +on the site", texts)
  expect_gt(length(on_site), 4L)
  expect_identical(setdiff(on_site, site), character())

  linked <- named_by("\\]\\(([a-zA-Z0-9-]+)[.]html\\)", texts)
  expect_identical(setdiff(linked, names(c(inside, site))), character())
})

test_that("every article has its place on the site", {
  from_checkout()
  listed <- sub(".*articles:", "articles:", text_of(file.path(root, "_pkgdown.yml")))
  listed <- unlist(strsplit(gsub(" ", "", named_by("contents: *\\[([^\\]]*)\\]", listed)), ","))
  expect_setequal(
    listed, c(names(articles_in("vignettes")), paste0("articles/", names(articles_in("vignettes/articles"))))
  )
})
