# Gaussian clusters: one model for each kind of covariance. The methods that all kinds share are those of
# class obs_gaussian.

#' Gaussian observations
#'
#' Real numbers that are Gaussian in each cluster, topic or state: a mean and a covariance of its own, or a covariance
#' that all clusters share. This is the default model of [bnp_mixture()] for data of numbers.
#'
#' @param covariance The covariance matrices of clusters:
#'   * `"full"`: one for each cluster, with a Normal-Wishart prior.
#'   * `"diagonal"`: columns are independent within a cluster, each with a Normal-Gamma prior.
#'   * `"zero_mean"`: a full covariance matrix around a mean known to be zero, with a Wishart prior on the precision.
#'   * `"spherical"`: columns are independent with the same variance, one for each cluster, with a Normal-Gamma prior.
#'   * `"tied_spherical"`, `"tied_diagonal"`, `"tied"`: all clusters have the same covariance, which is one variance for
#'     all columns, one for each column, or a full matrix.
#'   * `"auto"`, in [bnp_mixture()] only: `"full"` or `"diagonal"`, whichever has the higher bound, see *Choice of the
#'     covariance*.
#' @param mean Prior mean, one number or one per column. Default: the column
#'   medians.
#' @param mean_strength Weight of the prior mean: it counts as this number of observations. Default: 0.0001.
#' @param df Degrees of freedom of the Wishart prior, above D - 1 for D columns (above 0 for `"diagonal"`, where each
#'   column has its own, and for `"spherical"`). Default: D + 2 (3 for `"diagonal"` and `"spherical"`), the smallest
#'   whole number for which the expectation of the covariance exists.
#' @param scale Scale matrix of the prior: the expected covariance is `scale / (df - D - 1)`. A D x D positive definite
#'   matrix, its diagonal, or one number for a multiple of the identity (`"spherical"`: one number). By default the
#'   expected covariance is diagonal: the column variances times `n^(-1 / D)` for n rows, or times 0.001 if that is
#'   more. This is about the spread of sqrt(n) clusters that together fill the range of the data.
#' @param learn Learn the prior from the data while fitting? Its parameters then have posteriors of their own, except
#'   those that are given. `NULL`, the default: `TRUE` in [bnp_mixture()] by memoized or full learning, for clusters
#'   that have covariances of their own and do not drift; otherwise `FALSE`. `fit$model$obs` has the learned values
#'   (`mean`, `mean_strength`, `df` and `scale`). See *Learned priors* of [observation_models].
#' @param variance For `"tied_spherical"`, `"tied_diagonal"` and `"tied"`: the covariance that all clusters share, as
#'   one number, one number for each column, or a matrix. Default: learned while fitting, as the covariance with the
#'   highest objective for the clusters found; `fit$model$obs$variance` has it. The objective is a bound on the evidence
#'   under this covariance. The variance in every direction is at least 1e-6 of that of the data.
#' @param columns Names of the columns that are modelled. Default: all columns; in [obs_product()] all columns of its
#'   kind that no other block names. If a column is a matrix, such as `cbind(success, failure)` or a `Surv`, one name
#'   stands for all its columns.
#' @param drift For `"full"` and `"diagonal"`, in [bnp_mixture()] with `time`: how far the mean of a cluster moves from
#'   one time to the next, as the variance of a step divided by that of the cluster's rows, above 0. `"learn"`: the
#'   value with the highest bound, found anew after every lap. See *Clusters over time* of [bnp_mixture()].
#' @param rounding In [bnp_mixture()]: the spacing of rounded values, one number, or one per column, such as 0.1 for one
#'   decimal; 0: a column is not rounded. `NULL`, the default: in columns in which each value occurs more than five
#'   times on average the common spacing of the values, else 0. See *Rounded values* of
#'   [observation_models].
#' @param ... Must be empty.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @section Choice of the covariance:
#' With `covariance = "auto"` two whole fits are made, one with full and one with diagonal covariances. They have the
#' same data, `control` and seed, and the same given parameters of the prior (`scale` as a vector). The one with the
#' higher bound is kept. Each of the two covariances has a prior probability of 1/2, so that the bound of the model with
#' the choice is log 2 lower than that of the fit alone. This difference is subtracted in [elbo()], in the term
#' `hyperprior`, in the table of restarts and in all laps of [elbo_trace()] (not in the lines that are shown while the
#' fits are made).
#'
#' `fit$model$obs` is the observation model with the covariance that was chosen, and all functions treat the fit as one
#' with this covariance; the bounds of joined clusters ([cluster_tree()], [cut_fit()]) and of an [update()] do not
#' subtract log 2. `fit$covariances` has both bounds, with log 2 subtracted, and both numbers of clusters. `fit$call`
#' names the covariance chosen, so that [update()] keeps it; `update(fit, obs = obs_gaussian("auto"))` chooses again.
#' Interrupting (Ctrl-C) an interactive session ends with the full fit, whichever of the two was being made.
#'
#' `"auto"` is not the default, since it takes twice the time. With few rows, and columns that depend on each other, the
#' bound may prefer too simple a covariance. A covariance must be named if the fit begins at another fit (`start`), with
#' sources, streams, `checkpoint` and `workers`, and in a block of a product.
#'
#'
#' @section Names of mclust:
#' The package mclust names covariances by three letters for the volume, shape and orientation of clusters. Each is
#' equal for all clusters (E), varying (V) or the identity (I: spherical shape, or the orientation of the axes). Six of
#' its fourteen models are available here, with priors on the parameters; in the other eight clusters share some part of
#' a covariance but not all of it.
#'
#' | mclust | Covariance of cluster k | Here |
#' |---|---|---|
#' | `EII` | \eqn{\lambda I} | `obs_gaussian("tied_spherical")` |
#' | `VII` | \eqn{\lambda_k I} | `obs_gaussian("spherical")` |
#' | `EEI` | \eqn{\lambda A} | `obs_gaussian("tied_diagonal")` |
#' | `VEI` | \eqn{\lambda_k A} | no |
#' | `EVI` | \eqn{\lambda A_k} | no |
#' | `VVI` | \eqn{\lambda_k A_k} | `obs_gaussian("diagonal")` |
#' | `EEE` | \eqn{\lambda D A D^T} | `obs_gaussian("tied")` |
#' | `VEE` | \eqn{\lambda_k D A D^T} | no |
#' | `EVE` | \eqn{\lambda D A_k D^T} | no |
#' | `VVE` | \eqn{\lambda_k D A_k D^T} | no |
#' | `EEV` | \eqn{\lambda D_k A D_k^T} | no |
#' | `VEV` | \eqn{\lambda_k D_k A D_k^T} | no |
#' | `EVV` | \eqn{\lambda D_k A_k D_k^T} | no |
#' | `VVV` | \eqn{\lambda_k D_k A_k D_k^T} | `obs_gaussian()` |
#'
#' Of the two models for one column, `V` (variances differ) is `obs_gaussian()`, and `E`
#' (one variance) is `obs_gaussian("tied")`. `obs_gaussian("zero_mean")` has no name in mclust.
#'
#' @seealso [observation_models] for all models; [obs_student()] if there are outliers; *Learned priors* and
#'   *Rounded values* of [observation_models]; *Choosing priors* on the site.
#' @examples
#' obs_gaussian()
#' obs_gaussian("diagonal", scale = 2)
#' fit <- bnp_mixture(faithful, obs_gaussian("diagonal"), control = bnp_control(seed = 1))
#' coef(fit)[c("mean", "cov")]
#' @export
obs_gaussian <- function(covariance = c(
                           "full", "diagonal", "zero_mean", "spherical", "tied_spherical", "tied_diagonal", "tied",
                           "auto"
                         ),
                         mean = NULL, mean_strength = NULL, df = NULL, scale = NULL, learn = NULL,
                         variance = NULL, columns = NULL, drift = NULL, rounding = NULL, ...) {
  check_no_dots(...)
  covariance <- if (missing(covariance)) "full" else check_choice(covariance, eval(formals()$covariance), "covariance")
  prior <- list(mean = mean, mean_strength = mean_strength, df = df, scale = scale, variance = variance)
  given <- setdiff(names(match.call()), c("", "covariance"))
  if (length(given)) {
    refuse_foreign(covariance, c(prior, list(learn = if (!isFALSE(learn)) learn)))
    if (!is.null(drift)) refuse_drift_of(covariance, learn)
    if (covariance == "zero_mean" && !(is.null(mean) && is.null(mean_strength))) {
      abort("argument", c(
        "{.arg mean} and {.arg mean_strength} have no meaning when {.code covariance = \"zero_mean\"}.",
        i = "Leave them out, or choose {.code covariance = \"full\"}."
      ))
    }
    prior <- checked_arguments(given, gaussian_checks, prior)
    vectors <- prior[if (!covariance %in% c("full", "zero_mean", "tied")) c("scale", "variance")]
    for (arg in names(Filter(is.matrix, vectors))) {
      abort("argument", c(
        "{.arg {arg}} must be a vector when {.code covariance = \"{covariance}\"}, not {describe(vectors[[arg]])}.",
        i = "Give one number per column."
      ))
    }
    if (!is.null(learn)) check_flag(learn, "learn")
  }
  fields <- setdiff(names(prior), c(
    if (is_tied(covariance)) c("df", "scale") else "variance",
    if (covariance == "zero_mean") c("mean", "mean_strength")
  ))
  do.call(new_obs, c(
    paste0("gaussian_", covariance), prior[fields], if (!is.null(learn) && !is_tied(covariance)) list(learn = learn),
    if (!is.null(drift)) drift_fields(drift), if (!is.null(columns)) columns_field(columns),
    if (!is.null(rounding)) rounding_field(rounding, !is.null(drift))
  ))
}

