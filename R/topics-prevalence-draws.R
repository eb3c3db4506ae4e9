# Intervals of prevalence(fit, x = words) of topics: a Markov chain draws all that is uncertain, given the words.

sweeps_kept <- 500L
sweeps_before <- 150L # that are not kept: the chain starts at the fit, in the middle of what it explores
sweeps_scaling <- seq(1L, 96L, 5L) # after which the scale of steps is found anew
steps_a_sweep <- 5L # of effects, which cost less than draws of words and mix more slowly
accepted_aim <- 0.574 # the share of steps that is best in many dimensions (Roberts and Rosenthal 1998)

# Draws of (log pi_k, effects of k), topic by topic in the user's order, and of the log weight of all topics not found
# yet; x: the documents of the fit as a user gives them.
draws_given_words <- function(fit, x, call) {
  no <- c(
    "weights of documents" = !is.null(fit$input$weights), "labels" = !is.null(fit$input$classes_open),
    "keywords" = !is.null(fit$model$obs$keywords), "documents of rows" = !obs_facts(fit$model$obs)$counts_tokens
  )
  if (any(no)) {
    abort("not_defined", c(
      "Intervals by draws do not know {names(no)[no]}.", i = "Leave {.arg x} out."
    ), call = call)
  }
  words <- methods::as(data_matrix(new_documents(fit, x, call = call, arg = "x")), "CsparseMatrix")
  with_seed(1L, draws_of_documents(fit, words))
}

# list(draws, accepted) from a chain that starts at the fit and keeps its number of topics: a column for each sweep, and
# the share of accepted steps. A sweep draws, each given the others: proportions of documents, topics of words, terms of
# topics, and weights with effects given how often each document uses each topic (proportions integrated out, by
# Metropolis steps). words: a dgCMatrix of the documents of the fit by its terms.
draws_of_documents <- function(fit, words, n_kept = sweeps_kept) {
  chain <- topic_chain(fit, words)
  now <- list(at = chain$start)
  precision <- 0
  step <- 1
  kept <- matrix(0, length(now$at) + 1L, n_kept)
  accepted <- 0
  sweeps <- sweeps_before + n_kept
  began <- proc.time()[["elapsed"]]
  for (sweep in seq_len(sweeps)) {
    chain$draw_words(now$at)
    if (sweep %in% sweeps_scaling) {
      precision <- precision + chain$precision(now$at)
      root <- inverse_root(precision / match(sweep, sweeps_scaling), chain$least_precision)
    }
    now <- chain$target(now$at)
    for (i in seq_len(steps_a_sweep)) {
      tried <- langevin_step(now, step * root, chain$target)
      now <- tried$now
      if (sweep <= sweeps_before) step <- step * exp((tried$chance - accepted_aim) / sqrt(sweep)) else
        accepted <- accepted + tried$accepted
    }
    if (sweep == 5L) report_draws_time((proc.time()[["elapsed"]] - began) * sweeps / 5)
    if (sweep > sweeps_before) kept[, sweep - sweeps_before] <- chain$log_weights(now$at)
  }
  list(draws = kept, accepted = accepted / (n_kept * steps_a_sweep))
}

report_draws_time <- function(seconds) {
  if (seconds > 30) {
    cli::cli_inform(
      c("Intervals by draws need about {round(seconds / 60, 1)} minute{?s}."),
      class = c("bnpvi_message_time", "bnpvi_message")
    )
  }
}

# A step of the Metropolis-adjusted Langevin algorithm (Roberts and Tweedie, 1996): along the gradient of the log
# density, in units of the proposal's covariance, root root', and a normal deviate. now, and what target_of(at) gives:
# list(at, value, gradient). Returns list(now, accepted, chance).
langevin_step <- function(now, root, target_of) {
  pull <- drop(crossprod(root, now$gradient))
  noise <- stats::rnorm(length(now$at))
  new <- target_of(now$at + drop(root %*% (pull / 2 + noise)))
  back <- noise + (pull + drop(crossprod(root, new$gradient))) / 2 # minus the deviate that would lead back
  gain <- new$value - now$value - sum(back^2 - noise^2) / 2
  chance <- if (is.finite(gain)) min(exp(gain), 1) else 0
  accepted <- stats::runif(1) < chance
  list(now = if (accepted) new else now, accepted = accepted, chance = chance)
}

