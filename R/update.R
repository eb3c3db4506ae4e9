#' Fit again with something changed
#'
#' The call of a fit is evaluated anew with other arguments.
#'
#' @param object A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param formula. For a fit by a formula: the new formula, in which `.` stands
#'   for what it was, as in [stats::update()]; `. ~ .` changes nothing.
#' @param ... Arguments to change, as `prior =` or `control =`; `NULL` takes one
#'   out. For other data name them as the fitting function does, `x =` or `data =`.
#' @param evaluate `FALSE` returns the call.
#' @return A fit, or its call.
#' @seealso [stats::update()]; `start` of [bnp_mixture()], [bnp_topics()] and [bnp_hmm()] to go
#'   on from a fit.
#' @examples
#' fit <- bnp_mixture(~ eruptions + waiting, faithful, control = bnp_control(seed = 1))
#' update(fit, . ~ . - waiting)
#' update(fit, prior = prior_dirichlet(3))
#' @export
update.bnp_fit <- function(object, formula., ..., newdata = NULL, olddata = NULL, new_terms = c("error", "drop"),
                           evaluate = TRUE) {
  check_is_fit(object)
  if (!missing(formula.) && !inherits(formula., "formula")) {
    if (!is.null(newdata)) abort("update", "{.arg formula.} must be a formula, not {describe(formula.)}.")
    newdata <- formula.
  }
  if (!is.null(newdata)) {
    return(take_in(object, newdata, olddata, new_terms, ...))
  }
  if (!is.null(olddata)) {
    abort("update", "{.arg olddata} goes with {.arg newdata}: give both.")
  }
  if (!is.null(object$ids)) {
    abort("update", c(
      "This fit has taken in data that its call does not know.",
      i = "Fit anew to all data: {.code {class(object)[1]}(x, start = fit)} goes on from it."
    ))
  }
  call <- object$call
  extras <- match.call(expand.dots = FALSE)$...
  if (!missing(formula.)) call <- with_formula(call, object, formula.)
  if (length(extras) && (is.null(names(extras)) || any(!nzchar(names(extras))))) {
    abort("update", "Arguments of {.fn update} after {.arg formula.} must have names.")
  }
  changed <- as.list(call)
  changed[names(extras)] <- extras
  call <- as.call(changed[!(names(changed) %in% names(extras) & vapply(changed, is.null, NA))])
  if (check_flag(evaluate, "evaluate")) eval(call, parent.frame()) else call
}

with_formula <- function(call, fit, change, error_call = rlang::caller_env()) {
  everything <- function(side) identical(side, quote(.))
  if (is.null(fit$input$terms)) {
    if (!all(vapply(as.list(change)[-1L], everything, NA))) {
      abort("update", c(
        "This fit was not made by a formula, so that {.arg formula.} has nothing to change.",
        i = "Choose the columns: {.code update(fit, x = x[, columns])}."
      ), call = error_call)
    }
    return(call)
  }
  # A mixture has no left side; one that is only `.` is none.
  if (length(change) == 3L && everything(change[[2L]])) change <- change[-2L]
  call$x <- stats::update.formula(formula(fit), change)
  if (is.null(call$id) && !is.null(fit$input$id)) call$id <- fit$input$id # of y ~ x | id
  call
}
