#' Weights of clusters, proportions of topics and transitions of states that depend on covariates
#'
#' Which cluster an observation belongs to may depend on something else that is known of it, such as age or a group: the
#' weights of the clusters are then functions of these covariates, while the distributions within clusters are not. Such
#' models are known by the names concomitant variables, gating functions or multinomial logit memberships.
#'
#' @details
#' Given the covariates \eqn{w} of an observation, the probability of cluster k is
#' \deqn{p(z = k | w) = \pi_k e^{w'\lambda_k} / (\sum_l \pi_l e^{w'\lambda_l} + \pi_{rest}),}
#' where \eqn{\pi} follows a Dirichlet process with this `concentration`. \eqn{\pi_{rest}} is the weight that is left
#' for clusters not found yet, which covariates do not change. With `k`, \eqn{\pi} has a symmetric Dirichlet
#' distribution of `k` clusters with this total weight, and nothing is left. The effects \eqn{\lambda_k} are independent
#' normal, with mean 0 and standard deviation `effect_scale`. Effects do not depend on the order of clusters. Without
#' covariates (`~ 1`) the prior is [prior_dp()] or [prior_dirichlet()], and the bound is the same, so that fits with and
#' without covariates can be compared by their bounds.
#'
#' Numeric terms of `formula`, also columns of splines and polynomials, are centred and scaled to a standard deviation
#' of 1 (if rows have weights, by sums that are divided by the total weight). A factor, text or a logical variable has
#' an indicator for each of its levels, without a reference level, so that neither the order nor the names of levels
#' matter; a variable with many levels is thereby a random effect. Terms that are constant in the training data are left
#' out, with a message.
#'
#' Rows with the same covariates have one *covariate pattern*, and everything that depends on covariates is computed
#' once for each pattern. If there are more than 4,096 patterns, numeric variables are rounded for the fit, to the means
#' of groups of equal weight, and a message says so; bounds of fits with different roundings cannot be compared.
#' Predictions use covariates as they are.
#'
#' Formulas may use what [model.matrix()] takes: interactions, `splines::ns(age, 3)`, `poly(age, 2)`, `log(income)`.
#' Splines, polynomials and [scale()] are kept with the fit, so that new data get the same columns. Other functions must
#' give each row a value that depends on no other row: a fit with `x - mean(x)` or `cut(x, 3)` refuses new covariates.
#' Dates, times and durations are numbers.
#'
#' In new data, the effects of a new level of a factor have their prior distribution: mean 0, with the full uncertainty.
#'
#' @section Sequences:
#' With [bnp_hmm()] each row of transitions depends on covariates in the same way: the probability of going from state j
#' to state k, into a row with covariates \eqn{w}, is
#' \deqn{p(z_t = k | z_{t-1} = j, w_t) = \pi_{jk} e^{w_t'\lambda_{jk}} / (\sum_l \pi_{jl} e^{w_t'\lambda_{jl}} +
#' \pi_{j,rest}),}{p(k | j, w) = pi_jk exp(w'lambda_jk) / (sum_l pi_jl exp(w'lambda_jl) + pi_j,rest),}
#' where \eqn{\pi_j} has the prior of [prior_hdp_hmm()] with `gamma = concentration`, `alpha`, `start` and `sticky`, or
#' with `k` the prior of [prior_hmm()]. Without covariates (`~ 1`) the model and its bound are those of that prior.
#' First states do not depend on covariates.
#'
#' The covariates are those of the row that is *stepped into*, as in moveHMM and momentuHMM. The package depmixS4 uses
#' those of the row that is stepped from: to compare, shift the columns by one row within each sequence. In the formula,
#' `previous(x1, x2)` stands for columns of `x` in the row before, so that transitions can depend on the last
#' observation; in the first row of a sequence it is their mean over all rows. When states of new sequences are
#' predicted, a new level of a factor has no effect.
#'
#' Each different combination of values of the covariates is a *pattern*. If there are more than 256, numeric variables
#' are rounded: to at most 64 values if there is one such variable, 32 if there are two, 16 if there are more, and to
#' fewer as long as there are more than 1,024 patterns. What depends on covariates is shown by [transition_matrix()] and
#' [long_run()], which take the covariates to look at, [prevalence()], and `plot(fit, "transitions", by = )`.
#'
#' @param formula A one-sided formula of the covariates on which the weights depend, such as `~ age + sex`.
#' @param concentration For mixtures, the concentration as in [prior_dp()], or with `k` as in [prior_dirichlet()]; for
#'   topics, `gamma` of [prior_hdp()]; for sequences, `gamma` of [prior_hdp_hmm()].
#' @param effect_scale Prior standard deviation of effects. An effect is the change of the log of a ratio of weights
#'   when a numeric covariate increases by one standard deviation.
#' @param k Number of clusters or states, if it is fixed. Default: it is learned. The number of topics is always
#'   learned.
#' @param alpha For topics, `alpha` of [prior_hdp()]; for sequences, `alpha` of [prior_hdp_hmm()].
#' @param start,sticky For sequences: as in [prior_hdp_hmm()].
#' @param ... Must be empty.
#' @section Topics:
#'   In [bnp_topics()] the proportions of a document with covariates \eqn{w} come from a Dirichlet distribution with
#'   parameters \eqn{\alpha \pi_k e^{w'\lambda_k}}{alpha pi_k exp(w'lambda_k)}; covariates do not change the weight
#'   \eqn{\pi} of topics not found yet (Mimno and McCallum, 2008, with the top level of [prior_hdp()]). Covariates
#'   determine which topics are frequent in which documents. They also change the sum of the parameters: the smaller it
#'   is, the more documents with the same covariates differ. Effects have a variational posterior like that of mixtures.
#'   The bound is always the tight one: without covariates it is that of [prior_hdp()] with
#'   `bnp_control(bound = "tight")`, and no `bound` can be chosen. There are at most 1,024 patterns (different
#'   combinations of covariates).
#' @return An object of class `bnp_prior`, to be given as `prior` of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#'   These functions take the covariates from their argument `covariates`, from `data`, from columns of `x` or, for
#'   topics, from the document variables of a quanteda `dfm`. Read the fit by [prevalence()].
#' @references
#' Dayton, C. M. and Macready, G. B. (1988). Concomitant-variable latent-class models. *Journal of the American
#' Statistical Association* 83, 173-178.
#'
#' Mimno, D. and McCallum, A. (2008). Topic models conditioned on arbitrary features with Dirichlet-multinomial
#' regression. *Uncertainty in Artificial Intelligence* 24, 411-418.
#'
#' Zucchini, W., MacDonald, I. L. and Langrock, R. (2016). *Hidden Markov models for time series*, 2nd edition. CRC
#' Press; transitions that depend on covariates in chapter 10.
#' @seealso [prevalence()], [long_run()], [bnp_mixture()], [bnp_topics()], [bnp_hmm()], [priors].
#' @examples
#' fit <- bnp_mixture(
#'   iris[1:2],
#'   prior = prior_covariates(~ Species), covariates = iris["Species"], control = bnp_control(seed = 1)
#' )
#' prevalence(fit, by = "Species")
#' @export
prior_covariates <- function(formula, concentration = 1, effect_scale = 1, k = NULL, alpha = 0.5, start = 10,
                             sticky = 0, ...) {
  check_no_dots(...)
  if (missing(formula) || !inherits(formula, "formula") || length(formula) != 2L) {
    abort("covariates", c(
      "{.arg formula} must be a one-sided formula, like {.code ~ age + sex}, not
       {if (missing(formula)) 'missing' else describe(formula)}.",
      i = if (!missing(formula) && length(formula) == 3L) "What clusters look like is said by {.arg x} and {.arg obs}."
    ))
  }
  terms <- tryCatch(stats::terms(formula), error = function(e) NULL)
  if (!is.null(attr(terms, "offset"))) {
    abort("covariates", "{.arg formula} must not have an {.fn offset}: weights have no one response to shift.")
  }
  check_bars(formula, rlang::current_env())
  given <- setdiff(names(match.call()), c("", "formula", if (is.null(k)) "k"))
  out <- new_prior("covariates", given, list(
    concentration = check_number, effect_scale = check_number, k = check_count, alpha = check_number,
    start = check_number, sticky = function(x, arg, call) check_number(x, arg, strict = FALSE, call = call)
  ))
  out$of_sequences <- intersect(given, of_transitions)
  if (is.null(k)) out$k <- NULL # the engine asks whether it is there
  structure(out, class = c("bnp_prior_covariates", class(out)))
}

