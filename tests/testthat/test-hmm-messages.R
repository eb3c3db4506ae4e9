test_that("messages, expected transitions, entropy and Viterbi equal the sum over all paths", {
  withr::local_seed(1)
  for (n in c(1, 2, 5, 8)) {
    for (k in 1:3) {
      for (spread in c(0.5, 20)) {
        chain <- random_chain(n, k, spread)
        # A common level of -1e4 must not matter.
        want <- enumerate_paths(chain$start, chain$transition, chain$e)
        for (careful in c(FALSE, TRUE)) {
          got <- engine_messages(chain$start, chain$transition, chain$e - 1e4, c(0L, n), careful)
          expect_true(got$fast_is_exact)
          expect_equal(got[names(want)], want, tolerance = 1e-10)
        }
      }
    }
  }
})

test_that("sequences do not see each other", {
  withr::local_seed(2)
  chain <- random_chain(7, 3)
  one <- enumerate_paths(chain$start, chain$transition, chain$e[1:3, ])
  two <- enumerate_paths(chain$start, chain$transition, chain$e[4:7, ])
  for (careful in c(FALSE, TRUE)) {
  both <- engine_messages(chain$start, chain$transition, chain$e, c(0L, 3L, 7L), careful)
  expect_equal(both$resp, rbind(one$resp, two$resp), tolerance = 1e-10)
  expect_equal(both$path, c(one$path, two$path))
  for (what in c("start", "transition", "entropy")) {
    expect_equal(both[[what]], one[[what]] + two[[what]], tolerance = 1e-10)
  }
  }
})

test_that("logarithms take over when the data contradict the transitions", {
  log_transition <- log(matrix(c(1, 1e-200, 1e-200, 1), 2))
  e <- rbind(c(0, -1e5), c(-1e5, 0), c(0, -1e5), c(0, 0))
  got <- engine_messages(log(c(0.5, 0.5)), log_transition, e, c(0L, 4L), TRUE)
  expect_false(got$fast_is_exact)
  expect_equal(got$resp, cbind(c(1, 0, 1, 1), c(0, 1, 0, 0)))
  expect_equal(got$transition, matrix(c(1, 1, 1, 0), 2))
  expect_equal(got$path, c(1, 2, 1, 1))
  expect_equal(got$entropy, 0)

  # The same through a local step: two far apart clusters whose rows alternate once, after a long stay in each.
  x <- matrix(c(rnorm(20), 1e5 + rnorm(20), 0, 1e5))
  data <- list(x = x, n = 42L, d = 1L, starts = c(0L, 42L))
  obs <- list(family = "gaussian_diagonal", mean = 0, mean_strength = 1e-8, df = 3, scale = 1, centre = 0, unit = 1)
  model <- list(obs = obs, prior = list(family = "hmm", k = 2L, alpha = 1e-3, start = 1, sticky = 0))
  labels <- rep(1:2, each = 20)
  state <- list(k = 2L, obs = rbind(c(20, 0, 20), c(20, 2e6, 2e11 + 20)), extra = matrix(c(1, 0)),
    pair = matrix(c(19, 0, 1, 19), 2), scalar = 0, u = numeric(), omega = numeric())
  expect_equal(engine_responsibilities(data, model, state, 1L)[, 1], as.numeric(c(labels, 1, 2) == 1))
})
