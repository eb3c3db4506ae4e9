# Repeated measures: rows of one individual share one cluster.

resp_of <- function(n, k, seed = 1) {
  withr::with_seed(seed, {
    r <- matrix(rexp(n * k), n)^3 * (runif(n * k) < 0.8)
    r[cbind(seq_len(n), sample(k, n, TRUE))] <- 1
    r / rowSums(r)
  })
}

# ---- The model of individuals ----

for (case in Filter(can_repeat, model_cases())) {
  individual <- withr::with_seed(4, match(sample(15, case$data$n, TRUE), 1:15))
  individual <- match(individual, sort(unique(individual)))
  case <- with_individual_rows(case, individual)
  rows <- case$rows(case$data)
  groups <- case$data$n_individuals
  resp <- cbind(all = 1, withr::with_seed(2, runif(groups)), resp_of(groups, 2), none = 0)
  contract <- function(resp) engine_contract(case$data, case$model, resp)

  test_that(paste0("repeated ", case$name, ": evidence, expectations and predictives are those of all its rows"), {
    e <- contract(resp)
    by_cluster <- function(f) vapply(seq_len(ncol(resp)), function(k) f(resp[individual, k]), f(resp[individual, 1]))
    expect_equal(e$features[, 1:2], unname(cbind(1, tabulate(individual))))
    expect_false(e$has_base)
    expect_equal(e$evidence, by_cluster(function(r) case$twin$evidence(rows, r)), tolerance = 1e-10, ignore_attr = TRUE)
    expect_equal(e$joint_evidence, e$evidence, tolerance = 1e-14)
    expect_equal(e$joint_weights, e$weights, tolerance = 1e-14)
    expect_lt(abs(e$evidence[ncol(resp)]), 1e-10)
    expected <- by_cluster(function(r) as.vector(rowsum(case$twin$expected(rows, r, rows), individual)))
    expect_equal(e$features %*% t(e$weights), expected, tolerance = 1e-10, ignore_attr = TRUE)
    # The rows of an individual one after the other.
    of_one <- function(r, i) {
      own <- which(individual == i)
      sum(vapply(seq_along(own), function(j) {
        known <- r + (seq_along(r) %in% own[seq_len(j - 1L)])
        case$twin$predictive(rows, known, rows)[own[j]]
      }, 1))
    }
    expect_equal(e$log_predictive[1:2, 2], vapply(1:2, function(i) of_one(resp[individual, 2], i), 1), tolerance = 1e-9)
  })

  test_that(paste0("repeated ", case$name, ": posteriors are those of the rows, point estimates are one a row"), {
    e <- contract(resp[, 1:2])
    plain <- case
    plain$model$obs$repeated <- plain$data$individual <- plain$data$n_individuals <- NULL
    f <- engine_contract(plain$data, plain$model, resp[individual, 1:2])
    expect_equal(e$posterior, f$posterior, tolerance = 1e-12)
    expect_equal(e$mean_parameters, f$mean_parameters, tolerance = 1e-12)
    p <- ncol(f$features)
    expect_equal(e$point_weights[, 1 + seq_len(p)], f$point_weights, tolerance = 1e-12)
    per_row <- f$point_mean * (colSums(resp[individual, 1:2]) / colSums(resp[, 1:2]))
    expect_equal(e$point_mean[, 1 + seq_len(p)], per_row, tolerance = 1e-12)
    divergence <- sum(e$point_mean[1, ] * (e$point_weights[1, ] - e$point_weights[2, ]))
    expect_gte(divergence, -1e-10)
  })

  test_that(paste0("repeated ", case$name, ": laps are those of plain R, in batches and on threads"), {
    prior <- list(family = "dp", concentration = 0.7)
    case$model$prior <- prior
    start <- resp_of(groups, 3, 9)
    expect_equal(
      engine_elbo_of(case$data, case$model, start), repeated_elbo_twin(case, rows, start, prior), tolerance = 1e-10
    )
    # The first lap's local step is at the globals that are optimal for the start.
    local <- repeated_local_twin(case, rows, start, prior)
    one <- engine_at(case, start, laps = 1L)
    expect_equal(one$terms, repeated_elbo_twin(case, rows, local, prior), tolerance = 1e-9)
    expect_identical(one$labels, max.col(repeated_local_twin(case, rows, local, prior), ties.method = "first"))
    a <- engine_at(case, start, laps = 3L)
    expect_gte(min(diff(a$trace$elbo)), -1e-9 * abs(a$elbo))
    expect_identical(engine_at(case, start, laps = 3L, threads = 2L)[c("elbo", "state")], a[c("elbo", "state")])
    for (source in c("memory", "transient")) {
      b <- engine_at(case, start, laps = 3L, batches = 4L, source = source)
      expect_equal(sum(b$terms), b$elbo)
      expect_equal(sum(b$sizes), groups)
    }
  })
}

