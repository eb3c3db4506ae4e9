# Overlapping communities with a block for every pair of them: against plain R, figures worked out independently,
# Monte Carlo, and the assortative model where both are the same.

model <- list(
  degree = FALSE, assortative = FALSE, gamma = 1, alpha = 0.5, counts = FALSE, a = 2, b = 1, a_background = 1,
  b_background = 10, dense = 1e5
)
path <- small_network(3, c(1, 2), c(2, 3))
both_ways <- small_network(3, c(1, 2), c(2, 1), directed = TRUE, hidden = rbind(c(2, 3), c(3, 1)))
bound_of <- function(net, model, share, n = 1000) {
  bound <- engine_network_laps(net, model, share, n, NULL)$bound
  bound[length(bound)]
}
kinds <- expand.grid(directed = c(FALSE, TRUE), counts = c(FALSE, TRUE))
network_of_kind <- function(kind) {
  withr::with_seed(5, {
    net <- planted_network(rep(1:2, each = 5), matrix(0.6, 2, 2) - diag(0.5, 2), kind$directed, kind$counts)
    without_pairs(net, rbind(c(1, 7), c(2, 3), c(9, 10)))
  })
}
model_of_kind <- function(kind) utils::modifyList(model, list(gamma = 2, alpha = 0.7, counts = kind$counts, a = 1.2))

test_that("the bound is that of plain R, pair by pair, and no lap lowers it", {
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    for (k in some_of(1:4, by = 4, from = row %% 4 + 1)) {
      share <- withr::with_seed(k, matrix(rgamma(10 * k, 0.3), 10))
      fit <- engine_network_laps(net, model, share, 3000, NULL)
      twin <- twin_general_bound(net, model, fit)
      expect_equal(sum(fit$terms), sum(twin), tolerance = 1e-8, info = paste(row, k))
      expect_equal(fit$terms[c("nodes", "top_level")], twin[c("nodes", "top_level")], tolerance = 1e-5)
      expect_true(all(diff(fit$bound) >= -1e-9 * abs(fit$bound[-1])), info = paste(row, k))
    }
  }
})

test_that("with one community it is the assortative model", {
  for (net in list(path, both_ways)) {
    one <- matrix(1, 3, 1)
    expect_equal(
      bound_of(net, model, one), bound_of(net, utils::modifyList(model, list(assortative = TRUE)), one),
      tolerance = 1e-10
    )
  }
  expect_equal(bound_of(path, model, matrix(1, 3, 1)), -4.7083057, tolerance = 1e-8)
})

# log p(y) by draws of the infinite model's memberships and blocks, and its standard error.
evidence_by_draws <- function(net, model, draws, depth = 12) {
  pairs <- all_pairs(net)
  p <- replicate(draws, {
    u <- c(rbeta(depth - 1, 1, model$gamma), 1)
    beta <- u * c(1, cumprod(1 - u)[-depth])
    weight <- matrix(rgamma(net$n * depth, rep(model$alpha * beta, each = net$n)), net$n)
    weight <- weight / rowSums(weight)
    phi <- matrix(rbeta(depth^2, model$a, model$b), depth)
    if (!net$directed) phi[lower.tri(phi)] <- t(phi)[lower.tri(phi)]
    link <- rowSums((weight[pairs$i, , drop = FALSE] %*% phi) * weight[pairs$j, , drop = FALSE])
    prod(ifelse(pairs$y > 0, link, 1 - link))
  })
  c(log(mean(p)), sd(p) / mean(p) / sqrt(draws))
}

test_that("bounds are below the evidence, which draws confirm", {
  exact <- list(-2.0747763, -3.1743581)
  nets <- list(path, both_ways)
  for (i in 1:2) {
    drawn <- withr::with_seed(1, evidence_by_draws(nets[[i]], model, 3000))
    expect_lt(abs(drawn[1] - exact[[i]]), 5 * drawn[2])
    for (k in 1:3) {
      share <- withr::with_seed(k, matrix(rgamma(3 * k, 1), 3))
      expect_lt(bound_of(nets[[i]], model, share), exact[[i]])
    }
  }
})

