#' Fit a hidden Markov model
#'
#' Finds the states that sequences go through and where they change, and, with the default hierarchical Dirichlet
#' process prior, the number of states.
#'
#' @param x Sequences: a list of matrices (or vectors) with the same columns, a
#'   matrix or data frame whose rows follow each other in time, a `ts`, `zoo` or `xts`, or a source ([source_files()]).
#'   Each row is one step, even if the times between rows differ: times only label the results. A formula with `data`
#'   names the columns; one with a response, `y ~ a + b`, is for [obs_regression()], see *Regressions*.
#' @param data A data frame with the variables of the formula, whose rows follow each other in time.
#' @param id The sequence of each row of a matrix or data frame: the name of a column, also without quotes, or one
#'   value for each row, of any class (see [bnpvi]); `y ~ x | id` is short for `y ~ x` with `id = ~ id`. Rows of a
#'   sequence must follow each other. Default: all rows are one sequence; for tracks ([track_steps()]) the column `id`.
#' @param obs The observation model, that is, the distribution of a row given its state:
#'   `r maker_links(verb_makers("bnp_hmm"))`. Default: chosen by the columns, as in [bnp_mixture()]. The first `lag`
#'   rows of each sequence of an autoregression are conditioned on: they have no likelihood of their own, and get the
#'   state of the first row that has one.
#' @param prior [prior_hdp_hmm()] or [prior_hmm()]; [prior_covariates()] for transitions that depend on covariates.
#' @param control [bnp_control()]. Batches are made of whole sequences. With `sparsity = L` each row may be in only `L`
#'   states while the model is fitted; they are chosen anew among all states at every visit of the row. This is faster
#'   when there are many states (some 50 or more). The bound is exact under that constraint and never falls. Paths and
#'   probabilities (`fitted()`, [predict.bnp_hmm()], [segments()]) are those of the fitted model with all states.
#'   Memory: `4 L` bytes per row, and some `30 L` bytes for each row of the sequences that are being visited.
#' @param start A start in place of the default one, in one of these forms: one label for each row (a vector, or a list
#'   with a vector for each sequence); a matrix of responsibilities (rows x states); an earlier fit, to these or other
#'   data, of the same columns in the same order and with the same lag, with at most as many states as a finite prior
#'   has; or a clustering as in [bnp_mixture()].
#' @inheritParams missing_values
#' @inheritSection missing_values Missing values
#' @param weights How often each sequence counts: one number above 0 for each sequence, matched by name, or in the order
#'   of the sequences. Everything that a sequence adds to the objective is multiplied by its weight. See *Weights* of
#'   [bnp_mixture()].
#' @param parent For hidden Markov trees, the parent of each row: its row number in `x`, 0 or `NA` for roots; the name
#'   of a column with these numbers; a graph of the package igraph with edges from parents to children; or a phylogeny
#'   of the package ape. See *Trees*.
#' @param position For trees whose transitions differ between, say, left and right children: the position of each row
#'   among the children of its parent. One label for each row (a number, text, or a level of a factor; the labels of
#'   roots are not used), the name of a column, or `TRUE`, which numbers the children of each parent in the order of the
#'   rows. See *Trees*.
#' @param labels Known states: the class of each row, `NA` where it is not known (a factor, text or numbers, the name of
#'   a column, or a list with a vector for each sequence), or a logical matrix (rows x classes) of the classes that each
#'   row may belong to. See *Known states*.
#' @param sequence_labels Known classes of whole sequences: one label for each sequence, matched by name or in the order
#'   of the sequences, `NA` where the class is not known. See *Known states*.
#' @param open With `sequence_labels`: may sequences with a label also be in states that belong to no class?
#' @param covariates For [prior_covariates()]: a data frame with a row for each row of `x` and the variables of the
#'   formula of the prior, or a list with such a data frame for each sequence. Default: columns of `data`, or of `x`,
#'   which are then not modelled. Covariates must be known in all rows, also in rows where nothing was observed.
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#'
#' @section Known states:
#'   Each class of `labels` owns states; at the start it has one. A row with a label can only be in states of its class:
#'   all other states have probability 0 there, whatever moves change. A row without a label can be in any state. Rows
#'   without a label begin in a state of no class, so that classes which do not occur among the labels are found, too.
#'   If a row of a logical matrix has two or more classes, the row is in one of them. A second fit begins with the
#'   classes learned from their labelled rows, and the better of the two fits is returned. If far fewer rows of a state
#'   have a label than of the other states of its class, the state is regarded as one of no class.
#'
#'   The bound is one on the log probability of data and labels: compare it only between fits with the same labels.
#'   `predict(type = "label")` gives classes, `"label_prob"` their probabilities; [fitted()] and [segments()] keep to
#'   the labels. With given transitions (`transitions` of [prior_hmm()]) every state is known by its number or name:
#'   labels are then numbers or names of states, and a row that no allowed path can reach is an error.
#'
#'   `sequence_labels` are classes of whole sequences. The rows of a sequence with a label are in states of its class
#'   or, with `open`, also in states of no class, which all sequences share. `predict(type = "sequence_label")` gives
#'   the classes of new sequences. The probability of a class depends on the density of the rows over all paths that the
#'   class allows, and on how many of the labelled sequences belong to it.
#'
#' @section Trees:
#'   With `parent` the state of a row depends on the state of its parent instead of that of the row before.
#'   [transition_matrix()] then has the probabilities of a child's state given the state of its parent, the same for
#'   all children. Rows may come in any order; there may be any number of trees, of any shape. Results are in the order
#'   of the rows of `x`.
#'
#'   With `position` there is one such matrix for each position (at most 100). The rows of all matrices have the same
#'   prior, and with [prior_hdp_hmm()] the same top-level weights, so that all positions use the same states. If all
#'   rows have the same position, the fit is the same as without `position`. In new trees only positions that occurred
#'   in the training data are allowed.
#'
#'   If `parent` is a graph or a phylogeny, the rows of `x` are the nodes of the graph, or the tips or all nodes of the
#'   phylogeny. They are matched by name if both have names, else by their order. Nodes without a row are unobserved:
#'   they have a state, but no likelihood. The same holds for rows of `NA` with `na_action = "model"`. Results then have
#'   all nodes, in the order of the graph or phylogeny. Lengths of edges are not used.
#'
#'   A tree is treated as a sequence is: batches consist of whole trees, and `weights` has one number for each tree.
#'   With `id` all trees with the same `id` belong together. The bound is exact: it is computed by messages from the
#'   leaves to the roots and back. Births of new states try subtrees. Memory: `24 K` bytes for each row of the trees
#'   that are being visited, for `K` states. `fitted()` has the jointly most probable states of each tree. Not available
#'   for trees: [obs_ar()], `sparsity`, `na_action = "omit"`, `update(newdata = )`, [bnp_sample()], [segments()],
#'   [residuals()], [impute()], forecasts and expected responses.
#'
#' @section Regressions:
#'   `bnp_hmm(y ~ a + b, data)` fits a regression in each state: states differ in the coefficients and in the noise.
#'   Covariates are known and not modelled: only the response of a row, given its covariates, is evidence of its state.
#'   `predict(type = "response")` gives the expected response of each row given its covariates and the rows before it.
#'   `predict(n.ahead = )` cannot forecast, as it does not have the covariates of later rows: add these rows to
#'   `newdata`, with `NA` as response or without the column of the response, see [predict.bnp_hmm()].
#'
#' @return An object of class `c("bnp_hmm", "bnp_fit")`, with [obs_lds()] of class `c("bnp_lds", "bnp_hmm", "bnp_fit")`:
#'   a plain list that keeps its data only if they are small ([strip_data()]). States are numbered by decreasing size.
#'   `fitted()` is the most probable path. See [segments()], [transition_matrix()], [predict.bnp_hmm()],
#'   [plot.bnp_hmm()], [elbo()].
#' @references
#' Fox, E. B., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). A sticky HDP-HMM with
#' application to speaker diarization. *Annals of Applied Statistics* 5(2A), 1020-1056.
#'
#' Hughes, M. C., Stephenson, W. T. and Sudderth, E. B. (2015). Scalable adaptation of state
#' complexity for nonparametric hidden Markov models. *Advances in Neural Information
#' Processing Systems* 28.
#'
#' Crouse, M. S., Nowak, R. D. and Baraniuk, R. G. (1998). Wavelet-based statistical signal processing using hidden
#' Markov models. *IEEE Transactions on Signal Processing* 46(4), 886-902; trees.
#'
#' Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech
#' recognition. *Proceedings of the IEEE* 77(2), 257-286.
#' @seealso [segments()], [predict.bnp_hmm()], [plot.bnp_hmm()], [read_fit]; [latent_path()] of fits with [obs_lds()];
#'   `vignette("segmenting-sequences")`, `vignette("movement")`; *Coming from depmixS4 and moveHMM* on the site.
#' @examples
#' x <- rbind(cbind(beaver1["temp"], id = 1), cbind(beaver2["temp"], id = 2))
#' fit <- bnp_hmm(x, "id", prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' fit
#' segments(fit)
#' transition_matrix(fit)
#'
#' # A tree with two states, and one node that was not observed
#' parent <- c(0, 1, 1, 2, 2, 3, 3)
#' tree <- bnp_hmm(c(0, 0.1, NA, 0.2, -0.1, 5, 5.2), parent = parent, na_action = "model",
#'   control = bnp_control(seed = 1))
#' fitted(tree)
#' plot(tree)
#'
#' # Transitions that differ for left and right children
#' side <- c(NA, "left", "right", "left", "right", "left", "right")
#' sided <- bnp_hmm(c(0, 0.1, 5.1, 0.2, 5, -0.1, 5.2), parent = parent, position = side,
#'   control = bnp_control(seed = 1))
#' transition_matrix(sided)
#'
#' # A regression in each state: how temperature falls and rises with the hour
#' bnp_hmm(temp ~ time, beaver2, prior = prior_hdp_hmm(sticky = 20), control = bnp_control(seed = 1))
#' @export
bnp_hmm <- function(x, ...) {
  UseMethod("bnp_hmm")
}

