# Fits of switching linear systems, whose rows are observed with noise.

# Fits a switching linear system. data: sequences in the internal form.
fit_hidden <- function(call, data, obs, prior, control, start, input, error_call) {
  check_options(control, "hidden", prior, error_call)
  need_mode_for_noise(obs, prior, error_call)
  if (!is.null(start)) tell_start_wins(control, start)
  if (identical(data$na_action, "omit") && !is.null(data$left_out)) {
    require_ability(c("hidden", "sequences"), "omit_missing", error_call)
  }
  given <- obs
  check_start_format(start, error_call)
  obs <- resolve_obs(obs, data, start, error_call)
  check_against_data(given, obs, error_call)
  prior <- with_learned_values(without_learned_values(prior), if (inherits(start, "bnp_fit")) start$model$prior)
  model <- list(obs = obs, prior = prior, bound = bound_of(control))
  engine_start <- hidden_start(start, data, model, error_call)
  resolved <- resolve_control(
    control, obs, prior, data$n, length(data$starts) - 1L, engine_start, error_call, d = data$d
  )
  resolved$batches <- 1L
  if (!is.null(resolved$kinds)) names(resolved$kinds) <- rep("", length(resolved$kinds)) # `init` is not theirs
  check_size(prior, resolved$k_init, data$n, error_call)
  engine <- engine_for(
    "bnp_hmm", call, data, c(model, family = "systems"), control, resolved, engine_start, error_call,
    form = function(data) hidden_data(obs, data)
  )
  result <- fit_family(
    "bnp_hmm", engine, data, c(model, family = "systems"), replace(resolved, "init", "best"), engine_start, error_call,
    remedy = hidden_remedy
  )
  data$expected <- result$paths
  result$latent <- result$paths[c("mean", "var", if (sees_by_mode(obs)) "resp")]
  result$paths <- NULL
  if (noise_is_by_mode(obs)) result$numbering <- order(result$state$named %||% 1L)
  result$labels <- rep(NA_integer_, data$n)
  result$emission <- emission_in_units(
    obs, engine_lds_emission(hidden_data(obs, data), model, result$state)
  )
  with_result(new_bnp_fit("bnp_hmm", call, model, resolved, kept_input(data, obs, input), result), data)
}

hidden_remedy <- c(
  i = "Numbers lose their digits where columns differ by many orders of magnitude, or {.arg noise} is far below the
       spread of a column: rescale {.arg x}, or choose less extreme priors."
)

# The data as the engine reads them: y in the user's units, NA where missing; `rows` in engine units.
hidden_data <- function(obs, data) {
  out <- list(y = unname(data$x), starts = as.integer(data$starts), rows = hidden_rows(obs, data))
  if (has_missing(data)) out$y[data$missing] <- NA_real_
  if (!is.null(data$inputs)) out$inputs <- unname(data$inputs)
  if (!is.null(data$weights)) out$weights <- data$weights[data$starts[-length(data$starts)] + 1L]
  out
}

# The q(z) from which learning starts; also the global parameters of the start, if it is a fit of the same
# columns.
hidden_start <- function(start, data, model, call) {
  if (is.null(start)) {
    return(NULL)
  }
  obs <- model$obs
  if (inherits(start, "bnp_fit") && !(inherits(start, "bnp_hmm") && start$input$d == data$d)) {
    abort("start", c(
      "{.arg start} must be a fit of {.fn bnp_hmm} to the same columns as {.arg x}.",
      i = "Use {.code start = fitted(fit)} to take only its labels."
    ), call = call)
  }
  if (!inherits(start, "bnp_fit")) {
    given <- resolve_start(start, data, obs, model$prior, call)
    resp <- given$resp %||% (outer(given$labels, seq_len(given$k), `==`) + 0)
    return(list(resp = resp))
  }
  check_start_columns(start$input$column_names, data$column_names, call)
  k <- start_clusters(start$state$k, model$prior, call)
  resp <- if (inherits(start, "bnp_lds") && identical(start$input$fingerprint, fingerprint_of(data))) {
    resp_of_path(start)
  } else {
    state_responsibilities(start, data)
  }
  layout <- c(
    "unit", "centre", "column_unit", "column_centre", "loadings", "intercept", "by_mode", "inputs", "input_unit",
    "input_centre"
  )
  same <- inherits(start, "bnp_lds") && k == start$state$k && identical(start$model$prior$family, model$prior$family) &&
    identical(unclass(start$model$obs)[layout], unclass(obs)[layout])
  if (!same) {
    return(list(resp = unname(cbind(resp, matrix(0, data$n, k - ncol(resp))))))
  }
  list(resp = unname(resp[, order(start$numbering), drop = FALSE]), state = start$state)
}

# Probabilities of the modes for the training rows (rows x modes), reconstructed from what a fit keeps: each
# row's mode on the most probable path, and the probability of this mode. The other modes share the rest
# evenly.
resp_of_path <- function(fit) {
  k <- fit$state$k
  resp <- matrix((1 - fit$prob) / max(k - 1L, 1L), length(fit$labels), k)
  resp[cbind(seq_along(fit$labels), fit$labels)] <- if (k > 1L) fit$prob else 1
  resp
}

# The posteriors q(x) of hidden states and q(z) of modes for new data; for a fit's own data those that it has
# just computed.
expected_paths <- function(fit, data) {
  if (data$n == 0L) {
    m <- length(fit$model$obs$unit)
    return(list(mean = matrix(0, 0L, m), var = matrix(0, 0L, m * (m + 1) / 2), resp = matrix(0, 0L, fit$state$k)))
  }
  data$expected %||%
    engine_lds_smooth(hidden_data(fit$model$obs, data), fit$model, fit$state, as.integer(fit$control$threads))
}

