#' What is observed: observation models
#'
#' An observation model says what one cluster, topic or state produces. Each is
#' a conjugate exponential family with its prior. `NULL` asks for a weak default
#' that is read from the data when the model is fitted, printed with the fit
#' and stored in `fit$model$obs`. Values with names, one for each column, are
#' matched to the columns by them.
#'
#' @details
#' `r obs_overview()`
#'
#' @section Ranges:
#' Parameters are taken where numbers keep their digits, so that the bound is right
#' to about eight of them: `term_prior` from 1e-8 to 1e50, `a` and `b` from 1e-10 to 1e50,
#' `shape` from 0.001 to 1e6,
#' `mean_strength` from 1e-50 to 1e50, `df` up to 1e8 and by 1e-10 above its limit.
#' Beside the data, `scale` is taken from 1e-10 to 1e50, `variance` from 1e-8 to 1e50 and
#' `coef_precision` from 1e-16 to 1e50 times the squared spread of a column; `mean_strength * (mean - m)^2`
#' with m the column medians, and the diagonal of
#' `coef_mean %*% coef_precision %*% t(coef_mean)`, up to about 1e8 times `scale`,
#' which must be as far from singular. Of these only parameters that are given are
#' refused, not defaults.
#'
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#'
#' Fox, E., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). Bayesian nonparametric
#' inference of switching dynamic linear models. *IEEE Transactions on Signal Processing*
#' 59(4), 1569-1585.
#'
#' Minka, T. P. (2000). *Estimating a Dirichlet distribution*. Technical report, MIT; for the
#' learned `term_prior`.
#' @seealso [priors] for how observations are shared out; `vignette("choosing-priors")`,
#'   `vignette("the-mathematics")`.
#' @examples
#' obs_gaussian()
#' obs_gaussian("diagonal", scale = 2)
#' obs_multinomial(term_prior = 0.5)
#' learned <- obs_multinomial(term_prior = NULL)
#' fit <- bnp_topics(whales$counts, learned, control = bnp_control(seed = 1, max_laps = 10))
#' unlist(fit$model$obs[c("term_prior_even", "term_prior_common")])
#' @order 1
#' @name observation_models
NULL

