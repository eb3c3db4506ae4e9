#' Predict features and missing cells of rows
#'
#' Nothing is refitted. Columns are matched by name when both the training data and `newdata` have names.
#'
#' @param object,fit A fit of [bnp_features()].
#' @param newdata Rows, in any form that [bnp_features()] takes; for `predict()` and `heldout_loglik()` also a
#'   [source][sources]. Missing values are left out. Without `newdata`, `"prob"` and `"response"` are those of the
#'   training rows; `"impute"` and `impute()` need `newdata` unless the fit keeps its data ([strip_data()]).
#' @param type `"prob"`: the probability of each feature, rows x features. `"response"`: the expected values of the row,
#'   rows x columns. `"impute"`: `newdata` with missing values replaced by their expectation, and the attribute `sd`, a
#'   matrix of standard deviations (`NA` for values that were not missing).
#' @param cells For `heldout_loglik()`: a logical matrix (rows x columns), `TRUE` for the cells of `newdata` to hold
#'   out, or `NULL`, with which whole rows are scored.
#' @param draws For predictions of cells: the number of draws of each row's features over which predictions are
#'   averaged. 0: the features are regarded as independent, with their probabilities.
#' @param write If `newdata` is a source: where results are written, as in [predict.bnp_mixture()]; standard deviations
#'   of `"impute"` are not written.
#' @param m For `impute()`: the number of completed copies.
#' @param seed `NULL`, or a number for [set.seed()].
#' @param ... Must be empty.
#' @param new_data The same as `newdata`, by the name that tidymodels uses.
#' @return `predict()`: a matrix with a row for each row of `newdata`.
#'
#'   `heldout_loglik()`: with `cells`, the mean log density of these cells given the others of their row, computed as
#'   normal densities with the mean and standard deviation of `type = "impute"`; the attribute `rmse` is the root mean
#'   squared error. Without `cells`, a lower bound on the mean log density of a row.
#'
#'   `impute()`: completed copies as for other fits, see [impute()]; loadings and noise are drawn for each copy,
#'   features for each row.
#' @details The probabilities of a row's features are found by coordinate ascent from two starts. They are approximate,
#'   since the features of a row are regarded as independent given its values. If many sets of features could have made
#'   a row, as in answers on a scale, this approximation chooses one of them. Cells are therefore predicted by averages
#'   over `draws` sweeps of Gibbs sampling of the row's features, after a fifth as many sweeps that are discarded, from
#'   random numbers that are always the same. A standard deviation includes the noise, the uncertainty about the
#'   loadings, and the uncertainty about the features of the row: \eqn{E[\sigma^2] (1 + E[z' V^{-1} z]) + Var(z' M)}.
#' @seealso [bnp_features()], [read_features], `vignette("latent-features")`.
#' @references
#' Doshi-Velez, F., Miller, K. T., Van Gael, J. and Teh, Y. W. (2009). Variational inference for the Indian buffet
#' process. *Artificial Intelligence and Statistics* 12.
#' @examples
#' x <- as.matrix(attitude)
#' fit <- bnp_features(x, control = bnp_control(seed = 1))
#' head(predict(fit, x))
#' x[1, 2] <- NA
#' predict(fit, x[1:2, ], type = "impute")
#' heldout_loglik(fit, attitude, cells = col(attitude) == 2)
#' @export
predict.bnp_features <- function(object, newdata = NULL, type = c("prob", "response", "impute"), ..., new_data = NULL,
                                 draws = 100L, write = NULL) {
  check_no_dots(...)
  check_format(object)
  type <- check_choice(type, c("prob", "response", "impute"), "type")
  draws <- check_count(draws, "draws", lower = 0L)
  newdata <- one_newdata(newdata, new_data)
  if (inherits(newdata, "bnp_source")) {
    return(predict_features_of_source(object, newdata, type, draws, write))
  }
  refuse_write(write)
  if (is.null(newdata) && type != "impute") {
    return(if (type == "response") fitted(object) else for_all_rows(object$input, training_presence(object)))
  }
  newdata <- data_or_kept(newdata, object, "newdata")
  data <- feature_newdata(object, newdata, rlang::current_env())
  if (type == "impute") {
    return(for_all_rows(list(left_out = data$left_out), impute_cells(object, data, draws)))
  }
  nu <- latent_features(object, data)$nu
  if (type == "prob") nu else feature_response(object, nu, data$row_names)
}

