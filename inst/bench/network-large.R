# The co-authors of condensed-matter papers (16,726 nodes, 47,594 links): the default fit from one community, its CPU
# time, and its log score of held-out pairs beside fits with five fixed numbers of communities, from groups that are
# made by dividing the largest again and again, by full and by stochastic learning.
#
#   Rscript inst/bench/network-large.R DATA [fixed]
#
# DATA has cond-mat-links.csv.gz. With `fixed` the held-out comparison is made, too.
suppressMessages(library(bnpvi))
arguments <- commandArgs(TRUE)
links <- read.csv(gzfile(file.path(arguments[1], "cond-mat-links.csv.gz")))
n <- max(links)

timed <- function(label, expr) {
  cpu <- system.time(fit <- suppressWarnings(expr))
  cat(sprintf(
    "%-28s %7.1f CPU s  K %3d  %4d laps  converged %s  ELBO %.0f\n", label, sum(cpu[1:2]), n_clusters(fit), fit$laps,
    fit$converged, elbo(fit)
  ))
  fit
}
how <- function(...) bnp_control(seed = 1, threads = 1, verbose = FALSE, ...)
fit <- timed("default", bnp_network(links, nodes = n, control = how()))
if (length(arguments) > 1L) {
  pairs <- split_links(links, 0.1, nodes = n, seed = 1)
  held_out <- function(label, ...) {
    fit <- timed(label, bnp_network(links, nodes = n, missing = pairs, ...))
    cat(sprintf("  held out: log score %.4f, AUC %.4f\n", heldout_loglik(fit, pairs), link_auc(fit, pairs)))
  }
  held_out("held out, default", control = how())
  for (k in c(10, 25, 50, 100, 200)) {
    held_out(paste("held out, fixed", k), control = how(k_init = k, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE)))
    sampled <- bnp_control("stochastic", k_init = k, seed = 1, threads = 1, verbose = FALSE)
    held_out(paste("held out, stochastic", k), control = sampled)
  }
}
