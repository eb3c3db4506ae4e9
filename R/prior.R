#' What is believed: priors of the allocation
#'
#' The prior of the weights of clusters (mixtures), of topics in documents, and
#' of the transitions between states. Finite models are priors like any other.
#'
#' @details
#' * `prior_dp()`: Dirichlet process mixture; the number of clusters is open.
#' * `prior_dirichlet()`: finite mixture of `k` clusters, weights from a
#'   symmetric Dirichlet distribution with total weight `concentration`.
#' * `prior_hdp()`: hierarchical Dirichlet process; topics are shared, every
#'   document has its own proportions.
#' * `prior_lda()`: latent Dirichlet allocation with `k` topics, total weight
#'   `alpha` per document.
#' * `prior_hdp_hmm()`: hidden Markov model with an open number of states;
#'   `sticky` favours staying in a state.
#' * `prior_hmm()`: hidden Markov model with `k` states.
#'
#' Concentrations from 1e-50 to 1e50 are taken, `alpha`, `start` and `sticky` up
#' to 1e6, and also their shares of `k` clusters must be in that range: beyond it,
#' numbers lose their digits. Within it the bound of one cluster is right to eight
#' digits.
#'
#' @param concentration Dirichlet process concentration, or the total weight of
#'   the Dirichlet prior. Larger values expect more clusters of equal size.
#' @param k Number of clusters, topics or states.
#' @param gamma Concentration of the top level: how many topics or states.
#' @param alpha Concentration of the lower level: how much each document or
#'   each row of transitions resembles the average.
#' @param start Concentration of the distribution of the first state.
#' @param sticky Extra weight of staying in a state; 0 for none.
#' @return An object of class `bnp_prior`, to be given as `prior`.
#' @examples
#' prior_dp(concentration = 2)
#' prior_dirichlet(3)
#' @name priors
NULL

new_prior <- function(family, ...) {
  parameters <- check_ranges(list(family = family, ...), rlang::caller_env())
  structure(parameters, class = c("bnp_prior", "list"))
}

#' @rdname priors
#' @export
prior_dp <- function(concentration = 1) {
  new_prior("dp", concentration = check_number(concentration, "concentration"))
}

#' @rdname priors
#' @export
prior_dirichlet <- function(k, concentration = 1) {
  new_prior(
    "dirichlet",
    k = check_count(k, "k"), concentration = check_number(concentration, "concentration")
  )
}

#' @rdname priors
#' @export
prior_hdp <- function(gamma = 10, alpha = 0.5) {
  new_prior("hdp", gamma = check_number(gamma, "gamma"), alpha = check_number(alpha, "alpha"))
}

#' @rdname priors
#' @export
prior_lda <- function(k, alpha = 0.5) {
  new_prior("lda", k = check_count(k, "k"), alpha = check_number(alpha, "alpha"))
}

#' @rdname priors
#' @export
prior_hdp_hmm <- function(gamma = 10, alpha = 0.5, start = 10, sticky = 0) {
  new_prior(
    "hdp_hmm",
    gamma = check_number(gamma, "gamma"), alpha = check_number(alpha, "alpha"),
    start = check_number(start, "start"), sticky = check_number(sticky, "sticky", strict = FALSE)
  )
}

#' @rdname priors
#' @export
prior_hmm <- function(k, alpha = 0.5, start = 10, sticky = 0) {
  new_prior(
    "hmm",
    k = check_count(k, "k"), alpha = check_number(alpha, "alpha"),
    start = check_number(start, "start"), sticky = check_number(sticky, "sticky", strict = FALSE)
  )
}

prior_titles <- c(
  dp = "Dirichlet process", dirichlet = "Finite Dirichlet",
  hdp = "Hierarchical Dirichlet process", lda = "Latent Dirichlet allocation",
  hdp_hmm = "Sticky HDP", hmm = "Finite"
)

#' @export
format.bnp_prior <- function(x, ...) {
  paste0(prior_titles[[x$family]], ": ", format_fields(x))
}

#' @export
print.bnp_prior <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
