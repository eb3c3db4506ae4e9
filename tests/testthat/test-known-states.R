# Known states: rows are in states of their classes only, and classes keep their states.

# Four overlapping states, three of them with a class of which few rows are known.
planted_states <- function(seed, n = 1200, share = 0.03) {
  withr::with_seed(seed, {
    z <- integer(n)
    z[1] <- sample(4, 1)
    for (t in seq_len(n - 1) + 1) z[t] <- if (runif(1) < 0.95) z[t - 1] else sample(setdiff(1:4, z[t - 1]), 1)
    x <- cbind(a = rnorm(n, c(0, 2, 0, 2)[z]), b = rnorm(n, c(0, 0, 2, 2)[z]))
    known <- runif(n) < share & z < 4
    list(x = x, z = z, labels = ifelse(known, c("p", "q", "r", NA)[z], NA))
  })
}

expect_known <- function(fit, x, labels) {
  own <- !is.na(labels)
  answer <- predict(fit, type = "label")
  expect_identical(as.character(answer[own]), as.character(labels[own]))
  owner <- cluster_classes(fit)
  expect_setequal(owner[!is.na(owner)], unique(labels[own]))
  state <- fitted(fit)
  expect_identical(owner[state[own]], as.character(labels[own]))
}

test_that("a labelled chain has the bound and marginals of its allowed paths", {
  cells <- twin_cells(rep(10 / 3, 3), matrix(0.5 / 3, 3, 3))
  allowed <- matrix(1, 7, 3)
  allowed[1, ] <- c(1, 0, 0)
  allowed[4, ] <- c(0, 1, 1)
  allowed[6, ] <- c(0, 0, 1)
  expect_equal(twin_log_evidence(pattern_x, cells, allowed), -15.34262304, tolerance = 1e-9)
  given <- matrix(NA, 7, 3, dimnames = list(NULL, c("a", "b", "c")))
  given[c(1, 4, 6), ] <- allowed[c(1, 4, 6), ] > 0
  fit <- bnp_hmm(
    pattern_x, obs = unit_variance, prior = prior_hmm(3), labels = given,
    control = bnp_control(tol = 1e-10, moves = bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE))
  )
  twins <- lapply(some_of(1:40, by = 14), function(seed) {
    resp <- withr::with_seed(seed, matrix(rgamma(21, 1), 7)) * allowed
    twin_chain(pattern_x, cells, resp / rowSums(resp), allowed)
  })
  bounds <- vapply(twins, `[[`, 1, "bound")
  at <- which.min(abs(bounds - elbo(fit)))
  expect_equal(elbo(fit), bounds[at], tolerance = 1e-5)
  expect_lt(elbo(fit), twin_log_evidence(pattern_x, cells, allowed))
  own <- unname(predict(fit, pattern_x, type = "responsibility", labels = given))
  class <- match(cluster_classes(fit), c("a", "b", "c"))
  expect_equal(own, twins[[at]]$resp[, class], tolerance = 1e-3)
  expect_identical(own[allowed[, class] == 0], rep(0, 5))
  expect_lte(max(bounds), -16.34890790 + 1e-6)
  if (long_tests()) expect_equal(max(bounds), -16.34890790, tolerance = 1e-7)
  best <- near_path(c(1, 3, 3, 3, 3, 3, 3)) * allowed
  fit <- bnp_hmm(
    pattern_x, obs = unit_variance, prior = prior_hmm(3), labels = given, start = best / rowSums(best),
    control = bnp_control(tol = 1e-10, moves = bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE))
  )
  expect_equal(elbo(fit), -16.34890790, tolerance = 1e-6)
  expect_equal(elbo(fit, terms = TRUE)[["entropy"]], 0.02263333, tolerance = 1e-5)
})

