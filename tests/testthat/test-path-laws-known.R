# The sampler of hidden Markov models of which something is known, against enumeration: labels of rows, transitions that
# are fixed or forbidden.

starts <- c(0L, 4L, 6L)
x <- cbind(c(-1.2, -0.9, 1.4, 1.1, 1.3, -1))
gaussian <- list(
  family = "gaussian_full", mean = 0, mean_strength = 0.3, df = 3, scale = 1, centre = 0, unit = 1
)
log_p <- function(rows) if (length(rows)) gaussian_evidence(x[rows, , drop = FALSE], 0.3, 3) else 0
log_sum <- function(v) max(v) + log(sum(exp(v - max(v))))
concentrations <- list(gamma = 1.4, alpha = 0.9, start = 1.2, sticky = 1)
numbers_of <- function(model) as.double(unlist(model$prior[c("gamma", "alpha", "start", "sticky")]))

sample_known <- function(model, data, sweeps, labels, seed = 1) {
  chain <- list(labels = labels, sweeps = 0, number = 1, concentration = numbers_of(model))
  engine_sample(data, model, list(chain), sweeps, 1, 0, 8L, seed, 1L)[[1L]]
}

# Sets of classes: rows x classes, rows without a label all TRUE.
labelled_data <- function(may) {
  known <- rowSums(may) < ncol(may)
  sets <- may[known, , drop = FALSE]
  c(engine_data(x, starts), list(classes = ifelse(known, cumsum(known), 0L), class_sets = sets))
}

# Partitions in which each state can have a class that all its rows allow.
compatible <- function(z, may) {
  one_class <- function(own) any(apply(may[own, , drop = FALSE], 2, all))
  apply(z, 1L, function(z) all(vapply(split(seq_along(z), z), one_class, NA)))
}

# Log prior of partitions of rows in sequences; of finite models those of at most `most` states.
log_prior <- function(z, most) {
  before <- c(1L, 1L + z[-length(z)])
  before[starts[-length(starts)] + 1L] <- 1L
  own <- max(z)
  n <- unclass(table(factor(before, seq_len(own + 1L)), factor(z, seq_len(own))))
  with(concentrations, {
    if (is.null(most)) {
      return(log_hdp_partition(n, c(start, rep(alpha, own)), gamma, c(0, rep(sticky, own)), c(NA, seq_len(own))))
    }
    mass <- rbind(rep(start, own), alpha)[c(1, rep(2, own)), , drop = FALSE] / most + rbind(0, diag(sticky, own))
    all <- c(start, rep(alpha + sticky, own))
    sum(lgamma(all) - lgamma(all + rowSums(n))) + sum(lgamma(mass + n) - lgamma(mass)) + lfactorial(most) -
      lfactorial(most - own)
  })
}

exact_known <- function(may, most = NULL) {
  z <- all_partitions(6)
  if (!is.null(most)) z <- z[apply(z, 1L, max) <= most, , drop = FALSE]
  z <- z[compatible(z, may), , drop = FALSE]
  joint <- apply(z, 1L, function(z) log_prior(z, most) + sum(vapply(split(1:6, z), log_p, 1)))
  list(z = z, k = apply(z, 1L, max), prob = exp(joint - log_sum(joint)), log_evidence = log_sum(joint))
}

known_model <- function(most = NULL, step = NULL) {
  prior <- if (is.null(most)) c(family = "hdp_hmm", concentrations) else
    c(family = "hmm", k = most, concentrations[-1L])
  list(obs = gaussian, prior = c(prior, if (!is.null(step)) list(step = step)))
}

# Rows 1 and 4 are of classes a and b, row 3 of one of b and c, row 6 of c.
may <- matrix(TRUE, 6, 3)
may[1, ] <- c(TRUE, FALSE, FALSE)
may[3, ] <- c(FALSE, TRUE, TRUE)
may[4, ] <- c(FALSE, TRUE, FALSE)
may[6, ] <- c(FALSE, FALSE, TRUE)

expect_known_law <- function(out, exact, may, label) {
  expect_true(all(compatible(t(out$kept), may)), label = label)
  for (size in which(tapply(exact$prob, factor(exact$k, 1:6), sum, default = 0) > 1e-3)) {
    p <- sum(exact$prob[exact$k == size])
    if (p < 1 - 1e-9) expect_lt(abs(batch_z(out$records[, "n_clusters"] == size, p)), 4, label = paste(label, size))
  }
  for (pair in list(c(1, 2), c(3, 4), c(4, 5), c(3, 6), c(2, 6))) {
    p <- sum(exact$prob[exact$z[, pair[1]] == exact$z[, pair[2]]])
    together <- out$kept[pair[1], ] == out$kept[pair[2], ]
    if (p > 1e-9) expect_lt(abs(batch_z(together, p)), 4, label = paste(label, "rows", paste(pair, collapse = " and ")))
  }
}

