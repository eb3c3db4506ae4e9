# Results that users read from a fit of latent features: probabilities, loadings, noise.

#' Read a fit of latent features
#'
#' @param fit,object A fit of [bnp_features()].
#' @param ... Must be empty.
#' @return
#' * `n_features()`: the number of features in use, that is, of those that at least half a row is expected to have.
#' * `feature_probs()`: the probability that a row has each feature, \eqn{E \pi_k}, by decreasing use.
#' * `coef()`: posterior means, a list: `loadings` (features x columns), `prob`, `sigma` (the standard deviation of the
#'   noise; with `scale = TRUE` one for each column), with `centre = TRUE` `offset`, the expected values of a row
#'   without any feature, and, if `alpha` of the prior is learned, `alpha` with a 90 % interval.
#' * `fitted()`: the expected values of the training rows: offset and loadings of the features that they have.
#' * `residuals()`: `newdata`, usually the training data, minus these expected values.
#' * `summary()`: for each feature how many rows use it, the size of its loadings and its share.
#' * `nobs()`: the number of rows. [elbo()] and [elbo_trace()] read the bound.
#' @seealso [bnp_features()], [predict.bnp_features()] for single rows, [tidy.bnp_features()] for tables.
#' @references
#' Griffiths, T. L. and Ghahramani, Z. (2011). The Indian buffet process: an introduction and review.
#' *Journal of Machine Learning Research* 12, 1185-1224.
#' @examples
#' fit <- bnp_features(scale(attitude), control = bnp_control(seed = 1))
#' n_features(fit)
#' feature_probs(fit)
#' coef(fit)
#' @name read_features
NULL

features_elements <- c(
  "call", "model", "control", "state", "elbo", "elbo_terms", "trace", "converged", "reason", "laps", "sizes",
  "numbering", "presence", "cells", "input"
)

#' @rdname read_features
#' @export
n_features <- function(fit) {
  check_able(fit, "n_features")
  sum(fit$sizes >= 0.5)
}

#' @rdname read_features
#' @export
feature_probs <- function(fit) {
  check_able(fit, "feature_probs")
  stats::setNames(fit$state$prob[fit$numbering], seq_along(fit$numbering))
}

# Row numbers of the features in the engine's tables, in the order in which users see the features.
feature_rows <- function(fit) fit$model$offset + fit$numbering

# Posterior mean of the loadings in the units of the data.
feature_loadings <- function(fit) {
  m <- fit$state$loadings[feature_rows(fit), , drop = FALSE] * rep(fit$model$unit, each = length(fit$numbering))
  dimnames(m) <- list(as.character(seq_along(fit$numbering)), column_labels(fit))
  m
}

# The offset of latent features: the expected values of a row that has no feature.
feature_offset <- function(fit) {
  own <- if (fit$model$offset) fit$state$loadings[1L, ] else 0
  stats::setNames(fit$model$centre + own * fit$model$unit, column_labels(fit))
}

# The posterior mean of the noise variance, in the engine's units.
noise_variance <- function(fit) fit$state$noise[2L] / (fit$state$noise[1L] - 1)

feature_sigma <- function(fit) {
  sigma <- sqrt(noise_variance(fit)) * fit$model$unit
  if (length(unique(sigma)) == 1L) sigma[1L] else stats::setNames(sigma, column_labels(fit))
}

# The concentration of a fit of latent features: a number or, if it is learned under the infinite prior, its
# posterior mean and 90 % interval.
feature_alpha <- function(fit) {
  alpha <- fit$state$alpha
  if (length(alpha) == 1L) {
    return(alpha)
  }
  ends <- stats::qgamma(c(0.05, 0.95), alpha[2L], alpha[3L])
  c(mean = alpha[1L], lower = ends[1L], upper = ends[2L])
}

#' @rdname read_features
#' @export
coef.bnp_features <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  out <- list(loadings = feature_loadings(object), prob = feature_probs(object), sigma = feature_sigma(object))
  if (object$model$offset) out$offset <- feature_offset(object)
  out$alpha <- feature_alpha(object)
  out
}

#' @rdname read_features
#' @export
fitted.bnp_features <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  for_all_rows(object$input, feature_response(object, object$presence, object$input$row_names))
}

# Expected values of rows given probabilities nu of features: rows x columns, in the units of the data.
feature_response <- function(fit, nu, row_names = rownames(nu)) {
  out <- as.matrix(nu %*% feature_loadings(fit)) + rep(feature_offset(fit), each = nrow(nu))
  dimnames(out) <- list(row_names, fit$input$column_names)
  out
}

#' @rdname read_features
#' @param newdata For `residuals()`: rows, usually the training data. Not needed if the fit keeps its data
#'   ([strip_data()]).
#' @export
residuals.bnp_features <- function(object, newdata, ...) {
  check_no_dots(...)
  newdata <- data_or_kept(if (!missing(newdata)) newdata, object, "newdata")
  data <- feature_newdata(object, newdata, rlang::current_env())
  left <- data$x - unname(feature_response(object, latent_features(object, data)$nu))
  for_all_rows(list(left_out = data$left_out), `dimnames<-`(left, list(data$row_names, object$input$column_names)))
}

#' @rdname read_features
#' @export
nobs.bnp_features <- function(object, ...) {
  check_format(object)
  as.integer(object$input$n)
}

#' @export
logLik.bnp_features <- function(object, ...) {
  check_format(object)
  structure(object$elbo, df = NA_integer_, nobs = nobs(object), class = "logLik")
}

