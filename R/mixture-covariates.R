# Mixtures whose weights depend on covariates: their data, and the weights of their clusters.

# Splits the arguments of bnp_mixture() into list(x, covariates). x: without the columns that the formula of
# the prior names, unless `covariates` are given; covariates: list(frame, arg, said) with a data frame of one
# row for each row (or individual), the name of the argument for messages, and where the covariates came from.
# given_x: x before other arguments took their columns.
split_covariates <- function(x, covariates, prior, given_x, call) {
  if (!has_covariates(prior)) {
    only_with_prior(covariates, call)
    return(list(x = x))
  }
  if (!is.null(covariates)) {
    return(list(x = x, covariates = list(frame = covariates, arg = "covariates", said = list(of = "covariates"))))
  }
  names <- all.vars(prior$formula)
  need_named_covariates(names, call)
  if (is.null(colnames(given_x))) {
    need_covariates(names, "x", call)
  }
  frame <- as.data.frame(given_x)
  own <- intersect(names, names(frame))
  if (length(own)) x <- x[, !colnames(x) %in% own, drop = FALSE]
  if (!ncol(x)) {
    abort("covariates", c(
      "All columns of {.arg x} are covariates: {.field {own}}.", i = "Clusters are made of the other columns."
    ), call = call)
  }
  list(x = x, covariates = list(frame = frame[own], arg = "x", said = list(of = "x")))
}

# Finds the covariates, as split_covariates() does, where the variables of bnp_mixture() come by a formula.
covariates_of_formula <- function(covariates, data, prior, call) {
  if (!has_covariates(prior)) {
    only_with_prior(covariates, call)
    return(NULL)
  }
  if (!is.null(covariates)) {
    return(list(frame = covariates, arg = "covariates", said = list(of = "covariates")))
  }
  need_named_covariates(all.vars(prior$formula), call)
  if (!is.data.frame(data)) need_covariates(all.vars(prior$formula), "data", call)
  list(frame = data[intersect(all.vars(prior$formula), names(data))], arg = "data", said = list(of = "x"))
}

only_with_prior <- function(covariates, call) {
  if (!is.null(covariates)) {
    abort("covariates", c(
      "{.arg covariates} are for {.fn prior_covariates}.",
      i = "Give {.code prior = prior_covariates(~ age)}, with a formula of their columns."
    ), call = call)
  }
}

# A dot means all columns of `covariates`; without them, these names are not among the columns to be clustered.
need_named_covariates <- function(names, call) {
  if ("." %in% names) {
    abort("covariates", c(
      "{.code .} in the formula of {.fn prior_covariates} stands for the columns of {.arg covariates}.",
      i = "Give {.arg covariates}, or name them in the formula: {.code ~ age + sex}."
    ), call = call)
  }
}

need_covariates <- function(names, arg, call, word = "row") {
  if (length(names)) {
    abort("covariates", c(
      "{.fn prior_covariates} needs the {cli::qty(length(names))}covariate{?s} {.field {names}}.",
      i = "Give {.arg covariates}, a data frame with a row for each {word} of {.arg {arg}}."
    ), call = call)
  }
}

require_no_covariates <- function(prior, of, call) {
  if (has_covariates(prior)) require_ability(of, "prior_covariates", call)
}

# Adds covariates: list(data, prior) with the number of each row's covariate pattern (combination of values)
# in the data, and the patterns in the prior.
with_covariates <- function(data, prior, covariates, call) {
  arg <- covariates$arg
  frame <- covariate_rows(data, covariates$frame, arg, call)
  weights <- data$weights %||% rep(1, data$n)
  if (has_individuals(data)) weights[duplicated(data$individual)] <- 0
  found <- learn_patterns(prior$formula, frame, weights, arg, call)
  require_one_pattern(data, found$position, arg, call)
  data$position <- found$position
  list(data = data, prior = prior_with_patterns(prior, found))
}

prior_with_patterns <- function(prior, found) {
  environment(prior$formula) <- globalenv()
  prior$design <- found$design
  prior$patterns <- found$patterns
  prior$n_patterns <- nrow(found$patterns)
  prior$n_columns <- ncol(found$patterns)
  prior
}

# The covariates of the rows of data, a data frame. Individuals may have one row each, or one for each of
# their rows.
covariate_rows <- function(data, x, arg, call) {
  of_individuals <- has_individuals(data) && NROW(x) == data$n_individuals && NROW(x) != rows_given(data)
  if (of_individuals) {
    frame <- covariate_frame(x, data$n_individuals, data$individuals$names, arg, "individual", call)
    return(values_at(frame, data$individual))
  }
  frame <- covariate_frame(x, rows_given(data), given_row_names(data), arg, "row", call)
  kept <- data$left_out$kept
  if (is.null(kept)) frame else values_at(frame, kept)
}

