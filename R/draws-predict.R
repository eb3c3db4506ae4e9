#' Predictions averaged over draws
#'
#' @param object Draws of [bnp_sample()] from a mixture.
#' @param newdata New observations, as [predict.bnp_mixture()] takes them.
#' @param data The observations that the draws were made of: draws do not keep them.
#' @param type `"logdensity"`: the logarithm of the mean, over the kept draws, of the predictive density
#'   of each new observation. `"prob"`: a matrix (observations x clusters of [point_partition()]): the clusters
#'   of a draw that a new observation may belong to, shared out as their rows are among the clusters of the
#'   point partition, mean over the draws, rows summing to 1; of the predictive kind, as `type = "prob"` of
#'   [predict.bnp_mixture()]. `"class"`: the most probable of these.
#' @param id As in [bnp_sample()], of `data`.
#' @param new_id Of fits with `id`: which rows of `newdata` are of the same individual.
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
    as_engine_data(trained), as_engine_data(new), object$model, kept, concentration, point, object$options$threads
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
