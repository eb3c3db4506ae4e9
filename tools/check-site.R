# Looks for dead links, pictures that are not there and pages that do not open:
#
#   Rscript tools/check-site.R <folder>          needs xml2; opens every page in Chromium where that is installed
folder <- normalizePath(c(commandArgs(TRUE), "site")[1], mustWork = TRUE)
pages <- list.files(folder, "[.]html$", recursive = TRUE, full.names = TRUE)
read <- lapply(stats::setNames(pages, pages), xml2::read_html, encoding = "UTF-8")
faults <- character()
fault <- function(page, ...) faults <<- c(faults, paste0(substring(page, nchar(folder) + 2L), ": ", ...))
attribute <- function(html, path) xml2::xml_text(xml2::xml_find_all(html, path))
anchors <- lapply(read, function(html) c(attribute(html, "//@id"), attribute(html, "//a/@name")))

links <- 0L
for (page in pages) {
  html <- read[[page]]
  loaded <- c(attribute(html, "//@src"), attribute(html, "//link[@rel='stylesheet']/@href"))
  for (address in loaded[grepl("^(https?:|//|file:)", loaded)]) fault(page, "loads ", address)
  inside <- c(loaded, attribute(html, "//a/@href"))
  inside <- unique(inside[!grepl("^(https?:|//|file:|data:|mailto:|javascript:)", inside) & nzchar(inside)])
  links <- links + length(inside)
  for (address in inside) {
    parts <- strsplit(utils::URLdecode(address), "#", fixed = TRUE)[[1]]
    target <- if (nzchar(parts[1])) file.path(dirname(page), sub("[?].*", "", parts[1])) else page
    if (dir.exists(target)) target <- file.path(target, "index.html")
    if (!file.exists(target)) {
      fault(page, "leads to ", address, ", which is not there")
    } else if (length(parts) > 1L && endsWith(target, ".html") && !parts[2] %in% anchors[[normalizePath(target)]]) {
      fault(page, "leads to ", address, ", a place that the page does not have")
    }
  }
  for (picture in xml2::xml_find_all(html, "//main//img")) {
    if (is.na(xml2::xml_attr(picture, "alt"))) fault(page, "has a picture without a text in its place")
  }
}

browser <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
browser <- browser[nzchar(browser)]
if (length(browser)) {
  for (page in pages) {
    log <- tempfile()
    arguments <- c(
      "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", paste0("file://", page)
    )
    shown <- suppressWarnings(system2(browser[1], shQuote(arguments), stdout = TRUE, stderr = log, timeout = 60))
    if (!any(grepl("</html>", shown, fixed = TRUE))) fault(page, "does not open in ", names(browser)[1])
    for (line in grep("CONSOLE|ERR_", readLines(log, warn = FALSE), value = TRUE)) fault(page, "says ", line)
  }
}

cat(
  length(pages), " pages", if (length(browser)) ", each opened in a browser", ", ", links, " links: ", length(faults),
  " faults\n", sep = ""
)
writeLines(faults)
quit(status = as.integer(length(faults) > 0L))
