# Results of logistic and negative binomial regressions: expected responses, draws, a picture.

# Mean and variance of the linear predictor of rows with covariates z, in one cluster with posterior q. The
# offset is the first column of z, if there is one.
glm_predictor <- function(obs, q, z) {
  design <- with_intercept(z[, seq_len(ncol(z)) > obs$offset, drop = FALSE], obs)
  offset <- if (obs$offset) z[, 1L] else 0
  cov <- as.matrix(q$coef_cov)
  list(
    mean = offset + drop(design %*% q$coef_mean[1L, ]), variance = pmax(rowSums((design %*% cov) * design), 0)
  )
}

# The expectation of g(psi) for a normal psi, by the trapezoidal rule with 121 nodes spaced in units of the
# standard deviation.
normal_average <- function(mean, variance, g) {
  node <- seq(-7.5, 7.5, 0.125)
  weight <- stats::dnorm(node) / sum(stats::dnorm(node))
  sd <- sqrt(variance)
  out <- 0 * mean
  for (i in seq_along(node)) out <- out + weight[i] * g(mean + sd * node[i])
  out
}

is_counted <- function(obs) !is.null(obs$size)

# The expected response of rows with covariates z in one cluster: rows x responses. For logistic and negative
# binomial regressions it is a probability or a mean count, rows x 1.
obs_expected_response.obs_regression <- function(obs, q, z) with_intercept(z, obs) %*% t(q$coef_mean)
obs_expected_response.obs_glm <- function(obs, q, z) {
  psi <- glm_predictor(obs, q, z)
  if (is_counted(obs)) {
    return(cbind(exp(psi$mean + psi$variance / 2)))
  }
  cbind(normal_average(psi$mean, psi$variance, stats::plogis))
}

obs_average_response.obs_glm <- function(obs, fit, z, weight) {
  if (!is.matrix(weight)) weight <- matrix(weight, nrow(z), length(weight), byrow = TRUE)
  clusters <- posterior_clusters(fit)
  out <- Reduce(`+`, lapply(seq_along(clusters), function(k) {
    used <- weight[, k] != 0
    one <- matrix(0, nrow(z), 1L)
    if (any(used)) one[used, ] <- weight[used, k] * obs_expected_response(obs, clusters[[k]], z[used, , drop = FALSE])
    one
  }))
  colnames(out) <- column_labels(fit)[1L]
  out
}

obs_seen_response.obs_glm <- function(obs, x) {
  if (obs$responses == 2L) x[, 1L, drop = FALSE] / rowSums(x[, 1:2, drop = FALSE]) else x[, 1L, drop = FALSE]
}

# Intervals of predict(type = "response", interval = ): quantiles of the expected response over clusters and
# their coefficients.
intervals_of_glm <- function(fit, newdata, covariates, interval, call) {
  z <- as_covariates(fit, newdata, call = call)
  weight <- known_weights(fit, newdata, covariates, call)
  if (!is.matrix(weight)) weight <- matrix(weight, nrow(z), length(weight), byrow = TRUE)
  obs <- fit$model$obs
  parts <- lapply(posterior_clusters(fit), function(q) glm_predictor(obs, q, z))
  moments <- list(
    mean = matrix(unlist(lapply(parts, `[[`, "mean")), nrow(z)),
    variance = matrix(unlist(lapply(parts, `[[`, "variance")), nrow(z)), prob = weight, df = rep(Inf, length(parts))
  )
  to_response <- if (is_counted(obs)) exp else stats::plogis
  ends <- vapply(c(1 - interval, 1 + interval) / 2, function(p) quantile_of_rows(p, moments), double(nrow(z)))
  out <- cbind(obs_average_response(obs, fit, z, weight), to_response(matrix(ends, nrow(z))))
  names <- if (is.data.frame(newdata) && .row_names_info(newdata) > 0L) row.names(newdata)
  dimnames(out) <- list(names, c("fit", "lower", "upper"))
  out
}

obs_given.obs_glm <- function(obs) {
  c(list(covariates = covariates_of_rows), if (obs$responses == 2L) list(total = totals_of_rows))
}

# The numbers of trials of rows that will be drawn: one number for all, or those of the training data.
totals_of_rows <- function(total, fit, call) {
  if (is.null(total)) {
    return(fit$model$obs$trials)
  }
  if (!is.numeric(total) || !length(total) || !all(is.finite(total)) || !all(are_counts(total))) {
    abort("argument", "{.arg total} must be whole numbers of at least 0, not {describe(total)}.", call = call)
  }
  as.double(total)
}

