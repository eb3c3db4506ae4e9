# Truncation-free learning from batches of rows, each once or in several passes. fit$stream holds the engine's
# state between two batches, so that a fit that was stored and read again continues in exactly the same way.

no_clusters_yet <- function(prior) {
  list(
    t = numeric(), id = numeric(), born_at = numeric(), last_seen = numeric(), lasting = logical(), next_id = 1,
    batches = 0, seen = 0, untended = 0, concentration = starting_concentration(prior)[[1L]], recent = numeric()
  )
}

nothing_yet <- function(class, prior) if (class == "bnp_topics") no_topics_yet(prior) else no_clusters_yet(prior)

# Starts a stream from a fit by another algorithm: its clusters keep their full weight, and its observations
# count as rows seen.
stream_of_fit.default <- function(fit) {
  used <- which(fit$state$obs[, 1L] > 0)
  used <- used[order(-fit$state$obs[used, 1L])]
  ids <- as.double(cluster_ids(fit)[match(used, fit$numbering)])
  seen <- as.double(nobs(fit))
  learned <- learned_concentrations(fit)$concentration
  utils::modifyList(no_clusters_yet(fit$model$prior), list(
    t = as.vector(t(fit$state$obs[used, , drop = FALSE])), id = ids, born_at = rep(seen, length(ids)),
    last_seen = rep(seen, length(ids)), lasting = rep(TRUE, length(ids)),
    next_id = max(cluster_history(fit)$id, 0) + 1, seen = seen,
    concentration = if (is.null(learned)) starting_concentration(fit$model$prior)[[1L]] else learned[["mean"]]
  ))
}

# Fits data in memory by truncation-free learning: several passes over batches made at random.
fit_truncation_free <- function(class, call, data, obs, prior, control, start, input, error_call) {
  check_options(control, "truncation_free", prior, error_call)
  fit <- begin_truncation_free(class, call, data, obs, prior, control, start, input, error_call)
  topics <- class == "bnp_topics"
  n_units <- if (topics) length(data$starts) - 1L else data$n - obs_lag(obs) * (length(data$starts) - 1L)
  batches <- control$batches %||% max(1L, as.integer(ceiling(n_units / if (topics) 100 else 1000)))
  fit$control$batches <- resolve_batches(
    utils::modifyList(control, list(batches = batches)), max(n_units, 1L), error_call,
    if (topics) "documents" else "observations"
  )
  progress <- progress_reporter(control, verb_of(fit), batch_teller)
  on.exit(progress$finish())
  learned <- learn_batch(fit, data, progress, all_rows = TRUE, call = error_call)
  fit <- with_batches(learned$fit, learned)
  fit$input$n <- data$n
  fit$input <- kept_input(data, obs, fit$input)
  if (topics) {
    fit$documents <- Matrix::Matrix(document_counts(fit, data), sparse = TRUE)
    return(sealed(fit))
  }
  fit$labels <- of_rows(data, carry_back(learned$labels, data$starts, obs_lag(obs)))
  sealed(fit)
}

# A fit that has not learned from any row yet. data: the first rows, from which defaults of priors are read.
begin_truncation_free <- function(class, call, data, obs, prior, control, start, input, error_call) {
  refuse_for_streams(data, class, obs, error_call)
  if (!is.null(start) && !inherits(start, class)) {
    word <- cluster_words[[class]]
    abort("start", c(
      "Truncation-free learning starts with no {word}, or from a fit of {.fn {class}}, not {describe(start)}.",
      i = "Fit with {.arg start} first, and give that fit."
    ), call = error_call)
  }
  given <- obs
  obs <- if (is.null(start)) resolve_obs(obs, data, NULL, error_call) else
    with_held_prior(without_rounding(start$model$obs))
  obs <- with_gaps(obs, data)
  check_against_data(given, obs, error_call)
  learned <- obs_learned(obs)$by
  if (length(learned) && is.null(start)) {
    abort("argument", c(
      "{.code {learned}} needs the summary of the whole data, which truncation-free learning does not keep.",
      i = "Give a fixed prior in {.fn {obs_facts(obs)$constructor}}, or choose {.code algorithm = \"memoized\"}."
    ), call = error_call)
  }
  if (!is.null(start)) {
    start_from_fit(start, data, obs, prior, error_call)
    refuse_expected_rows(start, error_call)
    start <- stream_as(start, obs)
  }
  prior <- without_learned_values(prior)
  control$seed <- control$seed %||% draw_seed()
  control$k_max <- min(control$k_max, prior$k)
  new_bnp_fit(
    class, call, list(obs = obs, prior = prior, bound = bound_of(control)), control,
    learned = list(
      state = NULL, elbo = NA_real_, elbo_terms = numeric(), trace = NULL, converged = FALSE,
      reason = "stream", laps = 0L, labels = integer(), sizes = numeric(), numbering = integer(),
      history = if (!is.null(start)) cluster_history(start),
      stream = if (is.null(start)) nothing_yet(class, prior) else start$stream %||% stream_of_fit(start)
    ),
    input = c(
      input, Filter(Negate(is.null), unclass(data)[c("d", "column_names", "na_action")]),
      list(n = if (!is.null(start)) nobs(start))
    )
  )
}

