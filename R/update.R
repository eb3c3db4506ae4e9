#' Add data to a fit, or fit again with other arguments
#'
#' With new data as second argument the fit learns from these data in addition to the earlier ones. Otherwise the call
#' of the fit is evaluated anew with other arguments.
#'
#' @param object A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param formula. For a fit that was made by a formula: the new formula, in which `.` stands for the old left or right
#'   side, as in [stats::update()]; `. ~ .` changes nothing. New data may be given in its place, as in `update(fit,
#'   newdata)`.
#' @param ... Arguments to change, such as `prior =` or `control =`; `NULL` removes one. To replace the data, use the
#'   name that they have in the fitting function, `x =` or `data =`. With `newdata`: `weights`, `id`, `time`,
#'   `covariates`, `labels` and `na_action` of the new data, as in the fitting function; `control`, [bnp_control()], by
#'   default that of the fit; and `keep_times` and `discount`, see *Forgetting*.
#' @param newdata More rows, sequences or documents, in any form that [predict()][predict.bnp_mixture()] takes. The
#'   pieces of a source ([source_files()]) are added one after the other. Columns are matched by name. Of a file that
#'   has grown give the new rows alone, or fit to all of it with `start = object`.
#' @param olddata The data that the fit was made from. If they are given, their rows are visited again, and the result
#'   is that of a fit to all data that starts from this one.
#' @param new_terms What to do about terms that the fit does not know: `"error"`, or `"drop"`, to leave them out.
#' @param evaluate `FALSE` returns the call.
#' @return A fit, or its call. With `newdata` a fit of all rows: [fitted()], [nobs()], [cluster_sizes()] and [elbo()]
#'   are those of the earlier rows and of the new ones, which follow them. [elbo_trace()] has the laps of this update.
#'
#' @section New data:
#'   Without `olddata` the responsibilities of the earlier rows no longer change, and only sums over these rows are
#'   needed, which the fit has. The bound is nevertheless exact for all rows, given these responsibilities. Clusters
#'   change with the new rows, and new clusters may be found among them. Moves that would need the earlier rows again
#'   are not tried: earlier rows of one cluster are not divided between two, two clusters that both have earlier rows
#'   are not joined, and no cluster with earlier rows is deleted. The first fit should therefore have enough rows to
#'   tell its clusters apart: two groups that it found as one cluster stay one. If that may have happened, give
#'   `olddata`, now and then or at the end.
#'
#'   The prior is that of the fit, also if it was read from the first data. Learned priors continue to be learned,
#'   except `alpha` of topic models, which does not change.
#'
#'   Clusters keep their identities, see [cluster_ids()], even if their numbers change; [print()] says which clusters
#'   are new. With `olddata` a cluster has the identity of the earlier cluster from which most of its earlier rows come.
#'
#'   For clusters that drift, the paths so far become the prior of later times, and later rows also change the posterior
#'   of earlier positions. New rows must be at times that the fit has seen or after the last of them; if the weights of
#'   clusters differ between times, only after it. [trajectories()] then has all times. The memory grows with each time,
#'   unless `keep_times` is given.
#'
#'   Of mixtures with [prior_covariates()], new rows need their covariates, as columns of `newdata` or by `covariates`.
#'   They are standardised as those of the fit were. A level of a factor must be one that the fit has seen.
#'
#'   Rows are not matched by name: data that are given again count twice. Sequences, documents and individuals are
#'   regarded as new ones; if the fit has seen a name, a message says how the new one is called (`"a.1"`).
#'
#'   A fit with `labels` takes `labels` of the new rows or documents, too. They must be labels that the fit knows;
#'   without this argument no new label is known.
#'
#'   A fit that was learned by `algorithm = "stochastic"` cannot learn from more data. A fit of
#'   [truncation-free learning][bnp_stream()] learns from new data as from another batch.
#' @section Forgetting:
#'   Two arguments are for streams. `keep_times`, for clusters that drift: the number of times, the latest ones of the
#'   fit, that are kept before the new rows are added. Nothing is lost for later times: clusters, labels and the bound
#'   are those of an update that keeps all times, as a filter is exact, and the memory does not grow. Positions of
#'   clusters at the other times are no longer known, and a step size that is learned is learned from the kept times
#'   only.
#'
#'   `discount`, for mixtures with the same weights at all times: a number d above 0 and at most 1, by which the earlier
#'   rows are multiplied, sizes of clusters included. The prior of the new rows is the prior of the fit times (posterior
#'   / prior)^d, so that clusters may move, and clusters without new rows lose their weight. If the variance of a
#'   cluster is known, its mean then follows its rows as a random walk would. From then on the bound is that of the rows
#'   of the last update given the discounted earlier ones, and cannot be compared with that of other fits.
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
  if (is.null(newdata) && !missing(newdata)) need_data(TRUE, "newdata", hint = "Give the rows to be added.")
  if (inherits(newdata, "bnp_source")) {
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
      "This fit was updated with data that are not part of its call.",
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
  # The formula of a mixture without a response has no left side; a left side that is just `.` counts as none.
  if (length(change) == 3L && everything(change[[2L]])) change <- change[-2L]
  call$x <- stats::update.formula(formula(fit), change)
  if (is.null(call$id) && !is.null(fit$input$id)) call$id <- fit$input$id # of y ~ x | id
  call
}
