# Where fits of networks begin.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
group <- rep(1:3, each = 20)
dense <- withr::with_seed(2, planted_network(group, matrix(0.03, 3, 3) + diag(0.4, 3)))
# Two groups that avoid themselves.
apart <- withr::with_seed(2, planted_network(rep(1:2, each = 20), matrix(0.5, 2, 2) - diag(0.45, 2)))
labels_of <- function(net, ...) {
  start_labels(c(net, list(ids = seq_len(net$n))), prior_dp(), bnp_control(seed = 1, ...), NULL)
}

test_that("spectral starts find groups, by eigenvalues or their absolute values", {
  expect_gt(adjusted_rand_index(labels_of(dense, init = "spectral", k_init = 3), group), 0.9)
  expect_gt(adjusted_rand_index(labels_of(dense, init = "spectral_absolute", k_init = 3), group), 0.9)
  two <- rep(1:2, each = 20)
  expect_gt(adjusted_rand_index(labels_of(apart, init = "spectral_absolute", k_init = 2), two), 0.9)
  expect_lt(adjusted_rand_index(labels_of(apart, init = "spectral", k_init = 2), two), 0.9)
  expect_identical(labels_of(dense, init = "spectral", k_init = 3), labels_of(dense, init = "spectral", k_init = 3))
  expect_identical(labels_of(dense, init = "spectral", k_init = 1), rep(1L, 60))
})

test_that("eigenvectors are those of eigen()", {
  apart <- Matrix::bdiag(rep(list(1 - diag(4)), 25)) # 3, 25 times, and -1
  net <- withr::with_seed(2, planted_network(rep(1:4, each = 30), matrix(0.02, 4, 4) + diag(0.2, 4)))
  weak <- symmetric_adjacency(withr::with_seed(3, planted_network(rep(1, 150), matrix(0.05))))
  random <- withr::with_seed(4, crossprod(matrix(rnorm(900), 30)) - 20 * diag(30))
  for (x in list(symmetric_adjacency(net), apart, weak, random, matrix(0, 9, 9), diag(1, 5), matrix(2, 1, 1))) {
    for (absolute in c(FALSE, TRUE)) for (k in unique(pmin(nrow(x), c(1, 4, 30, nrow(x))))) {
      size <- if (absolute) abs else identity
      found <- withr::with_seed(1, largest_eigenvectors(x, k, absolute))
      all <- eigen(as.matrix(x), symmetric = TRUE)$values
      expect_equal(size(found$values), sort(size(all), decreasing = TRUE)[seq_len(k)], tolerance = 1e-6)
      expect_equal(crossprod(found$vectors), diag(k), tolerance = 1e-6)
      image <- as.matrix(x %*% found$vectors)
      expect_lt(max(abs(image - found$vectors * rep(found$values, each = nrow(x)))), 1e-6 * (1 + max(abs(all))))
    }
  }
})

test_that("eigenvalues that nothing tells apart are no error, and starts can be stopped at once", {
  # A thousand nodes without groups, of which no method finds all 50 eigenvectors soon.
  links <- withr::with_seed(1, matrix(sample(1000, 10000, TRUE), ncol = 2))
  links <- unique(t(apply(links[links[, 1] != links[, 2], ], 1, sort)))
  net <- small_network(1000, links[, 1], links[, 2])
  expect_length(unique(labels_of(net, init = "spectral", k_init = 50)), 50)
  began <- proc.time()[["elapsed"]]
  setTimeLimit(elapsed = 0.2, transient = TRUE)
  stopped <- tryCatch(labels_of(net, init = "spectral", k_init = 200), error = conditionMessage)
  setTimeLimit()
  expect_match(stopped, "time limit")
  expect_lt(proc.time()[["elapsed"]] - began, 3)
  expect_bad(labels_of(small_network(1e5, 1, 2), init = "spectral", k_init = 20000), "memory", "k_init")
})

test_that("eigenvectors of large networks give the groups of small ones", {
  big <- rep(1:4, each = 100)
  net <- withr::with_seed(2, planted_network(big, matrix(0.01, 4, 4) + diag(0.15, 4)))
  for (init in c("spectral", "spectral_absolute")) {
    labels <- labels_of(net, init = init, k_init = 4)
    expect_gt(adjusted_rand_index(labels, big), 0.95, label = init)
    expect_identical(labels, labels_of(net, init = init, k_init = 4))
  }
  two <- rep(1:2, each = 200)
  avoiding <- withr::with_seed(2, planted_network(two, matrix(0.15, 2, 2) - diag(0.13, 2)))
  expect_gt(adjusted_rand_index(labels_of(avoiding, init = "spectral_absolute", k_init = 2), two), 0.95)
})

test_that("labels that spread give connected groups, and nodes without links one", {
  skip_if_not_installed("igraph")
  parts <- small_network(9, c(1, 1, 2, 4, 4, 5), c(2, 3, 3, 5, 6, 6))
  expect_identical(labels_of(parts, init = "propagation"), rep(1:3, each = 3))
  groups <- rep(1:4, each = 100)
  net <- withr::with_seed(2, planted_network(groups, matrix(0.01, 4, 4) + diag(0.15, 4)))
  expect_gt(adjusted_rand_index(labels_of(net, init = "propagation"), groups), 0.95)
})

test_that("fits begin there, in every model and at the limits", {
  links <- data.frame(dense[c("from", "to")])
  still <- function(...) quiet(moves = FALSE, max_laps = 3, ...)
  without_number <- c("propagation", "modularity") # of communities, which they find
  for (init in c("random", network_inits)) {
    if (init == "propagation") skip_if_not_installed("igraph")
    for (model in list(
      list(prior_dp(), obs_links()), list(prior_dp(), obs_links(degree = TRUE)),
      list(prior_hdp(), obs_links(degree = FALSE)), list(prior_hdp(), obs_links(degree = TRUE))
    )) {
      control <- if (init %in% without_number) still(init = init) else still(init = init, k_init = 3)
      fit <- suppressWarnings(bnp_network(links, model[[2]], model[[1]], control, nodes = 60))
      expect_gte(n_clusters(fit), 2)
      if (init != "random") expect_gt(adjusted_rand_index(fitted(fit), group), 0.8, label = init)
    }
    for (x in list(matrix(0, 1, 1), matrix(0, 4, 4), 1 - diag(4))) {
      control <- if (init %in% without_number) quiet(init = init) else quiet(init = init, k_init = min(2L, nrow(x)))
      expect_true(is.finite(elbo(suppressWarnings(bnp_network(x, prior = prior_dp(), control = control)))))
    }
  }
  directed <- bnp_network(
    links, prior = prior_dp(), control = quiet(init = "spectral", k_init = 3), nodes = 60, directed = TRUE
  )
  expect_gt(adjusted_rand_index(fitted(directed), group), 0.8)
})

test_that("starts that are not there are refused by name", {
  links <- data.frame(dense[c("from", "to")])
  refused <- function(class, ...) {
    expect_error(bnp_network(links, control = quiet(...)), "init", class = paste0("bnpvi_error_", class))
  }
  refused("argument", init = "anchor")
  refused("argument", init = "kmeans", k_init = 2)
  refused("argument", init = "spectral")
  refused("argument", init = "propagation", k_init = 3)
  refused("k_init", init = "spectral", k_init = 100)
  expect_error(
    bnp_mixture(faithful, control = quiet(init = "spectral")), "bnp_network", class = "bnpvi_error_argument"
  )
})
