# What the package asks an observation model. Each question is a generic on the first argument, `obs`: the object that
# the constructor made, completed by obs_resolve() or as a fit keeps it. All other files ask these and never for a model
# by its name, so that a model that is in the table (R/obs.R) is offered everywhere. After pkgload::load_all(),
# methods(class = "obs_poisson") lists what a model answers. Where there is no default, not every model can answer, and
# obs_can() says whether; but obs_resolve() and obs_quantiles() all can.
#
#' @evalNamespace methods_of_generics()
NULL

# Lines of NAMESPACE: methods of all generics of this package, exported or not, as lapply() and its like find only
# methods that are registered.
methods_of_generics <- function() {
  code <- rlang::fn_env(methods_of_generics)
  all <- Filter(function(name) is.function(code[[name]]), ls(code))
  generics <- Filter(function(name) rlang::is_call(body(code[[name]]), "UseMethod"), all)
  unlist(lapply(generics, function(generic) {
    own <- grep(paste0("^", generic, "[.]"), all, value = TRUE)
    sprintf("S3method(%s,%s)", generic, substring(own, nchar(generic) + 2L))
  }))
}

# Is there an answer to obs_<what>() of this model? Of a product: of all its blocks where it adds up what they answer.
obs_can <- function(obs, what) UseMethod("obs_can")
obs_can.default <- function(obs, what) {
  any(rlang::env_has(rlang::fn_env(obs_can), paste0("obs_", what, ".", class(obs))))
}

# Constants, a list as new_obs_facts() (R/obs.R) describes it. Methods change what depends on the object.
obs_facts <- function(obs) UseMethod("obs_facts")
obs_facts.default <- function(obs) {
  obs_models[[obs$family]] %||% hidden_models[[obs$family]] %||% network_models[[obs$family]] %||%
    choice_models[[obs$family]]
}

# --- Its data ---
# Can the model produce each of these finite numbers? Models that cannot produce all have the fact `refusal`.
obs_supports <- function(obs, values) UseMethod("obs_supports")
obs_supports.default <- function(obs, values) TRUE
# The number of preceding rows that a row is conditioned on. Rows of a model with a lag are sequences in time, in
# mixtures too. That of hidden states is none of rows.
obs_lag <- function(obs) if (is.null(obs$lag) || obs_facts(obs)$hidden) 0L else obs$lag
# Refuses a matrix whose columns do not go together as the model wants.
obs_check_columns <- function(obs, x, arg, call) UseMethod("obs_check_columns")
obs_check_columns.default <- function(obs, x, arg, call) NULL
# The numbers that stand for the columns of a table: a matrix with names and an attribute `frame`, which is in the
# internal form what obs_resolve() needs to know of the columns. No method: columns are numbers.
obs_read <- function(obs, x, arg, call, na_action = NULL) UseMethod("obs_read")
# What a fit keeps of its data, in fit$input, for obs_given().
obs_keep <- function(obs, data) UseMethod("obs_keep")

# The rows x on the scale on which `mean` and `cov` of coef() describe them: logarithms where the model has the field
# `logs`. Of a product: with the columns of one block after those of the other.
obs_scaled <- function(obs, x) {
  if (!is.null(obs$blocks)) {
    width <- vapply(obs$blocks, function(block) length(block$columns) + length(exposure_column(block)), 1L)
    logs <- rep(vapply(obs$blocks, function(block) !is.null(block$logs), NA), width)
    x[, logs] <- log(x[, logs])
  }
  if (is.null(obs$logs)) x else log(x)
}

# --- Its prior ---
# obs with a number for every NULL. `start`: of the fit, or NULL.
obs_resolve <- function(obs, data, start, call) UseMethod("obs_resolve")
# What is learned of the prior while fitting: list(by, numbers, plug_in), the argument by which the constructor was
# asked to, as code, names of single numbers that print() and glance() show, and TRUE where what is learned are
# numbers without a prior that the bound pays for; NULL: the prior is given.
obs_learned <- function(obs) UseMethod("obs_learned")
obs_learned.default <- function(obs) NULL
# The model as it is to be fitted once more where k clusters were found, of which the better fit is kept; NULL, or no
# method: it is not.
obs_begin_again <- function(obs, k) UseMethod("obs_begin_again")
# What statistics of clusters depend on beside the number of columns, which an earlier fit must share to be a start.
obs_layout <- function(obs) UseMethod("obs_layout")
obs_layout.default <- function(obs) NULL

# --- Its parameters ---
# Names along each axis that the facts `parameters` and `arrays` name: a list with `columns`, and further axes.
obs_axes <- function(obs, columns) UseMethod("obs_axes")
obs_axes.default <- function(obs, columns) list(columns = columns)
# Data frame of the columns `variable` and `level` ("" where a column has none), of a product also `block`: one row for
# each column of the array that the fact `location` names.
obs_terms <- function(obs, columns) UseMethod("obs_terms")
obs_terms.default <- function(obs, columns) data.frame(variable = columns, level = rep("", length(columns)))
# Arrays as coef() and posterior_params() show them.
obs_shown <- function(obs, arrays) UseMethod("obs_shown")
obs_shown.default <- function(obs, arrays) arrays
# By arrays of coef(), functions(q, p): quantiles at the probability p of the marginal posterior of each element, in a
# cluster with posterior parameters q, in the shape of the array's part for one cluster; NA for elements that are known,
# or are said elsewhere in it.
obs_quantiles <- function(obs) UseMethod("obs_quantiles")

