# The gamma network with parts of few nodes in every community, and changes of single communities.

kinds <- expand.grid(directed = c(FALSE, TRUE), counts = c(FALSE, TRUE), hidden = c(FALSE, TRUE))
group <- rep(1:5, each = 5)
network_of_kind <- function(kind) {
  withr::with_seed(5, {
    net <- planted_network(group, matrix(0.08, 5, 5) + diag(0.7, 5), kind$directed, kind$counts)
    if (!kind$hidden) return(net)
    hidden <- rbind(c(1, 7), c(2, 3), c(9, 10), c(4, 22), c(12, 23), c(13, 14))
    drop <- paste(net$from, net$to) %in% paste(hidden[, 1], hidden[, 2])
    net[c("from", "to", "value")] <- lapply(net[c("from", "to", "value")], function(x) x[!drop])
    net$hidden_from <- as.integer(hidden[, 1])
    net$hidden_to <- as.integer(hidden[, 2])
    net
  })
}
# A small alpha: E log t of nodes without a link in a community is below what links take notice of.
model_of_kind <- function(kind, dense = 0, alpha = 0.03) {
  list(degree = TRUE, gamma = 2, alpha = alpha, counts = kind$counts, a = 1.2, b = 0.8, a_background = 1,
       b_background = 4, dense = dense)
}
one_hot <- function(labels) diag(max(labels))[labels, ]
# Nodes of the first two communities belong to both.
mixed <- function() {
  share <- one_hot(group)
  share[1:10, 1:2] <- 0.5
  share
}

test_that("the bound with few parts is that of plain R, pair by pair", {
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    fit <- engine_network_laps(net, model, mixed(), 40, NULL)
    # Nodes without a part have the same q.
    expect_gt(max(table(fit$params$shape[, 5])), 15)
    twin <- twin_gamma_bound(net, model, fit)
    expect_equal(fit$terms[names(twin)], twin, tolerance = 1e-9, info = row)
  }
})

test_that("laps with few parts raise the bound", {
  for (row in seq_len(nrow(kinds))) {
    bound <- engine_network_laps(network_of_kind(kinds[row, ]), model_of_kind(kinds[row, ]), mixed(), 100, NULL)$bound
    # A part that goes costs what its rate was better than the others'.
    expect_true(all(diff(bound) >= -1e-6 * abs(bound[-1])), info = row)
    expect_true(all(diff(bound)[10:100] >= -1e-9 * abs(bound[1])), info = row)
  }
})

test_that("few parts cost next to nothing of the bound", {
  for (row in seq_len(nrow(kinds))) {
    net <- network_of_kind(kinds[row, ])
    few <- engine_network_laps(net, model_of_kind(kinds[row, ]), mixed(), 300, NULL)
    all <- engine_network_laps(net, model_of_kind(kinds[row, ], dense = 1e5), mixed(), 300, NULL)
    expect_equal(sum(few$terms), sum(all$terms), tolerance = 2e-3, info = row)
  }
})

changes <- list(
  list(kind = "split", a = 1, leaves = 1:5, share = 0.8), list(kind = "split", a = 4, leaves = c(16L, 18L), share = 1),
  list(kind = "divide", a = 4, b = 2, leaves = c(6:8, 18:20), share = 0.8), list(kind = "merge", a = 1, b = 2),
  list(kind = "merge", a = 5, b = 3), list(kind = "merge", a = 2, b = 5),
  list(kind = "drop", a = 2), list(kind = "drop", a = 3)
)
with_least <- function(changes, least) lapply(changes, function(x) c(x, least = least))

test_that("a change of few nodes gains what it says, and sums that it kept are those made anew", {
  for (row in some_of(seq_len(nrow(kinds)), by = 5)) {
    for (dense in c(0, 1e5)) {
      net <- network_of_kind(kinds[row, ])
      model <- model_of_kind(kinds[row, ], dense)
      made <- engine_network_local(net, model, mixed(), 5, with_least(changes, -1e6), TRUE)
      k <- 5
      for (i in seq_along(made)) {
        x <- made[[i]]
        info <- paste(row, dense, i)
        k <- k + switch(changes[[i]]$kind, split = 1, divide = 0, -1)
        expect_equal(x$k, k, info = info)
        expect_equal(x$said, x$after - x$before, tolerance = 1e-8, info = info)
        expect_equal(x$after, x$anew, tolerance = 1e-10, info = info)
        # Where a drop leaves a node no part at all the twin, unlike the engine, sees what it has below 1e-12.
        if (i < 7) expect_equal(sum(x$terms), sum(twin_gamma_bound(net, model, x)), tolerance = 1e-8, info = info)
        if (i > 1) expect_equal(x$before, made[[i - 1]]$anew, tolerance = 1e-12, info = info)
      }
    }
  }
})

