#' bnpvi: variational inference for Bayesian nonparametric models
#'
#' All models are fitted in the same way. The arguments are the data, then the observation model (`obs`), the prior of
#' the allocation (`prior`), and how to fit (`control`). Start with [bnp_mixture()]. Arguments that name a choice, such
#' as `type = "prob"`, must be written as in the help pages, in upper and lower case.
#'
#' @section Labels and names:
#' Values of `id`, `labels`, `start`, `document` and `term`, and nodes of networks, are labels, never numbers. Text,
#' factors, whole or other numbers, 64-bit integers, dates, times, durations and the like can be used: different values
#' are different labels, and results are named by their text. The same value is the same label in every call, file and
#' piece of a source; in text files these columns are read as text, so that `01` is not `1`.
#'
#' Arguments such as `weights`, `labels`, `start` or `response` have one value for each row, individual, sequence,
#' document or node. If the values have names and the items do, too, they are matched by name; it is an error if the
#' names differ. Otherwise the order counts; use `unname()` to match by order. The results of [tapply()] and [table()]
#' are vectors with names.
#'
#' @references
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for
#' Dirichlet process mixture models. *Advances in Neural Information Processing Systems* 26.
#'
#' Hughes, M. C. (2016). *Reliable and scalable variational inference for nonparametric
#' mixtures, topics, and sequences*. PhD thesis, Brown University.
#' @seealso [bnp_mixture()], [bnp_topics()], [bnp_hmm()]; `vignette("getting-started")`.
#' @keywords internal
#' @useDynLib bnpvi, .registration = TRUE
#' @importFrom Matrix sparseMatrix
#' @importFrom methods as is
#' @importFrom Rcpp evalCpp
#' @importFrom generics tidy glance augment forecast
#' @importFrom rlang %||% .data
#' @importFrom stats coef fitted predict residuals simulate nobs update logLik
#' @importFrom stats formula terms weights deviance df.residual vcov confint anova extractAIC sigma model.frame
#' @importFrom stats model.matrix family
"_PACKAGE"

#' @export
generics::tidy

#' @export
generics::glance

#' @export
generics::augment

#' @export
generics::forecast

# Marks the attached package so that library() does not report masked functions: segments() and communities()
# mask functions of graphics and igraph, but still do what those functions do.
.onAttach <- function(libname, pkgname) {
  assign(".conflicts.OK", TRUE, envir = as.environment(paste0("package:", pkgname)))
}
