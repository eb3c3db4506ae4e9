# In tests every field of data that is read or set must be declared. `$` takes the beginning of a name for the whole:
# that must not happen either.

strictly <- list(
  "$" = function(x, name) {
    value <- .subset2(x, name)
    if (is.null(value)) {
      check_declared(name)
      if (any(startsWith(names(x), name))) stop("data$", name, " would be another field: ", toString(names(x)))
    }
    value
  },
  "$<-" = function(x, name, value) {
    check_declared(name)
    NextMethod()
  }
)
for (operator in names(strictly)) {
  registerS3method(operator, "bnp_data", strictly[[operator]], envir = asNamespace("bnpvi"))
}