#' @rdname bnp_hmm
#' @export
bnp_hmm.default <- function(x, id = NULL, obs = NULL, prior = prior_hdp_hmm(),
                            control = bnp_control(), start = NULL,
                            na_action = c("fail", "model", "omit"), weights = NULL, parent = NULL,
                            position = NULL, labels = NULL, sequence_labels = NULL, open = TRUE, covariates = NULL,
                            ...) {
  check_form(x, "sequences", rlang::current_env())
  if (...length()) control <- control_with(control, ...)
  here <- rlang::current_env()
  read_arguments(rlang::enquos(id = id, weights = weights, labels = labels), x, "x")
  id <- id %||% id_of_track(x)
  na_action <- action_by_model(if (!missing(na_action)) na_action else action_of_track(x, obs), obs)
  class <- if (is.null(labels)) list(x = x) else split_argument(x, labels, "labels", here)
  said <- class["x"]
  if (!is.null(covariates) || inherits(prior, "bnp_prior_covariates")) {
    said <- split_sequence_covariates(class$x, covariates, prior, x, here)
  }
  fit_sequences(
    said$x, id_column(id), obs, prior, control, start, rename_call(match.call(), "bnp_hmm"), na_action, list(),
    weights, with_position(parent, position), list(rows = class$value, sequences = sequence_labels, open = open),
    said$covariates
  )
}

