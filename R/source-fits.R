# Methods of fitting functions for data in a source.

#' @rdname bnp_mixture
#' @export
bnp_mixture.bnp_source <- function(x, obs = NULL, prior = prior_dp(), control = bnp_control(), start = NULL,
                                   na_action = c("fail", "model", "omit"), ...) {
  if (...length()) control <- control_with(control, ...)
  fit_source("bnp_mixture", x, obs, prior, control, start, check_na_action(na_action), rename_call(match.call()))
}

#' @rdname bnp_topics
#' @export
bnp_topics.bnp_source <- function(x, obs = obs_multinomial(), prior = prior_hdp(), control = bnp_control(),
                                  start = NULL, id = NULL, na_action = c("fail", "omit"), ...) {
  if (...length()) control <- control_with(control, ...)
  read_arguments(rlang::enquos(id = id), x, "x")
  na_action <- check_no_model_of_missing(na_action)
  call <- rename_call(match.call(), "bnp_topics")
  fit_source("bnp_topics", x, obs, prior, control, start, na_action, call, id)
}

#' @rdname bnp_hmm
#' @export
bnp_hmm.bnp_source <- function(x, id = NULL, obs = NULL, prior = prior_hdp_hmm(), control = bnp_control(),
                               start = NULL, na_action = c("fail", "model", "omit"), ...) {
  if (...length()) control <- control_with(control, ...)
  read_arguments(rlang::enquos(id = id), x, "x")
  call <- rename_call(match.call(), "bnp_hmm")
  fit_source("bnp_hmm", x, obs, prior, control, start, check_na_action(na_action), call, id)
}

# Fits a model of this class to data in a source. error_call: the frame of the method that the user called,
# where checkpoints find its arguments.
fit_source <- function(class, x, obs, prior, control, start, na_action, call, id = NULL, formula = NULL,
                       error_call = rlang::caller_env()) {
  check_class(control, "bnp_control", "control", "bnp_control", error_call)
  if (!is.null(obs)) check_obs(obs, class, error_call)
  if (is_choice(obs)) require_ability(kinds_of_form("source", "mixture"), "auto_covariance", error_call)
  require_no_covariates(prior, kinds_of_form("source", "mixture"), error_call)
  check_prior(prior, class, error_call)
  prior$positions <- NULL # of a fit of trees
  if (control$algorithm == "truncation_free") {
    abort("argument", c(
      "Truncation-free learning reads a source as a stream.", i = "Give {.code bnp_stream(source)}."
    ), call = error_call)
  }
  check_options(control, kind_of_fit(class, prior), prior, error_call)
  read <- read_source(x, class, obs, na_action, id, formula, control, error_call)
  data <- read$data
  n_units <- if (class == "bnp_mixture") units_that_count(data) else length(data$starts) - 1L
  id <- id_column(id, error_call)
  input <- c(
    read$input, if (class == "bnp_hmm") list(id_column = id),
    if (class == "bnp_topics") list(lengths = document_lengths(data, read$obs))
  )
  fit <- fit_model(class, call, data, read$obs, prior, control, start, n_units, as.list(input), error_call)
  warn_of_ties(fit, data$sample)
  fit
}