test_that("a start gives states to classes of which no row is sure, and to classes of sequences", {
  given <- matrix(c(TRUE, FALSE, FALSE), 7, 3, byrow = TRUE, dimnames = list(NULL, c("a", "b", "c")))
  given[4:5, ] <- rep(c(FALSE, TRUE, TRUE), each = 2)
  control <- bnp_control(seed = 1, max_laps = 1, moves = FALSE, verbose = FALSE)
  owners <- function(start, ...) {
    fit <- suppressWarnings(bnp_hmm(..., start = start, control = control))
    cluster_classes(fit)[fitted(fit)]
  }
  expect_identical(owners(c(1, 1, 1, 2, 3, 1, 1), pattern_x, labels = given), rep(c("a", "b", "c", "a"), c(3, 1, 1, 2)))
  x <- list(s = c(0, 0.1, 0.2), t = c(9, 9.1, 9.2), u = c(20, 20.1, 20.2))
  by_sequence <- function(start, open, prior = prior_hdp_hmm()) {
    owners(start, x, sequence_labels = c("p", "q", NA), open = open, prior = prior)
  }
  for (open in c(TRUE, FALSE)) {
    expect_identical(by_sequence(rep(1:3, each = 3), open), rep(c("p", "q", NA), each = 3))
  }
  expect_identical(by_sequence(c(1, 2, 1, 3, 3, 3, 1, 1, 1), TRUE)[1:6], rep(c("p", "q"), each = 3))
  expect_bad(by_sequence(rep(1:2, c(3, 6)), TRUE, prior_hmm(2)), "start", "none")
})

test_that("rows that are all known leave nothing to find: the bound is the evidence", {
  z <- c("a", "a", "b", "c", "b", "a", "c")
  fit <- bnp_hmm(pattern_x, obs = unit_variance, prior = prior_hmm(3), labels = z)
  expect_identical(as.character(predict(fit, type = "label")), z)
  number <- match(z, c("a", "b", "c"))
  allowed <- outer(number, 1:3, `==`) * 1
  cells <- twin_cells(rep(10 / 3, 3), matrix(0.5 / 3, 3, 3))
  expect_equal(elbo(fit), twin_log_evidence(pattern_x, cells, allowed), tolerance = 1e-7)
})

# The share of unlabelled rows that are in their most probable class where all parameters are known: what overlap and
# few labels leave.
best_share <- function(planted) {
  e <- vapply(1:4, function(j) {
    dnorm(planted$x[, 1], c(0, 2, 0, 2)[j]) * dnorm(planted$x[, 2], c(0, 0, 2, 2)[j])
  }, double(nrow(planted$x)))
  own <- which(!is.na(planted$labels))
  e[own, ] <- e[own, ] * outer(match(planted$labels[own], c("p", "q", "r")), 1:4, `==`)
  p <- matrix(0.05 / 3, 4, 4)
  diag(p) <- 0.95
  mean((max.col(scaled_smoother(e, rep(0.25, 4), p)$prob, "first") == planted$z)[-own])
}

# Forward and backward pass in plain R. e: rows x states.
scaled_smoother <- function(e, first, p) {
  n <- nrow(e)
  a <- b <- e
  scale <- double(n)
  for (t in seq_len(n)) {
    ahead <- (if (t == 1) first else drop(a[t - 1, ] %*% p)) * e[t, ]
    scale[t] <- sum(ahead)
    a[t, ] <- ahead / scale[t]
  }
  b[n, ] <- 1
  for (t in rev(seq_len(n - 1))) b[t, ] <- drop(p %*% (b[t + 1, ] * e[t + 1, ])) / scale[t + 1]
  steps <- p * 0
  for (t in seq_len(n - 1)) steps <- steps + outer(a[t, ], b[t + 1, ] * e[t + 1, ] / scale[t + 1]) * p
  list(prob = a * b, steps = steps, log_p = sum(log(scale)))
}

test_that("few labels name the states of the other rows, and what nobody labelled has no class", {
  right <- vapply(some_of(1:6, by = 4), function(seed) {
    planted <- planted_states(seed)
    fit <- bnp_hmm(planted$x, labels = planted$labels, control = bnp_control(seed = seed))
    expect_known(fit, planted$x, planted$labels)
    answer <- addNA(predict(fit, type = "label"))
    truth <- factor(c("p", "q", "r", NA)[planted$z], levels(answer), exclude = NULL)
    expect_identical(n_clusters(fit), 4L)
    own <- mean((as.integer(answer) == as.integer(truth))[is.na(planted$labels)])
    c(own, best_share(planted))
  }, double(2))
  expect_gte(mean(right[1, ]), 0.95)
  expect_true(all(right[1, ] > right[2, ] - 0.02)) # seeds below .95 have .949 and .956 where all is known
})

