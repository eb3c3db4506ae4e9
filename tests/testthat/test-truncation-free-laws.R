# Truncation-free learning against enumeration and plain sums.

bits <- rbind(c(1, 0, 1), c(1, 0, 0), c(0, 1, 1), c(0, 1, 1), c(1, 1, 1), c(0, 0, 0))
bernoulli <- list(family = "bernoulli", a = rep(0.1, 3), b = rep(0.3, 3))
log_p_of_bits <- function(rows) {
  s <- colSums(bits[rows, , drop = FALSE])
  sum(lbeta(0.1 + s, 0.3 + length(rows) - s) - lbeta(0.1, 0.3))
}
priors <- list(
  dp = list(prior = list(family = "dp", concentration = 1.3), discount = 0),
  py = list(prior = list(family = "py", concentration = 1.3, discount = 0.4), discount = 0.4),
  finite = list(prior = list(family = "dirichlet", k = 3L, concentration = 1.3), discount = -1.3 / 3)
)

# A Dirichlet process of Gaussians with d columns.
gaussians <- function(d, mean = 0, mean_strength = 0.01, df = d + 2, concentration = 1) {
  obs <- list(
    family = "gaussian_full", mean = rep(mean, d), mean_strength = mean_strength, df = df, scale = diag(d),
    centre = rep(0, d), unit = rep(1, d)
  )
  list(obs = obs, prior = list(family = "dp", concentration = concentration))
}
features_of <- function(x, model) engine_contract(engine_data(x), model, matrix(1, nrow(x), 1))$features

test_that("one batch of all rows draws from the exact posterior over partitions", {
  runs <- some_draws(4000)
  for (kind in names(priors)) {
    model <- list(obs = bernoulli, prior = priors[[kind]]$prior)
    exact <- exact_posterior(6, log_p_of_bits, 1.3, priors[[kind]]$discount)
    drawn <- vapply(seq_len(runs), function(seed) {
      t <- statistics_of(learn_rows(engine_data(bits), model, seed = seed, sweeps = 12L)$clusters)
      c(ncol(t), max(t[1L, ]))
    }, numeric(2))
    expect_exact_sizes(drawn, exact, kind)
  }
})

test_that("statistics are plain sums in the first pass, and rows count once in every later one", {
  for (case in some_of(without_scales(model_cases()), by = 10)) { # rows with scales are not learned one by one
    phi <- engine_contract(case$data, case$model, matrix(1, NROW(case$rows(case$data)), 1))$features
    for (passes in 1:3) {
      out <- learn_rows(case$data, case$model, passes = passes, batches = 4L, all_rows = TRUE)
      t <- statistics_of(out$clusters)
      removed <- sum(is.na(out$departed$into)) # less than one row each
      expect_lte(sum(t[1L, ]), nrow(phi) + 1e-10, label = case$name)
      expect_gte(sum(t[1L, ]), nrow(phi) - removed - 1e-10, label = case$name)
      if (passes == 1L) expect_equal(rowSums(t), colSums(phi), tolerance = 1e-10, info = case$name)
      expect_true(all(is.finite(t)), info = case$name)
    }
    expect_identical(out$clusters$seen, as.double(nrow(phi)), info = case$name)
    expect_true(all(out$labels %in% c(NA, seq_along(out$clusters$id))), info = case$name)
  }
})

test_that("a row's score is its exact predictive given the rows before", {
  model <- list(obs = bernoulli, prior = list(family = "dp", concentration = 1.3))
  clusters <- learn_rows(engine_data(bits[1:4, ]), model, seed = 3)$clusters
  t <- statistics_of(clusters)
  evidence <- function(t) sum(lbeta(0.1 + t[-1L], 0.3 + t[1L] - t[-1L]) - lbeta(0.1, 0.3))
  expected <- vapply(5:6, function(i) {
    row <- c(1, bits[i, ])
    old <- apply(t, 2L, function(t_k) t_k[1L] * exp(evidence(t_k + row) - evidence(t_k)))
    log((sum(old) + 1.3 * exp(evidence(row))) / (sum(t[1L, ]) + 1.3))
  }, 1)
  out <- learn_rows(engine_data(bits[5:6, ]), model, clusters)
  expect_equal(out$records$score, mean(expected), tolerance = 1e-12)
  expect_identical(learn_rows(engine_data(bits), model, passes = 2L, batches = 2L)$records$score[3:4], c(NA_real_, NA))
})

