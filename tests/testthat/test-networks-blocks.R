# Stochastic blockmodels: the table of blocks, the log joint, moves and soft labels, against plain R and enumeration.

bernoulli <- list(counts = FALSE, a = 1, b = 1, gamma = 1)
poisson <- list(counts = TRUE, a = 1, b = 1, gamma = 1)
joint_of <- function(net, model, z) engine_network_joint(net, model, as.integer(z))$log_joint

# Networks with all that can be there: directed or not, counts or not, with hidden pairs.
kinds <- expand.grid(directed = c(FALSE, TRUE), counts = c(FALSE, TRUE), hidden = c(FALSE, TRUE))
network_of_kind <- function(kind, labels = rep(1:3, length.out = 9)) {
  withr::with_seed(3, {
    net <- planted_network(labels, matrix(0.2, 3, 3) + diag(0.5, 3), kind$directed, kind$counts)
    if (kind$hidden) {
      hidden <- rbind(c(1, 5), c(2, 9), c(3, 4))
      drop <- paste(net$from, net$to) %in% paste(hidden[, 1], hidden[, 2])
      net[c("from", "to", "value")] <- lapply(net[c("from", "to", "value")], function(x) x[!drop])
      net$hidden_from <- as.integer(hidden[, 1])
      net$hidden_to <- as.integer(hidden[, 2])
    }
    net
  })
}
model_of_kind <- function(kind) list(counts = kind$counts, a = 1.3, b = 0.7, gamma = 1.5)

test_that("two triangles have the log joint worked out by hand", {
  z <- c(1, 1, 1, 2, 2, 2)
  expect_equal(joint_of(triangles(), bernoulli, z), -12.465355, tolerance = 1e-7)
  expect_equal(joint_of(triangles(), poisson, z), -17.304963, tolerance = 1e-7)
  hard <- engine_network_soft(triangles(), bernoulli, diag(2)[z, ], 0)
  expect_equal(sum(hard$terms), -13.600335, tolerance = 1e-7)
  gain <- engine_network_joint(triangles(), bernoulli, as.integer(z))$merge_gain[1, 2]
  expect_equal(gain, -4.2696975 + lgamma(6) - 2 * lgamma(3), tolerance = 1e-7)
  expect_equal(log_evidence(triangles(), bernoulli), -10.816020, tolerance = 1e-7)
  expect_equal(log_evidence(triangles(), poisson), -14.213037, tolerance = 1e-7)
  # What the mixed-membership model has at alpha -> 0, summed over its seatings.
  path <- small_network(3, c(1, 2), c(2, 3))
  expect_equal(log_evidence(path, list(counts = FALSE, a = 2, b = 1, gamma = 1)), -2.0968766, tolerance = 1e-7)
})

test_that("the log joint of labels is that of plain R, for every kind of network", {
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    for (z in list(rep(1, 9), 1:9, c(1, 2, 2, 3, 1, 1, 3, 2, 2))) {
      expect_equal(joint_of(net, model, z), twin_joint(net, z, model), tolerance = 1e-10, info = row)
    }
  }
})

test_that("tables kept through moves are those made anew, and gains are what they say", {
  for (row in seq_len(nrow(kinds))) {
    expect_kept_tables(network_of_kind(kinds[row, ]), model_of_kind(kinds[row, ]), row, 1e-10)
  }
})

test_that("a sweep ends where no node would rather be elsewhere", {
  net <- network_of_kind(kinds[1, ], rep(1:3, each = 4))
  end <- engine_network_changes(net, bernoulli, rep(1:2, 6), rep("sweep", 10), 1)[[10]]
  for (i in seq_len(net$n)) {
    for (to in seq_len(max(end$labels) + 1L)) {
      z <- replace(end$labels, i, to)
      expect_lte(twin_joint(net, z, bernoulli), end$log_joint + 1e-8)
    }
  }
})

test_that("a node may begin a cluster of its own", {
  star <- small_network(12, rep(1, 11), 2:12)
  end <- engine_network_changes(star, bernoulli, rep(1L, 12), "sweep", 1)[[1]]
  expect_equal(end$k, 2)
  expect_identical(which(end$labels == end$labels[1]), 1L)
})

test_that("the best partition of few nodes is found, and is below the evidence", {
  control <- network_control(max_laps = 50, tol = 1e-10)
  group <- if (long_tests()) c(1, 1, 2, 2, 3, 3, 3) else c(1, 1, 2, 2, 3, 3)
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ], group)
    net[c("hidden_from", "hidden_to")] <- list(integer(), integer())
    model <- model_of_kind(kinds[row, ])
    all <- apply(all_partitions(length(group)), 1L, function(z) twin_joint(net, z, model))
    fit <- engine_network(net, model, control, rep(1L, length(group)))
    expect_equal(fit$log_joint, max(all), tolerance = 1e-9, info = row)
    expect_lte(sum(fit$terms), log_sum(all) + 1e-9)
  }
})

