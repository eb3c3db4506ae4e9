# Intervals of prevalence(fit, x = words) of topics: a Markov chain draws all that is uncertain, given the words.

sweeps_kept <- 500L # enough for means and variances, of which alone intervals are made
sweeps_before <- 150L # that are not kept: the chain starts at the fit, in the middle of what it explores

# Mean and covariance of (log pi_k, effects of k), topic by topic in the user's order, as response_of_documents() has
# them, from draws; x: the documents of the fit as a user gives them.
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

# list(mean, cov, drawn) from a chain that starts at the fit and keeps its number of topics. A sweep draws, each given
# the others: proportions of documents, topics of words, terms of topics, and weights with effects given how often each
# document uses each topic (proportions integrated out, by Metropolis steps). words: a dgCMatrix of the documents of
# the fit by its terms.
draws_of_documents <- function(fit, words) {
  chain <- topic_chain(fit, words)
  start <- response_of_documents(fit)
  now <- list(at = chain$from_log_weights(start$mean))
  proposals <- steps_of_effects(chain$precision(now$at, solve(start$cov)), chain$q)
  kept <- matrix(0, length(now$at), sweeps_kept)
  sweeps <- sweeps_before + sweeps_kept
  began <- proc.time()[["elapsed"]]
  for (sweep in seq_len(sweeps)) {
    chain$draw_words(now$at)
    now$value <- chain$value(now$at)
    for (step in proposals) now <- metropolis(now, step, chain$value)
    if (sweep == 5L) report_draws_time((proc.time()[["elapsed"]] - began) * sweeps / 5)
    if (sweep > sweeps_before) kept[, sweep - sweeps_before] <- chain$log_weights(now$at)
  }
  list(mean = rowMeans(kept), cov = stats::cov(t(kept)), drawn = TRUE)
}

report_draws_time <- function(seconds) {
  if (seconds > 30) {
    cli::cli_inform(
      c("Intervals by draws need about {round(seconds / 60, 1)} minute{?s}."),
      class = c("bnpvi_message_time", "bnpvi_message")
    )
  }
}

# The proposals of a sweep, each list(at, root): elements that move, and a square root of the covariance of their move.
# One for each topic, given the others, and one for all topics.
steps_of_effects <- function(precision, q) {
  all <- seq_len(nrow(precision))
  lapply(c(split(all, (all - 1L) %/% q), list(all)), function(at) {
    list(at = at, root = 2.4 / sqrt(length(at)) * t(chol(solve(precision[at, at]))))
  })
}

metropolis <- function(now, step, value_of) {
  at <- now$at
  at[step$at] <- at[step$at] + as.double(step$root %*% stats::rnorm(length(step$at)))
  value <- value_of(at)
  if (is.finite(value) && log(stats::runif(1)) < value - now$value) list(at = at, value = value) else now
}

# What a chain of one fit needs: an environment of functions. The chain is at (logit of stick k, effects of k), topic
# by topic in the user's order, and keeps the words of each topic in each document.
topic_chain <- function(fit, words) {
  prior <- fit$model$prior
  k <- fit$state$k
  q <- 1L + prior$n_columns
  broken <- order(fit$numbering) # topics in the order of their sticks
  x <- cbind(1, prior$patterns)[fit$input$document_pattern + 1L, , drop = FALSE]
  tokens <- as.double(Matrix::rowSums(words))
  of_document <- words@i + 1L
  of_term <- rep(seq_len(ncol(words)), diff(words@p))
  sum_by <- function(of, n) Matrix::sparseMatrix(of, seq_along(of), x = 1, dims = c(n, length(of)))
  by_document <- sum_by(of_document, nrow(words))
  by_term <- sum_by(of_term, ncol(words))
  eta <- as.double(fit$model$obs$term_prior)
  terms <- t(coef(fit)$prob)
  used <- as.matrix(fit$documents)

  log_weights <- function(at) {
    g <- matrix(at, q)
    logit <- g[1L, broken]
    left <- c(0, cumsum(stats::plogis(-logit, log.p = TRUE)))
    g[1L, broken] <- stats::plogis(logit, log.p = TRUE) + left[seq_len(k)]
    structure(as.double(g), left = left[k + 1L])
  }
  parameters <- function(g) prior$alpha * exp(x %*% matrix(g, q))
  list(
    q = q,
    log_weights = function(at) as.double(log_weights(at)),
    from_log_weights = function(g) {
      g <- matrix(g, q)
      weight <- exp(g[1L, broken])
      left <- pmax(1 - cumsum(weight), 1e-4)
      g[1L, broken] <- log(weight) - log(left)
      as.double(g)
    },
    # Minus the Hessian of the log density, about: that of log weights, and the prior of sticks.
    precision = function(at, of_log_weights) {
      first <- (seq_len(k) - 1L) * q + 1L
      stick <- stats::plogis(matrix(at, q)[1L, broken])
      slope <- diag(1 - stick, k)
      slope[lower.tri(slope)] <- -stick[col(slope)[lower.tri(slope)]]
      change <- diag(k * q)
      change[first[broken], first[broken]] <- slope
      of_prior <- numeric(k * q)
      of_prior[first[broken]] <- (1 + prior$concentration) * stick * (1 - stick)
      crossprod(change, of_log_weights %*% change) + diag(of_prior)
    },
    draw_words = function(at) {
      shape <- parameters(log_weights(at)) + used
      share <- matrix(stats::rgamma(length(shape), shape), nrow(shape)) + 1e-300
      prob <- share[of_document, , drop = FALSE] * terms[of_term, , drop = FALSE]
      drawn <- draw_multinomials(words@x, prob)
      used <<- as.matrix(by_document %*% drawn)
      shape <- as.matrix(by_term %*% drawn) + eta
      terms <<- matrix(stats::rgamma(length(shape), shape), nrow(shape)) + 1e-300
      terms <<- terms / rep(colSums(terms), each = nrow(terms))
    },
    value = function(at) {
      g <- log_weights(at)
      a <- parameters(g)
      s <- rowSums(a) + prior$alpha * exp(attr(g, "left"))
      at <- matrix(at, q)
      sum(lgamma(s) - lgamma(s + tokens)) + sum(lgamma(a + used) - lgamma(a)) -
        sum(at[-1L, ]^2) / (2 * prior$effect_scale^2) +
        sum(stats::plogis(at[1L, ], log.p = TRUE) + prior$concentration * stats::plogis(-at[1L, ], log.p = TRUE))
    }
  )
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