test_that("a row far from all clusters has a score where there can be no new one", {
  # Of a new cluster, which the prior excludes, it would be more probable by more than exp() can hold.
  model <- replace(gaussians(1), "prior", list(list(family = "dirichlet", k = 2L, concentration = 1)))
  x <- withr::with_seed(1, cbind(c(rnorm(1000), rnorm(1000, 10))))
  clusters <- learn_rows(engine_data(x), model)$clusters
  expect_length(clusters$id, 2L)
  t <- statistics_of(clusters)
  # Student's t of the posterior with n rows; df counts rows of the inverse Wishart prior.
  log_predictive <- function(t, y) {
    n <- t[1L]
    strength <- 0.01 + n
    mean <- t[2L] / strength
    scale <- 1 + t[3L] - strength * mean^2
    nu <- 3 + n
    s <- sqrt(scale * (1 + 1 / strength) / nu)
    stats::dt((y - mean) / s, nu, log = TRUE) - log(s)
  }
  expected <- vapply(c(-1000, 1000), function(y) {
    of <- apply(t, 2L, function(t_k) log((t_k[1L] + 0.5) / 2001) + log_predictive(t_k, y))
    max(of) + log(sum(exp(of - max(of))))
  }, 1)
  far <- learn_rows(engine_data(cbind(c(-1000, 1000))), model, clusters)
  expect_equal(far$records$score, mean(expected), tolerance = 1e-9)
})

test_that("a half-life fades what was seen, and none fades nothing", {
  model <- list(obs = bernoulli, prior = list(family = "dp", concentration = 1.3))
  first <- learn_rows(engine_data(bits), model)$clusters
  second <- learn_rows(engine_data(bits), model, first, half_life = 6)$clusters
  gone <- setdiff(first$id, second$id) # of less than one row when it had faded
  expect_equal(sum(statistics_of(second)[1L, ]), 6 / 2 + 6 - sum(statistics_of(first)[1L, first$id %in% gone]) / 2)
  faded <- learn_rows(engine_data(bits), model, first, half_life = 1e300)
  expect_identical(faded$clusters, learn_rows(engine_data(bits), model, first)$clusters)
})

test_that("clusters are joined when that gains, by the gain as it is recomputed, and never split by it", {
  x <- withr::with_seed(1, rbind(matrix(rnorm(400), ncol = 2), matrix(rnorm(400, 6), ncol = 2)))
  model <- gaussians(2, mean = 3)
  phi <- features_of(x, model)
  group <- rep(1:5, c(100, 60, 40, 150, 50)) # three and two parts of what belongs together
  t <- t(rowsum(phi, group))
  clusters <- clusters_with(t, phi)
  out <- learn_rows(engine_data(x[0, , drop = FALSE]), model, clusters, merge = TRUE)
  expect_identical(out$clusters$id, clusters$id) # without rows nothing is tended
  out <- learn_rows(engine_data(x[1, , drop = FALSE]), model, clusters, merge = TRUE)
  expect_setequal(out$clusters$id, c(1, 4))
  expect_identical(out$departed$into[order(out$departed$id)], c(1, 1, 4))
  added <- out$departed$size - c(60, 40, 50)[match(out$departed$id, c(2, 3, 5))] # 3 may have joined 2 before 1
  expect_true(all(added %in% c(0, 1, 40)))
  expect_equal(rowSums(statistics_of(out$clusters)), rowSums(t) + phi[1, ], tolerance = 1e-12)
  expect_length(learn_rows(engine_data(x[1, , drop = FALSE]), model, clusters)$clusters$id, 5L)
})

