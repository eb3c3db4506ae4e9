#' Fewer clusters of a fit
#'
#' Joins the clusters of a fit until `k` are left, each time the two whose union costs the least evidence, and learns on
#' from there without changing their number: [cluster_tree()] and [cut_fit()] in one call. What a fit finds is what the
#' model needs to describe the data; a report may need fewer.
#'
#' @inheritParams cluster_tree
#' @param k Number of clusters, topics or states to be left.
#' @param data The data that `fit` was made of, if it does not keep them ([strip_data()]).
#' @param laps Most laps of learning after the joins; 0 for none.
#' @return A fit of the same kind, as of [cut_fit()].
#' @seealso [cluster_tree()] to see what each step costs; `vignette("how-many-clusters")`.
#' @examples
#' fit <- bnp_mixture(quakes[1:4], control = bnp_control(seed = 1))
#' coarsen(fit, 3)
#' @export
coarsen <- function(fit, k, data = NULL, id = NULL, laps = 20L) {
  check_able(fit, "coarsen")
  data <- data_or_kept(data, fit, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  cut_at(fit, training_data(fit, data, id), k, NULL, NULL, laps, rename_call(match.call(), "coarsen"))
}
