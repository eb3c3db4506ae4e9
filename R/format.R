# A fit is a plain list that may have been stored by another version of the package, or changed by hand. Its format is
# numbered, and everything that reads a fit asks first.

fit_format <- 1L

fit_elements <- c(
  "call", "model", "control", "state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "labels", "sizes",
  "numbering", "input"
)

check_format <- function(fit, call = rlang::caller_env()) {
  if (inherits(fit, "bnp_features")) refuse_features(call)
  if (!identical(fit[["format"]], fit_format)) {
    abort("format", c(
      "This fit was stored by another version of the package, and cannot be read by this one.",
      i = "Fit again, or use the version that made it."
    ), call = call)
  }
  lacking <- setdiff(fit_elements, names(fit))
  if (length(lacking) || is.null(obs_entry(fit$model$obs)) || is.null(prior_entry(fit$model$prior))) {
    abort("format", c(
      "This fit is damaged.",
      x = if (length(lacking)) "It lacks {.field {lacking}}." else "Its model is not known.",
      i = "Fit again, or read it again from where it was stored."
    ), call = call)
  }
  invisible(fit)
}
