#' Simulate sequences from a fit
#'
#' Each data set has its transitions and state parameters drawn from the
#' variational posterior, so that its spread includes what the data left open.
#'
#' @param object A fit of [bnp_hmm()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param lengths Lengths of the sequences of each data set; default, those of
#'   the training data. Fits of trees simulate data on the same trees.
#' @param initial For an autoregression: the rows before the first one
#'   simulated, oldest first (lag x columns). Default: the column medians of the training
#'   data. They are the first rows of each sequence. For [obs_lds()]: the first hidden state of each sequence;
#'   default, drawn from its prior.
#' @param total For counts: the total of each row (the trials of [obs_binomial()], one
#'   number or one for each pair of columns); default, the average of the training data. Where several blocks
#'   of an [obs_product()] have totals, one number for all or a list by the names of the blocks.
#' @param exposure For [obs_poisson()] with exposures: one number or one per row; default, the average of the
#'   training data. Where blocks of an [obs_product()] have exposures from several columns, a list or
#'   a data frame of such numbers with the names of the columns.
#' @param covariates For [obs_regression()], also as a block of a product: covariates of the rows of all sequences, in
#' the
#'   form in which the fit got them (further columns are left out), and as often as
#'   needed; default, those of the training data.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the
#'   columns of the training data, `.id`, the sequence, and `.state`, the state
#'   drawn. Attribute `seed` as for [stats::simulate()].
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#' @seealso [bnp_hmm()], [predict.bnp_hmm()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_hmm <- function(object, nsim = 1, seed = NULL, lengths = diff(object$input$starts), initial = NULL,
                             total = NULL, exposure = NULL, covariates = NULL, ...) {
  check_no_dots(...)
  check_format(object)
  nsim <- check_count(nsim, "nsim")
  lag <- if (is_hidden(object)) 1L else state_lag(object)
  if (has_trees(object$input) && !(missing(lengths) && is.null(covariates))) {
    refuse_trees(object, "{.arg lengths} or {.arg covariates} in {.fn simulate}", "Data sets are on the fit's trees.")
  }
  lengths <- vapply(lengths, check_count, 1L, arg = "lengths", lower = state_lag(object) + 1L)
  check_drawn(lengths, object$input$d + 2, "lengths")
  given <- complete_given(object, list(initial = initial, total = total, exposure = exposure, covariates = covariates))
  params <- posterior_arrays(object)
  clusters <- posterior_clusters(object, params)
  simulate_sets(nsim, seed, function() draw_sequences(object, params, clusters, lengths, given, lag))
}

draw_sequences <- function(fit, params, clusters, lengths, given, lag) {
  moves <- draw_moves(fit$state$k, params)
  trees <- has_trees(fit$input)
  path <- if (trees) draw_states(fit$input, moves$start, moves$transition) else
    unlist(lapply(lengths, draw_path, moves$start, moves$transition, lag))
  out <- as.data.frame(draw_rows(fit, clusters, path, lengths, given))
  out$.id <- rep(seq_along(lengths), lengths)
  out$.state <- factor(path, levels = seq_len(fit$state$k))
  if (!trees) {
    return(out)
  }
  out <- out[order(fit$input$left_out$kept), , drop = FALSE]
  rownames(out) <- fit$input$left_out$row_names
  out
}

# Probabilities of first states and of transitions, drawn from the posterior. States not in use have no parameters: rows
# are drawn over the k in use. Those of positions are one matrix below the other.
draw_moves <- function(k, params) {
  draw_row <- function(theta) {
    p <- stats::rgamma(k, theta[seq_len(k)])
    if (sum(p) > 0) p / sum(p) else rep(1 / k, k)
  }
  theta <- params$transition
  rows <- seq_along(dim(theta))[-2L]
  list(start = draw_row(params$start), transition = t(matrix(apply(theta, rows, draw_row), k)))
}

# States of trees in the order of the engine.
draw_states <- function(input, start, transition) {
  k <- length(start)
  back <- input$back
  before <- k * (input$position %||% integer(length(back)))
  state <- integer(length(back))
  for (t in seq_along(back)) {
    state[t] <- sample.int(k, 1L, prob = if (back[t] == 0L) start else transition[before[t] + state[t - back[t]], ])
  }
  state
}

draw_path <- function(n, start, transition, lag) {
  k <- length(start)
  path <- integer(n)
  path[seq_len(min(lag + 1L, n))] <- sample.int(k, 1L, prob = start)
  for (t in seq_len(max(n - lag - 1L, 0L)) + lag + 1L) {
    path[t] <- sample.int(k, 1L, prob = transition[path[t - 1L], ])
  }
  path
}
