# Regressions with yes/no responses, numbers of successes, and counts: logistic and negative binomial.

#' @rdname obs_regression
#' @order 2
#' @param family `"gaussian"`, `"binomial"` for logistic regressions, or `"negbinomial"` for
#'   counts; or `gaussian()` or `binomial()` of R, see *Logistic regressions and counts*. `NULL`: binomial if the
#'   response is a factor with two levels or logical, else Gaussian.
#' @param size For `family = "negbinomial"`: 1 to 30 values from 0.001 to 100; each cluster has one of them as its size
#'   s, with which a count of mean \eqn{\mu} has the variance \eqn{\mu + \mu^2 / s}. `NULL`: ten values from 0.25 to 20.
#' @section Logistic regressions and counts:
#' With `family = "binomial"` the probability of success is \eqn{P(y = 1) = 1 / (1 + e^{-\psi})},
#' \eqn{\psi = o + x^T b_k}, in each cluster or state. The response is 0 or 1, logical, or a factor with two levels, of
#' which the second is 1; or `cbind(yes, no)`, the numbers of both. With `family = "negbinomial"` the response is a
#' count with mean \eqn{e^\psi} and a size from a grid. Both take an `offset()` o. There is no noise, so that `df`,
#' `scale`, `tails`, `learn` and `random` do not apply. Coefficients have a normal prior with mean `coef_mean` (default
#' 0; for the intercept of counts the logarithm of their mean) and precision `coef_precision`, which is not
#' relative to a noise (default 0.1 for covariates that are centred and scaled). The prior keeps coefficients finite if
#' covariates separate the responses.
#'
#' A single yes or no per row hardly shows whether there are several kinds of rows. Give `id` in [bnp_mixture()], so
#' that individuals have several rows each, or use [bnp_hmm()], where states last. `bnp_mixture(choice ~ x | id, data)`
#' clusters individuals; `bnp_hmm(choice ~ x + previous, data, id = ~ session)` finds an open number of states of
#' choosing, a model known as a GLM-HMM. In [coef()] `coef` has the posterior means of coefficients, and `size` that of
#' the size of each cluster. [confint()] and intervals of [predict()] use the curvature of the likelihood near these
#' means, as the variational posterior of coefficients is too narrow. Rows without a response have no influence.
#'
#' The bound uses the tangents of Jaakkola and Jordan, which give the same bound as Polya-Gamma variables. It is loose
#' for sizes far above the mean of the counts, so that counts without overdispersion get too small a size.
#' @references
#' Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods. *Statistics and
#' Computing* 10, 25-37.
#'
#' Polson, N. G., Scott, J. G. and Windle, J. (2013). Bayesian inference for logistic models using Polya-Gamma latent
#' variables. *Journal of the American Statistical Association* 108, 1339-1349.
#'
#' Ashwood, Z. C. and others (2022). Mice alternate between discrete strategies during perceptual decision-making.
#' *Nature Neuroscience* 25, 201-212.
#' @name obs_regression
NULL

glm_families <- c("gaussian", "binomial", "negbinomial")

# The name of the family that the argument `family` of obs_regression() gives as text, object or function;
# NULL if none.
regression_family <- function(family, call) {
  if (is.null(family)) {
    return(NULL)
  }
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    links <- c(gaussian = "identity", binomial = "logit")
    if (family$family %in% names(links) && !identical(family$link, links[[family$family]])) {
      abort(c("family", "argument"), c(
        "{.arg family} must have its canonical link, not {.code {family$family}(\"{family$link}\")}.",
        i = "Links: identity of {.code gaussian()}, logit of {.code binomial()}."
      ), call = call)
    }
    family <- family$family
  }
  if (identical(family, "poisson")) {
    abort(c("family", "argument"), c(
      "{.arg family} cannot be {.code poisson()}, whose bound does not add up over batches and clusters.",
      i = "{.code family = \"negbinomial\"} is for counts, also those that vary more than Poisson counts.",
      i = "If all covariates are factors, {.fn obs_poisson} is an alternative."
    ), call = call)
  }
  check_choice(family, glm_families, "family", call)
}

# An observation model for regressions with this family. obs: the model that the other arguments of the call
# made.
with_family <- function(obs, family, size, call) {
  foreign <- Filter(function(name) !is.null(obs[[name]]), c("df", "scale", "tails", "learn", "random", "formula"))
  if (length(foreign)) {
    abort(c("not_defined", "argument"), c(
      "{.arg {foreign}} of {.fn obs_regression} cannot be used with {.code family = \"{family}\"}.",
      i = if ("formula" %in% foreign) "Blocks of a product are Gaussian regressions." else
        "Logistic and count responses have no separate noise."
    ), call = call)
  }
  do.call(new_obs, c(paste0(family, "_regression"), list(
    coef_mean = obs$coef_mean, coef_precision = obs$coef_precision, responses = obs$responses,
    intercept = obs$intercept, offset = FALSE
  ), if (family == "negbinomial") list(size = sizes_argument(size, call))))
}

