# Counts of terms: each cluster has a probability of each term.

#' Words and other counts with a total
#'
#' Counts of terms, such as the words of documents: each cluster, topic or state has a distribution over the terms, and
#' the number of tokens of a row is known and not modelled. With [bnp_mixture()] each row has one cluster, as for short
#' texts; with [bnp_topics()] it has several topics.
#'
#' A topic cannot be limited to a number of words: under such a prior a word that a topic has lost would never come
#' back, as each step of the fit would find it impossible there. With a small `term_prior` topics use few words, and
#' [top_terms()] lists the most important ones.
#'
#' @inheritParams obs_gaussian
#' @param term_prior Dirichlet weight of each term: one number, or one for each term. `NULL`, the default: learned while
#'   fitting by memoized or full learning; otherwise 0.1 (in streams, in stochastic learning, and in draws that do not
#'   begin from a fit, which need a given prior). If it is learned, a term has the weight `even + common * share`, where
#'   the shares of terms have a posterior: thus clusters need not each learn which terms are frequent everywhere. The
#'   objective is a lower bound on the evidence of this hierarchical model and can be compared with bounds of given
#'   priors (not if `weights` are not whole numbers, which `print()` says). `even` and `common` are powers of two,
#'   `term_prior_even` and `term_prior_common` in `fit$model$obs`. `term_prior` there has the mean weights, with which
#'   new data are predicted.
#' @param keywords Words by which some topics (or clusters of short texts) are named before they are learned: a list of
#'   character vectors with names, also nested (names are then joined by `"."`), or a quanteda dictionary. In a word,
#'   `*` stands for any letters and `?` for one letter. See *Keywords*.
#' @param keyword_share The expected share of keywords among the tokens of a named topic: one number between 0 and 1 for
#'   all lists, or `NULL`, the default: for each list 0.02 or, if that is larger, twice the share of its keywords among
#'   all tokens (at most 0.5). It has little influence on large vocabularies. On those of a few dozen terms a number far
#'   below the true share can give the names to topics that hardly use the keywords.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @section Keywords:
#'   With `keywords`, the name of each list is the name of one topic. All other topics are open, and with
#'   [prior_hdp()] or [prior_dp()] their number is learned as usual. The words of a named topic have a prior of two
#'   levels (a Dirichlet tree: Dennis, 1991; Andrzejewski, Zhu and Craven, 2009): the share of its keywords is Beta(1,
#'   1 / s - 1) with mean s, the expected share (`keyword_share`); given that a token is a keyword, the probabilities
#'   of keywords are uniform; the other words have the prior of any topic. Hundreds of tokens outweigh this prior:
#'   keywords determine which topic is meant, and where it starts. Among many open topics, which take over parts of
#'   the same subject, a named topic becomes narrow. `predict(type = "label")` sorts documents into the named subjects
#'   by all topics that use the keywords, open ones too ([predict.bnp_topics()]). A named topic keeps its name through
#'   births, merges and deletes, and two named topics are never joined. A name moves to another topic if that raises
#'   the ELBO. The ELBO is a bound given the choice of named topics; compare it only between fits with the same lists.
#'
#'   Beside `labels` of documents or rows, a list and a label that are called the same are about one topic (cluster):
#'   its owner is the label, and its words have the prior of the list. Any other list names a topic that no label owns.
#'
#'   A pattern is matched to the terms of `x` as written; if nothing matches, both are matched in lower case. A word
#'   that is matched twice in one list counts once; a word may be in two lists. If no word of a list occurs in the data,
#'   its topic starts with uniform word probabilities. Named topics have their names in [fitted()][fitted.bnp_topics()],
#'   `predict()` and `coef()`, and are marked in [top_terms()]. `summary()` says by how many nats
#'   the log evidence of each named topic is higher with its keywords than without; below 0 the documents do
#'   not use these words together.
#' @seealso [observation_models] for all models; [bnp_topics()], [top_terms()]; [obs_poisson()] if the sums of rows
#'   differ between clusters; `vignette("topics")`.
#' @examples
#' obs_multinomial(term_prior = 0.5)
#' learned <- obs_multinomial(term_prior = NULL)
#' quick <- bnp_control(seed = 1, max_laps = 10, restarts = 1)
#' fit <- bnp_topics(whales$counts, learned, control = quick)
#' unlist(fit$model$obs[c("term_prior_even", "term_prior_common")])
#' @export
obs_multinomial <- function(term_prior = NULL, columns = NULL, keywords = NULL, keyword_share = NULL, ...) {
  check_no_dots(...)
  prior <- list(term_prior = if (!is.null(term_prior)) check_positive(term_prior, "term_prior"))
  do.call(new_obs, c("multinomial", prior, columns_field(columns), keyword_fields(keywords, keyword_share)))
}