# The rows of the data with missing cells replaced by their expectations.
impute_cells <- function(fit, data, draws) {
  cells <- expected_cells(fit, data, draws)
  missing <- is.na(data$x)
  out <- ifelse(missing, cells$mean, data$x)
  sd <- replace(cells$sd, !missing, NA)
  dimnames(out) <- dimnames(sd) <- list(data$row_names, fit$input$column_names)
  structure(out, sd = sd)
}

predict_features_of_source <- function(fit, source, type, draws, write, call = rlang::caller_env()) {
  sds <- list()
  out <- predict_source(fit, source, NULL, write, function(x, id) {
    answer <- predict(fit, x, type, draws = draws)
    if (is.null(write)) sds <<- c(sds, list(attr(answer, "sd")))
    structure(answer, sd = NULL)
  }, call)
  if (is.null(write) && type == "impute") attr(out, "sd") <- do.call(rbind, sds)
  out
}

training_presence <- function(fit) {
  nu <- as.matrix(fit$presence)
  dimnames(nu) <- list(fit$input$row_names, as.character(seq_len(ncol(nu))))
  nu
}

# The features of rows under a fit: list(nu, bound). nu: probabilities of features (rows x features in their
# order); bound: the contribution of each row's features to a lower bound.
latent_features <- function(fit, data, state = fit$state) {
  if (data$n == 0L) {
    nu <- matrix(0, 0L, length(fit$numbering), dimnames = list(NULL, as.character(seq_along(fit$numbering))))
    return(list(nu = nu, bound = double()))
  }
  model <- engine_features_model(fit$model, fit$state$group)
  found <- engine_features_latent(as_engine_data(data), model, state, fit$control$threads)
  nu <- as.matrix(presence_matrix(found$presence, data, fit$state$k)[, fit$numbering, drop = FALSE])
  dimnames(nu) <- list(data$row_names, as.character(seq_along(fit$numbering)))
  list(nu = nu, bound = found$bound)
}

# Expected values of all cells of the rows and their standard deviations, list(mean, sd), in the units of the
# data.
expected_cells <- function(fit, data, draws) {
  if (draws == 0L || data$n == 0L) {
    nu <- latent_features(fit, data)$nu
    return(list(mean = unname(feature_response(fit, nu)), sd = feature_sds(fit, nu)))
  }
  model <- engine_features_model(fit$model, fit$state$group)
  drawn <- engine_features_cells(as_engine_data(data), model, fit$state, draws, fit$control$threads)
  unit <- rep(fit$model$unit, each = data$n)
  list(
    mean = drawn$mean * unit + rep(fit$model$centre, each = data$n),
    sd = sqrt(noise_variance(fit) * (1 + drawn$spread) + drawn$variance) * unit
  )
}

# Standard deviations of cells given probabilities nu of features, in the units of the data.
feature_sds <- function(fit, nu) {
  o <- as.integer(fit$model$offset)
  all <- cbind(matrix(1, nrow(nu), o), nu)
  at <- c(seq_len(o), feature_rows(fit))
  variance <- noise_variance(fit)
  own <- all * (1 - all)
  out <- matrix(0, nrow(nu), fit$input$d)
  for (g in unique(fit$state$group)) {
    columns <- which(fit$state$group == g)
    spread <- 0
    if (length(at)) {
      v <- fit$state$inverse[[g + 1L]][at, at, drop = FALSE]
      spread <- rowSums((all %*% v) * all) + as.vector(own %*% diag(v))
    }
    out[, columns] <- variance * (1 + spread)
  }
  if (length(at)) out <- out + own %*% fit$state$loadings[at, , drop = FALSE]^2
  sqrt(out) * rep(fit$model$unit, each = nrow(nu))
}

#' @rdname predict.bnp_features
#' @export
heldout_loglik.bnp_features <- function(fit, newdata, cells = NULL, ..., draws = 100L) {
  check_no_dots(...)
  check_format(fit)
  need_data(missing(newdata), "newdata")
  call <- rlang::current_env()
  draws <- check_count(draws, "draws", lower = 0L)
  if (inherits(newdata, "bnp_source")) {
    return(heldout_of_source(fit, newdata, cells, draws, call))
  }
  data <- feature_newdata(fit, newdata, call)
  if (is.null(cells)) {
    return(mean(row_bounds(fit, data)))
  }
  check_held_out(cells, dim(data$x), call)
  scores_of_cells(cell_scores(fit, data, cells, draws, call))
}

