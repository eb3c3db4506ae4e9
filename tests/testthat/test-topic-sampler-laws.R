# Samplers of topics against enumeration, with the figures of the design page.

counts <- rbind(c(2, 1, 0), c(0, 1, 1), c(0, 0, 1))
group <- c(1, 1, 1, 2, 2, 3)
word <- c(1, 1, 2, 2, 3, 3)
terms_log_p <- function(lambda) {
  function(tokens) {
    s <- tabulate(word[tokens], 3)
    sum(lgamma(lambda + s) - lgamma(lambda)) + lgamma(sum(lambda)) - lgamma(sum(lambda + s))
  }
}
documents_data <- function(counts) utils::modifyList(sparse_engine_data(counts), list(starts = seq(0L, nrow(counts))))
points <- c(-2.1, -1.7, 0.2, 1.9, 2.3, 2)
cases <- list(
  tokens = list(
    data = documents_data(counts), obs = list(family = "multinomial", term_prior = rep(0.5, 3)),
    log_p = terms_log_p(rep(0.5, 3)), log_evidence = -7.522151267,
    k = c(0.05675321, 0.33778157, 0.41982806, 0.16332581, 0.02153932, 0.00077202)
  ),
  `terms apart` = list(
    data = documents_data(counts), obs = list(family = "multinomial", term_prior = c(0.1, 0.9, 2.3)),
    log_p = terms_log_p(c(0.1, 0.9, 2.3))
  ),
  rows = list(
    data = utils::modifyList(engine_data(cbind(points)), list(starts = c(0L, 3L, 5L, 6L))),
    obs = list(
      family = "gaussian_full", mean = 0, mean_strength = 0.2, df = 3, scale = 1, centre = 0, unit = 1
    ),
    log_p = function(rows) gaussian_evidence(matrix(points[rows]), 0.2, 3)
  )
)
priors <- tiny_topic_priors
concentrations_of <- function(prior) {
  vapply(prior[intersect(c("gamma", "alpha"), names(prior))], function(x) if (length(x) == 2L) x[1] / x[2] else x, 1)
}
sample_topics <- function(case, prior, sweeps, keep = 1, threads = 1L, chains = 1, seed = 1, labels = rep(1L, 6)) {
  start <- lapply(seq_len(chains), function(number) {
    list(labels = labels, concentration = concentrations_of(prior), sweeps = 0, number = number)
  })
  engine_sample(case$data, list(obs = case$obs, prior = prior), start, sweeps, keep, 0, 0L, seed, threads)
}
state_of <- function(chain) chain[c("labels", "weights", "concentration", "sweeps", "number")]

test_that("the evidence by enumeration is that of the page, and bounds stay below it", {
  exact <- exact_hdp_posterior(group, cases$tokens$log_p, priors$hdp$log_prior)
  expect_equal(exact$log_evidence, cases$tokens$log_evidence, tolerance = 1e-9)
  k <- apply(exact$partitions, 1L, max)
  expect_equal(as.vector(tapply(exact$prob, k, sum)), cases$tokens$k, tolerance = 1e-6)
  for (kind in priors) {
    of_prior <- apply(exact$partitions, 1L, function(z) exp(kind$log_prior(table(group, z))))
    expect_equal(sum(of_prior), 1)
  }
  fit <- function(bound) {
    bnp_topics(
      counts, obs_multinomial(0.5), prior_hdp(gamma = 1.5, alpha = 0.8),
      bnp_control(seed = 1, verbose = FALSE, bound = bound)
    )
  }
  expect_equal(elbo(fit("loose")), -11.5945, tolerance = 1e-5)
  expect_lt(elbo(fit("tight")), exact$log_evidence)
})

