#' Priors of weights, proportions and transitions
#'
#' These functions make the prior of the weights of clusters (in mixtures), of the proportions of topics in documents,
#' or of the transitions between states. Models with a fixed number of clusters have priors of the same kind.
#'
#' @details
#' * `prior_dp()`: Dirichlet process mixture; the number of clusters is open.
#' * `prior_py()`: Pitman-Yor mixture, a generalisation of `prior_dp()`, which has `discount` 0. The k-th weight is a
#'   share of what earlier weights leave, with distribution Beta(1 - `discount`, `concentration` + k `discount`). With a
#'   discount, sizes have a power-law tail: a few large clusters and many small ones.
#' * `prior_dirichlet()`: finite mixture of `k` clusters, weights from a
#'   symmetric Dirichlet distribution with total weight `concentration`.
#' * `prior_hdp()`: hierarchical Dirichlet process; documents share the topics, and every document has its own
#'   proportions.
#' * `prior_lda()`: latent Dirichlet allocation with `k` topics, total weight
#'   `alpha` per document.
#' * `prior_hdp_hmm()`: hidden Markov model with an open number of states;
#'   `sticky` favours staying in a state.
#' * `prior_hmm()`: hidden Markov model with `k` states.
#' * `prior_ibp()`: Indian buffet process; any number of latent features ([bnp_features()]); a row is expected to have
#'   `alpha` of them.
#' * `prior_beta_bernoulli()`: at most `k` latent features, each with a probability from Beta(`alpha / k`, 1).
#'
#' With `gamma_prior(shape, rate)` in place of a number a concentration is learned. (It can also take the place of a
#' shape of an observation model: see [obs_gamma()].) There are three cases:
#' * `concentration` of `prior_dp()` and `prior_py()`, and `gamma`, are integrated over this prior, exactly, together
#'   with the weights, so that the bound accounts for the uncertainty about them. [coef()] and [glance()] have the
#'   posterior mean and a 90 % interval.
#' * `alpha` of `prior_ibp()` has a Gamma posterior; [coef()] has its mean and a 90 % interval.
#' * `alpha` of other priors, `start` and `sticky` are set to the number that maximises the objective, which is found
#'   anew after every lap. The log density of the prior at this number is the term `hyperprior` of the ELBO, which is
#'   then a bound on the log probability of the data *and* this number. Stochastic learning cannot learn them and
#'   refuses such a prior.
#'
#' The `shape` of the Gamma prior of a concentration must be at least 1: below 1 a cluster without observations could
#' never get any. The default Gamma prior, with mean 2, is a guess. Learned numbers stay in the ranges below.
#'
#' To learn `alpha` or `start` with `prior_hdp()` and `prior_hdp_hmm()` choose `bnp_control(bound = "tight")`. The
#' default bound becomes looser as these grow, so that the learned values are too low. In simulations with 300 documents
#' of 50 tokens it learned an `alpha` of 0.8 to 1 where the true one was 3 (the tight bound: 2.8 to 3), and of 0.35 to
#' 0.44 where the true one was 0.5 (the tight bound: 0.46 to 0.52).
#'
#' Learning `sticky` is seldom useful. This number says how long the states that you are interested in last. The data
#' cannot tell this if they have more structure than the model: the bound may then be highest with many short states.
#' The learned value also depends on `bound`.
#'
#' With a finite prior `k` is the largest number of clusters. Clusters that the data do not need stay empty, and there
#' are more of them the smaller `concentration` (for states `alpha`) is. Moves are tried as well ([bnp_moves()]): two
#' clusters may be joined, which leaves an empty cluster, and a cluster may be split while two others are joined.
#'
#' These ranges are allowed: `concentration` and `gamma` from 1e-50 to 1e50, `alpha` and `start` from 1e-8 to 1e6,
#' `sticky` from 1e-50 to 1e6, `discount` from 0 to 0.999999 (with `concentration + discount` in the range of
#' concentrations), `shape` (of a concentration from 1) and `rate` from 1e-10 to 1e10. In finite priors a concentration
#' divided by `k` must also be in its range. Outside these ranges results lose digits; within them, the bound of one
#' cluster is right to eight digits.
#'
#' @param concentration Concentration of the Dirichlet process, or the total weight of the Dirichlet distribution; the
#'   larger it is, the more clusters, of more equal sizes, are expected. For `prior_dp()` and `prior_py()` it may be a
#'   [gamma_prior()], and so may `gamma`, `alpha`, `start` and `sticky`. With a discount it may be negative, above
#'   `-discount`.
#' @param discount Discount of the Pitman-Yor process, at least 0 and below 1.
#' @param shape,rate The Gamma distribution of a concentration, or of a shape: mean `shape / rate`,
#'   standard deviation `sqrt(shape) / rate`.
#' @param k Number of clusters, topics, states or features; for `left_to_right()` it may also be the names of the
#'   stages.
#' @param gamma Concentration of the top level of `prior_hdp()` and `prior_hdp_hmm()`; the larger it is, the more topics
#'   or states are expected.
#' @param alpha Concentration of the lower level: the larger it is, the more similar the proportions of each document,
#'   or each row of transitions, are to their average. For latent features: the expected number of features of a row.
#' @param start Concentration of the distribution of the first state. For `prior_hmm()` it may also be a vector with a
#'   weight of at least 0 for each state, 0 for states in which no sequence may begin.
#' @param sticky Extra weight of staying in a state; 0 for none.
#' @param transitions Which states may follow which, see *Known transitions*: a logical matrix, `left_to_right()`, or a
#'   matrix with the Dirichlet weight of each transition, 0 where it is forbidden. Row `i` is for the transitions from
#'   state `i`.
#' @param fixed A matrix of probabilities of transitions that are known, `NA` for all others; 0 forbids a transition.
#' @param ... Must be empty.
#' @param skip,return For `left_to_right()`: may stages be left out? May the first stage follow the last?
#'
#' @section Known transitions:
#' With `transitions`, `fixed` or weights as `start` the states of `prior_hmm()` have *places*: they are not
#' exchangeable but keep the numbers of the rows and columns of these matrices (instead of numbers by size), and their
#' names, if there are `dimnames`. A transition that is forbidden has probability exactly 0, whatever the data. The
#' transitions of a row that are neither forbidden nor fixed share the remaining probability by a Dirichlet
#' distribution. Its weights are those given as `transitions`, or else `alpha / k`, plus `sticky` on the diagonal.
#' `left_to_right(k)` is a chain of stages that are passed in order; sequences then begin in the first stage, unless
#' `start` is given.
#'
#' States with places can be neither born nor joined: a fit exchanges pairs of states instead. With `left_to_right()`
#' the fit begins with the stages in equal stretches of each sequence. With other transitions it begins with clusters of
#' rows, which are assigned to places by the order in which they follow each other. If you know more, give `start` to
#' [bnp_hmm()], one state per row, or use `bnp_control(restarts = )`. For an open number of states choose a `k` larger
#' than needed with `left_to_right(k, skip = TRUE)`, which leaves stages empty, and compare fits by [compare_fits()].
#' @return An object of class `bnp_prior`, to be given as `prior`. `gamma_prior()` returns one of class
#'   `bnp_gamma_prior`, to be given in place of a concentration or of a shape; `left_to_right()` a logical matrix with
#'   an attribute `start`, the states in which a sequence may begin.
#' @references
#' Sethuraman, J. (1994). A constructive definition of Dirichlet priors. *Statistica Sinica* 4,
#' 639-650.
#'
#' Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet
#' processes. *Journal of the American Statistical Association* 101, 1566-1581.
#'
#' Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. *Journal of
#' Machine Learning Research* 3, 993-1022.
#'
#' Pitman, J. and Yor, M. (1997). The two-parameter Poisson-Dirichlet distribution derived from
#' a stable subordinator. *Annals of Probability* 25, 855-900.
#'
#' Fox, E. B., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). A sticky HDP-HMM with
#' application to speaker diarization. *Annals of Applied Statistics* 5(2A), 1020-1056.
#' @seealso [observation_models] for what a cluster looks like; *Choosing priors* on the site.
#' @examples
#' prior_dp(concentration = 2)
#' prior_dirichlet(3)
#' prior_hmm(3, transitions = left_to_right(c("before", "during", "after")))
#' fit <- bnp_mixture(
#'   faithful,
#'   prior = prior_dp(gamma_prior(shape = 2, rate = 1)), control = bnp_control(seed = 1)
#' )
#' coef(fit)$concentration
#'
#' fit <- bnp_topics(
#'   bars$counts,
#'   prior = prior_hdp(gamma = gamma_prior(), alpha = gamma_prior()),
#'   control = bnp_control(seed = 1, max_laps = 20, bound = "tight", restarts = 1)
#' )
#' coef(fit)[c("gamma", "alpha")]
#' @name priors
NULL

