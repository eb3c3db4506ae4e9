# Writes the lists of objects in src/Makevars: R finds by itself only sources that lie in src/. Those of src/testing are
# in a list of their own, which a build for users leaves out.
#
#   Rscript tools/objects.R          from the root of the package, after a source file was added, moved or removed
sources <- sort(list.files("src", "[.]cpp$", recursive = TRUE), method = "radix")
lines <- readLines("src/Makevars")
head <- lines[seq_len(grep("^TESTING_1", lines) - 1L)]
objects <- sub("[.]cpp$", ".o", sources)
testing <- startsWith(objects, "testing/")
list_of <- function(name, objects) paste0(name, " = ", paste(objects, collapse = " \\\n  "))
installed <- c(objects[!testing], "$(TESTING_$(BNPVI_TESTING))")
writeLines(c(head, list_of("TESTING_1", objects[testing]), "", list_of("OBJECTS", installed)), "src/Makevars")
