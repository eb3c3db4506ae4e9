# prevalence() of fits whose weights depend on covariates: the weights of clusters as a covariate changes.

most_grid <- 50L # values of a numeric covariate
most_draws <- 2000L
most_exponentials <- 2e7 # of all draws, a guess: some seconds

# The points at which prevalence() computes weights: list(by, value, x, weight). by, value: the covariate's
# name and values; x: for each value the columns of the design, with the other covariates as in the training
# data (average) or at typical values; extra: for each row of x, how many of its covariates have levels that the fit has
# not seen; weight: the weight of each row that belongs to one value. sizes: the number of rows of each combination of
# covariates.
grid_of_covariate <- function(fit, by, at, average, sizes, call) {
  design <- fit$model$prior$design
  by <- one_covariate(by, design, call)
  at <- fixed_covariates(at, by, design, call)
  known <- design$values
  if (!average) {
    known <- typical_covariates(known, sizes)
    sizes <- 1
  }
  known[names(at)] <- at
  value <- shown_values(design, by, call)
  known[[by]] <- rep(value[1L], nrow(known))
  coded <- vapply(known, function(v) match(v, unique(v)), numeric(nrow(known)))
  number <- patterns_of(matrix(coded, nrow(known)))$position
  weight <- as.double(rowsum(rep_len(sizes, nrow(known)), number, reorder = FALSE))
  known <- known[!duplicated(number), , drop = FALSE]
  shown <- known[rep(seq_len(nrow(known)), length(value)), , drop = FALSE]
  shown[[by]] <- rep(value, each = nrow(known))
  made <- apply_design(design, shown, "at", call)
  list(by = by, value = value, x = made$value, extra = made$extra, weight = weight)
}

# Computes prevalence() for one covariate. response: list(mean, cov) from linear_response(), list(draws) from
# draws_given_words(), or NULL for intervals that need no data: of mixtures from q, of topics from
# response_of_documents().
prevalence_by_model <- function(fit, by, level, at, contrast, average, response, call) {
  grid <- grid_of_covariate(fit, by, at, average, pattern_sizes(fit), call)
  need_contrast(grid, contrast, call)
  by <- grid$by
  value <- grid$value
  weight <- grid$weight
  of_value <- unname(split(seq_len(nrow(grid$x)), rep(seq_along(value), each = length(weight))))
  means <- vapply(of_value, function(rows) {
    average_shares(shares_at(fit, grid$x[rows, , drop = FALSE], grid$extra[rows]), weight)
  }, numeric(fit$state$k + 1L))
  if (has_tilted_topics(fit)) response <- response %||% response_of_documents(fit)
  drawn <- drawn_shares(fit, grid, response)
  if (!is.null(response$draws)) means <- rowMeans(drawn, dims = 2L)
  against <- function(x) x - x[, rep(1L, ncol(x)), drop = FALSE]
  if (contrast) {
    means <- against(means)
    for (r in seq_len(dim(drawn)[3L])) drawn[, , r] <- against(matrix(drawn[, , r], nrow(means)))
  }
  shown <- if (contrast) seq_along(value)[-1L] else seq_along(value)
  ends <- apply(drawn, c(1L, 2L), stats::quantile, probs = 0.5 + c(-1, 1) * level / 2, names = FALSE)
  clusters <- seq_len(fit$state$k)
  column <- if (is_scale(value)) "at" else "group"
  value <- value_of_table(value)
  out <- data.frame(
    cluster = rep(clusters, each = length(shown)), at = rep(value[shown], length(clusters)),
    rows = nobs(fit), proportion = as.double(t(means[clusters, shown])),
    conf.low = as.double(t(ends[1L, clusters, shown])), conf.high = as.double(t(ends[2L, clusters, shown]))
  )
  names(out)[2L] <- column
  if (has_tilted_topics(fit)) names(out)[c(1L, 3L)] <- c("topic", "documents")
  structure(
    without_noise(out), class = c("bnp_prevalence", "data.frame"), by = by, of_model = TRUE,
    responds = !is.null(response), drawn = !is.null(response$draws),
    against = if (contrast) label_text(value[1L])
  )
}

