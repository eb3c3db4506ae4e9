#' Read a fit
#'
#' @param fit,object A fit of [bnp_mixture()], `bnp_topics()` or `bnp_hmm()`.
#' @param terms For `elbo()`: return the named terms of the bound, which sum to it?
#' @param data,id For `summary()`, optional: the observations that a mixture with full covariances was fitted to, and
#'   the `id` of that call. The summary then says how much higher or lower the bound would be with diagonal covariances
#'   for the same clusters. For this a fit is made that starts at the labels and has no moves, at most 20 laps, and a
#'   prior of the same kind (learned, or the defaults of `learn = FALSE`).
#' @param ... Must be empty.
#' @return
#' * `elbo()`: the evidence lower bound of the whole data, exact for the responsibilities of the last visit of each
#'   batch; with `terms = TRUE` its named terms.
#' * `elbo_trace()`: a data frame with one row per lap: `lap`, `elbo`, `k`, the numbers of moves accepted (`births`,
#'   `merges`, `deletes`) and tried (`births_tried`, ...), `seconds` since the start. The ELBO is `NA` in laps in which
#'   it is not computed: in stochastic learning all laps but the last, and in blockmodels of networks the laps of the
#'   search, whose log joint has the column `log_joint`.
#' * `n_clusters()`: the number of clusters in use, that is, of those with an expected size of at least half an
#'   observation (if weights make all data count less than that, half of the size of the largest cluster).
#' * `cluster_sizes()`: the expected number of observations of each cluster in the variational posterior (sums of
#'   `predict(type = "responsibility")`). If rows have weights, it is a sum of weights; in a mixture with `id`
#'   individuals are counted.
#' * `fitted()`: the most probable cluster of each training observation, in the order of the data; for repeated measures
#'   the cluster of its individual.
#' * `nobs()`: the number of rows, or the sum of their weights.
#' * `coef()`: posterior means, a list of arrays, which depend on the observation model. Gaussian: `mean` (clusters x
#'   columns), `cov` (columns x columns x clusters). Tokens and binary data: `prob` (clusters x columns). Counts of
#'   events: `rate` (clusters x columns, per unit of exposure). Factors: `prob`, a list with a matrix (clusters x
#'   levels) for each column. [obs_product()]: a list for each block. Further elements are:
#'   * `weights` and `proportion`. In mixtures `weights` are the expected weights of clusters under the posterior.
#'     Topics and states have two kinds: `proportion` is the share of the data (tokens or rows) that each has, as in
#'     `tidy()`; `weights` are those of the top level of the hierarchy, around which the proportions of documents and
#'     the rows of transitions vary (with a finite prior `1 / k` each).
#'   * with a [gamma_prior()], the numbers that were learned: `concentration` and `gamma` by posterior mean and 90 %
#'     interval; `alpha`, `start` and `sticky` as numbers.
#'   * `response`, in topic models with a response: the effect of each topic and covariate, columns `estimate` and `sd`.
#'     With several classes it is an array with a slice for each class but the last; the effects of a slice are on the
#'     odds of its class against all less frequent ones. Effects of topics are those at average covariates.
#' * `posterior_params()`: all parameters of the variational posterior, a list of arrays, named as in the priors.
#'   Clusters are numbered by decreasing size, but the sticks of the process are broken in another order, which is part
#'   of the model: `position` is the place of each cluster's stick. A concentration that is learned has the posterior
#'   probabilities `prob` at `value`, the rows of `concentration_nodes`; `sticks` are those given its posterior mean. A
#'   learned `gamma` has a Gamma posterior with the `shape` and `rate` in `gamma`.
#' * `logLik()`: the bound, with unknown degrees of freedom (`df = NA`), so that
#'   AIC and BIC are `NA`.
#' @references
#' Blei, D. M., Kucukelbir, A. and McAuliffe, J. D. (2017). Variational inference: a review for
#' statisticians. *Journal of the American Statistical Association* 112, 859-877.
#'
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#' @seealso [tidiers] for tables, [predict.bnp_mixture()] for new data;
#'   *The mathematics* on the site has every term of the bound, and
#'   `vignette("judging-a-fit")` explains how to judge a fit by it.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' elbo(fit)
#' elbo(fit, terms = TRUE)
#' cluster_sizes(fit)
#' coef(fit)$mean
#' @name read_fit
NULL

