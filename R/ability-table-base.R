# Rows of the table of abilities (R/ability-table.R) for generics that base R also has, such as those for
# linear models.

generics_of_base <- list(
  "formula()" = able(
    c("mixture", "sequences"), "Only {.fn bnp_mixture} and {.fn bnp_hmm} take formulas.",
      "Its call is {.code fit$call}.",
    draws = in_draws, filter = of_the_fit, dynamic_means = c("It takes a table: choose the columns there.")
  ),
  terms = able(
    c("mixture", "sequences", "topics"), "Only {.fn bnp_mixture} and {.fn bnp_hmm} take formulas.",
    "{.code elbo(fit, terms = TRUE)} has the terms of the bound.",
    draws = in_draws, filter = of_the_fit, dynamic_means = c("It takes a table: choose the columns there.")
  ),
  "labels()" = able(
    character(), "Labels of base R are those of terms and dimensions.",
    "{.fn fitted} gives the cluster of each observation; names are in {.code fit$input}.",
    draws = c("{.fn point_partition} gives the cluster of each row.")
  ),
  "weights()" = able(
    character(), "It could be those of observations or of clusters.",
    "Those that observations were given are {.code fit$input$weights}. Those of clusters are in
     {.code coef(fit)$weights}, their shares of the data in {.code tidy(fit)}.",
    draws = in_draws, filter = c("{.fn filter_probs} has the probabilities of states."),
    dynamic_means = c("{.fn tidy} has the sizes of clusters.")
  ),
  deviance = able(
    character(), "There is no saturated model.",
    "The log likelihood is bounded by {.fn elbo}; {.fn heldout_loglik} judges new data.", dynamic_means = no_likelihood
  ),
  df.residual = able(
    character(), "The number of parameters in use is not known.", "Compare fits by {.fn elbo}.",
    dynamic_means = no_likelihood
  ),
  vcov = able(
    character(), "Each cluster has parameters of its own.",
    "{.fn posterior_params} has the whole posterior; covariances of clusters are in {.code coef(fit)$cov}.",
    draws = c("{.code stats::cov(as.data.frame(draws))} has the covariances of what is recorded."),
    filter = c("{.fn augment} and {.fn tidy} have the moments of each row."), dynamic_means = no_posterior
  ),
  anova = able(
    character(), "Fits are not nested.", "Compare fits to the same data by {.fn elbo}, or by {.fn heldout_loglik}.",
    draws = c("{.fn compare_fits} compares fits."), filter = c("{.fn logLik} has its log likelihood."),
    dynamic_means = no_likelihood
  ),
  extractAIC = able(
    character(), "The number of parameters in use is not known.",
    "Compare fits to the same data by {.fn elbo}, or by {.fn heldout_loglik}.",
    draws = c("{.fn check_fit} estimates the log evidence."), filter = c("{.fn logLik} has its log likelihood."),
    dynamic_means = no_likelihood
  ),
  family = able(
    character(), "It is one of generalised linear models.", "The observation model is {.code fit$model$obs}.",
    draws = in_draws, filter = of_the_fit, dynamic_means = no_likelihood
  ),
  sigma = able(
    character(), "There is no one noise.", "Covariances of clusters are in {.code coef(fit)$cov}.",
    draws = in_draws, filter = c("{.fn augment} has the moments of each row."),
    dynamic_means = c("{.fn tidy} has the sizes of clusters.")
  ),
  model.frame = able(character(), no_frame_kept),
  model.matrix = able(character(), no_frame_kept)
)