# The covariate that is meant if none is named.
only_covariate <- function(design, call = rlang::caller_env()) {
  names <- names(design$values)
  if (length(names) == 1L) {
    return(names)
  }
  abort("by", c(
    "{.arg by} is needed.",
    i = if (length(names)) "The covariates are {.field {names}}: {.code prevalence(fit, \"{names[1L]}\")}."
  ), call = call)
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
  if (!is.list(at) || length(at) && is.null(names(at)) || !all(names(at) %in% names) || any(lengths(at) != 1L) ||
        anyDuplicated(names(at))) {
    abort("at", c(
      "{.arg at} must be a list of one value for each of some other covariates, not {describe(at)}.",
      i = if (length(names)) "They are {.field {names}}: {.code at = list({names[1L]} = )}." else "There are none."
    ), call = call)
  }
  at
}

# Differences from the first value of a covariate are of covariates with another one.
need_contrast <- function(grid, contrast, call) {
  if (contrast && length(grid$value) < 2L) {
    abort("by", c(
      "{.code contrast = TRUE} needs two values of {.field {grid$by}} or more; it has one in the data."
    ), call = call)
  }
}

# The values at which a covariate is shown: numbers as learn_patterns() chose them, or those that occur if the
# formula makes levels of them; otherwise all values that occur, as text.
shown_values <- function(design, by, call) {
  v <- design$values[[by]]
  if (!is_scale(v)) {
    return(levels(label_factor(v, sorted = TRUE)))
  }
  value <- design$shown[[by]] %||% values_to_show(v)
  rows <- design$values[rep(1L, length(value)), , drop = FALSE]
  rows[[by]] <- value
  tryCatch({
    apply_design(design, rows, "at", call)
    value
  }, bnpvi_error_formula = function(e) sort(unique(v)))
}

# Numbers, dates, times or durations at which a covariate v is shown: those that occur if they are few whole
# numbers, or a grid from the smallest to the largest.
values_to_show <- function(v) {
  known <- sort(unique(v))
  number <- as.double(known)
  few <- length(known) <= most_single_values && all(number == round(number)) || length(known) == 1L
  if (few) known else on_scale_of(seq(min(number), max(number), length.out = most_grid), v)
}

most_single_values <- 7L # as many as the grades of most scales. A guess.

# Values as a column of a table: durations in their unit as numbers, levels as a factor.
value_of_table <- function(value) {
  if (inherits(value, "difftime")) as.double(value) else if (is_scale(value)) value else factor(value, value)
}

# The number of rows of each covariate pattern (combination of values).
pattern_sizes <- function(fit) {
  if (has_tilted_topics(fit)) {
    return(document_pattern_sizes(fit))
  }
  n <- n_patterns_of(fit$model)
  unname(colSums(fit$state$obs[, ncol(fit$state$obs) - n + seq_len(n), drop = FALSE]))
}

# Typical values of covariates: one row with the mean of each number or date and the most frequent value of each other
# covariate.
typical_covariates <- function(known, weight) {
  as.data.frame(lapply(known, function(v) {
    if (is_scale(v)) on_scale_of(sum(as.double(v) * weight) / sum(weight), v) else {
      f <- label_factor(v)
      levels(f)[which.max(tapply(weight, f, sum))]
    }
  }), optional = TRUE)
}

average_shares <- function(share, weight) as.double(crossprod(share, rep_len(weight, nrow(share)))) / sum(weight)