test_that("a change that does not gain leaves no trace", {
  for (row in some_of(seq_len(nrow(kinds)), by = 5)) {
    net <- network_of_kind(kinds[row, ])
    same <- c("k", "rates", "u", "omega", "params", "terms", "ends")
    for (change in changes) {
      # The first only makes all sums anew.
      twice <- with_least(list(change, change), 1e6)
      two <- engine_network_local(net, model_of_kind(kinds[row, ]), mixed(), 5, twice, TRUE)
      expect_equal(vapply(two, function(x) x$said, 1), c(0, 0))
      expect_identical(two[[2]][same], two[[1]][same], info = paste(row, change$kind))
      expect_identical(two[[1]]$after, two[[1]]$before)
    }
  }
})

test_that("what is planted is gained: two groups in one are split, one in two is joined, one too many goes", {
  thirds <- rep(1:3, each = 12)
  net <- withr::with_seed(1, planted_network(thirds, matrix(0.03, 3, 3) + diag(0.7, 3)))
  model <- model_of_kind(kinds[1, ], alpha = 0.3)
  gain <- function(share, change) {
    engine_network_local(net, model, share, 20, with_least(list(change), 1e-6), TRUE)[[1]]$said
  }
  expect_gt(gain(one_hot(pmax(thirds - 1, 1)), list(kind = "split", a = 1, leaves = 1:12, share = 0.8)), 1)
  halves <- one_hot(replace(thirds, 7:12, 4))
  expect_gt(gain(halves, list(kind = "merge", a = 1, b = 4)), 1)
  expect_gt(gain(halves, list(kind = "merge", a = 4, b = 1)), 1)
  expect_equal(gain(one_hot(thirds), list(kind = "merge", a = 1, b = 2)), 0)
  expect_equal(gain(one_hot(thirds), list(kind = "drop", a = 3)), 0)
  crossed <- one_hot(c(rep(1:2, each = 6), rep(1:2, each = 6), rep(3, 12)))
  expect_gt(gain(crossed, list(kind = "divide", a = 1, b = 2, leaves = 13:24, share = 0.8)), 10)
  expect_gt(gain(crossed, list(kind = "divide", a = 2, b = 1, leaves = 1:12, share = 1)), 10)
  useless <- cbind(one_hot(thirds), 0)
  useless[c(1, 13), 4] <- 1
  expect_gt(gain(useless, list(kind = "drop", a = 4)), 1)
})

test_that("what a change that was undone left behind is not seen by the next", {
  same <- c("said", "k", "rates", "u", "omega", "params", "terms", "ends")
  for (row in some_of(seq_len(nrow(kinds)), by = 5)) {
    net <- network_of_kind(kinds[row, ])
    run <- function(...) {
      made <- engine_network_local(net, model_of_kind(kinds[row, ]), mixed(), 5, list(...), FALSE)
      made[[length(made)]][same]
    }
    for (refused in changes) {
      for (made in some_of(changes[c(2, 3, 5, 8)], by = 2)) {
        expect_identical(run(c(refused, least = 1e6), c(made, least = -1e6)), run(c(made, least = -1e6)))
      }
    }
  }
})

test_that("a change is made if it gains more than asked for, and not if it gains less, by however little", {
  for (row in 1:2) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    said <- function(change, least) {
      engine_network_local(net, model, mixed(), 5, with_least(list(change), least), TRUE)[[1]]$said
    }
    for (change in changes) {
      gain <- said(change, -1e6)
      expect_equal(said(change, gain - 1e-6), gain)
      expect_equal(said(change, gain + 1e-6), 0)
    }
  }
})

# Search by rounds of local moves, which large networks get.
blocks <- rep(1:12, each = 12)
planted <- withr::with_seed(3, planted_network(blocks, matrix(0.01, 12, 12) + diag(0.8, 12)))
searched <- function(...) {
  model <- list(degree = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1, b = 1, a_background = 1,
                b_background = 20, dense = 0)
  share <- matrix(1, planted$n, 1)
  control <- do.call(network_control, utils::modifyList(list(large = 0, disturbances = 0L), list(...)))
  list(fit = engine_network(planted, model, control, share), model = model)
}