for (name in names(cases)) {
  case <- cases[[name]]
  for (kind in names(priors)) {
    exact <- exact_hdp_posterior(group, case$log_p, priors[[kind]]$log_prior)

    test_that(paste0(name, ", ", kind, ": draws have the exact posterior"), {
      k <- apply(exact$partitions, 1L, max)
      out <- sample_topics(case, priors[[kind]]$prior, some_draws(50000))[[1L]]
      drawn <- out$records[, "n_clusters"]
      for (size in which(tapply(exact$prob, factor(k, 1:6), sum) > 1e-3)) {
        expect_lt(abs(batch_z(drawn == size, sum(exact$prob[k == size]))), 4, label = paste("K", size))
      }
      for (pair in utils::combn(6L, 2L, simplify = FALSE)) {
        same <- function(z) z[, pair[1]] == z[, pair[2]]
        z <- batch_z(same(t(out$kept)), sum(exact$prob[same(exact$partitions)]))
        expect_lt(abs(z), 4, label = paste(pair, collapse = " with "))
      }
      if (kind == "lda") expect_lte(max(drawn), 3)
    })

    test_that(paste0(name, ", ", kind, ": draws in sequence average to the evidence"), {
      prior <- priors[[kind]]$prior
      out <- engine_draw_in_sequence(
        case$data, list(obs = case$obs, prior = prior), as.double(seq_len(some_draws(10000))),
        concentrations_of(prior), 1, 1L
      )
      ratio <- exp(out$log_evidence - exact$log_evidence)
      expect_lt(abs(mean(ratio) - 1) / (sd(ratio) / sqrt(length(ratio))), 4)
      used <- lengths(out$weights)
      if (kind == "hdp") expect_identical(used, vapply(out$labels, function(z) max(z) + 1L, 1L))
      expect_true(all(vapply(out$labels, function(z) setequal(z, seq_len(max(z))), NA)))
    })
  }

  test_that(paste0(name, ": what is recorded of a draw is what its state says"), {
    for (prior in list(
      priors$hdp$prior, priors$lda$prior, list(family = "hdp", gamma = c(2, 1), alpha = c(3, 2)),
      list(family = "lda", k = 4L, alpha = c(2, 1))
    )) {
      chain <- state_of(sample_topics(case, prior, 1)[[1L]])
      for (sweep in 1:30) {
        out <- engine_sample(case$data, list(obs = case$obs, prior = prior), list(chain), 1, 0, 0, 0L, 1, 1L)[[1L]]
        chain <- state_of(out)
        z <- chain$labels
        n <- table(group, z)
        k <- max(z)
        alpha <- chain$concentration[["alpha"]]
        beta <- if (prior$family == "lda") rep(1 / prior$k, k) else chain$weights[seq_len(k)]
        top <- if (prior$family == "lda") {
          lfactorial(prior$k) - lfactorial(prior$k - k)
        } else {
          gamma <- chain$concentration[["gamma"]]
          expect_equal(sum(chain$weights), 1)
          k * log(gamma) + gamma * log(chain$weights[k + 1L])
        }
        for (what in names(concentrations_of(prior))) {
          p <- prior[[what]]
          if (length(p) == 2L) top <- top + stats::dgamma(chain$concentration[[what]], p[1], p[2], log = TRUE)
        }
        documents <- sum(lgamma(alpha) - lgamma(alpha + rowSums(n))) +
          sum(lgamma(rep(alpha * beta, each = 3) + n) - lgamma(rep(alpha * beta, each = 3)))
        data <- sum(vapply(split(1:6, z), case$log_p, 1))
        # A Gaussian's base measure is left out.
        left_out <- if (name == "rows") engine_draw_in_sequence(
          case$data, list(obs = case$obs, prior = prior), 1, chain$concentration, 1, 1L
        )$log_base else 0
        sizes <- tabulate(z)
        expected <- c(
          k, chain$concentration, top + documents + data - left_out, max(sizes), -sum(sizes / 6 * log(sizes / 6))
        )
        expect_equal(unname(out$records[1L, ]), unname(expected), tolerance = 1e-9)
      }
    }
  })
}

