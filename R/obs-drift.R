# Gaussian clusters that drift over time: obs_gaussian(drift = ), class obs_drifting. Whatever does not
# involve time is computed by the same model without drift.

# The range of step sizes with which a fit may begin; learned sizes stay within that of the engine
# (obs_gaussian_drift.cpp).
drift_range <- c(1e-8, 1e8)

# The fields that the observation model has for the argument `drift`, a number or "learn".
drift_fields <- function(drift, call = rlang::caller_env()) {
  if (identical(drift, "learn")) {
    return(list(drift = NULL, learn_drift = TRUE))
  }
  if (!is.numeric(drift)) {
    abort("argument", "{.arg drift} must be one number above 0 or {.code \"learn\"}, not {describe(drift)}.",
      call = call
    )
  }
  drift <- check_number(drift, "drift", call = call)
  check_range(drift, "drift", drift_range, call)
  list(drift = drift)
}

refuse_drift_of <- function(covariance, learn, call = rlang::caller_env()) {
  if (!covariance %in% c("full", "diagonal")) {
    abort("argument", c(
      "{.arg drift} has no meaning when {.code covariance = \"{covariance}\"}.",
      i = "Choose {.code covariance = \"full\"} or {.code \"diagonal\"}, whose clusters have means and covariances of
           their own."
    ), call = call)
  }
  if (isTRUE(learn)) {
    abort("argument", c(
      "{.code learn = TRUE} and {.arg drift} do not go together: the prior of drifting clusters is given.",
      i = "The step size is learned by {.code drift = \"learn\"}."
    ), call = call)
  }
}

# Completes the fields about drift and times. Learning of the drift begins with steps between neighbouring
# times of a quarter of a cluster's variance: a guess.
resolve_drift <- function(obs, data, before) {
  obs$times <- data$distinct_times
  obs$gap <- data$gap
  if (is.null(obs$drift)) {
    same <- isTRUE(before$learn_drift) && identical(before$times, obs$times) && identical(before$gap, obs$gap)
    middle <- if (length(data$gap)) stats::median(data$gap) else 1
    obs$drift <- if (same) before$drift else min(max(0.25 / middle, drift_range[1L]), drift_range[2L])
  }
  obs
}

# The posterior parameters of a cluster at one of its times, in the form of those of a cluster without drift.
at_slot <- function(q, slot) {
  q$mean <- q$mean[, slot]
  q$mean_strength <- q$mean_strength[slot]
  q$size <- NULL
  q
}

# Draws a cluster's means at all times (columns x times) around the expected ones. noise: a function(m) that
# draws m columns of noise of the cluster's covariance; step: the variance of the step from each time to the
# next, in units of the covariance. Given the mean at t + 1, that at t has the regression coefficient g = v_t
# / (tau + g v_{t+1}), with the variances v_t = g (tau + g v_{t+1}): see drift_path.h.
draw_means_over_time <- function(q, step, noise) {
  variance <- 1 / q$mean_strength
  times <- length(variance)
  deviation <- noise(times)
  deviation[, times] <- deviation[, times] * sqrt(variance[times])
  for (t in rev(seq_len(times - 1L))) {
    gain <- 2 * variance[t] / (step[t] + sqrt(step[t]^2 + 4 * variance[t] * variance[t + 1L]))
    deviation[, t] <- gain * deviation[, t + 1L] + sqrt(step[t] * gain) * deviation[, t]
  }
  q$mean + deviation
}

obs_draw.obs_drifting <- function(obs, clusters, path, lengths, given) {
  noise_of <- if (is.matrix(obs$scale)) full_noise else diagonal_noise
  rows <- seq_along(path)
  draw_by_cluster(clusters, path, function(q, own) {
    noise <- noise_of(q)
    means <- draw_means_over_time(q, obs$drift * steps_of(obs), noise)
    t(means[, given$time[rows[own]], drop = FALSE] + noise(length(own)))
  })
}

# Draws the covariance of a cluster, and returns a function(m) that draws m columns of noise with it.
full_noise <- function(q) draw_noise(q$df, as.matrix(q$scale))

