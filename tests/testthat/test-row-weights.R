# Weights of rows: a row of weight w is w rows that share one assignment.

expect_same_objective <- function(weighted, written_out, label) {
  for (what in c("elbo", "terms")) {
    expect_equal(weighted[[what]], written_out[[what]], tolerance = 1e-10, label = paste(label, what))
  }
  expect_equal(weighted$state$obs, written_out$state$obs, tolerance = 1e-10, label = paste(label, "statistics"))
}

for (case in some_of(weighted_cases(), by = 15, from = 2)) {
  test_that(paste0(case$name, ": moves of weighted rows equal their recomputation, and the rows written out"), {
    moves <- 0
    for (batches in c(1, 4)) {
      for (k_init in some_of(c(1, 12), by = 2, from = if (batches == 4) 2 else 1)) {
        fit <- engine_run(case, batches = batches, k_init = k_init, seed = 3, audit = TRUE)
        label <- paste(batches, k_init)
        expect_audited(fit)
        expect_equal(sum(fit$sizes), sum(case$data$weights) - sum(case$data$weights[conditioned_on(case)]))
        moves <- moves + sum(fit$trace[c("births", "merges", "deletes")])
        if (is.null(case$written_out) || k_init == 1) next
        case$written_out$model$obs <- with_learned_fields(case$model$obs, fit$learned)
        resp <- repeat_matrix(fit$responsibilities, case$data$weights)
        # Scales or tangents found on the way are not those that responsibilities say alone.
        if (keeps_visits(case$model$obs)) fit <- engine_at(case, fit$responsibilities)
        expect_same_objective(fit, engine_at(case$written_out, resp), label)
      }
    }
    expect_gt(moves, 0)
  })

  test_that(paste0(case$name, ": each kind of move of weighted rows by itself, dense and sparse"), {
    kinds <- list(
      bnp_moves(merge = FALSE, delete = FALSE), bnp_moves(birth = FALSE, delete = FALSE),
      bnp_moves(birth = FALSE, merge = FALSE, max_deletes = 10)
    )
    for (sparsity in some_of(list(NULL, 1, 2), by = 2)) {
      for (i in seq_along(kinds)) {
        expect_audited(engine_run(
          case,
          batches = 3, k_init = c(1, 12, 12)[i], seed = 8, moves = kinds[[i]], sparsity = sparsity, audit = TRUE
        ))
      }
    }
  })
}

# A lap of local and global steps, from soft and hard responsibilities.
test_that("laps of weighted rows are laps of the rows written out, whatever the prior and the sparsity", {
  for (case in some_of(Filter(function(case) !is.null(case$written_out), weighted_cases()), by = 11)) {
    w <- case$data$weights
    resp <- withr::with_seed(3, matrix(stats::rgamma(4 * case$data$n, 0.3) + 1e-9, ncol = 4))
    resp <- resp / rowSums(resp)
    for (prior in mixture_priors) {
      for (sparsity in c(0L, 2L)) {
        case$model$prior <- case$written_out$model$prior <- prior
        label <- paste(case$name, prior$family, sparsity)
        a <- engine_at(case, resp, laps = 4L, sparsity = sparsity, threads = 2L)
        b <- engine_at(case$written_out, repeat_matrix(resp, w), laps = 4L, sparsity = sparsity)
        expect_same_objective(a, b, label)
        expect_equal(a$trace$elbo, b$trace$elbo, tolerance = 1e-10, label = label)
        expect_identical(rep(a$labels, w), b$labels, label = label)
      }
    }
  }
})

test_that("candidates and L-sparse rows of many clusters are weighted", {
  for (case in weighted_cases()[c(1, 5)]) {
    fit <- engine_run(
      case, k_init = 20, seed = 2, sparsity = 2, candidates = 4, batches = 2, audit = TRUE,
      moves = bnp_moves(birth = FALSE, delete = FALSE)
    )
    expect_audited(fit)
    resp <- repeat_matrix(fit$responsibilities, case$data$weights)
    expect_same_objective(fit, engine_at(case$written_out, resp), case$name)
  }
})

