# The method update(fit, newdata), with which a fit learns from more data.

# With `olddata`, all rows are visited again. Without it, the cluster probabilities of the earlier rows stay
# as they are, and the bound includes only the statistics of these rows.
take_in.default <- function(fit, newdata, olddata, new_terms, ..., weights = NULL, id = NULL, na_action = NULL,
                            control = NULL, time = NULL, keep_times = NULL, discount = 1, covariates = NULL,
                            labels = NULL, error_call = rlang::caller_env()) {
  check_no_dots(..., call = error_call)
  read_arguments(rlang::enquos(weights = weights, id = id, time = time), newdata, "newdata")
  check_can_take_in(fit, error_call)
  fit <- with_times_kept(with_discount(fit, discount, error_call), keep_times, error_call)
  if (!is.null(olddata)) refuse_forgetting(fit, error_call)
  new_terms <- check_choice(new_terms, c("error", "drop"), "new_terms", error_call)
  data <- data_to_take_in(fit, newdata, id, weights, na_action, new_terms, time, labels, error_call)
  fit$input$class_sets <- data$class_sets
  if (!is.null(covariates)) only_with_covariates(fit, error_call)
  if (has_covariates(fit$model$prior)) {
    met <- with_patterns_taken_in(fit, data, covariates, newdata, error_call)
    fit <- met$fit
    data <- met$data
  }
  obs <- with_gaps(fit$model$obs, data, fit$model$obs)
  input <- input_with(fit, data, obs)
  before <- fit
  fit <- fit_as(fit, obs)
  if (has_drift(obs)) fit <- fit_with_times(fit, data)
  kept <- fit
  if (is.null(olddata)) {
    out <- run_update(fit, data, control, list(state = fit$state, settled = TRUE), error_call)
    out <- with_conditional_bound(with_earlier_rows(out, before), kept, data$n)
  } else {
    old <- olddata_of(before, olddata, error_call)
    start <- list(state = fit$state, documents = counts_of_documents(fit))
    out <- run_update(fit, c(old, data), control, start[lengths(start) > 0L], error_call)
    out <- with_ids_of_rows(out, before)
  }
  out$input <- input
  out$history <- next_history(
    cluster_history(before), out$ids, out$sizes, nobs(out), clusters_of_last(out, data) > 0, out$merged
  )
  out$merged <- NULL
  out$updates <- 1L + (before$updates %||% 0L)
  out$changes <- history_changes(cluster_history(before), out$history)
  out
}

# Refuses to visit earlier rows again if `discount` has reduced their weight, since a visit would count them
# fully.
refuse_forgetting <- function(fit, call) {
  refuse_past(fit, "olddata", call)
  if (isTRUE(fit$discounted)) {
    abort("update", c(
      "{.arg olddata} would count fully again, although {.arg discount} has reduced its weight.",
      i = "Leave {.arg olddata} out, or fit anew to all rows."
    ), call = call)
  }
}

check_can_take_in <- function(fit, call) {
  require_ability(fit, "update_newdata", call)
  if (is.null(fit$state$log_base)) {
    abort("format", c(
      "This fit was stored by an earlier version of the package, which did not keep what {.fn update} needs.",
      i = "Fit again: {.code update(fit, start = fit)} goes on from it."
    ), call = call)
  }
}

# Reads `olddata` in the internal form. For sequences, and documents of rows, the fit knows to which of these
# each row belongs.
olddata_of <- function(fit, olddata, call) {
  input <- fit$input
  id <- NULL
  same <- identical(NROW(olddata), as.integer(input$n))
  if (!is.null(unit_word(fit)) && !is.null(input$group_names) && is.null(input$id_column) && same &&
        !is_of_tokens(fit)) {
    id <- rep(input$group_names, diff(input$starts))
    if (!is.null(input$order)) id[input$order] <- id
    id <- factor(id, input$group_names)
  }
  training_data(fit, olddata, id, call)
}

# The result of learning from these data and this start with the model of `fit`; its field `input` describes
# these data.
run_update <- function(fit, data, control, start, call) {
  groups <- length(data$starts) - 1L
  n_units <- if (is_grouped(fit)) groups else units_that_count(data) - state_lag(fit) * groups
  resolved <- control_of_update(fit, control, data, n_units, call)
  result <- fit_family(
    verb_of(fit), plain_engine(), data, fit$model, resolved, start, call, arg = "newdata", go_on = FALSE
  )
  ids <- if (has_places(fit$model$prior)) seq_len(fit$state$k) else result$origins
  result$origins <- NULL
  made <- new_bnp_fit(verb_of(fit), fit$call, fit$model, resolved, kept_input(data, fit$model$obs), result)
  out <- with_result(made, data)
  out$ids <- ids[out$numbering]
  out
}

