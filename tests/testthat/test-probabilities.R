# One rule for probabilities: type = "prob" are the terms of the predictive density, type = "responsibility" is q(z).

gaussians <- withr::with_seed(3, cbind(a = rnorm(60, c(0, 3)), b = rnorm(60)))
few <- bnp_control(seed = 1, verbose = FALSE, max_laps = 20, moves = FALSE)

share <- function(l) {
  l <- as.matrix(l)
  e <- exp(l - apply(l, 1L, max))
  e / rowSums(e)
}

# log of the mean weights times the predictives of rows, rows x clusters and, last, the one not seen yet.
terms_of <- function(fit, data) {
  fit <- fit_with_gaps(fit, data)
  log_p <- engine_log_predictives(as_engine_data(data), fit$model, fit$state, 1L)
  out <- log_p[, engine_index(fit, ncol(log_p))]
  weight <- log(weights_with_new(fit))
  out + if (nrow(weight) > 1L) weight[data$slot, ] else rep(c(weight), each = nrow(out))
}

planted <- withr::with_seed(5, list( # clusters alternate
  full = list(gaussians, obs_gaussian()), diagonal = list(gaussians, obs_gaussian("diagonal")),
  tied = list(gaussians, obs_gaussian("tied")), zero = list(gaussians, obs_gaussian("zero_mean")),
  spherical = list(gaussians, obs_gaussian("spherical")),
  ar = list(gaussians, obs_ar()), poisson = list(matrix(rpois(120, c(2, 9)), 60), obs_poisson()),
  bernoulli = list(matrix(rbinom(240, 1, c(0.2, 0.8)), 60), obs_bernoulli()),
  counts = list(matrix(rpois(240, 3), 60), obs_multinomial()), waiting = list(matrix(rexp(120), 60), obs_gamma()),
  levels = list(data.frame(g = sample(letters[1:3], 60, TRUE), h = rep(c("u", "v"), 30)), obs_categorical()),
  trials = list(matrix(rpois(120, 4) + 1, 60), obs_binomial()),
  mixed = list(data.frame(g = rep(c("u", "v"), 30), y = rnorm(60, c(0, 4)), z = rnorm(60)), NULL),
  lines = list(data.frame(y = rnorm(60), x = rnorm(60)), obs_regression())
))

fit_to <- function(case, start = rep(1:2, 30), ...) {
  args <- c(list(case[[1L]], start = start, control = few, ...), if (!is.null(case[[2L]])) list(obs = case[[2L]]))
  suppressMessages(suppressWarnings(do.call(bnp_mixture, args)))
}

for (name in names(planted)) {
  test_that(paste0(name, ": probabilities are the terms of the log density"), {
    case <- planted[[name]]
    for (prior in list(prior_dp(), prior_dirichlet(2), if (name == "full") prior_py(1, 0.3))) {
      if (is.null(prior)) next
      fit <- fit_to(case, prior = prior)
      data <- as_newdata(fit, case[[1L]])
      log_terms <- terms_of(fit, data)
      k <- seq_len(fit$state$k)
      prob <- predict(fit, case[[1L]], type = "prob")
      modelled <- which(!is.na(log_terms[, 1L]))
      expect_equal(unname(prob[modelled, ]), share(log_terms[modelled, k, drop = FALSE]), tolerance = 1e-9)
      density <- predict(fit, case[[1L]], type = "logdensity")
      expect_equal(unname(density[modelled]), log(rowSums(exp(log_terms[modelled, ]))), tolerance = 1e-9)
      expect_equal(unname(rowSums(prob)), rep(1, nrow(prob)))
      expect_identical(unname(predict(fit, case[[1L]])), unname(max.col(prob, "first")))
      # q(z) is that of the engine, whose sums are the sizes of clusters.
      own <- predict(fit, case[[1L]], type = "responsibility")
      expect_equal(unname(colSums(own[modelled, , drop = FALSE])), unname(cluster_sizes(fit)), tolerance = 0.05)
      expect_identical(unname(augment(fit, case[[1L]])$.class), factor(unname(max.col(own, "first")), k))
    }
  })
}

test_that("a row with a hole has the predictive of what is there, beside any other rows", {
  for (name in c("full", "diagonal", "spherical", "poisson", "bernoulli", "waiting", "levels", "mixed")) {
    case <- planted[[name]]
    fit <- fit_to(case)
    holed <- case[[1L]][1:6, ]
    for (i in 1:3) holed[i, 1L] <- NA
    prob <- predict(fit, holed, type = "prob", na_action = "model")
    log_terms <- terms_of(fit, as_newdata(fit, holed, na_action = "model"))
    expect_equal(unname(prob), share(log_terms[, seq_len(fit$state$k)]), tolerance = 1e-9)
    whole <- case[[1L]][4:6, , drop = FALSE]
    if (is.data.frame(holed)) rownames(whole) <- NULL
    expect_identical(unname(prob[4:6, ]), unname(predict(fit, whole, type = "prob")), label = name)
  }
})

