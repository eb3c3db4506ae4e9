# Student-t clusters: Gaussian rows whose precision is multiplied by a latent scale, a hidden variable of each
# row. Each cluster has its own weight of the tails (`tails`, the degrees of freedom); regressions and
# autoregressions can have them, too.

#' Observations with heavy tails
#'
#' Real numbers with a multivariate t distribution in each cluster or state: like [obs_gaussian()], but rows far out
#' count less, so that outliers do not need clusters of their own.
#'
#' @inheritParams obs_gaussian
#' @param covariance The covariance matrices of clusters: `"full"`, one for each cluster, or `"diagonal"`, columns that
#'   are independent within a cluster (given the scale of the row, see *Heavy tails*).
#' @param tails The degrees of freedom of t distributions, which determine how heavy their tails are. `NULL`, the
#'   default: each cluster has its own, which are learned, with the prior `gamma_prior(2, 0.1)`. Another [gamma_prior()]
#'   replaces this prior, with a rate of at least 0.001, a shape of at most 1e8 and a mean from 0.1 to 1e8. One number
#'   from 0.1 to 1e8: all clusters have these degrees of freedom.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @section Heavy tails:
#' In `obs_student()` a row is normal with covariance \eqn{\Sigma_k / u_n}, where the scale \eqn{u_n} of each row has a
#' Gamma distribution with shape and rate \eqn{\nu_k / 2}: a multivariate t distribution with \eqn{\nu_k} degrees of
#' freedom (`tails`). Gaussian models need extra clusters for rows far out; here such a row has a small scale, which is
#' its weight in the mean and the covariance. [augment()] has it as `.scale`: rows with a small one are outliers of
#' their cluster. `mean`, `mean_strength`, `df` and `scale` are as in `obs_gaussian()` (`df` belongs to the prior of
#' covariances, not to the tails); this prior is given and is not learned. With a `"diagonal"` covariance columns are
#' independent given the scale, which is one for all columns of the row.
#'
#' In [coef()] `tails` are the degrees of freedom, and `cov` is \eqn{\Sigma_k}: the covariance of rows is
#' `cov * tails / (tails - 2)` where `tails` are above 2. The predictive of a row is an average of t distributions over
#' scales and degrees of freedom, by one-dimensional integration. On Gaussian data `tails` become large, and the bound
#' is lower than that of `obs_gaussian()` with the same prior by a few nats per cluster (1.6 with 50 rows, 17 with
#' 20,000), the price of the more general model. If tails are heavier in some columns than in others, make each column a
#' block of [obs_product()], with scales of its own. `tails` are not available in samplers of sequences and topics, in
#' streams, which are learned one row at a time, and with repeated measures in mixtures.
#'
#' The posterior of the scales is a Gamma distribution for each row and cluster \[Svensen and Bishop 2005\]; the degrees
#' of freedom are integrated numerically. Their updates are slow, since the scales are hidden. Steps are therefore
#' lengthened where all rows are visited under the same parameters \[Louis 1982\]: in the first lap, which visits all
#' rows until the degrees of freedom hardly change, and in laps without moves.
#' @references
#' Svensen, M. and Bishop, C. M. (2005). Robust Bayesian mixture modelling. *Neurocomputing* 64, 235-252.
#'
#' Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm. *Journal of the Royal
#' Statistical Society B* 44, 226-233.
#'
#' Peel, D. and McLachlan, G. J. (2000). Robust mixture modelling using the t distribution. *Statistics and Computing*
#' 10, 339-348.
#' @seealso [observation_models] for all models; [obs_gaussian()]; `tails` of [obs_regression()] and [obs_ar()] for
#'   noise with heavy tails.
#' @examples
#' set.seed(1)
#' x <- rt(300, df = 2) + c(0, 30)
#' fit <- bnp_mixture(x, obs_student(), control = bnp_control(seed = 1))
#' coef(fit)[c("mean", "tails")]
#' n_clusters(bnp_mixture(x, control = bnp_control(seed = 1)))
#' @export
obs_student <- function(covariance = c("full", "diagonal"), tails = NULL, mean = NULL, mean_strength = NULL, df = NULL,
                        scale = NULL, columns = NULL, rounding = NULL, ...) {
  check_no_dots(..., notes = c(
    learn = "Only {.arg tails} are learned. Means and covariances have a given prior: {.arg mean}, {.arg mean_strength},
             {.arg df} and {.arg scale}, by default read from the data."
  ))
  covariance <- if (missing(covariance)) "full" else check_choice(covariance, eval(formals()$covariance), "covariance")
  given <- names(match.call())
  checks <- gaussian_checks[c("mean", "mean_strength", "df", "scale")]
  if (covariance == "diagonal" && is.matrix(scale)) checks$scale <- check_vector
  prior <- list(mean = mean, mean_strength = mean_strength, df = df, scale = scale)
  prior <- checked_arguments(given, checks, prior)
  tails <- tails_argument(tails)
  if (is.null(tails)) {
    abort("argument", c(
      "{.arg tails} of {.fn obs_student} must be finite, not Inf.",
      i = "Infinitely many degrees of freedom are {.fn obs_gaussian}."
    ))
  }
  if (!is.null(df) && !"tails" %in% given) {
    cli::cli_inform(
      c(
        "{.arg df} is taken as that of the Wishart prior of covariances.",
        i = "The degrees of freedom of the t distribution are {.arg tails}, which are learned where they are not given."
      ),
      class = c("bnpvi_message_tails", "bnpvi_message")
    )
  }
  do.call(new_obs, c(paste0("student_", covariance), prior, columns_field(columns), list(tails = tails),
    if (!is.null(rounding)) rounding_field(rounding)
  ))
}

