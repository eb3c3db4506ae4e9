# The rows of the table of abilities (R/abilities.R): for each ability the kinds of fit that have it, why the
# others lack it, and what to use instead, by kind if that differs. A special case of a family is treated like
# its family unless a row names it.

ability_table <- c(list(
  # ---- forms of the data, and arguments that are given with the data
  formula = able(
    c("mixture", "sequences"), "Only {.fn bnp_mixture} and {.fn bnp_hmm} take formulas.",
    "Give a matrix or a data frame of the columns.", area = "data", label = "A formula", error = "formula"
  ),
  source = able(
    c("mixture", "topics", "sequences", "features"), "It is learned from as a whole, in memory.",
    "Read the data into memory.",
    series = c("Batches of rows would cut the series.", "{.fn bnp_hmm} takes sequences from sources."),
    drift = c("Times are known of data in memory only.", "Give data in memory."),
    hidden = c("All sequences are visited at once.", "Give data in memory."), area = "data", label = "A source"
  ),
  stream = able(
    c("mixture", "topics"), "Only clusters of single rows and of documents are learned without a truncation.",
    "Read the data into memory, or give a source.",
    drift = c("Each row of a stream is for itself.", "{.fn update} takes in rows as they come."),
    scaled_rows = no_scaled_streams, scaled_documents = no_scaled_streams, glm_rows = no_glm_streams,
    named_clusters = no_named_streams, named_topics = no_named_streams,
    area = "data", label = "A stream (truncation-free learning)"
  ),
  weights = able(
    of_clusters, "Each row counts once.", "Leave {.arg weights} out.",
    series = c("They are for rows that are independent given their cluster.", not_in_series),
    mixture_by_time = c("Each time has its own weights of clusters.", "Choose {.fn prior_dp}."),
    truncation_free = not_one_by_one, source = not_in_source, area = "data", error = "weights"
  ),
  labels = able(
    c("mixture", "topics", "sequences", "network", "corrected_network"),
    "Only clusters, topics, states and communities belong to classes.",
    "Give labels as {.arg start}, which is only a start.",
    sampled_network = c(
      "Stochastic steps have no moves, by which classes and open communities would find their nodes.",
      "Choose another {.arg algorithm}, or give labels as {.arg start}, which is only a start."
    ),
    hidden = c("Modes of dynamics belong to no classes yet.", "Give labels as {.arg start}, which is only a start."),
    series = c("They are for rows that are independent given their cluster.", not_in_series),
    mixture_by_time = c("Each time has its own weights of clusters.", "Choose {.fn prior_dp}."),
    truncation_free = not_one_by_one, source = not_in_source, area = "data", error = "labels"
  ),
  sequence_labels = able(
    "sequences", "Only {.fn bnp_hmm} has sequences.", "{.arg labels} are of rows.", applies = "sequences",
    hidden = c("Modes of dynamics belong to no classes yet.", "Fit the sequences of each class for themselves."),
    trees = c("Trees have no labels as a whole.", "{.arg labels} may be given for all rows of a tree."),
    placed = c("States with places are classes by themselves.", "{.arg labels} are of rows."),
    source = not_in_source, area = "data", error = "labels"
  ),
  id = able(
    c("mixture", "topics", "sequences"), "Rows are not grouped.", "Leave {.arg id} out.",
    series = c(not_in_series, "A list of series has one for each individual."),
    drift = c("Each row is of its own cluster.", "Leave {.arg id} or {.code drift} out."),
    scaled_rows = c(
      "The scale of a row depends on its cluster, and rows of an individual would have to be kept one by one.",
      "Leave {.arg id} out, or choose {.fn obs_gaussian}; {.fn bnp_hmm} takes {.arg id}."
    ),
    named_clusters = c("The texts of an individual are one text.", "Add them up, and leave {.arg id} out."),
    rows_one_by_one = not_one_by_one, rows_of_source = c(
      "Rows of an individual are added up while they are read for random effects only.",
      "Fit data in memory, or let effects vary: {.code y ~ t + (1 | id)}."
    ), area = "data", error = "id"
  ),
  time = able(
    "drift", "Only clusters that drift are somewhere at a time.",
    "Give {.code obs_gaussian(drift = )}; for weights by time {.fn bnp_topics} takes {.code id}.",
    source = not_in_source, stream = not_one_by_one, area = "data", error = "time"
  ),
  prior_covariates = able(
    c("mixture", "topics", "sequences"),
    "Only weights of clusters of single rows, proportions of topics, and transitions, depend on covariates as yet.",
    "Choose another prior.",
    trees = c("Transitions of trees go by the {.arg position} of a child.", "Choose {.fn prior_hdp_hmm}."),
    hidden = c("Transitions of linear systems are the same for all rows.", "Choose {.fn prior_hdp_hmm}."),
    series = c("Rows of a series are not independent.", "Choose {.fn prior_dp}."),
    drift = c("Clusters that drift have weights of their own kind.", "Choose {.fn prior_dp} or {.fn prior_hdp}."),
    random_effects = c("It is not there beside random effects yet.", "Choose another prior."),
    truncation_free = not_one_by_one, source = not_in_source, area = "data", label = "{.fn prior_covariates}",
    applies = c("mixture", "topics", "sequences"), error = "covariates"
  ),
  rounding = able(
    "mixture", "Only clusters of single rows average over the cells of rounded values.",
    "Leave {.arg rounding} out: values are then taken as they are.", truncation_free = not_one_by_one,
    area = "data", label = "{.arg rounding}", applies = c("mixture", "topics", "sequences")
  ),
  auto_covariance = able(
    "mixture", "It compares two whole fits of single rows.", choose_covariance, truncation_free = not_one_by_one,
    source = c("Two fits would read the data twice.", "Fit data in memory, say a sample, and go on with its choice."),
    area = "data", label = "{.code covariance = \"auto\"} of {.fn obs_gaussian}",
    applies = c("mixture", "topics", "sequences")
  ),
  keywords = able(
    c("mixture", "topics"), "Only topics and clusters of texts have names by words.", "Leave {.arg keywords} out.",
    truncation_free = no_named_streams, rows_one_by_one = no_named_streams, stream = no_named_streams, area = "data",
    label = "{.arg keywords} of {.fn obs_multinomial}", error = "keywords",
    applies = c("mixture", "topics", "sequences")
  ),
  parent = of_trees, position = of_trees,
  transitions = able(
    "sequences", applies = "sequences", hidden = c(
      "Modes of dynamics are born and joined, and have no places.",
      "{.fn lds_model} takes any {.arg transition}, for filters."
    ), area = "data", label = "A prior with {.arg transitions}, {.arg fixed} or weights as {.arg start}"
  ),
  response = able(
    "topics", "Only documents have one beside their words.", "A formula says which column is a response.",
    truncation_free = c("Truncation-free learning takes documents without a response.", not_one_by_one[2L]),
    topics_by_covariates = c(
      "What is known of documents has effects on their topics or is explained by these, not both as yet.",
      "Choose {.fn prior_hdp}, or leave {.arg response} out."
    ),
    source = not_in_source, area = "data", error = "response"
  ),
  na_action = able(
    c("mixture", "documents_of_rows", "sequences", "features"), "Missing values have no model here.",
    "{.code na_action = \"omit\"} leaves rows with missing values out.",
    topics = c("Terms are there or not.", "Choose {.code na_action = \"omit\"}."),
    documents_in_pieces = c("Rows without any value would have to be left out of each piece.", "Fit data in memory."),
    drift = c("Missing values have no model where clusters drift.", "Choose {.code na_action = \"omit\"}."),
    named_clusters = c("Texts are there or not.", "Choose {.code na_action = \"omit\"}."),
    network = c("Pairs that were not observed are {.arg missing}.", "Leave {.arg na_action} out."),
    area = "data", label = "{.code na_action = \"model\"}", error = "gaps"
  ),
  omit_missing = able(
    c("mixture", "topics", "sequences", "features"), applies = c("mixture", "topics", "sequences", "features"),
    trees = c("It would leave nodes of the trees out, and cut them.", "{.code na_action = \"model\"} keeps them."),
    hidden = c(
      "It would leave rows out of a series in which each row depends on those before it.",
      "Leave {.arg na_action} out: missing cells are left out of the likelihood of their columns."
    ),
    area = "data", label = "{.code na_action = \"omit\"}", error = "parent"
  ),
  # ---- options of bnp_control() whose use depends on more than the kind of fit (R/option-table.R)
  keep = able(
    c("mixture", "sequences"), applies = c("mixture", "sequences"), source = c(
      "Probabilities of all rows would not fit into memory.",
      "{.code predict(fit, source, type = \"prob\", write = )} computes them piece by piece."
    ), area = "options", label = "{.code keep = \"probabilities\"}"
  ),
  keep_data = able(
    c("mixture", "topics", "sequences", "features"),
    "Only fits of {.fn bnp_mixture}, {.fn bnp_topics}, {.fn bnp_hmm} and {.fn bnp_features} keep data.",
    source = c("Data in a source are read where they are.", "Give the source to what reads them again."),
    area = "options", label = "{.code keep_data = TRUE}"
  ),
  workers = able(
    c("mixture", "topics", "sequences"), applies = c("mixture", "topics", "sequences"), series = c(
      "Batches would cut the series.", "Leave out {.arg workers}: this process has several {.arg threads}."
    ), area = "options"
  ),
  # ---- verbs that read a fit
  coef = able(
    of_fits, draws = c("Draws are of partitions.",
      "{.code coef(draws$fit)} has the means of the fit, {.fn tidy} what is recorded."),
    filter = c("{.fn tidy} has where things stand; the fit that was filtered has parameters."),
    dynamic_means = c("{.fn tidy} has the mean of each cluster at each time.")
  ),
  elbo = able(
    of_fits, "Only what was learned by a bound has one.", "{.fn glance} has what was made large or small.",
    truncation_free = no_bound
  ),
  elbo_trace = able(of_fits, "Only what was learned in laps or batches has a trace.", "See {.fn glance}."),
  logLik = able(
    c(of_fits, "filter"), truncation_free = no_bound, dynamic_means = no_likelihood,
    draws = c("{.code as.data.frame(draws)} has {.field log_joint}; {.fn check_fit} estimates the log evidence.")
  ),
  n_clusters = able(
    c(of_clusters, "draws"), features = many_features, filter = c("A filter learns no clusters.",
      "{.fn tidy} has its states."),
    dynamic_means = c("It has a number at each time.", "{.fn glance} has the number of all.")
  ),
  cluster_sizes = able(
    of_clusters, "Only fits have sizes of clusters.", "See {.fn tidy}.", features = many_features
  ),
  cluster_ids = of_identities, cluster_history = of_identities,
  posterior_params = able(
    of_clusters, "Only fits have a variational posterior of clusters.", "See {.fn tidy}.", features = many_features
  ),
  compare_fits = able(
    of_clusters, "Only fits have clusters and a bound.", "See {.fn glance}.", features = many_features,
    stream = c("It is not known whether two streams had the same data.", "{.fn heldout_loglik} judges new data.")
  ),
  summary_data = able(
    "mixture", "Only clusters of single rows may have other covariances.", "Leave {.arg data} out.",
    drift = c("Clusters that drift keep the covariance that they have.", "Leave {.arg data} out."),
    series = c("Only rows of {.fn obs_gaussian} have covariances to choose from.", "Leave {.arg data} out."),
    regressions = c("Only rows of {.fn obs_gaussian} have covariances to choose from.", "Leave {.arg data} out."),
    clusters_of_texts = c("Only rows of {.fn obs_gaussian} have covariances to choose from.", "Leave {.arg data} out."),
    truncation_free = no_bound, label = "{.fn summary} with {.arg data}", applies = c("mixture", "topics", "sequences")
  ),
  cluster_divergence = of_pairs, cluster_overlap = of_pairs,
  fitted = able(of_objects, stream = no_rows_kept),
  residuals = able(
    c("sequences", "features", "regressions"),
    "Fits of {.fn bnp_hmm}, of {.fn bnp_features} and mixtures of regressions have residuals.",
    "{.fn predict} gives log densities of observations.",
    trees = c("Pseudo-residuals look one step ahead in time.", "{.fn predict} gives log densities of observations.")
  ),
  confint = able(
    c("mixture", "topics", "sequences", "draws"), "There are no intervals yet.", "See {.fn tidy}.",
    named_clusters = no_named_posterior, named_topics = no_named_posterior,
    features = many_features, network = c("There are no intervals yet.", "{.fn coef} has the means."),
    filter = c("{.fn augment} and {.fn tidy} have the moments of each row."), dynamic_means = no_posterior
  ),
  augment = able(
    c(of_fits, "filter", "dynamic_means"), draws = c("{.fn point_partition} gives the cluster of each row.")
  ),
  predict = able(
    c(of_fits, "draws", "filter"),
    topic_draws = c(
      "A new document mixes topics, and its probability is a sum over all ways to do so.",
      "{.fn predict} of the fit has its proportions, {.fn heldout_loglik} how well its words are predicted."
    ),
    state_draws = c(
      "They keep the state of each row, not where a new sequence would go.",
      "{.fn predict} of the fit has states and densities of new sequences."
    ),
    dynamic_means = c("Cluster all rows again, with the new ones; {.fn fitted} has the clusters of its own.")
  ),
  expected_response = able(
    c("mixture", "sequences"), trees = c("There is no response yet in trees.", "{.fn coef} has the coefficients."),
    hidden = hidden_instead, label = "{.code predict(type = \"response\")}", applies = c("mixture", "sequences")
  ),
  heldout_loglik = able(
    of_fits, "Only fits judge new data.",
    documents_of_rows = c("It completes documents of counts.", "{.fn predict} has the topics of new rows."),
    filter = c("{.fn logLik} has that of its rows."),
    draws = c("{.code heldout_loglik(draws$fit, newdata)} judges new data by the fit."), dynamic_means = no_likelihood
  ),
  simulate = able(
    of_fits, named_clusters = no_named_posterior, named_topics = no_named_posterior,
    switched = no_switched_simulated,
    recurrent = c("Each row would have to be drawn before the state of the next one.",
      "{.fn heldout_loglik} judges new sequences."),
    draws = c("{.code simulate(draws$fit)} draws new data from the fit."),
    filter = c("{.fn forecast} predicts the rows to come; {.fn simulate} takes the fit."), dynamic_means = no_likelihood
  ),
  simulated_lengths = able(
    "sequences", trees = c("Data sets are on the fit's trees."), switched = no_switched_simulated,
    label = "{.fn simulate} with {.arg lengths} or {.arg covariates}", applies = "sequences"
  ),
  forecast = able(
    c("sequences", "filter"), "Only fits of {.fn bnp_hmm} and filters have rows to come.",
    "{.fn simulate} draws new data.",
    trees = c("Nodes do not follow each other in time.",
      "Rows of {.code NA} with {.code na_action = \"model\"} may be leaves."),
    switched = c("Inputs of the rows to come must be given: a filter takes them.",
      "{.code predict(bnp_filter(fit, newdata), h, inputs = )} forecasts."),
    source = c("Rows to come are those of one series.", "Give the data in memory."),
    sequences_by_covariates = covariates_to_come,
    draws = c("{.code forecast(draws$fit, newdata)} forecasts by the fit."), dynamic_means = no_likelihood
  ),
  impute = able(
    c("mixture", "sequences", "features"), "Only rows have cells that may be missing.",
      "{.fn simulate} draws new data.",
    random_effects = c(
      "A missing response is left out, and covariates are not modelled.",
      "{.code predict(fit, newdata, type = \"individual\")} has what is expected of it."
    ),
    documents_of_rows = c("There are no imputations of documents.", "{.fn predict} takes rows with missing values."),
    glm_rows = no_glm_imputed, glm_sequences = no_glm_imputed,
    drift = c("There are no imputations where clusters drift.", "Leave rows with missing values out."),
    trees = c("There are no imputations of nodes.", "{.fn predict} takes rows with missing values."),
    hidden = hidden_instead, draws = c("{.code impute(draws$fit, newdata)} draws by the fit."),
    filter = c("A filter leaves missing cells out.", "{.fn augment} has what it expected of each row."),
    dynamic_means = no_posterior
  ),
  update_newdata = able(
    of_fits, applies = of_fits, trees = c("Fits of trees have no updates yet.",
      "Fit anew to all trees: {.code bnp_hmm(x, parent = parent, start = fit)}."),
    hidden = c("Linear systems have no updates yet.",
      "Fit anew to all data: {.code bnp_hmm(x, obs = fit$model$obs, start = fit)}."),
    response = c("They have no updates yet.",
      "Fit anew to all documents: {.code bnp_topics(x, response = y, start = fit)}."),
    network = c(
      "{.code update(fit, x = network)} fits anew to a whole network, with {.code start = fit} from this fit on
       where the nodes are the same.",
      "{.code predict(fit, newdata, type = \"prob\")} has the memberships of new nodes."
    ),
    sequences_by_covariates = c("Transitions are counted by covariate patterns of the fit, and new rows have others.",
      "Fit anew to all sequences: {.code bnp_hmm(x, prior = , covariates = , start = fit)}."),
    topics_by_covariates = c("Topics have sums for each covariate pattern of the fit, and new documents have others.",
      "Fit anew to all documents: {.code bnp_topics(x, prior = fit$call$prior, covariates = , start = fit)}."),
    stochastic = c(
      "Clusters of stochastic learning are a running average.",
      "Go on with memoized learning of its data first, with {.code start = fit}."
    ),
    label = "{.fn update} with new data"
  ),
  update = able(
    c(of_fits, "draws", "filter"), dynamic_means = c("Call {.fn bnp_dynamic_means} again with all rows.")
  ),
  discount = able(
    "mixture", "Only rows of {.fn bnp_mixture} can count less.", "Leave it out: all rows count fully.",
    mixture_by_time = c("Each time has weights of its own, which forget the earlier ones.", "Leave it out."),
    label = "{.arg discount} of {.fn update}", applies = c("mixture", "topics", "sequences")
  ),
  keep_times = able(
    "drift", "Only drifting clusters are somewhere at a time.",
    "Earlier rows of others are sums already; {.arg discount} lets them count less.",
    label = "{.arg keep_times} of {.fn update}", applies = "mixture"
  ),
  # ---- verbs that join clusters
  cluster_tree = of_joins, cut_fit = of_joins, coarsen = of_joins, strip_data = able(of_fits, "It is about fits."),
  coclustering = able(
    c("mixture", "sequences", "draws"), "It needs one cluster for each row.", "See {.fn fitted}.",
    topics = c("Documents mix topics: {.code tcrossprod(fitted(fit))} is how much they share."),
    features = many_features
  ),
  trajectories = able(
    "drift",
    "Only clusters that drift have paths.", "Give {.code obs_gaussian(drift = )} and {.arg time}.",
    random_effects = c("Clusters are the same at all times.",
      "{.code plot(fit, type = \"trajectories\", data = )} draws individuals over time."),
    dynamic_means = c("{.fn tidy} has the path of each cluster."), error = "time"
  ),
  # ---- samples from the full posterior
  bnp_sample = of_samplers, check_fit = of_samplers,
  point_partition = able("draws", "It summarises draws.",
    "{.fn bnp_sample} makes draws; {.fn fitted} has the labels of a fit."),
  # ---- verbs of topic models
  top_terms = of_terms("{.fn coef} has the parameters."),
  topic_labels = of_terms("{.fn coef} has the parameters."),
  coherence = of_terms("{.fn heldout_loglik} judges fits."),
  exclusivity = of_terms("{.fn cluster_overlap} says how far clusters overlap."),
  ldavis_data = of_terms("{.fn plot} draws fits."),
  top_documents = able(
    c("topics", "clusters_of_texts"), "It is about documents.", "{.fn predict} has probabilities of rows.",
    draws = in_draws_of_topics, stream = no_rows_kept
  ),
  topic_correlation = of_topics("{.fn coclustering} says which rows go together.", stream = no_rows_kept),
  prevalence = able(
    c("topics", "mixture_by_covariates", "sequences_by_covariates"),
    "It is about topics, and weights that depend on covariates.",
    "{.fn coef} has the weights; {.fn prior_covariates} lets them depend on covariates.", stream = no_rows_kept,
    draws = c("Draws have assignments of tokens.", in_draws)
  ),
  predict_weights = able(
    c("mixture_by_covariates", "topics_by_covariates"), "Only weights that depend on covariates differ between rows.",
    "{.fn coef} has the weights; {.fn prior_covariates} lets them depend on covariates.",
    label = "{.code predict(type = \"weights\")}", applies = c("mixture", "topics")
  ),
  linear_response = able(
    c("mixture_by_covariates", "topics_by_covariates"),
    "Only intervals of weights that depend on covariates are found so.", "Leave {.arg x} out.",
    label = "{.code prevalence(x = )}", applies = c("mixture", "topics", "sequences")
  ),
  clue = able(
    c("mixture", "sequences", "network"), topics = c("Documents mix topics, which are no partition.",
      "{.fn fitted} gives their proportions."),
    features = many_features, label = "A partition of {.pkg clue}"
  ),
  # ---- verbs of sequences
  segments = able(
    "sequences", "Only sequences have runs of states.", "{.fn fitted} gives the labels of the training data.",
    trees = c("Segments are runs of a sequence.", "{.fn fitted} has the states of all nodes."),
    draws = c("{.code segments(draws$fit)} has the runs of the fit, if it is one of sequences."),
    filter = c("{.fn filter_probs} has the states of each row."),
    dynamic_means = c("{.fn tidy} has the path of each cluster.")
  ),
  transition_matrix = of_states, state_durations = of_states,
  long_run = able(
    "sequences", "Only states of {.fn bnp_hmm} follow each other.", "{.fn coef} has the weights.", draws = in_draws,
    filter = of_the_fit, trees = c("Each tree ends.", "{.fn cluster_sizes} has how often states are."),
    placed = c("A chain with places may have no way back.", "{.fn transition_matrix} has the transitions.")
  ),
  latent_path = able(
    "hidden", "Only {.fn obs_lds} has states behind rows that are seen through noise.", "{.fn fitted} has the labels.",
    filter = c("{.fn augment} has the filtered means.")
  ),
  bnp_filter = able(
    "sequences",
      "Only fits of {.fn bnp_hmm} go on in time, and systems made by {.fn lds_model} and {.fn particle_model}.",
    "{.fn predict} takes new rows.", trees = c("Nodes do not follow each other in time.",
      "{.fn predict} takes new trees."), sequences_by_covariates = covariates_to_come,
    filter = c("{.fn update} takes in more rows.")
  ),
  filter_probs = able("filter", "It reads a filter.",
    "{.fn bnp_filter} makes one of a fit; {.fn predict} has probabilities."),
  # ---- verbs of networks and of latent features
  communities = of_networks("{.fn fitted} has the labels."),
  as_communities = of_networks("{.fn fitted} has the labels."),
  memberships = of_networks("{.code predict(type = \"prob\")} has probabilities."),
  link_auc = of_networks("{.fn heldout_loglik} judges new data."),
  log_joint = of_networks(
    "{.fn elbo} judges fits.", communities = c("Only blockmodels, {.fn prior_dp}, have labels.",
      "{.fn elbo} judges them.")
  ),
  n_features = of_features, feature_probs = of_features
), generics_of_base)
