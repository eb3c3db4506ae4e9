# What a network is taken for: one triangle of a matrix, weights of edges, two kinds of nodes.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
blocks_of_three <- function() {
  withr::local_seed(1)
  g <- rep(1:3, each = 15)
  a <- matrix(0, 45, 45)
  up <- upper.tri(a)
  a[up] <- rbinom(sum(up), 1, ifelse(outer(g, g, "==")[up], 0.6, 0.03))
  list(upper = a, whole = a + t(a), group = g)
}
edges <- data.frame(from = c(1, 1, 2, 4, 4, 5, 3), to = c(2, 3, 3, 5, 6, 6, 4))
# The value of an expression of whose messages one matches.
said <- function(expr, pattern) {
  messages <- character()
  value <- withCallingHandlers(expr, bnpvi_message_network = function(m) {
    messages <<- c(messages, gsub("\\s+", " ", conditionMessage(m)))
    invokeRestart("muffleMessage")
  })
  expect_match(messages, pattern, all = FALSE)
  value
}
core <- function(net) net[c("n", "directed", "from", "to", "value", "hidden_from", "hidden_to")]

test_that("one triangle of a matrix is an undirected network, which a message says", {
  x <- blocks_of_three()
  whole <- core(expect_silent(as_network(x$whole)))
  lower <- t(x$upper)
  with_loops <- x$upper
  diag(with_loops) <- 1
  not_stored <- x$upper
  not_stored[lower.tri(not_stored)] <- NA
  triangles <- list(
    upper = x$upper, lower = lower, logical = x$upper > 0, dtC = Matrix::Matrix(x$upper, sparse = TRUE),
    dtT = as(Matrix::Matrix(lower, sparse = TRUE), "TsparseMatrix"),
    dtR = as(Matrix::Matrix(x$upper, sparse = TRUE), "RsparseMatrix"),
    dgC = as(as(lower, "CsparseMatrix"), "generalMatrix"), ntC = as(Matrix::Matrix(x$upper, sparse = TRUE), "nMatrix"),
    loops = with_loops, not_stored = not_stored
  )
  expect_s4_class(triangles$dtC, "dtCMatrix")
  for (name in names(triangles)) {
    which <- if (name %in% c("lower", "dtT", "dgC")) "lower triangle" else "upper triangle"
    taken <- said(as_network(triangles[[name]]), which)
    expect_equal(core(taken), whole, info = name)
    if (name != "loops") expect_equal(core(expect_silent(as_network(triangles[[name]], directed = FALSE))), whole)
  }
  expect_equal(core(expect_silent(as_network(Matrix::Matrix(x$whole, sparse = TRUE)))), whole) # dsCMatrix
  directed <- expect_silent(as_network(x$upper, directed = TRUE))
  expect_true(directed$directed)
  expect_length(directed$value, sum(x$upper))
  # A directed network whose nodes are in no order of the links is none.
  order <- withr::with_seed(2, sample(45))
  expect_true(expect_silent(as_network(x$upper[order, order]))$directed)
  single <- replace(matrix(0, 4, 4), 5, 1)
  expect_false(said(as_network(single), "triangle")$directed)
  expect_false(expect_silent(as_network(matrix(0, 4, 4)))$directed)
  expect_true(expect_silent(as_network(Matrix::Matrix(x$whole, sparse = TRUE), directed = TRUE))$directed)
  skip_if_not_installed("igraph")
  g <- igraph::graph_from_adjacency_matrix(x$whole, "undirected")
  for (type in c("upper", "lower")) {
    expect_equal(core(said(as_network(igraph::as_adjacency_matrix(g, type = type)), type)), whole)
  }
})

test_that("half a network has the communities of the whole", {
  x <- blocks_of_three()
  for (prior in some_of(list(prior_dp(), prior_hdp()), by = 2)) {
    whole <- bnp_network(x$whole, prior = prior, control = quiet())
    half <- said(bnp_network(x$upper, prior = prior, control = quiet()), "triangle")
    expect_identical(elbo(half), elbo(whole))
    expect_identical(fitted(half), fitted(whole))
    expect_equal(adjusted_rand_index(fitted(half), x$group), 1)
  }
})

test_that("rows and columns of a matrix are the same nodes, by name", {
  x <- blocks_of_three()$whole[1:9, 1:9]
  dimnames(x) <- list(letters[1:9], letters[1:9])
  expect_equal(as_network(x[, 9:1]), as_network(x))
  expect_equal(as_network(unname(x))$value, as_network(x)$value)
  colnames(x) <- LETTERS[1:9]
  expect_bad(as_network(x), "nodes", "Not on both sides")
})

