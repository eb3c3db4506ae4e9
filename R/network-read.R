#' Communities of a network
#'
#' @param fit,object,x A fit of [bnp_network()]. `communities()` also takes an object of igraph's class `communities`,
#'   for which it returns the result of igraph's own function of that name.
#' @param threshold For `communities()` of fits with [prior_hdp()]: each node is in all communities in which its
#'   membership is at least this number. `NULL`, the default: each node is in the community with its largest membership.
#' @param data For `augment()`: a data frame with a row for each node, whose columns are added to the result, or the
#'   igraph that was fitted, whose attributes of nodes are added; may be left out.
#' @param nsim Number of simulated networks.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @param ... Must be empty.
#' @return
#' * `communities()`: a list of the names of the nodes in each community.
#' * `memberships()`: expected memberships, a matrix (nodes x communities) whose rows sum to 1.
#' * `fitted()`: the community of each node, a named vector (`igraph::make_clusters(graph, fitted(fit))` makes igraph's
#'   communities of it): with [prior_dp()] the labels with the largest log joint that was found, with [prior_hdp()] the
#'   community with the largest membership.
#' * `log_joint()`: with [prior_dp()], the log probability of links and these labels, with parameters of blocks and
#'   sticks integrated out; the search for labels maximises it.
#' * `coef()`: `block`, the expected probability or rate of a link between communities (in the gamma network and in
#'   degree-corrected blockmodels: for two nodes of average activity); and, if the model has them, `background`,
#'   `weights` and `degree` (activities of nodes, whose average is 1; in blockmodels the average of each community is
#'   1).
#' * `tidy()`: one row for each community: `community`, `size` (a sum of memberships), `proportion`, and `within` and
#'   `between`, the expected probability or rate of a link within it and to the other communities, as in `coef()`; with
#'   known `labels` also `class`, the class to which it belongs, `NA` for an open one.
#' * `augment()`: one row for each node: `node`, `.community`, `.prob`, the membership in this community, `.label`, the
#'   class, if `labels` are known, `.degree`, and `.bridgeness`, 1 minus the largest membership.
#' * `simulate()`: `nsim` data frames of links, drawn with parameters from the posterior; they include links of nodes
#'   with themselves if a degree-corrected blockmodel was fitted to data with such links.
#' @references
#' Nepusz, T., Petroczi, A., Negyessy, L. and Bazso, F. (2008). Fuzzy communities and the concept of bridgeness in
#' complex networks. *Physical Review E* 77, 016107.
#' @seealso [bnp_network()]
#' @examples
#' x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
#' fit <- bnp_network(x, prior = prior_dp(), control = bnp_control(seed = 1))
#' communities(fit)
#' log_joint(fit)
#' tidy(fit)
#' augment(fit)
#' @export
communities <- function(fit, threshold = NULL) {
  if (inherits(fit, "communities")) {
    return(igraph::communities(fit))
  }
  check_able(fit, "communities")
  if (is.null(threshold)) {
    of <- factor(fit$labels, seq_len(fit$state$k))
    return(lapply(split(fit$input$ids, of), unname))
  }
  if (!is.numeric(threshold) || length(threshold) != 1L || is.na(threshold) || threshold <= 0 || threshold > 1) {
    abort("argument", "{.arg threshold} must be one number above 0 and up to 1, not {describe(threshold)}.")
  }
  apply(fit$prob >= as.vector(threshold), 2L, function(is) fit$input$ids[is], simplify = FALSE)
}

#' @rdname communities
#' @export
memberships <- function(fit) {
  check_able(fit, "memberships")
  fit$prob
}

#' @rdname communities
#' @export
log_joint <- function(fit) {
  check_able(fit, "log_joint")
  fit$log_joint
}

#' @rdname communities
#' @export
fitted.bnp_network <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  stats::setNames(as.integer(object$labels), object$input$ids)
}

#' @rdname communities
#' @export
coef.bnp_network <- function(object, ...) {
  check_no_dots(...)
  check_format(object)
  obs <- object$model$obs
  state <- object$state
  k <- state$k
  names <- list(as.character(seq_len(k)), as.character(seq_len(k)))
  counts <- obs$links == "counts"
  if (is.null(state$rates)) {
    corrected <- is_corrected(obs)
    mean <- (obs$a + state$sum) / (obs$b + state$pairs + if (counts || corrected) 0 else obs$a)
    if (corrected && !counts) mean <- -expm1(-mean)
    size <- object$sizes
    out <- list(block = structure(mean, dimnames = names), weights = state$weights %||% (size / sum(size)))
    if (corrected) {
      activity <- activities(object)
      out$degree <- stats::setNames(activity$nodes * activity$theta / activity$sum, object$input$ids)
    }
    return(out)
  }
  background <- state$rates[k + 1L]
  block <- matrix(background, k, k, dimnames = names)
  diag(block) <- state$rates[seq_len(k)] + if (obs$degree) background else 0
  if (obs$degree && !counts) block <- -expm1(-block)
  out <- list(block = block, background = background, weights = state$weights)
  if (obs$degree) {
    out$degree <- stats::setNames(rowSums(state$params$shape / state$params$rate), object$input$ids)
  }
  out
}