test_that("a level that was never seen says as little as one that is missing", {
  fit <- fit_to(planted$mixed)
  y <- seq(-1, 5, length.out = 9)
  unseen <- suppressWarnings(predict(fit, data.frame(g = "other", y = y, z = 0), type = "prob"))
  missing <- predict(fit, data.frame(g = factor(NA, c("u", "v")), y = y, z = 0), type = "prob", na_action = "model")
  expect_equal(unseen, missing, tolerance = 1e-10)
  expect_gt(max(abs(unseen - predict(fit, data.frame(g = "u", y = y, z = 0), type = "prob"))), 0.1)
})

test_that("two clusters by hand: Student's t and mean weights", {
  x <- withr::with_seed(2, c(rnorm(20), rnorm(6, 4)))
  fit <- bnp_mixture(x, obs_gaussian(mean = 0, mean_strength = 0.01, df = 3, scale = 1), prior_dirichlet(2, 2),
    bnp_control(seed = 1, tol = 1e-12, keep = "probabilities", verbose = FALSE)
  )
  n <- colSums(fit$probabilities)
  at <- c(-3, 0, 1.9, 2.2, 5, 40)
  log_terms <- vapply(1:2, function(k) {
    strength <- 0.01 + n[k]
    mean <- sum(fit$probabilities[, k] * x) / strength
    scale <- 1 + sum(fit$probabilities[, k] * x^2) - strength * mean^2
    v <- scale / (3 + n[k]) * (1 + 1 / strength)
    log(1 + n[k]) + dt((at - mean) / sqrt(v), 3 + n[k], log = TRUE) - 0.5 * log(v)
  }, at)
  expect_equal(unname(predict(fit, at, type = "prob")), unname(share(log_terms)), tolerance = 1e-7)
  # What is kept are both kinds.
  for (type in c("prob", "responsibility")) expect_equal(predict(fit, type = type), predict(fit, x, type = type))
  expect_identical(predict(fit, type = "responsibility"), fit$probabilities)
})

test_that("order of rows, one cluster, no rows, threads and pieces of a source do not matter", {
  fit <- fit_to(planted$full)
  prob <- predict(fit, gaussians, type = "prob")
  turn <- c(60:31, 1:30)
  for (type in c("prob", "responsibility")) {
    all <- predict(fit, gaussians, type = type)
    expect_identical(predict(fit, gaussians[turn, ], type = type), all[turn, ])
    expect_identical(predict(fit, gaussians[, 2:1], type = type), all)
    expect_identical(dim(predict(fit, gaussians[0, ], type = type)), c(0L, fit$state$k))
    several <- fit
    several$control$threads <- 2L
    expect_identical(predict(several, gaussians, type = type), all)
    pieces <- source_function(function(i) if (i < 4) as.data.frame(gaussians[20 * (i - 1) + 1:20, ]))
    expect_equal(unname(predict(fit, pieces, type = type)), unname(all), tolerance = 1e-12)
  }
  one <- fit_to(planted$full, NULL, prior = prior_dirichlet(1))
  expect_identical(unname(predict(one, gaussians, type = "prob")), matrix(1, 60, 1))
})

test_that("rows far out have finite probabilities, in sequences also where only a new state could say so", {
  for (name in c("full", "diagonal", "tied", "spherical", "zero")) {
    fit <- fit_to(planted[[name]])
    for (size in c(1e9, 1e150, 1e250)) {
      prob <- predict(fit, rbind(c(size, 1), c(-size, size)), type = "prob")
      expect_equal(unname(rowSums(prob)), c(1, 1), label = name)
    }
  }
  chain <- suppressWarnings(bnp_hmm(gaussians, start = rep(1:2, 30), control = few))
  far <- replace(gaussians, 1:3, c(1e100, 1e150, -1e200))
  expect_equal(unname(rowSums(predict(chain, far, type = "prob"))), rep(1, 60))
})

