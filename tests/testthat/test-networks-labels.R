# Known labels of nodes: a node is in communities of its classes alone, whatever moves do, and bounds are those of links
# and labels.

prior_of <- function(name) if (startsWith(name, "blocks")) prior_dp() else prior_hdp()
obs_of <- list(
  blocks = obs_links(), blocks_with_degrees = obs_links(degree = TRUE), gamma = obs_links(degree = TRUE),
  relational = obs_links(degree = FALSE), general = obs_links(assortative = FALSE)
)
fit_labelled <- function(name, x, labels, ..., seed = 1) {
  control <- bnp_control(seed = seed, verbose = FALSE, ...)
  bnp_network(x, obs_of[[name]], prior_of(name), control, labels = labels)
}

# Three groups of ten, links within and few between; one of them with no labels.
groups <- rep(1:3, each = 10)
planted <- withr::with_seed(3, adjacency_of(planted_network(groups, matrix(0.06, 3, 3) + diag(0.7, 3))))
some_labels <- c(`1` = "a", `4` = "a", `12` = "b", `19` = "b")

# Exact zeros, in the memberships and of what they are made of.
expect_kept <- function(fit, info = NULL) {
  owner <- fit$state$owner[fit$numbering]
  allowed <- allowed_clusters(fit$input, owner)
  expect_identical(sum(fit$prob[!allowed]), 0, info = info)
  expect_equal(unname(rowSums(fit$prob)), rep(1, fit$input$n), tolerance = 1e-8, info = info)
  expect_true(all(allowed[cbind(seq_along(fit$labels), fit$labels)]), info = info)
  for (name in intersect(names(fit$state$params), c("shape", "rho", "theta"))) {
    own <- fit$state$params[[name]][, seq_along(owner), drop = FALSE]
    expect_identical(sum(own[!allowed]), 0, info = paste(info, name))
    expect_gt(min(rowSums(own)), 0)
  }
}

last_of <- function(x) x[length(x)]

test_that("labels of one class for all nodes change no bit", {
  # Searches of blocks with degrees differ (partition_search.h).
  for (name in some_of(setdiff(names(obs_of), "blocks_with_degrees"), by = 3)) {
    free <- fit_labelled(name, planted, NULL, max_laps = 15)
    one <- fit_labelled(name, planted, rep("all", 30), max_laps = 15)
    expect_identical(one$state$owner, rep(1L, one$state$k))
    expect_identical(one$elbo, free$elbo, info = name)
    expect_identical(one$prob, free$prob, info = name)
    expect_identical(one$trace[c("lap", "elbo", "k")], free$trace[c("lap", "elbo", "k")], info = name)
  }
})

test_that("tables kept through moves are those made anew, and nodes stay with their classes", {
  class <- c(1, NA, 2, NA, 1, NA, NA, 2, NA)
  owner <- c(1, 0, 2, 0, 1, 0, 0, 2, 0)
  numbers <- integer()
  for (counts in c(FALSE, TRUE)) {
    net <- with_classes(withr::with_seed(2, planted_network(rep(1, 9), matrix(0.5), counts = counts)), class)
    for (degree in c(FALSE, counts)) {
      model <- list(counts = counts, a = 1, b = 1, gamma = 1, degree = degree)
      steps <- rep(c("merge", "divide", "divide", "merge", "sweep"), 8)
      for (seed in some_of(1:4, by = 3)) {
        states <- engine_network_changes(net, model, owned(1:9, owner), steps, seed)
        for (state in states) {
          expect_equal(state$log_joint, state$fresh, tolerance = 1e-9)
          expect_true(all(where_allowed(net, state$owner)[cbind(1:9, state$labels)]))
          expect_true(all(1:2 %in% state$owner))
          joint <- if (degree) twin_corrected_joint else twin_joint
          expect_equal(state$log_joint, joint(net, state$labels, model), tolerance = 1e-9)
        }
        numbers <- union(numbers, vapply(states, function(s) s$k, 1))
      }
    }
  }
  expect_gt(length(numbers), 4)
})

