# Times until an event, some of which are only known to exceed an observed time: each cluster has a rate.

#' Times until an event, which may be censored
#'
#' Times with a status, the event or the end of the observation: exponential or Weibull distributed in each cluster,
#' topic or state.
#'
#' @inheritParams obs_gaussian
#' @param a,b The Gamma prior of each rate, with shape `a` and mean `a / b`: one number, or one for each column. The
#'   default mean is the rate in all data, where no event counts as half an event.
#' @param shape The shape of the times' distribution: 1, the default, for exponential times. `NULL` for Weibull times,
#'   each cluster with a shape of its own, which is integrated out, with the prior `gamma_prior(1, 0.1)`; another
#'   [gamma_prior()] replaces this prior. Another number is a known shape.
#' @details
#' `obs_survival()` takes one pair of columns: the time that was observed, above 0, and whether the event came then (1)
#' or had not come yet (0), in which case the time is censored on the right. These may be
#' `survival::Surv(time, status)`, a matrix `cbind(time, status)` or a data frame with such columns. By default events
#' come at a constant rate in each cluster (`shape = 1`); observed time without an event counts fully. With
#' `shape = NULL` the times of each cluster are Weibull distributed with a shape of its own, as in `obs_weibull()`;
#' another number is a known shape. Data simulated from a fit, and forecasts, are times that are not censored.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_weibull()].
#' @examples
#' set.seed(1)
#' time <- rexp(300, rep(c(1, 0.02), each = 150))
#' seen <- cbind(time = pmin(time, 100), status = as.numeric(time <= 100))
#' fit <- bnp_mixture(seen, obs_survival(), control = bnp_control(seed = 1))
#' coef(fit)
#' @export
obs_survival <- function(a = 1, b = NULL, columns = NULL, shape = 1, ...) {
  check_no_dots(...)
  if (!is.numeric(shape) || is.object(shape) || !identical(as.double(shape), 1)) {
    return(new_weibull("censored_weibull", shape, a, b, columns))
  }
  prior <- list(a = check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  do.call(new_obs, c("censored", prior, columns_field(columns)))
}

obs_check_columns.obs_survival <- function(obs, x, arg, call) {
  say <- function(what, bad, remedy) {
    abort("not_times", c(
      paste0("{.arg {arg}} must be a time and a status: ", what, "."),
      x = if (is.character(bad)) bad else if (length(bad)) "Not so in {cli::qty(length(bad))}row{?s} {places(bad)}.",
      i = remedy
    ), call = call)
  }
  if (ncol(x) != 2L) {
    say(
      "two columns, not {ncol(x)}", named_columns(x),
      "Give {.code survival::Surv(time, status)}, or {.code cbind(time, status)} with status 1 for an event and 0 for a
       time that is censored."
    )
  }
  bad <- which(!(x[, 1] >= 1e-150 & x[, 1] <= 1e150))
  if (length(bad)) {
    say(
      "the first column must be above 0 and within 1e-150 to 1e150", bad,
      "Times of 0 have been rounded: give half of the smallest that can be told from 0."
    )
  }
  bad <- which(!x[, 2] %in% c(0, 1, NA))
  if (length(bad)) {
    say(
      "the second column must be 0 or 1", bad,
      "Code events as 1 and censored times as 0, as {.code survival::Surv()} does."
    )
  }
}

# Completes the model. The default prior mean of the rate is the rate of all data, counting at least half an
# event.
obs_resolve.obs_survival <- function(obs, data, start, call) {
  if (is.null(obs$b)) {
    totals <- column_totals(data)
    obs$b <- obs$a * totals[1] / max(totals[2], 0.5)
  }
  resolve_fields(obs, c("a", "b"), 1L, call)
}

model_survival <- list(
  title = "Exponential, censored on the right", constructor = "obs_survival", values = "times with status",
  refusal = c(
    class = "not_times", must = "be a time and a status, none of them below 0,",
    remedy = "Give {.code survival::Surv(time, status)}."
  ),
  kind = "pair", gaps = "pairs", parameters = list(a = "times", b = "times"),
  arrays = list(a = c("clusters", "times"), b = c("clusters", "times"), rate = c("clusters", "times")),
  location = "rate"
)

obs_supports.obs_survival <- function(obs, values) values >= 0

obs_axes.obs_survival <- function(obs, columns) {
  list(columns = columns, times = if (length(columns)) pair_names(columns))
}

obs_terms.obs_survival <- function(obs, columns) obs_terms.default(obs, pair_names(columns))
obs_quantiles.obs_survival <- obs_quantiles.obs_gamma

obs_draw_rows.obs_survival <- function(obs, q, rows, given) {
  cbind(stats::rexp(length(rows), pmax(stats::rgamma(1L, q$a, q$b), least_rate)), 1)
}

obs_moments.obs_survival <- function(obs, q, given) {
  time <- obs_moments.obs_gamma(obs, c(q, list(shape = 1)), given)
  list(mean = c(time$mean, 1), var = c(time$var, 0))
}

obs_divergence.obs_survival <- function(obs, a, b) b$rate / a$rate - 1 - log(b$rate / a$rate)
obs_overlap.obs_survival <- function(obs, a, b) 2 / (sqrt(a$rate / b$rate) + sqrt(b$rate / a$rate))
obs_marginals.obs_survival <- function(obs, means) list(list(kind = "time", mean = 1 / means$rate))
obs_picture.obs_survival <- obs_picture.obs_gamma
