#' Observation models
#'
#' An observation model is the distribution of the observations of one cluster, topic or state, with the prior of its
#' parameters. If a parameter of the prior is `NULL`, a weak default is read from the data when the model is fitted; it
#' is printed with the fit and stored in `fit$model$obs`. If a parameter has one value for each column, values with
#' names are matched to the columns by name.
#'
#' @details
#' Each model has a page of its own, with its arguments and an example:
#'
#' `r obs_overview()`
#'
#' @section Learned priors:
#' With `learn = TRUE` the prior of further clusters is learned from the clusters found so far. For Gaussian clusters
#' the fit learns where their means are, how wide they are and in which directions, and how much they differ in this.
#' More clusters are then found, above all in data with many columns, where the default of `scale` has no information
#' about the shape that clusters share.
#'
#' `obs_gaussian()` has a hierarchical model. Let c be the column medians and v the variances of the columns, computed
#' so that outliers do not count.
#' * `mean` is normal around c with variances v.
#' * `mean_strength` is Gamma(0.25, 0.025).
#' * `df - D + 1` is one of 1, 2, 4, ..., 2048.
#' * `scale` is `df` times the sum of a random matrix and of a diagonal one, the floor. The random matrix is diagonal,
#'   with Gamma(0.25, 0.25 / v) entries, or has a Wishart distribution with D + 1, D + 2, D + 4, ..., or D + 512 degrees
#'   of freedom, with scales that are learned, too. The floor is the variance of rounding, if values of a column repeat
#'   with one spacing, and at least a millionth of v.
#'
#' All choices have equal weights. (`"diagonal"` and `"spherical"`: with 1 for D and diagonal matrices only;
#' `"zero_mean"`: without means, and with mean squares for v.) The objective is a lower bound on the log evidence of
#' this model: it can be compared with bounds under given priors and under other covariances. Its term `hyperprior` is
#' minus the divergence of the posterior of the hyperparameters from their prior. `fit$model$obs` has point values of
#' the prior, which describe the clusters afterwards: the posterior means of the hyperparameters, with their uncertainty
#' included in `scale`.
#'
#' `obs_regression()` and `obs_ar()` have the same model for the covariance of the noise. `coef_precision` is a diagonal
#' matrix times a number with the same prior as `mean_strength`; the matrix has the mean squares of the regressors (for
#' an intercept 1; around the centre of the data if there is an intercept). `coef_mean` is normal around its default,
#' each row with v times the inverse of that matrix as its covariance. For regressions v are the variances of the
#' responses, computed as above; for autoregressions they are the variances of the differences of successive rows.
#'
#' `obs_bernoulli()` and `obs_categorical()`: in each column the shares of levels (of ones and zeros) have a
#' Dirichlet(1/2, ..., 1/2) distribution. The weight of a level is its share times the strength of the prior, which is
#' the same for all columns: one of 1/8, 1/4, ..., 128, with equal probabilities (`prior_strength` in `fit$model$obs`).
#' Here, too, the objective is a lower bound on the log evidence of the hierarchical model.
#'
#' Stochastic learning does not keep the sums from which a prior is learned: it refuses `learn = TRUE`, and by default
#' uses a given prior. The defaults of `mean_strength`, `df` and `scale` described among the arguments are those of
#' given priors.
#'
#' @section Ranges:
#' Parameters outside these ranges are refused, since the bound would then be right to fewer than about eight digits:
#' `term_prior` from 1e-8 to 1e50, `a` and `b` from 1e-10 to 1e50, `shape` from 0.001 to 1e6, `mean_strength` from 1e-50
#' to 1e50, `df` up to 1e8 and at least 1e-10 above its lower limit.
#'
#' Other ranges depend on the data. Relative to the squared spread of a column, `scale` may be from 1e-10 to 1e50,
#' `variance` from 1e-8 to 1e50 and `coef_precision` from 1e-16 to 1e50. With m the column medians,
#' `mean_strength * (mean - m)^2` and the diagonal of `coef_mean %*% coef_precision %*% t(coef_mean)` may be up to about
#' 1e8 times `scale`, and the largest eigenvalue of `scale` up to about 1e8 times the smallest. These ranges are checked
#' for parameters that are given, not for defaults.
#'
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#'
#' @seealso [priors] for how observations are shared out; *Choosing priors* on the site,
#'   *The mathematics* on the site.
#' @examples
#' obs_gaussian()
#' obs_poisson(a = 2)
#' obs_product(obs_gaussian("diagonal"), obs_categorical())
#' @name observation_models
NULL

