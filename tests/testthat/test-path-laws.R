# The sampler of hidden Markov models against enumeration, with the figures of the design page.

x <- cbind(c(-1.2, -0.9, 1.4, 1.1, 1.3, -1))
starts <- c(0L, 4L, 6L)
gaussian <- list(
  family = "gaussian_full", mean = 0, mean_strength = 0.3, df = 3, scale = 1, centre = 0, unit = 1
)
log_p <- function(rows) gaussian_evidence(x[rows, , drop = FALSE], 0.3, 3)
from_1 <- list(labels = rep(1L, 6), sweeps = 0, number = 1)

# Which row of the counts a transition into each row of the data is from, its path being z: 1 is the start.
rows_before <- function(z, starts) {
  before <- c(1L, 1L + z[-length(z)])
  before[starts[-length(starts)] + 1L] <- 1L
  before
}

# K + 1 rows of counts.
transitions_of <- function(z, starts) {
  k <- max(z)
  table(factor(rows_before(z, starts), seq_len(k + 1L)), factor(z, seq_len(k)))
}

# Partitions of rows in sequences and their log prior; of finite models those of at most `most` states.
path_priors <- function(starts, kappa, alpha = 0.9, start = 1.2, gamma = 1.4, most = NULL) {
  z <- all_partitions(max(starts))
  if (!is.null(most)) z <- z[apply(z, 1L, max) <= most, , drop = FALSE]
  prior <- apply(z, 1L, function(z) {
    n <- unclass(transitions_of(z, starts))
    own <- max(z)
    if (is.null(most)) {
      return(log_hdp_partition(n, c(start, rep(alpha, own)), gamma, c(0, rep(kappa, own)), c(NA, seq_len(own))))
    }
    mass <- rbind(rep(start, own), alpha)[c(1, rep(2, own)), , drop = FALSE] / most + rbind(0, diag(kappa, own))
    all <- c(start, rep(alpha + kappa, own))
    sum(lgamma(all) - lgamma(all + rowSums(n))) + sum(lgamma(mass + n) - lgamma(mass)) + lfactorial(most) -
      lfactorial(most - own)
  })
  list(z = z, k = apply(z, 1L, max), prior = prior)
}

exact_paths <- function(kappa, ...) {
  out <- path_priors(starts, kappa, ...)
  joint <- out$prior + apply(out$z, 1L, function(z) sum(vapply(split(1:6, z), log_p, 1)))
  evidence <- max(joint) + log(sum(exp(joint - max(joint))))
  c(out, list(prob = exp(joint - evidence), log_evidence = evidence))
}

path_model <- function(kappa, step = NULL, obs = gaussian) {
  prior <- list(family = "hdp_hmm", gamma = 1.4, alpha = 0.9, start = 1.2, sticky = kappa)
  list(obs = obs, prior = c(prior, if (!is.null(step)) list(step = step)))
}
finite_model <- function(kappa, k = 3L, step = NULL) {
  prior <- list(family = "hmm", k = k, alpha = 0.9, start = 1.2, sticky = kappa)
  list(obs = gaussian, prior = c(prior, if (!is.null(step)) list(step = step)))
}
numbers_of <- function(model) as.double(unlist(model$prior[c("gamma", "alpha", "start", "sticky")]))

sample_paths <- function(model, sweeps, data = engine_data(x, starts), chain = from_1, seed = 1, keep = 1) {
  chain$concentration <- chain$concentration %||% numbers_of(model)
  engine_sample(data, model, list(chain), sweeps, keep, 0, 8L, seed, 1L)[[1L]]
}

expect_law <- function(out, exact, label) {
  for (size in which(tapply(exact$prob, factor(exact$k, 1:6), sum, default = 0) > 1e-3)) {
    z <- batch_z(out$records[, "n_clusters"] == size, sum(exact$prob[exact$k == size]))
    expect_lt(abs(z), 4, label = paste(label, "K =", size))
  }
  for (pair in list(c(1, 6), c(1, 2), c(3, 4), c(4, 5))) {
    i <- pair[1]
    j <- pair[2]
    z <- batch_z(out$kept[i, ] == out$kept[j, ], sum(exact$prob[exact$z[, i] == exact$z[, j]]))
    expect_lt(abs(z), 4, label = paste(label, "rows", i, "and", j))
  }
}

