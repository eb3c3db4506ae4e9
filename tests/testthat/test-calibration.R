# Simulation-based calibration (Talts and others 2018): concentrations, labels and data are drawn from the prior and the
# model, and their posterior by a chain. The rank of each truth among 99 draws is then uniform.

sets <- if (longest_tests()) 1000L else if (long_tests()) 200L else 60L

# simulate() -> list(truth = numbers by name, data, concentration = values to begin with).
expect_uniform_ranks <- function(simulate, model, split_merge, label) {
  ranks <- withr::with_seed(2, vapply(seq_len(sets), function(set) {
    drawn <- simulate()
    n <- drawn$n
    first <- list(labels = rep(1L, n), concentration = drawn$concentration, sweeps = 0, number = 1)
    records <- engine_sample(drawn$data, model, list(first), 50 + 5 * 99, 0, 0, split_merge, set, 1L)[[1L]]$records
    records <- records[50 + 5 * seq_len(99), names(drawn$truth)]
    truth <- rep(drawn$truth, each = 99)
    below <- colSums(records < truth)
    below + floor(runif(length(below)) * (1 + colSums(records == truth))) # ties in random order
  }, numeric(length(simulate()$truth))))
  for (kind in rownames(ranks)) {
    counts <- tabulate(ranks[kind, ] %/% 10 + 1, 10)
    p <- suppressWarnings(stats::chisq.test(counts))$p.value
    expect_gt(p, 0.001, label = paste(label, kind))
  }
}
sizes_of <- function(z) c(n_clusters = max(z), largest = max(tabulate(z)))
bits <- function(z) 1 * (matrix(runif(3 * length(z)), length(z)) < matrix(runif(3 * max(z)), ncol = 3)[z, ])
even <- list(family = "bernoulli", a = rep(1, 3), b = rep(1, 3))

# One label: that of a cluster, or a new one, which takes a part of what is left of the weights.
label_under <- function(beta, gamma, mass) {
  k <- length(beta) - 1L
  j <- sample.int(k + 1L, 1L, prob = mass)
  share <- rbeta(1, 1, gamma)
  list(j = j, beta = if (j <= k) beta else c(beta[seq_len(k)], beta[k + 1L] * c(share, 1 - share)))
}

test_that("mixtures: truths are anywhere among their posterior draws", {
  simulate <- function() {
    concentration <- rgamma(1, 2, 1)
    z <- 1L
    for (i in 2:12) z <- c(z, sample.int(max(z) + 1L, 1L, prob = c(tabulate(z), concentration)))
    list(truth = c(sizes_of(z), concentration = concentration), data = engine_data(bits(z)), concentration = 2, n = 12L)
  }
  model <- list(obs = even, prior = list(family = "dp", concentration = c(2, 1)))
  expect_uniform_ranks(simulate, model, split_merge = 5L, label = "mixture")
})

test_that("topics: truths are anywhere among their posterior draws", {
  lengths <- c(5, 4, 3)
  simulate <- function() {
    gamma <- rgamma(1, 3, 2)
    alpha <- rgamma(1, 2, 1)
    beta <- 1
    z <- integer()
    for (d in seq_along(lengths)) {
      own <- integer()
      for (i in seq_len(lengths[d])) {
        drawn <- label_under(beta, gamma, c(tabulate(own, length(beta) - 1L), 0) + alpha * beta)
        beta <- drawn$beta
        own <- c(own, drawn$j)
      }
      z <- c(z, own)
    }
    data <- utils::modifyList(engine_data(bits(z)), list(starts = c(0L, as.integer(cumsum(lengths)))))
    list(truth = c(sizes_of(z), gamma = gamma, alpha = alpha), data = data, concentration = c(1.5, 2), n = length(z))
  }
  model <- list(obs = even, prior = list(family = "hdp", gamma = c(3, 2), alpha = c(2, 1)))
  expect_uniform_ranks(simulate, model, split_merge = 0L, label = "topics")
})

long_test("sequences: truths are anywhere among their posterior draws", {
  starts <- c(0L, 8L, 14L)
  simulate <- function() {
    is <- c(gamma = rgamma(1, 2, 1), alpha = rgamma(1, 2, 2), start = rgamma(1, 2, 2), sticky = rgamma(1, 2, 2))
    beta <- 1
    z <- integer()
    from <- integer() # 0: the start of a sequence
    for (t in seq_len(max(starts))) {
      before <- if ((t - 1L) %in% starts) 0L else z[t - 1L]
      own <- c(tabulate(z[from == before], length(beta) - 1L), 0) + is[[if (before) "alpha" else "start"]] * beta
      if (before) own[before] <- own[before] + is[["sticky"]]
      drawn <- label_under(beta, is[["gamma"]], own)
      beta <- drawn$beta
      z <- c(z, drawn$j)
      from <- c(from, before)
    }
    list(truth = c(sizes_of(z), is), data = engine_data(bits(z), starts), concentration = c(2, 1, 1, 1), n = length(z))
  }
  model <- list(obs = even, prior = list(
    family = "hdp_hmm", gamma = c(2, 1), alpha = c(2, 2), start = c(2, 2), sticky = c(2, 2)
  ))
  expect_uniform_ranks(simulate, model, split_merge = 8L, label = "sequences")
})
