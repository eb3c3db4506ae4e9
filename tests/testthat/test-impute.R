# Imputed values: expectations and draws against what they stand for.

few <- bnp_control(seed = 1, verbose = FALSE)
diagonal <- obs_gaussian("diagonal")
punch <- function(x, share, seed) {
  gone <- withr::with_seed(seed, matrix(runif(length(as.matrix(x))) < share, nrow(x)))
  x[gone] <- NA
  x
}

test_that("the conditional of a Student-t is that of its density", {
  s <- matrix(c(2, 0.8, -0.3, 0.8, 1, 0.2, -0.3, 0.2, 0.5), 3)
  t <- list(location = matrix(c(1, -1, 0.5), 1), scale = s, spread = 1.7, df = 4)
  x <- matrix(c(0.2, NA, 1.5), 1)
  density <- function(y) {
    vapply(y, function(v) {
      e <- c(0.2, v, 1.5) - t$location
      (1 + sum(e * solve(1.7 * s, c(e))) / t$df)^(-(t$df + 3) / 2)
    }, 1)
  }
  moment <- function(f) stats::integrate(function(y) f(y) * density(y), -Inf, Inf, rel.tol = 1e-10)$value
  mean <- moment(identity) / moment(function(y) 1 + 0 * y)
  var <- moment(function(y) (y - mean)^2) / moment(function(y) 1 + 0 * y)
  found <- conditional_moments(t, list(x = x, missing = is.na(x)))
  expect_equal(found$mean[2], mean, tolerance = 1e-8)
  expect_equal(found$var[2], var, tolerance = 1e-8)
  # Nothing observed: the marginal; in units far from 1 the same.
  none <- conditional_moments(t, list(x = NA * x, missing = is.na(NA * x)))
  expect_equal(c(none$mean), c(t$location))
  expect_equal(c(none$var), diag(s) * 1.7 * 4 / 2)
  unit <- c(1e-120, 1, 1e120)
  far <- list(location = t$location * unit, scale = s * outer(unit, unit), spread = 1.7, df = 4)
  expect_equal(conditional_moments(far, list(x = x * unit, missing = is.na(x)))$mean[2], mean, tolerance = 1e-8)
})

test_that("draws of a Gaussian's missing cells have the conditional's moments", {
  s <- matrix(c(2, 0.8, -0.3, 0.8, 1, 0.2, -0.3, 0.2, 0.5), 3)
  x <- matrix(c(0.2, NA, NA), 4e4, 3, byrow = TRUE)
  p <- list(location = matrix(c(1, -1, 0.5), 4e4, 3, byrow = TRUE), cov = s)
  drawn <- withr::with_seed(1, draw_conditional(p, list(x = x, missing = is.na(x))))
  expect_true(all(drawn[, 1] == 0.2))
  expect_equal(colMeans(drawn[, -1]), c(-1, 0.5) + s[-1, 1] / s[1, 1] * (0.2 - 1), tolerance = 0.02)
  expect_equal(stats::cov(drawn[, -1]), s[-1, -1] - s[-1, 1] %o% s[-1, 1] / s[1, 1], tolerance = 0.02)
  cov <- withr::with_seed(2, replicate(4000, draw_covariance(9, s)))
  expect_equal(apply(cov, 1:2, mean), s / (9 - 3 - 1), tolerance = 0.05)
})

test_that("parameters of regressions and Gaussians are drawn around what is expected", {
  x <- withr::with_seed(1, cbind(y = 3 + 2 * (z <- rnorm(60, 3)) + rnorm(60, sd = 0.1), z = z))
  for (obs in list(obs_regression(), obs_gaussian(), obs_gaussian("zero_mean"))) {
    fit <- bnp_mixture(x, obs, prior_dirichlet(1), few)
    q <- posterior_clusters(fit)[[1]]
    expected <- obs_conditional(fit$model$obs, q, x)
    n <- if (long_tests()) 2000 else 800
    drawn <- withr::with_seed(2, replicate(n, obs_draw_conditional(fit$model$obs, q, x), simplify = FALSE))
    location <- Reduce(`+`, lapply(drawn, `[[`, "location")) / n
    expect_equal(location, expected$location, tolerance = 0.02, ignore_attr = TRUE)
    # E cov, and the variance of the location beside it.
    cov <- expected$scale * expected$df / (expected$df - 2)
    expect_equal(Reduce(`+`, lapply(drawn, `[[`, "cov")) / n, cov, tolerance = 0.05, ignore_attr = TRUE)
    of_rows <- apply(vapply(drawn, function(p) p$location[, 1], x[, 1]), 1, stats::var)
    # (In units in which it is not small: all.equal() takes small numbers for equal.)
    expect_equal(60 * of_rows / cov[1, 1], 60 * (expected$spread - 1), tolerance = 0.1)
  }
})