# The prior weight of each term, if it is neither given nor learned.
given_term_prior <- 0.1

# Completes the model. If the term prior is learned, it starts where an earlier fit ended, or near 0.06 for
# every term plus one token per term, distributed by the terms' frequencies, for what clusters have in common.
# From a half or a third of that, fits of speeches end with 2 topics instead of 20, and with a lower bound.
obs_resolve.obs_multinomial <- function(obs, data, start, call) {
  if (has_keywords(obs)) obs <- with_matched_keywords(obs, data, call)
  if (!isTRUE(obs$learn)) {
    obs$term_prior <- obs$term_prior %||% given_term_prior
    return(resolve_fields(obs, "term_prior", data$d, call))
  }
  tokens <- data$totals %||% column_totals(data) # of all documents of a source
  before <- if (inherits(start, "bnp_fit")) start$model$obs
  if (length(before$hyper_share) == data$d) {
    learned <- c("term_prior", "term_prior_even", "term_prior_common", "hyper_share")
    obs[learned] <- before[learned]
    return(obs)
  }
  obs$term_prior_even <- 2^-4
  obs$term_prior_common <- 2^min(max(round(log2(data$d)), -2), 13)
  obs$hyper_share <- 0.5 + obs$term_prior_common * tokens / max(sum(tokens), 1e-300)
  obs$term_prior <- obs$term_prior_even + obs$term_prior_common * obs$hyper_share / sum(obs$hyper_share)
  obs
}

# The number of tokens in a simulated row: by default the average in the data.
row_total <- function(total, fit, call) {
  check_count(total %||% max(1, round(fit$input$mean_total)), "total", lower = 0L, call = call)
}

model_multinomial <- list(
  title = "Multinomial", constructor = "obs_multinomial", values = "counts", kind = "number", gaps = "rows",
  refusal = refused_counts(
    "Use raw counts, not weights or proportions. Measurements take another {.arg obs}, such as {.fn obs_gaussian}."
  ), takes_sparse = TRUE,
  counts_tokens = TRUE,
  working = c("hyper_share", "learn", "keyword", "keyword_list", "expected_share", "keyword_class"),
  parameters = list(term_prior = "columns"),
  arrays = list(concentration = c("clusters", "columns"), prob = c("clusters", "columns")), location = "prob"
)

obs_supports.obs_multinomial <- function(obs, values) are_counts(values)

obs_keep.obs_multinomial <- function(obs, data) {
  list(mean_total = sum(column_totals(data)) / max(1, sum(times_weights(has_values(data), data$weights))))
}

obs_learned.obs_multinomial <- function(obs) {
  if (isTRUE(obs$learn) || !is.null(obs$hyper_share)) {
    list(by = "term_prior = NULL", numbers = c("term_prior_even", "term_prior_common"))
  }
}

obs_given.obs_multinomial <- function(obs) list(total = row_total)

obs_quantiles.obs_multinomial <- function(obs) {
  list(prob = function(q, p) drop(dirichlet_quantile(p, t(q$concentration))))
}

obs_draw_rows.obs_multinomial <- function(obs, q, rows, given) {
  prob <- stats::rgamma(length(q$concentration), q$concentration)
  t(stats::rmultinom(length(rows), given$total, prob))
}

obs_moments.obs_multinomial <- function(obs, q, given) {
  n <- given$total
  all <- sum(q$concentration)
  prob <- q$concentration / all
  list(mean = n * prob, var = n * prob * (1 - prob) * (n + all) / (1 + all))
}

obs_divergence.obs_multinomial <- function(obs, a, b) sum(a$prob * log(a$prob / b$prob))
obs_overlap.obs_multinomial <- function(obs, a, b) sum(sqrt(a$prob * b$prob))
obs_marginals.obs_multinomial <- function(obs, means) {
  lapply(means$prob, function(prob) list(kind = "share", mean = prob))
}
obs_picture.obs_multinomial <- function(obs, fit, data) heat_picture(fit)
