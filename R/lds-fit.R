# Fits of linear systems, whose rows are seen through noise.

# data: internal form of sequences.
fit_hidden <- function(call, data, obs, prior, control, start, input, error_call) {
  check_options(control, "hidden", prior, error_call)
  if (!is.null(start)) tell_start_wins(control, start)
  if (identical(data$na_action, "omit") && !is.null(data$left_out)) {
    require_ability(c("hidden", "sequences"), "omit_missing", error_call)
  }
  given <- obs
  check_start_format(start, error_call)
  obs <- resolve_obs(obs, data, start, error_call)
  check_against_data(given, obs, error_call)
  prior <- with_learned_values(without_learned_values(prior), if (inherits(start, "bnp_fit")) start$model$prior)
  model <- list(obs = obs, prior = prior, bound = control$bound)
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
  result$latent <- result$paths[c("mean", "var")]
  result$paths <- NULL
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

# What the engine reads: in the user's units, NA where missing; `rows` in engine units.
hidden_data <- function(obs, data) {
  out <- list(y = unname(data$x), starts = as.integer(data$starts), rows = hidden_rows(obs, data))
  if (has_missing(data)) out$y[data$missing] <- NA_real_
  if (!is.null(data$weights)) out$weights <- data$weights[data$starts[-length(data$starts)] + 1L]
  out
}

# q(z) to start from, and of a fit of the same columns its globals, too.
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
  same <- inherits(start, "bnp_lds") && k == start$state$k && identical(start$model$prior$family, model$prior$family) &&
    identical(start$model$obs[c("unit", "centre", "column_unit", "column_centre", "loadings", "intercept")],
              obs[c("unit", "centre", "column_unit", "column_centre", "loadings", "intercept")])
  if (!same) {
    return(list(resp = unname(cbind(resp, matrix(0, data$n, k - ncol(resp))))))
  }
  list(resp = unname(resp[, order(start$numbering), drop = FALSE]), state = start$state)
}

# Probabilities of the training rows' modes as far as a fit keeps them: those on its path.
resp_of_path <- function(fit) {
  k <- fit$state$k
  resp <- matrix((1 - fit$prob) / max(k - 1L, 1L), length(fit$labels), k)
  resp[cbind(seq_along(fit$labels), fit$labels)] <- if (k > 1L) fit$prob else 1
  resp
}

# q(x) and q(z) of new data, or what a fit has just found in its own.
expected_paths <- function(fit, data) {
  if (data$n == 0L) {
    m <- length(fit$model$obs$unit)
    return(list(mean = matrix(0, 0L, m), var = matrix(0, 0L, m * (m + 1) / 2), resp = matrix(0, 0L, fit$state$k)))
  }
  data$expected %||%
    engine_lds_smooth(hidden_data(fit$model$obs, data), fit$model, fit$state, as.integer(fit$control$threads))
}

# Expected rows in the engine's form.
expected_rows <- function(data, paths) {
  list(x = paths$features, n = nrow(paths$features), d = ncol(paths$features), starts = as.integer(data$starts))
}

# A first row has the mode of the next one, a sequence of one row that of a start.
viterbi_path.bnp_lds <- function(fit, data) {
  if (data$n == 0L) {
    return(integer())
  }
  paths <- expected_paths(fit, data)
  path <- rep(NA_integer_, data$n)
  if (any(diff(data$starts) > 1L)) {
    path <- engine_viterbi(expected_rows(data, paths), fit$model, fit$state, fit$control$threads)
  }
  path <- match(path, fit$numbering)
  alone <- which.max(attr(transition_matrix(fit), "start"))
  first <- data$starts[-length(data$starts)] + 1L
  path[first] <- ifelse(diff(data$starts) > 1L, path[pmin(first + 1L, data$n)], alone)
  path
}

predictive_states.bnp_lds <- function(fit, data) {
  prob <- expected_paths(fit, data)$resp[, fit$numbering, drop = FALSE]
  first <- data$starts[-length(data$starts)] + 1L
  several <- diff(data$starts) > 1L
  prob[first[several], ] <- prob[first[several] + 1L, ]
  prob[first[!several], ] <- rep(attr(transition_matrix(fit), "start"), each = sum(!several))
  prob
}

local_step.bnp_lds <- function(fit, data) predictive_states(fit, data)

