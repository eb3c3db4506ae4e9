# Writes the list of objects in src/Makevars: R finds by itself only sources that lie in src/.
#
#   Rscript tools/objects.R          from the root of the package, after a source file was added, moved or removed
sources <- sort(list.files("src", "[.]cpp$", recursive = TRUE), method = "radix")
lines <- readLines("src/Makevars")
head <- lines[seq_len(grep("^OBJECTS", lines) - 1L)]
objects <- sub("[.]cpp$", ".o", sources)
writeLines(c(head, paste0("OBJECTS = ", paste(objects, collapse = " \\\n  "))), "src/Makevars")
