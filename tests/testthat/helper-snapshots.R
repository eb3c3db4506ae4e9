# Pictures whose snapshots are kept (test-snapshots.R): functions without arguments that draw. They show small fits
# with clusters far apart, so that no line moves with the last digits of a number.
snapshot_pictures <- function() {
  once <- bnp_control(seed = 1, restarts = 1, verbose = FALSE)
  made <- function(seed, expr) withr::with_seed(seed, expr)
  kind <- rep(1:3, c(20, 15, 10))
  points <- made(1, data.frame(
    length = c(2, 6, 10)[kind] + stats::rnorm(45, sd = 0.3), width = c(5, 1, 8)[kind] + stats::rnorm(45, sd = 0.3)
  ))
  mixed <- transform(points, colour = factor(c("red", "green", "blue")[kind]))
  mixture <- bnp_mixture(points, control = once)
  blocks <- bnp_mixture(mixed, control = once)
  state <- rep(c(1, 2, 1, 3), each = 20)
  series <- made(2, data.frame(speed = c(1, 5, 9)[state] + stats::rnorm(80, sd = 0.2)))
  states <- bnp_hmm(series, control = once)
  words <- matrix(0, 30, 6, dimnames = list(NULL, c("whale", "sea", "ship", "oats", "barley", "field")))
  words[1:15, 1:3] <- 20
  words[16:30, 4:6] <- 20
  topics <- bnp_topics(words, prior = prior_lda(2), control = once)
  group <- rep(1:2, each = 8)
  linked <- outer(group, group, "==") & made(3, matrix(stats::runif(256) < 0.9, 16))
  links <- which(linked & upper.tri(linked), arr.ind = TRUE)
  network <- bnp_network(data.frame(from = links[, 1L], to = links[, 2L]), prior = prior_dp(), control = once)
  list(
    "mixture, clusters" = function() plot(mixture, points),
    "mixture, density of one column" = function() plot(bnp_mixture(points["length"], control = once), points["length"]),
    "mixture, profile of a data frame" = function() plot(blocks, "profile"),
    "mixture, trace of the bound" = function() plot(mixture, "elbo"),
    "tree of clusters" = function() plot(cluster_tree(mixture, points)),
    "sequences, segments" = function() plot(states, series),
    "sequences, transitions" = function() plot(states, "transitions"),
    "sequences, densities of states" = function() plot(states, "density", series),
    "topics, words" = function() plot(topics),
    "topics, prevalence by group" = function() plot(prevalence(topics, rep(c("novel", "almanac"), each = 15))),
    "network, blocks" = function() plot(network),
    "network, matrix" = function() plot(network, "matrix", data.frame(from = links[, 1L], to = links[, 2L]))
  )
}