# q(C, noise) of the engine in the user's units: list(loadings (columns x hidden), offset, precision (of a column's
# loadings and offset, in engine units), df, scale); noise that is known has no df.
emission_in_units <- function(obs, emission) {
  d <- length(obs$column_unit)
  m <- length(obs$unit)
  unit <- obs$column_unit
  loadings <- if (obs$identity) diag(d) else emission$loadings[, seq_len(m), drop = FALSE] * unit
  offset <- if (obs$identity) rep(0, d) else emission$loadings[, m + 1L] * unit + obs$column_centre
  list(
    loadings = loadings, offset = offset, inverse = if (!obs$identity) emission$inverse,
    df = if (length(emission$df)) emission$df, scale = emission$scale * unit^2
  )
}

# Expected variance of the noise of each column.
emission_variance <- function(emission) {
  if (is.null(emission$df)) emission$scale else
    ifelse(emission$df > 2, emission$scale / (emission$df - 2), Inf)
}

# The emission with its parameters drawn from q: list(loadings, offset, variance of the noise).
draw_emission <- function(obs, emission) {
  d <- nrow(emission$loadings)
  noise <- if (is.null(emission$df)) emission$scale else
    emission$scale / stats::rchisq(d, emission$df)
  loadings <- emission$loadings
  offset <- emission$offset
  if (!obs$identity) {
    e <- ncol(loadings) + 1L
    for (j in seq_len(d)) {
      root <- t(chol(matrix(emission$inverse[j, ], e, e)))
      off <- drop(root %*% stats::rnorm(e)) * sqrt(noise[j])
      loadings[j, ] <- loadings[j, ] + off[-e]
      offset[j] <- offset[j] + off[e]
    }
  }
  list(loadings = loadings, offset = offset, noise_var = noise)
}

# Rows under such an emission, drawn given hidden states.
draw_seen <- function(emission, x) {
  sd <- sqrt(emission$noise_var)
  x %*% t(emission$loadings) + rep(emission$offset, each = nrow(x)) +
    stats::rnorm(nrow(x) * length(sd)) * rep(sd, each = nrow(x))
}

# coef() and posterior_params() of the emission.
emission_means <- function(fit) {
  e <- fit$emission
  columns <- column_labels(fit)
  hidden <- hidden_labels(fit)
  list(
    loadings = `dimnames<-`(e$loadings, list(columns, hidden)), offset = stats::setNames(e$offset, columns),
    noise_var = stats::setNames(emission_variance(e), columns)
  )
}

emission_params <- function(fit) {
  means <- emission_means(fit)
  out <- means[c("loadings", "offset")]
  out$noise_df <- fit$emission$df
  out$noise_scale <- stats::setNames(fit$emission$scale, column_labels(fit))
  out
}

hidden_labels <- function(fit) hidden_names(fit$model$obs, column_labels(fit))

# The point parameters of a fit as arguments of lds_model(), in the user's units: dynamics A (m x (m [+ 1]) x K) with
# covariance Q (m x m x K), emission C (D x m, or m + 1 with the offset last) with variances R (D), the first state's
# mean and variance, and the probabilities of the first mode and of going from mode to mode, given that there are no
# others.
lds_parameters <- function(fit) {
  means <- coef(fit)
  transition <- transition_matrix(fit)
  as_parameters(
    fit, means$coef, means$cov, means, attr(transition, "start"), matrix(transition, fit$state$k)
  )
}

# The same, drawn from the posterior.
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
  as_parameters(fit, gather("coef"), gather("cov"), draw_emission(obs, fit$emission), moves$start, moves$transition)
}

as_parameters <- function(fit, coef, cov, emission, start, transition) {
  obs <- fit$model$obs
  k <- fit$state$k
  m <- length(obs$unit)
  list(
    A = array(coef, c(m, m + obs$intercept, k)), Q = array(cov, c(m, m, k)),
    C = unname(if (obs$identity) emission$loadings else cbind(emission$loadings, emission$offset)),
    R = unname(emission$noise_var), start_mean = obs$start_mean, start_var = obs$start_var, start = unname(start),
    transition = unname(transition)
  )
}

path_probabilities.bnp_lds <- function(fit, data, most = NULL) {
  state_probabilities(fit, data)[cbind(seq_len(data$n), fit$labels)]
}

# Beside the rest, hidden states of the rows, and how columns come from them.
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
    "emission" = is_array_of(e$loadings, c(d, m)) && are_finite(e$offset, d) && are_finite(e$scale, d) &&
      (is.null(e$df) || are_finite(e$df, d))
  )
}