refuse_for_streams <- function(data, class, obs, call) {
  require_ability(kinds_to_fit(class, obs), "stream", call)
  given <- list(
    weights = data$weights, labels = data$classes, id = data$individual, response = data$response,
    rounding = if (is_rounded(obs)) TRUE, auto_covariance = if (is_choice(obs)) TRUE
  )
  by_batches <- c(if (class == "bnp_mixture") "rows_one_by_one", "truncation_free")
  require_abilities(c(by_batches, kinds_to_fit(class, obs)), given, call)
  expects <- blocks_that_expect(data, obs)
  if (length(expects)) {
    abort("gaps", c(
      "Rows that lack values of columns which depend on each other within a cluster ({.fn {expects[1L]}}) cannot be
       learned from one at a time: what is expected of a missing value depends on the cluster.",
      i = "Choose {.code na_action = \"omit\"}, or columns that are independent given the cluster, as
           with {.code covariance = \"diagonal\"}."
    ), call = call)
  }
}

# Refuses a start whose missing cells were filled with expectations that depend on the cluster of the row.
# Sums of such expectations cannot be the start of learning from one row at a time.
refuse_expected_rows <- function(start, call) {
  of_blocks <- start$model$obs$blocks %||% list(start$model$obs)
  expects <- Filter(function(block) isTRUE(block$gaps) && obs_can(block, "conditional"), of_blocks)
  if (length(expects)) {
    abort("gaps", c(
      "{.arg start} is a fit to rows that lack values of columns which depend on each other within a cluster
       ({.fn {obs_facts(expects[[1L]])$constructor}}), from which learning one row at a time cannot start.",
      i = "Fit {.arg start} with {.code na_action = \"omit\"}, or with columns that are independent given the
           cluster, as with {.code covariance = \"diagonal\"}."
    ), call = call)
  }
}

# The fit with its model and clusters in the form that allows missing values, if the model `obs` has this
# form. For fits to streams and for others.
stream_as <- function(fit, obs) {
  before <- fit$model$obs
  fit <- if (is.null(fit$state)) replace(fit, "model", list(replace(fit$model, "obs", list(obs)))) else fit_as(fit, obs)
  if (length(fit$stream$id) && !identical(before, fit$model$obs)) {
    width <- length(fit$stream$t) / length(fit$stream$id)
    fit$stream[c("t", "recent")] <- lapply(fit$stream[c("t", "recent")], function(statistics) {
      as.vector(t(engine_complete_to_gaps(before, fit$model$obs, matrix(statistics, ncol = width, byrow = TRUE))))
    })
  }
  fit
}

# Learns from one batch in a call of the engine: list(fit, records, departed, labels, capped, interrupted),
# where `fit` has the new clusters and `departed` lists removed ones. all_rows: whether `data` are all rows,
# which are learned from in several batches and passes, and get labels.
learn_batch <- function(fit, data, progress, all_rows = FALSE, call = rlang::caller_env()) {
  control <- fit$control
  if (is_of_tokens(fit)) check_tokens(data, if (all_rows) control$batches else 1, "Truncation-free learning", call)
  fit <- stream_as(fit, with_gaps(fit$model$obs, data))
  result <- stream_engine(fit)(as_engine_data(data), fit$model, fit$stream, list(
    threads = control$threads, seed = control$seed, half_life = control$half_life, sweeps = control$sweeps,
    renewals = control$sweeps,
    k_max = control$k_max, merge = control$moves$merge, split = control$moves$birth,
    passes = if (all_rows) control$max_laps else 1L, batches = if (all_rows) control$batches else 1L,
    all_rows = all_rows, keep_interrupted = rlang::is_interactive()
  ), progress$report)
  fit[c("stream", "state")] <- result[c("clusters", "state")]
  fit$input$n <- if (is_of_documents_of_rows(fit)) (fit$input$n %||% 0) + data$n else fit$stream$seen
  c(list(fit = fit), result[c("records", "departed", "labels", "capped", "interrupted")])
}

# Adds to a fit what the engine learned in one call, or in several that were joined: the fields that all fits
# have, and the identities of clusters with their history.
with_batches <- function(fit, learned, interrupted = learned$interrupted) {
  clusters <- fit$stream
  k <- fit$state$k
  sizes <- fit$state$obs[, 1L]
  used <- seq_along(clusters$id)
  before <- fit$history
  now <- history_of_stream(before, clusters, sizes[used], learned$departed)
  trace <- continued_trace(fit$trace, learned$records)
  if (learned$capped) warn_of_cap(fit$control$k_max)
  if (interrupted) say_stream_stopped(clusters$seen)
  fit$reason <- if (interrupted) "interrupted" else "stream"
  fit$laps <- nrow(trace)
  fit$labels <- integer()
  fit$trace <- trace
  fit$sizes <- sizes
  fit$numbering <- seq_len(k)
  fit$ids <- c(as.integer(clusters$id), rep(NA_integer_, k - length(used)))
  fit$changes <- if (!is.null(before)) history_changes(before, now)
  fit$history <- now
  fit$model$prior <- with_learned_values(fit$model$prior, clusters[names(clusters) == "alpha"]) # of topics
  fit
}

# Combines the results of several calls of the engine into one result.
joined_calls <- function(calls) {
  stacked <- function(table) {
    columns <- names(calls[[1L]][[table]])
    out <- lapply(columns, function(column) unlist(lapply(calls, function(call) call[[table]][[column]])))
    list2DF(stats::setNames(out, columns))
  }
  list(
    records = stacked("records"), departed = stacked("departed"), capped = any(vapply(calls, `[[`, NA, "capped"))
  )
}

continued_trace <- function(trace, records) {
  before <- if (is.null(trace)) 0 else trace$seconds[nrow(trace)]
  records$seconds <- before + cumsum(records$seconds)
  trace <- rbind(trace[names(trace) != "batch"], records)
  trace$batch <- seq_len(nrow(trace))
  trace[c("batch", "rows", "seen", "score", "k", "seconds")]
}

warn_of_cap <- function(k_max) {
  cli::cli_warn(
    c(
      "{.arg k_max} ({k_max}) clusters were reached: observations that belong to none of them did not begin new ones.",
      i = "Raise {.arg k_max} in {.fn bnp_control}, or let rows fade ({.arg half_life})."
    ),
    class = c("bnpvi_warning_k_max", "bnpvi_warning"), call = NULL
  )
}

say_stream_stopped <- function(seen) {
  cli::cli_inform(
    c(
      "Stopped: the fit is what was learned from {format(seen, big.mark = \",\", scientific = FALSE)} rows.",
      i = "To go on from here: {.code update(fit, newdata)}."
    ),
    class = c("bnpvi_message_interrupted", "bnpvi_message"), call = NULL
  )
}

# A function that turns the engine's record of a batch into text: "Batch 3: 5 clusters, -4.61 a row".
batch_teller <- function(word) {
  function(record) {
    score <- if (is.finite(record$elbo)) sprintf(", %.4g a row", record$elbo) else ""
    sprintf("Batch %d: %s%s", record$lap, count_of(record$k, word), score)
  }
}

is_stream_fit <- function(fit) !is.null(fit$stream)
is_of_documents_of_rows <- function(fit) row_word(fit) == "document" && !is_of_tokens(fit)

# What a stream has learned from, in words: "12,000 rows seen in 12 batches, the last ten predicted at -4.6 a
# row"; for topics with documents, and with tokens or rows.
described_stream <- function(fit) {
  last <- utils::tail(fit$trace[is.finite(fit$trace$score), ], 10L)
  big <- function(n) format(n, big.mark = ",", scientific = FALSE)
  unit <- plural_of(row_word(fit))
  c(
    paste0(
      big(fit$stream$seen), " ", unit, " seen in ", count_of(nrow(fit$trace), "batch", "es"),
      if (is.finite(fit$control$half_life)) paste0(", half-life ", big(fit$control$half_life), " ", unit)
    ),
    if (nrow(last)) {
      paste0(
        "Log ", if (is_of_tokens(fit)) "probability of a token" else "density of a row",
        " before it was learned from: ",
        format(sum(last$score * last$rows) / sum(last$rows), digits = 4L), " in the last ",
        count_of(nrow(last), "batch", "es")
      )
    }
  )
}

# The method of update() for a fit by truncation-free learning: learns from one more batch.
update_of_stream <- function(fit, newdata, new_terms, id = NULL, ..., call = rlang::caller_env()) {
  check_no_dots(..., call = call)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  data <- rows_of_stream(fit, newdata, new_terms, call, "newdata", id = id)
  if (data$n == 0L) abort("no_rows", "{.arg newdata} has no rows.", call = call)
  progress <- progress_reporter(fit$control, verb_of(fit), batch_teller)
  on.exit(progress$finish())
  learned <- learn_batch(fit, data, progress)
  with_batches(learned$fit, learned)
}