diagonal_noise <- function(q) {
  precision <- stats::rgamma(length(q$scale), q$df / 2, rate = q$scale / 2)
  function(m) matrix(stats::rnorm(length(precision) * m), length(precision)) / sqrt(precision)
}

# The numbers of the times of rows to be drawn: by default those of the training data in turn.
slots_to_draw <- function(time, fit, call) {
  if (is.null(time)) {
    if (has_past(fit$model$obs)) abort("time", "{.arg time} is needed: not all times of the data are known any more.",
      call = call
    )
    return(in_user_order(fit, fit$input$slot))
  }
  slots_at(fit, check_row_times(time, length(time), "object", call), call)
}

# The same Gaussian model without drift.
standing <- function(obs) {
  structure(unclass(obs)[setdiff(names(obs), c("drift", "learn_drift"))], class = obs_class(obs["family"]))
}

obs_facts.obs_drifting <- function(obs) {
  facts <- obs_facts(standing(obs))
  utils::modifyList(facts, list(
    title = paste0(facts$title, ", drifting"), verbs = "bnp_mixture", kind = NULL, gaps = NULL, as_series = FALSE,
    location = NULL, working = c(facts$working, "times", "gap", "past", "learn_drift"),
    arrays = list(
      mean = c("clusters", "columns", "times"), mean_strength = c("clusters", "times"), size = c("clusters", "times")
    )
  ))
}

obs_resolve.obs_drifting <- function(obs, data, start, call) {
  own <- obs_resolve(standing(obs), data, start, call)
  obs[names(own)] <- own
  resolve_drift(obs, data, if (inherits(start, "bnp_fit")) start$model$obs)
}

obs_learned.obs_drifting <- function(obs) {
  if (isTRUE(obs$learn_drift)) list(by = "drift = \"learn\"", numbers = "drift", plug_in = TRUE)
}

obs_axes.obs_drifting <- function(obs, columns) {
  list(columns = columns, times = label_text(obs$times %||% character()))
}

obs_layout.obs_drifting <- function(obs) list(obs$times, obs$gap)
obs_given.obs_drifting <- function(obs) list(time = slots_to_draw)

obs_quantiles.obs_drifting <- function(obs) {
  known <- obs_quantiles(standing(obs))
  list(
    mean = function(q, p) {
      at <- lapply(seq_along(q$mean_strength), function(slot) known$mean(at_slot(q, slot), p))
      matrix(unlist(at), ncol = length(at))
    },
    cov = function(q, p) known$cov(at_slot(q, 1L), p)
  )
}

# TRUE if better_when_shared() should be tried. If weights of clusters are the same at all times, each cluster
# needs its share of rows at every time. In the fit with the best bound two clusters may therefore share the
# rows of one place at times at which one of them is not needed. No move of whole clusters leads to such a
# fit, and moving single rows lowers the bound at first.
tries_sharing <- function(class, data, control, result) {
  is.null(data$order) && isTRUE(control$algorithm %in% c("memoized", "full")) && is.null(control$checkpoint) &&
    any(unlist(control$moves[c("merge", "delete", "birth")])) && isTRUE(is.finite(result$elbo)) &&
    !isTRUE(result$interrupted) && is.null(data$classes) && sum(result$sizes > 0.5) > 1L
}

# Returns the better of `result` and a second fit, which starts from the responsibilities of `result` after
# three tenths of each row were spread over all clusters by their sizes (inst/bench/drift.R: with 1 to 5
# tenths the moving clusters end alike, with 7 not always).
better_when_shared <- function(result, data, model, asked, run, share = 0.3) {
  obs <- with_learned_fields(model$obs, result$learned)
  now <- list(obs = obs, prior = with_learned_values(model$prior, result$concentrations), bound = model$bound)
  resp <- engine_responsibilities(as_engine_data(data), now, result$state, asked$threads)
  resp <- (1 - share) * resp + share * rep(colMeans(resp), each = nrow(resp))
  asked$restarts <- 1L
  asked$kinds <- NULL
  asked$k_init <- ncol(resp)
  second <- run(replace(model, "obs", list(obs)), asked, list(resp = resp))
  if (!isTRUE(second$elbo > result$elbo + 0.1)) {
    return(result)
  }
  second$restarts <- result$restarts
  second
}