test_that("the bound of soft labels is that of plain R, rises, and is below the evidence", {
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    r <- withr::with_seed(row, matrix(rgamma(27, 1), 9))
    r <- r / rowSums(r)
    out <- engine_network_soft(net, model, r, 30)
    expect_equal(sum(out$terms), twin_soft_bound(net, r, model), tolerance = 1e-10, info = row)
    expect_true(all(diff(out$bound) >= -1e-9 * abs(out$bound[1])), info = row)
    expect_equal(out$bound[31], twin_soft_bound(net, out$prob, model), tolerance = 1e-10, info = row)
    joined <- cbind(out$prob[, 1] + out$prob[, 2], out$prob[, 3])
    expect_equal(out$merged, twin_soft_bound(net, joined, model), tolerance = 1e-10, info = row)
  }
  small <- triangles()
  bounds <- vapply(1:10, function(seed) {
    r <- withr::with_seed(seed, matrix(rgamma(18, 1), 6))
    utils::tail(engine_network_soft(small, bernoulli, r / rowSums(r), 200)$bound, 1)
  }, 1)
  expect_lte(max(bounds), log_evidence(small, bernoulli))
  expect_gte(max(bounds), -13.407998)
})

test_that("a lap of soft labels leaves every node at its best", {
  net <- network_of_kind(kinds[7, ])
  model <- model_of_kind(kinds[7, ])
  r <- withr::with_seed(1, matrix(rgamma(27, 1), 9))
  end <- engine_network_soft(net, model, r / rowSums(r), 400)$prob
  best <- twin_soft_bound(net, end, model)
  for (i in 1:9) {
    for (k in 1:3) {
      other <- end
      other[i, ] <- 0.999 * other[i, ] + 0.001 * (1:3 == k)
      expect_lte(twin_soft_bound(net, other, model), best + 1e-6)
    }
  }
})

test_that("other orders of nodes, and other directions of undirected pairs, change nothing", {
  net <- network_of_kind(kinds[5, ])
  z <- c(1, 2, 2, 3, 1, 1, 3, 2, 2)
  there <- joint_of(net, bernoulli, z)
  turned <- net
  turned[c("from", "to", "hidden_from", "hidden_to")] <- net[c("to", "from", "hidden_to", "hidden_from")]
  expect_equal(joint_of(turned, bernoulli, z), there, tolerance = 1e-12)
  order <- c(4, 9, 2, 7, 1, 3, 8, 6, 5)
  moved <- net
  moved[c("from", "to", "hidden_from", "hidden_to")] <-
    lapply(net[c("from", "to", "hidden_from", "hidden_to")], function(i) as.integer(order[i]))
  expect_equal(joint_of(moved, bernoulli, z[order(order)]), there, tolerance = 1e-12)
})

long_test("the karate club is partitioned better than by other packages, from one community", {
  net <- karate_network()
  found <- vapply(1:10, function(seed) {
    engine_network(net, bernoulli, network_control(max_laps = 100, seed = seed), rep(1L, 34))$log_joint
  }, 1)
  expect_gte(sum(found > -195.372), 9)
  first <- engine_network(net, bernoulli, network_control(max_laps = 100), rep(1L, 34))
  expect_equal(twin_joint(net, first$labels, bernoulli), found[1], tolerance = 1e-10)
})

test_that("no lap of the search lowers the log joint, and the labels are those of the largest", {
  # Overlapping noise, where splits that gain alone do not gain together.
  for (seed in some_of(1:8, by = 3)) {
    net <- withr::with_seed(seed, planted_network(rep(1:6, each = 8), matrix(0.15, 6, 6) + diag(0.35, 6)))
    fit <- engine_network(net, bernoulli, network_control(max_laps = 60, seed = seed), rep(1L, net$n))
    searched <- is.finite(fit$trace$log_joint)
    expect_identical(is.finite(fit$trace$elbo), !searched)
    expect_false(is.unsorted(!searched), info = seed)
    joint <- fit$trace$log_joint[searched]
    expect_true(all(diff(joint) >= -1e-9), info = seed)
    expect_true(all(diff(fit$trace$elbo[!searched]) >= -1e-9), info = seed)
    expect_equal(utils::tail(fit$trace$elbo, 1), sum(fit$terms), tolerance = 1e-12)
    expect_gte(fit$log_joint, max(joint) - 1e-9)
    expect_equal(fit$log_joint, joint_of(net, bernoulli, fit$labels), tolerance = 1e-12)
  }
})

test_that("splits are made where they gain on top of each other, not alone", {
  # Two clusters whose halves know a half of the other: the second split gains alone, but not always after the first.
  counts <- list(counts = TRUE, a = 1, b = 1, gamma = 1)
  z <- rep(1:2, each = 6)
  halves <- rep(1:4, each = 3)
  rate <- matrix(0.05, 4, 4)
  rate[1, 3] <- rate[3, 1] <- 1.6
  splits <- list(replace(z, halves == 2, 3L), replace(z, halves == 4, 3L))
  both <- replace(splits[[1]], splits[[2]] == 3, 4L)
  seen <- c(together = 0, once = 0)
  for (seed in 1:60) {
    net <- withr::with_seed(seed, planted_network(halves, rate, counts = TRUE))
    joint <- vapply(c(list(z), splits, list(both)), joint_of, 1, net = net, model = counts)
    if (joint[2] <= joint[1] || joint[3] <= joint[1]) next
    out <- engine_network_together(net, counts, z, splits)
    if (joint[4] > joint[2]) {
      seen["together"] <- seen["together"] + 1
      expect_equal(c(out$made, out$labels), c(2, both), info = seed)
    } else {
      seen["once"] <- seen["once"] + 1
      expect_equal(c(out$made, out$labels), c(1, splits[[1]]), info = seed)
    }
    expect_equal(out$log_joint, joint_of(net, counts, out$labels))
  }
  expect_true(all(seen > 3))
})