long_test("exact evidences are those of the page, and priors sum to 1", {
  for (case in list(
    list(0, -11.29690634, c(0.08173966, 0.21338356, 0.39294785, 0.24355205, 0.06220768, 0.00616920)),
    list(2, -11.62287172, c(0.22037186, 0.39032637, 0.31416179, 0.07049585, 0.00456485, 0.00007928))
  )) {
    exact <- exact_paths(case[[1]])
    expect_equal(exact$log_evidence, case[[2]], tolerance = 1e-9)
    expect_equal(as.vector(tapply(exact$prob, exact$k, sum)), case[[3]], tolerance = 1e-6)
    expect_equal(sum(exp(exact$prior)), 1)
    expect_equal(sum(exp(exact_paths(case[[1]], most = 3)$prior)), 1)
  }
})

test_that("bounds of fits are those of the page, below the evidence", {
  for (case in list(list(0, -14.9853, -11.29690634), list(2, -14.8572, -11.62287172))) {
    for (bound in c("loose", "tight")) {
      fit <- suppressWarnings(bnp_hmm(
        list(x[1:4, , drop = FALSE], x[5:6, , drop = FALSE]),
        obs = obs_gaussian(mean = 0, mean_strength = 0.3, df = 3, scale = 1),
        prior = prior_hdp_hmm(gamma = 1.4, alpha = 0.9, start = 1.2, sticky = case[[1]]),
        control = bnp_control(seed = 1, bound = bound, verbose = FALSE)
      ))
      if (bound == "loose") expect_equal(elbo(fit), case[[2]], tolerance = 1e-5)
      expect_lt(elbo(fit), case[[3]])
    }
  }
})

for (kappa in some_of(c(2, 0), by = 3)) {
  test_that(paste0("draws have the exact posterior, sticky ", kappa), {
    exact <- exact_paths(kappa)
    for (step in list(NULL, "sequences", "splits", "rows")) {
      sweeps <- some_draws(if (identical(step, "rows") || identical(step, "splits")) 20000 else 8000)
      expect_law(sample_paths(path_model(kappa, step), sweeps), exact, paste("steps:", step %||% "all"))
      three <- sample_paths(finite_model(kappa, step = step), some_draws(8000))
      expect_law(three, exact_paths(kappa, most = 3), paste("three states, steps:", step %||% "all"))
    }
  })

  test_that(paste0("draws in sequence average to the evidence, sticky ", kappa), {
    for (k in list(NULL, 3L)) {
      model <- if (is.null(k)) path_model(kappa) else finite_model(kappa, k)
      numbers <- as.double(seq_len(some_draws(6000)))
      out <- engine_draw_in_sequence(engine_data(x, starts), model, numbers, numbers_of(model), 1, 1L)
      ratio <- exp(out$log_evidence - exact_paths(kappa, most = k)$log_evidence)
      expect_lt(abs(batch_z(ratio, 1)), 4)
      expect_equal(vapply(out$weights, sum, 1), rep(1, length(numbers)))
      expect_identical(lengths(out$weights), vapply(out$labels, max, 1L) + 1L)
    }
  })

  test_that(paste0("log_joint is that of data, states and weights, sticky ", kappa), {
    for (model in list(path_model(kappa), finite_model(kappa))) {
      chain <- from_1
      for (i in 1:30) {
        out <- sample_paths(model, 1, chain = chain)
        chain <- out[c("labels", "weights", "concentration", "sweeps", "number")]
        z <- out$labels
        k <- max(z)
        beta <- out$weights
        n <- unclass(transitions_of(z, starts))
        alpha <- c(1.2, rep(0.9, k))
        mass <- alpha * rep(beta[seq_len(k)], each = k + 1) + rbind(0, diag(kappa, k))
        all <- c(1.2, rep(0.9 + kappa, k))
        rows <- sum(lgamma(all) - lgamma(all + rowSums(n))) + sum(lgamma(mass + n) - lgamma(mass))
        top <- if (is.null(model$prior$gamma)) lfactorial(3) - lfactorial(3 - k) else
          k * log(1.4) + 1.4 * log(beta[k + 1])
        expected <- rows + top + sum(vapply(split(1:6, z), log_p, 1))
        expect_equal(unname(out$records[1, "log_joint"]), expected, tolerance = 1e-9)
        expect_equal(unname(out$records[1, c("n_clusters", "largest")]), c(k, max(tabulate(z))))
        expect_equal(sum(beta), 1)
      }
    }
  })
}

