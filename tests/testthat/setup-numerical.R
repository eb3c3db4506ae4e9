# A lap whose numbers break down fails the test that ran it, unless the test says with_breakdowns() that it
# wants to see one.

# Tests see a copy of the package's functions, so it is put both here and there.
engine_fit <- function(data, model, control, ...) {
  if (isTRUE(control$audit) || !is.null(control$break_at) || identical(control$source, "transient")) {
    skip_without_testing_entries()
  }
  result <- package_engine_fit(data, model, control, ...)
  if (identical(result$reason, "numerical") && !getOption("bnpvi.breakdowns", FALSE)) {
    stop("numbers broke down in lap ", result$taken_back$lap)
  }
  result
}
package_engine_fit <- replace_in_package("engine_fit", engine_fit, teardown_env())

with_breakdowns <- function(code) withr::with_options(list(bnpvi.breakdowns = TRUE), code)
