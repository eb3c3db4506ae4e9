# Filters of switching linear systems: against sums over all paths, each by one joint Gaussian.

test_that("the filter of a small system has the figures of its enumeration", {
  f <- bnp_filter(small_system(), small_rows, particles = 32, seed = 1)
  expect_equal(as.numeric(logLik(f)), -9.514801122, tolerance = 1e-10)
  expect_equal(unname(filter_probs(f)[6, ]), c(0.9834121918, 0.0165878082), tolerance = 1e-9)
  expect_equal(
    unname(filter_probs(f, "smoothed")[-1, 1]),
    c(0.4874940782, 0.5013936454, 0.8257641879, 0.9068601935, 0.9834121918), tolerance = 1e-9
  )
})

test_that("with as many particles as there are paths, filters are sums over all paths", {
  y <- withr::with_seed(1, named_rows(5))
  gappy <- y
  gappy[1, 2] <- gappy[3, ] <- gappy[4, c(1, 3)] <- NA
  cases <- list(
    list(small_system(), as.matrix(small_rows)), list(wide_system(), y), list(wide_system(), gappy),
    list(small_system(R = 0), as.matrix(small_rows)), list(small_system(Q = 0), as.matrix(small_rows)),
    list(small_system(start_var = 0), as.matrix(c(NA, 0.1, NA, 2)))
  )
  for (case in cases) {
    model <- case[[1]]
    want <- enumerated(model, case[[2]])
    f <- bnp_filter(model, case[[2]], particles = length(model$start)^(nrow(case[[2]]) - 1), seed = 1)
    expect_enumerated(f, want, model)
    rows <- as.data.frame(f)
    last <- nrow(rows)
    # The log density of a row is what the row adds to that of all.
    before <- enumerated(model, case[[2]][-last, , drop = FALSE])
    expect_equal(rows$log_density[last], want$log_p - before$log_p, tolerance = 1e-8)
  }
})

test_that("what is expected of a row is the mean of its distribution given the rows before", {
  model <- wide_system()
  y <- withr::with_seed(2, named_rows(4))
  fitted <- augment(bnp_filter(model, y, particles = 100, seed = 1), y)
  # The mean and variance of cell (4, 2), from the density of the row with this cell alone, as a function of its value.
  value <- seq(-20, 20, by = 0.25)
  density <- vapply(value, function(v) enumerated(model, rbind(y[1:3, ], c(NA, v, NA)))$log_p, 1)
  p <- exp(density - max(density)) / sum(exp(density - max(density)))
  expect_equal(fitted$.fitted.b[4], sum(p * value), tolerance = 1e-6)
  expect_equal(fitted$.resid.b, y[, 2] - fitted$.fitted.b)
  ahead <- predict(bnp_filter(model, y[1:3, ], particles = 100, seed = 1))
  expect_equal(ahead$mean.b, fitted$.fitted.b[4], tolerance = 1e-12)
  expect_equal(ahead$sd.b, sqrt(sum(p * (value - ahead$mean.b)^2)), tolerance = 1e-5)
  ends <- stats::approx(cumsum(p) - p / 2, value, c(0.05, 0.95), ties = "ordered")$y
  expect_lt(max(abs(c(ahead$lower.b, ahead$upper.b) - ends)), 0.02)
})

test_that("estimates of the probability are unbiased with few particles", {
  want <- enumerated(small_system(), small_rows)$log_p
  ratio <- function(model, y, n, times, ...) {
    vapply(seq_len(times), function(seed) exp(as.numeric(logLik(
      bnp_filter(model, y, particles = n, seed = seed, ...)
    )) - want), 1)
  }
  times <- if (long_tests()) 200 else 80
  for (n in 1:3) {
    got <- ratio(small_system(), small_rows, n, times)
    expect_lt(abs(mean(got) - 1), 4 * sd(got) / sqrt(times))
    expect_gt(sd(got), 0)
  }
  y <- withr::with_seed(3, named_rows(5))
  want <- enumerated(wide_system(), y)$log_p
  got <- ratio(wide_system(), y, 4, times)
  expect_lt(abs(mean(got) - 1), 4 * sd(got) / sqrt(times))
})

