# Reads fits with random effects: coefficients of single individuals, and predictions of further rows of these
# individuals.

# Sums over the rows of each individual (individuals x numbers), in the engine's units: the number of rows,
# then the packed second moments of (1, covariates, response).
individual_sums <- function(obs, data) {
  out <- engine_individual_sums(as_engine_data(data), obs)
  rownames(out) <- data$individuals$names
  out
}

# The posterior of the random effects of individuals with these sums over their rows, clusters in the user's
# order: list(mean: individuals x effects x clusters, cov: effects x effects x individuals x clusters, prob:
# probabilities of clusters).
individual_effects <- function(fit, sums) {
  out <- engine_individual_effects(sums, fit$model, fit$state)
  list(
    mean = out$mean[, , fit$numbering, drop = FALSE], cov = out$cov[, , , fit$numbering, drop = FALSE],
    prob = out$prob[, fit$numbering, drop = FALSE]
  )
}

# Posterior means of the individuals' effects, averaged over clusters with their probabilities: individuals x
# effects.
average_effects <- function(effects) {
  mean <- effects$mean
  out <- Reduce(`+`, lapply(seq_len(dim(mean)[3L]), function(k) {
    matrix(mean[, , k], dim(mean)[1L], dim(mean)[2L]) * effects$prob[, k]
  }))
  matrix(out, dim(mean)[1L], dim(mean)[2L])
}

need_effects <- function(fit, type, call) {
  if (!has_effects(fit$model$obs)) {
    abort(c("not_defined", "argument"), c(
      "{.code type = \"{type}\"} is about individuals with random effects, which this fit has not.",
      i = "Fit with {.code bnp_mixture(y ~ t + (1 + t | id), data)}."
    ), call = call)
  }
}

# The result of predict(type = "effects"), with one row for each individual of newdata or, if it is NULL, of
# the fit.
predicted_effects <- function(fit, newdata, id, na_action, call) {
  sums <- if (is.null(newdata)) fit$individual_sums else {
    individual_sums(fit$model$obs, as_newdata(fit, newdata, call, na_action = na_action, id = id))
  }
  out <- average_effects(individual_effects(fit, sums))
  dimnames(out) <- list(rownames(sums), effect_names(fit))
  out
}

effect_names <- function(fit) obs_axes(fit$model$obs, fit$input$column_names)$effects

# Prepares rows of newdata, some without a response, for prediction. Returns list(z: covariates; sums by
# individual over the rows with a response; the number of each row's individual among these sums, 0 for an
# individual without observed responses).
rows_of_individuals <- function(fit, newdata, id, call) {
  obs <- fit$model$obs
  known <- fit$individual_sums
  split <- newdata_id(fit, newdata, id, arg = "newdata", call = call)
  if (is.null(split$id)) {
    abort("id", "{.arg id} is needed: it says whose the rows of {.arg newdata} are.", call = call)
  }
  z <- as_covariates(fit, split$x, call = call)
  id <- as.character(check_id(split$id, nrow(z), "newdata", call))
  y <- if (lacks_response(fit, newdata)) rep(NA_real_, nrow(z)) else {
    table <- if (is.null(fit$input$terms)) as.matrix(newdata) else regression_newdata(fit, newdata, "newdata", call)
    table[, 1L]
  }
  seen <- !is.na(y)
  names <- unique(id[seen])
  rows <- new_bnp_data(unname(cbind(y, z)[seen, , drop = FALSE]))
  sums <- if (any(seen)) individual_sums(obs, numbered_individuals(rows, match(id[seen], names), names))
  sums <- rbind(sums, known[setdiff(intersect(unique(id), rownames(known)), names), , drop = FALSE])
  list(z = z, sums = sums, individual = match(id, rownames(sums), 0L))
}

