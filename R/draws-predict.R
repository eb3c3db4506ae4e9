#' Predictions averaged over draws
#'
#' @param object Draws of [bnp_sample()] from a mixture.
#' @param newdata New observations, as [predict.bnp_mixture()] takes them.
#' @param data The observations that the draws were made from: draws do not keep them.
#' @param type What is predicted for each new observation.
#'   * `"logdensity"`: the logarithm of the mean, over the kept draws, of its predictive density.
#'   * `"prob"`: a matrix (observations x clusters of [point_partition()]), rows summing to 1. In each draw the
#'     observation has predictive probabilities (as `type = "prob"` of [predict.bnp_mixture()]) of the clusters of that
#'     draw. The probability of such a cluster is divided among the clusters of the point partition in proportion to the
#'     rows that the two have in common. The result is the mean over the draws.
#'   * `"class"`: the most probable cluster by `"prob"`.
#' @param id The individual of each row of `data`, as in [bnp_sample()].
#' @param new_id For draws with `id`: the individual of each row of `newdata`.
#' @param ... Must be empty.
#' @return A vector or matrix, named by the rows of `newdata`.
#' @seealso [bnp_sample()].
#' @examples
#' draws <- bnp_sample(faithful, draws = 100, seed = 1)
#' predict(draws, data.frame(eruptions = c(2, 3), waiting = c(55, 70)), faithful, type = "prob")
#' @export
predict.bnp_draws <- function(object, newdata, data, type = c("class", "prob", "logdensity"), ..., id = NULL,
                              new_id = NULL) {
  check_no_dots(...)
  check_able(object, "predict", "object")
  need_data(missing(newdata), "newdata")
  need_data(missing(data), "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  read_arguments(rlang::enquos(new_id = new_id), newdata, "newdata")
  type <- check_choice(type, c("class", "prob", "logdensity"), "type")
  kept <- kept_labels(object)
  trained <- data_of_draws(object, data, id)
  new <- as_newdata(object$fit, newdata, id = new_id)
  concentration <- trace_of(object, "concentration")[as.matrix(object$kept[2:1])]
  point <- if (type == "logdensity") rep(1L, nrow(kept)) else best_partition(object)$labels
  found <- engine_draw_predictives(
    as_engine_data(trained), as_engine_data(new), object$model, kept, object$scales %||% matrix(0, 0L, ncol(kept)),
    concentration, point, object$options$threads
  )
  names <- unit_names(new)
  if (type == "logdensity") {
    return(stats::setNames(found$logdensity, names))
  }
  prob <- carry_back(found$prob / rowSums(found$prob), new$starts, obs_lag(object$model$obs))
  dimnames(prob) <- list(names, seq_len(ncol(prob)))
  prob <- for_all_rows(new, prob)
  if (type == "prob") prob else most_probable(prob)
}