test_that("particles are kept as they should be", {
  weights <- withr::with_seed(4, list(rexp(40), rep(1, 10), c(5, 1e-9 * (1:9)), c(0, 3, 0, 2, 1), 10^-(1:30)))
  for (w in weights) {
    for (n in c(1, 3, 7)) {
      kept <- lapply((seq_len(500) - 0.5) / 500, function(u) engine_select_particles(w, n, u))
      sizes <- vapply(kept, function(k) length(k$kept), 1)
      expect_true(all(sizes == min(n, sum(w > 0))))
      expect_false(any(vapply(kept, function(k) is.unsorted(k$kept, strictly = TRUE), NA)))
      average <- Reduce(`+`, lapply(kept, function(k) replace(0 * w, k$kept, k$weight))) / 500
      expect_lte(max(abs(average - w)), 2 * max(vapply(kept, function(k) min(k$weight), 1)) / 500)
      if (sum(w > 0) > n) {
        c <- stats::uniroot(function(log_c) sum(pmin(1, w / exp(log_c))) - n, c(-80, 10), tol = 1e-13)$root
        expect_equal(kept[[1]]$weight, pmax(w[kept[[1]]$kept], exp(c)), tolerance = 1e-6)
      }
    }
  }
})

test_that("the level of the Nile is what dlm has", {
  level <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5)
  f <- bnp_filter(level, Nile)
  expect_equal(as.numeric(logLik(f)), -639.3007236, tolerance = 1e-9)
  # Variance of the state before the first row, as dlm counts it.
  wider <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5 + 1469.1)
  expect_equal(as.numeric(logLik(bnp_filter(wider, Nile))), -639.3069005, tolerance = 1e-9)
  skip_if_not_installed("dlm")
  peer <- dlm::dlm(FF = 1, V = 15098.5, GG = 1, W = 1469.1, m0 = 1000, C0 = 1e5 - 1469.1)
  expect_equal(
    as.numeric(logLik(f)), -dlm::dlmLL(as.numeric(Nile), peer) - 50 * log(2 * pi), tolerance = 1e-8
  )
  filtered <- dlm::dlmFilter(Nile, peer)
  rows <- as.data.frame(f)
  expect_equal(rows$mean.x1, as.numeric(filtered$m)[-1], tolerance = 1e-8)
})

test_that("gpb2 is exact until histories are merged, and where there is one mode", {
  short <- small_rows[1:3]
  expect_equal(
    as.numeric(logLik(bnp_filter(small_system(), short, collapse = "gpb2"))), enumerated(small_system(), short)$log_p,
    tolerance = 1e-10
  )
  level <- lds_model(A = 1, Q = 1469.1, C = 1, R = 15098.5, start_mean = 1000, start_var = 1e5)
  expect_equal(as.numeric(logLik(bnp_filter(level, Nile, collapse = "gpb2"))), -639.3007236, tolerance = 1e-9)
  # A plain one: one Gaussian for each mode.
  model <- wide_system()
  y <- withr::with_seed(5, named_rows(8))
  kalman <- function(mean, cov, y) {
    c <- model$C[, 1:2]
    s <- c %*% cov %*% t(c) + model$R
    e <- y - c %*% mean - model$C[, 3]
    gain <- cov %*% t(c) %*% solve(s)
    list(
      mean = mean + gain %*% e, cov = cov - gain %*% c %*% cov,
      p = exp(-0.5 * (3 * log(2 * pi) + log(det(s)) + sum(e * solve(s, e))))
    )
  }
  first <- kalman(model$start_mean, model$start_var, y[1, ])
  parts <- list(c(first, w = 1, z = 0))
  log_p <- log(first$p)
  for (t in 2:8) {
    grown <- unlist(lapply(parts, function(part) lapply(1:3, function(k) {
      a <- model$A[, 1:2, k]
      new <- kalman(a %*% part$mean + model$A[, 3, k], a %*% part$cov %*% t(a) + model$Q[, , k], y[t, ])
      c(new, w = part$w * new$p * if (part$z) model$transition[part$z, k] else model$start[k], z = k)
    })), recursive = FALSE)
    w <- vapply(grown, `[[`, 1, "w")
    log_p <- log_p + log(sum(w))
    w <- w / sum(w)
    z <- vapply(grown, `[[`, 1, "z")
    parts <- lapply(1:3, function(k) {
      own <- which(z == k)
      mean <- Reduce(`+`, Map(function(g, v) v * g$mean, grown[own], w[own])) / sum(w[own])
      cov <- Reduce(`+`, Map(function(g, v) v * (g$cov + tcrossprod(g$mean - mean)), grown[own], w[own])) / sum(w[own])
      list(mean = mean, cov = cov, w = sum(w[own]), z = k)
    })
  }
  f <- bnp_filter(model, y, collapse = "gpb2")
  expect_equal(as.numeric(logLik(f)), log_p, tolerance = 1e-10)
  expect_equal(unname(filter_probs(f)[8, ]), vapply(parts, `[[`, 1, "w"), tolerance = 1e-10)
  expect_bad(filter_probs(f, "smoothed"), "argument", "gpb2")
})

