# Run by test-damaged-files.R, in a process of its own: `folder` has the fits.
suppressPackageStartupMessages(library(bnpvi))
with_breakdowns <- function(code) code
given <- readRDS(file.path(folder, "fits.rds"))
printed <- function(x) utils::capture.output(print(x))
questions_of <- function(x) {
  if (inherits(x, "bnp_draws")) return(list(printed, n_clusters, as.data.frame, nobs, point_partition))
  if (inherits(x, "bnp_filter")) return(list(printed, tidy, logLik, nobs, predict))
  if (inherits(x, "bnp_dynamic_means")) return(list(printed, tidy, glance, fitted, nobs))
  if (inherits(x, "bnp_tree")) return(list(printed))
  c(
    list(printed, coef, nobs, tidy), if (is.null(x$stream)) list(elbo),
    if (inherits(x, "bnp_mixture") && is.null(x$model$obs$times)) {
      list(function(fit) predict(fit, faithful[1:5, ], type = "prob"))
    }
  )
}
file <- file.path(folder, "damaged")
stage <- file.path(folder, "stage")

outcomes_of <- function(fit, compress) {
  saveRDS(fit, file, compress = compress)
  bytes <- bytes_of(file)
  questions <- questions_of(fit)
  right <- lapply(questions, function(ask) ask(fit))
  once <- function() {
    writeBin(damaged(bytes), file)
    unlink(stage)
    out <- in_child(function() {
      read <- tryCatch(suppressWarnings(readRDS(file)), error = function(e) NULL)
      if (!inherits(read, class(fit)[1L])) return("not read")
      file.create(stage) # from here on a crash is one of the package
      unlist(lapply(seq_along(questions), function(i) outcome_of(function() questions[[i]](read), right[[i]])))
    })
    if (is.null(out) && !file.exists(stage)) "ended by readRDS()" else out %||% "crash"
  }
  unlist(lapply(seq_len(given[[2L]]), function(i) once()))
}
`%||%` <- function(x, y) if (is.null(x)) y else x

set.seed(as.integer(Sys.getenv("BNPVI_SEED", "49")))
outcomes <- list()
for (name in names(given[[1L]])) {
  for (compress in c(TRUE, FALSE)) {
    outcomes[[paste(name, if (compress) "compressed" else "plain")]] <- outcomes_of(given[[1L]][[name]], compress)
  }
}
saveRDS(outcomes, file.path(folder, "outcomes.rds"))