test_that("rounds of local moves find planted groups, raise the bound all the way, and are the same on any threads", {
  found <- searched()
  fit <- found$fit
  expect_equal(fit$k, 12)
  expect_equal(adjusted_rand_index(max.col(fit$prob), blocks), 1)
  trace <- fit$trace
  expect_true(all(diff(trace$elbo) >= -1e-9 * abs(trace$elbo[1])))
  expect_gt(sum(trace$births_tried), 12)
  expect_gt(sum(trace$merges_tried), 12)
  expect_gt(sum(trace$deletes_tried), 5)
  expect_equal(sum(fit$terms), sum(twin_gamma_bound(planted, found$model, fit)), tolerance = 1e-6)
  same <- c("prob", "terms", "params", "u", "omega")
  expect_identical(searched(threads = 3)$fit[same], fit[same])
  expect_false(identical(searched(seed = 2)$fit$terms, fit$terms))
  # The same groups as by comparing whole states, which small networks are searched by.
  if (long_tests()) expect_gte(sum(fit$terms), sum(searched(large = 1e9)$fit$terms) - 10)
})

test_that("rounds of local moves make none of the kinds that are switched off", {
  for (off in c("birth", "merge", "delete")) {
    trace <- do.call(searched, stats::setNames(list(FALSE), off))$fit$trace
    expect_equal(sum(trace[[paste0(off, "s_tried")]]), 0)
  }
})

long_test("the search of a large network ends where the bound of another model is out of reach", {
  free <- searched()$fit
  end <- sum(free$terms)
  same <- c("prob", "terms", "params", "u", "omega")
  # Disturbances might still bring what is missing.
  expect_identical(searched(beat = end + 1)$fit[same], free[same])
  expect_identical(searched(beat = -1e300)$fit[same], free[same])
  gained <- end - free$trace$elbo[1]
  ended <- searched(beat = end + 40 * gained)$fit
  expect_lt(sum(ended$trace$births_tried), sum(free$trace$births_tried))
  expect_lte(sum(ended$terms), end)
  expect_true(all(diff(ended$trace$elbo) >= -1e-9 * abs(end)))
  small <- c("terms", "prob")
  expect_identical(searched(beat = 1e9, large = 1e9)$fit[small], searched(large = 1e9)$fit[small])
})

test_that("of two models the second is told the bound of the first", {
  told <- NULL
  replace_in_package("engine_fit", function(data, model, control, ...) {
    told <<- c(told, control$beat)
    package_engine_fit(data, model, control, ...)
  }, environment())
  fit <- suppressWarnings(bnp_network(1 - diag(5), control = bnp_control(seed = 1, max_laps = 3)))
  expect_identical(told, c(-Inf, fit$compared$elbo[1]))
})

long_test("groups that first splits mix, where there is much noise, come from divisions with no laps in between", {
  # Sixty groups of twenty nodes, half of all links at random.
  made <- withr::with_seed(3, {
    group <- rep(1:60, each = 20)
    inside <- do.call(rbind, lapply(1:60, function(g) t(utils::combn(which(group == g), 2))))
    inside <- inside[stats::runif(nrow(inside)) < 0.5, ]
    random <- matrix(sample.int(1200, 2 * nrow(inside), replace = TRUE), ncol = 2)
    random <- random[random[, 1] != random[, 2], ]
    ends <- unique(rbind(inside, cbind(pmin(random[, 1], random[, 2]), pmax(random[, 1], random[, 2]))))
    list(group = group, net = small_network(1200, ends[, 1], ends[, 2]))
  })
  density <- length(made$net$from) / choose(1200, 2)
  model <- list(degree = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1, b = 0.1 / density, a_background = 1,
                b_background = 1 / density, dense = 1e3)
  control <- network_control(max_laps = 100)
  fit <- engine_network(made$net, model, control, matrix(1, 1200, 1))
  expect_gte(fit$k, 58)
  expect_gt(adjusted_rand_index(max.col(fit$prob), made$group), 0.95)
  expect_gt(sum(fit$terms), -50500)
  trace <- fit$trace
  expect_true(all(diff(trace$elbo) >= -1e-9 * abs(trace$elbo[1])))
})
