# Helpers that make the rows of the table of abilities (R/ability-table.R), and the reasons that several rows
# share.

# Makes one row of the table of abilities. has: the kinds of fit that have the ability; why, instead: the
# reason and the alternative for all others; ...: c(why, instead) for single kinds; area: the section of the
# help page; label: what messages call the ability; error: an additional class for its refusals; applies: the
# families for which the question arises, as the others do not have such an argument.
able <- function(has, why = NULL, instead = NULL, ..., area = "verbs", label = NULL, error = NULL,
                 applies = family_kinds) {
  list(
    has = has, why = why, instead = instead, no = list(...), area = area, label = label, error = error,
    applies = applies
  )
}

ability_label <- function(name) {
  row <- ability_table[[name]]
  row$label %||% paste0(if (row$area == "verbs") "{.fn " else "{.arg ", sub("()", "", name, fixed = TRUE), "}")
}

of_clusters <- c("mixture", "topics", "sequences", "network")
of_fits <- c(of_clusters, "features")
of_objects <- c(of_fits, "draws", "filter", "dynamic_means")
no_frame_kept <- "A fit does not keep the data frame of a formula: give the data to the function that needs them."
in_draws <- "{.code draws$fit} is the fit that they began from, which has it."
of_the_fit <- "The fit that was filtered has it."
drifting_model <- "{.code bnp_mixture(x, time = time)} is a model with drifting clusters."
no_posterior <- c("It has means without any posterior.", drifting_model)
no_likelihood <- c("It has no likelihood: {.code glance(fit)$objective} is what it makes small.", drifting_model)
many_features <- c("A row has any number of features, no cluster.",
  "See {.fn n_features}, {.fn feature_probs}, {.fn coef}.")
no_bound <- c(
  "Truncation-free learning has no ELBO: it would be that of a random state.",
  "{.fn elbo_trace} has how well each batch was predicted, {.fn heldout_loglik} judges new data.",
  "For the bound learn from data that can be read again, by a fit with {.code start = fit}."
)
no_rows_kept <- c(
  "The fit of a stream keeps nothing of its rows or documents, and so no labels or proportions.",
  "{.code predict(fit, newdata)} gives them for those that you have."
)
hidden_instead <- "{.fn latent_path} has the hidden states, {.fn augment} the fitted values."
not_one_by_one <- c(
  "Rows are learned from one at a time, each for itself.", "Fit data in memory, by {.code algorithm = \"memoized\"}."
)
choose_covariance <- "Choose {.code covariance = \"full\"} or {.code \"diagonal\"}."
not_in_series <- "Each row has the rows before it to explain it."
not_in_source <- c("It must be known for all rows at once.", "Fit data in memory.")
no_closed_form <- c("Clusters that say what comes after something else have none in closed form.", "See {.fn coef}.")
no_effects_drawn <- c(
  "Coefficients of individuals, which a draw would have to have, are none of those that are drawn.",
  "{.fn simulate} draws data, {.fn predict} has individuals."
)
no_effects_joined <- c(
  "What individuals hide depends on their cluster, so that sums of two clusters are far from one of both.",
  "Fit with a finite prior of fewer clusters."
)
covariates_to_come <- c(
  "The covariates of rows to come are not known.",
  "Add these rows to {.arg newdata}, {.code NA} where they are not observed, with {.code na_action = \"model\"}."
)
no_samplers_yet <- "There are no samplers yet where clusters have such a structure."

in_draws_of_topics <- c("Draws have assignments of tokens.", in_draws)
of_topics <- function(instead, ...) able("topics", "It is about topics.", instead, ..., draws = in_draws_of_topics)
of_terms <- function(instead) {
  able(
    c("topics", "clusters_of_texts"), "It is about terms of documents.", instead, draws = in_draws_of_topics,
    documents_of_rows = c("Topics of rows have no terms.", "{.fn coef} has their parameters.")
  )
}
of_networks <- function(instead, ...) able("network", "It is about nodes of networks.", instead, ...)

no_switched_simulated <- c(
  "Their rows are not simulated yet.", "{.code predict(bnp_filter(fit, newdata), h)} forecasts."
)