# The control of an update: that of the fit, with batches for the new data.
control_of_update <- function(fit, control, data, n_units, call) {
  if (is.null(control)) {
    control <- fit$control
    control[c("batches", "k_init")] <- list(NULL)
    control$restarts <- 1L
    control$keep_data <- FALSE
    control$workers <- FALSE
  } else {
    check_options(control, kind_of_fit(verb_of(fit), fit$model$prior), fit$model$prior, call)
    check_options(control, "update", fit$model$prior, call)
  }
  control["k_init"] <- list(NULL)
  out <- resolve_control(control, fit$model$obs, fit$model$prior, units_that_count(data), n_units, TRUE, call)
  out$k_init <- fit$state$k
  out
}

# Completes the result of an update. The clusters of `out` get the identities of the clusters of `before`,
# from which the engine started, and the new rows are placed after the earlier ones.
with_earlier_rows <- function(out, before) {
  if (has_effects(out$model$obs)) out <- with_earlier_individuals(out, before)
  known <- cluster_ids(before)
  born <- out$ids > length(known)
  ids <- known[pmin(out$ids, length(known))]
  ids[born] <- max(cluster_history(before)$id) + seq_len(sum(born))
  out$ids <- as.integer(ids)
  now <- match(known, out$ids) # the present number of each earlier cluster
  if (!is.null(before$documents)) {
    out$documents <- rbind(in_columns(before$documents, now, out), out$documents)
  }
  if (row_word(out) == "document") {
    return(out)
  }
  out$labels <- c(now[before$labels], out$labels)
  out$prob <- c(before$prob, out$prob)
  for (kept in intersect(c("probabilities", "predictive"), names(out))) {
    earlier <- before[[kept]] %||% matrix(NA_real_, length(before$labels), length(known))
    out[[kept]] <- rbind(as.matrix(in_columns(earlier, now, out)), out[[kept]])
  }
  out
}

# A matrix with a column for each cluster of a fit: column `number[j]` is column j of x, all others are 0.
# Columns of x with number NA belong to clusters without any row, and are dropped.
in_columns <- function(x, number, fit) {
  kept <- which(!is.na(number))
  out <- x %*% sparseMatrix(i = kept, j = number[kept], x = 1, dims = c(ncol(x), fit$state$k))
  dimnames(out) <- list(rownames(x), cluster_labels(fit))
  out
}

# Identities of clusters after an update in which all rows were visited. A cluster keeps the identity of the
# earlier cluster from which most of its earlier rows come, if most rows of the earlier cluster also went to
# it. An earlier cluster whose identity no cluster keeps counts as merged into the cluster to which most of
# its rows went.
with_ids_of_rows <- function(out, before) {
  known <- cluster_ids(before)
  k <- out$state$k
  shared <- shared_rows(out, before)
  went <- max.col(shared, ties.method = "first")
  came <- max.col(t(shared), ties.method = "first")
  carried <- went[came] == seq_len(k) & colSums(shared) > 0
  ids <- ifelse(carried, known[came], NA)
  ids[!carried] <- max(cluster_history(before)$id) + seq_len(sum(!carried))
  out$ids <- as.integer(ids)
  gone <- !known %in% out$ids & rowSums(shared) > 0
  out$merged <- data.frame(id = known[gone], into = out$ids[went[gone]])
  out
}

# Expected counts of each topic in each document, in the engine's numbering, from which another fit can start.
counts_of_documents <- function(fit) {
  if (is.null(fit$documents)) {
    return(NULL)
  }
  counts <- Matrix::summary(fit$documents)
  list(document = counts$i, topic = fit$numbering[counts$j], count = counts$x)
}

shared_rows.default <- function(out, before) {
  rows <- seq_along(before$labels)
  table(factor(before$labels, seq_len(before$state$k)), factor(out$labels[rows], seq_len(out$state$k)))
}

clusters_of_last.default <- function(fit, data) tabulate(utils::tail(fit$labels, data$n), fit$state$k)
