# Predicts classes of new rows and sequences, under hidden Markov models that were fitted with labels
# (R/hmm-labels.R).

# Adds labels of rows to new data; the labels must be classes of the fit.
with_new_labels <- function(data, labels, fit, call) {
  need_labels(fit, "label", call)
  data <- with_known_classes(data, labels_of_rows(labels, data, fit$model$obs, call), fit, call)
  if (has_places(fit$model$prior)) need_allowed_paths(data, fit$model$prior, call)
  data
}

# New data with labels as known_labels() reads them, by the classes of the fit.
with_known_classes <- function(data, known, fit, call) {
  at <- match(known$classes, fit$input$class_names)
  if (anyNA(at)) {
    abort("labels", c(
      "{.arg labels} must be classes that {.arg object} knows.",
      x = "Not one of them: {places(dQuote(known$classes[is.na(at)], FALSE))}."
    ), call = call)
  }
  sets <- matrix(FALSE, nrow(known$sets), length(fit$input$class_names))
  sets[, at] <- known$sets
  data[c("classes", "class_sets", "class_names")] <- list(known$set, sets, fit$input$class_names)
  data
}

# Probabilities P(class | rows) of each new sequence, sequences x classes: proportional to the number of
# labelled sequences of the class, times the density of the rows over all paths through states that sequences
# of the class may visit. The density is 0 under a class that has no sequences, or whose sequences may visit none
# of the states, as where all of their rows have labels of their own.
sequence_class_probabilities <- function(fit, data, call) {
  classes <- setdiff(fit$input$class_names, no_class)
  known <- factor(fit$input$sequence_classes, classes)
  allowed <- outer(fit$input$class_names, classes, function(state, class) state == class | state == no_class)
  colnames(allowed) <- classes
  possible <- table(known) > 0 & colSums(allowed[fit$state$owner, , drop = FALSE]) > 0
  if (!any(possible)) {
    abort("labels", c(
      "No state belongs to a class of sequences.",
      x = "All rows of the sequences with {.arg sequence_labels} have {.arg labels}, which determine their states.",
      i = "Fit again with {.code NA} as the label of rows whose class is not known."
    ), call = call)
  }
  fit <- fit_with_gaps(fit, data)
  data$classes <- rep(1L, data$n)
  log_p <- vapply(classes, function(class) {
    if (!possible[[class]]) {
      return(rep(-Inf, length(data$starts) - 1L))
    }
    data$class_sets <- t(allowed[, class])
    engine_tree_log_density(as_engine_data(data), fit$model, fit$state, FALSE, fit$control$threads)
  }, double(length(data$starts) - 1L))
  log_p <- matrix(log_p, ncol = length(classes)) + rep(log(as.vector(table(known))), each = length(data$starts) - 1L)
  prob <- exp(log_p - apply(log_p, 1L, max))
  matrix(prob / rowSums(prob), nrow(prob), dimnames = list(data$group_names, classes))
}

sequence_label_answer <- function(fit, data, type, call) {
  if (is.null(fit$input$sequence_classes)) {
    abort("labels", c(
      "{.code type = {.str {type}}} is for fits with {.arg sequence_labels}.",
      i = "{.code type = \"label\"} is of rows."
    ), call = call)
  }
  prob <- sequence_class_probabilities(fit, data, call)
  if (type == "sequence_label_prob") {
    return(prob)
  }
  stats::setNames(factor(colnames(prob)[max.col(prob, "first")], colnames(prob)), rownames(prob))
}

# The classes of rows, as predict() returns them. Without `newdata`, of the training data given their labels.
state_label_answer <- function(fit, newdata, type, id, na_action, parent, labels, covariates = NULL,
                               call = rlang::caller_env()) {
  need_labels(fit, type, call)
  if (is.null(newdata) && type == "label" && is.null(fit$probabilities)) {
    return(label_answer(fit, NULL, type, na_action, call = call))
  }
  # The kind of probabilities of states that are used: q(z) for the training data, which respects their labels
  # already.
  kind <- if (is.null(newdata)) "responsibility" else "prob"
  prob <- predict(
    fit, newdata, !!id, type = kind, na_action = na_action, parent = parent, labels = !!labels, covariates = covariates
  )
  if (type == "label") most_probable_class(fit, prob) else class_probabilities(fit, prob)
}

# Refuses labels of new rows, which restrict the states of these rows, without new rows or with a type of
# prediction that does not use them.
need_new_rows <- function(fit, newdata, type, call = rlang::caller_env()) {
  need_labels(fit, type, call)
  if (is.null(newdata)) {
    abort("labels", c(
      "{.arg labels} are for {.arg newdata}.", i = "Those of the training data are known."
    ), call = call)
  }
  taken <- c("class", "marginal", "prob", "responsibility", "label", "label_prob")
  if (!type %in% taken) {
    abort("labels", c(
      "{.arg labels} of new rows are not used by {.code type = {.str {type}}}.",
      i = "They are by {.or {.val {taken}}}."
    ), call = call)
  }
}
