# What users say of trees, and what they get.

few <- bnp_control(seed = 1, verbose = FALSE)
parent <- c(0, 1, 1, 2, 2, 3, 3)
values <- matrix(c(0, 0.1, 5, 0.2, -0.1, 5.1, 4.9, 1, 1.1, 7, 1, 0.9, 7.2, 6.9), 7,
  dimnames = list(letters[1:7], c("u", "v")))
fit <- bnp_hmm(values, parent = parent, control = few)

test_that("every way of saying who the parents are is the same tree", {
  same <- function(other) {
    expect_equal(elbo(other), elbo(fit), tolerance = 1e-12)
    expect_identical(fitted(other), fitted(fit))
  }
  same(bnp_hmm(values, parent = replace(parent, 1, NA), control = few))
  same(bnp_hmm(as.data.frame(values), parent = parent, control = few))
  same(bnp_hmm(cbind(as.data.frame(values), above = parent), parent = "above", control = few))
  same(bnp_hmm(cbind(values, above = parent), parent = "above", control = few))
  skip_if_not_installed("igraph")
  edges <- cbind(letters[parent[-1]], letters[2:7])
  same(bnp_hmm(values, parent = igraph::graph_from_edgelist(edges), control = few))
  # Rows are matched by the names of nodes: results have the nodes' order.
  mixed <- bnp_hmm(values[7:1, ], parent = igraph::graph_from_edgelist(edges), control = few)
  expect_identical(fitted(mixed)[letters[1:7]], fitted(fit))
})

test_that("phylogenies have rows at their tips, or at all nodes", {
  skip_if_not_installed("ape")
  tree <- ape::read.tree(text = "((A,B),((C,D),E));")
  tips <- matrix(c(0, 0.2, 5, 5.2, 5.1), 5, dimnames = list(c("A", "B", "C", "D", "E"), "x"))
  found <- bnp_hmm(tips, parent = tree, control = few)
  expect_named(fitted(found), c(LETTERS[1:5], 6:9))
  expect_equal(found$input$tree$parent, c(7, 7, 9, 9, 8, 0, 6, 6, 8))
  expect_identical(fitted(bnp_hmm(tips[5:1, , drop = FALSE], parent = tree, control = few)), fitted(found))
  expect_identical(unname(fitted(bnp_hmm(unname(tips[, 1]), parent = tree, control = few))), unname(fitted(found)))
  expect_equal(predict(found, tips), fitted(found))
  expect_equal(nrow(augment(found, tips)), 5)
  expect_equal(augment(found, tips)$x, unname(tips[, 1]))
  expect_equal(as.integer(augment(found, tips)$.class), unname(fitted(found)[1:5]))
  # Nodes without a row are rows of NA.
  by_hand <- bnp_hmm(c(tips, rep(NA, 4)), parent = c(7, 7, 9, 9, 8, 0, 6, 6, 8), na_action = "model", control = few)
  expect_equal(elbo(by_hand), elbo(found), tolerance = 1e-12)
  expect_bad(bnp_hmm(replace(tips, 2, NA), parent = tree, control = few), "not_finite")
  expect_bad(bnp_hmm(tips, parent = tree, control = few, id = 1:4), "id")
  expect_bad(bnp_hmm(unname(tips[1:4, ]), parent = tree, control = few), "parent", "its 5 tips")
  expect_bad(bnp_hmm(`rownames<-`(tips, letters[1:5]), parent = tree, control = few), "parent", "names of the rows")
  expect_equal(bnp_hmm(tips, parent = tree, control = few, id = rep("all", 5))$input$group_names, "all")
})

test_that("a node that was not observed says nothing but has a state", {
  gappy <- replace(values, cbind(c(3, 3), 1:2), NA)
  found <- bnp_hmm(gappy, parent = parent, na_action = "model", control = few, prior = prior_hmm(1))
  without <- bnp_hmm(gappy[-3, ], parent = c(0, 1, 2, 2, 0, 0), control = few, prior = prior_hmm(1),
    obs = found$model$obs)
  expect_equal(elbo(found, terms = TRUE)[["data"]], elbo(without, terms = TRUE)[["data"]], tolerance = 1e-10)
  expect_false(anyNA(fitted(bnp_hmm(gappy, parent = parent, na_action = "model", control = few))))
})

