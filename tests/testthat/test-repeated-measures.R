# Repeated measures: rows of one individual share one cluster.

resp_of <- function(n, k, seed = 1) {
  withr::with_seed(seed, {
    r <- matrix(rexp(n * k), n)^3 * (runif(n * k) < 0.8)
    r[cbind(seq_len(n), sample(k, n, TRUE))] <- 1
    r / rowSums(r)
  })
}

# ---- The model of individuals ----

for (case in some_of(Filter(can_repeat, model_cases()), by = 7)) {
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
    evidence <- by_cluster(function(r) case$twin$evidence(rows, r))
    expect_equal(e$evidence, evidence, tolerance = tolerance_of(case, 1e-10), ignore_attr = TRUE)
    expect_equal(e$joint_evidence, e$evidence, tolerance = 1e-14)
    expect_equal(e$joint_weights, e$weights, tolerance = 1e-14)
    expect_lt(abs(e$evidence[ncol(resp)]), 1e-10)
    expected <- by_cluster(function(r) as.vector(rowsum(case$twin$expected(rows, r, rows), individual)))
    terms <- e$features %*% t(e$weights)
    expect_equal(terms, expected, tolerance = tolerance_of(case, 1e-10), ignore_attr = TRUE)
    if (!is.null(case$model$obs$rounding)) return() # rows one after the other are not their cells
    # The rows of an individual one after the other.
    of_one <- function(r, i) {
      own <- which(individual == i)
      sum(vapply(seq_along(own), function(j) {
        known <- r + (seq_along(r) %in% own[seq_len(j - 1L)])
        case$twin$predictive(rows, known, rows)[own[j]]
      }, 1))
    }
    alone <- vapply(1:2, function(i) of_one(resp[individual, 2], i), 1)
    expect_equal(e$log_predictive[1:2, 2], alone, tolerance = tolerance_of(case, 1e-9))
  })

  test_that(paste0("repeated ", case$name, ": posteriors are those of the rows, point estimates are one a row"), {
    e <- contract(resp[, 1:2])
    plain <- case
    plain$model$obs$repeated <- plain$data$individual <- plain$data$n_individuals <- NULL
    f <- engine_contract(plain$data, plain$model, resp[individual, 1:2])
    expect_equal(e$posterior, f$posterior, tolerance = 1e-12)
    expect_equal(e$mean_parameters, f$mean_parameters, tolerance = 1e-12)
    p <- ncol(f$features)
    expect_equal(e$point_weights[, 1 + seq_len(p)], f$point_weights, tolerance = tolerance_of(case, 1e-12))
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
      engine_elbo_of(case$data, case$model, start), repeated_elbo_twin(case, rows, start, prior),
      tolerance = tolerance_of(case, 1e-10)
    )
    # The first lap's local step is at the globals that are optimal for the start.
    local <- repeated_local_twin(case, rows, start, prior)
    one <- engine_at(case, start, laps = 1L)
    expect_equal(one$terms, repeated_elbo_twin(case, rows, local, prior), tolerance = tolerance_of(case, 1e-9))
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

test_that("statistics of complete individuals are those of the model with gaps", {
  cases <- model_cases()
  names(cases) <- vapply(cases, `[[`, "", "name")
  for (name in c("poisson", "gaussian_diagonal", "bernoulli", "product, gaps")) {
    case <- with_individual_rows(cases[[name]], rep(1:10, 4))
    complete <- gaps <- case
    for (row in which(rowSums(is.na(case$data$x)) > 0)) case$data$x[row, ] <- case$data$x[1, ]
    complete$data <- gaps$data <- case$data
    without <- function(obs) if (is.null(obs$blocks)) obs[setdiff(names(obs), "gaps")] else
      replace(obs, "blocks", list(lapply(obs$blocks, without)))
    complete$model$obs <- without(complete$model$obs)
    if (is.null(gaps$model$obs$blocks)) gaps$model$obs$gaps <- TRUE
    of <- function(case) engine_contract(case$data, case$model, cbind(1, (1:10) / 7))$statistic
    turned <- engine_complete_to_gaps(complete$model$obs, gaps$model$obs, of(complete))
    expect_equal(turned, of(gaps), tolerance = 1e-12, label = name)
  }
})

test_that("individuals that contradict the data or the model are internal errors", {
  case <- repeated_cases()[[1]]
  refused <- function(...) {
    case$data[names(list(...))] <- list(...)
    expect_error(engine_elbo_of(case$data, case$model, matrix(1, case$data$n)), "internal error")
  }
  refused(individual = case$data$individual[-1])
  refused(individual = replace(case$data$individual, 1, 0L))
  refused(individual = replace(case$data$individual, 1, case$data$n_individuals + 1L))
  refused(n_individuals = case$data$n_individuals + 1L)
  refused(n_individuals = -1L)
  refused(x = case$data$x[, 1], d = 1L)
  rows <- case$data[setdiff(names(case$data), "individual")]
  expect_error(engine_elbo_of(rows, case$model, matrix(1, rows$n)), "internal error")
  plain <- replace(case$model, "obs", list(replace(case$model$obs, "repeated", FALSE)))
  expect_error(engine_elbo_of(case$data, plain, cbind(rep(1, case$data$n))), "internal error")
  series <- Filter(function(case) case$name == "ar", planted_cases())[[1]]
  series <- with_individual_rows(series, seq_len(series$data$n))
  expect_error(engine_elbo_of(series$data, series$model, cbind(rep(1, series$data$n))), "internal error")
})

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
  for (case in some_of(Filter(can_repeat, model_cases()), by = 15)) {
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

for (case in some_of(repeated_cases(), by = 11)) {
  test_that(paste0("repeated ", case$name, ": moves equal their recomputation"), {
    moves <- 0
    for (batches in c(1, 4)) {
      for (k_init in some_of(c(12, 1), by = 2, from = min(batches, 2))) {
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

test_that("known labels of individuals hold through audited moves, and earlier fits in other units", {
  case <- repeated_cases()[[1]]
  class <- replace(case$of_individual, case$of_individual > 2, 0L)
  class[-seq(1, length(class), by = 3)] <- 0L
  case$data$classes <- class[case$data$individual]
  case$data$class_sets <- diag(2) == 1
  start <- list(labels = replace(class, class == 0, 3L), k = 3L, owner = c(1L, 2L, 0L))
  for (batches in c(1, 3)) {
    fit <- engine_run(case, start = start, batches = batches, seed = 2, audit = TRUE)
    expect_audited(fit)
    expect_identical(fit$state$owner[fit$labels[class > 0]], as.integer(class[class > 0]))
    expect_gt(adjusted_rand_index(fit$labels, case$of_individual), 0.9)
  }
  moved <- case
  moved$model$obs$centre <- moved$model$obs$centre + c(1, -3)
  moved$model$obs$unit <- moved$model$obs$unit * c(4, 0.5)
  at <- engine_run(case, start = start, max_laps = 1, moves = FALSE, seed = 2)
  again <- engine_run(
    moved, start = list(state = at$state, obs = case$model$obs), max_laps = 1, moves = FALSE, seed = 2
  )
  here <- engine_run(case, start = list(state = at$state), max_laps = 1, moves = FALSE, seed = 2)
  expect_equal(again$elbo, here$elbo, tolerance = 1e-9)
})

test_that("the order of rows, within individuals and between them, changes nothing", {
  for (case in some_of(Filter(function(case) !is.null(case$data$x), repeated_cases()), by = 9, from = 2)) {
    a <- engine_run(case, seed = 2, k_init = 4)
    b <- engine_run(reordered_rows(case, withr::with_seed(1, sample(case$data$n))), seed = 2, k_init = 4)
    expect_equal(b$elbo, a$elbo, tolerance = 1e-10, label = case$name)
    expect_identical(b$labels, a$labels, label = case$name)
  }
})

test_that("one row an individual is the fit without individuals", {
  for (case in some_of(Filter(can_repeat, planted_cases()), by = 7, from = 3)) {
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

test_that("individuals go with L-sparse responsibilities, candidates, every prior and stochastic steps", {
  case <- repeated_cases()[[1]]
  expect_audited(engine_run(
    case, k_init = 20, seed = 2, sparsity = 2, candidates = 4, batches = 2, audit = TRUE,
    moves = bnp_moves(birth = FALSE, delete = FALSE)
  ))
  for (prior in mixture_priors) {
    k_init <- if (is.null(prior$k)) 9
    expect_audited(engine_run(case, prior = prior, seed = 1, k_init = k_init, audit = TRUE, batches = 2))
  }
  start <- list(resp = diag(4)[case$of_individual, ])
  control <- engine_control(4, seed = 4, batches = 5L, algorithm = "stochastic", max_laps = 3L)
  fit <- engine_fit(case$data, case$model, control, start, NULL)
  expect_equal(sum(fit$sizes), case$data$n_individuals)
  expect_identical(adjusted_rand_index(fit$labels, case$of_individual), 1)
})

long_test("planted clusters of individuals are found by every model", {
  for (case in some_of(repeated_cases(), by = 5)) {
    fit <- engine_run(case, seed = 1)
    found <- adjusted_rand_index(fit$labels, case$of_individual)
    # These overlap: from the labels themselves their fits are no better.
    least <- c(censored = 0.5, von_mises = 0.85, censored_weibull = 0.4)
    expect_gt(found, if (case$name %in% names(least)) least[[case$name]] else 0.9, label = case$name)
  }
})

test_that("sums of sparse rows are sparse, and those of dense rows", {
  names <- c("multinomial", "bernoulli", "poisson", "poisson, exposure")
  for (dense in Filter(function(case) case$name %in% names, repeated_cases())) {
    sparse <- dense
    sparse$data <- c(sparse_engine_data(dense$data$x), dense$data[c("individual", "n_individuals")])
    resp <- resp_of(dense$data$n_individuals, 3)
    expect_equal(
      engine_at(sparse, resp, laps = 2L)[c("elbo", "sizes", "state")],
      engine_at(dense, resp, laps = 2L)[c("elbo", "sizes", "state")], tolerance = 1e-11
    )
  }
})

# ---- What users see ----

quiet <- bnp_control(seed = 1, keep = "probabilities", verbose = FALSE)
flowers <- iris[1:4]
plant <- paste(iris$Species, rep(1:10, 15))
of_plants <- bnp_mixture(flowers, id = plant, control = quiet)

# Lines whose single rows overlap, 8 of each individual.
crossing_lines <- function(groups = 40, seed = 1) {
  withr::with_seed(seed, {
    individual <- rep(seq_len(groups), each = 8)
    truth <- rep(1:2, length.out = groups)
    x <- runif(length(individual))
    slope <- c(1, -1)[truth[individual]]
    y <- 2 * slope * (x - 0.5) + rnorm(length(x), 0, 0.7)
    data.frame(who = factor(individual), x, y, truth = truth[individual])
  })
}

test_that("regressions of individuals are found where single rows cannot be told apart", {
  d <- crossing_lines()
  by_id <- bnp_mixture(y ~ x, d, id = ~ who, control = quiet)
  expect_identical(n_clusters(by_id), 2L)
  expect_gt(adjusted_rand_index(fitted(by_id), d$truth), 0.8)
  expect_lt(adjusted_rand_index(fitted(bnp_mixture(y ~ x, d, control = quiet)), d$truth), 0.3)
  as_flexmix <- bnp_mixture(y ~ x | who, d, control = quiet)
  expect_identical(as_flexmix[c("elbo", "labels", "state")], by_id[c("elbo", "labels", "state")])
  expect_identical(bnp_mixture(y ~ x, d, id = d$who, control = quiet)$elbo, by_id$elbo)
  y <- d$y
  x <- d$x
  who <- d$who
  expect_identical(bnp_mixture(y ~ x | who, control = quiet)$elbo, by_id$elbo)
  expect_identical(bnp_mixture(y ~ x | who, as.list(d), control = quiet)$elbo, by_id$elbo)
  expect_identical(bnp_mixture(y ~ x | who, list2env(d), control = quiet)$elbo, by_id$elbo)
  expect_identical(bnp_mixture(y ~ . - truth, d, id = "who", control = quiet)$elbo, by_id$elbo)
  # A column that the formula has too stays.
  both <- bnp_mixture(y ~ x + truth | truth, d, control = quiet)
  expect_identical(both$input$n_individuals, 2L)
  for (changed in list(update(as_flexmix, . ~ . - x), update(by_id, . ~ . - x))) {
    expect_identical(changed$input$individual, by_id$input$individual)
  }
  expect_identical(update(by_id, prior = prior_dirichlet(3))$input$n_individuals, 40L)
})

test_that("rows have the cluster of their individual, in the user's order", {
  shuffled <- withr::with_seed(3, sample(150))
  other <- bnp_mixture(flowers[shuffled, ], id = factor(plant, unique(plant))[shuffled], control = quiet)
  expect_equal(other$elbo, of_plants$elbo, tolerance = 1e-10)
  for (f in list(fitted, function(fit) predict(fit, type = "prob"), function(fit) as.matrix(predict(fit)))) {
    expect_equal(unname(as.matrix(f(other))), unname(as.matrix(f(of_plants))[shuffled, , drop = FALSE]))
  }
  expect_identical(rownames(predict(other, type = "prob")), as.character(seq_len(150)[shuffled]))
  expect_length(unique(paste(plant, fitted(of_plants))), 30)
  expect_identical(adjusted_rand_index(fitted(of_plants), iris$Species), 1)
  expect_equal(cluster_sizes(of_plants), c(`1` = 10, `2` = 10, `3` = 10))
  expect_identical(nobs(of_plants), 150L)
  expect_output(print(of_plants), "30 individuals, 150 rows of 4 columns", fixed = TRUE)
  expect_output(print(summary(of_plants)), "30 individuals", fixed = TRUE)
  expect_false(grepl("repeated", format(of_plants$model$obs)))
  named <- bnp_mixture(data.frame(flowers, plant), id = "plant", control = quiet)
  expect_identical(named$elbo, of_plants$elbo)
  expect_identical(unname(fitted(named)), unname(fitted(of_plants)))
})

test_that("new rows have the answers of their individuals", {
  prob <- predict(of_plants, flowers, type = "prob")
  expect_equal(prob, predict(of_plants, type = "prob"), ignore_attr = TRUE)
  expect_equal(predict(of_plants, flowers, type = "prob", id = plant), prob)
  some <- c(3, 60, 7, 121, 3)
  who <- c("b", "a", "b", "c", "b")
  answer <- predict(of_plants, flowers[some, ], type = "prob", id = who)
  expect_identical(answer[1, ], answer[3, ])
  one <- predict(of_plants, flowers[60, ], type = "prob", id = 1)
  expect_equal(unname(answer[2, ]), unname(one[1, ]), tolerance = 1e-12)
  # Log densities: one an individual; of single rows those of the mixture.
  density <- predict(of_plants, flowers[some, ], type = "logdensity", id = who)
  expect_named(density, c("b", "a", "c"))
  expect_equal(heldout_loglik(of_plants, flowers[some, ], id = who), sum(density) / 5)
  p <- posterior_params(of_plants)
  df <- p$df - 3
  x <- as.matrix(flowers[60, ])
  scale <- function(k) p$scale[, , k] * (p$mean_strength[k] + 1) / (p$mean_strength[k] * df[k])
  each <- vapply(1:3, function(k) log_t(x - p$mean[k, ], df[k], scale(k)), 1)
  weight <- coef(of_plants)$weights[1:3]
  expect_equal(density[["a"]], log(sum(weight * exp(each))), tolerance = 1e-3)
  expect_identical(predict(of_plants, flowers, type = "class"), unname(fitted(of_plants)), ignore_attr = TRUE)
  expect_equal(nrow(predict(of_plants, flowers, type = "cluster")), 150)
  expect_equal(dim(predict(of_plants, flowers[0, ], type = "prob")), c(0, 3))
  expect_identical(predict(of_plants, flowers[0, ]), integer(), ignore_attr = TRUE)
})

test_that("joint densities of an individual are the chain of its rows' predictives", {
  d <- crossing_lines()
  given <- obs_regression(learn = FALSE)
  fit <- bnp_mixture(y ~ x | who, d, obs = given, prior = prior_dirichlet(1), control = quiet)
  new <- data.frame(x = c(0.1, 0.7), y = c(0.4, -0.2))
  both <- predict(fit, new, type = "logdensity", id = c(1, 1))
  single <- predict(fit, new, type = "logdensity", id = 1:2)
  again <- bnp_mixture(y ~ x, rbind(d[c("x", "y")], new[1, ]), obs = fit$model$obs, prior = prior_dirichlet(1),
                       id = c(d$who, 99), control = quiet)
  second <- predict(again, new[2, ], type = "logdensity", id = 1)
  expect_equal(both[[1]], single[[1]] + second[[1]], tolerance = 1e-8)
})

test_that("every reader of a fit takes individuals", {
  d <- data.frame(flowers, plant)
  expect_identical(augment(of_plants, flowers)$.class, augment(of_plants, d, id = "plant")$.class)
  expect_identical(as.integer(augment(of_plants, flowers)$.class), unname(fitted(of_plants)))
  together <- coclustering(of_plants)
  expect_identical(dimnames(together), list(unique(plant), unique(plant)))
  expect_equal(coclustering(of_plants, flowers), together)
  expect_equal(coclustering(of_plants, flowers, id = plant), together)
  tree <- cluster_tree(of_plants, flowers)
  expect_equal(tree$fitted_elbo, of_plants$elbo)
  expect_equal(tree$elbo[1], of_plants$elbo, tolerance = 1e-6)
  two <- cut_fit(of_plants, flowers, k = 2)
  expect_identical(sort(unname(cluster_sizes(two))), c(10, 20))
  expect_length(fitted(two), 150)
  expect_identical(cut_fit(of_plants, flowers, k = 2, id = plant)$elbo, two$elbo)
  expect_bad(cluster_tree(of_plants, flowers, id = rep(1:30, 5)), "other_data")
  expect_equal(nrow(confint(of_plants)), 3 * (1 + 4 + 10))
  expect_identical(glance(of_plants)$nobs, 150L)
  both <- compare_fits(of_plants, bnp_mixture(flowers, control = quiet), newdata = d, id = "plant")
  expect_gt(both$elbo[1], both$elbo[2])
  expect_equal(both$heldout[1], heldout_loglik(of_plants, flowers))
  expect_identical(unname(compare_fits(of_plants, two)$ari[1]), 1)
  withr::local_pdf(NULL)
  for (type in c("clusters", "uncertainty")) expect_silent(plot(of_plants, type, data = flowers))
  expect_silent(plot(of_plants, "profile"))
  waiting <- bnp_mixture(faithful$waiting, id = rep(1:136, 2), control = quiet)
  expect_silent(plot(waiting, "density"))
  if (requireNamespace("clue", quietly = TRUE)) {
    expect_equal(as.integer(clue::cl_class_ids(of_plants)), unname(fitted(of_plants)))
    expect_equal(nrow(clue::cl_membership(of_plants)), 150)
  }
})

test_that("simulated rows of an individual are of one cluster", {
  sim <- simulate(of_plants, seed = 1)$sim_1
  expect_identical(as.character(sim$.id), plant)
  expect_true(all(tapply(as.integer(sim$.class), sim$.id, function(v) length(unique(v))) == 1))
  sim <- simulate(of_plants, 50, seed = 2, id = c("u", "v", "u"))
  expect_true(all(vapply(sim, function(s) s$.class[1] == s$.class[3], NA)))
  expect_false(all(vapply(sim, function(s) s$.class[1] == s$.class[2], NA)))
  expect_bad(simulate(of_plants, n = 4), "id", "needed")
  expect_bad(simulate(of_plants, n = 4, id = 1:3), "id", "leave `n` out")
  expect_bad(simulate(of_plants, id = list(1)), "id", "vector")
  expect_bad(simulate(bnp_mixture(faithful, control = quiet), id = 1:272), "id", "repeated")
})

test_that("starts, weights and labels are given by individual, or the same in all rows of one", {
  species <- rep(1:3, each = 10)
  for (start in list(species, iris$Species, diag(3)[species, ], diag(3)[iris$Species, ], of_plants)) {
    fit <- bnp_mixture(flowers, id = plant, start = start, control = quiet)
    expect_equal(fit$elbo, of_plants$elbo, tolerance = 1e-8) # both have converged
  }
  w <- rep(1:3, 10)
  weighted <- bnp_mixture(flowers, id = plant, weights = w, control = quiet)
  rows <- w[match(plant, unique(plant))]
  expect_identical(bnp_mixture(flowers, id = plant, weights = rows, control = quiet)$elbo, weighted$elbo)
  copies <- rep(seq_len(150), rows)
  number <- unlist(lapply(rows, seq_len))
  written <- bnp_mixture(flowers[copies, ], id = paste(plant[copies], number), control = quiet)
  expect_equal(weighted$elbo, written$elbo, tolerance = 1e-10)
  expect_equal(cluster_sizes(weighted), cluster_sizes(written), tolerance = 1e-8)
  expect_output(print(weighted), "60 individuals (30 with weights), 300 rows", fixed = TRUE)
  expect_identical(nobs(weighted), 300)
  absent <- bnp_mixture(flowers, id = plant, weights = rep(0:1, 15), control = quiet)
  expect_equal(sum(cluster_sizes(absent)), 15)
  expect_false(anyNA(fitted(absent)))

  known <- replace(as.character(iris$Species), -seq(1, 150, by = 25), NA)
  labelled <- bnp_mixture(flowers, id = plant, labels = known, control = quiet)
  expect_identical(as.character(predict(labelled, type = "label")), as.character(iris$Species))
  expect_identical(as.character(predict(labelled, flowers, type = "label")), as.character(iris$Species))
  by_plant <- tapply(known, factor(plant, unique(plant)), function(v) c(v[!is.na(v)], NA)[1])
  again <- bnp_mixture(flowers, id = plant, labels = as.vector(by_plant), control = quiet)
  expect_identical(again$elbo, labelled$elbo)
  sets <- matrix(NA, 150, 3, dimnames = list(NULL, levels(iris$Species)))
  sets[!is.na(known), ] <- outer(known[!is.na(known)], levels(iris$Species), `==`)
  expect_equal(bnp_mixture(flowers, id = plant, labels = sets, control = quiet)$elbo, labelled$elbo)
  # A label binds all rows of an individual, however far it is from its cluster.
  wrong <- replace(known, which(known == "setosa")[1], "virginica")
  expect_bad(bnp_mixture(flowers, id = plant, labels = c(wrong[1], "setosa", wrong[-(1:2)]) |>
    replace(11, "versicolor"), control = quiet), "labels", "same in all rows")
  odd <- bnp_mixture(flowers, id = plant, labels = replace(known, 2, "virginica"), control = quiet)
  expect_identical(as.character(predict(odd, type = "label"))[plant == plant[2]], rep("virginica", 5))
})

test_that("missing values of individuals: left out, or modelled where features can be added up", {
  gone <- flowers
  gone[cbind(c(1, 2, 120), c(1, 3, 4))] <- NA
  gone[60, ] <- NA
  expect_message(
    fit <- bnp_mixture(
      gone, obs_gaussian("diagonal", learn = FALSE), id = plant, na_action = "model", control = quiet
    ), "1 row"
  )
  expect_identical(unname(fitted(fit)[60]), unname(fitted(fit)[70]))
  expect_identical(nobs(fit), 149L)
  # The bound, in plain R, of the responsibilities of the fit.
  resp <- coclustering(fit) # individuals are certain
  prob <- predict(fit, type = "responsibility")[match(unique(plant), plant), ]
  expect_lt(max(prob * (1 - prob)), 1e-7)
  obs <- fit$model$obs
  rows <- as.matrix(gone)
  twin <- twin_with_gaps(twin_rounded(twin_gaussian_diagonal))(obs[setdiff(names(obs), c("repeated", "gaps"))])
  data <- sum(apply(round(prob), 2, function(r) twin$evidence(rows, r[match(plant, unique(plant))])))
  expect_equal(elbo(fit, terms = TRUE)[["data"]], data, tolerance = 1e-8)
  # New rows.
  answer <- predict(fit, gone, type = "prob", na_action = "model")
  expect_equal(dim(answer), c(150, 3))
  expect_equal(unname(answer[60, ]), unname(answer[70, ]))
  complete <- bnp_mixture(flowers, obs_gaussian("diagonal"), id = plant, control = quiet)
  expect_identical(unname(predict(complete, gone, na_action = "model", id = plant)), unname(fitted(complete)))
  expect_equal(
    predict(complete, gone[c(1, 11), ], type = "logdensity", na_action = "model", id = c(1, 1)),
    predict(complete, gone[c(11, 1), ], type = "logdensity", na_action = "model", id = c(1, 1))
  )
  expect_true(is.finite(heldout_loglik(fit, gone, na_action = "model")))
  copies <- impute(fit, gone, m = 2, seed = 1, id = plant)
  expect_false(anyNA(copies[[2]]))
  expect_false(anyNA(predict(fit, gone, type = "impute", id = plant)))
  again <- bnp_mixture(
    gone, obs_gaussian("diagonal", learn = FALSE), id = plant, na_action = "model", control = quiet, start = complete
  )
  expect_equal(again$elbo, fit$elbo, tolerance = 1e-6)

  expect_message(omitted <- bnp_mixture(gone, id = plant, na_action = "omit", control = quiet), "4 rows")
  expect_identical(unname(fitted(omitted)), unname(fitted(omitted))[match(plant, plant)])
  expect_false(anyNA(fitted(omitted)))
  gone[plant == plant[3], 2] <- NA
  omitted <- suppressMessages(bnp_mixture(gone, id = plant, na_action = "omit", control = quiet))
  expect_identical(which(is.na(fitted(omitted))), which(plant == plant[3]), ignore_attr = TRUE)
  expect_identical(omitted$input$n_individuals, 29L)
  answer <- suppressMessages(predict(omitted, gone, na_action = "omit", id = plant))
  expect_identical(unname(answer), unname(fitted(omitted)))
  twice <- suppressMessages(bnp_mixture(gone, id = plant, na_action = "omit", weights = rep(2, 30), control = quiet))
  expect_equal(nobs(twice), 2 * nobs(omitted))
  expect_bad(
    suppressMessages(bnp_mixture(gone, id = plant, na_action = "model", control = quiet)), "gaps", "independent given"
  )
  expect_bad(suppressMessages(predict(of_plants, gone, na_action = "model", id = plant)), "gaps", "In rows 1, 2, 3, 13")
  # Rows without any response say nothing of their individual, and have its cluster.
  lines <- crossing_lines()
  lines$y[c(1, 20)] <- NA
  fit <- suppressMessages(bnp_mixture(y ~ x | who, lines, na_action = "model", control = quiet))
  expect_identical(nobs(fit), 318L)
  expect_identical(unname(fitted(fit)[1]), unname(fitted(fit)[2]))
  expect_identical(unname(suppressMessages(predict(fit, lines, na_action = "model"))), unname(fitted(fit)))
  expect_bad(suppressMessages(impute(fit, lines)), "argument", "cannot be imputed")
})

test_that("individuals go with other observation models, learned priors and products", {
  expect_learns <- function(...) {
    fit <- bnp_mixture(..., control = bnp_control(seed = 1, max_laps = 30, verbose = FALSE))
    expect_gte(min(diff(elbo_trace(fit)$elbo)), -1e-8 * abs(fit$elbo))
    expect_length(fitted(fit), NROW(list(...)[[1]]))
    expect_s3_class(tidy(fit), "data.frame")
    expect_gt(nrow(simulate(fit, seed = 1)$sim_1), 0)
    fit
  }
  few <- function(expr) suppressWarnings(expr, classes = "bnpvi_warning_max_laps")
  learned <- few(expect_learns(flowers, obs_gaussian(learn = TRUE), id = plant))
  expect_equal(learned$model$obs$repeated, TRUE)
  expect_gt(learned$elbo, bnp_mixture(flowers, obs_gaussian(learn = FALSE), id = plant, control = quiet)$elbo)
  few(expect_learns(flowers, obs_gaussian("tied"), id = plant))
  few(expect_learns(data.frame(flowers, size = cut(flowers[[1]], 3)), id = plant))
  few(expect_learns(as.data.frame(lapply(flowers, function(v) as.integer(v))), obs_poisson(), id = plant))
  few(expect_learns(1 * (flowers > 3), obs_bernoulli(learn = TRUE), id = plant))
  few(expect_learns(round(10 * flowers), obs_multinomial(term_prior = NULL), id = plant))
})

test_that("every model and every method takes individuals", {
  withr::local_pdf(NULL)
  control <- bnp_control(seed = 1, k_init = 3, max_laps = 30, moves = FALSE, verbose = FALSE)
  # Exposures that are given as numbers are not known of new rows.
  new_rows <- Filter(function(case) !grepl("sparse|exposure", case$name), repeated_cases())
  for (case in some_of(new_rows, by = 7)) {
    x <- `dimnames<-`(case$x, list(NULL, colnames(case$x) %||% paste0("col", seq_len(ncol(case$x)))))
    who <- case$data$individual
    fit <- suppressWarnings(bnp_mixture(x, case$obs, control = control, id = who))
    prob <- predict(fit, x, type = "prob", id = who)
    expect_equal(unname(rowSums(prob)), rep(1, nrow(x)), label = case$name)
    fit_prob <- predict(fit, x, type = "responsibility", id = who)
    expect_identical(unname(fitted(fit)), max.col(fit_prob, ties.method = "first"), label = case$name)
    expect_identical(prob[match(who, who), ], prob, ignore_attr = TRUE)
    sim <- simulate(fit, seed = 1)$sim_1
    expect_identical(as.integer(as.character(sim$.id)), who)
    values <- as.matrix(sim[seq_len(ncol(x))])
    expect_true(all(obs_supports(case$obs, values)), label = case$name)
    expect_true(is.finite(heldout_loglik(fit, x, id = who)), label = case$name)
    expect_equal(nrow(augment(fit, x, id = who)), nrow(x))
    expect_gte(nrow(tidy(fit, conf.int = TRUE)), 3)
    expect_output(print(summary(fit)), paste(max(who), "individuals"))
    if (!obs_can(case$obs, "picture")) next
    expect_silent(plot(fit))
    expect_silent(plot(fit, data = x))
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(fit, data = x), "ggplot")
  }
})

test_that("what `id` cannot be is refused", {
  refused <- function(..., says) expect_bad(bnp_mixture(..., control = quiet), "id", says)
  refused(flowers, id = plant[-1], says = "one value per row of `x` \\(150\\)")
  refused(flowers, id = replace(plant, 5, NA), says = "missing values")
  refused(iris, id = "plant", says = "does not have")
  refused(iris, id = ~ a + b, says = "one column")
  refused(flowers, id = list(1), says = "one value per row")
  refused(lynx, obs = obs_ar(), id = rep(1, 114), says = "series")
  refused(list(lynx, lynx), obs = obs_ar(), id = 1:2, says = "list of series")
  refused(Sepal.Length ~ Sepal.Width | Species, data = iris, id = "Species", says = "give only one")
  refused(~ Sepal.Width | plant, data = iris, says = "does not have")
  refused(flowers$Sepal.Length ~ flowers$Sepal.Width | nowhere, says = "does not exist")
  refused(~ Sepal.Width | a + b, data = iris, says = "one column")
  expect_bad(predict(of_plants, flowers[1:3, ]), "id", "seq_len")
  expect_bad(predict(of_plants, id = plant), "id", "for `newdata`")
  expect_bad(predict(of_plants, flowers, id = plant[-1]), "id", "one value per row")
  expect_bad(predict(bnp_mixture(faithful, control = quiet), faithful, id = 1:272), "id", "repeated")
  expect_bad(predict(of_plants, replace(flowers, 1, 1e150), id = plant), "range", "1e\\+120")
  expect_bad(bnp_mixture(flowers, id = plant, control = bnp_control(k_init = 31)), "k_init", "individuals \\(30\\)")
  expect_bad(bnp_mixture(flowers, id = plant, control = bnp_control(batches = 31)), "argument", "individuals \\(30\\)")
  other <- function(arg, value, says) {
    arguments <- c(list(flowers, id = plant, control = quiet), stats::setNames(list(value), arg))
    expect_bad(do.call(bnp_mixture, arguments), arg, says)
  }
  other("weights", runif(150), "the same in all rows of an individual")
  other("weights", 1:7, "one per individual \\(30\\), not 7")
  other("start", rep(1:3, 50), "the same in all rows")
  other("start", rep(1, 4), "one per individual")
  other("start", bnp_mixture(flowers, control = quiet), "with `id` where there is one")
  other("labels", seq_len(150) %% 7, "the same in all rows")
  expect_bad(bnp_mixture(flowers, start = of_plants, control = quiet), "start", "with `id` where there is one")
})

test_that("defaults of priors are read from rows, and the share of a cluster's variance from individuals", {
  x <- withr::with_seed(1, matrix(rnorm(240), 120))
  who <- rep(1:30, each = 4)
  scale_of <- function(obs, ...) {
    control <- bnp_control(seed = 1, verbose = FALSE)
    bnp_mixture(x, obs, ..., prior = prior_dirichlet(1), control = control)$model$obs$scale
  }
  for (kind in c("full", "diagonal", "zero_mean", "spherical")) {
    obs <- obs_gaussian(kind, learn = FALSE)
    expect_equal(scale_of(obs, id = who), 2 * scale_of(obs), label = kind, tolerance = 1e-10) # sqrt(120 / 30)
    twice <- scale_of(obs, id = who, weights = rep(2, 30))
    expect_equal(twice, 2 * scale_of(obs, weights = rep(2, 120)), label = kind, tolerance = 1e-10)
  }
})
