#' Fits as tidy tables
#'
#' Methods for `tidy()`, `glance()` and `augment()` of the generics package, with the column names that broom uses for
#' mixtures.
#'
#' @param x A fit.
#' @param data The observations to augment, usually the training data. Not needed if a fit of [bnp_mixture()] or
#'   [bnp_hmm()] keeps them ([strip_data()]).
#' @param parent,position For fits of trees: the trees of `data`, as in [predict.bnp_hmm()].
#' @param id For sequences, the sequence of each row, as in [bnp_hmm()]; for mixtures with `id`, the individual of each
#'   row, as in [predict.bnp_mixture()].
#' @param time For fits with `time`: the time of each row, as in [predict.bnp_mixture()].
#' @inheritParams missing_values
#' @param conf.int Return intervals of the parameters instead, as [confint()] does?
#' @param conf.level Probability of an interval.
#' @param ... Must be empty.
#' @return
#' * `tidy()`: a table that depends on the model.
#'   * Gaussian clusters: one row per cluster, `component`, `size`, `proportion` (see [coef.bnp_fit()]), `mean.<column>`
#'     and `sd.<column>`; regressions have `coef.<covariate>` or, with several responses, `coef.<response>.<covariate>`
#'     instead.
#'   * Counts and binary data: one row per cluster and column (`term`, `estimate`).
#'   * Mixtures and topics of [obs_categorical()] and [obs_product()]: one row per cluster and column, or level of a
#'     column: `cluster`, `block`, `variable`, `level` and `estimate`, which is a mean, a rate or a probability. A
#'     regression has one row for each coefficient, with the response as `variable` and the covariate as `level`. With
#'     `conf.int = TRUE` also `conf.low` and `conf.high`.
#'   * [bnp_hmm()]: also `duration`, see [state_durations()].
#'   * [obs_lds()]: one row for each coefficient of each mode, with `response`, `term`, `estimate`, and `modulus`, the
#'     largest eigenvalue of the mode's dynamics (stable below 1).
#'   * With `conf.int = TRUE`: one row per parameter: `component`, `parameter` (as in [coef()]), `term` (its column, or
#'     the state to which a transition leads), `estimate`, `conf.low`, `conf.high`. [confint.bnp_fit()] explains why
#'     these intervals are too narrow.
#' * `glance()`: one row: `k`, `elbo`, `nobs`, `laps`, `converged`, and `seconds`, those of the start that is kept,
#'   without other starts; for [obs_lds()] also `max_modulus` and the number of modes that are `unstable`. With a
#'   [gamma_prior()] also what was learned: for `concentration` and `gamma` the posterior mean and, as `gamma.low` and
#'   `gamma.high`, its 90 % interval; `alpha`, `start`, `sticky`.
#'   With a learned prior of the observation model its single numbers, `prior.df`, `prior.mean_strength`,
#'   `prior.term_prior_even` and so on.
#' * `augment()`: `data` with `.class`, the most probable cluster in the variational posterior (by
#'   `type = "responsibility"` of [predict.bnp_mixture()], so that it agrees with [fitted()] for the training data), and
#'   `.uncertainty`, one minus its probability. For a mixture with known labels also `.label`, the most probable class;
#'   known labels of the training data stay known. With [obs_lds()] also `.fitted.<column>`, the values of rows without
#'   their noise, and `.state.<name>`, the hidden states.
#' @references
#' Robinson, D. (2014). broom: an R package for converting statistical analysis objects into
#' tidy data frames. arXiv:1412.3565.
#' @seealso [read_fit], [tidy.bnp_topics()].
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' tidy(fit)
#' glance(fit)
#' head(augment(fit, faithful))
#' @name tidiers
NULL

# The table of tidy() for data frames: one row for each cluster and column, or each level of a column.
tidy_frame <- function(fit, conf.int, level, word = "cluster") {
  obs <- fit$model$obs
  terms <- obs_terms(obs, column_labels(fit))
  if (is.null(terms)) terms <- data.frame(block = character(), variable = character(), level = character())
  if (is.null(terms$block)) terms <- cbind(block = sub("^obs_", "", obs_facts(obs)$constructor), terms)
  k <- fit$state$k
  rows <- rep(seq_len(nrow(terms)), k)
  out <- data.frame(
    cluster = rep(seq_len(k), each = nrow(terms)), terms[rows, c("block", "variable", "level")], row.names = NULL
  )
  locations <- cluster_locations(fit)
  out$estimate <- if (is.null(locations)) double(nrow(out)) else as.double(t(locations))
  if (conf.int) {
    check_level(level, "conf.level", rlang::caller_env(2))
    clusters <- posterior_clusters(fit)
    quantiles <- obs_quantiles(obs)[obs_facts(obs)$location]
    quantile_of <- function(p) unlist(lapply(clusters, function(q) {
      lapply(quantiles, function(quantile) as.vector(quantile(q, p)))
    }))
    out$conf.low <- as.double(quantile_of((1 - level) / 2))
    out$conf.high <- as.double(quantile_of((1 + level) / 2))
  }
  slopes <- coefficient_rows(fit, level)
  out <- rbind(out, slopes[names(out)])
  out <- out[order(out$cluster), ]
  row.names(out) <- NULL
  names(out)[1L] <- word
  as_tidy(out)
}

