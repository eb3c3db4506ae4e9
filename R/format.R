# A fit is a plain list that may have been stored by another version of the package, or changed by hand. Its format is
# numbered, and everything that reads a fit asks first.

fit_format <- 2L # 2: classes say what a fit is

fit_elements <- c(
  "call", "model", "control", "state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "labels", "sizes",
  "numbering", "input"
)

check_format <- function(fit, call = rlang::caller_env()) {
  check_stored(fit, if (inherits(fit, "bnp_features")) features_elements else fit_elements, call)
}

# A start may be anything else, and latent features as a start are refused elsewhere, in other words.
check_start_format <- function(start, call) {
  if (inherits(start, "bnp_fit") && !inherits(start, "bnp_features")) check_format(start, call)
}

# elements: what a fit of the family has. What the package made and nobody changed is not looked at any further.
check_stored <- function(fit, elements, call) {
  if (!identical(fit[["format"]], fit_format)) {
    abort("format", c(
      "This fit was stored by another version of the package, and cannot be read by this one.",
      i = "Fit again, or use the version that made it."
    ), call = call)
  }
  lacking <- setdiff(elements, names(fit))
  if (length(lacking)) refuse_damaged(cli::format_inline("It lacks {.field {lacking}}."), call)
  if (is.null(attr(fit, "seal"))) check_shape(fit, call) else check_seal(fit, call)
  invisible(fit)
}

# called: what is damaged, as the subject of a sentence.
refuse_damaged <- function(why, call, called = "This fit is") {
  again <- if (called == "This fit is") "Fit" else "Make it"
  abort("format", c(
    "{called} damaged.", x = "{why}", i = "{again} again, or read it again from where it was stored."
  ), call = call)
}

# The engine calls this where what it was given does not belong together.
refuse_parts <- function(why) {
  abort("format", c(
    "What the engine was given does not belong together.", x = "{why}",
    i = "A fit that was damaged or changed by hand does this: fit again. If there is none, this is an error of the
         package."
  ), call = NULL)
}
