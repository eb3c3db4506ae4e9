# Updates of a fit of a mixture with new rows.

# Reads the new rows of update(); rows without any value are left out.
read_more.bnp_mixture <- function(fit, newdata, id, na_action, time, call) {
  obs <- fit$model$obs
  arg <- arg_of_table("newdata", newdata)
  split <- newdata_id(fit, newdata, id, arg, call)
  when <- newdata_time(fit, split$x, time, arg, call)
  na_action <- na_action %||% fit$input$na_action
  x <- variables_of(fit, when$x, arg, call, na_action)
  x <- if (obs_lag(obs) > 0L && is.list(x) && !is.data.frame(x)) lapply(x, select_columns, fit, call, arg) else
    select_columns(x, fit, call, arg, na_action)
  data <- as_mixture_data(x, obs, arg, FALSE, call, na_action, "predict")
  if (obs_lag(obs) == 0L) {
    data <- without_rows(data, !has_values(data, modelled_columns(data, obs)), "without any value", arg, call)
  }
  if (!isTRUE(obs$repeated)) {
    data <- check_reach(data, obs, call, arg)
    return(if (has_drift(obs)) with_later_times(fit, data, when$time, arg, call) else data)
  }
  if (is.null(split$id)) {
    abort("id", "{.arg id} is needed: it says which rows of {.arg {arg}} are of the same individual.", call = call)
  }
  data <- with_individuals(check_reach_of_sums(data, obs, arg, call), split$id, obs, arg, call)
  again <- intersect(data$individuals$all_names, fit$input$individuals$all_names)
  if (length(again)) {
    abort("id", c(
      "Individuals of {.arg {arg}} must be new ones: the clusters of those in the fit no longer change.",
      x = "Not so: {places(again)}.", i = "Fit anew to all their rows."
    ), call = call)
  }
  data
}

with_more_weights.bnp_mixture <- function(fit, data, weights, call) {
  if (is.null(weights)) data else with_weights(data, weights, call, "row of {.arg newdata}")
}

with_more_labels.bnp_mixture <- function(fit, data, labels, newdata, call) {
  labelled <- with_labels(data, labels, call)
  known <- list(classes = labelled$class_names, set = labelled$classes, sets = labelled$class_sets)
  with_known_classes(data, known, fit, call)
}
