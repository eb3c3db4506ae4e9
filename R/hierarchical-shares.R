# The hierarchical prior of counts (src/observations/hierarchical_dirichlet.h): what R needs to know of it.

# The model with the Dirichlet prior that predicts new data, as if it had been given: for algorithms that need the
# evidence and the predictive of one and the same prior, as samplers do. The bound of a hierarchical prior has an
# evidence that is smaller.
with_held_prior <- function(obs) {
  obs[c("hyper_share", if (!is.null(obs$hyper_share)) "learn")] <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, with_held_prior)
  obs
}

# Counts of rows with a weight that is no whole number: then the bound of a hierarchical prior is none.
described_fractions <- function(fit) {
  obs <- fit$model$obs
  shares <- lapply(obs$blocks %||% list(obs), function(block) block$hyper_share)
  if (length(unlist(shares)) && any(fit$input$weights %% 1 != 0)) {
    "Weights are no whole numbers: under a learned prior of counts the objective is then no bound of a log evidence"
  }
}
