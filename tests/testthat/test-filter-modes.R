# Filters of systems with known inputs, and whose modes see their states in different ways.

test_that("a sensor that fails in one mode: the figures of a slow implementation", {
  f <- bnp_filter(fault_system(), fault_rows, particles = 32, seed = 1, inputs = fault_inputs)
  expect_equal(as.numeric(logLik(f)), -12.473834555, tolerance = 1e-10)
  expect_equal(unname(filter_probs(f)[5, ]), c(0.929461750, 0.070538250), tolerance = 1e-8)
  expect_equal(unname(filter_probs(f, "smoothed")[1, ]), c(0.797386043, 0.202613957), tolerance = 1e-8)
})

test_that("with as many particles as there are paths, filters are sums over all paths", {
  one <- fault_system()
  gappy <- fault_rows
  gappy[2, ] <- gappy[1, 1] <- NA
  two <- cbind(fault_inputs, c(1, -1, 2, 0, 0.5))
  shared <- fault_system(C = diag(2), R = 0.3, G = c(0.1, 0.2) |> matrix())
  cases <- list(
    list(one, gappy, fault_inputs), list(one, fault_rows[1, , drop = FALSE], 0.5), # the first row alone
    list(fault_system(F = NULL), fault_rows, fault_inputs), list(fault_system(G = NULL), fault_rows, fault_inputs),
    list(shared, gappy, fault_inputs),
    list(fault_system(C = cbind(diag(2), 0:1), G = NULL, F = NULL), fault_rows, NULL), # noise by mode alone
    list(fault_system(F = array(1:8 / 5, c(2, 2, 2)), G = matrix(-1:2, 2), C = diag(2), R = 1), fault_rows, two),
    list(small_system(R = c(0.2, 5), F = c(1, -1)), as.matrix(small_rows), c(fault_inputs, 2)),
    list(small_system(G = 0.5, R = 0), as.matrix(small_rows), c(fault_inputs, 2))
  )
  for (case in cases) {
    model <- case[[1]]
    y <- case[[2]]
    want <- enumerated(model, y, case[[3]])
    f <- bnp_filter(model, y, particles = length(model$start)^nrow(y), seed = 1, inputs = case[[3]])
    expect_enumerated(f, want, model)
  }
})

long_test("filters are sums over all paths, whatever differs by mode and is there", {
  gappy <- fault_rows
  gappy[2, ] <- gappy[1, 1] <- NA
  by_mode <- function(a, b) array(c(a, b), c(dim(as.matrix(a)), 2))
  C <- list(diag(2), by_mode(rbind(c(1, 0), c(0.5, 1)), diag(1:0)), cbind(diag(2), 1:0))
  R <- list(0.3, diag(c(0.3, 0.2)), by_mode(matrix(c(0.25, 0.05, 0.05, 0.4), 2), diag(c(0.25, 3))))
  F <- list(NULL, matrix(c(0.5, -0.2)), by_mode(matrix(c(0.5, -0.2)), matrix(c(1, 0.4))))
  G <- list(NULL, matrix(c(0.1, 0.3)), by_mode(matrix(c(0.1, 0)), matrix(c(-0.3, 0.2))))
  crossed <- expand.grid(C = 1:3, R = 1:3, F = 1:3, G = 1:3)
  for (i in seq_len(nrow(crossed))) {
    model <- fault_system(C = C[[crossed$C[i]]], R = R[[crossed$R[i]]], F = F[[crossed$F[i]]], G = G[[crossed$G[i]]])
    inputs <- if (crossed$F[i] > 1 || crossed$G[i] > 1) fault_inputs
    f <- bnp_filter(model, gappy, particles = 32, seed = 1, inputs = inputs)
    expect_enumerated(f, enumerated(model, gappy, inputs), model)
  }
})