# The facts of an observation model. Each model has one such list in its own file R/obs-<name>.R; what it does
# are methods of the generics in R/obs-generics.R. Arguments:
#   title           its name in print()
#   constructor     name of the function that users call; several models may share one
#   class           classes whose methods it has, in addition to its own class, obs_<family>
#   values          what its data hold, in two or three words
#   verbs           names of the functions that take it
#   refusal         the error where obs_supports() is FALSE: c(class = , must = , remedy = ), read as "x must
#                   <must>"; NULL: all numbers are valid, and the likelihood is a density
#   takes_sparse    whether it uses sparse matrices without converting them
#   counts_tokens   whether columns are terms of a vocabulary and values numbers of tokens. Then a document is
#                   one row, rows of one document are added up, and terms that new data lack have count 0.
#   kind            kind of columns that go to it as a block of a product (obs_product()) if the block names
#                   none: "number", "level", or several (column_kind()); "pair": none, pairs must be named;
#                   "formula": its formula names them; NULL: it cannot be a block
#   gaps            which values of a row may be missing. "cells": any, NA in the engine's data. Coded as 0 in
#                   the engine's data: "levels", any; "pairs", of columns; "rows", all or none. NULL: none
#   working         fields that obs_resolve() adds for the engine and that print() does not show
#   parameters      axes of each of the constructor's arguments that may have a value for each column:
#                   "columns" or others of obs_axes(). Where users give names, values are matched by them. A
#                   matrix has two axes; a vector in its place has the first.
#   arrays          axes of each array of coef() and posterior_params(): "clusters", "columns" or others of
#                   obs_axes()
#   location        name of the array of coef() that says where clusters are (clusters x columns, or x another
#                   axis); for a product one name for each block; NULL: no array does
#   as_series       whether it makes sense to draw each column as a line over time
#   hidden          whether rows are seen through noise, so that clusters explain unobserved states. Fits and
#                   their readers are then those of R/lds-fit.R.
new_obs_facts <- function(title, constructor, values, arrays, class = constructor,
                          verbs = c("bnp_mixture", "bnp_topics", "bnp_hmm", "bregman_kmeans"), refusal = NULL,
                          takes_sparse = FALSE, counts_tokens = FALSE, kind = NULL, gaps = NULL,
                          working = character(), parameters = list(), location = NULL, as_series = FALSE,
                          hidden = FALSE) {
  stopifnot(
    vapply(arrays, function(axes) sum(axes == "clusters") == 1L, NA), is.null(location) || location %in% names(arrays),
    is.null(refusal) || setequal(names(refusal), c("class", "must", "remedy"))
  )
  lapply(rlang::set_names(names(formals())), get, envir = environment())
}

