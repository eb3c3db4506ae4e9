# Starts by scalable k-means++ (inst/design/search.md), against plain R.

scalable <- function(case, k, ..., rounds = 4L, source = NULL) {
  control <- c(engine_control(k_init = k, ...), if (!is.null(source)) list(source = source))
  engine_scalable_kmeans(case$data, case$model, control, rounds)
}

row_minima <- function(x) do.call(pmin, as.data.frame(x))
contract_of_rows <- function(case) engine_contract(case$data, case$model, diag(length(modelled(case, case$data))))

# Divergences of rows to centres with these weights, by default the rows themselves.
divergences_twin <- function(rows, weights = rows$point_weights) {
  pmax(rowSums(rows$point_mean * rows$point_weights) - tcrossprod(rows$point_mean, weights), 0)
}

# Can these be the numbers of rows that are nearest to each candidate? d: divergences, rows x candidates. Rounding,
# which differs between processors, may give a row to any candidate that is as near as the nearest.
are_masses <- function(mass, d) {
  as_near <- d <= row_minima(d) + 1e-8 * max(d)
  clear <- rowSums(as_near) == 1
  sum(mass) == nrow(d) && all(mass >= colSums(as_near[clear, , drop = FALSE]) & mass <= colSums(as_near))
}

test_that("rows that are as near to two candidates may count for either, others for their own alone", {
  d <- rbind(c(1, 1), c(0, 2), c(2, 0), c(3, 1))
  for (rounding in c(-1e-16, 0, 1e-16)) {
    nearest <- max.col(-(d + cbind(c(rounding, 0, 0, 0), 0)), "first")
    expect_true(are_masses(tabulate(nearest, 2), d))
  }
  expect_true(are_masses(c(1, 3), d))
  for (wrong in list(c(3, 1), c(0, 4), c(1, 2), c(2, 3))) expect_false(are_masses(wrong, d))
})

test_that("potentials, masses and sums are those of plain R, for every model", {
  # Seeds take the scales of rows as 1; plain R has them from the weights (see below).
  for (case in some_of(without_scales(planted_cases()), by = 11, from = 5)) {
    numbers <- modelled(case, case$data)
    d <- divergences_twin(contract_of_rows(case))
    found <- scalable(case, 3L, batches = 4L, seed = 7)
    expect_false(anyDuplicated(found$candidate) > 0, label = case$name)
    at <- match(found$candidate, numbers)
    expect_false(anyNA(at), label = case$name)
    for (round in some_of(1:5, by = 4)) {
      before <- d[, at[seq_len(3 * round)], drop = FALSE]
      nearest <- row_minima(before)
      expect_equal(found$potential[round], sum(nearest), tolerance = 1e-8, label = case$name)
      drawn <- at[3 * round + seq_len(3)]
      if (round < 5) expect_gt(min(nearest[drawn]), 0, label = case$name)
    }
    expect_true(are_masses(found$mass, before), label = case$name)
    features <- engine_contract(case$data, case$model, matrix(1, length(numbers), 1))$statistic
    expect_equal(colSums(found$statistics), drop(features), tolerance = 1e-9, label = case$name)
  }
})

# But for a factor, as what is expected of the covariance of a single row is not the same.
test_that("seeds of t clusters are those of Gaussian clusters with the same prior", {
  tested <- 0
  for (case in planted_cases()) {
    if (!case$model$obs$family %in% c("student_full", "student_diagonal") || isTRUE(case$model$obs$gaps)) next
    tested <- tested + 1
    gaussian <- case
    gaussian$model$obs$family <- sub("student", "gaussian", case$model$obs$family)
    gaussian$model$obs$tails <- NULL
    of <- lapply(list(case, gaussian), scalable, 3L, batches = 4L, seed = 7)
    expect_identical(of[[1]]$candidate, of[[2]]$candidate, label = case$name)
    falling <- lapply(of, function(found) found$potential / found$potential[1])
    expect_equal(falling[[1]], falling[[2]], tolerance = 1e-3, label = case$name)
    expect_equal(of[[1]]$mass, of[[2]]$mass, label = case$name)
  }
  expect_gt(tested, 1)
})

