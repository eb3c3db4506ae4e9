# Fills in missing values by their expectations or by draws.

#' Impute missing values
#'
#' Completes data by draws of the missing values from their distribution given the observed ones, under a fit: multiple
#' imputation. To complete a table once, by expected values, use `type = "impute"` of [predict.bnp_mixture()].
#'
#' @param fit A fit of [bnp_mixture()] or [bnp_hmm()], of these data (with `na_action = "model"`) or of others.
#' @param newdata Data with missing values (`NA`), in any form that the fitting function takes. Without this
#'   argument the training data, if the fit keeps them ([strip_data()]).
#' @param m Number of completed copies.
#' @param seed `NULL`, or a number for [set.seed()].
#' @param id For sequences, as in [bnp_hmm()]; for mixtures with `id`, as in [predict.bnp_mixture()].
#' @param new Draw also from clusters (or states) that the fit has not found, if the prior allows more, as densities do?
#'   Their parameters come from the prior, so that such values may be far from all others. `FALSE`: draw only from the
#'   clusters of the fit.
#' @param covariates For fits with [prior_covariates()]: the covariates of the rows, as in [predict.bnp_mixture()] and
#'   [predict.bnp_hmm()].
#' @param ... Must be empty.
#' @details For each copy three things are drawn in turn: the parameters of the clusters from their posterior; the
#'   cluster of each row given its observed values (for sequences a path of states, by forward filtering and backward
#'   sampling); and the missing values given cluster, parameters and the other values of the row. The differences
#'   between copies therefore show the uncertainty about the missing values, apart from the approximation of the
#'   posterior. Clusters are drawn with probabilities that are averaged over the parameters (`type = "prob"` of
#'   [predict.bnp_mixture()] and [predict.bnp_hmm()], with one for a cluster that is not seen yet).
#'
#'   Columns keep their types, but columns of whole numbers that [obs_gaussian()] has modelled get real numbers. All
#'   rows of an individual (`id`) are imputed from its one cluster, if columns are independent given the cluster.
#'
#'   In series of [obs_ar()] missing values are drawn given the rows before and after them, exactly so for the
#'   parameters and states that were drawn. The states of rows with missing values, and of rows that have such rows
#'   within their lag, are drawn by the transitions and the other rows around them, as in the fit. The first `lag` rows
#'   of a sequence must be complete.
#'
#'   Values of [obs_binomial()], [obs_survival()] and [obs_multinomial()] cannot be imputed: the number of trials, the
#'   length of observation and the number of tokens of a row are known and not modelled.
#' @return A list of `m` completed data sets, each of the form of `newdata`, of class `bnp_imputations`; it can be
#'   passed to `mitools::imputationList()` as it is. `as.data.frame()` makes the long table that `mice::as.mids()`
#'   takes, with the columns `.imp` (0: the data with gaps) and `.id` (the row).
#' @references
#' Rubin, D. B. (1987). *Multiple imputation for nonresponse in surveys*. Wiley.
#'
#' Scott, S. L. (2002). Bayesian methods for hidden Markov models. *Journal of the American Statistical
#' Association* 97, 337-351; forward filtering and backward sampling.
#' @seealso [predict.bnp_mixture()], [simulate.bnp_mixture()]; `vignette("mixed-data-frames")`.
#' @examples
#' x <- iris
#' x$Species[c(1, 60, 120)] <- NA
#' x$Sepal.Width[c(2, 61, 121)] <- NA
#' model <- obs_product(obs_gaussian("diagonal"), obs_categorical())
#' fit <- bnp_mixture(x, model, control = bnp_control(seed = 1), na_action = "model")
#' copies <- impute(fit, x, m = 3, seed = 1)
#' sapply(copies, function(data) mean(data$Sepal.Width))
#' head(as.data.frame(copies))
#' @export
impute <- function(fit, newdata, ...) {
  UseMethod("impute")
}

#' @export
impute.default <- function(fit, newdata, ...) {
  check_class(fit, character(), "fit", c("bnp_mixture", "bnp_hmm", "bnp_features"))
}

