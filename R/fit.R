# Steps that all families share: from resolved input to a fit.

# data: internal form; units: number of observations, documents or sequences
# that batches are made of.
fit_model <- function(class, call, data, obs, prior, control, start, n_units, input = list(),
                      error_call = rlang::caller_env()) {
  if (class == "bnp_topics" && identical(control$algorithm, "truncation_free")) {
    return(fit_truncation_free(class, call, data, obs, prior, control, start, input, error_call))
  }
  check_options(control, kind_of_fit(class, prior, has_trees(data)), prior, error_call)
  tell_start_wins(control, start)
  given <- obs
  check_start_format(start, error_call)
  obs <- resolve_obs(obs, sample_of(data), start, error_call)
  obs <- with_gaps(obs, gaps_of(data), if (inherits(start, "bnp_fit")) start$model$obs)
  obs <- with_repeated(obs, data)
  check_against_data(given, obs, error_call)
  resolved_start <- resolve_start(start, data, obs, prior, error_call)
  resolved_start <- start_with_labels(resolved_start, start, data, prior, control, error_call)
  resolved_start <- start_of_units(resolved_start, data)
  prior <- with_learned_values(without_learned_values(prior), if (inherits(start, "bnp_fit")) start$model$prior)
  batch_of <- batch_numbers(control, data, class, error_call)
  if (is_spooled(data)) {
    if (identical(control$keep, "probabilities")) require_ability("source", "keep", error_call)
    control["batches"] <- list(if (control$algorithm != "full") data$n_batches)
  }
  if (!is.null(batch_of)) control$batches <- max(batch_of)
  resolved <- resolve_control(
    control, obs, prior, units_that_count(data), n_units, resolved_start, error_call,
    word = if (has_individuals(data)) "individuals" else "observations"
  )
  resolved_start <- resolved_start %||% kmeans_start(data, obs, prior, control, resolved)
  model <- list(obs = obs, prior = prior, bound = control$bound)
  model$response <- data$response$model
  check_size(prior, resolved$k_init, data$n, error_call)
  tell_one_batch(control, resolved)
  hired <- hire_workers(resolved, data, obs, class, error_call)
  on.exit(hired$finish())
  engine <- engine_for(class, call, data, model, control, resolved, resolved_start, error_call)
  if (is_spooled(data)) collect_after(data$n)
  learn <- function(run, asked) {
    once <- function(model) {
      asked$hired <- hired$with(model)
      run(model, asked)
    }
    result <- once(model)
    if (is.null(start) && isTRUE(any(data$classes == 0L)) && !isTRUE(result$interrupted)) {
      result <- better_with_classes_alone(result, data, model, asked, run)
    }
    again <- if (is.null(start) && is.finite(result$elbo)) obs_begin_again(obs, result$state$k)
    if (!is.null(again) && !isTRUE(result$interrupted)) {
      second <- once(replace(model, "obs", list(again)))
      if (isTRUE(second$elbo > result$elbo)) {
        model$obs <<- again
        result <- second
      }
    }
    if (has_drift(obs) && tries_sharing(class, data, control, result)) {
      result <- better_when_shared(result, data, model, asked, run)
    }
    result
  }
  result <- fit_family(
    class, engine, data, model, resolved, resolved_start, error_call, learn,
    teller = function(word) lap_teller(word, hired$traffic), extra = list(batch_of = batch_of)
  )
  with_result(new_bnp_fit(class, call, model, resolved, kept_input(data, obs, input), result), data)
}

# What a fit keeps of its data; `input`: what the family adds.
kept_input <- function(data, obs, input = list()) {
  input <- c(
    input, obs_keep(obs, sample_of(data)),
    list(
      fingerprint = fingerprint_of(data), n_missing = if (has_missing(data)) sum(data$missing) else
        if (!is.null(data$cells_missing)) whole_number(sum(data$cells_missing)),
      sampled = if (is_spooled(data) && sample_size(data) < rows_or_groups(data)) sample_size(data)
    ),
    unclass(data)[intersect(kept_fields, names(data))]
  )
  input[!vapply(input, is.null, NA) & !duplicated(names(input))]
}

# A fit of clusters as the engine returned it, in the numbers and with the tables that users see.
with_result <- function(fit, data) {
  class <- class(fit)
  fit <- number_clusters(unclass(fit)) # a list until it is whole
  fit$model$obs <- with_learned_fields(fit$model$obs, fit$learned)
  fit$model$prior <- with_learned_values(fit$model$prior, fit$concentrations)
  fit$learned <- fit$concentrations <- NULL
  class(fit) <- class
  kept <- if (identical(fit$control$keep, "probabilities")) list(
    probabilities = in_user_order(fit, state_responsibilities(fit, data)),
    predictive = in_user_order(fit, state_probabilities(fit, data))
  )
  more <- c(kept, kept_of_data(fit, data))
  fit <- unclass(fit)
  fit[names(more)] <- more
  sealed(structure(fit, class = class))
}

