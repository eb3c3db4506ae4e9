#' Segments, transitions and durations
#'
#' @param x0,fit A fit of [bnp_hmm()]. For anything but a fit, `segments()` is
#'   [graphics::segments()], with all of its arguments.
#' @param newdata,id New sequences, as in [predict.bnp_hmm()]; default, the
#'   training data.
#' @param covariates As in [predict.bnp_hmm()].
#' @param at For fits with [prior_covariates()]: a data frame of values of covariates; the result has one transition
#'   matrix for each row of `at`. Covariates that are left out are at their mean or most frequent value. Default: the
#'   average over the training data.
#' @param new Add a column for the probability of a state not seen yet? Without
#'   it, rows are scaled to sum to 1 over the states in use.
#' @param ... Must be empty; for anything but a fit, further arguments of
#'   [graphics::segments()].
#' @return
#' * `segments()`: a data frame with one row per run of a state on the most
#'   probable path: `id` of the sequence, `start` and `end` (rows within the
#'   sequence), `length`, `state`, and `prob`, the mean probability of the
#'   state over the run (`type = "responsibility"` of [predict.bnp_hmm()]); for a `ts` also `start_time` and `end_time`.
#' * `transition_matrix()`: posterior mean probabilities of going from one state (row) to another (column); the
#'   attribute `start` has the probabilities of the first state. For trees with positions an array, with one such matrix
#'   for each position.
#' * `state_durations()`: a named vector, the expected number of rows that a visit of each state lasts, `1 / (1 - p)`
#'   with `p` the probability of staying (for trees with positions, the mean over the nodes of the fit). Its `plot()`
#'   and `autoplot()` show these numbers as points, and as lines the middle 90 % of visits, whose lengths have geometric
#'   distributions.
#' @references
#' Fox, E. B., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). A sticky HDP-HMM with
#' application to speaker diarization. *Annals of Applied Statistics* 5(2A), 1020-1056.
#'
#' Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech
#' recognition. *Proceedings of the IEEE* 77(2), 257-286.
#' @seealso [bnp_hmm()], [predict.bnp_hmm()], [plot.bnp_hmm()];
#'   `vignette("segmenting-sequences")`.
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' segments(fit)
#' transition_matrix(fit)
#' state_durations(fit)
#' plot(state_durations(fit))
#' @export
segments <- function(x0, ...) {
  UseMethod("segments")
}

#' @rdname segments
#' @export
segments.bnp_hmm <- function(x0, newdata = NULL, id = NULL, covariates = NULL, ...) {
  check_no_dots(...)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  fit <- check_able(x0, "segments", "x0")
  if (is.null(newdata)) {
    return(runs_of(fit$labels, fit$prob, fit$input$starts, fit$input$group_names, fit$input$times))
  }
  if (!is.null(covariates)) only_with_covariates(fit, rlang::current_env())
  data <- as_new_sequences(fit, newdata, id, covariates = covariates)
  path <- viterbi_path(fit, data)
  prob <- state_responsibilities(fit, data)[cbind(seq_along(path), path)]
  runs_of(path, prob, data$starts, data$group_names, data$times)
}

runs_of <- function(path, prob, starts, names, times) {
  group <- rep(seq_along(diff(starts)), diff(starts))
  n <- length(path)
  begins <- if (n) which(c(TRUE, path[-1L] != path[-n] | group[-1L] != group[-n])) else integer()
  ends <- c(begins[-1L] - 1L, if (n) n)
  before <- starts[group[begins]]
  out <- data.frame(
    id = (names %||% as.character(seq_along(diff(starts))))[group[begins]],
    start = begins - before, end = ends - before, length = ends - begins + 1L, state = path[begins],
    prob = diff(c(0, cumsum(prob))[c(begins, if (n) n + 1L)]) / (ends - begins + 1L)
  )
  out$prob <- pmin(out$prob, 1)
  if (!is.null(times)) {
    out$start_time <- times[begins]
    out$end_time <- times[ends]
  }
  out
}

#' @rdname segments
#' @export
transition_matrix <- function(fit, new = FALSE, at = NULL) {
  check_able(fit, "transition_matrix")
  check_flag(new, "new")
  if (!is.null(at)) only_with_covariates(fit, rlang::current_env(), "at")
  if (has_covariates(fit$model$prior)) {
    return(transitions_by_covariates(fit, new, at, rlang::current_env()))
  }
  k <- fit$state$k
  p <- engine_mean_transitions(fit$model, fit$state)
  positions <- positions_of(fit)
  of_position <- (seq_len(max(1L, length(positions))) - 1L) * ncol(p)
  p <- p[c(1L, 1L + rep(of_position, each = k) + fit$numbering), engine_index(fit, ncol(p)), drop = FALSE]
  colnames(p) <- c(cluster_labels(fit), if (ncol(p) > k) "new")
  if (!new) {
    p <- p[, seq_len(k), drop = FALSE]
    p <- p / rowSums(p)
  }
  out <- p[-1L, , drop = FALSE]
  if (is.null(positions)) {
    rownames(out) <- cluster_labels(fit)
  } else {
    out <- aperm(array(out, c(k, length(positions), ncol(p))), c(1L, 3L, 2L))
    dimnames(out) <- list(cluster_labels(fit), colnames(p), positions)
  }
  structure(out, start = p[1L, ])
}

#' @rdname segments
#' @export
state_durations <- function(fit) {
  check_able(fit, "state_durations")
  p <- diag(mean_transitions(fit))
  structure(stats::setNames(1 / (1 - p), seq_along(p)), class = c("bnp_durations", "numeric"))
}

#' @export
print.bnp_durations <- function(x, ...) {
  print(unclass(x), ...)
  invisible(x)
}

#' @rdname segments
#' @export
segments.default <- function(x0, ...) graphics::segments(x0, ...)