# Checks which cells of new data are held out to be predicted. size: c(rows, columns); if rows is NA, their
# number is not known yet.
check_held_out <- function(cells, size, call) {
  rows <- if (is.na(size[1L])) nrow(cells) else size[1L]
  if (!is.matrix(cells) || !is.logical(cells) || !identical(dim(cells), c(rows, size[2L])) || anyNA(cells) ||
        !any(cells)) {
    shape <- paste(if (is.na(size[1L])) "with a row for each row of the source," else paste(size[1L], "x"), size[2L])
    abort("argument", c(
      "{.arg cells} must be a logical matrix like {.arg newdata}, {shape}, {.code TRUE} at the cells to hold out, not
       {describe(cells)}."
    ), call = call)
  }
}

# Log density and squared error of each of the held-out cells.
cell_scores <- function(fit, data, cells, draws, call) {
  truth <- data$x[cells]
  if (anyNA(truth)) {
    abort("argument", "{.arg cells} selects cells that are missing in {.arg newdata}.", call = call)
  }
  data$x[cells] <- NA_real_
  expected <- lapply(expected_cells(fit, data, draws), `[`, cells)
  list(score = stats::dnorm(truth, expected$mean, expected$sd, log = TRUE), error = truth - expected$mean)
}

scores_of_cells <- function(scores) structure(mean(scores$score), rmse = sqrt(mean(scores$error^2)))

heldout_of_source <- function(fit, source, cells, draws, call) {
  if (is.null(cells)) {
    return(mean_over_source(fit, source, NULL, function(x, id) row_bounds(fit, feature_newdata(fit, x, call)), call))
  }
  check_held_out(cells, c(NA_integer_, fit$input$d), call)
  before <- 0L
  scores <- over_source(fit, source, NULL, function(x, id) {
    data <- feature_newdata(fit, x, call)
    at <- before + seq_len(data$n)
    before <<- before + data$n
    if (before > nrow(cells)) refuse_cells_of_source(cells, "more", call)
    cell_scores(fit, data, cells[at, , drop = FALSE], draws, call)
  }, call = call)
  if (before < nrow(cells)) refuse_cells_of_source(cells, before, call)
  part <- function(name) unlist(lapply(scores, `[[`, name))
  scores_of_cells(list(score = part("score"), error = part("error")))
}

refuse_cells_of_source <- function(cells, n, call) {
  abort("argument", "{.arg cells} has {nrow(cells)} row{?s}, the source {n}.", call = call)
}

# A lower bound on each row's log density under a fit, with prior probabilities of features that are their
# expected frequencies.
row_bounds <- function(fit, data) {
  prob <- pmin(pmax(fit$state$prob, 1e-300), 1 - 1e-16)
  state <- replace(fit$state, "logit", list(stats::qlogis(prob)))
  if (data$n == 0L) {
    return(NaN)
  }
  x <- scaled_values(data, fit$model)
  seen <- !is.na(x)
  shape <- fit$state$noise[1L]
  rate <- fit$state$noise[2L]
  cells <- rowSums(seen)
  noise <- cells * (digamma(shape) - log(rate) - log(2 * pi)) / 2 - shape / rate * rowSums(x^2, na.rm = TRUE) / 2
  as.vector(latent_features(fit, data, state)$bound + sum(log1p(-prob)) + noise - seen %*% log(fit$model$unit))
}

# Draws loadings (the offset first) and the noise variance from their posterior, in the engine's units.
draw_loadings <- function(fit) {
  variance <- 1 / stats::rgamma(1L, fit$state$noise[1L], fit$state$noise[2L])
  m <- fit$state$loadings
  for (g in if (nrow(m)) unique(fit$state$group)) {
    columns <- which(fit$state$group == g)
    root <- chol(fit$state$inverse[[g + 1L]])
    noise <- matrix(stats::rnorm(nrow(m) * length(columns)), nrow(m))
    m[, columns] <- m[, columns] + sqrt(variance) * crossprod(root, noise)
  }
  list(loadings = m, variance = variance)
}

