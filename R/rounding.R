# Rounded values: obs_gaussian(rounding = ) says by column how far apart they are, and a fit then is one to their cells.
# What clusters learn from are averages over the cells (Columns in src/observations/gather.h); what is asked of rows
# afterwards, predictives and samplers, takes them as they are.

#' @section Rounded values:
#' A density can be made as high as one likes at values that repeat, so that clusters of rounded data may shrink to
#' single values: one gamma variable rounded to whole numbers comes out as tens of clusters. With `rounding` a value x
#' stands for its cell, \eqn{[x - \Delta/2, x + \Delta/2]} with \eqn{\Delta} the spacing, and what clusters learn from
#' are averages over the cells: squares become \eqn{x^2 + \Delta^2/12}. The bound is then one on the probability of the
#' cells, each divided by its width: \eqn{\log (P(cell) / \Delta)} is at least the average of the log density over the
#' cell. A cluster for each value loses what it won. Where cells are as wide as clusters the bound is loose and clusters
#' may be joined, which a warning says.
#'
#' The spacing is stored in `fit$model$obs$rounding`, printed with the fit, and holds for new data, in [update()] and
#' where a fit is a `start`. Predictive densities and probabilities are those of rows as they are;
#' `heldout_loglik(cells = TRUE)` has the probability of their cells. [bnp_sample()] and truncation-free learning take
#' rows as they are. Other families than mixtures, and `drift`, have no `rounding`.
#' @name observation_models
NULL

# rounding: as a user gives it -> fields of the observation model.
rounding_field <- function(rounding, drifts, call = rlang::caller_env()) {
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

is_rounded <- function(obs) any(obs$rounding > 0) || any(vapply(obs$blocks, is_rounded, NA))

# The same model of rows as they are.
without_rounding <- function(obs) {
  obs$rounding <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, without_rounding)
  obs
}
