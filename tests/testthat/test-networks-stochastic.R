# Stochastic learning of networks: what a step estimates, and where it ends.

kinds <- expand.grid(directed = c(FALSE, TRUE), counts = c(FALSE, TRUE))
network_of_kind <- function(kind) {
  withr::with_seed(5, {
    net <- planted_network(rep(1:2, c(4, 5)), matrix(0.2, 2, 2) + diag(0.6, 2), kind$directed, kind$counts)
    without_pairs(net, rbind(c(1, 7), c(2, 3), c(8, 9)))
  })
}
models <- list(
  relational = list(degree = FALSE, assortative = TRUE), general = list(degree = FALSE, assortative = FALSE),
  gamma = list(degree = TRUE, assortative = TRUE)
)
model_of_kind <- function(name, kind, dense = 1e5) {
  c(models[[name]], list(
    gamma = 2, alpha = 0.7, counts = kind$counts, a = 1.2, b = 0.8, a_background = 1, b_background = 4, dense = dense
  ))
}
sets_of <- function(n, size) utils::combn(n, size, simplify = FALSE)
mean_of <- function(x) Reduce(`+`, x) / length(x)

test_that("a step's statistics are those of all pairs, on average over all sets of nodes", {
  for (row in some_of(seq_len(nrow(kinds)), by = 2)) {
    net <- network_of_kind(kinds[row, ])
    share <- withr::with_seed(row, matrix(rgamma(27, 1), 9))
    for (name in names(models)) {
      model <- model_of_kind(name, kinds[row, ])
      of <- if (name == "gamma") c("phi_shape", "phi_rate") else c("pairs", "sum")
      step <- function(sets) lapply(engine_network_steps(net, model, share, 2, sets, 1), function(x) x$params[of])
      all <- step(list(1:9))[[1]]
      for (size in c(1, 4)) {
        some <- step(sets_of(9, size))
        info <- paste(row, name, size)
        expect_gt(max(abs(some[[1]][[1]] - all[[1]])), 0.01)
        for (part in of) expect_equal(mean_of(lapply(some, `[[`, part)), all[[part]], tolerance = 1e-10, info = info)
      }
    }
    plain <- list(counts = kinds$counts[row], a = 1.2, b = 0.8, gamma = 2)
    r <- share / rowSums(share)
    found <- engine_network_soft_steps(net, plain, r, sets_of(9, 4))
    for (part in c("pairs", "sum")) {
      expect_equal(mean_of(lapply(found$steps, `[[`, part)), found$exact[[part]], tolerance = 1e-10)
    }
  }
})

test_that("a step of all nodes finds the statistics of the bound", {
  for (row in some_of(seq_len(nrow(kinds)), by = 4, from = 2)) {
    net <- network_of_kind(kinds[row, ])
    share <- withr::with_seed(row, matrix(rgamma(27, 1), 9))
    for (name in some_of(names(models), by = 2, from = row %/% 4 %% 2 + 1)) {
      model <- model_of_kind(name, kinds[row, ])
      there <- engine_network_laps(net, model, share, 4000, NULL)
      step <- engine_network_steps(net, model, share, 4000, list(1:9), 1)[[1]]
      same <- intersect(c("pairs", "sum", "phi_shape", "phi_rate"), names(step$params))
      expect_equal(step$params[same], there$params[same], tolerance = 1e-5, info = paste(row, name))
      # Nothing is left to gain for nodes and sticks either.
      expect_equal(step$prob, there$prob, tolerance = 1e-4, info = paste(row, name))
    }
  }
})

test_that("blocks go as far as the rate says", {
  net <- network_of_kind(kinds[1, ])
  share <- withr::with_seed(1, matrix(rgamma(27, 1), 9))
  for (name in names(models)) {
    model <- model_of_kind(name, kinds[1, ])
    at <- function(rate) engine_network_steps(net, model, share, 2, list(c(2L, 5L, 9L)), rate)[[1]]$params
    of <- if (name == "gamma") c("phi_shape", "phi_rate") else c("pairs", "sum")
    for (part in of) {
      expect_equal(at(0.3)[[part]], 0.7 * at(0)[[part]] + 0.3 * at(1)[[part]], tolerance = 1e-10, info = name)
    }
  }
})

group <- rep(1:4, each = 15)
net <- withr::with_seed(2, planted_network(group, matrix(0.04, 4, 4) + diag(0.5, 4)))
links <- data.frame(from = net$from, to = net$to)
settings <- list(
  blocks = list(prior = prior_dp(), obs = obs_links()),
  relational = list(prior = prior_hdp(), obs = obs_links(degree = FALSE)),
  general = list(prior = prior_hdp(), obs = obs_links(assortative = FALSE)),
  gamma = list(prior = prior_hdp(), obs = obs_links(degree = TRUE))
)
learned <- function(name, ..., algorithm = "stochastic", x = links, missing = NULL) {
  with(settings[[name]], bnp_network(
    x, obs, prior, nodes = 60, missing = missing, control = bnp_control(algorithm, ..., verbose = FALSE)
  ))
}

test_that("planted groups are found, the last bound is exact, and bits depend on the seed alone", {
  for (name in names(settings)) {
    expect_silent(fit <- learned(name, k_init = 4, seed = 1, max_laps = 50))
    expect_equal(adjusted_rand_index(fitted(fit), group), 1, info = name)
    expect_identical(which(is.finite(fit$trace$elbo)), 50L)
    expect_identical(fit$laps, 50L)
    same <- c("elbo", "prob", "state", "labels")
    expect_identical(learned(name, k_init = 4, seed = 1, max_laps = 50, threads = 3)[same], fit[same])
    expect_false(identical(learned(name, k_init = 4, seed = 2, max_laps = 50)$prob, fit$prob))
    # Full learning from where it ended has little left to gain.
    still <- bnp_control(max_laps = 200, moves = bnp_moves(FALSE, FALSE, FALSE, FALSE), verbose = FALSE)
    on <- with(settings[[name]], bnp_network(links, obs, prior, nodes = 60, control = still, start = fit))
    expect_lt(abs(elbo(on) - elbo(fit)), 3)
  }
})

test_that("all K of the start stay, hidden pairs are hidden, and extremes are fitted", {
  for (name in names(settings)) {
    fit <- learned(name, seed = 1, max_laps = 3, missing = links[1:3, ])
    expect_identical(fit$state$k, 25L)
    expect_true(is.finite(elbo(fit)))
    for (batches in c(1, 60)) expect_true(is.finite(elbo(learned(name, k_init = 3, batches = batches, max_laps = 2))))
    expect_true(is.finite(elbo(learned(name, max_laps = 1, seed = 1))))
    empty <- data.frame(from = integer(), to = integer())
    expect_true(is.finite(elbo(learned(name, x = empty, seed = 1, max_laps = 3))))
    expect_bad(learned(name, batches = 61), "argument", "batches")
    expect_bad(learned(name, k_init = 61), "k_init", "k_init")
  }
})

test_that("groups to start from are as many as asked for, of any network", {
  for (k in c(1, 4, 17, 60)) {
    for (x in list(net, small_network(60, integer(), integer()), small_network(60, rep(1, 59), 2:60))) {
      labels <- engine_network_divided(x, k, 3)
      expect_setequal(labels, seq_len(k))
    }
  }
  expect_equal(adjusted_rand_index(engine_network_divided(net, 4, 1), group), 1)
})