long_test("nine of ten missing values are within their 90 % intervals", {
  simulated <- withr::with_seed(5, {
    group <- sample(3, 500, TRUE)
    matrix(rnorm(2000, c(0, 6, -6)[group] * rep(c(1, -1, 1, 0.5), each = 500), c(1, 0.5, 2)[group]), 500)
  })
  x <- punch(simulated, 0.1, 6)
  gone <- is.na(x)
  fit <- bnp_mixture(x, diagonal, control = few, na_action = "model")
  copies <- impute(fit, x, m = 200, seed = 1)
  drawn <- vapply(copies, function(y) y[gone], double(sum(gone)))
  ends <- apply(drawn, 1, stats::quantile, c(0.05, 0.95))
  covered <- mean(simulated[gone] > ends[1, ] & simulated[gone] < ends[2, ])
  expect_gt(covered, 0.85)
  expect_lt(covered, 0.95)
  # The draws are around the expectations, with their standard deviations.
  expected <- predict(fit, x, type = "impute")
  expect_equal(expected[!gone], simulated[!gone])
  z <- (rowMeans(drawn) - expected[gone]) / attr(expected, "sd")[gone] * sqrt(200)
  expect_lt(mean(z^2), 1.5)
  expect_lt(sqrt(mean((expected[gone] - simulated[gone])^2)), 0.75 * stats::sd(simulated[gone]))
  expect_identical(is.na(attr(expected, "sd")), !gone, ignore_attr = TRUE)
})

test_that("columns keep their types, and levels are the most probable ones", {
  frame <- withr::with_seed(3, data.frame(
    n = rpois(90, rep(c(1, 20), 45)), x = rnorm(90, rep(c(0, 8), 45)), f = factor(rep(c("u", "v"), 45)),
    yes = rep(c(TRUE, FALSE), 45), word = rep(c("k", "l"), 45), row.names = paste0("r", 1:90)
  ))
  gappy <- frame
  for (j in 1:5) gappy[3 * j + 0:1, j] <- NA
  model <- obs_product(obs_poisson(columns = "n"), diagonal, obs_categorical())
  fit <- bnp_mixture(gappy, model, control = few, na_action = "model")
  filled <- predict(fit, gappy, type = "impute")
  expect_identical(filled[3:5], frame[3:5], ignore_attr = TRUE)
  expect_identical(dimnames(attr(filled, "sd")), dimnames(frame))
  copies <- impute(fit, gappy, m = 3, seed = 2)
  for (copy in copies) {
    expect_identical(lapply(copy, class), lapply(frame, class))
    expect_identical(dimnames(copy), dimnames(frame))
    expect_false(anyNA(copy))
    whole <- !is.na(gappy)
    expect_identical(as.matrix(copy)[whole], as.matrix(gappy)[whole])
  }
  long <- as.data.frame(copies)
  expect_named(long, c(".imp", ".id", names(frame)))
  expect_identical(long$.imp, rep(0:3, each = 90))
  expect_identical(long$.id, rep(1:90, 4))
  expect_identical(long[long$.imp == 2, -(1:2)], copies[[2]], ignore_attr = TRUE)
  expect_identical(is.na(long[1:90, -(1:2)]), is.na(gappy), ignore_attr = TRUE)
  expect_output(print(copies), "3 completed copies")
})