#' @rdname bnp_hmm
#' @export
bnp_hmm.formula <- function(x, data = NULL, id = NULL, obs = NULL, prior = prior_hdp_hmm(),
                            control = bnp_control(), start = NULL,
                            na_action = c("fail", "model", "omit"), weights = NULL, parent = NULL,
                            position = NULL, labels = NULL, sequence_labels = NULL, open = TRUE, covariates = NULL,
                            ...) {
  if (...length()) control <- control_with(control, ...)
  here <- rlang::current_env()
  x <- stats::formula(x) # formula() takes terms, too
  read_arguments(rlang::enquos(id = id, weights = weights, labels = labels), data)
  na_action <- action_by_model(if (!missing(na_action)) na_action, obs)
  call <- rename_call(match.call(), "bnp_hmm")
  if (inherits(data, "bnp_source")) {
    given <- list(
      weights = weights, parent = parent, position = position, labels = labels, sequence_labels = sequence_labels
    )
    require_abilities(kinds_of_form("source", "sequences"), given, here)
    return(fit_source("bnp_hmm", data, obs, prior, control, start, na_action, call, id, x))
  }
  split <- split_formula_id(x, data, id, here)
  class <- split_formula_argument(split$formula, split$data, labels, "labels", here)
  read <- formula_input(split$formula, class$x, obs, "bnp_hmm")
  said <- NULL
  if (!is.null(covariates) || inherits(prior, "bnp_prior_covariates")) {
    said <- sequence_covariates_of_formula(covariates, data, prior, here)
  }
  fit_sequences(
    read$x, split$id, read$obs, prior, control, start, call, na_action, c(read$input, list(id_column = split$name)),
    weights, with_position(parent, position), list(rows = class$value, sequences = sequence_labels, open = open), said
  )
}

