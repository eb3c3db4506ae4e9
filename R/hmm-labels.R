# Known states: labels of rows (`labels`) and of whole sequences (`sequence_labels`). Each class owns states,
# as it owns clusters in mixtures (R/mixture-labels.R). With `open`, sequences of a class may also visit
# states of no class, which are owned by a last class, `no_class`; rows of unlabelled sequences may be in any
# state.

no_class <- "(none)"

# Adds known labels to the data. given: list(rows, sequences, open), as the user gave them.
with_state_labels <- function(data, given, obs, prior, call) {
  if (is.null(given$rows) && is.null(given$sequences)) {
    return(data)
  }
  check_flag(given$open, "open", call = call)
  rows <- if (!is.null(given$rows)) labels_of_rows(given$rows, data, obs, call)
  sequences <- if (!is.null(given$sequences)) labels_of_sequences(given$sequences, data, given$open, call)
  known <- if (is.null(rows)) sequences else if (is.null(sequences)) rows else labels_of_both(rows, sequences)
  if (has_places(prior)) known <- labels_of_places(known, prior, sequences, call)
  data$classes <- known$set
  data$class_sets <- known$sets
  data$class_names <- known$classes
  data$sequence_classes <- sequences$of_sequence
  if (has_places(prior)) need_allowed_paths(data, prior, call)
  data
}

# Drops the labels of the first `lag` rows of each sequence of an autoregression, which have no state of their
# own.
labels_of_rows <- function(labels, data, obs, call) {
  if (is.list(labels) && !is.data.frame(labels)) {
    labels <- values_of_groups(labels, data, "labels", "sequence", call)
    labels <- unlist(lapply(labels, label_text, "labels", call), use.names = FALSE)
  }
  labels <- values_of_rows(labels, data, "labels", call)
  known <- known_labels(labels, rows_given(data), call, data$left_out$kept)
  known$set <- known$set[data$order %||% seq_len(data$n)]
  unused <- sequence(diff(data$starts)) <= obs_lag(obs) & known$set > 0L
  if (any(unused)) {
    cli::cli_inform(
      "Labels of {sum(unused)} first row{?s} of sequences, which autoregressions begin from, are not used.",
      class = c("bnpvi_message_labels", "bnpvi_message"), call = NULL
    )
    known$set[unused] <- 0L
    if (all(known$set == 0L)) refuse_no_labels(TRUE, call)
  }
  known
}

labels_of_sequences <- function(labels, data, open, call) {
  groups <- given_groups(data)
  labels <- values_of_groups(labels, data, "sequence_labels", "sequence", call)
  if (!is.atomic(labels) || is.null(labels) || length(labels) != groups$n) {
    abort("labels", c(
      "{.arg sequence_labels} must have one label for each of the {groups$n} sequence{?s}, {.code NA} where it is not
       known, not {describe(labels)}."
    ), call = call)
  }
  if (!is.null(groups$kept)) labels <- labels[groups$kept]
  factor <- label_factor(labels, "sequence_labels", call, sorted = TRUE)
  if (all(is.na(factor))) {
    abort("labels", c(
      "All {.arg sequence_labels} are missing.", i = "Leave {.arg sequence_labels} out."
    ), call = call)
  }
  classes <- levels(factor)
  if (no_class %in% classes) {
    abort("labels", "{.val {no_class}} is what states of no class are called: choose another label.", call = call)
  }
  set <- rep(as.integer(factor), diff(data$starts))
  sets <- diag(length(classes)) == 1
  if (open) sets <- cbind(sets, TRUE)
  list(
    classes = c(classes, if (open) no_class), set = replace(set, is.na(set), 0L), sets = sets,
    of_sequence = as.character(factor)
  )
}

# Combines labels of rows with those of their sequences. The label of a row takes precedence.
labels_of_both <- function(rows, sequences) {
  classes <- c(union(rows$classes, setdiff(sequences$classes, no_class)), intersect(no_class, sequences$classes))
  in_all <- function(known) {
    out <- matrix(FALSE, nrow(known$sets), length(classes))
    out[, match(known$classes, classes)] <- known$sets
    out
  }
  set <- ifelse(rows$set > 0L, rows$set, ifelse(sequences$set > 0L, sequences$set + nrow(rows$sets), 0L))
  list(classes = classes, set = set, sets = rbind(in_all(rows), in_all(sequences)))
}

# Labels for a prior with known transitions (R/transitions.R), whose states are therefore distinguishable:
# each state is a class of its own.
labels_of_places <- function(known, prior, sequences, call) {
  if (!is.null(sequences)) {
    abort("labels", c(
      "{.arg sequence_labels} cannot be used with a prior that gives states fixed places, as each class has as many
       states as its sequences need.",
      i = "Give {.arg labels} of rows, or leave {.arg transitions}, {.arg fixed} and weights as {.arg start} of
           {.fn prior_hmm} out."
    ), call = call)
  }
  states <- prior$states %||% as.character(seq_len(prior$k))
  at <- match(known$classes, states)
  if (anyNA(at)) {
    abort("labels", c(
      "{.arg labels} must be states of the prior: {places(states)}.",
      x = "Not one of them: {places(dQuote(known$classes[is.na(at)], FALSE))}."
    ), call = call)
  }
  sets <- matrix(FALSE, nrow(known$sets), prior$k)
  sets[, at] <- known$sets
  list(classes = states, set = known$set, sets = sets)
}

# Checks that every row can have a state that its label allows and that an allowed transition reaches from a
# state of the row before. In trees children come first: each row needs a state from which every child can
# have one of its own.
need_allowed_paths <- function(data, prior, call) {
  may <- !(prior$cell_fixed %in% 0)
  dim(may) <- dim(prior$cell_fixed)
  step <- may[-1L, , drop = FALSE]
  allowed <- allowed_clusters(data, seq_len(prior$k))
  refuse <- function(row, before) {
    named <- function(row) {
      set <- data$classes[row]
      if (set == 0L) "no label" else paste0("\"", data$class_names[data$class_sets[set, ]], "\"", collapse = " or ")
    }
    number <- given_row(data, (data$order %||% seq_len(data$n))[row])
    abort("labels", c(
      "{.arg labels} contradict the prior: no allowed path has a state for row {number}.",
      x = "Its label is {named(row)}{if (before > 0L) paste0(', the last one before it is ', named(before))}."
    ), call = call)
  }
  if (is.null(data$back)) walk_forward(data, may[1L, ], step, allowed, refuse) else
    walk_up(data, may[1L, ], step, allowed, refuse)
}

walk_forward <- function(data, first, step, allowed, refuse) {
  begins <- logical(data$n)
  begins[data$starts[-length(data$starts)][diff(data$starts) > 0L] + 1L] <- TRUE
  now <- first
  labelled <- 0L
  for (t in seq_len(data$n)) {
    if (begins[t]) {
      now <- first
      labelled <- 0L
    } else if (t > 1L) {
      now <- colSums(step[now, , drop = FALSE]) > 0
    }
    now <- now & allowed[t, ]
    if (!any(now)) refuse(t, labelled)
    if (data$classes[t] > 0L) labelled <- t
  }
}

walk_up <- function(data, first, step, allowed, refuse) {
  for (t in rev(seq_len(data$n))) {
    root <- data$back[t] == 0L
    if (!any(allowed[t, ] & (!root | first))) refuse(t, 0L)
    parent <- t - data$back[t]
    if (!root) allowed[parent, ] <- allowed[parent, ] & rowSums(step[, allowed[t, ], drop = FALSE]) > 0
  }
}
