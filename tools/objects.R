# Writes the lists of objects in src/Makevars: R finds by itself only sources that lie in src/. Those of src/testing are
# in a list of their own, which a build for users leaves out. Two kinds are compiled for size, by rules of their own,
# and come last: where several objects have the same function of a template, the linker takes the first. Those that
# translate between R and the engine lie in src/ itself. Those in which fits spend next to no time (starts, proposals
# of moves, what is read off a fit) are in tools/seldom.txt: profile fits of the family before a file is added.
#
#   Rscript tools/objects.R          from the root of the package, after a source file was added, moved or removed
sources <- sort(list.files("src", "[.]cpp$", recursive = TRUE), method = "radix")
lines <- readLines("src/Makevars")
head <- lines[seq_len(grep("^TESTING_1", lines) - 1L)]
objects <- sub("[.]cpp$", ".o", sources)
testing <- startsWith(objects, "testing/")
glue <- !grepl("/", objects, fixed = TRUE)
seldom <- sources %in% readLines("tools/seldom.txt")
small <- glue | seldom
list_of <- function(name, objects) paste0(name, " = ", paste(objects, collapse = " \\\n  "))
rule <- paste0(
  objects[small], ": ", sources[small],
  "\n\t$(CXX) $(ALL_CPPFLAGS) $(ALL_CXXFLAGS) $(SMALL) -c ", sources[small], " -o ", objects[small]
)
writeLines(c(
  head, list_of("TESTING_1", objects[testing]), "", list_of("GLUE", objects[glue]), "",
  list_of("SELDOM", objects[seldom]), "",
  list_of("OBJECTS", c(objects[!testing & !small], "$(SELDOM)", "$(GLUE)", "$(TESTING_$(BNPVI_TESTING))")), "",
  "# The first target of this file is the default one.", "all: stripped", "stripped: $(SHLIB)",
  "\t@$(STRIP_NAMES) $(SHLIB) 2>/dev/null || true", "", rule
), "src/Makevars")
