# Builds the site of the installed package in site/ (pkgdown, _pkgdown.yml). It can be read without the internet:
#
#   Rscript tools/site.R          from the root of the package; some three minutes
#
# Scripts and fonts that pages would load from elsewhere are taken out; pkgdown/extra.js lists the headings in their
# place. There is no search. Formulas are MathML, which browsers show by themselves.
options(pkgdown.internet = FALSE)
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
