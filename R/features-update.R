# Updates a fit of latent features: update(fit, newdata) adds rows. The earlier rows need not be available.

# Adds rows to a fit. If `olddata` is not given, the features of the earlier rows stay as they are, and only
# their sums enter the bound.
take_in.bnp_features <- function(fit, newdata, olddata, new_terms, na_action = NULL, control = NULL, ...,
                             error_call = rlang::caller_env()) {
  check_no_dots(..., call = error_call)
  na_action <- action_of_fit(fit, na_action, error_call)
  data <- feature_newdata(fit, newdata, error_call, na_action = na_action, use = "rows")
  if (data$n == 0L) {
    abort("no_rows", c("{.arg newdata} has no rows.", i = "Give at least one observation."), call = error_call)
  }
  if (is.null(control)) {
    control <- fit$control
    control["batches"] <- list(NULL)
    control["checkpoint"] <- list(NULL)
    control$restarts <- 1L
  } else {
    check_options(control, "features_update", fit$model$prior, error_call)
  }
  before <- fit
  known <- cluster_ids(before)
  input <- joined_features_input(fit, data)
  if (is.null(olddata)) {
    control <- resolve_features_control(control, data, before, error_call)
    start <- list(state = before$state, settled = TRUE)
    cells <- before$cells + observed_cells(data)
    out <- run_features(
      fit$call, input, cells, data, before$model, control, start, before$state$group, error_call, "newdata"
    )
    # for each earlier feature, the engine's number before the update
    from <- before$numbering[seq_along(known)]
    now <- match(from, out$ids)
    earlier <- in_columns(before$presence, now, out)
    out$presence <- rbind(earlier, out$presence)
  } else {
    old <- feature_newdata(fit, olddata, error_call, "olddata", na_action, "rows")
    data <- c(old, data)
    control <- resolve_features_control(control, data, before, error_call)
    nu <- unname(as.matrix(latent_features(before, data)$nu))
    out <- run_features(
      fit$call, input, observed_cells(data), data, before$model, control, list(presence = nu), integer(data$d),
      error_call, "newdata"
    )
    now <- match(seq_along(known), out$ids)
  }
  identified_features(out, before, now)
}

# The fit with lasting identities of its features, which updates do not change. now: for each earlier feature
# its present number, NA if the feature is gone.
identified_features <- function(out, before, now) {
  known <- cluster_ids(before)
  history <- cluster_history(before)
  ids <- rep(NA_integer_, out$state$k)
  ids[now[!is.na(now)]] <- known[!is.na(now)]
  born <- is.na(ids)
  ids[born] <- max(history$id, 0L) + seq_len(sum(born))
  out$ids <- as.integer(ids)
  out$history <- next_history(history, out$ids, out$sizes, nobs(out))
  out$updates <- 1L + (before$updates %||% 0L)
  out$changes <- history_changes(history, out$history)
  out
}

# The input of earlier and new rows together. It has no fingerprint of the data, which would need the earlier
# rows.
joined_features_input <- function(fit, data) {
  new <- features_input(data)
  input <- joined_input(fit$input, data)[features_fields]
  gaps <- sum(fit$input$n_missing, new$n_missing)
  input$n_missing <- if (gaps > 0) gaps
  input$fingerprint <- NULL
  input[!vapply(input, is.null, NA)]
}