test_that("bounds of blockmodels are below the evidence of links and labels, by enumeration", {
  model <- list(counts = FALSE, a = 1, b = 1, gamma = 1.5)
  net <- with_classes(triangles(), c(1, NA, NA, 2, NA, NA))
  owner <- c(1, 2, 0)
  allowed <- where_allowed(net, owner)
  z <- as.matrix(expand.grid(rep(list(1:3), 6)))
  z <- z[apply(z, 1, function(row) all(allowed[cbind(1:6, row)])), ]
  expect_identical(nrow(z), 81L) # 3^4
  log_p <- apply(z, 1, function(row) {
    size <- tabulate(row, 3)
    later <- rev(cumsum(rev(size))) - size
    twin_evidence(net, row, model) + sum(lbeta(1 + size, model$gamma + later) - lbeta(1, model$gamma))
  })
  evidence <- log_sum(log_p)
  for (seed in some_of(1:5, by = 5)) {
    r <- withr::with_seed(seed, matrix(rgamma(18, 0.5) + 1e-6, 6)) * allowed
    soft <- engine_network_soft(net, model, owned(r / rowSums(r), owner), 60)
    expect_lt(max(soft$bound), evidence)
    expect_true(all(diff(soft$bound) > -1e-10))
    expect_equal(last_of(soft$bound), twin_soft_bound(net, soft$prob, model), tolerance = 1e-10)
    expect_identical(sum(soft$prob[!allowed]), 0)
  }
})

path <- small_network(3, c(1, 2), c(2, 3))
overlapping <- list(
  relational = list(degree = FALSE, assortative = TRUE), general = list(degree = FALSE, assortative = FALSE),
  gamma = list(degree = TRUE, assortative = TRUE)
)
model_for <- function(name, ...) {
  utils::modifyList(c(overlapping[[name]], list(
    gamma = 1, alpha = 0.5, counts = FALSE, a = 2, b = 1, a_background = 1, b_background = 10, dense = Inf
  )), list(...))
}

test_that("bounds of overlapping communities are those of plain R, and rise", {
  twins <- list(relational = twin_relational_bound, general = twin_general_bound, gamma = twin_gamma_bound)
  class <- c(1, NA, NA, NA, NA, 2, NA, NA, 1, NA)
  owner <- c(0, 1, 2, 1)
  for (name in names(overlapping)) {
    for (directed in some_of(c(FALSE, TRUE), by = 2, from = match(name, names(overlapping)) %% 2 + 1)) {
      net <- withr::with_seed(5, planted_network(rep(1:2, each = 5), matrix(0.15, 2, 2) + diag(0.6, 2), directed))
      net <- with_classes(without_pairs(net, rbind(c(1, 7), c(2, 3), c(9, 10))), class)
      model <- model_for(name)
      share <- owned(withr::with_seed(1, matrix(rgamma(40, 1), 10)), owner)
      fit <- engine_network_laps(net, model, share, 3000, NULL)
      twin <- twins[[name]](net, model, fit)
      expect_equal(sum(fit$terms), sum(twin), tolerance = 1e-8, info = paste(name, directed))
      expect_true(all(diff(fit$bound) >= -1e-9 * abs(fit$bound[-1])), info = paste(name, directed))
      expect_identical(sum(fit$prob[!where_allowed(net, owner)]), 0)
    }
  }
})

