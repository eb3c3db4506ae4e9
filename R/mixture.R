#' Fit a mixture
#'
#' Finds clusters and, with the default Dirichlet process prior, their number.
#'
#' @param x Observations: a numeric vector, a matrix, a data frame, a source of rows on disk ([source_files()]), a
#'   one-sided formula with `data`, or, for [observation models][observation_models] that take one, a sparse matrix. A
#'   formula with a response makes [obs_regression()] the default of `obs`. With [obs_ar()] the rows are one series in
#'   the order of time, or `x` is a list of series.
#' @param obs The observation model, that is, the distribution of the rows of one cluster:
#'   `r maker_links(verb_makers("bnp_mixture"))`. Default: [obs_gaussian()]; for a data frame with factors, text or
#'   logical columns, see *Data frames*; for a factor, logical values or repeated text alone [obs_categorical()]. With
#'   [obs_ar()] a cluster describes how a row depends on the `lag` rows before it. The first `lag` rows of a series have
#'   no likelihood; they get the cluster of the first row that has one. If clusters should last for many rows, use
#'   [bnp_hmm()].
#' @param prior The prior of the weights of clusters: [prior_dp()], [prior_py()] or [prior_dirichlet()];
#'   [prior_covariates()] for weights that depend on covariates. With `time` it may also be [prior_hdp()], which is then
#'   the default, or [prior_lda()].
#' @param control [bnp_control()].
#' @param start A start in place of the default one, in one of these forms: one label for each observation; a matrix of
#'   responsibilities (observations x clusters, rows summing to 1); an earlier fit, to these or other data, of the same
#'   columns in the same order, with at most as many clusters as a finite prior has; or a clustering of another package,
#'   which is an object with labels in `cluster` or `clustering`, such as one of [kmeans()], or a fit of mclust. A
#'   cluster with the number 0 is taken as noise, as dbscan has it: these observations start in one cluster of their
#'   own, a message reports this, and the fit may move them.
#' @param weights How often each row counts: one number of at least 0 for each row, or the name of a column, see
#'   *Weights*. Values with names are matched to the names of the rows, or of the individuals; the same holds for
#'   `labels`, `start`, `id` and `time`. See [bnpvi].
#' @param labels Known classes of rows: one label for each row, `NA` where the class is not known; the name of a
#'   column; or a logical matrix (rows x classes) that says which classes each row may belong to. See *Known labels*.
#' @param id The individual of each row: one value for each row, of any class (see [bnpvi]), or the name of a column of
#'   `x` or `data` (`"chick"`, or `~ chick`), which then is not a variable of the model. Rows of the same individual
#'   are repeated measurements and share one cluster. `y ~ x | chick` is short for `y ~ x` with `id = ~ chick`. See
#'   *Repeated measures*.
#' @param time The time of each row, for clusters that drift ([obs_gaussian()] with `drift`): one number or date for
#'   each row, or the name of a column of `x` or `data` (`"week"`, or `~ week`), which then is not a variable of the
#'   model. Rows may come in any order, and several may have the same time. See *Clusters over time*.
#' @param gaps How the variance of a drift depends on the distance of two neighbouring times that have rows: `"equal"`:
#'   not at all, clusters drift equally far between any two; `"time"`: it is proportional to the time between them, in
#'   the unit of `time` (days, for dates).
#' @param covariates For [prior_covariates()]: a data frame with a row for each row of `x` (or for each individual) and
#'   the columns that the formula of the prior names; rows are matched by name if both `x` and this data frame have row
#'   names. Default: these columns are taken from `data`, or from `x`, and are then not variables of the model.
#' @param data A data frame with the variables of the formula, a source ([source_files()]) or a stream of data frames
#'   ([bnp_stream()]). Columns that `weights`, `labels`, `id` and `time` name are not variables of the model unless the
#'   formula names them. These arguments may name a column by a string (`"week"`), a formula (`~ week`) or a bare name
#'   (`week`). With `data`, they may also be expressions (`week %/% 4`), which are evaluated with the columns of `data`
#'   before the variables of the calling scope, as in [lm()].
#' @inheritParams missing_values
#' @inheritSection missing_values Missing values
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#'
#' @return An object of class `c("bnp_mixture", "bnp_fit")`, a plain list that keeps its data only if they are small
#'   ([strip_data()]). Clusters are numbered by decreasing size. See [elbo()], [n_clusters()], [predict.bnp_mixture()],
#'   [coef.bnp_fit()], [plot.bnp_mixture()].
#'
#' @section Data frames:
#'   Without `obs`, each column of a data frame is modelled by its kind: numbers by [obs_gaussian()]; factors, text and
#'   logical columns by [obs_categorical()]; a frame with both kinds by the [obs_product()] of the two. The printed fit
#'   shows the choice. Numbers have full covariances; but if there are more than 50 columns of numbers and also other
#'   columns, the numbers are independent within a cluster, and a message says so. Whole numbers with only two values,
#'   such as 0 and 1, are taken as levels, and a message says so; other whole numbers are modelled as numbers. For
#'   counts give `obs`: `obs_product(obs_poisson(columns = "visits"), obs_gaussian(), obs_categorical())`.
#'
#'   A column of numbers whose values within the clusters are skewed, or have heavy tails, is also tried with other
#'   observation models that could have produced its values. If one of them is better by at least 10 nats, the printed
#'   fit names it and the `obs` to use; `fit$better` has the gains. A skewed column is often divided into clusters that
#'   it does not have. In fits of up to 16,384 rows whose clusters overlap, the models are therefore also tried on
#'   clusters that may merge, if a column as a whole is skewed or has heavy tails. These trials begin at the clusters
#'   that were found and take about as long as the fit; the printed fit then says how many clusters are left. The
#'   fit itself is not changed.
#'
#'   Columns of classes of other packages are read as the values that they hold, with missing values where `is.na()` is
#'   TRUE; 64-bit integers are taken up to 2^53. Dates, times, units and lists are refused, and so are text and factors
#'   that have a level for nearly every row. See `vignette("mixed-data-frames")`.
#'
#' @section Weights:
#'   A row of weight w counts as w equal rows in the same cluster: it is multiplied by w in every sum over rows. The
#'   ELBO is a lower bound on \eqn{\log \int p(\theta, \pi) \prod_n p(x_n | \theta, \pi)^{w_n}}. With whole weights the
#'   fit is that of the data in which each row is repeated as often as its weight says, defaults of priors included. A
#'   row of weight 0 does not enter the fit, but [fitted()] has a cluster for it. Sizes of clusters and [nobs()] are
#'   sums of weights.
#'
#'   Weights are an amount of evidence: with twice the weights the data count twice, and more clusters are found.
#'   Frequencies can be given as they are. Sampling weights usually sum to the size of the population; scale them to sum
#'   to the number of rows, `w * length(w) / sum(w)`. Weights are for rows that are independent given their cluster, and
#'   so not for [obs_ar()].
#'
#' @section Known labels:
#'   Every cluster belongs to one class of `labels` or to none; at the start each class has one cluster. A row with a
#'   label can only be in clusters of its class, a row without a label in any cluster. If a cluster is split, both parts
#'   belong to its class. Two clusters are joined only if they have the same class or one of them has none (and no name
#'   by [keywords][obs_multinomial()]). Each class keeps at least one cluster. Rows without a label begin in a cluster
#'   of no class, so that classes which do not occur among the labels can be found. The ELBO is a lower bound on the log
#'   probability of data and labels: compare it only between fits with the same labels.
#'
#'   `predict(type = "label")` gives classes, `"label_prob"` their probabilities. With `start` each cluster belongs to
#'   the class of its labelled rows. Without `start` there is one cluster for each class and one for the rows without a
#'   label, so that `k_init` cannot be chosen and there are no restarts. A second fit then starts from classes learned
#'   from the labelled rows alone, and the better of the two fits is returned. A finite prior needs at least as many
#'   clusters as there are classes. [cluster_tree()] joins clusters within classes.
#'
#' @section Repeated measures:
#'   With `id`, all rows of an individual belong to one cluster and are independent of each other given that cluster.
#'   The clusters divide the individuals: the prior, the entropy and [cluster_sizes()] count each individual once,
#'   however many rows it has. Parameters of clusters are estimated from all rows, and [nobs()] is the number of rows,
#'   which may come in any order. Defaults of priors are read from the rows as well, since a cluster's covariance is
#'   that of rows and not of individuals' means. Only the expected width of a Gaussian cluster depends on the number of
#'   individuals, as this is what limits how many clusters can be told apart. [fitted()], [predict()] and [augment()]
#'   give every row the cluster of its individual. [compare_fits()] compares fits with and without `id`.
#'
#'   `weights`, `labels` and `start` can have one value for each individual, in the order in which individuals first
#'   appear (or of the levels, if `id` is a factor). They can also have one value for each row, which must be the same
#'   in all rows of an individual; only in `labels` some rows of an individual may be `NA`.
#'
#'   If individuals differ by more than the noise within their cluster, as growth curves do, they are divided among
#'   more clusters than there are kinds. Random effects allow for such differences: see *Growth curves*.
#'
#'   A row that is left out for missing values gets the cluster of its individual. `na_action = "model"` needs columns
#'   that are independent given the cluster, or rows without any response. `id` cannot be combined with [obs_ar()].
#'   Before the fit the rows of each individual are summed to the statistics that a cluster needs, and these sums are
#'   kept in memory: with full covariances of \eqn{D} columns about \eqn{D^2/2} numbers for each individual.
#'
#' @section Growth curves:
#'   `bnp_mixture(y ~ t + (1 + t | id), data)` clusters individuals by how `y` depends on `t`. Each individual has an
#'   intercept and a slope of its own around those of its cluster; `(1 | id)` gives it an intercept only. The call is
#'   the same as `obs_regression(random = ~ 1 + t)` with `id = ~ id`, see *Random effects* of [obs_regression()]. Each
#'   individual is in one cluster. `predict(fit, newdata, "individual")` predicts the rows of individuals from their
#'   other rows, `predict(fit, type = "effects")` has their coefficients, and `plot(fit, "trajectories", data = data)`
#'   draws the curves. A missing response (`na_action = "model"`) is left out of the sums of its individual, which loses
#'   nothing. `data` may be a [source][sources] in which the rows of each individual follow each other.
#'
#' @section Clusters over time:
#'   With `obs_gaussian(drift = )` and `time` the mean of a cluster takes a random step between neighbouring times, of
#'   `drift` times the cluster's own covariance: \eqn{\theta_1 | \Lambda \sim N(m, (\kappa\Lambda)^{-1})},
#'   \eqn{\theta_{t+1} = \theta_t + N(0, \tau_t \Lambda^{-1})}, rows at t are \eqn{N(\theta_t, \Lambda^{-1})}, with one
#'   precision \eqn{\Lambda} at all times. `mean`, `mean_strength`, `df` and `scale` are the prior of the first time.
#'   The clusters are learned from all times together, and the bound is one on the evidence of all rows.
#'
#'   With [prior_hdp()] or [prior_lda()] the weights of the clusters differ between times, so that clusters appear,
#'   vanish and return. With the other priors the weights are the same at all times. A cluster keeps its number over
#'   all times, and [fitted()] has these numbers. [trajectories()] has the position of each cluster at each time and
#'   the times between which it has rows; `plot(fit)` draws them. Where the paths of two clusters cross, the fit cannot
#'   be sure which is which afterwards, the less so the larger the drift and the fewer the rows of a time.
#'
#'   [predict()] and [augment()] take rows at times that the fit has seen. Rows with missing values can be left out
#'   (`na_action = "omit"`). `weights` and `labels` can be given if the weights of clusters are the same at all times.
#'   `id`, streams, [bnp_sample()], [cluster_tree()] and [impute()] are not available. If the weights of clusters
#'   differ between times, each batch consists of whole times.
#' @details With [obs_multinomial()] a row is a sequence of tokens: the multinomial coefficient, which does not depend
#'   on the clusters, is left out of the bound and of log densities. With all other observation models bound and log
#'   densities include every constant: they are densities of real numbers, or probabilities of counts and binary data.
#'   Bounds can be compared only between fits of the same of these three kinds, see [compare_fits()].
#' @references
#' Blei, D. M. and Jordan, M. I. (2006). Variational inference for Dirichlet process mixtures.
#' *Bayesian Analysis* 1(1), 121-143.
#'
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#' @seealso [bnp_topics()] for groups of observations, [bnp_hmm()] for sequences, [bnp_stream()] for data in batches;
#'   [predict.bnp_mixture()], [plot.bnp_mixture()], [read_fit]; `vignette("getting-started")`,
#'   `vignette("how-many-clusters")`, *Coming from mclust* on the site,
#'   *Regressions and growth curves* on the site.
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
  if (is.null(obs)) tell_of_columns(said$x, "x", call)
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
    need_no_random(x, here)
    return(fit_stream("bnp_mixture", data, obs, prior, control, start, na_action, call, here, formula = x))
  }
  if (inherits(data, "bnp_source")) {
    read <- random_of_source(x, obs, id, here)
    given <- list(weights = weights, labels = labels, id = if (!has_effects(read$obs)) read$id, time = time)
    require_abilities(kinds_of_form("source", "mixture"), given, here)
    return(fit_source("bnp_mixture", data, read$obs, prior, control, start, na_action, call, read$id, read$formula))
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

# Fits a mixture. beside: further values of each row, list(weights, labels, id, time, gaps), with `id` from
# split_id() and `time` from split_row_times(); NULL for those that were not given. covariates: from
# split_covariates().
fit_mixture <- function(x, obs, prior, control, start, call, na_action, beside = NULL, input = list(),
                        covariates = NULL, error_call = rlang::caller_env()) {
  unasked <- is.null(obs) && is.null(beside$time$time) && is.null(beside$id$id) && is.null(covariates)
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
  if (data$d == 1L) warn_of_levels_alone(fit, data)
  if (unasked && is.matrix(data$x) && data$n >= 30L && !anyNA(fit$labels)) {
    fit <- with_better_models(fit, data)
    if (is.null(beside$labels) && data$n <= most_rows_joined) {
      fit <- with_better_joined(fit, data, function(obs, control, start) {
        fit_mixture(x, obs, prior, control, start, call, na_action, beside, error_call = error_call)
      })
    }
  }
  fit
}

# The call of a method with the name of its generic in place of the method's; update() needs this.
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

read_rows.bnp_mixture <- function(fit, newdata, id, call, arg = "newdata", na_action = NULL, covariates = NULL) {
  as_newdata(fit, newdata, call, arg, na_action, id, covariates = covariates)
}

described_clusters.bnp_mixture <- function(fit) {
  c(NextMethod(), if (obs_facts(fit$model$obs)$counts_tokens) described_by_words(fit, "rows"))
}