gaussian_checks <- list(
  mean = check_vector, mean_strength = or_null(check_number), df = or_null(check_number), scale = check_definite,
  variance = check_definite
)

is_tied <- function(covariance) startsWith(covariance, "tied")

# Refuses arguments that clusters with this covariance do not have. given: the values of such arguments.
refuse_foreign <- function(covariance, given, call = rlang::caller_env()) {
  lacking <- if (is_tied(covariance)) c("df", "scale", "learn") else
    "variance"
  foreign <- intersect(lacking, names(Filter(Negate(is.null), given)))
  if (length(foreign)) {
    abort("argument", c(
      "{.arg {foreign}} {?has/have} no meaning when {.code covariance = \"{covariance}\"}.",
      i = if (is_tied(covariance)) {
        "All clusters have the covariance {.arg variance}; {.code NULL} has it learned."
      } else if ("variance" %in% foreign) {
        "Each cluster has its own covariance, with a prior given by {.arg df} and {.arg scale}."
      }
    ), call = call)
  }
}

# Completes the model by weak defaults. Let v be the column variances, computed so that outliers hardly count.
# - mean: the column medians.
# - df: the smallest whole number for which E[covariance] exists, D + 2, so that
#   the prior weighs as much as one observation.
# - scale: E[covariance] = `spread_within` v, diagonal. Clusters are narrower
#   than the data, or they would not be clusters; how much narrower is the only
#   thing that a weak prior has to say.
# - mean_strength: so small that the means of clusters a hundred times
#   narrower than the data may lie anywhere among them.
obs_resolve.obs_gaussian <- function(obs, data, start, call) {
  d <- data$d
  full <- length(obs_facts(obs)$arrays$scale) == 3L # a matrix for each cluster
  block <- if (full) d else 1L
  given <- if (isTRUE(obs$learn)) given_hyperparameters(obs)
  obs <- resolve_means(obs, data, call)
  variance <- obs$unit^2 * robust_variances(data$x, obs$centre, obs$unit, data$weights)
  if (!is.null(obs$df)) obs$df <- check_df(obs$df, block, call)
  expand <- if (full) expand_matrix else expand_vector
  if (!is.null(obs$scale)) obs$scale <- expand(obs$scale, d, "scale", call)
  if (!is.null(given)) {
    return(begin_hyperparameters(obs, given, data, variance, obs$centre, full, start))
  }
  obs$df <- obs$df %||% (block + 2)
  default <- spread_within(counted_units(data), d) * variance * max(obs$df - block - 1, 1)
  obs$scale <- obs$scale %||% expand(default, d, "scale", call)
  obs
}