#' @export
print.bnp_features <- function(x, ...) {
  check_format(x)
  cat(features_head(x), sep = "\n")
  k <- length(x$sizes)
  shown <- signif(x$sizes[seq_len(min(12L, k))], 3)
  more <- if (k > 12L) paste0(" ... (", k, " in all)")
  has <- if (k > 0L) paste0("Rows that have each: ", paste(shown, collapse = " "), more)
  for (line in c(has, described_kept(x))) cat(strwrap(line, exdent = 2), sep = "\n")
  invisible(x)
}

features_head <- function(fit) {
  k <- n_features(fit)
  empty <- length(fit$sizes) - k
  gaps <- fit$input$n_missing
  sigma <- feature_sigma(fit)
  c(
    paste0("Latent features, linear-Gaussian (", prior_entry(fit$model$prior)$title, ")"),
    paste0(
      count_of(k, "feature"), " in use", if (empty > 0) paste0(" (and ", empty, " empty)"), ", ",
      count_of(fit$input$n, "row"), " of ", count_of(fit$input$d, "column"),
      if (!is.null(gaps)) paste0(", ", count_of(gaps, "value"), " missing")
    ),
    described_bound(fit),
    paste0(
      format(sum(fit$sizes) / fit$input$n, digits = 3), " features a row; noise sd ",
      if (length(sigma) == 1L) paste0(format(sigma, digits = 3), " in all columns, as they are") else
        paste0(
          format(min(sigma), digits = 3), " to ", format(max(sigma), digits = 3), ", in proportion to the columns"
        ),
      "; ", format(100 * share_explained(fit), digits = 3), " % of the squares",
      if (fit$model$offset) " about the column means", " explained"
    ),
    if (length(feature_alpha(fit)) > 1L || inherits(fit$model$prior$alpha, "bnp_gamma_prior")) {
      described_concentrations(list(alpha = feature_alpha(fit)))
    },
    described_changes(fit)
  )
}

# The share of the sum of squares about the centre that the features of a fit explain.
share_explained <- function(fit) {
  cells <- fit$state$scalar[3L]
  squares <- fit$state$scalar[4L]
  if (squares > 0) min(1, max(0, 1 - noise_variance(fit) * cells / squares)) else 0
}

#' @rdname read_features
#' @export
summary.bnp_features <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  structure(list(fit = object, features = as.data.frame(object)), class = "summary.bnp_features")
}

#' @export
print.summary.bnp_features <- function(x, ...) {
  fit <- x$fit
  cat(features_head(fit), sep = "\n")
  terms <- fit$elbo_terms
  lines <- c(
    paste0("ELBO terms: ", paste(names(terms), "=", format(terms, digits = 6, trim = TRUE), collapse = ", ")),
    paste0("Prior: ", format(fit$model$prior)),
    if (!is.null(fit$input$sampled)) {
      paste0("Means, spreads and the prior of the noise: from a random sample of ", count_of(fit$input$sampled, "row"))
    },
    paste0(
      "Learning: ", fit$control$algorithm, ", ", count_of(fit$control$batches, "batch", "es"), ", seed ",
      format(fit$control$seed, digits = 16), "; moves: ", format(fit$control$moves)
    )
  )
  for (line in lines) cat(strwrap(line, exdent = 2), sep = "\n")
  if (nrow(x$features)) {
    cat("Features by use:\n")
    shown <- x$features[seq_len(min(6L, nrow(x$features))), seq_len(min(7L, ncol(x$features)))]
    print(format(shown, digits = 3), row.names = FALSE)
  }
  invisible(x)
}

#' @export
as.data.frame.bnp_features <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_format(x)
  loadings <- feature_loadings(x)
  cbind(
    data.frame(feature = seq_along(x$sizes), size = x$sizes, prob = unname(feature_probs(x))),
    as.data.frame(loadings, row.names = seq_len(nrow(loadings)))
  )
}

try_state.bnp_features <- function(fit, call) NULL

shape_of.bnp_features <- function(fit) {
  state <- fit$state
  model <- fit$model
  offset <- isTRUE(model$offset)
  k <- k_of_fit(fit)
  d <- fit$input$d
  all <- k + offset
  is_number <- function(x, length) is.numeric(x) && length(x) %in% length && !anyNA(x)
  which_hold(
    "model$offset" = rlang::is_bool(model$offset), "model$centre" = is_number(model$centre, d),
    "model$unit" = is_number(model$unit, d) && all(model$unit > 0), "model$likelihood" = is.list(model$likelihood),
    "state$loadings" = is.matrix(state$loadings) && is_table_of(state$loadings, all, d),
    "state$extra" = is.matrix(state$extra) && is_table_of(state$extra, all),
    "state$counts" = is_number(state$counts, all), "state$scalar" = is_number(state$scalar, 3:8),
    "state$pair" = is.numeric(state$pair) && (all == 0 || length(state$pair) %% (all * all) == 0),
    "state$noise" = is_number(state$noise, 2L), "state$precision" = is_number(state$precision, 3L),
    "state$prob" = is_number(state$prob, k), "state$logit" = is_number(state$logit, k),
    "state$alpha" = is_number(state$alpha, c(1L, 3L)),
    "state$group" = is_number(state$group, d) && all(state$group >= 0 & state$group < length(state$inverse)),
    "state$inverse" = is.list(state$inverse) && all(vapply(state$inverse, is.matrix, NA)),
    "presence" = !is.null(fit$presence) && is_table_of(fit$presence, unique(c(fit$input$n, nrow(fit$presence))), k),
    "cells" = is_number(fit$cells, d)
  )
}