of_transitions <- c("alpha", "start", "sticky")

# Adapts a prior with covariates to sequences: previous(a, b) in its formula becomes previous_a + previous_b,
# and the field `previous` holds the names of the columns a and b.
for_sequences <- function(prior) {
  if (!has_covariates(prior)) {
    return(prior)
  }
  prior$family <- "hmm_covariates"
  prior$previous <- unique(unlist(previous_in(prior$formula[[2L]])))
  prior$formula[[2L]] <- without_previous(prior$formula[[2L]])
  prior
}

previous_names <- function(columns) if (length(columns)) paste0("previous_", columns)

previous_in <- function(e) {
  if (rlang::is_call(e, "previous")) {
    if (length(e) < 2L || !all(vapply(as.list(e)[-1L], is.name, NA))) {
      abort("covariates", "{.fn previous} takes names of columns of the rows: {.code previous(speed, angle)}.")
    }
    return(vapply(as.list(e)[-1L], as.character, ""))
  }
  if (is.call(e)) lapply(as.list(e)[-1L], previous_in)
}

without_previous <- function(e) {
  if (rlang::is_call(e, "previous")) {
    return(Reduce(function(a, b) call("+", a, b), lapply(previous_names(previous_in(e)), as.name)))
  }
  if (is.call(e)) e[-1L] <- lapply(as.list(e)[-1L], without_previous)
  e
}

# Refuses arguments about transitions of sequences in fits of mixtures and topics. takes: arguments of
# sequences that the calling function accepts nevertheless.
need_no_transitions <- function(prior, call, takes = character()) {
  if (has_covariates(prior) && length(unlist(previous_in(prior$formula[[2L]])))) {
    abort("covariates", "{.fn previous} in {.arg formula} is for sequences ({.fn bnp_hmm}).", call = call)
  }
  wrong <- setdiff(prior$of_sequences, takes)
  if (length(wrong)) {
    abort("argument", c(
      "{.arg {wrong}} of {.fn prior_covariates} {?is/are} for sequences ({.fn bnp_hmm}).",
      i = "{.arg concentration} is that of clusters."
    ), call = call)
  }
}

has_covariates <- function(prior) inherits(prior, "bnp_prior_covariates")

# The number of covariate patterns (combinations of covariate values) of a model; 0 without covariates. The
# prior of a fit has, in addition to its arguments, `design` (R/covariate-design.R) and the covariates of each
# pattern.
n_patterns_of <- function(model) model$prior$n_patterns %||% 0L

# The number of covariate patterns by which each cluster counts its rows, in its last features. 0 for
# sequences, where transitions are counted by pattern instead.
counted_patterns <- function(model) if (identical(model$prior$family, "hmm_covariates")) 0L else n_patterns_of(model)
