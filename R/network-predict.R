#' Predict links, and memberships of new nodes
#'
#' @param object,fit A fit of [bnp_network()].
#' @param newdata For `type = "link"` and `"log"`, and for `heldout_loglik()`: pairs of nodes, a matrix or data frame
#'   whose first two columns are nodes of the training network. `type = "log"`, `heldout_loglik()` and `link_auc()` need
#'   a third column: whether there is a link, or the count (`split_links()` calls it `link`). For the other types: links
#'   of new nodes, see *New nodes*; without `newdata` the result is for the nodes of the training network.
#' @param pairs For `link_auc()`: pairs of nodes in the same form, with the third column.
#' @param type `"link"`: the probability of a link, or with counts their expected number. `"log"`: the log probability
#'   of the value in the third column. `"prob"`: expected memberships (nodes x communities). `"class"`: the community of
#'   each node, as in [fitted()]. For fits with known `labels`, `"label"`: the class of each node, `NA` if it is in
#'   communities that belong to no class; `"label_prob"`: the probabilities of the classes.
#' @param ... Must be empty.
#' @return `predict()`: one number for each pair, or the result of `type` for each node; new nodes are in the order of
#'   their first link or of their rows. `heldout_loglik()`: the mean log probability of the pairs. `link_auc()`: the
#'   probability that a pair with a link has a larger predicted probability than a pair without; ties count one half.
#' @section New nodes:
#' `newdata` is a data frame of links with columns `from`, `to` and perhaps one with counts; each link is between a node
#' of the training network and a node that is not in it. For undirected networks it may also be a matrix, dense or
#' sparse, with a row for each new node and a column for each node of the training network (matched by name if columns
#' have names). Pairs that are not listed have no link; pairs with the value `NA` were not observed. In a list, a row
#' with value 0 adds a node without links. A row of the matrix that has the name of a node of the training network is
#' that node, seen again; its pair with itself is not observed. Values are used as those of the training network were:
#' if its `weights` were not used, every link counts once.
#'
#' Each new node is predicted alone: everything else stays as it was learned, and the bound is maximised over q of the
#' membership of the node. In blockmodels this takes one step. In degree-corrected blockmodels the result is the
#' probability of each label given the links and labels of all other nodes, with rates and activities integrated out.
#' With [prior_hdp()] the steps are repeated from a few starts, and the best result is used. A node that is seen again
#' gets about the membership that it had, but not exactly: degree-corrected blockmodels then count the node twice, and
#' with overlapping communities several memberships may be equally good.
#' @details Probabilities are means under the variational posterior; for blockmodels and the relational model they have
#'   a closed form. For the gamma network and degree-corrected blockmodels the mean of a rate is replaced by the product
#'   of the posterior means of its factors, which leaves out their uncertainty. Fits of directed networks predict links
#'   from the first node to the second.
#' @references
#' Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic
#' (ROC) curve. *Radiology* 143, 29-36.
#' @seealso [split_links()] for pairs to hold out.
#' @examples
#' x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
#' fit <- bnp_network(x, prior = prior_dp(), control = bnp_control(seed = 1))
#' predict(fit, data.frame(from = c(1, 1), to = c(2, 6)))
#' predict(fit, data.frame(from = c("new", "new", "other"), to = c(1, 2, 6)), type = "prob")
#' @export
predict.bnp_network <- function(object, newdata, type = c("link", "log", "prob", "class", "label", "label_prob"),
                                ...) {
  check_no_dots(...)
  check_format(object)
  type <- check_choice(type, eval(formals()$type), "type")
  call <- rlang::current_env()
  if (!type %in% c("link", "log")) {
    if (type %in% c("label", "label_prob")) need_labels(object, type, call)
    of_training <- missing(newdata) || is.null(newdata)
    if (of_training && type == "class") {
      return(fitted(object))
    }
    prob <- if (of_training) object$prob else newcomers_memberships(object, new_nodes(object, newdata, call))
    return(switch(type,
      prob = prob, class = stats::setNames(max.col(prob, "first"), rownames(prob)),
      label = most_probable_class(object, prob), label_prob = class_probabilities(object, prob)
    ))
  }
  need_data(
    missing(newdata), "newdata",
    hint = "It has pairs of nodes, a row for each; {.code type = \"prob\"} has memberships."
  )
  at <- checked_pairs(object, newdata, "newdata", call)
  if (type == "link") {
    return(expected_links(object, at))
  }
  log_links(object, at, outcomes(object, newdata, "newdata", call))
}