long_test("the likelihood at a fit's means is near the maximum, with known states and with fixed transitions", {
  planted <- withr::with_seed(3, {
    z <- integer(600)
    z[1] <- 1
    p <- rbind(c(0.9, 0.1, 0), c(0.05, 0.9, 0.05), c(0.2, 0, 0.8))
    for (t in 2:600) z[t] <- sample(3, 1, prob = p[z[t - 1], ])
    list(z = z, x = rnorm(600, c(0, 2, 4)[z], c(1, 0.7, 1.2)[z]))
  })
  known <- ifelse(withr::with_seed(4, runif(600)) < 0.1, planted$z, NA)
  fixed <- matrix(NA, 3, 3)
  fixed[1, ] <- c(0.9, 0.1, 0)
  likelihood <- function(mean, sd, first, p, labels) {
    e <- vapply(1:3, function(j) dnorm(planted$x, mean[j], sd[j]), double(600))
    own <- which(!is.na(labels))
    e[own, ] <- e[own, ] * outer(labels[own], 1:3, `==`)
    scaled_smoother(e, first, p)
  }
  maximum <- function(labels, fixed) {
    at <- list(mean = c(0, 2, 4), sd = c(1, 1, 1), first = rep(1 / 3, 3), p = matrix(1 / 3, 3, 3))
    if (!is.null(fixed)) at$p[1, ] <- fixed[1, ]
    for (lap in 1:100) {
      q <- likelihood(at$mean, at$sd, at$first, at$p, labels)
      n <- colSums(q$prob)
      at$mean <- colSums(q$prob * planted$x) / n
      at$sd <- sqrt(colSums(q$prob * outer(planted$x, at$mean, `-`)^2) / n)
      at$first <- q$prob[1, ]
      at$p <- q$steps / rowSums(q$steps)
      if (!is.null(fixed)) at$p[1, ] <- fixed[1, ]
    }
    q$log_p
  }
  for (case in some_of(list(list(known, NULL), list(rep(NA, 600), fixed), list(known, fixed)), by = 5, from = 3)) {
    fit <- bnp_hmm(
      planted$x, obs = obs_gaussian(mean = 2, mean_strength = 0.01, df = 2, scale = 0.1),
      prior = prior_hmm(3, alpha = 0.3, start = 0.03, fixed = case[[2]]),
      labels = if (!all(is.na(case[[1]]))) case[[1]],
      start = if (all(is.na(case[[1]]))) planted$z, control = bnp_control(seed = 1)
    )
    own <- order(drop(coef(fit)$mean))
    p <- unclass(transition_matrix(fit))
    at <- likelihood(
      drop(coef(fit)$mean)[own], sqrt(drop(coef(fit)$cov))[own], attr(p, "start")[own], p[own, own], case[[1]]
    )
    expect_gte(at$log_p, maximum(case[[1]], case[[2]]) - 1)
  }
})

test_that("zeros stay exact through moves, batches, sparsity, weights, checkpoints and updates", {
  planted <- planted_states(5)
  id <- rep(1:6, each = 200)
  for (more in some_of(list(list(), list(batches = 3), list(sparsity = 2), list(sparsity = 2, batches = 2)), by = 5)) {
    control <- do.call(bnp_control, c(list(seed = 2, keep = "probabilities"), more))
    fit <- bnp_hmm(planted$x, id = id, labels = planted$labels, control = control)
    expect_known(fit, planted$x, planted$labels)
    own <- which(!is.na(planted$labels))
    wrong <- outer(planted$labels[own], cluster_classes(fit), function(a, b) is.na(b) | a != b)
    expect_identical(max(fit$probabilities[own, ][wrong]), 0)
  }
  few <- bnp_control(seed = 2, max_laps = 5, verbose = FALSE)
  weighted <- bnp_hmm(planted$x, id = id, labels = planted$labels, weights = rep(2, 6),
    control = few)
  expect_known(weighted, planted$x, planted$labels)
  finite <- bnp_hmm(planted$x, id = id, labels = planted$labels, prior = prior_hmm(6), control = few)
  expect_known(finite, planted$x, planted$labels)
  file <- withr::local_tempfile()
  kept <- bnp_hmm(planted$x, id = id, labels = planted$labels, control = replace(few, "checkpoint", file))
  expect_known(kept, planted$x, planted$labels)
  more <- update(fit, planted_states(6)$x, id = rep("new", 1200))
  expect_identical(as.character(predict(more, type = "label"))[own], planted$labels[own])
})