# --- What is made of them. q: posterior parameters of one cluster, in the shape of the prior's. ---
# What draws are conditioned on: a list named by arguments of simulate(), each a function(value, fit, call) that
# completes the argument, NULL included.
obs_given <- function(obs) UseMethod("obs_given")
obs_given.default <- function(obs) list()
# Rows of sequences of these lengths, one after the other, row i from the cluster path[i]; `clusters` is a list of q,
# from which the parameters of a cluster are drawn once; `given` as obs_given() completed it. Where rows have no order,
# those of one cluster, whose numbers are `rows`: a matrix.
obs_draw <- function(obs, clusters, path, lengths, given) UseMethod("obs_draw")
obs_draw.default <- function(obs, clusters, path, lengths, given) {
  draw_by_cluster(clusters, path, function(q, rows) obs_draw_rows(obs, q, rows, given))
}
obs_draw_rows <- function(obs, q, rows, given) UseMethod("obs_draw_rows")
# Posterior predictive probability of a value of at most x_ij: rows x columns that are modelled.
obs_predictive_cdf <- function(obs, q, data) UseMethod("obs_predictive_cdf")
# Of models whose rows have scales: E u of each row in a cluster, NA where it has none. No method: rows have none.
obs_row_scales <- function(obs, q, data) UseMethod("obs_row_scales")
# For each row of x log(P(cell) / width) of rounded values (R/rounding-cells.R). No method: there is no such number.
obs_log_cells <- function(obs, q, x) UseMethod("obs_log_cells")
# list(mean, var) of each column under the posterior predictive. Models with a lag have none: `coef` and `cov` are
# iterated.
obs_moments <- function(obs, q, given) UseMethod("obs_moments")
# Where columns depend on each other in a cluster, what missing values of the rows x are filled in by: the Student-t
# predictive list(location (rows x modelled columns), scale (a matrix), spread (its factor in each row), df), and the
# Gaussian list(location, cov) by one draw of the cluster's parameters. No methods: obs_moments() and obs_draw() do.
obs_conditional <- function(obs, q, x) UseMethod("obs_conditional")
obs_draw_conditional <- function(obs, q, x) UseMethod("obs_draw_conditional")
# What impute() fills in: list(mean, var) of each cell given the cells that are there, rows x columns, in one cluster;
# and draws of rows from the clusters `path`. The defaults ask the two above, or where there is none obs_moments() and
# obs_draw() (R/impute-conditionals.R).
obs_gap_moments <- function(obs, q, data) UseMethod("obs_gap_moments")
obs_draw_gaps <- function(obs, clusters, data, path) UseMethod("obs_draw_gaps")
# Kullback-Leibler divergence of the cluster a from b, in nats of a row or a token, and their Bhattacharyya coefficient,
# in closed form; a, b: their parts of coef().
obs_divergence <- function(obs, a, b) UseMethod("obs_divergence")
obs_overlap <- function(obs, a, b) UseMethod("obs_overlap")
# Drawn rows with the types of the columns of the training data. No method: they are numbers.
obs_as_frame <- function(obs, x) UseMethod("obs_as_frame")
# By column, its distribution in a cluster with this part of coef(): list(kind = "number", mean, sd), list(kind =
# "count", mean), list(kind = "time", mean), exponential, list(kind = "share", mean), of all tokens, or list(kind =
# "levels", prob), probabilities by level.
obs_marginals <- function(obs, means) UseMethod("obs_marginals")
# By column, its density in a cluster with this part of coef(), as column_density() has it (R/picture-densities.R); of a
# product only of the blocks that have one.
obs_densities <- function(obs, means) UseMethod("obs_densities")
# Of models with responses: E[y | z] of rows with covariates z in a cluster (rows x responses); the same averaged over
# clusters by these weights, of all rows or (a matrix) of each; and what was seen of the responses in the unit of what
# is expected of them.
obs_expected_response <- function(obs, q, z) UseMethod("obs_expected_response")
obs_average_response <- function(obs, fit, z, weight) UseMethod("obs_average_response")
obs_seen_response <- function(obs, x) UseMethod("obs_seen_response")
obs_seen_response.default <- function(obs, x) x[, response_columns(obs), drop = FALSE]
# What the exponential of a bound is, in words.
obs_measure <- function(obs) UseMethod("obs_measure")
obs_measure.default <- function(obs) {
  if (obs_facts(obs)$counts_tokens) "sequences of tokens" else
    if (obs_supports(obs, 0.5)) "densities" else "probabilities"
}
# Clusters as cluster_picture() describes them; `data`: internal form, or NULL.
obs_picture <- function(obs, fit, data) UseMethod("obs_picture")
