# The steps that all families share, from checked input to a fit.

# Learns a model and returns the fit. data: internal form; n_units: the number of observations, documents or
# sequences, of which batches are made.
fit_model <- function(class, call, data, obs, prior, control, start, n_units, input = list(),
                      error_call = rlang::caller_env()) {
  if (class == "bnp_topics" && identical(control$algorithm, "truncation_free")) {
    return(fit_truncation_free(class, call, data, obs, prior, control, start, input, error_call))
  }
  check_options(control, kind_of_fit(class, prior, has_trees(data)), prior, error_call)
  if (class != "bnp_mixture" && is_rounded(obs)) {
    require_ability(kinds_to_fit(class, obs, prior), "rounding", error_call)
  }
  if (!is.null(start)) {
    tell_start_wins(control, start)
    check_start_format(start, error_call)
  }
  obs <- with_default_learning(obs, class, control)
  given <- obs
  before <- if (inherits(start, "bnp_fit")) start$model
  spooled <- is_spooled(data)
  sample <- if (spooled) data$sample else data
  sample$rounded <- class == "bnp_mixture"
  obs <- resolve_obs(obs, sample, start, error_call)
  if (has_missing(data) || spooled || !is.null(before)) obs <- with_gaps(obs, gaps_of(data), before$obs)
  if (!is.null(data$individual)) obs$repeated <- TRUE
  if (has_parameters(given)) check_against_data(given, obs, error_call)
  if (!is.null(obs$keywords)) need_room_for_names(obs, prior, error_call)
  resolved_start <- if (!is.null(start)) resolve_start(start, data, obs, prior, error_call)
  if (class != "bnp_topics" && (!is.null(start) || !is.null(data$classes))) {
    begin <- if (isTRUE(data$grouped)) start_of_states else start_with_labels
    resolved_start <- begin(resolved_start, start, data, prior, control, error_call, obs = obs)
  }
  if (!is.null(resolved_start) && !is.null(data$individual)) resolved_start <- start_of_units(resolved_start, data)
  if (length(learned_names(prior))) prior <- with_learned_values(without_learned_values(prior), before$prior)
  batch_of <- if (length(control$batches) > 1L) batch_numbers(control, data, class, error_call)
  if (spooled) {
    if (identical(control$keep, "probabilities")) require_ability("source", "keep", error_call)
    if (isTRUE(control$keep_data)) require_ability("source", "keep_data", error_call)
    control["batches"] <- list(if (control$algorithm != "full") data$n_batches)
  }
  if (!is.null(batch_of)) control$batches <- max(batch_of)
  resolved <- resolve_control(
    control, obs, prior, units_that_count(data), n_units, resolved_start, error_call,
    word = if (is.null(data$individual)) "observations" else "individuals", d = data$d
  )
  if (!is.null(obs$random)) resolved <- starts_with_effects(obs, resolved, units_that_count(data))
  if (is.null(resolved_start) && has_places(prior)) {
    resolved_start <- start_in_places(data, obs, prior, control, resolved)
  } else if (is.null(resolved_start) && !is.null(prior$k) && identical(resolved$restarts, 1L)) {
    resolved_start <- kmeans_start(data, obs, prior, control, resolved)
  }
  model <- list(obs = obs, prior = prior, bound = bound_of(control, class == "bnp_topics" && has_covariates(prior)))
  model$response <- data$response$model
  check_size(prior, resolved$k_init, data$n, error_call)
  hired <- if (has_workers(control)) hire_workers(resolved, data, obs, class, error_call)
  if (!is.null(hired)) on.exit(hired$finish())
  engine <- engine_for(class, call, data, model, control, resolved, resolved_start, error_call)
  if (spooled) collect_after(data$n)
  learn <- function(run, asked) {
    once <- function(model, asked) {
      if (!is.null(hired)) {
        asked$hired <- hired$with(model)
        asked$threads <- hired$threads
      }
      run(model, asked)
    }
    result <- once(model, asked)
    if (class != "bnp_topics" && is.null(start) && isTRUE(any(data$classes == 0L)) && !isTRUE(result$interrupted)) {
      better <- if (isTRUE(data$grouped)) better_with_labelled_rows else better_with_classes_alone
      result <- better(result, data, model, asked, run)
    }
    if (class == "bnp_topics" && is.null(start) && !is.null(data$classes) && control$algorithm != "stochastic" &&
          !isTRUE(result$interrupted)) {
      result <- better_with_topics_of_labels(result, data, run)
    }
    again <- if (is.null(start) && is.finite(result$elbo) && obs_can(obs, "begin_again")) {
      obs_begin_again(obs, result$state$k)
    }
    if (!is.null(again) && !isTRUE(result$interrupted)) {
      second <- once(replace(model, "obs", list(again)), if (is.null(obs$random)) asked else starts_again(asked))
      if (isTRUE(second$elbo > result$elbo)) {
        model$obs <<- again
        result <- second
      }
    }
    if (!is.null(data$slot) && tries_sharing(class, data, control, result)) {
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

# The description of its data that a fit keeps. input: entries that the family adds.
kept_input <- function(data, obs, input = list()) {
  input <- c(
    input, if (obs_can(obs, "keep")) obs_keep(obs, sample_of(data)),
    list(
      fingerprint = fingerprint_of(data), n_missing = if (has_missing(data)) sum(data$missing) else
        if (!is.null(data$cells_missing)) whole_number(sum(data$cells_missing)),
      sampled = if (is_spooled(data) && sample_size(data) < rows_or_groups(data)) sample_size(data)
    ),
    unclass(data)[intersect(kept_fields, names(data))]
  )
  input[!vapply(input, is.null, NA) & !duplicated(names(input))]
}

# The bound of a fit: the one that the user chose, else the family's own, which only topics by covariates have tight.
bound_of <- function(control, tight = FALSE) control$bound %||% if (tight) "tight" else "loose"

# The largest size of data, in bytes, that a fit keeps unless the user says otherwise: a guess at what keeps
# files of fits small.
kept_bytes <- 1e6

# The fields of the data that a fit keeps in addition to its `input`, as a plain list; NULL if none are to be
# kept. Fields that can be computed again (hidden rows, facts about a sample) are left out.
data_to_keep <- function(fit, data) {
  asked <- fit$control$keep_data %||% getOption("bnpvi.keep_data")
  if (isFALSE(asked) || is_spooled(data)) {
    return(NULL)
  }
  kept <- unclass(data)[setdiff(names(data), c(kept_fields, "expected", "rounded", "response", "fingerprint"))]
  if (isTRUE(asked) || utils::object.size(kept) <= kept_bytes) kept
}

# Results by row that a fit keeps in addition to those that the engine returned, as a list of fields of the
# fit.
kept_of_data <- function(fit, data) UseMethod("kept_of_data")

# Makes the fit that users see from the engine's result. Clusters are numbered by decreasing size, unless the
# prior, or a `numbering` of the family, gives them fixed places. The engine keeps its own order, which is
# part of a model with sticks: `numbering` has the engine's number of each cluster.
with_result <- function(fit, data) {
  class <- class(fit)
  fit <- unclass(fit) # a plain list until all fields are set
  numbering <- fit$numbering %||%
    if (!is.null(fit$model$prior$cell_fixed)) seq_along(fit$sizes) else order(-fit$sizes)
  number <- order(numbering)
  fit$labels <- number[fit$labels]
  fit$sizes <- fit$sizes[numbering]
  if (!is.null(fit$documents)) fit$documents$topic <- number[fit$documents$topic]
  fit$numbering <- numbering
  if (length(fit$learned)) fit$model$obs <- with_learned_fields(fit$model$obs, fit$learned)
  if (length(fit$concentrations)) fit$model$prior <- with_learned_values(fit$model$prior, fit$concentrations)
  fit$learned <- fit$concentrations <- NULL
  class(fit) <- class
  kept <- if (identical(fit$control$keep, "probabilities")) list(
    probabilities = in_user_order(fit, state_responsibilities(fit, data)),
    predictive = in_user_order(fit, state_probabilities(fit, data))
  )
  more <- c(kept, kept_of_data(fit, data), list(data = data_to_keep(fit, data)))
  fit <- unclass(fit)
  fit[names(more)] <- more
  sealed(structure(fit, class = class))
}

# Refuses a start with more clusters than can be handled. A hidden Markov model has about ten tables of pairs
# of states, 2 GB in all for 5,000 states. A finite prior of other models may have more clusters than
# observations; but with a million of them Ctrl-C would have no effect for minutes (with 100,000, a visit of
# some rows takes seconds). Both limits are guesses at what users need.
check_size <- function(prior, k, n, call) {
  most <- if (prior_entry(prior)$verb == "bnp_hmm") 5000 else max(1e5, n)
  if (k > most) {
    entry <- prior_entry(prior)
    open <- prior_makers(entry$verb, function(entry) !is_finite_prior(entry))
    given <- if (is.null(prior$k)) "{.arg k_init}" else "{.arg k} of {.fn {entry$constructor}}"
    abort("memory", c(
      paste(given, "must be at most {format(most, scientific = FALSE)} here, not {format(k, scientific = FALSE)}."),
      i = "With {.or {.fn {open}}} the number is found, beginning with one."
    ), call = call)
  }
}

# The order that puts an array of the engine into the user's order, along a dimension of length n that begins
# with the clusters.
engine_index <- function(fit, n) c(fit$numbering, seq_len(n)[-seq_len(fit$state$k)])

# Learns a fit of this class and returns the engine's result as a list. engine: a function engine(data, model,
# asked, start, report), from engine_for() or plain_engine(). model: in the engine's form. learn: learn(run,
# asked), for fits that call the engine more than once; run() calls it, with its own arguments in place of
# those given here. extra: options of the engine in addition to `control`. arg, remedy: for the error after a
# numerical breakdown; shift: what is added to the engine's ELBO to give that of the data in their own units;
# go_on: whether the same call can continue from the end of the fit.
fit_family <- function(class, engine, data, model, control, start, call, learn = function(run, asked) run(),
                       teller = lap_teller, extra = list(), arg = "x", remedy = remedy_of_breakdowns, shift = 0,
                       go_on = TRUE) {
  progress <- progress_reporter(control, class, teller)
  on.exit(progress$finish())
  control$header <- NULL
  asked <- c(control, list(keep_interrupted = rlang::is_interactive()), Filter(Negate(is.null), extra))
  from <- list(data, model, asked, start, progress$report)
  run <- function(model = from[[2L]], asked = from[[3L]], start = from[[4L]], data = from[[1L]], report = from[[5L]]) {
    tryCatch(
      if (is_spooled(data) || has_workers(control)) in_spool(engine(data, model, asked, start, report), call) else
        engine(data, model, asked, start, report),
      `std::bad_alloc` = function(e) too_large(call), `std::length_error` = function(e) too_large(call)
    )
  }
  result <- learn(run, asked)
  if (broke_down(result)) report_breakdown(result, call, arg, remedy, shift)
  result$taken_back <- NULL
  if (!is.null(result$restarts)) result <- with_table_of_restarts(result, control)
  if (isTRUE(result$interrupted)) {
    report_interruption(result, control)
    result$interrupted <- NULL
  }
  if (result$reason == "max_laps" && control$algorithm != "stochastic") warn_of_laps(result, control, call, go_on)
  result
}

broke_down <- function(result) !is.finite(result$elbo) || result$reason == "numerical"

# Makes the function by which a fit calls the engine, with checkpoints if the user requested them. Arguments
# as in checkpointed_engine().
engine_for <- function(class, call, data, model, control, resolved, start, frame, form = as_engine_data) {
  if (is.null(control$checkpoint)) {
    return(plain_engine(form))
  }
  checkpointed_engine(class, call, data, model, control, resolved, start, frame, form)
}

# Makes the function by which a fit calls the engine, without checkpoints. form: turns data into the form that
# the engine reads.
plain_engine <- function(form = as_engine_data) {
  function(data, model, asked, start, report) engine_fit(form(data), model, asked, start, report)
}

# The classes of a fit made by this verb: that of its special kind, if any, that of the verb, and that of all
# fits. prior: NULL if it is not known yet.
fit_classes <- function(verb, obs, prior) {
  special <- switch(verb,
    bnp_mixture = if (!is.null(prior)) {
      if (prior_entry(prior)$verb != verb) "bnp_mixture_by_time" else prior_entry(prior)$class
    },
    bnp_topics = if (has_covariates(prior)) "bnp_topics_by_covariates",
    bnp_hmm = if (obs_facts(obs)$hidden) "bnp_lds" else if (has_covariates(prior)) "bnp_hmm_by_covariates",
    bnp_network = if (has_blocks(prior)) "bnp_blocks" else "bnp_communities"
  )
  c(special, verb, "bnp_fit")
}

# Makes an object of class bnp_fit, for all families. verb: the verb that makes such fits; learned: the
# remaining fields, by the names that the engine or the family gives them.
new_bnp_fit <- function(verb, call, model, control, input, learned) {
  names(learned)[names(learned) == "terms"] <- "elbo_terms"
  control$threads <- learned$threads %||% control$threads
  control[c("header", "batch_of", "kinds", "most_work")] <- learned$threads <- NULL
  lacking <- setdiff(c("state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "sizes"), names(learned))
  if (length(lacking)) cli::cli_abort("A fit has no {.field {lacking}}.", .internal = TRUE)
  learned <- learned[!vapply(learned, is.null, NA) | names(learned) %in% c("state", "trace")]
  structure(
    c(list(format = fit_format, call = call, model = model, control = control), learned, list(input = input)),
    class = fit_classes(verb, model$obs, model$prior)
  )
}
