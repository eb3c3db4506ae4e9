# Generics of base R that a fit could answer by accident. Each has its usual meaning, or says that it has none here
# and where to look instead.

not_defined <- function(generic, remedy, call = rlang::caller_env()) {
  abort("not_defined", c("{.fn {generic}} has no meaning for a fit of this package.", i = remedy), call = call)
}

no_data_kept <- "A fit does not keep its data: give them to the function that needs them."

#' @rdname read_fit
#' @param x,formula A fit.
#' @export
formula.bnp_fit <- function(x, ...) {
  check_is_fit(x)
  if (is.null(x$input$terms)) {
    abort("not_defined", c("This fit was not made by a formula.", i = "Its call is {.code fit$call}."))
  }
  out <- stats::formula(x$input$terms)
  environment(out) <- globalenv()
  out
}

#' @rdname read_fit
#' @export
terms.bnp_fit <- function(x, ...) {
  check_is_fit(x)
  x$input$terms %||% abort("not_defined", c(
    "This fit was not made by a formula.", i = "{.code elbo(fit, terms = TRUE)} has the terms of the bound."
  ))
}

#' @export
labels.bnp_fit <- function(object, ...) {
  not_defined("labels", "{.fn fitted} gives the cluster of each observation; names are in {.code fit$input}.")
}

#' @export
weights.bnp_fit <- function(object, ...) {
  not_defined("weights", c(
    "Those that observations were given are {.code fit$input$weights}. Those of clusters are in
     {.code coef(fit)$weights}, their shares of the data in {.code tidy(fit)}."
  ))
}

#' @export
residuals.bnp_fit <- function(object, ...) {
  no_residuals()
}

no_residuals <- function(call = rlang::caller_env()) {
  abort("not_defined", c(
    "{.fn residuals} has no meaning for this fit.",
    i = "Fits of {.fn bnp_hmm}, of {.fn bnp_features} and mixtures of regressions have residuals.",
    i = "{.fn predict} gives log densities of observations."
  ), call = call)
}

#' @export
deviance.bnp_fit <- function(object, ...) {
  not_defined("deviance", "The log likelihood is bounded by {.fn elbo}; {.fn heldout_loglik} judges new data.")
}

#' @export
df.residual.bnp_fit <- function(object, ...) {
  not_defined("df.residual", "The number of parameters in use is not known. Compare fits by {.fn elbo}.")
}

#' @export
vcov.bnp_fit <- function(object, ...) {
  not_defined("vcov", c(
    "{.fn posterior_params} has the whole posterior; covariances of clusters are in {.code coef(fit)$cov}."
  ))
}

#' @export
anova.bnp_fit <- function(object, ...) {
  not_defined("anova", "Compare fits to the same data by {.fn elbo}, or by {.fn heldout_loglik}.")
}

#' @export
extractAIC.bnp_fit <- function(fit, scale, k = 2, ...) {
  not_defined("extractAIC", "Compare fits to the same data by {.fn elbo}, or by {.fn heldout_loglik}.")
}

#' @export
forecast.bnp_fit <- function(object, ...) {
  not_defined("forecast", "Only fits of {.fn bnp_hmm} and filters have rows to come; {.fn simulate} draws new data.")
}

#' @importFrom stats family
#' @export
family.bnp_fit <- function(object, ...) {
  not_defined("family", "The observation model is {.code fit$model$obs}.")
}

#' @export
sigma.bnp_fit <- function(object, ...) {
  not_defined("sigma", "Covariances of clusters are in {.code coef(fit)$cov}.")
}

#' @export
model.frame.bnp_fit <- function(formula, ...) {
  not_defined("model.frame", no_data_kept)
}

#' @export
model.matrix.bnp_fit <- function(object, ...) {
  not_defined("model.matrix", no_data_kept)
}
