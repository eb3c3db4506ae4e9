# The hierarchical prior of counts (src/observations/hierarchical_dirichlet.h), as far as R needs to know it.

# The observation model with a fixed Dirichlet prior in place of the hierarchical one, as if the user had
# given it. Algorithms such as samplers need the evidence and the predictive distribution of the same prior;
# the bound of the hierarchical prior is lower than the evidence of the fixed one.
with_held_prior <- function(obs) {
  obs[c("hyper_share", if (!is.null(obs$hyper_share)) "learn")] <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, with_held_prior)
  obs
}

# A line of print() for weights that are not whole numbers: with them the objective of the hierarchical prior is not a
# bound of a log evidence.
described_fractions <- function(fit) {
  obs <- fit$model$obs
  shares <- lapply(obs$blocks %||% list(obs), function(block) block$hyper_share)
  if (length(unlist(shares)) && any(fit$input$weights %% 1 != 0)) {
    "Weights are no whole numbers: under a learned prior of counts the objective is then no bound of a log evidence"
  }
}
