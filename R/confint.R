#' Intervals for parameters
#'
#' Intervals for single parameters, from quantiles of the variational posterior.
#'
#' @section Too narrow: In a variational posterior clusters and parameters are independent. It does not take into
#'   account
#'   that an observation might belong to another cluster, or that there might be more or fewer clusters. The intervals
#'   are therefore too narrow, by little if clusters are far apart, and by much if they overlap. They show how precisely
#'   a cluster is known if the clusters are right.
#'
#' @details
#' Each interval has equal tails. It is an interval of the variational posterior itself, whose distribution is:
#'
#' * `mean`, `coef` (autoregressions): Student-t.
#' * `cov`: inverse Gamma for variances; covariances by integration of a Student-t
#'   over an inverse Gamma, with an error of some 1e-5 of probability.
#' * `tails` (degrees of freedom): their distribution in the fit, which takes the scales of rows as known, made wider on
#'   the log scale by the information that is left when they are unknown.
#' * `prob`: Beta; for factors one for each level. `rate`: Gamma.
#' * `transition` and `start`: Beta, given that no other states than those of the fit exist, as in
#'   [transition_matrix()].
#' * `weights`: Beta for [prior_dirichlet()]. With a Dirichlet or Pitman-Yor process, in mixtures or at the top level of
#'   topics and states, weights are products of Beta variables (sticks). The product of the earlier ones is replaced by
#'   the Beta distribution that has its mean and variance, with an error below 0.001 of probability if clusters have
#'   members. Intervals are averaged over a learned concentration.
#'
#' Known parameters (the equal weights of [prior_lda()] and [prior_hmm()], the covariances of
#' `obs_gaussian("diagonal")`) have no interval, and neither has `proportion`, which is not a parameter.
#'
#' @param object A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param parm Which parameters: names of arrays of [coef()], `"transition"`,
#'   `"start"`, or names of single parameters as in the result. Default: all.
#' @param level Probability of an interval.
#' @param ... Must be empty.
#' @return A matrix with a row for each parameter and the lower and upper end of its interval. Rows are named like
#'   `mean[2,waiting]` (cluster, then column), for factors `prob[2,sex=female]` and for blocks
#'   `gaussian.mean[2,waiting]`. `tidy(conf.int = TRUE)`, see [tidiers], returns the same as a data frame.
#' @references
#' Blei, D. M., Kucukelbir, A. and McAuliffe, J. D. (2017). Variational inference: a review for
#' statisticians. *Journal of the American Statistical Association* 112(518), 859-877.
#'
#' Giordano, R., Broderick, T. and Jordan, M. I. (2018). Covariances, robustness, and variational
#' Bayes. *Journal of Machine Learning Research* 19(51), 1-49; on how much too narrow.
#'
#' Gupta, A. K. and Nagar, D. K. (2000). *Matrix variate distributions*. Chapman & Hall/CRC;
#' covariances.
#' @seealso [posterior_params()] for the parameters of the posterior itself;
#'   [simulate.bnp_mixture()] draws from it.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' confint(fit, c("weights", "mean"))
#' confint(fit, "mean[2,waiting]", level = 0.5)
#' @export
confint.bnp_fit <- function(object, parm, level = 0.95, ...) {
  check_no_dots(...)
  check_format(object)
  level <- check_level(level, "level")
  known <- names(interval_sources(object))
  kinds <- if (missing(parm)) known else chosen_kinds(parm, known, has_covariates(object$model$prior))
  table <- interval_table(object, level, kinds)
  out <- cbind(table$conf.low, table$conf.high)
  ends <- c(1 - level, 1 + level) / 2
  dimnames(out) <- list(parameter_names(table), paste(format(100 * ends, trim = TRUE, digits = 3), "%"))
  if (missing(parm)) out else out[chosen_rows(parm, rownames(out), table$parameter), , drop = FALSE]
}

check_level <- function(level, arg, call = rlang::caller_env()) {
  if (!is.numeric(level) || length(level) != 1L || !isTRUE(level > 0 && level < 1)) {
    abort("argument", "{.arg {arg}} must be one number between 0 and 1, not {describe(level)}.", call = call)
  }
  level
}

# tilted: whether weights depend on covariates.
chosen_kinds <- function(parm, known, tilted, call = rlang::caller_env()) {
  if (!is.character(parm) || !length(parm) || anyNA(parm)) {
    abort("argument", "{.arg parm} must be names of parameters, not {describe(parm)}.", call = call)
  }
  kinds <- unique(sub("\\[.*", "", parm))
  if (!all(kinds %in% known)) {
    abort("argument", c(
      "{.arg parm} names {.val {setdiff(kinds, known)}}, which {?has/have} no intervals.",
      i = "This fit has {.val {known}}, and single parameters of these.",
      i = if (tilted && "weights" %in% kinds) "Weights depend on covariates: {.fn prevalence} has their intervals."
    ), call = call)
  }
  kinds
}

chosen_rows <- function(parm, names, parameter, call = rlang::caller_env()) {
  at <- lapply(parm, function(one) if (one %in% parameter) which(parameter == one) else which(names == one))
  lacking <- parm[!lengths(at)]
  if (length(lacking)) {
    abort("argument", c(
      "{.arg parm} names parameters that this fit does not have: {places(dQuote(lacking, FALSE))}.",
      i = "Its names are those of {.code rownames(confint(fit))}."
    ), call = call)
  }
  unique(unlist(at))
}