# P(z_t | x) of all paths by enumeration, rows x states in the fit's order, given that the row's state is in use.
smoothed_by_enumeration <- function(fit, data) {
  moves <- engine_mean_transitions(fit$model, fit$state)
  w <- ncol(moves)
  log_p <- engine_log_predictives(as_engine_data(data), fit$model, fit$state, 1L)[, seq_len(w), drop = FALSE]
  log_p[is.na(log_p)] <- 0
  paths <- as.matrix(expand.grid(rep(list(seq_len(w)), data$n)))
  back <- data$back %||% c(0L, rep(1L, data$n - 1L))
  value <- apply(paths, 1L, function(z) {
    sum(vapply(seq_len(data$n), function(t) {
      log_p[t, z[t]] + log(if (back[t] == 0L) moves[1L, z[t]] else moves[1L + z[t - back[t]], z[t]])
    }, 1))
  })
  p <- exp(value - max(value))
  out <- vapply(fit$numbering, function(j) colSums(p * (paths == j)), numeric(data$n))
  unname(out / rowSums(out))
}

test_that("states of short sequences and trees are those of all paths, and the last those of the filter", {
  x <- withr::with_seed(9, rbind(matrix(rnorm(80), 40), matrix(rnorm(80, 3), 40)))
  for (prior in list(prior_hdp_hmm(sticky = 5), prior_hdp_hmm(alpha = 5, gamma = 2), prior_hmm(2))) {
    fit <- suppressWarnings(bnp_hmm(x, prior = prior, start = rep(1:2, each = 40), control = few))
    short <- x[c(3, 50, 41, 7, 1), ]
    prob <- predict(fit, short, type = "prob")
    data <- as_new_sequences(fit, short, NULL)
    expect_equal(unname(prob), smoothed_by_enumeration(fit, data), tolerance = 1e-10)
    f <- bnp_filter(fit, short)
    k <- seq_len(fit$state$k)
    filtered <- filter_probs(f)[5, k]
    expect_equal(unname(prob[5, ]), unname(filtered / sum(filtered)), tolerance = 1e-10)
    smooth <- filter_probs(f, "smoothed")[, k]
    expect_equal(unname(prob), unname(smooth / rowSums(smooth)), tolerance = 1e-9)
    expect_equal(unname(predict(fit, short, type = "marginal")), unname(max.col(prob, "first")))
    expect_gt(max(abs(prob - predict(fit, short, type = "responsibility"))), 1e-6)
    # Rows without values, and with some.
    holed <- replace(short, c(2, 3, 8), NA)
    gone <- predict(fit, holed, type = "prob", na_action = "model")
    data <- as_new_sequences(fit, holed, NULL, na_action = "model")
    fit_gaps <- fit_with_gaps(fit, data)
    expect_equal(unname(gone), smoothed_by_enumeration(fit_gaps, data), tolerance = 1e-10)
    # Several sequences are on their own.
    both <- predict(fit, rbind(short, holed[1, ]), c(1, 1, 1, 1, 1, 2), type = "prob")
    expect_equal(unname(both[1:5, ]), unname(prob), tolerance = 1e-12)
  }
  parent <- c(0, 1, 1, 2, 2, 3)
  tree <- suppressWarnings(bnp_hmm(x, parent = c(0, rep(1:40, each = 2)[1:79]), start = rep(1:2, each = 40),
    control = few
  ))
  small <- x[c(1, 45, 3, 50, 60, 2), ]
  data <- as_new_sequences(tree, small, NULL, parent = parent)
  expect_equal(unname(predict(tree, small, parent = parent, type = "prob"))[data$left_out$kept %||% 1:6, ],
    smoothed_by_enumeration(tree, data), tolerance = 1e-10
  )
})

test_that("autoregressions take the first modelled row's states for the rows before it", {
  x <- withr::with_seed(4, cumsum(rnorm(40)))
  fit <- suppressWarnings(bnp_hmm(x, obs = obs_ar(lag = 2L), prior = prior_hmm(2), start = rep(1:2, 20), control = few))
  prob <- predict(fit, x[1:6], type = "prob")
  filtered <- filter_probs(bnp_filter(fit, x[1:6]))
  expect_equal(unname(prob[6, ]), unname(filtered[6, 1:2]), tolerance = 1e-10)
  expect_identical(unname(prob[1, ]), unname(prob[3, ]))
})

