# Rounded values. The field `rounding` of an observation model holds the spacing of each column's values; the
# likelihood of a fit is then that of cells, the intervals of values that are rounded to the same number.
# Clusters learn from averages over the cells (Columns in src/observations/gather.h). Predictives of new rows
# and samplers use the rounded values themselves.

#' @section Rounded values:
#' If values repeat, a density can be made as high as one likes at these values, so that clusters of rounded data may
#' shrink to single values: one gamma variable rounded to whole numbers is divided into tens of clusters. With
#' `rounding` a value x stands for its cell, \eqn{[x - \Delta/2, x + \Delta/2]} with \eqn{\Delta} the spacing, and
#' clusters learn from averages over the cells. Squares become \eqn{x^2 + \Delta^2/12}; logarithms and powers become
#' their averages over the part of the cell above 0 (so that a rounded 0 is a value of `obs_gamma()` and
#' `obs_weibull()`; cells of up to 8 spacings are not averaged evenly, but with a gamma density of the lowest values);
#' the unit vectors of angles become shorter by \eqn{\sin(\Delta/2) / (\Delta/2)}.
#'
#' The bound is then one on the probability of the cells, each divided by its width: \eqn{\log (P(cell) / \Delta)} is at
#' least the average of the log density over the cell. A cluster for each value then no longer raises the bound. If
#' cells are as wide as clusters, the bound is loose and clusters may be joined, and a warning says so.
#'
#' The spacing is stored in `fit$model$obs$rounding`, printed with the fit, and used for new data, in [update()] and if
#' a fit is a `start`. Predictive densities and probabilities treat rows as they are; only for a rounded 0 in models of
#' values above 0 they use the average over its cell. `heldout_loglik(cells = TRUE)` has the probability of the cells of
#' Gaussian clusters. [bnp_sample()] and truncation-free learning treat rows as they are. `rounding` is available for
#' mixtures only, and not with `drift` or with known shapes of `obs_gamma()`.
#' @name observation_models
NULL

# Checks `rounding` as a user gives it, and returns it as fields of the observation model.
rounding_field <- function(rounding, drifts = FALSE, call = rlang::caller_env()) {
  rounding <- check_vector(rounding, "rounding", call)
  if (any(rounding < 0)) {
    abort("argument", "{.arg rounding} must be 0 or above, not {rounding[rounding < 0][1]}.", call = call)
  }
  if (drifts && any(rounding > 0)) {
    abort("argument", c(
      "{.arg rounding} and {.arg drift} do not go together: rows at times are taken as they are.",
      i = "Leave one of them out."
    ), call = call)
  }
  list(rounding = rounding)
}

# Whether values are possible for a model of values above 0, which accepts a 0 only as the cell of a rounded
# value. The next function, need_spacing_of_zeros(), refuses zeros in columns that are not rounded. Its
# argument `found`: whether a spacing counts that was not given but that the values show (as for a fit, which
# looks for spacings).
supports_rounded <- function(obs, values) {
  values > 0 | (values == 0 & (is.null(obs$rounding) || any(obs$rounding > 0)))
}
need_spacing_of_zeros <- function(obs, x, arg, call, found = TRUE) {
  zero <- which(colSums(x == 0, na.rm = TRUE) > 0)
  if (!length(zero)) {
    return(invisible())
  }
  spacing <- if (is.null(obs$rounding)) {
    if (found) column_spacings(x[, zero, drop = FALSE]) else 0
  } else if (length(obs$rounding) == 1L) {
    obs$rounding
  } else if (is.null(names(obs$rounding))) {
    obs$rounding[zero]
  } else {
    obs$rounding[colnames(x)[zero]]
  }
  bad <- zero[!(rep_len(spacing, length(zero)) > 0)]
  if (length(bad)) {
    at <- which(x[, bad[1L]] == 0)[1L]
    facts <- obs_facts(obs)
    abort(facts$refusal[["class"]], c(
      paste("{.arg {arg}} must", facts$refusal[["must"]], "for {.fn {facts$constructor}}."),
      x = "At (row, column): ({row_number(at, arg)}, {colnames(x)[bad[1L]] %||% bad[1L]}).",
      i = facts$refusal[["remedy"]]
    ), call = call)
  }
}

is_rounded <- function(obs) any(obs$rounding > 0) || any(vapply(obs$blocks, is_rounded, NA))

# The same observation model, but with values that are not treated as rounded.
without_rounding <- function(obs) {
  obs$rounding <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, without_rounding)
  obs
}
