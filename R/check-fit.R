#' Compare a fit with draws from the posterior
#'
#' Draws from the posterior are compared with a fit. They show whether its number of clusters is probable, how much its
#' partition differs from the draws and, for few observations, how far its bound is below the log probability of the
#' data.
#'
#' @param fit A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param data The observations that the fit was made from, if it does not keep them ([strip_data()]).
#' @param id For fits with `id`: the `id` of that call.
#' @param ... Further arguments of [bnp_sample()], such as `draws` and `seed`.
#' @param x An object of class `bnp_check`.
#' @return An object of class `bnp_check`, a list: `draws`; `n_clusters`, the table of the numbers of clusters in the
#'   draws; `agreement`, the mean adjusted Rand index of the fit's partition and the draws; `point`, the same for the
#'   [point_partition()]; `evidence`, for at most 50 observations (tokens), known concentrations and rows without scales
#'   ([obs_student()]) an estimate of the log probability of the data with its standard error (by sequential imputation,
#'   Liu 1996). `print()` explains these
#'   results, `plot()` shows the number of clusters.
#' @references
#' Liu, J. S. (1996). Nonparametric hierarchical Bayes via sequential imputations. *Annals of Statistics*
#' 24(3), 911-930.
#' @seealso [bnp_sample()]; `vignette("judging-a-fit")`.
#' @examples
#' fit <- bnp_mixture(faithful, control = bnp_control(seed = 1))
#' check_fit(fit, faithful, draws = 200, seed = 1)
#' @export
check_fit <- function(fit, data, id = NULL, ...) {
  check_able(fit, "check_fit")
  data <- data_or_kept(if (!missing(data)) data, fit, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  draws <- bnp_sample(fit, data, !!id, ...)
  kept <- kept_labels(draws)
  of_fit <- labels_of_fit(draws)
  sealed(structure(
    list(
      draws = draws, n_clusters = n_clusters(draws),
      agreement = mean(apply(kept, 2L, adjusted_rand_index, b = of_fit)),
      point = adjusted_rand_index(best_partition(draws)$labels, of_fit),
      evidence = evidence_estimate(draws, data, id)
    ),
    class = "bnp_check"
  ))
}

# Estimates log p(data) by an average over `runs` runs of a sequential sampler: c(estimate, se). NULL if the
# data have more than `most` observations, too many for an average of a few thousand runs, or if
# concentrations or scales of rows are drawn.
evidence_estimate <- function(draws, data, id, runs = 4000, most = 50L) {
  if (nrow(kept_labels(draws)) > most || length(drawn_concentrations(draws)) || any_tails(draws$model$obs)) {
    return(NULL)
  }
  log_p <- engine_draw_in_sequence(
    as_engine_data(data_of_draws(draws, data, id)), draws$model, as.double(seq_len(runs)),
    starting_concentration(draws$model$prior), draws$options$seed, draws$options$threads
  )$log_evidence
  if (all(log_p == -Inf)) { # no run found states that all known labels allow
    return(NULL)
  }
  relative <- exp(log_p - max(log_p))
  c(estimate = max(log_p) + log(mean(relative)), se = stats::sd(relative) / mean(relative) / sqrt(runs))
}

#' @rdname check_fit
#' @export
print.bnp_check <- function(x, ...) {
  check_object(x)
  k <- n_clusters(x$draws$fit)
  share <- x$n_clusters[as.character(k)]
  share <- if (is.na(share)) 0 else share
  middle <- stats::quantile(as.vector(trace_of(x$draws, "n_clusters")), c(0.05, 0.95), type = 1, names = FALSE)
  say <- function(...) cat(strwrap(paste0(...)), sep = "\n")
  say(
    "The fit has ", count_of(k, cluster_word(x$draws$fit)),
    ". The posterior has as many with probability ", format(share, digits = 2), ", and with probability 0.9 from ",
    middle[1L], " to ", middle[2L], "."
  )
  say(
    "Its partition and a draw agree by an adjusted Rand index of ", format(x$agreement, digits = 2),
    " on average, it and the partition of the least expected loss by ", format(x$point, digits = 2), "."
  )
  if (!is.null(x$evidence)) {
    say(
      "The log probability of the data is about ", format(x$evidence[["estimate"]], digits = 6), " (standard error ",
      format(x$evidence[["se"]], digits = 2), "); the bound is ", format(x$draws$fit$elbo, digits = 6), ", ",
      format(x$evidence[["estimate"]] - x$draws$fit$elbo, digits = 2), " below."
    )
  }
  far <- suppressWarnings(summary(x$draws)$table)
  apart <- far$term[which(far$rhat > 1.05)]
  if (length(apart)) {
    say("Chains have not come together (R-hat of ", paste(apart, collapse = ", "), " above 1.05): ask for more draws.")
  }
  invisible(x)
}

#' @rdname check_fit
#' @export
plot.bnp_check <- function(x, ...) {
  check_drawing(...)
  check_object(x)
  plot_number(x$draws, ...)
  invisible(x)
}