test_that("methods answer in the order of the rows", {
  place <- c(3, 7, 1, 5, 2, 6, 4)
  mixed <- values
  mixed[place, ] <- values
  rownames(mixed)[place] <- rownames(values)
  other <- bnp_hmm(mixed, parent = renumbered(parent, place), control = few, start = {
    start <- integer(7)
    start[place] <- fitted(fit)
    start
  })
  expect_identical(fitted(other)[letters[1:7]], fitted(fit))
  for (type in c("class", "marginal", "id")) expect_named(predict(other, mixed, type = type), rownames(mixed))
  prob <- predict(other, mixed, type = "prob")
  expect_equal(rownames(prob) %||% rownames(mixed), rownames(mixed))
  expect_equal(max.col(prob), unname(predict(other, mixed, type = "marginal")))
  expect_equal(augment(other, mixed)$u, unname(mixed[, "u"]))
  expect_equal(as.integer(augment(other, as.data.frame(mixed))$.class), unname(fitted(other)))
  sim <- simulate(other, 2, seed = 1)
  expect_equal(dim(sim$sim_2), c(7L, 4L))
  expect_equal(rownames(sim$sim_1), rownames(mixed))
  expect_match(paste(capture.output(print(other)), collapse = " "), "7 observations of 2 columns in 1 tree")
})

test_that("simulated states follow the transitions down the trees", {
  n <- 4000
  place <- withr::with_seed(3, sample(n))
  tree <- withr::with_seed(3, planted_tree(4, random_parents(n, 2), k = 2, d = 1))
  long <- renumbered(tree$parent, place)
  x <- numeric(n)
  x[place] <- 3 * tree$x
  big <- bnp_hmm(x, parent = long, prior = prior_hmm(2), control = few)
  sim <- simulate(big, 1, seed = 5)$sim_1
  at <- which(long > 0)
  counts <- table(sim$.state[long[at]], sim$.state[at])
  expect_equal(unclass(counts / rowSums(counts)), unclass(transition_matrix(big)), tolerance = 0.1, ignore_attr = TRUE)
  expect_gt(min(diag(transition_matrix(big))), 0.9)
})

test_that("clusters are joined on trees as the bound says", {
  big <- withr::with_seed(6, planted_tree(6, random_parents(150, 2), k = 4))
  found <- bnp_hmm(big$x, parent = big$parent, control = few)
  grown <- cluster_tree(found, big$x)
  cut <- cut_fit(found, big$x, k = 2)
  expect_equal(n_clusters(cut), 2)
  expect_lt(elbo(cut), elbo(found))
  expect_equal(length(grown$height), found$state$k - 1)
  # The same trees as one group.
  together <- bnp_hmm(big$x, parent = big$parent, id = rep("all", 150), control = few, start = found)
  again <- bnp_hmm(big$x, parent = big$parent, control = few, start = found)
  joined <- cluster_tree(together, big$x, id = rep("all", 150))
  expect_equal(joined$height, cluster_tree(again, big$x)$height, tolerance = 1e-6)
})

test_that("pictures of fits to trees are drawn", {
  layout <- tree_layout(c(0L, 1L, 1L, 2L, 4L, 0L))
  expect_equal(layout$depth, c(0, 1, 2, 2, 1, 0))
  expect_equal(layout$x, c(2.25, 1.5, 1, 2, 3, 4))
  withr::local_pdf(NULL)
  expect_invisible(plot(fit))
  expect_invisible(plot(fit, "tree", max_sequences = 1))
  expect_invisible(plot(fit, "transitions"))
  expect_bad(plot(fit, "segments"), "trees")
  expect_bad(plot(bnp_hmm(values, control = few), "tree"), "argument")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(fit))$plot, "ggplot")
})

