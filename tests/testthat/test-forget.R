# Updates that give up earlier times, or let earlier rows count less.

few <- bnp_control(seed = 1, verbose = FALSE)
paths <- withr::with_seed(3, planted_paths(240))
at <- function(from, to) which(paths$time >= from & paths$time <= to)
last <- max(paths$time)
stream <- function(..., start = 3, obs = obs_gaussian(drift = 0.2), prior = prior_dp(), gaps = "equal") {
  own <- at(1, start)
  fit <- suppressWarnings(bnp_mixture(paths$x[own, ], obs, prior, time = paths$time[own], gaps = gaps, control = few))
  for (t in (start + 1):last) {
    fit <- suppressWarnings(update(fit, paths$x[at(t, t), ], time = paths$time[at(t, t)], ...))
  }
  fit
}

test_that("what is left of times says of later ones what all times said", {
  for (case in some_of(list(
    list(obs = obs_gaussian(drift = 0.2)), list(obs = obs_gaussian("diagonal", drift = 0.3, mean_strength = 0.1)),
    list(prior = prior_hdp()), list(prior = prior_lda(4)), list(gaps = "time")
  ), by = 2)) {
    all <- do.call(stream, case)
    for (keep in some_of(1:2, by = 2, from = 1 + is.null(case$obs))) {
      some <- do.call(stream, c(case, keep_times = keep))
      expect_equal(elbo(some), elbo(all), tolerance = 1e-9)
      expect_equal(fitted(some), fitted(all))
      expect_equal(unname(cluster_sizes(some)), unname(cluster_sizes(all)), tolerance = 1e-6)
      expect_equal(coef(some)$cov, coef(all)$cov, tolerance = 1e-7)
      times <- (last - keep):last # those that were kept, and the last update's
      want <- trajectories(all)
      want <- want[want$time %in% times, ]
      expect_equal(trajectories(some)$time, want$time)
      for (name in setdiff(names(want), c("alive", "time"))) {
        expect_equal(trajectories(some)[[name]], want[[name]], tolerance = 1e-6)
      }
      new <- paths$x[at(last, last), ]
      for (type in c("prob", "logdensity")) {
        expect_equal(
          predict(some, new, type, time = rep(last, nrow(new))), predict(all, new, type, time = rep(last, nrow(new))),
          tolerance = 1e-6
        )
      }
    }
  }
})

test_that("the state of a fit that gives up times has the bound of before, whatever it had given up already", {
  for (prior in list(prior_dp(), prior_hdp())) {
    fit <- stream(prior = prior, start = last - 1)
    less <- fit
    for (keep in rev(seq_len(last - 1L))) {
      less <- with_times_kept(less, keep, NULL)
      expect_equal(engine_bound_of_state(less$model, less$state), elbo(fit), tolerance = 1e-9)
      expect_equal(less$model$obs$times, utils::tail(fit$model$obs$times, keep))
      whole <- posterior_params(fit)$mean
      expect_equal(posterior_params(less)$mean, whole[, , utils::tail(seq_len(last), keep), drop = FALSE],
        tolerance = 1e-7
      )
    }
    # A cluster without rows begins as one did that was there all along.
    expect_equal(1 / less$model$obs$mean_strength, 1 / fit$model$obs$mean_strength + 0.2 * (last - 2))
  }
})

long_test("memory does not grow with the times that have gone by", {
  short <- stream(keep_times = 2)
  long <- short
  for (t in last + 1:20) long <- suppressWarnings(update(long, paths$x[at(1, 1), ], time = rep(t, length(at(1, 1))),
    keep_times = 2
  ))
  expect_equal(dim(long$state$obs)[2], dim(short$state$obs)[2])
  expect_lt(as.numeric(object.size(long$state)), 2 * as.numeric(object.size(short$state)))
  expect_output(print(long), "Times before .* are given up")
})

