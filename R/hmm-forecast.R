# Forecasts of sequences: probabilities of states, and moments of observations 1, ..., h rows after the last
# one. They are conditional on no state but those of the fit.

# The table of forecasts, a data frame with one row per sequence and step: id, step, time (if the times of the
# data are regular), state (the most probable one), prob.<state>, mean.<column>, sd.<column>.
forecast_of_fit <- function(fit, data, h, call = rlang::caller_env(2)) {
  transition <- transition_matrix(fit)
  states <- list(first_state_ahead(fit, data))
  for (step in seq_len(h - 1L)) states[[step + 1L]] <- states[[step]] %*% transition
  moments <- moments_ahead(fit, data, states, transition, call)
  n <- length(data$starts) - 1L
  prob <- do.call(rbind, states)
  out <- data.frame(id = rep(data$group_names %||% as.character(seq_len(n)), h), step = rep(seq_len(h), each = n))
  out$time <- times_ahead(data, h)
  out$state <- max.col(prob, ties.method = "first")
  named <- function(values, prefix, names) stats::setNames(as.data.frame(values), paste0(prefix, ".", names))
  columns <- colnames(moments$mean[[1L]]) %||% column_labels(fit)
  out <- cbind(
    out, named(prob, "prob", seq_len(ncol(prob))), named(do.call(rbind, moments$mean), "mean", columns),
    named(sqrt(do.call(rbind, moments$var)), "sd", columns)
  )
  out <- as_tidy(out[order(rep(seq_len(n), h), out$step), ])
  class(out) <- c("bnp_forecast", class(out))
  gap <- gap_of_times(data)
  attr(out, "before") <- rows_before(fit, data, h, timed = !is.null(gap))
  attr(out, "gap") <- gap
  out
}

moments_ahead.bnp_hmm <- function(fit, data, states, transition, call) {
  if (state_lag(fit) > 0L) moments_of_dynamics(fit, data, states, transition) else moments_of_states(fit, states, call)
}

# The last rows before a forecast that its picture shows: list(id, at, x) with the number or time of these
# rows of each sequence and, if columns can be drawn as lines, their values.
rows_before <- function(fit, data, h, timed) {
  lengths <- diff(data$starts)
  drawn <- obs_facts(fit$model$obs)$as_series
  n <- if (drawn) pmin(lengths, max(20L, 2L * h)) else rep(1L, length(lengths))
  at <- unlist(Map(function(end, n) end - n + seq_len(n), data$starts[-1L], n))
  names <- data$group_names %||% as.character(seq_along(lengths))
  place <- if (timed) data$times else sequence(lengths)
  x <- if (drawn) `dimnames<-`(data$x[at, , drop = FALSE], list(NULL, column_labels(fit)))
  list(id = rep(names, n), at = place[at], x = x)
}

# Probabilities of the state of the row after each sequence. The one-step-ahead probability of a row does not
# depend on the row itself, so that the last row is appended a second time to get them.
first_state_ahead.bnp_hmm <- function(fit, data) {
  lengths <- diff(data$starts)
  at <- unlist(Map(function(from, n) from + c(seq_len(n), n), data$starts[-length(data$starts)], lengths))
  ahead <- one_step_ahead(fit, data_rows(data, at, lengths + 1L))$prob
  ahead <- ahead[cumsum(lengths + 1L), seq_len(fit$state$k), drop = FALSE]
  ahead / rowSums(ahead)
}

