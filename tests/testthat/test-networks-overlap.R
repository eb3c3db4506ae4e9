# Overlapping communities: both models against plain R, figures worked out independently, and Monte Carlo.

relational <- list(degree = FALSE, assortative = TRUE, gamma = 1, alpha = 0.5, counts = FALSE, a = 2, b = 1,
                   a_background = 1, b_background = 10)
path <- small_network(3, c(1, 2), c(2, 3))
rows <- rbind(c(0.7, 0.3), c(0.2, 0.8), c(0.5, 0.5))
one <- function(net) matrix(1, net$n, 1)
last <- function(x) x[length(x)]
laps <- function(net, model, share, n = 1000, sticks = NULL) {
  engine_network_laps(net, c(model, dense = 1e5), share, n, sticks)
}

test_that("the relational model has the figures of an independent implementation", {
  fit <- laps(path, relational, rows)
  expect_equal(last(fit$bound), -7.0657029, tolerance = 1e-8)
  expect_equal(
    unname(fit$terms[c("data", "nodes", "top_level", "entropy")]), c(-2.3025421, 20.949537, -25.713211, 0.00051316),
    tolerance = 1e-7
  )
  expect_equal(last(laps(path, relational, one(path))$bound), -4.7083057, tolerance = 1e-8)
  both_ways <- small_network(3, c(1, 2), c(2, 1), directed = TRUE, hidden = rbind(c(2, 3), c(3, 1)))
  found <- last(laps(both_ways, relational, rbind(c(0.9, 0.1), c(0.9, 0.1), c(0.1, 0.9)))$bound)
  expect_equal(found, -6.2151789, tolerance = 1e-6)
  # With sticks at û = (1/3, 1/2), ω̂ = 13 in place of the best ones.
  held <- laps(path, relational, rows, 1000, list(u = c(1 / 3, 1 / 2), omega = c(13, 13)))
  expect_equal(sum(held$terms), -8.7426590, tolerance = 1e-7)
  # The exact evidence, by enumeration.
  expect_lt(last(laps(path, relational, one(path))$bound), -2.6855967)
})

test_that("the gamma network has the figures of an independent implementation", {
  net <- small_network(4, c(1, 1, 2), c(2, 3, 3))
  model <- list(degree = TRUE, gamma = 1, alpha = 0.5, counts = FALSE, a = 1, b = 0.5, a_background = 1,
                b_background = 5)
  fit <- laps(net, model, one(net), 3000)
  expect_equal(last(fit$bound), -8.6378373, tolerance = 1e-8)
  expect_equal(fit$rates, c(1.9791688, 0.13897333), tolerance = 1e-6)
  # Two communities: at least the best of five starts of the reference.
  two <- vapply(1:5, function(seed) {
    last(laps(net, model, withr::with_seed(seed, matrix(rgamma(8, 1), 4)), 3000)$bound)
  }, 1)
  expect_gte(max(two), -10.664051)
  expect_lt(max(two), fit$bound[length(fit$bound)])
  net$value <- c(3, 1, 1)
  expect_equal(last(laps(net, replace(model, "counts", TRUE), one(net), 3000)$bound), -11.385757, tolerance = 1e-7)
})

test_that("both models have the figures of the karate club", {
  net <- karate_network()
  share <- 0.9 * diag(2)[factions(), ] + 0.05
  model <- list(degree = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1, b = 1, a_background = 1,
                b_background = 10)
  expect_equal(last(laps(net, model, share)$bound), -238.85426, tolerance = 1e-7)
  expect_gte(last(laps(net, model, one(net))$bound), -251.36547) # where the reference stopped
  density <- 78 / 561
  model[c("b", "b_background")] <- list(1 / (10 * density), 1 / density)
  expect_equal(last(laps(net, model, share)$bound), -240.31848, tolerance = 1e-7)
  expect_equal(last(laps(net, model, one(net))$bound), -252.68826, tolerance = 1e-7)
  model <- list(degree = FALSE, assortative = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1, b = 1,
                a_background = 1, b_background = 10)
  # The reference stopped at -283.895; restricted q may not be above the unrestricted -283.652 that it found.
  found <- last(laps(net, model, share)$bound)
  expect_gt(found, -283.9)
  expect_lt(found, -283.6)
})

kinds <- expand.grid(degree = c(FALSE, TRUE), directed = c(FALSE, TRUE), counts = c(FALSE, TRUE))
network_of_kind <- function(kind) {
  withr::with_seed(5, {
    net <- planted_network(rep(1:2, each = 5), matrix(0.15, 2, 2) + diag(0.6, 2), kind$directed, kind$counts)
    hidden <- rbind(c(1, 7), c(2, 3), c(9, 10))
    drop <- paste(net$from, net$to) %in% paste(hidden[, 1], hidden[, 2])
    net[c("from", "to", "value")] <- lapply(net[c("from", "to", "value")], function(x) x[!drop])
    net$hidden_from <- as.integer(hidden[, 1])
    net$hidden_to <- as.integer(hidden[, 2])
    net
  })
}
model_of_kind <- function(kind) {
  list(degree = kind$degree, assortative = TRUE, gamma = 2, alpha = 0.7, counts = kind$counts, a = 1.2, b = 0.8,
       a_background = 1, b_background = 4)
}