obs_draw.obs_glm <- function(obs, clusters, path, lengths, given) {
  at <- rep_len(seq_len(nrow(given$covariates)), length(path))
  z <- given$covariates[at, , drop = FALSE]
  trials <- if (obs$responses == 2L) rep_len(given$total, length(path)) else rep(1, length(path))
  y <- draw_by_cluster(clusters, path, function(q, rows) {
    q$coef_mean[1L, ] <- q$coef_mean[1L, ] +
      drop(t(root_of_covariance(as.matrix(q$coef_cov))) %*% stats::rnorm(ncol(q$coef_mean)))
    psi <- glm_predictor(obs, q, z[rows, , drop = FALSE])$mean
    if (is_counted(obs)) {
      size <- obs$size[sample.int(length(obs$size), 1L, prob = q$size_prob)]
      return(cbind(stats::rnbinom(length(rows), size = size, mu = pmin(exp(psi), 1e9))))
    }
    yes <- stats::rbinom(length(rows), trials[rows], stats::plogis(psi))
    if (obs$responses == 2L) cbind(yes, trials[rows] - yes) else cbind(yes)
  })
  cbind(y, z)
}

# The data of a picture of the expected response in each cluster over one covariate, with a 90 % posterior
# interval; the other covariates are at their means.
obs_picture.obs_glm <- function(obs, fit, data) {
  z <- if (is.null(data) || data$n == 0L) obs$covariates else data$x[, -response_columns(obs), drop = FALSE]
  labels <- column_labels(fit)
  at <- which(apply(z, 2L, function(v) length(unique(v[!is.na(v)])) > 1L) & seq_len(ncol(z)) > obs$offset)[1L]
  if (is.na(at)) {
    abort("argument", c(
      "The picture of a regression needs a covariate that differs between rows.",
      i = "Read their parameters from {.fn coef}, or use {.code type = \"elbo\"}."
    ), call = rlang::caller_env(2))
  }
  used <- in_use(fit)
  clusters <- posterior_clusters(fit)
  x <- seq(min(z[, at], na.rm = TRUE), max(z[, at], na.rm = TRUE), length.out = 101L)
  grid <- matrix(colMeans(z, na.rm = TRUE), length(x), ncol(z), byrow = TRUE)
  grid[, at] <- x
  to_response <- if (is_counted(obs)) exp else stats::plogis
  rings <- lapply(used, function(k) {
    psi <- glm_predictor(obs, clusters[[k]], grid)
    half <- stats::qnorm(0.95) * sqrt(psi$variance)
    data.frame(x = c(x, rev(x)), y = to_response(c(psi$mean + half, rev(psi$mean - half))), cluster = k)
  })
  points <- if (!is.null(data) && data$n > 0L) {
    cluster <- unname(most_probable(of_rows(data, state_responsibilities(fit, data))))
    data.frame(x = data$x[, obs$responses + at], y = obs_seen_response(obs, data$x)[, 1L], cluster = cluster)
  }
  # labels of curves stand side by side where curves cross
  centre <- round(length(x) * (seq_along(used) - 0.5) / length(used))
  centre <- pmin(pmax(centre, 1L), length(x))
  middle <- vapply(seq_along(used), function(i) {
    glm_predictor(obs, clusters[[used[i]]], grid[centre[i], , drop = FALSE])$mean
  }, 1)
  list(
    kind = "plane", points = points, rings = do.call(rbind, rings),
    centres = data.frame(x = x[centre], y = to_response(middle), cluster = used),
    labels = c(labels[obs$responses + at], labels[1L])
  )
}

# Residuals of rows of sequences: the response (or its share of the trials) minus its expectation given the
# rows before.
residuals_of_choices <- function(fit, newdata, id, covariates, call) {
  data <- as_new_sequences(fit, newdata, id, call, covariates = covariates)
  left <- for_all_rows(data, obs_seen_response(fit$model$obs, data$x))[, 1L]
  left - unname(response_ahead(fit, newdata, id, NULL, covariates, call))
}

# Reports that one yes or no per row says nothing about the number of clusters unless covariates differ: a
# mixture of Bernoulli distributions is a Bernoulli distribution.
tell_of_one_trial <- function(obs, data) {
  if (obs$responses == 1L && !is_counted(obs) && data$n > 1L) {
    cli::cli_inform(
      c("With one yes or no per row the data hardly tell whether there are several clusters.",
        i = "Give {.arg id}, so that all rows of an individual are in one cluster, or {.code cbind(yes, no)} of several
             trials."),
      class = c("bnpvi_message_one_trial", "bnpvi_message"), call = NULL
    )
  }
}

# The data of a picture of the regression in each state, with the rows of `data` in the colours of their
# states.
picture_of_responses <- function(fit, data, id, call = rlang::caller_env()) {
  obs <- fit$model$obs
  if (!is_glm(obs)) {
    abort("argument", c(
      "{.code type = \"response\"} is for sequences with logistic or count responses.",
      i = "{.code type = \"segments\"} shows the states, {.fn coef} has the coefficients."
    ), call = call)
  }
  internal <- if (!is.null(data)) as_new_sequences(fit, data, id, call, "data")
  picture <- obs_picture(obs, fit, internal)
  if (is.null(internal)) picture else placed_rows(picture, internal)
}
