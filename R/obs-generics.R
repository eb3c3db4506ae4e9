# The questions that the package asks an observation model. Each is a generic whose first argument is `obs`: the object
# that the constructor made, completed by obs_resolve() or as a fit keeps it. Other files use only these generics, never
# the name of a model, so that a model in the table (R/obs.R) is available everywhere. After pkgload::load_all(),
# methods(class = "obs_poisson") lists what a model answers. Where a generic has no default, not every model has a
# method, and obs_can() says whether one has; obs_resolve() and obs_quantiles() are required of all.
#' @evalNamespace methods_of_generics()
NULL

# Lines of NAMESPACE with the methods of all generics of this package, exported or not: lapply() and similar functions
# find only registered methods.
methods_of_generics <- function() {
  code <- rlang::fn_env(methods_of_generics)
  all <- Filter(function(name) is.function(code[[name]]), ls(code))
  generics <- Filter(function(name) rlang::is_call(body(code[[name]]), "UseMethod"), all)
  unlist(lapply(generics, function(generic) {
    own <- grep(paste0("^", generic, "[.]"), all, value = TRUE)
    sprintf("S3method(%s,%s)", generic, substring(own, nchar(generic) + 2L))
  }))
}

# Whether obs_<what>() has a method for this model. For a product: whether all blocks have one, where their answers are
# combined.
obs_can <- function(obs, what) UseMethod("obs_can")
obs_can.default <- function(obs, what) {
  any(rlang::env_has(rlang::fn_env(obs_can), paste0("obs_", what, ".", class(obs))))
}

# Constant facts about a model, a list as described at new_obs_facts() (R/obs.R). Methods change facts that depend on
# the object.
obs_facts <- function(obs) UseMethod("obs_facts")
obs_facts.default <- function(obs) {
  obs_models[[obs$family]] %||% hidden_models[[obs$family]] %||% network_models[[obs$family]] %||%
    choice_models[[obs$family]]
}

# --- Its data ---
# Whether the model can produce each of these finite numbers. Models that cannot produce all of them have the fact
# `refusal`.
obs_supports <- function(obs, values) UseMethod("obs_supports")
obs_supports.default <- function(obs, values) TRUE
# The number of preceding rows on which a row is conditioned. Rows of a model with a lag are sequences in time, in
# mixtures too. For models with hidden states it is 0, as their rows are not conditioned on rows.
obs_lag <- function(obs) if (is.null(obs$lag) || obs_facts(obs)$hidden) 0L else obs$lag
# Refuses a matrix whose columns are not what the model needs together.
obs_check_columns <- function(obs, x, arg, call) UseMethod("obs_check_columns")
obs_check_columns.default <- function(obs, x, arg, call) NULL
# The numbers that stand for the columns of a table: a matrix with column names and an attribute `frame`, which becomes
# part of the internal form and has what obs_resolve() needs to know about the columns. Without a method, columns are
# numbers.
obs_read <- function(obs, x, arg, call, na_action = NULL) UseMethod("obs_read")
# What a fit keeps about its data in fit$input for obs_given().
obs_keep <- function(obs, data) UseMethod("obs_keep")

# The rows x on the scale of `mean` and `cov` of coef(): logarithms where the model has the field `logs`. For a product,
# the columns of one block after those of the other.
obs_scaled <- function(obs, x) {
  if (!is.null(obs$blocks)) {
    width <- vapply(obs$blocks, function(block) length(block$columns) + length(exposure_column(block)), 1L)
    logs <- rep(vapply(obs$blocks, function(block) !is.null(block$logs), NA), width)
    x[, logs] <- log(x[, logs])
  }
  if (is.null(obs$logs)) x else log(x)
}

# --- Its prior ---
# The model with numbers in place of all NULLs. `start`: the start of the fit, or NULL.
obs_resolve <- function(obs, data, start, call) UseMethod("obs_resolve")
# What is learned of the prior during a fit: list(by, numbers, plug_in), with the constructor's argument that asks for
# it, as code; the names of single numbers that print() and glance() show; and TRUE where the learned numbers have no
# prior in the bound. NULL: the prior is given.
obs_learned <- function(obs) UseMethod("obs_learned")
obs_learned.default <- function(obs) NULL
# The model with which the fit is repeated once k clusters were found; the better of the two fits is kept. NULL, or no
# method: no repetition.
obs_begin_again <- function(obs, k) UseMethod("obs_begin_again")
# Properties, in addition to the number of columns, on which statistics of clusters depend: an earlier fit must share
# them to be a start.
obs_layout <- function(obs) UseMethod("obs_layout")
obs_layout.default <- function(obs) NULL

# --- Its parameters ---
# Names along each axis that the facts `parameters` and `arrays` mention: a list with `columns` and further axes.
obs_axes <- function(obs, columns) UseMethod("obs_axes")
obs_axes.default <- function(obs, columns) list(columns = columns)
# A data frame of the columns `variable` and `level` ("" where a column has none), for a product also `block`: one row
# for each column of the array that the fact `location` names.
obs_terms <- function(obs, columns) UseMethod("obs_terms")
obs_terms.default <- function(obs, columns) data.frame(variable = columns, level = rep("", length(columns)))
# Arrays in the form in which coef() and posterior_params() show them.
obs_shown <- function(obs, arrays) UseMethod("obs_shown")
obs_shown.default <- function(obs, arrays) arrays
# For each array of coef(), a function(q, p) that returns quantiles at the probability p of the marginal posterior of
# each element, for a cluster with posterior parameters q, in the shape of the array's part for one cluster; NA for
# elements that are known or repeated in it.
obs_quantiles <- function(obs) UseMethod("obs_quantiles")

