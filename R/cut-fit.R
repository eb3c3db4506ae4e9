#' @rdname cluster_tree
#' @param k The number of clusters that are left.
#' @param h Instead of `k`: the largest loss of log evidence that is accepted, a height of the tree.
#' @param tree A tree of the fit, from `cluster_tree()`; `NULL`: it is computed.
#' @param laps The largest number of laps of learning after the joins; 0 for none.
#' @return `cut_fit()`: a fit of the same kind with `k` clusters, for which every method works; when printed, it shows
#'   from which fit it was cut. The clusters are those of `cutree(tree, k)`, improved by up to `laps` laps of the usual
#'   learning without any move. These raise the bound and keep the number of clusters (a cluster that loses all of its
#'   observations stays as an empty one). The prior stays as it is, or continues to be learned; a finite prior gets `k`.
#'   The element `cut` of the fit is a list: `from`, the number of clusters and the bound before; `joined`, the bound
#'   before these laps; and `cluster`, the cluster to which each cluster of `fit` now belongs.
#' @export
cut_fit <- function(fit, data, k = NULL, ...) UseMethod("cut_fit")

#' @rdname cluster_tree
#' @export
cut_fit.bnp_fit <- function(fit, data, k = NULL, h = NULL, tree = NULL, laps = 20L, id = NULL, ...) {
  check_no_dots(...)
  check_able(fit, "cut_fit")
  data <- data_or_kept(if (!missing(data)) data, fit, "data")
  read_arguments(rlang::enquos(id = id), data, "data")
  cut_at(fit, training_data(fit, data, id), k, h, tree, laps, rename_call(match.call(), "cut_fit"))
}

#' @export
cut_fit.default <- function(fit, data, k = NULL, ...) {
  check_able(fit, "cut_fit")
}

cut_at <- function(fit, data, k, h, tree, laps, call, error_call = rlang::caller_env()) {
  force(data) # evaluates `data`, which checks the fit
  if (is.null(k) == is.null(h)) {
    abort(
      "argument", "{.fn cut_fit} needs either {.arg k}, a number of clusters, or {.arg h}, a height.",
      call = error_call
    )
  }
  laps <- check_count(laps, "laps", lower = 0L, call = error_call)
  if (!is.null(k)) k <- check_cut(k, fit, error_call)
  if (!is.null(h)) h <- check_number(h, "h", strict = FALSE, call = error_call)
  tree <- if (is.null(tree)) grow_tree(fit, data, call, error_call) else check_tree(tree, fit, error_call)
  # The number of clusters, if a height h was given. Clusters of different known classes are never joined,
  # whatever the height.
  k <- k %||% (length(tree$labels) - sum(tree$height[seq_along(tree$loss)] <= h))
  need_joins_to(k, tree, fit, error_call)
  group <- stats::cutree(tree, k = k)
  joined <- joined_fit(fit, data, tree$joins[seq_len(fit$state$k - k), , drop = FALSE], group, error_call)
  cut <- if (laps > 0L) polished_fit(joined$result, joined$model, fit, data, laps, error_call)
  # Laps (passes over the data) lower the bound in rare cases, with sequences whose rows are kept in few
  # states each, since these states are chosen anew. The joined fit is then returned without the laps.
  if (is.null(cut) || cut$result$elbo < joined$result$elbo) cut <- joined
  learned <- cut$result[names(cut$result) != "group"]
  out <- with_result(new_bnp_fit(verb_of(fit), fit$call, cut$model, cut$control, fit$input, learned), data)
  out$call <- call
  out$cut <- list(
    from = list(k = fit$state$k, elbo = elbo_of_covariance(fit)), joined = joined$result$elbo,
    cluster = stats::setNames(match(group, joined$result$group[out$numbering]), seq_along(group))
  )
  sealed(out)
}

check_cut <- function(k, fit, call) {
  k <- check_count(k, "k", call = call)
  if (k > fit$state$k) {
    abort("argument", c(
      "{.arg k} must be at most {fit$state$k}, the number of clusters of {.arg fit}, not {k}.",
      i = "Clusters can be joined, not divided: for more, fit with a finite prior of {k}."
    ), call = call)
  }
  classes <- length(unique(fit$state$owner[fit$state$owner > 0L]))
  if (k < classes) need_least(classes, k, fit, call)
  k
}

