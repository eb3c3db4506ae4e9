#' Fit a model of communities to a network
#'
#' Finds communities of nodes from the links between them, and their number. With [prior_dp()] every node is in one
#' community; with [prior_hdp()], the default, it may be in several.
#'
#' @param x A network: an object of igraph or of the package network; a square adjacency matrix, dense or sparse, with
#'   `NA` for pairs that were not observed; or a data frame or two-column matrix of links, with columns `from` and `to`
#'   and, for counts, a third column. A two-mode (bipartite) network is taken as an ordinary one, with a message.
#' @param obs The observation model of links, [obs_links()].
#' @param prior The prior of communities, [prior_hdp()] or [prior_dp()].
#' @param control Options of the fit, [bnp_control()]; see *Control*.
#' @param start A start in place of the default one: one label for each node; a matrix of memberships (nodes x
#'   communities, rows summing to 1); or an earlier fit to the same nodes.
#' @param nodes For lists of links: the names of all nodes, or their number if they are named 1, 2, ... Nodes without
#'   links then belong to the network, too.
#' @param directed Are links directed? `NULL`, the default: lists of links are undirected; objects of other packages
#'   record whether they are directed; a matrix is undirected if it is symmetric, or if all its links are on one side of
#'   the diagonal (each pair stored once; a message says so), and otherwise directed.
#' @param missing Pairs of nodes that are treated as unobserved, whether there is a link or not: a matrix or data frame
#'   whose first two columns are nodes. See [split_links()].
#' @param weights The counts of the links: the name of an attribute of the edges (igraph, network) or of a column (lists
#'   of links); a vector with one number for each link; or `NULL`, with which every link counts once. Counts are whole
#'   numbers: 0 for no link, `NA` for a pair that was not observed. If `weights` is left out, it depends on `x`: the
#'   values of a matrix are the counts; for a list of links the column `weight`, `value`, `n` or `count` has them, else
#'   the first numeric column after the nodes; attributes of edges, such as igraph's `weight`, are not used. A message
#'   names what was used and what was not.
#' @param labels Known classes of nodes: one label for each node, `NA` where it is not known; a vector of labels of some
#'   nodes, named by these nodes; a logical matrix (nodes x classes), `TRUE` for the classes that a node may belong to;
#'   or, for an igraph, the name of an attribute of its vertices. See *Known labels*.
#' @param ... `seed`, `restarts`, `threads` and `verbose` of [bnp_control()], which replace those of `control`.
#' @return An object of class `c("bnp_network", "bnp_fit")`, preceded by the class `bnp_blocks` with [prior_dp()] and by
#'   `bnp_communities` with [prior_hdp()]: a plain list without the data. Communities are numbered by decreasing size.
#'   See [predict.bnp_network()], [communities()], [plot.bnp_network()], [elbo()], [link_auc()].
#'
#' @section Models:
#' * [prior_dp()]: a stochastic blockmodel (infinite relational model). Each node has one community, from a Dirichlet
#'   process, and each pair of communities has a probability (or rate) of links. Groups need not be dense: they may also
#'   be groups whose nodes avoid each other. For networks of up to a few thousand nodes.
#' * [prior_dp()] with `obs_links(degree = TRUE)`: a blockmodel that is corrected for degrees. Links are Poisson counts
#'   with rate \eqn{t_i t_j \phi_{kl}}{t_i t_j phi_kl}. The activities t of the nodes of a community follow a Dirichlet
#'   distribution multiplied by the number of these nodes, so that uneven degrees alone make no communities. Labels are
#'   hard. Networks must be undirected. Links of a node with itself are part of the model, with half the rate; where
#'   none is recorded, there is none.
#' * [prior_hdp()] with `obs_links(degree = FALSE)`: the relational model. Memberships \eqn{\pi_i} of a node come from a
#'   hierarchical Dirichlet process; for each pair both nodes draw a community; if they drew the same one, k, there is a
#'   link with probability \eqn{\phi_k}, else with the probability of the background.
#' * [prior_hdp()] with `obs_links(assortative = FALSE)`: the same with a probability for every pair of communities, so
#'   that nodes of a group may also avoid each other; for few communities.
#' * [prior_hdp()] with `obs_links(degree = TRUE)`: the gamma network. The number of links of a pair is Poisson with
#'   rate \eqn{\epsilon T_i T_j + \sum_k \phi_k t_{ik} t_{jk}}{eps T_i T_j + sum phi_k t_ik t_jk}, where
#'   \eqn{T_i = \sum_k t_{ik}}{T_i = sum t_ik}; the data may record only whether there is a link at all. The memberships
#'   t_i / T_i have the same prior as in the relational model, and every node has an activity of its own.
#'
#' All models but the degree-corrected blockmodel bound the log probability of the same links, so that their [elbo()]
#' can be compared. By default (`degree = NULL`) the relational model and the gamma network are both fitted, and the one
#' with the higher bound is returned.
#'
#' In directed networks with [prior_hdp()] a node has the same memberships for links from it and to it.
#'
#' @section Known labels:
#' Each community belongs to one class of `labels` or to none (an open community); at the start each class has one
#' community. A node with a label is only in communities of its classes: its membership in all others is exactly 0. A
#' node without a label may be in any community. Moves respect this: communities of different classes are never joined,
#' and an open community that is joined with one of a class belongs to this class. If a community is divided, a part
#' without a labelled node becomes open, so that classes which do not occur among the labels are found in open
#' communities. `predict(fit, type = "label")` gives the class of every node, `NA` for nodes in open communities;
#' `"label_prob"` gives the probabilities of the classes, with a column `"(none)"` for open communities. A class may end
#' without a community if all its nodes may also belong to other classes.
#'
#' The labels are data: the bound is one of the log probability of links *and* labels; with [prior_hdp()] labels refer
#' to the communities that nodes have in all their pairs. In the gamma network the prior itself excludes memberships
#' outside a node's classes, which is a different event. With `degree = NULL` the gamma network is therefore fitted
#' alone, and bounds can be compared only between fits of the same model with the same labels. All nodes of a gamma
#' network take part in each community that they may be in, so that large networks of many communities take longer with
#' labels than without. In `start`, all labelled nodes of a community must be of one class.
#'
#' @section Pairs without a link:
#' The bound is exact: it includes every pair of nodes, and no pair is sampled. For pairs without a link blockmodels
#' need only sums over nodes. In the relational model all pairs without a link of a node share one distribution of the
#' communities that the two nodes draw, which restricts the variational family. In the gamma network the bound is linear
#' in these pairs. If nodes times communities exceed 5,000, each community also has one distribution that all nodes
#' without links in it share, which lowers the bound by very little. For degree-corrected blockmodels the log joint of
#' labels is exact if no pair is `missing`; else it is a bound, in which the activities of nodes depend on their
#' degrees.
#'
#' The time of a lap, one pass over all nodes, depends on the model:
#'
#' * relational model: proportional to links times communities;
#' * gamma network: to links times the communities of a node;
#' * general blocks (`assortative = FALSE`): to links and nodes, times the square of communities;
#' * [prior_dp()]: to links times communities, plus nodes times the square of communities.
#'
#' Stochastic learning estimates gradients from some nodes at a time: from all links of these nodes, and from exact sums
#' over all nodes for their pairs without a link. The bound at the end is exact and includes all pairs.
#'
#' @section Control:
#' A network is always learned from as a whole: `algorithm = "memoized"` and `"full"` are the same here, with one batch.
#'
#' * With [prior_dp()] a search with hard labels comes first. Its laps try to split communities, to join two, to divide
#'   the nodes of a pair anew, and to disturb the labels; every step is judged by the exact log joint. The search ends
#'   when 20 laps gained nothing. Soft labels follow, but not in degree-corrected blockmodels.
#' * With [prior_hdp()] laps alternate with rounds of moves, each judged by the whole bound. From 1,000 nodes and links
#'   on, moves of the gamma network visit only the nodes that they change. In networks of up to 10,000 nodes and links
#'   the search then starts again from softened memberships in which some communities were joined or divided, until this
#'   gains nothing. A search that comes back to where it started ends.
#'   In networks of up to 1,000 nodes and links a short search by both models comes before: a model whose bound is then
#'   lower by more than 2 % and ten nats is not searched any further, unless `restarts` or a start is given.
#' * If all `moves` are switched off, the number of communities is fixed.
#' * `restarts` are runs with other seeds, starts included (`fit$restarts`).
#' * `k_init` is the number of communities at the start. With [prior_hdp()] these are groups with many links within,
#'   made by dividing the largest group in two again and again; with [prior_dp()] nodes are assigned to them at random.
#' * `init` has other starts: `"random"`; `"spectral"`, k-means of the nodes by the eigenvectors of the adjacency matrix
#'   with the `k_init` largest eigenvalues; `"spectral_absolute"`, by those largest in absolute value, which also find
#'   groups whose nodes avoid each other; `"modularity"`, groups with more links within than degrees would give at
#'   random, however many there are (the method of Blondel and others); and `"propagation"`, labels that spread along
#'   links (by igraph).
#' * Options that have no meaning here, such as `sparsity`, `keep`, `bound` and the numbers of [bnp_moves()], are
#'   refused.
#' * `checkpoint`: see [bnp_resume()].
#'
#' With `algorithm = "stochastic"` each lap divides the nodes at random into `batches` sets. After each set the
#' probabilities or rates of blocks move by `learning_rate`, and the nodes of the set are visited. Moves are not tried:
#' the number of communities is that of the start, by default 25 groups made by dividing. The bound is known after the
#' last lap, which visits all nodes.
#'
#' @references
#' Kemp, C., Tenenbaum, J. B., Griffiths, T. L., Yamada, T. and Ueda, N. (2006). Learning systems of concepts with an
#' infinite relational model. *AAAI* 21.
#'
#' Karrer, B. and Newman, M. E. J. (2011). Stochastic blockmodels and community structure in networks. *Physical Review
#' E* 83, 016107.
#'
#' Come, E., Jouvin, N., Latouche, P. and Bouveyron, C. (2021). Hierarchical clustering with discrete latent variable
#' models and the integrated classification likelihood. *Advances in Data Analysis and Classification* 15, 957-986.
#'
#' Rohe, K., Chatterjee, S. and Yu, B. (2011). Spectral clustering and the high-dimensional stochastic blockmodel.
#' *Annals of Statistics* 39, 1878-1915.
#'
#' Blondel, V. D., Guillaume, J.-L., Lambiotte, R. and Lefebvre, E. (2008). Fast unfolding of communities in large
#' networks. *Journal of Statistical Mechanics* P10008.
#'
#' Raghavan, U. N., Albert, R. and Kumara, S. (2007). Near linear time algorithm to detect community structures in
#' large-scale networks. *Physical Review E* 76, 036106.
#'
#' Kim, D. I., Gopalan, P., Blei, D. M. and Sudderth, E. B. (2013). Efficient online inference for Bayesian
#' nonparametric relational models. *Advances in Neural Information Processing Systems* 26.
#'
#' Zhou, M. (2015). Infinite edge partition models for overlapping community detection and link prediction.
#' *Artificial Intelligence and Statistics* 18.
#' @seealso [obs_links()], [split_links()], [as_communities()]; `vignette("networks")`. If links depend on covariates of
#'   pairs of nodes, such as distances, use the package sbm.
#' @examples
#' # Two groups of ten with few links between them
#' set.seed(1)
#' group <- rep(1:2, each = 10)
#' x <- 1 * (matrix(runif(400), 20) < ifelse(outer(group, group, "=="), 0.7, 0.05))
#' x <- 1 * (x + t(x) > 0)
#' diag(x) <- 0
#' fit <- bnp_network(x, prior = prior_dp(), control = bnp_control(seed = 1))
#' fit
#' table(fitted(fit), group)
#' mixed <- bnp_network(x, control = bnp_control(seed = 1))
#' head(predict(mixed, type = "prob"))
#' # What is known of two nodes
#' known <- c(`1` = "left", `20` = "right")
#' some <- bnp_network(x, prior = prior_dp(), labels = known, control = bnp_control(seed = 1))
#' table(predict(some, type = "label"), group)
#' @export
bnp_network <- function(x, ...) UseMethod("bnp_network")

