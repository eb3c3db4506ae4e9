# Models whose rows have scales (Student-t clusters, `tails`) or tangents (binomial and negative binomial regressions)
# beside those that are linear in features.

# For laws and verbs that are about features which all clusters share; each use says what does not hold.
without_scales <- function(cases) Filter(function(case) !any_tails(case$model$obs) && !is_glm_case(case), cases)

# log E p(x | cluster), rows x clusters, from features of rows as they are (their scale is 1) and weights: linear, or
# with the integral over u of u^c exp(c - u b), c the weight of E log u - E u + 1, the fifth feature from the end.
log_likelihoods <- function(obs, features, weights) {
  if (!any_tails(obs)) {
    return(tcrossprod(features, weights))
  }
  at <- ncol(features) - 4L
  of_scale <- 3:(at - 1L)
  apply(weights, 1L, function(w) {
    b <- w[at] - drop(features[, of_scale, drop = FALSE] %*% w[of_scale])
    drop(features[, 1:2] %*% w[1:2]) + w[at] + lgamma(1 + w[at]) - (1 + w[at]) * log(b)
  })
}

# Do the statistics of rows depend on what was known of clusters when the rows were visited: by scales, or by tangents?
keeps_visits <- function(obs) any_tails(obs) || inherits(obs, "obs_glm")