checked_pairs <- function(fit, pairs, arg, call) {
  at <- hidden_pairs(pairs, list(ids = fit$input$ids), call, arg)
  if (is.null(at)) abort("argument", "{.arg {arg}} must be pairs of nodes, not NULL.", call = call)
  loops <- which(at[, 1L] == at[, 2L])
  if (length(loops)) {
    abort("loops", c(
      "{.arg {arg}} must be pairs of different nodes: links of a node with itself are not predicted.",
      x = "Row {places(loops)}."
    ), call = call)
  }
  at
}

# The values of pairs from their third column: 0 or 1, or counts.
outcomes <- function(fit, pairs, arg, call) {
  if (ncol(pairs) < 3L) {
    abort("argument", "{.arg {arg}} must have a third column, which says whether there is a link.", call = call)
  }
  y <- if (is.data.frame(pairs) && "link" %in% names(pairs)) pairs$link else pairs[, 3L, drop = TRUE]
  counts <- fit$model$obs$links == "counts"
  y <- if (is.numeric(y) || is.logical(y)) as.double(y) else NA
  bad <- which(is.na(y) | y < 0 | y != round(y) | (!counts & y > 1))
  if (length(bad)) {
    abort("not_counts", c(
      "The third column of {.arg {arg}} must hold {if (counts) 'counts' else '0 and 1'}.", x = "Row {places(bad)}."
    ), call = call)
  }
  y
}

# The predictive distribution of each pair's value, as a mixture: list(weight, shape, rate), pairs x parts of
# the mixture. Given a part, the probability of a link has a Beta distribution (shape, rate), the rate of a
# count a Gamma distribution.
link_parts <- function(fit, at) {
  obs <- fit$model$obs
  state <- fit$state
  k <- state$k
  counts <- obs$links == "counts"
  posterior <- function(n, s, a, b) list(shape = a + s, rate = b + if (counts) n else n - s)
  if (is.null(state$rates)) {
    cells <- expand.grid(a = seq_len(k), b = seq_len(k))
    weight <- fit$prob[at[, 1L], cells$a, drop = FALSE] * fit$prob[at[, 2L], cells$b, drop = FALSE]
    return(c(list(weight = weight), posterior(as.vector(state$pairs), as.vector(state$sum), obs$a, obs$b)))
  }
  theta <- state$params$theta / rowSums(state$params$theta)
  own <- seq_len(k)
  same <- theta[at[, 1L], own, drop = FALSE] * theta[at[, 2L], own, drop = FALSE]
  blocks <- posterior(state$params$pairs, state$params$sum, c(rep(obs$a, k), obs$background[1L]),
                      c(rep(obs$b, k), obs$background[2L]))
  c(list(weight = cbind(same, pmax(0, 1 - rowSums(same)))), blocks)
}

# The activities of the nodes of a degree-corrected blockmodel. In a community of n_k nodes they are t = n_k
# Dirichlet(theta); returns list(theta, sum, nodes), with the sum of theta and the number of nodes of each
# node's community.
activities <- function(fit) {
  theta <- 1 + fit$state$degrees$ends + fit$state$degrees$lent
  list(theta = theta, sum = drop(rowsum(theta, fit$labels))[fit$labels], nodes = tabulate(fit$labels)[fit$labels])
}

