# Transitions that are fixed, and those that cannot be.

still <- bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE)
to_the_end <- function(...) bnp_control(tol = 1e-10, moves = still, ...)

long_test("the twin has the figures of the derivation", {
  free <- twin_cells(rep(10 / 3, 3), matrix(0.5 / 3, 3, 3))
  expect_equal(twin_log_evidence(pattern_x, free), -12.92725804, tolerance = 1e-9)
  right <- twin_cells(c(1, 0, 0), 0.5 / 3 * left_to_right(3))
  expect_equal(twin_log_evidence(pattern_x, right), -12.61989407, tolerance = 1e-9)
  fixed <- rbind(c(0.9, 0, 0), c(0.1, 0.8, 0.1), 0)
  known <- twin_cells(rep(10 / 3, 3), rbind(0.5 / 3, 0, rep(0.5 / 3, 3)), fixed)
  expect_equal(twin_log_evidence(pattern_x, known), -12.72106624, tolerance = 1e-9)
})

long_test("a fit ends at each optimum of a left-to-right chain, with the bound and marginals of all its paths", {
  cells <- twin_cells(c(1, 0, 0), 0.5 / 3 * left_to_right(3))
  evidence <- twin_log_evidence(pattern_x, cells)
  optima <- list(
    list(path = rep(1, 7), bound = -13.54878768), list(path = c(1, 2, 3, 3, 3, 3, 3), bound = -14.01117046),
    list(path = c(1, 2, 2, 2, 2, 2, 2), bound = -14.1657460)
  )
  for (optimum in optima) {
    twin <- twin_chain(pattern_x, cells, near_path(optimum$path))
    expect_equal(twin$bound, optimum$bound, tolerance = 1e-7)
    fit <- bnp_hmm(
      pattern_x, obs = unit_variance, prior = prior_hmm(3, transitions = left_to_right(3)), control = to_the_end(),
      start = near_path(optimum$path)
    )
    expect_equal(elbo(fit), optimum$bound, tolerance = 1e-5)
    expect_lt(elbo(fit), evidence)
    expect_equal(unname(predict(fit, pattern_x, type = "responsibility")), twin$resp, tolerance = 1e-4,
      ignore_attr = TRUE)
    expect_identical(unname(fitted(fit)), as.integer(optimum$path))
    expect_equal(elbo(fit, terms = TRUE)[["entropy"]], twin$entropy, tolerance = 1e-3)
    p <- transition_matrix(fit)
    expect_identical(p[!left_to_right(3)], rep(0, 6 - 2))
    expect_identical(attr(p, "start")[2:3], c(`2` = 0, `3` = 0))
    expect_identical(fit$state$pair[!left_to_right(3)], rep(0, 4))
  }
})

test_that("fixed transitions have the bound of the twin, and stay as they are", {
  fixed <- rbind(c(0.9, NA, NA), c(0.1, 0.8, 0.1), NA)
  cells <- twin_cells(rep(10 / 3, 3), rbind(0.5 / 3, 0, rep(0.5 / 3, 3)), ifelse(is.na(fixed), 0, fixed))
  for (seed in some_of(1:3, by = 3)) {
    start <- withr::with_seed(seed, matrix(rgamma(21, 0.5), 7))
    start <- start / rowSums(start)
    twin <- twin_chain(pattern_x, cells, start)
    fit <- bnp_hmm(
      pattern_x, obs = unit_variance, prior = prior_hmm(3, fixed = fixed), control = to_the_end(), start = start
    )
    expect_equal(elbo(fit), twin$bound, tolerance = 1e-5)
    expect_equal(unclass(transition_matrix(fit))[!is.na(fixed)], fixed[!is.na(fixed)], tolerance = 1e-14)
  }
  expect_lt(elbo(fit), twin_log_evidence(pattern_x, cells))
})