# What R knows about an observation model is one entry of a table. All other files ask the entry and never for a model
# by its name, so that a model that is in the table is offered everywhere. An entry has these fields; a model's own file
# R/obs-<name>.R lists those that differ from the defaults of new_obs_entry().
#
# Who offers it
#   title           its name in print()
#   constructor     name of the function that users call; several entries may share one
#   verbs           names of the functions that take it
#   values          what its data hold, in two or three words
# Its data
#   support         function(values): can the model produce each of these finite numbers?
#   refusal         the error where it cannot: c(class = , must = , remedy = ), read as "x must <must>"
#   conditions      function(x, arg, call): refuses a matrix whose columns do not go together as the model wants
#   density         is the likelihood a density? Else it is a probability, and bounds of the two do not compare.
#   takes_sparse    are sparse matrices taken as they are?
#   kind            kind of the columns that it takes as a block of a product which names none: "number", "level", or
#                   several (column_kind()); "pair": of none, pairs must be named; "formula": its formula names them;
#                   NULL: it cannot be a block
#   gaps            which values of a row may be missing: "cells", any, NA in the engine's data; or 0 there, which says
#                   nothing: "levels", any; "pairs", of columns; "rows", all or none. NULL: none
#   read            function(x, obs, arg, call, na_action): the numbers that stand for the columns of a table, a matrix
#                   with names and an attribute `frame`, which is in the internal form what `resolve` needs to know of
#                   the columns; NULL: columns are numbers
#   exposure        function(obs): what gives each row its exposure (see R/exposure.R): the name of a column, numbers,
#                   TRUE when a fit had numbers, or NULL: rows have none
#   counts_tokens   are columns terms of a vocabulary and values numbers of tokens? Then a document is one row, rows of
#                   one document are added up, and terms that new data lack have count 0.
#   lag             function(obs): number of preceding rows that a row is conditioned on. Rows of a model with a lag are
#                   sequences in time, in mixtures too.
#   keep            function(data): list of what a fit keeps of its data, in fit$input, for `given`
# Its prior
#   resolve         function(obs, data, start, call): obs with a number for every NULL. `start`: of the fit, or NULL.
#   working         fields that resolve() adds for the engine's use and that print() does not show
#   learned         function(obs): the argument by which the constructor was asked to learn the prior while fitting, as
#                   code; NULL: the prior is given
#   responses       function(obs): numbers of the columns that are modelled given the others, covariates; NULL: all are
#                   modelled
#   begin_again     function(obs, k): the model as it is to be fitted once more where k clusters were found; the better
#                   fit is kept. NULL: it is not
#   learned_numbers single numbers that are learned then, which print() and glance() show
#   parameters      axes of each of the constructor's arguments that may have a value for each column: "columns" or
#                   those named by `axes`; where users give names, values are matched by them. A matrix has two axes; a
#                   vector in its place has the first.
# Its parameters
#   arrays          axes of each array of coef() and posterior_params(): "clusters", "columns" or those named by `axes`
#   axes            function(obs, columns): list of the names along further axes
#   location        name of the array of coef() that says where clusters are (clusters x columns, or x another axis); of
#                   a product one for each block; NULL: none does
#   terms           function(obs, columns): data frame of the columns `variable` and `level` ("" where a column has
#                   none), one row for each column of the array `location`
#   shown           function(obs, arrays): arrays as coef() and posterior_params() show them
#   layout          function(obs): what statistics of clusters depend on beside the number of columns, which an earlier
#                   fit must share to be a start
#   of_obs          function(obs): list of further fields, which depend on the model; NULL: none do
# What is made of them
#   given           what draws are conditioned on: a list named by arguments of simulate(), each a
#                   function(value, fit, call) that completes the argument, NULL included
#   quantiles       list named by arrays of coef(), each function(q, p): quantiles at the probability p of the marginal
#                   posterior of each element, in a cluster with posterior parameters q, in the shape of the array's
#                   part for one cluster; NA for elements that are known, or are said elsewhere in it
#   draw            function(obs, clusters, path, lengths, given): rows of sequences of these lengths, one after the
#                   other, row i from the cluster path[i]; `clusters` has the posterior parameters of each cluster in
#                   the shape of the prior's, from which the parameters of a cluster are drawn once
#   predictive_cdf  function(obs, parameters, data): posterior predictive probability of a value of at most x_ij, rows x
#                   columns, in a cluster with these parameters; NULL: not known
#   moments         function(q, given): list(mean, var), mean and variance of each column under the posterior predictive
#                   of a cluster with posterior parameters q; NULL for models with a lag, whose `coef` and `cov` are
#                   iterated
#   conditional     of columns that depend on each other in a cluster: list(predictive = function(obs, q, x), a list of
#                   `location` (rows x modelled columns), `scale` (a matrix), `spread` (its factor in each row) and `df`
#                   of a Student-t; parameters = function(obs, q, x), `location` and `cov` of a Gaussian by one draw of
#                   the cluster's parameters), which fill in what is missing; NULL: `moments` and `draw` do
#   divergence      function(a, b): Kullback-Leibler divergence, of a row or a token, of the cluster with
#                   parameters `a` (its part of coef()) from that with `b`; NULL: has no closed form
#   as_frame        function(obs, x): drawn rows with the types of the columns of the training data; NULL: as numbers
#   marginals       function(means): list by column of its distribution in one cluster: list(kind = "number", mean, sd),
#                   list(kind = "count", mean), list(kind = "time", mean), exponential, list(kind = "share", mean), of
#                   all tokens, or list(kind = "levels", prob), probabilities by level; NULL: no profile
#   measure         function(obs): what the exponential of a bound is; NULL: said by `support` and `counts_tokens`
#   overlap         function(a, b): Bhattacharyya coefficient of the same two; NULL: has no closed form
#   picture         function(fit, data): clusters as cluster_picture() describes them; NULL: none
#   as_series       is each column worth drawing as a line over time?
#   at_time         function(q, slot): posterior parameters of a cluster at one of its times, as those of a cluster that
#                   stays where it is; NULL: all do
#   hidden          are rows seen through noise, so that what clusters explain are states that nobody saw? Fits and
#                   readers of fits are then those of R/lds-fit.R.
#   shrinks         may clusters shrink to single values that are repeated in the data?
new_obs_entry <- function(title, constructor, values, resolve, arrays, draw,
                          verbs = c("bnp_mixture", "bnp_topics", "bnp_hmm", "bregman_kmeans"),
                          support = function(values) TRUE, refusal = NULL,
                          conditions = function(x, arg, call) NULL, density = is.null(refusal),
                          takes_sparse = FALSE, kind = NULL, gaps = NULL, read = NULL, exposure = function(obs) NULL,
                          counts_tokens = FALSE, lag = function(obs) 0L, keep = function(data) list(),
                          working = character(), learned = function(obs) NULL, begin_again = function(obs, k) NULL,
                          responses = NULL, learned_numbers = character(), parameters = list(),
                          axes = function(obs, columns) list(), location = NULL,
                          terms = plain_terms, shown = function(obs, arrays) arrays, layout = function(obs) NULL,
                          of_obs = NULL, quantiles = list(), given = list(),
                          predictive_cdf = NULL, moments = NULL, conditional = NULL, divergence = NULL, overlap = NULL,
                          as_frame = NULL, marginals = NULL, measure = NULL, picture = NULL, as_series = FALSE,
                          at_time = NULL, shrinks = FALSE, hidden = FALSE) {
  entry <- lapply(rlang::set_names(names(formals())), get, envir = environment())
  functions <- c(
    "resolve", "draw", "support", "conditions", "exposure", "lag", "keep", "learned", "begin_again", "axes", "terms",
    "shown", "layout"
  )
  stopifnot(
    vapply(entry[functions], is.function, NA), vapply(given, is.function, NA), vapply(quantiles, is.function, NA),
    names(quantiles) %in% names(arrays),
    is.null(predictive_cdf) || is.function(predictive_cdf), is.null(divergence) == is.null(overlap),
    is.null(picture) || is.function(picture),
    vapply(arrays, function(axes) sum(axes == "clusters") == 1L, NA), is.null(location) || location %in% names(arrays),
    missing(support) == is.null(refusal), is.null(refusal) || setequal(names(refusal), c("class", "must", "remedy"))
  )
  entry
}

