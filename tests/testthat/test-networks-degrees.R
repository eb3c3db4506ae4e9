# Degree-corrected blockmodels: the log joint against plain R, quadrature and enumeration, moves, and what is read.

quiet <- function(...) bnp_control(seed = 1, verbose = FALSE, ...)
corrected <- list(counts = TRUE, a = 1.3, b = 0.7, gamma = 1.5, degree = TRUE)
joint_of <- function(net, z, model = corrected) engine_network_joint(net, model, as.integer(z))$log_joint
evidence_of <- function(net, z, model = corrected) {
  size <- tabulate(z)
  joint_of(net, z, model) - length(size) * log(model$gamma) - sum(lgamma(size)) - lgamma(model$gamma) +
    lgamma(model$gamma + net$n)
}

# Networks of 9 nodes with everything that can be there.
kinds <- expand.grid(counts = c(FALSE, TRUE), hidden = c(FALSE, TRUE), loops = c(FALSE, TRUE))
network_of_kind <- function(kind, labels = rep(1:3, length.out = 9)) {
  withr::with_seed(4, {
    net <- planted_network(labels, matrix(0.2, 3, 3) + diag(0.5, 3), counts = kind$counts)
    if (kind$hidden) net <- without_pairs(net, rbind(c(1, 5), c(2, 7), c(3, 4), c(1, 4)))
    if (kind$loops) net$loops <- as.double(rpois(length(labels), 0.5))
    net
  })
}
some_labels <- list(rep(1, 9), 1:9, c(1, 2, 2, 3, 1, 1, 3, 2, 2))

# Nodes 1 and 2 in a cluster, 3 in another, links of nodes with themselves.
three <- c(small_network(3, c(1, 1), c(2, 3), c(2, 1)), list(loops = c(1, 0, 1)))

test_that("three nodes have the evidence of quadrature", {
  expect_equal(evidence_of(three, c(1, 1, 2), utils::modifyList(corrected, list(gamma = 1))), -7.9032844,
               tolerance = 1e-8)
  # Activities 2u, 2(1 - u) and 1; rates of the three blocks by quadrature each.
  exact <- function(net, seen) {
    of_rate <- function(n, s) {
      stats::integrate(function(x) x^s * exp(-x * n) * stats::dgamma(x, 1.3, 0.7), 0, Inf, rel.tol = 1e-10)$value
    }
    y <- net$value
    of_activity <- Vectorize(function(u) {
      t <- c(2 * u, 2 * (1 - u), 1)
      within <- seen * t[1] * t[2] + t[1]^2 / 2 + t[2]^2 / 2
      base <- (if (seen) (t[1] * t[2])^2 / 2 else 1) * (t[1]^2 / 2) * t[1] * t[3] * (t[3]^2 / 2)
      base * of_rate(within, 1 + 2 * seen) * of_rate(t[1] * t[3] + t[2] * t[3], 1) * of_rate(0.5, 1)
    })
    log(stats::integrate(of_activity, 0, 1, rel.tol = 1e-8)$value)
  }
  expect_equal(evidence_of(three, c(1, 1, 2)), exact(three, 1), tolerance = 1e-7)
  hidden <- without_pairs(three, cbind(1, 2))
  expect_equal(evidence_of(hidden, c(1, 1, 2)), twin_corrected_evidence(hidden, c(1, 1, 2), corrected),
               tolerance = 1e-10)
  gap <- exact(hidden, 0) - evidence_of(hidden, c(1, 1, 2))
  expect_gt(gap, 0)
  expect_lt(gap, 0.2)
  two <- triangles()
  model <- list(counts = TRUE, a = 1, b = 1, gamma = 1, degree = TRUE)
  expect_equal(evidence_of(two, c(1, 1, 1, 2, 2, 2), model), -17.140316, tolerance = 1e-7)
})

test_that("the log joint of labels is that of plain R, for every kind of network", {
  for (row in some_of(seq_len(nrow(kinds)), by = 3)) {
    net <- network_of_kind(kinds[row, ])
    for (z in some_labels) {
      expect_equal(joint_of(net, z), twin_corrected_joint(net, z, corrected), tolerance = 1e-10, info = row)
    }
  }
})

