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
#' fit <- bnp_hmm(Nile, obs = obs_lds(), control = bnp_control(seed = 1, restarts = 1))
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

# A table of hidden states: for each sequence, row and state the mean and standard deviation. from: data, or
# the input of a fit, which has the lengths and names of sequences.
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

# The expected rows without noise, rows x columns, and the standard deviations of these expectations.
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

# The table of tidy(): one row for each coefficient of each mode.
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

# The columns that augment() adds: fitted values and hidden states.
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

# The number of rows without a mode at the beginning of a sequence. It is 1, since a mode governs the step from
# one row to the next (results give the first row the mode of the second); 0 if each mode has its own emission.
rows_without_state.bnp_lds <- function(fit) if (sees_by_mode(fit$model$obs)) 0L else 1L

# The parameters of the modes of which rows are drawn: those of the fit's modes alone.
clusters_to_draw.bnp_lds <- function(fit, params, new) posterior_clusters(fit, params)

# The probabilities of the mode that follows the last row of each sequence. After a sequence of a single row,
# which has no mode, they are those of a first mode.
first_state_ahead.bnp_lds <- function(fit, data) {
  transition <- transition_matrix(fit)
  ahead <- state_probabilities(fit, data)[data$starts[-1L], , drop = FALSE] %*% transition
  alone <- diff(data$starts) == 1L
  ahead[alone, ] <- rep(attr(transition, "start"), each = sum(alone))
  unname(ahead)
}

# Forecasts: mixtures over the modes of the rows ahead. Mean and covariance of the hidden states are those of
# the mixture, as for autoregressions; those of rows follow from them.
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

# A symmetric m x m matrix from its lower triangle, which is stored by rows.
unpacked <- function(x, m) {
  out <- matrix(0, m, m)
  out[upper.tri(out, diag = TRUE)] <- x
  out + t(out) - diag(diag(out), m)
}

# Adds to a picture's data the expected rows without noise, with a band of two standard deviations on either
# side; without data the expected rows alone are drawn.
with_band <- function(series, fit, latent, kept) {
  found <- fitted_rows(fit, latent)
  mean <- found$mean[kept, , drop = FALSE]
  reach <- 2 * found$sd[kept, , drop = FALSE]
  series$band <- list(mean = mean, low = mean - reach, high = mean + reach)
  series$seen <- !is.null(series$x)
  if (!series$seen) series$x <- replace(mean, TRUE, NA_real_)
  series
}