sizes_argument <- function(size, call) {
  if (is.null(size)) {
    return(default_sizes)
  }
  size <- check_positive(size, "size", call)
  if (!length(size) || length(size) > 30L || any(size < 1e-3 | size > 100)) {
    abort("argument", c(
      "{.arg size} must be from 1 to 30 numbers from 0.001 to 100, not {describe(size)}.",
      i = "Larger sizes do not help for counts that vary like Poisson counts, as the bound is then too low."
    ), call = call)
  }
  sort(unique(size))
}
default_sizes <- exp(seq(log(0.25), log(20), length.out = 10L))

# A regression whose call states that it is Gaussian, so that it stays Gaussian whatever the response looks
# like.
with_stated_family <- function(obs) {
  obs$stated_family <- TRUE
  obs
}

# The model for the response y of a formula. obs: the model that the call gave or implied. A Gaussian
# regression becomes logistic if the response has two values, unless the call stated that it is Gaussian.
obs_of_response <- function(obs, y, call) {
  y <- plain_values(y)
  two <- is.logical(y) || is.factor(y) || is.character(y)
  if (two && has_effects(obs)) {
    bad_random("Random effects are there for responses that are numbers, not for a logistic regression.",
      "Leave them out: {.code y ~ t | id}; or model 0 and 1 as numbers: {.code as.numeric(y) ~ t + (1 | id)}.", call)
  }
  if (!two || !identical(obs$family, "regression") || isTRUE(obs$stated_family)) {
    return(obs)
  }
  if (is.factor(y) && nlevels(y) > 2L || is.character(y) && length(unique(y[!is.na(y)])) > 2L) {
    several <- if (is.factor(y)) nlevels(y) else length(unique(y[!is.na(y)]))
    abort(c("response", "not_numeric", "argument"), c(
      "The response has {several} levels; a logistic regression takes two.",
      i = "Join levels, or give a logical response: {.code (y == \"a\") ~ x}."
    ), call = call)
  }
  with_family(obs, "binomial", NULL, call)
}

# Codes a response with two levels as 0 and 1; any other response is unchanged: list(values, levels). levels:
# those of a fit, or NULL.
coded_response <- function(y, levels, call) {
  y <- plain_values(y)
  if (is.logical(y) && length(dim(y)) < 2L) {
    return(list(values = as.double(y)))
  }
  if (!is.factor(y) && !is.character(y)) {
    return(list(values = y))
  }
  levels <- levels %||% (if (is.factor(y)) levels(y) else sort(unique(y[!is.na(y)])))
  new <- setdiff(as.character(y[!is.na(y)]), levels)
  if (length(levels) != 2L || length(new)) {
    abort(c("response", "argument"), c(
      "The response must have two levels, {.or {.val {levels}}}.",
      x = if (length(new)) "It has {.val {new}}.", i = "The second one is the one whose probability is modelled."
    ), call = call)
  }
  list(values = as.double(match(as.character(y), levels) - 1L), levels = levels)
}

# TRUE for the models of this file. They have the field `offset`; callers that need no more than this test for
# the field.
is_glm <- function(obs) inherits(obs, "obs_glm")

# The columns of the data that are covariates with a coefficient: all but the responses and the offset after
# these.
covariate_columns <- function(obs) -seq_len(obs$responses + isTRUE(obs$offset))

obs_resolve.obs_glm <- function(obs, data, start, call) {
  obs <- with_shape_of_table(obs, data)
  known <- -covariate_columns(obs)
  e <- data$d - length(known) + obs$intercept
  if (e < 1L) {
    abort("no_columns", c(
      "A regression needs a covariate or an intercept.",
      i = "Write {.code y ~ a + b}, or give covariates in further columns."
    ), call = call)
  }
  if (!is.null(obs$spread)) {
    return(obs) # of a fit
  }
  w <- data$weights
  medians <- column_medians(data$x, w)
  obs$unit <- rep(1, data$d)
  if (data$d > length(known)) {
    obs$unit[-known] <- column_units(
      data$x[, -known, drop = FALSE], medians[-known], data$column_names[-known], call, w
    )
  }
  obs$centre <- replace(if (obs$intercept) medians else rep(0, data$d), known, 0)
  obs$coef_mean <- obs$coef_mean %||% default_coefficients(obs, data, e)
  if (!identical(dim(obs$coef_mean), c(1L, e))) {
    abort("argument", "{.arg coef_mean} must have {e} coefficient{?s}, not {describe(obs$coef_mean)}.", call = call)
  }
  storage.mode(obs$coef_mean) <- "double"
  obs$coef_mean <- unname(obs$coef_mean)
  some <- unique(round(seq(1, data$n, length.out = min(data$n, 1000L))))
  obs$covariates <- unname(data$x[some, -response_columns(obs), drop = FALSE])
  if (obs$responses == 2L) obs$trials <- rowSums(data$x[some, 1:2, drop = FALSE])
  z <- standardise(data$x, obs)[, -known, drop = FALSE]
  with_precision(obs, z, e, call, w, 0.1)
}

