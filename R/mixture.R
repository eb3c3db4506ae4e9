#' Fit a mixture
#'
#' Finds clusters and, with the default Dirichlet process prior, their number.
#'
#' @param x Observations: a numeric vector, a matrix, a data frame, a source of rows on disk ([source_files()]), a
#'   one-sided formula with `data`, or a sparse matrix for
#'   [observation models][observation_models] that take one. A formula with a response is
#'   for [obs_regression()], which then is the default of `obs`. For [obs_ar()] the
#'   rows are a series in time, or `x` is a list of series.
#' @param obs What a cluster produces: `r maker_links(verb_makers("bnp_mixture"))`.
#'   Default: [obs_gaussian()]; for a data frame with factors, text or logical
#'   columns, see *Data frames*.
#'   With [obs_ar()] a cluster is a way to get from the rows before to the next
#'   row. The first `lag` rows of a series are conditioned on: they have no
#'   likelihood of their own, and take the cluster of the first row that has. To let clusters last, use [bnp_hmm()].
#' @param prior [prior_dp()], [prior_py()] or [prior_dirichlet()]; [prior_covariates()] for weights that depend on
#'   covariates. With `time` also [prior_hdp()], then the default, and
#'   [prior_lda()].
#' @param control [bnp_control()].
#' @param start Where to start, instead of a random start: one label per
#'   observation, a matrix of responsibilities (observations x clusters, rows
#'   summing to 1), or an earlier fit of the same columns in the same order (to
#'   these or other data, with no more clusters than a finite prior has). Also a
#'   clustering of another package: an object with labels in `cluster` or
#'   `clustering`, as of [kmeans()], or one of mclust. Its cluster 0 is noise, as in
#'   dbscan: these observations start as one cluster of their own, with a message, and
#'   from there go where the model has them.
#' @param weights How often each row counts: one number from 0 a row, or the name of a column, see *Weights*. With
#'   names, here and in `labels`, `start`, `id` and `time`, values go by the names of rows, or of individuals, see
#'   [bnpvi].
#' @param labels What is known of the rows' classes: one label a row, `NA` where it is not
#'   known, the name of a column, or a logical matrix (rows x classes) of the classes that each row may belong
#'   to, see *Known labels*.
#' @param id Which rows are repeated measurements of the same individual, whose cluster they share: one value a
#'   row, of any class (see [bnpvi]), or the name of a column of `x` or `data` (`"chick"`, or `~ chick`), which then
#'   is no variable. `y ~ x | chick` is short for `y ~ x` with `id = ~ chick`. See *Repeated measures*.
#' @param time For clusters that drift ([obs_gaussian()] with `drift`): when each row was, a number or a date for
#'   each row, or the name of a column of `x` or `data` (`"week"`, or `~ week`), which then is no variable. Rows
#'   may come in any order, and many at the same time. See *Clusters over time*.
#' @param gaps How much clusters drift from one time to the next: `"equal"`, as much between any two neighbouring times
#'   that have rows; `"time"`, in proportion to the time that passes, in the unit of `time` (days, for dates).
#' @param covariates For [prior_covariates()]: a data frame with a row for each row of `x` (or for each individual) and
#'   the columns that its formula names; rows are matched by names where both have names. Default: the columns of
#'   `data`, or of `x`, in which case clusters are not made of these columns.
#' @param data A data frame with the variables of the formula, a source ([source_files()]) or a stream of such
#'   ([bnp_stream()]). Columns that `weights`, `labels`, `id` and `time` name are no variables unless the formula names
#'   them. A string (`"week"`) or a formula (`~ week`) names a column, and so does a bare name (`week`); with `data` an
#'   expression (`week %/% 4`) is evaluated with the columns of `data` before the variables of the calling scope, as in
#'   [lm()].
#' @inheritParams missing_values
#' @inheritSection missing_values Missing values
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#'
#' @return An object of class `c("bnp_mixture", "bnp_fit")`, a plain list
#'   that keeps few data ([strip_data()]). Clusters are numbered by decreasing size. See [elbo()],
#'   [n_clusters()], [predict.bnp_mixture()], [coef.bnp_fit()],
#'   [plot.bnp_mixture()].
#'
#' @section Data frames:
#'   Without `obs`, the columns of a data frame go to blocks by their kind: numbers to
#'   [obs_gaussian()], factors, text and logical columns to [obs_categorical()], and a frame with both to their
#'   [obs_product()]. The blocks are printed with the fit. Numbers have full covariances; more than
#'   50 of them beside other columns are taken as independent within a cluster, which is said. Whole numbers of which
#'   there are two, as 0 and 1, are levels, which is said; other whole numbers are numbers: for counts give
#'   `obs_product(obs_poisson(columns = "visits"), obs_gaussian(), obs_categorical())`. A model that is given overrules
#'   this. Columns of other packages' classes are what they hold, missing where `is.na()` says so; 64-bit integers are
#'   taken up to 2^53. Dates, times, units and lists are
#'   refused, and so are text and factors with a level for nearly every row. See `vignette("mixed-data-frames")`.
#'
#' @section Weights:
#'   A row of weight w counts as w rows that share one cluster: all sums over rows are
#'   weighted, and so is the bound, which is one on
#'   \eqn{\log \int p(\theta, \pi) \prod_n p(x_n | \theta, \pi)^{w_n}}. With whole weights the fit is that of the
#'   data in which each row is written as often, defaults of priors included.
#'   A row of weight 0 is left out of the fit, and still has a cluster in [fitted()]. Sizes
#'   of clusters and [nobs()] are sums of weights.
#'
#'   Weights are an amount of evidence: twice the weights are twice the data, and find more
#'   clusters. Frequencies are right as they are. Sampling weights should be scaled to sum
#'   to the number of rows, `w * length(w) / sum(w)`: as they come, their sum is the
#'   size of a population, of which nobody has seen so much. They are for rows that are independent given their
#'   cluster, not for [obs_ar()].
#'
#' @section Known labels:
#'   Each class of `labels` owns clusters, one to begin with. A row with a label belongs to clusters of its
#'   class only; a row without one to any cluster. Clusters that are split leave parts of the
#'   same class; clusters are joined where both have the same class, or one has none; and a class keeps at least one
#'   cluster. Unlabelled rows begin in a cluster of no class, so that classes which nobody has
#'   labelled may be found. The bound is one on the log probability of
#'   data and labels, and is compared with that of fits with the same labels only.
#'
#'   `predict(type = "label")` gives classes, `"label_prob"` their probabilities. With `start`
#'   the clusters are owned by the classes of their rows. Without it, each
#'   class and the unlabelled rows begin with one cluster, so that `k_init` and `restarts` have no meaning; a
#'   second fit begins with the classes as their labelled rows have them, and the better one is returned. A finite
#'   prior needs at least as many clusters as there are classes. [cluster_tree()] joins clusters within classes.
#'
#' @section Repeated measures:
#'   With `id`, all rows of an individual belong to one cluster and are independent of each other
#'   given that cluster. What is shared out among the clusters are individuals: the prior, the
#'   entropy and [cluster_sizes()] count each of them once, however many rows it has. Parameters of
#'   clusters are estimated from all rows, and [nobs()] is the number of rows, which may come in any
#'   order. Defaults of priors are read from the rows, too, as a cluster's covariance is that of rows and not of
#'   individuals' means; only the share of the variance that a Gaussian cluster is expected to have goes by the number
#'   of individuals, since so many can be told apart. [fitted()], [predict()] and [augment()] give every row the
#'   cluster of its individual. Fits with and without `id` are compared by [compare_fits()].
#'
#'   `weights`, `labels` and `start` have one value for each individual, in the order in which
#'   individuals first appear (or of the levels, where `id` is a factor), or one for each row, the
#'   same in all rows of an individual; of `labels` some may be `NA` beside others.
#'
#'   Individuals that differ by more than the noise within their cluster, as growth curves do, are shared out among many
#'   clusters, as if there were as many kinds. Random effects let them differ: *Growth curves*.
#'
#'   Rows that are left out for missing values have the cluster of their individual.
#'   `na_action = "model"` needs columns that are independent given the cluster, or rows without any
#'   response. `id` is not for [obs_ar()]. What an individual's rows add to the statistics of a
#'   cluster is added up before the fit, which takes as many numbers for each individual as these
#'   statistics have: with full covariances of \eqn{D} columns about \eqn{D^2/2}.
#'
#' @section Growth curves:
#'   `bnp_mixture(y ~ t + (1 + t | id), data)` clusters individuals by how `y` goes with `t`, where each individual
#'   has an
#'   intercept and a slope of its own around those of its cluster: `(1 | id)` an intercept only. It is the same as
#'   `obs_regression(random = ~ 1 + t)` with `id = ~ id`, see *Random effects* of [obs_regression()]. Each individual is
#'   in one cluster. `predict(fit, newdata, "individual")` predicts the rows of individuals from their other rows,
#'   `predict(fit, type = "effects")` has their coefficients, `plot(fit, "trajectories", data = data)` draws them.
#'   A missing response (`na_action = "model"`) is left out of its individual's sums, which loses nothing.
#'
#' @section Clusters over time:
#'   With `obs_gaussian(drift = )` and `time` the mean of a cluster takes a random step between neighbouring times, of
#'   `drift` times the cluster's own covariance: \eqn{\theta_1 | \Lambda \sim N(m, (\kappa\Lambda)^{-1})},
#'   \eqn{\theta_{t+1} = \theta_t + N(0, \tau_t \Lambda^{-1})}, rows at t are \eqn{N(\theta_t, \Lambda^{-1})}, with one
#'   precision \eqn{\Lambda} at all times. `mean`, `mean_strength`, `df` and `scale` are of the first time. All times
#'   are learned from together, and the bound is one on the evidence of them all.
#'
#'   With [prior_hdp()] or [prior_lda()] each time has its own weights of the clusters, which all share: clusters come,
#'   vanish and return. With the other priors the weights are the same at all times. A cluster is the same at all its
#'   times, and [fitted()] says so. [trajectories()] has where each was when, and from when to when it was alive;
#'   `plot(fit)` draws it. Where the paths of two clusters cross, which of them is which afterwards is a guess, the more
#'   so the larger the drift and the fewer rows a time has.
#'
#'   [predict()] and [augment()] ask about rows at times that the fit has seen. Missing values can be left out
#'   (`na_action = "omit"`). `weights` and `labels` go with weights that are the same at all times. `id` does not, nor
#'   do streams, [bnp_sample()], [cluster_tree()] and [impute()]. Where weights go by time a batch has whole times.
#' @details With [obs_multinomial()] a row is a sequence of tokens: the
#'   multinomial coefficient, which does not depend on the clusters, is left out of
#'   the bound and of log densities. With all other observation models these are of
#'   the data as they are: densities of real numbers, probabilities of counts and binary data.
#'   Fits compare within each of these three kinds, see [compare_fits()].
#' @references
#' Blei, D. M. and Jordan, M. I. (2006). Variational inference for Dirichlet process mixtures.
#' *Bayesian Analysis* 1(1), 121-143.
#'
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#' @seealso [bnp_topics()] for groups of observations, [bnp_hmm()] for sequences, [bnp_stream()] for data in batches;
#'   [predict.bnp_mixture()], [plot.bnp_mixture()], [read_fit]; `vignette("getting-started")`,
#'   `vignette("how-many-clusters")`, `vignette("from-mclust")`,
#'   `vignette("mixtures-of-regressions")`.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' fit
#' table(fitted(fit))
#' predict(fit, data.frame(eruptions = 2, waiting = 55), type = "prob")
#'
#' # A table of frequencies
#' hair <- as.data.frame(HairEyeColor)
#' bnp_mixture(hair[1:3], weights = hair$Freq, control = bnp_control(seed = 1))
#'
#' # Twelve plants, each measured seven times
#' plants <- bnp_mixture(uptake ~ log(conc) | Plant, CO2, control = bnp_control(seed = 1))
#' plants
#' unique(data.frame(CO2[c("Plant", "Type", "Treatment")], cluster = fitted(plants)))
#'
#' # Thirty irises are known
#' known <- replace(iris$Species, -seq(1, 150, by = 5), NA)
#' some <- bnp_mixture(iris[1:4], labels = known, control = bnp_control(seed = 1))
#' table(predict(some, type = "label"), iris$Species, useNA = "ifany")
#' @export
bnp_mixture <- function(x, ...) {
  UseMethod("bnp_mixture")
}

