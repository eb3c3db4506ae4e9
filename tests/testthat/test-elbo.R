# The ELBO against plain R: recomputed from responsibilities, bounded by the exact log evidence, and ascended
# by the same coordinate steps.

# The optimal responsibilities given the global parameters that are optimal for `resp`.
local_twin <- function(case, rows, resp, prior) {
  counts <- colSums(resp)
  log_pi <- if (prior$family == "dp") {
    a <- 1 + counts
    b <- prior$concentration + rev(cumsum(rev(counts))) - counts
    digamma(a) - digamma(a + b) + c(0, cumsum(digamma(b) - digamma(a + b)))[seq_along(counts)]
  } else {
    share <- prior$concentration / prior$k
    digamma(share + counts) - digamma(prior$concentration + sum(counts))
  }
  w <- vapply(seq_along(counts), function(k) log_pi[k] + case$twin$expected(rows, resp[, k], rows), rows[, 1])
  w <- exp(w - apply(w, 1, max))
  w / rowSums(w)
}

random_responsibilities <- function(n, k) {
  r <- matrix(rexp(n * k), n)^3 * (runif(n * k) < 0.8)
  r[cbind(seq_len(n), sample(k, n, TRUE))] <- 1
  r / rowSums(r)
}

# Responsibilities of modelled rows written into those of all rows of the data.
all_rows <- function(case, data, resp) {
  out <- matrix(1 / ncol(resp), data$n, ncol(resp))
  out[modelled(case, data), ] <- resp
  out
}

priors <- list(
  list(family = "dp", concentration = 1), list(family = "dp", concentration = 0.1),
  list(family = "dirichlet", k = 3, concentration = 2)
)

# The first 7 modelled rows, in one group.
few <- function(case) {
  lag <- if (is.null(case$model$obs$lag)) 0L else case$model$obs$lag
  engine_data(case$data$x[seq_len(7L + lag), , drop = FALSE])
}

# log sum over all partitions of exp(log prior + sum of the blocks' evidences); `evidence` by bit mask.
evidence_by_block <- function(case, rows) {
  n <- nrow(rows)
  vapply(seq_len(2^n - 1), function(mask) case$twin$evidence(rows, bitwAnd(mask, 2^(seq_len(n) - 1)) > 0), 0)
}

log_evidence_dp <- function(evidence, n, concentration) {
  terms <- numeric()
  place <- function(i, blocks) {
    if (i > n) {
      size <- vapply(blocks, function(m) sum(bitwAnd(m, 2^(seq_len(n) - 1)) > 0), 0)
      log_prior <- length(blocks) * log(concentration) + sum(lgamma(size)) +
        lgamma(concentration) - lgamma(concentration + n)
      terms <<- c(terms, log_prior + sum(evidence[blocks]))
      return(invisible())
    }
    for (b in seq_along(blocks)) place(i + 1, replace(blocks, b, blocks[b] + 2^(i - 1)))
    place(i + 1, c(blocks, 2^(i - 1)))
  }
  place(1, numeric())
  max(terms) + log(sum(exp(terms - max(terms))))
}

log_evidence_dirichlet <- function(evidence, n, prior) {
  terms <- log_joint_dirichlet(evidence, n, prior)$value
  max(terms) + log(sum(exp(terms - max(terms))))
}

# log p(x, z) of all assignments z.
log_joint_dirichlet <- function(evidence, n, prior) {
  z <- as.matrix(expand.grid(rep(list(seq_len(prior$k)), n)))
  value <- apply(z, 1, function(labels) {
    counts <- tabulate(labels, prior$k)
    blocks <- rowsum(2^(seq_len(n) - 1), labels)
    allocation_twin(prior, counts) + sum(evidence[blocks])
  })
  list(z = z, value = value)
}

# Models whose evidence is summed over all partitions in the short suite, too.
few_enumerated <- c("gaussian_full", "ar, lag 1, intercept", "multinomial", "shaped_gamma", "product, gaps")

# Models whose laps are followed in plain R in the short suite.
stepped <- vapply(some_of(without_scales(model_cases()), by = 6), function(case) case$name, "")