long_test("data and topics drawn in turn keep the law of the prior", {
  # x | z by drawing every topic's terms; z, weights and concentrations | x by a sweep (Geweke 2004).
  documents <- rep(1:3, c(4, 3, 2))
  prior <- list(family = "hdp", gamma = c(3, 2), alpha = c(2, 1))
  obs <- list(family = "multinomial", term_prior = rep(0.5, 3))
  chain <- list(
    labels = rep(1:2, length.out = 9L), concentration = c(gamma = 1.5, alpha = 2), sweeps = 0, number = 1
  )
  draws <- if (long_tests()) 20000 else 5000
  # Tokens of a document are in the order of its terms, so that labels move with them.
  out <- withr::with_seed(1, t(vapply(seq_len(draws), function(i) {
    p <- matrix(rgamma(3 * max(chain$labels), 0.5), nrow = 3)
    x <- apply(p[, chain$labels], 2L, function(p) sample.int(3L, 1L, prob = p))
    order <- order(documents, x)
    chain$labels <<- chain$labels[order]
    data <- documents_data(1 * unclass(table(documents, factor(x[order], 1:3))))
    drawn <- engine_sample(data, list(obs = obs, prior = prior), list(chain), 1, 0, 0, 0L, 1, 1L)[[1L]]
    chain <<- state_of(drawn)
    c(drawn$records[1L, c("n_clusters", "gamma", "alpha", "largest")], rest = utils::tail(chain$weights, 1L))
  }, numeric(5))))
  # The prior itself, by direct assignment from nothing.
  exact <- withr::with_seed(2, t(replicate(draws, {
    gamma <- rgamma(1, 3, 2)
    alpha <- rgamma(1, 2, 1)
    beta <- 1
    z <- integer(0)
    for (d in 1:3) {
      own <- integer(0)
      for (i in seq_len(c(4, 3, 2)[d])) {
        k <- length(beta) - 1L
        j <- sample.int(k + 1L, 1L, prob = c(tabulate(own, k), 0) + alpha * beta)
        if (j > k) {
          b <- rbeta(1, 1, gamma)
          beta <- c(beta[seq_len(k)], beta[k + 1L] * c(b, 1 - b))
        }
        own <- c(own, j)
      }
      z <- c(z, own)
    }
    c(length(beta) - 1, gamma, alpha, max(tabulate(z)), utils::tail(beta, 1))
  })))
  batch <- function(x) colMeans(matrix(x, ncol = 50L))
  for (j in 1:5) {
    for (f in list(identity, function(x) x^2)) {
      a <- batch(f(out[, j]))
      b <- f(exact[, j])
      z <- (mean(a) - mean(b)) / sqrt(var(a) / 50 + var(b) / length(b))
      expect_lt(abs(z), 4, label = colnames(out)[j])
    }
  }
  one <- function(x) mean(batch(x[, 1] == 1))
  expect_equal(one(out), one(exact), tolerance = 0.1)
})

test_that("learned concentrations have their posterior by quadrature", {
  case <- cases$tokens
  prior <- list(family = "hdp", gamma = c(3, 2), alpha = c(2, 1))
  partitions <- all_partitions(6L)
  nodes <- expand.grid(gamma = (seq_len(120) - 0.5) / 12, alpha = (seq_len(140) - 0.5) / 12)
  by_total <- list()
  for (i in seq_len(nrow(partitions))) {
    counts <- table(group, partitions[i, ])
    k <- ncol(counts)
    data <- exp(sum(vapply(split(1:6, partitions[i, ]), case$log_p, 1)))
    by_total[[k]] <- (if (k <= length(by_total) && !is.null(by_total[[k]])) by_total[[k]] else 0) +
      data * table_totals(counts, 1)
  }
  density <- Reduce(`+`, lapply(seq_along(by_total), function(k) {
    Reduce(`+`, lapply(seq_along(by_total[[k]]) - 1, function(t) with(nodes, {
      by_total[[k]][t + 1] * gamma^k * alpha^t * exp(lgamma(gamma) - lgamma(gamma + t))
    })))
  }))
  density <- density * with(nodes, {
    dgamma(gamma, 3, 2) * dgamma(alpha, 2, 1) *
      exp(rowSums(sapply(c(3, 2, 1), function(n) lgamma(alpha) - lgamma(alpha + n))))
  })
  out <- sample_topics(case, prior, some_draws(100000), keep = 0)[[1L]]$records
  for (what in c("gamma", "alpha")) {
    x <- nodes[[what]]
    expect_lt(abs(batch_z(out[, what], sum(density * x) / sum(density))), 4, label = what)
    expect_lt(abs(batch_z(out[, what] < 1, sum(density * (x < 1)) / sum(density))), 4, label = paste(what, "below 1"))
  }
  # Finite: p(alpha) Prod_d over the topics of three.
  lda <- list(family = "lda", k = 3L, alpha = c(2, 1))
  alpha <- unique(nodes$alpha)
  few <- partitions[apply(partitions, 1L, max) <= 3L, ]
  tables <- apply(few, 1L, function(z) unclass(table(group, z)), simplify = FALSE)
  of_data <- apply(few, 1L, function(z) sum(vapply(split(1:6, z), case$log_p, 1)))
  density <- dgamma(alpha, 2, 1) * vapply(alpha, function(a) {
    sum(exp(of_data + vapply(tables, function(counts) {
      -lfactorial(3 - ncol(counts)) + sum(lgamma(a) - lgamma(a + rowSums(counts))) +
        sum(lgamma(a / 3 + counts) - lgamma(a / 3))
    }, 1)))
  }, 1)
  out <- sample_topics(case, lda, some_draws(100000), keep = 0)[[1L]]$records
  expect_lt(abs(batch_z(out[, "alpha"], sum(density * alpha) / sum(density))), 4)
})