test_that("the order of nodes, and of the ends of undirected links, changes nothing", {
  net <- network_of_kind(kinds[1, ])
  share <- cbind(rep(c(0.8, 0.3), each = 5), rep(c(0.2, 0.7), each = 5))
  there <- bound_of(net, model, share, 3000)
  turned <- net
  turned[c("from", "to", "hidden_from", "hidden_to")] <- net[c("to", "from", "hidden_to", "hidden_from")]
  expect_equal(bound_of(turned, model, share, 3000), there, tolerance = 1e-8)
  order <- c(4, 9, 2, 7, 1, 10, 3, 8, 6, 5)
  moved <- net
  for (end in c("from", "to", "hidden_from", "hidden_to")) moved[[end]] <- as.integer(order[net[[end]]])
  expect_equal(bound_of(moved, model, share[order(order), ], 3000), there, tolerance = 1e-7)
  # All links of a directed network turned round: blocks turn with them.
  arrows <- network_of_kind(kinds[2, ])
  back <- arrows
  back[c("from", "to", "hidden_from", "hidden_to")] <- arrows[c("to", "from", "hidden_to", "hidden_from")]
  expect_equal(bound_of(back, model, share, 3000), bound_of(arrows, model, share, 3000), tolerance = 1e-7)
})

long_test("groups that avoid each other within are found from one community, directed and not, links and counts", {
  group <- rep(1:3, each = 14)
  rate <- rbind(c(0.05, 0.6, 0.1), c(0.6, 0.05, 0.5), c(0.1, 0.5, 0.6))
  for (row in some_of(seq_len(nrow(kinds)), by = 4)) {
    p <- (if (kinds$directed[row]) replace(rate, 2, 0.1) else rate) * if (kinds$counts[row]) 3 else 1
    net <- withr::with_seed(row, planted_network(group, p, kinds$directed[row], kinds$counts[row]))
    edges <- data.frame(from = net$from, to = net$to, weight = net$value)
    fit <- suppressWarnings(bnp_network(
      edges, obs_links(assortative = FALSE), nodes = 42, directed = kinds$directed[row],
      control = bnp_control(seed = 1, verbose = FALSE)
    ))
    expect_identical(n_clusters(fit), 3L)
    expect_gt(adjusted_rand_index(fitted(fit), group), 0.95)
    drawn <- coef(fit)$block
    number <- vapply(1:3, function(g) as.integer(names(which.max(table(fitted(fit)[group == g])))), 1L)
    if (!kinds$counts[row]) expect_lt(max(abs(drawn[number, number] - p)), 0.2)
    bound <- fit$trace$elbo
    expect_true(all(diff(bound) >= -1e-9 * abs(bound[-1])))
  }
})

long_test("nodes that are members of two groups are told from the others", {
  weight <- rbind(diag(2)[rep(1:2, each = 20), ], matrix(0.5, 10, 2))
  drawn <- withr::with_seed(3, {
    at <- t(utils::combn(50, 2))
    s <- apply(weight[at[, 1], ], 1, function(p) sample.int(2, 1, prob = p))
    r <- apply(weight[at[, 2], ], 1, function(p) sample.int(2, 1, prob = p))
    at[runif(nrow(at)) < rbind(c(0.02, 0.7), c(0.7, 0.02))[cbind(s, r)], ]
  })
  fit <- suppressWarnings(bnp_network(
    as.data.frame(drawn), obs_links(assortative = FALSE), nodes = 50, control = bnp_control(seed = 1, verbose = FALSE)
  ))
  expect_identical(n_clusters(fit), 2L)
  both <- apply(memberships(fit), 1L, min)
  expect_gt(mean(both[41:50]), 0.25)
  expect_lt(mean(both[1:40]), 0.1)
})
