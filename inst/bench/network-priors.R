# Which prior of communities predicts held-out pairs better: five splits of each network, a tenth of the links and five
# pairs without a link for each of them hidden.
#
#   Rscript inst/bench/network-priors.R DATA [seeds = 5] [networks, all]
#
# DATA has the networks of networks.R; others come with igraph and igraphdata.
suppressMessages({
  library(bnpvi)
  library(igraph)
})
arguments <- commandArgs(TRUE)
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 5L)
stored <- function(name) {
  e <- new.env()
  data(list = name, package = "igraphdata", envir = e)
  upgrade_graph(e[[name]])
}
read_network <- function(name) {
  links <- read.csv(file.path(arguments[1], paste0(name, "-links.csv")))
  nodes <- read.csv(file.path(arguments[1], paste0(name, "-nodes.csv")))
  simplify(graph_from_data_frame(links, FALSE, nodes["id"]))
}
# Groups of nodes with links within (probability 0.3) and between (0.03).
planted <- function(sizes, seed = 1) {
  set.seed(seed)
  k <- length(sizes)
  sample_sbm(sum(sizes), matrix(0.03, k, k) + diag(0.27, k), sizes)
}
bare <- function(g) {
  for (name in vertex_attr_names(g)) g <- delete_vertex_attr(g, name)
  for (name in edge_attr_names(g)) g <- delete_edge_attr(g, name)
  g
}
networks <- list(
  karate = function() make_graph("Zachary"), UKfaculty = function() simplify(as.undirected(stored("UKfaculty"))),
  polbooks = function() read_network("polbooks"), football = function() read_network("football"),
  macaque = function() stored("macaque"), rfid = function() simplify(stored("rfid")),
  enron = function() simplify(as.undirected(stored("enron"))), planted = function() planted(rep(30, 6)),
  uneven = function() planted(c(80, 40, 20, 10)), USairports = function() stored("USairports")
)
if (length(arguments) > 2L) networks <- networks[arguments[-(1:2)]]
calm <- function(expr) suppressMessages(suppressWarnings(expr))
judged <- function(g, prior, seed) {
  pairs <- calm(split_links(g, fraction = 0.1, zeros = 5, seed = seed))
  control <- bnp_control(seed = seed, threads = 1, verbose = FALSE)
  time <- system.time(fit <- calm(bnp_network(g, prior = prior, missing = pairs, control = control)))
  p <- pmin(pmax(predict(fit, pairs, type = "link"), 1e-9), 1 - 1e-9)
  c(
    k = n_clusters(fit), auc = link_auc(fit, pairs), log = mean(ifelse(pairs$link > 0, log(p), log1p(-p))),
    cpu = sum(time[1:2])
  )
}
for (name in names(networks)) {
  g <- bare(networks[[name]]())
  cat(name, vcount(g), ecount(g), "\n")
  for (prior in list(prior_dp(), prior_hdp())) {
    cat(sprintf("  %-10s", prior$family), round(rowMeans(sapply(seeds, function(s) judged(g, prior, s))), 3), "\n")
  }
}
