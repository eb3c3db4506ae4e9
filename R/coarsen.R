#' Fewer clusters of a fit
#'
#' Joins the clusters of a fit until `k` are left, each time the two whose union costs the least evidence, and then
#' learns on without changing their number: [cluster_tree()] and [cut_fit()] in one call. A fit finds as many clusters
#' as the model needs to describe the data; a report may need fewer.
#'
#' @inheritParams cluster_tree
#' @param k Number of clusters, topics or states to be left.
#' @param data The data that `fit` was made from, if it does not keep them ([strip_data()]).
#' @param laps The largest number of laps of learning after the joins; 0 for none.
#' @return A fit of the same kind, as from [cut_fit()].
#' @seealso [cluster_tree()] to see what each step costs; `vignette("how-many-clusters")`.
#' @examples
#' fit <- bnp_mixture(quakes[seq(1, 1000, by = 3), 1:4], control = bnp_control(seed = 1))
#' coarsen(fit, 3)
#' @export
coarsen <- function(fit, k, data = NULL, id = NULL, laps = 20L) {
  check_able(fit, "coarsen")
  if (missing(k)) {
    abort("argument", c("{.arg k}, the number of clusters to keep, is needed.",
      i = "{.fn cluster_tree} shows what each number loses."
    ))
  }
  data <- data_or_kept(data, fit, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  cut_at(fit, training_data(fit, data, id), k, NULL, NULL, laps, rename_call(match.call(), "coarsen"))
}