test_that("overlapping clusters are joined if the gain, less the entropy that they share, is positive", {
  model <- gaussians(1, mean_strength = 0.2, df = 4)
  evidence <- function(rows) gaussian_evidence(cbind(rows), 0.2, 4)
  x_log_x <- function(x) ifelse(x > 0, x * log(x), 0)
  joined <- function(a, b) {
    x <- c(a, b, 1e4) # the last row begins a cluster of its own
    phi <- features_of(cbind(x), model)
    n <- length(a) + length(b)
    t <- cbind(colSums(phi[seq_along(a), ]), colSums(phi[length(a) + seq_along(b), ]))
    clusters <- clusters_with(t, phi[seq_len(n), ])
    !2 %in% learn_rows(engine_data(cbind(1e4)), model, clusters, merge = TRUE)$clusters$id
  }
  cases <- withr::with_seed(1, lapply(seq(1, 5, by = 0.25), function(apart) {
    a <- rnorm(60, 0, 1)
    b <- rnorm(50, apart, 1)
    x <- c(a, b)
    odds <- cbind(
      60 * exp(vapply(x, function(v) evidence(c(a, v)) - evidence(a), 1)),
      50 * exp(vapply(x, function(v) evidence(c(b, v)) - evidence(b), 1))
    )
    r <- odds / rowSums(odds)
    plain <- evidence(x) - evidence(a) - evidence(b) + lgamma(110) - lgamma(60) - lgamma(50)
    shared <- sum(x_log_x(rowSums(r)) - rowSums(x_log_x(r)))
    c(plain = plain, gain = plain - shared, joined = joined(a, b))
  }))
  cases <- do.call(rbind, cases)
  expect_identical(cases[, "joined"] == 1, cases[, "gain"] > 0)
  expect_true(any(cases[, "gain"] < 0 & cases[, "plain"] > 0)) # the entropy decides
  expect_true(any(cases[, "gain"] > 0))
})

test_that("a cluster that has swallowed two is split by its latest rows", {
  x <- withr::with_seed(2, rbind(matrix(rnorm(400), ncol = 2), matrix(rnorm(400, 8), ncol = 2)))
  model <- gaussians(2, mean = 4)
  phi <- features_of(x, model)
  clusters <- clusters_with(10 * cbind(colSums(phi)), phi, next_id = 9)
  out <- learn_rows(engine_data(x[1, , drop = FALSE]), model, clusters, split = TRUE)
  expect_length(out$clusters$id, 2L)
  expect_identical(sort(out$clusters$id), c(1, 9))
  expect_identical(out$clusters$next_id, 10)
  expect_equal(sum(statistics_of(out$clusters)[1L, ]), 4001, tolerance = 1e-10)
  expect_equal(statistics_of(out$clusters)[1L, ], c(2000, 2000), tolerance = 0.02)
  expect_length(learn_rows(engine_data(x[1, , drop = FALSE]), model, clusters)$clusters$id, 1L)
})

test_that("clusters are tended whenever a tenth of all rows came since, and at the end of a pass over all there are", {
  x <- withr::with_seed(1, matrix(rnorm(2 * 900), ncol = 2))
  model <- gaussians(2)
  first <- learn_rows(engine_data(x), model, merge = TRUE)$clusters
  expect_identical(first$untended, 900)
  expect_false(any(first$lasting))
  second <- learn_rows(engine_data(x[1:99, ]), model, first, merge = TRUE)$clusters
  expect_identical(second$untended, 999)
  third <- learn_rows(engine_data(x[1, , drop = FALSE]), model, second, merge = TRUE)$clusters
  expect_identical(third$untended, 0)
  expect_true(all(third$lasting))
  expect_length(third$id, 1L)
  heavier <- function(n) { # by the 5,000th row since they were tended
    clusters <- clusters_with(n * cbind(colMeans(features_of(x, model))), features_of(x, model))
    learn_rows(engine_data(x[1, , drop = FALSE]), model, replace(clusters, "untended", 4999))$clusters$untended
  }
  expect_identical(heavier(40000), 0)
  expect_identical(heavier(60000), 5000)
  whole <- learn_rows(engine_data(x), model, merge = TRUE, all_rows = TRUE)$clusters
  expect_identical(whole$untended, 0)
})

test_that("clusters are in order of size after every batch", {
  x <- rbind(matrix(-50, 10, 1), matrix(50, 4, 1)) + 1:14 / 10
  model <- gaussians(1)
  first <- learn_rows(engine_data(x), model)$clusters
  expect_identical(statistics_of(first)[1L, ], c(10, 4))
  second <- learn_rows(engine_data(50 + cbind(1:20 / 10)), model, first)$clusters
  expect_identical(statistics_of(second)[1L, ], c(24, 10))
  expect_identical(second$id, rev(first$id))
})

