#' bnpvi: variational inference for Bayesian nonparametric models
#'
#' Every model is fitted by one grammar: data first, then what is observed
#' (`obs`), what is believed (`prior`), how to fit (`control`). Start with
#' [bnp_mixture()]. Arguments that name a choice, such as `type = "prob"`, are
#' written as the help pages have them: upper and lower case differ.
#'
#' @keywords internal
#' @useDynLib bnpvi, .registration = TRUE
#' @importFrom Matrix sparseMatrix
#' @importFrom methods as is
#' @importFrom Rcpp evalCpp
#' @importFrom generics tidy glance augment
#' @importFrom rlang %||% .data
#' @importFrom stats coef fitted predict residuals simulate nobs update logLik
#' @importFrom stats formula terms weights deviance df.residual vcov confint anova extractAIC sigma model.frame
#' @importFrom stats model.matrix
"_PACKAGE"

#' @export
generics::tidy

#' @export
generics::glance

#' @export
generics::augment

.onAttach <- function(libname, pkgname) {
  packageStartupMessage(
    "bnpvi: segments() takes hidden Markov models too; for all else it is graphics::segments(), as before."
  )
}
