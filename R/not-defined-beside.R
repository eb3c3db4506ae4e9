# Generics of base R and broom that draws, filters and Dynamic Means could be asked for, as fits are in R/not-defined.R.

no_verb <- function(generic, what, remedy, call = rlang::caller_env()) {
  abort("not_defined", c("{.fn {generic}} has no meaning for {what}.", i = remedy), call = call)
}

#' @export
nobs.bnp_draws <- function(object, ...) nobs(check_object(object)$fit)

#' @export
nobs.bnp_dynamic_means <- function(object, ...) length(check_object(object)$cluster)

#' @export
as.data.frame.bnp_dynamic_means <- function(x, row.names = NULL, optional = FALSE, ...) {
  plain_frame(check_object(x)$trajectories)
}

#' @export
logLik.bnp_draws <- function(object, ...) {
  no_verb("logLik", "draws", c(
    "Draws have {.field log_joint}: {.code as.data.frame(draws)}; {.fn check_fit} estimates the log evidence."
  ))
}

#' @export
vcov.bnp_draws <- function(object, ...) {
  no_verb("vcov", "draws", "{.code stats::cov(as.data.frame(draws))} has the covariances of what is recorded.")
}

#' @export
simulate.bnp_draws <- function(object, nsim = 1, seed = NULL, ...) {
  no_verb("simulate", "draws", "{.code simulate(draws$fit)} draws new data from the fit.")
}

#' @export
forecast.bnp_draws <- function(object, ...) {
  no_verb("forecast", "draws", "{.code forecast(draws$fit, newdata)} forecasts by the fit.")
}

#' @export
augment.bnp_draws <- function(x, ...) {
  no_verb("augment", "draws", "{.fn point_partition} gives the cluster of each row.")
}

#' @export
extractAIC.bnp_draws <- function(fit, scale, k = 2, ...) {
  no_verb("extractAIC", "draws", "{.fn check_fit} estimates the log evidence.")
}

#' @export
anova.bnp_draws <- function(object, ...) {
  no_verb("anova", "draws", "{.fn compare_fits} compares fits.")
}

#' @export
confint.bnp_filter <- function(object, parm, level = 0.95, ...) {
  no_verb("confint", "a filter", "{.fn augment} and {.fn tidy} have the moments of each row.")
}

#' @export
vcov.bnp_filter <- function(object, ...) {
  no_verb("vcov", "a filter", "{.fn augment} and {.fn tidy} have the moments of each row.")
}

#' @export
simulate.bnp_filter <- function(object, nsim = 1, seed = NULL, ...) {
  no_verb("simulate", "a filter", "{.fn forecast} predicts the rows to come; {.fn simulate} takes the fit.")
}

#' @export
extractAIC.bnp_filter <- function(fit, scale, k = 2, ...) {
  no_verb("extractAIC", "a filter", "{.fn logLik} has its log likelihood.")
}

#' @export
anova.bnp_filter <- function(object, ...) {
  no_verb("anova", "a filter", "{.fn logLik} has its log likelihood.")
}

#' @export
confint.bnp_dynamic_means <- function(object, parm, level = 0.95, ...) {
  no_verb("confint", "Dynamic Means", c(
    "It has means without any posterior: {.fn tidy}. {.code bnp_mixture(x, time = time)} has intervals."
  ))
}

#' @export
vcov.bnp_dynamic_means <- function(object, ...) {
  no_verb("vcov", "Dynamic Means", "It has means without any posterior: {.fn tidy}.")
}

#' @export
predict.bnp_dynamic_means <- function(object, ...) {
  no_verb("predict", "Dynamic Means", c(
    "Cluster all rows again, with the new ones; {.fn fitted} has the clusters of its own."
  ))
}

#' @export
simulate.bnp_dynamic_means <- function(object, nsim = 1, seed = NULL, ...) {
  no_verb("simulate", "Dynamic Means", "It is no probability model; {.code bnp_mixture(x, time = time)} is.")
}

#' @export
forecast.bnp_dynamic_means <- function(object, ...) {
  no_verb("forecast", "Dynamic Means", "It is no probability model; {.code bnp_mixture(x, time = time)} is.")
}

