# Lines of R and of the engine that the tests reach, by file, those below 90 % first: Rscript tools/coverage.R
# Compiles a copy with little optimisation, and takes some ten times as long as the tests. Needs covr.

copy <- file.path(tempdir(), "bnpvi")
dir.create(copy)
kept <- setdiff(list.files("."), "demo-output")
stopifnot(file.copy(kept, copy, recursive = TRUE))
unlink(list.files(file.path(copy, "src"), "[.](o|so|gcda|gcno)$", recursive = TRUE, full.names = TRUE))

flags <- "-g -O1 --coverage -fprofile-update=atomic" # threads count, too
options(covr.flags = list(CFLAGS = flags, CXXFLAGS = flags, CXX17FLAGS = flags, LDFLAGS = "--coverage"))
Sys.setenv(BNPVI_TESTING = "1")
covered <- covr::package_coverage(copy, type = "tests", quiet = FALSE)

lines <- covr::tally_coverage(covered, by = "line")
lines <- lines[!grepl("RcppExports", lines$filename), ]
percent <- function(value) round(100 * mean(value > 0), 1)
by_file <- vapply(split(lines$value, lines$filename), percent, 1)
print(data.frame(percent = sort(by_file)))
for (part in c("R", "src")) cat(part, percent(lines$value[startsWith(lines$filename, part)]), "%\n")