# log p(y, labels) by draws, and its standard error: communities beyond those of `owner` are open to all in the gamma
# network, and to nodes without a label in the others.
labelled_evidence <- function(net, model, owner, draws, depth = 20) {
  pairs <- all_pairs(net)
  known <- seq_along(owner)
  mask <- matrix(model$degree | net$classes == 0, net$n, depth)
  mask[, known] <- where_allowed(net, owner)
  p <- replicate(draws, {
    u <- c(rbeta(depth - 1, 1, model$gamma), 1)
    beta <- u * c(1, cumprod(1 - u)[-depth])
    t <- matrix(rgamma(net$n * depth, rep(model$alpha * beta, each = net$n), model$alpha), net$n)
    if (model$degree) {
      t <- t * mask
      phi <- c(rgamma(depth, model$a, model$b), rgamma(1, model$a_background, model$b_background))
      rate <- drop((t[pairs$i, ] * t[pairs$j, ]) %*% phi[-(depth + 1)]) +
        phi[depth + 1] * rowSums(t)[pairs$i] * rowSums(t)[pairs$j]
      prod(ifelse(pairs$y > 0, -expm1(-rate), exp(-rate)))
    } else {
      weight <- t / rowSums(t) * mask
      phi <- matrix(
        if (model$assortative) rbeta(1, model$a_background, model$b_background) else rbeta(depth^2, model$a, model$b),
        depth, depth
      )
      if (model$assortative) diag(phi) <- rbeta(depth, model$a, model$b)
      phi[lower.tri(phi)] <- t(phi)[lower.tri(phi)]
      there <- function(f) rowSums((weight[pairs$i, , drop = FALSE] %*% f) * weight[pairs$j, , drop = FALSE])
      prod(there(phi) * (pairs$y > 0) + there(1 - phi) * (pairs$y == 0))
    }
  })
  c(log(mean(p)), stats::sd(p) / mean(p) / sqrt(draws))
}

test_that("the labelled part of a community takes the class along, and leaves no trace in the rest", {
  net <- withr::with_seed(5, planted_network(rep(1:2, each = 6), matrix(0.1, 2, 2) + diag(0.7, 2)))
  net <- with_classes(net, c(1, 1, rep(NA, 6), 2, rep(NA, 3)))
  share <- owned(diag(2)[rep(1:2, each = 6), ], 1:2)
  change <- function(kind, ...) list(kind = kind, a = 1, share = 0.7, least = -1e6, ...)
  first <- change("split", leaves = 1:3)
  for (then in list(change("merge", b = 3), change("merge", b = 2), change("drop"))) {
    for (dense in c(0, Inf)) {
      made <- engine_network_local(net, model_for("gamma", dense = dense), share, 5, list(first, then), FALSE)
      expect_identical(made[[1]]$owner, c(0L, 2L, 1L))
      for (x in made) {
        expect_equal(x$said, x$after - x$before, tolerance = 1e-8)
        expect_equal(x$after, x$anew, tolerance = 1e-10)
        outside <- !where_allowed(net, x$owner)
        expect_identical(sum(x$params$shape[, seq_along(x$owner)][outside]), 0)
        expect_identical(sum(x$prob[outside]), 0)
      }
    }
  }
})

test_that("bounds of overlapping communities are below the evidence of links and labels, by draws", {
  net <- with_classes(path, c(1, NA, 2))
  for (name in some_of(names(overlapping), by = 2)) {
    for (owner in some_of(list(1:2, c(1, 0, 2)), by = 3)) {
      evidence <- withr::with_seed(1, labelled_evidence(net, model_for(name), owner, 3000))
      for (seed in 1:2) {
        share <- owned(withr::with_seed(seed, matrix(rgamma(3 * length(owner), 1), 3)), owner)
        found <- last_of(engine_network_laps(net, model_for(name), share, 1000, NULL)$bound)
        expect_lt(found, evidence[1] + 4 * evidence[2], label = paste(name, seed))
      }
    }
  }
})

test_that("with a label for each node and a community for each class, memberships are the labels", {
  labels <- c("a", "b", "c")[groups]
  for (name in names(obs_of)) {
    fit <- fit_labelled(name, planted, labels, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE))
    expect_kept(fit, name)
    expect_identical(n_clusters(fit), 3L)
    expect_identical(as.character(predict(fit, type = "label")), labels)
    expect_equal(unname(predict(fit, type = "label_prob")), unname(1 * (outer(labels, c("a", "b", "c"), "=="))))
    expect_true(all(fit$prob %in% 0:1))
  }
})