# The action on missing values if the user did not choose one: models whose rows are seen through noise
# (hidden rows) accept them.
action_by_model <- function(na_action, obs, call = rlang::caller_env()) {
  if (is.null(na_action)) {
    hidden <- inherits(obs, "bnp_obs") && isTRUE(obs_facts(obs)$hidden)
    return(if (hidden) "model" else "fail")
  }
  check_na_action(na_action, call)
}

# Fits sequences. id: a value for each row, or the name of a column of x, which then is not modelled. input:
# what the fit is to keep about its input. labels: as in with_state_labels(); covariates: the result of
# split_covariates().
fit_sequences <- function(x, id, obs, prior, control, start, call, na_action, input, weights, parent = NULL,
                          labels = list(), covariates = NULL, error_call = rlang::caller_env()) {
  prior <- for_sequences(prior)
  given <- taken_apart(parent)
  obs <- obs %||%
    default_obs(columns_beside(columns_beside(columns_beside(x, id), given$parent), given$position), error_call)
  check_obs(obs, "bnp_hmm", error_call)
  check_prior(prior, "bnp_hmm", error_call)
  if (!is.null(prior$cell_fixed)) require_ability(kinds_to_fit("bnp_hmm", obs), "transitions", error_call)
  check_class(control, "bnp_control", "control", "bnp_control", error_call)
  if (!is.null(parent)) {
    require_ability(kinds_to_fit("bnp_hmm", obs, prior), "parent", error_call)
    if (is.character(given$parent) && length(given$parent) == 1L) input$parent_column <- given$parent
    if (is.character(given$position) && length(given$position) == 1L) input$position_column <- given$position
  }
  given <- list(labels = labels$rows, sequence_labels = labels$sequences)
  require_abilities(c(if (!is.null(parent)) "trees", kinds_to_fit("bnp_hmm", obs, prior)), given, error_call)
  data <- as_sequence_data(x, obs, id, call = error_call, na_action = na_action, parent = parent)
  data <- with_state_labels(data, labels, obs, prior, error_call)
  prior <- prior_by_position(prior, data)
  data$weights <- unit_weights(weights, data, if (has_trees(data)) "tree" else "sequence", error_call)
  if (!is.null(covariates)) {
    of <- c(if (!is.null(parent)) "trees", if (obs_facts(obs)$hidden) "hidden", "sequences")
    require_no_covariates(prior, of, error_call)
    counted <- with_sequence_covariates(data, prior, covariates, error_call)
    data <- counted$data
    prior <- counted$prior
    input$covariates <- covariates$said
  }
  input$times <- data$times
  if (is.character(id) && length(id) == 1L) input$id_column <- id
  if (obs_facts(obs)$hidden) {
    return(fit_hidden(call, data, obs, prior, control, start, input, error_call))
  }
  fit <- fit_model("bnp_hmm", call, data, obs, prior, control, start, length(data$starts) - 1L, input, error_call)
  warn_of_ties(fit, data)
  fit
}