# Moments of rows ahead that are independent given their states: those of the mixture over states of the
# posterior predictive distributions.
moments_of_states <- function(fit, states, call) {
  obs <- fit$model$obs
  given <- complete_given(fit, list())
  if (!obs_can(obs, "moments")) {
    lacking <- Filter(function(block) !obs_can(block, "moments"), obs$blocks %||% list(obs))
    abort("argument", c(
      "{.arg n.ahead} cannot be given for {.fn {obs_facts(obs)$constructor}}.",
      i = if (all(vapply(lacking, function(block) is.null(block$responses), NA))) {
        "Values of {.fn {obs_facts(lacking[[1L]])$constructor}} have no mean. Draw rows by {.fn simulate}."
      } else {
        "Covariates of rows to come are not known. Add these rows to {.arg newdata}, with {.code NA} as response:
         {.code predict(fit, newdata, type = \"impute\")} gives their expectations and standard deviations."
      }
    ), call = call)
  }
  each <- lapply(posterior_clusters(fit), function(q) obs_moments(obs, q, given))
  state_mean <- do.call(rbind, lapply(each, `[[`, "mean"))
  state_var <- do.call(rbind, lapply(each, `[[`, "var"))
  mean <- lapply(states, mean_over_states, state_mean)
  list(mean = mean, var = Map(function(p, mean) {
    total <- matrix(0, nrow(p), ncol(mean))
    for (k in which(colSums(p) > 0)) {
      part <- p[, k] * (rep(state_var[k, ], each = nrow(p)) + (rep(state_mean[k, ], each = nrow(p)) - mean)^2)
      total <- total + replace(part, p[, k] == 0, 0)
    }
    replace(total, is.infinite(mean), Inf)
  }, states, mean))
}

# The product p %*% value without states of probability 0, whose values may be infinite if few of their
# observations are known.
mean_over_states <- function(p, value) {
  finite <- is.finite(value)
  replace(p %*% ifelse(finite, value, 0), p %*% (!finite) > 0, Inf)
}

# Forecasts of autoregressions, at the posterior means of the parameters: mean and covariance of the
# regressors s = (x_t, x_{t-1}, ..., 1) in each state, step by step (Costa, Fragoso and Marques, 2005,
# Discrete-Time Markov Jump Linear Systems, chapter 3).
moments_of_dynamics <- function(fit, data, states, transition) {
  obs <- fit$model$obs
  means <- coef(fit)
  k <- fit$state$k
  steps <- lapply(seq_len(k), function(j) companion(one_cluster(means$coef, c(FALSE, FALSE, TRUE), j), obs))
  spread <- spread_by_tails(means$tails, k)
  noise <- lapply(seq_len(k), function(j) one_cluster(means$cov, c(FALSE, FALSE, TRUE), j) * spread[j])
  ends <- data$starts[-1L]
  sequences <- lapply(seq_along(ends), function(i) {
    last <- c(t(data$x[ends[i] + 1L - seq_len(obs$lag), , drop = FALSE]), if (obs$intercept) 1)
    moments_of_sequence(last, steps, noise, lapply(states, function(p) p[i, ]), transition)
  })
  gather <- function(what) lapply(
    seq_along(states), function(h) do.call(rbind, lapply(sequences, function(s) s[[what]][[h]]))
  )
  list(mean = gather("mean"), var = gather("var"))
}

# Forecasts of one sequence of an autoregression: mean and covariance at each step. last: the regressors of
# the first row ahead; start: their covariance; states: the probabilities of states at each step. Mean and
# covariance are kept conditional on each state, apart from its probability, so that data far from 0 keep
# their digits.
moments_of_sequence <- function(last, steps, noise, states, transition,
                                start = matrix(0, length(last), length(last))) {
  d <- nrow(noise[[1L]])
  k <- length(steps)
  own <- seq_len(d)
  in_state <- rep(list(list(mean = last, cov = start)), k)
  before <- NULL
  mean <- var <- covariance <- list()
  for (h in seq_along(states)) {
    p <- states[[h]]
    came <- lapply(seq_len(k), function(j) if (h > 1L) pool(in_state, before * transition[, j]) else in_state[[j]])
    in_state <- Map(function(from, step, noise) {
      cov <- step %*% from$cov %*% t(step)
      cov[own, own] <- cov[own, own] + noise
      list(mean = drop(step %*% from$mean), cov = cov)
    }, came, steps, noise)
    all <- pool(in_state, p)
    mean[[h]] <- all$mean[own]
    var[[h]] <- diag(all$cov)[own]
    var[[h]][is.nan(var[[h]])] <- Inf # NaN is an infinite variance of noise times 0
    covariance[[h]] <- all$cov[own, own, drop = FALSE]
    before <- p
  }
  list(mean = mean, var = var, cov = covariance)
}

# Mean and covariance of a mixture, from those of its parts and their weights.
pool <- function(parts, weight) {
  weight <- if (sum(weight) > 0) weight / sum(weight) else rep(1 / length(weight), length(weight))
  mean <- Reduce(`+`, Map(function(part, w) w * part$mean, parts, weight))
  cov <- Reduce(`+`, Map(function(part, w) w * (part$cov + tcrossprod(part$mean - mean)), parts, weight))
  list(mean = mean, cov = cov)
}

# The companion matrix of an autoregression: it takes the regressors of a row to those of the next, without
# noise. The new row comes first, the others move back, the intercept stays.
companion <- function(coef, obs) {
  d <- nrow(coef)
  m <- ncol(coef)
  out <- matrix(0, m, m)
  out[seq_len(d), ] <- coef
  moved <- seq_len(d * (obs$lag - 1L))
  out[cbind(d + moved, moved)] <- 1
  if (obs$intercept) out[m, m] <- 1
  out
}

# Times of the forecast rows, if the rows of each sequence are equally spaced in time; else NULL.
times_ahead <- function(data, h) {
  gap <- gap_of_times(data)
  ends <- data$starts[-1L]
  if (!is.null(gap)) rep(data$times[ends], h) + rep(unname(gap), h) * rep(seq_len(h), each = length(ends))
}

# The time between successive rows of each sequence, a vector named by sequence.
gap_of_times <- function(data) {
  if (is.null(data$times)) {
    return(NULL)
  }
  ends <- data$starts[-1L]
  gaps <- Map(function(from, to) diff(as.numeric(data$times[(from + 1L):to])), data$starts[-length(data$starts)], ends)
  regular <- vapply(gaps, function(gap) length(gap) > 0L && all(abs(gap - gap[1L]) <= 1e-6 * abs(gap[1L])), NA)
  if (!all(regular)) {
    return(NULL)
  }
  stats::setNames(vapply(gaps, mean, 1), data$group_names %||% as.character(seq_along(ends)))
}