test_that("rows are drawn in proportion to weight and divergence", {
  x <- cbind(c(0, 0.5, 3, 3.2, 7, 7.1, 7.3, 20))
  case <- planted_case("few", obs_gaussian(), x, rep(1, 8))
  case$data$weights <- w <- c(1, 2, 0.5, 3, 1, 1, 1, 0.25)
  d <- divergences_twin(contract_of_rows(case))
  times <- if (long_tests()) 4000 else 1500
  drawn <- vapply(seq_len(times), function(seed) scalable(case, 1L, seed = seed, rounds = 1L)$candidate, integer(2))
  chi_square <- function(seen, expected) sum((tabulate(seen, 8) - expected)^2 / pmax(expected, 1e-9))
  expect_lt(chi_square(drawn[1, ], times * w / sum(w)), stats::qchisq(0.9999, 7))
  share <- w * d
  share <- t(share) / colSums(share)
  expect_lt(chi_square(drawn[2, ], colSums(share[drawn[1, ], ])), stats::qchisq(0.9999, 7))
  found <- scalable(case, 2L, batches = 2L, seed = 1)
  expect_equal(sum(found$mass), sum(w))
  expect_equal(sum(found$statistics[, 1]), sum(w))
})

test_that("candidates are the same in any batches, by any threads, from any source", {
  for (case in some_of(planted_cases(), by = 9, from = 2)) {
    if (case$name == "ar") next # rows of one series
    one <- scalable(case, 4L, batches = 1L, seed = 3)
    for (batches in c(2L, 7L)) {
      more <- scalable(case, 4L, batches = batches, seed = 3)
      expect_identical(more$candidate, one$candidate, label = case$name)
      expect_equal(more$potential, one$potential, tolerance = 1e-10, label = case$name)
      expect_equal(more$statistics, one$statistics, tolerance = 1e-10, label = case$name)
    }
    expect_identical(scalable(case, 4L, batches = 7L, seed = 3, threads = 2L), more, label = case$name)
    expect_identical(scalable(case, 4L, batches = 7L, seed = 3, source = "transient"), more, label = case$name)
  }
})

long_test("the clusters cost at most a tenth more than those of k-means++, over seeds", {
  cases <- Filter(function(case) case$name %in% c(
    "gaussian_full", "gaussian_diagonal", "multinomial", "multinomial, sparse", "bernoulli", "poisson", "categorical"
  ), planted_cases())
  expect_gt(length(cases), 4)
  for (case in cases) {
    rows <- contract_of_rows(case)
    cost <- vapply(some_of(1:8, by = 2), function(seed) {
      labels <- engine_kmeans(case$data, case$model$obs, 6L, 10L, TRUE, seed)$cluster
      of_labels <- engine_contract(case$data, case$model, 1 * outer(labels, seq_len(max(labels)), "=="))
      of <- function(weights) sum(row_minima(divergences_twin(rows, weights)))
      c(of(scalable(case, 6L, batches = 1L, seed = seed)$weights), of(of_labels$point_weights))
    }, double(2))
    expect_lt(mean(cost[1, ]), 1.1 * mean(cost[2, ]), label = case$name)
  }
})

long_test("clusters that a sample misses are found", {
  withr::local_seed(3)
  x <- rbind(matrix(rnorm(72e4), ncol = 80), matrix(rnorm(320, 60, 0.1), ncol = 80))
  found <- function(init, seed) {
    fit <- suppressWarnings(bnp_mixture(x, obs_gaussian("spherical"), control = bnp_control(
      init = init, k_init = 3, moves = FALSE, max_laps = 2, batches = 5, seed = seed
    )))
    any(tabulate(fitted(fit)) == 4)
  }
  expect_true(all(vapply(some_of(1:5, by = 4), function(seed) found("scalable", seed), NA)))
})

