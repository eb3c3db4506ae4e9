#' Join clusters into coarser ones, and what each step costs
#'
#' A fit often has more clusters than there are groups in the usual sense: a group whose distribution is not Gaussian
#' needs several clusters. `cluster_tree()` joins clusters, topics or states pair by pair, down to one. Each step joins
#' the pair whose union lowers the bound on the log evidence least. `cut_fit()` makes a fit with fewer clusters from the
#' tree.
#'
#' @param fit A fit of [bnp_mixture()], [bnp_topics()] or [bnp_hmm()].
#' @param data The training data, as they were given to the fit; with a formula, its data frame. Not needed if the fit
#'   keeps its data ([strip_data()]).
#' @param id For fits of topics or sequences with `id`: the same `id`, as in [bnp_topics()] or [bnp_hmm()]. Fits of
#'   mixtures know it.
#' @param ... Must be empty; for `plot()`, passed on to [stats::plot.hclust()].
#' @return `cluster_tree()`: an object of class `bnp_tree`, which is an [stats::hclust()] tree of the clusters, so that
#'   [stats::cutree()], [stats::as.dendrogram()], [stats::rect.hclust()] and `plot()` take it. In addition to the
#'   components of such a tree it has
#'
#'   * `elbo`: the bound before any join and after each;
#'   * `loss`: by how much each join lowered the bound (negative if it raised the bound);
#'   * `joins`: the two clusters of each join, by number; a joined cluster has the number of its first part;
#'   * `sizes`: expected sizes of the clusters; `fitted_elbo`: the bound of the fit.
#'
#'   `height` is the log evidence lost up to each join. A tree cannot show joins that raise the bound, so heights never
#'   fall: they are cumulative maxima of the log evidence lost.
#' @details All data are visited once at the parameters of the fit. From then on the probability of a joined cluster is
#'   the sum of the probabilities of its parts, for every observation (every word of a document, every pair of
#'   neighbouring rows of a sequence), and the parameters are optimal for these probabilities. Every `elbo` is therefore
#'   exact: a fit with these probabilities would have the same bound.
#'
#'   *Which pair is joined*: all pairs are ranked by the exact change of the data term and of the entropy, plus the
#'   change of the term of the weights, computed when the later of the two clusters was formed. The bounds of the eight
#'   best pairs are then compared exactly. (In five fits these trees were the same as with all pairs compared.) With
#'   more than 128 clusters only pairs of neighbouring clusters are ranked. The choice is made step by step, so that
#'   another tree may lose less for some number of clusters.
#'
#'   With a finite prior, `k` is the number of clusters that are left: [prior_dirichlet()], [prior_lda()] and
#'   [prior_hmm()] keep their total weight.
#'
#'   The tree needs memory for the probabilities of observations that belong to several clusters: 12 bytes for each
#'   probability (for rows of a sequence, 8 bytes for each pair of states).
#' @section How many groups?:
#' `print()` looks for a leap of the loss: a join that costs at least three times as much as the costliest join before
#' it. Clusters that overlap are cheap to join, so that a leap suggests that the clusters left before it are separate
#' groups. If there are several such joins, `print()` names the one with the largest ratio. Cheap joins do not count as
#' leaps: the cost of earlier joins is taken as at least 10 nats, and as at least a fifth of the median loss. (These
#' numbers are guesses.) A leap is a hint and no test: the tree does not change the fit, whose own number of clusters
#' has the highest bound unless a join has a negative loss. Look at the tree, and at the clusters that it joins, before
#' you believe in a number.
#' @section Known labels:
#'   Clusters of different classes (`labels` of [bnp_mixture()]) are never joined. A cluster of no class may be joined
#'   to any cluster, and the result belongs to the class of that cluster. The tree ends with one cluster for each class:
#'   `elbo`, `loss` and `joins` end there. As an `hclust` needs a root, classes meet above all joins, at a height that
#'   has no meaning (`plot()` draws a dashed line below it). `cut_fit()` leaves at least as many clusters as there are
#'   classes.
#' @seealso [cluster_divergence()] for how far apart clusters are; `vignette("how-many-clusters")`.
#' @examples
#' fit <- bnp_mixture(penguins_measurements[-1], control = bnp_control(seed = 1))
#' tree <- cluster_tree(fit, penguins_measurements)
#' tree
#' plot(tree)
#' cutree(tree, k = 2)
#' cut_fit(fit, penguins_measurements, k = 2, tree = tree)
#' @export
cluster_tree <- function(fit, data, ...) UseMethod("cluster_tree")