#' @rdname read_fit
#' @export
elbo <- function(fit, terms = FALSE) {
  check_able(fit, "elbo")
  if (check_flag(terms, "terms")) unlist(fit$elbo_terms) else fit$elbo
}

#' @rdname read_fit
#' @export
elbo_trace <- function(fit) {
  check_able(fit, "elbo_trace")
  as.data.frame(fit$trace)
}

#' @rdname read_fit
#' @export
n_clusters <- function(fit, ...) UseMethod("n_clusters")

#' @export
n_clusters.default <- function(fit, ...) check_able(fit, "n_clusters")

#' @export
n_clusters.bnp_fit <- function(fit, ...) {
  check_no_dots(...)
  check_able(fit, "n_clusters")
  length(in_use(fit))
}

# Numbers of the clusters in use: those with at least half an observation. If weights make the largest cluster
# smaller than one observation, those with at least half of the size of the largest.
in_use <- function(fit) {
  size <- as.double(fit$sizes)
  which(size > 0 & size >= min(0.5, max(size) / 2))
}

#' @rdname read_fit
#' @export
cluster_sizes <- function(fit) {
  check_able(fit, "cluster_sizes")
  stats::setNames(as.double(fit$sizes), seq_along(fit$sizes))
}

#' @rdname read_fit
#' @export
fitted.bnp_fit <- function(object, ...) {
  check_no_dots(...)
  check_able(object, "fitted", "object")
  if (!length(object$labels) %in% c(object$input$n, object$input$n_individuals)) {
    refuse_damaged(cli::format_inline("It has not one of {.field labels} for each row."), rlang::current_env())
  }
  labels <- of_units(object$input, stats::setNames(fit_labels(object), object$input$row_names))
  for_all_rows(object$input, in_user_order(object, labels))
}

fit_labels <- function(fit) as.integer(fit$labels)

# Puts values for each row from the row order of the internal form into the user's row order.
in_user_order <- function(fit, x) {
  order <- fit$input$order
  if (is.null(order)) x else values_at(x, order(order))
}

#' @rdname read_fit
#' @export
coef.bnp_fit <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  out <- obs_shown(object$model$obs, mean_arrays(object))
  if (!is.null(object$model$response)) out$response <- response_coefficients(object)
  out
}

# The arrays of point estimates that coef() returns, with all arrays of the observation model in the order of
# obs_facts().
mean_arrays <- function(fit, call = rlang::caller_env()) {
  check_format(fit, call)
  means <- name_arrays(fit, engine_mean_parameters(fit$model, fit$state))
  if (is_grouped(fit)) means <- append(means, list(proportion = proportion(fit)), length(means) - 1L)
  c(means, if (!is.null(fit$emission)) emission_means(fit), learned_concentrations(fit))
}

# The share of the data that each cluster has; for a mixture its expected weight. means: the result of
# mean_arrays(), if it is known already.
proportion <- function(fit, means = NULL) {
  if (!is_grouped(fit)) {
    return((means %||% mean_arrays(fit))$weights[seq_len(fit$state$k)])
  }
  size <- cluster_sizes(fit)
  if (sum(size) > 0) size / sum(size) else size + 1 / length(size)
}

#' @rdname read_fit
#' @export
posterior_params <- function(fit) {
  check_able(fit, "posterior_params")
  all_parameters(fit)
}

all_parameters.default <- function(fit) obs_shown(fit$model$obs, posterior_arrays(fit))

# The arrays of posterior parameters that posterior_params() returns, with all arrays of the observation model
# in the order of obs_facts().
posterior_arrays <- function(fit, call = rlang::caller_env()) {
  check_format(fit, call)
  params <- name_arrays(fit, engine_posterior(fit$model, fit$state))
  if (!is.null(fit$emission)) params <- c(params, emission_params(fit))
  if (!is.null(fit$coef_cov)) params$coef_cov[] <- fit$coef_cov
  if (is.null(fit$model$prior$k)) params$position <- stats::setNames(fit$numbering, seq_along(fit$numbering))
  params
}

