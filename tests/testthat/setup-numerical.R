# A lap whose numbers break down fails the test that ran it, unless the test says with_breakdowns() that it
# wants to see one.

# Puts another function into the package, until the end of the frame or of all tests; returns the old one.
replace_in_package <- function(name, f, until) {
  namespace <- asNamespace("bnpvi")
  old <- namespace[[name]]
  put <- function(f) {
    unlockBinding(name, namespace)
    assign(name, f, namespace)
    lockBinding(name, namespace)
  }
  put(f)
  withr::defer(put(old), until)
  old
}

# Tests see a copy of the package's functions, so it is put both here and there.
engine_fit <- function(...) {
  result <- package_engine_fit(...)
  if (identical(result$reason, "numerical") && !getOption("bnpvi.breakdowns", FALSE)) {
    stop("numbers broke down in lap ", result$taken_back$lap)
  }
  result
}
package_engine_fit <- replace_in_package("engine_fit", engine_fit, teardown_env())

with_breakdowns <- function(code) withr::with_options(list(bnpvi.breakdowns = TRUE), code)
