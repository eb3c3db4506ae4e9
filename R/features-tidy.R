#' Latent features as tidy tables
#'
#' @param x A fit of [bnp_features()].
#' @param data Rows to augment, usually the training data.
#' @param ... Must be empty.
#' @return `tidy()`: one row for each feature and column, `feature`, `column`, `estimate` (the loading), `sd`.
#'   `glance()`: one row, `k`, `elbo`, `nobs`, `laps`, `converged`, `seconds` (of the start that is kept), `sigma` (with
#'   `scale = TRUE` the mean over columns), `explained`, the share of the squares of the data (with `centre = TRUE`
#'   about the column means) that features explain, and `alpha`. `augment()`: `data` with the probability of each
#'   feature, `.feature1`, ...
#' @references
#' Robinson, D. (2014). broom: an R package for converting statistical analysis objects into
#' tidy data frames. arXiv:1412.3565.
#' @seealso [bnp_features()], [read_features]
#' @examples
#' fit <- bnp_features(attitude, control = bnp_control(seed = 1))
#' tidy(fit)
#' glance(fit)
#' head(augment(fit, attitude))
#' @export
tidy.bnp_features <- function(x, ...) {
  check_no_dots(...)
  check_format(x)
  loadings <- feature_loadings(x)
  as_tidy(data.frame(
    feature = rep(seq_len(nrow(loadings)), each = ncol(loadings)), column = rep(column_labels(x), nrow(loadings)),
    estimate = as.double(t(loadings)), sd = as.double(t(loading_sds(x)))
  ))
}

# Posterior standard deviations of the loadings: features x columns.
loading_sds <- function(fit) {
  at <- feature_rows(fit)
  out <- matrix(0, length(at), fit$input$d)
  for (g in if (length(at)) unique(fit$state$group)) {
    out[, fit$state$group == g] <- diag(fit$state$inverse[[g + 1L]])[at]
  }
  sqrt(noise_variance(fit) * out) * rep(fit$model$unit, each = length(at))
}

#' @rdname tidy.bnp_features
#' @export
glance.bnp_features <- function(x, ...) {
  check_no_dots(...)
  check_format(x)
  trace <- elbo_trace(x)
  as_tidy(data.frame(
    k = n_features(x), elbo = x$elbo, nobs = nobs(x), laps = x$laps, converged = x$converged,
    seconds = if (nrow(trace)) trace$seconds[nrow(trace)] else 0, sigma = mean(feature_sigma(x)),
    explained = share_explained(x), alpha = unname(feature_alpha(x)[1L])
  ))
}

#' @rdname tidy.bnp_features
#' @export
augment.bnp_features <- function(x, data, ...) {
  check_no_dots(...)
  check_format(x)
  data <- data_or_kept(if (!missing(data)) data, x, "data")
  internal <- feature_newdata(x, data, rlang::current_env(), "data")
  nu <- for_all_rows(list(left_out = internal$left_out), unname(latent_features(x, internal)$nu))
  if (is_internal(data)) data <- table_of_kept(x, data)
  out <- as.data.frame(if (is.data.frame(data)) data else data_matrix_of(data))
  out[paste0(".feature", seq_len(ncol(nu)))] <- as.data.frame(nu)
  like_input(out, data)
}