require_one_pattern <- function(data, position, arg, call) {
  if (!has_individuals(data)) {
    return(invisible())
  }
  first <- position[match(data$individual, data$individual)]
  bad <- unique(data$individual[position != first])
  if (length(bad)) {
    abort("covariates", c(
      "All rows of an individual must have the same covariates.",
      x = "Not so: {places(data$individuals$names[bad])}.",
      i = "The rows of an individual share one cluster, so that its weights are those of the individual."
    ), call = call)
  }
}

# New data with the number of each row's covariate pattern, from 0, and `patterns`, the covariates of each
# pattern. more_variance: for each pattern the variance that comes from levels that the fit has not seen.
# Without covariates the data must be the training data.
with_new_covariates <- function(fit, data, covariates, newdata, arg, call) {
  prior <- fit$model$prior
  previous <- prior$design$previous
  names <- setdiff(names(prior$design$values), previous_names(names(previous)))
  if (is.null(covariates) && is.data.frame(newdata) && length(names) && all(names %in% names(newdata))) {
    covariates <- as.data.frame(newdata)[names]
  } else if (is.null(covariates) && length(names)) {
    return(with_training_patterns(fit, data, names, call))
  }
  frame <- if (is.null(covariates)) data.frame(row.names = seq_len(data$n)) else
    covariate_rows(data, covariates, if (is.data.frame(newdata)) arg else "covariates", call)
  if (length(previous)) frame <- with_previous(frame, names(previous), data, previous)
  made <- apply_design(prior$design, frame, "covariates", call)
  found <- patterns_of(cbind(made$value, made$extra))
  require_one_pattern(data, found$position, "covariates", call)
  p <- prior$n_columns
  data$position <- found$position
  data$patterns <- found$patterns[, seq_len(p), drop = FALSE]
  data$more_variance <- found$patterns[, p + 1L]
  data
}

with_training_patterns <- function(fit, data, names, call) {
  known <- fit$input
  if (!identical(as.integer(data$n), as.integer(known$n)) || !identical(fingerprint_of(data), known$fingerprint)) {
    if (data$n > 0L) {
      abort("covariates", c(
        "{.arg covariates} are needed: {if (inherits(fit, 'bnp_hmm')) 'transitions' else 'the weights of clusters'}
         depend on {.field {names}}.",
        i = "They are known only for the training data."
      ), call = call)
    }
    return(data)
  }
  data$position <- in_user_order(fit, known$position)
  data$patterns <- fit$model$prior$patterns
  data$more_variance <- numeric(nrow(data$patterns))
  data
}

# A fit as the engine needs it for data whose covariate patterns differ from those of the training data.
fit_at_patterns <- function(fit, data) {
  if (has_tilted_topics(fit)) {
    return(fit_at_documents(fit, data))
  }
  before <- n_patterns_of(fit$model)
  fit$model$prior$patterns <- data$patterns
  fit$model$prior$n_patterns <- nrow(data$patterns)
  if (prior_entry(fit$model$prior)$verb == "bnp_hmm") { # what the engine knows of transitions has no patterns
    fit$state$pair <- matrix(0, fit$state$k, fit$state$k * nrow(data$patterns))
    return(fit)
  }
  of_rows <- seq_len(ncol(fit$state$obs) - before)
  fit$state$obs <- cbind(fit$state$obs[, of_rows, drop = FALSE], matrix(0, fit$state$k, nrow(data$patterns)))
  fit
}

# The mean weight of each cluster in the user's order and, last, of those not found yet, at given covariates
# (rows of x). These are normalised means of exponentials; q(z) of rows uses E log of the weights before
# normalisation instead.
shares_at <- function(fit, x, more_variance = 0) {
  log_weight <- log_weights_at(fit, x, more_variance)
  share <- exp(log_weight - apply(log_weight, 1L, max))
  share / rowSums(share)
}

# The log of the mean of each cluster's weight before normalisation, at given covariates: rows of x x
# clusters.
log_weights_at <- function(fit, x, more_variance = 0) {
  params <- tilt_arrays(fit)
  log_weight <- rep(params$log_mean, each = nrow(x))
  dim(log_weight) <- c(nrow(x), length(params$log_mean))
  k <- fit$state$k
  for (j in seq_len(k)) {
    cov <- matrix(params$cov[, , j], ncol(x))
    variance <- rowSums((x %*% cov) * x) + fit$model$prior$effect_scale^2 * more_variance
    log_weight[, j] <- log_weight[, j] + x %*% params$mean[j, ] + variance / 2
  }
  log_weight
}

# What determines the weights: list(log_mean, mean, cov), clusters in the user's order. log_mean: the log of
# the mean weight without covariates of each cluster and of the rest; mean, cov: means and covariances of the
# effects.
tilt_arrays <- function(fit) {
  posterior <- engine_posterior(fit$model, fit$state)
  at <- fit$numbering
  log_mean <- if (is.null(posterior$untilted_sticks)) {
    c(log(posterior$untilted_concentration / sum(posterior$untilted_concentration)), -Inf)
  } else {
    a <- posterior$untilted_sticks[, 1L]
    b <- posterior$untilted_sticks[, 2L]
    rest <- cumsum(log(b / (a + b)))
    c(log(a / (a + b)) + c(0, rest[-length(rest)]), rest[length(rest)])
  }
  list(
    log_mean = log_mean[c(at, length(log_mean))],
    mean = posterior$effects[at, , drop = FALSE], cov = posterior$effects_cov[, , at, drop = FALSE]
  )
}

