# Builds data/*.rda from a folder of the raw files:
#   Rscript tools/make-data.R <folder>
raw <- commandArgs(TRUE)[1]
path <- function(...) file.path(raw, ...)

read_ldac <- function(file, vocabulary) {
  entries <- lapply(strsplit(readLines(file), " ", fixed = TRUE), function(line) {
    line <- line[nzchar(line)][-1]
    pair <- strsplit(line, ":", fixed = TRUE)
    cbind(as.integer(vapply(pair, `[`, "", 1)), as.integer(vapply(pair, `[`, "", 2)))
  })
  at <- do.call(rbind, entries)
  Matrix::sparseMatrix(
    i = rep(seq_along(entries), vapply(entries, nrow, 1L)), j = at[, 1] + 1L, x = at[, 2],
    dims = c(length(entries), length(vocabulary)), dimnames = list(NULL, vocabulary)
  )
}

toy <- utils::read.csv(path("toy", "asteriskK8.csv"))
asterisk <- data.frame(x = toy$x_0, y = toy$x_1, cluster = as.integer(toy$z_true) + 1L)

all_penguins <- utils::read.csv(path("penguins", "penguins.csv"), stringsAsFactors = TRUE)
complete <- all_penguins[stats::complete.cases(all_penguins[, 3:6]), ]
penguins_measurements <- data.frame(
  species = complete$species, bill_length = complete$bill_length_mm, bill_depth = complete$bill_depth_mm,
  flipper_length = complete$flipper_length_mm, body_mass = complete$body_mass_g
)

pixel <- sprintf("r%02dc%02d", rep(1:12, each = 12), rep(1:12, 12))
bars <- list(
  counts = read_ldac(path("toy", "bars_one_per_doc.ldac"), pixel),
  cluster = utils::read.csv(path("toy", "bars_one_per_doc_labels.csv"))$label + 1L
)

attributes <- trimws(sub("^\\s*[0-9]+\\s+", "", readLines(path("animals", "predicates.txt"))))
species <- trimws(sub("^\\s*[0-9]+\\s+", "", readLines(path("animals", "classes.txt"))))
animals <- as.matrix(utils::read.table(path("animals", "predicate-matrix-binary.txt")))
storage.mode(animals) <- "integer"
dimnames(animals) <- list(gsub("+", " ", species, fixed = TRUE), attributes)

wiki <- function(name) {
  about <- utils::read.csv2(path("wiki", paste0(name, ".csv")), encoding = "UTF-8")
  counts <- read_ldac(path("wiki", paste0(name, ".ldac")), readLines(path("wiki", paste0(name, ".ldac.vocab"))))
  titles <- iconv(about$title, "UTF-8", "ASCII//TRANSLIT")
  rownames(counts) <- make.unique(titles)
  list(counts = counts, category = factor(sub("^Category:", "", about$category)))
}
birds <- wiki("bop")
whales <- wiki("whales")

frames <- utils::read.csv(path("mocap6", "mocap6.csv"))
angles <- names(frames)[5:16]
mocap6 <- data.frame(sequence = frames$seq, frame = frames$t, action = factor(frames$action), frames[angles])
first <- which(!duplicated(frames$seq))
before <- frames[first, paste0("prev_", angles)]
names(before) <- angles
before <- data.frame(sequence = frames$seq[first], frame = frames$t[first] - 1L, action = factor(NA), before)
levels(before$action) <- levels(mocap6$action)
mocap6 <- rbind(before, mocap6)
mocap6 <- mocap6[order(match(mocap6$sequence, unique(frames$seq)), mocap6$frame), ]
rownames(mocap6) <- NULL

dir.create("data", showWarnings = FALSE)
for (name in c("asterisk", "penguins_measurements", "bars", "animals", "birds", "whales", "mocap6")) {
  save(list = name, file = file.path("data", paste0(name, ".rda")), compress = "xz", version = 3)
}
