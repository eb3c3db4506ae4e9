#' Which observations belong together
#'
#' Computes for each pair of observations the probability that they are in the same cluster or state.
#'
#' @param fit A fit of [bnp_mixture()] or [bnp_hmm()], or draws of [bnp_sample()].
#' @param data The observations, usually the training data. Not needed if the fit
#'   keeps them ([strip_data()]) or its probabilities (`bnp_control(keep = "probabilities")`).
#' @param id As in [bnp_hmm()]; for mixtures with `id`, as in [predict.bnp_mixture()].
#' @param rows For draws: the numbers of the observations (of individuals, if there is an `id`) or documents for which
#'   probabilities are wanted.
#' @param threshold For draws: return a sparse matrix that has only pairs that are together in at least this share of
#'   the draws. Needed for more than 2,000 observations; the matrix is then made in blocks, and all pairs are never in
#'   memory.
#' @param ... Must be empty.
#' @return A symmetric matrix with 1 on its diagonal: observations x observations, or for mixtures with `id` individuals
#'   x individuals. For draws ([bnp_sample()]) its entries are the shares of the kept draws in which two observations
#'   are together. For draws of topic models it is documents x documents: the probability that a word (or row) of one
#'   and a word of the other have the same topic, averaged over the kept draws.
#' @details The variational posterior regards the observations of a mixture as independent of each other. The
#'   probability of a pair is therefore the sum over clusters of the product of the two probabilities of the cluster
#'   (`type = "responsibility"` of [predict.bnp_mixture()]). For sequences the same sum is computed from the
#'   probabilities of each row by itself: it is exact for rows of different sequences, and ignores the dependence of
#'   rows of the same sequence.
#'
#'   At most 15,000 observations are allowed, whose matrix has 1.8 GB: if there are more, use a sample.
#' @references
#' Fritsch, A. and Ickstadt, K. (2009). Improved criteria for clustering based on the posterior
#' similarity matrix. *Bayesian Analysis* 4(2), 367-391.
#' @seealso [cluster_divergence()] for clusters, [compare_fits()] for fits; `vignette("judging-a-fit")`.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' together <- coclustering(fit, faithful)
#' plot(hclust(as.dist(1 - together)), labels = FALSE)
#' @export
coclustering <- function(fit, ...) UseMethod("coclustering")

#' @export
coclustering.default <- function(fit, ...) {
  check_class(fit, character(), "fit", c("bnp_mixture", "bnp_hmm"))
}

#' @rdname coclustering
#' @export
coclustering.bnp_fit <- function(fit, data = NULL, id = NULL, ...) {
  check_no_dots(...)
  read_arguments(rlang::enquos(id = id), data, "data")
  check_able(fit, "coclustering")
  pairs_together(fit, data %||% if (is.null(fit$probabilities)) kept_data(fit), id)
}

pairs_together <- function(fit, data, id, most = 15000L, call = rlang::caller_env()) {
  repeated <- isTRUE(fit$model$obs$repeated)
  counted_later <- repeated || is.list(data) && !is.data.frame(data)
  n <- if (is.null(data) || is_internal(data)) n_units(fit$input) else if (counted_later) 0L else NROW(data)
  if (n <= most) {
    prob <- if (is.null(data) && repeated && !is.null(fit$probabilities)) fit$probabilities else
      if (is.null(data)) predict(fit, type = "responsibility") else
      state_responsibilities(fit, with_known(read_rows(fit, data, id, call, "data"), fit))
    n <- nrow(prob)
  }
  if (n > most) {
    abort("too_large", c(
      "The similarity of {n} observations would need {signif(8 * n^2 / 1e9, 2)} GB.",
      i = "Give at most {most} rows: {.code data[sample(nrow(data), 5000), ]}."
    ), call = call)
  }
  prob <- prob[!is.na(prob[, 1L]), , drop = FALSE] # but for rows that the fit left out
  out <- pmin(tcrossprod(prob), 1)
  diag(out) <- 1
  out
}
