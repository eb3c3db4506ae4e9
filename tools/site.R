# Builds the site of the installed package in site/ (pkgdown, _pkgdown.yml). It can be read without the internet:
#
#   Rscript tools/site.R          from the root of the package; some three minutes
#
# Scripts and fonts that pages would load from elsewhere are taken out; pkgdown/extra.js lists the headings in their
# place, and searches search.js, which is written here. Formulas are MathML, which browsers show by themselves.
options(pkgdown.internet = FALSE)
# The addresses of packages that are not installed would be looked up at CRAN.
utils::assignInNamespace("CRAN_urls", function() data.frame(Package = character(), URL = character()), "downlit")
unlink("site", recursive = TRUE)
pkgdown::build_site(preview = FALSE, install = FALSE, new_process = FALSE, devel = FALSE)

elsewhere <- c(
  '<script[^>]* src="(https?|file):[^>]*></script>',
  '<script[^>]* src="[./]*pkgdown[.]js"[^>]*></script>',
  '<link rel="stylesheet" href="https?:[^>]*>',
  '<form [^>]*role="search">.*?</form>'
)
for (page in list.files("site", "[.]html$", recursive = TRUE, full.names = TRUE)) {
  html <- readLines(page, encoding = "UTF-8", warn = FALSE)
  html <- paste(html, collapse = "\n")
  for (pattern in elsewhere) html <- gsub(pattern, "", html, useBytes = TRUE)
  writeLines(html, page, useBytes = TRUE)
}
unlink(file.path("site", c("pkgdown.js", "search.json")))

# What the search finds: title, address and headings of each page, and the names that a page of the reference is about.
topics <- pkgdown::as_pkgdown(".")$topics
names_of <- stats::setNames(vapply(topics$alias, paste, "", collapse = " "), file.path("reference", topics$file_out))
described <- lapply(list.files("site", "[.]html$", recursive = TRUE), function(page) {
  html <- xml2::read_html(file.path("site", page), encoding = "UTF-8")
  texts <- function(path) trimws(gsub("\\s+", " ", xml2::xml_text(xml2::xml_find_all(html, path))))
  names <- if (page %in% names(names_of)) names_of[[page]] else ""
  list(title = c(texts("//main//h1"), page)[1], address = page, names = names,
    text = paste(texts("//main//h2|//main//h3"), collapse = " "))
})
described <- Filter(function(page) basename(page$address) != "404.html", described)
quoted <- function(text) paste0("\"", gsub("([\"\\\\])", "\\\\\\1", text), "\"")
entries <- vapply(described, function(page) {
  paste0("{", paste0(names(page), ": ", vapply(page, quoted, ""), collapse = ", "), "}")
}, "")
writeLines(c("window.bnpvi_pages = [", paste0(entries, ","), "];"), "site/search.js", useBytes = TRUE)