of_joins <- able(
  c("mixture", "topics", "sequences"), "It joins clusters of {.fn bnp_mixture}, {.fn bnp_topics} and {.fn bnp_hmm}.",
  "Fit with a finite prior of fewer clusters.",
  placed = c("States that have places are not alike, and cannot be joined.", "Compare fits with fewer states."),
  truncation_free = no_bound, features = many_features,
  drift = c("There are no trees of clusters that drift.", "Fit with a finite prior of fewer clusters."),
  mixture_by_covariates = c("There are no trees of clusters with covariates yet.",
    "Fit with {.arg k} of {.fn prior_covariates}."),
  sequences_by_covariates = c("There are no trees of states with covariates yet.",
    "Fit with {.arg k} of {.fn prior_covariates}."),
  topics_by_covariates = c("There are no trees of topics with covariates yet.", "{.fn prior_hdp} has them."),
  random_effects = no_effects_joined,
  labelled_topics = c("Topics that are joined would be used by documents that may not.", "Fit without {.arg labels}."),
  hidden = c("There are no trees of dynamics.", "Merges are part of the fit."), draws = in_draws,
  filter = of_the_fit, dynamic_means = c("A larger {.arg lambda} gives fewer clusters."),
  network = c(
    "Joins of communities are part of the fit.", "A smaller {.arg concentration} of {.fn prior_dp} may give fewer."
  )
)
of_pairs <- able(
  of_clusters, "It needs clusters with a distribution.", "See {.fn tidy}.", features = many_features,
  drift = c("A cluster has a distribution at each time.", "See {.fn trajectories}."),
  series = no_closed_form, lagged = no_closed_form, glm_sequences = no_closed_form,
  regressions = no_closed_form, hidden = no_closed_form,
  network = c("Blocks are nodes, not distributions of rows.", "{.fn coef} has the rates between them.")
)
no_scaled_streams <- c(
  "The scale of a row depends on its cluster.", "Learn in batches ({.fn bnp_control}), or choose {.fn obs_gaussian}."
)
no_scaled_samplers <- c(
  "Scales of rows are drawn in samplers of mixtures only.", "Sample with Gaussian rows."
)
no_tangents_drawn <- c(
  "Each row has tangents of its own, which are none of what is drawn.", "{.fn confint} has intervals of coefficients."
)
no_glm_imputed <- c(
  "A missing response is left out, and covariates are not modelled.",
  "{.code predict(fit, newdata, type = \"response\")} has what is expected of it."
)
no_glm_streams <- c(
  "The tangents of a row depend on its cluster.", "Learn in batches ({.fn bnp_control}), or choose {.fn obs_gaussian}."
)
no_named_samplers <- c("There are no samplers yet of clusters with names.", "Fit without {.arg keywords}.")
no_named_streams <- c(
  "Which new cluster has a name is not known from the documents that come first.",
  "Learn in batches ({.fn bnp_control})."
)
no_named_posterior <- c(
  "The posterior of terms of a named topic is no Dirichlet distribution.", "{.fn coef} has its means."
)
of_samplers <- able(
  c("mixture", "topics", "sequences"),
  "There are samplers of {.fn bnp_mixture}, {.fn bnp_topics} and {.fn bnp_hmm} only.",
  "{.fn simulate} draws data.", drift = no_samplers_yet, trees = no_samplers_yet, hidden = no_samplers_yet,
  mixture_by_covariates = no_samplers_yet, sequences_by_covariates = no_samplers_yet,
  topics_by_covariates = no_samplers_yet,
  random_effects = no_effects_drawn, scaled_documents = no_scaled_samplers, scaled_sequences = no_scaled_samplers,
  glm_rows = no_tangents_drawn, glm_sequences = no_tangents_drawn,
  named_clusters = no_named_samplers, named_topics = no_named_samplers,
  labelled_topics = c("There are no samplers yet of documents with labels.", "Fit without {.arg labels}."),
  response = c("There are no samplers yet of topics with a response.", "Fit without {.arg response}."),
  stream = c("A stream has no data that could be given again.", "Fit data in memory."),
  draws = c("{.fn update} draws more.")
)
of_states <- able(
  "sequences", "Only states of {.fn bnp_hmm} follow each other.", "{.fn coef} has the weights.", draws = in_draws,
  filter = of_the_fit
)
of_identities <- able(of_fits, "Only fits can be updated by more data.", "See {.fn tidy}.")
of_features <- able("features", "Only {.fn bnp_features} has features of rows.", "{.fn coef} has the parameters.")
of_trees <- able(
  "sequences", "Only rows of {.fn bnp_hmm} come from rows before them.",
  "Rows that follow each other are given in order.",
  sequences_by_covariates = c("Transitions of trees go by the {.arg position} of a child.",
    "Choose {.fn prior_hdp_hmm}."),
  lagged = c("In a tree a row has no row before it.", "Choose another {.arg obs}."),
  hidden = c("In a tree a row has no row before it.", "Choose another {.arg obs}."),
  source = not_in_source, area = "data", error = "trees"
)