#' @rdname cluster_tree
#' @export
cluster_tree.bnp_fit <- function(fit, data, id = NULL, ...) {
  check_no_dots(...)
  check_able(fit, "cluster_tree")
  data <- data_or_kept(if (!missing(data)) data, fit, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  grow_tree(fit, training_data(fit, data, id), rename_call(match.call(), "cluster_tree"))
}

#' @export
cluster_tree.default <- function(fit, data, ...) {
  check_able(fit, "cluster_tree")
}

# Reads `data` into the internal form and checks that they are the data to which the model was fitted.
training_data <- function(fit, data, id = NULL, call = rlang::caller_env()) {
  check_format(fit, call)
  read <- read_rows(fit, data, id, call, "data")
  known <- fit$input
  if (has_weights_by_time(fit)) {
    read$distinct_times <- fit$model$obs$times
    read <- grouped_by_time(read)
  }
  if (has_covariates(fit$model$prior)) { # the fit stores which row has which covariates
    read[c("patterns", "more_variance")] <- NULL
    read$position <- known$position
  }
  trained <- as_trained(read, fit)
  # Whether rows are in groups. In a mixture they are not, even if the rows have an id, unless rows depend on
  # earlier ones.
  grouped <- !is.null(unit_word(fit)) || state_lag(fit) > 0L
  same <- !is.null(trained) && (!grouped || identical(as.integer(read$starts), as.integer(known$starts))) &&
    isTRUE(all.equal(mean_exposure(trained), known$mean_exposure)) && identical(read$individual, known$individual) &&
    identical(read$back, known$back) && identical(read$position, known$position)
  if (!same) {
    abort("other_data", c(
      "{.arg data} must be the data from which {.arg fit} was made.",
      x = if (!identical(as.integer(read$n), as.integer(known$n))) {
        "They have {read$n} row{?s}; the fit was made from {known$n}."
      } else {
        "Their values, or the order of rows or groups, differ from those of the fit."
      },
      i = paste0(
        "Give what the fit was given", if (grouped) ", {.arg id} included", "; {.fn predict} takes other data."
      )
    ), call = call)
  }
  trained
}

# The state from which the engine continues a fit: the fit's statistics and, for topics, the topics of its
# documents.
engine_start <- function(fit, data) {
  c(list(state = fit$state), if (row_word(fit) == "document") documents_of_fit(fit, data))
}

grow_tree <- function(fit, data, call, error_call = rlang::caller_env()) {
  force(data) # evaluates `data`, which checks the fit
  k <- fit$state$k
  if (k < 2L) {
    abort("one_cluster", c(
      "{.arg fit} has one cluster: there is nothing to join.", i = "{.fn cluster_tree} needs at least two."
    ), call = error_call)
  }
  joins <- in_memory(
    engine_cluster_tree(as_engine_data(data), fit$model, engine_start(fit, data), fit$control), error_call
  )
  if (!all(is.finite(joins$elbo))) {
    abort("numerical", c(
      paste0(
        "The bound of joined clusters cannot be computed: a term of it is not finite, or uncertain by more than 1 ",
        "from rounding."
      ),
      i = "Choose a less extreme {.arg prior} or {.arg obs} for the fit."
    ), call = error_call)
  }
  loss <- -diff(joins$elbo)
  pairs <- cbind(match(joins$a, fit$numbering), match(joins$b, fit$numbering))
  if (!length(loss)) {
    abort("one_cluster", c(
      "No two clusters of {.arg fit} may be joined.",
      i = paste("Clusters of different", kept_apart(fit)[["by"]], "stay apart.")
    ), call = error_call)
  }
  apart <- apart_for_ever(pairs, k)
  tree <- tree_of_joins(c(pairs[, 1L], apart[, 1L]), c(pairs[, 2L], apart[, 2L]), k)
  height <- cummax(pmax(cumsum(loss), 0))
  top <- height[length(height)]
  sealed(structure(
    list(
      merge = tree$merge, height = c(height, rep(1.15 * top + (top == 0), nrow(apart))),
      order = tree$order, labels = as.character(seq_len(k)),
      method = "least loss of the bound", call = call, dist.method = "lost log evidence",
      loss = loss, elbo = joins$elbo, joins = pairs, sizes = cluster_sizes(fit), fitted_elbo = elbo_of_covariance(fit),
      word = cluster_word(fit),
      fingerprint = fit$input$fingerprint
    ),
    class = c("bnp_tree", "hclust")
  ))
}

# Completes the joins of a tree if known labels or names by keywords keep some clusters apart. Those that are left
# when no pair may be joined any more are added as joins to the first of them.
# pairs: the joins so far.
apart_for_ever <- function(pairs, k) {
  left <- setdiff(seq_len(k), pairs[, 2L])
  cbind(rep(left[1L], length(left) - 1L), left[-1L])
}

# Evaluates an expression for which the engine needs the probabilities of all observations in memory, and
# turns a lack of memory into a classed error.
in_memory <- function(expr, call) {
  no_room <- function(e) {
    abort("memory", c(
      "There is not enough memory to join clusters.",
      i = "This needs the probabilities of all observations that are shared by several clusters, and tables of all
           pairs of clusters."
    ), call = call)
  }
  tryCatch(expr, `std::bad_alloc` = no_room, `std::length_error` = no_room)
}

# Turns a list of joins into the form of hclust(). Join i is of clusters b[i] to a[i], and the joined cluster
# keeps the number a[i].
tree_of_joins <- function(a, b, k) {
  node <- -seq_len(k)
  members <- as.list(seq_len(k))
  merge <- matrix(0L, k - 1L, 2L)
  for (i in seq_along(a)) {
    pair <- node[c(a[i], b[i])]
    # The order of the two parts of a join in hclust(): single clusters first, by number, then earlier joins.
    first <- order(pair > 0L, abs(pair))
    merge[i, ] <- as.integer(pair[first])
    members[[a[i]]] <- unlist(members[c(a[i], b[i])[first]])
    node[a[i]] <- i
  }
  list(merge = merge, order = as.integer(members[[utils::tail(a, 1L)]]))
}

# The join at which the loss leaps most, list(step, times). The leap of a join is its loss divided by the
# largest loss of the joins before it, or by `little` if all these were less. `little` is 10 nats or a fifth
# of the median loss, whichever is more (both guesses): with 10 alone, a step from 5 to 44 nats among hundreds
# counted as a leap.
largest_leap <- function(loss, little = max(10, stats::median(loss) / 5)) {
  before <- cummax(c(little, loss))[seq_along(loss)]
  step <- which.max(loss / before)
  list(step = step, times = loss[step] / before[step])
}

# The least ratio of a join's loss to the largest loss before it at which print() mentions the leap: a guess.
clear_leap <- 3

#' @export
print.bnp_tree <- function(x, ...) {
  check_no_dots(...)
  check_object(x)
  k <- length(x$labels)
  word <- x$word
  cat("Tree of ", count_of(k, word), ", joined pair by pair by the least loss of log evidence\n", sep = "")
  steps <- k - seq_along(x$loss) # numbers of clusters after each join
  shown <- utils::tail(seq_along(x$loss), 8L)
  cat("Lost by joining", if (length(shown) < length(steps)) ", the last of them", ":\n", sep = "")
  table <- rbind(format(steps[shown] + 1L), format(steps[shown]), formatC(x$loss[shown], format = "f", digits = 1L))
  dimnames(table) <- list(c("  from", "  to", "  loss"), rep("", length(shown)))
  print(table, quote = FALSE, right = TRUE)
  apart <- k - length(x$loss)
  if (apart > 1L) cat("Clusters of the ", apart, " classes are not joined with each other.\n", sep = "")
  leap <- largest_leap(x$loss)
  at <- k - leap$step + 1L
  if (leap$times < clear_leap) {
    cat("No leap stands out: the losses do not say where to stop.\n")
  } else {
    number <- function(x) formatC(x, format = "f", digits = 1L)
    cat(strwrap(paste0(
      "Largest leap: from ", at, " to ", at - 1L, " loses ", number(x$loss[leap$step]), if (at == k) {
        ", so that no join is cheap. "
      } else {
        paste0(
          ", no join before it more than ", number(max(x$loss[seq_len(leap$step - 1L)])), ". It suggests ", at,
          " groups: a hint and no test. "
        )
      },
      "Look at what is joined before cutting."
    ), exdent = 2), sep = "\n")
    if (at < k) cat("To join up to there: coarsen(fit, ", at, ")\n", sep = "")
  }
  invisible(x)
}

#' @rdname cluster_tree
#' @param x A tree.
#' @param main,xlab,ylab,sub,hang As in [stats::plot.hclust()].
#' @export
plot.bnp_tree <- function(x, main = "", xlab = NULL, ylab = "Log evidence lost", sub = "", hang = -1, ...) {
  check_drawing(..., .also = "^(labels|check)$")
  check_object(x)
  word <- paste0(toupper(substr(x$word, 1L, 1L)), substring(x$word, 2L))
  shown <- structure(unclass(x), class = "hclust")
  old <- set_margins(usual)
  on.exit(graphics::par(old))
  if (length(x$labels) == 2L) { # plot.hclust() refuses a tree of a single join
    graphics::plot(stats::as.dendrogram(shown), main = main, xlab = xlab %||% word, ylab = ylab, sub = sub, ...)
  } else {
    graphics::plot(shown, main = main, xlab = xlab %||% word, ylab = ylab, sub = sub, hang = hang, ...)
  }
  joins <- length(x$loss)
  if (joins < length(x$height)) {
    graphics::abline(h = mean(x$height[joins + 0:1]), lty = 2L)
    graphics::mtext("Above the line: classes, which are not joined", cex = 0.8)
  }
  invisible(x)
}