plain_terms <- function(obs, columns) data.frame(variable = columns, level = rep("", length(columns)))

# R reads the files obs-*.R before this one.
obs_models <- list(
  gaussian_full = model_gaussian_full,
  gaussian_diagonal = model_gaussian_diagonal,
  gaussian_zero_mean = model_gaussian_zero_mean,
  gaussian_spherical = model_gaussian_spherical,
  gaussian_tied_spherical = model_gaussian_tied_spherical,
  gaussian_tied_diagonal = model_gaussian_tied_diagonal,
  gaussian_tied = model_gaussian_tied,
  ar = model_ar,
  multinomial = model_multinomial,
  bernoulli = model_bernoulli,
  poisson = model_poisson,
  waiting_time = model_gamma,
  censored = model_survival,
  binomial = model_binomial,
  regression = model_regression,
  categorical = model_categorical,
  product = model_product
) |> lapply(function(fields) do.call(new_obs_entry, fields))

# Of pairs of nodes, not of rows: no verb of the others takes them.
network_models <- list(links = do.call(new_obs_entry, model_links))

# Of rows that are seen through noise: not for models of rows as they are, to which the other table is.
hidden_models <- list(lds = do.call(new_obs_entry, model_lds))

# The entry of an observation model, as its constructor made it or as a fit keeps it. Nothing else looks into the table
# for a model.
obs_entry <- function(obs) {
  entry <- obs_models[[obs$family]] %||% hidden_models[[obs$family]] %||% network_models[[obs$family]]
  if (is.null(entry$of_obs)) {
    return(entry)
  }
  own <- entry$of_obs(obs)
  entry[names(own)] <- own
  entry
}

obs_lag <- function(obs) obs_entry(obs)$lag(obs)

# Constructors of the entries for which `has(entry)` is TRUE.
obs_makers <- function(has) {
  unique(vapply(Filter(has, c(obs_models, hidden_models)), function(entry) entry$constructor, "", USE.NAMES = FALSE))
}

verb_makers <- function(verb) obs_makers(function(entry) verb %in% entry$verbs)
token_makers <- function() obs_makers(function(entry) entry$counts_tokens)
cdf_makers <- function() obs_makers(function(entry) !is.null(entry$predictive_cdf))