test_that("a filter of several systems is the average of the filters of each", {
  systems <- list(small_system(), small_system(A = c(0.5, -0.9)), small_system(R = 1))
  each <- vapply(systems, function(s) enumerated(s, small_rows)$log_p, 1)
  f <- bnp_filter(systems, small_rows, particles = 3 * 32, seed = 1)
  expect_equal(as.numeric(logLik(f)), log(mean(exp(each))), tolerance = 1e-10)
  times <- if (long_tests()) 150 else 80
  of_seed <- function(seed) as.numeric(logLik(bnp_filter(systems, small_rows, particles = 5, seed = seed)))
  got <- vapply(seq_len(times), of_seed, 1)
  ratio <- exp(got) / mean(exp(each))
  expect_lt(abs(mean(ratio) - 1), 4 * sd(ratio) / sqrt(times))
})

long_test("forecasts are those of simulated rows", {
  model <- wide_system()
  f <- bnp_filter(model, withr::with_seed(6, named_rows(10)), particles = 50, seed = 2)
  h <- 4
  ahead <- predict(f, h = h)
  latent <- predict(f, h = h, type = "latent")
  class <- predict(f, h = h, type = "class", interval = 0.5)
  n <- 10000
  drawn <- withr::with_seed(7, {
    p <- f$sequences[["1"]]$state
    at <- sample(length(p$weight), n, TRUE, p$weight)
    z <- p$mode[at] + 1
    roots <- apply(p$cov, 2L, function(cov) t(chol(matrix(cov, 2))), simplify = FALSE)
    x <- t(vapply(at, function(i) p$mean[, i] + roots[[i]] %*% rnorm(2), numeric(2)))
    for (step in seq_len(h)) {
      z <- vapply(z, function(k) sample(3, 1, prob = model$transition[k, ]), 1L)
      for (k in 1:3) {
        own <- z == k
        x[own, ] <- x[own, ] %*% t(model$A[, 1:2, k]) + rep(model$A[, 3, k], each = sum(own)) +
          matrix(rnorm(2 * sum(own)), ncol = 2) %*% chol(model$Q[, , k])
      }
    }
    list(x = x, z = z, y = x %*% t(model$C[, 1:2]) + rep(model$C[, 3], each = n) +
      matrix(rnorm(3 * n), n) %*% chol(model$R))
  })
  se <- 4.5 / sqrt(n)
  sd_y <- apply(drawn$y, 2, sd)
  expect_lt(max(abs(colMeans(drawn$y) - unlist(ahead[h, c("mean.a", "mean.b", "mean.c")])) / sd_y), se)
  expect_equal(sd_y, unlist(ahead[h, c("sd.a", "sd.b", "sd.c")]), tolerance = 0.03, ignore_attr = TRUE)
  expect_equal(apply(drawn$x, 2, sd), unlist(latent[h, c("sd.x1", "sd.x2")]), tolerance = 0.03, ignore_attr = TRUE)
  expect_equal(tabulate(drawn$z, 3) / n, unlist(class[h, paste0("prob.", 1:3)]), tolerance = 0.03, ignore_attr = TRUE)
  inside <- drawn$y[, 2] > ahead$lower.b[h] & drawn$y[, 2] < ahead$upper.b[h]
  expect_equal(mean(inside), 0.9, tolerance = 0.02)
  expect_equal(class$state, max.col(as.matrix(class[paste0("prob.", 1:3)]), "first"))
})