test_that("rows that are all known are in their states alone, also where few states of a row are kept", {
  planted <- planted_states(4, 200)
  labels <- c("p", "q", "r", "s")[planted$z]
  for (sparsity in 1:3) {
    fit <- suppressWarnings(bnp_hmm(
      planted$x, id = rep(1:4, each = 50), labels = labels,
      control = bnp_control(seed = 1, max_laps = 8, sparsity = sparsity, moves = FALSE)
    ))
    expect_equal(unname(cluster_sizes(fit)), as.vector(table(labels)[cluster_classes(fit)]), tolerance = 1e-14)
  }
})

test_that("forms of labels say the same", {
  planted <- planted_states(7, 300, 0.1)
  id <- rep(1:3, each = 100)
  control <- bnp_control(seed = 1, max_laps = 5)
  first <- suppressWarnings(bnp_hmm(planted$x, id = id, labels = planted$labels, control = control))
  classes <- sort(unique(planted$labels))
  forms <- list(
    factor(planted$labels), split(planted$labels, id), outer(planted$labels, classes, `==`),
    `colnames<-`(outer(planted$labels, classes, `==`), classes)
  )
  for (form in forms) {
    fit <- suppressWarnings(bnp_hmm(planted$x, id = id, labels = form, control = control))
    expect_identical(fit$elbo, first$elbo)
  }
  table <- data.frame(planted$x, known = planted$labels, id = id)
  named <- suppressWarnings(bnp_hmm(table, id = "id", labels = "known", control = control))
  expect_identical(named$elbo, first$elbo)
  formula <- suppressWarnings(bnp_hmm(a ~ b | id, table, labels = known, control = control))
  again <- suppressWarnings(bnp_hmm(a ~ b, table, id = id, labels = planted$labels, control = control))
  expect_identical(formula$elbo, again$elbo)
})

test_that("labels of new rows mask their states, and labels and segments agree", {
  planted <- planted_states(8)
  fit <- bnp_hmm(planted$x, labels = planted$labels, control = bnp_control(seed = 1))
  new <- planted_states(9, 200, 0.2)
  prob <- predict(fit, new$x, type = "label_prob", labels = new$labels)
  own <- !is.na(new$labels)
  expect_equal(unname(prob[cbind(which(own), match(new$labels[own], colnames(prob)))]), rep(1, sum(own)))
  expect_identical(sum(prob[own, ] > 0), sum(own))
  expect_equal(unname(rowSums(prob)), rep(1, 200))
  expect_identical(
    as.character(predict(fit, new$x, type = "label", labels = new$labels))[own], new$labels[own]
  )
  path <- predict(fit, new$x, labels = new$labels)
  expect_identical(cluster_classes(fit)[path][own], new$labels[own])
  runs <- segments(fit)
  expect_identical(rep(runs$state, runs$length), unname(fitted(fit)))
  expect_bad(predict(fit, new$x, labels = rep("z", 200)), "labels", "knows")
  expect_bad(predict(fit, new$x, type = "logdensity", labels = new$labels), "labels")
  expect_bad(predict(fit, labels = new$labels), "labels")
})

test_that("trees keep their labels", {
  parent <- c(0, 1, 1, 2, 2, 3, 3)
  x <- c(0, 0.1, 3, 0.2, -0.1, 3.1, 3)
  fit <- bnp_hmm(x, parent = parent, labels = c("a", NA, NA, NA, NA, "b", NA), control = bnp_control(seed = 1))
  expect_identical(as.character(predict(fit, type = "label"))[c(1, 6)], c("a", "b"))
})

