test_that("messages, expected transitions, entropy, evidence and best states equal the sum over all states", {
  withr::local_seed(1)
  for (n in c(1, 2, 5, if (long_tests()) 8 else 6)) {
    for (k in 1:3) {
      for (roots in 1:2) {
        for (spread in c(0.5, 20)) {
          chain <- random_chain(n, k, spread)
          parent <- renumbered(random_parents(n, min(n, roots)), sample(n))
          want <- enumerate_trees(chain$start, chain$transition, chain$e, parent)
          for (careful in c(FALSE, TRUE)) {
            got <- tree_messages(chain$start, chain$transition, chain$e, parent, careful)
            expect_true(got$fast_is_exact)
            others <- setdiff(names(want), "entropy")
            expect_equal(got[others], want[others], tolerance = 1e-12)
            expect_lt(abs(got$entropy - want$entropy), 1e-12)
            expect_equal(got$log_evidence, want$log_z, tolerance = 1e-12)
          }
        }
      }
    }
  }
})

test_that("messages have the figures of an independent reference", {
  parent <- c(0, 1, 1, 2, 2, 3, 0, 7)
  transition <- rbind(c(0.7, 0.2, 0.1), c(0.1, 0.8, 0.1), c(0.3, 0.3, 0.4))
  e <- cbind(
    c(-1.25, 0.37, -1.67, 3.19, 0.66, -1.64, 0.97, 1.48), c(1.15, -0.61, 3.02, 0.78, -1.24, -4.43, 2.25, -0.09),
    c(-0.03, 1.89, 1.64, 1.19, 1.84, 1.56, 0.15, -3.98)
  )
  for (careful in c(FALSE, TRUE)) {
    got <- tree_messages(log(c(0.5, 0.3, 0.2)), log(transition), e, parent, careful)
    expect_equal(got$log_z, 8.057357609, tolerance = 1e-10)
    expect_equal(got$entropy, 4.710330852, tolerance = 1e-10)
    expect_equal(got$transition, rbind(
      c(0.9003403361, 0.0848116683, 0.1171917463), c(0.3377427407, 0.8833750884, 1.215068714),
      c(0.8164121113, 0.2277471442, 1.417310451)
    ), tolerance = 1e-9)
  }
})

test_that("a tree in which each node has one child is a chain", {
  withr::local_seed(2)
  chain <- random_chain(200, 4, 3)
  for (careful in c(FALSE, TRUE)) {
    want <- engine_messages(chain$start, chain$transition, chain$e, c(0L, 200L), careful)
    got <- tree_messages(chain$start, chain$transition, chain$e, 0:199, careful)
    for (what in c("resp", "start", "transition", "entropy")) expect_equal(got[[what]], want[[what]], tolerance = 1e-10)
    expect_equal(got$state, want$path)
  }
})

test_that("rows come parents first, subtrees together, children in order; what no root leads to is left out", {
  withr::local_seed(3)
  expect_equal(engine_tree_order(c(0L, 1L, 1L, 2L), 1L), list(order = c(1L, 2L, 4L, 3L), back = c(0L, 1L, 1L, 3L)))
  expect_equal(engine_tree_order(c(2L, 1L, 0L, 1L), 3L), list(order = 3L, back = 0L))
  for (i in 1:20) {
    n <- sample(60, 1)
    parent <- renumbered(random_parents(n, sample(min(n, 3), 1)), sample(n))
    got <- engine_tree_order(parent, which(parent == 0))
    expect_setequal(got$order, seq_len(n))
    above <- ifelse(got$back == 0, 0, got$order[pmax(seq_len(n) - got$back, 1)])
    expect_equal(above, parent[got$order])
    size <- rep(1, n)
    for (t in rev(seq_len(n))) if (got$back[t] > 0) size[t - got$back[t]] <- size[t - got$back[t]] + size[t]
    for (t in which(got$back > 0)) {
      p <- t - got$back[t]
      expect_lt(t + size[t] - 1, p + size[p])
    }
  }
})

test_that("logarithms take over when the data contradict the transitions", {
  log_transition <- log(matrix(c(1, 1e-200, 1e-200, 1), 2))
  e <- rbind(c(0, -1e5), c(-1e5, 0), c(0, -1e5), c(0, 0))
  fast <- tree_messages(log(c(0.5, 0.5)), log_transition, e, c(0, 1, 2, 2), FALSE)
  expect_false(fast$fast_is_exact)
  got <- tree_messages(log(c(0.5, 0.5)), log_transition, e, c(0, 1, 2, 2), TRUE)
  expect_equal(got$resp, cbind(c(1, 0, 1, 0), c(0, 1, 0, 1)))
  expect_equal(got$transition, matrix(c(0, 1, 1, 1), 2))
  expect_equal(got$state, c(1, 2, 1, 2))
  expect_equal(got$entropy, 0)
  expect_equal(got$log_z, log(0.5) - 400 * log(10), tolerance = 1e-12)
  expect_equal(fast$log_evidence, got$log_z)
  # Children that contradict each other, about a parent that may be in either state.
  e <- rbind(c(0, 0), c(0, -1e5), c(-1e5, 0))
  expect_false(tree_messages(log(c(0.5, 0.5)), log_transition, e, c(0, 1, 1), FALSE)$fast_is_exact)
  got <- tree_messages(log(c(0.5, 0.5)), log_transition, e, c(0, 1, 1), TRUE)
  expect_equal(got$resp, cbind(c(0.5, 1, 0), c(0.5, 0, 1)))
  expect_equal(got$entropy, log(2), tolerance = 1e-10)
})

test_that("no depth and no number of children underflows", {
  withr::local_seed(4)
  n <- 1e5
  chain <- random_chain(n, 3, 30)
  log_sum <- function(x) max(x) + log(sum(exp(x - max(x))))
  # A star in closed form: given the root's state its children are independent.
  child <- vapply(1:3, function(i) {
    terms <- chain$e[-1, ] + rep(chain$transition[i, ], each = n - 1)
    top <- do.call(pmax, as.data.frame(terms))
    sum(top + log(rowSums(exp(terms - top))))
  }, 1)
  want <- log_sum(chain$start + chain$e[1, ] + child)
  deep <- engine_messages(chain$start, chain$transition, chain$e, c(0L, as.integer(n)), FALSE)
  for (careful in c(FALSE, TRUE)) {
    star <- tree_messages(chain$start, chain$transition, chain$e, c(0, rep(1, n - 1)), careful)
    expect_equal(star$log_z, want, tolerance = 1e-12)
    expect_equal(sum(star$transition), n - 1)
    expect_equal(rowSums(star$resp), rep(1, n), tolerance = 1e-12)
    line <- tree_messages(chain$start, chain$transition, chain$e, 0:(n - 1), careful)
    expect_equal(line$resp, deep$resp, tolerance = 1e-10)
    expect_equal(line$entropy, deep$entropy, tolerance = 1e-9)
    expect_equal(line$state, deep$path)
  }
  # A root whose first children speak for one state and whose last ones, as loudly, for the other.
  e <- rbind(c(0, 0), cbind(rep(c(5, 0), each = 500), rep(c(0, 5), each = 500)))
  both <- tree_messages(log(c(0.5, 0.5)), log(matrix(c(0.9, 0.1, 0.1, 0.9), 2)), e, c(0, rep(1, 1000)), FALSE)
  expect_equal(both$resp[1, ], c(0.5, 0.5), tolerance = 1e-10)
})