test_that("threads and units of the data change nothing", {
  y <- withr::with_seed(8, named_rows(20))
  one <- bnp_filter(wide_system(), y, particles = 20, seed = 3, threads = 1)
  two <- bnp_filter(wide_system(), y, particles = 20, seed = 3, threads = 2)
  expect_identical(one$sequences, two$sequences)
  id <- rep(c("u", "v"), each = 10)
  expect_identical(
    bnp_filter(wide_system(), y, id, particles = 20, seed = 3, threads = 2)$sequences,
    bnp_filter(wide_system(), y, id, particles = 20, seed = 3)$sequences
  )
  scaled <- small_system(Q = 1e20 * c(0.3, 0.6), R = 1e20 * 0.25, start_var = 2e20)
  expect_equal(
    as.numeric(logLik(bnp_filter(scaled, 1e10 * small_rows, seed = 1))) + 6 * log(1e10),
    as.numeric(logLik(bnp_filter(small_system(), small_rows, seed = 1))), tolerance = 1e-10
  )
})

test_that("a mode that is impossible stays so, and noise may be 0", {
  model <- small_system(transition = rbind(c(1, 0), c(0.5, 0.5)), start = c(1, 0))
  f <- bnp_filter(model, small_rows, particles = 2, seed = 1)
  expect_equal(unname(filter_probs(f)[2, ]), c(1, 0))
  one <- lds_model(A = 0.9, Q = 0.3, C = 1, R = 0.25, start_mean = 0, start_var = 2)
  expect_equal(as.numeric(logLik(f)), as.numeric(logLik(bnp_filter(one, small_rows))), tolerance = 1e-12)
  # Two sensors without noise of one variable: the second has no density.
  twice <- lds_model(A = 0.9, Q = 0.3, C = c(1, 1), R = 0, start_mean = 0, start_var = 2)
  expect_bad(bnp_filter(twice, cbind(small_rows, small_rows)), "without_noise", "row 1 of sequence \"1\"")
  still <- lds_model(A = 1, Q = 0, C = 1, R = 0, start_mean = 0, start_var = 1)
  expect_bad(bnp_filter(still, c(1, 1)), "without_noise", "row 2")
})

test_that("fits of linear systems are filtered at their mean parameters", {
  turn <- function(a) 0.95 * rbind(c(cos(a), -sin(a)), c(sin(a), cos(a)))
  mode <- rep(1:2, each = 70)
  x <- withr::with_seed(2, {
    x <- matrix(1, 140, 2)
    for (t in 2:140) x[t, ] <- turn(c(0.3, -0.8)[mode[t]]) %*% x[t - 1, ] + rnorm(2, 0, 0.2)
    x
  })
  noise <- withr::with_seed(3, matrix(rnorm(560, 0, 0.2), 140))
  prior <- prior_hdp_hmm(sticky = 50)
  control <- bnp_control(seed = 1, verbose = FALSE)
  cases <- list(
    list(y = x + noise[, 1:2], obs = obs_lds()),
    list(y = 5 + x %*% rbind(c(1, 0, 1, 2), c(0, 1, -1, 1)) + noise, obs = obs_lds(2, intercept = TRUE))
  )
  for (case in some_of(cases, by = 2, from = 2)) {
    fit <- bnp_hmm(case$y, obs = case$obs, prior = prior, control = control)
    f <- bnp_filter(fit, case$y, particles = 50, seed = 1)
    p <- filter_probs(f)
    expect_gt(mean(max.col(p)[-1] == fitted(fit)[-1]), 0.9)
    expect_gt(as.numeric(logLik(f)), elbo(fit)) # parameters are known to the filter
    part <- bnp_filter(fit, case$y[1:80, ], particles = 50, seed = 1)
    expect_identical(filter_probs(update(part, case$y[-(1:80), ])), p)
  }
  means <- coef(fit)
  moves <- transition_matrix(fit)
  system <- lds_model(
    unname(means$coef), unname(means$cov), unname(cbind(means$loadings, means$offset)), unname(means$noise_var),
    fit$model$obs$start_mean, fit$model$obs$start_var, unname(attr(moves, "start")), unname(matrix(moves, nrow(moves)))
  )
  expect_equal(filter_probs(bnp_filter(system, case$y, particles = 50, seed = 1)), p, ignore_attr = TRUE)
})
