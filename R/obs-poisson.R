# Counts of events: in each column each cluster has a rate.

#' Poisson counts
#'
#' Counts of events that have a rate of their own in each cluster, topic or state. Columns are independent given the
#' cluster.
#'
#' @inheritParams obs_gaussian
#' @param a,b The Gamma prior of each rate, with shape `a` and mean `a / b`: one number, or one for each column. The
#'   default mean is the rate in all data, where a column of zeros counts as half an event.
#' @param exposure How long, how large or how much was observed in each row; the rate of a count is then per unit of
#'   exposure. The name of a column, which is not modelled and which new data must have too (with a formula, one of its
#'   variables); or one number above 0 for each row, in which case new data need no exposure. Default: 1 for every row.
#' @details
#' Counts that vary more within a group than Poisson counts do are divided among several clusters by `obs_poisson()`;
#' use [obs_negbinomial()] for them.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_negbinomial()]; [obs_multinomial()] if the shares of counts within
#'   a row matter and not their sum; [obs_regression()] with `family = "negbinomial"` for counts with covariates.
#' @examples
#' obs_poisson(a = 2)
#' fit <- bnp_mixture(InsectSprays["count"], obs_poisson(), control = bnp_control(seed = 1))
#' coef(fit)
#' @export
obs_poisson <- function(a = 1, b = NULL, exposure = NULL, columns = NULL, ...) {
  check_no_dots(...)
  prior <- list(a = check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  do.call(new_obs, c(
    "poisson", prior, if (!is.null(exposure)) list(exposure = check_exposure(exposure)), columns_field(columns)
  ))
}

# Completes the model. Exposures that are given as numbers become part of the data; the model has TRUE in
# their place.
obs_resolve.obs_poisson <- function(obs, data, start, call) {
  if (is.null(obs$b)) {
    exposure <- times_weights(data$exposure %||% rep(1, data$n), data$weights)
    total <- if (has_missing(data)) colSums(exposure * !data$missing) else sum(exposure)
    events <- column_totals(data)
    obs$b <- obs$a * total / ifelse(events > 0, events, 0.5)
  }
  obs <- resolve_fields(obs, c("a", "b"), data$d, call)
  obs$exposed <- !is.null(obs$exposure)
  if (is.numeric(obs$exposure)) obs$exposure <- TRUE
  obs
}

model_poisson <- list(
  title = "Poisson", constructor = "obs_poisson", values = "counts of events", kind = "number",
  gaps = "cells",
  refusal = refused_counts("Use raw counts; what they are relative to is their {.arg exposure}."),
  takes_sparse = TRUE, working = "exposed", parameters = list(a = "columns", b = "columns"),
  arrays = list(a = c("clusters", "columns"), b = c("clusters", "columns"), rate = c("clusters", "columns")),
  location = "rate"
)

obs_supports.obs_poisson <- function(obs, values) are_counts(values)
obs_keep.obs_poisson <- function(obs, data) list(mean_exposure = mean_exposure(data))
obs_given.obs_poisson <- function(obs) list(exposure = exposure_of_rows)
obs_quantiles.obs_poisson <- function(obs) list(rate = function(q, p) stats::qgamma(p, q$a, q$b))

obs_draw_rows.obs_poisson <- function(obs, q, rows, given) {
  rate <- stats::rgamma(length(q$a), q$a, q$b)
  matrix(stats::rpois(length(rows) * length(rate), outer(given$exposure[rows], rate)), length(rows))
}

obs_moments.obs_poisson <- function(obs, q, given) {
  rate <- q$a / q$b
  list(mean = given$exposure * rate, var = given$exposure * rate + given$exposure^2 * rate / q$b)
}

obs_divergence.obs_poisson <- function(obs, a, b) sum(a$rate * log(a$rate / b$rate) - a$rate + b$rate)
obs_overlap.obs_poisson <- function(obs, a, b) exp(-sum((sqrt(a$rate) - sqrt(b$rate))^2) / 2)
obs_marginals.obs_poisson <- function(obs, means) {
  lapply(means$rate, function(rate) list(kind = "count", mean = rate))
}
obs_picture.obs_poisson <- function(obs, fit, data) heat_picture(fit, relative = TRUE)

obs_densities.obs_poisson <- function(obs, means) {
  lapply(unname(means$rate), function(rate) {
    column_density(function(x) stats::dpois(x, rate), function(p) stats::qpois(p, rate), discrete = TRUE)
  })
}
