#' bnpvi: variational inference for Bayesian nonparametric models
#'
#' Every model is fitted by one grammar: data first, then what is observed
#' (`obs`), what is believed (`prior`), how to fit (`control`). Start with
#' [bnp_mixture()]. Arguments that name a choice, such as `type = "prob"`, are
#' written as the help pages have them: upper and lower case differ.
#'
#' @section Labels and names:
#' Values of `id`, `labels`, `start`, `document` and `term`, and nodes of networks, are labels, never numbers: text,
#' factors, whole or other numbers, 64-bit integers, dates, times, durations and their like are told apart exactly, and
#' results are named by their text. The same value is the same label in every call, file and piece of a source; files of
#' text have these columns read as they stand there, so that `01` is not `1`.
#'
#' One value for each row, individual, sequence, document or node, such as `weights`, `labels`, `start` or `response`,
#' goes by its name where both have names; where names are others, that is an error. `unname()` has values go by their
#' order. What [tapply()] and [table()] return is a vector with names.
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

# library() would report that segments() and communities() mask functions of graphics and igraph. This mark on the
# attached package turns the report off, as both still do what those functions do.
.onAttach <- function(libname, pkgname) {
  assign(".conflicts.OK", TRUE, envir = as.environment(paste0("package:", pkgname)))
}
