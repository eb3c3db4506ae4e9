# Whether a fit is as the package made it.
#
# A file of a fit that was damaged may be read without an error: readRDS() does not compare the checksum at the end of a
# compressed file. So a fit has a seal, the fingerprint of all that is in it, and everything that reads a fit compares
# it. Who changes a fit in R breaks the seal: the fit is then one without, whose shape alone is checked (R/fit-shape.R).
# So do draws, filters, trees and other results (R/object-shape.R).

sealed <- function(fit) {
  attr(fit, "seal") <- seal_of(fit)
  fit
}

# Classes and attributes that a user adds break no seal.
seal_of <- function(fit) {
  family <- intersect(class(fit), c(classes_of_kinds, names(object_shapes)))
  attributes(fit) <- list(names = names(fit))
  engine_value_fingerprint(list(family, fit))
}

without_seal <- function(fit) {
  attr(fit, "seal") <- NULL
  fit
}

check_seal <- function(fit, call, called = "This fit is") {
  seal <- attr(fit, "seal")
  # What was damaged may be no value of R that can be walked through.
  if (!is.null(seal) && !identical(seal, tryCatch(seal_of(fit), error = function(e) NULL))) {
    abort("format", c(
      "{called} damaged: not what the package made.",
      i = "Read it again from where it was stored, or make it again.",
      i = "What was written as text has lost digits: {.code saveRDS(fit, file)} keeps them."
    ), call = call)
  }
}

#' @export
`$<-.bnp_fit` <- function(x, name, value) without_seal(NextMethod())

#' @export
`[[<-.bnp_fit` <- function(x, i, value) without_seal(NextMethod())

#' @export
`[<-.bnp_fit` <- function(x, i, value) without_seal(NextMethod())

#' @export
`$<-.bnp_draws` <- `$<-.bnp_fit`

#' @export
`[[<-.bnp_draws` <- `[[<-.bnp_fit`

#' @export
`[<-.bnp_draws` <- `[<-.bnp_fit`

#' @export
`$<-.bnp_filter` <- `$<-.bnp_fit`

#' @export
`[[<-.bnp_filter` <- `[[<-.bnp_fit`

#' @export
`[<-.bnp_filter` <- `[<-.bnp_fit`

#' @export
`$<-.bnp_dynamic_means` <- `$<-.bnp_fit`

#' @export
`[[<-.bnp_dynamic_means` <- `[[<-.bnp_fit`

#' @export
`[<-.bnp_dynamic_means` <- `[<-.bnp_fit`

#' @export
`$<-.bnp_tree` <- `$<-.bnp_fit`

#' @export
`[[<-.bnp_tree` <- `[[<-.bnp_fit`

#' @export
`[<-.bnp_tree` <- `[<-.bnp_fit`

#' @export
`$<-.bnp_check` <- `$<-.bnp_fit`

#' @export
`[[<-.bnp_check` <- `[[<-.bnp_fit`

#' @export
`[<-.bnp_check` <- `[<-.bnp_fit`
