# Concentrations that have a gamma_prior(). `concentration` of mixtures and `gamma` of hierarchical priors are
# integrated. The others are learned as numbers, the best for prior and data: in the prior of a fit their gamma_prior()
# has a third number, `value`, by which the engine goes.

is_learned <- function(x) inherits(x, "bnp_gamma_prior")
integrated_concentrations <- c("concentration", "gamma")

# The parameters of a prior that are learned as numbers.
plugged_in_names <- function(prior) setdiff(learned_names(prior), integrated_concentrations)

# A concentration as a number: given, or what was learned.
plugged_in <- function(x) if (is_learned(x)) x[["value"]] else x

without_learned_values <- function(prior) {
  for (name in plugged_in_names(prior)) {
    prior[[name]] <- structure(unclass(prior[[name]])[c("shape", "rate")], class = "bnp_gamma_prior")
  }
  prior
}

# The prior with values in place of those it learns as numbers, where `from` has them: the prior of an earlier fit, or
# what the engine returned (shape, rate, value).
with_learned_values <- function(prior, from) {
  for (name in intersect(plugged_in_names(prior), names(from))) {
    given <- as.double(from[[name]])
    value <- given[if (length(given) == 3L) 3L else 1L]
    if (value > 0) {
      known <- unclass(prior[[name]])[c("shape", "rate")]
      prior[[name]] <- structure(c(known, value = value), class = "bnp_gamma_prior")
    }
  }
  prior
}

# What a fit learned, by name: posterior mean and 90 % interval of those that are integrated, the number of others.
learned_concentrations <- function(fit) {
  prior <- fit$model$prior
  learned <- learned_names(prior)
  params <- if (any(learned %in% integrated_concentrations)) posterior_arrays(fit)
  stats::setNames(lapply(learned, function(name) {
    switch(name,
      concentration = with_interval(
        sum(params$concentration_nodes[, "value"] * params$concentration_nodes[, "prob"]),
        concentration_quantile(c(0.05, 0.95), params$concentration_nodes)
      ),
      gamma = with_interval(
        params$gamma[["shape"]] / params$gamma[["rate"]],
        stats::qgamma(c(0.05, 0.95), params$gamma[["shape"]], params$gamma[["rate"]])
      ),
      plugged_in(prior[[name]])
    )
  }), learned)
}

with_interval <- function(mean, ends) c(mean = mean, lower = ends[1L], upper = ends[2L])

# Logarithms of values and probabilities are smooth functions of the number of the node: between nodes they are
# interpolated, and the quantiles of faithful's concentration were within 1e-5 of those of 1,024 nodes.
concentration_quantile <- function(p, nodes) {
  nodes <- nodes[nodes[, "prob"] > 1e-12, ]
  at <- seq(1, nrow(nodes), length.out = 32 * nrow(nodes))
  along <- function(y) stats::spline(seq_along(y), log(y), xout = at)$y
  prob <- exp(along(nodes[, "prob"]))
  exp(stats::approx((cumsum(prob) - prob / 2) / sum(prob), along(nodes[, "value"]), p)$y)
}
