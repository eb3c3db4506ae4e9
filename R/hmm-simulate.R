#' Simulate sequences from a fit
#'
#' Each data set has its transitions and state parameters drawn from the variational posterior, so that the spread of
#' the data sets includes the uncertainty about these.
#'
#' @param object A fit of [bnp_hmm()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param lengths Lengths of the sequences of each data set; default, those of
#'   the training data. Fits of trees simulate data on the same trees.
#' @param initial For an autoregression: the first rows of each sequence, which precede the first simulated one, oldest
#'   first (lag x columns). Default: the column medians of the training data. For [obs_lds()]: the first hidden state of
#'   each sequence; default, drawn from its prior.
#' @param total For counts: the total of each row (the trials of [obs_binomial()], one number or one for each pair of
#'   columns); default, the average of the training data. If several blocks of an [obs_product()] have totals, one
#'   number for all or a list by the names of the blocks.
#' @param exposure For [obs_poisson()] with exposures: one number or one per row; default, the average of the training
#'   data. If blocks of an [obs_product()] have exposures from several columns, a list or a data frame of such numbers
#'   with the names of the columns.
#' @param covariates For fits with [prior_covariates()]: a data frame of the covariates of the rows of all sequences,
#'   which are repeated as often as needed; default: those of the training data. For [obs_regression()], also as a block
#'   of a product: covariates of the rows of all sequences, in the form in which they were given to the fit (further
#'   columns are ignored), also repeated as often as needed; default: those of the training data.
#' @param new Draw rows also from a state that is not seen yet, if the prior allows more states, as densities do? Its
#'   parameters are drawn from the prior for each data set, so that such rows may be far from all others; their `.state`
#'   is `new`. `FALSE`: draw only from the states of the fit. Default: `TRUE`, except `FALSE` for [obs_ar()], since most
#'   dynamics that its prior allows grow without bound. Fits with [obs_lds()] have no such state.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the
#'   columns of the training data, `.id`, the sequence, and `.state`, the state
#'   drawn (`new`: one not seen yet). Attribute `seed` as for [stats::simulate()].
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#' @seealso [bnp_hmm()], [predict.bnp_hmm()].
#' @examples
#' fit <- bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_hmm <- function(object, nsim = 1, seed = NULL, lengths = diff(object$input$starts), initial = NULL,
                             total = NULL, exposure = NULL, covariates = NULL, ..., new = NULL) {
  check_no_dots(...)
  check_format(object)
  require_ability(object, "simulate")
  nsim <- check_count(nsim, "nsim")
  if (has_trees(object$input) && !(missing(lengths) && is.null(covariates))) {
    require_ability(object, "simulated_lengths")
  }
  lengths <- vapply(lengths, check_count, 1L, arg = "lengths", lower = state_lag(object) + 1L)
  check_drawn(lengths, object$input$d + 2, "lengths")
  at <- simulated_patterns(object, covariates, sum(lengths), rlang::current_env())
  if (!is.null(at) && is.null(object$model$obs$responses)) covariates <- NULL
  given <- complete_given(object, list(initial = initial, total = total, exposure = exposure, covariates = covariates))
  params <- posterior_arrays(object)
  clusters <- clusters_to_draw(object, params, check_flag(new %||% (state_lag(object) == 0L), "new"))
  lag <- rows_without_state(object)
  simulate_sets(nsim, seed, function() draw_sequences(object, params, clusters, lengths, given, lag, at))
}

rows_without_state.bnp_hmm <- function(fit) state_lag(fit)

clusters_to_draw.bnp_hmm <- function(fit, params, new) {
  if (new && is.null(fit$model$prior$k)) clusters_with_new(fit, params) else posterior_clusters(fit, params)
}

# Draws rows of new sequences or trees. at: the result of simulated_patterns(), the covariate patterns of the
# rows.
draw_sequences <- function(fit, params, clusters, lengths, given, lag, at = NULL) {
  new <- length(clusters) > fit$state$k
  moves <- draw_moves(fit$state$k, params, if (new) unseen_row(fit), fixed_cells(fit$model$prior))
  trees <- has_trees(fit$input)
  path <- if (trees) draw_states(fit$input, moves$start, moves$transition) else if (!is.null(at))
    draw_paths_by_covariates(fit, lengths, moves, at, new, lag) else
    unlist(lapply(lengths, draw_path, moves$start, moves$transition, lag))
  out <- as.data.frame(draw_rows(fit, clusters, path, lengths, given))
  out$.id <- rep(seq_along(lengths), lengths)
  out$.state <- drawn_classes(fit, path, new)
  if (!trees) {
    return(out)
  }
  out <- out[order(fit$input$left_out$kept), , drop = FALSE]
  rownames(out) <- fit$input$left_out$row_names
  out
}