#' @rdname bnp_network
#' @export
bnp_network.default <- function(x, obs = obs_links(), prior = prior_hdp(), control = bnp_control(), start = NULL,
                                nodes = NULL, directed = NULL, missing = NULL, weights, labels = NULL, ...) {
  if (...length()) control <- control_with(control, ...)
  call <- rename_call(match.call(), "bnp_network")
  error_call <- rlang::current_env()
  check_form(x, "network", error_call)
  check_obs(obs, "bnp_network", error_call)
  check_network_prior(prior, error_call)
  check_class(control, "bnp_control", "control", "bnp_control", error_call)
  corrected <- has_blocks(prior) && isTRUE(obs$degree)
  stochastic <- control$algorithm == "stochastic"
  kind <- if (corrected) "corrected_network" else if (stochastic) "sampled_network" else "network"
  check_options(control, kind, prior, error_call)
  if (!is.null(labels)) require_ability(kind, "labels", error_call)
  if (!is.null(start)) tell_start_wins(control, start, c("k_init", "init"))
  data <- as_network(
    x, nodes, directed, missing, error_call, keep_loops = corrected, weights = asked_weights(rlang::enquo(weights), x)
  )
  weighted <- data$weighted
  data$weighted <- NULL
  data <- with_node_labels(data, labels, x, error_call)
  models <- resolve_links(obs, data, prior, error_call)
  models <- models_to_fit(models, prior, data, error_call)
  resolved <- replace(control, "header", list(NULL))
  resolved$batches <- if (stochastic) resolve_batches(control, data$n, error_call, "nodes") else 1L
  resolved$seed <- control$seed %||% draw_seed()
  resolved <- with_starts(resolved, if (chooses_starts(control, start)) kinds_of_networks, times_of_networks)
  shares <- network_start(start, data, prior, resolved, error_call)
  resolved$k_init <- ncol(shares)
  family <- if (has_blocks(prior)) "blocks" else "communities"
  engine <- engine_for(
    "bnp_network", call, data, list(obs = models, prior = prior), control, resolved, shares, error_call,
    form = links_of_data
  )
  runs <- list()
  learn <- function(run, asked) {
    stopped <- FALSE
    asked$beat <- -Inf
    search <- function(model, asked) {
      of_model <- c(list(family = family), network_model(model, prior, labelled = !is.null(data$classes)))
      out <- unless_stopped(run(of_model, asked), length(runs) > 0L)
      stopped <<- is.null(out) || isTRUE(out$interrupted)
      if (!is.null(out)) network_run(out, model, prior)
    }
    small <- data$n + length(data$value) <= network_large
    ahead <- rep(TRUE, length(models))
    if (small && length(models) > 1L && !is.null(asked$kinds)) {
      runs <<- lapply(models, search, short_search(asked))
      ahead <- in_reach(vapply(runs, function(run) run$score, 1))
      runs <<- runs[!ahead]
    }
    for (model in models[ahead]) {
      asked$beat <- max(-Inf, vapply(runs, function(run) run$score, 1))
      runs <<- c(runs, Filter(Negate(is.null), list(search(model, asked))))
      if (stopped) break
    }
    best <- runs[[max(1L, which.max(vapply(runs, function(run) run$score, 1)))]]
    best$interrupted <- stopped
    best
  }
  # Makes the start of one restart: the same start that a fit with this seed alone would have.
  start_of <- function(seed, init, k) {
    own <- replace(resolved, c("seed", "k_init"), list(seed, control$k_init))
    if (nzchar(init)) own$init <- init
    shares <- network_start(start, data, prior, own, error_call)
    if (has_blocks(prior)) labels_of_shares(shares) else shares
  }
  best <- fit_family(
    "bnp_network", engine, data, NULL, resolved, NULL, error_call, learn,
    extra = list(starts = start_of, disturbances = network_disturbances, large = network_large), go_on = FALSE
  )
  network_fit(best, call, data, prior, resolved, runs, weighted)
}