# The table of observation models that describe rows directly, by family. R loads the files obs-*.R, which
# define its entries, before this file.
obs_models <- list(
  gaussian_full = model_gaussian_full,
  gaussian_diagonal = model_gaussian_diagonal,
  gaussian_zero_mean = model_gaussian_zero_mean,
  gaussian_spherical = model_gaussian_spherical,
  gaussian_tied_spherical = model_gaussian_tied_spherical,
  gaussian_tied_diagonal = model_gaussian_tied_diagonal,
  gaussian_tied = model_gaussian_tied,
  lognormal_full = model_lognormal_full,
  lognormal_diagonal = model_lognormal_diagonal,
  ar = model_ar,
  multinomial = model_multinomial,
  bernoulli = model_bernoulli,
  poisson = model_poisson,
  waiting_time = model_gamma,
  shaped_gamma = model_shaped_gamma,
  von_mises = model_von_mises,
  negative_binomial = model_negative_binomial,
  censored = model_survival,
  binomial = model_binomial,
  regression = model_regression,
  random_effects = model_random_effects,
  binomial_regression = model_binomial_regression,
  negbinomial_regression = model_negbinomial_regression,
  categorical = model_categorical,
  product = model_product,
  weibull = model_weibull,
  censored_weibull = model_censored_weibull,
  student_full = model_student_full,
  student_diagonal = model_student_diagonal
) |> lapply(function(facts) do.call(new_obs_facts, facts))

# The observation model of links between pairs of nodes, which only bnp_network() takes.
network_models <- list(links = do.call(new_obs_facts, model_links))

# The table of observation models in which rows are seen through noise; obs_models has those that describe
# rows directly.
hidden_models <- list(lds = do.call(new_obs_facts, model_lds))

# Placeholders from which a fit chooses one of several models (R/obs-gaussian-auto.R). The fit keeps only the
# chosen model.
choice_models <- list(gaussian_auto = do.call(new_obs_facts, model_gaussian_auto))
is_choice <- function(obs) identical(obs$family, names(choice_models))

# The classes of an observation model, which determine its methods. A model whose clusters move over time
# (drift) has class obs_drifting instead of the classes of the model without drift, which standing() returns.
# A model whose values may be 0 has class obs_with_zeros before those of the model of positive values
# (R/obs-zeros.R).
obs_class <- function(obs) {
  own <- if ("drift" %in% names(obs)) "obs_drifting" else
    c(paste0("obs_", obs$family), obs_facts.default(obs)$class)
  unique(c(if (isTRUE(obs$zeros)) "obs_with_zeros", own, "bnp_obs", "list"))
}

# Whether x is an observation model whose class agrees with its fields. A model that a user has changed by
# hand may have a wrong class, and so the wrong methods.
is_obs <- function(x) {
  is.list(x) && rlang::is_string(x[["family"]]) && !is.null(obs_facts.default(x)) &&
    identical(class(x), obs_class(x)) && all(vapply(x$blocks, is_obs, NA))
}

refuse_changed <- function(arg, call) {
  abort("argument", c(
    "{.arg {arg}} is not as its constructor made it: its class and its fields do not go together.",
    i = "Give arguments to the constructor in place of changing fields. Objects made by another version of the package
         must be made again."
  ), call = call)
}

# Whether the clusters of this observation model move over time (argument `drift`).
has_drift <- function(obs) inherits(obs, "obs_drifting")

# Names of the constructors of observation models: of those with these properties (makers_of); of those for
# which `has(facts)` is TRUE (obs_makers); of those with an argument (makers_with); and of those with a method
# for a generic of R/obs-generics.R (makers_that_can).
makers_of <- function(facts) unique(vapply(facts, function(facts) facts$constructor, "", USE.NAMES = FALSE))
obs_makers <- function(has) makers_of(Filter(has, c(obs_models, hidden_models, network_models)))
makers_with <- function(argument) obs_makers(function(facts) argument %in% names(formals(facts$constructor)))
makers_that_can <- function(what) {
  makers_of(obs_models[vapply(names(obs_models), function(family) obs_can(new_obs(family), what), NA)])
}

verb_makers <- function(verb) obs_makers(function(facts) verb %in% facts$verbs)
token_makers <- function() obs_makers(function(facts) facts$counts_tokens)