# ---- Evidence of all partitions ----

partitions <- function(n) {
  out <- list(1L)
  for (i in seq_len(n)[-1L]) {
    out <- unlist(lapply(out, function(p) lapply(seq_len(max(p) + 1L), function(b) c(p, b))), recursive = FALSE)
  }
  out
}

test_that("the bound is below the evidence of all partitions of individuals", {
  expect_length(partitions(4), 15)
  individual <- c(1, 2, 2, 3, 3, 3, 4, 4)
  gamma <- 0.8
  for (case in Filter(can_repeat, model_cases())) {
    case$data <- engine_data(case$data$x[c(3, 8, 9, 20, 21, 2, 30, 31), , drop = FALSE])
    if (anyNA(case$data$x)) next
    case <- with_individual_rows(case, individual)
    case$model$prior <- list(family = "dp", concentration = gamma)
    rows <- case$rows(case$data)
    terms <- vapply(partitions(4), function(p) {
      size <- tabulate(p)
      length(size) * log(gamma) + sum(lgamma(size)) + lgamma(gamma) - lgamma(gamma + 4) +
        sum(vapply(seq_along(size), function(b) case$twin$evidence(rows, 1 * (p[individual] == b)), 1))
    }, 1)
    exact <- max(terms) + log(sum(exp(terms - max(terms))))
    found <- vapply(partitions(4), function(p) {
      engine_at(case, diag(4)[p, seq_len(max(p)), drop = FALSE], laps = 20L)$elbo
    }, 1)
    expect_lte(max(found), exact + 1e-9, label = case$name)
    expect_gt(max(found), exact - 4, label = case$name)
  }
})

# ---- Moves, weights, order ----

for (case in repeated_cases()) {
  test_that(paste0("repeated ", case$name, ": moves equal their recomputation"), {
    moves <- 0
    for (batches in c(1, 4)) {
      for (k_init in c(1, 12)) {
        fit <- engine_run(case, batches = batches, k_init = k_init, seed = 3, audit = TRUE)
        expect_audited(fit)
        expect_equal(sum(fit$sizes), case$data$n_individuals)
        moves <- moves + sum(fit$trace[c("births", "merges", "deletes")])
      }
    }
    expect_gt(moves, 0)
    kinds <- list(
      bnp_moves(merge = FALSE, delete = FALSE), bnp_moves(birth = FALSE, delete = FALSE),
      bnp_moves(birth = FALSE, merge = FALSE, max_deletes = 10)
    )
    for (i in seq_along(kinds)) {
      expect_audited(engine_run(
        case, batches = 3, k_init = c(1, 9, 9)[i], seed = 8, moves = kinds[[i]], sparsity = if (i > 1) 2, audit = TRUE
      ))
    }
    expect_audited(engine_run(case, prior = prior_dirichlet(4), seed = 2, audit = TRUE))
  })

  test_that(paste0("repeated ", case$name, ": weights of individuals are individuals written out"), {
    groups <- case$data$n_individuals
    times <- withr::with_seed(3, sample(3, groups, TRUE))
    weighted <- out <- case
    weighted$data$weights <- as.double(times)[case$data$individual]
    out$data <- written_out_individuals(case$data, times)
    resp <- resp_of(groups, 4, 2)
    a <- engine_at(weighted, resp, laps = 3L)
    b <- engine_at(out, repeat_matrix(resp, times), laps = 3L)
    for (what in c("elbo", "terms", "sizes")) expect_equal(a[[what]], b[[what]], tolerance = 1e-10, label = what)
    expect_identical(rep(a$labels, times), b$labels)
    weighted$data$weights[case$data$individual == 1] <- 0
    fit <- engine_run(weighted, seed = 4, k_init = 5, audit = TRUE)
    expect_audited(fit)
    expect_equal(sum(fit$sizes), sum(times[-1]))
    expect_false(anyNA(fit$labels))
  })
}