# Makes a prior from the arguments of its constructor, which are read from `frame`. given: the names of the
# arguments that the user gave.
new_prior <- function(family, given, checks = prior_checks, frame = rlang::caller_env()) {
  arguments <- setdiff(names(formals(prior_models[[family]]$constructor)), c("transitions", "fixed", "..."))
  parameters <- sapply(arguments, get, envir = frame, simplify = FALSE)
  if (length(given)) parameters <- check_ranges(checked_arguments(given, checks, parameters, frame), frame)
  structure(c(list(family = family), parameters), class = c("bnp_prior", "list"))
}

#' @rdname priors
#' @export
prior_dp <- function(concentration = 1, ...) {
  check_no_dots(...)
  new_prior("dp", names(match.call()))
}

#' @rdname priors
#' @export
prior_py <- function(concentration = 1, discount = 0.25, ...) {
  check_no_dots(...)
  if (!is.numeric(discount) || length(discount) != 1L || !is.finite(discount) || discount < 0 || discount >= 1) {
    abort("argument", c(
      "{.arg discount} must be one number of at least 0 and below 1, not {describe(discount)}.",
      i = "0 is the Dirichlet process, as {.fn prior_dp} has it."
    ))
  }
  discount <- as.double(discount)
  above <- function(x, arg, call) check_concentration(x, arg, -discount, call = call)
  new_prior("py", names(match.call()), list(concentration = above))
}