avoiding_communities.bnp_communities <- function(fit) {
  if (is.null(fit$state$rates)) {
    return(integer())
  }
  parts <- coef(fit)
  which(unname(diag(parts$block)) < parts$background)
}

#' @rdname communities
#' @export
tidy.bnp_network <- function(x, ...) {
  check_no_dots(...)
  check_format(x)
  block <- coef(x)$block
  k <- x$state$k
  size <- as.double(x$sizes)
  others <- vapply(seq_len(k), function(a) {
    if (sum(size[-a]) == 0) NA_real_ else sum((block[a, -a] + block[-a, a]) / 2 * size[-a]) / sum(size[-a])
  }, 1)
  out <- data.frame(
    community = seq_len(k), size = size, proportion = size / sum(size), within = diag(block), between = others
  )
  out$class <- cluster_classes(x)
  as_tidy(out)
}

#' @rdname communities
#' @export
augment.bnp_network <- function(x, data = NULL, ...) {
  check_no_dots(...)
  check_format(x)
  out <- data.frame(node = x$input$ids)
  if (!is.null(data)) {
    if (inherits(data, "igraph")) data <- igraph::as_data_frame(data, "vertices")
    if (!is.data.frame(data) || nrow(data) != x$input$n) {
      abort("argument", c(
        "{.arg data} must have one row for each node ({x$input$n}), in the order of {.code names(fitted(fit))}, not
         {describe(data)}."
      ))
    }
    out <- cbind(out, data[setdiff(names(data), "node")])
  }
  out$.community <- factor(x$labels, seq_len(x$state$k))
  out$.prob <- unname(x$prob[cbind(seq_len(x$input$n), x$labels)])
  if (!is.null(x$state$owner)) out$.label <- unname(most_probable_class(x, x$prob))
  out$.degree <- x$input$degree
  out$.bridgeness <- unname(pmax(0, 1 - apply(x$prob, 1L, max)))
  as_tidy(out)
}

#' @export
as.data.frame.bnp_network <- function(x, row.names = NULL, optional = FALSE, ...) as.data.frame(tidy(x))

#' @rdname communities
#' @export
simulate.bnp_network <- function(object, nsim = 1, seed = NULL, ...) {
  check_no_dots(...)
  check_format(object)
  nsim <- check_count(nsim, "nsim")
  if (object$input$n > 5000L) {
    abort("network", "Networks of more than 5,000 nodes cannot be simulated: every pair is drawn.")
  }
  simulate_sets(nsim, seed, function() drawn_network(object))
}

# Draws the values of all pairs of a network, given memberships and rates drawn from the posterior.
drawn_network <- function(fit) {
  obs <- fit$model$obs
  state <- fit$state
  n <- fit$input$n
  k <- state$k
  counts <- obs$links == "counts"
  drawn <- function(s, none, a, b) {
    m <- length(s)
    x <- if (counts) stats::rgamma(m, a + s, b + none) else stats::rbeta(m, a + s, b + pmax(0, none - s))
    if (is.matrix(s)) matrix(x, nrow(s)) else x
  }
  loops <- isTRUE(fit$input$loops > 0)
  pairs <- which(
    if (fit$input$directed) row(diag(n)) != col(diag(n)) else upper.tri(diag(n), diag = loops), arr.ind = TRUE
  )
  from <- pairs[, 1L]
  to <- pairs[, 2L]
  rate <- if (is_corrected(obs)) {
    activity <- activities(fit)
    draw <- stats::rgamma(n, activity$theta)
    draw <- activity$nodes * draw / drop(rowsum(draw, fit$labels))[fit$labels]
    phi <- matrix(stats::rgamma(k^2, obs$a + state$sum, obs$b + state$pairs), k)
    phi[lower.tri(phi)] <- t(phi)[lower.tri(phi)]
    phi[cbind(fit$labels[from], fit$labels[to])] * draw[from] * draw[to] / (1 + (from == to))
  } else if (is.null(state$rates)) {
    phi <- drawn(state$sum, state$pairs, obs$a, obs$b)
    if (!fit$input$directed) phi[lower.tri(phi)] <- t(phi)[lower.tri(phi)]
    if (is.null(state$params)) {
      z <- drawn_columns(fit$prob)
      phi[cbind(z[from], z[to])]
    } else {
      # In the relational model each node draws a community for each of its pairs.
      weight <- matrix(stats::rgamma(n * k, state$params$theta[, seq_len(k)]), n)
      phi[cbind(drawn_columns(weight[from, , drop = FALSE]), drawn_columns(weight[to, , drop = FALSE]))]
    }
  } else if (obs$degree) {
    params <- state$params
    t <- matrix(stats::rgamma(n * k, params$shape, params$rate), n)
    phi <- stats::rgamma(k + 1L, params$phi_shape, params$phi_rate)
    drop((t[from, , drop = FALSE] * t[to, , drop = FALSE]) %*% phi[seq_len(k)]) +
      phi[k + 1L] * rowSums(t)[from] * rowSums(t)[to]
  } else {
    params <- state$params
    phi <- drawn(params$sum, params$pairs, c(rep(obs$a, k), obs$background[1L]), c(rep(obs$b, k), obs$background[2L]))
    weight <- matrix(stats::rgamma(n * (k + 1L), params$theta), n)
    weight <- weight / rowSums(weight)
    s <- drawn_columns(weight[from, , drop = FALSE])
    r <- drawn_columns(weight[to, , drop = FALSE])
    phi[ifelse(s == r & s <= k, s, k + 1L)]
  }
  y <- if (counts) stats::rpois(length(rate), rate) else {
    stats::rbinom(length(rate), 1L, if (obs$degree) -expm1(-rate) else rate)
  }
  data.frame(from = fit$input$ids[from], to = fit$input$ids[to], link = y)[y > 0, ]
}