# Average weights of clusters, and of the rest, under draws of log weights and effects: clusters x values x
# draws. grid: as from grid_of_covariate(). The effects of levels that the fit has not seen are drawn from their prior,
# the same for all rows.
drawn_shares <- function(fit, grid, response) {
  k <- fit$state$k
  x <- grid$x
  p <- ncol(x)
  values <- length(grid$value)
  unseen <- fit$model$prior$effect_scale * sqrt(grid$extra)
  draws <- as.integer(max(200, min(most_draws, most_exponentials / (nrow(x) * (k + 1L)), ncol(response$draws))))
  draw <- if (is.null(response)) {
    drawn_from_q(fit)
  } else if (is.null(response$draws)) {
    drawn_by_response(fit, response)
  } else {
    one_by_one(fit, response$draws[, unique(round(seq(1, ncol(response$draws), length.out = draws)))])
  }
  one <- function(i) {
    drawn <- draw()
    tilt <- cbind(if (p > 0L) x %*% drawn$effects else matrix(0, nrow(x), k), 0)
    if (any(unseen > 0)) tilt[, seq_len(k)] <- tilt[, seq_len(k)] + outer(unseen, stats::rnorm(k))
    tilt <- tilt + rep(drawn$log_weight, each = nrow(x))
    share <- exp(tilt - tilt[cbind(seq_len(nrow(x)), max.col(tilt, "first"))])
    share <- share / rowSums(share)
    by_value <- rowsum(share * grid$weight, rep(seq_len(values), each = nrow(x) / values), reorder = FALSE)
    t(by_value) / sum(grid$weight)
  }
  sets <- with_r_seed(draws, 1L, function() one(), rlang::caller_env())$sets
  array(unlist(sets), c(k + 1L, values, draws))
}

# Make a function that draws list(log_weight, effects), for the clusters in the user's order and the rest;
# effects: columns of the design x clusters.
drawn_from_q <- function(fit) {
  params <- tilt_arrays(fit)
  posterior <- engine_posterior(fit$model, fit$state)
  k <- fit$state$k
  p <- fit$model$prior$n_columns
  roots <- lapply(seq_len(k), function(j) if (p > 0L) t(chol(matrix(params$cov[, , j], p))) else matrix(0, 0L, 0L))
  function() {
    effects <- vapply(seq_len(k), function(j) params$mean[j, ] + as.double(roots[[j]] %*% stats::rnorm(p)), numeric(p))
    list(
      log_weight = drawn_log_weights(posterior)[c(fit$numbering, k + 1L)], effects = matrix(effects, p)
    )
  }
}

drawn_by_response <- function(fit, response) {
  parts <- eigen(response$cov, symmetric = TRUE)
  root <- parts$vectors * rep(sqrt(pmax(parts$values, 0)), each = nrow(parts$vectors))
  log_mean <- tilt_arrays(fit)$log_mean
  rest <- log_mean[length(log_mean)]
  function() {
    g <- matrix(response$mean + as.double(root %*% stats::rnorm(ncol(root))), ncol = fit$state$k)
    list(log_weight = c(g[1L, ], rest), effects = g[-1L, , drop = FALSE])
  }
}

# The draws of a chain, the columns of `draws` as from draws_given_words(), one after the other.
one_by_one <- function(fit, draws) {
  i <- 0L
  function() {
    i <<- i + 1L
    g <- matrix(draws[-nrow(draws), i], ncol = fit$state$k)
    list(log_weight = c(g[1L, ], draws[nrow(draws), i]), effects = g[-1L, , drop = FALSE])
  }
}

# Draws the log weights of the clusters, in the engine's order, and of the rest.
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
      if (is.null(x$topic) && isTRUE(attr(x, "responds"))) {
        "The intervals are by linear response, which counts that the rows' clusters and their parameters are uncertain."
      } else if (is.null(x$topic)) {
        paste(
          "The intervals are those of the variational posterior, and too narrow: it does not know that the rows'",
          "clusters and the parameters of weights and clusters are uncertain together.",
          if (!is.null(x$cluster)) "With x = (the data of the fit) they are by linear response."
        )
      } else if (isTRUE(attr(x, "drawn"))) {
        paste(
          "Proportions and intervals are by draws of the topics of words, the terms of topics and the effects, at the",
          "number of topics of the fit."
        )
      } else {
        paste(
          "The intervals take as known", if (!isTRUE(attr(x, "responds"))) "the proportions of documents and",
          "which words have which topic, and are too narrow. With x = (the documents of the fit) they are by draws."
        )
      }
    )), sep = "\n")
  }
  invisible(x)
}

#' @rdname prevalence
#' @param x For `prevalence()` of a mixture or topics with [prior_covariates()]: the data of the fit, with which
#'   intervals are computed by linear response or, for topics, by draws, see *Value*. For `tidy()`: a table of
#'   `prevalence()`.
#' @param ... Must be empty.
#' @export
tidy.bnp_prevalence <- function(x, ...) {
  check_no_dots(...)
  as_tidy(as.data.frame(unclass(x)))
}