test_that("known labels, individuals and times follow the same rule", {
  id <- rep(1:20, each = 3)
  fit <- bnp_mixture(gaussians, obs_gaussian("diagonal"), id = id, start = rep(1:2, each = 10), control = few)
  data <- as_newdata(fit, gaussians, id = id)
  log_terms <- terms_of(fit, data)
  expect_equal(unname(predict(fit, gaussians, type = "prob", id = id)),
    unname(share(log_terms[, seq_len(fit$state$k), drop = FALSE])[id, , drop = FALSE]), tolerance = 1e-10
  )
  labels <- replace(rep(NA, 60), c(1:5, 56:60), rep(c("low", "high"), each = 5))
  kept <- bnp_control(seed = 1, keep = "probabilities", verbose = FALSE)
  known <- bnp_mixture(gaussians, labels = labels, control = kept)
  sums <- predict(known, gaussians, type = "label_prob")
  expect_equal(sums, class_probabilities(known, predict(known, gaussians, type = "prob")))
  expect_equal(predict(known, type = "label_prob"),
    class_probabilities(known, predict(known, type = "responsibility")))
  expect_identical(as.character(predict(known, type = "label"))[c(1:5, 56:60)], labels[c(1:5, 56:60)])
  drift <- suppressWarnings(bnp_mixture(gaussians, obs_gaussian(drift = 0.1), time = rep(1:3, 20), control = few))
  prob <- predict(drift, gaussians, type = "prob")
  log_terms <- terms_of(drift, as_newdata(drift, gaussians))
  expect_equal(unname(prob), unname(share(log_terms[, seq_len(drift$state$k), drop = FALSE])), tolerance = 1e-10)
})

test_that("imputations and simulations include the cluster that is not seen yet", {
  x <- withr::with_seed(6, cbind(a = rnorm(30), b = rnorm(30)))
  prior <- prior_dp(15) # a third of the weight
  one <- bnp_control(seed = 1, k_init = 1, moves = FALSE, verbose = FALSE)
  fit <- bnp_mixture(x, obs_gaussian(mean = c(500, 500), mean_strength = 1e-3, df = 40, scale = 1), prior, one)
  share <- c(weights_with_new(fit))[fit$state$k + 1L]
  expect_equal(share, 15 / 45, tolerance = 0.05)
  sims <- do.call(rbind, simulate(fit, 40, seed = 1, n = 250))
  expect_identical(levels(sims$.class), c(seq_len(fit$state$k), "new"))
  expect_equal(mean(sims$.class == "new"), share, tolerance = 0.03)
  expect_identical(sims$.class == "new", sims$a > 250)
  expect_false(any(simulate(fit, 20, seed = 1, new = FALSE)[[20]]$a > 250))
  finite <- bnp_mixture(x, prior = prior_dirichlet(2), control = few)
  expect_identical(levels(simulate(finite, seed = 1)[[1]]$.class), c("1", "2"))
  # A row without values has the weights, one with a value of the data hardly ever the new cluster.
  empty <- rbind(c(a = NA, b = NA), c(0, NA))
  drawn <- impute(fit, empty, 600, seed = 1)
  a <- vapply(drawn, function(set) set[1, "a"], 1)
  b <- vapply(drawn, function(set) set[2, "b"], 1)
  expect_equal(mean(a > 250), share, tolerance = 0.2)
  expect_identical(mean(b > 250), 0)
  expect_identical(max(vapply(impute(fit, empty, 200, seed = 1, new = FALSE), max, 1, na.rm = TRUE)) < 250, TRUE)
  # Chains: the share of rows in it is that of the chain's law.
  chain <- bnp_hmm(x, obs = fit$model$obs, prior = prior_hdp_hmm(alpha = 20, gamma = 20), control = one)
  moves <- engine_mean_transitions(chain$model, chain$state)
  k <- chain$state$k
  states <- lapply(simulate(chain, 600, seed = 2, lengths = c(3, 3)), `[[`, ".state")
  states <- matrix(unlist(lapply(states, as.character)), 3)
  expect_equal(mean(states[1, ] == "new"), moves[1, k + 1], tolerance = 0.1)
  expect_equal(mean(states[2, ] == "new"), drop(moves[1, ] %*% moves[-1, ])[k + 1], tolerance = 0.1)
  expect_false("new" %in% levels(simulate(chain, seed = 1, new = FALSE)[[1]]$.state))
  gone <- replace(x, cbind(5, 1:2), NA)
  filled <- vapply(impute(chain, gone, 400, seed = 3), function(set) set[5, 1], 1)
  smooth <- filter_probs(bnp_filter(chain, gone), "smoothed")[5, k + 1]
  expect_equal(mean(filled > 250), unname(smooth), tolerance = 0.3)
  expect_identical(max(vapply(impute(chain, gone, 50, seed = 3, new = FALSE), max, 1)) < 250, TRUE)
  # Dynamics drawn from the prior would grow without bound.
  series <- bnp_hmm(x, obs = obs_ar(), control = few)
  expect_false("new" %in% levels(simulate(series, seed = 1)[[1]]$.state))
  expect_true("new" %in% levels(simulate(series, seed = 1, new = TRUE)[[1]]$.state))
  expect_bad(simulate(fit, new = 1), "argument", "new")
  expect_bad(impute(fit, empty, new = NA), "argument", "new")
})