test_that("one mode is a Kalman filter, of particles or merged, and inputs are shifts of its rows", {
  level <- function(...) lds_model(A = 0.9, Q = 0.3, C = 1, R = 0.25, start_mean = 1, start_var = 2, ...)
  u <- c(fault_inputs, 2)
  for (collapse in c("none", "gpb2")) {
    f <- bnp_filter(level(F = 0.7, G = -0.4), small_rows, inputs = u, collapse = collapse, particles = 1, seed = 1)
    want <- enumerated(level(F = 0.7, G = -0.4), small_rows, u)
    expect_equal(as.numeric(logLik(f)), want$log_p, tolerance = 1e-10)
    # What inputs alone would do to the rows, taken from them.
    effect <- Reduce(function(x, v) 0.9 * x + 0.7 * v, u[-1], 0, accumulate = TRUE)
    without <- bnp_filter(level(), small_rows - effect + 0.4 * u, collapse = collapse, particles = 1, seed = 1)
    expect_equal(as.numeric(logLik(f)), as.numeric(logLik(without)), tolerance = 1e-10)
    expect_equal(as.data.frame(f)$mean.x1, as.data.frame(without)$mean.x1 + effect, tolerance = 1e-10)
  }
  # Merging begins with the third row that has a mode.
  merged <- bnp_filter(fault_system(), fault_rows[1:2, ], inputs = fault_inputs[1:2], collapse = "gpb2")
  want <- enumerated(fault_system(), fault_rows[1:2, ], fault_inputs[1:2])
  expect_equal(as.numeric(logLik(merged)), want$log_p, tolerance = 1e-10)
  long <- bnp_filter(fault_system(), fault_rows, inputs = fault_inputs, collapse = "gpb2")
  expect_equal(as.numeric(logLik(long)), -12.473834555, tolerance = 0.01)
})

test_that("what does not differ by mode changes nothing, to the bit", {
  plain <- wide_system()
  three <- function(x) array(x, c(dim(x), 3))
  y <- withr::with_seed(8, named_rows(20))
  filtered <- function(model, ...) bnp_filter(model, y, particles = 20, seed = 3, ...)$sequences
  as_arrays <- do.call(lds_model, c(
    list(A = plain$A, Q = plain$Q, C = three(plain$C), R = three(plain$R)),
    unclass(plain)[c("start_mean", "start_var", "start", "transition")]
  ))
  want <- filtered(plain)
  got <- filtered(as_arrays)
  expect_identical(got, want, ignore_attr = TRUE)
  expect_true(all(is.na(want[[1]]$rows$prob[1, ])))
  # Inputs act on the dynamics alone: the first row has no mode.
  moved <- do.call(lds_model, c(
    list(A = plain$A, Q = plain$Q, C = plain$C, R = plain$R, F = array(1, c(2, 1, 3))),
    unclass(plain)[c("start_mean", "start_var", "start", "transition")]
  ))
  still <- filtered(moved, inputs = rep(0, 20))
  expect_equal(still, want, tolerance = 1e-12, ignore_attr = TRUE)
  expect_output(print(plain), "The first row has no mode: C and R are those of all modes")
  expect_output(print(fault_system()), "1 input and 2 modes.*The first row has a mode")
})

test_that("pieces are the whole, and sequences and threads do not matter", {
  y <- rbind(fault_rows, fault_rows[5:1, ])
  u <- c(fault_inputs, rev(fault_inputs))
  model <- fault_system()
  run <- function(...) bnp_filter(model, ..., particles = 8, seed = 1)
  whole <- run(y, inputs = u)
  part <- run(y[1:3, ], inputs = u[1:3])
  for (i in 4:10) part <- update(part, y[i, ], inputs = u[i])
  expect_identical(part$sequences, whole$sequences)
  id <- rep(c("a", "b"), each = 5)
  by_id <- run(y, id, inputs = u, threads = 2)
  expect_identical(by_id$sequences, run(y, id, inputs = u)$sequences)
  listed <- list(a = y[1:5, ], b = y[6:10, ])
  expect_identical(run(listed, inputs = list(u[1:5], u[6:10]))$sequences, by_id$sequences)
  expect_identical(run(listed, inputs = u)$sequences, by_id$sequences)
  one <- run(y[6:10, ], inputs = u[6:10])
  later <- update(run(y[1:5, ], "a" |> rep(5), inputs = u[1:5]), y[6:10, ], id = "b" |> rep(5), inputs = u[6:10])
  expect_identical(later$sequences, by_id$sequences)
  expect_lt(abs(later$sequences$b$log_lik - one$sequences[[1]]$log_lik), 0.5)
})

test_that("a filter of several systems with inputs is the average of the filters of each", {
  systems <- list(fault_system(), fault_system(F = array(0, c(2, 1, 2))))
  each <- vapply(systems, function(s) enumerated(s, fault_rows, fault_inputs)$log_p, 1)
  f <- bnp_filter(systems, fault_rows, particles = 64, seed = 1, inputs = fault_inputs)
  expect_equal(as.numeric(logLik(f)), log(mean(exp(each))), tolerance = 1e-10)
  expect_bad(bnp_filter(list(fault_system(), fault_system(G = NULL, F = NULL))), "argument", "same numbers")
  shared <- fault_system(C = diag(2), R = 1, G = matrix(1, 2))
  expect_bad(bnp_filter(list(fault_system(), shared)), "argument", "System 2")
})

