#' Distances between clusters
#'
#' Compute the divergence and the overlap of the distributions of all pairs of clusters, topics or states, at the
#' posterior means of their parameters ([coef()]).
#'
#' @param fit A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()], but not of autoregressions, whose distributions
#'   depend on the rows before.
#' @param symmetric Average the divergences in both directions?
#' @return Matrices, clusters x clusters.
#' * `cluster_divergence()`: Kullback-Leibler divergence of the row's cluster from the column's, in nats: the expected
#'   log density ratio of an observation of the row's cluster. It is 0 for equal distributions and has no upper limit.
#' * `cluster_overlap()`: Bhattacharyya coefficient, the integral of the geometric
#'   mean of two densities: 1 for the same distribution, 0 where no observation is
#'   possible under both. If both clusters have equal weights, the best rule assigns at most half of this
#'   proportion of their observations to the wrong one.
#'
#' Both are computed in closed form; over the blocks of [obs_product()] divergences are added and overlaps multiplied.
#' They are those of one token for [obs_multinomial()], of counts with exposure 1 for [obs_poisson()], of one trial in
#' each pair of columns for [obs_binomial()], and of a time that is not censored for [obs_survival()]. The sizes of
#' clusters have no influence.
#' @references Kailath (1967), The divergence and Bhattacharyya distance measures in
#'   signal selection, IEEE Transactions on Communication Technology 15(1).
#' @seealso [cluster_tree()] for what joining clusters costs, [coclustering()] for observations,
#'   [compare_fits()] for fits.
#' @examples
#' fit <- bnp_mixture(penguins_measurements[, -1], control = bnp_control(seed = 1))
#' round(cluster_divergence(fit), 1)
#' signif(cluster_overlap(fit), 2)
#' @export
cluster_divergence <- function(fit, symmetric = FALSE) {
  check_able(fit, "cluster_divergence")
  check_flag(symmetric, "symmetric")
  out <- pmax(of_cluster_pairs(fit, "divergence"), 0)
  if (symmetric) (out + t(out)) / 2 else out
}

#' @rdname cluster_divergence
#' @export
cluster_overlap <- function(fit) {
  check_able(fit, "cluster_overlap")
  pmin(of_cluster_pairs(fit, "overlap"), 1)
}

of_cluster_pairs <- function(fit, what, call = rlang::caller_env()) {
  obs <- fit$model$obs
  if (!obs_can(obs, what)) {
    known <- makers_that_can(what)
    abort("argument", c(
      "Clusters of {.fn {obs_facts(obs)$constructor}} have no {what} in closed form.",
      i = "{.or {.fn {known}}} have."
    ), call = call)
  }
  means <- mean_arrays(fit)
  clusters <- parts_of_clusters(obs, means, seq_len(fit$state$k))
  of_pair <- switch(what, divergence = obs_divergence, overlap = obs_overlap)
  out <- vapply(clusters, function(b) vapply(clusters, function(a) of_pair(obs, a, b), 1), numeric(length(clusters)))
  matrix(out, length(clusters), dimnames = rep(list(as.character(seq_along(clusters))), 2L))
}

# The Kullback-Leibler divergence of N(a$mean, a$cov) from N(b$mean, b$cov), with means 0 if there are none;
# NA if an expected covariance does not exist.
obs_divergence.obs_gaussian <- function(obs, a, b) {
  of_gaussians(a, b, function(shift, a, b) {
    half <- chol(b)
    shift <- backsolve(half, shift, transpose = TRUE)
    ratio <- backsolve(half, t(chol(a)), transpose = TRUE)
    (sum(ratio^2) + sum(shift^2) - length(shift)) / 2 - sum(log(abs(diag(ratio))))
  })
}

obs_overlap.obs_gaussian <- function(obs, a, b) {
  of_gaussians(a, b, function(shift, a, b) {
    half <- chol((a + b) / 2)
    shift <- backsolve(half, shift, transpose = TRUE)
    log_det <- function(half) sum(log(diag(half)))
    exp((log_det(chol(a)) + log_det(chol(b))) / 2 - log_det(half) - sum(shift^2) / 8)
  })
}

# Calls `of` with the difference of means and the two covariances of a and b, in units in which the mean
# covariance has the diagonal 1.
of_gaussians <- function(a, b, of) {
  if (!all(is.finite(c(a$cov, b$cov)))) {
    return(NA_real_)
  }
  unit <- sqrt((diag(a$cov) + diag(b$cov)) / 2)
  scaled <- function(cov) cov / unit / rep(unit, each = length(unit))
  zero <- rep(0, length(unit))
  of((b$mean %||% zero) / unit - (a$mean %||% zero) / unit, scaled(a$cov), scaled(b$cov))
}
