#' Draw partitions from the posterior
#'
#' A fit is one answer. `bnp_sample()` draws many partitions from the posterior of the same model, by Markov chains. The
#' draws show how certain the number of clusters is, which observations belong together, and whether the bound can be
#' trusted.
#'
#' @param x Observations, as [bnp_mixture()] takes them; documents, as [bnp_topics()] takes them; sequences, as
#'   [bnp_hmm()] takes them; or a fit of one of these functions.
#' @param obs,prior The model, as in [bnp_mixture()], [bnp_topics()] or [bnp_hmm()]; the class of the prior decides
#'   which of the three functions is meant.
#' @param control Options of the fit that is made before the chains start, as in [bnp_mixture()]; default:
#'   [bnp_control()] with `seed`, `threads` and `verbose` of this call.
#' @param data The observations that the fit `x` was made of, in the same order. Not needed if the fit keeps them
#'   ([strip_data()]).
#' @param id For repeated measures, the individual of each row, as in [bnp_mixture()]; for topics, the document of each
#'   row, as in [bnp_topics()]; for sequences, the sequence of each row, as in [bnp_hmm()].
#' @param chains Number of Markov chains.
#' @param draws Number of draws that each chain records.
#' @param warmup Sweeps of each chain before its first draw.
#' @param thin Number of sweeps of a chain per recorded draw.
#' @param keep The largest number of partitions that are kept, over all chains together; they are taken from the draws
#'   at equal distances. Numbers such as the number of clusters are recorded for every draw. Default: 500, or as many as
#'   take 128 MB (4 bytes per observation: 67 partitions of 500,000 tokens).
#' @param split_merge Number of proposals of splits and merges in each sweep; 0 for none. Default: for mixtures as many
#'   as the fit has clusters, and at least 5; for sequences four times as many. Topic models have no such proposals.
#'   Neither have sequences with known transitions (`transitions` or `fixed` of [prior_hmm()]), whose states are fixed.
#' @param seed One whole number, or `NULL` to draw one from R's generator. The draws of a chain depend only on the seed
#'   and on the chain's number, not on `threads` or on the other chains.
#' @param threads How many chains run at the same time.
#' @param verbose Show progress? As in [bnp_control()].
#' @param object An object of class `bnp_draws`.
#' @param ... If `x` is data: further arguments of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()]. If `x` is a fit: must
#'   be empty.
#' @return An object of class `bnp_draws`, a list without the data. See [n_clusters()], [point_partition()],
#'   [coclustering()], [summary.bnp_draws()], [plot.bnp_draws()], [check_fit()].
#'
#'   `update()` adds `draws` draws to each chain. The result is that of one call with all draws, except for the choice
#'   of the partitions that are kept.
#'
#' @details **Mixtures.** Weights and parameters of clusters are integrated out, so that a chain's state is a partition
#'   and, if the prior has a [gamma_prior()], the concentration. A sweep makes proposals of splits and merges (Dahl
#'   2005), draws each row's cluster given all others in random order (Neal 2000, algorithm 3), and then the
#'   concentration (slice sampling, Neal 2003). In models of Student-t rows ([obs_student()], `tails` of
#'   [obs_regression()]) the state also has the scale of each row ([augment()]), which is drawn by slice sampling
#'   after the clusters; degrees of freedom are integrated out, and chains move slowly between few and many of them.
#'
#' **Topic models.** Proportions of documents and parameters of topics are integrated out. A chain's state is the topic
#' of every token (in models of rows instead of counts: of every row) and, with `prior_hdp()`, the weights of topics
#' that all documents share (direct assignment, Teh and others 2006). A sweep first draws these weights and the
#' concentrations that have a [gamma_prior()]. Then it draws each token's topic given all others, by sums over the few
#' topics that its word and its document have (Yao, Mimno and McCallum 2009). Topics come and go one token at a time, so
#' that chains need many sweeps to agree on their number: look at `rhat`. `log_joint` is the log probability of data and
#' topics together with the density of the log odds of the shared weights. Judge the convergence of a chain by
#' `log_joint`, `largest` and `entropy`. Draws keep the document and the term of each token.
#'
#' **Sequences.** A chain draws a state for every row of the data, and weights of the states, around which the
#' probabilities of transitions from each state are distributed. A sweep has four steps:
#'
#' * The shared weights and the concentrations that have a [gamma_prior()] are drawn (tables, Teh and others 2006, with
#'   overrides of the sticky mass, Fox and others 2011).
#' * Whole sequences are drawn by beam sampling (Van Gael and others 2008). Only for this step transition probabilities
#'   and parameters of states are drawn, too; a random threshold below the probability of every step of the path leaves
#'   finitely many states to go to. If this would need more than 1,024 new states, as with a huge `gamma`, the step is
#'   left out.
#' * States are split and merged, as clusters of mixtures are, but rows near each other in time are moved together.
#' * Each row's state is drawn given all others.
#'
#' Long sequences with many columns may need thousands of sweeps: look at `rhat`. `log_joint` is defined as in topic
#' models. Odd-numbered chains begin with paths drawn from the fit; even-numbered chains draw row after row without it.
#' The first `lag` rows of autoregressions are given, and have no state of their own.
#'
#' **Known states.** With `labels` of rows, the draws are those of the model without labels in which no state has
#' rows of different classes. A state is of the class of its labelled rows, and of no class if it has none.
#' `sequence_labels` restrict the draws only with `open = FALSE`: with `open = TRUE` a state that sequences of several
#' classes use is an open one, and the draws are those without labels. States that have places (`transitions`, `fixed`
#' or weights as `start` of [prior_hmm()]) keep their numbers in `labels` of the draws; some of them may be without
#' rows. Forbidden transitions have probability 0, and each sweep draws whole paths given transition probabilities and
#' parameters, which are drawn, too (Chib 1996). In a model of stages, chains hardly change the order in which they have
#' found the stages: look at `rhat`.
#'
#' The model is that of the fit; if `x` is data, a fit is made first. Even-numbered chains do not use the fit: at their
#' start, rows are put into clusters one after the other, each given those before it. Odd-numbered chains begin with
#' clusters drawn from the fit's probabilities. Results on which both kinds of chains agree do not depend on either
#' start. A prior of the clusters' parameters that the fit has learned (`learn = TRUE`, `term_prior = NULL`) is held at
#' the learned values, the prior of terms at its mean weights; a learned concentration is sampled.
#'
#' A sweep takes time in proportion to rows times clusters, in documents of counts in proportion to tokens (some ten
#' million a second). Interrupting (Ctrl-C) an interactive session returns the draws so far.
#'
#' Rows, documents and sequences with weights are refused: a row of weight 2 is not one row of the exchangeable sequence
#' that the sampler assumes. Also refused are labels of mixtures and of documents, named topics, and rows with missing
#' values in columns that depend on each other within a cluster.
#' @references
#' Neal, R. M. (2000). Markov chain sampling methods for Dirichlet process mixture models. *Journal of Computational
#' and Graphical Statistics* 9(2), 249-265.
#'
#' Dahl, D. B. (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet process
#' mixture models. Technical report, Texas A&M University.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. *Journal of the
#' American Statistical Association* 101, 1566-1581.
#'
#' Chib, S. (1996). Calculating posterior distributions and modal estimates in Markov mixture models. *Journal of
#' Econometrics* 75(1), 79-97.
#'
#' Van Gael, J., Saatci, Y., Teh, Y. W. and Ghahramani, Z. (2008). Beam sampling for the infinite hidden Markov model.
#' *Proceedings of the 25th International Conference on Machine Learning*, 1088-1095.
#'
#' Fox, E. B., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). A sticky HDP-HMM with application to speaker
#' diarization. *Annals of Applied Statistics* 5(2A), 1020-1056.
#'
#' Yao, L., Mimno, D. and McCallum, A. (2009). Efficient methods for topic model inference on streaming document
#' collections. *Proceedings of the 15th ACM SIGKDD Conference on Knowledge Discovery and Data Mining*, 937-946.
#'
#' Neal, R. M. (2003). Slice sampling. *Annals of Statistics* 31(3), 705-767.
#' @seealso [bnp_mixture()], [bnp_topics()], [bnp_hmm()], [point_partition()], [check_fit()].
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' draws <- bnp_sample(fit, faithful, draws = 100, seed = 1)
#' draws
#' n_clusters(draws)
#' table(point_partition(draws), fitted(fit))
#'
#' texts <- bars$counts[1:10, ]
#' draws <- bnp_sample(texts, prior = prior_hdp(gamma = 1, alpha = 1), draws = 50, seed = 1)
#' n_clusters(draws, min_size = 50)
#'
#' draws <- bnp_sample(beaver1["temp"], prior = prior_hdp_hmm(sticky = 20), draws = 50, seed = 1)
#' n_clusters(draws, min_size = 5)
#' @export
bnp_sample <- function(x, ...) UseMethod("bnp_sample")