# Draws a column for each row of `prob`, with the probabilities of the row; returns column numbers.
drawn_columns <- function(prob) {
  total <- prob
  for (j in seq_len(ncol(prob))[-1L]) total[, j] <- total[, j - 1L] + prob[, j]
  pmin(1L + rowSums(total < stats::runif(nrow(prob)) * total[, ncol(prob)]), ncol(prob))
}

#' @export
update.bnp_network <- function(object, formula., ..., newdata = NULL, evaluate = TRUE) {
  check_format(object)
  if (!missing(formula.) && !inherits(formula., "formula")) newdata <- formula.
  if (!is.null(newdata)) require_ability(object, "update_newdata")
  NextMethod()
}

try_state.bnp_network <- function(fit, call) NULL

shape_of.bnp_network <- function(fit) {
  state <- fit$state
  k <- k_of_fit(fit)
  n <- n_of_fit(fit)
  which_hold(
    "prob" = is.matrix(fit$prob) && is_table_of(fit$prob, n, k) && all(is.finite(fit$prob)),
    "labels" = is.numeric(fit$labels) && length(fit$labels) == n && all(fit$labels %in% seq_len(k)),
    "state$pairs" = is_table_of(state$pairs, k, k), "state$sum" = is_table_of(state$sum, k, k),
    "state$rates" = is_vector_of(state$rates, "numeric", c(k, k + 1)),
    "state$weights" = is_vector_of(state$weights, "numeric", c(k, k + 1)),
    "state$ends" = is_table_of(state$ends, n, k),
    "state$u" = is_vector_of(state$u, "numeric", c(0, k, k + 1)),
    "state$omega" = is_vector_of(state$omega, "numeric", c(0, k, k + 1)),
    "input$ids" = is.null(fit$input$ids) || is.atomic(fit$input$ids) && length(fit$input$ids) == n,
    "input$degree" = is_vector_of(fit$input$degree, "numeric", n),
    "input$directed" = rlang::is_bool(fit$input$directed), "input$n_links" = is_whole(fit$input$n_links),
    "input$total" = is_single(fit$input$total) && is.finite(fit$input$total),
    "input$hidden" = is_whole(fit$input$hidden), "input$isolated" = is_whole(fit$input$isolated),
    "input$components" = is_whole(fit$input$components), "compared" = is.null(fit$compared) || is.list(fit$compared),
    "state$params" = is.null(state$params) && !is.null(state$pairs) || is.list(state$params) &&
      length(state$params) > 0L &&
      all(vapply(state$params, is.numeric, NA)) &&
      all(vapply(state$params[intersect(names(state$params), c("shape", "rate", "theta", "rho"))], is.matrix, NA)),
    "model$obs$links" = rlang::is_string(fit$model$obs$links),
    "model$obs$degree" = rlang::is_bool(fit$model$obs$degree),
    "model$obs$background" = is.null(fit$model$obs$background) || is.numeric(fit$model$obs$background),
    "model$obs$assortative" = rlang::is_bool(fit$model$obs$assortative),
    "model$obs$a" = is_single(fit$model$obs$a), "model$obs$b" = is_single(fit$model$obs$b),
    "control$batches" = is_whole(fit$control$batches, 1)
  )
}

all_parameters.bnp_network <- function(fit) fit$state[!vapply(fit$state, is.null, NA)]

membership_of.bnp_network <- function(fit) unname(fit$prob)

described_data.bnp_network <- function(fit) described_network(fit$input)
