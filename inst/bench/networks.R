# Communities of networks with known groups, beside igraph's Louvain and Leiden: normalised mutual information and
# adjusted Rand index with the groups, bounds, held-out links, CPU time. Where blockmodels, sbm and greed are installed
# (CRAN), their blockmodels of up to 200 nodes, too, as they choose the number of blocks; J is that of our model for
# their blocks. Links are held out in as many ways as there are seeds; the mixed-membership blockmodel of lda (archived
# by CRAN) is run for them where it is installed, with the number of groups given and held-out pairs taken for pairs
# without a link, as it knows no missing ones.
#
#   Rscript inst/bench/networks.R DATA [seeds = 10] [networks = karate,football,polbooks,polblogs] [models]
#
# networks: also planted20, planted40, planted60: groups in as many links again at random.
#
# DATA has <name>-links.csv (from, to) and <name>-nodes.csv (id, label, group) of football, polbooks and polblogs; the
# karate club comes with igraph. Of polblogs the giant component is taken, links without direction.
suppressMessages(library(bnpvi))
arguments <- commandArgs(TRUE)
data <- arguments[1]
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 10L)
all_networks <- c("karate", "football", "polbooks", "polblogs")
asked <- if (length(arguments) > 2L) strsplit(arguments[3], ",")[[1]] else all_networks

read_network <- function(name) {
  links <- read.csv(file.path(data, paste0(name, "-links.csv")))
  nodes <- read.csv(file.path(data, paste0(name, "-nodes.csv")))
  graph <- igraph::simplify(igraph::graph_from_data_frame(links, FALSE, nodes["id"]))
  parts <- igraph::components(graph)
  keep <- which(parts$membership == which.max(parts$csize))
  list(graph = igraph::induced_subgraph(graph, keep), group = as.integer(factor(nodes$group))[keep])
}
club <- list(graph = igraph::make_graph("Zachary"), group = 1L + seq_len(34) %in% c(10, 15, 16, 19, 21, 23:34))
# Groups of `size` nodes with links of probability p within, and as many links again between any nodes.
planted <- function(k, size, p) {
  set.seed(3)
  group <- rep(seq_len(k), each = size)
  inside <- do.call(rbind, lapply(seq_len(k), function(g) t(utils::combn(which(group == g), 2))))
  inside <- inside[runif(nrow(inside)) < p, ]
  random <- cbind(sample(k * size, nrow(inside), TRUE), sample(k * size, nrow(inside), TRUE))
  graph <- igraph::make_graph(t(rbind(inside, random[random[, 1] != random[, 2], ])), k * size, FALSE)
  list(graph = igraph::simplify(graph), group = group)
}
made <- list(planted20 = c(20, 15, 0.6), planted40 = c(40, 15, 0.6), planted60 = c(60, 20, 0.5))
networks <- sapply(asked, function(name) {
  if (name == "karate") club else if (name %in% names(made)) do.call(planted, as.list(made[[name]])) else
    read_network(name)
}, simplify = FALSE)

agreement <- function(labels, group) {
  sprintf("%.3f / %.3f", igraph::compare(labels, group, "nmi"), adjusted_rand_index(labels, group))
}
timed <- function(expr) {
  time <- system.time(value <- suppressWarnings(expr))
  list(value = value, cpu = sum(time[1:2]))
}
# The network without the pairs held out, and their two nodes.
without <- function(graph, pairs) {
  at <- cbind(as.integer(pairs$from), as.integer(pairs$to))
  hidden <- igraph::get.edge.ids(graph, as.vector(t(at[pairs$link > 0, ])))
  list(graph = igraph::delete_edges(graph, hidden), at = at)
}
auc <- function(score, link) {
  rank <- rank(score)
  (sum(rank[link]) - sum(link) * (sum(link) + 1) / 2) / sum(link) / sum(!link)
}
# Scores of pairs by Louvain's blocks, with and without degrees of nodes, and by degrees alone.
by_blocks <- function(graph, pairs) {
  left <- without(graph, pairs)
  at <- left$at
  z <- as.vector(igraph::membership(igraph::cluster_louvain(left$graph)))
  degree <- igraph::degree(left$graph)
  y <- as.matrix(igraph::as_adjacency_matrix(left$graph))
  one <- 1 * outer(z, seq_len(max(z)), "==")
  links <- crossprod(one, y %*% one)
  of_pair <- cbind(z[at[, 1]], z[at[, 2]])
  product <- degree[at[, 1]] * degree[at[, 2]]
  score <- list(
    "Louvain blocks" = ((links + 0.1) / (tcrossprod(colSums(one)) + 1))[of_pair],
    "Louvain blocks x degrees" = ((links + 0.1) / (tcrossprod(drop(crossprod(one, degree))) + 1))[of_pair] * product,
    "product of degrees" = product
  )
  vapply(score, auc, 1, pairs$link > 0)
}
# The same by lda's Gibbs sampler: means of memberships and blocks over the second half of 200 sweeps.
by_mmsb <- function(graph, pairs, k) {
  left <- without(graph, pairs)
  y <- as.matrix(igraph::as_adjacency_matrix(left$graph))
  storage.mode(y) <- "integer"
  fit <- lda::mmsb.collapsed.gibbs.sampler(y, k, 200L, 0.1, list(1, diag(5, k) + 1), burnin = 100L)
  share <- t(fit$document_expects) + 0.1
  share <- share / rowSums(share)
  block <- matrix((fit$blocks.pos + 1) / (fit$blocks.pos + fit$blocks.neg + 2), k)
  auc(rowSums((share[left$at[, 1], ] %*% block) * share[left$at[, 2], ]), pairs$link > 0)
}

