# The generics that the package calls for an observation model. The first argument of each is `obs`: the
# object that the constructor made, completed by obs_resolve() or as a fit keeps it. Other files use only
# these generics, never the name of a model, so that a model in the table (R/obs.R) is available everywhere.
# After pkgload::load_all(), methods(class = "obs_poisson") lists the methods of a model. Where a generic has
# no default, not every model has a method, and obs_can() says whether one has; all models must have
# obs_resolve() and obs_quantiles().
#' @evalNamespace methods_of_generics()
NULL

# Makes the lines of NAMESPACE that register the methods of all generics of this package, exported or not:
# lapply() and similar functions find only registered methods.
methods_of_generics <- function() {
  code <- rlang::fn_env(methods_of_generics)
  all <- Filter(function(name) is.function(code[[name]]), ls(code))
  generics <- Filter(function(name) rlang::is_call(body(code[[name]]), "UseMethod"), all)
  unlist(lapply(generics, function(generic) {
    own <- grep(paste0("^", generic, "[.]"), all, value = TRUE)
    sprintf("S3method(%s,%s)", generic, substring(own, nchar(generic) + 2L))
  }))
}

# TRUE if the generic obs_<what>() has a method for this model. For a product: if all its blocks (models of
# some columns) have one, where the results of blocks are combined.
obs_can <- function(obs, what) UseMethod("obs_can")
obs_can.default <- function(obs, what) {
  any(rlang::env_has(rlang::fn_env(obs_can), paste0("obs_", what, ".", class(obs))))
}

# Constant properties of a model ("facts"), such as the names of its arrays: a list as described at
# new_obs_facts() (R/obs.R). A method may change those that depend on the object.
obs_facts <- function(obs) UseMethod("obs_facts")
obs_facts.default <- function(obs) {
  obs_models[[obs$family]] %||% hidden_models[[obs$family]] %||% network_models[[obs$family]] %||%
    choice_models[[obs$family]]
}

# --- The data of a model ---
# TRUE for each of these finite numbers that the model can produce. Models that cannot produce all numbers
# have an error for others in obs_facts(obs)$refusal.
obs_supports <- function(obs, values) UseMethod("obs_supports")
obs_supports.default <- function(obs, values) TRUE
# The number of preceding rows on which a row is conditioned. Rows of a model with a lag are sequences in
# time, also in mixtures. For models with hidden states it is 0, as their rows are not conditioned on rows.
obs_lag <- function(obs) if (is.null(obs$lag) || obs_facts(obs)$hidden) 0L else obs$lag
# Refuses a matrix in which the columns are not what the model needs together.
obs_check_columns <- function(obs, x, arg, call) UseMethod("obs_check_columns")
obs_check_columns.default <- function(obs, x, arg, call) NULL
# Converts a table to numbers: a matrix with column names and an attribute `frame`, which becomes part of the
# internal form of data and has what obs_resolve() needs to know about the columns. Without a method, columns
# must be numbers.
obs_read <- function(obs, x, arg, call, na_action = NULL) UseMethod("obs_read")
# The facts about the data that a fit keeps in fit$input, for use by obs_given().
obs_keep <- function(obs, data) UseMethod("obs_keep")

# The rows x on the scale of `mean` and `cov` in coef(): logarithms if the model has the field `logs`. For a
# product, x has the columns of its blocks one after the other.
obs_scaled <- function(obs, x) {
  if (!is.null(obs$blocks)) {
    width <- vapply(obs$blocks, function(block) length(block$columns) + length(exposure_column(block)), 1L)
    logs <- rep(vapply(obs$blocks, function(block) !is.null(block$logs), NA), width)
    x[, logs] <- log(x[, logs])
  }
  if (is.null(obs$logs)) x else log(x)
}

# --- The prior of a model ---
# Completes the model: numbers take the place of all NULLs. start: the start of the fit, or NULL.
obs_resolve <- function(obs, data, start, call) UseMethod("obs_resolve")
# What a fit learns about the prior: list(by, numbers, plug_in) with the constructor's argument that requests
# it, as code; the names of single numbers that print() and glance() show; and TRUE if the learned numbers
# have no prior in the bound. NULL: the prior is given.
obs_learned <- function(obs) UseMethod("obs_learned")
obs_learned.default <- function(obs) NULL
# The model with which a fit that has found k clusters is repeated; the better of the two fits is used. NULL,
# or no method: the fit is not repeated.
obs_begin_again <- function(obs, k) UseMethod("obs_begin_again")
# Properties, in addition to the number of columns, on which statistics of clusters depend: a fit can be a
# start only if it has the same ones.
obs_layout <- function(obs) UseMethod("obs_layout")
obs_layout.default <- function(obs) NULL

# --- The parameters of a model ---
# The names along the axes of arrays of parameters: a list with `columns` and the further axes that
# obs_facts() mentions in `parameters` and `arrays`.
obs_axes <- function(obs, columns) UseMethod("obs_axes")
obs_axes.default <- function(obs, columns) list(columns = columns)
# A data frame that describes the columns of the array of coef() that says where clusters are
# (obs_facts(obs)$location), one row for each column: `variable`, and `level` ("" where a column stands for no
# level); for a product also `block`.
obs_terms <- function(obs, columns) UseMethod("obs_terms")
obs_terms.default <- function(obs, columns) data.frame(variable = columns, level = rep("", length(columns)))
# Converts arrays to the form in which coef() and posterior_params() show them.
obs_shown <- function(obs, arrays) UseMethod("obs_shown")
obs_shown.default <- function(obs, arrays) arrays
# For each array of coef(), a function(q, p) that returns quantiles at the probability p of the marginal
# posterior of each element, for a cluster with posterior parameters q, in the shape of the array's part for
# one cluster; NA for elements that are known, or that occur twice.
obs_quantiles <- function(obs) UseMethod("obs_quantiles")