# --- Results computed from them. q: the posterior parameters of one cluster, in the shape of the prior's. ---
# The values on which draws are conditioned: a list named by arguments of simulate(), each a function(value, fit, call)
# that completes the argument, also if it is NULL.
obs_given <- function(obs) UseMethod("obs_given")
obs_given.default <- function(obs) list()
# Draws rows of sequences of these lengths, one after the other, row i from the cluster path[i]. `clusters`: a list of
# q, from which each cluster's parameters are drawn once; `given`: completed by obs_given(). Models whose rows have no
# order draw the rows of one cluster with the numbers `rows`: a matrix.
obs_draw <- function(obs, clusters, path, lengths, given) UseMethod("obs_draw")
obs_draw.default <- function(obs, clusters, path, lengths, given) {
  draw_by_cluster(clusters, path, function(q, rows) obs_draw_rows(obs, q, rows, given))
}
obs_draw_rows <- function(obs, q, rows, given) UseMethod("obs_draw_rows")
# The posterior predictive probability of a value of at most x_ij: rows x modelled columns.
obs_predictive_cdf <- function(obs, q, data) UseMethod("obs_predictive_cdf")
# For models whose rows have scales: E u of each row in a cluster, NA for rows without a scale. No method: rows have
# none.
obs_row_scales <- function(obs, q, data) UseMethod("obs_row_scales")
# log(P(cell) / width) for each row of rounded values x (R/rounding-cells.R). No method: it cannot be computed.
obs_log_cells <- function(obs, q, x) UseMethod("obs_log_cells")
# list(mean, var) of each column under the posterior predictive. Models with a lag have no method: `coef` and `cov` are
# iterated.
obs_moments <- function(obs, q, given) UseMethod("obs_moments")
# For models whose columns depend on each other within a cluster, the distributions from which missing values of the
# rows x are filled in: the Student-t predictive list(location (rows x modelled columns), scale (a matrix), spread (its
# factor for each row), df), and the Gaussian list(location, cov) for one draw of the cluster's parameters. Without
# methods, obs_moments() and obs_draw() are used.
obs_conditional <- function(obs, q, x) UseMethod("obs_conditional")
obs_draw_conditional <- function(obs, q, x) UseMethod("obs_draw_conditional")
# What impute() fills in, for one cluster: list(mean, var) of each cell given the observed cells of its row, rows x
# columns; and draws of rows from the clusters `path`. The defaults use the two generics above or, where these have no
# method, obs_moments() and obs_draw() (R/impute-conditionals.R).
obs_gap_moments <- function(obs, q, data) UseMethod("obs_gap_moments")
obs_draw_gaps <- function(obs, clusters, data, path) UseMethod("obs_draw_gaps")
# In closed form, the Kullback-Leibler divergence from cluster b to cluster a, in nats per row or token, and their
# Bhattacharyya coefficient; a, b: their parts of coef().
obs_divergence <- function(obs, a, b) UseMethod("obs_divergence")
obs_overlap <- function(obs, a, b) UseMethod("obs_overlap")
# Drawn rows with the column types of the training data. No method: they are numbers.
obs_as_frame <- function(obs, x) UseMethod("obs_as_frame")
# The distribution of each column in a cluster with this part of coef(): list(kind = "number", mean, sd), list(kind =
# "count", mean), list(kind = "time", mean) (exponential), list(kind = "share", mean) (of all tokens), or list(kind =
# "levels", prob) with the probability of each level.
obs_marginals <- function(obs, means) UseMethod("obs_marginals")
# The density of each column in a cluster with this part of coef(), in the form of column_density()
# (R/picture-densities.R); for a product, of the blocks that have one.
obs_densities <- function(obs, means) UseMethod("obs_densities")
# For models with responses: E[y | z] of rows with covariates z in a cluster (rows x responses); its average over
# clusters with these weights, for all rows or (a matrix) for each row; and the observed responses in the unit of these
# expectations.
obs_expected_response <- function(obs, q, z) UseMethod("obs_expected_response")
obs_average_response <- function(obs, fit, z, weight) UseMethod("obs_average_response")
obs_seen_response <- function(obs, x) UseMethod("obs_seen_response")
obs_seen_response.default <- function(obs, x) x[, response_columns(obs), drop = FALSE]
# In words, what the exponential of a bound measures.
obs_measure <- function(obs) UseMethod("obs_measure")
obs_measure.default <- function(obs) {
  if (obs_facts(obs)$counts_tokens) "sequences of tokens" else
    if (obs_supports(obs, 0.5)) "densities" else "probabilities"
}
# Clusters in the form that cluster_picture() describes; `data`: internal form, or NULL.
obs_picture <- function(obs, fit, data) UseMethod("obs_picture")