# Refuses a number of clusters below that which is left when no more clusters may be joined, since known labels or
# names by keywords keep the others apart.
need_joins_to <- function(k, tree, fit, call) {
  least <- length(tree$labels) - length(tree$loss)
  if (k < least) need_least(least, k, fit, call)
}

need_least <- function(least, k, fit, call) {
  apart <- kept_apart(fit)
  abort(apart[["error"]], c(
    "{.arg k} must be at least {least}, not {k}.", i = paste("Clusters of different", apart[["by"]], "stay apart.")
  ), call = call)
}

# What keeps clusters of a fit apart: `by`, in words, and `error`, the class of an error that says so.
kept_apart <- function(fit) {
  if (is.null(fit$state$named)) {
    return(c(by = "classes of the known {.arg labels}", error = "labels"))
  }
  c(by = if (is.null(fit$state$owner)) "names by {.arg keywords}" else "{.arg labels} or {.arg keywords}",
    error = "keywords")
}

check_tree <- function(tree, fit, call) {
  if (!inherits(tree, "bnp_tree")) {
    abort("argument", "{.arg tree} must be made by {.fn cluster_tree}, not {describe(tree)}.", call = call)
  }
  check_object(tree, call)
  if (!identical(tree$fingerprint, fit$input$fingerprint) || !identical(tree$sizes, cluster_sizes(fit))) {
    abort("argument", c(
      "{.arg tree} must be the tree of {.arg fit}, not that of another fit.",
      i = "Leave it out, or make it anew: {.code cluster_tree(fit, data)}."
    ), call = call)
  }
  tree
}

# The fit after some joins of its clusters, without any visit of the data, in the form that engine_fit()
# returns: list(result, model, control). group: the joined cluster of each cluster of the fit; `result$group`
# has that of each joined cluster in the engine's order.
joined_fit <- function(fit, data, joins, group, call) {
  engine_data <- as_engine_data(data)
  of_engine <- group[order(fit$numbering)]
  pairs <- matrix(fit$numbering[joins], ncol = 2L)
  start <- engine_start(fit, data)
  result <- in_memory(engine_join_clusters(engine_data, fit$model, start, fit$control, pairs[, 1L], pairs[, 2L]), call)
  result$group <- of_engine[result$left]
  result$left <- NULL
  model <- fit$model
  if (!is.null(model$prior$k)) model$prior$k <- result$state$k
  documents <- result$documents
  if (!is.null(documents)) {
    topic <- match(of_engine, result$group)[documents$topic]
    counts <- stats::aggregate(list(count = documents$count), list(topic = topic, document = documents$document), sum)
    result$documents <- list(document = counts$document, topic = counts$topic, count = counts$count)
  }
  control <- cut_control(fit$control, result$state$k)
  prob <- engine_responsibilities(engine_data, model, result$state, control$threads)
  none <- rowSums(prob) == 0
  labels <- replace(max.col(prob, ties.method = "first"), none, NA_integer_)
  trace <- data.frame(lap = 0L, elbo = result$elbo, k = result$state$k)
  trace[setdiff(names(fit$trace), names(trace))] <- 0
  result <- utils::modifyList(result, list(
    trace = trace[names(fit$trace)], converged = FALSE, reason = "joined", laps = 0L, labels = labels
  ))
  list(result = result, model = model, control = control)
}

# Improves a fit with joined clusters by up to `laps` laps (passes over the data), in which no clusters are
# split or merged.
polished_fit <- function(joined, model, fit, data, laps, call) {
  control <- cut_control(fit$control, joined$state$k)
  control$max_laps <- laps
  start <- joined[intersect(c("state", "documents"), names(joined))]
  result <- in_memory(engine_fit(as_engine_data(data), model, control, start, NULL), call)
  if (broke_down(result)) report_breakdown(result, call)
  result$taken_back <- NULL
  list(result = result, model = model, control = control)
}

cut_control <- function(control, k) {
  control$moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)
  control[c("algorithm", "restarts", "k_init", "verbose")] <- list("memoized", 1L, k, FALSE)
  control
}

format_cut <- function(fit) {
  cut <- fit$cut
  strwrap(paste0(
    "Cut from ", count_of(cut$from$k, cluster_word(fit)), " with ELBO ",
    format(cut$from$elbo, digits = 8L), ": joining led to ",
    format(cut$joined, digits = 8L), if (fit$laps > 0L) paste0(", polishing to ", format(fit$elbo, digits = 8L))
  ), exdent = 2)
}
