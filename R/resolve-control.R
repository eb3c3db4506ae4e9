# Completes the options (control) and the start of a fit for a data set, in the form that C++ reads.

# Completes the options of a fit. word: the noun for the engine's rows in messages; n_rows, n_units: numbers
# of rows and of units (what batches are made of: rows, documents or sequences); d: the number of columns.
resolve_control <- function(control, obs, prior, n_rows, n_units, start, call = rlang::caller_env(),
                            word = "observations", d = 1L) {
  if (control$algorithm == "stochastic") {
    check_stochastic_obs(obs, call)
    check_stochastic_prior(prior, call)
  }
  control$seed <- control$seed %||% draw_seed()
  chooses <- chooses_starts(control, start)
  control$batches <- resolve_batches(control, n_units, call, word)
  control$wave <- resolve_wave(control)
  control$k_init <- resolve_k_init(control, prior, n_rows, start, call, word)
  control$init <- resolve_init(control, obs, prior, call)
  control$sparsity <- control$sparsity %||% 0L
  control$candidates <- control$candidates %||% 0L
  with_starts(control, if (chooses) kinds_of_clusters(prior, n_rows, d, control$init))
}

check_stochastic_obs <- function(obs, call) {
  learned <- obs_learned(obs)$by
  if (length(learned)) {
    abort("argument", c(
      "{.code {learned}} needs the summary of the whole data, which stochastic learning does not keep.",
      i = "Give a fixed prior in {.fn {obs_facts(obs)$constructor}}, or choose {.code algorithm = \"memoized\"}."
    ), call = call)
  }
}

