library(testthat)
library(bnpvi)

# Without NOT_CRAN=true, as on CRAN's machines, these files alone: they take about a minute and touch every family.
# `make test` runs all of them.
quick <- c(
  "bad-input-constructors", "bad-input-grouped", "bad-input-mixture", "binomial", "column-spacings", "control-dots",
  "degenerate", "dynamic-means", "far", "features-cells", "features-limits", "few-values", "fingerprint", "gamma",
  "heldout-documents", "hierarchical-priors", "hmm-objective", "hmm-regression", "kmeans", "lds-switched",
  "learned-bernoulli", "mclust-names", "methods", "missing-sequences", "missing-with-weights", "mixture-ar", "names",
  "numbering", "pairs", "plot", "plot-densities", "point-partition", "printing", "residuals-far", "segments", "shapes",
  "student", "tables", "topics-inputs", "topics-methods", "topics-readers", "topics-rows", "uncertainty", "unused",
  "update", "weights"
)
all <- identical(Sys.getenv("NOT_CRAN"), "true")
test_check("bnpvi", filter = if (!all) paste0("^(", paste(quick, collapse = "|"), ")$"))