# Checks a concentration: a number above `lower`, or a gamma_prior() with which the concentration is learned.
check_concentration <- function(x, arg, lower = 0, strict = TRUE, call = rlang::caller_env()) {
  if (inherits(x, "bnp_gamma_prior")) check_gamma_prior(x, arg, call) else check_number(x, arg, lower, strict, call)
}

prior_checks <- list(
  k = check_count, concentration = check_concentration, gamma = check_concentration, alpha = check_concentration,
  start = check_concentration,
  sticky = function(x, arg, call) check_concentration(x, arg, strict = FALSE, call = call)
)

# Checks the numbers in a gamma_prior(), which the user may have changed by hand.
sound_gamma_prior <- function(x, arg, call) {
  parameters <- as.list(unclass(x))[c("shape", "rate")]
  for (name in c("shape", "rate")) check_number(parameters[[name]], paste0(arg, "$", name), call = call)
  check_ranges(parameters, call)
  x
}

# Checks a gamma_prior() of a concentration: its density must not be infinite at 0, so its shape must be at
# least 1.
check_gamma_prior <- function(x, arg, call) {
  sound_gamma_prior(x, arg, call)
  check_range(x[["shape"]], paste0(arg, "$shape"), c(1, parameter_ranges$shape[2L]), call)
  x
}

#' @rdname priors
#' @export
gamma_prior <- function(shape = 2, rate = 1, ...) {
  check_no_dots(...)
  parameters <- list(shape = check_number(shape, "shape"), rate = check_number(rate, "rate"))
  structure(unlist(check_ranges(parameters, rlang::current_env())), class = "bnp_gamma_prior")
}

#' @export
format.bnp_gamma_prior <- function(x, ...) {
  paste0("Gamma(", paste(signif(x[c("shape", "rate")], 3), collapse = ", "), ")")
}

#' @export
print.bnp_gamma_prior <- function(x, ...) {
  mean <- x[["shape"]] / x[["rate"]]
  cat("Gamma prior: ", format(x), ", mean ", signif(mean, 3), "\n", sep = "")
  invisible(x)
}

#' @rdname priors
#' @export
prior_dirichlet <- function(k, concentration = 1, ...) {
  check_no_dots(...)
  new_prior("dirichlet", names(match.call()), replace(prior_checks, "concentration", list(check_number)))
}

#' @rdname priors
#' @export
prior_hdp <- function(gamma = 10, alpha = 0.5, ...) {
  check_no_dots(...)
  new_prior("hdp", names(match.call()))
}

#' @rdname priors
#' @export
prior_lda <- function(k, alpha = 0.5, ...) {
  check_no_dots(...)
  new_prior("lda", names(match.call()))
}

#' @rdname priors
#' @export
prior_hdp_hmm <- function(gamma = 10, alpha = 0.5, start = 10, sticky = 0, ...) {
  no_places <- "States that come and go have no places in a matrix: give {.arg transitions} and {.arg fixed} to
    {.fn prior_hmm}. With more states than needed, {.code left_to_right(k, skip = TRUE)} leaves some of them empty."
  check_no_dots(..., notes = c(transitions = no_places, fixed = no_places))
  new_prior("hdp_hmm", names(match.call()))
}

#' @rdname priors
#' @export
prior_ibp <- function(alpha = 1, ...) {
  check_no_dots(...)
  new_prior("ibp", names(match.call()))
}

#' @rdname priors
#' @export
prior_beta_bernoulli <- function(k, alpha = 1, ...) {
  check_no_dots(...)
  new_prior("beta_bernoulli", names(match.call()))
}

