# Checks the shape of a fit that may have been changed by hand: every part that the package uses must exist
# and agree in size with the others. Values that have the right shape but make no sense are not detected.

check_shape <- function(fit, call) {
  wrong <- wrong_parts(which_hold(
    "model" = is.list(fit[["model"]]), "model$prior" = is_described(fit$model$prior),
    "model$obs" = inherits(fit, "bnp_features") || is_obs(fit$model$obs),
    "control" = is.list(fit[["control"]]), "input" = is.list(fit[["input"]]),
    "state" = is.list(fit[["state"]]) || is.null(fit[["state"]]) && identical(fit[["reason"]], "stream")
  ))
  wrong <- wrong %||% wrong_parts(which_hold("class" = identical(
    intersect(class(fit), c(classes_of_kinds, "bnp_fit")), fit_classes(verb_of(fit), fit$model$obs, fit$model$prior)
  )))
  wrong <- wrong %||% wrong_parts(shape_of_all(fit))
  wrong <- wrong %||% wrong_parts(shape_of(fit))
  if (!is.null(wrong)) refuse_damaged(cli::format_inline("It is not as it was made: {.field {wrong}}."), call)
  if (!is.null(fit$state)) try_state(fit, call)
}

try_state.default <- function(fit, call) {
  engine_check_state(fit$model, fit$state)
  wrong <- wrong_parts(which_hold("input" = {
    if (length(fit$numbering)) name_arrays(fit, engine_mean_parameters(fit$model, fit$state))
    TRUE
  }))
  if (!is.null(wrong)) refuse_damaged(cli::format_inline("Its {.field {wrong}} is not that of its clusters."), call)
}

numbers_of_control <- c("k_init", "max_laps", "tol", "wave", "half_life", "sweeps", "k_max")

# The named conditions in `...` as a logical vector: TRUE or FALSE for each. A condition that cannot be
# evaluated counts as FALSE.
which_hold <- function(...) {
  vapply(rlang::enquos(...), function(condition) {
    tryCatch(isTRUE(rlang::eval_tidy(condition)), error = function(e) FALSE)
  }, NA)
}

# The names of the conditions that are not TRUE; NULL if all are.
wrong_parts <- function(holds) if (!all(holds)) names(holds)[!holds]

# Whether x is a list that names its family, as priors and observation models do.
is_described <- function(x) is.list(x) && rlang::is_string(x[["family"]])

is_whole <- function(x, from = 0) {
  is.numeric(x) && length(x) == 1L && is.finite(x) && x >= from && x == round(x) && x <= .Machine$integer.max
}
is_single <- function(x) is.numeric(x) && length(x) == 1L
# Whether x is NULL or has `length` values of this mode. If x is a matrix, `length` is the number of rows (and
# columns).
is_vector_of <- function(x, mode, length) is.null(x) || is.atomic(x) && mode(x) == mode && length(x) %in% length
is_table_of <- function(x, rows, columns = ncol(x)) {
  is.null(x) || (is.matrix(x) && is.numeric(x) || methods::is(x, "Matrix")) && nrow(x) %in% rows && ncol(x) == columns
}
are_offsets <- function(x, end) {
  is.null(x) || is.numeric(x) && length(x) > 0L && !anyNA(x) && x[1L] == 0 && !is.unsorted(x) && x[length(x)] == end
}
is_permutation <- function(x, n) {
  is.numeric(x) && length(x) == n && !anyNA(x) && identical(sort(as.integer(x)), seq_len(n))
}

n_of_fit <- function(fit) fit$input[["n"]] %||% 0
k_of_fit <- function(fit) fit$state[["k"]] %||% 0L

