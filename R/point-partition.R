#' A point estimate of the partition
#'
#' Finds the partition with the smallest expected loss under the posterior, as estimated from draws.
#'
#' @param draws Draws of [bnp_sample()].
#' @param loss `"vi"`: variation of information, in nats. `"binder"`: the number of pairs of
#'   observations that are together in one of two partitions only; it leaves more small clusters.
#' @param k_max The largest number of clusters.
#' @param starts The number of draws, those with the smallest loss, from which the search starts. It also starts from
#'   the fit and, for at most 2,000 observations, from average linkage by how often pairs are together.
#' @param seed,threads As in [bnp_sample()]; default: those of the draws.
#' @return Labels of the observations, by decreasing size of clusters, as from `fitted()`; for topic models of counts a
#'   data frame with columns `document`, `term`, `topic` and `n`, the number of tokens. Attributes: `loss`, the expected
#'   loss; `ball`, the radius around the partition that holds 95 % of the kept draws (the credible ball of Wade and
#'   Ghahramani); `loss_of_fit`, the expected loss of the fit's labels.
#' @details The expected loss is the mean over the draws that are kept, not a bound on it. The search moves one
#'   observation at a time and allocates whole clusters anew, from several starts; the best partition found is returned,
#'   which may be a local optimum.
#' @references
#' Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls.
#' *Bayesian Analysis* 13(2), 559-626.
#'
#' Meila, M. (2007). Comparing clusterings: an information based distance. *Journal of Multivariate Analysis* 98(5),
#' 873-895.
#'
#' Binder, D. A. (1978). Bayesian cluster analysis. *Biometrika* 65(1), 31-38.
#' @seealso [bnp_sample()], [coclustering()].
#' @examples
#' draws <- bnp_sample(faithful, draws = 200, seed = 1)
#' best <- point_partition(draws)
#' table(best)
#' attributes(best)[c("loss", "ball")]
#' @export
point_partition <- function(draws, loss = c("vi", "binder"), k_max = NULL, starts = 10L, seed = NULL, threads = NULL) {
  check_able(draws, "point_partition", "draws")
  loss <- check_choice(loss, c("vi", "binder"), "loss")
  k_max <- if (is.null(k_max)) nrow(kept_labels(draws)) else check_count(k_max, "k_max")
  starts <- check_count(starts, "starts")
  seed <- check_seed(seed) %||% draws$options$seed
  threads <- if (is.null(threads)) draws$options$threads else check_count(threads, "threads")
  best <- best_partition(draws, loss, k_max, starts, seed, threads)
  two <- cbind(best$labels, labels_of_fit(draws))
  of_draws <- engine_partition_losses(kept_labels(draws), two, loss, threads)
  labels <- if (is.null(draws$tokens)) labels_of_units(draws, best$labels) else count_tokens(draws, best$labels)
  structure(
    labels, loss = best$loss,
    ball = stats::quantile(of_draws[, 1L], 0.95, names = FALSE, type = 1), loss_of_fit = mean(of_draws[, 2L])
  )
}

# The partition of the sampled units (rows or groups) with the least expected loss over the draws:
# list(labels, loss), with the largest cluster first.
best_partition <- function(draws, loss = "vi", k_max = nrow(draws$labels), starts = 10L, seed = draws$options$seed,
                           threads = draws$options$threads) {
  kept <- kept_labels(draws)
  from <- starts_of_partition(kept, labels_of_fit(draws), loss, starts, k_max, threads)
  best <- engine_point_partition(kept, from, loss, k_max, seed, threads)
  list(labels = match(best$labels, order(-tabulate(best$labels))), loss = best$loss)
}

# The label that the fit gives each sampled unit (row or group), numbered from 1.
labels_of_fit <- function(draws) {
  of_fit <- draws$of_fit
  if (is.null(of_fit)) unit_labels(draws, draws$fit$labels) else match(of_fit, unique(of_fit))
}

# Labels of the sampled units (rows or groups), numbered from 1. labels: those of all training data, in the
# engine's order.
unit_labels <- function(draws, labels) {
  units <- of_units(draws$fit$input, labels)
  units <- as.vector(modelled_rows_of(draws$fit$input, draws$model$obs, matrix(units)))
  match(units, unique(units))
}

sampled_names <- function(draws) {
  names <- unit_names(draws$fit$input)
  if (is.null(names)) NULL else as.vector(modelled_rows_of(draws$fit$input, draws$model$obs, matrix(names)))
}

# Labels of all observations that the user gave, from one label for each sampled unit (row or group).
labels_of_units <- function(draws, labels) {
  input <- draws$fit$input
  lag <- obs_lag(draws$model$obs)
  if (lag > 0L) {
    all <- matrix(seq_len(n_units(input)))
    labels <- replace(integer(n_units(input)), modelled_rows_of(input, draws$model$obs, all), labels)
    labels <- carry_back(labels, input$starts, lag)
  }
  labels <- in_user_order(draws$fit, labels)
  labels <- stats::setNames(labels, unit_names(input))
  for_all_rows(input, labels)
}

