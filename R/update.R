#' Take in more data, or fit again with something changed
#'
#' With new data as second argument a fit learns from them, too. Otherwise the call of the fit is evaluated anew with
#' other arguments.
#'
#' @param object A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param formula. For a fit by a formula: the new formula, in which `.` stands
#'   for what it was, as in [stats::update()]; `. ~ .` changes nothing. New data may be given in its place, as in
#'   `update(fit, newdata)`.
#' @param ... Arguments to change, as `prior =` or `control =`; `NULL` takes one
#'   out. For other data in place of the earlier ones name them as the fitting function does, `x =` or `data =`.
#'   With `newdata`: `weights`, `id`, `time` and `na_action` of these, as in the fitting function; `control`,
#'   [bnp_control()], by default as the fit was learned; and `keep_times` and `discount`, see *Forgetting*.
#' @param newdata More rows, sequences or documents, in any form that [predict()][predict.bnp_mixture()] takes.
#'   The pieces of a source ([source_files()]) are taken in one after the other. Columns are matched by name.
#' @param olddata The data that the fit was made of. With them their rows are visited again, and the
#'   result is that of a fit to all data that starts from this one.
#' @param new_terms What to do about terms that the fit does not know: `"error"`, or `"drop"` them.
#' @param evaluate `FALSE` returns the call.
#' @return A fit, or its call. With `newdata` a fit of all rows: [fitted()], [nobs()], [cluster_sizes()] and [elbo()]
#'   are those of the earlier rows and of the new ones, which come behind. [elbo_trace()] has the laps of this update.
#'
#' @section New data:
#'   Without `olddata` the earlier rows stay where they are: their responsibilities are not changed any
#'   more, and of the rows only sums are needed, which the fit has. The bound is nevertheless that of all rows, exactly,
#'   given these responsibilities. Clusters move with the new rows, and new ones may be born for
#'   these. But what would take another look at earlier rows is not done: those of one cluster are not divided among
#'   two, two clusters that both have some are not joined, and none that has any is deleted. So the first fit
#'   should have rows enough to tell the clusters apart that there are: two that it took for one remain one. Where
#'   that may be so give `olddata`, now and then or at the end.
#'
#'   The prior is that of the fit, also where it was read from the first data. Priors that are learned are learned on,
#'   except `alpha` of topic models, which stays as it was.
#'
#'   Clusters keep their identities, see [cluster_ids()], whatever their numbers; [print()] says which
#'   ones are new. With `olddata` a cluster has the identity of the one that most of its earlier
#'   rows come from.
#'
#'   Clusters that drift go on to later times: their paths so far become the prior of what comes, and what comes
#'   tells where they were. New rows are at times that the fit knows or after the last of them; where clusters have
#'   weights by time, after it. [trajectories()] then has all times. Each time takes as much memory as the others,
#'   for as long as the fit lasts, unless `keep_times` is given.
#'
#'   Rows have no names here: data that are given again count twice. Sequences and documents are
#'   new ones, and so are individuals; of names that the fit has seen it is said what becomes of them (`"a.1"`).
#'   Labels of new rows are not known. A fit that was learned
#'   by `algorithm = "stochastic"` cannot take in more data. One of [truncation-free learning][bnp_stream()]
#'   learns from them as from another batch.
#' @section Forgetting:
#'   Two arguments are for streams. `keep_times`, of clusters that drift: before the new rows come, of the times of the
#'   fit only so many of the last are kept. What the others say of later times is kept in full, as a filter is exact:
#'   clusters, labels and the bound are those of an update that keeps all, and memory does not grow. But where clusters
#'   were at times that were given up is not known any more, and a step size that is learned is learned from the times
#'   that are kept.
#'
#'   `discount`, of mixtures with the same weights at all times: a number d from 0 to 1; what earlier rows say counts d
#'   times as much as before, sizes of clusters included. The prior of the new rows is the fit's own times the posterior
#'   over the prior to the power d, so that clusters may move, and those that are not seen any more lose their weight.
#'   The mean of a cluster of known variance then follows its rows as a random walk would. From then on the bound is
#'   that of the rows of the last update given what was kept, and not to be compared with that of other fits.
#' @references
#' Ibrahim, J. G. and Chen, M.-H. (2000). Power prior distributions for regression models. *Statistical Science* 15,
#' 46-60.
#'
#' West, M. and Harrison, J. (1997). *Bayesian forecasting and dynamic models*, 2nd edition. Springer; section 6.3,
#' discounting.
#'
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#' @seealso [stats::update()]; [cluster_ids()]; `start` of [bnp_mixture()], [bnp_topics()] and [bnp_hmm()] to go
#'   on from a fit.
#' @examples
#' fit <- bnp_mixture(~ eruptions + waiting, faithful, control = bnp_control(seed = 1))
#' update(fit, . ~ . - waiting)
#' update(fit, prior = prior_dirichlet(3))
#'
#' # Data that keep arriving
#' fit <- bnp_mixture(faithful[1:90, ], control = bnp_control(seed = 1))
#' fit <- update(fit, faithful[91:180, ])
#' fit <- update(fit, faithful[181:272, ])
#' fit
#' cluster_history(fit)
#' @export
update.bnp_fit <- function(object, formula., ..., newdata = NULL, olddata = NULL, new_terms = c("error", "drop"),
                           evaluate = TRUE) {
  check_format(object)
  if (!missing(formula.) && !inherits(formula., "formula")) {
    if (!is.null(newdata)) abort("update", "{.arg formula.} must be a formula, not {describe(formula.)}.")
    newdata <- formula.
  }
  if (is.null(newdata) && !missing(newdata)) need_data(TRUE, "newdata")
  if (inherits(newdata, "bnp_source") && object$control$algorithm != "truncation_free") {
    return(sealed(update_from_source(object, newdata, olddata, new_terms, ...)))
  }
  if (!is.null(newdata) && object$control$algorithm == "truncation_free") {
    if (!is.null(olddata)) abort("update", "A stream is read once: leave {.arg olddata} out.")
    new_terms <- check_choice(new_terms, c("error", "drop"), "new_terms")
    return(sealed(update_of_stream(object, newdata, new_terms, ...)))
  }
  if (!is.null(newdata)) {
    return(sealed(take_in(object, newdata, olddata, new_terms, ...)))
  }
  if (!is.null(olddata)) {
    abort("update", "{.arg olddata} goes with {.arg newdata}: give both.")
  }
  if (!is.null(object$updates)) {
    abort("update", c(
      "This fit was updated with data that its call does not name.",
      i = "Fit anew to all data: {.code {verb_of(object)}(x, start = fit)} goes on from it."
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
