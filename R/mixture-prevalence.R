# prevalence() of fits whose weights depend on covariates: what the model says of the weights at values of a covariate.

most_grid <- 50L # values of a numeric covariate
most_draws <- 2000L
most_exponentials <- 2e7 # of all draws, a guess: some seconds

prevalence_by_model <- function(fit, by, level, at, contrast, average, call) {
  design <- fit$model$prior$design
  by <- one_covariate(by, design, call)
  at <- fixed_covariates(at, by, design, call)
  known <- design$values
  weight <- pattern_sizes(fit)
  if (!average) {
    known <- typical_covariates(known, weight)
    weight <- 1
  }
  known[names(at)] <- at
  value <- known_values(design$values[[by]])
  grids <- lapply(seq_along(value), function(i) {
    known[[by]] <- rep(value[i], nrow(known))
    apply_design(design, known, "at", call)$value
  })
  means <- vapply(grids, function(x) average_shares(shares_at(fit, x), weight), numeric(fit$state$k + 1L))
  drawn <- drawn_shares(fit, do.call(rbind, grids), weight, length(grids))
  against <- function(x) x - x[, rep(1L, ncol(x)), drop = FALSE]
  if (contrast) {
    means <- against(means)
    for (r in seq_len(dim(drawn)[3L])) drawn[, , r] <- against(matrix(drawn[, , r], nrow(means)))
  }
  shown <- if (contrast) seq_along(value)[-1L] else seq_along(value)
  ends <- apply(drawn, c(1L, 2L), stats::quantile, probs = 0.5 + c(-1, 1) * level / 2, names = FALSE)
  clusters <- seq_len(fit$state$k)
  column <- if (is.numeric(value)) "at" else "group"
  out <- data.frame(
    cluster = rep(clusters, each = length(shown)),
    at = if (is.numeric(value)) rep(value[shown], length(clusters)) else rep(factor(value[shown], value), length(clusters)),
    rows = nobs(fit), proportion = as.double(t(means[clusters, shown])),
    conf.low = as.double(t(ends[1L, clusters, shown])), conf.high = as.double(t(ends[2L, clusters, shown]))
  )
  names(out)[2L] <- column
  structure(
    without_noise(out), class = c("bnp_prevalence", "data.frame"), by = by, of_model = TRUE,
    against = if (contrast) label_text(value[1L])
  )
}

one_covariate <- function(by, design, call) {
  if (inherits(by, "formula")) by <- column_named(by, "by", call)
  names <- names(design$values)
  if (!rlang::is_string(by, names)) {
    abort("by", c(
      "{.arg by} must be the name of one of the covariates, not {describe(by)}.",
      i = "They are {.field {names}}."
    ), call = call)
  }
  by
}

fixed_covariates <- function(at, by, design, call) {
  names <- setdiff(names(design$values), by)
  if (!is.list(at) || length(at) && is.null(names(at)) || !all(names(at) %in% names) || any(lengths(at) != 1L)) {
    abort("at", c(
      "{.arg at} must be a list of one value for each of some other covariates, not {describe(at)}.",
      i = if (length(names)) "They are {.field {names}}: {.code at = list({names[1L]} = )}." else "There are none."
    ), call = call)
  }
  at
}

# Numbers: values from the smallest to the largest; others: all that there are, as text.
known_values <- function(v) {
  if (is.numeric(v)) seq(min(v), max(v), length.out = most_grid) else levels(label_factor(v, sorted = TRUE))
}

# How many rows each pattern counts.
pattern_sizes <- function(fit) {
  n <- n_patterns_of(fit$model)
  unname(colSums(fit$state$obs[, ncol(fit$state$obs) - n + seq_len(n), drop = FALSE]))
}

# One row: means of numbers, and otherwise the most frequent value.
typical_covariates <- function(known, weight) {
  as.data.frame(lapply(known, function(v) {
    if (is.numeric(v)) sum(v * weight) / sum(weight) else {
      f <- label_factor(v)
      levels(f)[which.max(tapply(weight, f, sum))]
    }
  }), optional = TRUE)
}

average_shares <- function(share, weight) as.double(crossprod(share, rep_len(weight, nrow(share)))) / sum(weight)

# Clusters (and the rest) x values x draws: average weights under draws of q(weights, effects). x: the rows of one value
# after those of the other.
drawn_shares <- function(fit, x, weight, values) {
  params <- tilt_arrays(fit)
  k <- fit$state$k
  p <- ncol(x)
  draws <- as.integer(max(200, min(most_draws, most_exponentials / (nrow(x) * (k + 1L)))))
  roots <- lapply(seq_len(k), function(j) if (p > 0L) t(chol(matrix(params$cov[, , j], p))) else matrix(0, 0L, 0L))
  posterior <- engine_posterior(fit$model, fit$state)
  one <- function(i) {
    log_weight <- drawn_log_weights(posterior)[c(fit$numbering, k + 1L)]
    effects <- vapply(seq_len(k), function(j) params$mean[j, ] + as.double(roots[[j]] %*% stats::rnorm(p)), numeric(p))
    tilt <- cbind(if (p > 0L) x %*% matrix(effects, p) else matrix(0, nrow(x), k), 0)
    tilt <- tilt + rep(log_weight, each = nrow(x))
    share <- exp(tilt - tilt[cbind(seq_len(nrow(x)), max.col(tilt, "first"))])
    share <- share / rowSums(share)
    by_value <- rowsum(share * weight, rep(seq_len(values), each = nrow(x) / values), reorder = FALSE)
    t(by_value) / sum(weight)
  }
  sets <- with_r_seed(draws, 1L, function() one(), rlang::caller_env())$sets
  array(unlist(sets), c(k + 1L, values, draws))
}

# Of the clusters as the engine has them, and of the rest.
drawn_log_weights <- function(posterior) {
  if (is.null(posterior$untilted_sticks)) {
    drawn <- stats::rgamma(length(posterior$untilted_concentration), posterior$untilted_concentration)
    return(c(log(drawn / sum(drawn)), -Inf))
  }
  a <- stats::rgamma(nrow(posterior$untilted_sticks), posterior$untilted_sticks[, 1L])
  b <- stats::rgamma(nrow(posterior$untilted_sticks), posterior$untilted_sticks[, 2L])
  rest <- cumsum(log(b / (a + b)))
  c(log(a / (a + b)) + c(0, rest[-length(rest)]), rest[length(rest)])
}

#' @export
print.bnp_prevalence <- function(x, ...) {
  print(as.data.frame(unclass(x)), ...)
  if (isTRUE(attr(x, "of_model"))) {
    cat(strwrap(paste0(
      if (!is.null(attr(x, "against"))) paste0("Differences from ", attr(x, "by"), " = ", attr(x, "against"), ". "),
      "The intervals are those of the variational posterior, and too narrow: it does not know that the rows' clusters ",
      "and the parameters of weights and clusters are uncertain together."
    )), sep = "\n")
  }
  invisible(x)
}

#' @rdname prevalence
#' @param x A table of `prevalence()`.
#' @param ... Must be empty.
#' @export
tidy.bnp_prevalence <- function(x, ...) {
  check_no_dots(...)
  as_tidy(as.data.frame(unclass(x)))
}