check_network_prior <- function(prior, call) {
  makers <- network_prior_makers()
  check_class(prior, "bnp_prior", "prior", makers, call)
  if (is.null(prior_entry(prior)$network)) {
    abort("argument", c(
      "{.arg prior} of {.fn bnp_network} must be made by {.or {.fn {makers}}}, not
       {.fn {prior_entry(prior)$constructor}}."
    ), call = call)
  }
  learned <- learned_names(prior)
  if (length(learned)) {
    abort("argument", c(
      "{.arg {learned}} cannot be learned from networks yet: {?it/they} must be {?a number/numbers}."
    ), call = call)
  }
}

# Makes the fit of a network from the engine's result, with communities sorted by decreasing size.
network_fit <- function(result, call, data, prior, control, runs, weighted) {
  prob <- result$prob
  dimnames(prob) <- list(data$ids, NULL)
  degree <- tabulate(c(data$from, data$to), data$n)
  # Hard labels come from a search; the soft memberships may have fewer communities than these labels.
  sizes <- if (is.null(result$ends)) result$sizes else colSums(result$prob)
  order <- order(-sizes)
  prob <- prob[, order, drop = FALSE]
  allowed <- if (!is.null(data$classes)) allowed_clusters(data, result$owner[order])
  labels <- labels_like(result$labels, prob, allowed)
  state <- result[c("pairs", "sum", "rates", "weights", "u", "omega", "params", "ends")]
  state$degrees <- result$degrees
  state$owner <- result$owner # before `numbering`
  by_community <- function(x) if (is.null(x)) NULL else x[order, order, drop = FALSE]
  state[c("pairs", "sum")] <- list(by_community(result$pairs), by_community(result$sum))
  if (!is.null(state$rates)) state$rates <- state$rates[c(order, length(order) + 1L)]
  if (!is.null(state$weights)) state$weights <- state$weights[c(order, length(order) + 1L)]
  if (!is.null(state$ends)) state$ends <- state$ends[, order, drop = FALSE]
  if (!is.null(state$params)) state$params <- params_in_order(state$params, order)
  colnames(prob) <- seq_along(order)
  input <- list(
    n = data$n, ids = data$ids, directed = data$directed, n_links = length(data$value), total = sum(data$value),
    hidden = length(data$hidden_from), loops = sum(data$loops), degree = degree, isolated = sum(degree == 0L),
    components = connected_parts(data), row_names = data$ids, fingerprint = engine_value_fingerprint(data),
    weighted = weighted
  )
  input <- c(input, data[intersect(c("classes", "class_sets", "class_names"), names(data))])
  learned <- c(
    list(
      state = c(list(k = length(order)), state), elbo_terms = as.list(result$terms), labels = labels,
      sizes = sizes[order], numbering = order, prob = prob, compared = compared_runs(runs)
    ),
    result[intersect(
      c("elbo", "trace", "converged", "reason", "laps", "restarts", "log_joint", "threads"), names(result)
    )]
  )
  model <- list(obs = result$obs, prior = prior, bound = "loose")
  sealed(new_bnp_fit("bnp_network", call, model, control, input, learned))
}

