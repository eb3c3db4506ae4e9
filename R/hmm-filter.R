# Exact filters of hidden Markov models: probabilities of states as rows arrive.

#' @rdname bnp_filter
#' @export
bnp_filter.bnp_hmm <- function(object, newdata = NULL, id = NULL, ..., parameters = c("mean", "draw"), inputs = NULL,
                               keep = Inf) {
  check_able(object, "bnp_filter", "object")
  read_arguments(rlang::enquos(id = id), newdata, "newdata")
  parameters <- check_choice(parameters, c("mean", "draw"), "parameters")
  check_no_dots(...)
  if (parameters == "draw") {
    abort("argument", c(
      "{.code parameters = \"draw\"} is for fits with {.or {.fn {obs_makers(function(facts) facts$hidden)}}}.",
      i = "Leave it out: densities of this filter are posterior predictives, which average over parameters exactly."
    ))
  }
  fit <- fit_for_any_row(object, NULL)
  fit[c("labels", "prob")] <- list(integer(), numeric())
  fit <- without_probabilities(fit)
  moves <- engine_mean_transitions(fit$model, fit$state)
  model <- list(fit = fit, start = moves[1L, ], transition = moves[-1L, , drop = FALSE])
  input <- fit$input[c("d", "column_names", "id_column")]
  new_filter("states", model, list(keep = check_keep(keep)), input, newdata, id, inputs, rlang::current_env())
}

read_states <- function(f, newdata, id, call, arg = "newdata") {
  as_new_sequences(f$model$fit, newdata, id, call, arg, na_action = "model", use = "filter")
}

# Updates a filter of a hidden Markov model by new rows. state of a sequence: `ahead`, the probabilities p(z)
# of its next row, with states in the engine's order; `tail`, its last `lag` rows, on which the next depend.
take_states <- function(f, sequences, data, call) {
  fit <- f$model$fit
  lag <- state_lag(fit)
  tails <- lapply(sequences, function(s) s$state$tail)
  parts <- if (lag > 0L) with_tails(data, tails) else data
  ahead <- t(vapply(sequences, function(s) s$state$ahead %||% f$model$start, f$model$start))
  if (length(f$model$start) == 1L) ahead <- t(ahead)
  out <- engine_filter_states(
    as_engine_data(parts), fit$model, fit$state, unname(ahead), FALSE, fit$control$threads
  )
  filtered <- out$filtered[, engine_index(fit, ncol(out$filtered)), drop = FALSE]
  colnames(filtered) <- outcome_names(f)
  lapply(seq_along(sequences), function(g) {
    all <- (parts$starts[g] + 1L):parts$starts[g + 1L]
    rows <- all[seq_along(all) > NROW(tails[[g]])]
    list(
      rows = list(log_density = out$log_density[rows], prob = filtered[rows, , drop = FALSE]),
      state = list(
        ahead = out[["next"]][g, ], tail = if (lag > 0L) parts$x[utils::tail(all, lag), , drop = FALSE]
      )
    )
  })
}

# Puts the `lag` rows that are remembered of each sequence before its new rows.
with_tails <- function(data, tails) {
  lengths <- vapply(tails, NROW, 1L)
  before <- new_bnp_data(do.call(rbind, c(list(data$x[0L, , drop = FALSE]), unname(tails))), c(0L, cumsum(lengths)))
  order <- order(c(group_of_rows(before), group_of_rows(data)))
  regrouped(c(before, data), order, lengths + diff(data$starts), data$group_names)
}

outcome_names <- function(f) {
  k <- f$model$fit$state$k
  c(seq_len(k), if (length(f$model$start) > k) "new")
}

# Probabilities p(z_t | all remembered rows) of the states of a sequence, by one backward pass over the
# filtered probabilities.
smooth_states <- function(f, sequence) {
  fit <- f$model$fit
  order <- engine_index(fit, length(f$model$start))
  transition <- f$model$transition[order, order, drop = FALSE]
  prob <- sequence$rows$prob
  for (t in rev(seq_len(nrow(prob) - 1L))) {
    if (anyNA(prob[t, ])) break
    ahead <- drop(prob[t, ] %*% transition)
    share <- ifelse(prob[t + 1L, ] > 0, prob[t + 1L, ] / ahead, 0)
    prob[t, ] <- prob[t, ] * drop(transition %*% share)
  }
  prob
}