# Expectation and variance of each row's response in each cluster, rows x clusters, and probabilities of the
# clusters. Rows of an individual without observed responses get the values of a new individual.
moments_of_rows <- function(fit, z, sums = NULL, individual = rep(0L, nrow(z))) {
  obs <- fit$model$obs
  design <- with_intercept(z, obs)
  at <- obs$effects + 1L
  own <- design[, at, drop = FALSE]
  clusters <- posterior_clusters(fit)
  k <- length(clusters)
  weight <- proportion(fit) / sum(proportion(fit))
  effects <- if (length(sums)) individual_effects(fit, sums)
  known <- individual > 0L
  prob <- matrix(weight, nrow(z), k, byrow = TRUE)
  if (any(known)) prob[known, ] <- effects$prob[individual[known], ]
  quadratic <- function(a, m) rowSums((a %*% m) * a)
  mean <- variance <- matrix(0, nrow(z), k)
  for (j in seq_len(k)) {
    q <- clusters[[j]]
    mean[, j] <- design %*% q$coef_mean[1L, ]
    noise <- noise_of_cluster(q)
    variance[, j] <- noise + quadratic(own, effects_of_cluster(obs, q)) + quadratic(design, q$coef_cov)
    if (!any(known)) next
    i <- individual[known]
    away <- matrix(effects$mean[, , j], ncol = length(at))[i, , drop = FALSE] -
      rep(q$coef_mean[1L, at], each = length(i))
    mean[known, j] <- mean[known, j] + rowSums(own[known, , drop = FALSE] * away)
    cov <- matrix(effects$cov[, , , j], length(at)^2)[, i, drop = FALSE]
    pairs <- own[known, rep(seq_along(at), length(at)), drop = FALSE] *
      own[known, rep(seq_along(at), each = length(at)), drop = FALSE]
    # Coefficients without random effects have the same uncertainty as in the cluster, around the centre of
    # the covariates.
    centred <- design[known, , drop = FALSE]
    if (obs$intercept) centred[, -1L] <- centred[, -1L] - rep(obs$origin, each = nrow(centred))
    centred[, at] <- 0
    variance[known, j] <- noise + rowSums(t(cov) * pairs) + quadratic(centred, fixed_covariance(obs, q))
  }
  list(mean = mean, variance = variance, prob = prob, df = vapply(clusters, function(q) {
    max(3, min(q$random_df - joint_effects(obs) + 1, q$df))
  }, 1))
}

# The covariance of the coefficients of centred covariates, computed from that of the coefficients of the
# user's covariates.
fixed_covariance <- function(obs, q) {
  e <- ncol(q$coef_cov)
  to_centred <- diag(e)
  if (obs$intercept && e > 1L) to_centred[1L, -1L] <- obs$origin
  to_centred %*% q$coef_cov %*% t(to_centred)
}

# The expected noise variance E sigma^2 of a cluster and (effects_of_cluster) the expected covariance E D of
# its random effects. Parameters that all clusters share are known numbers.
noise_of_cluster <- function(q) if (is.finite(q$df)) q$scale[1L] / max(q$df - 2, 1) else q$scale[1L]
effects_of_cluster <- function(obs, q) {
  if (is.finite(q$random_df)) q$random_scale / max(q$random_df - joint_effects(obs) - 1, 1) else q$random_scale
}

# The result of predict(type = "response" or "individual"). Limits of an interval, if one is requested, are
# quantiles of the mixture over clusters of t distributions with these moments.
predicted_responses <- function(moments, interval, names) {
  fit <- rowSums(moments$mean * moments$prob)
  if (is.null(interval)) {
    return(stats::setNames(fit, names))
  }
  ends <- vapply(c(1 - interval, 1 + interval) / 2, function(p) quantile_of_rows(p, moments), fit)
  matrix(c(fit, ends), length(fit), dimnames = list(names, c("fit", "lower", "upper")))
}

responses_of_individuals <- function(fit, newdata, type, id, interval, call) {
  if (type == "response") {
    z <- as_covariates(fit, newdata, call = call)
    names <- if (is.data.frame(newdata) && .row_names_info(newdata) > 0L) row.names(newdata)
    return(predicted_responses(moments_of_rows(fit, z), interval, names))
  }
  rows <- rows_of_individuals(fit, newdata, id, call)
  predicted_responses(moments_of_rows(fit, rows$z, rows$sums, rows$individual), interval, NULL)
}

# Quantiles of the responses of all rows at once (mixtures of t distributions over clusters), found by
# bisection.
quantile_of_rows <- function(p, moments) {
  df <- rep(moments$df, each = nrow(moments$mean))
  scale <- sqrt(moments$variance * ifelse(is.finite(df), (df - 2) / df, 1))
  one <- moments$mean + scale * stats::qt(p, df)
  lower <- apply(one, 1L, min)
  upper <- apply(one, 1L, max)
  for (round in seq_len(60L)) {
    middle <- (lower + upper) / 2
    below <- rowSums(moments$prob * stats::pt((middle - moments$mean) / scale, df)) < p
    lower <- ifelse(below, middle, lower)
    upper <- ifelse(below, upper, middle)
  }
  (lower + upper) / 2
}

# --- Generics of observation models ---

obs_axes.obs_random_effects <- function(obs, columns) {
  out <- NextMethod()
  out["effects"] <- list(out$regressors[obs$effects + 1L])
  out
}

obs_learned.obs_random_effects <- function(obs) {
  if (isTRUE(obs$shared)) list(by = "shared = TRUE", numbers = "shared_noise")
}