test_that("the order of rows, within individuals and between them, changes nothing", {
  for (case in Filter(function(case) !is.null(case$data$x), repeated_cases())) {
    a <- engine_run(case, seed = 2, k_init = 4)
    b <- engine_run(reordered_rows(case, withr::with_seed(1, sample(case$data$n))), seed = 2, k_init = 4)
    expect_equal(b$elbo, a$elbo, tolerance = 1e-10, label = case$name)
    expect_identical(b$labels, a$labels, label = case$name)
  }
})

test_that("one row an individual is the fit without individuals", {
  for (case in Filter(can_repeat, planted_cases())) {
    again <- with_individual_rows(case, seq_len(case$data$n))
    resp <- diag(4)[case$cluster, ]
    a <- engine_at(case, resp, laps = 3L)
    b <- engine_at(again, resp, laps = 3L)
    expect_equal(b$elbo, a$elbo, tolerance = 1e-12, label = case$name)
    expect_equal(b$sizes, a$sizes, tolerance = 1e-9, label = case$name)
    fits <- lapply(list(case, again), engine_run, seed = 1)
    expect_equal(fits[[2]]$elbo, fits[[1]]$elbo, tolerance = 1e-3, label = case$name)
  }
})

test_that("L-sparse individuals with candidates, priors of every kind and stochastic steps", {
  case <- repeated_cases()[[1]]
  expect_audited(engine_run(
    case, k_init = 20, seed = 2, sparsity = 2, candidates = 4, batches = 2, audit = TRUE,
    moves = bnp_moves(birth = FALSE, delete = FALSE)
  ))
  for (prior in mixture_priors) {
    expect_audited(engine_run(case, prior = prior, seed = 1, k_init = if (is.null(prior$k)) 9, audit = TRUE, batches = 2))
  }
  start <- list(resp = diag(4)[case$of_individual, ])
  control <- engine_control(4, seed = 4, batches = 5L, algorithm = "stochastic", max_laps = 3L)
  fit <- engine_fit(case$data, case$model, control, start, NULL)
  expect_equal(sum(fit$sizes), case$data$n_individuals)
  expect_equal(unname(tapply(fit$labels, case$of_individual, function(v) length(unique(v)))), rep(1L, 4), ignore_attr = TRUE)
})

test_that("planted clusters of individuals are found by every model", {
  for (case in repeated_cases()) {
    fit <- engine_run(case, seed = 1)
    found <- adjusted_rand_index(fit$labels, case$of_individual)
    expect_gt(found, if (case$name == "censored") 0.5 else 0.9, label = case$name)
  }
})

test_that("sums of sparse rows are sparse, and those of dense rows", {
  for (pair in list(c("multinomial", "multinomial, sparse"), c("poisson, exposure", "poisson, exposure, sparse"))) {
    cases <- repeated_cases()
    names(cases) <- vapply(cases, `[[`, "", "name")
    dense <- cases[[pair[1]]]
    sparse <- dense
    sparse$data <- c(sparse_engine_data(dense$data$x), dense$data[c("individual", "n_individuals")])
    resp <- resp_of(dense$data$n_individuals, 3)
    expect_equal(
      engine_at(sparse, resp, laps = 2L)[c("elbo", "sizes")], engine_at(dense, resp, laps = 2L)[c("elbo", "sizes")],
      tolerance = 1e-11
    )
  }
})