test_that("the best ends are those of the derivation", {
  best <- function(prior) {
    fits <- lapply(1:20, function(seed) {
      start <- withr::with_seed(seed, matrix(rgamma(21, 0.3), 7))
      bnp_hmm(pattern_x, obs = unit_variance, prior = prior, control = to_the_end(), start = start / rowSums(start))
    })
    fits[[which.max(vapply(fits, elbo, 1))]]
  }
  expect_equal(elbo(best(prior_hmm(3))), -15.35673847, tolerance = 1e-6)
  fixed <- best(prior_hmm(3, fixed = rbind(c(0.9, NA, NA), c(0.1, 0.8, 0.1), NA)))
  expect_equal(elbo(fixed), -14.25545962, tolerance = 1e-6)
  expect_equal(elbo(fixed, terms = TRUE)[["entropy"]], 0.00931157, tolerance = 1e-5)
  ends <- list(
    list(path = c(1, 1, 1, 1, 1, 1, 1), bound = -13.54878768, entropy = 3.12136e-05),
    list(path = c(1, 2, 3, 3, 3, 3, 3), bound = -14.01117046, entropy = 0.00348557),
    list(path = c(1, 2, 2, 2, 2, 2, 2), bound = -14.1657460, entropy = 0.0240838)
  )
  for (end in ends) {
    fit <- bnp_hmm(pattern_x, obs = unit_variance, prior = prior_hmm(3, transitions = left_to_right(3)),
      control = to_the_end(), start = near_path(end$path))
    expect_equal(elbo(fit), end$bound, tolerance = 1e-6)
    expect_equal(elbo(fit, terms = TRUE)[["entropy"]], end$entropy, tolerance = 1e-5)
  }
})

test_that("weights and first states of their own have the bound of the twin", {
  weights <- rbind(c(2, 0.3, 0), c(0, 1, 0.5), c(1, 0, 4))
  first <- c(3, 0, 1)
  cells <- twin_cells(first, weights)
  fit <- bnp_hmm(
    pattern_x, obs = unit_variance, prior = prior_hmm(3, start = first, transitions = weights),
    control = to_the_end(), start = near_path(c(1, 1, 2, 3, 3, 1, 1))
  )
  twin <- twin_chain(pattern_x, cells, near_path(c(1, 1, 2, 3, 3, 1, 1)))
  expect_equal(elbo(fit), twin$bound, tolerance = 1e-5)
  theta <- posterior_params(fit)$transition
  expect_equal(unname(theta), unname((cells$weight + twin$counts)[-1, ]) * (weights > 0), tolerance = 1e-5)
})

test_that("a chain that is known as a whole: one path, and densities are those of all paths", {
  cycle <- rbind(c(0, 1, 0), c(0, 0, 1), c(1, 0, 0))
  x <- withr::with_seed(1, rnorm(40, rep_len(c(0, 3, 6), 40)))
  fit <- bnp_hmm(x, obs = unit_variance, prior = prior_hmm(3, fixed = cycle, start = c(1, 0, 0)))
  expect_identical(unname(fitted(fit)), rep_len(1:3, 40))
  expect_identical(unclass(transition_matrix(fit))[1:9], as.numeric(cycle))
  expect_equal(
    elbo(fit), sum(vapply(1:3, function(j) {
      own <- x[seq(j, 40, by = 3)]
      twin_state_evidence(length(own), sum(own), sum(own^2))
    }, 1)), tolerance = 1e-5
  )
  expect_identical(as.integer(simulate(fit, lengths = 7, seed = 1)[[1]]$.state), rep_len(1:3, 7))
  expect_equal(unname(unlist(predict(fit, x, n.ahead = 1)[paste0("prob.", 1:3)])), c(0, 1, 0))
})

test_that("predictive probabilities, densities and filters sum over the allowed paths", {
  prior <- prior_hmm(3, transitions = left_to_right(3, return = TRUE), start = c(2, 1, 0))
  fit <- bnp_hmm(pattern_x, obs = unit_variance, prior = prior, control = bnp_control(seed = 1))
  new <- c(0.3, -1, 1.1, 0.4)
  p <- transition_matrix(fit)
  q <- posterior_params(fit)
  sd <- sqrt(1 + 1 / q$mean_strength)
  log_e <- vapply(1:3, function(j) stats::dnorm(new, q$mean[j], sd[j], log = TRUE), double(4))
  paths <- enumerate_paths(log(attr(p, "start")), log(unclass(p)), log_e)
  prob <- predict(fit, new, type = "prob")
  expect_equal(unname(prob), paths$resp, tolerance = 1e-4)
  expect_identical(unname(prob[1, 3]), 0)
  all <- as.matrix(expand.grid(rep(list(1:3), 4)))
  each <- apply(all, 1, function(z) {
    attr(p, "start")[z[1]] * prod(p[cbind(z[-4], z[-1])]) * exp(sum(log_e[cbind(1:4, z)]))
  })
  expect_equal(sum(predict(fit, new, type = "logdensity")), log(sum(each)), tolerance = 1e-5)
  filter <- update(bnp_filter(fit), new)
  expect_equal(as.numeric(logLik(filter)), log(sum(each)), tolerance = 1e-5)
})