match_numbers <- function(labels) match(labels, unique(labels))
joint_of <- function(graph, labels) {
  still <- bnp_moves(FALSE, FALSE, FALSE, FALSE)
  fit <- suppressWarnings(bnp_network(graph,
    prior = prior_dp(), start = labels, control = bnp_control(seed = 1, moves = still, max_laps = 1, verbose = FALSE)
  ))
  log_joint(fit)
}
peers <- list(
  blockmodels = function(y) {
    library(blockmodels)
    fit <- BM_bernoulli("SBM_sym", y, verbosity = 0, plotting = "", ncores = 1)
    fit$estimate()
    apply(fit$memberships[[which.max(fit$ICL)]]$Z, 1, which.max)
  },
  sbm = function(y) {
    fit <- sbm::estimateSimpleSBM(
      y, "bernoulli", directed = FALSE, estimOptions = list(verbosity = 0, plot = FALSE, nbCores = 1)
    )
    as.vector(fit$memberships)
  },
  greed = function(y) {
    utils::capture.output(fit <- suppressMessages(greed::greed(y, model = greed::Sbm())))
    greed::clustering(fit)
  }
)

models <- list(
  blocks = list(prior = prior_dp(), obs = obs_links()),
  corrected = list(prior = prior_dp(), obs = obs_links(degree = TRUE)),
  relational = list(prior = prior_hdp(), obs = obs_links(degree = FALSE)),
  general = list(prior = prior_hdp(), obs = obs_links(assortative = FALSE)),
  gamma = list(prior = prior_hdp(), obs = obs_links(degree = TRUE))
)
if (length(arguments) > 3L) models <- models[strsplit(arguments[4], ",")[[1]]]
single <- vapply(models, function(model) identical(model$prior, prior_dp()), NA)
for (name in names(networks)) {
  graph <- networks[[name]]$graph
  if (!is.null(igraph::vertex_attr(graph, "name"))) graph <- igraph::delete_vertex_attr(graph, "name")
  group <- networks[[name]]$group
  cat("\n", name, ": ", igraph::vcount(graph), " nodes, ", igraph::ecount(graph), " links; NMI / ARI\n", sep = "")
  set.seed(1)
  for (method in c("cluster_louvain", "cluster_leiden")) {
    arguments <- list(graph)
    if (method == "cluster_leiden") arguments$objective_function <- "modularity"
    out <- timed(igraph::membership(do.call(getExportedValue("igraph", method), arguments)))
    cat(sprintf("%-16s K %2d  %s  %.2f s\n", method, max(out$value), agreement(out$value, group), out$cpu))
  }
  if (igraph::vcount(graph) <= 200) {
    for (peer in names(peers)) {
      if (!requireNamespace(peer, quietly = TRUE)) next
      set.seed(1)
      y <- as.matrix(igraph::as_adjacency_matrix(graph))
      out <- timed(match_numbers(peers[[peer]](y)))
      cat(sprintf(
        "%-16s K %2d  %s  J %.4f  %.2f s\n", peer, max(out$value), agreement(out$value, group),
        joint_of(graph, out$value), out$cpu
      ))
    }
  }
  held_out <- lapply(seeds, function(seed) split_links(graph, 0.1, seed = seed))
  set.seed(1)
  scores <- vapply(held_out, function(pairs) by_blocks(graph, pairs), double(3))
  said <- function(x) sprintf("%.3f (%.3f to %.3f)", mean(x), min(x), max(x))
  for (peer in rownames(scores)) cat("held out,", peer, "AUC", said(scores[peer, ]), "\n")
  if (igraph::vcount(graph) <= 200 && requireNamespace("lda", quietly = TRUE)) {
    out <- timed(vapply(held_out, function(pairs) by_mmsb(graph, pairs, max(group)), 1))
    cat("held out, lda's mmsb AUC", said(out$value), sprintf("%.2f s\n", out$cpu / length(seeds)))
  }
  for (model in names(models)) {
    # General blocks are for few communities: the political blogs have 29.
    if (model == "general" && igraph::vcount(graph) > 500) next
    runs <- lapply(seeds, function(seed) {
      control <- bnp_control(seed = seed, max_laps = 400, threads = 1, verbose = FALSE)
      fit <- function(missing = NULL) {
        suppressWarnings(with(models[[model]], bnp_network(graph, obs, prior, control = control, missing = missing)))
      }
      out <- timed(fit())
      held <- fit(held_out[[seed]])
      data.frame(
        k = n_clusters(out$value), nmi = igraph::compare(fitted(out$value), group, "nmi"),
        ari = adjusted_rand_index(fitted(out$value), group), elbo = elbo(out$value), cpu = out$cpu,
        joint = if (single[[model]]) log_joint(out$value) else NA, auc = link_auc(held, held_out[[seed]]),
        score = heldout_loglik(held, held_out[[seed]])
      )
    })
    runs <- do.call(rbind, runs)
    middle <- vapply(runs, stats::median, 1)
    cat(sprintf(
      "%-10s K %d to %d  %.3f / %.3f  ELBO %.2f (%.2f to %.2f)%s  %.2f s\n", model, min(runs$k), max(runs$k),
      middle["nmi"], middle["ari"], middle["elbo"], min(runs$elbo), max(runs$elbo),
      if (!single[[model]]) "" else {
        sprintf("  J %.4f (%.4f to %.4f)", middle["joint"], min(runs$joint), max(runs$joint))
      },
      middle["cpu"]
    ))
    cat("           held out AUC", said(runs$auc), " log score", sprintf("%.3f\n", mean(runs$score)))
  }
}