# --- Results from posterior parameters. q: those of one cluster, in the shape of the prior's ---
# The values on which draws are conditioned: a list named by arguments of simulate(), each a function(value,
# fit, call) that completes the argument, also if it is NULL.
obs_given <- function(obs) UseMethod("obs_given")
obs_given.default <- function(obs) list()
# Draws rows of sequences of these lengths, one after the other, row i from the cluster path[i]. clusters: a
# list of posterior parameters q, from which the parameters of each cluster are drawn once; given: completed
# by obs_given(). Models whose rows have no order have obs_draw_rows(), which draws the rows of one cluster,
# with the numbers `rows`: a matrix.
obs_draw <- function(obs, clusters, path, lengths, given) UseMethod("obs_draw")
obs_draw.default <- function(obs, clusters, path, lengths, given) {
  draw_by_cluster(clusters, path, function(q, rows) obs_draw_rows(obs, q, rows, given))
}
obs_draw_rows <- function(obs, q, rows, given) UseMethod("obs_draw_rows")
# The posterior predictive probability, in a cluster, of a value of at most x_ij: rows x modelled columns.
obs_predictive_cdf <- function(obs, q, data) UseMethod("obs_predictive_cdf")
# For models whose rows have latent scales u (heavy tails): E u of each row in a cluster, NA for rows without
# a scale. No method: rows have none.
obs_row_scales <- function(obs, q, data) UseMethod("obs_row_scales")
# The predictive log density of each row of rounded values x, as log(P(cell) / width) (R/rounding-cells.R). No
# method: it cannot be computed.
obs_log_cells <- function(obs, q, x) UseMethod("obs_log_cells")
# The mean and variance of each column under the posterior predictive: list(mean, var). Models with a lag have
# no method: their forecasts iterate `coef` and `cov`.
obs_moments <- function(obs, q, given) UseMethod("obs_moments")
# For models whose columns depend on each other within a cluster, the distributions from which missing values
# of the rows x are filled in. obs_conditional(): the Student-t predictive list(location (rows x modelled
# columns), scale (a matrix), spread (its factor for each row), df). obs_draw_conditional(): the Gaussian
# list(location, cov) for one draw of the cluster's parameters. Without methods, obs_moments() and obs_draw()
# are used.
obs_conditional <- function(obs, q, x) UseMethod("obs_conditional")
obs_draw_conditional <- function(obs, q, x) UseMethod("obs_draw_conditional")
# The values that impute() fills in. obs_gap_moments(): for one cluster list(mean, var) of each cell given the
# observed cells of its row, rows x columns. obs_draw_gaps(): draws of rows from the clusters `path`. The
# defaults use the methods of obs_conditional() or, if there are none, obs_moments() and obs_draw()
# (R/impute-conditionals.R).
obs_gap_moments <- function(obs, q, data) UseMethod("obs_gap_moments")
obs_draw_gaps <- function(obs, clusters, data, path) UseMethod("obs_draw_gaps")
# The Kullback-Leibler divergence from cluster b to cluster a, in nats per row or token, and obs_overlap()
# their Bhattacharyya coefficient, both in closed form. a, b: their parts of coef().
obs_divergence <- function(obs, a, b) UseMethod("obs_divergence")
obs_overlap <- function(obs, a, b) UseMethod("obs_overlap")
# Drawn rows with the column types of the training data. No method: columns are numbers.
obs_as_frame <- function(obs, x) UseMethod("obs_as_frame")
# The distribution of each column in a cluster, from the cluster's part of coef(): list(kind = "number", mean,
# sd), list(kind = "count", mean), list(kind = "time", mean) (exponential), list(kind = "share", mean) (of all
# tokens), or list(kind = "levels", prob) with the probability of each level.
obs_marginals <- function(obs, means) UseMethod("obs_marginals")
# The density of each column in a cluster, from the cluster's part of coef(), in the form of column_density()
# (R/picture-densities.R); for a product, only of the blocks whose models have a method.
obs_densities <- function(obs, means) UseMethod("obs_densities")
# For models with responses. obs_expected_response(): E[y | z] of rows with covariates z in a cluster (rows x
# responses). obs_average_response(): its average over clusters with these weights, for all rows or (a matrix)
# for each row. obs_seen_response(): the observed responses in the unit of these expectations.
obs_expected_response <- function(obs, q, z) UseMethod("obs_expected_response")
obs_average_response <- function(obs, fit, z, weight) UseMethod("obs_average_response")
obs_seen_response <- function(obs, x) UseMethod("obs_seen_response")
obs_seen_response.default <- function(obs, x) x[, response_columns(obs), drop = FALSE]
# A word for what the bound is a log probability of, for messages: "densities", "probabilities" or "sequences
# of tokens". Bounds can be compared only if it is the same.
obs_measure <- function(obs) UseMethod("obs_measure")
obs_measure.default <- function(obs) {
  if (obs_facts(obs)$counts_tokens) "sequences of tokens" else
    if (obs_supports(obs, 0.5)) "densities" else "probabilities"
}
# Clusters in the form that cluster_picture() describes. data: in the internal form, or NULL.
obs_picture <- function(obs, fit, data) UseMethod("obs_picture")