#' @rdname bnp_mixture
#' @export
bnp_mixture.default <- function(x, obs = NULL, prior = prior_dp(), control = bnp_control(),
                                start = NULL, na_action = c("fail", "model", "omit"), weights = NULL,
                                labels = NULL, id = NULL, time = NULL, gaps = c("equal", "time"),
                                covariates = NULL, ...) {
  if (...length()) control <- control_with(control, ...)
  call <- rename_call(match.call())
  beside <- NULL
  given_x <- x
  if (any(c("weights", "labels", "id", "time", "gaps") %in% names(call))) {
    read_arguments(rlang::enquos(weights = weights, labels = labels, id = id, time = time), x, "x")
    gaps <- check_gaps_of_times(gaps, time)
    if (missing(prior) && !is.null(time)) prior <- prior_hdp()
    here <- rlang::current_env()
    split <- if (is.null(id)) list(x = x) else split_id(x, id, "x", here)
    when <- if (is.null(time)) split["x"] else split_row_times(split$x, time, "x", here)
    count <- if (is.null(weights)) when["x"] else split_argument(when$x, weights, "weights", here)
    class <- if (is.null(labels)) count["x"] else split_argument(count$x, labels, "labels", here)
    x <- class$x
    beside <- list(weights = count$value, labels = class$value, id = split, time = when, gaps = gaps)
  }
  na_action <- if (missing(na_action)) "fail" else check_na_action(na_action)
  said <- list(x = x)
  if (!is.null(covariates) || inherits(prior, "bnp_prior_covariates")) {
    said <- split_covariates(x, covariates, prior, given_x, rlang::current_env())
  }
  fit_mixture(said$x, obs, prior, control, start, call, na_action, beside, covariates = said$covariates)
}