# Draws the probabilities of first states and of transitions from their posterior, given that only the k
# states of the fit occur or, with unseen_row(), with one more state that stands for all others. With
# positions of children in trees, the matrices of the positions are below each other. fixed: the result of
# fixed_cells(), the transitions that are known.
draw_moves <- function(k, params, unseen = NULL, fixed = NULL) {
  outcomes <- k + !is.null(unseen)
  draw_free <- function(theta) {
    p <- stats::rgamma(outcomes, theta)
    if (sum(p) > 0) p / sum(p) else (theta > 0) / max(1, sum(theta > 0))
  }
  draw_row <- function(theta, known = 0) known + (1 - sum(known)) * draw_free(theta[seq_len(outcomes)])
  start <- draw_row(params$start)
  theta <- params$transition
  theta <- array(theta, c(dim(theta), 1L)[1:3])
  by_position <- lapply(seq_len(dim(theta)[3L]), function(p) {
    rows <- rbind(matrix(theta[, , p], k), unseen)
    drawn <- vapply(seq_len(nrow(rows)), function(j) draw_row(rows[j, ], fixed[j + 1L, ] %||% 0), numeric(outcomes))
    t(matrix(drawn, outcomes))
  })
  list(start = start, transition = do.call(rbind, by_position))
}

# The Dirichlet parameters of the transitions from a state that is not seen yet, computed from their mean
# under the fit.
unseen_row <- function(fit) {
  moves <- engine_mean_transitions(fit$model, fit$state)
  prior <- fit$model$prior
  mean <- moves[fit$state$k + 2L, engine_index(fit, ncol(moves))]
  mean * (plugged_in(prior$alpha) + plugged_in(prior$sticky))
}

# Draws the states of the nodes of trees; rows are in the engine's order.
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

# Draws paths of states of sequences whose transitions depend on covariates. moves: the result of
# draw_moves(), of which only the first states and the row of a state that is not seen yet are used.
draw_paths_by_covariates <- function(fit, lengths, moves, at, new, lag) {
  k <- fit$state$k
  rows <- tilted_rows(fit)
  p <- drawn_transitions(fit, at$patterns, rows, roots_of_effects(rows))
  if (!new) p <- known_transitions(p)
  ends <- cumsum(lengths)
  unlist(Map(function(n, end) {
    path <- integer(n)
    path[seq_len(min(lag + 1L, n))] <- sample.int(k + new, 1L, prob = moves$start)
    for (t in seq_len(max(n - lag - 1L, 0L)) + lag + 1L) {
      before <- path[t - 1L]
      prob <- if (before > k) moves$transition[before, ] else p[at$position[end - n + t] + 1L, before, ]
      path[t] <- sample.int(k + new, 1L, prob = prob)
    }
    path
  }, lengths, ends))
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

# The states of rows given all rows of their sequence. Paths are drawn by forward filtering and backward
# sampling.
clusters_given.bnp_hmm <- function(fit, data, new = TRUE) {
  prob <- state_probabilities(fit, data)
  fit <- fit_with_gaps(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  filtered <- engine_filter_states(
    as_engine_data(data), fit$model, fit$state, NULL, FALSE, fit$control$threads, !new
  )$filtered
  order <- engine_index(fit, ncol(filtered))
  filtered <- filtered[, order, drop = FALSE]
  moves <- engine_mean_transitions(fit$model, fit$state)
  # number of matrices of transitions, one for each covariate pattern
  all <- (nrow(moves) - 1L) %/% (ncol(moves))
  transition <- lapply(seq_len(all) - 1L, function(c) moves[1L + c * ncol(moves) + order, order, drop = FALSE])
  pattern <- if (all > 1L) data$position + 1L else rep(1L, data$n)
  lag <- state_lag(fit)
  modelled <- which(sequence(diff(data$starts)) > lag)
  last <- seq_len(data$n) %in% data$starts
  list(prob = prob, draw = function() {
    path <- integer(data$n)
    for (t in rev(modelled)) {
      path[t] <- draw_each(t(filtered[t, ] * if (last[t]) 1 else transition[[pattern[t + 1L]]][, path[t + 1L]]))
    }
    carry_back(path, data$starts, lag)
  })
}

labels_from_fit.bnp_hmm <- function(fit, data, model, numbers, seed) {
  fit <- fit_with_gaps(fit, data)
  engine_draw_paths(as_engine_data(data), fit$model, fit$state, as.double(numbers), seed, fit$control$threads)
}