check_stochastic_prior <- function(prior, call) {
  learned <- plugged_in_names(prior)
  if (length(learned)) {
    abort("argument", c(
      "{.arg {learned}} of {.fn {prior_entry(prior)$constructor}} cannot be learned here: that needs the summary of the
       whole data, which stochastic learning does not keep.",
      i = "Give {.arg {learned}} as {cli::qty(learned)}{?a number/numbers}, or choose
           {.code algorithm = \"memoized\"}."
    ), call = call)
  }
}

# A seed from R's generator, so that set.seed() determines the fit.
draw_seed <- function() as.double(sample.int(.Machine$integer.max, 1L))

resolve_batches <- function(control, n_units, call, word) {
  if (control$algorithm == "full") {
    return(1L)
  }
  batches <- control$batches
  if (length(batches) > 1L) {
    abort("argument", "{.arg batches} of {.fn bnp_control} must be a number here, not {describe(batches)}.",
      call = call
    )
  }
  if (is.null(batches)) {
    batches <- if (n_units <= 20000) 1L else min(50L, as.integer(ceiling(n_units / 10000)))
    if (control$algorithm == "stochastic") batches <- max(10L, batches)
    return(min(batches, as.integer(n_units)))
  }
  if (batches > n_units) {
    abort("argument", c(
      "{.arg batches} must be at most the number of {word} ({n_units}), not {batches}."
    ), call = call)
  }
  batches
}

# The noun for units, of which batches are made, for each class of fits.
unit_words <- c(bnp_mixture = "observations", bnp_topics = "documents", bnp_hmm = "sequences")

# The number of the batch of each unit (row, document or sequence) that is used, from the user's `batches`,
# which has a number for each unit that was given. NULL if the data come from a source, since batches are then
# dealt while it is read.
batch_numbers <- function(control, data, class, call) {
  if (is_spooled(data)) {
    return(NULL)
  }
  if (class == "bnp_mixture") {
    control$batches <- values_of_rows(control$batches, data, "batches", call)
    batch <- check_batch_numbers(control, rows_given(data), unit_words[[class]], call)
    return(of_units(data, of_kept_rows(data, batch)))
  }
  groups <- given_groups(data)
  control$batches <- values_of_groups(control$batches, data, "batches", sub("s$", "", unit_words[[class]]), call)
  batch <- check_batch_numbers(control, groups$n, unit_words[[class]], call)
  if (is.null(groups$kept)) batch else batch[groups$kept]
}

check_batch_numbers <- function(control, n, word, call) {
  batches <- control$batches
  if (control$algorithm == "full") {
    abort("argument", "{.arg batches} cannot be used with {.code algorithm = \"full\"}, which has a single batch.",
      call = call
    )
  }
  if (length(batches) != n) {
    abort("argument", c(
      "{.arg batches} must be a number of batches, or have the number of the batch of each of the {n} {word}, not
       {describe(batches)}."
    ), call = call)
  }
  empty <- which(tabulate(batches, max(batches)) == 0L)
  if (length(empty)) {
    abort("argument", c(
      "{.arg batches} must number the batches 1, 2, ..., without gaps.", x = "Empty: {places(empty)}."
    ), call = call)
  }
  as.integer(batches)
}

resolve_init <- function(control, obs, prior, call) {
  words <- prior_entry(prior)$verb == "bnp_topics" && obs_facts(obs)$counts_tokens
  if (!is.null(control$init) && control$init %in% network_inits) {
    abort("argument", "{.code init = {.str {control$init}}} needs a network ({.fn bnp_network}).", call = call)
  }
  if (!words && !is.null(control$init) && control$init %in% c("anchor", "best")) {
    abort("argument", c(
      "{.code init = {.str {control$init}}} needs a topic model ({.fn bnp_topics}) of counts
       ({.or {.fn {token_makers()}}})."
    ), call = call)
  }
  default <- if (!words) "bregman" else if (control$algorithm == "stochastic") "anchor" else "best"
  init <- control$init %||% default
  if (init == "best" && (control$algorithm == "stochastic" || identical(control$k_init, 1L))) init <- "anchor"
  init
}

resolve_k_init <- function(control, prior, n, start, call, word) {
  k_init <- control$k_init
  if (!is.null(prior$k)) {
    if (!is.null(k_init) && k_init != prior$k) {
      abort("k_init", c(
        "{.arg k_init} ({k_init}) must agree with the {.arg k} of the finite prior ({prior$k}).",
        i = "Leave {.arg k_init} out."
      ), call = call)
    }
    return(prior$k)
  }
  if (is.null(k_init)) {
    return(if (control$moves$birth && control$algorithm != "stochastic") 1L else min(25L, as.integer(n)))
  }
  if (k_init > n) {
    abort("k_init", c(
      "{.arg k_init} must be at most the number of {word} ({n}), not {k_init}."
    ), call = call)
  }
  k_init
}

# Labels, responsibilities or an earlier fit, given as a start, in the form that C++ reads. order: the order
# of rows in the internal form, where it differs from the user's.
resolve_start <- function(start, data, obs, prior, call = rlang::caller_env()) {
  if (inherits(start, "bnp_fit")) {
    return(start_from_fit(start, data, obs, prior, call))
  }
  refuse_source_of_starts(start, call)
  start <- start_from_clustering(start, call)
  start <- as_vector(start)
  if (is.list(start)) {
    if (length(data$starts) - 1L == length(start)) start <- values_of_groups(start, data, "start", "sequence", call)
    start <- unlist(start, use.names = FALSE)
  }
  start <- values_of_rows(start, data, "start", call)
  rows <- data$order %||% seq_len(data$n)
  if (is.matrix(start)) {
    resp <- of_kept_rows(data, check_responsibilities(start, rows_given(data), call))
    k <- start_clusters(ncol(resp), prior, call)
    return(list(resp = cbind(resp, matrix(0, data$n, k - ncol(resp)))[rows, , drop = FALSE]))
  }
  if (has_places(prior)) {
    return(list(labels = states_of_start(start, data, prior, call)[rows], k = prior$k))
  }
  labels <- check_labels(start, rows_given(data), call, data$left_out$kept)
  list(labels = labels[rows], k = start_clusters(max(labels, 1L), prior, call))
}

# The number of clusters at a start; if the prior fixes the number of clusters, that number.
start_clusters <- function(given, prior, call) {
  k <- prior$k %||% given
  if (given > k) {
    abort("start", c(
      "{.arg start} has {given} clusters, the finite prior {k}.",
      i = "Raise {.arg k} of the prior, or join clusters of {.arg start}."
    ), call = call)
  }
  as.integer(k)
}

# The statistics of an earlier fit's clusters as a start, with the observation model that defines their units
# of measurement. They can start any fit of the same kind: to other data, with other parameters of the priors,
# or with a larger k.
start_from_fit <- function(fit, data, obs, prior, call) {
  check_format(fit, call)
  given <- fit$model$obs
  same <- given$family == obs$family && fit$model$prior$family == prior$family && isTRUE(fit$input$d == data$d) &&
    is.null(given$exposure) == is.null(obs$exposure) && identical(given$responses, obs$responses)
  if (!same) {
    abort("start", c(
      "{.arg start} must be a fit of the same observation model, prior and columns as {.arg x}.",
      x = "It is {.val {given$family}} with {.val {fit$model$prior$family}} on {fit$input$d} column{?s}.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  if (obs_lag(given) != obs_lag(obs) || !identical(given$intercept, obs$intercept)) {
    abort("start", c(
      "{.arg start} must be a fit with the same lag and intercept.",
      x = "It has lag {obs_lag(given)} and {if (given$intercept) 'an' else 'no'} intercept.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  if (isTRUE(given$repeated) != isTRUE(obs$repeated)) {
    abort("start", c(
      "{.arg start} must be a fit with {.arg id} where there is one, and without it where there is none.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  if ((has_drift(given) || has_drift(obs)) && !identical(obs_layout(given), obs_layout(obs))) {
    abort("start", c(
      "{.arg start} must be a fit with {.arg time} where there is one, of the same times, and without it where there is
       none.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  if (!identical(obs_layout(given), obs_layout(obs))) {
    abort("start", c(
      "{.arg start} must be a fit with the same blocks of columns and the same levels.",
      i = "Make text a factor with the same levels in both, or use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  check_start_columns(fit$input$column_names, data$column_names, call)
  if (has_places(prior)) need_same_places(fit, prior, call)
  fit <- fit_without_patterns(fit_as(fit, obs), prior)
  c(
    list(
      state = add_empty_clusters(
        state_for_positions(
          state_for_response(with_known_of_start(fit$state, given, obs, data), fit, data), fit, data, prior
        ),
        start_clusters(fit$state$k, prior, call)
      ), obs = fit$model$obs
    ),
    documents_of_fit(fit, data)
  )
}

check_start_columns <- function(before, now, call) {
  if (is.null(before) || is.null(now) || identical(before, now)) {
    return(invisible())
  }
  at <- which(before != now)
  abort("start", c(
    "{.arg start} must be a fit of the same columns in the same order.",
    x = "Column {at[1]} is {.val {now[at[1]]}} in {.arg x} and {.val {before[at[1]]}} in {.arg start}
         {cli::qty(length(at))}({length(at)} column{?s} differ{?s/}).",
    i = if (setequal(before, now)) {
      "Put the columns of {.arg x} into the order of {.code start$input$column_names}."
    } else {
      "Use {.code start = fitted(fit)} to take only its labels."
    }
  ), call = call)
}

# Adds empty clusters to a state until it has k clusters. For priors with a fixed number of clusters, since
# other priors have sticks, which would have to be extended.
add_empty_clusters <- function(state, k) {
  more <- k - state$k
  if (more == 0L) {
    return(state)
  }
  rows <- function(x) rbind(x, matrix(0, more, ncol(x)))
  state[c("obs", "extra")] <- lapply(state[c("obs", "extra")], rows)
  if (!is.null(state$pair)) state$pair <- cbind(rows(state$pair), matrix(0, k, more * ncol(state$pair) / state$k))
  if (!is.null(state$owner)) state$owner <- c(state$owner, integer(more))
  if (!is.null(state$named)) state$named <- c(state$named, integer(more))
  state$k <- k
  state
}

# The expected counts of each topic in each document under an earlier topic model of the same documents, in
# the engine's numbering. A fit that starts from these counts cannot end with a lower bound than the earlier
# fit.
documents_of_fit <- function(fit, data) {
  if (is.null(fit$documents) || !identical(fit$input$group_names, data$group_names) ||
        !identical(fit$input$lengths, document_lengths(data, fit$model$obs))) {
    return(NULL)
  }
  counts <- Matrix::summary(fit$documents)
  list(documents = list(document = counts$i, topic = fit$numbering[counts$j], count = counts$x))
}

refuse_source_of_starts <- function(start, call) {
  if (inherits(start, c("bnp_source", "bnp_stream"))) {
    abort("start", c(
      "{.arg start} must be labels, probabilities or a fit, not {describe(start)}.",
      i = "To learn from the data of a source, give it in place of {.arg x}."
    ), call = call)
  }
}

# Checks labels given as a start: one for each of n rows. kept: numbers of the rows whose labels are needed;
# NULL for all rows.
check_labels <- function(x, n, call, kept = NULL) {
  if (!is.atomic(x) || length(x) != n) {
    abort("start", c(
      "{.arg start} must have one label per observation of {.arg x} ({n}), not {describe(x)}."
    ), call = call)
  }
  missing <- intersect(which(is.na(x)), kept %||% seq_len(n))
  if (length(missing)) {
    abort("start", c("{.arg start} has missing labels.", x = "At {places(missing)}."), call = call)
  }
  if (!is.null(kept)) x <- x[kept]
  as.integer(label_factor(x, "start", call, sorted = TRUE))
}

check_responsibilities <- function(x, n, call) {
  if (!is.numeric(x) || nrow(x) != n || ncol(x) < 1L) {
    abort("start", c(
      "{.arg start} must be a matrix with one row per observation of {.arg x} ({n}), not {describe(x)}."
    ), call = call)
  }
  sums <- rowSums(x)
  bad <- which(!is.finite(sums) | abs(sums - 1) > 1e-6 | apply(x < 0, 1L, any))
  if (length(bad)) {
    abort("start", c(
      "The rows of {.arg start} must be probabilities that sum to 1.", x = "Not so in row {places(bad)}."
    ), call = call)
  }
  unname(x / sums)
}
