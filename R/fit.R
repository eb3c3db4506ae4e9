# Steps that all families share: from resolved input to a fit.

# data: internal form; units: number of observations, documents or sequences
# that batches are made of.
fit_model <- function(class, call, data, obs, prior, control, start, n_units, input = list(),
                      error_call = rlang::caller_env()) {
  check_class(control, "bnp_control", "control", "bnp_control", error_call)
  obs <- resolve_obs(obs, data, start, error_call)
  resolved_start <- resolve_start(start, data, obs, prior, error_call)
  resolved <- resolve_control(control, obs, prior, data$n, n_units, resolved_start, error_call)
  model <- list(obs = obs, prior = prior)
  result <- engine_fit(as_engine_data(data), model, resolved, resolved_start, progress_reporter(control))
  result <- number_clusters(result)
  model$obs[names(result$learned)] <- result$learned
  result$learned <- NULL
  input <- c(
    input, obs_entry(obs)$keep(data),
    data[c("n", "d", "row_names", "column_names", "group_names", "starts", "order")]
  )
  structure(
    c(
      list(call = call, model = model, control = resolved),
      result,
      list(input = input[!vapply(input, is.null, NA)])
    ),
    class = c(class, "bnp_fit")
  )
}

# Clusters are numbered by decreasing size. The engine keeps its own order, which
# for sticks is part of the model: `numbering` is its number of each cluster.
number_clusters <- function(result) {
  numbering <- order(-result$sizes)
  result$labels <- match(result$labels, numbering)
  result$sizes <- result$sizes[numbering]
  if (!is.null(result$documents)) result$documents$topic <- match(result$documents$topic, numbering)
  c(result, list(numbering = numbering))
}

# Index along a dimension that has the engine's clusters first and n entries in all.
engine_index <- function(fit, n) c(fit$numbering, seq_len(n)[-seq_len(fit$state$k)])

progress_reporter <- function(control) {
  if (!control$verbose) {
    return(NULL)
  }
  if (!cli::is_dynamic_tty()) {
    return(function(record) {
      message(sprintf("lap %d: %d clusters, ELBO %.6g", record$lap, record$k, record$elbo))
    })
  }
  bar <- cli::cli_progress_bar(
    format = "{cli::pb_spin} Lap {cli::pb_extra$lap}: {cli::pb_extra$k} clusters, ELBO {cli::pb_extra$elbo}",
    extra = list(lap = 0, k = 0, elbo = ""), clear = TRUE, .auto_close = TRUE,
    .envir = parent.frame(), current = FALSE
  )
  function(record) {
    cli::cli_progress_update(
      id = bar, extra = list(lap = record$lap, k = record$k, elbo = format(record$elbo, digits = 7))
    )
  }
}
