# Zeros and ones: in each column each cluster has a probability of a one.

#' Zeros and ones
#'
#' Columns of zeros and ones that have probabilities of their own in each cluster, topic or state. Columns are
#' independent given the cluster.
#'
#' @inheritParams obs_gaussian
#' @param a,b The two weights of the Beta prior of each probability, `a` for ones and `b` for zeros: one number, or one
#'   for each column. The default is to learn them (see `learn`); if they are not learned, it is 0.1 and 0.3.
#' @param learn Are `a` and `b` learned from the data while fitting? `NULL`, the default: `TRUE` in [bnp_mixture()] by
#'   memoized or full learning if neither is given; otherwise `FALSE`. `fit$model$obs` has the learned values. See
#'   *Learned priors* of [observation_models].
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_binomial()] for numbers of successes and failures,
#'   [obs_categorical()] for more than two levels; [bnp_features()] for features that a row may have several of.
#' @examples
#' x <- +(animals > 0)
#' fit <- bnp_mixture(x, obs_bernoulli(), control = bnp_control(seed = 1, restarts = 1))
#' round(coef(fit)$prob, 2)
#' @export
obs_bernoulli <- function(a = NULL, b = NULL, learn = NULL, columns = NULL, ...) {
  check_no_dots(...)
  if (!is.null(learn)) check_flag(learn, "learn")
  given <- list(a = if (!is.null(a)) check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  if (isTRUE(learn) && length(unlist(given))) {
    abort("argument", c(
      "{.arg a} and {.arg b} of {.fn obs_bernoulli} cannot be given with {.code learn = TRUE}, which learns them.",
      i = "Give either {.arg a} and {.arg b}, or {.arg learn}."
    ))
  }
  do.call(new_obs, c("bernoulli", given, if (!is.null(learn)) list(learn = learn), columns_field(columns)))
}

# The prior weights of ones (a) and zeros (b) if they are neither given nor learned.
given_beta_prior <- list(a = 0.1, b = 0.3)

model_bernoulli <- list(
  title = "Bernoulli", constructor = "obs_bernoulli", values = "zeros and ones", kind = "level",
  gaps = "cells",
  refusal = c(
    class = "not_binary", must = "hold zeros and ones",
    remedy = "Code each column as 0 and 1, or {.code TRUE} and {.code FALSE}."
  ),
  takes_sparse = TRUE, working = c("hyper_share", "prior_strength"), parameters = list(a = "columns", b = "columns"),
  arrays = list(a = c("clusters", "columns"), b = c("clusters", "columns"), prob = c("clusters", "columns")),
  location = "prob"
)

obs_supports.obs_bernoulli <- function(obs, values) values == 0 | values == 1

# Completes the model. If prior weights are learned, learning starts where an earlier fit ended, or with
# weights that sum to one observation per column, in the proportions of the data: a guess.
obs_resolve.obs_bernoulli <- function(obs, data, start, call) {
  if (!isTRUE(obs$learn)) {
    obs[c("a", "b")] <- list(obs$a %||% given_beta_prior$a, obs$b %||% given_beta_prior$b)
    return(resolve_fields(obs, c("a", "b"), data$d, call))
  }
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  if (identical(before$family, obs$family) && length(before$hyper_share) == 2L * data$d) {
    obs[learned_beta] <- before[learned_beta]
    return(obs)
  }
  one <- 0.5 + column_totals(data) / pmax(cells_of_columns(data), 1e-300)
  obs$prior_strength <- 1
  obs$hyper_share <- as.vector(rbind(one, 2 - one))
  obs$a <- one / 2
  obs$b <- 1 - one / 2
  obs
}

learned_beta <- c("a", "b", "prior_strength", "hyper_share")

# The number of observed cells of each column; a row counts as often as its weight says.
cells_of_columns <- function(data) {
  if (is_sparse_data(data)) {
    return(rep(sum(data$weights %||% rep(1, data$n)), data$d))
  }
  colSums(times_weights(!is.na(data$x), data$weights))
}

obs_learned.obs_bernoulli <- function(obs) {
  if (isTRUE(obs$learn)) list(by = "learn = TRUE", numbers = "prior_strength")
}

obs_quantiles.obs_bernoulli <- function(obs) list(prob = function(q, p) beta_quantile(p, q$a, q$b))

obs_draw_rows.obs_bernoulli <- function(obs, q, rows, given) {
  prob <- stats::rbeta(length(q$a), q$a, q$b)
  matrix(stats::rbinom(length(rows) * length(prob), 1L, rep(prob, each = length(rows))), length(rows))
}

obs_moments.obs_bernoulli <- function(obs, q, given) {
  list(mean = q$a / (q$a + q$b), var = q$a / (q$a + q$b) * q$b / (q$a + q$b))
}

obs_divergence.obs_bernoulli <- function(obs, a, b) {
  sum(a$prob * log(a$prob / b$prob) + (1 - a$prob) * (log1p(-a$prob) - log1p(-b$prob)))
}

obs_overlap.obs_bernoulli <- function(obs, a, b) prod(sqrt(a$prob * b$prob) + sqrt((1 - a$prob) * (1 - b$prob)))

obs_marginals.obs_bernoulli <- function(obs, means) {
  lapply(means$prob, function(p) list(kind = "levels", prob = c("0" = 1 - p, "1" = p)))
}

obs_picture.obs_bernoulli <- function(obs, fit, data) heat_picture(fit)