# The engine's arrays of parameters with clusters in the user's order, and with names of clusters, columns and
# other axes on their dimensions. Arrays that the observation model does not list belong to the prior.
name_arrays <- function(fit, arrays) {
  obs <- fit$model$obs
  axes_of <- obs_facts(obs)$arrays
  names_of <- c(
    list(
      clusters = cluster_labels(fit), positions = positions_of(fit), covariates = fit$model$prior$design$names
    ),
    obs_axes(obs, fit$input$column_names)
  )
  Map(function(array, name) {
    axes <- axes_of[[name]] %||% prior_axes(name, array)
    if (name == "concentration_nodes") {
      return(`colnames<-`(array, c("value", "prob")))
    }
    if (name == "gamma") {
      return(stats::setNames(array, c("shape", "rate")))
    }
    array <- in_cluster_order(fit, array, axes)
    if (is.null(dim(array))) {
      return(if (length(array) == fit$state$k) stats::setNames(array, names_of$clusters) else array)
    }
    dimnames(array) <- lapply(axes, function(axis) names_of[[axis]])
    array
  }, arrays, names(arrays))
}

# Names of the axes of an array of the prior's parameters. The first axis is that of clusters. Transitions
# have an axis "to" of states, which ends with a state not seen yet, and one of positions if transitions
# differ by position.
prior_axes <- function(name, array) {
  of_pairs <- length(dim(array)) > if (name == "effects_cov") 3L else 2L
  if (is.null(dim(array))) "clusters" else if (name == "effects") c("clusters", if (of_pairs) "to", "covariates") else
    if (name == "effects_cov") c("covariates", "covariates", "clusters", if (of_pairs) "to") else
    c("clusters", if (name == "transition") c("to", if (length(dim(array)) > 2L) "positions") else "other")
}

in_cluster_order <- function(fit, array, axes) {
  size <- dim(array) %||% length(array)
  index <- Map(function(axis, n) {
    if (axis %in% c("clusters", "to")) engine_index(fit, n) else
      if (axis == "times" && has_past(fit$model$obs)) seq_len(n)[-1L] else seq_len(n)
  }, axes, size)
  do.call(`[`, c(list(array), unname(index), drop = FALSE))
}

# A list with the posterior parameters of each cluster, in the shape that the parameters of its prior have.
posterior_clusters <- function(fit, params = posterior_arrays(fit)) {
  parts_of_clusters(fit$model$obs, params, seq_len(fit$state$k))
}

# For each of these clusters, its part of the arrays of the observation model, without names.
parts_of_clusters <- function(obs, arrays, clusters) {
  axes <- obs_facts(obs)$arrays
  axes <- axes[intersect(names(axes), names(arrays))]
  arrays <- lapply(arrays[names(axes)], unname)
  lapply(clusters, function(k) Map(function(array, axes) one_cluster(array, axes == "clusters", k), arrays, axes))
}

# The part of an array that belongs to cluster k: a number, a vector or a matrix.
one_cluster <- function(array, is_cluster, k) {
  index <- lapply(is_cluster, function(fixed) if (fixed) k else TRUE)
  part <- do.call(`[`, c(list(array), index, drop = FALSE))
  rest <- dim(array)[!is_cluster]
  if (length(rest) == 2L) matrix(part, rest[1], rest[2]) else as.vector(part)
}

#' @rdname read_fit
#' @export
nobs.bnp_fit <- function(object, ...) {
  check_format(object)
  if (is.null(object$input$weights)) as.integer(object$input$n) else sum(object$input$weights)
}

#' @rdname read_fit
#' @export
logLik.bnp_fit <- function(object, ...) {
  check_able(object, "logLik", "object")
  structure(object$elbo, df = NA_integer_, nobs = object$bound_rows %||% nobs(object), class = "logLik")
}