test_that("the order of sequences does not change the law", {
  turned <- engine_data(x[c(5, 6, 1:4), , drop = FALSE], c(0L, 2L, 6L))
  out <- sample_paths(path_model(2), some_draws(8000), data = turned)
  out$kept <- out$kept[c(3:6, 1, 2), ]
  expect_law(out, exact_paths(2), "turned")
})

test_that("data and states drawn in turn keep the law of the prior, concentrations included", {
  # x | states by drawing every state's probabilities; states and concentrations | x by a sweep (Geweke 2004).
  starts <- c(0L, 3L, 5L)
  means <- c(gamma = 2, alpha = 1, start = 1, sticky = 1)
  model <- list(obs = list(family = "bernoulli", a = rep(1, 2), b = rep(1, 2)), prior = list(
    family = "hdp_hmm", gamma = c(2, 1), alpha = c(2, 2), start = c(2, 2), sticky = c(2, 2)
  ))
  state <- list(labels = rep(1L, 5), sweeps = 0, number = 1, concentration = means)
  out <- withr::with_seed(1, t(vapply(seq_len(some_draws(6000)), function(i) {
    p <- matrix(runif(2 * max(state$labels)), ncol = 2)
    x <- 1 * (matrix(runif(10), 5) < p[state$labels, ])
    drawn <- sample_paths(model, 1, engine_data(x, starts), state)
    state <<- drawn[c("labels", "weights", "concentration", "sweeps", "number")]
    c(drawn$records[1L, ], same = drawn$labels[1] == drawn$labels[2])
  }, numeric(9))))
  # Moments of the partition over concentrations drawn from their prior.
  prior <- withr::with_seed(2, t(vapply(seq_len(if (long_tests()) 100 else 40), function(i) {
    p <- path_priors(
      starts, rgamma(1, 2, 2), alpha = rgamma(1, 2, 2), start = rgamma(1, 2, 2), gamma = rgamma(1, 2, 1)
    )
    w <- exp(p$prior)
    c(sum(w * p$k), sum(w[p$k == 1]), sum(w[p$z[, 1] == p$z[, 2]]))
  }, numeric(3))))
  z <- function(drawn, i) {
    batches <- colMeans(matrix(drawn, ncol = 50))
    (mean(drawn) - mean(prior[, i])) / sqrt(var(batches) / 50 + var(prior[, i]) / nrow(prior))
  }
  expect_lt(abs(z(out[, "n_clusters"], 1)), 4)
  expect_lt(abs(z(out[, "n_clusters"] == 1, 2)), 4)
  expect_lt(abs(z(out[, "same"], 3)), 4)
  for (name in names(means)) expect_lt(abs(batch_z(out[, name], means[[name]])), 4, label = name)
})

test_that("each concentration has its posterior given states that are certain", {
  z <- c(1, 1, 2, 2, 1, 3, 3, 3, 1, 2, 1, 1)
  starts <- c(0L, 8L, 10L, 12L)
  data <- engine_data(cbind(1e3 * z), starts)
  obs <- replace(gaussian, c("mean_strength", "scale"), list(1e-6, 1e-2))
  n <- unclass(transitions_of(z, starts))
  given <- c(gamma = 1.4, alpha = 0.9, start = 1.2, sticky = 2)
  for (name in names(given)) {
    model <- path_model(2, obs = obs)
    model$prior[[name]] <- c(3, 2)
    chain <- list(labels = as.integer(z), sweeps = 0, number = 1, concentration = given)
    out <- sample_paths(model, some_draws(4000), data, chain)
    expect_true(all(out$records[, "n_clusters"] == 3))
    weight <- function(v) vapply(v, function(v) {
      at <- as.list(replace(given, name, v))
      log_p <- log_hdp_partition(n, c(at$start, rep(at$alpha, 3)), at$gamma, c(0, rep(at$sticky, 3)), c(NA, 1:3))
      dgamma(v, 3, 2) * exp(log_p + 30)
    }, 1)
    mean <- integrate(function(v) v * weight(v), 0, 40)$value / integrate(weight, 0, 40)$value
    expect_lt(abs(batch_z(out$records[, name], mean)), 4, label = name)
  }
})