# The table of tidy() for regressions: one row for each coefficient in each cluster.
coefficient_rows <- function(fit, level) {
  obs <- fit$model$obs
  axes <- obs_axes(obs, column_labels(fit))
  arrays <- obs_facts(obs)$arrays
  kinds <- grep("(^|[.])coef$", names(arrays), value = TRUE)
  do.call(rbind, lapply(kinds, function(kind) {
    table <- interval_table(fit, level, kind)
    names <- expand.grid(axes[setdiff(arrays[[kind]], "clusters")], stringsAsFactors = FALSE)
    at <- rep_len(seq_len(nrow(names)), nrow(table))
    data.frame(
      cluster = table$component, block = sub("[.]coef$", "", kind), variable = names[at, 1L], level = names[at, 2L],
      table[c("estimate", "conf.low", "conf.high")]
    )
  }))
}

tidy_intervals <- function(fit, level, call = rlang::caller_env()) {
  as_tidy(interval_table(check_format(fit, call), check_level(level, "conf.level", call)))
}

# The table of tidy() for clusters: one row for each cluster, with means and standard deviations or the coefficients
# of a regression; one for each cluster and column where the model has neither.
tidy_clusters <- function(x, word) {
  means <- mean_arrays(x)
  k <- x$state$k
  out <- data.frame(
    component = seq_len(k), size = unname(cluster_sizes(x)),
    proportion = unname(proportion(x, means))
  )
  names(out)[1] <- word
  wide <- wide_moments(x, means)
  if (!is.null(wide)) {
    return(as_tidy(cbind(out, wide)))
  }
  locations <- cluster_locations(x, means)
  terms <- colnames(locations)
  rows <- rep(seq_len(k), each = length(terms))
  as_tidy(cbind(out[rows, ], data.frame(term = rep(terms, k), estimate = as.double(t(locations)))))
}

# A data frame with one row for each cluster and columns for means, coefficients and standard deviations, for
# fits whose clusters have covariances, or regressions without; NULL for others.
wide_moments <- function(fit, means = mean_arrays(fit)) {
  if (is.null(means$cov)) {
    return(wide_coefficients(fit))
  }
  named <- function(values, prefix) {
    values <- matrix(values, fit$state$k)
    colnames(values) <- paste0(prefix, ".", location_labels(fit, "cov"))
    as.data.frame(values)
  }
  locations <- cluster_locations(fit, means)
  mean <- if (!is.null(locations)) named(locations, "mean")
  do.call(cbind, c(mean, wide_coefficients(fit), named(cluster_sds(means$cov), "sd")))
}

# A data frame with one row for each cluster and columns for the coefficients of regressions; NULL for other
# models.
wide_coefficients <- function(fit) {
  obs <- fit$model$obs
  if (is.null(obs$responses)) {
    return(NULL)
  }
  coef <- coef(fit)$coef
  axes <- obs_axes(obs, column_labels(fit))
  names <- expand.grid(axes[setdiff(obs_facts(obs)$arrays$coef, "clusters")], stringsAsFactors = FALSE)
  label <- if (dim(coef)[1L] == 1L) names[[2L]] else paste(names[[1L]], names[[2L]], sep = ".")
  out <- as.data.frame(t(matrix(coef, ncol = dim(coef)[3L])))
  stats::setNames(out, paste0("coef.", label))
}

# Standard deviations (clusters x columns) from covariances (D x D x K) or variances (K x D).
cluster_sds <- function(cov) {
  if (length(dim(cov)) == 2L) {
    return(sqrt(cov))
  }
  d <- dim(cov)[1]
  t(sqrt(apply(cov, 3L, function(s) s[seq(1L, d * d, by = d + 1L)])) |> matrix(nrow = d))
}

#' @rdname tidiers
#' @export
glance.bnp_fit <- function(x, ...) {
  check_no_dots(...)
  trace <- elbo_trace(x)
  out <- data.frame(
    k = n_clusters(x), elbo = x$elbo, nobs = nobs(x), laps = x$laps, converged = x$converged,
    seconds = if (nrow(trace)) trace$seconds[nrow(trace)] else 0
  )
  more <- glance_columns(x)
  out[names(more)] <- more
  learned <- learned_concentrations(x)
  for (name in names(learned)) {
    ends <- if (length(learned[[name]]) > 1L) c(".low", ".high")
    out[paste0(name, c("", ends))] <- as.list(learned[[name]])
  }
  learned <- learned_prior(x)
  if (length(learned)) out[paste0("prior.", names(learned))] <- learned
  as_tidy(out)
}

# One minus the probability of each row's class, at least 0 (through rounding, a probability may be above 1).
uncertainty <- function(prob, class) unname(pmax(0, 1 - prob[cbind(seq_along(class), class)]))

data_matrix_of <- function(x) as.matrix(if (inherits(x, "simple_triplet_matrix")) triplet_to_sparse(x) else x)

# A tibble if the package tibble is loaded; otherwise a data frame that prints its first rows.
as_tidy <- function(x) {
  rownames(x) <- NULL
  class(x) <- c("bnp_table", "tbl_df", "tbl", "data.frame")
  x
}

#' @export
print.bnp_table <- function(x, n = 10L, ...) {
  if (requireNamespace("tibble", quietly = TRUE)) {
    plain <- x
    class(plain) <- c("tbl_df", "tbl", "data.frame")
    print(plain, n = n, ...)
    return(invisible(x))
  }
  print_first_rows(x, n)
  invisible(x)
}

print_first_rows <- function(x, n) {
  cat("# ", count_of(nrow(x), "row"), " of ", count_of(ncol(x), "column"), "\n", sep = "")
  plain <- as.data.frame(x)
  print(utils::head(plain, n))
  if (nrow(x) > n) cat("# ... and ", count_of(nrow(x) - n, "more row"), "\n", sep = "")
}

#' @export
as.data.frame.bnp_table <- function(x, row.names = NULL, optional = FALSE, ...) plain_frame(x)

plain_frame <- function(x) structure(x, class = "data.frame")