test_that("what nothing leads to is kept, however long the rest looks like another state", {
  prior <- prior_hmm(2, fixed = diag(2), start = c(1, 1)) # each sequence is of one state
  fit <- bnp_hmm(
    list(rep(0, 50), rep(30, 50)), obs = unit_variance, prior = prior, control = to_the_end(),
    start = rep(1:2, each = 50)
  )
  r <- predict(fit, list(c(rep(30, 400), rep(0, 405))), type = "responsibility")
  expect_equal(unname(r), matrix(c(1, 0), 805, 2, byrow = TRUE), tolerance = 1e-9)
  r <- predict(fit, list(c(rep(30, 405), rep(0, 400))), type = "responsibility")
  expect_equal(unname(r), matrix(c(0, 1), 805, 2, byrow = TRUE), tolerance = 1e-9)
  expect_equal(
    unname(predict(fit, list(c(rep(30, 400), rep(0, 405))), type = "prob")), matrix(c(1, 0), 805, 2, byrow = TRUE),
    tolerance = 1e-9
  )
})

test_that("a state is not lost where many rows speak a little against it, each", {
  prior <- prior_hmm(2, fixed = diag(2), start = c(1, 1))
  fit <- bnp_hmm(
    list(rep(0, 50), rep(2, 50)), obs = unit_variance, prior = prior, control = to_the_end(),
    start = rep(1:2, each = 50)
  )
  r <- predict(fit, list(c(rep(2, 600), rep(0, 640))), type = "responsibility")
  expect_equal(unname(r), matrix(c(1, 0), 1240, 2, byrow = TRUE), tolerance = 1e-9)
})

test_that("four stages of which two are alike are found", {
  for (seed in some_of(1:4, by = 3)) {
    stages <- four_stages(seed)
    fit <- bnp_hmm(stages$x, prior = prior_hmm(4, transitions = left_to_right(4)), control = bnp_control(seed = seed))
    expect_gte(mean(fitted(fit) == stages$z), 0.97)
    expect_false(any(diff(fitted(fit))[-cumsum(lengths(stages$x))] < 0, na.rm = TRUE))
  }
})

# Ten times through four states.
cycle_of_states <- function(seed) {
  withr::with_seed(seed, {
    z <- rep(rep(1:4, 10), sample(4:9, 40, TRUE))
    list(z = z, x = rnorm(length(z), c(0, 8, 2, 5)[z]))
  })
}

test_that("states that began in each other's places exchange them", {
  prior <- prior_hmm(4, transitions = left_to_right(4, return = TRUE))
  for (seed in some_of(1:4, by = 3, from = 2)) {
    cycle <- cycle_of_states(seed)
    begun <- function(start, moves = bnp_moves()) {
      bnp_hmm(cycle$x, prior = prior, control = bnp_control(seed = 1, moves = moves), start = start[cycle$z])
    }
    right <- begun(1:4)
    expect_lt(elbo(begun(c(1, 4, 3, 2), still)), elbo(right) - 5)
    expect_equal(elbo(begun(c(1, 4, 3, 2))), elbo(right), tolerance = 1e-6)
    expect_equal(elbo(begun(c(4, 1, 2, 3))), elbo(right), tolerance = 1e-6)
  }
})

test_that("cycles find the places of their states", {
  right <- vapply(1:6, function(seed) {
    cycle <- cycle_of_states(seed)
    fit <- bnp_hmm(
      cycle$x, control = bnp_control(seed = seed), prior = prior_hmm(4, transitions = left_to_right(4, return = TRUE))
    )
    mean(fitted(fit) == cycle$z)
  }, 1)
  expect_gte(sum(right > 0.95), 5)
})

test_that("exact zeros stay through batches, threads, checkpoints, updates and weights", {
  stages <- four_stages(6)
  prior <- prior_hmm(4, transitions = left_to_right(4))
  zeros <- function(fit) {
    expect_identical(fit$state$pair[!left_to_right(4)], rep(0, 9))
    expect_identical(unname(fit$state$extra[2:4]), rep(0, 3))
    expect_identical(unname(cluster_sizes(fit) > 0), rep(TRUE, 4))
    expect_gte(mean(fitted(fit)[seq_along(stages$z)] == stages$z), 0.95)
  }
  whole <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1))
  zeros(whole)
  batched <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1, batches = 3))
  zeros(batched)
  expect_equal(elbo(batched), elbo(whole), tolerance = 1e-4)
  expect_identical(
    bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1, threads = 2))$elbo, whole$elbo
  )
  zeros(bnp_hmm(stages$x, prior = prior, weights = rep(2, 10), control = bnp_control(seed = 1)))
  more <- update(whole, four_stages(7)$x[1:2])
  expect_identical(more$state$pair[!left_to_right(4)], rep(0, 9))
  expect_identical(cluster_ids(more), 1:4)
  again <- bnp_hmm(stages$x, prior = prior, start = whole, control = bnp_control(seed = 1))
  expect_gte(elbo(again), elbo(whole) - 1e-6)
  file <- withr::local_tempfile()
  kept <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1, checkpoint = file))
  expect_identical(kept$elbo, whole$elbo)
  several <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1, restarts = 3))
  expect_gte(elbo(several), elbo(whole) - 1e-6)
})

