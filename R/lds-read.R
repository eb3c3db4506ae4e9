#' Hidden states of a fit
#'
#' @param fit A fit of [bnp_hmm()] with [obs_lds()].
#' @param newdata,id New sequences, as in [predict.bnp_hmm()]; default, the training data. Nothing is refitted: modes
#'   and hidden states are found given the parameters of the fit.
#' @param ... Must be empty.
#' @return A data frame with one row for each row of the data: `id` of the sequence, `time` (or the number of the row
#'   within it), and for each hidden state `mean.<name>` and `sd.<name>` given all rows of the sequence. With
#'   `loadings = "identity"` hidden states are named by the columns and in their units.
#' @references
#' Rauch, H. E., Tung, F. and Striebel, C. T. (1965). Maximum likelihood estimates of linear dynamic systems. *AIAA
#' Journal* 3(8), 1445-1450.
#' @seealso [obs_lds()]; [augment()][tidiers] for fitted values; [plot.bnp_hmm()].
#' @examples
#' fit <- bnp_hmm(Nile, obs = obs_lds(), control = bnp_control(seed = 1))
#' head(latent_path(fit))
#' @export
latent_path <- function(fit, newdata = NULL, id = NULL, ...) {
  check_no_dots(...)
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  check_able(fit, "latent_path")
  if (is.null(newdata)) {
    return(latent_table(fit, fit$input, fit$latent))
  }
  data <- as_new_sequences(fit, newdata, id)
  if (data$n == 0L) {
    return(latent_table(fit, data, list(mean = matrix(0, 0L, length(fit$model$obs$unit)), var = matrix(0, 0L, 0L))))
  }
  latent_table(fit, data, expected_paths(fit, data))
}

# from: data, or the input of a fit.
latent_table <- function(fit, from, latent) {
  lengths <- diff(from$starts)
  names <- from$group_names %||% as.character(seq_along(lengths))
  m <- ncol(latent$mean)
  own <- cumsum(seq_len(m)) # places of variances in packed lower triangles
  sd <- if (nrow(latent$mean)) sqrt(pmax(latent$var[, own, drop = FALSE], 0)) else latent$mean
  hidden <- hidden_labels(fit)
  out <- data.frame(id = rep(names, lengths), time = from$times %||% sequence(lengths))
  columns <- function(values, prefix) stats::setNames(as.data.frame(values), paste0(prefix, ".", hidden))
  as_tidy(cbind(out, columns(latent$mean, "mean"), columns(sd, "sd")))
}

# Rows x columns: expected rows without their noise, and standard deviations of what is expected.
fitted_rows <- function(fit, latent) {
  e <- fit$emission
  mean <- latent$mean %*% t(e$loadings) + rep(e$offset, each = nrow(latent$mean))
  m <- ncol(latent$mean)
  var <- matrix(0, nrow(mean), ncol(mean))
  for (a in seq_len(m)) for (b in seq_len(a)) {
    twice <- if (a == b) 1 else 2
    var <- var + outer(latent$var[, a * (a - 1L) / 2L + b], twice * e$loadings[, a] * e$loadings[, b])
  }
  dimnames(mean) <- list(NULL, column_labels(fit))
  list(mean = mean, sd = sqrt(pmax(var, 0)))
}

# Largest modulus of an eigenvalue of each mode's dynamics: stable below 1.
moduli <- function(fit) {
  coef <- coef(fit)$coef
  m <- dim(coef)[1L]
  apply(coef, 3L, function(a) max(Mod(eigen(matrix(a, m)[, seq_len(m), drop = FALSE], only.values = TRUE)$values)))
}

# tidy(): one row for each coefficient of each mode.
tidy_hidden <- function(fit) {
  coef <- coef(fit)$coef
  k <- dim(coef)[3L]
  m <- dim(coef)[1L]
  e <- dim(coef)[2L]
  size <- unname(cluster_sizes(fit))
  mode <- rep(seq_len(k), each = m * e)
  as_tidy(data.frame(
    component = mode, size = size[mode], proportion = unname(proportion(fit))[mode],
    duration = as.double(state_durations(fit))[mode],
    response = rep(rep(hidden_labels(fit), e), k),
    term = rep(rep(hidden_axes(fit$model$obs, column_labels(fit))$regressors, each = m), k),
    estimate = as.double(coef), modulus = moduli(fit)[mode]
  ))
}

# Mixtures of modes ahead of the last row: mean and covariance of hidden states by moments, as for autoregressions,
# then of rows.
moments_of_hidden <- function(fit, data, states, transition) {
  obs <- fit$model$obs
  means <- coef(fit)
  e <- fit$emission
  paths <- expected_paths(fit, data)
  k <- fit$state$k
  m <- length(obs$unit)
  steps <- lapply(seq_len(k), function(j) companion(one_cluster(means$coef, c(FALSE, FALSE, TRUE), j), obs))
  noise <- lapply(seq_len(k), function(j) one_cluster(means$cov, c(FALSE, FALSE, TRUE), j))
  sequences <- lapply(seq_along(data$starts[-1L]), function(i) {
    last <- data$starts[i + 1L]
    cov <- matrix(0, m + obs$intercept, m + obs$intercept)
    cov[seq_len(m), seq_len(m)] <- unpacked(paths$var[last, ], m)
    moments_of_sequence(
      c(paths$mean[last, ], if (obs$intercept) 1), steps, noise, lapply(states, function(p) p[i, ]), transition, cov
    )
  })
  gather <- function(what) lapply(seq_along(states), function(h) do.call(rbind, lapply(sequences, what, h)))
  columns <- column_labels(fit)
  list(
    mean = gather(function(s, h) {
      matrix(drop(e$loadings %*% s$mean[[h]]) + e$offset, 1L, dimnames = list(NULL, columns))
    }),
    var = gather(function(s, h) {
      matrix(diag(e$loadings %*% s$cov[[h]] %*% t(e$loadings)) + emission_variance(e), 1L)
    })
  )
}

# A symmetric matrix from its lower triangle by rows.
unpacked <- function(x, m) {
  out <- matrix(0, m, m)
  out[upper.tri(out, diag = TRUE)] <- x
  out + t(out) - diag(diag(out), m)
}