test_that("edges of an igraph are links, whatever their weights, unless weights asks for them", {
  skip_if_not_installed("igraph")
  withr::local_seed(3)
  few <- quiet(max_laps = 15)
  group <- rep(1:3, c(14, 12, 13))
  g <- igraph::sample_sbm(39, matrix(0.04, 3, 3) + diag(0.5, 3), c(14, 12, 13))
  plain <- bnp_network(g, control = few)
  weighted <- igraph::set_edge_attr(g, "weight", value = rgeom(igraph::ecount(g), 0.1) + 1)
  left <- said(bnp_network(weighted, control = few), "weight, .*left alone")
  expect_identical(elbo(left), elbo(plain))
  expect_equal(adjusted_rand_index(fitted(left), group), 1)
  expect_identical(suppressMessages(elbo(bnp_network(weighted, weights = NULL, control = few))), elbo(plain))
  expect_identical(suppressMessages(elbo(bnp_network(weighted, weights = NA, control = few))), elbo(plain))
  counted <- said(bnp_network(weighted, weights = "weight", control = few), "weight, .*taken as the numbers")
  expect_identical(counted$model$obs$links, "counts")
  by_vector <- expect_silent(bnp_network(weighted, weights = igraph::E(weighted)$weight, control = few))
  expect_identical(elbo(by_vector), elbo(counted))
  expect_silent(as_network(g))
  refused <- function(class, x = weighted, ...) {
    expect_bad(suppressMessages(bnp_network(x, control = few, ...)), class)
  }
  refused("argument", weights = "strength")
  refused("argument", weights = 1:3)
  refused("argument", weights = list(1))
  refused("argument", weights = c("weight", "weight"))
  halved <- igraph::set_edge_attr(weighted, "weight", value = 0.5)
  refused("not_counts", x = halved, weights = "weight")
  expect_identical(suppressMessages(elbo(bnp_network(halved, control = few))), elbo(plain))
  some <- igraph::set_edge_attr(weighted, "weight", value = rep(c(NA, 0, 2), length.out = igraph::ecount(g)))
  read <- suppressMessages(as_network(some, weights = list("weight")))
  expect_identical(unique(read$value), 2)
  expect_length(read$hidden_from, length(seq(1, igraph::ecount(g), 3)))
  pairs <- suppressMessages(split_links(weighted, seed = 1))
  expect_true(all(pairs$link %in% 0:1))
  expect_true(any(suppressMessages(split_links(weighted, seed = 1, weights = "weight"))$link > 1))
})

test_that("values of matrices and columns of lists count, and can be left alone", {
  x <- blocks_of_three()$whole
  plain <- core(as_network(x))
  for (values in list(0.5 * x, -x, Matrix::Matrix(2.5 * x, sparse = TRUE))) {
    expect_bad(as_network(values), "not_counts", "weights = NULL", fixed = TRUE)
    expect_equal(core(as_network(values, weights = list(NULL))), plain)
  }
  expect_equal(as_network(3 * x)$value, 3 * plain$value)
  expect_bad(as_network(x, weights = list("weight")), "argument")
  none <- core(expect_silent(as_network(edges)))
  for (name in c("weight", "value", "n", "count", "year")) {
    listed <- stats::setNames(cbind(edges, 2L), c("from", "to", name))
    expect_equal(said(as_network(listed), paste0(name, ", a column"))$value, rep(2, 7))
    expect_equal(core(said(as_network(listed, weights = list(NULL)), "left alone")), none)
  }
  two <- cbind(edges, weight = 0.5, n = 3)
  expect_bad(suppressMessages(as_network(two)), "not_counts")
  expect_equal(suppressMessages(as_network(two, weights = list("n")))$value, rep(3, 7))
  by_column <- said(as_network(cbind(edges, n = 1:7)), "n, a column")
  expect_equal(as_network(edges, weights = list(1:7))$value, by_column$value)
  expect_bad(as_network(cbind(edges, kind = "a"), weights = list("kind")), "argument")
  expect_silent(as_network(cbind(edges, kind = "a")))
})

test_that("links of new nodes count as those of the network did", {
  x <- blocks_of_three()$whole
  left <- bnp_network(0.5 * x, weights = NULL, prior = prior_dp(), control = quiet())
  plain <- bnp_network(x, prior = prior_dp(), control = quiet())
  new <- x[1:2, ]
  expect_equal(
    predict(left, 0.3 * new, type = "prob"), predict(plain, new, type = "prob"), ignore_attr = "dimnames"
  )
  list <- data.frame(from = "new", to = c("1", "2", "3", "4"), weight = c(0.2, 7, 0, NA))
  ones <- transform(list, weight = c(1, 1, 0, NA))
  expect_equal(predict(left, list, type = "prob"), suppressMessages(predict(plain, ones, type = "prob")))
  expect_bad(suppressMessages(predict(plain, list, type = "prob")), "not_counts")
})

