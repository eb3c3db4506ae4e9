#' Agreement of two clusterings
#'
#' These functions measure how far two clusterings of the same items agree: `adjusted_rand_index()` by one number,
#' `agreement()` by a table of the usual measures. Names and numbers of clusters do not matter.
#'
#' Items without a label (`NA`) in either clustering are left out, with a message.
#' @param a,b The two clusterings: labels of the same items, of any class (see [bnpvi]). If both have names, `b` is
#'   matched to `a` by name. A clustering can also be a fit, which stands for the labels of its training data (in topic
#'   models: the largest topic of each document); the result of [stats::kmeans()] or of another package, which stands
#'   for its `cluster`; or a list of vectors, which stands for its sequences one after the other.
#' @return `adjusted_rand_index()`: a number, at most 1: 1 when the partitions agree, 0 on average when they are
#'   independent (Hubert and Arabie 1985).
#'
#'   `agreement()`: a data frame of one row:
#'   * `n`, the number of items, `k_a` and `k_b`, the numbers of clusters;
#'   * `ari`, the adjusted Rand index;
#'   * `nmi`, normalised mutual information: I(a, b) over the mean of both entropies, from 0 to 1;
#'   * `vi`, the variation of information in nats: H(a) + H(b) - 2 I(a, b), 0 for the same clusters (Meila 2007);
#'   * `error_one_to_one`, the share of items that are wrong if the clusters of `a` are matched to those of `b` in the
#'     best way, each to at most one (the normalised Hamming distance of segmentations);
#'   * `error_many_to_one`, the share of items that are not in the cluster of `b` to which most items of their cluster
#'     of `a` belong (one minus the purity). More clusters in `a` make it smaller. Only for this measure it matters
#'     which of the two is `a`.
#' @references
#' Hubert, L. and Arabie, P. (1985). Comparing partitions. *Journal of Classification* 2,
#' 193-218.
#'
#' Meila, M. (2007). Comparing clusterings: an information based distance. *Journal of Multivariate Analysis* 98,
#' 873-895.
#' @seealso [fitted.bnp_fit()] for the labels of a fit; [compare_fits()], which says how far fits agree.
#' @examples
#' adjusted_rand_index(c(1, 1, 2, 2), c("b", "b", "a", "a"))
#'
#' fit <- bnp_mixture(penguins_measurements[, -1], control = bnp_control(seed = 1))
#' agreement(fit, penguins_measurements$species)
#' @export
agreement <- function(a, b) {
  joint <- joint_counts(a, b)
  data.frame(
    n = as.integer(sum(joint)), k_a = nrow(joint), k_b = ncol(joint), ari = rand_of_counts(joint),
    nmi = shared_information(joint)$nmi, vi = shared_information(joint)$vi,
    error_one_to_one = 1 - best_matching(joint) / sum(joint),
    error_many_to_one = 1 - sum(apply(joint, 1L, max)) / sum(joint)
  )
}

#' @rdname agreement
#' @export
adjusted_rand_index <- function(a, b) rand_of_counts(joint_counts(a, b))

# Cross-tabulates two clusterings of the same items: clusters of `a` x clusters of `b`, with the number of
# items that each pair of clusters shares.
joint_counts <- function(a, b, call = rlang::caller_env()) {
  a <- labels_to_compare(a, "a", call)
  b <- labels_to_compare(b, "b", call)
  if (length(a) != length(b) || !length(a)) {
    abort("argument", c(
      "{.arg a} and {.arg b} must have the same length, at least 1; they have {length(a)} and {length(b)}."
    ), call = call)
  }
  b <- in_order_of_names(b, names(as_vector(a)), length(a), "b", "item", call)
  a <- label_factor(a, "a", call)
  b <- label_factor(b, "b", call)
  without <- sum(is.na(a) | is.na(b))
  if (without == length(a)) {
    abort("argument", "No item has a label in both {.arg a} and {.arg b}.", call = call)
  }
  if (without) {
    cli::cli_inform(
      "{without} item{?s} without a label {?is/are} left out.",
      class = c("bnpvi_message_left_out", "bnpvi_message"), call = NULL
    )
  }
  joint <- unclass(table(a, b))
  unname(joint[rowSums(joint) > 0, colSums(joint) > 0, drop = FALSE])
}

labels_to_compare <- function(x, arg, call) {
  if (inherits(x, "bnp_fit")) {
    return(hard_labels(x))
  }
  if (NCOL(x) > 1L) {
    abort(arg, "{.arg {arg}} must have one label for each item, not {NCOL(x)} columns.", call = call)
  }
  own <- intersect(c("classification", "cluster", "clustering", "membership"), if (is.list(x)) names(unclass(x)))
  if (length(own)) {
    return(x[[own[1L]]])
  }
  if (!rlang::is_bare_list(x)) {
    return(x)
  }
  unlist(lapply(x, function(part) if (is.factor(part)) as.character(part) else part))
}

rand_of_counts <- function(joint) {
  pairs <- function(n) sum(as.double(n) * (n - 1) / 2)
  both <- pairs(joint)
  in_a <- pairs(rowSums(joint))
  in_b <- pairs(colSums(joint))
  expected <- in_a * in_b / max(pairs(sum(joint)), 1)
  largest <- (in_a + in_b) / 2
  if (largest == expected) 1 else (both - expected) / (largest - expected)
}

# list(nmi, vi) of two clusterings with this table of counts: normalised mutual information and variation of
# information. Two clusterings with one cluster each share no information, but are the same, so that nmi is 1.
shared_information <- function(joint) {
  entropy <- function(n) -sum((n * log(n / sum(joint)))[n > 0]) / sum(joint)
  own <- entropy(rowSums(joint)) + entropy(colSums(joint))
  vi <- max(0, 2 * entropy(joint) - own)
  list(nmi = if (own > 0) max(0, 1 - vi / own) else 1, vi = vi)
}

# The largest number of items in common under a one-to-one matching of rows and columns of a table of counts.
# The method is that of shortest augmenting paths (Jonker and Volgenant 1987, Computing 38, 325-340): rows are
# matched one after the other, while prices of rows and columns keep the reduced costs of matched pairs at 0
# and those of all other pairs at 0 or more.
best_matching <- function(joint) {
  if (nrow(joint) > ncol(joint)) joint <- t(joint)
  k <- ncol(joint)
  row_price <- double(nrow(joint))
  col_price <- double(k)
  row_of <- integer(k) # for each column the row that is matched to it; 0: none
  for (row in seq_len(nrow(joint))) {
    least <- rep(Inf, k) # length of the shortest path to each column
    before <- integer(k) # for each column, the column before it on its shortest path
    done <- logical(k)
    at <- 0L
    length <- 0
    current <- row
    repeat {
      through <- length - joint[current, ] - row_price[current] - col_price
      shorter <- !done & through < least
      least[shorter] <- through[shorter]
      before[shorter] <- at
      open <- which(!done)
      at <- open[which.min(least[open])]
      length <- least[at]
      done[at] <- TRUE
      if (row_of[at] == 0L) break
      current <- row_of[at]
    }
    visited <- which(done & row_of > 0L)
    row_price[row_of[visited]] <- row_price[row_of[visited]] + length - least[visited]
    row_price[row] <- row_price[row] + length
    col_price[visited] <- col_price[visited] - (length - least[visited])
    while (at > 0L) {
      row_of[at] <- if (before[at] > 0L) row_of[before[at]] else row
      at <- before[at]
    }
  }
  matched <- which(row_of > 0L)
  sum(joint[cbind(row_of[matched], matched)])
}
