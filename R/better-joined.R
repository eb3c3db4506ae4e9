# Tries other observation models for columns that are modelled as Gaussian, with clusters joined.
# A column that is skewed or heavy-tailed is often cut into several Gaussian clusters, and within such a
# cluster its shape cannot be seen. If clusters overlap, models that could have produced a column's values are
# therefore tried on the whole data, too. A trial starts from the clusters that were found and only merges
# them. Its bound can be compared with that of the fit.

# The largest number of laps (passes over the data) of a trial with joined clusters is shared among columns;
# this is the least for one column. A lap with learned shapes takes about as long as four Gaussian ones.
least_laps <- 8L

# The largest number of rows of a fit for which models are tried on joined clusters, as each trial visits all
# rows.
most_rows_joined <- 2^14

# Models are tried on joined clusters only where clusters overlap, since those that lie far apart are hardly
# parts of one: where the average entropy of a row's cluster memberships is at least this (nats).
least_shared <- 0.05

# The fit with `better`, a data frame of columns with better models. Here they were found with joined
# clusters, and `better` also has the number of clusters that are left. They replace those from
# with_better_models() if the bound of all named columns together is higher by `least_gain`, and if that is
# more than the gain with the clusters as they are. refit(obs, control, start): a function that fits the same
# data. Models are tried in the order of their bounds for the whole column as one cluster, and all trials
# together take about as long as the fit.
with_better_joined <- function(fit, data, refit) {
  shared <- fit$elbo_terms[["entropy"]] >= least_shared * sum(data$weights %||% data$n)
  if (sum(fit$sizes > 0) < 2L || !shared || !is.null(fit$model$obs$levels)) {
    return(fit)
  }
  x <- columns_of_gaussian(fit, data)
  columns <- columns_that_depart(x, rep(1L, nrow(x)), data$weights)
  if (!length(columns)) {
    return(fit)
  }
  gaussian <- gaussian_part(fit)
  spacing <- stats::setNames(gaussian$rounding %||% rep(0, ncol(x)), colnames(x))
  as_one <- bounds_within(matrix(1, nrow(x)), fit, data, x)
  tried <- fit
  tried$better <- NULL # columns with better models that were found so far
  best <- fit$elbo + max(0, sum(fit$better$gain) - least_gain)
  labels <- fit$labels
  for (column in columns) {
    least <- best + least_gain
    makers <- models_of_values(x[, column], all_counts(x[, column]), spacing[[column]])
    bounds <- vapply(makers, function(maker) as_one(column, do.call(maker, list())), 1)
    laps <- max(least_laps, nrow(elbo_trace(fit)) %/% (4L * length(columns)))
    for (maker in makers[order(-bounds)]) {
      own <- tried
      own$better <- rbind(tried$better, data.frame(column = column, model = maker, gain = 0, clusters = 0L))
      for (start in list(labels, if (ncol(x) == 1L) rep(1L, length(labels)))) {
        if (is.null(start) || laps <= 0) next
        joined <- fit_of_trial(eval(call_of_better(own), rlang::ns_env("bnpvi")), fit, start, refit, laps)
        laps <- laps - joined$laps
        if (joined$elbo < max(best, least)) next
        best <- joined$elbo
        found <- list(labels = joined$labels, better = transform(
          own$better, gain = best - fit$elbo, clusters = joined$clusters
        ))
      }
    }
    if (best < least) next
    labels <- found$labels
    tried$better <- found$better
  }
  if (is.null(tried$better)) {
    return(fit)
  }
  fit$better <- tried$better
  sealed(fit)
}

fit_of_trial <- function(obs, fit, start, refit, laps) {
  control <- bnp_control(
    seed = 1, threads = fit$control$threads, moves = bnp_moves(birth = FALSE), max_laps = min(laps, least_laps),
    verbose = FALSE, keep_data = FALSE
  )
  tryCatch(
    {
      joined <- suppressMessages(suppressWarnings(refit(obs, control, start)))
      list(elbo = joined$elbo, clusters = n_clusters(joined), labels = joined$labels, laps = nrow(elbo_trace(joined)))
    },
    bnpvi_error = function(e) list(elbo = -Inf, laps = 1)
  )
}
