#' Hidden states of a fit
#'
#' @param fit A fit of [bnp_hmm()] with [obs_lds()].
#' @param newdata,id New sequences, as in [predict.bnp_hmm()]; default, the training data. Nothing is refitted: modes
#'   and hidden states are found given the parameters of the fit.
#' @param ... Must be empty.
#' @return A data frame with one row for each row of the data: `id` of the sequence, `time` (or the number of the row
#'   within it), and for each hidden state its mean `mean.<name>` and standard deviation `sd.<name>` given all rows of
#'   the sequence. With `loadings = "identity"` hidden states have the names and the units of the columns.
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
  data <- if (!is.null(newdata)) as_new_sequences(fit, newdata, id)
  latent_table(fit, data %||% fit$input, latent_rows(fit, data))
}

latent_rows.bnp_lds <- function(fit, data = NULL) if (is.null(data)) fit$latent else expected_paths(fit, data)

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

# Rows x columns: the expected rows without noise, and the standard deviations of these expectations.
fitted_rows <- function(fit, latent) {
  if (!sees_by_mode(fit$model$obs)) {
    return(fitted_by_emission(fit, latent, fit$emission))
  }
  parts <- lapply(seq_len(fit$state$k), function(k) fitted_by_emission(fit, latent, emission_of_mode(fit$emission, k)))
  average <- function(value) Reduce(`+`, Map(function(part, k) latent$resp[, k] * value(part), parts, seq_along(parts)))
  mean <- average(function(part) part$mean)
  list(mean = mean, sd = sqrt(average(function(part) part$sd^2 + (part$mean - mean)^2)))
}

fitted_by_emission <- function(fit, latent, e) {
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

# The largest modulus of the eigenvalues of each mode's dynamics; a mode is stable where it is below 1.
moduli <- function(fit) {
  coef <- coef(fit)$coef
  m <- dim(coef)[1L]
  apply(coef, 3L, function(a) max(Mod(eigen(matrix(a, m)[, seq_len(m), drop = FALSE], only.values = TRUE)$values)))
}

# One row for each coefficient of each mode.
tidy_states.bnp_lds <- function(fit) {
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
    term = rep(rep(obs_axes(fit$model$obs, column_labels(fit))$regressors, each = m), k),
    estimate = as.double(coef), modulus = moduli(fit)[mode]
  ))
}

glance_columns.bnp_lds <- function(fit) list(max_modulus = max(moduli(fit)), unstable = sum(moduli(fit) > 1))

# Fitted values and hidden states.
augment_columns.bnp_lds <- function(fit, data) {
  if (data$n == 0L) {
    return(list())
  }
  latent <- data$expected
  columns <- function(values, prefix, names) stats::setNames(as.data.frame(values), paste0(prefix, names))
  c(
    columns(fitted_rows(fit, latent)$mean, ".fitted.", column_labels(fit)),
    columns(latent$mean, ".state.", hidden_labels(fit))
  )
}

log_densities_ahead.bnp_lds <- function(fit, data, plugin = FALSE, call = rlang::caller_env()) {
  filtered_rows(fit, data, call)$log_density
}

#' @rdname predict.bnp_hmm
#' @export
residuals.bnp_lds <- function(object, newdata, id = NULL, ...) {
  check_no_dots(...)
  check_able(object, "residuals", "object")
  need_data(missing(newdata), "newdata")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  data <- as_new_sequences(object, newdata, id)
  below <- filtered_rows(object, data, rlang::current_env())$below
  for_all_rows(data, `dimnames<-`(normal_scores(below), list(data$row_names, column_labels(object))))
}

# The first mode lasts for two rows, as the first row has no mode of its own.
rows_without_state.bnp_lds <- function(fit) if (sees_by_mode(fit$model$obs)) 0L else 1L

# Simulated rows have no mode beyond those of the fit.
clusters_to_draw.bnp_lds <- function(fit, params, new) posterior_clusters(fit, params)

# One step from the mode of the last row; a sequence of one row is followed by a first mode.
first_state_ahead.bnp_lds <- function(fit, data) {
  transition <- transition_matrix(fit)
  ahead <- state_probabilities(fit, data)[data$starts[-1L], , drop = FALSE] %*% transition
  alone <- diff(data$starts) == 1L
  ahead[alone, ] <- rep(attr(transition, "start"), each = sum(alone))
  unname(ahead)
}

# Forecasts: mixtures over the modes of the rows ahead. Mean and covariance of the hidden states are those of the
# mixtures, as for autoregressions; rows follow from them.
moments_ahead.bnp_lds <- function(fit, data, states, transition, call) {
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

# A symmetric matrix from its lower triangle, stored by rows.
unpacked <- function(x, m) {
  out <- matrix(0, m, m)
  out[upper.tri(out, diag = TRUE)] <- x
  out + t(out) - diag(diag(out), m)
}

# The expected rows without noise, with two standard deviations on either side; without data, only these.
with_band <- function(series, fit, latent, kept) {
  found <- fitted_rows(fit, latent)
  mean <- found$mean[kept, , drop = FALSE]
  reach <- 2 * found$sd[kept, , drop = FALSE]
  series$band <- list(mean = mean, low = mean - reach, high = mean + reach)
  series$seen <- !is.null(series$x)
  if (!series$seen) series$x <- replace(mean, TRUE, NA_real_)
  series
}
