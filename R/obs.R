#' What is observed: observation models
#'
#' An observation model says what one cluster, topic or state produces. Each is
#' a conjugate exponential family with its prior. `NULL` asks for a weak default
#' that is read from the data when the model is fitted, printed with the fit
#' and stored in `fit$model$obs`.
#'
#' @param covariance `"full"`: one covariance matrix per cluster, with a
#'   Normal-Wishart prior. `"diagonal"`: independent columns within a cluster,
#'   each with a Normal-Gamma prior. `"zero_mean"`: a full covariance matrix
#'   around a mean known to be zero, with a Wishart prior on the precision.
#' @param mean Prior mean, one number or one per column. Default: the column
#'   means.
#' @param mean_strength Weight of the prior mean, counted in observations.
#'   Default: 0.0001.
#' @param df Degrees of freedom of the Wishart prior, above D - 1 for D
#'   columns (above 0 for `"diagonal"`, where each column has its own).
#'   Default: D + 2 (3 for `"diagonal"`), the smallest whole number for which
#'   the expected covariance exists.
#' @param scale Scale matrix of the prior: the expected covariance is
#'   `scale / (df - D - 1)`. A D x D positive definite matrix, or its diagonal,
#'   or one number for a multiple of the identity. Default: an expected
#'   covariance with the share `n^(-1 / D)` of the column variances on its
#'   diagonal for n rows, at least a thousandth: the spread of sqrt(n) clusters
#'   that fill the range of the data.
#' @param lag Number of preceding rows that predict a row.
#' @param intercept Add an intercept to the regression on preceding rows?
#' @param coef_mean Prior mean of the D x E coefficient matrix, E = D * lag +
#'   intercept; columns are those of the first lag, of the second, ..., the
#'   intercept. Default: identity dynamics, each row expected at the preceding
#'   one.
#' @param coef_precision E x E precision of the coefficients' columns, relative
#'   to the noise; or its diagonal or one number, as for `scale`.
#' @param term_prior Dirichlet weight of each term: one number or one per term.
#'   `NULL`: learned while fitting, as the prior under which the objective is
#'   highest among those with the weight `even + common * share` of a term that
#'   has this share of all tokens. Clusters then need not each learn which terms
#'   are frequent, so that there are more of them and they predict new data
#'   better; the objective is a bound on the evidence under the learned prior.
#'   The two numbers are `term_prior_even` and `term_prior_common` in
#'   `fit$model$obs`.
#' @param a,b Beta prior of each probability: weight of a one and of a zero; one
#'   number or one per column.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @examples
#' obs_gaussian()
#' obs_gaussian("diagonal", scale = 2)
#' obs_multinomial(term_prior = 0.5)
#' learned <- obs_multinomial(term_prior = NULL)
#' fit <- bnp_topics(whales$counts, learned, control = bnp_control(seed = 1, max_laps = 10))
#' unlist(fit$model$obs[c("term_prior_even", "term_prior_common")])
#' @name observation_models
NULL

new_obs <- function(family, ...) {
  structure(list(family = family, ...), class = c("bnp_obs", "list"))
}

#' @rdname observation_models
#' @export
obs_gaussian <- function(covariance = c("full", "diagonal", "zero_mean"), mean = NULL,
                         mean_strength = NULL, df = NULL, scale = NULL) {
  covariance <- check_choice(covariance, c("full", "diagonal", "zero_mean"), "covariance")
  if (covariance == "zero_mean" && !(is.null(mean) && is.null(mean_strength))) {
    abort("argument", c(
      "{.arg mean} and {.arg mean_strength} have no meaning when {.code covariance = \"zero_mean\"}.",
      i = "Leave them out, or choose {.code covariance = \"full\"}."
    ))
  }
  scale <- check_definite(scale, "scale")
  if (covariance == "diagonal" && is.matrix(scale)) {
    abort("argument", c(
      "{.arg scale} must be a vector when {.code covariance = \"diagonal\"}, not {describe(scale)}.",
      i = "Give one number per column."
    ))
  }
  new_obs(
    paste0("gaussian_", covariance),
    mean = check_vector(mean, "mean"),
    mean_strength = if (!is.null(mean_strength)) check_number(mean_strength, "mean_strength"),
    df = if (!is.null(df)) check_number(df, "df"),
    scale = scale
  )
}

#' @rdname observation_models
#' @export
obs_ar <- function(lag = 1L, intercept = FALSE, df = NULL, scale = NULL, coef_mean = NULL,
                   coef_precision = NULL) {
  if (!is.null(coef_mean) && (!is.numeric(coef_mean) || !all(is.finite(coef_mean)))) {
    abort("argument", "{.arg coef_mean} must be a matrix of finite numbers, not {describe(coef_mean)}.")
  }
  new_obs(
    "ar",
    lag = check_count(lag, "lag"),
    intercept = check_flag(intercept, "intercept"),
    df = if (!is.null(df)) check_number(df, "df"),
    scale = check_definite(scale, "scale"),
    coef_mean = if (!is.null(coef_mean)) as.matrix(coef_mean),
    coef_precision = check_definite(coef_precision, "coef_precision")
  )
}

#' @rdname observation_models
#' @export
obs_multinomial <- function(term_prior = 0.1) {
  new_obs("multinomial", term_prior = if (!is.null(term_prior)) check_positive(term_prior, "term_prior"))
}

#' @rdname observation_models
#' @export
obs_bernoulli <- function(a = 0.1, b = 0.3) {
  new_obs("bernoulli", a = check_positive(a, "a"), b = check_positive(b, "b"))
}

check_positive <- function(x, arg, call = rlang::caller_env()) {
  if (is.null(x)) {
    abort("argument", "{.arg {arg}} must be positive, not NULL.", call = call)
  }
  x <- check_vector(x, arg, call)
  if (any(x <= 0)) {
    abort("argument", c(
      "{.arg {arg}} must be positive; {cli::qty(sum(x <= 0))}element{?s} {places(which(x <= 0))}
       {cli::qty(sum(x <= 0))}{?is/are} not."
    ), call = call)
  }
  as.double(x)
}

obs_titles <- c(
  gaussian_full = "Gaussian, full covariance",
  gaussian_diagonal = "Gaussian, diagonal covariance",
  gaussian_zero_mean = "Gaussian, zero mean",
  ar = "Autoregressive Gaussian",
  multinomial = "Multinomial",
  bernoulli = "Bernoulli",
  poisson = "Poisson"
)

# The fields of an observation model or a prior on one line, defaults named.
format_fields <- function(x, fields = setdiff(names(x), c("family", "centre", "unit", "term_share"))) {
  one <- function(v) {
    if (is.null(v)) {
      "(from the data)"
    } else if (is.matrix(v)) {
      d <- diag(v)
      range <- paste(unique(format(range(d), digits = 3, trim = TRUE)), collapse = " to ")
      paste0(nrow(v), " x ", ncol(v), ", diagonal ", range)
    } else if (length(unique(v)) == 1L) {
      format(v[[1]], digits = 3)
    } else if (length(v) <= 4L) {
      paste0("(", paste(signif(v, 3), collapse = ", "), ")")
    } else {
      paste0(length(v), " values, ", signif(min(v), 3), " to ", signif(max(v), 3))
    }
  }
  present <- fields[!(fields %in% c("mean", "mean_strength") & x$family == "gaussian_zero_mean")]
  paste(present, vapply(present, function(f) one(x[[f]]), ""), sep = " = ", collapse = ", ")
}

#' @export
format.bnp_obs <- function(x, ...) {
  paste0(obs_titles[[x$family]], ": ", format_fields(x))
}

#' @export
print.bnp_obs <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
