# Effects of covariates when clusters are put in another order (near_order.h), and the steps of effects of topics
# (topic_tilt.h).

test_that("effects, transitions and weights go along with their clusters into another order", {
  skip_without_testing_entries()
  corpus <- dated_corpus(documents = 60)
  planted <- planted_steps(3, rep(60, 4))
  control <- bnp_control(seed = 3, k_init = 4, max_laps = 5, restarts = 1, moves = FALSE, verbose = FALSE)
  fits <- suppressWarnings(list(
    mixture = bnp_mixture(
      planted$frame["y"], prior = prior_covariates(~ w), covariates = planted$frame, control = control
    ),
    topics = bnp_topics(
      corpus$x, obs_multinomial(0.1), prior_covariates(~ party + day), covariates = corpus$about, control = control
    ),
    states = bnp_hmm(
      planted$frame["y"], id = planted$frame$id, prior = prior_covariates(~ w), covariates = planted$frame["w"],
      control = control
    )
  ))
  for (name in names(fits)) {
    fit <- fits[[name]]
    k <- fit$state$k
    expect_identical(k, 4L)
    same <- engine_near_order(fit$model, fit$state, seq_len(k))
    expect_equal(same$effects, engine_posterior(fit$model, fit$state)$effects, tolerance = 1e-12, info = name)
    order <- c(3L, 1L, 4L, 2L)
    moved <- engine_near_order(fit$model, fit$state, order)
    if (name != "mixture") expect_equal(moved$weights, same$weights[c(order, k + 1L)], tolerance = 1e-9, info = name)
    if (name == "states") {
      expect_equal(moved$effects, same$effects[order, order, , drop = FALSE], tolerance = 1e-12)
      expect_equal(moved$effects_cov, same$effects_cov[, , order, order, drop = FALSE], tolerance = 1e-12)
    } else {
      expect_equal(moved$effects, same$effects[order, , drop = FALSE], tolerance = 1e-12, info = name)
      expect_equal(moved$effects_cov, same$effects_cov[, , order, drop = FALSE], tolerance = 1e-12, info = name)
    }
    expect_gt(max(abs(moved$effects - same$effects)), 1e-3)
  }
})

test_that("a search begins in another order, or after a merge, with the same weights and effects", {
  skip_without_testing_entries()
  planted <- planted_steps(3, rep(60, 4))
  fit <- suppressWarnings(bnp_mixture(
    planted$frame["y"], prior = prior_covariates(~ w), covariates = planted$frame,
    control = bnp_control(seed = 3, k_init = 4, max_laps = 5, restarts = 1, moves = FALSE, verbose = FALSE)
  ))
  weights <- function(q) {
    u <- q$untilted_sticks[, 1] / rowSums(q$untilted_sticks)
    u * c(1, cumprod(1 - u)[-length(u)])
  }
  before <- engine_posterior(fit$model, fit$state)
  order <- c(3L, 1L, 4L, 2L)
  moved <- engine_moved_search(fit$model, fit$state, order, c(1L, 3L))
  expect_equal(weights(moved$order), weights(before)[order], tolerance = 1e-9)
  expect_equal(moved$order$effects, before$effects[order, , drop = FALSE], tolerance = 1e-12)
  w <- weights(before)
  expect_equal(weights(moved$joined), c(w[1] + w[3], w[2], w[4]), tolerance = 1e-9)
  expect_equal(moved$joined$effects[1, ], sum(before$effects[c(1, 3), ] * w[c(1, 3)]) / sum(w[c(1, 3)]),
               tolerance = 1e-9)
  precision <- 1 / before$effects_cov[1, 1, ]
  expect_equal(1 / moved$joined$effects_cov[1, 1, ], c(precision[1] + precision[3] - 1, precision[c(2, 4)]),
               tolerance = 1e-9)
})

test_that("the quadratic model of a topic's part has its slope and curvature, and the path of its best mean", {
  skip_without_testing_entries()
  x <- cbind(c(-1, -1, 1, 1, 0.5), c(0.3, -1.2, 0.7, 1.5, -0.4))
  documents <- list(
    n = c(20, 12, 30, 9, 14), f = -c(55, 31, 80, 25, 40), users = c(11, 5, 20, 8, 6), slope = c(14, 5, 37, 16, 4)
  )
  precision <- c(9, 1.5, 7)
  part <- function(mean, pi) engine_topic_part(x, documents, 0.7, c(mean, precision), c(pi, 1e-4))
  for (pi in c(0.05, 0.4)) {
    mean <- part(c(0, 0), pi)$best
    here <- part(mean, pi)
    # the step is Newton's: none at the best mean, and back to it from nearby
    expect_lt(max(abs(here$step)), 1e-4)
    away <- part(mean + c(0.02, -0.03), pi)
    expect_equal(away$step, -c(0.02, -0.03), tolerance = 0.05)
    # at the best mean for each pi: value, and mean, along log pi
    along <- function(h) {
      best <- part(mean, pi * exp(h))$best
      list(value = part(best, pi * exp(h))$value, mean = best)
    }
    h <- 1e-2
    up <- along(h)
    down <- along(-h)
    expect_equal(here$slope, (up$value - down$value) / (2 * h), tolerance = 1e-3)
    expect_equal(here$curvature, -(up$value - 2 * along(0)$value + down$value) / h^2, tolerance = 0.03)
    expect_equal(here$follow, (up$mean - down$mean) / (2 * h), tolerance = 0.03)
    expect_equal(here$moved - mean, up$mean - mean, tolerance = 0.05)
  }
})