test_that("places of states hold with missing cells, products and trees", {
  stages <- four_stages(8, 4)
  prior <- prior_hmm(4, transitions = left_to_right(4))
  gaps <- lapply(stages$x, function(x) replace(x, seq(3, nrow(x), by = 10), NA))
  fit <- bnp_hmm(gaps, prior = prior, na_action = "model", control = bnp_control(seed = 1))
  expect_gte(mean(fitted(fit) == stages$z), 0.9)
  frame <- data.frame(x = unlist(stages$x), kind = factor(c("a", "b", "c", "a")[stages$z]))
  id <- rep(1:4, lengths(stages$x))
  both <- bnp_hmm(frame, id = id, prior = prior, control = bnp_control(seed = 1))
  expect_gte(mean(fitted(both) == stages$z), 0.97)
  path <- unlist(lapply(lengths(stages$x), function(n) c(0, rep(1, n - 1))))
  at <- seq_along(path)
  tree <- bnp_hmm(unlist(stages$x), parent = ifelse(path == 0, 0, at - 1), prior = prior, start = stages$z,
    control = bnp_control(seed = 1))
  rows <- bnp_hmm(unlist(stages$x), id = id, prior = prior, start = stages$z, control = bnp_control(seed = 1))
  expect_equal(elbo(tree), elbo(rows), tolerance = 1e-8)
})

test_that("concentrations are learned beside a pattern", {
  stages <- four_stages(9)
  prior <- prior_hmm(4, alpha = gamma_prior(2, 1), transitions = left_to_right(4))
  fit <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1))
  at <- function(alpha) {
    elbo(bnp_hmm(stages$x, prior = prior_hmm(4, alpha = alpha, transitions = left_to_right(4)), start = fit,
      control = bnp_control(seed = 1))) + stats::dgamma(alpha, 2, 1, log = TRUE)
  }
  alpha <- fit$model$prior$alpha[["value"]]
  expect_equal(elbo(fit), at(alpha), tolerance = 1e-6)
  expect_true(all(c(at(alpha * 0.7), at(alpha * 1.4)) < elbo(fit)))
})

test_that("names of states are those of the matrix", {
  states <- c("early", "middle", "late")
  prior <- prior_hmm(3, transitions = left_to_right(states))
  stages <- four_stages(10, 3)
  fit <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1))
  expect_identical(dimnames(transition_matrix(fit)), list(states, states))
  expect_identical(colnames(predict(fit, stages$x, type = "prob")), states)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  plan <- state_plan(c(3, 1, 1), 5, names = segment_picture(fit, NULL, NULL, 30)$names)
  expect_identical(plan[c("labels", "states")], list(labels = c("early", "late"), states = c(1L, 3L)))
  expect_no_error(plot(fit))
  named <- bnp_hmm(stages$x, prior = prior, start = rep(c("early", "late"), length.out = length(stages$z)),
    control = bnp_control(seed = 1, max_laps = 3))
  expect_s3_class(named, "bnp_hmm")
})

test_that("a matrix of TRUE is no pattern", {
  expect_identical(prior_hmm(3, transitions = matrix(TRUE, 3, 3)), prior_hmm(3))
  expect_true(has_places(prior_hmm(3, start = c(1, 1, 1))))
})

