# q(z) of a chain with windows replaced given the states at their ends, path by path.
chain_of_windows <- function(n, k, sharp) {
  rows <- function(m) log(prop.table(matrix(rgamma(m * k, 0.5) + 1e-3, m), 1))
  list(log_start = rows(1)[1, ], log_transition = rows(k), log_e = matrix(rnorm(n * k, sd = sharp), n))
}

log_potentials <- function(chain, paths) {
  n <- ncol(paths)
  k <- length(chain$log_start)
  e <- chain$log_e - apply(chain$log_e, 1, function(x) max(x) + log(sum(exp(x - max(x)))))
  out <- chain$log_start[paths[, 1]]
  for (t in seq_len(n)) out <- out + e[t, paths[, t]]
  for (t in seq_len(n - 1)) out <- out + chain$log_transition[paths[, t] + k * (paths[, t + 1] - 1)]
  out
}

normalised <- function(x) exp(x - max(x)) / sum(exp(x - max(x)))

# Window (first row, last row, state before, state after): paths through these ends get the probabilities that `now`
# gives their rows in the window, all else as it is.
replace_window <- function(q, now, paths, window) {
  inside <- window[1]:window[2]
  outside <- setdiff(seq_len(ncol(paths)), inside)
  at_ends <- rep(TRUE, nrow(paths))
  if (window[3] > 0) at_ends <- at_ends & paths[, window[1] - 1] == window[3]
  if (window[4] > 0) at_ends <- at_ends & paths[, window[2] + 1] == window[4]
  of_rest <- apply(paths[, outside, drop = FALSE], 1, paste, collapse = " ")
  out <- q
  for (rest in unique(of_rest[at_ends])) {
    these <- which(of_rest == rest)
    out[these] <- sum(q[these]) * normalised(now[these])
  }
  list(q = out, weight = sum(q[at_ends]))
}

# Two windows at most, at random places, which do not touch; ends at random states.
random_windows <- function(n, k) {
  cuts <- sort(sample(n, sample(c(2, 4), 1)))
  rows <- matrix(cuts, ncol = 2, byrow = TRUE)
  if (nrow(rows) == 2 && rows[2, 1] < rows[1, 2] + 2) rows <- rows[1, , drop = FALSE]
  before <- ifelse(rows[, 1] > 1, sample(k, nrow(rows), TRUE), 0)
  after <- ifelse(rows[, 2] < n, sample(k, nrow(rows), TRUE), 0)
  if (nrow(rows) == 2 && rows[2, 1] == rows[1, 2] + 2) before[2] <- after[1]
  storage.mode(rows) <- "integer"
  cbind(rows, as.integer(before), as.integer(after))
}

test_that("windows replaced given their ends are a q(z), which no enumeration of paths contradicts", {
  worst <- 0
  over <- -Inf
  for (i in seq_len(if (long_tests()) 300 else 100)) {
    withr::local_seed(i)
    n <- sample(4:7, 1)
    k <- sample(2:3, 1)
    old <- chain_of_windows(n, k, 1)
    now <- chain_of_windows(n, k, 1)
    windows <- random_windows(n, k)
    paths <- as.matrix(expand.grid(rep(list(seq_len(k)), n)))
    q <- normalised(log_potentials(old, paths))
    potential <- log_potentials(now, paths)
    weight <- NULL
    for (w in seq_len(nrow(windows))) {
      step <- replace_window(q, potential, paths, windows[w, ])
      q <- step$q
      weight <- c(weight, step$weight)
    }
    got <- engine_windows(old, now, windows)
    expect_equal(sum(q), 1, tolerance = 1e-12)
    resp <- vapply(seq_len(k), function(j) colSums(q * (paths == j)), numeric(n))
    moves <- matrix(0, k, k)
    for (t in seq_len(n - 1)) moves <- moves + xtabs(q ~ factor(paths[, t], 1:k) + factor(paths[, t + 1], 1:k))
    differences <- c(
      got$resp - resp, got$start - resp[1, ], got$transition - moves, got$entropy + sum(q * log(q)), got$weight - weight
    )
    worst <- max(worst, abs(differences))
    e <- now$log_e - apply(now$log_e, 1, function(x) max(x) + log(sum(exp(x - max(x)))))
    value <- sum(got$start * now$log_start) + sum(got$transition * now$log_transition) + sum(got$resp * e) + got$entropy
    over <- max(over, value - (max(potential) + log(sum(exp(potential - max(potential))))))
  }
  expect_lt(worst, 1e-12)
  expect_lt(over, 1e-12)
})