test_that("what needs the times that were given up is refused, and says so", {
  fit <- stream(keep_times = 1)
  own <- at(1, last)
  expect_bad(predict(fit, paths$x[at(1, 1), ], time = rep(1, length(at(1, 1)))), "time", "seen no row")
  expect_bad(predict(fit, paths$x, type = "prob"), "time", "needed|given up")
  expect_bad(simulate(fit), "time", "needed")
  sim <- simulate(fit, seed = 1, time = rep(last, 5))
  expect_true(all(is.finite(as.matrix(sim[[1]][1:2]))))
  expect_bad(
    update(fit, paths$x[1:3, ], time = rep(last + 1, 3), olddata = paths$x[own, ]), "time", "given up"
  )
  expect_bad(update(fit, paths$x[1:3, ], time = rep(1, 3)), "time", "after")
  for (bad in list(0, -1, 1.5, NA, "a", Inf)) {
    expect_bad(update(fit, paths$x[1:3, ], time = rep(last + 1, 3), keep_times = bad), "argument", "keep_times")
    expect_bad(update(fit, paths$x[1:3, ], time = rep(last + 1, 3), discount = replace(bad, 1, -1)), "argument",
      "discount"
    )
  }
  stays <- bnp_mixture(paths$x, control = few)
  expect_bad(update(stays, paths$x[1:3, ], keep_times = 1), "argument", "drift")
  expect_bad(update(stays, paths$x[1:3, ], discount = 1.5), "argument", "discount")
  by_time <- stream(prior = prior_hdp(), start = last - 1)
  expect_bad(update(by_time, paths$x[1:3, ], time = rep(last + 1, 3), discount = 0.5), "argument", "weights of its own")
  hmm <- suppressWarnings(bnp_hmm(paths$x[1:40, ], control = bnp_control(seed = 1, max_laps = 3, verbose = FALSE)))
  expect_bad(update(hmm, paths$x[1:3, ], discount = 0.5), "argument", "bnp_mixture")
  less <- suppressWarnings(update(stays, paths$x[1:30, ], discount = 0.5))
  expect_bad(update(less, paths$x[1:3, ], olddata = paths$x), "update", "reduced its weight")
})

test_that("discounted rows count less, and the bound is that of the new ones given what is kept", {
  for (obs in list(
    obs_gaussian(learn = FALSE), obs_gaussian("diagonal", learn = FALSE), obs_gaussian(drift = 0.2)
  )) {
    drifts <- !is.null(obs$drift)
    old <- at(1, 3)
    new <- at(4, 4)
    time <- if (drifts) paths$time
    fit <- suppressWarnings(bnp_mixture(paths$x[old, ], obs, prior_dirichlet(1), time = time[old], control = few))
    same <- suppressWarnings(update(fit, paths$x[new, ], time = time[new]))
    expect_identical(elbo(suppressWarnings(update(fit, paths$x[new, ], time = time[new], discount = 1))), elbo(same))
    less <- suppressWarnings(update(fit, paths$x[new, ], time = time[new], discount = 0.3))
    expect_equal(sum(cluster_sizes(less)), 0.3 * length(old) + length(new), tolerance = 1e-10)
    rows <- engine_data(cbind(paths$x[c(old, new), ], if (drifts) time[c(old, new)]))
    weight <- rep(c(0.3, 1), c(length(old), length(new)))
    evidence <- engine_contract(rows, less$model, cbind(weight, weight * (weight < 1)))$evidence
    expect_equal(elbo(less), evidence[1] - evidence[2], tolerance = 1e-9)
    expect_equal(sum(elbo(less, terms = TRUE)), elbo(less))
    expect_equal(attr(logLik(less), "nobs"), length(new))
    expect_output(print(less), paste("Bound of the last", length(new), "rows"))
    again <- suppressWarnings(update(less, paths$x[old[1:9], ], time = if (drifts) rep(4, 9)))
    weight <- c(weight, rep(1, 9))
    rows <- engine_data(cbind(paths$x[c(old, new, old[1:9]), ], if (drifts) c(time[c(old, new)], rep(4, 9))))
    evidence <- engine_contract(rows, again$model, cbind(weight, weight * (seq_along(weight) <= length(c(old, new)))))
    expect_equal(elbo(again), evidence$evidence[1] - evidence$evidence[2], tolerance = 1e-9)
    expect_equal(nobs(again), length(c(old, new)) + 9)
  }
})

test_that("a mean that moves is followed as by a random walk where earlier rows are discounted", {
  n <- 25
  x <- withr::with_seed(1, cumsum(rnorm(n, 0, 1)) + matrix(rnorm(10 * n, 0, 0.5), n)) # n batches of ten rows
  fit <- bnp_mixture(x[1, ], prior = prior_dirichlet(1), control = few) |> suppressWarnings()
  plain <- fit
  for (t in 2:n) {
    fit <- suppressWarnings(update(fit, x[t, ], discount = 0.1))
    plain <- suppressWarnings(update(plain, x[t, ]))
  }
  expect_lt(abs(coef(fit)$mean - mean(x[n, ])), 0.5)
  expect_gt(abs(coef(plain)$mean - mean(x[n, ])), 1)
  expect_equal(sum(cluster_sizes(fit)), 10 / 0.9, tolerance = 1e-6)
})