#' @rdname impute
#' @export
impute.bnp_fit <- function(fit, newdata, m = 5L, seed = NULL, id = NULL, ..., new = TRUE, covariates = NULL) {
  check_no_dots(...)
  check_able(fit, "impute")
  if (!is.null(covariates)) only_with_covariates(fit, rlang::current_env())
  newdata <- data_or_kept(if (!missing(newdata)) newdata, fit, "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  data <- read_rows(fit, newdata, id, rlang::current_env(), na_action = "model", covariates = covariates)
  if (is_internal(newdata)) newdata <- table_of_kept(fit, data)
  imputations(fit, newdata, data, m, seed, check_flag(new, "new"))
}

imputations <- function(fit, newdata, data, m, seed, new, call = rlang::caller_env()) {
  m <- check_count(m, "m", call = call)
  check_imputable(fit, newdata, data, call)
  if (has_missing(data) && state_lag(fit) > 0L) check_first_rows(data, state_lag(fit), call)
  of_rows <- if (has_missing(data)) clusters_given(fit, data, new)
  clusters <- clusters_with_new(fit)
  sets <- with_r_seed(m, seed, function() {
    if (is.null(of_rows)) newdata else put_back(fit, newdata, data, draw_missing(fit, data, clusters, of_rows$draw()))
  }, call)
  structure(unname(sets$sets), data = newdata, seed = sets$seed, class = c("bnp_imputations", "list"))
}

# Replaces missing values of newdata by their expectations or most probable levels. The attribute `sd` has
# standard deviations.
expected_values <- function(fit, newdata, data, call = rlang::caller_env()) {
  check_imputable(fit, newdata, data, call)
  if (has_missing(data) && state_lag(fit) > 0L) {
    abort("argument", c(
      "{.code type = \"impute\"} has no closed form for {.fn {obs_facts(fit$model$obs)$constructor}}: what is missing
       depends on the path of states.",
      i = "{.fn impute} draws completed copies; their average is what is expected."
    ), call = call)
  }
  sd <- matrix(NA_real_, data$n, data$d, dimnames = list(data$row_names, data$column_names))
  if (has_missing(data)) {
    filled <- expected_missing(fit, data, clusters_given(fit, data)$prob)
    newdata <- put_back(fit, newdata, data, filled$x)
    sd[] <- filled$sd
  }
  in_order <- intersect(if (!is.list(newdata) || is.data.frame(newdata)) colnames(newdata), data$column_names)
  structure(newdata, sd = if (length(in_order)) sd[, in_order, drop = FALSE] else sd)
}

check_imputable <- function(fit, newdata, data, call) {
  obs <- fit$model$obs
  if (!is.null(data$left_out)) {
    abort("argument", c(
      "Missing values of {.arg newdata} cannot be imputed by a fit with {.arg id} whose columns depend on each other.",
      i = "Models whose columns are independent given the cluster can, as with {.code covariance = \"diagonal\"}."
    ), call = call)
  }
  for (block in blocks_of(data, obs)) {
    facts <- obs_facts(block$obs)
    if (!facts$gaps %||% "" %in% c("cells", "levels") && any(data$missing[, block$columns])) {
      abort("argument", c(
        "Missing values of {.arg newdata} cannot be imputed where {.fn {facts$constructor}} has modelled them.",
        x = "For this model {not_modelled[[facts$gaps]]}.",
        i = "They can be left out of a fit and of its predictions: {.arg na_action}. {.fn simulate} draws such values
             for what is known."
      ), call = call)
    }
  }
  tables <- if (is.list(newdata) && !is.data.frame(newdata)) newdata else list(newdata)
  given <- if (length(dim(tables[[1L]])) == 2L) colnames(tables[[1L]])
  foreign <- setdiff(data$column_names[colSums(data$missing %||% matrix(FALSE, 1L, data$d)) > 0], given)
  if (!is.null(given) && length(foreign)) {
    abort("argument", c(
      "Missing values of {.field {foreign}} cannot be put into {.arg newdata}, which has no such column{?s}.",
      i = "Compute {cli::qty(length(foreign))}{?this column/these columns} first, and fit to {?it/them}."
    ), call = call)
  }
}

# Texts for messages: for each kind of `gaps` that a model can have, what it takes as known and does not
# model.
not_modelled <- c(
  pairs = "how many trials there were, or how long a row was watched, is known and not drawn",
  rows = "the total of a row is known and not drawn"
)

# Puts values from a completed internal matrix (for levels, their codes) into newdata where it has missing
# values.
put_back <- function(fit, newdata, data, x) {
  if (is.list(newdata) && !is.data.frame(newdata)) {
    group <- group_of_rows(data)
    return(Map(function(part, i) {
      rows <- which(group == i)
      own <- list(missing = data$missing[rows, , drop = FALSE], column_names = data$column_names)
      put_back(fit, part, own, x[rows, , drop = FALSE])
    }, newdata, seq_along(newdata)))
  }
  levels <- do.call(c, unname(lapply(fit$model$obs$blocks %||% list(fit$model$obs), function(block) block$levels)))
  gaps <- which(colSums(data$missing) > 0)
  if (length(dim(newdata)) < 2L) {
    one_row <- length(newdata) != nrow(data$missing)
    newdata[if (one_row) in_columns_of(newdata, data) else data$missing[, 1L]] <-
      if (one_row) x[1L, data$missing[1L, ]] else x[data$missing[, 1L], 1L]
    return(newdata)
  }
  at <- if (is.null(data$column_names) || is.null(colnames(newdata))) seq_len(ncol(x)) else
    match(data$column_names, colnames(newdata))
  for (j in gaps) {
    rows <- data$missing[, j]
    labels <- levels[[data$column_names[j] %||% ""]]
    values <- if (is.null(labels)) x[rows, j] else labels[x[rows, j]]
    if (!is.data.frame(newdata)) {
      newdata[rows, at[j]] <- values
    } else {
      newdata[[at[j]]] <- filled_column(newdata[[at[j]]], rows, values)
    }
  }
  newdata
}

# The positions of the missing values in a vector v that stands for one row, column by column of the data.
in_columns_of <- function(v, data) {
  missing <- which(data$missing[1L, ])
  if (is.null(names(v)) || is.null(data$column_names)) missing else match(data$column_names[missing], names(v))
}

# A column of a data frame in which some rows are replaced by these values or labels.
filled_column <- function(v, rows, values) {
  if (is.factor(v)) levels(v) <- union(levels(v), values)
  if (is.logical(v) && is.character(values)) values <- values == "TRUE"
  if (is.logical(v) && !all(rows) && all(values %in% 0:1)) values <- values == 1
  if (is.numeric(v) && is.character(values)) values <- as.double(values)
  if (is.integer(v) && is.numeric(values) && all(values == round(values))) values <- as.integer(values)
  v[rows] <- values
  v
}

#' @export
as.data.frame.bnp_imputations <- function(x, row.names = NULL, optional = FALSE, ...) {
  sets <- lapply(c(list(attr(x, "data")), unclass(x)), function(set) {
    if (is.list(set) && !is.data.frame(set)) set <- do.call(rbind, unname(set))
    if (is.null(dim(set))) data.frame(x = unname(set)) else as.data.frame(set)
  })
  n <- nrow(sets[[1L]])
  out <- do.call(rbind, unname(lapply(sets, `row.names<-`, NULL)))
  cbind(.imp = rep(seq_along(sets) - 1L, each = n), .id = rep(seq_len(n), length(sets)), out)
}

#' @export
print.bnp_imputations <- function(x, n = 6L, ...) {
  copies <- if (length(x) == 1L) "completed copy" else "completed copies"
  cat(length(x), " ", copies, " of the data; the first:\n", sep = "")
  if (length(x)) print(utils::head(x[[1L]], n))
  invisible(x)
}