test_that("places and labels: steps that no path allows are named", {
  prior <- prior_hmm(3, transitions = left_to_right(c("one", "two", "three")))
  labels <- c("one", NA, "three", NA, NA, NA, NA)
  fit <- bnp_hmm(pattern_x, prior = prior, labels = labels)
  expect_identical(unname(fitted(fit))[1:3], 1:3)
  expect_identical(fit$state$pair[!left_to_right(3)], rep(0, 4))
  expect_bad(bnp_hmm(pattern_x, prior = prior, labels = c(NA, "three", rep(NA, 5))), "labels", "row 2")
  expect_bad(bnp_hmm(pattern_x, prior = prior, labels = c("one", NA, "three", NA, "two", NA, NA)), "labels",
    "row 5.*two.*three")
  expect_bad(bnp_hmm(pattern_x, prior = prior, labels = c("x", rep(NA, 6))), "labels", "states of the prior")
  tree <- prior_hmm(2, fixed = diag(2), start = c(1, 1))
  expect_bad(bnp_hmm(c(0, 1, 2), parent = c(0, 1, 1), prior = tree, labels = c(NA, 1, 2)), "labels")
  expect_bad(bnp_hmm(list(pattern_x), prior = prior, sequence_labels = "a"), "labels")
})

test_that("a class of a whole sequence: states of its own and open ones, and the class of new sequences", {
  make <- function(seed, class) withr::with_seed(seed, {
    z <- sample(c(0, if (class == "a") 4 else if (class == "b") -4), 20, TRUE)
    cbind(x = rnorm(60, rep(z, each = 3), 0.7))
  })
  class <- rep(c("a", "b"), 8)
  x <- stats::setNames(lapply(1:16, function(i) make(i, class[i])), paste0("s", 1:16))
  known <- replace(class, c(2, 13:16), NA) # 6 of class a, 5 of b
  fit <- bnp_hmm(x, sequence_labels = known, control = bnp_control(seed = 1))
  owner <- cluster_classes(fit)
  group <- rep(class, each = 60)
  expect_true(all(is.na(owner[fitted(fit)]) | owner[fitted(fit)] == group | rep(is.na(known), each = 60)))
  new <- stats::setNames(lapply(21:28, function(i) make(i, class[i - 20])), 1:8)
  answer <- predict(fit, new, type = "sequence_label")
  expect_identical(as.character(answer), class[1:8])
  closed <- bnp_hmm(x, sequence_labels = known, open = FALSE, control = bnp_control(seed = 1))
  expect_false(anyNA(cluster_classes(closed)[fitted(closed)][rep(!is.na(known), each = 60)]))
  # Z of a class is the sum over all paths that its mask allows, in states that are not in use, too.
  short <- list(s = cbind(x = c(0.2, -0.3, 0.5))) # nothing in it tells the classes apart
  p <- transition_matrix(fit, new = TRUE)
  start <- attr(p, "start")
  k <- nrow(p)
  prior <- fit$model$prior
  weights <- c(fit$state$u, 1) * cumprod(c(1, 1 - fit$state$u))
  unseen <- (prior$alpha * weights[c(fit$numbering, k + 1)] + c(rep(0, k), prior$sticky)) / (prior$alpha + prior$sticky)
  p <- rbind(unclass(p), unseen)
  q <- posterior_params(fit)
  obs <- fit$model$obs
  density <- vapply(seq_len(k), function(j) {
    scale <- sqrt(q$scale[, , j] * (1 + 1 / q$mean_strength[j]) / q$df[j])
    stats::dt((short$s[, 1] - q$mean[j, ]) / scale, q$df[j]) / scale
  }, double(3))
  density <- cbind(density, 0) # no class may be in states that are not in use
  paths <- as.matrix(expand.grid(rep(list(seq_len(k + 1)), 3)))
  z_of <- function(class) {
    allowed <- c(is.na(owner) | owner == class, FALSE)
    each <- apply(paths, 1, function(z) {
      if (!all(allowed[z])) 0 else start[z[1]] * prod(p[cbind(z[-3], z[-1])]) * prod(density[cbind(1:3, z)])
    })
    sum(each) * sum(known == class, na.rm = TRUE)
  }
  z <- c(a = z_of("a"), b = z_of("b"))
  expect_equal(predict(fit, short, type = "sequence_label_prob")["s", ], z / sum(z), tolerance = 1e-8)
  expect_gt(min(z / sum(z)), .1)
})