# The start of a repeated fit for models in which all clusters share the covariance of effects. In the first
# fit, this covariance begins at the whole difference between individuals, part of which clusters then
# explain; in the second, at a quarter of it. New clusters are judged at the present covariance: a start at
# the whole leads to few clusters, a start at a quarter to many.
obs_begin_again.obs_random_effects <- function(obs, k) {
  if (!obs$shared) {
    return(NULL)
  }
  obs$shared_cov <- obs$shared_cov / 4
  obs
}

# The control of fits in which clusters share the covariance of effects; such fits are repeated with another
# start of this covariance. Their starts may do less work together than those of other fits: on six data sets
# with ten seeds more work found the same (inst/bench/regressions.R). The next function lets the second
# fit begin with many clusters only. control: in the engine's form; n: the number of individuals.
starts_with_effects <- function(obs, control, n) {
  if (obs$shared && length(control$kinds)) control$most_work <- min(control$most_work, 1e5 * n)
  control
}

starts_again <- function(control) {
  if (length(control$kinds)) control$kinds <- control$kinds[length(control$kinds)]
  control
}

# What must agree between fits that are compared or updated: a model with another centre of the covariates is
# a different model.
obs_layout.obs_random_effects <- function(obs) list(effects = obs$effects, centre = obs$centre)

obs_quantiles.obs_random_effects <- function(obs) {
  list(
    coef = function(q, p) {
      df <- rep(q$df, ncol(q$coef_mean))
      df[obs$effects + 1L] <- q$random_df - joint_effects(obs) + 1
      scale <- sqrt(diag(q$coef_cov) * ifelse(is.finite(df) & df > 2, (df - 2) / df, 1))
      matrix(student_quantile(p, q$coef_mean[1L, ], scale, df), 1L)
    },
    cov = function(q, p) {
      if (is.finite(q$df)) inverse_wishart_quantile(p, q$df, q$scale) else matrix(NA_real_)
    },
    random_cov = function(q, p) {
      out <- q$random_scale * NA
      if (!is.finite(q$random_df)) {
        return(out)
      }
      if (!obs$independent) {
        return(inverse_wishart_quantile(p, q$random_df, q$random_scale))
      }
      for (j in seq_len(nrow(out))) {
        out[j, j] <- inverse_wishart_quantile(p, q$random_df, q$random_scale[j, j, drop = FALSE])
      }
      out
    }
  )
}

# Draws responses of rows. given$id: the individual of each row; all rows of an individual are in one cluster.
obs_draw.obs_random_effects <- function(obs, clusters, path, lengths, given) {
  z <- given$covariates[rep_len(seq_len(nrow(given$covariates)), length(path)), , drop = FALSE]
  design <- with_intercept(z, obs)
  y <- draw_by_cluster(clusters, path, function(q, rows) {
    coef <- q$coef_mean[1L, ] + drop(t(root_of_covariance(q$coef_cov)) %*% stats::rnorm(ncol(q$coef_cov)))
    random <- draw_covariance_of_effects(obs, q)
    noise <- if (is.finite(q$df)) q$scale[1L] / stats::rchisq(1L, q$df) else q$scale[1L]
    own <- match(given$id[rows], unique(given$id[rows]))
    away <- matrix(stats::rnorm(max(own) * nrow(random)), ncol = nrow(random)) %*% root_of_covariance(random)
    x <- design[rows, , drop = FALSE]
    cbind(drop(x %*% coef) + rowSums(x[, obs$effects + 1L, drop = FALSE] * away[own, , drop = FALSE]) +
      sqrt(noise) * stats::rnorm(length(rows)))
  })
  cbind(y, z)
}

draw_covariance_of_effects <- function(obs, q) {
  if (!is.finite(q$random_df)) {
    return(q$random_scale)
  }
  if (!obs$independent) {
    return(draw_covariance(q$random_df, q$random_scale))
  }
  n <- nrow(q$random_scale)
  diag(diag(q$random_scale) / stats::rchisq(n, q$random_df), n)
}

# A matrix R with R'R = cov, where the covariance may be singular up to rounding. It is found from correlations, as
# variances of coefficients have the units of their covariates, from 1e-300 to 1e300.
root_of_covariance <- function(cov) {
  sd <- sqrt(diag(cov))
  unit <- ifelse(sd > 0, sd, 1)
  eigen <- eigen(cov / unit / rep(unit, each = nrow(cov)), symmetric = TRUE)
  sqrt(pmax(eigen$values, 0)) * t(eigen$vectors) * rep(unit, each = nrow(cov))
}