#' @rdname bnp_mixture
#' @export
bnp_mixture.formula <- function(x, data = NULL, obs = NULL, prior = prior_dp(),
                                control = bnp_control(), start = NULL,
                                na_action = c("fail", "model", "omit"), weights = NULL, labels = NULL, id = NULL,
                                time = NULL, gaps = c("equal", "time"), covariates = NULL, ...) {
  here <- rlang::current_env()
  if (missing(control) && inherits(data, "bnp_stream")) control <- bnp_control("truncation_free")
  if (...length()) control <- control_with(control, ...)
  x <- stats::formula(x) # of terms()
  read_arguments(rlang::enquos(weights = weights, labels = labels, id = id, time = time), data)
  na_action <- if (inherits(data, "bnp_stream")) action_of_stream(start, if (!missing(na_action)) na_action) else
    check_na_action(na_action)
  gaps <- check_gaps_of_times(gaps, time)
  if (missing(prior) && !is.null(time)) prior <- prior_hdp()
  call <- rename_call(match.call())
  if (inherits(data, "bnp_stream")) {
    given <- list(weights = weights, labels = labels, id = id, time = time)
    require_abilities(kinds_of_form("stream", "mixture"), given, here)
    return(fit_stream("bnp_mixture", data, obs, prior, control, start, na_action, call, here, formula = x))
  }
  if (inherits(data, "bnp_source")) {
    given <- list(weights = weights, labels = labels, id = id, time = time)
    require_abilities(kinds_of_form("source", "mixture"), given, here)
    return(fit_source("bnp_mixture", data, obs, prior, control, start, na_action, call, NULL, x))
  }
  with_random <- split_random(x, here)
  obs <- obs_with_random(obs, with_random$random, with_random$independent, here)
  split <- split_formula_id(with_random$formula, data, id_of_random(with_random$id, id, x, here), here)
  when <- split_formula_argument(split$formula, split$data, time, "time", here)
  count <- split_formula_argument(split$formula, when$x, weights, "weights", here)
  class <- split_formula_argument(split$formula, count$x, labels, "labels", here)
  read <- formula_input(split$formula, class$x, obs, "bnp_mixture")
  beside <- list(
    weights = count$value, labels = class$value, id = split, time = list(time = when$value, name = when$name),
    gaps = gaps
  )
  said <- covariates_of_formula(covariates, data, prior, here)
  fit_mixture(read$x, read$obs, prior, control, start, call, na_action, beside, read$input, said)
}