model_student_full <- utils::modifyList(model_gaussian_full, list(
  title = "Student-t, full covariance", constructor = "obs_student", class = c("obs_student", "obs_gaussian"),
  arrays = tails_arrays
))
model_student_diagonal <- utils::modifyList(model_student_full, list(
  title = "Student-t, diagonal covariance", class = c("obs_student_diagonal", "obs_student", "obs_gaussian"),
  arrays = list(scale = c("clusters", "columns"))
))

obs_axes.obs_student <- function(obs, columns) list(columns = columns, nodes = character())

obs_quantiles.obs_student <- function(obs) {
  gaussian <- if (is_diagonal(obs)) obs_quantiles.obs_gaussian_diagonal(obs) else obs_quantiles.obs_gaussian_full(obs)
  c(gaussian, list(tails = tails_quantiles(obs)))
}

is_diagonal <- function(obs) inherits(obs, "obs_student_diagonal")

# Draws rows of a cluster, with one draw of its mean, covariance and degrees of freedom.
obs_draw_rows.obs_student <- function(obs, q, rows, given) {
  n <- length(rows)
  spread <- 1 / sqrt(draw_scales(obs, q, n))
  if (is_diagonal(obs)) {
    precision <- draw_precisions(q$df, rep_len(q$scale, length(q$mean)))
    noise <- function(m) matrix(stats::rnorm(m * length(precision)) / sqrt(precision), length(precision))
  } else {
    noise <- draw_noise(q$df, as.matrix(q$scale))
  }
  mean <- q$mean + noise(1L)[, 1L] / sqrt(q$mean_strength)
  t(noise(n)) * spread + rep(mean, each = n)
}

obs_moments.obs_student <- function(obs, q, given) {
  d <- length(q$mean)
  df <- if (is_diagonal(obs)) q$df else q$df - d + 1
  square <- if (is_diagonal(obs)) q$scale else diag(as.matrix(q$scale))
  list(mean = q$mean, var = rep_len(student_variance(square * (mean_spread(q) + 1 / q$mean_strength), df), d))
}

obs_predictive_cdf.obs_student <- function(obs, q, data) {
  d <- length(q$mean)
  df <- if (is_diagonal(obs)) q$df else q$df - d + 1
  square <- if (is_diagonal(obs)) q$scale else diag(as.matrix(q$scale))
  over_scales(q, spread_of_mean(q), function(spread) {
    student_cdf(data$x, q$mean, rep_len(sqrt(square * spread / df), d), df)
  })
}

# The distribution of missing values given the observed cells: a t distribution with the expected degrees of
# freedom and the expected covariance.
obs_conditional.obs_student <- function(obs, q, x) {
  tails <- tails_of(q)
  nu <- sum(tails$nu * tails$prob)
  cov <- core_covariance(obs, q)
  list(location = in_each_row(q$mean, x), scale = cov * nu, spread = rep(spread_of_mean(q), nrow(x)), df = nu)
}

# The covariance of rows whose scale is 1. A cluster with so few rows that the expected covariance does not
# exist has the inverse of the expected precision instead.
core_covariance <- function(obs, q) {
  d <- length(q$mean)
  if (is_diagonal(obs)) {
    return(diag(rep_len(q$scale / ifelse(q$df > 2, q$df - 2, q$df), d), d))
  }
  as.matrix(q$scale) / if (q$df > d + 1) q$df - d - 1 else q$df
}

obs_draw_conditional.obs_student <- function(obs, q, x) {
  cov <- if (is_diagonal(obs)) {
    diag(1 / stats::rgamma(length(q$mean), q$df / 2, rate = q$scale / 2), length(q$mean))
  } else {
    draw_covariance(q$df, as.matrix(q$scale))
  }
  mean <- q$mean + drop(stats::rnorm(length(q$mean)) %*% chol(cov)) / sqrt(q$mean_strength)
  list(location = in_each_row(mean, x), cov = cov)
}

obs_draw_gaps.obs_student <- function(obs, clusters, data, path) draw_gaps_with_scales(obs, clusters, data, path)

obs_row_scales.obs_student <- function(obs, q, data) {
  location <- in_each_row(q$mean, data$x)
  scales_of_rows(q, data$x, location, if (is_diagonal(obs)) q$scale / q$df else as.matrix(q$scale) / q$df,
    rep(1 / q$mean_strength, nrow(data$x))
  )
}