test_that("the order of documents, and of tokens, leaves the law alone", {
  swapped <- cases$tokens
  swapped$data <- documents_data(counts[3:1, 3:1])
  own <- sample_topics(cases$tokens, priors$hdp$prior, some_draws(50000))[[1L]]
  other <- sample_topics(swapped, priors$hdp$prior, some_draws(50000))[[1L]]
  for (k in 1:4) {
    a <- colMeans(matrix(own$records[, "n_clusters"] == k, ncol = 50L))
    b <- colMeans(matrix(other$records[, "n_clusters"] == k, ncol = 50L))
    expect_lt(abs(mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 50), 4)
  }
})

test_that("bits depend on seed and number of the chain alone, and a chain goes on where it was", {
  for (case in cases[c("tokens", "rows")]) {
    prior <- list(family = "hdp", gamma = c(3, 2), alpha = c(2, 1))
    one <- sample_topics(case, prior, 30, chains = 3)
    expect_identical(sample_topics(case, prior, 30, chains = 3, threads = 2L), one)
    expect_identical(sample_topics(case, prior, 30), one[1L])
    expect_false(identical(sample_topics(case, prior, 30, seed = 2)[[1L]]$records, one[[1L]]$records))
    first <- sample_topics(case, prior, 10)
    model <- list(obs = case$obs, prior = prior)
    second <- engine_sample(case$data, model, lapply(first, state_of), 20, 1, 0, 0L, 1, 1L)
    expect_identical(rbind(first[[1L]]$records, second[[1L]]$records), one[[1L]]$records)
    expect_identical(cbind(first[[1L]]$kept, second[[1L]]$kept), one[[1L]]$kept)
    expect_identical(state_of(second[[1L]]), state_of(one[[1L]]))
  }
})

test_that("extreme concentrations and term priors are sampled, and no documents, empty ones and one token", {
  for (gamma in c(1e-50, 1e50)) for (alpha in c(1e-8, 1e6)) for (lambda in c(1e-8, 1e50)) {
    case <- list(data = documents_data(counts), obs = list(family = "multinomial", term_prior = rep(lambda, 3)))
    prior <- list(family = "hdp", gamma = gamma, alpha = alpha)
    for (labels in list(rep(1L, 6), 1:6)) {
      out <- sample_topics(case, prior, 50, labels = labels)[[1L]]
      expect_true(all(is.finite(out$records)), label = paste(gamma, alpha, lambda))
      expect_true(all(out$records[, "n_clusters"] %in% 1:6))
      if (gamma > 1 && alpha > 1 && lambda > 1) expect_gt(mean(out$records[, "n_clusters"]), 5.9)
      if (gamma < 1 && lambda > 1) expect_true(all(out$records[-1L, "n_clusters"] == 1 | labels[2] == 2L))
    }
  }
  for (gamma in c(1e-50, 1e50)) for (alpha in c(1e-8, 1e6)) {
    out <- sample_topics(cases$rows, list(family = "hdp", gamma = gamma, alpha = alpha), 50, labels = 1:6)[[1L]]
    expect_true(all(is.finite(out$records)), label = paste("rows", gamma, alpha))
    if (gamma < 1) expect_lt(out$records[[50L, "n_clusters"]], 6)
    if (gamma > 1 && alpha > 1) expect_identical(unname(out$records[50L, "n_clusters"]), 6)
  }
  one <- list(data = documents_data(rbind(c(0, 1, 0))), obs = cases$tokens$obs)
  out <- sample_topics(one, priors$hdp$prior, 20, labels = 1L)[[1L]]$records
  expect_true(all(out[, "n_clusters"] == 1))
  # A token alone: its log joint is that of one topic, but for the density of its weight.
  expect_true(all(is.finite(out)))
  with_empty <- list(data = documents_data(rbind(0, counts[1, ], 0, counts[2:3, ], 0)), obs = cases$tokens$obs)
  expect_identical(
    sample_topics(with_empty, priors$hdp$prior, 30), sample_topics(cases$tokens, priors$hdp$prior, 30)
  )
  none <- list(data = documents_data(matrix(0, 2, 3)), obs = cases$tokens$obs)
  out <- sample_topics(none, list(family = "hdp", gamma = c(2, 1), alpha = c(2, 1)), 20, labels = integer())[[1L]]
  expect_true(all(out$records[, "n_clusters"] == 0), all(is.finite(out$records)))
})

test_that("what is no count is an error of the package", {
  case <- list(data = documents_data(rbind(c(0.5, 1, 0))), obs = cases$tokens$obs)
  expect_error(sample_topics(case, priors$hdp$prior, 1, labels = 1L), "not whole")
})
