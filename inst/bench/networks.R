# Communities of networks with known groups, beside igraph's Louvain and Leiden: normalised mutual information and
# adjusted Rand index with the groups, bounds, held-out links, CPU time. Where blockmodels, sbm and greed are installed
# (CRAN), their blockmodels of up to 500 nodes, too, as they choose the number of blocks; J is that of our model for
# their blocks. The mixed-membership blockmodel of lda was taken off CRAN, and is not run.
#
#   Rscript inst/bench/networks.R DATA [seeds = 3]
#
# DATA has <name>-links.csv (from, to) and <name>-nodes.csv (id, label, group) of football, polbooks and polblogs; the
# karate club comes with igraph. Of polblogs the giant component is taken, links without direction.
suppressMessages(library(bnpvi))
arguments <- commandArgs(TRUE)
data <- arguments[1]
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 3L)

read_network <- function(name) {
  links <- read.csv(file.path(data, paste0(name, "-links.csv")))
  nodes <- read.csv(file.path(data, paste0(name, "-nodes.csv")))
  graph <- igraph::simplify(igraph::graph_from_data_frame(links, FALSE, nodes["id"]))
  parts <- igraph::components(graph)
  keep <- which(parts$membership == which.max(parts$csize))
  list(graph = igraph::induced_subgraph(graph, keep), group = as.integer(factor(nodes$group))[keep])
}
club <- igraph::make_graph("Zachary")
networks <- c(
  list(karate = list(graph = club, group = 1L + seq_len(34) %in% c(10, 15, 16, 19, 21, 23:34))),
  sapply(c("football", "polbooks", "polblogs"), read_network, simplify = FALSE)
)

agreement <- function(labels, group) {
  sprintf("%.3f / %.3f", igraph::compare(labels, group, "nmi"), adjusted_rand_index(labels, group))
}
timed <- function(expr) {
  time <- system.time(value <- suppressWarnings(expr))
  list(value = value, cpu = sum(time[1:2]))
}
# Score of pairs by Louvain blocks times degrees, of the network without them.
by_blocks <- function(graph, pairs) {
  ids <- seq_len(igraph::vcount(graph))
  at <- cbind(as.integer(pairs$from), as.integer(pairs$to))
  hidden <- igraph::get.edge.ids(graph, as.vector(t(at[pairs$link > 0, ])))
  left <- igraph::delete_edges(graph, hidden)
  z <- igraph::membership(igraph::cluster_louvain(left))
  degree <- igraph::degree(left)
  y <- as.matrix(igraph::as_adjacency_matrix(left))
  one <- 1 * outer(as.vector(z), seq_len(max(z)), "==")
  rate <- (crossprod(one, y %*% one) + 0.1) / (tcrossprod(drop(crossprod(one, degree))) + 1)
  score <- rate[cbind(z[at[, 1]], z[at[, 2]])] * degree[at[, 1]] * degree[at[, 2]]
  rank <- rank(score)
  link <- pairs$link > 0
  stopifnot(max(at) <= length(ids))
  (sum(rank[link]) - sum(link) * (sum(link) + 1) / 2) / sum(link) / sum(!link)
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
  relational = list(prior = prior_hdp(), obs = obs_links(degree = FALSE)),
  general = list(prior = prior_hdp(), obs = obs_links(assortative = FALSE)),
  gamma = list(prior = prior_hdp(), obs = obs_links(degree = TRUE))
)
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
  if (igraph::vcount(graph) <= 500) {
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
  pairs <- split_links(graph, 0.1, seed = 1)
  set.seed(1)
  cat(sprintf("held out: Louvain blocks x degrees AUC %.3f\n", by_blocks(graph, pairs)))
  for (model in names(models)) {
    # General blocks are for few communities: the political blogs have 29.
    if (model == "general" && igraph::vcount(graph) > 500) next
    for (seed in seeds) {
      control <- bnp_control(seed = seed, max_laps = 400, verbose = FALSE)
      fit <- function(missing = NULL) {
        with(models[[model]], bnp_network(graph, obs, prior, control = control, missing = missing))
      }
      out <- timed(fit())
      cat(sprintf(
        "%-10s seed %d  K %2d  %s  ELBO %.2f%s  %.2f s", model, seed, n_clusters(out$value),
        agreement(fitted(out$value), group), elbo(out$value),
        if (model == "blocks") sprintf("  J %.4f", log_joint(out$value)) else "", out$cpu
      ))
      if (seed == 1L) {
        held <- suppressWarnings(fit(pairs))
        cat(sprintf("  AUC %.3f  log score %.3f", link_auc(held, pairs), heldout_loglik(held, pairs)))
      }
      cat("\n")
    }
  }
}