test_that("fits of all families have the same bits from a source, by threads, waves and workers", {
  cases <- worker_cases()[c(
    "mixture", "holes", "counts", "weights", "individuals", "topics", "rows", "sequences", "states", "autoregression"
  )]
  how <- function(case, ...) {
    k <- if (is.null(attr(case, "k"))) 5L
    bits_of_work(fit_of_case(case, init = "scalable", k_init = k, laps = 4L, ...))
  }
  attr(cases$states, "k") <- 4L
  here <- lapply(cases, function(case) how(case, wave = 2L))
  for (name in names(cases)) expect_identical(how(cases[[name]], wave = 2L, threads = 2L), here[[name]], info = name)
  seen <- local_desk()
  for (name in names(cases)) {
    seen$times <- list()
    expect_identical(how(cases[[name]], wave = 2L, workers = TRUE), here[[name]], info = name)
    expect_identical(seen$times[["draw_rows"]], 6L * cases[[name]][[3]]$batches, info = name)
    expect_identical(seen$times[["nearest"]], cases[[name]][[3]]$batches, info = name)
  }
})

test_that("a source is read once, whatever the start, and its fit is that of memory", {
  x <- worker_cases()$mixture[[1]]
  read <- integer(5)
  source <- source_function(function(b) {
    read[b] <<- read[b] + 1L
    x[180 * (b - 1) + 1:180, ]
  }, batches = 5)
  how <- function(batches) how_source(init = "scalable", k_init = 6, batches = batches)
  expect_fit_of_source(
    bnp_mixture(source, control = how(4L)), bnp_mixture(x, control = how(dealt(900, 4))), "a scalable start"
  )
  expect_identical(read, rep(1L, 5))
})

test_that("few, equal and far rows start a fit, too", {
  fit <- function(x, k, ...) {
    suppressWarnings(bnp_mixture(x, ..., control = bnp_control(
      init = "scalable", k_init = k, moves = FALSE, max_laps = 5, seed = 1, batches = min(2, NROW(x))
    )))
  }
  expect_equal(fit(matrix(1, 40, 2), 5)$state$k, 1)
  expect_equal(fit(matrix(c(1, 2, 3), 60, 2), 10)$state$k, 3)
  expect_equal(fit(matrix(1:2, 1), 1)$state$k, 1)
  expect_equal(fit(matrix(c(1, 5, 9, 14), 4), 4)$state$k, 4)
  x <- cbind(rep(c(-1, 1), 30) + rnorm(60) / 10)
  for (scale in c(1e-150, 1, 1e150)) expect_equal(n_clusters(fit(scale * x, 2)), 2)
  expect_true(is.finite(elbo(fit(x, 60))))
  missing <- replace(cbind(x, rnorm(60)), c(3, 70, 100), NA)
  expect_true(is.finite(elbo(fit(missing, 3, na_action = "model"))))
  expect_true(is.finite(elbo(fit(x, 3, weights = rep(c(0, 1e-6, 1e6), 20)))))
})

test_that("starts by real daemons have the bits of starts here", {
  skip_if_not(longest_tests(), "long")
  cases <- worker_cases()[c("mixture", "holes", "topics", "sequences")]
  rows <- withr::with_seed(7, matrix(rnorm(60, sd = 6), 20)[sample(20, 40000, TRUE), ] + rnorm(120000))
  cases$rows <- list(rows, cases$mixture[[2]], list(batches = 16L, moves = bnp_moves(FALSE, FALSE, FALSE)))
  how <- function(case, ...) bits_of_work(fit_of_case(case, init = "scalable", k_init = 12L, laps = 6L, ...))
  here <- lapply(cases, how, wave = 8L)
  for (n in 1:2) {
    profile <- paste("bnpvi scalable", n)
    local_daemons(n, profile)
    for (name in names(cases)) {
      expect_identical(how(cases[[name]], workers = profile), here[[name]], info = paste(name, n))
    }
  }
})

test_that("a start from one cluster, of which some rows are drawn, is exact after a lap", {
  x <- matrix(sin(1:15000), 5000)
  one <- function(obs, seed) {
    control <- bnp_control(seed = seed, k_init = 1, moves = FALSE, max_laps = 1, tol = 0, verbose = FALSE)
    elbo(suppressWarnings(bnp_mixture(x, obs, control = control)))
  }
  for (obs in list(obs_gaussian(), obs_gaussian("diagonal", learn = FALSE, rounding = 0))) {
    expect_identical(one(obs, 1), one(obs, 2))
  }
})