long_test("estimates of the probability are unbiased with few particles", {
  want <- enumerated(fault_system(), fault_rows, fault_inputs)$log_p
  for (n in 1:2) {
    times <- if (long_tests()) 200 else 80
    got <- vapply(seq_len(times), function(seed) exp(as.numeric(logLik(
      bnp_filter(fault_system(), fault_rows, particles = n, seed = seed, inputs = fault_inputs)
    )) - want), 1)
    expect_lt(abs(mean(got) - 1), 4 * sd(got) / sqrt(times))
    expect_gt(sd(got), 0)
  }
})

long_test("forecasts are those of simulated rows", {
  model <- fault_system()
  f <- bnp_filter(model, fault_rows, particles = 50, seed = 2, inputs = fault_inputs)
  u <- c(2, -1, 3)
  ahead <- predict(f, h = 3, inputs = u)
  latent <- predict(f, h = 3, type = "latent", inputs = u)
  n <- 20000
  drawn <- withr::with_seed(7, {
    p <- f$sequences[["1"]]$state
    at <- sample(length(p$weight), n, TRUE, p$weight)
    z <- p$mode[at] + 1
    x <- t(vapply(at, function(i) p$mean[, i] + t(chol(matrix(p$cov[, i], 2))) %*% rnorm(2), numeric(2)))
    y <- x
    for (step in 1:3) {
      z <- vapply(z, function(k) sample(2, 1, prob = model$transition[k, ]), 1L)
      for (k in 1:2) {
        own <- z == k
        draws <- function(v) matrix(rnorm(2 * sum(own)), ncol = 2) %*% chol(v)
        x[own, ] <- x[own, ] %*% t(model$A[, 1:2, k]) + rep(model$F[, 1, k] * u[step], each = sum(own)) +
          draws(model$Q[, , k])
        y[own, ] <- x[own, ] %*% t(model$C[, 1:2, k]) + rep(model$G[, 1, k] * u[step], each = sum(own)) +
          draws(model$R[, , k])
      }
    }
    list(x = x, y = y)
  })
  for (case in list(list(drawn$y, ahead, c("x1", "x2")), list(drawn$x, latent, c("x1", "x2")))) {
    of <- function(what) unlist(case[[2]][3, paste0(what, ".", case[[3]])], use.names = FALSE)
    sd <- apply(case[[1]], 2, sd)
    expect_lt(max(abs(colMeans(case[[1]]) - of("mean")) / sd), 4.5 / sqrt(n))
    expect_equal(sd, of("sd"), tolerance = 0.03)
    inside <- case[[1]][, 2] > of("lower")[2] & case[[1]][, 2] < of("upper")[2]
    expect_equal(mean(inside), 0.9, tolerance = 0.02)
  }
  both <- bnp_filter(model, list(a = fault_rows, b = fault_rows), inputs = rep(fault_inputs, 2), seed = 2)
  own <- predict(both, h = 3, inputs = list(b = -u, a = u))
  expect_equal(own$mean.x1[own$id == "a"], predict(both, h = 3, inputs = u)$mean.x1[1:3])
  expect_equal(own$mean.x1[own$id == "b"], predict(both, h = 3, inputs = -u)$mean.x1[4:6])
})

test_that("inputs go by their names", {
  F <- array(c(0.5, -0.2, 1, 0.4), c(2, 2, 2), list(NULL, c("heat", "wind"), NULL)) # nolint: the symbol of the help
  model <- fault_system(F = F, G = NULL)
  u <- cbind(heat = fault_inputs, wind = 1:5)
  f <- bnp_filter(model, fault_rows, seed = 1, inputs = u)
  expect_identical(bnp_filter(model, fault_rows, seed = 1, inputs = u[, 2:1])$sequences, f$sequences)
  expect_identical(bnp_filter(model, fault_rows, seed = 1, inputs = as.data.frame(u))$sequences, f$sequences)
  expect_identical(bnp_filter(model, fault_rows, seed = 1, inputs = unname(u))$sequences, f$sequences)
  rows <- `rownames<-`(fault_rows, letters[1:5])
  expect_identical(
    bnp_filter(model, rows, seed = 1, inputs = `rownames<-`(u, letters[1:5])[5:1, ])$sequences, f$sequences
  )
  expect_bad(
    bnp_filter(model, fault_rows, seed = 1, inputs = `colnames<-`(u, c("heat", "rain"))), "argument", "wind"
  )
  expect_bad(
    fault_system(F = F, G = array(1, c(2, 2, 2), list(NULL, c("wind", "heat"), NULL))), "argument", "names"
  )
})

