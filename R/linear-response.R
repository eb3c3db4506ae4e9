# The uncertainty of the weights of a mixture with covariates, by linear response (Giordano, Broderick &
# Jordan 2018). The variational posterior takes rows' clusters, parameters of clusters and effects as
# independent, which makes it too narrow. If t g_i is added to the log of the joint density, the mean of g_j
# moves by t Cov(g_i, g_j) under the exact posterior. Here the covariance is estimated by how the mean moves
# at the optimum of the bound, where everything else may move, too.
#
# The vector g has, for each cluster, E log pi_k, the log of its weight without covariates, followed by its
# effects.

response_step <- 0.25 # t times the standard deviation of g under q: the mean moves by so many of them, or some more
laps_at_once <- 4L
most_rounds <- 15L # of so many laps
settled_share <- 0.03 # of the way gone that the last laps may have added

# Estimates mean and covariance of g, the log weights and effects of clusters in the user's order: list(mean,
# cov, settled). `settled` says for each element whether its response had converged. data: the training data
# with weights, labels and patterns.
linear_response <- function(fit, data, call) {
  learn <- response_engine(fit, data, call)
  base <- learn(fit$state)
  mean <- weight_means(fit$model, base$state)
  sd <- pmax(effect_deviations(fit$model, base$state), 1e-4)
  report_response_time(length(sd), base$seconds)
  moved <- lapply(seq_along(sd), function(i) {
    pull <- replace(numeric(length(sd)), i, response_step / sd[i])
    answer_to(pull, fit$model, base$state, learn)
  })
  cov <- vapply(moved, `[[`, numeric(length(sd)), "slope")
  cov <- nearest_covariance((cov + t(cov)) / 2)
  width <- 1L + fit$model$prior$n_columns
  at <- as.integer(outer(seq_len(width), (fit$numbering - 1L) * width, `+`))
  list(mean = mean[at], cov = cov[at, at, drop = FALSE], settled = vapply(moved, `[[`, NA, "settled")[at])
}

# The response of g (log weights and effects) to a pull: half the difference between the changes after the
# pull and after its opposite. Both run the same number of laps (passes over the data), so that a drift of the
# state by itself cancels. Returns list(slope, settled).
answer_to <- function(pull, model, state, learn) {
  up <- down <- state
  gone <- step <- 0
  for (i in seq_len(most_rounds)) {
    up <- learn(up, pull)$state
    down <- learn(down, -pull)$state
    last <- step
    step <- (weight_means(model, up) - weight_means(model, down)) / 2 - gone
    gone <- gone + step
    settled <- i > 1L && sqrt(sum(step^2)) <= settled_share * sqrt(sum(gone^2))
    if (settled) break
  }
  # Adds the change that would still come if steps went on shrinking by the factor of the last one.
  # Nothing moves if there is one cluster with all the weight.
  shrink <- if (any(last != 0)) min(max(sum(step * last) / sum(last^2), 0), 0.9) else 0
  list(slope = (gone + step * shrink / (1 - shrink)) / sum(pull), settled = settled)
}

# Does linear_response() for data as a user gives them, without covariates, which the fit knows; of topics,
# draws_given_words(). NULL without data.
response_to_data <- function(fit, x, call) {
  if (is.null(x)) {
    return(NULL)
  }
  require_ability(fit, "linear_response", call)
  if (has_tilted_topics(fit)) {
    return(draws_given_words(fit, x, call))
  }
  check_form(x, "mixture", call)
  without <- fit
  class(without$model$prior) <- setdiff(class(fit$model$prior), "bnp_prior_covariates")
  data <- as_trained(as_newdata(without, x, call, "x"), fit)
  if (is.null(data)) {
    abort("x", c(
      "{.arg x} must be the data of the fit.", i = "Intervals by linear response need further laps over the data."
    ), call = call)
  }
  data$position <- fit$input$position
  linear_response(fit, data, call)
}

# Makes a function(state, pull) that continues learning from a state for some laps (passes over the data),
# without moves: list(state, seconds).
response_engine <- function(fit, data, call) {
  still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  control <- bnp_control(
    "full", seed = 1, threads = fit$control$threads, moves = still, max_laps = laps_at_once, tol = 0,
    sparsity = if (fit$control$sparsity > 0L) fit$control$sparsity, verbose = FALSE
  )
  asked <- c(
    resolve_control(control, fit$model$obs, fit$model$prior, data$n, units_that_count(data), fit["state"], call),
    list(keep_interrupted = FALSE)
  )
  asked$header <- NULL
  form <- as_engine_data(data)
  function(state, pull = NULL) {
    model <- fit$model
    model$prior$pull <- pull
    began <- proc.time()[["elapsed"]]
    result <- engine_fit(form, model, asked, list(state = state), NULL)
    if (!is.finite(result$elbo) || result$state$k != fit$state$k) {
      abort("numerical", "A cluster vanished during the laps, so that the uncertainty of weights cannot be computed.",
        call = call)
    }
    list(state = result$state, seconds = proc.time()[["elapsed"]] - began)
  }
}

# The means of g (log weights and effects) at a state, clusters in the engine's order.
weight_means <- function(model, state) {
  posterior <- engine_posterior(model, state)
  as.double(rbind(log_weight_moments(posterior)$mean, t(posterior$effects)))
}

# The standard deviations of g (log weights and effects) under q.
effect_deviations <- function(model, state) {
  posterior <- engine_posterior(model, state)
  p <- model$prior$n_columns
  own <- vapply(seq_len(state$k), function(j) diag(matrix(posterior$effects_cov[, , j], p)), numeric(p))
  as.double(rbind(sqrt(log_weight_moments(posterior)$variance), sqrt(matrix(own, ncol = state$k))))
}

# Mean and variance of log pi_k, the log weight of each cluster without covariates, under q: list(mean,
# variance).
log_weight_moments <- function(posterior) {
  if (is.null(posterior$untilted_sticks)) {
    own <- as.double(posterior$untilted_concentration)
    return(list(mean = digamma(own) - digamma(sum(own)), variance = trigamma(own) - trigamma(sum(own))))
  }
  a <- posterior$untilted_sticks[, 1L]
  b <- posterior$untilted_sticks[, 2L]
  before <- function(x) c(0, cumsum(x))[seq_along(a)]
  list(
    mean = digamma(a) - digamma(a + b) + before(digamma(b) - digamma(a + b)),
    variance = trigamma(a) - trigamma(a + b) + before(trigamma(b) - trigamma(a + b))
  )
}

nearest_covariance <- function(x) {
  parts <- eigen(x, symmetric = TRUE)
  parts$vectors %*% (pmax(parts$values, 0) * t(parts$vectors))
}

report_response_time <- function(n, seconds_a_round) {
  seconds <- 2 * n * 4 * seconds_a_round # most answers have come to rest after so many rounds
  if (seconds > 30) {
    cli::cli_inform(
      c("Intervals by linear response need {2 * n} short runs, in all about {round(seconds / 60, 1)} minute{?s}."),
      class = c("bnpvi_message_time", "bnpvi_message")
    )
  }
}