resolve_means <- function(obs, data, call) {
  obs$centre <- column_medians(data$x, data$weights)
  obs$unit <- column_units(data$x, obs$centre, data$column_names, call, data$weights)
  obs$mean <- expand_vector(obs$mean %||% obs$centre, data$d, "mean", call)
  obs$mean_strength <- obs$mean_strength %||% 1e-4
  obs
}

obs_resolve.obs_gaussian_zero_mean <- function(obs, data, start, call) {
  d <- data$d
  given <- if (isTRUE(obs$learn)) given_hyperparameters(obs)
  obs$unit <- column_units(data$x, rep(0, d), data$column_names, call, data$weights)
  z <- data$x / rep(obs$unit, each = data$n)
  square <- column_means(z^2, data$weights)
  square[square == 0] <- 1
  if (!is.null(obs$df)) obs$df <- check_df(obs$df, d, call)
  if (!is.null(obs$scale)) obs$scale <- expand_matrix(obs$scale, d, "scale", call)
  if (!is.null(given)) {
    return(begin_hyperparameters(obs, given, data, obs$unit^2 * square, NULL, full = TRUE, start))
  }
  obs$df <- obs$df %||% (d + 2)
  default <- spread_within(counted_units(data), d) * obs$unit^2 * square * max(obs$df - d - 1, 1)
  obs$scale <- obs$scale %||% expand_matrix(default, d, "scale", call)
  obs
}

