# Intervals of prevalence() of topics: the covariance of weights and effects, given how often each document uses each
# topic.

# list(mean, cov) of (log pi_k, effects of k), topic by topic, as from linear_response(); NULL if the fit does not keep
# the documents. In q the proportions of documents are independent of weights and effects, whose variances are then too
# small. Here proportions are integrated out: cov is minus the inverse Hessian, at the means of q, of
#   sum_d w_d { lgamma(s_d) - lgamma(s_d + N_d) + sum_k [lgamma(a_dk + N_dk) - lgamma(a_dk)] }
#     - sum_k |effects_k|^2 / (2 s^2),
# with a_dk = alpha pi_k exp(x_d' effects_k), s_d = sum_k a_dk (also over topics not found yet, which are held fixed),
# N_dk the expected counts, and a normal prior of log pi_k that says little.
response_of_documents <- function(fit) {
  if (is.null(fit$documents)) {
    return(NULL)
  }
  prior <- fit$model$prior
  k <- fit$state$k
  q <- 1L + prior$n_columns
  means <- tilt_arrays(fit)
  mean <- rbind(means$log_mean[seq_len(k)], t(means$mean))
  pattern <- fit$input$document_pattern + 1L
  x <- cbind(1, prior$patterns)[pattern, , drop = FALSE]
  a <- prior$alpha * exp(x %*% mean)
  s <- rowSums(a) + prior$alpha * exp(means$log_mean[k + 1L])
  n <- as.matrix(fit$documents)
  tokens <- rowSums(n)
  times <- fit$input$weights
  if (length(times) != nrow(n)) { # none, or those of rows: the mean weight of the documents of each pattern
    times <- (document_pattern_sizes(fit) / tabulate(pattern, prior$n_patterns))[pattern]
  }
  of_sum <- digamma(s) - digamma(s + tokens)
  curve_of_sum <- trigamma(s) - trigamma(s + tokens)
  precision <- diag(rep(c(least_precision, rep(1 / prior$effect_scale^2, q - 1L)), k), k * q)
  for (i in seq_len(k)) for (j in seq_len(i)) {
    curve <- a[, i] * a[, j] * curve_of_sum
    if (i == j) {
      own <- a[, i]
      slope <- of_sum + digamma(own + n[, i]) - digamma(own)
      curve <- curve + own * slope + own^2 * (trigamma(own + n[, i]) - trigamma(own))
    }
    rows <- (i - 1L) * q + seq_len(q)
    columns <- (j - 1L) * q + seq_len(q)
    block <- precision[rows, columns] - crossprod(x, x * (times * curve))
    precision[rows, columns] <- block
    precision[columns, rows] <- t(block)
  }
  parts <- eigen(precision, symmetric = TRUE)
  least <- min(least_precision, 1 / prior$effect_scale^2)
  root <- parts$vectors / rep(sqrt(pmax(parts$values, least)), each = k * q)
  list(mean = mean, cov = tcrossprod(root))
}

# Of log pi_k in its prior; and no direction has less, as the Hessian need not be that of a maximum. A guess.
least_precision <- 0.1