test_that("bad cells are refused, with their place", {
  expect_bad(prior_hmm(3, transitions = matrix(TRUE, 2, 2)), "argument")
  expect_bad(prior_hmm(2, transitions = "no"), "argument")
  expect_bad(prior_hmm(2, transitions = matrix(c(TRUE, NA, TRUE, TRUE), 2)), "argument")
  expect_bad(prior_hmm(2, transitions = matrix(c(1, -1, 1, 1), 2)), "argument")
  expect_bad(prior_hmm(2, transitions = matrix(c(1, NaN, 1, 1), 2)), "argument")
  expect_bad(prior_hmm(2, transitions = matrix(c(TRUE, FALSE, TRUE, FALSE), 2)), "argument", "state 2")
  expect_bad(prior_hmm(2, transitions = diag(2) == 0, sticky = 2), "argument", "sticky")
  expect_bad(prior_hmm(2, transitions = matrix(1, 2, 2), alpha = 1), "argument", "alpha")
  expect_bad(prior_hmm(2, fixed = matrix(c(0.5, NA, NA, NA), 2), alpha = gamma_prior()), "argument", "learned")
  expect_bad(prior_hmm(2, fixed = matrix(c(0.5, 1, 0.6, 0), 2)), "argument", "sum to 1")
  expect_bad(prior_hmm(2, fixed = matrix(c(0.5, 1, 0.4, 0), 2)), "argument", "sum to 1")
  expect_bad(prior_hmm(2, fixed = matrix(c(1, 1, NA, 0), 2)), "argument", "leaves no probability")
  expect_bad(prior_hmm(2, fixed = matrix(c(2, NA, NA, NA), 2)), "argument", "row 1, column 1")
  expect_bad(prior_hmm(2, fixed = diag(2), transitions = diag(2) == 0), "argument", "forbid")
  expect_bad(prior_hmm(3, start = c(1, 1)), "argument", "start")
  expect_bad(prior_hmm(3, start = c(0, 0, 0)), "argument", "start")
  expect_bad(left_to_right(0), "argument")
  expect_bad(left_to_right(1e6), "memory")
  expect_bad(left_to_right(3, skip = NA), "argument")
  expect_bad(prior_hdp_hmm(transitions = left_to_right(3)), "argument", "no places.*skip = TRUE")
  expect_bad(left_to_right(c("a", "a")), "argument")
  two <- matrix(TRUE, 2, 2, dimnames = list(c("a", "b"), c("a", "c")))
  expect_bad(prior_hmm(2, transitions = two & !diag(2)), "argument", "same names")
  expect_message(prior_hmm(3, transitions = diag(3) == 1, start = c(1, 0, 0)), class = "bnpvi_message_states")
})

test_that("what has no answer with places is refused by name", {
  stages <- four_stages(1, 2)
  prior <- prior_hmm(4, transitions = left_to_right(4))
  expect_bad(bnp_hmm(stages$x, prior = prior, control = bnp_control(sparsity = 2)), "not_defined", "sparsity")
  expect_bad(bnp_hmm(stages$x, obs = obs_lds(), prior = prior), "not_defined")
  fit <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1))
  expect_bad(bnp_sample(fit, stages$x, draws = 5, split_merge = 3), "argument", "places")
  expect_bad(cluster_tree(fit, stages$x), "not_defined")
  expect_bad(bnp_hmm(stages$x, prior = prior, start = rep(7, length(stages$z))), "start")
  plain <- bnp_hmm(stages$x, prior = prior_hmm(4), control = bnp_control(seed = 1))
  expect_bad(bnp_hmm(stages$x, prior = prior, start = plain), "start")
})

test_that("draws of stages are paths of the pattern, with the numbers of the states", {
  stages <- four_stages(1, 3)
  prior <- prior_hmm(4, alpha = gamma_prior(2, 1), transitions = left_to_right(4))
  fit <- bnp_hmm(stages$x, prior = prior, control = bnp_control(seed = 1))
  draws <- bnp_sample(fit, stages$x, draws = 40, seed = 1, verbose = FALSE)
  starts <- fit$input$starts
  within <- setdiff(seq_along(stages$z)[-1L], starts + 1L)
  for (i in seq_len(ncol(draws$labels))) {
    z <- draws$labels[, i]
    expect_true(all(z[starts[-length(starts)] + 1L] == 1L))
    expect_true(all((z[within] - z[within - 1L]) %in% 0:1))
  }
  # Chains from the fit; the others may be long at another optimum, which their R-hat says.
  right <- colMeans(draws$labels == stages$z)[draws$kept$chain %in% c(1, 3)]
  expect_gt(mean(right), 0.95)
  expect_gt(stats::sd(draws$trace[, , "alpha"]), 0)
  expect_identical(update(draws, stages$x, draws = 2)$trace[1:40, , ], draws$trace[1:40, , ])
  one <- bnp_sample(c(0.1, 2.2), prior = prior_hmm(5, transitions = left_to_right(5, skip = TRUE)), draws = 10,
    seed = 1, verbose = FALSE)
  expect_lte(max(one$labels), 5)
  known <- check_fit(
    bnp_hmm(pattern_x, obs = unit_variance, prior = prior_hmm(3, transitions = left_to_right(3))), pattern_x,
    draws = 20, seed = 1, verbose = FALSE
  )
  expect_equal(known$evidence[["estimate"]], -12.61989407, tolerance = 0.01)
})