# Scales of rows are not given by responsibilities alone: test-student.R has the twin of these models.
for (case in without_scales(model_cases())) {
  test_that(paste0(case$name, ": the ELBO is that of plain R, term by term"), {
    rows <- case$rows(case$data)
    for (prior in priors) {
      resp <- withr::with_seed(5, random_responsibilities(nrow(rows), 3))
      model <- list(obs = case$model$obs, prior = prior)
      engine <- unlist(engine_elbo_of(case$data, model, all_rows(case, case$data, resp)))
      twin <- elbo_twin(case, rows, resp, prior)
      expect_equal(engine[names(twin)], twin, tolerance = tolerance_of(case, 1e-11))
      expect_length(engine, 3)
    }
  })

  if (case$name %in% stepped) test_that(paste0(case$name, ": laps are the coordinate steps of plain R"), {
    rows <- case$rows(case$data)
    for (prior in priors[-2]) {
      resp <- withr::with_seed(6, random_responsibilities(nrow(rows), 3))
      fixed <- bnp_moves(FALSE, FALSE, FALSE, reorder = FALSE)
      fit <- engine_run(
        case,
        prior = prior, start = list(resp = all_rows(case, case$data, resp)), moves = fixed, tol = 0, max_laps = 6
      )
      expected <- numeric()
      for (lap in seq_len(nrow(fit$trace))) {
        resp <- local_twin(case, rows, resp, prior)
        expected[lap] <- sum(elbo_twin(case, rows, resp, prior))
      }
      expect_equal(fit$trace$elbo, expected, tolerance = tolerance_of(case, 1e-9))
      expect_gte(nrow(fit$trace), 3)
      model <- list(obs = case$model$obs, prior = prior)
      reached <- engine_responsibilities(case$data, model, fit$state, 1)[modelled(case, case$data), ]
      expect_equal(reached, unname(local_twin(case, rows, resp, prior)), tolerance = tolerance_of(case, 1e-8))
    }
  })

  if (!long_tests() && !case$name %in% few_enumerated) next

  test_that(paste0(case$name, ": the ELBO is at most the exact log evidence"), {
    data <- few(case)
    rows <- case$rows(data)
    evidence <- evidence_by_block(case, rows)
    small <- list(data = data, model = case$model)
    for (prior in priors) {
      exact <- if (prior$family == "dp") {
        log_evidence_dp(evidence, nrow(rows), prior$concentration)
      } else {
        log_evidence_dirichlet(evidence, nrow(rows), prior)
      }
      starts <- if (prior$family == "dp") c(1, 2, 4, 7) else 3
      bounds <- vapply(starts, function(k) {
        max(vapply(1:3, function(seed) engine_run(small, prior = prior, k_init = k, seed = seed)$elbo, 0))
      }, 0)
      expect_true(all(bounds <= exact + 1e-9))
      if (prior$family == "dp") expect_gt(max(bounds), exact - 10)
    }
  })

  test_that(paste0(case$name, ": from the most probable assignment the ELBO rises towards the exact log evidence"), {
    data <- few(case)
    rows <- case$rows(data)
    evidence <- evidence_by_block(case, rows)
    prior <- priors[[3]]
    joint <- log_joint_dirichlet(evidence, nrow(rows), prior)
    best <- which.max(joint$value)
    certain <- diag(prior$k)[joint$z[best, ], ]
    bound <- engine_run(
      list(data = data, model = case$model), prior = prior, start = list(resp = all_rows(case, data, certain)),
      moves = bnp_moves(FALSE, FALSE, FALSE, reorder = FALSE)
    )$elbo
    expect_gte(bound, joint$value[best] - 1e-9)
    expect_lte(bound, log_evidence_dirichlet(evidence, nrow(rows), prior) + 1e-9)
  })
}

test_that("the enumeration itself is right: partitions and assignments have total probability 1", {
  nothing <- rep(0, 2^6 - 1)
  expect_equal(log_evidence_dp(nothing, 6, 0.7), 0)
  expect_equal(log_evidence_dirichlet(nothing, 6, list(family = "dirichlet", k = 3, concentration = 2)), 0)
})
