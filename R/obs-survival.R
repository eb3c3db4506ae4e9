# Times until an event, some of which are known to be longer than what was observed: each cluster has a rate.

#' @rdname observation_models
#' @order 8
#' @details
#' `obs_survival()` takes one pair of columns: the time that was observed, above 0, and
#' whether the event came then (1) or had not come yet (0), the time being censored on the
#' right. That is `survival::Surv(time, status)`, a matrix `cbind(time, status)` or a data
#' frame with such columns. Events come at a constant rate in each cluster; time in which none
#' came counts fully. Data simulated from a fit, and forecasts, are of times that are not censored.
#' @export
obs_survival <- function(a = 1, b = NULL, columns = NULL) {
  prior <- list(a = check_positive(a, "a"), b = if (!is.null(b)) check_positive(b, "b"))
  do.call(new_obs, c("censored", prior, columns_field(columns)))
}

refuse_times <- function(x, arg, call) {
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

# The prior mean of the rate is that of all data; without an event, as with half of one.
resolve_survival <- function(obs, data, start, call) {
  if (is.null(obs$b)) {
    totals <- column_totals(data)
    obs$b <- obs$a * totals[1] / max(totals[2], 0.5)
  }
  resolve_fields(obs, c("a", "b"), 1L, call)
}

model_survival <- list(
  title = "Exponential, censored on the right",
  constructor = "obs_survival",
  values = "times with status",
  support = function(values) values >= 0,
  refusal = c(
    class = "not_times", must = "be a time and a status, none of them below 0,",
    remedy = "Give {.code survival::Surv(time, status)}."
  ),
  conditions = refuse_times,
  kind = "pair",
  gaps = "pairs",
  density = TRUE,
  resolve = resolve_survival,
  parameters = list(a = "times", b = "times"),
  arrays = list(a = c("clusters", "times"), b = c("clusters", "times"), rate = c("clusters", "times")),
  axes = function(obs, columns) if (length(columns)) list(times = pair_names(columns)) else list(),
  location = "rate",
  terms = terms_of_pairs,
  quantiles = list(rate = function(q, p) stats::qgamma(p, q$a, q$b)),
  moments = function(q, given) {
    time <- moments_of_times(c(q, list(shape = 1)))
    list(mean = c(time$mean, 1), var = c(time$var, 0))
  },
  divergence = function(a, b) b$rate / a$rate - 1 - log(b$rate / a$rate),
  overlap = function(a, b) 2 / (sqrt(a$rate / b$rate) + sqrt(b$rate / a$rate)),
  marginals = function(means) list(list(kind = "time", mean = 1 / means$rate)),
  draw = function(obs, clusters, path, lengths, given) {
    draw_by_cluster(clusters, path, function(q, rows) {
      cbind(stats::rexp(length(rows), stats::rgamma(1L, q$a, q$b)), 1)
    })
  },
  picture = function(fit, data) heat_picture(fit, relative = TRUE)
)