# Sets whether there is an offset: data in a matrix have one only if the model says so, since no formula names
# it.
with_shape_of_table <- function(obs, data) {
  obs$offset <- isTRUE(obs$offset)
  obs
}

# The prior mean of coefficients: 0, but for counts the intercept is the log of the mean count per unit of exposure.
default_coefficients <- function(obs, data, e) {
  out <- matrix(0, 1L, e)
  if (inherits(obs, "obs_negbinomial_regression") && obs$intercept) {
    w <- data$weights %||% rep(1, data$n)
    at <- !is.na(rowSums(data$x))
    offset <- if (obs$offset) data$x[at, 2L] else rep(0, sum(at))
    out[1L] <- log((sum(w[at] * data$x[at, 1L]) + 0.5) / (sum(w[at] * exp(offset)) + 0.5))
  }
  out
}

obs_check_columns.obs_glm <- function(obs, x, arg, call) {
  y <- x[, response_columns(obs), drop = FALSE]
  counts <- obs$responses == 2L || inherits(obs, "obs_negbinomial_regression")
  good <- is.na(y) | if (counts) are_counts(y) else y == 0 | y == 1
  if (all(good)) {
    return(NULL)
  }
  must <- if (counts) "whole numbers of at least 0" else "0 or 1, logical, or a factor with two levels"
  bad <- which(rowSums(!good) > 0)
  abort(c("response", "argument"), c(
    "The response must be {must} for {.code family = \"{sub('_regression', '', obs$family)}\"}.",
    x = "Not so in row {places(bad)}.",
    i = if (counts) "For shares of successes, give numbers as {.code cbind(yes, no)}." else
      "For several trials, write {.code cbind(yes, no) ~ x}."
  ), call = call)
}

obs_supports.obs_glm <- function(obs, values) rep_len(TRUE, length(values))
obs_measure.obs_glm <- function(obs) "probabilities of responses given the other columns"
obs_layout.obs_glm <- function(obs) list(offset = obs$offset, size = obs$size)

model_binomial_regression <- list(
  title = "Logistic regression", constructor = "obs_regression", class = "obs_glm",
  values = "responses, with covariates", verbs = c("bnp_mixture", "bnp_hmm"), gaps = "cells",
  refusal = c(class = "response", must = "be responses and covariates", remedy = ""),
  working = c(
    "responses", "intercept", "offset", "centre", "unit", "scaled_precision", "origin", "spread", "covariates",
    "trials"
  ),
  parameters = list(coef_mean = c("responses", "regressors"), coef_precision = c("regressors", "regressors")),
  arrays = list(
    coef = c("responses", "regressors", "clusters"), coef_mean = c("responses", "regressors", "clusters"),
    coef_cov = c("regressors", "regressors", "clusters")
  )
)
model_negbinomial_regression <- utils::modifyList(model_binomial_regression, list(
  title = "Negative binomial regression",
  arrays = list(size = "clusters", size_prob = c("clusters", "sizes"))
))

obs_axes.obs_glm <- function(obs, columns) {
  y <- response_columns(obs)
  list(
    columns = columns, responses = columns[1L],
    regressors = if (!is.null(columns)) c(if (obs$intercept) "(Intercept)", columns[covariate_columns(obs)]),
    sizes = if (!is.null(obs$size)) format(obs$size, digits = 3, trim = TRUE)
  )
}

obs_quantiles.obs_glm <- function(obs) {
  coef <- function(q, p) matrix(q$coef_mean[1L, ] + sqrt(diag(as.matrix(q$coef_cov))) * stats::qnorm(p), 1L)
  of_size <- function(q, p) obs$size[which(cumsum(q$size_prob) >= p * (1 - 1e-12))[1L]]
  c(list(coef = coef), if (!is.null(obs$size)) list(size = of_size))
}