test_that("every kind of prior takes weighted rows through its moves", {
  case <- weighted_cases()[[1]]
  for (prior in mixture_priors) {
    for (seed in some_of(1:3, by = 5)) {
      fit <- engine_run(case, prior = prior, seed = seed, k_init = if (is.null(prior$k)) 9, audit = TRUE, batches = 2)
      expect_audited(fit)
      case$written_out$model$prior <- prior
      resp <- repeat_matrix(fit$responsibilities, case$data$weights)
      expect_same_objective(fit, engine_at(case$written_out, resp), prior$family)
    }
  }
})

test_that("a source that copies its batches copies the weights", {
  case <- weighted_cases()[[1]]
  control <- engine_control(6, seed = 4, batches = 3L, moves = all_moves)
  fits <- lapply(c("memory", "transient"), function(source) {
    fit <- engine_fit(case$data, case$model, c(control, list(source = source)), NULL, NULL)
    fit[c("elbo", "state", "labels", "sizes")]
  })
  expect_identical(fits[[1]], fits[[2]])
})

test_that("stochastic steps scale by weights", {
  case <- weighted_cases()[[1]]
  start <- list(resp = diag(4)[rep(1:4, length.out = case$data$n), ])
  run <- function(case, start) {
    control <- engine_control(4, seed = 4, batches = 1L, algorithm = "stochastic", max_laps = 4L)
    engine_fit(case$data, case$model, control, start, NULL)
  }
  a <- run(case, start)
  b <- run(case$written_out, list(resp = repeat_matrix(start$resp, case$data$weights)))
  expect_same_objective(a, b, "stochastic")
  # Several batches: their scaled summaries have all the weight, whatever each batch has.
  case$data$weights[1:60] <- 40
  control <- engine_control(4, seed = 4, batches = 6L, algorithm = "stochastic", max_laps = 1L)
  fit <- engine_fit(case$data, case$model, control, start, NULL)
  expect_equal(sum(fit$sizes), sum(case$data$weights))
})

test_that("rows of weight 0 are absent from the fit, and have labels", {
  for (case in weighted_cases()[c(1, 5, 6)]) {
    absent <- withr::with_seed(1, sample(case$data$n, 50))
    case$data$weights[absent] <- 0
    present <- replace(case, "data", list(repeat_rows(case$data, case$data$weights > 0)))
    present$data$weights <- case$data$weights[-absent]
    run <- function(case) engine_run(case, k_init = 6, seed = 2)
    a <- run(case)
    b <- run(present)
    expect_identical(a[c("elbo", "state", "sizes")], b[c("elbo", "state", "sizes")])
    expect_identical(a$labels[-absent], b$labels)
    expect_false(anyNA(a$labels))
  }
})

test_that("weights are evidence: a multiple of them is another fit, and fractions are between whole ones", {
  case <- weighted_cases()[[1]]
  resp <- diag(2)[1 + (case$cluster > 2), ]
  elbo <- vapply(c(1, 1.5, 2, 4), function(c) {
    case$data$weights <- rep(c, case$data$n)
    engine_at(case, resp)$elbo
  }, 1)
  case$data$weights <- NULL
  expect_identical(elbo[1], engine_at(case, resp)$elbo)
  expect_true(all(diff(elbo) < 0))
  expect_gt(abs(elbo[4] - 4 * elbo[1]), 1)
})

test_that("trees of clusters are of the weighted rows", {
  case <- weighted_cases()[[1]]
  fit <- engine_run(case, k_init = 12, seed = 2, moves = FALSE, max_laps = 3)
  control <- list(threads = 1L, sparsity = 0L, candidates = 0L)
  tree <- function(case) engine_cluster_tree(case$data, case$model, list(state = fit$state), control)
  expect_equal(tree(case), tree(case$written_out), tolerance = 1e-10)
})