#' @export
update.bnp_dynamic_means <- function(object, ...) {
  no_verb("update", "Dynamic Means", "Call {.fn bnp_dynamic_means} again with all rows.")
}

#' @export
extractAIC.bnp_dynamic_means <- function(fit, scale, k = 2, ...) {
  no_verb("extractAIC", "Dynamic Means", "It has no likelihood; {.code glance(fit)$objective} is what it makes small.")
}

#' @export
anova.bnp_dynamic_means <- function(object, ...) {
  no_verb("anova", "Dynamic Means", "It has no likelihood; {.code glance(fit)$objective} is what it makes small.")
}

#' @export
formula.bnp_draws <- function(x, ...) {
  no_verb("formula", "draws", "{.code formula(draws$fit)} is that of the fit, if there is one.")
}

#' @export
terms.bnp_draws <- function(x, ...) {
  no_verb("terms", "draws", "{.code terms(draws$fit)} are those of the fit, if there are any.")
}

#' @export
family.bnp_draws <- function(object, ...) {
  no_verb("family", "draws", "{.code draws$fit$model$obs} is the observation model.")
}

#' @export
model.frame.bnp_draws <- function(formula, ...) {
  no_verb("model.frame", "draws", no_data_kept)
}

#' @export
model.matrix.bnp_draws <- function(object, ...) {
  no_verb("model.matrix", "draws", no_data_kept)
}

#' @export
formula.bnp_filter <- function(x, ...) {
  no_verb("formula", "a filter", "It is that of the fit that was filtered, if there is one.")
}

#' @export
terms.bnp_filter <- function(x, ...) {
  no_verb("terms", "a filter", "They are those of the fit that was filtered, if there are any.")
}

#' @export
family.bnp_filter <- function(object, ...) {
  no_verb("family", "a filter", "The fit that was filtered has the observation model.")
}

#' @export
model.frame.bnp_filter <- function(formula, ...) {
  no_verb("model.frame", "a filter", no_data_kept)
}

#' @export
model.matrix.bnp_filter <- function(object, ...) {
  no_verb("model.matrix", "a filter", no_data_kept)
}

#' @export
formula.bnp_dynamic_means <- function(x, ...) {
  no_verb("formula", "Dynamic Means", "It takes a table: choose the columns there.")
}

#' @export
terms.bnp_dynamic_means <- function(x, ...) {
  no_verb("terms", "Dynamic Means", "It takes a table: choose the columns there.")
}

#' @export
family.bnp_dynamic_means <- function(object, ...) {
  no_verb("family", "Dynamic Means", "It is no probability model; {.code bnp_mixture(x, time = time)} is.")
}

#' @export
model.frame.bnp_dynamic_means <- function(formula, ...) {
  no_verb("model.frame", "Dynamic Means", no_data_kept)
}

#' @export
model.matrix.bnp_dynamic_means <- function(object, ...) {
  no_verb("model.matrix", "Dynamic Means", no_data_kept)
}

#' @export
coef.bnp_draws <- function(object, ...) {
  no_verb("coef", "draws", "{.code coef(draws$fit)} has the means of the fit, {.fn tidy} what is recorded.")
}

#' @export
segments.bnp_draws <- function(x0, ...) {
  no_verb("segments", "draws", "{.code segments(draws$fit)} has the runs of the fit, if it is one of sequences.")
}

#' @export
coef.bnp_filter <- function(object, ...) {
  no_verb("coef", "a filter", "{.fn tidy} has where things stand; the fit that was filtered has parameters.")
}

#' @export
segments.bnp_filter <- function(x0, ...) {
  no_verb("segments", "a filter", "{.fn filter_probs} has the states of each row.")
}

#' @export
coef.bnp_dynamic_means <- function(object, ...) {
  no_verb("coef", "Dynamic Means", "{.fn tidy} has the mean of each cluster at each time.")
}

#' @export
segments.bnp_dynamic_means <- function(x0, ...) {
  no_verb("segments", "Dynamic Means", "{.fn tidy} has the path of each cluster.")
}