working_of_gaussians <- c("centre", "unit", "from_one", hyper_working)

obs_learned.obs_gaussian <- function(obs) {
  if (isTRUE(obs$learn)) list(by = "learn = TRUE", numbers = c("mean_strength", "df"))
}

obs_marginals.obs_gaussian <- function(obs, means) {
  sd <- sqrt(diag(as.matrix(means$cov)))
  Map(function(mean, sd) list(kind = "number", mean = mean, sd = sd), means$mean %||% rep(0, length(sd)), sd)
}

obs_densities.obs_gaussian <- function(obs, means) {
  lapply(obs_marginals.obs_gaussian(obs, means), function(of) {
    column_density(function(x) stats::dnorm(x, of$mean, of$sd), function(p) stats::qnorm(p, of$mean, of$sd))
  })
}

# --- Full covariance: a matrix for each cluster ---

model_gaussian_full <- list(
  title = "Gaussian, full covariance", constructor = "obs_gaussian", values = "real numbers", kind = "number",
  gaps = "cells", working = working_of_gaussians,
  parameters = list(mean = "columns", scale = c("columns", "columns"), rounding = "columns"),
  arrays = list(
    mean = c("clusters", "columns"), mean_strength = "clusters", df = "clusters",
    scale = c("columns", "columns", "clusters"), cov = c("columns", "columns", "clusters")
  ),
  location = "mean", as_series = TRUE
)

obs_quantiles.obs_gaussian_full <- function(obs) {
  list(
    mean = function(q, p) {
      df <- q$df - length(q$mean) + 1
      student_quantile(p, q$mean, sqrt(diag(q$scale) / (q$mean_strength * df)), df)
    },
    cov = function(q, p) inverse_wishart_quantile(p, q$df, q$scale)
  )
}