test_that("the bound is that of plain R, pair by pair, with hidden pairs, directed links and counts", {
  for (row in which(kinds$degree | !kinds$counts)) {
    net <- network_of_kind(kinds[row, ])
    model <- model_of_kind(kinds[row, ])
    share <- withr::with_seed(row, matrix(rgamma(30, 1), 10))
    fit <- laps(net, model, share, 3000)
    twin <- (if (model$degree) twin_gamma_bound else twin_relational_bound)(net, model, fit)
    expect_equal(sum(fit$terms), sum(twin), tolerance = 1e-8, info = row)
    expect_equal(fit$terms[names(twin)], twin, tolerance = 1e-5, info = row)
  }
})

test_that("no lap lowers the bound", {
  for (row in some_of(seq_len(nrow(kinds)), by = 3)) {
    net <- network_of_kind(kinds[row, ])
    for (k in 1:4) {
      share <- withr::with_seed(k, matrix(rgamma(10 * k, 0.3), 10))
      bound <- laps(net, model_of_kind(kinds[row, ]), share, 200)$bound
      expect_true(all(is.finite(bound)), info = row)
      expect_true(all(diff(bound) >= -1e-9 * abs(bound[-1])), info = paste(row, k))
    }
  }
})

# Sequential draws of the infinite model's memberships: log p(y) by Monte Carlo, and its standard error.
evidence_by_draws <- function(net, model, draws, depth = 40) {
  pairs <- all_pairs(net)
  log_p <- replicate(draws, {
    u <- rbeta(depth, 1, model$gamma)
    beta <- u * c(1, cumprod(1 - u)[-depth])
    t <- matrix(rgamma(net$n * depth, rep(model$alpha * beta, each = net$n), model$alpha), net$n)
    phi <- c(rgamma(depth, model$a, model$b), rgamma(1, model$a_background, model$b_background))
    rate <- drop((t[pairs$i, ] * t[pairs$j, ]) %*% phi[-(depth + 1)]) +
      phi[depth + 1] * rowSums(t)[pairs$i] * rowSums(t)[pairs$j]
    sum(if (model$counts) dpois(pairs$y, rate, log = TRUE) else ifelse(pairs$y > 0, log(-expm1(-rate)), -rate))
  })
  p <- exp(log_p)
  c(log(mean(p)), sd(p) / mean(p) / sqrt(draws))
}

test_that("the gamma network's bound is below the evidence by Monte Carlo", {
  net <- small_network(4, c(1, 1, 2), c(2, 3, 3))
  model <- list(degree = TRUE, gamma = 1, alpha = 0.5, counts = FALSE, a = 1, b = 0.5, a_background = 1,
                b_background = 5)
  evidence <- withr::with_seed(1, evidence_by_draws(net, model, 4000))
  expect_lt(abs(evidence[1] + 3.91), 0.4)
  for (k in 1:3) {
    share <- withr::with_seed(k, matrix(rgamma(4 * k, 1), 4))
    expect_lt(last(laps(net, model, share)$bound), evidence[1] + 4 * evidence[2])
  }
})

test_that("hidden pairs are as if they were never there, and a hidden link is not a pair without one", {
  for (degree in c(FALSE, TRUE)) {
    model <- model_of_kind(list(degree = degree, counts = FALSE))
    net <- network_of_kind(list(directed = FALSE, counts = FALSE))
    share <- withr::with_seed(1, matrix(rgamma(20, 1), 10))
    with <- last(laps(net, model, share)$bound)
    without <- net
    without[c("hidden_from", "hidden_to")] <- list(integer(), integer())
    expect_gt(abs(with - last(laps(without, model, share)$bound)), 0.01)
    turned <- net
    turned[c("from", "to", "hidden_from", "hidden_to")] <- net[c("to", "from", "hidden_to", "hidden_from")]
    expect_equal(last(laps(turned, model, share)$bound), with, tolerance = 1e-8)
  }
})

test_that("the order of nodes changes nothing", {
  for (degree in c(FALSE, TRUE)) {
    model <- model_of_kind(list(degree = degree, counts = FALSE))
    net <- network_of_kind(list(directed = FALSE, counts = FALSE))
    share <- cbind(rep(c(0.8, 0.3), each = 5), rep(c(0.2, 0.7), each = 5))
    order <- c(4, 9, 2, 7, 1, 10, 3, 8, 6, 5)
    moved <- net
    for (end in c("from", "to", "hidden_from", "hidden_to")) moved[[end]] <- as.integer(order[net[[end]]])
    expect_equal(
      last(laps(moved, model, share[order(order), ], 3000)$bound), last(laps(net, model, share, 3000)$bound),
      tolerance = 1e-7
    )
  }
})