test_that("tables kept through moves are those made anew, and gains are what they say", {
  for (row in some_of(seq_len(nrow(kinds)), by = 3)) {
    expect_kept_tables(network_of_kind(kinds[row, ]), corrected, row, 1e-12)
  }
})

test_that("a sweep ends where no node would rather be elsewhere", {
  for (row in c(1, 8)) {
    net <- network_of_kind(kinds[row, ])
    end <- engine_network_changes(net, corrected, rep(1:3, 3), rep("sweep", 10), 1)[[10]]
    for (i in seq_len(net$n)) {
      for (to in seq_len(max(end$labels) + 1L)) {
        z <- replace(end$labels, i, to)
        expect_lte(twin_corrected_joint(net, z, corrected), end$log_joint + 1e-8)
      }
    }
  }
})

test_that("the best partition of few nodes is found, and the bound is below the evidence", {
  control <- network_control(max_laps = 50)
  for (row in some_of(seq_len(nrow(kinds)), by = 5)) {
    net <- network_of_kind(kinds[row, ], c(1, 1, 2, 2, 3, 3, 3))
    all <- apply(all_partitions(7), 1L, function(z) twin_corrected_joint(net, z, corrected))
    fit <- engine_network(net, corrected, control, rep(1L, 7))
    expect_equal(fit$log_joint, max(all), tolerance = 1e-9, info = row)
    expect_lte(sum(fit$terms), log_sum(all) + 1e-9)
    size <- tabulate(fit$labels)
    later <- rev(cumsum(rev(size))) - size
    sticks <- sum(lbeta(1 + size, corrected$gamma + later) - lbeta(1, corrected$gamma))
    expect_equal(sum(fit$terms), twin_corrected_evidence(net, fit$labels, corrected) + sticks, tolerance = 1e-10)
  }
})

test_that("hidden pairs are neither links nor none", {
  # A node all of whose pairs are hidden is as active as the average, and changes little for the others.
  set.seed(1)
  net <- planted_network(rep(1:2, each = 15), matrix(0.05, 2, 2) + diag(0.5, 2))
  x <- matrix(0, 30, 30)
  x[cbind(net$from, net$to)] <- x[cbind(net$to, net$from)] <- 1
  larger <- rbind(cbind(x, NA), NA)
  fit <- bnp_network(x, obs_links(degree = TRUE), prior_dp(), quiet())
  with_unknown <- bnp_network(larger, obs_links(degree = TRUE), prior_dp(), quiet(), directed = FALSE)
  expect_equal(adjusted_rand_index(fitted(fit), fitted(with_unknown)[1:30]), 1)
  expect_gt(coef(with_unknown)$degree[31], 0.6)
  expect_lt(coef(with_unknown)$degree[31], 1.6)
  pairs <- t(utils::combn(30, 2))
  expect_lt(mean(abs(predict(fit, pairs) - predict(with_unknown, pairs))), 0.01)
})

test_that("degrees do not make communities", {
  # One group with very uneven degrees, and two groups of the same.
  draw <- function(group, rate) {
    withr::with_seed(2, {
      t <- rgamma(length(group), 0.7)
      mean <- outer(t, t) * rate[group, group]
      y <- matrix(rpois(length(group)^2, mean), length(group))
      y[lower.tri(y, TRUE)] <- 0
      y + t(y)
    })
  }
  one <- draw(rep(1, 60), matrix(0.5))
  expect_equal(n_clusters(bnp_network(one, obs_links(degree = TRUE), prior_dp(), quiet())), 1)
  expect_gt(n_clusters(bnp_network(one, prior = prior_dp(), control = quiet())), 1)
  group <- rep(1:2, each = 40)
  two <- bnp_network(draw(group, rbind(c(0.6, 0.05), c(0.05, 0.6))), obs_links(degree = TRUE), prior_dp(), quiet())
  linked <- two$input$degree > 1
  expect_gt(adjusted_rand_index(fitted(two)[linked], group[linked]), 0.9)
})

test_that("the best answers that are known are found from one community", {
  skip_if_not_installed("igraph")
  found <- vapply(1:3, function(seed) {
    control <- bnp_control(seed = seed, verbose = FALSE)
    log_joint(bnp_network(karate(), obs_links(degree = TRUE), prior_dp(), control))
  }, 1)
  expect_gte(min(found), -233.0440)
})