# Puts the engine's arrays into the order of communities. Arrays of nodes have one column per community and
# possibly one for the rest; other arrays have one entry per community and, last, one for the background.
params_in_order <- function(params, order) {
  k <- length(order)
  Map(function(x, name) {
    if (name %in% c("shape", "rate", "theta", "rho")) x[, c(order, if (ncol(x) > k) k + 1L), drop = FALSE]
    else x[c(order, k + 1L), 1L]
  }, params, names(params))
}

# Renumbers hard labels so that each number is that of the soft community with most of its nodes. If the two
# differ in more than numbers, or a node would get a community that its label excludes, returns the most
# probable communities.
labels_like <- function(labels, prob, allowed) {
  if (is.null(labels)) {
    return(max.col(prob, "first"))
  }
  number <- max.col(rowsum(prob, labels), "first")
  if (length(number) != ncol(prob) || anyDuplicated(number)) {
    return(max.col(prob, "first"))
  }
  labels <- number[labels]
  if (all(allowed[cbind(seq_along(labels), labels)])) labels else max.col(prob, "first")
}

# A table of the models that were fitted and compared: one row for each, with its bound and number of
# communities.
compared_runs <- function(runs) {
  if (length(runs) == 1L) {
    return(NULL)
  }
  data.frame(
    degree = vapply(runs, function(run) run$obs$degree, NA), elbo = vapply(runs, function(run) run$elbo, 1),
    k = vapply(runs, function(run) as.integer(run$k), 1L)
  )
}

# The line of print() that compares models: "with degrees -240.2 (2), without degrees -261.6 (1)", bounds and
# numbers of communities.
described_comparison <- function(runs) {
  paste0(
    ifelse(runs$degree, "with", "without"), " degrees ", format(runs$elbo, digits = 8, trim = TRUE), " (", runs$k, ")",
    collapse = ", "
  )
}