#' @rdname bnp_sample
#' @export
bnp_sample.default <- function(x, obs = NULL, prior = prior_dp(), ..., control = NULL, chains = 4L, draws = 1000L,
                               warmup = draws %/% 2L, thin = 1L, keep = NULL, split_merge = NULL, seed = NULL,
                               threads = default_threads(), verbose = NULL) {
  options <- sampling_options(chains, draws, warmup, thin, keep, split_merge, seed, threads, verbose)
  check_prior(prior, sampled_verbs, rlang::current_env())
  if (has_covariates(prior)) require_ability("mixture_by_covariates", "bnp_sample")
  verb <- prior_entry(prior)$verb
  refuse_proposals(verb, prior, options)
  if (inherits(obs, "bnp_obs")) require_ability(kinds_to_fit(verb, obs, prior), "bnp_sample")
  if (is.null(control)) {
    control <- bnp_control(seed = options$seed, threads = options$threads, verbose = options$verbose)
  }
  make <- list(bnp_mixture = bnp_mixture, bnp_topics = bnp_topics, bnp_hmm = bnp_hmm)[[verb]]
  fit <- if (is.null(obs)) {
    make(x, prior = prior, control = with_given_priors(control), ...)
  } else {
    make(x, obs = obs, prior = prior, control = with_given_priors(control), ...)
  }
  given <- rlang::enquos(...)
  data <- if (is.null(given$data)) x else rlang::eval_tidy(given$data)
  id <- if (!is.null(given$id)) argument_in_data(given$id, data, "id", "data", rlang::current_env())
  begin_sampling(fit, data, id, options, rename_call(match.call(), "bnp_sample"))
}