group <- rep(1:3, each = 12)
net <- withr::with_seed(1, planted_network(group, matrix(0.05, 3, 3) + diag(0.6, 3)))
links <- data.frame(from = net$from, to = net$to)
many <- withr::with_seed(1, planted_network(group, matrix(0.1, 3, 3) + diag(1.5, 3), counts = TRUE))
counted <- data.frame(from = many$from, to = many$to, weight = many$value)
with_loops <- rbind(counted, data.frame(from = c(1, 1, 20), to = c(1, 1, 20), weight = c(2, 1, 4)))
fit_of <- function(x, ...) bnp_network(x, obs_links(degree = TRUE), prior_dp(), nodes = 36, control = quiet(), ...)
fits <- list(links = fit_of(links), counts = fit_of(counted))

test_that("every verb answers for a network with degrees", {
  # What node 1 has with itself is listed twice, and adds up.
  fits$loops <- expect_no_message(fit_of(with_loops), message = "itself")
  for (fit in fits) {
    expect_gt(adjusted_rand_index(fitted(fit), group), 0.9)
    expect_output(print(fit), "3 communities in use, 36 nodes")
    expect_output(print(fit), "degree-corrected")
    expect_equal(sum(elbo(fit, terms = TRUE)), elbo(fit), tolerance = 1e-10)
    expect_true("degrees" %in% names(elbo(fit, terms = TRUE)))
    expect_equal(utils::tail(fit$trace$elbo, 1), elbo(fit))
    expect_equal(unname(rowSums(memberships(fit))), rep(1, 36))
    degree <- coef(fit)$degree
    expect_equal(as.vector(tapply(degree, fitted(fit), mean)), rep(1, 3), tolerance = 1e-12)
    expect_identical(names(degree), as.character(1:36))
    expect_identical(dim(coef(fit)$block), c(3L, 3L))
    expect_s3_class(tidy(fit), "tbl_df")
    expect_equal(augment(fit)$.prob, rep(1, 36))
    expect_identical(glance(fit)$nobs, 36L)
    counts <- fit$model$obs$links == "counts"
    again <- update(fit, x = if (fit$input$loops > 0) with_loops else if (counts) counted else links)
    expect_equal(log_joint(again), log_joint(fit))
  }
  expect_equal(fits$loops$input$loops, 7)
  expect_error(compare_fits(fits$links, bnp_network(links, prior = prior_dp(), nodes = 36, control = quiet())),
               class = "bnpvi_error_not_comparable")
})

test_that("expected links sum to the links there are, and simulated networks have as many", {
  everyone <- t(utils::combn(36, 2))
  fits$loops <- fit_of(with_loops)
  for (name in names(fits)) {
    fit <- fits[[name]]
    drawn <- simulate(fit, nsim = 200, seed = 1)
    apart <- vapply(drawn, function(x) sum(x$link[x$from != x$to]), 1)
    expected <- sum(predict(fit, everyone))
    expect_lt(abs(mean(apart) - expected), 5 * sd(apart) / sqrt(200) + 0.03 * expected, label = name)
    with_itself <- vapply(drawn, function(x) sum(x$link[x$from == x$to]), 1)
    if (name == "loops") expect_gt(mean(with_itself), 2) else expect_equal(max(with_itself), 0)
  }
  rate <- predict(fits$counts, everyone)
  expect_equal(sum(rate), sum(counted$weight), tolerance = 0.1)
  # Degrees that are expected are those that are there.
  expected <- tapply(c(rate, rate), c(everyone), sum)
  strength <- tapply(c(counted$weight, counted$weight), factor(c(counted$from, counted$to), 1:36), sum, default = 0)
  expect_gt(cor(expected, strength), 0.97)
  table <- data.frame(from = 1, to = 2, link = 0:200)
  p <- exp(predict(fits$counts, table, "log"))
  expect_equal(sum(p), 1, tolerance = 1e-8)
  expect_equal(sum(p * 0:200), predict(fits$counts, table[1, ]), tolerance = 1e-8)
})

