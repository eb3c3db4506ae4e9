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