# `verb`: the name of the function that was given `obs`.
check_obs <- function(obs, verb, call = rlang::caller_env()) {
  check_class(obs, "bnp_obs", "obs", verb_makers(verb), call)
  entry <- obs_entry(obs)
  if (!verb %in% entry$verbs && has_drift(obs)) {
    abort("argument", c(
      "{.arg drift} of {.fn {entry$constructor}} is not for {.fn {verb}}.",
      i = "Rows at times go to {.code {entry$verbs}(x, obs = {entry$constructor}(drift = 0.5), time = )}."
    ), call = call)
  }
  if (!verb %in% entry$verbs) {
    abort("argument", c(
      "{.arg obs} of {.fn {verb}} must be made by {.or {.fn {verb_makers(verb)}}}, not {.fn {entry$constructor}}.",
      i = "{.fn {entry$constructor}} is for {.fn {entry$verbs}}."
    ), call = call)
  }
  if (!is.null(obs$formula)) {
    abort("formula", c(
      "{.arg formula} of {.fn {entry$constructor}} is for blocks of a product.",
      i = "Give it to {.fn {verb}}, as in {.code {verb}({shown_columns(obs)}, data)}, or make a product of it."
    ), call = call)
  }
}

# For help pages: constructors in a sentence, and a table of all.
maker_links <- function(makers) sub("(.*), ", "\\1 or ", paste0("[", makers, "()]", collapse = ", "))

obs_overview <- function() {
  all <- c(obs_models, hidden_models)
  entries <- all[!duplicated(vapply(all, function(entry) entry$constructor, ""))]
  rows <- vapply(entries, function(entry) {
    paste0(
      "| `", entry$constructor, "()` | ", entry$values, " | ", if (entry$takes_sparse) "yes" else "no", " | ",
      paste0("[", entry$verbs, "()]", collapse = ", "), " |"
    )
  }, "")
  paste(c("| Model | Data | Sparse matrices | Functions |", "|---|---|---|---|", rows), collapse = "\n")
}

new_obs <- function(family, ...) {
  parameters <- check_ranges(list(family = family, ...), rlang::caller_env())
  structure(parameters, class = c("bnp_obs", "list"))
}

check_positive <- function(x, arg, call = rlang::caller_env()) {
  if (is.null(x)) {
    abort("argument", "{.arg {arg}} must be positive, not NULL.", call = call)
  }
  x <- check_vector(x, arg, call)
  if (any(x <= 0)) {
    abort("argument", c(
      "{.arg {arg}} must be positive; {cli::qty(sum(x <= 0))}element{?s} {places(which(x <= 0))}
       {cli::qty(sum(x <= 0))}{?is/are} not."
    ), call = call)
  }
  storage.mode(x) <- "double"
  x
}

# Fields of an observation model or a prior on one line, defaults named.
format_fields <- function(x, fields) {
  one <- function(v) {
    if (is.null(v)) {
      "(from the data)"
    } else if (is.character(v)) {
      places(v)
    } else if (inherits(v, "formula")) {
      paste(deparse(v), collapse = " ")
    } else if (is.list(v) && !is.object(v)) {
      format_fields(v, names(v) %||% as.character(seq_along(v)))
    } else if (inherits(v, "bnp_gamma_prior")) {
      format(v)
    } else if (is.matrix(v)) {
      d <- diag(v)
      range <- paste(unique(format(range(d), digits = 3, trim = TRUE)), collapse = " to ")
      paste0(nrow(v), " x ", ncol(v), ", diagonal ", range)
    } else if (length(unique(v)) == 1L) {
      format(v[[1]], digits = 3)
    } else if (length(v) <= 4L) {
      paste0("(", paste(signif(v, 3), collapse = ", "), ")")
    } else {
      paste0(length(v), " values, ", signif(min(v), 3), " to ", signif(max(v), 3))
    }
  }
  paste(fields, vapply(fields, function(f) one(x[[f]]), ""), sep = " = ", collapse = ", ")
}

#' @export
format.bnp_obs <- function(x, ...) {
  entry <- obs_entry(x)
  if (!is.null(x$blocks)) {
    blocks <- vapply(x$blocks, function(block) {
      columns <- if (is.null(named_columns_of(block))) "" else paste0(" (", shown_columns(block), ")")
      paste0(columns, ": ", format(structure(block[!names(block) %in% c("columns", "formula")], class = class(block))))
    }, "")
    return(paste0("Product of ", paste0(names(blocks), blocks, collapse = "; ")))
  }
  paste0(entry$title, ": ", format_fields(x, setdiff(names(x), c("family", "gaps", "repeated", entry$working))))
}

#' @export
print.bnp_obs <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
