# The functions that each kind of filter has.
# * read(f, newdata, id, call, arg): rows in the internal form.
# * take(f, sequences, data, call): for each sequence list(rows, state) after new rows.
# * ahead(f, h, type, interval, inputs, call): for each step ahead a list of matrices sequences x columns,
#   `prob` or `mean`, `sd`, `lower`, `upper`.
# * smooth(f, sequence, call): probabilities given all rows, or NULL.
# * inputs(f): list(n, names) of the known inputs of rows, or list(instead), what to use in their place
#   (R/filter-inputs.R).
filter_kinds <- list(
  states = list(
    title = "Exact filter of a hidden Markov model", read = function(...) read_states(...),
    take = function(...) take_states(...),
    ahead = function(f, h, type, interval, inputs, call) states_ahead(f, h, type, interval, call),
    smooth = function(f, sequence, call) smooth_states(f, sequence),
    inputs = function(f) list(n = 0L, instead = "Covariates of a regression are columns of {.arg newdata}.")
  ),
  switching = list(
    title = "Rao-Blackwellised filter of a linear system", read = function(...) read_numbers(...),
    take = function(...) take_switching(...), ahead = function(...) switching_ahead(...),
    smooth = function(...) smooth_switching(...), inputs = function(f) inputs_of_system(f$model[[1L]])
  ),
  particles = list(
    title = "Bootstrap filter", read = function(...) read_numbers(...), take = function(...) take_particles(...),
    ahead = function(f, h, type, interval, inputs, call) particles_ahead(f, h, type, interval, call),
    inputs = function(f) list(n = 0L, instead = "Functions of {.fn particle_model} that have an argument {.arg time}
      get the number of the row, by which they can look its inputs up.")
  )
)

#' Forecasts from a filter
#'
#' @param object A filter of [bnp_filter()], which is not changed.
#' @param h How many rows ahead, from 1 to 100,000.
#' @param type What is forecast. `"response"`: the columns of the data. `"latent"`: the state variables of [lds_model()]
#'   and [particle_model()]. `"class"`: states or modes.
#' @param inputs For an [lds_model()] with `F` or `G`: the inputs of the rows ahead, a table with h rows and a column
#'   for each input; for several sequences a list of such tables by the names of the sequences, or one table for all.
#'   Needed, as future inputs are not forecast.
#' @param interval Probability of the intervals from `lower.<column>` to `upper.<column>`.
#' @param ... Must be empty; for `forecast()`, the generic of the package generics, further arguments of `predict()`.
#' @return A data frame with one row for each sequence and step ahead: `id`, `step`, and `mean.<column>`, `sd.<column>`,
#'   `lower.<column>` and `upper.<column>`; or `state`, the most probable state, and `prob.<state>`.
#'   [plot.bnp_forecast()] draws it.
#' @details In a filter of a fit, means, standard deviations and probabilities are those of
#'   `predict(fit, newdata, n.ahead = h)` after the same rows, see [predict.bnp_hmm()]. In linear systems they are exact
#'   for the mixture that the particles represent. The ends of intervals are quantiles:
#'   * for linear systems and [obs_ar()], of Gaussian mixtures, with up to 1,000 histories of future modes;
#'   * for other fits, of 1,000 draws from each state (there are none if columns have levels);
#'   * for models of [particle_model()], of the particles.
#'
#'   If the filter has several sequences, all are forecast.
#' @references
#' Costa, O. L. V., Fragoso, M. D. and Marques, R. P. (2005). *Discrete-time Markov jump linear systems*. Springer;
#' chapter 3, the moments.
#' @seealso [bnp_filter()], [plot.bnp_forecast()].
#' @examples
#' level <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5)
#' predict(bnp_filter(level, Nile), h = 3)
#' @export
predict.bnp_filter <- function(object, h = 1L, type = c("response", "latent", "class"), interval = 0.9, inputs = NULL,
                               ...) {
  check_no_dots(...)
  check_filter(object)
  h <- check_steps(h, "h")
  type <- check_choice(type, c("response", "latent", "class"), "type")
  interval <- check_number(interval, "interval")
  if (interval >= 1) abort("argument", "{.arg interval} must be below 1, not {interval}.")
  if (!length(object$sequences)) {
    abort("no_rows", c(
      "{.arg object} has not seen any row yet.", i = "{.fn update} gives it rows."
    ))
  }
  known <- inputs_ahead(object, inputs, h, rlang::current_env())
  steps <- filter_kinds[[object$kind]]$ahead(object, h, type, interval, known, rlang::current_env())
  ids <- names(object$sequences)
  n <- length(ids)
  parts <- lapply(stats::setNames(nm = names(steps[[1L]])), function(name) do.call(rbind, lapply(steps, `[[`, name)))
  out <- data.frame(id = rep(ids, h), step = rep(seq_len(h), each = n))
  columns <- colnames(parts[[1L]])
  if (type == "class") out$state <- max.col(parts$prob, ties.method = "first")
  for (name in names(parts)) {
    out[paste0(name, ".", columns)] <- as.data.frame(unname(parts[[name]]))
  }
  out <- as_tidy(out[order(rep(seq_len(n), h), out$step), ])
  class(out) <- c("bnp_forecast", class(out))
  attr(out, "before") <- list(id = ids, at = unname(vapply(object$sequences, function(s) s$n, 1)))
  out
}

#' @rdname predict.bnp_filter
#' @export
forecast.bnp_filter <- function(object, h = 1L, ...) predict(object, h, ...)
