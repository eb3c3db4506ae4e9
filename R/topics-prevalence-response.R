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
  n <- as.matrix(fit$documents)
  times <- fit$input$weights
  if (length(times) != nrow(n)) { # none, or those of rows: the mean weight of the documents of each pattern
    times <- (document_pattern_sizes(fit) / tabulate(pattern, prior$n_patterns))[pattern]
  }
  a <- prior$alpha * exp(x %*% mean)
  precision <- curvature_of_documents(x, a, prior$alpha * exp(means$log_mean[k + 1L]), n, times) +
    diag(rep(c(least_precision, rep(1 / prior$effect_scale^2, q - 1L)), k), k * q)
  root <- inverse_root(precision, min(least_precision, 1 / prior$effect_scale^2))
  list(mean = mean, cov = tcrossprod(root))
}

# Minus the Hessian of the sum above over documents, without the priors of weights and effects. x: documents x (1 and
# covariates); a, n: documents x topics; rest: the parameter of the topics not found yet.
curvature_of_documents <- function(x, a, rest, n, times = 1) {
  k <- ncol(a)
  q <- ncol(x)
  s <- rowSums(a) + rest
  tokens <- rowSums(n)
  of_sum <- digamma(s) - digamma(s + tokens)
  curve_of_sum <- trigamma(s) - trigamma(s + tokens)
  out <- matrix(0, k * q, k * q)
  for (i in seq_len(k)) for (j in seq_len(i)) {
    curve <- a[, i] * a[, j] * curve_of_sum
    if (i == j) {
      own <- a[, i]
      slope <- of_sum + digamma(own + n[, i]) - digamma(own)
      curve <- curve + own * slope + own^2 * (trigamma(own + n[, i]) - trigamma(own))
    }
    rows <- (i - 1L) * q + seq_len(q)
    columns <- (j - 1L) * q + seq_len(q)
    block <- -crossprod(x, x * (times * curve))
    out[rows, columns] <- block
    out[columns, rows] <- t(block)
  }
  out
}

# A square root R of the inverse of a precision, R R', with no eigenvalue of the precision taken for less than `least`,
# as a Hessian need not be that of a maximum.
inverse_root <- function(precision, least) {
  parts <- eigen(precision, symmetric = TRUE)
  parts$vectors / rep(sqrt(pmax(parts$values, least)), each = nrow(precision))
}

least_precision <- 0.1 # of log pi_k in its prior, and of any direction. A guess.
