# Topics whose proportions in documents depend on covariates (prior_covariates()). fit$input$document_pattern
# holds the number of each document's covariate pattern (combination of covariate values), from 0, which the
# engine reads as the document's value.

# Converts prior_covariates() to the form that the engine and the tables of priors use for documents.
prior_of_documents <- function(prior, call) {
  if (!has_covariates(prior)) {
    return(prior)
  }
  if (!is.null(prior$k)) {
    abort("argument", c(
      "{.arg k} of {.fn prior_covariates} cannot be used in {.fn bnp_topics}, which finds the number of topics.",
      i = "Leave {.arg k} out; {.arg k_init} of {.fn bnp_control} sets the number at the start."
    ), call = call)
  }
  need_no_transitions(prior, call, takes = "alpha")
  prior$family <- "topic_covariates"
  prior
}

has_tilted_topics <- function(fit) identical(fit$model$prior$family, "topic_covariates")

# Reads the covariates of documents. Returns list(data, prior, input): data with the covariate pattern of each
# document, the prior with all patterns, and what the fit keeps.
with_document_covariates <- function(data, prior, covariates, x, call) {
  frame <- frame_of_documents(all.vars(prior$formula), covariates, x, data, call)
  weights <- if (is.null(data$weights)) rep(1, nrow(frame)) else data$weights[data$starts[-length(data$starts)] + 1L]
  found <- learn_patterns(prior$formula, frame, weights, "covariates", call, most_document_patterns)
  environment(prior$formula) <- globalenv()
  prior[c("design", "patterns", "n_patterns", "n_columns")] <- list(
    found$design, found$patterns, nrow(found$patterns), ncol(found$patterns)
  )
  data$group_values <- matrix(as.double(found$position), 1L)
  list(data = data, prior = prior, input = list(document_pattern = found$position))
}

most_document_patterns <- 1024L # of each pattern a topic has two numbers, and a visit of documents a prior

# A data frame with a row of covariates for each document that is used. If no covariates are given, they are
# read from the document variables of a dfm.
frame_of_documents <- function(names, covariates, x, data, call) {
  given <- given_groups(data)
  if (is.null(covariates)) {
    covariates <- if (is(x, "dfm")) methods::slot(x, "docvars")
    if (is.null(covariates) && length(names)) need_covariates(names, "x", call, "document")
    covariates <- covariates %||% data.frame(row.names = seq_len(given$n))
    given$names <- NULL # in the order of the documents
  }
  frame <- covariate_frame(covariates, given$n, given$names, "covariates", "document", call)
  if (is.null(given$kept)) frame else values_at(frame, given$kept)
}

# Reads new documents with their covariate patterns; `patterns` and `more_variance` of the result are as from
# with_new_covariates(). Without covariates the documents must be the fit's own, which names and lengths show.
with_new_document_covariates <- function(fit, data, covariates, newdata, call) {
  prior <- fit$model$prior
  names <- names(prior$design$values)
  docvars <- if (is(newdata, "dfm")) methods::slot(newdata, "docvars")
  if (is.null(covariates) && length(names) && !all(names %in% names(docvars))) {
    known <- identical(fit$input$group_names, data$group_names) &&
      identical(as.double(fit$input$lengths), as.double(document_lengths(data, fit$model$obs)))
    if (!known) {
      abort("covariates", c(
        "{.arg covariates} are needed: the proportions of documents depend on {.field {names}}.",
        i = "They are known only for the documents of the fit."
      ), call = call)
    }
    return(with_document_patterns(data, fit$input$document_pattern, prior$patterns, numeric(prior$n_patterns)))
  }
  frame <- frame_of_documents(names, covariates, newdata, data, call)
  made <- apply_design(prior$design, frame, "covariates", call)
  found <- patterns_of(cbind(made$value, made$extra))
  p <- prior$n_columns
  with_document_patterns(
    data, found$position, found$patterns[, seq_len(p), drop = FALSE], found$patterns[, p + 1L]
  )
}

with_document_patterns <- function(data, position, patterns, more_variance) {
  data$group_values <- matrix(as.double(position), 1L)
  data[c("patterns", "more_variance")] <- list(patterns, more_variance)
  data
}

# The fit with the covariate patterns of the given documents in place of its own, as the engine needs it to
# visit these documents.
fit_at_documents <- function(fit, data) {
  if (is.null(data$patterns) || !has_tilted_topics(fit)) {
    return(fit)
  }
  n <- nrow(data$patterns)
  fit <- fit_with_patterns_of(fit, list(patterns = data$patterns, n_patterns = n))
  fit$model$prior$more_variance <- fit$model$prior$effect_scale^2 * data$more_variance
  fit$input$document_pattern <- as.integer(data$group_values)
  fit
}

# Replaces the covariate patterns of a fit, and drops its statistics by pattern. These are not known for other
# patterns, and not needed while topics and effects stay fixed.
fit_with_patterns_of <- function(fit, prior) {
  fit$model$prior[c("patterns", "n_patterns")] <- prior[c("patterns", "n_patterns")]
  n <- prior$n_patterns
  fit$state$extra <- matrix(0, fit$state$k, 2L * n + 1L)
  fit$state$scalar <- c(fit$state$scalar[1:3], numeric(2L * n))
  fit
}

# The parameters of the Dirichlet prior of topic proportions, for documents with each covariate pattern:
# patterns x topics and, last, all topics not found yet.
tilted_document_weights <- function(fit) {
  prior <- fit$model$prior
  prior$alpha * exp(log_weights_at(fit, prior$patterns, (prior$more_variance %||% 0) / prior$effect_scale^2))
}

# The number of the fit's documents with each covariate pattern; 1 for each pattern if the fit was prepared
# for other documents.
document_pattern_sizes <- function(fit) {
  n <- fit$state$scalar[2L + 2L * seq_len(fit$model$prior$n_patterns)]
  if (any(n > 0)) n else rep(1, length(n))
}

# Calls make(fit, documents) for each covariate pattern: with a fit that has this pattern only, and the
# numbers (in `data`) of the documents with this pattern. For fits without covariates, one call for all
# documents.
by_document_pattern <- function(fit, data, make) {
  if (!has_tilted_topics(fit)) {
    return(make(fit, seq_len(length(data$starts) - 1L)))
  }
  number <- as.integer(data$group_values)
  for (c in unique(number)) {
    own <- data
    own$patterns <- data$patterns[c + 1L, , drop = FALSE]
    own$more_variance <- data$more_variance[c + 1L]
    own$group_values <- matrix(0, 1L)
    make(fit_at_documents(fit, own), which(number == c))
  }
}

# The result of predict(type = "weights"): expected proportions of topics in documents before any word is seen
# and, last, of all topics not found yet.
weights_at_documents <- function(fit, newdata, covariates, call) {
  require_ability(fit, "predict_weights", call)
  if (!is.null(newdata)) {
    abort(
      "argument", "With {.code type = \"weights\"} give only {.arg covariates}: these weights do not depend on words.",
      call = call
    )
  }
  prior <- fit$model$prior
  if (is.null(covariates)) {
    share <- shares_at(fit, prior$patterns)[fit$input$document_pattern + 1L, , drop = FALSE]
    return(`dimnames<-`(share, list(fit$input$group_names, c(seq_len(fit$state$k), "new"))))
  }
  frame <- covariate_frame(covariates, NROW(covariates), NULL, "covariates", "document", call)
  made <- apply_design(prior$design, frame, "covariates", call)
  `dimnames<-`(shares_at(fit, made$value, made$extra), list(NULL, c(seq_len(fit$state$k), "new")))
}