# Forecasts of a filter, as predict(fit, n.ahead = ) makes them, from the present state of each sequence.
states_ahead <- function(f, h, type, interval, call) {
  fit <- f$model$fit
  k <- fit$state$k
  if (type == "latent") {
    abort("argument", c(
      "{.code type = \"latent\"} is for filters of state variables, which a hidden Markov model does not have.",
      i = "{.code type = \"class\"} forecasts its states."
    ), call = call)
  }
  ahead <- do.call(rbind, lapply(f$sequences, function(s) s$state$ahead[fit$numbering]))
  states <- list(ahead / rowSums(ahead))
  transition <- transition_matrix(fit)
  for (step in seq_len(h - 1L)) states[[step + 1L]] <- states[[step]] %*% transition
  if (type == "class") {
    return(lapply(states, function(p) list(prob = `colnames<-`(p, seq_len(k)))))
  }
  if (state_lag(fit) > 0L) dynamics_ahead(f, states, transition, interval, call) else
    draws_ahead(fit, states, interval, call)
}

# Moments of the mixture over states, and intervals from draws of the posterior predictive of each state. The
# same draws are used for every step.
draws_ahead <- function(fit, states, interval, call, n = 1000L) {
  moments <- moments_of_states(fit, states, call)
  columns <- colnames(moments$mean[[1L]]) %||% column_labels(fit)
  clusters <- posterior_clusters(fit)
  given <- complete_given(fit, list())
  drawn <- with_seed(1L, lapply(clusters, function(cluster) {
    draw_rows(fit, rep(list(cluster), n), seq_len(n), n, given)
  }))
  Map(function(p, mean, var) {
    part <- list(mean = `colnames<-`(mean, columns), sd = sqrt(var))
    if (!all(columns %in% colnames(drawn[[1L]]))) {
      return(part)
    }
    ends <- lapply(columns, function(column) {
      value <- unlist(lapply(drawn, function(rows) as.double(rows[, column])))
      apply(p, 1L, function(weight) quantile_of_draws(value, rep(weight / n, each = n), interval_ends(interval)))
    })
    part$lower <- vapply(ends, function(q) q[1L, ], numeric(nrow(p))) |> matrix(nrow(p))
    part$upper <- vapply(ends, function(q) q[2L, ], numeric(nrow(p))) |> matrix(nrow(p))
    part
  }, states, moments$mean, moments$var)
}

interval_ends <- function(interval) c(1 - interval, 1 + interval) / 2

# Forecasts of a filter of autoregressions. They are treated as linear systems without noise of observation
# whose state is the last `lag` rows.
dynamics_ahead <- function(f, states, transition, interval, call) {
  fit <- f$model$fit
  obs <- fit$model$obs
  d <- fit$input$d
  lag <- obs$lag
  tails <- lapply(f$sequences, function(s) s$state$tail)
  lacking <- names(tails)[vapply(tails, function(x) NROW(x) < lag || anyNA(x), NA)]
  if (length(lacking)) {
    abort("too_short", c(
      "Forecasts need the last {lag} row{?s} of each sequence of {.arg object}, without missing values.",
      x = "Not so in {cli::qty(length(lacking))}sequence{?s} {places(lacking)}."
    ), call = call)
  }
  data <- new_bnp_data(do.call(rbind, unname(tails)), c(0L, cumsum(rep(lag, length(tails)))))
  moments <- moments_of_dynamics(fit, data, states, transition)
  means <- coef(fit)
  k <- fit$state$k
  m <- d * lag
  part <- function(array, j) one_cluster(array, c(FALSE, FALSE, TRUE), j)
  step <- vapply(seq_len(k), function(j) {
    companion <- companion(part(means$coef, j), obs)[seq_len(m), , drop = FALSE]
    if (obs$intercept) companion else cbind(companion, 0)
  }, matrix(0, m, m + 1L))
  noise <- vapply(seq_len(k), function(j) {
    out <- matrix(0, m, m)
    out[seq_len(d), seq_len(d)] <- part(means$cov, j)
    out
  }, matrix(0, m, m))
  quantiles <- lapply(seq_along(tails), function(i) {
    system <- lds_model(
      A = array(step, c(m, m + 1L, k)), Q = array(noise, c(m, m, k)), C = diag(1, d, m), R = rep(0, d),
      start_mean = rep(0, m), start_var = 1, start = states[[1L]][i, ], transition = unclass(transition)[seq_len(k), ]
    )
    last <- matrix(c(t(tails[[i]][rev(seq_len(lag)), , drop = FALSE])), m)
    particles <- list(mode = -1L, system = 0L, weight = 1, mean = last, cov = matrix(0, m * m))
    none <- matrix(0, length(states), 0L)
    quantiles_ahead(list(system), particles, none, i, f$sequences[[i]]$n, 1, interval, "response", call)
  })
  columns <- column_labels(fit)
  lapply(seq_along(states), function(step) {
    gather <- function(end) do.call(rbind, lapply(quantiles, function(q) q[[step]][[end]]))
    list(
      mean = `colnames<-`(moments$mean[[step]], columns), sd = sqrt(moments$var[[step]]),
      lower = gather("lower"), upper = gather("upper")
    )
  })
}