parameter_names <- function(table) {
  paste0(table$parameter, "[", table$component, ifelse(nzchar(table$term), paste0(",", table$term), ""), "]")
}

# The table of posterior intervals, one row for each parameter of these kinds: component, parameter, term,
# estimate, conf.low, conf.high.
interval_table <- function(fit, level, kinds = names(interval_sources(fit))) {
  require_ability(fit, "confint", NULL)
  sources <- interval_sources(fit)[kinds]
  ends <- c(1 - level, 1 + level) / 2
  out <- do.call(rbind, unname(Map(function(source, kind) source(ends, kind), sources, kinds)))
  rownames(out) <- NULL
  out
}

# A list with a function(ends, kind) for each kind of parameter, which makes the rows of that kind in the
# table of intervals. ends: the two probabilities.
interval_sources <- function(fit) {
  params <- posterior_arrays(fit)
  known <- obs_quantiles(fit$model$obs)
  of_clusters <- lapply(
    known, function(quantile) function(ends, kind) cluster_intervals(fit, params, kind, quantile, ends)
  )
  c(weight_sources(fit, params), of_clusters, transition_sources(params, fit$state$k, fixed_cells(fit$model$prior)))
}

weight_sources <- function(fit, params) {
  k <- fit$state$k
  rows <- function(quantile) function(ends, kind) {
    interval_rows(seq_len(k), kind, "", mean_arrays(fit)$weights[seq_len(k)], quantile(ends[1]), quantile(ends[2]))
  }
  sticks <- params$sticks %||% if (!is.null(params$omega)) cbind(params$u, 1 - params$u) * params$omega
  if (!is.null(sticks)) {
    sticks <- sticks[order(params$position), , drop = FALSE]
    rest <- outer(sticks[, 2], concentration_spread(params$concentration_nodes), `+`)
    return(list(weights = rows(function(p) stick_weights_quantile(p, sticks[, 1], rest)[params$position])))
  }
  if (!is.null(params$weights_concentration)) {
    list(weights = rows(function(p) dirichlet_quantile(p, t(params$weights_concentration))))
  }
}

# What to add to the second parameter of the Beta posteriors of the stick-breaking fractions so that intervals
# include the uncertainty of a learned concentration. The given parameters are those at its posterior mean.
# The result is 0 if the concentration is known, else the concentration's differences from its mean at the
# midpoints of 16 parts of equal probability (16 is a guess). nodes: the posterior of the concentration.
concentration_spread <- function(nodes) {
  if (is.null(nodes)) {
    return(0)
  }
  concentration_quantile((1:16 - 0.5) / 16, nodes) - sum(nodes[, "value"] * nodes[, "prob"])
}

# Makes the rows of the table of intervals for transitions between the k states in use, and for the first
# state. fixed: the result of fixed_cells(), the transitions that are known.
transition_sources <- function(params, k, fixed = NULL) {
  if (is.null(params$transition)) {
    return(list())
  }
  positions <- dimnames(params$transition)[-(1:2)]
  by_position <- function(q) if (length(positions)) params$transition[, seq_len(k), q, drop = FALSE] else
    params$transition[, seq_len(k), drop = FALSE]
  start <- t(unname(params$start)[seq_len(k)])
  list(
    start = function(ends, kind) {
      interval_rows(
        seq_len(k), kind, "", start / sum(start), dirichlet_quantile(ends[1], start), dirichlet_quantile(ends[2], start)
      )
    },
    transition = function(ends, kind) {
      do.call(rbind, lapply(unlist(positions) %||% "", function(q) {
        to <- matrix(by_position(q), k)
        known <- if (is.null(fixed)) matrix(0, k, k) else fixed[-1L, , drop = FALSE]
        of_free <- function(p) t(known + (1 - rowSums(known)) * p)
        low <- of_free(dirichlet_quantile(ends[1], to))
        high <- of_free(dirichlet_quantile(ends[2], to))
        term <- paste0(rep(seq_len(k), k), if (length(positions)) ",", q)
        interval_rows(rep(seq_len(k), each = k), kind, term, of_free(to / pmax(rowSums(to), 1e-300)), low, high)
      }))
    }
  )
}

cluster_intervals <- function(fit, params, kind, quantile, ends) {
  obs <- fit$model$obs
  axes <- obs_facts(obs)$arrays[[kind]]
  columns <- column_labels(fit)
  names_of <- obs_axes(obs, columns)[axes[axes != "clusters"]]
  term <- if (length(names_of)) Reduce(function(a, b) outer(a, b, paste, sep = ","), names_of) else ""
  estimate <- mean_arrays(fit)[[kind]]
  clusters <- posterior_clusters(fit, params)
  parts <- lapply(seq_along(clusters), function(k) {
    low <- quantile(clusters[[k]], ends[1])
    high <- quantile(clusters[[k]], ends[2])
    interval_rows(k, kind, term, one_cluster(estimate, axes == "clusters", k), low, high)[!is.na(as.vector(low)), ]
  })
  do.call(rbind, parts)
}

interval_rows <- function(component, parameter, term, estimate, low, high) {
  data.frame(
    component = component, parameter = parameter, term = as.character(term), estimate = as.vector(unname(estimate)),
    conf.low = as.vector(unname(low)), conf.high = as.vector(unname(high))
  )
}