test_that("memberships outside a node's classes are 0 after all moves, for any seed and number of threads", {
  several <- matrix(NA, 30, 2, dimnames = list(NULL, c("a", "b")))
  several[c(1, 4, 12, 19, 25), ] <- rbind(c(TRUE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE), c(FALSE, TRUE), c(TRUE, TRUE))
  names <- some_of(names(obs_of), by = 5)
  for (name in names) {
    for (labels in some_of(list(some_labels, several), by = 3, from = match(name, names))) {
      one <- fit_labelled(name, planted, labels, restarts = 2)
      expect_kept(one, name)
      two <- fit_labelled(name, planted, labels, restarts = 2, threads = 2)
      expect_identical(two[c("prob", "elbo", "labels")], one[c("prob", "elbo", "labels")], info = name)
      expect_identical(as.character(predict(one, type = "label"))[c(1, 4, 12, 19)], c("a", "a", "b", "b"))
    }
  }
})

long_test("few labels name the groups that they are in, and other groups stay open", {
  truth <- c("a", "b", NA)[groups]
  for (name in some_of(setdiff(names(obs_of), "general"), by = 3)) { # whose bound takes two of the groups for one
    fit <- fit_labelled(name, planted, some_labels)
    label <- as.character(predict(fit, type = "label"))
    right <- ifelse(is.na(truth), is.na(label), !is.na(label) & label == truth)
    expect_gte(sum(right), 28, label = name)
    prob <- predict(fit, type = "label_prob")
    expect_identical(colnames(prob), c("a", "b", "(none)"))
    expect_equal(unname(rowSums(prob)), rep(1, 30), tolerance = 1e-8)
    expect_identical(tidy(fit)$class, c("a", "b", NA)[match(fit$state$owner[fit$numbering], c(1, 2, 0))])
    expect_identical(augment(fit)$.label, unname(predict(fit, type = "label")))
    shown <- paste(capture.output(print(fit)), collapse = " ")
    expect_match(shown, "Labels: 4 nodes of 2 classes; communities of each: a [12], b [12]; of no +class")
  }
})

test_that("labels are read by position, by name, as sets, and as an attribute of an igraph", {
  fit <- fit_labelled("blocks", planted, some_labels)
  same <- function(labels, x = planted) {
    expect_identical(fit_labelled("blocks", x, labels)[c("prob", "elbo", "state")], fit[c("prob", "elbo", "state")])
  }
  all <- rep(NA_character_, 30)
  all[c(1, 4, 12, 19)] <- c("a", "a", "b", "b")
  same(all)
  same(factor(all))
  same(factor(some_labels[4:1]))
  same(stats::setNames(all, 1:30)[30:1])
  sets <- cbind(a = all == "a", b = all == "b")
  same(sets)
  same(`rownames<-`(sets, 1:30)[c(19, 1, 12, 4), ])
  skip_if_not_installed("igraph")
  graph <- igraph::graph_from_adjacency_matrix(planted, "undirected")
  igraph::V(graph)$name <- 1:30
  igraph::V(graph)$known <- all
  same("known", graph)
  expect_bad(fit_labelled("blocks", graph, "unknown"), "labels")
})

test_that("starts respect labels: groups, labels, shares and fits", {
  for (init in c("modularity", "random")) {
    fit <- fit_labelled("blocks", planted, some_labels, init = init, k_init = if (init == "random") 4)
    expect_kept(fit, init)
  }
  start <- ifelse(groups == 3, 3L, groups)
  few <- bnp_control(seed = 1, max_laps = 10, verbose = FALSE)
  for (name in c("blocks", "gamma")) {
    own <- function(start, labels = some_labels) {
      bnp_network(planted, obs_of[[name]], prior_of(name), few, start = start, labels = labels)
    }
    fit <- own(start)
    expect_kept(fit)
    expect_kept(own(fit))
    expect_kept(own(fit, c(`2` = "a", `30` = "b"))) # the same classes of other nodes
    expect_kept(own(outer(start, 1:3, "==") * 1))
    expect_bad(own(rep(1:2, 15)), "start")
    expect_bad(own(fit, c(`1` = "x")), "start")
    free <- bnp_network(planted, obs_of[[name]], prior_of(name), few, start = fit)
    expect_null(free$state$owner)
  }
})

