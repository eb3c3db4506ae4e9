#' Hard clusters by Bregman k-means
#'
#' Clusters rows into at most `k` groups by k-means with the divergence that belongs to an observation model. It
#' therefore works for full covariances, counts and binary data as well as for Euclidean distances. Seeds are drawn with
#' probability proportional to their divergence from those already chosen (k-means++). Fits start from these clusters if
#' `k_init` is larger than 1.
#'
#' @inheritParams bnp_mixture
#' @param k Number of clusters; fewer are returned if fewer rows differ or clusters become empty.
#' @param rounds The largest number of rounds of reassignment.
#' @param spread `FALSE` draws seeds uniformly instead of by k-means++.
#' @param seed A whole number, or `NULL` to draw one from R's generator.
#'
#' @details Maximises the joint log density of data and assignments with point estimates of frequencies and parameters
#'   (Hughes, 2016, algorithms 2.1 and 2.2). If data are large, a random part that fits into 32 MB of features is
#'   clustered; then every row is assigned.
#'
#' @return A list: `cluster`, a label for each row, by decreasing size;
#'   `size`; `objective`, the log density reached (larger is better).
#' @references
#' Banerjee, A., Merugu, S., Dhillon, I. S. and Ghosh, J. (2005). Clustering with Bregman
#' divergences. *Journal of Machine Learning Research* 6, 1705-1749.
#'
#' Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding.
#' *Symposium on Discrete Algorithms* 18, 1027-1035.
#'
#' Hughes, M. C. (2016). *Reliable and scalable variational inference for nonparametric
#' mixtures, topics, and sequences*. PhD thesis, Brown University.
#' @seealso [bnp_mixture()], [bnp_control()].
#' @examples
#' hard <- bregman_kmeans(faithful, 2, seed = 1)
#' hard$size
#' fit <- bnp_mixture(faithful, start = hard$cluster)
#' @export
bregman_kmeans <- function(x, k, obs = NULL, rounds = 100L, spread = TRUE, seed = NULL) {
  obs <- obs %||% default_obs(x, rlang::current_env())
  check_obs(obs, "bregman_kmeans")
  k <- check_count(k, "k")
  rounds <- check_count(rounds, "rounds")
  check_flag(spread, "spread")
  seed <- check_seed(seed)
  data <- as_mixture_data(x, obs)
  given <- obs
  obs <- resolve_obs(obs, data)
  check_against_data(given, obs, rlang::current_env())
  result <- engine_kmeans(as_engine_data(data), obs, k, rounds, spread, seed %||% draw_seed())
  sizes <- tabulate(result$cluster, result$k)
  order <- order(-sizes)
  labels <- carry_back(match(result$cluster, order[sizes[order] > 0]), data$starts, obs_lag(obs))
  list(
    cluster = rlang::set_names(labels, data$row_names), size = sizes[order][sizes[order] > 0],
    objective = result$objective
  )
}