test_that("rates are those of the posterior, within and between communities, of a node with itself", {
  fit <- fit_of(with_loops)
  y <- matrix(0, 36, 36)
  for (row in seq_len(nrow(with_loops))) {
    at <- as.matrix(with_loops[row, 1:2])
    y[at] <- y[at] + with_loops$weight[row]
  }
  theta <- 1 + rowSums(y) + colSums(y)
  z <- fitted(fit)
  rate <- unname(coef(fit)$block)
  loops <- 0
  for (a in 1:3) {
    own <- theta[z == a]
    n <- length(own)
    square <- n^2 * own * (own + 1) / (sum(own) * (sum(own) + 1))
    sum_within <- sum(predict(fit, t(utils::combn(which(z == a), 2))))
    expect_equal(sum_within, rate[a, a] * (n^2 - sum(square)) / 2, tolerance = 1e-10)
    loops <- loops + rate[a, a] * sum(square) / 2
    b <- a %% 3 + 1
    expect_equal(sum(predict(fit, expand.grid(which(z == a), which(z == b)))), rate[a, b] * n * sum(z == b))
  }
  drawn <- vapply(simulate(fit, nsim = 400, seed = 1), function(x) sum(x$link[x$from == x$to]), 1)
  expect_lt(abs(mean(drawn) - loops), 5 * sd(drawn) / 20)
  of_links <- fits$links
  state <- of_links$state
  obs <- of_links$model$obs
  expect_equal(unname(coef(of_links)$block), 1 - exp(-(obs$a + state$sum) / (obs$b + state$pairs)))
})

test_that("small planted groups are found from one community, whatever the seed", {
  # Halves at random of uneven groups seldom gain here.
  for (seed in some_of(c(3, 5:8), by = 5)) {
    net <- withr::with_seed(seed, planted_network(rep(1:3, each = 12), matrix(0.05, 3, 3) + diag(0.6, 3)))
    fit <- bnp_network(data.frame(net[c("from", "to")]), obs_links(degree = TRUE), prior_dp(), quiet(), nodes = 36)
    model <- list(counts = TRUE, degree = TRUE, a = 1, b = fit$model$obs$b, gamma = 1)
    expect_gte(log_joint(fit), joint_of(net, rep(1:3, each = 12), model) - 1e-9)
  }
})

test_that("held-out links are told from others", {
  split <- split_links(links, 0.2, seed = 3, nodes = 36)
  fit <- fit_of(links, missing = split)
  expect_equal(fit$input$hidden, nrow(split))
  expect_gt(link_auc(fit, split), 0.75)
  expect_equal(heldout_loglik(fit, split), mean(predict(fit, split, "log")))
})

test_that("choices that the model does not have are refused", {
  refused <- function(...) expect_error(bnp_network(links, prior = prior_dp(), ...), class = "bnpvi_error_argument")
  refused(obs_links(degree = TRUE), directed = TRUE)
  refused(obs_links(degree = TRUE), control = bnp_control("stochastic"))
  refused(obs_links(degree = TRUE, background = c(1, 1)))
  refused(obs_links(degree = TRUE, assortative = TRUE))
  expect_error(
    bnp_network(counted, obs_links(degree = TRUE, family = "bernoulli"), prior_dp()),
    class = "bnpvi_error_not_binary"
  )
  expect_error(predict(fits$links, cbind(1, 1)), "with itself", class = "bnpvi_error_loops")
})

test_that("no move leaves the number alone, restarts and threads give the same bits", {
  still <- suppressWarnings(bnp_network(
    links, obs_links(degree = TRUE), prior_dp(), nodes = 36, control = quiet(k_init = 4, moves = FALSE)
  ))
  expect_equal(n_clusters(still), 4)
  same <- c("prob", "elbo", "labels", "state")
  expect_identical(
    bnp_network(links, obs_links(degree = TRUE), prior_dp(), nodes = 36, control = quiet(threads = 2))[same],
    fits$links[same]
  )
  restarted <- bnp_network(links, obs_links(degree = TRUE), prior_dp(), nodes = 36, control = quiet(restarts = 2))
  expect_gte(log_joint(restarted), log_joint(fits$links))
  expect_equal(log_joint(fit_of(links, start = group)), log_joint(fits$links))
})