test_that("the latest rows are those of five batches, at least 1,000 and at most 10,000", {
  x <- withr::with_seed(1, matrix(rnorm(11000), ncol = 1))
  model <- gaussians(1)
  kept <- function(sizes) {
    clusters <- no_clusters()
    for (n in sizes) clusters <- learn_rows(engine_data(x[seq_len(n), , drop = FALSE]), model, clusters)$clusters
    matrix(clusters$recent, nrow = 3L)
  }
  expect_identical(ncol(kept(rep(50, 21))), 1000L)
  expect_identical(ncol(kept(rep(300, 6))), 1500L)
  last <- kept(c(10, 11000))
  expect_identical(last[2L, ], x[1001:11000, 1L])
})

test_that("bits depend on the seed alone: not on threads, nor on whether the state was stored", {
  x <- as.matrix(asterisk[1:3000, 1:2])
  model <- gaussians(2, concentration = c(2, 1))
  go <- function(x, clusters, ...) learn_rows(engine_data(x), model, clusters, merge = TRUE, split = TRUE, ...)$clusters
  first <- go(x[1:1500, ], no_clusters(2))
  stored <- unserialize(serialize(first, NULL))
  again <- go(x[1501:3000, ], stored)
  expect_identical(go(x[1501:3000, ], first, threads = 4L), again)
  expect_false(identical(go(x[1501:3000, ], first, seed = 2), again))
  expect_gt(again$concentration, 0)
  expect_false(again$concentration == 2)
})

test_that("where nothing is left of earlier rows, clusters begin anew, also at the cap", {
  x <- cbind(c(-1e3, 0, 1e3, 2e3) + 1:8 / 10)
  model <- gaussians(1)
  again <- learn_rows(engine_data(x), model, passes = 2L, k_max = 1L)
  expect_identical(again$clusters$id, 2)
  expect_identical(again$departed$id, 1)
  expect_identical(statistics_of(again$clusters)[1L, ], 8)
})

test_that("a cluster was last seen when it was last given a row", {
  x <- cbind(c(0, 1, 0, 1, 500, 501, 500, 501))
  model <- gaussians(1, mean = 250, mean_strength = 1e-6)
  first <- learn_rows(engine_data(x), model)$clusters
  expect_identical(first$last_seen, c(8, 8))
  second <- learn_rows(engine_data(x[1:4, , drop = FALSE]), model, first)$clusters
  expect_identical(sort(second$last_seen), c(8, 12))
  expect_identical(second$born_at, c(8, 8))
  expect_setequal(second$id, first$id)
})

test_that("each batch has random numbers of its own", {
  x <- withr::with_seed(1, 1 * (matrix(runif(120), ncol = 3) < 0.5))
  model <- list(obs = bernoulli, prior = list(family = "dp", concentration = 3))
  first <- learn_rows(engine_data(x), model)$clusters
  later <- utils::modifyList(first, list(batches = 7))
  learned <- lapply(list(first, later), function(clusters) learn_rows(engine_data(x), model, clusters)$clusters$t)
  expect_false(identical(learned[[1L]], learned[[2L]]))
})

test_that("at the cap no row begins a cluster, which is said", {
  x <- cbind(c(-1e3, 0, 1e3, 2e3) + 1:8 / 10)
  model <- gaussians(1)
  free <- learn_rows(engine_data(x), model)
  expect_gt(length(free$clusters$id), 2L)
  expect_false(free$capped)
  capped <- learn_rows(engine_data(x), model, k_max = 2L)
  expect_length(capped$clusters$id, 2L)
  expect_true(capped$capped)
})

test_that("a cluster of one row that did not come again goes after 20,000 rows, unless rows fade", {
  model <- list(obs = bernoulli, prior = list(family = "dp", concentration = 1.3))
  left <- function(seen, size = 1, ...) {
    clusters <- clusters_with(cbind(c(50, 30, 15, 5), c(size, 0, size, 0)), bits[0, ])
    clusters[c("seen", "last_seen", "untended")] <- list(seen, c(seen, 3), 1e6)
    2 %in% learn_rows(engine_data(bits[5, , drop = FALSE]), model, clusters, ...)$clusters$id
  }
  expect_false(left(20003))
  expect_true(left(20001))
  expect_true(left(20003, size = 2))
  expect_true(left(20003, size = 1.1, half_life = 1e12))
  expect_false(left(20003, size = 1.1))
})