shape_of_all <- function(fit) {
  input <- fit$input
  n <- input[["n"]]
  d <- input[["d"]]
  control <- fit$control
  of_stream <- is.list(fit[["stream"]])
  out <- which_hold(
    "input$n" = is_whole(n) || is.null(n) && of_stream, "input$d" = is_whole(d) || inherits(fit, "bnp_network"),
    "state$k" = is_whole(k_of_fit(fit)),
    "reason" = rlang::is_string(fit$reason, c(names(reasons), if (of_stream) "stream")),
    "elbo" = is_single(fit$elbo), "elbo_terms" = is.numeric(unlist(fit$elbo_terms)) || !length(fit$elbo_terms),
    "trace" = is.null(fit$trace) || is.data.frame(fit$trace) &&
      all(c(if (of_stream) "score" else c("lap", "elbo"), "k") %in% names(fit$trace)),
    "converged" = rlang::is_bool(fit$converged), "laps" = is_whole(fit$laps),
    "control$batches" = is.null(control[["batches"]]) || is_whole(control$batches, 1),
    "control$threads" = is_whole(control[["threads"]], 1), "control$seed" = is_single(control[["seed"]]),
    "control" = all(vapply(control[intersect(numbers_of_control, names(control))], function(x) {
      is.null(x) || is.numeric(x)
    }, NA)),
    "control$restarts" = is.null(control$restarts) || identical(control$restarts, "auto") ||
      is_whole(control$restarts, 1),
    "control$moves" = is.null(control$moves) || setequal(names(control$moves), names(bnp_moves())),
    "covariances" = is.null(fit$covariances) || are_columns(fit$covariances, c("covariance", "elbo", "k")),
    "better" = is.null(fit$better) || are_columns(fit$better, c("column", "model", "gain")),
    "restarts" = is.null(fit$restarts) || are_columns(fit$restarts, c("elbo", "k")),
    "control$algorithm" = rlang::is_string(control[["algorithm"]]),
    "control$init" = is.null(control[["init"]]) || rlang::is_string(control[["init"]]),
    "model$prior" = !is.null(prior_entry(fit$model$prior))
  )
  if (!all(out[1:4])) {
    return(out)
  }
  k <- k_of_fit(fit)
  # TRUE for a fit to a stream that has no clusters yet, while its first batches are read
  begun <- fit$reason == "stream" && !length(fit$sizes) && !length(fit$numbering)
  c(out, which_hold(
    "sizes" = begun || is.numeric(fit$sizes) && length(fit$sizes) == k && all(is.finite(fit$sizes)),
    "numbering" = begun || is_permutation(fit$numbering, k),
    "input$column_names" = is_vector_of(input$column_names, "character", d),
    "input$row_names" = is_vector_of(
      input$row_names, "character", c(n, length(input$left_out$kept), input$n_individuals)
    )
  ))
}

# Checks the shape of mixtures, topic models and sequences. Fits to streams keep no rows. Tables of rows may
# be longer than one call's data while a fit reads more rows.
shape_of.default <- function(fit) {
  input <- fit$input
  n <- n_of_fit(fit)
  k <- k_of_fit(fit)
  groups <- max(0L, length(input$starts) - 1L)
  of_documents <- row_word(fit) == "document"
  all <- unique(c(n, input$n_individuals, if (of_documents) groups))
  state <- fit$state
  labels <- fit$labels
  which_hold(
    "labels" = (is.numeric(labels) || is.logical(labels)) &&
      all(is.na(labels) | labels >= 1 & labels <= k & labels == round(labels)),
    "prob" = is.null(fit$prob) || is.numeric(fit$prob),
    "probabilities" = is_table_of(fit$probabilities, NROW(fit$probabilities), k),
    # The documents' proportions are a table or, while the fit is not complete yet, a list as the engine
    # returns them.
    "documents" = if (is.null(fit$documents)) !of_documents || is.list(fit$stream) else
      (of_documents || has_weights_by_time(fit)) &&
        (is_table_of(fit$documents, NROW(fit$documents), k) ||
          is.list(fit$documents) && all(c("document", "topic", "count") %in% names(fit$documents))),
    "input$starts" = if (is.null(input$starts)) is.null(unit_word(fit)) || is.list(fit$stream) else
      are_offsets(input$starts, n),
    "input$order" = is.null(input$order) || is_permutation(input$order, n),
    "input$group_names" = is_vector_of(input$group_names, "character", groups),
    "input$weights" = is_vector_of(input$weights, "numeric", all),
    "input$individual" = is.null(input$individual) && is.null(input$n_individuals) && is.null(input$individuals) ||
      is_whole(input$n_individuals, 1) && length(input$individual) == n &&
        are_whole(input$individual, 0, input$n_individuals) && is.list(input$individuals),
    "input$classes" = is.null(input$classes) && is.null(input$class_sets) || is.logical(input$class_sets) &&
      is.matrix(input$class_sets) && ncol(input$class_sets) == length(input$class_names) &&
      are_whole(input$classes, 0, nrow(input$class_sets)) && length(input$classes) %in% all,
    "input$class_names" = is.null(input$classes) && is.null(input$class_names) ||
      is_text(input$class_names) && length(input$class_names) > 0L,
    "stream" = if (is.null(fit$stream)) fit$reason != "stream" else
      is.list(fit$stream) && identical(fit$control$algorithm, "truncation_free"),
    "ids" = is.null(fit$ids) || is_permutation(rank(fit$ids), k) && are_whole(fit$ids, 1, Inf),
    "state" = is.null(state) || all(c("obs", "extra", "scalar", "u", "omega") %in% names(state)) &&
      is_table_of(state$obs, k) && is_table_of(state$extra, k)
  )
}