# The expected rates of pairs in a degree-corrected blockmodel: E t_i t_j times E phi, which are independent
# under q.
corrected_rates <- function(fit, at) {
  obs <- fit$model$obs
  activity <- activities(fit)
  mass <- activity$nodes * activity$theta
  i <- at[, 1L]
  j <- at[, 2L]
  cell <- cbind(fit$labels[i], fit$labels[j])
  phi <- (obs$a + fit$state$sum[cell]) / (obs$b + fit$state$pairs[cell])
  unname(phi * mass[i] * mass[j] / (activity$sum[i] * (activity$sum[j] + (cell[, 1L] == cell[, 2L]))))
}

# The expected rates of pairs: in the gamma network at posterior means.
link_rates <- function(fit, at) {
  if (is_corrected(fit$model$obs)) {
    return(corrected_rates(fit, at))
  }
  params <- fit$state$params
  mean <- params$shape / params$rate
  total <- rowSums(mean)
  phi <- params$phi_shape / params$phi_rate
  k <- fit$state$k
  drop((mean[at[, 1L], , drop = FALSE] * mean[at[, 2L], , drop = FALSE]) %*% phi[seq_len(k)]) +
    phi[k + 1L] * total[at[, 1L]] * total[at[, 2L]]
}

expected_links <- function(fit, at) {
  counts <- fit$model$obs$links == "counts"
  if (fit$model$obs$degree) {
    rate <- link_rates(fit, at)
    return(if (counts) rate else -expm1(-rate))
  }
  parts <- link_parts(fit, at)
  drop(unname(parts$weight %*% (if (counts) parts$shape / parts$rate else parts$shape / (parts$shape + parts$rate))))
}

log_links <- function(fit, at, y) {
  counts <- fit$model$obs$links == "counts"
  if (fit$model$obs$degree) {
    rate <- link_rates(fit, at)
    return(if (counts) stats::dpois(y, rate, log = TRUE) else ifelse(y > 0, log(-expm1(-rate)), -rate))
  }
  parts <- link_parts(fit, at)
  if (!counts) {
    p <- drop(parts$weight %*% (parts$shape / (parts$shape + parts$rate)))
    none <- drop(parts$weight %*% (parts$rate / (parts$shape + parts$rate)))
    return(log(unname(ifelse(y > 0, p, none))))
  }
  each <- vapply(seq_along(parts$shape), function(part) {
    stats::dnbinom(y, parts$shape[part], parts$rate[part] / (1 + parts$rate[part]), log = TRUE)
  }, double(length(y)))
  each <- matrix(each, length(y)) + log(parts$weight)
  most <- apply(each, 1L, max)
  unname(most + log(rowSums(exp(each - most))))
}

#' @rdname predict.bnp_network
#' @export
heldout_loglik.bnp_network <- function(fit, newdata, ...) {
  check_no_dots(...)
  check_format(fit)
  need_data(missing(newdata), "newdata")
  at <- checked_pairs(fit, newdata, "newdata", rlang::current_env())
  mean(log_links(fit, at, outcomes(fit, newdata, "newdata", rlang::current_env())))
}

#' @rdname predict.bnp_network
#' @export
link_auc <- function(fit, pairs) {
  check_able(fit, "link_auc")
  need_data(missing(pairs), "pairs")
  at <- checked_pairs(fit, pairs, "pairs", rlang::current_env())
  link <- outcomes(fit, pairs, "pairs", rlang::current_env()) > 0
  if (!any(link) || all(link)) {
    abort("argument", "{.arg pairs} must have some pairs with a link and some without.")
  }
  rank <- rank(expected_links(fit, at))
  (sum(rank[link]) - sum(link) * (sum(link) + 1) / 2) / sum(link) / sum(!link)
}

