#' Simulate data from a fit
#'
#' Each data set has cluster parameters drawn from the variational posterior, so that the spread of the data sets
#' includes the uncertainty about these.
#'
#' @param object A fit of [bnp_mixture()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param n Number of observations in each data set.
#' @param initial For an autoregression: the first rows of the data set, which precede the first simulated one, oldest
#'   first (lag x columns). Default: the column medians of the training data.
#' @param total For counts: the total of each observation (the trials of [obs_binomial()], one number or one for each
#'   pair of columns); default, the average of the training data. If several blocks of an [obs_product()] have totals,
#'   one number for all or a list by the names of the blocks.
#' @param exposure For [obs_poisson()] with exposures: one number or one per observation; default, the average of the
#'   training data. If blocks of an [obs_product()] have exposures from several columns, a list or a data frame of such
#'   numbers with the names of the columns.
#' @param covariates For fits with [obs_regression()] (also as a block of a product) or [prior_covariates()]: the
#'   covariates of the rows to be drawn, in the form in which they were given to the fit; further columns are ignored.
#'   If there are fewer rows of covariates than rows to be drawn, they are repeated. Default: the covariates of the
#'   training data.
#' @param id For fits with `id`: the individual of each row; default, the individuals of the training data with as many
#'   rows each. All rows of an individual belong to one cluster; the result has individuals in the column `.id`.
#' @param time For fits with `time`: the time of each row, among those of the fit; default: the times of the training
#'   data, as many as `n` asks for. The result has times in the column `.time`.
#' @param new Draw rows also from a cluster that is not seen yet, if the prior allows more clusters, as densities do?
#'   Its parameters are drawn from the prior for each data set, so that such rows may be far from all others; their
#'   `.class` is `new`. `FALSE`: draw only from the clusters of the fit. Default: `TRUE`, except `FALSE` for [obs_ar()],
#'   since most dynamics that its prior allows grow without bound.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the
#'   columns of the training data and `.class`, the cluster drawn (`new`: one not seen yet). Attribute
#'   `seed` as for [stats::simulate()].
#' @references
#' Gelman, A. and others (2013). *Bayesian data analysis*, 3rd edition. CRC Press.
#' @seealso [predict.bnp_mixture()]; `vignette("judging-a-fit")` compares such data with those
#'   of the fit.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_mixture <- function(object, nsim = 1, seed = NULL, n = object$input$n, initial = NULL, total = NULL,
                                 exposure = NULL, covariates = NULL, id = NULL, time = NULL, ..., new = NULL) {
  check_no_dots(...)
  check_format(object)
  require_ability(object, "simulate")
  nsim <- check_count(nsim, "nsim")
  n_given <- !missing(n)
  n <- check_count(n, "n", lower = 0L)
  id <- simulated_id(object, id, n, n_given, rlang::current_env())
  n <- if (!is.null(id)) length(id) else if (!is.null(time) && !n_given) length(time) else n
  check_drawn(n, object$input$d + 2, "n")
  at <- simulated_patterns(object, covariates, if (is.null(id)) n else nlevels(id), rlang::current_env())
  if (!is.null(at) && is.null(object$model$obs$responses)) covariates <- NULL
  given <- complete_given(
    object, list(initial = initial, total = total, exposure = exposure, covariates = covariates, time = time)
  )
  if (!is.null(given$time)) given$time <- one_slot_a_row(given$time, n)
  weights <- weights_with_new(object, at)
  new <- check_flag(new %||% (state_lag(object) == 0L), "new") && any(weights[, object$state$k + 1L] > 0)
  if (!new) weights <- in_known(object, weights)
  clusters <- clusters_with_new(object)
  draw <- function() {
    drawn <- if (has_weights_by_time(object)) {
      draw_by_time(weights, given$time)
    } else if (!is.null(at)) {
      draw_by_time(weights, at$position + 1L)
    } else {
      sample.int(ncol(weights), if (is.null(id)) n else nlevels(id), replace = TRUE, prob = weights)
    }
    class <- if (is.null(id)) carry_back(drawn, c(0L, n), state_lag(object)) else drawn[as.integer(id)]
    given$id <- id
    out <- as.data.frame(draw_rows(object, clusters, class, n, given))
    out$.class <- drawn_classes(object, class, new)
    out$.id <- id
    if (!is.null(given$time)) out$.time <- object$model$obs$times[given$time]
    out
  }
  simulate_sets(nsim, seed, draw)
}