test_that("paths are drawn from q(z) of a fit", {
  fit <- suppressWarnings(bnp_hmm(beaver1["temp"], prior = prior_hdp_hmm(), control = bnp_control(
    seed = 1, k_init = 3, verbose = FALSE
  )))
  data <- as_engine_data(training_data(fit, beaver1["temp"]))
  drawn <- engine_draw_paths(data, fit$model, fit$state, as.double(1:4000), 1, 1L)
  prob <- responsibilities(fit, training_data(fit, beaver1["temp"]))
  share <- vapply(engine_index(fit, fit$state$k), function(k) rowMeans(drawn == k), numeric(114))
  off <- abs(share - prob) / sqrt(pmax(prob * (1 - prob), 1e-4) / 4000)
  expect_lt(max(off), 4.5)
  expect_identical(engine_draw_paths(data, fit$model, fit$state, c(7, 2), 1, 2L), drawn[, c(7, 2)])
})

test_that("bits depend on seed and number of the chain alone", {
  model <- path_model(2)
  data <- engine_data(x, starts)
  chains <- lapply(1:3, function(number) replace(c(from_1, list(concentration = numbers_of(model))), "number", number))
  run <- function(chains, threads = 1L, seed = 1) engine_sample(data, model, chains, 20, 1, 0, 8L, seed, threads)
  one <- run(chains)
  expect_identical(run(chains, 2L), one)
  expect_identical(run(chains[2L]), one[2L])
  expect_false(identical(run(chains, seed = 2)[[1L]]$records, one[[1L]]$records))
  first <- sample_paths(model, 8)
  second <- sample_paths(model, 12, chain = first[c("labels", "weights", "concentration", "sweeps", "number")])
  expect_identical(rbind(first$records, second$records), one[[1L]]$records)
  expect_identical(cbind(first$kept, second$kept), one[[1L]]$kept)
})

test_that("tiny and huge concentrations, single rows and far rows are sampled", {
  extreme <- function(...) {
    model <- path_model(1)
    given <- c(...)
    model$prior[names(given)] <- given
    sample_paths(model, 6)
  }
  expect_true(all(extreme(gamma = 1e-50, alpha = 1e-8, start = 1e-8)$records[, "n_clusters"] <= 2))
  for (given in list(
    c(gamma = 1e50), c(alpha = 1e6), c(start = 1e6), c(sticky = 1e6), c(sticky = 1e-50), c(gamma = 1e-50),
    c(alpha = 1e-8), c(gamma = 1e6, alpha = 1e6, sticky = 0)
  )) {
    expect_true(all(is.finite(extreme(given)$records)), label = paste(names(given), given))
  }
  one <- sample_paths(path_model(2), 20, data = engine_data(cbind(0.3)), chain = replace(from_1, "labels", 1L))
  expect_true(all(one$records[, "n_clusters"] == 1))
  far <- sample_paths(path_model(2), 50, data = engine_data(cbind(c(-1e6, -1e6, 1e6, 1e6, 0, 0)), starts))
  expect_gte(min(far$records[-(1:20), "n_clusters"]), 2)
})

test_that("sequences without rows change no bit, and data without rows have no states", {
  plain <- sample_paths(path_model(2), 20)
  expect_identical(sample_paths(path_model(2), 20, data = engine_data(x, c(0L, 0L, 4L, 6L, 6L))), plain)
  none <- sample_paths(path_model(2), 3, engine_data(x[0, , drop = FALSE]), replace(from_1, "labels", list(integer())))
  expect_true(all(none$records[, "n_clusters"] == 0))
})

test_that("chains that cannot be are refused", {
  expect_error(sample_paths(finite_model(1), 1, chain = replace(from_1, "labels", list(1:6))), "more states than")
  wrong <- c(from_1, list(weights = c(0.2, 0.3, 0.5)))
  expect_error(sample_paths(path_model(1), 1, chain = wrong), "a weight for each state")
  lost <- engine_data(replace(x, 3, NaN), starts)
  expect_error(sample_paths(path_model(1, "rows"), 1, data = lost), "numbers broke down|not positive")
  expect_error(sample_paths(path_model(1, "sequences"), 1, data = lost), "numbers broke down|not positive")
})