test_that("states of labelled rows have the exact posterior, by each kind of step", {
  data <- labelled_data(may)
  for (most in list(NULL, 4L)) {
    exact <- exact_known(may, most)
    for (step in some_of(list(NULL, "sequences", "splits", "rows"), by = 2, from = if (is.null(most)) 1 else 2)) {
      out <- sample_known(
        known_model(most, step), data, some_draws(if (is.null(step)) 8000 else 20000), c(1, 1, 2, 2, 2, 3)
      )
      expect_known_law(out, exact, may, paste(most, "steps:", step %||% "all"))
    }
  }
})

test_that("draws in sequence of labelled rows average to the evidence, and a row without a state counts as 0", {
  # Of two states each may have been taken by class a before row 5, which is of class b.
  narrow <- matrix(TRUE, 6, 3)
  narrow[1:2, 3] <- FALSE
  narrow[3:4, 2:3] <- FALSE
  narrow[5, ] <- c(FALSE, TRUE, FALSE)
  for (case in list(list(may, NULL), list(may, 4L), list(narrow, 2L))) {
    model <- known_model(case[[2]])
    numbers <- as.double(seq_len(some_draws(6000)))
    out <- engine_draw_in_sequence(labelled_data(case[[1]]), model, numbers, numbers_of(model), 1, 1L)
    ratio <- exp(out$log_evidence - exact_known(case[[1]], case[[2]])$log_evidence)
    expect_lt(abs(batch_z(ratio, 1)), 4, label = paste("states", case[[2]]))
    expect_true(all(compatible(do.call(rbind, out$labels), case[[1]])))
    expect_identical(any(out$log_evidence == -Inf), identical(case[[2]], 2L))
  }
})

test_that("sets of one class for all rows are no labels", {
  data <- labelled_data(may)
  data$class_sets[] <- TRUE
  model <- known_model()
  one <- sample_known(model, data, 2000, rep(1L, 6))
  plain <- sample_known(model, engine_data(x, starts), 2000, rep(1L, 6))
  exact <- exact_known(may | TRUE)
  for (out in list(one, plain)) {
    expect_lt(abs(batch_z(out$records[, "n_clusters"], sum(exact$prob * exact$k))), 4)
  }
})

# ---- States that have places ----------------------------------------------------------------------------------------

# weight, fixed: (k + 1) x k; the engine's fields of a pattern.
place_model <- function(weight, fixed, ...) {
  k <- ncol(weight)
  cells <- ifelse(fixed > 0, fixed, ifelse(weight > 0 | is.na(weight), NA, 0))
  prior <- list(family = "hmm", k = k, alpha = 0.9, start = 1.2, sticky = 0.4)
  prior[names(list(...))] <- list(...)
  list(obs = gaussian, prior = c(prior, list(cell_fixed = cells, cell_weight = ifelse(is.na(cells), weight, NA))))
}

exact_places <- function(cells, may = matrix(TRUE, 6, ncol(cells$weight))) {
  k <- ncol(cells$weight)
  paths <- as.matrix(expand.grid(rep(list(seq_len(k)), 6)))
  joint <- apply(paths, 1L, function(z) {
    first <- seq_along(z) %in% (starts[-length(starts)] + 1L)
    steps <- table(factor(z[-6], seq_len(k)), factor(z[-1], seq_len(k)), !first[-1])[, , "TRUE"]
    m <- rbind(tabulate(z[first], k), steps)
    if (!all(may[cbind(1:6, z)]) || any(m[cells$weight == 0 & cells$fixed == 0] > 0)) {
      return(-Inf)
    }
    twin_rows_value(m, cells) + sum(vapply(seq_len(k), function(j) log_p(which(z == j)), 1))
  })
  list(z = paths, joint = joint, prob = exp(joint - log_sum(joint)), log_evidence = log_sum(joint))
}

weights <- rbind(c(0.5, 0.2, 0), c(1.5, 0.4, 0), c(0, 0.7, 1.2), c(0.3, 0, 0.8))
fixed <- rbind(0, 0, 0, c(0, 0.25, 0))
patterns <- list(
  weights = list(weight = weights, fixed = weights * 0),
  fixed = list(weight = weights * (fixed == 0), fixed = fixed),
  known = list(
    weight = rbind(c(1, 1, 0), matrix(0, 3, 3)), fixed = rbind(0, c(0.5, 0.5, 0), c(0, 0.6, 0.4), c(1, 0, 0))
  )
)
of_place <- matrix(TRUE, 6, 3)
of_place[2, ] <- c(FALSE, TRUE, TRUE)
of_place[4, ] <- c(FALSE, FALSE, TRUE)