test_that("moves raise the bound from one community, and threads change no bit", {
  net <- karate_network()
  for (degree in some_of(c(TRUE, FALSE), by = 2)) {
    model <- list(degree = degree, assortative = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1,
                  b = if (degree) 0.72 else 1, a_background = 1, b_background = if (degree) 7.2 else 10, dense = 1e5)
    fits <- lapply(c(1, 3), function(threads) {
      engine_network(net, model, network_control(threads = threads), one(net))
    })
    trace <- fits[[1]]$trace
    expect_true(all(diff(trace$elbo) >= -1e-9 * abs(trace$elbo[1])))
    expect_gte(sum(fits[[1]]$terms), last(laps(net, model, one(net))$bound) - 1e-4)
    same <- c("prob", "terms", "params", "u")
    expect_identical(fits[[1]][same], fits[[2]][same])
    twin <- if (degree) twin_gamma_bound else twin_relational_bound
    expect_equal(sum(fits[[1]]$terms), sum(twin(net, model, fits[[1]])), tolerance = 1e-4)
    if (degree) expect_gt(adjusted_rand_index(max.col(fits[[1]]$prob), factions()), 0.8)
  }
})

test_that("fixed numbers stay as they are", {
  net <- karate_network()
  control <- do.call(network_control, c(no_network_moves, max_laps = 50))
  share <- withr::with_seed(1, matrix(rgamma(34 * 5, 1), 34))
  for (degree in c(FALSE, TRUE)) {
    model <- list(degree = degree, assortative = TRUE, gamma = 10, alpha = 0.5, counts = FALSE, a = 1, b = 1,
                  a_background = 1, b_background = 10, dense = 1e5)
    expect_equal(engine_network(net, model, control, share)$k, 5)
  }
  plain <- list(counts = FALSE, a = 1, b = 1, gamma = 1)
  blocks <- engine_network(net, plain, control, rep(1:4, length.out = 34))
  expect_equal(blocks$k, 4)
})

test_that("a node's memberships at its pairs without a link are at least as good as visits alone make them", {
  value <- function(rho, n0, g, e, p) {
    sum(n0 * (g * rho - ifelse(rho > 0, rho * log(rho), 0)) + lgamma(e + n0 * rho + p))
  }
  visit <- function(rho, n0, g, e, p) {
    log_rho <- digamma(e + n0 * rho + p) + g
    exp(log_rho - max(log_rho)) / sum(exp(log_rho - max(log_rho)))
  }
  higher <- 0
  withr::with_seed(1, for (i in 1:300) {
    k <- sample(2:6, 1)
    n0 <- exp(runif(1, -2, 9))
    g <- -rexp(k) / sample(c(1, 100), 1)
    e <- rexp(k) * (runif(k) < 0.6) * sample(c(1, 30), 1)
    p <- rexp(k, 10) + 1e-3
    rho <- rexp(k)^4
    rho <- rho / sum(rho)
    by_visits <- rho
    for (lap in 1:3) by_visits <- visit(by_visits, n0, g, e, p)
    found <- engine_network_profile(n0, g, e, p, rho)
    expect_equal(sum(found), 1, tolerance = 1e-12)
    best <- value(by_visits, n0, g, e, p)
    expect_gte(value(found, n0, g, e, p), best - 1e-9 * abs(best))
    higher <- higher + (value(found, n0, g, e, p) > best + 1e-3)
  })
  expect_gt(higher, 30) # the approximate fixed point is worth its time
  expect_identical(engine_network_profile(5, 1, 1, 1, 0.3), 1)
})

test_that("no more ends are expected than links have, however unlikely it is that the ends of a link differ", {
  for (seed in some_of(1:140, by = 23)) {
    prior <- withr::with_seed(seed, as.list(10^stats::setNames(
      sample(c(-8, -4, -1, 0, 1, 4, 8), 6, TRUE), c("gamma", "alpha", "a", "b", "a_background", "b_background")
    )))
    x <- withr::with_seed(seed, planted_network(rep(1:2, each = 5), matrix(1e3, 2, 2), TRUE, counts = TRUE))
    share <- withr::with_seed(seed, matrix(rgamma(60, 0.05) + 1e-12, 10))
    model <- c(prior, list(counts = TRUE, degree = FALSE, assortative = TRUE, dense = 1e5))
    fit <- engine_network_laps(x, model, share, 10, NULL)
    expect_lte(sum(fit$ends), 2 * length(x$from) * (1 + 1e-9))
  }
})

long_test("laps after the search try no moves: many of them take no time", {
  net <- withr::with_seed(2, planted_network(rep(1:3, each = 10), matrix(0.08, 3, 3) + diag(0.6, 3)))
  links <- data.frame(net[c("from", "to")])
  seconds <- function(tol) {
    control <- bnp_control(seed = 1, verbose = FALSE, max_laps = 800, tol = tol)
    system.time(fit <- bnp_network(links, obs_links(degree = TRUE), prior_hdp(), control, nodes = 30))[["user.self"]]
  }
  expect_lt(seconds(1e-9), 3 * seconds(1e-6) + 0.5)
})