obs_draw_rows.obs_gaussian_full <- function(obs, q, rows, given) {
  draw_gaussian(length(rows), q$mean, q$mean_strength, q$df, q$scale)
}

obs_moments.obs_gaussian_full <- function(obs, q, given) {
  var <- student_variance(diag(q$scale) * spread_of_mean(q), q$df - nrow(q$scale) + 1)
  list(mean = q$mean %||% rep(0, nrow(q$scale)), var = var)
}

obs_predictive_cdf.obs_gaussian_full <- function(obs, q, data) {
  df <- q$df - data$d + 1
  student_cdf(data$x, q$mean %||% 0, sqrt(diag(q$scale) * spread_of_mean(q) / df), df)
}

obs_conditional.obs_gaussian_full <- function(obs, q, x) {
  df <- q$df - nrow(q$scale) + 1
  list(location = in_each_row(q$mean, x), scale = q$scale / df, spread = rep(spread_of_mean(q), nrow(x)), df = df)
}

obs_draw_conditional.obs_gaussian_full <- function(obs, q, x) {
  cov <- draw_covariance(q$df, q$scale)
  mean <- if (!is.null(q$mean)) q$mean + drop(stats::rnorm(length(q$mean)) %*% chol(cov)) / sqrt(q$mean_strength)
  list(location = in_each_row(mean, x), cov = cov)
}

# The factor by which an uncertain mean widens the predictive covariance; q$mean is NULL where the mean is
# known to be 0.
spread_of_mean <- function(q) if (is.null(q$mean)) 1 else 1 + 1 / q$mean_strength
in_each_row <- function(mean, x) matrix(mean %||% 0, nrow(x), ncol(x), byrow = TRUE)

# --- Diagonal covariance; also spherical, with one `scale` and one `df` for all columns ---

model_gaussian_diagonal <- utils::modifyList(model_gaussian_full, list(
  title = "Gaussian, diagonal covariance", arrays = list(scale = c("clusters", "columns"))
))

# If cells may be missing, each column of a cluster has a strength and degrees of freedom of its own.
obs_facts.obs_gaussian_diagonal <- function(obs) {
  facts <- NextMethod()
  if (isTRUE(obs$gaps)) facts$arrays[c("mean_strength", "df")] <- list(c("clusters", "columns"))
  facts
}

obs_quantiles.obs_gaussian_diagonal <- function(obs) {
  list(
    mean = function(q, p) student_quantile(p, q$mean, sqrt(q$scale / (q$mean_strength * q$df)), q$df),
    cov = function(q, p) {
      out <- matrix(NA_real_, length(q$mean), length(q$mean))
      diag(out) <- inverse_gamma_quantile(p, q$df / 2, q$scale / 2)
      out
    }
  )
}

obs_draw_rows.obs_gaussian_diagonal <- function(obs, q, rows, given) {
  draw_diagonal(length(rows), q$mean, q$mean_strength, q$df, q$scale)
}

obs_moments.obs_gaussian_diagonal <- function(obs, q, given) {
  var <- student_variance(q$scale * (1 + 1 / q$mean_strength), q$df)
  list(mean = q$mean, var = rep_len(var, length(q$mean)))
}

obs_predictive_cdf.obs_gaussian_diagonal <- function(obs, q, data) {
  sd <- rep_len(sqrt(q$scale * (1 + 1 / q$mean_strength) / q$df), length(q$mean))
  student_cdf(data$x, q$mean, sd, q$df)
}

# --- Full covariance around a mean that is known to be 0 ---

model_gaussian_zero_mean <- utils::modifyList(model_gaussian_full, list(
  title = "Gaussian, zero mean", class = c("obs_gaussian_full", "obs_gaussian"),
  arrays = list(mean = NULL, mean_strength = NULL), location = NULL
))

obs_quantiles.obs_gaussian_zero_mean <- function(obs) NextMethod()["cov"]