# What a chain of one fit needs: an environment of functions. The chain is at (logit of stick k, effects of k +
# log pi_k * constant), topic by topic in the user's order, and keeps the words of each topic in each document.
# constant: covariates times it are 1 in all documents, as nearly as they can be. Where they can, as indicators of all
# levels can, documents know effects and log pi_k only by the sums log pi_k + x'effects_k, which a change of sticks then
# leaves as they are.
topic_chain <- function(fit, words) {
  prior <- fit$model$prior
  k <- fit$state$k
  q <- 1L + prior$n_columns
  broken <- order(fit$numbering) # topics in the order of their sticks
  x <- cbind(1, prior$patterns)[fit$input$document_pattern + 1L, , drop = FALSE]
  constant <- constant_of(x[, -1L, drop = FALSE])
  tokens <- as.double(Matrix::rowSums(words))
  of_document <- words@i + 1L
  of_term <- rep(seq_len(ncol(words)), diff(words@p))
  sum_by <- function(of, n) Matrix::sparseMatrix(of, seq_along(of), x = 1, dims = c(n, length(of)))
  by_document <- sum_by(of_document, nrow(words))
  by_term <- sum_by(of_term, ncol(words))
  eta <- as.double(fit$model$obs$term_prior)
  terms <- t(coef(fit)$prob)
  used <- as.matrix(fit$documents)
  prior_of_logit <- 1 / (trigamma(1) + trigamma(prior$concentration)) # of logit Beta(1, concentration)
  prior_of_effects <- 1 / prior$effect_scale^2

  # list(g, left): (log pi_k, effects of k), q x topics, and the log weight of all topics not found yet.
  weights_at <- function(at) {
    g <- matrix(at, q)
    logit <- g[1L, broken]
    left <- c(0, cumsum(stats::plogis(-logit, log.p = TRUE)))
    g[1L, broken] <- stats::plogis(logit, log.p = TRUE) + left[seq_len(k)]
    g[-1L, ] <- g[-1L, ] - outer(constant, g[1L, ])
    list(g = g, left = left[k + 1L])
  }
  from_log_weights <- function(g) {
    g <- matrix(g, q)
    weight <- exp(g[1L, broken])
    left <- pmax(1 - cumsum(weight), 1e-4)
    g[-1L, ] <- g[-1L, ] + outer(constant, g[1L, ])
    g[1L, broken] <- log(weight) - log(left)
    as.double(g)
  }
  parameters <- function(g) prior$alpha * exp(x %*% g)
  means <- tilt_arrays(fit)
  list(
    q = q, start = from_log_weights(rbind(means$log_mean[seq_len(k)], t(means$mean))),
    least_precision = min(prior_of_logit, prior_of_effects),
    log_weights = function(at) unlist(weights_at(at), use.names = FALSE),
    from_log_weights = from_log_weights,
    # Minus the Hessian of the log density, about: curvature of the change from sticks to weights is left out.
    precision = function(at) {
      now <- weights_at(at)
      of_weights <- curvature_of_documents(x, parameters(now$g), prior$alpha * exp(now$left), used) +
        diag(rep(c(0, rep(prior_of_effects, q - 1L)), k), k * q)
      first <- (seq_len(k) - 1L) * q + 1L
      stick <- stats::plogis(matrix(at, q)[1L, broken])
      slope <- diag(1 - stick, k)
      slope[lower.tri(slope)] <- -stick[col(slope)[lower.tri(slope)]]
      change <- diag(k * q)
      change[first[broken], first[broken]] <- slope
      for (at_topic in first) {
        change[at_topic + seq_len(q - 1L), ] <- change[at_topic + seq_len(q - 1L), ] -
          outer(constant, change[at_topic, ])
      }
      of_prior <- replace(numeric(k * q), first, prior_of_logit)
      crossprod(change, of_weights %*% change) + diag(of_prior)
    },
    draw_words = function(at) {
      shape <- parameters(weights_at(at)$g) + used
      share <- matrix(stats::rgamma(length(shape), shape), nrow(shape)) + 1e-300
      prob <- share[of_document, , drop = FALSE] * terms[of_term, , drop = FALSE]
      drawn <- draw_multinomials(words@x, prob)
      used <<- as.matrix(by_document %*% drawn)
      shape <- as.matrix(by_term %*% drawn) + eta
      terms <<- matrix(stats::rgamma(length(shape), shape), nrow(shape)) + 1e-300
      terms <<- terms / rep(colSums(terms), each = nrow(terms))
    },
    # list(at, value, gradient): the log density, up to a constant.
    target = function(at) {
      now <- weights_at(at)
      logit <- matrix(at, q)[1L, broken]
      effects <- now$g[-1L, ]
      a <- parameters(now$g)
      rest <- prior$alpha * exp(now$left)
      s <- rowSums(a) + rest
      value <- sum(lgamma(s) - lgamma(s + tokens)) + sum(lgamma(a + used) - lgamma(a)) -
        prior_of_effects * sum(effects^2) / 2 +
        sum(stats::plogis(logit, log.p = TRUE) + prior$concentration * stats::plogis(-logit, log.p = TRUE))
      of_sum <- digamma(s) - digamma(s + tokens)
      gradient <- crossprod(x, a * (of_sum + digamma(a + used) - digamma(a)))
      gradient[-1L, ] <- gradient[-1L, ] - prior_of_effects * effects
      own <- (gradient[1L, ] - drop(crossprod(gradient[-1L, , drop = FALSE], constant)))[broken]
      later <- rev(cumsum(rev(own))) - own + rest * sum(of_sum)
      stick <- stats::plogis(logit)
      gradient[1L, broken] <- (1 - stick) * (own + 1) - stick * (later + prior$concentration)
      list(at = at, value = value, gradient = as.double(gradient))
    }
  )
}

# The coefficients of the columns of x that are nearest to 1 in all rows, by least squares; 0 where columns do not tell.
constant_of <- function(x) {
  as.double(solve(crossprod(x) + diag(1e-6 * nrow(x), ncol(x)), colSums(x)))
}

# Multinomial draws, a row each, of these sizes; prob need not sum to 1.
draw_multinomials <- function(sizes, prob) {
  drawn <- matrix(0, nrow(prob), ncol(prob))
  left <- rowSums(prob)
  for (j in rev(seq_len(ncol(prob))[-1L])) {
    drawn[, j] <- stats::rbinom(length(sizes), sizes, pmin(prob[, j] / pmax(left, 1e-300), 1))
    sizes <- sizes - drawn[, j]
    left <- left - prob[, j]
  }
  drawn[, 1L] <- sizes
  drawn
}