# The mean weights of clusters: for training data at the fit's covariate patterns, for new data at the
# patterns of these.
weights_with_new.bnp_mixture_by_covariates <- function(fit, data = NULL) {
  if (is.null(data$position)) {
    return(NextMethod())
  }
  if (is.null(data$patterns)) shares_at(fit, fit$model$prior$patterns) else
    shares_at(fit, data$patterns, data$more_variance)
}

# The log density of single rows of which only the values are known: where weights depend on covariates, these
# have their means over the training rows.
overall_log_predictive <- function(fit, data) {
  data <- as_single_rows(fit, data)
  if (!has_covariates(fit$model$prior)) {
    return(log_predictive(fit, data))
  }
  share <- shares_at(fit, fit$model$prior$patterns)[fit$input$position + 1L, , drop = FALSE]
  data$position <- integer(data$n)
  engine_log_predictive(
    as_engine_data(data), fit$model, fit$state, FALSE, fit$control$threads,
    in_engine_order(fit, matrix(colMeans(share), 1L)), weight_slots(data)
  )
}

# The result of predict(type = "weights"): rows x clusters and, last, all clusters that are not found yet.
weights_at_rows <- function(fit, newdata, covariates, call) {
  require_ability(fit, "predict_weights", call)
  frame <- covariates %||% newdata
  if (is.null(frame)) {
    at <- in_user_order(fit, fit$input$position) + 1L
    share <- shares_at(fit, fit$model$prior$patterns)[at, , drop = FALSE]
    names <- fit$input$row_names
  } else {
    arg <- if (is.null(covariates)) "newdata" else "covariates"
    frame <- covariate_frame(frame, NROW(frame), NULL, arg, "row", call)
    made <- apply_design(fit$model$prior$design, frame, arg, call)
    share <- shares_at(fit, made$value, made$extra)
    names <- NULL
  }
  `dimnames<-`(share, list(names, c(seq_len(fit$state$k), "new")))
}

# Refuses the argument `covariates` for fits whose prior has none.
only_with_covariates <- function(fit, call, arg = "covariates") {
  if (!has_covariates(fit$model$prior)) {
    is <- if (arg == "covariates") "are" else "is"
    abort("covariates", "{.arg {arg}} {is} for fits with {.fn prior_covariates}, which this one is not.", call = call)
  }
}

# The covariate patterns of n rows (or individuals) to be simulated: list(position, patterns, more_variance)
# for the given covariates, or for those of the training data in turn; NULL for fits without covariates.
simulated_patterns <- function(fit, covariates, n, call) {
  if (!has_covariates(fit$model$prior)) {
    return(NULL)
  }
  prior <- fit$model$prior
  if (is.null(covariates)) {
    known <- of_units(fit$input, in_user_order(fit, fit$input$position))
    found <- list(position = known, patterns = prior$patterns)
    more <- numeric(nrow(prior$patterns))
  } else {
    frame <- covariate_frame(covariates, NROW(covariates), NULL, "covariates", "row", call)
    made <- apply_design(prior$design, frame, "covariates", call)
    found <- patterns_of(cbind(made$value, made$extra))
    more <- found$patterns[, prior$n_columns + 1L]
    found$patterns <- found$patterns[, seq_len(prior$n_columns), drop = FALSE]
  }
  if (n > 0L && !length(found$position)) {
    abort("covariates", "{.arg covariates} must have at least one row.", call = call)
  }
  list(position = rep_len(found$position, n), patterns = found$patterns, more_variance = more)
}

# A fit that will be the start for rows with other covariate patterns: what it knows about weights is removed.
fit_without_patterns <- function(fit, prior) {
  if (!has_covariates(prior) || has_tilted_topics(fit) && identical(fit$model$prior$patterns, prior$patterns)) {
    return(fit)
  }
  if (prior_entry(prior)$verb == "bnp_hmm") {
    return(fit)
  }
  fit <- if (has_tilted_topics(fit)) fit_with_patterns_of(fit, prior) else fit_at_patterns(fit, prior)
  fit$state$u <- numeric()
  fit
}

# The lines of print() about the covariates of a prior.
described_covariates <- function(fit) {
  prior <- fit$model$prior
  if (!has_covariates(prior)) {
    return(NULL)
  }
  rounded <- prior$design$rounded
  paste0(
    switch(prior_entry(prior)$verb, bnp_hmm = "Transitions", bnp_topics = "Proportions", "Weights"), " by ",
    paste(deparse(prior$formula), collapse = " "), ": ", count_of(prior$n_patterns, "covariate pattern"),
    if (!is.null(rounded)) paste0(" (numbers rounded to at most ", rounded, " values)")
  )
}