# beside: what was given for each row beside its values, list(weights, labels, id, time, gaps), `id` as split_id() and
# `time` as split_row_times() has it; NULL: nothing was. covariates: as split_covariates() has them.
fit_mixture <- function(x, obs, prior, control, start, call, na_action, beside = NULL, input = list(),
                        covariates = NULL, error_call = rlang::caller_env()) {
  obs <- obs %||% default_obs(x, error_call)
  time <- beside$time$time
  check_obs(obs, "bnp_mixture", error_call)
  chosen <- is_choice(obs)
  models <- if (chosen) models_of_choice(obs) else list(obs)
  obs <- models[[1L]]
  check_prior(prior, if (is.null(time)) "bnp_mixture" else c("bnp_mixture", "bnp_topics"), error_call)
  if (!is.null(covariates)) need_no_transitions(prior, error_call)
  drifts <- has_drift(obs)
  if (drifts && is.null(time)) need_times(obs, error_call)
  if (!is.null(beside) || na_action == "model") {
    given <- list(
      time = time, id = beside$id$id, weights = beside$weights, labels = beside$labels,
      na_action = if (na_action == "model") TRUE
    )
    require_abilities(kinds_to_fit("bnp_mixture", obs, prior), given, error_call)
  }
  data <- as_mixture_data(x, obs, call = error_call, na_action = na_action)
  if (!is.null(beside$id$id)) data <- with_individuals(data, beside$id$id, obs, "x", error_call, beside$id$name)
  if (!is.null(obs$offset) && is.null(beside$id$id)) tell_of_one_trial(obs, data)
  if (!is.null(beside$weights)) data <- with_weights(data, beside$weights, error_call)
  if (!is.null(beside$labels)) data <- with_labels(data, beside$labels, error_call)
  if (!is.null(covariates)) {
    require_no_covariates(prior, c(
      if (has_effects(obs)) "random_effects", if (drifts) "drift", if (obs_lag(obs) > 0L) "series", "mixture"
    ), error_call)
    counted <- with_covariates(data, prior, covariates, error_call)
    data <- counted$data
    prior <- counted$prior
    input$covariates <- covariates$said
  }
  by_time <- prior_entry(prior)$verb != "bnp_mixture"
  if (drifts) data <- with_times(data, beside$time, beside$gaps, by_time, "x", error_call)
  if (by_time) input$lengths <- diff(data$starts)
  if (inherits(control, "bnp_control") && control$algorithm == "truncation_free") {
    if (!is.null(covariates)) {
      require_no_covariates(prior, c("rows_one_by_one", "truncation_free", "mixture"), error_call)
    }
    if (chosen) require_ability(c("rows_one_by_one", "truncation_free", "mixture"), "auto_covariance", error_call)
    return(fit_truncation_free("bnp_mixture", call, data, obs, prior, control, start, input, error_call))
  }
  n_modelled <- if (by_time) length(data$distinct_times) else
    units_that_count(data) - obs_lag(obs) * (length(data$starts) - 1L)
  fit_by <- function(obs, control) {
    fit_model("bnp_mixture", call, data, obs, prior, control, start, n_modelled, input, error_call)
  }
  fit <- if (chosen) fit_of_choice(models, control, start, fit_by, error_call) else fit_by(obs, control)
  warn_of_ties(fit, data)
  fit
}

# The call of a method in the name of its generic, as update() needs it.
rename_call <- function(call, generic = "bnp_mixture") {
  call[[1L]] <- as.name(generic)
  call
}

kept_of_data.bnp_mixture <- function(fit, data) {
  lag <- obs_lag(fit$model$obs)
  labels <- if (lag > 0L) carry_back(fit$labels, data$starts, lag) else fit$labels
  out <- list(labels = if (is.null(data$individual)) labels else of_rows(data, labels))
  if (is.null(fit$model$obs$random)) out else c(out, kept_of_individuals(fit, data))
}

is_grouped.bnp_mixture <- function(fit) FALSE

read_rows.bnp_mixture <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL) {
  as_newdata(fit, newdata, call, arg, na_action, id)
}

described_clusters.bnp_mixture <- function(fit) {
  c(NextMethod(), if (obs_facts(fit$model$obs)$counts_tokens) described_by_words(fit, "rows"))
}