test_that("binary data, counts with exposures and waiting times are drawn from their predictives", {
  counts <- withr::with_seed(7, cbind(n = rpois(60, 4 * rep(c(0.1, 5), 30)), hours = rep(c(0.1, 5), 30)))
  x <- replace(counts, cbind(1:2, 1), NA)
  fit <- bnp_mixture(x, obs_poisson(exposure = "hours"), prior_dirichlet(1), few, na_action = "model")
  q <- posterior_params(fit)
  filled <- predict(fit, x, type = "impute")
  expect_equal(filled[1:2, 1], q$a[1] / q$b[1] * c(0.1, 5), ignore_attr = TRUE)
  sd <- sqrt(q$a[1] / q$b[1] * c(0.1, 5) * (1 + c(0.1, 5) / q$b[1]))
  expect_equal(attr(filled, "sd")[1:2, 1], sd, ignore_attr = TRUE)
  drawn <- vapply(impute(fit, x, m = 2000, seed = 1), function(y) y[2, 1], 1)
  expect_equal(mean(drawn), filled[2, 1], tolerance = 0.03, ignore_attr = TRUE)
  yes <- replace(1 * (counts[, 1] > 2), 5, NA)
  fit <- bnp_mixture(yes, obs_bernoulli(), prior_dirichlet(1), few, na_action = "model")
  expect_equal(unname(predict(fit, yes, type = "impute")[5]), unname(drop(coef(fit)$prob)))
  expect_setequal(vapply(impute(fit, yes, m = 50, seed = 1), `[`, 1, 5), 0:1)
  times <- replace(withr::with_seed(1, rexp(50)), 2, NA)
  fit <- bnp_mixture(times, obs_gamma(1), prior_dirichlet(1), few, na_action = "model")
  q <- posterior_params(fit)
  expect_equal(unname(predict(fit, times, type = "impute")[2]), unname(drop(q$b / (q$a - 1))))
})

test_that("a column without any value in new data is filled in", {
  fit <- bnp_mixture(faithful, diagonal, control = few)
  new <- data.frame(eruptions = c(2, 4.5), waiting = NA)
  filled <- predict(fit, new, type = "impute")
  expect_equal(filled$waiting, c(55, 80), tolerance = 0.05)
  expect_type(impute(fit, new, m = 1)[[1]]$waiting, "double")
  yes <- data.frame(a = rep(c(TRUE, FALSE), 20), b = rep(c(TRUE, FALSE), 20))
  fit <- bnp_mixture(yes, obs_bernoulli(), control = few)
  expect_identical(impute(fit, replace(yes, cbind(1, 2), NA), m = 1, seed = 1)[[1]], yes)
})

test_that("the same seed gives the same copies, and leaves R's generator alone", {
  x <- punch(as.matrix(faithful), 0.1, 1)
  x[rowSums(is.na(x)) == 2, 1] <- 3
  fit <- bnp_mixture(x, diagonal, control = few, na_action = "model")
  set.seed(9)
  before <- .Random.seed
  one <- impute(fit, x, m = 2, seed = 3)
  expect_identical(.Random.seed, before)
  expect_identical(impute(fit, x, m = 2, seed = 3), one)
  expect_false(identical(one[[1]], one[[2]]))
  times <- c(NA, withr::with_seed(1, rexp(20)))
  suppressMessages(of_times <- bnp_mixture(times, obs_gamma(), control = few, na_action = "model"))
  expect_named(as.data.frame(impute(of_times, times, m = 1)), c(".imp", ".id", "x"))
  # Nothing to fill in.
  whole <- as.matrix(faithful)
  expect_identical(impute(fit, whole, m = 2, seed = 1)[[2]], whole)
  expect_equal(predict(fit, whole, type = "impute"), whole, ignore_attr = TRUE)
})