# The clusters of simulated rows as a factor. Clusters that the fit has not seen have the number after the
# fit's last, and the level "new".
drawn_classes <- function(fit, class, new) {
  k <- fit$state$k
  factor(class, seq_len(k + new), c(seq_len(k), if (new) "new"))
}

# The result of simulate(): nsim draws with names and the attribute `seed`. With a given seed, R's own random
# stream is left as it was.
simulate_sets <- function(nsim, seed, draw, call = rlang::caller_env()) {
  drawn <- with_r_seed(nsim, seed, draw, call)
  structure(
    stats::setNames(drawn$sets, paste0("sim_", seq_len(nsim))), seed = drawn$seed, class = c("bnp_simulation", "list")
  )
}

# Calls draw() n times: list(sets, seed) has the results, and the value for the attribute `seed` of
# simulate().
with_r_seed <- function(n, seed, draw, call) {
  if (!is.null(seed)) seed <- check_r_seed(seed, call)
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", envir = globalenv())
  if (!is.null(seed)) {
    set.seed(seed)
    on.exit(assign(".Random.seed", before, envir = globalenv()))
  }
  used <- if (is.null(seed)) before else structure(seed, kind = as.list(RNGkind()))
  first <- draw()
  check_memory(n * as.double(utils::object.size(first)), paste(n, "data sets"), "Draw fewer at a time.", call)
  list(sets = c(list(first), lapply(seq_len(n - 1L), function(i) draw())), seed = used)
}

# The attribute `seed` is not printed: the state of R's generator is 626 numbers, for set.seed() only.
#' @export
print.bnp_simulation <- function(x, n = 6L, ...) {
  shown <- utils::head(x, 3L)
  for (name in names(shown)) {
    cat(name, ": ", count_of(nrow(x[[name]]), "row"), " of ", count_of(ncol(x[[name]]), "column"), "\n", sep = "")
    if (is.data.frame(x[[name]])) print(utils::head(x[[name]], n))
  }
  if (length(x) > 3L) cat("... and ", length(x) - 3L, " more\n", sep = "")
  invisible(x)
}

# Checks that `seed` is a seed for set.seed() or NULL.
check_r_seed <- function(seed, call) {
  ok <- is.numeric(seed) && length(seed) == 1L && is.finite(seed) && abs(seed) <= .Machine$integer.max
  if (!ok) abort("argument", "{.arg seed} must be one whole number or {.code NULL}, not {describe(seed)}.", call = call)
  as.integer(seed)
}

# Completes the arguments of simulate() on which the draws of a model are conditioned, such as covariates;
# refuses arguments that the model does not have.
complete_given <- function(fit, asked, call = rlang::caller_env()) {
  obs <- fit$model$obs
  own <- obs_given(obs)
  foreign <- setdiff(names(asked)[!vapply(asked, is.null, NA)], names(own))
  if (length(foreign)) {
    abort("argument", "{.arg {foreign}} {?has/have} no meaning for {.fn {obs_facts(obs)$constructor}}.", call = call)
  }
  Map(function(name, complete) complete(asked[[name]], fit, call), names(own), own)
}

# Draws rows of sequences of the given lengths, one after the other. path: for each row the number of its
# cluster, an element of `clusters`.
draw_rows <- function(fit, clusters, path, lengths, given) {
  obs <- fit$model$obs
  given$exposure <- exposure_by_row(given$exposure, length(path))
  x <- if (length(path)) obs_draw(obs, clusters, path, lengths, given) else matrix(0, 0L, fit$input$d)
  storage.mode(x) <- "double"
  dimnames(x) <- list(NULL, column_labels(fit))
  if (obs_can(obs, "as_frame")) {
    return(obs_as_frame(obs, x))
  }
  column <- exposure_column(obs)
  if (is.null(column)) x else cbind(x, matrix(given$exposure, dimnames = list(NULL, column)))
}

# Rows of data in the internal form as the user gave them: as columns of a data frame, or as a numeric matrix.
rows_as_given <- function(fit, data) {
  x <- as.matrix(data_matrix(data))
  if (obs_can(fit$model$obs, "as_frame")) obs_as_frame(fit$model$obs, x) else x
}

# Draws rows for models whose rows have no order: draw(parameters, rows) returns the rows of one cluster as a
# matrix.
draw_by_cluster <- function(clusters, path, draw) {
  used <- unique(path)
  rows <- lapply(used, function(k) which(path == k))
  parts <- Map(draw, clusters[used], rows)
  do.call(rbind, parts)[order(unlist(rows)), , drop = FALSE]
}