# Checks an observation model that a user gave. verb: the name of the function to which it was given.
check_obs <- function(obs, verb, call = rlang::caller_env()) {
  check_class(obs, "bnp_obs", "obs", verb_makers(verb), call)
  if (!is_obs(obs)) refuse_changed("obs", call)
  facts <- obs_facts(obs)
  if (!verb %in% facts$verbs && has_drift(obs)) {
    abort("argument", c(
      "{.arg drift} of {.fn {facts$constructor}} is not for {.fn {verb}}.",
      i = "Rows at times go to {.code {facts$verbs}(x, obs = {facts$constructor}(drift = 0.5), time = )}."
    ), call = call)
  }
  if (!verb %in% facts$verbs && has_effects(obs)) {
    bad_random("Random effects are of individuals in clusters, by {.fn {facts$verbs}}, not for {.fn {verb}}.",
      "Leave {.arg random} out.", call)
  }
  if (!is.null(obs$keywords)) need_taker_of_keywords(verb, obs, call)
  if (!verb %in% facts$verbs && is_choice(obs)) {
    kinds <- kinds_to_fit(verb, obs)
    if (length(kinds)) require_ability(kinds, "auto_covariance", call)
    abort("argument", c(
      "{.code covariance = \"auto\"} of {.fn {facts$constructor}} is not for {.fn {verb}}.", i = choose_covariance
    ), call = call)
  }
  if (!verb %in% facts$verbs && facts$constructor %in% verb_makers(verb)) {
    abort("argument", c(
      "{.fn {facts$constructor}} with these arguments ({facts$title}) is not for {.fn {verb}}.",
      i = "Such a model is for {.fn {facts$verbs}}."
    ), call = call)
  }
  if (!verb %in% facts$verbs) {
    abort("argument", c(
      "{.arg obs} of {.fn {verb}} must be made by {.or {.fn {verb_makers(verb)}}}, not {.fn {facts$constructor}}.",
      i = "{.fn {facts$constructor}} is for {.fn {facts$verbs}}."
    ), call = call)
  }
  if (!is.null(obs$formula)) {
    takes_formula <- exists(paste0(verb, ".formula"))
    abort("formula", c(
      "{.arg formula} of {.fn {facts$constructor}} is for blocks of a product.",
      i = if (takes_formula) {
        "Give it to {.fn {verb}}, as in {.code {verb}({shown_columns(obs)}, data)}, or make a product of it."
      } else {
        "Give {.fn {verb}} a matrix of the response and the covariates, in this order, or make a product of it."
      }
    ), call = call)
  }
}

# Constructors as links in a sentence, and (obs_overview) a table of all observation models, for help pages.
maker_links <- function(makers) sub("(.*), ", "\\1 or ", paste0("[", makers, "()]", collapse = ", "))

obs_overview <- function() {
  all <- c(obs_models, hidden_models)
  facts <- all[!duplicated(vapply(all, function(facts) facts$constructor, ""))]
  rows <- vapply(facts, function(facts) {
    paste0(
      "| [", facts$constructor, "()] | ", facts$values, " | ", if (facts$takes_sparse) "yes" else "no", " | ",
      paste0("[", facts$verbs, "()]", collapse = ", "), " |"
    )
  }, "")
  paste(c("| Model | Data | Sparse matrices | Functions |", "|---|---|---|---|", rows), collapse = "\n")
}

new_obs <- function(family, ...) {
  parameters <- check_ranges(list(family = family, ...), rlang::caller_env())
  structure(parameters, class = obs_class(parameters))
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

# The fields of an observation model or a prior as text on one line; fields with default values are marked as
# such.
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
  facts <- obs_facts(x)
  if (!is.null(x$blocks)) {
    blocks <- vapply(x$blocks, function(block) {
      columns <- if (is.null(named_columns_of(block))) "" else paste0(" (", shown_columns(block), ")")
      paste0(columns, ": ", format(structure(block[!names(block) %in% c("columns", "formula")], class = class(block))))
    }, "")
    return(paste0("Product of ", paste0(names(blocks), blocks, collapse = "; ")))
  }
  hidden <- c("family", "gaps", "repeated", facts$working, if (!any(x$rounding > 0)) "rounding")
  paste0(facts$title, ": ", format_fields(x, setdiff(names(x), hidden)))
}

#' @export
print.bnp_obs <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