#' @rdname bnp_sample
#' @export
bnp_sample.bnp_fit <- function(x, data, id = NULL, ..., chains = 4L, draws = 1000L, warmup = draws %/% 2L, thin = 1L,
                               keep = NULL, split_merge = NULL, seed = NULL, threads = default_threads(),
                               verbose = NULL) {
  check_no_dots(...)
  check_able(x, "bnp_sample", "x")
  data <- data_or_kept(if (!missing(data)) data, x, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  options <- sampling_options(chains, draws, warmup, thin, keep, split_merge, seed, threads, verbose)
  refuse_proposals(verb_of(x), x$model$prior, options)
  begin_sampling(x, data, id, options, rename_call(match.call(), "bnp_sample"))
}

sampled_verbs <- c("bnp_mixture", "bnp_topics", "bnp_hmm")

refuse_proposals <- function(verb, prior, options, call = rlang::caller_env()) {
  what <- if (verb == "bnp_topics") "topics" else if (has_places(prior)) "states that have places"
  if (!is.null(what) && !is.null(options$split_merge)) {
    abort("argument", "{.arg split_merge} is not available for {what}: leave it out.", call = call)
  }
}

# The number of proposed splits and merges in each sweep. It is fixed for a chain, since a number that depends
# on the chain's state would change the distribution of its draws. (The numbers are guesses. Sequences gain
# from more proposals: with four per state, the data set beaver1 had twice as many effective draws per second
# as with one.)
default_proposals <- function(fit) {
  if (has_places(fit$model$prior)) {
    return(0L)
  }
  a_cluster <- c(bnp_mixture = 1L, bnp_topics = 0L, bnp_hmm = 4L)[[verb_of(fit)]]
  a_cluster * max(5L, as.integer(n_clusters(fit)))
}

sampling_options <- function(chains, draws, warmup, thin, keep, split_merge, seed, threads, verbose,
                             call = rlang::caller_env()) {
  options <- list(
    chains = check_count(chains, "chains", call = call), draws = check_count(draws, "draws", call = call),
    warmup = check_count(warmup, "warmup", 0L, call = call), thin = check_count(thin, "thin", call = call),
    keep = if (!is.null(keep)) check_count(keep, "keep", 0L, call = call),
    split_merge = if (!is.null(split_merge)) check_count(split_merge, "split_merge", 0L, call = call),
    seed = check_seed(seed, call) %||% draw_seed(), threads = check_count(threads, "threads", call = call),
    verbose = or_null(check_flag)(verbose, "verbose", call = call)
  )
  check_amount(options, options$draws, options$warmup, call)
  options
}

# The largest numbers of sweeps, of recorded numbers and of chains that are accepted. (These are guesses.)
most_sweeps <- 1e9
most_recorded <- 1e8
most_chains <- 1000L

check_amount <- function(options, draws, warmup, call) {
  big <- function(n) format(n, big.mark = ",", scientific = FALSE)
  if (options$chains > most_chains) {
    abort("argument", "{.arg chains} must be at most {big(most_chains)}, not {big(options$chains)}.", call = call)
  }
  sweeps <- warmup + as.double(draws) * options$thin
  if (sweeps > most_sweeps) {
    abort("argument", c(
      "{.arg warmup} and {.arg draws} times {.arg thin} are {big(sweeps)} sweeps of each chain: at most
       {big(most_sweeps)} can be asked for.",
      i = "Ask for fewer; {.fn update} goes on from the last of them."
    ), call = call)
  }
  if (as.double(draws) * options$chains > most_recorded) {
    abort("argument", c(
      "{.arg draws} times {.arg chains} are {big(as.double(draws) * options$chains)} records: at most
       {big(most_recorded)} can be kept.",
      i = "Ask for fewer, with more sweeps for each ({.arg thin})."
    ), call = call)
  }
}

begin_sampling <- function(fit, data, id, options, call, error_call = rlang::caller_env()) {
  data <- sampled_data(fit, data, id, error_call)
  if (is_of_tokens(fit)) check_tokens(data, 1, "Sampling", error_call)
  if (is_rounded(fit$model$obs)) say_values_are_sampled()
  model <- list(obs = sampled_obs(fit$model$obs, data), prior = without_learned_values(fit$model$prior))
  options$split_merge <- options$split_merge %||% default_proposals(fit)
  chains <- first_states(fit, data, model, options)
  options$keep <- options$keep %||% partitions_kept(length(chains[[1L]]$labels) * if (any_tails(model$obs)) 3 else 1)
  every <- options$thin * max(1, ceiling(options$chains * options$draws / max(1L, options$keep)))
  draws <- structure(
    list(
      call = call, model = model, options = options, chains = chains, trace = NULL,
      labels = NULL, kept = NULL, every = if (options$keep) every else 0, made = 0,
      fit = without_probabilities(fit)
    ),
    class = "bnp_draws"
  )
  of_data <- observations_of(fit, data)
  draws[names(of_data)] <- of_data
  draw_more(draws, data, options$warmup, options$draws)
}

say_values_are_sampled <- function() {
  cli::cli_inform(
    c("Rows are sampled as they are, not as the cells of rounded values that the fit is of.",
      i = "Clusters of draws may stand for single values; fits with {.code rounding = 0} compare with them."
    ),
    class = c("bnpvi_message_rounding", "bnpvi_message"), call = NULL
  )
}

# The number of partitions of n units that are stored: as many as fit into 128 MB, at most 500.
partitions_kept <- function(n) max(1, min(500, 2^25 %/% max(n, 1)))

# The training data of a fit in the engine's form; an error if they cannot be sampled from.
sampled_data <- function(fit, data, id, call) {
  check_able(fit, "bnp_sample", call = call)
  labelled <- !is.null(fit$input$classes) && verb_of(fit) != "bnp_hmm"
  what <- c("weights", "labels")[c(!is.null(fit$input$weights), labelled)]
  if (length(what)) {
    abort(what[1L], c(
      "Observations with {.arg {what}} cannot be sampled: their partitions have no exchangeable prior.",
      i = "Make the fit without {.arg {what}}."
    ), call = call)
  }
  data <- training_data(fit, data, id, call)
  expects <- blocks_that_expect(data, fit$model$obs)
  if (any_tails(fit$model$obs) && has_missing(data)) {
    abort("gaps", c(
      "Rows with missing values cannot be sampled where rows have scales ({.arg tails}).",
      i = "Make the fit with {.code na_action = \"omit\"}."
    ), call = call)
  }
  if (length(expects)) {
    abort("gaps", c(
      "Rows that lack values of columns which depend on each other within a cluster ({.fn {expects[1L]}}) cannot be
       sampled: what is expected of a missing value depends on the cluster.",
      i = "Make the fit with {.code na_action = \"omit\"}, or with columns that are independent given the cluster, as
           with {.code covariance = \"diagonal\"}."
    ), call = call)
  }
  data
}

# Removes from a fit the responsibilities that `keep = "probabilities"` has stored, since draws do not need
# them.
without_probabilities <- function(fit) {
  fit[c("probabilities", "predictive")] <- NULL
  fit
}

sampled_obs <- function(obs, data) {
  if (is_rounded(obs)) need_sampled_values(obs, data)
  with_held_prior(without_gaps(without_rounding(obs), data))
}

# Refuses zeros in data for models of values above 0. A fit may treat 0 as a rounded value, but draws do not
# treat values as rounded.
need_sampled_values <- function(obs, data) {
  if (!is.null(obs$blocks)) {
    for (block in obs$blocks) need_sampled_values(block, data_of_block(data, block))
  } else if (is_rounded(obs) && !isTRUE(obs$zeros) && !obs_supports(obs, -1)) {
    need_spacing_of_zeros(without_rounding(obs), data$x, "x", rlang::caller_env(), found = FALSE)
  }
}

# The observation model in its form without missing cells, if the data have none.
without_gaps <- function(obs, data) {
  if (has_missing(data)) {
    return(obs)
  }
  obs$gaps <- NULL
  if (!is.null(obs$blocks)) obs$blocks <- lapply(obs$blocks, without_gaps, data)
  obs
}

# The first state of each chain: list(labels, weights, concentration, sweeps, number). Odd chains start from
# labels drawn from the fit's probabilities. Even chains draw the labels of rows one after the other, provided
# that this can give labels that agree with known ones.
first_states <- function(fit, data, model, options) {
  numbers <- seq_len(options$chains)
  concentration <- starting_concentration(model$prior)
  odd <- numbers %% 2L == 1L
  labels <- weights <- vector("list", length(numbers))
  labels[odd] <- asplit(labels_from_fit(fit, data, model, numbers[odd], options$seed), 2L)
  in_sequence <- engine_draw_in_sequence(
    as_engine_data(data), model, as.double(numbers[!odd]), concentration, options$seed, options$threads
  )
  labels[!odd] <- in_sequence$labels
  weights[!odd] <- in_sequence$weights
  stuck <- lengths(labels) == 0L
  if (any(stuck)) labels[stuck] <- asplit(labels_from_fit(fit, data, model, numbers[stuck], options$seed), 2L)
  lapply(numbers, function(chain) {
    z <- as.vector(labels[[chain]])
    first <- if (has_places(model$prior)) seq_len(model$prior$k) else unique(z)
    weight <- as.double(weights[[chain]])
    if (length(weight)) weight <- weight[c(first, length(weight))]
    list(labels = match(z, first), weights = weight, concentration = concentration, sweeps = 0, number = chain)
  })
}

labels_from_fit.default <- function(fit, data, model, numbers, seed) {
  prob <- modelled_rows_of(data, model$obs, state_responsibilities(fit, data))
  engine_draw_labels(prob, as.double(numbers), seed)
}

# The concentrations in a prior whose values chains record, in the engine's order.
sampled_concentrations <- function(prior) {
  unclass(prior)[intersect(c("concentration", "gamma", "alpha", "start", "sticky"), names(prior))]
}

# The names of the concentrations that chains draw, and (starting_concentration) the values with which chains
# begin: prior means, or the known values.
drawn_concentrations <- function(draws) names(Filter(is_learned, sampled_concentrations(draws$model$prior)))

starting_concentration <- function(prior) {
  vapply(sampled_concentrations(prior), function(x) if (is_learned(x)) x[["shape"]] / x[["rate"]] else x, 1)
}

# The values in x of those rows that have a likelihood; first rows of series, on which only later rows depend,
# are left out.
modelled_rows_of <- function(data, obs, x) {
  lag <- obs_lag(obs)
  if (lag == 0L) {
    return(x)
  }
  first <- sequence(rep(lag, length(data$starts) - 1L), data$starts[-length(data$starts)] + 1L)
  x[-first, , drop = FALSE]
}

#' @rdname bnp_sample
#' @export
update.bnp_draws <- function(object, data, draws = dim(object$trace)[1L], id = NULL, ...) {
  check_no_dots(...)
  check_object(object)
  need_data(missing(data), "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  draws <- check_count(draws, "draws")
  check_amount(object$options, object$made / object$options$thin + draws, 0, rlang::current_env())
  draw_more(object, data_of_draws(object, data, id), 0L, draws)
}

# The data of draws in the engine's form. They must be the data that the draws were made from.
data_of_draws <- function(object, data, id, call = rlang::caller_env()) {
  training_data(object$fit, data, id, call)
}
