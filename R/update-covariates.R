# Adds rows to a mixture with covariates: rows with covariate patterns of the fit, and rows with new patterns.

# Finds the covariate patterns of rows that a fit takes in. Returns list(fit, data): data with the number,
# from 0, of each row's pattern, and the fit with any new patterns appended to its own, so that the bound is
# exact. If the fit has rounded covariates, or there would be too many patterns, rows with a new pattern get
# the nearest pattern of the fit instead. covariates: if NULL, they are columns of newdata.
with_patterns_taken_in <- function(fit, data, covariates, newdata, call) {
  prior <- fit$model$prior
  frame <- covariates_taken_in(prior$design, data, covariates, newdata, call)
  made <- apply_design(prior$design, frame, attr(frame, "arg"), call)
  need_seen_levels(made$extra > 0, call)
  known <- prior$patterns
  both <- patterns_of(rbind(known, made$value))
  position <- both$position[nrow(known) + seq_len(data$n)]
  new <- nrow(both$patterns) - nrow(known)
  if (new > 0L && (!is.null(prior$design$rounded) || nrow(both$patterns) > most_patterns)) {
    met <- both$patterns[-seq_len(nrow(known)), , drop = FALSE]
    position <- c(seq_len(nrow(known)) - 1L, nearest_patterns(met, known))[position + 1L]
    tell_nearest_patterns(new)
  } else if (new > 0L) {
    first <- match(nrow(known) + seq_len(new) - 1L, position)
    fit <- fit_with_more_patterns(fit, both$patterns, values_at(frame, first)[names(prior$design$values)])
  }
  require_one_pattern(data, position, attr(frame, "arg"), call)
  data$position <- position
  list(fit = fit, data = data)
}

# The covariates of the rows of `data` as a data frame. Its attribute `arg` is the name of the argument that
# they come from, for messages.
covariates_taken_in <- function(design, data, covariates, newdata, call) {
  names <- names(design$values)
  arg <- "covariates"
  if (is.null(covariates)) {
    arg <- "newdata"
    has_all <- is.data.frame(newdata) && all(names %in% names(newdata))
    if (!has_all) need_covariates(names, arg, call)
    covariates <- if (length(names)) as.data.frame(newdata)[names] else data.frame(row.names = seq_len(data$n))
    if (!length(names)) {
      return(structure(covariates, arg = arg))
    }
  }
  structure(covariate_rows(data, covariates, arg, call), arg = arg)
}

need_seen_levels <- function(new, call) {
  if (any(new)) {
    abort("covariates", c(
      "{.fn update} cannot take in rows with levels of covariates that the fit has not seen.",
      x = "{sum(new)} row{?s} of {.arg newdata} {?has/have} one.",
      i = "Fit anew to all rows: {.code bnp_mixture(x, prior = fit$call$prior, covariates = , start = fit)}."
    ), call = call)
  }
}

# The number, from 0, of the known covariate pattern that is nearest to each row of x.
nearest_patterns <- function(x, known) {
  at <- t(known)
  vapply(seq_len(nrow(x)), function(i) which.min(colSums((at - x[i, ])^2)) - 1L, 1L)
}

tell_nearest_patterns <- function(n) {
  cli::cli_inform(
    "{n} covariate pattern{?s} of {.arg newdata} that the fit does not have {?counts/count} as the nearest it has.",
    class = c("bnpvi_message_rounded_covariates", "bnpvi_message")
  )
}

# Appends covariate patterns to those of a fit, which has no rows with these patterns yet. more: the
# covariates of these patterns.
fit_with_more_patterns <- function(fit, patterns, more) {
  prior <- fit$model$prior
  new <- nrow(patterns) - nrow(prior$patterns)
  design <- prior$design
  more[] <- Map(function(v, name) {
    in_form_of_fit(v, plain_values(design$values[[name]]), name, "newdata", rlang::caller_env())
  }, more, names(more))
  design$values <- `row.names<-`(rbind(design$values, more), NULL)
  for (name in names(design$shown)) design$shown[[name]] <- values_to_show(c(design$shown[[name]], more[[name]]))
  fit$model$prior <- prior_with_patterns(prior, list(design = design, patterns = patterns))
  fit$state$obs <- cbind(fit$state$obs, matrix(0, fit$state$k, new))
  fit
}