test_that("parents that are no trees are refused", {
  bad <- function(parent, ..., x = values) expect_bad(bnp_hmm(x, parent = parent, control = few), "parent", ...)
  bad(c(0, 3, 2, 1, 1, 1, 1), "circle.*rows 2.*3")
  bad(c(2, 3, 1, 1, 1, 1, 1), "circle")
  bad(c(0, 2, 1, 1, 1, 1, 1), "own")
  bad(c(0, 8, 1, 1, 1, 1, 1), "1 to 7")
  bad(c(0, -1, 1, 1, 1, 1, 1), "row 2")
  bad(c(0, 1.5, 1, 1, 1, 1, 1), "row 2")
  bad(c(0, Inf, 1, 1, 1, 1, 1), "row 2")
  bad(c(0, 1), "one value per row")
  bad("missing_column", "names the column")
  bad(list(1), "igraph")
  bad(factor(parent), "row numbers")
  bad(numeric(), "one value per row")
  bad(parent, "one table", x = list(values))
  expect_bad(bnp_hmm(values, parent = parent, id = c(1, 1, 1, 1, 1, 1, 2), control = few), "parent", "row 7")
  expect_bad(bnp_hmm(values, parent = parent, obs = obs_ar(), control = few), "trees", "sequences")
  expect_bad(
    bnp_hmm(values, parent = parent, control = bnp_control(sparsity = 2, verbose = FALSE)), "argument", "sparsity"
  )
  expect_bad(bnp_hmm(values, parent = parent, na_action = "omit", control = few), "parent", "omit")
  expect_bad(bnp_hmm(values, parent = parent, weights = rep(1, 7), control = few), "weights", "per tree")
  skip_if_not_installed("igraph")
  bad(igraph::make_graph(c(1, 3, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7)), "two parents.*node 3")
  bad(igraph::make_ring(7), "directed")
  bad(igraph::make_ring(7, directed = TRUE), "circle")
  bad(igraph::make_star(3, "out"), "each of the 3 nodes")
})

test_that("what only sequences have is refused, and new data need their trees", {
  expect_bad(predict(fit, values[1:3, ]), "parent", "needed")
  expect_bad(predict(bnp_hmm(values, control = few), values, parent = parent), "parent", "sequences")
  expect_bad(segments(fit), "trees")
  expect_bad(residuals(fit, values), "trees")
  expect_bad(predict(fit, values, n.ahead = 2), "trees")
  expect_bad(predict(fit, values, type = "response"), "trees")
  expect_bad(predict(fit, values, type = "impute"), "trees")
  expect_bad(impute(fit, values), "trees")
  expect_bad(update(fit, newdata = values), "trees")
  expect_bad(bnp_sample(fit, values), "trees")
  expect_bad(simulate(fit, lengths = 3), "trees")
  expect_equal(elbo(update(fit, start = fit)), elbo(fit), tolerance = 1e-8)
})

test_that("the smallest and the largest trees are fitted", {
  one <- bnp_hmm(3, parent = 0, control = few)
  expect_equal(unname(fitted(one)), 1L)
  expect_equal(n_clusters(bnp_hmm(c(1, 1, 1), parent = c(0, 0, 0), control = few)), 1)
  n <- 1e5
  x <- withr::with_seed(1, rnorm(n, rep(c(0, 8), each = n / 2)))
  quick <- bnp_control(seed = 1, max_laps = 3, k_init = 2, moves = FALSE, verbose = FALSE)
  for (shape in list(0:(n - 1), c(0, rep(1, n - 1)), (n:1) - 1)) {
    if (shape[1] == n - 1) shape <- c(2:n, 0) # children before their parents
    found <- suppressWarnings(bnp_hmm(x, parent = shape, obs = obs_gaussian("diagonal"), control = quick))
    expect_true(is.finite(elbo(found)))
    expect_gt(adjusted_rand_index(fitted(found), x > 4), 0.99)
  }
})
