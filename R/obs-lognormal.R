# Values above 0 whose logarithms are Gaussian: the model obs_gaussian() of the logarithms, with the Jacobian. Methods
# here convert between values and logarithms; everything about the parameters of the logarithms (quantiles, divergences,
# marginals, ...) is inherited from the Gaussian classes.

#' Lognormal observations
#'
#' Values above 0 whose logarithms are Gaussian in each cluster, topic or state, such as incomes, sizes or
#' concentrations.
#'
#' @inheritParams obs_gaussian
#' @param covariance The covariance matrices of the logarithms: `"full"`, one for each cluster, or `"diagonal"`, columns
#'   that are independent within a cluster.
#' @param mean,mean_strength,df,scale,learn The prior for the logarithms, as for [obs_gaussian()].
#' @details
#' `mean`, `mean_strength`, `df` and `scale` are those of the prior for the logarithms, which
#' `learn` learns as for `obs_gaussian()`. `mean` and `cov` of `coef()`, intervals, divergences and pictures are those
#' of the logarithms, too. Densities are those of the values themselves, with the Jacobian of the logarithm: the bound
#' is that of `obs_gaussian()` fitted to `log(x)`, less `sum(log(x))`. It can therefore be compared with bounds of
#' `obs_gamma()` and `obs_gaussian()` fitted to the same values. The predictive of a value has Student-t logarithms and
#' therefore no mean. Forecasts and [impute()] give in its place the mean and the standard deviation of the lognormal
#' distribution whose logarithms have the mean and the variance of the predictive.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @seealso [observation_models] for all models; [obs_gamma()] and [obs_weibull()] for other values above 0.
#' @examples
#' obs_lognormal("diagonal")
#' fit <- bnp_mixture(rivers, obs_lognormal(), control = bnp_control(seed = 1))
#' fit
#' @export
obs_lognormal <- function(covariance = c("full", "diagonal"), mean = NULL, mean_strength = NULL, df = NULL,
                          scale = NULL, columns = NULL, learn = NULL, ...) {
  check_no_dots(...)
  covariance <- if (missing(covariance)) "full" else check_choice(covariance, eval(formals()$covariance), "covariance")
  checks <- gaussian_checks[c("mean", "mean_strength", "df", "scale")]
  if (covariance == "diagonal" && is.matrix(scale)) {
    checks$scale <- check_vector
  }
  prior <- list(mean = mean, mean_strength = mean_strength, df = df, scale = scale)
  prior <- checked_arguments(names(match.call()), checks, prior)
  if (!is.null(learn)) check_flag(learn, "learn")
  do.call(new_obs, c(
    paste0("lognormal_", covariance), prior, logs = TRUE, columns_field(columns),
    if (!is.null(learn)) list(learn = learn)
  ))
}

model_lognormal_full <- utils::modifyList(model_gaussian_full, list(
  title = "Lognormal, full covariance", constructor = "obs_lognormal",
  class = c("obs_lognormal", "obs_gaussian_full", "obs_gaussian"), values = "values above 0",
  working = c(working_of_gaussians, "logs"),
  refusal = c(
    class = "not_positive", must = "hold values above 0",
    remedy = "A value of 0 has been rounded: give half of the smallest that can be told from 0. Values below 0 have no
              logarithm: {.fn obs_gaussian} takes them."
  )
))
model_lognormal_diagonal <- utils::modifyList(model_lognormal_full, list(
  title = "Lognormal, diagonal covariance", class = c("obs_lognormal", "obs_gaussian_diagonal", "obs_gaussian"),
  arrays = model_gaussian_diagonal$arrays
))

# The Gaussian model of the logarithms, whose class comes after obs_lognormal in the model's classes.
of_logs <- function(obs) as_family(obs, sub("^obs_", "", obs_facts.default(obs)$class[2L]), NULL)

as_family <- function(obs, family, logs) {
  obs$family <- family
  obs$logs <- logs
  structure(obs, class = obs_class(obs))
}

obs_supports.obs_lognormal <- function(obs, values) values > 0
in_logs <- function(data) {
  data$x <- log(data$x)
  data
}

obs_resolve.obs_lognormal <- function(obs, data, start, call) {
  if (inherits(start, "bnp_fit") && !is.null(start$model$obs$logs)) start$model$obs <- of_logs(start$model$obs)
  as_family(obs_resolve(of_logs(obs), in_logs(data), start, call), obs$family, TRUE)
}

obs_draw_rows.obs_lognormal <- function(obs, q, rows, given) exp(obs_draw_rows(of_logs(obs), q, rows, given))
obs_predictive_cdf.obs_lognormal <- function(obs, q, data) obs_predictive_cdf(of_logs(obs), q, in_logs(data))

# The mean and variance of exp(x), where x is Gaussian with this list(mean, var); intermediate numbers do not
# overflow.
moments_of_exp <- function(logs) {
  log_mean <- logs$mean + logs$var / 2
  list(mean = exp(log_mean), var = exp(2 * log_mean + logs$var + log(-expm1(-logs$var))))
}

obs_moments.obs_lognormal <- function(obs, q, given) moments_of_exp(obs_moments(of_logs(obs), q, given))
obs_gap_moments.obs_lognormal <- function(obs, q, data) {
  moments_of_exp(obs_gap_moments(of_logs(obs), q, in_logs(data)))
}
obs_draw_gaps.obs_lognormal <- function(obs, clusters, data, path) {
  exp(obs_draw_gaps(of_logs(obs), clusters, in_logs(data), path))
}

obs_picture.obs_lognormal <- function(obs, fit, data) {
  fit$model$obs <- of_logs(obs)
  # For individuals the last column of the statistics is the sum of Jacobians, which the model of the
  # logarithms lacks.
  if (isTRUE(obs$repeated)) fit$state$obs <- fit$state$obs[, -ncol(fit$state$obs), drop = FALSE]
  fit$input$column_names <- paste0("log(", column_labels(fit), ")")
  obs_picture(fit$model$obs, fit, if (!is.null(data)) in_logs(data))
}

obs_densities.obs_lognormal <- function(obs, means) {
  lapply(obs_marginals(of_logs(obs), means), function(of) {
    column_density(function(x) stats::dlnorm(x, of$mean, of$sd), function(p) stats::qlnorm(p, of$mean, of$sd))
  })
}