test_that("gaps of a series are drawn from the Gaussian conditional of the whole series", {
  for (lag in 1:2) {
    d <- 2L
    coef <- lapply(1:2, function(k) withr::with_seed(k, matrix(rnorm(d * d * lag, sd = 0.4), d)))
    coef <- lapply(coef, cbind, c(1, -2))
    cov <- list(matrix(c(1, 0.4, 0.4, 2), 2), matrix(c(0.5, -0.2, -0.2, 0.3), 2))
    path <- c(rep(1L, 4 + lag), 2L, 2L, 1L, 2L, 2L)
    n <- length(path)
    x <- withr::with_seed(5, matrix(rnorm(n * d), n))
    # Mean and covariance of all rows after the first ones, from the recursion.
    free <- (lag * d + 1L):(n * d)
    mean <- c(t(x[seq_len(lag), ]), double(n * d - lag * d))
    root <- matrix(0, n * d, n * d)
    for (t in (lag + 1L):n) {
      own <- (t - 1L) * d + 1:d
      before <- unlist(lapply(seq_len(lag), function(l) (t - l - 1L) * d + 1:d))
      k <- path[t]
      mean[own] <- coef[[k]] %*% c(mean[before], 1)
      root[own, ] <- coef[[k]][, seq_len(lag * d)] %*% root[before, ]
      root[own, own] <- root[own, own] + t(chol(cov[[k]]))
    }
    whole <- tcrossprod(root)
    gone <- rbind(c(lag + 2L, 1L), c(lag + 3L, 1L), c(lag + 3L, 2L), c(n, 2L))
    at <- (gone[, 1] - 1L) * d + gone[, 2]
    known <- setdiff(free, at)
    weight <- whole[at, known] %*% solve(whole[known, known])
    values <- c(t(x))
    expected <- mean[at] + drop(weight %*% (values[known] - mean[known]))
    variance <- whole[at, at] - weight %*% whole[known, at]
    obs <- list(lag = lag, intercept = TRUE)
    parameters <- Map(function(coef, cov) list(coef = coef, cov = cov, root = chol(cov)), coef, cov)
    missing <- matrix(seq_len(n * d) %in% (gone[, 1] + (gone[, 2] - 1L) * n), n)
    near <- with_neighbours(replace(x, missing, NA))
    parts <- gaps_of_series(missing, lag)
    expect_length(parts, 2L)
    found <- lapply(parts, function(gap) conditional_of_gap(obs, parameters, near, path, gap, rep(1, n)))
    by_parts <- unlist(lapply(seq_along(parts), function(i) near[parts[[i]]] + found[[i]]$mean * found[[i]]$unit))
    expect_equal(by_parts, expected, tolerance = 1e-9)
    first <- found[[1]]
    expect_equal(chol2inv(first$root) * outer(first$unit, first$unit), variance[1:3, 1:3], tolerance = 1e-9)
    expect_equal(found[[2]]$unit^2, variance[4, 4], tolerance = 1e-9)
  }
})

long_test("copies of autoregressive series have the gaps filled in, and cover what was removed", {
  id <- rep(1:2, each = 200)
  state <- rep(c(1, 2, 1, 2), each = 100)
  inside <- error <- double()
  for (seed in some_of(1:4, by = 4, from = 2)) {
    x <- matrix(0, 400, 2)
    gone <- withr::with_seed(seed, {
      for (t in 2:400) x[t, ] <- c(0.9, -0.6)[state[t]] * x[t - 1, ] + c(0.3, 1)[state[t]] * rnorm(2)
      matrix(runif(800) < 0.08, 400)
    })
    x <- 50 + x
    gone[c(1, 201), ] <- FALSE
    gaps <- replace(x, gone, NA)
    fit <- bnp_hmm(gaps, id, obs_ar(intercept = TRUE), prior_hmm(2), few, na_action = "model")
    copies <- impute(fit, gaps, id = id, m = 100, seed = 1)
    expect_identical(copies[[1]][!gone], gaps[!gone])
    draws <- vapply(copies, function(copy) copy[gone], double(sum(gone)))
    ends <- apply(draws, 1, stats::quantile, c(0.05, 0.95))
    inside <- c(inside, ends[1, ] < x[gone] & x[gone] < ends[2, ])
    error <- c(error, (rowMeans(draws) - x[gone])^2 / stats::var(c(x)))
  }
  expect_gt(mean(inside), 0.85)
  expect_lt(mean(inside), 0.95)
  expect_lt(mean(error), 0.5)
  expect_identical(impute(fit, gaps, id = id, m = 1, seed = 1)[[1]], copies[[1]])
  parts <- impute(fit, list(gaps[1:200, ], gaps[201:400, ]), m = 1, seed = 1)[[1]]
  expect_identical(do.call(rbind, parts), copies[[1]])
  expect_identical(impute(fit, x, id = id, m = 1)[[1]], x)
  # In units far from 1, far from 0, and as a mixture.
  if (long_tests()) {
    unit <- rep(2^c(-300, 200), each = 400)
    far <- bnp_hmm(gaps * unit, id, obs_ar(intercept = TRUE), prior_hmm(2), few, na_action = "model")
    expect_equal(impute(far, gaps * unit, id = id, m = 1, seed = 1)[[1]] / unit, copies[[1]], tolerance = 1e-6)
  }
  mixture <- bnp_mixture(gaps, obs_ar(), control = few, na_action = "model")
  expect_false(anyNA(impute(mixture, gaps, m = 2, seed = 1)[[2]]))
  named <- data.frame(time = 1:400, `colnames<-`(gaps, c("a", "b")), id)
  frame <- bnp_hmm(named[2:4], "id", obs_ar(), prior_hmm(2), few, na_action = "model")
  expect_identical(impute(frame, named, m = 1, seed = 1)[[1]]$time, 1:400)
  expect_bad(predict(fit, gaps, id, type = "impute"), "argument", "no closed form.*\n.*impute")
  gaps[201, 2] <- NA
  expect_bad(impute(fit, gaps, id = id), "argument", "first 1 row.*\n.*201")
  expect_bad(predict(mixture, gaps, type = "impute"), "argument", "no closed form")
})