#' Pairs of nodes to hold out
#'
#' Draws pairs with a link and pairs without, to be hidden from a fit and predicted afterwards: pass them to
#' [bnp_network()] as `missing`, together with the whole network, and then to [link_auc()] and [heldout_loglik()]. A fit
#' to the network without the held-out links, but without `missing`, would regard these pairs as pairs without a link.
#'
#' @param x,nodes,directed,weights A network, as in [bnp_network()].
#' @param fraction The share of the links that is held out, above 0 and below 1.
#' @param zeros The number of pairs without a link that are held out for each link that is held out.
#' @param seed As for [stats::simulate()]: `NULL`, or a number for [set.seed()].
#' @return A data frame with columns `from`, `to` (names of nodes) and `link`, the value of the pair; links first.
#' @details Pairs with a link and pairs without are both drawn uniformly. Networks have far fewer links than pairs, so
#'   that a mean log probability of these pairs is not that of pairs drawn from all; `link_auc()` does not depend on how
#'   many there are of each kind.
#' @references
#' Liben-Nowell, D. and Kleinberg, J. (2007). The link-prediction problem for social networks. *Journal of the American
#' Society for Information Science and Technology* 58, 1019-1031.
#' @seealso [bnp_network()], [link_auc()]
#' @examples
#' x <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
#' pairs <- split_links(x, fraction = 0.3, seed = 1)
#' fit <- bnp_network(x, missing = pairs, prior = prior_dp(), control = bnp_control(seed = 1))
#' link_auc(fit, pairs)
#' @export
split_links <- function(x, fraction = 0.1, zeros = 1, seed = NULL, nodes = NULL, directed = NULL, weights) {
  call <- rlang::current_env()
  if (!is.numeric(fraction) || length(fraction) != 1L || is.na(fraction) || fraction <= 0 || fraction >= 1) {
    abort("argument", "{.arg fraction} must be one number above 0 and below 1, not {describe(fraction)}.")
  }
  zeros <- check_number(zeros, "zeros", strict = FALSE)
  data <- as_network(x, nodes, directed, NULL, call, weights = asked_weights(rlang::enquo(weights), x))
  n_links <- length(data$value)
  if (n_links < 2L) abort("network", "{.arg x} must have at least two links.")
  m <- max(1L, min(n_links - 1L, round(fraction * n_links)))
  free <- n_pairs(data) - n_links
  n_zeros <- min(free, round(zeros * m))
  key <- function(from, to) (from - 1) * as.double(data$n) + to
  taken <- c(key(data$from, data$to), key(data$hidden_from, data$hidden_to))
  drawn <- with_r_seed(1L, seed, function() {
    list(links = sample.int(n_links, m), zeros = drawn_zeros(data, taken, n_zeros, free))
  }, call)$sets[[1L]]
  out <- data.frame(
    from = data$ids[c(data$from[drawn$links], (drawn$zeros - 1) %/% data$n + 1)],
    to = data$ids[c(data$to[drawn$links], (drawn$zeros - 1) %% data$n + 1)],
    link = c(data$value[drawn$links], double(length(drawn$zeros)))
  )
  out
}

# Draws m pairs without a link, as numbers: by rejection or, if most pairs have a link or are hidden, from a
# list of all other pairs.
drawn_zeros <- function(data, taken, m, free) {
  n <- as.double(data$n)
  if (m == 0) {
    return(double())
  }
  if (free < 4 * m || free < 1000) {
    from <- rep(seq_len(data$n), each = data$n)
    to <- rep(seq_len(data$n), data$n)
    keep <- if (data$directed) from != to else from < to
    left <- setdiff((from[keep] - 1) * n + to[keep], taken)
    return(left[sample.int(length(left), m)])
  }
  found <- double()
  while (length(found) < m) {
    a <- sample.int(data$n, 2 * m, replace = TRUE)
    b <- sample.int(data$n, 2 * m, replace = TRUE)
    keys <- if (data$directed) (a - 1) * n + b else (pmin(a, b) - 1) * n + pmax(a, b)
    found <- unique(c(found, setdiff(keys[a != b], taken)))
  }
  found[seq_len(m)]
}