# The table of priors of clusters. Each entry has the title for print(); the constructor; the function that
# takes it (`verb`), which gives the fit its class; whether the proportions of all groups share a level above
# them (`top_level`, to which `bnp_control(bound =)` refers); `class`, the class of its fits if they have a
# separate one; `learns`, the parameters that may be a gamma_prior().
prior_models <- list(
  dp = list(
    title = "Dirichlet process", constructor = "prior_dp", verb = "bnp_mixture", learns = "concentration",
    network = "blocks"
  ),
  py = list(title = "Pitman-Yor process", constructor = "prior_py", verb = "bnp_mixture", learns = "concentration"),
  dirichlet = list(title = "Finite Dirichlet", constructor = "prior_dirichlet", verb = "bnp_mixture"),
  covariates = list(
    title = "Weights by covariates", constructor = "prior_covariates", verb = "bnp_mixture",
    class = "bnp_mixture_by_covariates"
  ),
  topic_covariates = list(title = "Proportions by covariates", constructor = "prior_covariates", verb = "bnp_topics"),
  hdp = list(
    title = "Hierarchical Dirichlet process", constructor = "prior_hdp", verb = "bnp_topics", top_level = TRUE,
    learns = c("gamma", "alpha"), network = "overlapping"
  ),
  lda = list(
    title = "Latent Dirichlet allocation", constructor = "prior_lda", verb = "bnp_topics", learns = "alpha"
  ),
  hdp_hmm = list(
    title = "Sticky HDP", constructor = "prior_hdp_hmm", verb = "bnp_hmm", top_level = TRUE,
    learns = c("gamma", "alpha", "start", "sticky")
  ),
  hmm_covariates = list(
    title = "Transitions by covariates", constructor = "prior_covariates", verb = "bnp_hmm", top_level = TRUE,
    class = "bnp_hmm_by_covariates"
  ),
  hmm = list(
    title = "Finite", constructor = "prior_hmm", verb = "bnp_hmm", learns = c("alpha", "start", "sticky")
  ),
  ibp = list(title = "Indian buffet process", constructor = "prior_ibp", verb = "bnp_features", learns = "alpha"),
  beta_bernoulli = list(
    title = "Finite Beta-Bernoulli", constructor = "prior_beta_bernoulli", verb = "bnp_features", learns = "alpha"
  )
)

prior_entry <- function(prior) prior_models[[prior$family]]

# Names of the parameters of a prior that are learned, because they were given as a gamma_prior().
learned_names <- function(prior) names(prior)[vapply(prior, inherits, NA, "bnp_gamma_prior")]

prior_makers <- function(verbs, has = function(entry) TRUE) {
  offered <- Filter(function(entry) entry$verb %in% verbs && has(entry), prior_models)
  vapply(offered, function(entry) entry$constructor, "", USE.NAMES = FALSE)
}

# Names of the constructors of priors for networks, in which each node is in one community ("blocks") or in
# several ("overlapping").
network_prior_makers <- function(kinds = c("blocks", "overlapping")) {
  prior_makers(names(cluster_words), function(entry) isTRUE(entry$network %in% kinds))
}

has_blocks <- function(prior) prior_entry(prior)$network == "blocks"

# Whether a prior's constructor requires the number of clusters k.
is_finite_prior <- function(entry) identical(formals(entry$constructor)$k, quote(expr = ))

# Checks a prior that a user gave. verbs: the name of the function to which it was given, and of other
# functions whose priors this function accepts.
check_prior <- function(prior, verbs, call) {
  check_class(prior, "bnp_prior", "prior", prior_makers(verbs), call)
  entry <- prior_entry(prior)
  if (!entry$verb %in% verbs) {
    abort("argument", c(
      "{.arg prior} of {.fn {verbs[1L]}} must be made by {.or {.fn {prior_makers(verbs)}}}, not
       {.fn {entry$constructor}}.",
      i = "{.fn {entry$constructor}} is for {.fn {entry$verb}}."
    ), call = call)
  }
}

#' @export
format.bnp_prior <- function(x, ...) {
  shown <- intersect(c(names(formals(prior_entry(x)$constructor)), "positions"), names(x))
  if (identical(x$family, "covariates")) shown <- setdiff(shown, setdiff(of_transitions, x$of_sequences))
  if (identical(x$family, "topic_covariates")) shown <- setdiff(shown, c("start", "sticky"))
  paste0(prior_entry(x)$title, ": ", format_fields(x, shown), if (has_places(x)) paste0("; ", described_cells(x)))
}

#' @export
print.bnp_prior <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