test_that("a stopped fit goes on from its checkpoint with the same bits", {
  for (name in some_of(names(obs_of), by = 3)) {
    file <- withr::local_tempfile()
    whole <- fit_labelled(name, planted, some_labels, max_laps = 15)
    few <- fit_labelled(
      name, planted, some_labels, max_laps = 3, checkpoint = file, checkpoint_every = 0
    )
    expect_kept(few, name)
    again <- bnp_resume(file, planted, max_laps = 15)
    fields <- c("prob", "elbo", "state", "input")
    expect_identical(again[fields], whole[fields], info = name)
  }
})

long_test("large gamma networks keep the labels through moves that visit few nodes", {
  truth <- rep(1:20, each = 15)
  net <- withr::with_seed(1, planted_network(truth, matrix(0.01, 20, 20) + diag(0.5, 20)))
  x <- data.frame(from = net$from, to = net$to)
  labels <- stats::setNames(c("a", "a", "b", "c"), c("1", "2", "16", "31"))
  fit <- bnp_network(x, obs_links(degree = TRUE), control = bnp_control(seed = 1), labels = labels)
  expect_gt(nrow(x) + 300, network_large)
  expect_kept(fit)
  expect_gt(adjusted_rand_index(fitted(fit), truth), 0.9)
  label <- as.character(predict(fit, type = "label"))[order(as.integer(fit$input$ids))]
  expect_gte(mean(ifelse(truth <= 3, label == c("a", "b", "c")[pmin(truth, 3)], is.na(label)), na.rm = TRUE), 0.95)
})

test_that("predictions use what is known: links of labelled nodes, and nodes that are new", {
  for (name in some_of(names(obs_of), by = 3)) {
    fit <- fit_labelled(name, planted, some_labels)
    link <- predict(fit, expand.grid(from = 1:3, to = 11:13), type = "link")
    expect_true(all(is.finite(link) & link >= 0 & link <= 1))
    new <- data.frame(from = "new", to = c(1:3, 5:6))
    prob <- predict(fit, new, type = "label_prob")
    expect_equal(unname(rowSums(prob)), 1, tolerance = 1e-8)
    if (name != "general") expect_identical(as.character(predict(fit, new, type = "label")), "a", label = name)
    expect_true(all(is.finite(predict(fit, new, type = "prob"))))
    drawn <- simulate(fit, seed = 1)[[1L]]
    expect_gt(nrow(drawn), 0)
    expect_true(all(is.finite(unlist(coef(fit)))))
  }
})

long_test("a member of two groups is in both where its classes allow that, and in one where they do not", {
  net <- withr::with_seed(2, planted_network(rep(1:2, each = 15), matrix(0.05, 2, 2) + diag(0.7, 2)))
  x <- adjacency_of(net)
  x[1, 16:25] <- x[16:25, 1] <- 1 # links of node 1 in the other group
  known <- stats::setNames(c("a", "a", "b", "b"), c("2", "3", "29", "30"))
  free <- fit_labelled("gamma", x, known)
  expect_lt(max(predict(free, type = "label_prob")["1", ]), 0.8)
  held <- fit_labelled("gamma", x, c(known, `1` = "a"))
  expect_identical(predict(held, type = "label_prob")["1", "a"], 1)
})

test_that("labels that cannot be are refused by name", {
  fit <- function(labels, ...) fit_labelled("blocks", planted, labels, ...)
  expect_bad(fit(c("a", "b")), "labels")
  expect_bad(fit(rep(NA, 30)), "labels")
  expect_bad(fit(list("a")), "labels")
  expect_bad(fit(function(x) x), "labels")
  expect_bad(fit(c(nobody = "a")), "labels")
  expect_bad(fit(c(`1` = "a", `1` = "b")), "labels")
  expect_bad(fit(matrix("a", 30, 2)), "labels")
  expect_bad(fit(matrix(TRUE, 29, 2)), "labels")
  expect_bad(fit(matrix(FALSE, 30, 2)), "labels")
  part <- matrix(c(TRUE, NA), 30, 2, byrow = TRUE)
  expect_bad(fit(part), "labels")
  expect_bad(fit(some_labels, algorithm = "stochastic"), "labels")
  blocks <- fit(NULL)
  expect_bad(predict(blocks, type = "label"), "labels")
  expect_bad(predict(blocks, type = "label_prob"), "labels")
})
