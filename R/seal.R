# Whether a fit can be read: whether it was made by this version of the package, and has not changed since.
#
# A fit is a plain list that may have been stored by another version, or changed by hand. Its format is
# numbered, and every function that reads a fit first checks the number.
#
# A damaged file of a fit may be read without an error, since readRDS() does not compare the checksum at the
# end of a compressed file. So a fit has a seal, the fingerprint of its whole content, which every function
# that reads a fit compares. A change of a fit in R removes the seal; of a fit without a seal only the shape
# is checked (R/fit-shape.R). Draws, filters, trees and other results have seals as well (R/object-shape.R).

fit_format <- 2L

fit_elements <- c(
  "call", "model", "control", "state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "labels", "sizes",
  "numbering", "input"
)

# Checks that a fit has the format of this version of the package, and is unchanged. Fits with a valid seal
# pass without further checks.
check_format <- function(fit, call = rlang::caller_env()) {
  if (!identical(fit[["format"]], fit_format)) {
    abort("format", c(
      "This fit was stored by another version of the package, and cannot be read by this one.",
      i = "Fit again, or use the version that made it."
    ), call = call)
  }
  elements <- if (inherits(fit, "bnp_features")) features_elements else fit_elements
  lacking <- setdiff(elements, names(fit))
  if (length(lacking)) refuse_damaged(cli::format_inline("It lacks {.field {lacking}}."), call)
  if (is.null(attr(fit, "seal"))) check_shape(fit, call) else check_seal(fit, call)
  invisible(fit)
}

# Checks the format of a start that is a fit; other starts pass. Fits of latent features as a start are
# refused elsewhere, with another message.
check_start_format <- function(start, call) {
  if (inherits(start, "bnp_fit") && !inherits(start, "bnp_features")) check_format(start, call)
}

# Refuses a damaged object. called: what is damaged, as the subject of a sentence; why: what was found.
refuse_damaged <- function(why, call, called = "This fit is") {
  again <- if (called == "This fit is") "Fit" else "Make it"
  abort("format", c(
    "{called} damaged.", x = "{why}", i = "{again} again, or read it again from where it was stored."
  ), call = call)
}

# The error that the engine raises where the parts of a fit that it was given do not fit together.
refuse_parts <- function(why) {
  abort("format", c(
    "The parts of this fit do not fit together.", x = "{why}",
    i = "A fit that was damaged or changed by hand does this: fit again. If there is none, this is an error of the
         package."
  ), call = NULL)
}

sealed <- function(fit) {
  attr(fit, "seal") <- seal_of(fit)
  fit
}

# The fingerprint of a fit's content. Classes and attributes that a user adds are not part of it, so that they
# do not break the seal.
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
  # If the fingerprint cannot be computed, the object is treated as damaged: it may contain something that is
  # not a valid R value.
  if (!is.null(seal) && !identical(seal, tryCatch(seal_of(fit), error = function(e) NULL))) {
    abort("format", c(
      "{called} damaged: it is not as the package made it.",
      i = "Read it again from where it was stored, or make it again.",
      i = "A fit written as text loses digits; {.code saveRDS(fit, file)} keeps them."
    ), call = call)
  }
}

#' @export
`$<-.bnp_fit` <- function(x, name, value) without_seal(NextMethod())

#' @export
`[[<-.bnp_fit` <- function(x, i, value) without_seal(NextMethod())

#' @export
`[<-.bnp_fit` <- function(x, i, value) without_seal(NextMethod())

# Makes methods with which an assignment to a part of other results (draws, filters and others) removes their
# seal, as for fits.
unsealing_methods <- function() {
  for (class in c("bnp_draws", "bnp_filter", "bnp_dynamic_means", "bnp_tree", "bnp_check")) {
    for (assign in c("$<-", "[[<-", "[<-")) {
      registerS3method(assign, class, paste0(assign, ".bnp_fit"), topenv())
    }
  }
}
