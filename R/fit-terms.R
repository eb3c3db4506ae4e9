# The formula of a fit, if it was made with one.

#' @rdname read_fit
#' @param x,formula A fit.
#' @export
formula.bnp_fit <- function(x, ...) {
  check_able(x, "formula()", "x")
  out <- stats::formula(terms_of_call(x, "Its call is {.code fit$call}."))
  environment(out) <- globalenv()
  out
}

#' @rdname read_fit
#' @export
terms.bnp_fit <- function(x, ...) {
  check_able(x, "terms", "x")
  terms_of_call(x, "{.code elbo(fit, terms = TRUE)} has the terms of the bound.")
}

terms_of_call <- function(fit, instead, call = rlang::caller_env()) {
  fit$input$terms %||% abort("not_defined", c("This fit was not made by a formula.", i = instead), call = call)
}