# Partitions from which the search starts, with at most k_max clusters: some draws, the partition of the fit,
# and those of average linkage.
starts_of_partition <- function(kept, of_fit, loss, n, k_max, threads = 1L, most_linked = 2000L) {
  few <- function(z) length(unique(z)) <= k_max
  distinct <- !duplicated(apply(kept, 2L, function(z) rlang::hash(match(z, unique(z)))))
  candidates <- which(distinct & apply(kept, 2L, few))
  candidates <- candidates[seq_len(min(length(candidates), 20L * n))]
  expected <- colMeans(engine_partition_losses(kept, kept[, candidates, drop = FALSE], loss, threads))
  best <- candidates[order(expected)[seq_len(min(n, length(candidates)))]]
  linked <- if (nrow(kept) <= most_linked && nrow(kept) > 2L) {
    tree <- stats::hclust(stats::as.dist(1 - shares_together(kept)), "average")
    sizes <- unique(pmin(k_max, apply(kept, 2L, function(z) length(unique(z)))))
    lapply(unique(round(stats::quantile(sizes, c(0, 0.5, 1)))), function(k) unname(stats::cutree(tree, k)))
  }
  starts <- c(lapply(best, function(m) kept[, m]), if (few(of_fit)) list(of_fit), linked)
  lapply(c(starts, if (!length(starts)) list(rep(1L, nrow(kept)))), function(z) match(z, unique(z)))
}

# For each pair of units, the share of draws in which both are in the same cluster. rows: the units; by
# default all.
shares_together <- function(kept, rows = seq_len(nrow(kept))) {
  together_in(one_hot_labels(kept), rows) / ncol(kept)
}

# For each pair of units, the number of draws in which both are in the same cluster. one_hot: the matrix of
# one_hot_labels().
together_in <- function(one_hot, rows) as.matrix(Matrix::tcrossprod(one_hot[rows, , drop = FALSE], one_hot))

# A sparse matrix, units (rows or groups) x the clusters of all draws, with 1 where the unit is in the
# cluster.
one_hot_labels <- function(kept) {
  before <- c(0L, cumsum(apply(kept, 2L, max)))
  Matrix::sparseMatrix(
    i = as.vector(row(kept)), j = as.vector(kept) + rep(before[-length(before)], each = nrow(kept)), x = 1,
    dims = c(nrow(kept), before[length(before)])
  )
}

#' @rdname coclustering
#' @export
coclustering.bnp_draws <- function(fit, rows = NULL, threshold = NULL, ...) {
  check_no_dots(...)
  check_object(fit)
  if (row_word(fit$fit) == "document") {
    if (!is.null(threshold)) {
      abort("argument", "{.arg threshold} is for pairs of observations; draws of topic models have pairs of documents.")
    }
    return(documents_together(fit, rows))
  }
  kept <- kept_labels(fit)
  names <- sampled_names(fit)
  if (!is.null(rows)) {
    rows <- check_rows(rows, nrow(kept))
    kept <- kept[rows, , drop = FALSE]
    names <- names[rows]
  }
  if (!is.null(threshold)) threshold <- check_number(threshold, "threshold")
  n <- nrow(kept)
  if (n <= most_pairs && is.null(threshold)) {
    out <- shares_together(kept)
    return(`dimnames<-`(out, if (!is.null(names)) list(names, names)))
  }
  if (is.null(threshold)) {
    abort("too_large", c(
      "The similarity of {n} observations would need {signif(8 * n^2 / 1e9, 2)} GB.",
      i = "Give some {.arg rows}, or a {.arg threshold}: {.code threshold = 0.5} has a sparse matrix of the pairs that
           are together in half of the draws."
    ))
  }
  out <- common_pairs(kept, threshold)
  if (!is.null(names)) dimnames(out) <- list(names, names)
  out
}

# The largest number of units for which the full matrix of pairs is made, which then takes 32 MB.
most_pairs <- 2000L

# Shares of draws in which pairs of units are in the same cluster, for pairs with a share of at least
# `threshold`. An error if there are more than `most` such pairs, which would take 2 GB while they are
# collected; about `at_once` pairs are examined at a time.
common_pairs <- function(kept, threshold, most = 3e7, at_once = 5e6, call = rlang::caller_env()) {
  n <- nrow(kept)
  one_hot <- one_hot_labels(kept)
  pairs <- 0
  blocks <- lapply(split_blocks(n, max(1L, at_once %/% n)), function(block) {
    share <- together_in(one_hot, block) / ncol(kept)
    common <- which(share >= threshold, arr.ind = TRUE)
    pairs <<- pairs + nrow(common)
    if (pairs > most) {
      abort("too_large", c(
        "More than {most} pairs of the {n} observations are together in a share of {threshold} of the draws.",
        i = "Raise {.arg threshold}, or give some {.arg rows}."
      ), call = call)
    }
    cbind(block[common[, 1L]], common[, 2L], share[common])
  })
  pairs <- do.call(rbind, blocks)
  Matrix::sparseMatrix(i = pairs[, 1L], j = pairs[, 2L], x = pairs[, 3L], dims = c(n, n))
}

# Checks that `rows` holds distinct numbers from 1 to n.
check_rows <- function(rows, n, call = rlang::caller_env()) {
  if (!is.numeric(rows) || !length(rows) || !all(rows %in% seq_len(n)) || anyDuplicated(rows)) {
    abort("argument", "{.arg rows} must be different numbers from 1 to {n}, not {describe(rows)}.", call = call)
  }
  as.integer(rows)
}