test_that("inputs that are not there, or too many, or no numbers", {
  model <- fault_system()
  run <- function(u, object = model, y = fault_rows) bnp_filter(object, y, seed = 1, inputs = u)
  expect_bad(run(NULL), "argument", "inputs")
  expect_bad(run(replace(fault_inputs, 3, NA)), "argument", "row 3")
  expect_bad(run(replace(fault_inputs, 2, Inf)), "argument", "inputs")
  expect_bad(run(letters[1:5]), "argument", "inputs")
  expect_bad(run(fault_inputs[1:4]), "argument", "inputs")
  expect_bad(run(cbind(fault_inputs, 1)), "argument", "inputs")
  expect_bad(run(fault_inputs, small_system(), as.matrix(fault_inputs)), "argument", "lds_model")
  expect_bad(bnp_filter(model, inputs = 1:3), "argument", "newdata")
  expect_equal(nobs(bnp_filter(model)), 0)
  f <- run(fault_inputs)
  expect_bad(update(f, fault_rows[1, ]), "argument", "inputs")
  expect_bad(update(f, fault_rows, inputs = 1:4), "argument", "inputs")
  expect_identical(update(f, fault_rows[0, ]), f)
  expect_bad(predict(f, h = 2), "argument", "not predicted")
  expect_bad(predict(f, h = 2, inputs = 1:3), "argument", "inputs")
  expect_bad(predict(f, h = 2, inputs = c(1, NA)), "argument", "inputs")
  expect_bad(predict(f, h = 2, inputs = list(z = 1:2)), "argument", "inputs")
  expect_equal(predict(f, h = 1, inputs = 2)$mean.x1, forecast(f, h = 1, inputs = 2)$mean.x1)
  functions <- particle_model(
    initial = function(n) rnorm(n), move = function(x) x, log_density = function(y, x) dnorm(y, x, log = TRUE)
  )
  expect_bad(bnp_filter(functions, 1:3, inputs = 1:3), "argument", "time")
  expect_bad(update(bnp_filter(functions, 1:3, seed = 1), 4, inputs = 1), "argument", "time")
  fit <- suppressWarnings(bnp_hmm(fault_inputs, control = bnp_control(seed = 1, max_laps = 2, verbose = FALSE)))
  expect_bad(bnp_filter(fit, fault_inputs, inputs = 1:5), "argument", "inputs")
  expect_bad(predict(bnp_filter(fit, fault_inputs), inputs = 1), "argument", "inputs")
})

test_that("systems that do not fit together, and extreme ones", {
  bad <- function(..., what = "argument") expect_bad(fault_system(...), what, names(list(...))[1])
  bad(F = 1)
  bad(F = array(1, c(2, 1, 3)))
  bad(F = array(1, c(3, 1, 2)))
  bad(F = array(NA_real_, c(2, 1, 2)))
  bad(G = array(1, c(2, 2, 2)))
  bad(G = "a")
  bad(C = array(1, c(2, 2, 3)))
  bad(C = array(1, c(2, 4, 2)))
  bad(R = array(diag(2), c(2, 2, 3)))
  bad(R = array(c(diag(2), -diag(2)), c(2, 2, 2)), what = "not_definite")
  bad(R = c(1, 2, 3))
  expect_bad(fault_system(F = matrix(0, 2, 0), G = NULL), "argument", "F")
  # The dead sensor's mode alone has noise in it: a cell without noise is known nowhere else.
  none <- fault_system(R = array(0, c(2, 2, 2)))
  expect_bad(bnp_filter(none, fault_rows, seed = 1, inputs = fault_inputs), "without_noise", "row 1")
  for (size in c(1e8, 1e99)) {
    far <- bnp_filter(fault_system(), fault_rows, seed = 1, inputs = size * fault_inputs)
    expect_true(is.finite(logLik(far)))
    expect_true(all(is.finite(unlist(as.data.frame(far)[-1]))))
  }
  never <- fault_system(start = c(1, 0), transition = rbind(c(1, 0), c(0.5, 0.5)))
  f <- bnp_filter(never, fault_rows, particles = 2, seed = 1, inputs = fault_inputs)
  expect_equal(unname(filter_probs(f)[, 1]), rep(1, 5))
  first <- lds_model(
    A = array(never$A[, , 1], c(2, 3, 1)), Q = never$Q[, , 1], C = never$C[, , 1], R = never$R[, , 1],
    F = never$F[, , 1, drop = FALSE], G = never$G[, , 1] |> matrix(2), start_mean = c(0, 0.5), start_var = 1
  )
  expect_equal(
    as.numeric(logLik(f)), as.numeric(logLik(bnp_filter(first, fault_rows, inputs = fault_inputs))), tolerance = 1e-12
  )
})