# Most clusters to start with. A hidden Markov model has some ten tables of pairs of states, 2 GB in all for 5,000. Of
# others a finite prior may have more clusters than observations, but a million of them would not let Ctrl-C through for
# minutes (100,000: a visit of some rows takes seconds). Both are guesses at what anyone wants.
most_clusters <- function(prior, n) if (prior_entry(prior)$verb == "bnp_hmm") 5000 else max(1e5, n)

check_size <- function(prior, k, n, call) {
  most <- most_clusters(prior, n)
  if (k > most) {
    entry <- prior_entry(prior)
    open <- prior_makers(entry$verb, function(entry) !is_finite_prior(entry))
    given <- if (is.null(prior$k)) "{.arg k_init}" else "{.arg k} of {.fn {entry$constructor}}"
    abort("memory", c(
      paste(given, "must be at most {format(most, scientific = FALSE)} here, not {format(k, scientific = FALSE)}."),
      i = "With {.or {.fn {open}}} the number is found, from one on."
    ), call = call)
  }
}

# Clusters are numbered by decreasing size. The engine keeps its own order, which
# for sticks is part of the model: `numbering` is its number of each cluster.
number_clusters <- function(result) {
  numbering <- order(-result$sizes)
  number <- order(numbering)
  result$labels <- number[result$labels]
  result$sizes <- result$sizes[numbering]
  if (!is.null(result$documents)) result$documents$topic <- number[result$documents$topic]
  result$numbering <- numbering
  result
}

# Index along a dimension that has the engine's clusters first and n entries in all.
engine_index <- function(fit, n) c(fit$numbering, seq_len(n)[-seq_len(fit$state$k)])

# The engine calls this when it has fewer threads than asked for. A fit remembers how many it had, and predictions ask
# for no more.
warn_of_threads <- function(running, asked, most) {
  cli::cli_warn(
    c(
      "{running} of {format(asked, big.mark = \",\", scientific = FALSE)} threads are used.",
      i = if (running < most) {
        "The system did not start more: memory or the number of processes is limited."
      } else {
        "More than {most} and more than there are processors would only take turns."
      },
      i = "The result does not depend on the number of threads."
    ),
    class = c("bnpvi_warning_threads", "bnpvi_warning"), call = NULL
  )
}

# list(report, finish): what the engine calls once a lap, and what ends the report. A bar in a terminal, a line a lap
# elsewhere; in knitr one message at the end, as every message becomes a block of output of its own.
progress_reporter <- function(control, class, teller = lap_teller) {
  if (!control$verbose) {
    return(list(report = NULL, finish = function() NULL))
  }
  told <- teller(cluster_words[[class]])
  if (isTRUE(getOption("knitr.in.progress"))) {
    lines <- character()
    return(list(
      report = function(record) lines <<- c(lines, told(record)),
      finish = function() message(paste(thin_lines(lines), collapse = "\n"))
    ))
  }
  if (!cli::is_dynamic_tty()) {
    return(list(report = function(record) message(told(record)), finish = function() NULL))
  }
  bar <- cli::cli_progress_bar(
    format = "{cli::pb_spin} {cli::pb_extra$line} [{cli::pb_elapsed}]", extra = list(line = "Starting"), clear = TRUE,
    .auto_close = FALSE, current = FALSE
  )
  list(
    report = function(record) cli::cli_progress_update(id = bar, extra = list(line = told(record))),
    finish = function() cli::cli_progress_done(id = bar)
  )
}

# "Lap 3: 5 clusters, ELBO -1190.1 (+2.3)": a function of a lap's record that remembers the ELBO of the lap before. A
# restart counts laps anew, a search with hard labels has the log joint, and laps of stochastic learning have neither.
lap_teller <- function(word = "cluster", traffic = NULL) {
  last <- list(lap = Inf, what = "")
  sent <- traffic_teller(traffic)
  function(record) {
    what <- if (is.nan(record$log_joint)) "ELBO" else "log joint"
    value <- if (is.nan(record$log_joint)) record$elbo else record$log_joint
    gain <- if (record$lap > last$lap && what == last$what) value - last$value else NaN
    last <<- list(lap = record$lap, what = what, value = value)
    paste0(
      sprintf("Lap %d: %s", record$lap, count_of(record$k, word)),
      if (is.finite(value)) sprintf(", %s %.8g", what, value), if (is.finite(gain)) sprintf(" (%+.3g)", gain), sent()
    )
  }
}

# At most ten lines: the first ones and the last.
thin_lines <- function(lines, most = 10L) {
  if (length(lines) <= most) {
    return(lines)
  }
  c(utils::head(lines, most - 3L), paste0("... ", length(lines) - most + 1L, " more laps"), utils::tail(lines, 2L))
}