# The columns of the data without the column that names the sequences. For a list of sequences, the rows of
# all of them one after the other.
columns_beside <- function(x, id) {
  if (is.list(x) && !is.data.frame(x)) {
    alike <- length(x) && all(vapply(x, function(one) is.data.frame(one) && identical(names(one), names(x[[1L]])), NA))
    return(if (alike) do.call(rbind, unname(lapply(x, plain_columns))) else if (length(x)) x[[1L]])
  }
  if (is.data.frame(x) && is.character(id) && length(id) == 1L) x[!names(x) %in% id] else x
}

unit_word.bnp_hmm <- function(fit) "sequence"

state_lag <- function(fit) obs_lag(fit$model$obs)

# Values by row, in which the first `lag` rows of each sequence (without a state of their own) get the value
# of the row after them.
carry_back <- function(values, starts, lag) {
  if (lag == 0L || NROW(values) == 0L) {
    return(values)
  }
  first <- rep(starts[-length(starts)] + lag + 1L, each = lag)
  at <- first - seq_len(lag)
  if (is.matrix(values)) {
    values[at, ] <- values[first, , drop = FALSE]
  } else {
    values[at] <- values[first]
  }
  values
}

viterbi_path.bnp_hmm <- function(fit, data) {
  if (data$n == 0L) {
    return(integer())
  }
  if (has_missing(data)) fit <- fit_with_gaps(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  path <- match(engine_viterbi(as_engine_data(data), fit$model, fit$state, fit$control$threads), fit$numbering)
  lag <- obs_lag(fit$model$obs)
  if (lag > 0L) carry_back(path, data$starts, lag) else path
}

kept_of_data.bnp_hmm <- function(fit, data) {
  path_of <- function(part) {
    fit$labels <- viterbi_path(fit, part)
    list(labels = fit$labels, prob = path_probabilities(fit, part))
  }
  if (!is_spooled(data)) {
    return(path_of(data))
  }
  out <- list(labels = integer(data$n), prob = double(data$n))
  for_batches(data, function(part, rows) {
    own <- path_of(part)
    out$labels[rows] <<- own$labels
    out$prob[rows] <<- own$prob
  })
  out
}

# Probabilities of the states on the most probable path, computed in parts, so that all rows times all states
# need not be in memory at once.
path_probabilities.bnp_hmm <- function(fit, data, most = 5e6) {
  parts <- sequence_parts(diff(data$starts), fit$state$k, most)
  unlist(lapply(parts, function(groups) {
    rows <- (data$starts[groups[1]] + 1L):data$starts[groups[length(groups)] + 1L]
    prob <- state_responsibilities(fit, data_groups(data, groups))
    prob[cbind(seq_along(rows), fit$labels[rows])]
  }), use.names = FALSE)
}

# Divides sequences of these lengths into parts: each part has at most `most` rows times k states, or is one
# sequence.
sequence_parts <- function(lengths, k, most) {
  split(seq_along(lengths), (cumsum(as.double(lengths)) * k) %/% most)
}

#' @rdname read_fit
#' @export
fitted.bnp_hmm <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  for_all_rows(object$input, stats::setNames(as.integer(object$labels), object$input$row_names))
}

# Probabilities of states given all rows of the sequence or tree.
predictive_states.bnp_hmm <- function(fit, data) {
  fit <- fit_for_any_row(fit, data)
  if (!is.null(data$patterns)) fit <- fit_at_patterns(fit, data)
  prob <- engine_smoothed_states(as_engine_data(data), fit$model, fit$state, fit$control$threads)
  prob[, fit$numbering, drop = FALSE]
}
