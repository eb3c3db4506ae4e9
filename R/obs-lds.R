# Switching linear dynamical systems: hidden states move linearly, with dynamics that switch between modes, and are
# observed with noise.

#' Hidden linear dynamics with noisy observations
#'
#' For [bnp_hmm()]: a hidden state moves linearly, differently in each mode, and rows are observed with noise that is
#' the same in all modes, or each mode's own. Modes (which `fitted()` and [segments()] call states) follow each other as
#' in any hidden Markov model, and their number is found. [obs_ar()] treats noise of the observations as part of the
#' dynamics; this model separates the two. Missing values may be anywhere.
#'
#' @details
#' With hidden states \eqn{x_t} (m numbers) and modes \eqn{z_t} of the rows t = 2, ..., T of a sequence, \deqn{x_1 \sim
#' N(m_0, P_0),\quad x_t \sim N(A_k (x_{t-1}, [1]), \Lambda_k^{-1}),\ k = z_t,\quad y_{tj} \sim N(c_j' (x_t, [1]), 1 /
#' \rho_j),} with \eqn{\Lambda_k \sim W(}`df`\eqn{, }`scale`\eqn{^{-1})} and coefficients of mean `coef_mean` and column
#' precision `coef_precision` as in [obs_ar()], and \eqn{\rho_j \sim} Gamma(`noise_df` / 2, rate `noise_scale` / 2). The
#' first row of a sequence has no mode of its own: results give it the mode of the second row. A sequence of one row
#' gets the most probable mode of its next row.
#'
#' With `loadings = "identity"` there is one hidden number for each column: the value of the column without noise, in
#' its unit. With a number m below the number of columns there are m hidden states, and \eqn{c_j} is learned, with an
#' intercept. The hidden states are then known only up to an invertible map (priors choose one), on which modes,
#' forecasts and fitted values do not depend.
#'
#' Defaults are read from the data: `scale` from a tenth of the variance of first differences, and the variance of the
#' noise from covariances at lags 0, 1 and 2, in which white noise and slow dynamics differ. With an intercept the
#' defaults do not depend on the origin of the data. A missing cell is simply left out of its column's likelihood, which
#' is exact.
#'
#' **Inputs** are known numbers u_t that act on the hidden states, such as the control of a machine or the weather: F_k
#' u_t is added to A_k x_\{t-1\}. Each mode has its own effects F_k (the last coefficients of `coef()`). Their prior
#' mean is 0, with a precision of 0.1 for inputs that are scaled by their standard deviations (and centred, if there is
#' an intercept). If `coef_mean` and `coef_precision` are given, they have the coefficients of inputs last. Inputs must
#' not be missing. They act from the second row of a sequence on, and only on the hidden states, not directly on the
#' rows.
#'
#' With **`emission = "by_mode"`** each mode has its own \eqn{\rho_j} and, if loadings are learned, its own \eqn{c_j},
#' independent a priori. A sensor that fails is then a mode in which its noise is large, or its loading near 0. All rows
#' have a mode, including the first of a sequence; the distribution of the
#' first mode is that of first states in a hidden Markov model.
#'
#' With **`noise` as a matrix** the noise of each sensor in each mode is given, for instance from a data sheet, while
#' dynamics (and loadings) are learned. The noise then also helps to tell modes apart. Modes are numbered as the columns
#' of the matrix: mode 2 has `noise[, 2]`, even if it has no rows. This needs [`prior_hmm(k)`][prior_hmm] with a mode
#' for each column: modes whose number is open come and go during a fit, and the noise of a new one would not be known.
#' Modes exchange their noise if that raises the bound. Births are tried in modes without rows; merges and deletes are
#' not tried.
#'
#' @section What to expect:
#' The search is coordinate ascent of an exact lower bound. It starts from the modes of an autoregressive model of the
#' rows and from a single mode; births of modes try windows of 32 to 64 rows that get a linear system of their own. It
#' takes a hundred times as long as a fit with [obs_ar()], and with much noise ends in local optima: `restarts` help.
#'
#' Probabilities of modes are too near 0 and 1 where modes change, as the variational posterior treats modes and hidden
#' states as independent. A mode may be unstable (an eigenvalue of its dynamics above 1, see `glance()`): it can
#' describe short excursions well, but forecasts and simulations that stay in it grow without bound. Nothing is clipped.
#'
#' Not available: stochastic and truncation-free learning, `sparsity`, several `batches`, products, trees, and samplers.
#' With inputs or `emission = "by_mode"`, [simulate()] and forecasts from the fit are not available either; use
#' [bnp_filter()] and its forecasts given the inputs of later rows.
#'
#' @param loadings `"identity"`, or the number of hidden states, below the number of columns.
#' @param intercept Do the dynamics have an intercept? Without one, states decay to the origin of the data, or grow
#'   away from it.
#' @param df,scale,coef_mean,coef_precision Priors of the dynamics of a mode, as in [obs_ar()] with `lag = 1`; in the
#'   unit of the columns or, with learned loadings, in that of their scores on principal components.
#' @param noise Known variance of the noise: a number above 0, or one for each column. `NULL`: it is learned. With
#'   `emission = "by_mode"` and a fixed number of modes, [`prior_hmm(k)`][prior_hmm], also a matrix with a row for each
#'   column and a column for each mode.
#' @param noise_df,noise_scale Prior of the variance of the noise; its expectation is `noise_scale / (noise_df - 2)`.
#' @param start_mean,start_var Mean and variance (a matrix, its diagonal or one number) of the first hidden state of a
#'   sequence. Default: column medians, and ten times the variance of the columns.
#' @param inputs Columns of the data that are known inputs, which must be numeric: `~ u1 + u2`, or their names. `NULL`:
#'   none.
#' @param emission `"shared"`: all modes have the same loadings and noise; `"by_mode"`: each mode has its own.
#' @param ... Must be empty.
#' @return An object of class `bnp_obs`, to be given as `obs`.
#' @references
#' Fox, E., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). Bayesian nonparametric inference of switching
#' dynamic linear models. *IEEE Transactions on Signal Processing* 59(4), 1569-1585.
#'
#' Ghahramani, Z. and Hinton, G. E. (2000). Variational learning for switching state-space models. *Neural Computation*
#' 12(4), 831-864.
#' @seealso [bnp_hmm()], [latent_path()], [obs_ar()]; `vignette("over-time")`.
#' @examples
#' # The flow of the Nile: one mode, a slow level under noise
#' fit <- bnp_hmm(Nile, obs = obs_lds(), control = bnp_control(seed = 1, restarts = 1))
#' fit
#' coef(fit)$noise_var
#' head(latent_path(fit))
#'
#' # A sensor that is noisy for a while
#' set.seed(1)
#' level <- cumsum(rnorm(120, sd = 0.2))
#' reading <- level + rnorm(120, sd = rep(c(0.1, 2, 0.1), c(50, 30, 40)))
#' fit <- bnp_hmm(reading, obs = obs_lds(emission = "by_mode"), seed = 1, restarts = 1)
#' segments(fit)
#' @export
obs_lds <- function(loadings = "identity", intercept = FALSE, df = NULL, scale = NULL, coef_mean = NULL,
                    coef_precision = NULL, noise = NULL, noise_df = 4, noise_scale = NULL, start_mean = NULL,
                    start_var = NULL, inputs = NULL, emission = c("shared", "by_mode"), ...) {
  check_no_dots(...)
  if (!sees_all(list(loadings = loadings))) {
    if (!is.numeric(loadings)) {
      abort("argument", c(
        "{.arg loadings} must be {.str identity} or a number of hidden states, not {describe(loadings)}."
      ))
    }
    loadings <- check_count(loadings, "loadings")
  }
  emission <- check_choice(emission, c("shared", "by_mode"), "emission")
  if (!is.null(coef_mean) && (!is.numeric(coef_mean) || !all(is.finite(coef_mean)))) {
    abort("argument", "{.arg coef_mean} must be a matrix of finite numbers, not {describe(coef_mean)}.")
  }
  if (!is.null(noise)) {
    noise <- check_noise(noise, "noise", rlang::current_env(), by_mode = emission == "by_mode")
    if (!is.null(noise_scale)) {
      abort("argument", "{.arg noise} is a known variance, {.arg noise_scale} the prior of one that is learned: give
                         one of them.")
    }
  }
  if (emission == "by_mode" && !is.null(noise) && !is.matrix(noise) && identical(loadings, "identity")) {
    abort("argument", c(
      "With {.code loadings = \"identity\"} the only thing that {.code emission = \"by_mode\"} learns is the noise,
       which {.arg noise} fixes.",
      i = "Leave one of them out, or give {.arg noise} as a matrix with a column for each mode."
    ))
  }
  obs <- new_obs(
    "lds",
    loadings = loadings, intercept = check_flag(intercept, "intercept"), df = if (!is.null(df)) check_number(df, "df"),
    scale = check_definite(scale, "scale"), coef_mean = if (!is.null(coef_mean)) as.matrix(coef_mean),
    coef_precision = check_definite(coef_precision, "coef_precision"), noise = noise,
    noise_df = check_positive(check_number(noise_df, "noise_df"), "noise_df"),
    noise_scale = if (!is.null(noise_scale)) check_noise(noise_scale, "noise_scale", rlang::current_env()),
    start_mean = if (!is.null(start_mean)) check_vector(start_mean, "start_mean"),
    start_var = check_definite(start_var, "start_var")
  )
  obs$inputs <- input_names(inputs)
  obs$by_mode <- if (emission == "by_mode") TRUE
  obs
}

# Checks a known variance of noise, which must be above 0: one number, one for each column or, unless by_mode
# is NULL, a matrix of columns x modes, which requires by_mode = TRUE.
check_noise <- function(x, arg, call, by_mode = NULL) {
  if (is.matrix(x) && is.null(by_mode)) {
    abort("argument", c(
      "{.arg {arg}} must be one number, or one for each column, not {describe(x)}.",
      i = "Only {.arg noise}, which is known, may have a column for each mode."
    ), call = call)
  }
  if (is.matrix(x) && !by_mode) {
    abort("argument", c(
      "{.arg {arg}} is a matrix, with a column for each mode, but all modes have the same emission.",
      i = "Add {.code emission = \"by_mode\"}, or give one number, or one for each column of the data."
    ), call = call)
  }
  values <- check_vector(as.vector(x), arg, call)
  if (any(values <= 0)) {
    abort("argument", c(
      "{.arg {arg}} must be above 0; {cli::qty(sum(values <= 0))}element{?s} {places(which(values <= 0))}
       {cli::qty(sum(values <= 0))}{?is/are} not.",
      i = "An autoregression ({.fn {model_ar$constructor}}) sees hidden states without noise."
    ), call = call)
  }
  if (is.matrix(x)) matrix(as.double(x), nrow(x)) else as.double(values)
}

obs_resolve.obs_lds <- function(obs, data, start, call) {
  d <- data$d
  identity <- sees_all(obs)
  m <- if (identity) d else obs$loadings
  if (!identity && m >= d) {
    abort("argument", c(
      "{.arg loadings} must be below the number of columns ({d}), not {m}.",
      i = "{.code loadings = \"identity\"} has a hidden state for each column."
    ), call = call)
  }
  if (!identity && m >= data$n) {
    abort("argument", c(
      "{.arg loadings} must be below the number of rows ({data$n}), not {m}.",
      i = "So few rows do not tell {m} hidden states apart."
    ), call = call)
  }
  medians <- column_medians(data$x, data$weights)
  obs$identity <- identity
  obs$lag <- 1L
  obs$column_unit <- column_units(data$x, medians, data$column_names, call, data$weights)
  obs$column_centre <- if (obs$intercept || !identity) medians else rep(0, d)
  obs$unit <- if (identity) obs$column_unit else rep(1, m)
  obs$centre <- if (identity) obs$column_centre else rep(0, m)
  obs <- with_input_units(obs, data, call)
  rows <- hidden_rows(obs, data)
  spread <- column_variances(rows) * obs$unit^2
  within <- !seq_len(max(data$n - 1L, 0L)) %in% data$starts
  steps <- rows[-1L, , drop = FALSE] - rows[-data$n, , drop = FALSE]
  steps <- obs$unit^2 * column_variances(steps[within, , drop = FALSE])
  e <- m + obs$intercept + n_inputs_of(obs)
  obs$df <- check_df(obs$df %||% (m + 2), m, call)
  share <- max(obs$df - m - 1, 1)
  obs$rows_scale <- diag(steps / 2 * share, m)
  obs$scale <- expand_hidden(obs$scale %||% (0.1 * steps * share), m, "scale", call)
  obs$coef_mean <- obs$coef_mean %||% cbind(diag(m), matrix(0, m, e - m))
  if (!identical(dim(obs$coef_mean), c(m, e))) {
    abort("argument", c(
      "{.arg coef_mean} must be a {m} x {e} matrix for {m} hidden state{?s}, not {describe(obs$coef_mean)}."
    ), call = call)
  }
  storage.mode(obs$coef_mean) <- "double"
  if (!is.null(obs$coef_precision)) obs$coef_precision <- expand_hidden(obs$coef_precision, e, "coef_precision", call)
  precision <- c(steps / 4, if (obs$intercept) 0.01, 0.1 * obs$input_unit^2) # of inputs: a guess
  obs <- with_centred_precision(obs, precision, call)
  white <- obs$column_unit^2 * white_noise(obs, data)
  if (is.null(obs$noise)) {
    obs$noise_scale <- expand_vector(obs$noise_scale %||% (max(obs$noise_df - 2, obs$noise_df / 2) * white), d,
                                     "noise_scale", call)
    check_noise_range(obs$noise_scale, obs, "noise_scale", call)
    obs$noise <- NULL
  } else {
    obs$noise <- if (noise_is_by_mode(obs)) expand_noise(obs$noise, d, call) else
      expand_vector(obs$noise, d, "noise", call)
    check_noise_range(obs$noise, obs, "noise", call)
    obs$noise_scale <- obs$noise_df <- NULL
  }
  obs$loading_precision <- if (identity) NULL else diag(m + 1)
  obs$start_mean <- expand_vector(obs$start_mean %||% (if (identity) medians else rep(0, m)), m, "start_mean", call)
  check_start_mean(obs$start_mean, if (identity) medians else 0, obs$unit, call)
  obs$start_var <- expand_hidden(obs$start_var %||% (10 * spread), m, "start_var", call)
  check_in_units(diag(obs$start_var), obs$unit, "start_var", c(1e-10, 1e12), call)
  obs
}

# Refuses a mean of the first hidden state too far from the data: it would leave no digits for the other
# states.
check_start_mean <- function(x, middle, unit, call, farthest = 1e10) {
  far <- which(!(abs(x / unit - middle / unit) <= farthest))
  if (length(far)) {
    abort("range", c(
      "{.arg start_mean} must be within {farthest} spreads of the data.",
      x = "Entry {far[1L]} is {signif(x[far[1L]], 3)}, where the spread is about {unit[far[1L]]}.",
      i = "Leave {.code NULL} for the default, or rescale {.arg x}."
    ), call = call)
  }
}

# Does expand_matrix() for a parameter of m hidden states: one number, a diagonal, or an m x m matrix.
expand_hidden <- function(x, m, arg, call) {
  if (is.matrix(x) || length(x) %in% c(1L, m)) {
    return(expand_matrix(x, m, arg, call))
  }
  abort("argument", c(
    "{.arg {arg}} must be a matrix of {m} x {m}, its diagonal, or one number, not {describe(x)}."
  ), call = call)
}

check_noise_range <- function(x, obs, arg, call) {
  check_in_units(x, rep_len(obs$column_unit, length(x)), arg, c(1e-10, 1e10), call)
}

# Initial values of the hidden states, rows x hidden states in engine units: the rows of data, with missing
# cells filled from their neighbours, or the scores of these rows on principal components.
hidden_rows <- function(obs, data) {
  z <- filled_rows(obs, data)
  if (obs$identity) {
    return(z)
  }
  m <- obs$loadings
  z <- z - rep(colMeans(z), each = nrow(z))
  parts <- svd(z, nu = m, nv = 0L)
  parts$u * rep(parts$d[seq_len(m)], each = nrow(z))
}

# Standardised columns in which missing cells are filled: interpolated linearly within a sequence, 0 (the
# centre) where a sequence has no value in the column.
filled_rows <- function(obs, data) {
  z <- standardise(data$x, list(centre = obs$column_centre, unit = obs$column_unit))
  z <- unname(z)
  if (!anyNA(z)) {
    return(z)
  }
  for (g in seq_len(length(data$starts) - 1L)) {
    rows <- seq_len(data$starts[g + 1L] - data$starts[g]) + data$starts[g]
    for (j in seq_len(ncol(z))) {
      v <- z[rows, j]
      seen <- which(!is.na(v))
      z[rows, j] <- if (length(seen) > 1L) stats::approx(seen, v[seen], seq_along(v), rule = 2)$y else
        if (length(seen)) v[seen] else 0
    }
  }
  z
}

# The variance of white noise in each column, in engine units, by the method of moments. With autocovariances
# G_l of lag l, the dynamics A = G_2 G_1^-1 do not depend on the noise, and G_0 - G_1 G_2^-1 G_1 is the
# noise's covariance.
white_noise <- function(obs, data) {
  z <- filled_rows(obs, data)
  z <- z - rep(colMeans(z), each = nrow(z))
  sequence <- group_of_rows(data)
  n <- nrow(z)
  lagged <- function(l) {
    if (n <= l) return(matrix(0, ncol(z), ncol(z)))
    now <- seq_len(n - l) + l
    now <- now[sequence[now] == sequence[now - l]]
    crossprod(z[now, , drop = FALSE], z[now - l, , drop = FALSE]) / max(length(now), 1L)
  }
  g <- lapply(0:2, lagged)
  own <- diag(g[[1L]])
  own <- ifelse(own > 0, own, 1)
  found <- if (obs$identity) {
    tryCatch(diag(g[[1L]] - g[[2L]] %*% solve(g[[3L]], g[[2L]])), error = function(e) own * 0)
  } else {
    diag(g[[1L]]) - diag(g[[2L]])^2 / diag(g[[3L]])
  }
  found[!is.finite(found)] <- 0
  pmin(pmax(found, 0.05 * own), own)
}

sees_all <- function(obs) identical(obs$loadings, "identity")

hidden_names <- function(obs, columns) {
  if (sees_all(obs)) columns else paste0("x", seq_len(obs$loadings))
}

obs_axes.obs_lds <- function(obs, columns) {
  names <- hidden_names(obs, columns)
  regressors <- if (!is.null(names)) c(names, if (obs$intercept) "intercept", obs$inputs)
  list(columns = columns, hidden = names, regressors = regressors)
}

# Draws rows of a linear system on the given path of modes, with one draw of the emission for the whole data
# set.
obs_draw.obs_lds <- function(obs, clusters, path, lengths, given) {
  dynamics <- lapply(clusters, draw_dynamics, obs = obs)
  emission <- draw_emission(obs, given$initial$emission)
  root <- t(chol(obs$start_var))
  age <- sequence(lengths)
  m <- length(obs$unit)
  x <- matrix(0, length(path), m)
  for (i in seq_along(path)) {
    x[i, ] <- if (age[i] > 1L) {
      dynamics[[path[i]]](c(x[i - 1L, ], if (obs$intercept) 1))
    } else {
      given$initial$first %||% (obs$start_mean + drop(root %*% stats::rnorm(m)))
    }
  }
  draw_seen(emission, x)
}

# The first hidden state of every simulated sequence, and the emission of the fit.
first_hidden <- function(initial, fit, call) {
  m <- length(fit$model$obs$unit)
  if (!is.null(initial)) {
    ok <- is.numeric(initial) && length(initial) == m && all(is.finite(initial))
    if (!ok) {
      abort("argument", "{.arg initial} must be the first hidden state, {m} number{?s}, not {describe(initial)}.",
        call = call
      )
    }
    initial <- as.double(initial)
  }
  list(first = initial, emission = fit$emission)
}

model_lds <- list(
  title = "Switching linear dynamics", constructor = "obs_lds", verbs = "bnp_hmm",
  values = "real numbers with noise, rows in time order", gaps = "cells", hidden = TRUE,
  working = c(
    "centre", "unit", "centred_precision", "origin", "column_centre", "column_unit", "rows_scale", "identity", "lag",
    "loading_precision", "input_unit", "input_centre", "input_origin"
  ),
  parameters = list(
    scale = c("hidden", "hidden"), coef_mean = c("hidden", "regressors"),
    coef_precision = c("regressors", "regressors"),
    noise = "columns", noise_scale = "columns", start_mean = "hidden", start_var = c("hidden", "hidden")
  ),
  arrays = coef_arrays("hidden"), as_series = TRUE
)

obs_given.obs_lds <- function(obs) list(initial = first_hidden)
obs_quantiles.obs_lds <- function(obs) coef_quantiles