test_that("draws keep what is known: no state has rows of two classes, and chains begin from the fit or without it", {
  planted <- planted_states(3, 150, 0.1)
  fit <- suppressWarnings(bnp_hmm(planted$x, labels = planted$labels, control = bnp_control(seed = 1, max_laps = 20)))
  draws <- bnp_sample(fit, planted$x, draws = 20, seed = 1, verbose = FALSE)
  own <- !is.na(planted$labels)
  apart <- outer(planted$labels[own], planted$labels[own], `!=`)
  for (i in seq_len(ncol(draws$labels))) {
    z <- draws$labels[own, i]
    expect_false(any(outer(z, z, `==`) & apart))
  }
  more <- update(draws, planted$x, draws = 5)
  whole <- bnp_sample(fit, planted$x, draws = 25, warmup = 10, seed = 1, verbose = FALSE)
  expect_identical(more$trace, whole$trace)
  sure <- check_fit(fit, planted$x, draws = 10, seed = 1, verbose = FALSE)
  expect_null(sure$evidence)
  few <- bnp_hmm(pattern_x, obs = unit_variance, prior = prior_hmm(3), labels = c("a", NA, NA, "b", NA, "a", NA))
  checked <- check_fit(few, pattern_x, draws = 50, seed = 1, verbose = FALSE)
  expect_gt(checked$evidence[["estimate"]] + 4 * checked$evidence[["se"]], elbo(few))
  id <- rep(c("s", "t"), each = 75)
  closed <- suppressWarnings(bnp_hmm(
    planted$x, id = id, sequence_labels = c("one", "two"), open = FALSE, control = bnp_control(seed = 1, max_laps = 20)
  ))
  draws <- bnp_sample(closed, planted$x, id = id, draws = 20, seed = 1, verbose = FALSE)
  for (i in seq_len(ncol(draws$labels))) {
    expect_length(intersect(draws$labels[id == "s", i], draws$labels[id == "t", i]), 0L)
  }
  # Classes that need all states of a finite prior: chains that find no states in sequence begin from the fit.
  x <- rep(0, 100)
  labels <- c(rep("a", 98), "b", "b")
  tight <- bnp_hmm(x, prior = prior_hmm(2), labels = labels)
  draws <- bnp_sample(tight, x, draws = 5, seed = 1, verbose = FALSE)
  expect_true(all(draws$trace[, , "largest"] == 98))
})

test_that("bad labels are refused", {
  expect_bad(bnp_hmm(pattern_x, labels = rep(NA, 7)), "labels", "missing")
  expect_bad(bnp_hmm(pattern_x, labels = c("a", "b")), "labels", "7")
  expect_bad(bnp_hmm(pattern_x, labels = matrix(FALSE, 7, 2)), "labels")
  expect_bad(bnp_hmm(pattern_x, labels = 1:7, prior = prior_hmm(3)), "labels", "finite prior")
  expect_bad(bnp_hmm(pattern_x, sequence_labels = c("a", "b")), "labels", "1 sequence")
  expect_bad(bnp_hmm(list(pattern_x), sequence_labels = NA), "labels", "missing")
  expect_bad(bnp_hmm(list(pattern_x, pattern_x), sequence_labels = c("a", NA), open = NA), "argument")
  expect_bad(bnp_hmm(cbind(pattern_x, 1), obs = obs_lds(), labels = rep("a", 7)), "not_defined")
  expect_bad(predict(bnp_hmm(pattern_x), pattern_x, type = "label"), "labels")
  expect_message(
    bnp_hmm(c(0, rnorm(30)), obs = obs_ar(), labels = c("a", "a", rep(NA, 29))), class = "bnpvi_message_labels"
  )
})

test_that("classes of sequences are predicted only where states belong to them", {
  x <- c(rnorm(8), rnorm(8, 5))
  id <- rep(1:2, each = 8)
  control <- bnp_control(seed = 1, max_laps = 20, restarts = 1)
  fit_with <- function(labels) {
    suppressWarnings(bnp_hmm(x, id = id, labels = labels, sequence_labels = c("p", "q"), control = control))
  }
  all_known <- fit_with(rep(c("a", "b"), each = 8))
  expect_bad(predict(all_known, x, id, type = "sequence_label"), "labels", "No state belongs")
  some_known <- fit_with(c(rep("a", 8), NA, "b", rep(NA, 6)))
  expect_equal(unname(predict(some_known, x, id, type = "sequence_label_prob")[, c("a", "b")]), matrix(0, 2, 2))
})
