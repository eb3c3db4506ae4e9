# Successes and failures of trials: for each pair of columns each cluster has a probability of success.

#' Numbers of successes and failures
#'
#' Pairs of columns with the numbers of successes and of failures, which have probabilities of their own in each
#' cluster, topic or state.
#'
#' @inheritParams obs_gaussian
#' @param a,b The two weights of the Beta prior of each probability, `a` for successes and `b` for failures: one number,
#'   or one for each pair of columns.
#' @details
#' `obs_binomial()` takes pairs of columns, the numbers of successes and of failures: `cbind(success, failure)`, or a
#' data frame of such matrices, `~ cbind(hits, misses)` in a formula. Several pairs stand beside each other (success,
#' failure, success, failure, ...). A pair is named by what the names of its two columns have in common before a dot,
#' else by the first of them. Rows without trials are allowed and have no influence. With one trial per row this is
#' `obs_bernoulli()`. The model does not allow probabilities to vary within a group: such a group gets more than one
#' cluster.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_bernoulli()]; [obs_regression()] with `family = "binomial"` for
#'   probabilities that depend on covariates.
#' @examples
#' set.seed(1)
#' hits <- rbinom(60, 20, rep(c(0.2, 0.7), each = 30))
#' fit <- bnp_mixture(cbind(hits, misses = 20 - hits), obs_binomial(), control = bnp_control(seed = 1))
#' coef(fit)
#' @export
obs_binomial <- function(a = 0.1, b = 0.3, columns = NULL, ...) {
  check_no_dots(...)
  do.call(new_obs, c(
    "binomial", list(a = check_positive(a, "a"), b = check_positive(b, "b")), columns_field(columns)
  ))
}

obs_check_columns.obs_binomial <- function(obs, x, arg, call) {
  if (ncol(x) %% 2L) {
    abort("not_pairs", c(
      "{.arg {arg}} must have pairs of columns, successes and failures, not {ncol(x)} column{?s}.",
      x = named_columns(x),
      i = "Give {.code cbind(success, failure)}, where {.code failure} is {.code trials - success}."
    ), call = call)
  }
}

# The numbers of trials of rows to be drawn, for each pair of columns: by default the average in the data.
trials_of_rows <- function(total, fit, call) {
  pairs <- length(fit$model$obs$a)
  if (is.null(total)) {
    return(pmax(1, round(fit$input$mean_trials)))
  }
  if (!is.numeric(total) || !length(total) %in% c(1L, pairs) || !all(is.finite(total)) || !all(are_counts(total))) {
    abort("argument", c(
      "{.arg total} must be whole numbers of at least 0, one or one for each pair of columns ({pairs}), not
       {describe(total)}."
    ), call = call)
  }
  rep_len(as.double(total), pairs)
}

# Alternates values of successes and of failures, pair by pair, as their columns do.
side_by_side <- function(success, failure) c(rbind(success, failure))

model_binomial <- list(
  title = "Binomial", constructor = "obs_binomial", values = "successes and failures, in pairs of columns",
  refusal = refused_counts("Give numbers of successes and of failures, not shares."), kind = "pair",
  gaps = "pairs", parameters = list(a = "pairs", b = "pairs"),
  arrays = list(a = c("clusters", "pairs"), b = c("clusters", "pairs"), prob = c("clusters", "pairs")),
  location = "prob"
)

obs_supports.obs_binomial <- function(obs, values) are_counts(values)

obs_keep.obs_binomial <- function(obs, data) {
  mean <- observed_means(data)
  list(mean_trials = mean[c(TRUE, FALSE)] + mean[c(FALSE, TRUE)])
}

obs_resolve.obs_binomial <- function(obs, data, start, call) resolve_fields(obs, c("a", "b"), data$d %/% 2L, call)

obs_axes.obs_binomial <- function(obs, columns) {
  list(columns = columns, pairs = if (length(columns)) pair_names(columns))
}

obs_terms.obs_binomial <- function(obs, columns) obs_terms.default(obs, pair_names(columns))
obs_given.obs_binomial <- function(obs) list(total = trials_of_rows)
obs_quantiles.obs_binomial <- obs_quantiles.obs_bernoulli

obs_draw_rows.obs_binomial <- function(obs, q, rows, given) {
  prob <- stats::rbeta(length(q$a), q$a, q$b)
  trials <- rep(given$total, length(rows))
  success <- stats::rbinom(length(trials), trials, prob)
  matrix(side_by_side(success, trials - success), length(rows), byrow = TRUE)
}

obs_moments.obs_binomial <- function(obs, q, given) {
  n <- given$total
  all <- q$a + q$b
  var <- n * (q$a / all) * (q$b / all) * (n + all) / (1 + all)
  list(mean = side_by_side(n * q$a / all, n * q$b / all), var = side_by_side(var, var))
}

obs_divergence.obs_binomial <- obs_divergence.obs_bernoulli
obs_overlap.obs_binomial <- obs_overlap.obs_bernoulli

# The distribution of each pair's outcome in a cluster, for a single trial.
obs_marginals.obs_binomial <- function(obs, means) {
  lapply(means$prob, function(p) list(kind = "levels", prob = c(failure = 1 - p, success = p)))
}

obs_picture.obs_binomial <- function(obs, fit, data) heat_picture(fit)