test_that("two kinds of nodes are said, and tables that are no networks refused", {
  rectangle <- matrix(c(1, 0, 1, 1, 1, 0, 0, 1), 2)
  for (table in list(rectangle, t(rectangle)[, 1:2], matrix(TRUE, 5, 3), Matrix::Matrix(rectangle, sparse = TRUE))) {
    expect_bad(as_network(table), "network", "bipartite")
  }
  expect_bad(as_network(as.data.frame(blocks_of_three()$whole)), "network", "as.matrix")
  square <- rbind(c(1, 2), c(2, 3))
  said(as_network(square), "taken as an adjacency matrix")
  expect_identical(as_network(`colnames<-`(square, c("from", "to")))$n, 3L)
  skip_if_not_installed("igraph")
  bipartite <- igraph::graph_from_incidence_matrix(rectangle)
  said(bnp_network(bipartite, control = quiet()), "bipartite")
  by_text <- igraph::set_vertex_attr(bipartite, "type", value = ifelse(igraph::V(bipartite)$type, "event", "person"))
  said(as_network(by_text), "bipartite")
  mixed <- igraph::set_vertex_attr(bipartite, "type", value = rep(c("a", "b"), length.out = 6))
  expect_silent(as_network(mixed))
  expect_silent(as_network(igraph::make_star(5, "undirected")))
  # Undirected links as directed ones go both ways, as those of a symmetric matrix do.
  ring <- igraph::make_ring(5)
  both <- said(as_network(ring, directed = TRUE), "there and back")
  expect_equal(core(both), core(as_network(as.matrix(igraph::as_adjacency_matrix(ring)), directed = TRUE)))
  twice <- igraph::set_vertex_attr(ring, "name", value = c("a", "a", "b", "c", "d"))
  expect_bad(as_network(twice), "nodes")
})

test_that("values of edges of the package network are left alone unless asked for", {
  skip_if_not_installed("network")
  net <- network::network(as.matrix(edges), directed = FALSE, matrix.type = "edgelist")
  plain <- core(expect_silent(as_network(net)))
  network::set.edge.attribute(net, "strength", 1:7)
  expect_equal(core(said(as_network(net), "strength, .*left alone")), plain)
  expect_equal(sort(suppressMessages(as_network(net, weights = list("strength")))$value), 1:7)
  said(as_network(network::network(matrix(1, 2, 3), bipartite = 2, directed = FALSE)), "bipartite")
})

test_that("a picture of another network says so", {
  fit <- bnp_network(edges, prior = prior_dp(), control = quiet())
  pdf(NULL)
  withr::defer(dev.off())
  expect_silent(plot(fit, network = edges))
  expect_silent(plot(fit, network = cbind(edges, weight = 0.5)))
  said(plot(fit, network = data.frame(from = 1:5, to = 2:6)), "other links")
})

test_that("a table of pairs is an adjacency matrix", {
  pairs <- edges[c("from", "to")]
  nodes <- sort(unique(unlist(pairs)))
  counted <- table(from = factor(pairs$from, nodes), to = factor(pairs$to, nodes))
  bare <- matrix(counted, length(nodes), dimnames = unname(dimnames(counted)))
  read <- function(x) suppressMessages(as_network(x, directed = TRUE))
  expect_identical(read(counted), read(bare))
  expect_identical(suppressMessages(as_network(counted)), suppressMessages(as_network(bare)))
  expect_identical(read(I(bare)), read(bare))
})

test_that("pairs of nodes are read by the names of their columns, in any order", {
  followed <- data.frame(from = rep(1:4, each = 3), to = rep(5:7, 4))
  fit <- suppressMessages(bnp_network(followed, prior = prior_dp(), directed = TRUE, control = quiet()))
  pairs <- data.frame(from = c(1, 5, 2), to = c(6, 2, 3), link = c(1, 0, 0))
  turned <- pairs[c("link", "to", "from")]
  forth <- predict(fit, pairs)
  expect_gt(abs(diff(predict(fit, data.frame(from = c(1, 6), to = c(6, 1))))), 0.1) # or the order would not matter
  expect_identical(predict(fit, turned), forth)
  expect_identical(predict(fit, as.matrix(turned)[, c("to", "from")]), forth)
  expect_identical(heldout_loglik(fit, turned), heldout_loglik(fit, pairs))
  expect_identical(link_auc(fit, turned), link_auc(fit, pairs))
  without <- function(missing) {
    fit <- bnp_network(followed, prior = prior_dp(), directed = TRUE, missing = missing, control = quiet())
    suppressMessages(elbo(fit))
  }
  expect_identical(without(pairs[3:1]), without(pairs))
})