# Draws rows given their features, in the units of the data, with noise. z: which row has which feature, in
# the order of the features.
draw_feature_rows <- function(fit, drawn, z) {
  o <- as.integer(fit$model$offset)
  m <- drawn$loadings[c(seq_len(o), feature_rows(fit)), , drop = FALSE]
  x <- cbind(matrix(1, nrow(z), o), z) %*% m + sqrt(drawn$variance) * stats::rnorm(nrow(z) * fit$input$d)
  x * rep(fit$model$unit, each = nrow(z)) + rep(fit$model$centre, each = nrow(z))
}

#' @rdname predict.bnp_features
#' @export
impute.bnp_features <- function(fit, newdata, m = 5L, seed = NULL, ...) {
  check_no_dots(...)
  check_format(fit)
  newdata <- data_or_kept(if (!missing(newdata)) newdata, fit, "newdata")
  m <- check_count(m, "m")
  data <- feature_newdata(fit, newdata, rlang::current_env())
  nu <- latent_features(fit, data)$nu
  missing <- is.na(data$x)
  whole <- as.data.frame(`dimnames<-`(data$x, list(data$row_names, column_labels(fit))))
  one <- function() {
    z <- (matrix(stats::runif(length(nu)), nrow(nu), ncol(nu)) < nu) + 0
    x <- draw_feature_rows(fit, draw_loadings(fit), z)
    out <- whole
    for (j in seq_len(ncol(x))) out[missing[, j], j] <- x[missing[, j], j]
    for_all_rows(list(left_out = data$left_out), out)
  }
  sets <- with_r_seed(m, seed, one, rlang::current_env())$sets
  structure(sets, data = for_all_rows(list(left_out = data$left_out), whole), class = c("bnp_imputations", "list"))
}

#' Simulate rows from a fit of latent features
#'
#' Each data set has loadings, noise and probabilities of features drawn from the variational posterior.
#'
#' @param object A fit of [bnp_features()].
#' @param nsim Number of data sets.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param n Rows in each data set.
#' @param ... Must be empty.
#' @return A list of `nsim` data frames, named `sim_1`, ..., each with the columns of the training data and `.feature1`,
#'   ..., the features drawn, logical. Attribute `seed` as for [stats::simulate()].
#' @details Only features that the fit has found are drawn.
#' @references
#' Griffiths, T. L. and Ghahramani, Z. (2011). The Indian buffet process: an introduction and review.
#' *Journal of Machine Learning Research* 12, 1185-1224.
#' @seealso [bnp_features()], [predict.bnp_features()]
#' @examples
#' fit <- bnp_features(attitude, control = bnp_control(seed = 1))
#' head(simulate(fit, seed = 1)$sim_1)
#' @export
simulate.bnp_features <- function(object, nsim = 1, seed = NULL, n = object$input$n, ...) {
  check_no_dots(...)
  check_format(object)
  nsim <- check_count(nsim, "nsim")
  n <- check_count(n, "n", lower = 0L)
  k <- length(object$numbering)
  check_drawn(n, object$input$d + 3 * k, "n")
  draw <- function() {
    prob <- draw_feature_probs(object)
    z <- matrix(stats::runif(n * k), n) < rep(prob, each = n)
    x <- draw_feature_rows(object, draw_loadings(object), z + 0)
    out <- as.data.frame(`colnames<-`(x, column_labels(object)))
    out[paste0(".feature", seq_len(k))] <- as.data.frame(z)
    out
  }
  simulate_sets(nsim, seed, draw)
}

# Draws the features' frequencies pi from their posterior, in the order of the features.
draw_feature_probs <- function(fit) {
  k <- fit$state$k
  if (!length(fit$state$stick)) {
    a <- fit$state$alpha / fit$model$prior$k
    counts <- fit$state$counts[fit$model$offset + seq_len(k)]
    return(stats::rbeta(k, a + counts, pmax(1, 1 + fit$state$scalar[2L] - counts))[fit$numbering])
  }
  stick <- matrix(fit$state$stick, 2L)[, seq_len(k), drop = FALSE]
  cumprod(stats::rbeta(k, stick[1L, ], stick[2L, ]))[fit$numbering]
}