# Data and model of a fit of several sequences, for the engine.
window_case <- function(x, obs, weights = NULL) {
  lengths <- c(70, 90, 3, 60)
  id <- rep(1:4, lengths)
  fit <- bnp_hmm(x, id, obs,
    weights = weights, na_action = "model",
    control = bnp_control(k_init = 4, moves = FALSE, max_laps = 2, seed = 1, verbose = FALSE, tol = 0)
  ) |> suppressWarnings()
  data <- list(x = x, n = nrow(x), d = ncol(x), starts = as.integer(c(0, cumsum(lengths))))
  if (!is.null(weights)) data$weights <- rep(weights, lengths)
  list(data = data, model = fit$model)
}

test_that("windows of fits lie between what was and a visit of all rows, and move no mass", {
  withr::local_seed(5)
  x <- toy_sequences(7, c(70, 90, 3, 60), 4)$data$x
  gaps <- replace(x, sample(length(x), 40), NA)
  cases <- list(
    window_case(x, obs_gaussian("diagonal", learn = FALSE)), window_case(x, obs_ar()),
    window_case(gaps, obs_gaussian("full", learn = FALSE)),
    window_case(x, obs_gaussian("full", learn = FALSE), weights = c(1, 2.5, 1, 0.5))
  )
  around <- rbind(c(1, 6), c(40, 49), c(52, 60), c(90, 101), c(161, 162), c(164, 170), c(215, 223))
  storage.mode(around) <- "integer"
  for (case in cases) {
    old <- engine_fit(case$data, case$model, engine_control(4, max_laps = 2L), NULL, NULL)
    now <- engine_fit(case$data, case$model, engine_control(4, max_laps = 6L), NULL, NULL)
    got <- engine_window_visit(case$data, case$model, old$state, now$state, around, 1L)
    expect_true(got$sure)
    expect_lt(got$rows, 150)
    expect_gt(got$elbo[2], got$elbo[1])
    expect_lt(got$elbo[2], got$elbo[3] + 1e-9 * abs(got$elbo[3]))
    expect_equal(got$change, c(0, 0, 0), tolerance = 1e-9)
    expect_identical(engine_window_visit(case$data, case$model, old$state, now$state, around, 4L), got)
  }
})

test_that("long fits with windows raise the audited bound, with the same bits for any threads", {
  x <- withr::with_seed(3, {
    state <- sample(3, 180, TRUE)
    matrix(rnorm(18000), 9000) + 3 * rep(state, each = 50)
  })
  data <- list(x = x, n = 9000L, d = 2L, starts = c(0L, 5000L, 9000L))
  model <- list(obs = diagonal_model(), prior = hmm_priors$plain)
  fit <- function(...) {
    control <- engine_control(1, max_laps = 8L, tol = 1e-6, moves = all_moves, ...)
    engine_fit(data, model, control, NULL, NULL)
  }
  audited <- fit(audit = TRUE)
  expect_audited(audited)
  expect_gt(sum(audited$trace$births), 0)
  one <- fit()
  for (threads in c(2L, 4L, 8L)) {
    other <- fit(threads = threads)
    expect_identical(other[c("elbo", "state")], one[c("elbo", "state")])
  }
})