for (name in names(patterns)) {
  cells <- patterns[[name]]
  model <- place_model(cells$weight, cells$fixed)
  test_that(paste0(name, ": paths through places have the exact posterior, labels or none"), {
    for (may in list(of_place | TRUE, of_place)) {
      exact <- exact_places(cells, may)
      data <- if (all(may)) engine_data(x, starts) else labelled_data(may)
      begin <- exact$z[which.max(exact$prob), ]
      out <- sample_known(model, data, 8000, begin)
      paths <- apply(out$kept, 2, paste, collapse = "")
      names <- apply(exact$z, 1, paste, collapse = "")
      expect_true(all(paths %in% names[exact$prob > 0]))
      for (t in 1:6) for (j in 1:3) {
        p <- sum(exact$prob[exact$z[, t] == j])
        if (p > 1e-3 && p < 1 - 1e-3) {
          expect_lt(abs(batch_z(out$kept[t, ] == j, p)), 4, label = paste("row", t, "state", j))
        }
      }
      expect_equal(unname(out$records[, "log_joint"]), exact$joint[match(paths, names)], tolerance = 1e-9)
      expect_identical(unname(out$records[, "n_clusters"]), apply(out$kept, 2, function(z) length(unique(z)) + 0))
      drawn <- engine_draw_in_sequence(data, model, as.double(seq_len(some_draws(6000))), numbers_of(model), 1, 1L)
      ratio <- exp(drawn$log_evidence - exact$log_evidence)
      expect_lt(abs(batch_z(ratio, 1)), 4)
      expect_true(all(vapply(drawn$labels, paste, "", collapse = "") %in% names[exact$prob > 0]))
    }
  })
}

test_that("data and paths drawn in turn keep the law of the prior, learned concentrations included", {
  # x | states by drawing every state's probabilities; states and concentrations | x by a sweep (Geweke 2004).
  open <- rbind(c(TRUE, TRUE, FALSE), left_to_right(3, return = TRUE))
  starts <- c(0L, 3L, 5L)
  model <- place_model(ifelse(open, NA, 0), open * 0, alpha = c(2, 1), start = c(2, 1), sticky = c(2, 2))
  model$obs <- list(family = "bernoulli", a = rep(1, 2), b = rep(1, 2))
  means <- c(alpha = 2, start = 2, sticky = 1)
  state <- list(labels = c(1L, 2L, 2L, 1L, 1L), sweeps = 0, number = 1, concentration = means)
  out <- withr::with_seed(1, t(vapply(seq_len(some_draws(6000)), function(i) {
    p <- matrix(runif(6), ncol = 2)
    x <- 1 * (matrix(runif(10), 5) < p[state$labels, ])
    drawn <- engine_sample(engine_data(x, starts), model, list(state), 1, 0, 0, 0L, 1, 1L)[[1L]]
    state <<- drawn[c("labels", "weights", "concentration", "sweeps", "number")]
    c(drawn$records[1L, names(means)], stays = drawn$labels[1] == drawn$labels[2], third = drawn$labels[3] == 3)
  }, numeric(5))))
  for (name in names(means)) expect_lt(abs(batch_z(out[, name], means[[name]])), 4, label = name)
  # First states 1 or 2 alike; a state stays with (alpha / 3 + kappa) / (2 alpha / 3 + kappa), averaged over the prior.
  prior <- withr::with_seed(2, t(vapply(1:4000, function(i) {
    a <- rgamma(1, 2, 1) / 3
    kappa <- rgamma(1, 2, 2)
    from <- sample(2, 1)
    stay <- rbeta(3, a + kappa, a)
    second <- if (runif(1) < stay[from]) from else from + 1
    third <- if (runif(1) < stay[second]) second else second %% 3 + 1
    c(second == from, third == 3)
  }, numeric(2))))
  z <- function(drawn, i) {
    batches <- colMeans(matrix(drawn, ncol = 50))
    (mean(drawn) - mean(prior[, i])) / sqrt(var(batches) / 50 + var(prior[, i]) / nrow(prior))
  }
  expect_lt(abs(z(out[, "stays"], 1)), 4)
  expect_lt(abs(z(out[, "third"], 2)), 4)
})
