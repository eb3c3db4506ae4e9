# The hierarchical prior of counts (src/observations/hierarchical_dirichlet.h): what R needs to know of it.

# The model with the Dirichlet prior that predicts new data, as if it had been given: for algorithms that need the
# evidence and the predictive of one and the same prior, as samplers do. The bound of a hierarchical prior has an
# evidence that is smaller.
with_held_prior <- function(obs) {
  obs$hyper_share <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, with_held_prior)
  obs
}

# The share of counts that are no whole numbers: with any the bound of a hierarchical prior is none.
share_of_fractions <- function(values, weights) {
  if (any(weights != round(weights))) 1 else mean(c(values != round(values), FALSE), na.rm = TRUE)
}

has_fractions <- function(fit) {
  any(unlist(c(fit$input["fractions"], lapply(fit$input$blocks, function(block) block["fractions"]))) > 0)
}

described_fractions <- function(fit) {
  if (has_fractions(fit)) "Counts have fractions: the objective is no bound of a log evidence"
}