test_that("what is known and not modelled cannot be imputed, and says so", {
  hits <- withr::with_seed(1, cbind(rbinom(30, 9, 0.3), rpois(30, 4)))
  fit <- bnp_mixture(hits, obs_binomial(), control = few)
  gaps <- replace(hits, 3, NA)
  expect_bad(impute(fit, gaps), "argument", "obs_binomial.*\n.*how many trials.*\n.*simulate")
  expect_bad(predict(fit, gaps, type = "impute"), "argument", "how many trials")
  times <- cbind(hits[, 1] + 1, 1)
  fit <- bnp_mixture(times, obs_survival(), control = few)
  expect_bad(impute(fit, replace(times, 3, NA)), "argument", "how long a row was watched")
  fit <- bnp_mixture(hits, obs_multinomial(), control = few)
  expect_bad(impute(fit, replace(hits, cbind(3, 1:2), NA)), "argument", "total of a row")
})

test_that("no rows have no gaps: copies without rows, of every kind of fit", {
  few <- bnp_control(seed = 1, verbose = FALSE, max_laps = 3)
  levels <- transform(mtcars[c("cyl", "mpg")], cyl = factor(cyl))
  cases <- list(
    list(bnp_mixture(faithful, control = few), faithful), list(bnp_mixture(levels, control = few), levels),
    list(bnp_mixture(~eruptions, faithful, control = few), faithful), list(bnp_hmm(faithful, control = few), faithful),
    list(bnp_features(attitude, control = few), attitude)
  ) |> suppressWarnings()
  for (case in cases) {
    copies <- impute(case[[1L]], case[[2L]][0L, ], m = 2, seed = 1)
    expect_length(copies, 2L)
    for (copy in copies) expect_identical(nrow(copy), 0L)
  }
})

test_that("values have no place in columns that new data lack, whatever their class", {
  x <- withr::with_seed(4, exp(matrix(rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c")))))
  few <- bnp_control(seed = 1, verbose = FALSE, max_laps = 3)
  models <- list(obs_gaussian(), obs_gaussian("diagonal"), obs_gaussian("zero_mean"), obs_gamma(), obs_poisson())
  for (obs in some_of(models, by = 3, from = 2)) {
    y <- if (obs$family == "poisson") round(x) else x
    for (fit in list(bnp_mixture(y, obs, control = few), bnp_hmm(y, obs = obs, control = few)) |> suppressWarnings()) {
      one <- y[, "b", drop = FALSE]
      for (given in list(one, as.data.frame(one), y[, c("c", "b")])) {
        expect_bad(suppressMessages(impute(fit, given, m = 1, seed = 1)), "argument", "newdata")
      }
    }
  }
})
