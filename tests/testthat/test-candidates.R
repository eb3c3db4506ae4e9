# L-sparse responsibilities from few candidates: exact for the constrained family, never falling.

no_moves <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE, reorder = FALSE)

without_seconds <- function(fit) {
  fit$trace$seconds <- NULL
  fit
}

# So many clusters that two candidates are few, and the ELBO still rises after 10 laps.
run <- function(case, candidates, ..., sparsity = 2, k_init = 12, audit = TRUE) {
  engine_run(
    case,
    sparsity = sparsity, candidates = candidates, k_init = k_init, seed = 3, tol = 0, audit = audit, ...
  )
}

expect_exact <- function(fit) {
  for (what in c("elbo", "statistics", "entropy", "sums")) expect_lte(fit$audit[[what]], 1e-8, label = what)
  expect_gte(fit$audit[["smallest_gain"]], -1e-9)
}

for (case in some_of(c(model_cases(), planted_cases()), by = 12, from = 11)) {
  test_that(paste0(case$name, ": few candidates ascend, with moves or without"), {
    kinds <- list(no_moves, bnp_moves(), bnp_moves(birth = FALSE), bnp_moves(merge = FALSE, delete = FALSE))
    for (moves in some_of(kinds, by = 2, from = 2)) {
      for (sparsity in some_of(1:3, by = 2)) {
        fit <- run(case, 2, sparsity = sparsity, batches = 3, moves = moves, max_laps = 25)
        expect_exact(fit)
        expect_lte(max(rowSums(fit$responsibilities > 0)), sparsity)
      }
    }
  })

  test_that(paste0(case$name, ": as many candidates as clusters are all clusters"), {
    all <- run(case, 12, batches = 2, moves = no_moves, max_laps = 15)
    expect_identical(without_seconds(run(case, 99, batches = 2, moves = no_moves, max_laps = 15)), without_seconds(all))
  })
}

for (case in some_of(model_cases(), by = 11, from = 2)) {
  test_that(paste0(case$name, ": the ELBO with few candidates is that of plain R"), {
    skip_if(isTRUE(case$scales), "the twin is of rows whose scale is 1")
    skip_if(is_glm_case(case), "the twin is of rows whose tangents are at 0")
    rows <- case$rows(case$data)
    fit <- run(case, 2, batches = 2, moves = no_moves, max_laps = 8)
    resp <- fit$responsibilities[modelled(case, case$data), , drop = FALSE]
    expect_equal(rowSums(resp), rep(1, nrow(resp)), tolerance = 1e-12)
    expect_equal(fit$elbo, sum(elbo_twin(case, rows, resp, case$model$prior)), tolerance = tolerance_of(case, 1e-10))
  })
}

test_that("candidates that reach far enough are as good as all clusters", {
  x <- withr::with_seed(2, 8 * matrix(rnorm(60), 30)[sample(30, 2000, TRUE), ] + matrix(rnorm(4000), 2000))
  counts <- withr::with_seed(2, matrix(as.double(rpois(2000 * 5, 40 * diag(5)[rep(1:5, 400), ] + 5)), 2000))
  cases <- list(
    planted_case("gaussian", obs_gaussian(), x, NULL),
    planted_case("multinomial, sparse", obs_multinomial(), counts, NULL, sparse = TRUE)
  )
  for (case in cases) {
    all <- run(case, 99, batches = 2, k_init = 30, moves = no_moves, max_laps = 15)
    most <- run(case, 15, batches = 2, k_init = 30, moves = no_moves, max_laps = 15)
    expect_gt(all$state$k, 15)
    expect_equal(most$elbo, all$elbo, tolerance = 1e-9)
    expect_false(identical(most$state, all$state))
    expect_identical(most$labels, all$labels)
  }
})

test_that("stochastic learning looks at few candidates, then once at all clusters", {
  x <- withr::with_seed(2, 8 * matrix(rnorm(60), 30)[sample(30, 2000, TRUE), ] + matrix(rnorm(4000), 2000))
  case <- planted_case("gaussian", obs_gaussian(), x, NULL)
  fit <- function(candidates, threads = 1) {
    without_seconds(engine_run(
      case,
      sparsity = 2, candidates = candidates, algorithm = "stochastic", batches = 4, k_init = 30, seed = 3,
      threads = threads, moves = no_moves, max_laps = 12, audit = FALSE
    ))
  }
  all <- fit(99)
  most <- fit(15)
  expect_equal(most$elbo, all$elbo, tolerance = 1e-3)
  expect_false(identical(most$state, all$state))
  expect_identical(fit(15, threads = 2), most)
  few <- fit(2)
  expect_lt(few$elbo, all$elbo)
})

test_that("few candidates: 1, 2 and 8 threads give identical bits", {
  x <- rbind(as.matrix(asterisk[1:2]), as.matrix(asterisk[1:2]) + 30)
  counts <- as.matrix(bars$counts)
  cases <- list(
    planted_case("gaussian", obs_gaussian(), x, NULL),
    planted_case("multinomial", obs_multinomial(), rbind(counts, counts), NULL, sparse = TRUE)
  )
  for (case in cases) {
    for (moves in some_of(list(bnp_moves(), no_moves), by = 3)) {
      fit <- function(threads) {
        without_seconds(run(
          case, 5,
          batches = 2, k_init = 40, threads = threads, moves = moves, max_laps = 6, audit = FALSE
        ))
      }
      one <- fit(1)
      for (threads in some_of(c(8, 2), by = 2)) expect_identical(fit(threads), one)
    }
  }
})

test_that("few candidates find almost what all clusters do", {
  x <- withr::with_seed(1, matrix(rnorm(4000 * 4), 4000) + matrix(rnorm(100 * 4, 0, 3), 100)[sample(100, 4000, TRUE), ])
  case <- planted_case("many", obs_gaussian(), x, NULL)
  fits <- lapply(c(300, 0), function(candidates) {
    candidates <- if (candidates > 0) candidates
    run(case, candidates, k_init = 300, moves = no_moves, max_laps = 20, init = "random", audit = FALSE)
  })
  expect_equal(fits[[2]]$elbo, fits[[1]]$elbo, tolerance = 2e-3)
})
