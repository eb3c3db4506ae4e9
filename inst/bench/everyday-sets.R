# How near default fits of small data sets that come with R, MASS and mclust end to the best end seen: sets of which
# the median of the seeds is within one nat, fits that are, the median and the largest distance, and CPU seconds a fit;
# beside another build of the package where one is named.
# Rscript everyday-sets.R [seeds] [library of the other build, or none] [sets, a regular expression]
own <- c("crabs", "Boston", "geyser", "galaxies", "fgl", "Pima.te", "biopsy", "birthwt")
utils::data(list = own, package = "MASS")
utils::data("diabetes", "thyroid", "banknote", "acidity", package = "mclust")

mixture <- function(x, ...) function(control) bnp_mixture(x, ..., control = control)
chain <- function(x) function(control) bnp_hmm(x, control = control)
cells <- function(table) {
  d <- as.data.frame(table)
  mixture(d[names(d) != "Freq"], weights = d$Freq)
}
risks <- c("crim", "nox", "rm", "age", "dis", "lstat", "medv")
births <- c("age", "lwt", "race", "smoke", "ptl", "ht", "ui")
sets <- list(
  faithful = mixture(faithful), iris = mixture(iris[1:4]), quakes = mixture(quakes), swiss = mixture(swiss),
  mtcars = mixture(mtcars), trees = mixture(trees), stackloss = mixture(stackloss), titanic = cells(Titanic),
  hair = cells(HairEyeColor), admissions = cells(UCBAdmissions), esoph = mixture(esoph),
  warpbreaks = mixture(warpbreaks), tooth = mixture(ToothGrowth), chickwts = mixture(chickwts),
  airquality = mixture(airquality, na_action = "model"), arrests = mixture(USArrests),
  judges = mixture(USJudgeRatings), rock = mixture(rock), islands = mixture(log(islands)),
  rivers = mixture(log(rivers)), precip = mixture(precip), sprays = mixture(InsectSprays),
  states = mixture(state.x77), crabs = mixture(crabs[4:8]), crabs_kinds = mixture(crabs[c(1, 2, 4:8)]),
  boston = mixture(Boston[risks]), geyser = mixture(geyser), galaxies = mixture(galaxies / 1000),
  glass = mixture(fgl[1:9]), pima = mixture(Pima.te),
  biopsy = mixture(stats::na.omit(biopsy[2:10]), obs_categorical()), birthwt = mixture(birthwt[births]),
  diabetes = mixture(diabetes[-1]), thyroid = mixture(thyroid[-1]), banknote = mixture(banknote[-1]),
  acidity = mixture(acidity), morley = mixture(morley$Speed),
  nile = chain(Nile), lynx = chain(log(lynx)), huron = chain(LakeHuron), sunspots = chain(sqrt(sunspot.year)),
  passengers = chain(diff(log(AirPassengers))), stocks = chain(diff(log(EuStockMarkets))[, 1]),
  geyser_states = chain(geyser$duration)
)

# All seeds of one set in a process of its own: a build is what its library has.
args <- commandArgs(TRUE)
if (identical(args[1], "one")) {
  suppressPackageStartupMessages(library(bnpvi, lib.loc = args[2]))
  for (seed in seq_len(as.integer(args[4]))) {
    control <- bnp_control(seed = seed, verbose = FALSE)
    time <- system.time(fit <- suppressWarnings(suppressMessages(sets[[args[3]]](control))))
    cat(sprintf("%.6f", elbo(fit)), n_clusters(fit), sum(time[1:2]), "\n")
  }
  quit()
}
seeds <- if (length(args) > 0L) as.integer(args[1]) else 10L
builds <- c(now = dirname(system.file(package = "bnpvi")), before = if (length(args) > 1L && args[2] != "none") args[2])
if (length(args) > 2L) sets <- sets[grepl(args[3], names(sets))]

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "record.R"))
fits_of <- function(set, library) {
  arguments <- c(file.path(here, "everyday-sets.R"), "one", library, set, seeds)
  out <- system2("Rscript", shQuote(arguments), stdout = TRUE, stderr = FALSE)
  stats::setNames(utils::read.table(text = out), c("elbo", "k", "cpu"))
}
found <- lapply(names(sets), function(set) lapply(builds, fits_of, set = set))
below <- function(fits, build) max(vapply(fits, function(f) max(f$elbo), 1)) - fits[[build]]$elbo
for (build in names(builds)) {
  distances <- lapply(found, below, build = build)
  medians <- vapply(distances, stats::median, 1)
  worst <- vapply(distances, max, 1)
  cpu <- vapply(found, function(fits) mean(fits[[build]]$cpu), 1)
  cat("\n", build, ":\n", sep = "")
  print(data.frame(
    set = names(sets), median = round(medians, 2), worst = round(worst, 2),
    within_a_nat = vapply(distances, function(d) sum(d <= 1), 1L), cpu = round(cpu, 2)
  ), row.names = FALSE)
  all <- c(
    "sets whose median is within a nat of the best" = sum(medians <= 1), "fits that are" = sum(unlist(distances) <= 1),
    "mean distance, nats" = round(mean(unlist(distances)), 2), "largest distance, nats" = round(max(worst), 1),
    "CPU s a fit" = round(mean(cpu), 3)
  )
  print(all)
  for (what in names(all)) record(paste(length(sets), "sets,", seeds, "seeds"), what, all[[what]], "", build)
}