# The expected rows E φ(x) of hidden states under q(x), in the engine's form of data.
expected_rows <- function(data, paths) {
  list(x = paths$features, n = nrow(paths$features), d = ncol(paths$features), starts = as.integer(data$starts))
}

# The most probable path of modes. The first row of a sequence, which has no mode of its own, gets that of the
# next row; a sequence of one row gets the most probable first mode.
viterbi_path.bnp_lds <- function(fit, data) {
  if (data$n == 0L) {
    return(integer())
  }
  paths <- expected_paths(fit, data)
  path <- rep(NA_integer_, data$n)
  own <- sees_by_mode(fit$model$obs)
  if (own || any(diff(data$starts) > 1L)) {
    path <- engine_viterbi(expected_rows(data, paths), fit$model, fit$state, fit$control$threads)
  }
  path <- match(path, fit$numbering)
  if (own) {
    return(path)
  }
  alone <- which.max(attr(transition_matrix(fit), "start"))
  first <- data$starts[-length(data$starts)] + 1L
  path[first] <- ifelse(diff(data$starts) > 1L, path[pmin(first + 1L, data$n)], alone)
  path
}

predictive_states.bnp_lds <- function(fit, data) {
  prob <- expected_paths(fit, data)$resp[, fit$numbering, drop = FALSE]
  if (sees_by_mode(fit$model$obs)) {
    return(prob)
  }
  first <- data$starts[-length(data$starts)] + 1L
  several <- diff(data$starts) > 1L
  prob[first[several], ] <- prob[first[several] + 1L, ]
  prob[first[!several], ] <- rep(attr(transition_matrix(fit), "start"), each = sum(!several))
  prob
}

local_step.bnp_lds <- function(fit, data) predictive_states(fit, data)

hidden_labels <- function(fit) hidden_names(fit$model$obs, column_labels(fit))

# Point estimates of a fit as arguments of lds_model(), in the user's units: dynamics A (m x (m [+ 1]) x K)
# with covariance Q (m x m x K) and effects of inputs F; emission C (D x m, or m + 1 with the offset last)
# with variances R (D), both by mode where each mode has its own; mean and variance of the first state; and
# the probabilities of the first mode and of transitions, given that only the modes of the fit occur.
lds_parameters <- function(fit) {
  means <- coef(fit)
  transition <- transition_matrix(fit)
  as_parameters(
    fit, means$coef, means$cov, mean_emissions(fit), attr(transition, "start"), matrix(transition, fit$state$k)
  )
}

# Draws the parameters of a fit from the posterior, in the form of lds_parameters().
draw_lds_parameters <- function(fit, params, clusters) {
  obs <- fit$model$obs
  m <- length(obs$unit)
  each <- lapply(clusters, function(q) {
    half <- draw_precision(q$df, q$scale)
    list(
      coef = draw_coef(q, function(n) noise_of(half, n)),
      cov = chol2inv(half$root) * half$unit * rep(half$unit, each = m)
    )
  })
  gather <- function(name) vapply(each, `[[`, each[[1L]][[name]], name)
  moves <- draw_moves(fit$state$k, params)
  emission <- draw_emissions(obs, emission_of(fit))
  as_parameters(fit, gather("coef"), gather("cov"), emission, moves$start, moves$transition)
}

as_parameters <- function(fit, coef, cov, emission, start, transition) {
  obs <- fit$model$obs
  k <- fit$state$k
  m <- length(obs$unit)
  e <- m + obs$intercept
  coef <- array(coef, c(m, e + n_inputs_of(obs), k))
  c(
    list(A = coef[, seq_len(e), , drop = FALSE], Q = array(cov, c(m, m, k))), emission_parameters(obs, emission),
    list(
      start_mean = obs$start_mean, start_var = obs$start_var, start = unname(start), transition = unname(transition)
    ),
    if (n_inputs_of(obs)) list(F = coef[, -seq_len(e), , drop = FALSE])
  )
}

path_probabilities.bnp_lds <- function(fit, data, most = NULL) {
  state_probabilities(fit, data)[cbind(seq_len(data$n), fit$labels)]
}

# Checks the dimensions of a fit's elements: those of all sequences, and the hidden states and the emission.
shape_of.bnp_lds <- function(fit) {
  of_chain <- NextMethod()
  if (!all(of_chain)) {
    return(of_chain)
  }
  obs <- fit$model$obs
  e <- fit$emission
  m <- length(obs$unit)
  d <- fit$input$d
  which_hold(
    "model$obs" = rlang::is_bool(obs$identity) && (sees_all(obs) || is_whole(obs$loadings, 1)) &&
      length(obs$centre) == m && length(obs$column_unit) == d && length(obs$column_centre) == d,
    "latent" = is_array_of(fit$latent$mean, c(n_of_fit(fit), m)) &&
      is_array_of(fit$latent$var, c(n_of_fit(fit), m * (m + 1) / 2)),
    "emission" = if (sees_by_mode(obs)) is_array_of(e$loadings, c(d, m, fit$state$k)) &&
      is_array_of(e$offset, c(d, fit$state$k)) && is_array_of(e$scale, c(d, fit$state$k)) &&
      (is.null(e$df) || is_array_of(e$df, c(d, fit$state$k))) else
      is_array_of(e$loadings, c(d, m)) && are_finite(e$offset, d) && are_finite(e$scale, d) &&
        (is.null(e$df) || are_finite(e$df, d))
  )
}
